//! A document to its objects.

use std::sync::Arc;

use super::locate::Tree;
use super::{SyntaxError, positions, reader};
use crate::model::{ObjectId, Route, Value};

/// One object of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Group, version, kind, namespace, name.
    pub id: ObjectId,
    /// The object.
    pub object: Value,
    /// Its route inside the document; the root unless it is an item of a `List`.
    pub item: Route,
}

/// What a document holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objects {
    /// The objects, items of lists one by one.
    pub resources: Vec<Resource>,
    /// What could not be read. The document is judged in full only if there is nothing here.
    pub errors: Vec<SyntaxError>,
    /// Whether the document means to be a manifest: it has an `apiVersion` or a `kind`.
    pub manifest: bool,
}

/// The objects of one document.
pub fn resources(text: &str) -> Objects {
    let value = match reader::value(text) {
        Ok(value) => value,
        Err(error) => {
            return Objects {
                errors: vec![unrendered(error, text)],
                manifest: looks_like_manifest(text),
                ..Objects::default()
            };
        }
    };
    let means_to_be =
        matches!(&value, Value::Object(_)) && (is_set(&value, "apiVersion") || is_set(&value, "kind"));
    let mut collector = Collector { resources: Vec::new(), errors: Vec::new() };
    collector.collect(value, Route::root(), None);
    // Configuration of a program is written like an object, but no API server takes it.
    let configuration = collector.resources.is_empty()
        && !collector.errors.is_empty()
        && collector.errors.iter().all(|misplaced| misplaced.error.code == CONFIGURATION);
    let manifest = means_to_be && !configuration;
    let errors = if collector.errors.is_empty() {
        Vec::new()
    } else {
        let tree = Tree::parse(text).ok();
        collector.errors.into_iter().map(|error| error.at_its_place(tree.as_ref())).collect()
    };
    Objects { resources: collector.resources, errors, manifest }
}

/// A text that cannot be parsed may be the template of a manifest.
fn unrendered(error: SyntaxError, text: &str) -> SyntaxError {
    // `{{` of Helm, Go and Jinja; `%{` of Terraform, whose `${` alone is a plain text to YAML.
    let Some((mark, template, help)) = [("{{", RENDER), ("%{", FILL_IN)]
        .into_iter()
        .find_map(|(mark, help)| Some((mark, text.find(mark)?, help)))
    else {
        return error;
    };
    let mut related = error.related;
    related.extend(error.span.map(|span| ("no YAML here".to_owned(), span)));
    let message = format!("not rendered: the text holds `{mark}`, and as YAML: {}", error.message);
    let span = Some(positions::line_span(text, template));
    SyntaxError { code: TEMPLATE, message, help: Some(help.to_owned()), span, related }
}

const TEMPLATE: &str = "unrendered-template";
const RENDER: &str = "render it first (`helm template`, `kustomize build`) and check what comes out";
const FILL_IN: &str = "fill it in first (Terraform's `templatefile`) and check what comes out";

/// The code of an object that only configures a program.
pub(super) const CONFIGURATION: &str = "no-manifest";

/// Groups whose unnamed objects are files that a program reads when it starts, or a command reads on
/// the client; no API server serves them.
const CONFIGURATIONS: [&str; 16] = [
    "apiserver.config.k8s.io",
    "apiserver.k8s.io",
    "audit.k8s.io",
    "config.jobset.x-k8s.io",
    "config.kueue.x-k8s.io",
    "config.lws.x-k8s.io",
    "controller-runtime.sigs.k8s.io",
    "credentialprovider.kubelet.k8s.io",
    "install.istio.io",
    "k3d.io",
    "kind.x-k8s.io",
    "kubeadm.k8s.io",
    "kubelet.config.k8s.io",
    "kubeproxy.config.k8s.io",
    "kubescheduler.config.k8s.io",
    "skaffold",
];

fn is_configuration(group: &str, kind: &str) -> bool {
    CONFIGURATIONS.contains(&group) || (group.is_empty() && kind == "Config")
}

