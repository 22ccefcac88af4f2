//! Formulas written as text, parsed once into a tape and evaluated over any number type.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "-" } power                        so that -x^2 = -(x^2)
//! power   = atom [ "^" signed ]                  right associative; 2^-1 is allowed
//! atom    = number | name | name "'" | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! Names are `pi`, `t`, coordinates, their velocities (`x'`) and parameters. The tape is in postfix order;
//! parameters are constants on it, and constant parts are folded, so that an exponent is known to be
//! constant (and a power of a negative number allowed) whenever it is one.
//!
//! ```
//! use delassus::formula::{Expression, Symbols};
//! use delassus::formula::{Formula, Point};
//!
//! let mut symbols = Symbols::default();
//! symbols.add_coordinate("x")?;
//! symbols.add_parameter("k", 3.0)?;
//! let f = Expression::parse("k*x^2/2 + x'", &symbols)?;
//! assert_eq!(f.eval(&Point { q: &[2.0], v: &[1.0], t: 0.0 }), 7.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use super::number::{Constant, Number};
use super::suggest::clip;
use super::{Formula, Point, Step, Variables};

/// The longest expression that is read, in bytes.
pub const MAX_LENGTH: usize = 1_000_000;
/// The deepest nesting of brackets, function calls and exponents.
pub const MAX_DEPTH: usize = 200;
/// The largest number of operations in one expression.
pub const MAX_OPERATIONS: usize = 100_000;

/// The functions that expressions know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Sqrt,
    Abs,
    Atan2,
    Min,
    Max,
}

/// Names of the functions.
pub(super) const FUNCTIONS: [(&str, Function); 16] = [
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("asin", Function::Asin),
    ("acos", Function::Acos),
    ("atan", Function::Atan),
    ("sinh", Function::Sinh),
    ("cosh", Function::Cosh),
    ("tanh", Function::Tanh),
    ("exp", Function::Exp),
    ("ln", Function::Ln),
    ("sqrt", Function::Sqrt),
    ("abs", Function::Abs),
    ("atan2", Function::Atan2),
    ("min", Function::Min),
    ("max", Function::Max),
];

impl Function {
    pub(super) fn arity(self) -> usize {
        match self {
            Function::Atan2 | Function::Min | Function::Max => 2,
            _ => 1,
        }
    }
}

/// One step of the tape; operands are taken from the stack, the result goes back to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Constant(Constant),
    Coordinate(usize),
    Velocity(usize),
    Time,
    Neg,
    /// xᶜ, the exponent known.
    PowConstant(f64),
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Call(Function),
}

impl Op {
    /// How many operands it takes.
    pub(super) fn operands(self) -> usize {
        match self {
            Op::Constant(_) | Op::Coordinate(_) | Op::Velocity(_) | Op::Time => 0,
            Op::Neg | Op::PowConstant(_) => 1,
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => 2,
            Op::Call(function) => function.arity(),
        }
    }

    /// The result of an operation on one operand.
    pub(super) fn unary<N: Number>(self, x: N) -> N {
        match self {
            Op::Neg => -x,
            Op::PowConstant(c) => x.powf(c),
            Op::Call(Function::Sin) => x.sin(),
            Op::Call(Function::Cos) => x.cos(),
            Op::Call(Function::Tan) => x.tan(),
            Op::Call(Function::Asin) => x.asin(),
            Op::Call(Function::Acos) => x.acos(),
            Op::Call(Function::Atan) => x.atan(),
            Op::Call(Function::Sinh) => x.sinh(),
            Op::Call(Function::Cosh) => x.cosh(),
            Op::Call(Function::Tanh) => x.tanh(),
            Op::Call(Function::Exp) => x.exp(),
            Op::Call(Function::Ln) => x.ln(),
            Op::Call(Function::Sqrt) => x.sqrt(),
            Op::Call(Function::Abs) => x.abs(),
            _ => unreachable!("{self:?} takes other than one operand"),
        }
    }

    /// The result of an operation on two operands.
    pub(super) fn binary<N: Number>(self, x: N, y: N) -> N {
        match self {
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::Mul => x * y,
            Op::Div => x / y,
            Op::Pow => x.pow(y),
            Op::Call(Function::Atan2) => x.atan2(y),
            Op::Call(Function::Min) => x.min(y),
            Op::Call(Function::Max) => x.max(y),
            _ => unreachable!("{self:?} takes other than two operands"),
        }
    }
}

/// A parsed formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Postfix: leaves one number on the stack.
    tape: Vec<Op>,
    /// The deepest the stack gets.
    stack: usize,
}

impl Expression {
    pub(super) fn from_tape(tape: Vec<Op>) -> Self {
        let (mut height, mut stack) = (0, 0);
        for op in &tape {
            height = height + 1 - op.operands();
            stack = stack.max(height);
        }
        Expression { tape, stack }
    }

    /// The value where the formula is a constant.
    pub fn constant(&self) -> Option<f64> {
        self.written().map(|c| c.value)
    }

    /// The value where the formula is a constant, as it was written where that is rational.
    pub fn written(&self) -> Option<Constant> {
        match self.tape[..] {
            [Op::Constant(c)] => Some(c),
            _ => None,
        }
    }

