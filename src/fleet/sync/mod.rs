//! Derives parts of a fleet file from what other tools say: clusters, what they have, teams, people.
//!
//! Inputs are texts; nothing is fetched. What cannot be understood is a problem, and then there is no
//! result, so that nothing is lost on the way; what people should know besides is a remark.

mod clusters;
mod input;
mod karpenter;
mod kueue;
mod nodes;
mod options;
mod people;
mod projects;
mod teams;
mod write;

use std::collections::{BTreeMap, BTreeSet};

pub use input::{Input, Source};
pub use options::Options;
pub use write::{State, state};

use self::clusters::{Clusters, is_name};
use self::input::{Log, Place};
use super::file::{API_VERSION, Accelerator, ArgoCd, Cluster, Document, Entry, Team};
use crate::error::{Error, Result};

/// What was derived.
#[derive(Debug, Clone)]
pub struct Derived {
    /// The part of the fleet file, without its origin.
    pub document: Document,
    /// Where it comes from.
    pub source: String,
    /// What people should know, each in one sentence.
    pub remarks: Vec<String>,
}

/// Derives a part of a fleet file from all inputs together.
pub fn derive(mut inputs: Vec<Input>, options: &Options) -> Result<Derived> {
    inputs.sort_by(|a, b| (a.source, &a.of, &a.file).cmp(&(b.source, &b.of, &b.file)));
    let mut log = Log::default();
    check(&inputs, options, &mut log);
    if !log.problems.is_empty() {
        return Err(Error::Problems(log.problems));
    }
    let mut known = clusters::read(&inputs, options, &mut log);
    let mut teams = teams::read(&inputs, options, &mut log);
    let projects = projects::read(&inputs, &known, options, &mut log);

    let mut names: BTreeSet<String> = known.found.keys().cloned().collect();
    names.extend(
        inputs.iter().filter(|input| is_about_one(input.source)).filter_map(|input| of(input, options)),
    );
    names.extend(options.cluster.clone());
    if let Some(only) = &options.cluster {
        names.retain(|name| name == only);
    }
    let mut clusters = BTreeMap::new();
    let mut queues = BTreeSet::new();
    for name in names {
        let cluster = cluster(&name, &inputs, options, &mut known, &mut queues, &mut log);
        clusters.insert(name, Entry(cluster));
    }
    teams.queues(&queues, &mut log);
    for input in inputs.iter().filter(|input| input.source == Source::CodeOwners) {
        teams.code_owners(input, &mut log);
    }
    let people = people::read(&inputs, &mut teams, &mut log);
    let teams = joined(teams.teams, known.teams, &mut log);

    let document = Document {
        api_version: API_VERSION.to_owned(),
        kind: "Fleet".to_owned(),
        clusters,
        argocd: (!projects.is_empty()).then_some(ArgoCd { projects }),
        teams: teams.into_iter().map(|(name, team)| (name, Entry(team))).collect(),
        people,
        ..Document::default()
    };
    if !log.problems.is_empty() {
        return Err(Error::Problems(log.problems));
    }
    let sources: BTreeSet<_> = inputs.iter().map(|input| input.source).collect();
    let source = sources.into_iter().map(Source::name).collect::<Vec<_>>().join(", ");
    log.remarks.sort();
    log.remarks.dedup();
    Ok(Derived { document, source, remarks: log.remarks })
}

/// Whether inputs of this kind are about one cluster each.
const fn is_about_one(source: Source) -> bool {
    matches!(source, Source::Nodes | Source::Karpenter | Source::Kueue)
}

/// The cluster that an input is about.
fn of(input: &Input, options: &Options) -> Option<String> {
    input.of.clone().or_else(|| options.cluster.clone())
}

/// Refuses what cannot be meant.
fn check(inputs: &[Input], options: &Options, log: &mut Log) {
    if inputs.is_empty() {
        let help = "name at least one, such as `--nodes FILE`; `fleetgate fleet sync --help` lists them";
        log.general("usage", "there is nothing to derive a fleet file from", help);
    }
    for input in inputs.iter().filter(|input| is_about_one(input.source)) {
        let option = input.source.option();
        match (&input.of, &options.cluster) {
            (None, None) => {
                let message = format!("which cluster `{option} {}` is about is not said", input.file);
                let help = format!("write `{option} CLUSTER={}`, or `--cluster CLUSTER`", input.file);
                log.general("usage", message, help);
            }
            (Some(of), Some(only)) if of != only => {
                let message = format!("`{option}` is about cluster `{of}`, and `--cluster` says `{only}`");
                log.general("usage", message, "name the same cluster, or leave out `--cluster`");
            }
            (Some(of), _) | (None, Some(of)) if !is_name(of) => {
                let message = format!("`{of}` is no name for a cluster");
                log.general("name", message, "use letters, digits, `-`, `_` and `.`");
            }
            _ => {}
        }
    }
    if options.cluster.is_none()
        && [&options.environment, &options.provider, &options.region].into_iter().any(Option::is_some)
    {
        let help = "name the cluster with `--cluster`";
        log.general("usage", "`--environment`, `--provider` and `--region` are about one cluster", help);
    }
}

