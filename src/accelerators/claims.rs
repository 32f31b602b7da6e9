//! Devices that claims ask for (dynamic resource allocation), in the three shapes of
//! `resource.k8s.io`: `v1` and `v1beta2` wrap a request in `exactly`, `v1beta1` does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::amount::Amount;
use super::pod::{Resources, add, raise};
use super::value::{field, items, path, text};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

/// What a request for all devices of a class is charged with: `AllocationResultsMaxSize` of
/// kubernetes/kubernetes
/// `pkg/quota/v1/evaluator/core/resource_claims.go`.
const ALL: u64 = 32;

/// Devices by class of a claim's `spec`, or of a template's `spec.spec`. `at` is where it stands.
///
/// As quota charges them: all devices count 32, of alternatives each class counts the most that one
/// of them needs, and administrative access counts too.
pub fn claim_devices(spec: &Value, at: &Route) -> Resources {
    let mut sum = Resources::new();
    let at = at.key("devices").key("requests");
    let stated = path(spec, &["devices", "requests"]);
    if stated.is_some_and(|requests| !matches!(requests, Value::Array(_))) {
        return BTreeMap::from([(Arc::from(NO_CLASS), Amount::unknown(format!("`{at}` is not a list")))]);
    }
    let requests = stated.into_iter().flat_map(items);
    for (index, request) in requests.enumerate() {
        let at = at.index(index);
        let counted = if let Some(exactly) = field(request, "exactly") {
            one(exactly, &at.key("exactly"))
        } else if let Some(alternatives) = field(request, "firstAvailable") {
            let at = at.key("firstAvailable");
            let mut most = Resources::new();
            for (index, alternative) in items(alternatives).enumerate() {
                raise(&mut most, &one(alternative, &at.index(index)));
            }
            most
        } else {
            one(request, &at)
        };
        add(&mut sum, &counted);
    }
    sum
}

fn one(request: &Value, at: &Route) -> Resources {
    let Some(class) = text(request, &["deviceClassName"]) else {
        let unknown = Amount::unknown(format!("`{at}` names no device class"));
        return BTreeMap::from([(Arc::from(NO_CLASS), unknown)]);
    };
    let amount = match text(request, &["allocationMode"]).map(|mode| &**mode) {
        Some("All") => Amount::Known(ALL),
        None | Some("ExactCount") => match path(request, &["count"]) {
            None => Amount::ONE,
            // The API server takes 0 for unset.
            Some(count) => match Quantity::from_value(count).and_then(Quantity::to_count) {
                Ok(n) => Amount::Known(n.max(1)),
                Err(error) => Amount::unknown(format!("`{}`: {error}", at.key("count"))),
            },
        },
        Some(mode) => Amount::unknown(format!("`{at}` has the unknown allocation mode `{mode}`")),
    };
    BTreeMap::from([(class.clone(), amount)])
}

/// Stands for the class of a request that names none, or of a claim that cannot be found.
pub(super) const NO_CLASS: &str = "device";

/// How a pod refers to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClaimRef {
    /// A claim of its own, made from a template.
    Template(Arc<str>),
    /// A claim that exists once, whoever uses it.
    Shared(Arc<str>),
    /// A form that says neither, such as the nested `source` of before Kubernetes 1.31.
    Unreadable(String),
}

/// The claims of a pod. They are counted by the pod's list, whether containers use them or not: a
/// claim that two containers use is one set of devices, and one that none uses is still allocated.
pub(super) fn pod_claims(spec: &Value, at: &Route) -> Vec<ClaimRef> {
    let at = at.key("resourceClaims");
    let claims = field(spec, "resourceClaims").into_iter().flat_map(items).enumerate();
    claims
        .map(|(index, claim)| {
            match (text(claim, &["resourceClaimTemplateName"]), text(claim, &["resourceClaimName"])) {
                (Some(template), None) => ClaimRef::Template(template.clone()),
                (None, Some(name)) => ClaimRef::Shared(name.clone()),
                (Some(_), Some(_)) => {
                    ClaimRef::Unreadable(format!("`{}` names both a claim and a template", at.index(index)))
                }
                (None, None) => ClaimRef::Unreadable(format!(
                    "`{}` names neither a claim nor a template",
                    at.index(index)
                )),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn devices(spec: &str) -> Vec<(String, Amount)> {
        let spec = manifest::value(spec).expect("a claim");
        claim_devices(&spec, &Route::root().key("spec"))
            .into_iter()
            .map(|(k, v)| (k.to_string(), v))
            .collect()
    }

    fn row(class: &str, n: u64) -> (String, Amount) {
        (class.into(), Amount::Known(n))
    }

    #[test]
    fn the_wrapped_shape_of_v1_and_v1beta2() {
        // Two GPUs, one more without a count, and all MIG slices.
        assert_eq!(
            devices(
                "{devices: {requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}},
                {name: b, exactly: {deviceClassName: gpu.nvidia.com}},
                {name: c, exactly: {deviceClassName: mig.nvidia.com, allocationMode: All}}]}}"
            ),
            [row("gpu.nvidia.com", 3), row("mig.nvidia.com", 32)]
        );
    }

    #[test]
    fn the_bare_shape_of_v1beta1() {
        assert_eq!(
            devices(
                "{devices: {requests: [{name: a, deviceClassName: neuron.aws.com, allocationMode: ExactCount, count: 16}]}}"
            ),
            [row("neuron.aws.com", 16)]
        );
    }

    #[test]
    fn of_alternatives_each_class_counts_the_most() {
        // gpu: max(1, 2) = 2; mig: 4. A further request adds 1 GPU.
        assert_eq!(
            devices(
                "{devices: {requests: [{name: a, firstAvailable: [
                {name: x, deviceClassName: gpu.nvidia.com}, {name: y, deviceClassName: mig.nvidia.com, count: 4},
                {name: z, deviceClassName: gpu.nvidia.com, count: 2}]},
                {name: b, exactly: {deviceClassName: gpu.nvidia.com, adminAccess: true}}]}}"
            ),
            [row("gpu.nvidia.com", 3), row("mig.nvidia.com", 4)]
        );
    }

    #[test]
    fn what_cannot_be_counted_is_unknown() {
        for (request, class, why) in [
            ("{name: a}", NO_CLASS, "`spec.devices.requests[0]` names no device class"),
            (
                "{name: a, deviceClassName: g, allocationMode: Some}",
                "g",
                "`spec.devices.requests[0]` has the unknown allocation mode `Some`",
            ),
            (
                "{name: a, deviceClassName: g, count: -1}",
                "g",
                "`spec.devices.requests[0].count`: `-1` is negative",
            ),
        ] {
            let expected = [(class.to_owned(), Amount::unknown(why))];
            assert_eq!(devices(&format!("{{devices: {{requests: [{request}]}}}}")), expected);
        }
    }

    #[test]
    fn a_pod_names_claims_in_two_ways() {
        let spec =
            "{resourceClaims: [{name: a, resourceClaimTemplateName: t}, {name: b, resourceClaimName: c},
            {name: d, source: {resourceClaimTemplateName: t}}]}";
        assert_eq!(
            pod_claims(&manifest::value(spec).expect("a pod spec"), &Route::root().key("spec")),
            [
                ClaimRef::Template("t".into()),
                ClaimRef::Shared("c".into()),
                ClaimRef::Unreadable("`spec.resourceClaims[2]` names neither a claim nor a template".into()),
            ]
        );
    }
}
