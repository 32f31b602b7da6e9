use super::*;
use crate::accelerators::placement::Placement;
use crate::accelerators::quota::{Flavor, Queued};
use crate::accelerators::{Amount, Registry, Tree};
use crate::manifest;
use crate::model::{Cluster, Injects, Value};

fn pool(family: &str, resource: &str, per_node: u64) -> Pool {
    Pool { family: family.into(), resource: resource.into(), per_node, ..Pool::default() }
}

fn labelled(pool: Pool, labels: &[(&str, &str)]) -> Pool {
    let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Pool { labels, ..pool }
}

fn cluster(provider: &str, pools: Option<Vec<Pool>>) -> Cluster {
    Cluster {
        name: "c".into(),
        environment: "prod".into(),
        provider: Some(provider.into()),
        region: None,
        labels: BTreeMap::new(),
        pools,
        injects: Injects::default(),
        facts: Value::new_object(),
    }
}

fn placed(objects: &[&str], cluster: Option<&Cluster>, queue: &Queued) -> (Vec<Placement>, Vec<FamilyRow>) {
    let objects: Vec<_> = objects.iter().map(|text| manifest::value(text).expect("a manifest")).collect();
    let tree = Tree::new(Registry::builtin(), &objects);
    let demand = tree.demand().pop().expect("demand");
    super::super::place(&tree, cluster, &demand, queue)
}

/// A Job of four pods.
fn job(spec: &str, resources: &str) -> String {
    format!("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: {{parallelism: 4, template: {{spec: {{{spec}
        containers: [{{name: c, resources: {{limits: {{{resources}}}}}}}]}}}}}}}}")
}

fn row(text: &str, cluster: Option<&Cluster>) -> FamilyRow {
    let (_, mut rows) = placed(&[text], cluster, &Queued::No);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.pop().expect("a row")
}

fn family(row: &FamilyRow) -> Option<&str> {
    row.family.as_deref()
}

const H100: &str = "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb},";

fn two_pools() -> Vec<Pool> {
    vec![
        labelled(
            pool("H100", "nvidia.com/gpu", 8),
            &[("cloud.google.com/gke-accelerator", "nvidia-h100-80gb")],
        ),
        labelled(pool("L4", "nvidia.com/gpu", 4), &[("cloud.google.com/gke-accelerator", "nvidia-l4")]),
    ]
}

#[test]
fn without_a_cluster_the_selector_says_the_family() {
    let row = row(&job(H100, "nvidia.com/gpu: 8"), None);
    assert_eq!((family(&row), row.model.as_deref()), (Some("H100"), Some("NVIDIA-H100-80GB-HBM3")));
    // Four pods of eight devices.
    assert_eq!((row.three, row.why), (Three::known(32_000), None));
}

#[test]
fn pools_that_selectors_leave_say_the_family() {
    let mut pools = two_pools();
    pools[0].capacity_type = Some("reserved".into());
    let gcp = cluster("gcp", Some(pools));
    let row = row(&job(H100, "nvidia.com/gpu: 2"), Some(&gcp));
    assert_eq!(family(&row), Some("H100"));
    assert_eq!(row.capacity_type.as_deref(), Some("reserved"));
    assert_eq!(row.three, Three::known(8000));
}

#[test]
fn several_pools_are_one_of_several_families() {
    let gcp = cluster("gcp", Some(two_pools()));
    let row = row(&job("", "nvidia.com/gpu: 2"), Some(&gcp));
    assert_eq!(family(&row), None);
    assert_eq!(row.one_of, BTreeSet::from(["H100".into(), "L4".into()]));
    assert_eq!(
        row.why.as_deref(),
        Some(
            "it may be one of `H100`, `L4`: pin one by a node selector such as `cloud.google.com/gke-accelerator`"
        )
    );
}

#[test]
fn a_pod_that_is_too_large_for_a_pool_does_not_go_there() {
    let gcp = cluster("gcp", Some(two_pools()));
    assert_eq!(family(&row(&job("", "nvidia.com/gpu: 8"), Some(&gcp))), Some("H100"));
}

#[test]
fn the_only_pool_with_a_resource_says_the_family() {
    let gcp = cluster("gcp", Some([two_pools(), vec![pool("TPU-v6e", "google.com/tpu", 4)]].concat()));
    let row = row(&job("", "google.com/tpu: 4"), Some(&gcp));
    // A chip is a device.
    assert_eq!((family(&row), &row.three), (Some("TPU-v6e"), &Three::known(16_000)));
}

