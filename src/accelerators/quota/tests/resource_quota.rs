use super::{gpus, only};

fn quota(hard: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml}}\nspec: {{hard: {{{hard}}}{more}}}\n---\n"
    )
}

fn deployment(replicas: u64, each: u64, strategy: &str, pod: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: d{replicas}, namespace: ml}}
spec: {{replicas: {replicas}, {strategy}template: {{spec: {{{pod}{}}}}}}}
---
",
        gpus(each)
    )
}

const GPU: &str = "requests.nvidia.com/gpu: 8";

#[test]
fn pods_are_charged_and_one_rollout_at_a_time() {
    // 2 × 2 and 4 × 1: 8. One more pod each while they are replaced (25% rounded up): 2 or 1, of which
    // the larger counts.
    let text = quota(GPU, "") + &deployment(2, 2, "", "") + &deployment(4, 1, "", "");
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 8 10 10, queued 0, of 8"]
    );
    // Other namespaces, and what has its own quota key, do not count.
    let text = quota(GPU, "") + &deployment(2, 2, "", "").replace("namespace: ml", "namespace: x");
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 0 0 0, queued 0, of 8"]
    );
    // One that states no namespace may be in this one.
    let text = quota(GPU, "") + &deployment(2, 2, "", "").replace(", namespace: ml", "");
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 0? 0? 0?, queued 0, of 8"]
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let at = |text: &str| only("problem", &(text.to_owned() + &deployment(2, 2, "", "")));
    let list = quota(GPU, "").replace("{requests.nvidia.com/gpu: 8}", "[requests.nvidia.com/gpu]");
    assert_eq!(at(&list).len(), 1, "{:?}", at(&list));
    assert!(at(&quota(GPU, ", scopes: [Foo]"))[0].contains("unreadable"));
    assert_eq!(at(&quota(GPU, ", scopes: [NotTerminating]")), [] as [String; 0]);
}

#[test]
fn an_autoscaler_adds_what_it_may_add() {
    // 2 → 5 replicas of 2: 4; one surge 2 → 6; at most 10, and 2 replicas more while they are replaced
    // (25% of 5, rounded up): 14.
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: ml}\n\
        spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d2}, minReplicas: 2, maxReplicas: 5}\n---\n";
    let text = quota(GPU, "") + &deployment(2, 2, "", "") + hpa;
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 4 6 14, queued 0, of 8"]
    );
}

#[test]
fn what_a_queue_starts_waits_there() {
    let job = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: train}}}}\nspec: {{parallelism: 3, template: {{spec: {{{}}}}}}}\n---\n",
        gpus(4)
    );
    let text = quota(GPU, "") + &deployment(2, 2, "", "") + &job;
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 4 6 6, queued 12, of 8"]
    );
}

#[test]
fn a_quota_measures_pods_that_match_all_its_scopes() {
    for (scopes, pod, used) in [
        ("scopes: [Terminating]", "", "0 0 0"),
        ("scopes: [Terminating]", "activeDeadlineSeconds: 0, ", "4 6 6"),
        ("scopes: [NotTerminating]", "", "4 6 6"),
        // A device makes no pod better than best effort.
        ("scopes: [BestEffort]", "", "4 6 6"),
        ("scopes: [NotBestEffort]", "", "0 0 0"),
        (
            "scopes: [NotBestEffort]",
            "initContainers: [{name: i, resources: {requests: {cpu: 1}}}], ",
            "4 6 6",
        ),
        ("scopes: [PriorityClass]", "priorityClassName: high, ", "4 6 6"),
        ("scopes: [PriorityClass, Terminating]", "priorityClassName: high, ", "0 0 0"),
        (
            "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}",
            "priorityClassName: high, ",
            "4 6 6",
        ),
        (
            "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}",
            "priorityClassName: high, ",
            "0 0 0",
        ),
        (
            "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [low]}]}",
            "",
            "4 6 6",
        ),
        (
            "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}",
            "",
            "4 6 6",
        ),
        ("scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}", "", "0 0 0"),
        ("scopes: [CrossNamespacePodAffinity]", "", "0 0 0"),
        (
            "scopes: [CrossNamespacePodAffinity]",
            "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{namespaceSelector: {}}]}}, ",
            "4 6 6",
        ),
        // Nobody knows what it would measure.
        ("scopes: [Invented]", "", "0? 0? 0?"),
    ] {
        let text = quota(GPU, &format!(", {scopes}")) + &deployment(2, 2, "", pod);
        let expected = format!("limit ResourceQuota/q requests.nvidia.com/gpu: {used}, queued 0, of 8");
        assert_eq!(only("limit", &text), [expected], "{scopes} {pod}");
    }
    // The class that pods without one get.
    let text = quota(GPU, ", scopes: [PriorityClass]")
        + &deployment(2, 2, "", "")
        + "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\nglobalDefault: true\nvalue: 1\n";
    assert_eq!(
        only("limit", &text),
        ["limit ResourceQuota/q requests.nvidia.com/gpu: 4 6 6, queued 0, of 8"]
    );
}

