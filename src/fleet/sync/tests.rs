use std::sync::Arc;

use super::*;
use crate::model::Problem;

fn input(source: Source, of: Option<&str>, text: &str) -> Input {
    let file = Arc::new(format!("{}.json", source.name()).into());
    Input { source, of: of.map(str::to_owned), file, text: text.into() }
}

/// A node with so many GPUs, its labels and more of its `status`.
fn node(name: &str, labels: &str, allocatable: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{name}", "labels": {{{labels}}}}},
            "status": {{"allocatable": {{{allocatable}}}}}}}"#
    )
}

fn list(items: &[String]) -> String {
    format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#, items.join(",\n"))
}

fn options() -> Options {
    let known = |word: &str| Some(word.to_owned());
    Options { cluster: known("a"), environment: known("prod"), ..Options::default() }
}

fn of_nodes(nodes: &[String]) -> Derived {
    derive(vec![input(Source::Nodes, None, &list(nodes))], &options()).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn pools(derived: &Derived) -> Vec<(String, String, u32, Option<u32>)> {
    let pools = derived.document.clusters["a"].0.accelerators.clone().unwrap();
    pools.into_iter().map(|pool| (pool.family, pool.resource, pool.per_node, pool.nodes)).collect()
}

fn wrong(inputs: Vec<Input>, options: &Options) -> Vec<Problem> {
    match derive(inputs, options) {
        Err(Error::Problems(problems)) => problems,
        other => panic!("nothing is wrong: {other:?}"),
    }
}

fn says(problems: &[Problem], part: &str) -> bool {
    problems.iter().any(|problem| problem.message.contains(part))
}

const H100: &str = r#""nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3""#;
const GPU8: &str = r#""nvidia.com/gpu": "8""#;

#[test]
fn equal_nodes_are_one_pool_whatever_their_order() {
    let mut nodes: Vec<_> = (0..3).map(|n| node(&format!("n{n}"), H100, GPU8)).collect();
    nodes.push(node("other", r#""nvidia.com/gpu.product": "Tesla-T4""#, r#""nvidia.com/gpu": 1"#));
    let expected = [
        ("H100".to_owned(), "nvidia.com/gpu".to_owned(), 8, Some(3)),
        ("T4".to_owned(), "nvidia.com/gpu".to_owned(), 1, Some(1)),
    ];
    assert_eq!(pools(&of_nodes(&nodes)), expected);
    nodes.reverse();
    assert_eq!(pools(&of_nodes(&nodes)), expected);
}

#[test]
fn five_thousand_nodes_are_counted() {
    let nodes: Vec<_> = (0..5000).map(|n| node(&format!("n{n}"), H100, GPU8)).collect();
    assert_eq!(pools(&of_nodes(&nodes)), [("H100".to_owned(), "nvidia.com/gpu".to_owned(), 8, Some(5000))]);
}

#[test]
fn a_model_that_is_not_known_is_reported_and_kept() {
    let label = r#""nvidia.com/gpu.product": "NVIDIA-X900""#;
    let nodes = [node("n", label, GPU8), node("bare", "", r#""nvidia.com/gpu": "2""#)];
    let derived = of_nodes(&nodes);
    let families: Vec<_> = pools(&derived).into_iter().map(|pool| pool.0).collect();
    assert_eq!(families, ["NVIDIA-X900", "unknown"]);
    assert_eq!(derived.remarks.len(), 2, "{:?}", derived.remarks);
    assert!(derived.remarks[0].contains("node `bare`: no label names the model"), "{:?}", derived.remarks);
    assert!(derived.remarks[1].contains("`--family NVIDIA-X900=FAMILY`"), "{:?}", derived.remarks);

    let told = Options { families: [("NVIDIA-X900".to_owned(), "X900".to_owned())].into(), ..options() };
    let derived = derive(vec![input(Source::Nodes, None, &list(&nodes[..1]))], &told).unwrap();
    assert_eq!(pools(&derived)[0].0, "X900");
    assert!(derived.remarks.is_empty(), "{:?}", derived.remarks);
}

#[test]
fn devices_come_in_whole_numbers() {
    for (quantity, count) in [("8", 8), ("8000m", 8), ("8e0", 8), ("1k", 1000)] {
        let nodes = [node("n", H100, &format!(r#""nvidia.com/gpu": "{quantity}""#))];
        assert_eq!(pools(&of_nodes(&nodes))[0].2, count, "{quantity}");
    }
    for quantity in [r#""0.5""#, r#""-1""#, r#""eight""#, "null", "[]", r#""5G""#] {
        let nodes = list(&[node("n", H100, &format!(r#""nvidia.com/gpu": {quantity}"#))]);
        let problems = wrong(vec![input(Source::Nodes, None, &nodes)], &options());
        assert!(
            says(&problems, "node `n`: `nvidia.com/gpu` in `status.allocatable`"),
            "{quantity} {problems:?}"
        );
    }
}

#[test]
fn what_is_no_node_is_named() {
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}}"#;
    let text = list(&[node("n", H100, GPU8), pod.to_owned()]);
    let problems = wrong(vec![input(Source::Nodes, None, &text)], &options());
    assert!(says(&problems, "Pod ml/p of `v1` is no `Node`"), "{problems:?}");
    assert_eq!(problems[0].span.map(|span| span.line), Some(3), "{problems:?}");

    let nameless = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {}}"#.to_owned();
    assert!(says(
        &wrong(vec![input(Source::Nodes, None, &list(&[nameless]))], &options()),
        "no `metadata.name`"
    ));
    let bare = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}"#.to_owned();
    assert!(says(
        &wrong(vec![input(Source::Nodes, None, &list(&[bare]))], &options()),
        "no `status.allocatable`"
    ));
    assert!(says(&wrong(vec![input(Source::Nodes, None, &list(&[]))], &options()), "names nothing"));
    assert!(says(&wrong(vec![input(Source::Nodes, None, "")], &options()), "names nothing"));
}

#[test]
fn a_node_counts_once() {
    let nodes = list(&[node("n", H100, GPU8), node("n", H100, GPU8)]);
    let problems = wrong(vec![input(Source::Nodes, None, &nodes)], &options());
    assert!(says(&problems, "node `n` of cluster `a` is listed twice"), "{problems:?}");
}

#[test]
fn a_part_of_an_output_is_no_input_and_nothing_of_it_is_shown() {
    let whole = list(&[node("secret-name", H100, GPU8)]);
    for end in 1..whole.len() {
        let problems = wrong(vec![input(Source::Nodes, None, whole.get(..end).unwrap())], &options());
        assert!(says(&problems, "no JSON or YAML, or not all of it"), "{end}: {problems:?}");
        assert!(problems.iter().all(|problem| problem.source.is_none()), "{end}");
        assert!(!says(&problems, "secret"), "{end}");
    }
}

#[test]
fn typed_lists_and_pages_are_lists() {
    let node = node("n", H100, GPU8).replace(r#""apiVersion": "v1", "kind": "Node", "#, "");
    let text = format!(r#"{{"apiVersion": "v1", "kind": "NodeList", "items": [{node}]}}"#);
    let derived = derive(vec![input(Source::Nodes, None, &text)], &options()).unwrap();
    assert_eq!(pools(&derived)[0].3, Some(1));
    let members = r#"[[{"login": "ann"}], [{"login": "bob"}]]"#;
    let derived = derive(vec![input(Source::GitHub, None, members)], &Options::default()).unwrap();
    assert_eq!(derived.document.people.keys().collect::<Vec<_>>(), ["ann", "bob"]);
}

#[test]
fn two_sources_may_complete_each_other_and_may_not_contradict() {
    let argocd =
        r#"[{"server": "https://a", "name": "a", "labels": {"environment": "prod", "tier": "gpu"}}]"#;
    let terraform = |environment: &str| {
        format!(
            r#"{{"fleetgate_clusters": {{"value": {{"a": {{"environment": "{environment}", "region": "eu"}}}}}}}}"#
        )
    };
    let inputs = |environment: &str| {
        vec![input(Source::Clusters, None, argocd), input(Source::Terraform, None, &terraform(environment))]
    };
    let derived = derive(inputs("prod"), &Options::default()).unwrap();
    let cluster = &derived.document.clusters["a"].0;
    assert_eq!((cluster.region.as_deref(), cluster.labels["tier"].as_str()), (Some("eu"), "gpu"));

    let problems = wrong(inputs("uat"), &Options::default());
    let message = "cluster `a` has the environment `prod` in argocd clusters and `uat` in terraform output";
    assert_eq!(problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [message]);
    // The same with the command line.
    let uat = Options { environment: Some("uat".to_owned()), ..options() };
    assert!(says(
        &wrong(inputs("prod"), &uat),
        "`prod` in argocd clusters and terraform output, and `uat` elsewhere"
    ));
}

#[test]
fn clusters_need_a_name_an_environment_and_no_double() {
    let text = r#"[{"server": "https://a", "name": "arn:aws:eks:us-east-1:1:cluster/a", "labels": {}},
        {"server": "https://b", "name": "b", "labels": {"environment": "dev"}},
        {"server": "https://b", "name": "c", "labels": {"environment": "dev"}},
        {"server": "https://d", "name": "b", "labels": {"environment": "dev"}},
        {"server": "https://e", "name": "e"}, {"name": "f"}]"#;
    let problems = wrong(vec![input(Source::Clusters, None, text)], &Options::default());
    for part in [
        "`arn:aws:eks:us-east-1:1:cluster/a` is no name for a cluster",
        "clusters `b` and `c` have the same server",
        "cluster `b` is listed twice",
        "the environment of cluster `e` is not known",
        "no `server` that can be read",
    ] {
        assert!(says(&problems, part), "{part}: {problems:?}");
    }
    assert_eq!(problems.len(), 5, "{problems:?}");
}

#[test]
fn a_namespace_has_one_team_in_all_clusters() {
    let namespace = |team: &str| {
        list(&[format!(
            r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "ml", "labels": {{"owner": "{team}"}}}}}}"#
        )])
    };
    let by_owner = Options { team_label: "owner".to_owned(), ..Options::default() };
    let both = |one: &str, other: &str| {
        vec![
            input(Source::Namespaces, Some("x"), &namespace(one)),
            input(Source::Namespaces, Some("y"), &namespace(other)),
        ]
    };
    let derived = derive(both("train", "train"), &by_owner).unwrap();
    assert_eq!(derived.document.teams["train"].0.namespaces, ["ml"]);
    assert!(says(&wrong(both("train", "search"), &by_owner), "belongs to the teams `train` and `search`"));
}

#[test]
fn the_same_login_elsewhere_is_somebody_else_without_an_address() {
    let github = r#"[{"login": "ann", "email": "ann@example.org"}, {"login": "bob"}]"#;
    let gitlab = r#"[{"username": "a.nn", "email": "Ann@example.org"}, {"username": "bob"}]"#;
    let inputs = vec![input(Source::GitLab, None, gitlab), input(Source::GitHub, None, github)];
    let people = derive(inputs, &Options::default()).unwrap().document.people;
    assert_eq!(people.keys().collect::<Vec<_>>(), ["ann", "bob", "bob-gitlab"]);
    assert_eq!(
        (people["ann"].github.0.as_slice(), people["ann"].gitlab.0.as_slice()),
        (["ann".to_owned()].as_slice(), ["a.nn".to_owned()].as_slice())
    );
}

#[test]
fn a_destination_that_cannot_be_said_is_named() {
    let project = |destinations: &str| {
        list(&[format!(
            r#"{{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {{"name": "p"}}, "spec": {{"destinations": [{destinations}]}}}}"#
        )])
    };
    for (destination, part) in [
        (r#"{"server": "https://x"}"#, "which cluster `https://x` is, is not known"),
        (r#"{"name": "!prod-*"}"#, "excludes a destination"),
        (r#"{"namespace": "x"}"#, "without `name` and `server`"),
    ] {
        let problems = wrong(vec![input(Source::Projects, None, &project(destination))], &Options::default());
        assert!(says(&problems, part), "{destination}: {problems:?}");
    }
}

#[test]
fn an_output_of_terraform_has_a_shape() {
    for (text, part) in [
        (r#"{"other": {"value": 1}}"#, "no output `fleetgate_clusters`"),
        (r#"{"fleetgate_clusters": {"sensitive": true, "value": {}}}"#, "is sensitive"),
        (r#"{"fleetgate_clusters": {"value": []}}"#, "is no map"),
        (
            r#"{"fleetgate_clusters": {"value": {"a": {"enviroment": "prod"}}}}"#,
            "`fleetgate_clusters.a`: unknown key",
        ),
    ] {
        let problems = wrong(vec![input(Source::Terraform, None, text)], &Options::default());
        assert!(says(&problems, part), "{text}: {problems:?}");
    }
}

fn day(text: &str) -> jiff::civil::Date {
    text.parse().unwrap()
}

fn written(derived: &Derived, old: Option<&str>, today: &str) -> Result<State> {
    state(derived, "fleet/generated/a.yaml".into(), old, day(today))
}

#[test]
fn a_file_changes_only_with_what_it_says() {
    let three: Vec<_> = (0..3).map(|n| node(&format!("n{n}"), H100, GPU8)).collect();
    let derived = of_nodes(&three);
    let Ok(State::New { text }) = written(&derived, None, "2026-12-01") else { panic!("no file yet") };
    assert!(text.contains("date: \"2026-12-01\""), "{text}");
    // A later day is no change.
    assert_eq!(written(&derived, Some(&text), "2026-12-24").unwrap(), State::Current);
    let fewer = of_nodes(&three[..2]);
    let Ok(State::Changed { text: new, changes }) = written(&fewer, Some(&text), "2026-12-24") else {
        panic!("two nodes are fewer")
    };
    assert_eq!(changes, ["~ clusters.a.accelerators[H100].nodes: 3 → 2"]);
    assert!(new.contains("date: \"2026-12-24\""), "{new}");
    // What a person changed in it is put back.
    let touched = text.replace("# Written", "# Touched");
    let Ok(State::Changed { changes, .. }) = written(&derived, Some(&touched), "2026-12-24") else {
        panic!("the text is another")
    };
    assert_eq!(changes, ["~ how it is written"]);
}

#[test]
fn what_a_person_wrote_is_not_replaced() {
    let derived = of_nodes(&[node("n", H100, GPU8)]);
    for old in [
        "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n",
        "",
        "generated: {source: x}\n",
        "a: [\n",
        "- 1\n",
    ] {
        let Err(Error::Problems(problems)) = written(&derived, Some(old), "2026-12-01") else {
            panic!("{old:?} is replaced")
        };
        assert_eq!(problems[0].code, "not-generated", "{old:?}");
    }
}

/// Every value of a JSON document, by its way from the root.
fn ways(value: &serde_json::Value, way: &str, into: &mut Vec<String>) {
    into.push(way.to_owned());
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                ways(value, &format!("{way}/{key}"), into);
            }
        }
        // The first two of a list stand for all.
        serde_json::Value::Array(items) => {
            for (index, value) in items.iter().enumerate().take(2) {
                ways(value, &format!("{way}/{index}"), into);
            }
        }
        _ => {}
    }
}

#[test]
fn whatever_stands_anywhere_no_secret_is_shown() {
    let dir = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sync");
    let files = [
        ("argocd-clusters.json", Source::Clusters),
        ("cluster-secrets.json", Source::Clusters),
        ("terraform.json", Source::Terraform),
        ("dc-nodes.json", Source::Nodes),
        ("nodepools.json", Source::Karpenter),
        ("kueue.json", Source::Kueue),
        ("namespaces.json", Source::Namespaces),
        ("projects.json", Source::Projects),
        ("github-members.json", Source::GitHub),
        ("gitlab-members.json", Source::GitLab),
    ];
    let words = ["null", "-1", "\"x\"", "[null]", "{\"x\": []}"];
    let mut count = 0;
    for (file, source) in files {
        let text = std::fs::read_to_string(dir.join(file)).unwrap();
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut all = Vec::new();
        ways(&whole, "", &mut all);
        for way in all {
            for word in words {
                let mut other = whole.clone();
                *other.pointer_mut(&way).unwrap() = serde_json::from_str(word).unwrap();
                let result = derive(vec![input(source, None, &other.to_string())], &options());
                let shown = format!("{result:?}");
                assert!(!shown.contains("do-not-show-this"), "{file} {way} {word}: {shown}");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn a_list_that_is_none_and_a_taint_that_is_none_are_named() {
    let tainted = |taints: &str| {
        let node = node("n", H100, GPU8);
        list(&[node.replacen("\"status\"", &format!("\"spec\": {{\"taints\": {taints}}}, \"status\""), 1)])
    };
    for (taints, part) in [
        ("\"x\"", "Node n: `spec.taints` is no list"),
        (r#"[{"key": "x", "effect": "NoShedule"}]"#, "Node n has a taint that is none"),
        (r#"[{"effect": "NoSchedule"}]"#, "Node n has a taint that is none"),
    ] {
        let problems = wrong(vec![input(Source::Nodes, None, &tainted(taints))], &options());
        assert!(says(&problems, part), "{taints}: {problems:?}");
    }
}
