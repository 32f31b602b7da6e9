//! What needs capacity: budgets and queues, which promise it, and workloads, which take it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Row;
use crate::accelerators::{
    Amount, Assessed, Fits, Placement, Queued, Selected, counts_again, node_thousandths,
};
use crate::engine::Site;
use crate::fleet::promises::{KUEUE, Promises};
use crate::manifest::corpus::Corpus;
use crate::model::{Budget, Cluster, Fleet, Pool};

/// A device in thousandths.
const DEVICE: u64 = 1000;

pub(super) fn rows(
    corpus: &Corpus,
    sites: &[Site],
    fleet: &Fleet,
    before: &Cluster,
    after: &Cluster,
) -> Vec<Row> {
    let pools = Pools {
        before: before.pools.as_deref().unwrap_or_default(),
        after: after.pools.as_deref().unwrap_or_default(),
    };
    let mut rows = Vec::new();
    for family in pools.families() {
        rows.extend(budgets(fleet, &family, before, after));
        rows.extend(demand(sites, &family, before, &pools));
    }
    for site in sites.iter().filter(|site| is_of(site, before)) {
        rows.extend(queues(corpus, site, &pools));
        rows.extend(
            site.assessment.objects.iter().flat_map(|assessed| workload(corpus, site, assessed, &pools)),
        );
    }
    rows
}

fn is_of(site: &Site, cluster: &Cluster) -> bool {
    site.context.cluster.as_ref().is_some_and(|other| other.name == cluster.name)
}

/// The pools of the cluster before and after the change, one for one.
struct Pools<'a> {
    before: &'a [Pool],
    after: &'a [Pool],
}

impl Pools<'_> {
    /// Pools whose number of nodes changes.
    fn changed(&self) -> impl Iterator<Item = usize> + '_ {
        let pairs = self.before.iter().zip(self.after).enumerate();
        pairs.filter(|(_, (before, after))| before.nodes != after.nodes).map(|(index, _)| index)
    }

    fn families(&self) -> BTreeSet<Arc<str>> {
        self.changed().filter_map(|index| self.before.get(index)).map(|pool| pool.family.clone()).collect()
    }

    /// Units in pools, before and after, if any of them changes.
    fn units(&self, chosen: &BTreeSet<usize>) -> Option<(Amount, Amount)> {
        let concerns = self.changed().any(|index| chosen.contains(&index));
        concerns.then(|| (units(self.before, chosen), units(self.after, chosen)))
    }
}

/// Units of their resources in these pools.
fn units(pools: &[Pool], chosen: &BTreeSet<usize>) -> Amount {
    let chosen = chosen.iter().filter_map(|index| pools.get(*index));
    chosen.fold(Amount::ZERO, |sum, pool| sum.add(&nodes(pool).mul(&Amount::Known(pool.per_node))))
}

fn nodes(pool: &Pool) -> Amount {
    let unknown = || Amount::unknown(format!("how many nodes of {} there can be is not known", pool.family));
    pool.nodes.map_or_else(unknown, Amount::Known)
}

/// Whole devices of a family (and capacity type) in pools.
fn devices(pools: &[Pool], family: &str, capacity_type: Option<&str>) -> Amount {
    let mut sum = Amount::ZERO;
    for pool in pools.iter().filter(|pool| *pool.family == *family && !counts_again(pool, pools)) {
        match (capacity_type, pool.capacity_type.as_deref()) {
            (Some(wanted), Some(stated)) if wanted != stated => {}
            (Some(wanted), None) => {
                let why = format!("whether nodes of {family} are `{wanted}` is not known");
                sum = sum.add(&Amount::unknown(why));
            }
            _ => sum = sum.add(&nodes(pool).mul(&node_thousandths(pool))),
        }
    }
    whole(&sum)
}

/// Thousandths as devices; what is no whole device is none.
fn whole(thousandths: &Amount) -> Amount {
    match thousandths {
        Amount::Known(n) => Amount::Known(n / DEVICE),
        Amount::Unbounded { at_least } => Amount::Unbounded { at_least: at_least / DEVICE },
        Amount::Unknown { at_least, reasons } => {
            Amount::Unknown { at_least: at_least / DEVICE, reasons: reasons.clone() }
        }
    }
}

