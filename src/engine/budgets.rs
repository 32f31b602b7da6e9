//! How much of each budget of the fleet file is used, over all clusters for which it holds.
//!
//! A budget holds the steady demand of its team, and the largest rollouts that may go on at the same
//! time. What is not known exactly stays so: such a budget does not count as kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Request;
use super::input::object;
use super::levers::{self, Lever};
use super::sites::{Located, Site};
use crate::accelerators::{Amount, Assessed, FamilyRow, Fits, Queued, route_value};
use crate::model::{self, Budget, Context, Fleet, ObjectId, Value};

/// One budget, worked out. Amounts are in thousandths of a device.
#[derive(Debug)]
pub struct BudgetUse<'r> {
    /// The budget.
    pub budget: &'r Budget,
    /// While nothing changes.
    pub steady: Amount,
    /// The largest rollouts that may go on at once, beyond that.
    pub surge: Amount,
    /// Both together.
    pub used: Amount,
    /// What it consists of, the largest first.
    pub contributors: Vec<Contributor>,
    /// Workloads that are left to the quota of their queue.
    pub queued: usize,
    /// Those of them whose queue no manifest holds, so that nobody knows of a quota.
    pub unseen: Vec<String>,
}

/// A workload in one cluster that counts in a budget. Amounts are in thousandths of a device.
#[derive(Debug)]
pub struct Contributor {
    /// Where it runs.
    pub context: Arc<Context>,
    /// Index of the site.
    pub site: usize,
    /// Where it stands.
    pub located: Located,
    /// Which object it is.
    pub id: ObjectId,
    /// Whether more than one team claims its namespace.
    pub disputed: bool,
    /// While nothing changes.
    pub steady: Amount,
    /// What its rollout needs beyond that.
    pub surge: Amount,
    /// The most of both, if that is known: where only the family is not, it is what it asks for.
    pub most: Option<u64>,
}

/// The group of our own documents, in identities of findings.
const GROUP: &str = "fleetgate.dev";

/// All budgets, in the order of the fleet file.
pub fn budgets<'r>(request: &'r Request<'_>, sites: &[Site]) -> Vec<BudgetUse<'r>> {
    let Some(fleet) = request.fleet else { return Vec::new() };
    let handed = handed_on(request, sites);
    fleet.budgets.iter().map(|budget| work_out(request, fleet, budget, sites, &handed)).collect()
}

fn work_out<'r>(
    request: &Request<'_>,
    fleet: &Fleet,
    budget: &'r Budget,
    sites: &[Site],
    handed: &BTreeSet<&ObjectId>,
) -> BudgetUse<'r> {
    let mut contributors = Vec::new();
    let mut queued = 0;
    let mut unseen = Vec::new();
    for (index, site) in sites.iter().enumerate().filter(|(_, site)| holds_in(budget, &site.context)) {
        for assessed in &site.assessment.objects {
            let Some(located) = site.located(assessed).filter(|_| assessed.demand.through.is_none()) else {
                continue;
            };
            let Some(resource) = located.resource(request.corpus) else { continue };
            let owned = owned(fleet, budget, &resource.id);
            let is_copy = has_origin(&resource.object) && handed.contains(&resource.id);
            if owned == Owned::No || is_copy {
                continue;
            }
            let disputed = owned == Owned::Disputed;
            let (steady, surge) = counted_in(budget, assessed, Claim { id: &resource.id, disputed });
            if steady.is_zero() && surge.is_zero() {
                continue;
            }
            if budget.batch_queued && assessed.queue != Queued::No {
                queued += 1;
                if let Queued::Unresolved { queue, .. } = &assessed.queue {
                    unseen.push(format!("{} (queue `{queue}`)", resource.id));
                }
                continue;
            }
            let most = if disputed { None } else { most_in(budget, assessed) };
            let (context, id) = (site.context.clone(), resource.id.clone());
            contributors.push(Contributor {
                context,
                site: index,
                located,
                id,
                disputed,
                steady,
                surge,
                most,
            });
        }
    }
    let cluster =
        |contributor: &Contributor| contributor.context.cluster.as_ref().map(|cluster| cluster.name.clone());
    contributors.sort_by(|a, b| {
        let size = |contributor: &Contributor| contributor.steady.add(&contributor.surge).at_least();
        (size(b), cluster(a), &a.id).cmp(&(size(a), cluster(b), &b.id))
    });
    let parts: Vec<_> = contributors.iter().map(|one| (one.steady.clone(), one.surge.clone())).collect();
    let (steady, surge) = sum_up(&parts, budget.rollout_concurrency);
    unseen.sort();
    unseen.dedup();
    BudgetUse { budget, used: steady.add(&surge), steady, surge, contributors, queued, unseen }
}

