//! Repositories made by `git` itself.

use std::process::Command;

use camino::Utf8Path;

use super::*;
use crate::error::Error;

/// A repository in a temporary directory.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits these files with everything else that is there.
    fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "c"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn change(&self, base: &str, head: &str) -> Result<Change> {
        Repository::open(self.path())?.change(base, head)
    }
}

fn git(dir: &Utf8Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// `-old`, `+new` or `~both`, with the path.
fn paths(change: &Change) -> Vec<String> {
    let sign = |changed: &Changed| match (changed.old, changed.new) {
        (Some(_), Some(_)) => '~',
        (Some(_), None) => '-',
        _ => '+',
    };
    change.changed.iter().map(|changed| format!("{}{}", sign(changed), changed.path)).collect()
}

#[track_caller]
fn code<T: std::fmt::Debug>(result: Result<T>) -> (&'static str, String) {
    match result.unwrap_err() {
        Error::Problems(problems) => {
            let problem = problems.into_iter().next().unwrap();
            (problem.code, format!("{}; {}", problem.message, problem.help.unwrap_or_default()))
        }
        other @ Error::Write { .. } => panic!("{other:?}"),
    }
}

/// A base that has moved on, and a branch from before that.
fn diverged() -> Scratch {
    let scratch = Scratch::new();
    scratch.commit(&[("a.yaml", "a: 1\n"), ("b.yaml", "b: 1\n"), ("c.yaml", "c: 1\n")]);
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.commit(&[("b.yaml", "b: 2\n"), ("d.yaml", "d: 1\n")]);
    scratch.git(&["rm", "-q", "c.yaml"]);
    scratch.commit(&[]);
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit(&[("a.yaml", "a: 2\n")]);
    scratch
}

#[test]
fn what_the_base_did_since_is_no_part_of_the_change() {
    let scratch = diverged();
    let before = scratch.git(&["count-objects", "-v"]);
    let change = scratch.change("main", "topic").unwrap();
    assert_eq!(paths(&change), ["~b.yaml", "-c.yaml", "+d.yaml"]);
    assert_eq!(change.merge_commit, None);
    let repository = Repository::open(scratch.path()).unwrap();
    let change = repository.change("main", "topic").unwrap();
    let merged = repository.list(change.new).unwrap();
    let text = |path: &str| repository.read(Utf8Path::new(path), merged.entries[Utf8Path::new(path)], 99);
    assert_eq!((text("a.yaml").unwrap(), text("b.yaml").unwrap()), (b"a: 2\n".into(), b"b: 2\n".into()));
    assert_eq!(scratch.git(&["count-objects", "-v"]), before, "nothing was written");
    assert_eq!(
        code(repository.read(Utf8Path::new("a.yaml"), merged.entries[Utf8Path::new("a.yaml")], 3)).0,
        "file-too-large"
    );
}

#[test]
fn a_merge_commit_of_ci_is_recognised_and_approvals_bind_to_the_head_it_merged() {
    let scratch = diverged();
    let (main, topic) = (scratch.git(&["rev-parse", "main"]), scratch.git(&["rev-parse", "topic"]));
    scratch.git(&["checkout", "-q", "--detach", "main"]);
    scratch.git(&["merge", "-q", "--no-ff", "-m", "m", "topic"]);
    let change = scratch.change(&main, "HEAD").unwrap();
    assert_eq!(change.head.id, topic);
    assert_eq!(change.merge_commit.as_ref().unwrap().id, scratch.git(&["rev-parse", "HEAD"]));
    assert_eq!(paths(&change), ["~b.yaml", "-c.yaml", "+d.yaml"]);
}

#[test]
fn nothing_to_merge_changes_nothing() {
    let scratch = diverged();
    let change = scratch.change("main", "main").unwrap();
    assert!(change.merged_already && change.changed.is_empty());
    scratch.git(&["merge", "-q", "-m", "m", "topic"]);
    let change = scratch.change("main", "topic").unwrap();
    assert!(change.merged_already && change.changed.is_empty());
}

#[test]
fn a_conflict_names_its_files_and_says_rebase() {
    let scratch = diverged();
    scratch.commit(&[("b.yaml", "b: 3\n")]);
    let (code, text) = code(scratch.change("main", "topic"));
    assert_eq!(code, "merge-conflict");
    assert!(text.contains("`b.yaml`") && text.contains("rebase"), "{text}");
}

#[test]
fn o37_a_shallow_clone_without_a_merge_base_is_no_change_of_nothing() {
    let scratch = diverged();
    let clone = tempfile::tempdir().unwrap();
    let clone = Utf8Path::from_path(clone.path()).unwrap();
    let url = format!("file://{}", scratch.path());
    git(clone, &["clone", "-q", "--depth", "1", "--no-single-branch", &url, "."]);
    let repository = Repository::open(clone).unwrap();
    let (found, text) = code(repository.change("origin/main", "origin/topic"));
    assert_eq!(found, "shallow-history");
    assert!(text.contains("git fetch --unshallow") && text.contains("fetch-depth: 0"), "{text}");
    git(clone, &["fetch", "-q", "--unshallow"]);
    let repository = Repository::open(clone).unwrap();
    assert_eq!(paths(&repository.change("origin/main", "origin/topic").unwrap()).len(), 3);
}

#[test]
fn unrelated_histories_and_revisions_that_are_not_there_are_errors() {
    let scratch = diverged();
    let (found, text) = code(scratch.change("nowhere", "topic"));
    assert_eq!(found, "unknown-revision");
    assert!(text.contains("--base nowhere") && text.contains("git fetch origin nowhere"), "{text}");
    assert_eq!(code(scratch.change("main", "main:a.yaml")).0, "unknown-revision");
    scratch.git(&["update-ref", "refs/remotes/origin/release", "main"]);
    assert!(code(scratch.change("release", "topic")).1.contains("did you mean `origin/release`?"));
    scratch.git(&["checkout", "-q", "--orphan", "other"]);
    scratch.commit(&[("z", "")]);
    assert_eq!(code(scratch.change("main", "other")).0, "unrelated-histories");
}

#[test]
fn bare_repositories_linked_working_trees_and_a_detached_head_are_read() {
    let scratch = diverged();
    let bare = tempfile::tempdir().unwrap();
    let bare = Utf8Path::from_path(bare.path()).unwrap();
    git(bare, &["clone", "-q", "--bare", scratch.path().as_str(), "."]);
    let repository = Repository::open(bare).unwrap();
    assert_eq!(repository.workdir(), None);
    assert_eq!(repository.change("main", "topic").unwrap().changed.len(), 3);

    let linked = tempfile::tempdir().unwrap();
    let linked = Utf8Path::from_path(linked.path()).unwrap().join("w");
    scratch.git(&["worktree", "add", "-q", "--detach", linked.as_str(), "topic"]);
    let repository = Repository::open(&linked).unwrap();
    assert_eq!(repository.change("main", "HEAD").unwrap().changed.len(), 3);
    assert_eq!(repository.inside(&linked.join("b.yaml")).unwrap(), "b.yaml");
    assert_eq!(repository.inside(&linked).unwrap(), "");
    assert_eq!(repository.inside(scratch.path()), None);
}

#[test]
fn no_repository_is_said_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap();
    assert_eq!(code(Repository::open(path)).0, "no-repository");
}

