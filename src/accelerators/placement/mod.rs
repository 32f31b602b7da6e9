//! Where pods can run: what queue and cluster add to them, which pools of the cluster their selectors
//! leave, and so of which family the devices are that they get.

mod asks;
mod effective;
mod family;
mod pinned;
mod selector;
mod share;
mod taints;
mod units;

use std::collections::BTreeSet;
use std::sync::Arc;

use asks::Ask;
use effective::Effective;
use family::Rows;
use selector::selected;

use super::amount::{Amount, Fits, Three};
use super::demand::ObjectDemand;
use super::pod::Resources;
use super::quota::Queued;
use super::tables;
use super::tree::{Tree, namespace};
use super::value::{field, path};
use super::workload::{PodGroup, kind_of};
use crate::model::{Cluster, Pool, Taint, Value};

/// Where the pods of a group can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The pod spec with what its queue and its cluster add. Of several flavours that a queue may
    /// give, none is in it.
    pub effective: Value,
    /// The pools of the cluster that have a device that these pods ask for, in the order of the
    /// cluster; none: the cluster's pools are not known, or these pods ask for no device.
    pub pools: Option<Vec<Candidate>>,
}

/// A pool, from the view of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its position in the cluster's pools.
    pub pool: usize,
    /// Whether node selector and required affinity leave it.
    pub selected: Selected,
    /// Taints with an effect on scheduling that the pod does not tolerate.
    pub untolerated: Vec<Taint>,
}

/// Whether a pod's selectors leave a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// They do.
    Yes,
    /// They do not: the label and value that the pool does not have.
    No(String),
    /// They ask for a label of which it is not known whether the pool has it.
    Unknown(String),
}

/// Demand by family, in thousandths of a device: a MIG slice is its compute slices of those of the
/// device, a share its part, a Neuron core its part. The sum of a row is exact until it is rounded up
/// to whole thousandths, once, so that a row is never fewer than what is asked for. Fabric, and
/// resources of which nothing is known, have no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRow {
    /// The resource from which it was worked out.
    pub resource: Arc<str>,
    /// The family, such as `H100`; none if it is not known, or one of several.
    pub family: Option<Arc<str>>,
    /// The families that it may be, if there are several.
    pub one_of: BTreeSet<Arc<str>>,
    /// The exact model, such as `NVIDIA-H100-80GB-HBM3`, if it is known.
    pub model: Option<Arc<str>>,
    /// Capacity type, if it is known.
    pub capacity_type: Option<Arc<str>>,
    /// Thousandths of a device.
    pub three: Three,
    /// Why the family is not known, for people.
    pub why: Option<Arc<str>>,
}

impl FamilyRow {
    /// Whether it is of a family: `Unknown` where it is one of several, or not known and asked for by a
    /// resource that such devices have. Case and hyphens of names do not matter.
    pub fn is_of(&self, family: &str) -> Fits {
        if let Some(own) = &self.family {
            return if tables::same_family(own, family) { Fits::Yes } else { Fits::No };
        }
        let possible = if self.one_of.is_empty() {
            let device = tables::unit(&self.resource).map_or(&self.resource, |(unit, _)| &unit.device);
            let mut models = tables::family(family).peekable();
            // A family that the table does not know may have any resource.
            models.peek().is_none() || models.any(|model| *model.resource == **device)
        } else {
            self.one_of.iter().any(|one| tables::same_family(one, family))
        };
        if possible { Fits::Unknown } else { Fits::No }
    }
}

/// Whether two names mean one family: `Trainium2` and `trainium-2` do.
pub fn same_family(one: &str, other: &str) -> bool {
    tables::same_family(one, other)
}

/// The families of which something is known, sorted.
pub fn known_families() -> BTreeSet<&'static str> {
    tables::families()
}

/// What is known of the place to which pods go.
#[derive(Debug, Clone, Copy)]
struct Site<'a> {
    /// The cloud, if it is one of those whose labels are known.
    cloud: Option<&'static str>,
    /// The pools; none if they are not known.
    pools: &'a [Pool],
    /// Whether the pools are known.
    known: bool,
}

