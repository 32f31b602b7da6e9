//! `check --base`: what a change makes new or worse, in repositories made by `git` itself.

use std::process::Command;

use crate::support::{Run, Sandbox, run};

/// A repository with a branch `main` and, once something is committed after [`Repo::branch`], one
/// `topic` with a change.
struct Repo(Sandbox);

const FLEET: &str = "\
apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [dev, prod]
rendered: rendered/{cluster}
clusters: {dev-a: dev, prod-a: prod}
policies:
  - paths: [policies]
";

/// Denies what has the annotation `bad`, in the degree that it says.
const POLICY: &str = r#"# METADATA
# title: Nothing is bad
# description: For tests.
# custom:
#   level: deny
#   target: resource
package fleetgate.local.bad

deny contains {"msg": "it is bad", "path": ["metadata", "annotations", "bad"], "details": {"value": to_number(input.object.metadata.annotations.bad)}} if {
	input.object.metadata.annotations.bad
}
"#;

fn map(name: &str, bad: Option<u32>) -> String {
    let bad = bad.map(|degree| format!(", annotations: {{bad: \"{degree}\"}}")).unwrap_or_default();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: x{bad}}}\n")
}

impl Repo {
    /// The fleet above with these files, committed to `main`.
    fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        repo.commit(&[("fleetgate.yaml", FLEET), ("policies/bad.rego", POLICY), ("README.md", "# x\n")]);
        repo.commit(files);
        repo
    }

    fn empty() -> Self {
        let sandbox = Sandbox::new(&[]);
        std::fs::remove_dir(sandbox.path().join(".git")).unwrap();
        let repo = Self(sandbox);
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.0.write(path, text.as_bytes());
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "c"]);
    }

    fn branch(self) -> Self {
        self.git(&["checkout", "-q", "-b", "topic"]);
        self
    }

    /// A change on `topic` with these files, checked against `main`.
    #[track_caller]
    fn change(&self, files: &[(&str, &str)]) -> Run {
        self.commit(files);
        self.check(&[])
    }

    fn check(&self, more: &[&str]) -> Run {
        self.0.run(&[&["check", "--base", "main", "-o", "json", "--select", "local/*"][..], more].concat())
    }
}

/// `rule standing file cluster`, sorted as they come.
fn findings(run: &Run) -> Vec<String> {
    let report = run.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let places = |finding: &serde_json::Value| finding["places"].as_array().unwrap().clone();
    (report["findings"].as_array().unwrap().iter())
        .flat_map(|finding| {
            places(finding).into_iter().map(move |place| {
                let cluster = text(&place["cluster"]);
                let (rule, standing) = (text(&finding["rule"]), text(&finding["standing"]));
                format!("{rule} {standing} {} {cluster}", text(&place["file"]))
            })
        })
        .collect()
}

fn codes(run: &Run) -> Vec<String> {
    let report = run.json();
    let problems = report["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn counts(run: &Run, new: u64, worse: u64, fixed: u64, unchanged: u64) {
    let change = &run.json()["change"];
    let found = ["new", "worse", "fixed", "unchanged"].map(|key| change[key].as_u64().unwrap());
    assert_eq!(found, [new, worse, fixed, unchanged], "new, worse, fixed, unchanged");
}

#[test]
fn only_what_is_new_or_worse_denies() {
    let repo = Repo::new(&[
        ("rendered/prod-a/old.yaml", &map("old", Some(3))),
        ("rendered/prod-a/worse.yaml", &map("worse", Some(3))),
        ("rendered/prod-a/mended.yaml", &map("mended", Some(3))),
        ("rendered/dev-a/untouched.yaml", &map("untouched", Some(3))),
    ])
    .branch();
    let run = repo.change(&[
        ("rendered/prod-a/old.yaml", &format!("# moved down\n{}", map("old", Some(2)))),
        ("rendered/prod-a/mended.yaml", &map("mended", None)),
    ]);
    let run = run.exits(0);
    counts(&run, 0, 0, 1, 1);
    let run = repo.change(&[
        ("rendered/prod-a/worse.yaml", &map("worse", Some(4))),
        ("rendered/dev-a/new.yaml", &map("new", Some(1))),
    ]);
    let run = run.exits(1);
    counts(&run, 1, 1, 1, 1);
    assert_eq!(
        findings(&run),
        ["local/bad new rendered/dev-a/new.yaml dev-a", "local/bad worse rendered/prod-a/worse.yaml prod-a"]
    );
}

#[test]
fn a_moved_file_is_the_same_finding_and_a_copy_to_another_cluster_is_new() {
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]).branch();
    repo.git(&["mv", "rendered/prod-a/a.yaml", "rendered/prod-a/b.yaml"]);
    counts(&repo.change(&[]).exits(0), 0, 0, 0, 1);
    let run = repo.change(&[("rendered/dev-a/a.yaml", &map("a", Some(1)))]).exits(1);
    assert_eq!(findings(&run), ["local/bad new rendered/dev-a/a.yaml dev-a"]);
}

