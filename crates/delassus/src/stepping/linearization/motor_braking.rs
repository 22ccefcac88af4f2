//! Motors that move to a position brake in time.
//!
//! ```text
//! d = u²/(2a) + ½h u ,   a = w F ∓ α ,   w = n·y ,   α = y·f ,   M y = n + Hᵀ r ,   H y = 0
//! ```
//!
//! d is the distance left and u the largest speed from which steps of length h, each slower by a h, end
//! there. n is the row of the motor (6 per body that moves), F the bound on its force, H the bilateral rows
//! and f the weights and given forces: y is how the mechanism responds to a unit impulse of the motor, w its
//! mobility, and α what f does to the coordinate by itself.

use delassus_solve::linalg::Sparse;

use super::super::model::Model;
use super::joint_solve::JointsAlone;
use crate::world::{ActionKind, BodyState, RowKind, Rows, WorldState, distance_to_target};

/// Bilateral rows up to which the response of the whole mechanism is taken.
const MAX_RESPONSE_ROWS: usize = 200;
/// The least part of its strength with which a motor brakes where other forces leave it none.
const MIN_BRAKING_RATIO: f64 = 0.01;

/// Lowers the target speeds of motors with a bound on their force on the way to a position.
pub(super) fn brake_motors(model: &Model, state: &WorldState, h: f64, redundant: &[bool], rows: &mut Rows) {
    let world = &model.world;
    let is_motor = |kind: &ActionKind| matches!(kind, ActionKind::Speed { .. } | ActionKind::Position { .. });
    let brakes = |kind: &ActionKind| matches!(kind, ActionKind::Position { force, .. } if force.is_finite());
    for (j, joint) in world.joints.iter().enumerate() {
        if !joint.actions.iter().any(|action| brakes(&action.kind)) {
            continue;
        }
        // The motors of a joint come before its friction, in the order of its actions.
        let bounded = |i: &usize| {
            let row = &rows.rows[*i];
            row.joint as usize == j && matches!(row.kind, RowKind::Bounded { .. })
        };
        let places: Vec<usize> = (0..rows.rows.len()).filter(bounded).collect();
        for (action, i) in joint.actions.iter().filter(|action| is_motor(&action.kind)).zip(places) {
            let ActionKind::Position { target, force, speed } = &action.kind else { continue };
            if !force.is_finite() {
                continue;
            }
            let [distance, target_speed] = distance_to_target(world, state, j, action.coordinate, target, h);
            let Response { w, alpha } = response(model, &state.bodies, redundant, rows, i);
            let a = (w * force - alpha * distance.signum()).max(MIN_BRAKING_RATIO * w * force);
            let u = -0.5 * a * h + (0.25 * (a * h).powi(2) + 2.0 * a * distance.abs()).sqrt();
            let braked = target_speed + (distance / h).clamp(-u, u);
            if braked.is_finite() {
                rows.rows[i].rate = -braked.clamp(-speed, *speed);
            }
        }
    }
}

/// How the coordinate of a row accelerates under a unit force along it, w, and under weights and given
/// forces, α.
struct Response {
    w: f64,
    alpha: f64,
}

fn response(model: &Model, bodies: &[BodyState], redundant: &[bool], rows: &Rows, row: usize) -> Response {
    let masses = &model.masses;
    let mut n = vec![0.0; masses.mass.len()];
    for (body, block) in rows.blocks_of(&rows.rows[row]) {
        let at = 6 * masses.slot[*body as usize] as usize;
        n[at..at + 6].copy_from_slice(block);
    }
    let bilateral: Vec<usize> = (0..rows.bilateral).filter(|&i| !redundant[i]).collect();
    let mut entries = vec![];
    for (column, &i) in bilateral.iter().enumerate() {
        for (body, block) in rows.blocks_of(&rows.rows[i]) {
            let at = 6 * masses.slot[*body as usize] as usize;
            entries.extend((0..6).map(|c| (at + c, column, block[c])));
        }
    }
    // A rotor is a body of its own behind its row.
    let mut diagonal: Vec<_> = masses.mass.iter().enumerate().map(|(i, &m)| (i, i, m)).collect();
    let mut columns = bilateral.len();
    for row in &rows.rows {
        let RowKind::Armature { inertia } = row.kind else { continue };
        for (body, block) in rows.blocks_of(row) {
            let at = 6 * masses.slot[*body as usize] as usize;
            entries.extend((0..6).map(|c| (at + c, columns, block[c])));
        }
        entries.push((diagonal.len(), columns, 1.0));
        diagonal.push((diagonal.len(), diagonal.len(), inertia));
        columns += 1;
    }
    // M y
    let mut push = n.clone();
    if columns > 0 && columns <= MAX_RESPONSE_ROWS {
        push.resize(diagonal.len(), 0.0);
        let h = Sparse::from_triplets(diagonal.len(), columns, &entries);
        let (free, mut r) = (push.clone(), vec![]);
        if JointsAlone::default().solve(&h, &diagonal, &free, &vec![0.0; columns], &mut r) {
            entries.iter().for_each(|&(i, column, x)| push[i] += x * r[column]);
        }
    }
    let mut accelerations = vec![];
    model.accelerations(bodies, &mut accelerations);
    let w = n.iter().zip(&push).zip(&masses.inverse).map(|((n, p), m)| n * p * m).sum();
    let alpha = push.iter().zip(&accelerations).map(|(p, a)| p * a).sum();
    Response { w, alpha }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::super::super::options::StepOptions;
    use super::*;

    #[test]
    fn a_motor_slows_down_so_that_its_force_can_stop_it_at_the_target() {
        let (force, h, distance) = (40.0, 1e-3, 0.5);
        let motor = ActionKind::Position { target: formula("1"), force, speed: f64::INFINITY };
        let (world, mut state) = slider(motor, 1.0 - distance, 0.0);
        let (_, found) = linearized(world, &mut state, StepOptions::default(), h);
        let row = found.joint_rows().rows.last().unwrap();
        // d = u²/(2a) + ½h u with a = F/m.
        let (a, u) = (force / MASS, -row.rate);
        assert!((u * u / (2.0 * a) + 0.5 * h * u - distance).abs() < 1e-12, "{u}");
    }

    #[test]
    fn near_its_target_a_motor_arrives_within_the_step_and_never_faster_than_its_speed() {
        let rate = |force: f64, speed: f64, distance: f64, h: f64| {
            let motor = ActionKind::Position { target: formula("1"), force, speed };
            let (world, mut state) = slider(motor, 1.0 - distance, 0.0);
            let (_, found) = linearized(world, &mut state, StepOptions::default(), h);
            -found.joint_rows().rows.last().unwrap().rate
        };
        assert!((rate(1e6, f64::INFINITY, 1e-3, 1e-2) - 0.1).abs() < 1e-12);
        assert_eq!(rate(40.0, 0.25, 0.5, 1e-3), 0.25);
    }
}
