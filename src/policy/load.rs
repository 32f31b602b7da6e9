//! From source files to a checked set of policies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Problem, Route, Span, Value};

use super::data::Documents;
use super::graph::Graph;
use super::set::{Module, PolicySet, Rule, Set, Style};
use super::syntax::{self, Syntax};
use super::text::SourceFile;
use super::{conftest, native, params, shipped, sources};

/// Where policies come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The packs that come with the program.
    Shipped,
    /// Somebody's own files.
    Files(Files),
}

/// Policies and data of one owner, in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Whose conventions they follow.
    pub convention: Convention,
    /// `.rego` files, and directories that are searched for them. Shown to people as given.
    pub policies: Vec<Utf8PathBuf>,
    /// `.json`, `.yaml` and `.yml` files, and directories that are searched for them.
    pub data: Vec<Utf8PathBuf>,
}

/// Whose conventions somebody's files follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Convention {
    /// Ours: packages `fleetgate.local.<pack>.<rule>`.
    Native,
    /// conftest's: the packages named here; `main` if none is.
    Conftest {
        /// Packages without `data.`.
        namespaces: Vec<Arc<str>>,
    },
}

/// Where something stands that was handed over as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Path as shown to people.
    pub file: Arc<Utf8PathBuf>,
    /// The stretch of text.
    pub span: Option<Span>,
    /// Text of the file.
    pub source: Option<Arc<str>>,
}

/// Finds the place of a route.
pub type Locate<'a> = dyn Fn(&Route) -> Option<Location> + Sync + 'a;

/// What the configuration says about policies.
#[derive(Clone, Default)]
pub struct LoadOptions<'a> {
    /// Values of parameters by rule id (`<pack>/<rule-kebab>`), each an object by parameter name.
    pub parameters: BTreeMap<Arc<str>, Value>,
    /// Says where a parameter was set; the route is the rule id, then the parameter's name, then
    /// the way inside its value.
    pub locate: Option<&'a Locate<'a>>,
    /// The document at `data.fleet`; an empty object if there is no fleet.
    pub fleet: Option<Value>,
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("parameters", &self.parameters)
            .field("fleet", &self.fleet)
            .finish_non_exhaustive()
    }
}

/// A module with where it came from.
#[derive(Debug)]
pub(super) struct Loaded {
    /// What it says.
    pub(super) syntax: Syntax,
    /// Where it came from.
    pub(super) origin: Origin,
}

/// Where a module came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// It comes with the program.
    Shipped,
    /// The source at this position.
    Source(usize),
}

/// Sources that are evaluated together.
struct Group {
    style: Style,
    namespaces: Vec<Arc<str>>,
    modules: Vec<Loaded>,
    tests: Vec<Loaded>,
    data: Documents,
    /// Whether a file could not be parsed: what it defines is not known then.
    unparsed: bool,
    /// Where to point when the group as a whole is wrong.
    place: Option<Utf8PathBuf>,
}

impl Group {
    fn new(style: Style) -> Self {
        Self {
            style,
            namespaces: Vec::new(),
            modules: Vec::new(),
            tests: Vec::new(),
            data: Documents::default(),
            unparsed: false,
            place: None,
        }
    }

    fn add(&mut self, file: SourceFile, origin: Origin, problems: &mut Vec<Problem>) {
        let test = file.path.as_str().ends_with("_test.rego");
        match syntax::parse(file) {
            Ok(syntax) if test => self.tests.push(Loaded { syntax, origin }),
            Ok(syntax) => self.modules.push(Loaded { syntax, origin }),
            Err(problem) => {
                self.unparsed = true;
                problems.push(problem);
            }
        }
    }

    fn syntaxes(&self) -> impl Iterator<Item = &Syntax> {
        self.modules.iter().map(|module| &module.syntax)
    }
}

/// Reads, checks and puts together policies and data. All problems that are found are returned,
/// sorted by file and place.
pub fn load(sources: &[Source], options: &LoadOptions<'_>) -> Result<PolicySet, Vec<Problem>> {
    let mut problems = Vec::new();
    let groups = groups(sources, &mut problems);
    let mut rules = Vec::new();
    for (set, group) in groups.iter().enumerate() {
        rules.extend(check(group, set, &mut problems));
    }
    // A file that could not be parsed hides what it defines; only what is certain is reported then.
    if problems.is_empty() {
        problems.extend(without_rule(sources, &groups, &rules));
        problems.extend(ids(&mut rules, &groups));
        let native = groups.iter().filter(|group| group.style == Style::Native);
        let modules: Vec<_> = native.flat_map(Group::syntaxes).collect();
        problems.extend(params::undeclared(&rules, &modules));
    }
    let params = params::document(&rules, options, &mut problems);
    if !problems.is_empty() {
        problems.sort_by(|left, right| order(left).cmp(&order(right)));
        problems.dedup();
        return Err(problems);
    }
    let sets: Vec<Set> = groups.into_iter().map(|group| set(group, options, &params)).collect();
    let digest = digest(&sets);
    Ok(PolicySet { sets, rules, digest })
}

fn order(problem: &Problem) -> (Option<&Utf8PathBuf>, Option<usize>, &str, &str) {
    (problem.file.as_deref(), problem.span.map(|span| span.offset), problem.code, &problem.message)
}

