use std::collections::BTreeMap;

use super::*;
use crate::error::Error;
use crate::model::{Injects, Pool, Value};

fn pool(family: &str, capacity_type: &str, machine: &str, nodes: Option<u64>) -> Pool {
    Pool {
        family: family.into(),
        resource: "nvidia.com/gpu".into(),
        per_node: 8,
        nodes,
        capacity_type: (!capacity_type.is_empty()).then(|| capacity_type.into()),
        labels: BTreeMap::from([("node.kubernetes.io/instance-type".into(), machine.into())]),
        ..Pool::default()
    }
}

fn cluster(pools: Option<Vec<Pool>>) -> Cluster {
    Cluster {
        name: "a".into(),
        environment: "prod".into(),
        provider: None,
        region: None,
        labels: BTreeMap::new(),
        pools,
        injects: Injects::default(),
        facts: Value::new_object(),
    }
}

fn changed(pools: Vec<Pool>, set: &[&str]) -> Result<Vec<Option<u64>>, String> {
    let changes: Result<Vec<_>, _> = set.iter().map(|text| Change::parse(text)).collect();
    let said = |error| match error {
        Error::Problems(problems) => {
            let problem = &problems[0];
            format!("{}; {}", problem.message, problem.help.as_deref().unwrap_or_default())
        }
        other @ Error::Write { .. } => other.to_string(),
    };
    let (cluster, _) = apply(&cluster(Some(pools)), &changes.map_err(said)?).map_err(said)?;
    Ok(cluster.pools.unwrap_or_default().iter().map(|pool| pool.nodes).collect())
}

#[test]
fn a_change_sets_the_nodes_of_one_pool() {
    let pools = || {
        vec![
            pool("H100", "reserved", "p5.48xlarge", Some(4)),
            pool("H100", "spot", "p5.48xlarge", None),
            pool("L4", "", "g6.4xlarge", Some(2)),
        ]
    };
    assert_eq!(changed(pools(), &["L4.nodes=0"]), Ok(vec![Some(4), None, Some(0)]));
    assert_eq!(changed(pools(), &["H100/spot.nodes=8", "L4.nodes=9"]), Ok(vec![Some(4), Some(8), Some(9)]));
    let several = changed(pools(), &["H100.nodes=8"]).unwrap_err();
    assert_eq!(
        several,
        "cluster `a` has 2 pools of H100; say which: `H100/reserved`, `H100/spot`, or another node label's value"
    );
    assert_eq!(
        changed(pools(), &["H1000.nodes=8"]).unwrap_err(),
        "cluster `a` has no pool of the family `H1000`; did you mean `H100`?"
    );
    assert_eq!(
        changed(pools(), &["H100/spt.nodes=8"]).unwrap_err(),
        "cluster `a` has no pool of H100 that is `spt`; did you mean `spot`?"
    );
    assert!(changed(pools(), &["L4.nodes=1", "L4.nodes=2"]).unwrap_err().starts_with("two changes"));
}

#[test]
fn resources_of_the_same_nodes_change_together() {
    let mut cores = pool("Trainium2", "on-demand", "trn2.48xlarge", Some(3));
    cores.resource = "aws.amazon.com/neuroncore".into();
    let mut devices = cores.clone();
    devices.resource = "aws.amazon.com/neuron".into();
    assert_eq!(changed(vec![devices, cores], &["Trainium2.nodes=1"]), Ok(vec![Some(1), Some(1)]));
}

#[test]
fn what_is_no_change_is_said() {
    for (text, part) in [
        ("H100", "says no number"),
        ("H100.nodes", "says no number"),
        ("H100=8", "something else than `nodes`"),
        ("H100.perNode=8", "something else than `nodes`"),
        ("H100.nodes=", "no number of nodes"),
        ("H100.nodes=-1", "no number of nodes"),
        ("H100.nodes=+1", "no number of nodes"),
        ("H100.nodes=99999999999", "no number of nodes"),
        (".nodes=1", "names no family"),
    ] {
        let Err(Error::Problems(problems)) = Change::parse(text) else { panic!("{text}") };
        assert!(problems[0].message.contains(part), "{text}: {problems:?}");
    }
}

#[test]
fn capacity_that_nobody_stated_cannot_change() {
    let change = [Change::parse("H100.nodes=1").unwrap()];
    let Err(Error::Problems(problems)) = apply(&cluster(None), &change) else { panic!("nothing is known") };
    assert_eq!(problems[0].message, "what cluster `a` has is not known");
}

#[test]
fn an_effect_is_what_is_certain() {
    let unknown = |at_least| Amount::Unknown { at_least, reasons: ["why".into()].into() };
    let effect = |needs: Amount, before: Amount, after: Amount| {
        let (name, of) = (String::new(), "H100".into());
        Row { kind: "budget", name, of, needs, before, after, place: None }.effect()
    };
    let known = Amount::Known;
    assert_eq!(effect(known(8), known(8), known(7)), Effect::Breaks);
    assert_eq!(effect(known(8), known(7), known(8)), Effect::Mends);
    assert_eq!(effect(known(8), known(7), known(6)), Effect::Short);
    assert_eq!(effect(known(8), known(9), known(8)), Effect::Fits);
    // At least so much is enough if it covers what is needed, and else nothing is known.
    assert_eq!(effect(known(8), unknown(8), unknown(8)), Effect::Fits);
    assert_eq!(effect(known(8), unknown(8), unknown(7)), Effect::Breaks);
    assert_eq!(effect(known(8), unknown(0), known(7)), Effect::Breaks);
    assert_eq!(effect(known(8), unknown(0), known(8)), Effect::Mends);
    assert_eq!(effect(unknown(8), known(8), known(7)), Effect::Breaks);
    assert_eq!(effect(unknown(8), known(99), known(98)), Effect::Unknown);
    assert_eq!(effect(Amount::UNBOUNDED, known(99), known(98)), Effect::Short);
}
