//! Reads a fleet out of Git objects: two revisions, what merging them gives, and what differs.
//!
//! Nothing is checked out, no reference moves, and nothing is written to the repository: objects that
//! a merge makes are kept in memory.

mod export;
mod merge;
mod open;
mod tree;

use camino::{Utf8Path, Utf8PathBuf};

pub use merge::{Change, Changed, Commit};
pub use tree::{Entry, Kind, Listing, Snapshot};

use crate::error::Result;
use crate::model::Problem;

/// A repository, opened for reading.
pub struct Repository {
    inner: git2::Repository,
    /// The working tree, with links resolved; none if the repository is bare.
    workdir: Option<Utf8PathBuf>,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("path", &self.inner.path()).finish_non_exhaustive()
    }
}

impl Repository {
    /// The repository to which `path` belongs: its working tree, or a bare repository. Linked working
    /// trees and a detached `HEAD` are as good as any other.
    pub fn open(path: &Utf8Path) -> Result<Self> {
        open::open(path)
    }

    /// The directory of the working tree, links resolved.
    pub fn workdir(&self) -> Option<&Utf8Path> {
        self.workdir.as_deref()
    }

    /// Where `path` is in the repository, if it is inside the working tree; the root is empty. The
    /// path need not exist, but the directory that holds it has to.
    pub fn inside(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let real = if let Ok(real) = path.canonicalize_utf8() {
            real
        } else {
            let dir = path.parent().filter(|dir| !dir.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
            dir.canonicalize_utf8().ok()?.join(path.file_name()?)
        };
        real.strip_prefix(self.workdir.as_ref()?).ok().map(ToOwned::to_owned)
    }
}

/// What Git could not do, as a problem.
fn failed(what: impl std::fmt::Display, error: &git2::Error) -> Problem {
    let problem = Problem::new("git", format!("{what}: {}", reason(error)));
    match error.code() {
        git2::ErrorCode::NotFound => problem.help(
            "an object is missing; a partial clone leaves out what it may fetch later: clone without `--filter`",
        ),
        _ => problem,
    }
}

/// The library's words, as ours begin and end.
fn reason(error: &git2::Error) -> String {
    let message = error.message().trim_end_matches('.');
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
