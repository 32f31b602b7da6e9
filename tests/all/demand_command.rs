//! `fleetgate demand` as a user runs it.

use serde_json::json;

use crate::support::Sandbox;

/// Three replicas of two devices; the default surge of 25 % of three is one more pod.
const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: ml}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}
";

/// An autoscaler that may bring it to ten replicas, whose surge is three pods.
const AUTOSCALER: &str = "apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: serve, namespace: ml}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
  minReplicas: 3
  maxReplicas: 10
";

#[test]
fn a_single_file_needs_no_fleet_file() {
    let sandbox = Sandbox::new(&[("serve.yaml", DEPLOYMENT)]);
    let report = sandbox.run(&["demand", "serve.yaml", "-o", "json"]).exits(0).json();
    let row = json!([{"resource": "nvidia.com/gpu", "steady": 6, "rollout": 8, "autoscaled": 8}]);
    assert_eq!(report["totals"], row);
    assert_eq!(report["workloads"][0]["kind"], "Deployment");
    assert_eq!(report["workloads"][0]["line"], 1);
    let text = sandbox.run(&["demand", "serve.yaml"]).exits(0).stdout;
    assert!(text.contains("Deployment ml/serve  nvidia.com/gpu       6        8           8"), "{text}");
    assert!(text.ends_with("1 object in 1 of 1 cluster\n"), "{text}");
}

#[test]
fn an_autoscaler_in_another_file_counts() {
    let sandbox = Sandbox::new(&[("a/serve.yaml", DEPLOYMENT), ("b/hpa.yaml", AUTOSCALER)]);
    let report = sandbox.run(&["demand", ".", "-o", "json"]).exits(0).json();
    // (10 + 3) × 2.
    assert_eq!(report["totals"][0]["autoscaled"], 26);
    assert_eq!(report["totals"][0]["steady"], 6);
}

#[test]
fn a_number_that_is_not_known_never_looks_like_one() {
    let placeholder = DEPLOYMENT.replace("replicas: 3", "replicas: $REPLICAS");
    let sandbox = Sandbox::new(&[("serve.yaml", &placeholder)]);
    let report = sandbox.run(&["demand", "serve.yaml", "-o", "json"]).exits(0).json();
    let steady = &report["totals"][0]["steady"];
    assert_eq!(steady["atLeast"], 0);
    assert!(steady["unknown"][0].as_str().unwrap().contains("$REPLICAS"), "{steady}");
    let text = sandbox.run(&["demand", "serve.yaml"]).exits(0).stdout;
    assert!(text.contains("0+ unknown") && text.contains("$REPLICAS"), "{text}");
}

#[test]
fn what_cannot_be_read_may_ask_for_any_number() {
    let sandbox = Sandbox::new(&[("serve.yaml", DEPLOYMENT), ("broken.yaml", "kind: Pod\nkind: Pod\n")]);
    let run = sandbox.run(&["demand", "serve.yaml", "broken.yaml"]).exits(2);
    assert!(run.stderr.contains("broken.yaml") && run.stdout.contains("ml/serve"), "{}", run.all());
}

#[test]
fn nothing_to_count_is_its_own_status() {
    Sandbox::new(&[("notes.txt", "none")]).run(&["demand"]).exits(3);
}

/// Three barns of four pods of eight devices.
const FARM: &str = "apiVersion: ml.example.org/v1
kind: Farm
metadata: {name: green, namespace: ml}
spec:
  barns: 3
  template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}
";

#[test]
fn a_kind_added_in_the_fleet_file_counts() {
    let fleet = |kinds: &str| format!("apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n{kinds}");
    let kinds = "kinds: [{group: ml.example.org, kind: Farm, pods: [{template: spec.template, \
                 replicas: spec.barns, per: \"4\"}]}]\n";
    let sandbox = Sandbox::new(&[("farm.yaml", FARM), ("fleetgate.yaml", &fleet(""))]);
    let without = sandbox.run(&["demand", "farm.yaml", "-o", "json"]).json();
    assert_ne!(without["totals"][0]["steady"], 96);
    let sandbox = sandbox.also("fleetgate.yaml", &fleet(kinds));
    let report = sandbox.run(&["demand", "farm.yaml", "-o", "json"]).exits(0).json();
    let row = json!([{"resource": "nvidia.com/gpu", "steady": 96, "rollout": 96, "autoscaled": 96}]);
    assert_eq!(report["totals"], row);
}

#[test]
fn a_shipped_kind_that_is_replaced_is_told() {
    let fleet = "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nkinds:\n  - {group: apps, kind: Deployment, \
                 pods: [{template: spec.template}]}\n";
    let sandbox = Sandbox::new(&[("serve.yaml", DEPLOYMENT), ("fleetgate.yaml", fleet)]);
    let note = "note: kind `Deployment.apps` of `fleetgate.yaml:4` replaces the shipped one";
    let run = sandbox.run(&["demand", "serve.yaml"]).exits(0);
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let check = sandbox.run(&["check", "serve.yaml", "--fail-on", "deny", "-o", "json"]);
    assert!(check.stdout.contains("replaces the shipped one"), "{}", check.all());
}
