//! Findings: what a rule says about a subject.

use std::fmt;
use std::sync::Arc;

use super::{Level, ObjectId, Place, Route, Value};

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The cluster, if known.
    pub cluster: Option<Arc<str>>,
    /// The environment, if known.
    pub environment: Option<Arc<str>>,
    /// The object; none for findings about a cluster, the fleet or the configuration.
    pub object: Option<ObjectId>,
}

/// What makes two findings the same finding over time: rule, cluster, object, and the route with
/// list indexes replaced by the item's `name` where it has one. Never file, line or message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Rule id, such as `gitops/image-digest`.
    pub rule: Arc<str>,
    /// Cluster, or `-` where none is known.
    pub cluster: Arc<str>,
    /// `group/kind/namespace/name`, with `-` for an empty part.
    pub object: Arc<str>,
    /// Route with names for indexes, such as `spec.containers[name=web].image`; empty for the root.
    pub route: Arc<str>,
}

/// `rule cluster object route`, the four separated by one blank.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let route: &str = if self.route.is_empty() { "." } else { &self.route };
        write!(f, "{} {} {} {route}", self.rule, self.cluster, self.object)
    }
}

/// How a finding stands against what was there and what was accepted before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Not seen before: counts.
    New,
    /// In the baseline, or there before the change that is judged, but its level or its value has
    /// risen: counts.
    Worse,
    /// In the baseline: shown in the counts only.
    Accepted,
    /// There before the change that is judged, and no worse since: shown only on request.
    Unchanged,
    /// Covered by a waiver: shown in the counts only.
    Waived {
        /// The waiver's reason.
        reason: Arc<str>,
        /// Who answers for it.
        owner: Arc<str>,
    },
}

impl Standing {
    /// Whether a finding that stands so weighs in the verdict.
    pub const fn counts(&self) -> bool {
        matches!(self, Self::New | Self::Worse)
    }
}

/// What one rule says about one subject.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Rule id.
    pub rule: Arc<str>,
    /// Effective level, after overrides and mode.
    pub level: Level,
    /// What it is about.
    pub subject: Subject,
    /// If only one thing can be shown, it is this: lower case, no full stop.
    pub message: Arc<str>,
    /// The object that is shown, if it is not the subject, such as the largest user of a budget.
    pub at: Option<ObjectId>,
    /// The place inside the object that is shown, if the rule names one.
    pub route: Option<Route>,
    /// Facts for machines; `details.value` says how large the violation is.
    pub details: Option<Value>,
    /// What to write instead.
    pub remediation: Option<Arc<str>>,
    /// Where the object's document stands.
    pub place: Option<Place>,
    /// The document's text, for the code frame, and the route of the object inside the document
    /// (items of a `List`).
    pub text: Option<Arc<str>>,
    /// Route of the object inside its document; the root unless it is an item of a `List`.
    pub item: Route,
    /// What it is compared by.
    pub identity: Identity,
    /// How it stands.
    pub standing: Standing,
}
