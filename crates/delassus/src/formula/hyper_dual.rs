//! Hyper-dual numbers: exact first and mixed second derivatives.
//!
//! ```text
//! f(x + a ε₁ + b ε₂) = f(x) + f′a ε₁ + f′b ε₂ + f″(a, b) ε₁ε₂ ,   ε₁² = ε₂² = 0
//! ```
//!
//! The four coefficients are scalars of one type T: real numbers ([`HyperDual`]), or intervals
//! ([`IntervalDual`]), of which each part then bounds its quantity at every point of a box. The chain rule
//! and the rules of arithmetic are the same for both. [`Scalar`] holds what is not: powers whose rounding
//! depends on the order of factors, and the points without derivative (√x at 0, |x| at 0, min(x, y) on x =
//! y). There a derivative is NaN, infinite or undefined, never a convenient guess.
//!
//! Source: J. A. Fike and J. J. Alonso, The development of hyper-dual numbers for exact second-derivative
//! calculations, AIAA 2011-886.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::interval::Interval;
use super::number::{Constant, Number};

/// A number with two infinitesimal directions: x + d₁ε₁ + d₂ε₂ + d₁₂ε₁ε₂.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyperDual<T = f64> {
    /// The value.
    pub value: T,
    /// Derivative in the first direction.
    pub d1: T,
    /// Derivative in the second direction.
    pub d2: T,
    /// Mixed second derivative in both directions.
    pub d12: T,
}

/// Bounds of a value and of its derivatives on a box. A part is undefined where the function has no such
/// derivative at some point of the box.
pub type IntervalDual = HyperDual<Interval>;

/// What hyper-dual arithmetic asks of its scalar beyond [`Number`].
pub trait Scalar: Number + PartialEq {
    /// x².
    fn squared(self) -> Self;
    /// x gⁿ.
    fn times_power(self, g: Self, n: u32) -> Self;
    /// The number, where the scalar is a single one.
    fn single(self) -> Option<f64>;
    /// xᶜ and its first two derivatives by x.
    fn power_rule(self, exponent: f64) -> [Self; 3];
    /// xʸ of an exponent that varies, x > 0.
    fn general_power(self, exponent: Self) -> Self;
    /// |x|.
    fn dual_abs(x: HyperDual<Self>) -> HyperDual<Self>;
    /// The smaller of two.
    fn dual_min(x: HyperDual<Self>, y: HyperDual<Self>) -> HyperDual<Self>;
    /// The larger of two.
    fn dual_max(x: HyperDual<Self>, y: HyperDual<Self>) -> HyperDual<Self>;
}

impl<T: Scalar> HyperDual<T> {
    /// A constant: no derivatives.
    pub fn constant(value: T) -> Self {
        let zero = T::from_f64(0.0);
        HyperDual { value, d1: zero, d2: zero, d12: zero }
    }

    /// An independent variable moving by d1 in the first direction and by d2 in the second.
    pub fn variable(value: T, d1: T, d2: T) -> Self {
        HyperDual { value, d1, d2, d12: T::from_f64(0.0) }
    }

    /// g(x) from g, g′, g″ at the value.
    fn chain(self, g: T, g1: T, g2: T) -> Self {
        HyperDual {
            value: g,
            d1: g1 * self.d1,
            d2: g1 * self.d2,
            d12: g1 * self.d12 + g2 * self.d1 * self.d2,
        }
    }

    fn has_no_derivatives(self) -> bool {
        let zero = T::from_f64(0.0);
        self.d1 == zero && self.d2 == zero && self.d12 == zero
    }

    /// Each part by itself.
    fn map(self, f: impl Fn(T) -> T) -> Self {
        HyperDual { value: f(self.value), d1: f(self.d1), d2: f(self.d2), d12: f(self.d12) }
    }
}

impl HyperDual {
    /// Either of two numbers with one value: derivatives where they agree, NaN where they do not.
    fn tie(self, other: Self) -> Self {
        let agree = |a: f64, b: f64| if a == b { a } else { f64::NAN };
        HyperDual {
            value: self.value,
            d1: agree(self.d1, other.d1),
            d2: agree(self.d2, other.d2),
            d12: if self.d1 == other.d1 && self.d2 == other.d2 {
                agree(self.d12, other.d12)
            } else {
                f64::NAN
            },
        }
    }
}

impl IntervalDual {
    /// No value and no derivatives.
    pub const UNDEFINED: IntervalDual = HyperDual {
        value: Interval::UNDEFINED,
        d1: Interval::UNDEFINED,
        d2: Interval::UNDEFINED,
        d12: Interval::UNDEFINED,
    };

