//! `fleetgate test`

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, TestCase as JunitCase, TestCaseStatus, TestSuite};

use crate::cli::args::{self, Rulebook as RulebookArgs, TestFormat};
use crate::cli::pipeline::{load_fleet, sources};
use crate::cli::term::Term;
use crate::error::Error;
use crate::model::Problem;
use crate::policy::{
    self, Convention, FileCoverage, Files, LoadOptions, Source, TestCase, TestOptions, TestReport, TestResult,
};

pub(in crate::cli) fn run(args: args::Test, term: &Term) -> Result<u8, Error> {
    let fleet = load_fleet(&RulebookArgs::default(), &args.paths)?;
    let own_only = !args.paths.is_empty();
    let sources = if args.paths.is_empty() {
        sources(&RulebookArgs::default(), fleet.as_ref())?
    } else {
        let files = Files { convention: Convention::Native, policies: args.paths, data: args.data };
        vec![Source::Files(files)]
    };
    let options = LoadOptions {
        parameters: fleet.as_ref().map(|fleet| fleet.params.clone()).unwrap_or_default(),
        fleet: fleet.as_ref().map(|fleet| fleet.fleet.data.clone()),
        ..LoadOptions::default()
    };
    let policies = policy::load(&sources, &options).map_err(Error::Problems)?;
    let options =
        TestOptions { filter: args.filter, coverage: args.coverage, own_only, ..TestOptions::default() };
    let report = policy::run_tests(&policies, &options).map_err(Error::Problems)?;
    let text = match args.output {
        TestFormat::Text => text(&report),
        TestFormat::Json => format!("{:#}\n", json(&report)),
        TestFormat::Junit => junit(&report)?,
    };
    term.out(text.as_bytes())?;
    if !report.problems.is_empty() {
        return Err(Error::Problems(report.problems));
    }
    let short = args.threshold.filter(|threshold| percent(&report.coverage) < *threshold);
    if let Some(threshold) = short {
        term.say(&format!("coverage is {:.1} %, below {threshold} %", percent(&report.coverage)));
    }
    Ok(u8::from(!report.passed() || short.is_some()))
}

fn text(report: &TestReport) -> String {
    let mut text = String::new();
    for test in &report.tests {
        if let TestResult::Failed { message, at } = &test.result {
            let line = at.as_ref().map_or(test.line, |(line, _)| *line);
            let _ = writeln!(text, "FAIL {}.{}\n  {}:{line}: {message}", test.package, test.name, test.file);
            if let Some((_, code)) = at {
                let _ = writeln!(text, "    {}", code.trim());
            }
            for printed in &test.printed {
                let _ = writeln!(text, "  printed {printed}");
            }
        }
    }
    for file in &report.coverage {
        let _ = writeln!(text, "{:3} %  {}{}", file.percent(), file.file, missing(file));
    }
    if !report.coverage.is_empty() {
        let _ = writeln!(
            text,
            "{:.1} % of lines in {} {}",
            percent(&report.coverage),
            report.coverage.len(),
            if report.coverage.len() == 1 { "file" } else { "files" }
        );
    }
    let count = |wanted: fn(&TestResult) -> bool| report.tests.iter().filter(|t| wanted(&t.result)).count();
    let _ = writeln!(
        text,
        "{} passed, {} failed, {} skipped",
        count(|result| *result == TestResult::Passed),
        count(|result| matches!(result, TestResult::Failed { .. })),
        count(|result| *result == TestResult::Skipped),
    );
    text
}

/// Lines that no test reached, as ranges.
fn missing(file: &FileCoverage) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &line in &file.not_covered {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    if ranges.is_empty() {
        return String::new();
    }
    let show = |(first, last): (usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    format!("  not reached: {}", ranges.into_iter().map(show).collect::<Vec<_>>().join(", "))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of lines are small")]
fn percent(coverage: &[FileCoverage]) -> f64 {
    let covered: usize = coverage.iter().map(|file| file.covered.len()).sum();
    let missed: usize = coverage.iter().map(|file| file.not_covered.len()).sum();
    if covered + missed == 0 { 100.0 } else { 100.0 * covered as f64 / (covered + missed) as f64 }
}

fn json(report: &TestReport) -> serde_json::Value {
    let test = |test: &TestCase| {
        let (result, message) = match &test.result {
            TestResult::Passed => ("passed", None),
            TestResult::Skipped => ("skipped", None),
            TestResult::Failed { message, .. } => ("failed", Some(message)),
        };
        serde_json::json!({
            "package": *test.package, "name": test.name, "file": test.file.as_str(), "line": test.line,
            "result": result, "message": message, "printed": test.printed,
        })
    };
    let coverage = |file: &FileCoverage| {
        serde_json::json!({
            "file": file.file.as_str(), "percent": file.percent(),
            "covered": file.covered, "notCovered": file.not_covered,
        })
    };
    serde_json::json!({
        "version": 1,
        "tests": report.tests.iter().map(test).collect::<Vec<_>>(),
        "coverage": report.coverage.iter().map(coverage).collect::<Vec<_>>(),
    })
}

fn junit(report: &TestReport) -> Result<String, Error> {
    let mut junit = quick_junit::Report::new("fleetgate test");
    let mut packages: Vec<&str> = report.tests.iter().map(|test| &*test.package).collect();
    packages.dedup();
    for package in packages {
        let mut suite = TestSuite::new(package);
        for test in report.tests.iter().filter(|test| *test.package == *package) {
            let status = match &test.result {
                TestResult::Passed => TestCaseStatus::success(),
                TestResult::Skipped => TestCaseStatus::skipped(),
                TestResult::Failed { message, .. } => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_message(format!("{}:{}: {message}", test.file, test.line));
                    status
                }
            };
            let mut case = JunitCase::new(test.name.as_str(), status);
            case.set_time(test.time);
            suite.add_test_case(case);
        }
        junit.add_test_suite(suite);
    }
    junit.to_string().map_err(|error| Problem::new("junit", error.to_string()).into())
}
