//! The baseline: findings that were there when a gate was put in front of an old repository. They
//! are accepted until they are mended or get worse.

mod lookup;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use self::lookup::Lookup;
pub(super) use self::lookup::value_of;
use super::Request;
use crate::manifest;
use crate::model::{Finding, Fleet, Level, Problem, Report, Standing, Value};

/// The file beside the fleet file that holds the baseline.
pub const FILE_NAME: &str = "fleetgate.baseline.yaml";

/// One accepted identity: a line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Rule id.
    pub rule: String,
    /// `group/kind/namespace/name`, with `-` for an empty part.
    pub object: String,
    /// Route with names for indexes; absent for the whole object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub route: String,
    /// Globs over cluster names; `-` where no cluster is known.
    pub clusters: Vec<String>,
    /// Level that was accepted.
    pub level: Level,
    /// `details.value` that was accepted, as a decimal number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub value: Option<serde_json::Number>,
    /// How many findings share this identity in one cluster, if more than one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Why it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The last day on which it is accepted, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub expires: Option<Date>,
}

/// One accepted problem: a file that could not be judged then either.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptedProblem {
    /// The file.
    pub file: String,
    /// Code of the problem.
    pub code: String,
    /// How many of them, if more than one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
}

impl Entry {
    /// What the entry accepts, apart from where and how much.
    fn key(&self) -> (&str, &str, &str) {
        (&self.rule, &self.object, &self.route)
    }
}

impl AcceptedProblem {
    fn key(&self) -> (&str, &str) {
        (&self.file, &self.code)
    }
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
const fn is_one(count: &usize) -> bool {
    *count == 1
}

/// The file as written.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "apiVersion")]
    _api_version: ApiVersion,
    #[serde(rename = "kind")]
    _kind: Kind,
    #[serde(default)]
    findings: Vec<Entry>,
    #[serde(default)]
    problems: Vec<AcceptedProblem>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
enum ApiVersion {
    #[serde(rename = "fleetgate.dev/v1alpha1")]
    V1Alpha1,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
enum Kind {
    Baseline,
}

/// All accepted findings and problems, sorted, each identity once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Accepted findings.
    pub findings: Vec<Entry>,
    /// Accepted problems.
    pub problems: Vec<AcceptedProblem>,
}

/// What `create` and `update` write into new entries.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Who answers for them.
    pub owner: Option<String>,
    /// Why they are accepted.
    pub reason: Option<String>,
    /// The last day on which they are accepted.
    pub expires: Option<Date>,
}

/// How a baseline is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Accept what is there now, drop what is mended.
    Update,
    /// Only drop what is mended; accept nothing new.
    Prune,
}

impl Baseline {
    /// Reads one baseline file.
    pub fn parse(text: &str) -> Result<Self, manifest::SyntaxError> {
        let file: File = manifest::typed(text)?;
        let mut baseline = Self { findings: file.findings, problems: file.problems };
        baseline.findings.sort_by(order);
        baseline.problems.sort();
        Ok(baseline)
    }

