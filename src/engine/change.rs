//! The state after a change against the state before it: what is new, worse, as it was, and fixed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::baseline::value_of;
use super::budgets::budgets;
use super::input::Facts;
use super::plan::asks_what_becomes_of_workloads;
use super::{Request, identity, sites};
use crate::accelerators::{Amount, Queued};
use crate::manifest::Resource;
use crate::manifest::corpus::{Corpus, Document, Occurrence};
use crate::model::{Comparison, Finding, Identity, ObjectId, Problem, Report, Standing, Value};

/// What budgets held before a change, in the order of the fleet file.
#[derive(Debug)]
pub struct Before(Vec<Amount>);

impl Before {
    /// Of the budget at `index`, in thousandths of a device.
    pub(super) fn used(&self, index: usize) -> Option<&Amount> {
        self.0.get(index)
    }
}

/// Works out what budgets hold in the state of `request`, which must be all of the fleet.
pub fn before(request: &Request<'_>) -> Before {
    let sites = sites(request.corpus, request.registry, request.complete_clusters());
    Before(budgets(request, &sites).into_iter().map(|budget| budget.used).collect())
}

/// Marks in `new` what was in `old` already and is no worse, takes out problems that were there in
/// files that the change leaves alone, and counts both and what is gone. `touched` says of a file, as
/// shown, whether the change touches it.
///
/// Findings are the same by their identity. Where one identity has several, each old one speaks for
/// one new one that is no worse.
pub fn compare(
    new: &mut Report,
    old: &Report,
    touched: &dyn Fn(&Utf8Path) -> bool,
    comparison: &mut Comparison,
) {
    let mut before: BTreeMap<&Identity, Vec<&Finding>> = BTreeMap::new();
    for finding in &old.findings {
        before.entry(&finding.identity).or_default().push(finding);
    }
    // What is accepted or waived now was there for a reason, whatever it was before; what counts
    // follows, the mildest first, so that the worst is what is left over.
    let mut order: Vec<usize> = (0..new.findings.len()).collect();
    order.sort_by_key(|index| {
        let finding = new.findings.get(*index);
        (finding.is_some_and(|finding| finding.standing.counts()), finding.map(|finding| finding.level))
    });
    for index in order {
        let Some(finding) = new.findings.get_mut(index) else { continue };
        let Some(candidates) = before.get_mut(&finding.identity) else { continue };
        // What was accepted or waived and no longer is, counts: the change itself has seen to that.
        let counts = finding.standing.counts();
        candidates.retain(|old| !counts || old.standing.counts());
        let covering = candidates.iter().position(|old| !is_worse(finding, old));
        let Some(taken) = covering.or_else(|| candidates.len().checked_sub(1)) else { continue };
        candidates.swap_remove(taken);
        if !finding.standing.counts() {
            continue;
        }
        if covering.is_some() {
            finding.standing = Standing::Unchanged;
            comparison.unchanged += 1;
        } else {
            finding.standing = Standing::Worse;
        }
    }
    comparison.fixed = before.values().flatten().filter(|old| old.standing.counts()).count();
    let all = new.problems.len();
    let mut known: BTreeMap<ProblemKey, usize> = BTreeMap::new();
    for problem in &old.problems {
        *known.entry(key(problem)).or_default() += 1;
    }
    new.problems.retain(|problem| {
        let files = problem.file.iter().chain(problem.place.as_ref().map(|place| &place.file));
        if files.clone().any(|file| touched(file)) {
            return true;
        }
        match known.get_mut(&key(problem)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        }
    });
    comparison.unchanged_problems = all - new.problems.len();
}

