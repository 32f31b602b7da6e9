//! `fleetgate fleet sync` as a CI job runs it, over the outputs in `testdata/sync`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, Sandbox, root};

/// A sandbox with the outputs of other tools and the fleet file that includes what is generated.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&[(
        "fleetgate.yaml",
        "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nenvironments: [dev, uat, prod]\ninclude: [fleet/generated/*.yaml]\n",
    )]);
    for entry in fs::read_dir(root().join("testdata/sync")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        sandbox.write(&name, &fs::read(entry.path()).unwrap());
    }
    sandbox
}

const NOW: [&str; 2] = ["--now", "2026-12-01T12:00:00Z"];

fn sync(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    sandbox.run(&[&["fleet", "sync"], arguments, &NOW].concat())
}

fn read(yaml: &str) -> Value {
    serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

/// Family, resource, units of a node, nodes, capacity type, sharing, fabric.
fn pools(cluster: &Value) -> Vec<Value> {
    let row = |pool: &Value| {
        let keys = ["family", "resource", "perNode", "nodes", "capacityType", "sharing", "fabric"];
        Value::from(keys.map(|key| pool[key].clone()).to_vec())
    };
    cluster["accelerators"].as_array().unwrap().iter().map(row).collect()
}

fn generated(arguments: &[&str], cluster: &str) -> (Value, String) {
    let run = sync(&sandbox(), arguments).exits(0);
    (read(&run.stdout)["clusters"][cluster].clone(), run.stderr)
}

#[test]
fn nodes_of_gke_become_pools() {
    let arguments = ["--cluster", "prod-gcp-euw4", "--environment", "prod", "--nodes", "gke-nodes.json"];
    let (cluster, talk) = generated(&arguments, "prod-gcp-euw4");
    // Three nodes of a reservation, one that four containers share, two spot nodes, four TPU hosts; a
    // node without accelerators.
    let expected = [
        json!(["H100", "nvidia.com/gpu", 8, 3, "reserved", null, null]),
        json!(["L4", "nvidia.com/gpu", 4, 1, "on-demand", "time-slicing", null]),
        json!(["L4", "nvidia.com/gpu", 1, 2, "spot", null, null]),
        json!(["TPU-v6e", "google.com/tpu", 4, 4, "on-demand", null, null]),
    ];
    assert_eq!(pools(&cluster), expected);
    assert_eq!((&cluster["provider"], &cluster["region"]), (&json!("gcp"), &json!("europe-west4")));
    let spot = &cluster["accelerators"][2];
    assert_eq!(
        spot["taints"],
        json!([{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}])
    );
    assert_eq!(spot["nodeLabels"]["cloud.google.com/gke-accelerator"], "nvidia-l4");
    // What is another for each node, or says nothing about what it has, is left out.
    for key in ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "cloud.google.com/gke-nodepool"] {
        assert!(spot["nodeLabels"].get(key).is_none(), "{key}");
    }
    assert_eq!(talk, "");
}

#[test]
fn a_label_that_pods_select_by_can_be_kept() {
    let arguments = [
        "--cluster",
        "a",
        "--environment",
        "prod",
        "--nodes",
        "gke-nodes.json",
        "--keep-label",
        "cloud.google.com/gke-node*",
    ];
    let (cluster, _) = generated(&arguments, "a");
    assert_eq!(cluster["accelerators"][0]["nodeLabels"]["cloud.google.com/gke-nodepool"], "h100");
}

