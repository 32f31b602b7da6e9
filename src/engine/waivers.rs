//! Waivers: violations that somebody answers for, until a date.

use jiff::civil::Date;

use super::{Request, config};
use crate::model::{Face, Finding, Level, Standing, Waiver};

/// How long an expired waiver still turns a denial into a warning where a denial would freeze a
/// running application (Argo CD plugin and admission). CI denies at once.
const GRACE_DAYS: i64 = 14;

/// Marks what is waived. Expired waivers are said so; waivers that nothing used are findings when
/// the whole fleet was read.
pub(super) fn apply(request: &Request<'_>, findings: &mut Vec<Finding>, notes: &mut Vec<String>) {
    let Some(fleet) = request.fleet else { return };
    let today = request.now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
    let mut used = vec![false; fleet.waivers.len()];
    for finding in findings.iter_mut() {
        for (index, waiver) in fleet.waivers.iter().enumerate() {
            if !covers(waiver, finding) {
                continue;
            }
            if let Some(used) = used.get_mut(index) {
                *used = true;
            }
            match standing(waiver, today, request.face) {
                Term::Holds => {
                    finding.standing =
                        Standing::Waived { reason: waiver.reason.clone(), owner: waiver.owner.clone() };
                    break;
                }
                Term::Grace => finding.level = finding.level.min(Level::Warn),
                Term::Expired => {}
            }
        }
    }
    for (waiver, used) in fleet.waivers.iter().zip(used) {
        if used && standing(waiver, today, request.face) != Term::Holds {
            notes.push(format!(
                "the waiver of {} for `{}` expired on {} and no longer holds ({}:{}, owner {})",
                waiver.rule_pattern, waiver.subject, waiver.expires, waiver.file, waiver.line, waiver.owner
            ));
        } else if !used && request.complete {
            findings.push(config::unused_waiver(waiver));
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Term {
    Holds,
    Grace,
    Expired,
}

fn standing(waiver: &Waiver, today: Date, face: Face) -> Term {
    if today <= waiver.expires {
        return Term::Holds;
    }
    let days = (today - waiver.expires).get_days();
    if face != Face::Ci && i64::from(days) <= GRACE_DAYS { Term::Grace } else { Term::Expired }
}

/// A waiver covers a finding if its rule, its cluster and its subject do. A finding without a
/// cluster is covered only by a waiver for any cluster.
fn covers(waiver: &Waiver, finding: &Finding) -> bool {
    let Some(object) = &finding.subject.object else { return false };
    waiver.rule.is_match(&*finding.rule)
        && waiver.cluster.is_match(finding.subject.cluster.as_deref().unwrap_or_default())
        && waiver.object.is_match(object.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ObjectId;

    fn glob(pattern: &str) -> globset::GlobMatcher {
        globset::Glob::new(pattern).unwrap().compile_matcher()
    }

    fn waiver(cluster: &str, object: &str) -> Waiver {
        Waiver {
            rule: glob("p/r"),
            rule_pattern: "p/r".into(),
            cluster: glob(cluster),
            object: glob(object),
            subject: object.into(),
            reason: "r".into(),
            owner: "o".into(),
            expires: jiff::civil::date(2026, 6, 30),
            file: std::sync::Arc::new("f".into()),
            line: 1,
        }
    }

    fn finding(rule: &str, cluster: Option<&str>) -> Finding {
        let mut finding = config::unused_waiver(&waiver("*", "*"));
        finding.rule = rule.into();
        finding.subject.cluster = cluster.map(Into::into);
        finding.subject.object = Some(ObjectId {
            group: "".into(),
            version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("ml".into()),
            name: "p".into(),
            generated: false,
        });
        finding
    }

    #[test]
    fn a_waiver_holds_on_its_last_day_and_only_faces_of_clusters_give_grace() {
        let waiver = waiver("*", "*");
        let at = |month, day, face| standing(&waiver, jiff::civil::date(2026, month, day), face);
        assert_eq!(at(6, 30, Face::Ci), Term::Holds);
        assert_eq!(at(7, 1, Face::Ci), Term::Expired);
        assert_eq!(at(7, 14, Face::Cmp), Term::Grace);
        assert_eq!(at(7, 14, Face::Admission), Term::Grace);
        assert_eq!(at(7, 15, Face::Cmp), Term::Expired);
    }

    #[test]
    fn a_waiver_covers_its_rule_on_its_clusters_for_its_subject() {
        let pod = finding("p/r", Some("prod-a"));
        assert!(covers(&waiver("prod-*", "Pod ml/*"), &pod));
        assert!(!covers(&waiver("dev-*", "Pod ml/*"), &pod));
        assert!(!covers(&waiver("prod-*", "Pod web/*"), &pod));
        assert!(!covers(&waiver("prod-*", "Pod"), &pod));
        assert!(!covers(&waiver("prod-*", "Pod ml/*"), &finding("p/s", Some("prod-a"))));
        // Where no cluster is known, only a waiver for all clusters is one for it.
        assert!(covers(&waiver("*", "Pod ml/*"), &finding("p/r", None)));
        assert!(!covers(&waiver("prod-*", "Pod ml/*"), &finding("p/r", None)));
        // What is said about the configuration has no object that a waiver could name.
        assert!(!covers(&waiver("*", "*"), &config::unused_waiver(&waiver("*", "*"))));
    }
}
