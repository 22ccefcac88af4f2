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
