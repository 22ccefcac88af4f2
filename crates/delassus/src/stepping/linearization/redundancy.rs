//! Which rows of joints are redundant.
//!
//! ```text
//! J_i = Σ c_k J_k over other rows k   ⟺   the part of J_i outside of their span, in the metric of M⁻¹, is zero
//! ```
//!
//! J_i is a bilateral row of a joint (6 entries per body that moves). Gram–Schmidt takes the row that is
//! farthest from the span of those before it first. Impulses of rows that depend on each other are not unique
//! (004 §6).

use delassus_solve::linalg::{dot, norm};

use crate::world::{Masses, Rows};

/// A row of unit length that is closer than this to a combination of others is redundant.
const MAX_REDUNDANT_LENGTH: f64 = 1e-7;

/// Memory of the search for redundant rows.
#[derive(Default)]
pub(super) struct RedundancyScratch {
    /// The rows, weighed to unit length, one after the other, and the direction taken out last.
    dense: Vec<f64>,
    /// Rows that are not yet in the basis, and what of their length is outside of it.
    remaining: Vec<(usize, f64)>,
}

impl RedundancyScratch {
    /// Which of the bilateral rows follow from others: redundant, and left out. Their share of the load is
    /// one of many.
    pub(super) fn find(&mut self, masses: &Masses, rows: &Rows, out: &mut Vec<bool>) {
        let RedundancyScratch { dense, remaining } = self;
        out.clear();
        out.resize(rows.rows.len(), false);
        let n = rows.bilateral;
        let dofs = masses.mass.len();
        // Rows weighed to the same size, and behind them the direction that is taken out of the others.
        dense.clear();
        dense.resize((n + 1) * dofs, 0.0);
        let (dense, direction) = dense.split_at_mut(n * dofs);
        remaining.clear();
        for i in 0..n {
            let row = &mut dense[i * dofs..(i + 1) * dofs];
            for (body, block) in rows.blocks_of(&rows.rows[i]) {
                let at = 6 * masses.slot[*body as usize] as usize;
                for c in 0..6 {
                    row[at + c] = block[c] * masses.inverse[at + c].sqrt();
                }
            }
            let size = norm(row);
            if size > 0.0 {
                row.iter_mut().for_each(|x| *x /= size);
            }
            remaining.push((i, norm(row)));
        }
        // Gram–Schmidt, the farthest from all before it first.
        while let Some(best) = (0..remaining.len()).max_by(|&a, &b| {
            remaining[a].1.total_cmp(&remaining[b].1).then(remaining[b].0.cmp(&remaining[a].0))
        }) {
            let (i, size) = remaining[best];
            if size < MAX_REDUNDANT_LENGTH {
                break;
            }
            remaining.swap_remove(best);
            direction.iter_mut().zip(&dense[i * dofs..(i + 1) * dofs]).for_each(|(d, x)| *d = x / size);
            for (j, length) in remaining.iter_mut() {
                let row = &mut dense[*j * dofs..(*j + 1) * dofs];
                let along = dot(row, direction);
                row.iter_mut().zip(&*direction).for_each(|(x, d)| *x -= along * d);
                *length = norm(row);
            }
        }
        remaining.iter().for_each(|(i, _)| out[*i] = true);
    }
}
