//! Small islands without friction in space, by exact pivoting: where iterations end, a finite method may still find
//! a solution, or prove that there is none.

use super::Status;
use super::cone::Cone;
use super::contact::{self, ContactOptions};
use super::island::Island;
use crate::law::{Law, row_offsets};
use crate::matrix::Matrix;
use crate::problem::ContactProblem;

/// Largest number of constraints.
const MOST: usize = 64;

/// A point with its status; `None` where the island is too large or a law is not polyhedral.
pub(super) fn pivot<const D: usize>(
    island: &Island<D>,
    tolerance: f64,
) -> Option<(Vec<[f64; D]>, Status, usize)> {
    if island.w.len() > MOST {
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
    let problem = ContactProblem::new(&w, &q, &laws).ok()?;
    let found = contact::solve(&problem, &ContactOptions { tolerance, ..Default::default() });
    let mut r = vec![[0.0; D]; laws.len()];
    for i in 0..laws.len() {
        r[i][..laws[i].dim()].copy_from_slice(&found.force[first[i]..first[i + 1]]);
    }
    Some((r, found.status, found.iterations))
}
