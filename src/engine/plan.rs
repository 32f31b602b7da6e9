//! Which rules judge which resource, and which evaluations are the same and done once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use globset::{Glob, GlobMatcher};
use rayon::prelude::*;

use super::Request;
use super::contexts::Contexts;
use super::input::Facts;
use super::level::Effect;
use super::sites::{self, Site};
use crate::model::{Context, ObjectId, Problem, UnevaluatedRule, Value};
use crate::policy::{Match, Need, Reads, Rule, Target};

/// One evaluation: a group of rules on a resource in a context, for all contexts that are equal as
/// far as these rules can see.
#[derive(Debug)]
pub(super) struct Unit {
    /// Index into the corpus' documents.
    pub(super) document: usize,
    /// Index into the document's resources.
    pub(super) resource: usize,
    /// Index into [`Plan::groups`].
    pub(super) group: usize,
    /// Indexes into [`Plan::contexts`], sorted, never empty; the first stands for all.
    pub(super) contexts: Arc<[usize]>,
    /// The one occurrence of the document that this is about; none: all of them.
    pub(super) occurrence: Option<usize>,
}

/// All the work of a run.
#[derive(Debug)]
pub(super) struct Plan {
    /// Rule indexes that are evaluated together; each group is sorted and of one policy set.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) units: Vec<Unit>,
    /// Evaluations of rules that judge a cluster or the fleet: the index of a site, none for the
    /// fleet, and of a group.
    pub(super) sums: Vec<(Option<usize>, usize)>,
    /// One for each context; empty if no rule asks what becomes of workloads.
    pub(super) sites: Vec<Site>,
    /// For each document: its resources' facts.
    pub(super) facts: Vec<Vec<Facts>>,
    pub(super) contexts: Contexts,
    pub(super) unevaluated: Vec<UnevaluatedRule>,
    pub(super) problems: Vec<Problem>,
    pub(super) clusters: usize,
}

/// What a group of rules can tell apart. Contexts that agree in it share an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Tier {
    /// Nothing of the context.
    Nowhere,
    /// Only the environment.
    Environment,
    /// The environment, what kind of cluster it is, and what becomes of the workload there.
    Placement,
    /// The cluster, or more than we know.
    Everything,
}

/// Facts of a cluster in which many clusters agree.
const SHAPE: [&str; 4] = ["accelerators", "injects", "provider", "region"];

impl Tier {
    /// `placed`: whether what rules see of the workload is not the same everywhere.
    fn of(rule: &Rule, placed: bool) -> Self {
        let Reads::Only(keys) = &rule.reads else { return Self::Everything };
        let reads = |name: &str| keys.iter().any(|key| **key == *name);
        let mut cluster = keys.iter().filter_map(|key| match key.split_once('.') {
            Some(("cluster", below)) => Some(below),
            _ => (**key == *"cluster").then_some(""),
        });
        if cluster.clone().any(|key| !SHAPE.contains(&key)) {
            Self::Everything
        } else if cluster.next().is_some() || placed && reads("workload") {
            Self::Placement
        } else if reads("environment") {
            Self::Environment
        } else {
            Self::Nowhere
        }
    }
}

