//! Whether a queue can ever admit a workload, and what its queue has to give: Kueue's own counting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::pod_sets::{PodSet, pod_sets};
use super::quota::{Cap, FlavorResource};
use super::{ClusterQueue, Group, Kueue};
use crate::accelerators::amount::Amount;
use crate::accelerators::pod::{Resources, add, raise};
use crate::accelerators::quota::row::{Admission, Reason, Ref};
use crate::accelerators::quota::seen::Seen;
use crate::accelerators::quota::{Flavor, owner};
use crate::accelerators::tree::Tree;

/// How many nodes of a search are visited before it is given up: sixteen flavours for each of three
/// sets of pods.
const SEARCH: u32 = 5_000;

impl Kueue {
    /// The way of a workload to its cluster queue.
    pub(super) fn behind(
        &self,
        queue: &str,
        namespace: Option<&str>,
    ) -> Option<(usize, &Arc<str>, &ClusterQueue)> {
        let local = self.find(queue, namespace)?;
        let name = local.cluster_queue.as_ref()?;
        Some((local.index, name, self.cluster.get(name)?))
    }

    /// Whether the queue that an object names can ever start it.
    pub(in super::super) fn admission(&self, tree: &Tree<'_>, seen: &Seen<'_>) -> Option<Admission> {
        let named = seen.named.as_ref()?;
        let namespace = seen.at.namespace.as_deref();
        let (local, name, queue) = self.behind(&named.queue, namespace)?;
        let mut notes = BTreeSet::new();
        let sets = pod_sets(seen, named.by_pod, &mut notes);
        let mut reasons = Vec::new();
        if sets.iter().all(|set| set.asks.is_empty()) {
            return None;
        }
        match self.takes(queue, namespace) {
            Some(true) => {}
            Some(false) => reasons.push(Reason::plain(
                "namespace",
                format!(
                    "ClusterQueue `{name}` takes no workloads of namespace `{}`",
                    namespace.unwrap_or("default")
                ),
            )),
            None => reasons.push(Reason::plain(
                "unknown",
                format!("whether ClusterQueue `{name}` takes workloads of this namespace depends on labels that are not in the manifests"),
            )),
        }
        if let Some(cohort) = queue.cohort.as_ref().filter(|cohort| self.cohorts.cyclic.contains(*cohort)) {
            reasons.push(Reason::plain(
                "cohort-cycle",
                format!("cohort `{cohort}` of ClusterQueue `{name}` is below a cycle of cohorts"),
            ));
        }
        if queue.stopped || tree.objects.get(local).is_some_and(|queue| super::is_stopped(queue)) {
            notes.insert(
                "the queue is stopped (`stopPolicy`): it admits nothing until that is changed".into(),
            );
        }
        let batches: Vec<&[PodSet<'_>]> =
            if named.by_pod { sets.chunks(1).collect() } else { vec![&sets[..]] };
        for batch in batches {
            self.judge(name, queue, batch, &mut reasons);
        }
        let mut asks = Resources::new();
        for set in &sets {
            if named.by_pod { raise(&mut asks, &set.asks) } else { add(&mut asks, &set.asks) }
        }
        let at = Ref::of(tree, queue.index);
        let owner = owner(tree, queue.index);
        let mut admission = Admission::new("kueue", seen, named, at, reasons, named.by_pod, asks, owner);
        admission.notes = notes.into_iter().collect();
        Some(admission)
    }

    /// Adds why these sets of pods, which are started together, never are.
    fn judge(&self, name: &str, queue: &ClusterQueue, sets: &[PodSet<'_>], reasons: &mut Vec<Reason>) {
        let resources: BTreeSet<&Arc<str>> = sets
            .iter()
            .flat_map(|set| set.asks.iter())
            .filter(|(_, n)| n.at_least() > 0)
            .map(|(r, _)| r)
            .collect();
        for resource in &resources {
            if !queue.groups.iter().any(|group| group.covered.contains(*resource)) {
                reasons.push(Reason {
                    resource: Some((*resource).clone()),
                    ..Reason::plain(
                        "not-covered",
                        format!("resource `{resource}` is unavailable in ClusterQueue `{name}`"),
                    )
                });
            }
        }
        for group in &queue.groups {
            let asked: Vec<&PodSet<'_>> = sets
                .iter()
                .filter(|set| set.asks.iter().any(|(r, n)| n.at_least() > 0 && group.covered.contains(r)))
                .collect();
            if !asked.is_empty() {
                self.judge_group(queue, group, &asked, reasons);
            }
        }
        if sets.iter().flat_map(|set| set.asks.values()).any(|amount| amount.known().is_none()) {
            reasons.push(Reason::plain("unknown", "how much it asks for is not known".to_owned()));
        }
    }

    fn judge_group(
        &self,
        queue: &ClusterQueue,
        group: &Group,
        sets: &[&PodSet<'_>],
        reasons: &mut Vec<Reason>,
    ) {
        let flavors: Vec<&Flavor> = group.flavors.iter().filter_map(|name| self.flavors.get(name)).collect();
        if flavors.len() < group.flavors.len() {
            reasons
                .push(Reason::plain("unknown", "a flavor of its queue is not in the manifests".to_owned()));
            return;
        }
        let mut caps: BTreeMap<FlavorResource, Cap> = BTreeMap::new();
        for flavor in &flavors {
            for resource in &group.covered {
                let key = (flavor.name.clone(), resource.clone());
                let cap = self.most(queue, &key);
                caps.insert(key, cap);
            }
        }
        let choices: Vec<Vec<&Flavor>> = sets
            .iter()
            .map(|set| flavors.iter().copied().filter(|f| f.refuses(&set.group.spec).is_none()).collect())
            .collect();
        let mut search = Search { group, sets, choices: &choices, caps: &caps, left: SEARCH, open: false };
        if search.fits(0, &mut BTreeMap::new()) || search.left == 0 {
            if search.open || search.left == 0 {
                reasons.extend(
                    caps.values()
                        .find_map(|cap| cap.clone().err())
                        .map(|why| Reason::plain("unknown", why.to_string())),
                );
            }
            return;
        }
        reasons.push(explain(queue, group, sets, &flavors, &caps));
    }
}

impl Reason {
    fn plain(code: &'static str, message: String) -> Self {
        Self { code, message, resource: None, asked: None, most: None }
    }
}

/// Why no choice of flavours fits.
fn explain(
    queue: &ClusterQueue,
    group: &Group,
    sets: &[&PodSet<'_>],
    flavors: &[&Flavor],
    caps: &BTreeMap<FlavorResource, Cap>,
) -> Reason {
    let mut lines = Vec::new();
    let mut most: Option<u64> = None;
    let asked_of = |resource: &Arc<str>| {
        sets.iter().filter_map(|set| set.asks.get(resource)).fold(Amount::ZERO, |sum, n| sum.add(n))
    };
    // The resource that is the furthest from fitting names the finding.
    let worst =
        (group.covered.iter()).filter(|resource| asked_of(resource).at_least() > 0).max_by_key(|resource| {
            let best = flavors.iter().filter_map(|f| caps.get(&(f.name.clone(), (*resource).clone())));
            let best = best.filter_map(|cap| cap.clone().ok()).max().unwrap_or(u64::MAX);
            (asked_of(resource).at_least().saturating_sub(best), *resource)
        });
    let mut code = "flavors";
    for flavor in flavors {
        if let Some(why) = sets.iter().find_map(|set| flavor.refuses(&set.group.spec)) {
            lines.push(format!("flavor `{}`: {why}", flavor.name));
            continue;
        }
        code = "too-large";
        let Some(resource) = worst else { continue };
        let key = (flavor.name.clone(), resource.clone());
        if let Some(Ok(cap)) = caps.get(&key) {
            most = Some(most.map_or(*cap, |most| most.max(*cap)));
            let nominal = queue.quotas.get(&key).and_then(|quota| quota.nominal.clone().ok()).unwrap_or(0);
            let borrowed = match &queue.cohort {
                Some(cohort) => {
                    format!(" ({nominal} of its own, {} of cohort `{cohort}`)", cap.saturating_sub(nominal))
                }
                None => String::new(),
            };
            lines.push(format!("flavor `{}` has {cap} at most{borrowed}", flavor.name));
        }
    }
    if flavors.is_empty() {
        lines.push("its queue has no flavor for it".to_owned());
    }
    Reason {
        code,
        message: lines.join("; "),
        resource: worst.cloned(),
        asked: worst.map(asked_of),
        most: if code == "too-large" { most } else { None },
    }
}

/// Whether there is a choice of a flavour for each set of pods with which all fit at once. Kueue itself
/// takes the first that fits, so that what has no choice here is never admitted there.
struct Search<'s> {
    group: &'s Group,
    sets: &'s [&'s PodSet<'s>],
    choices: &'s [Vec<&'s Flavor>],
    caps: &'s BTreeMap<FlavorResource, Cap>,
    left: u32,
    /// Whether an amount that is not known was taken for enough.
    open: bool,
}

impl Search<'_> {
    fn fits(&mut self, position: usize, used: &mut BTreeMap<FlavorResource, u64>) -> bool {
        let (Some(set), Some(choices)) = (self.sets.get(position), self.choices.get(position)) else {
            return true;
        };
        for flavor in choices {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return false;
            }
            let before = used.clone();
            if self.take(set, flavor, used) && self.fits(position + 1, used) {
                return true;
            }
            *used = before;
        }
        false
    }

    fn take(&mut self, set: &PodSet<'_>, flavor: &Flavor, used: &mut BTreeMap<FlavorResource, u64>) -> bool {
        for (resource, amount) in
            set.asks.iter().filter(|(resource, _)| self.group.covered.contains(*resource))
        {
            let key = (flavor.name.clone(), resource.clone());
            let sum = used.get(&key).copied().unwrap_or(0).saturating_add(amount.at_least());
            match self.caps.get(&key) {
                Some(Ok(cap)) if sum > *cap => return false,
                Some(Err(_)) => self.open = true,
                _ => {}
            }
            used.insert(key, sum);
        }
        true
    }
}