/// Steady demand, and the largest surges that may be at once, of parts that have both.
pub(super) fn sum_up(parts: &[(Amount, Amount)], at_once: u32) -> (Amount, Amount) {
    let steady = parts.iter().fold(Amount::ZERO, |sum, (steady, _)| sum.add(steady));
    let mut surges: Vec<&Amount> = parts.iter().map(|(_, surge)| surge).collect();
    // What is open can be larger than anything that is known.
    surges.sort_by_key(|surge| (surge.known().is_some(), std::cmp::Reverse(surge.at_least())));
    let at_once = usize::try_from(at_once).unwrap_or(usize::MAX);
    let surge = surges.into_iter().take(at_once).fold(Amount::ZERO, |sum, surge| sum.add(surge));
    (steady, surge)
}

/// Objects that `MultiKueue` may hand on to another cluster, where a copy of the same name runs.
fn handed_on<'r>(request: &'r Request<'_>, sites: &[Site]) -> BTreeSet<&'r ObjectId> {
    let all = sites.iter().flat_map(|site| site.assessment.objects.iter().map(move |one| (site, one)));
    all.filter(|(_, one)| {
        matches!(one.queue, Queued::Through { elsewhere: true, .. } | Queued::Unresolved { .. })
    })
    .filter_map(|(site, one)| site.located(one)?.resource(request.corpus))
    .filter(|original| !has_origin(&original.object))
    .map(|original| &original.id)
    .collect()
}

/// Whether it says that `MultiKueue` made it from an object of a manager cluster, which counts already
/// if it is there: the label alone hides nothing.
fn has_origin(object: &Value) -> bool {
    let field = |value: &Value, key: &str| value.as_object().ok()?.get(&Value::from(key)).cloned();
    let labels = field(object, "metadata").and_then(|metadata| field(&metadata, "labels"));
    labels.and_then(|labels| field(&labels, "kueue.x-k8s.io/multikueue-origin")).is_some()
}

fn holds_in(budget: &Budget, context: &Context) -> bool {
    let Some(cluster) = &context.cluster else { return false };
    match &budget.environment {
        Some(environment) => *environment == cluster.environment,
        None => budget.clusters.iter().any(|glob| glob.is_match(&*cluster.name)),
    }
}

/// Whether an object is the budget's team's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owned {
    Yes,
    No,
    /// More than one team claims its namespace.
    Disputed,
}

fn owned(fleet: &Fleet, budget: &Budget, id: &ObjectId) -> Owned {
    let Some(namespace) = &id.namespace else { return Owned::No };
    let owners: BTreeSet<&Arc<str>> = (fleet.teams.values())
        .filter(|team| team.namespaces.iter().any(|glob| glob.is_match(&**namespace)))
        .map(|team| &team.name)
        .collect();
    match (owners.contains(&budget.team), owners.len()) {
        (false, _) => Owned::No,
        (true, 1) => Owned::Yes,
        (true, _) => Owned::Disputed,
    }
}

/// Which object is counted, and whether more than one team claims its namespace.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) id: &'a ObjectId,
    pub(super) disputed: bool,
}

/// Steady demand and surge of an object in the budget's family.
pub(super) fn counted_in(budget: &Budget, assessed: &Assessed, claim: Claim<'_>) -> (Amount, Amount) {
    let (mut steady, mut surge) = (Amount::ZERO, Amount::ZERO);
    for row in &assessed.families {
        let doubt = match share(budget, row) {
            Share::None => continue,
            Share::All if claim.disputed => {
                let namespace = claim.id.namespace.as_deref().unwrap_or_default();
                Some(format!("more than one team claims the namespace `{namespace}`"))
            }
            Share::All => None,
            Share::Perhaps(why) => Some(why),
        };
        let more = row.three.rollout.sub(&row.three.steady);
        match doubt {
            None => {
                steady = steady.add(&row.three.steady);
                surge = surge.add(&more);
            }
            Some(why) if !row.three.autoscaled.is_zero() => steady = steady.add(&Amount::unknown(why)),
            Some(_) => {}
        }
    }
    (steady, surge)
}

