//! The choice of method for a complementarity problem.
//!
//! ```text
//! w = M z + q ,   0 ≤ z ⊥ w ≥ 0   (z free where w = 0 is required)
//! ```
//!
//! Cheap methods run first, and the point with the least residual is kept. Where none of them solves the
//! problem, a proof is sought that it has no solution: infeasibility of {z ≥ 0, M z + q ≥ 0}, then the search
//! over all index sets.

use super::Lcp;
use super::exact::{
    Decision, MOST_TRIED, MOST_UNKNOWNS, decide, has_solution_near, has_sure_solution, is_empty, refutes,
};
use super::index_sets::{MOST_PAIRS, Search, first_complementary_solution};
use super::lemke::{LemkeOptions, lemke, lemke_measured};
use super::mlcp::Mlcp;
use super::newton_min::{NewtonMinOptions, newton_min_measured};
use super::newton_mixed::fischer_burmeister;
use super::polyhedron::{Nearest, nearest_point};
use super::principal_pivoting::{PrincipalPivotingOptions, principal_pivoting};
use super::residual::Measure;
use super::solution::{LcpSolution, Solver, check_residual};
use crate::linalg::{Matrix, max_abs, solve_on};
use crate::problem::Status;

/// A residual that is not worth improving.
const GOOD_RESIDUAL: f64 = 1e-12;

/// Solves the problem; it counts as solved where its residual is at most `tolerance` and, with up to 16
/// unknowns, where rational arithmetic shows that it has a solution. That there is none is said only where
/// it is proved so.
pub fn solve_lcp(lcp: &Lcp, solver: Solver, tolerance: f64) -> LcpSolution {
    let on = lcp.measure();
    let found = lcp_by(lcp, &on, solver, tolerance);
    if is_decided(&on, &found) { found } else { decided(&as_mixed(lcp), found, solver, tolerance) }
}

/// Whether bounds on rounding prove what a method found, and no fractions are needed.
fn is_decided(on: &Measure<'_>, found: &LcpSolution) -> bool {
    found.status == Status::Solved && on.size() <= MOST_UNKNOWNS && has_sure_solution(on, &found.z, &found.w)
}

/// What a method found, checked by rational arithmetic. Methods called by name keep what they found, or
/// lose it; [`Solver::Auto`] takes what the check found in its place.
fn decided(mlcp: &Mlcp, found: LcpSolution, solver: Solver, tolerance: f64) -> LcpSolution {
    let claims = matches!(found.status, Status::Solved | Status::NoSolution);
    let is_small = mlcp.size() <= MOST_UNKNOWNS;
    let is_empty =
        || is_surely_infeasible(mlcp) || mlcp.size() <= MOST_TRIED && decide(mlcp) == Decision::Empty;
    if !is_small && found.status == Status::NoSolution && !is_empty() {
        return LcpSolution { status: Status::Stalled, ..found };
    }
    let holds = || found.status == Status::Solved && has_solution_near(mlcp, &found.z);
    if !is_small || !(claims || solver == Solver::Auto) || holds() {
        return found;
    }
    match decide(mlcp) {
        Decision::Empty => LcpSolution { status: Status::NoSolution, ..found },
        Decision::Solution(z) if solver == Solver::Auto => {
            check_residual(&mlcp.measure(), z, Status::Stalled, found.iterations, tolerance)
        }
        _ if claims => LcpSolution { status: Status::Stalled, ..found },
        _ => found,
    }
}

fn lcp_by(lcp: &Lcp, on: &Measure<'_>, solver: Solver, tolerance: f64) -> LcpSolution {
    match solver {
        Solver::Auto => {
            let trials = try_methods(lcp, on, tolerance);
            if trials.status == Status::Solved || trials.status == Status::NoSolution {
                return trials;
            }
            let mixed = as_mixed(lcp);
            if is_infeasible(&mixed) {
                return LcpSolution { status: Status::NoSolution, ..trials };
            }
            search(&mixed, on, Some(trials), tolerance)
        }
        Solver::Lemke => lemke_measured(lcp, on, &LemkeOptions { tolerance, ..Default::default() }),
        Solver::PrincipalPivoting => {
            principal_pivoting(lcp, &PrincipalPivotingOptions { tolerance, ..Default::default() })
        }
        Solver::NewtonMin => {
            newton_min_measured(lcp, on, &NewtonMinOptions { tolerance, ..Default::default() })
        }
        Solver::Enumerate => search(&as_mixed(lcp), on, None, tolerance),
    }
}

