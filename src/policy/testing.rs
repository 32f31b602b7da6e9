//! Unit tests of policies: rules named `test_…` in `*_test.rego`, as OPA and conftest have them. A
//! test passes if its value is `true`, and in no other case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rayon::prelude::*;
use regex::Regex;

use super::evaluate::Limits;
use super::outcome::span;
use super::rego::{Failure, ModuleRule, Session};
use super::set::{Module, PolicySet, Set};
use super::shipped;
use crate::model::{Problem, Value};

/// Which tests are run, and how.
#[derive(Debug, Clone, Default)]
pub struct TestOptions {
    /// Only tests whose `package.name` this regular expression matches somewhere.
    pub filter: Option<String>,
    /// Whether to see which lines of the policies the tests reach. It takes twice the time.
    pub coverage: bool,
    /// Whether what comes with the program, tested elsewhere, is left out of the coverage.
    pub own_only: bool,
    /// Bounds of each test.
    pub limits: Limits,
}

/// How the tests went.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    /// Sorted by file and line.
    pub tests: Vec<TestCase>,
    /// Sorted by file; empty unless asked for. Tests themselves are not in it.
    pub coverage: Vec<FileCoverage>,
    /// What is wrong apart from tests that fail: no test at all, two of one name.
    pub problems: Vec<Problem>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// Package without `data.`.
    pub package: Arc<str>,
    /// Name of the rule, such as `test_pinned_images_pass`.
    pub name: String,
    /// File in which it stands.
    pub file: Arc<Utf8PathBuf>,
    /// Line on which it begins, from 1.
    pub line: usize,
    /// How it went.
    pub result: TestResult,
    /// What it printed, line by line, each after `file:line: `.
    pub printed: Vec<String>,
    /// How long it took.
    pub time: Duration,
}

/// How a test went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestResult {
    /// Its value is `true`.
    Passed,
    /// Named `todo_…`: not run.
    Skipped,
    /// Its value is anything else, or it has none.
    Failed {
        /// What was wrong.
        message: String,
        /// The line of the file that decided it, as far as is known, and its text.
        at: Option<(usize, String)>,
    },
}

/// Which lines of a file tests reach. Lines without code count for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCoverage {
    /// The file.
    pub file: Arc<Utf8PathBuf>,
    /// Lines that some test reached.
    pub covered: BTreeSet<usize>,
    /// Lines that none did.
    pub not_covered: BTreeSet<usize>,
}

impl FileCoverage {
    /// Share of the lines that are covered, in hundredths; 100 for a file without code.
    pub fn percent(&self) -> usize {
        let all = self.covered.len() + self.not_covered.len();
        (self.covered.len() * 100).checked_div(all).unwrap_or(100)
    }
}

impl TestReport {
    /// Whether nothing failed, and something was run.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
            && !self.tests.iter().any(|test| matches!(test.result, TestResult::Failed { .. }))
    }
}

/// Runs the tests of all sets, on all threads. Policies that cannot be prepared are the error.
pub fn run_tests(policies: &PolicySet, options: &TestOptions) -> Result<TestReport, Vec<Problem>> {
    let filter = options.filter.as_deref().map(Regex::new).transpose().map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        vec![Problem::new("usage", format!("the filter is not a regular expression: {why}"))]
    })?;
    let mut report = TestReport::default();
    let mut coverage = BTreeMap::new();
    for set in &policies.sets {
        let problem = |failure: Failure| vec![failure.problem(&policies.sets)];
        let tests = collect(set, options, &mut report.problems).map_err(problem)?;
        let wanted = |test: &&Planned| filter.as_ref().is_none_or(|filter| filter.is_match(&test.path()));
        let mut files: BTreeMap<&str, Vec<&Planned>> = BTreeMap::new();
        for test in tests.iter().filter(wanted) {
            files.entry(test.module.file.as_str()).or_default().push(test);
        }
        let runs: Vec<Result<Vec<Ran>, Failure>> = files
            .into_values()
            .collect::<Vec<_>>()
            .into_par_iter()
            .map_init(
                || session(set, options),
                |session, tests| {
                    let session = session.as_mut().map_err(|failure| failure.clone())?;
                    Ok(tests.into_iter().map(|test| run(session, test, options)).collect())
                },
            )
            .collect();
        for run in runs {
            for ran in run.map_err(problem)? {
                report.tests.push(ran.test);
                merge(&mut coverage, ran.lines);
            }
        }
        if options.coverage {
            add_unreached(set, options, &mut coverage).map_err(problem)?;
        }
    }
    if report.tests.is_empty() && report.problems.is_empty() {
        report.problems.push(nothing_run(policies, options.filter.as_deref()));
    }
    report.tests.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    let shipped = |module: &Module| shipped::text(&module.file).is_some_and(|text| text == module.text);
    let of_policies = policies.sets.iter().flat_map(|set| &set.modules);
    let of_policies = of_policies.filter(|module| !options.own_only || !shipped(module));
    report.coverage = of_policies.filter_map(|module| coverage.remove(module.file.as_str())).collect();
    report.coverage.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(report)
}

