//! Accelerators in places that no registered kind names: they would count for nothing.
//!
//! Quiet by a list about places that are known to ask for nothing, for a false alarm on every quota or
//! dashboard would have the rule switched off.

mod needles;
mod quiet;
mod texts;

use super::value::text;
use super::workload::{Workload, kind_of};
use crate::model::{Route, Step, Value};

/// Something that looks like a request for accelerators and is not counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unaccounted {
    /// Where it stands in the object.
    pub path: Route,
    /// What stands there, such as `nvidia.com/gpu: 8`.
    pub what: String,
    /// Why it is not counted, for people.
    pub why: String,
}

/// Places that are reported of one object; the last of them says how many more there are.
const MOST: usize = 20;

/// Values nest no deeper than the reader lets them; what comes from elsewhere is not followed further.
const MAX_DEPTH: usize = 512;

/// What an object says about accelerators outside of `workload`, its registered places, sorted by
/// place. Metadata and status of the object ask for nothing.
pub fn unaccounted(object: &Value, workload: Option<&Workload>) -> Vec<Unaccounted> {
    let Some((group, _, kind)) = kind_of(object) else { return Vec::new() };
    let Value::Object(fields) = object else { return Vec::new() };
    // A claim counts as an object of its own, quotas ask for nothing.
    if quiet::kind(group, kind) {
        return Vec::new();
    }
    let registered = workload.is_some_and(|workload| workload.registered);
    let why = if quiet::renders(group, kind) {
        format!("what the cluster makes of a `{kind}` is not counted: add the rendered manifests")
    } else if registered {
        format!("it stands where pods of a `{kind}` are not described, so it is not counted")
    } else {
        format!(
            "`{kind}` is not a registered kind, so it is not counted: add the kind under `kinds` in the fleet file"
        )
    };
    let mut scan = Scan { covered: covered(workload), why, budget: texts::Budget::new(), found: Vec::new() };
    for (key, value) in fields.iter() {
        if let Value::String(key) = key
            && !["apiVersion", "kind", "metadata", "status"].contains(&&**key)
        {
            scan.field(&Here { above: None, step: At::Key(key) }, key, value, None, 1);
        }
    }
    scan.finish()
}

/// Where pods are described, with their metadata.
fn covered(workload: Option<&Workload>) -> Vec<Route> {
    let mut covered = Vec::new();
    for group in workload.into_iter().flat_map(|workload| &workload.pods) {
        if let Some((Step::Key(last), above)) = group.path.0.split_last()
            && **last == *"spec"
        {
            covered.push(Route(above.to_vec()).key("metadata"));
        }
        covered.push(group.path.clone());
    }
    covered
}

/// A place, without the cost of a route until one is needed.
#[derive(Clone, Copy)]
struct Here<'a> {
    above: Option<&'a Self>,
    step: At<'a>,
}

#[derive(Clone, Copy)]
enum At<'a> {
    Key(&'a str),
    Index(usize),
}

impl Here<'_> {
    fn route(&self) -> Route {
        let above = self.above.map_or_else(Route::root, Here::route);
        match self.step {
            At::Key(key) => above.key(key),
            At::Index(index) => above.index(index),
        }
    }

    fn len(&self) -> usize {
        1 + self.above.map_or(0, Here::len)
    }

    /// Whether it is this route.
    fn is(&self, route: &[Step]) -> bool {
        let Some((last, rest)) = route.split_last() else { return false };
        let same = match (self.step, last) {
            (At::Key(key), Step::Key(other)) => *key == **other,
            (At::Index(index), Step::Index(other)) => index == *other,
            _ => false,
        };
        same && self.above.map_or(rest.is_empty(), |above| above.is(rest))
    }
}

struct Scan {
    covered: Vec<Route>,
    why: String,
    budget: texts::Budget,
    found: Vec<Unaccounted>,
}

impl Scan {
    /// A field of a mapping; `parent` is the key under which that stands.
    fn field(&mut self, here: &Here<'_>, key: &str, value: &Value, parent: Option<&str>, depth: usize) {
        if let Some(what) = needles::asks(key, value, parent) {
            if !self.is_covered(here) {
                self.found.push(Unaccounted { path: here.route(), what, why: self.why.clone() });
            }
        } else if !quiet::key(key) {
            self.value(here, key, value, depth);
        }
    }

    fn value(&mut self, here: &Here<'_>, key: &str, value: &Value, depth: usize) {
        if depth > MAX_DEPTH || self.is_covered(here) {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter() {
                    if let Value::String(name) = name {
                        let below = Here { above: Some(here), step: At::Key(name) };
                        self.field(&below, name, value, Some(key), depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    let below = Here { above: Some(here), step: At::Index(index) };
                    self.value(&below, key, value, depth + 1);
                }
            }
            Value::String(text) => {
                if let Some((what, why)) = texts::asks(text, &mut self.budget) {
                    self.found.push(Unaccounted { path: here.route(), what, why });
                }
            }
            _ => {}
        }
    }

    fn is_covered(&self, here: &Here<'_>) -> bool {
        if self.covered.is_empty() {
            return false;
        }
        let depth = here.len();
        self.covered.iter().any(|route| route.0.len() == depth && here.is(&route.0))
            || self.covered.iter().any(Route::is_root)
    }

    fn finish(mut self) -> Vec<Unaccounted> {
        self.found.sort();
        if let Some(more) = self.found.len().checked_sub(MOST).filter(|more| *more > 0) {
            self.found.truncate(MOST);
            if let Some(last) = self.found.last_mut() {
                last.why = format!("{}; and {more} more places", last.why);
            }
        }
        self.found
    }
}

/// The kind of a manifest, as people read it.
fn name_of(object: &Value) -> Option<String> {
    let (.., kind) = kind_of(object)?;
    Some(match text(object, &["metadata", "name"]) {
        Some(name) => format!("{kind} `{name}`"),
        None => format!("a {kind}"),
    })
}

#[cfg(test)]
mod tests;
