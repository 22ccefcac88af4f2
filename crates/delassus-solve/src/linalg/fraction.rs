//! Fractions of 128 bits: numbers as a person writes them, 0.1 or 1/3, without rounding.
//!
//! ```text
//! x = n/d ,   gcd(n, d) = 1 ,   d > 0
//! ```
//!
//! They are copied like a double, so that formulas run over them. What does not fit, and what is not
//! rational, is undefined, and so is all that is computed from it: a fraction is exact or it is nothing.

use super::Interval;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The greatest common divisor, in 64 bits where that suffices, which is many times as fast.
fn gcd(a: i128, b: i128) -> i128 {
    match (u64::try_from(a.unsigned_abs()), u64::try_from(b.unsigned_abs())) {
        (Ok(a), Ok(b)) => i128::from(a.gcd(&b)),
        _ => a.gcd(&b),
    }
}

/// A rational number, or undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: i128,
    /// Zero where the number is undefined.
    denominator: i128,
}

impl Fraction {
    /// Not a rational number, or not one that fits.
    pub const UNDEFINED: Fraction = Fraction { numerator: 0, denominator: 0 };
    /// 0.
    pub const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };
    /// 1.
    pub const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    /// n/d; undefined where d = 0.
    pub fn new(numerator: i128, denominator: i128) -> Self {
        // −2¹²⁷ has no positive counterpart.
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return Fraction::UNDEFINED;
        }
        if denominator == 1 {
            return Fraction { numerator, denominator };
        }
        match gcd(numerator, denominator) * denominator.signum() {
            // Divisions of 128 bits are slow.
            1 => Fraction { numerator, denominator },
            common => Fraction { numerator: numerator / common, denominator: denominator / common },
        }
    }

    /// A double that was hardly rounded: below 2²⁰ in size and a multiple of 2⁻²⁰. Others may stand for a
    /// number that a person wrote differently, as 0.1 does, and are undefined.
    pub fn of_short(x: f64) -> Self {
        const STEPS: f64 = (1 << 20) as f64;
        let scaled = x * STEPS;
        if x.abs() <= STEPS && x.fract() == 0.0 {
            Fraction { numerator: x as i128, denominator: 1 }
        } else if x.abs() <= STEPS && scaled.fract() == 0.0 {
            Fraction::new(scaled as i128, 1 << 20)
        } else {
            Fraction::UNDEFINED
        }
    }

    /// A decimal number as it is written: `-12.5e-3`; undefined where it is none or has too many digits.
    pub fn decimal(text: &str) -> Self {
        Self::read_decimal(text).unwrap_or(Fraction::UNDEFINED)
    }

    fn read_decimal(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if !decimals.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = format!("{whole}{}", decimals.trim_end_matches('0')).parse::<i128>().ok()?;
        let shift = exponent - i32::try_from(decimals.trim_end_matches('0').len()).ok()?;
        let power = 10_i128.checked_pow(shift.unsigned_abs())?;
        Some(if shift < 0 {
            Fraction::new(digits, power)
        } else {
            Fraction::new(digits.checked_mul(power)?, 1)
        })
    }

    /// Whether it is a number.
    pub fn is_defined(self) -> bool {
        self.denominator != 0
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.is_defined() && self.numerator == 0
    }

    /// −1, 0 or 1; `None` where it is undefined.
    pub fn sign(self) -> Option<i32> {
        self.is_defined().then(|| self.numerator.signum() as i32)
    }

    /// The whole number that it is; `None` where it is none of 32 bits.
    pub fn whole(self) -> Option<i32> {
        (self.denominator == 1).then(|| i32::try_from(self.numerator).ok()).flatten()
    }

    /// The root, where it is rational.
    pub fn root(self) -> Self {
        let root = |x: i128| -> Option<i128> {
            let root = num_integer::Roots::sqrt(&u128::try_from(x).ok()?) as i128;
            (root.checked_mul(root) == Some(x)).then_some(root)
        };
        match (root(self.numerator), root(self.denominator)) {
            (Some(n), Some(d)) => Fraction::new(n, d),
            _ => Fraction::UNDEFINED,
        }
    }

    /// xⁿ.
    pub fn power(self, exponent: i32) -> Self {
        let size = exponent.unsigned_abs();
        let base = if exponent < 0 { Fraction::ONE / self } else { self };
        match (base.numerator.checked_pow(size), base.denominator.checked_pow(size)) {
            (Some(n), Some(d)) if base.is_defined() => Fraction::new(n, d),
            _ => Fraction::UNDEFINED,
        }
    }

    /// The nearest double, up to a rounding; NaN where it is undefined.
    pub fn to_f64(self) -> f64 {
        if self.is_defined() { self.numerator as f64 / self.denominator as f64 } else { f64::NAN }
    }

    /// The same number with any number of digits; `None` where it is undefined.
    pub fn to_big(self) -> Option<BigRational> {
        let big = || BigRational::new_raw(BigInt::from(self.numerator), BigInt::from(self.denominator));
        self.is_defined().then(big)
    }
}

/// The bounds of a fraction: a short one is a double, others lie near one.
impl From<Fraction> for Interval {
    fn from(exact: Fraction) -> Self {
        let value = exact.to_f64();
        if exact == Fraction::of_short(value) {
            return Interval::point(value);
        }
        // Numerator and denominator were rounded, and their quotient.
        let radius = 2.0 * f64::EPSILON * value.abs();
        Interval::outward(value - radius, value + radius)
    }
}

