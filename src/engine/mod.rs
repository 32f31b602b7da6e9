//! The pure middle: which rule judges which resource, what it says, and what that weighs.
//!
//! It reads no disk, network, environment or clock; everything from outside comes in a [`Request`].
//! The result is the same whatever the number of threads, and whether or not equal work is shared.

mod baseline;
mod budgets;
mod change;
mod config;
mod contexts;
mod evaluate;
mod fit;
mod identity;
mod input;
mod level;
mod levers;
mod loosened;
mod plan;
mod quantities;
mod sites;
mod sums;
mod waivers;

use crate::accelerators::Registry;
use crate::manifest::corpus::Corpus;
use crate::model::{Counts, Face, Finding, Fleet, Level, Problem, Report, RuleInfo};
use crate::policy::{Isolation, Limits, PolicySet};

pub use baseline::{Baseline, Change, FILE_NAME as BASELINE_FILE, Terms};
pub use budgets::{BudgetUse, Contributor, budgets};
pub use change::{Before, Difference, asks_about_others, before, compare, difference};
pub use config::{About, check_rule_patterns};
pub use fit::{ClusterFit, FamilyFit, FitRequest, fit};
pub use input::team as team_of;
pub use loosened::{Judged, judged, loosened};
pub use sites::{Located, Site, sites};

/// Everything that a run is about.
#[derive(Debug)]
pub struct Request<'a> {
    /// Documents read, with the contexts in which they stand.
    pub corpus: &'a Corpus,
    /// The fleet file, if there is one. Without it, rules that need `fleet` are listed as not
    /// evaluated.
    pub fleet: Option<&'a Fleet>,
    /// The kinds that run pods.
    pub registry: &'a Registry,
    /// The rules.
    pub policies: &'a PolicySet,
    /// Accepted findings of earlier days.
    pub baseline: &'a Baseline,
    /// Which face asks.
    pub face: Face,
    /// The instant of the run: expiry dates are compared with it, rules see it as `input.now`.
    pub now: jiff::Timestamp,
    /// Only rules that match one of these globs; empty: all.
    pub select: &'a [globset::GlobMatcher],
    /// Not the rules that match one of these globs.
    pub ignore: &'a [globset::GlobMatcher],
    /// Whether equal documents in equal context are evaluated once. Off gives the same report,
    /// slower.
    pub share: bool,
    /// Whether everything of the fleet was read, so that what is not there does not exist.
    pub whole: bool,
    /// How many sources of manifests have no rendered output here, so that clusters may have more.
    pub unrendered: usize,
    /// Whether that was judged by all rules, so that an unused waiver or baseline entry means
    /// something.
    pub complete: bool,
    /// Bounds on each evaluation.
    pub limits: Limits,
    /// Where policies are evaluated.
    pub isolation: &'a Isolation,
    /// Problems of finding the files, which count like those of reading them.
    pub discovered: &'a [Problem],
    /// Findings about the configuration, which are waived and accepted like any other.
    pub configuration: &'a [Finding],
    /// What budgets held before the change that is judged, in the order of the fleet file.
    pub before: Option<&'a Before>,
    /// What makes the verdict a denial.
    pub fail_on: Level,
}

impl Request<'_> {
    /// Whether all that the clusters get was read.
    fn complete_clusters(&self) -> bool {
        self.whole && self.unrendered == 0
    }
}

/// Judges the corpus. Findings and problems come back sorted; file counts are the caller's to fill.
pub fn judge(request: &Request<'_>) -> Report {
    let plan = plan::Plan::of(request);
    let mut outcome = evaluate::run(request, &plan);

    let mut findings = outcome.findings;
    let mut notes = Vec::new();
    waivers::apply(request, &mut findings, &mut notes);
    findings.extend_from_slice(request.configuration);
    let mut problems = request.corpus.problems.clone();
    problems.extend_from_slice(request.discovered);
    problems.extend(quantities::problems(request, &plan));
    problems.append(&mut outcome.problems);
    problems.extend(plan.problems);
    let accepted_problems = request.baseline.apply(request, &mut findings, &mut problems, &mut notes);
    findings.sort_by(report_order);
    problems.sort_by(|a, b| problem_key(a).cmp(&problem_key(b)));
    problems.dedup();

    Report {
        findings,
        problems,
        accepted_problems,
        rules: request
            .policies
            .rules
            .iter()
            .map(|rule| RuleInfo {
                id: rule.id.clone(),
                title: rule.title.clone(),
                level: rule.level,
                description: rule.description.clone(),
                url: rule.url.clone(),
            })
            .collect(),
        unevaluated: plan.unevaluated,
        notes,
        counts: Counts {
            documents: request.corpus.document_count,
            distinct_documents: request.corpus.documents.len(),
            resources: request.corpus.resource_count,
            clusters: plan.clusters,
            rules: request.policies.rules.len(),
            evaluations: outcome.evaluations.iter().sum(),
            evaluations_by_rule: (request.policies.rules.iter().zip(&outcome.evaluations))
                .filter(|(_, count)| **count > 0)
                .map(|(rule, count)| (rule.id.clone(), *count))
                .collect(),
            ..Counts::default()
        },
        comparison: None,
        fail_on: request.fail_on,
    }
}

fn report_order(a: &Finding, b: &Finding) -> std::cmp::Ordering {
    (b.level.cmp(&a.level))
        .then_with(|| a.place.cmp(&b.place))
        .then_with(|| a.rule.cmp(&b.rule))
        .then_with(|| a.subject.cmp(&b.subject))
        .then_with(|| a.route.cmp(&b.route))
        .then_with(|| a.message.cmp(&b.message))
}

fn problem_key(problem: &Problem) -> impl Ord + '_ {
    (
        problem.file.as_deref(),
        problem.span.map(|span| (span.line, span.column)),
        problem.code,
        problem.rule.as_deref(),
        problem.cluster.as_deref(),
        problem.message.as_str(),
    )
}