#[test]
fn devices_of_claims_have_keys_of_their_own() {
    // A template with 2 devices for each of 3 pods, and a claim of its own with 1: 7 devices, 4 claims.
    let text = quota(
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 8, count/resourceclaims.resource.k8s.io: 8, requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com: 8",
        "",
    ) + "apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: ml}
spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ml}
spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: ml}
spec: {replicas: 3, template: {spec: {resourceClaims: [{name: a, resourceClaimTemplateName: t}, {name: b, resourceClaimName: c}], containers: [{name: c, image: i}]}}}
";
    assert_eq!(
        only("limit", &text),
        [
            "limit ResourceQuota/q count/resourceclaims.resource.k8s.io: 4 4 4, queued 0, of 8",
            "limit ResourceQuota/q gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 7 7 7, queued 0, of 8",
            "limit ResourceQuota/q requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com: 7 7 7, queued 0, of 8",
        ]
    );
}

#[test]
fn keys_that_enforce_nothing_are_found() {
    let key = |hard: &str| only("problem", &quota(hard, "")).join("\n");
    assert_eq!(
        key("nvidia.com/gpu: 4"),
        "problem ResourceQuota/q not-enforced at spec.hard[\"nvidia.com/gpu\"]"
    );
    assert_eq!(
        key("limits.nvidia.com/mig-2g.24gb: 4"),
        "problem ResourceQuota/q not-enforced at spec.hard[\"limits.nvidia.com/mig-2g.24gb\"]"
    );
    // HAMi reads these.
    assert_eq!(key("limits.nvidia.com/gpumem: 4000, limits.nvidia.com/gpu: 2"), "");
    for sound in [
        "requests.nvidia.com/gpu: 1",
        "pods: 4",
        "requests.cpu: 1",
        "limits.memory: 1Gi",
        "count/deployments.apps: 2",
        "gold.storageclass.storage.k8s.io/requests.storage: 5Gi",
        "requests.ephemeral-storage: 1Gi",
        "services.loadbalancers: 1",
    ] {
        assert_eq!(key(sound), "", "{sound}");
    }
    assert_eq!(
        only(
            "problem",
            &quota("gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 8", ", scopes: [BestEffort]")
        ),
        [
            "problem ResourceQuota/q scoped-claims at spec.hard[\"gpu.nvidia.com.deviceclass.resource.k8s.io/devices\"]"
        ]
    );
}

#[test]
fn two_quotas_on_one_key_are_both_enforced() {
    let text = quota(GPU, "") + &quota(GPU, "").replace("name: q", "name: r") + &deployment(2, 2, "", "");
    assert_eq!(
        super::shown(&text),
        [
            "limit ResourceQuota/q requests.nvidia.com/gpu: 4 6 6, queued 0, of 8",
            "limit ResourceQuota/r requests.nvidia.com/gpu: 4 6 6, queued 0, of 8",
            "problem ResourceQuota/r same-key at spec.hard[\"requests.nvidia.com/gpu\"]",
        ]
    );
}

