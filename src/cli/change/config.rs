//! The configuration in effect at the base, and what the change does to it.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::view::View;
use crate::cli::pipeline::{Rulebook, load_fleet, load_policies};
use crate::cli::{args, baselines};
use crate::engine::{self, BASELINE_FILE, Baseline};
use crate::error::Error;
use crate::fleet::git::Repository;
use crate::fleet::{self, Loaded};
use crate::model::{Finding, Mode, Override, Problem};

/// The names of a fleet file.
const NAMES: [&str; 2] = ["fleetgate.yaml", "fleetgate.yml"];

/// Sections of the fleet file of which any edit may loosen something.
const GUARDED: [&str; 8] =
    ["approvals", "windows", "gates", "breakGlass", "people", "argocd", "policies", "prometheus"];
/// Sections that say what there is.
const FACTS: [&str; 5] = ["environments", "clusters", "teams", "rendered", "kinds"];

/// What a change is judged by.
#[derive(Debug)]
pub(super) struct Trusted {
    /// As it is at the base, under which the old state is judged.
    pub(super) rulebook: Rulebook,
    pub(super) baseline: Baseline,
    /// With what the change tightens, for the new state.
    pub(super) tightened: Option<(engine::Judged, Baseline)>,
    /// Whether the change tightens something, which all manifests have to stand up to.
    pub(super) tightens: bool,
    /// Findings about edits of the configuration.
    pub(super) edits: Vec<Finding>,
    /// Errors in the configuration that the change proposes.
    pub(super) problems: Vec<Problem>,
    pub(super) notes: Vec<String>,
    /// Paths of configuration, at the base or proposed.
    pub(super) paths: BTreeSet<Utf8PathBuf>,
}

/// The arguments, with paths as they are in the repository, or absolute.
pub(super) fn moved(arguments: &args::Rulebook, repository: &Repository) -> Result<args::Rulebook, Error> {
    let mut moved = arguments.clone();
    if let Some(config) = &arguments.config {
        let inside = repository.inside(config).or_else(|| {
            let bare = repository.workdir().is_none() && config.is_relative();
            bare.then(|| config.clone())
        });
        moved.config = Some(inside.ok_or_else(|| {
            Problem::new("usage", format!("`--config {config}` is outside of the repository"))
                .help("with `--base` the fleet file is read from the base: name one of the repository")
        })?);
    }
    for path in moved.policy.iter_mut().chain(&mut moved.data) {
        *path = anywhere(path, repository)?;
    }
    Ok(moved)
}

/// The path in the repository, from where it is read as it is at the base; another one as it is.
pub(super) fn anywhere(path: &Utf8Path, repository: &Repository) -> Result<Utf8PathBuf, Error> {
    match repository.inside(path) {
        Some(inside) => Ok(inside),
        None => Ok(absolute(path)?),
    }
}

/// The path from the root of the file system.
pub(super) fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, Problem> {
    camino::absolute_utf8(path)
        .map_err(|error| Problem::new("usage", format!("`{path}` cannot be made absolute: {error}")))
}

/// The fleet file of a state: the one that is named, or the nearest above `here`.
fn find(named: Option<&Utf8PathBuf>, here: &Utf8Path, view: &View<'_>) -> Result<Option<Utf8PathBuf>, Error> {
    if let Some(named) = named {
        return Ok(view.has(named).then(|| named.clone()));
    }
    for dir in here.ancestors() {
        match NAMES.map(|name| dir.join(name)).map(|file| view.has(&file).then_some(file)) {
            [Some(first), Some(second)] => {
                return Err(Problem::new("two-fleet-files", format!("`{first}` and `{second}` both exist"))
                    .help("keep one of them")
                    .in_file(second)
                    .into());
            }
            [Some(found), None] | [None, Some(found)] => return Ok(Some(found)),
            [None, None] => {}
        }
    }
    Ok(None)
}

