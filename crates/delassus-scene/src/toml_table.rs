//! A view of a TOML table that knows where everything stands and what it is called in messages.

use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{FileError, FileErrorKind, Result};
use delassus::formula::{Constant, Expression, ExpressionError, Symbols, clip, constant, nearest};
use delassus_solve::linalg::Fraction;

/// A value with its key and its place.
#[derive(Clone)]
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    pub(super) key: String,
    pub(super) span: Range<usize>,
    value: &'a DeValue<'a>,
}

/// A table with its title, e.g. "[system]" or "contact `tip`", and the place of its header.
pub(super) struct Table<'a> {
    text: &'a str,
    pub(super) title: String,
    pub(super) span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn root(text: &'a str, table: &'a Spanned<DeTable<'a>>) -> Self {
        Table { text, title: "the file".to_string(), span: 0..0, entries: table.get_ref() }
    }

    pub(super) fn error<T>(&self, kind: FileErrorKind) -> Result<T> {
        Err(FileError::new(self.text, Some(self.span.clone()), kind))
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        let value = self.entries.get(key)?;
        Some(Value { text: self.text, key: key.to_string(), span: value.span(), value: value.get_ref() })
    }

    /// The value of a key that must be there.
    pub(super) fn require(&self, key: &'static str, expected: &'static str) -> Result<Value<'a>> {
        match self.get(key) {
            Some(value) => Ok(value),
            None => self.error(FileErrorKind::MissingKey { key, table: self.title.clone(), expected }),
        }
    }

    /// The one of two keys that is given, if one is; both are an error.
    pub(super) fn either(&self, first: &'static str, second: &'static str) -> Result<Option<Value<'a>>> {
        match (self.get(first), self.get(second)) {
            (Some(_), Some(other)) => {
                other.error(FileErrorKind::Conflict { first, second, table: self.title.clone() })
            }
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Keys with their places and their values, in the order of the file.
    pub(super) fn entries(&self) -> Vec<(Range<usize>, Value<'a>)> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().to_string();
                let value = Value { text: self.text, key: name, span: value.span(), value: value.get_ref() };
                (key.span(), value)
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.start);
        entries
    }

    /// An error at the first key that is not one of these.
    pub(super) fn only(&self, known: &[&str]) -> Result<()> {
        for (span, value) in self.entries() {
            if !known.contains(&value.key.as_str()) {
                let kind = FileErrorKind::UnknownKey {
                    key: clip(&value.key),
                    table: self.title.clone(),
                    known: known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", "),
                    suggestion: nearest(&value.key, known.iter().copied()),
                };
                return Err(FileError::new(self.text, Some(span), kind));
            }
        }
        Ok(())
    }

    /// The table under a key, if it is there.
    pub(super) fn table(&self, key: &str, title: &str) -> Result<Option<Table<'a>>> {
        self.get(key).map(|value| value.table(title)).transpose()
    }

    /// The tables of an array titled `[[title]]`; none if it is not there.
    pub(super) fn tables(&self, key: &str, title: &str) -> Result<Vec<Table<'a>>> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let items = value.items("an array of tables, with the header in double brackets")?;
        items.iter().enumerate().map(|(i, item)| item.table(&format!("{title} number {}", i + 1))).collect()
    }
}

impl<'a> Value<'a> {
    pub(super) fn error<T>(&self, kind: FileErrorKind) -> Result<T> {
        Err(FileError::new(self.text, Some(self.span.clone()), kind))
    }

    pub(super) fn wrong_type<T>(&self, expected: &'static str) -> Result<T> {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.error(FileErrorKind::WrongType { key: clip(&self.key), found, expected })
    }

