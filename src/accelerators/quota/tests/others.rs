use super::{gpus, only, shown};

fn volcano_job(queue: &str, min: &str) -> String {
    // 1 × 8 and 4 × 4: 24 GPUs.
    format!(
        "apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: v, namespace: ml}}
spec:
  {queue}{min}schedulerName: volcano
  tasks:
  - {{name: a, replicas: 1, template: {{spec: {{{}}}}}}}
  - {{name: b, replicas: 4, template: {{spec: {{{}}}}}}}
---
",
        gpus(8),
        gpus(4)
    )
}

fn volcano_queue(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
    )
}

#[test]
fn a_volcano_job_starts_if_its_least_fits_all_queues_above() {
    let queue = volcano_queue("train", "capability: {nvidia.com/gpu: 16}");
    // All 24 of 16; of 4 pods the smallest 4 × 4 = 16; of 5 all: 24.
    for (min, expected) in [
        ("", "no; too-large 24 of 16"),
        ("minAvailable: 4\n  ", "yes"),
        ("minAvailable: 5\n  ", "no; too-large 24 of 16"),
        // minAvailable 0 is as if it were not stated.
        ("minAvailable: 0\n  ", "no; too-large 24 of 16"),
    ] {
        let text = queue.clone() + &volcano_job("queue: train\n  ", min);
        assert_eq!(
            shown(&text),
            [
                format!("admission Job/v train: {expected}"),
                "limit Queue/train nvidia.com/gpu: 0 0 0, queued 24, of 16".to_owned()
            ]
        );
    }
    // The queue above has less. A resource that a capability does not name is not limited.
    let tree = volcano_queue("root-a", "capability: {nvidia.com/gpu: 8}")
        + &volcano_queue("train", "parent: root-a, capability: {cpu: 1}");
    assert_eq!(
        shown(&(tree.clone() + &volcano_job("queue: train\n  ", ""))),
        [
            "admission Job/v train: no; too-large 24 of 8",
            "limit Queue/root-a nvidia.com/gpu: 0 0 0, queued 24, of 8"
        ]
    );
    // A queue that has others below it takes no jobs.
    assert_eq!(
        only("admission", &(tree + &volcano_job("queue: root-a\n  ", "minAvailable: 1\n  "))),
        ["admission Job/v root-a: no; not-a-leaf"]
    );
    // The default queue limits nothing unless it is here.
    assert_eq!(shown(&volcano_job("", "")), Vec::<String>::new());
}

#[test]
fn volcano_takes_other_pods_by_annotation_and_one_by_one() {
    let text = volcano_queue("q", "capability: {nvidia.com/gpu: 4}")
        + &format!(
            "apiVersion: apps/v1
kind: Deployment
metadata: {{name: d, namespace: ml}}
spec: {{replicas: 3, template: {{metadata: {{annotations: {{scheduling.volcano.sh/queue-name: q}}}}, spec: {{schedulerName: volcano, {}}}}}}}
",
            gpus(4)
        );
    assert_eq!(
        shown(&text),
        ["admission Deployment/d q: yes", "limit Queue/q nvidia.com/gpu: 0 0 0, queued 12, of 4"]
    );
}

fn kai_queue(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
    )
}

fn kai_pod(queue: &str, annotations: &str, pod: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: d, namespace: ml, labels: {{kai.scheduler/queue: {queue}}}}}
spec: {{replicas: 3, template: {{metadata: {{annotations: {{{annotations}}}}}, spec: {{schedulerName: kai-scheduler, {pod}}}}}}}
"
    )
}

