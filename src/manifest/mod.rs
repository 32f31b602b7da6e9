//! Bytes to resources and back, reading as the cluster does.
//!
//! - [`value`]: one document to a value
//! - [`typed()`]: one document to a type of our own
//! - [`locate()`]: where the value at a route is written
//! - [`quantity`]: amounts such as `100m` and `2Gi`

mod error;
mod events;
mod intern;
mod json;
mod positions;
pub mod quantity;
mod reader;
mod scalar;
mod tags;

pub use error::SyntaxError;
pub use reader::value;

use crate::model::{ObjectId, Route, Value};
use serde::de::DeserializeOwned;

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

/// Reads one document into a typed value; an unknown key or a wrong type is an error with its place.
pub fn typed<T: DeserializeOwned>(text: &str) -> Result<T, SyntaxError> {
    let failed = |error: serde_json::Error| SyntaxError::new("wrong-type", error.to_string());
    let json = serde_json::to_value(value(text)?).map_err(failed)?;
    serde_json::from_value(json).map_err(failed)
}
