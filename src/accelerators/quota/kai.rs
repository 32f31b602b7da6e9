//! KAI's `Queue` (run:ai): `resources.gpu.limit` is the most that its pods hold, in devices with
//! fractions, `-1` for no limit; the queues above it limit too. Only queues without children schedule
//! (NVIDIA/KAI-Scheduler docs/queues/README.md, pkg/scheduler/plugins/proportion).

use std::sync::Arc;

use super::hierarchy::Hierarchy;
use super::queue_name::{Named, System};
use super::row::{Admission, Contributor, Limit, Most, Problem, Quota, Reason, Ref};
use super::seen::{Part, Seen};
use super::{KAI, owner};
use crate::accelerators::amount::{Amount, Fits, Three};
use crate::accelerators::pod::Resources;
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{path, text};
use crate::accelerators::workload::{PodGroup, kind_of};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

const SYSTEM: &str = "kai";
const GPU: &str = "nvidia.com/gpu";

pub(super) fn rows(tree: &Tree<'_>, seen: &[Seen<'_>]) -> Vec<Quota> {
    let queues = Hierarchy::of(tree, KAI, "parentQueue");
    let here: Vec<&Seen<'_>> =
        seen.iter().filter(|seen| seen.named.as_ref().is_some_and(|n| n.system == System::Kai)).collect();
    let mut rows = Vec::new();
    for seen in &here {
        rows.extend(
            seen.named.as_ref().and_then(|named| admission(tree, &queues, seen, named)).map(Quota::Admission),
        );
    }
    let members = queues.members(here.iter().copied());
    for (name, queue) in queues.iter() {
        let members = members.get(name).map_or(&[][..], |members| members);
        let contributors: Vec<Contributor> = (members.iter())
            .map(|seen| Contributor { queued: true, ..seen.contributor(gpus(seen)) })
            .filter(|contributor| contributor.amount != Three::ZERO)
            .collect();
        let (path, most) = limit(queue.object);
        if path_is_missing(queue.object) && !contributors.is_empty() {
            rows.push(problem(
                &queue.at,
                path.clone(),
                "no-limit",
                "it states no GPU limit, which KAI takes for 0: nothing that asks for GPUs is scheduled"
                    .to_owned(),
                "write `limit: -1` for no limit, or a number",
                false,
            ));
        }
        let part = Part {
            system: SYSTEM,
            at: &queue.at,
            path,
            key: "gpu",
            resource: GPU.into(),
            most,
            owner: owner(tree, queue.at.index),
        };
        let quota = self::path(queue.object, &["spec", "resources", "gpu", "quota"]).cloned();
        let facts = vec![("quota", quota.unwrap_or(Value::Null))];
        rows.push(Quota::Limit(Limit { thousandths: true, facts, ..part.limit(contributors) }));
    }
    for queue in queues.cyclic() {
        rows.push(problem(
            &queue.at,
            Route::root().key("spec").key("parentQueue"),
            "queue-cycle",
            format!("the parents of queue `{}` come back to it", queue.at.name),
            "remove `parentQueue` of one of the queues",
            true,
        ));
    }
    rows
}

fn problem(at: &Ref, path: Route, code: &'static str, message: String, write: &str, certain: bool) -> Quota {
    Quota::Problem(Problem {
        system: SYSTEM,
        at: at.clone(),
        path,
        code,
        message,
        remediation: write.to_owned(),
        certain,
    })
}

fn path_is_missing(queue: &Value) -> bool {
    path(queue, &["spec", "resources", "gpu", "limit"]).is_none()
}

/// The limit in thousandths of a device.
fn limit(queue: &Value) -> (Route, Most) {
    let at = Route::root().key("spec").key("resources").key("gpu").key("limit");
    let most = match path(queue, &["spec", "resources", "gpu", "limit"]) {
        None => Most::Unknown("the queue states no GPU limit".into()),
        Some(value) => match Quantity::from_value(value) {
            Ok(quantity) if quantity == negative_one() => Most::Unlimited,
            Ok(quantity) if quantity.is_negative() => {
                Most::Unknown(format!("`{at}`: `{quantity}` is negative, and not -1").into())
            }
            Ok(quantity) => u64::try_from(quantity.nano() / 1_000_000).map_or(Most::Unlimited, Most::Known),
            Err(error) => Most::Unknown(format!("`{at}`: {error}").into()),
        },
    };
    (at, most)
}

