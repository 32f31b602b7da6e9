//! Reads a fleet file and the parts that it includes.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};

use super::file::{API_VERSION, Document};
use super::resolve::{self, PolicySource, Trees};
use crate::accelerators::Registry;
use crate::error::{Error, Result};
use crate::manifest::{self, SyntaxError};
use crate::model::{Fleet, Problem, Route, Span, Step, Value};
use crate::policy::Location;

/// One file of a fleet: the fleet file itself or a part that it includes.
#[derive(Debug, Clone)]
pub struct Part {
    /// Path as shown to people, which is also the path it was read from.
    pub file: Arc<Utf8PathBuf>,
    /// Its text, for code frames.
    pub text: Arc<str>,
    /// What it says.
    pub document: Document,
}

impl Part {
    /// The stretch of text at `route`.
    pub fn span(&self, route: &Route) -> Option<Span> {
        manifest::locate(&self.text, route)
    }

    /// The line at `route`, from 1; the first one if the place cannot be told.
    pub fn line(&self, route: &Route) -> usize {
        self.span(route).map_or(1, |span| span.line)
    }

    /// A problem with what stands at `route`.
    pub fn problem(&self, code: &'static str, route: &Route, message: impl Into<String>) -> Problem {
        let mut problem = Problem::new(code, message);
        problem.file = Some(Arc::clone(&self.file));
        problem.span = self.span(route);
        problem.source = Some(Arc::clone(&self.text));
        problem
    }
}

/// A fleet file, read, merged and checked.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The directory of the fleet file, to which every path in it is relative.
    pub root: Utf8PathBuf,
    /// The fleet file first, then its parts in sorted order.
    pub parts: Vec<Part>,
    /// What the engine needs.
    pub fleet: Fleet,
    /// Policies beside the shipped ones, in the order in which they are named.
    pub policies: Vec<PolicySource>,
    /// Parameters by rule id (`data.params`).
    pub params: std::collections::BTreeMap<Arc<str>, Value>,
    /// Where each of `params` is set: part and route.
    pub(super) param_routes: std::collections::BTreeMap<Arc<str>, (usize, Route)>,
    /// Where each cluster's rendered manifests are.
    pub rendered: Trees,
    /// The kinds that run pods: those that are shipped, and those of the file.
    pub registry: Registry,
    /// What people should know about the file, such as that it replaces a shipped kind.
    pub notes: Vec<String>,
}

impl Loaded {
    /// The fleet file, as shown to people.
    pub fn file(&self) -> &Utf8Path {
        self.parts.first().map_or(Utf8Path::new(""), |part| &part.file)
    }

    /// Where a parameter is set; the route is the rule id, then the parameter's name, then the way
    /// inside its value.
    pub fn locate_parameter(&self, route: &Route) -> Option<Location> {
        let (Step::Key(rule), rest) = route.0.split_first()? else { return None };
        let (part, base) = self.param_routes.get(rule)?;
        let part = self.parts.get(*part)?;
        let span = part.span(&base.join(&Route(rest.to_vec()))).or_else(|| part.span(base));
        Some(Location { file: Arc::clone(&part.file), source: Some(Arc::clone(&part.text)), span })
    }
}

/// Reads the fleet file at `path` with everything that it includes, and checks it. All problems are
/// returned, not the first one only.
pub fn load(path: &Utf8Path) -> Result<Loaded> {
    with_parts(path, read(path)?)
}

/// The globs of the parts that a fleet file includes, relative to its directory. What is wrong with
/// the file is for [`load`] to say.
pub fn included_by(path: &Utf8Path) -> Vec<GlobMatcher> {
    let Ok(main) = read(path) else { return Vec::new() };
    main.document.include.iter().filter_map(|pattern| path_glob(pattern).ok()).collect()
}

/// The same for a text that is not written yet.
pub(super) fn load_text(path: &Utf8Path, text: &str) -> Result<Loaded> {
    with_parts(path, parse(path, text.as_bytes())?)
}

fn with_parts(path: &Utf8Path, main: Part) -> Result<Loaded> {
    let root = path.parent().unwrap_or(Utf8Path::new("")).to_owned();
    let mut problems = Vec::new();
    let mut parts = Vec::new();
    for file in included(&root, &main, &mut problems) {
        match read(&file) {
            Ok(part) => {
                if !part.document.include.is_empty() {
                    let message = "a part of a fleet file cannot include further parts";
                    problems.push(
                        part.problem("nested-include", &Route::root().key("include"), message)
                            .help(format!("name them in the `include` of `{path}`")),
                    );
                }
                parts.push(part);
            }
            Err(Error::Problems(found)) => problems.extend(found),
            Err(other) => return Err(other),
        }
    }
    parts.insert(0, main);
    resolve::resolve(root, parts, problems)
}

/// Reads one file and checks that it is a `Fleet`.
fn read(path: &Utf8Path) -> Result<Part> {
    let bytes = fs::read(path).map_err(|error| {
        Problem::new("unreadable", format!("cannot read `{path}`: {error}")).in_file(path)
    })?;
    parse(path, &bytes)
}

