use super::*;
use crate::accelerators::Amount;
use crate::manifest;
use crate::model::Value;

const SPEC: &str = "{containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8, cpu: '4'}}}]}";

fn spec(text: &str) -> Value {
    manifest::value(text).expect("a pod spec")
}

fn flavor(name: &str, resources: &[&str], labels: &str, tolerations: &str, taints: &str) -> Flavor {
    let list = |text: &str| items(&spec(&format!("[{text}]"))).cloned().collect::<Vec<_>>();
    let labels = spec(&format!("{{{labels}}}"));
    let labels = fields(&labels).into_iter().map(|(k, v)| (k.clone(), v.as_string().expect("text").clone()));
    Flavor {
        name: name.into(),
        resources: resources.iter().map(|name| (*name).into()).collect(),
        node_labels: labels.collect(),
        tolerations: list(tolerations),
        node_taints: list(taints),
        topology: None,
    }
}

fn h100() -> Flavor {
    flavor(
        "h100",
        &["cpu", "nvidia.com/gpu"],
        "cloud.google.com/gke-accelerator: nvidia-h100-80gb",
        "{key: reserved, operator: Exists}",
        "",
    )
}

fn l4() -> Flavor {
    flavor("l4", &["cpu", "nvidia.com/gpu"], "cloud.google.com/gke-accelerator: nvidia-l4", "", "")
}

fn queue(flavors: Vec<Flavor>) -> Queued {
    Queued::Through { queue: "q".into(), cluster_queue: "cq".into(), flavors, elsewhere: false }
}

/// The effective pods of a text that asks for these.
fn with(
    text: &str,
    asked: &[&str],
    injects: Option<&Injects>,
    cloud: Option<&str>,
    queue: &Queued,
) -> Effective {
    let names: BTreeSet<Arc<str>> = asked.iter().map(|name| (*name).into()).collect();
    let resources = names.iter().map(|name| (name.clone(), Amount::ONE)).collect();
    effective(&spec(text), &resources, &names, injects, cloud, queue)
}

fn of(text: &str, flavors: Vec<Flavor>) -> Effective {
    with(text, &["nvidia.com/gpu"], None, None, &queue(flavors))
}

/// The model that the selector of each variant asks for.
fn models(effective: &Effective) -> Vec<String> {
    let model = |spec: &Value| spec["nodeSelector"]["cloud.google.com/gke-accelerator"].to_string();
    effective.variants.iter().map(model).collect()
}

#[test]
fn the_only_flavour_is_applied() {
    let effective = of(SPEC, vec![h100()]);
    assert_eq!(
        effective.spec,
        spec(
            "{containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8, cpu: '4'}}}],
            nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb},
            tolerations: [{key: reserved, operator: Exists}]}"
        )
    );
    assert_eq!(effective.variants, std::slice::from_ref(&effective.spec));
}

#[test]
fn of_several_flavours_each_is_tried_and_none_applied() {
    let effective = of(SPEC, vec![h100(), l4()]);
    assert_eq!(effective.spec, spec(SPEC));
    assert_eq!(models(&effective), ["\"nvidia-h100-80gb\"", "\"nvidia-l4\""]);
}

#[test]
fn a_flavour_for_resources_that_are_not_asked_for_is_none() {
    let tpu =
        flavor("tpu", &["google.com/tpu"], "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice", "", "");
    assert_eq!(models(&of(SPEC, vec![tpu, l4()])), ["\"nvidia-l4\""]);
    // A pod without devices gets the flavour of its processors.
    let head = "{containers: [{name: c, resources: {requests: {cpu: '4'}}}]}";
    let cpu = with(head, &[], None, None, &queue(vec![h100()]));
    assert_eq!(models(&cpu), ["\"nvidia-h100-80gb\""]);
    // None of a resource is not asked for.
    let none = "{containers: [{name: c, resources: {limits: {nvidia.com/gpu: 0}}}]}";
    let gpu_only = flavor("gpu", &["nvidia.com/gpu"], "a: b", "", "");
    let none = with(none, &[], None, None, &queue(vec![gpu_only]));
    assert_eq!(none.spec["nodeSelector"], Value::Undefined);
}

