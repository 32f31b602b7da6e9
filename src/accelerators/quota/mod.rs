//! Quota that the cluster itself enforces, found in the tree: `ResourceQuota`, Kueue, Volcano, KAI,
//! `ElasticQuota`, Karpenter; and what the nodes of the fleet file hold.
//!
//! Rules see it as rows, `input.quotas`, of three kinds. `ref` names an object by `group`, `kind`,
//! `namespace` and `name`; amounts are integers or open, as everywhere.
//!
//! ```text
//! {row: "limit", system, ref, path[], key, resource, flavor|null, unit: "unit"|"thousandth",
//!  limit: n|null, why: text,                    null without a reason: unlimited
//!  used: {steady, rollout, autoscaled},         rollout: the steady sum and the largest single surge
//!  fits: {steady, rollout, autoscaled},         "yes", "no" or "unknown"
//!  needed,                                      what must fit at once: of what ends only the largest
//!  queued,                                      what a queue starts when there is room; not in `used`
//!  contributors[]: {ref, steady, rollout, autoscaled, queued, ends, needsSurge},
//!  owner: text|null, ...}                       and what the system itself says, such as `nominal`
//! {row: "admission", system, workload: ref, path[], queue, ref|null, possible: "yes"|"no"|"unknown",
//!  reasons[]: {code, message, resource|null, asked|null, most|null}, byPod, asks[]: {resource, amount},
//!  owner, notes[]}
//! {row: "problem", system, ref, path[], code, message, remediation, certain}
//! ```
//!
//! In `fits`, `steady` is what a limit on running pods compares; `rollout` is what a `ResourceQuota` is
//! charged while pods are replaced, and so decides whether a rollout can go on.

mod bypass;
mod elastic_quota;
mod hierarchy;
mod kai;
mod karpenter;
mod kueue;
mod pools;
mod queue_name;
mod resource_quota;
mod row;
mod seen;
mod select;
#[cfg(test)]
mod tests;
mod volcano;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assess::Assessed;
use super::demand::ObjectDemand;
use super::tree::{Tree, namespace};
use crate::model::{Cluster, Route, Value};
use kueue::Kueue;
use queue_name::{Named, System, queue_name};
pub use row::{Admission, Contributor, Limit, Most, Problem, Quota, Reason, Ref};
use seen::Seen;

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
        /// Whether it is missing for certain: the whole cluster is in the tree, and objects of the
        /// missing kind are, so that this cluster's queues are kept there.
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
        /// Whether its pods run in another cluster (`MultiKueue`), so that nothing of this cluster's
        /// nodes is used.
        elsewhere: bool,
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

impl Flavor {
    /// Why pods of this spec are never given this flavour, for people; `None` if they can be.
    pub fn refuses(&self, spec: &Value) -> Option<String> {
        select::refuses(spec, &self.node_labels, &self.node_taints, &self.tolerations)
    }
}

/// The queues of a cluster.
#[derive(Debug)]
pub(super) struct Queues {
    complete: bool,
    kueue: Kueue,
    /// Names of the cluster-wide queues of Volcano and KAI.
    volcano: BTreeSet<Arc<str>>,
    kai: BTreeSet<Arc<str>>,
}

const VOLCANO: (&str, &str) = ("scheduling.volcano.sh", "Queue");
const KAI: (&str, &str) = ("scheduling.run.ai", "Queue");

impl Queues {
    pub(super) fn of(tree: &Tree<'_>, complete: bool) -> Self {
        let names = |(group, kind): (&str, &str)| {
            tree.of_kind(group, kind).filter_map(|(_, object)| name(object).cloned()).collect()
        };
        Self { complete, kueue: Kueue::of(tree, complete), volcano: names(VOLCANO), kai: names(KAI) }
    }

    /// The queue that starts an object.
    pub(super) fn queue_of(&self, tree: &Tree<'_>, demand: &ObjectDemand) -> Queued {
        let Some(object) = tree.objects.get(demand.index).copied() else { return Queued::No };
        match queue_name(object, demand.workload.as_ref()) {
            None => self.kueue.default_queue(object),
            Some(Named { system: System::Kueue, queue, .. }) => self.kueue.resolve(&queue, namespace(object)),
            Some(Named { system: System::Volcano, queue, .. }) => {
                // Volcano makes these two itself.
                let made = matches!(&*queue, "default" | "root");
                self.plain("Volcano Queue", queue, &self.volcano, made)
            }
            Some(Named { system: System::Kai, queue, .. }) => {
                self.plain("KAI Queue", queue, &self.kai, false)
            }
        }
    }

