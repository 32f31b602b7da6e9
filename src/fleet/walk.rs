//! Walks directories: every file once, in sorted order, links with care.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};
use walkdir::WalkDir;

use super::discovery::Skipped;
use super::paths::{is_structured, openable, tidy};
use crate::model::Problem;

/// More files than this are a mistake, such as a link farm or the root of a machine.
const MOST_FILES: usize = 2_000_000;

/// One directory or file that was named.
#[derive(Debug, Clone)]
pub(super) struct Root {
    /// As shown to people.
    pub(super) shown: Utf8PathBuf,
    /// With all links resolved.
    pub(super) real: Utf8PathBuf,
}

/// A file that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// As shown to people, and as opened.
    pub(super) shown: Utf8PathBuf,
    /// Whether it, or a directory that holds it, was named.
    pub(super) judged: bool,
    /// Whether it was named itself.
    pub(super) named: bool,
}

/// What a walk has found. Paths that are keys are absolute: the real path of the root, then the way
/// from there, links on that way left as they are.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: BTreeMap<Utf8PathBuf, Found>,
    pub(super) skipped: BTreeMap<Utf8PathBuf, Skipped>,
    pub(super) problems: Vec<Problem>,
}

impl Walked {
    /// Resolves a path that was named; one that does not exist is a problem.
    pub(super) fn root(&mut self, path: &Utf8Path) -> Option<Root> {
        let shown = tidy(path);
        match openable(&shown).canonicalize_utf8() {
            Ok(real) => Some(Root { shown, real }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let problem = Problem::new("no-such-path", format!("`{path}` does not exist"));
                self.problems.push(problem.help("name a file or directory that exists").in_file(path));
                None
            }
            Err(error) => {
                self.problems.push(unreadable(path, &error));
                None
            }
        }
    }

    /// Adds the files under `root`. `deployed` says of an absolute path whether a cluster runs what
    /// is there, so that nothing there may be passed over.
    pub(super) fn walk(&mut self, root: &Root, judged: bool, deployed: &dyn Fn(&Utf8Path) -> bool) {
        if root.real.is_file() {
            self.add(root.real.clone(), root.shown.clone(), judged, judged);
        } else if root.real.is_dir() {
            self.directory(root, &root.shown, &root.real, None, judged, deployed);
        } else {
            self.problems.push(irregular(&root.shown));
        }
    }

    fn add(&mut self, path: Utf8PathBuf, shown: Utf8PathBuf, judged: bool, named: bool) {
        let found = self.files.entry(path).or_insert(Found { shown, judged, named });
        found.judged |= judged;
        found.named |= named;
    }

    /// Walks one directory, `at` being its absolute path. `link` is the link through which it was
    /// reached: a link is followed once, not inside another one, so that the work stays bounded.
    fn directory(
        &mut self,
        root: &Root,
        shown: &Utf8Path,
        at: &Utf8Path,
        link: Option<&Utf8Path>,
        judged: bool,
        deployed: &dyn Fn(&Utf8Path) -> bool,
    ) {
        let walk = WalkDir::new(openable(shown)).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| entry.file_name() != ".git") {
            if self.files.len() > MOST_FILES {
                let message = format!("`{}` has more than {MOST_FILES} files", openable(&root.shown));
                self.problems
                    .push(Problem::new("too-many-files", message).help("name the directories to judge"));
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.walk_error(&error, shown);
                    continue;
                }
            };
            let Some(path) = Utf8Path::from_path(entry.path()) else {
                let message = format!("the path `{}` is not UTF-8", entry.path().display());
                self.problems.push(Problem::new("path-not-utf8", message).help("rename it"));
                continue;
            };
            let path = tidy(path);
            let inside = path.strip_prefix(shown).unwrap_or(&path);
            let absolute = if inside.as_str().is_empty() { at.to_owned() } else { at.join(inside) };
            let kind = entry.file_type();
            if kind.is_file() {
                if is_structured(&path) || is_tool_file(&path) {
                    self.add(absolute, path, judged, false);
                }
            } else if kind.is_symlink() {
                self.link(root, &path, absolute, link, judged, deployed);
            } else if !kind.is_dir() && deployed(&absolute) {
                self.problems.push(irregular(&path));
            } else if !kind.is_dir() && is_structured(&path) {
                self.skip(absolute, path, "neither a file nor a directory".to_owned());
            }
        }
    }

    /// A link counts as what it leads to, if that lies in the same tree.
    fn link(
        &mut self,
        root: &Root,
        shown: &Utf8Path,
        absolute: Utf8PathBuf,
        outer: Option<&Utf8Path>,
        judged: bool,
        deployed: &dyn Fn(&Utf8Path) -> bool,
    ) {
        let matters = is_structured(shown) || is_tool_file(shown);
        let target = match shown.canonicalize_utf8() {
            Ok(target) => target,
            Err(error) => {
                if matters || deployed(&absolute) {
                    let message = format!("the link `{shown}` leads nowhere: {error}");
                    let help = "correct or remove the link, or exclude it";
                    self.problems.push(Problem::new("broken-link", message).help(help).in_file(shown));
                } else {
                    self.skip(absolute, shown.to_owned(), "a link that leads nowhere".to_owned());
                }
                return;
            }
        };
        let directory = target.is_dir();
        if !directory && !matters {
            return;
        }
        let why = if !target.starts_with(&root.real) {
            format!("a link that leads outside `{}`", openable(&root.shown))
        } else if directory && absolute.starts_with(&target) {
            self.skip(absolute, shown.to_owned(), "a link to a directory that it lies in".to_owned());
            return;
        } else if let (true, Some(outer)) = (directory, outer) {
            format!("a link to a directory, reached through the link `{outer}`")
        } else if directory {
            self.directory(root, shown, &absolute, Some(shown), judged, deployed);
            return;
        } else {
            self.add(absolute, shown.to_owned(), judged, false);
            return;
        };
        if deployed(&absolute) {
            let message = format!("`{shown}` is {why}, and is not followed");
            let help = "put what the cluster runs into its tree";
            self.problems.push(Problem::new("link-not-followed", message).help(help).in_file(shown));
        } else {
            self.skip(absolute, shown.to_owned(), format!("{why}: not followed"));
        }
    }

    fn skip(&mut self, path: Utf8PathBuf, file: Utf8PathBuf, reason: String) {
        self.skipped.insert(path, Skipped { file, reason });
    }

    fn walk_error(&mut self, error: &walkdir::Error, under: &Utf8Path) {
        let path = error.path().and_then(Utf8Path::from_path).map_or_else(|| under.to_owned(), tidy);
        let problem = match error.io_error() {
            Some(error) => unreadable(&path, error),
            None => Problem::new("unreadable", format!("cannot read `{path}`: {error}")).in_file(path),
        };
        self.problems.push(problem);
    }
}

/// A file without an extension that decides how others are rendered.
pub(super) fn is_tool_file(path: &Utf8Path) -> bool {
    path.file_name() == Some("Kustomization")
}

fn irregular(path: &Utf8Path) -> Problem {
    Problem::new("irregular-file", format!("`{path}` is neither a file nor a directory"))
        .help("to judge what comes out of a pipe, write `-` and send it to standard input")
        .in_file(path)
}

fn unreadable(path: &Utf8Path, error: &std::io::Error) -> Problem {
    Problem::new("unreadable", format!("cannot read `{path}`: {error}"))
        .help("make it readable, or exclude it with a reason")
        .in_file(path)
}