#[test]
fn kai_counts_fractions_in_thousandths() {
    let queue = kai_queue("team", "resources: {gpu: {quota: 0.5, limit: 1.5}}");
    let fraction = kai_pod("team", "gpu-fraction: '0.5'", "containers: [{name: c, image: i}]");
    // 3 pods of half a device.
    assert_eq!(
        shown(&(queue.clone() + &fraction)),
        ["admission Deployment/d team: yes", "limit Queue/team gpu: 0 0 0, queued 1500, of 1500"]
    );
    // One pod has two halves; a pod of two whole devices is more than the queue ever gives.
    let two = kai_pod(
        "team",
        "gpu-fraction: '0.5', gpu-fraction-num-devices: '2'",
        "containers: [{name: c, image: i}]",
    );
    assert_eq!(only("limit", &(queue.clone() + &two)), ["limit Queue/team gpu: 0 0 0, queued 3000, of 1500"]);
    assert_eq!(
        only("admission", &(queue.clone() + &kai_pod("team", "", &gpus(2)))),
        ["admission Deployment/d team: no; too-large 2000 of 1500"]
    );
    // What part of a device some memory is, is not known.
    let memory = kai_pod("team", "gpu-memory: '2000'", "containers: [{name: c, image: i}]");
    assert_eq!(
        only("admission", &(queue + &memory)),
        ["admission Deployment/d team: unknown; unknown 0? of ?"]
    );
    let unlimited = kai_queue("team", "resources: {gpu: {quota: -1, limit: -1}}");
    assert_eq!(
        shown(&(unlimited + &kai_pod("team", "", &gpus(8)))),
        ["admission Deployment/d team: yes", "limit Queue/team gpu: 0 0 0, queued 24000, of unlimited"]
    );
}

#[test]
fn kai_schedules_in_leaves_and_limits_above() {
    let tree = kai_queue("dept", "resources: {gpu: {limit: 4}}")
        + &kai_queue("team", "parentQueue: dept, resources: {gpu: {limit: -1}}");
    assert_eq!(
        only("admission", &(tree.clone() + &kai_pod("team", "", &gpus(8)))),
        ["admission Deployment/d team: no; too-large 8000 of 4000"]
    );
    assert_eq!(
        only("admission", &(tree + &kai_pod("dept", "", &gpus(1)))),
        ["admission Deployment/d dept: no; not-a-leaf"]
    );
    // No limit stated, which KAI takes for none at all.
    let silent = kai_queue("team", "resources: {gpu: {quota: 4}}") + &kai_pod("team", "", &gpus(1));
    assert_eq!(
        shown(&silent),
        [
            "admission Deployment/d team: unknown; unknown 1000 of ?",
            "problem Queue/team no-limit at spec.resources.gpu.limit uncertain",
            "limit Queue/team gpu: 0 0 0, queued 3000, of ?",
        ]
    );
    let cycle = kai_queue("a", "parentQueue: b") + &kai_queue("b", "parentQueue: a");
    assert_eq!(
        only("problem", &cycle),
        [
            "problem Queue/a queue-cycle at spec.parentQueue",
            "problem Queue/b queue-cycle at spec.parentQueue"
        ]
    );
}

#[test]
fn an_elastic_quota_is_the_most_of_its_namespace() {
    let text = "apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: e, namespace: ml}
spec: {min: {nvidia.com/gpu: 2}, max: {nvidia.com/gpu: 4, cpu: 3}}
---
"
    .to_owned()
        + &kai_pod("x", "", &gpus(2))
            .replace("schedulerName: kai-scheduler, ", "")
            .replace(", labels: {kai.scheduler/queue: x}", "");
    assert_eq!(shown(&text), ["limit ElasticQuota/e nvidia.com/gpu: 6 8 8, queued 0, of 4"]);
}

#[test]
fn a_node_pool_counts_pods_that_are_bound_to_it() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 4, cpu: 100}}\n---\n";
    let pod = |more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: ml}}\nspec: {{{more}{}}}\n",
            gpus(8)
        )
    };
    let used = |more: &str| only("limit", &format!("{pool}{}", pod(more))).join("");
    let line = |n| format!("limit NodePool/gpu nvidia.com/gpu: {n} {n} {n}, queued 0, of 4");
    assert_eq!(used(""), line(0));
    assert_eq!(used("nodeSelector: {karpenter.sh/nodepool: gpu}, "), line(8));
    assert_eq!(used("nodeSelector: {karpenter.sh/nodepool: other}, "), line(0));
    let affinity = |values: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: karpenter.sh/nodepool, operator: In, values: [{values}]}}]}}]}}}}}}, "
        )
    };
    assert_eq!(used(&affinity("gpu")), line(8));
    assert_eq!(used(&affinity("gpu, other")), line(0));
}
