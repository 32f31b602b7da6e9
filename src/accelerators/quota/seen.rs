//! What counts against limits: the objects of the tree that are counted themselves.

use std::sync::Arc;

use super::queue_name::{Named, System};
use super::row::{Contributor, Limit, Most, Ref};
use crate::accelerators::amount::{Amount, Fits, Three};
use crate::accelerators::assess::Assessed;
use crate::accelerators::value::{path, text};
use crate::accelerators::workload::{PodGroup, kind_of};
use crate::manifest::quantity::Quantity;
use crate::model::Value;

/// Kinds that run to an end.
const ENDS: [(&str, &str); 17] = [
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayJob"),
    ("ray.io", "RayCronJob"),
    ("kubeflow.org", "MPIJob"),
    ("kubeflow.org", "PyTorchJob"),
    ("kubeflow.org", "TFJob"),
    ("kubeflow.org", "XGBoostJob"),
    ("kubeflow.org", "JAXJob"),
    ("kubeflow.org", "PaddleJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("sparkoperator.k8s.io", "SparkApplication"),
    ("argoproj.io", "Workflow"),
    ("argoproj.io", "CronWorkflow"),
    ("batch.volcano.sh", "Job"),
    ("keda.sh", "ScaledJob"),
];

/// An object that is counted.
pub(super) struct Seen<'s> {
    pub assessed: &'s Assessed,
    pub object: &'s Value,
    pub at: Ref,
    pub named: Option<Named>,
    /// Whether its pods run in another cluster.
    pub elsewhere: bool,
}

impl Seen<'_> {
    /// Its groups of pods, with what one pod of each asks for.
    pub(super) fn groups(
        &self,
    ) -> impl Iterator<Item = (&PodGroup, &crate::accelerators::pod::Resources)> + '_ {
        let pods = self.assessed.demand.workload.as_ref().map_or(&[][..], |workload| &workload.pods);
        pods.iter().zip(&self.assessed.demand.pods)
    }

    /// How much of a resource the pods ask for that `matches` takes; a match that is not known makes
    /// the amount unknown.
    pub(super) fn pods_ask(&self, resource: &str, matches: impl Fn(&PodGroup) -> Option<bool>) -> Three {
        let mut sum = Three::ZERO;
        for (group, pod) in self.groups() {
            let Some(asked) = pod.get(resource) else { continue };
            let amount = group.count().mul(&Three::same(asked));
            match matches(group) {
                Some(false) => {}
                Some(true) => sum = sum.add(&amount),
                None => sum = sum.add(&amount.with(&Three::ZERO, |amount, _| unsure(amount))),
            }
        }
        sum
    }

    /// Whether a queue creates its pods only when there is room for them. KAI's are created at once.
    pub(super) fn is_queued(&self) -> bool {
        self.named.as_ref().is_some_and(|named| match named.system {
            System::Kueue => true,
            System::Volcano => matches!(kind_of(self.object), Some(("batch.volcano.sh", _, "Job"))),
            System::Kai => false,
        })
    }

    pub(super) fn contributor(&self, amount: Three) -> Contributor {
        let queued = self.is_queued();
        let needs_surge = self.needs_surge(&amount);
        Contributor { at: self.at.clone(), amount, queued, ends: self.ends(), needs_surge }
    }

    /// Whether it runs to an end: its controller makes pods that were refused again when others are gone.
    fn ends(&self) -> bool {
        let kind = kind_of(self.object).map(|(group, _, kind)| (group, kind));
        kind.is_some_and(|kind| ENDS.contains(&kind))
    }

    /// Whether its rollout stands still without room for the surge.
    fn needs_surge(&self, amount: &Three) -> Fits {
        if amount.steady == amount.rollout {
            return Fits::No;
        }
        let replicas = self.groups().next().and_then(|(group, _)| group.replicas.steady.known());
        match kind_of(self.object) {
            Some(("apps", _, "Deployment")) => {
                let rolling = path(self.object, &["spec", "strategy", "rollingUpdate"]);
                let part = |key| rolling.and_then(|rolling| path(rolling, &[key]));
                let Some(replicas) = replicas else { return Fits::Unknown };
                match (
                    taken(part("maxUnavailable"), replicas, false),
                    taken(part("maxSurge"), replicas, true),
                ) {
                    // Of both at zero Kubernetes makes one unavailable.
                    (Some(0), Some(surge)) if surge > 0 => Fits::Yes,
                    (Some(_), Some(_)) => Fits::No,
                    _ => Fits::Unknown,
                }
            }
            Some(("leaderworkerset.x-k8s.io", _, "LeaderWorkerSet")) => {
                let at = ["spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable"];
                match (path(self.object, &at), replicas) {
                    (None, _) => Fits::No,
                    (stated, Some(replicas)) => match taken(stated, replicas, false) {
                        Some(0) => Fits::Yes,
                        Some(_) => Fits::No,
                        None => Fits::Unknown,
                    },
                    _ => Fits::Unknown,
                }
            }
            Some(("ray.io", _, "RayService")) => {
                match text(self.object, &["spec", "upgradeStrategy", "type"]).map(|kind| &**kind) {
                    None | Some("NewCluster") => Fits::Yes,
                    Some("None") => Fits::No,
                    Some(_) => Fits::Unknown,
                }
            }
            _ => Fits::Unknown,
        }
    }
}

