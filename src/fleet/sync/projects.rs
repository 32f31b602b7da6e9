//! Argo CD's projects: to which clusters each may deploy.

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::Clusters;
use super::input::{Input, Log, Source, objects};
use super::options::Options;
use crate::fleet::file::Words;
use crate::fleet::peek::text;

/// Reads `AppProject`s (argo-cd pkg/apis/application/v1alpha1/types.go `ApplicationDestination`).
pub(super) fn read(
    inputs: &[Input],
    clusters: &Clusters,
    options: &Options,
    log: &mut Log,
) -> BTreeMap<String, Words> {
    let mut projects = BTreeMap::new();
    for input in inputs.iter().filter(|input| input.source == Source::Projects) {
        for item in objects(input, &[("argoproj.io", "AppProject")], log) {
            let project = item.name().unwrap_or_default().to_owned();
            let mut reached = BTreeSet::new();
            let destinations = item.list(input, &["spec", "destinations"], log);
            for (index, destination) in destinations.into_iter().enumerate() {
                let place = item.at.key("spec").key("destinations").index(index);
                let word = |key| text(destination, &[key]).filter(|word| !word.is_empty());
                let (name, server) = (word("name"), word("server"));
                if [name, server].into_iter().flatten().any(|word| word.starts_with('!')) {
                    let message =
                        format!("project `{project}` excludes a destination, which a fleet file cannot say");
                    log.problem(input, &place, "excluded", message, "list the clusters that it may reach");
                    continue;
                }
                match (name, server) {
                    (Some(name), _) => {
                        let renamed = options.renames.get(name).map_or(name, String::as_str);
                        _ = reached.insert(renamed.to_owned());
                    }
                    (None, Some("*")) => _ = reached.insert("*".to_owned()),
                    (None, Some(server)) => {
                        let known = clusters.servers.get(server).or_else(|| options.renames.get(server));
                        let Some(known) = known else {
                            let message =
                                format!("project `{project}`: which cluster `{server}` is, is not known");
                            let help = "name Argo CD's clusters with `--clusters`, or this one with `--rename SERVER=NAME`";
                            log.problem(input, &place, "unknown-server", message, help);
                            continue;
                        };
                        reached.insert(known.clone());
                    }
                    (None, None) => {
                        let message =
                            format!("project `{project}` has a destination without `name` and `server`");
                        log.problem(input, &place, "no-server", message, "write one of the two");
                    }
                }
            }
            // What allows everything needs no list beside it.
            let reached =
                if reached.contains("*") { vec!["*".to_owned()] } else { reached.into_iter().collect() };
            if reached.is_empty() {
                log.remark(format!("project `{project}` reaches no cluster"));
            }
            if projects.insert(project.clone(), Words(reached)).is_some() {
                let message = format!("project `{project}` is listed twice");
                log.problem(input, &item.at, "listed-twice", message, "name the projects of one Argo CD");
            }
        }
    }
    projects
}
