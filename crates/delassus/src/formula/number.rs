//! The number types that formulas run over.
//!
//! A formula f(q, q̇, t) is written once and evaluated over any [`Number`]: plain `f64` for its value, and
//! [`HyperDual`] for its exact first and mixed second derivatives,
//!
//! ```text
//! f(x + a ε₁ + b ε₂) = f(x) + f′a ε₁ + f′b ε₂ + f″(a, b) ε₁ε₂ ,   ε₁² = ε₂² = 0 ,
//! ```
//!
//! so that mass matrices, gradients and bias terms carry no truncation error. Every method speaks of `Self`
//! only, so that other types (power series in time, intervals) fit the same formulas.
//!
//! Where a function has no derivative (√x at 0, |x| at 0, min(x, y) on x = y) the derivative is NaN or
//! infinite, never a convenient guess.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

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
    /// xᶜ with a constant exponent: x⁰ = 1, integer exponents of negative x are allowed, and the derivatives of
    /// x² exist at 0.
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

/// A number with two infinitesimal directions: x + d₁ε₁ + d₂ε₂ + d₁₂ε₁ε₂.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyperDual {
    /// The value.
    pub value: f64,
    /// Derivative in the first direction.
    pub d1: f64,
    /// Derivative in the second direction.
    pub d2: f64,
    /// Mixed second derivative in both directions.
    pub d12: f64,
}

impl HyperDual {
    /// A constant: no derivatives.
    pub fn constant(value: f64) -> Self {
        HyperDual { value, d1: 0.0, d2: 0.0, d12: 0.0 }
    }

    /// An independent variable moving by d1 in the first direction and by d2 in the second.
    pub fn variable(value: f64, d1: f64, d2: f64) -> Self {
        HyperDual { value, d1, d2, d12: 0.0 }
    }

    /// g(x) from g, g′, g″ at the value.
    fn chain(self, g: f64, g1: f64, g2: f64) -> Self {
        HyperDual {
            value: g,
            d1: g1 * self.d1,
            d2: g1 * self.d2,
            d12: g1 * self.d12 + g2 * self.d1 * self.d2,
        }
    }

    fn has_no_derivatives(self) -> bool {
        self.d1 == 0.0 && self.d2 == 0.0 && self.d12 == 0.0
    }

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

impl Add for HyperDual {
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

impl Sub for HyperDual {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for HyperDual {
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

impl Div for HyperDual {
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

impl Neg for HyperDual {
    type Output = Self;
    fn neg(self) -> Self {
        HyperDual { value: -self.value, d1: -self.d1, d2: -self.d2, d12: -self.d12 }
    }
}

impl Add<f64> for HyperDual {
    type Output = Self;
    fn add(self, c: f64) -> Self {
        HyperDual { value: self.value + c, ..self }
    }
}

impl Sub<f64> for HyperDual {
    type Output = Self;
    fn sub(self, c: f64) -> Self {
        HyperDual { value: self.value - c, ..self }
    }
}

impl Mul<f64> for HyperDual {
    type Output = Self;
    fn mul(self, c: f64) -> Self {
        HyperDual { value: self.value * c, d1: self.d1 * c, d2: self.d2 * c, d12: self.d12 * c }
    }
}

impl Div<f64> for HyperDual {
    type Output = Self;
    fn div(self, c: f64) -> Self {
        HyperDual { value: self.value / c, d1: self.d1 / c, d2: self.d2 / c, d12: self.d12 / c }
    }
}

impl Add<HyperDual> for f64 {
    type Output = HyperDual;
    fn add(self, x: HyperDual) -> HyperDual {
        x + self
    }
}

impl Sub<HyperDual> for f64 {
    type Output = HyperDual;
    fn sub(self, x: HyperDual) -> HyperDual {
        -x + self
    }
}

impl Mul<HyperDual> for f64 {
    type Output = HyperDual;
    fn mul(self, x: HyperDual) -> HyperDual {
        x * self
    }
}

impl Div<HyperDual> for f64 {
    type Output = HyperDual;
    fn div(self, x: HyperDual) -> HyperDual {
        HyperDual::constant(self) / x
    }
}

impl Number for HyperDual {
    fn from_f64(c: f64) -> Self {
        HyperDual::constant(c)
    }
    fn value(self) -> f64 {
        self.value
    }
    fn sin(self) -> Self {
        let (s, c) = self.value.sin_cos();
        self.chain(s, c, -s)
    }
    fn cos(self) -> Self {
        let (s, c) = self.value.sin_cos();
        self.chain(c, -s, -c)
    }
    fn tan(self) -> Self {
        let g = self.value.tan();
        let g1 = 1.0 + g * g;
        self.chain(g, g1, 2.0 * g * g1)
    }
    fn asin(self) -> Self {
        let x = self.value;
        let g1 = 1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
        self.chain(x.asin(), g1, x * g1 * g1 * g1)
    }
    fn acos(self) -> Self {
        let x = self.value;
        let g1 = -1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
        self.chain(x.acos(), g1, x * g1 * g1 * g1)
    }
    fn atan(self) -> Self {
        let x = self.value;
        let g1 = 1.0 / (1.0 + x * x);
        self.chain(x.atan(), g1, -2.0 * x * g1 * g1)
    }
    fn atan2(self, x: Self) -> Self {
        let y = self;
        // dφ = (x dy − y dx)/r²; differentiating once more along the other direction gives the mixed part.
        let r2 = x.value * x.value + y.value * y.value;
        let first = |dx: f64, dy: f64| (x.value * dy - y.value * dx) / r2;
        let (p1, p2) = (first(x.d1, y.d1), first(x.d2, y.d2));
        let r2_d2 = 2.0 * (x.value * x.d2 + y.value * y.d2);
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
        let g1 = self.value.cosh().powi(-2);
        self.chain(g, g1, -2.0 * g * g1)
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e, e)
    }
    fn ln(self) -> Self {
        let x = self.value;
        self.chain(x.ln(), 1.0 / x, -1.0 / (x * x))
    }
    fn sqrt(self) -> Self {
        let g = self.value.sqrt();
        let g1 = 0.5 / g;
        self.chain(g, g1, -0.5 * g1 / self.value)
    }
    fn abs(self) -> Self {
        if self.value > 0.0 {
            self
        } else if self.value < 0.0 {
            -self
        } else {
            self.tie(-self)
        }
    }
    fn min(self, other: Self) -> Self {
        if self.value == other.value {
            self.tie(other)
        } else if self.value.is_nan() || self.value < other.value {
            self
        } else {
            other
        }
    }
    fn max(self, other: Self) -> Self {
        if self.value == other.value {
            self.tie(other)
        } else if self.value.is_nan() || self.value > other.value {
            self
        } else {
            other
        }
    }
    fn powf(self, exponent: f64) -> Self {
        let (x, n) = (self.value, exponent);
        // A vanishing coefficient makes the term zero also where the power itself is infinite (x = 0).
        let term = |coefficient: f64, power: f64| {
            if coefficient == 0.0 { 0.0 } else { coefficient * x.powf(power) }
        };
        self.chain(x.powf(n), term(n, n - 1.0), term(n * (n - 1.0), n - 2.0))
    }
    fn pow(self, exponent: Self) -> Self {
        if exponent.has_no_derivatives() {
            return self.powf(exponent.value);
        }
        let through_ln = (exponent * self.ln()).exp();
        HyperDual { value: self.value.powf(exponent.value), ..through_ln }
    }
}
