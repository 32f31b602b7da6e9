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
