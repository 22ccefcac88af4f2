//! Two number types of the tests' own, that share no derivative with the library: complex numbers, whose
//! imaginary part carries a derivative by the complex step f′(x) = Im f(x + ih)/h, and dual numbers over
//! them. They record the largest magnitude they meet, from which tolerances are derived.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use delassus::formula::Number;

/// The complex step: its square vanishes beside one.
pub const STEP: f64 = 1e-100;

thread_local!(static PEAK: Cell<f64> = const { Cell::new(0.0) });

/// The largest magnitude of a value or derivative since the last call, at least 1.
pub fn take_peak() -> f64 {
    PEAK.replace(0.0).max(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

pub fn complex(re: f64, im: f64) -> Complex {
    PEAK.set(PEAK.get().max(re.abs()).max((im / STEP).abs()));
    Complex { re, im }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        complex(self.re + b.re, self.im + b.im)
    }
}
impl Sub for Complex {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        complex(self.re - b.re, self.im - b.im)
    }
}
impl Mul for Complex {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        complex(self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re)
    }
}
impl Div for Complex {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let n = b.re * b.re + b.im * b.im;
        complex((self.re * b.re + self.im * b.im) / n, (self.im * b.re - self.re * b.im) / n)
    }
}
impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        complex(-self.re, -self.im)
    }
}

/// A complex number with one derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    pub value: Complex,
    pub d: Complex,
}

impl Dual {
    fn chain(self, g: Complex, g1: Complex) -> Self {
        Dual { value: g, d: g1 * self.d }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Dual { value: self.value + b.value, d: self.d + b.d }
    }
}
impl Sub for Dual {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Dual { value: self.value - b.value, d: self.d - b.d }
    }
}
impl Mul for Dual {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Dual { value: self.value * b.value, d: self.d * b.value + self.value * b.d }
    }
}
impl Div for Dual {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let d = (self.d * b.value - self.value * b.d) / (b.value * b.value);
        Dual { value: self.value / b.value, d }
    }
}
impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Dual { value: -self.value, d: -self.d }
    }
}

macro_rules! with_f64 {
    ($($type:ident: $trait:ident $method:ident),*) => {
        $(impl $trait<f64> for $type {
            type Output = Self;
            fn $method(self, c: f64) -> Self {
                $trait::$method(self, Self::from_f64(c))
            }
        })*
    };
}
with_f64!(Complex: Add add, Complex: Sub sub, Complex: Mul mul, Complex: Div div);
with_f64!(Dual: Add add, Dual: Sub sub, Dual: Mul mul, Dual: Div div);

