//! Random formulas as trees, with their text and their value by the tree itself.

use proptest::prelude::*;

/// A formula of x, y, x', y', t, with a parameter p.
#[derive(Clone, Debug)]
pub enum Ast {
    Number(u8),
    Variable(&'static str),
    Neg(Box<Ast>),
    Binary(char, Box<Ast>, Box<Ast>),
    /// A text with `A` and `B` for arguments, so built that it is smooth for all of them.
    Smooth(&'static str, Box<Ast>, Box<Ast>),
}

/// Functions inside their domains, away from kinks, and bounded where they would grow.
const SMOOTH: [&str; 18] = [
    "sin(A)",
    "cos(A)",
    "tanh(A)",
    "atan(A)",
    "tan(tanh(A)/2)",
    "exp(sin(A))",
    "ln(2 + cos(A))",
    "sqrt(1 + (A)^2)",
    "asin(0.9*sin(A))",
    "acos(cos(A)/2)",
    "sinh(tanh(A))",
    "cosh(sin(A))",
    "abs(2 + sin(A))",
    "atan2(A, 2 + cos(B))",
    "min(sin(A), 2 + sin(B))",
    "max(sin(A), 2 + sin(B))",
    "(2 + sin(A))^cos(B)",
    "(2 + sin(A))^(-1.5)/(3 - cos(B))",
];

/// Trees of the whole grammar; with `smooth`, only such that have derivatives everywhere.
pub fn ast(smooth: bool) -> impl Strategy<Value = Ast> {
    let leaf = prop_oneof![
        (0..=30u8).prop_map(Ast::Number),
        prop::sample::select(vec!["x", "y", "x'", "y'", "t", "p", "pi"]).prop_map(Ast::Variable),
    ];
    leaf.prop_recursive(5, 24, 2, move |inner| {
        let operators = if smooth { vec!['+', '-', '*'] } else { vec!['+', '-', '*', '/', '^'] };
        prop_oneof![
            1 => inner.clone().prop_map(|a| Ast::Neg(Box::new(a))),
            4 => (prop::sample::select(operators), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Ast::Binary(op, Box::new(a), Box::new(b))),
            4 => (prop::sample::select(SMOOTH.to_vec()), inner.clone(), inner)
                .prop_map(|(f, a, b)| Ast::Smooth(f, Box::new(a), Box::new(b))),
        ]
    })
}

impl Ast {
    /// The text, with brackets only where the grammar needs them: `level` is 0 in a sum, 1 in a product,
    /// 2 where a sign may stand and 3 as the base of a power.
    pub fn text(&self, level: u8) -> String {
        let (text, own) = match self {
            Ast::Number(k) => (format!("{}", f64::from(*k) / 10.0), 4),
            Ast::Variable(name) => (name.to_string(), 4),
            Ast::Neg(a) => (format!("-{}", a.text(2)), 2),
            Ast::Binary('+', a, b) => (format!("{} + {}", a.text(0), b.text(1)), 0),
            Ast::Binary('-', a, b) => (format!("{}-{}", a.text(0), b.text(1)), 0),
            Ast::Binary('^', a, b) => (format!("{}^{}", a.text(4), b.text(2)), 3),
            Ast::Binary(op, a, b) => (format!("{} {op} {}", a.text(1), b.text(2)), 1),
            Ast::Smooth(f, a, b) => {
                let filled = f.replace('A', &a.text(0)).replace('B', &b.text(0));
                (format!("({filled})"), 4)
            }
        };
        if own < level { format!("({text})") } else { text }
    }

    /// The value for variables x, y, x', y', t, p.
    pub fn value(&self, at: &[f64; 6]) -> f64 {
        match self {
            Ast::Number(k) => f64::from(*k) / 10.0,
            Ast::Variable("pi") => std::f64::consts::PI,
            Ast::Variable(name) => {
                at[["x", "y", "x'", "y'", "t", "p"].iter().position(|v| v == name).unwrap()]
            }
            Ast::Neg(a) => -a.value(at),
            Ast::Binary(op, a, b) => {
                let (a, b) = (a.value(at), b.value(at));
                match op {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a / b,
                    _ => a.powf(b),
                }
            }
            Ast::Smooth(f, a, b) => smooth_value(f, a.value(at), b.value(at)),
        }
    }
}

fn smooth_value(f: &str, a: f64, b: f64) -> f64 {
    match SMOOTH.iter().position(|s| *s == f).unwrap() {
        0 => a.sin(),
        1 => a.cos(),
        2 => a.tanh(),
        3 => a.atan(),
        4 => (a.tanh() / 2.0).tan(),
        5 => a.sin().exp(),
        6 => (2.0 + a.cos()).ln(),
        7 => (1.0 + a.powf(2.0)).sqrt(),
        8 => (0.9 * a.sin()).asin(),
        9 => (a.cos() / 2.0).acos(),
        10 => a.tanh().sinh(),
        11 => a.sin().cosh(),
        12 => (2.0 + a.sin()).abs(),
        13 => a.atan2(2.0 + b.cos()),
        // The standard library's min and max drop a NaN, formulas must not.
        14 | 15 if a.sin().is_nan() || b.sin().is_nan() => f64::NAN,
        14 => a.sin().min(2.0 + b.sin()),
        15 => a.sin().max(2.0 + b.sin()),
        16 => (2.0 + a.sin()).powf(b.cos()),
        _ => (2.0 + a.sin()).powf(-1.5) / (3.0 - b.cos()),
    }
}
