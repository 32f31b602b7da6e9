//! Byte offsets to lines and columns, on demand.

use crate::model::Span;

/// The span that begins at a byte offset. Offsets outside the text or inside a character are moved
/// to the nearest place before.
pub(super) fn span(text: &str, offset: usize, length: usize) -> Span {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = text.get(..offset).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = text.get(start..offset).unwrap_or_default().chars().count() + 1;
    Span { offset, length: length.min(text.len() - offset), line, column }
}

/// The span of the whole line on which an offset stands, without its line break.
pub(super) fn line_span(text: &str, offset: usize) -> Span {
    let offset = offset.min(text.len());
    let rest = text.get(offset..).unwrap_or_default();
    let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
    span(text, offset, length)
}

/// The first character that YAML does not allow in a text, with its offset.
pub(super) fn first_control_character(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, c)| {
        !matches!(c,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}'
            | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    })
}
