//! Kueue's queues: which team submits to which, and whether the nodes have what the queues promise.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{Input, Item, Log, objects};
use crate::fleet::file::Accelerator;
use crate::fleet::peek::{at, items, strings, text};
use crate::manifest::quantity::Quantity;

/// What Kueue's objects of one cluster say.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Local queues, with the namespace of each and the file that names it.
    pub(super) queues: BTreeSet<(String, String)>,
    /// Labels of the nodes of each flavour.
    flavors: BTreeMap<String, BTreeMap<String, String>>,
    /// Nominal quota by flavour and resource, the sum of all queues.
    promised: BTreeMap<(String, String), u64>,
}

const KUEUE: &str = "kueue.x-k8s.io";

/// Reads the queues and flavours of one cluster.
pub(super) fn read(inputs: &[&Input], log: &mut Log) -> Found {
    let mut found = Found::default();
    let kinds = [(KUEUE, "ClusterQueue"), (KUEUE, "LocalQueue"), (KUEUE, "ResourceFlavor")];
    for input in inputs {
        for item in objects(input, &kinds, log) {
            let name = item.name().unwrap_or_default().to_owned();
            match text(&item.value, &["kind"]) {
                Some("LocalQueue") => {
                    let namespace = text(&item.value, &["metadata", "namespace"]).unwrap_or_default();
                    found.queues.insert((namespace.to_owned(), name));
                }
                Some("ResourceFlavor") => {
                    found.flavors.insert(name, strings(&item.value, &["spec", "nodeLabels"]));
                }
                _ => found.cluster_queue(input, &item, &name, log),
            }
        }
    }
    found
}

impl Found {
    /// Adds the nominal quota of a queue to that of others.
    fn cluster_queue(&mut self, input: &Input, item: &Item, name: &str, log: &mut Log) {
        let groups = items(&item.value, &["spec", "resourceGroups"]);
        for flavor in groups.flat_map(|group| items(group, &["flavors"])) {
            for resource in items(flavor, &["resources"]) {
                let word = |value, key| text(value, &[key]).unwrap_or_default().to_owned();
                let key = (word(flavor, "name"), word(resource, "name"));
                let quota = at(resource, &["nominalQuota"]).map(Quantity::from_value);
                if let Some(Ok(quota)) = quota {
                    // CPU and memory may be fractions; they are not compared.
                    let sum = self.promised.entry(key).or_default();
                    *sum = sum.saturating_add(quota.to_count().unwrap_or_default());
                } else {
                    let (flavor, resource) = key;
                    let message = format!(
                        "ClusterQueue `{name}`: the `nominalQuota` of `{resource}` in flavour `{flavor}` is no quantity"
                    );
                    let place = item.at.key("spec").key("resourceGroups");
                    log.problem(input, &place, "quantity", message, "write a number, such as `8`");
                }
            }
        }
    }

    /// The node labels by which flavours select, which pools keep.
    pub(super) fn label_keys(&self) -> BTreeSet<String> {
        self.flavors.values().flat_map(|labels| labels.keys().cloned()).collect()
    }

    /// Says where queues promise what the pools do not have.
    pub(super) fn compare(&self, cluster: &str, pools: &[Accelerator], log: &mut Log) {
        for ((flavor, resource), promised) in &self.promised {
            if !crate::accelerators::class(resource).counts() || !crate::accelerators::is_extended(resource) {
                continue;
            }
            let Some(labels) = self.flavors.get(flavor) else {
                log.remark(format!("cluster `{cluster}`: a queue has the flavour `{flavor}`, of which there is no ResourceFlavor here"));
                continue;
            };
            let of_flavor = |pool: &&Accelerator| {
                pool.resource == *resource
                    && labels
                        .iter()
                        .all(|(key, value)| pool.node_labels.get(key).is_none_or(|own| own == value))
            };
            let mut has = Some(0_u64);
            let mut any = false;
            for pool in pools.iter().filter(of_flavor) {
                any = true;
                let units = pool.nodes.map(|nodes| u64::from(nodes) * u64::from(pool.per_node));
                has = has.zip(units).map(|(sum, units)| sum + units);
            }
            if !any {
                log.remark(format!("cluster `{cluster}`: flavour `{flavor}` promises {promised} of `{resource}`, and no node is of that flavour"));
            } else if let Some(has) = has.filter(|has| has < promised) {
                log.remark(format!("cluster `{cluster}`: flavour `{flavor}` promises {promised} of `{resource}`, and its nodes have {has}"));
            }
        }
    }
}
