//! Which fleet file judges the paths of a command line, and what a run over a part may say.

use crate::support::Sandbox;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n  containers:\n    - {name: c, image: 'r.example.org/a:1.0'}\n";

const FLEET: &str = "\
apiVersion: fleetgate.dev/v1alpha1
kind: Fleet
environments: [prod]
rendered: rendered/{cluster}
clusters: {prod-1: prod}
rules: {gitops/image-digest: deny}
";

const UNUSED: &str = "\
waivers:
  - rule: gitops/device-isolation
    subject: Pod ml/gone
    reason: a test
    owner: '@ml'
    expires: 2035-12-31
";

/// Two fleets in one repository, the second with a waiver that nothing needs.
fn fleets() -> Sandbox {
    let unused = format!("{FLEET}{UNUSED}");
    Sandbox::new(&[
        ("one/fleetgate.yaml", FLEET),
        ("one/rendered/prod-1/a.yaml", POD),
        ("two/fleetgate.yaml", &unused),
        ("two/rendered/prod-1/a.yaml", POD),
        ("loose/a.yaml", POD),
    ])
}

#[test]
fn a_directory_is_judged_by_the_fleet_file_in_it() {
    let run = fleets().run(&["check", "one", "-o", "concise"]).exits(1);
    assert!(
        run.stdout.starts_with("one/rendered/prod-1/a.yaml:6:24: deny[gitops/image-digest]"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("in prod-1"), "{}", run.stdout);
}

#[test]
fn a_part_of_a_fleet_is_judged_by_the_fleet_file_above_it() {
    for path in ["two/rendered/prod-1", "two/rendered/prod-1/a.yaml", "./two/rendered/"] {
        let run = fleets().run(&["check", path, "-o", "concise"]).exits(1);
        assert!(run.stdout.contains("in prod-1"), "{path}: {}", run.stdout);
        // A part cannot tell that a waiver is of no use.
        assert!(!run.stdout.contains("fleet/unused-waiver"), "{path}: {}", run.stdout);
    }
}

#[test]
fn the_whole_fleet_tells_unused_waivers_however_it_is_named() {
    let fleets = fleets();
    for paths in [&["two"][..], &["two/"], &["two/rendered", "two"], &["--config", "two/fleetgate.yaml"]] {
        let run = fleets.run(&[&["check", "-o", "concise"], paths].concat()).exits(1);
        assert!(run.stdout.contains("two/fleetgate.yaml:8:1: warn[fleet/unused-waiver]"), "{}", run.stdout);
    }
}

#[test]
fn a_waiver_of_a_rule_that_was_left_out_is_not_unused() {
    let run = fleets().run(&["check", "two", "--select", "gitops/image-digest", "-o", "concise"]).exits(1);
    assert!(!run.stdout.contains("unused-waiver"), "{}", run.stdout);
    let run = fleets().run(&["check", "two", "--ignore", "gitops/image-digest", "-o", "concise"]).exits(0);
    assert!(!run.stdout.contains("unused-waiver"), "{}", run.stdout);
}

#[test]
fn paths_of_two_fleets_are_a_usage_error_that_names_both() {
    let fleets = fleets();
    let run = fleets.run(&["check", "one/rendered", "two"]).exits(2);
    assert!(
        run.stderr.contains("`one/rendered` belongs to the fleet of `one/fleetgate.yaml`"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("`two` to that of `two/fleetgate.yaml`"), "{}", run.stderr);
    // Named, it counts for both.
    fleets.run(&["check", "one/rendered", "two", "--config", "one/fleetgate.yaml"]).exits(1);
    fleets.run(&["check", "one/rendered", "two", "--no-config", "--environment", "dev"]).exits(0);
}

#[test]
fn a_path_outside_every_fleet_goes_with_the_fleet_of_the_working_directory() {
    let fleets = fleets();
    let here = crate::support::run(
        &fleets.path().join("one"),
        &["check", "../loose", "--cluster", "prod-1", "-o", "concise"],
        None,
    );
    let here = here.exits(1);
    assert!(here.stdout.starts_with("../loose/a.yaml:6:24: deny"), "{}", here.stdout);
}

#[test]
fn standard_input_goes_with_the_fleet_of_the_working_directory_or_of_the_other_paths() {
    let fleets = fleets();
    // The rule denies in production only by the fleet file, which is not above here.
    fleets.pipe(&["check", "-", "--environment", "prod", "-o", "concise"], POD).exits(0);
    let run =
        fleets.pipe(&["check", "-", "one/rendered", "--cluster", "prod-1", "-o", "concise"], POD).exits(1);
    assert!(run.stdout.starts_with("-:6:24: deny[gitops/image-digest]"), "{}", run.stdout);
}

#[test]
fn an_override_to_deny_denies_what_a_rule_that_warns_finds() {
    let run = fleets().run(&["check", "one", "-o", "concise"]).exits(1);
    assert!(run.stdout.contains("denied: 1 denial"), "{}", run.stdout);
    let plain = FLEET.replace("rules: {gitops/image-digest: deny}\n", "");
    let fleet = Sandbox::new(&[("fleetgate.yaml", &plain), ("rendered/prod-1/a.yaml", POD)]);
    fleet.run(&["check"]).exits(0);
}

#[test]
fn a_baseline_is_not_pruned_by_what_was_not_looked_at() {
    let fleets = fleets();
    fleets.run(&["baseline", "create", "one"]).exits(0);
    let accepted = fleets.read("one/fleetgate.baseline.yaml");
    assert!(accepted.contains("gitops/image-digest"), "{accepted}");
    for part in [&["one/rendered/prod-1"][..], &["one", "--select", "gitops/pod-fields"]] {
        for command in ["prune", "update"] {
            let run = fleets.run(&[&["baseline", command], part].concat()).exits(2);
            assert!(run.stderr.contains("works on the whole fleet with all rules"), "{}", run.stderr);
        }
    }
    assert_eq!(fleets.read("one/fleetgate.baseline.yaml"), accepted);
    let run = fleets.run(&["baseline", "prune", "one"]).exits(0);
    assert_eq!(run.stderr, "dropped 0 entries that no longer occur\n");
}

#[test]
fn a_run_after_init_is_green_and_stays_so_until_something_new_comes() {
    let old = Sandbox::new(&[("rendered/prod-1/a.yaml", POD)]);
    old.run(&["init"]).exits(0);
    // The files that were written are not taken for manifests.
    let run = old.run(&["check"]).exits(0);
    assert!(run.stdout.contains("accepted      1 finding by the baseline"), "{}", run.stdout);
    assert!(run.stdout.contains("passed: nothing new"), "{}", run.stdout);
    old.write(
        "rendered/prod-1/b.yaml",
        POD.replace("name: a", "name: b").replace(":1.0", ":latest").as_bytes(),
    );
    let run = old.run(&["check", "-o", "concise"]).exits(1);
    assert!(
        run.stdout.starts_with("rendered/prod-1/b.yaml:6:24: deny[gitops/image-latest-tag]"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_baseline_for_each_directory_stays_out_of_what_clusters_apply() {
    let fleet = FLEET.replace("rendered: rendered/{cluster}", "rendered: '{cluster}'");
    let other = POD.replace("name: a", "name: b");
    let fleets =
        Sandbox::new(&[("fleetgate.yaml", &fleet), ("prod-1/a.yaml", POD), ("apps/b/b.yaml", &other)]);
    let run = fleets.run(&["baseline", "create", "--per-directory"]).exits(0);
    assert_eq!(
        run.stderr,
        "wrote fleetgate.baseline.yaml\nwrote apps/fleetgate.baseline.yaml\naccepted 2 findings\n"
    );
    fleets.run(&["check"]).exits(0);
}

#[test]
fn a_manifest_in_the_clothes_of_a_baseline_is_refused() {
    let hidden = "apiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\nfindings: []\n---\n";
    let fleets = Sandbox::new(&[
        ("fleetgate.yaml", FLEET),
        ("rendered/prod-1/a.yaml", POD),
        ("apps/x/hidden.yaml", &format!("{hidden}{POD}")),
    ]);
    let run = fleets.run(&["check", "-o", "concise"]).exits(2);
    assert!(run.stdout.contains("apps/x/hidden.yaml:1:1: error[no-name]"), "{}", run.stdout);
}
