//! The safe interval of a parameter of a system that is written as text.

use delassus::analysis::{
    FreeSystem, PavedCell, Paving, PavingFault, PavingProof, PavingQuestion, Question, Safe, SafeError,
    check_paving, pave, paving_proof, safe_interval,
};
use delassus::lagrangian::Family;
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
    /// The paving does not keep what it claims.
    #[error(transparent)]
    Paving(#[from] PavingFault),
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

/// [`pave`] of the system in `text`, with parameter values that replace those of the text.
pub fn pave_text(
    text: &str,
    overrides: &[(&str, &str)],
    question: &PavingQuestion<'_>,
) -> Result<Paving, SafeTextError> {
    let (family, design) = free_family(text, overrides, question)?;
    Ok(pave(&family, &design, question)?)
}

/// [`check_paving`] of the system in `text`: whether these cells cover the box and keep what they claim.
pub fn check_paving_of(
    text: &str,
    overrides: &[(&str, &str)],
    question: &PavingQuestion<'_>,
    cells: &[PavedCell],
) -> Result<(), SafeTextError> {
    let (family, design) = free_family(text, overrides, question)?;
    Ok(check_paving(&family, &design, question, cells)?)
}

/// [`paving_proof`] of a paving of the system in `text`, and that system with the parameters of the question
/// free.
pub fn paving_proof_of(
    text: &str,
    overrides: &[(&str, &str)],
    question: &PavingQuestion<'_>,
    paving: &Paving,
) -> Result<(Family, PavingProof), SafeTextError> {
    let (family, design) = free_family(text, overrides, question)?;
    let proof = paving_proof(&family, &design, question, paving)?;
    Ok((family, proof))
}

/// The system with the parameters of the question free, and their values in the text.
fn free_family(
    text: &str,
    overrides: &[(&str, &str)],
    question: &PavingQuestion<'_>,
) -> Result<(Family, Vec<f64>), SafeTextError> {
    let free: Vec<&str> = question.over.iter().chain(question.for_all).map(|(name, _)| *name).collect();
    let family = read_family(text, overrides, &free)?;
    let file = read_system(text, overrides)?;
    let value = |name: &str| {
        let found = file.parameters.iter().find(|(n, _)| n == name).map(|(_, x)| *x);
        let kind = || FileErrorKind::UnknownParameter { name: name.to_string(), suggestion: None };
        found.ok_or_else(|| FileError::new(text, None, kind()))
    };
    let design = family.free().map(value).collect::<Result<Vec<f64>, FileError>>()?;
    Ok((family, design))
}
