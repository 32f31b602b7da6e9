//! What a part of a fleet file is derived from: outputs of other tools, read as JSON or YAML.
//!
//! Texts that stand in an input are never shown: it may hold credentials. Problems name file, line
//! and item.

use std::sync::Arc;

use camino::Utf8PathBuf;
use serde::de::DeserializeOwned;

use crate::fleet::file::Taint;
use crate::fleet::peek::{at, text};
use crate::manifest;
use crate::model::{Problem, Route, Span, Value};

/// Where an input comes from, and so what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `argocd cluster list -o json`, or Argo CD's cluster `Secret`s.
    Clusters,
    /// `terraform output -json`.
    Terraform,
    /// `kubectl get nodes -o json`.
    Nodes,
    /// `kubectl get nodepools.karpenter.sh -o json`.
    Karpenter,
    /// `kubectl get clusterqueues,localqueues,resourceflavors -A -o json`.
    Kueue,
    /// `kubectl get namespaces -o json`.
    Namespaces,
    /// `kubectl get appprojects -n argocd -o json`.
    Projects,
    /// A `CODEOWNERS` file.
    CodeOwners,
    /// Members of an organisation or team, as GitHub's API lists them.
    GitHub,
    /// Members of a group, as GitLab's API lists them.
    GitLab,
}

impl Source {
    /// The option of the command line.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Clusters => "--clusters",
            Self::Terraform => "--terraform",
            Self::Nodes => "--nodes",
            Self::Karpenter => "--karpenter",
            Self::Kueue => "--kueue",
            Self::Namespaces => "--namespaces",
            Self::Projects => "--projects",
            Self::CodeOwners => "--codeowners",
            Self::GitHub => "--github",
            Self::GitLab => "--gitlab",
        }
    }

    /// What it is, as a generated file names its sources.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clusters => "argocd clusters",
            Self::Terraform => "terraform output",
            Self::Nodes => "kubectl nodes",
            Self::Karpenter => "karpenter nodepools",
            Self::Kueue => "kueue queues",
            Self::Namespaces => "kubectl namespaces",
            Self::Projects => "argocd appprojects",
            Self::CodeOwners => "codeowners",
            Self::GitHub => "github members",
            Self::GitLab => "gitlab members",
        }
    }

    /// The command that writes it.
    const fn command(self) -> &'static str {
        match self {
            Self::Clusters => "argocd cluster list -o json",
            Self::Terraform => "terraform output -json",
            Self::Nodes => "kubectl get nodes -o json",
            Self::Karpenter => "kubectl get nodepools.karpenter.sh -o json",
            Self::Kueue => "kubectl get clusterqueues,localqueues,resourceflavors -A -o json",
            Self::Namespaces => "kubectl get namespaces -o json",
            Self::Projects => "kubectl get appprojects.argoproj.io -A -o json",
            Self::CodeOwners => "cat CODEOWNERS",
            Self::GitHub => "gh api --paginate --slurp orgs/ORG/members",
            Self::GitLab => "glab api --paginate groups/GROUP/members/all",
        }
    }
}

/// One input.
#[derive(Debug, Clone)]
pub struct Input {
    /// What it is.
    pub source: Source,
    /// The cluster (nodes, queues, namespaces) or team (members) that it is about, if it is named.
    pub of: Option<String>,
    /// The file, as shown to people; `-` for standard input.
    pub file: Arc<Utf8PathBuf>,
    /// Its text.
    pub text: Arc<str>,
}

/// What is to be told about the inputs.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// What could not be understood; nothing is written then.
    pub(super) problems: Vec<Problem>,
    /// What people should know.
    pub(super) remarks: Vec<String>,
    located: usize,
}

/// How many problems are given a line: each look-up reads the whole input again.
const LOCATED: usize = 20;

impl Log {
    /// Something that could not be understood in an input, at a place in it.
    pub(super) fn problem(
        &mut self,
        input: &Input,
        at: &Place,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let mut problem = Problem::new(code, message).help(help);
        problem.file = Some(Arc::clone(&input.file));
        if self.located < LOCATED {
            self.located += 1;
            problem.span = at.span(&input.text);
        }
        self.problems.push(problem);
    }

