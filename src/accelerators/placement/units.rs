//! From units of a resource to parts of a device.

use std::sync::Arc;

use super::super::resources::{Class, class};
use super::super::tables::{self, Model, UnitKind};
use super::pinned::Pinned;
use super::share::Share;

/// What units of a resource are.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// The resource by which whole devices are asked for.
    pub(super) device: Arc<str>,
    /// What part of one a unit is.
    pub(super) kind: Kind,
    /// The family, where the resource itself says it.
    pub(super) family: Option<Arc<str>>,
}

/// What part of a device a unit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A device, or whatever its nodes divide devices into.
    Whole,
    /// A replica of a device that is shared in time.
    Shared,
    /// A MIG slice of this profile, if it is known.
    Slice(Option<String>),
    /// A Neuron core.
    Core,
    /// A part that is known exactly, at most a device.
    Part(Share),
    /// That many MiB of a device, and at least this part of it.
    Memory(u64, Share),
    /// It is not known what.
    Other,
}

/// The resource by which whole devices are asked for.
pub(super) fn device(resource: &str) -> Arc<str> {
    tables::unit(resource).map_or_else(|| resource.into(), |(unit, _)| unit.device.clone())
}

/// What units of a resource are; `None` if they are no devices and no parts of any.
pub(super) fn units(resource: &str) -> Option<Units> {
    if let Some((unit, profile)) = tables::unit(resource) {
        let kind = match unit.unit {
            UnitKind::Whole | UnitKind::Hami => Kind::Whole,
            UnitKind::Shared => Kind::Shared,
            UnitKind::Slice => Kind::Slice(profile.map(ToOwned::to_owned)),
            UnitKind::SliceClaim => Kind::Slice(None),
            UnitKind::Core => Kind::Core,
        };
        return Some(Units { device: unit.device.clone(), kind, family: unit.family.clone() });
    }
    let kind = match class(resource) {
        Class::Device => Kind::Whole,
        Class::Slice | Class::Share => Kind::Other,
        Class::Property | Class::Fabric | Class::Monitoring | Class::None | Class::Other => return None,
    };
    Some(Units { device: resource.into(), kind, family: None })
}

/// What part of a device one unit is on nodes of which this is known. Where that leaves several parts,
/// the largest: a row is never fewer than what is asked for.
pub(super) fn share(kind: &Kind, nodes: &Pinned, divided: bool) -> Share {
    let models = nodes.models.as_deref().unwrap_or_default();
    let replicas = || match nodes.replicas {
        Some(replicas) => Share::part(1, replicas),
        None => Share::open("by how many pods a device is shared is not known"),
    };
    match kind {
        Kind::Whole => {
            let whole = match &nodes.profile {
                Some(profile) => slice(profile, models),
                None if divided => Share::open("into which MIG slices devices are divided is not known"),
                None => Share::WHOLE,
            };
            if nodes.shared { whole.of(&replicas()) } else { whole }
        }
        Kind::Shared => match &nodes.profile {
            Some(profile) => slice(profile, models).of(&replicas()),
            None => replicas(),
        },
        Kind::Slice(Some(profile)) => slice(profile, models),
        Kind::Slice(None) => Share::open("the MIG profile of a claim is not known"),
        Kind::Core => {
            let cores = models.iter().filter_map(|model| model.cores).min();
            cores.map_or_else(
                || Share::open("how many Neuron cores a device has is not known"),
                |cores| Share::part(1, cores),
            )
        }
        Kind::Part(part) => part.clone(),
        Kind::Memory(asked, floor) => {
            let memory = nodes.memory.or_else(|| memory(models));
            match memory {
                Some(memory) => Share::part(*asked, memory).max(floor.clone()),
                None => Share::open("how much memory a device has is not known").max(floor.clone()),
            }
        }
        Kind::Other => Share::open("what part of a device it is is not known"),
    }
}

/// The least memory among models; none if it is not known of each.
fn memory(models: &[&Model]) -> Option<u64> {
    // Entries that stand for a whole family state none.
    let exact = models.iter().filter(|model| model.exact().is_some());
    let memories: Option<Vec<u64>> = exact.map(|model| model.memory).collect();
    memories?.into_iter().min()
}