type ProblemKey = (&'static str, String, Option<Utf8PathBuf>, Option<Arc<str>>, Option<Arc<str>>);

fn key(problem: &Problem) -> ProblemKey {
    let file = problem.file.as_ref().or(problem.place.as_ref().map(|place| &place.file));
    let file = file.map(|file| (**file).clone());
    (problem.code, problem.message.clone(), file, problem.rule.clone(), problem.cluster.clone())
}

/// Whether a finding weighs more than the same finding did. What is not known to be no larger is
/// larger.
fn is_worse(new: &Finding, old: &Finding) -> bool {
    if new.level > old.level {
        return true;
    }
    match (value_of(new), value_of(old)) {
        (Some(new), Some(old)) => new > old,
        (Some(_), None) | (None, Some(_)) => true,
        (None, None) => match (used(new), used(old)) {
            (Some(new), Some(old)) => uses_more(new, old),
            (new, old) => new.is_some() != old.is_some(),
        },
    }
}

/// `details.used`, of a sum that is compared although it is not known exactly.
fn used(finding: &Finding) -> Option<&Value> {
    finding.details.as_ref()?.as_object().ok()?.get(&Value::from("used"))
}

/// Of two sums that may be open: whether the first could be the larger. One that is open for the same
/// reasons is compared by what is known of it.
fn uses_more(new: &Value, old: &Value) -> bool {
    if matches!((new, old), (Value::Number(_), Value::Number(_))) {
        return new > old;
    }
    let part = |value: &Value, name: &str| value.as_object().ok()?.get(&Value::from(name)).cloned();
    let openness = |value: &Value| (part(value, "unbounded"), part(value, "unknown"));
    openness(new) != openness(old) || part(new, "atLeast") > part(old, "atLeast")
}

/// Whether what rules say about the objects of `corpus` can depend on other objects of their clusters,
/// or the other way round: whether they ask for accelerators, are queued, bound what others may use,
/// or are of a kind of which that is not known. The rest of `request` is as usual.
pub fn asks_about_others(request: &Request<'_>, corpus: &Corpus) -> bool {
    if !request.policies.rules.iter().any(asks_what_becomes_of_workloads) {
        return false;
    }
    let mut resources = corpus.documents.iter().flat_map(|document| document.resources.iter());
    let open = |resource: &Resource| {
        let facts = Facts::of(resource, request.fleet, request.registry);
        facts.mentions_accelerators || !(facts.is_workload() || stands_alone(&resource.id))
    };
    resources.any(open)
        || sites(corpus, request.registry, false).iter().any(|site| {
            let mut objects = site.assessment.objects.iter();
            objects.any(|assessed| assessed.asks() || assessed.queue != Queued::No)
        })
}

/// API groups whose objects neither run pods, nor change how others run, nor limit what they use.
const APART: [&str; 13] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "cert-manager.io",
    "discovery.k8s.io",
    "external-secrets.io",
    "gateway.networking.k8s.io",
    "monitoring.coreos.com",
    "networking.istio.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "security.istio.io",
];

/// Kinds of the core group of which the same is true.
const APART_CORE: [&str; 7] = [
    "ConfigMap",
    "Endpoints",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Secret",
    "Service",
    "ServiceAccount",
];

fn stands_alone(id: &ObjectId) -> bool {
    if id.group.is_empty() { APART_CORE.contains(&&*id.kind) } else { APART.contains(&&*id.group) }
}

/// The objects in the files that a change touches.
#[derive(Debug)]
pub struct Difference {
    /// How many there are before or after the change, each cluster's for itself.
    pub resources: usize,
    /// How many of them are not the same before and after.
    pub changed: usize,
    /// The documents that hold those, before the change.
    pub old: Corpus,
    /// The documents that hold those, after the change.
    pub new: Corpus,
}

/// Compares the objects in the files that `touched` names. An object that only moves to another file
/// is the same.
pub fn difference(old: &Corpus, new: &Corpus, touched: &dyn Fn(&Utf8Path) -> bool) -> Difference {
    let (before, after) = (values(old, touched), values(new, touched));
    let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed: BTreeSet<&Key> =
        all.iter().copied().filter(|key| before.get(*key) != after.get(*key)).collect();
    Difference {
        resources: all.len(),
        changed: changed.len(),
        old: only(old, &changed, touched),
        new: only(new, &changed, touched),
    }
}

/// Cluster and object.
type Key = (Option<Arc<str>>, String);

fn values<'c>(corpus: &'c Corpus, touched: &dyn Fn(&Utf8Path) -> bool) -> BTreeMap<Key, Vec<&'c Value>> {
    let mut values: BTreeMap<Key, Vec<&Value>> = BTreeMap::new();
    for document in &corpus.documents {
        for occurrence in document.occurrences.iter().filter(|occurrence| touched(&occurrence.place.file)) {
            for (key, resource) in keys(corpus, document, occurrence) {
                values.entry(key).or_default().push(&resource.object);
            }
        }
    }
    for same in values.values_mut() {
        same.sort();
    }
    values
}

/// The objects of a document where it stands.
fn keys<'c>(
    corpus: &'c Corpus,
    document: &'c Document,
    occurrence: &'c Occurrence,
) -> impl Iterator<Item = (Key, &'c Resource)> {
    let contexts = corpus.files.get(occurrence.file).map(|file| file.contexts.as_slice());
    contexts.unwrap_or_default().iter().flat_map(|context| {
        let cluster = context.cluster.as_ref().map(|cluster| cluster.name.clone());
        let key =
            move |resource: &'c Resource| ((cluster.clone(), identity::object_key(&resource.id)), resource);
        document.resources.iter().map(key)
    })
}