#[test]
fn what_nothing_says_is_unknown_and_says_what_to_write() {
    let unknown = row(&job("", "nvidia.com/gpu: 1"), Some(&cluster("aws", None)));
    assert_eq!((family(&unknown), unknown.one_of.len()), (None, 0));
    assert_eq!(
        unknown.why.as_deref(),
        Some(
            "nothing says the model behind `nvidia.com/gpu`: add a node selector such as `karpenter.k8s.aws/instance-gpu-name`, or the cluster's `accelerators` to the fleet file"
        )
    );
    assert_eq!(unknown.three, Three::known(4000));
    let none = row(&job("", "amd.com/gpu: 1"), Some(&cluster("aws", Some(vec![]))));
    assert_eq!(
        none.why.as_deref(),
        Some(
            "the cluster has no pool with `amd.com/gpu`, and no node selector such as `amd.com/gpu.product-name` says the model"
        )
    );
}

#[test]
fn a_selector_that_no_pool_has_still_says_what_is_meant() {
    let aws = cluster("aws", Some(vec![pool("L4", "nvidia.com/gpu", 1)]));
    assert_eq!(family(&row(&job(H100, "nvidia.com/gpu: 8"), Some(&aws))), Some("H100"));
    let wrong = job("nodeSelector: {cloud.google.com/compute-class: big},", "nvidia.com/gpu: 8");
    assert_eq!(
        row(&wrong, Some(&aws)).why.as_deref(),
        Some("no pool of the cluster with `nvidia.com/gpu` has the labels that it selects")
    );
}

#[test]
fn flavours_say_the_family() {
    let flavor = |value: &str| Flavor {
        name: value.into(),
        resources: BTreeSet::from(["nvidia.com/gpu".into()]),
        node_labels: BTreeMap::from([("cloud.google.com/gke-accelerator".into(), value.into())]),
        tolerations: Vec::new(),
        node_taints: Vec::new(),
        topology: None,
    };
    let through =
        |flavors| Queued::Through { queue: "q".into(), cluster_queue: "c".into(), flavors, elsewhere: false };
    let text = job("", "nvidia.com/gpu: 1");
    let (_, rows) = placed(&[&text], None, &through(vec![flavor("nvidia-l4")]));
    assert_eq!(family(&rows[0]), Some("L4"));
    let both = through(vec![flavor("nvidia-l4"), flavor("nvidia-h100-80gb")]);
    let gcp = cluster("gcp", Some(two_pools()));
    let (placements, rows) = placed(&[&text], Some(&gcp), &both);
    assert_eq!(rows[0].one_of, BTreeSet::from(["H100".into(), "L4".into()]));
    // Each pool is seen from the flavour that is meant for it.
    let pools = placements[0].pools.as_ref().expect("pools");
    assert!(pools.iter().all(|candidate| candidate.selected == Selected::Yes));
}

#[test]
fn slices_are_parts_of_the_model_they_are_cut_from() {
    let text = job("", "nvidia.com/mig-3g.40gb: 1");
    // 4 × 3/7 of an A100 or H100 of 80 GB: 1714.3.
    let slices = row(&text, None);
    assert_eq!(slices.one_of, BTreeSet::from(["A100".into(), "H100".into()]));
    assert_eq!(slices.three, Three::known(1715));
    let pools = vec![pool("A30", "nvidia.com/mig-1g.6gb", 4)];
    let a30 = row(&job("", "nvidia.com/mig-1g.6gb: 1"), Some(&cluster("on-prem", Some(pools))));
    assert_eq!((family(&a30), &a30.three), (Some("A30"), &Three::known(1000)));
    // The strategy `single` names slices as devices: 4 × 1/7.
    let single = labelled(
        pool("A100", "nvidia.com/gpu", 56),
        &[("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")],
    );
    let single = row(&job("", "nvidia.com/gpu: 1"), Some(&cluster("azure", Some(vec![single]))));
    assert_eq!((single.model.as_deref(), single.three), (Some("NVIDIA-A100-SXM4-80GB"), Three::known(572)));
}

