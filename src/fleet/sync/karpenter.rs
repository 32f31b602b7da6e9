//! Karpenter's `NodePool`s: what machines a cluster can get, however many it has today.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{Input, Item, Log, objects};
use crate::accelerators::{MachineType, NodeFamily, machine_types, node_family};
use crate::fleet::file::Accelerator;
use crate::fleet::peek::{at, strings, text, texts};
use crate::manifest::quantity::Quantity;
use crate::model::Value;

const MACHINE: &str = "node.kubernetes.io/instance-type";
const CAPACITY: &str = "karpenter.sh/capacity-type";

/// What the `NodePool`s of a cluster can bring.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Names of the `NodePool`s.
    pub(super) names: BTreeSet<String>,
    /// Pools without a number of nodes.
    pub(super) pools: Vec<Accelerator>,
}

/// Reads the `NodePool`s of one cluster.
pub(super) fn read(cluster: &str, inputs: &[&Input], log: &mut Log) -> Found {
    let mut found = Found::default();
    for input in inputs {
        for item in objects(input, &[("karpenter.sh", "NodePool")], log) {
            let name = item.name().unwrap_or_default().to_owned();
            if !found.names.insert(name.clone()) {
                let message = format!("NodePool `{name}` of cluster `{cluster}` is listed twice");
                log.problem(input, &item.at, "listed-twice", message, "name each list of NodePools once");
                continue;
            }
            if let Some(pools) = pools(input, &item, &name, log) {
                found.pools.extend(pools);
            }
        }
    }
    found
}

/// A requirement: key, operator, values.
#[derive(Debug)]
struct Requirement<'v> {
    key: &'v str,
    operator: &'v str,
    values: Vec<&'v str>,
}

impl Requirement<'_> {
    /// Whether a value satisfies it; values of `Gt` and `Lt` are numbers.
    fn takes(&self, value: &str) -> bool {
        let number = |text: &str| text.parse::<u64>().ok();
        let bound = self.values.first().and_then(|bound| number(bound));
        match self.operator {
            "In" => self.values.contains(&value),
            "NotIn" => !self.values.contains(&value),
            "Gt" => number(value) > bound,
            "Lt" => number(value).is_some() && number(value) < bound,
            "DoesNotExist" => false,
            _ => true,
        }
    }
}

fn pools(input: &Input, item: &Item, name: &str, log: &mut Log) -> Option<Vec<Accelerator>> {
    let spec = at(&item.value, &["spec", "template", "spec"]);
    let Some(spec) = spec else {
        let message = format!("NodePool `{name}` has no `spec.template.spec`");
        log.problem(input, &item.at, "no-template", message, "write NodePools of karpenter.sh/v1 or v1beta1");
        return None;
    };
    let mut requirements = Vec::new();
    for entry in item.list(input, &["spec", "template", "spec", "requirements"], log) {
        let operator = text(entry, &["operator"]).unwrap_or_default();
        let key = text(entry, &["key"]).unwrap_or_default();
        let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"].contains(&operator);
        if key.is_empty() || !known {
            let message = format!("NodePool `{name}` has a requirement of `{key}` that cannot be understood");
            let place = item.at.key("spec").key("template").key("spec").key("requirements");
            log.problem(
                input,
                &place,
                "operator",
                message,
                "write `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`",
            );
            return None;
        }
        requirements.push(Requirement { key, operator, values: texts(entry, &["values"]).collect() });
    }
    let machines: Vec<_> =
        machine_types().filter(|(machine, facts)| fits(spec, &requirements, machine, facts)).collect();
    unknown_machines(name, &requirements, log);
    let limits = at(&item.value, &["spec", "limits"]);
    let none_allowed = |resource: &str| {
        let limit = limits.and_then(|limits| at(limits, &[resource]));
        limit.and_then(|limit| Quantity::from_value(limit).ok()).is_some_and(|limit| limit == Quantity::ZERO)
    };
    let taints = item.taints(input, &["spec", "template", "spec", "taints"], log);
    let mut pools = Vec::new();
    for (machine, facts) in machines.into_iter().filter(|(_, facts)| !none_allowed(&facts.resource)) {
        for capacity_type in capacity_types(&requirements) {
            pools.push(Accelerator {
                family: facts.family.to_string(),
                resource: facts.resource.to_string(),
                per_node: u32::try_from(facts.devices).unwrap_or(u32::MAX),
                nodes: None,
                node_labels: node_labels(item, &requirements, machine, capacity_type),
                capacity_type: capacity_type.map(str::to_owned),
                taints: taints.clone(),
                fabric: None,
                sharing: None,
            });
        }
    }
    Some(pools)
}

