//! `fleetgate init`

use camino::Utf8Path;

use super::baseline;
use crate::cli::args::{Init, Rulebook as RulebookArgs, Subjects as SubjectArgs};
use crate::cli::commands::check;
use crate::cli::pipeline::{Judgement, Rulebook, Subjects, judge};
use crate::cli::progress::Progress;
use crate::cli::settings;
use crate::cli::term::Term;
use crate::cli::{baselines, status};
use crate::engine::{Baseline, Terms};
use crate::error::Error;
use crate::fleet;
use crate::model::{Level, Problem};
use crate::policy::Isolation;

pub(in crate::cli) fn run(args: &Init, term: &Term, threads: usize) -> Result<u8, Error> {
    let start = std::time::Instant::now();
    // Paths in the fleet file are relative to it, and people will run the next command there.
    std::env::set_current_dir(&args.path)
        .map_err(|error| Problem::new("unreadable", format!("cannot enter `{}`: {error}", args.path)))?;
    let now = jiff::Timestamp::now();
    let today = now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
    let proposal = fleet::init(Utf8Path::new("."), today)?;
    let file = proposal.file.strip_prefix(".").unwrap_or(&proposal.file).to_owned();
    if file.exists() {
        return Err(Problem::new("config-exists", format!("there is a fleet file already: `{file}`"))
            .help("`fleetgate check` uses it; `fleetgate baseline create` accepts what it finds")
            .into());
    }
    std::fs::write(&file, &proposal.text)
        .map_err(|source| Error::Write { what: file.to_string(), source })?;
    term.say(&format!(
        "wrote {file}: {} environments, {} clusters",
        proposal.environments.len(),
        proposal.clusters.len()
    ));
    for remark in &proposal.remarks {
        term.say(&format!("  {remark}"));
    }
    if args.no_baseline {
        return Ok(0);
    }

    let rulebook = Rulebook::load(&RulebookArgs { config: Some(file), ..RulebookArgs::default() }, &[])?;
    let progress = Progress::new(term.quiet);
    let subjects = Subjects::read(&SubjectArgs::default(), rulebook.fleet.as_ref(), now, &progress)?;
    let nothing_accepted = Baseline::default();
    let judgement = |baseline| Judgement {
        baseline,
        now,
        fail_on: Level::Deny,
        share: true,
        isolation: Isolation::None,
        before: None,
        edits: &[],
    };
    let report = judge(&subjects, &rulebook, &judgement(&nothing_accepted), &progress);
    baseline::accept(&report, &rulebook, &Terms::default(), false, term)?;
    let accepted = baselines::load(&[], rulebook.fleet.as_ref())?;
    let report = judge(&subjects, &rulebook, &judgement(&accepted), &progress);
    drop(progress);
    check::show(&report, &settings::outputs(&[])?, term, Some((start, threads)))?;
    Ok(status(report.verdict(), false))
}
