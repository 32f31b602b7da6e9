//! Small values of the fleet file that are checked while they are read: days, spans of time,
//! thresholds, lists that may be a single word.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::Date;
use jiff::{Span, SpanRelativeTo, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, DeserializeOwned, IntoDeserializer, MapAccess, SeqAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A day, such as `2027-06-30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub Date);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        text.parse().ok().filter(|_| plain).map(Self).ok_or_else(|| {
            de::Error::custom(format!("`{text}` is no date; write year, month and day, such as `2027-06-30`"))
        })
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

/// A length of time as written, such as `30m`, `6h` or `14d`, and what it comes to in seconds.
/// A day is 24 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duration {
    /// As written.
    pub text: String,
    /// Whole seconds, at least 1.
    pub seconds: u64,
}

impl Duration {
    fn parse(text: &str) -> Option<Self> {
        let span: Span = text.parse().ok()?;
        let calendar = span.get_years() != 0 || span.get_months() != 0 || span.get_weeks() != 0;
        if calendar || !text.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let relative = (Unit::Second, SpanRelativeTo::days_are_24_hours());
        let seconds = span.total(relative).ok()?;
        // Rounded to whole seconds; the bound keeps the cast exact.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to lie between 1 and 2^53"
        )]
        (1.0..9.0e15).contains(&seconds).then(|| Self { text: text.to_owned(), seconds: seconds as u64 })
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is no length of time; write such as `90s`, `30m`, `6h` or `14d`"
            ))
        })
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl JsonSchema for Duration {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+ *[a-z]+( *[0-9]+ *[a-z]+)*$", "examples": ["30m", "6h"]})
    }
}

/// A bound of a health gate: a number, or a percentage such as `0.5%`, which reads as `0.005`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold(pub f64);

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Threshold;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as `250` or a percentage such as `0.5%`")
            }
            #[expect(clippy::cast_precision_loss, reason = "thresholds beyond 2^53 mean the same")]
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Threshold, E> {
                Ok(Threshold(number as f64))
            }
            #[expect(clippy::cast_precision_loss, reason = "thresholds beyond 2^53 mean the same")]
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Threshold, E> {
                Ok(Threshold(number as f64))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Threshold, E> {
                if number.is_finite() {
                    Ok(Threshold(number))
                } else {
                    Err(E::custom("a bound has to be a finite number"))
                }
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Threshold, E> {
                let percent = text.strip_suffix('%').map(str::trim_end).and_then(|n| n.parse::<f64>().ok());
                match percent {
                    Some(percent) if (0.0..=100.0).contains(&percent) => Ok(Threshold(percent / 100.0)),
                    _ => Err(E::custom(format!(
                        "`{text}` is no bound; write a number such as `250` or a percentage from `0%` to `100%`"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl JsonSchema for Threshold {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+ *%$"}]})
    }
}

/// One word, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Words(pub Vec<String>);

impl Words {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Words, E> {
                Ok(Words(vec![word.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = items.next_element()? {
                    words.push(word);
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Words {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    }
}

/// An entry that can be written short.
pub trait Shorthand: Sized {
    /// What the short form is, such as `the name of an environment`.
    const SHORT: &'static str;
    /// The JSON schema of the short form.
    fn short_schema() -> Schema;
    /// From one word.
    fn from_word(word: &str) -> Result<Self, String> {
        Err(format!("`{word}`: expected {} or a mapping", Self::SHORT))
    }
    /// From a list of words.
    fn from_words(_: Vec<String>) -> Result<Self, String> {
        Err(format!("expected {} or a mapping, found a list", Self::SHORT))
    }
}

/// An entry in its short or its long form. Read by hand, since an untagged enum would lose the place
/// and the reason of an error inside the long form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Entry<T>(pub T);

impl<'de, T: Shorthand + DeserializeOwned> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(std::marker::PhantomData<T>);
        impl<'de, T: Shorthand + DeserializeOwned> Visitor<'de> for Reader<T> {
            type Value = T;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} or a mapping", T::SHORT)
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<T, E> {
                T::from_word(word).map_err(E::custom)
            }
            fn visit_bool<E: de::Error>(self, word: bool) -> Result<T, E> {
                // YAML 1.1 reads the word `off` as false.
                if word {
                    Err(E::invalid_type(de::Unexpected::Bool(word), &self))
                } else {
                    self.visit_str("off")
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
                let words = Vec::deserialize(value::SeqAccessDeserializer::new(items))?;
                T::from_words(words).map_err(de::Error::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
                T::deserialize(value::MapAccessDeserializer::new(entries))
            }
        }
        deserializer.deserialize_any(Reader(std::marker::PhantomData)).map(Self)
    }
}

impl<T: Shorthand + JsonSchema> JsonSchema for Entry<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let long = generator.subschema_for::<T>();
        json_schema!({"oneOf": [T::short_schema(), long]})
    }
}

/// Reads a word of a closed set, such as a [`crate::model::Level`], through its own `Deserialize`.
pub(super) fn word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let deserializer: value::StrDeserializer<'_, value::Error> = word.into_deserializer();
    T::deserialize(deserializer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_come_to_seconds() {
        let seconds = |text| Duration::parse(text).map(|d| d.seconds);
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("30m"), Some(1800));
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("14d"), Some(14 * 86_400));
        for bad in ["", "30", "-6h", "0s", "1mo", "2y", "six hours", "6h ago"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_percentage_is_a_share_of_one() {
        let read = |json: &str| serde_json::from_str::<Threshold>(json).map(|t| t.0);
        assert!((read("\"0.5%\"").unwrap() - 0.005).abs() < 1e-12);
        assert!((read("250").unwrap() - 250.0).abs() < 1e-12);
        for bad in ["\"0.5\"", "\"101%\"", "\"-1%\"", "\"%\"", "true", "\"NaN%\""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_day_has_year_month_and_day() {
        let read = |json: &str| serde_json::from_str::<Day>(json);
        assert_eq!(read("\"2027-06-30\"").unwrap().0, jiff::civil::date(2027, 6, 30));
        for bad in ["\"2027-02-30\"", "\"30.6.2027\"", "\"2027-06-30T10:00:00\"", "20270630", "\"never\""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
