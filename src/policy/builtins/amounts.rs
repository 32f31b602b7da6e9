//! Reckoning with amounts of devices, which are an object where they are not known exactly.

use super::Function;
use crate::accelerators::Amount;
use crate::model::Value;

pub(super) const FUNCTIONS: &[(&str, u8, Function)] = &[
    ("fleetgate.add", 2, |a| {
        Ok(amount("fleetgate.add", a, 0)?.add(&amount("fleetgate.add", a, 1)?).to_value())
    }),
    ("fleetgate.fits", 2, fits),
    ("fleetgate.known", 1, |a| Ok(Value::from(amount("fleetgate.known", a, 0)?.known().is_some()))),
    ("fleetgate.over", 2, over),
    ("fleetgate.show", 1, |a| Ok(Value::from(amount("fleetgate.show", a, 0)?.to_string()))),
];

fn fits(arguments: &[Value]) -> Result<Value, String> {
    let limit = limit("fleetgate.fits", arguments)?;
    Ok(Value::from(amount("fleetgate.fits", arguments, 0)?.fits(limit).as_str()))
}

fn over(arguments: &[Value]) -> Result<Value, String> {
    let limit = limit("fleetgate.over", arguments)?;
    Ok(Value::from(amount("fleetgate.over", arguments, 0)?.at_least().saturating_sub(limit)))
}

fn amount(function: &str, arguments: &[Value], position: usize) -> Result<Amount, String> {
    let value = arguments.get(position).unwrap_or(&Value::Undefined);
    Amount::from_value(value).ok_or_else(|| {
        format!(
            "`{function}` takes an amount of the demand, a whole number or what stands for one, not {value}"
        )
    })
}

fn limit(function: &str, arguments: &[Value]) -> Result<u64, String> {
    match arguments.get(1) {
        Some(Value::Number(number)) => number.as_u64(),
        _ => None,
    }
    .ok_or_else(|| format!("`{function}` takes a limit that is a whole number"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eval, json};

    #[test]
    fn amounts_are_compared_and_added_whatever_is_known_of_them() {
        for (term, expected) in [
            ("fleetgate.fits(8, 8)", r#""yes""#),
            ("fleetgate.fits(9, 8)", r#""no""#),
            (r#"fleetgate.fits({"atLeast": 2, "unknown": ["a placeholder"]}, 8)"#, r#""unknown""#),
            (r#"fleetgate.fits({"atLeast": 9, "unknown": ["a placeholder"]}, 8)"#, r#""no""#),
            (r#"fleetgate.fits({"atLeast": 0, "unbounded": true}, 8)"#, r#""no""#),
            ("fleetgate.add(3, 5)", "8"),
            (
                r#"fleetgate.add(3, {"atLeast": 2, "unbounded": true})"#,
                r#"{"atLeast": 5, "unbounded": true}"#,
            ),
            ("fleetgate.over(11, 8)", "3"),
            ("fleetgate.over(7, 8)", "0"),
            (r#"fleetgate.over({"atLeast": 9, "unbounded": true}, 8)"#, "1"),
            ("fleetgate.known(0)", "true"),
            (r#"fleetgate.known({"atLeast": 0, "unbounded": true})"#, "false"),
            ("fleetgate.show(8)", r#""8""#),
            (r#"fleetgate.show({"atLeast": 8, "unbounded": true})"#, r#""8 or more, without bound""#),
            (r#"fleetgate.show({"atLeast": 0, "unbounded": true})"#, r#""any number, without bound""#),
            (r#"fleetgate.show({"atLeast": 8, "unknown": ["a placeholder"]})"#, r#""at least 8""#),
            (r#"fleetgate.show({"atLeast": 0, "unknown": ["a placeholder"]})"#, r#""an unknown number""#),
        ] {
            assert_eq!(eval(term), Ok(json(expected)), "{term}");
        }
    }

    #[test]
    fn what_is_no_amount_is_an_error_and_never_fits() {
        for term in [
            "fleetgate.fits(-1, 8)",
            "fleetgate.fits(1.5, 8)",
            r#"fleetgate.fits("8", 8)"#,
            "fleetgate.fits(null, 8)",
            r#"fleetgate.fits({"atLeast": 1}, 8)"#,
            r#"fleetgate.fits(8, "8")"#,
            "fleetgate.over(8, -1)",
            "fleetgate.add(8, true)",
        ] {
            assert!(eval(term).is_err(), "{term}");
        }
    }
}
