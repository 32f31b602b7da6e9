//! The shapes of a fleet file as people write it. Nothing here is resolved: names are not looked up,
//! globs are not compiled. `deny_unknown_fields` everywhere, so that a typing error is an error.

mod cluster;
mod promotion;
mod rules;
mod scalar;
mod schedule;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accelerators::KindEntry;

pub use cluster::{Accelerator, Cluster, Injects, Prometheus, Taint, Toleration};
pub use promotion::{Approval, BreakGlass, Gate, NoData, NotBy, Skip, Window};
pub use rules::{Policies, Rule, Setting, Style};
pub use scalar::{Day, Duration, Entry, Threshold, Words};
pub use schedule::{Schedule, Times, time_zone};

/// The group and version of our own documents.
pub const API_VERSION: &str = "fleetgate.dev/v1alpha1";

/// A fleet file, or a part of one that `include` names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Fleet")]
pub struct Document {
    /// `fleetgate.dev/v1alpha1`.
    pub api_version: String,
    /// `Fleet`.
    pub kind: String,
    /// Where a generated part comes from and how old it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// How strict the shipped rules are before anything else is set. Default: `recommended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Environments in promotion order, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
    /// Globs of further parts, relative to this file. Only the fleet file itself can include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Where each cluster's rendered manifests are: paths or globs relative to the fleet file, with
    /// `{cluster}`, `{environment}`, `{provider}` and `{region}` filled in.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub rendered: Words,
    /// Clusters by name: the name of an environment, or a mapping.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clusters: BTreeMap<String, Entry<Cluster>>,
    /// How health gates reach Prometheus, for clusters that say nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<Prometheus>,
    /// Accelerator budgets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Budget>,
    /// Approvals that a promotion needs, by environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: BTreeMap<String, Approval>,
    /// When promotions may or may not go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// Health gates by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, Gate>,
    /// What an emergency may skip, and who may call one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_glass: Option<BreakGlass>,
    /// Levels, modes and parameters by rule id or glob.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, Rule>,
    /// Kinds that run pods beside the shipped ones, or instead of one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindEntry>,
    /// Policies beside the shipped ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Policies>,
    /// What Argo CD's projects may reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argocd: Option<ArgoCd>,
    /// Teams by name: a list of namespace globs, or a mapping.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub teams: BTreeMap<String, Entry<Team>>,
    /// Persons by name, each with all identities.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub people: BTreeMap<String, Person>,
    /// Accepted violations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// Files that are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Exclude>,
}

/// Where generated data comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Generated {
    /// What it was derived from, such as a Terraform state or a cluster.
    pub source: String,
    /// The day on which it was derived.
    pub date: Day,
}

/// How strict the rules are before anything else is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Every denial is shown as a warning: to look at what would be denied.
    Starter,
    /// Levels as shipped.
    Recommended,
    /// Every warning is a denial.
    Strict,
}

/// A limit on the accelerators that a team may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// The team.
    pub team: String,
    /// Accelerator family, such as `H100`.
    pub family: String,
    /// The environment over whose clusters the budget runs; or name `clusters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Names or globs of the clusters over which the budget runs.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub clusters: Words,
    /// Capacity type, such as `on-demand`, `spot` or `reserved`; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Devices.
    pub limit: u64,
    /// Who answers for the budget and may raise it.
    pub owner: String,
    /// Whether batch workloads count as soon as they are created or only once a queue admits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// How many workloads may roll out at once, each with its surge. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout_concurrency: Option<u32>,
}

/// How batch workloads count in a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// Like everything else.
    Counted,
    /// By their queue's quota, not by this budget.
    Queued,
}

/// What Argo CD's projects may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArgoCd {
    /// Clusters by `AppProject`: names or globs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub projects: BTreeMap<String, Words>,
}

/// A team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Team {
    /// Globs of the namespaces that it owns.
    pub namespaces: Vec<String>,
    /// Its members, as named in `people` or as `@login`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Queues that it submits to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<String>,
    /// Where to reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
}

impl scalar::Shorthand for Team {
    const SHORT: &'static str = "a list of namespace globs";
    fn short_schema() -> schemars::Schema {
        schemars::json_schema!({"type": "array", "items": {"type": "string"}})
    }
    fn from_words(namespaces: Vec<String>) -> Result<Self, String> {
        Ok(Self { namespaces, ..Self::default() })
    }
}

/// One person and the identities under which the systems know that person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Person {
    /// Logins on GitHub.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub github: Words,
    /// User names on GitLab.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub gitlab: Words,
    /// Addresses, as in commits and in identity tokens.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub email: Words,
    /// User names as the Kubernetes API server knows them.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub kubernetes: Words,
    /// Principals of the allowed signers file.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub signer: Words,
}

/// An accepted violation. It must say why, who answers for it and how long it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Waiver {
    /// Rule id or glob.
    pub rule: String,
    /// Name or glob of clusters; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// `Kind namespace/name` (`Kind name` without a namespace), or a glob over it.
    pub subject: String,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it holds.
    pub expires: Day,
}

/// Files that are not read. Excluding what is deployed to a cluster is a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exclude {
    /// Path or glob relative to the fleet file.
    pub path: String,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it holds.
    pub expires: Day,
}
