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
    /// Its accelerator nodes, pool by pool. None: nobody said, which is not the same as an empty list.
    pub pools: Option<Vec<Pool>>,
    /// What its webhooks and its cloud add to pods.
    pub injects: Injects,
    /// The whole entry as policies see it (`input.cluster`), with `name` and `environment` filled in.
    pub facts: Value,
}

/// Nodes of a cluster that have one kind of accelerator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// Family, such as `H100` or `TPU-v6e`.
    pub family: Arc<str>,
    /// Extended resource that a pod asks for, such as `nvidia.com/gpu`.
    pub resource: Arc<str>,
    /// Units of `resource` on one node.
    pub per_node: u64,
    /// Nodes, at most; none: not known.
    pub nodes: Option<u64>,
    /// Capacity type, such as `on-demand`, `spot` or `reserved`.
    pub capacity_type: Option<Arc<str>>,
    /// Labels of the nodes.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Taints of the nodes.
    pub taints: Vec<Taint>,
    /// Resource of the network fabric, such as `vpc.amazonaws.com/efa`.
    pub fabric: Option<Arc<str>>,
    /// How one device is shared, such as `time-slicing`; none: whole devices.
    pub sharing: Option<Arc<str>>,
}

/// A taint of nodes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// Key.
    pub key: Arc<str>,
    /// Value; empty if there is none.
    pub value: Arc<str>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Arc<str>,
}

/// What a cluster adds to pods on their way in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Injects {
    /// Tolerations, as a pod spec has them.
    pub tolerations: Vec<Value>,
    /// Node selector entries.
    pub node_selector: BTreeMap<Arc<str>, Arc<str>>,
    /// Only for pods that ask for one of these resources; all pods if empty.
    pub resources: Vec<Arc<str>>,
}

/// A limit on the accelerators that a team may use.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The team.
    pub team: Arc<str>,
    /// Accelerator family.
    pub family: Arc<str>,
    /// The environment over whose clusters it runs, if it names one.
    pub environment: Option<Arc<str>>,
    /// Globs of the clusters over which it runs, if it names clusters.
    pub clusters: Vec<GlobMatcher>,
    /// The globs as written.
    pub cluster_patterns: Vec<Arc<str>>,
    /// Capacity type; all of them if absent.
    pub capacity_type: Option<Arc<str>>,
    /// Devices.
    pub limit: u64,
    /// Who may raise it.
    pub owner: Owner,
    /// Whether batch workloads are left to the quota of their queue.
    pub batch_queued: bool,
    /// How many workloads may roll out at once.
    pub rollout_concurrency: u32,
    /// Where it stands.
    pub file: Arc<camino::Utf8PathBuf>,
    /// Line in `file`, from 1.
    pub line: usize,
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
    /// Limits on what teams may use.
    pub budgets: Vec<Budget>,
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
            budgets: Vec::new(),
            required: Vec::new(),
            data: Value::new_object(),
        }
    }
}
