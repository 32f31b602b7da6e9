//! Which resource names count, and as what.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::manifest;

/// What a unit of a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A whole device.
    Device,
    /// A hardware partition of a device.
    Slice,
    /// A share of a device in time or memory.
    Share,
    /// A property of each share, no number of devices.
    Property,
    /// A network interface that goes with devices.
    Fabric,
    /// Sees devices without taking any.
    Monitoring,
    /// No device at all.
    None,
    /// An extended resource of which nothing is known.
    Other,
}

impl Class {
    /// The word in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Slice => "slice",
            Self::Share => "share",
            Self::Property => "property",
            Self::Fabric => "fabric",
            Self::Monitoring => "monitoring",
            Self::None => "none",
            Self::Other => "other",
        }
    }

    /// Whether units of it are demanded: properties, observers and what is no device are not.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Device | Self::Slice | Self::Share | Self::Fabric | Self::Other)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    resources: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    class: Class,
}

static RESOURCES: LazyLock<File> =
    LazyLock::new(|| manifest::typed(include_str!("resources.yaml")).unwrap_or_default());

/// The class of a resource or device class; [`Class::Other`] for names that the table does not have.
pub fn class(name: &str) -> Class {
    let entry = RESOURCES.resources.iter().find(|entry| matches(&entry.name, name));
    entry.map_or(Class::Other, |entry| entry.class)
}

/// The names of devices and parts of devices in the table, up to a `*` in them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let devices = RESOURCES
        .resources
        .iter()
        .filter(|entry| matches!(entry.class, Class::Device | Class::Slice | Class::Share));
    devices.filter_map(|entry| entry.name.split('*').next())
}

/// Whether a resource name is one that devices can have: `IsExtendedResourceName` of
/// kubernetes/kubernetes `pkg/apis/core/v1/helper/helpers.go`, and besides the names of device
/// classes, which that function does not cover, and the name that GPUs had before.
pub fn is_extended(name: &str) -> bool {
    name.starts_with(DEVICE_CLASS)
        || name == "alpha.kubernetes.io/nvidia-gpu"
        || (name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests."))
}

/// `deviceclass.resource.kubernetes.io/<class>` as a resource asks for a device of a class.
pub(super) const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// Whether a name is the pattern, in which one `*` stands for anything.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.strip_prefix(before).is_some_and(|rest| rest.len() >= after.len() && rest.ends_with(after))
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_class() {
        for (name, expected) in [
            ("nvidia.com/gpu", Class::Device),
            ("nvidia.com/gpu.shared", Class::Share),
            ("nvidia.com/mig-3g.40gb", Class::Slice),
            ("nvidia.com/gpumem-percentage", Class::Property),
            ("gpu.intel.com/i915", Class::Device),
            ("gpu.intel.com/i915_monitoring", Class::Monitoring),
            ("gpu.intel.com/xe_monitoring", Class::Monitoring),
            ("huawei.com/Ascend910B-memory", Class::Property),
            ("huawei.com/Ascend910B", Class::Device),
            ("rdma/roce_gdr", Class::Fabric),
            ("compute-domain-default-channel.nvidia.com", Class::None),
            ("example.org/widget", Class::Other),
        ] {
            assert_eq!(class(name), expected, "{name}");
        }
    }

    #[test]
    fn extended_resources_have_a_domain_that_is_not_the_clusters_own() {
        for name in ["nvidia.com/gpu", "rdma/ib", "deviceclass.resource.kubernetes.io/gpu.nvidia.com"] {
            assert!(is_extended(name), "{name}");
        }
        for name in ["cpu", "memory", "hugepages-2Mi", "requests.nvidia.com/gpu", "pods.kubernetes.io/x"] {
            assert!(!is_extended(name), "{name}");
        }
    }
}
