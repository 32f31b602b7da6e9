use proptest::prelude::*;

use super::*;
use crate::fleet::file::{Schedule, Words};

const BERLIN: &str = "Europe/Berlin";
const NEW_YORK: &str = "America/New_York";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn window(name: &str, kind: WindowKind, times: &str, zone: &str) -> Window {
    let schedule = Some(Schedule::parse(times).unwrap());
    let (allow, deny) = match kind {
        WindowKind::Allow => (schedule, None),
        WindowKind::Deny => (None, schedule),
    };
    Window {
        name: name.to_owned(),
        allow,
        deny,
        zone: Some(zone.to_owned()),
        environments: Words::default(),
        clusters: Words::default(),
        except: Words::default(),
    }
}

fn allow(times: &str, zone: &str) -> Window {
    window("hours", WindowKind::Allow, times, zone)
}

fn deny(times: &str, zone: &str) -> Window {
    window("freeze", WindowKind::Deny, times, zone)
}

fn words(text: &str) -> Words {
    Words(text.split_whitespace().map(str::to_owned).collect())
}

fn judge(given: &[Window], now: &str, cluster: &str) -> Answer {
    let clusters = [Arc::from(cluster)];
    let asked =
        Asked { environment: Some("prod"), clusters: &clusters, groups: &BTreeSet::new(), now: at(now) };
    windows(given, &asked).1.remove(0)
}

/// Active or not, and when that changes.
fn state(window: &Window, now: &str) -> (bool, Option<String>) {
    let clock = Clock::new(window).unwrap();
    (clock.active(at(now)), clock.change_after(at(now)).map(|change| change.to_string()))
}

#[test]
fn when_a_window_is_active_and_until_when() {
    // Berlin is at +1 in winter and at +2 from 2026-03-29T01:00Z to 2026-10-25T01:00Z; New York at -5
    // in winter and at -4 from 2026-03-08T07:00Z to 2026-11-01T06:00Z. 2026-03-29, 2026-10-25,
    // 2026-03-08 and 2026-11-01 are Sundays, 2026-12-01 is a Tuesday.
    let cases = [
        // The begin belongs to it, the end does not.
        ("Mo-Th 09:00-17:00", BERLIN, "2026-12-01T07:59:59Z", false, "2026-12-01T08:00:00Z"),
        ("Mo-Th 09:00-17:00", BERLIN, "2026-12-01T08:00:00Z", true, "2026-12-01T16:00:00Z"),
        ("Mo-Th 09:00-17:00", BERLIN, "2026-12-01T16:00:00Z", false, "2026-12-02T08:00:00Z"),
        // From Thursday over the end of the week.
        ("Mo-Th 09:00-17:00", BERLIN, "2026-12-03T16:00:00Z", false, "2026-12-07T08:00:00Z"),
        ("Sa-Mo", BERLIN, "2026-12-06T12:00:00Z", true, "2026-12-07T23:00:00Z"),
        ("Su 22:00-06:00", "UTC", "2026-12-07T05:59:00Z", true, "2026-12-07T06:00:00Z"),
        ("Mo 22:00-06:00", "UTC", "2026-12-07T05:59:00Z", false, "2026-12-07T22:00:00Z"),
        // Every day over midnight.
        ("22:00-06:00", BERLIN, "2026-12-01T23:30:00Z", true, "2026-12-02T05:00:00Z"),
        ("09:00-24:00", "UTC", "2026-12-01T12:00:00Z", true, "2026-12-02T00:00:00Z"),
        // Over the change of the clocks: 09:00 on Monday is an hour earlier or later.
        ("Mo-Th 09:00-17:00", BERLIN, "2026-03-27T12:00:00Z", false, "2026-03-30T07:00:00Z"),
        ("Mo-Th 09:00-17:00", BERLIN, "2026-10-24T12:00:00Z", false, "2026-10-26T08:00:00Z"),
        ("Mo-Th 09:00-17:00", NEW_YORK, "2026-03-07T12:00:00Z", false, "2026-03-09T13:00:00Z"),
        ("Mo-Th 09:00-17:00", NEW_YORK, "2026-10-31T12:00:00Z", false, "2026-11-02T14:00:00Z"),
        // A night that has an hour less, and one that has an hour more.
        ("22:00-06:00", BERLIN, "2026-03-28T22:00:00Z", true, "2026-03-29T04:00:00Z"),
        ("22:00-06:00", BERLIN, "2026-10-24T21:00:00Z", true, "2026-10-25T05:00:00Z"),
        ("22:00-06:00", NEW_YORK, "2026-03-08T04:00:00Z", true, "2026-03-08T10:00:00Z"),
        ("22:00-06:00", NEW_YORK, "2026-11-01T03:00:00Z", true, "2026-11-01T11:00:00Z"),
        // Times that are left out: 02:30 is never shown, 03:00 is the first moment after it.
        ("Su 02:30-05:00", BERLIN, "2026-03-29T00:59:59Z", false, "2026-03-29T01:00:00Z"),
        ("Su 02:30-05:00", BERLIN, "2026-03-29T01:00:00Z", true, "2026-03-29T03:00:00Z"),
        ("Su 01:00-02:30", NEW_YORK, "2026-03-08T06:30:00Z", true, "2026-03-08T07:00:00Z"),
        // The whole window is left out: next Sunday, in summer time.
        ("Su 02:00-02:30", BERLIN, "2026-03-28T12:00:00Z", false, "2026-04-05T00:00:00Z"),
        ("Su 02:00-03:00", NEW_YORK, "2026-03-08T06:59:59Z", false, "2026-03-15T06:00:00Z"),
        // Times that are shown twice count twice.
        ("Su 02:15-02:45", BERLIN, "2026-10-25T00:15:00Z", true, "2026-10-25T00:45:00Z"),
        ("Su 02:15-02:45", BERLIN, "2026-10-25T00:45:00Z", false, "2026-10-25T01:15:00Z"),
        ("Su 02:15-02:45", BERLIN, "2026-10-25T01:15:00Z", true, "2026-10-25T01:45:00Z"),
        ("Su 00:00-01:30", NEW_YORK, "2026-11-01T05:30:00Z", false, "2026-11-01T06:00:00Z"),
        ("Su 00:00-01:30", NEW_YORK, "2026-11-01T06:00:00Z", true, "2026-11-01T06:30:00Z"),
        ("Su 02:00-03:00", BERLIN, "2026-10-25T00:00:00Z", true, "2026-10-25T02:00:00Z"),
        // Once.
        ("2026-12-24/2027-01-02", BERLIN, "2026-12-23T22:59:59Z", false, "2026-12-23T23:00:00Z"),
        ("2026-12-24/2027-01-02", BERLIN, "2026-12-23T23:00:00Z", true, "2027-01-02T23:00:00Z"),
        ("2026-03-29T02:30/2026-03-29T04:00", BERLIN, "2026-03-28T12:00:00Z", false, "2026-03-29T01:00:00Z"),
    ];
    for (times, zone, now, active, until) in cases {
        let expected = (active, Some(until.to_owned()));
        assert_eq!(state(&allow(times, zone), now), expected, "{times} {zone} at {now}");
    }
}

