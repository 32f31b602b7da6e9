use std::collections::BTreeSet;

use super::load::{INSTANCES, LABELS, MIG, MODELS, TPU, UNITS};
use super::*;
use crate::manifest;
use crate::model::Value;

fn families(key: &str, value: &str) -> Vec<String> {
    let named = named(key, value).expect("a key of the tables");
    let families: BTreeSet<_> = named.models.iter().map(|model| model.family.to_string()).collect();
    families.into_iter().collect()
}

/// The keys of a block of lines `  key: …`, in the order of the file.
fn keys(text: &str, block: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != format!("{block}:")).skip(1);
    lines
        .take_while(|line| line.starts_with("  ") || line.starts_with("- "))
        .map(|line| line.trim_start_matches(['-', ' ', '{']).trim_start_matches("model: "))
        .map(|line| line.split([':', ',']).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_table_reads_and_has_a_date() {
    for text in [MODELS, INSTANCES, MIG, UNITS, LABELS, TPU] {
        let table = manifest::value(text).expect("a table");
        assert_eq!(table["version"], Value::from(1));
        assert!(table["date"].as_string().is_ok());
    }
    assert!(TABLES.models.models.len() > 40);
    assert!(TABLES.instances.instances.len() > 100);
    assert_eq!(TABLES.mig.geometries.len(), 12);
    assert!(TABLES.units.units.len() > 10);
    assert!(TABLES.labels.models.len() > 5);
}

#[test]
fn tables_are_sorted() {
    for (text, block) in
        [(MODELS, "models"), (INSTANCES, "instances"), (MIG, "geometries"), (TPU, "accelerators")]
    {
        let keys = keys(text, block);
        assert!(keys.len() > 5, "{block}");
        let mut sorted = keys.clone();
        sorted.sort();
        assert_eq!(keys, sorted);
    }
}

#[test]
fn tables_agree_with_each_other() {
    for (name, machine) in &TABLES.instances.instances {
        assert!(model(&machine.model).is_some(), "{name}");
        assert!(machine.devices > 0, "{name}");
    }
    for model in &TABLES.models.models {
        assert_eq!(model.mig.is_some(), geometry(model).is_some(), "{}", model.model);
        assert_eq!(&*model.resource == "aws.amazon.com/neuron", model.cores.is_some(), "{}", model.model);
    }
    for (name, geometry) in &TABLES.mig.geometries {
        for (profile, instances) in &geometry.profiles {
            let slices: u64 = profile.split_once('g').expect("a profile").0.parse().expect("slices");
            // `1g` with twice the memory is there less often than there are slices.
            assert!(slices * instances <= geometry.slices, "{name} {profile}");
        }
    }
}

#[test]
fn machines_have_their_devices_and_interfaces() {
    for (name, family, devices, efa) in [
        ("p4d.24xlarge", "A100", 8, 4),
        ("p5.48xlarge", "H100", 8, 32),
        ("p5e.48xlarge", "H200", 8, 32),
        ("p5en.48xlarge", "H200", 8, 16),
        ("p6-b200.48xlarge", "B200", 8, 8),
        ("g6e.48xlarge", "L40S", 8, 4),
        ("trn2.48xlarge", "Trainium2", 16, 16),
        ("trn1.32xlarge", "Trainium1", 16, 8),
        ("a3-highgpu-8g", "H100", 8, 0),
        ("ct5lp-hightpu-8t", "TPU-v5e", 8, 0),
        ("standard_nc48ads_a100_V4", "A100", 2, 0),
    ] {
        let machine = machine(name).expect(name);
        assert_eq!((machine.devices, machine.efa), (devices, efa), "{name}");
        assert_eq!(families("node.kubernetes.io/instance-type", name), [family]);
    }
    assert_eq!(families("node.kubernetes.io/instance-type", "m7i.large"), <[&str; 0]>::default());
}

#[test]
fn each_cloud_has_its_label_for_a_family() {
    for (key, value, expected) in [
        ("cloud.google.com/gke-accelerator", "nvidia-h100-mega-80gb", &["H100"][..]),
        ("cloud.google.com/gke-accelerator", "nvidia-tesla-a100", &["A100"]),
        ("cloud.google.com/gke-tpu-accelerator", "tpu-v5-lite-podslice", &["TPU-v5e"]),
        ("karpenter.k8s.aws/instance-gpu-name", "h200", &["H200"]),
        ("karpenter.k8s.aws/instance-accelerator-name", "trainium2", &["Trainium2"]),
        ("eks.amazonaws.com/instance-gpu-name", "l40s", &["L40S"]),
        ("karpenter.azure.com/sku-gpu-name", "A100", &["A100"]),
        ("nvidia.com/gpu.product", "NVIDIA-L40S", &["L40S"]),
        ("nvidia.com/gpu.product", "NVIDIA-GH200-480GB", &["GH200"]),
        ("nvidia.com/gpu.product", "NVIDIA-A100-SXM-64GB", &["A100"]),
        ("nvidia.com/gpu.product", "NVIDIA-Unheard-Of", &[]),
    ] {
        assert_eq!(families(key, value), expected, "{key}: {value}");
    }
    assert!(named("kubernetes.io/arch", "amd64").is_none());
}

#[test]
fn a_product_says_how_its_devices_are_divided() {
    let named = named("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED").expect("a key");
    assert_eq!(named.models[0].exact().map(|name| &**name), Some("NVIDIA-A100-SXM4-80GB"));
    assert_eq!((named.profile.as_deref(), named.shared), (Some("1g.10gb"), true));
}

#[test]
fn geometries_are_those_of_the_documentation() {
    for (model_name, profile, instances, slices) in [
        ("NVIDIA-A100-SXM4-40GB", "1g.5gb", 7, 7),
        ("NVIDIA-A100-SXM4-40GB", "1g.10gb", 4, 7),
        ("NVIDIA-A100-SXM4-80GB", "1g.10gb", 7, 7),
        ("NVIDIA-H100-80GB-HBM3", "3g.40gb", 2, 7),
        ("NVIDIA-A30", "2g.12gb", 2, 4),
        ("NVIDIA-H100-NVL", "7g.94gb", 1, 7),
        ("NVIDIA-H200", "1g.35gb", 4, 7),
        ("NVIDIA-GH200-144G-HBM3e", "2g.36gb", 3, 7),
        ("NVIDIA-B200", "1g.45gb", 4, 7),
        ("NVIDIA-GB200", "3g.95gb", 2, 7),
        ("NVIDIA-B300-SXM6-AC", "7g.269gb", 1, 7),
        ("NVIDIA-GB300", "3g.139gb", 2, 7),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "2g.48gb", 2, 4),
    ] {
        let geometry = geometry(model(model_name).expect(model_name)).expect(model_name);
        assert_eq!((geometry.profiles[profile], geometry.slices), (instances, slices), "{model_name}");
    }
}

