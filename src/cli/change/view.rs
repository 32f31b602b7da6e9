//! One state of the repository, as far as it is needed, in a private directory.
//!
//! The command works inside it, so that everything that reads files reads this state, and every path
//! that is shown is a path of the repository.

use std::collections::BTreeSet;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::error::Error;
use crate::fleet::git::{Entry, Listing, Repository, Snapshot};
use crate::manifest::corpus::Limits;
use crate::model::Problem;

/// No file system takes a longer link.
const MOST_LINK_BYTES: usize = 4096;

/// A state of the repository.
#[derive(Debug)]
pub(super) struct View<'r> {
    repository: &'r Repository,
    pub(super) listing: Listing,
    dir: TempDir,
    path: Utf8PathBuf,
    there: BTreeSet<Utf8PathBuf>,
}

impl<'r> View<'r> {
    pub(super) fn new(repository: &'r Repository, snapshot: Snapshot) -> Result<Self, Error> {
        let failed =
            |why: String| Problem::new("export", format!("cannot make a temporary directory: {why}"));
        let dir = tempfile::Builder::new()
            .prefix("fleetgate-")
            .tempdir()
            .map_err(|error| failed(error.to_string()))?;
        let path = Utf8PathBuf::from_path_buf(dir.path().to_owned())
            .map_err(|path| failed(format!("`{}` is no text", path.display())))?;
        // Paths of applications are relative to the root of the repository, which this shows.
        std::fs::create_dir(path.join(".git")).map_err(|error| failed(error.to_string()))?;
        Ok(Self { repository, listing: repository.list(snapshot)?, dir, path, there: BTreeSet::new() })
    }

    /// Makes those of `paths` that exist in this state readable.
    pub(super) fn export(&mut self, paths: impl IntoIterator<Item = Utf8PathBuf>) -> Result<(), Error> {
        let wanted: Vec<Utf8PathBuf> = paths.into_iter().filter(|path| !self.there.contains(path)).collect();
        let most = usize::try_from(Limits::default().file_bytes).unwrap_or(usize::MAX);
        let missing = |path: &&Utf8PathBuf| self.path.join(path).symlink_metadata().is_err();
        let new = wanted.iter().filter(missing).map(Utf8PathBuf::as_path);
        self.repository.export(&self.listing, new, &self.path, most)?;
        self.there.extend(wanted);
        Ok(())
    }

    /// Whether there is anything at this path or below it.
    pub(super) fn has(&self, path: &Utf8Path) -> bool {
        self.listing.entries.contains_key(path)
    }

    /// The paths that are or lie below `path`; all of them for the empty path.
    pub(super) fn below(&self, path: &Utf8Path) -> Vec<Utf8PathBuf> {
        let inside = |entry: &&Utf8PathBuf| path.as_str().is_empty() || entry.starts_with(path);
        self.listing.entries.keys().filter(inside).cloned().collect()
    }

    /// Makes sure that a directory is there, if only an empty one.
    pub(super) fn make_directory(&self, dir: &Utf8Path) -> Result<(), Error> {
        Ok(std::fs::create_dir_all(self.path.join(dir))
            .map_err(|error| Problem::new("export", format!("cannot make the directory `{dir}`: {error}")))?)
    }

    /// Where a link leads, as it is written.
    pub(super) fn read_link(&self, path: &Utf8Path, entry: Entry) -> Result<String, Error> {
        let target = self.repository.read(path, entry, MOST_LINK_BYTES)?;
        Ok(String::from_utf8_lossy(&target).into_owned())
    }

    /// Works inside this state until the guard is dropped.
    pub(super) fn enter(&self) -> Result<Inside, Error> {
        let failed = |error: std::io::Error| {
            Problem::new("export", format!("cannot work in `{}`: {error}", self.dir.path().display()))
        };
        let back = std::env::current_dir().map_err(failed)?;
        std::env::set_current_dir(&self.path).map_err(failed)?;
        Ok(Inside { back })
    }
}

/// The working directory is a [`View`]'s as long as this lives.
#[derive(Debug)]
pub(super) struct Inside {
    back: PathBuf,
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Nothing is read from the place from which we came, and a view that is entered again is
        // named by its full path.
        let _ = std::env::set_current_dir(&self.back);
    }
}
