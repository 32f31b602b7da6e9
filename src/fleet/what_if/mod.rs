//! What a change of a cluster's capacity would break: budgets and queues that promise more than there
//! is, workloads that no longer fit.
//!
//! Where pods can run does not depend on how many nodes there are, so that the fleet is assessed
//! once and compared with what there is before and after.

mod change;
mod rows;

use std::sync::Arc;

use crate::accelerators::{Amount, Fits};
use crate::engine::Site;
use crate::manifest::corpus::Corpus;
use crate::model::{Cluster, Fleet};

pub use change::{Applied, Change, apply};

/// What a change means for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It no longer fits.
    Breaks,
    /// It fits now and did not before.
    Mends,
    /// It does not fit either way.
    Short,
    /// Whether it fits cannot be told.
    Unknown,
    /// It fits either way.
    Fits,
}

/// Something that needs capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `budget`, `queue`, `demand` or `workload`.
    pub kind: &'static str,
    /// Which one, for people.
    pub name: String,
    /// What it needs, such as `H100` or `nvidia.com/gpu`.
    pub of: Arc<str>,
    /// How much of it.
    pub needs: Amount,
    /// How much there is before the change.
    pub before: Amount,
    /// How much there is after it.
    pub after: Amount,
    /// Where it stands, as `file:line`, if it stands in one place.
    pub place: Option<String>,
}

impl Row {
    /// Whether it fits before the change, and after it.
    pub fn fit(&self) -> (Fits, Fits) {
        (fits(&self.needs, &self.before), fits(&self.needs, &self.after))
    }

    /// What the change means for it. What fits for certain and then not for certain is broken, and so
    /// is what perhaps fits and then certainly does not.
    pub fn effect(&self) -> Effect {
        match self.fit() {
            (Fits::Yes | Fits::Unknown, Fits::No) | (Fits::Yes, Fits::Unknown) => Effect::Breaks,
            (Fits::No | Fits::Unknown, Fits::Yes) => Effect::Mends,
            (Fits::No, Fits::No) => Effect::Short,
            (Fits::Yes, Fits::Yes) => Effect::Fits,
            (Fits::No | Fits::Unknown, Fits::Unknown) => Effect::Unknown,
        }
    }
}

/// Whether needs fit into what there is. What may be more than is known decides nothing by itself.
fn fits(needs: &Amount, there: &Amount) -> Fits {
    match (needs.fits(there.at_least()), there.known()) {
        (Fits::No, None) => Fits::Unknown,
        (fits, _) => fits,
    }
}

/// Compares what is asked of a cluster with what it has before and after a change: the rows that the
/// change can concern, those with the gravest effect first.
pub fn compare(
    corpus: &Corpus,
    sites: &[Site],
    fleet: &Fleet,
    before: &Cluster,
    after: &Cluster,
) -> Vec<Row> {
    let mut rows = rows::rows(corpus, sites, fleet, before, after);
    rows.sort_by(|a, b| {
        let order = |row: &Row| {
            let kind = ["budget", "queue", "demand", "workload"].iter().position(|kind| *kind == row.kind);
            (row.effect(), kind, std::cmp::Reverse(row.needs.at_least()))
        };
        (order(a), &a.name, &a.of).cmp(&(order(b), &b.name, &b.of))
    });
    rows
}

#[cfg(test)]
mod tests;
