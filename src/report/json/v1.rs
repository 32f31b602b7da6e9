//! Version 1 of the format: what its schema is made from. A field may be added in the same version;
//! none changes its meaning or goes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Level, Value};

/// A report of Fleetgate.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Fleetgate report", rename = "Report")]
pub(super) struct Document<'a> {
    /// Version of this format.
    pub(super) version: u8,
    /// Version of Fleetgate.
    pub(super) fleetgate: &'static str,
    /// `pass` (exit 0), `deny` (1), `error`: could not judge (2), `nothing` to judge (3).
    pub(super) verdict: VerdictWord,
    /// The lowest level that makes the verdict a denial.
    pub(super) fail_on: Level,
    /// Totals.
    pub(super) summary: Summary,
    /// What was counted on the way.
    pub(super) counts: CountsOut<'a>,
    /// What the change did, if `--base` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) change: Option<ChangeOut<'a>>,
    /// Findings that count or are waived, worst first; those that differ only in cluster and place
    /// are one.
    pub(super) findings: Vec<FindingOut<'a>>,
    /// What could not be judged.
    pub(super) problems: Vec<ProblemOut<'a>>,
    /// Rules that could not be evaluated here.
    pub(super) unevaluated: Vec<UnevaluatedOut<'a>>,
    /// Rules that were loaded.
    pub(super) rules: Vec<RuleOut<'a>>,
    /// Remarks.
    pub(super) notes: &'a [String],
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Verdict")]
pub(super) enum VerdictWord {
    Pass,
    Deny,
    Error,
    Nothing,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary {
    /// Entries of `findings` that count and have level `deny`.
    pub(super) deny: usize,
    /// … `warn`.
    pub(super) warn: usize,
    /// … `info`.
    pub(super) info: usize,
    /// Problems.
    pub(super) errors: usize,
    /// Findings that a waiver covers.
    pub(super) waived: usize,
    /// Findings that the baseline accepts; not in `findings`.
    pub(super) accepted: usize,
    /// Problems that the baseline accepts; not in `problems`.
    pub(super) accepted_errors: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Change")]
pub(super) struct ChangeOut<'a> {
    /// The tip of the target branch.
    pub(super) base: &'a str,
    /// The head of the change.
    pub(super) head: &'a str,
    /// Paths that differ between the base and the merged state.
    pub(super) paths: usize,
    /// Objects in the files that differ.
    pub(super) resources: usize,
    /// Those that are not the same before and after.
    pub(super) changed_resources: usize,
    /// Findings that were not there before, each place counted.
    pub(super) new: usize,
    /// Findings that were there before in a lesser degree.
    pub(super) worse: usize,
    /// Findings that are gone.
    pub(super) fixed: usize,
    /// Findings that were there before and are no worse; in `findings` with `--all` only.
    pub(super) unchanged: usize,
    /// Problems that were there before, in files that the change leaves alone; not in `problems`.
    pub(super) unchanged_errors: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Counts")]
pub(super) struct CountsOut<'a> {
    pub(super) files: usize,
    pub(super) judged_files: usize,
    pub(super) seen_through: usize,
    pub(super) unrendered: usize,
    pub(super) excluded: usize,
    pub(super) skipped: usize,
    pub(super) documents: usize,
    pub(super) distinct_documents: usize,
    pub(super) resources: usize,
    pub(super) clusters: usize,
    pub(super) rules: usize,
    pub(super) evaluations: usize,
    /// Files that were not judged as they stand, by reason.
    pub(super) unjudged: Vec<UnjudgedOut<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unjudged")]
pub(super) struct UnjudgedOut<'a> {
    /// `seenThrough`, `unrendered`, `excluded` or `skipped`: the count that they are in.
    pub(super) class: &'static str,
    pub(super) what: &'a str,
    pub(super) files: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Finding")]
pub(super) struct FindingOut<'a> {
    pub(super) rule: &'a str,
    pub(super) level: Level,
    pub(super) standing: StandingWord,
    /// If waived: why, and who answers for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waiver: Option<WaiverOut<'a>>,
    pub(super) message: &'a str,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remediation: Option<&'a str>,
    /// Facts that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub(super) details: Option<&'a Value>,
    /// The object; none for findings about a cluster, the fleet or the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) object: Option<ObjectOut<'a>>,
    /// The object in which `route` leads, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<ObjectOut<'a>>,
    /// The place inside the object: keys and indexes; empty for the object as a whole.
    pub(super) route: Vec<StepOut<'a>>,
    /// The same as text, such as `spec.containers[0].image`.
    pub(super) route_text: String,
    /// Where it stands, sorted; never empty.
    pub(super) places: Vec<PlaceOut<'a>>,
    /// Unique in the report; the same as long as rule, object, route and cluster are.
    pub(super) fingerprint: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Standing")]
pub(super) enum StandingWord {
    /// Not seen before.
    New,
    /// In the baseline or there before the change, but its level or value has risen.
    Worse,
    /// There before the change, and no worse: does not count. Listed with `--all`.
    Unchanged,
    /// Covered by a waiver: does not count.
    Waived,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Waiver")]
pub(super) struct WaiverOut<'a> {
    pub(super) reason: &'a str,
    pub(super) owner: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Object")]
pub(super) struct ObjectOut<'a> {
    /// Empty for the core group.
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<&'a str>,
    pub(super) name: &'a str,
    /// Whether `name` is the start of a name that the API server makes (`generateName`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) generated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Step")]
pub(super) enum StepOut<'a> {
    Key(&'a str),
    Index(usize),
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub(super) struct PlaceOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) environment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<&'a str>,
    /// Position of the document in the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) document: Option<usize>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct ProblemOut<'a> {
    /// Kind of problem, such as `duplicate-key`.
    pub(super) code: &'a str,
    pub(super) message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) document: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    /// Further places in the same file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related: Vec<RelatedOut<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Related")]
pub(super) struct RelatedOut<'a> {
    pub(super) message: &'a str,
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unevaluated")]
pub(super) struct UnevaluatedOut<'a> {
    pub(super) rule: &'a str,
    pub(super) reason: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
pub(super) struct RuleOut<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    /// Before overrides.
    pub(super) level: Level,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<&'a str>,
    /// How often it was evaluated; none if that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evaluations: Option<usize>,
}
