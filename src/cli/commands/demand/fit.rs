//! `fleetgate demand --fit`

use std::fmt::Write as _;

use serde_json::json;

use crate::accelerators::{Amount, Fits, Registry};
use crate::cli::args::{self, Demand, ListFormat};
use crate::cli::pipeline::{Subjects, load_fleet};
use crate::cli::progress::Progress;
use crate::cli::term::Term;
use crate::engine::{self, ClusterFit, FamilyFit, FitRequest};
use crate::error::Error;
use crate::fleet::Loaded;
use crate::model::Problem;

pub(super) fn run(args: &Demand, term: &Term) -> Result<u8, Error> {
    let usage = |message: &str, help: &str| Error::from(Problem::new("usage", message).help(help));
    if args.subjects.paths.is_empty() {
        return Err(usage("`--fit` needs the manifests that are to be placed", "name their files"));
    }
    let Some(fleet) = load_fleet(&args.rulebook(), &args.subjects.paths)? else {
        return Err(usage(
            "`--fit` needs a fleet file, which says what the clusters have",
            "write one with `fleetgate init`, or name it with `--config`",
        ));
    };
    let wanted = args.subjects.cluster.clone();
    if let Some(name) = &wanted
        && !fleet.fleet.clusters.contains_key(name.as_str())
    {
        return Err(usage(
            &format!("the fleet has no cluster `{name}`"),
            "`fleetgate config show` lists the clusters",
        ));
    }
    let progress = Progress::new(term.quiet);
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let everything = args::Subjects { paths: Vec::new(), cluster: None, ..args.subjects.clone() };
    let running = Subjects::read(&everything, Some(&fleet), now, &progress)?;
    let loose = args::Subjects { cluster: None, ..args.subjects.clone() };
    let new = Subjects::read(&loose, Some(&fleet), now, &progress)?;
    let mut fits = fits(&fleet, &running, &new, wanted.as_deref());
    drop(progress);
    let mut problems = running.problems();
    problems.extend(new.problems());
    problems.dedup();
    if !problems.is_empty() {
        for fit in &mut fits {
            fit.unknown.insert("what could not be read may ask for any number".to_owned());
            fit.fits = if fit.fits == Fits::Yes { Fits::Unknown } else { fit.fits };
        }
    }
    let text = match args.output {
        ListFormat::Json => format!("{:#}\n", json!({"version": 1, "clusters": rows(&fits)})),
        ListFormat::Text => text(&fits),
    };
    term.out(text.as_bytes())?;
    if !problems.is_empty() {
        return Err(Error::Problems(problems));
    }
    Ok(match (new.corpus().resource_count, fits.iter().any(|fit| fit.fits == Fits::Yes)) {
        (0, _) => 3,
        (_, true) => 0,
        (_, false) => 1,
    })
}

fn fits(fleet: &Loaded, running: &Subjects, new: &Subjects, wanted: Option<&str>) -> Vec<ClusterFit> {
    let registry: &Registry = &fleet.registry;
    let request = FitRequest {
        fleet: &fleet.fleet,
        running: running.corpus(),
        new: new.corpus(),
        registry,
        complete: running.has_whole_clusters(),
    };
    engine::fit(&request, |cluster| wanted.is_none_or(|name| *cluster.name == *name))
}

fn text(fits: &[ClusterFit]) -> String {
    let mut text = String::new();
    for fit in fits {
        let families: Vec<String> = fit.families.iter().map(family).collect();
        let _ = write!(text, "{:<8} {}", fit.fits.as_str(), fit.cluster.name);
        if !families.is_empty() {
            let _ = write!(text, "  {}", families.join(", "));
        }
        text.push('\n');
        for obstacle in &fit.obstacles {
            let _ = writeln!(text, "           {obstacle}");
        }
        for unknown in &fit.unknown {
            let _ = writeln!(text, "           not known: {unknown}");
        }
    }
    let fitting = fits.iter().filter(|fit| fit.fits == Fits::Yes).count();
    let _ = writeln!(text, "fits on {fitting} of {} clusters", fits.len());
    text
}

/// `H100: needs 16, 24 of 64 free`.
fn family(fit: &FamilyFit) -> String {
    let needs = devices(&fit.needs);
    match (fit.has, fit.used.known()) {
        (Some(has), Some(used)) => {
            format!(
                "{}: needs {needs}, {} of {} free",
                fit.family,
                has.saturating_sub(used) / 1000,
                has / 1000
            )
        }
        (Some(has), None) => format!("{}: needs {needs}, of {}", fit.family, has / 1000),
        (None, _) => format!("{}: needs {needs}", fit.family),
    }
}

fn devices(thousandths: &Amount) -> Amount {
    thousandths.div_ceil(&Amount::Known(1000))
}

fn rows(fits: &[ClusterFit]) -> Vec<serde_json::Value> {
    let family = |fit: &FamilyFit| {
        json!({
            "family": &*fit.family,
            "unit": "thousandth",
            "needs": fit.needs.to_value(),
            "used": fit.used.to_value(),
            "has": fit.has,
        })
    };
    let row = |fit: &ClusterFit| {
        json!({
            "cluster": &*fit.cluster.name,
            "fits": fit.fits.as_str(),
            "families": fit.families.iter().map(family).collect::<Vec<_>>(),
            "obstacles": fit.obstacles,
            "unknown": fit.unknown,
        })
    };
    fits.iter().map(row).collect()
}
