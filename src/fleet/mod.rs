//! The fleet file, and which file belongs to which cluster.
//!
//! [`load`] reads a fleet file with the parts that it includes and checks all of it; [`discover`]
//! walks a tree, finds out what renders which file, and sorts every YAML and JSON file into exactly
//! one place; [`init`] proposes a fleet file for a tree that has none.

mod check;
mod discover;
pub mod file;
mod find;
mod load;
mod merge;
mod resolve;
mod suggest;

pub use discover::{
    Discovery, Excluded, ExcludedDeployed, InputFile, Loose, Renderer, SeenThrough, Skipped, Unrendered,
    discover,
};
pub use find::find_config;
pub use load::{Loaded, Part, load};
pub use merge::Origin;
pub use resolve::{PolicySource, Tree};

/// The JSON schema of fleet files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::Document)
}
