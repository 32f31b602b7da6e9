//! The quotas of `ClusterQueue`s and `Cohort`s.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::accelerators::value::{items, path, text};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

/// Flavour and resource.
pub(super) type FlavorResource = (Arc<str>, Arc<str>);

/// An amount of quota, or why it cannot be read.
pub(super) type Cap = Result<u64, Arc<str>>;

/// The quota for a resource in a flavour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlavorQuota {
    pub nominal: Cap,
    pub borrowing: Option<Cap>,
    pub lending: Option<Cap>,
    /// Where it stands.
    pub path: Route,
}

/// The quotas of a spec with `resourceGroups`.
pub(super) fn quotas(object: &Value) -> BTreeMap<FlavorResource, FlavorQuota> {
    let mut quotas = BTreeMap::new();
    let at = Route::root().key("spec").key("resourceGroups");
    let groups = path(object, &["spec", "resourceGroups"]).into_iter().flat_map(items).enumerate();
    for (index, group) in groups {
        let at = at.index(index).key("flavors");
        for (index, flavor) in path(group, &["flavors"]).into_iter().flat_map(items).enumerate() {
            let at = at.index(index).key("resources");
            let Some(name) = text(flavor, &["name"]) else { continue };
            for (index, resource) in path(flavor, &["resources"]).into_iter().flat_map(items).enumerate() {
                let at = at.index(index);
                let Some(key) = text(resource, &["name"]) else { continue };
                let limit = |key: &str| path(resource, &[key]).map(|value| cap(value, &at.key(key)));
                let quota = FlavorQuota {
                    nominal: limit("nominalQuota")
                        .unwrap_or_else(|| Err(format!("`{}` is missing", at.key("nominalQuota")).into())),
                    borrowing: limit("borrowingLimit"),
                    lending: limit("lendingLimit"),
                    path: at.clone(),
                };
                quotas.entry((name.clone(), key.clone())).or_insert(quota);
            }
        }
    }
    quotas
}

fn cap(value: &Value, at: &Route) -> Cap {
    let quantity = Quantity::from_value(value).map_err(|error| format!("`{at}`: {error}"))?;
    // As Kueue reads it: rounded up to whole units.
    let whole = quantity.nano().div_euclid(1_000_000_000) + i128::from(!quantity.is_integer());
    u64::try_from(whole).map_err(|_| format!("`{at}`: `{quantity}` is negative").into())
}
