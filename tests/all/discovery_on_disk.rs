//! Trees that cannot be kept in Git: links, unreadable directories, odd names; what is named on the
//! command line; and any tree at all.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use fleetgate::fleet::{self, Discovery, Loose};
use jiff::civil::{Date, date};
use proptest::prelude::*;

const TODAY: Date = date(2026, 12, 1);
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n";
const FLEET: &str = "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nenvironments: [dev, prod]\nrendered: rendered/{cluster}\nclusters: {dev-a: dev, prod-a: prod}\n";

struct Tree {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { _dir: dir, root }
    }

    fn discover(&self) -> Discovery {
        fleet::discover(None, std::slice::from_ref(&self.root), &Loose::default(), TODAY)
    }

    fn short(&self, path: &Utf8Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string()
    }

    fn judged(&self, found: &Discovery) -> Vec<String> {
        found.files.iter().map(|file| self.short(&file.path)).collect()
    }
}

#[test]
fn an_unreadable_directory_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new(&[("a.yaml", POD), ("shut/b.yaml", POD)]);
    let shut = tree.root.join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&shut).is_ok() {
        println!("skipped: this user reads everything");
        return;
    }
    let found = tree.discover();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(tree.judged(&found), ["a.yaml"]);
    let [problem] = found.problems.as_slice() else { panic!("{:?}", found.problems) };
    assert_eq!((problem.code, problem.file.as_deref()), ("unreadable", Some(&shut)));
}

#[test]
fn links_are_followed_inside_the_tree_and_end() {
    use std::os::unix::fs::symlink;
    let outside = Tree::new(&[("x.yaml", POD)]);
    let tree = Tree::new(&[("a/a.yaml", POD), ("b/b.yaml", POD), ("c/c.yaml", POD)]);
    let link = |target: &str, name: &str| symlink(target, tree.root.join(name)).unwrap();
    link("../a", "b/to-a");
    link("..", "a/up");
    link("../c", "a/to-c");
    link("a/a.yaml", "file.yaml");
    link("nowhere.yaml", "broken.yaml");
    link("self.yaml", "self.yaml");
    link(outside.root.as_str(), "outside");
    let found = tree.discover();
    assert_eq!(
        tree.judged(&found),
        ["a/a.yaml", "a/to-c/c.yaml", "b/b.yaml", "b/to-a/a.yaml", "c/c.yaml", "file.yaml"]
    );
    let skipped: Vec<_> = found.skipped.iter().map(|s| (tree.short(&s.file), s.reason.clone())).collect();
    let reasons =
        |name: &str| skipped.iter().find(|(file, _)| file == name).map(|(_, reason)| reason.as_str());
    assert_eq!(reasons("a/up"), Some("a link to a directory that it lies in"));
    assert!(reasons("outside").unwrap().contains("leads outside"));
    assert!(reasons("b/to-a/to-c").unwrap().contains("reached through the link"));
    let broken: Vec<_> =
        found.problems.iter().map(|p| (p.code, tree.short(p.file.as_deref().unwrap()))).collect();
    assert_eq!(broken, [("broken-link", "broken.yaml".to_owned()), ("broken-link", "self.yaml".to_owned())]);
}

#[test]
fn a_link_out_of_a_rendered_tree_is_a_problem() {
    let outside = Tree::new(&[("x.yaml", POD)]);
    let tree = Tree::new(&[
        ("fleetgate.yaml", FLEET),
        ("rendered/dev-a/p.yaml", POD),
        ("rendered/prod-a/p.yaml", POD),
    ]);
    std::os::unix::fs::symlink(&outside.root, tree.root.join("rendered/prod-a/more")).unwrap();
    let loaded = fleet::load(&tree.root.join("fleetgate.yaml")).unwrap();
    let found = fleet::discover(Some(&loaded), &[], &Loose::default(), TODAY);
    assert_eq!(found.problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["link-not-followed"]);
}

#[test]
fn git_is_never_entered_and_nothing_is_no_problem() {
    let tree = Tree::new(&[(".git/config.yaml", POD), ("readme.md", "x")]);
    let found = tree.discover();
    assert!(found.files.is_empty() && found.problems.is_empty() && found.skipped.is_empty());
}

