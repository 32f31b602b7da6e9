//! The parser's events for one document. The YAML crate is named in this file, `tags`, `reader` and
//! `locate` only.
//!
//! The reference reader of Kubernetes is a port of libyaml, and so is the crate, so that both agree
//! on what is YAML. Where the crate departs from the reference, this file mends it.

use std::io::{BufRead, Read};

use libyaml_safer::{Encoding, Event, EventData, MappingStyle, Mark, Parser, ScalarStyle, SequenceStyle};

use super::{SyntaxError, positions, tags};
use crate::model::Span;

/// Mappings and sequences may be nested this deep. Deeper values would overflow the stack of the
/// threads that walk them; no real manifest comes near.
pub(super) const MAX_DEPTH: usize = 512;

/// How much text the parser takes at once; it holds four bytes for each character of a chunk.
const CHUNK: usize = 8 * 1024;

/// The events of one document, from the first node to the last.
pub(super) struct Events<'t> {
    text: &'t str,
    /// Where the parser's marks count from: behind a byte order mark.
    base: usize,
    parser: Parser<Chunks<'t>>,
    depth: usize,
    /// Depth at which the outermost flow collection was opened, if we are inside one.
    flow: Option<usize>,
}

impl<'t> Events<'t> {
    /// Starts reading; `None` if the text holds no node (empty, or nothing but comments).
    pub(super) fn open(text: &'t str) -> Result<Option<Self>, SyntaxError> {
        tags::refuse_tag_before_comma(text)?;
        refuse_inner_byte_order_mark(text)?;
        let mut events = Self::unchecked(text);
        match events.parse()?.data {
            EventData::StreamEnd => Ok(None),
            EventData::DocumentStart { version_directive: None, tag_directives, .. }
                if tag_directives.is_empty() =>
            {
                Ok(Some(events))
            }
            _ => Err(SyntaxError::new("directive", "a `%` directive")
                .help("remove the line that begins with `%`; Kubernetes manifests need none")
                .at(positions::line_span(text, directive_offset(text)))),
        }
    }

    /// The same without the check that keeps the parser from a place where it would panic, and before
    /// the document's first event.
    pub(super) fn unchecked(text: &'t str) -> Self {
        let mut parser = Parser::new();
        parser.set_encoding(Encoding::Utf8);
        let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        parser.set_input(Chunks { rest: rest.as_bytes(), newline: !rest.ends_with(BREAKS) });
        Self { text, base: text.len() - rest.len(), parser, depth: 0, flow: None }
    }

    /// The next event of the document. After the root node it must not be called but for `close`.
    pub(super) fn next(&mut self) -> Result<Event, SyntaxError> {
        let mut event = self.parse()?;
        match &mut event.data {
            EventData::MappingStart { style, .. } => {
                let flow = *style == MappingStyle::Flow;
                self.enter(flow, event.start_mark)?;
            }
            EventData::SequenceStart { style, .. } => {
                let flow = *style == SequenceStyle::Flow;
                self.enter(flow, event.start_mark)?;
            }
            EventData::MappingEnd | EventData::SequenceEnd => {
                self.depth = self.depth.saturating_sub(1);
                if self.flow.is_some_and(|depth| depth > self.depth) {
                    self.flow = None;
                }
            }
            EventData::Scalar { value, style: ScalarStyle::Plain, .. }
                if self.flow.is_some() && value.contains('?') =>
            {
                return Err(SyntaxError::new("syntax", "a plain text with `?` inside `[…]` or `{…}`")
                    .help("put the text in quotes: Kubernetes does not accept it without")
                    .at(self.span(event.start_mark, event.end_mark)));
            }
            EventData::Scalar { value, style: ScalarStyle::Literal | ScalarStyle::Folded, .. } => {
                self.mend_last_line(value, event.start_mark, event.end_mark);
            }
            _ => {}
        }
        Ok(event)
    }

    /// Checks that nothing follows the document.
    pub(super) fn close(mut self) -> Result<(), SyntaxError> {
        self.parse()?;
        let event = self.parse()?;
        match event.data {
            EventData::StreamEnd => Ok(()),
            _ => Err(SyntaxError::new("several-documents", "a second document where one was expected")
                .help("put `---` on a line of its own between two documents")
                .at(self.span(event.start_mark, event.end_mark))),
        }
    }

    /// The stretch of text between two marks.
    pub(super) fn span(&self, start: Mark, end: Mark) -> Span {
        let from = self.offset(start).min(self.text.len());
        let to = self.offset(end).clamp(from, self.text.len());
        positions::span(self.text, from, to - from)
    }

    /// The byte offset of a mark in the text.
    pub(super) fn offset(&self, mark: Mark) -> usize {
        usize::try_from(mark.index).unwrap_or(usize::MAX).saturating_add(self.base)
    }

