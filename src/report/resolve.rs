//! From findings to what a reader is shown: places in files, one entry for what is the same on many
//! clusters, and a fingerprint that survives edits elsewhere. Done once, for all formats.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use rayon::prelude::*;

use crate::manifest::Tree;
use crate::model::{Finding, Report, Route, Span, Standing, Step, Verdict};

/// A report, resolved.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// What was resolved.
    pub report: &'a Report,
    /// The verdict.
    pub verdict: Verdict,
    /// Findings that count, grouped, worst first.
    pub entries: Vec<Entry<'a>>,
    /// Findings that a change left as they were, if they are to be shown, grouped, worst first.
    pub unchanged: Vec<Entry<'a>>,
    /// Findings that a waiver covers, grouped, worst first.
    pub waived: Vec<Entry<'a>>,
    /// Number of findings that the baseline accepts.
    pub accepted: usize,
}

/// Findings that differ only in their cluster and place.
#[derive(Debug)]
pub struct Entry<'a> {
    /// One of them: rule, level, object, message, route, details, remediation and standing are the
    /// same in all.
    pub finding: &'a Finding,
    /// Where they stand, sorted by file, line, column and cluster; never empty.
    pub sites: Vec<Site<'a>>,
    /// 32 hexadecimal digits, unique in the report: a hash of rule, object, route and the cluster if
    /// there is only one; never of file, line or message.
    pub fingerprint: String,
}

/// One finding's cluster and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site<'a> {
    /// The cluster, if known.
    pub cluster: Option<&'a Arc<str>>,
    /// The environment, if known.
    pub environment: Option<&'a Arc<str>>,
    /// The place in a file, if there is one.
    pub position: Option<Position<'a>>,
}

/// A place in a file, and the text to show it with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position<'a> {
    /// Path as shown to people.
    pub file: &'a Arc<Utf8PathBuf>,
    /// Position of the document in the file, from 0.
    pub document: usize,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// The document's text, if it is at hand.
    pub text: Option<&'a Arc<str>>,
    /// The stretch of `text` to point at.
    pub span: Span,
    /// What is not there, if the route leads further than the object goes: its nearest existing
    /// parent is what is pointed at.
    pub missing: Option<Arc<str>>,
}

impl Entry<'_> {
    /// The place to name if only one can be named.
    pub fn position(&self) -> Option<&Position<'_>> {
        self.sites.first().and_then(|site| site.position.as_ref())
    }

    /// The distinct places, each with its clusters.
    pub fn positions(&self) -> Vec<(&Position<'_>, Vec<&Arc<str>>)> {
        let mut positions: Vec<(&Position<'_>, Vec<&Arc<str>>)> = Vec::new();
        for site in &self.sites {
            let Some(position) = &site.position else { continue };
            match positions.last_mut() {
                Some((last, clusters)) if last.key() == position.key() => clusters.extend(site.cluster),
                _ => positions.push((position, site.cluster.into_iter().collect())),
            }
        }
        positions
    }

    /// The clusters, sorted.
    pub fn clusters(&self) -> BTreeSet<&Arc<str>> {
        self.sites.iter().filter_map(|site| site.cluster).collect()
    }

    /// The environment, if there is exactly one; for findings without a cluster.
    pub fn environment(&self) -> Option<&Arc<str>> {
        let environments: BTreeSet<_> = self.sites.iter().filter_map(|site| site.environment).collect();
        if environments.len() == 1 { environments.first().copied() } else { None }
    }
}

impl Position<'_> {
    fn key(&self) -> (&Utf8PathBuf, usize, usize, usize) {
        (self.file, self.line, self.column, self.document)
    }
}

/// Resolves a report. Reads nothing but the report.
pub fn resolve(report: &Report) -> Resolved<'_> {
    let (mut counting, mut waived, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
    let show_unchanged = report.comparison.as_ref().is_some_and(|comparison| comparison.show_unchanged);
    for finding in &report.findings {
        match finding.standing {
            Standing::New | Standing::Worse => counting.push(finding),
            Standing::Waived { .. } => waived.push(finding),
            Standing::Unchanged if show_unchanged => unchanged.push(finding),
            Standing::Unchanged | Standing::Accepted => {}
        }
    }
    let mut seen = BTreeSet::new();
    Resolved {
        report,
        verdict: report.verdict(),
        entries: entries(&counting, &mut seen),
        unchanged: entries(&unchanged, &mut seen),
        waived: entries(&waived, &mut seen),
        accepted: report.findings.iter().filter(|finding| finding.standing == Standing::Accepted).count(),
    }
}

fn entries<'a>(findings: &[&'a Finding], seen: &mut BTreeSet<String>) -> Vec<Entry<'a>> {
    let positions = positions(findings);
    let mut groups: Vec<(&Finding, Vec<Site<'_>>)> = Vec::new();
    let mut by_key = BTreeMap::new();
    for (finding, position) in findings.iter().copied().zip(positions) {
        let site = Site {
            cluster: finding.subject.cluster.as_ref(),
            environment: finding.subject.environment.as_ref(),
            position,
        };
        let group = *by_key.entry(key(finding)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, sites)) => sites.push(site),
            None => groups.push((finding, vec![site])),
        }
    }
    for (_, sites) in &mut groups {
        sites.sort_by(compare_sites);
        sites.dedup();
    }
    groups.sort_by(|(a, at), (b, bt)| {
        let first = |sites: &[Site<'_>], other: &[Site<'_>]| {
            sites.first().zip(other.first()).map_or(Ordering::Equal, |(a, b)| compare_positions(a, b))
        };
        Reverse(a.level)
            .cmp(&Reverse(b.level))
            .then_with(|| first(at, bt))
            .then_with(|| (&a.rule, &a.message, key(a)).cmp(&(&b.rule, &b.message, key(b))))
    });
    groups
        .into_iter()
        .map(|(finding, sites)| Entry { fingerprint: fingerprint(finding, &sites, seen), finding, sites })
        .collect()
}

