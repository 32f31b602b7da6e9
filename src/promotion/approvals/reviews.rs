//! Reviews as a host lists them, and what they come to.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::identities::{Identities, is_bot, normal};
use crate::model::{ApprovalKind, GivenApproval};

/// One review, or one signed approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The identity with its provider, such as `github:ann` or `signer:ann@example.org`.
    pub raw: Arc<str>,
    /// Whether the host says that it is a program's account.
    pub bot: bool,
    /// What was said; none for a comment or a draft, which changes nothing.
    pub kind: Option<ApprovalKind>,
    /// When.
    pub at: Timestamp,
    /// The revision that it is about; none if the host does not say.
    pub revision: Option<Arc<str>>,
    /// Whether its origin is certain.
    pub verified: bool,
}

/// The last word of everybody, sorted by identity. What is about another revision than `head`, or about
/// none that is stated, is stale. Programs are left out: their word never counts.
pub fn effective(reviews: &[Review], head: &str, identities: &Identities) -> Vec<GivenApproval> {
    let mut last: BTreeMap<String, (&Review, ApprovalKind)> = BTreeMap::new();
    for review in reviews.iter().filter(|review| !review.bot && !is_bot(&review.raw)) {
        let Some(kind) = review.kind else { continue };
        let earlier = last.get(&normal(&review.raw));
        // Hosts list in order, so of two at one time the later line counts.
        if earlier.is_none_or(|(earlier, _)| earlier.at <= review.at) {
            last.insert(normal(&review.raw), (review, kind));
        }
    }
    let given = |(review, kind): (&Review, ApprovalKind)| GivenApproval {
        person: identities.person(&review.raw).cloned(),
        raw: review.raw.clone(),
        provider: match review.raw.split_once(':') {
            Some(("signer", _)) => "signature".into(),
            Some((provider, _)) => provider.into(),
            None => "unknown".into(),
        },
        groups: identities.groups(&review.raw),
        at: review.at,
        kind,
        revision: review.revision.clone(),
        stale: review.revision.as_deref().is_none_or(|revision| !revision.eq_ignore_ascii_case(head)),
        verified: review.verified,
    };
    last.into_values().map(given).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(raw: &str, kind: Option<ApprovalKind>, minute: i64, revision: Option<&str>) -> Review {
        let at = Timestamp::from_second(minute * 60).unwrap();
        Review { raw: raw.into(), bot: false, kind, at, revision: revision.map(Arc::from), verified: true }
    }

    #[test]
    fn the_last_word_counts() {
        use ApprovalKind::{Approved, ChangesRequested, Dismissed};
        let reviews = [
            review("github:ann", Some(Approved), 1, Some("head")),
            review("github:bob", Some(Approved), 1, Some("old")),
            review("github:Ann", None, 2, Some("head")),
            review("github:cyd", Some(Approved), 3, Some("head")),
            review("github:cyd", Some(ChangesRequested), 4, Some("head")),
            review("github:dan", Some(ChangesRequested), 3, Some("old")),
            review("github:dan", Some(Approved), 4, Some("HEAD")),
            review("github:eve", Some(Approved), 5, Some("head")),
            review("github:eve", Some(Dismissed), 6, Some("head")),
            review("github:fay", Some(Approved), 5, None),
            review("github:robot[bot]", Some(Approved), 5, Some("head")),
            Review { bot: true, ..review("github:machine", Some(Approved), 5, Some("head")) },
        ];
        let found: Vec<_> = effective(&reviews, "head", &Identities::default())
            .into_iter()
            .map(|given| (given.raw.to_string(), given.kind, given.stale))
            .collect();
        let expected = [
            ("github:ann", Approved, false),
            ("github:bob", Approved, true),
            ("github:cyd", ChangesRequested, false),
            ("github:dan", Approved, false),
            ("github:eve", Dismissed, false),
            ("github:fay", Approved, true),
        ];
        assert_eq!(found, expected.map(|(raw, kind, stale)| (raw.to_owned(), kind, stale)));
    }
}
