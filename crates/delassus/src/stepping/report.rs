//! What a time step reports, and what is kept of one.

use std::fmt;

use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::Status;
use glam::DVec3;

use super::energy::{EnergyAccount, EnergyGain};
use super::linearization::Linearization;
use super::model::Model;
use super::row_targets::Accumulation;
use super::velocity_solve::SolveOutcome;
use crate::world::{BodyState, WorldState};

/// A contact that friction has stopped without a collision: no force could have kept it sliding (003 §5).
#[derive(Clone, Debug, PartialEq)]
pub struct Jam {
    /// Time at the start of the step.
    pub t: f64,
    /// Name of the contact.
    pub contact: String,
    /// Its point.
    pub point: DVec3,
    /// Normal impulse of the jump, N s.
    pub impulse: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// Friction above which this contact can jam.
    pub mu_jam: f64,
}

/// What a step could not do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepFailure {
    /// A solve ended with this residual, above the tolerance.
    Residual(f64),
    /// Bodies overlap.
    Overlap {
        /// Which.
        bodies: [usize; 2],
        /// How far, m.
        depth: f64,
    },
    /// A joint is open or beyond a limit.
    Joint {
        /// Which.
        joint: usize,
        /// How far, m or rad.
        opening: f64,
    },
    /// Contacts would have given energy; bodies went as far as linearized gaps let them.
    Energy,
    /// Joints gave energy in a substep as short as it may be: the step is no motion.
    JointEnergy {
        /// How much, J.
        gained: f64,
    },
    /// Joints took energy, in substeps as short as they may be.
    JointLoss {
        /// How much, J.
        lost: f64,
    },
    /// Motors or friction of joints did not settle between holding and giving way.
    Bounds,
}

/// What a step reports.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Worst outcome of its solves.
    pub status: Status,
    /// What failed first, where that is not `Solved`.
    pub failure: Option<StepFailure>,
    /// Largest residual of its solves.
    pub residual: f64,
    /// Sweeps and iterations of all solves.
    pub iterations: usize,
    /// Solves.
    pub solves: usize,
    /// Largest overlap at its end, m.
    pub penetration: f64,
    /// Largest opening of a joint at its end, m or rad.
    pub joint_error: f64,
    /// Contacts that jammed.
    pub jams: Vec<Jam>,
    /// Rebounds.
    pub impacts: usize,
    /// Contacts that came to rest after ever smaller rebounds.
    pub accumulations: Vec<Accumulation>,
    /// Energy that passed through joints and contacts.
    pub energy: EnergyAccount,
    /// Energy that contacts put in.
    pub energy_gains: Vec<EnergyGain>,
    /// Whether there are other impulses for the same motion. Shown, not guessed: where it is false, none were
    /// found.
    pub non_unique: bool,
    /// Whether another motion obeys the laws as well. Shown, not guessed, as above.
    pub non_unique_motion: bool,
}

impl StepReport {
    /// A step in which nothing has happened yet.
    pub(super) fn solved() -> Self {
        StepReport {
            status: Status::Solved,
            failure: None,
            residual: 0.0,
            iterations: 0,
            solves: 0,
            penetration: 0.0,
            joint_error: 0.0,
            jams: vec![],
            impacts: 0,
            accumulations: vec![],
            energy: EnergyAccount::default(),
            energy_gains: vec![],
            non_unique: false,
            non_unique_motion: false,
        }
    }

    /// Adds a solve.
    pub(super) fn add_solve(&mut self, outcome: SolveOutcome, tolerance: f64) {
        if outcome.status != Status::Solved {
            // A solve within the tolerance failed by what it did not solve for.
            let residual = Some(outcome.residual).filter(|r| r.is_nan() || *r > tolerance);
            self.failure.get_or_insert(residual.map_or(StepFailure::Bounds, StepFailure::Residual));
        }
        self.status = worse(self.status, outcome.status);
        self.residual = self.residual.max(outcome.residual);
        self.iterations += outcome.iterations;
        self.solves += 1;
    }
}

/// The first status that is not `Solved`.
pub(super) fn worse(a: Status, b: Status) -> Status {
    if a == Status::Solved { b } else { a }
}

/// What is furthest open at a state in parts of what is allowed. The values of joints there come first
/// bilateral, then limits.
pub(super) fn worst_opening(
    model: &Model,
    on: &Linearization,
    bodies: &[BodyState],
    joint_values: &[f64],
) -> StepFailure {
    let (tolerance, rows) = (model.options.position_tolerance, on.joint_rows());
    let mut worst = (0.0, StepFailure::Bounds);
    for (i, value) in joint_values.iter().enumerate() {
        let opening = if i < rows.bilateral { value.abs() } else { -value };
        if opening / tolerance > worst.0 {
            let joint = rows.rows[i].joint as usize;
            worst = (opening / tolerance, StepFailure::Joint { joint, opening });
        }
    }
    for contact in on.contacts() {
        let pair = contact.bodies.map(|b| b as usize);
        let [a, b] = pair.map(|b| &bodies[b].pose);
        let depth = -contact.gap_at(a, b).0;
        if depth / model.yielding() > worst.0 {
            worst = (depth / model.yielding(), StepFailure::Overlap { bodies: pair, depth });
        }
    }
    worst.1
}

