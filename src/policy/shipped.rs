//! The packs that come with the program, embedded from the folder `policies`.

use std::sync::Arc;

use camino::Utf8PathBuf;
use include_dir::{Dir, File, include_dir};

use super::text::SourceFile;

static POLICIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/policies");

/// All embedded modules, sorted by path; paths begin with `policies/`.
pub(super) fn modules() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&POLICIES, &mut files);
    let rego = |file: &&File<'_>| file.path().extension().is_some_and(|extension| extension == "rego");
    let mut modules: Vec<_> = files
        .into_iter()
        .filter(rego)
        .filter_map(|file| Some((shown(file)?, file.contents_utf8()?)))
        .map(|(path, text)| SourceFile { path: Arc::new(path), text: text.into() })
        .collect();
    modules.sort_by(|left, right| left.path.cmp(&right.path));
    modules
}

/// The text of an embedded file by its path, such as `policies/gitops/image_digest/image_digest.md`.
pub(super) fn text(path: &camino::Utf8Path) -> Option<Arc<str>> {
    let inside = path.strip_prefix("policies").ok()?;
    POLICIES.get_file(inside)?.contents_utf8().map(Arc::from)
}

fn collect<'d>(directory: &Dir<'d>, files: &mut Vec<&'d File<'d>>) {
    files.extend(directory.files());
    for inner in directory.dirs() {
        collect(inner, files);
    }
}

fn shown(file: &File<'_>) -> Option<Utf8PathBuf> {
    Some(Utf8PathBuf::from("policies").join(camino::Utf8Path::from_path(file.path())?))
}
