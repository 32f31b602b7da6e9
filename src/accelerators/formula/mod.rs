//! The formulas of the registry of kinds: `min(spec.parallelism ?? 1, spec.completions ?? unbounded)`.
//!
//! A formula is total: no loops, no definitions, no way to fail. What an object states wrongly (a
//! placeholder, a negative count) makes the result unknown, with the reason. From loose to tight:
//! `||`, `&&`, `== !=`, `+ -`, `* /` (rounded up), `??` (unless absent), `!`.
//!
//! | word | is |
//! |---|---|
//! | `spec.a.b`, `metadata.annotations["x/y"]` | a field of the object |
//! | `item.a`, `key` | a field of the entry that a part goes through, and its key |
//! | `n` | the replicas, in `peak` |
//! | `unbounded` | infinity |
//! | `unknown("why")` | a number that the manifest does not say |
//! | `min max sub`, `clamp(n, low, high)`, `surge(n, s)` | arithmetic; `s` is a count or a percentage, rounded up and at most `n` |
//! | `gpus(machine)` | the GPUs of a machine type, from `tables/instances.yaml` |
//! | `if(c, a, b)`, `has(field)`, `lower(text)` | choice |

mod parse;

use std::sync::Arc;

use super::amount::Amount;
use super::value;
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Step, Value};

/// A parsed formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::accelerators) enum Formula {
    Number(u64),
    Percent(u64),
    Text(Arc<str>),
    Bool(bool),
    Unbounded,
    N,
    Key,
    Field { of_item: bool, route: Route },
    Or(Box<Self>, Box<Self>),
    Default(Box<Self>, Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
    Not(Box<Self>),
    Call(Function, Vec<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accelerators) enum Operator {
    And,
    Equal,
    Unequal,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accelerators) enum Function {
    Min,
    Max,
    Clamp,
    Surge,
    If,
    Has,
    Lower,
    Unknown,
    Gpus,
}

/// What a formula reads.
#[derive(Debug, Clone)]
pub(in crate::accelerators) struct Scope<'a> {
    /// The object that is meant, and where it stands.
    pub(in crate::accelerators) object: Placed<'a>,
    /// Whether `object` is only the `spec` of an object, as where one kind embeds another's.
    pub(in crate::accelerators) only_spec: bool,
    /// The entry that a part goes through.
    pub(in crate::accelerators) item: Option<Item<'a>>,
    /// `n`.
    pub(in crate::accelerators) n: Option<Amount>,
}

/// A value and where it stands in the document.
#[derive(Debug, Clone)]
pub(in crate::accelerators) struct Placed<'a> {
    pub(in crate::accelerators) value: &'a Value,
    pub(in crate::accelerators) at: Route,
}

impl<'a> Scope<'a> {
    /// A whole object.
    pub(in crate::accelerators) const fn of(object: &'a Value) -> Self {
        Self { object: Placed { value: object, at: Route::root() }, only_spec: false, item: None, n: None }
    }

    /// Where a field stands, and what it is if it is there and not `null`.
    pub(in crate::accelerators) fn find(
        &self,
        of_item: bool,
        route: &Route,
    ) -> Option<(Route, Option<&'a Value>)> {
        let (base, route) = if of_item {
            (&self.item.as_ref()?.placed, route.clone())
        } else if self.only_spec {
            match route.0.split_first() {
                Some((Step::Key(first), rest)) if **first == *"spec" => (&self.object, Route(rest.to_vec())),
                _ => return None,
            }
        } else {
            (&self.object, route.clone())
        };
        let found =
            value::at(base.value, &route).filter(|found| !matches!(found, Value::Null | Value::Undefined));
        Some((base.at.join(&route), found))
    }
}

/// An entry of a list or a mapping.
#[derive(Debug, Clone)]
pub(in crate::accelerators) struct Item<'a> {
    pub(in crate::accelerators) placed: Placed<'a>,
    pub(in crate::accelerators) key: Arc<str>,
}

/// What a formula comes to.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Absent,
    Present,
    Bool(bool),
    Text(Arc<str>, Arc<str>),
    Percent(u64),
    Number(Amount),
}

impl Formula {
    /// The number it comes to.
    pub(in crate::accelerators) fn amount(&self, scope: &Scope<'_>) -> Amount {
        self.evaluate(scope).amount()
    }

    /// The text it comes to, if it is text.
    pub(in crate::accelerators) fn text(&self, scope: &Scope<'_>) -> Option<Arc<str>> {
        match self.evaluate(scope) {
            Outcome::Text(text, _) => Some(text),
            _ => None,
        }
    }

