//! The number types that formulas run over.
//!
//! ```text
//! f : ℝⁿ × ℝⁿ × ℝ → ℝ ,   (q, q̇, t) ↦ f(q, q̇, t)        evaluated over Nⁿ × Nⁿ × N → N
//! ```
//!
//! A formula is written once and evaluated over any [`Number`] type N: `f64` for its value,
//! [hyper-dual numbers](crate::formula::HyperDual) for its exact first and mixed second derivatives,
//! [intervals](crate::formula::Interval) for bounds on a box and truncated power series for its value along a
//! motion, and fractions for what is exactly true of data as they were written. Mass matrices, gradients
//! and bias terms thus carry no truncation error. Every method takes and returns `Self` only, so that a
//! further type fits the same formulas.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use delassus_solve::linalg::{Fraction, Interval};

/// What a double that a program gives, or one of a number with too many digits, may be off by, relative to
/// it.
const GIVEN_ERROR: f64 = 8.0 * f64::EPSILON;

/// A constant: a double near it, the fraction that was written, where it is one, and bounds of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// What arithmetic in doubles makes of it.
    pub value: f64,
    /// What was written; undefined where that is not known or not rational.
    pub exact: Fraction,
    /// Bounds of what was written; undefined where interval arithmetic finds none.
    pub bounds: Interval,
}

impl Constant {
    /// A number that was given, as a fraction where it is known as one.
    pub fn given(value: f64, exact: Fraction) -> Self {
        let radius = GIVEN_ERROR * value.abs();
        Self::computed(value, exact, Interval::outward(value - radius, value + radius))
    }

    /// A double and nothing else.
    pub fn double(value: f64) -> Self {
        Constant { value, exact: Fraction::UNDEFINED, bounds: Interval::point(value) }
    }

    /// The result of operations over doubles, fractions and intervals. Digits that cancel in doubles widen
    /// the interval.
    pub fn computed(value: f64, exact: Fraction, bounds: Interval) -> Self {
        Constant { value, exact, bounds: if exact.is_defined() { Interval::from(exact) } else { bounds } }
    }
}

impl From<f64> for Constant {
    fn from(value: f64) -> Self {
        Self::given(value, Fraction::of_short(value))
    }
}

/// A number that formulas can be evaluated over.
pub trait Number:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The constant c.
    fn from_f64(c: f64) -> Self;
    /// A constant that may be known as it was written.
    fn from_constant(c: Constant) -> Self {
        Self::from_f64(c.value)
    }
    /// The plain value, derivatives dropped.
    fn value(self) -> f64;
    /// sin x.
    fn sin(self) -> Self;
    /// cos x.
    fn cos(self) -> Self;
    /// tan x.
    fn tan(self) -> Self;
    /// arcsin x.
    fn asin(self) -> Self;
    /// arccos x.
    fn acos(self) -> Self;
    /// arctan x.
    fn atan(self) -> Self;
    /// The angle of the point (x, y) with y = `self`, in (−π, π].
    fn atan2(self, x: Self) -> Self;
    /// sinh x.
    fn sinh(self) -> Self;
    /// cosh x.
    fn cosh(self) -> Self;
    /// tanh x.
    fn tanh(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The smaller of two; NaN if either is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of two; NaN if either is NaN.
    fn max(self, other: Self) -> Self;
    /// xᶜ with a constant exponent: x⁰ = 1, integer exponents of negative x are allowed, and the derivatives
    /// of x² exist at 0.
    fn powf(self, exponent: f64) -> Self;
    /// xʸ. An exponent without derivatives counts as a constant; otherwise xʸ = exp(y ln x), for x > 0.
    fn pow(self, exponent: Self) -> Self;
}

impl Number for f64 {
    fn from_f64(c: f64) -> Self {
        c
    }
    fn value(self) -> f64 {
        self
    }
    fn sin(self) -> Self {
        f64::sin(self)
    }
    fn cos(self) -> Self {
        f64::cos(self)
    }
    fn tan(self) -> Self {
        f64::tan(self)
    }
    fn asin(self) -> Self {
        f64::asin(self)
    }
    fn acos(self) -> Self {
        f64::acos(self)
    }
    fn atan(self) -> Self {
        f64::atan(self)
    }
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }
    fn sinh(self) -> Self {
        f64::sinh(self)
    }
    fn cosh(self) -> Self {
        f64::cosh(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn abs(self) -> Self {
        f64::abs(self)
    }
    // f64::min and f64::max drop a NaN; here it must come through.
    fn min(self, other: Self) -> Self {
        if self.is_nan() || self < other { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self.is_nan() || self > other { self } else { other }
    }
    fn powf(self, exponent: f64) -> Self {
        f64::powf(self, exponent)
    }
    fn pow(self, exponent: Self) -> Self {
        f64::powf(self, exponent)
    }
}