/// Solves the mixed problem, as [`solve_lcp`] does.
///
/// A method for problems without free unknowns works on the problem with these eliminated, or split into
/// z⁺ − z⁻ where they cannot be eliminated.
pub fn solve_mlcp(mlcp: &Mlcp, solver: Solver, tolerance: f64) -> LcpSolution {
    let on = mlcp.measure();
    let found = mlcp_by(mlcp, &on, solver, tolerance);
    if is_decided(&on, &found) { found } else { decided(mlcp, found, solver, tolerance) }
}

/// The mixed problem that stands for another, whose own residual is checked: a solution needs no check by
/// rational arithmetic, which would be one of the rounding of its data. That there is none does, and holds
/// for the data as they are rounded; without `proves`, where work is bounded, it is no more than a reason to
/// look no further, and no caller reports it.
pub fn solve_lifted_mlcp(mlcp: &Mlcp, tolerance: f64, proves: bool) -> LcpSolution {
    let found =
        without_overflow(mlcp_by(mlcp, &mlcp.measure(), Solver::Auto, tolerance), &mlcp.matrix, &mlcp.vector);
    let is_empty = || match mlcp.size() {
        n if n <= MOST_UNKNOWNS => matches!(decide(mlcp), Decision::Empty),
        _ => is_surely_infeasible(mlcp),
    };
    match found.status {
        Status::NoSolution if proves && !is_empty() => LcpSolution { status: Status::Stalled, ..found },
        _ => found,
    }
}

/// A proof that no solution exists is withdrawn where products of the data leave the range of the numbers:
/// the solution may be there, out of reach.
fn without_overflow(mut solution: LcpSolution, matrix: &Matrix, vector: &[f64]) -> LcpSolution {
    let extreme = |x: &f64| *x != 0.0 && !(1e-150..1e150).contains(&x.abs());
    if solution.status == Status::NoSolution && matrix.data().iter().chain(vector).any(extreme) {
        solution.status = Status::Stalled;
    }
    solution
}

