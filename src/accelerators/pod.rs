//! What one pod asks for, as the scheduler counts it: `PodRequests` of
//! kubernetes/component-helpers resource/helpers.go, for extended resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::amount::Amount;
use super::resources::{DEVICE_CLASS, is_extended};
use super::value::{field, fields, items, text};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

/// How much of each extended resource. What is asked for by the name of a device class stands under
/// the class.
pub type Resources = BTreeMap<Arc<str>, Amount>;

/// What a pod of this spec asks for. `at` is where the spec stands, for reasons. Pod-level
/// `resources` cover CPU, memory and huge pages only, so they are not read.
pub fn pod_resources(spec: &Value, at: &Route) -> Resources {
    let mut sum = Resources::new();
    for (index, container) in list(spec, "containers") {
        add(&mut sum, &container_resources(container, &at.key("containers").index(index)));
    }
    // Sidecars that run so far, and the most that the start of any other init container needs; the
    // start of a sidecar needs no more than the run, which has all sidecars.
    let mut sidecars = Resources::new();
    let mut start = Resources::new();
    for (index, container) in list(spec, "initContainers") {
        let own = container_resources(container, &at.key("initContainers").index(index));
        if text(container, &["restartPolicy"]).is_some_and(|policy| **policy == *"Always") {
            add(&mut sum, &own);
            add(&mut sidecars, &own);
        } else {
            let mut moment = sidecars.clone();
            add(&mut moment, &own);
            raise(&mut start, &moment);
        }
    }
    raise(&mut sum, &start);
    if let Some(overhead) = field(spec, "overhead") {
        add(&mut sum, &quantities(overhead, &at.key("overhead")));
    }
    sum
}

/// Fields that hide what a pod asks for because they are of another type than Kubernetes reads.
pub(super) fn misshapen(spec: &Value, at: &Route) -> Vec<String> {
    let mut found = Vec::new();
    let set = |value: &'_ Value, key: &str| field(value, key).filter(|value| **value != Value::Null).cloned();
    let is_map = |value: &Value| matches!(value, Value::Object(_));
    for key in ["containers", "initContainers", "resourceClaims"] {
        let Some(list) = set(spec, key) else { continue };
        let at = at.key(key);
        if !matches!(list, Value::Array(_)) {
            found.push(format!("`{at}` is not a list"));
        }
        for (index, entry) in items(&list).enumerate() {
            let at = at.index(index);
            if !is_map(entry) {
                found.push(format!("`{at}` is not a mapping"));
            }
            let Some(resources) = set(entry, "resources") else { continue };
            let at = at.key("resources");
            let sides = ["limits", "requests"].map(|side| (at.key(side), set(&resources, side)));
            let parts = [(at, Some(resources))].into_iter().chain(sides);
            let wrong = parts.filter(|(_, value)| value.as_ref().is_some_and(|value| !is_map(value)));
            found.extend(wrong.map(|(at, _)| format!("`{at}` is not a mapping")));
        }
    }
    found
}

fn list<'a>(spec: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    field(spec, key).into_iter().flat_map(items).enumerate()
}

/// What one container asks for. For extended resources a limit is the request; a request without a
/// limit, which the API server refuses, is counted all the same, and of two that differ the larger.
fn container_resources(container: &Value, at: &Route) -> Resources {
    let Some(resources) = field(container, "resources") else { return Resources::new() };
    let at = at.key("resources");
    let mut asked = Resources::new();
    for key in ["limits", "requests"] {
        if let Some(list) = field(resources, key) {
            raise(&mut asked, &quantities(list, &at.key(key)));
        }
    }
    asked
}

/// The extended resources of a list such as `limits`.
fn quantities(list: &Value, at: &Route) -> Resources {
    fields(list)
        .into_iter()
        .filter(|(name, _)| is_extended(name))
        .map(|(name, quantity)| {
            let amount = match Quantity::from_value(quantity).and_then(Quantity::to_count) {
                Ok(n) => Amount::Known(n),
                Err(error) => Amount::unknown(format!("`{}`: {error}", at.key(name))),
            };
            let name = name.strip_prefix(DEVICE_CLASS).map_or_else(|| name.clone(), Arc::from);
            (name, amount)
        })
        .collect()
}

pub(super) fn add(sum: &mut Resources, more: &Resources) {
    for (name, amount) in more {
        let entry = sum.entry(name.clone()).or_insert(Amount::ZERO);
        *entry = entry.add(amount);
    }
}

