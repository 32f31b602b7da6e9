//! Limits of Karpenter's `NodePool`s. They are checked before a node is made, with a view that lags:
//! nodes that are there stay, and several made at once can exceed them, so that they are never exact.

use std::collections::BTreeMap;

use super::owner;
use super::row::{Quota, Ref};
use super::seen::{Part, Seen, most};
use crate::accelerators::amount::Three;
use crate::accelerators::resources::{class, is_extended};
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{fields, items, path, text};
use crate::accelerators::workload::PodGroup;
use crate::model::{Route, Value};

/// The label of nodes with their pool.
const POOL: &str = "karpenter.sh/nodepool";

pub(super) fn rows(tree: &Tree<'_>, seen: &[Seen<'_>]) -> Vec<Quota> {
    let mut by_pool: BTreeMap<&str, Vec<&Seen<'_>>> = BTreeMap::new();
    for seen in seen.iter().filter(|seen| !seen.elsewhere) {
        let mut pools: Vec<&str> = seen.groups().filter_map(|(group, _)| pool(group)).collect();
        pools.sort_unstable();
        pools.dedup();
        for pool in pools {
            by_pool.entry(pool).or_default().push(seen);
        }
    }
    let mut rows = Vec::new();
    for (index, object) in tree.of_kind("karpenter.sh", "NodePool") {
        let Some(at) = Ref::of(tree, index) else { continue };
        let here = by_pool.get(&*at.name).map_or(&[][..], |seen| seen);
        let route = Route::root().key("spec").key("limits");
        for (key, value) in path(object, &["spec", "limits"]).map(fields).unwrap_or_default() {
            if !is_extended(key) || !class(key).counts() {
                continue;
            }
            let path = route.key(key);
            let contributors = here.iter().filter_map(|seen| {
                let amount = seen.pods_ask(key, |group| Some(pool(group) == Some(&*at.name)));
                (amount != Three::ZERO).then(|| seen.contributor(amount))
            });
            let most = most(value, &path);
            let part = Part {
                system: "karpenter",
                at: &at,
                path,
                key,
                resource: key.clone(),
                most,
                owner: owner(tree, index),
            };
            rows.push(Quota::Limit(part.limit(contributors.collect())));
        }
    }
    rows
}

/// The pool that pods of a group are bound to: by node selector, or by the only term of their required
/// affinity. Other pods may get nodes of any pool that fits them.
fn pool(group: &PodGroup) -> Option<&str> {
    const TERMS: [&str; 4] =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    if let Some(pool) = text(&group.spec, &["nodeSelector", POOL]) {
        return Some(pool);
    }
    let mut terms = path(&group.spec, &TERMS).into_iter().flat_map(items);
    let (Some(term), None) = (terms.next(), terms.next()) else { return None };
    let mut expressions = path(term, &["matchExpressions"]).into_iter().flat_map(items);
    let found = expressions.find(|expression| {
        text(expression, &["key"]).is_some_and(|key| **key == *POOL)
            && text(expression, &["operator"]).is_some_and(|operator| **operator == *"In")
    })?;
    let mut values = path(found, &["values"]).into_iter().flat_map(items);
    match (values.next(), values.next()) {
        (Some(Value::String(pool)), None) => Some(pool),
        _ => None,
    }
}
