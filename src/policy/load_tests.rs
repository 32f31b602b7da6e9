//! Loading as a whole, from files on disk.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use camino::Utf8PathBuf;
use tempfile::TempDir;

use super::load::{Convention, Files, LoadOptions, Location, Source, load};
use super::set::{Need, PolicySet, Reads, Style, Target};
use crate::model::{Level, Problem, Route, Value};

/// Files in a directory of their own.
struct Tree(TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(TempDir::new().unwrap());
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn path(&self, path: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.0.path().join(path)).unwrap()
    }

    /// The directories `policy` and, if there is one, `data`.
    fn source(&self, convention: Convention) -> Source {
        let data = self.path("data");
        let data = if data.exists() { vec![data] } else { Vec::new() };
        Source::Files(Files { convention, policies: vec![self.path("policy")], data })
    }

    fn native(&self) -> Result<PolicySet, Vec<String>> {
        self.shown(load(&[self.source(Convention::Native)], &LoadOptions::default()))
    }

    fn conftest(&self, namespaces: &[&str]) -> Result<PolicySet, Vec<String>> {
        let namespaces = namespaces.iter().map(|name| Arc::from(*name)).collect();
        self.shown(load(&[self.source(Convention::Conftest { namespaces })], &LoadOptions::default()))
    }

    /// Problems as `file:line:column: message (help)` with paths from the directory on.
    fn shown(&self, result: Result<PolicySet, Vec<Problem>>) -> Result<PolicySet, Vec<String>> {
        let root = format!("{}/", self.path("").as_str().trim_end_matches('/'));
        result.map_err(|problems| problems.iter().map(|problem| shown(problem).replace(&root, "")).collect())
    }
}

fn shown(problem: &Problem) -> String {
    let mut text = problem.file.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    if let Some(span) = problem.span {
        text = format!("{text}:{}:{}", span.line, span.column);
    }
    text = format!("{text}: {}", problem.message);
    if let Some(help) = &problem.help {
        text = format!("{text} ({help})");
    }
    text
}

/// A native rule with this package ending and these lines behind the package statement.
fn native(rule: &str, body: &str) -> Tree {
    Tree::new(&[("policy/a.rego", &format!("package fleetgate.local.{rule}\n\n{body}\n"))])
}

fn errors(result: Result<PolicySet, Vec<String>>) -> Vec<String> {
    result.expect_err("loading must fail")
}

/// The message of the only problem.
fn error(result: Result<PolicySet, Vec<String>>) -> String {
    let mut errors = errors(result);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.remove(0)
}

const DENY: &str = "deny contains \"x\" if input.object.kind == \"Pod\"";

fn ids(set: &PolicySet) -> Vec<&str> {
    set.rules.iter().map(|rule| &*rule.id).collect()
}

#[test]
fn the_shipped_packs_load() {
    let set = load(&[Source::Shipped], &LoadOptions::default());
    let set = set.unwrap_or_else(|problems| panic!("{:#?}", problems.iter().map(shown).collect::<Vec<_>>()));
    assert!(ids(&set).contains(&"gitops/image-digest"));
    let rule = set.rules.iter().find(|rule| &*rule.id == "gitops/image-digest").unwrap();
    assert_eq!(&*rule.package, "fleetgate.gitops.image_digest");
    assert_eq!(rule.level, Level::Warn);
    assert!(rule.matches.workloads);
    assert!(rule.page.is_some());
    for rule in &set.rules {
        assert_ne!(rule.reads, Reads::Anything, "{} would be evaluated once per cluster", rule.id);
    }
}

#[test]
fn a_rule_of_ones_own_has_defaults() {
    let set = native("gpu.limit_set", DENY).native().unwrap();
    assert_eq!(ids(&set), ["gpu/limit-set"]);
    let rule = &set.rules[0];
    assert_eq!((rule.level, rule.target), (Level::Deny, Target::Resource));
    assert_eq!(&*rule.title, "gpu/limit-set");
    assert_eq!(rule.entries.len(), 1);
    assert_eq!(set.sets[0].style, Style::Native);
    assert_eq!(ids(&native("limit_set", DENY).native().unwrap()), ["local/limit-set"]);
}

