//! Numbers between two doubles, rounded outward, and the functions that formulas know.
//!
//! ```text
//! x ∘ y ⊇ { a ∘ b : a ∈ x, b ∈ y } ,     undefined wherever some value is, or overflows
//! ```
//!
//! Arithmetic and roots of doubles are rounded to the nearest by IEEE 754, so that the next double outward is
//! a bound. Nothing is asked of the library of functions: they are sums of series with their remainders, and
//! where a guess is needed, whatever it is, the result is proved.

use num_bigint::BigInt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::number::{Interval, Number, abs, whole};

/// All numbers from lo to hi; both are NaN where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub lo: f64,
    /// The largest.
    pub hi: f64,
}

impl Bounds {
    pub const UNDEFINED: Bounds = Bounds { lo: f64::NAN, hi: f64::NAN };
    pub const ZERO: Bounds = Bounds { lo: 0.0, hi: 0.0 };
    pub const ONE: Bounds = Bounds { lo: 1.0, hi: 1.0 };
    /// π: the nearest double lies below it.
    const PI: Bounds = Bounds { lo: std::f64::consts::PI, hi: 3.141_592_653_589_793_6 };

    /// From lo to hi, undefined where these are no finite numbers in order.
    pub fn new(lo: f64, hi: f64) -> Self {
        let finite = lo <= hi && lo > f64::NEG_INFINITY && hi < f64::INFINITY;
        if finite { Bounds { lo, hi } } else { Bounds::UNDEFINED }
    }

    pub fn point(x: f64) -> Self {
        Bounds::new(x, x)
    }

    fn outward(lo: f64, hi: f64) -> Self {
        Bounds::new(lo.next_down(), hi.next_up())
    }

    /// What surrounds a fraction, exactly where it is a double.
    pub fn of(x: &Number) -> Self {
        let [lo, hi] = [double_below(x), -double_below(&-x)];
        Bounds::new(lo, hi)
    }

    /// What surrounds all numbers between two fractions.
    pub fn around(x: &Interval) -> Self {
        Bounds::new(double_below(&x.lo), -double_below(&-&x.hi))
    }

    pub fn is_undefined(self) -> bool {
        self.lo.is_nan()
    }

    pub fn middle(self) -> f64 {
        (0.5 * self.lo + 0.5 * self.hi).max(self.lo).min(self.hi)
    }

    pub fn has_width(self) -> bool {
        self.lo < self.hi
    }

    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub fn contains_zero(self) -> bool {
        self.lo <= 0.0 && self.hi >= 0.0
    }

    /// Whether all of it lies strictly inside.
    pub fn strictly_inside(self, other: Self) -> bool {
        self.lo > other.lo && self.hi < other.hi
    }

    pub fn inside(self, other: Self) -> bool {
        self.lo >= other.lo && self.hi <= other.hi
    }

    /// What lies in both; undefined where nothing does.
    pub fn and(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Bounds::UNDEFINED;
        }
        Bounds::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    pub fn hull(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Bounds::UNDEFINED;
        }
        Bounds::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    pub fn square(self) -> Self {
        self.power(2)
    }

    /// xⁿ.
    pub fn power(self, n: u32) -> Self {
        let end = |x: f64| (0..n).fold(Bounds::ONE, |p, _| p * Bounds::point(x));
        let both = end(self.lo).hull(end(self.hi));
        if n % 2 == 1 || n == 0 || self.is_undefined() || both.is_undefined() {
            return both;
        }
        let least = if self.contains_zero() { 0.0 } else { both.lo.max(0.0) };
        Bounds::new(least, both.hi)
    }

    pub fn sqrt(self) -> Self {
        if self.is_undefined() || self.lo < 0.0 {
            return Bounds::UNDEFINED;
        }
        Bounds::new(self.lo.sqrt().next_down().max(0.0), self.hi.sqrt().next_up())
    }

    pub fn abs(self) -> Self {
        if self.contains_zero() {
            Bounds::new(0.0, self.magnitude())
        } else if self.lo > 0.0 {
            self
        } else {
            -self
        }
    }

    /// From f at the lower end to f at the upper: f increases.
    fn increasing(self, f: impl Fn(f64) -> Self) -> Self {
        if self.is_undefined() { self } else { f(self.lo).hull(f(self.hi)) }
    }

