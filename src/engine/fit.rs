//! Where workloads would fit: on each cluster, what they need, what is free, and what is in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;
use std::sync::Arc;

use super::budgets::{Claim, bounded, counted_in, most_in};
use super::contexts::Contexts;
use super::input::team;
use crate::accelerators::{
    Amount, Assessed, Candidate, Contributor, Fits, Most, Queued, Quota, Registry, Selected, Tree, assess,
};
use crate::manifest::Resource;
use crate::manifest::corpus::Corpus;
use crate::model::{Budget, Cluster, Context, Fleet, Pool, Value};

/// What is asked.
#[derive(Debug)]
pub struct FitRequest<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// What the fleet runs.
    pub running: &'a Corpus,
    /// What is to be placed. An object that the fleet runs already takes the place of that one.
    pub new: &'a Corpus,
    /// The kinds that run pods.
    pub registry: &'a Registry,
    /// Whether everything of the fleet was read.
    pub complete: bool,
}

/// The answer for one cluster.
#[derive(Debug)]
pub struct ClusterFit {
    /// The cluster.
    pub cluster: Arc<Cluster>,
    /// Whether all of it fits.
    pub fits: Fits,
    /// By family, in thousandths of a device.
    pub families: Vec<FamilyFit>,
    /// What is in the way, for people.
    pub obstacles: BTreeSet<String>,
    /// What is not known, for people.
    pub unknown: BTreeSet<String>,
}

/// One family on one cluster, in thousandths of a device.
#[derive(Debug)]
pub struct FamilyFit {
    /// The family.
    pub family: Arc<str>,
    /// What the new workloads need at the worst moment of their rollout.
    pub needs: Amount,
    /// What the others use while nothing changes.
    pub used: Amount,
    /// What the cluster has; none: not known.
    pub has: Option<u64>,
}

/// The answers, by name of the cluster.
pub fn fit(request: &FitRequest<'_>, wanted: impl Fn(&Cluster) -> bool) -> Vec<ClusterFit> {
    let running = by_cluster(request.running);
    let used: BTreeMap<&str, Vec<Held>> =
        request.fleet.clusters.values().map(|c| (&*c.name, held(request, c, &running))).collect();
    let none = Vec::new();
    let clusters = request.fleet.clusters.values().filter(|cluster| wanted(cluster));
    clusters
        .map(|cluster| {
            let others = used.iter().filter(|(name, _)| **name != &*cluster.name).map(|(_, held)| held);
            let elsewhere: Vec<Held> = (0..request.fleet.budgets.len())
                .map(|index| others.clone().filter_map(|held| held.get(index)).sum())
                .collect();
            let running = running.get(&cluster.name).unwrap_or(&none);
            on_cluster(request, cluster, running, &elsewhere)
        })
        .collect()
}

/// What each budget holds on a cluster while nothing changes.
fn held(
    request: &FitRequest<'_>,
    cluster: &Arc<Cluster>,
    running: &BTreeMap<Arc<str>, Vec<&Resource>>,
) -> Vec<Held> {
    let Some(resources) = running.get(&cluster.name).filter(|_| !request.fleet.budgets.is_empty()) else {
        return Vec::new();
    };
    let values: Vec<&Value> = resources.iter().map(|resource| &resource.object).collect();
    let assessment = assess(&Tree::new(request.registry, values), Some(cluster), request.complete);
    let of = |budget| {
        let held = assessment.objects.iter().map(|one| Held::of(request, budget, cluster, one, resources));
        held.map(|(steady, _)| steady).sum()
    };
    request.fleet.budgets.iter().map(of).collect()
}

/// The objects of each cluster.
fn by_cluster(corpus: &Corpus) -> BTreeMap<Arc<str>, Vec<&Resource>> {
    let contexts = Contexts::of(corpus);
    let mut clusters: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (document, occurrences) in corpus.documents.iter().zip(&contexts.standing) {
        for context in occurrences.iter().flat_map(|places| places.iter()) {
            let Some(Context { cluster: Some(cluster), .. }) = contexts.all.get(*context).map(|c| &**c)
            else {
                continue;
            };
            clusters.entry(cluster.name.clone()).or_default().extend(document.resources.iter());
        }
    }
    clusters
}

