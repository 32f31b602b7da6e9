//! A guard: the parser panics on a tag that a comma follows without a blank (`[!a, b]`), which the
//! reference reader refuses.

use libyaml_safer::EventData;

use super::events::Events;
use super::{SyntaxError, positions};

/// Refuses a tag that a comma follows without a blank. Costs next to nothing for a text that holds
/// no `!` with a comma behind it.
pub(super) fn refuse_tag_before_comma(text: &str) -> Result<(), SyntaxError> {
    let commas = commas(text);
    if commas.is_empty() {
        return Ok(());
    }
    // What looks like such a tag can be plain text, a comment or a quoted text. So the text is
    // parsed with a blank before each such comma, which is safe, to see which are tags.
    let mut spaced = String::with_capacity(text.len() + commas.len());
    let mut done = 0;
    for comma in &commas {
        spaced.push_str(text.get(done..*comma).unwrap_or_default());
        // With a blank behind it, a colon would begin to mean something.
        if spaced.strip_suffix(':').is_some_and(|before| !before.ends_with(['"', '\'', ']', '}'])) {
            spaced.pop();
            spaced.push('_');
        }
        spaced.push(' ');
        done = *comma;
    }
    spaced.push_str(text.get(done..).unwrap_or_default());
    let mut events = Events::unchecked(&spaced);
    loop {
        let event = events.next().map_err(|error| SyntaxError {
            span: error.span.map(|span| {
                let inserted =
                    commas.iter().enumerate().filter(|(i, comma)| **comma + i < span.offset).count();
                positions::span(text, span.offset - inserted, 0)
            }),
            related: Vec::new(),
            ..error
        })?;
        let tagged = match &event.data {
            EventData::StreamEnd => return Ok(()),
            EventData::Scalar { tag, anchor, .. }
            | EventData::SequenceStart { tag, anchor, .. }
            | EventData::MappingStart { tag, anchor, .. } => tag.is_some().then_some(anchor),
            _ => None,
        };
        let Some(anchor) = tagged else { continue };
        let mut start = events.offset(event.start_mark);
        let rest = spaced.get(start..).unwrap_or_default();
        if anchor.is_some() {
            start += rest.find('!').unwrap_or_default();
        }
        let word = spaced.get(start..).unwrap_or_default();
        let end = start + word.find(char::is_whitespace).unwrap_or(word.len());
        if let Some((index, _)) = commas.iter().enumerate().find(|(index, comma)| **comma + index == end) {
            return Err(SyntaxError::new("syntax", "a comma directly behind a tag")
                .help("put a blank between the tag and the comma, or the text in quotes")
                .at(positions::span(text, start.saturating_sub(index), 1)));
        }
    }
}

/// Offsets, ascending, of each comma that ends a word in which a tag may stand.
fn commas(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    // From the end, so that what follows in the same word is known: the next comma, and the comma
    // directly behind the next `>`, if one is there.
    let (mut comma, mut closing) = (None, None);
    for (index, byte) in bytes.iter().enumerate().rev() {
        match byte {
            b',' => comma = Some(index),
            b'>' => closing = Some(index + 1).filter(|next| bytes.get(*next) == Some(&b',')),
            b'!' => {
                // `!<…>` may hold commas itself.
                let verbatim = bytes.get(index + 1) == Some(&b'<');
                found.extend(if verbatim { closing } else { comma });
            }
            byte if byte.is_ascii_whitespace() => (comma, closing) = (None, None),
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
