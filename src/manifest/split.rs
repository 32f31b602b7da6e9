//! A file's text to its documents.
//!
//! A line that begins with `---` cannot be inside a YAML value, so a file is cut at such lines before
//! it is parsed: documents can then be compared, read and reported one by one.

use serde::de::IgnoredAny;

use super::{SyntaxError, positions};

/// One document of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice<'t> {
    /// Position in the file, from 0, empty documents counted.
    pub index: usize,
    /// Line of the file on which the text starts, from 1.
    pub line: usize,
    /// Byte offset in the file at which the text starts.
    pub offset: usize,
    /// The text, without the `---` line before it.
    pub text: &'t str,
}

/// The documents of a file that are not empty, and what cannot be a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split<'t> {
    /// In the order of the file. Documents of nothing but comments are left out.
    pub documents: Vec<Slice<'t>>,
    /// Lines that we do not read: a directive, text behind `---` or after `...`.
    pub errors: Vec<SyntaxError>,
}

/// Cuts a file's text into its documents.
pub fn split(text: &str) -> Split<'_> {
    let mut split = Split::default();
    let mut document = Section { start: 0, line: 1, ..Section::default() };
    let (mut index, mut offset, mut number) = (0, 0, 1);
    for line in text.split_inclusive('\n') {
        match Line::of(line) {
            Line::Separator { clean } => {
                // Comments before the first separator are no document.
                if document.content || document.separated {
                    split.add(text, &document, offset, &mut index);
                }
                if !clean {
                    split.errors.push(
                        SyntaxError::new("separator", "text behind `---`")
                            .help("begin the document on the next line")
                            .at(positions::line_span(text, offset)),
                    );
                }
                document = Section {
                    start: offset + line.len(),
                    line: number + 1,
                    separated: true,
                    ..Section::default()
                };
            }
            Line::End => document.ended = true,
            Line::Blank => {}
            Line::Text if document.ended => {
                if !document.reported {
                    document.reported = true;
                    split.errors.push(
                        SyntaxError::new("separator", "text after the end of a document (`...`)")
                            .help("replace `...` by `---`, or remove it")
                            .at(positions::line_span(text, offset)),
                    );
                }
            }
            Line::Text if line.starts_with('%') && !document.content => {
                document.reported = true;
                split.errors.push(
                    SyntaxError::new("directive", "a `%` directive")
                        .help("remove the line; Kubernetes manifests need no directive")
                        .at(positions::line_span(text, offset)),
                );
            }
            Line::Text => document.content = true,
        }
        offset += line.len();
        number += 1;
    }
    split.add(text, &document, offset, &mut index);
    split
}

/// The document that is being collected.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts about a stretch of text")]
struct Section {
    start: usize,
    line: usize,
    /// Whether a separator stands before it.
    separated: bool,
    /// Whether it holds more than blanks and comments.
    content: bool,
    /// Whether `...` was seen.
    ended: bool,
    /// Whether it is in error already, so that its text is not read.
    reported: bool,
}

enum Line {
    Separator { clean: bool },
    End,
    Blank,
    Text,
}

impl Line {
    fn of(line: &str) -> Self {
        let marker = |marker| {
            line.strip_prefix(marker)
                .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
        };
        if let Some(rest) = marker("---") {
            return Self::Separator { clean: is_blank(rest) };
        }
        if marker("...").is_some_and(is_blank) {
            return Self::End;
        }
        if is_blank(line) { Self::Blank } else { Self::Text }
    }
}

/// Whether there is nothing but blanks or a comment.
fn is_blank(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t', '\r', '\n']);
    text.is_empty() || text.starts_with('#')
}

