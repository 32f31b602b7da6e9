//! Soak: how long a release has to have been in the stage before.
//!
//! As Kargo computes it (`akuity/kargo api/v1alpha1`, `Stage.IsFreightAvailable` and
//! `Freight.GetLongestSoak`): nothing counts before the freight is verified in the upstream stage; then
//! it is the longest completed soak, or the time since it came there while it is there, whichever is
//! longer. One thing differs: freight that was approved for a stage by hand skips verification and
//! soak in Kargo, but that approval names no person, so here it skips nothing.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{Answer, Decision, Freight, Soak, StageRecord};

/// What a stage asks of freight before it comes in: `requestedFreight[].sources` of a Kargo `Stage`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Whether it may come straight from its warehouse.
    pub direct: bool,
    /// The upstream stages.
    pub stages: Vec<Arc<str>>,
    /// How long it has to have been there, in seconds, rounded up.
    pub required: i64,
    /// `availabilityStrategy` as stated; empty means `OneOf`.
    pub strategy: Arc<str>,
}

/// The soak in each upstream stage, and the answer. `stage` is the one that the freight goes into.
pub fn soak(freight: &Freight, stage: &str, sources: &Sources, now: Timestamp) -> (Vec<Soak>, Answer) {
    let judged: Vec<Upstream> = sources
        .stages
        .iter()
        .map(|upstream| Upstream::new(freight, upstream, sources.required, now))
        .collect();
    let (decision, not_before, mut reason) = decide(sources, &judged);
    if decision != Decision::Allow && find(&freight.approved_for, stage).is_some() {
        reason.extend([
            "; it was approved for `",
            stage,
            "` by hand, which skips this in Kargo but names no person",
        ]);
    }
    let answer = Answer {
        requirement: "soak".into(),
        cluster: None,
        decision,
        reason: reason.into(),
        not_before,
        who: None,
    };
    (judged.into_iter().map(|upstream| upstream.soak).collect(), answer)
}

fn decide(sources: &Sources, judged: &[Upstream]) -> (Decision, Option<Timestamp>, String) {
    if sources.direct {
        return (Decision::Allow, None, "it may come straight from its warehouse".to_owned());
    }
    if judged.is_empty() {
        return (Decision::Deny, None, "the stage takes freight from no other stage".to_owned());
    }
    let said = |judged: &mut dyn Iterator<Item = &Upstream>| {
        judged.map(|upstream| upstream.reason.as_str()).collect::<Vec<_>>().join("; ")
    };
    match &*sources.strategy {
        "All" => {
            // The order of decisions is that of weight.
            let decision =
                judged.iter().map(|upstream| upstream.decision).max().unwrap_or(Decision::CannotTell);
            let latest = judged.iter().filter_map(|upstream| upstream.soak.not_before).max();
            let not_before = latest.filter(|_| decision == Decision::Wait);
            let blocking = &mut judged.iter().filter(|upstream| upstream.decision != Decision::Allow);
            let reason = match decision {
                Decision::Allow => said(&mut judged.iter()),
                _ => said(blocking),
            };
            (decision, not_before, reason)
        }
        "OneOf" | "" => {
            if let Some(enough) = judged.iter().find(|upstream| upstream.decision == Decision::Allow) {
                return (Decision::Allow, None, enough.reason.clone());
            }
            // Whatever is unknown, at the end of a wait it goes; and what is unknown is no denial.
            let any = |decision| judged.iter().any(|upstream| upstream.decision == decision);
            let decision = [Decision::Wait, Decision::CannotTell].into_iter().find(|it| any(*it));
            let earliest = judged.iter().filter_map(|upstream| upstream.soak.not_before).min();
            (decision.unwrap_or(Decision::Deny), earliest, said(&mut judged.iter()))
        }
        other => {
            let reason = format!("`{other}` is no availability strategy; write `All` or `OneOf`");
            (Decision::CannotTell, None, reason)
        }
    }
}

/// Freight in one upstream stage.
struct Upstream {
    soak: Soak,
    decision: Decision,
    reason: String,
}

