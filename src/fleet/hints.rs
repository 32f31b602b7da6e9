//! What a repository's layout and objects tell about environments, clusters and rendered manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::peek::{at, items, set_keys, text};
use crate::manifest;
use crate::model::Value;

/// Words for environments, in promotion order; those on one line stand for the same step.
const STEPS: [&[&str]; 9] = [
    &["local", "sandbox", "sbx", "lab"],
    &["dev", "develop", "development"],
    &["test", "testing", "tst", "ci"],
    &["qa"],
    &["int", "integration", "sit"],
    &["uat", "acceptance", "acc"],
    &["staging", "stage", "stg"],
    &["preprod", "pre-prod", "preproduction", "pre", "canary"],
    &["prod", "production", "prd", "live"],
];

/// Directories whose subdirectories are clusters, the surest first.
const CLUSTERS: [&str; 3] = ["rendered", "clusters", "cluster"];
/// Directories whose subdirectories are environments.
const ENVIRONMENTS: [&str; 6] = ["environments", "environment", "envs", "env", "overlays", "stages"];

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Hints {
    /// Names of environments.
    pub(super) environments: BTreeSet<String>,
    /// Clusters by name, with the environment where something states it.
    pub(super) clusters: BTreeMap<String, Option<String>>,
    /// A pattern for the rendered manifests.
    pub(super) rendered: Option<String>,
    /// What was passed over.
    pub(super) remarks: Vec<String>,
}

impl Hints {
    /// Reads the names of directories; `files` are relative to the root.
    pub(super) fn directories(&mut self, files: &BTreeSet<Utf8PathBuf>) {
        let mut children: BTreeMap<&Utf8Path, BTreeSet<&str>> = BTreeMap::new();
        for file in files {
            let mut below = file.parent();
            while let Some(dir) = below.filter(|dir| !dir.as_str().is_empty()) {
                if let (Some(above), Some(name)) = (dir.parent(), dir.file_name()) {
                    children.entry(above).or_default().insert(name);
                }
                below = dir.parent();
            }
        }
        // The surest word first, then the place nearest to the root.
        let depth = |path: &Utf8Path| path.components().count();
        let mut holders: Vec<(usize, usize, &Utf8Path)> = children
            .keys()
            .filter_map(|dir| {
                let word = dir.file_name()?.to_ascii_lowercase();
                let rank = CLUSTERS.iter().position(|known| *known == word)?;
                Some((rank, depth(dir), *dir))
            })
            .collect();
        holders.sort_unstable();
        if let Some((_, _, dir)) = holders.first() {
            let names = children.get(dir).into_iter().flatten();
            let (plain, odd): (Vec<&str>, Vec<&str>) = names.partition(|name| is_plain(name));
            if !odd.is_empty() {
                let odd = odd.join("`, `");
                self.remarks.push(format!("`{odd}` in `{dir}` cannot be names of clusters"));
            }
            if plain.iter().all(|name| step(name).is_some()) && dir.file_name() == Some("rendered") {
                // One tree an environment: its clusters share it.
                self.environments.extend(plain.iter().map(|name| (*name).to_owned()));
            }
            self.clusters.extend(plain.into_iter().map(|name| (name.to_owned(), None)));
            self.rendered = Some(format!("{}/{{cluster}}", globset::escape(dir.as_str())));
        }
        for (dir, names) in &children {
            let word = dir.file_name().map(str::to_ascii_lowercase).unwrap_or_default();
            if !ENVIRONMENTS.contains(&word.as_str()) {
                continue;
            }
            // Overlays and the like also hold variants; only words that are known are environments.
            self.environments
                .extend(names.iter().filter(|name| step(name).is_some()).map(|name| (*name).to_owned()));
        }
        if self.environments.is_empty() {
            let names =
                children.get(Utf8Path::new("")).into_iter().flatten().chain(children.values().flatten());
            self.environments
                .extend(names.filter(|name| step(name).is_some_and(sure)).map(|name| (*name).to_owned()));
        }
    }