    /// Whether it holds; what is absent does not.
    pub(in crate::accelerators) fn holds(&self, scope: &Scope<'_>) -> bool {
        self.evaluate(scope).holds()
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        match self {
            Self::Number(n) => Outcome::Number(Amount::Known(*n)),
            Self::Percent(n) => Outcome::Percent(*n),
            Self::Text(text) => Outcome::Text(text.clone(), "".into()),
            Self::Bool(is) => Outcome::Bool(*is),
            Self::Unbounded => Outcome::Number(Amount::UNBOUNDED),
            Self::N => Outcome::Number(scope.n.clone().unwrap_or(Amount::ZERO)),
            Self::Key => match &scope.item {
                Some(item) => Outcome::Text(item.key.clone(), "".into()),
                None => Outcome::Absent,
            },
            Self::Field { of_item, route } => read(scope, *of_item, route),
            Self::Or(a, b) => Outcome::Bool(a.holds(scope) || b.holds(scope)),
            Self::Default(a, b) => match a.evaluate(scope) {
                Outcome::Absent => b.evaluate(scope),
                other => other,
            },
            Self::Not(a) => Outcome::Bool(!a.holds(scope)),
            Self::Binary(operator, a, b) => {
                let amounts = |f: fn(&Amount, &Amount) -> Amount| {
                    Outcome::Number(f(&a.amount(scope), &b.amount(scope)))
                };
                match operator {
                    Operator::And => Outcome::Bool(a.holds(scope) && b.holds(scope)),
                    Operator::Equal => Outcome::Bool(a.evaluate(scope).equals(&b.evaluate(scope))),
                    Operator::Unequal => Outcome::Bool(!a.evaluate(scope).equals(&b.evaluate(scope))),
                    Operator::Add => amounts(Amount::add),
                    Operator::Subtract => amounts(Amount::sub),
                    Operator::Multiply => amounts(Amount::mul),
                    Operator::Divide => amounts(Amount::div_ceil),
                }
            }
            Self::Call(function, arguments) => function.call(arguments, scope),
        }
    }
}

impl Function {
    fn call(self, arguments: &[Formula], scope: &Scope<'_>) -> Outcome {
        match (self, arguments) {
            (Self::Min, [a, b]) => Outcome::Number(a.amount(scope).min(&b.amount(scope))),
            (Self::Max, [a, b]) => Outcome::Number(a.amount(scope).max(&b.amount(scope))),
            (Self::Clamp, [n, low, high]) => {
                let floor = n.amount(scope).max(&low.amount(scope));
                Outcome::Number(floor.min(&high.amount(scope)))
            }
            (Self::Surge, [n, by]) => Outcome::Number(surge(&n.amount(scope), &by.evaluate(scope))),
            (Self::If, [condition, then, or]) => {
                if condition.holds(scope) {
                    then.evaluate(scope)
                } else {
                    or.evaluate(scope)
                }
            }
            (Self::Has, [field]) => Outcome::Bool(field.evaluate(scope) != Outcome::Absent),
            (Self::Lower, [text]) => match text.evaluate(scope) {
                Outcome::Text(text, from) => Outcome::Text(text.to_lowercase().into(), from),
                other => other,
            },
            (Self::Unknown, [why]) => match why.evaluate(scope) {
                Outcome::Text(why, _) => Outcome::Number(Amount::unknown(why)),
                _ => Outcome::Number(Amount::unknown("a number is not known")),
            },
            (Self::Gpus, [machine]) => match machine.evaluate(scope) {
                Outcome::Text(machine, _) => Outcome::Number(super::machines::gpus(&machine)),
                _ => Outcome::Number(Amount::unknown("no machine type is stated")),
            },
            // The parser checks the number of arguments.
            _ => Outcome::Absent,
        }
    }
}

/// What a rollout adds to `n` replicas. Percentages round up (kubernetes/api apps/v1 types.go); no
/// controller starts more new replicas than there are to be.
fn surge(n: &Amount, by: &Outcome) -> Amount {
    let percent = match by {
        Outcome::Percent(percent) => Some(*percent),
        Outcome::Text(text, _) => text.strip_suffix('%').and_then(|digits| digits.parse().ok()),
        _ => None,
    };
    match percent {
        Some(percent) => n.percent(percent.min(100)),
        None => by.amount().min(n),
    }
}

impl Outcome {
    fn amount(&self) -> Amount {
        match self {
            Self::Number(amount) => amount.clone(),
            Self::Text(text, from) => match text.parse::<Quantity>().and_then(Quantity::to_count) {
                Ok(n) => Amount::Known(n),
                Err(error) => Amount::unknown(reason(from, &error.to_string())),
            },
            Self::Absent => Amount::unknown("a number that has no default is not set"),
            Self::Present => Amount::unknown("a list or mapping stands where a number belongs"),
            Self::Bool(_) => Amount::unknown("a boolean stands where a number belongs"),
            Self::Percent(_) => Amount::unknown("a percentage stands where a number belongs"),
        }
    }

