//! What a rule's partial sets hold, turned into hits. Nothing is skipped: an element that is no
//! finding is an error of the rule.

use super::outcome::{EvaluationError, Hit};
use super::set::{Rule, Style, Target};
use crate::model::{Level, Route, Step, Value};

/// The keys of an element in our own style.
const KEYS: [&str; 6] = ["at", "details", "msg", "path", "remediation", "subject"];

/// The longest message or remediation, in bytes.
const TEXT_LIMIT: usize = 16 * 1024;

/// The most nodes in `details`. Values can share parts of themselves, so that a small one is
/// enormous when written out.
const DETAILS_LIMIT: usize = 10_000;

/// The hits in a rule's value, an object of its entries, sorted.
pub(super) fn hits(rule: &Rule, style: Style, value: &Value) -> Result<Vec<Hit>, EvaluationError> {
    let mut hits = Vec::new();
    for entry in &rule.entries {
        let entries = value.as_object().ok();
        let Some(elements) = entries.and_then(|entries| entries.get(&Value::from(&*entry.name))) else {
            return Err(EvaluationError::of(rule, format!("`{}` is undefined", entry.name)));
        };
        let elements: Vec<&Value> = match (elements, style) {
            (Value::Set(set), _) => set.iter_sorted().collect(),
            (Value::Array(array), Style::Conftest) => array.iter().collect(),
            (other, _) => {
                return Err(EvaluationError::of(
                    rule,
                    format!("`{}` is {}, not a set of findings", entry.name, kind(other)),
                )
                .help(format!("write `{} contains msg if {{ … }}`", entry.name)));
            }
        };
        for element in elements {
            let decoded = match style {
                Style::Conftest => conftest(element, entry.level),
                Style::Native => native(element, entry.level, rule.target),
            };
            hits.push(decoded.map_err(|fault| {
                EvaluationError::of(
                    rule,
                    format!(
                        "`{}` of `{}` holds {}, {}",
                        entry.name,
                        rule.id,
                        excerpt(element),
                        fault.message
                    ),
                )
                .help(fault.help)
            })?);
        }
    }
    hits.sort_by(|a, b| {
        (b.level, &a.message, &a.route, &a.details, &a.remediation, &a.subject, &a.at).cmp(&(
            a.level,
            &b.message,
            &b.route,
            &b.details,
            &b.remediation,
            &b.subject,
            &b.at,
        ))
    });
    hits.dedup();
    Ok(hits)
}

/// Why an element is no finding.
struct Fault {
    message: String,
    help: String,
}