impl<'t> Split<'t> {
    fn add(&mut self, text: &'t str, document: &Section, end: usize, index: &mut usize) {
        let slice = text.get(document.start..end).unwrap_or_default();
        if !document.content || document.reported {
            *index += 1;
            return;
        }
        let ends = json_ends(slice);
        let mut start = 0;
        for end in ends {
            let part = slice.get(start..end).unwrap_or_default();
            let skipped = part.len() - part.trim_start().len();
            // Only the documents of a stream begin behind others.
            let skipped = if start == 0 { 0 } else { skipped };
            let before = slice.get(..start + skipped).unwrap_or_default();
            self.documents.push(Slice {
                index: *index,
                line: document.line + before.bytes().filter(|byte| *byte == b'\n').count(),
                offset: document.start + start + skipped,
                text: part.get(skipped..).unwrap_or_default(),
            });
            *index += 1;
            start = end;
        }
    }
}

/// Where the objects of a stream of JSON objects end; the end of the text if it is none.
fn json_ends(text: &str) -> Vec<usize> {
    if text.trim_start().starts_with('{') {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        let mut ends = Vec::new();
        loop {
            match stream.next() {
                Some(Ok(_)) => ends.push(stream.byte_offset()),
                None if ends.len() > 1 => return ends,
                None | Some(Err(_)) => break,
            }
        }
    }
    vec![text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(text: &str) -> Vec<(usize, usize, &str)> {
        let split = split(text);
        assert_eq!(split.errors, []);
        for slice in &split.documents {
            assert_eq!(text.get(slice.offset..slice.offset + slice.text.len()), Some(slice.text));
        }
        split.documents.iter().map(|slice| (slice.index, slice.line, slice.text)).collect()
    }

    #[test]
    fn o01_empty_documents_are_skipped_and_counted() {
        let text =
            "# Source: c/a.yaml\n---\n---\n\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        assert_eq!(documents(text), [(2, 6, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")]);
        assert_eq!(documents(""), []);
        assert_eq!(documents("# nothing\n"), []);
        assert_eq!(documents("---\n"), []);
        assert_eq!(documents("a: 1"), [(0, 1, "a: 1")]);
        assert_eq!(documents("a: 1\n---\n# no\n---\nb: 2\n"), [(0, 1, "a: 1\n"), (2, 5, "b: 2\n")]);
    }

    #[test]
    fn o02_dashes_inside_a_text_separate_nothing() {
        let text = "data:\n  x: |\n    one\n    ---\n    kind: Secret\n";
        assert_eq!(documents(text), [(0, 1, text)]);
        assert_eq!(documents("a: 1\n----\n").len(), 1);
    }

    #[test]
    fn separators_may_have_blanks_comments_and_carriage_returns() {
        assert_eq!(
            documents("---  # one\r\na: 1\r\n--- \r\nb: 2\r\n"),
            [(0, 2, "a: 1\r\n"), (1, 4, "b: 2\r\n")]
        );
        assert_eq!(documents("a: 1\n...\n---\nb: 2\n...\n"), [(0, 1, "a: 1\n...\n"), (1, 4, "b: 2\n...\n")]);
    }

    #[test]
    fn what_is_no_document_is_an_error_with_its_line() {
        let lines =
            |text| split(text).errors.iter().map(|e| (e.code, e.span.unwrap().line)).collect::<Vec<_>>();
        assert_eq!(lines("a: 1\n--- {b: 2}\n"), [("separator", 2)]);
        assert_eq!(lines("%YAML 1.1\n---\na: 1\n"), [("directive", 1)]);
        assert_eq!(lines("a: 1\n...\nb: 2\nc: 3\n"), [("separator", 3)]);
        assert_eq!(lines("a: '\n%x'\n"), []);
    }

    #[test]
    fn a_stream_of_json_objects_is_a_stream() {
        assert_eq!(
            documents("{\"a\":\n1}\n{\"b\":2} {\"c\":3}\n---\n{\"d\":4}\n"),
            [(0, 1, "{\"a\":\n1}"), (1, 3, "{\"b\":2}"), (2, 3, "{\"c\":3}"), (3, 5, "{\"d\":4}\n")]
        );
        // One object, or no JSON: one document.
        assert_eq!(documents("{\"a\":1}\n").len(), 1);
        assert_eq!(documents("{a: 1}\n{b: 2}\n").len(), 1);
    }
}