    /// Whether some x = a + 2πk may lie in it.
    fn may_contain(self, a: Self) -> bool {
        let turns = (self - a) / (Bounds::PI * 2.0);
        turns.is_undefined() || turns.lo.ceil() <= turns.hi.floor()
    }

    pub fn sin(self) -> Self {
        self.wave(0)
    }

    pub fn cos(self) -> Self {
        self.wave(1)
    }

    /// sin (x + k π/2).
    fn wave(self, k: i64) -> Self {
        if self.is_undefined() {
            return self;
        }
        let ends = sin_at(self.lo, k).hull(sin_at(self.hi, k));
        let at = |quarters: i64| Bounds::PI * (0.5 * quarters as f64);
        let top = if self.may_contain(at(1 - k)) { 1.0 } else { ends.hi };
        let bottom = if self.may_contain(at(-1 - k)) { -1.0 } else { ends.lo };
        Bounds::new(bottom, top).and(Bounds::new(-1.0, 1.0))
    }

    pub fn exp(self) -> Self {
        self.increasing(exp_at)
    }

    pub fn ln(self) -> Self {
        self.increasing(ln_at)
    }

    pub fn atan(self) -> Self {
        self.increasing(atan_at)
    }

    pub fn asin(self) -> Self {
        self.increasing(|x| {
            let rest = Bounds::ONE - Bounds::point(x).square();
            if x.abs() == 1.0 {
                return Bounds::PI * (0.5 * x);
            }
            let root = rest.sqrt();
            // Undefined outside of [−1, 1].
            (Bounds::point(x) / root).increasing(atan_at)
        })
    }

    pub fn acos(self) -> Self {
        Bounds::PI * 0.5 - self.asin()
    }

    pub fn sinh(self) -> Self {
        self.increasing(|x| (exp_at(x) - exp_at(-x)) * 0.5)
    }

    pub fn cosh(self) -> Self {
        self.abs().increasing(|x| (exp_at(x) + exp_at(-x)) * 0.5)
    }

    pub fn tanh(self) -> Self {
        let at = |x: f64| Bounds::ONE - Bounds::point(2.0) / (exp_at(2.0 * x) + Bounds::ONE);
        // Far out e^(2x) overflows; there tanh is 1 to more digits than doubles have.
        let safe = |x: f64| {
            at(x.clamp(-300.0, 300.0)).hull(if x.abs() > 300.0 { Bounds::point(x.signum()) } else { at(x) })
        };
        self.increasing(safe)
    }

    pub fn min(self, other: Self) -> Self {
        if self.is_undefined() || other.is_undefined() {
            return Bounds::UNDEFINED;
        }
        Bounds::new(self.lo.min(other.lo), self.hi.min(other.hi))
    }

    /// The angle of the point (x, y), y = self, where it does not jump.
    pub fn atan2(self, x: Self) -> Self {
        let (y, half) = (self, Bounds::PI * 0.5);
        if x.lo > 0.0 {
            (y / x).atan()
        } else if y.lo > 0.0 {
            half - (x / y).atan()
        } else if y.hi < 0.0 {
            -half - (x / y).atan()
        } else {
            Bounds::UNDEFINED
        }
    }
}

/// The largest double that is not above x, or the one below it; −∞ where there is none.
fn double_below(x: &Number) -> f64 {
    if *x == whole(0) {
        return 0.0;
    }
    // x = m 2⁻ᵏ and a rest, m an integer of 62 to 64 bits.
    let size = abs(x);
    let k = 63 - (size.numer().bits() as i64 - size.denom().bits() as i64);
    let (one, shift) = (BigInt::from(1), k.unsigned_abs());
    let power = Number::from(one << shift);
    let scaled = if k >= 0 { x * power } else { x / power };
    let m = scaled.floor().to_integer();
    let Ok(m) = i128::try_from(&m) else { return f64::NEG_INFINITY };
    let near = m as f64;
    // The power of two in two factors, each a normal number.
    let [a, b] = [-k / 2, -k - (-k / 2)].map(|e| 2f64.powi(i32::try_from(e.clamp(-1000, 1000)).unwrap_or(0)));
    let found = near * a * b;
    let exact = near as i128 == m && scaled.is_integer() && k.abs() < 900;
    if k.abs() > 1900 {
        return if *x > whole(0) && k > 0 { 0.0 } else { f64::NEG_INFINITY };
    }
    let below = if exact { found } else { found.next_down() };
    if *x > whole(0) { below.max(0.0) } else { below }
}

