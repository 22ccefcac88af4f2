//! Dense algebra of joints: their impulses where there is nothing else, and which of their rows are redundant.
//!
//! ```text
//! W r = −q ,   W = H M⁻¹ Hᵀ (n × n) ,   q = H M⁻¹ f + b
//! ```
//!
//! Rows of H that are linear combinations of others make W singular: they are redundant, found by Gram–Schmidt in the metric
//! of M⁻¹, and left out (004 §6: impulses that are not unique).

use delassus_solve::matrix::{Matrix, dot, norm};
use delassus_solve::sparse::Sparse;

use crate::joint::Rows;
use crate::stage::Masses;

/// A row of unit length that is closer than this to a combination of others is redundant.
const REDUNDANT: f64 = 1e-7;

/// Solves joints without contacts.
#[derive(Default)]
pub(crate) struct JointsAlone;

impl JointsAlone {
    /// Joints without contacts, W r = −q, by one factorization; the residual, or `None` where W is singular.
    pub(crate) fn solve(
        &self,
        h: &Sparse,
        mass: &[(usize, usize, f64)],
        force: &[f64],
        bias: &[f64],
        r: &mut Vec<f64>,
    ) -> Option<f64> {
        let n = bias.len();
        let mut w = Matrix::zeros(n, n);
        let mut q = bias.to_vec();
        for (row, &(_, _, m)) in mass.iter().enumerate() {
            let (columns, values) = h.row(row);
            for (a, &i) in columns.iter().enumerate() {
                q[i] += values[a] * force[row] / m;
                for (b, &j) in columns.iter().enumerate() {
                    w[(i, j)] += values[a] * values[b] / m;
                }
            }
        }
        let size = norm(&q);
        if size == 0.0 {
            r.clear();
            r.resize(n, 0.0);
            return Some(0.0);
        }
        let negative = Matrix::from_fn(n, 1, |i, _| -q[i]);
        let x = w.solve_positive_definite(&negative)?;
        let mut u: Vec<f64> = (0..n).map(|i| q[i] + dot(w.row(i), x.data())).collect();
        // One step of refinement: joints of long chains differ much in what they carry.
        let correction = w.solve_positive_definite(&Matrix::from_fn(n, 1, |i, _| -u[i]))?;
        r.clear();
        r.extend(x.data().iter().zip(correction.data()).map(|(x, c)| x + c));
        (0..n).for_each(|i| u[i] = q[i] + dot(w.row(i), r));
        Some(norm(&u) / size)
    }
}

/// Which of the held rows follow from those before them: redundant, and left out. Their share of the load is one of many.
/// `dense` and `left` are memory.
pub(crate) fn redundant_rows(
    masses: &Masses,
    rows: &Rows,
    dense: &mut Vec<f64>,
    left: &mut Vec<(usize, f64)>,
    out: &mut Vec<bool>,
) {
    out.clear();
    out.resize(rows.rows.len(), false);
    let n = rows.held;
    let dofs = masses.mass.len();
    // Rows weighed to the same size, and behind them the direction that is taken out of the others.
    dense.clear();
    dense.resize((n + 1) * dofs, 0.0);
    let (dense, direction) = dense.split_at_mut(n * dofs);
    left.clear();
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
        left.push((i, norm(row)));
    }
    // Gram–Schmidt, the farthest from all before it first.
    while let Some(best) =
        (0..left.len()).max_by(|&a, &b| left[a].1.total_cmp(&left[b].1).then(left[b].0.cmp(&left[a].0)))
    {
        let (i, size) = left[best];
        if size < REDUNDANT {
            break;
        }
        left.swap_remove(best);
        direction.iter_mut().zip(&dense[i * dofs..(i + 1) * dofs]).for_each(|(d, x)| *d = x / size);
        for (j, length) in left.iter_mut() {
            let row = &mut dense[*j * dofs..(*j + 1) * dofs];
            let along = dot(row, direction);
            row.iter_mut().zip(&*direction).for_each(|(x, d)| *x -= along * d);
            *length = norm(row);
        }
    }
    left.iter().for_each(|(i, _)| out[*i] = true);
}
