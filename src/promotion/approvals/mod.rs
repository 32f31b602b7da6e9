//! Approvals: who agreed, who they are, and whether they are enough.

mod answer;
mod identities;
mod reviews;
#[cfg(test)]
mod tests;

pub use answer::{Evidence, Owners, Parts, approvals};
pub use identities::{Identities, Relation};
pub use reviews::{Review, effective};
