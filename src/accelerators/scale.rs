//! How many replicas: what an object states, what replaces it, what an autoscaler makes of it.

use std::sync::Arc;

use super::amount::{Amount, Three};
use super::formula::{Formula, Item, Placed, Scope};
use super::registry::{Scale, Times};
use super::value::{field, fields, items, text};
use super::workload::Bounds;
use crate::model::{Route, Step, Value};

/// Where a field stands, and what it is if it is there; `None` if it is outside of what is known.
pub(super) fn place<'a>(formula: &Formula, scope: &Scope<'a>) -> Option<(Route, Option<&'a Value>)> {
    match formula {
        Formula::Field { of_item, route } => scope.find(*of_item, route),
        _ => None,
    }
}

/// Entries of a list (named by `name` where they have one) or of a mapping.
pub(super) fn entries(list: &Value) -> Vec<(Step, Arc<str>, &Value)> {
    match list {
        Value::Object(_) => fields(list)
            .into_iter()
            .map(|(key, value)| (Step::Key(key.clone()), key.clone(), value))
            .collect(),
        _ => items(list)
            .enumerate()
            .map(|(index, item)| {
                let key = text(item, &["name"]).cloned().unwrap_or_else(|| index.to_string().into());
                (Step::Index(index), key, item)
            })
            .collect(),
    }
}

/// More by so many per cent while an upgrade runs.
pub(super) fn upgraded(counts: &Three, percent: &Amount) -> Three {
    let more = |amount: &Amount| match percent {
        Amount::Known(percent) => amount.add(&amount.percent(*percent)),
        open => amount.add(&amount.mul(open)),
    };
    Three {
        steady: counts.steady.clone(),
        rollout: more(&counts.rollout),
        autoscaled: more(&counts.autoscaled),
    }
}

impl Times {
    /// The replicas of the groups that list the entry in scope.
    pub(super) fn counts(&self, scope: &Scope<'_>) -> Three {
        let Some(name) = scope.item.as_ref().map(|item| &item.key) else { return Three::ONE };
        let Some((at, Some(groups))) = place(&self.each, scope) else { return Three::ONE };
        let mut counts = Three::ONE;
        for (step, key, group) in entries(groups) {
            let lists = field(group, &self.lists).into_iter().flat_map(items);
            if lists.into_iter().any(|member| matches!(member, Value::String(member) if member == name)) {
                let placed = Placed { value: group, at: at.join(&Route(vec![step])) };
                let scope = Scope { item: Some(Item { placed, key }), ..scope.clone() };
                counts = counts.mul(&self.scale.counts(&scope, None));
            }
        }
        counts
    }
}

impl Scale {
    /// The three numbers of replicas.
    pub(super) fn counts(&self, scope: &Scope<'_>, bounds: Option<&Bounds>) -> Three {
        let stated = self.replicas.as_ref().map_or(Amount::ONE, |formula| formula.amount(scope));
        let (steady, top) = if let Some(bounds) = bounds {
            (bounds.steady(&stated), bounds.max.clone())
        } else {
            let scope = Scope { n: Some(stated.clone()), ..scope.clone() };
            let top = self.max.as_ref().map_or_else(|| stated.clone(), |formula| formula.amount(&scope));
            (stated, top)
        };
        let peak = |n: &Amount| match &self.peak {
            Some(formula) => formula.amount(&Scope { n: Some(n.clone()), ..scope.clone() }).max(n),
            None => n.clone(),
        };
        let rollout = peak(&steady);
        let autoscaled = peak(&top.max(&steady)).max(&rollout);
        Three { steady, rollout, autoscaled }
    }
}
