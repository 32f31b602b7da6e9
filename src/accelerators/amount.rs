//! How many: known, without bound, or not knowable from the manifests.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::model::Value;

/// A number of pods or devices. What is not known is never taken for zero: sums, products and
/// comparisons carry it on.
///
/// Zero devices times any number of pods is zero, so a workload that asks for no device has no
/// unknown demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount {
    /// Exactly so many.
    Known(u64),
    /// At least so many, and nothing keeps it from growing.
    Unbounded {
        /// The least it can be.
        at_least: u64,
    },
    /// At least so many; what more, the manifests do not say.
    Unknown {
        /// The least it can be.
        at_least: u64,
        /// Why, for people; never empty.
        reasons: BTreeSet<Arc<str>>,
    },
}

/// Whether an amount is within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fits {
    /// It is.
    Yes,
    /// It is not, or nothing guarantees that it stays within.
    No,
    /// The manifests do not say.
    Unknown,
}

impl Fits {
    /// `yes`, `no`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

const TOO_LARGE: &str = "a number is larger than can be counted";

impl Amount {
    /// None.
    pub const ZERO: Self = Self::Known(0);
    /// One.
    pub const ONE: Self = Self::Known(1);
    /// Nothing bounds it.
    pub const UNBOUNDED: Self = Self::Unbounded { at_least: 0 };

    /// An amount of which only the reason why it is not known is known.
    pub fn unknown(reason: impl Into<Arc<str>>) -> Self {
        Self::Unknown { at_least: 0, reasons: BTreeSet::from([reason.into()]) }
    }

    /// The least it can be.
    pub const fn at_least(&self) -> u64 {
        match self {
            Self::Known(n) | Self::Unbounded { at_least: n } | Self::Unknown { at_least: n, .. } => *n,
        }
    }

    /// The number, if it is known.
    pub const fn known(&self) -> Option<u64> {
        match self {
            Self::Known(n) => Some(*n),
            Self::Unbounded { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Whether it is known to be none.
    pub const fn is_zero(&self) -> bool {
        matches!(self, Self::Known(0))
    }

    /// Both together.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        self.combine(other, self.at_least().checked_add(other.at_least()))
    }

    /// The larger of both.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        self.combine(other, Some(self.at_least().max(other.at_least())))
    }

    /// The smaller of both. A known number bounds what is unbounded, and what is unknown if that is
    /// surely as large.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Known(n), open) | (open, Self::Known(n)) if open.at_least() >= *n => Self::Known(*n),
            // At its worst, what is unbounded reaches the bound.
            (Self::Known(n), Self::Unbounded { .. }) | (Self::Unbounded { .. }, Self::Known(n)) => {
                Self::Known(*n)
            }
            _ => self.combine(other, Some(self.at_least().min(other.at_least()))),
        }
    }

