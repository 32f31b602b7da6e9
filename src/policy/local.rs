//! Evaluation in this process: an interpreter for each set of policies.

use std::collections::BTreeMap;

use super::decode;
use super::evaluate::Limits;
use super::outcome::Outcome;
use super::rego::{Failure, Interpreter};
use super::set::{PolicySet, Rule, Style};
use crate::model::{Problem, Value};

/// Engines for groups of rules; a group may have rules of several sets.
#[derive(Debug)]
pub(super) struct Local {
    rules: Vec<(Rule, Style)>,
    /// By set; none where no group has a rule of the set.
    interpreters: Vec<Option<Interpreter>>,
    groups: Vec<Group>,
    limits: Limits,
}

#[derive(Debug)]
struct Group {
    rules: Vec<usize>,
    /// Its rules by set: the set, and the position of the group in that set's generated module.
    parts: Vec<(usize, usize)>,
}

impl Local {
    pub(super) fn new(
        policies: &PolicySet,
        groups: &[Vec<usize>],
        limits: &Limits,
        check: bool,
    ) -> Result<Self, Vec<Problem>> {
        let mut entries: Vec<Vec<Vec<usize>>> = vec![Vec::new(); policies.sets.len()];
        let mut own_groups = Vec::with_capacity(groups.len());
        for group in groups {
            let mut parts = Vec::new();
            for (set, set_entries) in entries.iter_mut().enumerate() {
                let of_set = |rule: &usize| policies.rules.get(*rule).is_some_and(|rule| rule.set == set);
                let rules: Vec<usize> = group.iter().copied().filter(of_set).collect();
                if !rules.is_empty() {
                    parts.push((set, set_entries.len()));
                    set_entries.push(rules);
                }
            }
            own_groups.push(Group { rules: group.clone(), parts });
        }
        let mut problems = Vec::new();
        let mut interpreters = Vec::with_capacity(policies.sets.len());
        for (set, set_entries) in policies.sets.iter().zip(&entries) {
            if set_entries.is_empty() {
                interpreters.push(None);
                continue;
            }
            match Interpreter::new(set, &policies.rules, set_entries, limits, check) {
                Ok(interpreter) => interpreters.push(Some(interpreter)),
                Err(failure) => problems.push(failure.problem(&policies.sets)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let style = |rule: &Rule| policies.sets.get(rule.set).map_or(Style::Native, |set| set.style);
        let rules = policies.rules.iter().map(|rule| (rule.clone(), style(rule))).collect();
        Ok(Self { rules, interpreters, groups: own_groups, limits: limits.clone() })
    }

    /// Outcomes of all rules of a group; none if the group failed as a whole.
    pub(super) fn group(&mut self, group: usize, input: &Value) -> Option<Vec<Outcome>> {
        let Self { rules, interpreters, groups, .. } = self;
        let group = groups.get(group)?;
        let mut values = BTreeMap::new();
        for &(set, entry) in &group.parts {
            let interpreter = interpreters.get_mut(set)?.as_mut()?;
            values.extend(interpreter.group(entry, input).ok()?);
        }
        let outcome = |&index: &usize| {
            let (rule, style) = rules.get(index)?;
            Some(Outcome { rule: index, result: decode::hits(rule, *style, values.get(&index)?) })
        };
        group.rules.iter().map(outcome).collect()
    }

    /// The outcome of one rule of a group.
    pub(super) fn rule(&mut self, group: usize, index: usize, input: &Value) -> Outcome {
        let Self { rules, interpreters, groups, limits } = self;
        let Some((rule, style)) = rules.get(index) else { return Outcome::failed(index, "no such rule") };
        let parts = groups.get(group).map(|group| group.parts.as_slice()).unwrap_or_default();
        let entry = parts.iter().find(|(set, _)| *set == rule.set).map(|(_, entry)| *entry);
        let value = match (interpreters.get_mut(rule.set), entry) {
            (Some(Some(interpreter)), Some(entry)) => interpreter.rule(entry, index, input),
            _ => Err(Failure::undefined("not prepared".to_owned())),
        };
        let result = value
            .map_err(|failure| failure.evaluation_error(rule, limits))
            .and_then(|value| decode::hits(rule, *style, &value));
        Outcome { rule: index, result }
    }
}
