//! Node selectors and required node affinity, held against what is known of a pool's nodes.
//!
//! A wrong *no* would deny, so it is given only where something contradicts: a label that the pool
//! lists with another value, a label of another cloud, a model of another family, or a label that other
//! pools of the cluster list and this one does not.

use super::super::tables;
use super::super::value::{field, fields, items, path, text};
use super::{Selected, Site};
use crate::model::{Pool, Value};

/// Whether the selectors of a pod spec leave a pool.
pub(super) fn selected(spec: &Value, pool: &Pool, site: &Site<'_>) -> Selected {
    let mut answer = Selected::Yes;
    if let Some(selector) = field(spec, "nodeSelector") {
        for (key, value) in fields(selector) {
            let leaves = match value {
                Value::String(value) => requirement(key, "In", &[value], pool, site),
                _ => Selected::Unknown(format!("the value of `{key}` in its node selector is not a text")),
            };
            answer = answer.and(leaves);
        }
    }
    if let Some(terms) = required_terms(spec) {
        let none = Selected::No("its required node affinity has no terms, which no node has".into());
        let leaves = items(terms).map(|one| term(one, pool, site)).reduce(Selected::or).unwrap_or(none);
        answer = answer.and(leaves);
    }
    answer
}

/// The terms of required node affinity.
pub(super) fn required_terms(spec: &Value) -> Option<&Value> {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    path(spec, &["affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"])
}

fn term(term: &Value, pool: &Pool, site: &Site<'_>) -> Selected {
    let fields_of_node = field(term, "matchFields").into_iter().flat_map(items).count();
    let mut expressions = expressions(term).peekable();
    if expressions.peek().is_none() && fields_of_node == 0 {
        return Selected::No("a term of its required node affinity is empty, which no node has".into());
    }
    let all = expressions
        .map(|(key, operator, values)| requirement(key, operator, &values, pool, site))
        .fold(Selected::Yes, Selected::and);
    if fields_of_node > 0 {
        return all.and(Selected::Unknown("it selects nodes by their fields".into()));
    }
    all
}

/// Key, operator and values of each expression of a term.
pub(super) fn expressions(term: &Value) -> impl Iterator<Item = (&str, &str, Vec<&str>)> {
    field(term, "matchExpressions").into_iter().flat_map(items).map(|expression| {
        let of = |key: &str| text(expression, &[key]).map_or("", |text| &**text);
        let values = field(expression, "values").into_iter().flat_map(items);
        let values = values.filter_map(|value| value.as_string().ok().map(|text| &**text)).collect();
        (of("key"), of("operator"), values)
    })
}

/// What is known of a label of a pool's nodes.
enum Label<'p> {
    Is(&'p str),
    Absent(String),
    Open,
}

