//! Parameters of rules: their schemas, and the values that the configuration gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Problem, Route, Span, Step, Value};

use super::load::LoadOptions;
use super::set::Rule;
use super::syntax::{Part, Shape, Syntax};
use super::text;

/// The words of JSON Schema that a parameter can use.
const WORDS: [&str; 14] = [
    "additionalProperties",
    "default",
    "description",
    "enum",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
];
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// A field of an object.
pub(super) fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().ok()?.get(&Value::from(key))
}

/// What is wrong with a parameter's schema.
pub(super) fn check_schema(name: &str, schema: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check_words(schema, &Route::root(), &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    if name.starts_with(|first: char| first.is_ascii_digit())
        || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        errors.push("must be named with letters, digits and `_`, as Rego names are".to_owned());
    }
    if field(schema, "description").is_none() {
        errors.push("needs a `description`".to_owned());
    }
    match field(schema, "default") {
        None => errors.push("needs a `default`".to_owned()),
        Some(default) => {
            let found = violations(schema, default, &Route::root());
            errors.extend(
                found.into_iter().map(|(route, what)| {
                    format!("has a default that breaks its schema: {}", at(&route, &what))
                }),
            );
        }
    }
    errors
}

fn check_words(schema: &Value, route: &Route, errors: &mut Vec<String>) {
    let Ok(words) = schema.as_object() else {
        errors.push(at(route, "must be a schema, such as `{type: string, default: \"\"}`"));
        return;
    };
    for (word, value) in words.iter_sorted() {
        let Ok(word) = word.as_string() else { continue };
        let here = route.key(word);
        let number = |value: &Value| value.as_number().is_ok();
        let fits = match &**word {
            "type" => value.as_string().is_ok_and(|name| TYPES.contains(&&**name)),
            "description" => value.as_string().is_ok(),
            "enum" => value.as_array().is_ok_and(|values| !values.is_empty()),
            "required" => {
                value.as_array().is_ok_and(|names| names.iter().all(|name| name.as_string().is_ok()))
            }
            "minItems" | "maxItems" | "minLength" => value.as_u64().is_ok(),
            "minimum" | "maximum" => number(value),
            "pattern" => value.as_string().is_ok_and(|pattern| regex::Regex::new(pattern).is_ok()),
            "default" => true,
            "items" => {
                check_words(value, &here, errors);
                true
            }
            "additionalProperties" if value.as_bool().is_ok() => true,
            "additionalProperties" => {
                check_words(value, &here, errors);
                true
            }
            "properties" => {
                let properties = value.as_object();
                for (name, schema) in properties.iter().flat_map(|properties| properties.iter_sorted()) {
                    if let Ok(name) = name.as_string() {
                        check_words(schema, &here.key(name), errors);
                    }
                }
                properties.is_ok()
            }
            unknown => {
                let help = text::suggestion(unknown, WORDS);
                errors.push(at(&here, &format!("is no word of a schema; {help}")));
                true
            }
        };
        if !fits {
            errors.push(at(&here, &format!("cannot be `{value}`")));
        }
    }
    if field(schema, "type").is_none() && field(schema, "enum").is_none() {
        errors.push(at(route, "needs a `type`"));
    }
}

/// Where a value breaks its schema, and how.
fn violations(schema: &Value, value: &Value, route: &Route) -> Vec<(Route, String)> {
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push((route.clone(), what));
    if let Some(expected) = field(schema, "type").and_then(|name| name.as_string().ok())
        && !is_type(value, expected)
    {
        wrong(format!("must be of type {expected}, not `{value}`"));
        return found;
    }
    if let Some(Ok(allowed)) = field(schema, "enum").map(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<_> = allowed.iter().map(|value| format!("`{value}`")).collect();
        wrong(format!("must be one of {}, not `{value}`", allowed.join(", ")));
    }
    if field(schema, "minimum").is_some_and(|least| value.as_number().is_ok() && value < least) {
        wrong(format!("must be at least {}", field(schema, "minimum").unwrap_or(&Value::Null)));
    }
    if field(schema, "maximum").is_some_and(|most| value.as_number().is_ok() && value > most) {
        wrong(format!("must be at most {}", field(schema, "maximum").unwrap_or(&Value::Null)));
    }
    let limit = |word: &str| {
        field(schema, word)
            .and_then(|limit| limit.as_u64().ok())
            .and_then(|limit| usize::try_from(limit).ok())
    };
    match value {
        Value::String(text) => {
            if limit("minLength").is_some_and(|least| text.chars().count() < least) {
                wrong(format!("must have at least {} characters", limit("minLength").unwrap_or(0)));
            }
            let pattern = field(schema, "pattern").and_then(|pattern| pattern.as_string().ok());
            if let Some(pattern) = pattern
                && regex::Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text))
            {
                wrong(format!("must match `{pattern}`"));
            }
        }
        Value::Array(items) => {
            if limit("minItems").is_some_and(|least| items.len() < least) {
                wrong(format!("must have at least {} items", limit("minItems").unwrap_or(0)));
            }
            if limit("maxItems").is_some_and(|most| items.len() > most) {
                wrong(format!("must have at most {} items", limit("maxItems").unwrap_or(0)));
            }
            if let Some(schema) = field(schema, "items") {
                for (index, item) in items.iter().enumerate() {
                    found.extend(violations(schema, item, &route.index(index)));
                }
            }
        }
        Value::Object(_) => found.extend(object_violations(schema, value, route)),
        _ => {}
    }
    found
}

