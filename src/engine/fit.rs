//! Where workloads would fit: on each cluster, what they need, what is free, and what is in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::budgets::{Claim, counted_in};
use super::contexts::Contexts;
use super::input::team;
use crate::accelerators::{
    Amount, Assessed, Candidate, Contributor, Fits, Most, Quota, Registry, Selected, Tree, assess,
};
use crate::manifest::Resource;
use crate::manifest::corpus::Corpus;
use crate::model::{Cluster, Context, Fleet, Pool, Value};

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
    let none = Vec::new();
    let clusters = request.fleet.clusters.values().filter(|cluster| wanted(cluster));
    clusters
        .map(|cluster| {
            let running = running.get(&cluster.name).unwrap_or(&none);
            on_cluster(request, cluster, running)
        })
        .collect()
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

fn on_cluster(request: &FitRequest<'_>, cluster: &Arc<Cluster>, running: &[&Resource]) -> ClusterFit {
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
    fit.budgets(request, &assessment.objects, &objects, new.len());
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

    /// What the fleet's budgets say to it, as far as this cluster uses them.
    fn budgets(
        &mut self,
        request: &FitRequest<'_>,
        objects: &[Assessed],
        resources: &[&Resource],
        new: usize,
    ) {
        for budget in &request.fleet.budgets {
            let holds = match &budget.environment {
                Some(environment) => *environment == self.cluster.environment,
                None => budget.clusters.iter().any(|glob| glob.is_match(&*self.cluster.name)),
            };
            if !holds {
                continue;
            }
            let mine = objects.iter().filter(|assessed| assessed.demand.index < new);
            let needs = mine.fold(Amount::ZERO, |sum, assessed| {
                let Some(resource) = resources.get(assessed.demand.index) else { return sum };
                if team(&resource.id, Some(request.fleet)).as_ref() != Some(&budget.team) {
                    return sum;
                }
                let claim = Claim { id: &resource.id, disputed: false };
                let (steady, surge) = counted_in(budget, assessed, claim);
                sum.add(&steady).add(&surge)
            });
            if needs.fits(budget.limit.saturating_mul(1000)) == Fits::No {
                self.obstacles.insert(format!(
                    "the {} budget of {} is {} (owner @{})",
                    budget.family,
                    budget.team,
                    budget.limit,
                    budget.owner.trim_start_matches('@')
                ));
            }
        }
    }
}

/// What a row of quota says of the first `new` objects, for people.
fn verdicts(quota: &Quota, new: usize) -> Vec<(String, Fits)> {
    match quota {
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