#[test]
fn what_the_base_did_since_is_not_held_against_the_change() {
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", None))]).branch();
    repo.commit(&[("rendered/prod-a/mine.yaml", &map("mine", None))]);
    repo.git(&["checkout", "-q", "main"]);
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]);
    repo.git(&["checkout", "-q", "topic"]);
    counts(&repo.check(&[]).exits(0), 0, 0, 0, 0);
}

#[test]
fn a_policy_that_was_weaker_when_the_branch_began_does_not_help() {
    let weak = POLICY.replace("deny contains", "warn contains");
    let repo = Repo::empty();
    repo.commit(&[("fleetgate.yaml", FLEET), ("policies/bad.rego", &weak)]);
    let repo = repo.branch();
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]);
    repo.git(&["checkout", "-q", "main"]);
    repo.commit(&[("policies/bad.rego", POLICY)]);
    repo.git(&["checkout", "-q", "topic"]);
    repo.check(&[]).exits(1);
}

#[test]
fn the_change_cannot_loosen_what_it_is_judged_by() {
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", None))]).branch();
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]);
    let waiver =
        "waivers:\n  - {rule: local/bad, subject: '*', reason: r, owner: '@o', expires: 2999-01-01}\n";
    let exclude = "exclude:\n  - {path: 'rendered/**', reason: r, owner: '@o', expires: 2999-01-01}\n";
    let off = "rules: {local/bad: off}\n";
    for (what, file, text) in [
        ("waiver", "fleetgate.yaml", format!("{FLEET}{waiver}")),
        ("exclusion", "fleetgate.yaml", format!("{FLEET}{exclude}")),
        ("level", "fleetgate.yaml", format!("{FLEET}{off}")),
        ("policy", "policies/bad.rego", POLICY.replace("\tinput.object", "\tfalse\n\tinput.object")),
    ] {
        let run = repo.change(&[(file, &text)]).exits(1);
        let found = findings(&run);
        assert!(
            found.iter().any(|f| f.starts_with("local/bad new rendered/prod-a/a.yaml")),
            "{what}: {found:?}"
        );
        assert!(found.iter().any(|f| f.starts_with("fleet/loosened new")), "{what}: {found:?}");
        repo.commit(&[("fleetgate.yaml", FLEET), ("policies/bad.rego", POLICY)]);
    }
    // The fleet file gone is no fleet file to be judged without.
    repo.git(&["rm", "-q", "fleetgate.yaml"]);
    let run = repo.change(&[]).exits(1);
    assert!(findings(&run).iter().any(|f| f.starts_with("fleet/loosened")), "{:?}", findings(&run));
}

