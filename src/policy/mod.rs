//! Rego modules and data to a checked, evaluable set. The only module that names the Rego engine.

mod builtins;
mod decode;
mod evaluate;
#[cfg(test)]
mod fixtures;
mod functions;
pub mod isolate;
mod load;
mod local;
mod outcome;
mod rego;
mod set;
mod testing;

pub use evaluate::{Evaluator, Evaluators, Isolation, Limits, STACK_SIZE};
pub use functions::{EXTENSIONS, Function};
pub use load::{Convention, Files, LoadOptions, Location, Source, load};
pub use outcome::{EvaluationError, Hit, Outcome};
pub use set::{Entry, Match, Module, Need, Parameter, PolicySet, Reads, Rule, Set, Style, Target};
pub use testing::{FileCoverage, TestCase, TestOptions, TestReport, TestResult, run_tests};
