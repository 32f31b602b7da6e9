//! Reading and building values without the allocations of an indexed look-up.

use std::sync::Arc;

use crate::model::{Route, Step, Value};

/// A field of a mapping. Most mappings of a manifest have few keys, so a scan is cheaper than making
/// a key to look up.
pub(super) fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let Value::Object(fields) = value else { return None };
    fields
        .iter()
        .find(|(name, _)| matches!(name, Value::String(name) if **name == *key))
        .map(|(_, value)| value)
}

/// The value at a route, if there is one.
pub(super) fn at<'a>(value: &'a Value, route: &Route) -> Option<&'a Value> {
    route.0.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => field(value, key),
        Step::Index(index) => match value {
            Value::Array(items) => items.get(*index),
            _ => None,
        },
    })
}

/// The value at a path of keys, unless it is absent or `null`.
pub(super) fn path<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| field(value, key)).filter(|value| **value != Value::Null)
}

/// The text at a path of keys.
pub(super) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Arc<str>> {
    match path(value, keys)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The items of a sequence; none if it is no sequence.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    let items = match value {
        Value::Array(items) => Some(items.iter()),
        _ => None,
    };
    items.into_iter().flatten()
}

/// The fields of a mapping with text keys, sorted by key; none if it is no mapping.
pub(super) fn fields(value: &Value) -> Vec<(&Arc<str>, &Value)> {
    let Value::Object(fields) = value else { return Vec::new() };
    fields
        .iter_sorted()
        .filter_map(|(key, value)| match key {
            Value::String(key) => Some((key, value)),
            _ => None,
        })
        .collect()
}

/// A mapping.
pub(super) fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    fields
        .into_iter()
        .map(|(key, value)| (Value::from(key), value))
        .collect::<std::collections::BTreeMap<_, _>>()
        .into()
}
