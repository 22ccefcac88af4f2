//! The safe interval of a parameter of a system that is written as text.

use delassus::analysis::{FreeSystem, Question, Safe, SafeError, safe_interval};
use thiserror::Error;

use super::{read_family, read_system};
use crate::diagnostic::{FileError, FileErrorKind};

/// Why the safe interval of a text cannot be found.
#[derive(Clone, Debug, Error)]
pub enum SafeTextError {
    /// The text cannot be read, or has no such parameter.
    #[error(transparent)]
    File(#[from] FileError),
    /// The question makes no sense.
    #[error(transparent)]
    Question(#[from] SafeError),
}

/// [`safe_interval`] of a parameter of the system in `text`, with parameter values that replace those of the
/// text.
pub fn safe_interval_of(
    text: &str,
    overrides: &[(&str, &str)],
    question: &Question<'_>,
) -> Result<Safe, SafeTextError> {
    let mut free: Vec<&str> = vec![question.over];
    free.extend(question.for_all.iter().map(|(name, _)| *name));
    let family = read_family(text, overrides, &free)?;
    let file = read_system(text, overrides)?;
    let present = file.parameters.iter().find(|(name, _)| name == question.over).map(|(_, value)| *value);
    let Some(present) = present else {
        let kind = FileErrorKind::UnknownParameter { name: question.over.to_string(), suggestion: None };
        return Err(FileError::new(text, None, kind).into());
    };
    let at = |values: &[(&str, f64)]| {
        let numbers: Vec<(&str, String)> = values.iter().map(|(n, x)| (*n, format!("{x:?}"))).collect();
        let all: Vec<(&str, &str)> =
            overrides.iter().copied().chain(numbers.iter().map(|(n, x)| (*n, x.as_str()))).collect();
        let file = read_system(text, &all).ok()?;
        Some((file.system, file.state))
    };
    Ok(safe_interval(&FreeSystem { family: &family, present, at: &at }, question)?)
}
