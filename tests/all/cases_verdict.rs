//! Failures that users reported of tools like this one: rules, data, verdict. Each test is named by
//! the public report it stands for.

use crate::support::Sandbox;

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: true, containers: []}\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
const HOST_NETWORK: &str = r#"package main

deny contains msg if {
    input.spec.hostNetwork
    msg := sprintf("%s uses the host network", [input.metadata.name])
}
"#;

/// The arguments of a check in conftest's style, with nothing else loaded.
fn conftest<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&["check", "--no-shipped-policies", "--policy", "policy", "--namespace", "main"], rest].concat()
}

#[test]
fn o08_a_bad_quantity_is_an_error_with_its_line() {
    let pod = "apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: c
      image: registry.example.org/c@sha256:0000000000000000000000000000000000000000000000000000000000000000
      resources: {limits: {memory: 1GB}}
";
    let sandbox = Sandbox::new(&[("both.yaml", &format!("{SERVICE}---\n{pod}"))]);
    let run = sandbox.run(&["check", "both.yaml", "-o", "json"]).exits(2);
    let problem = &run.json()["problems"][0];
    assert_eq!(problem["code"], "invalid-quantity");
    assert_eq!((&problem["file"], &problem["line"]), (&"both.yaml".into(), &12.into()));
    let text = sandbox.run(&["check", "both.yaml"]).exits(2).stdout;
    assert!(text.contains("both.yaml:12:36") && text.contains("did you mean `1G`"), "{text}");
}

#[test]
fn o11_a_namespace_that_matches_no_rule_is_an_error() {
    let sandbox =
        Sandbox::new(&[("policy/p.rego", &HOST_NETWORK.replace("main", "global.helm")), ("pod.yaml", POD)]);
    let run = sandbox
        .run(&["check", "--no-shipped-policies", "--policy", "policy", "--namespace", "global", "pod.yaml"])
        .exits(2);
    assert!(run.stderr.contains("`global`") && run.stderr.contains("global.helm"), "{}", run.stderr);
}

#[test]
fn o12_a_boolean_deny_is_an_error_or_a_denial_never_silence() {
    for style in ["--namespace main", "--namespace none"] {
        let package = if style.ends_with("main") { "main" } else { "fleetgate.local.gpu" };
        let policy = format!("package {package}\n\ndeny_no_gpu if true\n");
        let sandbox = Sandbox::new(&[("policy/p.rego", &policy), ("pod.yaml", POD)]);
        let mut arguments = vec!["check", "--no-shipped-policies", "--policy", "policy"];
        if package == "main" {
            arguments.extend(["--namespace", "main"]);
        }
        arguments.push("pod.yaml");
        let run = sandbox.run(&arguments).exits(2);
        assert!(run.stderr.contains("deny_no_gpu"), "{}", run.stderr);
        assert!(run.stderr.contains("policy/p.rego:3"), "{}", run.stderr);
    }
}

#[test]
fn o13_the_verdict_does_not_follow_the_last_file() {
    let sandbox = Sandbox::new(&[("policy/p.rego", HOST_NETWORK), ("bad.yaml", POD), ("good.yaml", SERVICE)]);
    for files in [["bad.yaml", "good.yaml"], ["good.yaml", "bad.yaml"]] {
        sandbox.run(&conftest(&files)).exits(1);
    }
}

#[test]
fn o14_each_document_of_a_file_is_judged() {
    let both = format!("{POD}---\n{SERVICE}");
    let sandbox = Sandbox::new(&[("policy/p.rego", HOST_NETWORK), ("both.yaml", &both)]);
    let run = sandbox.run(&conftest(&["both.yaml", "-o", "json"])).exits(1);
    let report = run.json();
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["findings"][0]["object"]["kind"], "Pod");
}

