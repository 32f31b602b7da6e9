//! `fleetgate fleet what-if` as a user runs it.

use serde_json::{Value, json};

use crate::support::Sandbox;

/// A cluster with so many nodes of eight H100 and two of one L4, and budgets of 24 and 16 H100.
fn fleet(nodes: &str) -> String {
    format!(
        "apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [prod]
rendered: rendered/{{cluster}}
clusters:
  a:
    environment: prod
    accelerators:
      - family: H100
        resource: nvidia.com/gpu
        perNode: 8
        {nodes}
        nodeLabels: {{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
      - family: L4
        resource: nvidia.com/gpu
        perNode: 1
        nodes: 2
        nodeLabels: {{nvidia.com/gpu.product: NVIDIA-L4}}
teams: {{train: [train], serve: [serve]}}
budgets:
  - {{team: train, family: H100, environment: prod, limit: 24, owner: capacity}}
  - {{team: serve, family: H100, clusters: [a], limit: 16, owner: capacity}}
"
    )
}

/// Two replicas of eight, which are taken down before new ones come: 16. A Job of three pods: 24.
const WORKLOADS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: serve}
spec:
  replicas: 2
  strategy: {type: Recreate}
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: fit, namespace: train}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
";

/// Two queues that promise 12 and 20 of one flavour.
const QUEUES: &str = "apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: one}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: cpu, nominalQuota: 100m}, {name: nvidia.com/gpu, nominalQuota: 12}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: two}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: \"20\"}]}]
";

fn sandbox(nodes: &str) -> Sandbox {
    Sandbox::new(&[
        ("fleetgate.yaml", &fleet(nodes)),
        ("rendered/a/workloads.yaml", WORKLOADS),
        ("rendered/a/queues.yaml", QUEUES),
    ])
}

fn what_if(sandbox: &Sandbox, set: &str, status: i32) -> Value {
    let arguments = ["fleet", "what-if", "--cluster", "a", "--set", set, "-o", "json"];
    sandbox.run(&arguments).exits(status).json()
}

