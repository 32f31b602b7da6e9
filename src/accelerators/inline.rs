//! Pods of kinds that have a container's fields in a place of their own.

use std::sync::Arc;

use super::value::{self, field, items, text};
use crate::model::Value;

pub(super) fn no_containers() -> Value {
    value::object([("containers", Value::from(Vec::<Value>::new()))])
}

/// Fields of an inline container that mean what they mean in a pod.
const CONTAINER_FIELDS: [&str; 8] =
    ["command", "args", "env", "envFrom", "resources", "ports", "volumeMounts", "securityContext"];

/// The pod of a kind that has a container's fields in its spec, with `image` as a text where it
/// states repository and tag.
pub(super) fn one_container(container: &Value, role: &Arc<str>, beside: &[String]) -> Value {
    let image = |container: &Value| match field(container, "image") {
        Some(text @ Value::String(_)) => Some(text.clone()),
        Some(parts) => {
            let repository = text(parts, &["repository"])?;
            let tag = text(parts, &["tag"]).map_or_else(String::new, |tag| format!(":{tag}"));
            Some(Value::from(format!("{repository}{tag}")))
        }
        None => None,
    };
    let plain = |container: &Value, name: &Arc<str>| {
        let kept = CONTAINER_FIELDS.iter().filter_map(|key| Some((*key, field(container, key)?.clone())));
        let image = image(container).map(|image| ("image", image));
        value::object(kept.chain(image).chain([("name", Value::String(name.clone()))]))
    };
    let named = |container: &Value| plain(container, text(container, &["name"]).unwrap_or(role));
    let listed = |key: &str| field(container, key).into_iter().flat_map(items).map(named).collect::<Vec<_>>();
    let mut containers = vec![plain(container, role)];
    containers.extend(beside.iter().flat_map(|key| listed(key)));
    let init = listed("initContainers");
    value::object(
        [("containers", Value::from(containers))]
            .into_iter()
            .chain((!init.is_empty()).then(|| ("initContainers", Value::from(init)))),
    )
}

/// A pod spec with containers that stand in fields of their own.
pub(super) fn with_inline(spec: &Value, inline: &[String], beside: &[String]) -> Value {
    let single =
        inline.iter().filter_map(|key| field(spec, key)).filter(|found| matches!(found, Value::Object(_)));
    let listed = beside.iter().filter_map(|key| field(spec, key)).flat_map(items);
    let more: Vec<Value> = single.chain(listed).cloned().collect();
    if more.is_empty() {
        return spec.clone();
    }
    let mut spec = spec.clone();
    let mut containers: Vec<Value> =
        field(&spec, "containers").into_iter().flat_map(items).cloned().collect();
    containers.extend(more);
    if let Ok(fields) = spec.as_object_mut() {
        fields.insert(Value::from("containers"), Value::from(containers));
    }
    spec
}
