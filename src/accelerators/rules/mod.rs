//! Kinds whose pods no formula can say.

mod kserve;
mod train_job;
mod workflow;

use super::amount::{Amount, Three};
use super::entry::Rule;
use super::formula::{Formula, Scope};
use super::walk::Walk;
use crate::model::{Route, Value};

/// Adds the pods of the object in scope, `factor` times.
pub(super) fn apply(rule: Rule, walk: &mut Walk<'_, '_>, scope: &Scope<'_>, factor: &Three) {
    match rule {
        Rule::TrainJob => train_job::apply(walk, scope, factor),
        Rule::KserveMultiNode => kserve::apply(walk, scope, factor),
        Rule::Workflow => workflow::apply(walk, scope, factor),
    }
}

/// A field of the spec in scope, and where it stands.
fn spec<'a>(scope: &Scope<'a>, keys: &[&str]) -> Option<(Route, &'a Value)> {
    let route = keys.iter().fold(Route::root().key("spec"), |route, key| route.key(key));
    let (at, found) = scope.find(false, &route)?;
    Some((at, found?))
}

/// The number that a formula of this code comes to.
fn number(formula: &str, scope: &Scope<'_>) -> Amount {
    match Formula::parse(formula) {
        Ok(formula) => formula.amount(scope),
        Err(error) => Amount::unknown(error),
    }
}
