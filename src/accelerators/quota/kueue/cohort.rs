//! The most that a queue of a cohort can ever get, with nothing else running: `potentialAvailable` of
//! kubernetes-sigs/kueue `pkg/cache/scheduler/resource_node.go`, over trees of cohorts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::quota::{Cap, FlavorQuota, FlavorResource};

/// A cohort: an object, or only a name that queues share.
#[derive(Debug, Default)]
pub(super) struct Cohort {
    pub parent: Option<Arc<str>>,
    pub quotas: BTreeMap<FlavorResource, FlavorQuota>,
}

/// What the cohorts of a cluster have to give.
#[derive(Debug, Default)]
pub(super) struct Cohorts {
    /// By cohort, the most that a member without limits of its own gets from there.
    most: BTreeMap<Arc<str>, BTreeMap<FlavorResource, Cap>>,
    /// Cohorts that are in a cycle or below one: none of their queues admits anything.
    pub cyclic: BTreeSet<Arc<str>>,
}

/// A member of a cohort: what it has, and what of that it keeps for itself.
fn kept(quota: Option<&FlavorQuota>, subtree: &Cap) -> Cap {
    match quota.and_then(|quota| quota.lending.as_ref()) {
        None => Ok(0),
        Some(lending) => Ok(subtree.clone()?.saturating_sub(lending.clone()?)),
    }
}

fn plus(one: Cap, other: &Cap) -> Cap {
    Ok(one?.saturating_add(other.clone()?))
}

fn minus(one: Cap, other: Cap) -> Cap {
    Ok(one?.saturating_sub(other?))
}

fn least(one: Cap, other: Cap) -> Cap {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one.min(other)),
        (Err(why), _) | (_, Err(why)) => Err(why),
    }
}

/// What a member gets at most if its cohort has `from` to give.
fn potential(quota: Option<&FlavorQuota>, subtree: &Cap, from: &Cap) -> Cap {
    let available = plus(kept(quota, subtree), from);
    match quota.and_then(|quota| quota.borrowing.as_ref()) {
        None => available,
        Some(borrowing) => least(plus(subtree.clone(), borrowing), available),
    }
}

