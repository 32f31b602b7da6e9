//! The objects of one cluster, as far as they refer to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::amount::Amount;
use super::formula::Scope;
use super::registry::{Kind, Registry};
use super::value::{path, text};
use super::workload::{Bounds, kind_of};
use crate::model::Value;

/// The objects that one cluster gets. `List`s are to be taken apart before.
#[derive(Debug)]
pub struct Tree<'a> {
    pub(super) registry: &'a Registry,
    pub(super) objects: Vec<&'a Value>,
    names: BTreeMap<Name<'a>, Vec<(Option<&'a str>, usize)>>,
    /// Claim templates that `ComputeDomain`s make for their channels, which are no devices.
    pub(super) channels: BTreeSet<&'a str>,
    /// What autoscalers do to the object at a position.
    bounds: BTreeMap<usize, Bounds>,
    /// What is to be said about the object at a position.
    pub(super) notes: BTreeMap<usize, Vec<Note>>,
}

/// Group, kind and name; the list that it names has namespaces and positions.
type Name<'a> = (&'a str, &'a str, &'a str);

/// Something about an object that people should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// A stable kebab-case word.
    pub code: &'static str,
    /// What it is: lower case, no full stop.
    pub message: String,
}

impl<'a> Tree<'a> {
    /// A tree of objects; their positions name them in all answers.
    pub fn new(registry: &'a Registry, objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let objects: Vec<&Value> = objects.into_iter().collect();
        let mut names: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut channels = BTreeSet::new();
        for (index, object) in objects.iter().copied().enumerate() {
            if let (Some((group, _, kind)), Some(name)) =
                (kind_of(object), text(object, &["metadata", "name"]))
            {
                names.entry((group, kind, &**name)).or_default().push((namespace(object), index));
                if (group, kind) == ("resource.nvidia.com", "ComputeDomain") {
                    channels.extend(
                        text(object, &["spec", "channel", "resourceClaimTemplate", "name"])
                            .map(|name| &**name),
                    );
                }
            }
        }
        let mut tree =
            Self { registry, objects, names, channels, bounds: BTreeMap::new(), notes: BTreeMap::new() };
        tree.read_autoscalers();
        tree
    }

    /// The kind of the object at a position, if it is registered.
    pub(super) fn entry(&self, index: usize) -> Option<&'a Arc<Kind>> {
        let (group, version, kind) = kind_of(self.objects.get(index)?)?;
        self.registry.get(group, version, kind)
    }

    /// The objects of a kind, by name, with their positions.
    pub(super) fn of_kind<'t>(
        &'t self,
        group: &'t str,
        kind: &'t str,
    ) -> impl Iterator<Item = (usize, &'a Value)> + 't {
        let from: Name<'_> = (group, kind, "");
        let names = self.names.range::<Name<'_>, _>(from..);
        let names = names.take_while(move |((g, k, _), _)| *g == group && *k == kind);
        names.flat_map(|(_, found)| found).filter_map(|(_, index)| Some((*index, *self.objects.get(*index)?)))
    }

    /// What an autoscaler does to the object at a position.
    pub(super) fn bounds(&self, index: usize) -> Option<&Bounds> {
        self.bounds.get(&index)
    }

    /// The position of an object. Where one side states no namespace, the only object of that name
    /// is meant, for manifests often leave the namespace to whoever applies them.
    pub(super) fn find(&self, group: &str, kind: &str, name: &str, namespace: Option<&str>) -> Option<usize> {
        let found = self.names.get(&(group, kind, name))?;
        if let Some((_, index)) = found.iter().find(|(other, _)| *other == namespace) {
            return Some(*index);
        }
        let mut near = found.iter().filter(|(other, _)| other.is_none() || namespace.is_none());
        match (near.next(), near.next()) {
            (Some((_, index)), None) => Some(*index),
            _ => None,
        }
    }

    /// The object that a reference `{apiVersion, kind, name}` names.
    pub(super) fn follow(
        &self,
        reference: &Value,
        defaults: (&str, &str),
        namespace: Option<&str>,
    ) -> Option<usize> {
        let group = match (text(reference, &["apiVersion"]), text(reference, &["apiGroup"])) {
            (Some(api), _) => api.split_once('/').map_or("", |(group, _)| group),
            (None, Some(group)) => group,
            (None, None) => defaults.0,
        };
        let kind = text(reference, &["kind"]).map_or(defaults.1, |kind| &**kind);
        self.find(group, kind, text(reference, &["name"])?, namespace)
    }

    fn read_autoscalers(&mut self) {
        for index in 0..self.objects.len() {
            let Some(autoscales) = self.entry(index).and_then(|kind| kind.autoscales.as_ref()) else {
                continue;
            };
            let Some(object) = self.objects.get(index).copied() else { continue };
            let scope = Scope::of(object);
            let min = autoscales.min.amount(&scope);
            let max = autoscales.max.amount(&scope).max(&min);
            let bounds = Bounds { min, max };
            let target = path(object, &["spec", "scaleTargetRef"])
                .and_then(|target| self.follow(target, ("apps", "Deployment"), namespace(object)));
            let Some(target) = target else {
                self.note(
                    index,
                    "autoscaler-without-target",
                    "what it scales is not in this cluster's manifests",
                );
                continue;
            };
            let joined = match self.bounds.get(&target).cloned() {
                Some(other) => {
                    self.note(target, "two-autoscalers", "two autoscalers set its replicas");
                    Bounds { min: other.min.min(&bounds.min), max: other.max.max(&bounds.max) }
                }
                None => bounds,
            };
            self.bounds.insert(target, joined);
        }
    }

    pub(super) fn note(&mut self, index: usize, code: &'static str, message: impl Into<String>) {
        self.notes.entry(index).or_default().push(Note { code, message: message.into() });
    }
}

/// The namespace that an object states.
pub(super) fn namespace(object: &Value) -> Option<&str> {
    text(object, &["metadata", "namespace"]).map(|namespace| &**namespace)
}

impl Bounds {
    /// Bounds within which `stated` replicas come to lie.
    pub(super) fn steady(&self, stated: &Amount) -> Amount {
        stated.max(&self.min).min(&self.max)
    }
}
