//! Walks the trees that are to be judged and sorts every YAML and JSON file into exactly one place:
//! judged, seen through, excluded, skipped, or a problem.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;

use super::discovery::{
    Discovery, Excluded, ExcludedDeployed, Loose, Renderer, SeenThrough, Skipped, Unrendered,
};
use super::graph::{Graph, Node};
use super::load::Loaded;
use super::paths::normal;
use super::recognise::Rendered;
use super::resolve::Tree;
use super::skip::Known;
use super::tree::{Files, is_tool_file};
use super::walk::{Found, Root, Walked};
use super::{kustomize, scan, suggest};
use crate::manifest::corpus::{Content, InputFile};
use crate::model::{Cluster, Context, Exclusion, Injects, Problem, Value};

/// Finds what is to be judged: the files and trees at `paths`, or the whole fleet if there are none,
/// or the current directory if there is no fleet either. `today` decides which exclusions hold.
///
/// A file is judged where it is if it is in a cluster's rendered tree, if it was named itself, or if
/// everything that takes it in leaves it as it is. Argo CD and Flux objects are taken to mean the
/// repository at hand if the path that they name exists in it.
pub fn discover(fleet: Option<&Loaded>, paths: &[Utf8PathBuf], loose: &Loose, today: Date) -> Discovery {
    let mut out = Discovery::default();
    let context = loose_context(fleet, loose, &mut out.problems);
    let home = fleet.and_then(|fleet| Walked::default().root(&fleet.root));
    let scope = Scope { fleet, home: home.as_ref(), today };
    let mut walked = Walked::default();
    let roots = walk(&scope, paths, &mut walked);
    if paths.iter().any(|path| path == "-") {
        out.files.push(InputFile {
            path: Arc::new(loose.stdin_name.clone().unwrap_or_else(|| "-".into())),
            content: Content::Memory(loose.stdin.clone().unwrap_or_default()),
            contexts: vec![Arc::new(context.clone())],
            strict: true,
        });
    }
    out.whole_fleet = !loose.part
        && home.as_ref().is_some_and(|home| roots.iter().any(|root| home.real.starts_with(&root.real)));

    let excluded: BTreeMap<&Utf8Path, &Exclusion> = walked
        .files
        .iter()
        .filter(|(_, found)| !found.named)
        .filter_map(|(path, _)| Some((path.as_path(), scope.exclusion(path)?)))
        .collect();
    let files = Files::new(&walked.files, repositories(&roots, home.as_ref()));
    let paths: Vec<(&Utf8Path, &Utf8Path)> = walked
        .files
        .iter()
        .filter(|(path, _)| !excluded.contains_key(path.as_path()) && path.extension() != Some("json"))
        .map(|(path, found)| (path.as_path(), found.shown.as_path()))
        .collect();
    let mut nodes = Vec::new();
    let mut broken = BTreeSet::new();
    let mut manifests = BTreeSet::new();
    let mut own = BTreeMap::new();
    for ((path, _), scanned) in paths.iter().zip(scan::scan(&paths, &files)) {
        nodes.extend(scanned.nodes);
        if scanned.manifest {
            manifests.insert(*path);
        }
        own.extend(scanned.own.map(|what| (*path, what)));
        if let Some(problem) = scanned.problem.filter(|_| is_judged(&walked.files, path)) {
            broken.insert((*path).to_owned());
            out.problems.push(problem);
        }
    }
    let graph = Graph::new(nodes);
    let clusters = fleet.into_iter().flat_map(|fleet| fleet.fleet.clusters.values());
    let mut sorter = Sorter {
        scope,
        files: &walked.files,
        graph,
        excluded,
        manifests,
        own,
        broken,
        context: Arc::new(context),
        contexts: clusters
            .map(|cluster| (Arc::clone(&cluster.name), Arc::new(of_cluster(cluster))))
            .collect(),
        known: Known::new(),
    };
    sorter.refuse(&mut out);
    sorter.sort(&mut out);
    sorter.unrendered(&mut out);
    out.problems.append(&mut walked.problems);
    out.skipped.extend(walked.skipped.into_values());
    out.finish()
}

