//! Parts of a fleet file become one document: maps are joined key by key and must not overlap, lists
//! are appended in the order of the files, and what is neither stands in one file only.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::file::{ArgoCd, Document};
use super::load::Part;
use crate::model::{Problem, Route};

/// Where an entry of the merged document comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The entry, such as `clusters.prod-aws-use1` or `budgets[0]` of the merged document.
    pub entry: String,
    /// The file that has it.
    pub file: Arc<Utf8PathBuf>,
    /// Its line there, from 1.
    pub line: usize,
}

/// The merged document, with the origin of each of its entries and the entries that are set twice.
pub(super) struct Merged {
    pub(super) document: Document,
    pub(super) origins: Vec<Origin>,
    pub(super) conflicts: Vec<Problem>,
}

pub(super) fn merge(parts: &[Part]) -> Merged {
    let mut merger = Merger { parts, origins: Vec::new(), conflicts: Vec::new() };
    let first = parts.first().map(|part| &part.document);
    let projects = merger.map(&["argocd", "projects"], |d| d.argocd.as_ref().map(|a| &a.projects));
    let document = Document {
        api_version: first.map(|d| d.api_version.clone()).unwrap_or_default(),
        kind: first.map(|d| d.kind.clone()).unwrap_or_default(),
        generated: None,
        profile: merger.one("profile", |d| d.profile.as_ref()),
        environments: merger
            .one("environments", |d| (!d.environments.is_empty()).then_some(&d.environments))
            .unwrap_or_default(),
        include: merger.one("include", |d| (!d.include.is_empty()).then_some(&d.include)).unwrap_or_default(),
        rendered: merger
            .one("rendered", |d| (!d.rendered.is_empty()).then_some(&d.rendered))
            .unwrap_or_default(),
        clusters: merger.map(&["clusters"], |d| Some(&d.clusters)),
        prometheus: merger.one("prometheus", |d| d.prometheus.as_ref()),
        budgets: merger.list("budgets", |d| &d.budgets),
        approvals: merger.map(&["approvals"], |d| Some(&d.approvals)),
        windows: merger.list("windows", |d| &d.windows),
        gates: merger.map(&["gates"], |d| Some(&d.gates)),
        break_glass: merger.one("breakGlass", |d| d.break_glass.as_ref()),
        rules: merger.map(&["rules"], |d| Some(&d.rules)),
        kinds: merger.list("kinds", |d| &d.kinds),
        policies: merger.list("policies", |d| &d.policies),
        argocd: (!projects.is_empty()).then_some(ArgoCd { projects }),
        teams: merger.map(&["teams"], |d| Some(&d.teams)),
        people: merger.map(&["people"], |d| Some(&d.people)),
        waivers: merger.list("waivers", |d| &d.waivers),
        exclude: merger.list("exclude", |d| &d.exclude),
    };
    Merged { document, origins: merger.origins, conflicts: merger.conflicts }
}

struct Merger<'a> {
    parts: &'a [Part],
    origins: Vec<Origin>,
    conflicts: Vec<Problem>,
}

impl<'a> Merger<'a> {
    /// Joins a map that several files may add to.
    fn map<T: Clone + 'a>(
        &mut self,
        path: &[&str],
        pick: impl Fn(&'a Document) -> Option<&'a BTreeMap<String, T>>,
    ) -> BTreeMap<String, T> {
        let base = path.iter().fold(Route::root(), |route, key| route.key(key));
        let mut joined = BTreeMap::new();
        let mut owners: BTreeMap<&str, &Part> = BTreeMap::new();
        for part in self.parts {
            for (name, value) in pick(&part.document).into_iter().flatten() {
                let route = base.key(name);
                if let Some(owner) = owners.get(name.as_str()) {
                    self.conflict(part, owner, &route);
                } else {
                    owners.insert(name, part);
                    joined.insert(name.clone(), value.clone());
                    self.origin(route.to_string(), part, &route);
                }
            }
        }
        joined
    }

    /// Takes what only one file may say.
    fn one<T: Clone + 'a>(&mut self, key: &str, pick: impl Fn(&'a Document) -> Option<&'a T>) -> Option<T> {
        let route = Route::root().key(key);
        let mut owner: Option<(&Part, &T)> = None;
        for part in self.parts {
            // An include inside a part is refused where the part is read.
            if key == "include" && owner.is_some() {
                continue;
            }
            match (pick(&part.document), owner) {
                (Some(_), Some((first, _))) => self.conflict(part, first, &route),
                (Some(value), None) => {
                    owner = Some((part, value));
                    self.origin(key.to_owned(), part, &route);
                }
                (None, _) => {}
            }
        }
        owner.map(|(_, value)| value.clone())
    }

    /// Appends a list.
    fn list<T: Clone + 'a>(&mut self, key: &str, pick: impl Fn(&'a Document) -> &'a Vec<T>) -> Vec<T> {
        let base = Route::root().key(key);
        let mut joined = Vec::new();
        for part in self.parts {
            for (position, value) in pick(&part.document).iter().enumerate() {
                self.origin(base.index(joined.len()).to_string(), part, &base.index(position));
                joined.push(value.clone());
            }
        }
        joined
    }

    fn origin(&mut self, entry: String, part: &Part, route: &Route) {
        self.origins.push(Origin { entry, file: Arc::clone(&part.file), line: part.line(route) });
    }

    fn conflict(&mut self, part: &Part, owner: &Part, route: &Route) {
        let message = format!("`{route}` is set already in `{}:{}`", owner.file, owner.line(route));
        self.conflicts.push(
            part.problem("set-twice", route, message)
                .help("keep one of the two; the parts of a fleet file must not overlap"),
        );
    }
}
