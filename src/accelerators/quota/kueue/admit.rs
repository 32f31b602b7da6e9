//! Whether a queue can ever admit a workload, and what its queue has to give: Kueue's own counting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::quota::{Cap, FlavorResource};
use super::{ClusterQueue, GROUP, Group, Kueue};
use crate::accelerators::amount::{Amount, Three};
use crate::accelerators::pod::{Resources, add, raise};
use crate::accelerators::quota::row::{Admission, Contributor, Limit, Most, Quota, Reason, Ref};
use crate::accelerators::quota::seen::Seen;
use crate::accelerators::quota::{Flavor, owner};
use crate::accelerators::resources::class;
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{at, path, text};
use crate::accelerators::workload::{PodGroup, kind_of};
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Step, Value};

/// How many nodes of a search are visited before it is given up: sixteen flavours for each of three
/// sets of pods.
const SEARCH: u32 = 5_000;

/// What a set of pods that is started together asks for.
struct PodSet<'w> {
    group: &'w PodGroup,
    /// All pods of the set together; the least with which it is started.
    asks: Resources,
}

impl Kueue {
    /// The way of a workload to its cluster queue.
    fn behind(&self, queue: &str, namespace: Option<&str>) -> Option<(usize, &Arc<str>, &ClusterQueue)> {
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
                format!("the queue is stopped (`stopPolicy`): it admits nothing until that is changed")
                    .into(),
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
                    self.limit_rows(queue, group, resource, &at, &route, workloads, &owner, &mut rows);
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
        owner: &Option<Arc<str>>,
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
                    queued,
                    contributors: of.into_iter().map(|(_, contributor)| contributor).collect(),
                    owner: owner.clone(),
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

impl Reason {
    fn plain(code: &'static str, message: String) -> Self {
        Self { code, message, resource: None, asked: None, most: None }
    }
}

fn join(one: Cap, other: &Cap) -> Cap {
    Ok(one?.saturating_add(other.clone()?))
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

/// The sets of pods of a workload as Kueue counts them (`PodSets` of pkg/controller/jobs/*), with what
/// each asks for of devices that quota covers. Claims are left out: which quota they are charged to is
/// in Kueue's own configuration.
fn pod_sets<'w>(seen: &'w Seen<'_>, by_pod: bool, notes: &mut BTreeSet<Arc<str>>) -> Vec<PodSet<'w>> {
    seen.groups()
        .filter_map(|(group, pod)| {
            let count = count(seen.object, group, by_pod, notes);
            if count.is_zero() {
                return None;
            }
            let asks = (pod.iter())
                .filter(|(resource, amount)| {
                    resource.contains('/') && class(resource).counts() && !amount.is_zero()
                })
                .map(|(resource, amount)| (resource.clone(), amount.mul(&count)))
                .collect();
            Some(PodSet { group, asks })
        })
        .collect()
}

/// How many pods of a group are started together, at the least.
fn count(object: &Value, group: &PodGroup, by_pod: bool, notes: &mut BTreeSet<Arc<str>>) -> Amount {
    let steady = group.count().steady;
    if steady.is_zero() {
        return steady;
    }
    let kind = kind_of(object).map(|(group, _, kind)| (group, kind));
    if by_pod {
        return Amount::ONE;
    }
    match kind {
        // One workload for each replica.
        Some(("leaderworkerset.x-k8s.io", "LeaderWorkerSet")) => group.per.clone(),
        Some(("batch", "Job")) => least(
            steady,
            text(object, &["metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"])
                .and_then(|least| least.parse().ok()),
        ),
        Some((GROUP, "Workload")) => least(
            steady,
            parent(&group.path, 2)
                .and_then(|set| at(object, &set))
                .and_then(|set| path(set, &["minCount"]))
                .and_then(|least| Quantity::from_value(least).ok()?.to_count().ok()),
        ),
        Some(("ray.io", _)) => ray(object, group, steady, notes),
        _ => steady,
    }
}

fn least(steady: Amount, stated: Option<u64>) -> Amount {
    stated.map_or(steady.clone(), |stated| steady.min(&Amount::Known(stated)))
}

/// Kueue takes a worker group's `replicas` as written, where KubeRay keeps them between `minReplicas`
/// and `maxReplicas` (kubernetes-sigs/kueue pkg/controller/jobs/raycluster/common.go
/// `effectiveWorkerCount`). Its code counts one where they are absent; the default of the CRD makes
/// that none before Kueue sees it.
fn ray(object: &Value, group: &PodGroup, steady: Amount, notes: &mut BTreeSet<Arc<str>>) -> Amount {
    let Some(workers) = parent(&group.path, 2).filter(|route| matches!(route.0.last(), Some(Step::Index(_))))
    else {
        return steady;
    };
    let stated = at(object, &workers).and_then(|workers| path(workers, &["replicas"]));
    let Some(stated) = stated else {
        notes.insert(
            "a worker group states no `replicas`: KubeRay's default is 0, Kueue's own code counts 1".into(),
        );
        return steady;
    };
    match Quantity::from_value(stated).and_then(Quantity::to_count) {
        Ok(n) => {
            let count = Amount::Known(n).mul(&group.per);
            if count != steady {
                notes.insert(
                    "Kueue counts the `replicas` of a worker group as written, KubeRay keeps them between `minReplicas` and `maxReplicas`".into(),
                );
            }
            count
        }
        Err(_) => steady,
    }
}

/// The route without its last steps.
fn parent(route: &Route, steps: usize) -> Option<Route> {
    let keep = route.0.len().checked_sub(steps)?;
    Some(Route(route.0.iter().take(keep).cloned().collect()))
}
