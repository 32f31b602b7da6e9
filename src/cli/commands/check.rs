//! `fleetgate check`

use std::time::Instant;

use crate::cli::args::Check;
use crate::cli::baselines;
use crate::cli::change;
use crate::cli::pipeline::{Judgement, Rulebook, Subjects, judge};
use crate::cli::progress::Progress;
use crate::cli::settings::{self, Output};
use crate::cli::status;
use crate::cli::term::Term;
use crate::engine::Baseline;
use crate::error::Error;
use crate::model::{Problem, Report};
use crate::policy::Isolation;
use crate::policy::isolate::Sandbox;
use crate::report;

pub(in crate::cli) fn run(args: &Check, term: &Term, threads: usize) -> Result<u8, Error> {
    if let Some(base) = &args.base {
        return change::run(args, base, term, threads);
    }
    let start = Instant::now();
    let outputs = settings::outputs(&args.output)?;
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let progress = Progress::new(term.quiet);
    progress.step("loading policies");
    let rulebook = Rulebook::load(&args.rulebook, &args.subjects.paths)?;
    let baseline = if args.no_baseline {
        Baseline::default()
    } else {
        baselines::load(&args.baseline, rulebook.fleet.as_ref())?
    };
    let subjects = Subjects::read(&args.subjects, rulebook.fleet.as_ref(), now, &progress)?;
    let judgement = Judgement {
        baseline: &baseline,
        now,
        fail_on: args.fail_on.into(),
        share: !args.no_dedupe,
        before: None,
        edits: &[],
        isolation: isolation(args.untrusted_policies)?,
    };
    let mut report = judge(&subjects, &rulebook, &judgement, &progress);
    if own_rules_in_pull_request(args, &rulebook) {
        report.notes.push(
            "policies, waivers and baseline come from the change itself: nothing here is trusted more \
             than the manifests; `--base` with the target branch takes them from there"
                .to_owned(),
        );
    }
    progress.step("writing the report");
    show(&report, &outputs, term, Some((start, threads)))?;
    drop(progress);
    Ok(status(report.verdict(), args.exit_zero))
}

pub(in crate::cli) fn isolation(untrusted: bool) -> Result<Isolation, Error> {
    if !untrusted {
        return Ok(Isolation::None);
    }
    let sandbox = Sandbox::this_program().map_err(|error| {
        Problem::new("isolation", format!("this program cannot start itself as a child: {error}"))
    })?;
    Ok(Isolation::Sandbox(sandbox))
}

/// Renders a report to every output. The time taken is told on standard output's text only, so that
/// every file has the same bytes for the same input.
pub(in crate::cli) fn show(
    report: &Report,
    outputs: &[Output],
    term: &Term,
    timing: Option<(Instant, usize)>,
) -> Result<(), Error> {
    let resolved = report::resolve(report);
    for output in outputs {
        let mut options = settings::options(output, term);
        if let (None, Some((start, threads))) = (&output.file, timing) {
            options.elapsed = Some(start.elapsed());
            options.threads = Some(threads);
        }
        let mut bytes = Vec::new();
        let what = output.file.as_ref().map_or_else(|| "standard output".to_owned(), ToString::to_string);
        report::render(&resolved, output.format, &options, &mut bytes)
            .map_err(|source| Error::Write { what: what.clone(), source })?;
        match &output.file {
            None => term.out(&bytes)?,
            Some(file) => std::fs::write(file, bytes).map_err(|source| Error::Write { what, source })?,
        }
    }
    Ok(())
}

/// Whether this looks like a job on a pull request that takes its rules from the pull request.
fn own_rules_in_pull_request(args: &Check, rulebook: &Rulebook) -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let pull_request = variable("GITHUB_EVENT_NAME").starts_with("pull_request")
        || ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]
            .iter()
            .any(|name| !variable(name).is_empty());
    pull_request && args.rulebook.config.is_none() && rulebook.fleet.is_some()
}