// Over the least common denominator.
#[allow(clippy::suspicious_arithmetic_impl)]
impl Add for Fraction {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        // Most numbers of formulas are whole.
        if self.denominator == 1 && b.denominator == 1 {
            return match self.numerator.checked_add(b.numerator) {
                Some(sum) => Fraction::new(sum, 1),
                None => Fraction::UNDEFINED,
            };
        }
        let sum = || {
            // Over the least common denominator, so that intermediate numbers stay small.
            let common = gcd(self.denominator, b.denominator);
            let (left, right) = (b.denominator / common, self.denominator / common);
            let numerator = self.numerator.checked_mul(left)?.checked_add(b.numerator.checked_mul(right)?)?;
            Some(Fraction::new(numerator, self.denominator.checked_mul(left)?))
        };
        if self.is_defined() && b.is_defined() {
            sum().unwrap_or(Fraction::UNDEFINED)
        } else {
            Fraction::UNDEFINED
        }
    }
}

impl Neg for Fraction {
    type Output = Self;
    fn neg(self) -> Self {
        Fraction { numerator: -self.numerator, ..self }
    }
}

impl Sub for Fraction {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Fraction {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        if !self.is_defined() || !b.is_defined() {
            return Fraction::UNDEFINED;
        }
        if self.numerator == 0 || b.numerator == 0 {
            return Fraction::ZERO;
        }
        if self.denominator == 1 && b.denominator == 1 {
            return match self.numerator.checked_mul(b.numerator) {
                Some(product) => Fraction::new(product, 1),
                None => Fraction::UNDEFINED,
            };
        }
        // Factors that cancel go first. A gcd with a denominator is not zero.
        let (one, two) = (gcd(self.numerator, b.denominator), gcd(b.numerator, self.denominator));
        let numerator = (self.numerator / one).checked_mul(b.numerator / two);
        let denominator = (self.denominator / two).checked_mul(b.denominator / one);
        match (numerator, denominator) {
            (Some(n), Some(d)) => Fraction::new(n, d),
            _ => Fraction::UNDEFINED,
        }
    }
}

impl Div for Fraction {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        if self.is_defined() && b.is_defined() {
            self * Fraction::new(b.denominator, b.numerator)
        } else {
            Fraction::UNDEFINED
        }
    }
}

/// With a double, by [`Fraction::of_short`].
impl Add<f64> for Fraction {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        self + Fraction::of_short(c)
    }
}

/// With a double, by [`Fraction::of_short`].
impl Sub<f64> for Fraction {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        self - Fraction::of_short(c)
    }
}

/// With a double, by [`Fraction::of_short`].
impl Mul<f64> for Fraction {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        self * Fraction::of_short(c)
    }
}

/// With a double, by [`Fraction::of_short`].
impl Div<f64> for Fraction {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        self / Fraction::of_short(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_what_is_written() {
        for (text, n, d) in
            [("0.1", 1, 10), ("-12.50", -25, 2), ("1e-10", 1, 10_i128.pow(10)), ("3E2", 300, 1)]
        {
            assert_eq!(Fraction::decimal(text), Fraction::new(n, d), "{text}");
        }
        assert_eq!(Fraction::decimal(".5"), Fraction::new(1, 2));
        assert_eq!(Fraction::decimal("2."), Fraction::new(2, 1));
        assert_eq!(Fraction::decimal("-0.5"), Fraction::new(-1, 2));
        for text in ["", "1e40", "1e-40", "0x10", "1.-5", "nan", "1.2.3", "--1"] {
            assert!(!Fraction::decimal(text).is_defined(), "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact_or_undefined() {
        let (third, tenth) = (Fraction::new(1, 3), Fraction::decimal("0.1"));
        assert_eq!(third + tenth, Fraction::new(13, 30));
        assert_eq!(third - third, Fraction::ZERO);
        assert_eq!(third * Fraction::new(-3, 7), Fraction::new(-1, 7));
        assert_eq!(tenth / third, Fraction::new(3, 10));
        assert_eq!((third.power(-3), third.power(0)), (Fraction::new(27, 1), Fraction::ONE));
        assert!(!(third / Fraction::ZERO).is_defined() && !Fraction::ZERO.power(-1).is_defined());
        let large = Fraction::new(i128::MAX, 1);
        assert!(!(large + Fraction::ONE).is_defined() && !(large * large).is_defined());
        assert!(!(Fraction::UNDEFINED * Fraction::ZERO).is_defined());
    }

    #[test]
    fn roots_and_doubles_are_taken_only_where_they_are_exact() {
        assert_eq!(Fraction::new(9, 25).root(), Fraction::new(3, 5));
        assert!(!Fraction::new(2, 1).root().is_defined() && !Fraction::new(-4, 1).root().is_defined());
        assert_eq!(Fraction::of_short(-0.375), Fraction::new(-3, 8));
        assert!(!Fraction::of_short(0.1).is_defined() && !Fraction::of_short(f64::NAN).is_defined());
        assert!(!Fraction::of_short(1e300).is_defined());
        assert_eq!(Fraction::new(1, 10).to_f64(), 0.1);
    }
}
