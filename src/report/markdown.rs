//! A comment on a pull request. The first line is a marker by which the comment is found again and
//! updated in place; the whole stays below GitHub's limit, and says so if something was cut.

use std::io::{self, Write};

use crate::model::{Level, Problem, Verdict};

use super::{Entry, Resolved, clean, facts, summary};

const MARKER: &str = "<!-- fleetgate -->";
/// GitHub refuses comments of more than 65,536 characters; counted in bytes to be on the safe side.
const LIMIT: usize = 65_000;
/// Room for what stands below the tables.
const RESERVE: usize = 15_000;
/// Rows shown before the rest is folded.
const OPEN: usize = 10;
/// Bytes of a message or remediation.
const CELL: usize = 2_000;

pub(super) fn render(resolved: &Resolved<'_>, out: &mut dyn Write) -> io::Result<()> {
    let icon = match resolved.verdict {
        Verdict::Pass => "✅",
        Verdict::Deny => "⛔",
        Verdict::Error => "🚫",
        Verdict::Nothing => "⚠️",
    };
    let mut page = format!("{MARKER}\n### {icon} Fleetgate: {}\n", summary::verdict(resolved));
    for line in summary::change(resolved) {
        page.extend([prose(&line).as_str(), "  \n"]);
    }
    if let Some(accepted) = summary::accepted(resolved) {
        page.extend(["Not shown because accepted: ", &accepted, ".\n"]);
    }
    let problems: Vec<_> = resolved.report.problems.iter().map(problem).collect();
    let mut cut = table(&mut page, "could not judge | where | help", problems);
    let entries: Vec<_> = resolved.entries.iter().map(|entry| self::entry(entry, resolved)).collect();
    cut += table(&mut page, "rule | where | what | help", entries);
    if cut > 0 {
        page.extend([format!("\n**{cut} more did not fit into this comment: see the log of the job.**\n")]);
    }
    page.push_str(&details(resolved));
    out.write_all(page.as_bytes())
}

/// Adds a table, folded after [`OPEN`] rows; gives the number of rows that did not fit.
fn table(page: &mut String, head: &str, rows: Vec<String>) -> usize {
    if rows.is_empty() {
        return 0;
    }
    let head = format!("\n| {head} |\n{}|\n", "|---".repeat(head.split('|').count()));
    page.push_str(&head);
    let all = rows.len();
    let mut folded = false;
    for (at, row) in rows.into_iter().enumerate() {
        if page.len() + row.len() > LIMIT - RESERVE {
            page.push_str(if folded { "\n</details>\n" } else { "" });
            return all - at;
        }
        if at == OPEN {
            page.extend([format!("\n<details><summary>{} more</summary>\n{head}", all - OPEN)]);
            folded = true;
        }
        page.push_str(&row);
    }
    page.push_str(if folded { "\n</details>\n" } else { "" });
    0
}

fn entry(entry: &Entry<'_>, resolved: &Resolved<'_>) -> String {
    let finding = entry.finding;
    let icon = match finding.level {
        Level::Deny => "⛔",
        Level::Warn => "⚠️",
        Level::Info => "ℹ️",
    };
    let url =
        resolved.report.rules.iter().find(|rule| rule.id == finding.rule).and_then(|rule| rule.url.as_ref());
    let rule = match url.filter(|url| is_plain_url(url)) {
        Some(url) => format!("[{}]({url})", code(&finding.rule)),
        None => code(&finding.rule),
    };
    let positions = entry.positions();
    let mut place = Vec::new();
    if let Some((at, _)) = positions.first() {
        let more =
            if positions.len() > 1 { format!(" and {} more", positions.len() - 1) } else { String::new() };
        place.push(code(&facts::at(at.file, Some(at.line), Some(at.column))) + &more);
    }
    place.extend(facts::object(entry).map(|object| code(&object)));
    let clusters = entry.clusters();
    if clusters.len() > 1 {
        place.push(prose(&format!(
            "in {} clusters: {}",
            clusters.len(),
            facts::cluster_list(clusters, false)
        )));
    } else {
        place.extend(facts::scope(entry).map(|scope| prose(&scope)));
    }
    let worse = facts::standing(&finding.standing, resolved.report.comparison.is_some())
        .map(|text| format!(" (worse {text})"))
        .unwrap_or_default();
    let (place, message) = (place.join("<br>"), prose(&short(&finding.message)));
    let lines = facts::lines(finding).into_iter();
    let lines: String = lines
        .map(|(word, text)| match word {
            "" => format!("<br>{}", prose(&short(text))),
            _ => format!("<br>{}: {}", prose(&short(word)), prose(&short(text))),
        })
        .collect();
    format!(
        "| {icon} {rule} | {place} | {message}{worse}{lines} | {} |\n",
        help_cell(finding.remediation.as_deref())
    )
}

