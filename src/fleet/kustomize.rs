//! What a kustomization takes in and what it changes.
//!
//! The fields are those of `kubernetes-sigs/kustomize api/types/kustomization.go`, the old names with
//! them.

use camino::{Utf8Path, Utf8PathBuf};

use super::discovery::Renderer;
use super::graph::Node;
use super::paths::normal;
use super::peek::{at, items, set_keys, text, texts};
use crate::model::Value;

/// The names of a kustomization file.
pub(super) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields that leave the manifests that are taken in as they are. Everything else changes them, also
/// what we do not know.
const HARMLESS: [&str; 14] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "generators",
    "helmCharts",
    "helmGlobals",
    "helmChartInflationGenerator",
    "crds",
    "openapi",
];

/// Fields without any effect on the objects.
const IDLE: [&str; 3] = ["sortOptions", "validators", "configurations"];

/// Whether a file is a kustomization by its name.
pub(super) fn is_kustomization(path: &Utf8Path) -> bool {
    path.file_name().is_some_and(|name| NAMES.contains(&name))
}

/// The node of the kustomization at `file`.
pub(super) fn node(file: &Utf8Path, document: &Value) -> Node {
    let mut node = Node::new(file.to_owned(), Renderer::Kustomization);
    if text(document, &["kind"]) == Some("Component") {
        node.alter("it is a component");
    }
    let keys: Vec<&str> = set_keys(document).collect();
    if let Some(key) = keys.iter().find(|key| !HARMLESS.contains(key) && !IDLE.contains(key)) {
        node.alter(format!("`{key}` changes what it takes in"));
    }
    node.renames = keys.iter().any(|key| matches!(*key, "namePrefix" | "nameSuffix"));
    let dir = node.dir().to_owned();
    resources(document, &dir, &mut node);
    inputs(document, &dir, &mut node);
    charts(document, &dir, &mut node);
    for key in ["configMapGenerator", "secretGenerator", "generators"] {
        if keys.contains(&key) {
            node.add(format!("`{key}` adds objects"));
        }
    }
    node
}

fn resources(document: &Value, dir: &Utf8Path, node: &mut Node) {
    for key in ["resources", "bases", "components"] {
        for entry in texts(document, &[key]) {
            let path = normal(&dir.join(entry));
            if path.is_dir() {
                if NAMES.iter().any(|name| path.join(name).is_file()) {
                    node.nodes.push(path);
                } else {
                    node.add(format!("`{entry}` has no kustomization"));
                }
            } else if path.is_file() {
                node.manifests.push(path);
            } else if is_remote(entry) {
                node.add(format!("`{entry}` is elsewhere"));
            } else {
                node.add(format!("`{entry}` does not exist"));
            }
        }
    }
}

fn inputs(document: &Value, dir: &Utf8Path, node: &mut Node) {
    let mut entries: Vec<&str> = Vec::new();
    for key in ["patches", "patchesJson6902", "replacements"] {
        entries.extend(items(document, &[key]).filter_map(|item| text(item, &["path"])));
    }
    for key in ["patchesStrategicMerge", "configurations", "transformers", "generators", "validators", "crds"]
    {
        entries.extend(texts(document, &[key]));
    }
    entries.extend(text(document, &["openapi", "path"]));
    for key in ["configMapGenerator", "secretGenerator"] {
        for generator in items(document, &[key]) {
            entries.extend(text(generator, &["env"]));
            entries.extend(texts(generator, &["envs"]));
            let files = texts(generator, &["files"]);
            entries.extend(files.map(|file| file.split_once('=').map_or(file, |(_, path)| path)));
        }
    }
    for path in entries.into_iter().filter(|entry| is_one_line(entry)).map(|entry| normal(&dir.join(entry))) {
        if path.is_dir() {
            node.nodes.push(path);
        } else if path.is_file() {
            node.inputs.push(path);
        }
    }
}

/// Charts that the kustomization inflates: their output is not at hand.
fn charts(document: &Value, dir: &Utf8Path, node: &mut Node) {
    let home = text(document, &["helmGlobals", "chartHome"]).unwrap_or("charts");
    for chart in items(document, &["helmCharts"]) {
        let files = text(chart, &["valuesFile"]).into_iter().chain(texts(chart, &["additionalValuesFiles"]));
        node.inputs.extend(files.map(|file| normal(&dir.join(file))).filter(|file| file.is_file()));
        local_chart(text(chart, &["name"]), home, dir, node);
    }
    for chart in items(document, &["helmChartInflationGenerator"]) {
        node.inputs.extend(text(chart, &["values"]).map(|file| normal(&dir.join(file))));
        let home = text(chart, &["chartHome"]).unwrap_or(home);
        local_chart(text(chart, &["chartName"]), home, dir, node);
    }
    if at(document, &["helmCharts"]).is_none() && at(document, &["helmChartInflationGenerator"]).is_none() {
        return;
    }
    node.add("`helmCharts` adds objects");
}

fn local_chart(name: Option<&str>, home: &str, dir: &Utf8Path, node: &mut Node) {
    let Some(name) = name else { return };
    let path: Utf8PathBuf = normal(&dir.join(home).join(name));
    if path.is_dir() {
        node.nodes.push(path);
    }
}

/// An address of a repository or a file somewhere else, in any of the forms that kustomize takes.
fn is_remote(entry: &str) -> bool {
    let host = entry.split('/').next().unwrap_or_default();
    entry.contains("://")
        || entry.contains("?ref=")
        || entry.starts_with("git@")
        || (host.contains('.') && !host.starts_with('.') && entry.contains('/'))
}

/// Patches and transformers can stand in the field itself, as text of several lines.
fn is_one_line(entry: &str) -> bool {
    !entry.trim().contains('\n') && !entry.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn read(text: &str) -> Node {
        node(Utf8Path::new("/nowhere/kustomization.yaml"), &manifest::value(text).unwrap())
    }

    #[test]
    fn listing_resources_changes_nothing() {
        let node = read(
            "resources:\n- https://example.org/base?ref=v1\npatches: []\nnamespace: null\nsortOptions: {order: fifo}\n",
        );
        assert_eq!(node.alters, None);
        assert_eq!(node.adds.as_deref(), Some("`https://example.org/base?ref=v1` is elsewhere"));
    }

    #[test]
    fn every_other_field_changes_something() {
        for field in [
            "patches: [{patch: x}]",
            "images: [{name: a, newTag: b}]",
            "namespace: x",
            "namePrefix: x-",
            "labels: [{pairs: {a: b}}]",
            "commonLabels: {a: b}",
            "commonAnnotations: {a: b}",
            "replicas: [{name: a, count: 2}]",
            "components: [x]",
            "transformers: [x]",
            "replacements: [{path: x}]",
            "vars: [{name: A}]",
            "nameSuffix: -x",
            "kind: Component",
            "buildMetadata: [originAnnotations]",
            "futureField: 1",
        ] {
            assert!(read(field).alters.is_some(), "{field}");
        }
    }

    #[test]
    fn remote_and_local_entries() {
        for remote in [
            "https://example.org/a",
            "git@example.org:a/b",
            "github.com/org/repo/dir",
            "ssh://example.org/a",
            "org/repo?ref=v1",
        ] {
            assert!(is_remote(remote), "{remote}");
        }
        for local in ["base", "../base", "./x.yaml", "base/x.yaml", "deployment.yaml"] {
            assert!(!is_remote(local), "{local}");
        }
    }
}
