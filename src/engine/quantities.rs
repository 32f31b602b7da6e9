//! Amounts of cpu, memory and other resources that are no quantities. The API server cannot read
//! such a pod at all, so it could not be judged as the cluster would see it.

use std::sync::Arc;

use super::Request;
use super::plan::Plan;
use crate::accelerators::{Class, Workload, class};
use crate::manifest::corpus::Document;
use crate::manifest::quantity::{Quantity, QuantityError};
use crate::manifest::{self, Resource};
use crate::model::{Problem, Route, Value};

/// An amount that is no quantity: where in the object, and why.
pub(super) type Unreadable = (Route, QuantityError);

/// The amounts in `resources` of a workload's containers that are no quantities.
///
/// `null` counts as zero, as it does for the API server. Accelerators are left to the rule
/// `accelerators/accelerator-limits`, which says more about them.
pub(super) fn unreadable(workload: &Workload) -> Vec<Unreadable> {
    let mut found = Vec::new();
    for pod in &workload.pods {
        for list in ["containers", "initContainers"] {
            let containers = get(&pod.spec, list).and_then(|containers| containers.as_array().ok());
            for (index, container) in containers.into_iter().flat_map(|list| list.iter()).enumerate() {
                let route = pod.path.key(list).index(index).key("resources");
                for kind in ["limits", "requests"] {
                    let amounts = get(container, "resources").and_then(|resources| get(resources, kind));
                    collect(amounts, &route.key(kind), &mut found);
                }
            }
        }
    }
    found
}

fn collect(amounts: Option<&Value>, route: &Route, found: &mut Vec<Unreadable>) {
    let Some(Ok(amounts)) = amounts.map(Value::as_object) else { return };
    for (name, amount) in amounts.iter() {
        let Ok(name) = name.as_string() else { continue };
        if *amount == Value::Null || !matches!(class(name), Class::None | Class::Other) {
            continue;
        }
        if let Err(error) = Quantity::from_value(amount) {
            found.push((route.key(name), error));
        }
    }
}

fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().ok()?.get(&Value::from(key))
}

/// One problem for each place at which such an amount stands.
pub(super) fn problems(request: &Request<'_>, plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (document, facts) in request.corpus.documents.iter().zip(&plan.facts) {
        for (resource, facts) in document.resources.iter().zip(facts) {
            for (route, error) in &facts.unreadable {
                of_document(document, resource, route, error, &mut problems);
            }
        }
    }
    problems
}

fn of_document(
    document: &Document,
    resource: &Resource,
    route: &Route,
    error: &QuantityError,
    problems: &mut Vec<Problem>,
) {
    let span = manifest::locate(&document.text, &resource.item.join(route));
    for occurrence in &document.occurrences {
        problems.push(Problem {
            help: error.help(),
            file: Some(occurrence.place.file.clone()),
            place: Some(occurrence.place.clone()),
            // In lines of the file, though the text is the document's.
            span: span.map(|span| crate::model::Span { line: occurrence.place.line + span.line - 1, ..span }),
            source: Some(Arc::clone(&document.text)),
            ..Problem::new("invalid-quantity", format!("{}: `{route}` is no quantity: {error}", resource.id))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerators::Registry;

    fn routes(resources: &str) -> Vec<String> {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, resources: {resources}}}]}}\n"
        );
        let object = manifest::value(&pod).unwrap();
        unreadable(&Registry::builtin().workload(&object).unwrap())
            .into_iter()
            .map(|(route, _)| route.to_string())
            .collect()
    }

    #[test]
    fn an_amount_that_the_api_server_cannot_read_is_found() {
        assert_eq!(
            routes("{limits: {memory: 1GB, cpu: 1}, requests: {memory: true}}"),
            ["spec.containers[0].resources.limits.memory", "spec.containers[0].resources.requests.memory"]
        );
    }

    #[test]
    fn quantities_null_and_accelerators_are_left_alone() {
        assert_eq!(routes("{limits: {memory: 1.5Gi, cpu: 100m, ephemeral-storage: 1e9}}"), [""; 0]);
        assert_eq!(routes("{limits: {memory: null}, requests: null}"), [""; 0]);
        assert_eq!(routes("{limits: {nvidia.com/gpu: one}}"), [""; 0]);
    }
}
