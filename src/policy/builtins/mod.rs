//! Functions that we add to Rego, and those of the engine that we replace: because they can take
//! all memory, because they answer "undefined" where they should fail, or because they are slow.
//!
//! An extension of the same name wins over the engine's own function.

mod amounts;
mod bounded;
mod fleetgate;
mod image;
mod patterns;
mod sprintf;

use std::sync::LazyLock;

use regorus::Engine;
use regorus::unstable::{BUILTINS, Expr, Ref, Source, Span};

use super::evaluate::Limits;
use super::rego::Failure;
use crate::model::Value;

/// The longest text that a function takes or makes, in bytes. The API server stores no object of
/// half this size.
const TEXT_LIMIT: usize = 4 << 20;

/// The most elements that a function makes.
const ITEM_LIMIT: usize = 1_000_000;

/// A function: what it yields, or what was wrong.
type Function = fn(&[Value]) -> Result<Value, String>;

/// Adds them to an engine.
pub(super) fn register(engine: &mut Engine, limits: &Limits) {
    let functions = fleetgate::FUNCTIONS
        .iter()
        .chain(amounts::FUNCTIONS)
        .chain(bounded::FUNCTIONS)
        .chain(patterns::FUNCTIONS)
        .chain(sprintf::FUNCTIONS);
    for &(name, arity, function) in functions {
        add(engine, name, arity, function);
    }
    let now = limits.now_ns;
    add(engine, "time.now_ns", 0, move |_| {
        now.map(Value::from)
            .ok_or_else(|| "there is no clock: declare `needs: [time]` and read `input.now.ns`".into())
    });
    for name in ["rand.intn", "uuid.rfc4122"] {
        let arity = BUILTINS.get(name).map_or(1, |(_, arity)| *arity);
        add(engine, name, arity, move |_| Err(format!("`{name}` is refused: a verdict must be repeatable")));
    }
}

fn add(
    engine: &mut Engine,
    name: &str,
    arity: u8,
    function: impl Fn(&[Value]) -> Result<Value, String> + Clone + Send + Sync + 'static,
) {
    let extension = move |arguments: Vec<Value>| function(&arguments).map_err(anyhow::Error::msg);
    // Fails only if the name was added before, and each table has a name once (tested).
    let _ = engine.add_extension(name.to_owned(), arity, Box::new(extension));
}

/// Calls the engine's own function of that name, strictly.
fn original(name: &str, arguments: &[Value]) -> Result<Value, String> {
    static NOWHERE: LazyLock<Option<Span>> = LazyLock::new(|| {
        let source = Source::from_contents(String::new(), String::from("\n")).ok()?;
        Some(Span { source, line: 1, col: 1, start: 0, end: 0 })
    });
    let (Some((function, _)), Some(span)) = (BUILTINS.get(name), NOWHERE.as_ref()) else {
        return Err(format!("there is no function `{name}`"));
    };
    let parameters: Vec<Ref<Expr>> = arguments
        .iter()
        .map(|_| Ref::new(Expr::Null { span: span.clone(), value: Value::Null, eidx: 0 }))
        .collect();
    function(span, &parameters, arguments, true).map_err(|error| Failure::parse(&error.to_string()).message)
}

/// The text at a position.
fn text<'a>(name: &str, arguments: &'a [Value], position: usize) -> Result<&'a str, String> {
    match arguments.get(position) {
        Some(Value::String(text)) if text.len() <= TEXT_LIMIT => Ok(text),
        Some(Value::String(_)) => Err(format!("`{name}` takes texts of at most {TEXT_LIMIT} bytes")),
        other => Err(format!(
            "`{name}` takes a string as argument {}, not {}",
            position + 1,
            other.map_or("nothing", super::decode::kind)
        )),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::policy::EXTENSIONS;

    /// The value of a Rego expression, with our functions.
    pub(crate) fn eval(expression: &str) -> Result<Value, String> {
        let mut engine = Engine::new();
        register(&mut engine, &Limits { now_ns: Some(1_700_000_000_000_000_000), ..Limits::default() });
        run(engine, expression)
    }

    /// The value of a Rego expression in the engine as it comes.
    pub(crate) fn eval_plain(expression: &str) -> Result<Value, String> {
        run(Engine::new(), expression)
    }

    fn run(mut engine: Engine, expression: &str) -> Result<Value, String> {
        engine
            .add_policy("t.rego".into(), format!("package t\nx := {expression}\n"))
            .and_then(|_| engine.eval_rule("data.t.x".into()))
            .map_err(|error| Failure::parse(&error.to_string()).message)
    }

    pub(crate) fn json(text: &str) -> Value {
        Value::from_json_str(text).unwrap()
    }

    #[test]
    fn what_loading_accepts_is_what_evaluation_provides() {
        let ours = fleetgate::FUNCTIONS.iter().chain(amounts::FUNCTIONS);
        let ours: BTreeSet<_> = ours.map(|&(name, arity, _)| (name, arity)).collect();
        let announced: BTreeSet<_> = EXTENSIONS.iter().map(|f| (f.path, f.arity)).collect();
        assert_eq!(ours, announced);
    }

    #[test]
    fn what_is_replaced_exists_with_the_same_number_of_arguments_and_once() {
        let mut seen = BTreeSet::new();
        for &(name, arity, _) in
            bounded::FUNCTIONS.iter().chain(patterns::FUNCTIONS).chain(sprintf::FUNCTIONS)
        {
            assert!(seen.insert(name), "{name} twice");
            assert_eq!(BUILTINS.get(name).map(|(_, arity)| *arity), Some(arity), "{name}");
        }
    }

    #[test]
    fn time_is_the_callers_and_chance_is_refused() {
        assert_eq!(eval("time.now_ns()"), Ok(json("1700000000000000000")));
        let mut engine = Engine::new();
        register(&mut engine, &Limits::default());
        assert!(run(engine, "time.now_ns()").unwrap_err().contains("no clock"));
        assert!(eval(r#"rand.intn("a", 5)"#).unwrap_err().contains("repeatable"));
        assert!(eval(r#"uuid.rfc4122("a")"#).unwrap_err().contains("repeatable"));
    }
}
