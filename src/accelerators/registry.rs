//! Which kinds run pods: where their templates are, how many pods they make, and when more.
//!
//! The shipped list is `kinds.yaml`; a fleet file can add entries of the same form. An entry is
//! parsed once; nothing here knows a kind by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::entry::{AutoscalesEntry, DeviceEntry, KindEntry, PartEntry, Rule, ScaleEntry, TimesEntry};
use super::formula::Formula;
use crate::manifest;

/// The registered kinds.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    groups: BTreeMap<Arc<str>, Kinds>,
}

/// The entries of each kind of a group.
type Kinds = BTreeMap<Arc<str>, Vec<Arc<Kind>>>;

/// Why a registry entry cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kind `{kind}`: {message}")]
pub struct RegistryError {
    /// The kind of the entry, as `Kind.group`.
    pub kind: String,
    /// What is wrong with it.
    pub message: String,
}

/// A parsed entry.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) versions: Vec<String>,
    pub(super) scale: Scale,
    pub(super) suspended: Option<Formula>,
    pub(super) parts: Vec<Part>,
    pub(super) creates: Vec<KindName>,
    pub(super) template: bool,
    pub(super) derived: bool,
    pub(super) autoscales: Option<Autoscales>,
    pub(super) rule: Option<Rule>,
}

#[derive(Debug)]
pub(super) struct Autoscales {
    pub(super) min: Formula,
    pub(super) max: Formula,
}

#[derive(Debug, Default)]
pub(super) struct Scale {
    pub(super) replicas: Option<Formula>,
    pub(super) max: Option<Formula>,
    pub(super) peak: Option<Formula>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) each: Option<Formula>,
    pub(super) role: Arc<str>,
    pub(super) role_from: Option<Formula>,
    pub(super) when: Option<Formula>,
    pub(super) what: What,
    pub(super) inline: Vec<String>,
    pub(super) beside: Vec<String>,
    pub(super) devices: Vec<Device>,
    pub(super) scale: Scale,
    pub(super) per: Option<Formula>,
    pub(super) upgrade: Option<Formula>,
    pub(super) times: Option<Times>,
    pub(super) optional: bool,
    pub(super) starts: bool,
}

#[derive(Debug)]
pub(super) struct Times {
    pub(super) each: Formula,
    pub(super) lists: String,
    pub(super) scale: Scale,
}

/// What the pods of a part are; the formula is a field.
#[derive(Debug)]
pub(super) enum What {
    Itself,
    Template(Formula),
    Spec(Formula),
    Container(Formula),
    Object(Formula, Option<KindName>),
    Embedded(Formula, KindName),
    DevicesOnly,
    Unseen(Arc<str>),
    Referenced(Formula),
}

#[derive(Debug)]
pub(super) struct Device {
    pub(super) resource: Arc<str>,
    pub(super) resource_from: Option<Formula>,
    pub(super) amount: Formula,
}

/// A kind without its version, written `Kind.group` or `Kind`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KindName {
    pub(super) group: Arc<str>,
    pub(super) kind: Arc<str>,
}

impl KindName {
    fn parse(text: &str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Self { group: group.into(), kind: kind.into() }
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// `kinds.yaml` and files of the same form.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    kinds: Vec<KindEntry>,
}

const VERSION: u32 = 1;

static BUILTIN: LazyLock<Result<Registry, RegistryError>> = LazyLock::new(|| {
    let wrong = |message: String| RegistryError { kind: "kinds.yaml".into(), message };
    let file: File = manifest::typed(include_str!("kinds.yaml")).map_err(|error| wrong(error.message))?;
    if file.version != VERSION {
        return Err(wrong(format!("version {} is not {VERSION}", file.version)));
    }
    let mut registry = Registry::default();
    registry.extend(file.kinds)?;
    Ok(registry)
});

impl Registry {
    /// The kinds that are shipped. A test holds that the file is right; were it not, no kind would
    /// be registered, and every pod template would be reported as one of an unknown kind.
    pub fn builtin() -> &'static Self {
        static EMPTY: Registry = Registry { groups: BTreeMap::new() };
        BUILTIN.as_ref().unwrap_or(&EMPTY)
    }

