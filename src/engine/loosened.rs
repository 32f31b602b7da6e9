//! What a change does to the rules under which it is judged. What it loosens does not count until it
//! is merged, and is a finding; what it tightens counts at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jiff::civil::Date;

use super::level::Effect;
use super::{About, budgets};
use crate::model::{Budget, Context, Exclusion, Face, Finding, Fleet, Level, Waiver};
use crate::policy::Rule;

/// Rule of findings about what a change loosens.
const LOOSENED: &str = "fleet/loosened";
/// Rule of findings about what a change tightens.
const TIGHTENED: &str = "fleet/tightened";

/// The fleet under which a change is judged, and what the change does to it.
#[derive(Debug)]
pub struct Judged {
    /// The base's, with what the change tightens.
    pub fleet: Fleet,
    /// Loosening and tightening edits.
    pub findings: Vec<Finding>,
}

/// A finding that the change loosens something. `owner` is who may.
pub fn loosened(entry: (&str, &str), place: (&Arc<Utf8PathBuf>, usize), what: &str, owner: &str) -> Finding {
    let remediation =
        format!("this change is judged without it; it holds from the merge on, which {owner} should approve");
    About {
        rule: LOOSENED,
        level: Level::Warn,
        file: place.0,
        line: place.1,
        entry,
        message: what.to_owned(),
        remediation: &remediation,
    }
    .finding()
}

fn tightened(entry: (&str, &str), place: (&Arc<Utf8PathBuf>, usize), what: &str) -> Finding {
    About {
        rule: TIGHTENED,
        level: Level::Info,
        file: place.0,
        line: place.1,
        entry,
        message: what.to_owned(),
        remediation: "nothing: this change is judged with it",
    }
    .finding()
}

/// Compares the fleet at the base with the one that the change proposes.
pub fn judged(base: &Fleet, head: &Fleet, rules: &[Rule], file: &Arc<Utf8PathBuf>) -> Judged {
    let mut judged = Judged { fleet: base.clone(), findings: Vec::new() };
    judged.budgets(base, head);
    judged.waivers(base, head);
    judged.exclusions(base, head);
    judged.levels(base, head, rules, file);
    judged.required(base, head, file);
    judged
}

impl Judged {
    /// Whether something counts at once, so that it has to be asked of everything.
    pub fn tightens(&self) -> bool {
        self.findings.iter().any(|finding| &*finding.rule == TIGHTENED)
    }

