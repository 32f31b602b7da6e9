//! `sprintf` as Go's `fmt` formats what OPA hands it (open-policy-agent/opa topdown/strings.go):
//! numbers as integers or floats, everything else as its text. The engine's own ignores flags and
//! widths of strings, drops a value that does not fit its verb, and takes any width.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use super::bounded::written;
use super::{Function, TEXT_LIMIT, original, text};
use crate::model::Value;

pub(super) const FUNCTIONS: &[(&str, u8, Function)] = &[("sprintf", 2, sprintf)];

/// The largest width and precision.
const WIDTH_LIMIT: usize = 1000;

/// `%[flags][width][.precision]verb`.
#[derive(Debug, Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "the five flags that `fmt` has")]
struct Directive {
    left: bool,
    sign: bool,
    blank: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

fn sprintf(arguments: &[Value]) -> Result<Value, String> {
    let format = text("sprintf", arguments, 0)?;
    let Some(Value::Array(values)) = arguments.get(1) else {
        return Err("`sprintf` takes an array of values second".into());
    };
    let mut values = values.iter();
    let mut result = String::with_capacity(format.len());
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' {
            result.push(character);
            continue;
        }
        let mut directive = Directive::default();
        while let Some(flag) = characters.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => directive.left = true,
                '+' => directive.sign = true,
                ' ' => directive.blank = true,
                '#' => directive.alternate = true,
                _ => directive.zeros = true,
            }
        }
        directive.width = digits(&mut characters)?.unwrap_or_default();
        if characters.next_if_eq(&'.').is_some() {
            directive.precision = Some(digits(&mut characters)?.unwrap_or_default());
        }
        match characters.next() {
            Some('%') => result.push('%'),
            Some(verb) => {
                let value = values
                    .next()
                    .ok_or_else(|| format!("`sprintf`: `{format}` has more verbs than there are values"))?;
                result.push_str(&directive.format(verb, value)?);
            }
            None => return Err(format!("`sprintf`: `{format}` ends in the middle of a verb")),
        }
        if result.len() > TEXT_LIMIT {
            return Err(format!("`sprintf` makes texts of at most {TEXT_LIMIT} bytes"));
        }
    }
    match values.count() {
        0 => Ok(Value::from(result)),
        extra => Err(format!("`sprintf`: `{format}` has fewer verbs than there are values, by {extra}")),
    }
}

/// A width or precision, if one follows.
fn digits(characters: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, String> {
    let mut digits = String::new();
    while let Some(digit) = characters.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(number) if number <= WIDTH_LIMIT => Ok(Some(number)),
        _ => Err(format!("`sprintf` takes widths and precisions of at most {WIDTH_LIMIT}")),
    }
}

