//! Which parts of `input` and `data` a rule can read, and the needs that it has to declare.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Problem, Span};

use super::graph::Graph;
use super::set::{Need, Reads};
use super::syntax::{Part, Syntax, UseKind};

/// What the rules of a package can read, themselves or through others.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// Parts of `input` besides `object`.
    pub(super) reads: Reads,
    /// Whether `data.inventory` is read.
    pub(super) inventory: bool,
    /// The needs that show in the text, each with the first place and the words there.
    pub(super) needs: BTreeMap<Need, (&'a Syntax, Span, String)>,
}

/// Finds what a package can read. Where that is in doubt the answer is [`Reads::Anything`]: a result
/// is reused for all clusters that agree in what is read, so that a part too few would be a wrong
/// verdict.
pub(super) fn of<'a>(graph: &Graph<'a>, package: &[Arc<str>]) -> Reading<'a> {
    let mut keys = BTreeSet::new();
    let mut anything = false;
    let mut inventory = false;
    let mut needs = BTreeMap::new();
    for (module, rule) in graph.reachable(package) {
        for mention in &rule.uses {
            match mention.path.first() {
                Some(Part::Key(root)) if &**root == "input" => match mention.path.get(1) {
                    Some(Part::Key(key)) if mention.kind != UseKind::With => {
                        keys.insert(match (&**key, mention.path.get(2)) {
                            ("cluster", Some(Part::Key(below))) => format!("cluster.{below}").into(),
                            _ => Arc::clone(key),
                        });
                    }
                    _ => anything = true,
                },
                _ => {}
            }
            inventory |= touches(&mention.path, "inventory");
            if let Some(need) = need(&mention.path) {
                needs.entry(need).or_insert_with(|| (module, mention.span, words(&mention.path)));
            }
        }
    }
    keys.remove("object");
    let reads = if anything { Reads::Anything } else { Reads::Only(keys) };
    Reading { reads, inventory, needs }
}

/// Whether a mention can reach `data.<key>`.
fn touches(path: &[Part], key: &str) -> bool {
    let named = |part: Option<&Part>, name: &str| match part {
        Some(Part::Key(found)) => &**found == name,
        Some(Part::Any) | None => true,
    };
    matches!(path.first(), Some(Part::Key(root)) if &**root == "data") && named(path.get(1), key)
}

fn need(path: &[Part]) -> Option<Need> {
    let key = |at: usize| match path.get(at) {
        Some(Part::Key(key)) => Some(&**key),
        Some(Part::Any) | None => None,
    };
    match (key(0)?, key(1)?, key(2)) {
        ("input", "now", _) => Some(Need::Time),
        ("input", "actor", _) => Some(Need::Actor),
        ("input", "approvals", _) | ("input", "promotion", Some("approvals")) => Some(Need::Approvals),
        ("input", "gates", _) | ("input", "promotion", Some("gates")) => Some(Need::Health),
        ("data", "inventory", _) => Some(Need::Inventory),
        ("data", "fleet", _) => Some(Need::Fleet),
        _ => None,
    }
}

/// The beginning of a mention as people write it.
fn words(path: &[Part]) -> String {
    let length = match path.get(1) {
        Some(Part::Key(key)) if &**key == "promotion" => 3,
        _ => 2,
    };
    let keys = path
        .iter()
        .take(length)
        .map_while(|part| if let Part::Key(key) = part { Some(&**key) } else { None });
    keys.collect::<Vec<_>>().join(".")
}

/// Needs that a package has and does not declare.
pub(super) fn undeclared(reading: &Reading<'_>, rule: &str, declared: &BTreeSet<Need>) -> Vec<Problem> {
    let missing = reading.needs.iter().filter(|(need, _)| !declared.contains(need));
    missing
        .map(|(need, (module, span, words))| {
            let name = need.as_str();
            module
                .file
                .problem(
                    "undeclared-need",
                    format!("rule `{rule}` reads `{words}` but does not declare it"),
                    *span,
                )
                .help(format!("add `needs: [{name}]` under `custom` in the metadata of `{rule}`"))
        })
        .collect()
}
