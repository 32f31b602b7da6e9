//! The state after a merge, worked out in memory, and what it changes.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use git2::{Delta, DiffOptions, ErrorCode, MergeOptions};

use super::tree::{Entry, Snapshot, path_of};
use super::{Repository, failed};
use crate::error::Result;
use crate::model::Problem;

/// A commit, by its full name in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Forty digits.
    pub id: String,
}

impl Commit {
    fn of(commit: &git2::Commit<'_>) -> Self {
        Self { id: commit.id().to_string() }
    }
}

/// The first ten digits.
impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id.get(..10).unwrap_or(&self.id))
    }
}

/// A path whose content differs between the base and the merged state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// From the root of the repository.
    pub path: Utf8PathBuf,
    /// What is there at the base; none if the change adds it.
    pub old: Option<Entry>,
    /// What the merge puts there; none if the change removes it.
    pub new: Option<Entry>,
}

/// What a change does to the branch that it is to be merged into.
#[derive(Debug, Clone)]
pub struct Change {
    /// The tip of the target branch.
    pub base: Commit,
    /// The head of the change. For a merge commit that a CI system made of both, the head that it
    /// merged.
    pub head: Commit,
    /// The merge commit that CI made, whose first parent is the base, if that was given as head.
    pub merge_commit: Option<Commit>,
    /// The state at the base.
    pub old: Snapshot,
    /// The state after the merge.
    pub new: Snapshot,
    /// What differs between the two, sorted. A moved file is one path less and one more.
    pub changed: Vec<Changed>,
    /// Paths that differ and are no text, as far as they can be shown.
    pub unreadable: Vec<String>,
    /// Whether the base has all of the head already.
    pub merged_already: bool,
}

impl Repository {
    /// Merges `head` into `base`. Conflicts, and histories that do not meet, are errors: what the
    /// change does cannot be told then.
    pub fn change(&self, base: &str, head: &str) -> Result<Change> {
        let base = self.commit("--base", base)?;
        let head = self.commit("--head", head)?;
        let merge_base = self.merge_base(&base, &head)?;
        let old = tree_of(&base)?;
        let new = if merge_base == base.id() {
            tree_of(&head)?
        } else if merge_base == head.id() {
            tree_of(&base)?
        } else {
            self.merge(&base, &head)?
        };
        let ci = head.parent_count() == 2 && head.parent_id(0).is_ok_and(|first| first == base.id());
        let merge_commit = ci.then(|| Commit::of(&head));
        let real_head = match ci.then(|| head.parent(1)) {
            // A shallow clone has the merge commit without its parents.
            Some(Ok(second)) => second,
            _ => head.clone(),
        };
        let mut change = Change {
            base: Commit::of(&base),
            head: Commit::of(&real_head),
            merge_commit,
            merged_already: merge_base == head.id(),
            changed: Vec::new(),
            unreadable: Vec::new(),
            old: Snapshot::of(&old),
            new: Snapshot::of(&new),
        };
        self.compare(&old, &new, &mut change)?;
        Ok(change)
    }

    fn merge_base(&self, base: &git2::Commit<'_>, head: &git2::Commit<'_>) -> Result<git2::Oid> {
        let (of, and) = (Commit::of(base), Commit::of(head));
        match self.inner.merge_base(base.id(), head.id()) {
            Ok(found) => Ok(found),
            Err(_) if self.inner.is_shallow() => Err(Problem::new(
                "shallow-history",
                format!("this clone is too shallow: it has no commit that {of} and {and} share"),
            )
            .help(
                "fetch the history: `git fetch --unshallow`, or in the step that checks out \
                 `fetch-depth: 0` (GitHub) or `GIT_DEPTH: 0` (GitLab)",
            )
            .into()),
            Err(error) if error.code() == ErrorCode::NotFound => {
                let message = format!("{of} and {and} have no history in common");
                Err(Problem::new("unrelated-histories", message)
                    .help("name the branch from which the change was made as `--base`")
                    .into())
            }
            Err(error) => Err(failed(format!("cannot compare {of} with {and}"), &error).into()),
        }
    }

    fn merge(&self, base: &git2::Commit<'_>, head: &git2::Commit<'_>) -> Result<git2::Tree<'_>> {
        let failed = |error| {
            let (base, head) = (Commit::of(base), Commit::of(head));
            failed(format!("cannot merge {head} into {base}"), &error)
        };
        let mut index = self.inner.merge_commits(base, head, Some(&MergeOptions::new())).map_err(failed)?;
        if index.has_conflicts() {
            let conflicts = index.conflicts().map_err(failed)?;
            let mut paths = Vec::new();
            for conflict in conflicts {
                let conflict = conflict.map_err(failed)?;
                let sides = [conflict.our, conflict.their, conflict.ancestor];
                paths.extend(sides.into_iter().flatten().next().map(|entry| shown(&entry.path)));
            }
            paths.sort();
            paths.dedup();
            return Err(conflict(&paths).into());
        }
        let tree = index.write_tree_to(&self.inner).map_err(failed)?;
        Ok(self.inner.find_tree(tree).map_err(failed)?)
    }

    fn compare(&self, old: &git2::Tree<'_>, new: &git2::Tree<'_>, change: &mut Change) -> Result<()> {
        if old.id() == new.id() {
            return Ok(());
        }
        let failed = |error| failed("cannot compare the base with the merged state", &error);
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true).ignore_submodules(false);
        let diff = self.inner.diff_tree_to_tree(Some(old), Some(new), Some(&mut options)).map_err(failed)?;
        for delta in diff.deltas() {
            let side = |file: &git2::DiffFile<'_>, absent| {
                (delta.status() != absent).then(|| Entry::of(file.id(), file.mode().into()))
            };
            let bytes = delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes());
            let bytes = bytes.unwrap_or_default();
            match path_of(bytes) {
                None => change.unreadable.push(shown(bytes)),
                Some(path) => change.changed.push(Changed {
                    path,
                    old: side(&delta.old_file(), Delta::Added),
                    new: side(&delta.new_file(), Delta::Deleted),
                }),
            }
        }
        change.changed.sort();
        change.unreadable.sort();
        Ok(())
    }
}

fn tree_of<'r>(commit: &git2::Commit<'r>) -> Result<git2::Tree<'r>> {
    Ok(commit.tree().map_err(|error| failed(format!("cannot read the tree of {}", commit.id()), &error))?)
}

/// A name that may be no text, as far as it is.
fn shown(path: &[u8]) -> String {
    path.escape_ascii().to_string()
}

fn conflict(paths: &[String]) -> Problem {
    const MOST: usize = 5;
    let mut named: Vec<String> = paths.iter().take(MOST).map(|path| format!("`{path}`")).collect();
    if paths.len() > MOST {
        named.push(format!("{} more", paths.len() - MOST));
    }
    let mut problem =
        Problem::new("merge-conflict", format!("the change conflicts with its base in {}", named.join(", ")))
            .help("rebase the change on its base, or merge the base into it, and check again");
    problem.file = paths.first().map(|path| std::sync::Arc::new(Utf8Path::new(path).to_owned()));
    problem
}
