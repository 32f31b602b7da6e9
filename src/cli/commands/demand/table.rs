//! The demand for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::{Families, Family, View, Workload, families};
use crate::accelerators::{Amount, Three};

/// Columns of a table, in the order of their headings; the last one is a bar.
type Row = [String; 6];

/// The longest bar, in characters.
const BAR: u64 = 20;

pub(super) fn render(view: &View<'_>) -> String {
    let mut text = String::new();
    for cluster in view.clusters.iter().filter(|cluster| !cluster.workloads.is_empty()) {
        let _ = writeln!(text, "{}", cluster.name.as_deref().unwrap_or("no known cluster"));
        let totals = cluster.totals();
        let most = totals.values().map(|three| three.autoscaled.at_least()).max().unwrap_or(0);
        let mut rows: Vec<Row> = vec![heading("workload", "resource")];
        rows.extend(cluster.workloads.iter().flat_map(|workload| workload_rows(workload, most)));
        rows.extend(totals.iter().map(|(resource, three)| row("total", resource, three, most)));
        table(&mut text, &rows);
        for workload in &cluster.workloads {
            remarks(&mut text, workload);
        }
        text.push('\n');
    }
    by_family(&mut text, view);
    for (id, place, found) in &view.unaccounted {
        let _ = writeln!(
            text,
            "not counted: {}:{} {id}: `{}` at {}: {}",
            place.file, place.line, found.what, found.path, found.why
        );
    }
    let asking = view.clusters.iter().filter(|cluster| !cluster.workloads.is_empty()).count();
    let workloads = view.workloads().count();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let _ = writeln!(
        text,
        "{workloads} object{} in {asking} of {} cluster{}",
        plural(workloads),
        view.clusters.len(),
        plural(view.clusters.len())
    );
    text
}

/// Families over all clusters, and by team where teams are known.
fn by_family(text: &mut String, view: &View<'_>) {
    let all = families(view.workloads().map(|(_, workload)| workload));
    if all.is_empty() {
        return;
    }
    let mut teams: BTreeMap<Arc<str>, Vec<&Workload<'_>>> = BTreeMap::new();
    for (_, workload) in view.workloads() {
        if let Some(team) = &workload.team {
            teams.entry(team.clone()).or_default().push(workload);
        }
    }
    let most = all.values().map(|three| three.autoscaled.at_least()).max().unwrap_or(0);
    let mut rows: Vec<Row> = vec![heading("team", "family")];
    for (team, workloads) in teams {
        rows.extend(family_rows(&team, &families(workloads), most));
    }
    rows.extend(family_rows("all", &all, most));
    let _ = writeln!(text, "by family, in devices");
    table(text, &rows);
    text.push('\n');
}

fn family_rows(name: &str, families: &Families, most: u64) -> Vec<Row> {
    let row = |((family, capacity_type), three): (&(Family, Option<Arc<str>>), &Three)| {
        let mut family = match family {
            Family::Known(family) => family.to_string(),
            Family::OneOf(families) => format!("one of {}", families.join(", ")),
            Family::Unknown(resource) => format!("unknown ({resource})"),
        };
        family.extend(capacity_type.iter().map(|kind| format!(" {kind}")));
        let [steady, rollout, autoscaled] = figures(three, devices);
        [name.to_owned(), family, steady, rollout, autoscaled, bar(three, most)]
    };
    families.iter().map(row).collect()
}

fn workload_rows(workload: &Workload<'_>, most: u64) -> Vec<Row> {
    let name = match workload.through {
        Some(other) => format!("{} (in {other})", workload.id),
        None => workload.id.to_string(),
    };
    let demand = &workload.assessed.demand.demand;
    demand.iter().map(|(resource, three)| row(&name, resource, three, most)).collect()
}

fn heading(first: &str, second: &str) -> Row {
    [first, second, "steady", "rollout", "autoscaled", ""].map(str::to_owned)
}

fn row(name: &str, resource: &str, three: &Three, most: u64) -> Row {
    let [steady, rollout, autoscaled] = figures(three, |n| n.to_string());
    [name.to_owned(), resource.to_owned(), steady, rollout, autoscaled, bar(three, most)]
}

/// `8`, `8+ unbounded` or `8+ unknown`: a number that is not known never looks like one.
fn figures(three: &Three, show: impl Fn(u64) -> String) -> [String; 3] {
    [&three.steady, &three.rollout, &three.autoscaled].map(|amount| match amount {
        Amount::Known(n) => show(*n),
        Amount::Unbounded { at_least } => format!("{}+ unbounded", show(*at_least)),
        Amount::Unknown { at_least, .. } => format!("{}+ unknown", show(*at_least)),
    })
}

/// Thousandths in devices.
fn devices(thousandths: u64) -> String {
    match (thousandths / 1000, thousandths % 1000) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:03}").trim_end_matches('0').to_owned(),
    }
}

/// `#` for what is steady, `+` for what a rollout adds, `.` for what autoscalers add.
fn bar(three: &Three, most: u64) -> String {
    if most == 0 {
        return String::new();
    }
    let length = |amount: &Amount| {
        let scaled = (u128::from(amount.at_least()) * u128::from(BAR)).div_ceil(u128::from(most));
        usize::try_from(scaled).unwrap_or(usize::MAX)
    };
    let (steady, rollout, autoscaled) =
        (length(&three.steady), length(&three.rollout), length(&three.autoscaled));
    let mut bar = "#".repeat(steady);
    bar.extend(std::iter::repeat_n('+', rollout.saturating_sub(steady)));
    bar.extend(std::iter::repeat_n('.', autoscaled.saturating_sub(rollout.max(steady))));
    bar
}

fn table(text: &mut String, rows: &[Row]) {
    let mut widths = [0; 6];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            // Numbers to the right, all else to the left.
            2..=4 => format!("  {cell:>width$}"),
            _ => format!("  {cell:width$}"),
        });
        let _ = writeln!(text, "{}", cells.collect::<String>().trim_end());
    }
}

fn remarks(text: &mut String, workload: &Workload<'_>) {
    let demand = &workload.assessed.demand;
    let amounts = demand.demand.values().flat_map(|t| [&t.steady, &t.rollout, &t.autoscaled]);
    let inside = amounts.filter_map(|amount| match amount {
        Amount::Unknown { reasons, .. } => Some(reasons),
        Amount::Known(_) | Amount::Unbounded { .. } => None,
    });
    let families = workload.assessed.families.iter().filter_map(|row| row.why.as_ref());
    let reasons: BTreeSet<&str> =
        inside.flatten().chain(&demand.unknown).chain(families).map(|reason| &**reason).collect();
    let notes = demand.notes.iter().map(|note| note.message.as_str());
    for remark in reasons.into_iter().chain(notes) {
        let _ = writeln!(text, "  {}:{} {}: {remark}", workload.place.file, workload.place.line, workload.id);
    }
}