/// The entry of one cluster: what sources know of it, with what its nodes say.
fn cluster(
    name: &str,
    inputs: &[Input],
    options: &Options,
    known: &mut Clusters,
    queues: &mut BTreeSet<(String, String)>,
    log: &mut Log,
) -> Cluster {
    let inputs_of = |source: Source| -> Vec<&Input> {
        let mine = |input: &&Input| input.source == source && of(input, options).as_deref() == Some(name);
        inputs.iter().filter(mine).collect()
    };
    let known = known.found.remove(name).unwrap_or_default();
    let mut cluster = known.cluster;
    let mut differ = |what: &str, one: &str, other: &str| {
        let message =
            format!("cluster `{name}` has the {what} `{one}` in {}, and `{other}` elsewhere", known.source);
        log.general("contradiction", message, format!("correct one of the two, or leave out `--{what}`"));
    };
    if cluster.environment.is_empty() {
        cluster.environment = options.environment.clone().unwrap_or_default();
    } else if let Some(other) = options.environment.as_ref().filter(|other| **other != cluster.environment) {
        differ("environment", &cluster.environment, other);
    }
    for (what, mine, given) in [
        ("provider", &mut cluster.provider, &options.provider),
        ("region", &mut cluster.region, &options.region),
    ] {
        match (&*mine, given) {
            (Some(one), Some(other)) if one != other => differ(what, one, other),
            (None, Some(given)) => *mine = Some(given.clone()),
            _ => {}
        }
    }
    if cluster.environment.is_empty() {
        let message = format!("the environment of cluster `{name}` is not known");
        let help = format!(
            "give Argo CD's cluster the label `{}` (`--environment-label` names another), write `--cluster {name} --environment NAME`, or leave the cluster out with `--skip {name}`",
            options.environment_label
        );
        log.general("no-environment", message, help);
    }

    let kueue = kueue::read(&inputs_of(Source::Kueue), log);
    queues.extend(kueue.queues.iter().cloned());
    let lists = inputs_of(Source::Nodes);
    let node_pools = inputs_of(Source::Karpenter);
    if !lists.is_empty() || !node_pools.is_empty() {
        if let (Some(_), Some(list)) = (&cluster.accelerators, lists.first().or(node_pools.first())) {
            let message = format!(
                "what cluster `{name}` has comes from {} and from `{}`",
                known.source,
                list.source.option()
            );
            log.problem(list, &Place::default(), "contradiction", message, "keep one of the two");
        }
        let found = nodes::read(name, &lists, options, &kueue.label_keys(), log);
        only("provider", name, found.providers, &mut cluster.provider, log);
        only("region", name, found.regions, &mut cluster.region, log);
        let grown = karpenter::read(name, &node_pools, log);
        cluster.accelerators = Some(pools(found.pools, &found.made_by, grown));
    }
    kueue.compare(name, cluster.accelerators.as_deref().unwrap_or_default(), log);
    cluster
}

/// Completes a fact by what all nodes agree on.
fn only(what: &str, name: &str, found: BTreeSet<String>, mine: &mut Option<String>, log: &mut Log) {
    let mut found = found.into_iter();
    match (found.next(), found.next(), &*mine) {
        (Some(only), None, None) => *mine = Some(only),
        (Some(only), None, Some(one)) if only != *one => {
            log.remark(format!("cluster `{name}`: its nodes say that the {what} is `{only}`, not `{one}`"));
        }
        (Some(one), Some(other), _) => {
            log.remark(format!("cluster `{name}`: its nodes have the {what}s `{one}` and `{other}`"));
        }
        _ => {}
    }
}

/// The pools of today's nodes, and those of which there could be nodes. How many nodes there are today
/// is no limit to a pool that grows.
fn pools(today: Vec<Accelerator>, made_by: &[BTreeSet<String>], grown: karpenter::Found) -> Vec<Accelerator> {
    let mut pools = today;
    for (pool, made_by) in pools.iter_mut().zip(made_by) {
        if made_by.iter().any(|name| grown.names.contains(name)) {
            pool.nodes = None;
        }
    }
    let machine = |pool: &Accelerator| pool.node_labels.get("node.kubernetes.io/instance-type").cloned();
    for pool in grown.pools {
        let same = |other: &Accelerator| {
            machine(other) == machine(&pool)
                && other.resource == pool.resource
                && (pool.capacity_type.is_none() || other.capacity_type == pool.capacity_type)
        };
        if !pools.iter().any(same) {
            pools.push(pool);
        }
    }
    pools.sort_by(|a, b| order(a).cmp(&order(b)));
    pools
}

fn order(pool: &Accelerator) -> impl Ord + '_ {
    (&pool.family, &pool.resource, &pool.capacity_type, &pool.node_labels, pool.per_node)
}

/// Teams of namespaces and teams of Terraform; one that both have would have two owners.
fn joined(
    mut teams: BTreeMap<String, Team>,
    others: BTreeMap<String, Team>,
    log: &mut Log,
) -> BTreeMap<String, Team> {
    for (name, team) in others {
        if teams.insert(name.clone(), team).is_some() {
            let message = format!("team `{name}` comes from namespaces and from terraform");
            log.general("contradiction", message, "keep one of the two");
        }
    }
    teams
}

#[cfg(test)]
mod tests;
