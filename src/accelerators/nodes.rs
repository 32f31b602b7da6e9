//! What labels and resources of nodes say about the accelerators in them, for whoever describes the
//! nodes of a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::resources::{Class, class};
use super::tables;

/// The family of a node's devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeFamily {
    /// Its labels mean one family.
    Known(Arc<str>),
    /// Its labels mean one of several families, or contradict each other.
    OneOf(BTreeSet<Arc<str>>),
    /// Its labels name a model that the tables do not have (label and value), or none at all.
    Unknown(Option<(String, String)>),
}

/// A machine type of a cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineType {
    /// Family of its devices.
    pub family: Arc<str>,
    /// The resource by which pods ask for them.
    pub resource: Arc<str>,
    /// Devices of one machine.
    pub devices: u64,
}

/// The family of a node's `resource`, from its labels.
pub fn node_family(labels: &BTreeMap<String, String>, resource: &str) -> NodeFamily {
    let device = tables::unit(resource).map(|(unit, _)| &*unit.device);
    let mut families: Option<BTreeSet<Arc<str>>> = None;
    let mut all = BTreeSet::new();
    let mut unknown = None;
    for (key, value) in labels {
        let Some(named) = tables::named(key, value) else { continue };
        // A node has devices of one vendor; a label of another says nothing about this resource.
        let fits = |model: &&&tables::Model| device.is_none_or(|device| *model.resource == *device);
        let found: BTreeSet<_> = named.models.iter().filter(fits).map(|model| model.family.clone()).collect();
        if found.is_empty() {
            // A machine type that nobody listed is no model.
            if named.models.is_empty() && !tables::is_machine_key(key) {
                unknown = unknown.or_else(|| Some((key.clone(), value.clone())));
            }
            continue;
        }
        all.extend(found.iter().cloned());
        families = Some(match families {
            Some(before) => before.intersection(&found).cloned().collect(),
            None => found,
        });
    }
    match families {
        None => NodeFamily::Unknown(unknown),
        Some(found) if found.is_empty() => NodeFamily::OneOf(all),
        Some(found) => match (found.len(), found.first()) {
            (1, Some(only)) => NodeFamily::Known(only.clone()),
            _ => NodeFamily::OneOf(found),
        },
    }
}

/// How nodes with these labels are bought, if one of them says so: `on-demand`, `spot`, `reserved`,
/// `flex`. A reservation is bought on demand, too; then the narrower word counts.
pub fn node_capacity_type(labels: &BTreeMap<String, String>) -> Option<Arc<str>> {
    let said: BTreeSet<_> = labels.iter().filter_map(|(key, value)| tables::capacity(key, value)).collect();
    let mut narrow = said.iter().filter(|word| ****word != *"on-demand");
    match (narrow.next(), narrow.next()) {
        (Some(only), None) => Some(Arc::clone(only)),
        (None, _) => said.first().map(|only| Arc::clone(only)),
        (Some(_), Some(_)) => None,
    }
}

/// How a device of such a node is shared (`mig`, `time-slicing`, `mps`), if it is.
pub fn node_sharing(labels: &BTreeMap<String, String>, resource: &str) -> Option<&'static str> {
    let named = labels.iter().filter_map(|(key, value)| tables::named(key, value));
    let by_name = named.fold((false, false), |(slices, shared), named| {
        (slices || named.profile.is_some(), shared || named.shared)
    });
    let sliced = by_name.0
        || class(resource) == Class::Slice && resource.starts_with("nvidia.com/mig-")
        || labels.keys().any(|key| tables::is_slices_key(key));
    let several = |(key, value): (&String, &String)| {
        tables::is_shares_key(key) && value.parse::<u64>().is_ok_and(|shares| shares > 1)
    };
    let shared = by_name.1 || labels.iter().any(several) || resource.ends_with(".shared");
    let strategy = ["nvidia.com/gpu.sharing-strategy", "cloud.google.com/gke-gpu-sharing-strategy"];
    let mps = strategy.iter().any(|key| labels.get(*key).is_some_and(|value| value == "mps"));
    match (sliced, shared, mps) {
        (true, ..) => Some("mig"),
        (false, _, true) => Some("mps"),
        (false, true, false) => Some("time-slicing"),
        (false, false, false) => None,
    }
}

/// Whether a node label says something about accelerators or about how nodes are bought, so that
/// pods select by it.
pub fn is_accelerator_label(key: &str) -> bool {
    tables::is_model_key(key)
        || tables::is_shares_key(key)
        || tables::is_slices_key(key)
        || tables::is_capacity_key(key)
}

/// The machine types that the tables have, sorted by name.
pub fn machine_types() -> impl Iterator<Item = (&'static str, MachineType)> {
    tables::machines().filter_map(|(name, machine)| {
        let model = tables::model(&machine.model)?;
        let (family, resource) = (model.family.clone(), model.resource.clone());
        Some((name, MachineType { family, resource, devices: machine.devices }))
    })
}
