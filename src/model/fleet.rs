//! The fleet as the engine sees it: resolved from the fleet file, pure data.

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::GlobMatcher;

use super::{Face, Level, Mode, Value};

/// An environment, in promotion order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Name, such as `prod`.
    pub name: Arc<str>,
}

/// One cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Name.
    pub name: Arc<str>,
    /// Environment.
    pub environment: Arc<str>,
    /// Cloud provider, such as `aws`, `gcp`, `azure`.
    pub provider: Option<Arc<str>>,
    /// Region.
    pub region: Option<Arc<str>>,
    /// Free labels.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// The whole entry as policies see it (`input.cluster`), with `name` and `environment` filled in.
    pub facts: Value,
}

/// Where a file's objects go: one cluster, or an environment without a known cluster, or nowhere known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The cluster, if known.
    pub cluster: Option<Arc<Cluster>>,
    /// The environment: the cluster's, or as given on the command line.
    pub environment: Option<Arc<str>>,
}

/// A team and the namespaces it owns.
#[derive(Debug, Clone)]
pub struct Team {
    /// Name.
    pub name: Arc<str>,
    /// Namespace globs.
    pub namespaces: Vec<GlobMatcher>,
}

/// A person or group that answers for an entry, as written, such as `gpu-capacity` or `@ann`.
pub type Owner = Arc<str>;

/// An accepted violation.
#[derive(Debug, Clone)]
pub struct Waiver {
    /// Rule id or glob.
    pub rule: GlobMatcher,
    /// The rule pattern as written.
    pub rule_pattern: Arc<str>,
    /// Cluster glob; `*` if the waiver names none.
    pub cluster: GlobMatcher,
    /// `Kind namespace/name` glob, or a glob over it.
    pub object: GlobMatcher,
    /// The subject as written.
    pub subject: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
    /// Who answers for it.
    pub owner: Owner,
    /// The last day on which it holds, in UTC.
    pub expires: jiff::civil::Date,
    /// Where it stands: file and line.
    pub file: Arc<camino::Utf8PathBuf>,
    /// Line in `file`, from 1.
    pub line: usize,
}

/// Files that are not read.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// Glob over paths relative to the fleet file's directory.
    pub path: GlobMatcher,
    /// The pattern as written.
    pub pattern: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
    /// Who answers for it.
    pub owner: Owner,
    /// The last day on which it holds, in UTC.
    pub expires: jiff::civil::Date,
    /// Where it stands.
    pub file: Arc<camino::Utf8PathBuf>,
    /// Line in `file`, from 1.
    pub line: usize,
}

/// A level or mode that an organisation sets for a rule, everywhere or somewhere.
/// Later entries win over earlier ones.
#[derive(Debug, Clone)]
pub struct Override {
    /// Rule id or glob.
    pub rule: GlobMatcher,
    /// The pattern as written.
    pub pattern: Arc<str>,
    /// Only findings that have this level when the override applies; none: all. The profile `strict`
    /// makes warnings denials without touching what is only information.
    pub at: Option<Level>,
    /// New level of its findings, if set.
    pub level: Option<Level>,
    /// Mode, if set.
    pub mode: Option<Mode>,
    /// Only in these environments; empty: all.
    pub environments: Vec<Arc<str>>,
    /// Only in clusters that match; empty: all.
    pub clusters: Vec<GlobMatcher>,
    /// Only in these faces; empty: all.
    pub faces: Vec<Face>,
}

/// The fleet: everything that the engine needs and nothing that it has to read.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// In promotion order.
    pub environments: Vec<Environment>,
    /// By name.
    pub clusters: BTreeMap<Arc<str>, Arc<Cluster>>,
    /// By name.
    pub teams: BTreeMap<Arc<str>, Team>,
    /// Accepted violations.
    pub waivers: Vec<Waiver>,
    /// Files not read.
    pub exclusions: Vec<Exclusion>,
    /// Levels and modes, in the order in which they apply (profile first).
    pub overrides: Vec<Override>,
    /// Rules that must be evaluated: unavailable means exit 2.
    pub required: Vec<Arc<str>>,
    /// The document at `data.fleet`.
    pub data: Value,
}

impl Default for Fleet {
    /// No fleet: no cluster, no team, nothing waived, `data.fleet` an empty object.
    fn default() -> Self {
        Self {
            environments: Vec::new(),
            clusters: BTreeMap::new(),
            teams: BTreeMap::new(),
            waivers: Vec::new(),
            exclusions: Vec::new(),
            overrides: Vec::new(),
            required: Vec::new(),
            data: Value::new_object(),
        }
    }
}
