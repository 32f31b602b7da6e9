//! The rules that come with the program: their tests, and the examples on their pages.

use std::sync::{Arc, LazyLock};

use camino::Utf8Path;
use fleetgate::accelerators::{Registry, Tree, Unaccounted, assess, unaccounted};
use fleetgate::fleet;
use fleetgate::manifest;
use fleetgate::model::{Cluster, Value};
use fleetgate::policy::{
    Evaluator, Hit, Limits, LoadOptions, PolicySet, Rule, Source, Target, TestOptions, TestResult, load,
    run_tests,
};

use crate::support::Sandbox;

/// The headings of a page, in their order.
const HEADINGS: [&str; 6] =
    ["## Why", "## Fails", "## Passes", "## Parameters", "## Exceptions", "## Sources"];

/// Stands before `## Fails` on a page whose examples are about a cluster: its entry in the fleet file,
/// without name and environment.
const CLUSTER: &str = "## Cluster";

static SHIPPED: LazyLock<PolicySet> = LazyLock::new(|| {
    load(&[Source::Shipped], &LoadOptions::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
});

fn evaluator() -> Evaluator {
    let groups: Vec<_> = (0..SHIPPED.rules.len()).map(|rule| vec![rule]).collect();
    SHIPPED.evaluator(&groups, &Limits::default()).unwrap()
}

/// The input for an object in production, as `target: resource` has it.
fn input(object: &Value, cluster: Option<&Cluster>) -> Value {
    let registry = Registry::builtin();
    let assessment = assess(&Tree::new(registry, [object]), cluster, false);
    let workload = assessment.objects.first().map(|assessed| assessed.workload_value(cluster));
    let unaccounted = unaccounted(object, registry.workload(object).as_ref());
    let unaccounted: Vec<_> = unaccounted.iter().map(Unaccounted::to_value).collect();
    let mut input = Value::new_object();
    let fields = input.as_object_mut().unwrap();
    for (key, value) in [
        ("target", Value::from("resource")),
        ("object", object.clone()),
        ("old", Value::Null),
        ("operation", Value::from("CREATE")),
        ("cluster", cluster.map_or(Value::Null, |cluster| cluster.facts.clone())),
        ("environment", Value::from("prod")),
        ("team", Value::Null),
        ("workload", workload.unwrap_or(Value::Null)),
        ("unaccounted", Value::from(unaccounted)),
    ] {
        fields.insert(Value::from(key), value);
    }
    input
}

/// The YAML on a rule's page under a heading, if it has that heading.
fn fenced<'a>(rule: &'a Rule, heading: &str) -> Option<&'a str> {
    let page = rule.page.as_ref().unwrap();
    let (_, section) = page.split_once(&format!("\n{heading}\n"))?;
    let (section, _) = section.split_once("\n## ").unwrap();
    let (_, fenced) = section.split_once("```yaml\n").unwrap();
    let (yaml, rest) = fenced.split_once("```").unwrap();
    assert!(!rest.contains("```"), "{}: one example under `{heading}`", rule.id);
    Some(yaml)
}

/// The manifest on a rule's page under a heading.
fn example(rule: &Rule, heading: &str) -> Value {
    let yaml = fenced(rule, heading).unwrap();
    manifest::value(yaml).unwrap_or_else(|error| panic!("{} {heading}: {error:?}", rule.id))
}

/// The cluster that the examples of a rule's page are about, read as part of a fleet file.
fn cluster(rule: &Rule) -> Option<Arc<Cluster>> {
    let entry = fenced(rule, CLUSTER)?;
    let entry = format!("    {}\n", entry.trim_end().replace('\n', "\n    "));
    let text = format!(
        "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nenvironments: [prod]\n\
         clusters:\n  page:\n    environment: prod\n{entry}"
    );
    let directory = tempfile::tempdir().unwrap();
    let file = Utf8Path::from_path(directory.path()).unwrap().join("fleetgate.yaml");
    std::fs::write(&file, text).unwrap();
    let loaded = fleet::load(&file).unwrap_or_else(|error| panic!("{} {CLUSTER}: {error:?}", rule.id));
    Some(Arc::clone(&loaded.fleet.clusters["page"]))
}

