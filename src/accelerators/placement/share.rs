//! Parts of a device, exactly, until a row is summed up.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::amount::{Amount, Three};

/// What part of a device one unit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    /// At least `numerator / denominator`; exactly that if nothing keeps it open.
    numerator: u64,
    denominator: u64,
    /// Why it may be more.
    open: Option<Arc<str>>,
}

impl Share {
    /// A whole device.
    pub(super) const WHOLE: Self = Self { numerator: 1, denominator: 1, open: None };

    /// `numerator / denominator` of a device; open if that is no number.
    pub(super) fn part(numerator: u64, denominator: u64) -> Self {
        if denominator == 0 {
            return Self::open("a device is divided into no parts");
        }
        let by = gcd(numerator, denominator).max(1);
        Self { numerator: numerator / by, denominator: denominator / by, open: None }
    }

    /// A part of which nothing is known but that it is one.
    pub(super) fn open(why: impl Into<Arc<str>>) -> Self {
        Self { numerator: 0, denominator: 1, open: Some(why.into()) }
    }

    /// The larger of both.
    #[must_use]
    pub(super) fn max(self, other: Self) -> Self {
        let scaled = |one: &Self, by: &Self| u128::from(one.numerator) * u128::from(by.denominator);
        let open = self.open.clone().or_else(|| other.open.clone());
        let larger = if scaled(&other, &self) > scaled(&self, &other) { other } else { self };
        Self { open, ..larger }
    }

    /// That part of a part.
    #[must_use]
    pub(super) fn of(self, other: &Self) -> Self {
        let open = self.open.clone().or_else(|| other.open.clone());
        let product =
            self.numerator.checked_mul(other.numerator).zip(self.denominator.checked_mul(other.denominator));
        match product {
            Some((numerator, denominator)) => Self { open, ..Self::part(numerator, denominator) },
            None => Self::open(TOO_FINE),
        }
    }
}

const TOO_FINE: &str = "the part of a device is too fine to be counted";

/// Thousandths of a device of all these, rounded up once: a row is never fewer than the exact share.
pub(super) fn thousandths(parts: &[(Three, Share)]) -> Three {
    let common = parts.iter().try_fold(1_u64, |common, (_, share)| {
        (common / gcd(common, share.denominator).max(1)).checked_mul(share.denominator)
    });
    let Some(common) = common else {
        let open = Amount::unknown(TOO_FINE);
        return parts.iter().fold(Three::ZERO, |sum, (three, _)| sum.add(&three.mul(&Three::same(&open))));
    };
    let total = parts.iter().fold(Three::ZERO, |sum, (three, share)| {
        let one = Amount::Known(share.numerator)
            .mul(&Amount::Known(common / share.denominator))
            .mul(&Amount::Known(1000));
        let one = match &share.open {
            None => one,
            Some(why) => Amount::Unknown { at_least: one.at_least(), reasons: BTreeSet::from([why.clone()]) },
        };
        sum.add(&three.mul(&Three::same(&one)))
    });
    total.with(&Three::known(common), Amount::div_ceil)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(parts: &[(u64, u64, u64)]) -> Three {
        let parts: Vec<_> =
            parts.iter().map(|(count, n, d)| (Three::known(*count), Share::part(*n, *d))).collect();
        thousandths(&parts)
    }

    #[test]
    fn a_row_is_rounded_up_once() {
        // Seven sevenths are a device; each for itself would be 143.
        assert_eq!(row(&[(7, 1, 7)]), Three::known(1000));
        // 1/7 + 3/7 of a device: 571.4.
        assert_eq!(row(&[(1, 1, 7), (1, 3, 7)]), Three::known(572));
        // 1/7 + 1/10: 242.9.
        assert_eq!(row(&[(1, 1, 7), (1, 1, 10)]), Three::known(243));
        assert_eq!(row(&[(16, 1, 1)]), Three::known(16_000));
    }

    #[test]
    fn what_is_open_stays_open() {
        let open = |n: u64| Amount::Unknown { at_least: n, reasons: BTreeSet::from(["why".into()]) };
        let parts = [(Three::known(2), Share::WHOLE), (Three::known(1), Share::open("why"))];
        assert_eq!(thousandths(&parts), Three::same(&open(2000)));
        // Nothing of something that nobody knows is nothing.
        assert_eq!(thousandths(&[(Three::ZERO, Share::open("why"))]), Three::ZERO);
        let half = Share::part(1, 2).max(Share::open("why"));
        assert_eq!(thousandths(&[(Three::known(1), half)]), Three::same(&open(500)));
    }

    #[test]
    fn too_much_is_unknown() {
        let sum = row(&[(u64::MAX, 1, 1)]);
        assert_eq!(sum.steady.known(), None);
        assert_eq!(row(&[(1, 1, u64::MAX), (1, 1, u64::MAX - 1)]).steady.known(), None);
    }

    proptest! {
        #[test]
        fn a_row_is_never_fewer_than_the_exact_share(
            parts in prop::collection::vec((0..1000_u64, 0..9_u64, 1..12_u64), 0..6),
        ) {
            // Over the common denominator of 1 to 11.
            let exact: u64 = parts.iter().map(|(count, n, d)| count * n * (27_720 / d)).sum();
            let shown = row(&parts).steady.known().expect("a number");
            prop_assert!(shown * 27_720 >= exact * 1000);
            prop_assert!(shown == 0 || (shown - 1) * 27_720 < exact * 1000);
        }
    }
}
