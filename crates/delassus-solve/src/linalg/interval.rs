//! Intervals with outward rounding.
//!
//! ```text
//! X ∘ Y ⊇ { x ∘ y : x ∈ X, y ∈ Y }        f(X) ⊇ { f(x) : x ∈ X }
//! ```
//!
//! Each bound is moved outward by one floating-point number after an operation of arithmetic, and by
//! [`LIBRARY_ERROR`] relative after a function of the mathematical library, so that the inclusions above hold
//! for real numbers and not for rounded ones only.
//!
//! An interval is either bounded or undefined. It is undefined where the operation has no value at some point
//! of its operands (a division by an interval with zero, √ of negative numbers) or overflows, and whatever is
//! computed from an undefined interval is undefined.

use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

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

    /// Whether every symmetric matrix with entries in these is positive definite: elimination without
    /// exchanges has positive pivots alone. `false` where that is not seen.
    pub fn is_positive_definite(rows: &[Vec<Interval>]) -> bool {
        let mut left = rows.to_vec();
        for k in 0..left.len() {
            let (done, below) = left.split_at_mut(k + 1);
            let pivot = &done[k];
            if pivot[k].is_undefined() || pivot[k].lo <= 0.0 {
                return false;
            }
            for row in below.iter_mut().filter(|row| row[k] != Interval::ZERO) {
                let factor = row[k] / pivot[k];
                row.iter_mut().zip(pivot).skip(k + 1).for_each(|(x, p)| *x = *x - factor * *p);
            }
        }
        true
    }

    /// Bounds that were rounded to the nearest number once.
    pub fn outward(lo: f64, hi: f64) -> Self {
        Interval::new(lo.next_down(), hi.next_up())
    }

    /// Bounds that came from the mathematical library.
    pub fn library(lo: f64, hi: f64) -> Self {
        Interval::outward(lo - LIBRARY_ERROR * lo.abs(), hi + LIBRARY_ERROR * hi.abs())
    }

    /// An increasing function of the mathematical library.
    pub fn increasing(self, f: impl Fn(f64) -> f64) -> Self {
        if self.is_undefined() { self } else { Interval::library(f(self.lo), f(self.hi)) }
    }

    /// Sine or cosine, with its maximum 1 at `top` + 2kπ and its minimum −1 half a period later.
    pub fn wave(self, f: impl Fn(f64) -> f64, top: f64) -> Self {
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
    pub fn within(self, lo: f64, hi: f64) -> Self {
        if self.is_undefined() { self } else { Interval { lo: self.lo.max(lo), hi: self.hi.min(hi) } }
    }

    /// |x| over the interval.
    pub fn absolute(self) -> Self {
        if self.is_undefined() || self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// xⁿ for n ≥ 0.
    pub fn power(self, n: u32) -> Self {
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

impl Add<f64> for Interval {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        self + Interval::point(c)
    }
}

impl Sub<f64> for Interval {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        self - Interval::point(c)
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        self * Interval::point(c)
    }
}

impl Div<f64> for Interval {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        self / Interval::point(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_intervals_is_definite_where_all_matrices_in_it_are() {
        let around = |x: f64, by: f64| Interval::new(x - by, x + by);
        let matrix =
            |by: f64| vec![vec![around(2.0, by), around(1.0, by)], vec![around(1.0, by), around(2.0, by)]];
        assert!(Interval::is_positive_definite(&matrix(0.1)));
        // [[1.5, 1.5], [1.5, 1.5]] is within the bounds.
        assert!(!Interval::is_positive_definite(&matrix(0.5)));
        let mut unknown = matrix(0.1);
        unknown[1][1] = Interval::UNDEFINED;
        assert!(!Interval::is_positive_definite(&unknown));
        let apart = vec![vec![Interval::ONE, Interval::ZERO], vec![Interval::ZERO, Interval::point(1e-300)]];
        assert!(Interval::is_positive_definite(&apart));
        assert!(Interval::is_positive_definite(&[]));
    }
}
