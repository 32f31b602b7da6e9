//! Functions that we add to Rego, and the engine's own that we bound.

use regorus::Engine;

use super::evaluate::Limits;

/// Adds them to an engine.
pub(super) fn register(_engine: &mut Engine, _limits: &Limits) {}
