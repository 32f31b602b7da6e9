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

/// `a` has four nodes of eight H100, of which `running` takes one; `b` has L4 only; what `c` has nobody
/// says; on `d` the taint of the nodes is not tolerated.
const FLEET: &str = "apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [prod]
rendered: rendered/{cluster}
clusters:
  a: {environment: prod, accelerators: [{family: H100, resource: nvidia.com/gpu, perNode: 8, nodes: 4}]}
  b: {environment: prod, accelerators: [{family: L4, resource: nvidia.com/gpu, perNode: 1, nodes: 64}]}
  c: prod
  d:
    environment: prod
    accelerators:
      - {family: H100, resource: nvidia.com/gpu, perNode: 8, nodes: 64, taints: [{key: sku, value: gpu, effect: NoSchedule}]}
teams: {ml: [ml]}
budgets: [{team: ml, family: H100, environment: prod, limit: 64, owner: capacity}]
";

const RUNNING: &str = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: running, namespace: ml}
spec:
  replicas: 1
  template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}
";

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n";

fn placed(replicas: u64) -> Sandbox {
    let new = RUNNING.replace("running", "new").replace("replicas: 1", &format!("replicas: {replicas}"));
    Sandbox::new(&[
        ("fleetgate.yaml", FLEET),
        ("rendered/a/running.yaml", RUNNING),
        ("rendered/b/none.yaml", NAMESPACE),
        ("rendered/c/none.yaml", NAMESPACE),
        ("rendered/d/none.yaml", NAMESPACE),
        ("new.yaml", &new),
    ])
}

#[test]
fn where_manifests_would_fit_is_told_with_what_is_in_the_way() {
    // Three pods of eight devices: of the 32 on `a`, 24 are free.
    let run = placed(3).run(&["demand", "--fit", "new.yaml", "-o", "json"]).exits(0);
    let report = run.json();
    let verdicts: Vec<_> = (report["clusters"].as_array().unwrap().iter())
        .map(|row| (row["cluster"].as_str().unwrap(), row["fits"].as_str().unwrap()))
        .collect();
    assert_eq!(verdicts, [("a", "yes"), ("b", "no"), ("c", "unknown"), ("d", "no")]);
    let a = &report["clusters"][0]["families"][0];
    assert_eq!((&a["needs"], &a["used"], &a["has"]), (&24_000.into(), &8_000.into(), &32_000.into()));
    let obstacle = |cluster: usize| report["clusters"][cluster]["obstacles"][0].as_str().unwrap();
    assert!(obstacle(1).contains("a node of L4 has 1 of `nvidia.com/gpu`, not 8"), "{}", obstacle(1));
    assert!(obstacle(3).contains("the taint `sku` is not tolerated"), "{}", obstacle(3));

    // Four pods take 32, and eight are in use.
    let text = placed(4).run(&["demand", "--fit", "new.yaml", "--cluster", "a"]).exits(1).stdout;
    assert!(text.contains("H100: needs 32, and 8 of 32 are in use"), "{text}");
    assert!(text.ends_with("fits on 0 of 1 clusters\n"), "{text}");
}

#[test]
fn a_budget_has_room_for_what_the_team_does_not_use_anywhere() {
    // Eight are in use on `a` and eight on `d`; three more pods take 24: 40 in all.
    let with = |limit: u64| {
        placed(3)
            .also("fleetgate.yaml", &FLEET.replace("limit: 64", &format!("limit: {limit}")))
            .also("rendered/d/running.yaml", RUNNING)
            .run(&["demand", "--fit", "new.yaml", "--cluster", "a"])
    };
    with(40).exits(0);
    let text = with(39).exits(1).stdout;
    assert!(text.contains("the H100 budget of ml is 39 (owner @capacity), of which 16 are in use"), "{text}");
}

#[test]
fn what_could_not_be_read_is_not_said_to_fit() {
    let sandbox = placed(3).also("new.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: true}\n");
    let run = sandbox.run(&["demand", "--fit", "new.yaml", "--cluster", "a", "-o", "json"]).exits(2);
    assert_eq!(run.json()["clusters"][0]["fits"], "unknown");
}

#[test]
fn what_the_fleet_runs_already_gives_its_place_to_the_new_one() {
    // The same StatefulSet with four pods instead of one takes all 32.
    let more = RUNNING.replace("replicas: 1", "replicas: 4");
    let sandbox = placed(1).also("more.yaml", &more);
    sandbox.run(&["demand", "--fit", "more.yaml", "--cluster", "a"]).exits(0);
}

#[test]
fn fit_needs_manifests_a_fleet_and_a_cluster_that_exists() {
    let sandbox = placed(1);
    let run = sandbox.run(&["demand", "--fit"]).exits(2);
    assert!(run.stderr.contains("needs the manifests"), "{}", run.stderr);
    let run = sandbox.run(&["demand", "--fit", "new.yaml", "--no-config"]).exits(2);
    assert!(run.stderr.contains("needs a fleet file"), "{}", run.stderr);
    let run = sandbox.run(&["demand", "--fit", "new.yaml", "--cluster", "z"]).exits(2);
    assert!(run.stderr.contains("the fleet has no cluster `z`"), "{}", run.stderr);
}
