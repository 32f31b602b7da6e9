use super::super::Queued;
use super::{assessed, gpus, only, shown};

/// A queue `train` of namespace `ml`, behind it `cq` with 16 GPUs in flavour `h100` and 8 in `spot`,
/// which has a taint.
const QUEUES: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: ml, labels: {team: ml}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: train, namespace: ml}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq, annotations: {example.org/owner: '@gpu-capacity'}}
spec:
  namespaceSelector: {matchLabels: {team: ml}}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}
    - {name: spot, resources: [{name: nvidia.com/gpu, nominalQuota: '8'}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {gpu: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
spec: {nodeLabels: {gpu: spot}, nodeTaints: [{key: spot, value: 'true', effect: NoSchedule}]}
---
";

fn job(pods: u64, each: u64, more: &str, pod: &str) -> String {
    format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: job, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: train}}{more}}}
spec: {{parallelism: {pods}, completions: {pods}, template: {{spec: {{{pod}{}}}}}}}
---
",
        gpus(each)
    )
}

const TOLERATES: &str = "tolerations: [{key: spot, operator: Exists}], ";

fn admission(manifests: &str) -> String {
    only("admission", &format!("{QUEUES}{manifests}")).join("\n")
}

fn queued(text: &str, complete: bool) -> Queued {
    assessed(text, complete, |assessment| assessment.objects[0].queue.clone())
}

#[test]
fn a_label_leads_through_a_local_queue_to_flavors() {
    let Queued::Through { queue, cluster_queue, flavors, elsewhere } =
        queued(&format!("{QUEUES}{}", job(1, 8, "", "")), false)
    else {
        panic!("the way is known")
    };
    assert_eq!((&*queue, &*cluster_queue, elsewhere), ("train", "cq", false));
    let names: Vec<_> = flavors.iter().map(|flavor| &*flavor.name).collect();
    assert_eq!(names, ["h100", "spot"]);
    assert_eq!(&*flavors[0].node_labels["gpu"], "h100");
    assert!(flavors[0].resources.contains("nvidia.com/gpu"));
}

#[test]
fn what_is_missing_is_certain_only_where_such_objects_are_kept() {
    let unresolved = |text: &str, complete| match queued(text, complete) {
        Queued::Unresolved { why, certain, .. } => (why, certain),
        other => panic!("{other:?}"),
    };
    let job = job(1, 8, "", "");
    let why = "LocalQueue `train` of namespace `ml` is not in this cluster's manifests".to_owned();
    // The file alone; then a whole cluster whose queues are kept elsewhere; then one that has queues.
    assert_eq!(unresolved(&job, false), (why.clone(), false));
    assert_eq!(unresolved(&job, true), (why.clone(), false));
    let other = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: x, namespace: other}\nspec: {clusterQueue: cq}\n---\n";
    assert_eq!(unresolved(&format!("{other}{job}"), true), (why, true));
    // The local queue is there, the cluster queue is not.
    let queue = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: train, namespace: ml}\nspec: {clusterQueue: cq}\n---\n";
    assert_eq!(
        unresolved(&format!("{queue}{job}"), true),
        ("ClusterQueue `cq` is not in this cluster's manifests".to_owned(), false)
    );
    let missing = QUEUES.replace("metadata: {name: spot}", "metadata: {name: other}");
    assert_eq!(
        unresolved(&format!("{missing}{job}"), true),
        ("ResourceFlavor `spot` of ClusterQueue `cq` is not in this cluster's manifests".to_owned(), true)
    );
}