#[test]
fn nodes_of_eks_become_pools() {
    let arguments = ["--cluster", "prod-aws-use1", "--environment", "prod", "--nodes", "eks-nodes.json"];
    let (cluster, talk) = generated(&arguments, "prod-aws-use1");
    let efa = "vpc.amazonaws.com/efa";
    // Of the four p5 nodes one has lost a device, so that nothing of eight fits there; one is cordoned
    // for the moment. 16 Neuron devices have 128 cores.
    let expected = [
        json!(["H100", "nvidia.com/gpu", 7, 1, "reserved", null, efa]),
        json!(["H100", "nvidia.com/gpu", 8, 3, "reserved", null, efa]),
        json!(["L4", "nvidia.com/gpu", 1, 1, "spot", null, null]),
        json!(["Trainium2", "aws.amazon.com/neuron", 16, 1, "on-demand", null, efa]),
        json!(["Trainium2", "aws.amazon.com/neuroncore", 128, 1, "on-demand", null, efa]),
    ];
    assert_eq!(pools(&cluster), expected);
    for part in [
        "node `ip-10-0-1-3.ec2.internal`: cordoned, but counted",
        "node `ip-10-0-1-4.ec2.internal`: 7 of its 8 `nvidia.com/gpu` can be allocated",
        "`smarter-devices/fuse` is no accelerator that is known here",
    ] {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    let taints = cluster["accelerators"][1]["taints"].to_string();
    assert!(!taints.contains("unschedulable"), "{taints}");
    let uncounted = generated(&[&arguments[..], &["--no-counts"]].concat(), "prod-aws-use1").0;
    assert!(pools(&uncounted).iter().all(|pool| pool[3].is_null()));
}

#[test]
fn node_pools_of_karpenter_are_pools_without_a_number_of_nodes() {
    let arguments = [
        "--cluster",
        "a",
        "--environment",
        "prod",
        "--nodes",
        "eks-nodes.json",
        "--karpenter",
        "nodepools.json",
    ];
    let (cluster, _) = generated(&arguments, "a");
    let rows = pools(&cluster);
    // The node of NodePool `l4` is one of as many as Karpenter makes. `h200` is p5en without spot, so
    // on demand or reserved; `general` has families without accelerators only.
    for expected in [
        json!(["L4", "nvidia.com/gpu", 1, null, "spot", null, null]),
        json!(["L4", "nvidia.com/gpu", 4, null, "spot", null, null]),
        json!(["H200", "nvidia.com/gpu", 8, null, "on-demand", null, null]),
        json!(["H200", "nvidia.com/gpu", 8, null, "reserved", null, null]),
    ] {
        assert_eq!(rows.iter().filter(|row| **row == expected).count(), 1, "{expected} in {rows:?}");
    }
    assert_eq!(rows.len(), 8, "{rows:?}");
    let taken = &cluster["accelerators"][5];
    assert_eq!(taken["nodeLabels"]["node.kubernetes.io/instance-type"], "g6.12xlarge");
    assert_eq!(taken["nodeLabels"]["pool"], "l4");
}

#[test]
fn nodes_of_aks_become_pools() {
    let arguments =
        ["--clusters", "cluster-secrets.json", "--cluster", "uat-az-weu", "--nodes", "aks-nodes.json"];
    let (cluster, talk) = generated(&arguments, "uat-az-weu");
    let expected = [
        json!(["A100", "nvidia.com/gpu", 1, 1, "spot", null, null]),
        json!(["H100", "nvidia.com/gpu", 8, 2, null, null, "rdma/ib"]),
    ];
    assert_eq!(pools(&cluster), expected);
    assert_eq!((&cluster["environment"], &cluster["provider"]), (&json!("uat"), &json!("azure")));
    assert_eq!(talk, "");
}

#[test]
fn shared_and_divided_devices_say_so() {
    let arguments = ["--cluster", "dc1", "--environment", "prod", "--nodes", "dc-nodes.json"];
    let (cluster, talk) = generated(&arguments, "dc1");
    let fabric = "rdma/hca_shared";
    // Two T4 as ten shares each are 20. Eight A100 as seven slices each are 56; those of another node
    // are divided unevenly, its whole devices are gone.
    let expected = [
        json!(["A100", "nvidia.com/gpu", 56, 1, null, "mig", null]),
        json!(["A100", "nvidia.com/mig-1g.10gb", 16, 1, null, "mig", fabric]),
        json!(["A100", "nvidia.com/mig-2g.20gb", 8, 1, null, "mig", fabric]),
        json!(["A100", "nvidia.com/mig-3g.40gb", 8, 1, null, "mig", fabric]),
        json!(["L40S", "nvidia.com/gpu", 4, 1, null, null, null]),
        json!(["NVIDIA-X900", "nvidia.com/gpu", 4, 2, null, null, null]),
        json!(["T4", "nvidia.com/gpu", 20, 1, null, "time-slicing", null]),
        json!(["unknown", "nvidia.com/gpu", 2, 1, null, null, null]),
    ];
    assert_eq!(pools(&cluster), expected);
    for part in [
        "2 nodes such as `dc1-x900-01`: the model `NVIDIA-X900`",
        "node `dc1-bare-01`: no label names the model",
        "node `dc1-l40s-01`: none of its `nvidia.com/gpu` can be allocated now",
    ] {
        assert!(talk.contains(part), "{part}: {talk}");
    }
}

/// Everything of one fleet in one file.
const ALL: &[&str] = &[
    "--clusters",
    "argocd-clusters.json",
    "--clusters",
    "cluster-secrets.json",
    "--skip",
    "in-cluster",
    "--nodes",
    "prod-aws-use1=eks-nodes.json",
    "--nodes",
    "prod-gcp-euw4=gke-nodes.json",
    "--kueue",
    "prod-gcp-euw4=kueue.json",
    "--namespaces",
    "namespaces.json",
    "--projects",
    "projects.json",
    "--codeowners",
    "CODEOWNERS",
    "--github",
    "github-members.json",
    "--gitlab",
    "gitlab-members.json",
];

#[test]
fn what_is_generated_is_a_fleet_and_a_second_run_changes_nothing() {
    let sandbox = sandbox();
    let out = [ALL, &["--out", "fleet/generated/fleet.yaml"]].concat();
    sync(&sandbox, &[&out[..], &["--check"]].concat()).exits(1);
    let first = sync(&sandbox, &out).exits(0);
    assert!(first.stderr.contains("wrote fleet/generated/fleet.yaml"), "{}", first.stderr);
    let text = sandbox.read("fleet/generated/fleet.yaml");
    let shown = sandbox.run(&["config", "show"]).exits(0).stdout;
    let shown = read(&shown);
    assert_eq!(shown["clusters"].as_object().unwrap().len(), 4);
    assert_eq!(shown["teams"]["ml-search"]["namespaces"], json!(["ml-search", "ml-search-preview"]));
    assert_eq!(shown["teams"]["ml-search"]["queues"], json!(["search"]));
    assert_eq!(shown["teams"]["ml-search"]["contact"], "@example/search-leads");
    assert_eq!(shown["teams"]["ml-train"]["members"], json!(["@bob"]));
    assert_eq!(shown["argocd"]["projects"]["ml-search"], json!(["prod-aws-*", "prod-gcp-euw4"]));
    assert_eq!(shown["argocd"]["projects"]["platform"], json!(["*"]));
    assert_eq!(
        shown["people"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["ann", "ann-gitlab", "bob", "carol"]
    );

    let later = [&["fleet", "sync"], &out[..], &["--now", "2027-03-01T00:00:00Z"]].concat();
    let again = sandbox.run(&later).exits(0);
    assert!(again.stderr.contains("fleet/generated/fleet.yaml is current"), "{}", again.stderr);
    sandbox.run(&[&later[..], &["--check"]].concat()).exits(0);
    assert_eq!(sandbox.read("fleet/generated/fleet.yaml"), text);
    // The order in which inputs are named is none of theirs.
    let turned: Vec<&str> = out.chunks(2).rev().flatten().copied().collect();
    sync(&sandbox, &[&turned[..], &["--check"]].concat()).exits(0);
}

#[test]
fn what_queues_promise_and_nodes_do_not_have_is_told() {
    let talk = sync(&sandbox(), ALL).exits(0).stderr;
    // 16 and 16 of three nodes of eight; two L4 are there, and four shares of another.
    for part in [
        "queues promise 32 of `nvidia.com/gpu` in flavour `h100`, whose nodes have 24",
        "queues promise 8 of `nvidia.com/gpu` in flavour `b200`, of which there is no node",
        "queues in namespaces of no team: `scratch/spare`",
        "which belong to no team: `kube-system`",
        "`release-bot` on GitHub is no active person",
    ] {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    assert!(!talk.contains("flavour `l4`"), "{talk}");
}

#[test]
fn a_change_is_shown_before_it_is_written() {
    let sandbox = sandbox();
    let out = ["--cluster", "a", "--environment", "prod", "--nodes", "gke-nodes.json", "--out", "a.yaml"];
    sync(&sandbox, &out).exits(0);
    let text = sandbox.read("gke-nodes.json");
    let fewer = text.replace("gke-prod-euw4-h100-0002", "gke-prod-euw4-other-0002").replacen(
        "\"nvidia.com/gpu\": \"8\"",
        "\"nvidia.com/gpu\": \"4\"",
        2,
    );
    sandbox.write("gke-nodes.json", fewer.as_bytes());
    let before = sandbox.read("a.yaml");
    let check = sync(&sandbox, &[&out[..], &["--check"]].concat()).exits(1);
    assert!(
        check.stdout.starts_with("a.yaml is not current\n  - clusters.a.accelerators: {"),
        "{}",
        check.stdout
    );
    assert_eq!(sandbox.read("a.yaml"), before);
    sync(&sandbox, &out).exits(0);
    assert_ne!(sandbox.read("a.yaml"), before);
}

#[test]
fn a_file_that_a_person_wrote_is_not_replaced() {
    let sandbox = sandbox();
    let before = sandbox.read("fleetgate.yaml");
    for check in [&[][..], &["--check"]] {
        let arguments = [
            "--cluster",
            "a",
            "--environment",
            "prod",
            "--nodes",
            "gke-nodes.json",
            "--out",
            "fleetgate.yaml",
        ];
        let run = sync(&sandbox, &[&arguments[..], check].concat()).exits(2);
        assert!(run.stderr.contains("error[not-generated]"), "{}", run.stderr);
        assert_eq!(sandbox.read("fleetgate.yaml"), before);
    }
}

#[test]
fn credentials_are_never_shown() {
    let sandbox = sandbox();
    let all = [ALL, &["--terraform", "terraform.json"]].concat();
    // One run that goes well, and inputs that are cut, of another kind, or given to another option.
    let secrets = sandbox.read("cluster-secrets.json");
    for (name, end) in [("half.json", secrets.len() / 2), ("most.json", secrets.len() - 3)] {
        sandbox.write(name, &secrets.as_bytes()[..end]);
    }
    sandbox.write(
        "flat.json",
        secrets.replace('\n', " ").replacen("\"kind\": \"List\"", "\"kind\": \"List", 1).as_bytes(),
    );
    let mut runs = vec![sync(&sandbox, &all)];
    for file in [
        "half.json",
        "most.json",
        "flat.json",
        "argocd-clusters.json",
        "cluster-secrets.json",
        "terraform.json",
    ] {
        for option in ["--clusters", "--terraform", "--namespaces", "--projects", "--github", "--gitlab"] {
            runs.push(sync(&sandbox, &[option, file]));
        }
        for option in ["--nodes", "--karpenter", "--kueue"] {
            runs.push(sync(&sandbox, &["--cluster", "a", option, file]));
        }
    }
    // As they stand, and as they would stand in a secret.
    for run in runs {
        for word in ["do-not-show-this", "eyJiZWFyZXJUb2tlbiI6"] {
            assert!(!run.all().contains(word), "{}", run.all());
        }
    }
}

#[test]
fn usage_that_means_nothing_is_refused() {
    let sandbox = sandbox();
    for (arguments, part) in [
        (&[][..], "there is nothing to derive a fleet file from"),
        (&["--nodes", "gke-nodes.json"], "which cluster `--nodes gke-nodes.json` is about is not said"),
        (
            &["--nodes", "b=gke-nodes.json", "--cluster", "a"],
            "is about cluster `b`, and `--cluster` says `a`",
        ),
        (&["--nodes", "a=none.json"], "cannot read `none.json` of `--nodes`"),
        (&["--nodes", "a=-", "--clusters", "-"], "two inputs cannot both be standard input"),
        (&["--nodes", "a=gke-nodes.json"], "the environment of cluster `a` is not known"),
        (&["--nodes", "a=gke-nodes.json", "--family", "X"], "`--family X` is no assignment"),
        (&["--nodes", "a=kueue.json"], "ResourceFlavor h100 of `kueue.x-k8s.io/v1beta1` is no `Node`"),
        (&["--check", "--nodes", "a=gke-nodes.json"], "--out"),
    ] {
        let run = sync(&sandbox, arguments).exits(2);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn standard_input_is_an_input() {
    let sandbox = sandbox();
    let nodes = sandbox.read("gke-nodes.json");
    let arguments = ["fleet", "sync", "--cluster", "a", "--environment", "prod", "--nodes", "-"];
    let run = sandbox.pipe(&arguments, &nodes).exits(0);
    assert!(run.stdout.contains("family: H100"), "{}", run.stdout);
}
