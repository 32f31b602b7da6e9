//! What an object runs: groups of pods, with where they are described and how many there are.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::amount::{Amount, Three};
use super::value::text;
use crate::model::{Route, Value};

/// An object that runs pods, or holds templates of pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Its pods, in the order in which its kind lists them.
    pub pods: Vec<PodGroup>,
    /// Why there may be pods beyond these; empty if all are known.
    pub unknown: BTreeSet<Arc<str>>,
    /// Whether the kind is registered. The pods of one that is not are found by their usual place.
    pub registered: bool,
}

/// Pods of one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodGroup {
    /// Where the pod spec stands in the object; where a kind has fields instead of a pod spec, where
    /// those are.
    pub path: Route,
    /// What these pods are for, such as `leader`, or the name that the object gives them.
    pub role: Arc<str>,
    /// The pod spec.
    pub spec: Value,
    /// The pods' metadata; an empty mapping if there is none.
    pub metadata: Value,
    /// How many replicas.
    pub replicas: Three,
    /// How many pods in a replica.
    pub per: Amount,
    /// Devices of a pod that are not in `resources`: resource name and how many.
    pub devices: Vec<(Arc<str>, Amount)>,
}

impl PodGroup {
    /// How many pods.
    pub fn count(&self) -> Three {
        self.replicas.mul(&Three::same(&self.per))
    }
}

/// What an autoscaler of another object does to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The least replicas.
    pub min: Amount,
    /// The most.
    pub max: Amount,
}

/// Group, version and kind that an object states.
pub(super) fn kind_of(object: &Value) -> Option<(&str, &str, &str)> {
    let kind = text(object, &["kind"])?;
    let api = text(object, &["apiVersion"])?;
    let (group, version) = api.split_once('/').unwrap_or(("", api));
    Some((group, version, kind))
}