/// What findings must agree in to be one entry.
fn key(finding: &Finding) -> impl Ord + '_ {
    let standing = match &finding.standing {
        Standing::New => (0, None),
        Standing::Worse => (1, None),
        Standing::Accepted => (2, None),
        Standing::Waived { reason, owner } => (3, Some((reason, owner))),
        Standing::Unchanged => (4, None),
    };
    (
        (&finding.rule, finding.level, standing),
        (&finding.subject.object, &finding.route, &finding.item, &finding.identity.route),
        (&finding.message, &finding.remediation, &finding.details),
    )
}

fn compare_sites(a: &Site<'_>, b: &Site<'_>) -> Ordering {
    compare_positions(a, b).then_with(|| (a.cluster, a.environment).cmp(&(b.cluster, b.environment)))
}

/// By file, line and column; what stands in no file comes first.
fn compare_positions(a: &Site<'_>, b: &Site<'_>) -> Ordering {
    a.position.as_ref().map(Position::key).cmp(&b.position.as_ref().map(Position::key))
}

fn fingerprint(finding: &Finding, sites: &[Site<'_>], seen: &mut BTreeSet<String>) -> String {
    let clusters: BTreeSet<&str> = sites.iter().filter_map(|site| site.cluster.map(AsRef::as_ref)).collect();
    // A finding on many clusters stays the same finding when a cluster is added or mended.
    let cluster = match clusters.first() {
        Some(only) if clusters.len() == 1 => only,
        Some(_) => "*",
        None => "-",
    };
    let mut hasher = blake3::Hasher::new();
    for part in [&finding.identity.rule, cluster, &finding.identity.object, &finding.identity.route] {
        hasher.update(part.as_bytes()).update(b"\0");
    }
    let mut hash = hasher.finalize();
    loop {
        let text: String = hash.to_hex().chars().take(32).collect();
        if seen.insert(text.clone()) {
            return text;
        }
        hash = blake3::hash(hash.as_bytes());
    }
}

/// The position of each finding.
fn positions<'a>(findings: &[&'a Finding]) -> Vec<Option<Position<'a>>> {
    let pointers = pointers(findings);
    let positions = findings.iter().zip(pointers).map(|(finding, pointer)| {
        let place = finding.place.as_ref()?;
        let Pointer { span, missing } = pointer.unwrap_or(START);
        Some(Position {
            file: &place.file,
            document: place.document,
            line: (place.line + span.line).saturating_sub(1),
            column: span.column,
            text: finding.text.as_ref(),
            span,
            missing,
        })
    });
    positions.collect()
}

/// What a finding points at in its document.
#[derive(Debug, Clone)]
struct Pointer {
    span: Span,
    missing: Option<Arc<str>>,
}

/// The start of a document, where nothing better is known.
const START: Pointer = Pointer { span: Span { offset: 0, length: 0, line: 1, column: 1 }, missing: None };

/// The pointer of each finding that has a text. Equal texts are one text in memory, and each is
/// parsed once.
fn pointers(findings: &[&Finding]) -> Vec<Option<Pointer>> {
    let mut texts: BTreeMap<usize, (&str, Vec<usize>)> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        if let Some(text) = &finding.text {
            texts.entry(text.as_ptr().addr()).or_insert_with(|| (text, Vec::new())).1.push(index);
        }
    }
    let texts: Vec<(&str, Vec<usize>)> = texts.into_values().collect();
    let located: Vec<Vec<(usize, Pointer)>> = texts
        .par_iter()
        .map(|(text, indexes)| {
            let tree = Tree::parse(text).ok();
            let pointer = |index: &usize| {
                let finding = findings.get(*index)?;
                Some((*index, tree.as_ref().map_or(START, |tree| locate(tree, text, finding))))
            };
            indexes.iter().filter_map(pointer).collect()
        })
        .collect();
    let mut pointers = vec![None; findings.len()];
    for (index, pointer) in located.into_iter().flatten() {
        if let Some(slot) = pointers.get_mut(index) {
            *slot = Some(pointer);
        }
    }
    pointers
}

/// The value that a finding is about; its key, if the value takes several lines; the key of the
/// nearest parent, if the value is missing; the object's name, if the finding is about all of it.
fn locate(tree: &Tree<'_>, text: &str, finding: &Finding) -> Pointer {
    let (item, whole) = (&finding.item, Route::root());
    let route = item.join(finding.route.as_ref().unwrap_or(&whole));
    if route.0.len() == item.0.len()
        && let Some(span) = tree.value(&item.key("metadata").key("name"))
    {
        return Pointer { span, missing: None };
    }
    let nearest = tree.nearest(&route);
    let missing = route.0.get(nearest.steps).map(|step| match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => format!("[{index}]").into(),
    });
    let end = nearest.span.offset.saturating_add(nearest.span.length);
    let one_line = text.get(nearest.span.offset..end).is_some_and(|value| !value.contains('\n'));
    let span = if missing.is_none() && one_line { nearest.span } else { nearest.head() };
    Pointer { span, missing }
}
