//! Levels of findings, modes of rules, and the faces that judge.

use serde::{Deserialize, Serialize};

/// How much a finding weighs. Ordered: `Info < Warn < Deny`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Shown, never blocks.
    Info,
    /// Advice: shown, blocks only with `--fail-on warn`.
    Warn,
    /// Cannot run, is not counted, or is not allowed: blocks.
    Deny,
}

impl Level {
    /// The word used in configuration and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// What a rule may do in some place: an environment, a cluster, a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Findings keep their level.
    Deny,
    /// Denials are shown as warnings.
    Warn,
    /// Findings are recorded as info and never block.
    Audit,
    /// The rule is not evaluated, and listed so.
    Off,
}

/// Where a policy is being evaluated.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    /// `fleetgate check` and `fleetgate gate`.
    Ci,
    /// `fleetgate cmp generate`.
    Cmp,
    /// `fleetgate serve`.
    Admission,
}
