//! Looks up what a baseline accepts of a finding.

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::{Glob, GlobMatcher};
use jiff::civil::Date;

use super::{Baseline, Entry};
use crate::model::{Finding, Standing, Value};

/// How large a finding says that the violation is: `details.value`, if it is a number.
pub(in crate::engine) fn value_of(finding: &Finding) -> Option<Value> {
    let value = finding.details.as_ref()?.as_object().ok()?.get(&Value::from("value"))?;
    matches!(value, Value::Number(_)).then(|| value.clone())
}

/// The entries of a baseline that have not expired, by identity.
pub(super) struct Lookup<'b> {
    by_identity: BTreeMap<(&'b str, &'b str, &'b str), Vec<usize>>,
    entries: Vec<(&'b Entry, Vec<GlobMatcher>, Option<Value>, bool)>,
    taken: BTreeMap<(usize, Arc<str>), usize>,
    pub(super) expired: usize,
}

impl<'b> Lookup<'b> {
    pub(super) fn of(baseline: &'b Baseline, today: Date) -> Self {
        let mut lookup =
            Self { by_identity: BTreeMap::new(), entries: Vec::new(), taken: BTreeMap::new(), expired: 0 };
        for entry in &baseline.findings {
            if entry.expires.is_some_and(|expires| today > expires) {
                lookup.expired += 1;
                continue;
            }
            let key = (entry.rule.as_str(), entry.object.as_str(), entry.route.as_str());
            lookup.by_identity.entry(key).or_default().push(lookup.entries.len());
            let globs = entry.clusters.iter().filter_map(|glob| Glob::new(glob).ok());
            let value = entry.value.as_ref().and_then(|value| Value::from_json_str(&value.to_string()).ok());
            lookup.entries.push((entry, globs.map(|glob| glob.compile_matcher()).collect(), value, false));
        }
        lookup
    }

    pub(super) fn standing(&mut self, finding: &Finding) -> Standing {
        let id = &finding.identity;
        let key = (&*id.rule, &*id.object, &*id.route);
        for index in self.by_identity.get(&key).cloned().unwrap_or_default() {
            let Some((entry, clusters, value, used)) = self.entries.get_mut(index) else { continue };
            if !clusters.iter().any(|glob| glob.is_match(&*id.cluster)) {
                continue;
            }
            *used = true;
            let larger = match (value_of(finding), value) {
                (Some(now), Some(accepted)) => now > *accepted,
                // A number where none was accepted, or no longer a number: it may be anything.
                (Some(_), None) | (None, Some(_)) => true,
                (None, None) => false,
            };
            if finding.level > entry.level || larger {
                return Standing::Worse;
            }
            let taken = self.taken.entry((index, id.cluster.clone())).or_default();
            if *taken < entry.count {
                *taken += 1;
                return Standing::Accepted;
            }
        }
        Standing::New
    }

    pub(super) fn unused(&self) -> usize {
        self.entries.iter().filter(|(_, _, _, used)| !used).count()
    }
}
