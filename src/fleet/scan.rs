//! A first look into files, to find what renders others. Each file is read once here, in parallel;
//! only what can matter is parsed.

use std::fs;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::file::API_VERSION;
use super::graph::Node;
use super::load::syntax_problem;
use super::tree::Files;
use super::{argocd, flux, helm, kustomize};
use crate::manifest;
use crate::model::Problem;

/// A file larger than this is no tool's file, and is only read when it is judged.
const LARGEST: u64 = 16 << 20;

/// What a file turned out to be.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// What it renders.
    pub(super) nodes: Vec<Node>,
    /// Why it cannot be read, if it is a tool's file.
    pub(super) problem: Option<Problem>,
    /// Whether it reads like a manifest of Kubernetes.
    pub(super) manifest: bool,
    /// What it is, if it is one of our own.
    pub(super) own: Option<&'static str>,
}

/// Looks into files; the result has their order.
pub(super) fn scan(paths: &[(&Utf8Path, &Utf8Path)], files: &Files<'_>) -> Vec<Scanned> {
    paths.par_iter().map(|(path, shown)| look(path, shown, files)).collect()
}

fn look(path: &Utf8Path, shown: &Utf8Path, files: &Files<'_>) -> Scanned {
    let is_kustomization = kustomize::is_kustomization(path);
    let is_chart = path.file_name() == Some(helm::NAME);
    let text = match read(shown) {
        Ok(text) => text,
        Err(problem) => {
            // Whoever judges the file reads it again, and says so then.
            let problem = (is_kustomization || is_chart).then_some(problem);
            return Scanned { problem, ..Scanned::default() };
        }
    };
    let manifest = is_manifest(&text);
    if is_kustomization || is_chart {
        let parsed = manifest::value(&text);
        return match parsed {
            Ok(document) if is_chart => Scanned {
                nodes: helm::node(path, &document, files).into_iter().collect(),
                ..Scanned::default()
            },
            Ok(document) => Scanned { nodes: vec![kustomize::node(path, &document)], ..Scanned::default() },
            Err(error) => {
                let problem = syntax_problem(error, &Arc::new(shown.to_owned()), &text.into());
                Scanned { problem: Some(problem), ..Scanned::default() }
            }
        };
    }
    let mut nodes = Vec::new();
    if argocd::may_hold(&text) || flux::may_hold(&text) {
        for document in manifest::split(&text).documents.into_iter().map(|document| document.text) {
            let relevant = argocd::may_hold(document) || flux::may_hold(document);
            let Some(value) = relevant.then(|| manifest::value(document).ok()).flatten() else { continue };
            nodes.extend(argocd::node(path, &value, files));
            nodes.extend(flux::node(path, &value, files));
        }
    }
    Scanned { nodes, problem: None, manifest, own: own(&text) }
}

fn read(path: &Utf8Path) -> Result<String, Problem> {
    let unreadable = |why: &dyn std::fmt::Display| {
        Problem::new("unreadable", format!("cannot read `{path}`: {why}"))
            .help("make it readable, or exclude it with a reason")
            .in_file(path)
    };
    let size = fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if size > LARGEST {
        return Err(unreadable(&"it is too large for a tool's file"));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Whether some document has `apiVersion` and `kind`, and is not another tool's configuration in that
/// form.
fn is_manifest(text: &str) -> bool {
    const OTHERS: [&str; 3] = ["skaffold/", "backstage.io/", "kind.x-k8s.io/"];
    let mut versions = text.lines().filter_map(|line| line.strip_prefix("apiVersion:"));
    let kind = text.lines().any(|line| line.starts_with("kind:"));
    kind && versions.any(|version| !OTHERS.iter().any(|other| version.trim().starts_with(other)))
}

/// What a file is that holds one document of our own and nothing else. A manifest beside it would be
/// hidden, so then it is judged, and refused.
fn own(text: &str) -> Option<&'static str> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']))
    };
    // `kubectl apply` takes an object with `items` for the list of them, whatever else it says.
    let list = text.lines().any(|line| line.starts_with("items:"));
    if list || value("apiVersion:")? != API_VERSION || manifest::split(text).documents.len() != 1 {
        return None;
    }
    match value("kind:")? {
        "Baseline" => Some("a baseline"),
        "Fleet" => Some("a fleet file"),
        _ => None,
    }
}

/// Two kustomizations in one directory, which kustomize refuses: all but the first.
pub(super) fn rivals<'a>(paths: impl Iterator<Item = &'a Utf8PathBuf>) -> Vec<(&'a Utf8Path, &'a Utf8Path)> {
    let mut rivals = Vec::new();
    let mut first: Option<&Utf8Path> = None;
    let mut sorted: Vec<&Utf8Path> =
        paths.map(AsRef::as_ref).filter(|path| kustomize::is_kustomization(path)).collect();
    sorted.sort_by_key(|path| (path.parent(), path.file_name()));
    for path in sorted {
        match first {
            Some(other) if other.parent() == path.parent() => rivals.push((path, other)),
            _ => first = Some(path),
        }
    }
    rivals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_documents_are_known_by_what_they_say() {
        let baseline = "# Accepted.\napiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\nfindings: []\n";
        assert_eq!(own(baseline), Some("a baseline"));
        assert_eq!(
            own("apiVersion: \"fleetgate.dev/v1alpha1\"\nkind: Fleet # parts\n"),
            Some("a fleet file")
        );
        assert_eq!(own("apiVersion: v1\nkind: Pod\n"), None);
        assert_eq!(own("apiVersion: example.org/v1\nkind: Baseline\n"), None);
    }

    #[test]
    fn a_manifest_does_not_hide_behind_a_baseline() {
        let both = "apiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\n---\n{apiVersion: v1, kind: Pod}\n";
        assert_eq!(own(both), None);
        let list = "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nitems: [{apiVersion: v1, kind: Pod}]\n";
        assert_eq!(own(list), None);
    }

    #[test]
    fn another_tools_configuration_is_no_manifest() {
        assert!(is_manifest("apiVersion: v1\nkind: Pod\n"));
        assert!(!is_manifest("apiVersion: skaffold/v4beta6\nkind: Config\n"));
        assert!(!is_manifest("on: push\njobs: {}\n"));
        // What follows it in the same file may be one.
        assert!(is_manifest("apiVersion: skaffold/v4beta6\nkind: Config\n---\napiVersion: v1\nkind: Pod\n"));
    }
}
