//! Polyhedra: their point nearest to the origin, and linear programs over them.
//!
//! ```text
//! min ½‖t‖²  s.t. G t ≥ h      ⇔   0 ≤ y ⊥ G Gᵀ y − h ≥ 0 ,  t = Gᵀ y
//! min cᵀ t   s.t. G t ≥ h
//! ```
//!
//! G is p × k, h in Rᵖ, c and t in Rᵏ, t free. The first is a complementarity problem with a positive
//! semidefinite matrix and is solved by Lemke's method, the second by a dense simplex method. Both prove an
//! empty polyhedron by Farkas' lemma: y ≥ 0, Gᵀ y = 0, hᵀ y > 0. The set of forces of a hyperstatic system
//! (002 Lemma 5.2) and the components of the solution set of a degenerate complementarity problem are such
//! polyhedra.

use super::inequalities::Inequalities;
use super::simplex::{Descent, Feasibility, LP_TOLERANCE, Simplex};
use crate::linalg::{Matrix, dot};

/// The outcome of [`nearest_point`].
#[derive(Clone, Debug, PartialEq)]
pub enum Nearest {
    /// The point of least length, k numbers.
    Point(Vec<f64>),
    /// The polyhedron is empty: y ≥ 0 with Gᵀ y = 0 and hᵀ y > 0, p numbers.
    Infeasible(Vec<f64>),
    /// Rounding left the question open.
    Undecided,
}

/// The outcome of [`linear_program`].
#[derive(Clone, Debug, PartialEq)]
pub enum Lp {
    /// A vertex (a point of a minimal face where there is no vertex) with the least value.
    Optimal {
        /// t, k numbers.
        point: Vec<f64>,
        /// cᵀ t.
        value: f64,
    },
    /// The value has no lower bound.
    Unbounded,
    /// The polyhedron is empty.
    Infeasible,
    /// Rounding left the question open.
    Undecided,
}

/// The point t of least ‖t‖₂ with G t ≥ h, where inequalities may fail by `tolerance` times the largest
/// |hᵢ|/‖gᵢ‖ (by rounding: the point satisfies them much better where it can).
///
/// # Panics
/// If `h` has not one entry per row of `g`.
pub fn nearest_point(g: &Matrix, h: &[f64], tolerance: f64) -> Nearest {
    assert_eq!(g.rows(), h.len(), "one bound per row");
    let system = match Inequalities::new(g, h, tolerance) {
        Ok(system) => system,
        Err(row) => return Nearest::Infeasible(unit(h.len(), row)),
    };
    if let Some(t) = system.shortest(&system.h, tolerance) {
        return Nearest::Point(t);
    }
    let mut simplex = Simplex::new(&system, &vec![0.0; g.cols()]);
    match simplex.make_feasible(tolerance * system.scale) {
        Feasibility::Infeasible(y) if system.refutes(&y) => Nearest::Infeasible(system.lift(h.len(), &y)),
        Feasibility::Infeasible(_) => Nearest::Undecided,
        Feasibility::Undecided => Nearest::Undecided,
        Feasibility::Feasible => {
            // Feasible within the tolerance only: the bounds give way by that much.
            let relaxed: Vec<f64> = system.h.iter().map(|x| x - tolerance * system.scale).collect();
            let point = system.shortest(&relaxed, tolerance);
            point.map_or(Nearest::Undecided, |t| Nearest::Point(tightened(&system, t, tolerance)))
        }
    }
}

/// A point whose bounds gave way by `tolerance`, moved back to them where the rows that are tight allow it.
fn tightened(system: &Inequalities, t: Vec<f64>, tolerance: f64) -> Vec<f64> {
    let slack = |t: &[f64], i: usize| dot(system.g.row(i), t) - system.h[i];
    let tight: Vec<usize> =
        (0..system.h.len()).filter(|&i| slack(&t, i) <= 2.0 * tolerance * system.scale).collect();
    let missing: Vec<f64> = tight.iter().map(|&i| -slack(&t, i)).collect();
    let step = system.g.select_rows(&tight).pseudo_solve(&missing);
    let moved: Vec<f64> = t.iter().zip(step).map(|(t, s)| t + s).collect();
    if system.violation(&system.h, &moved) < system.violation(&system.h, &t) { moved } else { t }
}

