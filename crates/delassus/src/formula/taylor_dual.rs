//! Power series in time with their derivative in one direction.
//!
//! ```text
//! x(τ) + ε y(τ) ,   ε² = 0
//! ```
//!
//! A formula evaluated over [`DualSeries`] at a motion q(τ) gives the coefficients of its value and of one
//! partial derivative along the motion: gradients, momenta and forces as functions of time, to any order up
//! to N (002 Theorem 5.4).

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::number::Number;
use super::taylor::Series;

/// A series and its derivative in one direction: x(τ) + ε y(τ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualSeries {
    /// x.
    pub value: Series,
    /// y.
    pub slope: Series,
}

impl DualSeries {
    /// No value.
    pub const UNDEFINED: DualSeries = DualSeries { value: Series::UNDEFINED, slope: Series::UNDEFINED };

    /// A quantity that does not move in the direction.
    pub fn fixed(value: Series) -> Self {
        DualSeries { value, slope: Series::constant(0.0) }
    }

    /// A quantity that moves with unit speed in the direction.
    pub fn moving(value: Series) -> Self {
        DualSeries { value, slope: Series::constant(1.0) }
    }

    /// f(x) from f and f′ at x. A quantity that does not move has no derivative even where f′ is infinite.
    fn chain(self, value: Series, slope: impl FnOnce() -> Series) -> Self {
        if self.is_fixed() {
            return DualSeries::fixed(value);
        }
        DualSeries { value, slope: slope() * self.slope }
    }

    fn is_fixed(self) -> bool {
        self.slope.0.iter().all(|x| *x == 0.0)
    }

    fn undefined_slope(value: Series) -> Self {
        DualSeries { value, slope: Series::UNDEFINED }
    }
}

impl Add for DualSeries {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        DualSeries { value: self.value + b.value, slope: self.slope + b.slope }
    }
}

impl Sub for DualSeries {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        DualSeries { value: self.value - b.value, slope: self.slope - b.slope }
    }
}

impl Neg for DualSeries {
    type Output = Self;
    fn neg(self) -> Self {
        DualSeries { value: -self.value, slope: -self.slope }
    }
}

impl Mul for DualSeries {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        DualSeries { value: self.value * b.value, slope: self.slope * b.value + self.value * b.slope }
    }
}

impl Div for DualSeries {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value;
        DualSeries { value, slope: (self.slope - value * b.slope) / b.value }
    }
}

impl Add<f64> for DualSeries {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        DualSeries { value: self.value + c, ..self }
    }
}

impl Sub<f64> for DualSeries {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        DualSeries { value: self.value - c, ..self }
    }
}

impl Mul<f64> for DualSeries {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        DualSeries { value: self.value * c, slope: self.slope * c }
    }
}

impl Div<f64> for DualSeries {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        DualSeries { value: self.value / c, slope: self.slope / c }
    }
}

impl Number for DualSeries {
    fn from_f64(c: f64) -> Self {
        DualSeries::fixed(Series::constant(c))
    }
    fn value(self) -> f64 {
        self.value.0[0]
    }
    fn sin(self) -> Self {
        let (s, c) = self.value.sin_cos();
        self.chain(s, || c)
    }
    fn cos(self) -> Self {
        let (s, c) = self.value.sin_cos();
        self.chain(c, || -s)
    }
    fn tan(self) -> Self {
        let t = self.value.tan();
        self.chain(t, || t * t + 1.0)
    }
    fn asin(self) -> Self {
        self.chain(self.value.asin(), || self.value.arc_slope())
    }
    fn acos(self) -> Self {
        self.chain(self.value.acos(), || -self.value.arc_slope())
    }
    fn atan(self) -> Self {
        self.chain(self.value.atan(), || Series::constant(1.0) / (self.value * self.value + 1.0))
    }
    fn atan2(self, x: Self) -> Self {
        let (a, b) = (x.value, self.value);
        let slope = (a * self.slope - b * x.slope) / (a * a + b * b);
        DualSeries { value: b.atan2(a), slope }
    }
    fn sinh(self) -> Self {
        let (s, c) = self.value.sinh_cosh();
        self.chain(s, || c)
    }
    fn cosh(self) -> Self {
        let (s, c) = self.value.sinh_cosh();
        self.chain(c, || s)
    }
    fn tanh(self) -> Self {
        let c = self.value.cosh();
        self.chain(self.value.tanh(), || Series::constant(1.0) / (c * c))
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, || e)
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), || Series::constant(1.0) / self.value)
    }
    fn sqrt(self) -> Self {
        let s = self.value.sqrt();
        self.chain(s, || Series::constant(0.5) / s)
    }
    fn abs(self) -> Self {
        match self.value.0[0] {
            x if x > 0.0 => self,
            x if x < 0.0 => -self,
            _ if self.is_fixed() => DualSeries::fixed(self.value.abs()),
            _ => DualSeries::undefined_slope(self.value.abs()),
        }
    }
    fn min(self, other: Self) -> Self {
        let (a, b) = (self.value.0[0], other.value.0[0]);
        if a.is_nan() || a < b || self == other {
            self
        } else if a == b {
            DualSeries::undefined_slope(self.value.min(other.value))
        } else {
            other
        }
    }
    fn max(self, other: Self) -> Self {
        -((-self).min(-other))
    }
    fn powf(self, exponent: f64) -> Self {
        self.chain(self.value.powf(exponent), || {
            if exponent == 0.0 { Series::constant(0.0) } else { self.value.powf(exponent - 1.0) * exponent }
        })
    }
    fn pow(self, exponent: Self) -> Self {
        if exponent.is_fixed() && exponent.value.is_constant() {
            return self.powf(exponent.value.0[0]);
        }
        (exponent * self.ln()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x(τ) = 0.3 + 0.5 τ − 0.2 τ² + 0.1 τ³.
    fn sample() -> Series {
        let mut x = Series::constant(0.3);
        (x.0[1], x.0[2], x.0[3]) = (0.5, -0.2, 0.1);
        x
    }

    fn at(series: Series, tau: f64) -> f64 {
        series.0.iter().rev().fold(0.0, |sum, c| sum * tau + c)
    }

    #[test]
    fn slopes_are_differences() {
        // f(x, y) with nearly everything in it, moved along x.
        fn f<N: Number>(x: N, y: N) -> N {
            (x * y).sin() + (x / y).exp() * (x + 2.0).sqrt() - x.atan2(y) + y.pow(x) + (x.powf(3.0) - y).abs()
        }
        let (x, y) = (sample(), sample() * sample() + 0.5);
        let found = f(DualSeries::moving(x), DualSeries::fixed(y));
        let (h, tau) = (1e-5, 0.03);
        let difference = (at(f(x + h, y), tau) - at(f(x - h, y), tau)) / (2.0 * h);
        // Central differences: h² from truncation, ε/h from rounding.
        assert!((at(found.slope, tau) - difference).abs() < 1e-9);
        assert_eq!(found.value, f(x, y));
    }
}
