//! The grammar: precedence, numbers, units, limits and messages.

use delassus::formula::{
    Expression, ExpressionError, ExpressionErrorKind, Formula, NameError, Point, Symbols, constant,
};
use proptest::prelude::*;

use super::ast::ast;

fn symbols() -> Symbols {
    let mut symbols = Symbols::default();
    for name in ["x", "y"] {
        symbols.add_coordinate(name).unwrap();
    }
    symbols.add_parameter("p", 0.7).unwrap();
    symbols
}

fn value(text: &str) -> f64 {
    let f = Expression::parse(text, &symbols()).unwrap_or_else(|e| panic!("{text}: {e}"));
    f.eval(&Point { q: &[3.0, -2.0], v: &[5.0, 7.0], t: 11.0 })
}

fn error(text: &str) -> ExpressionError {
    Expression::parse(text, &symbols()).expect_err(text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is printed with as few brackets as the grammar allows is read as the tree it came from.
    #[test]
    fn text_means_its_tree(tree in ast(false), at in prop::array::uniform5(-2.0..2.0f64)) {
        let text = tree.text(0);
        let expected = tree.value(&[at[0], at[1], at[2], at[3], at[4], 0.7]);
        match Expression::parse(&text, &symbols()) {
            Ok(f) => {
                let found = f.eval(&Point { q: &at[..2], v: &at[2..4], t: at[4] });
                prop_assert_eq!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), true,
                    "{} gave {} not {}", text, found, expected);
            }
            // Constant parts that are not finite are refused when read.
            Err(e) => prop_assert!(matches!(e.kind, ExpressionErrorKind::NotFinite { .. }), "{}: {}", text, e),
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = Expression::parse(&text, &symbols());
        let _ = constant(&text, &symbols());
    }

    #[test]
    fn no_nearly_right_text_panics(text in "[-+*/^(),.' 0-9xyptiesncodrg]{0,40}") {
        let errors = [Expression::parse(&text, &symbols()).err(), constant(&text, &symbols()).err()];
        for e in errors.into_iter().flatten() {
            prop_assert!(text.get(e.span.clone()).is_some(), "{:?} in {:?}", e, text);
            prop_assert!(!e.kind.help().is_empty());
        }
    }
}

#[test]
fn precedence() {
    assert_eq!(value("-x^2"), -9.0);
    assert_eq!(value("2^3^2"), 512.0);
    assert_eq!(value("2^-1"), 0.5);
    assert_eq!(value("2*-x"), -6.0);
    assert_eq!(value("8/4/2"), 1.0);
    assert_eq!(value("8-4-2"), 2.0);
    assert_eq!(value("--x"), 3.0);
    assert_eq!(value("-2^2"), -4.0);
    assert_eq!(value("(-2)^3"), -8.0);
    assert_eq!(value("y^3"), -8.0);
    assert_eq!(value("x'*y' + t"), 46.0);
    assert_eq!(value(" ( x\n+ y ) "), 1.0);
}

#[test]
fn numbers_and_functions() {
    assert_eq!(value("1 + .5 + 2. + 1e-3 + 1E+2 + 3e1"), 1.0 + 0.5 + 2.0 + 1e-3 + 1e2 + 30.0);
    assert_eq!(value("1e-400"), 0.0);
    assert_eq!(value("atan2(1, -1)"), 0.75 * std::f64::consts::PI);
    assert_eq!(value("min(x, y) + max (x, y)"), 1.0);
    assert_eq!(value("pi"), std::f64::consts::PI);
    assert_eq!(value("p"), 0.7);
}

