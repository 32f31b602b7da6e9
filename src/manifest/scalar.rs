//! What a YAML scalar means to Kubernetes.
//!
//! Follows `go.yaml.in/yaml/v2` `resolve.go` and `decode.go`, which `sigs.k8s.io/yaml` reads with:
//! mostly YAML 1.1, without its base-60 numbers. Integers that the reference would turn into
//! floating point are refused, as are `!!binary` and `!!timestamp`.

use std::borrow::Cow;

/// The prefix that `!!` stands for.
const CORE: &str = "tag:yaml.org,2002:";

/// A scalar, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// Between `i64::MIN` and `u64::MAX`.
    Integer(i128),
    /// Finite, or not: JSON has no word for infinities, so a value must not be one, but a key may.
    Float(f64),
    /// The text of the scalar as it stands.
    Text,
}

/// Why a scalar cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScalarError {
    /// An integer below `i64::MIN` or above `u64::MAX`.
    TooLarge,
    /// The text is not what its tag says; the tag in short form.
    NotA(String),
    /// A tag that we do not read; the tag in short form.
    UnsupportedTag(String),
}

/// Reads a scalar. `implicit` is true for a plain scalar without a tag (and for the tag `!`).
pub(super) fn resolve(text: &str, tag: Option<&str>, implicit: bool) -> Result<Scalar, ScalarError> {
    let Some(tag) = tag.filter(|tag| !tag.is_empty()) else {
        return if implicit { plain(text) } else { Ok(Scalar::Text) };
    };
    let Some(name) = tag.strip_prefix(CORE) else { return Ok(Scalar::Text) };
    let scalar = match name {
        "binary" | "timestamp" => return Err(ScalarError::UnsupportedTag(format!("!!{name}"))),
        "null" | "bool" | "int" | "float" => plain(text)?,
        _ => return Ok(Scalar::Text),
    };
    match (name, scalar) {
        ("null", Scalar::Null) => Ok(Scalar::Null),
        ("bool", Scalar::Bool(value)) => Ok(Scalar::Bool(value)),
        ("int", Scalar::Integer(value)) => Ok(Scalar::Integer(value)),
        ("float", Scalar::Float(value)) => Ok(Scalar::Float(value)),
        // The reference has no such rule for integers that need 64 bits without a sign.
        ("float", Scalar::Integer(value)) => match i64::try_from(value) {
            #[expect(clippy::cast_precision_loss, reason = "`!!float` asks for the nearest float")]
            Ok(value) => Ok(Scalar::Float(value as f64)),
            Err(_) => Err(ScalarError::NotA("!!float".to_owned())),
        },
        _ => Err(ScalarError::NotA(format!("!!{name}"))),
    }
}

/// Reads a plain scalar without a tag.
pub(super) fn plain(text: &str) -> Result<Scalar, ScalarError> {
    let Some(first) = text.bytes().next() else { return Ok(Scalar::Null) };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => Ok(word(text)),
        b'.' => Ok(match text {
            ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
            _ => point_float(text).map_or(Scalar::Text, Scalar::Float),
        }),
        b'+' | b'-' | b'0'..=b'9' => number(text),
        _ => Ok(Scalar::Text),
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text,
    }
}

