//! Kubernetes quantities: `1500m`, `1.5Gi`, `8`, `1e3`, read exactly as the API server reads them
//! (kubernetes/apimachinery pkg/api/resource/quantity.go and suffix.go), without floating point.

use std::fmt;
use std::str::FromStr;

use crate::model::Value;

/// A number with nine decimal places, exact. Equality and order are numeric: `1`, `1000m` and `1e0`
/// are equal.
///
/// As upstream, a value finer than a nano is rounded away from zero, and a value with a binary
/// suffix is capped at 2^63 − 1. Three readings differ on purpose: a text without any digit (`Ki`),
/// which upstream's scanner takes for zero against its own grammar, an exponent beyond 32 bits,
/// which upstream truncates, and a decimal of more than about 10^29, which upstream keeps, are
/// errors here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nano: i128,
}

/// Why a value is no quantity, or not one that can stand where it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is empty.
    #[error("a quantity is empty")]
    Empty,
    /// The value is `null`.
    #[error("a quantity is `null`")]
    Null,
    /// The value is neither a string nor a number.
    #[error("a quantity is {0}, not a number or a string")]
    Type(&'static str),
    /// The text is a variable that nothing replaced.
    #[error("`{0}` is an unreplaced placeholder, not a quantity")]
    Placeholder(String),
    /// The number has a suffix that does not exist.
    #[error("`{text}` has no valid suffix: `{suffix}` is none")]
    Suffix {
        /// The whole text.
        text: String,
        /// The part after the number.
        suffix: String,
        /// Quantities that may have been meant.
        meant: Vec<String>,
    },
    /// The text does not begin with a number, or goes on after its suffix.
    #[error("`{text}` is not a quantity")]
    Malformed {
        /// The whole text.
        text: String,
        /// A quantity that may have been meant.
        meant: Option<String>,
    },
    /// The number cannot be represented.
    #[error("`{0}` is too large for a quantity")]
    TooLarge(String),
    /// The number has more decimal places than can be counted exactly.
    #[error("`{0}` has too many decimal places for a quantity")]
    TooPrecise(String),
    /// A negative number where there can be none.
    #[error("`{0}` is negative")]
    Negative(Quantity),
    /// A fraction where only whole numbers are allowed, such as a count of devices.
    #[error("`{0}` is not a whole number")]
    Fraction(Quantity),
}

impl QuantityError {
    /// What to write instead.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Empty => Some("write a number, such as `1`".into()),
            Self::Null => Some("write a number, or remove the key: the API server takes `null` for 0".into()),
            Self::Placeholder(_) => Some("render the manifest before it is checked".into()),
            Self::Suffix { meant, .. } if !meant.is_empty() => {
                Some(format!("did you mean {}?", alternatives(meant)))
            }
            Self::Suffix { .. } => Some(
                "suffixes are `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei` and exponents such as `e3`".into(),
            ),
            Self::Malformed { meant: Some(meant), .. } => Some(format!("did you mean `{meant}`?")),
            Self::Malformed { meant: None, .. } | Self::Type(_) => {
                Some("write a number with an optional suffix, such as `8`, `500m` or `1.5Gi`".into())
            }
            Self::TooLarge(_) => Some("no resource is larger than 2^63 - 1".into()),
            Self::TooPrecise(_) => Some("nine decimal places are kept".into()),
            Self::Negative(_) => Some("write 0 or more".into()),
            Self::Fraction(quantity) => Some(format!(
                "devices are whole: write `{}` or `{}`",
                quantity.nano.div_euclid(NANO),
                quantity.nano.div_euclid(NANO) + 1
            )),
        }
    }
}

fn alternatives(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}

const NANO: i128 = 1_000_000_000;
/// Upstream's cap for values with a binary suffix.
const BINARY_MAX: u128 = i64::MAX as u128;

impl Quantity {
    /// Zero.
    pub const ZERO: Self = Self { nano: 0 };

    /// A whole number.
    pub const fn from_integer(n: u64) -> Self {
        // 2^64 × 10^9 is below 2^94.
        Self { nano: n as i128 * NANO }
    }

