//! Functions of the engine that can make a great deal out of little, each behind a check of what it
//! would make; and those that answer "undefined" where an error is meant.

use super::{Function, ITEM_LIMIT, TEXT_LIMIT, original, text};
use crate::manifest;
use crate::model::Value;

pub(super) const FUNCTIONS: &[(&str, u8, Function)] = &[
    ("array.concat", 2, array_concat),
    ("base64.encode", 1, |a| bounded("base64.encode", a)),
    ("base64url.encode", 1, |a| bounded("base64url.encode", a)),
    ("base64url.encode_no_pad", 1, |a| bounded("base64url.encode_no_pad", a)),
    ("bits.lsh", 2, shift),
    ("concat", 2, concat),
    ("hex.encode", 1, |a| bounded("hex.encode", a)),
    ("indexof_n", 2, |a| bounded("indexof_n", a)),
    ("json.marshal", 1, |a| marshal("json.marshal", a)),
    ("json.marshal_with_options", 2, |a| marshal("json.marshal_with_options", a)),
    ("json.unmarshal", 1, |a| bounded("json.unmarshal", a)),
    ("net.cidr_expand", 1, cidr_expand),
    ("numbers.range", 2, range),
    ("numbers.range_step", 3, range_step),
    ("replace", 3, replace),
    ("split", 2, split),
    ("strings.count", 2, count),
    ("strings.replace_n", 2, replace_n),
    ("to_number", 1, to_number),
    ("units.parse", 1, |a| units("units.parse", a)),
    ("units.parse_bytes", 1, |a| units("units.parse_bytes", a)),
    ("urlquery.encode", 1, |a| bounded("urlquery.encode", a)),
    ("yaml.is_valid", 1, |a| Ok(Value::from(yaml_is_valid(a)))),
    ("yaml.marshal", 1, |a| marshal("yaml.marshal", a)),
    ("yaml.unmarshal", 1, yaml_unmarshal),
];

/// The largest shift. Kubernetes knows no number beyond 64 bits.
const SHIFT_LIMIT: u64 = 1024;

/// The most addresses of a network, as a power of two.
const HOST_BITS_LIMIT: u32 = 16;

/// The largest decimal exponent of a number in a text.
const EXPONENT_LIMIT: u32 = 400;

/// The first argument is a text of bearable length.
fn bounded(name: &str, arguments: &[Value]) -> Result<Value, String> {
    text(name, arguments, 0)?;
    original(name, arguments)
}

fn array_concat(arguments: &[Value]) -> Result<Value, String> {
    let length: usize =
        arguments.iter().filter_map(|a| a.as_array().ok()).map(regorus::value::Array::len).sum();
    items("array.concat", length)?;
    original("array.concat", arguments)
}

fn concat(arguments: &[Value]) -> Result<Value, String> {
    let delimiter = text("concat", arguments, 0)?.len();
    let lengths = |value: &Value| value.as_string().map_or(0, |text| text.len()) + delimiter;
    let length = match arguments.get(1) {
        Some(Value::Array(array)) => array.iter().map(lengths).sum(),
        Some(Value::Set(set)) => set.iter_sorted().map(lengths).sum(),
        _ => 0,
    };
    made("concat", length)?;
    original("concat", arguments)
}

fn replace(arguments: &[Value]) -> Result<Value, String> {
    let subject = text("replace", arguments, 0)?;
    let old = text("replace", arguments, 1)?;
    let new = text("replace", arguments, 2)?;
    made("replace", subject.len().saturating_add(subject.matches(old).count().saturating_mul(new.len())))?;
    original("replace", arguments)
}

/// As Go's `strings.NewReplacer`: one pass over the text, at each position the first of the sorted
/// patterns that matches. The engine's own replaces in what it has replaced.
fn replace_n(arguments: &[Value]) -> Result<Value, String> {
    let name = "strings.replace_n";
    let Some(Value::Object(patterns)) = arguments.first() else {
        return Err(format!("`{name}` takes an object of strings first"));
    };
    let mut pairs = Vec::with_capacity(patterns.len());
    for (old, new) in patterns.iter_sorted() {
        match (old, new) {
            (Value::String(old), Value::String(new)) if !old.is_empty() => pairs.push((&**old, &**new)),
            (Value::String(_), Value::String(_)) => return Err(format!("`{name}` takes no empty pattern")),
            _ => return Err(format!("`{name}` takes an object of strings first")),
        }
    }
    let mut rest = text(name, arguments, 1)?;
    let mut result = String::with_capacity(rest.len());
    while !rest.is_empty() {
        if let Some((after, new)) = pairs.iter().find_map(|(old, new)| Some((rest.strip_prefix(old)?, new))) {
            result.push_str(new);
            rest = after;
        } else {
            let mut characters = rest.chars();
            result.extend(characters.next());
            rest = characters.as_str();
        }
        made(name, result.len())?;
    }
    Ok(Value::from(result))
}

fn split(arguments: &[Value]) -> Result<Value, String> {
    let subject = text("split", arguments, 0)?;
    let delimiter = text("split", arguments, 1)?;
    items("split", subject.matches(delimiter).count())?;
    original("split", arguments)
}

