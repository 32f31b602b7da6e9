//! Whatever is wrong with what it is given, the program says so, ends soon, and ends with the right
//! status.

use crate::support::{Run, Sandbox};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: true, containers: []}\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";

/// Denies host networking.
const RULE: &str = r#"# METADATA
# title: No host network
# custom:
#   level: deny
#   params:
#     allowed:
#       type: array
#       items: {type: string}
#       default: []
#       description: names of pods that may
package fleetgate.local.net

deny contains "host network" if {
	input.object.spec.hostNetwork
	not input.object.metadata.name in data.params.local.net.allowed
}
"#;

/// A fleet of one cluster with one bad pod, and the rule; `more` is added to the fleet file.
fn fleet(more: &str) -> Sandbox {
    let file = format!(
        "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nenvironments: [dev, prod]\nclusters:\n  a: {{environment: prod, rendered: rendered/a}}\n{more}"
    );
    Sandbox::new(&[("fleetgate.yaml", &file), ("rendered/a/pod.yaml", POD), ("pol/net.rego", RULE)])
}

const POLICIES: &str = "policies:\n- paths: [pol]\n";

/// Checks with the rules of the fleet file alone.
fn check(sandbox: &Sandbox, rest: &[&str]) -> Run {
    sandbox.run(&[&["check", "--no-shipped-policies"], rest].concat())
}

#[track_caller]
fn says(run: &Run, words: &[&str]) {
    for word in words {
        assert!(run.all().contains(word), "no `{word}` in\n{}", run.all());
    }
    assert!(!run.all().contains("panicked"), "{}", run.all());
}

/// One rule file that is checked against a pod; also in a child process.
#[track_caller]
fn policy_fails(text: &str, words: &[&str]) {
    let sandbox = Sandbox::new(&[("p.rego", text), ("pod.yaml", POD)]);
    for more in [&[] as &[&str], &["--untrusted-policies"]] {
        let run = check(&sandbox, &[&["-p", "p.rego", "pod.yaml"], more].concat()).exits(2);
        says(&run, words);
        says(&run, &["p.rego"]);
    }
}

#[test]
fn hostile_policies_are_refused_or_stopped() {
    policy_fails(
        "package fleetgate.local.h\n\nf(x) := f(x + 1)\n\ndeny contains \"x\" if f(0) == 1\n",
        &["recursion", "fleetgate.local.h.f", "p.rego:3"],
    );
    policy_fails(
        "package fleetgate.local.h\n\ndeny contains \"x\" if count(numbers.range(1, 1000000000)) > 5\n",
        &["numbers.range", "at most"],
    );
    policy_fails(
        "package fleetgate.local.h\n\ndeny contains \"x\" if count(sprintf(\"%1000000000d\", [1])) > 5\n",
        &["sprintf", "at most"],
    );
    policy_fails(
        &format!(
            "package fleetgate.local.h\n\ndeny contains \"x\" if {{ x := {}{}; x }}\n",
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
        &["nested too deep"],
    );
    policy_fails(
        &format!("package fleetgate.local.h\n\n# {}\ndeny contains \"x\" if true\n", "a".repeat(2 << 20)),
        &["larger than"],
    );
    policy_fails(
        "package fleetgate.local.h\n\ndeny contains \"x\" if {\n\txs := numbers.range(1, 9000)\n\tys := [1 | some a in xs; some b in xs; some c in xs]\n\tcount(ys) == 0\n}\n",
        &["did not finish within"],
    );
    policy_fails(
        "package fleetgate.local.h\n\ndeny contains \"x\" if http.send({\"method\": \"get\", \"url\": \"http://a\"}).status_code == 200\n",
        &["http.send", "p.rego:3"],
    );
}

#[test]
fn an_empty_policy_directory_is_an_error() {
    let sandbox = Sandbox::new(&[("none/readme.txt", ""), ("pod.yaml", POD)]);
    says(&check(&sandbox, &["-p", "none", "pod.yaml"]).exits(2), &["no policy file", "none", ".rego"]);
    says(&check(&sandbox, &["-p", "gone", "pod.yaml"]).exits(2), &["gone"]);
}

#[test]
fn a_rule_is_defined_once() {
    let sandbox = fleet(POLICIES);
    sandbox.write("pol/again.rego", RULE.as_bytes());
    says(
        &check(&sandbox, &[]).exits(2),
        &["fleetgate.local.net", "pol/net.rego", "pol/again.rego", "rename"],
    );
}

#[test]
fn nothing_of_the_user_shadows_what_is_loaded() {
    let shadow = "package fleetgate.gitops.image_digest\n\ndeny contains \"x\" if false\n";
    let sandbox = Sandbox::new(&[("p.rego", shadow), ("pod.yaml", POD)]);
    says(&sandbox.run(&["check", "-p", "p.rego", "pod.yaml"]).exits(2), &["reserved", "p.rego:1"]);

    let data = [
        ("fleetgate: {local: {net: {deny: []}}}\n", "data.fleetgate"),
        ("fleetgate: {local: 1}\n", "data.fleetgate"),
        ("fleetgate: {gitops: {image_digest: {}}}\n", "data.fleetgate"),
        ("fleetgate: {lib: {}}\n", "data.fleetgate"),
        ("params: {local: {net: {allowed: [p]}}}\n", "data.params"),
        ("fleet: {clusters: {}}\n", "data.fleet"),
        ("inventory: {}\n", "data.inventory"),
    ];
    for (text, named) in data {
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("d.yaml", text), ("pod.yaml", POD)]);
        let run = sandbox.run(&["check", "-p", "p.rego", "-d", "d.yaml", "pod.yaml"]).exits(2);
        says(&run, &[named, "d.yaml"]);
    }
}

