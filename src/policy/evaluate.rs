//! Evaluation: an input against groups of rules, each rule's result decoded or an error.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::decode;
use super::rego::{Failure, Interpreter};
use super::set::{PolicySet, Rule};
use crate::model::{Level, Place, Problem, Route, Span, Value};

/// Bounds of one evaluation, and the one instant that policies may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time of one evaluation: of a group, and of each rule of a group that failed.
    pub time: Duration,
    /// What `time.now_ns` yields in compatible styles, in nanoseconds since 1970. Without it the
    /// function is an error.
    pub now_ns: Option<i64>,
}

impl Default for Limits {
    /// Two seconds, no clock.
    fn default() -> Self {
        Self { time: Duration::from_secs(2), now_ns: None }
    }
}

/// One element of a rule's partial set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// `Deny` for an element of `deny` or `violation`, `Warn` for one of `warn`, before the rule's
    /// level, overrides and modes.
    pub level: Level,
    /// What was found.
    pub message: String,
    /// The place inside the object, if the rule names one.
    pub route: Option<Route>,
    /// Facts for machines.
    pub details: Option<Value>,
    /// What to write instead.
    pub remediation: Option<String>,
}

/// Why a rule gave no result for an input. Never a pass, never a denial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What was wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The policy file.
    pub file: Option<Arc<Utf8PathBuf>>,
    /// Line in `file`, from 1.
    pub line: Option<usize>,
    /// Column in `file`, from 1.
    pub column: Option<usize>,
}

/// What one rule says about one input.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Index into [`PolicySet::rules`].
    pub rule: usize,
    /// Its elements, sorted; empty if the rule has no objection.
    pub result: Result<Vec<Hit>, EvaluationError>,
}

/// A prepared engine for every set of policies. It belongs to one thread at a time: it has its own
/// syntax trees and data, because sharing them between threads costs more than parsing them again.
#[derive(Debug)]
pub struct Evaluator {
    policies: Arc<PolicySet>,
    /// By set; none where no group has a rule of the set.
    interpreters: Vec<Option<Interpreter>>,
    groups: Vec<Vec<Part>>,
    limits: Limits,
}

/// The rules of a group that are of one set.
#[derive(Debug)]
struct Part {
    set: usize,
    /// Position of the group in the generated module of the set's interpreter.
    entry: usize,
    rules: Vec<usize>,
}

impl Evaluator {
    /// Prepares engines for groups of rules (indexes into [`PolicySet::rules`]). All rules of a
    /// group are evaluated on the same input, at once.
    pub fn new(
        policies: &Arc<PolicySet>,
        groups: &[Vec<usize>],
        limits: &Limits,
    ) -> Result<Self, Vec<Problem>> {
        let mut entries: Vec<Vec<Vec<usize>>> = vec![Vec::new(); policies.sets.len()];
        let mut parts = Vec::with_capacity(groups.len());
        for group in groups {
            let mut group_parts = Vec::new();
            for (set, set_entries) in entries.iter_mut().enumerate() {
                let rules: Vec<usize> = group
                    .iter()
                    .copied()
                    .filter(|&rule| policies.rules.get(rule).is_some_and(|rule| rule.set == set))
                    .collect();
                if !rules.is_empty() {
                    group_parts.push(Part { set, entry: set_entries.len(), rules: rules.clone() });
                    set_entries.push(rules);
                }
            }
            parts.push(group_parts);
        }
        let mut problems = Vec::new();
        let mut interpreters = Vec::with_capacity(policies.sets.len());
        for (set, set_entries) in policies.sets.iter().zip(&entries) {
            if set_entries.is_empty() {
                interpreters.push(None);
                continue;
            }
            match Interpreter::new(set, &policies.rules, set_entries, limits) {
                Ok(interpreter) => interpreters.push(Some(interpreter)),
                Err(failure) => problems.push(failure.problem(&policies.sets)),
            }
        }
        if problems.is_empty() {
            Ok(Self { policies: Arc::clone(policies), interpreters, groups: parts, limits: limits.clone() })
        } else {
            Err(problems)
        }
    }

