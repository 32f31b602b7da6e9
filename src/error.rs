//! Errors of our own work, as opposed to findings about somebody's manifests.

use crate::model::Problem;

/// Why a command could not do its work. All of them end in exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One or more problems kept us from starting: configuration, policies, data.
    #[error("{} problem(s) before anything was judged", .0.len())]
    Problems(Vec<Problem>),
    /// Output could not be written. A closed standard output is not an error and is handled by the
    /// caller.
    #[error("cannot write {what}")]
    Write {
        /// What was being written, such as `report.sarif`.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }
}

/// Shorthand.
pub type Result<T, E = Error> = std::result::Result<T, E>;