#[test]
fn shares_are_parts_if_it_is_known_how_many() {
    let text = job("", "nvidia.com/gpu: 1");
    let on = |labels: &[(&str, &str)], sharing: Option<&str>| {
        let mut pool = labelled(pool("L4", "nvidia.com/gpu", 10), labels);
        pool.sharing = sharing.map(Into::into);
        row(&text, Some(&cluster("on-prem", Some(vec![pool])))).three
    };
    // 4 × 1/10.
    assert_eq!(on(&[("nvidia.com/gpu.replicas", "10")], Some("time-slicing")), Three::known(400));
    assert_eq!(on(&[("nvidia.com/gpu.replicas", "1")], None), Three::known(4000));
    let open = on(&[], Some("mps")).steady;
    assert_eq!(open, Amount::unknown("by how many pods a device is shared is not known"));
}

#[test]
fn neuron_cores_are_parts_of_devices() {
    let trn2 = cluster("aws", Some(vec![pool("trainium-2", "aws.amazon.com/neuron", 16)]));
    // 4 × 2/8; the name is as the fleet file has it.
    let cores = row(&job("", "aws.amazon.com/neuroncore: 2"), Some(&trn2));
    assert_eq!((family(&cores), &cores.three), (Some("trainium-2"), &Three::known(1000)));
    let inf2 = "nodeSelector: {node.kubernetes.io/instance-type: inf2.48xlarge},";
    assert_eq!(row(&job(inf2, "aws.amazon.com/neuroncore: 1"), None).three, Three::known(2000));
}

#[test]
fn a_workspace_states_its_machines() {
    let text = "{apiVersion: kaito.sh/v1beta1, kind: Workspace, metadata: {name: w},
        resource: {count: 2, instanceType: Standard_NC48ads_A100_v4}, inference: {preset: {name: x}}}";
    let (_, rows) = placed(&[text], None, &Queued::No);
    // Two machines of two devices.
    assert_eq!((family(&rows[0]), &rows[0].three), (Some("A100"), &Three::known(4000)));
    assert_eq!(rows[0].model.as_deref(), Some("NVIDIA-A100-80GB-PCIe"));
}

#[test]
fn annotations_alone_make_a_row() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {gpu-fraction: '0.3'}},
        spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}, containers: [{name: c}]}}";
    let fraction = row(text, None);
    assert_eq!((family(&fraction), &fraction.three), (Some("L40S"), &Three::known(300)));
    // 22,888 MiB of 45,776.
    let memory = text.replace("gpu-fraction: '0.3'", "gpu-memory: '22888'");
    assert_eq!(row(&memory, None).three, Three::known(500));
}

#[test]
fn a_claim_that_exists_for_itself_has_a_row() {
    let claim = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c},
        spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}";
    let gcp = cluster("gcp", Some(vec![pool("GB200", "nvidia.com/gpu", 4)]));
    let row = row(claim, Some(&gcp));
    assert_eq!((family(&row), &row.three), (Some("GB200"), &Three::known(2000)));
}

#[test]
fn what_runs_nothing_has_no_row() {
    let idle = job("", "nvidia.com/gpu: 8").replace("parallelism: 4", "parallelism: 0");
    assert!(placed(&[&idle], None, &Queued::No).1.is_empty());
    let fabric = job("", "vpc.amazonaws.com/efa: 1");
    assert!(placed(&[&fabric], None, &Queued::No).1.is_empty());
}

#[test]
fn candidates_are_the_pools_with_the_device() {
    let mut pools = two_pools();
    pools.push(pool("TPU-v6e", "google.com/tpu", 4));
    pools[0].taints =
        vec![crate::model::Taint { key: "sku".into(), value: "gpu".into(), effect: "NoSchedule".into() }];
    let gcp = cluster("gcp", Some(pools));
    let (placements, _) = placed(&[&job(H100, "nvidia.com/gpu: 8")], Some(&gcp), &Queued::No);
    let candidates = placements[0].pools.as_ref().expect("pools");
    assert_eq!(candidates.iter().map(|candidate| candidate.pool).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(candidates[0].selected, Selected::Yes);
    assert_eq!(&*candidates[0].untolerated[0].key, "sku");
    assert!(matches!(candidates[1].selected, Selected::No(_)));
    let (placements, _) = placed(&[&job("", "cpu: '1'")], Some(&gcp), &Queued::No);
    assert_eq!(placements[0].pools, None);
}
