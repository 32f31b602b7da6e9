//! `fleetgate check --base`: judges what a change makes new or worse, from Git objects.
//!
//! Both states are judged by the same rules, those of the base, and compared by identity. Of each no
//! more is read than the verdict needs: the files that differ; the whole tree, to learn what renders
//! what, if one of them lies outside of the rendered trees; and every manifest, if the change touches
//! something on which other objects depend.

mod config;
mod side;
mod view;

use std::collections::BTreeSet;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};

use self::config::Trusted;
use self::side::{Depth, read};
use self::view::View;
use super::args::Check;
use super::commands::check::{isolation, show};
use super::pipeline::{self, Judgement, Rulebook, judge};
use super::progress::Progress;
use super::settings;
use super::status;
use super::term::Term;
use crate::engine;
use crate::error::Error;
use crate::fleet::git::{Change, Changed, Kind, Repository};
use crate::fleet::{self, Loaded};
use crate::model::{Comparison, Problem, Report, Standing};
use crate::policy::Target;

pub(super) fn run(args: &Check, base: &str, term: &Term, threads: usize) -> Result<u8, Error> {
    let start = Instant::now();
    let mut outputs = settings::outputs(&args.output)?;
    for file in outputs.iter_mut().filter_map(|output| output.file.as_mut()) {
        *file = config::absolute(file)?;
    }
    if !args.subjects.paths.is_empty() {
        return Err(Problem::new("usage", "`--base` judges everything that a change touches")
            .help("leave the paths out, or leave `--base` out to judge them as they are")
            .into());
    }
    let progress = Progress::new(term.quiet);
    progress.step("comparing revisions");
    let repository = Repository::open(Utf8Path::new("."))?;
    let change = repository.change(base, args.head.as_deref().unwrap_or("HEAD"))?;
    let here = repository.inside(Utf8Path::new(".")).unwrap_or_default();
    let mut old = View::new(&repository, change.old)?;
    let mut new = View::new(&repository, change.new)?;
    let paths: BTreeSet<&Utf8Path> = change.changed.iter().map(|changed| changed.path.as_path()).collect();
    let touched = |path: &Utf8Path| paths.contains(path);

    progress.step("loading policies");
    let mut trusted = config::load(args, &here, &repository, &mut old, &mut new, &touched)?;
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let run = Run { args, change: &change, now, progress: &progress };
    let mut report = run.judge(&mut trusted, &mut old, &mut new, &touched)?;
    report.problems.append(&mut trusted.problems);
    report.problems.extend(unjudgeable(&repository, &change, trusted.rulebook.fleet.as_ref())?);
    report.notes.append(&mut trusted.notes);
    report.notes.extend(remarks(&change));
    report.notes.sort();

    progress.step("writing the report");
    // Inside a state of the repository, so that its paths are shown as they are in it.
    let inside = new.enter()?;
    show(&report, &outputs, term, Some((start, threads)))?;
    drop((inside, progress));
    Ok(status(report.verdict(), args.exit_zero))
}

/// How the identities of findings about budgets begin.
const BUDGET: &str = "fleetgate.dev/Budget/";

/// What stays the same while one change is judged.
struct Run<'a> {
    args: &'a Check,
    change: &'a Change,
    now: jiff::Timestamp,
    progress: &'a Progress,
}

