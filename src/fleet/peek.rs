//! Looks into a document for the few things that ownership depends on. What is absent or has another
//! shape is none: whether it is right is for the tool and for the rules to say.

use std::collections::BTreeMap;

use crate::model::Value;

/// The value at `keys`, if there is one that is not null.
pub(super) fn at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter()
        .try_fold(value, |value, key| value.as_object().ok()?.get(&Value::from(*key)))
        .filter(|value| **value != Value::Null)
}

/// The string at `keys`.
pub(super) fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    at(value, keys).and_then(|value| value.as_string().ok()).map(AsRef::as_ref)
}

/// The items of the list at `keys`; none if there is no list.
pub(super) fn items<'v>(value: &'v Value, keys: &[&str]) -> impl Iterator<Item = &'v Value> {
    at(value, keys).and_then(|value| value.as_array().ok()).into_iter().flat_map(|items| items.iter())
}

/// The strings of the list at `keys`; other items are left out.
pub(super) fn texts<'v>(value: &'v Value, keys: &[&str]) -> impl Iterator<Item = &'v str> {
    items(value, keys).filter_map(|item| item.as_string().ok()).map(AsRef::as_ref)
}

/// Keys and values of the mapping at `keys`, as far as they are strings.
pub(super) fn strings(value: &Value, keys: &[&str]) -> BTreeMap<String, String> {
    let Some(Ok(entries)) = at(value, keys).map(Value::as_object) else { return BTreeMap::new() };
    let text = |value: &Value| value.as_string().ok().map(ToString::to_string);
    entries.iter().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect()
}

/// The keys of a mapping whose values say something: not null, not empty.
pub(super) fn set_keys(value: &Value) -> impl Iterator<Item = &str> {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    let mut keys = Vec::new();
    if let Ok(entries) = value.as_object() {
        let set = entries.iter().filter(|(_, value)| says_something(value));
        keys.extend(set.filter_map(|(key, _)| key.as_string().ok()).map(AsRef::as_ref));
    }
    keys.into_iter()
}
