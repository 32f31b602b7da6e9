//! `fleetgate fleet what-if`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::accelerators::Amount;
use crate::cli::args::{ListFormat, WhatIf};
use crate::cli::pipeline::{Subjects, load_fleet};
use crate::cli::progress::Progress;
use crate::cli::term::Term;
use crate::engine;
use crate::error::Error;
use crate::fleet::cluster_help;
use crate::fleet::what_if::{Applied, Change, Effect, Row, apply, compare};
use crate::model::Problem;

pub(super) fn run(args: &WhatIf, term: &Term) -> Result<u8, Error> {
    let changes = args.set.iter().map(|text| Change::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let Some(loaded) = load_fleet(&args.rulebook(), &[])? else {
        let problem = Problem::new("no-config", "there is no fleet file, which says what clusters have");
        return Err(problem.help("`--config FILE` names one").into());
    };
    let Some(before) = loaded.fleet.clusters.get(args.cluster.as_str()) else {
        let problem = Problem::new("unknown-cluster", format!("the fleet has no cluster `{}`", args.cluster));
        return Err(problem.help(cluster_help(&loaded.fleet, &args.cluster)).into());
    };
    let (after, applied) = apply(before, &changes)?;
    let progress = Progress::new(term.quiet);
    let now = args.now.unwrap_or_else(jiff::Timestamp::now);
    let subjects = Subjects::read(&args.subjects(), Some(&loaded), now, &progress)?;
    progress.step("assessing what is asked for");
    let sites = engine::sites(subjects.corpus(), &loaded.registry, subjects.has_whole_clusters());
    let rows = compare(subjects.corpus(), &sites, &loaded.fleet, before, &after);
    drop(progress);
    let text = match args.output {
        ListFormat::Json => format!("{:#}\n", to_json(&before.name, &applied, &rows)),
        ListFormat::Text => text(&before.name, &applied, &rows),
    };
    term.out(text.as_bytes())?;
    let problems = subjects.problems();
    if !problems.is_empty() {
        // What could not be read may ask for anything.
        return Err(Error::Problems(problems));
    }
    if subjects.corpus().resource_count == 0 && loaded.fleet.budgets.is_empty() {
        return Ok(3);
    }
    Ok(u8::from(rows.iter().any(|row| row.effect() == Effect::Breaks)))
}

const EFFECTS: [(Effect, &str, &str); 5] = [
    (Effect::Breaks, "breaks", "no longer fits"),
    (Effect::Mends, "mends", "fits now"),
    (Effect::Short, "short", "does not fit, and did not before"),
    (Effect::Unknown, "unknown", "cannot be told"),
    (Effect::Fits, "fits", "fits as before"),
];

fn text(cluster: &str, applied: &[Applied], rows: &[Row]) -> String {
    let mut text = String::new();
    for change in applied {
        let kind = change.capacity_type.as_ref().map(|kind| format!(" {kind}")).unwrap_or_default();
        let before = count(change.before);
        let _ = writeln!(text, "{cluster}: {}{kind} nodes {before} → {}", change.family, change.after);
    }
    for (effect, _, heading) in EFFECTS {
        let mut of_effect = rows.iter().filter(|row| row.effect() == effect).peekable();
        if of_effect.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{heading}");
        for row in of_effect {
            let there = if row.before == row.after {
                row.after.to_string()
            } else {
                format!("{} → {}", row.before, row.after)
            };
            let _ = writeln!(text, "  {:8}  {}", row.kind, row.name);
            let place = row.place.as_ref().map(|place| format!("   {place}")).unwrap_or_default();
            let _ = writeln!(text, "            {} needs {} of {there}{place}", row.of, row.needs);
            for reason in reasons(row) {
                let _ = writeln!(text, "            {reason}");
            }
        }
    }
    let breaks = rows.iter().filter(|row| row.effect() == Effect::Breaks).count();
    let verdict = match breaks {
        0 => "nothing breaks".to_owned(),
        1 => "1 no longer fits".to_owned(),
        n => format!("{n} no longer fit"),
    };
    let _ = writeln!(text, "\n{verdict}; {} looked at", rows.len());
    text
}

/// Why something is not known of a row.
fn reasons(row: &Row) -> BTreeSet<&str> {
    let amounts = [&row.needs, &row.before, &row.after].into_iter();
    let reasons = amounts.filter_map(|amount| match amount {
        Amount::Unknown { reasons, .. } => Some(reasons),
        Amount::Known(_) | Amount::Unbounded { .. } => None,
    });
    reasons.flatten().map(|reason| &**reason).collect()
}

fn count(count: Option<u64>) -> String {
    count.map_or_else(|| "?".to_owned(), |count| count.to_string())
}

fn to_json(cluster: &str, applied: &[Applied], rows: &[Row]) -> Value {
    let changes = applied.iter().map(|change| {
        json!({
            "family": &*change.family,
            "capacityType": change.capacity_type.as_deref(),
            "nodes": {"before": change.before, "after": change.after},
        })
    });
    let rows = rows.iter().map(|row| {
        let (before, after) = row.fit();
        let effect = EFFECTS.iter().find(|(effect, ..)| *effect == row.effect()).map(|(_, word, _)| *word);
        json!({
            "effect": effect,
            "kind": row.kind,
            "name": row.name,
            "of": &*row.of,
            "needs": row.needs.to_value(),
            "before": {"there": row.before.to_value(), "fits": before.as_str()},
            "after": {"there": row.after.to_value(), "fits": after.as_str()},
            "place": row.place,
        })
    });
    json!({
        "version": 1,
        "cluster": cluster,
        "changes": changes.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
    })
}