    /// Whether a velocity occurs in the formula.
    pub fn uses_velocity(&self) -> bool {
        self.tape.iter().any(|op| matches!(op, Op::Velocity(_)))
    }
}

impl From<f64> for Expression {
    fn from(value: f64) -> Self {
        Constant::from(value).into()
    }
}

impl From<Constant> for Expression {
    fn from(value: Constant) -> Self {
        Expression { tape: vec![Op::Constant(value)], stack: 1 }
    }
}

impl Formula for Expression {
    /// # Panics
    /// If the point has fewer coordinates than the formula was parsed with.
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let mut stack: Vec<N> = Vec::with_capacity(self.stack);
        for &op in &self.tape {
            let result = match op {
                Op::Constant(c) => N::from_constant(c),
                Op::Coordinate(i) => at.q[i],
                Op::Velocity(i) => at.v[i],
                Op::Time => at.t,
                _ if op.operands() == 1 => op.unary(take(&mut stack)),
                _ => {
                    let y = take(&mut stack);
                    op.binary(take(&mut stack), y)
                }
            };
            stack.push(result);
        }
        take(&mut stack)
    }

    fn steps(&self) -> Option<Vec<Step>> {
        let name = |function: Function| FUNCTIONS.iter().find(|(_, f)| *f == function).map(|(name, _)| *name);
        let number = |x: f64| Step::Constant(Constant::double(x));
        let mut steps = Vec::with_capacity(self.tape.len());
        for op in &self.tape {
            steps.extend(match *op {
                Op::Neg => Some(number(-1.0)),
                Op::PowConstant(exponent) => Some(number(exponent)),
                _ => None,
            });
            steps.push(match *op {
                Op::Constant(c) => Step::Constant(c),
                Op::Coordinate(i) => Step::Position(i),
                Op::Velocity(i) => Step::Velocity(i),
                Op::Time => Step::Time,
                Op::Add => Step::Operation("+"),
                Op::Sub => Step::Operation("-"),
                Op::Neg | Op::Mul => Step::Operation("*"),
                Op::Div => Step::Operation("/"),
                Op::Pow | Op::PowConstant(_) => Step::Operation("^"),
                Op::Call(function) => Step::Operation(name(function)?),
            });
        }
        Some(steps)
    }

    fn variables(&self) -> Option<Variables> {
        let places = |place: fn(&Op) -> Option<usize>| {
            let mut found: Vec<usize> = self.tape.iter().filter_map(place).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        Some(Variables {
            positions: places(|op| if let Op::Coordinate(i) = op { Some(*i) } else { None }),
            velocities: places(|op| if let Op::Velocity(i) = op { Some(*i) } else { None }),
            time: self.tape.contains(&Op::Time),
        })
    }
}

/// The top of the stack; a tape never takes more than it has put.
fn take<N: Number>(stack: &mut Vec<N>) -> N {
    stack.pop().expect("a tape from the parser keeps its stack balanced")
}

/// Powers of metre, kilogram and second; an angle has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension(pub [i8; 3]);

impl Dimension {
    /// Of numbers and angles.
    pub const NONE: Dimension = Dimension([0; 3]);

    pub(super) fn times(self, other: Dimension, power: i8) -> Self {
        Dimension(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i].saturating_mul(power))))
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symbol {
    Coordinate(usize),
    Parameter(Constant),
    /// A parameter without a fixed value: a place behind the coordinates in the positions of a point.
    Variable(usize),
}

/// The names that an expression may use besides `pi`, `t` and the functions.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Names of the coordinates, in their order.
    pub coordinates: Vec<String>,
    variables: usize,
    /// Sorted, so that suggestions do not depend on chance.
    pub(super) names: BTreeMap<String, Symbol>,
}

impl Symbols {
    /// Adds the next coordinate; its velocity is the name with a prime.
    pub fn add_coordinate(&mut self, name: &str) -> Result<(), NameError> {
        self.add(name, Symbol::Coordinate(self.coordinates.len()))?;
        self.coordinates.push(name.to_string());
        Ok(())
    }

    /// Adds a parameter.
    pub fn add_parameter(&mut self, name: &str, value: impl Into<Constant>) -> Result<(), NameError> {
        self.add(name, Symbol::Parameter(value.into()))
    }

    /// Adds a parameter without a fixed value; its value stands behind the coordinates in `Point::q`, in the
    /// order of such parameters. All coordinates must be there before.
    pub fn add_variable(&mut self, name: &str) -> Result<(), NameError> {
        self.add(name, Symbol::Variable(self.coordinates.len() + self.variables))?;
        self.variables += 1;
        Ok(())
    }

    fn add(&mut self, name: &str, symbol: Symbol) -> Result<(), NameError> {
        let shown = || clip(name);
        if !is_identifier(name) {
            return Err(NameError::NotAnIdentifier { name: shown() });
        }
        if name == "t" || name == "pi" || FUNCTIONS.iter().any(|(f, _)| *f == name) {
            return Err(NameError::Reserved { name: shown() });
        }
        match self.names.get(name) {
            Some(Symbol::Coordinate(_)) => return Err(NameError::IsACoordinate { name: shown() }),
            Some(Symbol::Parameter(_) | Symbol::Variable(_)) => {
                return Err(NameError::IsAParameter { name: shown() });
            }
            None => {}
        }
        self.names.insert(name.to_string(), symbol);
        Ok(())
    }
}