fn object_violations(schema: &Value, value: &Value, route: &Route) -> Vec<(Route, String)> {
    let mut found = Vec::new();
    let Ok(object) = value.as_object() else { return found };
    let properties = field(schema, "properties");
    let rest = field(schema, "additionalProperties");
    for (key, value) in object.iter_sorted() {
        let Ok(key) = key.as_string() else {
            found.push((route.clone(), "must have texts as keys".to_owned()));
            continue;
        };
        let here = route.key(key);
        match (properties.and_then(|properties| field(properties, key)), rest) {
            (Some(schema), _) => found.extend(violations(schema, value, &here)),
            (None, Some(Value::Bool(true))) => {}
            (None, Some(schema @ Value::Object(_))) => found.extend(violations(schema, value, &here)),
            // Closed unless the schema names no keys at all.
            (None, None) if properties.is_none() => {}
            (None, _) => {
                let names = properties.and_then(|properties| properties.as_object().ok());
                let names: Vec<_> = names
                    .iter()
                    .flat_map(|names| names.keys_sorted())
                    .filter_map(|name| name.as_string().ok())
                    .collect();
                let help = text::suggestion(key, names.iter().map(|name| &***name));
                found.push((here, format!("is unknown; {help}")));
            }
        }
    }
    let required = field(schema, "required").and_then(|names| names.as_array().ok());
    for name in required.iter().flat_map(|names| names.iter()) {
        if object.get(name).is_none() {
            found.push((route.clone(), format!("needs {name}")));
        }
    }
    found
}

fn is_type(value: &Value, name: &str) -> bool {
    match value {
        Value::String(_) => name == "string",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && number.is_integer()),
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Null | Value::Set(_) | Value::Undefined => false,
    }
}

fn at(route: &Route, what: &str) -> String {
    if route.is_root() { what.to_owned() } else { format!("`{route}` {what}") }
}

/// Mentions of `data.params` that no rule declares: they would be undefined, and a denial that waits
/// for them would never come.
pub(super) fn undeclared(rules: &[Rule], modules: &[&Syntax]) -> Vec<Problem> {
    let mut declared: BTreeMap<Vec<String>, &Rule> = BTreeMap::new();
    for rule in rules {
        if let Some((pack, name)) = rule.id.split_once('/') {
            declared.insert(vec![pack.replace('-', "_"), name.replace('-', "_")], rule);
        }
    }
    let mut problems = Vec::new();
    for module in modules {
        // A rule that only names the parameters, as in `params := data.params.pack.rule`.
        let mut names: BTreeMap<&[Arc<str>], Vec<String>> = BTreeMap::new();
        for rule in &module.rules {
            if let (Shape::Value, [mention]) = (rule.shape, rule.uses.as_slice())
                && let Some(path) = below_params(&mention.path).filter(|path| path.len() == 2)
            {
                names.insert(&rule.path, path);
            }
        }
        for mention in module.rules.iter().flat_map(|rule| &rule.uses).filter(|mention| !mention.shadowed) {
            let Some(path) = below_params(&mention.path).or_else(|| through(&names, module, &mention.path))
            else {
                continue;
            };
            if let Some(problem) = undeclared_mention(module, mention.span, &path, &declared) {
                problems.push(problem);
            }
        }
    }
    problems
}

/// The known parts of a mention behind `data.params`.
fn below_params(path: &[Part]) -> Option<Vec<String>> {
    match path {
        [Part::Key(data), Part::Key(params), rest @ ..] if &**data == "data" && &**params == "params" => {
            Some(keys(rest))
        }
        _ => None,
    }
}

fn keys(parts: &[Part]) -> Vec<String> {
    let keys =
        parts.iter().map_while(|part| if let Part::Key(key) = part { Some(key.to_string()) } else { None });
    keys.collect()
}

