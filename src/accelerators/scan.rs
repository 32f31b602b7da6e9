//! Accelerators in places that no registered kind names: they would count for nothing.

use super::workload::Workload;
use crate::model::{Route, Value};

/// Something that looks like a request for accelerators and is not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaccounted {
    /// Where it stands in the object.
    pub path: Route,
    /// What stands there, such as `nvidia.com/gpu: 8`.
    pub what: String,
    /// Why it is not counted, for people.
    pub why: String,
}

/// What an object says about accelerators outside of `workload`, its registered places.
pub fn unaccounted(_object: &Value, _workload: Option<&Workload>) -> Vec<Unaccounted> {
    Vec::new()
}
