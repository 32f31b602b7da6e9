//! The Rego engine: one interpreter for one set of policies. Its register machine gives wrong
//! answers in this version (an assignment of an undefined value counts as true), so it is not
//! compiled in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use regorus::Engine;
use regorus::unstable::RuleHead;
use regorus::utils::limits::ExecutionTimerConfig;

use super::builtins;
use super::evaluate::Limits;
use super::outcome::{EvaluationError, span};
use super::reach::Reach;
use super::set::{Entry, Module, Rule, Set};
use crate::model::{Problem, Value};

/// The package of the generated module; reserved, so no user module is in it.
const PACKAGE: &str = "fleetgate.internal.entry";

/// What the generated module is called in the engine's errors.
const GENERATED: &str = "entry";

/// Above this many nodes a data document is shared between threads instead of copied for each.
const OWN_DATA_NODES: usize = 200_000;

/// An engine with modules, data, our functions and limits.
pub(super) struct Session {
    /// Prepared, never evaluated on an input. An evaluation that fails can leave state behind; the
    /// next one starts from a clone of this.
    pristine: Engine,
    engine: Engine,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    /// Parses the modules and a generated one, and analyses them all, so that what is wrong with
    /// them shows here.
    pub(super) fn new<'a>(
        modules: impl Iterator<Item = &'a Module>,
        generated: &str,
        data: &Value,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let mut engine = Engine::new();
        // Also for compatible styles: a built-in's error that turns into "undefined" lets a denial
        // pass.
        engine.set_strict_builtin_errors(true);
        // Gathered so that a policy does not write to our standard error.
        engine.set_gather_prints(true);
        engine.set_execution_timer_config(ExecutionTimerConfig {
            limit: limits.time,
            check_interval: NonZeroU32::new(128).unwrap_or(NonZeroU32::MIN),
        });
        builtins::register(&mut engine, limits);
        let module = |file: String, text: String| (file, text);
        let given = modules.map(|given| module(given.file.to_string(), given.text.to_string()));
        let entry = module(GENERATED.to_owned(), format!("package {PACKAGE}\n\nready := true\n{generated}"));
        for (file, text) in given.chain([entry]) {
            engine.add_policy(file, text).map_err(|error| Failure::parse(&error.to_string()))?;
        }
        engine.add_data(data.clone()).map_err(|error| Failure::parse(&error.to_string()))?;
        let ready = guarded(&mut engine, &format!("data.{PACKAGE}.ready"))?;
        if ready != Value::from(true) {
            return Err(Failure::undefined("the policies could not be prepared".to_owned()));
        }
        Ok(Self { engine: engine.clone(), pristine: engine })
    }

    /// The value of a rule, and what it printed.
    pub(super) fn run(&mut self, path: &str, input: Value) -> (Result<Value, Failure>, Vec<String>) {
        self.engine.set_input(input);
        let result = guarded(&mut self.engine, path);
        let printed = self.engine.take_prints().unwrap_or_default();
        if result.is_err() {
            self.engine = self.pristine.clone();
        }
        (result, printed)
    }

    /// The lines of each file that evaluating a rule reaches, and those that it does not.
    pub(super) fn lines(&self, path: &str) -> Vec<Lines> {
        let mut engine = self.pristine.clone();
        engine.set_enable_coverage(true);
        // Also a rule that fails has reached lines.
        let _ = guarded(&mut engine, path);
        let files = engine.get_coverage_report().map(|report| report.files).unwrap_or_default();
        let numbers =
            |lines: BTreeSet<u32>| lines.into_iter().filter_map(|line| usize::try_from(line).ok()).collect();
        files
            .into_iter()
            .map(|file| Lines {
                file: file.path,
                reached: numbers(file.covered),
                missed: numbers(file.not_covered),
            })
            .collect()
    }

    /// The rules of the modules, in the order of their text.
    pub(super) fn rules(&mut self) -> Vec<ModuleRule> {
        let mut rules = Vec::new();
        for module in self.pristine.get_modules() {
            let file = module.package.span.source.file().clone();
            for rule in module.policy.iter().map(AsRef::as_ref) {
                let (reference, function, default) = match rule {
                    regorus::unstable::Rule::Default { refr, .. } => (refr, false, true),
                    regorus::unstable::Rule::Spec { head, .. } => match head {
                        RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } => (refr, false, false),
                        RuleHead::Func { refr, .. } => (refr, true, false),
                    },
                };
                rules.push(ModuleRule {
                    file: file.clone(),
                    name: reference.span().text().to_owned(),
                    line: usize::try_from(rule.span().line).unwrap_or(usize::MAX),
                    function,
                    default,
                });
            }
        }
        rules
    }
}