    /// Adds entries. An entry for a kind (and versions) that is registered already replaces it.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = KindEntry>) -> Result<(), RegistryError> {
        entries.into_iter().try_for_each(|entry| self.add(&entry).map(drop))
    }

    /// Adds an entry and says whether it replaces one: an entry for the same kind and versions.
    pub fn add(&mut self, entry: &KindEntry) -> Result<bool, RegistryError> {
        let name = KindName { group: entry.group.as_str().into(), kind: entry.kind.as_str().into() };
        let kind = Kind::parse(entry).map_err(|message| RegistryError { kind: name.to_string(), message })?;
        let same = self.groups.entry(name.group).or_default().entry(name.kind).or_default();
        let before = same.len();
        same.retain(|other| other.versions != kind.versions);
        let replaces = same.len() < before;
        same.push(Arc::new(kind));
        Ok(replaces)
    }

    /// The kinds, written `Kind.group`, that an entry embeds and that are not registered.
    pub fn missing<'e>(&self, entry: &'e KindEntry) -> Vec<&'e str> {
        let embedded = entry.pods.iter().filter_map(|part| part.embeds.as_deref());
        embedded.filter(|name| self.named(&KindName::parse(name)).is_none()).collect()
    }

    /// Group and kind of each entry, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.groups.iter().flat_map(|(group, kinds)| kinds.keys().map(move |kind| (&**group, &**kind)))
    }

    /// The entry for a kind in a version.
    pub(super) fn get(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let entries = self.groups.get(group)?.get(kind)?;
        let named = |entry: &&Arc<Kind>| entry.versions.iter().any(|other| other == version);
        entries.iter().find(named).or_else(|| entries.iter().find(|entry| entry.versions.is_empty()))
    }

    /// The entry for a kind in no particular version.
    pub(super) fn named(&self, name: &KindName) -> Option<&Arc<Kind>> {
        self.groups.get(&name.group)?.get(&name.kind)?.first()
    }
}

impl Kind {
    fn parse(entry: &KindEntry) -> Result<Self, String> {
        if !entry.template && entry.pods.is_empty() && entry.rule.is_none() && entry.autoscales.is_none() {
            return Err("`pods` says nothing; a kind that runs none has `template: true`".into());
        }
        Ok(Self {
            versions: entry.versions.clone(),
            scale: Scale::parse(&entry.scale)?,
            suspended: formula("suspended", entry.suspended.as_deref())?,
            parts: entry.pods.iter().map(Part::parse).collect::<Result<_, _>>()?,
            creates: entry.creates.iter().map(|name| KindName::parse(name)).collect(),
            template: entry.template,
            derived: entry.derived,
            autoscales: match &entry.autoscales {
                Some(AutoscalesEntry { min, max }) => Some(Autoscales {
                    min: Formula::parse(min).map_err(|error| format!("`min`: {error}"))?,
                    max: Formula::parse(max).map_err(|error| format!("`max`: {error}"))?,
                }),
                None => None,
            },
            rule: entry.rule,
        })
    }
}

impl Scale {
    fn parse(entry: &ScaleEntry) -> Result<Self, String> {
        Ok(Self {
            replicas: formula("replicas", entry.replicas.as_deref())?,
            max: formula("max", entry.max.as_deref())?,
            peak: formula("peak", entry.peak.as_deref())?,
        })
    }
}

impl Part {
    fn parse(entry: &PartEntry) -> Result<Self, String> {
        Ok(Self {
            each: field("each", entry.each.as_deref())?,
            role: entry.role.as_deref().unwrap_or("pod").into(),
            role_from: formula("roleFrom", entry.role_from.as_deref())?,
            when: formula("when", entry.when.as_deref())?,
            what: What::parse(entry)?,
            inline: entry.inline.clone(),
            beside: entry.beside.clone(),
            devices: entry.devices.iter().map(Device::parse).collect::<Result<_, _>>()?,
            scale: Scale {
                replicas: formula("replicas", entry.replicas.as_deref())?,
                max: formula("max", entry.max.as_deref())?,
                peak: formula("peak", entry.peak.as_deref())?,
            },
            per: formula("per", entry.per.as_deref())?,
            upgrade: formula("upgrade", entry.upgrade.as_deref())?,
            times: entry.times.as_ref().map(Times::parse).transpose()?,
            optional: entry.optional,
            starts: entry.starts,
        })
    }
}

impl Times {
    fn parse(entry: &TimesEntry) -> Result<Self, String> {
        Ok(Self {
            each: required("each", Some(&entry.each))?,
            lists: entry.lists.clone(),
            scale: Scale {
                replicas: formula("replicas", entry.replicas.as_deref())?,
                max: formula("max", entry.max.as_deref())?,
                peak: None,
            },
        })
    }
}