    fn budgets(&mut self, base: &Fleet, head: &Fleet) {
        let by_name = |fleet: &Fleet| -> BTreeMap<String, Budget> {
            fleet.budgets.iter().map(|budget| (budgets::name(budget), budget.clone())).collect()
        };
        let (old, new) = (by_name(base), by_name(head));
        for budget in &mut self.fleet.budgets {
            let name = budgets::name(budget);
            let entry = ("Budget", name.as_str());
            let owner = budget.owner.clone();
            let Some(after) = new.get(&name) else {
                let what = format!("the change removes the budget of {name} (limit {})", budget.limit);
                self.findings.push(loosened(entry, (&budget.file, budget.line), &what, &at(&owner)));
                continue;
            };
            let place = (&after.file, after.line);
            let mut looser = Vec::new();
            let mut tighter = Vec::new();
            let mut side = |is: bool, what: String| if is { looser.push(what) } else { tighter.push(what) };
            if after.limit != budget.limit {
                let what = format!("limit {} → {}", budget.limit, after.limit);
                side(after.limit > budget.limit, what);
                budget.limit = budget.limit.min(after.limit);
            }
            if after.batch_queued != budget.batch_queued {
                let word = |queued| if queued { "queued" } else { "counted" };
                let what = format!("batch {} → {}", word(budget.batch_queued), word(after.batch_queued));
                side(after.batch_queued, what);
                budget.batch_queued &= after.batch_queued;
            }
            if after.rollout_concurrency != budget.rollout_concurrency {
                let what = format!(
                    "rolloutConcurrency {} → {}",
                    budget.rollout_concurrency, after.rollout_concurrency
                );
                side(after.rollout_concurrency < budget.rollout_concurrency, what);
                budget.rollout_concurrency = budget.rollout_concurrency.max(after.rollout_concurrency);
            }
            if after.owner != budget.owner {
                let what = format!("owner {} → {}", at(&budget.owner), at(&after.owner));
                looser.push(what);
            }
            for (edits, loose) in [(looser, true), (tighter, false)] {
                if edits.is_empty() {
                    continue;
                }
                let edits = edits.join(", ");
                self.findings.push(if loose {
                    let what = format!("the change loosens the budget of {name}: {edits}");
                    loosened(entry, place, &what, &at(&owner))
                } else {
                    tightened(entry, place, &format!("the change tightens the budget of {name}: {edits}"))
                });
            }
        }
        for (name, budget) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let what = format!("the change adds a budget of {name} (limit {})", budget.limit);
            self.findings.push(tightened(("Budget", name), (&budget.file, budget.line), &what));
            self.fleet.budgets.push(budget.clone());
        }
    }

    fn waivers(&mut self, base: &Fleet, head: &Fleet) {
        let key = |waiver: &Waiver| (waiver.rule_pattern.clone(), waiver.subject.clone(), pattern(waiver));
        let last = |fleet: &Fleet| {
            let mut last: BTreeMap<_, Date> = BTreeMap::new();
            for waiver in &fleet.waivers {
                let day = last.entry(key(waiver)).or_insert(waiver.expires);
                *day = waiver.expires.max(*day);
            }
            last
        };
        let (old, new) = (last(base), last(head));
        for waiver in &head.waivers {
            let what = match old.get(&key(waiver)) {
                None => "adds",
                Some(before) if waiver.expires > *before => "extends",
                Some(_) => continue,
            };
            let (rule, subject) = (&waiver.rule_pattern, &waiver.subject);
            let what =
                format!("the change {what} the waiver of {rule} for `{subject}` until {}", waiver.expires);
            let entry = format!("{rule} {subject}");
            let place = (&waiver.file, waiver.line);
            self.findings.push(loosened(("Waiver", &entry), place, &what, &at(&waiver.owner)));
        }
        let findings = &mut self.findings;
        self.fleet.waivers.retain_mut(|waiver| {
            let after = new.get(&key(waiver)).copied();
            let (rule, subject) = (&waiver.rule_pattern, &waiver.subject);
            let what = match after {
                Some(after) if after >= waiver.expires => return true,
                Some(after) => format!("the change shortens the waiver of {rule} for `{subject}` to {after}"),
                None => format!("the change removes the waiver of {rule} for `{subject}`"),
            };
            let entry = format!("{rule} {subject}");
            findings.push(tightened(("Waiver", &entry), (&waiver.file, waiver.line), &what));
            waiver.expires = after.unwrap_or(waiver.expires);
            after.is_some()
        });
    }

    fn exclusions(&mut self, base: &Fleet, head: &Fleet) {
        let last = |fleet: &Fleet| -> BTreeMap<Arc<str>, Date> {
            fleet.exclusions.iter().map(|exclusion| (exclusion.pattern.clone(), exclusion.expires)).collect()
        };
        let (old, new) = (last(base), last(head));
        for Exclusion { pattern, owner, expires, file, line, .. } in &head.exclusions {
            let what = match old.get(pattern) {
                None => "excludes",
                Some(before) if expires > before => "goes on excluding",
                Some(_) => continue,
            };
            let what = format!("the change {what} `{pattern}` until {expires}");
            self.findings.push(loosened(("Exclusion", pattern), (file, *line), &what, &at(owner)));
        }
        let findings = &mut self.findings;
        self.fleet.exclusions.retain(|exclusion| {
            let stays = new.get(&exclusion.pattern).is_some_and(|after| *after >= exclusion.expires);
            if !stays {
                let Exclusion { pattern, file, line, .. } = exclusion;
                let what = format!("the change ends the exclusion of `{pattern}`");
                findings.push(tightened(("Exclusion", pattern), (file, *line), &what));
            }
            stays
        });
    }

    /// Levels and modes of the rules, in every cluster and where none is known.
    fn levels(&mut self, base: &Fleet, head: &Fleet, rules: &[Rule], file: &Arc<Utf8PathBuf>) {
        let contexts: Vec<Context> = (base.clusters.values())
            .map(|cluster| Context {
                environment: Some(cluster.environment.clone()),
                cluster: Some(cluster.clone()),
            })
            .chain([Context::default()])
            .collect();
        let (mut looser, mut tighter) = (Vec::new(), Vec::new());
        for rule in rules {
            let weight = |fleet: &Fleet, context: &Context, face| {
                let effect = Effect::of(&rule.id, context, face, Some(fleet));
                (!effect.is_off()).then(|| effect.level(rule.level, Level::Deny))
            };
            let faces = [Face::Ci, Face::Cmp, Face::Admission];
            let pairs = contexts.iter().flat_map(|context| faces.map(|face| (context, face)));
            let pairs: Vec<_> = pairs
                .map(|(context, face)| (weight(base, context, face), weight(head, context, face)))
                .collect();
            if pairs.iter().any(|(old, new)| new < old) {
                looser.push(rule.id.clone());
            } else if pairs.iter().any(|(old, new)| new > old) {
                tighter.push(rule.id.clone());
            }
        }
        for rule in &looser {
            let what = format!("the change lowers the level or the mode of `{rule}`");
            self.findings.push(loosened(("Rule", rule), (file, 1), &what, "the owner of the policies"));
        }
        for rule in &tighter {
            let what = format!("the change raises the level or the mode of `{rule}`");
            self.findings.push(tightened(("Rule", rule), (file, 1), &what));
        }
        if looser.is_empty() && !tighter.is_empty() {
            self.fleet.overrides.clone_from(&head.overrides);
        } else if !tighter.is_empty() {
            // Of overrides that do both, neither half can be taken alone.
            for finding in self.findings.iter_mut().filter(|f| &*f.rule == TIGHTENED && is_rule(f)) {
                finding.remediation =
                    Some("it holds from the merge on: the change lowers other rules".into());
            }
        }
    }

    fn required(&mut self, base: &Fleet, head: &Fleet, file: &Arc<Utf8PathBuf>) {
        for rule in base.required.iter().filter(|rule| !head.required.contains(rule)) {
            let what = format!("the change no longer requires `{rule}`");
            self.findings.push(loosened(("Required", rule), (file, 1), &what, "the owner of the policies"));
        }
    }
}

