//! Formulas over intervals with outward rounding.
//!
//! ```text
//! f(X) ⊇ { f(x) : x ∈ X }
//! ```
//!
//! A formula that is evaluated over [`Interval`] bounds its values on a whole box; over
//! [`IntervalDual`](crate::formula::IntervalDual) its derivatives as well.

use std::f64::consts::PI;

pub use delassus_solve::linalg::Interval;

use super::number::{Constant, Number};

impl Number for Interval {
    fn from_f64(c: f64) -> Self {
        Interval::point(c)
    }
    fn from_constant(c: Constant) -> Self {
        c.bounds
    }
    fn value(self) -> f64 {
        self.middle()
    }
    fn sin(self) -> Self {
        self.wave(f64::sin, 0.5 * PI)
    }
    fn cos(self) -> Self {
        self.wave(f64::cos, 0.0)
    }
    fn tan(self) -> Self {
        let cosine = self.cos();
        // Between two poles the tangent increases; the cosine has no zero inside.
        if cosine.is_undefined() || cosine.contains(0.0) {
            return Interval::UNDEFINED;
        }
        self.increasing(f64::tan)
    }
    fn asin(self) -> Self {
        // Outside of [−1, 1] the library answers NaN.
        self.increasing(f64::asin)
    }
    fn acos(self) -> Self {
        if self.is_undefined() { self } else { Interval::library(self.hi.acos(), self.lo.acos()) }
    }
    fn atan(self) -> Self {
        self.increasing(f64::atan)
    }
    fn atan2(self, x: Self) -> Self {
        let y = self;
        if x.is_undefined() || y.is_undefined() {
            return Interval::UNDEFINED;
        }
        // The angle jumps across the negative x axis, and has no value at the origin.
        if x.lo <= 0.0 && y.contains(0.0) {
            return Interval::UNDEFINED;
        }
        // Seen from the origin a box spans its corners.
        let angles = [y.lo.atan2(x.lo), y.lo.atan2(x.hi), y.hi.atan2(x.lo), y.hi.atan2(x.hi)];
        let lo = angles.iter().fold(f64::INFINITY, |m, a| m.min(*a));
        let hi = angles.iter().fold(f64::NEG_INFINITY, |m, a| m.max(*a));
        Interval::library(lo, hi)
    }
    fn sinh(self) -> Self {
        self.increasing(f64::sinh)
    }
    fn cosh(self) -> Self {
        self.absolute().increasing(f64::cosh).within(1.0, f64::INFINITY)
    }
    fn tanh(self) -> Self {
        self.increasing(f64::tanh).within(-1.0, 1.0)
    }
    fn exp(self) -> Self {
        self.increasing(f64::exp).within(0.0, f64::INFINITY)
    }
    fn ln(self) -> Self {
        // ln 0 = −∞ and ln of negative numbers, NaN, are undefined.
        self.increasing(f64::ln)
    }
    fn sqrt(self) -> Self {
        if self.is_undefined() || self.lo < 0.0 {
            return Interval::UNDEFINED;
        }
        Interval::outward(self.lo.sqrt(), self.hi.sqrt()).within(0.0, f64::INFINITY)
    }
    fn abs(self) -> Self {
        self.absolute()
    }
    fn min(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Interval::UNDEFINED;
        }
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }
    fn max(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Interval::UNDEFINED;
        }
        Interval { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }
    fn powf(self, exponent: f64) -> Self {
        if exponent == exponent.trunc() && exponent.abs() <= 64.0 {
            let power = self.power(exponent.abs() as u32);
            return if exponent < 0.0 { Interval::ONE / power } else { power };
        }
        // x^c for x > 0, and at x = 0 for c > 0.
        if self.is_undefined() || self.lo < 0.0 || (self.lo == 0.0 && exponent <= 0.0) {
            return Interval::UNDEFINED;
        }
        let (a, b) = (self.lo.powf(exponent), self.hi.powf(exponent));
        Interval::library(a.min(b), a.max(b)).within(0.0, f64::INFINITY)
    }
    fn pow(self, exponent: Self) -> Self {
        if exponent.lo == exponent.hi {
            return self.powf(exponent.lo);
        }
        (exponent * self.ln()).exp()
    }
}
