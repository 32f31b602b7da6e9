//! What a policy sees of a resource.

use std::collections::BTreeMap;

use super::quantities::{self, Unreadable};
use crate::accelerators;
use crate::manifest::Resource;
use crate::model::{Context, Fleet, Value};

/// What a manifest means when it is checked before it is applied.
pub(super) const OPERATION: &str = "CREATE";

/// The part of a resource's input that is the same in every context.
#[derive(Debug)]
pub(super) struct Facts {
    object: Value,
    workload: Value,
    team: Value,
    /// Amounts that are no quantities.
    pub(super) unreadable: Vec<Unreadable>,
}

impl Facts {
    pub(super) fn of(resource: &Resource, fleet: Option<&Fleet>) -> Self {
        let object = redacted(resource);
        let workload = accelerators::workload(&object);
        Self {
            unreadable: workload.as_ref().map(quantities::unreadable).unwrap_or_default(),
            workload: workload.map_or(Value::Null, |workload| workload.to_value()),
            team: team(resource, fleet),
            object,
        }
    }

    pub(super) fn is_workload(&self) -> bool {
        self.workload != Value::Null
    }

    /// `input` for rules of target `resource`.
    pub(super) fn input(&self, context: &Context, now: jiff::Timestamp) -> Value {
        let text =
            |text: Option<&std::sync::Arc<str>>| text.map_or(Value::Null, |text| Value::String(text.clone()));
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
            ("workload", self.workload.clone()),
        ])
    }

    /// `input` for policies in conftest's style: the object itself.
    pub(super) fn object(&self) -> &Value {
        &self.object
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::from(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect::<BTreeMap<_, _>>())
}

fn now_value(now: jiff::Timestamp) -> Value {
    let nanoseconds = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
    object([("ns", Value::from(nanoseconds)), ("rfc3339", Value::from(now.to_string()))])
}

/// The team whose namespaces hold the object; null when none or more than one does.
fn team(resource: &Resource, fleet: Option<&Fleet>) -> Value {
    let (Some(fleet), Some(namespace)) = (fleet, &resource.id.namespace) else { return Value::Null };
    let mut owners =
        fleet.teams.values().filter(|team| team.namespaces.iter().any(|glob| glob.is_match(&**namespace)));
    match (owners.next(), owners.next()) {
        (Some(team), None) => Value::String(team.name.clone()),
        _ => Value::Null,
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
