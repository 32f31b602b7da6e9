//! All that is to be known about the objects of one cluster: what they ask for, of which families,
//! through which queues, and what limits that.

use super::demand::ObjectDemand;
use super::placement::{self, FamilyRow, Placement};
use super::quota::{self, Queued, Quota};
use super::tree::Tree;
use crate::model::Cluster;

/// The objects of one cluster, assessed.
#[derive(Debug, Default)]
pub struct Assessment {
    /// Objects that run pods or ask for devices, in the order of the tree.
    pub objects: Vec<Assessed>,
    /// What limits them, found in the tree, in a fixed order.
    pub quotas: Vec<Quota>,
}

/// One object.
#[derive(Debug)]
pub struct Assessed {
    /// What it asks for.
    pub demand: ObjectDemand,
    /// The queue that starts it.
    pub queue: Queued,
    /// Where its pods can run, one for each group of pods of its workload, in that order.
    pub pods: Vec<Placement>,
    /// Its demand by family, in thousandths of a device.
    pub families: Vec<FamilyRow>,
}

impl Assessed {
    /// Whether it asks for accelerators, may ask for some, or is something to be told about.
    pub fn asks(&self) -> bool {
        self.demand.asks() || !self.families.is_empty()
    }
}

/// Assesses the objects of `cluster`; none: nothing is known about the place they go to. `complete`
/// says whether the tree has all that the cluster gets, so that what is not there does not exist.
pub fn assess(tree: &Tree<'_>, cluster: Option<&Cluster>, complete: bool) -> Assessment {
    let queues = quota::Queues::of(tree, complete);
    let objects: Vec<Assessed> = (tree.demand().into_iter())
        .map(|demand| {
            let queue = queues.queue_of(tree, &demand);
            let (pods, families) = placement::place(tree, cluster, &demand, &queue);
            Assessed { demand, queue, pods, families }
        })
        .collect();
    let quotas = queues.quotas(tree, cluster, &objects);
    Assessment { objects, quotas }
}
