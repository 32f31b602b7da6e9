//! What an evaluation yields: for each rule its hits, or why there are none.

use std::fmt;
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::set::{PolicySet, Rule};
use crate::model::{Level, Place, Problem, Route, Span, Value};

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
    /// What it is about: `{cluster?, group, kind, namespace, name}`. For rules that judge a cluster or
    /// the fleet.
    pub subject: Option<Value>,
    /// The object in which `route` stands, in the same form; the subject if absent.
    pub at: Option<Value>,
}

/// What one rule says about one input.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Index into [`PolicySet::rules`].
    pub rule: usize,
    /// Its elements, sorted; empty if the rule has no objection.
    pub result: Result<Vec<Hit>, EvaluationError>,
}

/// Why a rule gave no result for an input. Never a pass, never a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Whether the rule was stopped: it ran out of time, or took its process down.
    pub(super) stopped: bool,
}

impl Outcome {
    /// A rule that could not be evaluated for a reason outside of it.
    pub fn failed(rule: usize, message: impl Into<String>) -> Self {
        let error = EvaluationError {
            message: message.into(),
            help: None,
            file: None,
            line: None,
            column: None,
            stopped: false,
        };
        Self { rule, result: Err(error) }
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
            stopped: false,
        }
    }

    /// The same error with help.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error, of a rule that was stopped.
    #[must_use]
    pub(super) fn stopped(mut self) -> Self {
        self.stopped = true;
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

/// `message (file:line:column)`.
impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => write!(f, " ({file}:{line}:{column})"),
            (Some(file), Some(line), None) => write!(f, " ({file}:{line})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for EvaluationError {}

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
