//! The files of the trees at hand, looked up by path.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobMatcher;

use super::paths::normal;
use super::walk::Found;

/// The files at hand, and the roots of the repositories that they are in.
#[derive(Debug)]
pub(super) struct Files<'a> {
    pub(super) files: &'a BTreeMap<Utf8PathBuf, Found>,
    /// Absolute paths to which the paths in Argo CD and Flux objects are relative: the Git root above
    /// a tree, and the tree itself, which may be a part of a repository without its root.
    pub(super) roots: Vec<Utf8PathBuf>,
}

impl<'a> Files<'a> {
    /// Files in a directory and below, sorted.
    pub(super) fn under(&self, dir: &Utf8Path) -> impl Iterator<Item = &'a Utf8Path> {
        let dir = dir.to_owned();
        self.files
            .range(dir.clone()..)
            .map(|(path, _)| path.as_path())
            // Siblings such as `a.yaml` and `a-b` sort between `a` and `a/x`.
            .take_while({
                let dir = dir.clone();
                move |path| path.as_str().starts_with(dir.as_str())
            })
            .filter(move |path| path.starts_with(&dir))
    }

    /// The path of something in a repository at hand. Whose repository an object means cannot be told
    /// from its address alone (mirrors, forks, variables), so a path that exists here is taken to
    /// mean here.
    pub(super) fn in_repository(&self, path: &str) -> Option<Utf8PathBuf> {
        let path = path.trim_start_matches("./").trim_start_matches('/');
        self.roots.iter().map(|root| normal(&root.join(path))).find(|path| path.exists())
    }

    /// Files and directories in a repository at hand that match a glob.
    pub(super) fn matching(&self, glob: &GlobMatcher) -> Vec<Utf8PathBuf> {
        let mut found = Vec::new();
        for root in &self.roots {
            for file in self.under(root) {
                for path in file.ancestors().take_while(|path| *path != root) {
                    if path.strip_prefix(root).is_ok_and(|relative| glob.is_match(relative)) {
                        found.push(path.to_owned());
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}
