//! `ResourceQuota`, and the one that a Kubeflow `Profile` makes: kubernetes/kubernetes
//! `pkg/quota/v1/evaluator/core/pods.go` and `resource_claims.go`. It is charged when pods and claims are
//! created, so that a rollout over it stands still.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::owner;
use super::row::{Contributor, Problem, Quota, Ref};
use super::seen::{Part, Seen, most};
use crate::accelerators::amount::{Amount, Three};
use crate::accelerators::claims::{ClaimRef, pod_claims};
use crate::accelerators::resources::{Class, DEVICE_CLASS, class, is_extended};
use crate::accelerators::tree::Tree;
use crate::accelerators::value::{field, fields, items, path, text};
use crate::accelerators::workload::{PodGroup, kind_of};
use crate::model::{Route, Value};

const SYSTEM: &str = "resource-quota";
const CLAIMS: &str = "count/resourceclaims.resource.k8s.io";
const PER_CLASS: &str = ".deviceclass.resource.k8s.io/devices";

/// What a key of `spec.hard` measures.
#[derive(Debug, PartialEq, Eq)]
enum Measures<'k> {
    /// An extended resource of pods.
    Pods(&'k str),
    /// Devices of a class, of claims.
    Devices(&'k str),
    /// Claims.
    Claims,
    /// An extended resource, if it began with `requests.`.
    Nothing(&'k str),
    /// Something that is no accelerator.
    Else,
}

fn measures(key: &str) -> Measures<'_> {
    if key == CLAIMS {
        return Measures::Claims;
    }
    if let Some(class) = key.strip_suffix(PER_CLASS) {
        return Measures::Devices(class);
    }
    if let Some(name) = key.strip_prefix("requests.") {
        return match name.strip_prefix(DEVICE_CLASS) {
            Some(class) => Measures::Devices(class),
            None if is_extended(name) => Measures::Pods(name),
            None => Measures::Else,
        };
    }
    let name = key.strip_prefix("limits.").or_else(|| key.strip_prefix("limit.")).unwrap_or(key);
    let counted = is_extended(name) && !name.starts_with("count/") && class(name) != Class::Monitoring;
    if counted && !name.contains("storageclass") { Measures::Nothing(name) } else { Measures::Else }
}

/// A quota object.
struct Source<'s> {
    at: Ref,
    namespace: Option<Arc<str>>,
    spec: &'s Value,
    route: Route,
    scopes: Vec<Scope<'s>>,
}

impl<'s> Source<'s> {
    fn all(tree: &Tree<'s>) -> Vec<Self> {
        let mut sources = Vec::new();
        for (index, object) in tree.of_kind("", "ResourceQuota") {
            if let (Some(at), Some(spec)) = (Ref::of(tree, index), field(object, "spec")) {
                let route = Route::root().key("spec");
                sources.push(Self { namespace: at.namespace.clone(), at, spec, route, scopes: scopes(spec) });
            }
        }
        for (index, object) in tree.of_kind("kubeflow.org", "Profile") {
            if let (Some(at), Some(spec)) =
                (Ref::of(tree, index), path(object, &["spec", "resourceQuotaSpec"]))
            {
                let route = Route::root().key("spec").key("resourceQuotaSpec");
                sources.push(Self {
                    namespace: Some(at.name.clone()),
                    at,
                    spec,
                    route,
                    scopes: scopes(spec),
                });
            }
        }
        sources.sort_by_key(|source| source.at.index);
        sources
    }

    /// Whether pods of a group are measured: those that match all scopes.
    fn matches(&self, group: &PodGroup, default_class: &DefaultClass) -> Option<bool> {
        let mut result = Some(true);
        for scope in &self.scopes {
            match scope.matches(&group.spec, default_class) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => result = None,
            }
        }
        result
    }
}

struct Scope<'s> {
    name: &'s str,
    operator: &'s str,
    values: Vec<&'s str>,
}

fn scopes(spec: &Value) -> Vec<Scope<'_>> {
    let listed = path(spec, &["scopes"]).into_iter().flat_map(items).map(|scope| Scope {
        name: scope.as_string().map_or("", |name| name),
        operator: "Exists",
        values: Vec::new(),
    });
    let selected =
        path(spec, &["scopeSelector", "matchExpressions"]).into_iter().flat_map(items).map(|scope| Scope {
            name: text(scope, &["scopeName"]).map_or("", |name| name),
            operator: text(scope, &["operator"]).map_or("", |operator| operator),
            values: path(scope, &["values"])
                .into_iter()
                .flat_map(items)
                .filter_map(|value| value.as_string().ok().map(|value| &**value))
                .collect(),
        });
    listed.chain(selected).collect()
}

