//! The example fleet in `testdata/fleet`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use fleetgate::fleet;
use fleetgate::manifest::corpus::{self, Content, InputFile};
use fleetgate::model::Context;

use crate::support::{self, Sandbox};

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet")
}

/// Every file of the folders that clusters run.
fn deployed() -> Vec<InputFile> {
    let folders = ["argocd", "rendered"].map(|folder| root().join(folder));
    let entries = folders.iter().flat_map(walkdir::WalkDir::new).map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = Utf8PathBuf::from_path_buf(entry.into_path()).unwrap();
            InputFile {
                path: Arc::new(path.clone()),
                content: Content::Path(path),
                contexts: vec![Arc::new(Context::default())],
                strict: true,
            }
        })
        .collect()
}

#[test]
fn its_fleet_file_is_read() {
    let loaded = fleet::load(&root().join("fleetgate.yaml")).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(loaded.fleet.clusters.len(), 10);
    assert_eq!(loaded.fleet.waivers.len(), 1);
}

#[test]
fn all_its_objects_are_read() {
    let corpus = corpus::read(deployed(), &corpus::Limits::default());
    assert!(corpus.problems.is_empty(), "{:?}", corpus.problems);
    // Counted with another YAML reader, items of lists one by one; its README says so, too.
    assert_eq!(corpus.resource_count, 379);
}

/// A copy, so that files can be changed, in `testdata/fleet` of a repository of its own.
fn copied() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    for entry in walkdir::WalkDir::new(root()).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let inside = Utf8Path::from_path(entry.path()).unwrap().strip_prefix(root()).unwrap();
            sandbox.write(&format!("testdata/fleet/{inside}"), &std::fs::read(entry.path()).unwrap());
        }
    }
    sandbox
}

/// The rows of the table in `VIOLATIONS.md`: level, rule, file, object, where.
fn violations() -> BTreeSet<[String; 5]> {
    let page = std::fs::read_to_string(root().join("VIOLATIONS.md")).unwrap();
    let levels = ["| deny |", "| warn |", "| info |"];
    let rows = page.lines().filter(|line| levels.iter().any(|level| line.starts_with(level)));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
        [1, 2, 3, 4, 5].map(|cell| cells[cell].clone())
    })
    .collect()
}

#[test]
fn what_is_found_is_what_its_table_says() {
    let run = support::run(&support::root(), &["check", "testdata/fleet", "-o", "json"], None).exits(1);
    let report = run.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut found = BTreeSet::new();
    for finding in
        report["findings"].as_array().unwrap().iter().filter(|finding| finding["standing"] == "new")
    {
        let object = &finding["object"];
        let namespace = object["namespace"].as_str().map(|name| format!("{name}/")).unwrap_or_default();
        let object = format!("{} {namespace}{}", text(&object["kind"]), text(&object["name"]));
        let location = &finding["places"][0];
        assert!(location["line"].as_u64() > Some(1) && location["column"].as_u64() > Some(1), "{finding:#}");
        let file = text(&location["file"]).strip_prefix("testdata/fleet/").unwrap().to_owned();
        found.insert([
            text(&finding["level"]),
            text(&finding["rule"]),
            file,
            object,
            text(&finding["routeText"]),
        ]);
    }
    let violations = violations();
    assert_eq!(violations.len(), 15);
    assert_eq!(found, violations);
    assert_eq!(report["summary"]["waived"], 2);
    assert_eq!(report["counts"]["resources"], 379);
}

#[test]
fn with_every_violation_waived_it_passes() {
    let sandbox = copied();
    let mut waivers = String::from("apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nwaivers:\n");
    let waived: BTreeSet<(String, String)> =
        violations().into_iter().map(|[_, rule, _, object, _]| (rule, object)).collect();
    for (rule, object) in waived {
        let rest = "reason: a test, owner: nobody, expires: 2035-12-31";
        writeln!(waivers, "  - {{rule: {rule}, subject: {object}, {rest}}}").unwrap();
    }
    sandbox.write("testdata/fleet/fleet/waivers/all.yaml", waivers.as_bytes());
    let run = sandbox.run(&["check", "testdata/fleet", "--fail-on", "warn", "-o", "json"]).exits(0);
    let report = run.json();
    // Fifteen of the table and the two that are waived already; none of the waivers is unused.
    assert_eq!(report["summary"]["waived"], 17, "{:#}", report["summary"]);
    assert_eq!(report["summary"]["warn"], 0);
}

#[test]
fn its_fleet_file_and_its_report_fit_the_schemas_that_are_printed() {
    let sandbox = copied();
    let valid = |schema: &str, value: &serde_json::Value| {
        let schema = sandbox.run(&["schema", schema]).exits(0).json();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<_> = schema.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert!(!schema.is_valid(&serde_json::json!({"kind": 1})));
    };
    valid("report", &sandbox.run(&["check", "testdata/fleet", "-o", "json"]).exits(1).json());
    let config = ["--config", "testdata/fleet/fleetgate.yaml"];
    let merged = sandbox.run(&[&["config", "show"][..], &config].concat()).exits(0).stdout;
    valid("fleet", &serde_yaml::from_str(&merged).unwrap());
    sandbox.run(&["baseline", "create", "testdata/fleet"]).exits(0);
    let baseline = sandbox.read("testdata/fleet/fleetgate.baseline.yaml");
    valid("baseline", &serde_yaml::from_str(&baseline).unwrap());
}
