//! Workloads that run past the queues of their namespace.

use super::queue_name::{KUEUE, is_whole};
use super::row::{Problem, Quota};
use super::seen::Seen;
use crate::accelerators::value::{path, text};
use crate::accelerators::workload::kind_of;
use crate::model::Route;

/// Kinds that run to an end, or are started as a whole, so that a queue is meant for them. What serves is
/// left out.
const BATCH: [(&str, &str); 14] = [
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("kubeflow.org", "MPIJob"),
    ("kubeflow.org", "PyTorchJob"),
    ("kubeflow.org", "TFJob"),
    ("kubeflow.org", "XGBoostJob"),
    ("kubeflow.org", "JAXJob"),
    ("kubeflow.org", "PaddleJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("sparkoperator.k8s.io", "SparkApplication"),
];

/// What asks for devices and names no queue where it could: `has_queues` tells of a namespace whether it
/// has any.
pub(super) fn rows(seen: &[Seen<'_>], has_queues: impl Fn(Option<&str>) -> bool) -> Vec<Quota> {
    let mut rows = Vec::new();
    for seen in seen.iter().filter(|seen| seen.named.is_none()) {
        let asks = seen.assessed.demand.demand.values().any(|three| three.steady.at_least() > 0);
        if !asks {
            continue;
        }
        let kind = kind_of(seen.object).map(|(group, _, kind)| (group, kind));
        let at = match kind {
            Some(("batch", "CronJob")) => Route::root().key("spec").key("jobTemplate").key("metadata"),
            _ => Route::root().key("metadata"),
        };
        let on_pods = seen.groups().any(|(group, _)| text(&group.metadata, &["labels", KUEUE]).is_some());
        let annotated = path(seen.object, &["metadata", "annotations", KUEUE]).is_some();
        let (code, message) = if annotated {
            (
                "annotation",
                format!("the annotation `{KUEUE}` is not read: it starts at once, outside of any queue"),
            )
        } else if on_pods && is_whole(seen.object) {
            ("label-on-pods", format!("`{KUEUE}` stands on its pods only: the object itself is in no queue"))
        } else if kind.is_some_and(|kind| BATCH.contains(&kind)) && has_queues(seen.at.namespace.as_deref()) {
            ("no-queue", "it names no queue, in a namespace that has queues: it starts at once, outside of their quota".to_owned())
        } else {
            continue;
        };
        let path = if annotated { at.key("annotations").key(KUEUE) } else { at.key("labels").key(KUEUE) };
        rows.push(Quota::Problem(Problem {
            system: "kueue",
            at: seen.at.clone(),
            path,
            code,
            message,
            remediation: format!("write the label `{KUEUE}: <queue>` under `{at}.labels`"),
            certain: true,
        }));
    }
    rows
}
