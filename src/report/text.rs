//! For people: what is wrong, where, what to write instead, and what was and was not judged.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use miette::Severity;

use crate::model::{Level, Problem};

use super::frame::{self, Head, Mark};
use super::{Entry, Options, Resolved, clean, concise, facts, markdown, secret, summary};

/// Up to so many findings or problems, each gets its frame.
const ALL_FRAMED: usize = 50;
/// Beyond that, so many of a rule or of a kind of problem get a frame …
const FRAMED: usize = 3;
/// … and so many a line; the rest is counted.
const LISTED: usize = 10;
/// Frames of one entry whose source lines differ.
const FRAMES: usize = 3;
/// Further places of one entry that are named.
const PLACES: usize = 3;

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    problems_text(&resolved.report.problems, options, out)?;
    shortened(
        &resolved.entries,
        |entry| &entry.finding.rule,
        |entry, out| self::entry(entry, resolved, options, out),
        |entry, out| concise::entry(entry, options, out),
        options,
        out,
    )?;
    if !resolved.unchanged.is_empty() {
        let many = summary::count(resolved.unchanged.len(), "finding", "findings");
        writeln!(out, "{many} that the change leaves as they were:")?;
        resolved.unchanged.iter().try_for_each(|entry| concise::entry(entry, options, out))?;
        writeln!(out)?;
    }
    if options.quiet { Ok(()) } else { counts(resolved, options, out) }
}

/// Writes problems with code frames. Also what is shown when a command could not start.
pub fn problems_text(problems: &[Problem], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    shortened(
        problems,
        |problem| problem.code,
        |problem, out| self::problem(problem, options, out),
        |problem, out| concise::problem(problem, options, out),
        options,
        out,
    )
}

