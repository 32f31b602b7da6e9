//! Where the rendered manifests of each cluster are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::{Resolver, word_route};
use crate::fleet::load::path_glob;
use crate::model::{Cluster, Route};

/// Where the rendered manifests of one cluster are.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The cluster.
    pub cluster: Arc<Cluster>,
    /// Paths or globs relative to the fleet file, with the cluster's values filled in.
    pub patterns: Vec<String>,
    /// Match the files, by path relative to the fleet file.
    globs: Vec<Glob>,
    /// The part that says so, and where in it.
    pub(in crate::fleet) part: usize,
    pub(in crate::fleet) route: Route,
}

/// The rendered trees of all clusters.
#[derive(Debug, Clone, Default)]
pub struct Trees {
    all: Vec<Tree>,
    /// The globs of all trees as one set: asking each tree would cost files times clusters.
    globs: GlobSet,
    /// For each glob of the set, the index of its tree.
    of_glob: Vec<usize>,
}

impl Trees {
    fn new(trees: Vec<Tree>) -> Result<Self, globset::Error> {
        let mut globs = GlobSetBuilder::new();
        let mut of_glob = Vec::new();
        for (index, tree) in trees.iter().enumerate() {
            for glob in &tree.globs {
                globs.add(glob.clone());
                of_glob.push(index);
            }
        }
        Ok(Self { globs: globs.build()?, all: trees, of_glob })
    }

    /// All of them, sorted by cluster.
    pub fn all(&self) -> &[Tree] {
        &self.all
    }

    /// Those that hold a file, named relative to the fleet file.
    pub fn holding(&self, path: &Utf8Path) -> impl Iterator<Item = &Tree> {
        let globs = self.globs.matches(path);
        let trees: BTreeSet<usize> =
            globs.into_iter().filter_map(|glob| self.of_glob.get(glob)).copied().collect();
        trees.into_iter().filter_map(|tree| self.all.get(tree))
    }
}

impl Resolver<'_> {
    pub(super) fn rendered(&mut self, clusters: &BTreeMap<Arc<str>, Arc<Cluster>>) -> Trees {
        let fleet_wide = self.parts.iter().position(|part| !part.document.rendered.is_empty()).unwrap_or(0);
        let own = self.document.clusters.values().filter(|c| c.0.rendered.is_empty()).count();
        if own > 1 {
            for (position, pattern) in self.document.rendered.0.iter().enumerate() {
                if !PLACEHOLDERS.iter().any(|(name, _)| pattern.contains(name)) {
                    let message = format!("`{pattern}` is the same for {own} clusters");
                    self.report(
                        fleet_wide,
                        "rendered-without-cluster",
                        &word_route("rendered", position),
                        message,
                        || "write where the clusters differ, such as `rendered/{cluster}`".to_owned(),
                    );
                }
            }
        }
        let mut trees = Vec::new();
        for (name, entry) in &self.document.clusters {
            let Some(cluster) = clusters.get(name.as_str()) else { continue };
            let own = !entry.0.rendered.is_empty();
            let words = if own { &entry.0.rendered } else { &self.document.rendered };
            let part = if own { self.owner(|d| d.clusters.contains_key(name)) } else { fleet_wide };
            let base = if own { Route::root().key("clusters").key(name) } else { Route::root() };
            let mut patterns = Vec::new();
            let mut globs = Vec::new();
            for pattern in &words.0 {
                match fill(pattern, cluster) {
                    Ok(glob) => {
                        let matchers =
                            [path_glob(&glob), path_glob(&format!("{}/**", glob.trim_end_matches('/')))];
                        for matcher in matchers {
                            match matcher {
                                Ok(matcher) => globs.push(matcher.glob().clone()),
                                Err(message) => {
                                    self.problems.push(self.problem(
                                        part,
                                        "glob",
                                        &base.key("rendered"),
                                        message,
                                    ));
                                    break;
                                }
                            }
                        }
                        patterns.push(glob);
                    }
                    Err(message) => {
                        self.problems.push(self.problem(part, "placeholder", &base.key("rendered"), message));
                    }
                }
            }
            if patterns.is_empty() {
                continue;
            }
            let route = if own { base.key("rendered") } else { Route::root().key("clusters").key(name) };
            let part = if own { part } else { self.owner(|d| d.clusters.contains_key(name)) };
            trees.push(Tree { cluster: Arc::clone(cluster), patterns, globs, part, route });
        }
        Trees::new(trees).unwrap_or_else(|error| {
            let route = Route::root().key("rendered");
            self.problems.push(self.problem(fleet_wide, "glob", &route, error.to_string()));
            Trees::default()
        })
    }
}

/// What a pattern of `rendered` can leave open, and the value of a cluster for it.
type Placeholder = (&'static str, fn(&Cluster) -> Option<&Arc<str>>);
const PLACEHOLDERS: [Placeholder; 4] = [
    ("{cluster}", |cluster| Some(&cluster.name)),
    ("{environment}", |cluster| Some(&cluster.environment)),
    ("{provider}", |cluster| cluster.provider.as_ref()),
    ("{region}", |cluster| cluster.region.as_ref()),
];

/// Fills in a cluster's values.
fn fill(pattern: &str, cluster: &Cluster) -> Result<String, String> {
    let mut filled = pattern.to_owned();
    for (placeholder, value) in PLACEHOLDERS {
        if !filled.contains(placeholder) {
            continue;
        }
        let Some(value) = value(cluster) else {
            return Err(format!(
                "`{pattern}` needs `{placeholder}`, which cluster `{}` does not have",
                cluster.name
            ));
        };
        filled = filled.replace(placeholder, &globset::escape(value));
    }
    let left = filled.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(name, _)| name);
    match left {
        Some(name) if !name.contains(',') => Err(format!(
            "`{{{name}}}` in `{pattern}` is not known; there are `{{cluster}}`, `{{environment}}`, `{{provider}}` and `{{region}}`"
        )),
        _ => Ok(filled),
    }
}
