//! Springs and dampers, k and d, in the two halves of a symmetric substep:
//!
//! ```text
//! r₁ = −½h (k (g + ½(1 + σs) h u½) + d u½) ,   r₂ = r₁ − ½h σ d (u − u½)
//! σ = z/(1 + z) ,   z = ½h d H M⁻¹ Hᵀ ,   s = kh/(d + kh)
//! ```
//!
//! Without damping σ is zero: the midpoint rule, which keeps the energy. With it the step is of second order
//! still, σ being of the order of h, and what is damped stiffly decays at once instead of changing its sign
//! from step to step: a damper by itself slows down by 1/(1 + 2z + 2z² + z³) for e^(−2z). A spring that its
//! damper slows down so much that a step resolves it, k h ≪ d, is taken in the middle all the same. The rotor
//! of a joint, of inertia a, turns with its coordinate and is a body that the joint carries:
//!
//! ```text
//! r₁ = −a (u½ − u_k) ,   r₂ = −a (u − u½)
//! ```

use super::{RowTarget, SubstepView};
use crate::world::{Row, RowKind, Rows, row_mobility, row_velocity};

/// Below this σ z the change of a damper in the second half is rounding.
const NEGLIGIBLE_DAMPING: f64 = 1e-9;

/// σ = z/(1 + z): how much of a damper is taken at the end of the step.
fn end_share(z: f64) -> f64 {
    // Without a number: a damper of infinite strength.
    if z.is_finite() { z / (1.0 + z) } else { 1.0 }
}

/// Inertia of the rotors on the coordinate of a row.
fn rotor_inertia(rows: &Rows, row: &Row) -> f64 {
    let along = |other: &Row| match other.kind {
        RowKind::Armature { inertia } if rows.blocks_of(other) == rows.blocks_of(row) => inertia,
        _ => 0.0,
    };
    rows.rows[rows.bilateral + rows.limits..].iter().filter(|other| other.joint == row.joint).map(along).sum()
}

impl SubstepView<'_> {
    /// z = ½h d H M⁻¹ Hᵀ of a damper.
    fn damping_number(&self, row: &Row, damping: f64) -> f64 {
        let rows = self.linearization.joint_rows();
        let mobility = row_mobility(rows, row, &self.model.masses);
        // A rotor beside it is part of what it slows down.
        let inertia = rotor_inertia(rows, row);
        0.5 * self.h() * damping * mobility / (1.0 + inertia * mobility)
    }

    /// r₁ of a servo: that of a spring that pushes with more, within bounds that the solve keeps.
    pub(super) fn servo_target(
        &self,
        i: usize,
        row: &Row,
        [stiffness, damping]: [f64; 2],
        push: f64,
        [low, high]: [f64; 2],
    ) -> RowTarget {
        let share = if self.model.is_symmetric() { 0.5 } else { 1.0 };
        match self.spring_target(i, row, [stiffness, damping]) {
            RowTarget::Compliant { bias, compliance } => {
                RowTarget::Compliant { bias: bias - share * self.h() * push * compliance, compliance }
            }
            _ => RowTarget::Impulse(share * self.h() * push.clamp(low, high)),
        }
    }

    /// r₁ of a spring with a damper.
    pub(super) fn spring_target(&self, i: usize, row: &Row, [stiffness, damping]: [f64; 2]) -> RowTarget {
        let (h, symmetric) = (self.h(), self.model.is_symmetric());
        let share = if symmetric { 0.5 } else { 1.0 };
        // r = −share·h (k (g + θh u) + d u)
        let sigma = if symmetric { end_share(self.damping_number(row, damping)) } else { 1.0 };
        let slow = if symmetric { stiffness * h / (damping + stiffness * h) } else { 1.0 };
        let theta = 0.5 + 0.5 * sigma * if stiffness > 0.0 { slow } else { 1.0 };
        let resistance = stiffness * theta * h + damping;
        let compliance = 1.0 / (share * h * resistance);
        if !compliance.is_finite() {
            // Neither stiffness nor damping: nothing acts.
            return RowTarget::Impulse(0.0);
        }
        let bias = stiffness * row.value / resistance + row.rate + self.turning(i);
        RowTarget::Compliant { bias, compliance }
    }

    /// r₂ of it, from r₁ and the velocities of the middle.
    pub(super) fn damper_target(
        &self,
        i: usize,
        row: &Row,
        damping: f64,
        first: f64,
        middle: &[f64],
    ) -> RowTarget {
        let z = self.damping_number(row, damping);
        let resistance = 0.5 * self.h() * damping * end_share(z);
        let first = match self.model.world.joints[row.joint as usize].is_medium() {
            // The resistance of a medium depends on the velocity: both halves together have that of the
            // middle.
            true => -self.h() * damping * self.middle_velocity(i, middle) - first,
            false => first,
        };
        if end_share(z) * z < NEGLIGIBLE_DAMPING {
            return RowTarget::Impulse(first);
        }
        let bias = -self.middle_velocity(i, middle) - first / resistance;
        RowTarget::Compliant { bias, compliance: 1.0 / resistance }
    }

    /// r₁ of a rotor.
    pub(super) fn rotor_target(&self, i: usize, inertia: f64) -> RowTarget {
        let rows = self.linearization.joint_rows();
        let before = row_velocity(rows, i, &self.model.masses, &self.start.velocity);
        RowTarget::Compliant { bias: self.turning(i) - before, compliance: 1.0 / inertia }
    }

    /// u½ of row i, whose velocities in the middle were carried to the end of the drift.
    pub(super) fn middle_velocity(&self, i: usize, middle: &[f64]) -> f64 {
        let carried = || row_velocity(self.linearization.joint_rows(), i, &self.model.masses, middle);
        self.start.turning.middle.get(i).copied().unwrap_or_else(carried)
    }
}
