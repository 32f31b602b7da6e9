//! Rows worked out by hand.

mod counting;
mod kueue;
mod others;
mod resource_quota;
mod sums;

use std::fmt::Write;

use super::{Most, Quota, Ref};
use crate::accelerators::amount::Amount;
use crate::accelerators::assess::{Assessment, assess};
use crate::accelerators::registry::Registry;
use crate::accelerators::tree::Tree;
use crate::manifest;
use crate::model::Value;

pub(super) fn objects(text: &str) -> Vec<Value> {
    let documents = manifest::split(text).documents;
    documents.iter().flat_map(|slice| manifest::resources(slice.text).resources).map(|r| r.object).collect()
}

pub(super) fn assessed<T>(text: &str, complete: bool, then: impl FnOnce(&Assessment) -> T) -> T {
    let objects = objects(text);
    let tree = Tree::new(Registry::builtin(), &objects);
    then(&assess(&tree, None, complete))
}

pub(super) fn rows(text: &str) -> Vec<Quota> {
    assessed(text, true, |assessment| assessment.quotas.clone())
}

/// Rows of a complete cluster, a line each.
pub(super) fn shown(text: &str) -> Vec<String> {
    rows(text).iter().map(line).collect()
}

/// The same, only of one kind: `limit`, `admission` or `problem`.
pub(super) fn only(kind: &str, text: &str) -> Vec<String> {
    shown(text).into_iter().filter(|line| line.starts_with(kind)).collect()
}

fn name(at: &Ref) -> String {
    format!("{}/{}", at.kind, at.name)
}

fn n(amount: &Amount) -> String {
    match amount {
        Amount::Known(n) => n.to_string(),
        Amount::Unbounded { at_least } => format!("{at_least}+"),
        Amount::Unknown { at_least, .. } => format!("{at_least}?"),
    }
}

fn line(quota: &Quota) -> String {
    match quota {
        Quota::Limit(limit) => {
            let flavor = limit.flavor.as_ref().map_or(String::new(), |flavor| format!(" {flavor}"));
            let most = match &limit.most {
                Most::Known(n) => n.to_string(),
                Most::Unlimited => "unlimited".to_owned(),
                Most::Unknown(_) => "?".to_owned(),
            };
            let used = [&limit.used.steady, &limit.used.rollout, &limit.used.autoscaled].map(n).join(" ");
            let queued = n(&limit.queued);
            format!("limit {} {}{flavor}: {used}, queued {queued}, of {most}", name(&limit.at), limit.key)
        }
        Quota::Admission(admission) => {
            let mut text = format!(
                "admission {} {}: {}",
                name(&admission.workload),
                admission.queue,
                admission.possible.as_str()
            );
            for reason in &admission.reasons {
                write!(text, "; {}", reason.code).expect("text");
                if let Some(asked) = &reason.asked {
                    let most = reason.most.map_or("?".to_owned(), |most| most.to_string());
                    write!(text, " {} of {most}", n(asked)).expect("text");
                }
            }
            text
        }
        Quota::Problem(problem) => {
            let certain = if problem.certain { "" } else { " uncertain" };
            format!("problem {} {} at {}{certain}", name(&problem.at), problem.code, problem.path)
        }
    }
}

/// A container that asks for GPUs.
pub(super) fn gpus(n: u64) -> String {
    format!("containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: {n}}}}}}}]")
}