impl Plan {
    pub(super) fn of(request: &Request<'_>) -> Self {
        let contexts = Contexts::of(request.corpus);
        let (active, unevaluated, problems) = sort_out(request, &contexts.all);
        let facts: Vec<Vec<Facts>> = (request.corpus.documents.par_iter())
            .map(|document| {
                let resources = document.resources.iter();
                resources.map(|resource| Facts::of(resource, request.fleet, request.registry)).collect()
            })
            .collect();
        let rule = |index: &usize| request.policies.rules.get(*index);
        let sites = if active.iter().filter_map(rule).any(asks_what_becomes_of_workloads) {
            sites::of_contexts(request.corpus, &contexts, request.registry, request.complete_clusters())
        } else {
            Vec::new()
        };
        let (single, sums): (Vec<_>, Vec<_>) = (active.into_iter())
            .partition(|index| rule(index).is_some_and(|rule| rule.target == Target::Resource));
        let mut planner = Planner {
            request,
            active: single,
            contexts: &contexts.all,
            sites: &sites,
            shapes: contexts.all.iter().map(|context| shape(context)).collect(),
            namespaces: request.policies.rules.iter().map(|rule| globs(&rule.matches.namespaces)).collect(),
            candidates: HashMap::new(),
            shares: HashMap::new(),
            effects: HashMap::new(),
            groups: Vec::new(),
            group_of: HashMap::new(),
        };
        let mut units = Vec::new();
        for (document, (places, facts)) in contexts.standing.iter().zip(&facts).enumerate() {
            if request.share {
                let contexts = distinct(places.iter().flat_map(|contexts| contexts.iter()));
                planner.plan(Subject { document, occurrence: None }, &contexts, facts, &mut units);
                continue;
            }
            for (occurrence, contexts) in places.iter().enumerate() {
                let subject = Subject { document, occurrence: Some(occurrence) };
                planner.plan(subject, &distinct(contexts.iter()), facts, &mut units);
            }
        }
        let sums = planner.sums(&sums);
        let groups = planner.groups;
        let clusters =
            contexts.all.iter().filter_map(|context| context.cluster.as_ref()).map(|cluster| &cluster.name);
        let clusters = clusters.collect::<BTreeSet<_>>().len();
        Self { groups, units, sums, sites, facts, contexts, unevaluated, problems, clusters }
    }
}

/// Whether a rule can see what is only known when all objects of a context are looked at together.
pub(super) fn asks_what_becomes_of_workloads(rule: &Rule) -> bool {
    let reads = match &rule.reads {
        Reads::Only(keys) => keys.contains("workload"),
        Reads::Anything => true,
    };
    reads || rule.matches.accelerators || matches!(rule.target, Target::Cluster | Target::Fleet)
}

/// What kind of cluster it is: equal for clusters that agree in [`SHAPE`].
fn shape(context: &Context) -> String {
    let facts = context.cluster.as_ref().and_then(|cluster| cluster.facts.as_object().ok());
    let facts = facts.into_iter().flat_map(|facts| SHAPE.iter().map(|key| facts.get(&Value::from(*key))));
    let mut shape = context.environment.as_deref().unwrap_or_default().to_owned();
    for fact in facts {
        shape.push('\0');
        shape.extend(fact.map(ToString::to_string));
    }
    shape
}

/// The rules that can be evaluated at all in this run, and why the others cannot.
fn sort_out(
    request: &Request<'_>,
    contexts: &[Arc<Context>],
) -> (Vec<usize>, Vec<UnevaluatedRule>, Vec<Problem>) {
    let required =
        |id: &str| request.fleet.is_some_and(|fleet| fleet.required.iter().any(|required| **required == *id));
    let mut active = Vec::new();
    let mut unevaluated = Vec::new();
    let mut problems = Vec::new();
    for (index, rule) in request.policies.rules.iter().enumerate() {
        match obstacle(rule, request).or_else(|| nowhere(rule, request, contexts)) {
            None => active.push(index),
            Some(reason) => {
                if required(&rule.id) {
                    problems.push(Problem {
                        rule: Some(rule.id.clone()),
                        ..Problem::new(
                            "required-rule",
                            format!("rule `{}` is required and could not be evaluated: {reason}", rule.id),
                        )
                        .help("provide what it needs, or take it out of `required`")
                    });
                }
                unevaluated.push(UnevaluatedRule { id: rule.id.clone(), reason: reason.into() });
            }
        }
    }
    unevaluated.sort();
    (active, unevaluated, problems)
}

