//! Contacts that press alone: where no two of them share a body that moves, each is solved by itself.
//!
//! ```text
//! q = H v + b ,   r_i = 0 where q_i,n ≥ 0 ,   else  u_i = W_ii r_i + q_i in the law of contact i
//! ```
//!
//! A ball that slides, a rod on its tip, balls that touch and do not press: no matrix is assembled for what
//! has a closed form. The contacts that do not press keep r = 0, whatever the others do to them; whether that
//! was right, the check of the residual decides, as for every solve.

use delassus_solve::contact::coulomb_space;
use delassus_solve::problem::Law;

use super::{MAX_CHECKED_CONTACTS, SolveInput};
use crate::collision::ContactRows;
use crate::world::FIXED_SLOT;

/// The part of the square of the largest friction from which on a contact is on the edge of its cone.
const EDGE: f64 = 1.0 - 1e-9;

/// Whether impulses are on the edge of all cones.
pub(super) fn slides_everywhere(laws: &[Law], impulse: &[f64]) -> bool {
    let mut at = 0;
    laws.iter().all(|law| {
        let r = &impulse[at..at + law.dim()];
        at += r.len();
        match law {
            Law::Unilateral => true,
            Law::Coulomb { mu } => r[1] * r[1] + r[2] * r[2] >= EDGE * (mu * r[0]).powi(2),
            _ => false,
        }
    })
}

/// The impulses of contacts that press alone, from the velocities before; false where two of them share a
/// body or a law has no closed form.
pub(super) fn propose(input: &SolveInput<'_>, v: &[f64], impulse: &mut [f64]) -> bool {
    let mut pressed = [FIXED_SLOT; 2 * MAX_CHECKED_CONTACTS];
    let (mut count, mut at) = (0, 0);
    for (i, contact) in input.contacts.iter().enumerate() {
        let Some(bias) = input.targets.contact_bias(i, 0) else { continue };
        let rows = at..at + contact.law.dim();
        at = rows.end;
        let normal = contact.velocity(0, v) + bias;
        impulse[rows.clone()].fill(0.0);
        if normal >= 0.0 {
            continue;
        }
        for slot in contact.slots.into_iter().filter(|slot| *slot != FIXED_SLOT) {
            if pressed[..count].contains(&slot) {
                return false;
            }
            pressed[count] = slot;
            count += 1;
        }
        if !press(input, v, i, contact, &mut impulse[rows]) {
            return false;
        }
    }
    true
}

/// The impulse of one contact that closes; false where there is no closed form.
fn press(input: &SolveInput<'_>, v: &[f64], i: usize, contact: &ContactRows, r: &mut [f64]) -> bool {
    let inverse = &input.masses.inverse;
    let q = |k: usize| contact.velocity(k, v) + input.targets.contact_bias(i, k).unwrap_or(0.0);
    match contact.law {
        Law::Unilateral => {
            let w = contact.self_block(inverse, 0, 0);
            r[0] = -q(0) / w;
            w > 0.0
        }
        Law::Coulomb { mu } => {
            let mut w = [[0.0; 3]; 3];
            for j in 0..3 {
                for k in 0..=j {
                    w[j][k] = contact.self_block(inverse, j, k);
                    w[k][j] = w[j][k];
                }
            }
            let found = coulomb_space(&w, &[q(0), q(1), q(2)], mu);
            found.is_some_and(|found| {
                r.copy_from_slice(&found);
                true
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::super::super::options::StepOptions;
    use super::super::super::row_targets::RowTargets;
    use super::super::super::warm_start::Impulses;
    use super::super::VelocitySolver;
    use super::super::tests::input;
    use crate::collision::MAX_CONTACT_ROWS;
    use crate::world::{ShapeKind, Surface};
    use delassus_solve::contact::Method;
    use delassus_solve::problem::Status;
    use glam::DVec3;

    /// Balls side by side on the floor, and one on top of the first; what a solve from these velocities finds
    /// by each of two methods.
    fn solved(v: &[f64], stacked: bool, start: [f64; 3]) -> [(usize, Vec<f64>); 2] {
        let (mut world, mut state) = ball_on_floor(Surface { mu: 0.25, ..smooth() }, 0.0, DVec3::ZERO);
        world.bodies.push(body("other", false, ShapeKind::Sphere { radius: RADIUS }));
        let beside = DVec3::new(3.0 * RADIUS, 0.0, RADIUS);
        let above = DVec3::new(0.0, 0.0, 3.0 * RADIUS);
        state.bodies.push(at(if stacked { above } else { beside }, DVec3::ZERO));
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let contacts = on.contacts().len();
        let targets =
            RowTargets { joints: vec![], normal_bias: vec![Some(0.0); contacts], slip_bias: vec![] };
        let begin = || {
            let mut r = [0.0; MAX_CONTACT_ROWS];
            r[..3].copy_from_slice(&start);
            Impulses { rows: vec![], contacts: vec![r; contacts] }
        };
        // The method by name takes the way of all problems.
        [Method::Auto, Method::GaussSeidel].map(|method| {
            let (mut impulses, mut after) = (begin(), v.to_vec());
            let mut input = input(&model, &on, &targets, 1e-3);
            input.options.method = method;
            let mut solver = VelocitySolver::default();
            let outcome = solver.solve(&input, &mut impulses, &mut after).unwrap();
            assert_eq!(outcome.status, Status::Solved);
            (outcome.iterations, after)
        })
    }

    #[test]
    fn contacts_that_press_alone_are_solved_at_once_as_all_are() {
        // Both press, one slides and one sticks; one lifts off; both do.
        let cases = [
            [3.0, 0.5, -1.0, 0.0, 1.0, 0.2, 0.1, 0.0, -2.0, 0.0, 0.3, 0.0],
            [3.0, 0.5, -1.0, 0.0, 1.0, 0.2, 0.1, 0.0, 2.0, 0.0, 0.3, 0.0],
            [3.0, 0.5, 1.0, 0.0, 1.0, 0.2, 0.1, 0.0, 2.0, 0.0, 0.3, 0.0],
        ];
        // From nothing, from impulses inside of their cones and on their edges.
        for start in [[0.0; 3], [1.0, 0.1, 0.0], [1.0, 0.25, 0.0]] {
            for v in cases {
                let [(count, at_once), (_, other)] = solved(&v, false, start);
                assert_eq!(count, 1);
                // Both have residuals below 1e-12, over the smallest inertia 0.05.
                assert!(
                    at_once.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-9),
                    "{at_once:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn contacts_that_share_a_body_are_left_to_others() {
        // The upper ball falls onto the lower one: only together they stop both.
        let mut v = vec![0.0; 12];
        (v[2], v[8]) = (-1.0, -2.0);
        let [(_, found), (_, other)] = solved(&v, true, [0.0; 3]);
        assert!(found.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {other:?}");
        assert!(found[2].abs() < 1e-9 && found[8].abs() < 1e-9, "{found:?}");
        // It falls on a ball that leaves the floor and comes back to it: one contact pressed at first, two
        // do in the end.
        (v[2], v[8]) = (0.5, -2.0);
        let [(_, found), _] = solved(&v, true, [0.0; 3]);
        assert!(found[2].abs() < 1e-9 && found[8].abs() < 1e-9, "{found:?}");
    }
}
