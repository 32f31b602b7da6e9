//! From an object and the entry of its kind to its pods.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::amount::{Amount, Three};
use super::formula::{Formula, Item, Placed, Scope};
use super::inline::{no_containers, one_container, with_inline};
use super::registry::{Kind, KindName, Part, Registry, What};
use super::rules;
use super::scale::{entries, place, upgraded};
use super::tree::{Tree, namespace};
use super::value::{field, items, path, text};
use super::workload::{Bounds, PodGroup, Workload, kind_of};
use crate::model::{Route, Value};

/// Embedded kinds go this deep (a pipeline of services is two).
const MAX_DEPTH: usize = 8;

impl Registry {
    /// The pods of an object, or `None` if it neither runs any nor holds a template of any. A kind
    /// that is not registered but has a pod template in its usual place is a workload with an
    /// unknown number of pods.
    pub fn workload(&self, object: &Value) -> Option<Workload> {
        self.walk(object, None, None, false).map(|(workload, _)| workload)
    }

    /// The same for an object of a tree that an autoscaler may act on; and the positions of the
    /// objects whose templates it runs instead of them.
    pub(super) fn workload_in(
        &self,
        object: &Value,
        tree: &Tree<'_>,
        bounds: Option<&Bounds>,
    ) -> Option<(Workload, Vec<usize>)> {
        self.walk(object, Some(tree), bounds, false)
    }

    /// The pods of an object that a step of a workflow creates.
    pub(super) fn created(&self, object: &Value) -> Option<Workload> {
        self.walk(object, None, None, true).map(|(workload, _)| workload)
    }

    fn walk(
        &self,
        object: &Value,
        tree: Option<&Tree<'_>>,
        bounds: Option<&Bounds>,
        created: bool,
    ) -> Option<(Workload, Vec<usize>)> {
        let (group, version, kind) = kind_of(object)?;
        let Some(entry) = self.get(group, version, kind) else {
            return Some((unregistered(object, kind)?, Vec::new()));
        };
        if entry.parts.is_empty() && entry.rule.is_none() {
            return None;
        }
        let mut walk = Walk {
            registry: self,
            tree,
            namespace: namespace(object),
            pods: Vec::new(),
            unknown: BTreeSet::new(),
            borrowed: Vec::new(),
            created,
        };
        let scope = Scope::of(object);
        // A queue starts what is suspended for it: the suspension is how the two agree on it.
        let held = !is_queued(object) && suspended(entry, &scope);
        let factor = if entry.template || held { Three::ZERO } else { Three::ONE };
        walk.kind(entry, &scope, bounds, &Within { factor, role: None, starts: false, depth: MAX_DEPTH });
        if entry.template {
            walk.unknown.clear();
        }
        let workload = Workload { pods: walk.pods, unknown: walk.unknown, registered: true };
        Some((workload, walk.borrowed))
    }
}

fn is_queued(object: &Value) -> bool {
    text(object, &["metadata", "labels", "kueue.x-k8s.io/queue-name"]).is_some()
}

pub(super) fn suspended(kind: &Kind, scope: &Scope<'_>) -> bool {
    kind.suspended.as_ref().is_some_and(|formula| formula.holds(scope))
}

/// The usual places of a pod template in a kind that nobody registered.
const USUAL: [&[&str]; 4] = [
    &["spec", "template"],
    &["spec", "podTemplate"],
    &["spec", "jobTemplate", "spec", "template"],
    &["template"],
];

fn unregistered(object: &Value, kind: &str) -> Option<Workload> {
    let count = Amount::unknown(format!("`{kind}` is not a registered kind, so its pods cannot be counted"));
    let pods: Vec<PodGroup> = USUAL
        .iter()
        .filter_map(|keys| {
            let template = path(object, keys)?;
            let spec = field(template, "spec")?;
            items(field(spec, "containers")?).next()?;
            let at = keys.iter().fold(Route::root(), |route, key| route.key(key)).key("spec");
            Some(PodGroup {
                path: at,
                role: "pod".into(),
                spec: spec.clone(),
                metadata: metadata(Some(template)),
                replicas: Three::same(&count),
                per: Amount::ONE,
                devices: Vec::new(),
            })
        })
        .collect();
    if pods.is_empty() {
        return None;
    }
    Some(Workload { pods, unknown: BTreeSet::new(), registered: false })
}