    /// A queue of a system with one kind of queue.
    fn plain(&self, kind: &str, queue: Arc<str>, known: &BTreeSet<Arc<str>>, made: bool) -> Queued {
        if made || known.contains(&queue) {
            return Queued::Through {
                cluster_queue: queue.clone(),
                queue,
                flavors: Vec::new(),
                elsewhere: false,
            };
        }
        let why = format!("{kind} `{queue}` is not in this cluster's manifests");
        Queued::Unresolved { queue, why, certain: self.complete && !known.is_empty() }
    }

    pub(super) fn quotas(
        &self,
        tree: &Tree<'_>,
        cluster: Option<&Cluster>,
        objects: &[Assessed],
    ) -> Vec<Quota> {
        let seen: Vec<Seen<'_>> = (objects.iter())
            .filter(|assessed| assessed.demand.through.is_none() && may_ask(assessed))
            .filter_map(|assessed| Self::seen(tree, assessed))
            .collect();
        let in_kueue: Vec<&Seen<'_>> = seen
            .iter()
            .filter(|seen| seen.named.as_ref().is_some_and(|n| n.system == System::Kueue))
            .collect();
        let mut rows = resource_quota::rows(tree, &seen, self.complete);
        rows.extend(
            in_kueue.iter().filter_map(|seen| self.kueue.admission(tree, seen)).map(Quota::Admission),
        );
        rows.extend(self.kueue.limits(tree, &in_kueue));
        rows.extend(self.kueue.problems(tree));
        rows.extend(seen.iter().filter_map(missing).map(Quota::Problem));
        let with_queues = self.kueue.namespaces_with_queues();
        rows.extend(bypass::rows(&seen, |namespace| with_queues.contains(&namespace)));
        rows.extend(volcano::rows(tree, &seen));
        rows.extend(kai::rows(tree, &seen));
        rows.extend(elastic_quota::rows(tree, &seen));
        rows.extend(karpenter::rows(tree, &seen));
        rows.extend(pools::rows(cluster, &seen));
        rows
    }

    fn seen<'s>(tree: &Tree<'s>, assessed: &'s Assessed) -> Option<Seen<'s>> {
        let object = *tree.objects.get(assessed.demand.index)?;
        let named = queue_name(object, assessed.demand.workload.as_ref()).or_else(|| match &assessed.queue {
            // A queue takes it without being named.
            Queued::Through { queue, .. } => Some(Named {
                system: System::Kueue,
                queue: queue.clone(),
                path: Route::root().key("metadata").key("labels"),
                by_pod: false,
            }),
            _ => None,
        });
        let elsewhere = matches!(assessed.queue, Queued::Through { elsewhere: true, .. });
        let at = Ref::of(tree, assessed.demand.index)?;
        Some(Seen { assessed, object, at, named, elsewhere })
    }
}

fn name(object: &Value) -> Option<&Arc<str>> {
    super::value::text(object, &["metadata", "name"])
}

/// Who may raise a limit, if its object says so: an annotation or label whose name ends in `owner`.
fn owner(tree: &Tree<'_>, index: usize) -> Option<Arc<str>> {
    let object = *tree.objects.get(index)?;
    ["annotations", "labels"].into_iter().find_map(|list| {
        let entries =
            super::value::path(object, &["metadata", list]).map(super::value::fields).unwrap_or_default();
        let mut owners = entries.into_iter().filter(|(key, _)| {
            key.rsplit('/').next().is_some_and(|name| matches!(name, "owner" | "owners" | "quota-owner"))
        });
        owners.find_map(|(_, value)| value.as_string().ok().cloned())
    })
}

/// Whether anything here is to be counted: fractions of devices are annotations of pods.
fn may_ask(assessed: &Assessed) -> bool {
    let pods = assessed.demand.workload.as_ref().map_or(&[][..], |workload| &workload.pods);
    assessed.asks()
        || pods.iter().any(|group| {
            ["gpu-fraction", "gpu-memory"]
                .into_iter()
                .any(|key| super::value::text(&group.metadata, &["annotations", key]).is_some())
        })
}

/// A queue that an object names and that is not there.
fn missing(seen: &Seen<'_>) -> Option<Problem> {
    let named = seen.named.as_ref()?;
    let Queued::Unresolved { why, certain, .. } = &seen.assessed.queue else { return None };
    Some(Problem {
        system: named.system.as_str(),
        at: seen.at.clone(),
        path: named.path.clone(),
        code: "queue-missing",
        message: why.clone(),
        remediation: "name a queue that exists, or add what is missing to the manifests of this cluster"
            .into(),
        certain: *certain,
    })
}
