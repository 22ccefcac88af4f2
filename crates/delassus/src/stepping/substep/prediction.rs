//! What the linearization of joints will miss in a substep, before its first solve.
//!
//! ```text
//! b = g(q_k ⊕ h v̂)/h − J v̂ ,   v̂ = v* + M⁻¹ Hᵀ r̂ ,   r̂ the impulses from which the solve starts
//! ```
//!
//! J v + b = 0 closes joints at the end of the drift up to what is of second order in v − v̂, times h ω. In
//! smooth motion r̂ is right to O(h²), and the first solve ends with joints that are closed to O(h⁴): most
//! often it is the only one that ends in positions. So it is for gaps. Where contacts are many there is no
//! prediction: joints that are closed to no more than the position tolerance contradict contacts that stick
//! on both sides. Nor have loops near their singular positions, which a prediction may leave on another
//! branch.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::row_targets::{SubstepPlan, SubstepStart, SubstepView, predict_targets};
use super::{HalfEnd, SubstepWorkspace};
use crate::world;
use crate::world::{World, WorldState};

/// Rotations below this angle in a substep, rad, bend the way of a point by less than a position tolerance.
const STRAIGHT_ROTATION: f64 = 1e-6;
/// Rows of contacts that are more than this part of the motions which joints leave may contradict joints.
const MAX_CONTACT_ROWS_RATIO: f64 = 0.65;
/// Impulses that change velocities by more than this part in half a substep are those of an impact.
const SMOOTH_CHANGE: f64 = 0.5;

/// Whether contacts leave joints the motions that a prediction asks for.
pub(super) fn may_predict(on: &Linearization) -> bool {
    let rows: usize = on.contact_rows().iter().map(|contact| contact.law.dim()).sum();
    let motions = on.tree().map_or(0.0, |tree| tree.motions() as f64);
    on.joint_rows().bilateral > 0 && (rows == 0 || rows as f64 <= MAX_CONTACT_ROWS_RATIO * motions)
}

impl HalfEnd {
    /// The values of joints at a state.
    pub(super) fn find_joint_values(&mut self, world: &World, state: &WorldState) {
        world::joint_values_with(world, state, &mut self.joint_values, &mut self.limit_values);
    }

    /// Velocities in the middle of a substep with the impulses that the solve starts from; those of its start
    /// where the impulses are not those of a smooth motion.
    fn predict(&mut self, model: &Model, on: &Linearization, start: &SubstepStart) {
        let HalfEnd { impulses, velocity, .. } = self;
        let (rows, masses) = (on.joint_rows(), &model.masses);
        velocity.clone_from(&start.free_velocity);
        for (i, &r) in impulses.rows.iter().enumerate().filter(|(_, r)| **r != 0.0) {
            world::apply_row_impulse(rows, i, r, masses, velocity);
        }
        for (contact, r) in on.contact_rows().iter().zip(&impulses.contacts).filter(|(_, r)| r[0] != 0.0) {
            contact.apply_impulse(r, &masses.inverse, velocity);
        }
        let (mut change, mut size) = (0.0, 0.0);
        for ((v, before), m) in velocity.iter().zip(&start.velocity).zip(&masses.mass) {
            change += m * (v - before) * (v - before);
            size += m * before * before;
        }
        if change > SMOOTH_CHANGE * SMOOTH_CHANGE * size {
            velocity.clone_from(&start.velocity);
        }
    }
}

impl SubstepWorkspace {
    /// Adds to the targets of joints and contacts what the linearization will miss where the impulses are
    /// those from which the solve starts. These give velocities to O(h²), and what is missed is of the order
    /// (h ω)²: in smooth motion the first solve ends with joints that are closed to O(h⁴).
    pub(super) fn predict_positions(
        &mut self,
        model: &Model,
        linearization: &Linearization,
        state: &mut WorldState,
        plan: &SubstepPlan,
    ) {
        let SubstepWorkspace { start, targets, end, .. } = self;
        let h = plan.length;
        if start.bodies.iter().all(|body| h * body.angular_velocity.length() <= STRAIGHT_ROTATION) {
            return;
        }
        end.predict(model, linearization, start);
        model.drift(&end.velocity, h, &mut state.bodies);
        state.t = start.t + h;
        end.find_joint_values(&model.world, state);
        let on = SubstepView { model, linearization, start, plan };
        predict_targets(on, &end.drift(&state.bodies), targets);
        state.bodies.clone_from(&start.bodies);
        state.t = start.t;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Stepper;
    use super::super::super::options::{Coordinates, StepOptions};
    use crate::world::{Body, Joint, Pose, Scene};
    use delassus_solve::problem::Status;
    use glam::DVec3;

    #[test]
    fn joints_of_a_swinging_double_pendulum_close_in_one_solve() {
        for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
            let mut scene = Scene::default();
            let base = scene.add(Body::fixed("base", vec![]));
            let [upper, lower] = [0.5, 1.5].map(|x| {
                let block = Body::block("link", 1.0, DVec3::new(0.4, 0.05, 0.05));
                scene.add(block.at(DVec3::new(x, 0.0, 0.0)))
            });
            let hinge = |x: f64| Pose::along(DVec3::new(x, 0.0, 0.0), DVec3::Y);
            scene.join([base, upper], hinge(0.0), Joint::revolute("first"));
            scene.join([upper, lower], hinge(1.0), Joint::revolute("second"));
            let options = StepOptions { coordinates, ..StepOptions::default() };
            let mut stepper = Stepper::new(scene.world, scene.state, options).unwrap();
            let mut once = 0;
            for _ in 0..200 {
                let report = stepper.step().unwrap();
                assert_eq!(report.status, Status::Solved);
                assert!(report.joint_error <= 1e-10, "{}", report.joint_error);
                once += usize::from(report.solves == 2);
            }
            // One solve that ends in positions and one that ends in velocities, but for some steps of the
            // start; three without a prediction, as links that fall turn by more than 1e-5 rad a step.
            assert!(once >= 150, "{coordinates:?}: {once}");
        }
    }
}