#[test]
fn parameters_follow_their_schema() {
    let cases = [
        ("local/net: {params: {alowed: [a]}}", &["alowed", "did you mean `allowed`", "fleetgate.yaml:9:"]),
        ("local/net: {params: {allowed: 3}}", &["`allowed`", "array", "fleetgate.yaml:9:"]),
        ("local/nett: {params: {allowed: [p]}}", &["`local/nett`", "`local/net`", "fleetgate.yaml:9:"]),
    ];
    for (rule, words) in cases {
        says(&check(&fleet(&format!("{POLICIES}rules:\n  {rule}\n")), &[]).exits(2), words);
    }
    check(&fleet(&format!("{POLICIES}rules:\n  local/net: {{params: {{allowed: [p]}}}}\n")), &[]).exits(0);
}

#[test]
fn o19_an_empty_list_excludes_and_allows_nothing() {
    let none = format!(
        "{POLICIES}exclude: []\nwaivers: []\nteams: {{}}\nrules:\n  local/net: {{params: {{allowed: []}}}}\n"
    );
    says(&check(&fleet(&none), &[]).exits(1), &["host network", "rendered/a/pod.yaml:3"]);
}

#[test]
fn a_waiver_ends() {
    let waiver = |more: &str| {
        fleet(&format!(
            "{POLICIES}waivers:\n- {{rule: local/net, subject: Pod p, reason: r, owner: o{more}}}\n"
        ))
    };
    says(&check(&waiver(""), &[]).exits(2), &["`expires`", "fleetgate.yaml:9:"]);
    let ending = waiver(", expires: 2026-06-30");
    check(&ending, &["--now", "2026-06-30T23:59:59Z"]).exits(0);
    let late = check(&ending, &["--now", "2026-07-01T00:00:00Z"]).exits(1);
    says(&late, &["expired on 2026-06-30", "fleetgate.yaml:9"]);
    let nothing = check(
        &waiver(", expires: 2026-06-30").also("rendered/a/pod.yaml", SERVICE),
        &["--now", "2026-06-30T23:59:59Z"],
    );
    says(&nothing.exits(0), &["fleet/unused-waiver"]);
}

#[test]
fn an_exclusion_ends_and_hides_nothing_that_runs() {
    let excluding = fleet(&format!(
        "{POLICIES}exclude:\n- {{path: rendered/a/pod.yaml, reason: r, owner: o, expires: 2026-06-30}}\n"
    ));
    let run = check(&excluding, &["--now", "2026-06-30T12:00:00Z"]).exits(1);
    says(&run, &["fleet/excluded-deployed", "rendered/a/pod.yaml"]);
    says(&check(&excluding, &["--now", "2026-07-01T00:00:00Z"]).exits(1), &["local/net", "host network"]);
}