impl Fault {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

fn empty(level: Level) -> Hit {
    Hit {
        level,
        message: String::new(),
        route: None,
        details: None,
        remediation: None,
        subject: None,
        at: None,
    }
}

fn native(element: &Value, level: Level, target: Target) -> Result<Hit, Fault> {
    let mut hit = empty(level);
    let object = match element {
        Value::String(message) => {
            hit.message = text(message)?;
            return Ok(hit);
        }
        Value::Object(object) => object,
        other => {
            return Err(Fault::new(
                format!("which is {}", kind(other)),
                "an element is a string or {msg, path, details, remediation}",
            ));
        }
    };
    let mut message = None;
    for (key, value) in object.iter_sorted() {
        match (key.as_string().map(AsRef::as_ref), value) {
            (Ok("msg"), Value::String(value)) => message = Some(text(value)?),
            (Ok("msg"), other) => {
                return Err(Fault::new(
                    format!("whose `msg` is {}", kind(other)),
                    "`msg` is a string; use `sprintf`",
                ));
            }
            (Ok("remediation"), Value::String(value)) => hit.remediation = Some(text(value)?),
            (Ok("remediation"), other) => {
                return Err(Fault::new(
                    format!("whose `remediation` is {}", kind(other)),
                    "`remediation` is a string",
                ));
            }
            (Ok("path"), value) => hit.route = Some(route(value)?),
            (Ok("details"), value) => hit.details = Some(details(value)?),
            (Ok(key @ ("subject" | "at")), value) if target != Target::Resource => {
                let reference = Some(reference(key, value)?);
                if key == "at" { hit.at = reference } else { hit.subject = reference }
            }
            (Ok(key @ ("subject" | "at")), _) => {
                return Err(Fault::new(
                    format!("which has the key `{key}`"),
                    "only rules of target `cluster` or `fleet` say what they are about: take the key out",
                ));
            }
            (Ok(other), _) => return Err(unknown_key(other)),
            (Err(_), _) => {
                return Err(Fault::new(
                    format!("which has the key {}", excerpt(key)),
                    "keys are `msg`, `path`, `details` and `remediation`",
                ));
            }
        }
    }
    hit.message = message.ok_or_else(|| {
        Fault::new("which has no `msg`", "add `\"msg\": …`, a string that says what is wrong")
    })?;
    Ok(hit)
}

/// conftest reads `msg` and keeps the rest as metadata, without `_loc`.
fn conftest(element: &Value, level: Level) -> Result<Hit, Fault> {
    let mut hit = empty(level);
    match element {
        Value::String(message) => hit.message = text(message)?,
        Value::Object(object) => {
            let mut rest = Value::new_object();
            for (key, value) in object.iter_sorted() {
                match (key.as_string().map(AsRef::as_ref), value) {
                    (Ok("msg"), Value::String(value)) => hit.message = text(value)?,
                    (Ok("_loc"), _) => {}
                    (Ok("msg"), other) => {
                        return Err(Fault::new(
                            format!("whose `msg` is {}", kind(other)),
                            "`msg` is a string; use `sprintf`",
                        ));
                    }
                    _ => {
                        if let Ok(rest) = rest.as_object_mut() {
                            rest.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            if object.get(&Value::from("msg")).is_none() {
                return Err(Fault::new(
                    "which has no `msg`",
                    "add `\"msg\": …`, a string that says what is wrong",
                ));
            }
            if rest.as_object().is_ok_and(|rest| !rest.is_empty()) {
                hit.details = Some(details(&rest)?);
            }
        }
        other => {
            return Err(Fault::new(
                format!("which is {}", kind(other)),
                "an element is a string or an object with `msg`",
            ));
        }
    }
    Ok(hit)
}

/// What names an object: a `ref` of the input, handed on.
fn reference(key: &str, value: &Value) -> Result<Value, Fault> {
    let has = |name: &str| value.as_object().is_ok_and(|fields| fields.get(&Value::from(name)).is_some());
    if has("kind") && has("name") {
        return Ok(value.clone());
    }
    Err(Fault::new(
        format!("whose `{key}` is {}", excerpt(value)),
        format!("hand on a `ref` of the input: `\"{key}\": quota.ref`"),
    ))
}

fn text(value: &str) -> Result<String, Fault> {
    if value.trim().is_empty() {
        return Err(Fault::new("a text that is empty", "say what is wrong"));
    }
    if value.len() > TEXT_LIMIT {
        return Err(Fault::new(
            format!("a text of {} bytes", value.len()),
            format!("texts have at most {TEXT_LIMIT} bytes; put lists into `details`"),
        ));
    }
    Ok(value.to_owned())
}

fn route(value: &Value) -> Result<Route, Fault> {
    let help = "`path` is a list of keys and indexes, such as [\"spec\", \"containers\", 0, \"image\"]";
    let Value::Array(steps) = value else {
        return Err(Fault::new(format!("whose `path` is {}", kind(value)), help));
    };
    let steps: Result<Vec<Step>, Fault> = steps
        .iter()
        .map(|step| match step {
            Value::String(key) => Ok(Step::Key(key.clone())),
            Value::Number(number) => number
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .map(Step::Index)
                .ok_or_else(|| Fault::new(format!("whose `path` has the index {}", excerpt(step)), help)),
            other => Err(Fault::new(format!("whose `path` has {} in it", kind(other)), help)),
        })
        .collect();
    Ok(Route(steps?))
}

fn details(value: &Value) -> Result<Value, Fault> {
    let mut budget = DETAILS_LIMIT;
    if fits(value, &mut budget) {
        Ok(value.clone())
    } else {
        Err(Fault::new(
            format!("whose `details` have more than {DETAILS_LIMIT} parts"),
            "keep what a reader or a script needs",
        ))
    }
}

fn fits(value: &Value, budget: &mut usize) -> bool {
    let Some(left) = budget.checked_sub(1) else { return false };
    *budget = left;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, budget)),
        Value::Set(items) => items.iter_sorted().all(|item| fits(item, budget)),
        Value::Object(fields) => {
            fields.iter_sorted().all(|(key, item)| fits(key, budget) && fits(item, budget))
        }
        _ => true,
    }
}

fn unknown_key(key: &str) -> Fault {
    let distance = |known: &&str| strsim::damerau_levenshtein(known, key);
    let near = KEYS.into_iter().min_by_key(distance).filter(|known| distance(known) <= 2);
    Fault::new(
        format!("which has the unknown key `{key}`"),
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "keys are `msg`, `path`, `details` and `remediation`; put other facts into `details`"
                .to_owned(),
        },
    )
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Set(_) => "a set",
        Value::Object(_) => "an object",
        Value::Undefined => "undefined",
    }
}

