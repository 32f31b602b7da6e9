//! The demand for machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Families, Family, View, Workload, families};
use crate::accelerators::{Three, Totals};

pub(super) fn render(view: &View<'_>) -> Json {
    let workloads = view.workloads().map(|(cluster, workload)| {
        let demand = &workload.assessed.demand;
        json!({
            "cluster": cluster.name.as_deref(),
            "namespace": workload.id.namespace.as_deref(),
            "apiVersion": workload.id.api_version(),
            "kind": &*workload.id.kind,
            "name": &*workload.id.name,
            "team": workload.team.as_deref(),
            "file": workload.place.file.as_str(),
            "line": workload.place.line,
            "demand": workload.assessed.rows(),
            "countedThrough": workload.through.map(ToString::to_string),
            "unknown": demand.unknown,
            "notes": demand.notes.iter().map(|note| &note.message).collect::<Vec<_>>(),
        })
    });
    let by_cluster = view.clusters.iter().map(|cluster| {
        json!({
            "cluster": cluster.name.as_deref(),
            "totals": totals(&cluster.totals()),
            "families": family_rows(&families(&cluster.workloads)),
        })
    });
    let mut sum = Totals::new();
    for (resource, three) in view.clusters.iter().flat_map(super::Cluster::totals) {
        let entry = sum.entry(resource).or_insert(Three::ZERO);
        *entry = entry.add(&three);
    }
    let mut teams: BTreeMap<Option<Arc<str>>, Vec<&Workload<'_>>> = BTreeMap::new();
    for (_, workload) in view.workloads() {
        teams.entry(workload.team.clone()).or_default().push(workload);
    }
    let teams = teams.into_iter().map(
        |(team, workloads)| json!({"team": team.as_deref(), "families": family_rows(&families(workloads))}),
    );
    let unaccounted = view.unaccounted.iter().map(|(id, place, found)| {
        json!({
            "namespace": id.namespace.as_deref(),
            "apiVersion": id.api_version(),
            "kind": &*id.kind,
            "name": &*id.name,
            "file": place.file.as_str(),
            "line": place.line,
            "path": found.path.to_string(),
            "what": found.what,
            "why": found.why,
        })
    });
    json!({
        "version": 1,
        "workloads": workloads.collect::<Vec<_>>(),
        "clusters": by_cluster.collect::<Vec<_>>(),
        "teams": teams.collect::<Vec<_>>(),
        "totals": totals(&sum),
        "families": family_rows(&families(view.workloads().map(|(_, workload)| workload))),
        "unaccounted": unaccounted.collect::<Vec<_>>(),
    })
}

fn totals(totals: &Totals) -> Vec<Json> {
    let row = |(resource, three): (&Arc<str>, &Three)| with(json!({"resource": **resource}), three);
    totals.iter().map(row).collect()
}

/// Families, in thousandths of a device.
fn family_rows(families: &Families) -> Vec<Json> {
    let row = |((family, capacity_type), three): (&(Family, Option<Arc<str>>), &Three)| {
        let (name, one_of, resource) = match family {
            Family::Known(name) => (Some(name), &[][..], None),
            Family::OneOf(names) => (None, names.as_slice(), None),
            Family::Unknown(resource) => (None, &[][..], Some(resource)),
        };
        let row = json!({
            "family": name,
            "oneOf": one_of,
            "resource": resource,
            "capacityType": capacity_type,
            "unit": "thousandth",
        });
        with(row, three)
    };
    families.iter().map(row).collect()
}

fn with(mut row: Json, three: &Three) -> Json {
    if let Some(fields) = row.as_object_mut() {
        for (key, amount) in
            [("steady", &three.steady), ("rollout", &three.rollout), ("autoscaled", &three.autoscaled)]
        {
            fields.insert(key.to_owned(), json!(amount.to_value()));
        }
    }
    row
}