impl Directive {
    fn format(self, verb: char, value: &Value) -> Result<String, String> {
        let mut budget = TEXT_LIMIT;
        if !written(value, &mut budget) {
            return Err(format!("`sprintf` makes texts of at most {TEXT_LIMIT} bytes"));
        }
        let Value::Number(number) = value else {
            return Ok(self.text(verb, &shown(value)));
        };
        let float = number.as_f64().or_else(|| number.format_decimal().parse().ok()).unwrap_or(f64::NAN);
        let whole = number.is_integer();
        let digits = number.abs();
        let minus = !number.is_positive() && digits.is_positive();
        let prefix = |text: &'static str| if self.alternate { text } else { "" };
        let body = match verb {
            'v' | 'd' | 's' if whole => digits.format_decimal(),
            'b' if whole => format!("{}{}", prefix("0b"), digits.format_bin()),
            'o' if whole => format!("{}{}", prefix("0"), digits.format_octal()),
            'O' if whole => format!("0o{}", digits.format_octal()),
            'x' if whole => format!("{}{}", prefix("0x"), digits.format_hex()),
            'X' if whole => format!("{}{}", prefix("0X"), digits.format_big_hex()),
            'c' if whole => {
                let character = number.as_u64().and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32);
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER).to_string();
                return Ok(self.pad("", &character, false));
            }
            'f' | 'F' => format!("{:.*}", self.precision.unwrap_or(6), float.abs()),
            'e' => exponential(float.abs(), self.precision.unwrap_or(6)),
            'E' => exponential(float.abs(), self.precision.unwrap_or(6)).to_uppercase(),
            'g' => general(float.abs(), self.precision, -4, 21),
            'G' => general(float.abs(), self.precision, -4, 21).to_uppercase(),
            'v' | 's' => general(float.abs(), self.precision, -4, 21),
            other => {
                let kind = if whole { "int" } else { "float64" };
                return Ok(format!("%!{other}({kind}={})", number.format_decimal()));
            }
        };
        let sign = match (minus, self.sign, self.blank) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        };
        Ok(self.pad(sign, &body, true))
    }

    fn text(self, verb: char, text: &str) -> String {
        let cut: String = match self.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_owned(),
        };
        match verb {
            's' | 'v' => self.pad("", &cut, false),
            'q' => self.pad("", &quoted(&cut), false),
            'x' | 'X' => {
                let hex = cut.bytes().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
                self.pad("", &if verb == 'X' { hex.to_uppercase() } else { hex }, false)
            }
            'T' => self.pad("", "string", false),
            other => format!("%!{other}(string={text})"),
        }
    }

    fn pad(self, sign: &str, body: &str, number: bool) -> String {
        let missing = self.width.saturating_sub(sign.chars().count() + body.chars().count());
        if self.left {
            format!("{sign}{body}{}", " ".repeat(missing))
        } else if self.zeros && number {
            format!("{sign}{}{body}", "0".repeat(missing))
        } else {
            format!("{}{sign}{body}", " ".repeat(missing))
        }
    }
}

/// The text of a value: of a string its content, of anything else as Rego writes it.
fn shown(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::String(content) => text.push_str(content),
        other => rego(other, &mut text),
    }
    text
}

fn rego(value: &Value, text: &mut String) {
    let list = |text: &mut String, items: &mut dyn Iterator<Item = &Value>| {
        for (position, item) in items.enumerate() {
            if position > 0 {
                text.push_str(", ");
            }
            rego(item, text);
        }
    };
    match value {
        Value::String(content) => text.push_str(&serde_json::Value::from(&**content).to_string()),
        Value::Number(number) => text.push_str(&number.format_decimal()),
        Value::Array(items) => {
            text.push('[');
            list(text, &mut items.iter());
            text.push(']');
        }
        Value::Set(items) if items.is_empty() => text.push_str("set()"),
        Value::Set(items) => {
            text.push('{');
            list(text, &mut items.iter_sorted());
            text.push('}');
        }
        Value::Object(fields) => {
            text.push('{');
            for (position, (key, item)) in fields.iter_sorted().enumerate() {
                if position > 0 {
                    text.push_str(", ");
                }
                rego(key, text);
                text.push_str(": ");
                rego(item, text);
            }
            text.push('}');
        }
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Undefined => text.push_str("<undefined>"),
    }
}

/// As Go's `strconv.Quote`, which the engine has.
fn quoted(text: &str) -> String {
    let arguments = [Value::from("%q"), Value::from(vec![Value::from(text)])];
    match original("sprintf", &arguments) {
        Ok(Value::String(quoted)) => quoted.to_string(),
        _ => format!("{text:?}"),
    }
}

/// `1.500000e+06`: at least two digits of exponent, with its sign.
fn exponential(number: f64, precision: usize) -> String {
    with_exponent(&format!("{number:.precision$e}"))
}