impl Cohorts {
    /// `queues` are the quotas of the queues of each cohort.
    pub(super) fn of<'q>(
        mut cohorts: BTreeMap<Arc<str>, Cohort>,
        queues: impl IntoIterator<Item = (&'q Arc<str>, &'q BTreeMap<FlavorResource, FlavorQuota>)>,
    ) -> Self {
        let mut subtree: BTreeMap<Arc<str>, BTreeMap<FlavorResource, Cap>> = BTreeMap::new();
        for (name, quotas) in queues {
            cohorts.entry(name.clone()).or_default();
            let sum = subtree.entry(name.clone()).or_default();
            for (key, quota) in quotas {
                add(sum, key, minus(quota.nominal.clone(), kept(Some(quota), &quota.nominal)));
            }
        }
        let parents: Vec<Arc<str>> = cohorts.values().filter_map(|cohort| cohort.parent.clone()).collect();
        for parent in &parents {
            cohorts.entry(parent.clone()).or_default();
        }
        for (name, cohort) in &cohorts {
            let sum = subtree.entry(name.clone()).or_default();
            for (key, quota) in &cohort.quotas {
                add(sum, key, quota.nominal.clone());
            }
        }
        // Children before parents; what is never ready is in a cycle.
        let mut waiting: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for parent in parents {
            *waiting.entry(parent).or_default() += 1;
        }
        let mut ready: Vec<Arc<str>> =
            cohorts.keys().filter(|name| !waiting.contains_key(*name)).cloned().collect();
        let mut order = Vec::with_capacity(cohorts.len());
        while let Some(name) = ready.pop() {
            if let Some(cohort) = cohorts.get(&name)
                && let Some(parent) = &cohort.parent
            {
                let own = subtree.get(&name).cloned().unwrap_or_default();
                let sum = subtree.entry(parent.clone()).or_default();
                for (key, amount) in own {
                    let lent = minus(amount.clone(), kept(cohort.quotas.get(&key), &amount));
                    add(sum, &key, lent);
                }
                if let Some(count) = waiting.get_mut(parent) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(parent.clone());
                    }
                }
            }
            order.push(name);
        }
        Self::down(&cohorts, &subtree, &order)
    }

    /// From the roots down: what each cohort can have.
    fn down(
        cohorts: &BTreeMap<Arc<str>, Cohort>,
        subtree: &BTreeMap<Arc<str>, BTreeMap<FlavorResource, Cap>>,
        order: &[Arc<str>],
    ) -> Self {
        let mut most: BTreeMap<Arc<str>, BTreeMap<FlavorResource, Cap>> = BTreeMap::new();
        for name in order.iter().rev() {
            let Some(cohort) = cohorts.get(name) else { continue };
            let own = subtree.get(name).cloned().unwrap_or_default();
            let own = match &cohort.parent {
                None => own,
                Some(parent) => {
                    // Below a cycle.
                    let Some(above) = most.get(parent) else { continue };
                    (own.into_iter())
                        .map(|(key, amount)| {
                            let from = above.get(&key).cloned().unwrap_or(Ok(0));
                            let most = potential(cohort.quotas.get(&key), &amount, &from);
                            (key, most)
                        })
                        .collect()
                }
            };
            most.insert(name.clone(), own);
        }
        let cyclic = cohorts.keys().filter(|name| !most.contains_key(*name)).cloned().collect();
        Self { most, cyclic }
    }

    /// The most that a queue with this quota ever gets as a member of a cohort.
    pub(super) fn most(&self, cohort: &str, key: &FlavorResource, quota: &FlavorQuota) -> Cap {
        let from = self.most.get(cohort).and_then(|most| most.get(key)).cloned().unwrap_or(Ok(0));
        potential(Some(quota), &quota.nominal, &from)
    }
}

