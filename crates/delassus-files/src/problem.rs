//! What a problem file holds, and the laws of contacts as its formats know them.

use std::path::Path;

use delassus_solve::lcp::{Lcp, Mlcp};
use delassus_solve::problem::{ContactProblem, Form, Law};

use crate::error::FileError;

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
            Problem::Friction(p) if p.laws.iter().any(|l| l.dim() >= 5) => "rolling",
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

/// The one law that all constraints share up to their coefficients, as rows and coefficients; an error where
/// the format would have to hold another law, or several. Without constraints, Coulomb's law in space.
pub(super) fn uniform_friction(path: &Path, laws: &[Law]) -> Result<(usize, Vec<[f64; 3]>), FileError> {
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
pub(super) fn friction_laws(d: usize, mu: &[f64], rolling: &[f64]) -> Vec<Law> {
    match d {
        2 => mu.iter().map(|&mu| Law::CoulombPlane { mu }).collect(),
        5 => mu.iter().zip(rolling).map(|(&mu, &rolling)| Law::Rolling { mu, rolling }).collect(),
        _ => mu.iter().map(|&mu| Law::Coulomb { mu }).collect(),
    }
}