fn obstacle(rule: &Rule, request: &Request<'_>) -> Option<String> {
    if !request.select.is_empty() && !request.select.iter().any(|glob| glob.is_match(&*rule.id)) {
        return Some("not selected".to_owned());
    }
    if request.ignore.iter().any(|glob| glob.is_match(&*rule.id)) {
        return Some("ignored on the command line".to_owned());
    }
    if !rule.faces.is_empty() && !rule.faces.contains(&request.face) {
        return Some("not for this face".to_owned());
    }
    let target = match rule.target {
        Target::Resource | Target::Cluster => None,
        Target::Fleet if request.fleet.is_none() => {
            return Some("judges the budgets of a fleet: no fleet file".to_owned());
        }
        Target::Fleet if !request.whole => {
            return Some("judges the whole fleet, of which only a part is read here".to_owned());
        }
        Target::Fleet => None,
        Target::Promotion => Some("a promotion"),
        Target::Plan => Some("a Terraform plan"),
    };
    if let Some(target) = target {
        return Some(format!("judges {target}, which this command does not provide"));
    }
    let missing = |need: &Need| match need {
        Need::Fleet => request.fleet.is_none().then_some("needs `fleet`: no fleet file"),
        Need::Time => None,
        Need::Actor => Some("needs `actor`: known in admission only"),
        Need::Health => Some("needs `health`: not configured here"),
        Need::Approvals => Some("needs `approvals`: not configured here"),
        Need::Inventory => Some("needs `inventory`: not configured here"),
    };
    rule.needs.iter().find_map(missing).map(str::to_owned)
}

/// Why a rule applies nowhere in the fleet, or in no place of this run.
fn nowhere(rule: &Rule, request: &Request<'_>, contexts: &[Arc<Context>]) -> Option<String> {
    let Match { environments, providers, .. } = &rule.matches;
    let named = |names: &[Arc<str>]| format!("`{}`", names.join("`, `"));
    let fleet = request.fleet.filter(|fleet| !fleet.environments.is_empty());
    if let (Some(fleet), false) = (fleet, environments.is_empty())
        && !fleet.environments.iter().any(|known| environments.contains(&known.name))
    {
        return Some(format!("for environment {}, which the fleet does not have", named(environments)));
    }
    if contexts.is_empty() {
        return None;
    }
    if !environments.is_empty() && contexts.iter().all(|context| context.environment.is_none()) {
        return Some(format!("for environment {}, and none is known here", named(environments)));
    }
    let provider = |context: &Context| context.cluster.as_ref().is_some_and(|c| c.provider.is_some());
    if !providers.is_empty() && !contexts.iter().any(|context| provider(context)) {
        return Some(format!("for provider {}, and none is known here", named(providers)));
    }
    let off = |context: &Arc<Context>| Effect::of(&rule.id, context, request.face, request.fleet).is_off();
    contexts.iter().all(off).then(|| "off in the fleet file".to_owned())
}

/// What contexts must agree in to share an evaluation: the policy set, the tier, what the tier sees,
/// and the rules that apply.
type Sharing = (usize, Tier, Option<Arc<str>>, Vec<usize>);

/// The contexts, sorted.
fn distinct<'c>(contexts: impl Iterator<Item = &'c usize>) -> Arc<[usize]> {
    let mut contexts: Vec<usize> = contexts.copied().collect();
    contexts.sort_unstable();
    contexts.dedup();
    contexts.into()
}

/// A document, everywhere or in one of its occurrences.
#[derive(Clone, Copy)]
struct Subject {
    document: usize,
    occurrence: Option<usize>,
}

/// API group, kind, whether the object runs pods, and whether it is about accelerators.
type Kind = (Arc<str>, Arc<str>, bool, bool);

/// Rules that are evaluated together, and contexts in which they come to the same.
struct Share {
    group: usize,
    contexts: Arc<[usize]>,
}

/// What [`Share`]s depend on: candidate rules, the namespace if one of them asks for it, contexts.
type ShareKey = (Arc<[usize]>, Option<Arc<str>>, Arc<[usize]>);

struct Planner<'r> {
    request: &'r Request<'r>,
    active: Vec<usize>,
    contexts: &'r [Arc<Context>],
    sites: &'r [Site],
    /// For each context, what kind of cluster it is.
    shapes: Vec<String>,
    /// For each rule, the namespaces that it is for; empty: all.
    namespaces: Vec<Vec<GlobMatcher>>,
    /// Rules that concern objects of a group and kind, by whether they run pods.
    candidates: HashMap<Kind, Arc<[usize]>>,
    /// Most objects of a fleet stand in the same contexts as many others.
    shares: HashMap<ShareKey, Arc<[Share]>>,
    /// Whether a rule is off in a context.
    effects: HashMap<(usize, usize), bool>,
    groups: Vec<Vec<usize>>,
    group_of: HashMap<Vec<usize>, usize>,
}