impl Run<'_> {
    fn judge(
        &self,
        trusted: &mut Trusted,
        old: &mut View<'_>,
        new: &mut View<'_>,
        touched: &dyn Fn(&Utf8Path) -> bool,
    ) -> Result<Report, Error> {
        let isolation = isolation(self.args.untrusted_policies)?;
        let baseline = std::mem::take(&mut trusted.baseline);
        let old_judgement = Judgement {
            baseline: &baseline,
            now: self.now,
            fail_on: self.args.fail_on.into(),
            share: !self.args.no_dedupe,
            isolation: isolation.clone(),
            before: None,
            edits: &[],
        };
        let mut depth = if self.args.all || trusted.tightens || trusted.rulebook.requires_all() {
            Depth::Everything
        } else {
            side::depth(self.change, trusted, old, new)?
        };
        self.progress.step(format!("reading {} files", self.change.changed.len()));
        let fleet = trusted.rulebook.fleet.as_ref();
        let mut before = read(self, old, fleet, depth, touched)?;
        let mut after = read(self, new, fleet, depth, touched)?;
        let difference = engine::difference(before.corpus(), after.corpus(), touched);
        let asks = {
            let request = pipeline::request(&after, &trusted.rulebook, &old_judgement, &[]);
            [&difference.old, &difference.new].iter().any(|side| engine::asks_about_others(&request, side))
        };
        if asks && depth != Depth::Everything {
            self.progress.step("reading all manifests: the change touches what others share");
            depth = Depth::Everything;
            before = read(self, old, fleet, depth, touched)?;
            after = read(self, new, fleet, depth, touched)?;
        }

        let held = (depth == Depth::Everything)
            .then(|| engine::before(&pipeline::request(&before, &trusted.rulebook, &old_judgement, &[])));
        let past = judge(&before, &trusted.rulebook, &old_judgement, self.progress);
        let edits = std::mem::take(&mut trusted.edits);
        let (mut findings, accepted) = match trusted.tightened.take() {
            None => (Vec::new(), baseline.clone()),
            Some((judged, accepted)) => {
                if let Some(loaded) = &mut trusted.rulebook.fleet {
                    loaded.fleet = judged.fleet;
                }
                (judged.findings, accepted)
            }
        };
        findings.extend(edits);
        let new_judgement = Judgement {
            baseline: &accepted,
            before: held.as_ref(),
            edits: &findings,
            isolation,
            ..old_judgement
        };
        let mut report = judge(&after, &trusted.rulebook, &new_judgement, self.progress);
        let mut comparison = Comparison {
            base: self.change.base.to_string(),
            head: self.change.head.to_string(),
            paths: self.change.changed.len() + self.change.unreadable.len(),
            resources: difference.resources,
            changed_resources: difference.changed,
            show_unchanged: self.args.all,
            ..Comparison::default()
        };
        // What is wrong with the configuration of the base is nothing that the change could mend.
        let manifest = |path: &Utf8Path| touched(path) && !trusted.paths.contains(path);
        engine::compare(&mut report, &past, &manifest, &mut comparison);
        if depth != Depth::Everything {
            comparison.unconcerned = unconcerned(&mut report, &trusted.rulebook);
        }
        let over = report.findings.iter().filter(|finding| {
            finding.standing == Standing::Unchanged && finding.identity.object.starts_with(BUDGET)
        });
        let over = over.map(|finding| format!("before this change already: {}", finding.message));
        report.notes.extend(over.collect::<Vec<_>>());
        report.comparison = Some(comparison);
        Ok(report)
    }
}

/// Rules about the fleet as a whole are not asked if the change touches nothing that they count: takes
/// them from what could not be evaluated.
fn unconcerned(report: &mut Report, rulebook: &Rulebook) -> usize {
    let about_all =
        |id: &str| rulebook.selected().iter().any(|rule| &*rule.id == id && rule.target == Target::Fleet);
    let fleet = rulebook.fleet.is_some();
    let before = report.unevaluated.len();
    report.unevaluated.retain(|rule| !(fleet && about_all(&rule.id)));
    before - report.unevaluated.len()
}

/// What differs and cannot be judged.
fn unjudgeable(
    repository: &Repository,
    change: &Change,
    fleet: Option<&Loaded>,
) -> Result<Vec<Problem>, Error> {
    let mut problems: Vec<Problem> = (change.unreadable.iter())
        .map(|path| {
            Problem::new("path-encoding", format!("the name of `{path}` is not UTF-8, so it was not judged"))
                .help("rename the file")
        })
        .collect();
    for Changed { path, new, .. } in &change.changed {
        let Some(entry) = new else { continue };
        let deployed = holds(fleet, path);
        let inside = deployed || holds(fleet, &path.join("x.yaml"));
        if entry.kind == Kind::Submodule && inside {
            problems.push(
                Problem::new("submodule", format!("`{path}` is a submodule: what is in it was not judged"))
                    .help("commit the rendered manifests themselves")
                    .in_file(path),
            );
        } else if (deployed || fleet::is_structured(path)) && repository.is_lfs_pointer(path, *entry)? {
            problems.push(
                Problem::new("lfs-pointer", format!("`{path}` is kept in Git LFS: only its pointer is here"))
                    .help("keep manifests in Git itself: `git lfs untrack` the pattern and commit the file anew")
                    .in_file(path),
            );
        }
    }
    Ok(problems)
}

/// Whether a path lies in a cluster's rendered tree.
fn holds(fleet: Option<&Loaded>, path: &Utf8Path) -> bool {
    let relative = fleet.and_then(|fleet| Some((fleet, path.strip_prefix(&fleet.root).ok()?)));
    relative.is_some_and(|(fleet, path)| fleet.rendered.holding(path).next().is_some())
}

fn remarks(change: &Change) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(merge) = &change.merge_commit {
        notes.push(format!(
            "{merge} is a merge of {} into the base {}, as CI makes them: approvals bind to {}",
            change.head, change.base, change.head
        ));
    }
    if change.merged_already {
        notes.push(format!("the base {} has all of {} already", change.base, change.head));
    }
    let submodules = change.changed.iter().filter(|changed| {
        [changed.old, changed.new].into_iter().flatten().any(|entry| entry.kind == Kind::Submodule)
    });
    notes.extend(
        submodules.map(|changed| format!("submodule `{}` changes; nothing in it is read", changed.path)),
    );
    notes
}

/// Paths of a change that are read.
fn relevant(change: &Change) -> Vec<Utf8PathBuf> {
    change.changed.iter().map(|changed| changed.path.clone()).collect()
}
