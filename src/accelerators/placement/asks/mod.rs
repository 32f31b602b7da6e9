//! What one pod of a group asks for, device by device.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::amount::Amount;
use super::super::claims::{ClaimRef, claim_devices, pod_claims};
use super::super::pod::Resources;
use super::super::resources::{Class, class};
use super::super::tree::Tree;
use super::super::value::{field, items, path, text};
use super::super::workload::PodGroup;
use super::share::Share;
use super::units::{Kind, Units, units};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

/// The resource of NVIDIA's devices, which some schedulers share out by annotations and properties.
const GPU: &str = "nvidia.com/gpu";

/// Devices, or parts of devices, that one pod asks for.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The resource or device class as asked for.
    pub(super) resource: Arc<str>,
    /// What its units are.
    pub(super) units: Units,
    /// How many.
    pub(super) amount: Amount,
}

/// What a pod of a group asks for, of whose resources this is known: those of its containers and of the
/// claims that are its own.
pub(super) fn of_pod(
    tree: &Tree<'_>,
    group: &PodGroup,
    resources: &Resources,
    namespace: Option<&str>,
) -> Vec<Ask> {
    let mut profiles = Some(BTreeMap::new());
    if field(&group.spec, "resourceClaims").is_some() {
        for claim in pod_claims(&group.spec, &group.path) {
            let ClaimRef::Template(name) = claim else { continue };
            let found = tree.find("resource.k8s.io", "ResourceClaimTemplate", &name, namespace);
            let spec = found.and_then(|index| path(tree.objects.get(index).copied()?, &["spec", "spec"]));
            profiles = profiles.zip(spec).and_then(|(sum, spec)| with_profiles(sum, spec));
        }
    }
    let mut asks = of_resources(tree, resources, profiles.as_ref());
    for ask in asks.iter_mut().filter(|ask| [GPU, "hami.io/gpu"].contains(&&*ask.resource)) {
        if let Some(part) = virtual_devices(&group.spec) {
            ask.units.kind = part;
        }
    }
    if !resources.contains_key(GPU) {
        asks.extend(by_annotations(&group.metadata));
    }
    asks
}

/// What a claim that exists for itself asks for.
pub(super) fn of_claim(tree: &Tree<'_>, spec: &Value) -> Vec<Ask> {
    let devices = claim_devices(spec, &Route::root().key("spec"));
    of_resources(tree, &devices, with_profiles(BTreeMap::new(), spec).as_ref())
}

fn of_resources(tree: &Tree<'_>, resources: &Resources, profiles: Option<&Profiles>) -> Vec<Ask> {
    let mut asks = Vec::new();
    for (resource, amount) in resources.iter().filter(|(_, amount)| !amount.is_zero()) {
        let Some(units) = units_in(tree, resource) else { continue };
        let of_profiles = match (&units.kind, profiles) {
            (Kind::Slice(None), Some(profiles)) if !profiles.is_empty() => profiles,
            _ => {
                asks.push(Ask { resource: resource.clone(), units, amount: amount.clone() });
                continue;
            }
        };
        asks.extend(of_profiles.iter().map(|(profile, amount)| {
            let units = Units { kind: Kind::Slice(Some(profile.clone())), ..units.clone() };
            Ask { resource: resource.clone(), units, amount: amount.clone() }
        }));
    }
    asks
}

/// What units of a resource are. A device class and the extended resource that it names are the same
/// devices, so either says it for the other.
fn units_in(tree: &Tree<'_>, resource: &str) -> Option<Units> {
    let extended = |class: &Value| text(class, &["spec", "extendedResourceName"]).cloned();
    units(resource).or_else(|| {
        if class(resource) != Class::Other {
            return None;
        }
        tree.of_kind("resource.k8s.io", "DeviceClass").find_map(|(_, class)| {
            let (name, extended) = (text(class, &["metadata", "name"])?, extended(class)?);
            match resource {
                other if *other == **name => units(&extended),
                other if *other == *extended => units(name),
                _ => None,
            }
        })
    })
}

/// MIG devices by profile.
type Profiles = BTreeMap<String, Amount>;

/// Adds the MIG devices of a claim, by the profiles that its selectors ask for; `None` if one cannot be
/// read.
fn with_profiles(mut sum: Profiles, spec: &Value) -> Option<Profiles> {
    for request in path(spec, &["devices", "requests"]).into_iter().flat_map(items) {
        let one = field(request, "exactly").unwrap_or(request);
        let slices = |request: &Value| {
            text(request, &["deviceClassName"])
                .is_some_and(|class| units(class).is_some_and(|units| units.kind == Kind::Slice(None)))
        };
        let alternatives = field(request, "firstAvailable").into_iter().flat_map(items);
        if alternatives.into_iter().any(slices) {
            return None;
        }
        if !slices(one) {
            continue;
        }
        let selectors = field(one, "selectors").into_iter().flat_map(items);
        let expressions = selectors.filter_map(|selector| text(selector, &["cel", "expression"]));
        let mut profiles: BTreeSet<&str> = expressions.filter_map(|expression| profile(expression)).collect();
        let (Some(profile), true) = (profiles.pop_first(), profiles.is_empty()) else { return None };
        let mut single = Resources::new();
        for amount in claim_devices(&wrapped(request), &Route::root()).into_values() {
            single.insert(profile.into(), amount);
        }
        for (profile, amount) in single {
            let entry = sum.entry(profile.to_string()).or_insert(Amount::ZERO);
            *entry = entry.add(&amount);
        }
    }
    Some(sum)
}

