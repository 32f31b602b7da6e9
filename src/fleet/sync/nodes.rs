//! `kubectl get nodes`: what a cluster has.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{Input, Item, Log, objects};
use super::options::Options;
use crate::accelerators::{
    Class, NodeFamily, class, is_accelerator_label, is_extended, node_capacity_type, node_family,
    node_sharing,
};
use crate::fleet::file::{Accelerator, Taint};
use crate::fleet::peek::{at, strings, text};
use crate::manifest::quantity::Quantity;
use crate::model::Value;

/// What nodes say about their cluster.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) pools: Vec<Accelerator>,
    pub(super) providers: BTreeSet<String>,
    pub(super) regions: BTreeSet<String>,
    /// Which Karpenter `NodePool`s made nodes of each pool, in the order of `pools`.
    pub(super) made_by: Vec<BTreeSet<String>>,
}

/// Labels by which pods select nodes, beside those that name models and capacity types.
const SELECTED_BY: [&str; 12] = [
    "node.kubernetes.io/instance-type",
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.family",
    "nvidia.com/gpu.memory",
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.sharing-strategy",
    "nvidia.com/mig.strategy",
    "cloud.google.com/gke-accelerator-count",
    "cloud.google.com/gke-gpu-sharing-strategy",
    "cloud.google.com/gke-tpu-topology",
    "kubernetes.azure.com/accelerator",
    "kubernetes.io/arch",
];

/// Beginnings of taints that come and go with the state of a node.
const PASSING: [&str; 6] = [
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "karpenter.sh/disrupt",
    "karpenter.sh/unregistered",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
];

/// Nodes that are equal in everything that matters. The order is that of the generated file.
type Group = (
    String,
    String,
    Option<String>,
    Vec<(String, String)>,
    Vec<[String; 3]>,
    Option<String>,
    Option<String>,
    u32,
);

/// Reads the nodes of one cluster. Equal nodes become one pool.
pub(super) fn read(
    cluster: &str,
    inputs: &[&Input],
    options: &Options,
    also_kept: &BTreeSet<String>,
    log: &mut Log,
) -> Found {
    let mut reader =
        Reader { cluster, options, also_kept, log, seen: BTreeSet::new(), told: BTreeMap::new() };
    let mut found = Found::default();
    let mut groups: BTreeMap<Group, (u32, BTreeSet<String>)> = BTreeMap::new();
    for input in inputs {
        for node in objects(input, &[("", "Node")], reader.log) {
            for group in reader.node(input, &node, &mut found) {
                let made_by = labels(&node).remove("karpenter.sh/nodepool");
                let entry = groups.entry(group).or_default();
                entry.0 += 1;
                entry.1.extend(made_by);
            }
        }
    }
    reader.tell();
    for ((family, resource, capacity_type, labels, taints, fabric, sharing, per_node), (nodes, made_by)) in
        groups
    {
        found.made_by.push(made_by);
        found.pools.push(Accelerator {
            family,
            resource,
            per_node,
            nodes: options.counts.then_some(nodes),
            capacity_type,
            node_labels: labels.into_iter().collect(),
            taints: taints.into_iter().filter_map(taint_of).collect(),
            fabric,
            sharing,
        });
    }
    found
}

struct Reader<'a> {
    cluster: &'a str,
    options: &'a Options,
    /// Labels by which something in the cluster selects.
    also_kept: &'a BTreeSet<String>,
    log: &'a mut Log,
    seen: BTreeSet<String>,
    /// Remarks, each with the nodes that it is about.
    told: BTreeMap<String, BTreeSet<String>>,
}

