//! Of which family the devices are that pods get: by the pools that their selectors leave, or else by
//! the selectors themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::amount::Three;
use super::super::tables;
use super::asks::Ask;
use super::effective::Effective;
use super::pinned::{Pinned, by_pool, by_selectors};
use super::selector::selected;
use super::share::{Share, thousandths};
use super::units::{self, Kind};
use super::{FamilyRow, Selected, Site, taints};
use crate::model::Pool;

/// Rows of one object, added up group by group.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<Key, Vec<(Three, Share)>>);

/// What is known of the devices of a row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    resource: Arc<str>,
    family: Option<Arc<str>>,
    one_of: BTreeSet<Arc<str>>,
    model: Option<Arc<str>>,
    capacity_type: Option<Arc<str>>,
    why: Option<Arc<str>>,
}

impl Rows {
    /// Adds what `count` pods ask for that become this.
    pub(super) fn add(&mut self, ask: &Ask, count: &Three, effective: &Effective, site: &Site<'_>) {
        let three = count.mul(&Three::same(&ask.amount));
        if three.steady.is_zero() && three.autoscaled.is_zero() {
            return;
        }
        let (key, share) = resolve(ask, effective, site);
        self.0.entry(key).or_default().push((three, share));
    }

    /// The rows, sorted by resource and family.
    pub(super) fn finish(self) -> Vec<FamilyRow> {
        let row = |(key, parts): (Key, Vec<_>)| FamilyRow {
            resource: key.resource,
            family: key.family,
            one_of: key.one_of,
            model: key.model,
            capacity_type: key.capacity_type,
            three: thousandths(&parts),
            why: key.why,
        };
        self.0.into_iter().map(row).collect()
    }
}

/// Whether nodes of a pool can have what is asked for.
pub(super) fn is_candidate(pool: &Pool, ask: &Ask) -> bool {
    if pool.resource == ask.resource {
        return true;
    }
    let Some(own) = units::units(&pool.resource).filter(|own| own.device == ask.units.device) else {
        return false;
    };
    let sharing = pool.sharing.as_deref().map(str::to_ascii_lowercase);
    let is_mig = sharing.as_deref() == Some("mig");
    match &ask.units.kind {
        Kind::Whole | Kind::Part(_) | Kind::Memory(..) => own.kind == Kind::Whole,
        Kind::Shared => own.kind == Kind::Whole && sharing.is_some() && !is_mig,
        // Claims have devices divided as they need them.
        Kind::Slice(_) => own.kind == Kind::Whole && (is_mig || !ask.resource.contains('/')),
        // A Neuron node has its devices and its cores.
        Kind::Core => true,
        Kind::Other => false,
    }
}

/// Nodes on which pods may come to run.
struct Place {
    nodes: Pinned,
    families: BTreeSet<Arc<str>>,
    /// Whether devices are divided into MIG slices.
    divided: bool,
}

fn resolve(ask: &Ask, effective: &Effective, site: &Site<'_>) -> (Key, Share) {
    let mut places = by_pools(ask, effective, site);
    if places.is_empty() {
        places = by_tables(ask, effective);
    }
    let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
    for name in places.iter().flat_map(|place| &place.families) {
        if !names.iter().any(|known| tables::same_family(known, name)) {
            names.insert(name.clone());
        }
    }
    let all_known = places.iter().all(|place| !place.families.is_empty());
    let (family, one_of) = match (names.len(), all_known) {
        (1, true) => (names.into_iter().next(), BTreeSet::new()),
        (_, true) => (None, names),
        (_, false) => (None, BTreeSet::new()),
    };
    let share = (places.iter())
        .map(|place| units::share(&ask.units.kind, &place.nodes, place.divided))
        .reduce(Share::max)
        .unwrap_or_else(|| units::share(&ask.units.kind, &Pinned::default(), false));
    let why = family.is_none().then(|| why(ask, &one_of, site).into());
    let key = Key {
        resource: ask.resource.clone(),
        model: family.as_ref().and_then(|_| only(places.iter().map(|place| model(&place.nodes)))),
        capacity_type: only(places.iter().map(|place| {
            let types = place.nodes.capacity.as_ref().filter(|types| types.len() == 1)?;
            types.first().cloned()
        })),
        family,
        one_of,
        why,
    };
    (key, share)
}

/// The exact model, if that is known.
fn model(nodes: &Pinned) -> Option<Arc<str>> {
    match nodes.models.as_deref() {
        Some([model]) => model.exact().cloned(),
        _ => None,
    }
}

