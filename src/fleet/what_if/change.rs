//! A change of a cluster's capacity: `H100.nodes=8`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Result;
use crate::fleet::suggest;
use crate::model::{Cluster, Pool, Problem};

/// `FAMILY[/WHICH].nodes=N`, where `WHICH` is a capacity type or the value of a node label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    family: String,
    which: Option<String>,
    nodes: u64,
}

/// A change that was made to pools of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The family.
    pub family: Arc<str>,
    /// Capacity type of the pools, if they have one.
    pub capacity_type: Option<Arc<str>>,
    /// Nodes before; none: not known.
    pub before: Option<u64>,
    /// Nodes after.
    pub after: u64,
}

impl Change {
    /// Reads a change.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |message: String| {
            Problem::new("usage", message).help("write `--set FAMILY.nodes=N`, such as `--set H100.nodes=8`")
        };
        let Some((what, number)) = text.split_once('=') else {
            return Err(wrong(format!("`--set {text}` says no number")).into());
        };
        let Some((pool, "nodes")) = what.rsplit_once('.') else {
            return Err(wrong(format!("`--set {text}` changes something else than `nodes`")).into());
        };
        let plain = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        let nodes = number.parse::<u32>().ok().filter(|_| plain);
        let Some(nodes) = nodes else {
            return Err(wrong(format!("`{number}` in `--set {text}` is no number of nodes")).into());
        };
        let (family, which) = match pool.split_once('/') {
            Some((family, which)) => (family, Some(which.to_owned())),
            None => (pool, None),
        };
        if family.is_empty() {
            return Err(wrong(format!("`--set {text}` names no family")).into());
        }
        Ok(Self { family: family.to_owned(), which, nodes: nodes.into() })
    }

    fn means(&self, pool: &Pool) -> bool {
        let which = |which: &String| {
            pool.capacity_type.as_deref() == Some(which)
                || pool.labels.values().any(|value| **value == **which)
        };
        *pool.family == *self.family && self.which.as_ref().is_none_or(which)
    }
}

/// The cluster with other numbers of nodes.
pub fn apply(cluster: &Cluster, changes: &[Change]) -> Result<(Cluster, Vec<Applied>)> {
    let name = &cluster.name;
    let Some(pools) = &cluster.pools else {
        let problem = Problem::new("no-capacity", format!("what cluster `{name}` has is not known"));
        let help =
            "list its `accelerators` in the fleet file, or derive them with `fleetgate fleet sync --nodes`";
        return Err(problem.help(help).into());
    };
    let mut pools = pools.clone();
    let mut applied = Vec::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for change in changes {
        let meant: Vec<usize> =
            pools.iter().enumerate().filter(|(_, pool)| change.means(pool)).map(|(index, _)| index).collect();
        // Pools with equal labels are the same nodes under several resources.
        let nodes = |index: &usize| pools.get(*index).map(|pool| (&pool.capacity_type, &pool.labels));
        let groups: BTreeSet<_> = meant.iter().filter_map(nodes).collect();
        if groups.len() > 1 {
            let ways: BTreeSet<_> =
                meant.iter().filter_map(|index| pools.get(*index)).map(narrower).collect();
            let ways: Vec<_> = ways.iter().map(|way| format!("`{}/{way}`", change.family)).collect();
            let message = format!("cluster `{name}` has {} pools of {}", groups.len(), change.family);
            let help = format!("say which: {}, or another node label's value", ways.join(", "));
            return Err(Problem::new("several-pools", message).help(help).into());
        }
        let Some(first) = meant.first().and_then(|index| pools.get(*index)) else {
            return Err(unknown(name, change, &pools).into());
        };
        applied.push(Applied {
            family: first.family.clone(),
            capacity_type: first.capacity_type.clone(),
            before: first.nodes,
            after: change.nodes,
        });
        for index in meant {
            if !taken.insert(index) {
                let message = format!("two changes set the nodes of the same pool of {}", change.family);
                return Err(Problem::new("usage", message).help("keep one of the two").into());
            }
            if let Some(pool) = pools.get_mut(index) {
                pool.nodes = Some(change.nodes);
            }
        }
    }
    Ok((Cluster { pools: Some(pools), ..cluster.clone() }, applied))
}

/// What tells a pool from others of its family.
fn narrower(pool: &Pool) -> Arc<str> {
    let machine = pool.labels.get("node.kubernetes.io/instance-type");
    pool.capacity_type.clone().or_else(|| machine.cloned()).unwrap_or_default()
}

fn unknown(cluster: &str, change: &Change, pools: &[Pool]) -> Problem {
    let families: BTreeSet<&str> = pools.iter().map(|pool| &*pool.family).collect();
    if let (true, Some(which)) = (families.contains(change.family.as_str()), &change.which) {
        let of_family = pools.iter().filter(|pool| *pool.family == *change.family);
        let words: BTreeSet<Arc<str>> = of_family.map(narrower).collect();
        let message = format!("cluster `{cluster}` has no pool of {} that is `{which}`", change.family);
        return Problem::new("unknown-pool", message)
            .help(suggest::help(which, words.iter().map(|word| &**word)));
    }
    let message = format!("cluster `{cluster}` has no pool of the family `{}`", change.family);
    Problem::new("unknown-family", message).help(suggest::help(&change.family, families))
}