    pub(super) fn table(&self, title: &str) -> Result<Table<'a>> {
        match self.value {
            DeValue::Table(entries) => {
                Ok(Table { text: self.text, title: title.to_string(), span: self.span.clone(), entries })
            }
            _ => self.wrong_type("a table"),
        }
    }

    pub(super) fn items(&self, expected: &'static str) -> Result<Vec<Value<'a>>> {
        match self.value {
            DeValue::Array(items) => Ok(items
                .iter()
                .map(|item| Value {
                    text: self.text,
                    key: self.key.clone(),
                    span: item.span(),
                    value: item.get_ref(),
                })
                .collect()),
            _ => self.wrong_type(expected),
        }
    }

    pub(super) fn string(&self, expected: &'static str) -> Result<&'a str> {
        match self.value {
            DeValue::String(s) => Ok(s.as_ref()),
            _ => self.wrong_type(expected),
        }
    }

    /// The value that a word names; `expected` lists the words.
    pub(super) fn named<T: FromStr>(&self, expected: &'static str) -> Result<T> {
        let word = self.string(expected)?;
        word.parse().or_else(|_| unknown_word(self, word, expected))
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        self.value.as_bool()
    }

    pub(super) fn flag(&self) -> Result<bool> {
        match self.boolean() {
            Some(flag) => Ok(flag),
            None => self.wrong_type("true or false"),
        }
    }

    /// The number that stands here as a TOML integer, if one does and it is a size.
    pub(super) fn count(&self) -> Option<usize> {
        self.value.as_integer().and_then(|i| usize::from_str_radix(i.as_str(), i.radix()).ok())
    }

    /// The number that stands here as a TOML number, finite; `None` for other types.
    fn number(&self) -> Result<Option<Constant>> {
        let mut exact = Fraction::UNDEFINED;
        let number = match self.value {
            DeValue::Float(x) => {
                exact = Fraction::decimal(x.as_str());
                x.as_str().parse::<f64>().ok()
            }
            DeValue::Integer(i) if i.radix() == 10 => {
                exact = Fraction::decimal(i.as_str());
                i.as_str().parse::<f64>().ok()
            }
            DeValue::Integer(i) => i128::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            _ => return Ok(None),
        };
        let value = number.unwrap_or(f64::NAN);
        if !value.is_finite() {
            return self.error(FileErrorKind::NotFinite { key: clip(&self.key), value });
        }
        Ok(Some(Constant::given(value, exact)))
    }

    /// A number, or a string that is an expression of parameters, with a unit or without.
    pub(super) fn constant(&self, symbols: &Symbols) -> Result<f64> {
        if let Some(number) = self.number()? {
            return Ok(number.value);
        }
        let text = self.string("a number or an expression of parameters in a string")?;
        constant(text, symbols).map_err(|error| self.inside(text, error))
    }

    /// A number, or a string that is an expression of parameters and variables, with a unit or without.
    pub(super) fn parametric(&self, symbols: &Symbols) -> Result<Expression> {
        if let Some(number) = self.number()? {
            return Ok(Expression::from(number));
        }
        let text = self.string("a number or an expression of parameters in a string")?;
        Expression::parse_parametric(text, symbols).map_err(|error| self.inside(text, error))
    }

    /// A number, or a string that is a formula.
    pub(super) fn formula(&self, symbols: &Symbols) -> Result<Expression> {
        if let Some(number) = self.number()? {
            return Ok(Expression::from(number));
        }
        let text = self.string("a formula in a string, or a number")?;
        Expression::parse(text, symbols).map_err(|error| self.inside(text, error))
    }

    /// A formula of positions and time.
    pub(super) fn position_formula(&self, symbols: &Symbols) -> Result<Expression> {
        let formula = self.formula(symbols)?;
        if formula.uses_velocity() {
            return self.error(FileErrorKind::DependsOnVelocity { key: clip(&self.key) });
        }
        Ok(formula)
    }

    /// An error inside the string that stands here, at its own place in the file.
    fn inside(&self, string: &str, error: ExpressionError) -> FileError {
        let raw = self.text.get(self.span.clone()).unwrap_or_default();
        // One quote, or three with or without a line break behind them. With escapes in the string its bytes
        // differ from the file's, and the whole value is meant.
        let offset = [1, 3, 4, 5].into_iter().find(|&o| raw.get(o..o + string.len()) == Some(string));
        let span = match offset {
            Some(o) => self.span.start + o + error.span.start..self.span.start + o + error.span.end,
            None => self.span.clone(),
        };
        FileError::new(self.text, Some(span), FileErrorKind::Expression(error.kind))
    }
}

/// A word that is none of those expected.
pub(super) fn unknown_word<T>(value: &Value<'_>, word: &str, expected: &'static str) -> Result<T> {
    let (key, found) = (clip(&value.key), clip(word));
    value.error(FileErrorKind::UnknownWord { key, found, expected })
}