/// Places the pods of an object.
pub(super) fn place(
    tree: &Tree<'_>,
    cluster: Option<&Cluster>,
    demand: &ObjectDemand,
    queue: &Queued,
) -> (Vec<Placement>, Vec<FamilyRow>) {
    // Where pods of another cluster run, this cluster's pools do not say.
    let elsewhere = matches!(queue, Queued::Through { elsewhere: true, .. });
    let pools = cluster.and_then(|cluster| cluster.pools.as_deref()).filter(|_| !elsewhere);
    let site = Site {
        cloud: cluster.and_then(|cluster| tables::cloud(cluster.provider.as_deref()?)),
        pools: pools.unwrap_or_default(),
        known: pools.is_some(),
    };
    let Some(object) = tree.objects.get(demand.index).copied() else { return (Vec::new(), Vec::new()) };
    let mut rows = Rows::default();
    let Some(workload) = &demand.workload else {
        // A claim that exists for itself: its devices are wherever its pods run.
        let none = Effective { spec: Value::new_object(), variants: vec![Value::new_object()] };
        let spec = field(object, "spec").cloned().unwrap_or_else(Value::new_object);
        for ask in asks::of_claim(tree, &spec) {
            rows.add(&ask, &Three::ONE, &none, &site);
        }
        return (Vec::new(), rows.finish());
    };
    let none = Resources::new();
    let place = |(index, group): (usize, &PodGroup)| {
        let resources = demand.pods.get(index).unwrap_or(&none);
        let asks = asks::of_pod(tree, group, resources, namespace(object));
        let devices: BTreeSet<_> = asks.iter().map(|ask| ask.resource.clone()).collect();
        let injects = cluster.map(|cluster| &cluster.injects);
        let spec = with_machine(object, &group.spec);
        let effective = effective::effective(&spec, resources, &devices, injects, site.cloud, queue);
        for ask in &asks {
            rows.add(ask, &group.count(), &effective, &site);
        }
        let pools = (site.known && !asks.is_empty()).then(|| candidates(&asks, &effective, &site));
        Placement { effective: effective.spec, pools }
    };
    let placements = workload.pods.iter().enumerate().map(place).collect();
    (placements, rows.finish())
}

/// What one node of a pool has, in thousandths of a device; not known where it is not known what part
/// of a device a unit of the pool's resource is.
pub fn node_thousandths(pool: &Pool) -> Amount {
    let divided = pool.sharing.as_deref() == Some("mig");
    match units::units(&pool.resource) {
        Some(units) => {
            let share = units::share(&units.kind, &pinned::by_pool(pool), divided);
            share::thousandths(&[(Three::known(pool.per_node), share)]).steady
        }
        None => Amount::ZERO,
    }
}

/// Whether a pool's resource is a second name of the devices of another: Neuron cores of nodes whose
/// devices are a pool, too.
pub fn counts_again(pool: &Pool, pools: &[Pool]) -> bool {
    let core = units::units(&pool.resource).filter(|units| units.kind == units::Kind::Core);
    core.is_some_and(|units| {
        pools.iter().any(|other| other.resource == units.device && other.labels == pool.labels)
    })
}

/// A pod spec with the machine type that a KAITO `Workspace` states for its nodes (kaito-project/kaito
/// `api/v1beta1`: `resource.instanceType`; its controller makes such nodes and selects them).
fn with_machine(object: &Value, spec: &Value) -> Value {
    let machine = match kind_of(object) {
        Some(("kaito.sh", ..)) => path(object, &["resource", "instanceType"]),
        _ => None,
    };
    let Some(machine @ Value::String(_)) = machine else { return spec.clone() };
    effective::with_label(spec, "node.kubernetes.io/instance-type", machine)
}

/// The pools that have a device of these, each from the view of the flavour that suits it best.
fn candidates(asks: &[Ask], effective: &Effective, site: &Site<'_>) -> Vec<Candidate> {
    let candidates = site.pools.iter().enumerate();
    let candidates = candidates.filter(|(_, pool)| asks.iter().any(|ask| family::is_candidate(pool, ask)));
    candidates
        .filter_map(|(index, pool)| {
            let views = effective.variants.iter().map(|spec| Candidate {
                pool: index,
                selected: selected(spec, pool, site),
                untolerated: taints::untolerated(spec, &pool.taints),
            });
            let rank = |candidate: &Candidate| {
                let selected = match candidate.selected {
                    Selected::Yes => 0,
                    Selected::Unknown(_) => 1,
                    Selected::No(_) => 2,
                };
                (selected, candidate.untolerated.len())
            };
            views.min_by_key(rank)
        })
        .collect()
}
