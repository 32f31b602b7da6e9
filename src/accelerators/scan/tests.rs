use proptest::prelude::*;

use super::*;
use crate::accelerators::Registry;
use crate::manifest;

fn scan(text: &str) -> Vec<Unaccounted> {
    let object = manifest::value(text).expect("a manifest");
    unaccounted(&object, Registry::builtin().workload(&object).as_ref())
}

/// Place and what is found of each.
fn found(text: &str) -> Vec<(String, String)> {
    scan(text).into_iter().map(|place| (place.path.to_string(), place.what)).collect()
}

fn one(path: &str, what: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), what.to_owned())]
}

#[test]
fn a_kind_that_nobody_registered_is_found() {
    let text = "{apiVersion: example.org/v1, kind: Training, metadata: {name: t},
        spec: {nodes: 4, worker: {limits: {nvidia.com/gpu: 8, cpu: 4, vpc.amazonaws.com/efa: 32}}}}";
    assert_eq!(found(text), one("spec.worker.limits[\"nvidia.com/gpu\"]", "nvidia.com/gpu: 8"));
    assert_eq!(
        scan(text)[0].why,
        "`Training` is not a registered kind, so it is not counted: add the kind under `kinds` in the fleet file"
    );
}

#[test]
fn every_way_to_ask_is_found() {
    for (spec, path, what) in [
        ("{a: {google.com/tpu: '4'}}", "spec.a[\"google.com/tpu\"]", "google.com/tpu: 4"),
        (
            "{a: [{nvidia.com/mig-1g.5gb: 1}]}",
            "spec.a[0][\"nvidia.com/mig-1g.5gb\"]",
            "nvidia.com/mig-1g.5gb: 1",
        ),
        ("{a: {nvidia.com/gpu: $GPUS}}", "spec.a[\"nvidia.com/gpu\"]", "nvidia.com/gpu: $GPUS"),
        ("{a: {nvidia.com/gpu: null}}", "spec.a[\"nvidia.com/gpu\"]", "nvidia.com/gpu: null"),
        (
            "{r: [{deviceClassName: gpu.nvidia.com}]}",
            "spec.r[0].deviceClassName",
            "deviceClassName: gpu.nvidia.com",
        ),
        (
            "{c: [{resourceClaimTemplateName: t}]}",
            "spec.c[0].resourceClaimTemplateName",
            "resourceClaimTemplateName: t",
        ),
        (
            "{t: {metadata: {annotations: {gpu-fraction: '0.5'}}}}",
            "spec.t.metadata.annotations.gpu-fraction",
            "gpu-fraction: 0.5",
        ),
        (
            "{a: {deviceclass.resource.kubernetes.io/gpu.nvidia.com: 1}}",
            "spec.a[\"deviceclass.resource.kubernetes.io/gpu.nvidia.com\"]",
            "deviceclass.resource.kubernetes.io/gpu.nvidia.com: 1",
        ),
    ] {
        let text = format!("{{apiVersion: example.org/v1, kind: Training, spec: {spec}}}");
        assert_eq!(found(&text), one(path, what), "{spec}");
    }
}

#[test]
fn what_asks_for_nothing_is_quiet() {
    for spec in [
        "{limits: {nvidia.com/gpu: 0}}",
        "{limits: {nvidia.com/gpu: '0'}}",
        "{nodeSelector: {nvidia.com/gpu: 'true', nvidia.com/gpu.product: NVIDIA-L4, nvidia.com/gpu.count: '8'}}",
        "{nodeSelector: {nvidia.com/gpu: present}}",
        "{limits: {gpu.intel.com/xe_monitoring: 1, example.org/widget: 1}}",
        "{tolerations: [{key: nvidia.com/gpu, operator: Exists}]}",
        "{minResources: {nvidia.com/gpu: 8}}",
        "{r: [{deviceClassName: compute-domain-default-channel.nvidia.com}]}",
        "{gpu-fraction: '0.5'}",
        "{doc: 'Set nvidia.com/gpu: 8 to ask for {eight} devices'}",
    ] {
        let text = format!("{{apiVersion: example.org/v1, kind: Training, spec: {spec}}}");
        assert_eq!(found(&text), [], "{spec}");
    }
    let copy = "{apiVersion: example.org/v1, kind: Training, metadata: {annotations: {
        kubectl.kubernetes.io/last-applied-configuration: '{\"spec\":{\"limits\":{\"nvidia.com/gpu\":8}}}'}},
        status: {used: {nvidia.com/gpu: 8}}}";
    assert_eq!(found(copy), []);
}