impl Planner<'_> {
    fn plan(
        &mut self,
        Subject { document, occurrence }: Subject,
        contexts: &Arc<[usize]>,
        facts: &[Facts],
        units: &mut Vec<Unit>,
    ) {
        let corpus = self.request.corpus;
        let resources = corpus.documents.get(document).map(|d| &*d.resources).unwrap_or_default();
        for (index, (resource, facts)) in resources.iter().zip(facts).enumerate() {
            let sites = self.sites;
            let placed = contexts.iter().filter_map(|context| sites.get(*context)?.placed(document, index));
            let object = placed.clone().next().map(|_| (document, index));
            let asks = facts.mentions_accelerators || placed.into_iter().any(|placed| placed.asks);
            let candidates = self.candidates(&resource.id, facts.is_workload(), asks);
            if candidates.is_empty() {
                continue;
            }
            for Share { group, contexts } in &*self.shares(&candidates, &resource.id, contexts, object) {
                let contexts = contexts.clone();
                units.push(Unit { document, resource: index, group: *group, contexts, occurrence });
            }
        }
    }

    /// `object` is the document and resource of a workload that is not the same everywhere.
    fn shares(
        &mut self,
        candidates: &Arc<[usize]>,
        id: &ObjectId,
        contexts: &Arc<[usize]>,
        object: Option<(usize, usize)>,
    ) -> Arc<[Share]> {
        let asks = |rule: &usize| self.namespaces.get(*rule).is_some_and(|globs| !globs.is_empty());
        let namespace = id.namespace.clone().filter(|_| candidates.iter().any(asks));
        let key = (candidates.clone(), namespace, contexts.clone());
        if let (Some(known), None) = (self.shares.get(&key), object) {
            return known.clone();
        }
        let mut shared: BTreeMap<Sharing, Vec<usize>> = BTreeMap::new();
        for &context in &**contexts {
            for ((set, tier), rules) in
                self.applicable(candidates, key.1.as_deref(), context, object.is_some())
            {
                let seen = self.seen(tier, context, object);
                shared.entry((set, tier, seen, rules)).or_default().push(context);
            }
        }
        let planned = shared.into_iter().map(|((_, _, _, rules), contexts)| Share {
            group: self.group(rules),
            contexts: contexts.into(),
        });
        let planned: Arc<[Share]> = planned.collect();
        if object.is_none() {
            self.shares.insert(key, planned.clone());
        }
        planned
    }

    fn candidates(&mut self, id: &ObjectId, workload: bool, asks: bool) -> Arc<[usize]> {
        let key = (id.group.clone(), id.kind.clone(), workload, asks);
        if let Some(known) = self.candidates.get(&key) {
            return known.clone();
        }
        let rules = &self.request.policies.rules;
        let concerned: Arc<[usize]> = (self.active.iter().copied())
            .filter(|rule| rules.get(*rule).is_some_and(|rule| concerns(&rule.matches, id, workload, asks)))
            .collect();
        self.candidates.insert(key, concerned.clone());
        concerned
    }

    /// The candidates that apply in a context, by policy set and tier.
    fn applicable(
        &mut self,
        candidates: &[usize],
        namespace: Option<&str>,
        context: usize,
        placed: bool,
    ) -> BTreeMap<(usize, Tier), Vec<usize>> {
        let mut groups: BTreeMap<(usize, Tier), Vec<usize>> = BTreeMap::new();
        for &index in candidates {
            let Some(rule) = self.request.policies.rules.get(index) else { continue };
            let Some(place) = self.contexts.get(context) else { continue };
            if !stands_in(&rule.matches, place)
                || !self.is_for(index, namespace)
                || self.is_off(index, context)
            {
                continue;
            }
            let tier = if self.request.share { Tier::of(rule, placed) } else { Tier::Everything };
            groups.entry((rule.set, tier)).or_default().push(index);
        }
        groups
    }

    fn is_for(&self, rule: usize, namespace: Option<&str>) -> bool {
        let globs = self.namespaces.get(rule).map(Vec::as_slice).unwrap_or_default();
        globs.is_empty() || globs.iter().any(|glob| glob.is_match(namespace.unwrap_or_default()))
    }

    fn is_off(&mut self, rule: usize, context: usize) -> bool {
        let request = self.request;
        let contexts = self.contexts;
        *self.effects.entry((rule, context)).or_insert_with(|| {
            match (request.policies.rules.get(rule), contexts.get(context)) {
                (Some(rule), Some(context)) => {
                    Effect::of(&rule.id, context, request.face, request.fleet).is_off()
                }
                _ => false,
            }
        })
    }

    /// What rules of a tier can see of a context: contexts with the same answer share the work.
    fn seen(&self, tier: Tier, context: usize, object: Option<(usize, usize)>) -> Option<Arc<str>> {
        let place = self.contexts.get(context)?;
        match tier {
            Tier::Nowhere => None,
            Tier::Environment => place.environment.clone(),
            Tier::Placement => {
                let placed = object.and_then(|(document, resource)| {
                    Some(self.sites.get(context)?.placed(document, resource)?.digest)
                });
                Some(format!("{:?}{}", placed, self.shapes.get(context)?).into())
            }
            Tier::Everything => Some(context.to_string().into()),
        }
    }

    /// Evaluations of rules that judge sums: for each site, and for the fleet.
    fn sums(&mut self, rules: &[usize]) -> Vec<(Option<usize>, usize)> {
        let policies = self.request.policies;
        let of = |target: Target| {
            let rules = rules.iter().copied();
            rules.filter(|rule| policies.rules.get(*rule).is_some_and(|rule| rule.target == target)).collect()
        };
        let (of_cluster, of_fleet): (Vec<usize>, Vec<usize>) = (of(Target::Cluster), of(Target::Fleet));
        let mut sums = Vec::new();
        for context in 0..self.sites.len() {
            for ((_, _), rules) in self.applicable(&of_cluster, None, context, true) {
                sums.push((Some(context), self.group(rules)));
            }
        }
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for rule in of_fleet {
            let nowhere = Context::default();
            let info = policies.rules.get(rule);
            let off = |id: &str| Effect::of(id, &nowhere, self.request.face, self.request.fleet).is_off();
            if let Some(info) = info.filter(|info| !off(&info.id)) {
                sets.entry(info.set).or_default().push(rule);
            }
        }
        sums.extend(sets.into_values().map(|rules| (None, self.group(rules))));
        sums
    }

    fn group(&mut self, rules: Vec<usize>) -> usize {
        if let Some(&known) = self.group_of.get(&rules) {
            return known;
        }
        let index = self.groups.len();
        self.groups.push(rules.clone());
        self.group_of.insert(rules, index);
        index
    }
}