#[test]
fn a_loosening_edit_alone_is_a_warning_and_a_tightening_one_counts_at_once() {
    let waiver = "waivers:\n  - {rule: local/bad, subject: 'ConfigMap/x/a', reason: r, owner: '@o', expires: 2999-01-01}\n";
    let all = waiver.replace("ConfigMap/x/a", "*");
    let with_waiver = format!("{FLEET}{all}");
    let repo = Repo::new(&[("fleetgate.yaml", &with_waiver), ("rendered/prod-a/a.yaml", &map("a", Some(1)))])
        .branch();
    let run = repo.change(&[
        ("rendered/prod-a/a.yaml", &map("a", Some(2))),
        ("rendered/prod-a/b.yaml", &map("b", Some(2))),
    ]);
    run.exits(0);
    // Without the waiver the change is denied for what it waived.
    let run = repo.change(&[("fleetgate.yaml", FLEET)]).exits(1);
    assert!(
        findings(&run).contains(&"fleet/tightened new fleetgate.yaml -".to_owned()),
        "{:?}",
        findings(&run)
    );

    let repo = Repo::new(&[]).branch();
    let run = repo.change(&[("fleetgate.yaml", &with_waiver)]).exits(0);
    assert_eq!(findings(&run), ["fleet/loosened new fleetgate.yaml -"]);
}

#[test]
fn a_documentation_change_passes_and_says_that_it_promotes_nothing() {
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]).branch();
    repo.commit(&[("README.md", "# y\n"), ("docs/a.txt", "a\n")]);
    let run = repo.0.run(&["check", "--base", "main"]).exits(0);
    assert!(run.stdout.contains("2 paths: 0 of 0 resources changed; no promotion"), "{}", run.all());
    counts(&repo.check(&[]).exits(0), 0, 0, 0, 0);
    // No change at all.
    repo.git(&["checkout", "-q", "main"]);
    repo.check(&[]).exits(0);
}

#[test]
fn the_first_pull_request_brings_its_own_rules_and_only_warns() {
    let repo = Repo::empty();
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", None))]);
    let repo = repo.branch();
    let run = repo.change(&[
        ("fleetgate.yaml", FLEET),
        ("policies/bad.rego", POLICY),
        ("rendered/prod-a/a.yaml", &map("a", Some(1))),
    ]);
    let run = run.exits(0);
    let report = run.json();
    assert_eq!(report["findings"][0]["level"], "warn");
    assert!(report["notes"].to_string().contains("THE BASE HAS NO FLEET FILE"), "{}", report["notes"]);
}

#[test]
fn an_old_unreadable_file_blocks_only_the_change_that_touches_it() {
    let broken = "apiVersion: v1\nkind: ConfigMap\nkind: Secret\n";
    let repo =
        Repo::new(&[("rendered/prod-a/broken.yaml", broken), ("rendered/dev-a/d.yaml", &map("d", None))])
            .branch();
    let run = repo.change(&[("rendered/prod-a/a.yaml", &map("a", None))]).exits(0);
    assert_eq!(codes(&run), [""; 0]);
    let all = repo.check(&["--all"]).exits(0);
    assert_eq!(all.json()["change"]["unchangedErrors"], 1);
    let run = repo.change(&[("rendered/prod-a/broken.yaml", &format!("# touched\n{broken}"))]).exits(2);
    assert_eq!(codes(&run), ["duplicate-key"]);
}

#[test]
fn o37_what_cannot_be_compared_is_an_error_and_never_no_change() {
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", None))]).branch();
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]);
    let run = repo.0.run(&["check", "--base", "nowhere"]).exits(2);
    assert!(run.stderr.contains("git fetch origin nowhere"), "{}", run.stderr);
    repo.git(&["checkout", "-q", "main"]);
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(2)))]);
    let run = repo.0.run(&["check", "--base", "main", "--head", "topic"]).exits(2);
    assert!(run.stderr.contains("rebase") && run.stderr.contains("rendered/prod-a/a.yaml"), "{}", run.stderr);

    let clone = tempfile::tempdir().unwrap();
    let (url, to) = (format!("file://{}", repo.0.path().display()), clone.path().display().to_string());
    repo.git(&["clone", "-q", "--depth", "1", "--no-single-branch", &url, &to]);
    let shallow =
        run_in(clone.path(), &["check", "--base", "origin/main", "--head", "origin/topic"]).exits(2);
    assert!(shallow.stderr.contains("git fetch --unshallow"), "{}", shallow.stderr);
    let outside = tempfile::tempdir().unwrap();
    let none = run_in(outside.path(), &["check", "--base", "main"]).exits(2);
    assert!(none.stderr.contains("in no Git repository"), "{}", none.stderr);
}

fn run_in(dir: &std::path::Path, arguments: &[&str]) -> Run {
    run(dir, arguments, None)
}

