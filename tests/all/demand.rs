//! Demand of manifests whose totals were worked out by hand.
//!
//! Each file of `testdata/accelerators` states at its top what it comes to:
//!
//! ```text
//! # expect nvidia.com/gpu 8 12 16     steady, rollout, autoscaled
//! # expect nvidia.com/gpu 8 8 8+      `8+`: at least 8, without bound; `8?`: at least 8, unknown
//! # unknown the runtime `x`           a reason why there may be more begins so
//! # note owner-does-not-count         a note about one of the objects
//! ```
//!
//! and how that follows. What is not stated must not be there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fleetgate::accelerators::{Amount, Registry, Three, Tree, totals};
use fleetgate::manifest;
use fleetgate::model::Value;
use proptest::prelude::*;

fn objects(text: &str) -> Vec<Value> {
    let documents = manifest::split(text).documents;
    documents.iter().flat_map(|slice| manifest::resources(slice.text).resources).map(|r| r.object).collect()
}

fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/accelerators");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

fn shown(amount: &Amount) -> String {
    match amount {
        Amount::Known(n) => n.to_string(),
        Amount::Unbounded { at_least } => format!("{at_least}+"),
        Amount::Unknown { at_least, .. } => format!("{at_least}?"),
    }
}

/// Lines of what the objects come to, as the files state them.
fn found(objects: &[Value]) -> (BTreeSet<String>, Vec<String>) {
    let demand = Tree::new(Registry::builtin(), objects).demand();
    let mut lines: BTreeSet<String> = totals(&demand)
        .iter()
        .map(|(resource, three)| {
            let numbers = [&three.steady, &three.rollout, &three.autoscaled].map(shown);
            format!("expect {resource} {}", numbers.join(" "))
        })
        .collect();
    lines.extend(demand.iter().flat_map(|d| &d.notes).map(|note| format!("note {}", note.code)));
    let reasons = demand.iter().flat_map(|d| &d.unknown).map(ToString::to_string).collect();
    (lines, reasons)
}

