//! Islands without friction in space, by exact pivoting: where iterations end, a finite method may still find
//! a solution, or prove that there is none.

use super::cone::Cone;
use super::island::Island;
use crate::lcp::{LemkeOptions, Mlcp, lemke, solve_lifted_mlcp, to_mlcp};
use crate::linalg::{Matrix, max_abs};
use crate::problem::{Law, Status, row_offsets};

/// Largest number of constraints, and of those for which more is tried than Lemke's method.
const MAX_CONSTRAINTS: usize = 300;
const MAX_EXACT_CONSTRAINTS: usize = 64;
/// The most pivots on a path of a large island.
const MAX_PIVOTS: usize = 20_000;

/// A point with its status; `None` where the island is too large or a law is not polyhedral. That there is no
/// solution is proved where `proves` says so; a proof in fractions may take minutes.
pub(super) fn pivot<const D: usize>(
    island: &Island<D>,
    tolerance: f64,
    proves: bool,
) -> Option<(Vec<[f64; D]>, Status, usize)> {
    if island.w.len() > MAX_CONSTRAINTS {
        return None;
    }
    let law = |cone: &Cone| match *cone {
        Cone::Free => Some(Law::Bilateral),
        Cone::Ray => Some(Law::Unilateral),
        Cone::Coulomb { mu, tangents: 1 } => Some(Law::CoulombPlane { mu }),
        _ => None,
    };
    let laws = island.cones.iter().map(law).collect::<Option<Vec<_>>>()?;
    let first = row_offsets(&laws);
    let mut w = Matrix::zeros(first[laws.len()], first[laws.len()]);
    let mut q = vec![0.0; w.rows()];
    for i in 0..laws.len() {
        for r in 0..laws[i].dim() {
            q[first[i] + r] = island.q[i][r];
            for at in island.w.start[i]..island.w.start[i + 1] {
                let j = island.w.column[at];
                for c in 0..laws[j].dim() {
                    w[(first[i] + r, first[j] + c)] = island.w.value[at][r][c];
                }
            }
        }
    }
    let lift = to_mlcp(&w, &q, &laws)?;
    let (z, status, pivots) = if laws.len() <= MAX_EXACT_CONSTRAINTS {
        let found = solve_lifted_mlcp(&lift.mlcp, tolerance, proves);
        (found.z, found.status, found.iterations)
    } else {
        three_paths(&lift.mlcp, tolerance)?
    };
    let force = lift.force_of(&z);
    let mut r = vec![[0.0; D]; laws.len()];
    for i in 0..laws.len() {
        r[i][..laws[i].dim()].copy_from_slice(&force[first[i]..first[i + 1]]);
    }
    Some((r, status, pivots))
}

/// Lemke's path from three covering vectors: all that is tried where a pivot takes half a millisecond.
fn three_paths(mlcp: &Mlcp, tolerance: f64) -> Option<(Vec<f64>, Status, usize)> {
    let reduced = mlcp.eliminate()?;
    let q = &reduced.lcp.vector;
    let top = max_abs(q);
    let like_q = q.iter().map(|q| q.abs().max(0.01 * top)).collect();
    // Multiples of the golden ratio: no two entries alike.
    let scattered = (0..q.len()).map(|i| 0.1 + (0.618_033_988_749_895 * i as f64).fract()).collect();
    let mut pivots = 0;
    let mut best: Option<(f64, Vec<f64>, Status)> = None;
    for covering in [None, Some(like_q), Some(scattered)] {
        let found = lemke(&reduced.lcp, &LemkeOptions { tolerance, covering, max_iterations: MAX_PIVOTS });
        pivots += found.iterations;
        if best.as_ref().is_none_or(|(residual, ..)| found.residual < *residual) {
            best = Some((found.residual, reduced.lift(&found.z), found.status));
        }
        if matches!(found.status, Status::Solved | Status::NoSolution) {
            break;
        }
    }
    best.map(|(_, z, status)| (z, status, pivots))
}
