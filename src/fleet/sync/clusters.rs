//! Which clusters there are: from Argo CD and from Terraform.

use std::collections::BTreeMap;

use super::input::{Input, Item, Log, Place, Source, documents, objects};
use super::nodes::labels;
use super::options::Options;
use crate::fleet::file::{Cluster, Entry, Team};
use crate::fleet::peek::{at, strings, text};
use crate::model::Value;

/// What the sources say of clusters.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// By name in the fleet.
    pub(super) found: BTreeMap<String, Known>,
    /// Names in the fleet by the address of the API server.
    pub(super) servers: BTreeMap<String, String>,
    /// Teams that Terraform names.
    pub(super) teams: BTreeMap<String, Team>,
}

/// A cluster that some source knows.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Its entry; the environment is empty where no source says it.
    pub(super) cluster: Cluster,
    /// Which sources know it, to say so where two of them contradict each other.
    pub(super) source: String,
}

/// Reads the inputs that name clusters.
pub(super) fn read(inputs: &[Input], options: &Options, log: &mut Log) -> Clusters {
    let mut clusters = Clusters::default();
    for input in inputs {
        match input.source {
            Source::Clusters => argocd(input, options, &mut clusters, log),
            Source::Terraform => terraform(input, &mut clusters, log),
            _ => {}
        }
    }
    clusters
}

/// The output of `argocd cluster list -o json`, or cluster secrets
/// (argo-cd docs/operator-manual/declarative-setup.md, "Clusters"). Nothing but name, server and
/// labels is looked at.
fn argocd(input: &Input, options: &Options, clusters: &mut Clusters, log: &mut Log) {
    let before = log.problems.len();
    let read = documents(input, log);
    if log.problems.len() > before {
        return;
    }
    let listed = read.iter().all(|document| {
        let first = match &document.value {
            Value::Array(items) => items.first(),
            other => Some(other),
        };
        first.is_some_and(|first| at(first, &["server"]).is_some() && at(first, &["kind"]).is_none())
    });
    let items: Vec<Item> = if listed {
        read.iter().flat_map(Item::items).collect()
    } else {
        objects(input, &[("", "Secret")], log)
    };
    for item in items {
        let (name, server) = if listed {
            let word = |key| text(&item.value, &[key]).map(str::to_owned);
            (word("name"), word("server"))
        } else {
            if labels(&item).get("argocd.argoproj.io/secret-type").map(String::as_str) != Some("cluster") {
                let message = format!("{} is no cluster of Argo CD", item.shown());
                let help =
                    "write `kubectl get secrets -n argocd -l argocd.argoproj.io/secret-type=cluster -o json`";
                log.problem(input, &item.at, "another-kind", message, help);
                continue;
            }
            (secret_field(&item, "name"), secret_field(&item, "server"))
        };
        let Some(server) = server.filter(|server| !server.is_empty()) else {
            let message = "a cluster of Argo CD has no `server` that can be read";
            log.problem(input, &item.at, "no-server", message, "write the whole object");
            continue;
        };
        let given = name.filter(|name| !name.is_empty()).unwrap_or_else(|| server.clone());
        if options.skip.contains(&given) || options.skip.contains(&server) {
            continue;
        }
        let renamed = options.renames.get(&given).or_else(|| options.renames.get(&server));
        let name = renamed.unwrap_or(&given).clone();
        if !is_name(&name) {
            let message = format!("`{name}` is no name for a cluster of the fleet");
            let help =
                format!("give it one with `--rename {name}=NAME`, of letters, digits, `-`, `_` and `.`");
            log.problem(input, &item.at, "name", message, help);
            continue;
        }
        if let Some(other) =
            clusters.servers.insert(server.clone(), name.clone()).filter(|other| *other != name)
        {
            let message = format!("clusters `{other}` and `{name}` have the same server");
            log.problem(input, &item.at, "listed-twice", message, "leave one out with `--skip NAME`");
        }
        let known = Known {
            cluster: described(&item, listed, &server, options),
            source: input.source.name().to_owned(),
        };
        if clusters.found.get(&name).is_some_and(|other| other.source == known.source) {
            let message = format!("cluster `{name}` is listed twice");
            log.problem(
                input,
                &item.at,
                "listed-twice",
                message,
                "leave one out with `--skip SERVER`, or rename it with `--rename SERVER=NAME`",
            );
            continue;
        }
        clusters.add(input, &item.at, name, known, log);
    }
}

/// The cluster of an entry, from its labels.
fn described(item: &Item, listed: bool, server: &str, options: &Options) -> Cluster {
    let mut own = if listed { strings(&item.value, &["labels"]) } else { labels(item) };
    own.retain(|key, _| !key.starts_with("argocd.argoproj.io/") && !key.contains("kubernetes.io/"));
    let provider = own.remove("provider").or_else(|| provider_of(server));
    Cluster {
        environment: own.remove(&options.environment_label).unwrap_or_default(),
        provider,
        region: own.remove("region"),
        labels: own,
        ..Cluster::default()
    }
}

/// The provider by whose name the address of an API server ends.
fn provider_of(server: &str) -> Option<String> {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let ends = [(".eks.amazonaws.com", "aws"), (".azmk8s.io", "azure"), (".gke.goog", "gcp")];
    ends.iter().find(|(end, _)| host.ends_with(end)).map(|(_, provider)| (*provider).to_owned())
}

