//! The data files as they are written.
#![expect(clippy::struct_field_names, reason = "the fields are the keys of the files")]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::manifest;

/// Everything; empty where a file cannot be read, which a test rules out.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) models: Models,
    pub(super) instances: Instances,
    pub(super) mig: Mig,
    pub(super) tpu: Tpu,
    pub(super) units: Units,
    pub(super) labels: Labels,
}

pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    models: manifest::typed(MODELS).unwrap_or_default(),
    instances: manifest::typed(INSTANCES).unwrap_or_default(),
    mig: manifest::typed(MIG).unwrap_or_default(),
    tpu: manifest::typed(TPU).unwrap_or_default(),
    units: manifest::typed(UNITS).unwrap_or_default(),
    labels: manifest::typed(LABELS).unwrap_or_default(),
});

pub(super) const MODELS: &str = include_str!("models.yaml");
pub(super) const INSTANCES: &str = include_str!("instances.yaml");
pub(super) const MIG: &str = include_str!("mig.yaml");
pub(super) const TPU: &str = include_str!("tpu.yaml");
pub(super) const UNITS: &str = include_str!("units.yaml");
pub(super) const LABELS: &str = include_str!("labels.yaml");

/// `models.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Models {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) models: Vec<Model>,
}

/// One accelerator model, or all that is known of a family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Model {
    pub(in super::super) model: Arc<str>,
    pub(in super::super) family: Arc<str>,
    /// The resource by which whole devices are asked for.
    pub(in super::super) resource: Arc<str>,
    /// MiB of a device.
    #[serde(default)]
    pub(in super::super) memory: Option<u64>,
    /// Neuron cores of a device.
    #[serde(default)]
    pub(in super::super) cores: Option<u64>,
    /// Name of its MIG geometry.
    #[serde(default)]
    pub(super) mig: Option<Arc<str>>,
    #[serde(default)]
    pub(super) product: Vec<Arc<str>>,
    #[serde(default)]
    pub(super) gke: Vec<Arc<str>>,
    #[serde(default)]
    pub(super) aws: Vec<Arc<str>>,
    #[serde(default)]
    pub(super) azure: Vec<Arc<str>>,
}

/// `instances.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instances {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) instances: BTreeMap<String, Machine>,
}

/// A machine type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Machine {
    pub(in super::super) model: Arc<str>,
    /// Devices of one machine.
    pub(in super::super) devices: u64,
    /// Interfaces of the resource `vpc.amazonaws.com/efa`.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "for the rules, which read the same file"))]
    pub(super) efa: u64,
}

/// `mig.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mig {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) geometries: BTreeMap<String, Geometry>,
}

/// How a device can be divided.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Geometry {
    /// Compute slices of the device.
    pub(in super::super) slices: u64,
    /// Most instances of each profile.
    pub(in super::super) profiles: BTreeMap<String, u64>,
}

/// `tpu.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tpu {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) accelerators: BTreeMap<String, Slices>,
}

/// Slices of one generation, as a label of their nodes names it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Slices {
    pub(super) family: Arc<str>,
    /// How many sides a topology has.
    pub(in super::super) dimensions: usize,
    /// Chips that one host can have.
    #[cfg_attr(not(test), expect(dead_code, reason = "several, so that nothing follows from them"))]
    pub(super) hosts: Vec<u64>,
    /// Topologies that the documentation lists.
    #[cfg_attr(not(test), expect(dead_code, reason = "there are more, so that nothing follows from them"))]
    pub(super) topologies: Vec<String>,
}

/// `units.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Units {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) units: Vec<Unit>,
}

/// What one unit of a resource is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Unit {
    pub(super) name: String,
    pub(in super::super) device: Arc<str>,
    pub(in super::super) unit: UnitKind,
    #[serde(default)]
    pub(in super::super) family: Option<Arc<str>>,
}

/// What part of a device a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum UnitKind {
    Whole,
    Shared,
    Slice,
    SliceClaim,
    Hami,
    Core,
}

/// `labels.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Labels {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    pub(super) models: BTreeMap<String, String>,
    pub(super) machines: Vec<String>,
    pub(super) shares: Vec<String>,
    pub(super) slices: Vec<String>,
    pub(super) capacity: BTreeMap<String, BTreeMap<String, Arc<str>>>,
    pub(super) clouds: BTreeMap<String, String>,
    pub(super) anywhere: Vec<String>,
}
