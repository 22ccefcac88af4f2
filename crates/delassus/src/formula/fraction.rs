//! Formulas over fractions: values without rounding, where they are rational.
//!
//! ```text
//! sin 0 = 0 ,   cos 0 = 1 ,   √(9/25) = 3/5 ,   sin 1 undefined
//! ```
//!
//! Functions have a value only where it is rational for a reason: at zero, at squares, at points where they
//! are ±1. What is undefined stays undefined through all that follows.

use delassus_solve::linalg::Fraction;

use super::hyper_dual::{HyperDual, Scalar};
use super::number::{Constant, Number};

/// A fraction with exact derivatives.
pub type FractionDual = HyperDual<Fraction>;

impl FractionDual {
    /// No value and no derivatives.
    pub const UNDEFINED: FractionDual = HyperDual {
        value: Fraction::UNDEFINED,
        d1: Fraction::UNDEFINED,
        d2: Fraction::UNDEFINED,
        d12: Fraction::UNDEFINED,
    };
}

/// `at_zero` for x = 0, undefined elsewhere.
fn at_zero(x: Fraction, at_zero: Fraction) -> Fraction {
    if x.is_zero() { at_zero } else { Fraction::UNDEFINED }
}

impl Number for Fraction {
    fn from_f64(c: f64) -> Self {
        Fraction::of_short(c)
    }
    fn from_constant(c: Constant) -> Self {
        c.exact
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
    fn sin(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn cos(self) -> Self {
        at_zero(self, Fraction::ONE)
    }
    fn tan(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn asin(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn acos(self) -> Self {
        at_zero(self - Fraction::ONE, Fraction::ZERO)
    }
    fn atan(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn atan2(self, x: Self) -> Self {
        if x.sign() == Some(1) { at_zero(self, Fraction::ZERO) } else { Fraction::UNDEFINED }
    }
    fn sinh(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn cosh(self) -> Self {
        at_zero(self, Fraction::ONE)
    }
    fn tanh(self) -> Self {
        at_zero(self, Fraction::ZERO)
    }
    fn exp(self) -> Self {
        at_zero(self, Fraction::ONE)
    }
    fn ln(self) -> Self {
        at_zero(self - Fraction::ONE, Fraction::ZERO)
    }
    fn sqrt(self) -> Self {
        self.root()
    }
    fn abs(self) -> Self {
        if self.sign() == Some(-1) { -self } else { self }
    }
    fn min(self, other: Self) -> Self {
        match (self - other).sign() {
            None => Fraction::UNDEFINED,
            Some(1) => other,
            Some(_) => self,
        }
    }
    fn max(self, other: Self) -> Self {
        -(-self).min(-other)
    }
    fn powf(self, exponent: f64) -> Self {
        self.pow(Fraction::of_short(exponent))
    }
    fn pow(self, exponent: Self) -> Self {
        exponent.whole().map_or(Fraction::UNDEFINED, |n| self.power(n))
    }
}

impl Scalar for Fraction {
    fn squared(self) -> Self {
        self * self
    }
    fn times_power(self, g: Self, n: u32) -> Self {
        i32::try_from(n).map_or(Fraction::UNDEFINED, |n| self * g.power(n))
    }
    fn single(self) -> Option<f64> {
        // An exponent counts as a constant only where no rounding made it one.
        self.whole().map(f64::from)
    }
    fn power_rule(self, exponent: f64) -> [Self; 3] {
        let Some(n) = Fraction::of_short(exponent).whole() else { return [Fraction::UNDEFINED; 3] };
        // A vanishing coefficient makes the term zero also where the power itself has no value (x = 0).
        let term = |coefficient: i32, power: i32| {
            let coefficient = Fraction::new(i128::from(coefficient), 1);
            if coefficient.is_zero() { coefficient } else { coefficient * self.power(power) }
        };
        let second = n.checked_mul(n.saturating_sub(1));
        let second = second.map_or(Fraction::UNDEFINED, |c| term(c, n.saturating_sub(2)));
        [self.power(n), term(n, n.saturating_sub(1)), second]
    }
    fn general_power(self, _: Self) -> Self {
        Fraction::UNDEFINED
    }
    fn dual_abs(x: FractionDual) -> FractionDual {
        match x.value.sign() {
            Some(1) => x,
            Some(-1) => -x,
            // A kink, or nothing at all.
            _ => FractionDual { value: x.value, ..FractionDual::UNDEFINED },
        }
    }
    fn dual_min(x: FractionDual, y: FractionDual) -> FractionDual {
        match (x.value - y.value).sign() {
            Some(1) => y,
            Some(-1) => x,
            Some(_) if x == y => x,
            _ => FractionDual { value: x.value.min(y.value), ..FractionDual::UNDEFINED },
        }
    }
    fn dual_max(x: FractionDual, y: FractionDual) -> FractionDual {
        -Fraction::dual_min(-x, -y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Expression, Formula, Point, Symbols};

    fn parse(text: &str) -> Expression {
        let mut symbols = Symbols::default();
        symbols.add_coordinate("x").unwrap();
        Expression::parse(text, &symbols).unwrap()
    }

    #[test]
    fn formulas_are_evaluated_as_they_are_written() {
        let at = |text: &str, n: i128, d: i128| {
            let x = FractionDual::variable(Fraction::new(n, d), Fraction::ONE, Fraction::ONE);
            let zero = FractionDual::constant(Fraction::ZERO);
            parse(text).eval(&Point { q: &[x], v: &[zero], t: zero })
        };
        // d/dx (x²/3 + x/10) = 2x/3 + 1/10, d² = 2/3.
        let found = at("x^2/3 + 0.1*x", 1, 2);
        assert_eq!(found.value, Fraction::new(2, 15));
        assert_eq!((found.d1, found.d12), (Fraction::new(13, 30), Fraction::new(2, 3)));
        // A folded constant is folded in fractions too.
        assert_eq!(at("(1/3 - 0.1*10/3)*x", 1, 1).d1, Fraction::ZERO);
        assert_eq!(at("(1 + 1e-17)*x", 1, 1).d1, Fraction::ONE + Fraction::decimal("1e-17"));
        // sin x at zero has value, slope and curvature; elsewhere nothing.
        let sine = at("sin(x)", 0, 1);
        assert_eq!((sine.value, sine.d1, sine.d12), (Fraction::ZERO, Fraction::ONE, Fraction::ZERO));
        assert!(!at("sin(x)", 1, 1).d1.is_defined() && !at("x*pi", 0, 1).d1.is_defined());
        // √x at 9/25: 3/5 and 1/(2·3/5).
        assert_eq!(at("sqrt(x)", 9, 25).d1, Fraction::new(5, 6));
        // A kink has no derivative; an exponent that only rounding made whole is none.
        assert!(!at("abs(x)", 0, 1).d1.is_defined());
        assert!(!at("x^(2 + 1e-17)", 2, 1).value.is_defined());
        assert_eq!(at("x^-2", 2, 1).d1, Fraction::new(-1, 4));
        assert!(!at("x^0.1", 2, 1).value.is_defined());
    }

    #[test]
    fn fractions_agree_with_doubles() {
        let texts = ["x^3 - 2*x/7 + 1/x", "(x + 0.3)^2/(1 - x)", "max(x, 0.2)*min(x, 3) - abs(x - 4)"];
        for text in texts {
            let formula = parse(text);
            let x = FractionDual::variable(Fraction::new(3, 8), Fraction::ONE, Fraction::new(2, 1));
            let zero = FractionDual::constant(Fraction::ZERO);
            let exact = formula.eval(&Point { q: &[x], v: &[zero], t: zero });
            let x = HyperDual::variable(0.375, 1.0, 2.0);
            let zero = HyperDual::constant(0.0);
            let rounded = formula.eval(&Point { q: &[x], v: &[zero], t: zero });
            let pairs = [(exact.value, rounded.value), (exact.d1, rounded.d1), (exact.d12, rounded.d12)];
            for (exact, rounded) in pairs {
                assert!((exact.to_f64() - rounded).abs() <= 1e-14 * (1.0 + rounded.abs()), "{text}");
            }
        }
    }
}
