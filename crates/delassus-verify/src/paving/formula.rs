//! Formulas in postfix order, with their first and mixed second derivatives in two directions.
//!
//! ```text
//! x ↦ f(x),   ∂f/∂a,   ∂f/∂b,   ∂²f/∂a∂b          for all x within bounds
//! ```

use serde_json::Value;
use std::ops::{Add, Mul, Neg};

use super::bounds::Bounds;
use crate::document::list;
use crate::fault::Fault;
use crate::number::Interval;

/// Exponents up to here are products.
const MAX_POWER: f64 = 64.0;

/// A value and its derivatives in two directions.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    pub value: Bounds,
    pub a: Bounds,
    pub b: Bounds,
    pub ab: Bounds,
}

impl Dual {
    /// Without derivatives.
    pub fn constant(value: Bounds) -> Self {
        Dual { value, a: Bounds::ZERO, b: Bounds::ZERO, ab: Bounds::ZERO }
    }

    fn is_constant(&self) -> bool {
        [self.a, self.b, self.ab].iter().all(|d| *d == Bounds::ZERO)
    }

    /// f(x), with f, f′ and f″ at x.
    fn chain(&self, [f, first, second]: [Bounds; 3]) -> Self {
        if self.is_constant() {
            return Dual::constant(f);
        }
        Dual {
            value: f,
            a: first * self.a,
            b: first * self.b,
            ab: first * self.ab + second * self.a * self.b,
        }
    }

    fn reciprocal(&self) -> Self {
        let f = Bounds::ONE / self.value;
        self.chain([f, -f.square(), f.power(3) * 2.0])
    }

    fn power(self, exponent: Dual) -> Self {
        let (x, c) = (self.value, exponent.value.lo);
        if !exponent.is_constant() || exponent.value.has_width() {
            let ln = self.unary("ln").unwrap_or(self);
            let product = exponent * ln;
            return product.unary("exp").unwrap_or(product);
        }
        let raised = |e: f64| {
            if e == e.trunc() && e.abs() <= MAX_POWER {
                let size = x.power(e.abs() as u32);
                if e < 0.0 { Bounds::ONE / size } else { size }
            } else if e == 0.5 {
                x.sqrt()
            } else if x.lo > 0.0 {
                (x.ln() * e).exp()
            } else {
                Bounds::UNDEFINED
            }
        };
        let times = |factor: Bounds, e: f64| {
            if factor == Bounds::ZERO { Bounds::ZERO } else { factor * raised(e) }
        };
        let first = Bounds::point(c);
        let second = if c == 1.0 { Bounds::ZERO } else { first * (first + Bounds::point(-1.0)) };
        self.chain([raised(c), times(first, c - 1.0), times(second, c - 2.0)])
    }

    /// A function by its name; `None` where there is no such function of one number.
    fn unary(self, name: &str) -> Option<Self> {
        let x = self.value;
        let one = Bounds::ONE;
        Some(match name {
            "sin" => self.chain([x.sin(), x.cos(), -x.sin()]),
            "cos" => self.chain([x.cos(), -x.sin(), -x.cos()]),
            "tan" => {
                // It increases between two zeros of the cosine.
                let at = |x: f64| Bounds::point(x).sin() / Bounds::point(x).cos();
                let t = if x.cos().contains_zero() { Bounds::UNDEFINED } else { at(x.lo).hull(at(x.hi)) };
                let slope = one + t.square();
                self.chain([t, slope, t * slope * 2.0])
            }
            "asin" | "acos" => {
                let rest = one - x.square();
                let (first, second) = (one / rest.sqrt(), x / (rest * rest.sqrt()));
                if name == "asin" {
                    self.chain([x.asin(), first, second])
                } else {
                    self.chain([x.acos(), -first, -second])
                }
            }
            "atan" => {
                let slope = one / (one + x.square());
                self.chain([x.atan(), slope, x * slope.square() * -2.0])
            }
            "sinh" => self.chain([x.sinh(), x.cosh(), x.sinh()]),
            "cosh" => self.chain([x.cosh(), x.sinh(), x.cosh()]),
            "tanh" => {
                let (t, slope) = (x.tanh(), one - x.tanh().square());
                self.chain([t, slope, t * slope * -2.0])
            }
            "exp" => self.chain([x.exp(), x.exp(), x.exp()]),
            "ln" => self.chain([x.ln(), one / x, -(one / x.square())]),
            "sqrt" => {
                let root = x.sqrt();
                self.chain([root, one / (root * 2.0), -(one / (root * x * 4.0))])
            }
            "abs" if x.lo > 0.0 => self,
            "abs" if x.hi < 0.0 => -self,
            "abs" => self.chain([x.abs(), Bounds::UNDEFINED, Bounds::UNDEFINED]),
            _ => return None,
        })
    }

