//! Our pods against Kueue's: for each kind that it queues as a whole, the pods of its sets (`PodSets` of
//! kubernetes-sigs/kueue pkg/controller/jobs/*), worked out from its source, are our steady pods.

use super::{assessed, gpus};

/// A manifest of a kind, and the GPUs that Kueue counts for it.
fn kinds() -> Vec<(&'static str, String, u64)> {
    let two = format!("{{spec: {{{}}}}}", gpus(2));
    let one = format!("{{spec: {{{}}}}}", gpus(1));
    let job = |spec: &str| {
        format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: x}}, spec: {{{spec}, template: {two}}}}}"
        )
    };
    let ray_cluster = format!(
        "headGroupSpec: {{template: {one}}}, workerGroupSpecs: [{{groupName: a, replicas: 3, template: {two}}}, {{groupName: b, replicas: 2, numOfHosts: 2, template: {one}}}]"
    );
    let replicas = |field: &str, kinds: &str| format!("spec: {{{field}: {{{kinds}}}}}");
    let master_worker = format!("Master: {{template: {one}}}, Worker: {{replicas: 3, template: {two}}}");
    let kubeflow = |kind: &str, field: &str| {
        format!(
            "{{apiVersion: kubeflow.org/v1, kind: {kind}, metadata: {{name: x}}, {}}}",
            replicas(field, &master_worker)
        )
    };
    vec![
        // job_controller.go podsCount: parallelism, or completions if those are fewer.
        ("Job", job("parallelism: 4"), 8),
        ("Job completions", job("parallelism: 4, completions: 3"), 6),
        ("Job of more completions", job("parallelism: 4, completions: 9"), 8),
        // jobset_controller.go podsCount: replicas × the pods of a job. 2 × min(3, 2) × 2.
        (
            "JobSet",
            format!("{{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {{name: x}}, spec: {{replicatedJobs: [
                {{name: a, replicas: 2, template: {{spec: {{parallelism: 3, completions: 2, template: {two}}}}}}}, {{name: b, template: {{spec: {{template: {one}}}}}}}]}}}}"),
            // The second: 1 × 1 × 1; the default of `replicas` is the CRD's.
            9,
        ),
        // raycluster/common.go BuildPodSets: head 1, workers replicas × hosts. 1 + 3 × 2 + 2 × 2 × 1.
        ("RayCluster", format!("{{apiVersion: ray.io/v1, kind: RayCluster, metadata: {{name: x}}, spec: {{{ray_cluster}}}}}"), 11),
        // rayjob_controller.go: the cluster's, and a submitter, which asks for none here.
        ("RayJob", format!("{{apiVersion: ray.io/v1, kind: RayJob, metadata: {{name: x}}, spec: {{rayClusterSpec: {{{ray_cluster}}}}}}}"), 11),
        ("RayService", format!("{{apiVersion: ray.io/v1, kind: RayService, metadata: {{name: x}}, spec: {{rayClusterConfig: {{{ray_cluster}}}}}}}"), 11),
        // mpijob_controller.go podsCount: replicas, 1 if absent. 1 + 3 × 2.
        (
            "MPIJob",
            format!("{{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {{name: x}}, spec: {{mpiReplicaSpecs: {{Launcher: {{template: {one}}}, Worker: {{replicas: 3, template: {two}}}}}}}}}"),
            7,
        ),
        // kubeflowjob_controller.go podsCount: the same.
        ("PyTorchJob", kubeflow("PyTorchJob", "pytorchReplicaSpecs"), 7),
        ("XGBoostJob", kubeflow("XGBoostJob", "xgbReplicaSpecs"), 7),
        ("PaddleJob", kubeflow("PaddleJob", "paddleReplicaSpecs"), 7),
        (
            "TFJob",
            format!("{{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {{name: x}}, spec: {{tfReplicaSpecs: {{Chief: {{template: {one}}}, Worker: {{replicas: 3, template: {two}}}}}}}}}"),
            7,
        ),
        (
            "JAXJob",
            format!("{{apiVersion: kubeflow.org/v1, kind: JAXJob, metadata: {{name: x}}, spec: {{jaxReplicaSpecs: {{Worker: {{replicas: 3, template: {two}}}}}}}}}"),
            6,
        ),
        // leaderworkerset_reconciler.go podSets: a workload a replica, of leader and size - 1 workers.
        // 2 × (1 + 3 × 2).
        (
            "LeaderWorkerSet",
            format!("{{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {{name: x}}, spec: {{replicas: 2, leaderWorkerTemplate: {{size: 4, leaderTemplate: {one}, workerTemplate: {two}}}}}}}"),
            14,
        ),
        // A StatefulSet and a Deployment: their pods.
        ("StatefulSet", format!("{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: x}}, spec: {{replicas: 3, template: {two}}}}}"), 6),
        ("Deployment", format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: x}}, spec: {{replicas: 3, template: {two}}}}}"), 6),
        // appwrapper_controller.go: the pod sets that it lists, replicas 1 if absent.
        (
            "AppWrapper",
            format!("{{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {{name: x}}, spec: {{components: [{{podSets: [{{path: template.spec.template, replicas: 3}}], template: {}}}]}}}}", job("parallelism: 3")),
            6,
        ),
        // sparkapplication_podset.go: driver, and as many executors as `instances`. 3 × 2.
        (
            "SparkApplication",
            "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: x}, spec: {driver: {}, executor: {instances: 3, gpu: {name: nvidia.com/gpu, quantity: 2}}}}".to_owned(),
            6,
        ),
        // A workload of Kueue itself: its sets.
        (
            "Workload",
            format!("{{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {{name: x}}, spec: {{podSets: [{{name: a, count: 3, template: {two}}}, {{name: b, count: 1, template: {one}}}]}}}}"),
            7,
        ),
    ]
}

#[test]
fn our_steady_pods_are_kueues_pod_sets() {
    for (kind, manifest, expected) in kinds() {
        let counted = assessed(&manifest, true, |assessment| {
            assessment.objects[0].demand.demand["nvidia.com/gpu"].steady.known()
        });
        assert_eq!(counted, Some(expected), "{kind}");
    }
}

/// A worker group without `replicas`: KubeRay's CRD makes that 0, Kueue's code would count 1.
#[test]
fn the_one_known_difference_is_said() {
    let queue = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q}, spec: {clusterQueue: cq}}\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}}}\n---\n";
    let ray = |worker: &str| {
        format!(
            "{{apiVersion: ray.io/v1, kind: RayCluster, metadata: {{name: x, labels: {{kueue.x-k8s.io/queue-name: q}}}}, spec: {{headGroupSpec: {{template: {{spec: {{{}}}}}}}, workerGroupSpecs: [{{groupName: a, {worker}template: {{spec: {{{}}}}}}}]}}}}",
            gpus(1),
            gpus(2)
        )
    };
    let asks = |worker: &str| {
        super::rows(&format!("{queue}{}", ray(worker)))
            .into_iter()
            .find_map(|row| match row {
                super::super::Quota::Admission(a) => Some((a.asks[0].1.known(), a.notes.len())),
                _ => None,
            })
            .expect("an admission")
    };
    // 1 for the head. With `minReplicas: 2` KubeRay runs two workers; Kueue counts `replicas` as written.
    assert_eq!(asks("replicas: 1, "), (Some(3), 0));
    assert_eq!(asks("replicas: 1, minReplicas: 2, "), (Some(3), 1));
    assert_eq!(asks("minReplicas: 2, "), (Some(5), 1));
}