    fn holds(&self) -> bool {
        match self {
            Self::Bool(is) => *is,
            Self::Text(text, _) => **text == *"true",
            Self::Number(n) => !n.is_zero(),
            Self::Present => true,
            Self::Absent | Self::Percent(_) => false,
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a, _), Self::Text(b, _)) => a == b,
            (number @ Self::Number(_), text @ Self::Text(..))
            | (text @ Self::Text(..), number @ Self::Number(_)) => number.amount() == text.amount(),
            (a, b) => a == b,
        }
    }
}

fn reason(from: &str, error: &str) -> String {
    if from.is_empty() { error.to_owned() } else { format!("`{from}`: {error}") }
}

fn read(scope: &Scope<'_>, of_item: bool, route: &Route) -> Outcome {
    let Some((at, Some(found))) = scope.find(of_item, route) else { return Outcome::Absent };
    match found {
        Value::Null | Value::Undefined => Outcome::Absent,
        Value::Bool(is) => Outcome::Bool(*is),
        Value::String(text) => Outcome::Text(text.clone(), at.to_string().into()),
        Value::Number(_) => Outcome::Number(match Quantity::from_value(found).and_then(Quantity::to_count) {
            Ok(n) => Amount::Known(n),
            Err(error) => Amount::unknown(reason(&at.to_string(), &error.to_string())),
        }),
        Value::Array(_) | Value::Set(_) | Value::Object(_) => Outcome::Present,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(formula: &str, object: &str) -> Amount {
        let object = Value::from_json_str(object).expect("an object");
        let scope = Scope { n: Some(Amount::Known(3)), ..Scope::of(&object) };
        Formula::parse(formula).unwrap_or_else(|error| panic!("{formula}: {error}")).amount(&scope)
    }

    #[test]
    fn a_formula_counts_what_the_object_says() {
        let object = r#"{"spec": {"a": 4, "b": "25%", "c": null, "on": true, "kind": "X", "q": "8"},
            "metadata": {"annotations": {"x/y": "7"}}}"#;
        for (formula, n) in [
            ("spec.a ?? 1", 4),
            ("spec.c ?? 2", 2),
            ("spec.none ?? spec.c ?? 3", 3),
            ("1 + 2 * 3", 7),
            ("7 / 2", 4),
            ("5 - 1 - 1", 3),
            ("2 - 3", 0),
            ("min(spec.a, unbounded)", 4),
            ("clamp(spec.a, 0, 2)", 2),
            ("n + surge(n, spec.b)", 4),
            ("surge(n, 100%)", 3),
            ("surge(n, 9)", 3),
            ("surge(n, 150%)", 3),
            ("if(spec.kind == \"X\" && spec.on, 1, 2)", 1),
            ("if(!has(spec.none) || false, 1, 2)", 1),
            ("if(lower(spec.kind) != \"x\", 1, 2)", 2),
            ("metadata.annotations[\"x/y\"]", 7),
            ("spec.q * (1 + 1)", 16),
        ] {
            assert_eq!(amount(formula, object), Amount::Known(n), "{formula}");
        }
    }

    #[test]
    fn what_is_stated_wrongly_is_unknown() {
        for (object, why) in [
            (
                r#"{"spec": {"a": "$NODES"}}"#,
                "`spec.a`: `$NODES` is an unreplaced placeholder, not a quantity",
            ),
            (r#"{"spec": {"a": -1}}"#, "`spec.a`: `-1` is negative"),
            (r#"{"spec": {"a": 0.5}}"#, "`spec.a`: `500m` is not a whole number"),
            (r#"{"spec": {"a": [1]}}"#, "a list or mapping stands where a number belongs"),
            (r#"{"spec": {}}"#, "a number that has no default is not set"),
        ] {
            assert_eq!(amount("spec.a", object), Amount::unknown(why));
        }
        assert_eq!(
            amount("surge(n, spec.a)", r#"{"spec": {"a": "abc"}}"#),
            Amount::unknown("`spec.a`: `abc` is not a quantity")
        );
    }

    #[test]
    fn a_wrong_formula_says_what_is_wrong() {
        for (formula, error) in [
            ("", "the formula ends too early"),
            ("1 +", "the formula ends too early"),
            ("min(1)", "`min` takes 2 arguments, not 1"),
            ("most(1)", "there is no function `most`"),
            ("spec.", "a key belongs after `.`"),
            ("1 2", "unexpected `2`"),
            ("a # b", "unexpected `#`"),
            ("\"a", "a text has no end"),
            (&"(".repeat(601), "a formula has at most 600 bytes"),
            ("99999999999999999999999", "`99999999999999999999999` is too large"),
        ] {
            assert_eq!(Formula::parse(formula), Err(error.to_owned()), "{formula}");
        }
    }
}
