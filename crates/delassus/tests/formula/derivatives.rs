//! First and second derivatives of formulas against the complex step.

use delassus::formula::{Expression, Formula, HyperDual, Number, Point, Symbols};
use proptest::prelude::*;

use super::ast::ast;
use super::complex::{Dual, STEP, complex, take_peak};

fn symbols() -> Symbols {
    let mut symbols = Symbols::default();
    symbols.add_coordinate("x").unwrap();
    symbols.add_coordinate("y").unwrap();
    symbols.add_parameter("p", 0.7).unwrap();
    symbols
}

fn evaluate<N: Number>(f: &Expression, x: &[N; 5]) -> N {
    f.eval(&Point { q: &x[..2], v: &x[2..4], t: x[4] })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hyper_dual_is_complex_step(
        tree in ast(true),
        at in prop::array::uniform5(-2.0..2.0f64),
        one in prop::array::uniform5(-1.0..1.0f64),
        two in prop::array::uniform5(-1.0..1.0f64),
    ) {
        let f = Expression::parse(&tree.text(0), &symbols()).unwrap();
        let hyper = evaluate(&f, &std::array::from_fn(|i| HyperDual::variable(at[i], one[i], two[i])));
        take_peak();
        // One direction along the dual part, the other along the imaginary axis.
        let dual = evaluate(&f, &std::array::from_fn(|i| Dual {
            value: complex(at[i], STEP * two[i]),
            d: complex(one[i], 0.0),
        }));
        let peak = take_peak();
        prop_assume!(peak < 1e5);
        // Each of some 64 operations errs by ε·peak at most, and what follows magnifies that by a derivative,
        // at most peak.
        let tolerance = 64.0 * f64::EPSILON * peak * peak;
        prop_assert!((hyper.value - dual.value.re).abs() <= tolerance);
        prop_assert!((hyper.d1 - dual.d.re).abs() <= tolerance, "{:e} {:e}", hyper.d1, dual.d.re);
        prop_assert!((hyper.d2 - dual.value.im / STEP).abs() <= tolerance);
        prop_assert!((hyper.d12 - dual.d.im / STEP).abs() <= tolerance, "{:e} {:e}", hyper.d12, dual.d.im / STEP);
    }

    #[test]
    fn operators_with_plain_numbers(a in -3.0..3.0f64, c in 0.5..3.0f64) {
        let x = HyperDual::variable(a, 0.3, -1.7) * HyperDual::variable(a, 1.1, 0.4);
        let k = HyperDual::constant(c);
        prop_assert_eq!(x + c, x + k);
        prop_assert_eq!(x - c, x - k);
        prop_assert_eq!(x * c, x * k);
        prop_assert_eq!(x / c, x / k);
        prop_assert_eq!(c + x, k + x);
        prop_assert_eq!(c - x, k - x);
        prop_assert_eq!(c * x, k * x);
        prop_assert_eq!(c / x, k / x);
    }
}

/// f, f′, f″ of a function of x at a value.
fn derivatives(text: &str, x: f64) -> [f64; 3] {
    let f = Expression::parse(text, &symbols()).unwrap();
    let zero = HyperDual::constant(0.0);
    let y = evaluate(&f, &[HyperDual::variable(x, 1.0, 1.0), zero, zero, zero, zero]);
    assert_eq!(y.d1.to_bits(), y.d2.to_bits());
    [y.value, y.d1, y.d12]
}

#[test]
fn powers_are_exact_where_the_general_formula_fails() {
    assert_eq!(derivatives("x^3", -2.0), [-8.0, 12.0, -12.0]);
    assert_eq!(derivatives("x^2", 0.0), [0.0, 0.0, 2.0]);
    assert_eq!(derivatives("x^1", 0.0), [0.0, 1.0, 0.0]);
    assert_eq!(derivatives("x^0", 0.0), [1.0, 0.0, 0.0]);
    assert_eq!(derivatives("x^(1+2)", 0.0), [0.0, 0.0, 0.0]);
    assert_eq!(derivatives("x^-2", -2.0), [0.25, 0.25, 0.375]);
    // An exponent that is a coordinate at rest counts as a constant.
    assert_eq!(derivatives("x^(y+2)", -3.0), [9.0, -6.0, 2.0]);
}

#[test]
fn no_derivative_is_not_a_number() {
    assert!(derivatives("abs(x)", 0.0)[1].is_nan());
    assert_eq!(derivatives("abs(x)", -2.0), [2.0, -1.0, 0.0]);
    assert_eq!(derivatives("abs(x^3)", 0.0), [0.0, 0.0, 0.0]);
    assert!(derivatives("min(x, 2*x)", 0.0)[1].is_nan());
    assert_eq!(derivatives("max(x, 2*x)", 1.0), [2.0, 2.0, 0.0]);
    assert!(!derivatives("sqrt(x)", 0.0)[1].is_finite());
    assert!(derivatives("sqrt(x^2)", 0.0)[1].is_nan());
    assert!(derivatives("atan2(x, x)", 0.0)[1].is_nan());
    assert!(derivatives("min(sqrt(x), 1)", -1.0)[0].is_nan());
    assert!(derivatives("max(1, sqrt(x))", -1.0)[0].is_nan());
}