    /// The JSON schema of the file.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(File)
    }

    /// Adds the entries of another file.
    pub fn extend(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.findings.sort_by(order);
        self.problems.extend(other.problems);
        self.problems.sort();
    }

    /// Whether nothing is accepted.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.problems.is_empty()
    }

    /// The baseline that accepts everything a report still counts. `report` must have been made
    /// without a baseline, so that all its findings are new.
    pub fn of(report: &Report, fleet: Option<&Fleet>, terms: &Terms) -> Self {
        // (rule, object, route) -> cluster -> findings
        let mut found: BTreeMap<(&str, &str, &str), BTreeMap<&str, Vec<&Finding>>> = BTreeMap::new();
        for finding in report.findings.iter().filter(|f| !matches!(f.standing, Standing::Waived { .. })) {
            let id = &finding.identity;
            let clusters = found.entry((&id.rule, &id.object, &id.route)).or_default();
            clusters.entry(&id.cluster).or_default().push(finding);
        }
        let all = fleet.map(|fleet| fleet.clusters.len()).unwrap_or_default();
        let mut baseline = Self::default();
        for ((rule, object, route), clusters) in found {
            let mut alike: BTreeMap<(Level, Option<Value>, usize), Vec<&str>> = BTreeMap::new();
            for (cluster, findings) in clusters {
                let level = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Info);
                let value = findings.iter().filter_map(|finding| value_of(finding)).max();
                alike.entry((level, value, findings.len())).or_default().push(cluster);
            }
            for ((level, value, count), clusters) in alike {
                // A finding that every cluster has belongs to what they share, not to a cluster.
                let everywhere = all > 1 && clusters.len() == all;
                baseline.findings.push(Entry {
                    rule: rule.to_owned(),
                    object: object.to_owned(),
                    route: route.to_owned(),
                    clusters: if everywhere {
                        vec!["*".to_owned()]
                    } else {
                        clusters.into_iter().map(globset::escape).collect()
                    },
                    level,
                    value: value.and_then(|value| serde_json::from_str(&value.to_string()).ok()),
                    count,
                    owner: terms.owner.clone(),
                    reason: terms.reason.clone(),
                    expires: terms.expires,
                });
            }
        }
        let mut problems: BTreeMap<(String, String), usize> = BTreeMap::new();
        for key in report.problems.iter().filter_map(problem_key) {
            *problems.entry(key).or_default() += 1;
        }
        baseline.problems =
            problems.into_iter().map(|((file, code), count)| AcceptedProblem { file, code, count }).collect();
        baseline.findings.sort_by(order);
        baseline
    }

    /// This baseline brought up to what is there now: `now` is [`Baseline::of`] today's report.
    /// Entries that stay keep their owner, reason and expiry.
    #[must_use]
    pub fn changed(&self, now: &Self, change: Change) -> Self {
        let mut changed = Self::default();
        match change {
            Change::Prune => {
                let there: BTreeSet<_> = now.findings.iter().map(Entry::key).collect();
                let unread: BTreeSet<_> = now.problems.iter().map(AcceptedProblem::key).collect();
                let findings = self.findings.iter().filter(|old| there.contains(&old.key()));
                changed.findings = findings.cloned().collect();
                let problems = self.problems.iter().filter(|old| unread.contains(&old.key()));
                changed.problems = problems.cloned().collect();
            }
            Change::Update => {
                // The first of several entries for one identity speaks for them.
                let known: BTreeMap<_, _> = self.findings.iter().rev().map(|old| (old.key(), old)).collect();
                let findings = now.findings.iter().map(|current| match known.get(&current.key()) {
                    Some(old) => Entry {
                        owner: old.owner.clone(),
                        reason: old.reason.clone(),
                        expires: old.expires,
                        ..current.clone()
                    },
                    None => current.clone(),
                });
                changed.findings = findings.collect();
                changed.problems.clone_from(&now.problems);
            }
        }
        changed.findings.sort_by(order);
        changed
    }

    /// Marks findings that are accepted or worse, takes accepted problems out, and says how many
    /// entries no longer occur. Returns the number of accepted problems.
    pub(super) fn apply(
        &self,
        request: &Request<'_>,
        findings: &mut [Finding],
        problems: &mut Vec<Problem>,
        notes: &mut Vec<String>,
    ) -> usize {
        if self.is_empty() {
            return 0;
        }
        let today = request.now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
        let mut lookup = Lookup::of(self, today);
        // The worst first, so that what is accepted does not depend on where it stands.
        findings.sort_by(super::report_order);
        for finding in findings.iter_mut().filter(|finding| finding.standing == Standing::New) {
            finding.standing = lookup.standing(finding);
        }
        let unused = lookup.unused();
        if unused > 0 && request.complete {
            notes.push(format!(
                "baseline entries that no longer occur: {unused}; `fleetgate baseline prune` takes them out"
            ));
        }
        if lookup.expired > 0 {
            notes.push(format!(
                "{} baseline entries have expired and no longer accept anything",
                lookup.expired
            ));
        }
        let mut left: BTreeMap<(String, String), usize> = BTreeMap::new();
        for accepted in &self.problems {
            *left.entry((accepted.file.clone(), accepted.code.clone())).or_default() += accepted.count;
        }
        let before = problems.len();
        problems.retain(|problem| {
            let Some(key) = problem_key(problem) else { return true };
            match left.get_mut(&key) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        before - problems.len()
    }

    /// The file's text: one sorted line an identity, so that it merges and reads as a diff.
    pub fn render(&self) -> String {
        let mut text = String::from(
            "# Findings and problems that were here before and do not block, until they get worse.\n\
             # `fleetgate baseline update` accepts what is there now, `fleetgate baseline prune` drops what is mended.\n\
             apiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\n",
        );
        section(&mut text, "findings", &self.findings);
        section(&mut text, "problems", &self.problems);
        text
    }
}

fn order(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    (&a.rule, &a.object, &a.route, &a.clusters, a.level).cmp(&(
        &b.rule,
        &b.object,
        &b.route,
        &b.clusters,
        b.level,
    ))
}

fn section<T: Serialize>(text: &mut String, name: &str, entries: &[T]) {
    if entries.is_empty() {
        let _ = writeln!(text, "{name}: []");
        return;
    }
    let _ = writeln!(text, "{name}:");
    for entry in entries {
        // JSON is YAML, and its strings are quoted: no value can change its meaning.
        let line = serde_json::to_string(entry).unwrap_or_default();
        let _ = writeln!(text, "- {line}");
    }
}

/// Problems about a file can be accepted; a failing rule, or a cluster of which nothing was found,
/// cannot.
fn problem_key(problem: &Problem) -> Option<(String, String)> {
    let file = problem.file.as_ref().filter(|_| problem.rule.is_none() && problem.cluster.is_none())?;
    Some((file.to_string(), problem.code.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::About;

    /// Text of a file with one entry for a finding of `rule` on cluster `a*`.
    fn baseline(more: &str) -> Baseline {
        Baseline::parse(&format!(
            "apiVersion: fleetgate.dev/v1alpha1\nkind: Baseline\nfindings:\n- {{rule: r, object: -/E/-/n, clusters: [a*], level: warn{more}}}\n"
        ))
        .unwrap()
    }

    fn finding(cluster: &str, level: Level, value: Option<&str>) -> Finding {
        let file = Arc::new("f".into());
        let about = About {
            rule: "r",
            level,
            file: &file,
            line: 1,
            entry: ("E", "n"),
            message: String::new(),
            remediation: "",
        };
        let mut finding = about.finding();
        finding.identity.cluster = cluster.into();
        finding.details =
            value.map(|value| Value::from_json_str(&format!("{{\"value\": {value}}}")).unwrap());
        finding
    }

    #[track_caller]
    fn stands(baseline: &Baseline, finding: &Finding, standing: &Standing) {
        let today = jiff::civil::date(2026, 6, 30);
        assert_eq!(Lookup::of(baseline, today).standing(finding), *standing);
    }

    #[test]
    fn what_is_accepted_is_that_rule_object_route_and_cluster_and_nothing_else() {
        let accepted = baseline("");
        let same = finding("a1", Level::Warn, None);
        stands(&accepted, &same, &Standing::Accepted);
        stands(&accepted, &finding("b1", Level::Warn, None), &Standing::New);
        stands(&accepted, &finding("-", Level::Warn, None), &Standing::New);
        let other = |change: fn(&mut Finding)| {
            let mut finding = same.clone();
            change(&mut finding);
            finding
        };
        stands(&accepted, &other(|f| f.identity.rule = "s".into()), &Standing::New);
        stands(&accepted, &other(|f| f.identity.object = "-/E/-/m".into()), &Standing::New);
        stands(&accepted, &other(|f| f.identity.route = "spec".into()), &Standing::New);
    }

    #[test]
    fn a_higher_level_or_a_larger_value_is_worse() {
        let accepted = baseline(", value: 8");
        for (level, value, standing) in [
            (Level::Warn, Some("8"), Standing::Accepted),
            (Level::Info, Some("7.5"), Standing::Accepted),
            (Level::Deny, Some("8"), Standing::Worse),
            (Level::Warn, Some("8.5"), Standing::Worse),
            (Level::Warn, Some("10"), Standing::Worse),
            // Not known to be no larger.
            (Level::Warn, None, Standing::Worse),
            (Level::Warn, Some("{\"atLeast\": 1, \"unbounded\": true}"), Standing::Worse),
        ] {
            stands(&accepted, &finding("a", level, value), &standing);
        }
        stands(&baseline(""), &finding("a", Level::Warn, Some("1")), &Standing::Worse);
    }

    #[test]
    fn an_entry_holds_on_its_last_day_and_not_after() {
        let same = finding("a", Level::Warn, None);
        stands(&baseline(", expires: 2026-06-30"), &same, &Standing::Accepted);
        stands(&baseline(", expires: 2026-06-29"), &same, &Standing::New);
    }

    #[test]
    fn one_more_of_the_same_is_new_in_each_cluster() {
        let accepted = baseline(", count: 2");
        let mut lookup = Lookup::of(&accepted, jiff::civil::date(2026, 6, 30));
        for cluster in ["a1", "a2"] {
            let same = finding(cluster, Level::Warn, None);
            let standings: Vec<_> = (0..3).map(|_| lookup.standing(&same)).collect();
            assert_eq!(standings, [Standing::Accepted, Standing::Accepted, Standing::New], "{cluster}");
        }
    }

    #[test]
    fn problems_of_rules_clusters_and_configuration_cannot_be_accepted() {
        let problem = Problem::new("no-name", "m").in_file("a.yaml");
        assert!(problem_key(&problem).is_some());
        assert!(problem_key(&Problem { rule: Some("r".into()), ..problem.clone() }).is_none());
        assert!(problem_key(&Problem { cluster: Some("a".into()), ..problem.clone() }).is_none());
        assert!(problem_key(&Problem { file: None, ..problem }).is_none());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let baseline =
            baseline(", value: 2.5, count: 2, owner: \"@o\", reason: \"yes: # no\", expires: 2026-06-30");
        assert_eq!(Baseline::parse(&baseline.render()).unwrap(), baseline);
    }
}
