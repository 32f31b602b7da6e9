//! Faults of Kueue's own objects.

use std::sync::Arc;

use super::quota::quotas;
use super::{GROUP, Kueue};
use crate::accelerators::quota::row::{Problem, Quota, Ref};
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{path, text};
use crate::model::Route;

impl Kueue {
    /// What is wrong with queues, cohorts and flavours.
    pub(in super::super) fn problems(&self, tree: &Tree<'_>) -> Vec<Quota> {
        let mut found = Vec::new();
        let mut say = |index: usize, path: Route, code, message: String, write: &str, certain: bool| {
            if let Some(at) = Ref::of(tree, index) {
                let remediation = write.to_owned();
                found.push(Quota::Problem(Problem {
                    system: "kueue",
                    at,
                    path,
                    code,
                    message,
                    remediation,
                    certain,
                }));
            }
        };
        let spec = Route::root().key("spec");
        for queue in self.local.values().flatten() {
            let at = spec.key("clusterQueue");
            match &queue.cluster_queue {
                None => say(
                    queue.index,
                    at,
                    "no-cluster-queue",
                    "it names no ClusterQueue".into(),
                    "name the ClusterQueue that backs it in `spec.clusterQueue`",
                    true,
                ),
                Some(name) if !self.cluster.contains_key(name) => say(
                    queue.index,
                    at,
                    "cluster-queue-missing",
                    format!("ClusterQueue `{name}` is not in this cluster's manifests"),
                    "name a ClusterQueue that exists, or add it",
                    self.complete && !self.cluster.is_empty(),
                ),
                Some(_) => {}
            }
        }
        for (name, queue) in &self.cluster {
            for (index, group) in queue.groups.iter().enumerate() {
                for (position, flavor) in group.flavors.iter().enumerate() {
                    if !self.flavors.contains_key(flavor) {
                        let at = spec
                            .key("resourceGroups")
                            .index(index)
                            .key("flavors")
                            .index(position)
                            .key("name");
                        say(
                            queue.index,
                            at,
                            "flavor-missing",
                            format!(
                                "ResourceFlavor `{flavor}` is not in this cluster's manifests, so that the queue is inactive"
                            ),
                            "name a ResourceFlavor that exists, or add it",
                            self.complete && !self.flavors.is_empty(),
                        );
                    }
                }
            }
            for quota in queue.quotas.values() {
                for (key, limit) in [("borrowingLimit", &quota.borrowing), ("lendingLimit", &quota.lending)] {
                    if queue.cohort.is_none() && limit.is_some() {
                        say(
                            queue.index,
                            quota.path.key(key),
                            "limit-without-cohort",
                            format!(
                                "`{key}` is set and ClusterQueue `{name}` is in no cohort: Kueue refuses that"
                            ),
                            "remove it, or name the cohort in `spec.cohortName`",
                            true,
                        );
                    }
                }
                unreadable(queue.index, quota, &mut say);
            }
            if queue.namespaces.is_none() {
                say(
                    queue.index,
                    spec.key("namespaceSelector"),
                    "no-namespaces",
                    "it has no `namespaceSelector`, which takes workloads of no namespace".into(),
                    "write `namespaceSelector: {}` for all namespaces, or select some",
                    true,
                );
            }
        }
        for (index, cohort) in tree.of_kind(GROUP, "Cohort") {
            let name = super::name(cohort).map_or("", |name| &**name);
            if self.cohorts.cyclic.contains(name) {
                say(
                    index,
                    spec.key("parentName"),
                    "cohort-cycle",
                    format!(
                        "cohort `{name}` is in or below a cycle of parents: none of its queues admits anything"
                    ),
                    "make one of the cohorts the root by removing its `parentName`",
                    true,
                );
            }
            let root = text(cohort, &["spec", "parentName"]).is_none_or(|parent| parent.is_empty());
            for quota in quotas(cohort).values() {
                for (key, limit) in [("borrowingLimit", &quota.borrowing), ("lendingLimit", &quota.lending)] {
                    if root && limit.is_some() {
                        say(
                            index,
                            quota.path.key(key),
                            "limit-without-cohort",
                            format!("`{key}` is set and cohort `{name}` has no parent: Kueue refuses that"),
                            "remove it, or name the parent in `spec.parentName`",
                            true,
                        );
                    }
                }
                unreadable(index, quota, &mut say);
            }
        }
        self.topologies(tree, &mut say);
        found
    }

    /// Topologies that flavours name and that are not there.
    fn topologies(
        &self,
        tree: &Tree<'_>,
        say: &mut impl FnMut(usize, Route, &'static str, String, &str, bool),
    ) {
        let known: Vec<&Arc<str>> =
            tree.of_kind(GROUP, "Topology").filter_map(|(_, t)| super::name(t)).collect();
        let at = Route::root().key("spec").key("topologyName");
        for (index, object) in tree.of_kind(GROUP, "ResourceFlavor") {
            let Some(topology) = text(object, &["spec", "topologyName"]) else { continue };
            if !known.contains(&topology) {
                say(
                    index,
                    at.clone(),
                    "topology-missing",
                    format!("Topology `{topology}` is not in this cluster's manifests"),
                    "name a Topology that exists, or add it",
                    self.complete && !known.is_empty(),
                );
            }
            if path(object, &["spec", "nodeLabels"]).is_none() {
                say(
                    index,
                    at.clone(),
                    "topology-without-labels",
                    "a flavor with a topology needs at least one node label: Kueue refuses it".into(),
                    "add `nodeLabels` that its nodes have",
                    true,
                );
            }
        }
    }
}

fn unreadable(
    index: usize,
    quota: &super::FlavorQuota,
    say: &mut impl FnMut(usize, Route, &'static str, String, &str, bool),
) {
    let caps = [
        ("nominalQuota", Some(&quota.nominal)),
        ("borrowingLimit", quota.borrowing.as_ref()),
        ("lendingLimit", quota.lending.as_ref()),
    ];
    for (key, cap) in caps {
        if let Some(Err(why)) = cap {
            say(index, quota.path.key(key), "unreadable", why.to_string(), "write a whole number", true);
        }
    }
}