    /// So many times as many.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        self.combine(other, self.at_least().checked_mul(other.at_least()))
    }

    /// What remains, never below zero.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        match other {
            Self::Known(n) => self.map(self.at_least().saturating_sub(*n)),
            Self::Unbounded { .. } => Self::unknown("a number without bound is subtracted"),
            Self::Unknown { .. } => self.combine(other, Some(0)),
        }
    }

    /// Divided, rounded up; by zero it is unknown.
    #[must_use]
    pub fn div_ceil(&self, other: &Self) -> Self {
        match other {
            Self::Known(0) => Self::unknown("a number is divided by zero"),
            Self::Known(n) => self.map(self.at_least().div_ceil(*n)),
            Self::Unbounded { .. } | Self::Unknown { .. } => self.combine(other, Some(0)),
        }
    }

    /// So many hundredths of it, rounded up.
    #[must_use]
    pub fn percent(&self, percent: u64) -> Self {
        if percent == 0 || self.is_zero() {
            return Self::ZERO;
        }
        let scaled = u128::from(self.at_least()) * u128::from(percent);
        match u64::try_from(scaled.div_ceil(100)) {
            Ok(n) => self.map(n),
            Err(_) => self.combine(&Self::ZERO, None),
        }
    }

    /// Whether it is within `limit` whatever it turns out to be.
    pub const fn fits(&self, limit: u64) -> Fits {
        match self {
            Self::Known(n) if *n <= limit => Fits::Yes,
            Self::Known(_) | Self::Unbounded { .. } => Fits::No,
            Self::Unknown { at_least, .. } if *at_least > limit => Fits::No,
            Self::Unknown { .. } => Fits::Unknown,
        }
    }

    /// As policies see it: an integer, `{"atLeast": n, "unbounded": true}`, or
    /// `{"atLeast": n, "unknown": [reasons]}`.
    pub fn to_value(&self) -> Value {
        let fields = match self {
            Self::Known(n) => return Value::from(*n),
            Self::Unbounded { at_least } => {
                [("atLeast", Value::from(*at_least)), ("unbounded", Value::from(true))]
            }
            Self::Unknown { at_least, reasons } => {
                let reasons: Vec<_> = reasons.iter().map(|reason| Value::String(reason.clone())).collect();
                [("atLeast", Value::from(*at_least)), ("unknown", Value::from(reasons))]
            }
        };
        super::value::object(fields)
    }

    /// Reads what [`Amount::to_value`] made; `None` if it is anything else.
    pub fn from_value(value: &Value) -> Option<Self> {
        if let Value::Number(number) = value {
            return number.as_u64().map(Self::Known);
        }
        let at_least = super::value::path(value, &["atLeast"])?.as_u64().ok()?;
        if matches!(super::value::path(value, &["unbounded"]), Some(Value::Bool(true))) {
            return Some(Self::Unbounded { at_least });
        }
        let reasons: BTreeSet<Arc<str>> = super::value::items(super::value::path(value, &["unknown"])?)
            .filter_map(|reason| reason.as_string().ok().cloned())
            .collect();
        (!reasons.is_empty()).then_some(Self::Unknown { at_least, reasons })
    }

    /// The same openness with another least number.
    fn map(&self, n: u64) -> Self {
        match self {
            Self::Known(_) => Self::Known(n),
            Self::Unbounded { .. } => Self::Unbounded { at_least: n },
            Self::Unknown { reasons, .. } => Self::Unknown { at_least: n, reasons: reasons.clone() },
        }
    }

    /// An amount as open as both, with the given least number; none given means that it overflowed.
    fn combine(&self, other: &Self, at_least: Option<u64>) -> Self {
        let mut reasons = BTreeSet::new();
        for amount in [self, other] {
            if let Self::Unknown { reasons: more, .. } = amount {
                reasons.extend(more.iter().cloned());
            }
        }
        let at_least = at_least.unwrap_or_else(|| {
            reasons.insert(TOO_LARGE.into());
            u64::MAX
        });
        let unbounded = |amount: &Self| matches!(amount, Self::Unbounded { .. });
        if unbounded(self) || unbounded(other) {
            Self::Unbounded { at_least }
        } else if reasons.is_empty() {
            Self::Known(at_least)
        } else {
            Self::Unknown { at_least, reasons }
        }
    }
}

/// For messages: `8`, `8 or more, without bound`, `at least 8`.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Unbounded { at_least: 0 } => f.write_str("any number, without bound"),
            Self::Unbounded { at_least } => write!(f, "{at_least} or more, without bound"),
            Self::Unknown { at_least: 0, .. } => f.write_str("an unknown number"),
            Self::Unknown { at_least, .. } => write!(f, "at least {at_least}"),
        }
    }
}

/// The three numbers of a workload; each is at least as large as the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Three {
    /// While nothing changes.
    pub steady: Amount,
    /// At the worst moment of a rollout or upgrade, at the steady number of replicas.
    pub rollout: Amount,
    /// The same when every autoscaler is at its upper bound.
    pub autoscaled: Amount,
}

impl Three {
    /// None.
    pub const ZERO: Self = Self::known(0);
    /// One.
    pub const ONE: Self = Self::known(1);

    /// The same number three times.
    pub const fn known(n: u64) -> Self {
        Self { steady: Amount::Known(n), rollout: Amount::Known(n), autoscaled: Amount::Known(n) }
    }

    /// The same amount three times.
    pub fn same(amount: &Amount) -> Self {
        Self { steady: amount.clone(), rollout: amount.clone(), autoscaled: amount.clone() }
    }

    /// An operation on each number.
    #[must_use]
    pub fn with(&self, other: &Self, operation: impl Fn(&Amount, &Amount) -> Amount) -> Self {
        Self {
            steady: operation(&self.steady, &other.steady),
            rollout: operation(&self.rollout, &other.rollout),
            autoscaled: operation(&self.autoscaled, &other.autoscaled),
        }
    }

