//! `fleetgate baseline`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::cli::args::{self, Accept, Keep, ListFormat, Stats};
use crate::cli::baselines;
use crate::cli::pipeline::{Judgement, Rulebook, Subjects, judge};
use crate::cli::progress::Progress;
use crate::cli::term::Term;
use crate::engine::{BASELINE_FILE, Baseline, Change, Terms};
use crate::error::Error;
use crate::fleet::Loaded;
use crate::model::{Level, Problem, Report};
use crate::policy::Isolation;

pub(in crate::cli) fn run(command: args::Baseline, term: &Term) -> Result<u8, Error> {
    match command {
        args::Baseline::Create(args) => create(&args, term),
        args::Baseline::Update(args) => update(&args, term),
        args::Baseline::Prune(args) => prune(&args, term),
        args::Baseline::Stats(args) => stats(&args, term),
    }
}

fn create(args: &Accept, term: &Term) -> Result<u8, Error> {
    let rulebook = Rulebook::load(&args.keep.rulebook, &args.keep.subjects.paths)?;
    if let Some(file) = baselines::found(rulebook.fleet.as_ref())?.first() {
        return Err(Problem::new("baseline-exists", format!("there is a baseline already: `{file}`"))
            .help("`fleetgate baseline update` brings it up to date; delete it to start anew")
            .into());
    }
    let report = report(&args.keep, &rulebook, None, term)?;
    accept(&report, &rulebook, &terms(args), args.per_directory, term)
}

/// Accepts everything that a report counts, in new files.
pub(in crate::cli) fn accept(
    report: &Report,
    rulebook: &Rulebook,
    terms: &Terms,
    per_directory: bool,
    term: &Term,
) -> Result<u8, Error> {
    let fleet = rulebook.fleet.as_ref();
    let parts = split(report, fleet, terms, per_directory);
    let written = baselines::write(&parts, fleet)?;
    say(report, &parts, &written, term);
    not_acceptable(report)
}

fn update(args: &Accept, term: &Term) -> Result<u8, Error> {
    let rulebook = Rulebook::load(&args.keep.rulebook, &args.keep.subjects.paths)?;
    let fleet = rulebook.fleet.as_ref();
    let old = existing(fleet)?;
    let report = report(&args.keep, &rulebook, Some("baseline update"), term)?;
    let parts: BTreeMap<_, _> = split(&report, fleet, &terms(args), args.per_directory)
        .into_iter()
        .map(|(directory, now)| (directory, old.changed(&now, Change::Update)))
        .collect();
    let written = baselines::write(&parts, fleet)?;
    say(&report, &parts, &written, term);
    not_acceptable(&report)
}

fn prune(args: &Keep, term: &Term) -> Result<u8, Error> {
    let rulebook = Rulebook::load(&args.rulebook, &args.subjects.paths)?;
    let fleet = rulebook.fleet.as_ref();
    existing(fleet)?;
    let report = report(args, &rulebook, Some("baseline prune"), term)?;
    let now = Baseline::of(&report, fleet.map(|loaded| &loaded.fleet), &Terms::default());
    let mut dropped = 0;
    for file in baselines::found(fleet)? {
        let old = baselines::load(std::slice::from_ref(&file), fleet)?;
        let new = old.changed(&now, Change::Prune);
        dropped += old.findings.len() + old.problems.len() - new.findings.len() - new.problems.len();
        std::fs::write(&file, new.render())
            .map_err(|source| Error::Write { what: file.to_string(), source })?;
    }
    term.say(&format!("dropped {} that no longer occur", count(dropped, "entry", "entries")));
    Ok(0)
}

fn stats(args: &Stats, term: &Term) -> Result<u8, Error> {
    let fleet = crate::cli::pipeline::load_fleet(&args.rulebook, &[])?;
    let baseline = existing(fleet.as_ref())?;
    let mut by_rule: BTreeMap<(&str, &str, Level), usize> = BTreeMap::new();
    for entry in &baseline.findings {
        let owner = entry.owner.as_deref().unwrap_or("-");
        *by_rule.entry((&entry.rule, owner, entry.level)).or_default() += 1;
    }
    let text = match args.output {
        ListFormat::Json => {
            let rows: Vec<_> = by_rule
                .iter()
                .map(|((rule, owner, level), entries)| {
                    serde_json::json!({"rule": rule, "owner": owner, "level": level, "entries": entries})
                })
                .collect();
            format!("{:#}\n", serde_json::json!({"findings": rows, "problems": baseline.problems.len()}))
        }
        ListFormat::Text => {
            let mut text = String::new();
            let width = by_rule.keys().map(|(rule, ..)| rule.len()).max().unwrap_or(0);
            for ((rule, owner, level), entries) in &by_rule {
                let _ = writeln!(text, "{entries:6}  {:4}  {rule:width$}  {owner}", level.as_str());
            }
            let findings = count(baseline.findings.len(), "entry", "entries");
            let problems = count(baseline.problems.len(), "entry", "entries");
            let _ = writeln!(text, "{findings} for findings, {problems} for errors");
            text
        }
    };
    term.out(text.as_bytes())?;
    Ok(0)
}

