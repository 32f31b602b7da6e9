//! `KServe` predictors that run on several nodes: how many nodes and how many GPUs each follow from
//! the two parallel sizes (kserve/kserve pkg/controller/v1beta1/inferenceservice/components/predictor.go,
//! `computeRayNodeAndGPUs` and `computeMpNodeAndGPUs`).

use super::super::amount::{Amount, Three};
use super::super::formula::Scope;
use super::super::inline::with_inline;
use super::super::pod::pod_resources;
use super::super::value::{field, text};
use super::super::walk::Walk;
use super::super::workload::PodGroup;
use super::{number, spec};
use crate::model::{Route, Value};

const GPU: &str = "nvidia.com/gpu";
const INLINE: [&str; 2] = ["model", "huggingface"];

pub(super) fn apply(walk: &mut Walk<'_, '_>, scope: &Scope<'_>, factor: &Three) {
    let (Some((at, predictor)), Some((worker_at, worker))) =
        (spec(scope, &["predictor"]), spec(scope, &["predictor", "workerSpec"]))
    else {
        return;
    };
    let tensor = number("spec.predictor.workerSpec.tensorParallelSize ?? 1", scope);
    let pipeline = number("spec.predictor.workerSpec.pipelineParallelSize ?? 1", scope);
    let replicas = number("spec.predictor.minReplicas ?? 1", scope);
    let head = with_inline(predictor, &INLINE.map(str::to_owned), &[]);
    let head_gpus = gpus(&head, &at);
    let worker_gpus = gpus(worker, &worker_at);
    let mp = text(scope.object.value, &["metadata", "annotations", "multinode/executor-backend"])
        .is_some_and(|backend| **backend == *"mp");
    let (nodes, head_gpus, worker_gpus) = if mp {
        (pipeline, tensor.clone(), tensor)
    } else {
        ray(&tensor.mul(&pipeline), &head_gpus, &worker_gpus)
    };
    let replicas = factor.mul(&Three::same(&replicas));
    let workers = nodes.sub(&Amount::ONE);
    for (path, role, pod, per, gpus) in [
        (at, "head", without_gpus(&head), Amount::ONE, head_gpus),
        (worker_at, "worker", without_gpus(worker), workers, worker_gpus),
    ] {
        walk.pods.push(PodGroup {
            path,
            role: role.into(),
            spec: pod,
            metadata: Value::new_object(),
            replicas: replicas.clone(),
            per,
            devices: vec![(GPU.into(), gpus)],
        });
    }
}

/// Nodes, GPUs of the head, GPUs of each worker.
fn ray(total: &Amount, head: &Amount, worker: &Amount) -> (Amount, Amount, Amount) {
    let one = || Amount::ONE;
    match (worker.is_zero(), head.is_zero()) {
        (true, true) => (total.clone(), one(), one()),
        (true, false) => (total.sub(head).add(&one()), head.clone(), one()),
        (false, head_is_free) => {
            let nodes = total.div_ceil(worker);
            let head_suffices = !head_is_free && total.div_ceil(head) == one();
            if nodes == one() || head_suffices {
                return (one(), total.clone(), Amount::ZERO);
            }
            let rest = total.sub(&worker.mul(&nodes.sub(&one())));
            (nodes, if head_is_free { rest } else { head.clone() }, worker.clone())
        }
    }
}

fn gpus(pod: &Value, at: &Route) -> Amount {
    pod_resources(pod, at).remove(GPU).unwrap_or(Amount::ZERO)
}

/// The pod without GPUs in its resources: the operator sets them to what it computes.
fn without_gpus(pod: &Value) -> Value {
    let mut pod = pod.clone();
    let strip = |container: &Value| {
        let mut container = container.clone();
        let Some(resources) = field(&container, "resources").cloned() else { return container };
        let mut kept = resources;
        for list in ["limits", "requests"] {
            let Some(mut quantities) = field(&kept, list).cloned() else { continue };
            if let Ok(fields) = quantities.as_object_mut() {
                fields.remove(&Value::from(GPU));
            }
            if let Ok(fields) = kept.as_object_mut() {
                fields.insert(Value::from(list), quantities);
            }
        }
        if let Ok(fields) = container.as_object_mut() {
            fields.insert(Value::from("resources"), kept);
        }
        container
    };
    let containers: Vec<Value> =
        field(&pod, "containers").into_iter().flat_map(super::super::value::items).map(strip).collect();
    if let Ok(fields) = pod.as_object_mut() {
        fields.insert(Value::from("containers"), Value::from(containers));
    }
    pod
}