impl What {
    fn parse(entry: &PartEntry) -> Result<Self, String> {
        if let Some(why) = &entry.unseen {
            return Ok(Self::Unseen(why.as_str().into()));
        }
        if let Some(reference) = &entry.runs {
            return required("runs", Some(reference)).map(Self::Referenced);
        }
        let embeds = entry.embeds.as_deref().map(KindName::parse);
        let what = [&entry.template, &entry.spec, &entry.container, &entry.object, &entry.at];
        match (what.map(Option::as_deref), embeds) {
            ([Some("."), None, None, None, None], None) => Ok(Self::Itself),
            ([template @ Some(_), None, None, None, None], None) => {
                required("template", template).map(Self::Template)
            }
            ([None, spec @ Some(_), None, None, None], None) => required("spec", spec).map(Self::Spec),
            ([None, None, container @ Some(_), None, None], None) => {
                required("container", container).map(Self::Container)
            }
            ([None, None, None, object @ Some(_), None], kind) => {
                Ok(Self::Object(required("object", object)?, kind))
            }
            ([None, None, None, None, at @ Some(_)], Some(kind)) => {
                Ok(Self::Embedded(required("at", at)?, kind))
            }
            ([None, None, None, None, None], None) if !entry.devices.is_empty() => Ok(Self::DevicesOnly),
            _ => Err("one of `template`, `spec`, `container`, `object`, `embeds` with `at`, `devices`, `runs` and \
                      `unseen` says what the pods are"
                .into()),
        }
    }
}

impl Device {
    fn parse(entry: &DeviceEntry) -> Result<Self, String> {
        Ok(Self {
            resource: entry.resource.as_str().into(),
            resource_from: formula("resourceFrom", entry.resource_from.as_deref())?,
            amount: Formula::parse(&entry.amount).map_err(|error| format!("`amount`: {error}"))?,
        })
    }
}

fn formula(key: &str, text: Option<&str>) -> Result<Option<Formula>, String> {
    text.map(Formula::parse).transpose().map_err(|error| format!("`{key}`: {error}"))
}

fn field(key: &str, text: Option<&str>) -> Result<Option<Formula>, String> {
    match formula(key, text)? {
        Some(field @ Formula::Field { .. }) => Ok(Some(field)),
        Some(_) => Err(format!("`{key}` is a field such as `spec.template`")),
        None => Ok(None),
    }
}

fn required(key: &str, text: Option<&str>) -> Result<Formula, String> {
    field(key, text)?.ok_or_else(|| format!("`{key}` is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_kinds_are_sound() {
        let registry = BUILTIN.as_ref().unwrap_or_else(|error| panic!("{error}"));
        assert!(registry.get("apps", "v1", "Deployment").is_some());
        for kind in registry.groups.values().flat_map(Kinds::values).flatten() {
            for part in &kind.parts {
                if let What::Embedded(_, name) | What::Object(_, Some(name)) = &part.what {
                    assert!(registry.named(name).is_some(), "{name} is embedded and not registered");
                }
            }
        }
    }

    fn refused(entry: &str) -> String {
        let entry: KindEntry = manifest::typed(entry).expect("an entry");
        Registry::default().extend([entry]).expect_err("a wrong entry").to_string()
    }

    #[test]
    fn a_wrong_entry_says_what_is_wrong() {
        assert_eq!(
            refused("{group: example.org, kind: Farm}"),
            "kind `Farm.example.org`: `pods` says nothing; a kind that runs none has `template: true`"
        );
        assert_eq!(
            refused("{kind: Farm, pods: [{template: spec.a, spec: spec.b}]}"),
            "kind `Farm`: one of `template`, `spec`, `container`, `object`, `embeds` with `at`, `devices`, `runs` and \
             `unseen` says what the pods are"
        );
        assert_eq!(
            refused("{kind: Farm, pods: [{template: 1 + 1}]}"),
            "kind `Farm`: `template` is a field such as `spec.template`"
        );
        assert_eq!(
            refused("{kind: Farm, pods: [{template: spec.a, replicas: 1 +}]}"),
            "kind `Farm`: `replicas`: the formula ends too early"
        );
    }

    #[test]
    fn a_later_entry_replaces_an_earlier_one_of_the_same_versions() {
        let entry = |text: &str| manifest::typed::<KindEntry>(text).expect("an entry");
        let mut registry = Registry::default();
        let entries = [
            entry("{kind: Farm, pods: [{template: spec.a}]}"),
            entry("{kind: Farm, versions: [v2], pods: [{template: spec.b}]}"),
            entry("{kind: Farm, template: true}"),
        ];
        registry.extend(entries).expect("sound entries");
        assert!(registry.get("", "v1", "Farm").is_some_and(|kind| kind.template));
        assert!(registry.get("", "v2", "Farm").is_some_and(|kind| !kind.template));
        assert!(registry.get("other", "v1", "Farm").is_none());
    }
}
