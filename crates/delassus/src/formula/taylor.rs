//! Power series in time, as numbers that formulas run over.
//!
//! ```text
//! x(τ) = x₀ + x₁ τ + x₂ τ² + … + x_{N−1} τ^{N−1}
//! ```
//!
//! A [`Series`] holds the first N coefficients of a quantity along a motion. A formula evaluated over series
//! at a motion q(τ) gives the coefficients of its value along the motion, without truncation (002 Theorem
//! 5.4); with its derivatives in [`DualSeries`](crate::formula::DualSeries).
//!
//! Functions are expanded by the recurrences that their differential equations give, f(x)′ = f′(x) x′. Where
//! a function is not analytic (√x at 0, |x| at 0, a tie of min) the coefficients are NaN.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::number::Number;

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

    pub(super) fn is_constant(self) -> bool {
        self.0[1..].iter().all(|x| *x == 0.0)
    }

    /// Each coefficient from those before it.
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

    pub(super) fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.0[0].sin_cos();
        self.pair(s, c, -1.0)
    }

    pub(super) fn sinh_cosh(self) -> (Self, Self) {
        self.pair(self.0[0].sinh(), self.0[0].cosh(), 1.0)
    }

    /// 1/√(1 − x²).
    pub(super) fn arc_slope(self) -> Self {
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
        let angle_rate = (x * self.rate() - self * x.rate()) / (x * x + self * self);
        Series::from_rate(self.0[0].atan2(x.0[0]), angle_rate)
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
        type Pair = (&'static str, fn(Series) -> Series, fn(f64) -> f64);
        let functions: [Pair; 14] = [
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
    fn not_analytic_is_not_a_number() {
        let zero = sample() - 0.3;
        assert!(zero.abs().0[0].is_nan());
        assert!(zero.sqrt().0[1].is_nan() || zero.sqrt().0[1].is_infinite());
        assert!(zero.min(-zero).0[0].is_nan());
        assert_eq!(zero.min(zero), zero);
        assert_eq!(zero.powf(2.0), zero * zero);
    }
}
