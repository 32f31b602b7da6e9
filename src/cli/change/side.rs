//! How much of the two states has to be read, and reading it.

use std::collections::BTreeSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::config::Trusted;
use super::view::View;
use super::{Run, holds, relevant};
use crate::cli::pipeline::Subjects;
use crate::error::Error;
use crate::fleet::git::{Change, Kind};
use crate::fleet::{self, Discovery, Loaded, Loose};
use crate::manifest::corpus::{self, Limits};

/// How much of a state is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The files that differ.
    Touched,
    /// Everything, to learn who renders what; only files that differ are judged.
    Graph,
    /// Everything, and all of it is judged.
    Everything,
}

/// Longer chains of links lead nowhere.
const MOST_LINKS: usize = 16;

/// How much has to be read for the files that differ.
pub(super) fn depth(
    change: &Change,
    trusted: &Trusted,
    old: &View<'_>,
    new: &View<'_>,
) -> Result<Depth, Error> {
    let fleet = trusted.rulebook.fleet.as_ref();
    let paths: BTreeSet<&Utf8Path> = change.changed.iter().map(|changed| changed.path.as_path()).collect();
    if leads_to(old, &paths)? || leads_to(new, &paths)? {
        return Ok(Depth::Everything);
    }
    let known =
        |path: &Utf8Path| holds(fleet, path) || trusted.paths.contains(path) || !fleet::is_structured(path);
    Ok(if paths.into_iter().all(known) { Depth::Touched } else { Depth::Graph })
}

/// Whether a link anywhere leads to one of `paths`, or to something above or below one.
fn leads_to(view: &View<'_>, paths: &BTreeSet<&Utf8Path>) -> Result<bool, Error> {
    for (path, entry) in view.listing.entries.iter().filter(|(_, entry)| entry.kind == Kind::Link) {
        let (mut at, mut entry) = (path.clone(), *entry);
        for _ in 0..MOST_LINKS {
            let Some(target) = target(&at, &view.read_link(&at, entry)?) else { break };
            let meets = |path: &&Utf8Path| path.starts_with(&target) || target.starts_with(path);
            if paths.iter().any(meets) {
                return Ok(true);
            }
            match view.listing.entries.get(&target) {
                Some(next) if next.kind == Kind::Link => (at, entry) = (target, *next),
                _ => break,
            }
        }
    }
    Ok(false)
}

/// Where a link leads within the repository.
fn target(link: &Utf8Path, text: &str) -> Option<Utf8PathBuf> {
    let mut at = link.parent()?.to_owned();
    for part in Utf8Path::new(text).components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !at.pop() {
                    return None;
                }
            }
            Utf8Component::Normal(name) => at.push(name),
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(at)
}

/// Finds and reads what is to be judged of one state.
pub(super) fn read(
    run: &Run<'_>,
    view: &mut View<'_>,
    fleet: Option<&Loaded>,
    depth: Depth,
    touched: &dyn Fn(&Utf8Path) -> bool,
) -> Result<Subjects, Error> {
    let wanted: Vec<Utf8PathBuf> = if depth == Depth::Touched {
        relevant(run.change).into_iter().filter(|path| view.has(path)).collect()
    } else {
        let link = |path: &Utf8PathBuf| view.listing.entries.get(path).is_some_and(|e| e.kind == Kind::Link);
        let wanted = |path: &Utf8PathBuf| fleet::is_structured(path) || link(path) || holds(fleet, path);
        view.below(Utf8Path::new("")).into_iter().filter(wanted).collect()
    };
    view.export(wanted)?;
    if let Some(fleet) = fleet {
        view.make_directory(&fleet.root)?;
    }
    let _inside = view.enter()?;
    let arguments = &run.args.subjects;
    let loose = Loose {
        cluster: arguments.cluster.clone(),
        environment: arguments.environment.clone(),
        part: depth == Depth::Touched,
        ..Loose::default()
    };
    let today = run.now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
    let mut discovery = fleet::discover(fleet, &[], &loose, today);
    if depth != Depth::Everything {
        only_touched(&mut discovery, touched);
    }
    let corpus = corpus::read(discovery.files.clone(), &Limits::default());
    Ok(Subjects::new(corpus, discovery))
}

/// Leaves of a discovery what the change touches.
fn only_touched(discovery: &mut Discovery, touched: &dyn Fn(&Utf8Path) -> bool) {
    discovery.files.retain(|file| touched(&file.path));
    discovery.seen_through.retain(|seen| touched(&seen.file));
    discovery.excluded.retain(|excluded| touched(&excluded.file));
    discovery.excluded_deployed.retain(|excluded| touched(&excluded.file));
    discovery.skipped.retain(|skipped| touched(&skipped.file));
    discovery.whole_fleet = false;
}
