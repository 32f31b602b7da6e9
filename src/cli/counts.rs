//! What was found, sorted into what was judged and what was not, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fleet::Discovery;
use crate::manifest::corpus::Corpus;
use crate::model::{Counts, Unjudged, UnjudgedClass};

/// Fills the counts of files. Every file that was seen is in exactly one of them or is a problem.
pub(super) fn fill(counts: &mut Counts, corpus: &Corpus, discovery: &Discovery) {
    let mut reasons: BTreeMap<(UnjudgedClass, String), usize> = BTreeMap::new();
    for seen in &discovery.seen_through {
        let what = format!("{} `{}`", seen.how.as_str(), seen.by);
        *reasons.entry((UnjudgedClass::SeenThrough, what)).or_default() += 1;
    }
    for unrendered in &discovery.unrendered {
        let what = format!("{} `{}`: {}", unrendered.kind.as_str(), unrendered.root, unrendered.reason);
        *reasons.entry((UnjudgedClass::Unrendered, what)).or_default() += unrendered.files;
    }
    for excluded in &discovery.excluded {
        let what = format!("pattern `{}`: {}", excluded.pattern, excluded.reason);
        *reasons.entry((UnjudgedClass::Excluded, what)).or_default() += 1;
    }
    for skipped in &discovery.skipped {
        *reasons.entry((UnjudgedClass::Skipped, skipped.reason.clone())).or_default() += 1;
    }
    for (_, reason) in &corpus.not_manifests {
        *reasons.entry((UnjudgedClass::Skipped, reason.clone())).or_default() += 1;
    }

    let read: BTreeSet<_> = corpus.files.iter().map(|file| &file.path).collect();
    counts.judged_files = read.len().saturating_sub(corpus.not_manifests.len());
    counts.seen_through = discovery.seen_through.len();
    counts.unrendered = discovery.unrendered.len();
    counts.excluded = discovery.excluded.len();
    counts.skipped = discovery.skipped.len() + corpus.not_manifests.len();
    counts.files = counts.judged_files + counts.seen_through + counts.excluded + counts.skipped;
    counts.unjudged = reasons
        .into_iter()
        .map(|((class, what), files)| Unjudged { class, what: Arc::from(what), files })
        .collect();
}
