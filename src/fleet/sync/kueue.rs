//! Kueue's queues: which team submits to which, and whether the nodes have what the queues promise.

use std::collections::BTreeSet;

use super::input::{Input, Log, objects};
use crate::accelerators::Fits;
use crate::fleet::file::Accelerator;
use crate::fleet::peek::text;
use crate::fleet::promises::{KUEUE, Promises};

/// What Kueue's objects of one cluster say.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Namespace and name of local queues.
    pub(super) queues: BTreeSet<(String, String)>,
    promises: Promises,
}

/// Reads the queues and flavours of one cluster.
pub(super) fn read(inputs: &[&Input], log: &mut Log) -> Found {
    let mut found = Found::default();
    let kinds = [(KUEUE, "ClusterQueue"), (KUEUE, "LocalQueue"), (KUEUE, "ResourceFlavor")];
    for input in inputs {
        for item in objects(input, &kinds, log) {
            let name = item.name().unwrap_or_default();
            match text(&item.value, &["kind"]) {
                Some("LocalQueue") => {
                    let namespace = text(&item.value, &["metadata", "namespace"]).unwrap_or_default();
                    found.queues.insert((namespace.to_owned(), name.to_owned()));
                }
                Some("ResourceFlavor") => found.promises.flavor(name, &item.value),
                _ => {
                    for (flavor, resource) in found.promises.queue(&item.value) {
                        let message = format!(
                            "ClusterQueue `{name}`: the `nominalQuota` of `{resource}` in flavour `{flavor}` is no quantity that can be"
                        );
                        let place = item.at.key("spec").key("resourceGroups");
                        log.problem(input, &place, "quantity", message, "write a whole number, such as `8`");
                    }
                }
            }
        }
    }
    found
}

impl Found {
    /// The node labels by which flavours select, which pools keep.
    pub(super) fn label_keys(&self) -> BTreeSet<String> {
        self.promises.flavors.values().flat_map(|labels| labels.keys().cloned()).collect()
    }

    /// Says where queues promise what the pools do not have.
    pub(super) fn compare(&self, cluster: &str, pools: &[Accelerator], log: &mut Log) {
        for ((flavor, resource), promised) in &self.promises.nominal {
            let mut has = Some(0_u64);
            let (mut any, mut open) = (false, false);
            for pool in pools.iter().filter(|pool| pool.resource == *resource) {
                let label = |key: &str| pool.node_labels.get(key).map(String::as_str);
                match self.promises.selects(flavor, label) {
                    Fits::Yes => {
                        any = true;
                        let units = pool.nodes.map(|nodes| u64::from(nodes) * u64::from(pool.per_node));
                        has = has.zip(units).map(|(sum, units)| sum + units);
                    }
                    Fits::Unknown => open = true,
                    Fits::No => {}
                }
            }
            let what = match has {
                _ if !self.promises.flavors.contains_key(flavor) => {
                    "which has no ResourceFlavor here".to_owned()
                }
                _ if open => continue,
                _ if !any => "of which there is no node".to_owned(),
                Some(has) if has < *promised => format!("whose nodes have {has}"),
                _ => continue,
            };
            log.remark(format!(
                "cluster `{cluster}`: queues promise {promised} of `{resource}` in flavour `{flavor}`, {what}"
            ));
        }
    }
}
