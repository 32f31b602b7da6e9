//! Test Anything Protocol, version 13: the version that all readers know. A problem or a finding that
//! blocks is `not ok`; one that does not block is `not ok … # TODO`, which harnesses let pass.

use std::io::{self, Write};

use crate::model::Verdict;

use super::{Resolved, clean, facts, json_text, summary};

struct Test {
    passed: bool,
    description: String,
    directive: Option<String>,
    diagnostics: Vec<(&'static str, String)>,
}

pub(super) fn render(resolved: &Resolved<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tests = tests(resolved);
    writeln!(out, "TAP version 13\n1..{}", tests.len())?;
    for (at, test) in tests.iter().enumerate() {
        let word = if test.passed { "ok" } else { "not ok" };
        write!(out, "{word} {} - {}", at + 1, escape(&test.description))?;
        if let Some(directive) = &test.directive {
            write!(out, " # {}", clean::line(directive))?;
        }
        writeln!(out)?;
        if !test.diagnostics.is_empty() {
            writeln!(out, "  ---")?;
            for (key, value) in &test.diagnostics {
                writeln!(out, "  {key}: {}", json_text::string(value))?;
            }
            writeln!(out, "  ...")?;
        }
    }
    writeln!(out, "# {}", summary::verdict(resolved))
}

fn tests(resolved: &Resolved<'_>) -> Vec<Test> {
    let report = resolved.report;
    let mut tests = Vec::new();
    if resolved.verdict == Verdict::Nothing {
        let description = format!("nothing to judge: {}", summary::nothing(report));
        tests.push(Test { passed: false, description, directive: None, diagnostics: Vec::new() });
    }
    for problem in &report.problems {
        let (line, column) = facts::problem_at(problem);
        let at = facts::problem_file(problem).map(|file| facts::at(file, line, column));
        tests.push(Test {
            passed: false,
            description: format!(
                "error[{}] {}{}",
                problem.code,
                problem.message,
                facts::problem_subject(problem)
            ),
            directive: None,
            diagnostics: at
                .map(|at| ("at", at))
                .into_iter()
                .chain(problem.help.clone().map(|help| ("help", help)))
                .collect(),
        });
    }
    for entry in &resolved.entries {
        let finding = entry.finding;
        let at =
            entry.positions().into_iter().map(|(at, _)| facts::at(at.file, Some(at.line), Some(at.column)));
        let blocks = finding.level >= report.fail_on;
        let clusters = facts::cluster_list(entry.clusters(), true);
        let mut diagnostics: Vec<_> = at.map(|at| ("at", at)).take(1).collect();
        diagnostics.extend((!clusters.is_empty()).then_some(("clusters", clusters)));
        diagnostics.extend(finding.remediation.as_ref().map(|text| ("help", text.to_string())));
        tests.push(Test {
            passed: false,
            description: format!(
                "{}[{}] {}{}",
                finding.level.as_str(),
                finding.rule,
                finding.message,
                facts::subject(entry)
            ),
            directive: (!blocks).then(|| "TODO does not block".to_owned()),
            diagnostics,
        });
    }
    for (rule, evaluated) in summary::silent_rules(resolved) {
        tests.push(Test {
            passed: true,
            description: rule.id.to_string(),
            directive: (!evaluated).then(|| "SKIP matched nothing".to_owned()),
            diagnostics: Vec::new(),
        });
    }
    for rule in &report.unevaluated {
        let directive = Some(format!("SKIP not evaluated: {}", rule.reason));
        tests.push(Test {
            passed: true,
            description: rule.id.to_string(),
            directive,
            diagnostics: Vec::new(),
        });
    }
    tests
}

/// A description: `#` would begin a directive.
fn escape(text: &str) -> String {
    clean::line(text).replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_no_directive() {
        assert_eq!(escape("bad # TODO later \\# skip\nok 7"), "bad \\# TODO later \\\\\\# skip\\\\nok 7");
    }
}
