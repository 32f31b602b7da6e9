//! The pod that the scheduler sees: the spec as written with what its queue, its cluster and its cloud
//! add to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::pod::Resources;
use super::super::quota::{Flavor, Queued};
use super::super::resources::is_extended;
use super::super::value::{self, field, fields, items};
use super::pinned::by_selectors;
use crate::manifest::quantity::Quantity;
use crate::model::{Injects, Value};

/// A queue can give flavours from several groups of resources at once; more combinations are not tried.
const MAX_VARIANTS: usize = 32;

/// What the pods of a group become.
#[derive(Debug)]
pub(super) struct Effective {
    /// With what is added in any case: the flavour too if there is only one.
    pub(super) spec: Value,
    /// One for each combination of flavours that the pod can be given; never empty.
    pub(super) variants: Vec<Value>,
}

/// The effective pods of a spec. `resources` are those that they ask for besides processors and memory;
/// `devices` the ones by which they ask for devices, whole or in parts.
pub(super) fn effective(
    spec: &Value,
    resources: &Resources,
    devices: &BTreeSet<Arc<str>>,
    injects: Option<&Injects>,
    cloud: Option<&str>,
    queue: &Queued,
) -> Effective {
    let injects = injects.filter(|it| !it.tolerations.is_empty() || !it.node_selector.is_empty());
    if devices.is_empty()
        && resources.is_empty()
        && injects.is_none()
        && !matches!(queue, Queued::Through { .. })
    {
        return Effective { spec: spec.clone(), variants: vec![spec.clone()] };
    }
    let asked = asked(spec, devices);
    let mut base = spec.clone();
    if let Some(injects) = injects
        && (injects.resources.is_empty() || injects.resources.iter().any(|name| asked.contains(name)))
    {
        add_labels(&mut base, &injects.node_selector);
        add_tolerations(&mut base, injects.tolerations.clone());
    }
    if matches!(cloud, Some("gcp" | "aws")) {
        add_tolerations(&mut base, extended(resources));
    }
    let variants: Vec<Value> = match queue {
        Queued::Through { flavors, .. } => {
            let combinations = combinations(spec, &asked, devices, flavors);
            combinations.into_iter().map(|flavors| with_flavors(&base, &flavors)).collect()
        }
        Queued::No | Queued::Unresolved { .. } => Vec::new(),
    };
    match <[Value; 1]>::try_from(variants) {
        Ok([only]) => Effective { spec: only.clone(), variants: vec![only] },
        Err(none) if none.is_empty() => Effective { spec: base.clone(), variants: vec![base] },
        Err(several) => Effective { spec: base, variants: several },
    }
}

/// The names of all resources that containers ask for more than none of, and of devices asked for in
/// other ways.
fn asked(spec: &Value, devices: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let mut names = devices.clone();
    // Every pod asks for itself.
    names.insert("pods".into());
    let lists = ["initContainers", "containers"].iter().filter_map(|key| field(spec, key)).flat_map(items);
    for resources in lists.filter_map(|container| field(container, "resources")) {
        for list in ["limits", "requests"].iter().filter_map(|key| field(resources, key)) {
            let asked = fields(list).into_iter().filter(|(_, quantity)| !is_none(quantity));
            names.extend(asked.map(|(name, _)| name.clone()));
        }
    }
    names
}

fn is_none(quantity: &Value) -> bool {
    Quantity::from_value(quantity).and_then(Quantity::to_count).is_ok_and(|n| n == 0)
}

/// What the admission plug-in `ExtendedResourceToleration` adds, which GKE and EKS run and AKS does
/// not (kubernetes/kubernetes plugin/pkg/admission/extendedresourcetoleration; Amazon EKS "platform
/// versions"; Azure/AKS#1449).
fn extended(resources: &Resources) -> Vec<Value> {
    // Names of device classes have no domain before them.
    let names = resources.keys().filter(|name| name.contains('/') && is_extended(name));
    let tolerates = |name: &Arc<str>| {
        value::object([
            ("key", Value::String(name.clone())),
            ("operator", Value::from("Exists")),
            ("effect", Value::from("NoSchedule")),
        ])
    };
    names.map(tolerates).collect()
}