    /// Reads a manifest's value: a string or a number. White space around a string is ignored, as
    /// in upstream's JSON reader; `null` is an error although the API server takes it for zero,
    /// because it is never what was meant.
    pub fn from_value(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::String(text) => text.trim().parse(),
            Value::Number(number) => number.format_decimal().parse(),
            Value::Null | Value::Undefined => Err(QuantityError::Null),
            Value::Bool(_) => Err(QuantityError::Type("a boolean")),
            Value::Array(_) | Value::Set(_) => Err(QuantityError::Type("a list")),
            Value::Object(_) => Err(QuantityError::Type("a mapping")),
        }
    }

    /// Whether the value has no fraction.
    pub const fn is_integer(self) -> bool {
        self.nano % NANO == 0
    }

    /// Whether the value is below zero.
    pub const fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// Whether the value is zero.
    pub const fn is_zero(self) -> bool {
        self.nano == 0
    }

    /// The value if it is whole.
    pub const fn to_integer(self) -> Option<i128> {
        if self.is_integer() { Some(self.nano / NANO) } else { None }
    }

    /// The value as a count of devices: whole, not negative, at most 2^63 − 1.
    pub fn to_count(self) -> Result<u64, QuantityError> {
        if self.is_negative() {
            return Err(QuantityError::Negative(self));
        }
        let whole = self.to_integer().ok_or(QuantityError::Fraction(self))?;
        i64::try_from(whole)
            .ok()
            .and_then(|n| u64::try_from(n).ok())
            .ok_or_else(|| QuantityError::TooLarge(self.to_string()))
    }

    /// Thousandths, rounded up.
    pub fn milli(self) -> i128 {
        let unit = NANO / 1000;
        let (quotient, rest) = (self.nano.div_euclid(unit), self.nano.rem_euclid(unit));
        quotient + i128::from(rest != 0)
    }

    /// Billionths.
    pub const fn nano(self) -> i128 {
        self.nano
    }

    /// The sum, unless it cannot be represented.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.nano.checked_add(other.nano) {
            Some(nano) => Some(Self { nano }),
            None => None,
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Empty);
        }
        if is_placeholder(text) {
            return Err(QuantityError::Placeholder(text.to_owned()));
        }
        let parts = Parts::of(text);
        if parts.whole.is_empty() && parts.fraction.is_empty() {
            return Err(malformed(text));
        }
        let magnitude = match Scale::of(parts.suffix) {
            Some(Scale::Decimal(exponent)) => {
                decimal_nano(&parts, exponent).ok_or_else(|| QuantityError::TooLarge(text.to_owned()))?
            }
            Some(Scale::Binary(bits)) => {
                binary_nano(&parts, bits).ok_or_else(|| QuantityError::TooPrecise(text.to_owned()))?
            }
            None if parts.suffix.chars().all(|c| c.is_ascii_alphabetic()) => {
                return Err(QuantityError::Suffix {
                    text: text.to_owned(),
                    suffix: parts.suffix.to_owned(),
                    meant: suffixes_meant(text, parts.suffix),
                });
            }
            None => return Err(malformed(text)),
        };
        let nano = i128::try_from(magnitude).map_err(|_| QuantityError::TooLarge(text.to_owned()))?;
        Ok(Self { nano: if parts.negative { -nano } else { nano } })
    }
}

/// A quantity cut at its borders; zeros that say nothing are gone.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, rest) = split_digits(rest);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        Self { negative, whole, fraction, suffix }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

enum Scale {
    /// Times ten to this power.
    Decimal(i32),
    /// Times two to this power.
    Binary(u32),
}

impl Scale {
    fn of(suffix: &str) -> Option<Self> {
        let scale = match suffix {
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            exponent => {
                let digits = exponent.strip_prefix(['e', 'E'])?;
                Self::Decimal(digits.parse().ok()?)
            }
        };
        Some(scale)
    }
}

/// The value in billionths, rounded up; `None` if it is too large. Works on the digits, so that no
/// number of decimal places can overflow.
fn decimal_nano(parts: &Parts<'_>, exponent: i32) -> Option<u128> {
    let digits = || parts.whole.bytes().chain(parts.fraction.bytes()).map(|byte| u128::from(byte - b'0'));
    // So many of the digits stand before the point of the value in billionths.
    let before = i64::try_from(parts.whole.len()).ok()?.checked_add(i64::from(exponent) + 9)?;
    let mut nano: u128 = 0;
    let mut rounds_up = false;
    let mut position: i64 = 0;
    for digit in digits() {
        if position < before {
            nano = nano.checked_mul(10)?.checked_add(digit)?;
        } else {
            rounds_up |= digit != 0;
        }
        position += 1;
    }
    while position < before && nano != 0 {
        nano = nano.checked_mul(10)?;
        position += 1;
    }
    nano.checked_add(u128::from(rounds_up))
}

