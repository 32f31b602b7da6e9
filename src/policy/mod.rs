//! Rego modules and data to a checked, evaluable set. The only module that names the Rego engine.

mod builtins;
mod decode;
mod evaluate;
#[cfg(test)]
mod fixtures;
mod functions;
mod load;
mod rego;
mod set;

pub use evaluate::{EvaluationError, Evaluator, Hit, Limits, Outcome};
pub use functions::{EXTENSIONS, Function};
pub use load::{Convention, Files, LoadOptions, Location, Source, load};
pub use set::{Entry, Match, Module, Need, Parameter, PolicySet, Reads, Rule, Set, Style, Target};
