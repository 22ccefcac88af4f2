//! Power series in time, as numbers that formulas run over.
//!
//! ```text
//! x(τ) = x₀ + x₁ τ + x₂ τ² + … + x_{N−1} τ^{N−1} ,     x(τ) + ε y(τ) ,   ε² = 0
//! ```
//!
//! A [`Series`] holds the first N coefficients of a quantity along a motion; a [`DualSeries`] beside it those of its
//! derivative in one direction. A formula evaluated over [`DualSeries`] at a motion q(τ) gives the coefficients of its
//! value and of one partial derivative along the motion, without truncation: gradients, momenta and forces as functions
//! of time, to any order up to N (002 Theorem 5.4).
//!
//! Functions are expanded by the recurrences that their differential equations give, f(x)′ = f′(x) x′. Where a function
//! is not analytic (√x at 0, |x| at 0, a tie of min) the coefficients are NaN.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::number::Number;

/// N: number of coefficients that are kept.
pub const COEFFICIENTS: usize = 16;

/// A truncated power series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series(pub [f64; COEFFICIENTS]);

impl Series {
    /// No value.
    pub const UNDEFINED: Series = Series([f64::NAN; COEFFICIENTS]);

    /// A constant.
    pub fn constant(c: f64) -> Self {
        Series(std::array::from_fn(|k| if k == 0 { c } else { 0.0 }))
    }

    /// The time itself, t₀ + τ.
    pub fn time(t: f64) -> Self {
        Series(std::array::from_fn(|k| match k {
            0 => t,
            1 => 1.0,
            _ => 0.0,
        }))
    }

    /// dx/dτ. Its last coefficient is not known and is left at 0.
    pub fn rate(self) -> Self {
        Series(std::array::from_fn(
            |k| if k + 1 < COEFFICIENTS { (k + 1) as f64 * self.0[k + 1] } else { 0.0 },
        ))
    }

    /// The series with this value and this rate; of the rate the last coefficient is not used.
    fn from_rate(value: f64, rate: Series) -> Self {
        Series(std::array::from_fn(|k| if k == 0 { value } else { rate.0[k - 1] / k as f64 }))
    }

    /// f(x) from its value at x₀ and f′(x).
    fn composed(self, value: f64, slope: Series) -> Self {
        Series::from_rate(value, slope * self.rate())
    }

    fn is_constant(self) -> bool {
        self.0[1..].iter().all(|x| *x == 0.0)
    }

    /// Each coefficient in turn from those before it.
    fn recur(mut next: impl FnMut(&[f64; COEFFICIENTS], usize) -> f64) -> Self {
        let mut out = [0.0; COEFFICIENTS];
        for k in 0..COEFFICIENTS {
            out[k] = next(&out, k);
        }
        Series(out)
    }

    /// (s, c) with s′ = c x′ and c′ = ∓ s x′: sine and cosine (−1) or their hyperbolic kin (+1).
    fn pair(self, s0: f64, c0: f64, sign: f64) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; COEFFICIENTS], [0.0; COEFFICIENTS]);
        (s[0], c[0]) = (s0, c0);
        for k in 1..COEFFICIENTS {
            for j in 1..=k {
                let x = j as f64 * self.0[j] / k as f64;
                s[k] += x * c[k - j];
                c[k] += sign * x * s[k - j];
            }
        }
        (Series(s), Series(c))
    }

    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.0[0].sin_cos();
        self.pair(s, c, -1.0)
    }

    fn sinh_cosh(self) -> (Self, Self) {
        self.pair(self.0[0].sinh(), self.0[0].cosh(), 1.0)
    }

    /// 1/√(1 − x²).
    fn arc_slope(self) -> Self {
        Series::constant(1.0) / ((-self + 1.0) * (self + 1.0)).sqrt()
    }

    /// xⁿ by repeated squaring.
    fn power(self, n: u32) -> Self {
        let (mut out, mut base, mut n) = (Series::constant(1.0), self, n);
        while n > 0 {
            if n & 1 == 1 {
                out = out * base;
            }
            base = base * base;
            n >>= 1;
        }
        out
    }
}

impl Add for Series {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Series(std::array::from_fn(|k| self.0[k] + b.0[k]))
    }
}

impl Sub for Series {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Series(std::array::from_fn(|k| self.0[k] - b.0[k]))
    }
}

impl Neg for Series {
    type Output = Self;
    fn neg(self) -> Self {
        Series(self.0.map(|x| -x))
    }
}

impl Mul for Series {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Series(std::array::from_fn(|k| (0..=k).map(|j| self.0[j] * b.0[k - j]).sum()))
    }
}

impl Div for Series {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        Series::recur(|c, k| (self.0[k] - (1..=k).map(|j| b.0[j] * c[k - j]).sum::<f64>()) / b.0[0])
    }
}

impl Add<f64> for Series {
    type Output = Self;
    fn add(mut self, c: f64) -> Self {
        self.0[0] += c;
        self
    }
}

impl Sub<f64> for Series {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        self + -c
    }
}

impl Mul<f64> for Series {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        Series(self.0.map(|x| x * c))
    }
}

impl Div<f64> for Series {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        Series(self.0.map(|x| x / c))
    }
}