#[test]
fn a_window_that_never_changes() {
    assert_eq!(state(&allow("Mo-Su", BERLIN), "2026-12-01T12:00:00Z"), (true, None));
    assert_eq!(state(&deny("2026-01-01/2026-01-31", "UTC"), "2026-12-01T12:00:00Z"), (false, None));
    // More than a year ahead.
    assert_eq!(state(&deny("2028-01-01/2028-01-31", "UTC"), "2026-12-01T12:00:00Z"), (false, None));
}

#[test]
fn an_active_denial_wins_and_one_that_allows_is_enough() {
    let day = || allow("09:00-17:00", "UTC");
    let evening = || window("evening", WindowKind::Allow, "18:00-20:00", "UTC");
    let noon = || deny("11:00-13:00", "UTC");
    let late = || deny("16:00-19:00", "UTC");
    let (go, wait) = (Decision::Allow, Decision::Wait);
    let cases: [(Vec<Window>, &str, Decision, Option<&str>); 8] = [
        (vec![], "2026-12-01T12:00:00Z", go, None),
        (vec![noon()], "2026-12-01T10:00:00Z", go, None),
        (vec![noon()], "2026-12-01T12:00:00Z", wait, Some("2026-12-01T13:00:00Z")),
        (vec![day(), noon()], "2026-12-01T12:00:00Z", wait, Some("2026-12-01T13:00:00Z")),
        (vec![day(), evening()], "2026-12-01T19:00:00Z", go, None),
        (vec![day(), evening()], "2026-12-01T17:00:00Z", wait, Some("2026-12-01T18:00:00Z")),
        // The evening opens while the denial is active, so it is its end that counts.
        (vec![day(), evening(), late()], "2026-12-01T17:00:00Z", wait, Some("2026-12-01T19:00:00Z")),
        (vec![deny("Mo-Su", "UTC"), day()], "2026-12-01T12:00:00Z", Decision::Deny, None),
    ];
    for (given, now, decision, not_before) in cases {
        let answer = judge(&given, now, "c");
        assert_eq!(answer.decision, decision, "{}", answer.reason);
        assert_eq!(answer.not_before, not_before.map(at), "{}", answer.reason);
    }
}