/// min cᵀ t subject to G t ≥ h, t free.
///
/// # Panics
/// If `h` has not one entry per row of `g`, or `c` not one per column.
pub fn linear_program(c: &[f64], g: &Matrix, h: &[f64]) -> Lp {
    assert_eq!(g.rows(), h.len(), "one bound per row");
    assert_eq!(g.cols(), c.len(), "one cost per column");
    let Ok(system) = Inequalities::new(g, h, LP_TOLERANCE) else { return Lp::Infeasible };
    let mut simplex = Simplex::new(&system, c);
    match simplex.make_feasible(LP_TOLERANCE * system.scale) {
        Feasibility::Infeasible(y) if system.refutes(&y) => return Lp::Infeasible,
        Feasibility::Infeasible(_) => return Lp::Undecided,
        Feasibility::Undecided => return Lp::Undecided,
        Feasibility::Feasible => {}
    }
    match simplex.minimise_objective() {
        Descent::Bottom => {
            let point = simplex.vertex(&system);
            Lp::Optimal { value: dot(c, &point), point }
        }
        Descent::Unbounded => Lp::Unbounded,
        Descent::LeftBasis | Descent::Undecided => Lp::Undecided,
    }
}

fn unit(n: usize, i: usize) -> Vec<f64> {
    let mut e = vec![0.0; n];
    e[i] = 1.0;
    e
}

#[cfg(test)]
mod tests {
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::{max_abs, norm};

    /// min ½ curvature ‖t‖² + cᵀ t, G t ≥ h by clarabel: its status and t. On polyhedra
    /// without interior it may end with an error or call them empty, so that only "solved" is believed.
    /// clarabel's status, its t, and its multipliers y.
    fn reference(curvature: f64, c: &[f64], g: &Matrix, h: &[f64]) -> (SolverStatus, Vec<f64>, Vec<f64>) {
        let k = c.len();
        let p = CscMatrix::from(&Matrix::diagonal(&vec![curvature; k]).to_rows());
        let a = CscMatrix::from(&Matrix::from_fn(g.rows(), k, |i, j| -g[(i, j)]).to_rows());
        let b: Vec<f64> = h.iter().map(|x| -x).collect();
        let settings = DefaultSettings { verbose: false, ..Default::default() };
        let mut solver = DefaultSolver::new(&p, c, &a, &b, &[NonnegativeConeT(h.len())], settings).unwrap();
        solver.solve();
        (solver.solution.status, solver.solution.x.clone(), solver.solution.z.clone())
    }

    fn check_farkas(g: &Matrix, h: &[f64], y: &[f64]) {
        assert!(y.iter().all(|&x| x >= 0.0));
        let gain = dot(h, y);
        assert!(gain > 0.0, "gain {gain}");
        assert!(max_abs(&g.tr_mul_vec(y)) <= 1e-9 * max_abs(y) * g.max_abs(), "{:?}", g.tr_mul_vec(y));
    }

    #[test]
    fn nearest_points_by_hand() {
        // The half plane t₁ + t₂ ≥ 2, twice, and a redundant row.
        let g = Matrix::from_rows(&[[1.0, 1.0], [2.0, 2.0], [1.0, 0.0]]);
        let Nearest::Point(t) = nearest_point(&g, &[2.0, 4.0, -5.0], 1e-9) else { panic!() };
        assert!((t[0] - 1.0).abs() < 1e-15 && (t[1] - 1.0).abs() < 1e-15);
        // No row, no constraint; zero rows hold or do not.
        assert_eq!(nearest_point(&Matrix::zeros(0, 2), &[], 1e-9), Nearest::Point(vec![0.0; 2]));
        assert_eq!(nearest_point(&Matrix::zeros(1, 2), &[-1.0], 1e-9), Nearest::Point(vec![0.0; 2]));
        assert_eq!(nearest_point(&Matrix::zeros(1, 2), &[1.0], 1e-9), Nearest::Infeasible(vec![1.0]));
        // An equation as two inequalities, and one that rounding has made empty by a hair.
        let g = Matrix::from_rows(&[[3.0, 4.0], [-3.0, -4.0]]);
        for gap in [0.0, 1e-15] {
            let Nearest::Point(t) = nearest_point(&g, &[5.0 + gap, -5.0], 1e-9) else { panic!() };
            assert!((t[0] - 0.6).abs() < 3e-9 && (t[1] - 0.8).abs() < 3e-9);
        }
        let Nearest::Infeasible(y) = nearest_point(&g, &[5.0, -4.9], 1e-9) else { panic!() };
        check_farkas(&g, &[5.0, -4.9], &y);
    }