#[test]
fn a_path_that_does_not_exist_is_a_problem() {
    let found = fleet::discover(None, &["no/such/dir".into()], &Loose::default(), TODAY);
    assert_eq!(found.problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["no-such-path"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_a_problem() {
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new(&[]);
    fs::write(tree.root.as_std_path().join(std::ffi::OsStr::from_bytes(b"\xff.yaml")), POD).unwrap();
    assert_eq!(tree.discover().problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["path-not-utf8"]);
}

#[test]
fn what_is_named_is_judged_with_the_context_of_its_cluster() {
    let kustomization = "resources: [d.yaml]\nnamespace: x\n";
    let tree = Tree::new(&[
        ("fleetgate.yaml", FLEET),
        ("rendered/dev-a/p.yaml", POD),
        ("rendered/prod-a/p.yaml", POD),
        ("app/kustomization.yaml", kustomization),
        ("app/d.yaml", POD),
    ]);
    let loaded = fleet::load(&tree.root.join("fleetgate.yaml")).unwrap();
    let named = |paths: &[&str], loose: &Loose| {
        let paths: Vec<_> = paths.iter().map(|path| tree.root.join(path)).collect();
        fleet::discover(Some(&loaded), &paths, loose, TODAY)
    };
    let clusters = |found: &Discovery| -> Vec<Option<String>> {
        let contexts = found.files.iter().flat_map(|file| &file.contexts);
        contexts.map(|context| context.cluster.as_ref().map(|cluster| cluster.name.to_string())).collect()
    };
    let found = named(&["rendered/prod-a"], &Loose::default());
    assert_eq!((clusters(&found), found.problems.len()), (vec![Some("prod-a".to_owned())], 0));
    // Something renders this file, but it was asked for.
    let loose = Loose { cluster: Some("dev-a".to_owned()), ..Loose::default() };
    let found = named(&["app/d.yaml"], &loose);
    assert_eq!(clusters(&found), [Some("dev-a".to_owned())]);
    assert!(found.files.iter().all(|file| file.strict));
    // Its directory was asked for, which the kustomization speaks for.
    assert_eq!(named(&["app"], &Loose::default()).files.len(), 0);
    let found = named(&["app/d.yaml"], &Loose { cluster: Some("dev-b".to_owned()), ..Loose::default() });
    assert_eq!(found.problems[0].help.as_deref(), Some("did you mean `dev-a`?"));
}

#[test]
fn standard_input_is_a_file_with_the_given_context() {
    let loose = Loose {
        environment: Some("prod".to_owned()),
        stdin: Some(POD.as_bytes().into()),
        ..Loose::default()
    };
    let found = fleet::discover(None, &["-".into()], &loose, TODAY);
    let [file] = found.files.as_slice() else { panic!("{:?}", found.files) };
    assert!(file.strict && file.path.as_str() == "-");
    assert_eq!(file.contexts[0].environment.as_deref(), Some("prod"));
}

#[test]
fn what_is_proposed_for_a_known_layout_is_what_is_there() {
    let tree = Tree::new(&[
        ("clusters/prod-eu/apps.yaml", POD),
        ("clusters/stg-eu/apps.yaml", POD),
        ("apps/web/overlays/production/kustomization.yaml", "namespace: x\n"),
        ("apps/web/overlays/dev/kustomization.yaml", "namespace: x\n"),
    ]);
    let proposal = fleet::init(&tree.root, TODAY).unwrap();
    assert_eq!(proposal.environments, ["dev", "stg", "production"]);
    let clusters: Vec<_> =
        proposal.clusters.iter().map(|(name, env)| (name.as_str(), env.as_str())).collect();
    assert_eq!(clusters, [("prod-eu", "production"), ("stg-eu", "stg")]);
    assert_eq!(proposal.rendered.as_deref(), Some("clusters/{cluster}"));
    fs::write(&proposal.file, &proposal.text).unwrap();
    let loaded = fleet::load(&proposal.file).unwrap();
    let found = fleet::discover(Some(&loaded), &[], &Loose::default(), TODAY);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn clusters_that_applications_go_to_are_proposed() {
    let to = |name| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec: {{destination: {{name: {name}}}}}\n"
        )
    };
    let (east, own, hub) = (to("east-prod"), to("in-cluster"), to("hub"));
    let tree = Tree::new(&[("apps/a.yaml", &east), ("apps/b.yaml", &own), ("apps/c.yaml", &hub)]);
    let proposal = fleet::init(&tree.root, TODAY).unwrap();
    let clusters: Vec<_> =
        proposal.clusters.iter().map(|(name, env)| (name.as_str(), env.as_str())).collect();
    assert_eq!(clusters, [("east-prod", "prod"), ("hub", "prod")]);
    assert!(proposal.text.contains("`hub` is put in `prod`"), "{}", proposal.text);
}

#[test]
fn a_layout_that_is_altered_afterwards_is_not_proposed_as_rendered() {
    let tree = Tree::new(&[
        ("clusters/prod/kustomization.yaml", "resources: [p.yaml]\nimages: [{name: a, newTag: b}]\n"),
        ("clusters/prod/p.yaml", POD),
    ]);
    let proposal = fleet::init(&tree.root, TODAY).unwrap();
    assert_eq!(proposal.rendered, None);
    assert!(proposal.text.contains("# rendered: "), "{}", proposal.text);
}

#[test]
fn an_empty_repository_gets_a_file_that_says_so() {
    let tree = Tree::new(&[]);
    let proposal = fleet::init(&tree.root, TODAY).unwrap();
    assert!(proposal.text.contains("No clusters were found"));
    fs::write(&proposal.file, &proposal.text).unwrap();
    assert!(fleet::load(&proposal.file).unwrap().fleet.clusters.is_empty());
}

/// Paths and contents of a small tree, with names that mean something to the tools.
fn trees() -> impl Strategy<Value = Vec<(String, String)>> {
    let dir = prop::sample::select(vec![
        "",
        "clusters/",
        "clusters/prod-a/",
        "clusters/on/",
        "rendered/x y/",
        "rendered/dev-a/",
        "apps/base/",
        "apps/overlays/prod/",
        "envs/qa/",
        "chart/",
        "chart/templates/",
        "environments/1/",
        ".github/",
    ]);
    let name = prop::sample::select(vec![
        "a.yaml",
        "b.yml",
        "c.json",
        "kustomization.yaml",
        "Kustomization",
        "Chart.yaml",
        "values.yaml",
    ]);
    let text = prop::sample::select(vec![
        POD,
        "resources: [a.yaml, ../base, ../../apps/base]\n",
        "resources: [.]\nnamePrefix: x-\n",
        "resources: [a.yaml]\npatches: [{path: b.yml}]\n",
        "name: c\nversion: 1.0.0\n",
        "{{ not yaml\n",
        "",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: apps/base, kustomize: {images: [a]}}}\n",
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec: {generators: [{list: {elements: [{cluster: yes-1, env: 'no'}]}}], template: {spec: {source: {path: '{{x}}'}}}}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: on, labels: {argocd.argoproj.io/secret-type: cluster, env: \"a b\"}}\n",
    ]);
    prop::collection::vec(
        (dir, name, text).prop_map(|(dir, name, text)| (format!("{dir}{name}"), text.to_owned())),
        0..14,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_has_one_place_for_every_file_and_a_fleet_file_that_loads(files in trees()) {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let tree = Tree::new(&files);
        one_place(&tree, &tree.discover());
        let proposal = fleet::init(&tree.root, TODAY).unwrap();
        fs::write(&proposal.file, &proposal.text).unwrap();
        let loaded = fleet::load(&proposal.file).unwrap();
        one_place(&tree, &fleet::discover(Some(&loaded), &[], &Loose::default(), TODAY));
    }
}

fn one_place(tree: &Tree, found: &Discovery) {
    let mut places: Vec<&Utf8Path> = Vec::new();
    places.extend(found.files.iter().map(|file| file.path.as_path()));
    places.extend(found.seen_through.iter().map(|seen| seen.file.as_path()));
    places.extend(found.excluded.iter().map(|excluded| excluded.file.as_path()));
    places.extend(found.skipped.iter().map(|skipped| skipped.file.as_path()));
    let distinct: BTreeSet<&Utf8Path> = places.iter().copied().collect();
    assert_eq!(distinct.len(), places.len(), "a file in two places");
    for entry in walkdir::WalkDir::new(&tree.root).into_iter().map(Result::unwrap) {
        let path = Utf8Path::from_path(entry.path()).unwrap();
        if entry.file_type().is_file() && path.extension().is_some() && !distinct.contains(path) {
            let spoken_of =
                found.problems.iter().any(|problem| problem.file.as_deref().is_some_and(|f| f == path));
            assert!(spoken_of, "{path} is nowhere");
        }
    }
}