/// Whether an amount is within a limit, given the most that it can be if that is known.
pub(super) fn bounded(used: &Amount, most: Option<u64>, limit: u64) -> Fits {
    match used.fits(limit) {
        Fits::Unknown if most.is_some_and(|most| most <= limit) => Fits::Yes,
        fits => fits,
    }
}

/// The most that an object can need in the budget's family while it is replaced, if that is known.
pub(super) fn most_in(budget: &Budget, assessed: &Assessed) -> Option<u64> {
    let rows = assessed.families.iter().filter(|row| !matches!(share(budget, row), Share::None));
    rows.map(|row| row.three.rollout.known()).try_fold(0, |sum: u64, most| sum.checked_add(most?))
}

/// How much of a row is of a budget's family and capacity type.
enum Share {
    None,
    All,
    Perhaps(String),
}

fn share(budget: &Budget, row: &FamilyRow) -> Share {
    let doubt = match row.is_of(&budget.family) {
        Fits::Yes => None,
        Fits::No => return Share::None,
        Fits::Unknown => Some(row.why.as_deref().unwrap_or("its accelerator family is not known").to_owned()),
    };
    match (&budget.capacity_type, &row.capacity_type, doubt) {
        (Some(wanted), Some(stated), _) if wanted != stated => Share::None,
        (_, _, Some(why)) => Share::Perhaps(why),
        (Some(wanted), None, None) => {
            Share::Perhaps(format!("whether its capacity is `{wanted}` is not known"))
        }
        _ => Share::All,
    }
}

/// `input.budgets`.
pub(super) fn to_value(request: &Request<'_>, sites: &[Site]) -> Value {
    let shown = |(index, used): (usize, &BudgetUse<'_>)| {
        let kept = used.fits(used.budget.limit.saturating_mul(1000)) == Fits::Yes;
        let levers = if kept { Vec::new() } else { levers::levers(request, used, sites) };
        used.to_value(&levers, request.before.and_then(|before| before.used(index)))
    };
    Value::from(budgets(request, sites).iter().enumerate().map(shown).collect::<Vec<_>>())
}

/// Where a budget stands, by the name that its findings have.
pub(super) fn place(request: &Request<'_>, id: &ObjectId) -> Option<model::Place> {
    let fleet = request.fleet.filter(|_| &*id.group == GROUP && &*id.kind == "Budget")?;
    let budget = fleet.budgets.iter().find(|budget| name(budget) == *id.name)?;
    Some(model::Place { file: budget.file.clone(), document: 0, line: budget.line, offset: 0 })
}

/// `ml-search H100 prod on-demand`: what tells one budget from another.
pub(super) fn name(budget: &Budget) -> String {
    let mut name = format!("{} {}", budget.team, budget.family);
    for part in budget.environment.iter().chain(&budget.cluster_patterns).chain(&budget.capacity_type) {
        name.extend([" ", part]);
    }
    name
}

