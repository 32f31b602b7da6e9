//! Everything, for machines, in version 1 of the format. A field may be added in the same version;
//! none changes its meaning or goes. Strings are as they were found: who shows them, cleans them.

use std::io::{self, Write};
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use crate::model::{
    Counts, Level, ObjectId, Problem, Report, RuleInfo, Standing, Step, UnjudgedClass, Value,
};

use super::{Entry, Resolved, Site, facts, json_text};

/// The JSON schema of the `json` format.
pub fn json_schema() -> schemars::Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Document<'_>>()
}

pub(super) fn render(resolved: &Resolved<'_>, out: &mut dyn Write) -> io::Result<()> {
    json_text::write(&Document::of(resolved), out)
}

/// A report of Fleetgate.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Fleetgate report", rename = "Report")]
struct Document<'a> {
    /// Version of this format.
    version: u8,
    /// Version of Fleetgate.
    fleetgate: &'static str,
    /// `pass` (exit 0), `deny` (1), `error`: could not judge (2), `nothing` to judge (3).
    verdict: VerdictWord,
    /// The lowest level that makes the verdict a denial.
    fail_on: Level,
    /// Totals.
    summary: Summary,
    /// What was counted on the way.
    counts: CountsOut<'a>,
    /// Findings that count or are waived, worst first; those that differ only in cluster and place
    /// are one.
    findings: Vec<FindingOut<'a>>,
    /// What could not be judged.
    problems: Vec<ProblemOut<'a>>,
    /// Rules that could not be evaluated here.
    unevaluated: Vec<UnevaluatedOut<'a>>,
    /// Rules that were loaded.
    rules: Vec<RuleOut<'a>>,
    /// Remarks.
    notes: &'a [String],
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Verdict")]
enum VerdictWord {
    Pass,
    Deny,
    Error,
    Nothing,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// Entries of `findings` that count and have level `deny`.
    deny: usize,
    /// … `warn`.
    warn: usize,
    /// … `info`.
    info: usize,
    /// Problems.
    errors: usize,
    /// Findings that a waiver covers.
    waived: usize,
    /// Findings that the baseline accepts; not in `findings`.
    accepted: usize,
    /// Problems that the baseline accepts; not in `problems`.
    accepted_errors: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Counts")]
struct CountsOut<'a> {
    files: usize,
    judged_files: usize,
    seen_through: usize,
    unrendered: usize,
    excluded: usize,
    skipped: usize,
    documents: usize,
    distinct_documents: usize,
    resources: usize,
    clusters: usize,
    rules: usize,
    evaluations: usize,
    /// Files that were not judged as they stand, by reason.
    unjudged: Vec<UnjudgedOut<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unjudged")]
struct UnjudgedOut<'a> {
    /// `seenThrough`, `unrendered`, `excluded` or `skipped`: the count that they are in.
    class: &'static str,
    what: &'a str,
    files: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Finding")]
struct FindingOut<'a> {
    rule: &'a str,
    level: Level,
    standing: StandingWord,
    /// If waived: why, and who answers for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiver: Option<WaiverOut<'a>>,
    message: &'a str,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    remediation: Option<&'a str>,
    /// Facts that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    details: Option<&'a Value>,
    /// The object; none for findings about a cluster, the fleet or the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectOut<'a>>,
    /// The place inside the object: keys and indexes; empty for the object as a whole.
    route: Vec<StepOut<'a>>,
    /// The same as text, such as `spec.containers[0].image`.
    route_text: String,
    /// Where it stands, sorted; never empty.
    places: Vec<PlaceOut<'a>>,
    /// Unique in the report; the same as long as rule, object, route and cluster are.
    fingerprint: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Standing")]
enum StandingWord {
    /// Not seen before.
    New,
    /// In the baseline, but its level or value has risen.
    Worse,
    /// Covered by a waiver: does not count.
    Waived,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Waiver")]
struct WaiverOut<'a> {
    reason: &'a str,
    owner: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Object")]
struct ObjectOut<'a> {
    /// Empty for the core group.
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    name: &'a str,
    /// Whether `name` is the start of a name that the API server makes (`generateName`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    generated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Step")]
enum StepOut<'a> {
    Key(&'a str),
    Index(usize),
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
struct PlaceOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    /// Position of the document in the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<usize>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
struct ProblemOut<'a> {
    /// Kind of problem, such as `duplicate-key`.
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Further places in the same file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedOut<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Related")]
struct RelatedOut<'a> {
    message: &'a str,
    line: usize,
    column: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unevaluated")]
struct UnevaluatedOut<'a> {
    rule: &'a str,
    reason: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
struct RuleOut<'a> {
    id: &'a str,
    title: &'a str,
    /// Before overrides.
    level: Level,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    /// How often it was evaluated; none if that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<usize>,
}

impl<'a> Document<'a> {
    fn of(resolved: &'a Resolved<'a>) -> Self {
        let report = resolved.report;
        let at = |level| resolved.entries.iter().filter(|entry| entry.finding.level == level).count();
        Self {
            version: 1,
            fleetgate: env!("CARGO_PKG_VERSION"),
            verdict: match resolved.verdict {
                crate::model::Verdict::Pass => VerdictWord::Pass,
                crate::model::Verdict::Deny => VerdictWord::Deny,
                crate::model::Verdict::Error => VerdictWord::Error,
                crate::model::Verdict::Nothing => VerdictWord::Nothing,
            },
            fail_on: report.fail_on,
            summary: Summary {
                deny: at(Level::Deny),
                warn: at(Level::Warn),
                info: at(Level::Info),
                errors: report.problems.len(),
                waived: resolved.waived.iter().map(|entry| entry.sites.len()).sum(),
                accepted: resolved.accepted,
                accepted_errors: report.accepted_problems,
            },
            counts: CountsOut::of(&report.counts),
            findings: resolved.entries.iter().chain(&resolved.waived).map(FindingOut::of).collect(),
            problems: report.problems.iter().map(ProblemOut::of).collect(),
            unevaluated: report
                .unevaluated
                .iter()
                .map(|rule| UnevaluatedOut { rule: &rule.id, reason: &rule.reason })
                .collect(),
            rules: report.rules.iter().map(|rule| RuleOut::of(rule, report)).collect(),
            notes: &report.notes,
        }
    }
}

impl<'a> CountsOut<'a> {
    fn of(counts: &'a Counts) -> Self {
        let class = |class| match class {
            UnjudgedClass::SeenThrough => "seenThrough",
            UnjudgedClass::Unrendered => "unrendered",
            UnjudgedClass::Excluded => "excluded",
            UnjudgedClass::Skipped => "skipped",
        };
        Self {
            files: counts.files,
            judged_files: counts.judged_files,
            seen_through: counts.seen_through,
            unrendered: counts.unrendered,
            excluded: counts.excluded,
            skipped: counts.skipped,
            documents: counts.documents,
            distinct_documents: counts.distinct_documents,
            resources: counts.resources,
            clusters: counts.clusters,
            rules: counts.rules,
            evaluations: counts.evaluations,
            unjudged: counts
                .unjudged
                .iter()
                .map(|unjudged| UnjudgedOut {
                    class: class(unjudged.class),
                    what: &unjudged.what,
                    files: unjudged.files,
                })
                .collect(),
        }
    }
}

impl<'a> FindingOut<'a> {
    fn of(entry: &'a Entry<'a>) -> Self {
        let finding = entry.finding;
        let (standing, waiver) = match &finding.standing {
            // Accepted findings are counted, not resolved.
            Standing::New | Standing::Accepted => (StandingWord::New, None),
            Standing::Worse => (StandingWord::Worse, None),
            Standing::Waived { reason, owner } => (StandingWord::Waived, Some(WaiverOut { reason, owner })),
        };
        Self {
            rule: &finding.rule,
            level: finding.level,
            standing,
            waiver,
            message: &finding.message,
            remediation: finding.remediation.as_deref(),
            details: finding.details.as_ref(),
            object: finding.subject.object.as_ref().map(ObjectOut::of),
            route: finding.route.iter().flat_map(|route| &route.0).map(StepOut::of).collect(),
            route_text: finding.route.as_ref().map(ToString::to_string).unwrap_or_default(),
            places: entry.sites.iter().map(PlaceOut::of).collect(),
            fingerprint: &entry.fingerprint,
        }
    }
}

impl<'a> ObjectOut<'a> {
    fn of(id: &'a ObjectId) -> Self {
        Self {
            group: &id.group,
            version: &id.version,
            kind: &id.kind,
            namespace: id.namespace.as_deref(),
            name: &id.name,
            generated: id.generated,
        }
    }
}

impl<'a> StepOut<'a> {
    fn of(step: &'a Step) -> Self {
        match step {
            Step::Key(key) => Self::Key(key),
            Step::Index(index) => Self::Index(*index),
        }
    }
}

impl<'a> PlaceOut<'a> {
    fn of(site: &'a Site<'a>) -> Self {
        let position = site.position.as_ref();
        Self {
            cluster: site.cluster.map(Arc::as_ref),
            environment: site.environment.map(Arc::as_ref),
            file: position.map(|position| position.file.as_str()),
            document: position.map(|position| position.document),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }
}

impl<'a> ProblemOut<'a> {
    fn of(problem: &'a Problem) -> Self {
        let (line, column) = facts::problem_at(problem);
        Self {
            code: problem.code,
            message: &problem.message,
            help: problem.help.as_deref(),
            rule: problem.rule.as_deref(),
            cluster: problem.cluster.as_deref(),
            file: facts::problem_file(problem).map(camino::Utf8Path::as_str),
            document: problem.place.as_ref().map(|place| place.document),
            line,
            column,
            related: problem
                .related
                .iter()
                .map(|(message, span)| RelatedOut { message, line: span.line, column: span.column })
                .collect(),
        }
    }
}

impl<'a> RuleOut<'a> {
    fn of(rule: &'a RuleInfo, report: &Report) -> Self {
        let by_rule = &report.counts.evaluations_by_rule;
        Self {
            id: &rule.id,
            title: &rule.title,
            level: rule.level,
            description: &rule.description,
            url: rule.url.as_deref(),
            evaluations: (!by_rule.is_empty()).then(|| by_rule.get(&rule.id).copied().unwrap_or(0)),
        }
    }
}
