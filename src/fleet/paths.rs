//! Paths of a tree: how one relates to another, without touching what links lead to.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// `path` without `.` and with every `..` taken back, as kustomize and Argo CD understand it. A `..`
/// beyond the root is dropped.
pub(super) fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut normal = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => _ = normal.pop(),
            other => normal.push(other),
        }
    }
    normal
}

/// `path` without a leading `./` and a trailing `/`; the empty path is the current directory.
pub(super) fn tidy(path: &Utf8Path) -> Utf8PathBuf {
    path.components().filter(|component| *component != Utf8Component::CurDir).collect()
}

/// What has to be opened for a tidy path.
pub(super) fn openable(path: &Utf8Path) -> &Utf8Path {
    if path.as_str().is_empty() { Utf8Path::new(".") } else { path }
}

/// Whether a file's name ends as that of a YAML or JSON file does.
pub fn is_structured(path: &Utf8Path) -> bool {
    matches!(path.extension(), Some("yaml" | "yml" | "json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_as_text() {
        assert_eq!(normal(Utf8Path::new("/r/apps/a/./../../base")), "/r/base");
        assert_eq!(normal(Utf8Path::new("/../a")), "/a");
        assert_eq!(tidy(Utf8Path::new("./a/b/")), "a/b");
        assert_eq!(tidy(Utf8Path::new(".")), "");
        assert_eq!(tidy(Utf8Path::new("../a")), "../a");
    }
}