/// Whether a name can begin with a character.
pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name can go on with a character.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `name` is a letter or underscore, then letters, digits and underscores.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

/// A name that cannot be given to a coordinate or parameter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// Not a letter or underscore followed by letters, digits and underscores.
    #[error("`{name}` is not a name")]
    NotAnIdentifier {
        /// The name.
        name: String,
    },
    /// `t`, `pi` or the name of a function.
    #[error("the name `{name}` is reserved")]
    Reserved {
        /// The name.
        name: String,
    },
    /// A coordinate has this name.
    #[error("there is already a coordinate `{name}`")]
    IsACoordinate {
        /// The name.
        name: String,
    },
    /// A parameter has this name.
    #[error("there is already a parameter `{name}`")]
    IsAParameter {
        /// The name.
        name: String,
    },
}

/// Why an expression could not be read.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{kind}")]
pub struct ExpressionError {
    /// The bytes of the expression that are meant.
    pub span: Range<usize>,
    /// What is wrong there.
    pub kind: ExpressionErrorKind,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ExpressionErrorKind {
    /// Longer than [`MAX_LENGTH`].
    #[error("expression of {bytes} bytes")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// More operations than [`MAX_OPERATIONS`].
    #[error("expression of too many operations")]
    TooManyOperations,
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("expression nested too deeply")]
    TooDeep,
    /// A sign that does not fit the grammar here.
    #[error("unexpected {found}")]
    Unexpected {
        /// What stands here.
        found: String,
        /// What could stand here.
        expected: String,
    },
    /// A name that is neither coordinate nor parameter.
    #[error("unknown symbol `{name}`")]
    UnknownSymbol {
        /// The name.
        name: String,
        /// What could stand here.
        expected: String,
        /// A known name like it.
        suggestion: Option<String>,
    },
    /// A call of something that is not a function.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// A function with a name like it.
        suggestion: Option<String>,
    },
    /// A coordinate or parameter with brackets behind it.
    #[error("`{name}` is not a function")]
    NotAFunction {
        /// The name.
        name: String,
    },
    /// A function with the wrong number of arguments.
    #[error("`{function}` takes {expected} argument{}, found {found}", if *.expected == 1 { "" } else { "s" })]
    WrongArguments {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The velocity of something that has none.
    #[error("`{name}` has no velocity")]
    NoVelocity {
        /// The name.
        name: String,
    },
    /// A coordinate, velocity or time where only a constant may stand.
    #[error("`{name}` is not a constant")]
    NotAConstant {
        /// The name.
        name: String,
    },
    /// A unit in a formula.
    #[error("unit `{unit}` in a formula")]
    UnitInFormula {
        /// The unit.
        unit: String,
    },
    /// A number beyond the range of double precision.
    #[error("number `{text}` is too large")]
    NumberTooLarge {
        /// The number.
        text: String,
    },
    /// A constant part that is NaN or infinite.
    #[error("this constant is {value}")]
    NotFinite {
        /// `NaN`, `infinite`.
        value: &'static str,
    },
}

impl ExpressionErrorKind {
    /// What was expected instead, and what may have been meant.
    pub fn help(&self) -> String {
        use ExpressionErrorKind::*;
        match self {
            TooLong { .. } => format!("expected at most {MAX_LENGTH} bytes"),
            TooManyOperations => format!("expected at most {MAX_OPERATIONS} operations"),
            TooDeep => format!("expected at most {MAX_DEPTH} nested brackets, calls and exponents"),
            Unexpected { expected, .. } => format!("expected {expected}"),
            UnknownSymbol { expected, suggestion, .. } => with_suggestion(expected, suggestion),
            UnknownFunction { suggestion, .. } => {
                let known: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
                with_suggestion(&format!("one of {}", known.join(" ")), suggestion)
            }
            NotAFunction { .. } => "expected an operator; write `*` for a product".to_string(),
            WrongArguments { expected: 1, .. } => "expected one argument in brackets".to_string(),
            WrongArguments { .. } => "expected two arguments in brackets, with a comma between".to_string(),
            NoVelocity { .. } => "expected a coordinate before the prime".to_string(),
            NotAConstant { .. } => "expected a number or an expression of parameters".to_string(),
            UnitInFormula { .. } => {
                "expected an operator or the end; units stand only behind constants".to_string()
            }
            NumberTooLarge { .. } => format!("expected a number below {:e}", f64::MAX),
            NotFinite { .. } => "expected a finite number".to_string(),
        }
    }
}

/// "expected …; did you mean `…`?"
pub fn with_suggestion(expected: &str, suggestion: &Option<String>) -> String {
    match suggestion {
        Some(name) => format!("expected {expected}; did you mean `{name}`?"),
        None => format!("expected {expected}"),
    }
}