#[test]
fn a_flavour_with_taints_needs_a_toleration_of_pod_or_flavour() {
    let taint = "{key: sku, value: gpu, effect: NoSchedule}";
    let tainted = |tolerations| flavor("t", &["nvidia.com/gpu"], "disk: ssd", tolerations, taint);
    assert_eq!(of(SPEC, vec![tainted("")]).spec, spec(SPEC));
    let tolerates = "{key: sku, operator: Exists}";
    assert_eq!(of(SPEC, vec![tainted(tolerates)]).spec["nodeSelector"]["disk"], Value::from("ssd"));
    let pod = format!("{{tolerations: [{tolerates}], {}", SPEC.trim_start_matches('{'));
    assert_eq!(of(&pod, vec![tainted("")]).spec["nodeSelector"]["disk"], Value::from("ssd"));
    // A preference is no obstacle.
    let soft = flavor("s", &["nvidia.com/gpu"], "disk: ssd", "", "{key: sku, effect: PreferNoSchedule}");
    assert_eq!(of(SPEC, vec![soft]).spec["nodeSelector"]["disk"], Value::from("ssd"));
}

#[test]
fn a_flavour_that_the_pod_s_own_selector_contradicts_is_none() {
    let pinned = format!(
        "{{nodeSelector: {{cloud.google.com/gke-accelerator: nvidia-l4, disk: ssd}}, {}",
        SPEC.trim_start_matches('{')
    );
    // Keys that the flavour does not have are not compared.
    assert_eq!(models(&of(&pinned, vec![h100(), l4()])), ["\"nvidia-l4\""]);
}

#[test]
fn a_flavour_whose_nodes_have_other_devices_is_none() {
    let both = ["aws.amazon.com/neuron", "nvidia.com/gpu"];
    let trainium = flavor("t", &both, "karpenter.k8s.aws/instance-accelerator-name: trainium2", "", "");
    let nvidia = flavor("h", &both, "karpenter.k8s.aws/instance-gpu-name: h100", "", "");
    let effective = of(SPEC, vec![trainium, nvidia]);
    assert_eq!(effective.spec["nodeSelector"]["karpenter.k8s.aws/instance-gpu-name"], Value::from("h100"));
}

#[test]
fn flavours_of_several_groups_come_together() {
    let zone = flavor("z", &["memory"], "zone: a", "", "");
    let text = "{containers: [{resources: {limits: {nvidia.com/gpu: 1, memory: 1Gi}}}]}";
    let effective = of(text, vec![zone, h100()]);
    assert_eq!(models(&effective), ["\"nvidia-h100-80gb\""]);
    assert_eq!(effective.spec["nodeSelector"]["zone"], Value::from("a"));
}

#[test]
fn clouds_tolerate_the_taints_of_what_is_asked_for() {
    let on = |cloud| {
        let asked = ["gpu.nvidia.com", "nvidia.com/gpu"];
        with(SPEC, &asked, None, cloud, &Queued::No).spec["tolerations"].clone()
    };
    let added = spec("[{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]");
    assert_eq!(on(Some("gcp")), added);
    assert_eq!(on(Some("aws")), added);
    assert_eq!(on(Some("azure")), Value::Undefined);
    assert_eq!(on(None), Value::Undefined);
}

#[test]
fn a_cluster_injects_where_its_resources_are_asked_for() {
    let toleration = spec("{key: sku, operator: Equal, value: gpu, effect: NoSchedule}");
    let injects = |resources: &[&str]| Injects {
        tolerations: vec![toleration.clone()],
        node_selector: BTreeMap::from([("agentpool".into(), "gpu".into())]),
        resources: resources.iter().map(|name| (*name).into()).collect(),
    };
    let on = |text: &str, devices: &[&str], resources: &[&str]| {
        with(text, devices, Some(&injects(resources)), Some("azure"), &Queued::No).spec
    };
    let added = on(SPEC, &["nvidia.com/gpu"], &["nvidia.com/gpu"]);
    assert_eq!(added["tolerations"], Value::from(std::slice::from_ref(&toleration).to_vec()));
    assert_eq!(added["nodeSelector"]["agentpool"], Value::from("gpu"));
    let plain = "{containers: [{name: c}]}";
    assert_eq!(on(plain, &[], &["nvidia.com/gpu"]), spec(plain));
    assert_eq!(on(plain, &[], &[])["nodeSelector"]["agentpool"], Value::from("gpu"));
    // What the pod states itself stays.
    let own = format!("{{nodeSelector: {{agentpool: other}}, {}", SPEC.trim_start_matches('{'));
    assert_eq!(on(&own, &["nvidia.com/gpu"], &[])["nodeSelector"]["agentpool"], Value::from("other"));
}
