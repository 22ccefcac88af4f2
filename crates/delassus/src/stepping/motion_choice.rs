//! The motion that a solve takes where there may be several, and whether there are.
//!
//! ```text
//! u = W r + q ,   (u, r) in the laws for several u:   the one of least impulses at contacts
//! ```
//!
//! Which solution a method finds first is chance, and must decide neither the motion nor whether others are
//! reported. Where others are shown or possible beside it, the solve is made again for the canonical one
//! (`velocity_solve`). There is another motion where the first solution showed it, where the canonical one
//! does, and where the two differ.

use delassus_solve::problem::{InvalidProblem, Status};

use super::force_uniqueness::{OtherMotion, UniquenessScratch, UniquenessSearch};
use super::linearization::Linearization;
use super::model::Model;
use super::velocity_solve::{FallbackSolver, SolveInput, SolveOutcome};
use super::warm_start::Impulses;

/// A solve that was made.
pub(super) struct MotionChoice<'a> {
    pub(super) model: &'a Model,
    pub(super) linearization: &'a Linearization,
    pub(super) solver: &'a mut FallbackSolver,
    pub(super) input: &'a SolveInput<'a>,
    /// What it found: becomes the motion that is taken.
    pub(super) impulses: &'a mut Impulses,
    pub(super) velocity: &'a mut Vec<f64>,
}

impl MotionChoice<'_> {
    /// The outcome with the motion that is taken, and whether contacts allow another one.
    pub(super) fn choose(
        self,
        found: SolveOutcome,
        scratch: &mut UniquenessScratch,
    ) -> Result<(SolveOutcome, bool), InvalidProblem> {
        let MotionChoice { model, linearization, solver, input, impulses, velocity } = self;
        if found.status != Status::Solved {
            return Ok((found, false));
        }
        let first = UniquenessSearch { model, linearization, impulses, velocity }.finds_other_motion(scratch);
        if first == OtherMotion::None {
            return Ok((found, false));
        }
        let (outcome, differs) = solver.solve_canonical(found, input, impulses, velocity)?;
        let search = UniquenessSearch { model, linearization, impulses, velocity };
        let shown = |other: OtherMotion| other == OtherMotion::Shown;
        Ok((outcome, shown(first) || differs || shown(search.finds_other_motion(scratch))))
    }
}
