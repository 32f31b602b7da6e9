//! A merged fleet file becomes the fleet that the engine sees; names are looked up, globs compiled,
//! and everything that is wrong is collected.

mod capacity;
mod kinds;
mod rendered;

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobMatcher;

pub use self::rendered::{Tree, Trees};
use super::check;
use super::file::{self, Document, Profile, Rule, Style};
use super::load::{Loaded, Part, name_glob, path_glob};
use super::merge::{self, Origin};
use crate::error::{Error, Result};
use crate::model::{
    Cluster, Environment, Exclusion, Fleet, Level, Mode, Override, Problem, Route, Team, Value, Waiver,
};

/// A set of policies that the fleet file names, its paths ready to be opened.
#[derive(Debug, Clone)]
pub struct PolicySource {
    /// Files or directories of modules.
    pub paths: Vec<Utf8PathBuf>,
    /// A bundle, as written, instead of `paths`.
    pub bundle: Option<String>,
    /// Whose conventions they follow.
    pub style: Style,
    /// Packages that are evaluated, for styles that name them.
    pub namespaces: Vec<String>,
    /// Files or directories of data documents.
    pub data: Vec<Utf8PathBuf>,
    /// The fleet file or part that names it.
    pub file: Arc<Utf8PathBuf>,
    /// Line in `file`, from 1.
    pub line: usize,
}

/// Checks and resolves the parts of a fleet file; `problems` are those of reading them.
pub(super) fn resolve(root: Utf8PathBuf, parts: Vec<Part>, problems: Vec<Problem>) -> Result<Loaded> {
    let merged = merge::merge(&parts);
    let mut resolver = Resolver { parts: &parts, root: &root, document: &merged.document, problems };
    resolver.problems.extend(merged.conflicts);
    check::check(resolver.parts, resolver.document, &mut resolver.problems);
    let clusters = resolver.clusters();
    let rendered = resolver.rendered(&clusters);
    let mut params = Params::default();
    let overrides = resolver.overrides(&mut params);
    let fleet = Fleet {
        environments: merged
            .document
            .environments
            .iter()
            .map(|e| Environment { name: e.as_str().into() })
            .collect(),
        teams: resolver.teams(),
        waivers: resolver.waivers(),
        exclusions: resolver.exclusions(),
        overrides,
        budgets: resolver.budgets(),
        required: merged
            .document
            .policies
            .iter()
            .flat_map(|p| &p.required)
            .map(|r| r.as_str().into())
            .collect(),
        data: data(&merged.document, &clusters, &parts),
        clusters,
    };
    let policies = resolver.policies();
    let (registry, notes) = resolver.kinds();
    let problems = resolver.problems;
    if !problems.is_empty() {
        return Err(Error::Problems(problems));
    }
    Ok(Loaded {
        root,
        parts,
        fleet,
        policies,
        params: params.values,
        param_routes: params.routes,
        rendered,
        registry,
        notes,
    })
}

impl Loaded {
    /// The merged document and where each of its entries comes from, for `fleetgate config show`.
    pub fn effective(&self) -> (Document, Vec<Origin>) {
        let merged = merge::merge(&self.parts);
        (merged.document, merged.origins)
    }
}

/// Parameters by rule id, and where they are set.
#[derive(Default)]
struct Params {
    values: BTreeMap<Arc<str>, Value>,
    routes: BTreeMap<Arc<str>, (usize, Route)>,
}

