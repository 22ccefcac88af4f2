//! Gauss' principle: all programs of 000 and 001, and all solvers, agree on the acceleration.

use delassus_solve::analysis::analyze;
use delassus_solve::lcp::{
    QpOutcome, QuadraticProgram, Solver, Verdict, dual_multiplier_program, gauss_principle, least_deviation,
    multiplier_program, projected_gauss_principle, sliding_lcp, solve_lcp,
};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Law, Status};
use proptest::prelude::*;

fn point(program: &QuadraticProgram) -> Option<Vec<f64>> {
    match program.solve() {
        QpOutcome::Solved { point, .. } => Some(point),
        _ => None,
    }
}

fn system(bilateral: usize, unilateral: usize) -> impl Strategy<Value = Dynamics> {
    let n = 5;
    let m = bilateral + unilateral;
    proptest::collection::vec(-1.0..1.0f64, n * n + n + m * n + m).prop_map(move |x| {
        let g = Matrix::from_vec(n, n, x[..n * n].to_vec());
        let mut mass = g.mul(&g.transpose());
        for i in 0..n {
            mass[(i, i)] += 0.5;
        }
        let rest = &x[n * n..];
        Dynamics::new(
            mass,
            rest[..n].iter().map(|f| 5.0 * f).collect(),
            Matrix::from_vec(m, n, rest[n..n + m * n].to_vec()),
            rest[n + m * n..].to_vec(),
            [vec![Law::Bilateral; bilateral], vec![Law::Unilateral; unilateral]].concat(),
        )
        .unwrap()
    })
}

/// KKT conditions hold to 1e-9 and the conditioning of these systems is below 100.
fn same(a: &[f64], b: &[f64]) -> bool {
    let scale = 1.0 + b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-7 * scale)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// 000 eq. 11, 15; 001 eq. 42, 48, 49: unilateral constraints alone.
    #[test]
    fn eq_001_42_48_49_unilateral(d in system(0, 3)) {
        let r = d.reduce().unwrap();
        prop_assume!(*r.delassus.singular_values().last().unwrap() > 1e-3);
        let analysis = analyze(&d, &EnumerateOptions::default());
        prop_assert_eq!(analysis.existence, Verdict::Proved);
        let a = &analysis.solutions.components[0].acceleration;
        let by_force = |f: &[f64]| r.acceleration(f);
        for solver in [Solver::Lemke, Solver::PrincipalPivoting, Solver::NewtonMin, Solver::Enumerate] {
            let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
            let s = solve_lcp(&lift.lcp, solver, 1e-10);
            // Newton's method may cycle on a definite matrix, and then says so.
            if solver == Solver::NewtonMin && s.status == Status::Stalled {
                continue;
            }
            prop_assert!(s.residual < 1e-9, "{:?} {}", solver, s.residual);
            prop_assert!(same(&by_force(&lift.force_of(&s.z)), a), "{:?}", solver);
        }
        prop_assert!(same(&by_force(&point(&multiplier_program(&r.delassus, &r.free_velocity)).unwrap()), a));
        prop_assert!(same(&by_force(&point(&dual_multiplier_program(&r.delassus, &r.free_velocity)).unwrap()), a));
        prop_assert!(same(&point(&gauss_principle(&d).unwrap()).unwrap(), a));
        let deviation = point(&least_deviation(&d).unwrap()).unwrap();
        let sum: Vec<f64> = deviation.iter().zip(&r.free_acceleration).map(|(y, f)| y + f).collect();
        prop_assert!(same(&sum, a));
    }

    /// 000 eq. 27; 001 eq. 53, 54, 56: unilateral and bilateral constraints.
    #[test]
    fn eq_001_53_54_56_mixed(d in system(2, 2)) {
        let r = d.reduce().unwrap();
        prop_assume!(*r.delassus.singular_values().last().unwrap() > 1e-3);
        let a = analyze(&d, &EnumerateOptions::default()).solutions.components[0].acceleration.clone();
        let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
        let by_force = |z: &[f64]| r.acceleration(&lift.force_of(z));
        prop_assert!(same(&by_force(&point(&multiplier_program(&lift.lcp.matrix, &lift.lcp.vector)).unwrap()), &a));
        prop_assert!(same(&by_force(&point(&dual_multiplier_program(&lift.lcp.matrix, &lift.lcp.vector)).unwrap()), &a));
        prop_assert!(same(&point(&gauss_principle(&d).unwrap()).unwrap(), &a));
        let (program, base) = projected_gauss_principle(&d).unwrap();
        let sum: Vec<f64> = point(&program).unwrap().iter().zip(&base).map(|(y, b)| y + b).collect();
        prop_assert!(same(&sum, &a));
    }

    /// 000 eq. 5: joints alone.
    #[test]
    fn eq_000_5_joints(d in system(3, 0)) {
        let r = d.reduce().unwrap();
        prop_assume!(*r.delassus.singular_values().last().unwrap() > 1e-3);
        let f = r.delassus.solve(&r.free_velocity.iter().map(|x| -x).collect::<Vec<_>>()).unwrap();
        let a = r.acceleration(&f);
        prop_assert!(same(&point(&gauss_principle(&d).unwrap()).unwrap(), &a));
        prop_assert!(same(&analyze(&d, &EnumerateOptions::default()).solutions.components[0].acceleration, &a));
    }
}

#[test]
fn infeasible_and_unbounded_programs_say_so() {
    // Contacts that contradict each other: y'' ≥ 1 and −y'' ≥ 1.
    let d = Dynamics::new(
        Matrix::identity(1),
        vec![0.0],
        Matrix::from_rows(&[[1.0], [-1.0]]),
        vec![-1.0, -1.0],
        vec![Law::Unilateral; 2],
    )
    .unwrap();
    assert_eq!(gauss_principle(&d).unwrap().solve(), QpOutcome::Infeasible);
    assert_eq!(analyze(&d, &EnumerateOptions::default()).existence, Verdict::Refuted);
    // No curvature, nothing to stop the descent.
    let program = multiplier_program(&Matrix::zeros(1, 1), &[-1.0]);
    assert_eq!(program.solve(), QpOutcome::Unbounded);
    // Friction has no such principle.
    let friction = Dynamics { laws: vec![Law::Unilateral, Law::CoulombPlane { mu: 0.1 }], ..d };
    assert!(gauss_principle(&friction).is_none());
}
