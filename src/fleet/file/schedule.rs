//! Times of the week, such as `Mo-Th 09:00-17:00`.

use std::borrow::Cow;

use jiff::civil::{Time, Weekday};
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

/// Days of the week and the hours on each of them. `22:00-06:00` runs into the next day, `24:00` is
/// the end of the day, and no hours at all mean the whole day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// As written.
    pub text: String,
    /// Days on which the hours begin, Monday first.
    pub days: Vec<Weekday>,
    /// Begin and end; an end at or before the begin lies on the next day.
    pub hours: (Time, Time),
}

impl Schedule {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (days, hours) = match (words.next()?, words.next(), words.next()) {
            (days, Some(hours), None) => (parse_days(days)?, parse_hours(hours)?),
            (word, None, None) => match parse_days(word) {
                Some(days) => (days, (Time::midnight(), Time::midnight())),
                None => (DAYS.map(|(_, day)| day).to_vec(), parse_hours(word)?),
            },
            _ => return None,
        };
        Some(Self { text: text.to_owned(), days, hours })
    }
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
                "`{text}` names no times of the week; write such as `Mo-Th 09:00-17:00`, `Fr,Sa` or `22:00-06:00`"
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
    use jiff::civil::time;

    use super::*;

    #[test]
    fn days_and_hours() {
        let schedule = Schedule::parse("Mo-Th 09:00-17:00").unwrap();
        assert_eq!(schedule.days.len(), 4);
        assert_eq!(schedule.hours, (time(9, 0, 0, 0), time(17, 0, 0, 0)));
        let over_the_week_end = Schedule::parse("Sa-Mo").unwrap();
        assert_eq!(over_the_week_end.days, [Weekday::Monday, Weekday::Saturday, Weekday::Sunday]);
        assert_eq!(Schedule::parse("22:00-06:00").unwrap().days.len(), 7);
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
        ] {
            assert_eq!(Schedule::parse(bad), None, "{bad}");
        }
    }
}