    /// Number by number, both together.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        self.with(other, Amount::add)
    }

    /// Number by number, so many times as many.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        self.with(other, Amount::mul)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unknown(at_least: u64) -> Amount {
        Amount::Unknown { at_least, reasons: BTreeSet::from(["no fleet data".into()]) }
    }

    fn unbounded(at_least: u64) -> Amount {
        Amount::Unbounded { at_least }
    }

    #[test]
    fn what_is_open_stays_open() {
        assert_eq!(Amount::Known(2).add(&unknown(3)), unknown(5));
        assert_eq!(unknown(3).add(&unbounded(4)), unbounded(7));
        assert_eq!(Amount::Known(2).max(&unknown(0)), unknown(2));
        assert_eq!(Amount::Known(8).mul(&unknown(2)), unknown(16));
        assert_eq!(unknown(5).sub(&Amount::Known(1)), unknown(4));
        assert_eq!(Amount::Known(5).sub(&unknown(1)), unknown(0));
        assert_eq!(unknown(5).div_ceil(&Amount::Known(2)), unknown(3));
        assert_eq!(unknown(3).percent(50), unknown(2));
    }

    #[test]
    fn nothing_times_anything_is_nothing() {
        assert_eq!(Amount::ZERO.mul(&unknown(2)), Amount::ZERO);
        assert_eq!(unbounded(2).mul(&Amount::ZERO), Amount::ZERO);
    }

    #[test]
    fn a_bound_holds_what_is_unbounded() {
        assert_eq!(Amount::Known(2).min(&Amount::UNBOUNDED), Amount::Known(2));
        assert_eq!(unknown(9).min(&Amount::Known(2)), Amount::Known(2));
        // It may be less than two.
        assert_eq!(unknown(0).min(&Amount::Known(2)), unknown(0));
    }

    #[test]
    fn overflow_is_unknown_and_never_fits() {
        let huge = Amount::Known(1 << 63);
        for sum in [huge.add(&huge), huge.mul(&Amount::Known(2)), huge.percent(1000)] {
            assert_eq!(sum.known(), None);
            assert_eq!(sum.fits(i64::MAX.unsigned_abs()), Fits::No);
        }
    }

    #[test]
    fn only_what_is_known_fits() {
        assert_eq!(Amount::Known(8).fits(8), Fits::Yes);
        assert_eq!(Amount::Known(9).fits(8), Fits::No);
        assert_eq!(unknown(0).fits(8), Fits::Unknown);
        assert_eq!(unknown(9).fits(8), Fits::No);
        assert_eq!(unbounded(0).fits(u64::MAX), Fits::No);
    }

    #[test]
    fn policies_see_a_number_or_what_keeps_it_open() {
        assert_eq!(Amount::Known(8).to_value().to_string(), "8");
        assert_eq!(unbounded(1).to_value().to_string(), r#"{"atLeast":1,"unbounded":true}"#);
        assert_eq!(unknown(2).to_value().to_string(), r#"{"atLeast":2,"unknown":["no fleet data"]}"#);
    }

    fn amount() -> impl Strategy<Value = Amount> {
        prop_oneof![
            any::<u64>().prop_map(Amount::Known),
            (0..9_u64).prop_map(Amount::Known),
            any::<u64>().prop_map(unbounded),
            any::<u64>().prop_map(unknown),
        ]
    }

    proptest! {
        #[test]
        fn order_of_operands_is_irrelevant(a in amount(), b in amount()) {
            prop_assert_eq!(a.add(&b), b.add(&a));
            prop_assert_eq!(a.mul(&b), b.mul(&a));
            prop_assert_eq!(a.max(&b), b.max(&a));
            prop_assert_eq!(a.min(&b), b.min(&a));
        }

        #[test]
        fn what_policies_see_reads_back(a in amount()) {
            prop_assert_eq!(Amount::from_value(&a.to_value()), Some(a));
        }

        #[test]
        fn adding_never_makes_it_fit(a in amount(), b in amount(), limit in any::<u64>()) {
            if a.add(&b).fits(limit) == Fits::Yes {
                prop_assert_eq!(a.fits(limit), Fits::Yes);
            }
        }
    }
}