/// The documents that hold one of `wanted`, where they do.
fn only(corpus: &Corpus, wanted: &BTreeSet<&Key>, touched: &dyn Fn(&Utf8Path) -> bool) -> Corpus {
    let mut only = Corpus { files: corpus.files.clone(), ..Corpus::default() };
    for document in &corpus.documents {
        let mut document = document.clone();
        let occurrences = std::mem::take(&mut document.occurrences);
        let holds = |occurrence: &Occurrence| {
            touched(&occurrence.place.file)
                && keys(corpus, &document, occurrence).any(|(key, _)| wanted.contains(&key))
        };
        let occurrences: Vec<Occurrence> = occurrences.into_iter().filter(holds).collect();
        if !occurrences.is_empty() {
            document.occurrences = occurrences;
            only.documents.push(document);
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::About;
    use crate::model::{Counts, Level};

    fn finding(object: &str, level: Level, details: Option<&str>) -> Finding {
        let file = Arc::new("f".into());
        let about = About {
            rule: "r",
            level,
            file: &file,
            line: 1,
            entry: ("E", object),
            message: String::new(),
            remediation: "",
        };
        Finding { details: details.map(|text| Value::from_json_str(text).unwrap()), ..about.finding() }
    }

    fn report(findings: Vec<Finding>, problems: Vec<Problem>) -> Report {
        Report {
            findings,
            problems,
            accepted_problems: 0,
            rules: Vec::new(),
            unevaluated: Vec::new(),
            notes: Vec::new(),
            counts: Counts { rules: 1, ..Counts::default() },
            comparison: None,
            fail_on: Level::Deny,
        }
    }

    /// The standings after comparison, in order, and how many are fixed.
    fn compared(new: Vec<Finding>, old: Vec<Finding>) -> (Vec<Standing>, usize) {
        let mut comparison = Comparison::default();
        let mut new = report(new, Vec::new());
        compare(&mut new, &report(old, Vec::new()), &|_| true, &mut comparison);
        (new.findings.into_iter().map(|finding| finding.standing).collect(), comparison.fixed)
    }

    #[test]
    fn what_was_there_is_unchanged_and_what_is_gone_is_fixed() {
        let deny = |object| finding(object, Level::Deny, None);
        let (standings, fixed) = compared(vec![deny("a"), deny("b")], vec![deny("b"), deny("c")]);
        assert_eq!((standings, fixed), (vec![Standing::New, Standing::Unchanged], 1));
    }

    #[test]
    fn a_higher_level_and_a_larger_value_are_worse() {
        for (new, old, standing) in [
            ((Level::Deny, None), (Level::Warn, None), Standing::Worse),
            ((Level::Warn, None), (Level::Deny, None), Standing::Unchanged),
            ((Level::Deny, Some(r#"{"value": 9}"#)), (Level::Deny, Some(r#"{"value": 8}"#)), Standing::Worse),
            (
                (Level::Deny, Some(r#"{"value": 7}"#)),
                (Level::Deny, Some(r#"{"value": 8}"#)),
                Standing::Unchanged,
            ),
            ((Level::Deny, Some(r#"{"value": 7}"#)), (Level::Deny, None), Standing::Worse),
            // Sums that are open.
            (
                (Level::Deny, Some(r#"{"used": {"atLeast": 8, "unknown": ["a"]}}"#)),
                (Level::Deny, Some(r#"{"used": {"atLeast": 8, "unknown": ["a"]}}"#)),
                Standing::Unchanged,
            ),
            (
                (Level::Deny, Some(r#"{"used": {"atLeast": 9, "unknown": ["a"]}}"#)),
                (Level::Deny, Some(r#"{"used": {"atLeast": 8, "unknown": ["a"]}}"#)),
                Standing::Worse,
            ),
            (
                (Level::Deny, Some(r#"{"used": {"atLeast": 1, "unknown": ["a", "b"]}}"#)),
                (Level::Deny, Some(r#"{"used": {"atLeast": 8, "unknown": ["a"]}}"#)),
                Standing::Worse,
            ),
        ] {
            let (new, old) = (finding("a", new.0, new.1), finding("a", old.0, old.1));
            assert_eq!(compared(vec![new.clone()], vec![old.clone()]).0, [standing], "{new:?} {old:?}");
        }
    }

    #[test]
    fn of_several_with_one_identity_the_worst_is_what_is_new() {
        let of = |level| finding("a", level, None);
        let (standings, fixed) = compared(vec![of(Level::Deny), of(Level::Warn)], vec![of(Level::Warn)]);
        assert_eq!((standings, fixed), (vec![Standing::New, Standing::Unchanged], 0));
    }

    #[test]
    fn an_old_problem_counts_only_in_a_file_that_the_change_touches() {
        let problem = |file: &str| Problem::new("bad", "m").in_file(file);
        let mut new =
            report(Vec::new(), vec![problem("old.yaml"), problem("touched.yaml"), problem("new.yaml")]);
        let old = report(Vec::new(), vec![problem("old.yaml"), problem("touched.yaml")]);
        let mut comparison = Comparison::default();
        compare(&mut new, &old, &|file| file == "touched.yaml", &mut comparison);
        let left: Vec<_> =
            new.problems.iter().map(|problem| problem.file.as_ref().unwrap().as_str()).collect();
        assert_eq!((left, comparison.unchanged_problems), (vec!["touched.yaml", "new.yaml"], 1));
    }
}
