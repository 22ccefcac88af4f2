//! Intervals with outward rounding.
//!
//! ```text
//! X ∘ Y ⊇ { x ∘ y : x ∈ X, y ∈ Y }        f(X) ⊇ { f(x) : x ∈ X }
//! ```
//!
//! Each bound is moved outward by one floating-point number after an operation of arithmetic, and by
//! [`LIBRARY_ERROR`] relative after a function of the mathematical library, so that the inclusions above hold
//! for real numbers and not for rounded ones only. A formula that is evaluated over [`Interval`] bounds its
//! values on a whole box; over [`IntervalDual`](crate::formula::IntervalDual) its derivatives as well.
//!
//! An interval is either bounded or undefined. It is undefined where the operation has no value at some point
//! of its operands (a division by an interval with zero, √ of negative numbers) or overflows, and whatever is
//! computed from an undefined interval is undefined.

use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::number::Number;

/// How far the functions of the mathematical library may be off, relative to their value: 4 units in the last
/// place. The libraries in use promise 1 or 2.
const LIBRARY_ERROR: f64 = 9e-16;

/// Arguments of sine and cosine beyond this are not reduced.
const MAX_ANGLE: f64 = 1e6;

/// Multiples of π/2 closer to an interval than this count as inside of it: more than the rounding of π at
/// [`MAX_ANGLE`].
const ANGLE_SLACK: f64 = 1e-9;

/// All real numbers from `lo` to `hi`; both NaN where undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least.
    pub lo: f64,
    /// The greatest.
    pub hi: f64,
}

impl Interval {
    /// No value.
    pub const UNDEFINED: Interval = Interval { lo: f64::NAN, hi: f64::NAN };
    /// Exactly zero.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// Exactly one.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };

    /// The numbers from `lo` to `hi`; undefined where they are not finite or not in order.
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi && lo > f64::NEG_INFINITY && hi < f64::INFINITY {
            Interval { lo, hi }
        } else {
            Interval::UNDEFINED
        }
    }

    /// One number.
    pub fn point(x: f64) -> Self {
        Interval::new(x, x)
    }

    /// Whether there is no value.
    pub fn is_undefined(self) -> bool {
        self.lo.is_nan()
    }

    /// Whether x lies inside.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// hi − lo, rounded.
    pub fn width(self) -> f64 {
        self.hi - self.lo
    }

    /// A number inside, the middle but for rounding.
    pub fn middle(self) -> f64 {
        (0.5 * self.lo + 0.5 * self.hi).clamp(self.lo, self.hi)
    }

    /// The largest absolute value.
    pub fn magnitude(self) -> f64 {
        // f64::max drops a NaN, but both bounds are NaN together.
        self.lo.abs().max(self.hi.abs())
    }

    /// The numbers that lie in both; undefined where there are none.
    pub fn intersect(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Interval::UNDEFINED;
        }
        Interval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// Bounds that were rounded to the nearest number once.
    fn outward(lo: f64, hi: f64) -> Self {
        Interval::new(lo.next_down(), hi.next_up())
    }

    /// Bounds that came from the mathematical library.
    fn library(lo: f64, hi: f64) -> Self {
        Interval::outward(lo - LIBRARY_ERROR * lo.abs(), hi + LIBRARY_ERROR * hi.abs())
    }

    /// An increasing function of the mathematical library.
    fn increasing(self, f: impl Fn(f64) -> f64) -> Self {
        if self.is_undefined() { self } else { Interval::library(f(self.lo), f(self.hi)) }
    }

    /// Sine or cosine, with its maximum 1 at `top` + 2kπ and its minimum −1 half a period later.
    fn wave(self, f: impl Fn(f64) -> f64, top: f64) -> Self {
        if self.is_undefined() {
            return self;
        }
        if self.magnitude() > MAX_ANGLE {
            return Interval { lo: -1.0, hi: 1.0 };
        }
        let meets = |offset: f64| {
            let k = ((self.lo - ANGLE_SLACK - offset) / (2.0 * PI)).ceil();
            offset + 2.0 * PI * k <= self.hi + ANGLE_SLACK
        };
        // Without an extremum inside, the ends have the extreme values.
        let (a, b) = (f(self.lo), f(self.hi));
        let lo = if meets(top + PI) { -1.0 } else { a.min(b) };
        let hi = if meets(top) { 1.0 } else { a.max(b) };
        Interval::library(lo, hi).within(-1.0, 1.0)
    }

    /// Cut to where values can lie.
    fn within(self, lo: f64, hi: f64) -> Self {
        if self.is_undefined() { self } else { Interval { lo: self.lo.max(lo), hi: self.hi.min(hi) } }
    }

    /// |x| over the interval.
    fn absolute(self) -> Self {
        if self.is_undefined() || self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// xⁿ for n ≥ 0.
    fn power(self, n: u32) -> Self {
        if self.is_undefined() {
            return self;
        }
        if n == 0 {
            return Interval::ONE;
        }
        let base = if n.is_multiple_of(2) { self.absolute() } else { self };
        // Repeated products of one bound, each rounded outward, since xⁿ is increasing in the base as it is
        // now.
        let bound = |x: f64| (1..n).fold(Interval::point(x), |p, _| p * Interval::point(x));
        let (low, high) = (bound(base.lo), bound(base.hi));
        if low.is_undefined() || high.is_undefined() {
            return Interval::UNDEFINED;
        }
        let result = Interval::new(low.lo, high.hi);
        if n.is_multiple_of(2) { result.within(0.0, f64::INFINITY) } else { result }
    }
}

/// x + y and whether it is exact for sure.
fn sum(x: f64, y: f64) -> (f64, bool) {
    (x + y, x == 0.0 || y == 0.0)
}

impl Add for Interval {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let ((lo, lo_exact), (hi, hi_exact)) = (sum(self.lo, b.lo), sum(self.hi, b.hi));
        Interval::new(if lo_exact { lo } else { lo.next_down() }, if hi_exact { hi } else { hi.next_up() })
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        if self.is_undefined() || b.is_undefined() {
            return Interval::UNDEFINED;
        }
        if self == Interval::ZERO || b == Interval::ZERO {
            return Interval::ZERO;
        }
        let products = [self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi];
        let lo = products.iter().fold(f64::INFINITY, |m, p| m.min(*p));
        let hi = products.iter().fold(f64::NEG_INFINITY, |m, p| m.max(*p));
        Interval::outward(lo, hi)
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        if self.is_undefined() || b.is_undefined() || b.contains(0.0) {
            return Interval::UNDEFINED;
        }
        if self == Interval::ZERO {
            return Interval::ZERO;
        }
        let quotients = [self.lo / b.lo, self.lo / b.hi, self.hi / b.lo, self.hi / b.hi];
        let lo = quotients.iter().fold(f64::INFINITY, |m, p| m.min(*p));
        let hi = quotients.iter().fold(f64::NEG_INFINITY, |m, p| m.max(*p));
        Interval::outward(lo, hi)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Number for Interval {
    fn from_f64(c: f64) -> Self {
        Interval::point(c)
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

impl Add<f64> for Interval {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        self + Self::from_f64(c)
    }
}

impl Sub<f64> for Interval {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        self - Self::from_f64(c)
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        self * Self::from_f64(c)
    }
}

impl Div<f64> for Interval {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        self / Self::from_f64(c)
    }
}