/// A test before it is run.
struct Planned {
    module: Module,
    name: String,
    line: usize,
    /// The line before the next rule, or the last of the file.
    last_line: usize,
    function: bool,
}

impl Planned {
    fn path(&self) -> String {
        format!("{}.{}", self.module.package, self.name)
    }
}

/// A test after it was run, with the lines it reached if these are wanted.
struct Ran {
    test: TestCase,
    lines: Vec<FileCoverage>,
}

fn session(set: &Set, options: &TestOptions) -> Result<Session, Failure> {
    Session::new(set.modules.iter().chain(&set.tests), "", &set.data, &options.limits)
}

/// Finds the tests, and says what is wrong with how they are written.
fn collect(set: &Set, options: &TestOptions, problems: &mut Vec<Problem>) -> Result<Vec<Planned>, Failure> {
    if set.tests.is_empty() && set.modules.is_empty() {
        return Ok(Vec::new());
    }
    let rules = session(set, options)?.rules();
    let mut tests = Vec::new();
    let mut names: BTreeMap<(Arc<str>, String), (Arc<Utf8PathBuf>, usize)> = BTreeMap::new();
    for module in set.modules.iter().chain(&set.tests) {
        let own: Vec<&ModuleRule> = rules.iter().filter(|rule| rule.file == module.file.as_str()).collect();
        let mut found = false;
        for (position, rule) in own.iter().enumerate() {
            if rule.default || !(rule.name.starts_with("test_") || rule.name.starts_with("todo_")) {
                continue;
            }
            found = true;
            if let Some((file, line)) = names.get(&(Arc::clone(&module.package), rule.name.clone())) {
                problems.push(twice(module, rule, file, *line));
                continue;
            }
            let place = (Arc::clone(&module.file), rule.line);
            names.insert((Arc::clone(&module.package), rule.name.clone()), place);
            let next = own.iter().skip(position + 1).map(|next| next.line).find(|line| *line > rule.line);
            tests.push(Planned {
                module: module.clone(),
                name: rule.name.clone(),
                line: rule.line,
                last_line: next.map_or(usize::MAX, |line| line - 1),
                function: rule.function,
            });
        }
        let is_test_module = set.tests.iter().any(|test| test.file == module.file);
        if is_test_module && !found {
            problems.push(
                Problem::new(
                    "no-tests",
                    format!("`{}` has no rule whose name begins with `test_`", module.file),
                )
                .help("name the rules `test_…`, or give the file a name that does not end in `_test.rego`")
                .in_file((*module.file).clone()),
            );
        }
    }
    Ok(tests)
}

/// Two rules of one name are one rule that holds if either does, so that one may fail unseen.
fn twice(module: &Module, rule: &ModuleRule, file: &Utf8PathBuf, line: usize) -> Problem {
    let mut problem = Problem::new("duplicate-test", format!("`{}` is also at {file}:{line}", rule.name))
        .help("give each test its own name: of two with one name only one has to hold")
        .in_file((*module.file).clone());
    problem.span = span(&module.text, rule.line, 1);
    problem.source = Some(Arc::clone(&module.text));
    problem
}

