//! Fleetgate decides whether a change or a release may go to a fleet of Kubernetes clusters.
//!
//! The modules, from the bottom up; imports point downwards only (see `ARCHITECTURE.md`):
//!
//! - [`model`]: plain data that every part speaks in
//! - [`error`]: what we could not do, with help
//! - [`manifest`]: bytes to resources and back, reading as the cluster does
//! - [`policy`]: Rego modules and data to a checked, evaluable set
//! - [`accelerators`]: which pods an object runs and what devices they ask for
//! - [`engine`]: the pure middle: plan, evaluate, levels, waivers, baseline
//! - [`fleet`]: the fleet file, and which file belongs to which cluster
//! - [`promotion`]: whether a release may go: approvals, windows, soak; pure
//! - [`report`]: one file a format
//! - [`cli`]: arguments, settings, commands

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files of their own"))]

pub mod accelerators;
pub mod cli;
pub mod engine;
pub mod error;
pub mod fleet;
pub mod manifest;
pub mod model;
pub mod policy;
pub mod promotion;
pub mod report;