fn problem(problem: &Problem) -> String {
    let (line, column) = facts::problem_at(problem);
    let at =
        facts::problem_file(problem).map(|file| code(&facts::at(file, line, column))).unwrap_or_default();
    let message = prose(&short(&problem.message));
    let subject = prose(&facts::problem_subject(problem));
    format!(
        "| 🚫 {}: {message}{subject} | {at} | {} |\n",
        code(problem.code),
        help_cell(problem.help.as_deref())
    )
}

fn help_cell(help: Option<&str>) -> String {
    let Some(help) = help.map(short) else { return String::new() };
    // Text that marks no code is most likely something to copy: it stays as it is.
    let cell = if help.contains('`') { prose } else { code };
    clean::lines(&help).map(|line| cell(&line)).collect::<Vec<_>>().join("<br>")
}

/// What was and was not judged, folded.
fn details(resolved: &Resolved<'_>) -> String {
    let report = resolved.report;
    let mut lines = vec![format!("judged: {}", summary::judged(&report.counts))];
    lines.extend(summary::unjudged(&report.counts).map(|text| format!("not judged: {text}")));
    lines.extend(
        report.unevaluated.iter().map(|rule| format!("not evaluated: `{}`: {}", rule.id, rule.reason)),
    );
    lines.extend(report.notes.iter().cloned());
    let mut page = String::from("\n<details><summary>What was judged</summary>\n\n");
    let all = lines.len();
    for (at, line) in lines.into_iter().enumerate() {
        let line = format!("- {}\n", prose(&short(&line)));
        if page.len() + line.len() > RESERVE - 1_000 {
            page.extend([format!("- and {} more\n", all - at)]);
            break;
        }
        page.push_str(&line);
    }
    page.push_str("\n</details>\n");
    page
}

/// At most [`CELL`] bytes.
fn short(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at > CELL);
    match end.and_then(|end| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

/// Text that stays text: no markup, no HTML, no mention, no reference, no link, in one table cell.
/// Backticks in pairs make code, as in all our messages.
fn prose(text: &str) -> String {
    let parts: Vec<_> = text.split('`').collect();
    if parts.len() % 2 == 0 || parts.iter().skip(1).step_by(2).any(|part| part.is_empty()) {
        return plain(text);
    }
    parts.iter().enumerate().map(|(at, part)| if at % 2 == 1 { code(part) } else { plain(part) }).collect()
}

fn plain(text: &str) -> String {
    let text = clean::line(text);
    let mut safe = String::with_capacity(text.len());
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' | '%' => safe.extend(['\\', c]),
            // A zero-width space ends what would become a mention, a reference or a link.
            '@' if !previous.is_alphanumeric() => safe.extend([c, '\u{200b}']),
            '#' => safe.extend(['\\', c, '\u{200b}']),
            ':' if rest.starts_with("//") => safe.extend([c, '\u{200b}']),
            '.' if safe.ends_with("www") => safe.extend(['\u{200b}', c]),
            _ => safe.push(c),
        }
        previous = c;
    }
    safe
}

/// A code span that its text cannot end.
fn code(text: &str) -> String {
    // In a table, GitHub reads `\|` as `|` inside code too.
    let text = clean::line(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Whether a rule's link can stand in a link of Markdown or of a terminal as it is.
pub(super) fn is_plain_url(url: &str) -> bool {
    url.starts_with("https://")
        && !url.contains(|c: char| c.is_whitespace() || clean::is_hidden(c) || "()<>|\\\"`".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_a_code_span_or_a_cell() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a|b`"), "`` `a\\|b` ``");
        assert_eq!(code("``"), "``` `` ```");
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(plain("<b>&*_[x](y)|"), "&lt;b&gt;&amp;\\*\\_\\[x\\](y)\\|");
        assert_eq!(
            plain("@team x@y #7 http://a www.b"),
            "@\u{200b}team x@y \\#\u{200b}7 http:\u{200b}//a www\u{200b}.b"
        );
        assert_eq!(prose("set `a|b` to <c>"), "set `a\\|b` to &lt;c&gt;");
        assert_eq!(prose("one ` backtick"), "one \\` backtick");
    }

    #[test]
    fn only_plain_links_are_links() {
        assert!(is_plain_url("https://example.org/a#b?c=d"));
        assert!(!is_plain_url("javascript:alert(1)"));
        assert!(!is_plain_url("https://example.org/) [x](https://evil.example"));
        assert!(!is_plain_url("https://example.org/\u{1b}"));
    }
}