/// π/2 is a number of 33 bits, whose small multiples are exact, and the rest.
const QUARTER: f64 = 1.570_796_326_734_125_6;
const QUARTER_REST: f64 = 6.077_100_506_506_192e-11;

/// sin (x + k π/2).
fn sin_at(x: f64, k: i64) -> Bounds {
    let turns = (x / QUARTER).round();
    if turns.abs() > 500_000.0 {
        return Bounds::new(-1.0, 1.0);
    }
    let small = Bounds::new(QUARTER_REST.next_down(), QUARTER_REST.next_up());
    let rest = Bounds::point(x) - Bounds::point(QUARTER * turns) - small * turns;
    match (turns as i64 + k).rem_euclid(4) {
        0 => series(rest, 1),
        1 => series(rest, 0),
        2 => -series(rest, 1),
        _ => -series(rest, 0),
    }
}

/// Σ (−1)ᵏ xⁿ/n! over n = `first` + 2k, for |x| ≤ 1: sin x for 1, cos x for 0.
fn series(x: Bounds, first: u32) -> Bounds {
    let square = x.square();
    // The tail from here on alternates and decreases: it is a part of its first term.
    let mut tail = Bounds::new(0.0, 1.0);
    for k in (1..=12u32).rev() {
        let n = f64::from(first + 2 * k);
        tail = Bounds::ONE - square / Bounds::point(n * (n - 1.0)) * tail;
    }
    if first == 1 { x * tail } else { tail }
}

fn exp_at(x: f64) -> Bounds {
    if x > 700.0 {
        return Bounds::UNDEFINED;
    }
    if x < -700.0 {
        return Bounds::new(0.0, 1e-300);
    }
    let two = Bounds::new(std::f64::consts::LN_2.next_down(), std::f64::consts::LN_2.next_up());
    let k = (x / two.lo).round();
    let rest = Bounds::point(x) - two * k;
    // |rest| ≤ 1: what is left after n terms is at most twice the next one.
    let mut tail = Bounds::new(-2.0, 2.0);
    for n in (1..=24u32).rev() {
        tail = Bounds::ONE + rest / Bounds::point(f64::from(n)) * tail;
    }
    let half = (k / 2.0).trunc();
    tail * 2f64.powi(half as i32) * 2f64.powi((k - half) as i32)
}

fn ln_at(x: f64) -> Bounds {
    if x <= 0.0 {
        return Bounds::UNDEFINED;
    }
    let guess = x.ln();
    // 1 − 1/z ≤ ln z ≤ z − 1.
    let z = Bounds::point(x) * exp_at(-guess);
    let rest = (Bounds::ONE - Bounds::ONE / z).hull(z - Bounds::ONE);
    Bounds::point(guess) + rest
}

fn atan_at(x: f64) -> Bounds {
    if x.abs() > 1.0 {
        let half = Bounds::PI * (0.5 * x.signum());
        return half - (Bounds::ONE / Bounds::point(x)).increasing(atan_at);
    }
    let guess = x.atan();
    let tangent = sin_at(guess, 0) / sin_at(guess, 1);
    let x = Bounds::point(x);
    // arctan x − arctan t = arctan (x − t)/(1 + x t), which is nearer to zero than its argument.
    let rest = (x - tangent) / (Bounds::ONE + x * tangent);
    Bounds::point(guess) + rest.hull(Bounds::ZERO)
}

