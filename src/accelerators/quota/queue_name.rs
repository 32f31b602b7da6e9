//! Which queue an object names, and where it does so.

use std::sync::Arc;

use crate::accelerators::value::{field, path, text};
use crate::accelerators::workload::{Workload, kind_of};
use crate::model::{Route, Value};

/// The system whose queue it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Kueue,
    Volcano,
    Kai,
}

impl System {
    /// The word in rows.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Kueue => "kueue",
            Self::Volcano => "volcano",
            Self::Kai => "kai",
        }
    }
}

/// A queue as an object names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub system: System,
    pub queue: Arc<str>,
    /// Where the name stands.
    pub path: Route,
    /// Whether pods are queued one by one instead of all together.
    pub by_pod: bool,
}

/// The label that puts an object into a Kueue `LocalQueue`. The annotation of the same name is no
/// longer read (`QueueNameForObject` of kubernetes-sigs/kueue pkg/controller/jobframework/utils.go).
pub(super) const KUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The annotation of pods for Volcano (volcano-sh/volcano
/// staging/src/volcano.sh/apis/pkg/apis/scheduling/v1beta1/labels.go).
const VOLCANO: &str = "scheduling.volcano.sh/queue-name";
/// The label of KAI, and the one that it had at run:ai (NVIDIA/KAI-Scheduler
/// pkg/common/constants).
const KAI: [&str; 2] = ["kai.scheduler/queue", "runai/queue"];

/// Kinds that Kueue queues as a whole (the folders of kubernetes-sigs/kueue pkg/controller/jobs).
/// Of these, the label on the pods alone does not queue the object.
const WHOLE: [(&str, &str); 17] = [
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("ray.io", "RayService"),
    ("kubeflow.org", "MPIJob"),
    ("kubeflow.org", "PyTorchJob"),
    ("kubeflow.org", "TFJob"),
    ("kubeflow.org", "XGBoostJob"),
    ("kubeflow.org", "JAXJob"),
    ("kubeflow.org", "PaddleJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("sparkoperator.k8s.io", "SparkApplication"),
    ("apps", "StatefulSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
];

/// Kinds that Kueue's own configuration queues without being told, and that are run to their end, so
/// that a `LocalQueue` named `default` takes them without a label (`config/components/manager/controller_manager_config.yaml`; serving kinds and pods are left out, for whether they are managed
/// depends on that configuration).
const BY_DEFAULT: [(&str, &str); 7] = [
    ("batch", "Job"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("kubeflow.org", "MPIJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
];

/// Whether Kueue queues this kind as a whole.
pub(super) fn is_whole(object: &Value) -> bool {
    kind_of(object).is_some_and(|(group, _, kind)| WHOLE.contains(&(group, kind)))
}

/// Whether a queue named `default` takes this kind without a label.
pub(super) fn takes_default(object: &Value) -> bool {
    kind_of(object).is_some_and(|(group, _, kind)| BY_DEFAULT.contains(&(group, kind)))
}

/// The queue that an object names.
pub(super) fn queue_name(object: &Value, workload: Option<&Workload>) -> Option<Named> {
    kueue(object, workload).or_else(|| volcano(object, workload)).or_else(|| kai(object, workload))
}

fn metadata(at: &[&str], list: &str, key: &str) -> Route {
    at.iter().fold(Route::root(), |route, step| route.key(step)).key("metadata").key(list).key(key)
}

fn kueue(object: &Value, workload: Option<&Workload>) -> Option<Named> {
    let named = |queue: &Arc<str>, path: Route, by_pod: bool| {
        (!queue.is_empty()).then(|| Named { system: System::Kueue, queue: queue.clone(), path, by_pod })
    };
    let kind = kind_of(object).map(|(group, _, kind)| (group, kind));
    if kind == Some(("kueue.x-k8s.io", "Workload")) {
        return named(
            text(object, &["spec", "queueName"])?,
            Route::root().key("spec").key("queueName"),
            false,
        );
    }
    let holder: &[&str] = if kind == Some(("batch", "CronJob")) { &["spec", "jobTemplate"] } else { &[] };
    let stated = path(object, holder).and_then(|holder| text(holder, &["metadata", "labels", KUEUE]));
    if let Some(queue) = stated {
        // A Deployment hands the label on to its pods, which are queued one by one.
        return named(queue, metadata(holder, "labels", KUEUE), !is_whole(object));
    }
    if is_whole(object) {
        return None;
    }
    let (queue, path) = of_pods(workload, "labels", KUEUE)?;
    named(&queue, path, true)
}

/// What the pods of an object have in their metadata; the first that has it.
fn of_pods(workload: Option<&Workload>, list: &str, key: &str) -> Option<(Arc<str>, Route)> {
    workload?.pods.iter().find_map(|group| {
        let value = text(&group.metadata, &[list, key])?.clone();
        // The pod spec stands beside its metadata.
        let mut at = group.path.clone();
        at.0.pop();
        Some((value, at.key("metadata").key(list).key(key)))
    })
}

/// The scheduler that the first pods of an object name.
fn scheduler(workload: Option<&Workload>) -> Option<Arc<str>> {
    workload?.pods.iter().find_map(|group| text(&group.spec, &["schedulerName"]).cloned())
}

fn volcano(object: &Value, workload: Option<&Workload>) -> Option<Named> {
    let named = |queue: Arc<str>, path| Some(Named { system: System::Volcano, queue, path, by_pod: false });
    let (group, _, kind) = kind_of(object)?;
    let spec = Route::root().key("spec");
    if (group, kind) == ("batch.volcano.sh", "Job") {
        let queue = text(object, &["spec", "queue"]).cloned().unwrap_or_else(|| "default".into());
        return named(queue, spec.key("queue"));
    }
    if scheduler(workload).as_deref() != Some("volcano") {
        return None;
    }
    if let Some(queue) = text(object, &["spec", "runPolicy", "schedulingPolicy", "queue"]) {
        return named(queue.clone(), spec.key("runPolicy").key("schedulingPolicy").key("queue"));
    }
    match of_pods(workload, "annotations", VOLCANO) {
        Some((queue, path)) => named(queue, path),
        None => named("default".into(), spec),
    }
}

fn kai(object: &Value, workload: Option<&Workload>) -> Option<Named> {
    let named = |queue: Arc<str>, path| Some(Named { system: System::Kai, queue, path, by_pod: false });
    for key in KAI {
        let labels = path(object, &["metadata", "labels"]);
        if let Some(Value::String(queue)) = labels.and_then(|labels| field(labels, key)) {
            return named(queue.clone(), metadata(&[], "labels", key));
        }
    }
    for key in KAI {
        if let Some((queue, path)) = of_pods(workload, "labels", key) {
            return named(queue, path);
        }
    }
    None
}