#[expect(clippy::disallowed_methods, reason = "how long a test took is shown, not judged")]
fn run(session: &mut Session, planned: &Planned, options: &TestOptions) -> Ran {
    let started = Instant::now();
    let path = format!("data.{}", planned.path());
    let mut printed = Vec::new();
    let result = if planned.name.starts_with("todo_") {
        TestResult::Skipped
    } else if planned.function {
        failed(String::from("it is a function, not a rule"), None)
    } else {
        let (value, output) = session.run(&path, Value::new_object());
        printed = output;
        match value {
            Ok(Value::Bool(true)) => TestResult::Passed,
            Ok(Value::Undefined) => {
                let at = last_line(session, planned, &path);
                failed(String::from("it does not hold"), at)
            }
            Ok(other) => failed(format!("its value is {}, not `true`", super::decode::excerpt(&other)), None),
            Err(failure) => failed(failure.message.clone(), failure_line(&failure, planned)),
        }
    };
    let lines = if options.coverage && result != TestResult::Skipped {
        session
            .lines(&path)
            .into_iter()
            .map(|lines| FileCoverage {
                file: Arc::new(lines.file.into()),
                covered: lines.reached,
                not_covered: lines.missed,
            })
            .collect()
    } else {
        Vec::new()
    };
    let test = TestCase {
        package: Arc::clone(&planned.module.package),
        name: planned.name.clone(),
        file: Arc::clone(&planned.module.file),
        line: planned.line,
        result,
        printed,
        time: started.elapsed(),
    };
    Ran { test, lines }
}

fn failed(message: String, at: Option<(usize, String)>) -> TestResult {
    TestResult::Failed { message, at }
}

/// The last line of a test that was reached is the one that did not hold.
fn last_line(session: &Session, planned: &Planned, path: &str) -> Option<(usize, String)> {
    let lines = session.lines(path);
    let own = lines.iter().find(|lines| lines.file == planned.module.file.as_str())?;
    let line = own.reached.range(planned.line..=planned.last_line).next_back()?;
    numbered(&planned.module, *line)
}

/// Where an error came up; in another file it is part of the message.
fn failure_line(failure: &Failure, planned: &Planned) -> Option<(usize, String)> {
    let own = failure.file.as_deref() == Some(planned.module.file.as_str());
    failure.line.filter(|_| own).and_then(|line| numbered(&planned.module, line))
}

fn numbered(module: &Module, line: usize) -> Option<(usize, String)> {
    Some((line, module.text.lines().nth(line.checked_sub(1)?)?.trim().to_owned()))
}

fn merge(coverage: &mut BTreeMap<String, FileCoverage>, files: Vec<FileCoverage>) {
    for file in files {
        let all = coverage.entry(file.file.to_string()).or_insert_with(|| FileCoverage {
            file: Arc::clone(&file.file),
            covered: BTreeSet::new(),
            not_covered: BTreeSet::new(),
        });
        all.covered.extend(file.covered);
        all.not_covered.extend(file.not_covered);
        all.not_covered = all.not_covered.difference(&all.covered).copied().collect();
    }
}

/// Files that no test reached: their lines are found by evaluating one of their rules.
fn add_unreached(
    set: &Set,
    options: &TestOptions,
    coverage: &mut BTreeMap<String, FileCoverage>,
) -> Result<(), Failure> {
    let mut probe = session(set, options)?;
    let rules = probe.rules();
    for module in &set.modules {
        if coverage.contains_key(module.file.as_str()) {
            continue;
        }
        let own = rules.iter().filter(|rule| rule.file == module.file.as_str() && !rule.function);
        let lines = own
            .flat_map(|rule| probe.lines(&format!("data.{}.{}", module.package, rule.name)))
            .find(|lines| lines.file == module.file.as_str());
        let not_covered =
            lines.map(|lines| lines.reached.union(&lines.missed).copied().collect()).unwrap_or_default();
        let file = Arc::clone(&module.file);
        coverage.insert(file.to_string(), FileCoverage { file, covered: BTreeSet::new(), not_covered });
    }
    Ok(())
}

