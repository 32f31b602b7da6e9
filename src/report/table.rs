//! A table as wide as the terminal.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};

use super::{Options, Resolved, clean, facts, summary};

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(if options.unicode {
        presets::UTF8_FULL_CONDENSED
    } else {
        presets::ASCII_FULL_CONDENSED
    });
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(options.width.max(40));
    table.set_header(["level", "rule", "where", "object", "clusters", "message"]);
    for problem in &resolved.report.problems {
        let (line, column) = facts::problem_at(problem);
        table.add_row([
            "error".to_owned(),
            clean::line(problem.rule.as_deref().unwrap_or(problem.code)),
            facts::problem_file(problem)
                .map(|file| clean::line(&facts::at(file, line, column)))
                .unwrap_or_default(),
            String::new(),
            clean::line(problem.cluster.as_deref().unwrap_or_default()),
            clean::line(&problem.message),
        ]);
    }
    for entry in &resolved.entries {
        let finding = entry.finding;
        let positions = entry.positions();
        let at = positions.first().map(|(at, _)| facts::at(at.file, Some(at.line), Some(at.column)));
        let more =
            if positions.len() > 1 { format!(" and {} more", positions.len() - 1) } else { String::new() };
        table.add_row([
            finding.level.as_str().to_owned(),
            clean::line(&finding.rule),
            clean::line(&at.unwrap_or_default()) + &more,
            clean::line(&facts::object(entry).unwrap_or_default()),
            clean::line(&facts::cluster_list(entry.clusters(), false)),
            clean::line(&finding.message),
        ]);
    }
    if !table.is_empty() {
        writeln!(out, "{table}")?;
    }
    if options.quiet { Ok(()) } else { writeln!(out, "{}", summary::verdict(resolved)) }
}