/// Walks what was named and, to learn who renders what, the rest of the fleet.
fn walk(scope: &Scope<'_>, paths: &[Utf8PathBuf], walked: &mut Walked) -> Vec<Root> {
    let deployed = |path: &Utf8Path| scope.trees(path).next().is_some();
    let mut roots = Vec::new();
    let everything = [scope.fleet.map(|fleet| fleet.root.clone()).unwrap_or_default()];
    let named = if paths.is_empty() { &everything } else { paths };
    for path in named.iter().filter(|path| *path != "-") {
        if let Some(root) = walked.root(path) {
            walked.walk(&root, true, &deployed);
            roots.push(root);
        }
    }
    if let Some(home) = scope.home.filter(|_| !paths.is_empty()) {
        // What is wrong outside of what was named is not asked.
        let mut rest = Walked::default();
        rest.walk(home, false, &deployed);
        for (path, found) in rest.files {
            walked.files.entry(path).or_insert(found);
        }
    }
    roots
}

/// The directories to which paths inside a repository are relative.
fn repositories(roots: &[Root], home: Option<&Root>) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for root in roots.iter().chain(home) {
        let dir = if root.real.is_dir() { Some(root.real.as_path()) } else { root.real.parent() };
        let git = root.real.ancestors().find(|dir| dir.join(".git").exists());
        for dir in git.into_iter().chain(dir) {
            if !found.iter().any(|known| known == dir) {
                found.push(dir.to_owned());
            }
        }
    }
    found
}

/// The context of files that no cluster of the fleet owns.
fn loose_context(fleet: Option<&Loaded>, loose: &Loose, problems: &mut Vec<Problem>) -> Context {
    let mut context = Context { cluster: None, environment: loose.environment.as_deref().map(Into::into) };
    if let (Some(fleet), Some(environment)) = (fleet, &loose.environment) {
        let known = fleet.fleet.environments.iter().map(|known| known.name.as_ref());
        if !known.clone().any(|known| known == environment) {
            let message = format!("the fleet has no environment `{environment}`");
            problems
                .push(Problem::new("unknown-environment", message).help(suggest::help(environment, known)));
        }
    }
    let Some(name) = &loose.cluster else { return context };
    match fleet.map(|fleet| fleet.fleet.clusters.get(name.as_str()).ok_or(fleet)) {
        Some(Ok(cluster)) => {
            if context.environment.as_ref().is_some_and(|environment| *environment != cluster.environment) {
                let message = format!("cluster `{name}` is in environment `{}`", cluster.environment);
                problems.push(Problem::new("unknown-environment", message).help("leave the environment out"));
            }
            context.environment = Some(Arc::clone(&cluster.environment));
            context.cluster = Some(Arc::clone(cluster));
        }
        Some(Err(fleet)) => {
            let known = fleet.fleet.clusters.keys().map(AsRef::as_ref);
            let message = format!("the fleet has no cluster `{name}`");
            problems.push(Problem::new("unknown-cluster", message).help(suggest::help(name, known)));
        }
        None => {
            let facts = [("name", Some(name)), ("environment", loose.environment.as_ref())];
            let facts = facts
                .into_iter()
                .filter_map(|(key, value)| Some((Value::from(key), Value::from(value?.as_str()))));
            context.cluster = Some(Arc::new(Cluster {
                name: name.as_str().into(),
                environment: loose.environment.as_deref().unwrap_or_default().into(),
                provider: None,
                region: None,
                labels: BTreeMap::new(),
                pools: None,
                injects: Injects::default(),
                facts: Value::from(facts.collect::<BTreeMap<_, _>>()),
            }));
        }
    }
    context
}

/// What the fleet file says about paths.
#[derive(Clone, Copy)]
struct Scope<'a> {
    fleet: Option<&'a Loaded>,
    home: Option<&'a Root>,
    today: Date,
}