/// Native sources make one group with our libraries; each conftest source is one of its own.
fn groups(sources: &[Source], problems: &mut Vec<Problem>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut native = None;
    for (index, source) in sources.iter().enumerate() {
        let own = match source {
            Source::Files(Files { convention: Convention::Conftest { namespaces }, .. }) => {
                let mut group = Group::new(Style::Conftest);
                group.namespaces.clone_from(namespaces);
                if group.namespaces.is_empty() {
                    group.namespaces.push("main".into());
                }
                groups.push(group);
                groups.len() - 1
            }
            Source::Shipped | Source::Files(_) => *native.get_or_insert_with(|| {
                let with_packs = sources.contains(&Source::Shipped);
                let mut group = Group::new(Style::Native);
                // Their tests are not the user's, who would see them counted among their own.
                let library = |file: &SourceFile| {
                    file.path.starts_with("policies/lib") && !file.path.as_str().ends_with("_test.rego")
                };
                for file in shipped::modules().into_iter().filter(|file| with_packs || library(file)) {
                    group.add(file, Origin::Shipped, problems);
                }
                groups.push(group);
                groups.len() - 1
            }),
        };
        if let (Source::Files(files), Some(group)) = (source, groups.get_mut(own)) {
            read_files(group, files, index, problems);
        }
    }
    groups
}

fn read_files(group: &mut Group, files: &Files, source: usize, problems: &mut Vec<Problem>) {
    group.place = group.place.take().or_else(|| files.policies.first().cloned());
    for file in sources::read(&files.policies, sources::Kind::Policy, problems) {
        group.add(file, Origin::Source(source), problems);
    }
    let reserved: &[&str] = match group.style {
        Style::Native => &["fleet", "fleetgate", "inventory", "params"],
        Style::Conftest => &[],
    };
    for file in sources::read(&files.data, sources::Kind::Data, problems) {
        problems.extend(group.data.add(&file, reserved));
    }
}

fn check(group: &Group, set: usize, problems: &mut Vec<Problem>) -> Vec<Rule> {
    let all = Graph::new(group.syntaxes().chain(group.tests.iter().map(|test| &test.syntax)));
    if !group.unparsed {
        problems.extend(all.calls(group.style));
    }
    problems.extend(all.cycles());
    problems.extend(group.tests.iter().filter_map(native::check_test));
    for module in &group.modules {
        if let Some((file, path)) = group.data.hides(&module.syntax.package) {
            let policy = &module.syntax.file;
            let message = format!("data in `{file}` at `{path}` would hide the rules of `{}`", policy.path);
            problems.push(
                policy
                    .problem("hidden-package", message, module.syntax.package_span)
                    .help("put the data under another key, or rename the package"),
            );
        }
    }
    match group.style {
        Style::Native => {
            let modules = group.modules.iter().chain(&group.tests);
            problems.extend(modules.filter_map(native::check_package));
            native::rules(&group.modules, &Graph::new(group.syntaxes()), set, problems)
        }
        Style::Conftest => {
            let unmatched = |namespace: &str| {
                let place = group.place.as_ref();
                (!group.unparsed).then(|| conftest::unmatched(&group.modules, namespace, place))
            };
            conftest::rules(&group.modules, &group.namespaces, unmatched, set, problems)
        }
    }
}

/// Native sources that name policies and hold no rule.
fn without_rule(sources: &[Source], groups: &[Group], rules: &[Rule]) -> Vec<Problem> {
    let files = sources.iter().enumerate().filter_map(|(index, source)| match source {
        Source::Files(files) if files.convention == Convention::Native => Some((index, files)),
        Source::Files(_) | Source::Shipped => None,
    });
    let has_rule = |index: usize| {
        let modules = groups
            .iter()
            .flat_map(|group| &group.modules)
            .filter(|module| module.origin == Origin::Source(index));
        modules.into_iter().any(|module| rules.iter().any(|rule| rule.file == module.syntax.file.path))
    };
    files
        .filter(|(index, _)| !has_rule(*index))
        .filter_map(|(_, files)| {
            let problem = Problem::new("no-rule", "no rule found").in_file(files.policies.first()?.clone());
            Some(problem.help("a rule is a package `fleetgate.local.<pack>.<rule>` with `deny` or `warn`"))
        })
        .collect()
}

/// Sorts rules by id; an id that is used twice is a problem.
fn ids(rules: &mut [Rule], groups: &[Group]) -> Vec<Problem> {
    rules.sort_by(|left, right| (&left.id, left.set).cmp(&(&right.id, right.set)));
    let pairs = rules.windows(2).filter_map(|pair| match pair {
        [first, second] if first.id == second.id => Some((first, second)),
        _ => None,
    });
    let modules = || groups.iter().flat_map(|group| &group.modules);
    pairs
        .filter_map(|(first, second)| {
            let module = modules().find(|module| module.syntax.file.path == second.file)?;
            Some(native::twice(&format!("rule `{}`", second.id), &first.file, &module.syntax))
        })
        .collect()
}

fn set(group: Group, options: &LoadOptions<'_>, params: &Value) -> Set {
    let mut data = group.data.value();
    if group.style == Style::Native
        && let Ok(data) = data.as_object_mut()
    {
        data.insert("fleet".into(), options.fleet.clone().unwrap_or_else(Value::new_object));
        data.insert("params".into(), params.clone());
    }
    let modules = |loaded: Vec<Loaded>| {
        let modules = loaded.into_iter().map(|module| Module {
            package: module.syntax.package_name().into(),
            file: module.syntax.file.path,
            text: module.syntax.file.text,
        });
        modules.collect()
    };
    Set { style: group.style, modules: modules(group.modules), tests: modules(group.tests), data }
}

/// Names of files are no part of it: the same policies elsewhere are the same policies.
fn digest(sets: &[Set]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for set in sets {
        part(match set.style {
            Style::Native => "native",
            Style::Conftest => "conftest",
        });
        let mut modules: Vec<_> = set.modules.iter().map(|module| (&module.package, &module.text)).collect();
        modules.sort_unstable();
        for (package, text) in modules {
            part(package);
            part(text);
        }
        part(&set.data.to_string());
    }
    hasher.finalize().to_hex().to_string()
}
