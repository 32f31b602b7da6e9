//! What belongs to a Helm chart.

use camino::Utf8Path;

use super::discovery::Renderer;
use super::graph::Node;
use super::peek::{items, text};
use super::tree::Files;
use crate::model::Value;

/// The file that makes a directory a chart.
pub(super) const NAME: &str = "Chart.yaml";

/// The node of the chart at `file` (`Chart.yaml`). A chart inside another chart's `charts` is part of
/// that one, and has no node of its own.
pub(super) fn node(file: &Utf8Path, document: &Value, files: &Files<'_>) -> Option<Node> {
    let mut node = Node::new(file.to_owned(), Renderer::Chart);
    let dir = node.dir().to_owned();
    if parent(&dir).is_some() {
        return None;
    }
    node.alter("templates are filled in");
    node.charts.extend(text(document, &["name"]).map(str::to_owned));
    // Of a chart that only wraps others, the output shows the others' names.
    node.charts
        .extend(items(document, &["dependencies"]).filter_map(|d| text(d, &["name"])).map(str::to_owned));
    node.inputs = files.under(&dir).filter(|path| belongs(&dir, path)).map(Utf8Path::to_owned).collect();
    Some(node)
}

/// The chart that holds this one in its `charts`.
fn parent(dir: &Utf8Path) -> Option<&Utf8Path> {
    dir.ancestors().skip(1).filter(|above| above.file_name() == Some("charts")).find_map(|charts| {
        let chart = charts.parent()?;
        chart.join(NAME).is_file().then_some(chart)
    })
}

/// Whether Helm reads a file of the chart in `dir`.
fn belongs(dir: &Utf8Path, path: &Utf8Path) -> bool {
    let Ok(inside) = path.strip_prefix(dir) else { return false };
    let mut parts = inside.components().map(|part| part.as_str());
    let (first, rest) = (parts.next().unwrap_or_default(), parts.next());
    if rest.is_some() {
        return matches!(first, "templates" | "crds" | "charts" | "ci" | "files" | "tests");
    }
    let stem = first.rsplit_once('.').map_or(first, |(stem, _)| stem);
    matches!(first, NAME | "requirements.yaml") || stem.starts_with("values") || stem.ends_with("values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helm_reads_templates_and_values_and_nothing_beside_them() {
        let read = |path: &str| belongs(Utf8Path::new("/c"), Utf8Path::new(path));
        for path in [
            "/c/Chart.yaml",
            "/c/values.yaml",
            "/c/values-prod.yaml",
            "/c/prod-values.yml",
            "/c/values.schema.json",
            "/c/templates/a/b.yaml",
            "/c/crds/x.yaml",
            "/c/charts/sub/templates/x.yaml",
        ] {
            assert!(read(path), "{path}");
        }
        for path in ["/c/application.yaml", "/c/argocd/app.yaml", "/d/values.yaml"] {
            assert!(!read(path), "{path}");
        }
    }
}
