//! Times of the week, such as `Mo-Th 09:00-17:00`, and spans of the calendar, such as
//! `2026-12-24/2027-01-02`.

use std::borrow::Cow;

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const DAYS: [(&str, Weekday); 7] = [
    ("Mo", Weekday::Monday),
    ("Tu", Weekday::Tuesday),
    ("We", Weekday::Wednesday),
    ("Th", Weekday::Thursday),
    ("Fr", Weekday::Friday),
    ("Sa", Weekday::Saturday),
    ("Su", Weekday::Sunday),
];

/// The time zone of that name, from the database that is part of this program, so that the same
/// windows are open on every machine.
pub fn time_zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// When a window is: as written, and what that means on the clocks of its zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// As written.
    pub text: String,
    /// What it means.
    pub times: Times,
}

/// Times on the clocks of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Times {
    /// Days of the week and the hours on each of them. `22:00-06:00` runs into the next day, `24:00`
    /// is the end of the day, and no hours at all mean the whole day.
    Weekly {
        /// Days on which the hours begin, Monday first.
        days: Vec<Weekday>,
        /// Begin and end; an end at or before the begin lies on the next day.
        hours: (Time, Time),
    },
    /// Once, from the first moment up to but without the second one.
    Dated(DateTime, DateTime),
}

impl Schedule {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let times = match text.split_once('/') {
            Some((from, to)) => parse_span(from, to)?,
            None => parse_weekly(text)?,
        };
        Some(Self { text: text.to_owned(), times })
    }
}

fn parse_weekly(text: &str) -> Option<Times> {
    let mut words = text.split_whitespace();
    let (days, hours) = match (words.next()?, words.next(), words.next()) {
        (days, Some(hours), None) => (parse_days(days)?, parse_hours(hours)?),
        (word, None, None) => match parse_days(word) {
            Some(days) => (days, (Time::midnight(), Time::midnight())),
            None => (DAYS.map(|(_, day)| day).to_vec(), parse_hours(word)?),
        },
        _ => return None,
    };
    Some(Times::Weekly { days, hours })
}

/// `2026-12-24/2027-01-02`, where the second is the last day, or `2026-12-24T18:00/2026-12-27T06:00`.
fn parse_span(from: &str, to: &str) -> Option<Times> {
    let moment = |text: &str| {
        let (date, time) = text.split_once('T')?;
        Some(DateTime::from_parts(parse_date(date)?, parse_time(time)?))
    };
    let (from, to) = match (moment(from), moment(to)) {
        (Some(from), Some(to)) => (from, to),
        (None, None) => {
            let after = parse_date(to)?.checked_add(1.day()).ok()?;
            (parse_date(from)?.at(0, 0, 0, 0), after.at(0, 0, 0, 0))
        }
        _ => return None,
    };
    (from < to).then_some(Times::Dated(from, to))
}

fn parse_date(text: &str) -> Option<Date> {
    let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    plain.then(|| text.parse().ok())?
}

/// `Mo-Th`, `Mo,We,Fr-Sa`, and ranges over the end of the week such as `Sa-Mo`.
fn parse_days(text: &str) -> Option<Vec<Weekday>> {
    let position = |name: &str| DAYS.iter().position(|(known, _)| *known == name);
    let mut chosen = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut day, last) = (position(first)?, position(last)?);
        loop {
            *chosen.get_mut(day)? = true;
            if day == last {
                break;
            }
            day = (day + 1) % 7;
        }
    }
    Some(DAYS.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|((_, day), _)| *day).collect())
}

fn parse_hours(text: &str) -> Option<(Time, Time)> {
    let (from, to) = text.split_once('-')?;
    let (from, to) = (parse_time(from)?, if to == "24:00" { Time::midnight() } else { parse_time(to)? });
    (from != to || from == Time::midnight()).then_some((from, to))
}

fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    (two_digits(hour) && two_digits(minute)).then_some(())?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` names no times; write such as `Mo-Th 09:00-17:00`, `Fr,Sa`, \
                 `22:00-06:00` or `2026-12-24/2027-01-02`"
            ))
        })
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl JsonSchema for Schedule {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Schedule".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "examples": ["Mo-Th 09:00-17:00"]})
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{date, time};

    use super::*;

    #[test]
    fn days_and_hours() {
        let weekly = |text: &str| match Schedule::parse(text).unwrap().times {
            Times::Weekly { days, hours } => (days, hours),
            Times::Dated(..) => panic!("{text}"),
        };
        let (days, hours) = weekly("Mo-Th 09:00-17:00");
        assert_eq!(days.len(), 4);
        assert_eq!(hours, (time(9, 0, 0, 0), time(17, 0, 0, 0)));
        assert_eq!(weekly("Sa-Mo").0, [Weekday::Monday, Weekday::Saturday, Weekday::Sunday]);
        assert_eq!(weekly("22:00-06:00").0.len(), 7);
    }

    #[test]
    fn spans_of_the_calendar() {
        let dated = |text: &str| Schedule::parse(text).unwrap().times;
        let days = Times::Dated(date(2026, 12, 24).at(0, 0, 0, 0), date(2027, 1, 3).at(0, 0, 0, 0));
        assert_eq!(dated("2026-12-24/2027-01-02"), days);
        let hours = Times::Dated(date(2026, 12, 24).at(18, 0, 0, 0), date(2026, 12, 27).at(6, 0, 0, 0));
        assert_eq!(dated("2026-12-24T18:00/2026-12-27T06:00"), hours);
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "Mon-Thu 09:00-17:00",
            "Mo-Th 9-17",
            "Mo-Th 09:00",
            "Mo 09:00-09:00",
            "Mo 25:00-26:00",
            "Mo Tu 09:00-10:00",
            "2026-12-24",
            "2026-12-24/2026-12-23",
            "2026-12-24T18:00/2026-12-27",
            "2026-12-24T18:00/2026-12-24T18:00",
            "2026-02-30/2026-03-01",
            "2026-12-24/9999-12-31",
        ] {
            assert_eq!(Schedule::parse(bad), None, "{bad}");
        }
    }
}