/// Lines of a file that were reached and that were not. Lines without code are in neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) file: String,
    pub(super) reached: BTreeSet<usize>,
    pub(super) missed: BTreeSet<usize>,
}

/// A rule as a module has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModuleRule {
    pub(super) file: String,
    pub(super) name: String,
    /// Line on which it begins.
    pub(super) line: usize,
    pub(super) function: bool,
    pub(super) default: bool,
}

/// Sessions for groups of rules, each made when it is first needed. A generated module puts the
/// rules of a group behind one entry point, so that what helpers compute is computed once for the
/// group.
#[derive(Debug)]
pub(super) struct Interpreter {
    modules: Vec<Module>,
    reach: Reach,
    data: Value,
    limits: Limits,
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    packages: Vec<Arc<str>>,
    entry_points: String,
    session: Option<Session>,
}

impl Interpreter {
    /// `groups` are indexes of `rules`. If `check`, all modules are analysed together first, so that
    /// what is wrong with them shows here.
    pub(super) fn new(
        set: &Set,
        rules: &[Rule],
        groups: &[Vec<usize>],
        limits: &Limits,
        check: bool,
    ) -> Result<Self, Failure> {
        let data = own_copy(&set.data);
        if check {
            Session::new(set.modules.iter(), "", &data, limits)?;
        }
        let group = |indexes: &Vec<usize>| {
            let members: Vec<_> =
                indexes.iter().filter_map(|index| Some((*index, rules.get(*index)?))).collect();
            Group {
                packages: members.iter().map(|(_, rule)| Arc::clone(&rule.package)).collect(),
                entry_points: entry_points(&members),
                session: None,
            }
        };
        Ok(Self {
            modules: set.modules.clone(),
            reach: Reach::new(&set.modules),
            data,
            limits: limits.clone(),
            groups: groups.iter().map(group).collect(),
        })
    }

    /// The values of all rules of a group, by rule index.
    pub(super) fn group(&mut self, group: usize, input: &Value) -> Result<BTreeMap<usize, Value>, Failure> {
        let value = self.session(group)?.run(&format!("data.{PACKAGE}.all"), input.clone()).0?;
        let Value::Object(object) = &value else {
            return Err(Failure::undefined(String::from("the group is undefined")));
        };
        Ok(object
            .iter_sorted()
            .filter_map(|(key, value)| Some((key.as_string().ok()?.parse().ok()?, value.clone())))
            .collect())
    }

    /// The value of one rule of a group: an object of its entries.
    pub(super) fn rule(&mut self, group: usize, rule: usize, input: &Value) -> Result<Value, Failure> {
        match self.session(group)?.run(&format!("data.{PACKAGE}.rule_{rule}"), input.clone()).0? {
            Value::Undefined => Err(Failure::undefined(String::from("a result is undefined"))),
            value => Ok(value),
        }
    }

    fn session(&mut self, group: usize) -> Result<&mut Session, Failure> {
        let Self { modules, reach, data, limits, groups } = self;
        let group = groups.get_mut(group).ok_or_else(|| Failure::undefined(String::from("no such group")))?;
        let Group { packages, entry_points, session } = group;
        if session.is_none() {
            let reached = reach.from(packages.iter().map(|package| &**package));
            let needed =
                modules.iter().zip(reached).filter(|(_, reached)| *reached).map(|(module, _)| module);
            *session = Some(Session::new(needed, entry_points, data, limits)?);
        }
        session.as_mut().ok_or_else(|| Failure::undefined(String::from("not prepared")))
    }
}

/// Evaluates a rule path. The engine's own panics (it has some left, such as slicing in
/// `regex.template_match`) are failures like any other.
fn guarded(engine: &mut Engine, path: &str) -> Result<Value, Failure> {
    match catch_unwind(AssertUnwindSafe(|| engine.eval_rule(path.to_owned()))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Failure::parse(&error.to_string())),
        Err(_) => Err(Failure::undefined(String::from("the Rego engine panicked"))),
    }
}

