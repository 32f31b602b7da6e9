//! Windows: when promotions may go.
//!
//! As in Argo CD and Kargo an active denial wins, and where any window that allows applies, one of
//! them has to be active.
//!
//! A window is active whenever a clock on the wall of its zone shows one of its times. So times that
//! a change of the clocks leaves out begin right after it, and times that it repeats count twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use crate::fleet::file::{Times, Window, time_zone};
use crate::fleet::name_glob;
use crate::model::{Answer, Decision, WindowKind, WindowState};

/// How far ahead is looked for the next change.
const HORIZON: SignedDuration = SignedDuration::from_hours(366 * 24);

/// A week and the days before and after it that a change of the clocks can take away.
const DAYS_AHEAD: i32 = 16;

/// What a promotion is about, as far as windows ask.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The environment; none if it cannot be told.
    pub environment: Option<&'a str>,
    /// The clusters that it reaches; none at all if they cannot be told.
    pub clusters: &'a [Arc<str>],
    /// Groups and teams of whoever asks, if the statement can be believed; else none.
    pub groups: &'a BTreeSet<Arc<str>>,
    /// Now.
    pub now: Timestamp,
}

/// The windows that concern a promotion, in the order of the fleet file, and the answer for each
/// cluster.
pub fn windows(windows: &[Window], asked: &Asked<'_>) -> (Vec<WindowState>, Vec<Answer>) {
    let windows: Vec<Clocked<'_>> = windows.iter().map(Clocked::new).collect();
    let states = windows.iter().filter_map(|window| window.state(asked)).collect();
    let answers = if asked.clusters.is_empty() {
        vec![answer(&windows, None, asked)]
    } else {
        asked.clusters.iter().map(|cluster| answer(&windows, Some(cluster), asked)).collect()
    };
    (states, answers)
}

fn answer(windows: &[Clocked<'_>], cluster: Option<&Arc<str>>, asked: &Asked<'_>) -> Answer {
    let answer = |decision, reason: String, not_before| Answer {
        requirement: "window".into(),
        cluster: cluster.cloned(),
        decision,
        reason: reason.into(),
        not_before,
        who: None,
    };
    let mut holding = Vec::new();
    let mut notes = String::new();
    for window in windows {
        let name = &window.window.name;
        match window.concerns(asked.environment, cluster.map(AsRef::as_ref)) {
            Concerns::No => continue,
            Concerns::Unknown(why) => return answer(Decision::CannotTell, why, None),
            Concerns::Yes => {}
        }
        if let Some(group) = window.window.except.0.iter().find(|group| asked.groups.contains(group.as_str()))
        {
            notes.extend(["; `", name, "` does not hold up @", group]);
            continue;
        }
        match &window.clock {
            Ok(clock) => holding.push((window, clock)),
            Err(why) => return answer(Decision::CannotTell, format!("window `{name}`: {why}"), None),
        }
    }
    if holding.is_empty() {
        return answer(Decision::Allow, format!("no window holds it up{notes}"), None);
    }
    let mut timeline = Timeline::new(&holding, asked.now);
    if timeline.open() {
        let names = timeline.names(WindowKind::Allow, true);
        let reason =
            if names.is_empty() { "no denial is active".to_owned() } else { format!("{names} open") };
        return answer(Decision::Allow, format!("{reason}{notes}"), None);
    }
    let denying = timeline.names(WindowKind::Deny, true);
    let shut = timeline.names(WindowKind::Allow, false);
    let reason = match (denying.is_empty(), shut.is_empty() || timeline.allowed()) {
        (false, true) => format!("{denying} denies now"),
        (false, false) => format!("{denying} denies now, {shut} shut"),
        (true, _) => format!("{shut} shut"),
    };
    match timeline.next_open() {
        Some((at, zone)) => {
            let local = zone.1.to_datetime(at).strftime("%a %Y-%m-%d %H:%M").to_string();
            let reason = format!("{reason}; open from {local} {}{notes}", zone.0);
            answer(Decision::Wait, reason, Some(at))
        }
        None => answer(Decision::Deny, format!("{reason}; not open within a year{notes}"), None),
    }
}

/// A window with its clock, or why it has none: such a fleet file does not load.
struct Clocked<'a> {
    window: &'a Window,
    clock: Result<Clock<'a>, String>,
}