#[test]
fn a_cluster_whose_path_matches_nothing_is_an_error_that_no_baseline_accepts() {
    let sandbox = fleet(POLICIES);
    let file = sandbox
        .read("fleetgate.yaml")
        .replace("clusters:\n", "clusters:\n  b: {environment: dev, rendered: rendered/bb}\n");
    sandbox.write("fleetgate.yaml", file.as_bytes());
    let words = ["no manifest of cluster `b`", "rendered/bb", "fleetgate.yaml:5:"];
    says(&check(&sandbox, &[]).exits(2), &words);
    sandbox.run(&["baseline", "create", "--no-shipped-policies"]);
    says(&check(&sandbox, &[]).exits(2), &words);
}

#[test]
fn a_baseline_is_green_until_something_is_new() {
    let sandbox = fleet(POLICIES);
    check(&sandbox, &[]).exits(1);
    sandbox.run(&["baseline", "create", "--no-shipped-policies"]).exits(0);
    says(&check(&sandbox, &[]).exits(0), &["passed: nothing new"]);
    sandbox.write("rendered/a/second.yaml", POD.replace("name: p", "name: q").as_bytes());
    says(&check(&sandbox, &[]).exits(1), &["Pod q"]);
}

#[test]
fn a_rule_that_applies_nowhere_has_not_passed() {
    let elsewhere =
        RULE.replace("#   level: deny\n", "#   level: deny\n#   match:\n#     environments: [production]\n");
    let sandbox = fleet(POLICIES);
    sandbox.write("pol/net.rego", elsewhere.as_bytes());
    says(
        &check(&sandbox, &[]).exits(3),
        &["`production`", "does not have", "none of 1 rule could be evaluated"],
    );
    // Without a fleet file, the environment of a loose file is not known.
    let run = check(&sandbox, &["--no-config", "-p", "pol", "rendered/a/pod.yaml"]).exits(3);
    says(&run, &["`production`", "none is known here"]);
    let loose = ["--no-config", "-p", "pol", "--environment", "production", "rendered/a/pod.yaml"];
    check(&sandbox, &loose).exits(1);
}

#[test]
fn a_required_rule_that_is_off_is_an_error() {
    let required = "policies:\n- {paths: [pol], required: [local/net]}\n";
    check(&fleet(required), &[]).exits(1);
    says(
        &check(&fleet(&format!("{required}rules: {{local/net: off}}\n")), &[]).exits(2),
        &["required", "off in"],
    );
    says(&check(&fleet(required), &["--ignore", "local/*"]).exits(2), &["required", "ignored"]);
    says(
        &check(&fleet(&format!("{POLICIES}rules: {{local/net: off}}\n")), &[]).exits(3),
        &["off in the fleet file"],
    );
}

#[test]
fn a_rule_about_one_cluster_is_not_answered_by_another() {
    let rule = RULE.replace("input.object.spec.hostNetwork\n", "input.cluster.name == \"b\"\n");
    let sandbox = fleet(POLICIES).also("pol/net.rego", &rule).also("rendered/b/pod.yaml", POD);
    let file = sandbox.read("fleetgate.yaml");
    let file = file.replace("clusters:\n", "clusters:\n  b: {environment: prod, rendered: rendered/b}\n");
    sandbox.write("fleetgate.yaml", file.as_bytes());
    let report = check(&sandbox, &["-o", "json"]).exits(1).json();
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{report}");
    assert!(findings[0].to_string().contains("rendered/b/pod.yaml"), "{report}");
    assert!(!findings[0].to_string().contains("rendered/a/pod.yaml"), "{report}");
}

#[test]
fn unknown_names_are_errors_with_the_nearest_known() {
    let sandbox = fleet(POLICIES);
    sandbox.write("loose.yaml", POD.as_bytes());
    says(&check(&sandbox, &["--environment", "prd", "loose.yaml"]).exits(2), &["`prd`", "`prod`"]);
    says(&check(&sandbox, &["--cluster", "b", "loose.yaml"]).exits(2), &["`b`", "`a`"]);
    says(&check(&sandbox, &["--select", "local/nett"]).exits(2), &["local/nett"]);
    for setting in
        ["environments: [prdo]", "clusters: [b]", "clusters: ['b*']", "faces: [foo]", "level: denied"]
    {
        let rules = format!("{POLICIES}rules:\n  local/net: {{mode: warn, {setting}}}\n");
        says(&check(&fleet(&rules), &[]).exits(2), &["fleetgate.yaml:9:"]);
    }
}