struct Resolver<'a> {
    parts: &'a [Part],
    root: &'a Utf8Path,
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Resolver<'_> {
    fn clusters(&self) -> BTreeMap<Arc<str>, Arc<Cluster>> {
        let cluster = |(name, entry): (&String, &file::Entry<file::Cluster>)| {
            let cluster = &entry.0;
            let resolved = Cluster {
                name: name.as_str().into(),
                environment: cluster.environment.as_str().into(),
                provider: cluster.provider.as_deref().map(Into::into),
                region: cluster.region.as_deref().map(Into::into),
                labels: cluster.labels.iter().map(|(k, v)| (k.as_str().into(), v.as_str().into())).collect(),
                pools: cluster.accelerators.as_deref().map(capacity::pools),
                injects: cluster.injects.as_ref().map(capacity::injects).unwrap_or_default(),
                facts: facts(name, cluster),
            };
            (Arc::clone(&resolved.name), Arc::new(resolved))
        };
        self.document.clusters.iter().map(cluster).collect()
    }

    fn teams(&mut self) -> BTreeMap<Arc<str>, Team> {
        let mut teams = BTreeMap::new();
        for (name, entry) in &self.document.teams {
            let mut namespaces = Vec::new();
            for pattern in &entry.0.namespaces {
                let part = self.owner(|d| d.teams.contains_key(name));
                namespaces.extend(self.name(part, &Route::root().key("teams").key(name), pattern));
            }
            let name: Arc<str> = name.as_str().into();
            teams.insert(Arc::clone(&name), Team { name, namespaces });
        }
        teams
    }

    fn waivers(&mut self) -> Vec<Waiver> {
        let mut waivers = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            for (position, waiver) in part.document.waivers.iter().enumerate() {
                let route = Route::root().key("waivers").index(position);
                let cluster = waiver.cluster.as_deref().unwrap_or("*");
                let (Some(rule), Some(cluster), Some(object)) = (
                    self.name(index, &route.key("rule"), &waiver.rule),
                    self.name(index, &route.key("cluster"), cluster),
                    self.name(index, &route.key("subject"), &waiver.subject),
                ) else {
                    continue;
                };
                waivers.push(Waiver {
                    rule,
                    rule_pattern: waiver.rule.as_str().into(),
                    cluster,
                    object,
                    subject: waiver.subject.as_str().into(),
                    reason: waiver.reason.as_str().into(),
                    owner: waiver.owner.as_str().into(),
                    expires: waiver.expires.0,
                    file: Arc::clone(&part.file),
                    line: part.line(&route),
                });
            }
        }
        waivers
    }

    fn exclusions(&mut self) -> Vec<Exclusion> {
        let mut exclusions = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            for (position, exclude) in part.document.exclude.iter().enumerate() {
                let route = Route::root().key("exclude").index(position);
                match path_glob(&exclude.path) {
                    Ok(path) => exclusions.push(Exclusion {
                        path,
                        pattern: exclude.path.as_str().into(),
                        reason: exclude.reason.as_str().into(),
                        owner: exclude.owner.as_str().into(),
                        expires: exclude.expires.0,
                        file: Arc::clone(&part.file),
                        line: part.line(&route),
                    }),
                    Err(message) => {
                        self.problems.push(self.problem(index, "glob", &route.key("path"), message));
                    }
                }
            }
        }
        exclusions
    }

    /// Levels and modes in the order in which they apply: profile, sets of policies, rules.
    fn overrides(&mut self, params: &mut Params) -> Vec<Override> {
        let mut overrides: Vec<Override> = self.document.profile.and_then(profile).into_iter().collect();
        for (index, part) in self.parts.iter().enumerate() {
            for (position, set) in part.document.policies.iter().enumerate() {
                let route = Route::root().key("policies").index(position);
                for (rule, values) in &set.parameters {
                    self.params(params, index, &route.key("parameters").key(rule), rule, values);
                }
                for (pattern, rule) in &set.overrides {
                    self.rule(
                        index,
                        &route.key("overrides").key(pattern),
                        pattern,
                        rule,
                        &mut overrides,
                        params,
                    );
                }
            }
        }
        // A glob applies before what names one rule, whatever their order in the map.
        let exact = |pattern: &str| !is_glob(pattern);
        let mut rules: Vec<_> = self.document.rules.iter().collect();
        rules.sort_by_key(|(pattern, _)| (exact(pattern), pattern.len()));
        for (pattern, rule) in rules {
            let index = self.owner(|d| d.rules.contains_key(pattern));
            self.rule(index, &Route::root().key("rules").key(pattern), pattern, rule, &mut overrides, params);
        }
        overrides
    }

    fn rule(
        &mut self,
        part: usize,
        route: &Route,
        pattern: &str,
        rule: &Rule,
        overrides: &mut Vec<Override>,
        params: &mut Params,
    ) {
        let Some(matcher) = self.name(part, route, pattern) else { return };
        for setting in &rule.0 {
            let scoped =
                !setting.environments.is_empty() || !setting.clusters.is_empty() || !setting.faces.is_empty();
            if !setting.params.is_empty() {
                if scoped || is_glob(pattern) {
                    let message =
                        format!("the parameters of `{pattern}` are limited to some place or set by a glob");
                    self.report(part, "scoped-params", route, message, || {
                        "parameters are the same everywhere: set them for one rule, in a setting of their own"
                            .to_owned()
                    });
                } else {
                    self.params(params, part, &route.key("params"), pattern, &setting.params);
                }
            }
            if setting.level.is_none() && setting.mode.is_none() {
                if setting.params.is_empty() {
                    let message = format!("the setting of `{pattern}` sets nothing");
                    self.report(part, "empty-setting", route, message, || {
                        "write a `level`, a `mode` or `params`".to_owned()
                    });
                }
                continue;
            }
            let clusters = setting.clusters.0.iter().filter_map(|c| self.name(part, route, c)).collect();
            overrides.push(Override {
                rule: matcher.clone(),
                pattern: pattern.into(),
                at: None,
                level: setting.level,
                mode: setting.mode,
                environments: setting.environments.0.iter().map(|e| e.as_str().into()).collect(),
                clusters,
                faces: setting.faces.clone(),
            });
        }
    }

    fn params(
        &mut self,
        params: &mut Params,
        part: usize,
        route: &Route,
        rule: &str,
        values: &BTreeMap<String, serde_json::Value>,
    ) {
        let values: serde_json::Map<_, _> = values.clone().into_iter().collect();
        params.routes.insert(rule.into(), (part, route.clone()));
        if params.values.insert(rule.into(), Value::from(serde_json::Value::Object(values))).is_some() {
            let message = format!("the parameters of `{rule}` are set twice");
            self.report(part, "set-twice", route, message, || "keep them in one place".to_owned());
        }
    }

    fn policies(&self) -> Vec<PolicySource> {
        let join = |path: &String| self.root.join(path.strip_prefix("./").unwrap_or(path));
        let mut sources = Vec::new();
        for part in self.parts {
            for (position, set) in part.document.policies.iter().enumerate() {
                sources.push(PolicySource {
                    paths: set.path.0.iter().map(join).collect(),
                    bundle: set.bundle.clone(),
                    style: set.style.unwrap_or(Style::Native),
                    namespaces: set.namespaces.0.clone(),
                    data: set.data.0.iter().map(join).collect(),
                    file: Arc::clone(&part.file),
                    line: part.line(&Route::root().key("policies").index(position)),
                });
            }
        }
        sources
    }

    /// The first part whose document satisfies `has`.
    fn owner(&self, has: impl Fn(&Document) -> bool) -> usize {
        self.parts.iter().position(|part| has(&part.document)).unwrap_or(0)
    }

    fn name(&mut self, part: usize, route: &Route, pattern: &str) -> Option<GlobMatcher> {
        name_glob(pattern)
            .map_err(|message| self.problems.push(self.problem(part, "glob", route, message)))
            .ok()
    }

    fn problem(&self, part: usize, code: &'static str, route: &Route, message: String) -> Problem {
        match self.parts.get(part) {
            Some(part) => part.problem(code, route, message),
            None => Problem::new(code, message),
        }
    }

    fn report(
        &mut self,
        part: usize,
        code: &'static str,
        route: &Route,
        message: String,
        help: impl FnOnce() -> String,
    ) {
        self.problems.push(self.problem(part, code, route, message).help(help()));
    }
}