#[cfg(unix)]
#[test]
fn o38_names_beyond_ascii_are_read_and_names_that_are_no_text_are_told() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::new();
    scratch.commit(&[]);
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.write("prod/é \"x\".yaml", "a: 1\n");
    std::fs::write(scratch.path().as_std_path().join(std::ffi::OsStr::from_bytes(b"caf\xE9.yaml")), "")
        .unwrap();
    scratch.commit(&[]);
    let change = scratch.change("main", "topic").unwrap();
    assert_eq!(paths(&change), ["+prod/é \"x\".yaml"]);
    assert_eq!(change.unreadable, ["caf\\xe9.yaml"]);
    let repository = Repository::open(scratch.path()).unwrap();
    assert_eq!(repository.list(change.new).unwrap().unreadable, ["caf\\xe9.yaml"]);
}

#[cfg(unix)]
#[test]
fn links_and_submodules_are_what_they_are_and_links_are_exported_with_what_they_lead_to() {
    let scratch = Scratch::new();
    scratch.commit(&[]);
    let (own, other) = (Scratch::new(), "vendor");
    own.commit(&[("x.yaml", "x: 1\n")]);
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.git(&["submodule", "--quiet", "add", own.path().as_str(), other]);
    scratch.write("real/deep.yaml", "d: 1\n");
    for (target, link) in
        [("../real", "links/dir"), ("nowhere", "links/dead"), ("links", "loop"), ("../../..", "links/out")]
    {
        std::fs::create_dir_all(scratch.path().join("links")).unwrap();
        std::os::unix::fs::symlink(target, scratch.path().join(link)).unwrap();
    }
    scratch.commit(&[]);
    let repository = Repository::open(scratch.path()).unwrap();
    let change = repository.change("main", "topic").unwrap();
    let listing = repository.list(change.new).unwrap();
    assert_eq!(listing.entries[Utf8Path::new("vendor")].kind, Kind::Submodule);
    assert_eq!(listing.entries[Utf8Path::new("links/dir")].kind, Kind::Link);

    let out = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(out.path()).unwrap();
    let wanted = ["links/dir", "links/dead", "links/out", "vendor", "loop"].map(Utf8Path::new);
    repository.export(&listing, wanted, out, 1 << 20).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("links/dir/deep.yaml")).unwrap(), "d: 1\n");
    assert_eq!(out.join("links/out").read_link_utf8().unwrap(), "../../..");
    assert!(!out.join("vendor").exists() && !out.join(".gitmodules").exists());
    assert_eq!(out.join("loop").read_link_utf8().unwrap(), "links");
}