#[test]
fn the_reason_names_windows_and_the_time_on_their_clock() {
    let answer = judge(&[allow("Mo-Th 09:00-17:00", BERLIN)], "2026-12-01T03:07:00Z", "c");
    assert_eq!(&*answer.reason, "`hours` shut; open from Tue 2026-12-01 09:00 Europe/Berlin");
    let both = [allow("09:00-17:00", "UTC"), deny("16:00-18:00", "UTC")];
    let answer = judge(&both, "2026-12-01T17:30:00Z", "c");
    assert_eq!(&*answer.reason, "`freeze` denies now, `hours` shut; open from Wed 2026-12-02 09:00 UTC");
}

#[test]
fn only_where_it_applies() {
    let everywhere = deny("Mo-Su", "UTC");
    let eu = Window { clusters: words("prod-*-eu*"), ..everywhere.clone() };
    let uat = Window { environments: words("uat"), ..everywhere.clone() };
    let now = "2026-12-01T12:00:00Z";
    assert_eq!(judge(std::slice::from_ref(&eu), now, "prod-gcp-euw4").decision, Decision::Deny);
    assert_eq!(judge(std::slice::from_ref(&eu), now, "prod-aws-use1").decision, Decision::Allow);
    assert_eq!(judge(std::slice::from_ref(&uat), now, "c").decision, Decision::Allow);

    let clusters: [Arc<str>; 2] = ["prod-aws-use1".into(), "prod-gcp-euw4".into()];
    let nobody = BTreeSet::new();
    let asked = Asked { environment: Some("prod"), clusters: &clusters, groups: &nobody, now: at(now) };
    let (states, answers) = windows(&[eu.clone(), uat.clone()], &asked);
    assert_eq!(states.len(), 1);
    assert_eq!(states[0].clusters, ["prod-gcp-euw4".into()]);
    assert_eq!(answers.len(), 2);

    // What is not known might be what it is for.
    let unknown = Asked { environment: None, ..asked };
    assert_eq!(windows(&[uat], &unknown).1[0].decision, Decision::CannotTell);
    let unknown = Asked { clusters: &[], ..asked };
    assert_eq!(windows(&[eu], &unknown).1[0].decision, Decision::CannotTell);
    assert_eq!(windows(&[everywhere], &unknown).1[0].decision, Decision::Deny);
}

#[test]
fn groups_that_it_does_not_hold_up() {
    let freeze = Window { except: words("oncall"), ..deny("Mo-Su", "UTC") };
    let clusters = ["c".into()];
    let oncall = BTreeSet::from(["oncall".into()]);
    let asked =
        Asked { environment: None, clusters: &clusters, groups: &oncall, now: at("2026-12-01T12:00:00Z") };
    let answer = windows(std::slice::from_ref(&freeze), &asked).1.remove(0);
    assert_eq!(answer.decision, Decision::Allow);
    assert_eq!(&*answer.reason, "no window holds it up; `freeze` does not hold up @oncall");
    let nobody = Asked { groups: &BTreeSet::new(), ..asked };
    assert_eq!(windows(&[freeze], &nobody).1[0].decision, Decision::Deny);
}

#[test]
fn a_window_without_a_clock_cannot_be_told() {
    let nowhere = judge(&[allow("Mo-Su", "Europe/Atlantis")], "2026-12-01T12:00:00Z", "c");
    assert_eq!(nowhere.decision, Decision::CannotTell);
    assert_eq!(&*nowhere.reason, "window `hours`: `Europe/Atlantis` is no time zone");
    let neither = Window { allow: None, ..allow("Mo-Su", "UTC") };
    assert_eq!(judge(&[neither], "2026-12-01T12:00:00Z", "c").decision, Decision::CannotTell);
}

proptest! {
    /// Minute by minute, the answer changes when it says and not before.
    #[test]
    fn it_changes_when_it_says(
        minute in 0_i64..366 * 24 * 60,
        day in prop::sample::select(vec!["Mo", "Fr-Su", "Su", "Mo-Su", "We,Sa"]),
        from in 0_i64..24, to in 0_i64..24, half in prop::bool::ANY,
        zone in prop::sample::select(vec![BERLIN, NEW_YORK, "Australia/Lord_Howe", "Africa/Cairo", "UTC"]),
    ) {
        prop_assume!(from != to);
        let times = format!("{day} {from:02}:{}-{to:02}:00", if half { "30" } else { "00" });
        let window = allow(&times, zone);
        let clock = Clock::new(&window).unwrap();
        let now = at("2026-01-01T00:00:00Z") + SignedDuration::from_mins(minute);
        let active = clock.active(now);
        let change = clock.change_after(now).unwrap();
        prop_assert_ne!(clock.active(change), active);
        let mut moment = now;
        while moment < change {
            prop_assert_eq!(clock.active(moment), active, "{} {} at {}", times, zone, moment);
            moment += SignedDuration::from_mins(1);
        }
    }
}
