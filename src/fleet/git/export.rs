//! Files of a snapshot on disk, for what works on files.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::tree::{Entry, Kind, Listing};
use super::{Repository, failed};
use crate::error::Result;
use crate::model::Problem;

/// A chain of links that is longer leads nowhere.
const MOST_LINKS: usize = 16;

impl Repository {
    /// Writes those of `paths` that `listing` has below `dir`, and what links among them lead to.
    /// A file of more than `most` bytes becomes one of the same size that holds nothing, so that
    /// whoever reads it says that it is too large.
    pub fn export<'p>(
        &self,
        listing: &Listing,
        paths: impl IntoIterator<Item = &'p Utf8Path>,
        dir: &Utf8Path,
        most: usize,
    ) -> Result<()> {
        let mut written = BTreeSet::new();
        for path in paths {
            self.write(listing, path, dir, most, &mut written, 0)?;
        }
        Ok(())
    }

    /// Whether a file is the pointer that Git LFS keeps in its place.
    pub fn is_lfs_pointer(&self, path: &Utf8Path, entry: Entry) -> Result<bool> {
        const LARGEST: usize = 1024;
        if entry.kind != Kind::File || self.size(path, entry)? >= LARGEST {
            return Ok(false);
        }
        Ok(self.read(path, entry, LARGEST)?.starts_with(b"version https://git-lfs.github.com/spec/"))
    }

    fn write(
        &self,
        listing: &Listing,
        path: &Utf8Path,
        dir: &Utf8Path,
        most: usize,
        written: &mut BTreeSet<Utf8PathBuf>,
        links: usize,
    ) -> Result<()> {
        let Some(entry) = listing.entries.get(path) else { return Ok(()) };
        if entry.kind == Kind::Submodule || !written.insert(path.to_owned()) {
            return Ok(());
        }
        let file = dir.join(path);
        let unwritable = |error: std::io::Error| {
            Problem::new("export", format!("cannot write `{path}` to a temporary directory: {error}"))
        };
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(unwritable)?;
        }
        match entry.kind {
            Kind::Submodule => {}
            Kind::File => self.write_file(path, *entry, &file, most)?,
            Kind::Link => {
                let target = self.read(path, *entry, 4096)?;
                let target = String::from_utf8_lossy(&target).into_owned();
                link(&target, &file).map_err(unwritable)?;
                let Some(target) = followed(path, &target).filter(|_| links < MOST_LINKS) else {
                    return Ok(());
                };
                self.write(listing, &target, dir, most, written, links + 1)?;
                let below: Vec<&Utf8PathBuf> = listing
                    .entries
                    .range(target.join("")..)
                    .map(|(path, _)| path)
                    .take_while(|path| path.starts_with(&target))
                    .collect();
                for path in below {
                    self.write(listing, path, dir, most, written, links + 1)?;
                }
            }
        }
        Ok(())
    }

    fn write_file(&self, path: &Utf8Path, entry: Entry, file: &Utf8Path, most: usize) -> Result<()> {
        let unwritable = |error: std::io::Error| {
            Problem::new("export", format!("cannot write `{path}` to a temporary directory: {error}"))
        };
        let size = self.size(path, entry)?;
        if size > most {
            let size = u64::try_from(size).unwrap_or(u64::MAX);
            fs::File::create(file).and_then(|file| file.set_len(size)).map_err(unwritable)?;
            return Ok(());
        }
        let blob = self
            .inner
            .find_blob(entry.id)
            .map_err(|error| failed(format!("cannot read `{path}`"), &error).in_file(path))?;
        fs::write(file, blob.content()).map_err(unwritable)?;
        Ok(())
    }
}

/// Where a link at `path` leads within the repository.
fn followed(path: &Utf8Path, target: &str) -> Option<Utf8PathBuf> {
    let mut at = path.parent()?.to_owned();
    for part in Utf8Path::new(target).components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !at.pop() {
                    return None;
                }
            }
            Utf8Component::Normal(name) => at.push(name),
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(at)
}

#[cfg(unix)]
fn link(target: &str, file: &Utf8Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, file)
}

/// Without links the text of the link stands there, as Git itself does it.
#[cfg(not(unix))]
fn link(target: &str, file: &Utf8Path) -> std::io::Result<()> {
    fs::write(file, target)
}
