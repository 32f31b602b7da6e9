//! The steps that several commands share: configuration, policies, files, verdict.

use std::io::Read as _;
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::progress::Progress;
use super::settings::rule_globs;
use super::{args, counts};
use crate::accelerators::Registry;
use crate::engine::{self, About, Baseline, Before};
use crate::error::Error;
use crate::fleet::file::Style;
use crate::fleet::{self, Discovery, ExcludedDeployed, Loaded, Loose, PolicySource};
use crate::manifest::corpus::{self, Corpus};
use crate::model::{Face, Finding, Level, Problem, Report, Route, Span};
use crate::policy::{self, Convention, Files, Isolation, Limits, LoadOptions, PolicySet, Rule, Source};

/// The configuration and the policies in effect.
#[derive(Debug, Default)]
pub(super) struct Rulebook {
    pub(super) fleet: Option<Loaded>,
    pub(super) policies: PolicySet,
    select: Vec<globset::GlobMatcher>,
    ignore: Vec<globset::GlobMatcher>,
}

impl Rulebook {
    /// Of the fleet that the command line names, or to which `paths` belong.
    pub(super) fn load(args: &args::Rulebook, paths: &[Utf8PathBuf]) -> Result<Self, Error> {
        let fleet = load_fleet(args, paths)?;
        let policies = load_policies(args, fleet.as_ref())?;
        if let Some(fleet) = &fleet {
            let problems = engine::check_rule_patterns(&fleet.fleet, &policies);
            if !problems.is_empty() {
                return Err(Error::Problems(problems));
            }
        }
        let rulebook = Self {
            fleet,
            policies,
            select: rule_globs("--select", &args.select)?,
            ignore: rule_globs("--ignore", &args.ignore)?,
        };
        rulebook.check_selection(args)?;
        Ok(rulebook)
    }

    /// The rules that `--select` and `--ignore` leave.
    pub(super) fn selected(&self) -> Vec<&Rule> {
        let chosen = |rule: &&Rule| {
            (self.select.is_empty() || self.select.iter().any(|glob| glob.is_match(&*rule.id)))
                && !self.ignore.iter().any(|glob| glob.is_match(&*rule.id))
        };
        self.policies.rules.iter().filter(chosen).collect()
    }

    /// Whether a rule about the fleet as a whole is required, so that it cannot be left out.
    pub(super) fn requires_all(&self) -> bool {
        let required = self.fleet.as_ref().map(|loaded| loaded.fleet.required.as_slice()).unwrap_or_default();
        let about_all = |rule: &Rule| rule.target == policy::Target::Fleet && required.contains(&rule.id);
        self.policies.rules.iter().any(about_all)
    }

    /// A pattern that matches no rule is a misspelling, which would quietly select nothing.
    fn check_selection(&self, args: &args::Rulebook) -> Result<(), Error> {
        let mut problems = Vec::new();
        let options = [("--select", &args.select, &self.select), ("--ignore", &args.ignore, &self.ignore)];
        for (option, patterns, globs) in options {
            for (pattern, glob) in patterns.iter().zip(globs) {
                if !self.policies.rules.iter().any(|rule| glob.is_match(&*rule.id)) {
                    problems.push(
                        Problem::new("unknown-rule", format!("`{option} {pattern}` matches no rule"))
                            .help("`fleetgate rules` lists the rules that are loaded"),
                    );
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Problems(problems)) }
    }
}

/// The fleet file named on the command line, or the one to which `paths` belong; none with
/// `--no-config`.
pub(super) fn load_fleet(args: &args::Rulebook, paths: &[Utf8PathBuf]) -> Result<Option<Loaded>, Error> {
    let file = match &args.config {
        Some(file) => Some(file.clone()),
        None if args.no_config => None,
        None => fleet::find_config_of(paths)?,
    };
    file.map(|file| fleet::load(&file)).transpose()
}

pub(super) fn load_policies(args: &args::Rulebook, fleet: Option<&Loaded>) -> Result<PolicySet, Error> {
    let locate = fleet.map(|fleet| move |route: &Route| fleet.locate_parameter(route));
    let options = LoadOptions {
        parameters: fleet.map(|fleet| fleet.params.clone()).unwrap_or_default(),
        locate: locate.as_ref().map(|locate| locate as _),
        fleet: fleet.map(|fleet| fleet.fleet.data.clone()),
    };
    policy::load(&sources(args, fleet)?, &options).map_err(Error::Problems)
}

/// Where policies come from: the program, the fleet file, the command line.
pub(super) fn sources(args: &args::Rulebook, fleet: Option<&Loaded>) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    if !args.no_shipped_policies {
        sources.push(Source::Shipped);
    }
    for source in fleet.map(|fleet| fleet.policies.as_slice()).unwrap_or_default() {
        sources.push(from_fleet(source)?);
    }
    if !args.policy.is_empty() {
        let convention = if args.namespace.is_empty() {
            Convention::Native
        } else {
            let namespaces = args.namespace.iter().map(|name| name.as_str().into()).collect();
            Convention::Conftest { namespaces }
        };
        let (policies, data) = (args.policy.clone(), args.data.clone());
        sources.push(Source::Files(Files { convention, policies, data }));
    }
    Ok(sources)
}