fn negative_one() -> Quantity {
    "-1".parse().unwrap_or(Quantity::ZERO)
}

/// Thousandths of devices that one pod takes: whole GPUs, or a fraction by annotation.
fn of_pod(group: &PodGroup, pod: &Resources) -> Amount {
    let note = |key: &str| text(&group.metadata, &["annotations", key]);
    if let Some(fraction) = note("gpu-fraction") {
        let milli = fraction.parse::<Quantity>().ok().and_then(|q| u64::try_from(q.milli()).ok());
        let devices = note("gpu-fraction-num-devices").map_or(Some(1), |n| n.parse::<u64>().ok());
        return match (milli, devices) {
            (Some(milli), Some(devices)) => Amount::Known(milli).mul(&Amount::Known(devices)),
            _ => Amount::unknown("a GPU fraction cannot be read"),
        };
    }
    if note("gpu-memory").is_some() {
        return Amount::unknown("what part of a GPU a memory size is depends on the GPU");
    }
    pod.get(GPU).map_or(Amount::ZERO, |n| n.mul(&Amount::Known(1000)))
}

fn gpus(seen: &Seen<'_>) -> Three {
    seen.groups()
        .fold(Three::ZERO, |sum, (group, pod)| sum.add(&group.count().mul(&Three::same(&of_pod(group, pod)))))
}

/// Kinds of which KAI starts all pods or none; of others the largest pod must fit.
fn is_gang(object: &Value) -> bool {
    matches!(kind_of(object), Some(("kubeflow.org", _, kind)) if kind != "Notebook" && kind != "Profile")
}

fn admission(tree: &Tree<'_>, queues: &Hierarchy<'_>, seen: &Seen<'_>, named: &Named) -> Option<Admission> {
    let up = queues.up(&named.queue);
    let by_pod = !is_gang(seen.object);
    let mut asked = Amount::ZERO;
    for (group, pod) in seen.groups() {
        let count = group.count().steady;
        if count.is_zero() {
            continue;
        }
        let pod = of_pod(group, pod);
        asked = if by_pod { asked.max(&pod) } else { asked.add(&count.mul(&pod)) };
    }
    if asked.is_zero() || up.is_empty() {
        return None;
    }
    let mut reasons = Vec::new();
    let mut limited_by = up.first().map(|(_, queue)| queue.at.clone());
    if queues.has_children(&named.queue) {
        reasons.push(Reason {
            code: "not-a-leaf",
            message: format!("queue `{}` has queues below it: only queues without any schedule", named.queue),
            resource: None,
            asked: None,
            most: None,
        });
    }
    for (name, queue) in &up {
        let (_, most) = limit(queue.object);
        match (most.fits(&asked), &most) {
            (Fits::No, Most::Known(n)) if asked.at_least() > *n => {
                limited_by = Some(queue.at.clone());
                reasons.push(Reason {
                    code: "too-large",
                    message: format!("queue `{name}` is limited to {} GPUs", thousandths(*n)),
                    resource: Some(GPU.into()),
                    asked: Some(asked.clone()),
                    most: Some(*n),
                });
            }
            (Fits::Yes, _) => {}
            _ => reasons.push(Reason {
                code: "unknown",
                message: format!("whether it fits the limit of queue `{name}` is not known"),
                resource: Some(GPU.into()),
                asked: Some(asked.clone()),
                most: None,
            }),
        }
    }
    let owner: Option<Arc<str>> = limited_by.as_ref().and_then(|at| owner(tree, at.index));
    let asks = Resources::from([(GPU.into(), asked)]);
    Some(Admission::new(SYSTEM, seen, named, limited_by, reasons, by_pod, asks, owner))
}

/// `1500` as `1.5`.
fn thousandths(n: u64) -> String {
    let text = format!("{}.{:03}", n / 1000, n % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