/// Budgets of a family that hold in the cluster, each with what its clusters have, and those of one
/// place together.
fn budgets(fleet: &Fleet, family: &str, before: &Cluster, after: &Cluster) -> Vec<Row> {
    let holds = |budget: &Budget, cluster: &Cluster| match &budget.environment {
        Some(environment) => *environment == cluster.environment,
        None => budget.clusters.iter().any(|glob| glob.is_match(&*cluster.name)),
    };
    let mut rows = Vec::new();
    let mut together: BTreeMap<(String, String), Vec<&Row>> = BTreeMap::new();
    let mut single = Vec::new();
    for budget in fleet.budgets.iter().filter(|budget| *budget.family == *family && holds(budget, before)) {
        let there = |changed: &Cluster| {
            let clusters = fleet.clusters.values().filter(|cluster| holds(budget, cluster));
            let has = |cluster: &Arc<Cluster>| {
                let cluster = if cluster.name == changed.name { changed } else { cluster };
                let unknown = || Amount::unknown(format!("what cluster `{}` has is not known", cluster.name));
                let devices = |pools: &Vec<Pool>| devices(pools, family, budget.capacity_type.as_deref());
                cluster.pools.as_ref().map_or_else(unknown, devices)
            };
            clusters.fold(Amount::ZERO, |sum, cluster| sum.add(&has(cluster)))
        };
        let mut place: Vec<&str> = budget.environment.iter().map(|word| &**word).collect();
        place.extend(budget.cluster_patterns.iter().map(|word| &**word));
        let place = place.join(", ");
        let kind = budget.capacity_type.as_deref().unwrap_or_default().to_owned();
        let row = Row {
            kind: "budget",
            name: format!("{} in {place}", budget.team),
            of: family.into(),
            needs: Amount::Known(budget.limit),
            before: there(before),
            after: there(after),
            place: Some(format!("{}:{}", budget.file, budget.line)),
        };
        single.push(((place, kind), row));
    }
    for (key, row) in &single {
        together.entry(key.clone()).or_default().push(row);
    }
    for ((place, _), of_place) in together.iter().filter(|(_, rows)| rows.len() > 1) {
        let needs = of_place.iter().fold(Amount::ZERO, |sum, row| sum.add(&row.needs));
        let Some(Row { before, after, .. }) = of_place.first().copied().cloned() else { continue };
        let name = format!("{} budgets in {place} together", of_place.len());
        rows.push(Row { kind: "budget", name, of: family.into(), needs, before, after, place: None });
    }
    rows.extend(single.into_iter().map(|(_, row)| row));
    rows
}

/// What starts in the cluster without a queue: the steady sum, and the largest rollout.
fn demand(sites: &[Site], family: &str, before: &Cluster, pools: &Pools<'_>) -> Option<Row> {
    let (mut steady, mut surge) = (Amount::ZERO, Amount::ZERO);
    for site in sites.iter().filter(|site| is_of(site, before)) {
        let at_once =
            |assessed: &&Assessed| assessed.demand.through.is_none() && assessed.queue == Queued::No;
        for assessed in site.assessment.objects.iter().filter(at_once) {
            let mut more = Amount::ZERO;
            for row in &assessed.families {
                match row.is_of(family) {
                    Fits::Yes => {
                        steady = steady.add(&row.three.steady);
                        more = more.add(&row.three.rollout.sub(&row.three.steady));
                    }
                    Fits::Unknown if !row.three.rollout.is_zero() => {
                        let why = row.why.as_deref().unwrap_or("its accelerator family is not known");
                        steady = steady.add(&Amount::unknown(why));
                    }
                    Fits::Unknown | Fits::No => {}
                }
            }
            surge = surge.max(&more);
        }
    }
    let needs = steady.add(&surge).div_ceil(&Amount::Known(DEVICE));
    let (before, after) = (devices(pools.before, family, None), devices(pools.after, family, None));
    let name = "workloads that no queue starts, with the largest rollout".to_owned();
    (!needs.is_zero()).then(|| Row {
        kind: "demand",
        name,
        of: family.into(),
        needs,
        before,
        after,
        place: None,
    })
}

