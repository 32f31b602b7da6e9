//! The one writer: a value to block-style YAML.
//!
//! Every text that some reader of YAML 1.1 or 1.2 could take for something else is quoted, so that
//! what was a text stays a text whoever reads it.

use std::fmt::Write;

use super::scalar::{self, Scalar};
use crate::model::Value;

/// Writes a value as one YAML document, with a line break at its end and keys in the value's order.
/// Reading it back gives the same value. A set is written as a list, and an undefined value as null.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(_) | Value::Array(_) | Value::Set(_) if !is_empty(value) => node(&mut out, value, 0),
        _ => {
            leaf(&mut out, value, 0);
            out.push('\n');
        }
    }
    out
}

/// How far a level is indented. Lists stand at the level of their key, as kubectl writes them.
const INDENT: usize = 2;

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Set(items) => items.is_empty(),
        _ => true,
    }
}

/// The lines of a collection that is not empty. The first line's indentation is written already.
fn node(out: &mut String, value: &Value, indent: usize) {
    let mut first = true;
    let mut begin = |out: &mut String| {
        if !std::mem::take(&mut first) {
            out.extend(std::iter::repeat_n(' ', indent));
        }
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter() {
                begin(out);
                match key {
                    Value::String(text) => key_of(out, text, indent),
                    // Cannot come from a manifest: there all keys are texts.
                    other => key_of(out, &other.to_string(), indent),
                }
                child(out, value, indent, matches!(value, Value::Object(_)));
            }
        }
        Value::Array(items) => items.iter().for_each(|value| {
            begin(out);
            item(out, value, indent);
        }),
        Value::Set(items) => items.iter().for_each(|value| {
            begin(out);
            item(out, value, indent);
        }),
        _ => {}
    }
}

/// A key and its colon.
fn key_of(out: &mut String, text: &str, indent: usize) {
    let start = out.len();
    text_on_a_line(out, text);
    // YAML takes a longer text for a key only with a mark before it.
    if out.len() - start > 1000 {
        out.insert_str(start, "? ");
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
    }
    out.push(':');
}

/// The value of a key.
fn child(out: &mut String, value: &Value, indent: usize, deeper: bool) {
    if is_empty(value) {
        out.push(' ');
        leaf(out, value, indent + INDENT);
        out.push('\n');
        return;
    }
    let indent = if deeper { indent + INDENT } else { indent };
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
    node(out, value, indent);
}

/// An item of a list.
fn item(out: &mut String, value: &Value, indent: usize) {
    out.push_str("- ");
    if is_empty(value) {
        leaf(out, value, indent + INDENT);
        out.push('\n');
    } else {
        node(out, value, indent + INDENT);
    }
}

/// A value that needs no lines of its own, but for a text of several lines.
fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null | Value::Undefined => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(_) => number(out, value),
        Value::String(text) if is_block(text) => block(out, text, indent),
        Value::String(text) => text_on_a_line(out, text),
        Value::Array(_) | Value::Set(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn number(out: &mut String, value: &Value) {
    let integer = value.as_i64().map(|number| (number.to_string(), Value::from(number)));
    let integer = integer.or_else(|_| value.as_u64().map(|number| (number.to_string(), Value::from(number))));
    match (integer, value.as_f64()) {
        (Ok((text, read)), _) if read == *value => out.push_str(&text),
        // The shortest digits that read back as this float; a sign, as YAML 1.1 wants it.
        (_, Ok(float)) => out.push_str(&format!("{float:?}").replace('e', "e+").replace("e+-", "e-")),
        (_, Err(_)) => out.push_str(&value.to_string()),
    }
}

/// Whether a text is exact as a `|` block: several lines, none that a reader could take for
/// indentation or drop, and no character that needs an escape.
fn is_block(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && text.lines().all(|line| line.is_empty() || !line.trim_matches([' ', '\t']).is_empty())
        && text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
}

fn block(out: &mut String, text: &str, indent: usize) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent.max(INDENT)));
            out.push_str(line);
        }
    }
    // The caller ends the last line.
    out.extend(std::iter::repeat_n('\n', (text.len() - body.len()).saturating_sub(1)));
}

