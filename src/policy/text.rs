//! Stretches of policy text, and problems about them.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Problem, Span};

/// A file as read: UTF-8, without a byte order mark.
#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    /// Path as shown to people.
    pub(super) path: Arc<Utf8PathBuf>,
    /// The text.
    pub(super) text: Arc<str>,
}

impl SourceFile {
    /// A problem about a stretch of this file.
    pub(super) fn problem(&self, code: &'static str, message: impl Into<String>, span: Span) -> Problem {
        let mut problem = Problem::new(code, message).at(span);
        problem.file = Some(Arc::clone(&self.path));
        problem.source = Some(Arc::clone(&self.text));
        problem
    }
}

/// The span of a stretch of text given in bytes.
pub(super) fn span(text: &str, offset: usize, length: usize) -> Span {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Span {
        offset: before.len(),
        length: length.min(text.len().saturating_sub(before.len())),
        line: 1 + before.bytes().filter(|byte| *byte == b'\n').count(),
        column: 1 + before.get(line_start..).map_or(0, |rest| rest.chars().count()),
    }
}

/// The span of a line, counted from 1, without its indentation.
pub(super) fn line_span(text: &str, line: usize) -> Span {
    let mut offset = 0;
    for (index, content) in text.split_inclusive('\n').enumerate() {
        if index + 1 == line {
            let indent = content.len() - content.trim_start().len();
            return span(text, offset + indent, content.trim().len());
        }
        offset += content.len();
    }
    span(text, text.len(), 0)
}

/// Where the last of some nested keys of a YAML text is written.
pub(super) fn key_span(yaml: &str, keys: &[&str]) -> Option<Span> {
    let mut from = 0;
    for key in keys {
        let rest = yaml.get(from..)?;
        let (at, _) = rest.match_indices(key).find(|(at, _)| {
            let before = rest.get(..*at).and_then(|before| before.chars().next_back());
            let after = rest.get(at + key.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
            before.is_none_or(|before| !before.is_alphanumeric() && before != '_') && after.starts_with(':')
        })?;
        from += at + key.len();
    }
    let length = keys.last()?.len();
    Some(span(yaml, from - length, length))
}

/// The name that was probably meant, if one is close enough.
pub(super) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(score, _)| *score > 0.84)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))
        .map(|(_, name)| name)
}

/// ``did you mean `name`?``, or the list of what there is.
pub(super) fn suggestion<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(given, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => match list(known) {
            names if names.is_empty() => "there is none to choose from".to_owned(),
            names => format!("known: {names}"),
        },
    }
}

/// Names in backticks, separated by commas, at most twelve.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    let shown: Vec<_> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let rest = names.len().saturating_sub(12);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_offsets_bytes() {
        let text = "a\nüb c\n";
        assert_eq!(span(text, 6, 1), Span { offset: 6, length: 1, line: 2, column: 4 });
        assert_eq!(line_span("a\n  b c \nd", 2), Span { offset: 4, length: 3, line: 2, column: 3 });
    }

    #[test]
    fn a_typing_error_finds_its_name() {
        assert_eq!(suggestion("levle", ["level", "target"]), "did you mean `level`?");
        assert_eq!(suggestion("zzz", ["level", "target"]), "known: `level`, `target`");
    }
}
