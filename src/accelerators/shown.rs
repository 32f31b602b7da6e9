//! What rules see of a workload: `input.workload`.

use std::sync::Arc;

use super::assess::Assessed;
use super::demand::Totals;
use super::placement::{Candidate, FamilyRow, Placement, Selected};
use super::pod::Resources;
use super::quota::Queued;
use super::resources::class;
use super::scan::Unaccounted;
use super::value::object;
use super::workload::{PodGroup, Workload};
use crate::model::{Cluster, Pool, Route, Step, Taint, Value};

/// A workload of which nothing is known but what its manifest says: it asks for no devices, waits in no
/// queue, and nothing adds to its pods.
pub fn plain(workload: &Workload) -> Value {
    let pods = workload.pods.iter().map(|group| pod(group, &group.spec, None, &Resources::new())).collect();
    shown(pods, Vec::new(), &Queued::No, Vec::new(), Vec::new(), workload.registered)
}

impl Assessed {
    /// As `input.workload` shows it in its cluster; null for an object that runs no pods.
    pub fn workload_value(&self, cluster: Option<&Cluster>) -> Value {
        let Some(workload) = &self.demand.workload else { return Value::Null };
        let none = Resources::new();
        let pods = workload.pods.iter().enumerate().map(|(index, group)| {
            let placement = self.pods.get(index);
            let effective = placement.map_or(&group.spec, |placement| &placement.effective);
            let pools = placement.and_then(|placement| pools(placement, cluster));
            pod(group, effective, pools, self.demand.pods.get(index).unwrap_or(&none))
        });
        let pods = pods.collect();
        let notes = self.demand.notes.iter().map(|note| {
            object([("code", Value::from(note.code)), ("message", Value::from(note.message.as_str()))])
        });
        let unknown = self.demand.unknown.iter().map(|reason| Value::String(reason.clone()));
        shown(pods, self.rows(), &self.queue, unknown.collect(), notes.collect(), workload.registered)
    }

    /// Its demand as rows, by resource and by family.
    pub fn rows(&self) -> Vec<Value> {
        resource_rows(&self.demand.demand).chain(self.families.iter().map(FamilyRow::to_value)).collect()
    }
}

/// Rows by resource.
pub(super) fn resource_rows(totals: &Totals) -> impl Iterator<Item = Value> + '_ {
    totals.iter().map(|(resource, three)| {
        object([
            ("resource", Value::String(resource.clone())),
            ("family", Value::Null),
            ("oneOf", Value::from(Vec::<Value>::new())),
            ("model", Value::Null),
            ("capacityType", Value::Null),
            ("unit", Value::from(class(resource).as_str())),
            ("steady", three.steady.to_value()),
            ("rollout", three.rollout.to_value()),
            ("autoscaled", three.autoscaled.to_value()),
            ("why", Value::from("")),
        ])
    })
}

impl FamilyRow {
    /// As rules see it.
    pub fn to_value(&self) -> Value {
        let one_of: Vec<_> = self.one_of.iter().cloned().map(Value::String).collect();
        object([
            ("resource", Value::String(self.resource.clone())),
            ("family", optional(self.family.as_ref())),
            ("oneOf", Value::from(one_of)),
            ("model", optional(self.model.as_ref())),
            ("capacityType", optional(self.capacity_type.as_ref())),
            ("unit", Value::from("thousandth")),
            ("steady", self.three.steady.to_value()),
            ("rollout", self.three.rollout.to_value()),
            ("autoscaled", self.three.autoscaled.to_value()),
            ("why", self.why.clone().map_or_else(|| Value::from(""), Value::String)),
        ])
    }
}

impl Unaccounted {
    /// As rules see it.
    pub fn to_value(&self) -> Value {
        object([
            ("path", route_value(&self.path)),
            ("what", Value::from(self.what.as_str())),
            ("why", Value::from(self.why.as_str())),
        ])
    }
}

fn shown(
    pods: Vec<Value>,
    demand: Vec<Value>,
    queue: &Queued,
    unknown: Vec<Value>,
    notes: Vec<Value>,
    registered: bool,
) -> Value {
    object([
        ("pods", Value::from(pods)),
        ("demand", Value::from(demand)),
        ("queue", queued(queue)),
        ("unknown", Value::from(unknown)),
        ("notes", Value::from(notes)),
        ("registered", Value::from(registered)),
    ])
}

fn pod(group: &PodGroup, effective: &Value, pools: Option<Vec<Value>>, asks: &Resources) -> Value {
    let asks: std::collections::BTreeMap<_, _> =
        asks.iter().map(|(name, amount)| (Value::String(name.clone()), amount.to_value())).collect();
    object([
        ("path", route_value(&group.path)),
        ("role", Value::String(group.role.clone())),
        ("spec", group.spec.clone()),
        ("effective", effective.clone()),
        ("metadata", group.metadata.clone()),
        ("count", group.count().steady.to_value()),
        ("asks", Value::from(asks)),
        ("pools", pools.map_or(Value::Null, Value::from)),
    ])
}