fn hits(evaluator: &mut Evaluator, rule: usize, object: &Value, cluster: Option<&Cluster>) -> Vec<Hit> {
    let outcomes = evaluator.evaluate(rule, input(object, cluster));
    outcomes.into_iter().flat_map(|outcome| outcome.result.unwrap()).collect()
}

#[test]
fn their_tests_pass() {
    let report = run_tests(&SHIPPED, &TestOptions::default()).unwrap();
    let failed: Vec<_> =
        report.tests.iter().filter(|test| matches!(test.result, TestResult::Failed { .. })).collect();
    assert!(report.passed(), "{failed:#?} {:?}", report.problems);
    // Each rule has tests of its own.
    for rule in &SHIPPED.rules {
        let package = format!("{}_test", rule.package);
        assert!(report.tests.iter().any(|test| *test.package == *package), "{package} has no tests");
    }
}

#[test]
fn pages_have_their_headings_in_order() {
    for rule in &SHIPPED.rules {
        let page = rule.page.as_ref().unwrap();
        assert!(page.starts_with(&format!("# {}\n\n", rule.id)), "{}", rule.id);
        let headings: Vec<_> =
            page.lines().filter(|line| line.starts_with("## ") && *line != CLUSTER).collect();
        assert_eq!(headings, HEADINGS, "{}", rule.id);
        for parameter in &rule.parameters {
            let mention = format!("\n- `{}` (", parameter.name);
            assert!(page.contains(&mention), "{}: parameter `{}`", rule.id, parameter.name);
        }
    }
}

#[test]
fn examples_fail_and_pass_as_their_pages_say() {
    let mut evaluator = evaluator();
    for (index, rule) in SHIPPED.rules.iter().enumerate().filter(|(_, rule)| !takes_a_fleet(rule)) {
        let cluster = cluster(rule);
        let cluster = cluster.as_deref();
        let failing = example(rule, "## Fails");
        assert!(!hits(&mut evaluator, index, &failing, cluster).is_empty(), "{}: nothing is found", rule.id);
        let passing = example(rule, "## Passes");
        assert_eq!(hits(&mut evaluator, index, &passing, cluster), [], "{}", rule.id);
        for object in [&failing, &passing] {
            let kind = object[&Value::from("kind")].as_string().unwrap();
            assert!(rule.matches.kinds.is_empty() || rule.matches.kinds.contains(kind), "{}", rule.id);
        }
    }
}

/// Whether the examples of a rule are about more than one object.
fn takes_a_fleet(rule: &Rule) -> bool {
    rule.target != Target::Resource || fenced(rule, "## Fails").unwrap().contains("\nkind: Fleet\n")
}

/// Pages of rules about a cluster or a fleet show all that it takes: a fleet file, if one is needed, and the
/// manifests of its only cluster, `prod-a`.
#[test]
fn examples_of_whole_clusters_fail_and_pass_as_their_pages_say() {
    for rule in SHIPPED.rules.iter().filter(|rule| takes_a_fleet(rule)) {
        for (heading, fails) in [("## Fails", true), ("## Passes", false)] {
            let documents = fenced(rule, heading).unwrap().split("---\n");
            let (fleet, manifests): (Vec<_>, Vec<_>) =
                documents.partition(|document| document.contains("\nkind: Fleet\n"));
            let sandbox = Sandbox::new(&[("prod-a/all.yaml", &manifests.join("---\n"))]);
            let sandbox = match fleet.first() {
                Some(fleet) => sandbox.also("fleetgate.yaml", fleet),
                None => sandbox,
            };
            let run = sandbox.run(&["check", "--select", &rule.id, "-o", "json"]);
            let report = run.json();
            assert_eq!(report["problems"], serde_json::json!([]), "{} {heading}", rule.id);
            let found = report["findings"].as_array().unwrap().iter().any(|found| found["rule"] == *rule.id);
            assert_eq!(found, fails, "{} {heading}\n{}", rule.id, run.all());
        }
    }
}
