//! Rules in our own style: a package each, `fleetgate.<pack>.<rule>` with `deny` and `warn`.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Level, Problem};

use super::graph::Graph;
use super::load::{Loaded, Origin};
use super::metadata::{self, Metadata};
use super::set::{Entry, Rule, Target};
use super::syntax::{Shape, Syntax};
use super::{reads, shipped, sources};

/// What a package is by its name.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// A rule with this id.
    Rule(String),
    /// Functions for rules; holds no rule itself.
    Library,
}

/// Names that would be taken for entries and never be evaluated.
fn looks_like_entry(name: &str) -> bool {
    ["deny", "warn", "violation"]
        .iter()
        .any(|entry| name.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
}

fn shipped(module: &Loaded) -> bool {
    module.origin == Origin::Shipped
}

/// Checks the name of a module's package.
pub(super) fn check_package(module: &Loaded) -> Option<Problem> {
    role(module).err().map(|problem| *problem)
}

fn role(module: &Loaded) -> Result<Role, Box<Problem>> {
    let Syntax { file, package, package_span, .. } = &module.syntax;
    let parts: Vec<&str> = package.iter().map(|part| &**part).collect();
    let refuse = |code, message: String, help: &str| {
        Err(Box::new(file.problem(code, message, *package_span).help(help)))
    };
    let snake = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let name = module.syntax.package_name();
    let own = matches!(parts.as_slice(), ["fleetgate", ..]);
    if own && !parts.iter().all(snake) {
        return refuse(
            "package-name",
            format!("package `{name}` is not in snake case"),
            "use small letters, digits and `_` only: the rule's id is made of them",
        );
    }
    let id = |pack: &str, rule: &str| {
        Ok(Role::Rule(format!("{}/{}", pack.replace('_', "-"), rule.replace('_', "-"))))
    };
    match parts.as_slice() {
        ["fleetgate", "lib", ..] if shipped(module) => Ok(Role::Library),
        ["fleetgate", pack, rule] if shipped(module) => id(pack, rule),
        ["fleetgate", "local", "lib", ..] => Ok(Role::Library),
        ["fleetgate", "local", rule] => id("local", rule),
        ["fleetgate", "local", pack, rule] => id(pack, rule),
        ["fleetgate", ..] => refuse(
            "reserved-package",
            format!("package `{name}` is reserved"),
            "packages of your own are `fleetgate.local.<rule>` or `fleetgate.local.<pack>.<rule>`, and \
             `fleetgate.local.lib.<name>` for functions",
        ),
        _ => Ok(Role::Library),
    }
}

/// The rules among some modules; tests are not among them.
pub(super) fn rules(
    modules: &[Loaded],
    graph: &Graph<'_>,
    set: usize,
    problems: &mut Vec<Problem>,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut packages: BTreeMap<String, &Loaded> = BTreeMap::new();
    for module in modules {
        let Ok(role) = role(module) else { continue };
        let name = module.syntax.package_name();
        if let Some(first) =
            packages.get(&name).filter(|first| first.origin != module.origin || role != Role::Library)
        {
            problems.push(twice(&format!("package `{name}`"), &first.syntax.file.path, &module.syntax));
            continue;
        }
        packages.insert(name, module);
        match role {
            Role::Library => problems.extend(library(module)),
            Role::Rule(id) => rules.extend(rule(module, &id, graph, set, problems)),
        }
    }
    rules
}

/// Something that exists twice, at its second place.
pub(super) fn twice(what: &str, first: &Arc<Utf8PathBuf>, second: &Syntax) -> Problem {
    second
        .file
        .problem(
            "defined-twice",
            format!("{what} is defined in `{first}` and in `{}`", second.file.path),
            second.package_span,
        )
        .help("rename one of the packages")
}

/// A library must not look as if it denied something.
fn library(module: &Loaded) -> Vec<Problem> {
    let entries = module.syntax.rules.iter().filter(|rule| {
        rule.shape != Shape::Function && rule.path.first().is_some_and(|name| looks_like_entry(name))
    });
    entries
        .take(1)
        .map(|rule| {
            let package = module.syntax.package_name();
            let name = rule.path.join(".");
            let message = format!("`{name}` in package `{package}` would never be evaluated");
            module.syntax.file.problem("not-a-rule", message, rule.span).help(
                "name the package `fleetgate.local.<pack>.<rule>`; for conftest's conventions, say `style: conftest` \
                 where these files are named",
            )
        })
        .collect()
}

fn rule(
    module: &Loaded,
    id: &str,
    graph: &Graph<'_>,
    set: usize,
    problems: &mut Vec<Problem>,
) -> Option<Rule> {
    let syntax = &module.syntax;
    let entries = entries(module, problems);
    let metadata = match metadata::read(syntax) {
        Ok(metadata) => metadata,
        Err(found) => {
            problems.extend(found);
            return None;
        }
    };
    let page = page(module);
    if shipped(module) {
        problems.extend(incomplete(syntax, id, &metadata, page.is_some()));
    } else if shipped_ids().contains(&id.to_owned()) {
        let message = format!("rule `{id}` comes with the program and cannot be defined again");
        let help = "give the pack or the rule another name; to switch the shipped rule off, set its level in the fleet file";
        problems.push(syntax.file.problem("reserved-rule", message, syntax.package_span).help(help));
    }
    let reading = reads::of(graph, &syntax.package);
    problems.extend(reads::undeclared(&reading, id, &metadata.needs));
    for (module, figure, span) in graph.figures(&syntax.package) {
        let message = format!(
            "`{figure}` is compared or added up, but it is an object where the demand is not known exactly, and \
             Rego orders every object above every number"
        );
        problems.push(
            module.file.problem("raw-demand", message, span).help(
                "use `fits` of the same row, or `fleetgate.fits`, `fleetgate.add` and `fleetgate.over`",
            ),
        );
    }
    if entries.is_empty() {
        return None;
    }
    Some(Rule {
        id: id.into(),
        package: syntax.package_name().into(),
        entries,
        level: metadata.level.unwrap_or(Level::Deny),
        title: metadata.title.unwrap_or_else(|| id.into()),
        description: metadata.description.unwrap_or_default(),
        url: metadata.url,
        page,
        target: metadata.target.unwrap_or(Target::Resource),
        matches: metadata.matches,
        needs: metadata.needs,
        faces: metadata.faces,
        reads: reading.reads,
        reads_inventory: reading.inventory,
        parameters: metadata.parameters,
        set,
        file: Arc::clone(&syntax.file.path),
    })
}

/// `deny` and `warn` of a package; anything that only looks like them is a problem.
fn entries(module: &Loaded, problems: &mut Vec<Problem>) -> Vec<Entry> {
    let syntax = &module.syntax;
    let mut found: BTreeMap<Arc<str>, Level> = BTreeMap::new();
    let mut faulty = false;
    for rule in &syntax.rules {
        let Some(name) = rule.path.first().filter(|name| looks_like_entry(name)) else { continue };
        let level = match &**name {
            "deny" => Some(Level::Deny),
            "warn" => Some(Level::Warn),
            _ => None,
        };
        match level {
            Some(level) if rule.shape == Shape::Set && rule.path.len() == 1 => {
                found.insert(Arc::clone(name), level);
            }
            Some(_) => {
                faulty = true;
                let message = format!("`{name}` is not a partial set, so its findings would be lost");
                let help = format!("write `{name} contains finding if {{ … }}`");
                problems.push(syntax.file.problem("wrong-entry", message, rule.span).help(help));
            }
            None => {
                faulty = true;
                let entry = if name.starts_with("warn") { "warn" } else { "deny" };
                let message =
                    format!("`{name}` would never be evaluated: a rule's findings are in `deny` and `warn`");
                let help =
                    format!("write `{entry} contains finding if {{ … }}`, or give a helper another name");
                problems.push(syntax.file.problem("wrong-entry", message, rule.span).help(help));
            }
        }
    }
    if found.is_empty() && !faulty {
        let message = format!("package `{}` has neither `deny` nor `warn`", syntax.package_name());
        problems.push(
            syntax
                .file
                .problem("no-entry", message, syntax.package_span)
                .help("write `deny contains finding if { … }`; functions for other rules go into `fleetgate.local.lib.<name>`"),
        );
    }
    found.into_iter().map(|(name, level)| Entry { name, level }).collect()
}

/// What a shipped rule lacks.
fn incomplete(syntax: &Syntax, id: &str, metadata: &Metadata, page: bool) -> Option<Problem> {
    let parts = [
        ("title", metadata.title.is_some()),
        ("description", metadata.description.is_some()),
        ("related_resources", metadata.url.is_some()),
        ("custom.level", metadata.level.is_some()),
        ("custom.target", metadata.target.is_some()),
        ("a page beside it", page),
    ];
    let missing: Vec<_> = parts.into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect();
    (!missing.is_empty()).then(|| {
        let message = format!("shipped rule `{id}` lacks {}", missing.join(", "));
        syntax.file.problem("policy-metadata", message, syntax.package_span)
    })
}

/// The text of `<rule>.md` beside a shipped rule.
fn page(module: &Loaded) -> Option<Arc<str>> {
    let path = module.syntax.file.path.with_extension("md");
    if shipped(module) { shipped::text(&path) } else { sources::page(&path) }
}

fn shipped_ids() -> &'static [String] {
    static IDS: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let modules = shipped::modules();
        let paths =
            modules.iter().map(|file| file.path.components().map(|part| part.as_str()).collect::<Vec<_>>());
        paths
            .filter_map(|parts| match parts.as_slice() {
                ["policies", pack, rule, _] if *pack != "lib" => {
                    Some(format!("{}/{}", pack.replace('_', "-"), rule.replace('_', "-")))
                }
                _ => None,
            })
            .collect()
    });
    &IDS
}

/// Entries in a test module are never enforced.
pub(super) fn check_test(module: &Loaded) -> Option<Problem> {
    let rule = module.syntax.rules.iter().find(|rule| {
        rule.shape != Shape::Function && rule.path.first().is_some_and(|name| looks_like_entry(name))
    })?;
    let message = format!("`{}` in a test module is never enforced", rule.path.join("."));
    let help = "move it into a file whose name does not end in `_test.rego`";
    Some(module.syntax.file.problem("entry-in-test", message, rule.span).help(help))
}
