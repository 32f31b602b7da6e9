//! The value tree of manifests, policy inputs and data. It is the policy engine's own type, so that
//! a manifest is read straight into what the engine evaluates; it is re-exported here once and named
//! nowhere else.

pub use regorus::Value;
