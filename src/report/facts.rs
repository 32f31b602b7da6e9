//! Phrases that several formats share, about one entry or problem. Not neutralised yet: that is up
//! to the format.

use std::sync::Arc;

use crate::model::{Finding, Problem, Standing, Value};

use super::Entry;

/// How many clusters are named before the rest is counted.
const NAMED_CLUSTERS: usize = 5;

/// `Deployment ml-search/ranker`, or nothing for findings without an object.
pub(super) fn object(entry: &Entry<'_>) -> Option<String> {
    entry.finding.subject.object.as_ref().map(ToString::to_string)
}

/// `in prod-a`, `in 37 clusters`, `in environment prod`, or nothing.
pub(super) fn scope(entry: &Entry<'_>) -> Option<String> {
    let clusters = entry.clusters();
    match clusters.first() {
        Some(only) if clusters.len() == 1 => Some(format!("in {only}")),
        Some(_) => Some(format!("in {} clusters", clusters.len())),
        None => entry.environment().map(|environment| format!("in environment {environment}")),
    }
}

/// `prod-a, prod-b and 35 more`; the whole list if `all`.
pub(super) fn cluster_list<'a>(clusters: impl IntoIterator<Item = &'a Arc<str>>, all: bool) -> String {
    let clusters: Vec<&str> = clusters.into_iter().map(AsRef::as_ref).collect();
    let named = if all || clusters.len() <= NAMED_CLUSTERS + 1 { clusters.len() } else { NAMED_CLUSTERS };
    let list = clusters.iter().take(named).copied().collect::<Vec<_>>().join(", ");
    match clusters.len() - named {
        0 => list,
        rest => format!("{list} and {rest} more"),
    }
}

/// ` (Deployment ml-search/ranker, in 3 clusters)`, or nothing.
pub(super) fn subject(entry: &Entry<'_>) -> String {
    let parts: Vec<_> = object(entry).into_iter().chain(scope(entry)).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// Why a finding counts although something like it was accepted.
pub(super) const fn standing(standing: &Standing, comparison: bool) -> Option<&'static str> {
    match standing {
        Standing::Worse if comparison => Some("than at the base, or than the baseline accepts"),
        Standing::Worse => Some("than the baseline accepts"),
        Standing::New | Standing::Accepted | Standing::Unchanged | Standing::Waived { .. } => None,
    }
}

/// Line and column in its file of a problem, as far as they are known.
pub(super) fn problem_at(problem: &Problem) -> (Option<usize>, Option<usize>) {
    match (problem.span, &problem.place) {
        (Some(span), _) => (Some(span.line), Some(span.column)),
        (None, Some(place)) => (Some(place.line), None),
        (None, None) => (None, None),
    }
}

/// The file of a problem.
pub(super) fn problem_file(problem: &Problem) -> Option<&camino::Utf8Path> {
    let file = problem.file.as_ref().or(problem.place.as_ref().map(|place| &place.file));
    file.map(|file| file.as_path())
}

/// ` (rule gitops/image-digest, in prod-a)`, or nothing.
pub(super) fn problem_subject(problem: &Problem) -> String {
    let rule = problem.rule.as_ref().map(|rule| format!("rule {rule}"));
    let cluster = problem.cluster.as_ref().map(|cluster| format!("in {cluster}"));
    let parts: Vec<_> = rule.into_iter().chain(cluster).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// `file:line:column`, as far as it is known.
pub(super) fn at(file: &camino::Utf8Path, line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        _ => file.to_string(),
    }
}

/// What a rule adds below a finding: `details.lines`, a list of a word and a text each.
pub(super) fn lines(finding: &Finding) -> Vec<(&str, &str)> {
    let get = |key: &str| finding.details.as_ref()?.as_object().ok()?.get(&Value::from(key));
    let lines = get("lines").and_then(|lines| lines.as_array().ok());
    (lines.into_iter().flat_map(|lines| lines.iter()))
        .filter_map(|line| match line.as_array().ok()?.as_slice() {
            [Value::String(word), Value::String(text)] => Some((&**word, &**text)),
            _ => None,
        })
        .collect()
}