/// Whether a text that cannot be parsed means to be a manifest.
fn looks_like_manifest(text: &str) -> bool {
    // Also in the middle of a line, as in JSON and flow mappings.
    let starts_word = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "-_./".contains(c));
    ["apiVersion", "kind"].iter().any(|key| {
        text.match_indices(key).any(|(at, _)| {
            let (before, rest) = (text.get(..at), text.get(at + key.len()..));
            before.is_some_and(starts_word)
                && rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
        })
    })
}

fn is_set(value: &Value, key: &str) -> bool {
    field(value, key).is_some()
}

/// Whether the kind of an object is one of a single thing.
fn is_no_list(value: &Value) -> bool {
    matches!(field(value, "kind"), Some(Value::String(kind)) if !kind.ends_with("List"))
}

/// A field of a mapping; null counts as missing, as in Kubernetes.
fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(&Value::from(key)).filter(|value| **value != Value::Null),
        _ => None,
    }
}

/// An error at a route.
struct Misplaced {
    route: Route,
    error: SyntaxError,
}

impl Misplaced {
    fn at_its_place(self, tree: Option<&Tree<'_>>) -> SyntaxError {
        match tree {
            Some(tree) => self.error.at(tree.nearest(&self.route).head()),
            None => self.error,
        }
    }
}

/// What a typed list says about items that do not say it themselves.
#[derive(Clone)]
struct Inherited {
    api_version: Value,
    kind: Value,
}

struct Collector {
    resources: Vec<Resource>,
    errors: Vec<Misplaced>,
}

impl Collector {
    fn error(&mut self, route: &Route, code: &'static str, message: impl Into<String>, help: &str) {
        let error = SyntaxError::new(code, message).help(help);
        self.errors.push(Misplaced { route: route.clone(), error });
    }

    fn collect(&mut self, value: Value, route: Route, inherited: Option<&Inherited>) {
        let Value::Object(_) = &value else {
            let what = if route.is_root() { "the document" } else { "this item" };
            self.error(
                &route,
                "no-object",
                format!("{what} is {}, not a Kubernetes object", type_name(&value)),
                "write `apiVersion`, `kind` and `metadata.name`, or keep the file out with `exclude`",
            );
            return;
        };
        let value = match inherited {
            Some(inherited) if !is_set(&value, "apiVersion") && !is_set(&value, "kind") => {
                inherit(value, inherited)
            }
            _ => value,
        };
        // As kubectl does, whatever the kind: an object with `items` is a list of objects. Others read
        // such an object as what its kind says, so its kind must say that it is a list.
        match field(&value, "items") {
            Some(Value::Array(_)) if is_no_list(&value) => {
                self.error(
                    &route.key("items"),
                    "bad-list",
                    "`items` in an object whose kind is no list: kubectl would apply the items and nothing else",
                    "remove `items`, or write `kind: List`",
                );
                return;
            }
            Some(Value::Array(items)) => {
                let items = Arc::clone(items);
                let inherited = item_type(&value);
                for (index, item) in items.iter().enumerate() {
                    self.collect(item.clone(), route.key("items").index(index), inherited.as_ref());
                }
                return;
            }
            Some(other) => {
                let message = format!("`items` is {}, not a list", type_name(other));
                self.error(&route.key("items"), "bad-list", message, "write a list of objects under `items`");
                return;
            }
            None if field(&value, "kind") == Some(&Value::from("List")) => {
                // Null or missing. An empty list must say so.
                self.error(
                    &route,
                    "bad-list",
                    "a `List` without `items`",
                    "write `items: []` if it is empty",
                );
                return;
            }
            None => {}
        }
        if let Some(id) = self.id(&value, &route) {
            self.resources.push(Resource { id, object: value, item: route });
        }
    }

