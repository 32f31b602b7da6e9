//! `JUnit` XML: one suite a rule, and one for what could not be judged. A finding that does not block
//! is a skipped test of type `warn` or `info`, since `JUnit` knows nothing between passed and failed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use crate::model::{Problem, Verdict};

use super::{Entry, Resolved, clean, facts, summary};

pub(super) fn render(resolved: &Resolved<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("fleetgate");
    let mut errors = TestSuite::new("could not judge");
    if resolved.verdict == Verdict::Nothing {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status
            .set_type("nothing")
            .set_message(format!("nothing to judge: {}", summary::nothing(resolved.report)));
        errors.add_test_case(TestCase::new("nothing to judge", status));
    }
    errors.add_test_cases(resolved.report.problems.iter().map(problem));
    if errors.tests > 0 {
        report.add_test_suite(errors);
    }
    let mut suites: BTreeMap<&str, Vec<TestCase>> = BTreeMap::new();
    for entry in &resolved.entries {
        suites.entry(&entry.finding.rule).or_default().push(self::entry(entry, resolved));
    }
    for (rule, evaluated) in summary::silent_rules(resolved) {
        let mut status = if evaluated { TestCaseStatus::success() } else { TestCaseStatus::skipped() };
        status.set_type("unmatched").set_message("matched nothing");
        suites.entry(&rule.id).or_default().push(case(&rule.title, &rule.id, status));
    }
    for rule in &resolved.report.unevaluated {
        let mut status = TestCaseStatus::skipped();
        status.set_type("unevaluated").set_message(xml(&format!("not evaluated: {}", rule.reason)));
        suites.entry(&rule.id).or_default().push(case("not evaluated", &rule.id, status));
    }
    for (rule, cases) in suites {
        let mut suite = TestSuite::new(xml(rule));
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    report.serialize(out).map_err(io::Error::other)
}

fn entry(entry: &Entry<'_>, resolved: &Resolved<'_>) -> TestCase {
    let finding = entry.finding;
    let mut status = if finding.level >= resolved.report.fail_on {
        TestCaseStatus::non_success(NonSuccessKind::Failure)
    } else {
        TestCaseStatus::skipped()
    };
    let positions = entry.positions();
    let places: Vec<_> = positions
        .iter()
        .map(|(at, clusters)| {
            let clusters = facts::cluster_list(clusters.iter().copied(), true);
            let clusters = if clusters.is_empty() { clusters } else { format!(" ({clusters})") };
            format!("{}{clusters}", facts::at(at.file, Some(at.line), Some(at.column)))
        })
        .collect();
    let mut text = finding.message.to_string();
    for place in &places {
        text.push_str("\nat: ");
        text.push_str(&place.replace(['\r', '\n'], " "));
    }
    if let Some(remediation) = &finding.remediation {
        text.push_str("\nhelp: ");
        text.push_str(remediation);
    }
    status
        .set_type(finding.level.as_str())
        .set_message(xml(&finding.message))
        .set_description(xml_lines(&text));
    let own = finding.route.as_ref().filter(|route| finding.at.is_none() && !route.is_root());
    let route = own.map(ToString::to_string);
    let name: Vec<_> = facts::object(entry).into_iter().chain(route).chain(facts::scope(entry)).collect();
    let name = if name.is_empty() { finding.message.to_string() } else { name.join(", ") };
    let mut case = case(&name, &finding.rule, status);
    if let Some(position) = entry.position() {
        case.extra.insert("file".into(), xml(position.file.as_str()));
        case.extra.insert("line".into(), position.line.to_string().into());
    }
    case
}

fn problem(problem: &Problem) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let (line, column) = facts::problem_at(problem);
    let at = facts::problem_file(problem).map(|file| facts::at(file, line, column));
    let mut text = format!("{}{}", problem.message, facts::problem_subject(problem));
    if let Some(at) = &at {
        text.push_str("\nat: ");
        text.push_str(&at.replace(['\r', '\n'], " "));
    }
    if let Some(help) = &problem.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    status.set_type(problem.code).set_message(xml(&problem.message)).set_description(xml_lines(&text));
    case(at.as_deref().unwrap_or(&problem.message), problem.code, status)
}

fn case(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(xml(name), status);
    case.set_classname(xml(class));
    case
}

/// One line. The library would drop what XML cannot hold; we show it.
fn xml(text: &str) -> XmlString {
    clean::line(text).into()
}

fn xml_lines(text: &str) -> XmlString {
    clean::lines(text).collect::<Vec<_>>().join("\n").into()
}
