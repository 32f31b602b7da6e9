//! `fleetgate rules`

use std::fmt::Write as _;

use serde::Serialize;

use crate::cli::args::{ListFormat, Rules};
use crate::cli::pipeline::Rulebook;
use crate::cli::term::Term;
use crate::error::Error;
use crate::model::Level;
use crate::policy::Rule;

/// One rule, as `-o json` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    level: Level,
    title: &'a str,
    description: &'a str,
    target: &'static str,
    kinds: Vec<&'a str>,
    environments: Vec<&'a str>,
    needs: Vec<&'static str>,
    file: &'a str,
}

pub(in crate::cli) fn run(args: &Rules, term: &Term) -> Result<u8, Error> {
    let rulebook = Rulebook::load(&args.rulebook, &[])?;
    let rows: Vec<Row<'_>> = rulebook.selected().into_iter().map(row).collect();
    match args.output {
        ListFormat::Json => {
            let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
            term.out(format!("{text}\n").as_bytes())?;
        }
        ListFormat::Text => term.out(listing(&rows).as_bytes())?,
    }
    Ok(if rows.is_empty() { 3 } else { 0 })
}

fn listing(rows: &[Row<'_>]) -> String {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{:width$}  {:4}  {}", row.id, row.level.as_str(), row.title);
        if !row.needs.is_empty() {
            let _ = writeln!(text, "{:width$}        needs {}", "", row.needs.join(", "));
        }
    }
    let _ = writeln!(text, "{} rules; `fleetgate explain RULE` shows one", rows.len());
    text
}

fn row(rule: &Rule) -> Row<'_> {
    Row {
        id: &rule.id,
        level: rule.level,
        title: &rule.title,
        description: &rule.description,
        target: rule.target.as_str(),
        kinds: rule.matches.kinds.iter().map(|kind| &**kind).collect(),
        environments: rule.matches.environments.iter().map(|name| &**name).collect(),
        needs: rule.needs.iter().map(|need| need.as_str()).collect(),
        file: rule.file.as_str(),
    }
}
