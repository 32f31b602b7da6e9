//! Workflow commands of GitHub Actions: annotations on lines of the pull request.

use std::io::{self, Write};

use crate::model::{Level, Problem, Verdict};

use super::{Entry, Options, Resolved, clean, facts, summary};

/// GitHub shows so many annotations of a type from one step and drops the rest.
const SHOWN: usize = 10;

struct Annotation {
    /// `file=…,line=…,title=…`, escaped.
    properties: Vec<(&'static str, String)>,
    message: String,
}

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut errors: Vec<Annotation> = Vec::new();
    if resolved.verdict == Verdict::Nothing {
        let message = format!("nothing to judge: {}", summary::nothing(resolved.report));
        errors.push(Annotation { properties: vec![("title", "Fleetgate".to_owned())], message });
    }
    errors.extend(resolved.report.problems.iter().map(|problem| self::problem(problem, options)));
    let at = |level| {
        let entries = resolved.entries.iter().filter(move |entry| entry.finding.level == level);
        entries.map(|entry| self::entry(entry, resolved, options)).collect::<Vec<_>>()
    };
    errors.extend(at(Level::Deny));
    let verdict = summary::verdict(resolved);
    write_all("error", &errors, &verdict, out)?;
    write_all("warning", &at(Level::Warn), &verdict, out)?;
    write_all("notice", &at(Level::Info), &verdict, out)?;
    writeln!(out, "fleetgate: {verdict}")
}

/// Writes what GitHub shows; where that is not all, the last one says how many more there are.
fn write_all(
    command: &str,
    annotations: &[Annotation],
    verdict: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = if annotations.len() > SHOWN { SHOWN - 1 } else { SHOWN };
    for Annotation { properties, message } in annotations.iter().take(shown) {
        let properties: Vec<_> =
            properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
        writeln!(out, "::{command} {}::{}", properties.join(","), data(message))?;
    }
    if annotations.len() > shown {
        let more = annotations.len() - shown;
        let message = format!("and {more} more not shown as annotations: see the log of this job; {verdict}");
        writeln!(out, "::{command} title=Fleetgate::{}", data(&message))?;
    }
    Ok(())
}

fn entry(entry: &Entry<'_>, resolved: &Resolved<'_>, options: &Options) -> Annotation {
    let finding = entry.finding;
    let mut properties = Vec::new();
    if let Some(position) = entry.position() {
        properties.push(("file", options.repository_path(position.file)));
        properties.push(("line", position.line.to_string()));
        properties.push(("col", position.column.to_string()));
    }
    properties.push(("title", format!("{}[{}]", finding.level.as_str(), finding.rule)));
    let mut message = format!("{}{}", clean::line(&finding.message), clean::line(&facts::subject(entry)));
    if let Some(remediation) = &finding.remediation {
        push_lines(&mut message, "help: ", remediation);
    }
    let clusters = entry.clusters();
    if clusters.len() > 1 {
        push_lines(&mut message, "clusters: ", &facts::cluster_list(clusters, false));
    }
    if let Some(url) =
        resolved.report.rules.iter().find(|rule| rule.id == finding.rule).and_then(|rule| rule.url.as_ref())
    {
        push_lines(&mut message, "see: ", url);
    }
    Annotation { properties, message }
}

fn problem(problem: &Problem, options: &Options) -> Annotation {
    let mut properties = Vec::new();
    if let Some(file) = facts::problem_file(problem) {
        properties.push(("file", options.repository_path(file)));
        let (line, column) = facts::problem_at(problem);
        properties.extend(line.map(|line| ("line", line.to_string())));
        properties.extend(column.map(|column| ("col", column.to_string())));
    }
    properties.push(("title", format!("could not judge: {}", problem.code)));
    let mut message =
        format!("{}{}", clean::line(&problem.message), clean::line(&facts::problem_subject(problem)));
    if let Some(help) = &problem.help {
        push_lines(&mut message, "help: ", help);
    }
    Annotation { properties, message }
}

fn push_lines(message: &mut String, word: &str, text: &str) {
    for (at, line) in clean::lines(text).enumerate() {
        message.push('\n');
        message.push_str(if at == 0 { word } else { "" });
        message.push_str(&line);
    }
}

/// The message of a command, clean already.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(&clean::line(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_a_property_or_a_command() {
        assert_eq!(property("a,line=9::x%0A\ny"), "a%2Cline=9%3A%3Ax%250A\\ny");
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
    }
}