#[test]
fn only_a_label_of_the_object_itself_queues_it() {
    let labels = "labels: {kueue.x-k8s.io/queue-name: train}";
    let template = format!("{{metadata: {{{labels}}}, spec: {{{}}}}}", gpus(1));
    let is_queued = |text: &str| queued(text, false) != Queued::No;
    let of = |kind: &str, metadata: &str, spec: &str| {
        format!("{kind}\nmetadata: {{name: a, namespace: ml, {metadata}}}\nspec: {spec}\n")
    };
    let job = "apiVersion: batch/v1\nkind: Job";
    assert!(is_queued(&of(job, labels, &format!("{{template: {{spec: {{{}}}}}}}", gpus(1)))));
    assert!(!is_queued(&of(job, "", &format!("{{template: {template}}}"))));
    // The annotation is no longer read.
    assert!(!is_queued(&of(
        job,
        "annotations: {kueue.x-k8s.io/queue-name: train}",
        &format!("{{template: {{spec: {{{}}}}}}}", gpus(1))
    )));
    // The jobs of a CronJob get the labels of its job template.
    let cron = "apiVersion: batch/v1\nkind: CronJob";
    let spec = format!("{{template: {{spec: {{{}}}}}}}", gpus(1));
    assert!(is_queued(&of(cron, "", &format!("{{jobTemplate: {{metadata: {{{labels}}}, spec: {spec}}}}}"))));
    assert!(!is_queued(&of(cron, labels, &format!("{{jobTemplate: {{spec: {spec}}}}}"))));
    // Pods of what Kueue does not queue as a whole are queued one by one.
    assert!(is_queued(&of(
        "apiVersion: apps/v1\nkind: Deployment",
        "",
        &format!("{{template: {template}}}")
    )));
    assert!(is_queued(&of(
        "apiVersion: apps/v1\nkind: Deployment",
        labels,
        &format!("{{template: {{spec: {{{}}}}}}}", gpus(1))
    )));
}

#[test]
fn a_queue_named_default_takes_jobs_without_a_label() {
    let default = QUEUES.replace("name: train", "name: default");
    let job = job(1, 8, "", "").replace(", labels: {kueue.x-k8s.io/queue-name: train}", "");
    assert!(matches!(queued(&format!("{default}{job}"), false), Queued::Through { .. }));
    assert_eq!(queued(&format!("{QUEUES}{job}"), false), Queued::No);
    let elsewhere = job.replace("namespace: ml", "namespace: other");
    assert_eq!(queued(&format!("{default}{elsewhere}"), false), Queued::No);
}

#[test]
fn a_workload_is_never_admitted_if_no_flavor_can_hold_it() {
    for (manifests, expected) in [
        // 16 GPUs in h100.
        (job(2, 8, "", ""), "admission Job/job train: yes"),
        // 24 > 16; the pods do not tolerate the other flavour.
        (job(3, 8, "", ""), "admission Job/job train: no; too-large 24 of 16"),
        // All pods of a Job get one flavour: 24 fits neither 16 nor 8, though they are 24 together.
        (job(3, 8, "", TOLERATES), "admission Job/job train: no; too-large 24 of 16"),
        // A selector of a key that both flavours have: only spot has it, and it is tolerated: 8 of 8.
        (
            job(1, 8, "", "tolerations: [{operator: Exists}], nodeSelector: {gpu: spot}, "),
            "admission Job/job train: yes",
        ),
        // A selector that no flavour has.
        (job(1, 8, "", "nodeSelector: {gpu: a100}, "), "admission Job/job train: no; flavors 8 of ?"),
        // Of keys that flavours do not have Kueue knows nothing.
        (job(1, 8, "", "nodeSelector: {zone: a}, "), "admission Job/job train: yes"),
        // Started with 2 of 4 pods at the least.
        (
            job(4, 8, ", annotations: {kueue.x-k8s.io/job-min-parallelism: '2'}", ""),
            "admission Job/job train: yes",
        ),
        (
            job(4, 8, ", annotations: {kueue.x-k8s.io/job-min-parallelism: '3'}", ""),
            "admission Job/job train: no; too-large 24 of 16",
        ),
        // A resource that no group covers.
        (
            job(1, 1, "", "").replace("nvidia.com/gpu", "amd.com/gpu"),
            "admission Job/job train: no; not-covered",
        ),
        // How many is not known, but at least 24.
        (
            job(3, 8, "", "").replace("parallelism: 3", "parallelism: $N"),
            "admission Job/job train: unknown; unknown",
        ),
        (job(0, 8, "", ""), ""),
        // The name of which the API server makes the rest.
        (
            job(3, 8, "", "").replace("metadata: {name:", "metadata: {generateName:"),
            "admission Job/job train: no; too-large 24 of 16",
        ),
    ] {
        assert_eq!(admission(&manifests), expected, "{manifests}");
    }
}

