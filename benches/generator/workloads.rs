//! Objects that run pods.

use super::objects::Object;

/// What a pod asks for besides processors and memory.
#[derive(Clone, Copy)]
enum Devices {
    None,
    /// GPUs.
    Gpus(u32),
    /// TPU chips.
    Chips(u32),
}

pub(super) fn deployment(object: &mut Object<'_>) -> String {
    let (name, replicas) = (object.name(), 1 + object.varied.below(8));
    let devices = if object.random.below(5) == 0 { Devices::Gpus(1) } else { Devices::None };
    let head = object.head("apps/v1", "Deployment");
    let pod = pod(object, "      ", "server", devices, Restart::Always);
    format!(
        "{head}spec:\n  replicas: {replicas}\n  revisionHistoryLimit: 3\n  selector:\n    matchLabels:\n      \
         app.kubernetes.io/instance: {name}\n  strategy:\n    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n      \
         maxUnavailable: 0\n  template:\n    metadata:\n      labels:\n        app.kubernetes.io/instance: {name}\n      \
         annotations:\n        checksum/config: {}\n        prometheus.io/scrape: \"true\"\n    spec:\n{pod}",
        object.random.digest()
    )
}

pub(super) fn cron_job(object: &mut Object<'_>) -> String {
    let head = object.head("batch/v1", "CronJob");
    let minute = object.random.below(60);
    let pod = pod(object, "          ", "task", Devices::None, Restart::Never);
    format!(
        "{head}spec:\n  schedule: \"{minute} 3 * * *\"\n  concurrencyPolicy: Forbid\n  jobTemplate:\n    spec:\n      \
         backoffLimit: 2\n      activeDeadlineSeconds: 3600\n      ttlSecondsAfterFinished: 86400\n      template:\n        \
         spec:\n{pod}"
    )
}

/// Multi-node training, on GPUs or on TPU slices of 4 × 4 chips.
pub(super) fn job_set(object: &mut Object<'_>) -> String {
    let tpu = object.random.below(3) == 0;
    let (devices, pods) =
        if tpu { (Devices::Chips(4), 4) } else { (Devices::Gpus(8), 1 << object.random.below(4)) };
    let replicas = 1 + object.varied.below(4);
    let head = object.head("jobset.x-k8s.io/v1alpha2", "JobSet").replacen(
        "  labels:\n",
        "  labels:\n    kueue.x-k8s.io/queue-name: training\n",
        1,
    );
    let pod = pod(object, "              ", "trainer", devices, Restart::Never);
    format!(
        "{head}spec:\n  failurePolicy:\n    maxRestarts: 3\n  replicatedJobs:\n  - name: node\n    replicas: {replicas}\n    \
         template:\n      spec:\n        backoffLimit: 0\n        completionMode: Indexed\n        parallelism: {pods}\n        \
         completions: {pods}\n        template:\n            spec:\n{pod}"
    )
}

pub(super) fn leader_worker_set(object: &mut Object<'_>) -> String {
    let (replicas, size) = (1 + object.varied.below(4), 2 << object.random.below(2));
    let head = object.head("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet");
    let leader = pod(object, "        ", "leader", Devices::Gpus(8), Restart::Always);
    let worker = pod(object, "        ", "worker", Devices::Gpus(8), Restart::Always);
    format!(
        "{head}spec:\n  replicas: {replicas}\n  rolloutStrategy:\n    type: RollingUpdate\n    rollingUpdateConfiguration:\n      \
         maxSurge: 0\n      maxUnavailable: 1\n  leaderWorkerTemplate:\n    size: {size}\n    \
         restartPolicy: RecreateGroupOnPodRestart\n    leaderTemplate:\n      spec:\n{leader}    workerTemplate:\n      \
         spec:\n{worker}"
    )
}