#[test]
fn units_stand_behind_constants() {
    let c = |text| constant(text, &symbols());
    assert_eq!(c("45 deg").unwrap(), 45.0 * (std::f64::consts::PI / 180.0));
    assert_eq!(c("-2*p rad").unwrap(), -1.4);
    assert_eq!(c("60rpm").unwrap(), 60.0 * (2.0 * std::f64::consts::PI / 60.0));
    assert_eq!(c("1/3").unwrap(), 1.0 / 3.0);
    assert_eq!(c("45 degs").unwrap_err().span, 3..7);
    assert!(matches!(c("x + 1").unwrap_err().kind, ExpressionErrorKind::NotAConstant { .. }));
    assert!(matches!(c("t").unwrap_err().kind, ExpressionErrorKind::NotAConstant { .. }));
    assert!(matches!(error("45 deg").kind, ExpressionErrorKind::UnitInFormula { .. }));
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("x + yy", 4..6, "unknown symbol `yy`", "did you mean `y`?"),
        ("P*x", 0..1, "unknown symbol `P`", "did you mean `p`?"),
        ("x + zeta", 4..8, "unknown symbol `zeta`", "a coordinate (x, y), a parameter or a function"),
        ("sine(x)", 0..4, "unknown function `sine`", "did you mean `sin`?"),
        ("p(x+1)", 0..1, "`p` is not a function", "write `*`"),
        ("sin x", 4..5, "unexpected `x`", "`(` and the argument of `sin`"),
        ("sin()", 0..5, "`sin` takes 1 argument, found 0", "one argument"),
        ("atan2(x)", 0..8, "`atan2` takes 2 arguments, found 1", "two arguments"),
        ("x + (y", 6..6, "unexpected end of the expression", "an operator or `)`"),
        ("x)", 1..2, "unexpected `)`", "an operator or the end"),
        ("", 0..0, "unexpected end of the expression", "a number, a name or `(`"),
        ("x +* y", 3..4, "unexpected `*`", "a number, a name or `(`"),
        ("x**2", 2..3, "unexpected `*`", "write `^` for a power"),
        ("2 x", 2..3, "unexpected `x`", "write `*` for a product"),
        ("p'", 0..2, "`p` has no velocity", "a coordinate before the prime"),
        ("t'", 0..2, "`t` has no velocity", "a coordinate before the prime"),
        ("x''", 2..3, "unexpected `'`", "an operator or the end"),
        ("1e999*x", 0..5, "number `1e999` is too large", "a number below"),
        ("x + 10^1000", 4..11, "this constant is infinite", "a finite number"),
        ("x*sqrt(1-2)", 2..11, "this constant is not a number", "a finite number"),
        (".", 0..1, "unexpected `.`", "a number, a name or `(`"),
        ("x ? y", 2..3, "unexpected `?`", "an operator or the end"),
    ];
    for (text, span, message, help) in cases {
        let e = error(text);
        assert_eq!(e.span, span, "{text}: {e}");
        assert_eq!(e.to_string(), message, "{text}");
        assert!(e.kind.help().contains(help), "{text}: {}", e.kind.help());
    }
}

#[test]
fn limits_hold() {
    assert_eq!(error(&"(".repeat(1_000_000)).kind, ExpressionErrorKind::TooDeep);
    assert_eq!(error(&"2^".repeat(400_000)).kind, ExpressionErrorKind::TooDeep);
    assert_eq!(error(&"sin(".repeat(1000)).kind, ExpressionErrorKind::TooDeep);
    assert_eq!(error(&"x+".repeat(400_000)).kind, ExpressionErrorKind::TooManyOperations);
    assert!(matches!(error(&"(".repeat(10_000_000)).kind, ExpressionErrorKind::TooLong { .. }));
    let long = "-".repeat(999_998) + "x";
    assert_eq!(value(&long), 3.0);
    let deep = "(".repeat(150) + "x" + &")".repeat(150);
    assert_eq!(value(&deep), 3.0);
    let names = error(&"z".repeat(900_000));
    assert!(names.to_string().chars().count() < 100);
}

#[test]
fn names_are_their_own() {
    let mut symbols = symbols();
    let name = |s: &str| s.to_string();
    assert_eq!(symbols.add_coordinate("t"), Err(NameError::Reserved { name: name("t") }));
    assert_eq!(symbols.add_parameter("sin", 1.0), Err(NameError::Reserved { name: name("sin") }));
    assert_eq!(symbols.add_parameter("x", 1.0), Err(NameError::IsACoordinate { name: name("x") }));
    assert_eq!(symbols.add_coordinate("p"), Err(NameError::IsAParameter { name: name("p") }));
    assert_eq!(symbols.add_coordinate("2a"), Err(NameError::NotAnIdentifier { name: name("2a") }));
    assert_eq!(symbols.add_coordinate(""), Err(NameError::NotAnIdentifier { name: name("") }));
    assert_eq!(symbols.add_coordinate("θ_1"), Ok(()));
}