/// The value in billionths, rounded up and capped as upstream caps it; `None` if it has more decimal
/// places than can be counted exactly.
fn binary_nano(parts: &Parts<'_>, bits: u32) -> Option<u128> {
    let cap = Some(BINARY_MAX * NANO.unsigned_abs());
    let fraction = parts.fraction.trim_end_matches('0');
    let places = u32::try_from(fraction.len()).ok().filter(|places| *places <= 18)?;
    let Some(whole) = number(parts.whole).and_then(|whole| whole.checked_mul(1 << bits)) else {
        return cap;
    };
    // At most 10^18 × 2^60, below 2^120.
    let scaled = number(fraction)? << bits;
    let denominator = 10_u128.pow(places);
    let (more, rest) = (scaled / denominator, scaled % denominator);
    let Some(whole) = whole.checked_add(more).filter(|whole| *whole < BINARY_MAX) else {
        return cap;
    };
    let nano = NANO.unsigned_abs();
    Some(whole * nano + (rest * nano).div_ceil(denominator))
}

fn number(digits: &str) -> Option<u128> {
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}

/// Whether a text is a template variable, as the common template languages write them.
fn is_placeholder(text: &str) -> bool {
    let framed = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    text.starts_with('$')
        || text.contains("${")
        || text.contains("{{")
        || framed("<", ">")
        || framed("__", "__")
        || framed("@", "@")
        || text.to_ascii_lowercase().contains("placeholder")
}

fn malformed(text: &str) -> QuantityError {
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | ',' | ' ')).collect();
    let meant = (plain != text && plain.parse::<Quantity>().is_ok()).then_some(plain);
    QuantityError::Malformed { text: text.to_owned(), meant }
}

/// `1GB` → `1G`, `1Gi`; `1K` → `1k`, `1Ki`; `1mib` → `1Mi`.
fn suffixes_meant(text: &str, suffix: &str) -> Vec<String> {
    let lower = suffix.to_ascii_lowercase();
    let word = lower.strip_suffix("bytes").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let (prefix, binary) = match word.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (word, false),
    };
    let (decimal, binary_suffix) = match prefix {
        "k" => ("k", "Ki"),
        "m" => ("M", "Mi"),
        "g" => ("G", "Gi"),
        "t" => ("T", "Ti"),
        "p" => ("P", "Pi"),
        "e" => ("E", "Ei"),
        "" if !binary && !suffix.is_empty() && word.is_empty() => ("", ""),
        _ => return Vec::new(),
    };
    let number = text.strip_suffix(suffix).unwrap_or(text);
    let mut meant = Vec::new();
    if !binary {
        meant.push(format!("{number}{decimal}"));
    }
    if !binary_suffix.is_empty() {
        meant.push(format!("{number}{binary_suffix}"));
    }
    meant
}

