//! Data documents: files merged at the root by what they hold, as OPA and conftest do.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::manifest;
use crate::model::{Problem, Value};

use super::text::SourceFile;

/// Documents merged so far, each value with the file that it came from.
#[derive(Debug, Default)]
pub(super) struct Documents {
    root: BTreeMap<Value, Node>,
}

#[derive(Debug)]
enum Node {
    Leaf(Value, Arc<Utf8PathBuf>),
    Object(BTreeMap<Value, Self>, Arc<Utf8PathBuf>),
}

impl Node {
    fn file(&self) -> &Arc<Utf8PathBuf> {
        match self {
            Self::Leaf(_, file) | Self::Object(_, file) => file,
        }
    }

    fn new(value: &Value, file: &Arc<Utf8PathBuf>) -> Self {
        match value.as_object() {
            Ok(object) => {
                let fields = object.iter_sorted().map(|(key, value)| (key.clone(), Self::new(value, file)));
                Self::Object(fields.collect(), Arc::clone(file))
            }
            Err(_) => Self::Leaf(value.clone(), Arc::clone(file)),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Leaf(value, _) => value.clone(),
            Self::Object(fields, _) => object(fields),
        }
    }
}

fn object(fields: &BTreeMap<Value, Node>) -> Value {
    Value::from(fields.iter().map(|(key, node)| (key.clone(), node.value())).collect::<BTreeMap<_, _>>())
}

impl Documents {
    /// Adds a file. A value that two files give differently is a problem; one that they agree in is
    /// not.
    pub(super) fn add(&mut self, file: &SourceFile, reserved: &[&str]) -> Vec<Problem> {
        let whole = super::text::span(&file.text, 0, 0);
        let value = match manifest::value(&file.text) {
            Ok(value) => value,
            Err(error) => {
                let mut problem = file.problem(
                    "data-syntax",
                    format!("data cannot be read: {}", error.message),
                    error.span.unwrap_or(whole),
                );
                problem.help = error.help;
                problem.related = error.related;
                return vec![problem];
            }
        };
        let Ok(fields) = value.as_object() else {
            return vec![
                file.problem("data-root", "a data document must be a mapping", whole)
                    .help("its keys become keys of `data`; put the value under one"),
            ];
        };
        let mut problems = Vec::new();
        for (key, value) in fields.iter_sorted() {
            if let Ok(name) = key.as_string()
                && reserved.contains(&&**name)
            {
                let span = super::text::key_span(&file.text, &[name]).unwrap_or(whole);
                problems.push(
                    file.problem("reserved-data", format!("`data.{name}` is reserved"), span)
                        .help("use another key for data of your own"),
                );
                continue;
            }
            merge(&mut self.root, key, value, file, "data", &mut problems);
        }
        problems
    }

    /// The file of a value that stands at or above a path, and would hide the rules there.
    pub(super) fn hides(&self, path: &[Arc<str>]) -> Option<(Arc<Utf8PathBuf>, String)> {
        let mut fields = &self.root;
        let mut walked = "data".to_owned();
        for (index, part) in path.iter().enumerate() {
            let node = fields.get(&Value::from(&**part))?;
            walked = format!("{walked}.{part}");
            match node {
                Node::Object(inner, _) if index + 1 < path.len() => fields = inner,
                node => return Some((Arc::clone(node.file()), walked)),
            }
        }
        None
    }

    /// The merged document.
    pub(super) fn value(&self) -> Value {
        object(&self.root)
    }
}

fn merge(
    fields: &mut BTreeMap<Value, Node>,
    key: &Value,
    value: &Value,
    file: &SourceFile,
    above: &str,
    problems: &mut Vec<Problem>,
) {
    let path = match key.as_string() {
        Ok(name) => format!("{above}.{name}"),
        Err(_) => format!("{above}[{key}]"),
    };
    match (fields.get_mut(key), value.as_object()) {
        (None, _) => {
            fields.insert(key.clone(), Node::new(value, &file.path));
        }
        (Some(Node::Object(inner, _)), Ok(object)) => {
            for (key, value) in object.iter_sorted() {
                merge(inner, key, value, file, &path, problems);
            }
        }
        (Some(Node::Leaf(known, _)), _) if known == value => {}
        (Some(node), _) => {
            let names: Vec<_> = path.split('.').skip(1).collect();
            let whole = super::text::span(&file.text, 0, 0);
            let span = super::text::key_span(&file.text, &names).unwrap_or(whole);
            let message = format!("`{path}` is set differently in `{}` and in `{}`", node.file(), file.path);
            problems.push(
                file.problem("data-conflict", message, span)
                    .help("keep one of them, or give them different keys"),
            );
        }
    }
}
