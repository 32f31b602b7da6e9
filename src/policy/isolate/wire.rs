//! What parent and child say to each other.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{Level, Problem, Route, Step, Value};
use crate::policy::evaluate::Limits;
use crate::policy::outcome::{EvaluationError, Hit, Outcome, span};
use crate::policy::set::{Entry, Match, Module, PolicySet, Reads, Rule, Set, Style, Target};

/// The largest frame, in bytes.
const FRAME_LIMIT: u32 = 1 << 29;

/// The first frame: what the child may use.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Bounds {
    pub(super) memory: u64,
    pub(super) cpu_seconds: u64,
}

/// The second frame: what is evaluated.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    sets: Vec<WireSet>,
    rules: Vec<WireRule>,
    pub(super) groups: Vec<Vec<usize>>,
    time: Duration,
    now_ns: Option<i64>,
}

/// Every further frame to the child: a group, or a rule of a group.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    Group(usize, Value),
    Rule(usize, usize, Value),
}

/// Every frame from the child. The first is `Ready` or `Problems`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Ready,
    Problems(Vec<WireProblem>),
    /// None: the group failed as a whole.
    Group(Option<Vec<WireOutcome>>),
    Rule(WireOutcome),
}

#[derive(Debug, Serialize, Deserialize)]
struct WireSet {
    conftest: bool,
    modules: Vec<[Arc<str>; 3]>,
    data: Value,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireRule {
    id: Arc<str>,
    package: Arc<str>,
    entries: Vec<(Arc<str>, Level)>,
    set: usize,
    file: Arc<camino::Utf8PathBuf>,
    /// Rules that judge more than one object may say what they are about.
    of_resource: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireProblem {
    message: String,
    help: Option<String>,
    file: Option<Arc<camino::Utf8PathBuf>>,
    place: Option<(usize, usize)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireOutcome {
    rule: usize,
    result: Result<Vec<WireHit>, WireError>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireHit {
    level: Level,
    message: String,
    route: Option<Vec<WireStep>>,
    details: Option<Value>,
    remediation: Option<String>,
    subject: Option<Value>,
    at: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
enum WireStep {
    Key(Arc<str>),
    Index(usize),
}

#[derive(Debug, Serialize, Deserialize)]
struct WireError {
    message: String,
    help: Option<String>,
    file: Option<Arc<camino::Utf8PathBuf>>,
    line: Option<usize>,
    column: Option<usize>,
    stopped: bool,
}

pub(super) fn write<T: Serialize>(output: &mut impl Write, message: &T) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= FRAME_LIMIT);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a frame is too large"))?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&bytes)?;
    output.flush()
}

/// The next frame; none at the end of the stream.
pub(super) fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let length = u32::from_le_bytes(length);
    if length > FRAME_LIMIT {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is too large"));
    }
    let mut bytes = Vec::new();
    if input.take(length.into()).read_to_end(&mut bytes)? < usize::try_from(length).unwrap_or(usize::MAX) {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&bytes)?))
}

impl Setup {
    pub(super) fn new(policies: &PolicySet, groups: &[Vec<usize>], limits: &Limits) -> Self {
        let set = |set: &Set| WireSet {
            conftest: set.style == Style::Conftest,
            modules: set
                .modules
                .iter()
                .map(|module| {
                    [module.file.as_str().into(), Arc::clone(&module.text), Arc::clone(&module.package)]
                })
                .collect(),
            data: set.data.clone(),
        };
        let rule = |rule: &Rule| WireRule {
            id: Arc::clone(&rule.id),
            package: Arc::clone(&rule.package),
            entries: rule.entries.iter().map(|entry| (Arc::clone(&entry.name), entry.level)).collect(),
            set: rule.set,
            file: Arc::clone(&rule.file),
            of_resource: rule.target == Target::Resource,
        };
        Self {
            sets: policies.sets.iter().map(set).collect(),
            rules: policies.rules.iter().map(rule).collect(),
            groups: groups.to_vec(),
            time: limits.time,
            now_ns: limits.now_ns,
        }
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { time: self.time, now_ns: self.now_ns }
    }

