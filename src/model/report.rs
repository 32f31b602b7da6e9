//! The result of a run, sorted, ready to be rendered.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Finding, Level, Problem};

/// What was counted on the way. Everything that was seen is in exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files found, of any kind that we look at.
    pub files: usize,
    /// Files read and judged.
    pub judged_files: usize,
    /// Files that something renders, so that they are judged through its output.
    pub seen_through: usize,
    /// Kustomizations, charts and the like for which no rendered output was found.
    pub unrendered: usize,
    /// Files kept out by `exclude`.
    pub excluded: usize,
    /// Files known to be no manifests, such as CI workflows.
    pub skipped: usize,
    /// Non-empty YAML or JSON documents read.
    pub documents: usize,
    /// Distinct texts among them.
    pub distinct_documents: usize,
    /// Kubernetes objects, list items counted one by one.
    pub resources: usize,
    /// Clusters seen.
    pub clusters: usize,
    /// Rules loaded.
    pub rules: usize,
    /// Evaluations: a rule on a resource in its context, whether computed or shared.
    pub evaluations: usize,
    /// The evaluations by rule id; a loaded rule that is missing here matched nothing.
    pub evaluations_by_rule: BTreeMap<Arc<str>, usize>,
    /// What stands behind `seen_through`, `unrendered`, `excluded` and `skipped`: one entry a
    /// reason, sorted.
    pub unjudged: Vec<Unjudged>,
}

/// Why some files were not judged as they stand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unjudged {
    /// Which count they are in.
    pub class: UnjudgedClass,
    /// The reason as shown to people, such as "kustomization `apps/web/prod`", "pattern
    /// `legacy/**` until 2027-01-31: moved by March (@platform)", "CI workflow".
    pub what: Arc<str>,
    /// How many files.
    pub files: usize,
}

/// The counts of [`Counts`] that are about files not judged as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnjudgedClass {
    /// Judged through the output of what renders them.
    SeenThrough,
    /// No rendered output was found.
    Unrendered,
    /// Kept out by `exclude`.
    Excluded,
    /// Known to be no manifests.
    Skipped,
}

/// What a report says about each rule that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Rule id.
    pub id: Arc<str>,
    /// Title of its metadata.
    pub title: Arc<str>,
    /// Level before overrides.
    pub level: Level,
    /// What it is for, one paragraph.
    pub description: Arc<str>,
    /// Where to read more, if the rule says so.
    pub url: Option<Arc<str>>,
}

/// A rule that could not be evaluated here, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnevaluatedRule {
    /// Rule id.
    pub id: Arc<str>,
    /// Why, such as "needs `fleet`: no fleet file".
    pub reason: Arc<str>,
}

/// What the run comes to. Precedence: could not judge, denied, nothing to judge, passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing denied: exit 0.
    Pass,
    /// Denied: exit 1.
    Deny,
    /// Could not judge: exit 2.
    Error,
    /// Nothing to judge: exit 3.
    Nothing,
}

impl Verdict {
    /// The exit status of a command that ends with this verdict.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Deny => 1,
            Self::Error => 2,
            Self::Nothing => 3,
        }
    }

    /// The word used in machine-readable reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Deny => "deny",
            Self::Error => "error",
            Self::Nothing => "nothing",
        }
    }
}

/// What a change did, where a run compared the state after it with the state before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The tip of the target branch, as shown to people.
    pub base: String,
    /// The head of the change, as shown to people.
    pub head: String,
    /// Paths that differ.
    pub paths: usize,
    /// Objects in the files that differ, before or after, each identity once.
    pub resources: usize,
    /// Those of them that are not the same before and after.
    pub changed_resources: usize,
    /// Findings that counted before and are gone.
    pub fixed: usize,
    /// Findings that were there before and are no worse.
    pub unchanged: usize,
    /// Problems that were there before, in files that the change leaves alone.
    pub unchanged_problems: usize,
    /// Rules about clusters and budgets that ask about nothing that the change touches.
    pub unconcerned: usize,
    /// Whether unchanged findings are shown.
    pub show_unchanged: bool,
}

/// The result of a run. Findings and problems are sorted.
#[derive(Debug, Clone)]
pub struct Report {
    /// All findings, also accepted and waived ones.
    pub findings: Vec<Finding>,
    /// What could not be judged and counts.
    pub problems: Vec<Problem>,
    /// Problems that the baseline accepts.
    pub accepted_problems: usize,
    /// Rules that were loaded.
    pub rules: Vec<RuleInfo>,
    /// Rules that could not be evaluated here.
    pub unevaluated: Vec<UnevaluatedRule>,
    /// Remarks for the reader that change no verdict, one sentence each.
    pub notes: Vec<String>,
    /// What was counted.
    pub counts: Counts,
    /// What the change did, if one was judged.
    pub comparison: Option<Comparison>,
    /// The lowest level that makes the verdict a denial.
    pub fail_on: Level,
}

impl Report {
    /// Whether nothing was judged. A change that was read whole and touches nothing that is judged is
    /// no such case: it was judged to be harmless.
    fn is_idle(&self) -> bool {
        match &self.comparison {
            None => self.counts.resources == 0 || self.unevaluated.len() >= self.counts.rules,
            Some(comparison) => {
                let judging = self.counts.rules.saturating_sub(self.unevaluated.len());
                judging + comparison.unconcerned == 0
            }
        }
    }

    /// The verdict. Exit status and every format follow it. Without a rule that could be evaluated,
    /// nothing has passed.
    pub fn verdict(&self) -> Verdict {
        let denied = self.findings.iter().any(|f| f.standing.counts() && f.level >= self.fail_on);
        if !self.problems.is_empty() {
            Verdict::Error
        } else if denied {
            Verdict::Deny
        } else if self.is_idle() {
            Verdict::Nothing
        } else {
            Verdict::Pass
        }
    }
}
