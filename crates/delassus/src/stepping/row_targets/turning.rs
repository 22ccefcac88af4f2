//! What the rotation of bodies adds to the velocities of rows within a substep.
//!
//! ```text
//! u½ = ½ (H(q_k) + H(q_{k+1})) v½ = H(q_k) v½ + c ,   c = ½ (H(q_k ⊕ h v_k) v_k − H(q_k) v_k) + O(h²)
//! ```
//!
//! c is a velocity per row, of the order of h. Rows of joints that are closed at the end of the drift need
//! none: their positions take care of it.
//!
//! Friction that slides needs none either: it acts along its slip in both halves, and the slip of the start
//! in the first and that of the end in the second make the trapezoidal rule. But the first solve gives it the
//! velocity of the middle. What forces turned the slip by until then is taken from the velocity in the second
//! solve, so that both errors cancel; not where a contact is about to stop, for which the velocity of the end
//! is what counts.

use glam::DVec3;

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::warm_start::{Key, key};
use super::RowTargets;
use crate::collision::{Contact, ContactRows};
use crate::world::{BodyState, RowKind, Rows, WorldState, joint_rows_at, row_velocity};

/// Rotations within a substep below this angle, rad, change directions by rounding.
const NO_ROTATION: f64 = 1e-8;
/// What turns a slip by less than this part of it is rounding.
const NO_TURN: f64 = 1e-9;
/// A contact whose slip is below this part of the speed that a free fall gains in the substep sticks or
/// rolls.
const STICKING_RATIO: f64 = 1e-4;
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
    /// What forces turned the slip of contacts by in the first half, world axes, sorted by key.
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
        let needs = |kind: &RowKind| {
            !matches!(kind, RowKind::Bilateral | RowKind::Limit { .. } | RowKind::Applied { .. })
        };
        let joints = on.joint_rows().rows.iter().any(|row| needs(&row.kind));
        let slow = STICKING_RATIO * h * model.world.gravity.length();
        let sticks = |c: &Contact, rows: &ContactRows| {
            rows.law.dim() > 1
                && c.gap <= model.touching()
                && c.bodies.iter().any(|b| rotates(&state.bodies[*b as usize]))
                && rows.velocity(1, v).hypot(rows.velocity(2, v)) <= slow
        };
        let friction = on.contacts().iter().zip(on.contact_rows()).any(|(c, rows)| sticks(c, rows));
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
                if !sticks(contact, rows) {
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
        if !model.is_symmetric() {
            return;
        }
        let slow = STICKING_RATIO * model.options.dt * model.world.gravity.length();
        let all = on.contacts().iter().zip(on.contact_rows()).zip(&targets.normal_bias);
        for ((contact, rows), target) in all {
            if target.is_none() || rows.law.dim() == 1 || contact.gap > model.touching() {
                continue;
            }
            let slip = [1, 2].map(|k| rows.velocity(k, middle));
            let change = [1, 2].map(|k| slip[k - 1] - rows.velocity(k, before));
            let size = slip[0] * slip[0] + slip[1] * slip[1];
            let across = slip[0] * change[1] - slip[1] * change[0];
            // The direction of what does not slip is rounding.
            let turns = across.abs() > NO_TURN * size && size > slow * slow;
            if !turns || change[0].hypot(change[1]) > MAX_SLIP_CHANGE * size.sqrt() {
                continue;
            }
            // The part of the change that is perpendicular to the slip.
            self.turned.push((key(contact), rows.slip([-slip[1], slip[0]]) * (across / size)));
        }
        // Contacts are sorted by key, but for few that came later.
        self.turned.sort_unstable_by_key(|(key, _)| *key);
    }

    /// b of the tangential rows in the second solve.
    pub(in super::super) fn second_slip(&self, on: &Linearization, out: &mut Vec<[f64; 2]>) {
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

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::super::super::options::{Scheme, StepOptions};
    use super::super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::world::{ShapeKind, Surface};

    const EDGE: f64 = 0.1;
    const TILT: f64 = 0.3;

    /// c of the contacts of a box that turns about an edge on the floor, as vectors, and from the edge to the
    /// centre: r.
    fn about_an_edge(omega: f64, slide: f64, h: f64, scheme: Scheme) -> (Vec<DVec3>, DVec3) {
        let kind = ShapeKind::Box { half_extents: DVec3::splat(EDGE) };
        let (sin, cos) = TILT.sin_cos();
        // The edge is at (+, −) in the plane of the rotation.
        let r = -EDGE * DVec3::new(cos - sin, 0.0, -(cos + sin));
        let (world, mut state) = on_a_floor(kind, r.z, [0.5, 0.0]);
        let body = &mut state.bodies[1];
        body.pose.rotation = glam::DQuat::from_rotation_y(TILT);
        body.angular_velocity = omega * DVec3::Y;
        body.velocity = body.angular_velocity.cross(r) + slide * DVec3::X;
        let options = StepOptions { scheme, ..StepOptions::default() };
        let (model, on) = linearized(world, &mut state, options, h);
        assert_eq!(on.contacts().len(), 2);
        let mut v = vec![];
        model.masses.gather_velocities(&state.bodies, &mut v);
        let mut turning = Turning::default();
        turning.predict(&model, &on, &state, &v, h);
        assert!(turning.rows.is_empty());
        let sign = |c: &Contact| if c.bodies[1] == 1 { 1.0 } else { -1.0 };
        let vector = |(k, c): (usize, &[f64; 2])| {
            let [s, t] = on.contact_rows()[k].tangents;
            sign(&on.contacts()[k]) * (s * c[0] + t * c[1])
        };
        (turning.slip.iter().enumerate().map(vector).collect(), r)
    }

    #[test]
    fn what_sticks_gets_half_of_what_rotation_does_to_its_velocity() {
        let mut errors = vec![];
        for h in [1e-3, 5e-4] {
            let (found, r) = about_an_edge(2.0, 0.0, h, Scheme::Symmetric);
            assert_eq!(found.len(), 2);
            // The corner at −r from the centre is at rest, and later has the velocity h ω × (ω × (−r)) =
            // h ω² r in the plane of the rotation; c is half of it along the floor.
            let expected = 0.5 * h * 4.0 * r.x * DVec3::X;
            errors.push(found.iter().map(|c| c.distance(expected)).fold(0.0, f64::max));
            assert!(*errors.last().unwrap() < 0.01 * expected.length(), "{found:?} for {expected}");
        }
        // The rest is of second order.
        assert!(errors[1] < 0.3 * errors[0], "{errors:?}");
    }

    #[test]
    fn what_slides_or_does_not_rotate_gets_nothing_nor_does_the_first_order_scheme() {
        assert!(about_an_edge(2.0, 0.1, 1e-3, Scheme::Symmetric).0.is_empty(), "it slides");
        assert!(about_an_edge(0.0, 0.0, 1e-3, Scheme::Symmetric).0.is_empty(), "it rests");
        assert!(about_an_edge(2.0, 0.0, 1e-3, Scheme::HalfImplicit).0.is_empty());
    }

    /// What the second solve takes from the slip of a ball that slides with (1, 0) and then with this, as a
    /// vector; nothing where it takes none.
    fn second(middle: [f64; 2], target: Option<f64>) -> Option<DVec3> {
        let surface = Surface { mu: 0.3, ..smooth() };
        let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::X);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let targets = RowTargets { joints: vec![], normal_bias: vec![target], slip_bias: vec![] };
        let before = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let middle = [middle[0], middle[1], 0.0, 0.0, 0.0, 0.0];
        let (mut turning, mut out) = (Turning::default(), vec![]);
        turning.first_half(&model, &on, &targets, [&before, &middle]);
        turning.second_slip(&on, &mut out);
        let [s, t] = on.contact_rows()[0].tangents;
        let sign = if on.contacts()[0].bodies[1] == 1 { 1.0 } else { -1.0 };
        out.first().map(|b| sign * (s * b[0] + t * b[1]))
    }

    #[test]
    fn what_forces_turned_a_slip_by_is_taken_from_the_second_solve() {
        // The change (0, 0.1) has the part 0.1 (−0.1, 1)/1.01 across the slip (1, 0.1).
        let taken = second([1.0, 0.1], Some(0.0)).unwrap();
        let expected = -0.1 / 1.01 * DVec3::new(-0.1, 1.0, 0.0);
        assert!(taken.distance(expected) < 1e-14, "{taken} for {expected}");
        assert_eq!(second([0.9, 0.0], Some(0.0)), None, "slower, but not turned");
        assert_eq!(second([1.0, 0.4], Some(0.0)), None, "it may turn back");
        assert_eq!(second([1.0, 0.1], None), None, "nothing presses");
    }
}
