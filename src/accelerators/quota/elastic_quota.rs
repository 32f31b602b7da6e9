//! `ElasticQuota` of scheduler-plugins: the pods of its namespace hold no more than `max`, whatever is
//! free (kubernetes-sigs/scheduler-plugins pkg/capacityscheduling).

use super::owner;
use super::row::{Quota, Ref};
use super::seen::{Part, Seen, most};
use crate::accelerators::amount::Three;
use crate::accelerators::resources::{class, is_extended};
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{fields, path};
use crate::model::{Route, Value};
use std::collections::BTreeMap;

pub(super) fn rows(tree: &Tree<'_>, seen: &[Seen<'_>]) -> Vec<Quota> {
    let mut by_namespace: BTreeMap<Option<&str>, Vec<&Seen<'_>>> = BTreeMap::new();
    for seen in seen.iter().filter(|seen| !seen.elsewhere) {
        by_namespace.entry(seen.at.namespace.as_deref()).or_default().push(seen);
    }
    let mut rows = Vec::new();
    for (index, object) in tree.of_kind("scheduling.x-k8s.io", "ElasticQuota") {
        let Some(at) = Ref::of(tree, index) else { continue };
        let here = by_namespace.get(&at.namespace.as_deref()).map_or(&[][..], |seen| seen);
        let route = Route::root().key("spec").key("max");
        let min = path(object, &["spec", "min"]).map(fields).unwrap_or_default();
        for (key, value) in path(object, &["spec", "max"]).map(fields).unwrap_or_default() {
            if !is_extended(key) || !class(key).counts() {
                continue;
            }
            let path = route.key(key);
            let contributors = here.iter().filter_map(|seen| {
                let amount = seen.pods_ask(key, |_| Some(true));
                (amount != Three::ZERO).then(|| seen.contributor(amount))
            });
            let most = most(value, &path);
            let part = Part {
                system: "elastic-quota",
                at: &at,
                path,
                key,
                resource: key.clone(),
                most,
                owner: owner(tree, index),
            };
            let mut limit = part.limit(contributors.collect());
            let least = min.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).clone());
            limit.facts.push(("min", least.unwrap_or(Value::Null)));
            rows.push(Quota::Limit(limit));
        }
    }
    rows
}
