//! What makes two findings the same finding over time.

use std::sync::Arc;

use crate::model::{Context, Identity, ObjectId, Route, Step, Value};

/// The identity of a finding of `rule` about `id` at `route`, where no cluster is known.
pub(super) fn of(rule: &Arc<str>, id: &ObjectId, object: &Value, route: Option<&Route>) -> Identity {
    Identity {
        rule: rule.clone(),
        cluster: "-".into(),
        object: object_key(id).into(),
        route: route.map(|route| named(object, route)).unwrap_or_default().into(),
    }
}

/// The same finding on the cluster of a context.
pub(super) fn in_context(identity: &Identity, context: &Context) -> Identity {
    let cluster = context.cluster.as_ref().map_or(&identity.cluster, |cluster| &cluster.name);
    Identity { cluster: cluster.clone(), ..identity.clone() }
}

/// `group/kind/namespace/name`, with `-` for an empty part; a generated name ends in `*`.
pub(super) fn object_key(id: &ObjectId) -> String {
    let part = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let generated = if id.generated { "*" } else { "" };
    format!(
        "{}/{}/{}/{}{generated}",
        part(&id.group),
        part(&id.kind),
        part(id.namespace.as_deref().unwrap_or_default()),
        part(&id.name)
    )
}

/// The route with `[name=web]` instead of an index wherever the item has a `name`, so that a
/// finding stays the same when somebody inserts a container above.
fn named(object: &Value, route: &Route) -> String {
    let mut text = String::new();
    let mut current = Some(object);
    for step in &route.0 {
        match step {
            Step::Key(key) => {
                let one = Route(vec![Step::Key(key.clone())]).to_string();
                if !text.is_empty() && !one.starts_with('[') {
                    text.push('.');
                }
                text.push_str(&one);
                current = current.and_then(|value| get(value, key));
            }
            Step::Index(index) => {
                current = current.and_then(|value| value.as_array().ok()?.get(*index));
                match current.and_then(|item| get(item, "name")).and_then(|name| name.as_string().ok()) {
                    Some(name) => text.extend(["[name=", name, "]"]),
                    None => text.extend(["[", &index.to_string(), "]"]),
                }
            }
        }
    }
    text
}

fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().ok()?.get(&Value::from(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inserted_container_does_not_change_the_identity_of_the_one_below() {
        let before = Value::from_json_str(r#"{"spec":{"containers":[{"name":"web"}]}}"#).unwrap();
        let after =
            Value::from_json_str(r#"{"spec":{"containers":[{"name":"log"},{"name":"web"}]}}"#).unwrap();
        let route = |index| Route::root().key("spec").key("containers").index(index).key("image");
        assert_eq!(named(&before, &route(0)), "spec.containers[name=web].image");
        assert_eq!(named(&before, &route(0)), named(&after, &route(1)));
    }

    #[test]
    fn items_without_a_name_keep_their_index() {
        let object = Value::from_json_str(r#"{"spec":{"sources":[{"path":"a"}]}}"#).unwrap();
        let route = Route::root().key("spec").key("sources").index(0).key("path");
        assert_eq!(named(&object, &route), "spec.sources[0].path");
    }

    #[test]
    fn empty_parts_of_an_object_are_dashes() {
        let id = ObjectId {
            group: "".into(),
            version: "v1".into(),
            kind: "Namespace".into(),
            namespace: None,
            name: "ml".into(),
            generated: false,
        };
        assert_eq!(object_key(&id), "-/Namespace/-/ml");
    }
}