#[test]
fn o38_a_name_beyond_ascii_is_judged() {
    let repo = Repo::new(&[]).branch();
    let run = repo.change(&[("rendered/prod-a/é \"x\".yaml", &map("e", Some(1)))]).exits(1);
    assert_eq!(findings(&run), ["local/bad new rendered/prod-a/é \"x\".yaml prod-a"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_submodules_and_pointers_are_said_to_be_unjudged() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = Repo::new(&[("rendered/prod-a/a.yaml", &map("a", None))]).branch();
    let name = std::ffi::OsStr::from_bytes(b"caf\xE9.yaml");
    std::fs::write(repo.0.path().join(name), map("a", Some(1))).unwrap();
    let other = Repo::new(&[]);
    repo.git(&["submodule", "--quiet", "add", &other.0.path().display().to_string(), "rendered/prod-a/sub"]);
    repo.git(&["submodule", "--quiet", "add", &other.0.path().display().to_string(), "theme"]);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    let run = repo.change(&[("rendered/prod-a/large.yaml", pointer)]).exits(2);
    let mut found = codes(&run);
    found.retain(|code| ["lfs-pointer", "path-encoding", "submodule"].contains(&code.as_str()));
    found.sort();
    assert_eq!(found, ["lfs-pointer", "path-encoding", "submodule"]);
}

#[cfg(unix)]
#[test]
fn a_change_is_seen_through_links() {
    let repo = Repo::new(&[("shared/a.yaml", &map("a", None)), ("rendered/dev-a/d.yaml", &map("d", None))]);
    std::fs::create_dir_all(repo.0.path().join("rendered/prod-a")).unwrap();
    std::os::unix::fs::symlink("../../shared/a.yaml", repo.0.path().join("rendered/prod-a/a.yaml")).unwrap();
    repo.commit(&[]);
    let repo = repo.branch();
    let run = repo.change(&[("shared/a.yaml", &map("a", Some(1)))]).exits(1);
    assert!(
        findings(&run).contains(&"local/bad new rendered/prod-a/a.yaml prod-a".to_owned()),
        "{:?}",
        findings(&run)
    );
}

#[test]
fn what_a_kustomization_takes_in_is_seen_through_it_also_in_a_change() {
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: p-\nresources: [cm.yaml]\n";
    let repo = Repo::new(&[
        ("apps/web/kustomization.yaml", kustomization),
        ("apps/web/cm.yaml", &map("a", None)),
        ("rendered/prod-a/a.yaml", &map("p-a", None)),
        ("rendered/dev-a/a.yaml", &map("p-a", None)),
    ])
    .branch();
    let run = repo.change(&[("apps/web/cm.yaml", &map("a", Some(1)))]).exits(0);
    assert_eq!(run.json()["counts"]["seenThrough"], 1);
    repo.change(&[("loose.yaml", &map("l", Some(1)))]).exits(1);
}

#[test]
fn all_shows_what_a_check_of_the_working_tree_shows() {
    let repo = Repo::new(&[
        ("rendered/prod-a/old.yaml", &map("old", Some(3))),
        ("rendered/dev-a/old.yaml", &map("old", Some(3))),
    ])
    .branch();
    repo.commit(&[("rendered/prod-a/new.yaml", &map("new", Some(1)))]);
    let bare = |run: &Run| {
        let report = run.json();
        let mut found = report["findings"].as_array().unwrap().clone();
        for finding in &mut found {
            finding.as_object_mut().unwrap().remove("standing");
        }
        found.sort_by_key(|finding| finding["fingerprint"].to_string());
        serde_json::to_string(&found).unwrap()
    };
    let now = ["--now", "2026-06-01T00:00:00Z"];
    let tree = repo.0.run(&[&["check", "-o", "json", "--select", "local/*"][..], &now].concat()).exits(1);
    let all = repo.check(&[&["--all"][..], &now].concat()).exits(1);
    assert_eq!(bare(&all), bare(&tree));
    counts(&all, 1, 0, 0, 2);
}

#[test]
fn run_below_the_root_and_with_output_to_a_file() {
    let repo = Repo::new(&[]).branch();
    repo.commit(&[("rendered/prod-a/a.yaml", &map("a", Some(1)))]);
    let below = repo.0.path().join("rendered");
    run_in(&below, &["check", "--base", "main", "-o", "json=report.json"]).exits(1);
    let report = std::fs::read_to_string(below.join("report.json")).unwrap();
    assert!(report.contains("\"rendered/prod-a/a.yaml\""), "{report}");
}

const BUDGET: &str = "\
apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [prod]
rendered: rendered/{cluster}
clusters:
  a: {environment: prod, accelerators: [{family: H100, resource: nvidia.com/gpu, perNode: 8, nodes: 64}]}
  b: {environment: prod, accelerators: [{family: H100, resource: nvidia.com/gpu, perNode: 8, nodes: 64}]}
teams: {ml: [ml]}
budgets: [{team: ml, family: H100, environment: prod, limit: 32, owner: capacity}]
";

/// So many pods of eight H100. A `StatefulSet` replaces its pods one by one, with no surge.
fn gpus(name: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: {name}, namespace: ml}}\nspec:\n  \
         replicas: {replicas}\n  template: {{spec: {{containers: [{{name: c, image: i, resources: {{limits: \
         {{nvidia.com/gpu: 8}}}}}}]}}}}\n"
    )
}