/// Bodies, shapes and feature of a contact, and its impulse.
pub type KeyedImpulse = ([u32; 2], [u32; 2], u32, [f64; 6]);

/// All that a stepper needs to go on with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Positions and velocities.
    pub state: WorldState,
    /// Steps made.
    pub steps: u64,
    /// Time at the start.
    pub start: f64,
    /// Impulses of the rows of joints in the last step; behind them those of the first halves of the last
    /// three steps, as far as these were made whole.
    pub row_impulse: Vec<f64>,
    /// Impulses of contacts in the last step: bodies, shapes, feature, impulse.
    pub contact_impulse: Vec<KeyedImpulse>,
}

/// Velocity and angular velocity of a body in world axes, a step after a moment, in the motion that is taken
/// and in another one that obeys the laws as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherBodyMotion {
    /// Its index in the world.
    pub body: usize,
    /// Those that are taken.
    pub taken: [DVec3; 2],
    /// Those of the other motion.
    pub other: [DVec3; 2],
}

/// Whether the normal force of a contact is the only one that goes with the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uniqueness {
    /// It is.
    Unique,
    /// All normal forces of this interval do, N.
    Interval {
        /// The least one.
        least: f64,
        /// The largest one; infinite where nothing bounds it.
        largest: f64,
    },
    /// It was not computed, or not decided.
    Unknown,
}

impl fmt::Display for Uniqueness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uniqueness::Unique => write!(f, "unique"),
            Uniqueness::Interval { least, largest } => write!(f, "from {least} to {largest} N"),
            Uniqueness::Unknown => write!(f, "unknown"),
        }
    }
}

/// Forces of contacts at a moment.
#[derive(Clone, Debug)]
pub struct Forces {
    /// Per contact of the stepper: normal force, and friction in world axes. Where forces are not unique,
    /// those of least norm; friction of a planar world is in its plane.
    pub contacts: Vec<(f64, DVec3)>,
    /// Which normal forces go with the same motion: per row of a joint that counts, then per closed contact.
    pub ranges: ImpulseRange,
    /// Per contact, its place in the ranges.
    pub place: Vec<Option<usize>>,
    /// How the solve ended.
    pub status: Status,
    /// Whether another motion, with other forces, is shown to obey the laws as well.
    pub other_motion: bool,
    /// The bodies that move otherwise in such a motion, where one was searched for and found; it was solved
    /// and checked as the motion that is taken.
    pub other_bodies: Vec<OtherBodyMotion>,
    /// Whether there are no other forces at all, with this or another motion; `None` where it is not known.
    pub unique: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::ActionKind;

    fn solve(status: Status, residual: f64) -> SolveOutcome {
        SolveOutcome { status, residual, iterations: 3 }
    }

    #[test]
    fn the_first_solve_that_failed_is_kept_and_all_are_counted() {
        let mut report = StepReport::solved();
        report.add_solve(solve(Status::Solved, 1e-13), 1e-12);
        assert_eq!((report.status, report.failure), (Status::Solved, None));
        report.add_solve(solve(Status::MaxIterations, 1e-3), 1e-12);
        report.add_solve(solve(Status::Stalled, 1e-6), 1e-12);
        assert_eq!(
            (report.status, report.failure),
            (Status::MaxIterations, Some(StepFailure::Residual(1e-3)))
        );
        assert_eq!((report.residual, report.iterations, report.solves), (1e-3, 9, 3));
    }

    #[test]
    fn a_solve_within_the_tolerance_fails_by_its_bounds_and_one_without_a_number_by_its_residual() {
        let mut report = StepReport::solved();
        report.add_solve(solve(Status::Stalled, 1e-13), 1e-12);
        assert_eq!(report.failure, Some(StepFailure::Bounds));
        let mut report = StepReport::solved();
        report.add_solve(solve(Status::Stalled, f64::NAN), 1e-12);
        assert!(matches!(report.failure, Some(StepFailure::Residual(r)) if r.is_nan()));
    }

    #[test]
    fn the_worst_opening_is_measured_in_what_is_allowed() {
        // Allowed are 1e-10 m in joints and a hundred times as much between bodies.
        let spring = ActionKind::Spring { stiffness: 1.0, damping: 0.0, rest: 0.0 };
        let (mut world, mut state) = slider(spring, 0.375 - 3e-8, 0.0);
        world.no_contact.clear();
        state.bodies[1].pose.position.x = 2e-10;
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut values = vec![];
        crate::world::joint_values(&model.world, &state, &mut values);
        let worst = |values: &[f64]| worst_opening(&model, &on, &state.bodies, values);
        // An overlap of three times what is allowed, a joint that is open by twice as much.
        let StepFailure::Overlap { bodies, depth } = worst(&values) else { panic!("{:?}", worst(&values)) };
        assert!(bodies == [0, 1] && (depth - 3e-8).abs() < 1e-14, "{depth}");
        values.iter_mut().for_each(|value| *value *= 2.0);
        let StepFailure::Joint { joint: 0, opening } = worst(&values) else { panic!("{:?}", worst(&values)) };
        assert!((opening - 4e-10).abs() < 1e-15, "{opening}");
    }
}