    /// A value whose derivatives exist only if there are none.
    fn kink(self, other: Self, value: Interval) -> Self {
        if self.has_no_derivatives() && other.has_no_derivatives() {
            IntervalDual::constant(value)
        } else {
            IntervalDual { value, ..IntervalDual::UNDEFINED }
        }
    }
}

impl Scalar for f64 {
    fn squared(self) -> Self {
        self * self
    }
    fn times_power(self, g: Self, n: u32) -> Self {
        (0..n).fold(self, |product, _| product * g)
    }
    fn single(self) -> Option<f64> {
        Some(self)
    }
    fn power_rule(self, exponent: f64) -> [Self; 3] {
        let (x, n) = (self, exponent);
        // A vanishing coefficient makes the term zero also where the power itself is infinite (x = 0).
        let term = |coefficient: f64, power: f64| {
            if coefficient == 0.0 { 0.0 } else { coefficient * x.powf(power) }
        };
        [x.powf(n), term(n, n - 1.0), term(n * (n - 1.0), n - 2.0)]
    }
    fn general_power(self, exponent: Self) -> Self {
        // One call rounds less than exp(y ln x).
        self.powf(exponent)
    }
    fn dual_abs(x: HyperDual) -> HyperDual {
        if x.value > 0.0 {
            x
        } else if x.value < 0.0 {
            -x
        } else {
            x.tie(-x)
        }
    }
    fn dual_min(x: HyperDual, y: HyperDual) -> HyperDual {
        if x.value == y.value {
            x.tie(y)
        } else if x.value.is_nan() || x.value < y.value {
            x
        } else {
            y
        }
    }
    fn dual_max(x: HyperDual, y: HyperDual) -> HyperDual {
        if x.value == y.value {
            x.tie(y)
        } else if x.value.is_nan() || x.value > y.value {
            x
        } else {
            y
        }
    }
}

impl Scalar for Interval {
    fn squared(self) -> Self {
        // Not X·X, whose factors vary independently.
        self.powf(2.0)
    }
    fn times_power(self, g: Self, n: u32) -> Self {
        self * g.powf(f64::from(n))
    }
    fn single(self) -> Option<f64> {
        (self.lo == self.hi).then_some(self.lo)
    }
    fn power_rule(self, exponent: f64) -> [Self; 3] {
        let (x, n) = (self, Interval::point(exponent));
        let g = x.powf(exponent);
        if exponent == exponent.trunc() {
            // A vanishing coefficient makes the term zero also where the power itself has no value (x = 0).
            let term = |coefficient: Interval, power: f64| {
                if coefficient == Interval::ZERO && !x.is_undefined() {
                    coefficient
                } else {
                    coefficient * x.powf(power)
                }
            };
            return [g, term(n, exponent - 1.0), term(n * (n - 1.0), exponent - 2.0)];
        }
        // Other exponents less one are rounded; quotients are not.
        let g1 = n * g / x;
        [g, g1, (n - 1.0) * g1 / x]
    }
    fn general_power(self, exponent: Self) -> Self {
        (exponent * self.ln()).exp()
    }
    fn dual_abs(x: IntervalDual) -> IntervalDual {
        if x.value.lo > 0.0 {
            x
        } else if x.value.hi < 0.0 {
            -x
        } else {
            x.kink(x, x.value.abs())
        }
    }
    fn dual_min(x: IntervalDual, y: IntervalDual) -> IntervalDual {
        if x.value.hi < y.value.lo {
            x
        } else if y.value.hi < x.value.lo {
            y
        } else {
            x.kink(y, x.value.min(y.value))
        }
    }
    fn dual_max(x: IntervalDual, y: IntervalDual) -> IntervalDual {
        if x.value.lo > y.value.hi {
            x
        } else if y.value.lo > x.value.hi {
            y
        } else {
            x.kink(y, x.value.max(y.value))
        }
    }
}

impl<T: Scalar> Add for HyperDual<T> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        HyperDual {
            value: self.value + b.value,
            d1: self.d1 + b.d1,
            d2: self.d2 + b.d2,
            d12: self.d12 + b.d12,
        }
    }
}

impl<T: Scalar> Sub for HyperDual<T> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl<T: Scalar> Mul for HyperDual<T> {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        HyperDual {
            value: self.value * b.value,
            d1: self.d1 * b.value + self.value * b.d1,
            d2: self.d2 * b.value + self.value * b.d2,
            d12: self.d12 * b.value + self.d1 * b.d2 + self.d2 * b.d1 + self.value * b.d12,
        }
    }
}