/// The first characters of a value; never the whole of a large one.
pub(super) fn excerpt(value: &Value) -> String {
    let mut budget = 200;
    if !fits(value, &mut budget) {
        return format!("a large {}", kind(value).trim_start_matches("an ").trim_start_matches("a "));
    }
    let text = value.to_string();
    let short: String = text.chars().take(120).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::evaluate::Limits;
    use super::super::fixtures::{json, policies};
    use super::*;

    /// The hits of a rule whose `deny` is as given.
    fn decode(style: Style, deny: &str) -> Result<Vec<Hit>, EvaluationError> {
        let policies = policies(style, &[("a.rego", &format!("package main\n\n{deny}\n"))]);
        let mut evaluator = policies.evaluator(&[vec![0]], &Limits::default()).unwrap();
        evaluator.evaluate(0, json("{}")).remove(0).result
    }

    fn error(style: Style, deny: &str) -> String {
        let error = decode(style, deny).unwrap_err();
        format!("{}; {}", error.message, error.help.unwrap_or_default())
    }

    #[test]
    fn an_element_is_a_text_or_an_object_with_a_message() {
        assert_eq!(decode(Style::Native, r#"deny contains "a""#).unwrap()[0].message, "a");
        let hit = decode(
            Style::Native,
            r#"deny contains {"msg": "a", "path": ["spec", "containers", 0, "image"], "details": {"value": 3}, "remediation": "b"}"#,
        )
        .unwrap()
        .remove(0);
        assert_eq!(hit.message, "a");
        assert_eq!(hit.route.unwrap().to_string(), "spec.containers[0].image");
        assert_eq!(hit.details, Some(json(r#"{"value": 3}"#)));
        assert_eq!(hit.remediation.as_deref(), Some("b"));
    }

    #[test]
    fn what_is_no_finding_is_an_error_that_says_so() {
        for (element, expected) in [
            ("3", "`deny` of `main` holds `3`, which is a number"),
            ("null", "which is null"),
            (r#"["a"]"#, "which is an array"),
            (r#"{"message": "a"}"#, "unknown key `message`"),
            (r#"{"details": 1}"#, "which has no `msg`"),
            (r#"{"msg": 1}"#, "whose `msg` is a number"),
            (r#"{"msg": ""}"#, "a text that is empty"),
            (r#""  ""#, "a text that is empty"),
            (r#"{"msg": "a", "pth": []}"#, "did you mean `path`?"),
            (r#"{"msg": "a", "path": "spec"}"#, "whose `path` is a string"),
            (r#"{"msg": "a", "path": [-1]}"#, "the index `-1`"),
            (r#"{"msg": "a", "path": [1.5]}"#, "the index `1.5`"),
            (r#"{"msg": "a", "path": [null]}"#, "whose `path` has null in it"),
            (r#"{"msg": "a", "remediation": 1}"#, "whose `remediation` is a number"),
            (r#"{"msg": "a", 1: 2}"#, "the key `1`"),
        ] {
            let message = error(Style::Native, &format!("deny contains {element}"));
            assert!(message.contains(expected), "{element}: {message}");
        }
    }

    #[test]
    fn o12_an_entry_that_is_no_set_is_an_error() {
        for style in [Style::Native, Style::Conftest] {
            for deny in ["deny if true", "deny := \"a\"", "deny := {\"a\": 1}", "deny := 1"] {
                let message = error(style, deny);
                assert!(message.contains("not a set of findings"), "{deny}: {message}");
            }
        }
        assert!(error(Style::Native, "deny if false").contains("undefined"));
    }

    #[test]
    fn conftest_elements() {
        let hit = decode(Style::Conftest, r#"deny contains {"msg": "a", "id": 7, "_loc": {"file": "x"}}"#)
            .unwrap()
            .remove(0);
        assert_eq!((hit.message.as_str(), hit.details), ("a", Some(json(r#"{"id": 7}"#))));
        assert_eq!(decode(Style::Conftest, r#"deny := ["b", "a"]"#).unwrap().len(), 2);
        assert_eq!(decode(Style::Conftest, r#"deny contains {"msg": "a"}"#).unwrap()[0].details, None);
        assert!(error(Style::Conftest, "deny contains 1").contains("which is a number"));
        assert!(error(Style::Conftest, r#"deny contains {"id": 1}"#).contains("no `msg`"));
        assert!(error(Style::Conftest, r#"deny contains {"msg": 1}"#).contains("`msg` is a number"));
    }

    #[test]
    fn details_that_are_enormous_when_written_out_are_refused() {
        let mut text = String::from("x0 := [1]\n");
        for level in 1..=40 {
            writeln!(text, "x{level} := [x{}, x{}]", level - 1, level - 1).unwrap();
        }
        let message =
            error(Style::Native, &format!("deny contains {{\"msg\": \"a\", \"details\": x40}}\n{text}"));
        assert!(message.contains("more than 10000 parts"), "{message}");
        let message = error(Style::Native, &format!("deny contains x40\n{text}"));
        assert!(message.contains("holds a large array"), "{message}");
    }

    #[test]
    fn hits_are_sorted() {
        let messages: Vec<String> = decode(
            Style::Native,
            "deny contains x if some x in [\"b\", \"c\", \"a\"]\n\nwarn contains \"0\"",
        )
        .unwrap()
        .into_iter()
        .map(|hit| hit.message)
        .collect();
        assert_eq!(messages, ["a", "b", "c", "0"]);
    }
}