fn on_cluster(
    request: &FitRequest<'_>,
    cluster: &Arc<Cluster>,
    running: &[&Resource],
    elsewhere: &[Held],
) -> ClusterFit {
    let new: Vec<&Resource> =
        request.new.documents.iter().flat_map(|document| document.resources.iter()).collect();
    let same = |a: &Resource, b: &Resource| {
        (&a.id.group, &a.id.kind, &a.id.namespace, &a.id.name)
            == (&b.id.group, &b.id.kind, &b.id.namespace, &b.id.name)
    };
    let others: Vec<&Resource> =
        running.iter().copied().filter(|old| !new.iter().any(|new| same(old, new))).collect();
    // The new ones come first, so that their positions tell them.
    let objects: Vec<&Resource> = new.iter().copied().chain(others).collect();
    let values: Vec<&Value> = objects.iter().map(|resource| &resource.object).collect();
    let assessment = assess(&Tree::new(request.registry, values), Some(cluster), request.complete);
    let mut fit = ClusterFit {
        cluster: cluster.clone(),
        fits: Fits::Yes,
        families: Vec::new(),
        obstacles: BTreeSet::new(),
        unknown: BTreeSet::new(),
    };
    let is_new = |assessed: &Assessed| assessed.demand.index < new.len();
    for assessed in assessment.objects.iter().filter(|assessed| is_new(assessed) && assessed.asks()) {
        if let Some(resource) = objects.get(assessed.demand.index) {
            fit.pods(assessed, resource, cluster);
        }
    }
    fit.capacity(&assessment.objects, cluster, is_new);
    fit.quotas(&assessment.quotas, new.len());
    fit.budgets(request, &assessment.objects, &objects, new.len(), elsewhere);
    fit.fits = match (fit.obstacles.is_empty(), fit.unknown.is_empty()) {
        (false, _) => Fits::No,
        (true, false) => Fits::Unknown,
        (true, true) => Fits::Yes,
    };
    fit
}

impl ClusterFit {
    /// Whether each pod finds a node that it may run on and that is large enough.
    fn pods(&mut self, assessed: &Assessed, resource: &Resource, cluster: &Cluster) {
        let Some(workload) = &assessed.demand.workload else { return };
        self.unknown
            .extend(assessed.demand.unknown.iter().map(|reason| format!("{}: {reason}", resource.id)));
        for ((group, placement), asks) in workload.pods.iter().zip(&assessed.pods).zip(&assessed.demand.pods)
        {
            if asks.is_empty() || group.count().steady.is_zero() {
                continue;
            }
            let what = format!("{}, {}", resource.id, group.role);
            let (Some(candidates), Some(pools)) = (&placement.pools, &cluster.pools) else {
                self.unknown.insert("the fleet file does not say which accelerators it has".to_owned());
                continue;
            };
            let mut refused = BTreeSet::new();
            let free = candidates.iter().filter(|candidate| {
                let reason = pools.get(candidate.pool).and_then(|pool| refusal(candidate, pool, asks));
                let fits = reason.is_none();
                refused.extend(reason);
                fits
            });
            if free.count() > 0 {
                continue;
            }
            if candidates.is_empty() {
                let names: Vec<&str> = asks.keys().map(|name| &**name).collect();
                refused.insert(format!("no node has `{}`", names.join("`, `")));
            }
            let refused: Vec<String> = refused.into_iter().collect();
            self.obstacles.insert(format!("{what}: {}", refused.join("; ")));
        }
    }

