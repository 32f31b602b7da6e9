//! What is known about accelerators in the world: models and the node labels that mean them, machine
//! types, MIG geometries, TPU slices. Dated data files; nothing here knows a cluster.

mod load;

use std::collections::BTreeSet;
use std::sync::Arc;

use load::TABLES;
pub(super) use load::{Geometry, Machine, Model, Slices, Unit, UnitKind};

use super::resources::matches;

/// What the value of a node label says about devices.
#[derive(Debug, Default, Clone)]
pub(super) struct Named {
    /// The models that it may mean; none: the table does not have the value.
    pub(super) models: Vec<&'static Model>,
    /// The MIG profile into which the devices are divided.
    pub(super) profile: Option<String>,
    /// Whether the devices are shared in time.
    pub(super) shared: bool,
}

impl Model {
    /// The name of a model, if it is one; the entry may stand for all models of its family.
    pub(super) fn exact(&self) -> Option<&Arc<str>> {
        (self.model != self.family).then_some(&self.model)
    }

    fn column(&self, column: &str) -> &[Arc<str>] {
        match column {
            "aws" => &self.aws,
            "azure" => &self.azure,
            "gke" => &self.gke,
            _ => &self.product,
        }
    }
}

/// What a node label says about devices; `None` if it is no label of the tables.
pub(super) fn named(key: &str, value: &str) -> Option<Named> {
    if is_machine_key(key) {
        let models = machine(value).and_then(|machine| model(&machine.model)).into_iter().collect();
        return Some(Named { models, ..Named::default() });
    }
    let column = TABLES.labels.models.get(key)?;
    if column == "tpu" {
        let family = TABLES.tpu.accelerators.get(value).map(|slices| &slices.family);
        let models = family.into_iter().flat_map(|name| self::family(name)).collect();
        return Some(Named { models, ..Named::default() });
    }
    if column != "product" {
        let means = |model: &&Model| model.column(column).iter().any(|known| **known == *value);
        let models = TABLES.models.models.iter().filter(means).collect();
        return Some(Named { models, ..Named::default() });
    }
    let (value, shared) = value.strip_suffix("-SHARED").map_or((value, false), |value| (value, true));
    let (value, profile) = match value.split_once("-MIG-") {
        Some((value, profile)) => (value, Some(profile.to_owned())),
        None => (value, None),
    };
    Some(Named { models: products(value), profile, shared })
}

/// The models of a product name: those that have it, or else those with a pattern for it.
fn products(value: &str) -> Vec<&'static Model> {
    let all = &TABLES.models.models;
    let exact = |model: &&Model| *model.model == *value || model.product.iter().any(|name| **name == *value);
    let found: Vec<_> = all.iter().filter(exact).collect();
    if !found.is_empty() {
        return found;
    }
    all.iter().filter(|model| model.product.iter().any(|pattern| matches(pattern, value))).collect()
}

/// Whether the label's value is a machine type.
pub(super) fn is_machine_key(key: &str) -> bool {
    TABLES.labels.machines.iter().any(|known| *known == key)
}

/// Whether the label's value names a model or a machine type.
pub(super) fn is_model_key(key: &str) -> bool {
    is_machine_key(key) || TABLES.labels.models.contains_key(key)
}

/// Whether the label says how nodes are bought.
pub(super) fn is_capacity_key(key: &str) -> bool {
    TABLES.labels.capacity.contains_key(key)
}

/// The model of a name.
pub(super) fn model(name: &str) -> Option<&'static Model> {
    TABLES.models.models.iter().find(|model| *model.model == *name)
}

/// The models of a family, whatever the case and the hyphens of its name.
pub(super) fn family(name: &str) -> impl Iterator<Item = &'static Model> + '_ {
    TABLES.models.models.iter().filter(move |model| same_family(&model.family, name))
}

/// The names of all families.
pub(super) fn families() -> BTreeSet<&'static str> {
    TABLES.models.models.iter().map(|model| &*model.family).collect()
}

/// Whether two names mean one family: `Trainium2` and `trainium-2` do.
pub(super) fn same_family(one: &str, other: &str) -> bool {
    fn plain(name: &str) -> impl Iterator<Item = u8> + '_ {
        name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
    }
    plain(one).eq(plain(other))
}

/// A machine type. Upper and lower case are one, as Azure has it.
pub(super) fn machine(name: &str) -> Option<&'static Machine> {
    let found = TABLES.instances.instances.iter();
    found.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, machine)| machine)
}

/// All machine types, sorted by name.
pub(super) fn machines() -> impl Iterator<Item = (&'static str, &'static Machine)> {
    TABLES.instances.instances.iter().map(|(name, machine)| (name.as_str(), machine))
}

/// What a unit of a resource is, and its MIG profile if the name has one.
pub(super) fn unit(resource: &str) -> Option<(&'static Unit, Option<&str>)> {
    let unit = TABLES.units.units.iter().find(|unit| matches(&unit.name, resource))?;
    let profile = match (unit.unit, unit.name.split_once('*')) {
        (UnitKind::Slice, Some((before, after))) => {
            resource.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))
        }
        _ => None,
    };
    Some((unit, profile))
}

/// The MIG geometry of a model.
pub(super) fn geometry(model: &Model) -> Option<&'static Geometry> {
    TABLES.mig.geometries.get(&**model.mig.as_ref()?)
}

/// The TPU slices of a family.
pub(super) fn slices(family: &str) -> Option<&'static Slices> {
    TABLES.tpu.accelerators.values().find(|slices| same_family(&slices.family, family))
}

/// The geometries that have a profile, with the models that have them.
pub(super) fn with_profile(profile: &str) -> impl Iterator<Item = (&'static Model, &'static Geometry)> {
    let has = move |model: &'static Model| {
        let geometry = geometry(model)?;
        geometry.profiles.contains_key(profile).then_some((model, geometry))
    };
    TABLES.models.models.iter().filter_map(has)
}

/// The capacity type that a node label means.
pub(super) fn capacity(key: &str, value: &str) -> Option<&'static Arc<str>> {
    let values = TABLES.labels.capacity.get(key)?;
    values.get(value).or_else(|| values.get("*"))
}

/// Whether the label says into how many shares a device is divided.
pub(super) fn is_shares_key(key: &str) -> bool {
    TABLES.labels.shares.iter().any(|known| *known == key)
}

/// Whether the label's value is a MIG profile.
pub(super) fn is_slices_key(key: &str) -> bool {
    TABLES.labels.slices.iter().any(|known| *known == key)
}

/// The only cloud whose nodes carry a label.
pub(super) fn cloud_of(key: &str) -> Option<&'static str> {
    let found = TABLES.labels.clouds.iter().find(|(prefix, _)| key.starts_with(prefix.as_str()));
    found.map(|(_, cloud)| cloud.as_str())
}

/// Whether every node may have some value of this label that nobody lists.
pub(super) fn is_anywhere(key: &str) -> bool {
    TABLES.labels.anywhere.iter().any(|prefix| key.starts_with(prefix.as_str()))
}

/// The cloud that a fleet file means by a provider.
pub(super) fn cloud(provider: &str) -> Option<&'static str> {
    match provider.to_ascii_lowercase().as_str() {
        "aws" | "amazon" | "eks" => Some("aws"),
        "gcp" | "google" | "gke" => Some("gcp"),
        "azure" | "microsoft" | "aks" => Some("azure"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
