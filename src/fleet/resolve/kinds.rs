//! The registry of kinds that run pods, with those of the fleet file.

use std::collections::BTreeMap;

use super::Resolver;
use crate::accelerators::{KindEntry, Registry};
use crate::model::Route;

impl Resolver<'_> {
    /// The shipped kinds with those of the file and its parts, and what is to be said about them.
    pub(super) fn kinds(&mut self) -> (Registry, Vec<String>) {
        let mut registry = Registry::builtin().clone();
        let mut notes = Vec::new();
        let mut problems = Vec::new();
        let mut seen: BTreeMap<_, String> = BTreeMap::new();
        for (part, position, entry) in self.kind_entries() {
            let place = format!("{}:{}", part.file, part.line(&route(position)));
            let key = (&entry.group, &entry.kind, &entry.versions);
            if let Some(other) = seen.get(&key) {
                let message = format!("kind `{}` is set already in `{other}`", named(entry));
                let problem = part.problem("set-twice", &route(position), message);
                problems.push(problem.help(
                    "keep one of the two, or say with `versions` which API versions each of them describes",
                ));
                continue;
            }
            match registry.add(entry) {
                Ok(true) => {
                    notes.push(format!("kind `{}` of `{place}` replaces the shipped one", named(entry)));
                }
                Ok(false) => {}
                Err(error) => {
                    let problem = part.problem("kind", &route(position), error.to_string());
                    problems.push(problem.help("docs/configuration.md lists what an entry of `kinds` has"));
                }
            }
            seen.insert(key, place);
        }
        // Only now: an entry may embed a kind that a later one describes.
        for (part, position, entry) in self.kind_entries() {
            for name in registry.missing(entry) {
                let message = format!("kind `{}` embeds `{name}`, which is not registered", named(entry));
                let problem = part.problem("unknown-kind", &route(position), message);
                problems.push(problem.help("write it as `Kind.group`, and describe it under `kinds`, too"));
            }
        }
        self.problems.extend(problems);
        (registry, notes)
    }

    fn kind_entries(&self) -> impl Iterator<Item = (&crate::fleet::Part, usize, &KindEntry)> {
        self.parts.iter().flat_map(|part| {
            let entries = part.document.kinds.iter().enumerate();
            entries.map(move |(position, entry)| (part, position, entry))
        })
    }
}

fn route(position: usize) -> Route {
    Route::root().key("kinds").index(position)
}

/// `Kind.group`.
fn named(entry: &KindEntry) -> String {
    if entry.group.is_empty() { entry.kind.clone() } else { format!("{}.{}", entry.kind, entry.group) }
}