    /// The object's identity; none, and at least one error, if it has none.
    fn id(&mut self, object: &Value, route: &Route) -> Option<ObjectId> {
        let api_version = self.text(object, route, "apiVersion", true);
        let kind = self.text(object, route, "kind", true);
        let metadata = route.key("metadata");
        let (api_version, kind) = (api_version??, kind??);
        let mut versions = api_version.split('/');
        let (group, version) = match (versions.next(), versions.next(), versions.next()) {
            (Some(version), None, _) => ("", version),
            (Some(group), Some(version), None) if !group.is_empty() && !version.is_empty() => {
                (group, version)
            }
            _ => {
                let message = format!("`apiVersion: {api_version}` is no version");
                self.error(
                    &route.key("apiVersion"),
                    "bad-version",
                    message,
                    "write `v1`, or group and version such as `apps/v1`",
                );
                return None;
            }
        };
        let fields = match field(object, "metadata") {
            Some(fields @ Value::Object(_)) => fields.clone(),
            Some(other) => {
                let message = format!("`metadata` is {}, not a mapping", type_name(other));
                self.error(&metadata, "bad-metadata", message, "write `metadata: {name: …}`");
                return None;
            }
            None => Value::new_object(),
        };
        let namespace = self.text(&fields, &metadata, "namespace", false)?;
        let name = self.text(&fields, &metadata, "name", false)?;
        let generate_name = self.text(&fields, &metadata, "generateName", false)?;
        let (name, generated) = match (name, generate_name) {
            (Some(name), _) => (name, false),
            (None, Some(name)) => (name, true),
            // Read by kustomize on the client, where they need no name.
            (None, None) if group == "kustomize.config.k8s.io" => (Arc::from("kustomization"), false),
            (None, None) if is_configuration(group, &kind) => {
                self.error(
                    &metadata.key("name"),
                    CONFIGURATION,
                    format!("`{kind}` of `{api_version}` without a name configures a program, and is no object of a cluster"),
                    "keep the file out of what is deployed, or out of the check with `exclude`",
                );
                return None;
            }
            (None, None) => {
                self.error(
                    &metadata.key("name"),
                    "no-name",
                    format!("`{kind}` without `metadata.name`"),
                    "give it a name, or keep the file out with `exclude` if it is no manifest",
                );
                return None;
            }
        };
        Some(ObjectId { group: group.into(), version: version.into(), kind, namespace, name, generated })
    }

    /// A field that must be a text. Outer none: an error was noted. Inner none: missing or empty.
    #[expect(clippy::option_option, reason = "wrong and missing are different answers")]
    fn text(&mut self, object: &Value, route: &Route, key: &str, required: bool) -> Option<Option<Arc<str>>> {
        let here = route.key(key);
        match field(object, key) {
            Some(Value::String(text)) if text.contains("{{") => {
                self.error(&here, TEMPLATE, format!("not rendered: `{key}` is `{text}`"), RENDER);
                None
            }
            Some(Value::String(text)) if !text.is_empty() => Some(Some(Arc::clone(text))),
            Some(Value::String(_)) | None => {
                if required {
                    let code = if key == "kind" { "no-kind" } else { "no-api-version" };
                    self.error(
                        &here,
                        code,
                        format!("an object without `{key}`"),
                        "write `apiVersion` and `kind`, or keep the file out with `exclude` if it is no manifest",
                    );
                    return None;
                }
                Some(None)
            }
            Some(other) => {
                let message = format!("`{key}` is {}, not a text", type_name(other));
                self.error(&here, "wrong-type", message, "put the value in quotes");
                None
            }
        }
    }
}

/// What kubectl gives to items of a typed list such as `ConfigMapList` that say neither.
fn item_type(list: &Value) -> Option<Inherited> {
    let Some(Value::String(kind)) = field(list, "kind") else { return None };
    let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    Some(Inherited { api_version: field(list, "apiVersion")?.clone(), kind: Value::from(kind) })
}

fn inherit(value: Value, inherited: &Inherited) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields = Arc::unwrap_or_clone(fields);
            fields.insert(Value::from("apiVersion"), inherited.api_version.clone());
            fields.insert(Value::from("kind"), inherited.kind.clone());
            Value::from(fields)
        }
        other => other,
    }
}