impl Upstream {
    fn new(freight: &Freight, stage: &Arc<str>, required: i64, now: Timestamp) -> Self {
        let upstream = |reached, not_before, decision, reason| Self {
            soak: Soak { stage: stage.clone(), required, reached, not_before },
            decision,
            reason,
        };
        let there = find(&freight.currently_in, stage);
        let Some(verified) = find(&freight.verified_in, stage) else {
            let reason = match there {
                Some(_) => format!("in `{stage}`, not verified there"),
                None => format!("not verified in `{stage}`"),
            };
            return upstream(Some(0), None, Decision::Deny, reason);
        };
        let completed = verified.longest_soak.unwrap_or(0).max(0);
        let since = there.and_then(|record| record.at);
        // A clock that is ahead of ours has not begun to count.
        let current = since.map_or(0, |since| now.duration_since(since).as_secs().max(0));
        let reached = completed.max(current);
        let (shown, needed) = (span(reached), span(required));
        if reached >= required {
            let reason = if required > 0 {
                format!("{shown} of {needed} in `{stage}`, verified there")
            } else {
                format!("verified in `{stage}`")
            };
            return upstream(Some(reached), None, Decision::Allow, reason);
        }
        match (there, since) {
            (None, _) => {
                let reason = format!("{shown} of {needed} in `{stage}`, and it is no longer there");
                upstream(Some(reached), None, Decision::Deny, reason)
            }
            (Some(_), None) => {
                let reason = format!("in `{stage}`, since when is not stated");
                upstream(None, None, Decision::CannotTell, reason)
            }
            (Some(_), Some(since)) => {
                if let Ok(until) = since.checked_add(SignedDuration::from_secs(required)) {
                    let reason = format!("{shown} of {needed} in `{stage}`, verified there");
                    upstream(Some(reached), Some(until), Decision::Wait, reason)
                } else {
                    let reason = format!("{needed} in `{stage}` are longer than time goes");
                    upstream(Some(reached), None, Decision::Deny, reason)
                }
            }
        }
    }
}

fn find<'a>(records: &'a [StageRecord], stage: &str) -> Option<&'a StageRecord> {
    records.iter().find(|record| &*record.stage == stage)
}

