//! The rules that come with the program: their tests, and the examples on their pages.

use std::sync::LazyLock;

use fleetgate::accelerators::{Registry, Tree, Unaccounted, assess, unaccounted};
use fleetgate::manifest;
use fleetgate::model::Value;
use fleetgate::policy::{
    Evaluator, Hit, Limits, LoadOptions, PolicySet, Rule, Source, TestOptions, TestResult, load, run_tests,
};

/// The headings of a page, in their order.
const HEADINGS: [&str; 6] =
    ["## Why", "## Fails", "## Passes", "## Parameters", "## Exceptions", "## Sources"];

static SHIPPED: LazyLock<PolicySet> = LazyLock::new(|| {
    load(&[Source::Shipped], &LoadOptions::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
});

fn evaluator() -> Evaluator {
    let groups: Vec<_> = (0..SHIPPED.rules.len()).map(|rule| vec![rule]).collect();
    SHIPPED.evaluator(&groups, &Limits::default()).unwrap()
}

/// The input for an object in production, as `target: resource` has it.
fn input(object: &Value) -> Value {
    let registry = Registry::builtin();
    let assessment = assess(&Tree::new(registry, [object]), None, false);
    let workload = assessment.objects.first().map(|assessed| assessed.workload_value(None));
    let unaccounted = unaccounted(object, registry.workload(object).as_ref());
    let unaccounted: Vec<_> = unaccounted.iter().map(Unaccounted::to_value).collect();
    let mut input = Value::new_object();
    let fields = input.as_object_mut().unwrap();
    for (key, value) in [
        ("target", Value::from("resource")),
        ("object", object.clone()),
        ("old", Value::Null),
        ("operation", Value::from("CREATE")),
        ("cluster", Value::Null),
        ("environment", Value::from("prod")),
        ("team", Value::Null),
        ("workload", workload.unwrap_or(Value::Null)),
        ("unaccounted", Value::from(unaccounted)),
    ] {
        fields.insert(Value::from(key), value);
    }
    input
}

/// The manifest on a rule's page under a heading.
fn example(rule: &Rule, heading: &str) -> Value {
    let page = rule.page.as_ref().unwrap();
    let (_, section) = page.split_once(&format!("\n{heading}\n")).unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (_, fenced) = section.split_once("```yaml\n").unwrap();
    let (yaml, rest) = fenced.split_once("```").unwrap();
    assert!(!rest.contains("```"), "{}: one manifest under `{heading}`", rule.id);
    manifest::value(yaml).unwrap_or_else(|error| panic!("{} {heading}: {error:?}", rule.id))
}

fn hits(evaluator: &mut Evaluator, rule: usize, object: &Value) -> Vec<Hit> {
    let outcomes = evaluator.evaluate(rule, input(object));
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
        let headings: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
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
    for (index, rule) in SHIPPED.rules.iter().enumerate() {
        let failing = example(rule, "## Fails");
        assert!(!hits(&mut evaluator, index, &failing).is_empty(), "{}: nothing is found", rule.id);
        let passing = example(rule, "## Passes");
        assert_eq!(hits(&mut evaluator, index, &passing), [], "{}", rule.id);
        for object in [&failing, &passing] {
            let kind = object[&Value::from("kind")].as_string().unwrap();
            assert!(rule.matches.kinds.is_empty() || rule.matches.kinds.contains(kind), "{}", rule.id);
        }
    }
}
