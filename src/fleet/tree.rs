//! The files of the trees at hand, looked up by path.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobMatcher;

use super::paths::normal;
use super::walk::Found;
use super::{helm, kustomize};

/// The files at hand, and the roots of the repositories that they are in.
#[derive(Debug)]
pub(super) struct Files<'a> {
    found: &'a BTreeMap<Utf8PathBuf, Found>,
    /// Absolute paths to which the paths in Argo CD and Flux objects are relative: the Git root above
    /// a tree, and the tree itself, which may be a part of a repository without its root.
    pub(super) roots: Vec<Utf8PathBuf>,
    /// Files by directory.
    inside: BTreeMap<&'a Utf8Path, Vec<&'a Utf8Path>>,
    /// Files and directories below each root, by the way from there.
    below: Vec<(&'a str, &'a Utf8Path, What)>,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A file.
    File,
    /// A directory with a kustomization or a chart.
    Rendered,
    /// A directory with files of its own, none of which says how to render the others.
    Plain,
    /// A directory of directories.
    Bare,
}

impl<'a> Files<'a> {
    pub(super) fn new(files: &'a BTreeMap<Utf8PathBuf, Found>, roots: Vec<Utf8PathBuf>) -> Self {
        let mut inside: BTreeMap<&Utf8Path, Vec<&Utf8Path>> = BTreeMap::new();
        for path in files.keys() {
            inside.entry(path.parent().unwrap_or(path)).or_default().push(path);
        }
        let directories: BTreeSet<&Utf8Path> = inside.keys().flat_map(|dir| dir.ancestors()).collect();
        let kind = |dir: &Utf8Path| match inside.get(dir) {
            Some(files) if files.iter().any(|file| is_tool_file(file)) => What::Rendered,
            Some(_) => What::Plain,
            None => What::Bare,
        };
        let files_at_hand = files.keys().map(|path| (path.as_path(), What::File));
        let mut below = Vec::new();
        for (path, what) in files_at_hand.chain(directories.into_iter().map(|dir| (dir, kind(dir)))) {
            let ways = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
            below.extend(ways.filter(|way| !way.as_str().is_empty()).map(|way| (way.as_str(), path, what)));
        }
        Self { found: files, roots, inside, below }
    }

    /// Files in a directory and below, sorted.
    pub(super) fn under(&self, dir: &Utf8Path) -> impl Iterator<Item = &'a Utf8Path> + use<'a> {
        let dir = dir.to_owned();
        // Paths are ordered by their parts, so that what is below a directory stands together.
        let from = self.found.range(dir.clone()..).map(|(path, _)| path.as_path());
        from.take_while(move |path| path.starts_with(&dir))
    }

    /// Files in a directory, those in directories below it left out.
    pub(super) fn inside(&self, dir: &Utf8Path) -> &[&'a Utf8Path] {
        self.inside.get(dir).map(Vec::as_slice).unwrap_or_default()
    }

    /// The path of something in a repository at hand. Whose repository an object means cannot be told
    /// from its address alone (mirrors, forks, variables), so a path that exists here is taken to
    /// mean here.
    pub(super) fn in_repository(&self, path: &str) -> Option<Utf8PathBuf> {
        let path = path.trim_start_matches("./").trim_start_matches('/');
        self.roots.iter().map(|root| normal(&root.join(path))).find(|path| path.exists())
    }

    /// What stands at a path.
    pub(super) fn what(&self, path: &Utf8Path) -> What {
        match self.inside(path) {
            [] if self.found.contains_key(path) => What::File,
            [] => What::Bare,
            files if files.iter().any(|file| is_tool_file(file)) => What::Rendered,
            _ => What::Plain,
        }
    }

    /// Files and directories in a repository at hand that match a glob.
    pub(super) fn matching(&self, glob: &GlobMatcher) -> impl Iterator<Item = (&'a Utf8Path, What)> {
        let pattern = glob.glob().glob();
        let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let candidates = self.below.iter().filter(move |(way, ..)| way.starts_with(literal));
        candidates.filter(|(way, ..)| glob.is_match(way)).map(|(_, path, what)| (*path, *what))
    }

    /// Files in a repository at hand that match a glob.
    pub(super) fn files_matching(&self, glob: &GlobMatcher) -> impl Iterator<Item = Utf8PathBuf> {
        self.matching(glob).filter(|(_, what)| *what == What::File).map(|(path, _)| path.to_owned())
    }
}

/// Whether a file says how others are rendered.
pub(super) fn is_tool_file(path: &Utf8Path) -> bool {
    kustomize::is_kustomization(path) || path.file_name() == Some(helm::NAME)
}
