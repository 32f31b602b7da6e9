//! What a loaded, checked set of policies consists of. `load` makes it, `evaluate` runs it, the
//! engine plans by it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{Face, Level, Value};

/// Whose conventions a set of policies follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// Ours: packages `fleetgate.<pack>.<rule>`, partial sets `deny` and `warn`, strict built-ins.
    Native,
    /// conftest's: `deny`, `violation`, `warn` with an optional suffix, `input` is the object.
    Conftest,
}

/// What a rule is evaluated against (`custom.target`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// One Kubernetes object.
    Resource,
    /// One cluster with its demand and quotas.
    Cluster,
    /// The fleet with its budgets.
    Fleet,
    /// One promotion.
    Promotion,
    /// One Terraform or OpenTofu plan.
    Plan,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 5] = [Self::Resource, Self::Cluster, Self::Fleet, Self::Promotion, Self::Plan];

    /// The word in metadata and in `input.target`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Cluster => "cluster",
            Self::Fleet => "fleet",
            Self::Promotion => "promotion",
            Self::Plan => "plan",
        }
    }
}

/// A fact from outside that a rule cannot do without (`custom.needs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A fleet file.
    Fleet,
    /// `input.now`.
    Time,
    /// `input.actor`.
    Actor,
    /// Health gates.
    Health,
    /// Approvals.
    Approvals,
    /// `data.inventory`.
    Inventory,
}

impl Need {
    /// All needs.
    pub const ALL: [Self; 6] =
        [Self::Fleet, Self::Time, Self::Actor, Self::Health, Self::Approvals, Self::Inventory];

    /// The word in metadata and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fleet => "fleet",
            Self::Time => "time",
            Self::Actor => "actor",
            Self::Health => "health",
            Self::Approvals => "approvals",
            Self::Inventory => "inventory",
        }
    }
}

/// Which resources a rule concerns (`custom.match`). An empty list matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// Kinds, such as `Deployment`.
    pub kinds: Vec<Arc<str>>,
    /// API groups; `""` is the core group, `*` any.
    pub api_groups: Vec<Arc<str>>,
    /// Environments.
    pub environments: Vec<Arc<str>>,
    /// Cloud providers.
    pub providers: Vec<Arc<str>>,
    /// Namespace globs.
    pub namespaces: Vec<Arc<str>>,
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub operations: Vec<Arc<str>>,
    /// Only objects that run pods (`input.workload` is not null).
    pub workloads: bool,
    /// Only objects that ask for accelerators, or may, or mention some where nobody counts them.
    pub accelerators: bool,
}

/// Which parts of `input` besides `input.object` a rule can read, found in the syntax tree. A rule
/// whose result cannot depend on the cluster is evaluated once for all clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reads {
    /// Exactly these top-level keys of `input`, such as `environment`; of `cluster`, the keys below it
    /// that are read, such as `cluster.provider`, or `cluster` for all of it.
    Only(BTreeSet<Arc<str>>),
    /// Anything: the rule uses `input` as a whole or by a computed key.
    Anything,
}

/// A partial set of a rule's package that yields findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Rule name in the package: `deny`, `warn`, or `deny_x` in conftest style.
    pub name: Arc<str>,
    /// `Level::Deny` for `deny` and `violation`, `Level::Warn` for `warn`.
    pub level: Level,
}

/// A parameter that a rule takes (`custom.params`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in `data.params.<pack>.<rule_snake>.<name>`.
    pub name: Arc<str>,
    /// What it means.
    pub description: Arc<str>,
    /// Its schema as written, in the words of JSON Schema.
    pub schema: Value,
    /// The value that holds if nobody sets one.
    pub default: Value,
}

/// One rule: a package with `deny` or `warn`.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `<pack>/<rule-kebab>`, such as `gitops/image-digest`; `<namespace>/<entry>` in conftest style.
    pub id: Arc<str>,
    /// Package without `data.`, such as `fleetgate.gitops.image_digest`.
    pub package: Arc<str>,
    /// Its partial sets.
    pub entries: Vec<Entry>,
    /// Level of its `deny` elements before overrides (`custom.level`); `warn` elements are at most
    /// a warning.
    pub level: Level,
    /// Title.
    pub title: Arc<str>,
    /// Description.
    pub description: Arc<str>,
    /// Where to read more (`related_resources`).
    pub url: Option<Arc<str>>,
    /// Text of `<rule>.md` beside the rule.
    pub page: Option<Arc<str>>,
    /// What it is evaluated against.
    pub target: Target,
    /// Which resources it concerns.
    pub matches: Match,
    /// What it cannot do without.
    pub needs: BTreeSet<Need>,
    /// The faces that evaluate it; empty: all.
    pub faces: Vec<Face>,
    /// What it can read.
    pub reads: Reads,
    /// Whether it can read `data.inventory`, which is built only if some rule does.
    pub reads_inventory: bool,
    /// Its parameters, sorted by name; their values stand in the set's data at `data.params`.
    pub parameters: Vec<Parameter>,
    /// Index into [`PolicySet::sets`].
    pub set: usize,
    /// Path of the module, as shown to people.
    pub file: Arc<camino::Utf8PathBuf>,
}

/// A module as loaded.
#[derive(Debug, Clone)]
pub struct Module {
    /// Path as shown to people.
    pub file: Arc<camino::Utf8PathBuf>,
    /// Its text.
    pub text: Arc<str>,
    /// Package without `data.`.
    pub package: Arc<str>,
}

/// Modules and data that are evaluated together.
#[derive(Debug, Clone)]
pub struct Set {
    /// Whose conventions it follows.
    pub style: Style,
    /// Modules, tests left out.
    pub modules: Vec<Module>,
    /// Test modules (`*_test.rego`), for `fleetgate test`.
    pub tests: Vec<Module>,
    /// The whole `data` document: the user's data, `fleet`, `params`.
    pub data: Value,
}

/// Everything that was loaded and passed the checks.
#[derive(Debug, Clone, Default)]
pub struct PolicySet {
    /// Sets, in the order in which they were named.
    pub sets: Vec<Set>,
    /// All rules, sorted by id; ids are unique.
    pub rules: Vec<Rule>,
    /// `blake3` over the modules and data, in hexadecimal: two runs with one digest were judged by
    /// the same policies.
    pub digest: String,
}
