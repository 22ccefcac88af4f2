//! What the rotation of bodies adds to the velocities of rows within a substep.
//!
//! ```text
//! u½ = ½ (H(q_k) + H(q_{k+1})) v½ = H(q_k) v½ + c ,   c = ½ (H(q_k ⊕ h v_k) v_k − H(q_k) v_k) + O(h²)
//! ```
//!
//! c is a velocity per row, of the order of h. Rows of joints that are closed at the end of the drift need
//! none: their positions take care of it.
//!
//! Friction that slides acts along its slip. The first half of a substep has that of the middle, and so has
//! the second, whose solve ends in the velocities of the end: what the slip turned by in the first half is
//! taken from them. Where a contact is about to stop, it is not: the velocity of the end is then what counts.

use glam::DVec3;

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::warm_start::{Key, key};
use super::RowTargets;
use crate::collision::Contact;
use crate::world::{BodyState, RowKind, Rows, WorldState, joint_rows_at, row_velocity};

/// Rotations within a substep below this angle, rad, change directions by rounding.
const NO_ROTATION: f64 = 1e-8;
/// A slip that changes by more than this part of itself in half a substep may stop or turn back in the other.
const MAX_SLIP_CHANGE: f64 = 0.25;

/// What rotations add in one substep, in memory that is kept.
#[derive(Default)]
pub(in super::super) struct Turning {
    /// c of the rows of joints; empty where none needs it.
    pub(super) rows: Vec<f64>,
    /// c of the tangential rows of contacts; empty where none rotates.
    pub(super) slip: Vec<[f64; 2]>,
    /// u½ of the rows of joints after the first solve; empty where none needs it.
    pub(super) middle: Vec<f64>,
    /// How far the slip of contacts turned in the first half, world axes, sorted by key.
    turned: Vec<(Key, DVec3)>,
    /// The state at the end of the substep as the velocities of its begin predict it.
    moved: Option<WorldState>,
    moved_rows: Rows,
    velocity: Vec<f64>,
}

impl Turning {
    /// c of a substep of length h that begins at this state, whose velocities are `v`.
    pub(in super::super) fn predict(
        &mut self,
        model: &Model,
        on: &Linearization,
        state: &WorldState,
        v: &[f64],
        h: f64,
    ) {
        self.rows.clear();
        self.slip.clear();
        self.middle.clear();
        self.turned.clear();
        let rotates = |s: &BodyState| h * s.angular_velocity.length() > NO_ROTATION;
        if !model.is_symmetric() || !state.bodies.iter().any(rotates) {
            return;
        }
        let needs = |kind: &RowKind| matches!(kind, RowKind::Spring { .. } | RowKind::Bounded { .. });
        let joints = on.joint_rows().rows.iter().any(|row| needs(&row.kind));
        let slides = |c: &Contact| {
            c.gap <= model.touching() && c.bodies.iter().any(|b| rotates(&state.bodies[*b as usize]))
        };
        let friction = on.contacts().iter().zip(on.contact_rows()).any(|(c, r)| r.law.dim() > 1 && slides(c));
        if !joints && !friction {
            return;
        }
        let moved = self.moved.get_or_insert_with(|| state.clone());
        moved.bodies.clone_from(&state.bodies);
        moved.coordinates.clone_from(&state.coordinates);
        moved.t = state.t;
        model.drift(v, h, &mut moved.bodies);
        if friction {
            self.slip.extend(on.contacts().iter().zip(on.contact_rows()).map(|(contact, rows)| {
                if rows.law.dim() == 1 || !slides(contact) {
                    return [0.0; 2];
                }
                let [a, b] = contact.bodies.map(|b| &moved.bodies[b as usize]);
                let (_, _, point) = contact.gap_and_point_at(&a.pose, &b.pose);
                let now = contact.bodies.map(|b| &state.bodies[b as usize]);
                let change = slip([a, b], point) - slip(now, contact.point);
                rows.tangents.map(|t| 0.5 * t.dot(change))
            }));
        }
        if joints {
            joint_rows_at(&model.world, moved, h, state.t, &mut self.moved_rows);
            let (rows, masses) = (on.joint_rows(), &model.masses);
            masses.gather_velocities(&moved.bodies, &mut self.velocity);
            self.rows.extend(rows.rows.iter().enumerate().map(|(i, row)| {
                let same = self.moved_rows.rows.get(i).is_some_and(|moved| moved.joint == row.joint);
                if !same || !needs(&row.kind) {
                    return 0.0;
                }
                let end = row_velocity(&self.moved_rows, i, masses, &self.velocity);
                0.5 * (end - row_velocity(rows, i, masses, v))
            }));
        }
    }

    /// Records what the first solve led to: from the velocities `before`, without the kick, to `middle`.
    pub(in super::super) fn first_half(
        &mut self,
        model: &Model,
        on: &Linearization,
        targets: &RowTargets,
        [before, middle]: [&[f64]; 2],
    ) {
        let (rows, masses) = (on.joint_rows(), &model.masses);
        let velocity = |(i, c): (usize, &f64)| row_velocity(rows, i, masses, middle) + c;
        self.middle.extend(self.rows.iter().enumerate().map(velocity));
        for (i, c) in self.slip.iter().enumerate() {
            let (contact, rows) = (&on.contacts()[i], &on.contact_rows()[i]);
            if targets.normal_bias[i].is_none() || rows.law.dim() == 1 {
                continue;
            }
            let slip = [1, 2].map(|k| rows.velocity(k, middle) + c[k - 1]);
            let change = [1, 2].map(|k| slip[k - 1] - rows.velocity(k, before));
            let size = slip[0] * slip[0] + slip[1] * slip[1];
            if change[0].hypot(change[1]) > MAX_SLIP_CHANGE * size.sqrt() || size == 0.0 {
                continue;
            }
            let along = (slip[0] * change[0] + slip[1] * change[1]) / size;
            let [t1, t2] = rows.tangents;
            let turned = t1 * (change[0] - along * slip[0]) + t2 * (change[1] - along * slip[1]);
            self.turned.push((key(contact), turned));
        }
    }

    /// b of the tangential rows in the second solve.
    pub(super) fn second_slip(&self, on: &Linearization, out: &mut Vec<[f64; 2]>) {
        out.clear();
        if self.turned.is_empty() {
            return;
        }
        out.extend(on.contacts().iter().zip(on.contact_rows()).map(|(contact, rows)| {
            match self.turned.binary_search_by_key(&key(contact), |(key, _)| *key) {
                Ok(at) => rows.tangents.map(|t| -t.dot(self.turned[at].1)),
                Err(_) => [0.0; 2],
            }
        }));
    }
}

/// Velocity of B against A at a point.
fn slip([a, b]: [&BodyState; 2], point: DVec3) -> DVec3 {
    let at = |s: &BodyState| s.velocity + s.world_angular_velocity().cross(point - s.pose.position);
    at(b) - at(a)
}