/// The priority class of pods that name none.
enum DefaultClass {
    None,
    Named(Arc<str>),
    Unknown,
}

impl Scope<'_> {
    fn matches(&self, pod: &Value, default: &DefaultClass) -> Option<bool> {
        match self.name {
            "Terminating" => Some(is_terminating(pod)),
            "NotTerminating" => Some(!is_terminating(pod)),
            "BestEffort" => Some(is_best_effort(pod)),
            "NotBestEffort" => Some(!is_best_effort(pod)),
            "CrossNamespacePodAffinity" => Some(reaches_other_namespaces(pod)),
            "PriorityClass" => {
                let stated = text(pod, &["priorityClassName"]).filter(|name| !name.is_empty());
                let name = match (stated, default) {
                    (Some(name), _) => Some(&**name),
                    (None, DefaultClass::Named(name)) => Some(&**name),
                    (None, DefaultClass::None) => None,
                    (None, DefaultClass::Unknown) => return None,
                };
                match self.operator {
                    "Exists" => Some(name.is_some()),
                    "DoesNotExist" => Some(name.is_none()),
                    "In" => Some(name.is_some_and(|name| self.values.contains(&name))),
                    "NotIn" => Some(name.is_none_or(|name| !self.values.contains(&name))),
                    _ => None,
                }
            }
            // Of claims for storage; a scope that nobody knows may measure anything.
            "VolumeAttributesClass" => Some(false),
            _ => None,
        }
    }
}

/// What `Scope::matches` knows, and what measures no pods.
const SCOPES: [&str; 7] = [
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
];

fn is_terminating(pod: &Value) -> bool {
    path(pod, &["activeDeadlineSeconds"]).is_some()
}

/// No container asks for CPU or memory; devices do not matter (`GetPodQOS`).
fn is_best_effort(pod: &Value) -> bool {
    let containers =
        ["containers", "initContainers"].into_iter().filter_map(|key| field(pod, key)).flat_map(items);
    !containers.chain([pod]).any(|container| {
        ["requests", "limits"].into_iter().any(|list| {
            ["cpu", "memory"].into_iter().any(|key| path(container, &["resources", list, key]).is_some())
        })
    })
}

fn reaches_other_namespaces(pod: &Value) -> bool {
    ["podAffinity", "podAntiAffinity"].into_iter().filter_map(|key| path(pod, &["affinity", key])).any(
        |affinity| {
            let required = path(affinity, &["requiredDuringSchedulingIgnoredDuringExecution"]);
            let preferred = path(affinity, &["preferredDuringSchedulingIgnoredDuringExecution"]);
            let preferred =
                preferred.into_iter().flat_map(items).filter_map(|term| field(term, "podAffinityTerm"));
            required.into_iter().flat_map(items).chain(preferred).any(|term| {
                path(term, &["namespaces"]).is_some_and(|names| items(names).next().is_some())
                    || path(term, &["namespaceSelector"]).is_some()
            })
        },
    )
}

/// Rows of the quotas of all namespaces.
pub(super) fn rows(tree: &Tree<'_>, seen: &[Seen<'_>], complete: bool) -> Vec<Quota> {
    let mut by_namespace: BTreeMap<Option<&str>, Vec<&Seen<'_>>> = BTreeMap::new();
    for seen in seen.iter().filter(|seen| !seen.elsewhere) {
        by_namespace.entry(seen.at.namespace.as_deref()).or_default().push(seen);
    }
    let default_class = default_class(tree, complete);
    let sources = Source::all(tree);
    let mut rows = Vec::new();
    for source in &sources {
        let here = by_namespace.get(&source.namespace.as_deref()).map_or(&[][..], |seen| seen);
        // Objects that leave their namespace to whoever applies them may be in this one.
        let adrift = match source.namespace {
            Some(_) => by_namespace.get(&None).map_or(&[][..], |seen| seen),
            None => &[],
        };
        source.rows(tree, here, adrift, &default_class, &mut rows);
    }
    twice(&sources, &mut rows);
    unlimited_classes(tree, &sources, &by_namespace, &mut rows);
    rows
}