impl BudgetUse<'_> {
    /// Whether it is within a limit, in thousandths of a device. What may be of the family or of another
    /// fits if all of it does: one workload whose model nobody pins does not put every budget in doubt.
    fn fits(&self, limit: u64) -> Fits {
        let mut all = self.contributors.iter().map(|one| one.most);
        let most = all.try_fold(0, |sum: u64, most| sum.checked_add(most?));
        bounded(&self.used, most, limit)
    }

    /// `base` is what the budget held before the change that is judged.
    fn to_value(&self, levers: &[Lever], base: Option<&Amount>) -> Value {
        let text = |text: &Option<Arc<str>>| text.clone().map_or(Value::Null, Value::String);
        let budget = self.budget;
        let clusters: Vec<_> = budget.cluster_patterns.iter().cloned().map(Value::String).collect();
        let limit = budget.limit.saturating_mul(1000);
        object([
            (
                "ref",
                object([
                    ("group", Value::from(GROUP)),
                    ("kind", Value::from("Budget")),
                    ("name", Value::from(name(budget))),
                    ("namespace", Value::Null),
                    ("environment", text(&budget.environment)),
                ]),
            ),
            ("team", Value::String(budget.team.clone())),
            ("family", Value::String(budget.family.clone())),
            ("environment", text(&budget.environment)),
            ("clusters", Value::from(clusters)),
            ("capacityType", text(&budget.capacity_type)),
            ("limit", Value::from(budget.limit)),
            ("owner", Value::String(budget.owner.clone())),
            ("place", Value::from(format!("{}:{}", budget.file, budget.line))),
            ("rolloutConcurrency", Value::from(u64::from(budget.rollout_concurrency))),
            ("steady", devices(&self.steady).to_value()),
            ("surge", devices(&self.surge).to_value()),
            ("used", devices(&self.used).to_value()),
            ("fits", Value::from(self.fits(limit).as_str())),
            ("fitsSteady", Value::from(self.steady.fits(limit).as_str())),
            ("base", base.map_or(Value::Null, |base| devices(base).to_value())),
            ("delta", base.and_then(|base| delta(base, &self.used)).map_or(Value::Null, Value::from)),
            ("queued", Value::from(self.queued)),
            ("unseen", Value::from(self.unseen.iter().map(|one| Value::from(&**one)).collect::<Vec<_>>())),
            (
                "contributors",
                Value::from(self.contributors.iter().map(Contributor::to_value).collect::<Vec<_>>()),
            ),
            ("holds", self.holds()),
            ("levers", Value::from(levers.iter().map(lever_value).collect::<Vec<_>>())),
        ])
    }

    /// What the budget holds, objects of one name in several clusters together, the largest first.
    fn holds(&self) -> Value {
        let mut sums: BTreeMap<String, (Amount, usize)> = BTreeMap::new();
        for contributor in &self.contributors {
            let (sum, clusters) = sums.entry(contributor.id.to_string()).or_insert((Amount::ZERO, 0));
            *sum = sum.add(&contributor.steady);
            *clusters += 1;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|(a, (m, _)), (b, (n, _))| (n.at_least(), a).cmp(&(m.at_least(), b)));
        let row = |(what, (steady, clusters)): (String, (Amount, usize))| {
            object([
                ("what", Value::from(what)),
                ("clusters", Value::from(clusters)),
                ("steady", devices(&steady).to_value()),
            ])
        };
        Value::from(sums.into_iter().map(row).collect::<Vec<_>>())
    }
}

impl Contributor {
    fn to_value(&self) -> Value {
        let cluster = self.context.cluster.as_ref().map_or(Value::Null, |c| Value::String(c.name.clone()));
        object([
            (
                "ref",
                object([
                    ("cluster", cluster.clone()),
                    ("group", Value::String(self.id.group.clone())),
                    ("kind", Value::String(self.id.kind.clone())),
                    ("namespace", self.id.namespace.clone().map_or(Value::Null, Value::String)),
                    ("name", Value::String(self.id.name.clone())),
                ]),
            ),
            ("what", Value::from(self.id.to_string())),
            ("cluster", cluster),
            ("steady", devices(&self.steady).to_value()),
            ("surge", devices(&self.surge).to_value()),
            ("reasons", Value::from(reasons(&self.steady).chain(reasons(&self.surge)).collect::<Vec<_>>())),
        ])
    }
}

/// How many devices more are used than before, if both are known.
fn delta(base: &Amount, used: &Amount) -> Option<i64> {
    let whole = |amount: &Amount| i64::try_from(devices(amount).known()?).ok();
    whole(used)?.checked_sub(whole(base)?)
}

fn lever_value(lever: &Lever) -> Value {
    object([
        ("what", Value::from(lever.object.to_string())),
        ("path", route_value(&lever.path)),
        (
            "field",
            Value::from(format!("{}{}", lever.path, if lever.with_least { " and minReplicas" } else { "" })),
        ),
        ("is", Value::from(lever.is)),
        ("fits", lever.fits.map_or(Value::Null, Value::from)),
        ("used", devices(&lever.used).to_value()),
    ])
}

fn reasons(amount: &Amount) -> impl Iterator<Item = Value> + '_ {
    let reasons = match amount {
        Amount::Unknown { reasons, .. } => Some(reasons),
        Amount::Known(_) | Amount::Unbounded { .. } => None,
    };
    reasons.into_iter().flatten().cloned().map(Value::String)
}

/// Thousandths as whole devices; a part of a device takes one.
fn devices(thousandths: &Amount) -> Amount {
    thousandths.div_ceil(&Amount::Known(1000))
}
