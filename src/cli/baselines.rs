//! Where baseline files are, and reading and writing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::engine::{BASELINE_FILE, Baseline};
use crate::error::Error;
use crate::fleet::Loaded;
use crate::model::Problem;

/// Reads the files named, which must exist, or those that are beside the fleet file and one
/// directory below it.
pub(super) fn load(named: &[Utf8PathBuf], fleet: Option<&Loaded>) -> Result<Baseline, Error> {
    let mut baseline = Baseline::default();
    let mut problems = Vec::new();
    let files = if named.is_empty() { found(fleet)? } else { named.to_vec() };
    for file in files {
        match read(&file) {
            Ok(part) => baseline.extend(part),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(baseline) } else { Err(Error::Problems(problems)) }
}

/// The baseline files that are there, sorted.
pub(super) fn found(fleet: Option<&Loaded>) -> Result<Vec<Utf8PathBuf>, Error> {
    let root = fleet.map(|fleet| fleet.root.clone()).unwrap_or_default();
    let shown = if root.as_str().is_empty() { Utf8Path::new(".") } else { root.as_path() };
    let failed = |error: std::io::Error| {
        Problem::new("unreadable", format!("cannot look for baseline files in `{shown}`: {error}"))
    };
    let mut files = Vec::new();
    let own = root.join(BASELINE_FILE);
    if own.exists() {
        files.push(own);
    }
    for entry in shown.read_dir_utf8().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file = root.join(entry.file_name()).join(BASELINE_FILE);
        if file.exists() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Utf8Path) -> Result<Baseline, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Problem::new("unreadable", format!("cannot read the baseline: {error}")).in_file(file)
    })?;
    Baseline::parse(&text).map_err(|error| {
        let mut problem = Problem::new(error.code, error.message).in_file(file);
        problem.help = error.help;
        problem.span = error.span;
        problem.related = error.related;
        problem.source = Some(Arc::from(text));
        problem
    })
}

/// Writes a baseline beside the fleet file, or one file for each top-level directory that has
/// findings; `place` says in which directory an entry belongs. Files left with nothing are removed.
pub(super) fn write(
    parts: &BTreeMap<Utf8PathBuf, Baseline>,
    fleet: Option<&Loaded>,
) -> Result<Vec<Utf8PathBuf>, Error> {
    let root = fleet.map(|fleet| fleet.root.clone()).unwrap_or_default();
    let mut written = Vec::new();
    for (directory, baseline) in parts {
        let file = root.join(directory).join(BASELINE_FILE);
        std::fs::write(&file, baseline.render())
            .map_err(|source| Error::Write { what: file.to_string(), source })?;
        written.push(file);
    }
    for file in found(fleet)? {
        if !written.contains(&file) {
            std::fs::remove_file(&file).map_err(|source| Error::Write { what: file.to_string(), source })?;
        }
    }
    Ok(written)
}