impl<T: Scalar> Div for HyperDual<T> {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        // From c b = a: each part of c solves the product rule, which rounds less than a·b⁻¹.
        let value = self.value / b.value;
        let d1 = (self.d1 - value * b.d1) / b.value;
        let d2 = (self.d2 - value * b.d2) / b.value;
        let d12 = (self.d12 - d1 * b.d2 - d2 * b.d1 - value * b.d12) / b.value;
        HyperDual { value, d1, d2, d12 }
    }
}

impl<T: Scalar> Neg for HyperDual<T> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl<T: Scalar> Add<f64> for HyperDual<T> {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        HyperDual { value: self.value + c, ..self }
    }
}

impl<T: Scalar> Sub<f64> for HyperDual<T> {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        HyperDual { value: self.value - c, ..self }
    }
}

impl<T: Scalar> Mul<f64> for HyperDual<T> {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        self.map(|x| x * c)
    }
}

impl<T: Scalar> Div<f64> for HyperDual<T> {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        self.map(|x| x / c)
    }
}

impl<T: Scalar> Add<HyperDual<T>> for f64 {
    type Output = HyperDual<T>;
    fn add(self, x: HyperDual<T>) -> HyperDual<T> {
        x + self
    }
}

impl<T: Scalar> Sub<HyperDual<T>> for f64 {
    type Output = HyperDual<T>;
    fn sub(self, x: HyperDual<T>) -> HyperDual<T> {
        -x + self
    }
}

impl<T: Scalar> Mul<HyperDual<T>> for f64 {
    type Output = HyperDual<T>;
    fn mul(self, x: HyperDual<T>) -> HyperDual<T> {
        x * self
    }
}

impl<T: Scalar> Div<HyperDual<T>> for f64 {
    type Output = HyperDual<T>;
    fn div(self, x: HyperDual<T>) -> HyperDual<T> {
        HyperDual::from_f64(self) / x
    }
}