/// `starter` shows denials as warnings, `recommended` changes nothing, `strict` denies what would be
/// a warning. All of them come first, so that any setting of a rule wins over them.
fn profile(profile: Profile) -> Option<Override> {
    let all = |at, level, mode| {
        let rule = name_glob("*").ok()?;
        Some(Override {
            rule,
            pattern: "*".into(),
            at,
            level,
            mode,
            environments: Vec::new(),
            clusters: Vec::new(),
            faces: Vec::new(),
        })
    };
    match profile {
        Profile::Starter => all(None, None, Some(Mode::Warn)),
        Profile::Recommended => None,
        Profile::Strict => all(Some(Level::Warn), Some(Level::Deny), None),
    }
}

/// Whether a pattern is more than one name.
pub(super) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

/// The route of a word that may stand alone or in a list.
pub(super) fn word_route(key: &str, position: usize) -> Route {
    if position == 0 { Route::root().key(key) } else { Route::root().key(key).index(position) }
}

/// A cluster as policies see it.
fn facts(name: &str, cluster: &file::Cluster) -> Value {
    // How to reach it and where its files are is no fact about it.
    let cluster = file::Cluster { prometheus: None, rendered: file::Words::default(), ..cluster.clone() };
    let mut facts = serde_json::to_value(&cluster).unwrap_or_default();
    if let Some(facts) = facts.as_object_mut() {
        facts.insert("name".to_owned(), name.into());
    }
    Value::from(facts)
}

/// The document at `data.fleet`: what the file says about the fleet, without what only configures us.
fn data(document: &Document, clusters: &BTreeMap<Arc<str>, Arc<Cluster>>, parts: &[Part]) -> Value {
    let entry = |key: &str, value: serde_json::Result<serde_json::Value>| {
        (Value::from(key), Value::from(value.unwrap_or_default()))
    };
    let generated: Vec<_> = parts
        .iter()
        .filter_map(|part| part.document.generated.as_ref())
        .map(|generated| serde_json::to_value(generated).unwrap_or_default())
        .collect();
    let mut data: BTreeMap<Value, Value> = BTreeMap::from([
        entry("environments", serde_json::to_value(&document.environments)),
        entry("teams", serde_json::to_value(&document.teams)),
        entry("people", serde_json::to_value(&document.people)),
        entry("budgets", serde_json::to_value(&document.budgets)),
        entry("approvals", serde_json::to_value(&document.approvals)),
        entry("windows", serde_json::to_value(&document.windows)),
        entry("gates", serde_json::to_value(&document.gates)),
        entry("generated", Ok(generated.into())),
    ]);
    let argocd = document.argocd.as_ref().map(|argocd| &argocd.projects);
    data.extend([
        entry("projects", serde_json::to_value(argocd.cloned().unwrap_or_default())),
        entry("breakGlass", serde_json::to_value(&document.break_glass)),
    ]);
    let facts = clusters
        .values()
        .map(|c| (Value::from(c.name.as_ref()), c.facts.clone()))
        .collect::<BTreeMap<_, _>>();
    data.insert(Value::from("clusters"), Value::from(facts));
    Value::from(data)
}