enum Concerns {
    Yes,
    No,
    Unknown(String),
}

impl<'a> Clocked<'a> {
    fn new(window: &'a Window) -> Self {
        let clock = Clock::new(window);
        Self { window, clock }
    }

    fn concerns(&self, environment: Option<&str>, cluster: Option<&str>) -> Concerns {
        let Window { name, environments, clusters, .. } = self.window;
        if !environments.0.is_empty() {
            match environment {
                None => {
                    let why =
                        format!("window `{name}` is for some environments, and which this is is unknown");
                    return Concerns::Unknown(why);
                }
                Some(environment) if !environments.0.iter().any(|known| known == environment) => {
                    return Concerns::No;
                }
                Some(_) => {}
            }
        }
        if clusters.0.is_empty() {
            return Concerns::Yes;
        }
        let Some(cluster) = cluster else {
            let why = format!("window `{name}` is for some clusters, and which this reaches is unknown");
            return Concerns::Unknown(why);
        };
        for pattern in &clusters.0 {
            match name_glob(pattern) {
                Ok(glob) if glob.is_match(cluster) => return Concerns::Yes,
                Ok(_) => {}
                Err(why) => return Concerns::Unknown(format!("window `{name}`: {why}")),
            }
        }
        Concerns::No
    }

    /// None if the window does not concern the promotion, or nothing can be told about it.
    fn state(&self, asked: &Asked<'_>) -> Option<WindowState> {
        let clock = self.clock.as_ref().ok()?;
        let concerns = |cluster| matches!(self.concerns(asked.environment, cluster), Concerns::Yes);
        let clusters = match self.window.clusters.0.is_empty() {
            true if !concerns(None) => return None,
            true => Vec::new(),
            false => {
                let clusters: Vec<_> =
                    asked.clusters.iter().filter(|cluster| concerns(Some(cluster))).cloned().collect();
                if clusters.is_empty() {
                    return None;
                }
                clusters
            }
        };
        Some(WindowState {
            name: self.window.name.as_str().into(),
            kind: clock.kind,
            clusters,
            active: clock.active(asked.now),
            until: clock.change_after(asked.now),
        })
    }
}

/// When a window is active.
struct Clock<'a> {
    kind: WindowKind,
    times: &'a Times,
    zone_name: &'a str,
    zone: TimeZone,
}

impl<'a> Clock<'a> {
    fn new(window: &'a Window) -> Result<Self, String> {
        let (kind, schedule) = match (&window.allow, &window.deny) {
            (Some(schedule), None) => (WindowKind::Allow, schedule),
            (None, Some(schedule)) => (WindowKind::Deny, schedule),
            _ => return Err("it needs either `allow` or `deny`".to_owned()),
        };
        let zone_name = window.zone.as_deref().unwrap_or("UTC");
        let zone = time_zone(zone_name).ok_or_else(|| format!("`{zone_name}` is no time zone"))?;
        Ok(Self { kind, times: &schedule.times, zone_name, zone })
    }

    fn active(&self, at: Timestamp) -> bool {
        let local = self.zone.to_datetime(at);
        match self.times {
            Times::Dated(from, to) => *from <= local && local < *to,
            Times::Weekly { days, hours: (from, to) } => {
                let (time, today) = (local.time(), local.date().weekday());
                let begins = |day| days.contains(&day);
                if from < to {
                    return begins(today) && *from <= time && time < *to;
                }
                (begins(today) && *from <= time) || (begins(today.previous()) && time < *to)
            }
        }
    }