#[test]
fn known_places_that_use_none_are_quiet() {
    for (api, kind) in [
        ("v1", "ResourceQuota"),
        ("v1", "LimitRange"),
        ("v1", "Node"),
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
        ("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
        ("scheduling.volcano.sh/v1beta1", "Queue"),
        ("scheduling.run.ai/v2", "Queue"),
        ("scheduling.x-k8s.io/v1alpha1", "ElasticQuota"),
        ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
        ("karpenter.sh/v1", "NodePool"),
        ("karpenter.k8s.aws/v1", "EC2NodeClass"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("nvidia.com/v1", "ClusterPolicy"),
        ("resource.k8s.io/v1", "DeviceClass"),
        ("resource.k8s.io/v1", "ResourceClaimTemplate"),
        ("resource.nvidia.com/v1beta1", "ComputeDomain"),
        ("kyverno.io/v1", "ClusterPolicy"),
        ("constraints.gatekeeper.sh/v1beta1", "K8sGpuLimit"),
        ("monitoring.coreos.com/v1", "PrometheusRule"),
        ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
    ] {
        let text = format!(
            "{{apiVersion: {api}, kind: {kind}, spec: {{x: {{nvidia.com/gpu: 8}}, deviceClassName: gpu.nvidia.com}}}}"
        );
        assert_eq!(found(&text), [], "{kind}");
    }
}

#[test]
fn registered_places_are_not_reported_again() {
    let pod = "spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]}";
    let template = format!("template: {{metadata: {{annotations: {{gpu-fraction: '0.5'}}}}, {pod}}}");
    let deployment = format!("{{apiVersion: apps/v1, kind: Deployment, spec: {{{template}}}}}");
    assert_eq!(found(&deployment), []);
    // The usual place of a kind that nobody registered is counted as unknown.
    let unknown = format!("{{apiVersion: example.org/v1, kind: Training, spec: {{{template}}}}}");
    assert_eq!(found(&unknown), []);
    let other = format!(
        "{{apiVersion: apps/v1, kind: Deployment, spec: {{{template}, spare: {{nvidia.com/gpu: 1}}}}}}"
    );
    assert_eq!(found(&other), one("spec.spare[\"nvidia.com/gpu\"]", "nvidia.com/gpu: 1"));
    let workflow = "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: {entrypoint: a, templates: [{name: a,
        resource: {action: create, manifest: '{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"containers\":
        [{\"resources\": {\"limits\": {\"nvidia.com/gpu\": 8}}}]}}'}}]}}";
    assert_eq!(found(workflow), []);
}

const HELD: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: held}
data:
  job.yaml: |
    # What a script applies.
    apiVersion: v1
    kind: ServiceAccount
    metadata: {name: sa}
    ---
    apiVersion: batch/v1
    kind: Job
    metadata: {name: train}
    spec: {template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]}}}
";

#[test]
fn manifests_in_texts_are_found() {
    assert_eq!(found(HELD), one("data[\"job.yaml\"]", "Job `train`: nvidia.com/gpu: 8"));
    let quota = HELD.replace("batch/v1", "v1").replace("kind: Job", "kind: ResourceQuota");
    assert_eq!(found(&quota), []);
    // JSON, in a list, in a text within a text.
    let json = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","spec":{"x":{"amd.com/gpu":"1"}}}]}"#;
    let inner = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  pod.json: '{json}'\n");
    assert_eq!(found(&inner), one("data[\"pod.json\"]", "a Pod: amd.com/gpu: 1"));
    let outer = format!(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  all.yaml: |\n    {}",
        inner.replace('\n', "\n    ")
    );
    assert_eq!(found(&outer), one("data[\"all.yaml\"]", "a ConfigMap: a Pod: amd.com/gpu: 1"));
}

#[test]
fn settings_ask_only_as_resources() {
    let config = |text: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    {}",
            text.replace('\n', "\n    ")
        )
    };
    for text in [
        "sharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n",
        "weights:\n  nvidia.com/gpu: 5\n",
        "gpus:\n  vendors:\n  - limitsKey: nvidia.com/gpu\n    uiName: NVIDIA\n",
        "resources:\n  transformations:\n  - input: nvidia.com/mig-4g.5gb\n    outputs: {example.com/x: 5}\n",
        "# nvidia.com/gpu: 8\na: {b: c}\n",
    ] {
        assert_eq!(found(&config(text)), [], "{text}");
    }
    let profiles = "profiles:\n- kubespawner_override:\n    extra_resource_limits: {nvidia.com/gpu: '1'}\n";
    assert_eq!(found(&config(profiles)), one("data[\"config.yaml\"]", "nvidia.com/gpu: 1"));
}

