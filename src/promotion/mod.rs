//! Whether a release may go: approvals, windows and soak against what the fleet file asks for.
//!
//! Pure: the evidence and the time are given. Whatever is not known is [`CannotTell`], never a yes.
//!
//! [`CannotTell`]: crate::model::Decision::CannotTell

pub mod approvals;
pub mod codeowners;
pub mod soak;
pub mod windows;
