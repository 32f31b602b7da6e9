//! What Kueue's queues promise: nominal quota by flavour and resource, the sum of all queues.

use std::collections::BTreeMap;

use super::peek::{at, items, strings, text};
use crate::accelerators::{Fits, class, is_extended};
use crate::manifest::quantity::Quantity;
use crate::model::Value;

/// The group of Kueue's kinds.
pub(super) const KUEUE: &str = "kueue.x-k8s.io";

/// Flavours and what queues promise of them.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Labels of the nodes of each flavour.
    pub(super) flavors: BTreeMap<String, BTreeMap<String, String>>,
    /// By flavour and resource; accelerators only.
    pub(super) nominal: BTreeMap<(String, String), u64>,
}

impl Promises {
    /// Adds a `ResourceFlavor`.
    pub(super) fn flavor(&mut self, name: &str, flavor: &Value) {
        self.flavors.insert(name.to_owned(), strings(flavor, &["spec", "nodeLabels"]));
    }

    /// Adds the quota of a `ClusterQueue`; returns flavour and resource of quota that is no quantity.
    pub(super) fn queue(&mut self, queue: &Value) -> Vec<(String, String)> {
        let mut wrong = Vec::new();
        let groups = items(queue, &["spec", "resourceGroups"]);
        for flavor in groups.flat_map(|group| items(group, &["flavors"])) {
            for resource in items(flavor, &["resources"]) {
                let word = |value, key| text(value, &[key]).unwrap_or_default().to_owned();
                let key = (word(flavor, "name"), word(resource, "name"));
                let quota = at(resource, &["nominalQuota"]).map(Quantity::from_value);
                let counts = is_extended(&key.1) && class(&key.1).counts();
                match quota {
                    Some(Ok(_)) if !counts => {}
                    Some(Ok(quota)) if quota.to_count().is_ok() => {
                        let sum = self.nominal.entry(key).or_default();
                        *sum = sum.saturating_add(quota.to_count().unwrap_or_default());
                    }
                    _ => wrong.push(key),
                }
            }
        }
        wrong
    }

    /// Whether nodes with these labels are of a flavour; unknown where a label is not stated, or where
    /// there is no such flavour.
    pub(super) fn selects<'l>(&self, flavor: &str, label: impl Fn(&str) -> Option<&'l str>) -> Fits {
        let Some(labels) = self.flavors.get(flavor) else { return Fits::Unknown };
        let mut selects = Fits::Yes;
        for (key, value) in labels {
            match label(key) {
                Some(own) if own == value => {}
                Some(_) => return Fits::No,
                None => selects = Fits::Unknown,
            }
        }
        selects
    }
}
