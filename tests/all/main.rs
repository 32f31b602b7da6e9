//! Integration tests, one module a topic.

#![allow(clippy::disallowed_methods, reason = "it makes files and runs programs")]
// Tells clippy that the helpers are tests, too.
#![cfg(test)]

mod bad_input;
mod budgets;
mod cases_reading;
mod cases_verdict;
mod changes;
mod dedupe;
mod demand;
mod demand_command;
mod discovery;
mod discovery_on_disk;
mod documentation;
mod example_fleet;
mod fleet_file;
mod fleet_sync;
mod fleet_what_if;
mod generated_fleet;
mod hostile_policies;
mod mig_profiles;
mod shipped_rules;
mod support;
mod which_fleet;
mod yaml_oracle;
