//! What a smaller number somewhere in a manifest would make of a budget.

use std::sync::Arc;

use super::Request;
use super::budgets::{BudgetUse, Claim, Contributor, counted_in, sum_up};
use super::sites::Site;
use crate::accelerators::{Amount, Fits, Tree, assess};
use crate::model::{ObjectId, Route, Step, Value};

/// Fields that say how many pods there are, and that may be lowered without the pods becoming of no use,
/// as a group that is one short would be.
const FIELDS: [&str; 6] = ["replicas", "parallelism", "numNodes", "minReplicas", "instances", "count"];

/// So many such fields of an object are tried.
const MOST_FIELDS: usize = 8;

/// A field and the largest value with which the budget is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lever {
    /// The object in which it stands.
    pub object: ObjectId,
    /// The field.
    pub path: Route,
    /// Whether `minReplicas` beside it has to be lowered with it.
    pub with_least: bool,
    /// What it is.
    pub is: u64,
    /// The largest value that keeps the budget; none: none above zero does.
    pub fits: Option<u64>,
    /// What the budget then holds, in thousandths of a device.
    pub used: Amount,
}

/// The fields of the largest contributor that move a budget that is not kept, the one that takes
/// the least away first. The object is changed in every cluster that runs it with more.
pub(super) fn levers(request: &Request<'_>, used: &BudgetUse<'_>, sites: &[Site]) -> Vec<Lever> {
    let Some(first) = used.contributors.first() else { return Vec::new() };
    let Some(resource) = first.located.resource(request.corpus) else { return Vec::new() };
    let mut fields = Vec::new();
    collect(&resource.object, &Route::root(), &mut fields);
    fields.truncate(MOST_FIELDS);
    let change = Change { request, used, sites, object: &first.id };
    let mut levers: Vec<Lever> = fields.into_iter().filter_map(|(path, is)| change.lever(path, is)).collect();
    // Whatever fits with the most devices takes the least away.
    levers.sort_by_key(|lever| (lever.fits.is_none(), std::cmp::Reverse(lever.used.at_least())));
    levers
}

/// Whole numbers above none under the names of [`FIELDS`].
fn collect(value: &Value, at: &Route, found: &mut Vec<(Route, u64)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_sorted() {
                let Ok(key) = key.as_string() else { continue };
                let at = at.key(key);
                match value {
                    Value::Number(number) if FIELDS.contains(&&**key) => {
                        found.extend(number.as_u64().filter(|n| *n > 0).map(|n| (at, n)));
                    }
                    _ => collect(value, &at, found),
                }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| collect(item, &at.index(index), found));
        }
        _ => {}
    }
}

struct Change<'r> {
    request: &'r Request<'r>,
    used: &'r BudgetUse<'r>,
    sites: &'r [Site],
    object: &'r ObjectId,
}

impl Change<'_> {
    fn lever(&self, path: Route, is: u64) -> Option<Lever> {
        let limit = self.used.budget.limit.saturating_mul(1000);
        let least = self.used_with(&path, 0)?;
        if least.at_least() >= self.used.used.at_least() {
            return None;
        }
        // The largest value that fits; demand never falls when a number rises.
        let (mut low, mut high) = (0, is);
        let mut fits = (least.fits(limit) == Fits::Yes).then_some((0, least.clone()));
        while fits.is_some() && high - low > 1 {
            let middle = low + (high - low) / 2;
            let with = self.used_with(&path, middle)?;
            if with.fits(limit) == Fits::Yes {
                low = middle;
                fits = Some((middle, with));
            } else {
                high = middle;
            }
        }
        let object = self.object.clone();
        let located = self.used.contributors.first()?.located;
        let manifest = &located.resource(self.request.corpus)?.object;
        let with_least = floor(manifest, &path, fits.as_ref().map_or(0, |(value, _)| *value)).is_some();
        Some(match fits.filter(|(value, _)| *value > 0) {
            Some((value, used)) => Lever { object, path, with_least, is, fits: Some(value), used },
            None => Lever { object, path, with_least, is, fits: None, used: least },
        })
    }

    /// What the budget holds with another value in a field.
    fn used_with(&self, path: &Route, value: u64) -> Option<Amount> {
        let parts = self.used.contributors.iter().map(|contributor| {
            if contributor.id == *self.object {
                self.changed(contributor, path, value)
            } else {
                Some((contributor.steady.clone(), contributor.surge.clone()))
            }
        });
        let parts: Vec<_> = parts.collect::<Option<_>>()?;
        let (steady, surge) = sum_up(&parts, self.used.budget.rollout_concurrency);
        Some(steady.add(&surge))
    }

    fn changed(&self, contributor: &Contributor, path: &Route, value: u64) -> Option<(Amount, Amount)> {
        let corpus = self.request.corpus;
        let site = self.sites.get(contributor.site)?;
        let mut object = contributor.located.resource(corpus)?.object.clone();
        if let Some(floor) = floor(&object, path, value) {
            set(&mut object, &floor.0, value)?;
        }
        set(&mut object, &path.0, value)?;
        // What it may refer to is in its namespace, or in none.
        let near = site.objects.iter().filter(|located| **located != contributor.located);
        let near = near.filter_map(|located| located.resource(corpus)).filter(|resource| {
            resource.id.namespace.is_none() || resource.id.namespace == contributor.id.namespace
        });
        let objects = std::iter::once(&object).chain(near.map(|resource| &resource.object));
        let tree = Tree::new(self.request.registry, objects);
        let assessment = assess(&tree, site.context.cluster.as_deref(), self.request.complete_clusters());
        let assessed = assessment.objects.iter().find(|assessed| assessed.demand.index == 0)?;
        let claim = Claim { id: &contributor.id, disputed: contributor.disputed };
        Some(counted_in(self.used.budget, assessed, claim))
    }
}

/// Puts a number in the place of another.
fn set(value: &mut Value, path: &[Step], number: u64) -> Option<()> {
    let Some((step, rest)) = path.split_first() else {
        // Where it is lower already, it stays.
        let is = if let Value::Number(is) = value { is.as_u64() } else { None };
        *value = Value::from(is.map_or(number, |is| is.min(number)));
        return Some(());
    };
    let inner = match step {
        Step::Key(key) => value.as_object_mut().ok()?.get_mut(&Value::String(Arc::clone(key)))?,
        Step::Index(index) => value.as_array_mut().ok()?.get_mut(*index)?,
    };
    set(inner, rest, number)
}

/// The field that keeps `replicas` from being lowered, where it stands beside it.
fn floor(object: &Value, path: &Route, value: u64) -> Option<Route> {
    let (Step::Key(last), above) = path.0.split_last()? else { return None };
    if **last != *"replicas" {
        return None;
    }
    let around = above.iter().try_fold(object, |value, step| match step {
        Step::Key(key) => value.as_object().ok()?.get(&Value::String(Arc::clone(key))),
        Step::Index(index) => value.as_array().ok()?.get(*index),
    })?;
    let floor = around.as_object().ok()?.get(&Value::from("minReplicas"))?;
    let floor = if let Value::Number(floor) = floor { floor.as_u64()? } else { return None };
    (floor > value).then(|| Route(above.to_vec()).key("minReplicas"))
}