#[test]
fn sets_of_pods_share_what_a_flavor_has() {
    // Master 8 and workers 2 × 8: 24. h100 has 16, spot 8. Together they fit: workers h100, master spot.
    let pytorch = |pod: &str| {
        format!(
            "apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: pt, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: train}}}}
spec:
  pytorchReplicaSpecs:
    Master: {{replicas: 1, template: {{spec: {{{pod}{0}}}}}}}
    Worker: {{replicas: 2, template: {{spec: {{{pod}{0}}}}}}}
",
            gpus(8)
        )
    };
    assert_eq!(admission(&pytorch(TOLERATES)), "admission PyTorchJob/pt train: yes");
    // Without the toleration all 24 are to come from 16.
    assert_eq!(admission(&pytorch("")), "admission PyTorchJob/pt train: no; too-large 24 of 16");
}

#[test]
fn what_is_queued_by_pod_is_admitted_by_pod() {
    let deployment = |each| {
        format!(
            "apiVersion: apps/v1
kind: Deployment
metadata: {{name: d, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: train}}}}
spec: {{replicas: 9, template: {{spec: {{{}}}}}}}
",
            gpus(each)
        )
    };
    assert_eq!(admission(&deployment(16)), "admission Deployment/d train: yes");
    assert_eq!(admission(&deployment(17)), "admission Deployment/d train: no; too-large 17 of 16");
    // A replica of a LeaderWorkerSet: 1 leader and 1 worker, 16; there may be many.
    let lws = |size| {
        format!(
            "apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: l, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: train}}}}
spec: {{replicas: 5, leaderWorkerTemplate: {{size: {size}, workerTemplate: {{spec: {{{}}}}}}}}}
",
            gpus(8)
        )
    };
    assert_eq!(admission(&lws(2)), "admission LeaderWorkerSet/l train: yes");
    assert_eq!(admission(&lws(3)), "admission LeaderWorkerSet/l train: no; too-large 24 of 16");
}

#[test]
fn borrowing_counts_and_missing_members_are_not_taken_for_none() {
    let cohort = QUEUES.replace("spec:\n  namespaceSelector", "spec:\n  cohortName: all\n  namespaceSelector")
        + "apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: other}
spec:
  cohort: all
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 32, lendingLimit: 8}]}]}]
---
";
    let admission = |complete, pods| {
        assessed(&format!("{cohort}{}", job(pods, 8, "", "")), complete, |assessment| {
            let lines = assessment.quotas.iter().map(super::line);
            lines.filter(|line| line.starts_with("admission")).collect::<Vec<_>>().join("\n")
        })
    };
    // 16 of its own and 8 that the other lends.
    assert_eq!(admission(true, 3), "admission Job/job train: yes");
    assert_eq!(admission(true, 4), "admission Job/job train: no; too-large 32 of 24");
    // There may be more members that were not read.
    assert_eq!(admission(false, 4), "admission Job/job train: unknown; unknown");
    // `cohort` is no field of v1beta2: the other is in no cohort.
    let later = cohort.replace("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2");
    let alone = only("admission", &format!("{later}{}", job(3, 8, "", "")));
    assert_eq!(alone, ["admission Job/job train: no; too-large 24 of 16"]);
}

