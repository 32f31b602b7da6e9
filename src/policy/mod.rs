//! Rego modules and data to a checked, evaluable set. The only module that names the Rego engine.

mod builtins;
mod conftest;
mod data;
mod decode;
mod evaluate;
#[cfg(test)]
mod fixtures;
mod functions;
mod graph;
pub mod isolate;
mod load;
#[cfg(test)]
mod load_tests;
mod local;
mod metadata;
mod native;
mod outcome;
mod params;
mod reach;
mod reads;
mod rego;
mod scan;
mod set;
mod shipped;
mod sources;
mod syntax;
mod testing;
mod text;
mod walk;

pub use evaluate::{Evaluator, Evaluators, Isolation, Limits, STACK_SIZE};
pub use functions::{EXTENSIONS, Function};
pub use load::{Convention, Files, LoadOptions, Locate, Location, Source, load};
pub use outcome::{EvaluationError, Hit, Outcome};
pub use set::{Entry, Match, Module, Need, Parameter, PolicySet, Reads, Rule, Set, Style, Target};
pub use testing::{FileCoverage, TestCase, TestOptions, TestReport, TestResult, run_tests};