/// Canonical decimal form: the largest suffix that leaves a whole number, such as `1500m` for 1.5.
/// The binary suffix of the source is not kept; show the source's own text where it is at hand.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        let mut mantissa = self.nano;
        let mut suffix = "n";
        for larger in ["u", "m", "", "k", "M", "G", "T", "P", "E"] {
            if mantissa % 1000 != 0 {
                break;
            }
            mantissa /= 1000;
            suffix = larger;
        }
        write!(f, "{mantissa}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quantity(text: &str) -> Quantity {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str) -> (String, Option<String>) {
        let error = text.parse::<Quantity>().expect_err(text);
        (error.to_string(), error.help())
    }

    #[test]
    fn every_form_of_the_grammar_has_its_value() {
        // Text, value in billionths; worked out from the grammar.
        let one = NANO;
        for (text, nano) in [
            ("0", 0),
            ("1", one),
            ("+1", one),
            ("-1", -one),
            ("007", 7 * one),
            ("2.", 2 * one),
            (".5", one / 2),
            ("0.5", one / 2),
            ("500m", one / 2),
            ("1000m", one),
            ("1n", 1),
            ("1u", 1_000),
            ("1k", 1_000 * one),
            ("1M", 1_000_000 * one),
            ("1G", 1_000_000_000 * one),
            ("1T", 1_000_000_000_000 * one),
            ("1P", 1_000_000_000_000_000 * one),
            // `E` alone is exa, followed by digits it is an exponent.
            ("1E", 1_000_000_000_000_000_000 * one),
            ("1E0", one),
            ("1e0", one),
            ("1e3", 1_000 * one),
            ("1E+2", 100 * one),
            ("15e-1", 3 * one / 2),
            ("1Ki", 1_024 * one),
            ("1.5Gi", 1_610_612_736 * one),
            ("0.5Ki", 512 * one),
            ("-1Mi", -1_048_576 * one),
            ("1Ei", 1_152_921_504_606_846_976 * one),
            ("0e999999999", 0),
        ] {
            assert_eq!(quantity(text).nano(), nano, "{text}");
        }
    }

    #[test]
    fn what_is_finer_than_a_nano_is_rounded_away_from_zero() {
        assert_eq!(quantity("0.1n").nano(), 1);
        assert_eq!(quantity("-0.1n").nano(), -1);
        assert_eq!(quantity("1e-30").nano(), 1);
        assert_eq!(quantity("1.0000000000000000000000000000000000000000000000001").nano(), NANO + 1);
        // 10^-12 Ki = 1024 × 10^-12 = 1.024 nano, rounded up.
        assert_eq!(quantity("0.000000000001Ki").nano(), 2);
    }

    #[test]
    fn a_binary_suffix_is_capped_and_an_absurd_decimal_is_refused() {
        let max = i128::from(i64::MAX);
        assert_eq!(quantity("8Ei").to_integer(), Some(max));
        assert_eq!(quantity("99999999999999999999999999999999999999999999Ki").to_integer(), Some(max));
        assert_eq!(quantity("-16Ei").to_integer(), Some(-max));
        // A decimal is not capped.
        assert_eq!(quantity("10E").to_integer(), Some(10_000_000_000_000_000_000));
        assert_eq!(refused("1e30").0, "`1e30` is too large for a quantity");
        assert_eq!(refused("1e2147483647").0, "`1e2147483647` is too large for a quantity");
        assert_eq!(
            refused("1.0000000000000000001Gi").0,
            "`1.0000000000000000001Gi` has too many decimal places for a quantity"
        );
    }

    #[test]
    fn wrong_suffixes_name_the_right_ones() {
        for (text, help) in [
            ("1GB", "did you mean `1G` or `1Gi`?"),
            ("1K", "did you mean `1k` or `1Ki`?"),
            ("1kb", "did you mean `1k` or `1Ki`?"),
            ("1.5gi", "did you mean `1.5Gi`?"),
            ("2GiB", "did you mean `2Gi`?"),
            ("64mb", "did you mean `64M` or `64Mi`?"),
            ("100B", "did you mean `100`?"),
            ("5x", "suffixes are `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei` and exponents such as `e3`"),
            ("1e", "did you mean `1E` or `1Ei`?"),
        ] {
            let (message, found) = refused(text);
            assert!(message.contains("has no valid suffix"), "{message}");
            assert_eq!(found.as_deref(), Some(help), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for (text, message, help) in [
            ("", "a quantity is empty", "write a number, such as `1`"),
            (
                "one",
                "`one` is not a quantity",
                "write a number with an optional suffix, such as `8`, `500m` or `1.5Gi`",
            ),
            ("1_000", "`1_000` is not a quantity", "did you mean `1000`?"),
            ("1,000", "`1,000` is not a quantity", "did you mean `1000`?"),
            ("1 ", "`1 ` is not a quantity", "did you mean `1`?"),
            (
                "0x1",
                "`0x1` is not a quantity",
                "write a number with an optional suffix, such as `8`, `500m` or `1.5Gi`",
            ),
            (
                "1.1.1",
                "`1.1.1` is not a quantity",
                "write a number with an optional suffix, such as `8`, `500m` or `1.5Gi`",
            ),
            (
                "Ki",
                "`Ki` is not a quantity",
                "write a number with an optional suffix, such as `8`, `500m` or `1.5Gi`",
            ),
            (
                "$GPU",
                "`$GPU` is an unreplaced placeholder, not a quantity",
                "render the manifest before it is checked",
            ),
            (
                "${GPUS}",
                "`${GPUS}` is an unreplaced placeholder, not a quantity",
                "render the manifest before it is checked",
            ),
            (
                "{{ .Values.gpus }}",
                "`{{ .Values.gpus }}` is an unreplaced placeholder, not a quantity",
                "render the manifest before it is checked",
            ),
            (
                "PLACEHOLDER_GPUS",
                "`PLACEHOLDER_GPUS` is an unreplaced placeholder, not a quantity",
                "render the manifest before it is checked",
            ),
        ] {
            assert_eq!(refused(text), (message.to_owned(), Some(help.to_owned())), "{text}");
        }
        for text in ["+", "-", ".", "--1", "1e+", "1e1.5", "1e99999999999", "1Ee2", "é", "1é", "١"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_a_manifest_are_read_by_their_kind() {
        let one = Quantity::from_integer(1);
        for value in [Value::from("1"), Value::from(" 1 "), Value::from(1_u64), Value::from(1.0)] {
            assert_eq!(Quantity::from_value(&value), Ok(one), "{value}");
        }
        assert_eq!(Quantity::from_value(&Value::from(0.1)), Ok(quantity("100m")));
        assert_eq!(Quantity::from_value(&Value::Null), Err(QuantityError::Null));
        assert_eq!(Quantity::from_value(&Value::from(true)), Err(QuantityError::Type("a boolean")));
    }

    #[test]
    fn memory_limits_compare_by_their_value() {
        // A limit of 2Gi = 2 147 483 648.
        let limit = quantity("2Gi");
        assert!(quantity("1.5Gi") < limit);
        assert!(quantity("3e9") > limit);
        assert_eq!(quantity("2048Mi"), limit);
        // 128 974 848 thousandths of thousands = 123 × 2^20.
        assert_eq!(quantity("128974848000m"), quantity("123Mi"));
        assert!("1K".parse::<Quantity>().is_err());
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        assert_eq!(quantity("1e0").to_count(), Ok(1));
        assert_eq!(quantity("1000m").to_count(), Ok(1));
        assert_eq!(quantity("9223372036854775807").to_count(), Ok(9_223_372_036_854_775_807));
        assert_eq!(
            quantity("9223372036854775808").to_count(),
            Err(QuantityError::TooLarge("9223372036854775808".into()))
        );
        let half = quantity("0.5").to_count().expect_err("half a device");
        assert_eq!(half.to_string(), "`500m` is not a whole number");
        assert_eq!(half.help().as_deref(), Some("devices are whole: write `0` or `1`"));
        assert_eq!(quantity("-1").to_count().expect_err("negative").to_string(), "`-1` is negative");
    }

    #[test]
    fn thousandths_are_rounded_up() {
        assert_eq!(quantity("1.5").milli(), 1500);
        assert_eq!(quantity("1u").milli(), 1);
        assert_eq!(quantity("-1u").milli(), 0);
    }

    #[test]
    fn the_canonical_form_has_the_largest_suffix() {
        for (text, shown) in
            [("1.5", "1500m"), ("1000", "1k"), ("1e0", "1"), ("1E", "1E"), ("-2000m", "-2"), ("1Ki", "1024")]
        {
            assert_eq!(quantity(text).to_string(), shown);
        }
    }

    /// Digits before and after the point, and a power of ten, as a fraction of two whole numbers:
    /// the textbook way, independent of the reader's.
    fn textbook(whole: u64, fraction: u32, places: u32, suffix: &str) -> (u128, u128) {
        let numerator = u128::from(whole) * 10_u128.pow(places) + u128::from(fraction);
        let denominator = 10_u128.pow(places);
        match suffix {
            "n" => (numerator, denominator * 1_000_000_000),
            "u" => (numerator, denominator * 1_000_000),
            "m" => (numerator, denominator * 1_000),
            "k" | "e3" => (numerator * 1_000, denominator),
            "M" | "E6" => (numerator * 1_000_000, denominator),
            "Ki" => (numerator * 1024, denominator),
            "Mi" => (numerator * 1024 * 1024, denominator),
            _ => (numerator, denominator),
        }
    }

    fn written() -> impl Strategy<Value = (u64, u32, u32, &'static str)> {
        let suffix = prop::sample::select(vec!["u", "m", "", "k", "M", "e3", "E6", "Ki", "Mi"]);
        // At most three decimal places: nothing is rounded even at the smallest suffix.
        (0..1_000_000_u64, 0..3_u32, suffix).prop_flat_map(|(whole, places, suffix)| {
            (Just(whole), 0..10_u32.pow(places), Just(places), Just(suffix))
        })
    }

    fn text((whole, fraction, places, suffix): (u64, u32, u32, &str)) -> String {
        match places {
            0 => format!("{whole}{suffix}"),
            _ => format!("{whole}.{fraction:0width$}{suffix}", width = places as usize),
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(nano in any::<i128>()) {
            let quantity = Quantity { nano: nano / 2 };
            prop_assert_eq!(quantity.to_string().parse(), Ok(quantity));
        }

        #[test]
        fn order_is_that_of_rational_numbers(a in written(), b in written()) {
            let (p, q) = textbook(a.0, a.1, a.2, a.3);
            let (r, s) = textbook(b.0, b.1, b.2, b.3);
            prop_assert_eq!(quantity(&text(a)).cmp(&quantity(&text(b))), (p * s).cmp(&(r * q)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = text.parse::<Quantity>();
        }

        #[test]
        fn no_near_quantity_panics(text in "[+-]?[0-9]{0,45}\\.?[0-9]{0,45}([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{0,12})?") {
            let _ = text.parse::<Quantity>();
        }
    }
}
