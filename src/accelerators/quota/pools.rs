//! What the nodes of a cluster hold, family by family, from its entry in the fleet file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::row::{Limit, Most, Quota, Ref};
use super::seen::{Part, Seen};
use crate::accelerators::amount::Three;
use crate::model::{Cluster, Route, Value};

/// A row for each family of which the number of nodes is known and devices are whole. No object states
/// these limits, so that the row names the cluster and the family.
pub(super) fn rows(cluster: Option<&Cluster>, seen: &[Seen<'_>]) -> Vec<Quota> {
    let Some((cluster, pools)) = cluster.and_then(|cluster| Some((cluster, cluster.pools.as_ref()?))) else {
        return Vec::new();
    };
    let mut families: BTreeMap<&Arc<str>, Option<u64>> = BTreeMap::new();
    let mut shown: BTreeMap<&Arc<str>, Vec<Value>> = BTreeMap::new();
    for pool in pools {
        let devices =
            pool.nodes.filter(|_| pool.sharing.is_none()).map(|nodes| nodes.saturating_mul(pool.per_node));
        let sum = families.entry(&pool.family).or_insert(Some(0));
        *sum = sum.and_then(|sum| sum.checked_add(devices?));
        if let Some(nodes) = pool.nodes {
            shown
                .entry(&pool.family)
                .or_default()
                .push(Value::from(format!("{nodes} nodes × {}", pool.per_node)));
        }
    }
    let mut rows = Vec::new();
    for (family, devices) in families {
        let Some(thousandths) = devices.and_then(|devices| devices.checked_mul(1000)) else { continue };
        let contributors = seen.iter().filter(|seen| !seen.elsewhere).filter_map(|seen| {
            let rows = seen.assessed.families.iter().filter(|row| row.family.as_ref() == Some(family));
            let amount = rows.fold(Three::ZERO, |sum, row| sum.add(&row.three));
            (amount != Three::ZERO).then(|| seen.contributor(amount))
        });
        let at = Ref {
            index: usize::MAX,
            group: "fleetgate.dev".into(),
            kind: "Cluster".into(),
            namespace: None,
            name: format!("{} {family}", cluster.name).into(),
        };
        let part = Part {
            system: "pools",
            at: &at,
            path: Route::root(),
            key: family,
            resource: family.clone(),
            most: Most::Known(thousandths),
            owner: None,
        };
        let facts = vec![("nodes", Value::from(shown.remove(family).unwrap_or_default()))];
        rows.push(Quota::Limit(Limit { thousandths: true, facts, ..part.limit(contributors.collect()) }));
    }
    rows
}
