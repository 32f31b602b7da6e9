//! `fleetgate demand`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::accelerators::{Amount, Registry, Three, Totals};
use crate::cli::args::{Demand, ListFormat};
use crate::cli::pipeline::{Subjects, load_fleet};
use crate::cli::progress::Progress;
use crate::cli::term::Term;
use crate::engine::{self, ClusterDemand, WorkloadDemand};
use crate::error::Error;

pub(in crate::cli) fn run(args: &Demand, term: &Term) -> Result<u8, Error> {
    let fleet = load_fleet(&args.rulebook(), &args.subjects.paths)?;
    let progress = Progress::new(term.quiet);
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let subjects = Subjects::read(&args.subjects, fleet.as_ref(), now, &progress)?;
    let registry = fleet.as_ref().map_or(Registry::builtin(), |fleet| &fleet.registry);
    let clusters = engine::demand(subjects.corpus(), registry);
    drop(progress);
    for note in fleet.iter().flat_map(|fleet| &fleet.notes) {
        term.say(&format!("note: {note}"));
    }
    let text = match args.output {
        ListFormat::Json => format!("{:#}\n", json(&clusters)),
        ListFormat::Text => text(&clusters),
    };
    term.out(text.as_bytes())?;
    let problems = subjects.problems();
    if !problems.is_empty() {
        // What could not be read may ask for any number.
        return Err(Error::Problems(problems));
    }
    Ok(if subjects.corpus().resource_count == 0 { 3 } else { 0 })
}

/// Columns of the table, in the order of their headings.
type Row = [String; 5];

fn text(clusters: &[ClusterDemand]) -> String {
    let mut text = String::new();
    for cluster in clusters.iter().filter(|cluster| !cluster.workloads.is_empty()) {
        let name = cluster.cluster.as_deref().unwrap_or("no known cluster");
        let _ = writeln!(text, "{name}");
        let mut rows: Vec<Row> =
            vec![["workload", "resource", "steady", "rollout", "autoscaled"].map(str::to_owned)];
        rows.extend(cluster.workloads.iter().flat_map(workload_rows));
        rows.extend(cluster.totals.iter().map(|(resource, three)| row("total", resource, three)));
        table(&mut text, &rows);
        for workload in &cluster.workloads {
            remarks(&mut text, workload);
        }
        text.push('\n');
    }
    let asking = clusters.iter().filter(|cluster| !cluster.workloads.is_empty()).count();
    let workloads: usize = clusters.iter().map(|cluster| cluster.workloads.len()).sum();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let _ = writeln!(
        text,
        "{workloads} object{} in {asking} of {} cluster{}",
        plural(workloads),
        clusters.len(),
        plural(clusters.len())
    );
    text
}

fn workload_rows(workload: &WorkloadDemand) -> Vec<Row> {
    let name = match &workload.through {
        Some(other) => format!("{} (in {other})", workload.id),
        None => workload.id.to_string(),
    };
    workload.demand.demand.iter().map(|(resource, three)| row(&name, resource, three)).collect()
}

fn row(name: &str, resource: &str, three: &Three) -> Row {
    let amounts = [&three.steady, &three.rollout, &three.autoscaled].map(amount);
    let [steady, rollout, autoscaled] = amounts;
    [name.to_owned(), resource.to_owned(), steady, rollout, autoscaled]
}

/// `8`, `8+ unbounded` or `8+ unknown`: a number that is not known never looks like one.
fn amount(amount: &Amount) -> String {
    match amount {
        Amount::Known(n) => n.to_string(),
        Amount::Unbounded { at_least } => format!("{at_least}+ unbounded"),
        Amount::Unknown { at_least, .. } => format!("{at_least}+ unknown"),
    }
}

fn table(text: &mut String, rows: &[Row]) {
    let mut widths = [0; 5];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            // Names to the left, numbers to the right.
            if column < 2 { format!("  {cell:width$}") } else { format!("  {cell:>width$}") }
        });
        let _ = writeln!(text, "{}", cells.collect::<String>().trim_end());
    }
}

fn remarks(text: &mut String, workload: &WorkloadDemand) {
    let amounts = workload.demand.demand.values().flat_map(|t| [&t.steady, &t.rollout, &t.autoscaled]);
    let inside = amounts.filter_map(|amount| match amount {
        Amount::Unknown { reasons, .. } => Some(reasons),
        Amount::Known(_) | Amount::Unbounded { .. } => None,
    });
    let reasons: BTreeSet<&str> =
        inside.flatten().chain(&workload.demand.unknown).map(|reason| &**reason).collect();
    let notes = workload.demand.notes.iter().map(|note| note.message.as_str());
    for remark in reasons.into_iter().chain(notes) {
        let _ = writeln!(text, "  {}:{} {}: {remark}", workload.place.file, workload.place.line, workload.id);
    }
}

fn json(clusters: &[ClusterDemand]) -> serde_json::Value {
    let workloads = clusters.iter().flat_map(|cluster| {
        cluster.workloads.iter().map(move |workload| {
            serde_json::json!({
                "cluster": cluster.cluster.as_deref(),
                "namespace": workload.id.namespace.as_deref(),
                "apiVersion": workload.id.api_version(),
                "kind": &*workload.id.kind,
                "name": &*workload.id.name,
                "file": workload.place.file.as_str(),
                "line": workload.place.line,
                "demand": rows(&workload.demand.demand),
                "countedThrough": workload.through.as_ref().map(ToString::to_string),
                "unknown": workload.demand.unknown,
                "notes": workload.demand.notes.iter().map(|note| &note.message).collect::<Vec<_>>(),
            })
        })
    });
    let mut sum = Totals::new();
    for (resource, three) in clusters.iter().flat_map(|cluster| &cluster.totals) {
        let entry = sum.entry(resource.clone()).or_insert(Three::ZERO);
        *entry = entry.add(three);
    }
    let by_cluster: Vec<_> = (clusters.iter())
        .map(|cluster| {
            serde_json::json!({"cluster": cluster.cluster.as_deref(), "totals": rows(&cluster.totals)})
        })
        .collect();
    serde_json::json!({
        "version": 1,
        "workloads": workloads.collect::<Vec<_>>(),
        "clusters": by_cluster,
        "totals": rows(&sum),
    })
}

fn rows(totals: &Totals) -> Vec<serde_json::Value> {
    let row = |(resource, three): (&std::sync::Arc<str>, &Three)| {
        serde_json::json!({
            "resource": **resource,
            "steady": three.steady.to_value(),
            "rollout": three.rollout.to_value(),
            "autoscaled": three.autoscaled.to_value(),
        })
    };
    totals.iter().map(row).collect()
}
