//! Joints: which relative motions of two bodies they allow.

use crate::world::Pose;

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// The two bodies.
    pub bodies: [usize; 2],
    /// A frame on each body, in its axes; they coincide in the position in which the joint is drawn. Its z axis is the axis of
    /// the joint.
    pub frames: [Pose; 2],
}

/// Rows of all joints at a state: what they hold, their values and velocities.
///
/// The velocity of row i is Σ over its blocks of block · (ẋ, ω̄) of the block's body, plus its rate.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// One entry per row.
    pub rows: Vec<Row>,
    /// Body and the six entries of the Jacobian, for the rows one after the other. Fixed bodies have none.
    pub blocks: Vec<(u32, [f64; 6])>,
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
    /// How far the constraint is from being satisfied: g, or the distance to a limit.
    pub value: f64,
    /// ∂g/∂t of a driven constraint (004 eq. 6b); minus the wanted speed of a motor.
    pub rate: f64,
}

/// What a row demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// g = 0, whatever force it takes.
    Held,
    /// g ≥ 0, with a force that is not negative.
    Limit {
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// Velocity zero as long as the force does not exceed the bound.
    Bounded {
        /// Largest force or moment.
        force: f64,
        /// Largest force or moment per force of the rows held by the same joint: dry friction (m for a moment).
        per_load: f64,
    },
}
