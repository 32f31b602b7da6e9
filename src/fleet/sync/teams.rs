//! Teams: the namespaces that carry their label, the queues in those, and who owns their files.

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::is_name;
use super::input::{Input, Log, Place, Source, objects};
use super::nodes::labels;
use super::options::Options;
use crate::fleet::file::Team;

/// Teams by name, and the team of each namespace.
#[derive(Debug, Default)]
pub(super) struct Teams {
    pub(super) teams: BTreeMap<String, Team>,
    owners: BTreeMap<String, String>,
}

/// Reads the namespaces of all clusters. A namespace belongs to one team wherever it is.
pub(super) fn read(inputs: &[Input], options: &Options, log: &mut Log) -> Teams {
    let mut teams = Teams::default();
    let mut unlabelled = BTreeSet::new();
    let label = &options.team_label;
    for input in inputs.iter().filter(|input| input.source == Source::Namespaces) {
        for item in objects(input, &[("", "Namespace")], log) {
            let namespace = item.name().unwrap_or_default().to_owned();
            let Some(team) = labels(&item).remove(label).filter(|team| !team.is_empty()) else {
                unlabelled.insert(namespace);
                continue;
            };
            let place = item.at.key("metadata").key("labels").key(label);
            if !is_name(&team) {
                let message = format!("namespace `{namespace}`: `{team}` is no name for a team");
                log.problem(input, &place, "name", message, "use letters, digits, `-`, `_` and `.`");
                continue;
            }
            match teams.owners.insert(namespace.clone(), team.clone()) {
                Some(other) if other != team => {
                    let message =
                        format!("namespace `{namespace}` belongs to the teams `{other}` and `{team}`");
                    log.problem(
                        input,
                        &place,
                        "two-teams",
                        message,
                        format!("give it the same label `{label}` in all clusters"),
                    );
                }
                Some(_) => {}
                None => teams.teams.entry(team).or_default().namespaces.push(namespace),
            }
        }
    }
    for team in teams.teams.values_mut() {
        team.namespaces.sort();
    }
    if !unlabelled.is_empty() {
        let names: Vec<_> = unlabelled.iter().map(|name| format!("`{name}`")).collect();
        log.remark(format!(
            "namespaces without the label `{label}`, which belong to no team: {}",
            names.join(", ")
        ));
    }
    teams
}

impl Teams {
    /// Gives each team the queues in its namespaces.
    pub(super) fn queues(&mut self, queues: &BTreeSet<(String, String)>, log: &mut Log) {
        let mut nobodys = BTreeSet::new();
        for (namespace, queue) in queues {
            let team = self.owners.get(namespace).and_then(|team| self.teams.get_mut(team));
            match team {
                Some(team) if !team.queues.contains(queue) => team.queues.push(queue.clone()),
                Some(_) => {}
                None => _ = nobodys.insert(format!("`{namespace}/{queue}`")),
            }
        }
        for team in self.teams.values_mut() {
            team.queues.sort();
        }
        if !nobodys.is_empty() {
            let names: Vec<_> = nobodys.into_iter().collect();
            log.remark(format!("queues in namespaces of no team: {}", names.join(", ")));
        }
    }

    /// Adds the members whom a source lists for a team.
    pub(super) fn members(&mut self, input: &Input, name: &str, logins: &[String], log: &mut Log) {
        let Some(team) = self.teams.get_mut(name) else {
            let message = format!("team `{name}` has no namespace");
            let help = format!(
                "name its members after `{}` only where `--namespaces` has the team",
                input.source.option()
            );
            log.problem(input, &Place::default(), "unknown-team", message, help);
            return;
        };
        team.members.extend(logins.iter().cloned());
        team.members.sort();
        team.members.dedup();
    }

    /// Reads a `CODEOWNERS` file: who owns a directory that is named like a team or one of its
    /// namespaces answers for the team. A group is where to reach it, a person a member.
    pub(super) fn code_owners(&mut self, input: &Input, log: &mut Log) {
        let mut others = 0_usize;
        for line in input.text.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            // GitLab's sections are headings.
            if line.is_empty() || line.starts_with(['#', '[', '^']) {
                continue;
            }
            let mut words = line.split_whitespace();
            let Some(pattern) = words.next() else { continue };
            let owners: Vec<&str> = words.collect();
            let mut found = false;
            for (name, team) in &mut self.teams {
                let is_theirs =
                    |step: &str| step == name || team.namespaces.iter().any(|space| space == step);
                if !pattern.split('/').any(is_theirs) {
                    continue;
                }
                found = true;
                for owner in &owners {
                    match owner.strip_prefix('@') {
                        Some(group) if group.contains('/') => {
                            team.contact = team.contact.take().or(Some((*owner).to_owned()));
                        }
                        Some(_) if !team.members.iter().any(|member| member == owner) => {
                            team.members.push((*owner).to_owned());
                        }
                        Some(_) => {}
                        None => log.remark(format!(
                            "CODEOWNERS: `{owner}` owns `{pattern}`, and an address is no login"
                        )),
                    }
                }
                team.members.sort();
            }
            others += usize::from(!found);
        }
        if others > 0 {
            log.remark(format!("CODEOWNERS: lines about directories of no team: {others}"));
        }
    }
}