#[test]
fn values_of_a_secret_are_in_no_output() {
    const VALUE: &str = "HUNTER2SECRET";
    let rule = RULE
        .replace("input.object.spec.hostNetwork\n", "input.object.kind == \"Secret\"\n")
        .replace(
            "deny contains \"host network\"",
            "deny contains {\"msg\": sprintf(\"%v\", [input.object]), \"path\": [\"stringData\", \"password\"], \"details\": input.object}",
        );
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{{\"stringData\": {{\"password\": \"{VALUE}\"}}}}'\nstringData:\n  password: {VALUE}\n"
    );
    let listed = format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "l"}}, "stringData": {{"password": "{VALUE}"}}}}]}}"#
    );
    let twice = format!("{secret}  password: {VALUE}\n");
    let broken = format!("kind: Secret\ndata:\n  a: {VALUE}: b\n");
    let tagged = format!("kind: Secret\napiVersion: v1\nmetadata: {{name: t}}\ndata: {{a: !!int {VALUE}}}\n");
    for (text, status) in [(&secret, 1), (&listed, 1), (&twice, 2), (&broken, 2), (&tagged, 2)] {
        let sandbox = Sandbox::new(&[("p.rego", &rule), ("s.yaml", text)]);
        for format in
            ["text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown", "tap", "table"]
        {
            let run = check(&sandbox, &["-p", "p.rego", "s.yaml", "-v", "-o", format]).exits(status);
            assert!(!run.all().contains(VALUE), "{format}\n{}", run.all());
        }
    }
}

#[test]
fn kubectl_and_others_read_the_same() {
    let hidden = format!("{POD}items: []\n");
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("pod.yaml", &hidden), ("ok.yaml", SERVICE)]);
    says(&check(&sandbox, &["-p", "p.rego", "pod.yaml", "ok.yaml"]).exits(2), &["`items`", "pod.yaml:5"]);
}

#[test]
fn an_unreadable_json_line_is_no_passed_over_file() {
    let broken = "{\"metadata\": {\"name\": \"p\"}, \"kind\": \"Pod\", \"apiVersion\": \"v1\", ";
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("m/pod.json", broken), ("m/ok.yaml", SERVICE)]);
    says(&check(&sandbox, &["-p", "p.rego", "m"]).exits(2), &["m/pod.json:1"]);
}

#[test]
fn large_deep_and_multiplying_files_are_refused() {
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("ok.yaml", SERVICE)]);
    let large = std::fs::File::create(sandbox.path().join("large.yaml")).expect("file");
    large.set_len(200 << 20).expect("sparse file");
    let run = check(&sandbox, &["-p", "p.rego", "large.yaml", "ok.yaml"]).exits(2);
    says(&run, &["large.yaml", "larger than 64 MiB"]);

    let deep = format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {{\"name\": \"p\"}}, \"x\": {}{}}}",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    sandbox.write("deep.json", deep.as_bytes());
    says(
        &check(&sandbox, &["-p", "p.rego", "deep.json", "ok.yaml"]).exits(2),
        &["deep.json:1", "levels deep"],
    );

    let level = |(name, below): (&&str, &str)| {
        format!("{name}: &{name} [{}]\n", vec![format!("*{below}"); 9].join(","))
    };
    let levels = ["b", "c", "d", "e", "f", "g", "h", "i"].iter();
    let levels = levels.zip(["a", "b", "c", "d", "e", "f", "g", "h"]).map(level);
    let bomb = format!("a: &a [x,x,x,x,x,x,x,x,x]\n{}", levels.collect::<Vec<_>>().concat());
    sandbox.write("bomb.yaml", bomb.as_bytes());
    says(&check(&sandbox, &["-p", "p.rego", "bomb.yaml", "ok.yaml"]).exits(2), &["bomb.yaml", "alias"]);
}

#[test]
fn nothing_to_judge_is_its_own_status() {
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("empty/.keep", ""), ("comment.yaml", "# nothing\n")]);
    for subject in ["empty", "comment.yaml"] {
        check(&sandbox, &["-p", "p.rego", subject, "--exit-zero"]).exits(3);
    }
    sandbox.pipe(&["check", "--no-shipped-policies", "-p", "p.rego", "-"], "").exits(3);
    says(&check(&sandbox, &["-p", "p.rego", "gone.yaml"]).exits(2), &["`gone.yaml` does not exist"]);
}