fn with_exponent(text: &str) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The shortest text that reads as the number, or one of so many digits; with an exponent below
/// `low` and from `high` on.
fn general(number: f64, precision: Option<usize>, low: i32, high: i32) -> String {
    let scientific = match precision {
        Some(precision) => format!("{number:.*e}", precision.max(1) - 1),
        None => format!("{number:e}"),
    };
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let high = precision.map_or(high, |precision| i32::try_from(precision.max(1)).unwrap_or(high));
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < low || exponent >= high {
        return with_exponent(&format!("{}e{exponent}", trimmed(mantissa)));
    }
    match precision {
        Some(precision) => {
            let decimals = i32::try_from(precision.max(1)).unwrap_or(high) - 1 - exponent;
            trimmed(&format!("{number:.*}", usize::try_from(decimals).unwrap_or_default()))
        }
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eval, eval_plain};
    use crate::model::Value;

    fn format(arguments: &str) -> String {
        match eval(&format!("sprintf({arguments})")) {
            Ok(Value::String(text)) => text.to_string(),
            other => panic!("{arguments}: {other:?}"),
        }
    }

    /// The right sides are what Go's `fmt.Sprintf` prints by its documentation.
    #[test]
    fn values_are_formatted_as_go_formats_them() {
        for (arguments, expected) in [
            (r#""%s has %d of %v", ["web", 3, 8]"#, "web has 3 of 8"),
            (r#""%5d|%-5d|%05d|%+d|% d", [42, 42, 42, 42, 42]"#, "   42|42   |00042|+42| 42"),
            (r#""%5s|%-5s|%.2s", ["ab", "ab", "abc"]"#, "   ab|ab   |ab"),
            (r#""%-05d", [-42]"#, "-42  "),
            (r#""%05d", [-42]"#, "-0042"),
            (r#""%x %X %#x %o %b", [255, 255, 255, 8, 5]"#, "ff FF 0xff 10 101"),
            (r#""%.2f %f %8.3f %F", [3.14159, 1.5, 2.5, 1.5]"#, "3.14 1.500000    2.500 1.500000"),
            (r#""%e %.1e %E", [1500000.5, 0.00012, 12.5]"#, "1.500000e+06 1.2e-04 1.250000E+01"),
            (r#""%g %g %g %.3g", [0.5, 0.00001, 1e21, 1234.5]"#, "0.5 1e-05 1e+21 1.23e+03"),
            (r#""%v %v", [1.5, -0.25]"#, "1.5 -0.25"),
            (
                r#""%v %v %v %v", [true, null, ["a", 1], {"k": [true]}]"#,
                r#"true null ["a", 1] {"k": [true]}"#,
            ),
            (r#""%v %v", [{"b", "a"}, set()]"#, r#"{"a", "b"} set()"#),
            (r#""%q", ["a\"b\n"]"#, r#""a\"b\n""#),
            (r#""100%% %c", [97]"#, "100% a"),
            (r#""%d", ["3"]"#, "%!d(string=3)"),
            (r#""%t", [true]"#, "%!t(string=true)"),
            (r#""%s", [5]"#, "5"),
            (r#""%d", [123456789012345678901234567890]"#, "123456789012345678901234567890"),
            (r#""%x", ["hi"]"#, "6869"),
            (r#""äöü %3s", ["ä"]"#, "äöü   ä"),
        ] {
            assert_eq!(format(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn the_engine_and_we_agree_on_plain_verbs() {
        for expression in [
            r#"sprintf("%s: %d of %v, %.2f%%", ["a", 1, [1, "b"], 0.5])"#,
            r#"sprintf("%v %s", [{"a": {"b": 1}}, "c"])"#,
            r#"sprintf("%x %b %q", [10, 5, "é"])"#,
            r#"sprintf("", [])"#,
        ] {
            assert_eq!(eval(expression), eval_plain(expression), "{expression}");
        }
    }

    #[test]
    fn widths_and_texts_are_bounded() {
        for expression in [
            r#"sprintf("%999999999d", [1])"#,
            r#"sprintf("%99999999999999999999999d", [1])"#,
            r#"sprintf("%.999999999f", [1])"#,
            r#"sprintf("%1001s", ["a"])"#,
        ] {
            assert!(eval(expression).unwrap_err().contains("at most 1000"), "{expression}");
        }
    }

    #[test]
    fn values_and_verbs_must_be_as_many() {
        for expression in
            [r#"sprintf("%s", [])"#, r#"sprintf("a", [1])"#, r#"sprintf("%", [])"#, r#"sprintf("%5", [1])"#]
        {
            eval(expression).unwrap_err();
        }
    }
}