/// A mention of a rule that only names the parameters.
fn through(
    names: &BTreeMap<&[Arc<str>], Vec<String>>,
    module: &Syntax,
    path: &[Part],
) -> Option<Vec<String>> {
    let path = keys(path);
    let inside = path.get(1 + module.package.len()..)?;
    let package = path.get(1..=module.package.len())?;
    if !package.iter().map(String::as_str).eq(module.package.iter().map(AsRef::as_ref)) {
        return None;
    }
    let (name, rest) = inside.split_first()?;
    let base = names.get([Arc::from(name.as_str())].as_slice())?;
    Some(base.iter().chain(rest).cloned().collect())
}

fn undeclared_mention(
    module: &Syntax,
    span: Span,
    path: &[String],
    declared: &BTreeMap<Vec<String>, &Rule>,
) -> Option<Problem> {
    let (rule, name) = (path.get(..2)?, path.get(2));
    let written = format!("data.params.{}", path.get(..path.len().min(3))?.join("."));
    let Some(rule) = declared.get(rule) else {
        let message = format!("`{written}` is read, but there is no rule with such parameters");
        let known: Vec<String> = declared.keys().map(|path| path.join(".")).collect();
        let help = text::suggestion(&rule.join("."), known.iter().map(String::as_str));
        return Some(module.file.problem("unknown-parameter", message, span).help(help));
    };
    let known = || rule.parameters.iter().map(|parameter| &*parameter.name);
    let name = name.filter(|name| !known().any(|known| known == name.as_str()))?;
    let message = format!("`{written}` is read, but rule `{}` declares no parameter `{name}`", rule.id);
    let help = match text::nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "declare it under `custom.params` in the metadata, with a default".to_owned(),
    };
    Some(module.file.problem("unknown-parameter", message, span).help(help))
}

/// The document at `data.params`: each rule's parameters at `<pack>.<rule_snake>`, with defaults.
pub(super) fn document(rules: &[Rule], options: &LoadOptions<'_>, problems: &mut Vec<Problem>) -> Value {
    let by_id: BTreeMap<&str, &Rule> = rules.iter().map(|rule| (&*rule.id, rule)).collect();
    for id in options.parameters.keys().filter(|id| !by_id.contains_key(&***id)) {
        let message = format!("parameters are set for `{id}`, but there is no such rule");
        let help = text::suggestion(id, by_id.keys().copied());
        problems.push(located(options, &Route::root().key(id), "unknown-rule", message).help(help));
    }
    let mut packs: BTreeMap<Value, BTreeMap<Value, Value>> = BTreeMap::new();
    for rule in
        rules.iter().filter(|rule| !rule.parameters.is_empty() || options.parameters.contains_key(&rule.id))
    {
        let values = values(rule, options, problems);
        if let Some((pack, name)) = rule.id.split_once('/') {
            packs
                .entry(pack.replace('-', "_").into())
                .or_default()
                .insert(name.replace('-', "_").into(), values);
        }
    }
    Value::from(packs.into_iter().map(|(pack, rules)| (pack, Value::from(rules))).collect::<BTreeMap<_, _>>())
}

fn values(rule: &Rule, options: &LoadOptions<'_>, problems: &mut Vec<Problem>) -> Value {
    let mut values: BTreeMap<Value, Value> = rule
        .parameters
        .iter()
        .map(|parameter| (Value::from(&*parameter.name), parameter.default.clone()))
        .collect();
    let here = Route::root().key(&rule.id);
    let Some(given) = options.parameters.get(&rule.id) else { return Value::from(values) };
    let Ok(given) = given.as_object() else {
        let message = format!("parameters of `{}` must be a mapping, not `{given}`", rule.id);
        problems.push(located(options, &here, "wrong-parameter", message));
        return Value::from(values);
    };
    for (name, value) in given.iter_sorted() {
        let shown = name.as_string().map_or_else(|_| Arc::from(name.to_string()), Arc::clone);
        let route = here.key(&shown);
        let Some(parameter) = rule.parameters.iter().find(|parameter| parameter.name == shown) else {
            let message = format!("rule `{}` has no parameter `{shown}`", rule.id);
            let help = text::suggestion(&shown, rule.parameters.iter().map(|parameter| &*parameter.name));
            problems.push(located(options, &route, "unknown-parameter", message).help(help));
            continue;
        };
        for (inside, what) in violations(&parameter.schema, value, &Route::root()) {
            let name = Route(vec![Step::Key(Arc::clone(&shown))]).join(&inside);
            let message = format!("parameter `{name}` of `{}` {what}", rule.id);
            problems.push(located(options, &route.join(&inside), "wrong-parameter", message));
        }
        values.insert(name.clone(), value.clone());
    }
    Value::from(values)
}

fn located(options: &LoadOptions<'_>, route: &Route, code: &'static str, message: String) -> Problem {
    let mut problem = Problem::new(code, message);
    if let Some(location) = options.locate.and_then(|locate| locate(route)) {
        problem.file = Some(location.file);
        problem.span = location.span;
        problem.source = location.source;
    }
    problem
}