/// `5h40m`; seconds only below an hour.
fn span(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, rest) => format!("{rest}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, rest) => format!("{minutes}m{rest}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h{minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3600;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn record(stage: &str, at: Option<&str>, longest_soak: Option<i64>) -> StageRecord {
        StageRecord { stage: stage.into(), at: at.map(|text| text.parse().unwrap()), longest_soak }
    }

    /// Records as `stage` verified with its longest soak, and `stage` there since.
    fn freight(verified: &[(&str, Option<i64>)], there: &[(&str, Option<&str>)]) -> Freight {
        Freight {
            name: "f".into(),
            origin: None,
            verified_in: verified.iter().map(|(stage, longest)| record(stage, None, *longest)).collect(),
            approved_for: vec![],
            currently_in: there.iter().map(|(stage, since)| record(stage, *since, None)).collect(),
            soak: vec![],
        }
    }

    fn sources(stages: &str, required: i64, strategy: &str) -> Sources {
        let stages = stages.split_whitespace().map(Arc::from).collect();
        Sources { direct: false, stages, required, strategy: strategy.into() }
    }

    /// At 03:07, as all cases are.
    fn judge(freight: &Freight, sources: &Sources) -> (Vec<Soak>, Answer) {
        soak(freight, "prod", sources, at("2026-12-01T03:07:00Z"))
    }

    #[test]
    fn one_upstream_stage() {
        use Decision::{Allow, CannotTell, Deny, Wait};
        let six = sources("uat", 6 * HOUR, "");
        let cases = [
            // Verified and there since 23:20: 3 h 47 min, done at 05:20.
            (
                freight(&[("uat", None)], &[("uat", Some("2026-11-30T23:20:00Z"))]),
                Wait,
                Some("2026-12-01T05:20:00Z"),
            ),
            // To the second.
            (freight(&[("uat", None)], &[("uat", Some("2026-11-30T21:07:00Z"))]), Allow, None),
            (
                freight(&[("uat", None)], &[("uat", Some("2026-11-30T21:07:00.5Z"))]),
                Wait,
                Some("2026-12-01T03:07:00.5Z"),
            ),
            // There, but not verified: nothing counts.
            (freight(&[], &[("uat", Some("2026-11-01T00:00:00Z"))]), Deny, None),
            (freight(&[], &[]), Deny, None),
            // Left after long enough, or too early.
            (freight(&[("uat", Some(6 * HOUR))], &[]), Allow, None),
            (freight(&[("uat", Some(6 * HOUR - 1))], &[]), Deny, None),
            (freight(&[("uat", None)], &[]), Deny, None),
            // There for the second time: the longer of the two counts.
            (freight(&[("uat", Some(7 * HOUR))], &[("uat", Some("2026-12-01T03:00:00Z"))]), Allow, None),
            (
                freight(&[("uat", Some(HOUR))], &[("uat", Some("2026-12-01T03:00:00Z"))]),
                Wait,
                Some("2026-12-01T09:00:00Z"),
            ),
            // Since when is not stated.
            (freight(&[("uat", Some(HOUR))], &[("uat", None)]), CannotTell, None),
            (freight(&[("uat", Some(6 * HOUR))], &[("uat", None)]), Allow, None),
            // In the future.
            (
                freight(&[("uat", None)], &[("uat", Some("2026-12-01T04:00:00Z"))]),
                Wait,
                Some("2026-12-01T10:00:00Z"),
            ),
            // Elsewhere.
            (freight(&[("dev", Some(9 * HOUR))], &[("dev", Some("2026-11-01T00:00:00Z"))]), Deny, None),
        ];
        for (freight, decision, not_before) in cases {
            let answer = judge(&freight, &six).1;
            assert_eq!((answer.decision, answer.not_before), (decision, not_before.map(at)), "{freight:?}");
        }
    }

    #[test]
    fn all_of_them_or_one() {
        use Decision::{Allow, CannotTell, Deny, Wait};
        // `a` is done, `b` at 05:20, `c` at 06:00, `d` cannot be told, `e` is not verified.
        let freight = freight(
            &[("a", Some(6 * HOUR)), ("b", None), ("c", None), ("d", None)],
            &[("b", Some("2026-11-30T23:20:00Z")), ("c", Some("2026-12-01T00:00:00Z")), ("d", None)],
        );
        let cases = [
            ("a", "All", Allow, None),
            ("a b", "All", Wait, Some("2026-12-01T05:20:00Z")),
            ("a c b", "All", Wait, Some("2026-12-01T06:00:00Z")),
            ("a b e", "All", Deny, None),
            ("a b d e", "All", CannotTell, None),
            ("e b a", "OneOf", Allow, None),
            ("e b a", "", Allow, None),
            ("e c b", "", Wait, Some("2026-12-01T05:20:00Z")),
            ("d b", "", Wait, Some("2026-12-01T05:20:00Z")),
            ("e d", "", CannotTell, None),
            ("e", "OneOf", Deny, None),
            ("", "", Deny, None),
            ("", "All", Deny, None),
            ("a", "Any", CannotTell, None),
        ];
        for (stages, strategy, decision, not_before) in cases {
            let answer = judge(&freight, &sources(stages, 6 * HOUR, strategy)).1;
            assert_eq!(
                (answer.decision, answer.not_before),
                (decision, not_before.map(at)),
                "{stages} {strategy}"
            );
        }
    }

    #[test]
    fn approved_by_hand_skips_nothing() {
        let mut freight = freight(&[], &[]);
        freight.approved_for = vec![record("prod", Some("2026-11-30T00:00:00Z"), None)];
        let answer = judge(&freight, &sources("uat", 0, "")).1;
        assert_eq!(answer.decision, Decision::Deny);
        assert_eq!(
            &*answer.reason,
            "not verified in `uat`; it was approved for `prod` by hand, which skips this in Kargo but names no person"
        );
    }

    #[test]
    fn straight_from_the_warehouse() {
        let direct = Sources { direct: true, ..sources("uat", HOUR, "All") };
        assert_eq!(judge(&freight(&[], &[]), &direct).1.decision, Decision::Allow);
    }

    #[test]
    fn the_soak_and_its_words() {
        let freight = freight(&[("uat", None)], &[("uat", Some("2026-11-30T23:20:00Z"))]);
        let (soaks, answer) = judge(&freight, &sources("uat", 6 * HOUR, ""));
        let until = Some(at("2026-12-01T05:20:00Z"));
        let reached = Some(3 * HOUR + 47 * 60);
        assert_eq!(soaks, [Soak { stage: "uat".into(), required: 6 * HOUR, reached, not_before: until }]);
        assert_eq!(&*answer.reason, "3h47m of 6h in `uat`, verified there");
    }

    proptest! {
        #[test]
        fn nothing_panics_and_more_soak_is_never_worse(
            required in any::<i64>(), longest in any::<Option<i64>>(), more in 0..i64::MAX,
            since in prop::option::of(-377_705_023_201_i64..=253_402_207_200), all in any::<bool>(),
        ) {
            let since = since.map(|second| Timestamp::from_second(second).unwrap().to_string());
            let there = [("uat", since.as_deref())];
            let sources = sources("uat", required, if all { "All" } else { "" });
            let before = judge(&freight(&[("uat", longest)], &there), &sources).1.decision;
            let longer = longest.unwrap_or(0).saturating_add(more);
            let after = judge(&freight(&[("uat", Some(longer))], &there), &sources).1.decision;
            prop_assert!(after <= before);
        }
    }
}