/// Whether a machine type satisfies the requirements that say something about machines.
fn fits(spec: &Value, requirements: &[Requirement<'_>], machine: &str, facts: &MachineType) -> bool {
    let cloud = match text(spec, &["nodeClassRef", "group"]).unwrap_or_default() {
        "karpenter.azure.com" => machine.starts_with("Standard_"),
        "karpenter.k8s.gcp" => !machine.contains(['.', '_']),
        _ => machine.contains('.'),
    };
    cloud && requirements.iter().all(|requirement| fits_one(requirement, machine, facts))
}

fn fits_one(requirement: &Requirement<'_>, machine: &str, facts: &MachineType) -> bool {
    let family = machine.split('.').next().unwrap_or_default();
    let key =
        requirement.key.trim_start_matches("karpenter.k8s.aws/").trim_start_matches("eks.amazonaws.com/");
    match key {
        MACHINE | "karpenter.azure.com/sku-name" => requirement.takes(machine),
        "instance-family" => requirement.takes(family),
        "instance-category" => {
            let category: String = family.chars().take_while(char::is_ascii_alphabetic).collect();
            requirement.takes(&category)
        }
        "instance-gpu-count" if &*facts.resource == "nvidia.com/gpu" => {
            requirement.takes(&facts.devices.to_string())
        }
        "instance-gpu-name" | "instance-accelerator-name" | "karpenter.azure.com/sku-gpu-name" => {
            let means = |value: &&str| {
                let labels = BTreeMap::from([(requirement.key.to_owned(), (*value).to_owned())]);
                match node_family(&labels, &facts.resource) {
                    NodeFamily::Known(family) => family == facts.family,
                    NodeFamily::OneOf(families) => families.contains(&facts.family),
                    NodeFamily::Unknown(_) => false,
                }
            };
            match requirement.operator {
                "In" => requirement.values.iter().any(&means),
                "NotIn" => !requirement.values.iter().any(&means),
                "DoesNotExist" => key == "instance-gpu-name" && &*facts.resource != "nvidia.com/gpu",
                _ => true,
            }
        }
        "instance-gpu-manufacturer" => requirement.takes(maker(&facts.resource)),
        _ => true,
    }
}

/// The manufacturer, as Karpenter names it.
fn maker(resource: &str) -> &str {
    match resource.split('/').next().unwrap_or_default() {
        "nvidia.com" => "nvidia",
        "amd.com" => "amd",
        "habana.ai" => "habana",
        _ => "aws",
    }
}

/// Machine types that are asked for by name and that the tables do not have, if their name is that of
/// a machine with accelerators.
fn unknown_machines(name: &str, requirements: &[Requirement<'_>], log: &mut Log) {
    for requirement in requirements.iter().filter(|r| r.key == MACHINE && r.operator == "In") {
        for machine in &requirement.values {
            let family = machine.split('.').next().unwrap_or_default();
            let letters: String = family.chars().take_while(char::is_ascii_alphabetic).collect();
            let accelerated = ["p", "g", "gr", "inf", "trn", "dl", "Standard"].contains(&letters.as_str());
            if accelerated && !machine_types().any(|(known, _)| known.eq_ignore_ascii_case(machine)) {
                log.remark(format!(
                    "NodePool `{name}`: what accelerators a `{machine}` has is not known, so it is left out"
                ));
            }
        }
    }
}

/// The capacity types that are allowed; one that is not known if nothing is said.
fn capacity_types<'v>(requirements: &'v [Requirement<'v>]) -> Vec<Option<&'v str>> {
    let all = ["on-demand", "reserved", "spot"];
    let said: Vec<_> = requirements.iter().filter(|requirement| requirement.key == CAPACITY).collect();
    if said.is_empty() {
        return vec![None];
    }
    all.into_iter().filter(|word| said.iter().all(|requirement| requirement.takes(word))).map(Some).collect()
}

/// What is certain of the labels of nodes: those of the template, and requirements with one value.
fn node_labels(
    item: &Item,
    requirements: &[Requirement<'_>],
    machine: &str,
    capacity_type: Option<&str>,
) -> BTreeMap<String, String> {
    let mut labels = strings(&item.value, &["spec", "template", "metadata", "labels"]);
    for requirement in requirements {
        if let ("In", [only]) = (requirement.operator, requirement.values.as_slice()) {
            labels.insert(requirement.key.to_owned(), (*only).to_owned());
        }
    }
    labels.insert(MACHINE.to_owned(), machine.to_owned());
    if let Some(capacity_type) = capacity_type {
        labels.insert(CAPACITY.to_owned(), capacity_type.to_owned());
    }
    labels
}