fn parse(path: &Utf8Path, bytes: &[u8]) -> Result<Part> {
    let file = Arc::new(path.to_owned());
    let text = manifest::text(bytes).map_err(|error| syntax_problem(error, &file, &"".into()))?;
    let text: Arc<str> = text.into();
    let wrong = |error| syntax_problem(error, &file, &text);
    let value = manifest::value(&text).map_err(wrong)?;
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", "Fleet")] {
        let found = value.as_object().ok().and_then(|object| object.get(&Value::from(key)));
        let found = found.and_then(|value| value.as_string().ok()).map(AsRef::as_ref);
        if found != Some(expected) {
            let message = match found {
                Some(found) => format!("`{key}` is `{found}`, where a fleet file has `{expected}`"),
                None => format!("`{key}: {expected}` is missing"),
            };
            let mut problem = Problem::new("not-a-fleet-file", message)
                .help(format!("a fleet file begins with `apiVersion: {API_VERSION}` and `kind: Fleet`"));
            problem.file = Some(Arc::clone(&file));
            problem.span = manifest::locate(&text, &Route::root().key(key));
            problem.source = Some(Arc::clone(&text));
            return Err(problem.into());
        }
    }
    let document = manifest::typed(&text).map_err(|error| wrong(missing_key(error)))?;
    Ok(Part { file, text, document })
}

/// Says of a key that has to be there what to write.
fn missing_key(mut error: SyntaxError) -> SyntaxError {
    let Some((place, key)) = error.message.split_once(": missing field `") else { return error };
    let key = key.trim_end_matches('`').to_owned();
    let help = match key.as_str() {
        "expires" => "write the last day on which it holds, such as `expires: 2027-06-30`".to_owned(),
        "reason" => "write why, such as `reason: the vendor publishes no digests`".to_owned(),
        "owner" => "write who answers for it, such as `owner: \"@platform\"`".to_owned(),
        key => format!("write `{key}: …`"),
    };
    error.message = format!("{place} has no `{key}`");
    error.code = "missing-key";
    error.help = Some(help);
    error
}

/// A text that cannot be read, as a problem of its file.
pub(super) fn syntax_problem(error: SyntaxError, file: &Arc<Utf8PathBuf>, text: &Arc<str>) -> Problem {
    let mut problem = Problem::new(error.code, error.message);
    problem.help = error.help;
    problem.file = Some(Arc::clone(file));
    problem.span = error.span;
    problem.related = error.related;
    problem.source = Some(Arc::clone(text));
    problem
}

/// The files that `include` names, sorted, each once.
fn included(root: &Utf8Path, main: &Part, problems: &mut Vec<Problem>) -> BTreeSet<Utf8PathBuf> {
    let mut files = BTreeSet::new();
    for (position, pattern) in main.document.include.iter().enumerate() {
        let route = Route::root().key("include").index(position);
        match expand(root, pattern, &main.file) {
            Ok(found) if found.is_empty() => problems.push(
                main.problem("include-matches-nothing", &route, format!("`{pattern}` matches no file"))
                    .help("remove it, or correct the path: it is relative to the fleet file"),
            ),
            Ok(found) => files.extend(found),
            Err(message) => problems.push(main.problem("include", &route, message)),
        }
    }
    files
}

/// The files under `root` that match `pattern`, the fleet file itself left out.
fn expand(root: &Utf8Path, pattern: &str, main: &Utf8Path) -> Result<BTreeSet<Utf8PathBuf>, String> {
    let matcher = path_glob(pattern)?;
    let shown_root = if root.as_str().is_empty() { Utf8Path::new(".") } else { root };
    let real_root =
        shown_root.canonicalize_utf8().map_err(|error| format!("cannot read `{root}`: {error}"))?;
    let literal: Utf8PathBuf = Utf8Path::new(pattern)
        .components()
        .take_while(|part| !part.as_str().contains(['*', '?', '[', '{']))
        .collect();
    let mut files = BTreeSet::new();
    let walk = walkdir::WalkDir::new(shown_root.join(literal)).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| entry.file_name() != ".git") {
        let entry = match entry {
            Ok(entry) => entry,
            // A directory that is not there matches nothing, which is reported as such.
            Err(error) if error.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) => break,
            Err(error) => return Err(format!("cannot look for `{pattern}`: {error}")),
        };
        let Some(path) = Utf8Path::from_path(entry.path()) else {
            continue;
        };
        let path = path.strip_prefix(".").unwrap_or(path);
        let relative = path.strip_prefix(root).unwrap_or(path);
        if !matcher.is_match(relative) || path == main || entry.file_type().is_dir() {
            continue;
        }
        let real = path.canonicalize_utf8().map_err(|error| format!("cannot read `{path}`: {error}"))?;
        if !real.starts_with(&real_root) {
            return Err(format!("`{path}` is a link that leads outside the directory of the fleet file"));
        }
        if real.is_file() {
            files.insert(path.to_owned());
        }
    }
    Ok(files)
}

/// A glob over paths relative to the fleet file: `*` stays within one directory, `**` does not.
/// Paths that lead outside are refused.
pub(super) fn path_glob(pattern: &str) -> Result<GlobMatcher, String> {
    let path = Utf8Path::new(pattern);
    let escapes =
        |part| matches!(part, Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_));
    if pattern.is_empty() || path.components().any(escapes) {
        return Err(format!("`{pattern}` does not stay inside the directory of the fleet file"));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    glob(pattern.trim_end_matches('/'), true)
}

/// A glob over names, where `*` matches everything.
pub(crate) fn name_glob(pattern: &str) -> Result<GlobMatcher, String> {
    glob(pattern, false)
}

fn glob(pattern: &str, literal_separator: bool) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(literal_separator)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("`{pattern}` is no glob: {}", error.kind()))
}