/// Makes the fleet file at `config` readable with everything that it names.
fn export(
    view: &mut View<'_>,
    config: Option<&Utf8PathBuf>,
    arguments: &args::Rulebook,
    baseline: &[Utf8PathBuf],
    paths: &mut BTreeSet<Utf8PathBuf>,
) -> Result<(), Error> {
    let mut wanted: Vec<Utf8PathBuf> = Vec::new();
    for path in arguments.policy.iter().chain(&arguments.data).chain(baseline) {
        wanted.extend(view.below(path));
    }
    if let Some(config) = config {
        let root = config.parent().unwrap_or(Utf8Path::new(""));
        view.export([config.clone()])?;
        let included = {
            let _inside = view.enter()?;
            fleet::included_by(config)
        };
        let below = view.below(root);
        let relative = |path: &Utf8PathBuf| path.strip_prefix(root).map(ToOwned::to_owned).ok();
        wanted.extend(
            below
                .iter()
                .filter(|path| {
                    let relative = relative(path).unwrap_or_default();
                    let baseline =
                        relative.file_name() == Some(BASELINE_FILE) && relative.components().count() <= 2;
                    baseline || included.iter().any(|glob| glob.is_match(&relative))
                })
                .cloned(),
        );
        wanted.push(config.clone());
        view.export(wanted.iter().cloned())?;
        let fleet = {
            let _inside = view.enter()?;
            fleet::load(config)
        };
        // What is wrong with it is said when it is loaded for good.
        for source in fleet.iter().flat_map(|fleet| &fleet.policies) {
            for path in source.paths.iter().chain(&source.data) {
                wanted.extend(view.below(path));
            }
        }
    }
    view.export(wanted.iter().cloned())?;
    paths.extend(wanted);
    Ok(())
}

/// Loads what the base says, and compares it with what the change proposes.
pub(super) fn load(
    arguments: &args::Check,
    here: &Utf8Path,
    repository: &Repository,
    old: &mut View<'_>,
    new: &mut View<'_>,
    changed: &dyn Fn(&Utf8Path) -> bool,
) -> Result<Trusted, Error> {
    let mut rules = moved(&arguments.rulebook, repository)?;
    let named = rules.config.clone();
    let baselines: Vec<Utf8PathBuf> =
        arguments.baseline.iter().map(|path| anywhere(path, repository)).collect::<Result<_, _>>()?;
    let (before, after) = if rules.no_config {
        (None, None)
    } else {
        (find(named.as_ref(), here, old)?, find(named.as_ref(), here, new)?)
    };
    if let (Some(named), None, None) = (&named, &before, &after) {
        return Err(Problem::new(
            "unreadable",
            format!("`{named}` is neither at the base nor in the change"),
        )
        .in_file(named)
        .into());
    }
    let mut paths = BTreeSet::new();
    export(old, before.as_ref(), &rules, &baselines, &mut paths)?;
    export(new, after.as_ref(), &rules, &baselines, &mut paths)?;

    let first = before.is_none() && after.is_some();
    let view: &View<'_> = if first { new } else { old };
    rules.config = if first { after.clone() } else { before.clone() };
    rules.no_config = rules.config.is_none();
    let load_baseline = |fleet: Option<&Loaded>| {
        if arguments.no_baseline { Ok(Baseline::default()) } else { baselines::load(&baselines, fleet) }
    };
    let (mut rulebook, baseline) = {
        let _inside = view.enter()?;
        let rulebook = Rulebook::load(&rules, &[])?;
        let baseline = load_baseline(rulebook.fleet.as_ref())?;
        (rulebook, baseline)
    };
    let mut trusted = Trusted {
        baseline,
        tightened: None,
        tightens: false,
        edits: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
        paths,
        rulebook: Rulebook::default(),
    };
    if first {
        if let Some(loaded) = &mut rulebook.fleet {
            loaded.fleet.overrides.push(warn_only()?);
        }
        trusted.notes.push(
            "THE BASE HAS NO FLEET FILE: this change brings its own, nobody has agreed to it yet, and \
             everything is a warning until it is merged"
                .to_owned(),
        );
    }
    trusted.rulebook = rulebook;
    if first || !trusted.paths.iter().any(|path| changed(path)) {
        return Ok(trusted);
    }
    rules.config.clone_from(&after);
    rules.no_config = after.is_none();
    let _inside = new.enter()?;
    match (load_fleet(&rules, &[]), &before) {
        (Err(Error::Problems(problems)), _) => trusted.problems = problems,
        (Err(other), _) => return Err(other),
        (Ok(None), Some(config)) => {
            let file = Arc::new(config.clone());
            let what = "the change removes the fleet file";
            trusted.edits.push(engine::loosened(("Fleet", "fleet file"), (&file, 1), what, "its owner"));
        }
        (Ok(None), None) => {}
        (Ok(Some(proposed)), _) => {
            let policies = load_policies(&rules, Some(&proposed));
            let baseline = load_baseline(Some(&proposed));
            match (policies, baseline) {
                (Ok(policies), Ok(baseline)) => {
                    compare(&mut trusted, &proposed, &policies, baseline, changed);
                }
                (policies, baseline) => {
                    for error in [policies.err(), baseline.err()].into_iter().flatten() {
                        match error {
                            Error::Problems(problems) => trusted.problems.extend(problems),
                            other @ Error::Write { .. } => return Err(other),
                        }
                    }
                }
            }
        }
    }
    Ok(trusted)
}