/// A field of a secret, which is base64 in `data` and plain in `stringData`.
fn secret_field(secret: &Item, key: &str) -> Option<String> {
    if let Some(plain) = text(&secret.value, &["stringData", key]) {
        return Some(plain.to_owned());
    }
    let encoded = text(&secret.value, &["data", key])?;
    let bytes = data_encoding::BASE64.decode(encoded.as_bytes()).ok()?;
    String::from_utf8(bytes).ok()
}

/// The outputs `fleetgate_clusters` and `fleetgate_teams` of `terraform output -json`: maps from names
/// to entries as a fleet file has them. Other outputs are not looked at.
fn terraform(input: &Input, clusters: &mut Clusters, log: &mut Log) {
    for document in documents(input, log) {
        let names = ["fleetgate_clusters", "fleetgate_teams"];
        if names.iter().all(|name| at(&document.value, &[name]).is_none()) {
            let message = "there is no output `fleetgate_clusters` or `fleetgate_teams`";
            let help = "write `output \"fleetgate_clusters\" { value = { NAME = { environment = \"prod\" } } }`, and \
                        run `terraform output -json` without the name of an output";
            log.problem(input, &document.at, "no-output", message, help);
        }
        for name in names {
            let Some(output) = at(&document.value, &[name]) else { continue };
            let place = document.at.key(name);
            if at(output, &["sensitive"]) == Some(&Value::Bool(true)) {
                let message = format!("the output `{name}` is sensitive");
                log.problem(
                    input,
                    &place,
                    "sensitive",
                    message,
                    "what a fleet file says is no secret: remove `sensitive = true`",
                );
                continue;
            }
            let Some(Ok(entries)) = at(output, &["value"]).map(|value| value.as_object()) else {
                let message = format!("the output `{name}` is no map");
                log.problem(
                    input,
                    &place,
                    "wrong-type",
                    message,
                    "write a map from names to entries as a fleet file has them",
                );
                continue;
            };
            for (key, value) in entries.iter() {
                let Ok(key) = key.as_string() else { continue };
                let place = place.key("value").key(key);
                let entry = Item { value: without_nulls(value), at: place.clone() };
                if name == "fleetgate_clusters" {
                    if let Some(Entry(cluster)) = entry.typed::<Entry<Cluster>>(input, name, key, log) {
                        let known = Known { cluster, source: input.source.name().to_owned() };
                        clusters.add(input, &place, key.to_string(), known, log);
                    }
                } else if let Some(Entry(team)) = entry.typed::<Entry<Team>>(input, name, key, log) {
                    clusters.teams.insert(key.to_string(), team);
                }
            }
        }
    }
}

/// Terraform writes optional attributes that are not set as `null`.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut kept = Value::new_object();
            if let Ok(map) = kept.as_object_mut() {
                let set = fields.iter().filter(|(_, value)| **value != Value::Null);
                map.extend(set.map(|(key, value)| (key.clone(), without_nulls(value))));
            }
            kept
        }
        Value::Array(items) => Value::from(items.iter().map(without_nulls).collect::<Vec<_>>()),
        other => other.clone(),
    }
}

impl Clusters {
    /// Adds what a source says; two sources may complete each other and may not contradict each
    /// other.
    fn add(&mut self, input: &Input, place: &Place, name: String, new: Known, log: &mut Log) {
        let Some(old) = self.found.get_mut(&name) else {
            self.found.insert(name, new);
            return;
        };
        let mut differ = |what: &str, one: &str, other: &str| {
            let message = format!(
                "cluster `{name}` has the {what} `{one}` in {} and `{other}` in {}",
                old.source, new.source
            );
            log.problem(input, place, "contradiction", message, "correct one of the two");
        };
        let Cluster {
            environment,
            provider,
            region,
            labels,
            accelerators,
            rendered,
            source,
            prometheus,
            injects,
        } = new.cluster;
        let entry = &mut old.cluster;
        if entry.environment.is_empty() {
            entry.environment = environment;
        } else if !environment.is_empty() && environment != entry.environment {
            differ("environment", &entry.environment, &environment);
        }
        for (what, mine, theirs) in
            [("provider", &mut entry.provider, provider), ("region", &mut entry.region, region)]
        {
            match (&*mine, theirs) {
                (Some(one), Some(other)) if *one != other => differ(what, one, &other),
                (None, theirs @ Some(_)) => *mine = theirs,
                _ => {}
            }
        }
        for (key, value) in labels {
            match entry.labels.get(&key) {
                Some(other) if *other != value => differ(&format!("label `{key}`"), other, &value),
                _ => _ = entry.labels.insert(key, value),
            }
        }
        entry.accelerators = entry.accelerators.take().or(accelerators);
        if entry.rendered.is_empty() {
            entry.rendered = rendered;
        }
        entry.source = entry.source.take().or(source);
        entry.prometheus = entry.prometheus.take().or(prometheus);
        entry.injects = entry.injects.take().or(injects);
        if old.source != new.source {
            old.source = format!("{} and {}", old.source, new.source);
        }
    }
}

/// Whether a fleet file takes it for the name of a cluster or team.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