/// Namespace globs, compiled. They were checked when the rule was loaded; one that is wrong all the same
/// leaves the rule unrestricted, never without objects.
fn globs(patterns: &[Arc<str>]) -> Vec<GlobMatcher> {
    let globs = patterns.iter().map(|pattern| Glob::new(pattern).map(|glob| glob.compile_matcher()));
    globs.collect::<Result<_, _>>().unwrap_or_default()
}

/// Whether a rule concerns objects of this group and kind. Empty lists match everything.
fn concerns(matches: &Match, id: &ObjectId, workload: bool, asks: bool) -> bool {
    let listed = |list: &[Arc<str>], value: &str| {
        list.is_empty() || list.iter().any(|entry| **entry == *value || **entry == *"*")
    };
    listed(&matches.kinds, &id.kind)
        && listed(&matches.api_groups, &id.group)
        && (!matches.workloads || workload)
        && (!matches.accelerators || asks)
        && listed(&matches.operations, super::input::OPERATION)
}

/// Whether a rule applies in a context. A rule for some environments or providers does not apply where
/// they are unknown.
fn stands_in(matches: &Match, context: &Context) -> bool {
    let listed = |list: &[Arc<str>], value: Option<&Arc<str>>| {
        list.is_empty() || value.is_some_and(|value| list.contains(value))
    };
    listed(&matches.environments, context.environment.as_ref())
        && listed(&matches.providers, context.cluster.as_ref().and_then(|cluster| cluster.provider.as_ref()))
}