fn default_class(tree: &Tree<'_>, complete: bool) -> DefaultClass {
    let mut classes = tree.of_kind("scheduling.k8s.io", "PriorityClass");
    let found = classes.find(|(_, class)| matches!(field(class, "globalDefault"), Some(Value::Bool(true))));
    match found.and_then(|(_, class)| super::name(class)) {
        Some(name) => DefaultClass::Named(name.clone()),
        None if complete => DefaultClass::None,
        None => DefaultClass::Unknown,
    }
}

impl Source<'_> {
    fn rows(
        &self,
        tree: &Tree<'_>,
        here: &[&Seen<'_>],
        adrift: &[&Seen<'_>],
        default_class: &DefaultClass,
        rows: &mut Vec<Quota>,
    ) {
        self.unreadable(rows);
        let hard = path(self.spec, &["hard"]).map(fields).unwrap_or_default();
        // HAMi's scheduler reads limits of its own from the same object.
        let hami = hard.iter().any(
            |(key, _)| matches!(measures(key), Measures::Nothing(name) if class(name) == Class::Property),
        );
        let at = self.route.key("hard");
        for (key, value) in hard {
            let at = at.key(key);
            let of = |seen: &Seen<'_>| match measures(key) {
                Measures::Pods(resource) => {
                    seen.pods_ask(resource, |group| self.matches(group, default_class))
                }
                Measures::Devices(class) => devices(seen, class),
                Measures::Claims => claims(seen),
                Measures::Nothing(_) | Measures::Else => Three::ZERO,
            };
            let resource = match measures(key) {
                Measures::Pods(name) | Measures::Devices(name) => name,
                Measures::Claims => "resourceclaims.resource.k8s.io",
                Measures::Nothing(name) if !hami => {
                    rows.push(self.problem(
                        at,
                        "not-enforced",
                        format!(
                            "`{key}` enforces nothing: of extended resources only `requests.` is measured"
                        ),
                        format!("write `requests.{name}`"),
                    ));
                    continue;
                }
                Measures::Nothing(_) | Measures::Else => continue,
            };
            if !matches!(measures(key), Measures::Pods(_)) && !self.scopes.is_empty() {
                rows.push(self.problem(
                    at.clone(),
                    "scoped-claims",
                    format!("`{key}` enforces nothing in a quota with scopes: claims match no scope"),
                    "move it to a ResourceQuota without `scopes` and `scopeSelector`".into(),
                ));
                continue;
            }
            let mut contributors: Vec<Contributor> = here
                .iter()
                .map(|seen| (seen, of(seen)))
                .filter(|(_, amount)| *amount != Three::ZERO)
                .map(|(seen, amount)| seen.contributor(amount))
                .collect();
            contributors.sort_by_key(|contributor| contributor.at.index);
            let limit = Part {
                system: SYSTEM,
                at: &self.at,
                path: at.clone(),
                key,
                resource: resource.into(),
                most: most(value, &at),
                owner: owner(tree, self.at.index),
            };
            let mut limit = limit.limit(contributors);
            if adrift.iter().any(|seen| of(seen) != Three::ZERO) {
                let open = Amount::unknown("some objects state no namespace");
                limit.used = limit.used.with(&Three::ZERO, |amount, _| amount.add(&open));
                limit.needed = limit.needed.add(&open);
            }
            rows.push(Quota::Limit(limit));
        }
    }

    /// What cannot be read limits nothing that is known; the API server refuses it.
    fn unreadable(&self, rows: &mut Vec<Quota>) {
        let at = self.route.key("hard");
        if path(self.spec, &["hard"]).is_some_and(|hard| !matches!(hard, Value::Object(_))) {
            let remedy = "write a mapping such as `requests.nvidia.com/gpu: 8`".to_owned();
            rows.push(self.problem(at.clone(), "unreadable", format!("`{at}` is not a mapping"), remedy));
        }
        for scope in self.scopes.iter().filter(|scope| !SCOPES.contains(&scope.name)) {
            rows.push(self.problem(
                self.route.clone(),
                "unreadable",
                format!("`{}` is no scope", scope.name),
                format!("write one of `{}`", SCOPES.join("`, `")),
            ));
        }
    }

    fn problem(&self, path: Route, code: &'static str, message: String, remediation: String) -> Quota {
        let at = self.at.clone();
        Quota::Problem(Problem { system: SYSTEM, at, path, code, message, remediation, certain: true })
    }
}