    /// Something that concerns no place.
    pub(super) fn general(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem::new(code, message).help(help));
    }

    pub(super) fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }
}

/// A place in an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Which document.
    document: usize,
    route: Route,
}

impl Place {
    pub(super) fn key(&self, key: &str) -> Self {
        Self { document: self.document, route: self.route.key(key) }
    }

    fn span(&self, text: &str) -> Option<Span> {
        let split = manifest::split(text);
        let document = split.documents.get(self.document)?;
        let mut span = manifest::locate(document.text, &self.route)?;
        span.line += document.line.saturating_sub(1);
        span.offset += document.offset;
        Some(span)
    }
}

/// One thing in an input.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) at: Place,
}

impl Item {
    /// `metadata.name`.
    pub(super) fn name(&self) -> Option<&str> {
        text(&self.value, &["metadata", "name"])
    }

    /// Kind, namespace and name, as far as they are there.
    pub(super) fn shown(&self) -> String {
        let kind = text(&self.value, &["kind"]).unwrap_or("an object without a kind");
        match (text(&self.value, &["metadata", "namespace"]), self.name()) {
            (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
            (None, Some(name)) => format!("{kind} {name}"),
            _ => format!("{kind} without a name"),
        }
    }
}

impl Item {
    /// The items of a sequence, those of sequences inside it (pages) one by one; or the thing itself.
    pub(super) fn items(&self) -> Vec<Self> {
        match &self.value {
            Value::Array(items) => {
                let item =
                    |(index, value): (usize, &Value)| Self { value: value.clone(), at: self.at.index(index) };
                items.iter().enumerate().map(item).flat_map(|item| item.items()).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// The items of the list at `keys`; something else there is a problem.
    pub(super) fn list(&self, input: &Input, keys: &[&str], log: &mut Log) -> Vec<&Value> {
        match at(&self.value, keys) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(_) => {
                let message = format!("{}: `{}` is no list", self.shown(), keys.join("."));
                let place = keys.iter().fold(self.at.clone(), |place, key| place.key(key));
                log.problem(input, &place, "wrong-type", message, "write the object as the cluster has it");
                Vec::new()
            }
        }
    }

    /// The taints at `keys`; one without an effect that Kubernetes has is a problem.
    pub(super) fn taints(&self, input: &Input, keys: &[&str], log: &mut Log) -> Vec<Taint> {
        let mut taints = Vec::new();
        for taint in self.list(input, keys, log) {
            let word = |key| text(taint, &[key]).filter(|word| !word.is_empty()).map(str::to_owned);
            let effect = serde_json::from_value(word("effect").unwrap_or_default().into());
            if let (Some(key), Ok(effect)) = (word("key"), effect) {
                taints.push(Taint { key, value: word("value"), effect });
            } else {
                let message = format!(
                    "{} has a taint that is none: its key or effect is missing or unknown",
                    self.shown()
                );
                let place = keys.iter().fold(self.at.clone(), |place, key| place.key(key));
                let help =
                    "write a `key` and one of the effects `NoSchedule`, `PreferNoSchedule`, `NoExecute`";
                log.problem(input, &place, "taint", message, help);
            }
        }
        taints
    }

    /// The same as an entry of a fleet file, in the output `output` under `name`.
    pub(super) fn typed<T: DeserializeOwned>(
        &self,
        input: &Input,
        output: &str,
        name: &str,
        log: &mut Log,
    ) -> Option<T> {
        // The place comes from the input, whose text cannot be given: it may hold credentials.
        match manifest::from_value(&self.value, "", &Route::root()) {
            Ok(entry) => Some(entry),
            Err(error) => {
                let message = format!("`{output}.{name}`: {}", error.message);
                let help = error
                    .help
                    .unwrap_or_else(|| "`fleetgate schema fleet` lists what an entry has".to_owned());
                log.problem(input, &self.at, error.code, message, help);
                None
            }
        }
    }
}

/// The documents of an input.
pub(super) fn documents(input: &Input, log: &mut Log) -> Vec<Item> {
    let split = manifest::split(&input.text);
    for error in &split.errors {
        unreadable(input, error.span, log);
    }
    let mut items = Vec::new();
    for (document, slice) in split.documents.iter().enumerate() {
        match manifest::value(slice.text) {
            Ok(value) => items.push(Item { value, at: Place { document, route: Route::root() } }),
            Err(error) => {
                let span = error.span.map(|span| Span {
                    line: span.line + slice.line.saturating_sub(1),
                    offset: span.offset + slice.offset,
                    ..span
                });
                unreadable(input, span, log);
            }
        }
    }
    if split.documents.is_empty() && split.errors.is_empty() {
        empty(input, log);
    }
    items
}

fn unreadable(input: &Input, span: Option<Span>, log: &mut Log) {
    let option = input.source.option();
    let message = format!("what `{option}` reads is no JSON or YAML, or not all of it");
    let help = format!("write the whole output of `{}` to it", input.source.command());
    let mut problem = Problem::new("unreadable-input", message).help(help);
    problem.file = Some(Arc::clone(&input.file));
    problem.span = span;
    log.problems.push(problem);
}

fn empty(input: &Input, log: &mut Log) {
    let help = format!(
        "write the output of `{}` to it; a command that may not look says the same as one that finds nothing",
        input.source.command()
    );
    let message = format!("what `{}` reads names nothing", input.source.option());
    log.problem(input, &Place::default(), "empty-input", message, help);
}

/// The objects of an input that are of one of `kinds` (`(group, kind)`), the items of lists one by
/// one. Objects of other kinds are problems.
pub(super) fn objects(input: &Input, kinds: &[(&str, &str)], log: &mut Log) -> Vec<Item> {
    let before = log.problems.len();
    let mut objects = Vec::new();
    for document in documents(input, log) {
        for object in unlisted(document) {
            let kind = text(&object.value, &["kind"]).unwrap_or_default();
            let version = text(&object.value, &["apiVersion"]).unwrap_or_default();
            let group = version.split_once('/').map_or("", |(group, _)| group);
            if !kinds.contains(&(group, kind)) {
                let wanted: Vec<_> = kinds.iter().map(|(_, kind)| format!("`{kind}`")).collect();
                let message = format!("{} of `{version}` is no {}", object.shown(), wanted.join(", no "));
                let help =
                    format!("`{}` reads the output of `{}`", input.source.option(), input.source.command());
                log.problem(input, &object.at, "another-kind", message, help);
            } else if object.name().is_none() {
                let message = format!("a {kind} has no `metadata.name`");
                log.problem(input, &object.at, "no-name", message, "write the whole object");
            } else {
                objects.push(object);
            }
        }
    }
    if objects.is_empty() && log.problems.len() == before {
        empty(input, log);
    }
    objects
}

/// The items of a list, or the object itself. kubectl's `List` and a kind's own, such as `NodeList`,
/// are the same, and so is a bare sequence.
fn unlisted(document: Item) -> Vec<Item> {
    let is_list = text(&document.value, &["kind"]).is_some_and(|kind| kind.ends_with("List"));
    let (items, base) = match &document.value {
        Value::Array(items) => (items.iter().collect::<Vec<_>>(), document.at.clone()),
        value if is_list => {
            (crate::fleet::peek::items(value, &["items"]).collect(), document.at.key("items"))
        }
        _ => return vec![document],
    };
    // The kind of a typed list's items is that of the list without `List`.
    let inherited = text(&document.value, &["kind"]).and_then(|kind| kind.strip_suffix("List"));
    let version = text(&document.value, &["apiVersion"]);
    let complete = |value: &Value| match (value, inherited, version) {
        (Value::Object(_), Some(kind), Some(version)) if !kind.is_empty() => {
            let mut value = value.clone();
            if let Ok(fields) = value.as_object_mut() {
                for (key, stated) in [("kind", kind), ("apiVersion", version)] {
                    if fields.get(&Value::from(key)).is_none() {
                        fields.insert(Value::from(key), Value::from(stated));
                    }
                }
            }
            value
        }
        _ => value.clone(),
    };
    let item = |(index, value)| Item { value: complete(value), at: base.index(index) };
    items.into_iter().enumerate().map(item).collect()
}

impl Place {
    pub(super) fn index(&self, index: usize) -> Self {
        Self { document: self.document, route: self.route.index(index) }
    }
}