fn add(sum: &mut BTreeMap<FlavorResource, Cap>, key: &FlavorResource, amount: Cap) {
    let entry = sum.entry(key.clone()).or_insert(Ok(0));
    *entry = plus(amount, entry);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> FlavorResource {
        ("h100".into(), "nvidia.com/gpu".into())
    }

    fn quota(
        nominal: u64,
        borrowing: Option<u64>,
        lending: Option<u64>,
    ) -> BTreeMap<FlavorResource, FlavorQuota> {
        let quota = FlavorQuota {
            nominal: Ok(nominal),
            borrowing: borrowing.map(Ok),
            lending: lending.map(Ok),
            path: crate::model::Route::root(),
        };
        BTreeMap::from([(key(), quota)])
    }

    type Row<'r> = (&'r str, BTreeMap<FlavorResource, FlavorQuota>);

    /// The most for the first queue.
    fn most(
        queues: &[Row<'_>],
        cohorts: &[(&str, Option<&str>, BTreeMap<FlavorResource, FlavorQuota>)],
    ) -> Cap {
        let cohorts = cohorts.iter().map(|(name, parent, quotas)| {
            (Arc::from(*name), Cohort { parent: parent.map(Arc::from), quotas: quotas.clone() })
        });
        let names: Vec<Arc<str>> = queues.iter().map(|(name, _)| Arc::from(*name)).collect();
        let all = Cohorts::of(cohorts.collect(), names.iter().zip(queues.iter().map(|(_, quotas)| quotas)));
        let (name, quotas) = queues.first().expect("a queue");
        all.most(name, &key(), &quotas[&key()])
    }

    #[test]
    fn a_queue_gets_its_own_and_what_the_cohort_lends() {
        // 8 of its own and 16 of the other.
        assert_eq!(most(&[("c", quota(8, None, None)), ("c", quota(16, None, None))], &[]), Ok(24));
        // The other lends 4 of its 16.
        assert_eq!(most(&[("c", quota(8, None, None)), ("c", quota(16, None, Some(4)))], &[]), Ok(12));
        // Its own lending limit changes nothing for itself: it keeps 6, lends 2, borrows 16.
        assert_eq!(most(&[("c", quota(8, None, Some(2))), ("c", quota(16, None, None))], &[]), Ok(24));
        // It may borrow 4 at most.
        assert_eq!(most(&[("c", quota(8, Some(4), None)), ("c", quota(16, None, None))], &[]), Ok(12));
        // It may borrow 100, but there are 16.
        assert_eq!(most(&[("c", quota(8, Some(100), None)), ("c", quota(16, None, None))], &[]), Ok(24));
    }

    #[test]
    fn cohorts_have_quota_of_their_own_and_a_parent() {
        let queue = [("child", quota(8, None, None)), ("other", quota(16, None, None))];
        // child and other are below root, which has 10 more: 8 + 16 + 10.
        let tree = |borrowing, lending| {
            vec![
                ("child", Some("root"), quota(0, borrowing, None)),
                ("other", Some("root"), quota(0, None, lending)),
                ("root", None, quota(10, None, None)),
            ]
        };
        assert_eq!(most(&queue, &tree(None, None)), Ok(34));
        // The subtree of child, which has 8, borrows 5 at most.
        assert_eq!(most(&queue, &tree(Some(5), None)), Ok(13));
        // The subtree of other lends 6 of its 16: 8 + 6 + 10.
        assert_eq!(most(&queue, &tree(None, Some(6))), Ok(24));
        // A parent that is no object is a cohort without limits.
        assert_eq!(
            most(&queue, &[("child", Some("x"), BTreeMap::new()), ("other", Some("x"), BTreeMap::new())]),
            Ok(24)
        );
    }

    #[test]
    fn a_cycle_disables_all_below_it() {
        let none = BTreeMap::new;
        let cohorts = [("a", "b"), ("b", "a"), ("c", "a"), ("d", "e")]
            .map(|(name, parent)| (Arc::from(name), Cohort { parent: Some(parent.into()), quotas: none() }));
        let all = Cohorts::of(cohorts.into(), []);
        assert_eq!(all.cyclic, ["a", "b", "c"].map(Arc::from).into());
        let own = [(Arc::from("x"), Cohort { parent: Some("x".into()), quotas: none() })];
        assert_eq!(Cohorts::of(own.into(), []).cyclic, [Arc::from("x")].into());
    }

    #[test]
    fn what_cannot_be_read_is_unknown_for_all_who_share_it() {
        let mut unreadable = quota(0, None, None);
        for quota in unreadable.values_mut() {
            quota.nominal = Err("it is a placeholder".into());
        }
        assert_eq!(
            most(&[("c", quota(8, None, None)), ("c", unreadable)], &[]),
            Err("it is a placeholder".into())
        );
    }

    #[test]
    fn a_long_chain_is_walked_without_recursion() {
        let cohorts: BTreeMap<Arc<str>, Cohort> = (0..10_000_u32)
            .map(|n| {
                (
                    n.to_string().into(),
                    Cohort { parent: Some((n + 1).to_string().into()), quotas: BTreeMap::new() },
                )
            })
            .collect();
        let (name, quotas) = (Arc::from("0"), quota(8, None, None));
        let all = Cohorts::of(cohorts, [(&name, &quotas)]);
        assert_eq!(all.most("0", &key(), &quotas[&key()]), Ok(8));
    }

    proptest! {
        #[test]
        fn more_quota_anywhere_never_gives_less(
            own in 0..50_u64, other in 0..50_u64, more in 0..50_u64,
            borrowing in prop::option::of(0..50_u64), lending in prop::option::of(0..50_u64),
        ) {
            let get = |own, other| most(&[("c", quota(own, borrowing, lending)), ("c", quota(other, None, lending))], &[]).expect("known");
            prop_assert!(get(own + more, other) >= get(own, other));
            prop_assert!(get(own, other + more) >= get(own, other));
            prop_assert!(get(own, other) >= own);
        }
    }
}