#[test]
fn metadata_says_everything_about_a_rule() {
    let text = "# Copyright\n\n# METADATA\n# title: Größe\n# description: >-\n#   Two\n#   lines.\n\
        # related_resources:\n#   - ref: https://example.org/a\n#     description: A\n# custom:\n#   level: info\n\
        #   target: resource\n#   match: {kinds: [Pod], apiGroups: [\"\"], environments: [prod], workloads: true, operations: [CREATE]}\n\
        #   needs: [time, fleet]\n#   faces: [ci, admission]\n#   params:\n#     most:\n#       type: integer\n#       default: 3\n\
        #       description: The most.\npackage fleetgate.local.a\n\ndeny contains \"x\" if input.now.ns > data.params.local.a.most\n";
    let set = Tree::new(&[("policy/a.rego", text)]).native().unwrap();
    let rule = &set.rules[0];
    assert_eq!((&*rule.title, &*rule.description), ("Größe", "Two lines."));
    assert_eq!(rule.url.as_deref(), Some("https://example.org/a"));
    assert_eq!(rule.level, Level::Info);
    assert_eq!(rule.needs, BTreeSet::from([Need::Time, Need::Fleet]));
    assert_eq!(rule.matches.kinds, ["Pod".into()]);
    assert_eq!(rule.matches.api_groups, ["".into()]);
    assert_eq!(rule.matches.operations, ["CREATE".into()]);
    assert!(rule.matches.workloads);
    assert_eq!(rule.faces.len(), 2);
    assert_eq!(rule.reads, Reads::Only(BTreeSet::from(["now".into()])));
    assert_eq!(set.sets[0].data["params"]["local"]["a"]["most"], Value::from(3_u64));
}

#[test]
fn metadata_that_is_wrong_is_named_with_its_line() {
    let metadata = |custom: &str| {
        error(
            Tree::new(&[(
                "policy/a.rego",
                &format!("# METADATA\n# title: A\n# custom:\n{custom}package fleetgate.local.a\n\n{DENY}\n"),
            )])
            .native(),
        )
    };
    assert_eq!(
        metadata("#   levle: warn\n"),
        "policy/a.rego:4:5: unknown key `custom.levle` in the metadata (did you mean `level`?)"
    );
    assert_eq!(
        metadata("#   level: error\n"),
        "policy/a.rego:4:5: `custom.level` cannot be `error` (known: `deny`, `warn`, `info`)"
    );
    assert_eq!(
        metadata("#   match:\n#     kind: [Pod]\n"),
        "policy/a.rego:5:7: unknown key `custom.match.kind` in the metadata (did you mean `kinds`?)"
    );
    assert_eq!(
        metadata("#   match:\n#     namespaces: [\"ml-[\"]\n"),
        "policy/a.rego:5:7: `custom.match.namespaces` has `ml-[`, which is no glob: unclosed character class; missing ']'"
    );
    assert_eq!(
        metadata("#   params:\n#     a: {type: strnig, default: x, description: d}\n"),
        "policy/a.rego:5:7: `custom.params.a` `type` cannot be `\"strnig\"`"
    );
    assert_eq!(
        metadata("#   params:\n#     a: {type: string, default: 3, description: d}\n"),
        "policy/a.rego:5:7: `custom.params.a` has a default that breaks its schema: must be of type string, not `3`"
    );
    assert!(metadata("#   level: [\n").starts_with("policy/a.rego:"));
}

#[test]
fn entries_that_would_never_fire_are_refused() {
    assert_eq!(
        error(native("a", "deny if input.object.kind == \"Pod\"").native()),
        "policy/a.rego:3:1: `deny` is not a partial set, so its findings would be lost (write `deny contains finding if { … }`)"
    );
    assert!(error(native("a", "deny := \"x\"").native()).contains("not a partial set"));
    assert!(error(native("a", "deny(x) := x").native()).contains("not a partial set"));
    assert!(error(native("a", "deny[x] := 1 if some x in [1]").native()).contains("not a partial set"));
    assert!(error(native("a", "deny.x := 1").native()).contains("not a partial set"));
    assert_eq!(
        error(native("a", "deny_gpu contains \"x\"").native()),
        "policy/a.rego:3:1: `deny_gpu` would never be evaluated: a rule's findings are in `deny` and `warn` (write `deny contains finding if { … }`, or give a helper another name)"
    );
    assert!(error(native("a", "x := 1").native()).contains("has neither `deny` nor `warn`"));
    assert!(
        error(Tree::new(&[("policy/a.rego", "package kubernetes\n\ndeny contains \"x\"\n")]).native())
            .contains("would never be evaluated")
    );
    let test = Tree::new(&[
        ("policy/a.rego", &format!("package fleetgate.local.a\n\n{DENY}\n")),
        ("policy/b_test.rego", "package fleetgate.local.b\n\ndeny contains \"x\"\n"),
    ]);
    assert!(
        error(test.native()).starts_with("policy/b_test.rego:3:1: `deny` in a test module is never enforced")
    );
}

