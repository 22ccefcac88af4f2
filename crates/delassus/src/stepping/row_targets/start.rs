//! What is known at the start of a substep.
//!
//! ```text
//! q_k ,   v_k ,   v* = v_k + ½h M⁻¹F ,   u_n = H_n v_k ,   gap(q_k)
//! ```
//!
//! v* are the velocities that forces alone would give until the first solve; with whole kicks it is
//! v_k + h M⁻¹F.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::warm_start::{Key, key};
use super::turning::Turning;
use crate::collision::ShapePair;
use crate::world::{BodyState, Row, RowKind, WorldState, row_velocity};

/// The begin of a substep.
#[derive(Default)]
pub(in super::super) struct SubstepStart {
    pub(in super::super) bodies: Vec<BodyState>,
    pub(in super::super) t: f64,
    /// Its length, s.
    pub(in super::super) length: f64,
    /// How contacts close, sorted by key.
    pub(in super::super) approach: Vec<ContactApproach>,
    /// Limits of joints, in their order.
    pub(in super::super) limits: Vec<LimitStart>,
    /// Velocities, and those that forces alone would give until the first solve.
    pub(in super::super) velocity: Vec<f64>,
    pub(in super::super) free_velocity: Vec<f64>,
    /// What rotations add to the velocities of rows.
    pub(in super::super) turning: Turning,
    /// Pairs of shapes at whose touch the substep ends.
    pub(in super::super) ends_at: Vec<ShapePair>,
}

/// A limit at the start of a substep.
#[derive(Clone, Copy)]
pub(in super::super) struct LimitStart {
    pub(in super::super) value: f64,
    pub(in super::super) speed: f64,
    /// Whether it sends back what arrives.
    pub(in super::super) rebounds: bool,
}

impl LimitStart {
    /// Whether it is apart, or within what counts as touching on its way in a rebound.
    pub(in super::super) fn is_off(&self, model: &Model) -> bool {
        self.value > model.touching() || self.rebounds && self.speed.abs() > model.rest_speed()
    }
}

/// How a contact closes at the start of a substep.
#[derive(Clone, Copy)]
pub(in super::super) struct ContactApproach {
    key: Key,
    pub(in super::super) speed: f64,
    pub(in super::super) gap: f64,
    pub(in super::super) closed: bool,
}

impl SubstepStart {
    /// Records a state at which a substep of length h begins.
    pub(in super::super) fn record(&mut self, model: &Model, on: &Linearization, state: &WorldState, h: f64) {
        self.bodies.clone_from(&state.bodies);
        (self.t, self.length) = (state.t, h);
        let v = &mut self.free_velocity;
        model.masses.gather_velocities(&state.bodies, v);
        self.velocity.clone_from(v);
        let touching = model.touching();
        self.approach.clear();
        self.approach.extend(on.contacts().iter().zip(on.contact_rows()).map(|(c, rows)| ContactApproach {
            key: key(c),
            speed: rows.velocity(0, v),
            gap: c.gap,
            closed: c.gap <= touching,
        }));
        let rows = on.joint_rows();
        self.limits.clear();
        self.limits.extend((rows.bilateral..rows.bilateral + rows.limits).map(|i| {
            let Row { value, rate, kind, .. } = rows.rows[i];
            let rebounds = matches!(kind, RowKind::Limit { restitution } if restitution > 0.0);
            LimitStart { value, speed: row_velocity(rows, i, &model.masses, v) + rate, rebounds }
        }));
        self.turning.predict(model, on, state, v, h);
        model.kick(&state.bodies, model.first_kick(h), v);
    }

    /// How the contact with this key closed.
    pub(in super::super) fn approach_of(&self, key: Key) -> Option<&ContactApproach> {
        self.approach.binary_search_by_key(&key, |a| a.key).ok().map(|i| &self.approach[i])
    }
}