/// What all of them say.
fn only(mut all: impl Iterator<Item = Option<Arc<str>>>) -> Option<Arc<str>> {
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// The pools of the cluster on which the pods may run: those that their selectors do not rule out.
/// Taints and size narrow that down only where they leave something.
fn by_pools(ask: &Ask, effective: &Effective, site: &Site<'_>) -> Vec<Place> {
    let mut found = Vec::new();
    for spec in &effective.variants {
        for pool in site.pools.iter().filter(|pool| is_candidate(pool, ask)) {
            if !matches!(selected(spec, pool, site), Selected::No(_)) {
                found.push((spec, pool));
            }
        }
    }
    let mut narrow = |keep: &dyn Fn(&(&crate::model::Value, &Pool)) -> bool| {
        if found.iter().any(keep) {
            found.retain(keep);
        }
    };
    narrow(&|(spec, pool)| taints::untolerated(spec, &pool.taints).is_empty());
    narrow(&|(_, pool)| pool.resource != ask.resource || pool.per_node >= ask.amount.at_least());
    let place = |(spec, pool): (&crate::model::Value, &Pool)| {
        let mut nodes = by_pool(pool);
        let asked = by_selectors(spec);
        // What the pool is, its owner says better than the pod.
        let models = nodes.models.take();
        nodes.both(Pinned { models: None, capacity: None, ..asked.clone() });
        let narrowed = models.clone().map(|models| {
            let both = models
                .iter()
                .filter(|model| asked.models.iter().flatten().any(|other| other.model == model.model));
            both.copied().collect::<Vec<_>>()
        });
        nodes.models = narrowed.filter(|models| !models.is_empty()).or(models);
        nodes.capacity = nodes.capacity.or(asked.capacity);
        let divided = pool.sharing.as_deref().is_some_and(|sharing| sharing.eq_ignore_ascii_case("mig"));
        Place { nodes, families: BTreeSet::from([pool.family.clone()]), divided }
    };
    found.into_iter().map(place).collect()
}

/// What the selectors say, or else the resource itself.
fn by_tables(ask: &Ask, effective: &Effective) -> Vec<Place> {
    let of_device = |pinned: &Pinned| {
        pinned.models.as_ref().is_none_or(|models| {
            models.is_empty() || models.iter().any(|model| model.resource == ask.units.device)
        })
    };
    let mut all: Vec<Pinned> = effective.variants.iter().map(by_selectors).collect();
    // Flavours of other devices are not meant.
    if all.iter().any(of_device) {
        all.retain(of_device);
    }
    let place = |mut nodes: Pinned| {
        if let Some(models) = &mut nodes.models {
            models.retain(|model| model.resource == ask.units.device);
        }
        let mut families = nodes.families();
        if families.is_empty() {
            families.extend(ask.units.family.clone());
        }
        if let (true, Kind::Slice(Some(profile))) = (families.is_empty(), &ask.units.kind) {
            let models: Vec<_> = tables::with_profile(profile).map(|(model, _)| model).collect();
            families.extend(models.iter().map(|model| model.family.clone()));
            nodes.models = (!models.is_empty()).then_some(models);
        }
        Place { nodes, families, divided: false }
    };
    all.into_iter().map(place).collect()
}

/// What to write so that the family is known.
fn why(ask: &Ask, one_of: &BTreeSet<Arc<str>>, site: &Site<'_>) -> String {
    let key = match (&*ask.units.device, site.cloud) {
        ("google.com/tpu", _) => "cloud.google.com/gke-tpu-accelerator",
        ("aws.amazon.com/neuron", _) => "karpenter.k8s.aws/instance-accelerator-name",
        ("nvidia.com/gpu", Some("gcp")) => "cloud.google.com/gke-accelerator",
        ("nvidia.com/gpu", Some("aws")) => "karpenter.k8s.aws/instance-gpu-name",
        ("nvidia.com/gpu", _) => "nvidia.com/gpu.product",
        ("amd.com/gpu", _) => "amd.com/gpu.product-name",
        _ => "node.kubernetes.io/instance-type",
    };
    if !one_of.is_empty() {
        let names: Vec<_> = one_of.iter().map(|name| format!("`{name}`")).collect();
        return format!("it may be one of {}: pin one by a node selector such as `{key}`", names.join(", "));
    }
    let resource = &ask.resource;
    if site.known && !site.pools.iter().any(|pool| is_candidate(pool, ask)) {
        return format!(
            "the cluster has no pool with `{resource}`, and no node selector such as `{key}` says the model"
        );
    }
    if site.known {
        return format!("no pool of the cluster with `{resource}` has the labels that it selects");
    }
    format!(
        "nothing says the model behind `{resource}`: add a node selector such as `{key}`, or the cluster's `accelerators` to the fleet file"
    )
}

#[cfg(test)]
mod tests;