fn is_rule(finding: &Finding) -> bool {
    finding.identity.object.starts_with("-/Rule/")
}

fn pattern(waiver: &Waiver) -> String {
    waiver.cluster.glob().glob().to_owned()
}

/// `@owner`, whether it was written with the sign or without.
fn at(owner: &str) -> String {
    format!("@{}", owner.trim_start_matches('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(pattern: &str) -> globset::GlobMatcher {
        globset::Glob::new(pattern).unwrap().compile_matcher()
    }

    fn budget(limit: u64) -> Budget {
        Budget {
            team: "ml".into(),
            family: "H100".into(),
            environment: Some("prod".into()),
            clusters: Vec::new(),
            cluster_patterns: Vec::new(),
            capacity_type: None,
            limit,
            owner: "capacity".into(),
            batch_queued: false,
            rollout_concurrency: 1,
            file: Arc::new("fleetgate.yaml".into()),
            line: 7,
        }
    }

    fn waiver(expires: Date) -> Waiver {
        Waiver {
            rule: glob("r"),
            rule_pattern: "r".into(),
            cluster: glob("*"),
            object: glob("s"),
            subject: "s".into(),
            reason: "why".into(),
            owner: "@o".into(),
            expires,
            file: Arc::new("fleetgate.yaml".into()),
            line: 9,
        }
    }

    fn compare(base: &Fleet, head: &Fleet) -> (Fleet, Vec<String>) {
        let Judged { fleet, findings } = judged(base, head, &[], &Arc::new("fleetgate.yaml".into()));
        (fleet, findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect())
    }

    #[test]
    fn a_raised_budget_does_not_count_and_a_lowered_one_does_at_once() {
        let of = |limit| Fleet { budgets: vec![budget(limit)], ..Fleet::default() };
        let (fleet, found) = compare(&of(8), &of(16));
        assert_eq!(fleet.budgets[0].limit, 8);
        assert_eq!(found, ["fleet/loosened: the change loosens the budget of ml H100 prod: limit 8 → 16"]);
        let (fleet, found) = compare(&of(8), &of(4));
        assert_eq!(fleet.budgets[0].limit, 4);
        assert_eq!(found, ["fleet/tightened: the change tightens the budget of ml H100 prod: limit 8 → 4"]);
        let (fleet, found) = compare(&of(8), &Fleet::default());
        assert_eq!(fleet.budgets.len(), 1);
        assert_eq!(found, ["fleet/loosened: the change removes the budget of ml H100 prod (limit 8)"]);
        let (fleet, found) = compare(&Fleet::default(), &of(8));
        assert_eq!(fleet.budgets.len(), 1);
        assert_eq!(found, ["fleet/tightened: the change adds a budget of ml H100 prod (limit 8)"]);
    }

    #[test]
    fn a_waiver_that_is_added_or_extended_does_not_count_and_one_that_goes_is_gone_at_once() {
        let of = |day| Fleet { waivers: vec![waiver(jiff::civil::date(2027, 1, day))], ..Fleet::default() };
        let (fleet, found) = compare(&Fleet::default(), &of(9));
        assert!(fleet.waivers.is_empty());
        assert_eq!(found, ["fleet/loosened: the change adds the waiver of r for `s` until 2027-01-09"]);
        let (fleet, found) = compare(&of(9), &of(10));
        assert_eq!(fleet.waivers[0].expires, jiff::civil::date(2027, 1, 9));
        assert_eq!(found, ["fleet/loosened: the change extends the waiver of r for `s` until 2027-01-10"]);
        let (fleet, found) = compare(&of(9), &of(8));
        assert_eq!(fleet.waivers[0].expires, jiff::civil::date(2027, 1, 8));
        assert_eq!(found, ["fleet/tightened: the change shortens the waiver of r for `s` to 2027-01-08"]);
        let (fleet, found) = compare(&of(9), &Fleet::default());
        assert!(fleet.waivers.is_empty());
        assert_eq!(found, ["fleet/tightened: the change removes the waiver of r for `s`"]);
    }
}
