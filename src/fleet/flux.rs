//! What Flux's `Kustomization`s and `HelmRelease`s render.
//!
//! The fields are those of `fluxcd/kustomize-controller docs/spec/v1/kustomizations.md` and
//! `fluxcd/helm-controller docs/spec/v2/helmreleases.md`.

use camino::Utf8Path;

use super::discovery::Renderer;
use super::graph::Node;
use super::kustomize::{self, NAMES};
use super::peek::{at, set_keys, text, texts};
use super::tree::Files;
use crate::model::Value;

/// Fields of a Kustomization that change what it applies.
const ALTERING: [&str; 11] = [
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "images",
    "targetNamespace",
    "namePrefix",
    "nameSuffix",
    "commonMetadata",
    "components",
    "postBuild",
    "force",
];

/// Whether a text can hold one of Flux's objects; a cheap look before it is read.
pub(super) fn may_hold(text: &str) -> bool {
    text.contains("toolkit.fluxcd.io/")
}

/// The node of a document, if it is a `Kustomization` or a `HelmRelease` of Flux.
pub(super) fn node(file: &Utf8Path, document: &Value, files: &Files<'_>) -> Option<Node> {
    let group = text(document, &["apiVersion"])?.split_once('/')?.0;
    let spec = at(document, &["spec"])?;
    match (group, text(document, &["kind"])?) {
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => Some(kustomization(file, spec, files)),
        ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(release(file, spec, files)),
        _ => None,
    }
}

fn kustomization(file: &Utf8Path, spec: &Value, files: &Files<'_>) -> Node {
    let mut node = Node::new(file.to_owned(), Renderer::FluxKustomization);
    // `force` decides how objects are applied, not what they are.
    if let Some(key) = set_keys(spec).find(|key| *key != "force" && ALTERING.contains(key)) {
        node.alter(format!("its `{key}` changes what it applies"));
    }
    node.renames = set_keys(spec).any(|key| matches!(key, "namePrefix" | "nameSuffix"));
    let from_git = text(spec, &["sourceRef", "kind"]).is_none_or(|kind| kind == "GitRepository");
    let path = text(spec, &["path"]).unwrap_or("./");
    let Some(dir) = files.in_repository(path).filter(|dir| from_git && dir.is_dir()) else {
        node.add(format!("its source is elsewhere (`{path}`)"));
        return node;
    };
    if NAMES.iter().any(|name| dir.join(name).is_file()) {
        node.nodes.push(dir);
        return node;
    }
    // Without one, Flux makes a kustomization of all manifests below, where a directory with a
    // kustomization of its own counts as a whole.
    let own = |path: &Utf8Path| {
        let inside = path.ancestors().skip(1).take_while(|above| *above != dir);
        inside
            .filter(|above| NAMES.iter().any(|name| above.join(name).is_file()))
            .last()
            .map(Utf8Path::to_owned)
    };
    for path in files.under(&dir).filter(|path| path.extension() != Some("json")) {
        match own(path) {
            Some(nested) if kustomize::is_kustomization(path) => node.nodes.push(nested),
            Some(_) => {}
            None => node.manifests.push(path.to_owned()),
        }
    }
    node.nodes.sort();
    node.nodes.dedup();
    node
}

fn release(file: &Utf8Path, spec: &Value, files: &Files<'_>) -> Node {
    let mut node = Node::new(file.to_owned(), Renderer::HelmRelease);
    let chart = at(spec, &["chart", "spec"]);
    let name = chart.and_then(|chart| text(chart, &["chart"]));
    let from_git = chart.and_then(|chart| text(chart, &["sourceRef", "kind"])) == Some("GitRepository");
    node.charts.extend(name.and_then(|name| name.rsplit('/').next()).map(str::to_owned));
    node.charts.extend(text(spec, &["chartRef", "name"]).map(str::to_owned));
    match name.filter(|_| from_git).and_then(|name| files.in_repository(name)) {
        Some(dir) => {
            node.nodes.push(dir);
            let values = chart.into_iter().flat_map(|chart| texts(chart, &["valuesFiles"]));
            node.inputs.extend(values.filter_map(|path| files.in_repository(path)));
        }
        None => node.add("its chart is elsewhere"),
    }
    node
}