fn text_on_a_line(out: &mut String, text: &str) {
    if is_safe_plain(text) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Characters that mean something to YAML at the beginning of a text.
const INDICATORS: &[char] = &[
    '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '=', '<',
    ' ',
];

/// Whether every reader takes the text, written plainly, for that text.
fn is_safe_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 512
        && !text.starts_with(INDICATORS)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !is_other_type(text)
}

/// Whether some reader takes the text for no text: ours, and what YAML 1.1 and 1.2 say besides.
fn is_other_type(text: &str) -> bool {
    if !matches!(scalar::plain(text), Ok(Scalar::Text)) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    // Whatever looks like a number, a date, a time or base 60; and the words in any case.
    lower.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '.')
        || matches!(
            lower.as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "nan" | "inf" | "infinity"
        )
}

/// Printable and no line break to any reader.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{A0}'..='\u{2027}' | '\u{202A}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}'
        | '\u{FF00}'..='\u{FFFD}' | '\u{10000}'..)
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                // Writing to a string cannot fail.
                let _ =
                    if code > 0xFFFF { write!(out, "\\U{code:08X}") } else { write!(out, "\\u{code:04X}") };
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reader::value;
    use super::*;

    fn written(text: &str) -> String {
        emit(&Value::from(text)).trim_end().to_owned()
    }

    #[test]
    fn values_are_written_as_kubectl_writes_them() {
        let text = r#"{"a": {"b": [1, {"c": "x", "d": []}, [2, 3]], "e": {}}, "f": null, "g": "one\ntwo\n", "h": 1.5}"#;
        assert_eq!(
            emit(&value(text).unwrap()),
            "a:\n  b:\n  - 1\n  - c: x\n    d: []\n  - - 2\n    - 3\n  e: {}\nf: null\ng: |\n  one\n  two\nh: 1.5\n"
        );
    }

    #[test]
    fn texts_that_a_reader_could_take_for_something_else_are_quoted() {
        for text in [
            "yes",
            "y",
            "NO",
            "on",
            "1_000",
            "0644",
            "0o7",
            "~",
            "=",
            "<<",
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "- a",
            "2024-01-01",
            "12:30:45",
            "1e3",
            ".5",
            ".inf",
            "null",
            "{a}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "@a",
            "`a",
            "%a",
            "a:",
            "\u{85}",
            "\u{2028}",
            "a\tb",
            "\u{FEFF}a",
            "---",
            "nan",
            "0x1F",
            "+1",
            "-1",
            "\u{7f}",
        ] {
            assert!(written(text).starts_with('"'), "{text:?} is written {}", written(text));
        }
        for text in
            ["a", "a-b", "nginx:1.25", "http://x/?a=b#c", "a, b", "it's", "é", "x=1", "kube-system", "v1"]
        {
            assert_eq!(written(text), text);
        }
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ \t\n:#'\"{}\\[\\]a0-9_.+~<=yYnNoOeE|>&*!%@`-]{0,8}",
            "( ?[a-z#-]{0,3}\n?){0,6}",
            Just("k".repeat(1500)),
        ]
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            prop::num::f64::NORMAL.prop_map(Value::from),
            (-1e6..1e6f64).prop_map(Value::from),
            texts().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(texts().prop_map(Value::from), inner, 0..6).prop_map(Value::from),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_written_reads_as_what_it_was(original in values()) {
            let text = emit(&original);
            prop_assert_eq!(value(&text).unwrap(), original, "{}", text);
        }

        #[test]
        fn another_reader_takes_every_text_for_the_same_text(text in texts()) {
            let written = emit(&Value::from(vec![Value::from(text.clone())]));
            let read: serde_yaml::Value = serde_yaml::from_str(&written).unwrap();
            prop_assert_eq!(read[0].as_str(), Some(text.as_str()), "{}", written);
        }
    }
}