fn existing(fleet: Option<&Loaded>) -> Result<Baseline, Error> {
    if baselines::found(fleet)?.is_empty() {
        return Err(Problem::new("no-baseline", format!("there is no `{BASELINE_FILE}`"))
            .help("`fleetgate baseline create` writes one")
            .into());
    }
    baselines::load(&[], fleet)
}

/// Judges as if nothing was accepted. A command that is named here drops what does not occur, so it
/// has to see everything.
fn report(args: &Keep, rulebook: &Rulebook, dropping: Option<&str>, term: &Term) -> Result<Report, Error> {
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let progress = Progress::new(term.quiet);
    let subjects = Subjects::read(&args.subjects, rulebook.fleet.as_ref(), now, &progress)?;
    if let Some(command) = dropping {
        subjects.must_be_complete(rulebook, command)?;
    }
    let judgement = Judgement {
        before: None,
        edits: &[],
        baseline: &Baseline::default(),
        now,
        fail_on: Level::Deny,
        share: true,
        isolation: Isolation::None,
    };
    Ok(judge(&subjects, rulebook, &judgement, &progress))
}

fn terms(args: &Accept) -> Terms {
    Terms { owner: args.owner.clone(), reason: args.reason.clone(), expires: args.expires }
}

/// One baseline at the root, or one for each top-level directory in which findings stand.
fn split(
    report: &Report,
    fleet: Option<&Loaded>,
    terms: &Terms,
    per_directory: bool,
) -> BTreeMap<Utf8PathBuf, Baseline> {
    let root = fleet.map(|loaded| loaded.root.clone()).unwrap_or_default();
    let directory = |file: Option<&Utf8PathBuf>| -> Utf8PathBuf {
        let inside = file.map(|file| file.strip_prefix(&root).unwrap_or(file));
        let first = inside.filter(|_| per_directory).and_then(|file| {
            let mut parts = file.components();
            let first = parts.next()?;
            // What a cluster applies is no place for a file of ours.
            let file = Utf8Path::new(first.as_str()).join(BASELINE_FILE);
            let deployed = fleet.is_some_and(|fleet| fleet.rendered.holding(&file).next().is_some());
            parts.next().filter(|_| !deployed).map(|_| first)
        });
        first.map(|first| first.as_str().into()).unwrap_or_default()
    };
    let mut reports: BTreeMap<Utf8PathBuf, Report> = BTreeMap::new();
    let empty = || Report { findings: Vec::new(), problems: Vec::new(), ..report.clone() };
    reports.entry(Utf8PathBuf::new()).or_insert_with(empty);
    for finding in &report.findings {
        let place = directory(finding.place.as_ref().map(|place| &*place.file));
        reports.entry(place).or_insert_with(empty).findings.push(finding.clone());
    }
    for problem in &report.problems {
        let place = directory(problem.file.as_deref());
        reports.entry(place).or_insert_with(empty).problems.push(problem.clone());
    }
    let fleet = fleet.map(|loaded| &loaded.fleet);
    reports.into_iter().map(|(place, report)| (place, Baseline::of(&report, fleet, terms))).collect()
}

fn say(report: &Report, parts: &BTreeMap<Utf8PathBuf, Baseline>, written: &[Utf8PathBuf], term: &Term) {
    let findings = report.findings.iter().filter(|finding| finding.standing.counts()).count();
    let entries: usize = parts.values().map(|part| part.findings.len()).sum();
    let problems: usize = parts.values().flat_map(|part| &part.problems).map(|entry| entry.count).sum();
    for file in written {
        term.say(&format!("wrote {file}"));
    }
    let mut text = format!("accepted {}", count(findings, "finding", "findings"));
    if entries != findings {
        let _ = write!(text, " in {}", count(entries, "entry", "entries"));
    }
    if problems > 0 {
        let _ = write!(text, " and {}", count(problems, "error", "errors"));
    }
    term.say(&text);
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What no baseline can accept, because it is about the rules and not about a file.
fn not_acceptable(report: &Report) -> Result<u8, Error> {
    let left: Vec<Problem> = (report.problems.iter())
        .filter(|problem| problem.file.is_none() || problem.rule.is_some())
        .cloned()
        .collect();
    if left.is_empty() { Ok(0) } else { Err(Error::Problems(left)) }
}