impl<'a> Scope<'a> {
    /// The path as the fleet file writes it.
    fn relative<'p>(&self, path: &'p Utf8Path) -> Option<&'p Utf8Path> {
        path.strip_prefix(&self.home?.real).ok()
    }

    /// The rendered trees that hold a file.
    fn trees(&self, path: &Utf8Path) -> impl Iterator<Item = &'a Tree> {
        let relative = self.relative(path).zip(self.fleet);
        relative.into_iter().flat_map(|(path, fleet)| fleet.rendered.holding(path))
    }

    /// The entry that excludes a file today.
    fn exclusion(&self, path: &Utf8Path) -> Option<&'a Exclusion> {
        let path = self.relative(path)?;
        self.exclusions().find(|exclusion| exclusion.expires >= self.today && covers(exclusion, path))
    }

    fn exclusions(&self) -> impl Iterator<Item = &'a Exclusion> + use<'a> {
        self.fleet.into_iter().flat_map(|fleet| &fleet.fleet.exclusions)
    }

    /// Whether a file is a part of the fleet file, or data of its policies.
    fn own(&self, path: &Utf8Path) -> Option<&'static str> {
        let (fleet, home) = (self.fleet?, self.home?);
        let absolute =
            |path: &Utf8Path| normal(&home.real.join(path.strip_prefix(&fleet.root).unwrap_or(path)));
        if fleet.parts.iter().any(|part| absolute(&part.file) == path) {
            return Some("a part of the fleet file");
        }
        let mut policies = fleet.policies.iter().flat_map(|set| set.paths.iter().chain(&set.data));
        // A set that names the whole tree does not make everything in it data.
        policies
            .any(|dir| {
                let dir = absolute(dir);
                dir != home.real && path.starts_with(dir)
            })
            .then_some("data of policies")
    }
}

/// An exclusion covers the paths that match, and what lies in directories that match.
fn covers(exclusion: &Exclusion, path: &Utf8Path) -> bool {
    path.ancestors().take_while(|path| !path.as_str().is_empty()).any(|path| exclusion.path.is_match(path))
}

struct Sorter<'a> {
    scope: Scope<'a>,
    files: &'a BTreeMap<Utf8PathBuf, Found>,
    graph: Graph,
    excluded: BTreeMap<&'a Utf8Path, &'a Exclusion>,
    /// Files that read like manifests.
    manifests: BTreeSet<&'a Utf8Path>,
    /// What files are that hold a document of our own.
    own: BTreeMap<&'a Utf8Path, &'static str>,
    /// Files about which there is a problem already.
    broken: BTreeSet<Utf8PathBuf>,
    /// The context of files that no cluster owns.
    context: Arc<Context>,
    /// The context of each cluster, by name.
    contexts: BTreeMap<Arc<str>, Arc<Context>>,
    known: Known,
}