#[test]
fn a_queue_takes_the_namespaces_that_it_selects() {
    let with = |from: &str, to: &str| {
        only("admission", &format!("{}{}", QUEUES.replace(from, to), job(1, 8, "", ""))).join("")
    };
    let selector = "namespaceSelector: {matchLabels: {team: ml}}";
    assert_eq!(with(selector, "namespaceSelector: {}"), "admission Job/job train: yes");
    assert_eq!(with(selector, "queueingStrategy: StrictFIFO"), "admission Job/job train: no; namespace");
    assert_eq!(
        with(selector, "namespaceSelector: {matchLabels: {team: x}}"),
        "admission Job/job train: no; namespace"
    );
    let in_list = |values: &str| {
        with(
            selector,
            &format!(
                "namespaceSelector: {{matchExpressions: [{{key: kubernetes.io/metadata.name, operator: In, values: [{values}]}}]}}"
            ),
        )
    };
    assert_eq!(in_list("ml, other"), "admission Job/job train: yes");
    assert_eq!(in_list("other"), "admission Job/job train: no; namespace");
    // The namespace is not in the tree: only its name is known.
    assert_eq!(
        with("kind: Namespace\nmetadata: {name: ml", "kind: Namespace\nmetadata: {name: x"),
        "admission Job/job train: unknown; unknown"
    );
}

#[test]
fn a_queue_shows_what_it_has_and_what_waits() {
    let two = format!(
        "{QUEUES}{}{}",
        job(2, 8, "", ""),
        job(1, 8, "", TOLERATES).replace("name: job", "name: any")
    );
    assert_eq!(
        only("limit", &two),
        [
            // The first job has no other flavour; the second may get either.
            "limit ClusterQueue/cq nvidia.com/gpu h100: 0 0 0, queued 16?, of 16",
            "limit ClusterQueue/cq nvidia.com/gpu spot: 0 0 0, queued 0?, of 8",
            "limit ClusterQueue/cq nvidia.com/gpu: 0 0 0, queued 24, of 24",
        ]
    );
}

#[test]
fn faults_of_queues_are_found() {
    let broken = QUEUES
        .replace("nominalQuota: 16", "nominalQuota: -1, borrowingLimit: 4")
        .replace("{name: spot}\nspec: {nodeLabels: {gpu: spot}", "{name: tas}\nspec: {topologyName: t")
        + "apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: a}
spec: {parentName: b}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: b}
spec: {parentName: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lost, namespace: ml}
spec: {clusterQueue: gone}
";
    let flavors = "spec.resourceGroups[0].flavors";
    assert_eq!(
        only("problem", &broken),
        [
            "problem LocalQueue/lost cluster-queue-missing at spec.clusterQueue".to_owned(),
            format!("problem ClusterQueue/cq flavor-missing at {flavors}[1].name"),
            format!(
                "problem ClusterQueue/cq limit-without-cohort at {flavors}[0].resources[0].borrowingLimit"
            ),
            format!("problem ClusterQueue/cq unreadable at {flavors}[0].resources[0].nominalQuota"),
            "problem Cohort/a cohort-cycle at spec.parentName".to_owned(),
            "problem Cohort/b cohort-cycle at spec.parentName".to_owned(),
            "problem ResourceFlavor/tas topology-missing at spec.topologyName uncertain".to_owned(),
            "problem ResourceFlavor/tas topology-without-labels at spec.topologyName".to_owned(),
        ]
    );
    assert_eq!(only("problem", QUEUES), Vec::<String>::new());
    let lost = QUEUES.replace("name: train", "name: other") + &job(1, 8, "", "");
    assert_eq!(
        only("problem", &lost),
        ["problem Job/job queue-missing at metadata.labels[\"kueue.x-k8s.io/queue-name\"]"]
    );
    assert_eq!(
        only("problem", &job(1, 8, "", "")),
        ["problem Job/job queue-missing at metadata.labels[\"kueue.x-k8s.io/queue-name\"] uncertain"]
    );
}

