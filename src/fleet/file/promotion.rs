//! Approvals, windows, health gates and emergencies of the fleet file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use super::{Duration, Threshold, Words};

/// What a promotion into an environment needs in approvals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// Distinct persons, at least 1.
    pub count: std::num::NonZeroU32,
    /// Groups or teams from which they come; `codeowners` for the owners of the changed files.
    /// Anybody with a right to approve if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// Who cannot approve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<NotBy>,
}

/// A part in a change that rules a person out as its approver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotBy {
    /// Who wrote a commit of it.
    Author,
    /// Who asked for the promotion.
    Requester,
    /// Who pushed last.
    LastPusher,
    /// Who committed a commit of it.
    Committer,
}

/// When promotions may or may not go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Window {
    /// Name, for reports.
    pub name: String,
    /// Promotions go at these times only, such as `Mo-Th 09:00-17:00` or `2026-12-24/2027-01-02`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Schedule>,
    /// Promotions do not go at these times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Schedule>,
    /// Time zone, such as `Europe/Berlin`. Default: `UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Only for these environments; all if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub environments: Words,
    /// Only for these clusters, by name or glob; all if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub clusters: Words,
    /// Groups or teams whose own promotions it does not hold up.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub except: Words,
}

/// A health gate: a preset or a query, and the bounds within which it has to stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gate {
    /// A known metric, such as `envoy/error-ratio`; or write a `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// A `PromQL` query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The value has to stay below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Threshold>,
    /// The value has to stay above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Threshold>,
    /// Over the whole of this time.
    #[serde(rename = "for")]
    pub window: Duration,
    /// With at least so many requests in that time; fewer say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_requests: Option<u64>,
    /// The largest age of the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Duration>,
    /// What missing data means. Default: `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_data: Option<NoData>,
    /// Environments or Kargo stages whose promotions it guards; all if empty.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub stages: Words,
}

/// What missing data means to a health gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoData {
    /// It cannot be told, and the promotion does not go.
    Block,
    /// The gate holds.
    Pass,
}

/// What an emergency may skip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BreakGlass {
    /// Groups or teams that may call one.
    pub by: Vec<String>,
    /// Requirements that it may skip. The identity of the images is never skipped.
    pub skips: Vec<Skip>,
    /// How long one lasts at most; no more than `4h`.
    pub max: Duration,
    /// Within which time a second person signs. Default: `24h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_person_within: Option<Duration>,
}

/// A requirement that an emergency may skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Skip {
    /// Windows.
    Window,
    /// Soak times.
    Soak,
    /// Approvals.
    Approvals,
    /// Health gates.
    Health,
}
