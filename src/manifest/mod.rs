//! Bytes to resources and back, reading as the cluster does.
//!
//! - [`corpus`]: many files to distinct documents with their objects
//! - [`split()`]: a file's text to documents
//! - [`value`]: one document to a value
//! - [`resources`]: one document to its objects
//! - [`typed()`]: one document to a type of our own
//! - [`locate()`]: where the value at a route is written
//! - [`emit()`]: a value to text
//! - [`quantity`]: amounts such as `100m` and `2Gi`

pub mod corpus;
mod emit;
mod error;
mod events;
mod intern;
mod json;
mod locate;
mod positions;
pub mod quantity;
mod reader;
mod resource;
mod scalar;
mod source;
mod split;
mod tags;
mod typed;

pub use emit::emit;
pub use error::SyntaxError;
pub use locate::{Nearest, Tree, locate, locate_key, locate_nearest};
pub use reader::value;
pub use resource::{Objects, Resource, resources};
pub use source::text;
pub use split::{Slice, Split, split};
pub use typed::{from_value, nearest_word, typed};
