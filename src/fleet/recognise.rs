//! Tells whether what a node renders is among the rendered manifests of the fleet.
//!
//! Rendered files carry no link to what they were rendered from, so they are recognised by what they
//! have in common: names of objects for kustomizations, the traces that Helm leaves for charts.

use std::collections::BTreeSet;
use std::fs;

use camino::Utf8Path;
use rayon::prelude::*;

use super::graph::Node;

/// Names found in rendered manifests.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    objects: BTreeSet<String>,
    charts: BTreeSet<String>,
}

impl Rendered {
    /// Reads the names from files; one that cannot be read is reported by whoever judges it.
    pub(super) fn read(paths: &[&Utf8Path]) -> Self {
        paths
            .par_iter()
            .filter_map(|path| fs::read_to_string(path).ok())
            .map(|text| Self { objects: object_names(&text), charts: chart_names(&text) })
            .reduce(Self::default, |mut all, mut some| {
                all.objects.append(&mut some.objects);
                all.charts.append(&mut some.charts);
                all
            })
    }

    /// Whether something that any of these nodes renders is there.
    pub(super) fn holds(&self, nodes: &[&Node]) -> bool {
        if self.objects.is_empty() && self.charts.is_empty() {
            return false;
        }
        let renames = nodes.iter().any(|node| node.renames);
        let chart = nodes.iter().flat_map(|node| &node.charts).any(|name| self.charts.contains(name));
        chart
            || nodes.iter().flat_map(|node| &node.manifests).any(|path| {
                let names = fs::read_to_string(path).map(|text| object_names(&text)).unwrap_or_default();
                names.iter().any(|name| {
                    self.objects.contains(name)
                        || (renames
                            && self
                                .objects
                                .iter()
                                .any(|o| o.starts_with(name.as_str()) || o.ends_with(name.as_str())))
                })
            })
    }
}

/// `metadata.name` of each object, by the form that renderers write.
fn object_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("metadata:") {
            inside = true;
        } else if !line.starts_with([' ', '#']) && !line.is_empty() {
            inside = false;
        } else if inside && let Some(name) = line.strip_prefix("  name:") {
            names.insert(name.trim().trim_matches(['"', '\'']).to_owned());
        }
        if let Some((_, name)) = line.split_once("{name: ").filter(|_| line.starts_with("metadata: {")) {
            names.insert(name.split([',', '}']).next().unwrap_or_default().trim().to_owned());
        }
    }
    names
}

/// Charts by the comment `# Source: <chart>/templates/…` and the label `helm.sh/chart: <chart>-<version>`.
fn chart_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        if let Some(source) = line.strip_prefix("# Source: ") {
            // A chart inside another one: `a/charts/b/templates/…` names both.
            let parts = source.split('/').take_while(|part| *part != "templates" && *part != "crds");
            names.extend(parts.filter(|part| *part != "charts").map(str::to_owned));
        } else if let Some(label) = line.trim_start().strip_prefix("helm.sh/chart:") {
            let label = label.trim().trim_matches(['"', '\'']);
            let version = |(position, _): &(usize, _)| {
                label.get(position + 1..).is_some_and(|rest| {
                    rest.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
                })
            };
            let end = label.match_indices('-').find(version).map_or(label.len(), |(position, _)| position);
            names.extend(label.get(..end).map(str::to_owned));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_and_charts_are_found() {
        let text = "# Source: web/charts/redis/templates/x.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  labels:\n    helm.sh/chart: kube-state-metrics-5.1.0\n  name: \"web\"\nspec:\n  name: no\n---\nmetadata: {name: api, namespace: x}\n";
        assert_eq!(object_names(text).into_iter().collect::<Vec<_>>(), ["api", "web"]);
        assert_eq!(chart_names(text).into_iter().collect::<Vec<_>>(), ["kube-state-metrics", "redis", "web"]);
    }
}
