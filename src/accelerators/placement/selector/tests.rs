use proptest::prelude::*;

use super::*;
use crate::manifest;

fn pool(family: &str, labels: &[(&str, &str)]) -> Pool {
    let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Pool { family: family.into(), resource: "nvidia.com/gpu".into(), per_node: 8, labels, ..Pool::default() }
}

const GKE: &str = "cloud.google.com/gke-accelerator";

/// Whether a pod spec is left on the first of two GKE pools; the second has L4 and a disk.
fn on_h100(spec: &str) -> Selected {
    let pools = [
        pool("H100", &[(GKE, "nvidia-h100-80gb"), ("nvidia.com/gpu.count", "8")]),
        pool("L4", &[(GKE, "nvidia-l4"), ("disktype", "ssd"), ("nvidia.com/gpu.product", "NVIDIA-L4")]),
    ];
    on(spec, &pools, Some("gcp"))
}

fn on(spec: &str, pools: &[Pool], cloud: Option<&'static str>) -> Selected {
    let spec = manifest::value(spec).expect("a pod spec");
    selected(&spec, &pools[0], &Site { cloud, pools, known: true })
}

fn selector(entry: &str) -> String {
    format!("{{nodeSelector: {{{entry}}}}}")
}

fn affinity(terms: &str) -> String {
    format!(
        "{{affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}}}"
    )
}

fn expression(key: &str, operator: &str, values: &str) -> String {
    format!("{{matchExpressions: [{{key: {key}, operator: {operator}, values: [{values}]}}]}}")
}

fn no(why: &str) -> Selected {
    Selected::No(why.into())
}

fn unknown(why: &str) -> Selected {
    Selected::Unknown(why.into())
}

#[test]
fn a_listed_label_decides() {
    assert_eq!(on_h100("{}"), Selected::Yes);
    assert_eq!(on_h100(&selector(&format!("{GKE}: nvidia-h100-80gb"))), Selected::Yes);
    assert_eq!(
        on_h100(&selector(&format!("{GKE}: nvidia-h100-mega-80gb"))),
        no("its nodes have `cloud.google.com/gke-accelerator: nvidia-h100-80gb`")
    );
}

#[test]
fn a_label_of_another_cloud_is_not_there() {
    assert_eq!(
        on_h100(&selector("karpenter.k8s.aws/instance-gpu-name: h100")),
        no("only nodes on `aws` have `karpenter.k8s.aws/instance-gpu-name`, and this cluster is on `gcp`")
    );
    // Nobody said which cloud it is.
    let pools = [pool("H100", &[])];
    assert_eq!(
        on(&selector("karpenter.k8s.aws/instance-gpu-name: h100"), &pools, None),
        unknown("whether its nodes have `karpenter.k8s.aws/instance-gpu-name: h100` is not known")
    );
}

#[test]
fn a_model_of_another_family_is_not_there() {
    assert_eq!(
        on_h100(&selector("nvidia.com/gpu.product: NVIDIA-L4")),
        no("`nvidia.com/gpu.product: NVIDIA-L4` means other devices than `H100`")
    );
    assert_eq!(
        on_h100(&selector("node.kubernetes.io/instance-type: g2-standard-12")),
        no("`node.kubernetes.io/instance-type: g2-standard-12` means other devices than `H100`")
    );
    // The same family: that another pool lists the label does not mean that this one lacks it.
    assert_eq!(
        on_h100(&selector("nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3")),
        unknown("whether its nodes have `nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3` is not known")
    );
    // A family that the tables do not have contradicts nothing.
    let pools = [pool("in-house", &[])];
    assert!(matches!(on(&selector("nvidia.com/gpu.product: NVIDIA-L4"), &pools, None), Selected::Unknown(_)));
}

#[test]
fn a_label_that_only_other_pools_list_is_not_there() {
    assert_eq!(
        on_h100(&selector("disktype: ssd")),
        no("its nodes have no `disktype`, which other nodes of the cluster have")
    );
    for key in ["kubernetes.io/os", "topology.kubernetes.io/zone", "example.org/team"] {
        let why = format!("whether its nodes have `{key}: x` is not known");
        assert_eq!(on_h100(&selector(&format!("{key}: x"))), unknown(&why));
    }
}

#[test]
fn the_capacity_type_of_a_pool_contradicts() {
    let mut spot = pool("H100", &[]);
    spot.capacity_type = Some("spot".into());
    let pools = [spot];
    assert_eq!(
        on(&selector("karpenter.sh/capacity-type: on-demand"), &pools, Some("aws")),
        no("`karpenter.sh/capacity-type: on-demand` means `on-demand`, and these nodes are `spot`")
    );
    assert!(matches!(
        on(&selector("karpenter.sh/capacity-type: spot"), &pools, Some("aws")),
        Selected::Unknown(_)
    ));
    // Reserved machines of a managed node group are labelled as on demand.
    let mut reserved = pool("H100", &[]);
    reserved.capacity_type = Some("reserved".into());
    assert!(matches!(
        on(&selector("eks.amazonaws.com/capacityType: ON_DEMAND"), &[reserved], Some("aws")),
        Selected::Unknown(_)
    ));
}

