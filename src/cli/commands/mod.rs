//! One file a verb.

pub(super) mod baseline;
pub(super) mod check;
pub(super) mod completions;
pub(super) mod config;
pub(super) mod demand;
pub(super) mod explain;
pub(super) mod fleet;
pub(super) mod init;
pub(super) mod isolated;
pub(super) mod rules;
pub(super) mod schema;
pub(super) mod test;
