//! What a time step reports, and what is kept of one.

use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::Status;
use glam::DVec3;

use super::linearization::Linearization;
use super::model::Model;
use super::velocity_solve::SolveOutcome;
use super::warm_start::key;
use crate::collision::{Contact, contact_name, pair_name};
use crate::world::{BodyState, World, WorldState};

/// A contact that friction has stopped without a collision: no force could have kept it sliding (003 §5).
#[derive(Clone, Debug, PartialEq)]
pub struct Jam {
    /// Time at the begin of the step.
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
    /// Whether there are other impulses for the same motion. Shown, not guessed: where it is false, none were
    /// found.
    pub non_unique: bool,
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
            non_unique: false,
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

/// The name of a contact among those of a linearization.
pub(super) fn name_of(world: &World, contacts: &[Contact], contact: &Contact) -> String {
    match contacts.iter().position(|c| key(c) == key(contact)) {
        Some(i) => contact_name(world, contacts, i),
        None => pair_name(world, contact.bodies),
    }
}

/// A contact that has stopped bouncing.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulation {
    /// When the rebounds that were too small to follow would have ended.
    pub t: f64,
    /// Name of the contact.
    pub contact: String,
}

/// Bodies, shapes and feature of a contact, and its impulse.
pub type KeyedImpulse = ([u32; 2], [u32; 2], u32, [f64; 5]);

/// All that a stepper needs to go on with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Positions and velocities.
    pub state: WorldState,
    /// Steps made.
    pub steps: u64,
    /// Time at the begin.
    pub start: f64,
    /// Impulses of the rows of joints in the last step.
    pub row_impulse: Vec<f64>,
    /// Impulses of contacts in the last step: bodies, shapes, feature, impulse.
    pub contact_impulse: Vec<KeyedImpulse>,
}

/// Forces of contacts at a moment.
#[derive(Clone, Debug)]
pub struct Forces {
    /// Per contact of the stepper: normal force, and friction in world axes. Where forces are not unique,
    /// those of least norm.
    pub contacts: Vec<(f64, DVec3)>,
    /// Which normal forces go with the same motion: per row of a joint that counts, then per closed contact.
    pub ranges: ImpulseRange,
    /// Per contact, its place in the ranges.
    pub place: Vec<Option<usize>>,
    /// How the solve ended.
    pub status: Status,
}
