//! Quota that the cluster itself enforces, found in the tree: `ResourceQuota`, Kueue, Volcano, KAI,
//! `ElasticQuota`, Karpenter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assess::Assessed;
use super::tree::Tree;
use crate::model::{Cluster, Value};

/// The queue that starts an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queued {
    /// None: it starts at once.
    No,
    /// It names a queue, but not all of the way from there to nodes is in the tree.
    Unresolved {
        /// The queue as named.
        queue: Arc<str>,
        /// What is missing.
        why: String,
        /// Whether it is missing for certain, because the whole cluster is in the tree.
        certain: bool,
    },
    /// The way through the queue is known.
    Through {
        /// The queue as named.
        queue: Arc<str>,
        /// The cluster queue behind it; the queue itself where there is only one level.
        cluster_queue: Arc<str>,
        /// The flavours that it can be given, in the order in which the queue tries them; empty for
        /// systems that have none.
        flavors: Vec<Flavor>,
    },
}

/// What a queue adds to the pods that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flavor {
    /// Name.
    pub name: Arc<str>,
    /// The resources for which it is a choice.
    pub resources: BTreeSet<Arc<str>>,
    /// Labels of its nodes, which become the pod's node selector.
    pub node_labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Tolerations that it adds.
    pub tolerations: Vec<Value>,
    /// Taints of its nodes, which a pod must tolerate to be given this flavour.
    pub node_taints: Vec<Value>,
    /// Its topology, if it names one.
    pub topology: Option<Arc<str>>,
}

/// A limit that the cluster enforces, and what counts against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {}

impl Quota {
    /// As rules see it.
    pub fn to_value(&self) -> Value {
        Value::new_object()
    }
}

/// The queues of a cluster.
#[derive(Debug)]
pub(super) struct Queues {}

impl Queues {
    pub(super) fn of(_tree: &Tree<'_>, _complete: bool) -> Self {
        Self {}
    }

    /// The queue that starts the object at a position.
    pub(super) fn queue_of(&self, _tree: &Tree<'_>, _index: usize) -> Queued {
        Queued::No
    }

    pub(super) fn quotas(
        &self,
        _tree: &Tree<'_>,
        _cluster: Option<&Cluster>,
        _objects: &[Assessed],
    ) -> Vec<Quota> {
        Vec::new()
    }
}