    /// An operation or a function of two numbers by its name.
    fn binary(self, y: Dual, name: &str) -> Option<Self> {
        Some(match name {
            "+" => self + y,
            "-" => self + -y,
            "*" => self * y,
            "/" if y.is_constant() => {
                let over = |x: Bounds| x / y.value;
                Dual { value: over(self.value), a: over(self.a), b: over(self.b), ab: over(self.ab) }
            }
            "/" => Dual { value: self.value / y.value, ..self * y.reciprocal() },
            "^" => self.power(y),
            "atan2" => angle(self, y),
            "min" => lesser(self, y),
            "max" => -lesser(-self, -y),
            _ => return None,
        })
    }
}

fn lesser(x: Dual, y: Dual) -> Dual {
    if x.value.hi < y.value.lo {
        x
    } else if y.value.hi < x.value.lo {
        y
    } else {
        let none = if x.is_constant() && y.is_constant() { Bounds::ZERO } else { Bounds::UNDEFINED };
        Dual { value: x.value.min(y.value), a: none, b: none, ab: none }
    }
}

/// The angle of the point (x, y).
fn angle(y: Dual, x: Dual) -> Dual {
    let size = x.value.square() + y.value.square();
    let turn = |dx: Bounds, dy: Bounds| x.value * dy - y.value * dx;
    let away = |dx: Bounds, dy: Bounds| (x.value * dx + y.value * dy) * 2.0;
    let mixed = x.b * y.a - y.b * x.a + turn(x.ab, y.ab);
    Dual {
        value: y.value.atan2(x.value),
        a: turn(x.a, y.a) / size,
        b: turn(x.b, y.b) / size,
        ab: mixed / size - turn(x.a, y.a) * away(x.b, y.b) / size.square(),
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, y: Dual) -> Dual {
        Dual { value: self.value + y.value, a: self.a + y.a, b: self.b + y.b, ab: self.ab + y.ab }
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual { value: -self.value, a: -self.a, b: -self.b, ab: -self.ab }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, y: Dual) -> Dual {
        Dual {
            value: self.value * y.value,
            a: self.a * y.value + self.value * y.a,
            b: self.b * y.value + self.value * y.b,
            ab: self.ab * y.value + self.a * y.b + self.b * y.a + self.value * y.ab,
        }
    }
}

/// One step of a formula.
#[derive(Clone, Debug)]
enum Step {
    Number(Bounds),
    /// A place in the list of values.
    Name(usize),
    Operation(String),
}

/// A formula in postfix order.
#[derive(Clone, Debug)]
pub struct Formula(Vec<Step>);

const OPERATIONS: [&str; 8] = ["+", "-", "*", "/", "^", "atan2", "min", "max"];
const FUNCTIONS: [&str; 13] =
    ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "ln", "sqrt", "abs"];