/// What Kueue's queues promise of the flavours whose nodes change.
fn queues(corpus: &Corpus, site: &Site, pools: &Pools<'_>) -> Vec<Row> {
    let mut promises = Promises::default();
    let mut wrong = BTreeSet::new();
    for resource in site.objects.iter().filter_map(|located| located.resource(corpus)) {
        match (&*resource.id.group, &*resource.id.kind) {
            (KUEUE, "ResourceFlavor") => promises.flavor(&resource.id.name, &resource.object),
            (KUEUE, "ClusterQueue") => wrong.extend(promises.queue(&resource.object)),
            _ => {}
        }
    }
    let mut rows = Vec::new();
    let keys: BTreeSet<_> = promises.nominal.keys().chain(&wrong).collect();
    for key in keys {
        let (flavor, resource) = key;
        let mut needs = Amount::Known(promises.nominal.get(key).copied().unwrap_or_default());
        if wrong.contains(key) {
            needs = needs.add(&Amount::unknown("a queue's `nominalQuota` is no quantity"));
        }
        if needs.is_zero() {
            continue;
        }
        let of_flavor = |wanted: Fits| -> BTreeSet<usize> {
            let selects = |pool: &Pool| {
                promises.selects(flavor, |key: &str| pool.labels.get(key).map(|value| &**value))
            };
            let chosen = pools.before.iter().enumerate();
            let chosen = chosen.filter(|(_, pool)| *pool.resource == **resource && selects(pool) == wanted);
            chosen.map(|(index, _)| index).collect()
        };
        let (certain, perhaps) = (of_flavor(Fits::Yes), of_flavor(Fits::Unknown));
        let concerned = certain.union(&perhaps).copied().collect();
        if pools.units(&concerned).is_some() {
            let sum = |all: &[Pool]| {
                let sum = units(all, &certain);
                let why = format!(
                    "whether more nodes are of flavour `{flavor}` is not known: a label is not stated"
                );
                if units(all, &perhaps).is_zero() { sum } else { sum.add(&Amount::unknown(why)) }
            };
            rows.push(Row {
                kind: "queue",
                name: format!("nominal quota of flavour {flavor}, all queues"),
                of: resource.as_str().into(),
                needs,
                before: sum(pools.before),
                after: sum(pools.after),
                place: None,
            });
        }
    }
    rows
}

/// A workload by itself, in the pools where it can run: does it fit there if nothing else does?
fn workload(corpus: &Corpus, site: &Site, assessed: &Assessed, pools: &Pools<'_>) -> Vec<Row> {
    let Some(located) = site.located(assessed).filter(|_| assessed.demand.through.is_none()) else {
        return Vec::new();
    };
    let Some(resource) = located.resource(corpus) else { return Vec::new() };
    let place = located.place(corpus).map(|place| format!("{}:{}", place.file, place.line));
    let mut rows = Vec::new();
    for (name, three) in &assessed.demand.demand {
        let chosen: BTreeSet<usize> =
            assessed.pods.iter().flat_map(|pods| runs_in(pods, name, pools.before)).collect();
        if let Some((before, after)) = pools.units(&chosen) {
            rows.push(Row {
                kind: "workload",
                name: resource.id.to_string(),
                of: name.clone(),
                needs: three.rollout.clone(),
                before,
                after,
                place: place.clone(),
            });
        }
    }
    rows
}

/// The pools with a resource in which pods can run, or may.
fn runs_in(pods: &Placement, resource: &str, pools: &[Pool]) -> Vec<usize> {
    let candidates = pods.pools.iter().flatten();
    let open =
        candidates.filter(|one| !matches!(one.selected, Selected::No(_)) && one.untolerated.is_empty());
    open.map(|one| one.pool)
        .filter(|index| pools.get(*index).is_some_and(|pool| *pool.resource == *resource))
        .collect()
}