fn compare(
    trusted: &mut Trusted,
    proposed: &Loaded,
    policies: &crate::policy::PolicySet,
    mut baseline: Baseline,
    changed: &dyn Fn(&Utf8Path) -> bool,
) {
    let Some(base) = &trusted.rulebook.fleet else { return };
    let file = Arc::new(base.file().to_owned());
    let rules = &trusted.rulebook.policies.rules;
    let mut judged = engine::judged(&base.fleet, &proposed.fleet, rules, &file);
    trusted.tightens = judged.tightens();
    let mut edits = std::mem::take(&mut judged.findings);
    let mut edit = |entry: (&str, &str), what: String| {
        edits.push(engine::loosened(entry, (&file, 1), &what, "the owner of the fleet file"));
    };
    for rule in rules.iter().filter(|rule| !policies.rules.iter().any(|after| after.id == rule.id)) {
        edit(("Rule", &rule.id), format!("the change removes the rule `{}`", rule.id));
    }
    let folders = base.policies.iter().chain(&proposed.policies);
    let folders: Vec<&Utf8PathBuf> = folders.flat_map(|set| set.paths.iter().chain(&set.data)).collect();
    let is_text = |path: &Utf8Path| path.extension() == Some("md") || path.as_str().ends_with("_test.rego");
    for path in trusted.paths.iter().filter(|path| changed(path) && !is_text(path)) {
        if folders.iter().any(|folder| path.starts_with(folder)) {
            edit(("Policy", path.as_str()), format!("the change edits the policies: `{path}`"));
        }
    }
    let rule_ids: BTreeSet<_> = base.params.keys().chain(proposed.params.keys()).collect();
    for rule in rule_ids.into_iter().filter(|rule| base.params.get(*rule) != proposed.params.get(*rule)) {
        edit(("Parameters", rule), format!("the change sets parameters of `{rule}`"));
    }
    let sections = |fleet: &Loaded| serde_json::to_value(fleet.effective().0).unwrap_or_default();
    let (old, new) = (sections(base), sections(proposed));
    for section in GUARDED.iter().filter(|section| old.get(**section) != new.get(**section)) {
        edit(("Section", section), format!("the change edits `{section}`"));
    }
    for section in FACTS.iter().filter(|section| old.get(**section) != new.get(**section)) {
        trusted.notes.push(format!("the change edits `{section}`; it is judged by what the base says there"));
    }
    for cluster in proposed.fleet.clusters.keys().filter(|name| !base.fleet.clusters.contains_key(*name)) {
        trusted.notes.push(format!(
            "cluster `{cluster}` is new in this change: its manifests are judged as of no known cluster"
        ));
    }
    let added = baseline.findings.iter().filter(|entry| !trusted.baseline.findings.contains(entry)).count()
        + baseline.problems.iter().filter(|entry| !trusted.baseline.problems.contains(entry)).count();
    if added > 0 {
        edit(("Baseline", "added"), format!("the change adds {added} entries to the baseline"));
    }
    let kept = |baseline: &Baseline| baseline.findings.len() + baseline.problems.len();
    baseline.findings.retain(|entry| trusted.baseline.findings.contains(entry));
    baseline.problems.retain(|entry| trusted.baseline.problems.contains(entry));
    trusted.tightens |= kept(&baseline) < kept(&trusted.baseline);
    trusted.edits = edits;
    trusted.tightened = Some((judged, baseline));
}

fn warn_only() -> Result<Override, Error> {
    let glob = globset::Glob::new("*")
        .map_err(|error| Problem::new("internal", format!("no glob: {}", error.kind())))?;
    Ok(Override {
        rule: glob.compile_matcher(),
        pattern: "*".into(),
        at: None,
        level: None,
        mode: Some(Mode::Warn),
        environments: Vec::new(),
        clusters: Vec::new(),
        faces: Vec::new(),
    })
}
