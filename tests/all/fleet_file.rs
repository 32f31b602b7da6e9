//! Fleet files: each folder in `testdata/cases/fleet` has one that is wrong, and in `expected` what
//! is said about it: place and code, then a part of the message or the help.

use std::fmt::Write as _;
use std::fs;

use camino::Utf8Path;
use fleetgate::accelerators::Registry;
use fleetgate::error::Error;
use fleetgate::fleet::{self, Loaded};
use fleetgate::model::{Level, Mode, Problem};

fn loading(path: &Utf8Path) -> Vec<Problem> {
    match fleet::load(path) {
        Err(Error::Problems(problems)) => problems,
        Err(other) => panic!("{path}: {other}"),
        Ok(_) => panic!("{path}: nothing is wrong"),
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases/fleet");
    let mut count = 0;
    let mut wrong = String::new();
    for case in cases.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path()) {
        let expected = fs::read_to_string(case.join("expected")).unwrap_or_else(|e| panic!("{case}: {e}"));
        let mut expected: Vec<&str> = expected.lines().collect();
        let mut said: Vec<String> =
            loading(&case.join("fleetgate.yaml")).iter().map(|p| line(p, &case)).collect();
        count += 1;
        for problem in std::mem::take(&mut said) {
            let fits = |expected: &&str| {
                let (place, part) = expected.split_once(" | ").unwrap();
                problem.starts_with(&format!("{place} ")) && problem.contains(part)
            };
            match expected.iter().position(fits) {
                Some(position) => _ = expected.remove(position),
                None => writeln!(wrong, "{case}: said {problem}").unwrap(),
            }
        }
        for line in expected {
            writeln!(wrong, "{case}: not said {line}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 15, "{count} cases");
}

fn line(problem: &Problem, case: &Utf8Path) -> String {
    let file = problem.file.as_deref().map_or("-", |file| file.strip_prefix(case).unwrap_or(file).as_str());
    let place = problem.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
    let message = problem.message.replace(&format!("{case}/"), "");
    format!("{file}{place} {} {message} {}", problem.code, problem.help.as_deref().unwrap_or_default())
}

fn load(text: &str) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    let file = Utf8Path::from_path(dir.path()).unwrap().join("fleetgate.yaml");
    fs::write(&file, format!("apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n{text}")).unwrap();
    fleet::load(&file).unwrap_or_else(|error| panic!("{error:#?}"))
}

#[test]
fn an_empty_fleet_file_is_a_fleet_without_anything() {
    let loaded = load("");
    assert!(
        loaded.fleet.clusters.is_empty()
            && loaded.fleet.overrides.is_empty()
            && loaded.rendered.all().is_empty()
    );
}

#[test]
fn a_profile_comes_before_every_rule_and_a_glob_before_a_name() {
    let loaded =
        load("profile: starter\nrules: {a/b: deny, \"*\": audit, \"a/*\": off, a/c: {level: info}}\n");
    let set: Vec<_> = loaded.fleet.overrides.iter().map(|o| (&*o.pattern, o.level, o.mode)).collect();
    assert_eq!(
        set,
        [
            ("*", None, Some(Mode::Warn)),
            ("*", None, Some(Mode::Audit)),
            ("a/*", None, Some(Mode::Off)),
            ("a/b", Some(Level::Deny), Some(Mode::Deny)),
            ("a/c", Some(Level::Info), None),
        ]
    );
}

#[test]
fn strict_makes_warnings_denials_and_leaves_information() {
    let loaded = load("profile: strict\n");
    let [only] = loaded.fleet.overrides.as_slice() else { panic!("{:?}", loaded.fleet.overrides) };
    assert_eq!((only.at, only.level, only.mode), (Some(Level::Warn), Some(Level::Deny), None));
}

#[test]
fn policies_see_the_whole_entry_of_a_cluster() {
    let loaded = load(
        "environments: [dev]\nclusters:\n  a: dev\n  b: {environment: dev, provider: gcp, labels: {tier: one}, prometheus: {url: \"https://x\"}}\n",
    );
    let facts = |name| loaded.fleet.clusters.get(name).map(|c| c.facts.to_json_str().unwrap()).unwrap();
    let expected = r#"{"environment":"dev","labels":{},"name":"a"}"#;
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(json(&facts("a")), json(expected));
    let expected = r#"{"environment":"dev","labels":{"tier":"one"},"name":"b","provider":"gcp"}"#;
    assert_eq!(json(&facts("b")), json(expected));
}

#[test]
fn every_entry_of_the_merged_file_has_its_origin() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet");
    let loaded = fleet::load(&root.join("fleetgate.yaml")).unwrap();
    let (document, origins) = loaded.effective();
    let places = origins.iter().filter(|origin| origin.entry.starts_with("clusters.")).count();
    assert_eq!(places, document.clusters.len());
    let own = origins.iter().find(|origin| origin.entry == "clusters.mgmt-aws-use1").unwrap();
    assert_eq!((own.file.file_name(), own.line), (Some("fleetgate.yaml"), 10));
    assert!(
        origins.iter().any(|origin| origin.file.parent().is_some_and(|dir| dir.ends_with("fleet/generated")))
    );
}

#[test]
fn the_schema_takes_the_example() {
    let schema = serde_json::to_value(fleet::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let file = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet/fleetgate.yaml");
    let example: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&example).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let wrong =
        serde_json::json!({"apiVersion": "fleetgate.dev/v1alpha1", "kind": "Fleet", "enviroments": []});
    assert!(!validator.is_valid(&wrong));
}

/// `Farm` is no kind that is shipped; `Deployment` is.
const KINDS: &str = "kinds:
  - group: ml.example.org
    kind: Farm
    scale: {replicas: 'spec.barns ?? 1'}
    pods: [{template: spec.template, per: spec.cows}]
  - {group: apps, kind: Deployment, pods: [{template: spec.template, replicas: '5'}]}
";

#[test]
fn a_kind_of_the_file_joins_the_registry_and_a_shipped_one_that_it_replaces_is_told() {
    let loaded = load(KINDS);
    let object = |text: &str| fleetgate::model::Value::from_json_str(text).unwrap();
    let count = |text: &str| {
        let workload = loaded.registry.workload(&object(text)).unwrap();
        workload.pods[0].count().steady.known()
    };
    // Three barns of four cows; five pods whatever the object says.
    let farm = r#"{"apiVersion": "ml.example.org/v1", "kind": "Farm",
        "spec": {"barns": 3, "cows": 4, "template": {"spec": {"containers": []}}}}"#;
    let deployment = r#"{"apiVersion": "apps/v1", "kind": "Deployment",
        "spec": {"replicas": 2, "template": {"spec": {"containers": []}}}}"#;
    assert_eq!((count(farm), count(deployment)), (Some(12), Some(5)));
    assert!(Registry::builtin().workload(&object(farm)).is_none());
    let note = &loaded.notes[..];
    assert_eq!(note.len(), 1, "{note:?}");
    assert!(note[0].starts_with("kind `Deployment.apps` of `"), "{note:?}");
    assert!(note[0].ends_with("fleetgate.yaml:8` replaces the shipped one"), "{note:?}");
}

#[test]
fn what_is_shown_of_kinds_can_be_read_again() {
    let (document, _) = load(KINDS).effective();
    let json = serde_json::to_string(&document.kinds).unwrap();
    assert!(!json.contains("null") && !json.contains("suspended"), "{json}");
    let again: Vec<fleetgate::accelerators::KindEntry> = serde_json::from_str(&json).unwrap();
    assert_eq!(again, document.kinds);
}