/// The engine's own panics on an empty pattern.
fn count(arguments: &[Value]) -> Result<Value, String> {
    let subject = text("strings.count", arguments, 0)?;
    Ok(Value::from(subject.matches(text("strings.count", arguments, 1)?).count()))
}

fn range(arguments: &[Value]) -> Result<Value, String> {
    items("numbers.range", distance(arguments, 1))?;
    original("numbers.range", arguments)
}

fn range_step(arguments: &[Value]) -> Result<Value, String> {
    let step =
        arguments.get(2).and_then(|step| step.as_u64().ok()).and_then(|step| usize::try_from(step).ok());
    items("numbers.range_step", distance(arguments, step.unwrap_or(1).max(1)))?;
    original("numbers.range_step", arguments)
}

/// How many steps lie between the first two arguments; 0 if they are no whole numbers, which the
/// function itself refuses.
fn distance(arguments: &[Value], step: usize) -> usize {
    let number = |position| match arguments.get(position) {
        Some(Value::Number(number)) if number.is_integer() => Some(number.as_i128().unwrap_or(i128::MAX)),
        _ => None,
    };
    match (number(0), number(1)) {
        (Some(from), Some(to)) => usize::try_from(from.abs_diff(to)).unwrap_or(usize::MAX) / step,
        _ => 0,
    }
}

fn shift(arguments: &[Value]) -> Result<Value, String> {
    let large = |number: u64| number > SHIFT_LIMIT;
    match arguments.get(1) {
        Some(Value::Number(by)) if by.is_integer() && by.is_positive() && by.as_u64().is_none_or(large) => {
            Err(format!("`bits.lsh` shifts by at most {SHIFT_LIMIT}"))
        }
        _ => original("bits.lsh", arguments),
    }
}

fn cidr_expand(arguments: &[Value]) -> Result<Value, String> {
    let network = text("net.cidr_expand", arguments, 0)?;
    let bits = if network.contains(':') { 128 } else { 32 };
    let prefix: u32 = network.rsplit_once('/').and_then(|(_, prefix)| prefix.parse().ok()).unwrap_or(bits);
    if bits.saturating_sub(prefix) > HOST_BITS_LIMIT {
        return Err(format!("`net.cidr_expand` of `{network}` has more than 2^{HOST_BITS_LIMIT} addresses"));
    }
    original("net.cidr_expand", arguments)
}

/// An unknown unit is an error; the engine's own is undefined, so that the denial it stands in
/// does not fire. The exponent is bounded because the number is computed in full.
fn units(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let quantity = text(name, arguments, 0)?;
    exponent(name, quantity)?;
    match original(name, arguments)? {
        Value::Undefined => Err(format!("`{name}`: `{quantity}` has an unknown unit")),
        value => Ok(value),
    }
}

fn to_number(arguments: &[Value]) -> Result<Value, String> {
    if let Some(Value::String(number)) = arguments.first() {
        exponent("to_number", number)?;
    }
    original("to_number", arguments)
}

fn exponent(name: &str, number: &str) -> Result<(), String> {
    let digits: Option<&str> = number.split_once(['e', 'E']).map(|(_, exponent)| {
        let exponent = exponent.trim_start_matches(['+', '-']);
        exponent.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
    });
    match digits {
        Some(digits)
            if !digits.is_empty() && digits.parse().map_or(true, |value: u32| value > EXPONENT_LIMIT) =>
        {
            Err(format!("`{name}`: the exponent of `{}` is larger than {EXPONENT_LIMIT}", head(number)))
        }
        _ if number.len() > 1024 => Err(format!("`{name}`: `{}…` is too long for a number", head(number))),
        _ => Ok(()),
    }
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Values share parts of themselves, so that a small one can be enormous when written out.
fn marshal(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let mut budget = TEXT_LIMIT;
    if arguments.first().is_some_and(|value| !written(value, &mut budget)) {
        return Err(format!("`{name}` makes texts of at most {TEXT_LIMIT} bytes"));
    }
    original(name, arguments)
}

/// Whether a value fits into that many bytes when written out, roughly.
pub(super) fn written(value: &Value, budget: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len() + 2,
        _ => 2,
    };
    let Some(left) = budget.checked_sub(own) else { return false };
    *budget = left;
    match value {
        Value::Array(items) => items.iter().all(|item| written(item, budget)),
        Value::Set(items) => items.iter_sorted().all(|item| written(item, budget)),
        Value::Object(fields) => {
            fields.iter_sorted().all(|(key, item)| written(key, budget) && written(item, budget))
        }
        _ => true,
    }
}

/// Through the one YAML reader, which reads as the cluster does and has a depth limit.
fn yaml_unmarshal(arguments: &[Value]) -> Result<Value, String> {
    manifest::value(text("yaml.unmarshal", arguments, 0)?)
        .map_err(|error| format!("`yaml.unmarshal`: {}", error.message))
}