/// A scalar that begins with a sign or a digit.
fn number(text: &str) -> Result<Scalar, ScalarError> {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Ok(Scalar::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Ok(Scalar::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let plain = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    let (negative, unsigned) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    if let Some(magnitude) = integer(unsigned) {
        // With a plus sign, the reference takes 64 bits with a sign only.
        let value = in_range(negative, magnitude)
            .filter(|value| !plain.starts_with('+') || i64::try_from(*value).is_ok());
        return match value {
            Some(value) => Ok(Scalar::Integer(value)),
            // The reference reads decimal digits as floating point then, and others as text.
            None if unsigned.bytes().all(|byte| byte.is_ascii_digit()) => Err(ScalarError::TooLarge),
            None => Ok(Scalar::Text),
        };
    }
    if let Some(value) = decimal_float(unsigned) {
        // `089`: digits that are no octal number become floating point.
        let digits = unsigned.bytes().all(|byte| byte.is_ascii_digit());
        if digits && value > MAX_EXACT {
            return Err(ScalarError::TooLarge);
        }
        return Ok(Scalar::Float(if negative { -value } else { value }));
    }
    // An oddity of the reference: a sign behind the prefix.
    if let Some(rest) = plain.strip_prefix("0b").filter(|rest| rest.starts_with(['+', '-'])) {
        let (sign, digits) = rest.split_at_checked(1).unwrap_or_default();
        let value = digits_of(digits, 2).and_then(|magnitude| in_range(sign == "-", magnitude));
        if let Some(value) = value.filter(|value| i64::try_from(*value).is_ok()) {
            return Ok(Scalar::Integer(value));
        }
    }
    Ok(Scalar::Text)
}

/// Largest integer up to which a float has every integer.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

fn in_range(negative: bool, magnitude: u128) -> Option<i128> {
    let value = i128::try_from(magnitude).ok()?;
    let value = if negative { -value } else { value };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

/// An integer without sign, with Go's prefixes: `0x`, `0o`, `0b` and `0` for octal. The largest
/// number stands for all that are larger.
fn integer(text: &str) -> Option<u128> {
    let mut bytes = text.bytes();
    if bytes.next() == Some(b'0') {
        match (bytes.next(), text.get(2..)) {
            (Some(b'x' | b'X'), Some(digits)) if !digits.is_empty() => return digits_of(digits, 16),
            (Some(b'o' | b'O'), Some(digits)) if !digits.is_empty() => return digits_of(digits, 8),
            (Some(b'b' | b'B'), Some(digits)) if !digits.is_empty() => return digits_of(digits, 2),
            (None, _) => return Some(0),
            _ => return digits_of(text.get(1..)?, 8),
        }
    }
    digits_of(text, 10)
}

fn digits_of(text: &str, radix: u32) -> Option<u128> {
    if text.is_empty() || !text.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(u128::from_str_radix(text, radix).unwrap_or(u128::MAX))
}

/// A float without sign: digits with at most one point among or before them, and an exponent.
fn decimal_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Too large for a float: the reference leaves it a text.
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A float that begins with a point; an underscore may stand between two digits.
fn point_float(text: &str) -> Option<f64> {
    if !text.contains('_') {
        return decimal_float(text);
    }
    let bytes = text.as_bytes();
    let digit =
        |index: Option<usize>| index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit);
    let separated = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(index, _)| digit(index.checked_sub(1)) && digit(Some(index + 1)));
    if separated { decimal_float(&text.replace('_', "")) } else { None }
}

/// The text of a key that is no text, as `sigs.k8s.io/yaml` writes it. None: not possible.
pub(super) fn key(scalar: &Scalar) -> Option<String> {
    match scalar {
        Scalar::Bool(value) => Some(value.to_string()),
        // Above `i64::MAX` the reference has a type that it takes for no key.
        Scalar::Integer(value) => i64::try_from(*value).ok().map(|value| value.to_string()),
        Scalar::Float(value) => Some(float_key(*value)),
        Scalar::Null | Scalar::Text => None,
    }
}

/// Go's `strconv.FormatFloat(value, 'g', -1, 32)`, with YAML's words for infinities.
#[expect(clippy::cast_possible_truncation, reason = "the reference narrows to 32 bits too")]
fn float_key(value: f64) -> String {
    let value = value as f32;
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    // Rust's `{:e}` gives the shortest digits, as Go does: `1.234567e6`.
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Whether a key is the merge key.
pub(super) fn is_merge(text: &str, tag: Option<&str>, implicit: bool) -> bool {
    text == "<<" && (implicit || tag.and_then(|tag| tag.strip_prefix(CORE)) == Some("merge"))
}