/// The metadata of a template.
pub(super) fn metadata(template: Option<&Value>) -> Value {
    template
        .and_then(|template| field(template, "metadata"))
        .filter(|metadata| matches!(metadata, Value::Object(_)))
        .cloned()
        .unwrap_or_else(Value::new_object)
}

/// The pods of one object, as they are found.
pub(super) struct Walk<'r, 't> {
    pub(super) registry: &'r Registry,
    pub(super) tree: Option<&'r Tree<'t>>,
    pub(super) namespace: Option<&'r str>,
    /// Positions of the objects whose templates are run instead of them.
    borrowed: Vec<usize>,
    /// Whether the object is created by a workflow's step; its own steps are then not followed, so
    /// that texts within texts cannot nest without end.
    pub(super) created: bool,
    pub(super) pods: Vec<PodGroup>,
    unknown: BTreeSet<Arc<str>>,
}

/// What lies around an embedded object.
#[derive(Clone)]
pub(super) struct Within {
    /// How often it is there.
    factor: Three,
    /// What its pods are for, unless they say so themselves.
    role: Option<Arc<str>>,
    /// Whether its suspension is set from outside.
    starts: bool,
    /// How many more levels may be embedded.
    depth: usize,
}

impl Walk<'_, '_> {
    /// Where a place of an entry is in this object; an entry that looks for it where only the spec is
    /// known hides pods, so that is said.
    fn locate<'a>(&mut self, at: &Formula, scope: &Scope<'a>) -> Option<(Route, Option<&'a Value>)> {
        let found = place(at, scope);
        if found.is_none() {
            self.missing("a registered kind names a place that is outside of the spec it is embedded by");
        }
        found
    }

    /// Says why there may be more pods.
    pub(super) fn missing(&mut self, reason: impl Into<Arc<str>>) {
        self.unknown.insert(reason.into());
    }

    /// Adds the pods of an object of a kind, `factor` times.
    pub(super) fn kind(&mut self, kind: &Kind, scope: &Scope<'_>, bounds: Option<&Bounds>, within: &Within) {
        let factor = within.factor.mul(&kind.scale.counts(scope, bounds));
        if let Some(rule) = kind.rule {
            rules::apply(rule, self, scope, &factor);
        }
        let within = Within { factor, ..within.clone() };
        for part in &kind.parts {
            let Some(each) = &part.each else {
                self.part(part, scope, &within);
                continue;
            };
            let Some((at, Some(list))) = self.locate(each, scope) else { continue };
            if !matches!(list, Value::Array(_) | Value::Object(_)) {
                self.missing(format!("`{at}` is neither a list nor a mapping"));
            }
            for (step, key, item) in entries(list) {
                let placed = Placed { value: item, at: at.join(&Route(vec![step])) };
                let scope = Scope { item: Some(Item { placed, key }), ..scope.clone() };
                self.part(part, &scope, &within);
            }
        }
    }

    fn part(&mut self, part: &Part, scope: &Scope<'_>, within: &Within) {
        if part.when.as_ref().is_some_and(|when| !when.holds(scope)) {
            return;
        }
        let own = part.role_from.as_ref().and_then(|formula| formula.text(scope));
        let role = match (own, &within.role) {
            (Some(own), _) => own,
            (None, Some(outer)) if *part.role == *"pod" => outer.clone(),
            (None, _) => part.role.clone(),
        };
        if let What::Unseen(why) = &part.what {
            self.unknown.insert(why.clone());
            return;
        }
        let counts = within.factor.mul(&part.scale.counts(scope, None));
        let counts = match &part.times {
            Some(times) => counts.mul(&times.counts(scope)),
            None => counts,
        };
        let first = self.pods.len();
        let per = part.per.as_ref().map_or(Amount::ONE, |per| per.amount(scope));
        match &part.what {
            What::Embedded(at, name) => {
                let factor = counts.mul(&Three::same(&per));
                let within = Within { factor, role: Some(role), starts: part.starts, depth: within.depth };
                self.embedded(at, Some(name), true, scope, &within);
            }
            What::Object(at, name) => {
                let factor = counts.mul(&Three::same(&per));
                let within = Within { factor, role: Some(role), starts: part.starts, depth: within.depth };
                self.embedded(at, name.as_ref(), false, scope, &within);
            }
            _ => {
                if let Some((path, spec, metadata)) = self.pod(part, scope, &role) {
                    let devices = part
                        .devices
                        .iter()
                        .map(|device| {
                            let stated =
                                device.resource_from.as_ref().and_then(|formula| formula.text(scope));
                            (stated.unwrap_or_else(|| device.resource.clone()), device.amount.amount(scope))
                        })
                        .collect();
                    self.pods.push(PodGroup { path, role, spec, metadata, replicas: counts, per, devices });
                }
            }
        }
        if let Some(percent) = &part.upgrade {
            let percent = percent.amount(scope);
            for group in self.pods.iter_mut().skip(first) {
                group.replicas = upgraded(&group.replicas, &percent);
            }
        }
    }

    fn embedded(
        &mut self,
        at: &Formula,
        name: Option<&KindName>,
        only_spec: bool,
        scope: &Scope<'_>,
        within: &Within,
    ) {
        let Some((at, found)) = self.locate(at, scope) else { return };
        let Some(value) = found else {
            self.missing(format!("`{at}` is not set"));
            return;
        };
        let entry = match name {
            Some(name) => self.registry.named(name),
            None => kind_of(value).and_then(|(group, version, kind)| self.registry.get(group, version, kind)),
        };
        let Some(entry) = entry.cloned() else {
            // An object of a kind that runs no pods, unless it has a template.
            if let Some(mut workload) = kind_of(value).and_then(|(.., kind)| unregistered(value, kind)) {
                for group in &mut workload.pods {
                    group.path = at.join(&group.path);
                }
                self.pods.append(&mut workload.pods);
            }
            return;
        };
        let Some(depth) = within.depth.checked_sub(1) else {
            self.missing(format!("`{at}` is embedded too deeply"));
            return;
        };
        let scope = Scope { object: Placed { value, at }, only_spec, item: None, n: None };
        let runs = !entry.template && (within.starts || !suspended(&entry, &scope));
        let factor = if runs { within.factor.clone() } else { Three::ZERO };
        self.kind(&entry, &scope, None, &Within { factor, role: within.role.clone(), starts: false, depth });
    }

    /// Path, spec and metadata of a pod.
    fn pod(&mut self, part: &Part, scope: &Scope<'_>, role: &Arc<str>) -> Option<(Route, Value, Value)> {
        let (path, spec, metadata) = match &part.what {
            What::Itself => {
                let spec = field(scope.object.value, "spec");
                (scope.object.at.key("spec"), spec, metadata(Some(scope.object.value)))
            }
            What::Template(template) => {
                let (at, template) = self.locate(template, scope)?;
                let spec = template.and_then(|template| field(template, "spec"));
                (at.key("spec"), spec, metadata(template))
            }
            What::Spec(spec) => {
                let (at, spec) = self.locate(spec, scope)?;
                (at, spec, Value::new_object())
            }
            What::Container(container) => {
                let (at, container) = self.locate(container, scope)?;
                let spec = container.map(|container| one_container(container, role, &part.beside));
                return self.checked(at, spec, Value::new_object());
            }
            What::DevicesOnly => {
                let at = match &scope.item {
                    Some(item) => item.placed.at.clone(),
                    None => scope.object.at.clone(),
                };
                return Some((at, no_containers(), Value::new_object()));
            }
            What::Referenced(reference) => return self.referenced(reference, scope),
            What::Object(..) | What::Embedded(..) | What::Unseen(_) => return None,
        };
        if spec.is_none() && part.optional {
            return Some((path, no_containers(), metadata));
        }
        let spec = spec.map(|spec| with_inline(spec, &part.inline, &part.beside));
        self.checked(path, spec, metadata)
    }

    /// The template of another workload, which runs here instead of there.
    fn referenced(&mut self, reference: &Formula, scope: &Scope<'_>) -> Option<(Route, Value, Value)> {
        let (at, reference) = self.locate(reference, scope)?;
        let reference = reference?;
        let found = self.tree.and_then(|tree| {
            let index = tree.follow(reference, ("apps", "Deployment"), self.namespace)?;
            let template = path(tree.objects.get(index).copied()?, &["spec", "template"])?;
            Some((index, field(template, "spec")?.clone(), metadata(Some(template))))
        });
        let Some((index, spec, metadata)) = found else {
            self.missing(format!("what `{at}` names is not in this cluster's manifests"));
            return None;
        };
        // Argo Rollouts scales the workload down only if it is told so (argo-rollouts docs/migrating.md);
        // otherwise it runs with the replicas that it states.
        let scales_down = |how: &Arc<str>| matches!(&**how, "onsuccess" | "progressively");
        if text(reference, &["scaleDown"]).is_some_and(scales_down) {
            self.borrowed.push(index);
        }
        Some((at, spec, metadata))
    }

    /// A pod whose spec is a mapping; anything else is reported, for then there are pods that we
    /// cannot see.
    fn checked(
        &mut self,
        path: Route,
        spec: Option<Value>,
        metadata: Value,
    ) -> Option<(Route, Value, Value)> {
        match spec {
            Some(spec @ Value::Object(_)) => Some((path, spec, metadata)),
            Some(_) => {
                self.missing(format!("`{path}` is not a mapping"));
                None
            }
            None => {
                self.missing(format!("`{path}` is not set"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn workload(text: &str) -> Option<Workload> {
        Registry::builtin().workload(&manifest::value(text).expect("a manifest"))
    }

    /// Path, role and steady count of each pod group.
    fn pods(text: &str) -> Vec<(String, String, Amount)> {
        let groups = workload(text).expect("a workload").pods;
        groups.iter().map(|g| (g.path.to_string(), g.role.to_string(), g.count().steady)).collect()
    }

    fn row(path: &str, role: &str, count: u64) -> (String, String, Amount) {
        (path.into(), role.into(), Amount::Known(count))
    }

    #[test]
    fn embedded_kinds_are_found_where_they_stand() {
        let text = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [
            {name: driver, template: {spec: {template: {spec: {containers: []}}}}},
            {name: workers, replicas: 2, template: {spec: {parallelism: 4, completions: 3, template: {spec: {containers: []}}}}}]}}";
        // One driver; two jobs of min(4, 3) pods.
        assert_eq!(
            pods(text),
            [
                row("spec.replicatedJobs[0].template.spec.template.spec", "driver", 1),
                row("spec.replicatedJobs[1].template.spec.template.spec", "workers", 6),
            ]
        );
    }

    #[test]
    fn an_unregistered_kind_with_a_template_is_a_workload_of_unknown_size() {
        let text = "{apiVersion: example.org/v1, kind: Farm, spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}}";
        let farm = workload(text).expect("a workload");
        assert!(!farm.registered);
        assert_eq!(
            farm.pods.first().expect("its pods").count().steady,
            Amount::unknown("`Farm` is not a registered kind, so its pods cannot be counted")
        );
        assert_eq!(workload("{apiVersion: v1, kind: ConfigMap, data: {a: b}}"), None);
    }

    #[test]
    fn a_missing_or_misshapen_template_is_said() {
        let unknown = |text| workload(text).expect("a workload").unknown.into_iter().collect::<Vec<_>>();
        assert_eq!(
            unknown("{apiVersion: apps/v1, kind: Deployment, spec: {}}"),
            ["`spec.template.spec` is not set".into()]
        );
        assert_eq!(
            unknown("{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: x}}}"),
            ["`spec.template.spec` is not a mapping".into()]
        );
    }

    #[test]
    fn what_is_suspended_runs_nothing_unless_a_queue_starts_it() {
        let job = |labels: &str| {
            format!("{{apiVersion: batch/v1, kind: Job, metadata: {{labels: {{{labels}}}}}, spec: {{suspend: true,
                parallelism: 2, template: {{spec: {{containers: []}}}}}}}}")
        };
        assert_eq!(pods(&job("")), [row("spec.template.spec", "pod", 0)]);
        assert_eq!(pods(&job("kueue.x-k8s.io/queue-name: q")), [row("spec.template.spec", "pod", 2)]);
    }

    #[test]
    fn a_template_that_others_run_has_no_pods_of_its_own() {
        let text = "{apiVersion: v1, kind: PodTemplate, template: {spec: {containers: []}}}";
        assert_eq!(pods(text), [row("template.spec", "pod", 0)]);
    }
}