/// Shows all items with frames, or, if they are many, frames for the first of each kind, a line for
/// some more, and the number of the rest.
fn shortened<'a, T>(
    items: &'a [T],
    kind: impl Fn(&'a T) -> &'a str,
    framed: impl Fn(&'a T, &mut dyn Write) -> io::Result<()>,
    listed: impl Fn(&'a T, &mut dyn Write) -> io::Result<()>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    if items.len() <= ALL_FRAMED || options.verbose {
        return items.iter().try_for_each(|item| framed(item, out));
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut short = Vec::new();
    for item in items {
        let seen = seen.entry(kind(item)).or_default();
        *seen += 1;
        if *seen <= FRAMED {
            framed(item, out)?;
        } else if *seen <= FRAMED + LISTED {
            short.push(item);
        }
    }
    short.into_iter().try_for_each(|item| listed(item, out))?;
    let dots = if options.unicode { "…" } else { "..." };
    for (kind, seen) in seen {
        if let Some(more) = seen.checked_sub(FRAMED + LISTED).filter(|more| *more > 0) {
            writeln!(
                out,
                "{dots} and {more} more of {} (all: -v, -o concise or -o json)",
                clean::line(kind)
            )?;
        }
    }
    writeln!(out)
}

fn problem(problem: &Problem, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let head = Head {
        word: format!("error[{}]:", problem.code),
        message: &clean::line(&problem.message),
        severity: Severity::Error,
    };
    let file = facts::problem_file(problem).map(camino::Utf8Path::as_str).unwrap_or_default();
    let source = problem.source.as_ref().filter(|_| !secret::in_problem(problem));
    let (text, first_line, marks) = match (source, problem.span) {
        (Some(source), Some(span)) => {
            let mut marks = vec![Mark { offset: span.offset, length: span.length, label: None }];
            marks.extend(problem.related.iter().map(|(label, span)| Mark {
                offset: span.offset,
                length: span.length,
                label: Some(label.clone()),
            }));
            // The span knows its line, also where the source is only part of the file.
            let before = source.get(..span.offset).map_or(0, |before| before.matches('\n').count());
            (source.as_ref(), span.line.saturating_sub(before).max(1), marks)
        }
        _ => ("", 1, Vec::new()),
    };
    write!(out, "{}", frame::draw(&head, file, text, first_line, &marks, options))?;
    if marks.is_empty()
        && let Some(file) = facts::problem_file(problem)
    {
        let (line, column) = facts::problem_at(problem);
        fact(out, "at", &clean::line(&facts::at(file, line, column)))?;
    }
    if let Some(rule) = &problem.rule {
        fact(out, "rule", &clean::line(rule))?;
    }
    if let Some(cluster) = &problem.cluster {
        fact(out, "in", &clean::line(cluster))?;
    }
    facts_of(out, "help", problem.help.as_deref())?;
    writeln!(out)
}

fn entry(
    entry: &Entry<'_>,
    resolved: &Resolved<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let finding = entry.finding;
    let rule = resolved.report.rules.iter().find(|rule| rule.id == finding.rule);
    let url = rule.and_then(|rule| rule.url.as_deref());
    let head = Head {
        word: format!("{}[{}]:", finding.level.as_str(), linked(&finding.rule, url, options)),
        message: &clean::line(&finding.message),
        severity: match finding.level {
            Level::Deny => Severity::Error,
            Level::Warn => Severity::Warning,
            Level::Info => Severity::Advice,
        },
    };
    let positions = entry.positions();
    let hidden = secret::in_finding(finding);
    // Places whose source line is the same are shown once.
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    let mut elsewhere = Vec::new();
    let mut drawn = String::new();
    for (position, _) in &positions {
        let line = source_line(position.text.map_or("", |text| text), position.span.offset);
        if hidden || position.text.is_none() || shown.contains(line) || shown.len() == FRAMES {
            elsewhere.push(facts::at(position.file, Some(position.line), Some(position.column)));
            continue;
        }
        shown.insert(line);
        let label = position.missing.as_ref().map(|missing| format!("no `{missing}` here"));
        let mark = Mark { offset: position.span.offset, length: position.span.length, label };
        let text = position.text.map_or("", |text| text);
        let first_line = (position.line + 1).saturating_sub(position.span.line).max(1);
        let frame = frame::draw(&head, position.file.as_str(), text, first_line, &[mark], options);
        // The head stands above the first frame only.
        drawn.push_str(if drawn.is_empty() {
            &frame
        } else {
            frame.split_once('\n').map_or("", |(_, rest)| rest)
        });
    }
    if drawn.is_empty() {
        drawn = frame::draw(&head, "", "", 1, &[], options);
    }
    write!(out, "{drawn}")?;
    if shown.is_empty() && !elsewhere.is_empty() {
        fact(out, "at", &clean::line(&elsewhere.remove(0)))?;
    }

    let route = finding.route.as_ref().filter(|route| !route.is_root()).map(ToString::to_string);
    for (word, object, route) in match &finding.at {
        Some(at) => vec![("object", facts::object(entry), None), ("at", Some(at.to_string()), route)],
        None => vec![("object", facts::object(entry), route)],
    } {
        let object: Vec<String> = object.into_iter().chain(route).collect();
        if !object.is_empty() {
            fact(out, word, &clean::line(&object.join(", ")))?;
        }
    }
    let clusters = entry.clusters();
    if let (Some(scope), None | Some(1)) = (facts::scope(entry), Some(clusters.len()).filter(|n| *n > 0)) {
        fact(out, "in", &clean::line(scope.trim_start_matches("in ")))?;
    } else if !clusters.is_empty() {
        let list = facts::cluster_list(clusters.iter().copied(), options.verbose);
        fact(out, "in", &clean::line(&format!("{} clusters: {list}", clusters.len())))?;
    }
    if !elsewhere.is_empty() {
        let named = if options.verbose { elsewhere.len() } else { PLACES };
        let rest = elsewhere.len().saturating_sub(named);
        let mut also = elsewhere.into_iter().take(named).collect::<Vec<_>>().join(", ");
        if rest > 0 {
            also.extend([format!(" and {rest} more")]);
        }
        fact(out, "also", &clean::line(&also))?;
    }
    if let Some(standing) = facts::standing(&finding.standing, resolved.report.comparison.is_some()) {
        fact(out, "worse", standing)?;
    }
    for (word, text) in facts::lines(finding) {
        facts_of(out, &clean::line(word), Some(text))?;
    }
    facts_of(out, "help", finding.remediation.as_deref())?;
    if let Some(url) = url {
        fact(out, "see", &clean::line(url))?;
    }
    writeln!(out)
}

/// A rule id that leads to its page, on terminals that can (OSC 8).
fn linked(rule: &str, url: Option<&str>, options: &Options) -> String {
    let rule = clean::line(rule);
    match url.filter(|url| options.links && markdown::is_plain_url(url)) {
        Some(url) => format!("\u{1b}]8;;{url}\u{1b}\\{rule}\u{1b}]8;;\u{1b}\\"),
        None => rule,
    }
}

/// The line of `text` that `offset` is on.
fn source_line(text: &str, offset: usize) -> &str {
    let start = text.get(..offset).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    text.get(start..).and_then(|rest| rest.split('\n').next()).unwrap_or_default().trim()
}

/// `  help    …`; the words stand in one column.
fn fact(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {word:<7} {text}")
}

/// The same for text of several lines.
fn facts_of(out: &mut dyn Write, word: &str, text: Option<&str>) -> io::Result<()> {
    let Some(text) = text else { return Ok(()) };
    clean::lines(text)
        .enumerate()
        .try_for_each(|(at, line)| fact(out, if at == 0 { word } else { "" }, &line))
}

fn counts(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let report = resolved.report;
    let counts = &report.counts;
    for note in &report.notes {
        line(out, "note", &clean::line(note))?;
    }
    let mut unevaluated: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in &report.unevaluated {
        unevaluated.entry(&rule.reason).or_default().push(&rule.id);
    }
    for (reason, rules) in unevaluated {
        // Many rules with one reason, such as those that were not selected, are counted.
        if rules.len() > LISTED && !options.verbose {
            line(out, "not evaluated", &clean::line(&format!("{} rules: {reason}", rules.len())))?;
        } else {
            for rule in rules {
                line(out, "not evaluated", &clean::line(&format!("{rule}: {reason}")))?;
            }
        }
    }
    if let Some(accepted) = summary::accepted(resolved) {
        line(out, "accepted", &accepted)?;
    }
    for text in summary::change(resolved) {
        line(out, "change", &clean::line(&text))?;
    }
    if let Some(unjudged) = summary::unjudged(counts) {
        line(out, "not judged", &unjudged)?;
    }
    if options.verbose {
        for unjudged in &counts.unjudged {
            let files = summary::count(unjudged.files, "file", "files");
            let text = format!("{}: {}, {files}", summary::class(unjudged.class), unjudged.what);
            line(out, "", &clean::line(&text))?;
        }
    }
    line(out, "judged", &summary::judged(counts))?;
    let style = match report.verdict().exit_status() {
        0 => anstyle::AnsiColor::Green.on_default().bold(),
        _ => concise::ERROR,
    };
    let style = if options.colour { style } else { anstyle::Style::new() };
    write!(out, "{style}{}{style:#}", summary::verdict(resolved))?;
    if let Some(elapsed) = options.elapsed {
        write!(out, " ({:.2} s", elapsed.as_secs_f64())?;
        if let Some(threads) = options.threads {
            write!(out, ", {}", summary::count(threads, "thread", "threads"))?;
        }
        write!(out, ")")?;
    }
    writeln!(out)
}

fn line(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{word:<13} {text}")
}
