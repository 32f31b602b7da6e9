use super::*;
use crate::accelerators::Registry;
use crate::manifest;

/// What the pods of the last of these objects ask for.
fn asks(objects: &[&str]) -> Vec<Ask> {
    let objects: Vec<_> = objects.iter().map(|text| manifest::value(text).expect("a manifest")).collect();
    let tree = Tree::new(Registry::builtin(), &objects);
    let demand = tree.demand().pop().expect("demand");
    of_pod(&tree, &demand.workload.expect("pods").pods[0], &demand.pods[0], None)
}

fn kinds(objects: &[&str]) -> Vec<(String, Kind, Amount)> {
    asks(objects).into_iter().map(|ask| (ask.resource.to_string(), ask.units.kind, ask.amount)).collect()
}

fn pod(resources: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, resources: {{limits: {{{resources}}}}}}}]}}}}"
    )
}

fn annotated(annotations: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, annotations: {{{annotations}}}}}, spec: {{containers: [{{name: c}}]}}}}"
    )
}

fn gpu(kind: Kind, amount: u64) -> Vec<(String, Kind, Amount)> {
    vec![("nvidia.com/gpu".into(), kind, Amount::Known(amount))]
}

#[test]
fn fabric_and_what_is_unknown_are_no_devices() {
    let text = pod("nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32, example.org/widget: 1, cpu: '8'");
    assert_eq!(kinds(&[&text]), gpu(Kind::Whole, 8));
}

#[test]
fn virtual_devices_have_the_larger_of_their_shares() {
    // Half of the memory and a third of the cores, of each of two.
    let text = pod("nvidia.com/gpu: 2, nvidia.com/gpumem-percentage: 50, nvidia.com/gpucores: 30");
    assert_eq!(kinds(&[&text]), gpu(Kind::Part(Share::part(1, 2)), 2));
    let text = pod("nvidia.com/gpu: 1, nvidia.com/gpumem: 8000, nvidia.com/gpucores: 30");
    assert_eq!(kinds(&[&text]), gpu(Kind::Memory(8000, Share::part(3, 10)), 1));
    let text = pod("hami.io/gpu: 1, hami.io/gpucores: 25");
    let expected = ("hami.io/gpu".to_owned(), Kind::Part(Share::part(1, 4)), Amount::ONE);
    assert_eq!(kinds(&[&text]), [expected]);
    // One container without properties has a whole device.
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [
        {name: a, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpucores: 30}}},
        {name: b, resources: {limits: {nvidia.com/gpu: 1}}}]}}";
    assert_eq!(kinds(&[text]), gpu(Kind::Whole, 2));
    let text = pod("nvidia.com/gpu: 1, nvidia.com/gpucores: $CORES");
    let [(_, Kind::Part(share), _)] = &kinds(&[&text])[..] else { panic!("one part") };
    assert_eq!(share.clone().max(Share::part(1, 2)), Share::part(1, 2).max(share.clone()));
    assert_ne!(*share, Share::part(1, 1));
}

#[test]
fn annotations_ask_for_parts_of_devices() {
    assert_eq!(kinds(&[&annotated("gpu-fraction: '0.5'")]), gpu(Kind::Part(Share::part(1, 2)), 1));
    assert_eq!(
        kinds(&[&annotated("gpu-fraction: '.25', gpu-fraction-num-devices: '3'")]),
        gpu(Kind::Part(Share::part(1, 4)), 3)
    );
    assert_eq!(kinds(&[&annotated("gpu-memory: '2000'")]), gpu(Kind::Memory(2000, Share::part(0, 1)), 1));
    let open = Share::open("the annotation `gpu-fraction` is no part of a device between 0 and 1");
    for fraction in ["'1.5'", "'0'", "half", "'-0.5'", "'0.5.5'", "'0.12345678901234567890123'", "''"] {
        assert_eq!(
            kinds(&[&annotated(&format!("gpu-fraction: {fraction}"))]),
            gpu(Kind::Part(open.clone()), 1),
            "{fraction}"
        );
    }
    assert_eq!(kinds(&[&annotated("other: '0.5'")]), []);
}

const CLAIMING: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}],
    resourceClaims: [{name: a, resourceClaimTemplateName: t}]}}";

fn template(requests: &str) -> String {
    format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {{name: t}}, spec: {{spec: {{devices: {{requests: [{requests}]}}}}}}}}"
    )
}

fn mig(name: &str, cel: &str, more: &str) -> String {
    format!(
        "{{name: {name}, exactly: {{deviceClassName: mig.nvidia.com, {more}selectors: [{{cel: {{expression: \"{cel}\"}}}}]}}}}"
    )
}

#[test]
fn claims_of_slices_say_their_profile() {
    let profile = |profile: &str| format!("device.attributes['gpu.nvidia.com'].profile == '{profile}'");
    let template = template(&format!(
        "{}, {}, {}, {{name: d, exactly: {{deviceClassName: gpu.nvidia.com}}}}",
        mig("a", &profile("1g.5gb"), "count: 2, "),
        mig("b", &profile("3g.20gb"), ""),
        mig("c", &profile("1g.5gb"), "")
    ));
    let slice = |profile: &str, n: u64| {
        ("mig.nvidia.com".to_owned(), Kind::Slice(Some(profile.into())), Amount::Known(n))
    };
    let whole = ("gpu.nvidia.com".to_owned(), Kind::Whole, Amount::ONE);
    assert_eq!(kinds(&[&template, CLAIMING]), [whole, slice("1g.5gb", 3), slice("3g.20gb", 1)]);
}

#[test]
fn a_profile_that_cannot_be_read_is_not_known() {
    for cel in [
        "true",
        "device.attributes['x'].profile in ['1g.5gb']",
        "d.profile == '1g.5gb' || d.profile == '2g.10gb'",
    ] {
        let template = template(&mig("a", cel, "count: 4, "));
        let expected = ("mig.nvidia.com".to_owned(), Kind::Slice(None), Amount::Known(4));
        assert_eq!(kinds(&[&template, CLAIMING]), [expected], "{cel}");
    }
}

#[test]
fn a_class_stands_for_the_resource_that_it_names() {
    let class = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: big.example.org},
        spec: {extendedResourceName: nvidia.com/gpu}}";
    let template = template("{name: a, exactly: {deviceClassName: big.example.org, count: 2}}");
    let asks = asks(&[class, &template, CLAIMING]);
    assert_eq!(asks.len(), 1);
    assert_eq!((&*asks[0].units.device, &*asks[0].resource), ("nvidia.com/gpu", "big.example.org"));
    let class = class
        .replace("big.example.org", "gpu.nvidia.com")
        .replace("Name: nvidia.com/gpu", "Name: example.org/gpu");
    let asks = self::asks(&[&class, &pod("example.org/gpu: 2")]);
    assert_eq!(asks.len(), 1);
    assert_eq!((&*asks[0].units.device, &*asks[0].resource), ("nvidia.com/gpu", "example.org/gpu"));
}