    /// Whether the families have as many devices left.
    fn capacity(&mut self, objects: &[Assessed], cluster: &Cluster, is_new: impl Fn(&Assessed) -> bool) {
        let mut sums: BTreeMap<Arc<str>, (Amount, Amount)> = BTreeMap::new();
        for assessed in objects.iter().filter(|assessed| assessed.demand.through.is_none()) {
            for row in &assessed.families {
                let Some(family) = &row.family else {
                    if is_new(assessed) {
                        let why = row.why.as_deref().unwrap_or("which family it gets is not known");
                        self.unknown.insert(why.to_owned());
                    }
                    continue;
                };
                let (needs, used) = sums.entry(family.clone()).or_insert((Amount::ZERO, Amount::ZERO));
                if is_new(assessed) {
                    *needs = needs.add(&row.three.rollout);
                } else {
                    *used = used.add(&row.three.steady);
                }
            }
        }
        for (family, (needs, used)) in sums {
            if needs.is_zero() {
                continue;
            }
            let has = cluster.pools.as_ref().and_then(|pools| devices(pools, &family));
            match has.map(|has| (has, used.add(&needs).fits(has))) {
                Some((_, Fits::Yes)) => {}
                Some((has, Fits::No)) => {
                    let shown = |amount: &Amount| amount.div_ceil(&Amount::Known(1000)).to_string();
                    self.obstacles.insert(format!(
                        "{family}: needs {}, and {} of {} are in use",
                        shown(&needs),
                        shown(&used),
                        has / 1000
                    ));
                }
                Some((_, Fits::Unknown)) => {
                    self.unknown.insert(format!("how many {family} are in use is not known exactly"));
                }
                None => {
                    self.unknown.insert(format!("how many {family} it has is not known"));
                }
            }
            self.families.push(FamilyFit { family, needs, used, has });
        }
    }

    /// What the cluster's own quota says to it.
    fn quotas(&mut self, quotas: &[Quota], new: usize) {
        for (what, fits) in quotas.iter().flat_map(|quota| verdicts(quota, new)) {
            match fits {
                Fits::Yes => {}
                Fits::No => drop(self.obstacles.insert(what)),
                Fits::Unknown => drop(self.unknown.insert(what)),
            }
        }
    }

    /// What the fleet's budgets say to it: what the team uses on all clusters, and this besides.
    fn budgets(
        &mut self,
        request: &FitRequest<'_>,
        objects: &[Assessed],
        resources: &[&Resource],
        new: usize,
        elsewhere: &[Held],
    ) {
        for (index, budget) in request.fleet.budgets.iter().enumerate() {
            let of = |assessed| Held::of(request, budget, &self.cluster, assessed, resources);
            let is_new = |assessed: &&Assessed| assessed.demand.index < new;
            let (mine, others): (Vec<_>, Vec<_>) = objects.iter().partition(is_new);
            let needs: Held = mine.into_iter().map(of).map(|(steady, surge)| steady.and(&surge)).sum();
            if needs.amount.is_zero() {
                continue;
            }
            let here: Held = others.into_iter().map(of).map(|(steady, _)| steady).sum();
            let used = elsewhere.get(index).map_or_else(|| here.clone(), |held| held.and(&here));
            let what = format!(
                "the {} budget of {} is {} (owner @{}), of which {} are in use",
                budget.family,
                budget.team,
                budget.limit,
                budget.owner.trim_start_matches('@'),
                used.amount.div_ceil(&Amount::Known(1000)),
            );
            match used.and(&needs).fits(budget.limit) {
                Fits::Yes => {}
                Fits::No => drop(self.obstacles.insert(what)),
                Fits::Unknown => drop(self.unknown.insert(what)),
            }
        }
    }
}

/// Thousandths of a device that a budget holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    amount: Amount,
    /// The most that it can be, where only the family of some is not known.
    most: Option<u64>,
}

impl Held {
    const NONE: Self = Self { amount: Amount::ZERO, most: Some(0) };