fn entry_points(rules: &[(usize, &Rule)]) -> String {
    let mut text = String::new();
    let mut all = Vec::with_capacity(rules.len());
    for (index, rule) in rules {
        let entry = |entry: &Entry| {
            format!("\"{name}\": data.{package}.{name}", name = entry.name, package = rule.package)
        };
        let value = rule.entries.iter().map(entry).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\nrule_{index} := {{{value}}}\n");
        all.push(format!("\n\t\"{index}\": {{{value}}}"));
    }
    let _ = write!(text, "\nall := {{{}\n}}\n", all.join(","));
    text
}

/// A copy of a value that shares nothing with the original, unless it is very large.
fn own_copy(value: &Value) -> Value {
    let mut budget = OWN_DATA_NODES;
    detached(value, &mut budget).unwrap_or_else(|| value.clone())
}

fn detached(value: &Value, budget: &mut usize) -> Option<Value> {
    *budget = budget.checked_sub(1)?;
    Some(match value {
        Value::String(text) => Value::String(Arc::from(&**text)),
        Value::Array(items) => {
            Value::from(items.iter().map(|item| detached(item, budget)).collect::<Option<Vec<_>>>()?)
        }
        Value::Set(items) => Value::from(
            items.iter_sorted().map(|item| detached(item, budget)).collect::<Option<BTreeSet<_>>>()?,
        ),
        Value::Object(fields) => Value::from(
            fields
                .iter_sorted()
                .map(|(key, item)| Some((detached(key, budget)?, detached(item, budget)?)))
                .collect::<Option<BTreeMap<_, _>>>()?,
        ),
        plain => plain.clone(),
    })
}

/// What the engine said, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Error,
    Time,
    Undefined,
}

impl Failure {
    pub(super) const fn undefined(message: String) -> Self {
        Self { message, file: None, line: None, column: None, kind: Kind::Undefined }
    }

    /// Takes the engine's text apart:
    ///
    /// ```text
    /// --> policy.rego:4:7
    ///   |
    /// 4 | x := to_number("a")
    ///   |      ^
    /// error: could not parse string as number
    /// ```
    ///
    /// Of nested texts the outermost place and the innermost message count.
    pub(super) fn parse(text: &str) -> Self {
        let mut failure =
            Self { message: String::new(), file: None, line: None, column: None, kind: Kind::Error };
        for line in text.lines() {
            if let Some(place) = line.trim_start().strip_prefix("--> ") {
                if failure.file.is_none() {
                    failure.set_place(place);
                }
            } else if let Some(message) = line.trim_start().strip_prefix("error: ") {
                message.trim_end_matches('.').clone_into(&mut failure.message);
            }
        }
        if failure.message.is_empty() {
            failure.message = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        if text.contains("execution exceeded time limit") {
            // The engine's text names the time that passed, which differs from run to run.
            failure.kind = Kind::Time;
            failure.message = String::from("it did not finish within its time limit");
        }
        failure
    }

    /// `file:line:column`; the file may contain colons.
    fn set_place(&mut self, place: &str) {
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next().and_then(|text| text.parse().ok());
        let line = parts.next().and_then(|text| text.parse().ok());
        if let (Some(column), Some(line), Some(file)) = (column, line, parts.next())
            && file != GENERATED
        {
            self.file = Some(file.to_owned());
            self.line = Some(line);
            self.column = Some(column);
        }
    }

    pub(super) fn evaluation_error(&self, rule: &Rule, limits: &Limits) -> EvaluationError {
        let mut error = match self.kind {
            Kind::Error => EvaluationError::of(rule, self.message.clone()),
            Kind::Time => EvaluationError::of(
                rule,
                format!("`{}` did not finish within {} ms", rule.id, limits.time.as_millis()),
            )
            .help("a rule takes well under a millisecond; look for loops inside loops")
            .stopped(),
            Kind::Undefined => EvaluationError::of(rule, format!("`{}`: {}", rule.id, self.message)),
        };
        if self.kind == Kind::Error {
            if let Some(file) = &self.file {
                error.file = Some(Arc::new(file.into()));
            }
            error.line = self.line;
            error.column = self.column;
        }
        error
    }

    pub(super) fn problem(&self, sets: &[Set]) -> Problem {
        let mut problem = Problem::new("policy", self.message.clone());
        if let Some(file) = &self.file {
            problem = problem.in_file(file.as_str());
            let module =
                sets.iter().flat_map(|set| set.modules.iter().chain(&set.tests)).find(|m| *m.file == *file);
            if let (Some(module), Some(line)) = (module, self.line) {
                problem.span = span(&module.text, line, self.column.unwrap_or(1));
                problem.source = Some(Arc::clone(&module.text));
            }
        }
        problem
    }
}