fn pools(placement: &Placement, cluster: Option<&Cluster>) -> Option<Vec<Value>> {
    let candidates = placement.pools.as_ref()?;
    let pools = cluster?.pools.as_ref()?;
    Some(
        candidates
            .iter()
            .filter_map(|candidate| Some(candidate_value(candidate, pools.get(candidate.pool)?)))
            .collect(),
    )
}

fn candidate_value(candidate: &Candidate, pool: &Pool) -> Value {
    let (selected, because) = match &candidate.selected {
        Selected::Yes => ("yes", ""),
        Selected::No(because) => ("no", because.as_str()),
        Selected::Unknown(because) => ("unknown", because.as_str()),
    };
    let labels: std::collections::BTreeMap<_, _> = pool
        .labels
        .iter()
        .map(|(key, value)| (Value::String(key.clone()), Value::String(value.clone())))
        .collect();
    object([
        ("family", Value::String(pool.family.clone())),
        ("resource", Value::String(pool.resource.clone())),
        ("perNode", Value::from(pool.per_node)),
        ("nodes", pool.nodes.map_or(Value::Null, Value::from)),
        ("capacityType", optional(pool.capacity_type.as_ref())),
        ("fabric", optional(pool.fabric.as_ref())),
        ("sharing", optional(pool.sharing.as_ref())),
        ("labels", Value::from(labels)),
        ("taints", taints(&pool.taints)),
        ("selected", Value::from(selected)),
        ("because", Value::from(because)),
        ("untolerated", taints(&candidate.untolerated)),
    ])
}

fn taints(taints: &[Taint]) -> Value {
    let taint = |taint: &Taint| {
        object([
            ("key", Value::String(taint.key.clone())),
            ("value", Value::String(taint.value.clone())),
            ("effect", Value::String(taint.effect.clone())),
        ])
    };
    Value::from(taints.iter().map(taint).collect::<Vec<_>>())
}

fn queued(queue: &Queued) -> Value {
    let shown = |name: &Arc<str>,
                 cluster_queue: Option<&Arc<str>>,
                 flavors: Vec<Value>,
                 problem: &str,
                 certain,
                 elsewhere| {
        object([
            ("name", Value::String(name.clone())),
            ("clusterQueue", optional(cluster_queue)),
            ("flavors", Value::from(flavors)),
            ("problem", Value::from(problem)),
            ("certain", Value::from(certain)),
            ("elsewhere", Value::from(elsewhere)),
        ])
    };
    match queue {
        Queued::No => Value::Null,
        Queued::Unresolved { queue, why, certain } => shown(queue, None, Vec::new(), why, *certain, false),
        Queued::Through { queue, cluster_queue, flavors, elsewhere } => {
            let flavors = flavors.iter().map(|flavor| Value::String(flavor.name.clone())).collect();
            shown(queue, Some(cluster_queue), flavors, "", true, *elsewhere)
        }
    }
}

fn optional(text: Option<&Arc<str>>) -> Value {
    text.map_or(Value::Null, |text| Value::String(text.clone()))
}

/// A route as rules see it: a list of keys and indexes.
pub fn route_value(route: &Route) -> Value {
    let steps: Vec<Value> = route
        .0
        .iter()
        .map(|step| match step {
            Step::Key(key) => Value::String(key.clone()),
            Step::Index(index) => Value::from(*index),
        })
        .collect();
    Value::from(steps)
}

#[cfg(test)]
mod tests {
    use super::super::assess::assess;
    use super::super::registry::Registry;
    use super::super::tree::Tree;
    use crate::manifest;

    #[test]
    fn rules_see_where_the_pods_are_and_what_they_ask_for() {
        let text = "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {metadata: {labels: {a: b}},
            spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}}}}";
        let object = manifest::value(text).expect("a manifest");
        let tree = Tree::new(Registry::builtin(), [&object]);
        let assessment = assess(&tree, None, false);
        let shown: serde_json::Value =
            serde_json::from_str(&assessment.objects[0].workload_value(None).to_string()).expect("JSON");
        let pod = &shown["pods"][0];
        assert_eq!(pod["path"], serde_json::json!(["spec", "template", "spec"]));
        assert_eq!(pod["metadata"], serde_json::json!({"labels": {"a": "b"}}));
        assert_eq!(pod["count"], 2);
        assert_eq!(pod["asks"], serde_json::json!({"nvidia.com/gpu": 2}));
        assert_eq!(pod["effective"], pod["spec"]);
        assert_eq!(pod["pools"], serde_json::Value::Null);
        // Two pods of two devices; one more pod while they are replaced.
        let row = &shown["demand"][0];
        assert_eq!(row["resource"], "nvidia.com/gpu");
        assert_eq!((&row["steady"], &row["rollout"]), (&4.into(), &6.into()));
        assert_eq!(shown["queue"], serde_json::Value::Null);
        assert_eq!(shown["registered"], true);
    }
}