/// Effect, kind, name, needs, before, after.
fn rows(report: &Value) -> Vec<Value> {
    let row = |row: &Value| {
        json!([
            row["effect"],
            row["kind"],
            row["name"],
            row["needs"],
            row["before"]["there"],
            row["after"]["there"]
        ])
    };
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn fewer_nodes_break_what_needs_more() {
    // 48 devices become 16. Queues promise 12 + 20 of them; 16 and 24 are asked for.
    let report = what_if(&sandbox("nodes: 6"), "H100.nodes=2", 1);
    let expected = [
        json!(["breaks", "budget", "train in prod", 24, 48, 16]),
        json!(["breaks", "queue", "nominal quota of flavour h100, all queues", 32, 48, 16]),
        json!(["breaks", "demand", "workloads that no queue starts, with the largest rollout", 40, 48, 16]),
        json!(["breaks", "workload", "Job train/fit", 24, 48, 16]),
        json!(["fits", "budget", "serve in a", 16, 48, 16]),
        json!(["fits", "workload", "Deployment serve/api", 16, 48, 16]),
    ];
    assert_eq!(rows(&report), expected);
    assert_eq!(report["rows"][0]["place"], "fleetgate.yaml:21");
    assert_eq!(report["rows"][3]["place"], "rendered/a/workloads.yaml:12");
    assert_eq!(
        report["changes"],
        json!([{"family": "H100", "capacityType": null, "nodes": {"before": 6, "after": 2}}])
    );
}

#[test]
fn more_nodes_mend_and_break_nothing() {
    let report = what_if(&sandbox("nodes: 2"), "H100.nodes=6", 0);
    let effects: Vec<_> = rows(&report).iter().map(|row| row[0].clone()).collect();
    assert_eq!(effects, ["mends", "mends", "mends", "mends", "fits", "fits"]);
    // 32 devices: enough for everything but both workloads at once.
    let report = what_if(&sandbox("nodes: 2"), "H100.nodes=4", 0);
    let short = rows(&report).into_iter().filter(|row| row[0] == "short").collect::<Vec<_>>();
    assert_eq!(
        short,
        [json!(["short", "demand", "workloads that no queue starts, with the largest rollout", 40, 16, 32])]
    );
}

#[test]
fn another_family_concerns_nothing() {
    assert_eq!(rows(&what_if(&sandbox("nodes: 6"), "L4.nodes=0", 0)), Vec::<Value>::new());
}

#[test]
fn capacity_that_is_not_known_fits_nothing_for_certain() {
    let sandbox = sandbox("");
    let report = what_if(&sandbox, "H100.nodes=2", 1);
    assert_eq!(report["rows"][0]["before"]["there"]["atLeast"], 0);
    assert_eq!(report["rows"][0]["before"]["fits"], "unknown");
    assert_eq!(report["rows"][0]["effect"], "breaks");
}

#[test]
fn budgets_of_one_place_are_added_up() {
    let sandbox = sandbox("nodes: 6");
    let text = sandbox.read("fleetgate.yaml").replace("clusters: [a]", "environment: prod");
    let report = what_if(&sandbox.also("fleetgate.yaml", &text), "H100.nodes=4", 1);
    // 24 + 16 of 48, then of 32.
    assert_eq!(rows(&report)[0], json!(["breaks", "budget", "2 budgets in prod together", 40, 48, 32]));
}

#[test]
fn the_largest_rollout_counts_once() {
    // One of two pods of eight more while the Deployment rolls out: a quarter of two, rounded up. The
    // other rolls out at another time: 16 + 16 + 24 + 8.
    let rolling = WORKLOADS.replace("{type: Recreate}", "{type: RollingUpdate}");
    let job = rolling.find("---").unwrap();
    let twice = format!("{}{}", rolling.replace("name: api", "name: web").get(..job).unwrap(), "---\n");
    let sandbox = sandbox("nodes: 8").also("rendered/a/workloads.yaml", &(twice + &rolling));
    let report = what_if(&sandbox, "H100.nodes=7", 1);
    let demand = rows(&report).into_iter().find(|row| row[1] == "demand").unwrap();
    let name = "workloads that no queue starts, with the largest rollout";
    assert_eq!(demand, json!(["breaks", "demand", name, 64, 64, 56]));
}

#[test]
fn the_text_says_what_breaks_first() {
    let arguments = ["fleet", "what-if", "--cluster", "a", "--set", "H100.nodes=2"];
    let text = sandbox("nodes: 6").run(&arguments).exits(1).stdout;
    assert!(text.starts_with("a: H100 nodes 6 → 2\n\nno longer fits\n  budget    train in prod\n"), "{text}");
    assert!(text.contains("nvidia.com/gpu needs 24 of 48 → 16   rendered/a/workloads.yaml:12\n"), "{text}");
    assert!(text.ends_with("\n4 no longer fit; 6 looked at\n"), "{text}");
}

#[test]
fn usage_that_means_nothing_is_refused() {
    let sandbox = sandbox("nodes: 6");
    for (cluster, set, part) in [
        ("b", "H100.nodes=2", "the fleet has no cluster `b`"),
        ("a", "H10.nodes=2", "did you mean `H100`?"),
        ("a", "H100.nodes=many", "`many` in `--set H100.nodes=many` is no number of nodes"),
    ] {
        let run = sandbox.run(&["fleet", "what-if", "--cluster", cluster, "--set", set]).exits(2);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let none = Sandbox::new(&[]);
    let run = none.run(&["fleet", "what-if", "--cluster", "a", "--set", "H100.nodes=2"]).exits(2);
    assert!(run.stderr.contains("there is no fleet file"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_read_may_ask_for_anything() {
    let sandbox = sandbox("nodes: 6").also("rendered/a/broken.yaml", "apiVersion: v1\nkind: [\n");
    sandbox.run(&["fleet", "what-if", "--cluster", "a", "--set", "H100.nodes=6"]).exits(2);
}