pub(super) fn ray_cluster(object: &mut Object<'_>) -> String {
    let workers = 1 + object.varied.below(6);
    let head = object.head("ray.io/v1", "RayCluster");
    let control = pod(object, "        ", "ray-head", Devices::None, Restart::Always);
    let worker = pod(object, "        ", "ray-worker", Devices::Gpus(8), Restart::Always);
    format!(
        "{head}spec:\n  rayVersion: 2.51.1\n  headGroupSpec:\n    rayStartParams:\n      num-cpus: \"0\"\n    template:\n      \
         spec:\n{control}  workerGroupSpecs:\n  - groupName: gpu\n    replicas: {workers}\n    minReplicas: {workers}\n    \
         maxReplicas: {workers}\n    rayStartParams: {{}}\n    template:\n      spec:\n{worker}"
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Restart {
    Always,
    Never,
}

/// The inside of a pod's `spec`, indented.
fn pod(object: &mut Object<'_>, indent: &str, container: &str, devices: Devices, restart: Restart) -> String {
    let registry = object
        .cluster
        .map_or_else(|| "registry.example.org".to_owned(), |c| format!("{}.registry.example.org", c.region));
    let digest = object.random.digest();
    // A fleet without a single finding would tell nothing about reporting.
    let version = if object.random.below(100) == 0 { ":4.2.1".to_owned() } else { format!("@{digest}") };
    let mut lines = format!("serviceAccountName: {}\n", object.name());
    if restart == Restart::Never {
        lines.push_str("restartPolicy: Never\n");
    }
    lines.push_str(&placement(object, devices));
    lines.push_str(&format!(
        "securityContext:\n  runAsNonRoot: true\n  seccompProfile:\n    type: RuntimeDefault\ncontainers:\n- name: {container}\n  \
         image: {registry}/{}/{container}{version}\n  args:\n  - --config=/etc/app/settings.yaml\n  - --log-format=json\n  env:\n",
        object.chart
    ));
    if let Some(cluster) = object.cluster {
        lines.push_str(&format!("  - name: CLUSTER\n    value: {}\n", cluster.name));
    }
    for number in 0..16 + object.random.below(20) {
        let (word, value) = (object.random.word().to_uppercase(), object.random.below(1_000));
        lines.push_str(&format!("  - name: {word}_{number}\n    value: \"{value}\"\n"));
    }
    lines
        .push_str("  - name: NODE_NAME\n    valueFrom:\n      fieldRef:\n        fieldPath: spec.nodeName\n");
    if restart == Restart::Always {
        lines.push_str(
            "  ports:\n  - name: http\n    containerPort: 8080\n  - name: metrics\n    containerPort: 9090\n  startupProbe:\n    \
             httpGet:\n      path: /live\n      port: http\n    periodSeconds: 10\n    failureThreshold: 30\n  readinessProbe:\n    \
             httpGet:\n      path: /ready\n      port: http\n    periodSeconds: 10\n    failureThreshold: 3\n  livenessProbe:\n    \
             httpGet:\n      path: /live\n      port: http\n    periodSeconds: 20\n    failureThreshold: 5\n",
        );
    }
    lines.push_str(&resources(object, devices));
    lines.push_str(
        "  securityContext:\n    allowPrivilegeEscalation: false\n    readOnlyRootFilesystem: true\n    capabilities:\n      drop:\n      \
         - ALL\n  volumeMounts:\n  - name: settings\n    mountPath: /etc/app\n    readOnly: true\n  - name: tmp\n    \
         mountPath: /tmp\n  - name: dshm\n    mountPath: /dev/shm\n",
    );
    lines.push_str(&format!(
        "volumes:\n- name: settings\n  configMap:\n    name: {}\n    defaultMode: 292\n- name: tmp\n  emptyDir:\n    \
         sizeLimit: 1Gi\n- name: dshm\n  emptyDir:\n    medium: Memory\n    sizeLimit: 8Gi\n",
        object.chart
    ));
    lines.lines().flat_map(|line| [indent, line, "\n"]).collect()
}

/// Node selector and tolerations. A document that is the same everywhere cannot name a cloud's labels.
fn placement(object: &Object<'_>, devices: Devices) -> String {
    match (devices, object.cluster) {
        (Devices::None, _) => String::new(),
        (Devices::Chips(_), _) => "nodeSelector:\n  cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n  \
             cloud.google.com/gke-tpu-topology: 4x4\ntolerations:\n- key: google.com/tpu\n  operator: Exists\n  effect: NoSchedule\n"
            .to_owned(),
        (Devices::Gpus(_), None) => "nodeSelector:\n  nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\ntolerations:\n\
             - key: nvidia.com/gpu\n  operator: Exists\n  effect: NoSchedule\n"
            .to_owned(),
        (Devices::Gpus(_), Some(cluster)) => {
            let (key, value) = cluster.selector;
            format!(
                "nodeSelector:\n  {key}: {value}\ntolerations:\n- key: {}\n  operator: Exists\n  effect: NoSchedule\n",
                cluster.taint
            )
        }
    }
}

fn resources(object: &mut Object<'_>, devices: Devices) -> String {
    let (processors, memory) = (1 + object.random.below(8), 2 + object.random.below(30));
    let devices = match devices {
        Devices::None => String::new(),
        Devices::Gpus(count) => format!("      nvidia.com/gpu: \"{count}\"\n"),
        Devices::Chips(count) => format!("      google.com/tpu: \"{count}\"\n"),
    };
    format!(
        "  resources:\n    limits:\n      cpu: \"{processors}\"\n      memory: {memory}Gi\n{devices}    requests:\n      \
         cpu: \"{processors}\"\n      memory: {memory}Gi\n{devices}"
    )
}