/// Devices of a class: of claims that pods get, of what pods ask for by the class's own name, and of
/// claims that are objects.
fn devices(seen: &Seen<'_>, class: &str) -> Three {
    if seen.assessed.demand.workload.is_some() {
        return seen.pods_ask(class, |_| Some(true));
    }
    seen.assessed.demand.counted().and_then(|demand| demand.get(class)).cloned().unwrap_or(Three::ZERO)
}

fn claims(seen: &Seen<'_>) -> Three {
    if seen.assessed.demand.workload.is_none() {
        let is_claim = matches!(kind_of(seen.object), Some(("resource.k8s.io", _, "ResourceClaim")));
        return if is_claim { Three::ONE } else { Three::ZERO };
    }
    let mut sum = Three::ZERO;
    for (group, _) in seen.groups() {
        let own = pod_claims(&group.spec, &group.path).into_iter();
        let own = own.filter(|claim| matches!(claim, ClaimRef::Template(_))).count();
        let own = u64::try_from(own).unwrap_or(u64::MAX);
        sum = sum.add(&group.count().mul(&Three::known(own)));
    }
    sum
}

/// Two quotas on one key: each is enforced, so that the smaller decides.
fn twice(sources: &[Source<'_>], rows: &mut Vec<Quota>) {
    let mut first: BTreeMap<(&Option<Arc<str>>, &str), &Source<'_>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.scopes.is_empty()) {
        for (key, _) in path(source.spec, &["hard"]).map(fields).unwrap_or_default() {
            if !matches!(measures(key), Measures::Pods(_) | Measures::Devices(_)) {
                continue;
            }
            match first.get(&(&source.namespace, &**key)) {
                None => {
                    first.insert((&source.namespace, key), source);
                }
                Some(other) => rows.push(source.problem(
                    source.route.key("hard").key(key),
                    "same-key",
                    format!(
                        "{} `{}` limits `{key}` of this namespace too: each is enforced",
                        other.at.kind, other.at.name
                    ),
                    "keep one of the two".into(),
                )),
            }
        }
    }
}

/// Quotas that limit devices as an extended resource, where the same devices can be had through claims
/// that nothing limits.
fn unlimited_classes(
    tree: &Tree<'_>,
    sources: &[Source<'_>],
    seen: &BTreeMap<Option<&str>, Vec<&Seen<'_>>>,
    rows: &mut Vec<Quota>,
) {
    let classes: BTreeSet<&str> = (tree.of_kind("resource.k8s.io", "DeviceClass"))
        .filter_map(|(_, object)| super::name(object).map(|name| &**name))
        .filter(|name| matches!(class(name), Class::Device | Class::Slice | Class::Share))
        .collect();
    let mut limited: BTreeMap<&Option<Arc<str>>, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.scopes.is_empty()) {
        let keys = path(source.spec, &["hard"]).map(fields).unwrap_or_default();
        let named = keys.into_iter().filter_map(|(key, _)| match measures(key) {
            Measures::Devices(class) => Some(class),
            _ => None,
        });
        limited.entry(&source.namespace).or_default().extend(named);
    }
    let mut said = BTreeSet::new();
    for source in sources {
        let keys = path(source.spec, &["hard"]).map(fields).unwrap_or_default();
        let Some((key, _)) = keys.into_iter().find(|(key, _)| {
            matches!(measures(key), Measures::Pods(name) if matches!(class(name), Class::Device | Class::Slice))
        }) else {
            continue;
        };
        if !said.insert(&source.namespace) {
            continue;
        }
        let here = seen.get(&source.namespace.as_deref()).into_iter().flatten();
        let used = here.flat_map(|seen| seen.assessed.demand.demand.keys()).map(|name| &**name);
        let used = used.filter(|name| !name.contains('/') && class(name).counts() && *name != "device");
        let reachable: BTreeSet<&str> = classes.iter().copied().chain(used).collect();
        let open: Vec<&str> = (reachable.into_iter())
            .filter(|class| limited.get(&source.namespace).is_none_or(|limited| !limited.contains(class)))
            .collect();
        if !open.is_empty() {
            let write: Vec<String> = open.iter().map(|class| format!("`{class}{PER_CLASS}`")).collect();
            rows.push(source.problem(
                source.route.key("hard").key(key),
                "claims-unlimited",
                format!(
                    "`{key}` limits devices, and claims of class `{}` of this namespace are not limited",
                    open.join("`, `")
                ),
                format!("add {}", write.join(", ")),
            ));
        }
    }
}
