//! The choice of method.
//!
//! Cheap trials come first and the best residual wins. What none of them solves is asked for a proof that it
//! has no solution: infeasibility of {z ≥ 0, M z + q ≥ 0}, then the search over all index sets.

use super::index_sets::{MOST_PAIRS, Search, first_complementary_solution};
use super::lemke::{LemkeOptions, lemke};
use super::lu::solve_on;
use super::newton_min::{NewtonMinOptions, newton_min};
use super::newton_mixed::fischer_burmeister;
use super::pivot::{PrincipalPivotingOptions, principal_pivoting};
use super::polyhedron::{Nearest, nearest_point};
use super::{LcpSolution, Solver, Status, judge, judge_mixed};
use crate::lcp::Lcp;
use crate::matrix::{Matrix, max_abs};
use crate::mlcp::Mlcp;

/// A residual that is not worth improving.
const GOOD: f64 = 1e-12;

/// Solves the problem; it counts as solved where its residual is at most `tolerance`.
pub fn solve_lcp(lcp: &Lcp, solver: Solver, tolerance: f64) -> LcpSolution {
    match solver {
        Solver::Auto => {
            let trials = try_methods(lcp, tolerance);
            if trials.status == Status::Solved || trials.status == Status::NoSolution {
                return trials;
            }
            let mixed = as_mixed(lcp);
            if is_infeasible(&mixed) {
                return LcpSolution { status: Status::NoSolution, ..trials };
            }
            search(&mixed, Some(trials), tolerance)
        }
        Solver::Lemke => lemke(lcp, &LemkeOptions { tolerance, ..Default::default() }),
        Solver::PrincipalPivoting => {
            principal_pivoting(lcp, &PrincipalPivotingOptions { tolerance, ..Default::default() })
        }
        Solver::NewtonMin => newton_min(lcp, &NewtonMinOptions { tolerance, ..Default::default() }),
        Solver::Enumerate => search(&as_mixed(lcp), None, tolerance),
    }
}

/// Solves the mixed problem; it counts as solved where its residual is at most `tolerance`.
///
/// A method for problems without free unknowns works on the problem with these eliminated, or split into
/// z⁺ − z⁻ where they cannot be eliminated.
pub fn solve_mlcp(mlcp: &Mlcp, solver: Solver, tolerance: f64) -> LcpSolution {
    match solver {
        Solver::Auto => auto_mixed(mlcp, tolerance),
        Solver::Enumerate => search(mlcp, None, tolerance),
        method => match mlcp.eliminate() {
            Some(reduced) => {
                let found = solve_lcp(&reduced.lcp, method, tolerance);
                lifted(mlcp, reduced.lift(&found.z), &found, tolerance)
            }
            None => {
                let found = solve_lcp(&mlcp.split(), method, tolerance);
                lifted(mlcp, mlcp.join(&found.z), &found, tolerance)
            }
        },
    }
}

/// Keeps the better of two solutions, with the iterations of both.
fn better(a: LcpSolution, b: LcpSolution) -> LcpSolution {
    let iterations = a.iterations + b.iterations;
    let proved = a.status == Status::NoSolution || b.status == Status::NoSolution;
    let mut best = if b.residual < a.residual { b } else { a };
    best.iterations = iterations;
    if proved && best.status != Status::Solved {
        best.status = Status::NoSolution;
    }
    best
}

/// Newton's method, then Lemke's with one covering vector after another.
fn try_methods(lcp: &Lcp, tolerance: f64) -> LcpSolution {
    let n = lcp.size();
    let good = tolerance.min(GOOD);
    if lcp.vector.iter().all(|&x| x >= 0.0) {
        return judge(lcp, vec![0.0; n], Status::Solved, 0, tolerance);
    }
    let mut best = newton_min(lcp, &NewtonMinOptions { tolerance, max_iterations: 20, start: None });
    if best.residual <= good {
        return best;
    }
    let top = max_abs(&lcp.vector);
    let mut random = Random::new();
    for trial in 0..6 {
        let covering = match trial {
            0 => None,
            1 => Some(lcp.vector.iter().map(|q| q.abs().max(0.01 * top)).collect()),
            _ => Some((0..n).map(|_| 0.1 + random.next()).collect()),
        };
        best = better(best, lemke(lcp, &LemkeOptions { tolerance, covering, ..Default::default() }));
        if best.residual <= good || best.status == Status::NoSolution || (trial > 0 && best.residual <= tolerance) {
            break;
        }
    }
    best
}