impl Reader<'_> {
    fn node(&mut self, input: &Input, node: &Item, found: &mut Found) -> Vec<Group> {
        let name = node.name().unwrap_or_default().to_owned();
        if !self.seen.insert(name.clone()) {
            let message = format!("node `{name}` of cluster `{}` is listed twice", self.cluster);
            self.log.problem(input, &node.at, "listed-twice", message, "name each list of nodes once");
            return Vec::new();
        }
        let labels = labels(node);
        found.regions.extend(labels.get("topology.kubernetes.io/region").cloned());
        found.providers.extend(text(&node.value, &["spec", "providerID"]).and_then(provider));
        let Some(Ok(allocatable)) = at(&node.value, &["status", "allocatable"]).map(Value::as_object) else {
            let message = format!("node `{name}` has no `status.allocatable`");
            let help = "write the nodes as the cluster has them, with their status";
            self.log.problem(input, &node.at, "no-allocatable", message, help);
            return Vec::new();
        };
        let mut amounts = BTreeMap::new();
        for (resource, value) in allocatable.iter() {
            let Ok(resource) = resource.as_string() else { continue };
            if !is_extended(resource) {
                continue;
            }
            let counted = Quantity::from_value(value).and_then(Quantity::to_count);
            match counted.map(u32::try_from) {
                Ok(Ok(count)) => _ = amounts.insert(resource.to_string(), count),
                other => {
                    let why = match other {
                        Err(error) => error.to_string(),
                        _ => "more than one node can have".to_owned(),
                    };
                    let message = format!("node `{name}`: `{resource}` in `status.allocatable`: {why}");
                    let place = node.at.key("status").key("allocatable").key(resource);
                    self.log.problem(
                        input,
                        &place,
                        "quantity",
                        message,
                        "a node has a whole number of devices",
                    );
                }
            }
        }
        self.groups(input, &name, node, &labels, &amounts)
    }

    fn groups(
        &mut self,
        input: &Input,
        name: &str,
        node: &Item,
        labels: &BTreeMap<String, String>,
        amounts: &BTreeMap<String, u32>,
    ) -> Vec<Group> {
        let fabrics: Vec<&String> = amounts
            .iter()
            .filter(|(name, n)| **n > 0 && class(name) == Class::Fabric)
            .map(|(name, _)| name)
            .collect();
        if fabrics.len() > 1 {
            self.tell_of(
                name,
                format!("several fabrics, of which the first is written: `{}`", join(&fabrics)),
            );
        }
        let kept = self.kept(labels);
        let taints = self.taints(input, name, node);
        let mut groups = Vec::new();
        let mut has_accelerators = false;
        for (resource, count) in amounts {
            match class(resource) {
                Class::Device | Class::Slice | Class::Share => {}
                Class::Other if *count > 0 => {
                    self.tell_of(
                        name,
                        format!("`{resource}` is no accelerator that is known here, and is left out"),
                    );
                    continue;
                }
                _ => continue,
            }
            let built = at(&node.value, &["status", "capacity"]).and_then(|map| at(map, &[resource]));
            let built = built.and_then(|value| Quantity::from_value(value).and_then(Quantity::to_count).ok());
            let built = built.and_then(|built| u32::try_from(built).ok()).unwrap_or(*count);
            // A device that failed is gone; a device plugin that is down comes back.
            let per_node = match (*count, built) {
                (0, 0) => continue,
                (0, built) => {
                    self.tell_of(
                        name,
                        format!("none of its `{resource}` can be allocated now, but it is counted"),
                    );
                    built
                }
                (count, built) => {
                    if count < built {
                        self.tell_of(name, format!("{count} of its {built} `{resource}` can be allocated"));
                    }
                    count
                }
            };
            has_accelerators = true;
            groups.push((
                self.family(name, labels, resource),
                resource.clone(),
                node_capacity_type(labels).map(|word| word.to_string()),
                kept.clone(),
                taints.clone(),
                fabrics.first().map(|name| (*name).clone()),
                node_sharing(labels, resource).map(str::to_owned),
                per_node,
            ));
        }
        if !has_accelerators && let Some((key, value)) = labels.iter().find(|(key, _)| names_a_model(key)) {
            self.tell_of(
                name,
                format!(
                    "the label `{key}: {value}`, but no resource of that kind: does the device plugin run?"
                ),
            );
        }
        groups
    }

    /// The family, or what stands for it where it is not known.
    fn family(&mut self, node: &str, labels: &BTreeMap<String, String>, resource: &str) -> String {
        let mut chosen = labels.iter().filter(|(key, _)| is_accelerator_label(key));
        if let Some(family) = chosen.find_map(|(_, value)| self.options.families.get(value)) {
            return family.clone();
        }
        match node_family(labels, resource) {
            NodeFamily::Known(family) => family.to_string(),
            NodeFamily::OneOf(families) => {
                let families: Vec<_> = families.iter().map(ToString::to_string).collect();
                self.tell_of(
                    node,
                    format!(
                        "`{resource}` may be of the families {}; `unknown` is written",
                        families.join(", ")
                    ),
                );
                "unknown".to_owned()
            }
            NodeFamily::Unknown(Some((key, value))) => {
                self.tell_of(node, format!(
                    "the model `{value}` (`{key}`) is not known and is written as its own family; `--family {value}=FAMILY` names another"
                ));
                value
            }
            NodeFamily::Unknown(None) => {
                self.tell_of(
                    node,
                    format!(
                        "no label names the model of its `{resource}`; `unknown` is written as the family"
                    ),
                );
                "unknown".to_owned()
            }
        }
    }

    fn kept(&self, labels: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let keep = |key: &str| {
            SELECTED_BY.contains(&key)
                || self.also_kept.contains(key)
                || is_accelerator_label(key) && !key.starts_with("beta.")
                || self.options.keep_labels.iter().any(|glob| glob.is_match(key))
        };
        labels.iter().filter(|(key, _)| keep(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn taints(&mut self, input: &Input, name: &str, node: &Item) -> Vec<[String; 3]> {
        if at(&node.value, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
            self.tell_of(name, "cordoned, but counted".to_owned());
        }
        let stays = |taint: &Taint| !PASSING.iter().any(|prefix| taint.key.starts_with(prefix));
        let taints = node.taints(input, &["spec", "taints"], self.log).into_iter().filter(stays);
        let sorted = taints
            .map(|taint| [taint.key, taint.value.unwrap_or_default(), taint.effect.as_str().to_owned()]);
        sorted.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn tell_of(&mut self, node: &str, what: String) {
        self.told.entry(what).or_default().insert(node.to_owned());
    }

    fn tell(&mut self) {
        for (what, nodes) in &self.told {
            let first = nodes.first().map_or("", String::as_str);
            let of = match nodes.len() {
                1 => format!("node `{first}`"),
                n => format!("{n} nodes such as `{first}`"),
            };
            self.log.remark(format!("cluster `{}`, {of}: {what}", self.cluster));
        }
    }
}

fn names_a_model(key: &str) -> bool {
    is_accelerator_label(key)
        && (key.contains("accelerator") || key.contains("gpu-name") || key.ends_with("gpu.product"))
}

fn taint_of([key, value, effect]: [String; 3]) -> Option<Taint> {
    let effect = serde_json::from_value(effect.into()).ok()?;
    Some(Taint { key, value: (!value.is_empty()).then_some(value), effect })
}

/// The labels of an object that are texts.
pub(super) fn labels(object: &Item) -> BTreeMap<String, String> {
    strings(&object.value, &["metadata", "labels"])
}

/// The provider of a node's `spec.providerID`.
fn provider(id: &str) -> Option<String> {
    let provider = match id.split_once("://")?.0 {
        "gce" => "gcp",
        other => other,
    };
    Some(provider.to_owned())
}

fn join(words: &[&String]) -> String {
    words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join("`, `")
}
