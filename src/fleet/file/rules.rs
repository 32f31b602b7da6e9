//! Levels, modes and parameters of rules, and policies beside the shipped ones.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize};

use super::scalar::{self, Shorthand, Words};
use crate::model::{Face, Level, Mode};

/// What is set for one rule: one or several settings, the later ones winning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Rule(pub Vec<Setting>);

/// A level, mode or parameters of a rule, everywhere or somewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Setting {
    /// New level of its findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// What it may do: `deny` (findings keep their level), `warn`, `audit` or `off`.
    #[serde(default, deserialize_with = "mode", skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Only in these environments; all if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub environments: Words,
    /// Only in these clusters, by name or glob; all if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub clusters: Words,
    /// Only in these faces; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<Face>,
    /// Parameters of the rule, the same everywhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// Reads a mode, taking the word `off`, which YAML 1.1 reads as false, for what it says.
fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Mode>, D::Error> {
    struct Reader;
    impl Visitor<'_> for Reader {
        type Value = Mode;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("`deny`, `warn`, `audit` or `off`")
        }
        fn visit_str<E: de::Error>(self, word: &str) -> Result<Mode, E> {
            scalar::word(word).ok_or_else(|| {
                E::custom(format!("`{word}` is no mode; write `deny`, `warn`, `audit` or `off`"))
            })
        }
        fn visit_bool<E: de::Error>(self, word: bool) -> Result<Mode, E> {
            if word { Err(E::invalid_type(de::Unexpected::Bool(word), &self)) } else { Ok(Mode::Off) }
        }
    }
    deserializer.deserialize_any(Reader).map(Some)
}

impl Shorthand for Setting {
    const SHORT: &'static str = "a level or mode (`deny`, `warn`, `info`, `audit`, `off`)";
    fn short_schema() -> Schema {
        json_schema!({"enum": ["deny", "warn", "info", "audit", "off", false]})
    }
    /// A level also lifts what a profile or an earlier setting said about the mode.
    fn from_word(word: &str) -> Result<Self, String> {
        if let Some(level) = scalar::word::<Level>(word) {
            return Ok(Self { level: Some(level), mode: Some(Mode::Deny), ..Self::default() });
        }
        if let Some(mode) = scalar::word::<Mode>(word) {
            return Ok(Self { mode: Some(mode), ..Self::default() });
        }
        Err(format!("`{word}` is no level or mode; write `deny`, `warn`, `info`, `audit` or `off`"))
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Rule;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}, a mapping or a list of mappings", Setting::SHORT)
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Rule, E> {
                Setting::from_word(word).map(|setting| Rule(vec![setting])).map_err(E::custom)
            }
            fn visit_bool<E: de::Error>(self, word: bool) -> Result<Rule, E> {
                // YAML 1.1 reads the word `off` as false.
                if word {
                    Err(E::invalid_type(de::Unexpected::Bool(word), &self))
                } else {
                    self.visit_str("off")
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Rule, A::Error> {
                Vec::deserialize(value::SeqAccessDeserializer::new(items)).map(Rule)
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Rule, A::Error> {
                Setting::deserialize(value::MapAccessDeserializer::new(entries)).map(|one| Rule(vec![one]))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Rule {
    fn schema_name() -> Cow<'static, str> {
        "Rule".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let long = generator.subschema_for::<Setting>();
        json_schema!({"oneOf": [Setting::short_schema(), long, {"type": "array", "items": long}]})
    }
}

/// A set of policies beside the shipped ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policies {
    /// Files or directories relative to the fleet file; or name a `bundle`.
    #[serde(default, alias = "paths", skip_serializing_if = "Words::is_empty")]
    pub path: Words,
    /// A bundle: a directory, a `tar.gz`, or an OCI reference by digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Whose conventions they follow. Default: `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// Packages that are evaluated, for styles that name them; `main` if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub namespaces: Words,
    /// Files or directories of data documents, relative to the fleet file.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub data: Words,
    /// Parameters by rule id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// Levels and modes by rule id or glob, before those of `rules`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, Rule>,
    /// Rules that have to be evaluated: if one cannot be, that is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
}

/// Whose conventions a set of policies follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Our own.
    Native,
    /// conftest's.
    Conftest,
}