fn nothing_run(policies: &PolicySet, filter: Option<&str>) -> Problem {
    match filter {
        Some(filter) => Problem::new("no-tests", format!("no test matches `{filter}`"))
            .help("a filter is a regular expression on `package.test_name`"),
        None if policies.sets.iter().all(|set| set.tests.is_empty()) => {
            Problem::new("no-tests", "there are no tests")
                .help("tests are rules named `test_…` in files named `*_test.rego`")
        }
        None => Problem::new("no-tests", "there are test files, but no tests in them")
            .help("name the rules `test_…`"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{module, policies};
    use super::super::set::Style;
    use super::*;

    const POLICY: (&str, &str) = (
        "a.rego",
        "package a\n\ndeny contains \"privileged\" if {\n\tinput.privileged\n}\n\ndeny contains \"root\" if {\n\tinput.user == 0\n}\n",
    );

    fn with_tests(tests: &[(&str, &str)]) -> PolicySet {
        let mut policies = policies(Style::Native, &[POLICY]);
        policies.sets[0].tests = tests.iter().map(|(file, text)| module(file, text)).collect();
        policies
    }

    fn run(tests: &str) -> TestReport {
        let text = format!("package a_test\n\nimport data.a\n\n{tests}");
        run_tests(&with_tests(&[("a_test.rego", &text)]), &TestOptions::default()).unwrap()
    }

    fn only(report: TestReport) -> TestCase {
        assert_eq!(report.tests.len(), 1);
        report.tests.into_iter().next().unwrap()
    }

    #[test]
    fn a_test_passes_if_it_is_true() {
        let report = run("test_denied if {\n\tcount(a.deny) == 1 with input as {\"privileged\": true}\n}\n");
        assert!(report.passed());
        let test = only(report);
        assert_eq!((test.name.as_str(), test.line, test.result), ("test_denied", 5, TestResult::Passed));
    }

    #[test]
    fn a_test_that_does_not_hold_fails_at_its_line() {
        let report = run(
            "test_denied if {\n\tx := 1\n\tcount(a.deny) == x + 1 with input as {\"privileged\": true}\n\tx == 1\n}\n\ntest_other := true\n",
        );
        assert!(!report.passed());
        let TestResult::Failed { message, at } = &report.tests[0].result else { panic!() };
        assert_eq!(message, "it does not hold");
        let (line, text) = at.clone().unwrap();
        assert_eq!(line, 7);
        assert!(text.starts_with("count(a.deny)"), "{text}");
        assert_eq!(report.tests[1].result, TestResult::Passed);
    }

    #[test]
    fn anything_but_true_fails() {
        for (test, expected) in [
            ("test_x := false", "its value is `false`"),
            ("test_x := \"true\"", "its value is `\"true\"`"),
            ("test_x := 1", "its value is `1`"),
            ("test_x contains 1", "not `true`"),
            ("test_x(y) := true", "it is a function"),
            ("test_x if to_number(\"a\") == 1", "could not parse string as number"),
        ] {
            let TestResult::Failed { message, .. } = only(run(&format!("{test}\n"))).result else {
                panic!("{test}")
            };
            assert!(message.contains(expected), "{test}: {message}");
        }
    }

    #[test]
    fn a_test_cannot_run_for_ever() {
        let text = "package a_test\n\ntest_x if {\n\tsome i in numbers.range(1, 100000)\n\tsome j in numbers.range(1, 100000)\n\ti * j < 0\n}\n";
        let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
        let options = TestOptions { limits, ..TestOptions::default() };
        let only = only(run_tests(&with_tests(&[("a_test.rego", text)]), &options).unwrap());
        let TestResult::Failed { message, .. } = only.result else { panic!() };
        assert!(message.contains("time limit") && !message.contains("elapsed"), "{message}");
    }

    #[test]
    fn what_a_test_prints_is_kept() {
        let test = only(run("test_x if {\n\tprint(\"value\", 1)\n\tfalse\n}\n"));
        assert_eq!(test.printed, ["a_test.rego:6: value 1"]);
    }

    #[test]
    fn todo_is_skipped() {
        let report = run("todo_test_x if false\n");
        assert!(report.passed());
        assert_eq!(only(report).result, TestResult::Skipped);
    }

    #[test]
    fn two_tests_of_one_name_are_a_problem() {
        let report = run("test_x if false\n\ntest_x if true\n");
        assert!(!report.passed());
        assert_eq!(report.problems[0].code, "duplicate-test");
        assert_eq!(report.problems[0].message, "`test_x` is also at a_test.rego:5");
        assert_eq!(report.problems[0].span.map(|span| span.line), Some(7));
    }

    #[test]
    fn nothing_run_is_a_problem() {
        let codes = |policies: &PolicySet, filter: Option<&str>| -> Vec<&str> {
            let options = TestOptions { filter: filter.map(Into::into), ..TestOptions::default() };
            let report = run_tests(policies, &options).unwrap();
            assert!(!report.passed());
            report.problems.iter().map(|problem| problem.code).collect()
        };
        assert_eq!(codes(&with_tests(&[]), None), ["no-tests"]);
        assert_eq!(
            codes(&with_tests(&[("a_test.rego", "package a_test\n\ntets_x := true\n")]), None),
            ["no-tests"]
        );
        let one = with_tests(&[("a_test.rego", "package a_test\n\ntest_x := true\n")]);
        assert_eq!(codes(&one, Some("other")), ["no-tests"]);
        let wrong = TestOptions { filter: Some("(".into()), ..TestOptions::default() };
        assert_eq!(run_tests(&one, &wrong).unwrap_err()[0].code, "usage");
    }

    #[test]
    fn the_filter_is_an_expression_on_package_and_name() {
        let tests = with_tests(&[
            ("a_test.rego", "package a_test\n\ntest_x := true\n\ntest_y := true\n"),
            ("b_test.rego", "package b_test\n\ntest_x := true\n"),
        ]);
        let names = |filter: &str| -> Vec<String> {
            let options = TestOptions { filter: Some(filter.into()), ..TestOptions::default() };
            let report = run_tests(&tests, &options).unwrap();
            report.tests.iter().map(|test| format!("{}.{}", test.package, test.name)).collect()
        };
        assert_eq!(names("test_x$"), ["a_test.test_x", "b_test.test_x"]);
        assert_eq!(names("^a_"), ["a_test.test_x", "a_test.test_y"]);
    }

    #[test]
    fn a_failing_test_does_not_disturb_the_next() {
        let report = run(
            "test_a if to_number(\"a\") == 1 with input.privileged as true\n\ntest_b if count(a.deny) == 0\n",
        );
        assert_eq!(report.tests[1].result, TestResult::Passed);
    }

    #[test]
    fn coverage_names_the_lines_that_no_test_reaches() {
        let mut policies = with_tests(&[(
            "a_test.rego",
            "package a_test\n\nimport data.a\n\ntest_x if {\n\t\"privileged\" in a.deny with input as {\"privileged\": true, \"user\": 1}\n}\n",
        )]);
        policies.sets[0].modules.push(module("b.rego", "package b\n\nx := 1\n\ny if {\n\tx == 1\n}\n"));
        let options = TestOptions { coverage: true, ..TestOptions::default() };
        let report = run_tests(&policies, &options).unwrap();
        let files: Vec<&str> = report.coverage.iter().map(|file| file.file.as_str()).collect();
        assert_eq!(files, ["a.rego", "b.rego"]);
        let a = &report.coverage[0];
        // `"root"` in the head on line 7 is never reached, all else is.
        assert!(a.covered.contains(&4) && a.covered.contains(&8) && a.not_covered.contains(&7), "{a:?}");
        let b = &report.coverage[1];
        assert!(b.covered.is_empty() && b.not_covered.contains(&6) && b.percent() == 0, "{b:?}");
    }
}
