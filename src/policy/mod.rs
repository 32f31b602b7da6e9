//! Rego modules and data to a checked, evaluable set. The only module that names the Rego engine.

mod set;

pub use set::{Entry, Match, Module, Need, PolicySet, Reads, Rule, Set, Style, Target};