#[test]
fn names_are_unique_and_reserved() {
    let twice = Tree::new(&[
        ("policy/a.rego", &format!("package fleetgate.local.a\n\n{DENY}\n")),
        ("policy/b.rego", &format!("package fleetgate.local.a\n\n{DENY}\n")),
    ]);
    let message = error(twice.native());
    assert!(message.contains("policy/a.rego") && message.contains("policy/b.rego"), "{message}");
    let same_id = Tree::new(&[
        ("policy/a.rego", &format!("package fleetgate.local.a\n\n{DENY}\n")),
        ("policy/b.rego", &format!("package fleetgate.local.local.a\n\n{DENY}\n")),
    ]);
    let message = error(same_id.native());
    assert!(
        message.contains("rule `local/a` is defined in `") && message.contains("policy/b.rego"),
        "{message}"
    );
    assert!(error(native("gitops.image_digest", DENY).native()).contains("comes with the program"));
    for package in ["fleetgate.gitops.image_digest", "fleetgate.lib.image", "fleetgate.mine", "fleetgate"] {
        let tree = Tree::new(&[("policy/a.rego", &format!("package {package}\n\nx := 1\n"))]);
        assert!(errors(tree.native()).iter().any(|error| error.contains("is reserved")), "{package}");
    }
    let tree = Tree::new(&[("policy/a.rego", &format!("package fleetgate.local.A\n\n{DENY}\n"))]);
    assert!(error(tree.native()).contains("snake case"));
}

#[test]
fn refused_and_unknown_functions_are_named_with_their_line() {
    let call =
        |expression: &str| native("a", &format!("deny contains \"x\" if {{\n\t{expression}\n}}")).native();
    for name in [
        "http.send({})",
        "opa.runtime()",
        "rand.intn(\"a\", 3)",
        "uuid.rfc4122(\"a\")",
        "time.now_ns()",
        "net.lookup_ip_addr(\"a\")",
        "rego.parse_module(\"a\", \"b\")",
    ] {
        let message = error(call(&format!("x := {name}")));
        let function = name.split('(').next().unwrap();
        assert!(message.starts_with(&format!("policy/a.rego:4:7: `{function}` is refused")), "{message}");
    }
    assert_eq!(
        error(call("starts_with(input.object.kind, \"P\")")),
        "policy/a.rego:4:2: `starts_with` is called but neither the engine nor a loaded module has it (did you mean `startswith`?)"
    );
    assert!(error(call("io.jwt.decode(\"a\")")).contains("`io.jwt.decode` is called but"));
    assert!(error(call("data.lib.k8s.missing(1)")).contains("`data.lib.k8s.missing` is called but"));
    assert!(error(call("startswith(\"a\")")).contains("`startswith` takes 2 argument(s), not 1"));
    assert!(
        error(native("a", &format!("{DENY}\n\nx := 1\n\ny := x(1)")).native())
            .contains("`x` is called but is no function")
    );
    call("walk(input.object, [path, value]); startswith(\"a\", \"a\"); print(1, 2, 3)").unwrap();
    call("[fleetgate.glob(\"a\", \"b\") | true]").unwrap();
    native("a", "deny contains f(\"x\") if true\n\nf(x) := x").native().unwrap();
}

#[test]
fn functions_of_libraries_are_found() {
    let library = "package lib.k8s\n\ncontainers(object) := object.spec.containers\n";
    let rule = |import: &str, call: &str| {
        format!(
            "package fleetgate.local.a\n\n{import}\n\ndeny contains c.name if some c in {call}(input.object)\n"
        )
    };
    for (import, call) in [
        ("import data.lib.k8s", "k8s.containers"),
        ("import data.lib.k8s as k", "k.containers"),
        ("", "data.lib.k8s.containers"),
        ("import data.lib.k8s.containers", "containers"),
        ("import data.lib", "lib.k8s.containers"),
    ] {
        let tree = Tree::new(&[("policy/lib.rego", library), ("policy/a.rego", &rule(import, call))]);
        let set = tree.native().unwrap_or_else(|errors| panic!("{import} {call}: {errors:#?}"));
        assert_eq!(set.rules[0].reads, Reads::Only(BTreeSet::new()));
    }
    let tree = Tree::new(&[
        ("policy/lib.rego", library),
        ("policy/a.rego", &rule("import data.lib.k8s", "k8s.contaners")),
    ]);
    assert!(error(tree.native()).contains("did you mean `k8s.containers`?"));
    // Our own libraries are always there.
    native("a", "import data.fleetgate.lib.values\n\ndeny contains \"x\" if values.list(input.object)")
        .native()
        .unwrap();
}

#[test]
fn recursion_is_refused() {
    let message = error(native("a", &format!("{DENY}\n\nf(x) := f(x + 1)")).native());
    assert!(message.contains("`fleetgate.local.a.f` → `fleetgate.local.a.f`"), "{message}");
    let message = error(
        native("a", &format!("{DENY}\n\nf(x) := g(x)\n\ng(x) := h if {{\n\th := [f(y) | some y in x]\n}}"))
            .native(),
    );
    assert!(
        message.contains("`fleetgate.local.a.f` → `fleetgate.local.a.g` → `fleetgate.local.a.f`"),
        "{message}"
    );
    assert!(error(native("a", "deny contains \"x\" if count(deny) == 0").native()).contains("in a circle"));
    assert!(
        error(native("a", &format!("{DENY}\n\nx if y\n\ny if data.fleetgate.local.a.x")).native())
            .contains("in a circle")
    );
    assert!(
        error(native("a", &format!("{DENY}\n\nf(x) := r\n\nr := f(1)")).native()).contains("in a circle")
    );
    // Names of variables are no calls.
    native("a", &format!("{DENY}\n\nname(object) := name if name := object.metadata.name\n\nlabels(x) := [labels | some labels in x]\n\nkey[\"a\"] := 1\n\nkey[\"b\"] := key.a")).native().unwrap();
}

