//! Sets of pods as Kueue counts them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::GROUP;
use crate::accelerators::amount::Amount;
use crate::accelerators::pod::Resources;
use crate::accelerators::quota::seen::Seen;
use crate::accelerators::resources::class;
use crate::accelerators::value::{at, path, text};
use crate::accelerators::workload::{PodGroup, kind_of};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Step, Value};

/// What a set of pods that is started together asks for.
pub(super) struct PodSet<'w> {
    pub group: &'w PodGroup,
    /// All pods of the set together; the least with which it is started.
    pub asks: Resources,
}

/// The sets of pods of a workload as Kueue counts them (`PodSets` of pkg/controller/jobs/*), with what
/// each asks for of devices that quota covers. Claims are left out: which quota they are charged to is
/// in Kueue's own configuration.
pub(super) fn pod_sets<'w>(
    seen: &'w Seen<'_>,
    by_pod: bool,
    notes: &mut BTreeSet<Arc<str>>,
) -> Vec<PodSet<'w>> {
    seen.groups()
        .filter_map(|(group, pod)| {
            let count = count(seen.object, group, by_pod, notes);
            if count.is_zero() {
                return None;
            }
            let asks = (pod.iter())
                .filter(|(resource, amount)| {
                    resource.contains('/') && class(resource).counts() && !amount.is_zero()
                })
                .map(|(resource, amount)| (resource.clone(), amount.mul(&count)))
                .collect();
            Some(PodSet { group, asks })
        })
        .collect()
}

/// How many pods of a group are started together, at the least.
fn count(object: &Value, group: &PodGroup, by_pod: bool, notes: &mut BTreeSet<Arc<str>>) -> Amount {
    let steady = group.count().steady;
    if steady.is_zero() {
        return steady;
    }
    let kind = kind_of(object).map(|(group, _, kind)| (group, kind));
    if by_pod {
        return Amount::ONE;
    }
    match kind {
        // One workload for each replica.
        Some(("leaderworkerset.x-k8s.io", "LeaderWorkerSet")) => group.per.clone(),
        Some(("batch", "Job")) => least(
            steady,
            text(object, &["metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"])
                .and_then(|least| least.parse().ok()),
        ),
        Some((GROUP, "Workload")) => least(
            steady,
            parent(&group.path, 2)
                .and_then(|set| at(object, &set))
                .and_then(|set| path(set, &["minCount"]))
                .and_then(|least| Quantity::from_value(least).ok()?.to_count().ok()),
        ),
        Some(("ray.io", _)) => ray(object, group, steady, notes),
        _ => steady,
    }
}

fn least(steady: Amount, stated: Option<u64>) -> Amount {
    match stated {
        Some(stated) => steady.min(&Amount::Known(stated)),
        None => steady,
    }
}

/// Kueue takes a worker group's `replicas` as written, where KubeRay keeps them between `minReplicas`
/// and `maxReplicas` (kubernetes-sigs/kueue pkg/controller/jobs/raycluster/common.go
/// `effectiveWorkerCount`). Its code counts one where they are absent; the default of the CRD makes
/// that none before Kueue sees it.
fn ray(object: &Value, group: &PodGroup, steady: Amount, notes: &mut BTreeSet<Arc<str>>) -> Amount {
    let Some(workers) = parent(&group.path, 2).filter(|route| matches!(route.0.last(), Some(Step::Index(_))))
    else {
        return steady;
    };
    let stated = at(object, &workers).and_then(|workers| path(workers, &["replicas"]));
    let Some(stated) = stated else {
        notes.insert(
            "a worker group states no `replicas`: KubeRay's default is 0, Kueue's own code counts 1".into(),
        );
        return steady;
    };
    match Quantity::from_value(stated).and_then(Quantity::to_count) {
        Ok(n) => {
            let count = Amount::Known(n).mul(&group.per);
            if count != steady {
                notes.insert(
                    "Kueue counts the `replicas` of a worker group as written, KubeRay keeps them between `minReplicas` and `maxReplicas`".into(),
                );
            }
            count
        }
        Err(_) => steady,
    }
}

/// The route without its last steps.
fn parent(route: &Route, steps: usize) -> Option<Route> {
    let keep = route.0.len().checked_sub(steps)?;
    Some(Route(route.0.iter().take(keep).cloned().collect()))
}
