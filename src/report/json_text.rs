//! Writes JSON so that it can also be looked at: characters that act on a terminal are `\u` escapes.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::clean;

/// Writes a value, indented, and a line break.
pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Visible(PrettyFormatter::new())))?;
    bytes.push(b'\n');
    out.write_all(&bytes)
}

/// One line, without a line break; for a value inside another format.
pub(super) fn string(text: &str) -> String {
    let mut bytes = Vec::new();
    let written =
        text.serialize(&mut Serializer::with_formatter(&mut bytes, Visible(PrettyFormatter::new())));
    match written.map(|()| String::from_utf8(bytes)) {
        Ok(Ok(string)) => string,
        _ => String::from("\"\""),
    }
}

/// [`PrettyFormatter`], but with the characters of [`clean::first_active`] escaped.
struct Visible(PrettyFormatter<'static>);

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((before, hidden)) = clean::first_active(rest).and_then(|at| rest.split_at_checked(at))
        {
            out.write_all(before.as_bytes())?;
            let mut after = hidden.chars();
            for unit in after.next().iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = after.as_str();
        }
        out.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_nothing_is_lost() {
        let text = "a\u{1b}[2J\u{9b}\u{202e}b\u{e0041}\"\\\nü ##[error]";
        let json = string(text);
        assert_eq!(json, r#""a\u001b[2J\u009b\u202eb\udb40\udc41\"\\\nü #\u0023[error]""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