impl Add for Bounds {
    type Output = Bounds;
    fn add(self, other: Bounds) -> Bounds {
        if self == Bounds::ZERO {
            return other;
        }
        if other == Bounds::ZERO {
            return self;
        }
        Bounds::outward(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Sub for Bounds {
    type Output = Bounds;
    fn sub(self, other: Bounds) -> Bounds {
        self + -other
    }
}

impl Neg for Bounds {
    type Output = Bounds;
    fn neg(self) -> Bounds {
        Bounds { lo: -self.hi, hi: -self.lo }
    }
}

impl Mul for Bounds {
    type Output = Bounds;
    fn mul(self, other: Bounds) -> Bounds {
        if self.is_undefined() || other.is_undefined() {
            return Bounds::UNDEFINED;
        }
        if self == Bounds::ZERO || other == Bounds::ZERO {
            return Bounds::ZERO;
        }
        if self == Bounds::ONE {
            return other;
        }
        if other == Bounds::ONE {
            return self;
        }
        let all = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let lo = all.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let hi = all.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
        Bounds::outward(lo, hi)
    }
}

impl Mul<f64> for Bounds {
    type Output = Bounds;
    fn mul(self, other: f64) -> Bounds {
        self * Bounds::point(other)
    }
}

impl Div for Bounds {
    type Output = Bounds;
    fn div(self, other: Bounds) -> Bounds {
        if self.is_undefined() || other.is_undefined() || other.contains_zero() {
            return Bounds::UNDEFINED;
        }
        if other == Bounds::ONE {
            return self;
        }
        let all = [self.lo / other.lo, self.lo / other.hi, self.hi / other.lo, self.hi / other.hi];
        let lo = all.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let hi = all.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
        if lo == 0.0 && hi == 0.0 && self == Bounds::ZERO { Bounds::ZERO } else { Bounds::outward(lo, hi) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_hold_the_values_of_the_library_and_little_more() {
        type Pair = (fn(Bounds) -> Bounds, fn(f64) -> f64, f64, f64);
        let all: [Pair; 11] = [
            (Bounds::sin, f64::sin, -50.0, 50.0),
            (Bounds::cos, f64::cos, -50.0, 50.0),
            (Bounds::exp, f64::exp, -20.0, 20.0),
            (Bounds::ln, f64::ln, 1e-6, 1e6),
            (Bounds::atan, f64::atan, -40.0, 40.0),
            (Bounds::asin, f64::asin, -1.0, 1.0),
            (Bounds::acos, f64::acos, -1.0, 1.0),
            (Bounds::sinh, f64::sinh, -5.0, 5.0),
            (Bounds::cosh, f64::cosh, -5.0, 5.0),
            (Bounds::tanh, f64::tanh, -5.0, 5.0),
            (Bounds::sqrt, f64::sqrt, 0.0, 9.0),
        ];
        for (k, (bounds, library, from, to)) in all.into_iter().enumerate() {
            for i in 0..=2000 {
                let x = from + (to - from) * f64::from(i) / 2000.0;
                let (found, y) = (bounds(Bounds::point(x)), library(x));
                // The library may be off by a unit or two itself.
                let unit = 4.0 * f64::EPSILON * (y.abs() + f64::MIN_POSITIVE);
                assert!(found.lo <= y + unit && y - unit <= found.hi, "{k} {x}: {found:?} {y}");
                assert!(found.hi - found.lo <= 3e-14 * (1.0 + y.abs()), "{k} {x}: {found:?}");
                let wide = bounds(Bounds::new(x, (x + 0.3).min(to)));
                assert!(wide.is_undefined() || (wide.lo <= y + unit && y - unit <= wide.hi), "{k} {x}");
            }
        }
        assert_eq!(Bounds::new(1.0, 2.0).sin().hi, 1.0);
        assert_eq!(Bounds::new(-1.0, 8.0).sin(), Bounds::new(-1.0, 1.0));
        assert!(Bounds::new(-1.0, 1.0).ln().is_undefined() && Bounds::new(0.0, 2.0).asin().is_undefined());
    }

    #[test]
    fn fractions_are_surrounded() {
        let of = |a: i64, b: i64| Bounds::of(&Number::new(a.into(), b.into()));
        assert_eq!(of(-7, 8), Bounds::point(-0.875));
        assert_eq!(of(0, 3), Bounds::ZERO);
        for (a, b) in [(1, 3), (-1, 3), (1, 10), (i64::MAX, 7), (3, i64::MAX), (-3, i64::MAX)] {
            let found = of(a, b);
            let exact = |x: f64| Number::from_float(x).unwrap();
            let x = Number::new(a.into(), b.into());
            assert!(exact(found.lo) <= x && x <= exact(found.hi), "{a}/{b}");
            assert!(found.hi - found.lo <= 4.0 * f64::EPSILON * found.magnitude(), "{a}/{b}");
        }
        let tiny = Number::new(1.into(), BigInt::from(10).pow(500));
        assert!(Bounds::of(&tiny).lo == 0.0 && Bounds::of(&tiny).hi < 1e-300);
        assert!(Bounds::of(&(whole(1) / tiny)).is_undefined());
    }
}
