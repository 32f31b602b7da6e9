//! Argo workflows: each template that has containers is a pod wherever a step or task names it
//! (argoproj/argo-workflows `pkg/apis/workflow/v1alpha1/workflow_types.go`).
//!
//! A template runs at most as often at once as steps and tasks name it, without bound where one of
//! them fans out, and never more often than `parallelism` allows.

use super::super::amount::{Amount, Three};
use super::super::formula::Scope;
use super::super::value::{self, field, items, path, text};
use super::super::walk::Walk;
use super::super::workload::{PodGroup, Workload};
use super::spec;
use crate::manifest;
use crate::manifest::quantity::Quantity;
use crate::model::{Route, Value};

pub(super) fn apply(walk: &mut Walk<'_, '_>, scope: &Scope<'_>, factor: &Three) {
    if spec(scope, &["workflowTemplateRef"]).is_some() {
        walk.missing("the templates that `spec.workflowTemplateRef` names are not followed");
    }
    if spec(scope, &["podSpecPatch"]).is_some() {
        walk.missing("`spec.podSpecPatch` may change what pods ask for");
    }
    let Some((at, templates)) = spec(scope, &["templates"]) else { return };
    let entry = spec(scope, &["entrypoint"]).and_then(|(_, name)| match name {
        Value::String(name) => Some(name.clone()),
        _ => None,
    });
    let limit = spec(scope, &["parallelism"]).map_or(Amount::UNBOUNDED, |(at, limit)| count(limit, &at));
    for (index, template) in items(templates).enumerate() {
        let name = text(template, &["name"]);
        let uses = name.map_or(Amount::ZERO, |name| {
            let is_entry = entry.as_ref().is_some_and(|entry| entry == name);
            uses(templates, name).add(if is_entry { &Amount::ONE } else { &Amount::ZERO })
        });
        let at = at.index(index);
        let often = factor.mul(&Three::same(&uses.min(&limit)));
        if field(template, "podSpecPatch").is_some() {
            walk.missing(format!("`{}` may change what pods ask for", at.key("podSpecPatch")));
        }
        if let Some(text) = text(template, &["resource", "manifest"]) {
            created(walk, &at.key("resource").key("manifest"), text, &often);
        } else if let Some(pod) = pod(template) {
            let role = name.cloned().unwrap_or_else(|| "step".into());
            walk.pods.push(PodGroup {
                path: at.clone(),
                role,
                spec: pod,
                metadata: field(template, "metadata").cloned().unwrap_or_else(Value::new_object),
                replicas: often,
                per: Amount::ONE,
                devices: Vec::new(),
            });
        }
    }
}

fn count(value: &Value, at: &Route) -> Amount {
    match Quantity::from_value(value).and_then(Quantity::to_count) {
        // The controller takes 0 for no limit.
        Ok(0) => Amount::UNBOUNDED,
        Ok(n) => Amount::Known(n),
        Err(error) => Amount::unknown(format!("`{at}`: {error}")),
    }
}

/// How often steps and tasks name a template.
fn uses(templates: &Value, name: &str) -> Amount {
    let mut sum = Amount::ZERO;
    for template in items(templates) {
        let tasks = path(template, &["dag", "tasks"]).into_iter().flat_map(items);
        let steps = field(template, "steps").into_iter().flat_map(items).flat_map(|group| match group {
            // A group of parallel steps is a list, or a mapping that holds one.
            Value::Object(_) => field(group, "steps").into_iter().flat_map(items).collect::<Vec<_>>(),
            _ => items(group).collect(),
        });
        for step in tasks.chain(steps) {
            if text(step, &["template"]).is_none_or(|other| **other != *name) {
                continue;
            }
            let fans_out =
                ["withItems", "withParam", "withSequence"].iter().any(|key| field(step, key).is_some());
            let once = match field(step, "withItems") {
                Some(Value::Array(list)) => Amount::Known(u64::try_from(list.len()).unwrap_or(u64::MAX)),
                _ if fans_out => Amount::UNBOUNDED,
                _ => Amount::ONE,
            };
            sum = sum.add(&once);
        }
    }
    sum
}

/// The pod of a template that has containers.
fn pod(template: &Value) -> Option<Value> {
    let main = field(template, "container").or_else(|| field(template, "script"));
    let set = path(template, &["containerSet", "containers"]).into_iter().flat_map(items);
    let beside = field(template, "sidecars").into_iter().flat_map(items);
    let containers: Vec<Value> = main.into_iter().chain(set).chain(beside).cloned().collect();
    if containers.is_empty() {
        return None;
    }
    let init = field(template, "initContainers").map(|init| ("initContainers", init.clone()));
    let kept = ["nodeSelector", "tolerations", "affinity", "volumes", "schedulerName", "priorityClassName"]
        .into_iter()
        .filter_map(|key| Some((key, field(template, key)?.clone())));
    Some(value::object([("containers", Value::from(containers))].into_iter().chain(init).chain(kept)))
}

/// The pods of an object that a template creates from a text.
fn created(walk: &mut Walk<'_, '_>, at: &Route, text: &str, often: &Three) {
    if walk.created {
        walk.missing(format!("`{at}` is created by a workflow that is itself created"));
        return;
    }
    let Ok(object) = manifest::value(text) else {
        walk.missing(format!("`{at}` cannot be read before the workflow runs"));
        return;
    };
    if let Some(Workload { pods, unknown, .. }) = walk.registry.created(&object) {
        for reason in unknown {
            walk.missing(format!("`{at}`: {reason}"));
        }
        walk.pods.extend(pods.into_iter().map(|group| PodGroup {
            path: at.clone(),
            replicas: group.replicas.mul(often),
            ..group
        }));
    }
}
