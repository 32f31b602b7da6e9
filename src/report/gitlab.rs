//! GitLab Code Quality: one array of issues, each in one file on one line.

use std::io::{self, Write};

use serde::Serialize;

use crate::model::{Level, Problem, Verdict};

use super::{Entry, Options, Resolved, clean, facts, json_text, summary};

#[derive(Debug, Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: usize,
}

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut issues: Vec<Issue> = Vec::new();
    if resolved.verdict == Verdict::Nothing {
        let description = format!("nothing to judge: {}", summary::nothing(resolved.report));
        issues.push(issue(None, &description, "error/nothing-to-judge", "blocker", options));
    }
    issues.extend(resolved.report.problems.iter().map(|problem| self::problem(problem, options)));
    issues.extend(resolved.entries.iter().map(|entry| self::entry(entry, options)));
    json_text::write(&unique(issues), out)
}

fn entry(entry: &Entry<'_>, options: &Options) -> Issue {
    let finding = entry.finding;
    let severity = match finding.level {
        Level::Deny => "critical",
        Level::Warn => "minor",
        Level::Info => "info",
    };
    let at = entry.position().map(|position| (position.file.as_path(), position.line));
    let description =
        format!("{}{}{}", finding.message, facts::subject(entry), help(finding.remediation.as_deref()));
    Issue {
        fingerprint: entry.fingerprint.clone(),
        ..issue(at, &description, &finding.rule, severity, options)
    }
}

fn problem(problem: &Problem, options: &Options) -> Issue {
    let at = facts::problem_file(problem).map(|file| (file, facts::problem_at(problem).0.unwrap_or(1)));
    let subject = facts::problem_subject(problem);
    let description =
        format!("could not judge: {}{subject}{}", problem.message, help(problem.help.as_deref()));
    issue(at, &description, &format!("error/{}", problem.code), "blocker", options)
}

fn help(help: Option<&str>) -> String {
    help.map(|help| format!("; help: {help}")).unwrap_or_default()
}

/// An issue whose fingerprint is made of its file, check and text.
fn issue(
    at: Option<(&camino::Utf8Path, usize)>,
    description: &str,
    check: &str,
    severity: &'static str,
    options: &Options,
) -> Issue {
    let (file, begin) = at.unwrap_or((&options.fleet_file, 1));
    let path = options.repository_path(file);
    let hash = blake3::hash([check, &path, description].join("\0").as_bytes());
    Issue {
        description: clean::line(description),
        check_name: clean::line(check),
        fingerprint: hash.to_hex().chars().take(32).collect(),
        severity,
        location: Location { path, lines: Lines { begin } },
    }
}

/// GitLab drops issues whose fingerprint it has seen: those are hashed again.
fn unique(mut issues: Vec<Issue>) -> Vec<Issue> {
    let mut seen = std::collections::BTreeSet::new();
    for issue in &mut issues {
        while !seen.insert(issue.fingerprint.clone()) {
            let hash = blake3::hash(issue.fingerprint.as_bytes());
            issue.fingerprint = hash.to_hex().chars().take(32).collect();
        }
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_issues_have_fingerprints_of_their_own() {
        let twice = || issue(None, "no", "error/syntax", "blocker", &Options::default());
        let issues = unique(vec![twice(), twice(), twice()]);
        let fingerprints: Vec<_> = issues.iter().map(|issue| &issue.fingerprint).collect();
        assert_eq!(*fingerprints[0], twice().fingerprint);
        assert!(
            fingerprints[0] != fingerprints[1]
                && fingerprints[1] != fingerprints[2]
                && fingerprints[0] != fingerprints[2]
        );
    }
}
