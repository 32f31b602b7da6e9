//! Kubeflow Trainer: a `TrainJob` runs the `JobSet` of the runtime that it names
//! (kubeflow/trainer pkg/runtime/core/trainingruntime.go and pkg/runtime/framework/plugins).

use std::sync::Arc;

use super::super::amount::{Amount, Three};
use super::super::formula::Scope;
use super::super::value::{self, field, fields, items, path, text};
use super::super::walk::{Walk, metadata};
use super::super::workload::PodGroup;
use super::{number, spec};
use crate::model::{Route, Value};

/// The label on the job of a runtime that trains.
const STEP: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
/// The container that trains, and the job of MPI runtimes that holds the nodes.
const NODE: &str = "node";
const LAUNCHER: &str = "launcher";

pub(super) fn apply(walk: &mut Walk<'_, '_>, scope: &Scope<'_>, factor: &Three) {
    if spec(scope, &["runtimePatches"]).is_some() {
        walk.missing("`spec.runtimePatches` may change pods in ways that are not followed");
    }
    let Some((at, reference)) = spec(scope, &["runtimeRef"]) else {
        walk.missing("`spec.runtimeRef` is not set");
        return;
    };
    let runtime = walk.tree.and_then(|tree| {
        let index =
            tree.follow(reference, ("trainer.kubeflow.org", "ClusterTrainingRuntime"), walk.namespace)?;
        tree.objects.get(index).copied()
    });
    let resources = spec(scope, &["trainer", "resourcesPerNode"]).map(|(_, resources)| resources);
    let Some(runtime) = runtime else {
        let name = text(reference, &["name"]).map_or("", |name| &**name);
        walk.missing(format!("the runtime `{name}` is not in this cluster's manifests"));
        // What the job itself says is the least.
        if let (Some(resources), Some((trainer, _))) = (resources, spec(scope, &["trainer"])) {
            let container = value::object([("name", Value::from(NODE)), ("resources", resources.clone())]);
            let spec = value::object([("containers", Value::from(vec![container]))]);
            let count = nodes(scope, None);
            push(walk, trainer, "trainer", spec, Value::new_object(), factor, &count);
        }
        return;
    };
    let mpi = path(runtime, &["spec", "mlPolicy", "mpi"]);
    let launcher_is_node =
        mpi.is_some_and(|mpi| matches!(field(mpi, "runLauncherAsNode"), Some(Value::Bool(true))));
    let nodes = nodes(scope, Some(runtime));
    let jobs = path(runtime, &["spec", "template", "spec", "replicatedJobs"]).into_iter().flat_map(items);
    for job in jobs {
        let Some(template) = path(job, &["template", "spec", "template"]) else {
            walk.missing("a job of its runtime has no pod template");
            continue;
        };
        let Some(pod) = field(template, "spec") else {
            walk.missing("a job of its runtime has no pod spec");
            continue;
        };
        let name = text(job, &["name"]).map_or("job", |name| &**name);
        let trains =
            text(job, &["template", "metadata", "labels", STEP]).is_some_and(|step| **step == *"trainer");
        let is_node = mpi.is_some() && name == NODE;
        let count = if mpi.is_some() && name == LAUNCHER {
            Amount::ONE
        } else if is_node && launcher_is_node {
            nodes.sub(&Amount::ONE).max(&Amount::ONE)
        } else if is_node || trains {
            nodes.clone()
        } else {
            job_pods(job)
        };
        let changed = if trains || (is_node && launcher_is_node) { resources } else { None };
        let pod = changed.map_or_else(|| pod.clone(), |resources| with_resources(pod, resources));
        push(walk, at.clone(), name, pod, metadata(Some(template)), factor, &count);
    }
}

fn push(
    walk: &mut Walk<'_, '_>,
    path: Route,
    role: &str,
    spec: Value,
    metadata: Value,
    factor: &Three,
    count: &Amount,
) {
    let replicas = factor.mul(&Three::same(count));
    walk.pods.push(PodGroup {
        path,
        role: role.into(),
        spec,
        metadata,
        replicas,
        per: Amount::ONE,
        devices: Vec::new(),
    });
}

/// `trainer.numNodes`, or what the runtime says, or one.
fn nodes(scope: &Scope<'_>, runtime: Option<&Value>) -> Amount {
    if spec(scope, &["trainer", "numNodes"]).is_some() {
        return number("spec.trainer.numNodes", scope);
    }
    match runtime {
        Some(runtime) => number("spec.mlPolicy.numNodes ?? 1", &Scope::of(runtime)),
        None => Amount::ONE,
    }
}

/// The pods of a job that does not train.
fn job_pods(job: &Value) -> Amount {
    let pods = "(spec.replicas ?? 1) * min(spec.template.spec.parallelism ?? 1, spec.template.spec.completions ?? unbounded)";
    number(pods, &Scope { only_spec: true, ..Scope::of(job) })
}

/// The resources of a node, laid over those of the runtime's container key by key.
fn with_resources(pod: &Value, resources: &Value) -> Value {
    let mut pod = pod.clone();
    let containers: Vec<Value> = field(&pod, "containers")
        .into_iter()
        .flat_map(items)
        .map(|container| {
            if text(container, &["name"]).is_none_or(|name| **name != *NODE) {
                return container.clone();
            }
            let merged = laid_over(field(container, "resources"), resources);
            set(container.clone(), "resources", merged)
        })
        .collect();
    pod = set(pod, "containers", Value::from(containers));
    pod
}

fn laid_over(base: Option<&Value>, top: &Value) -> Value {
    let mut merged = base.cloned().unwrap_or_else(Value::new_object);
    for (key, value) in fields(top) {
        let below = field(&merged, key);
        let value = match (below, value) {
            (Some(Value::Object(_)), Value::Object(_)) => laid_over(below, value),
            _ => value.clone(),
        };
        merged = set_key(merged, key.clone(), value);
    }
    merged
}

fn set(object: Value, key: &str, value: Value) -> Value {
    set_key(object, key.into(), value)
}

fn set_key(mut object: Value, key: Arc<str>, value: Value) -> Value {
    if let Ok(fields) = object.as_object_mut() {
        fields.insert(Value::String(key), value);
    }
    object
}