fn requirement(
    key: &str,
    operator: &str,
    values: &[impl AsRef<str>],
    pool: &Pool,
    site: &Site<'_>,
) -> Selected {
    let is = |value: &str| format!("its nodes have `{key}: {value}`");
    let has = |value: &str| values.iter().any(|wanted| wanted.as_ref() == value);
    let open = || Selected::Unknown(format!("whether its nodes have `{key}` is not known"));
    let yes_if = |holds: bool, why: String| if holds { Selected::Yes } else { Selected::No(why) };
    match (operator, label(key, pool, site)) {
        ("In", Label::Is(value)) => yes_if(has(value), is(value)),
        ("NotIn", Label::Is(value)) => yes_if(!has(value), is(value)),
        ("Exists", Label::Is(_)) | ("DoesNotExist" | "NotIn", Label::Absent(_)) => Selected::Yes,
        ("DoesNotExist", Label::Is(value)) => Selected::No(is(value)),
        ("In" | "Exists" | "Gt" | "Lt", Label::Absent(why)) => Selected::No(why),
        ("In", Label::Open) => {
            let first = values.first().map_or(String::new(), |value| value.as_ref().to_owned());
            match values.iter().map(|value| contradiction(key, value.as_ref(), pool)).collect::<Vec<_>>() {
                whys if whys.iter().all(Option::is_some) => Selected::No(
                    whys.into_iter()
                        .flatten()
                        .next()
                        .unwrap_or_else(|| format!("`{key}` has no value to be in")),
                ),
                _ => Selected::Unknown(format!("whether its nodes have `{key}: {first}` is not known")),
            }
        }
        ("NotIn", Label::Open) => {
            let none = values.iter().all(|value| contradiction(key, value.as_ref(), pool).is_some());
            if none { Selected::Yes } else { open() }
        }
        ("Exists" | "DoesNotExist", Label::Open) => open(),
        ("Gt" | "Lt", label) => match (label, values) {
            (Label::Is(value), [wanted]) => match (value.parse::<i64>(), wanted.as_ref().parse::<i64>()) {
                (Ok(own), Ok(wanted)) if operator == "Gt" => yes_if(own > wanted, is(value)),
                (Ok(own), Ok(wanted)) => yes_if(own < wanted, is(value)),
                (Err(_), Ok(_)) => Selected::No(is(value)),
                _ => Selected::Unknown(format!("the number for `{key}` cannot be read")),
            },
            _ => open(),
        },
        _ => Selected::Unknown(format!("`{operator}` is no operator of node affinity")),
    }
}

fn label<'p>(key: &str, pool: &'p Pool, site: &Site<'_>) -> Label<'p> {
    if let Some(value) = pool.labels.get(key) {
        return Label::Is(value);
    }
    if let (Some(own), Some(other)) = (site.cloud, tables::cloud_of(key))
        && own != other
    {
        return Label::Absent(format!(
            "only nodes on `{other}` have `{key}`, and this cluster is on `{own}`"
        ));
    }
    let listed = site.pools.iter().any(|other| other.labels.contains_key(key));
    // Nodes have such labels whether somebody lists them or not.
    let implicit = tables::is_anywhere(key) || tables::cloud_of(key).is_some();
    if listed && !implicit {
        return Label::Absent(format!("its nodes have no `{key}`, which other nodes of the cluster have"));
    }
    Label::Open
}

/// The label that says the sides of a TPU slice.
const TOPOLOGY: &str = "cloud.google.com/gke-tpu-topology";

/// Why nodes of a pool cannot have a label that nobody lists with this value.
fn contradiction(key: &str, value: &str, pool: &Pool) -> Option<String> {
    if let Some(named) = tables::named(key, value)
        && tables::family(&pool.family).next().is_some()
        && !named.models.is_empty()
        && named.models.iter().all(|model| !tables::same_family(&model.family, &pool.family))
    {
        return Some(format!("`{key}: {value}` means other devices than `{}`", pool.family));
    }
    if key == TOPOLOGY
        && let Some(slices) = tables::slices(&pool.family)
        && value.split('x').count() != slices.dimensions
    {
        let (sides, family) = (slices.dimensions, &pool.family);
        return Some(format!("`{key}: {value}` is no slice of `{family}`, whose slices have {sides} sides"));
    }
    if let (Some(asked), Some(own)) = (tables::capacity(key, value), &pool.capacity_type) {
        let is_known = ["on-demand", "reserved", "spot"].contains(&&**own);
        // What is reserved may be labelled as on demand.
        if is_known && (&**asked == "spot") != (&**own == "spot") {
            return Some(format!("`{key}: {value}` means `{asked}`, and these nodes are `{own}`"));
        }
    }
    None
}

impl Selected {
    /// Both hold.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No(why), _) | (_, Self::No(why)) => Self::No(why),
            (Self::Unknown(why), _) | (_, Self::Unknown(why)) => Self::Unknown(why),
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    /// One of both holds.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Unknown(why), _) | (_, Self::Unknown(why)) => Self::Unknown(why),
            (Self::No(why), Self::No(_)) => Self::No(why),
        }
    }
}

#[cfg(test)]
mod tests;
