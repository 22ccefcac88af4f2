//! Files of complementarity and contact problems.
//!
//! | extension | format | module |
//! |---|---|---|
//! | `.json` | own | [`json`] |
//! | `.hdf5`, `.h5` | FCLib | [`fclib`] |
//! | `.dat`, for reading also any other | Siconos | [`siconos`] |
//!
//! Every count in a file is checked against the size of the file before anything of that size is made, and
//! every error names the file, the place and what was expected there.
#![forbid(unsafe_code)]

mod error;
pub mod fclib;
pub mod json;
mod lexer;
pub mod siconos;

use std::path::Path;

use delassus_solve::lcp::{Lcp, Mlcp};
use delassus_solve::problem::{ContactProblem, Form, Law};

pub use error::FileError;

/// A problem read from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// w = M z + q, 0 ≤ z ⊥ w ≥ 0.
    Lcp(Lcp),
    /// With free unknowns.
    Mlcp(Mlcp),
    /// Contacts with their laws.
    Friction(ContactProblem),
}

impl Problem {
    /// The kind: `lcp`, `mlcp`, `fc2d`, `fc3d`, `gfc2d`, `gfc3d` or `rolling`.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Lcp(_) => "lcp",
            Problem::Mlcp(_) => "mlcp",
            Problem::Friction(p) if p.laws.iter().any(|l| l.dim() == 5) => "rolling",
            Problem::Friction(p) => {
                let plane = !p.laws.is_empty() && p.laws.iter().all(|l| l.dim() <= 2);
                match (&p.form, plane) {
                    (Form::Local { .. }, true) => "fc2d",
                    (Form::Local { .. }, false) => "fc3d",
                    (Form::Global { .. }, true) => "gfc2d",
                    (Form::Global { .. }, false) => "gfc3d",
                }
            }
        }
    }

    /// Number of contacts; `None` for complementarity problems, whose rows are not grouped.
    pub fn contacts(&self) -> Option<usize> {
        match self {
            Problem::Lcp(_) | Problem::Mlcp(_) => None,
            Problem::Friction(p) => Some(p.laws.iter().filter(|l| !l.is_bilateral()).count()),
        }
    }
}

/// A problem and what its file holds besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The problem.
    pub problem: Problem,
    /// What was left in the file, in words.
    pub ignored: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Fclib,
    Siconos,
}

/// The format of a known extension.
fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_string_lossy().to_lowercase().as_str() {
        "json" => Some(Format::Json),
        "hdf5" | "h5" => Some(Format::Fclib),
        "dat" => Some(Format::Siconos),
        _ => None,
    }
}

/// Reads a problem file.
pub fn read(path: &Path) -> Result<Problem, FileError> {
    Ok(read_all(path)?.problem)
}

/// Reads a problem file; returns the problem and what else the file contains.
pub fn read_all(path: &Path) -> Result<Read, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::Io { file: path.to_owned(), source })?;
    parse(path, bytes)
}

/// Reads the contents of a problem file; the path determines the format and names the file in messages.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Read, FileError> {
    match format_of(path).unwrap_or(Format::Siconos) {
        Format::Fclib => fclib::parse(path, bytes),
        // Remarks after the data may be in any encoding.
        Format::Siconos => siconos::parse(path, &String::from_utf8_lossy(&bytes)),
        Format::Json => {
            let problem = json::parse(path, &String::from_utf8_lossy(&bytes))?;
            Ok(Read { problem, ignored: vec![] })
        }
    }
}

/// Writes a problem file in the format of its extension; another extension is an error, as is a problem that
/// the format cannot hold.
pub fn write(path: &Path, problem: &Problem) -> Result<(), FileError> {
    let format = format_of(path).ok_or_else(|| FileError::UnknownExtension { file: path.to_owned() })?;
    let bytes = match format {
        Format::Fclib => fclib::format(path, problem)?,
        Format::Siconos => siconos::format(path, problem)?.into_bytes(),
        Format::Json => json::format(path, problem)?.into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|source| FileError::Io { file: path.to_owned(), source })
}

/// The one law that all constraints share up to their coefficients, as rows and coefficients; an error where
/// the format would have to hold another law, or several. Without constraints, Coulomb's law in space.
fn uniform_friction(path: &Path, laws: &[Law]) -> Result<(usize, Vec<[f64; 2]>), FileError> {
    let d = laws.first().map_or(3, Law::dim);
    for (k, law) in laws.iter().enumerate() {
        if !matches!(law, Law::CoulombPlane { .. } | Law::Coulomb { .. } | Law::Rolling { .. }) {
            return Err(FileError::cannot_hold(path, format!("constraint {k} with the law {law:?}")));
        }
        if law.dim() != d {
            return Err(FileError::cannot_hold(
                path,
                format!("constraints of {d} and of {} rows", law.dim()),
            ));
        }
    }
    Ok((d, laws.iter().map(Law::coefficients).collect()))
}

/// The laws of contacts with d rows each.
fn friction_laws(d: usize, mu: &[f64], rolling: &[f64]) -> Vec<Law> {
    match d {
        2 => mu.iter().map(|&mu| Law::CoulombPlane { mu }).collect(),
        5 => mu.iter().zip(rolling).map(|(&mu, &rolling)| Law::Rolling { mu, rolling }).collect(),
        _ => mu.iter().map(|&mu| Law::Coulomb { mu }).collect(),
    }
}