    #[test]
    fn linear_programs_by_hand() {
        let g = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]);
        let h = [0.0, 0.0, -1.0];
        let Lp::Optimal { point, value } = linear_program(&[-1.0, -2.0], &g, &h) else { panic!() };
        // Rows are divided by √2, hence the rounding.
        assert!((value + 2.0).abs() < 1e-15 && point[0].abs() < 1e-15);
        let wedge = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(linear_program(&[1.0, -1.0], &wedge, &[0.0, 0.0]), Lp::Unbounded);
        assert_eq!(linear_program(&[1.0], &Matrix::from_rows(&[[1.0], [-1.0]]), &[1.0, 0.0]), Lp::Infeasible);
        // A strip: the null direction of G is free of cost, or not.
        let strip = Matrix::from_rows(&[[1.0, 1.0], [-1.0, -1.0]]);
        let Lp::Optimal { value, .. } = linear_program(&[1.0, 1.0], &strip, &[-3.0, -4.0]) else { panic!() };
        assert!((value + 3.0).abs() < 1e-14);
        assert_eq!(linear_program(&[1.0, 0.0], &strip, &[-3.0, -4.0]), Lp::Unbounded);
        assert_eq!(
            linear_program(&[0.0; 2], &Matrix::zeros(0, 2), &[]),
            Lp::Optimal { point: vec![0.0; 2], value: 0.0 }
        );
        assert_eq!(linear_program(&[1.0], &Matrix::zeros(0, 1), &[]), Lp::Unbounded);
    }

    /// Beale's example, on which the simplex method with the largest-coefficient rule cycles.
    #[test]
    fn beale_does_not_cycle() {
        let g = Matrix::from_rows(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [-0.25, 60.0, 0.04, -9.0],
            [-0.5, 90.0, 0.02, -3.0],
            [0.0, 0.0, -1.0, 0.0],
        ]);
        let outcome = linear_program(&[-0.75, 150.0, -0.02, 6.0], &g, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        let Lp::Optimal { value, .. } = outcome else { panic!("{outcome:?}") };
        assert!((value + 0.05).abs() < 1e-14, "{value}");
    }

    /// Integer data with repeated, opposite and dependent rows: as degenerate as mechanics makes them.
    fn polyhedron() -> impl Strategy<Value = (Matrix, Vec<f64>, Vec<f64>)> {
        (1usize..7, 1usize..14).prop_flat_map(|(k, p)| {
            let row = prop::collection::vec(-2i32..3, k + 1);
            let cost = prop::collection::vec(-2i32..3, k);
            (prop::collection::vec(row, p), prop::collection::vec((0..p, -1i32..3), 0..4), cost).prop_map(
                move |(mut rows, copies, cost)| {
                    for (i, factor) in copies {
                        rows.push(rows[i].iter().map(|x| x * factor).collect());
                    }
                    let g = Matrix::from_fn(rows.len(), k, |i, j| f64::from(rows[i][j]));
                    let h = rows.iter().map(|r| f64::from(r[k])).collect();
                    (g, h, cost.into_iter().map(f64::from).collect())
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn nearest_point_agrees_with_clarabel((g, h, _) in polyhedron()) {
            let (status, x, y) = reference(1.0, &vec![0.0; g.cols()], &g, &h);
            match nearest_point(&g, &h, 1e-9) {
                Nearest::Point(t) => {
                    // Some fifty roundings of the largest term.
                    let largest = 1.0 + max_abs(&h) + max_abs(&t) * g.max_abs();
                    let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &t)));
                    prop_assert!(violation <= 1e-14 * largest, "violation {violation}");
                    if status == SolverStatus::Solved {
                        // clarabel stops where its gap, its violation of rows and that of t = Gᵀ y are 1e-8
                        // of their terms; a violation of rows is worth its multipliers.
                        let terms = 1.0 + max_abs(&x) * (1.0 + g.max_abs()) + max_abs(&h);
                        let multipliers: f64 = y.iter().sum();
                        let value = |t: &[f64]| 0.5 * dot(t, t);
                        let error = 1e-8 * (1.0 + value(&x) + (multipliers + norm(&x)) * terms);
                        let difference = value(&t) - value(&x);
                        prop_assert!(difference.abs() <= error, "{difference:e} above {error:e}");
                    }
                }
                Nearest::Infeasible(y) => {
                    // A proof; clarabel now and then calls such a program solved.
                    check_farkas(&g, &h, &y);
                }
                Nearest::Undecided => prop_assert!(false, "undecided"),
            }
        }

        #[test]
        fn linear_program_agrees_with_clarabel((g, h, c) in polyhedron()) {
            let (status, x, _) = reference(0.0, &c, &g, &h);
            match linear_program(&c, &g, &h) {
                Lp::Optimal { point, value } => {
                    let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &point)));
                    prop_assert!(violation <= 1e-12, "violation {violation}");
                    if status == SolverStatus::Solved {
                        // The gap at which clarabel stops.
                        prop_assert!((value - dot(&c, &x)).abs() < 1e-6 * (1.0 + value.abs()), "{value}");
                    }
                    let lower = g.stack(&Matrix::from_fn(1, c.len(), |_, j| -c[j]));
                    // Well above what the tolerance of the other method lets through.
                    let gap = 1e-3 * (1.0 + value.abs());
                    let bounds: Vec<f64> = h.iter().copied().chain([gap - value]).collect();
                    prop_assert!(matches!(nearest_point(&lower, &bounds, 1e-9), Nearest::Infeasible(_)));
                }
                Lp::Unbounded => {
                    prop_assert!(matches!(nearest_point(&g, &h, 1e-9), Nearest::Point(_)));
                    // A direction G d ≥ 0, cᵀ d ≤ −1.
                    let down = g.stack(&Matrix::from_fn(1, c.len(), |_, j| -c[j]));
                    let bounds: Vec<f64> = vec![0.0; h.len()].into_iter().chain([1.0]).collect();
                    let Nearest::Point(d) = nearest_point(&down, &bounds, 1e-9) else {
                        return Err(TestCaseError::fail("no direction of descent"));
                    };
                    // Checked here, so that it is a proof; clarabel now and then calls such a program solved.
                    prop_assert!((0..h.len()).all(|i| dot(g.row(i), &d) >= -1e-12) && dot(&c, &d) <= -1.0 + 1e-12);
                }
                Lp::Infeasible => {
                    let Nearest::Infeasible(y) = nearest_point(&g, &h, 1e-9) else {
                        return Err(TestCaseError::fail("feasible after all"));
                    };
                    check_farkas(&g, &h, &y);
                }
                Lp::Undecided => prop_assert!(false, "undecided"),
            }
        }

        /// Larger, with a known point inside: 50 unknowns, 200 rows, half of them copies or combinations.
        #[test]
        fn large_degenerate_programs(seed in 0u64..1000) {
            let mut random = crate::random::Random(seed);
            let mut next = || random.centred();
            let (k, half) = (20 + (seed % 31) as usize, 100);
            let base = Matrix::from_fn(half, k, |_, _| next());
            let g = base.stack(&Matrix::from_fn(half, k, |i, j| {
                if i % 2 == 0 { base[(i, j)] } else { base[(i, j)] + base[(i - 1, j)] }
            }));
            let inside: Vec<f64> = (0..k).map(|_| next()).collect();
            // Every third row is tight at the point: a vertex with far more than k facets.
            let mut h = g.mul_vec(&inside);
            (0..half).filter(|i| i % 3 != 0).for_each(|i| h[i] -= 0.1);
            let c = base.tr_mul_vec(&(0..half).map(|i| if i % 3 == 0 { 1.0 } else { 0.0 }).collect::<Vec<_>>());
            // c is a positive combination of rows tight at the point, so the point is optimal.
            let Lp::Optimal { value, .. } = linear_program(&c, &g, &h) else { panic!() };
            prop_assert!((value - dot(&c, &inside)).abs() < 1e-10, "{} {}", value, dot(&c, &inside));
            let Nearest::Point(t) = nearest_point(&g, &h, 1e-9) else { panic!() };
            prop_assert!(norm(&t) <= norm(&inside) + 1e-12);
            let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &t)));
            prop_assert!(violation <= 1e-12, "violation {violation}");
        }
    }
}