    /// When it becomes active if it is not, or the other way round; none: not within a year.
    fn change_after(&self, at: Timestamp) -> Option<Timestamp> {
        let now = self.active(at);
        let mut moments = self.moments_after(at);
        moments.sort_unstable();
        let end = at.checked_add(HORIZON).ok();
        let within = |moment: &Timestamp| end.is_none_or(|end| *moment <= end);
        moments.into_iter().filter(within).find(|moment| self.active(*moment) != now)
    }

    /// All moments at which it can change: its own times, and the changes of the clocks.
    fn moments_after(&self, at: Timestamp) -> Vec<Timestamp> {
        let mut civil: Vec<DateTime> = Vec::new();
        match self.times {
            Times::Dated(from, to) => civil.extend([*from, *to]),
            Times::Weekly { hours: (from, to), .. } => {
                let today = self.zone.to_datetime(at).date();
                for day in -1..=DAYS_AHEAD {
                    let Ok(date) = today.checked_add(day.days()) else { continue };
                    civil.extend([*from, *to, Time::midnight()].map(|time| date.to_datetime(time)));
                }
            }
        }
        let mut moments = Vec::new();
        for time in civil {
            let ambiguous = self.zone.to_ambiguous_timestamp(time);
            // In a gap both are other times of the day, which does no harm: each is looked at.
            moments.extend(ambiguous.earlier().ok());
            moments.extend(ambiguous.later().ok());
        }
        // Times that the clocks leave out begin with their change. Two a year; some zones have more.
        moments.extend(self.zone.following(at).take(8).map(|change| change.timestamp()));
        moments.retain(|moment| *moment > at);
        moments
    }
}

/// The windows of one cluster, as time goes on.
struct Timeline<'a> {
    windows: Vec<Moving<'a>>,
    end: Option<Timestamp>,
}

struct Moving<'a> {
    name: &'a str,
    clock: &'a Clock<'a>,
    active: bool,
    change: Option<Timestamp>,
}

impl<'a> Timeline<'a> {
    fn new(windows: &[(&Clocked<'a>, &'a Clock<'a>)], now: Timestamp) -> Self {
        let moving = |(window, clock): &(&Clocked<'a>, &'a Clock<'a>)| Moving {
            name: &window.window.name,
            clock,
            active: clock.active(now),
            change: clock.change_after(now),
        };
        Self { windows: windows.iter().map(moving).collect(), end: now.checked_add(HORIZON).ok() }
    }

    fn of(&self, kind: WindowKind) -> impl Iterator<Item = &Moving<'a>> {
        self.windows.iter().filter(move |window| window.clock.kind == kind)
    }

    /// Whether one that allows is active, or there is none.
    fn allowed(&self) -> bool {
        self.of(WindowKind::Allow).next().is_none() || self.of(WindowKind::Allow).any(|window| window.active)
    }

    fn open(&self) -> bool {
        self.allowed() && !self.of(WindowKind::Deny).any(|window| window.active)
    }

    fn names(&self, kind: WindowKind, active: bool) -> String {
        let names = self.of(kind).filter(|window| window.active == active);
        names.map(|window| format!("`{}`", window.name)).collect::<Vec<_>>().join(", ")
    }

    /// When all of it is open for the first time, and the zone of the window that made it so.
    fn next_open(&mut self) -> Option<(Timestamp, (&'a str, &'a TimeZone))> {
        loop {
            let at = self.windows.iter().filter_map(|window| window.change).min()?;
            if self.end.is_some_and(|end| at > end) {
                return None;
            }
            let mut zone = None;
            for window in self.windows.iter_mut().filter(|window| window.change == Some(at)) {
                window.active = !window.active;
                window.change = window.clock.change_after(at);
                zone = Some((window.clock.zone_name, &window.clock.zone));
            }
            if self.open() {
                return zone.map(|zone| (at, zone));
            }
        }
    }
}

#[cfg(test)]
mod tests;
