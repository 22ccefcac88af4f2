//! What the contact problem of a world is made of.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ
//! ```
//!
//! M is n × n, diagonal but for rotors; rows of J and γ come with the joint or the contact that they belong
//! to. Joints with bounded forces change the parts (`bounded_rows.rs`), and so does the plane in which a
//! world moves (`planar.rs`).

use glam::DVec3;

use super::world_forces::Forces;
use crate::lagrangian::{ContactKinematics, JointKinematics, Row};

/// What a world is made of at a state, before the laws of joints with bounded forces are chosen. Rows count
/// in the coordinates of `coordinates`.
pub(super) struct WorldParts {
    /// Names of the coordinates.
    pub(super) coordinates: Vec<String>,
    /// Diagonal of M.
    pub(super) mass: Vec<f64>,
    /// What rotors add to M: inertia a and gradient n of each, Σ a nᵀn.
    pub(super) rotors: Vec<(f64, Vec<f64>)>,
    /// F.
    pub(super) force: Forces,
    /// How far an entry of γ that is not zero may be off.
    pub(super) bias_error: f64,
    /// Velocities, one per coordinate.
    pub(super) velocity: Vec<f64>,
    /// The bilateral rows.
    pub(super) joints: Vec<JointRow>,
    /// Limits of joints within the tolerance, then contacts of shapes.
    pub(super) contacts: Vec<NamedContact>,
    /// Motors and dry friction of joints.
    pub(super) bounded: Vec<BoundedRow>,
    /// What acts on the world and is not in the parts, in words.
    pub(super) left_out: Vec<String>,
}

/// A bilateral row of a joint.
pub(super) struct JointRow {
    /// Its name.
    pub(super) name: String,
    /// Number of the joint.
    pub(super) joint: usize,
    /// How its force enters the load of the joint.
    pub(super) load: f64,
    /// Row and value; friction comes later.
    pub(super) kinematics: JointKinematics,
}

/// A contact, or a limit of a joint.
pub(super) struct NamedContact {
    /// Its name.
    pub(super) name: String,
    /// Normal and tangents, world axes; `None` for a limit.
    pub(super) axes: Option<[DVec3; 3]>,
    /// Rows and coefficients.
    pub(super) kinematics: ContactKinematics,
}

/// A row of a joint whose force is bounded.
pub(super) struct BoundedRow {
    /// `friction of …` or `motor of …`.
    pub(super) name: String,
    /// Number of the joint.
    pub(super) joint: usize,
    /// Whether what the row must reach depends on the time step: motors to a position.
    pub(super) needs_step: bool,
    /// Bound without load; may be infinite.
    pub(super) force: f64,
    /// Bound per load of the joint.
    pub(super) per_load: f64,
    /// The row, with its velocity against the target.
    pub(super) row: Row,
}