#[test]
fn a_topology_has_the_sides_of_its_generation() {
    let pools = [pool("TPU-v6e", &[])];
    let topology = |sides: &str| {
        on(&selector(&format!("cloud.google.com/gke-tpu-topology: {sides}")), &pools, Some("gcp"))
    };
    assert_eq!(
        topology("2x2x1"),
        no("`cloud.google.com/gke-tpu-topology: 2x2x1` is no slice of `TPU-v6e`, whose slices have 2 sides")
    );
    assert!(matches!(topology("4x4"), Selected::Unknown(_)));
}

#[test]
fn every_operator_compares_as_in_kubernetes() {
    let count = "nvidia.com/gpu.count";
    for (key, operator, values, expected) in [
        (GKE, "In", "nvidia-l4, nvidia-h100-80gb", Selected::Yes),
        (GKE, "NotIn", "nvidia-l4", Selected::Yes),
        (
            GKE,
            "NotIn",
            "nvidia-h100-80gb",
            no("its nodes have `cloud.google.com/gke-accelerator: nvidia-h100-80gb`"),
        ),
        (GKE, "Exists", "", Selected::Yes),
        (GKE, "DoesNotExist", "", no("its nodes have `cloud.google.com/gke-accelerator: nvidia-h100-80gb`")),
        (count, "Gt", "'4'", Selected::Yes),
        (count, "Gt", "'8'", no("its nodes have `nvidia.com/gpu.count: 8`")),
        (count, "Lt", "'9'", Selected::Yes),
        (count, "Lt", "'8'", no("its nodes have `nvidia.com/gpu.count: 8`")),
        (count, "Lt", "'8', '9'", unknown("whether its nodes have `nvidia.com/gpu.count` is not known")),
        ("disktype", "NotIn", "hdd", Selected::Yes),
        ("disktype", "DoesNotExist", "", Selected::Yes),
        ("disktype", "Exists", "", no("its nodes have no `disktype`, which other nodes of the cluster have")),
        ("nvidia.com/gpu.product", "NotIn", "NVIDIA-L4, Tesla-T4", Selected::Yes),
        (
            "nvidia.com/gpu.memory",
            "Gt",
            "'40000'",
            unknown("whether its nodes have `nvidia.com/gpu.memory` is not known"),
        ),
        (GKE, "Near", "", unknown("`Near` is no operator of node affinity")),
    ] {
        assert_eq!(
            on_h100(&affinity(&expression(key, operator, values))),
            expected,
            "{key} {operator} {values}"
        );
    }
}

#[test]
fn terms_are_alternatives_and_all_else_holds_together() {
    let l4 = expression(GKE, "In", "nvidia-l4");
    let h100 = expression(GKE, "In", "nvidia-h100-80gb");
    let team = expression("example.org/team", "Exists", "");
    assert_eq!(on_h100(&affinity(&format!("{l4}, {h100}"))), Selected::Yes);
    assert!(matches!(on_h100(&affinity(&format!("{l4}, {team}"))), Selected::Unknown(_)));
    assert!(matches!(on_h100(&affinity(&l4)), Selected::No(_)));
    // A term without anything in it matches no node, nor does a list without terms.
    assert!(matches!(on_h100(&affinity("{}")), Selected::No(_)));
    assert!(matches!(on_h100(&affinity("")), Selected::No(_)));
    let by_name = "{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}";
    assert!(matches!(on_h100(&affinity(by_name)), Selected::Unknown(_)));
    // The selector holds beside affinity.
    let both = format!("{{nodeSelector: {{{GKE}: nvidia-l4}}, {}", affinity(&h100).trim_start_matches('{'));
    assert!(matches!(on_h100(&both), Selected::No(_)));
}

#[test]
fn what_is_written_wrongly_is_unknown() {
    assert_eq!(
        on_h100("{nodeSelector: {nvidia.com/gpu.count: 8}}"),
        unknown("the value of `nvidia.com/gpu.count` in its node selector is not a text")
    );
    for spec in ["{nodeSelector: [a]}", "{affinity: null}", "{affinity: {nodeAffinity: [1]}}"] {
        assert_eq!(on_h100(spec), Selected::Yes, "{spec}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z./-]{0,8}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("nodeSelector"),
        Just("affinity"),
        Just("nodeAffinity"),
        Just("key"),
        Just("operator"),
        Just("values"),
        Just("requiredDuringSchedulingIgnoredDuringExecution"),
        Just("nodeSelectorTerms"),
        Just("matchExpressions"),
        Just(GKE),
        Just("tolerations"),
    ];
    leaf.prop_recursive(8, 64, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(Value::from), inner, 0..4).prop_map(Value::from),
        ]
    })
}

proptest! {
    #[test]
    fn no_spec_makes_it_panic(spec in value()) {
        let pools = [pool("H100", &[(GKE, "nvidia-h100-80gb")])];
        selected(&spec, &pools[0], &Site { cloud: Some("gcp"), pools: &pools, known: true });
        crate::accelerators::placement::pinned::by_selectors(&spec);
        crate::accelerators::placement::taints::untolerated(&spec, &pools[0].taints);
    }
}