#[test]
fn what_is_named_twice_is_judged_once() {
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("m/pod.yaml", POD)]);
    for subjects in [["m/pod.yaml", "m/pod.yaml"], ["m", "m/pod.yaml"], ["m", "./m/../m"]] {
        let report =
            check(&sandbox, &[&["-p", "p.rego", "-o", "json"], &subjects[..]].concat()).exits(1).json();
        assert_eq!(report["findings"].as_array().expect("findings").len(), 1, "{subjects:?}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_errors() {
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("ok.yaml", SERVICE)]);
    let run = check(&sandbox, &["-p", "p.rego", "ok.yaml", "-o", "json=gone/report.json"]).exits(2);
    says(&run, &["gone/report.json", "No such file"]);
}

#[test]
fn names_from_outside_give_no_orders() {
    let name = "m/a\n::error::x%0A\u{1b}[2J.yaml";
    let sandbox = Sandbox::new(&[("p.rego", RULE), (name, POD)]);
    for format in ["text", "concise", "github", "markdown", "tap", "table"] {
        let run = check(&sandbox, &["-p", "p.rego", "m", "-o", format]).exits(1);
        assert!(!run.stdout.contains('\u{1b}'), "{format}: {}", run.stdout);
        assert!(!run.stdout.lines().any(|line| line.starts_with("::error::x")), "{format}: {}", run.stdout);
    }
}

#[test]
fn line_ends_and_marks_do_not_move_a_place() {
    let text = format!("\u{feff}{SERVICE}---\n{POD}").replace('\n', "\r\n");
    let sandbox = Sandbox::new(&[("p.rego", RULE), ("m.yaml", &text)]);
    // The second document starts in line 5; its name stands in its third line.
    says(&check(&sandbox, &["-p", "p.rego", "m.yaml", "-o", "concise"]).exits(1), &["m.yaml:7:18: deny"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::support::command;

    #[test]
    fn a_directory_that_may_not_be_read_is_an_error() {
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("m/ok.yaml", SERVICE), ("m/locked/pod.yaml", POD)]);
        let locked = sandbox.path().join("m/locked");
        let mode =
            |mode| std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(mode)).expect("mode");
        mode(0o000);
        if std::fs::read_dir(&locked).is_ok() {
            mode(0o755);
            eprintln!("skipped: this user may read everything");
            return;
        }
        let run = check(&sandbox, &["-p", "p.rego", "m"]);
        mode(0o755);
        says(&run.exits(2), &["m/locked", "ermission denied"]);
    }

    #[test]
    fn links_in_a_circle_end() {
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("m/ok.yaml", SERVICE)]);
        symlink(".", sandbox.path().join("m/again")).expect("link");
        says(
            &check(&sandbox, &["-p", "p.rego", "m", "-v"]).exits(0),
            &["a link to a directory that it lies in"],
        );
        symlink("self.yaml", sandbox.path().join("m/self.yaml")).expect("link");
        says(&check(&sandbox, &["-p", "p.rego", "m"]).exits(2), &["m/self.yaml", "symbolic links"]);
    }

    #[test]
    fn what_is_gone_or_is_no_file_is_an_error() {
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("m/ok.yaml", SERVICE)]);
        symlink("gone.yaml", sandbox.path().join("m/link.yaml")).expect("link");
        says(&check(&sandbox, &["-p", "p.rego", "m"]).exits(2), &["m/link.yaml", "leads nowhere"]);
        says(
            &check(&sandbox, &["-p", "p.rego", "m/ok.yaml", "/dev/null"]).exits(2),
            &["/dev/null", "neither"],
        );
    }

    #[test]
    fn a_reader_that_went_away_changes_no_status() {
        let pods = (0..3000).map(|n| POD.replace("name: p", &format!("name: p{n}")));
        let pods = pods.collect::<Vec<_>>().join("---\n");
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("pods.yaml", &pods)]);
        let mut child = command(sandbox.path())
            .args(["check", "--no-shipped-policies", "-p", "p.rego", "pods.yaml", "-o", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("fleetgate starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("fleetgate ends");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
            eprintln!("skipped: no /dev/full");
            return;
        };
        let sandbox = Sandbox::new(&[("p.rego", RULE), ("ok.yaml", SERVICE)]);
        let mut command: Command = command(sandbox.path());
        command.args(["check", "--no-shipped-policies", "-p", "p.rego", "ok.yaml"]).stdout(full);
        let output = command.output().expect("fleetgate runs");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write standard output"));
    }
}
