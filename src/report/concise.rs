//! One line a problem or finding: `file:line:column: deny[rule] message (Kind namespace/name, in 3 clusters)`.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::model::{Level, Problem};

use super::{Entry, Options, Resolved, clean, facts, summary};

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for problem in &resolved.report.problems {
        self::problem(problem, options, out)?;
    }
    for entry in &resolved.entries {
        self::entry(entry, options, out)?;
    }
    for entry in &resolved.unchanged {
        self::entry(entry, options, out)?;
    }
    if options.quiet { Ok(()) } else { writeln!(out, "{}", summary::verdict(resolved)) }
}

/// The line of a problem.
pub(super) fn problem(problem: &Problem, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if let Some(file) = facts::problem_file(problem) {
        let (line, column) = facts::problem_at(problem);
        write!(out, "{}: ", clean::line(&facts::at(file, line, column)))?;
    }
    let style = if options.colour { ERROR } else { Style::new() };
    let help = problem.help.as_ref().map(|help| format!("; {}", clean::line(help))).unwrap_or_default();
    writeln!(
        out,
        "{style}error[{}]{style:#} {}{}{help}",
        problem.code,
        clean::line(&problem.message),
        clean::line(&facts::problem_subject(problem)),
    )
}

/// The line of an entry.
pub(super) fn entry(entry: &Entry<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if let Some(position) = entry.position() {
        let at = facts::at(position.file, Some(position.line), Some(position.column));
        write!(out, "{}: ", clean::line(&at))?;
    }
    let finding = entry.finding;
    let style = if options.colour { style(finding.level) } else { Style::new() };
    writeln!(
        out,
        "{style}{}[{}]{style:#} {}{}",
        finding.level.as_str(),
        clean::line(&finding.rule),
        clean::line(&finding.message),
        clean::line(&facts::subject(entry)),
    )
}

/// Could not judge, and denials.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The style of a level's word.
pub(super) const fn style(level: Level) -> Style {
    match level {
        Level::Deny => ERROR,
        Level::Warn => AnsiColor::Yellow.on_default().bold(),
        Level::Info => AnsiColor::Cyan.on_default(),
    }
}