impl Number for Complex {
    fn from_f64(c: f64) -> Self {
        complex(c, 0.0)
    }
    fn value(self) -> f64 {
        self.re
    }
    fn sin(self) -> Self {
        complex(self.re.sin() * self.im.cosh(), self.re.cos() * self.im.sinh())
    }
    fn cos(self) -> Self {
        complex(self.re.cos() * self.im.cosh(), -self.re.sin() * self.im.sinh())
    }
    fn tan(self) -> Self {
        self.sin() / self.cos()
    }
    fn asin(self) -> Self {
        (self / ((-self + 1.0) * (self + 1.0)).sqrt()).atan()
    }
    fn acos(self) -> Self {
        -self.asin() + std::f64::consts::FRAC_PI_2
    }
    fn atan(self) -> Self {
        let (a, b) = (self.re, self.im);
        // The imaginary part is (1/4) ln((a² + (1 + b)²)/(a² + (1 − b)²)), written without cancellation.
        let im = 0.25 * (4.0 * b / (a * a + (1.0 - b) * (1.0 - b))).ln_1p();
        complex(0.5 * (2.0 * a).atan2(1.0 - a * a - b * b), im)
    }
    fn atan2(self, x: Self) -> Self {
        // Im ln(x + iy) has no analytic continuation in complex x and y, arctan of a quotient has.
        let turn = f64::atan2(self.re, x.re);
        let quotient = if x.re.abs() > self.re.abs() { (self / x).atan() } else { -(x / self).atan() };
        complex(turn, quotient.im)
    }
    fn sinh(self) -> Self {
        complex(self.re.sinh() * self.im.cos(), self.re.cosh() * self.im.sin())
    }
    fn cosh(self) -> Self {
        complex(self.re.cosh() * self.im.cos(), self.re.sinh() * self.im.sin())
    }
    fn tanh(self) -> Self {
        self.sinh() / self.cosh()
    }
    fn exp(self) -> Self {
        let e = self.re.exp();
        complex(e * self.im.cos(), e * self.im.sin())
    }
    fn ln(self) -> Self {
        complex(self.re.hypot(self.im).ln(), self.im.atan2(self.re))
    }
    fn sqrt(self) -> Self {
        let s = ((self.re.hypot(self.im) + self.re) / 2.0).sqrt();
        complex(s, self.im / (2.0 * s))
    }
    fn abs(self) -> Self {
        if self.re < 0.0 { -self } else { self }
    }
    fn min(self, other: Self) -> Self {
        if self.re < other.re { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self.re > other.re { self } else { other }
    }
    fn powf(self, exponent: f64) -> Self {
        if exponent.fract() == 0.0 && (0.0..100.0).contains(&exponent) {
            return (0..exponent as usize).fold(complex(1.0, 0.0), |product, _| product * self);
        }
        (self.ln() * exponent).exp()
    }
    fn pow(self, exponent: Self) -> Self {
        (exponent * self.ln()).exp()
    }
}

impl Number for Dual {
    fn from_f64(c: f64) -> Self {
        Dual { value: Complex::from_f64(c), d: Complex::from_f64(0.0) }
    }
    fn value(self) -> f64 {
        self.value.re
    }
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn tan(self) -> Self {
        let c = self.value.cos();
        self.chain(self.value.tan(), Complex::from_f64(1.0) / (c * c))
    }
    fn asin(self) -> Self {
        self.chain(self.value.asin(), Complex::from_f64(1.0) / (-self.value * self.value + 1.0).sqrt())
    }
    fn acos(self) -> Self {
        self.chain(self.value.acos(), Complex::from_f64(-1.0) / (-self.value * self.value + 1.0).sqrt())
    }
    fn atan(self) -> Self {
        self.chain(self.value.atan(), Complex::from_f64(1.0) / (self.value * self.value + 1.0))
    }
    fn atan2(self, x: Self) -> Self {
        let (y, r2) = (self, self.value * self.value + x.value * x.value);
        Dual { value: y.value.atan2(x.value), d: (x.value * y.d - y.value * x.d) / r2 }
    }
    fn sinh(self) -> Self {
        self.chain(self.value.sinh(), self.value.cosh())
    }
    fn cosh(self) -> Self {
        self.chain(self.value.cosh(), self.value.sinh())
    }
    fn tanh(self) -> Self {
        let c = self.value.cosh();
        self.chain(self.value.tanh(), Complex::from_f64(1.0) / (c * c))
    }
    fn exp(self) -> Self {
        self.chain(self.value.exp(), self.value.exp())
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), Complex::from_f64(1.0) / self.value)
    }
    fn sqrt(self) -> Self {
        let s = self.value.sqrt();
        self.chain(s, Complex::from_f64(0.5) / s)
    }
    fn abs(self) -> Self {
        if self.value.re < 0.0 { -self } else { self }
    }
    fn min(self, other: Self) -> Self {
        if self.value.re < other.value.re { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self.value.re > other.value.re { self } else { other }
    }
    fn powf(self, exponent: f64) -> Self {
        if exponent == 0.0 {
            return Dual::from_f64(1.0);
        }
        self.chain(self.value.powf(exponent), self.value.powf(exponent - 1.0) * exponent)
    }
    fn pow(self, exponent: Self) -> Self {
        (exponent * self.ln()).exp()
    }
}