    /// The policies, as far as evaluation needs them.
    pub(super) fn into_policies(self) -> PolicySet {
        let set = |set: WireSet| Set {
            style: if set.conftest { Style::Conftest } else { Style::Native },
            modules: set
                .modules
                .into_iter()
                .map(|[file, text, package]| Module { file: Arc::new((&*file).into()), text, package })
                .collect(),
            tests: Vec::new(),
            data: set.data,
        };
        let rule = |rule: WireRule| Rule {
            id: rule.id,
            package: rule.package,
            entries: rule.entries.into_iter().map(|(name, level)| Entry { name, level }).collect(),
            level: Level::Deny,
            title: "".into(),
            description: "".into(),
            url: None,
            page: None,
            target: if rule.of_resource { Target::Resource } else { Target::Cluster },
            matches: Match::default(),
            needs: BTreeSet::new(),
            faces: Vec::new(),
            reads: Reads::Anything,
            reads_inventory: false,
            parameters: Vec::new(),
            set: rule.set,
            file: rule.file,
        };
        PolicySet {
            sets: self.sets.into_iter().map(set).collect(),
            rules: self.rules.into_iter().map(rule).collect(),
            digest: String::new(),
        }
    }
}

impl From<Problem> for WireProblem {
    fn from(problem: Problem) -> Self {
        Self {
            message: problem.message,
            help: problem.help,
            file: problem.file,
            place: problem.span.map(|span| (span.line, span.column)),
        }
    }
}

impl WireProblem {
    pub(super) fn into_problem(self, policies: &PolicySet) -> Problem {
        let mut problem = Problem::new("policy", self.message);
        problem.help = self.help;
        let mut modules = policies.sets.iter().flat_map(|set| &set.modules);
        let module = modules.find(|module| Some(&module.file) == self.file.as_ref());
        if let (Some(module), Some((line, column))) = (module, self.place) {
            problem.span = span(&module.text, line, column);
            problem.source = Some(Arc::clone(&module.text));
        }
        problem.file = self.file;
        problem
    }
}

impl From<Outcome> for WireOutcome {
    fn from(outcome: Outcome) -> Self {
        let step = |step: Step| match step {
            Step::Key(key) => WireStep::Key(key),
            Step::Index(index) => WireStep::Index(index),
        };
        let hit = |hit: Hit| WireHit {
            level: hit.level,
            message: hit.message,
            route: hit.route.map(|route| route.0.into_iter().map(step).collect()),
            details: hit.details,
            remediation: hit.remediation,
            subject: hit.subject,
            at: hit.at,
        };
        let error = |error: EvaluationError| WireError {
            message: error.message,
            help: error.help,
            file: error.file,
            line: error.line,
            column: error.column,
            stopped: error.stopped,
        };
        let result = outcome.result.map(|hits| hits.into_iter().map(hit).collect()).map_err(error);
        Self { rule: outcome.rule, result }
    }
}

impl From<WireOutcome> for Outcome {
    fn from(outcome: WireOutcome) -> Self {
        let step = |step: WireStep| match step {
            WireStep::Key(key) => Step::Key(key),
            WireStep::Index(index) => Step::Index(index),
        };
        let hit = |hit: WireHit| Hit {
            level: hit.level,
            message: hit.message,
            route: hit.route.map(|route| Route(route.into_iter().map(step).collect())),
            details: hit.details,
            remediation: hit.remediation,
            subject: hit.subject,
            at: hit.at,
        };
        let error = |error: WireError| EvaluationError {
            message: error.message,
            help: error.help,
            file: error.file,
            line: error.line,
            column: error.column,
            stopped: error.stopped,
        };
        let result = outcome.result.map(|hits| hits.into_iter().map(hit).collect()).map_err(error);
        Self { rule: outcome.rule, result }
    }
}
