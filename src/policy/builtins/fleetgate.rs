//! Our own functions, `fleetgate.*`.

use super::{Function, image, patterns, text};
use crate::manifest::quantity::{Quantity, QuantityError};
use crate::model::Value;

pub(super) const FUNCTIONS: &[(&str, u8, Function)] = &[
    ("fleetgate.glob", 2, glob),
    ("fleetgate.image", 1, image),
    ("fleetgate.image.valid", 1, |a| Ok(Value::from(a.first().is_some_and(is_image)))),
    ("fleetgate.quantity.compare", 2, compare),
    ("fleetgate.quantity.integer", 1, integer),
    ("fleetgate.quantity.valid", 1, |a| Ok(Value::from(quantity(a, 0).is_ok()))),
    ("fleetgate.quantity.whole", 1, |a| Ok(Value::from(quantity(a, 0)?.to_integer().is_some()))),
];

fn glob(arguments: &[Value]) -> Result<Value, String> {
    let pattern = text("fleetgate.glob", arguments, 0)?;
    let value = text("fleetgate.glob", arguments, 1)?;
    patterns::glob(pattern, false, |matcher| matcher.is_match(value)).map(Value::from)
}

fn image(arguments: &[Value]) -> Result<Value, String> {
    let image = image::Image::parse(text("fleetgate.image", arguments, 0)?)?;
    let optional = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    Ok([
        ("registry", Value::from(image.registry)),
        ("repository", Value::from(image.repository)),
        ("tag", optional(image.tag)),
        ("digest", optional(image.digest)),
    ]
    .into_iter()
    .map(|(key, value)| (Value::from(key), value))
    .collect::<std::collections::BTreeMap<_, _>>()
    .into())
}

fn is_image(value: &Value) -> bool {
    value.as_string().is_ok_and(|text| image::Image::parse(text).is_ok())
}

fn compare(arguments: &[Value]) -> Result<Value, String> {
    let order = quantity(arguments, 0)?.cmp(&quantity(arguments, 1)?);
    Ok(Value::from(i64::from(order as i8)))
}

fn integer(arguments: &[Value]) -> Result<Value, String> {
    let quantity = quantity(arguments, 0)?;
    quantity.to_integer().map(Value::from).ok_or_else(|| explained(&QuantityError::Fraction(quantity)))
}

fn quantity(arguments: &[Value], position: usize) -> Result<Quantity, String> {
    Quantity::from_value(arguments.get(position).unwrap_or(&Value::Undefined))
        .map_err(|error| explained(&error))
}

fn explained(error: &QuantityError) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eval, json};

    /// `-1`, `0`, `1`, or nothing for an error.
    fn compare(a: &str, b: &str) -> Option<i64> {
        eval(&format!("fleetgate.quantity.compare({a}, {b})")).ok().map(|value| value.as_i64().unwrap())
    }

    #[test]
    fn o27_quantities_compare_as_kubernetes_means_them() {
        assert_eq!(compare(r#""1.5Gi""#, r#""2Gi""#), Some(-1));
        assert_eq!(compare(r#""3e9""#, r#""2Gi""#), Some(1));
        assert_eq!(compare(r#""2048Mi""#, r#""2Gi""#), Some(0));
        assert_eq!(compare(r#""1K""#, r#""2Gi""#), None);
        assert_eq!(compare(r#""1k""#, r#""1000""#), Some(0));
        assert_eq!(compare(r#""128974848000m""#, r#""123Mi""#), Some(0));
        assert_eq!(compare(r#""4GiB""#, r#""2Gi""#), None);
    }

    #[test]
    fn o27b_text_and_number_are_the_same_quantity() {
        assert_eq!(compare(r#""2""#, "8"), Some(-1));
        assert_eq!(compare(r#""16""#, "8"), Some(1));
        assert_eq!(compare("16", "8"), Some(1));
        assert_eq!(compare("null", "8"), None);
        assert_eq!(compare("true", "8"), None);
    }

    #[test]
    fn an_error_says_what_to_write() {
        let message = eval(r#"fleetgate.quantity.compare("1K", 1)"#).unwrap_err();
        assert!(message.contains("`1K`") && message.contains("did you mean"), "{message}");
    }

    #[test]
    fn whole_quantities_are_numbers() {
        assert_eq!(eval(r#"fleetgate.quantity.integer("8")"#), Ok(json("8")));
        assert_eq!(eval(r#"fleetgate.quantity.integer("8000m")"#), Ok(json("8")));
        assert!(eval(r#"fleetgate.quantity.integer("1500m")"#).unwrap_err().contains("not a whole number"));
        assert_eq!(eval(r#"fleetgate.quantity.valid("1.5Gi")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.quantity.valid("1GB")"#), Ok(json("false")));
        assert_eq!(eval("fleetgate.quantity.valid(null)"), Ok(json("false")));
        assert_eq!(eval(r#"fleetgate.quantity.whole("1000m")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.quantity.whole("500m")"#), Ok(json("false")));
        assert!(eval(r#"fleetgate.quantity.whole("one")"#).is_err());
    }

    #[test]
    fn an_undefined_argument_makes_the_call_undefined_and_its_negation_true() {
        assert_eq!(eval("fleetgate.quantity.valid(input.none)"), Ok(crate::model::Value::Undefined));
    }

    #[test]
    fn globs() {
        assert_eq!(eval(r#"fleetgate.glob("prod-*", "prod-aws-use1")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.glob("reg.example.org/*", "reg.example.org/a/b")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.glob("{a,b}-?", "b-1")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.glob("prod", "prod-a")"#), Ok(json("false")));
        assert!(eval(r#"fleetgate.glob("[", "a")"#).unwrap_err().contains("glob"));
    }

    #[test]
    fn images() {
        assert_eq!(
            eval(r#"fleetgate.image("nginx")"#),
            Ok(json(
                r#"{"registry": "docker.io", "repository": "library/nginx", "tag": null, "digest": null}"#
            ))
        );
        assert!(eval(r#"fleetgate.image("Not An Image")"#).unwrap_err().contains("image"));
        assert_eq!(eval(r#"fleetgate.image.valid("nginx:1.27")"#), Ok(json("true")));
        assert_eq!(eval(r#"fleetgate.image.valid("Not An Image")"#), Ok(json("false")));
        assert_eq!(eval("fleetgate.image.valid(5)"), Ok(json("false")));
    }
}
