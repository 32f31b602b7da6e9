//! What Argo CD's `Application`s and `ApplicationSet`s render.
//!
//! The fields are those of `argoproj/argo-cd pkg/apis/application/v1alpha1/types.go`. Whether a
//! source's repository is the one at hand is decided by whether its path exists here.

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};

use super::discovery::Renderer;
use super::graph::Node;
use super::paths::normal;
use super::peek::{at, items, set_keys, text, texts};
use super::tree::{Files, What};
use crate::model::Value;

/// Whether a text can hold an Application; a cheap look before it is read.
pub(super) fn may_hold(text: &str) -> bool {
    text.contains("argoproj.io/") && text.contains("Application")
}

/// The node of a document, if it is an `Application` or an `ApplicationSet`.
pub(super) fn node(file: &Utf8Path, document: &Value, files: &Files<'_>) -> Option<Node> {
    if !text(document, &["apiVersion"])?.starts_with("argoproj.io/") {
        return None;
    }
    let mut node = Node::new(file.to_owned(), Renderer::Application);
    let spec = match text(document, &["kind"])? {
        "Application" => at(document, &["spec"])?,
        "ApplicationSet" => {
            let mut generators = Vec::new();
            gather(at(document, &["spec"])?, &mut generators, 0);
            let directories = parameters(&generators, files, &mut node);
            let spec = at(document, &["spec", "template", "spec"])?;
            sources(spec, files, &directories, &mut node);
            return Some(node);
        }
        _ => return None,
    };
    sources(spec, files, &[], &mut node);
    Some(node)
}

/// All generators, those inside matrix and merge generators with them. Argo CD allows three levels.
fn gather<'v>(holder: &'v Value, into: &mut Vec<&'v Value>, depth: usize) {
    if depth > 4 {
        return;
    }
    for generator in items(holder, &["generators"]) {
        into.push(generator);
        for nested in ["matrix", "merge"] {
            if let Some(nested) = at(generator, &[nested]) {
                gather(nested, into, depth + 1);
            }
        }
    }
}

/// A path that a source can mean, and what stands there.
type Target = (Utf8PathBuf, What);

/// The directories that Git generators yield; the files that they read are inputs.
fn parameters(generators: &[&Value], files: &Files<'_>, node: &mut Node) -> Vec<Target> {
    let mut directories = Vec::new();
    for generator in generators {
        for item in items(generator, &["git", "files"]) {
            if let Some(glob) = text(item, &["path"]).and_then(|path| glob(path, true)) {
                node.inputs.extend(files.files_matching(&glob));
            }
        }
        for item in items(generator, &["git", "directories"]) {
            if at(item, &["exclude"]) == Some(&Value::Bool(true)) {
                continue;
            }
            if let Some(glob) = text(item, &["path"]).and_then(|path| glob(path, true)) {
                directories.extend(files.matching(&glob).map(|(path, what)| (path.to_owned(), what)));
            }
        }
    }
    directories
}

fn sources(spec: &Value, files: &Files<'_>, directories: &[Target], node: &mut Node) {
    let several: Vec<&Value> = items(spec, &["sources"]).collect();
    let one = at(spec, &["source"]).filter(|_| several.is_empty());
    let dry = at(spec, &["sourceHydrator", "drySource"]);
    for source in several.into_iter().chain(one).chain(dry) {
        self::source(source, files, directories, node);
    }
}

fn source(source: &Value, files: &Files<'_>, directories: &[Target], node: &mut Node) {
    let path = text(source, &["path"]);
    let repository = text(source, &["repoURL"]).unwrap_or_default();
    node.charts.extend(text(source, &["chart"]).map(str::to_owned));
    let paths: Vec<Target> = match path {
        Some(path) if path.contains("{{") => templated(path, files, directories),
        Some(path) => {
            files.in_repository(path).map(|path| (path.clone(), files.what(&path))).into_iter().collect()
        }
        None => Vec::new(),
    };
    values(source, &paths, files, node);
    if paths.is_empty() {
        // A source with only a `ref` lends its files to another one.
        if path.is_some() || text(source, &["chart"]).is_some() {
            node.add(format!("its source is elsewhere (`{repository}`)"));
        }
        return;
    }
    if at(source, &["plugin"]).is_some() {
        node.alter("a plugin renders its source");
    }
    let kustomize = at(source, &["kustomize"]).into_iter().flat_map(set_keys);
    if let Some(key) = kustomize.into_iter().find(|key| *key != "version") {
        node.alter(format!("its `kustomize.{key}` changes its source"));
        node.renames |= matches!(key, "namePrefix" | "nameSuffix");
    }
    for (path, what) in paths {
        match what {
            What::File => node.manifests.push(path),
            What::Rendered => node.nodes.push(path),
            // Every manifest of the directory is applied as it is; below it, only if that is wanted.
            What::Plain | What::Bare => {
                let recurse = at(source, &["directory", "recurse"]) == Some(&Value::Bool(true));
                let below = files.under(&path).filter(|_| recurse);
                node.manifests.extend(below.map(Utf8Path::to_owned));
                node.manifests.extend(files.inside(&path).iter().map(|file| (*file).to_owned()));
            }
        }
    }
}

/// Values files, in the three ways of naming them.
fn values(source: &Value, paths: &[Target], files: &Files<'_>, node: &mut Node) {
    for entry in texts(source, &["helm", "valueFiles"]) {
        let from_root = entry
            .strip_prefix('/')
            .or_else(|| entry.strip_prefix('$')?.split_once('/').map(|(_, path)| path));
        if entry.contains("{{") {
            // Relative to the source's path, which may have variables itself.
            let base = Utf8Path::new(text(source, &["path"]).unwrap_or_default());
            let path = from_root.map_or_else(|| normal(&base.join(entry)), Utf8PathBuf::from);
            if let Some(glob) = glob(path.as_str(), false) {
                node.inputs.extend(files.files_matching(&glob));
            }
        } else if let Some(relative) = from_root {
            node.inputs.extend(files.in_repository(relative));
        } else if !entry.contains("://") {
            node.inputs.extend(
                paths.iter().map(|(path, _)| normal(&path.join(entry))).filter(|path| path.is_file()),
            );
        }
    }
}

/// The directories that a path with variables can mean: those of the generators if the path is
/// nothing but a variable, else what matches with each variable standing for anything.
fn templated(path: &str, files: &Files<'_>, directories: &[Target]) -> Vec<Target> {
    let bare = path.trim();
    let single = bare.starts_with("{{") && bare.ends_with("}}") && bare.matches("{{").count() == 1;
    if single {
        return directories.to_vec();
    }
    let Some(glob) = glob(path, false) else { return Vec::new() };
    // What only leads to other directories merely matches.
    let found = files.matching(&glob).filter(|(_, what)| matches!(what, What::Rendered | What::Plain));
    found.map(|(path, what)| (path.to_owned(), what)).collect()
}

/// A glob over paths from the root of a repository, with variables as wildcards.
fn glob(path: &str, literal_separator: bool) -> Option<GlobMatcher> {
    let mut pattern = String::new();
    let mut rest = path.trim_start_matches("./").trim_start_matches('/');
    while let Some((before, after)) = rest.split_once("{{") {
        pattern.push_str(before);
        pattern.push('*');
        rest = after.split_once("}}").map_or("", |(_, rest)| rest);
    }
    pattern.push_str(rest);
    GlobBuilder::new(&pattern)
        .literal_separator(literal_separator)
        .build()
        .ok()
        .map(|glob| glob.compile_matcher())
}