/// A policy source of the fleet file, as the loader takes it.
fn from_fleet(source: &PolicySource) -> Result<Source, Error> {
    if let Some(bundle) = &source.bundle {
        let span = Span { offset: 0, length: 0, line: source.line, column: 1 };
        return Err(Problem::new(
            "bundle",
            format!("the policy bundle `{bundle}` cannot be read by this version"),
        )
        .help("unpack it and name its directory with `paths`")
        .in_file((*source.file).clone())
        .at(span)
        .into());
    }
    let convention = match source.style {
        Style::Native => Convention::Native,
        Style::Conftest => {
            let namespaces = source.namespaces.iter().map(|name| name.as_str().into()).collect();
            Convention::Conftest { namespaces }
        }
    };
    Ok(Source::Files(Files { convention, policies: source.paths.clone(), data: source.data.clone() }))
}

/// What a run judges, read.
#[derive(Debug)]
pub(super) struct Subjects {
    corpus: Corpus,
    discovery: Discovery,
}

impl Subjects {
    /// Whether the whole fleet was read and no rule left out, so that something that nothing uses
    /// is of no use.
    fn complete(&self, rulebook: &Rulebook) -> bool {
        self.discovery.whole_fleet && rulebook.select.is_empty() && rulebook.ignore.is_empty()
    }

    /// Whether all that the clusters of the fleet get was read.
    pub(super) fn has_whole_clusters(&self) -> bool {
        self.discovery.whole_fleet && self.discovery.unrendered.is_empty()
    }

    /// Refuses to go on with a part: what is not looked at would count as mended.
    pub(super) fn must_be_complete(&self, rulebook: &Rulebook, command: &str) -> Result<(), Error> {
        if self.complete(rulebook) {
            return Ok(());
        }
        Err(Problem::new("usage", format!("`fleetgate {command}` works on the whole fleet with all rules"))
            .help("leave out paths, `--select` and `--ignore`: what is not looked at would count as mended")
            .into())
    }

    /// Finds and reads what is to be judged.
    pub(super) fn read(
        args: &args::Subjects,
        fleet: Option<&Loaded>,
        now: jiff::Timestamp,
        progress: &Progress,
    ) -> Result<Self, Error> {
        progress.step("looking for manifests");
        let loose = Loose {
            cluster: args.cluster.clone(),
            environment: args.environment.clone(),
            stdin: standard_input(args)?,
            stdin_name: args.stdin_filename.clone(),
            part: false,
        };
        let today = now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
        let discovery = fleet::discover(fleet, &args.paths, &loose, today);
        progress.step(format!("reading {} files", discovery.files.len()));
        let corpus = corpus::read(discovery.files.clone(), &corpus::Limits::default());
        Ok(Self { corpus, discovery })
    }

    /// What was found and read elsewhere.
    pub(super) const fn new(corpus: Corpus, discovery: Discovery) -> Self {
        Self { corpus, discovery }
    }

