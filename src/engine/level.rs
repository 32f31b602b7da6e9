//! The one place where the level of a finding and the mode of a rule are decided.

use crate::model::{Context, Face, Fleet, Level, Mode, Override};

/// What an organisation's overrides make of a rule somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    /// In the order in which they apply: which level it changes (none: any), and to which.
    changes: Vec<(Option<Level>, Level)>,
    mode: Mode,
}

impl Effect {
    /// The overrides that apply to `rule` in `context`, in their order; the last mode wins.
    pub(super) fn of(rule: &str, context: &Context, face: Face, fleet: Option<&Fleet>) -> Self {
        let mut effect = Self { changes: Vec::new(), mode: Mode::Deny };
        for entry in fleet.map(|fleet| fleet.overrides.as_slice()).unwrap_or_default() {
            if applies(entry, rule, context, face) {
                effect.changes.extend(entry.level.map(|level| (entry.at, level)));
                effect.mode = entry.mode.unwrap_or(effect.mode);
            }
        }
        effect
    }

    /// Whether the rule is not to be evaluated.
    pub(super) fn is_off(&self) -> bool {
        self.mode == Mode::Off
    }

    /// The level of one finding: the rule's, then overrides, then mode. An override for a rule
    /// leaves softer what the rule itself calls softer, such as the elements of `warn` of a rule
    /// that denies; one for a level (`at`) changes whatever has it.
    pub(super) fn level(&self, rule: Level, element: Level) -> Level {
        let mut level = rule.min(element);
        for (at, to) in &self.changes {
            match at {
                None => level = if element < rule { (*to).min(element) } else { *to },
                Some(at) if *at == level => level = *to,
                Some(_) => {}
            }
        }
        match self.mode {
            Mode::Deny => level,
            Mode::Warn => level.min(Level::Warn),
            Mode::Audit | Mode::Off => Level::Info,
        }
    }
}

fn applies(entry: &Override, rule: &str, context: &Context, face: Face) -> bool {
    entry.rule.is_match(rule)
        && (entry.faces.is_empty() || entry.faces.contains(&face))
        && (entry.environments.is_empty()
            || context.environment.as_ref().is_some_and(|name| entry.environments.contains(name)))
        && (entry.clusters.is_empty()
            || context
                .cluster
                .as_ref()
                .is_some_and(|cluster| entry.clusters.iter().any(|glob| glob.is_match(&*cluster.name))))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn entry(pattern: &str, level: Option<Level>, mode: Option<Mode>, environments: &[&str]) -> Override {
        Override {
            rule: globset::Glob::new(pattern).unwrap().compile_matcher(),
            pattern: pattern.into(),
            at: None,
            level,
            mode,
            environments: environments.iter().map(|name| Arc::from(*name)).collect(),
            clusters: Vec::new(),
            faces: Vec::new(),
        }
    }

    fn effect(overrides: Vec<Override>, environment: Option<&str>) -> Effect {
        let fleet = Fleet { overrides, ..Fleet::default() };
        let context = Context { cluster: None, environment: environment.map(Arc::from) };
        Effect::of("gitops/image-digest", &context, Face::Ci, Some(&fleet))
    }

    #[test]
    fn without_overrides_the_rule_decides_and_warn_elements_stay_warnings() {
        let plain = effect(vec![], None);
        assert_eq!(plain.level(Level::Deny, Level::Deny), Level::Deny);
        assert_eq!(plain.level(Level::Deny, Level::Warn), Level::Warn);
        assert_eq!(plain.level(Level::Warn, Level::Deny), Level::Warn);
        assert_eq!(plain.level(Level::Info, Level::Warn), Level::Info);
    }

    #[test]
    fn the_last_override_that_applies_wins() {
        let overrides = vec![
            entry("*/*", Some(Level::Warn), None, &[]),
            entry("gitops/*", Some(Level::Deny), None, &["prod"]),
        ];
        assert_eq!(effect(overrides.clone(), Some("prod")).level(Level::Warn, Level::Deny), Level::Deny);
        assert_eq!(effect(overrides.clone(), Some("dev")).level(Level::Deny, Level::Deny), Level::Warn);
        // An unknown environment is no environment: the override for prod does not apply.
        assert_eq!(effect(overrides, None).level(Level::Deny, Level::Deny), Level::Warn);
    }

    #[test]
    fn an_override_for_a_level_leaves_the_others_alone() {
        let strict = Override { at: Some(Level::Warn), ..entry("*/*", Some(Level::Deny), None, &[]) };
        let strict = effect(vec![strict], None);
        assert_eq!(strict.level(Level::Deny, Level::Warn), Level::Deny);
        assert_eq!(strict.level(Level::Warn, Level::Deny), Level::Deny);
        assert_eq!(strict.level(Level::Info, Level::Deny), Level::Info);
    }

    #[test]
    fn an_override_raises_what_the_rule_does_not_call_softer() {
        let deny = effect(vec![entry("gitops/image-digest", Some(Level::Deny), None, &[])], None);
        // A rule of level warn says so with `warn`: that is its level, not something softer.
        assert_eq!(deny.level(Level::Warn, Level::Warn), Level::Deny);
        assert_eq!(deny.level(Level::Info, Level::Warn), Level::Deny);
        assert_eq!(deny.level(Level::Deny, Level::Warn), Level::Warn);
        let info = effect(vec![entry("gitops/image-digest", Some(Level::Info), None, &[])], None);
        assert_eq!(info.level(Level::Deny, Level::Warn), Level::Info);
    }

    #[test]
    fn modes_cap_the_level() {
        let warn = effect(vec![entry("gitops/*", Some(Level::Deny), Some(Mode::Warn), &[])], None);
        assert_eq!(warn.level(Level::Deny, Level::Deny), Level::Warn);
        let audit = effect(vec![entry("gitops/*", None, Some(Mode::Audit), &[])], None);
        assert_eq!(audit.level(Level::Deny, Level::Deny), Level::Info);
        assert!(effect(vec![entry("gitops/image-digest", None, Some(Mode::Off), &[])], None).is_off());
    }
}