/// What part of a device a MIG slice is: its compute slices among those of the device.
fn slice(profile: &str, models: &[&'static Model]) -> Share {
    // `1g.10gb.me` has the media engines besides, and is written with a plus in labels.
    let plain = profile.split_once(['+']).map_or(profile, |(plain, _)| plain);
    let plain = plain.strip_suffix(".me").unwrap_or(plain);
    let unknown = || Share::open(format!("the MIG profile `{profile}` is not known"));
    let Some(asked) = plain.split_once('g').and_then(|(slices, _)| slices.parse::<u64>().ok()) else {
        return unknown();
    };
    let known = tables::with_profile(plain)
        .filter(|(model, _)| models.is_empty() || models.iter().any(|other| other.model == model.model));
    let known = known.map(|(_, geometry)| geometry.slices);
    let slices = known.chain(models.iter().filter_map(|model| Some(tables::geometry(model)?.slices))).min();
    match slices {
        Some(slices) if asked <= slices => Share::part(asked, slices),
        _ => unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(model: &str) -> Pinned {
        Pinned { models: Some(vec![tables::model(model).expect("a model")]), ..Pinned::default() }
    }

    fn on(resource: &str, nodes: &Pinned) -> Share {
        share(&units(resource).expect("a device").kind, nodes, false)
    }

    #[test]
    fn devices_of_each_vendor_are_whole() {
        for resource in [
            "nvidia.com/gpu",
            "amd.com/gpu",
            "gpu.intel.com/i915",
            "habana.ai/gaudi",
            "google.com/tpu",
            "aws.amazon.com/neuron",
            "aws.amazon.com/neurondevice",
            "gpu.nvidia.com",
            "huawei.com/Ascend910B",
        ] {
            assert_eq!(on(resource, &Pinned::default()), Share::WHOLE, "{resource}");
        }
        for resource in ["vpc.amazonaws.com/efa", "nvidia.com/gpumem", "example.org/widget", "cpu"] {
            assert!(units(resource).is_none(), "{resource}");
        }
    }

    #[test]
    fn a_mig_slice_is_its_compute_slices() {
        assert_eq!(on("nvidia.com/mig-3g.40gb", &nodes("NVIDIA-H100-80GB-HBM3")), Share::part(3, 7));
        assert_eq!(on("nvidia.com/mig-2g.12gb", &nodes("NVIDIA-A30")), Share::part(2, 4));
        assert_eq!(on("nvidia.com/mig-1g.6gb", &Pinned::default()), Share::part(1, 4));
        // 1g.24gb is a seventh of an H100 NVL and a quarter of an RTX PRO 6000: the larger.
        assert_eq!(on("nvidia.com/mig-1g.24gb", &Pinned::default()), Share::part(1, 4));
        assert_eq!(on("nvidia.com/mig-1g.10gb.me", &Pinned::default()), Share::part(1, 7));
        let unknown = Share::open("the MIG profile `9x` is not known");
        assert_eq!(on("nvidia.com/mig-9x", &Pinned::default()), unknown);
        assert_eq!(
            on("mig.nvidia.com", &nodes("NVIDIA-H200")),
            Share::open("the MIG profile of a claim is not known")
        );
    }

    #[test]
    fn nodes_may_divide_whole_devices() {
        let single = Pinned { profile: Some("1g.10gb".into()), ..nodes("NVIDIA-A100-SXM4-80GB") };
        assert_eq!(on("nvidia.com/gpu", &single), Share::part(1, 7));
        let shared = Pinned { shared: true, replicas: Some(10), ..nodes("NVIDIA-L4") };
        assert_eq!(on("nvidia.com/gpu", &shared), Share::part(1, 10));
        // Three pods on each seventh.
        let both = Pinned { shared: true, replicas: Some(3), ..single };
        assert_eq!(on("nvidia.com/gpu", &both), Share::part(1, 21));
        let open = Share::open("by how many pods a device is shared is not known");
        assert_eq!(on("nvidia.com/gpu", &Pinned { replicas: None, ..shared }), open);
        assert_eq!(on("nvidia.com/gpu.shared", &nodes("NVIDIA-L4")), open);
        assert_eq!(
            share(&Kind::Whole, &nodes("NVIDIA-A30"), true),
            Share::open("into which MIG slices devices are divided is not known")
        );
    }

    #[test]
    fn a_neuron_core_is_a_part_of_its_device() {
        assert_eq!(on("aws.amazon.com/neuroncore", &nodes("Trainium2")), Share::part(1, 8));
        assert_eq!(on("aws.amazon.com/neuroncore", &nodes("Inferentia2")), Share::part(1, 2));
        assert_eq!(
            on("aws.amazon.com/neuroncore", &Pinned::default()),
            Share::open("how many Neuron cores a device has is not known")
        );
    }

    #[test]
    fn memory_is_a_part_of_the_model_s() {
        let kind = Kind::Memory(40_960, Share::part(1, 10));
        assert_eq!(share(&kind, &nodes("NVIDIA-A100-SXM4-80GB"), false), Share::part(1, 2));
        let small = Kind::Memory(1024, Share::part(1, 10));
        assert_eq!(share(&small, &nodes("NVIDIA-A100-SXM4-80GB"), false), Share::part(1, 10));
        let unknown = Share::open("how much memory a device has is not known").max(Share::part(1, 10));
        assert_eq!(share(&small, &Pinned::default(), false), unknown);
    }
}