fn budget(repo: &Repo, more: &[&str]) -> Run {
    repo.0.run(&[&["check", "--base", "main", "-o", "json", "--select", "quota/budget"][..], more].concat())
}

/// Two clusters with 16 and 8 devices, of 32.
fn with_budget(fleet: &str, a: u32, b: u32) -> Repo {
    let repo = Repo::empty();
    repo.commit(&[
        ("fleetgate.yaml", fleet),
        ("rendered/a/x.yaml", &gpus("x", a)),
        ("rendered/b/w.yaml", &gpus("w", b)),
        ("rendered/b/map.yaml", &map("map", None)),
    ]);
    repo.branch()
}

#[test]
fn a_budget_is_summed_over_all_clusters_although_one_file_changed() {
    let repo = with_budget(BUDGET, 2, 1);
    // 8 × (3 + 1) = 32 of 32.
    repo.commit(&[("rendered/a/x.yaml", &gpus("x", 3))]);
    budget(&repo, &[]).exits(0);
    // 8 × (4 + 1) = 40 of 32.
    repo.commit(&[("rendered/a/x.yaml", &gpus("x", 4))]);
    let run = budget(&repo, &[]).exits(1);
    let finding = &run.json()["findings"][0];
    assert_eq!((&finding["standing"], &finding["details"]["value"]), (&"new".into(), &8.into()));
    // A change that asks for nothing is not asked for sums, and that is no lack of rules.
    let repo = with_budget(BUDGET, 2, 1);
    repo.commit(&[("rendered/b/map.yaml", &map("other", None))]);
    let run = budget(&repo, &[]).exits(0);
    assert_eq!(run.json()["counts"]["resources"], 1);
}

#[test]
fn over_already_a_change_that_adds_is_denied_and_one_that_does_not_passes() {
    // 8 × (5 + 1) = 48 of 32.
    let repo = with_budget(BUDGET, 5, 1);
    repo.commit(&[("rendered/a/z.yaml", &gpus("z", 1))]);
    let run = budget(&repo, &[]).exits(1);
    let finding = &run.json()["findings"][0];
    assert_eq!((&finding["standing"], &finding["details"]["value"]), (&"worse".into(), &24.into()));
    // One moves to another name.
    repo.commit(&[("rendered/a/x.yaml", &gpus("x", 4))]);
    let run = budget(&repo, &[]).exits(0);
    let notes = run.json()["notes"].to_string();
    assert!(notes.contains("before this change already: ml is over its H100 budget"), "{notes}");
    // 8 × (4 + 0 + 1) = 40: still over, by less.
    repo.commit(&[("rendered/a/z.yaml", &gpus("z", 0))]);
    counts(&budget(&repo, &[]).exits(0), 0, 0, 0, 1);
}

