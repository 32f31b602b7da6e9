//! Which rules judge which resource, and which evaluations are the same and done once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use globset::{Glob, GlobMatcher};
use rayon::prelude::*;

use super::Request;
use super::input::Facts;
use super::level::Effect;
use crate::model::{Context, ObjectId, Problem, UnevaluatedRule};
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

/// For each document: for each occurrence, indexes of the contexts it stands in.
type Standing = Vec<Vec<Arc<[usize]>>>;

/// All the work of a run.
#[derive(Debug)]
pub(super) struct Plan {
    /// Rule indexes that are evaluated together; each group is sorted and of one policy set.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) units: Vec<Unit>,
    pub(super) contexts: Vec<Arc<Context>>,
    /// For each document: its resources' facts.
    pub(super) facts: Vec<Vec<Facts>>,
    /// For each document: for each occurrence, the contexts it stands in.
    pub(super) standing: Standing,
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
    /// The cluster, or more than we know.
    Everything,
}

impl Tier {
    fn of(rule: &Rule) -> Self {
        let Reads::Only(keys) = &rule.reads else { return Self::Everything };
        let reads = |name: &str| keys.iter().any(|key| **key == *name);
        if reads("cluster") {
            Self::Everything
        } else if reads("environment") {
            Self::Environment
        } else {
            Self::Nowhere
        }
    }
}

impl Plan {
    pub(super) fn of(request: &Request<'_>) -> Self {
        let (contexts, standing) = contexts(request);
        let (active, unevaluated, problems) = sort_out(request, &contexts);
        let facts: Vec<Vec<Facts>> = (request.corpus.documents.par_iter())
            .map(|document| {
                document.resources.iter().map(|resource| Facts::of(resource, request.fleet)).collect()
            })
            .collect();
        let mut planner = Planner {
            request,
            active,
            contexts: &contexts,
            namespaces: request.policies.rules.iter().map(|rule| globs(&rule.matches.namespaces)).collect(),
            candidates: HashMap::new(),
            shares: HashMap::new(),
            effects: HashMap::new(),
            groups: Vec::new(),
            group_of: HashMap::new(),
        };
        let mut units = Vec::new();
        for (document, (places, facts)) in standing.iter().zip(&facts).enumerate() {
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
        let groups = planner.groups;
        let clusters =
            contexts.iter().filter_map(|context| context.cluster.as_ref()).map(|cluster| &cluster.name);
        let clusters = clusters.collect::<BTreeSet<_>>().len();
        Self { groups, units, contexts, facts, standing, unevaluated, problems, clusters }
    }
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
        Target::Resource => None,
        Target::Cluster => Some("cluster demand"),
        Target::Fleet => Some("fleet budgets"),
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
        Need::Demand => Some("needs `demand`: this version does not provide `input.workload.demand`"),
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

/// Distinct contexts, and for each document and occurrence the indexes of its own.
fn contexts(request: &Request<'_>) -> (Vec<Arc<Context>>, Standing) {
    let mut contexts: Vec<Arc<Context>> = Vec::new();
    // By cluster and environment.
    let mut known: BTreeMap<[Option<Arc<str>>; 2], usize> = BTreeMap::new();
    let mut of_file: Vec<Arc<[usize]>> = Vec::with_capacity(request.corpus.files.len());
    for file in &request.corpus.files {
        let indexes = file.contexts.iter().map(|context| {
            let cluster = context.cluster.as_ref().map(|cluster| cluster.name.clone());
            *known.entry([cluster, context.environment.clone()]).or_insert_with(|| {
                contexts.push(context.clone());
                contexts.len() - 1
            })
        });
        of_file.push(indexes.collect());
    }
    let standing = (request.corpus.documents.iter())
        .map(|document| {
            (document.occurrences.iter())
                .map(|occurrence| of_file.get(occurrence.file).cloned().unwrap_or_default())
                .collect()
        })
        .collect();
    (contexts, standing)
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

/// API group, kind, and whether the object runs pods.
type Kind = (Arc<str>, Arc<str>, bool);

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
            let candidates = self.candidates(&resource.id, facts.is_workload());
            if candidates.is_empty() {
                continue;
            }
            for Share { group, contexts } in &*self.shares(&candidates, &resource.id, contexts) {
                let contexts = contexts.clone();
                units.push(Unit { document, resource: index, group: *group, contexts, occurrence });
            }
        }
    }

    fn shares(&mut self, candidates: &Arc<[usize]>, id: &ObjectId, contexts: &Arc<[usize]>) -> Arc<[Share]> {
        let asks = |rule: &usize| self.namespaces.get(*rule).is_some_and(|globs| !globs.is_empty());
        let namespace = id.namespace.clone().filter(|_| candidates.iter().any(asks));
        let key = (candidates.clone(), namespace, contexts.clone());
        if let Some(known) = self.shares.get(&key) {
            return known.clone();
        }
        let mut shared: BTreeMap<Sharing, Vec<usize>> = BTreeMap::new();
        for &context in &**contexts {
            for ((set, tier), rules) in self.applicable(candidates, key.1.as_deref(), context) {
                let seen = self.seen(tier, context);
                shared.entry((set, tier, seen, rules)).or_default().push(context);
            }
        }
        let planned = shared.into_iter().map(|((_, _, _, rules), contexts)| Share {
            group: self.group(rules),
            contexts: contexts.into(),
        });
        let planned: Arc<[Share]> = planned.collect();
        self.shares.insert(key, planned.clone());
        planned
    }

    fn candidates(&mut self, id: &ObjectId, workload: bool) -> Arc<[usize]> {
        let key = (id.group.clone(), id.kind.clone(), workload);
        if let Some(known) = self.candidates.get(&key) {
            return known.clone();
        }
        let rules = &self.request.policies.rules;
        let concerned: Arc<[usize]> = (self.active.iter().copied())
            .filter(|rule| rules.get(*rule).is_some_and(|rule| concerns(&rule.matches, id, workload)))
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
            let tier = if self.request.share { Tier::of(rule) } else { Tier::Everything };
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
    fn seen(&self, tier: Tier, context: usize) -> Option<Arc<str>> {
        let place = self.contexts.get(context)?;
        match tier {
            Tier::Nowhere => None,
            Tier::Environment => place.environment.clone(),
            Tier::Everything => Some(context.to_string().into()),
        }
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
fn concerns(matches: &Match, id: &ObjectId, workload: bool) -> bool {
    let listed = |list: &[Arc<str>], value: &str| {
        list.is_empty() || list.iter().any(|entry| **entry == *value || **entry == *"*")
    };
    listed(&matches.kinds, &id.kind)
        && listed(&matches.api_groups, &id.group)
        && (!matches.workloads || workload)
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