#[test]
fn a_profile_makes_a_quota_of_its_namespace() {
    let text = "apiVersion: kubeflow.org/v1beta1\nkind: Profile\nmetadata: {name: ml}\nspec: {resourceQuotaSpec: {hard: {requests.nvidia.com/gpu: '8'}}}\n---\n"
        .to_owned()
        + &deployment(2, 2, "strategy: {type: Recreate}, ", "");
    assert_eq!(only("limit", &text), ["limit Profile/ml requests.nvidia.com/gpu: 4 4 4, queued 0, of 8"]);
}

#[test]
fn claims_go_around_a_quota_of_extended_resources() {
    let class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\nspec: {}\n---\n";
    let open = "problem ResourceQuota/q claims-unlimited at spec.hard[\"requests.nvidia.com/gpu\"]";
    assert_eq!(only("problem", &(quota(GPU, "") + class)), [open]);
    let both = quota(&format!("{GPU}, gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 8"), "");
    assert_eq!(only("problem", &(both + class)), Vec::<String>::new());
    // No class of devices here.
    assert_eq!(only("problem", &quota(GPU, "")), Vec::<String>::new());
    let channel = class.replace("gpu.nvidia.com", "compute-domain-default-channel.nvidia.com");
    assert_eq!(only("problem", &(quota(GPU, "") + &channel)), Vec::<String>::new());
}

#[test]
fn a_rollout_that_takes_pods_away_first_goes_on_without_room() {
    use super::super::Quota;
    let needs = |strategy: &str, replicas| {
        let text = quota(GPU, "") + &deployment(replicas, 1, strategy, "");
        super::rows(&text)
            .into_iter()
            .find_map(|row| match row {
                Quota::Limit(limit) => limit.contributors.first().map(|c| c.needs_surge.as_str()),
                _ => None,
            })
            .expect("a contributor")
    };
    // 25% of 3 is none, rounded down; of 4 one.
    assert_eq!(needs("", 3), "yes");
    assert_eq!(needs("", 4), "no");
    assert_eq!(needs("strategy: {type: Recreate}, ", 3), "no");
    assert_eq!(needs("strategy: {rollingUpdate: {maxUnavailable: 1}}, ", 3), "no");
    assert_eq!(needs("strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}, ", 8), "yes");
    assert_eq!(needs("strategy: {rollingUpdate: {maxUnavailable: 30%, maxSurge: 1}}, ", 3), "yes");
    assert_eq!(needs("strategy: {rollingUpdate: {maxUnavailable: $X, maxSurge: 1}}, ", 3), "unknown");
}

#[test]
fn limits_that_cannot_be_read_are_unknown() {
    for limit in ["-1", "$GPUS", "null", "[1]", "'8x'"] {
        let text = quota(&format!("requests.nvidia.com/gpu: {limit}"), "") + &deployment(2, 2, "", "");
        assert_eq!(
            only("limit", &text),
            ["limit ResourceQuota/q requests.nvidia.com/gpu: 4 6 6, queued 0, of ?"],
            "{limit}"
        );
    }
}

#[test]
fn what_ends_makes_room_for_the_next() {
    use super::super::Quota;
    let job = |name: &str, pods| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{parallelism: {pods}, template: {{spec: {{{}}}}}}}\n---\n",
            gpus(2)
        )
    };
    // 4 all the time; jobs of 2 and of 4, one after the other at the least: 8. All at once 10.
    let text = quota(GPU, "") + &deployment(2, 2, "", "") + &job("a", 1) + &job("b", 2);
    let needed = super::rows(&text).into_iter().find_map(|row| match row {
        Quota::Limit(limit) => Some((limit.needed.known(), limit.used.steady.known())),
        _ => None,
    });
    assert_eq!(needed, Some((Some(8), Some(10))));
}