/// A claim with only this request.
fn wrapped(request: &Value) -> Value {
    let requests = super::super::value::object([("requests", Value::from(vec![request.clone()]))]);
    super::super::value::object([("devices", requests)])
}

/// The profile to which a CEL expression compares a device's: `….profile == '1g.5gb'`.
fn profile(expression: &str) -> Option<&str> {
    let (_, after) = expression.split_once(".profile")?;
    let after = after.trim_start().strip_prefix("==")?.trim_start();
    let quote = after.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let (profile, rest) = after.strip_prefix(quote)?.split_once(quote)?;
    // Several comparisons may be alternatives.
    (!rest.contains(".profile") && !rest.contains("||")).then_some(profile)
}

/// The part of a device that each virtual one is, if the pod states memory or cores of virtual devices
/// (Project-HAMi/HAMi: `gpumem`, `gpumem-percentage` and `gpucores` are of each device that the
/// container asks for). Of containers that differ, the largest.
fn virtual_devices(spec: &Value) -> Option<Kind> {
    let lists = ["initContainers", "containers"].iter().filter_map(|key| field(spec, key)).flat_map(items);
    let resources = lists.filter_map(|container| field(container, "resources"));
    let mut found: Option<(u64, Share)> = None;
    let mut whole = false;
    for resources in resources {
        let property = |name: &str| {
            ["limits", "requests"].iter().filter_map(|key| field(resources, key)).find_map(|list| {
                ["nvidia.com/", "hami.io/"].iter().find_map(|domain| field(list, &format!("{domain}{name}")))
            })
        };
        if property("gpu").is_none() {
            continue;
        }
        let number = |name: &str| {
            property(name).map(|value| {
                Quantity::from_value(value).and_then(Quantity::to_count).map_err(|error| error.to_string())
            })
        };
        let percent = |name: &str| match number(name)? {
            Ok(percent) => Some(Share::part(percent.min(100), 100)),
            Err(why) => Some(Share::open(format!("`{name}`: {why}"))),
        };
        let shares = [percent("gpumem-percentage"), percent("gpucores")];
        let floor = shares.into_iter().flatten().reduce(Share::max);
        let (memory, floor) = match (number("gpumem"), floor) {
            (None, None) => {
                whole = true;
                continue;
            }
            (None, Some(floor)) => (0, floor),
            (Some(Ok(memory)), floor) => (memory, floor.unwrap_or(Share::part(0, 1))),
            (Some(Err(why)), floor) => {
                (0, floor.unwrap_or(Share::part(0, 1)).max(Share::open(format!("`gpumem`: {why}"))))
            }
        };
        found = Some(match found {
            Some((most, share)) => (most.max(memory), share.max(floor)),
            None => (memory, floor),
        });
    }
    match found {
        Some(_) if whole => Some(Kind::Whole),
        Some((0, share)) => Some(Kind::Part(share)),
        Some((memory, share)) => Some(Kind::Memory(memory, share)),
        None => None,
    }
}

/// What pods of the KAI scheduler ask for by annotations alone (NVIDIA/KAI-Scheduler docs/gpu-sharing).
fn by_annotations(metadata: &Value) -> Option<Ask> {
    let annotation = |name: &str| path(metadata, &["annotations", name]);
    let written = |value: &Value| match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    };
    let kind = match (annotation("gpu-fraction"), annotation("gpu-memory")) {
        (Some(fraction), _) => Kind::Part(fraction_of(&written(fraction))),
        (None, Some(memory)) => match written(memory).parse() {
            Ok(0) => return None,
            Ok(memory) => Kind::Memory(memory, Share::part(0, 1)),
            Err(_) => Kind::Part(Share::open("the annotation `gpu-memory` is no number of MiB")),
        },
        (None, None) => return None,
    };
    let amount = match annotation("gpu-fraction-num-devices") {
        None => Amount::ONE,
        Some(devices) => match written(devices).parse() {
            Ok(devices) => Amount::Known(devices),
            Err(_) => Amount::Unknown {
                at_least: 1,
                reasons: BTreeSet::from(["the annotation `gpu-fraction-num-devices` is no number".into()]),
            },
        },
    };
    let units = Units { device: GPU.into(), kind, family: None };
    Some(Ask { resource: GPU.into(), units, amount })
}

/// `0.5` as a part of a device.
fn fraction_of(text: &str) -> Share {
    let parts = text.split_once('.').unwrap_or((text, ""));
    let digits = parts.1.trim_end_matches('0');
    let read = || {
        let denominator = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
        let whole = if parts.0.is_empty() { 0 } else { parts.0.parse::<u64>().ok()? };
        let part = if digits.is_empty() { 0 } else { digits.parse::<u64>().ok()? };
        let numerator = whole.checked_mul(denominator)?.checked_add(part)?;
        (0 < numerator && numerator <= denominator).then(|| Share::part(numerator, denominator))
    };
    let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    match read() {
        Some(share) if is_number => share,
        _ => Share::open("the annotation `gpu-fraction` is no part of a device between 0 and 1"),
    }
}

#[cfg(test)]
mod tests;