#[test]
fn what_a_rule_reads_is_never_too_little() {
    let only = |keys: &[&str]| Reads::Only(keys.iter().map(|key| Arc::from(*key)).collect());
    let reads = |body: &str| native("a", body).native().map(|set| set.rules[0].reads.clone());
    let deny = |condition: &str| reads(&format!("deny contains \"x\" if {{\n\t{condition}\n}}"));
    assert_eq!(deny("input.object.kind == \"Pod\""), Ok(only(&[])));
    assert_eq!(
        deny("input.cluster.name == \"a\"; input[\"environment\"] == \"b\"; input.object.a"),
        Ok(only(&["cluster.name", "environment"]))
    );
    assert_eq!(deny("some c in input.workload.pods; c.role"), Ok(only(&["workload"])));
    assert_eq!(deny("x := input; x.cluster"), Ok(Reads::Anything));
    assert_eq!(deny("some k, v in input; k == v"), Ok(Reads::Anything));
    assert_eq!(deny("some k; input[k] == 1"), Ok(Reads::Anything));
    assert_eq!(deny("walk(input, [p, v]); p == v"), Ok(Reads::Anything));
    assert_eq!(deny("walk(input.object, [p, v]); p == v"), Ok(only(&[])));
    assert_eq!(deny("data.lib.x with input as {\"a\": 1}"), Ok(Reads::Anything));
    assert_eq!(deny("data.lib.x with input.object as {\"a\": 1}"), Ok(Reads::Anything));
    assert_eq!(deny("object.get(input, \"cluster\", 1) == 1"), Ok(Reads::Anything));
    assert_eq!(deny("y := [c | c := input.cluster][0]; y"), Ok(only(&["cluster"])));
    assert_eq!(reads("deny contains input.cluster[input.team]"), Ok(only(&["cluster", "team"])));
    assert_eq!(
        deny("every p in input.team.members { p != input.operation }"),
        Ok(only(&["operation", "team"]))
    );
    assert_eq!(deny("not input.old"), Ok(only(&["old"])));
    assert_eq!(deny("{\"a\": input.cluster, input.team: 1}"), Ok(only(&["cluster", "team"])));
    assert_eq!(deny("input.object[input.environment] == 1"), Ok(only(&["environment"])));
    assert_eq!(reads("deny contains input.cluster.name"), Ok(only(&["cluster.name"])));
    assert_eq!(
        reads("deny contains x if x := \"a\" + f(1)\n\nf(y) := input.team if y == 1 else := input.cluster"),
        Ok(only(&["cluster", "team"]))
    );
    assert_eq!(reads("import input.cluster as c\n\ndeny contains c.name"), Ok(only(&["cluster.name"])));
    assert_eq!(reads("import input.cluster\n\ndeny contains cluster.name"), Ok(only(&["cluster.name"])));
    assert_eq!(reads("import input as i\n\ndeny contains i.cluster.name"), Ok(only(&["cluster.name"])));
    assert_eq!(reads("import input as i\n\ndeny contains i"), Ok(Reads::Anything));
    assert_eq!(reads("deny contains helper\n\nhelper := other\n\nother := input.team"), Ok(only(&["team"])));
    assert_eq!(
        reads("deny contains \"x\" if data.fleetgate.local[\"a\"].helper\n\nhelper := input.team"),
        Ok(only(&["team"]))
    );
}

#[test]
fn reading_follows_other_packages() {
    let read = |library: &str, rule: &str| {
        let tree = Tree::new(&[
            ("policy/lib.rego", &format!("package lib.k8s\n\n{library}\n")),
            ("policy/a.rego", &format!("package fleetgate.local.a\n\nimport data.lib.k8s\n\n{rule}\n")),
        ]);
        tree.native().unwrap().rules[0].reads.clone()
    };
    let team = Reads::Only(BTreeSet::from(["team".into()]));
    assert_eq!(read("owner := input.team", "deny contains k8s.owner"), team);
    assert_eq!(read("owner := input.team", "deny contains k8s.owner.name"), team);
    // A name that is a variable here is still followed.
    assert_eq!(read("owner := input.team", "deny contains 1 if { k8s := {\"owner\": 1}; k8s.owner }"), team);
    assert_eq!(read("owner(x) := input.team", "deny contains k8s.owner(1)"), team);
    assert_eq!(read("owner := input.team", "deny contains data.lib[x].owner if x := \"k8s\""), team);
    assert_eq!(read("owner := input.team", "deny contains x if some x in k8s"), team);
    assert_eq!(
        read(
            "mine(x) := 1\n\nowner(x) := input.team",
            "deny contains y if y := k8s.mine(1) with data.lib.k8s.mine as k8s.owner"
        ),
        team
    );
    assert_eq!(
        read("owner := input.team\n\nother := 1", "deny contains k8s.other"),
        Reads::Only(BTreeSet::new())
    );
    assert_eq!(read("owner := input", "deny contains k8s.owner"), Reads::Anything);
}