fn auto_mixed(mlcp: &Mlcp, tolerance: f64) -> LcpSolution {
    let n = mlcp.size();
    let good = tolerance.min(GOOD);
    let mut best = judge_mixed(mlcp, vec![0.0; n], Status::Stalled, 0, tolerance);
    if let Some(reduced) = mlcp.eliminate() {
        let found = try_methods(&reduced.lcp, tolerance);
        best = better(best, lifted(mlcp, reduced.lift(&found.z), &found, tolerance));
        if best.status == Status::Solved {
            return best;
        }
    }
    let found = lemke(&mlcp.split(), &LemkeOptions { tolerance, ..Default::default() });
    best = better(best, lifted(mlcp, mlcp.join(&found.z), &found, tolerance));
    let mut random = Random::new();
    for trial in 0..8 {
        if best.residual <= good || (trial > 0 && best.status == Status::Solved) {
            return best;
        }
        let start: Vec<f64> = match trial {
            0 => vec![0.0; n],
            1 => vec![1.0; n],
            _ => (0..n).map(|_| 2.0 * random.next()).collect(),
        };
        let (z, steps) = fischer_burmeister(mlcp, |i| start[i], 200);
        let found = judge_mixed(mlcp, z, Status::Stalled, steps, tolerance);
        best = better(best, lifted(mlcp, found.z.clone(), &found, tolerance));
    }
    if best.status == Status::Solved {
        return best;
    }
    if is_infeasible(mlcp) {
        return LcpSolution { status: Status::NoSolution, ..best };
    }
    search(mlcp, Some(best), tolerance)
}

/// The record of a point of the mixed problem, sharpened on its active set.
fn lifted(mlcp: &Mlcp, z: Vec<f64>, found: &LcpSolution, tolerance: f64) -> LcpSolution {
    let z = polish(mlcp, z);
    // A proof about the reduced problem is one about this, a solution of it is judged anew.
    judge_mixed(mlcp, z, found.status, found.iterations, tolerance)
}

/// The solution on the active set of z (free rows, and pairs with z > w), where that has a smaller residual.
fn polish(mlcp: &Mlcp, z: Vec<f64>) -> Vec<f64> {
    let before = mlcp.residual(&z);
    if !before.is_finite() || before == 0.0 {
        return z;
    }
    let w = mlcp.slack(&z);
    let active: Vec<usize> = (0..z.len()).filter(|&i| mlcp.free[i] || z[i] > w[i]).collect();
    let exact = solve_on(&mlcp.matrix, &mlcp.vector, &active).unwrap_or_else(|| {
        // A singular set: the shortest correction onto it.
        let mut moved: Vec<f64> = vec![0.0; z.len()];
        active.iter().for_each(|&i| moved[i] = z[i]);
        let w = mlcp.slack(&moved);
        let defect: Vec<f64> = active.iter().map(|&i| -w[i]).collect();
        let step = mlcp.matrix.select(&active, &active).pseudo_solve(&defect);
        active.iter().zip(&step).for_each(|(&i, d)| moved[i] += d);
        moved
    });
    if mlcp.residual(&exact) < before { exact } else { z }
}

fn as_mixed(lcp: &Lcp) -> Mlcp {
    Mlcp { matrix: lcp.matrix.clone(), vector: lcp.vector.clone(), free: vec![false; lcp.size()] }
}

/// Whether no z satisfies even the inequalities: z ≥ 0 and w ≥ 0 on pairs, w = 0 on free rows.
fn is_infeasible(mlcp: &Mlcp) -> bool {
    let n = mlcp.size();
    let (mut rows, mut bounds) = (Vec::new(), Vec::new());
    for i in 0..n {
        rows.extend_from_slice(mlcp.matrix.row(i));
        bounds.push(-mlcp.vector[i]);
        if mlcp.free[i] {
            rows.extend(mlcp.matrix.row(i).iter().map(|x| -x));
            bounds.push(mlcp.vector[i]);
        } else {
            rows.extend((0..n).map(|j| f64::from(i == j)));
            bounds.push(0.0);
        }
    }
    let g = Matrix::from_vec(bounds.len(), n, rows);
    matches!(nearest_point(&g, &bounds, 1e-8), Nearest::Infeasible(_))
}

/// The search over all index sets, after what was found before.
fn search(mlcp: &Mlcp, before: Option<LcpSolution>, tolerance: f64) -> LcpSolution {
    let zero = || judge_mixed(mlcp, vec![0.0; mlcp.size()], Status::Stalled, 0, tolerance);
    let before = before.unwrap_or_else(zero);
    let pairs = mlcp.free.iter().filter(|&&f| !f).count();
    if before.status == Status::Solved || pairs > MOST_PAIRS {
        return before;
    }
    match first_complementary_solution(mlcp, tolerance) {
        (Search::Found(z), sets) => {
            let found = judge_mixed(mlcp, z.clone(), Status::Stalled, sets, tolerance);
            better(before, lifted(mlcp, z, &found, tolerance))
        }
        (Search::Empty, sets) => {
            let iterations = before.iterations + sets;
            LcpSolution { status: Status::NoSolution, iterations, ..before }
        }
        (Search::Unknown, sets) => LcpSolution { iterations: before.iterations + sets, ..before },
    }
}

/// Marsaglia's xorshift with a fixed seed: the same trials in every run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Random(0x2545_f491_4f6c_dd1d)
    }

    /// The next number in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
