//! Budgets of the fleet file over several clusters, as a user runs them.

use serde_json::Value;

use crate::support::Sandbox;

/// Two clusters in production and one in development, each with H100 and L4; two teams.
const FLEET: &str = "apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [dev, prod]
rendered: rendered/{cluster}
clusters:
  a: {environment: prod, accelerators: &both [{family: H100, resource: nvidia.com/gpu, perNode: 8, nodes: 8, nodeLabels: {model: h100}}, {family: L4, resource: nvidia.com/gpu, perNode: 8, nodes: 8, nodeLabels: {model: l4}}]}
  b: {environment: prod, accelerators: *both}
  c: {environment: dev, accelerators: *both}
teams: {search: [search, \"share*\"], train: [train, shared]}
";

/// A Deployment of pods with eight devices. While it is replaced there is a quarter more, rounded up.
fn deployment(name: &str, namespace: &str, replicas: &str, model: &str) -> String {
    let selector =
        if model.is_empty() { String::new() } else { format!("nodeSelector: {{model: {model}}}, ") };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec:\n  replicas: {replicas}\n  template: {{spec: {{{selector}containers: [{{name: c, image: i, \
         resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}\n"
    )
}

/// The findings of `quota/budget` with a budget, and manifests by cluster.
fn found(budget: &str, manifests: &[(&str, String)]) -> Vec<Value> {
    let fleet = format!("{FLEET}budgets: [{{{budget}, owner: capacity}}]\n");
    let mut sandbox = Sandbox::new(&[("fleetgate.yaml", &fleet)]);
    for cluster in ["a", "b", "c"] {
        let of = manifests.iter().filter(|(name, _)| *name == cluster).map(|(_, text)| text.clone());
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: search}\n".to_owned();
        let text: Vec<String> = of.chain([namespace]).collect();
        sandbox = sandbox.also(&format!("rendered/{cluster}/all.yaml"), &text.join("---\n"));
    }
    let report = sandbox.run(&["check", "--select", "quota/budget", "-o", "json"]).json();
    assert_eq!(report["problems"], serde_json::json!([]), "{report:#}");
    report["findings"].as_array().unwrap().clone()
}

fn message(findings: &[Value]) -> &str {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings[0]["message"].as_str().unwrap()
}

#[test]
fn clusters_of_the_environment_add_up_and_one_rollout_comes_on_top() {
    // Two and one replicas of eight are 24, and the larger rollout adds one pod of eight: 32.
    let run = [
        ("a", deployment("one", "search", "2", "h100")),
        ("b", deployment("two", "search", "1", "h100")),
        ("c", deployment("three", "search", "9", "h100")),
    ];
    assert_eq!(found("team: search, family: H100, environment: prod, limit: 32", &run), [] as [Value; 0]);
    let over = found("team: search, family: H100, environment: prod, limit: 31", &run);
    assert_eq!(message(&over), "search is over its H100 budget in prod by 1");
    assert_eq!(over[0]["object"]["kind"], "Budget");
    assert_eq!(over[0]["at"]["name"], "one");
    assert_eq!(over[0]["routeText"], "spec.replicas");
    // With one replica of `one` there are 16, and a rollout of 8: 24.
    let lines = over[0]["details"]["lines"].as_array().unwrap();
    assert!(lines[3][1].as_str().unwrap().starts_with("spec.replicas: 1 → 24"), "{lines:?}");
}

#[test]
fn rollouts_that_may_go_on_at_once_count_together() {
    let run =
        [("a", deployment("one", "search", "2", "h100")), ("b", deployment("two", "search", "1", "h100"))];
    let budget = "team: search, family: H100, environment: prod, rolloutConcurrency: 2";
    assert_eq!(found(&format!("{budget}, limit: 40"), &run), [] as [Value; 0]);
    assert_eq!(found(&format!("{budget}, limit: 39"), &run).len(), 1);
}

#[test]
fn another_team_family_or_cluster_does_not_count() {
    let run = [
        ("a", deployment("one", "train", "4", "h100")),
        ("a", deployment("two", "search", "4", "l4")),
        ("b", deployment("three", "search", "1", "h100")),
    ];
    let budget = "team: search, family: h100, clusters: [a]";
    assert_eq!(found(&format!("{budget}, limit: 0"), &run), [] as [Value; 0]);
}

#[test]
fn what_is_not_known_does_not_pass() {
    // Which of the two families it gets, nobody says.
    let either = [("a", deployment("one", "search", "1", ""))];
    let budget = "team: search, family: H100, environment: prod, limit: 64";
    let unknown = found(&budget.replace("64", "15"), &either);
    assert!(message(&unknown).starts_with("whether search keeps its H100 budget in prod is not known"));
    // How many there are, nobody says.
    let placeholder = [("a", deployment("one", "search", "$REPLICAS", "h100"))];
    let unknown = found(budget, &placeholder);
    assert!(message(&unknown).contains("it uses an unknown number of 64"), "{unknown:#?}");
    assert!(unknown[0]["details"]["lines"].to_string().contains("$REPLICAS"), "{unknown:#?}");
    // Whose it is: two teams claim the namespace.
    let disputed = [("a", deployment("one", "shared", "1", "h100"))];
    assert!(found(budget, &disputed)[0]["details"]["lines"].to_string().contains("more than one team"));
}

#[test]
fn what_may_be_of_another_family_fits_if_all_of_it_does() {
    // Eight devices, sixteen while they are replaced, of one family or the other.
    let either = [("a", deployment("one", "search", "1", ""))];
    let budget = "team: search, family: H100, environment: prod";
    assert_eq!(found(&format!("{budget}, limit: 16"), &either), [] as [Value; 0]);
    assert!(message(&found(&format!("{budget}, limit: 15"), &either)).contains("is not known"));
}

#[test]
fn a_queue_that_no_manifest_holds_limits_nothing_that_is_known() {
    let queued = deployment("one", "search", "4", "h100")
        .replace("namespace: search}", "namespace: search, labels: {kueue.x-k8s.io/queue-name: q}}");
    let budget = "team: search, family: H100, environment: prod, limit: 16, batch: queued";
    let warned = found(budget, &[("a", queued)]);
    assert_eq!(warned[0]["level"], "warn");
    assert!(message(&warned).contains("leaves out Deployment search/one (queue `q`)"), "{warned:#?}");
}

#[test]
fn a_copy_counts_if_no_manager_has_the_original() {
    let copy = deployment("one", "search", "1", "h100").replace(
        "namespace: search}",
        "namespace: search, labels: {kueue.x-k8s.io/multikueue-origin: manager}}",
    );
    let budget = "team: search, family: H100, environment: prod, limit: 15";
    assert_eq!(found(budget, &[("b", copy)]).len(), 1);
}

#[test]
fn what_a_manager_hands_to_another_cluster_counts_once() {
    let copy = deployment("one", "search", "1", "h100").replace(
        "namespace: search}",
        "namespace: search, labels: {kueue.x-k8s.io/multikueue-origin: manager}}",
    );
    let original = deployment("one", "search", "1", "h100")
        .replace("namespace: search}", "namespace: search, labels: {kueue.x-k8s.io/queue-name: q}}");
    let run = [("a", original), ("b", copy)];
    let budget = "team: search, family: H100, environment: prod";
    assert_eq!(found(&format!("{budget}, limit: 16"), &run), [] as [Value; 0]);
    assert_eq!(found(&format!("{budget}, limit: 15"), &run).len(), 1);
}

#[test]
fn more_devices_than_can_be_counted_are_over() {
    let run = [("a", deployment("one", "search", "9223372036854775807", "h100"))];
    let over = found("team: search, family: H100, environment: prod, limit: 64", &run);
    assert!(message(&over).starts_with("search is over its H100 budget in prod by at least"), "{over:#?}");
}

#[test]
fn a_team_or_family_that_does_not_exist_is_an_error() {
    let load = |budget: &str| {
        let fleet = format!("{FLEET}budgets: [{{{budget}, environment: prod, limit: 8, owner: o}}]\n");
        let run = Sandbox::new(&[("fleetgate.yaml", &fleet)]).run(&["check"]).exits(2);
        run.stderr
    };
    assert!(load("team: serch, family: H100").contains("did you mean `search`?"));
    assert!(load("team: search, family: H10O").contains("no cluster has accelerators of the family `H10O`"));
}

#[test]
fn a_part_of_the_fleet_is_not_taken_for_all_of_it() {
    let fleet =
        format!("{FLEET}budgets: [{{team: search, family: H100, environment: prod, limit: 0, owner: o}}]\n");
    let sandbox = Sandbox::new(&[("fleetgate.yaml", &fleet)])
        .also("rendered/a/all.yaml", &deployment("one", "search", "1", "h100"));
    let report =
        sandbox.run(&["check", "rendered/a", "--select", "quota/budget", "-o", "json"]).exits(3).json();
    assert!(report["unevaluated"].to_string().contains("only a part is read here"), "{report:#}");
}
