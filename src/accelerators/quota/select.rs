//! Selectors, taints and node affinity, as far as quota systems judge by them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::accelerators::value::{field, fields, items, path, text};
use crate::model::Value;

/// What is known of an object's labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    /// The labels that it has for certain.
    pub known: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether it has no others.
    pub all: bool,
}

/// Whether a label selector matches; `None` if that depends on labels that are not known. An empty
/// selector matches everything (`LabelSelectorAsSelector` of kubernetes/apimachinery
/// pkg/apis/meta/v1/helpers.go). An operator that does not exist matches nothing that is known.
pub(super) fn selects(selector: &Value, labels: &Labels) -> Option<bool> {
    let mut result = Some(true);
    for (key, value) in path(selector, &["matchLabels"]).map(fields).unwrap_or_default() {
        let wanted = text_of(value);
        result = both(result, requirement(key, "In", &[wanted], labels));
    }
    for expression in path(selector, &["matchExpressions"]).into_iter().flat_map(items) {
        let values: Vec<&str> =
            path(expression, &["values"]).into_iter().flat_map(items).map(text_of).collect();
        let key = text(expression, &["key"]).map_or("", |key| &**key);
        let operator = text(expression, &["operator"]).map_or("", |operator| &**operator);
        result = both(result, requirement(key, operator, &values, labels));
    }
    result
}

fn text_of(value: &Value) -> &str {
    match value {
        Value::String(text) => text,
        _ => "",
    }
}

/// Three-valued conjunction: one `no` decides, whatever is not known.
fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn requirement(key: &str, operator: &str, values: &[&str], labels: &Labels) -> Option<bool> {
    let value = match labels.known.get(key) {
        Some(value) => Some(&**value),
        None if labels.all => None,
        None => return None,
    };
    match operator {
        "In" => Some(value.is_some_and(|value| values.contains(&value))),
        "NotIn" => Some(value.is_none_or(|value| !values.contains(&value))),
        "Exists" => Some(value.is_some()),
        "DoesNotExist" => Some(value.is_none()),
        "Gt" | "Lt" => {
            let number = |text: &str| text.parse::<i64>().ok();
            let (Some(have), Some(bound)) =
                (value.and_then(number), values.first().and_then(|bound| number(bound)))
            else {
                return Some(false);
            };
            Some(if operator == "Gt" { have > bound } else { have < bound })
        }
        _ => None,
    }
}

/// Whether a pod tolerates a taint: `ToleratesTaint` of kubernetes/api core/v1/toleration.go.
fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let get = |value: &Value, key: &str| text(value, &[key]).map_or(String::new(), ToString::to_string);
    let (effect, key) = (get(toleration, "effect"), get(toleration, "key"));
    if !effect.is_empty() && effect != get(taint, "effect") {
        return false;
    }
    if !key.is_empty() && key != get(taint, "key") {
        return false;
    }
    match get(toleration, "operator").as_str() {
        "" | "Equal" => !key.is_empty() && get(toleration, "value") == get(taint, "value"),
        "Exists" => true,
        // Numeric comparison is newer than what is modelled here: never a reason for a denial.
        _ => true,
    }
}

/// Why a pod cannot be given a flavour with these labels, taints and tolerations, or `None` if it
/// can: `checkFlavorForPodSets` of kubernetes-sigs/kueue
/// pkg/scheduler/flavorassigner/flavorassigner.go. Only keys that the flavour itself has are looked
/// at, and only taints that keep pods away.
pub(super) fn refuses(
    spec: &Value,
    labels: &BTreeMap<Arc<str>, Arc<str>>,
    taints: &[Value],
    tolerations: &[Value],
) -> Option<String> {
    for taint in taints {
        let effect = text(taint, &["effect"]).map_or("", |effect| &**effect);
        if effect != "NoSchedule" && effect != "NoExecute" {
            continue;
        }
        let own = path(spec, &["tolerations"]).into_iter().flat_map(items);
        if !own.chain(tolerations).any(|toleration| tolerates(toleration, taint)) {
            let key = text(taint, &["key"]).map_or("", |key| &**key);
            let value = text(taint, &["value"]).map_or(String::new(), |value| format!("={value}"));
            return Some(format!("its pods do not tolerate the taint `{key}{value}:{effect}`"));
        }
    }
    for (key, value) in path(spec, &["nodeSelector"]).map(fields).unwrap_or_default() {
        let Some(have) = labels.get(key) else { continue };
        if **have != *text_of(value) {
            return Some(format!("its nodes have `{key}: {have}`, the pods select `{}`", text_of(value)));
        }
    }
    affinity_excludes(spec, labels)
}

fn affinity_excludes(spec: &Value, labels: &BTreeMap<Arc<str>, Arc<str>>) -> Option<String> {
    const REQUIRED: [&str; 4] =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let known = Labels { known: labels.clone(), all: true };
    let mut keys = Vec::new();
    for term in path(spec, &REQUIRED).into_iter().flat_map(items) {
        let expressions: Vec<&Value> = field(term, "matchExpressions")
            .into_iter()
            .flat_map(items)
            .filter(|e| text(e, &["key"]).is_some_and(|key| labels.contains_key(key)))
            .collect();
        // Terms are alternatives: one that says nothing of the flavour's keys matches any flavour.
        let fits = expressions.iter().all(|expression| {
            let values: Vec<&str> =
                path(expression, &["values"]).into_iter().flat_map(items).map(text_of).collect();
            let key = text(expression, &["key"]).map_or("", |key| &**key);
            let operator = text(expression, &["operator"]).map_or("", |operator| &**operator);
            requirement(key, operator, &values, &known) != Some(false)
        });
        if fits {
            return None;
        }
        keys.extend(expressions.iter().filter_map(|e| text(e, &["key"])).map(ToString::to_string));
    }
    keys.sort();
    keys.dedup();
    (!keys.is_empty())
        .then(|| format!("the pods' node affinity for `{}` excludes its nodes", keys.join("`, `")))
}
