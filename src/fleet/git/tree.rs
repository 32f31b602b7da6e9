//! What is in a tree.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::{Repository, failed};
use crate::error::Result;
use crate::model::Problem;

/// The state of all files at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    pub(super) tree: git2::Oid,
}

impl Snapshot {
    pub(super) fn of(tree: &git2::Tree<'_>) -> Self {
        Self { tree: tree.id() }
    }
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    pub(super) id: git2::Oid,
}

/// What a tree can hold beside directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl Entry {
    pub(super) fn of(id: git2::Oid, mode: u32) -> Self {
        let kind = match mode & 0o170_000 {
            0o120_000 => Kind::Link,
            0o160_000 => Kind::Submodule,
            _ => Kind::File,
        };
        Self { kind, id }
    }
}

/// All that a snapshot holds.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// By path from the root of the repository.
    pub entries: BTreeMap<Utf8PathBuf, Entry>,
    /// Paths that are no text, or that no file system takes, as far as they can be shown.
    pub unreadable: Vec<String>,
}

/// Deeper trees are made to hurt.
const MOST_LEVELS: usize = 256;

impl Repository {
    /// Everything that `snapshot` holds.
    pub fn list(&self, snapshot: Snapshot) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut todo = vec![(Utf8PathBuf::new(), snapshot.tree, 0)];
        while let Some((dir, id, level)) = todo.pop() {
            if level > MOST_LEVELS {
                let message = format!("`{dir}` lies deeper than {MOST_LEVELS} directories");
                return Err(Problem::new("git", message).in_file(dir).into());
            }
            let tree = self.inner.find_tree(id).map_err(|error| {
                failed(format!("cannot read the directory `{dir}`"), &error).in_file(&dir)
            })?;
            for entry in &tree {
                let Some(name) = path_of(entry.name_bytes()).filter(|name| name.components().count() == 1)
                else {
                    let name = entry.name_bytes().escape_ascii();
                    listing.unreadable.push(dir.join(name.to_string()).into_string());
                    continue;
                };
                let path = dir.join(name);
                if entry.kind() == Some(git2::ObjectType::Tree) {
                    todo.push((path, entry.id(), level + 1));
                } else {
                    let mode = u32::try_from(entry.filemode()).unwrap_or_default();
                    listing.entries.insert(path, Entry::of(entry.id(), mode));
                }
            }
        }
        listing.unreadable.sort();
        Ok(listing)
    }

    /// What a file holds, or where a link leads; no more than `most` bytes.
    ///
    /// # Errors
    /// Larger ones, submodules, and objects that are not there.
    pub fn read(&self, path: &Utf8Path, entry: Entry, most: usize) -> Result<Vec<u8>> {
        let failed = |error| failed(format!("cannot read `{path}`"), &error).in_file(path);
        let size = self.size(path, entry)?;
        if size > most {
            let message = format!("`{path}` holds {size} bytes, more than {most}");
            return Err(Problem::new("file-too-large", message).in_file(path).into());
        }
        Ok(self.inner.find_blob(entry.id).map_err(failed)?.content().to_vec())
    }

    /// How many bytes a file holds, without reading it.
    pub(super) fn size(&self, path: &Utf8Path, entry: Entry) -> Result<usize> {
        let failed = |error| failed(format!("cannot read `{path}`"), &error).in_file(path);
        if entry.kind == Kind::Submodule {
            return Err(Problem::new("submodule", format!("`{path}` is a submodule")).in_file(path).into());
        }
        let odb = self.inner.odb().map_err(failed)?;
        Ok(odb.read_header(entry.id).map_err(failed)?.0)
    }
}

/// A path that is text and leads nowhere but down.
pub(super) fn path_of(bytes: &[u8]) -> Option<Utf8PathBuf> {
    let path = Utf8Path::new(std::str::from_utf8(bytes).ok()?);
    let plain = |part: Utf8Component<'_>| match part {
        Utf8Component::Normal(name) => !name.eq_ignore_ascii_case(".git") && !name.contains('\0'),
        _ => false,
    };
    let tidy = !path.as_str().is_empty() && path.components().all(plain);
    tidy.then(|| path.to_owned())
}
