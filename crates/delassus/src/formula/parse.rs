//! The parser of expressions: recursive descent straight onto the postfix tape, with constants folded.
//!
//! The grammar stands in [`expression`](crate::formula::expression). Depth, length and number of operations
//! are bounded, so that no text can exhaust the stack or the memory.

use std::f64::consts::PI;
use std::ops::Range;

use super::expression::{
    Dimension, Expression, ExpressionError, ExpressionErrorKind, FUNCTIONS, Function, MAX_DEPTH, MAX_LENGTH,
    MAX_OPERATIONS, Op, Symbol, Symbols, continues_name, starts_name,
};
use super::number::Constant;
use super::suggest::{clip, nearest};
use delassus_solve::linalg::{Fraction, Interval};

/// Units behind a constant, with their factors to SI and their dimensions.
const UNITS: [(&str, f64, Dimension); 22] = [
    ("deg", PI / 180.0, Dimension([0, 0, 0])),
    ("rad", 1.0, Dimension([0, 0, 0])),
    ("rev", 2.0 * PI, Dimension([0, 0, 0])),
    ("rpm", 2.0 * PI / 60.0, Dimension([0, 0, -1])),
    ("m", 1.0, Dimension([1, 0, 0])),
    ("mm", 1e-3, Dimension([1, 0, 0])),
    ("cm", 1e-2, Dimension([1, 0, 0])),
    ("km", 1e3, Dimension([1, 0, 0])),
    ("s", 1.0, Dimension([0, 0, 1])),
    ("ms", 1e-3, Dimension([0, 0, 1])),
    ("min", 60.0, Dimension([0, 0, 1])),
    ("h", 3600.0, Dimension([0, 0, 1])),
    ("kg", 1.0, Dimension([0, 1, 0])),
    ("g", 1e-3, Dimension([0, 1, 0])),
    ("N", 1.0, Dimension([1, 1, -2])),
    ("kN", 1e3, Dimension([1, 1, -2])),
    ("Nm", 1.0, Dimension([2, 1, -2])),
    ("J", 1.0, Dimension([2, 1, -2])),
    ("Pa", 1.0, Dimension([-1, 1, -2])),
    ("kPa", 1e3, Dimension([-1, 1, -2])),
    ("MPa", 1e6, Dimension([-1, 1, -2])),
    ("GPa", 1e9, Dimension([-1, 1, -2])),
];

/// How many coordinates a message names.
const NAMED_COORDINATES: usize = 8;

const OPERAND: &str = "a number, a name or `(`";

type Result<T> = std::result::Result<T, ExpressionError>;

impl Expression {
    /// Parses a formula of coordinates, velocities, time and parameters.
    pub fn parse(text: &str, symbols: &Symbols) -> Result<Self> {
        Ok(Expression::from_tape(formula(text, symbols)?))
    }

    /// Parses an expression of parameters and variables, with a unit behind it or without: `45 deg`, `2*p`.
    pub fn parse_parametric(text: &str, symbols: &Symbols) -> Result<Self> {
        Ok(Expression::from_tape(parametric(text, symbols)?))
    }
}

/// Parses a formula to its tape.
fn formula(text: &str, symbols: &Symbols) -> Result<Vec<Op>> {
    let mut parser = Parser::new(text, symbols, false)?;
    parser.sum()?;
    parser.finish()?;
    Ok(parser.tape)
}

/// Evaluates an expression of parameters: a number, an expression, or either with a unit behind it: `45 deg`,
/// `60 rpm` (in radians per second), `3 mm`, `7.8 g/cm^3`. The value is in SI units.
pub fn constant(text: &str, symbols: &Symbols) -> Result<f64> {
    match parametric(text, symbols)?[..] {
        [Op::Constant(c)] => Ok(c.value),
        _ => error(0..text.len(), ExpressionErrorKind::NotAConstant { name: clip(text) }),
    }
}

/// The dimension of the unit behind a constant; `None` where there is no unit, or no constant.
pub fn unit_dimension(text: &str, symbols: &Symbols) -> Option<Dimension> {
    let mut parser = Parser::new(text, symbols, true).ok()?;
    parser.sum().ok()?;
    let (_, dimension) = parser.unit()?;
    parser.finish().ok()?;
    Some(dimension)
}

/// Parses an expression of parameters and variables, with a unit or without; one constant where there are no
/// variables.
fn parametric(text: &str, symbols: &Symbols) -> Result<Vec<Op>> {
    let mut parser = Parser::new(text, symbols, true)?;
    parser.sum()?;
    if let Some((factor, _)) = parser.unit() {
        parser.emit(Op::Constant(factor), 0..text.len())?;
        parser.emit(Op::Mul, 0..text.len())?;
    }
    parser.finish()?;
    Ok(parser.tape)
}