    /// The manifests.
    pub(super) const fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// What could not be found or read.
    pub(super) fn problems(&self) -> Vec<Problem> {
        self.discovery.problems.iter().chain(&self.corpus.problems).cloned().collect()
    }
}

/// Standard input, if it is among the subjects, up to the largest size that a file may have.
fn standard_input(args: &args::Subjects) -> Result<Option<Arc<[u8]>>, Error> {
    if !args.paths.iter().any(|path| path == "-") {
        return Ok(None);
    }
    let most = corpus::Limits::default().file_bytes;
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Problem::new("unreadable", format!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(Problem::new("too-large", format!("standard input holds more than {most} bytes"))
            .help("write it to several files")
            .into());
    }
    Ok(Some(bytes.into()))
}

/// The choices of one judgement.
#[derive(Debug)]
pub(super) struct Judgement<'a> {
    pub(super) baseline: &'a Baseline,
    pub(super) now: jiff::Timestamp,
    pub(super) fail_on: Level,
    pub(super) share: bool,
    pub(super) isolation: Isolation,
    /// What budgets held before the change, if one is judged.
    pub(super) before: Option<&'a Before>,
    /// Findings about the change's own edits of the fleet file.
    pub(super) edits: &'a [Finding],
}

/// What the engine is asked; `configuration` are findings about the fleet file.
pub(super) fn request<'a>(
    subjects: &'a Subjects,
    rulebook: &'a Rulebook,
    judgement: &'a Judgement<'_>,
    configuration: &'a [Finding],
) -> engine::Request<'a> {
    engine::Request {
        corpus: &subjects.corpus,
        fleet: rulebook.fleet.as_ref().map(|loaded| &loaded.fleet),
        registry: rulebook.fleet.as_ref().map_or(Registry::builtin(), |loaded| &loaded.registry),
        policies: &rulebook.policies,
        baseline: judgement.baseline,
        face: Face::Ci,
        now: judgement.now,
        select: &rulebook.select,
        ignore: &rulebook.ignore,
        share: judgement.share,
        whole: subjects.discovery.whole_fleet,
        unrendered: subjects.discovery.unrendered.len(),
        complete: subjects.complete(rulebook),
        limits: Limits { now_ns: i64::try_from(judgement.now.as_nanosecond()).ok(), ..Limits::default() },
        isolation: &judgement.isolation,
        discovered: &subjects.discovery.problems,
        configuration,
        before: judgement.before,
        fail_on: judgement.fail_on,
    }
}

pub(super) fn judge(
    subjects: &Subjects,
    rulebook: &Rulebook,
    judgement: &Judgement<'_>,
    progress: &Progress,
) -> Report {
    progress.step(format!("evaluating {} resources", subjects.corpus.resource_count));
    let excluded = subjects.discovery.excluded_deployed.iter().map(excluded_deployed);
    let configuration: Vec<Finding> = excluded.chain(judgement.edits.iter().cloned()).collect();
    let mut report = engine::judge(&request(subjects, rulebook, judgement, &configuration));
    counts::fill(&mut report.counts, &subjects.corpus, &subjects.discovery);
    report.notes.extend(subjects.discovery.notes.iter().cloned());
    report.notes.extend(rulebook.fleet.iter().flat_map(|fleet| fleet.notes.iter().cloned()));
    report.notes.sort();
    report
}

fn excluded_deployed(excluded: &ExcludedDeployed) -> Finding {
    let cluster = excluded.context.cluster.as_ref().map_or("no known cluster", |cluster| &*cluster.name);
    About {
        rule: "fleet/excluded-deployed",
        level: Level::Deny,
        file: &excluded.exclusion.file,
        line: excluded.exclusion.line,
        entry: ("Exclusion", &format!("{} {}", excluded.exclusion.pattern, excluded.file)),
        message: format!("`{}` is excluded, but cluster {cluster} runs it", excluded.file),
        remediation: "narrow the pattern, or waive the findings in that file one by one",
    }
    .finding()
}
