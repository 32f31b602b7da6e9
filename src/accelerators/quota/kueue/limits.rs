//! What the queues have, and what they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::quota::Cap;
use super::{ClusterQueue, Group, Kueue};
use crate::accelerators::amount::{Amount, Three};
use crate::accelerators::quota::owner;
use crate::accelerators::quota::row::{Contributor, Limit, Most, Quota, Ref};
use crate::accelerators::quota::seen::Seen;
use crate::accelerators::resources::class;
use crate::accelerators::tree::Tree;
use crate::model::{Route, Value};

impl Kueue {
    /// Rows of what the queues have and what they are asked for.
    pub(in super::super) fn limits(&self, tree: &Tree<'_>, queued: &[&Seen<'_>]) -> Vec<Quota> {
        let mut of: BTreeMap<&Arc<str>, Vec<&Seen<'_>>> = BTreeMap::new();
        for seen in queued {
            let Some(named) = &seen.named else { continue };
            if let Some((_, name, _)) = self.behind(&named.queue, seen.at.namespace.as_deref()) {
                of.entry(name).or_default().push(seen);
            }
        }
        let mut rows = Vec::new();
        for (name, queue) in &self.cluster {
            let Some(at) = Ref::of(tree, queue.index) else { continue };
            let workloads = of.get(name).map_or(&[][..], |workloads| workloads);
            let owner = owner(tree, queue.index);
            for (index, group) in queue.groups.iter().enumerate() {
                for resource in group.covered.iter().filter(|r| r.contains('/') && class(r).counts()) {
                    let route = Route::root().key("spec").key("resourceGroups").index(index);
                    self.limit_rows(
                        queue,
                        group,
                        resource,
                        &at,
                        &route,
                        workloads,
                        owner.as_ref(),
                        &mut rows,
                    );
                }
            }
        }
        rows
    }

    #[expect(clippy::too_many_arguments, reason = "one row's parts, used in one place")]
    fn limit_rows(
        &self,
        queue: &ClusterQueue,
        group: &Group,
        resource: &Arc<str>,
        at: &Ref,
        route: &Route,
        workloads: &[&Seen<'_>],
        owner: Option<&Arc<str>>,
        rows: &mut Vec<Quota>,
    ) {
        let contributors: Vec<(&Seen<'_>, Contributor)> = (workloads.iter())
            .filter_map(|seen| {
                let amount = seen.assessed.demand.counted()?.get(resource)?.clone();
                Some((*seen, seen.contributor(amount)))
            })
            .collect();
        let row =
            |flavor: Option<Arc<str>>, path: Route, most: Most, of: Vec<(Amount, Contributor)>, facts| {
                let queued = of.iter().fold(Amount::ZERO, |sum, (amount, _)| sum.add(amount));
                Quota::Limit(Limit {
                    system: "kueue",
                    at: at.clone(),
                    path,
                    key: resource.clone(),
                    resource: resource.clone(),
                    flavor,
                    thousandths: false,
                    most,
                    used: Three::ZERO,
                    needed: Amount::ZERO,
                    queued,
                    contributors: of.into_iter().map(|(_, contributor)| contributor).collect(),
                    owner: owner.cloned(),
                    facts,
                })
            };
        let mut sum: Cap = Ok(0);
        let mut nominal: Cap = Ok(0);
        for name in &group.flavors {
            let key = (name.clone(), resource.clone());
            let Some(quota) = queue.quotas.get(&key) else { continue };
            let most = self.most(queue, &key);
            sum = join(sum, &most);
            nominal = join(nominal, &quota.nominal);
            let of = contributors.iter().filter_map(|(seen, contributor)| {
                let amount = self.in_flavor(group, name, seen, &contributor.amount.steady)?;
                Some((amount, contributor.clone()))
            });
            let number = |cap: Option<&Cap>| match cap {
                Some(Ok(n)) => Value::from(*n),
                _ => Value::Null,
            };
            let facts = vec![
                ("nominal", number(Some(&quota.nominal))),
                ("borrowingLimit", number(quota.borrowing.as_ref())),
                ("lendingLimit", number(quota.lending.as_ref())),
                ("cohort", queue.cohort.as_ref().map_or(Value::Null, |c| Value::String(c.clone()))),
            ];
            rows.push(row(
                Some(name.clone()),
                quota.path.key("nominalQuota"),
                most.into(),
                of.collect(),
                facts,
            ));
        }
        let of = contributors.iter().map(|(_, c)| (c.amount.steady.clone(), c.clone())).collect();
        let facts = vec![
            ("nominal", nominal.map_or(Value::Null, Value::from)),
            ("cohort", queue.cohort.as_ref().map_or(Value::Null, |c| Value::String(c.clone()))),
            ("stopped", Value::from(queue.stopped)),
        ];
        rows.push(row(None, route.clone(), sum.into(), of, facts));
    }

    /// How much of a flavour a workload takes: nothing if its pods are never given it, and not known
    /// if there are others.
    fn in_flavor(
        &self,
        group: &Group,
        flavor: &Arc<str>,
        seen: &Seen<'_>,
        steady: &Amount,
    ) -> Option<Amount> {
        let mut can = BTreeSet::new();
        for (pod, _) in seen.groups() {
            let fitting = group.flavors.iter().filter(|name| {
                self.flavors.get(*name).is_none_or(|flavor| flavor.refuses(&pod.spec).is_none())
            });
            can.extend(fitting);
        }
        if !can.contains(flavor) {
            return None;
        }
        if can.len() == 1 {
            return Some(steady.clone());
        }
        let names: Vec<&str> = can.iter().map(|name| &***name).collect();
        Some(Amount::unknown(format!("it may be given any of the flavors `{}`", names.join("`, `"))))
    }
}

impl From<Cap> for Most {
    fn from(cap: Cap) -> Self {
        match cap {
            Ok(n) => Self::Known(n),
            Err(why) => Self::Unknown(why),
        }
    }
}

fn join(one: Cap, other: &Cap) -> Cap {
    Ok(one?.saturating_add(other.clone()?))
}
