//! Rules in conftest's style: `deny`, `violation` and `warn`, with or without a suffix, in packages
//! that are named by the user.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use camino::Utf8PathBuf;
use regex::Regex;

use crate::model::{Level, Problem};

use super::load::Loaded;
use super::set::{Entry, Match, Reads, Rule, Target};
use super::syntax::Shape;
use super::text;

#[expect(clippy::unwrap_used, reason = "the expression is constant and tests match with it")]
static ENTRY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("^(deny|violation|warn)(_[a-zA-Z0-9]+)*$").unwrap());

/// The rules of some namespaces. `unmatched` is what to say of one that has none.
pub(super) fn rules(
    modules: &[Loaded],
    namespaces: &[Arc<str>],
    unmatched: impl Fn(&str) -> Option<Problem>,
    set: usize,
    problems: &mut Vec<Problem>,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    for namespace in namespaces {
        let mut matched = false;
        let mut entries: BTreeMap<Arc<str>, &Loaded> = BTreeMap::new();
        for module in modules.iter().filter(|module| module.syntax.package_name() == **namespace) {
            for rule in &module.syntax.rules {
                let Some(name) = rule.path.first() else { continue };
                if &**name == "exception" {
                    let message = "`exception` rules of conftest are not supported";
                    let help = "use a waiver in the fleet file: it has a reason, an owner and an end";
                    problems.push(
                        module.syntax.file.problem("conftest-exception", message, rule.span).help(help),
                    );
                }
                if !ENTRY.is_match(name) {
                    continue;
                }
                matched = true;
                if rule.path.len() == 1 && matches!(rule.shape, Shape::Set | Shape::SetValue) {
                    entries.entry(Arc::clone(name)).or_insert(module);
                } else {
                    let message = format!("`{name}` is not a set of messages, so its findings would be lost");
                    let help = format!("write `{name} contains msg if {{ … }}`");
                    problems.push(module.syntax.file.problem("wrong-entry", message, rule.span).help(help));
                }
            }
        }
        if !matched {
            problems.extend(unmatched(namespace));
        }
        rules.extend(entries.into_iter().map(|(name, module)| rule(namespace, &name, module, set)));
    }
    rules
}

/// That a namespace has no rules.
pub(super) fn unmatched(modules: &[Loaded], namespace: &str, place: Option<&Utf8PathBuf>) -> Problem {
    let packages: BTreeSet<String> = modules.iter().map(|module| module.syntax.package_name()).collect();
    let names = text::list(packages.iter().map(String::as_str));
    let mut problem = Problem::new("no-rule", format!("no rules matched namespace `{namespace}`"));
    problem.file = place.cloned().map(Arc::new);
    if packages.is_empty() {
        return problem;
    }
    problem.help(format!("packages found: {names}; name one that has `deny`, `violation` or `warn`"))
}

fn rule(namespace: &str, name: &Arc<str>, module: &Loaded, set: usize) -> Rule {
    let level = if name.starts_with("warn") { Level::Warn } else { Level::Deny };
    let id: Arc<str> = format!("{namespace}/{name}").into();
    Rule {
        id: Arc::clone(&id),
        package: namespace.into(),
        entries: vec![Entry { name: Arc::clone(name), level }],
        level,
        title: id,
        description: "".into(),
        url: None,
        page: None,
        target: Target::Resource,
        matches: Match::default(),
        needs: BTreeSet::new(),
        faces: Vec::new(),
        // `input` is the object.
        reads: Reads::Only(BTreeSet::new()),
        reads_inventory: false,
        parameters: Vec::new(),
        set,
        file: Arc::clone(&module.syntax.file.path),
    }
}