/// What a value is, in words.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) | Value::Set(_) => "a list",
        Value::Object(_) => "a mapping",
        Value::Undefined => "undefined",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let objects = resources(text);
        assert_eq!(objects.errors, []);
        objects
            .resources
            .iter()
            .map(|r| format!("{} {} {} @{}", r.id.group, r.id.version, r.id, r.item))
            .collect()
    }

    fn errors(text: &str) -> Vec<(&'static str, usize)> {
        resources(text).errors.iter().map(|error| (error.code, error.span.unwrap().line)).collect()
    }

    #[test]
    fn an_object_has_its_identity() {
        assert_eq!(
            names("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns}\n"),
            ["apps v1 Deployment ns/a @"]
        );
        // O25
        assert_eq!(
            names("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: job-}\n"),
            ["batch v1 Job job-(generated) @"]
        );
        assert_eq!(
            names("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"),
            ["kustomize.config.k8s.io v1beta1 Kustomization kustomization @"]
        );
    }

    #[test]
    fn o03_lists_are_flattened_and_keep_the_route() {
        assert_eq!(
            names(
                "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: p}}, {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: q}}]}]}"
            ),
            [" v1 Pod p @items[0]", " v1 Pod q @items[1].items[0]"]
        );
        // Items of a typed list need not say what they are.
        assert_eq!(
            names("apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: p}}]\n"),
            [" v1 Pod p @items[0]"]
        );
        // kubectl would apply the items and drop the rest; what it is must not depend on the reader.
        assert_eq!(
            errors(
                "{apiVersion: a/v1, kind: Foo, metadata: {name: f}, items: [{apiVersion: v1, kind: Pod, metadata: {name: p}}]}"
            ),
            [("bad-list", 1)]
        );
        assert_eq!(
            errors("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostPID: true}\nitems: []\n"),
            [("bad-list", 5)]
        );
        assert_eq!(names("{apiVersion: v1, kind: List, items: []}"), [] as [&str; 0]);
        assert_eq!(errors("apiVersion: v1\nkind: List\n"), [("bad-list", 1)]);
        assert_eq!(
            errors("apiVersion: v1\nkind: List\nitems:\n- {}\n- 3\n"),
            [("no-api-version", 4), ("no-kind", 4), ("no-object", 5)]
        );
    }

    #[test]
    fn what_has_no_identity_is_an_error_with_its_place() {
        assert_eq!(errors("# c\nkind: Pod\nmetadata:\n  name: x\n"), [("no-api-version", 2)]);
        assert_eq!(errors("apiVersion: v1\nmetadata: {name: x}\n"), [("no-kind", 1)]);
        assert_eq!(errors("apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n"), [("no-name", 3)]);
        assert_eq!(errors("apiVersion: v1\nkind: Pod\n"), [("no-name", 1)]);
        // Read by a program, not by a cluster; with a name it is an object like any other.
        let text = "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec: {profile: default}\n";
        assert_eq!(errors(text), [("no-manifest", 1)]);
        assert!(!resources(text).manifest);
        assert_eq!(
            names("apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nmetadata: {name: a}\n"),
            ["install.istio.io v1alpha1 IstioOperator a @"]
        );
        assert_eq!(errors("apiVersion: v1\nkind: Pod\nmetadata:\n  name: 123\n"), [("wrong-type", 4)]);
        assert_eq!(errors("apiVersion: v1\nkind: [Pod]\n"), [("wrong-type", 2)]);
        assert_eq!(errors("apiVersion: a/b/c\nkind: Pod\nmetadata: {name: x}\n"), [("bad-version", 1)]);
        assert_eq!(errors("- a\n"), [("no-object", 1)]);
        assert_eq!(errors("just text\n"), [("no-object", 1)]);
    }

    #[test]
    fn templates_are_named_as_such() {
        assert_eq!(
            errors("apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"{{ .Release.Name }}\"\n"),
            [("unrendered-template", 4)]
        );
        assert_eq!(errors("kind: Pod\n{{ if .Values.a }}\nmetadata:\n"), [("unrendered-template", 2)]);
        assert_eq!(errors("kind: Pod\nname: {{ .Values.a }}\n"), [("unrendered-template", 2)]);
        assert_eq!(errors("kind: Pod\n%{ if named }name: ${name}%{ endif }\n"), [("unrendered-template", 2)]);
    }

    #[test]
    fn o09_numbers_in_objects_keep_their_digits() {
        let objects =
            resources("apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {a: 356136738}}\n");
        let annotations = &objects.resources[0].object["metadata"]["annotations"];
        assert_eq!(annotations.to_string(), r#"{"a":356136738}"#);
    }
}