#[test]
fn a_budget_that_the_change_raises_stays_and_one_that_it_lowers_is_lowered() {
    let repo = with_budget(BUDGET, 3, 1);
    repo.commit(&[("rendered/a/x.yaml", &gpus("x", 4)), ("fleetgate.yaml", &BUDGET.replace("32", "64"))]);
    let run = budget(&repo, &[]).exits(1);
    let mut found = findings(&run);
    found.sort();
    assert_eq!(found, ["fleet/loosened new fleetgate.yaml -", "quota/budget new rendered/a/x.yaml -"]);
    // 32 of 24, although no manifest changes.
    let repo = with_budget(BUDGET, 3, 1);
    repo.commit(&[("fleetgate.yaml", &BUDGET.replace("32", "24"))]);
    let run = budget(&repo, &[]).exits(1);
    assert!(findings(&run).iter().any(|f| f.starts_with("quota/budget new")), "{:?}", findings(&run));
}

#[test]
fn rules_see_what_a_budget_held_before_and_what_the_change_adds() {
    let policy = r#"# METADATA
# title: Growth
# description: For tests.
# custom:
#   level: warn
#   target: fleet
#   needs: [fleet]
package fleetgate.local.growth

warn contains {"msg": sprintf("%v + %v = %v", [budget.base, budget.delta, budget.used]), "subject": budget.ref} if {
	some budget in input.budgets
}
"#;
    let repo = with_budget(&format!("{BUDGET}policies: [{{paths: [policies]}}]\n"), 2, 1);
    repo.git(&["checkout", "-q", "main"]);
    repo.commit(&[("policies/growth.rego", policy)]);
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo.commit(&[("rendered/a/x.yaml", &gpus("x", 3))]);
    let run = repo.check(&["--all"]);
    // 8 × (2 + 1) before, 8 × (3 + 1) now.
    assert!(run.stdout.contains("24 + 8 = 32"), "{}", run.all());
}

#[test]
fn a_baseline_entry_that_the_change_adds_accepts_nothing_in_it() {
    let entry = |name: &str| {
        format!(
            "- {{rule: local/bad, object: -/ConfigMap/x/{name}, route: metadata.annotations.bad, clusters: ['*'], level: deny, value: 1}}\n"
        )
    };
    let head = "apiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\nfindings:\n";
    let repo = Repo::new(&[
        ("fleetgate.baseline.yaml", &format!("{head}{}", entry("a"))),
        ("rendered/prod-a/a.yaml", &map("a", Some(1))),
    ])
    .branch();
    // Accepted at the base: as it was.
    repo.change(&[("rendered/prod-a/a.yaml", &format!("# x\n{}", map("a", Some(1))))]).exits(0);
    let run = repo.change(&[
        ("fleetgate.baseline.yaml", &format!("{head}{}{}", entry("a"), entry("b"))),
        ("rendered/prod-a/b.yaml", &map("b", Some(1))),
    ]);
    let run = run.exits(1);
    let mut found = findings(&run);
    found.sort();
    assert_eq!(found, ["fleet/loosened new fleetgate.yaml -", "local/bad new rendered/prod-a/b.yaml prod-a"]);
    // An entry that goes no longer accepts what it did, in whatever file.
    repo.git(&["rm", "-q", "fleetgate.baseline.yaml"]);
    let run = repo.change(&[("rendered/prod-a/b.yaml", &map("b", None))]).exits(1);
    assert!(
        findings(&run).contains(&"local/bad new rendered/prod-a/a.yaml prod-a".to_owned()),
        "{:?}",
        findings(&run)
    );
}

#[test]
fn a_plain_check_in_a_pull_request_says_whose_rules_it_goes_by() {
    let repo =
        Repo::new(&[("rendered/prod-a/a.yaml", &map("a", None)), ("rendered/dev-a/a.yaml", &map("a", None))]);
    for variable in ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] {
        let output =
            crate::support::command(repo.0.path()).arg("check").env(variable, "main").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("come from the change itself") && text.contains("--base"), "{text}");
        let output = crate::support::command(repo.0.path())
            .args(["check", "--base", "main"])
            .env(variable, "main")
            .output()
            .unwrap();
        assert!(!String::from_utf8(output.stdout).unwrap().contains("come from the change itself"));
    }
}
