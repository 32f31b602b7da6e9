//! The counts in words, for the formats that people read.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{Counts, Level, Report, RuleInfo, Standing, UnjudgedClass, Verdict};

use super::{Entry, Resolved};

/// `1 denial`, `2 denials`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Entries by level, in words: `3 denials, 1 warning`; empty if there are none.
pub(super) fn levels(entries: &[Entry<'_>]) -> String {
    let at = |level: Level| entries.iter().filter(|entry| entry.finding.level == level).count();
    let words = [
        (at(Level::Deny), "denial", "denials"),
        (at(Level::Warn), "warning", "warnings"),
        (at(Level::Info), "info", "infos"),
    ];
    let parts: Vec<_> =
        words.into_iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(n, one, many)).collect();
    parts.join(", ")
}

/// The verdict in one line: `denied: 3 denials, 1 warning in 2 of 8 clusters`.
pub(super) fn verdict(resolved: &Resolved<'_>) -> String {
    let report = resolved.report;
    let levels = levels(&resolved.entries);
    let errors = count(report.problems.len(), "error", "errors");
    match resolved.verdict {
        Verdict::Error if levels.is_empty() => format!("could not judge: {errors}"),
        Verdict::Error => format!("could not judge: {errors}; besides, {levels}{}", clusters(resolved)),
        Verdict::Deny => {
            let raised = if report.fail_on < Level::Deny {
                format!(" (failing on {})", report.fail_on.as_str())
            } else {
                String::new()
            };
            format!("denied: {levels}{}{raised}", clusters(resolved))
        }
        Verdict::Nothing => format!("nothing to judge: {}", nothing(report)),
        Verdict::Pass if unchanged(report) => "passed: the change touches nothing that is judged".to_owned(),
        Verdict::Pass if report.counts.evaluations == 0 => {
            "passed: no rule applies to what is here".to_owned()
        }
        Verdict::Pass if levels.is_empty() => {
            let known = resolved.accepted + report.accepted_problems + resolved.waived.len();
            if known > 0 { "passed: nothing new".to_owned() } else { "passed: nothing found".to_owned() }
        }
        Verdict::Pass => format!("passed: nothing denied; {levels}{}", clusters(resolved)),
    }
}

fn unchanged(report: &Report) -> bool {
    report.comparison.as_ref().is_some_and(|change| change.changed_resources == 0 && change.resources == 0)
        && report.findings.is_empty()
}

/// Why there was nothing to judge.
pub(super) fn nothing(report: &Report) -> String {
    let counts = &report.counts;
    if counts.rules == 0 {
        "no rule was loaded".to_owned()
    } else if report.unevaluated.len() >= counts.rules {
        format!("none of {} could be evaluated", count(counts.rules, "rule", "rules"))
    } else if counts.files == 0 {
        "no file was found".to_owned()
    } else if counts.unrendered > 0 {
        format!(
            "no Kubernetes object in {}, and {} not rendered; check what `helm template` or `kustomize \
             build` puts out",
            count(counts.files, "file", "files"),
            count(
                counts.unrendered,
                "chart, kustomization or the like is",
                "charts, kustomizations and the like are"
            )
        )
    } else {
        format!("no Kubernetes object in {}", count(counts.files, "file", "files"))
    }
}

/// ` in 2 of 8 clusters`, or nothing where no cluster is known.
fn clusters(resolved: &Resolved<'_>) -> String {
    let mut named: Vec<_> = resolved.entries.iter().flat_map(Entry::clusters).collect();
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return String::new();
    }
    let all = resolved.report.counts.clusters.max(named.len());
    format!(" in {} of {}", named.len(), count(all, "cluster", "clusters"))
}

/// What was judged, in one line.
pub(super) fn judged(counts: &Counts) -> String {
    let mut parts = vec![
        count(counts.resources, "object", "objects"),
        format!(
            "{} ({} distinct)",
            count(counts.documents, "document", "documents"),
            counts.distinct_documents
        ),
        format!("{} of {}", counts.judged_files, count(counts.files, "file", "files")),
    ];
    if counts.clusters > 0 {
        parts.push(count(counts.clusters, "cluster", "clusters"));
    }
    parts.push(count(counts.rules, "rule", "rules"));
    parts.push(count(counts.evaluations, "evaluation", "evaluations"));
    parts.join(", ")
}