    /// Evaluates a group on an input. Outcomes are in the order of the rules' indexes, one for each
    /// rule of the group. An unknown group has no rules, hence no outcomes.
    pub fn evaluate(&mut self, group: usize, input: &Value) -> Vec<Outcome> {
        let Self { policies, interpreters, groups, limits } = self;
        let mut outcomes = Vec::new();
        for part in groups.get(group).map(Vec::as_slice).unwrap_or_default() {
            let Some(Some(interpreter)) = interpreters.get_mut(part.set) else { continue };
            let whole = interpreter.group(part.entry, input);
            for &index in &part.rules {
                let Some(rule) = policies.rules.get(index) else { continue };
                let value = match &whole {
                    Ok(values) => values
                        .get(&index)
                        .cloned()
                        .ok_or_else(|| Failure::undefined(format!("`{}` yields no value", rule.id))),
                    Err(_) => interpreter.rule(index, input),
                };
                let style = policies.sets.get(rule.set).map(|set| set.style);
                let result = value
                    .map_err(|failure| failure.evaluation_error(rule, limits))
                    .and_then(|value| decode::hits(rule, style, &value));
                outcomes.push(Outcome { rule: index, result });
            }
        }
        outcomes.sort_by_key(|outcome| outcome.rule);
        outcomes
    }
}

impl EvaluationError {
    /// An error of a rule, at no line in particular.
    pub(super) fn of(rule: &Rule, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            file: Some(Arc::clone(&rule.file)),
            line: None,
            column: None,
        }
    }

    /// The same error with help.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error as a problem of the run: about a rule, and about the document at `place`.
    pub fn problem(&self, policies: &PolicySet, rule: usize, place: Option<&Place>) -> Problem {
        let mut problem = Problem::new("evaluation", self.message.clone());
        problem.help.clone_from(&self.help);
        problem.file.clone_from(&self.file);
        problem.place = place.cloned();
        problem.rule = policies.rules.get(rule).map(|rule| Arc::clone(&rule.id));
        let source = self.file.as_ref().and_then(|file| {
            policies.sets.iter().flat_map(|set| &set.modules).find(|module| module.file == *file)
        });
        if let (Some(module), Some(line)) = (source, self.line) {
            problem.span = span(&module.text, line, self.column.unwrap_or(1));
            problem.source = Some(Arc::clone(&module.text));
        }
        problem
    }
}

