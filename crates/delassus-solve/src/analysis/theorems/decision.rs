//! What the propositions share: the margin of a decision in floating point, their claims, and admissible
//! accelerations.
//!
//! ```text
//! 𝒜 = {a : G a + γ_b = 0 , N a + γ_u ≥ 0}
//! ```
//!
//! G is p × n (joints), N is m × n (contacts), a ∈ Rⁿ. By Gauss' principle a frictionless system with a
//! positive definite mass has a solution where 𝒜 is not empty (000 Assumptions 1, 3, 4; 001 eq. 6).

use crate::analysis::certificate::Claims;

/// Relative margin below which nothing is decided in floating point.
pub(super) const MARGIN: f64 = 1e-9;

/// There is a solution, and it is the only one.
pub(super) const WELL_POSED: Claims =
    Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: Some(true) };

/// There is a solution.
pub(super) const SOLVABLE: Claims =
    Claims { existence: Some(true), acceleration_unique: None, forces_unique: None };

/// There is a solution, and all have one acceleration.
pub(super) const ONE_ACCELERATION: Claims =
    Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: None };

/// There is no solution, and so nothing is unique.
pub(super) const NO_SOLUTION: Claims =
    Claims { existence: Some(false), acceleration_unique: Some(false), forces_unique: Some(false) };

/// What is known of 𝒜.
#[derive(Clone, Debug)]
pub(super) enum AdmissibleSet {
    /// This acceleration is in it, with a margin at every contact.
    Interior(Vec<f64>),
    /// γ = 0, so a = 0 is in it.
    NoBias,
    /// It is empty: multipliers λ (joints first) with [G; N]ᵀ λ = 0, γᵀ λ < 0, λ_u ≥ 0.
    Empty(Vec<f64>),
    /// Too close to call, or without an interior.
    Undecided,
}