#[test]
fn multikueue_runs_elsewhere() {
    let manager = QUEUES.replace(
        "spec:\n  namespaceSelector",
        "spec:\n  admissionChecksStrategy: {admissionChecks: [{name: mk}]}\n  namespaceSelector",
    ) + "apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: mk}
spec: {controllerName: kueue.x-k8s.io/multikueue}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: 4}}
---
";
    let text = format!("{manager}{}", job(1, 8, "", ""));
    let elsewhere = assessed(&text, true, |assessment| {
        matches!(assessment.objects[0].queue, Queued::Through { elsewhere: true, .. })
    });
    assert!(elsewhere);
    // No pod is made here, so that the quota of the namespace is not charged.
    assert_eq!(
        only("limit ResourceQuota", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 0 0 0, queued 0, of 4"]
    );
}

#[test]
fn misshapen_queues_do_no_harm() {
    for text in [
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {resourceGroups: {a: b}}\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {resourceGroups: [{flavors: [{name: 1, resources: x}]}, null]}\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: train, namespace: ml}\nspec: []\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodeTaints: {}, tolerations: 1}\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: f}\nspec: {parentName: 3}\n",
    ] {
        shown(&format!("{text}---\n{}", job(1, 8, "", TOLERATES)));
    }
}

#[test]
fn ten_thousand_queues_are_read_once() {
    use std::fmt::Write;
    let mut text = String::from(QUEUES);
    for index in 0..10_000 {
        write!(
            text,
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: q{index}, namespace: ml}}\nspec: {{clusterQueue: c{index}}}\n---\n\
             apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: c{index}}}\n\
             spec: {{cohortName: all, namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: h100, resources: [{{name: nvidia.com/gpu, nominalQuota: 1}}]}}]}}]}}\n---\n"
        )
        .expect("text");
    }
    let job = job(1, 8, "", "").replace("queue-name: train", "queue-name: q77");
    // 10,000 lend one each.
    assert_eq!(only("admission", &format!("{text}{job}")), ["admission Job/job q77: yes"]);
}

#[test]
fn what_runs_past_the_queues_of_its_namespace_is_found() {
    let bare = job(1, 8, "", "").replace(", labels: {kueue.x-k8s.io/queue-name: train}", "");
    let problem = |text: &str| only("problem", &format!("{QUEUES}{text}")).join("");
    let label = "metadata.labels[\"kueue.x-k8s.io/queue-name\"]";
    assert_eq!(problem(&bare), format!("problem Job/job no-queue at {label}"));
    assert_eq!(problem(&job(1, 8, "", "")), "");
    // Nothing is asked for, nothing runs, or the namespace has no queue.
    assert_eq!(problem(&bare.replace("nvidia.com/gpu: 8", "cpu: 8")), "");
    assert_eq!(problem(&bare.replace("parallelism: 1", "parallelism: 0")), "");
    assert_eq!(problem(&bare.replace("namespace: ml", "namespace: other")), "");
    // Serving is not for queues unless it says so.
    assert_eq!(problem(&bare.replace("batch/v1", "apps/v1").replace("kind: Job", "kind: Deployment")), "");
    let on_pods = bare.replace(
        "template: {spec",
        "template: {metadata: {labels: {kueue.x-k8s.io/queue-name: train}}, spec",
    );
    assert_eq!(problem(&on_pods), format!("problem Job/job label-on-pods at {label}"));
    let annotated =
        bare.replace("namespace: ml", "namespace: ml, annotations: {kueue.x-k8s.io/queue-name: train}");
    assert_eq!(
        problem(&annotated),
        "problem Job/job annotation at metadata.annotations[\"kueue.x-k8s.io/queue-name\"]"
    );
    let cron = format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: c, namespace: ml}}\nspec: {{jobTemplate: {{spec: {{template: {{spec: {{{}}}}}}}}}}}\n",
        gpus(1)
    );
    assert_eq!(
        problem(&cron),
        "problem CronJob/c no-queue at spec.jobTemplate.metadata.labels[\"kueue.x-k8s.io/queue-name\"]"
    );
}
