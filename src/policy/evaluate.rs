//! Evaluation: an input against a group of rules, each rule's result decoded or an error.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::isolate::{Child, Sandbox};
use super::local::Local;
use super::outcome::{EvaluationError, Outcome};
use super::set::PolicySet;
use crate::model::{Problem, Value};

/// How often a rule may run out of time, or take its process down, before it is not tried again.
/// Without it one such rule costs its time limit for each of a hundred thousand objects.
const STOPS_LIMIT: u32 = 3;

/// Stack of a thread that evaluates policies, in bytes. The engine recurses with the depth of the
/// calls of a policy; memory that is not used is not taken.
pub const STACK_SIZE: usize = 64 << 20;

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

/// Where policies are evaluated.
#[derive(Debug, Clone, Default)]
pub enum Isolation {
    /// In this process, for policies that are trusted.
    #[default]
    None,
    /// In a child process with limits on memory and time.
    Sandbox(Sandbox),
}

/// Evaluates groups of rules. It belongs to one thread at a time: it has its own syntax trees and
/// data, because sharing them between threads costs more than parsing them again.
#[derive(Debug)]
pub struct Evaluator {
    groups: Vec<Vec<usize>>,
    engine: Engine,
    stops: Arc<Stops>,
}

#[derive(Debug)]
enum Engine {
    Local(Local),
    Child(Box<Child>),
}

/// How often each rule was stopped, counted over all evaluators of a run.
#[derive(Debug)]
struct Stops(Vec<(AtomicU32, Mutex<Option<EvaluationError>>)>);

impl PolicySet {
    /// Prepares engines for groups of rules (indexes into [`PolicySet::rules`]), in this process.
    pub fn evaluator(&self, groups: &[Vec<usize>], limits: &Limits) -> Result<Evaluator, Vec<Problem>> {
        Evaluator::new(self, groups, limits, &Isolation::None)
    }
}

impl Evaluator {
    /// Prepares engines for groups of rules (indexes into [`PolicySet::rules`]). All rules of a
    /// group are evaluated on the same input, at once.
    pub fn new(
        policies: &PolicySet,
        groups: &[Vec<usize>],
        limits: &Limits,
        isolation: &Isolation,
    ) -> Result<Self, Vec<Problem>> {
        let stops = Stops(policies.rules.iter().map(|_| Default::default()).collect());
        Self::sharing(policies, groups, limits, isolation, (Arc::new(stops), true))
    }

    fn sharing(
        policies: &PolicySet,
        groups: &[Vec<usize>],
        limits: &Limits,
        isolation: &Isolation,
        (stops, check): (Arc<Stops>, bool),
    ) -> Result<Self, Vec<Problem>> {
        let engine = match isolation {
            Isolation::None => Engine::Local(Local::new(policies, groups, limits, check)?),
            Isolation::Sandbox(sandbox) => {
                Engine::Child(Box::new(Child::new(policies, groups, limits, sandbox)?))
            }
        };
        Ok(Self { groups: groups.to_vec(), engine, stops })
    }

    /// Evaluates a group on an input: one outcome for each rule of the group, in the group's order.
    /// If the group fails as a whole, its rules are evaluated one by one, so that an error is the
    /// failing rule's alone. An unknown group has no rules, hence no outcomes.
    #[expect(clippy::needless_pass_by_value, reason = "an input is made for one evaluation")]
    pub fn evaluate(&mut self, group: usize, input: Value) -> Vec<Outcome> {
        let Self { groups, engine, stops } = self;
        let rules = groups.get(group).map(Vec::as_slice).unwrap_or_default();
        if rules.is_empty() {
            return Vec::new();
        }
        if rules.iter().all(|&rule| stops.last(rule).is_none())
            && let Some(outcomes) = engine.group(group, &input)
        {
            return outcomes;
        }
        let one = |&rule: &usize| {
            if let Some(error) = stops.last(rule) {
                return Outcome { rule, result: Err(error) };
            }
            let outcome = engine.rule(group, rule, &input);
            stops.count(&outcome);
            outcome
        };
        rules.iter().map(one).collect()
    }
}

impl Engine {
    /// Outcomes of all rules of a group; none if the group failed as a whole.
    fn group(&mut self, group: usize, input: &Value) -> Option<Vec<Outcome>> {
        match self {
            Self::Local(local) => local.group(group, input),
            Self::Child(child) => child.group(group, input),
        }
    }

    fn rule(&mut self, group: usize, rule: usize, input: &Value) -> Outcome {
        match self {
            Self::Local(local) => local.rule(group, rule, input),
            Self::Child(child) => child.rule(group, rule, input),
        }
    }
}