/// The flavours that a pod can be given: of each group of resources of which it asks for one, a flavour
/// whose taints it tolerates and whose labels its selectors do not contradict (kubernetes-sigs/kueue
/// pkg/scheduler/flavorassigner `checkFlavorForPodSets`).
fn combinations<'f>(
    spec: &Value,
    asked: &BTreeSet<Arc<str>>,
    devices: &BTreeSet<Arc<str>>,
    flavors: &'f [Flavor],
) -> Vec<Vec<&'f Flavor>> {
    let mut groups: Vec<(&BTreeSet<Arc<str>>, Vec<&Flavor>)> = Vec::new();
    for flavor in flavors.iter().filter(|flavor| !flavor.resources.is_disjoint(asked)) {
        match groups.iter_mut().find(|(resources, _)| **resources == flavor.resources) {
            Some((_, group)) => group.push(flavor),
            None => groups.push((&flavor.resources, vec![flavor])),
        }
    }
    let mut combinations = vec![Vec::new()];
    for (resources, group) in groups {
        let mut fitting: Vec<_> = group.into_iter().filter(|flavor| flavor.refuses(spec).is_none()).collect();
        // Of flavours for devices of another kind there is no quota, so they are never given.
        let device = devices.iter().find(|device| resources.contains(*device));
        if let Some(device) = device {
            let possible: Vec<_> = fitting.iter().filter(|flavor| has(flavor, device)).copied().collect();
            fitting = if possible.is_empty() { fitting } else { possible };
        }
        combinations = (combinations.iter())
            .flat_map(|before| fitting.iter().map(|flavor| [before.as_slice(), &[*flavor]].concat()))
            .take(MAX_VARIANTS)
            .collect();
    }
    // Without any flavour there is nothing to try.
    combinations.retain(|combination| !combination.is_empty());
    combinations
}

/// Whether nodes of a flavour can have a device, as far as their labels tell.
fn has(flavor: &Flavor, device: &str) -> bool {
    let labels = flavor
        .node_labels
        .iter()
        .map(|(key, value)| (Value::String(key.clone()), Value::String(value.clone())));
    let selector: BTreeMap<Value, Value> = labels.collect();
    let pinned = by_selectors(&value::object([("nodeSelector", Value::from(selector))]));
    let own = super::units::device(device);
    pinned.models.is_none_or(|models| models.iter().any(|model| model.resource == own))
}

fn with_flavors(base: &Value, flavors: &[&Flavor]) -> Value {
    let mut spec = base.clone();
    for flavor in flavors {
        add_labels(&mut spec, &flavor.node_labels);
        add_tolerations(&mut spec, flavor.tolerations.clone());
    }
    spec
}

/// A spec with one more entry in its node selector.
pub(super) fn with_label(spec: &Value, key: &str, value: &Value) -> Value {
    let mut spec = spec.clone();
    if let Value::String(value) = value {
        add_labels(&mut spec, &BTreeMap::from([(key.into(), value.clone())]));
    }
    spec
}

/// Adds node selector entries; what the pod states itself stays.
fn add_labels(spec: &mut Value, labels: &BTreeMap<Arc<str>, Arc<str>>) {
    if labels.is_empty() {
        return;
    }
    let own = field(spec, "nodeSelector").filter(|own| matches!(own, Value::Object(_)));
    let mut selector = own.cloned().unwrap_or_else(Value::new_object);
    for (key, value) in labels {
        if field(&selector, key).is_none()
            && let Ok(fields) = selector.as_object_mut()
        {
            fields.insert(Value::String(key.clone()), Value::String(value.clone()));
        }
    }
    set(spec, "nodeSelector", selector);
}

fn add_tolerations(spec: &mut Value, more: Vec<Value>) {
    let mut tolerations: Vec<Value> =
        field(spec, "tolerations").into_iter().flat_map(items).cloned().collect();
    let before = tolerations.len();
    for toleration in more {
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    if tolerations.len() > before {
        set(spec, "tolerations", Value::from(tolerations));
    }
}

fn set(spec: &mut Value, key: &str, value: Value) {
    if let Ok(fields) = spec.as_object_mut() {
        fields.insert(Value::from(key), value);
    }
}

#[cfg(test)]
mod tests;
