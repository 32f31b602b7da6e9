//! The generator of large fleets behind the benches: what it writes is exact, repeatable and readable.

#[path = "../../benches/generator/mod.rs"]
pub(crate) mod generator;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use generator::Shape;
use serde::Deserialize as _;

const SHAPE: Shape = Shape { clusters: 5, objects: 400, repeated_per_mille: 825, seed: 7 };

/// All files below a directory by their path relative to it.
fn files(root: &Path) -> BTreeMap<String, String> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn generated(shape: Shape) -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().unwrap();
    shape.write(directory.path()).unwrap();
    files(directory.path())
}

/// The texts of the documents of each cluster.
fn documents(files: &BTreeMap<String, String>) -> BTreeMap<&str, Vec<&str>> {
    let mut clusters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in files {
        if let Some(rest) = path.strip_prefix("rendered/") {
            let (cluster, _) = rest.split_once('/').unwrap();
            let body = text.strip_prefix("---\n").unwrap();
            clusters.entry(cluster).or_default().extend(body.trim_end().split("\n---\n"));
        }
    }
    clusters
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let first = generated(SHAPE);
    assert_eq!(first, generated(SHAPE));
    assert_ne!(first, generated(Shape { seed: 8, ..SHAPE }));
}

#[test]
fn a_fleet_has_the_wanted_number_of_objects_and_repetitions() {
    let files = generated(SHAPE);
    // 36 charts in each of 5 clusters, and the fleet file.
    assert_eq!(files.len(), 181);
    let clusters = documents(&files);
    assert_eq!(clusters.len(), 5);
    let mut shared: Option<BTreeSet<&str>> = None;
    let mut distinct: BTreeSet<&str> = BTreeSet::new();
    for texts in clusters.values() {
        assert_eq!(texts.len(), 400);
        let texts: BTreeSet<&str> = texts.iter().copied().collect();
        assert_eq!(texts.len(), 400);
        distinct.extend(&texts);
        shared = Some(shared.map_or_else(|| texts.clone(), |before| &before & &texts));
    }
    // 82.5 % of 400 are the same everywhere, the other 70 differ in each of the 5 clusters.
    assert_eq!(shared.unwrap().len(), 330);
    assert_eq!(distinct.len(), 330 + 5 * 70);
}

#[test]
fn all_or_nothing_can_repeat() {
    let all = generated(Shape { repeated_per_mille: 1000, ..SHAPE });
    let distinct: BTreeSet<&str> = documents(&all).into_values().flatten().collect();
    assert_eq!(distinct.len(), 400);
    let none = generated(Shape { repeated_per_mille: 0, ..SHAPE });
    let distinct: BTreeSet<&str> = documents(&none).into_values().flatten().collect();
    assert_eq!(distinct.len(), 2000);
}

#[test]
fn a_small_cluster_has_no_empty_file() {
    let files = generated(Shape { clusters: 1, objects: 3, ..SHAPE });
    assert_eq!(files.len(), 4);
    assert!(files.values().all(|text| text.contains("kind:")), "{files:?}");
}

#[test]
fn every_document_is_an_object_with_a_name_of_its_own() {
    let files = generated(SHAPE);
    let mut names = BTreeSet::new();
    for (path, text) in &files {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for document in serde_yaml::Deserializer::from_str(text) {
            let object = serde_yaml::Value::deserialize(document).unwrap_or_else(|e| panic!("{path}: {e}"));
            let field = |value: &serde_yaml::Value| value.as_str().map(str::to_owned);
            assert!(field(&object["apiVersion"]).is_some(), "{path}");
            let kind = field(&object["kind"]).unwrap_or_else(|| panic!("{path}: no kind"));
            if path != "fleetgate.yaml" {
                let name = field(&object["metadata"]["name"]).unwrap_or_else(|| panic!("{path}: no name"));
                assert!(names.insert((folder, kind, name)), "{path}: twice the same object");
            }
        }
    }
    assert_eq!(names.len(), 5 * 400);
}
