//! Findings and problems about the fleet file itself.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Finding, Fleet, Identity, Level, Place, Problem, Route, Standing, Subject, Waiver};
use crate::policy::PolicySet;

/// A finding about an entry of the fleet file.
#[derive(Debug)]
pub struct About<'a> {
    /// Rule id in the pack `fleet`.
    pub rule: &'a str,
    /// Level.
    pub level: Level,
    /// The file in which the entry stands.
    pub file: &'a Arc<Utf8PathBuf>,
    /// Its line, from 1.
    pub line: usize,
    /// Kind and name of the entry, such as `Waiver` and `gitops/* Pod ml/*`: what the finding is
    /// compared by.
    pub entry: (&'a str, &'a str),
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remediation: &'a str,
}

impl About<'_> {
    /// The finding.
    pub fn finding(&self) -> Finding {
        let rule: Arc<str> = self.rule.into();
        let (kind, name) = self.entry;
        Finding {
            rule: rule.clone(),
            level: self.level,
            subject: Subject { cluster: None, environment: None, object: None },
            message: self.message.as_str().into(),
            at: None,
            route: None,
            details: None,
            remediation: Some(self.remediation.into()),
            place: Some(Place { file: self.file.clone(), document: 0, line: self.line, offset: 0 }),
            text: None,
            item: Route::root(),
            identity: Identity {
                rule,
                cluster: "-".into(),
                object: format!("-/{kind}/-/{name}").into(),
                route: "".into(),
            },
            standing: Standing::New,
        }
    }
}

/// A waiver that nothing needs any more.
pub(super) fn unused_waiver(waiver: &Waiver) -> Finding {
    About {
        rule: "fleet/unused-waiver",
        level: Level::Warn,
        file: &waiver.file,
        line: waiver.line,
        entry: ("Waiver", &format!("{} {}", waiver.rule_pattern, waiver.subject)),
        message: format!("the waiver of {} for `{}` covers nothing", waiver.rule_pattern, waiver.subject),
        remediation: "delete the entry: what it waived is mended or named otherwise",
    }
    .finding()
}

/// Every rule pattern in the fleet file must match a rule: a misspelt id would quietly change
/// nothing.
pub fn check_rule_patterns(fleet: &Fleet, policies: &PolicySet) -> Vec<Problem> {
    let matches = |glob: &globset::GlobMatcher| policies.rules.iter().any(|rule| glob.is_match(&*rule.id));
    let unknown = |pattern: &str, what: &str| {
        let nearest = policies
            .rules
            .iter()
            .map(|rule| (strsim::damerau_levenshtein(pattern, &rule.id), &rule.id))
            .filter(|(distance, _)| *distance <= 4)
            .min();
        let problem =
            Problem::new("unknown-rule", format!("{what} names rule `{pattern}`, which is not loaded"));
        match nearest {
            Some((_, id)) => problem.help(format!("did you mean `{id}`?")),
            None => problem.help("`fleetgate rules` lists the rules that are loaded"),
        }
    };
    let overrides = fleet.overrides.iter().filter(|entry| !matches(&entry.rule) && &*entry.pattern != "*");
    let waivers = fleet.waivers.iter().filter(|waiver| !matches(&waiver.rule));
    let required = fleet.required.iter().filter(|id| !policies.rules.iter().any(|rule| rule.id == **id));
    (overrides.map(|entry| unknown(&entry.pattern, "an override")))
        .chain(waivers.map(|waiver| {
            let span = crate::model::Span { offset: 0, length: 0, line: waiver.line, column: 1 };
            unknown(&waiver.rule_pattern, "a waiver").in_file((*waiver.file).clone()).at(span)
        }))
        .chain(required.map(|id| unknown(id, "`required`")))
        .collect()
}
