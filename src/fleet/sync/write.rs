//! A derived part as a file, and what is different from the file that is there.

use camino::Utf8Path;
use jiff::civil::Date;
use serde_json::Value as Json;

use super::Derived;
use crate::error::Result;
use crate::fleet::file::{Day, Generated};
use crate::manifest;
use crate::model::{Problem, Value};

const HEAD: &str = "# Written by `fleetgate fleet sync`; change the source, not this file.\n";

/// How a derived part stands to the file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The file says just this.
    Current,
    /// It says something else.
    Changed {
        /// What to write instead.
        text: String,
        /// What is different: one line each, beginning with `+`, `-` or `~`.
        changes: Vec<String>,
    },
    /// There is no file.
    New {
        /// What to write.
        text: String,
    },
}

/// Compares a derived part with the text of the file at `path`, if there is one. The date in it is
/// that of the last change: if nothing else changed, the file is current. A file that was not
/// generated is refused.
pub fn state(derived: &Derived, path: &Utf8Path, old: Option<&str>, today: Date) -> Result<State> {
    let Some(old) = old else { return Ok(State::New { text: text(derived, today)? }) };
    let refused = |message: String| {
        Problem::new("not-generated", message)
            .help("write to another file, or remove this one if it may go")
            .in_file(path)
    };
    let before: Json = manifest::typed(old).map_err(|error| {
        refused(format!("`{path}` cannot be read, so it is not replaced: {}", error.message))
    })?;
    let generated = before.get("generated").cloned();
    let generated: Option<Generated> = generated.and_then(|value| serde_json::from_value(value).ok());
    let Some(generated) = generated else {
        let message = format!("`{path}` has no `generated: {{source, date}}`, so a person wrote it");
        return Err(refused(message).into());
    };
    if text(derived, generated.date.0)? == old {
        return Ok(State::Current);
    }
    let text = text(derived, today)?;
    let mut changes = Vec::new();
    compare("", &without_date(before), &without_date(json(derived, today)?), &mut changes);
    if changes.is_empty() {
        changes.push("~ how it is written".to_owned());
    }
    Ok(State::Changed { text, changes })
}

/// The file, derived on `date`.
fn text(derived: &Derived, date: Date) -> Result<String> {
    Ok(format!("{HEAD}{}", manifest::emit(&Value::from(json(derived, date)?))))
}

fn json(derived: &Derived, date: Date) -> Result<Json> {
    let mut document = derived.document.clone();
    document.generated = Some(Generated { source: derived.source.clone(), date: Day(date) });
    let mut json = serde_json::to_value(&document)
        .map_err(|error| Problem::new("config", format!("the derived part cannot be written: {error}")))?;
    let clusters = json.get_mut("clusters").and_then(Json::as_object_mut);
    for (_, cluster) in clusters.into_iter().flatten() {
        let no_labels = |labels: &Json| labels.as_object().is_some_and(serde_json::Map::is_empty);
        if cluster.get("labels").is_some_and(no_labels)
            && let Some(cluster) = cluster.as_object_mut()
        {
            cluster.remove("labels");
        }
    }
    Ok(json)
}

fn without_date(mut json: Json) -> Json {
    if let Some(generated) = json.get_mut("generated").and_then(Json::as_object_mut) {
        generated.remove("date");
    }
    json
}

/// Lists the differences at `path` and below.
fn compare(path: &str, old: &Json, new: &Json, changes: &mut Vec<String>) {
    match (old, new) {
        _ if old == new => {}
        (Json::Object(before), Json::Object(after)) => {
            let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (before.get(key), after.get(key)) {
                    (Some(old), Some(new)) => compare(&path, old, new, changes),
                    (Some(old), None) => changes.push(format!("- {path}: {old}")),
                    (None, Some(new)) => changes.push(format!("+ {path}: {new}")),
                    (None, None) => {}
                }
            }
        }
        (Json::Array(before), Json::Array(after))
            if before.len() == after.len() && before.iter().all(Json::is_object) =>
        {
            for (index, (old, new)) in before.iter().zip(after).enumerate() {
                let place =
                    new.get("family").and_then(Json::as_str).map_or_else(|| index.to_string(), str::to_owned);
                compare(&format!("{path}[{place}]"), old, new, changes);
            }
        }
        (Json::Array(before), Json::Array(after)) => {
            let gone = before.iter().filter(|item| !after.contains(item));
            changes.extend(gone.map(|item| format!("- {path}: {item}")));
            let come = after.iter().filter(|item| !before.contains(item));
            changes.extend(come.map(|item| format!("+ {path}: {item}")));
        }
        _ => changes.push(format!("~ {path}: {old} → {new}")),
    }
}