impl Number for Series {
    fn from_f64(c: f64) -> Self {
        Series::constant(c)
    }
    fn value(self) -> f64 {
        self.0[0]
    }
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    fn tan(self) -> Self {
        let (s, c) = self.sin_cos();
        s / c
    }
    fn asin(self) -> Self {
        self.composed(self.0[0].asin(), self.arc_slope())
    }
    fn acos(self) -> Self {
        self.composed(self.0[0].acos(), -self.arc_slope())
    }
    fn atan(self) -> Self {
        self.composed(self.0[0].atan(), Series::constant(1.0) / (self * self + 1.0))
    }
    fn atan2(self, x: Self) -> Self {
        let turn = (x * self.rate() - self * x.rate()) / (x * x + self * self);
        Series::from_rate(self.0[0].atan2(x.0[0]), turn)
    }
    fn sinh(self) -> Self {
        self.sinh_cosh().0
    }
    fn cosh(self) -> Self {
        self.sinh_cosh().1
    }
    fn tanh(self) -> Self {
        let c = self.cosh();
        self.composed(self.0[0].tanh(), Series::constant(1.0) / (c * c))
    }
    fn exp(self) -> Self {
        Series::recur(|e, k| match k {
            0 => self.0[0].exp(),
            _ => (1..=k).map(|j| j as f64 * self.0[j] * e[k - j]).sum::<f64>() / k as f64,
        })
    }
    fn ln(self) -> Self {
        self.composed(self.0[0].ln(), Series::constant(1.0) / self)
    }
    fn sqrt(self) -> Self {
        if self.is_constant() {
            return Series::constant(self.0[0].sqrt());
        }
        Series::recur(|s, k| match k {
            0 => self.0[0].sqrt(),
            _ => (self.0[k] - (1..k).map(|j| s[j] * s[k - j]).sum::<f64>()) / (2.0 * s[0]),
        })
    }
    fn abs(self) -> Self {
        if self.0[0] > 0.0 {
            self
        } else if self.0[0] < 0.0 || self.is_constant() {
            -self
        } else {
            Series::UNDEFINED
        }
    }
    fn min(self, other: Self) -> Self {
        if self.0[0].is_nan() || self.0[0] < other.0[0] || self == other {
            self
        } else if self.0[0] == other.0[0] {
            Series::UNDEFINED
        } else {
            other
        }
    }
    fn max(self, other: Self) -> Self {
        -((-self).min(-other))
    }
    fn powf(self, exponent: f64) -> Self {
        let whole = exponent.fract() == 0.0 && exponent.abs() <= 1024.0;
        if self.is_constant() {
            Series::constant(self.0[0].powf(exponent))
        } else if whole && exponent >= 0.0 {
            self.power(exponent as u32)
        } else if whole {
            Series::constant(1.0) / self.power(-exponent as u32)
        } else {
            // x p′ = c p x′.
            Series::recur(|p, k| match k {
                0 => self.0[0].powf(exponent),
                _ => {
                    let term = |j: usize| (exponent * j as f64 - (k - j) as f64) * self.0[j] * p[k - j];
                    (1..=k).map(term).sum::<f64>() / (k as f64 * self.0[0])
                }
            })
        }
    }
    fn pow(self, exponent: Self) -> Self {
        if exponent.is_constant() { self.powf(exponent.0[0]) } else { (exponent * self.ln()).exp() }
    }
}

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
    fn functions_are_their_values_along_the_motion() {
        let functions: [(&str, fn(Series) -> Series, fn(f64) -> f64); 14] = [
            ("sin", Number::sin, f64::sin),
            ("cos", Number::cos, f64::cos),
            ("tan", Number::tan, f64::tan),
            ("asin", Number::asin, f64::asin),
            ("acos", Number::acos, f64::acos),
            ("atan", Number::atan, f64::atan),
            ("sinh", Number::sinh, f64::sinh),
            ("cosh", Number::cosh, f64::cosh),
            ("tanh", Number::tanh, f64::tanh),
            ("exp", Number::exp, f64::exp),
            ("ln", Number::ln, f64::ln),
            ("sqrt", Number::sqrt, f64::sqrt),
            ("x^2.5", |x| x.powf(2.5), |x| x.powf(2.5)),
            ("x^-3", |x| x.powf(-3.0), |x| x.powf(-3.0)),
        ];
        // All radii of convergence are above 0.4, so that at 0.02 sixteen terms leave (0.05)^16 ≈ 1e-21.
        let tau = 0.02;
        for (name, series, value) in functions {
            let (found, expected) = (at(series(sample()), tau), value(at(sample(), tau)));
            assert!((found - expected).abs() < 1e-13 * expected.abs().max(1.0), "{name}: {found} {expected}");
        }
        let (x, y) = (sample(), sample() * sample() + 0.2);
        let expected = at(y, tau).atan2(at(x, tau));
        assert!((at(y.atan2(x), tau) - expected).abs() < 1e-13);
        let expected = at(x, tau).powf(at(y, tau));
        assert!((at(x.pow(y), tau) - expected).abs() < 1e-13);
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

    #[test]
    fn not_analytic_is_not_a_number() {
        let zero = sample() - 0.3;
        assert!(zero.abs().0[0].is_nan());
        assert!(zero.sqrt().0[1].is_nan() || zero.sqrt().0[1].is_infinite());
        assert!(zero.min(-zero).0[0].is_nan());
        assert_eq!(zero.min(zero), zero);
        assert_eq!(zero.powf(2.0), zero * zero);
    }
}