/// The rest of a line from a column on.
pub(super) fn span(text: &str, line: usize, column: usize) -> Option<Span> {
    let mut offset = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == line {
            let skipped: usize = content.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
            let rest = content.get(skipped..).unwrap_or_default().trim_end();
            return Some(Span { offset: offset + skipped, length: rest.len(), line, column });
        }
        offset += content.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{json, policies, policies_with_data};
    use super::super::set::Style;
    use super::*;

    fn evaluator(policies: &Arc<PolicySet>, limits: &Limits) -> Evaluator {
        let all: Vec<usize> = (0..policies.rules.len()).collect();
        Evaluator::new(policies, &[all], limits).unwrap()
    }

    /// Messages of each rule, or its error.
    fn judge(policies: &Arc<PolicySet>, input: &str) -> Vec<Result<Vec<String>, String>> {
        evaluator(policies, &Limits::default())
            .evaluate(0, &json(input))
            .into_iter()
            .map(|outcome| match outcome.result {
                Ok(hits) => {
                    Ok(hits.into_iter().map(|hit| format!("{:?} {}", hit.level, hit.message)).collect())
                }
                Err(error) => Err(error.message),
            })
            .collect()
    }

    const PRIVILEGED: (&str, &str) = (
        "a.rego",
        "package fleetgate.local.a\n\ndeny contains msg if {\n\tinput.object.spec.hostPID\n\tmsg := \"host PID\"\n}\n",
    );

    #[test]
    fn a_rule_denies_or_has_no_objection() {
        let policies = policies(Style::Native, &[PRIVILEGED]);
        assert_eq!(
            judge(&policies, r#"{"object": {"spec": {"hostPID": true}}}"#),
            [Ok(vec!["Deny host PID".into()])]
        );
        assert_eq!(judge(&policies, r#"{"object": {"spec": {}}}"#), [Ok(vec![])]);
        assert_eq!(judge(&policies, "{}"), [Ok(vec![])]);
    }

    #[test]
    fn results_of_one_input_are_not_seen_by_the_next() {
        let policies = policies(
            Style::Native,
            &[
                ("lib.rego", "package fleetgate.local.lib\n\nnames contains input.name\n"),
                (
                    "a.rego",
                    "package fleetgate.local.a\n\nimport data.fleetgate.local.lib\n\ndeny contains concat(\",\", lib.names)\n",
                ),
            ],
        );
        let mut evaluator = evaluator(&policies, &Limits::default());
        for name in ["a", "b", "a"] {
            let outcome = evaluator.evaluate(0, &json(&format!(r#"{{"name": "{name}"}}"#)));
            assert_eq!(outcome[0].result.as_ref().unwrap()[0].message, name);
        }
    }

    #[test]
    fn o18_a_warning_does_not_weaken_a_denial_in_either_order() {
        let warn = "warn contains \"advice\"\n";
        let deny = "deny contains \"no\"\n";
        for text in [format!("{warn}\n{deny}"), format!("{deny}\n{warn}")] {
            let policies =
                policies(Style::Native, &[("a.rego", &format!("package fleetgate.local.a\n\n{text}"))]);
            assert_eq!(judge(&policies, "{}"), [Ok(vec!["Deny no".into(), "Warn advice".into()])]);
        }
    }

    #[test]
    fn a_failing_rule_is_an_error_and_the_others_still_judge() {
        let policies = policies(
            Style::Native,
            &[
                ("a.rego", "package fleetgate.local.a\n\ndeny contains \"a\"\n"),
                ("b.rego", "package fleetgate.local.b\n\ndeny contains \"b\" if to_number(input.x) > 1\n"),
                ("c.rego", "package fleetgate.local.c\n\ndeny contains \"c\"\n"),
            ],
        );
        let mut evaluator = evaluator(&policies, &Limits::default());
        let outcomes = evaluator.evaluate(0, &json(r#"{"x": "many"}"#));
        assert_eq!(outcomes[0].result.as_ref().unwrap()[0].message, "a");
        assert_eq!(outcomes[2].result.as_ref().unwrap()[0].message, "c");
        let error = outcomes[1].result.as_ref().unwrap_err();
        assert_eq!(error.message, "could not parse string as number");
        assert_eq!(
            (error.file.as_ref().unwrap().as_str(), error.line, error.column),
            ("b.rego", Some(3), Some(31))
        );
        let problem = error.problem(&policies, 1, None);
        assert_eq!(problem.rule.as_deref(), Some("fleetgate/local/b"));
        assert_eq!(problem.span.map(|span| (span.line, span.column)), Some((3, 31)));
        // The failure has left nothing behind.
        let outcomes = evaluator.evaluate(0, &json(r#"{"x": "2"}"#));
        assert!(outcomes.iter().all(|outcome| outcome.result.as_ref().is_ok_and(|hits| hits.len() == 1)));
    }

    #[test]
    fn a_failure_under_with_leaves_nothing_behind() {
        let policies = policies(
            Style::Native,
            &[(
                "a.rego",
                "package fleetgate.local.a\n\nlimit := data.limit\n\nf(x) := to_number(x)\n\ndeny contains msg if {\n\tf(input.x) > 1 with data.limit as 5 with input.y as 1\n\tmsg := sprintf(\"%v %v\", [limit, input])\n}\n",
            )],
        );
        let all = vec![vec![0]];
        let mut evaluator = Evaluator::new(&policies, &all, &Limits::default()).unwrap();
        evaluator.evaluate(0, &json(r#"{"x": "many"}"#))[0].result.as_ref().unwrap_err();
        let outcome = evaluator.evaluate(0, &json(r#"{"x": "2"}"#));
        // `limit` is undefined, as no data document has it, so the body does not hold.
        assert_eq!(outcome[0].result.as_ref().unwrap().len(), 0);
    }

    #[test]
    fn o16_an_error_of_a_function_is_an_error_in_every_style() {
        let text = "package main\n\ndeny contains \"too big\" if {\n\tsome c in input.spec.containers\n\tunits.parse(c.resources.limits.memory) > units.parse(\"2Gi\")\n}\n";
        for style in [Style::Native, Style::Conftest] {
            let policies = policies(style, &[("a.rego", text)]);
            let input = |memory: &str| {
                format!(
                    r#"{{"spec": {{"containers": [{{"resources": {{"limits": {{"memory": "{memory}"}}}}}}]}}}}"#
                )
            };
            let unknown = judge(&policies, &input("4GiB"));
            assert!(unknown[0].as_ref().unwrap_err().contains("unknown unit"), "{unknown:?}");
            assert_eq!(judge(&policies, &input("4Gi")), [Ok(vec!["Deny too big".into()])]);
            assert_eq!(judge(&policies, &input("1Gi")), [Ok(vec![])]);
        }
    }

    /// The register machine of this engine version takes an undefined assignment for true.
    #[test]
    fn an_undefined_assignment_does_not_hold() {
        let policies = policies(
            Style::Native,
            &[(
                "a.rego",
                "package fleetgate.local.a\n\ndeny contains \"held\" if {\n\tn := input.none\n}\n\ndeny contains sprintf(\"%v\", [sum([n | some c in input.xs; n := c.gpu])])\n",
            )],
        );
        assert_eq!(judge(&policies, r#"{"xs": [{"gpu": 3}, {}]}"#), [Ok(vec!["Deny 3".into()])]);
        let manifest = include_str!("../../Cargo.toml");
        assert!(!manifest.contains("\"rvm\""));
    }

    #[test]
    fn a_rule_that_does_not_end_is_stopped_and_the_others_judge() {
        let policies = policies(
            Style::Native,
            &[
                (
                    "a.rego",
                    "package fleetgate.local.a\n\ndeny contains \"a\" if {\n\tsome i in numbers.range(1, 100000)\n\tsome j in numbers.range(1, 100000)\n\ti * j < 0\n}\n",
                ),
                ("b.rego", "package fleetgate.local.b\n\ndeny contains \"b\"\n"),
            ],
        );
        let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
        let outcomes = evaluator(&policies, &limits).evaluate(0, &json("{}"));
        let error = outcomes[0].result.as_ref().unwrap_err();
        assert_eq!(error.message, "`fleetgate/local/a` did not finish within 50 ms");
        assert_eq!(outcomes[1].result.as_ref().unwrap()[0].message, "b");
    }

    #[test]
    fn data_is_there_and_helpers_are_shared() {
        let policies = policies_with_data(
            Style::Native,
            &[(
                "a.rego",
                "package fleetgate.local.a\n\ndeny contains data.params.local.a.text if input.object.kind in data.kinds\n",
            )],
            r#"{"params": {"local": {"a": {"text": "from data"}}}, "kinds": ["Pod"]}"#,
        );
        assert_eq!(judge(&policies, r#"{"object": {"kind": "Pod"}}"#), [Ok(vec!["Deny from data".into()])]);
    }

    #[test]
    fn a_missing_entry_is_a_problem_before_anything_is_judged_or_an_error_never_a_pass() {
        let mut set = PolicySet::clone(&policies(Style::Native, &[PRIVILEGED]));
        set.rules[0].entries[0].name = "denny".into();
        let set = Arc::new(set);
        match Evaluator::new(&set, &[vec![0]], &Limits::default()) {
            Ok(mut evaluator) => {
                evaluator.evaluate(0, &json("{}"))[0].result.as_ref().unwrap_err();
            }
            Err(problems) => assert!(!problems.is_empty()),
        }
    }

    #[test]
    fn a_module_that_cannot_be_prepared_is_a_problem_with_its_place() {
        let policies = policies(
            Style::Native,
            &[(
                "a.rego",
                "package fleetgate.local.a\n\ndeny contains msg if {\n\tx == 1\n\tmsg := \"a\"\n}\n",
            )],
        );
        let problems = Evaluator::new(&policies, &[vec![0]], &Limits::default()).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].file.as_ref().unwrap().as_str(), "a.rego");
        assert_eq!(problems[0].span.map(|span| span.line), Some(4));
    }

    #[test]
    fn groups_are_apart() {
        let policies = policies(
            Style::Native,
            &[
                ("a.rego", "package fleetgate.local.a\n\ndeny contains \"a\"\n"),
                ("b.rego", "package fleetgate.local.b\n\nwarn contains \"b\"\n"),
            ],
        );
        let mut evaluator =
            Evaluator::new(&policies, &[vec![1], vec![0, 1], vec![]], &Limits::default()).unwrap();
        let mut rules = |group| -> Vec<usize> {
            evaluator.evaluate(group, &json("{}")).into_iter().map(|outcome| outcome.rule).collect()
        };
        assert_eq!(rules(0), [1]);
        assert_eq!(rules(1), [0, 1]);
        assert!(rules(2).is_empty() && rules(3).is_empty());
    }
}