fn error<T>(span: Range<usize>, kind: ExpressionErrorKind) -> Result<T> {
    Err(ExpressionError { span, kind })
}

struct Parser<'a> {
    text: &'a str,
    symbols: &'a Symbols,
    /// Whether only parameters and variables may stand here.
    constant: bool,
    /// The next byte to read.
    position: usize,
    /// Behind the last sign that was read, before any space.
    end: usize,
    depth: usize,
    tape: Vec<Op>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, symbols: &'a Symbols, constant: bool) -> Result<Self> {
        if text.len() > MAX_LENGTH {
            return error(0..text.len(), ExpressionErrorKind::TooLong { bytes: text.len() });
        }
        Ok(Parser { text, symbols, constant, position: 0, end: 0, depth: 0, tape: Vec::new() })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.position = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Reads the next character if it is this one.
    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(sign);
        if found {
            self.advance(sign.len_utf8());
        }
        found
    }

    fn advance(&mut self, bytes: usize) {
        self.position += bytes;
        self.end = self.position;
    }

    /// Reads the name that stands here, if one does.
    fn name(&mut self) -> Option<&'a str> {
        if !self.peek().is_some_and(starts_name) {
            return None;
        }
        let rest = self.rest();
        let name = &rest[..rest.find(|c| !continues_name(c)).unwrap_or(rest.len())];
        self.advance(name.len());
        Some(name)
    }

    /// The token that stands here does not fit.
    fn unexpected<T>(&mut self, expected: &str) -> Result<T> {
        let next = self.peek();
        let start = self.position;
        let (found, length) = match next {
            None => ("end of the expression".to_string(), 0),
            Some(_) if self.name().is_some() => {
                let name = &self.text[start..self.position];
                (format!("`{}`", clip(name)), name.len())
            }
            Some(c) if c.is_control() => (format!("`{}`", c.escape_debug()), c.len_utf8()),
            Some(c) => (format!("`{c}`"), c.len_utf8()),
        };
        error(
            start..start + length,
            ExpressionErrorKind::Unexpected { found, expected: expected.to_string() },
        )
    }

    /// Puts an operation on the tape; if its operands are constants, puts its value instead.
    fn emit(&mut self, op: Op, span: Range<usize>) -> Result<()> {
        let folded = match (op.operands(), &self.tape[..]) {
            (1, [.., Op::Constant(x)]) => {
                Some(Constant::computed(op.unary(x.value), op.unary(x.exact), op.unary(x.bounds)))
            }
            (2, [.., Op::Constant(x), Op::Constant(y)]) => Some(Constant::computed(
                op.binary(x.value, y.value),
                op.binary(x.exact, y.exact),
                op.binary(x.bounds, y.bounds),
            )),
            _ => None,
        };
        if let Some(constant) = folded {
            if !constant.value.is_finite() {
                let value = if constant.value.is_nan() { "not a number" } else { "infinite" };
                return error(span, ExpressionErrorKind::NotFinite { value });
            }
            self.tape.truncate(self.tape.len() - op.operands());
            self.tape.push(Op::Constant(constant));
            return Ok(());
        }
        // A known exponent is kept apart, so that x^3 is x³ for negative x too; but not one that was rounded,
        // which fractions and intervals must see as it was written.
        if let (Op::Pow, Some(&Op::Constant(Constant { value, exact, .. }))) = (op, self.tape.last())
            && exact.is_defined()
            && exact == Fraction::of_short(value)
        {
            self.tape.pop();
            self.tape.push(Op::PowConstant(value));
            return Ok(());
        }
        if self.tape.len() >= MAX_OPERATIONS {
            return error(span, ExpressionErrorKind::TooManyOperations);
        }
        self.tape.push(op);
        Ok(())
    }

    /// Where the next operand begins.
    fn start(&mut self) -> usize {
        self.peek();
        self.position
    }

    fn sum(&mut self) -> Result<()> {
        let start = self.start();
        self.product()?;
        loop {
            let op = match self.peek() {
                Some('+') => Op::Add,
                Some('-') => Op::Sub,
                _ => return Ok(()),
            };
            self.advance(1);
            self.product()?;
            self.emit(op, start..self.end)?;
        }
    }

    fn product(&mut self) -> Result<()> {
        let start = self.start();
        self.signed()?;
        loop {
            let op = match self.peek() {
                Some('*') => Op::Mul,
                Some('/') => Op::Div,
                _ => return Ok(()),
            };
            self.advance(1);
            if op == Op::Mul && self.rest().starts_with('*') {
                return self.unexpected("a factor; write `^` for a power");
            }
            self.signed()?;
            self.emit(op, start..self.end)?;
        }
    }

    /// All nesting passes here, so the depth is counted here.
    fn signed(&mut self) -> Result<()> {
        let start = self.start();
        if self.depth >= MAX_DEPTH {
            return error(start..self.text.len().min(start + 1), ExpressionErrorKind::TooDeep);
        }
        self.depth += 1;
        let mut negative = false;
        while self.accept('-') {
            negative = !negative;
        }
        self.power()?;
        if negative {
            self.emit(Op::Neg, start..self.end)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<()> {
        let start = self.start();
        self.atom()?;
        if self.accept('^') {
            self.signed()?;
            self.emit(Op::Pow, start..self.end)?;
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<()> {
        match self.peek() {
            Some('(') => {
                self.advance(1);
                self.sum()?;
                if !self.accept(')') {
                    return self.unexpected("an operator or `)`");
                }
                Ok(())
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if starts_name(c) => self.named(),
            _ => self.unexpected(OPERAND),
        }
    }

    fn number(&mut self) -> Result<()> {
        let rest = self.rest().as_bytes();
        let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut length = digits(0);
        let mut any = length;
        if rest.get(length) == Some(&b'.') {
            length += 1;
            any += digits(length);
            length += digits(length);
        }
        if any == 0 {
            return self.unexpected(OPERAND);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits((length + 1 + sign).min(rest.len()));
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let start = self.position;
        let text = &self.rest()[..length];
        self.advance(length);
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.emit(Op::Constant(Constant::given(value, Fraction::decimal(text))), start..self.end)
            }
            _ => error(start..self.end, ExpressionErrorKind::NumberTooLarge { text: clip(text) }),
        }
    }

    /// A function call, a constant, a coordinate, a velocity or a parameter.
    fn named(&mut self) -> Result<()> {
        let start = self.position;
        let Some(name) = self.name() else { return self.unexpected(OPERAND) };
        let span = start..self.end;
        if let Some((_, function)) = FUNCTIONS.iter().find(|(f, _)| *f == name) {
            return self.call(name, *function, start);
        }
        let symbol = match name {
            // π = 3.14159265358979323846… lies above the double, 3.1415926535897931159….
            "pi" => Some(Symbol::Parameter(Constant {
                value: PI,
                exact: Fraction::UNDEFINED,
                bounds: Interval { lo: PI, hi: PI.next_up() },
            })),
            _ => self.symbols.names.get(name).copied(),
        };
        if self.peek() == Some('(') {
            let kind = match symbol {
                None if name != "t" => ExpressionErrorKind::UnknownFunction {
                    name: clip(name),
                    suggestion: nearest(name, FUNCTIONS.iter().map(|(f, _)| *f)),
                },
                _ => ExpressionErrorKind::NotAFunction { name: clip(name) },
            };
            return error(span, kind);
        }
        let prime = self.rest().starts_with('\'') && self.position == span.end;
        if prime {
            self.advance(1);
        }
        let span = start..self.end;
        let op = match symbol {
            Some(Symbol::Coordinate(i)) if prime => Op::Velocity(i),
            Some(Symbol::Coordinate(i)) => Op::Coordinate(i),
            Some(Symbol::Parameter(_) | Symbol::Variable(_)) if prime => {
                return error(span, ExpressionErrorKind::NoVelocity { name: clip(name) });
            }
            Some(Symbol::Parameter(value)) => Op::Constant(value),
            Some(Symbol::Variable(i)) => Op::Coordinate(i),
            None if name == "t" && prime => {
                return error(span, ExpressionErrorKind::NoVelocity { name: clip(name) });
            }
            None if name == "t" => Op::Time,
            None => return error(span, self.unknown(name)),
        };
        let parametric = matches!(symbol, Some(Symbol::Parameter(_) | Symbol::Variable(_)));
        if self.constant && !parametric {
            return error(span.clone(), ExpressionErrorKind::NotAConstant { name: clip(&self.text[span]) });
        }
        self.emit(op, span)
    }

    fn call(&mut self, name: &str, function: Function, start: usize) -> Result<()> {
        if !self.accept('(') {
            return self.unexpected(&format!("`(` and the argument of `{name}`"));
        }
        let mut found = 0;
        if !self.accept(')') {
            loop {
                self.sum()?;
                found += 1;
                if self.accept(')') {
                    break;
                }
                if !self.accept(',') {
                    return self.unexpected("an operator, `,` or `)`");
                }
            }
        }
        let expected = function.arity();
        if found != expected {
            let function = name.to_string();
            let kind = ExpressionErrorKind::WrongArguments { function, expected, found };
            return error(start..self.end, kind);
        }
        self.emit(Op::Call(function), start..self.end)
    }

    fn unknown(&self, name: &str) -> ExpressionErrorKind {
        let variable = |symbol: &Symbol| matches!(symbol, Symbol::Coordinate(_));
        let known = self.symbols.names.iter().filter(|(_, s)| !(self.constant && variable(s)));
        let builtin: &[&str] = if self.constant { &["pi"] } else { &["pi", "t"] };
        let suggestion = nearest(name, known.map(|(n, _)| n.as_str()).chain(builtin.iter().copied()));
        let expected = if self.constant {
            "a parameter defined above, `pi` or a function".to_string()
        } else {
            let coordinates = &self.symbols.coordinates;
            if coordinates.is_empty() {
                let expected = "`t`, a parameter or a function".to_string();
                return ExpressionErrorKind::UnknownSymbol { name: clip(name), expected, suggestion };
            }
            let mut names: Vec<String> =
                coordinates.iter().take(NAMED_COORDINATES).map(|n| clip(n)).collect();
            if coordinates.len() > NAMED_COORDINATES {
                names.push("…".to_string());
            }
            format!("a coordinate ({}), a parameter or a function", names.join(", "))
        };
        ExpressionErrorKind::UnknownSymbol { name: clip(name), expected, suggestion }
    }

    /// Reads a unit, if one stands here: `deg`, `m/s^2`, `kg*mm^2`.
    fn unit(&mut self) -> Option<(Constant, Dimension)> {
        let (mut factor, mut dimension) = self.unit_power()?;
        loop {
            let (position, end) = (self.position, self.end);
            let over = match self.peek() {
                Some('/') => true,
                Some('*') => false,
                _ => return Some((factor, dimension)),
            };
            self.advance(1);
            match self.unit_power() {
                Some((next, its)) if over => {
                    factor = Constant::computed(
                        factor.value * (1.0 / next.value),
                        factor.exact / next.exact,
                        factor.bounds / next.bounds,
                    );
                    dimension = dimension.times(its, -1);
                }
                Some((next, its)) => {
                    factor = Constant::computed(
                        factor.value * next.value,
                        factor.exact * next.exact,
                        factor.bounds * next.bounds,
                    );
                    dimension = dimension.times(its, 1);
                }
                None => {
                    (self.position, self.end) = (position, end);
                    return Some((factor, dimension));
                }
            }
        }
    }

    /// Reads one unit and a small power of it. A name that the file has given to something else is no unit.
    fn unit_power(&mut self) -> Option<(Constant, Dimension)> {
        self.peek();
        let (position, end) = (self.position, self.end);
        let name = self.name()?;
        let known = UNITS.iter().find(|(unit, ..)| *unit == name && !self.symbols.names.contains_key(name));
        let Some(&(_, factor, dimension)) = known else {
            (self.position, self.end) = (position, end);
            return None;
        };
        let mut power = 1;
        if let Some(digit) = self.rest().strip_prefix('^').and_then(|rest| rest.chars().next()?.to_digit(10))
        {
            self.advance(2);
            power = digit as i32;
        }
        // Units of angles hold π, the others are powers of ten or whole.
        let exact = if name.starts_with("deg") || name.starts_with('r') && name != "rad" {
            Fraction::UNDEFINED
        } else {
            Fraction::decimal(&factor.to_string()).power(power)
        };
        let dimension = Dimension::NONE.times(dimension, power as i8);
        let bounds = Constant::given(factor, Fraction::UNDEFINED).bounds.power(power.unsigned_abs());
        Some((Constant::computed(factor.powi(power), exact, bounds), dimension))
    }

    fn finish(&mut self) -> Result<()> {
        let Some(next) = self.peek() else { return Ok(()) };
        let start = self.position;
        if !self.constant && self.unit().is_some() {
            let unit = self.text[start..self.end].to_string();
            return error(start..self.end, ExpressionErrorKind::UnitInFormula { unit });
        }
        if starts_name(next) || next.is_ascii_digit() || next == '(' {
            let units = if self.constant { "a unit (deg, rad, rpm, m, mm, s, kg, N, …), " } else { "" };
            return self.unexpected(&format!("{units}an operator or the end; write `*` for a product"));
        }
        self.unexpected("an operator or the end")
    }
}
