//! The fleet file, and which file belongs to which cluster.
//!
//! [`load`] reads a fleet file with the parts that it includes and checks all of it; [`discover`]
//! walks a tree, finds out what renders which file, and sorts every YAML and JSON file into exactly
//! one place; [`init`] proposes a fleet file for a tree that has none.

#![allow(clippy::disallowed_methods, reason = "it finds and reads the files of a fleet")]

mod argocd;
mod check;
mod discover;
mod discovery;
pub mod file;
mod find;
mod flux;
pub mod git;
mod graph;
mod helm;
mod hints;
mod init;
mod kustomize;
mod load;
mod merge;
mod paths;
mod peek;
mod promises;
mod recognise;
mod resolve;
mod scan;
mod skip;
mod suggest;
pub mod sync;
mod tree;
mod walk;
pub mod what_if;

pub use discover::discover;
pub use discovery::{
    Discovery, Excluded, ExcludedDeployed, Loose, Renderer, SeenThrough, Skipped, Unrendered,
};
pub use find::{find_config, find_config_of};
pub use init::{Proposal, init};
pub(crate) use load::name_glob;
pub use load::{Loaded, Part, included_by, load};
pub use merge::Origin;
pub use paths::is_structured;
pub use resolve::{PolicySource, Tree, Trees};

/// Help for the name of a cluster that the fleet does not have.
pub fn cluster_help(fleet: &crate::model::Fleet, name: &str) -> String {
    suggest::help(name, fleet.clusters.keys().map(|name| &**name))
}

/// The JSON schema of fleet files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::Document)
}