impl Stops {
    /// The error of a rule that was stopped too often to be tried again.
    fn last(&self, rule: usize) -> Option<EvaluationError> {
        let (count, error) = self.0.get(rule)?;
        if count.load(Ordering::Relaxed) < STOPS_LIMIT {
            return None;
        }
        error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, outcome: &Outcome) {
        if let (Some((count, last)), Err(error)) = (self.0.get(outcome.rule), &outcome.result)
            && error.stopped
        {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Evaluators for the threads of the global rayon pool, one for each, made when it is first needed.
#[derive(Debug)]
pub struct Evaluators {
    policies: PolicySet,
    groups: Vec<Vec<usize>>,
    limits: Limits,
    isolation: Isolation,
    stops: Arc<Stops>,
    slots: Vec<Mutex<Option<Evaluator>>>,
}

impl Evaluators {
    /// Prepares the first evaluator, so that what is wrong with the policies shows here.
    pub fn new(
        policies: &PolicySet,
        groups: &[Vec<usize>],
        limits: &Limits,
        isolation: &Isolation,
    ) -> Result<Self, Vec<Problem>> {
        let first = Evaluator::new(policies, groups, limits, isolation)?;
        let stops = Arc::clone(&first.stops);
        let mut slots = vec![Mutex::new(Some(first))];
        slots.resize_with(rayon::current_num_threads().max(1), Mutex::default);
        Ok(Self {
            policies: policies.clone(),
            groups: groups.to_vec(),
            limits: limits.clone(),
            isolation: isolation.clone(),
            stops,
            slots,
        })
    }

    /// Evaluates a group on an input, see [`Evaluator::evaluate`], with the evaluator of this
    /// thread.
    pub fn evaluate(&self, group: usize, input: Value) -> Vec<Outcome> {
        let thread = rayon::current_thread_index().unwrap_or_default() % self.slots.len();
        let Some(slot) = self.slots.get(thread) else { return self.failed(group, "no evaluator") };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            // The policies were checked when the first one was made.
            let stops = (Arc::clone(&self.stops), false);
            match Evaluator::sharing(&self.policies, &self.groups, &self.limits, &self.isolation, stops) {
                Ok(evaluator) => *slot = Some(evaluator),
                Err(problems) => {
                    let why = problems.first().map_or("no evaluator", |problem| &problem.message);
                    return self.failed(group, why);
                }
            }
        }
        slot.as_mut()
            .map_or_else(|| self.failed(group, "no evaluator"), |evaluator| evaluator.evaluate(group, input))
    }

    fn failed(&self, group: usize, why: &str) -> Vec<Outcome> {
        let rules = self.groups.get(group).map(Vec::as_slice).unwrap_or_default();
        rules.iter().map(|&rule| Outcome::failed(rule, why)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{json, policies, policies_with_data};
    use super::super::set::Style;
    use super::*;

    fn evaluator(policies: &PolicySet, limits: &Limits) -> Evaluator {
        let all: Vec<usize> = (0..policies.rules.len()).collect();
        policies.evaluator(&[all], limits).unwrap()
    }

    /// Messages of each rule, or its error.
    fn judge(policies: &PolicySet, input: &str) -> Vec<Result<Vec<String>, String>> {
        evaluator(policies, &Limits::default())
            .evaluate(0, json(input))
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
            let outcome = evaluator.evaluate(0, json(&format!(r#"{{"name": "{name}"}}"#)));
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
        let outcomes = evaluator.evaluate(0, json(r#"{"x": "many"}"#));
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
        let outcomes = evaluator.evaluate(0, json(r#"{"x": "2"}"#));
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
        let mut evaluator = policies.evaluator(&all, &Limits::default()).unwrap();
        evaluator.evaluate(0, json(r#"{"x": "many"}"#))[0].result.as_ref().unwrap_err();
        let outcome = evaluator.evaluate(0, json(r#"{"x": "2"}"#));
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

    #[test]
    fn o16_the_engines_own_functions_are_strict_too() {
        for (body, input) in [("count(input.n) > 1", r#"{"n": 5}"#), ("10 / input.n > 1", r#"{"n": 0}"#)] {
            for style in [Style::Native, Style::Conftest] {
                let text = format!("package main\n\ndeny contains \"a\" if {body}\n");
                let policies = policies(style, &[("a.rego", &text)]);
                judge(&policies, input).remove(0).unwrap_err();
            }
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
        let outcomes = evaluator(&policies, &limits).evaluate(0, json("{}"));
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
        let mut set = policies(Style::Native, &[PRIVILEGED]);
        set.rules[0].entries[0].name = "denny".into();
        match set.evaluator(&[vec![0]], &Limits::default()) {
            Ok(mut evaluator) => {
                evaluator.evaluate(0, json("{}"))[0].result.as_ref().unwrap_err();
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
        let problems = policies.evaluator(&[vec![0]], &Limits::default()).unwrap_err();
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
        let mut evaluator = policies.evaluator(&[vec![1], vec![0, 1], vec![]], &Limits::default()).unwrap();
        let mut rules = |group| -> Vec<usize> {
            evaluator.evaluate(group, json("{}")).into_iter().map(|outcome| outcome.rule).collect()
        };
        assert_eq!(rules(0), [1]);
        assert_eq!(rules(1), [0, 1]);
        assert!(rules(2).is_empty() && rules(3).is_empty());
    }
}
