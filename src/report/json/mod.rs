//! Everything, for machines, in version 1 of the format ([`v1`]). Strings are as they were found: who
//! shows them, cleans them.

mod v1;

use std::io::{self, Write};
use std::sync::Arc;

use schemars::generate::SchemaSettings;

use crate::model::{
    Comparison, Counts, Level, ObjectId, Problem, Report, RuleInfo, Standing, Step, UnjudgedClass,
};

use v1::{
    ChangeOut, CountsOut, Document, FindingOut, ObjectOut, PlaceOut, ProblemOut, RelatedOut, RuleOut,
    StandingWord, StepOut, Summary, UnevaluatedOut, UnjudgedOut, VerdictWord, WaiverOut,
};

use super::{Entry, Resolved, Site, facts, json_text};

/// The JSON schema of the `json` format.
pub fn json_schema() -> schemars::Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Document<'_>>()
}

pub(super) fn render(resolved: &Resolved<'_>, out: &mut dyn Write) -> io::Result<()> {
    json_text::write(&Document::of(resolved), out)
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
            change: report.comparison.as_ref().map(|comparison| ChangeOut::of(comparison, resolved)),
            findings: (resolved.entries.iter().chain(&resolved.unchanged).chain(&resolved.waived))
                .map(FindingOut::of)
                .collect(),
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

impl<'a> ChangeOut<'a> {
    fn of(comparison: &'a Comparison, resolved: &Resolved<'_>) -> Self {
        let (new, worse) = super::summary::standings(resolved);
        Self {
            base: &comparison.base,
            head: &comparison.head,
            paths: comparison.paths,
            resources: comparison.resources,
            changed_resources: comparison.changed_resources,
            new,
            worse,
            fixed: comparison.fixed,
            unchanged: comparison.unchanged,
            unchanged_errors: comparison.unchanged_problems,
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
            Standing::Unchanged => (StandingWord::Unchanged, None),
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
            at: finding.at.as_ref().map(ObjectOut::of),
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