    /// What an object adds on a cluster, and what its rollout adds to that.
    fn of(
        request: &FitRequest<'_>,
        budget: &Budget,
        cluster: &Cluster,
        assessed: &Assessed,
        resources: &[&Resource],
    ) -> (Self, Self) {
        let holds = match &budget.environment {
            Some(environment) => *environment == cluster.environment,
            None => budget.clusters.iter().any(|glob| glob.is_match(&*cluster.name)),
        };
        let left_to_queue = budget.batch_queued && assessed.queue != Queued::No;
        let resource = resources.get(assessed.demand.index);
        let owner = resource.and_then(|resource| team(&resource.id, Some(request.fleet)));
        let (Some(resource), false) = (resource, left_to_queue || assessed.demand.through.is_some()) else {
            return (Self::NONE, Self::NONE);
        };
        if !holds || owner.as_ref() != Some(&budget.team) {
            return (Self::NONE, Self::NONE);
        }
        let claim = Claim { id: &resource.id, disputed: false };
        let (steady, surge) = counted_in(budget, assessed, claim);
        let most = most_in(budget, assessed);
        (Self { amount: steady, most }, Self { amount: surge, most: Some(0) })
    }

    fn and(&self, other: &Self) -> Self {
        let most = self.most.zip(other.most).and_then(|(one, other)| one.checked_add(other));
        Self { amount: self.amount.add(&other.amount), most }
    }

    /// Whether it is within a limit of whole devices.
    fn fits(&self, limit: u64) -> Fits {
        bounded(&self.amount, self.most, limit.saturating_mul(1000))
    }
}

impl Sum for Held {
    fn sum<I: Iterator<Item = Self>>(held: I) -> Self {
        held.fold(Self::NONE, |sum, one| sum.and(&one))
    }
}

impl<'a> Sum<&'a Self> for Held {
    fn sum<I: Iterator<Item = &'a Self>>(held: I) -> Self {
        held.fold(Self::NONE, |sum, one| sum.and(one))
    }
}

/// What a row of quota says of the first `new` objects, for people.
fn verdicts(quota: &Quota, new: usize) -> Vec<(String, Fits)> {
    match quota {
        // The families of the cluster's nodes are judged by themselves.
        Quota::Limit(limit) if limit.system == "pools" => Vec::new(),
        Quota::Limit(limit) => {
            let mine = |contributor: &Contributor| contributor.at.index < new && !contributor.queued;
            if !limit.contributors.iter().any(mine) {
                return Vec::new();
            }
            let (fits, most) = match &limit.most {
                Most::Known(most) => (limit.used.rollout.fits(*most), most.to_string()),
                Most::Unlimited => return Vec::new(),
                Most::Unknown(why) => (Fits::Unknown, why.to_string()),
            };
            let what = format!(
                "{} {}: {} of `{}` would be used of {most}",
                limit.at.kind, limit.at.name, limit.used.rollout, limit.key
            );
            vec![(what, fits)]
        }
        Quota::Admission(admission) if admission.workload.index < new => (admission.reasons.iter())
            .map(|reason| (format!("queue {}: {}", admission.queue, reason.message), admission.possible))
            .collect(),
        Quota::Admission(_) | Quota::Problem(_) => Vec::new(),
    }
}

/// Why a pod cannot run on a pool.
fn refusal(candidate: &Candidate, pool: &Pool, asks: &BTreeMap<Arc<str>, Amount>) -> Option<String> {
    if let Selected::No(because) = &candidate.selected {
        return Some(format!("not on {}: {because}", pool.family));
    }
    if let Some(taint) = candidate.untolerated.first() {
        return Some(format!("not on {}: the taint `{}` is not tolerated", pool.family, taint.key));
    }
    let asked = asks.get(&pool.resource)?;
    (asked.at_least() > pool.per_node).then(|| {
        format!("a node of {} has {} of `{}`, not {asked}", pool.family, pool.per_node, pool.resource)
    })
}

/// Whole devices of a family, in thousandths; none if it is not known for each pool.
fn devices(pools: &[Pool], family: &str) -> Option<u64> {
    let mut sum: u64 = 0;
    for pool in pools.iter().filter(|pool| *pool.family == *family) {
        let units = pool.nodes?.checked_mul(pool.per_node)?;
        if pool.sharing.is_some() {
            return None;
        }
        sum = sum.checked_add(units.checked_mul(1000)?)?;
    }
    Some(sum)
}