impl Formula {
    /// A formula of these names.
    pub fn read(value: &Value, names: &[String]) -> Result<Self, Fault> {
        let step = |value: &Value| match value.as_str() {
            Some(text) if OPERATIONS.contains(&text) || FUNCTIONS.contains(&text) => {
                Ok(Step::Operation(text.to_owned()))
            }
            Some(text) => match names.iter().position(|name| name == text) {
                Some(place) => Ok(Step::Name(place)),
                None if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                    Ok(Step::Number(Bounds::around(&Interval::read(value)?)))
                }
                None => {
                    Err(Fault::Form(format!("expected a number, a name or an operation, found \"{text}\"")))
                }
            },
            None => Ok(Step::Number(Bounds::around(&Interval::read(value)?))),
        };
        let steps = list(value, step)?;
        let mut height = 0_usize;
        for step in &steps {
            let taken = match step {
                Step::Operation(name) if OPERATIONS.contains(&name.as_str()) => 2,
                Step::Operation(_) => 1,
                _ => 0,
            };
            let left = height.checked_sub(taken).ok_or_else(unbalanced)?;
            height = left + 1;
        }
        if height == 1 { Ok(Formula(steps)) } else { Err(unbalanced()) }
    }

    /// Places of the names in it.
    pub fn names(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|step| if let Step::Name(place) = step { Some(*place) } else { None })
    }

    /// The value, and its derivatives in the directions of these values.
    pub fn at(&self, values: &[Dual]) -> Dual {
        let undefined = Dual::constant(Bounds::UNDEFINED);
        let mut stack: Vec<Dual> = Vec::new();
        for step in &self.0 {
            let result = match step {
                Step::Number(x) => Dual::constant(*x),
                Step::Name(place) => values.get(*place).copied().unwrap_or(undefined),
                Step::Operation(name) => {
                    let last = stack.pop().unwrap_or(undefined);
                    match last.unary(name) {
                        Some(found) => found,
                        None => stack.pop().and_then(|x| x.binary(last, name)).unwrap_or(undefined),
                    }
                }
            };
            stack.push(result);
        }
        stack.pop().unwrap_or(undefined)
    }
}

fn unbalanced() -> Fault {
    Fault::Form("expected a formula in postfix order that leaves one number".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Derivatives of each function against differences.
    #[test]
    fn derivatives_agree_with_differences() {
        let names: Vec<String> = ["x", "y"].map(String::from).to_vec();
        let formulas = [
            json!(["x", "y", "*", "sin", "x", "cos", "+"]),
            json!(["x", "tan", "y", "tanh", "*"]),
            json!(["x", "3", "/", "asin", "y", "5", "/", "acos", "/"]),
            json!(["x", "y", "/", "atan", "x", "sqrt", "-"]),
            json!(["x", "sinh", "y", "cosh", "*", "x", "y", "+", "ln", "exp", "*"]),
            json!(["x", "y", "atan2", "x", "-3", "^", "*"]),
            json!(["x", "y", "^", "x", "abs", "y", "2", "^", "min", "+"]),
            json!(["x", "5/2", "^", "y", "1/2", "^", "*", "x", "y", "max", "-"]),
        ];
        let (x, y) = (0.7, 1.3);
        for formula in formulas {
            let f = Formula::read(&formula, &names).unwrap();
            let value = |x: f64, y: f64| {
                let found = f.at(&[x, y].map(|x| Dual::constant(Bounds::point(x)))).value;
                assert!(found.hi - found.lo < 1e-12, "{formula} {found:?}");
                found.middle()
            };
            let h = 1e-4;
            let dual = |value: f64, a: f64, b: f64| Dual {
                value: Bounds::point(value),
                a: Bounds::point(a),
                b: Bounds::point(b),
                ab: Bounds::ZERO,
            };
            let found = f.at(&[dual(x, 1.0, 0.0), dual(y, 0.0, 1.0)]);
            let near = |bounds: Bounds, z: f64| (bounds.middle() - z).abs() < 1e-6 * (1.0 + z.abs());
            assert!(near(found.a, (value(x + h, y) - value(x - h, y)) / (2.0 * h)), "{formula} {found:?}");
            assert!(near(found.b, (value(x, y + h) - value(x, y - h)) / (2.0 * h)), "{formula} {found:?}");
            let mixed = (value(x + h, y + h) - value(x + h, y - h) - value(x - h, y + h)
                + value(x - h, y - h))
                / (4.0 * h * h);
            assert!(near(found.ab, mixed), "{formula} {found:?} {mixed}");
            // Twice the same direction.
            let second = f.at(&[dual(x, 1.0, 1.0), dual(y, 0.0, 0.0)]).ab;
            let curve = (value(x + h, y) - 2.0 * value(x, y) + value(x - h, y)) / (h * h);
            assert!(
                (second.middle() - curve).abs() < 1e-5 * (1.0 + curve.abs()),
                "{formula} {second:?} {curve}"
            );
        }
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        let names = ["x".to_string()];
        for bad in [json!([]), json!(["x", "x"]), json!(["+"]), json!(["x", "y", "+"]), json!(["x", "log"])] {
            assert!(Formula::read(&bad, &names).is_err(), "{bad}");
        }
    }
}
