//! Policy sets for the tests of this module, put together without loading.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::set::{Entry, Match, Module, PolicySet, Reads, Rule, Set, Style, Target};
use crate::model::{Level, Value};

/// A set of modules, each a rule with the entries `deny` and `warn` that its text mentions.
pub(super) fn policies(style: Style, modules: &[(&str, &str)]) -> PolicySet {
    policies_with_data(style, modules, "{}")
}

/// The same with a data document.
pub(super) fn policies_with_data(style: Style, modules: &[(&str, &str)], data: &str) -> PolicySet {
    let modules: Vec<Module> = modules.iter().map(|(file, text)| module(file, text)).collect();
    let rules = modules.iter().filter_map(rule).collect();
    let set = Set { style, modules, tests: Vec::new(), data: Value::from_json_str(data).unwrap() };
    PolicySet { sets: vec![set], rules, digest: String::new() }
}

pub(super) fn module(file: &str, text: &str) -> Module {
    let package = text.lines().find_map(|line| line.strip_prefix("package ")).unwrap();
    Module { file: Arc::new(file.into()), text: text.into(), package: package.trim().into() }
}

fn rule(module: &Module) -> Option<Rule> {
    let entries: Vec<Entry> = [("deny", Level::Deny), ("violation", Level::Deny), ("warn", Level::Warn)]
        .into_iter()
        .filter(|(name, _)| module.text.lines().any(|line| line.starts_with(name)))
        .map(|(name, level)| Entry { name: name.into(), level })
        .collect();
    (!entries.is_empty()).then(|| Rule {
        id: module.package.replace('.', "/").into(),
        package: Arc::clone(&module.package),
        entries,
        level: Level::Deny,
        title: "".into(),
        description: "".into(),
        url: None,
        page: None,
        target: Target::Resource,
        matches: Match::default(),
        needs: BTreeSet::new(),
        faces: Vec::new(),
        reads: Reads::Anything,
        reads_inventory: false,
        parameters: Vec::new(),
        set: 0,
        file: Arc::clone(&module.file),
    })
}

/// A value from JSON.
pub(super) fn json(text: &str) -> Value {
    Value::from_json_str(text).unwrap()
}