/// `maxSurge` or `maxUnavailable`, 25% if not stated: percentages are of the replicas, rounded up for
/// the one and down for the other (kubernetes/api apps/v1/types.go).
fn taken(stated: Option<&Value>, replicas: u64, up: bool) -> Option<u64> {
    let of = |percent: u64| {
        let product = replicas.checked_mul(percent)?;
        Some(if up { product.div_ceil(100) } else { product / 100 })
    };
    match stated {
        None => of(25),
        Some(Value::String(text)) => of(text.strip_suffix('%')?.parse().ok()?),
        Some(value) => Quantity::from_value(value).ok()?.to_count().ok(),
    }
}

/// An amount of which it is not known whether it counts.
fn unsure(amount: &Amount) -> Amount {
    if amount.is_zero() {
        return Amount::ZERO;
    }
    Amount::unknown("whether some pods count is not in the manifests")
}

/// What counts against a limit, summed up.
pub(super) struct Sum {
    pub used: Three,
    pub needed: Amount,
    pub queued: Amount,
    pub contributors: Vec<Contributor>,
}

/// Sums up contributors. Rollouts are taken to happen one at a time: the largest surge counts, and what
/// autoscalers add to each.
pub(super) fn sum(contributors: Vec<Contributor>) -> Sum {
    let mut steady = Amount::ZERO;
    let mut surge = Amount::ZERO;
    let mut more = Amount::ZERO;
    let mut queued = Amount::ZERO;
    let mut lasting = Amount::ZERO;
    let mut ending = Amount::ZERO;
    for Contributor { amount, queued: waits, ends, .. } in &contributors {
        if *waits {
            queued = queued.add(&amount.steady);
            continue;
        }
        steady = steady.add(&amount.steady);
        if *ends {
            ending = ending.max(&amount.steady);
        } else {
            lasting = lasting.add(&amount.steady);
        }
        surge = surge.max(&amount.rollout.sub(&amount.steady));
        more = more.add(&beyond(&amount.autoscaled, &amount.rollout));
    }
    let rollout = steady.add(&surge);
    let used = Three { autoscaled: rollout.add(&more), rollout, steady };
    Sum { used, needed: lasting.add(&ending), queued, contributors }
}

/// What autoscaling adds, open if it is without bound.
fn beyond(autoscaled: &Amount, rollout: &Amount) -> Amount {
    if autoscaled == rollout { Amount::ZERO } else { autoscaled.sub(&Amount::Known(rollout.at_least())) }
}

/// The parts of a limit that its system gives.
pub(super) struct Part<'p> {
    pub system: &'static str,
    pub at: &'p Ref,
    pub path: crate::model::Route,
    pub key: &'p str,
    pub resource: Arc<str>,
    pub most: Most,
    pub owner: Option<Arc<str>>,
}

impl Part<'_> {
    /// The limit with what counts against it.
    pub(super) fn limit(self, contributors: Vec<Contributor>) -> Limit {
        let Sum { used, needed, queued, contributors } = sum(contributors);
        Limit {
            system: self.system,
            at: self.at.clone(),
            path: self.path,
            key: self.key.into(),
            resource: self.resource,
            flavor: None,
            thousandths: false,
            most: self.most,
            used,
            needed,
            queued,
            contributors,
            owner: self.owner,
            facts: Vec::new(),
        }
    }
}

/// A limit as stated.
pub(super) fn most(value: &Value, at: &crate::model::Route) -> Most {
    match Quantity::from_value(value) {
        Ok(quantity) if quantity.is_negative() => {
            Most::Unknown(format!("`{at}`: `{quantity}` is negative").into())
        }
        // Devices are whole, so that a fraction allows none of the next one.
        Ok(quantity) => match u64::try_from(quantity.nano() / 1_000_000_000) {
            Ok(n) => Most::Known(n),
            Err(_) => Most::Unlimited,
        },
        Err(error) => Most::Unknown(format!("`{at}`: {error}").into()),
    }
}
