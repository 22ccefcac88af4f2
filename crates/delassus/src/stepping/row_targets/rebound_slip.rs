//! Tangential restitution of contacts that rebound.
//!
//! ```text
//! û_t = u_t + e_t u_t⁻ ,   ‖r_t‖ ≤ μ r_n ,   r_t opposes û_t where it is at its limit
//! ```
//!
//! u_t⁻ is the slip at arrival, e_t from 0 to 1: where friction is strong enough the slip comes back e_t
//! times as fast, as that of a superball does.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::{FirstHalf, RowTargets};

/// Adds e_t u_t⁻ to the targets of contacts that rebound; whether there are any.
pub(in super::super) fn add_rebound_slip(
    model: &Model,
    on: &Linearization,
    half: &FirstHalf<'_>,
    targets: &mut RowTargets,
) -> bool {
    if !model.has_tangential_restitution() {
        return false;
    }
    let mut any = false;
    for (i, rows) in on.contact_rows().iter().enumerate() {
        let e = model.surface_of(&on.contacts()[i]).restitution_tangential;
        if e == 0.0 || rows.law.mu() == 0.0 || !targets.rebounds(i) {
            continue;
        }
        // What the first half already took from the slip belongs to the same impact.
        let first = &half.contact_impulse[i];
        let arrival = [1, 2].map(|k| {
            let taken: f64 = (0..3).map(|j| rows.self_block(&model.masses.inverse, k, j) * first[j]).sum();
            rows.velocity(k, half.velocity) - taken
        });
        targets.slip_bias.resize(on.contacts().len(), [0.0; 2]);
        targets.slip_bias[i].iter_mut().zip(arrival).for_each(|(b, u)| *b += e * u);
        any = true;
    }
    any
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::super::model::fixtures::*;
    use super::super::super::options::StepOptions;
    use super::*;
    use crate::collision::MAX_CONTACT_ROWS;
    use crate::world::Surface;

    const E: f64 = 0.8;
    /// How a ball answers to friction: 1/m + ρ²/I.
    const SLIP_PER_IMPULSE: f64 = 1.0 / MASS + RADIUS * RADIUS / INERTIA;

    /// A ball that hits the floor at 1 m/s with a slip of 3 m/s along x, with the target b of its normal and
    /// this impulse of the first half: whether it was found to rebound, and b of the slip as a vector.
    fn rebound(surface: Surface, bias: f64, first: f64, given: [f64; 2]) -> (bool, DVec3) {
        let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::new(3.0, 0.0, -1.0));
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut targets =
            RowTargets { joints: vec![], normal_bias: vec![Some(bias)], slip_bias: vec![given] };
        let mut impulse = [0.0; MAX_CONTACT_ROWS];
        (impulse[0], impulse[1]) = (0.3, first);
        let half = FirstHalf {
            bodies: &state.bodies,
            t: 0.0,
            velocity: &[3.0, 0.0, -1.0, 0.0, 0.0, 0.0],
            row_impulse: &[],
            contact_impulse: &[impulse],
        };
        let any = add_rebound_slip(&model, &on, &half, &mut targets);
        let [s, t] = on.contact_rows()[0].tangents;
        // The velocity of the ball against the floor, whichever of them the contact names first.
        let sign = if on.contacts()[0].bodies[1] == 1 { 1.0 } else { -1.0 };
        (any, sign * (s * targets.slip_bias[0][0] + t * targets.slip_bias[0][1]))
    }

    fn superball() -> Surface {
        Surface { mu: 0.3, restitution: 0.5, restitution_tangential: E, ..smooth() }
    }

    #[test]
    fn a_rebound_gives_back_its_part_of_the_slip_of_arrival() {
        let (any, slip) = rebound(superball(), -0.5, 0.0, [0.0; 2]);
        assert!(any && slip.distance(E * 3.0 * DVec3::X) < 1e-14, "{slip}");
        // The normal impulse of the first half turns nothing; its friction has taken some of the slip.
        let (_, later) = rebound(superball(), -0.5, 0.2, [0.0; 2]);
        assert!((later.distance(slip) - E * 0.2 * SLIP_PER_IMPULSE).abs() < 1e-14, "{later}");
        // On top of what other parts of the step ask for.
        let (_, more) = rebound(superball(), -0.5, 0.0, [0.03, 0.04]);
        assert!((more.distance(slip) - 0.05).abs() < 1e-14, "{more}");
    }

    #[test]
    fn without_a_rebound_friction_or_restitution_nothing_is_given_back() {
        let none = (false, DVec3::ZERO);
        assert_eq!(rebound(superball(), 0.0, 0.0, [0.0; 2]), none, "it stays");
        let smooth = Surface { mu: 0.0, ..superball() };
        assert_eq!(rebound(smooth, -0.5, 0.0, [0.0; 2]), none, "nothing rubs");
        let plain = Surface { restitution_tangential: 0.0, ..superball() };
        assert_eq!(rebound(plain, -0.5, 0.0, [0.0; 2]), none);
    }
}