#[test]
fn tpu_slices_have_the_sides_of_their_generation() {
    assert_eq!(TABLES.tpu.accelerators.len(), 8);
    for (label, slices) in &TABLES.tpu.accelerators {
        assert_eq!(families("cloud.google.com/gke-tpu-accelerator", label), [slices.family.to_string()]);
        for topology in &slices.topologies {
            let sides: Vec<u64> = topology.split('x').map(|side| side.parse().expect("a side")).collect();
            assert_eq!(sides.len(), slices.dimensions, "{label} {topology}");
            // A slice is whole hosts of some kind.
            let chips: u64 = sides.iter().product();
            assert!(slices.hosts.iter().any(|host| chips.is_multiple_of(*host)), "{label} {topology}");
        }
    }
    // 4x4 of v6e is 16 chips, 4x4x4 of tpu7x 64.
    assert_eq!(slices("TPU-v6e").map(|slices| slices.dimensions), Some(2));
    assert_eq!(slices("tpu-7x").map(|slices| slices.dimensions), Some(3));
    assert!(slices("H100").is_none());
}

#[test]
fn capacity_labels_mean_a_capacity_type() {
    for (key, value, expected) in [
        ("karpenter.sh/capacity-type", "reserved", Some("reserved")),
        ("cloud.google.com/gke-spot", "true", Some("spot")),
        ("cloud.google.com/gke-spot", "false", None),
        ("cloud.google.com/reservation-name", "my-block", Some("reserved")),
        ("kubernetes.azure.com/scalesetpriority", "spot", Some("spot")),
        ("eks.amazonaws.com/capacityType", "ON_DEMAND", Some("on-demand")),
        ("kubernetes.io/arch", "amd64", None),
    ] {
        assert_eq!(capacity(key, value).map(|capacity| &**capacity), expected, "{key}: {value}");
    }
}