#[test]
fn needs_are_declared() {
    assert_eq!(
        error(native("a", "deny contains \"x\" if {\n\tinput.now.ns > 3\n}").native()),
        "policy/a.rego:4:2: rule `local/a` reads `input.now` but does not declare it (add `needs: [time]` under `custom` in the metadata of `local/a`)"
    );
    for (mention, need) in [
        ("input.actor.name", "actor"),
        ("input.promotion.approvals", "approvals"),
        ("input.approvals[0]", "approvals"),
        ("data.inventory.cluster", "inventory"),
        ("data.fleet.teams", "fleet"),
    ] {
        let message = error(native("a", &format!("deny contains {mention}")).native());
        assert!(message.contains(&format!("needs: [{need}]")), "{message}");
    }
    let declared = "# METADATA\n# custom:\n#   needs: [inventory]\npackage fleetgate.local.a\n\ndeny contains x if some x in data.inventory.cluster\n";
    assert!(Tree::new(&[("policy/a.rego", declared)]).native().unwrap().rules[0].reads_inventory);
    assert!(!native("a", DENY).native().unwrap().rules[0].reads_inventory);
}

#[test]
fn demand_is_not_compared_raw() {
    let deny =
        |condition: &str| native("a", &format!("deny contains \"x\" if {{\n\t{condition}\n}}")).native();
    for condition in [
        "input.workload.demand[_].steady < 3",
        "some row in input.workload.demand; row.rollout > 8",
        "row := input.demand[0]; 1 + row.autoscaled == 3",
        "sum([row.steady | some row in input.workload.demand]) > 3",
        "every b in input.budgets { b.used < 3 }",
        "some row in input.workload.demand; max([row.steady, 3]) == 3",
        "some pod in input.workload.pods; pod.count > 1",
        "some pod in input.workload.pods; some name, _ in pod.asks; pod.asks[name] > 1",
        "some pod in input.workload.pods; pod.asks[\"nvidia.com/gpu\"] == 8",
        "input.workload.pods[_].asks[\"nvidia.com/gpu\"] == 8",
    ] {
        let message = error(deny(condition));
        assert!(message.contains("is compared or added up"), "{condition}: {message}");
    }
    for condition in [
        "input.object.spec.rollout > 3",
        "some row in input.workload.demand; row.fits == \"no\"",
        "some c in input.object.spec.demand; c.steady > 3",
        "some pod in input.workload.pods; fleetgate.fits(pod.count, 1) == \"no\"",
        "some pod in input.workload.pods; count(pod.spec.containers) > 1",
    ] {
        deny(condition).unwrap();
    }
}

#[test]
fn parse_errors_have_a_place() {
    assert_eq!(
        error(native("a", "deny contains \"x\" if {\n\tx := := 1\n}").native()),
        "policy/a.rego:4:7: expecting expression"
    );
    let message = error(native("a", "deny[msg] { msg := \"x\" }").native());
    assert!(message.contains("Rego of before 1.0"), "{message}");
    let all = Tree::new(&[("policy/a.rego", "package"), ("policy/b.rego", "x := 1"), ("policy/c.rego", "")]);
    assert_eq!(errors(all.native()).len(), 3);
}

#[test]
fn a_chain_of_rules_that_would_exhaust_the_stack_is_refused() {
    let chain = |length: usize| {
        let links: Vec<String> = (1..length).map(|i| format!("r{i} := r{}", i - 1)).collect();
        format!("r0 := 1\n{}\ndeny contains \"deep\" if r{} == 1", links.join("\n"), length - 1)
    };
    // The rule itself is one of the five hundred.
    native("a", &chain(499)).native().unwrap();
    assert!(error(native("a", &chain(500)).native()).contains("more than 500 rules"));
}

#[test]
fn hostile_sources_are_refused_at_once() {
    for body in [
        format!("x := {}1{}", "[".repeat(100), "]".repeat(100)),
        format!("x := {}1{}", "{\"a\": ".repeat(100), "}".repeat(100)),
        format!("x := {}1", "- ".repeat(10_000)),
        format!("x := 1{}", "\n + 1".repeat(10_000)),
    ] {
        assert!(errors(native("a", &body).native())[0].contains("policy/a.rego:"), "{body:.20}");
    }
    let large = Tree::new(&[("policy/a.rego", &"# large\n".repeat(1 << 18))]);
    assert!(error(large.native()).contains("file is larger than"));
    let binary = native("a", DENY);
    binary.write("policy/b.rego", b"package a\n\n# \xff\n");
    assert!(error(binary.native()).contains("policy/b.rego: file is not UTF-8 (byte 13)"));
}

