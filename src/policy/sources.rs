//! Finds and reads the files of policies and data. Nothing outside the given paths is read.

#![allow(clippy::disallowed_methods, reason = "the one place that reads policies from disk")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use walkdir::WalkDir;

use crate::model::Problem;

use super::scan;
use super::text::SourceFile;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `.rego`.
    Policy,
    /// `.json`, `.yaml`, `.yml`.
    Data,
}

/// Size of a data file that is still read: it takes twelve times as much memory.
const MAX_DATA: usize = 64 << 20;
/// Size of a page that is still shown.
const MAX_PAGE: u64 = 1 << 20;

impl Kind {
    const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Policy => &["rego"],
            Self::Data => &["json", "yaml", "yml"],
        }
    }

    const fn limit(self) -> usize {
        match self {
            Self::Policy => scan::MAX_BYTES,
            Self::Data => MAX_DATA,
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Policy => ("policy", "`.rego`"),
            Self::Data => ("data", "`.json`, `.yaml` or `.yml`"),
        }
    }

    fn wants(self, path: &Utf8Path) -> bool {
        path.extension().is_some_and(|extension| self.extensions().contains(&extension))
    }
}

/// Reads the files and directories that were named. Names that begin with a dot are passed over in
/// directories, as Kubernetes keeps second copies of mounted files under such names. A file that is
/// reached twice is read once.
pub(super) fn read(paths: &[Utf8PathBuf], kind: Kind, problems: &mut Vec<Problem>) -> Vec<SourceFile> {
    let mut found = Found { kind, seen: BTreeSet::new(), files: Vec::new(), problems };
    for path in paths {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => found.directory(path),
            Ok(_) if !kind.wants(path) => {
                let (what, extensions) = kind.words();
                let problem =
                    Problem::new("policy-source", format!("a {what} file must end in {extensions}"));
                found.problems.push(problem.in_file(path));
            }
            Ok(_) => found.file(path),
            Err(error) => found.unreadable(path, &error),
        }
    }
    let mut files = found.files;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

/// The page beside a rule of somebody's own: `<rule>.md`.
pub(super) fn page(path: &Utf8Path) -> Option<Arc<str>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let readable = metadata.is_file() && metadata.len() <= MAX_PAGE;
    readable.then(|| fs::read_to_string(path).ok().map(Arc::from)).flatten()
}

struct Found<'p> {
    kind: Kind,
    /// Real paths of what was read.
    seen: BTreeSet<std::path::PathBuf>,
    files: Vec<SourceFile>,
    problems: &'p mut Vec<Problem>,
}

impl Found<'_> {
    fn directory(&mut self, root: &Utf8Path) {
        let real_root = match fs::canonicalize(root) {
            Ok(real) => real,
            Err(error) => return self.unreadable(root, &error),
        };
        let (files_before, problems_before) = (self.files.len(), self.problems.len());
        let mut leaves = Vec::new();
        let hidden = |entry: &walkdir::DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
        // A link that leads outside is neither followed nor passed over in silence.
        let inside = |entry: &walkdir::DirEntry, leaves: &mut Vec<std::path::PathBuf>| {
            if entry.depth() == 0 || !entry.path_is_symlink() {
                return true;
            }
            let inside = fs::canonicalize(entry.path()).is_ok_and(|real| real.starts_with(&real_root));
            if !inside {
                leaves.push(entry.path().to_owned());
            }
            inside
        };
        let entries: Vec<_> =
            walk.filter_entry(|entry| !hidden(entry) && inside(entry, &mut leaves)).collect();
        for path in leaves {
            let shown = Utf8PathBuf::from(path.to_string_lossy().into_owned());
            let problem = Problem::new("policy-source", "symbolic link leads outside of the directory");
            self.problems.push(problem.in_file(shown).help("name its target as a source of its own"));
        }
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => match Utf8Path::from_path(entry.path()) {
                    Some(path) if self.kind.wants(path) => self.file(path),
                    Some(_) => {}
                    None => self.odd_name(entry.path()),
                },
                Err(error) => self.walk_error(root, &error),
            }
        }
        if self.files.len() == files_before && self.problems.len() == problems_before {
            let (what, extensions) = self.kind.words();
            let problem = Problem::new("no-policy", format!("no {what} file in this directory"));
            self.problems.push(problem.in_file(root).help(format!("files must end in {extensions}")));
        }
    }

    fn file(&mut self, path: &Utf8Path) {
        match self.text(path) {
            Ok(Some(text)) => {
                self.files.push(SourceFile { path: Arc::new(path.to_owned()), text: text.into() });
            }
            Ok(None) => {}
            Err(Unread::Io(error)) => self.unreadable(path, &error),
            Err(Unread::Said(message)) => {
                self.problems.push(Problem::new("policy-source", message).in_file(path));
            }
        }
    }

    fn text(&mut self, path: &Utf8Path) -> Result<Option<String>, Unread> {
        let said = |message: &str| Unread::Said(message.to_owned());
        if !fs::metadata(path)?.is_file() {
            return Err(said("is no regular file"));
        }
        if !self.seen.insert(fs::canonicalize(path)?) {
            return Ok(None);
        }
        let limit = self.kind.limit();
        let mut bytes = Vec::new();
        File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(Unread::Said(format!("file is larger than {limit} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            Unread::Said(format!("file is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
        })?;
        Ok(Some(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)))
    }

    fn unreadable(&mut self, path: &Utf8Path, error: &io::Error) {
        self.problems.push(Problem::new("unreadable", format!("cannot be read: {error}")).in_file(path));
    }

    fn odd_name(&mut self, path: &Path) {
        let problem = Problem::new("policy-source", "file name is not UTF-8");
        self.problems.push(problem.in_file(path.to_string_lossy().into_owned()));
    }

    fn walk_error(&mut self, root: &Utf8Path, error: &walkdir::Error) {
        let path = error.path().map_or_else(|| root.to_string(), |path| path.to_string_lossy().into_owned());
        let problem = if let Some(ancestor) = error.loop_ancestor() {
            let message = format!("symbolic link leads in a circle, back to `{}`", ancestor.display());
            Problem::new("policy-source", message)
        } else {
            let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
            Problem::new("unreadable", format!("cannot be read: {cause}"))
        };
        self.problems.push(problem.in_file(path));
    }
}

enum Unread {
    Io(io::Error),
    Said(String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
