//! Volcano's `Queue`: `capability` is the most that its jobs hold together, and so do the queues above
//! it; `deserved` and `guarantee` only decide who yields (volcano-sh/volcano
//! pkg/scheduler/plugins/capacity/capacity.go). A resource that `capability` does not name is not
//! limited. Jobs go to queues without children only (pkg/webhooks/admission/jobs/validate).

use std::sync::Arc;

use super::hierarchy::Hierarchy;
use super::queue_name::{Named, System};
use super::row::{Admission, Most, Problem, Quota, Reason};
use super::seen::{Part, Seen, most};
use super::{VOLCANO, owner};
use crate::accelerators::amount::{Amount, Fits, Three};
use crate::accelerators::pod::{Resources, add, raise};
use crate::accelerators::resources::{class, is_extended};
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{fields, path};
use crate::accelerators::workload::kind_of;
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

const SYSTEM: &str = "volcano";

pub(super) fn rows(tree: &Tree<'_>, seen: &[Seen<'_>]) -> Vec<Quota> {
    let queues = Hierarchy::of(tree, VOLCANO, "parent");
    let here: Vec<&Seen<'_>> =
        seen.iter().filter(|seen| seen.named.as_ref().is_some_and(|n| n.system == System::Volcano)).collect();
    let mut rows: Vec<Quota> = Vec::new();
    for seen in &here {
        rows.extend(
            seen.named.as_ref().and_then(|named| admission(tree, &queues, seen, named)).map(Quota::Admission),
        );
    }
    let members = queues.members(here.iter().copied());
    for (name, queue) in queues.iter() {
        let members = members.get(name).map_or(&[][..], |members| members);
        for (resource, path, most) in capability(queue.object) {
            let contributors = members.iter().filter_map(|seen| {
                let amount = seen.assessed.demand.counted()?.get(&resource)?.clone();
                (amount != Three::ZERO)
                    .then(|| super::row::Contributor { queued: true, ..seen.contributor(amount) })
            });
            let part = Part {
                system: SYSTEM,
                at: &queue.at,
                path,
                key: &resource,
                resource: resource.clone(),
                most,
                owner: owner(tree, queue.at.index),
            };
            let mut limit = part.limit(contributors.collect());
            for fact in ["deserved", "guarantee"] {
                let keys: &[&str] =
                    if fact == "guarantee" { &["spec", fact, "resource"] } else { &["spec", fact] };
                let stated = self::path(queue.object, keys).map(fields).unwrap_or_default();
                let stated =
                    stated.into_iter().find(|(key, _)| **key == resource).map(|(_, value)| value.clone());
                limit.facts.push((fact, stated.unwrap_or(Value::Null)));
            }
            rows.push(Quota::Limit(limit));
        }
    }
    for queue in queues.cyclic() {
        rows.push(Quota::Problem(Problem {
            system: SYSTEM,
            at: queue.at.clone(),
            path: Route::root().key("spec").key("parent"),
            code: "queue-cycle",
            message: format!("the parents of queue `{}` come back to it", queue.at.name),
            remediation: "make one of the queues a child of `root`".to_owned(),
            certain: true,
        }));
    }
    rows
}

/// What a queue may hold at most of each extended resource.
fn capability(queue: &Value) -> Vec<(Arc<str>, Route, Most)> {
    let at = Route::root().key("spec").key("capability");
    let stated = path(queue, &["spec", "capability"]).map(fields).unwrap_or_default();
    (stated.into_iter())
        .filter(|(key, _)| is_extended(key) && class(key).counts())
        .map(|(key, value)| (key.clone(), at.key(key), most(value, &at.key(key))))
        .collect()
}

fn admission(tree: &Tree<'_>, queues: &Hierarchy<'_>, seen: &Seen<'_>, named: &Named) -> Option<Admission> {
    let up = queues.up(&named.queue);
    let is_job = matches!(kind_of(seen.object), Some(("batch.volcano.sh", _, "Job")));
    let asks = if is_job { least(seen) } else { one_pod(seen) };
    if asks.is_empty() || (up.is_empty() && !queues.has_children(&named.queue)) {
        return None;
    }
    let mut reasons = Vec::new();
    if queues.has_children(&named.queue) {
        reasons.push(Reason {
            code: "not-a-leaf",
            message: format!(
                "queue `{}` has queues below it: only queues without any take jobs",
                named.queue
            ),
            resource: None,
            asked: None,
            most: None,
        });
    }
    let mut limited_by = up.first().map(|(_, queue)| queue.at.clone());
    for (name, queue) in &up {
        for (resource, _, most) in capability(queue.object) {
            let Some(asked) = asks.get(&resource) else { continue };
            match (most.fits(asked), &most) {
                (Fits::No, Most::Known(n)) if asked.at_least() > *n => {
                    limited_by = Some(queue.at.clone());
                    reasons.push(Reason {
                        code: "too-large",
                        message: format!("the capability of queue `{name}` is {n} at most"),
                        resource: Some(resource.clone()),
                        asked: Some(asked.clone()),
                        most: Some(*n),
                    });
                }
                (Fits::Yes, _) => {}
                _ => reasons.push(Reason {
                    code: "unknown",
                    message: format!("whether it fits the capability of queue `{name}` is not known"),
                    resource: Some(resource.clone()),
                    asked: Some(asked.clone()),
                    most: None,
                }),
            }
        }
    }
    let owner = limited_by.as_ref().and_then(|at| owner(tree, at.index));
    Some(Admission::new(SYSTEM, seen, named, limited_by, reasons, !is_job, asks, owner))
}

/// What the pods that must start together ask for at the least: of `minAvailable` pods those that ask
/// for the fewest. Without it all start together.
fn least(seen: &Seen<'_>) -> Resources {
    let mut all = Resources::new();
    let mut resources = Resources::new();
    for (group, pod) in seen.groups() {
        raise(&mut resources, pod);
        let count = group.count().steady;
        add(&mut all, &pod.iter().map(|(r, n)| (r.clone(), n.mul(&count))).collect());
    }
    all.retain(|resource, amount| class(resource).counts() && !amount.is_zero());
    let stated = path(seen.object, &["spec", "minAvailable"])
        .and_then(|n| Quantity::from_value(n).ok()?.to_count().ok())
        .filter(|n| *n > 0);
    let Some(mut left) = stated else { return all };
    let mut by_size: Vec<(&Resources, Amount)> =
        seen.groups().map(|(group, pod)| (pod, group.count().steady)).collect();
    let mut least = Resources::new();
    for resource in all.keys() {
        left = stated.unwrap_or(left);
        by_size.sort_by_key(|(pod, _)| pod.get(resource).map_or(0, Amount::at_least));
        let mut sum = Amount::ZERO;
        for (pod, count) in &by_size {
            let taken = count.min(&Amount::Known(left));
            left = left.saturating_sub(taken.at_least());
            sum = sum.add(&taken.mul(pod.get(resource).unwrap_or(&Amount::ZERO)));
        }
        if !sum.is_zero() {
            least.insert(resource.clone(), sum);
        }
    }
    least
}

/// The largest of single pods.
pub(super) fn one_pod(seen: &Seen<'_>) -> Resources {
    let mut most = Resources::new();
    for (group, pod) in seen.groups() {
        if !group.count().steady.is_zero() {
            raise(&mut most, pod);
        }
    }
    most.retain(|resource, amount| class(resource).counts() && !amount.is_zero());
    most
}
