//! Integration tests, one module a topic.

// Tells clippy that the helpers are tests, too.
#![cfg(test)]

mod demand;
mod example_fleet;
mod generated_fleet;
mod hostile_policies;
mod yaml_oracle;
