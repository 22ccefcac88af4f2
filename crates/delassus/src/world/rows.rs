//! Rows of joints: what is linear in velocities, and what each demands.
//!
//! ```text
//! u_i = Σ over bodies of J_i (ẋ, ω̄) + rate_i
//! ```

use super::joint_frames::Frames;
use super::{World, WorldState};

/// Rows of all joints at a state: their Jacobian, values and rates.
///
/// The velocity of row i is Σ over its blocks of block · (ẋ, ω̄) of the block's body, plus its rate. A body
/// has at most one block in a row. All rows of kind [`RowKind::Bilateral`] come first, then all of kind
/// [`RowKind::Limit`], then the others; within these, by joint.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// One entry per row.
    pub rows: Vec<Row>,
    /// Body and the six entries of the Jacobian, for the rows one after the other. Fixed bodies have none.
    pub blocks: Vec<(u32, [f64; 6])>,
    /// Number of rows of kind [`RowKind::Bilateral`].
    pub bilateral: usize,
    /// Number of rows of kind [`RowKind::Limit`].
    pub limits: usize,
    /// The frames of all joints at the state of the rows.
    pub(super) frames: Vec<Frames>,
}

impl Rows {
    /// Sets the frames of all joints.
    pub(super) fn find_frames(&mut self, world: &World, state: &WorldState) {
        self.frames.clear();
        self.frames.extend(world.joints.iter().map(|joint| Frames::new(joint, state)));
    }

    /// The blocks of a row.
    pub fn blocks_of(&self, row: &Row) -> &[(u32, [f64; 6])] {
        &self.blocks[row.blocks[0] as usize..row.blocks[1] as usize]
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Index of the joint.
    pub joint: u32,
    /// Its blocks, as a range.
    pub blocks: [u32; 2],
    /// What it demands.
    pub kind: RowKind,
    /// How far the constraint is from being satisfied: g, the distance to a limit, or c − rest of a spring.
    /// Zero for rows that demand a velocity or give a force.
    pub value: f64,
    /// ∂g/∂t of a driven constraint (004 eq. 6b); minus the target speed of a motor.
    pub rate: f64,
    /// How the force λ of this row enters the load of its joint, √(Σ (load λ)²): 1 for a locked displacement,
    /// 0 elsewhere.
    pub load: f64,
}

/// What a row demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// g = 0, whatever force it takes.
    Bilateral,
    /// g ≥ 0, with a force that is not negative.
    Limit {
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// Velocity zero as long as the force does not exceed the bound. The bound may be infinite.
    Bounded {
        /// Largest force or moment.
        force: f64,
        /// Largest force or moment per load of the joint: dry friction (m for a moment).
        per_load: f64,
    },
    /// A force −stiffness · value − damping · velocity.
    Spring {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
    },
    /// A force push − stiffness · value − damping · velocity within a range.
    Servo {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
        /// What it pushes with at the value zero and at rest.
        push: f64,
        /// Least and largest force.
        range: [f64; 2],
    },
    /// A force −inertia · (change of the velocity per time).
    Armature {
        /// Inertia of the rotor.
        inertia: f64,
    },
    /// A given force.
    Applied {
        /// The force or moment.
        force: f64,
    },
}
