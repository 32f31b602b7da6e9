//! Opening a repository and finding revisions in it.

use camino::{Utf8Path, Utf8PathBuf};
use git2::ErrorCode;

use super::{Repository, failed, reason};
use crate::error::Result;
use crate::model::Problem;

/// Above every backend that a repository has, so that new objects go nowhere else.
const FIRST: i32 = i32::MAX;

pub(super) fn open(path: &Utf8Path) -> Result<Repository> {
    let inner = git2::Repository::discover(path).map_err(|error| match error.code() {
        ErrorCode::NotFound => Problem::new("no-repository", format!("`{path}` is in no Git repository"))
            .help("run this inside the repository whose change is to be judged"),
        ErrorCode::Owner => Problem::new(
            "unsafe-repository",
            format!("the repository of `{path}` belongs to another user, so Git does not trust it"),
        )
        .help("if you do: `git config --global --add safe.directory DIRECTORY`, with its full path"),
        _ => Problem::new("git", format!("cannot open the repository of `{path}`: {}", reason(&error))).help(
            "a partial clone and other extensions of the format cannot be read: clone without `--filter`",
        ),
    })?;
    let workdir = match inner.workdir() {
        None => None,
        Some(dir) => Some(real(dir)?),
    };
    let odb = inner.odb().map_err(|error| failed("cannot read the repository's objects", &error))?;
    odb.add_new_mempack_backend(FIRST)
        .map_err(|error| failed("cannot keep the objects of a merge in memory", &error))?;
    drop(odb);
    Ok(Repository { inner, workdir })
}

fn real(dir: &std::path::Path) -> Result<Utf8PathBuf> {
    let unreadable = |why: &str| Problem::new("git", format!("the working tree `{}` {why}", dir.display()));
    let dir = Utf8Path::from_path(dir).ok_or_else(|| unreadable("has a name that is no text"))?;
    Ok(dir.canonicalize_utf8().map_err(|error| unreadable(&format!("cannot be read: {error}")))?)
}

impl Repository {
    /// The commit that `revision` names; `option` is how it was given.
    pub(super) fn commit(&self, option: &str, revision: &str) -> Result<git2::Commit<'_>> {
        let object = self.inner.revparse_single(revision).map_err(|error| {
            let problem =
                |message: String| Problem::new("unknown-revision", format!("{option} {revision}: {message}"));
            match error.code() {
                ErrorCode::NotFound => {
                    problem("there is no such revision here".to_owned()).help(self.missing(revision))
                }
                ErrorCode::Ambiguous => problem("more than one object begins so".to_owned())
                    .help("write more of the digits, or the whole name of the reference"),
                _ => problem(reason(&error)),
            }
        })?;
        Ok(object.peel_to_commit().map_err(|_| {
            Problem::new("unknown-revision", format!("{option} {revision}: it is no commit"))
                .help("name a branch, a tag of a commit, or a commit")
        })?)
    }

    /// What to do about a revision that is not there.
    fn missing(&self, revision: &str) -> String {
        if self.inner.find_reference(&format!("refs/remotes/origin/{revision}")).is_ok() {
            return format!("did you mean `origin/{revision}`?");
        }
        let branch = revision.strip_prefix("origin/").unwrap_or(revision);
        format!(
            "fetch it: `git fetch origin {branch}`, or in the step that checks out `fetch-depth: 0` (GitHub) \
             or `GIT_DEPTH: 0` (GitLab)"
        )
    }
}