#[test]
fn a_deep_expression_that_is_accepted_can_be_evaluated() {
    let text =
        format!("package a\n\nx := {}1{}\n", "(1".repeat(30).replace("(1", "(1 + "), " + 1)".repeat(30));
    let chain = format!("package b\n\nx := 1{}\n", " + 1".repeat(200));
    for (package, text, value) in [("a", text, 61_u64), ("b", chain, 201)] {
        let file = super::text::SourceFile { path: Arc::new("a.rego".into()), text: text.as_str().into() };
        super::syntax::parse(file).unwrap();
        let mut engine = regorus::Engine::new();
        engine.add_policy("a.rego".into(), text).unwrap();
        assert_eq!(engine.eval_rule(format!("data.{package}.x")).unwrap(), Value::from(value));
    }
}

#[cfg(unix)]
#[test]
fn links_and_rights_are_respected() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let tree = native("a", DENY);
    symlink(tree.path("policy"), tree.path("policy/again")).unwrap();
    assert!(error(tree.native()).contains("symbolic link leads in a circle"));

    let tree = native("a", DENY);
    tree.write("elsewhere/b.rego", b"package fleetgate.local.b\n");
    symlink(tree.path("elsewhere"), tree.path("policy/out")).unwrap();
    assert!(error(tree.native()).contains("leads outside"));

    let tree = native("a", DENY);
    symlink(tree.path("nowhere"), tree.path("policy/broken.rego")).unwrap();
    assert_eq!(errors(tree.native()).len(), 1);

    // As Kubernetes mounts a ConfigMap.
    let tree = Tree::new(&[("policy/..2026/a.rego", &format!("package fleetgate.local.a\n\n{DENY}\n"))]);
    symlink("..2026", tree.path("policy/..data")).unwrap();
    symlink("..data/a.rego", tree.path("policy/a.rego")).unwrap();
    assert_eq!(ids(&tree.native().unwrap()), ["local/a"]);

    let tree = native("a", DENY);
    tree.write("policy/closed/b.rego", b"package fleetgate.local.b\n");
    fs::set_permissions(tree.path("policy/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if fs::read_dir(tree.path("policy/closed")).is_err() {
        assert!(error(tree.native()).contains("policy/closed: cannot be read"));
    }
    fs::set_permissions(tree.path("policy/closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn nothing_found_is_an_error() {
    let tree = Tree::new(&[("policy/readme.md", "x"), ("empty/x", ""), ("data/x.txt", "")]);
    assert_eq!(
        errors(tree.native()),
        [
            "data: no data file in this directory (files must end in `.json`, `.yaml` or `.yml`)",
            "policy: no policy file in this directory (files must end in `.rego`)"
        ]
    );
    assert!(error(Tree::new(&[]).native()).contains("policy: cannot be read"));
    let library = Tree::new(&[("policy/lib.rego", "package lib.a\n\nf(x) := x\n")]);
    assert!(error(library.native()).contains("no rule found"));
    let tests = Tree::new(&[("policy/a_test.rego", "package fleetgate.local.a_test\n\ntest_x if true\n")]);
    assert!(error(tests.native()).contains("no rule found"));
}

#[test]
fn tests_are_kept_apart() {
    let tree = Tree::new(&[
        ("policy/a.rego", &format!("package fleetgate.local.a\n\n{DENY}\n")),
        (
            "policy/a_test.rego",
            "package fleetgate.local.a_test\n\nimport data.fleetgate.local.a\n\ntest_x if count(a.deny) == 1 with input as {\"object\": {\"kind\": \"Pod\"}}\n",
        ),
    ]);
    let set = tree.native().unwrap();
    assert_eq!(ids(&set), ["local/a"]);
    assert!(set.sets[0].tests.iter().any(|module| &*module.package == "fleetgate.local.a_test"));
    assert!(set.sets[0].modules.iter().all(|module| !module.file.as_str().ends_with("_test.rego")));
    assert_eq!(set.rules[0].reads, Reads::Only(BTreeSet::new()));
}

#[test]
fn data_is_merged_and_conflicts_are_named() {
    let rule = format!("package fleetgate.local.a\n\n{DENY}\n");
    let with = |files: &[(&str, &str)]| {
        let mut all = vec![("policy/a.rego", rule.as_str())];
        all.extend_from_slice(files);
        Tree::new(&all).native()
    };
    let set = with(&[
        ("data/a.yaml", "quota: {a: {gpu: 8}, list: [1]}\n"),
        ("data/b/c.json", "{\"quota\": {\"b\": {\"gpu\": 3}, \"list\": [1]}}"),
    ])
    .unwrap();
    assert_eq!(set.sets[0].data["quota"].to_string(), "{\"a\":{\"gpu\":8},\"b\":{\"gpu\":3},\"list\":[1]}");
    assert_eq!(set.sets[0].data["fleet"], Value::new_object());
    let message = error(with(&[
        ("data/a.yaml", "quota: {a: {gpu: 8}}\n"),
        ("data/b.yaml", "quota:\n  a:\n    gpu: 16\n"),
    ]));
    assert_eq!(
        message,
        "data/b.yaml:3:5: `data.quota.a.gpu` is set differently in `data/a.yaml` and in `data/b.yaml` (keep one of them, or give them different keys)"
    );
    assert!(
        error(with(&[("data/a.yaml", "a: [1]\n"), ("data/b.yaml", "a: [2]\n")]))
            .contains("`data.a` is set differently")
    );
    assert!(
        error(with(&[("data/a.yaml", "a: {b: 1}\n"), ("data/b.yaml", "a: 2\n")]))
            .contains("`data.a` is set differently")
    );
    assert!(
        error(with(&[("data/a.yaml", "a: 2\n"), ("data/b.yaml", "a: {b: 1}\n")]))
            .contains("`data.a` is set differently")
    );
    assert!(
        error(with(&[("data/a.yaml", "- a\n")]))
            .contains("data/a.yaml:1:1: a data document must be a mapping")
    );
    assert!(error(with(&[("data/a.yaml", "")])).contains("must be a mapping"));
    assert!(error(with(&[("data/a.yaml", "a: [\n")])).contains("data/a.yaml"));
    assert!(
        error(with(&[("data/a.yaml", "x: 1\nparams: {}\n")]))
            .starts_with("data/a.yaml:2:1: `data.params` is reserved")
    );
}

#[test]
fn data_hides_no_rule() {
    let rule = format!("package fleetgate.local.a\n\n{DENY}\n");
    let with = |data: &str| {
        Tree::new(&[
            ("policy/a.rego", &rule),
            ("policy/lib.rego", "package lib.k8s\n\nx := 1\n"),
            ("data/d.yaml", data),
        ])
        .native()
    };
    for data in ["lib: {k8s: {x: 2}}\n", "lib: 3\n", "lib: {k8s: 1}\n", "lib: {k8s: {}}\n"] {
        let message = error(with(data));
        assert!(message.contains("data/d.yaml") && message.contains("policy/lib.rego"), "{message}");
    }
    assert!(!errors(with("fleetgate: {local: {a: {deny: []}}}\n")).is_empty());
    with("lib: {other: {x: 2}}\n").unwrap();
}

#[test]
fn parameters_are_checked_against_their_schema() {
    let text = "# METADATA\n# custom:\n#   params:\n#     registries:\n#       type: array\n#       items: {type: string, minLength: 1}\n#       default: [a]\n#       description: Where images may come from.\n\
        #     most:\n#       type: integer\n#       minimum: 1\n#       maximum: 9\n#       default: 2\n#       description: The most.\n\
        #     mode:\n#       enum: [a, b]\n#       default: a\n#       description: How.\npackage fleetgate.local.gpu.max_gpus\n\ndeny contains \"x\"\n";
    let tree = Tree::new(&[("policy/a.rego", text)]);
    let with = |id: &str, json: &str| {
        let locate = |route: &Route| {
            Some(Location {
                file: Arc::new(format!("fleetgate.yaml#{route}").into()),
                span: None,
                source: None,
            })
        };
        let parameters = [(Arc::from(id), Value::from_json_str(json).unwrap())].into();
        let options = LoadOptions { parameters, locate: Some(&locate), fleet: None };
        tree.shown(load(&[tree.source(Convention::Native)], &options))
    };
    let set = with("gpu/max-gpus", r#"{"most": 5}"#).unwrap();
    assert_eq!(
        set.sets[0].data["params"]["gpu"]["max_gpus"].to_string(),
        r#"{"mode":"a","most":5,"registries":["a"]}"#
    );
    assert_eq!(
        error(with("gpu/max-gpu", "{}")),
        "fleetgate.yaml#[\"gpu/max-gpu\"]: parameters are set for `gpu/max-gpu`, but there is no such rule (did you mean `gpu/max-gpus`?)"
    );
    assert_eq!(
        error(with("gpu/max-gpus", r#"{"mots": 5}"#)),
        "fleetgate.yaml#[\"gpu/max-gpus\"].mots: rule `gpu/max-gpus` has no parameter `mots` (did you mean `most`?)"
    );
    assert!(
        error(with("gpu/max-gpus", r#"{"most": "5"}"#))
            .contains("parameter `most` of `gpu/max-gpus` must be of type integer, not `\"5\"`")
    );
    assert!(error(with("gpu/max-gpus", r#"{"most": 10}"#)).contains("must be at most 9"));
    assert!(error(with("gpu/max-gpus", r#"{"most": 0}"#)).contains("must be at least 1"));
    assert!(error(with("gpu/max-gpus", r#"{"mode": "c"}"#)).contains("must be one of `\"a\"`, `\"b\"`"));
    assert!(
        error(with("gpu/max-gpus", r#"{"registries": ["b", ""]}"#))
            .starts_with("fleetgate.yaml#[\"gpu/max-gpus\"].registries[1]: parameter `registries[1]`")
    );
    assert!(error(with("gpu/max-gpus", "[]")).contains("must be a mapping"));
    assert!(error(with("gpu/max-gpus", r#"{"most": null}"#)).contains("must be of type integer"));
}

#[test]
fn parameters_that_are_read_are_declared() {
    let rule = |import: &str, deny: &str| {
        let text = format!(
            "# METADATA\n# custom:\n#   params:\n#     most: {{type: integer, default: 2, description: The most.}}\npackage fleetgate.local.a\n\n{import}\n\ndeny contains \"x\" if {deny}\n"
        );
        Tree::new(&[("policy/a.rego", &text)]).native()
    };
    for (import, deny) in [
        ("", "data.params.local.a.mots > 1"),
        ("import data.params.local.a as params", "params.mots > 1"),
        ("params := data.params.local.a", "params.mots > 1"),
    ] {
        let message = error(rule(import, deny));
        assert!(message.contains("`data.params.local.a.mots` is read, but rule `local/a` declares no parameter `mots` (did you mean `most`?)"), "{message}");
        rule(import, &deny.replace("mots", "most")).unwrap();
    }
    assert!(error(rule("", "data.params.local.b.most > 1")).contains("no rule with such parameters"));
}

#[test]
fn conftest_rules_are_found_by_namespace() {
    let tree = Tree::new(&[
        (
            "policy/a.rego",
            "package main\n\nimport rego.v1\n\ndeny contains \"a\" if input.kind == \"Pod\"\n\nviolation_x contains {\"msg\": \"b\"}\n\nwarn_1_b contains \"c\"\n\nwarning contains \"d\"\n\nx if time.now_ns() > 0\n",
        ),
        ("data/d.yaml", "fleet: 1\n"),
    ]);
    let set = tree.conftest(&[]).unwrap();
    assert_eq!(ids(&set), ["main/deny", "main/violation_x", "main/warn_1_b"]);
    let levels: Vec<_> = set.rules.iter().map(|rule| rule.level).collect();
    assert_eq!(levels, [Level::Deny, Level::Deny, Level::Warn]);
    assert_eq!(set.rules[0].reads, Reads::Only(BTreeSet::new()));
    assert_eq!(set.sets[0].data.to_string(), "{\"fleet\":1}");
    let message = error(
        Tree::new(&[("policy/a.rego", "package global.helm\n\ndeny contains \"a\"\n")]).conftest(&["global"]),
    );
    assert_eq!(
        message,
        "policy: no rules matched namespace `global` (packages found: `global.helm`; name one that has `deny`, `violation` or `warn`)"
    );
}

#[test]
fn conftest_rules_that_would_be_lost_are_refused() {
    let error_of = |text: &str| {
        error(Tree::new(&[("policy/a.rego", &format!("package main\n\n{text}\n"))]).conftest(&[]))
    };
    assert_eq!(
        error_of("deny_no_gpu if true"),
        "policy/a.rego:3:1: `deny_no_gpu` is not a set of messages, so its findings would be lost (write `deny_no_gpu contains msg if { … }`)"
    );
    assert!(error_of("deny[msg] { msg := \"x\" }").contains("Rego of before 1.0"));
    assert!(error_of("deny[msg] if msg := \"x\"").contains("not a set of messages"));
    assert!(
        error_of("deny contains \"x\"\n\nexception contains rules if rules := [\"\"]")
            .contains("use a waiver")
    );
    assert!(error_of("deny contains \"x\" if http.send({})").contains("is refused"));
    assert!(error_of("deny contains \"x\" if io.jwt.decode(\"a\")").contains("neither the engine"));
}

#[test]
fn sets_do_not_share_names() {
    let conftest = Tree::new(&[("policy/a.rego", "package main\n\ndeny contains \"a\"\n")]);
    let other = Tree::new(&[("policy/b.rego", "package main\n\ndeny contains \"b\"\n")]);
    let main = || Convention::Conftest { namespaces: vec!["main".into()] };
    let problems =
        load(&[conftest.source(main()), other.source(main())], &LoadOptions::default()).unwrap_err();
    assert!(
        problems[0].message.contains("a.rego") && problems[0].message.contains("b.rego"),
        "{problems:#?}"
    );
    let set = load(&[Source::Shipped, conftest.source(main())], &LoadOptions::default()).unwrap();
    assert_eq!(set.sets.len(), 2);
}

#[test]
fn the_digest_is_about_contents() {
    let digest = |deny: &str| native("a", deny).native().unwrap().digest;
    assert_eq!(digest(DENY).len(), 64);
    assert_eq!(digest(DENY), digest(DENY));
    assert_ne!(digest(DENY), digest("deny contains \"y\""));
}
