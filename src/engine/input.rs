//! What a policy sees of a resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::quantities::{self, Unreadable};
use crate::accelerators::{self, Registry, Unaccounted};
use crate::manifest::Resource;
use crate::model::{Context, Fleet, ObjectId, Value};

/// What a manifest means when it is checked before it is applied.
pub(super) const OPERATION: &str = "CREATE";

/// The part of a resource's input that is the same in every context.
#[derive(Debug)]
pub(super) struct Facts {
    object: Value,
    workload: Value,
    team: Value,
    unaccounted: Value,
    /// Whether it says something about accelerators without being a workload that asks for some.
    pub(super) mentions_accelerators: bool,
    /// Amounts that are no quantities.
    pub(super) unreadable: Vec<Unreadable>,
}

impl Facts {
    pub(super) fn of(resource: &Resource, fleet: Option<&Fleet>, registry: &Registry) -> Self {
        let object = redacted(resource);
        let workload = registry.workload(&object);
        let unaccounted = accelerators::unaccounted(&object, workload.as_ref());
        Self {
            mentions_accelerators: !unaccounted.is_empty()
                || matches!(&*resource.id.group, "resource.k8s.io" | "resource.nvidia.com"),
            unaccounted: unaccounted.iter().map(Unaccounted::to_value).collect::<Vec<_>>().into(),
            unreadable: workload.as_ref().map(quantities::unreadable).unwrap_or_default(),
            workload: workload.as_ref().map_or(Value::Null, accelerators::plain),
            team: team(&resource.id, fleet).map_or(Value::Null, Value::String),
            object,
        }
    }

    pub(super) fn is_workload(&self) -> bool {
        self.workload != Value::Null
    }

    /// `input` for rules of target `resource`; `placed` is the workload as it is in this context, where
    /// that is more than the manifest alone says.
    pub(super) fn input(&self, context: &Context, placed: Option<&Value>, now: jiff::Timestamp) -> Value {
        let text = |text: Option<&Arc<str>>| text.map_or(Value::Null, |text| Value::String(text.clone()));
        let cluster = context.cluster.as_ref().map_or(Value::Null, |cluster| cluster.facts.clone());
        object([
            ("cluster", cluster),
            ("environment", text(context.environment.as_ref())),
            ("now", now_value(now)),
            ("object", self.object.clone()),
            ("old", Value::Null),
            ("operation", Value::from(OPERATION)),
            ("target", Value::from("resource")),
            ("team", self.team.clone()),
            ("unaccounted", self.unaccounted.clone()),
            ("workload", placed.unwrap_or(&self.workload).clone()),
        ])
    }

    /// `input` for policies in conftest's style: the object itself.
    pub(super) fn object(&self) -> &Value {
        &self.object
    }
}

pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::from(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect::<BTreeMap<_, _>>())
}

pub(super) fn now_value(now: jiff::Timestamp) -> Value {
    let nanoseconds = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
    object([("ns", Value::from(nanoseconds)), ("rfc3339", Value::from(now.to_string()))])
}

/// The team whose namespaces hold an object; none when no team's or more than one's do.
pub fn team(id: &ObjectId, fleet: Option<&Fleet>) -> Option<Arc<str>> {
    let namespace = id.namespace.as_deref()?;
    let mut owners =
        fleet?.teams.values().filter(|team| team.namespaces.iter().any(|glob| glob.is_match(namespace)));
    match (owners.next(), owners.next()) {
        (Some(team), None) => Some(team.name.clone()),
        _ => None,
    }
}

/// The object as policies and records see it: the values of a `Secret` become digests, so that no
/// face can leak one and a recorded decision replays exactly.
fn redacted(resource: &Resource) -> Value {
    let is_secret = resource.id.group.is_empty() && &*resource.id.kind == "Secret";
    if !is_secret {
        return resource.object.clone();
    }
    let Ok(fields) = resource.object.as_object() else { return resource.object.clone() };
    let digested = fields.iter().map(|(key, value)| {
        let is = |name: &str| *key == Value::from(name);
        let value = if is("data") || is("stringData") {
            digests(value)
        } else if is("metadata") {
            without_copy(value)
        } else {
            value.clone()
        };
        (key.clone(), value)
    });
    Value::from(digested.collect::<BTreeMap<_, _>>())
}

/// Metadata in which the copy of the whole object that `kubectl apply` keeps is a digest, too.
fn without_copy(metadata: &Value) -> Value {
    let (annotations, copy) =
        (Value::from("annotations"), Value::from("kubectl.kubernetes.io/last-applied-configuration"));
    let mut metadata = metadata.clone();
    if let Ok(fields) = metadata.as_object_mut()
        && let Some(annotations) = fields.get_mut(&annotations)
        && let Ok(annotations) = annotations.as_object_mut()
        && let Some(copy) = annotations.get_mut(&copy)
    {
        *copy = digest(copy);
    }
    metadata
}

fn digests(values: &Value) -> Value {
    let Ok(fields) = values.as_object() else { return digest(values) };
    Value::from(fields.iter().map(|(key, value)| (key.clone(), digest(value))).collect::<BTreeMap<_, _>>())
}

fn digest(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    };
    Value::from(format!("blake3:{}", blake3::hash(text.as_bytes()).to_hex()))
}