/// What was not judged as it stands, in one line; none if everything was.
pub(super) fn unjudged(counts: &Counts) -> Option<String> {
    let words = [
        (counts.seen_through, "seen through what renders it", "seen through what renders them"),
        (counts.unrendered, "unrendered", "unrendered"),
        (counts.excluded, "excluded", "excluded"),
        (counts.skipped, "no manifest", "no manifests"),
    ];
    let parts: Vec<_> =
        words.into_iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(n, one, many)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What was found and does not count, in one line; none if there is nothing.
pub(super) fn accepted(resolved: &Resolved<'_>) -> Option<String> {
    let waived: usize = resolved.waived.iter().map(|entry| entry.sites.len()).sum();
    let words = [
        (resolved.accepted, "finding by the baseline", "findings by the baseline"),
        (resolved.report.accepted_problems, "error by the baseline", "errors by the baseline"),
        (waived, "finding by a waiver", "findings by waivers"),
    ];
    let parts: Vec<_> =
        words.into_iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(n, one, many)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How many findings are new and how many are worse, each place counted.
pub(super) fn standings(resolved: &Resolved<'_>) -> (usize, usize) {
    let at = |standing: &Standing| {
        let same = resolved.entries.iter().filter(|entry| entry.finding.standing == *standing);
        same.map(|entry| entry.sites.len()).sum()
    };
    (at(&Standing::New), at(&Standing::Worse))
}

/// What a change did, in two lines; none where no change was judged.
pub(super) fn change(resolved: &Resolved<'_>) -> Vec<String> {
    let report = resolved.report;
    let Some(change) = &report.comparison else { return Vec::new() };
    let (new, worse) = standings(resolved);
    let mut found = format!("{new} new, {worse} worse, {} fixed", change.fixed);
    let not = if change.show_unchanged { "" } else { " not shown" };
    if change.unchanged > 0 {
        found.extend([" | ", &count(change.unchanged, "old finding", "old findings"), not]);
    }
    if change.unchanged_problems > 0 {
        let old = count(change.unchanged_problems, "old error", "old errors");
        found.extend([" | ", &old, " in files left alone"]);
    }
    let touched = format!(
        "{}..{}, {}: {} of {} changed{}",
        change.base,
        change.head,
        count(change.paths, "path", "paths"),
        change.changed_resources,
        count(change.resources, "resource", "resources"),
        if change.changed_resources == 0 { "; no promotion" } else { "" },
    );
    vec![found, touched]
}

/// The word for a class of files that were not judged as they stand.
pub(super) const fn class(class: UnjudgedClass) -> &'static str {
    match class {
        UnjudgedClass::SeenThrough => "seen through",
        UnjudgedClass::Unrendered => "unrendered",
        UnjudgedClass::Excluded => "excluded",
        UnjudgedClass::Skipped => "no manifests",
    }
}

/// The rules that found nothing that counts and had no error, for formats that list what passed,
/// each with whether it was evaluated on anything. Where nothing was judged, nothing passed.
pub(super) fn silent_rules<'a>(resolved: &Resolved<'a>) -> Vec<(&'a RuleInfo, bool)> {
    let report = resolved.report;
    if resolved.verdict == Verdict::Nothing {
        return Vec::new();
    }
    let failed = report.problems.iter().filter_map(|problem| problem.rule.as_ref());
    let found = resolved.entries.iter().map(|entry| &entry.finding.rule);
    let unevaluated = report.unevaluated.iter().map(|rule| &rule.id);
    let spoken: BTreeSet<&Arc<str>> = failed.chain(found).chain(unevaluated).collect();
    let counts = &report.counts;
    let evaluated = |id: &str| match counts.evaluations_by_rule.get(id) {
        Some(evaluations) => *evaluations > 0,
        None => counts.evaluations_by_rule.is_empty() && counts.evaluations > 0,
    };
    let silent = report.rules.iter().filter(|rule| !spoken.contains(&rule.id));
    silent.map(|rule| (rule, evaluated(&rule.id))).collect()
}