impl<T: Scalar> Number for HyperDual<T> {
    fn from_f64(c: f64) -> Self {
        HyperDual::constant(T::from_f64(c))
    }
    fn from_constant(c: Constant) -> Self {
        HyperDual::constant(T::from_constant(c))
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn sin(self) -> Self {
        let (s, c) = (self.value.sin(), self.value.cos());
        self.chain(s, c, -s)
    }
    fn cos(self) -> Self {
        let (s, c) = (self.value.sin(), self.value.cos());
        self.chain(c, -s, -c)
    }
    fn tan(self) -> Self {
        let g = self.value.tan();
        let g1 = g.squared() + 1.0;
        self.chain(g, g1, g * g1 * 2.0)
    }
    fn asin(self) -> Self {
        let x = self.value;
        let g1 = T::from_f64(1.0) / ((-x + 1.0) * (x + 1.0)).sqrt();
        self.chain(x.asin(), g1, x.times_power(g1, 3))
    }
    fn acos(self) -> Self {
        let x = self.value;
        let g1 = T::from_f64(1.0) / ((-x + 1.0) * (x + 1.0)).sqrt();
        self.chain(x.acos(), -g1, -x.times_power(g1, 3))
    }
    fn atan(self) -> Self {
        let x = self.value;
        let g1 = T::from_f64(1.0) / (x.squared() + 1.0);
        self.chain(x.atan(), g1, x.times_power(g1, 2) * -2.0)
    }
    fn atan2(self, x: Self) -> Self {
        let y = self;
        // dφ = (x dy − y dx)/r²; differentiating once more along the other direction gives the mixed part.
        let r2 = x.value.squared() + y.value.squared();
        let first = |dx: T, dy: T| (x.value * dy - y.value * dx) / r2;
        let (p1, p2) = (first(x.d1, y.d1), first(x.d2, y.d2));
        let r2_d2 = (x.value * x.d2 + y.value * y.d2) * 2.0;
        let numerator_d2 = x.d2 * y.d1 + x.value * y.d12 - y.d2 * x.d1 - y.value * x.d12;
        HyperDual { value: y.value.atan2(x.value), d1: p1, d2: p2, d12: (numerator_d2 - p1 * r2_d2) / r2 }
    }
    fn sinh(self) -> Self {
        let (s, c) = (self.value.sinh(), self.value.cosh());
        self.chain(s, c, s)
    }
    fn cosh(self) -> Self {
        let (s, c) = (self.value.sinh(), self.value.cosh());
        self.chain(c, s, c)
    }
    fn tanh(self) -> Self {
        let g = self.value.tanh();
        // 1 − tanh² cancels for large arguments; 1/cosh² does not.
        let g1 = T::from_f64(1.0) / self.value.cosh().squared();
        self.chain(g, g1, g * g1 * -2.0)
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e, e)
    }
    fn ln(self) -> Self {
        let (x, one) = (self.value, T::from_f64(1.0));
        self.chain(x.ln(), one / x, -(one / x.squared()))
    }
    fn sqrt(self) -> Self {
        let g = self.value.sqrt();
        let g1 = T::from_f64(0.5) / g;
        self.chain(g, g1, -(g1 * 0.5 / self.value))
    }
    fn abs(self) -> Self {
        T::dual_abs(self)
    }
    fn min(self, other: Self) -> Self {
        T::dual_min(self, other)
    }
    fn max(self, other: Self) -> Self {
        T::dual_max(self, other)
    }
    fn powf(self, exponent: f64) -> Self {
        let [g, g1, g2] = self.value.power_rule(exponent);
        self.chain(g, g1, g2)
    }
    fn pow(self, exponent: Self) -> Self {
        if exponent.has_no_derivatives()
            && let Some(constant) = exponent.value.single()
        {
            return self.powf(constant);
        }
        let through_ln = (exponent * self.ln()).exp();
        HyperDual { value: self.value.general_power(exponent.value), ..through_ln }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nearly every rule at once, at x ∈ (0, 1) and y > 0.
    fn everything<N: Number>(x: N, y: N) -> N {
        let angles = x.asin() * y.atan() - x.acos() + y.atan2(x) + (x * y).tan();
        let growth = (x / y).exp() + y.ln() * x.tanh() - x.sinh() / y.cosh();
        let powers = y.pow(x) + x.powf(3.0) + y.powf(-1.5) + y.powf(2.0) - (x + y).sqrt();
        angles + growth + powers + (x - y).abs() + x.min(y) * (-x).max(-y) + x.sin() * y.cos()
    }

    #[test]
    fn the_mixed_part_is_the_difference_of_first_derivatives() {
        let (x, y, h) = (0.3, 0.8, 1e-5);
        let at = |y: f64| everything(HyperDual::variable(x, 1.0, 0.0), HyperDual::variable(y, 0.0, 1.0));
        let found = at(y);
        // Central differences: h² from truncation, ε/h from rounding.
        let mixed = (at(y + h).d1 - at(y - h).d1) / (2.0 * h);
        assert!((found.d12 - mixed).abs() < 1e-8, "{found:?} {mixed}");
        let slope = (everything(x, y + h) - everything(x, y - h)) / (2.0 * h);
        assert!((found.d2 - slope).abs() < 1e-8, "{found:?} {slope}");
        assert_eq!(found.value, everything(x, y));
    }

    #[test]
    fn both_scalars_follow_the_same_rules() {
        // Outward rounding of about a hundred operations leaves 1e-12 of width around the real numbers.
        let (x, y) = (0.3, 0.8);
        let real = everything(HyperDual::variable(x, 1.0, 0.5), HyperDual::variable(y, -0.4, 1.0));
        let interval = |value: f64, d1: f64, d2: f64| {
            HyperDual::variable(Interval::point(value), Interval::point(d1), Interval::point(d2))
        };
        let bounds = everything(interval(x, 1.0, 0.5), interval(y, -0.4, 1.0));
        let parts =
            [(bounds.value, real.value), (bounds.d1, real.d1), (bounds.d2, real.d2), (bounds.d12, real.d12)];
        for (bound, number) in parts {
            assert!(bound.width() < 1e-12 && bound.lo - 1e-13 < number && number < bound.hi + 1e-13);
        }
    }

    #[test]
    fn a_kink_has_no_derivative() {
        let zero = HyperDual::variable(0.0, 1.0, 1.0);
        assert_eq!(zero.abs().value, 0.0);
        assert!(zero.abs().d1.is_nan() && zero.abs().d12.is_nan());
        assert_eq!(zero.min(zero), zero);
        let around = Interval::new(-1.0, 1.0);
        let moving = HyperDual::variable(around, Interval::ONE, Interval::ONE);
        assert_eq!(moving.abs().value, Interval::new(0.0, 1.0));
        assert!(moving.abs().d1.is_undefined());
        assert_eq!(IntervalDual::constant(around).abs().d1, Interval::ZERO);
    }
}