#[test]
fn each_file_comes_to_what_it_states() {
    let mut wrong = Vec::new();
    for (path, text) in files() {
        let stated = || text.lines().filter_map(|line| line.strip_prefix("# "));
        let expected: BTreeSet<String> = stated()
            .filter(|line| line.starts_with("expect ") || line.starts_with("note "))
            .map(|line| line.split_whitespace().take(5).collect::<Vec<_>>().join(" "))
            .collect();
        let reasons: Vec<&str> = stated().filter_map(|line| line.strip_prefix("unknown ")).collect();
        let (lines, found_reasons) = found(&objects(&text));
        let explained = found_reasons.len() == reasons.len()
            && reasons.iter().all(|reason| found_reasons.iter().any(|found| found.starts_with(reason)));
        if lines != expected || !explained {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            wrong.push(format!(
                "{name}\n  stated {expected:?} {reasons:?}\n  found  {lines:?} {found_reasons:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_registered_kind_has_a_file() {
    let mut seen = BTreeSet::new();
    for (_, text) in files() {
        for object in objects(&text) {
            let api = object["apiVersion"].as_string().unwrap().to_string();
            let group = api.split_once('/').map_or("", |(group, _)| group).to_owned();
            seen.insert((group, object["kind"].as_string().unwrap().to_string()));
        }
    }
    let missing: Vec<_> = Registry::builtin()
        .kinds()
        .filter(|(group, kind)| !seen.contains(&((*group).to_owned(), (*kind).to_owned())))
        .collect();
    assert!(missing.is_empty(), "no file in testdata/accelerators has {missing:?}");
}

#[test]
fn totals_are_the_sums_of_the_objects() {
    let all: Vec<Value> = files().iter().flat_map(|(_, text)| objects(text)).collect();
    let demand = Tree::new(Registry::builtin(), &all).demand();
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (resource, three) in demand.iter().filter_map(|d| d.counted()).flatten() {
        let sum = sums.entry(resource.to_string()).or_default();
        *sum = sum.saturating_add(three.rollout.at_least());
    }
    let totals: BTreeMap<String, u64> = totals(&demand)
        .iter()
        .map(|(resource, three)| (resource.to_string(), three.rollout.at_least()))
        .collect();
    assert_eq!(totals, sums);
}

/// The folder of public manifests with their totals, where a developer has one.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("FLEETGATE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    let folder = folder.join("accelerators");
    folder.join("expected.tsv").is_file().then_some(folder)
}

#[test]
fn public_manifests_have_their_totals() {
    let Some(folder) = corpus() else {
        println!("skipped: no folder of public manifests (FLEETGATE_CORPUS)");
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (file, resource) = (cells.next().unwrap(), cells.next().unwrap());
        let objects = objects(&std::fs::read_to_string(folder.join(file)).unwrap());
        let demand = Tree::new(Registry::builtin(), &objects).demand();
        let totals = totals(&demand);
        let Some(three) = totals.get(resource) else {
            wrong.push(format!(
                "{file}: no {resource}, {:?}",
                demand.iter().map(|d| &d.unknown).collect::<Vec<_>>()
            ));
            continue;
        };
        let numbers = [&three.steady, &three.rollout, &three.autoscaled].map(shown);
        for (stated, found) in cells.zip(&numbers) {
            if stated != "-" && stated != found {
                wrong.push(format!("{file}: {resource} {numbers:?}, stated {line:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Kinds with `R` replicas of pods with `G` GPUs.
const SCALED: [&str; 10] = [
    "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: R, template: T}}",
    "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: R, strategy: {rollingUpdate: {maxSurge: 3}}, template: T}}",
    "{apiVersion: batch/v1, kind: Job, spec: {parallelism: R, completions: 3, template: T}}",
    "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {replicas: R, leaderWorkerTemplate: {size: 3, workerTemplate: T}}}",
    "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [{replicas: R, template: {spec: {template: T}}}]}}",
    "{apiVersion: ray.io/v1, kind: RayCluster, spec: {headGroupSpec: {template: T}, workerGroupSpecs: [{replicas: R, maxReplicas: 4, template: T}]}}",
    "{apiVersion: ray.io/v1, kind: RayService, spec: {rayClusterConfig: {headGroupSpec: {template: T}, workerGroupSpecs: [{replicas: R, numOfHosts: 2, template: T}]}}}",
    "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {elasticPolicy: {maxReplicas: 3, metrics: [{}]}, pytorchReplicaSpecs: {Worker: {replicas: R, template: T}}}}",
    "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, spec: {replicas: R, strategy: {canary: {maxSurge: 40%}}, template: T}}",
    "{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, spec: {replicas: R, template: S}}",
];

fn object(kind: &str, replicas: u64, gpus: u64) -> Value {
    let spec = format!(
        "{{containers: [{{name: a}}, {{name: c, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}"
    );
    let text = kind
        .replace(": T", &format!(": {{spec: {spec}}}"))
        .replace(": S}", &format!(": {spec}}}"))
        .replace(": R", &format!(": {replicas}"));
    manifest::value(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn scaled(kind: &str, replicas: u64, gpus: u64) -> Three {
    let object = object(kind, replicas, gpus);
    let demand = Tree::new(Registry::builtin(), [&object]).demand();
    totals(&demand).remove("nvidia.com/gpu").unwrap_or(Three::ZERO)
}

proptest! {
    #[test]
    fn more_replicas_or_devices_never_ask_for_less(
        kind in prop::sample::select(SCALED.to_vec()),
        replicas in 0..200_u64,
        gpus in 0..20_u64,
        more in 1..50_u64,
    ) {
        let least = |three: Three| [three.steady, three.rollout, three.autoscaled].map(|amount| amount.at_least());
        let before = least(scaled(kind, replicas, gpus));
        prop_assert!(before.is_sorted(), "{kind} {before:?}");
        for after in [scaled(kind, replicas + more, gpus), scaled(kind, replicas, gpus + more)] {
            let after = least(after);
            prop_assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "{kind} {before:?} {after:?}");
        }
    }

    #[test]
    fn totals_are_the_sum_of_the_workloads(
        chosen in prop::collection::vec((prop::sample::select(SCALED.to_vec()), 0..20_u64, 0..9_u64), 0..8),
    ) {
        let objects: Vec<Value> = chosen.iter().map(|(kind, replicas, gpus)| object(kind, *replicas, *gpus)).collect();
        let demand = Tree::new(Registry::builtin(), &objects).demand();
        let together = totals(&demand).remove("nvidia.com/gpu").unwrap_or(Three::ZERO);
        let alone = chosen.iter().map(|(kind, replicas, gpus)| scaled(kind, *replicas, *gpus));
        prop_assert_eq!(together, alone.fold(Three::ZERO, |sum, three| sum.add(&three)));
    }
}