#[test]
fn o15_conflicting_data_names_both_files_and_the_path() {
    let sandbox = Sandbox::new(&[
        ("policy/p.rego", HOST_NETWORK),
        ("data/one.yaml", "quota: {a: {gpu: 8}, b: {gpu: 1}}\n"),
        ("data/two.yaml", "quota: {a: {gpu: 16}}\n"),
        ("pod.yaml", SERVICE),
    ]);
    let run = sandbox.run(&conftest(&["--data", "data", "pod.yaml"])).exits(2);
    for part in ["data/one.yaml", "data/two.yaml", "data.quota.a.gpu"] {
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    sandbox.write("data/two.yaml", b"quota: {c: {gpu: 16}}\n");
    sandbox.run(&conftest(&["--data", "data", "pod.yaml"])).exits(0);
}

#[test]
fn o16_a_failing_builtin_never_lets_a_resource_pass() {
    let policy = r#"package main

deny contains "too big" if {
    some c in input.spec.containers
    units.parse(c.resources.limits.memory) > units.parse("2Gi")
}
"#;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {limits: {memory: 4GiB}}}]}\n";
    let sandbox = Sandbox::new(&[("policy/p.rego", policy), ("pod.yaml", pod)]);
    let run = sandbox.run(&conftest(&["pod.yaml"])).exits(2);
    assert!(run.all().contains("main/deny"), "{}", run.all());
    assert!(run.all().contains("4GiB") || run.all().contains("units.parse"), "{}", run.all());
}

#[test]
fn o17_fifty_runs_on_one_and_sixteen_threads_print_the_same_bytes() {
    let pods = (0..20).map(|i| POD.replace("name: p", &format!("name: p{i}")));
    let pods = pods.collect::<Vec<_>>().join("---\n");
    let sandbox = Sandbox::new(&[("policy/p.rego", HOST_NETWORK), ("pods.yaml", &pods)]);
    let first = sandbox.run(&conftest(&["pods.yaml", "-o", "json", "-j", "1"])).exits(1);
    assert_eq!(first.json()["findings"].as_array().unwrap().len(), 20);
    for round in 0..25 {
        for jobs in ["1", "16"] {
            let run = sandbox.run(&conftest(&["pods.yaml", "-o", "json", "-j", jobs]));
            assert_eq!(run.stdout, first.stdout, "round {round}, {jobs} threads");
        }
    }
}

#[test]
fn o18_a_warning_rule_does_not_weaken_a_denying_one() {
    let warn = "package main\n\nwarn contains \"mind the host network\" if input.spec.hostNetwork\n";
    for (first, second) in [(warn, HOST_NETWORK), (HOST_NETWORK, warn)] {
        let sandbox = Sandbox::new(&[("policy/a.rego", first), ("policy/b.rego", second), ("pod.yaml", POD)]);
        let run = sandbox.run(&conftest(&["pod.yaml"])).exits(1);
        assert!(run.stdout.contains("mind the host network"), "{}", run.stdout);
        assert!(run.stdout.contains("p uses the host network"), "{}", run.stdout);
    }
}

#[test]
fn o20_the_exit_status_is_the_same_in_every_format() {
    let formats =
        ["text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown", "tap", "table"];
    let cases = [(POD, 1), (SERVICE, 0), ("a: [", 2)];
    for (manifest, status) in cases {
        let sandbox = Sandbox::new(&[("policy/p.rego", HOST_NETWORK), ("m.yaml", manifest)]);
        for format in formats {
            sandbox.run(&conftest(&["m.yaml", "-o", format])).exits(status);
        }
    }
    let sandbox = Sandbox::new(&[("policy/p.rego", HOST_NETWORK), ("empty/.keep", "")]);
    for format in formats {
        sandbox.run(&conftest(&["empty", "-o", format])).exits(3);
    }
}

#[test]
fn a_tree_of_charts_says_what_to_do_instead_of_passing() {
    let sandbox = Sandbox::new(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("chart/values.yaml", "replicas: 2\n"),
        ("chart/templates/web.yaml", "kind: Deployment\nspec: {replicas: {{ .Values.replicas }}}\n"),
    ]);
    let run = sandbox.run(&["check", "."]).exits(3);
    assert!(run.stdout.contains("1 chart, kustomization or the like is not rendered"), "{}", run.stdout);
    assert!(run.stdout.contains("helm template"), "{}", run.stdout);
}