#[test]
fn what_cannot_be_read_is_searched_line_by_line() {
    let script = "apiVersion: v1\nkind: ConfigMap\ndata:\n  run.sh: |\n    kubectl apply -f - <<EOF\n    kind: Pod\n    spec: [\n        nvidia.com/gpu: {{ .Values.gpus }}\n    EOF\n";
    assert_eq!(found(script), one("data[\"run.sh\"]", "nvidia.com/gpu: {{ .Values.gpus }}"));
    let talk =
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  read.me: |\n    [ Ask for nvidia.com/gpu: 8 in your pod\n";
    assert_eq!(found(talk), []);
}

#[test]
fn what_a_cluster_renders_is_not_counted() {
    let release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {values: {resources: {limits: {nvidia.com/gpu: 2}}}}}";
    assert_eq!(
        scan(release)[0].why,
        "what the cluster makes of a `HelmRelease` is not counted: add the rendered manifests"
    );
}

#[test]
fn of_many_places_the_first_are_shown() {
    let places: Vec<_> = (0..25).map(|_| "{nvidia.com/gpu: 1}").collect();
    let text = format!("{{apiVersion: example.org/v1, kind: T, spec: {{a: [{}]}}}}", places.join(", "));
    let found = scan(&text);
    assert_eq!(found.len(), 20);
    assert!(found[19].why.ends_with("; and 5 more places"), "{}", found[19].why);
    assert!(!found[18].why.contains("more places"));
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("a: &a [*a]\nnvidia.com/gpu: 1"),
        Just("---\nkind: Pod\napiVersion: v1\nspec: {nvidia.com/gpu: '{{'}"),
        Just("{"),
        Just("{nvidia.com/gpu: 8}"),
        Just("\u{0}nvidia.com/gpu: \n"),
        Just("%YAML 9\n---\ngoogle.com/tpu: 4\n"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("nvidia.com/gpu"),
        Just("spec"),
        Just("deviceClassName"),
        Just("annotations"),
        Just("gpu-fraction"),
        Just("x"),
    ];
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(Value::from), inner, 0..4).prop_map(Value::from),
        ]
    })
}

proptest! {
    #[test]
    fn no_object_makes_it_panic(spec in value(), kind in prop_oneof![Just("Job"), Just("Training"), Just("ConfigMap")]) {
        let api = if kind == "Job" { "batch/v1" } else { "v1" };
        let object = crate::accelerators::value::object([
            ("apiVersion", Value::from(api)), ("kind", Value::from(kind)), ("spec", spec),
        ]);
        let found = unaccounted(&object, Registry::builtin().workload(&object).as_ref());
        prop_assert!(found.is_sorted() && found.len() <= MOST);
    }
}