/// Raises each resource to at least that of `other`.
pub(super) fn raise(most: &mut Resources, other: &Resources) {
    for (name, amount) in other {
        let entry = most.entry(name.clone()).or_insert(Amount::ZERO);
        *entry = entry.max(amount);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest;

    /// GPUs of a pod; an init container is `(gpus, is a sidecar)`.
    fn pod(init: &[(u64, bool)], containers: &[u64]) -> Amount {
        let container = |gpus: u64, more: &str| {
            format!("{{name: c, {more}resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}")
        };
        let init: Vec<_> = init
            .iter()
            .map(|(gpus, sidecar)| container(*gpus, if *sidecar { "restartPolicy: Always, " } else { "" }))
            .collect();
        let containers: Vec<_> = containers.iter().map(|gpus| container(*gpus, "")).collect();
        gpus(&format!("{{initContainers: [{}], containers: [{}]}}", init.join(", "), containers.join(", ")))
    }

    fn gpus(spec: &str) -> Amount {
        let spec = manifest::value(spec).expect("a pod spec");
        pod_resources(&spec, &Route::root()).remove("nvidia.com/gpu").unwrap_or(Amount::ZERO)
    }

    #[test]
    fn init_containers_and_sidecars_count_in_their_order() {
        for (init, containers, expected) in [
            // Containers add up.
            (&[][..], &[1, 3][..], 4),
            // The start needs more than the run: max(8, 1).
            (&[(8, false)], &[1], 8),
            // A sidecar goes on: 1 + 1; then the init container beside it: 1 + 2 = 3.
            (&[(1, true), (2, false)], &[1], 3),
            // An init container before the sidecar does not pay for it: max(1, 1 + 2, 1 + 0).
            (&[(1, false), (1, true), (2, false)], &[0], 3),
            (&[(3, false), (1, true)], &[1], 3),
            // Two sidecars and two containers run together.
            (&[(1, true), (1, true)], &[2, 2], 6),
        ] {
            assert_eq!(pod(init, containers), Amount::Known(expected), "{init:?} {containers:?}");
        }
    }

    #[test]
    fn a_request_without_a_limit_and_overhead_count() {
        assert_eq!(gpus("{containers: [{resources: {requests: {nvidia.com/gpu: '2'}}}]}"), Amount::Known(2));
        assert_eq!(
            gpus(
                "{overhead: {nvidia.com/gpu: 1, cpu: 100m}, containers: [{resources: {limits: {nvidia.com/gpu: 1e0}}}]}"
            ),
            Amount::Known(2)
        );
        // The pod level has no devices.
        assert_eq!(gpus("{resources: {limits: {nvidia.com/gpu: 4}}, containers: []}"), Amount::ZERO);
    }

    #[test]
    fn what_is_stated_wrongly_is_unknown() {
        for (quantity, why) in [
            ("$GPU", "`$GPU` is an unreplaced placeholder, not a quantity"),
            ("null", "a quantity is `null`"),
            ("0.5", "`500m` is not a whole number"),
            ("-1", "`-1` is negative"),
            ("9223372036854775808", "`9223372036854775808` is too large for a quantity"),
        ] {
            assert_eq!(
                gpus(&format!("{{containers: [{{resources: {{limits: {{nvidia.com/gpu: {quantity}}}}}}}]}}")),
                Amount::unknown(format!("`containers[0].resources.limits[\"nvidia.com/gpu\"]`: {why}"))
            );
        }
    }

    #[test]
    fn each_name_counts_for_itself() {
        let spec = "{containers: [{resources: {limits: {nvidia.com/mig-3g.40gb: 10, cpu: 4, vpc.amazonaws.com/efa: 4,
            deviceclass.resource.kubernetes.io/gpu.nvidia.com: 2}}}]}";
        let counted = pod_resources(&manifest::value(spec).expect("a pod spec"), &Route::root());
        let expected: Resources =
            [("gpu.nvidia.com", 2), ("nvidia.com/mig-3g.40gb", 10), ("vpc.amazonaws.com/efa", 4)]
                .into_iter()
                .map(|(name, n)| (name.into(), Amount::Known(n)))
                .collect();
        assert_eq!(counted, expected);
    }

    proptest! {
        #[test]
        fn the_order_of_containers_is_irrelevant(mut containers in prop::collection::vec(0..9_u64, 0..5)) {
            let forward = pod(&[(2, false)], &containers);
            containers.reverse();
            prop_assert_eq!(forward, pod(&[(2, false)], &containers));
        }

        #[test]
        fn more_devices_never_ask_for_less(
            init in prop::collection::vec((0..9_u64, any::<bool>()), 0..5),
            containers in prop::collection::vec(0..9_u64, 1..4),
            index in any::<prop::sample::Index>(),
        ) {
            let before = pod(&init, &containers).at_least();
            let mut more = containers.clone();
            more[index.index(containers.len())] += 1;
            prop_assert!(pod(&init, &more).at_least() >= before);
            if !init.is_empty() {
                let mut more = init.clone();
                more[index.index(init.len())].0 += 1;
                prop_assert!(pod(&more, &containers).at_least() >= before);
            }
        }

        // The definition read literally: at each moment, what runs then.
        #[test]
        fn the_walk_is_the_maximum_over_all_moments(
            init in prop::collection::vec((0..9_u64, any::<bool>()), 0..6),
            containers in prop::collection::vec(0..9_u64, 0..4),
        ) {
            let sidecars_before = |end: usize| init[..end].iter().filter(|(_, s)| *s).map(|(g, _)| g).sum::<u64>();
            let moments = (0..init.len()).map(|i| sidecars_before(i) + init[i].0);
            let running = sidecars_before(init.len()) + containers.iter().sum::<u64>();
            let most = moments.chain([running]).max().unwrap_or(0);
            prop_assert_eq!(pod(&init, &containers), Amount::Known(most));
        }
    }
}