impl Sorter<'_> {
    fn shown(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.files.get(path).map_or_else(|| path.to_owned(), |found| found.shown.clone())
    }

    fn judged(&self) -> impl Iterator<Item = (&Utf8PathBuf, &Found)> {
        self.files.iter().filter(|(_, found)| found.judged)
    }

    /// Finds what cannot be right: kustomizations that a tool refuses, rendered trees that something
    /// renders once more.
    fn refuse(&mut self, out: &mut Discovery) {
        let mut refused: BTreeMap<Utf8PathBuf, Problem> = BTreeMap::new();
        let judged =
            self.judged().map(|(path, _)| path).filter(|path| !self.excluded.contains_key(path.as_path()));
        for (path, other) in scan::rivals(judged) {
            let message =
                format!("`{}` stands beside `{}`", self.shown(path), other.file_name().unwrap_or_default());
            let problem =
                Problem::new("two-kustomizations", message).help("keep one of them: kustomize refuses both");
            refused.insert(path.to_owned(), problem);
        }
        for node in self.graph.cycles().filter(|node| is_judged(self.files, &node.file)) {
            let message = format!("`{}` takes in itself", self.shown(&node.file));
            let problem = Problem::new("cycle", message).help("remove the resource that leads back to it");
            refused.entry(node.file.clone()).or_insert(problem);
        }
        for (path, _) in self.judged().filter(|(path, _)| !self.excluded.contains_key(path.as_path())) {
            let Some(tree) = self.scope.trees(path).next() else { continue };
            let Some(owner) = self.graph.owner(path) else { continue };
            let Some(reason) = self.graph.difference(owner) else { continue };
            let message = format!(
                "what cluster `{}` runs differs from its rendered manifests: in `{}`, {reason}",
                tree.cluster.name,
                self.shown(&owner.file),
            );
            let help = "let `rendered` name what the cluster applies as it is, after all rendering";
            let problem = Problem::new("rendered-again", message).help(help);
            refused.entry(owner.file.clone()).or_insert(problem);
        }
        for (path, mut problem) in refused {
            problem.file = Some(Arc::new(self.shown(&path)));
            if is_tool_file(&path) {
                self.broken.insert(path);
            }
            out.problems.push(problem);
        }
    }

    /// Whether a file lies beside a kustomization, which then decides what of the directory is
    /// applied: Argo CD, Flux and `kubectl apply -k` build it and apply no other file. One that was
    /// not read may name any file.
    fn is_left_out(&self, path: &Utf8Path) -> bool {
        let beside = kustomize::NAMES.iter().map(|name| path.with_file_name(name));
        let mut beside = beside.filter(|file| self.files.contains_key(file)).peekable();
        let unread =
            |file: &Utf8PathBuf| self.broken.contains(file) || self.excluded.contains_key(file.as_path());
        beside.peek().is_some() && !beside.any(|file| unread(&file))
    }

    /// Sorts every file that is to be judged.
    fn sort(&self, out: &mut Discovery) {
        let mut filled: BTreeSet<&str> = BTreeSet::new();
        let taken: BTreeSet<&Utf8Path> =
            self.graph.nodes.iter().flat_map(|node| &node.manifests).map(AsRef::as_ref).collect();
        for (path, found) in self.judged() {
            let file = || found.shown.clone();
            let trees: Vec<&Tree> = self.scope.trees(path).collect();
            filled.extend(trees.iter().map(|tree| tree.cluster.name.as_ref()));
            if let Some(exclusion) = self.excluded.get(path.as_path()) {
                let (pattern, reason) = (Arc::clone(&exclusion.pattern), Arc::clone(&exclusion.reason));
                out.excluded.push(Excluded { file: file(), pattern, reason });
                out.excluded_deployed.extend(trees.iter().map(|tree| ExcludedDeployed {
                    file: file(),
                    context: of_cluster(&tree.cluster),
                    exclusion: (*exclusion).clone(),
                }));
            } else if self.broken.contains(path) {
                // Its problem says so.
            } else if is_tool_file(path) && !found.named {
                self.seen_through(path, file(), out);
            } else if let Some(what) =
                self.own.get(path.as_path()).filter(|_| !trees.is_empty() && !found.named)
            {
                out.skipped.push(Skipped { file: file(), reason: (*what).to_owned() });
            } else if !trees.is_empty() {
                let contexts =
                    trees.iter().filter_map(|tree| self.contexts.get(&tree.cluster.name)).map(Arc::clone);
                out.files.push(input(found, contexts.collect(), true));
            } else if found.named {
                out.files.push(input(found, vec![Arc::clone(&self.context)], true));
            } else if let Some(what) = self.scope.own(path).or_else(|| self.own.get(path.as_path()).copied())
            {
                out.skipped.push(Skipped { file: file(), reason: what.to_owned() });
            } else if self.graph.owner(path).is_some() {
                self.seen_through(path, file(), out);
            } else if let Some(what) = self.known(path).filter(|_| !taken.contains(path.as_path())) {
                out.skipped.push(Skipped { file: file(), reason: what.to_owned() });
            } else if !taken.contains(path.as_path()) && self.is_left_out(path) {
                let reason = "not named by the kustomization beside it".to_owned();
                out.skipped.push(Skipped { file: file(), reason });
            } else {
                out.files.push(input(found, vec![Arc::clone(&self.context)], false));
            }
        }
        if out.whole_fleet {
            self.remark(&filled, out);
        }
    }

    fn seen_through(&self, path: &Utf8Path, file: Utf8PathBuf, out: &mut Discovery) {
        let (by, how) = match self.graph.owner(path) {
            Some(node) => (self.shown(&node.file), node.kind),
            // A chart inside another chart that is itself not at hand.
            None => (file.clone(), Renderer::Chart),
        };
        out.seen_through.push(SeenThrough { file, by, how });
    }

    fn known(&self, path: &Utf8Path) -> Option<&'static str> {
        let name = self.scope.relative(path).unwrap_or(path);
        self.known.what(name, self.manifests.contains(path))
    }

    /// What a look at the whole fleet shows: clusters without manifests, exclusions without files.
    fn remark(&self, filled: &BTreeSet<&str>, out: &mut Discovery) {
        let Some(fleet) = self.scope.fleet else { return };
        for tree in fleet.rendered.all().iter().filter(|tree| !filled.contains(tree.cluster.name.as_ref())) {
            let message = format!(
                "no manifest of cluster `{}` was found: `{}` matches no file",
                tree.cluster.name,
                tree.patterns.join("`, `")
            );
            let problem = match fleet.parts.get(tree.part) {
                Some(part) => part.problem("no-manifests", &tree.route, message),
                None => Problem::new("no-manifests", message),
            };
            let mut problem =
                problem.help("correct `rendered`, render the cluster's manifests, or remove the cluster");
            problem.cluster = Some(Arc::clone(&tree.cluster.name));
            out.problems.push(problem);
        }
        let named: BTreeSet<&str> =
            fleet.rendered.all().iter().map(|tree| tree.cluster.name.as_ref()).collect();
        for cluster in fleet.fleet.clusters.keys().filter(|name| !named.contains(name.as_ref())) {
            out.notes
                .push(format!("cluster `{cluster}` has no `rendered`: nothing is judged as running on it"));
        }
        for exclusion in self.scope.exclusions() {
            let place = format!("`{}` ({}:{})", exclusion.pattern, exclusion.file, exclusion.line);
            let used = self
                .files
                .keys()
                .filter_map(|path| self.scope.relative(path))
                .any(|path| covers(exclusion, path));
            if exclusion.expires < self.scope.today {
                let expires = exclusion.expires;
                out.notes
                    .push(format!("the exclusion of {place} expired on {expires}: its files are read again"));
            } else if !used {
                out.notes.push(format!("the exclusion of {place} matches no file"));
            }
        }
    }

    /// Lists what is rendered into nothing that is judged.
    fn unrendered(&self, out: &mut Discovery) {
        let at_hand = |node: &Node| {
            is_judged(self.files, &node.file)
                && !self.excluded.contains_key(node.file.as_path())
                && !self.broken.contains(&node.file)
        };
        let rendering: Vec<_> = self.graph.rendering().filter(|(node, ..)| at_hand(node)).collect();
        if rendering.is_empty() {
            return;
        }
        let trees: Vec<&Utf8Path> = self
            .files
            .iter()
            .filter(|(path, _)| {
                self.scope.trees(path).next().is_some() && !self.excluded.contains_key(path.as_path())
            })
            .map(|(_, found)| found.shown.as_path())
            .collect();
        let rendered = Rendered::read(&trees);
        for (node, reason, reach) in rendering {
            if rendered.holds(&reach) {
                continue;
            }
            let taken: BTreeSet<&Utf8PathBuf> = reach
                .iter()
                .flat_map(|node| node.manifests.iter().chain(&node.inputs).chain([&node.file]))
                .collect();
            let files = taken.into_iter().filter(|path| self.graph.owner(path).is_some()).count();
            out.unrendered.push(Unrendered {
                root: self.shown(&node.file),
                kind: node.kind,
                files,
                reason: reason.to_owned(),
            });
        }
    }
}

fn input(found: &Found, contexts: Vec<Arc<Context>>, strict: bool) -> InputFile {
    let (path, content) = (Arc::new(found.shown.clone()), Content::Path(found.shown.clone()));
    InputFile { path, content, contexts, strict }
}

fn is_judged(files: &BTreeMap<Utf8PathBuf, Found>, path: &Utf8Path) -> bool {
    files.get(path).is_some_and(|found| found.judged)
}

fn of_cluster(cluster: &Arc<Cluster>) -> Context {
    Context { cluster: Some(Arc::clone(cluster)), environment: Some(Arc::clone(&cluster.environment)) }
}

impl Discovery {
    /// Sorts everything.
    fn finish(mut self) -> Self {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.seen_through.sort();
        self.unrendered.sort();
        self.unrendered.dedup();
        self.excluded.sort();
        self.skipped.sort();
        self.problems.sort_by(|a, b| (&a.file, a.code, &a.message).cmp(&(&b.file, b.code, &b.message)));
        self.notes.sort();
        self
    }
}