fn mlcp_by(mlcp: &Mlcp, on: &Measure<'_>, solver: Solver, tolerance: f64) -> LcpSolution {
    match solver {
        Solver::Auto => auto_mixed(mlcp, on, tolerance),
        Solver::Enumerate => search(mlcp, on, None, tolerance),
        method => match mlcp.eliminate() {
            Some(reduced) => {
                let found = lcp_by(&reduced.lcp, &reduced.lcp.measure(), method, tolerance);
                lifted(mlcp, on, reduced.lift(&found.z), &found, tolerance)
            }
            None => {
                let split = mlcp.split();
                let found = lcp_by(&split, &split.measure(), method, tolerance);
                lifted(mlcp, on, mlcp.join(&found.z), &found, tolerance)
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
fn try_methods(lcp: &Lcp, on: &Measure<'_>, tolerance: f64) -> LcpSolution {
    let n = lcp.size();
    let good = tolerance.min(GOOD_RESIDUAL);
    if lcp.vector.iter().all(|&x| x >= 0.0) {
        return check_residual(on, vec![0.0; n], Status::Solved, 0, tolerance);
    }
    let options = NewtonMinOptions { tolerance, max_iterations: 20, start: None };
    let mut best = newton_min_measured(lcp, on, &options);
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
        let options = LemkeOptions { tolerance, covering, ..Default::default() };
        best = better(best, lemke_measured(lcp, on, &options));
        if best.residual <= good
            || best.status == Status::NoSolution
            || (trial > 0 && best.residual <= tolerance)
        {
            break;
        }
    }
    best
}

fn auto_mixed(mlcp: &Mlcp, on: &Measure<'_>, tolerance: f64) -> LcpSolution {
    let n = mlcp.size();
    let good = tolerance.min(GOOD_RESIDUAL);
    let mut best = check_residual(on, vec![0.0; n], Status::Stalled, 0, tolerance);
    if let Some(reduced) = mlcp.eliminate() {
        let found = try_methods(&reduced.lcp, &reduced.lcp.measure(), tolerance);
        best = better(best, lifted(mlcp, on, reduced.lift(&found.z), &found, tolerance));
        if matches!(best.status, Status::Solved | Status::NoSolution) {
            return best;
        }
    }
    let found = lemke(&mlcp.split(), &LemkeOptions { tolerance, ..Default::default() });
    best = better(best, lifted(mlcp, on, mlcp.join(&found.z), &found, tolerance));
    if best.status == Status::NoSolution {
        return best;
    }
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
        let found = check_residual(on, z, Status::Stalled, steps, tolerance);
        best = better(best, lifted(mlcp, on, found.z.clone(), &found, tolerance));
    }
    if best.status == Status::Solved {
        return best;
    }
    if is_infeasible(mlcp) {
        return LcpSolution { status: Status::NoSolution, ..best };
    }
    search(mlcp, on, Some(best), tolerance)
}

/// The record of a point of the mixed problem, sharpened on its active set.
fn lifted(mlcp: &Mlcp, on: &Measure<'_>, z: Vec<f64>, found: &LcpSolution, tolerance: f64) -> LcpSolution {
    let z = polish(mlcp, on, z);
    // A proof about the reduced problem is one about this; the residual of a solution is computed anew.
    check_residual(on, z, found.status, found.iterations, tolerance)
}

/// The solution on the active set of z (free rows, and pairs with z > w in their units), where that has a
/// smaller residual.
fn polish(mlcp: &Mlcp, on: &Measure<'_>, z: Vec<f64>) -> Vec<f64> {
    let w = on.slack(&z);
    let before = on.residual_at(&z, &w);
    if !before.is_finite() || before == 0.0 {
        return z;
    }
    let is_active = |i: &usize| mlcp.free[*i] || on.scales.is_active(*i, z[*i], w[*i]);
    let active: Vec<usize> = (0..z.len()).filter(is_active).collect();
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
    if on.residual(&exact) < before { exact } else { z }
}

fn as_mixed(lcp: &Lcp) -> Mlcp {
    Mlcp { matrix: lcp.matrix.clone(), vector: lcp.vector.clone(), free: vec![false; lcp.size()] }
}

/// Whether no z satisfies even the inequalities: z ≥ 0 and w ≥ 0 on pairs, w = 0 on free rows.
fn is_infeasible(mlcp: &Mlcp) -> bool {
    multipliers(mlcp).is_some()
}

/// y with yᵀ(M z + q) < 0 for all z that satisfy the inequalities, to rounding.
fn multipliers(mlcp: &Mlcp) -> Option<Vec<f64>> {
    let n = mlcp.size();
    let (mut rows, mut bounds, mut sign) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        rows.extend_from_slice(mlcp.matrix.row(i));
        bounds.push(-mlcp.vector[i]);
        sign.push((i, 1.0));
        if mlcp.free[i] {
            rows.extend(mlcp.matrix.row(i).iter().map(|x| -x));
            bounds.push(mlcp.vector[i]);
            sign.push((i, -1.0));
        } else {
            rows.extend((0..n).map(|j| f64::from(i == j)));
            bounds.push(0.0);
            sign.push((i, 0.0));
        }
    }
    let g = Matrix::from_vec(bounds.len(), n, rows);
    let Nearest::Infeasible(found) = nearest_point(&g, &bounds, 1e-8) else { return None };
    let mut y = vec![0.0; n];
    found.iter().zip(sign).for_each(|(x, (i, sign))| y[i] += sign * x);
    Some(y)
}

/// Whether rational arithmetic shows that no z satisfies the inequalities, for problems of any size: by the
/// multipliers that were found, or such with fewer digits, where rounding is all that is wrong with them;
/// else by the polyhedron itself, where it is not too large.
fn is_surely_infeasible(mlcp: &Mlcp) -> bool {
    let Some(y) = multipliers(mlcp) else { return false };
    let top = max_abs(&y);
    let grid = |k: i32| y.iter().map(|x| (x / top * 2f64.powi(k)).round()).collect::<Vec<f64>>();
    refutes(mlcp, &y) || [10, 30].iter().any(|&k| refutes(mlcp, &grid(k))) || is_empty(mlcp)
}

/// The search over all index sets, after what was found before.
fn search(mlcp: &Mlcp, on: &Measure<'_>, before: Option<LcpSolution>, tolerance: f64) -> LcpSolution {
    let zero = || check_residual(on, vec![0.0; mlcp.size()], Status::Stalled, 0, tolerance);
    let before = before.unwrap_or_else(zero);
    let pairs = mlcp.free.iter().filter(|&&f| !f).count();
    if before.status == Status::Solved || pairs > MOST_PAIRS && mlcp.size() > MOST_TRIED {
        return before;
    }
    if pairs > MOST_PAIRS {
        return match decide(mlcp) {
            Decision::Solution(z) => better(before, check_residual(on, z, Status::Stalled, 0, tolerance)),
            Decision::Empty => LcpSolution { status: Status::NoSolution, ..before },
            Decision::Unknown => before,
        };
    }
    match first_complementary_solution(mlcp, tolerance) {
        (Search::Found(z), sets) => {
            let found = check_residual(on, z.clone(), Status::Stalled, sets, tolerance);
            better(before, lifted(mlcp, on, z, &found, tolerance))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem<const N: usize>(rows: [[f64; N]; N], q: [f64; N]) -> Lcp {
        Lcp::new(Matrix::from_rows(&rows), q.to_vec()).unwrap()
    }

    #[test]
    fn names() {
        for (name, solver) in Solver::ALL {
            assert_eq!(name.parse::<Solver>().unwrap(), solver);
            assert_eq!(serde_json::to_string(&solver).unwrap(), format!("\"{name}\""));
            assert_eq!(solver.name(), name);
        }
        assert!("simplex".parse::<Solver>().is_err());
        assert_eq!(serde_json::to_string(&Status::NoSolution).unwrap(), "\"no-solution\"");
    }

    #[test]
    fn no_solution_is_proved() {
        // Infeasible; feasible but unsolvable (by search); Painlevé's −z − 1.
        let cases = [
            problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
            problem([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0]),
            problem([[-1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0]),
        ];
        for lcp in cases {
            assert_eq!(solve_lcp(&lcp, Solver::Auto, 1e-8).status, Status::NoSolution, "{lcp:?}");
        }
        // Many of the second kind side by side: rational arithmetic proves it up to MOST_TRIED unknowns.
        // Beyond, there is nothing to prove it with: not solved, and nothing claimed.
        for (n, status) in [(22, Status::NoSolution), (MOST_TRIED + 2, Status::Stalled)] {
            let m = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i ^ 1 == j)));
            let q = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
            let large = Lcp::new(m, q).unwrap();
            assert_eq!(solve_lcp(&large, Solver::Auto, 1e-8).status, status, "{n}");
            assert_eq!(solve_lcp(&large, Solver::Enumerate, 1e-8).status, status, "{n}");
        }
    }

    #[test]
    fn mixed_without_a_solution() {
        // 0·z₀ + z₁ = −1 with z₁ ≥ 0.
        let matrix = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]);
        let m = Mlcp::new(matrix, vec![1.0, 0.0], vec![true, false]).unwrap();
        assert_eq!(solve_mlcp(&m, Solver::Auto, 1e-8).status, Status::NoSolution);
        assert_eq!(solve_mlcp(&m, Solver::Enumerate, 1e-8).status, Status::NoSolution);
    }

    #[test]
    fn a_continuum_of_solutions() {
        // z₁ + z₂ = 1.
        for solver in [Solver::Auto, Solver::Lemke, Solver::Enumerate] {
            let s = solve_lcp(&problem([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0]), solver, 1e-12);
            assert_eq!(s.status, Status::Solved);
            assert!((s.z[0] + s.z[1] - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn empty_problems() {
        let lcp = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
        let mlcp = Mlcp::new(Matrix::zeros(0, 0), vec![], vec![]).unwrap();
        for (_, solver) in Solver::ALL {
            assert_eq!(solve_lcp(&lcp, solver, 1e-8).status, Status::Solved);
            assert_eq!(solve_mlcp(&mlcp, solver, 1e-8).status, Status::Solved);
        }
    }

    #[test]
    fn a_solution_out_of_range_is_not_denied() {
        // z = 10⁶⁰⁰.
        let lcp = Lcp::new(Matrix::from_rows(&[[1e-300]]), vec![-1e300]).unwrap();
        for (_, solver) in Solver::ALL {
            assert_ne!(solve_lcp(&lcp, solver, 1e-8).status, Status::NoSolution);
        }
    }

    #[test]
    fn only_equations() {
        let matrix = Matrix::from_rows(&[[0.0, 2.0], [1.0, 1.0]]);
        let m = Mlcp::new(matrix, vec![-2.0, -3.0], vec![true, true]).unwrap();
        for (_, solver) in Solver::ALL {
            assert_eq!(solve_mlcp(&m, solver, 1e-8).z, vec![2.0, 1.0]);
        }
    }

    proptest! {
        /// Positive definite plus skew: a P-matrix. All methods that end give the one solution.
        #[test]
        fn methods_agree_on_p_matrices((n, a, k, q) in (1usize..9).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(-1.0f64..1.0, n * n),
            prop::collection::vec(-1.0f64..1.0, n * n),
            prop::collection::vec(-1.0f64..1.0, n),
        ))) {
            let a = Matrix::from_vec(n, n, a);
            let gram = a.mul(&a.transpose());
            let m = Matrix::from_fn(n, n, |i, j| {
                gram[(i, j)] + k[i * n + j] - k[j * n + i] + f64::from(u8::from(i == j)) * 0.1
            });
            let lcp = Lcp::new(m, q).unwrap();
            let reference = solve_lcp(&lcp, Solver::Auto, 1e-10);
            prop_assert_eq!(reference.status, Status::Solved);
            for solver in [Solver::Lemke, Solver::PrincipalPivoting, Solver::Enumerate, Solver::NewtonMin] {
                let s = solve_lcp(&lcp, solver, 1e-10);
                // Newton's method may cycle on P-matrices; the others must not fail.
                if solver != Solver::NewtonMin || s.status == Status::Solved {
                    prop_assert_eq!(s.status, Status::Solved, "{:?}", solver);
                    for (x, y) in s.z.iter().zip(&reference.z) {
                        prop_assert!((x - y).abs() <= 1e-9 * (1.0 + max_abs(&reference.z)));
                    }
                }
            }
        }

        /// Small integers, all kinds of matrices: what is called solved is, and a proof of no solution is
        /// never given for a problem that another method solves.
        #[test]
        fn verdicts_do_not_contradict((n, m, q) in (1usize..6).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(-2i32..3, n * n),
            prop::collection::vec(-2i32..3, n),
        ))) {
            let m = Matrix::from_vec(n, n, m.into_iter().map(f64::from).collect());
            let lcp = Lcp::new(m, q.into_iter().map(f64::from).collect()).unwrap();
            let auto = solve_lcp(&lcp, Solver::Auto, 1e-9);
            let all = solve_lcp(&lcp, Solver::Enumerate, 1e-9);
            // The search over index sets may leave a singular set open (Stalled), but never contradicts.
            prop_assert!(all.status == Status::Stalled || auto.status == all.status);
            prop_assert!(matches!(auto.status, Status::Solved | Status::NoSolution));
            let free: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
            let mixed = Mlcp { matrix: lcp.matrix, vector: lcp.vector, free };
            let auto = solve_mlcp(&mixed, Solver::Auto, 1e-9);
            let all = solve_mlcp(&mixed, Solver::Enumerate, 1e-9);
            prop_assert!(all.status == Status::Stalled || auto.status == all.status);
            prop_assert!(matches!(auto.status, Status::Solved | Status::NoSolution));
        }

        /// Larger: 60 unknowns, a chain of contacts with friction-like skew coupling.
        #[test]
        fn larger_p_matrices(q in prop::collection::vec(-1.0f64..1.0, 60)) {
            let m = Matrix::from_fn(60, 60, |i, j| match (i.abs_diff(j), i < j) {
                (0, _) => 2.0,
                (1, true) => -0.2,
                (1, false) => -1.6,
                (7, true) => 0.3,
                (7, false) => -0.3,
                _ => 0.0,
            });
            let lcp = Lcp::new(m, q).unwrap();
            for solver in [Solver::Auto, Solver::Lemke, Solver::PrincipalPivoting] {
                let s = solve_lcp(&lcp, solver, 1e-12);
                prop_assert_eq!(s.status, Status::Solved);
            }
        }
    }
}
