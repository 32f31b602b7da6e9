//! Neutralises text that others wrote before it reaches a terminal, a log or a page.
//!
//! File names, object names, messages and source lines come from the change under judgement. They
//! must not move a cursor, hide or reorder text, or speak to a CI runner that reads commands from
//! the log (`::error::` at the start of a line, `##[error]` and `##vso[…]` anywhere).

use std::fmt::Write as _;

/// One line: control characters, line breaks and direction overrides shown as escapes.
pub(super) fn line(text: &str) -> String {
    escape(text, false, []).0
}

/// Several lines: line breaks are kept, each line is cleaned by itself; no trailing line break.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.trim_end().split('\n').map(|text| line(text.trim_end_matches('\r')))
}

/// A line of source: as [`line()`], but tabs are kept, and the given byte offsets are carried over
/// to the cleaned text.
pub(super) fn source<const N: usize>(text: &str, offsets: [usize; N]) -> (String, [usize; N]) {
    escape(text, true, offsets)
}

fn escape<const N: usize>(text: &str, keep_tabs: bool, offsets: [usize; N]) -> (String, [usize; N]) {
    let mut clean = String::with_capacity(text.len());
    let mut moved = [None; N];
    let mut previous = '\0';
    let mut leading = true;
    for (at, c) in text.char_indices() {
        for (from, to) in offsets.iter().zip(&mut moved) {
            if to.is_none() && *from <= at {
                *to = Some(clean.len());
            }
        }
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let command = (leading && c == ':' && rest.starts_with(':'))
            || (previous == '#' && c == '#' && is_runner_command(rest));
        match c {
            '\t' if keep_tabs => clean.push(c),
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            c if command || is_hidden(c) => write!(clean, "\\u{{{:x}}}", u32::from(c)).unwrap_or_default(),
            c => clean.push(c),
        }
        leading &= c.is_whitespace();
        previous = c;
    }
    let end = clean.len();
    (clean, moved.map(|to| to.unwrap_or(end)))
}

/// What follows `##` in a command of Azure Pipelines, older GitHub runners and `TeamCity`: a word
/// and a bracket.
fn is_runner_command(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[')
}

/// Where the first character stands that acts on a terminal or a runner, except at the start of a line.
pub(super) fn first_active(text: &str) -> Option<usize> {
    let mut previous = '\0';
    text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let command = previous == '#' && c == '#' && is_runner_command(rest);
        previous = c;
        (command || is_hidden(c)).then_some(at)
    })
}

/// Characters that act instead of being seen: C0 and C1 controls, direction overrides, zero-width
/// and tag characters, line and paragraph separators, and what XML 1.0 cannot hold.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_instead() {
        assert_eq!(line("a\u{1b}[31mred\u{7}"), "a\\u{1b}[31mred\\u{7}");
        assert_eq!(line("one\r\ntwo\tthree"), "one\\r\\ntwo\\tthree");
        assert_eq!(line("c1 \u{9b}2J"), "c1 \\u{9b}2J");
        assert_eq!(line("user\u{202e}txt.exe\u{2066}"), "user\\u{202e}txt.exe\\u{2066}");
        assert_eq!(line("no\u{200b}width, t\u{e0041}ag"), "no\\u{200b}width, t\\u{e0041}ag");
        assert_eq!(line("Grüße, 数, 👩‍💻"), "Grüße, 数, 👩‍💻");
    }

    #[test]
    fn a_ci_runner_is_not_spoken_to() {
        assert_eq!(line("::error::pwned"), "\\u{3a}:error::pwned");
        assert_eq!(line("  ::set-output name=x::y"), "  \\u{3a}:set-output name=x::y");
        assert_eq!(line("x ##[error]pwned"), "x #\\u{23}[error]pwned");
        assert_eq!(line("##vso[task.setvariable]"), "#\\u{23}vso[task.setvariable]");
        assert_eq!(line("##teamcity[x]"), "#\\u{23}teamcity[x]");
        assert_eq!(line("a::b, ## heading, Foo::Bar"), "a::b, ## heading, Foo::Bar");
    }

    #[test]
    fn lines_stay_lines() {
        let cleaned: Vec<_> = lines("one\r\n::two\u{1b}\n\n").collect();
        assert_eq!(cleaned, ["one", "\\u{3a}:two\\u{1b}"]);
    }

    #[test]
    fn offsets_follow_the_text() {
        let text = "a\u{1b}b: ü";
        let (clean, [start, end]) = source(text, [2, 3]);
        assert_eq!(clean, "a\\u{1b}b: ü");
        assert_eq!(clean.get(start..end), Some("b"));
        assert_eq!(source("\tx", [1, 9]), ("\tx".to_owned(), [1, 2]));
    }
}