fn yaml_is_valid(arguments: &[Value]) -> bool {
    text("yaml.is_valid", arguments, 0).is_ok_and(|text| manifest::value(text).is_ok())
}

fn items(name: &str, count: usize) -> Result<(), String> {
    if count > ITEM_LIMIT { Err(format!("`{name}` makes at most {ITEM_LIMIT} elements")) } else { Ok(()) }
}

fn made(name: &str, length: usize) -> Result<(), String> {
    if length > TEXT_LIMIT {
        Err(format!("`{name}` makes texts of at most {TEXT_LIMIT} bytes"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::tests::{eval, eval_plain, json};

    #[test]
    fn the_engine_and_we_agree_within_the_bounds() {
        for expression in [
            "array.concat([1], [2, 3])",
            r#"base64.encode("ab")"#,
            "bits.lsh(1, 10)",
            "bits.lsh(-3, 2)",
            r#"concat(", ", ["a", "b"])"#,
            r#"concat("/", {"b", "a"})"#,
            r#"indexof_n("abab", "a")"#,
            r#"json.marshal({"a": [1, "x", null]})"#,
            r#"json.marshal_with_options({"a": 1}, {"pretty": true, "indent": "  "})"#,
            r#"json.unmarshal("{\"a\": [1, 2.5]}")"#,
            r#"net.cidr_expand("192.168.0.0/30")"#,
            "numbers.range(3, 6)",
            "numbers.range(6, 3)",
            "numbers.range(-1, 1)",
            "numbers.range_step(0, 10, 5)",
            "numbers.range_step(10, 0, 4)",
            r#"replace("a-b-c", "-", "__")"#,
            r#"replace("ab", "", "-")"#,
            r#"split("a/b/c", "/")"#,
            r#"split("abc", "")"#,
            r#"strings.count("banana", "a")"#,
            r#"strings.replace_n({"<": "&lt;", ">": "&gt;"}, "a<b>")"#,
            r#"to_number("1.5e3")"#,
            "to_number(null)",
            r#"units.parse("1.5K")"#,
            r#"units.parse("10Gi")"#,
            r#"units.parse_bytes("10GB")"#,
            r#"urlquery.encode("a b")"#,
            r#"yaml.unmarshal("a: [1, b]")"#,
            r#"yaml.marshal({"a": [1, "x"]})"#,
            r#"yaml.is_valid("a: b")"#,
            r#"yaml.is_valid("a: [")"#,
        ] {
            assert_eq!(eval(expression), eval_plain(expression), "{expression}");
            assert!(eval(expression).is_ok(), "{expression}");
        }
    }

    #[test]
    fn much_out_of_little_is_refused() {
        let ten = r#"concat("", [s | some i in numbers.range(0, 99); s := sprintf("%1000d", [i])])"#;
        for expression in [
            "numbers.range(1, 1000000000)",
            "numbers.range(0, 99999999999999999999)",
            "numbers.range(-9223372036854775807, 9223372036854775807)",
            "numbers.range_step(0, 100000000000, 3)",
            "bits.lsh(1, 100000000)",
            "bits.lsh(1, 99999999999999999999)",
            r#"net.cidr_expand("10.0.0.0/8")"#,
            r#"net.cidr_expand("2001:db8::/64")"#,
            r#"units.parse("1e999999999")"#,
            r#"to_number("1e999999999")"#,
            &format!(r#"replace({ten}, " ", {ten})"#),
        ] {
            let message = eval(expression).unwrap_err();
            assert!(
                message.contains("at most")
                    || message.contains("larger than")
                    || message.contains("more than"),
                "{expression}: {message}"
            );
        }
    }

    #[test]
    fn a_value_that_shares_its_parts_is_not_written_out() {
        let mut policy = String::from("x0 := [\"0123456789\"]\n");
        for level in 1..=40 {
            writeln!(policy, "x{level} := [x{}, x{}]", level - 1, level - 1).unwrap();
        }
        for call in ["json.marshal(x40)", "yaml.marshal(x40)", r#"sprintf("%v", [x40])"#] {
            let message = eval(&format!("{call}\n{policy}")).unwrap_err();
            assert!(message.contains("at most"), "{call}: {message}");
        }
    }

    #[test]
    fn o16_an_unknown_unit_is_an_error() {
        assert!(eval(r#"units.parse("4GiB")"#).unwrap_err().contains("unknown unit"));
        assert!(eval(r#"units.parse_bytes("4Foo")"#).unwrap_err().contains("unknown unit"));
        eval("units.parse(null)").unwrap_err();
    }

    #[test]
    fn replacements_do_not_replace_what_was_replaced() {
        assert_eq!(eval(r#"strings.replace_n({"a": "b", "b": "c"}, "ab")"#), Ok(json(r#""bc""#)));
        assert_eq!(eval(r#"strings.replace_n({"x": ""}, "axb")"#), Ok(json(r#""ab""#)));
    }

    #[test]
    fn a_return_value_can_be_matched_in_the_call() {
        assert_eq!(eval(r#"{y | split("a/b", "/", z); y := z[1]}"#).unwrap().to_string(), r#"["b"]"#);
    }
}
