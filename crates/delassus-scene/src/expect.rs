//! The outcome that a file itself expects: verdicts, and values in the JSON of the program.

use crate::diagnostic::Result;
use crate::toml_table::{Table, Value, unknown_word};
use delassus::formula::Symbols;

/// Tolerance of an expected value where none is given.
const EXPECTED_TOLERANCE: f64 = 1e-9;

/// The outcome that a scene expects of `analyze`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// `proved`, `refuted` or `unknown`.
    pub existence: Option<String>,
    /// How many solutions.
    pub solutions: Option<SolutionCount>,
    /// `proved`, `refuted` or `unknown`.
    pub acceleration_unique: Option<String>,
    /// `proved`, `refuted` or `unknown`.
    pub forces_unique: Option<String>,
    /// Values in the JSON of `analyze`.
    pub values: Vec<ExpectedValue>,
}

/// A number of solutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolutionCount {
    /// This many; `"none"` is 0 and `"one"` is 1.
    Exactly(usize),
    /// More than one, finitely many.
    Several,
    /// A continuum.
    Infinite,
}

/// An expected value at a JSON pointer in the output.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedValue {
    /// JSON pointer, e.g. `/contacts/0/mu_jam`.
    pub path: String,
    /// The value.
    pub equals: Expected,
    /// How far a number may be off, relative to max(1, |value|).
    pub tolerance: f64,
}

impl ExpectedValue {
    /// Whether a number meets the expectation.
    pub fn accepts(&self, number: f64) -> bool {
        match self.equals {
            Expected::Number(x) => (number - x).abs() <= self.tolerance * x.abs().max(1.0),
            Expected::AtMost(x) => number <= x,
            Expected::AtLeast(x) => number >= x,
            Expected::Boolean(_) => false,
        }
    }
}

/// A number, a bound or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// A number.
    Number(f64),
    /// A number that is not larger.
    AtMost(f64),
    /// A number that is not smaller.
    AtLeast(f64),
    /// True or false.
    Boolean(bool),
}

/// What a file expects; `others` are keys that are read elsewhere.
pub(super) fn expect(root: &Table<'_>, symbols: &Symbols, others: &[&str]) -> Result<Option<Expect>> {
    let Some(table) = root.table("expect", "[expect]")? else { return Ok(None) };
    let own = ["existence", "solutions", "acceleration_unique", "forces_unique", "value"];
    table.only(&own.iter().chain(others).copied().collect::<Vec<_>>())?;
    let verdict = |key: &str| -> Result<Option<String>> {
        const WORDS: &str = "\"proved\", \"refuted\" or \"unknown\"";
        let Some(value) = table.get(key) else { return Ok(None) };
        match value.string(WORDS)? {
            word @ ("proved" | "refuted" | "unknown") => Ok(Some(word.to_string())),
            word => unknown_word(&value, word, WORDS),
        }
    };
    Ok(Some(Expect {
        existence: verdict("existence")?,
        solutions: table.get("solutions").map(|value| solution_count(&value)).transpose()?,
        acceleration_unique: verdict("acceleration_unique")?,
        forces_unique: verdict("forces_unique")?,
        values: expected_values(&table, "value", "[[expect.value]]", symbols)?,
    }))
}

/// Expected values under a key of `[expect]`.
pub(super) fn expected_values(
    table: &Table<'_>,
    key: &str,
    title: &str,
    symbols: &Symbols,
) -> Result<Vec<ExpectedValue>> {
    let mut values = Vec::new();
    for entry in table.tables(key, title)? {
        entry.only(&["path", "equals", "at_most", "at_least", "tolerance"])?;
        let path = entry.require("path", "a JSON pointer, e.g. \"/contacts/0/mu_jam\"")?;
        entry.either("equals", "at_most")?;
        entry.either("equals", "at_least")?;
        let equals = match entry.either("at_most", "at_least")? {
            Some(bound) if bound.key == "at_most" => Expected::AtMost(bound.constant(symbols)?),
            Some(bound) => Expected::AtLeast(bound.constant(symbols)?),
            None => {
                let expected = "a number, an expression of parameters or a boolean";
                let equals = entry.require("equals", expected)?;
                match equals.boolean() {
                    Some(boolean) => Expected::Boolean(boolean),
                    None => Expected::Number(equals.constant(symbols)?),
                }
            }
        };
        values.push(ExpectedValue {
            path: path.string("a JSON pointer in a string")?.to_string(),
            equals,
            tolerance: entry.get("tolerance").map_or(Ok(EXPECTED_TOLERANCE), |v| v.constant(symbols))?,
        });
    }
    Ok(values)
}

fn solution_count(value: &Value<'_>) -> Result<SolutionCount> {
    const WORDS: &str = "a number, \"none\", \"one\", \"several\" or \"infinite\"";
    if let Some(count) = value.count() {
        return Ok(SolutionCount::Exactly(count));
    }
    match value.string(WORDS)? {
        "none" => Ok(SolutionCount::Exactly(0)),
        "one" => Ok(SolutionCount::Exactly(1)),
        "several" => Ok(SolutionCount::Several),
        "infinite" => Ok(SolutionCount::Infinite),
        word => unknown_word(value, word, WORDS),
    }
}