    /// Reads Argo CD's cluster secrets, the lists of `ApplicationSet`s and where `Application`s go.
    pub(super) fn objects<'p>(&mut self, files: impl Iterator<Item = &'p Utf8Path>) {
        for file in files {
            let Some(content) = fs::read(file).ok().filter(|bytes| bytes.len() < (4 << 20)) else { continue };
            let Ok(content) = manifest::text(&content) else { continue };
            if !content.contains("argoproj.io/") {
                continue;
            }
            for document in manifest::split(content).documents {
                let Ok(value) = manifest::value(document.text) else { continue };
                match text(&value, &["kind"]) {
                    Some("Secret") => self.secret(&value),
                    Some("Application") => {
                        let name = text(&value, &["spec", "destination", "name"]);
                        // Argo CD's own cluster, which has no name of its own.
                        self.cluster(name.filter(|name| *name != "in-cluster"), None);
                    }
                    Some("ApplicationSet") => {
                        if let Some(spec) = at(&value, &["spec"]) {
                            self.lists(spec, 0);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn secret(&mut self, secret: &Value) {
        let labels = at(secret, &["metadata", "labels"]);
        if labels.and_then(|labels| text(labels, &["argocd.argoproj.io/secret-type"])) != Some("cluster") {
            return;
        }
        let name = text(secret, &["stringData", "name"]).or_else(|| text(secret, &["metadata", "name"]));
        let environment = labels
            .and_then(|labels| ["environment", "env", "stage"].iter().find_map(|key| text(labels, &[key])));
        self.cluster(name, environment);
    }

    fn lists(&mut self, holder: &Value, depth: usize) {
        if depth > 4 {
            return;
        }
        for generator in items(holder, &["generators"]) {
            for element in items(generator, &["list", "elements"]) {
                let environment =
                    ["environment", "env", "stage"].iter().find_map(|key| text(element, &[key]));
                let name = ["cluster", "clusterName"].iter().find_map(|key| text(element, &[key]));
                if let Some(name) = name {
                    self.cluster(Some(name), environment);
                } else if let Some(environment) =
                    environment.filter(|name| is_plain(name) && step(name).is_some())
                {
                    self.environments.insert(environment.to_owned());
                }
            }
            for key in set_keys(generator).filter(|key| matches!(*key, "matrix" | "merge")) {
                if let Some(nested) = at(generator, &[key]) {
                    self.lists(nested, depth + 1);
                }
            }
        }
    }

    /// Adds a cluster that an object names. Where rendered trees name the clusters, the trees count.
    fn cluster(&mut self, name: Option<&str>, environment: Option<&str>) {
        let Some(name) = name.filter(|name| is_plain(name)) else { return };
        if self.rendered.is_some() && !self.clusters.contains_key(name) {
            return;
        }
        let entry = self.clusters.entry(name.to_owned()).or_default();
        if entry.is_none() {
            *entry = environment.map(str::to_owned);
        }
    }
}

/// The position of a word for an environment in promotion order.
fn step(word: &str) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    STEPS.iter().position(|words| words.contains(&word.as_str()))
}

/// Whether the step is one that a directory anywhere in a repository is named after. `test`, `ci`
/// and `lab` mean other things too.
const fn sure(step: usize) -> bool {
    matches!(step, 1 | 5 | 6 | 7 | 8)
}

/// The environment that a cluster's name speaks of: one that is known, or a word for one.
pub(super) fn environment_in(name: &str, known: &BTreeSet<String>) -> Option<String> {
    let parts = || name.split(['-', '_', '.']);
    let exact = parts().find(|part| known.contains(*part)).map(str::to_owned);
    exact.or_else(|| {
        let (part, step_of_part) = parts().find_map(|part| Some((part, step(part)?)))?;
        let same = known.iter().find(|environment| step(environment) == Some(step_of_part));
        Some(same.cloned().unwrap_or_else(|| part.to_owned()))
    })
}

/// Environments in promotion order; what is no known word comes first, where nothing is promoted to.
pub(super) fn in_order(environments: BTreeSet<String>) -> Vec<String> {
    let mut ordered: Vec<String> = environments.into_iter().collect();
    ordered.sort_by_key(|name| step(name).map_or(0, |step| step + 1));
    ordered
}

/// Whether a name can stand in a fleet file.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// A plain name as YAML, in quotes where it would read as something else.
pub(super) fn quoted(name: &str) -> String {
    manifest::emit(&Value::from(name)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_put_in_promotion_order() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(
            in_order(set(&["prod", "staging", "dev", "uat", "qa", "blue"])),
            ["blue", "dev", "qa", "uat", "staging", "prod"]
        );
        assert_eq!(environment_in("prod-aws-use1", &set(&[])), Some("prod".to_owned()));
        assert_eq!(environment_in("aws-prd-1", &set(&["production"])), Some("production".to_owned()));
        assert_eq!(environment_in("hetzner-1", &set(&["production"])), None);
    }
}
