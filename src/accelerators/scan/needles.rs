//! What a request for accelerators looks like.

use std::sync::LazyLock;

use regex::Regex;

use super::super::resources::{self, Class, class};
use crate::manifest::quantity::Quantity;
use crate::model::Value;

/// Annotations by which pods of the KAI scheduler ask for parts of devices.
const ANNOTATIONS: [&str; 3] = ["gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"];

/// Fields that name a device class, or a claim of devices.
const CLAIMS: [&str; 2] = ["resourceClaimTemplateName", "resourceClaimName"];

/// What a field asks for, as people are to see it; `None` if it asks for no accelerators.
pub(super) fn asks(key: &str, value: &Value, parent: Option<&str>) -> Option<String> {
    if key.contains('/') {
        return (is_device(key) && is_amount(value)).then(|| shown(key, value));
    }
    let Value::String(text) = value else { return None };
    let is_asked = match key {
        "deviceClassName" => is_device(text),
        _ if CLAIMS.contains(&key) => true,
        _ => parent == Some("annotations") && ANNOTATIONS.contains(&key),
    };
    is_asked.then(|| shown(key, value))
}

fn is_device(name: &str) -> bool {
    let name = name.strip_prefix(resources::DEVICE_CLASS).unwrap_or(name);
    matches!(class(name), Class::Device | Class::Slice | Class::Share)
}

/// Whether a value is an amount of something, or stands for one; none of it is no request. Labels and
/// selectors have words here, such as `present`.
fn is_amount(value: &Value) -> bool {
    match value {
        Value::Number(_) => !matches!(Quantity::from_value(value).and_then(Quantity::to_count), Ok(0)),
        Value::String(text) => match Quantity::from_value(value).and_then(Quantity::to_count) {
            Ok(count) => count > 0,
            Err(_) => {
                text.contains('$') || text.contains("{{") || text.starts_with(|c: char| c.is_ascii_digit())
            }
        },
        Value::Null => true,
        _ => false,
    }
}

fn shown(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key}: {text}"),
        other => format!("{key}: {other}"),
    }
}

/// The beginnings of device names, and the other words of a request, anywhere in a text.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let fixed = [resources::DEVICE_CLASS, "deviceClassName", "resourceClaim", "gpu-fraction", "gpu-memory"];
    let names = resources::names().filter(|name| name.contains('/'));
    let mut words: Vec<String> = names.chain(fixed).map(regex::escape).collect();
    words.sort();
    words.dedup();
    Regex::new(&words.join("|")).ok()
});

/// A line such as `nvidia.com/gpu: 8`.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[ \t-]*["']?([a-z0-9.-]+/[A-Za-z0-9._-]+)["']?[ \t]*:[ \t]*["']?([0-9$][^\s"'#,}]*|\{\{[^\n]{0,40})"#).ok()
});

/// Whether a text says a word of a request; the quick test before anything is read.
pub(super) fn may_ask(text: &str) -> bool {
    WORDS.as_ref().is_none_or(|words| words.is_match(text))
}

/// What lines of a text that cannot be read ask for.
pub(super) fn in_lines(text: &str) -> Option<String> {
    let found = LINE.as_ref()?.captures_iter(text).find_map(|line| {
        let (key, value) = (line.get(1)?.as_str(), line.get(2)?.as_str());
        asks(key, &Value::from(value), None)
    })?;
    Some(found)
}
