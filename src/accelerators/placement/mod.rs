//! Where pods can run: what queue and cluster add to them, which pools of the cluster their selectors
//! leave, and so of which family the devices are that they get.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::amount::Three;
use super::demand::ObjectDemand;
use super::quota::Queued;
use super::tree::Tree;
use super::workload::PodGroup;
use crate::model::{Cluster, Taint, Value};

/// Where the pods of a group can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The pod spec with what its queue and its cluster add.
    pub effective: Value,
    /// The pools of the cluster that have a resource that these pods ask for, in the order of the
    /// cluster; none: the cluster's pools are not known.
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

/// Demand by family, in thousandths of a device.
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
    /// Whether it may be of a family, where the family is not known.
    pub fn may_be(&self, family: &str) -> bool {
        self.one_of.is_empty() || self.one_of.iter().any(|one| **one == *family)
    }
}

/// Places the pods of an object.
pub(super) fn place(
    _tree: &Tree<'_>,
    _cluster: Option<&Cluster>,
    demand: &ObjectDemand,
    _queue: &Queued,
) -> (Vec<Placement>, Vec<FamilyRow>) {
    let groups: &[PodGroup] = demand.workload.as_ref().map_or(&[], |workload| &workload.pods);
    let placements =
        groups.iter().map(|group| Placement { effective: group.spec.clone(), pools: None }).collect();
    (placements, Vec::new())
}
