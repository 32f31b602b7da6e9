//! Manifests and settings in texts, as a `ConfigMap` holds them.

use super::super::workload::kind_of;
use super::{needles, quiet};
use crate::manifest;
use crate::model::Value;

/// Bytes of texts that are read of one object, and how deep texts lie in texts.
const MAX_BYTES: usize = 4 << 20;
const MAX_LEVELS: usize = 3;

/// What is left to be read.
pub(super) struct Budget {
    bytes: usize,
    levels: usize,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { bytes: MAX_BYTES, levels: MAX_LEVELS }
    }
}

/// What a text asks for, and why that is not counted.
pub(super) fn asks(text: &str, budget: &mut Budget) -> Option<(String, String)> {
    // What a text says in one line, without brackets, is no manifest and no list of settings.
    if !text.contains(['\n', '{']) || !needles::may_ask(text) {
        return None;
    }
    if budget.levels == 0 || text.len() > budget.bytes {
        let what = needles::in_lines(text)?;
        return Some((what, "it stands in a text that is too large to be read".into()));
    }
    budget.bytes -= text.len();
    budget.levels -= 1;
    let found = read(text, budget);
    budget.levels += 1;
    found
}

fn read(text: &str, budget: &mut Budget) -> Option<(String, String)> {
    let split = manifest::split(text);
    let documents: Option<Vec<Value>> =
        (split.documents.iter()).map(|document| manifest::value(document.text).ok()).collect();
    if let Some(documents) = documents.filter(|_| split.errors.is_empty()) {
        return documents.iter().find_map(|document| in_document(document, budget));
    }
    let what = needles::in_lines(text)?;
    Some((what, "it stands in a text that cannot be read as YAML before it is used".into()))
}

fn in_document(document: &Value, budget: &mut Budget) -> Option<(String, String)> {
    let objects = match kind_of(document) {
        Some(("", _, kind)) if kind.ends_with("List") => super::super::value::field(document, "items"),
        _ => None,
    };
    if let Some(objects) = objects {
        return super::super::value::items(objects).find_map(|object| in_document(object, budget));
    }
    let Some((group, _, kind)) = kind_of(document) else {
        let what = inside(document, None, false, budget, 0)?;
        return Some((what, "it stands in a text, and what a text asks for is not counted".into()));
    };
    if quiet::kind(group, kind) {
        return None;
    }
    let what = inside(document, None, true, budget, 0)?;
    let name = super::name_of(document).unwrap_or_default();
    Some((
        format!("{name}: {what}"),
        "it is a manifest in a text, which nothing here applies or counts".into(),
    ))
}

/// The first that a value in a text asks for. Outside of manifests only what is written as a container's
/// resources counts: settings of device plugins and schedulers name devices too.
fn inside(
    value: &Value,
    parent: Option<&str>,
    manifest: bool,
    budget: &mut Budget,
    depth: usize,
) -> Option<String> {
    if depth > super::MAX_DEPTH {
        return None;
    }
    match value {
        Value::Object(fields) => fields.iter_sorted().find_map(|(key, value)| {
            let Value::String(key) = key else { return None };
            let counts = manifest || parent.is_some_and(quiet::within);
            if let Some(what) = needles::asks(key, value, parent).filter(|_| counts) {
                return Some(what);
            }
            if quiet::key(key) || (manifest && depth == 0 && **key == *"metadata") {
                return None;
            }
            inside(value, Some(key), manifest, budget, depth + 1)
        }),
        Value::Array(items) => {
            items.iter().find_map(|value| inside(value, parent, manifest, budget, depth + 1))
        }
        Value::String(text) => asks(text, budget).map(|(what, _)| what),
        _ => None,
    }
}