    fn enter(&mut self, flow: bool, mark: Mark) -> Result<(), SyntaxError> {
        self.depth += 1;
        if flow && self.flow.is_none() {
            self.flow = Some(self.depth);
        }
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.span(mark, mark)));
        }
        Ok(())
    }

    /// The parser got a line break that the text does not have, because it panics on a block scalar
    /// without one; the reference keeps the text's end as it is.
    fn mend_last_line(&self, value: &mut String, start: Mark, end: Mark) {
        let last = self.text.rsplit(BREAKS).next().unwrap_or_default();
        if last.is_empty() || self.offset(end) <= self.text.len() {
            return;
        }
        let scalar = self.text.get(self.offset(start)..).unwrap_or_default();
        let (header, body) = scalar.split_once(BREAKS).unwrap_or((scalar, ""));
        let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first =
            |text: &str| text.split(BREAKS).find(|line| !line.trim_matches(' ').is_empty()).map(blanks);
        // The last line counts if it reaches beyond the indentation of the scalar.
        let counts = match (first(body), first(value)) {
            _ if blanks(last) < last.len() => true,
            (Some(written), Some(read)) => blanks(last) > written.saturating_sub(read),
            _ => value.trim_end_matches('\n').ends_with(' '),
        };
        let keeps = header.split([' ', '\t']).next().is_some_and(|header| header.contains('+'));
        if (counts || keeps) && value.ends_with('\n') {
            value.pop();
        }
    }

    fn parse(&mut self) -> Result<Event, SyntaxError> {
        loop {
            match self.parser.parse() {
                Ok(Event { data: EventData::StreamStart { .. }, .. }) => {}
                Ok(event) => return Ok(event),
                Err(error) => return Err(self.error(&error)),
            }
        }
    }

    fn error(&self, error: &libyaml_safer::Error) -> SyntaxError {
        if let Some(control) = positions::first_control_character(self.text) {
            let (offset, character) = control;
            return SyntaxError::new(
                "control-character",
                format!("the control character U+{:04X}", u32::from(character)),
            )
            .help("remove it, or write it as an escape in a double-quoted text")
            .at(positions::span(self.text, offset, character.len_utf8()));
        }
        let problem = error.problem();
        if problem == "did not find expected <document start>" {
            let place = error.problem_mark().map(|mark| self.span(mark, mark));
            let error = SyntaxError::new("trailing-text", "text behind the end of the document")
                .help("a document is one mapping; put `---` on a line of its own before another");
            return SyntaxError { span: place, ..error };
        }
        let message = match error.context() {
            Some(context) => format!("{problem} {context}"),
            None => problem.to_owned(),
        };
        let mut result = SyntaxError::new("syntax", message.replace("hexdecimal", "hexadecimal"));
        result.help = help(self.text, error.problem_mark().map_or(0, |mark| self.offset(mark)), problem);
        if let Some(mark) = error.problem_mark() {
            result = result.at(self.span(mark, mark));
        }
        if let (Some(context), Some(mark)) = (error.context(), error.context_mark())
            && error.problem_mark() != Some(mark)
        {
            result.related.push((context.to_owned(), self.span(mark, mark)));
        }
        result
    }
}

/// An error for a value nested too deep.
pub(super) fn too_deep(span: Span) -> SyntaxError {
    SyntaxError::new("too-deep", format!("nested more than {MAX_DEPTH} levels deep"))
        .help("no Kubernetes object needs this depth; look for a bracket or an alias repeated by mistake")
        .at(span)
}

fn help(text: &str, offset: usize, problem: &str) -> Option<String> {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let help = if problem == "found character that cannot start any token" {
        match text.get(offset..)?.chars().next()? {
            '\t' => "indent with blanks: YAML allows no tab here",
            '@' | '`' | '%' => "put a text that begins with this character in quotes",
            _ => return None,
        }
    } else if problem.contains("tab character") || line.starts_with('\t') {
        "indent with blanks: YAML allows no tab here"
    } else if problem == "mapping values are not allowed in this context" {
        "put a text that contains `: ` in quotes, or mend the indentation"
    } else if problem.contains("could not find expected ':'") {
        "a key needs `:` after it; a text of several lines needs quotes or `|`"
    } else if problem.contains("did not find expected key") || problem.contains("<block end>") {
        "mend the indentation: this line belongs to no mapping or list that is open here"
    } else {
        return None;
    };
    Some(help.to_owned())
}

fn directive_offset(text: &str) -> usize {
    if text.starts_with('%') { 0 } else { text.find("\n%").map_or(0, |offset| offset + 1) }
}

/// What ends a line to YAML 1.1.
const BREAKS: &[char] = &['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The parser drops such a mark, the reference takes it for a part of the key that follows.
fn refuse_inner_byte_order_mark(text: &str) -> Result<(), SyntaxError> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let found = rest.match_indices(BYTE_ORDER_MARK).map(|(offset, _)| offset).find(|offset| {
        let before = rest.get(..*offset).unwrap_or_default();
        before.is_empty() || before.ends_with(BREAKS)
    });
    found.map_or(Ok(()), |offset| {
        Err(SyntaxError::new("byte-order-mark", "a byte order mark (U+FEFF) inside the text")
            .help("remove it; it comes from files joined together")
            .at(positions::span(text, text.len() - rest.len() + offset, BYTE_ORDER_MARK.len_utf8())))
    })
}

/// The text in chunks that end between characters, with a line break at the end of the last line.
struct Chunks<'t> {
    rest: &'t [u8],
    newline: bool,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), available.get(..length)) {
            to.copy_from_slice(from);
        }
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Chunks<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.rest.is_empty() {
            return Ok(if self.newline { b"\n" } else { b"" });
        }
        let mut end = CHUNK.min(self.rest.len());
        // Bytes that continue a character are 0b10xxxxxx.
        while self.rest.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end += 1;
        }
        Ok(self.rest.get(..end).unwrap_or(self.rest))
    }

    fn consume(&mut self, length: usize) {
        if self.rest.is_empty() {
            self.newline = self.newline && length == 0;
        } else {
            self.rest = self.rest.get(length..).unwrap_or_default();
        }
    }
}
