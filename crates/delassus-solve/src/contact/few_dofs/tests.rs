use super::*;
use crate::contact::{ContactOptions, solve};
use crate::linalg::Sparse;
use crate::problem::{ResidualCheck, Status};

/// Numbers that are no pattern.
fn number(k: usize) -> f64 {
    (0.618_033_988_749_895 * (k * k + 3 * k) as f64).fract() - 0.5
}

/// Contacts, limits and joints of a few degrees of freedom under a load that presses on all of them:
/// far more rows than degrees of freedom.
fn problem(seed: usize, m: usize, contacts: usize, mu: f64) -> ContactProblem {
    let mut laws = vec![Law::Bilateral, Law::Unilateral];
    laws.extend(vec![Law::Coulomb { mu }; contacts]);
    let n = 2 + 3 * contacts;
    let push: Vec<f64> = (0..m).map(|i| 1.0 + number(seed + 7 * i)).collect();
    let mut entries = vec![];
    for j in 0..n {
        for i in 0..m {
            // Normals lean against the load.
            let normal = j < 2 || (j - 2) % 3 == 0;
            let lean = if normal { 0.8 * push[i] } else { 0.0 };
            entries.push((i, j, lean + number(seed + 31 * j + 17 * i)));
        }
    }
    let mass: Vec<_> = (0..m).map(|i| (i, i, 1.0 + number(seed + i).abs())).collect();
    let form = Form::Global {
        mass: Sparse::from_triplets(m, m, &mass),
        jacobian_transposed: Sparse::from_triplets(m, n, &entries),
        force: push.iter().map(|p| -p).collect(),
        bias: (0..n).map(|j| 1e-2 * number(seed + 5 * j)).collect(),
    };
    ContactProblem::new(laws, form).unwrap()
}

#[test]
fn impulses_solve_what_other_methods_solve() {
    let (mut few, mut solved) = (FewDofs::default(), 0);
    for seed in 0..40 {
        let problem = problem(seed, 6 + seed % 9, 1 + seed % 7, 0.3);
        let mut impulse = vec![0.0; problem.rows()];
        let Some(steps) = few.solve(&problem, 1e-10, &mut impulse) else { continue };
        solved += 1;
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        let residual = check.residual(&problem, &impulse, &mut velocity).relative;
        assert!(residual <= 1e-10, "{seed}: {residual:e} after {steps}");
        let other = solve(&problem, &ContactOptions::default(), None).unwrap();
        assert_eq!(other.status, Status::Solved);
        // A start that is a solution is one.
        assert_eq!(few.solve(&problem, 1e-10, &mut impulse), Some(0));
    }
    assert!(solved >= 30, "{solved} of 40");
}

#[test]
fn the_associated_law_has_the_motion_that_other_methods_find() {
    let (mut few, mut solved, mut slips) = (FewDofs::default(), 0, 0);
    for seed in 0..40 {
        let mu = [0.0, 0.1, 0.3, 0.9][seed % 4];
        let mut problem = problem(seed, 6 + seed % 9, 1 + seed % 7, mu);
        problem.laws[2..].fill(Law::Cone { mu });
        let mut impulse = vec![0.0; problem.rows()];
        let Some(steps) = few.solve(&problem, 1e-11, &mut impulse) else { continue };
        solved += 1;
        slips += few.iterate.modes.iter().filter(|mode| matches!(mode, Mode::Slide { .. })).count();
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        let residual = check.residual(&problem, &impulse, &mut velocity).relative;
        assert!(residual <= 1e-10, "{seed}: {residual:e} after {steps}");
        // The motion minimizes a strictly convex function: there is one.
        let options = ContactOptions { tolerance: 1e-11, ..ContactOptions::default() };
        let other = solve(&problem, &options, None).unwrap();
        assert_eq!(other.status, Status::Solved, "{seed}");
        let size = norm(&other.velocity).max(1e-3);
        for (a, b) in velocity.iter().zip(&other.velocity) {
            // Residuals of 1e-11 times a condition of some hundreds.
            assert!((a - b).abs() < 1e-7 * size, "{seed}: {a} and {b}");
        }
    }
    assert!(solved >= 30 && slips >= 20, "{solved} of 40, {slips}");
}

#[test]
fn problems_of_other_kinds_are_left_to_others() {
    let mut few = FewDofs::default();
    let mut wide = problem(1, 6, 2, 0.3);
    wide.laws[2] = Law::CoulombEllipse { mu: [0.3, 0.2] };
    let mut impulse = vec![0.5; wide.rows()];
    assert_eq!(few.solve(&wide, 1e-10, &mut impulse), None);
    assert_eq!(impulse, vec![0.5; wide.rows()]);
    for dofs in [0, MAX_DOFS + 1] {
        assert_eq!(few.solve(&problem(1, dofs, 2, 0.3), 1e-10, &mut impulse), None);
    }
}

#[test]
fn a_degree_of_freedom_of_one_row_is_its_compliance() {
    // Dampers: the bilateral row has a mass of its own.
    let (mut few, mut solved) = (FewDofs::default(), 0);
    for seed in 0..20 {
        let mut problem = problem(seed, 6 + seed % 9, 1 + seed % 5, 0.3);
        let Form::Global { mass, jacobian_transposed, force, .. } = &mut problem.form else { unreachable!() };
        let (m, n) = (force.len(), jacobian_transposed.cols());
        let mut masses: Vec<_> = (0..m).map(|i| (i, i, mass.row(i).1[0])).collect();
        masses.push((m, m, 0.1 + number(seed).abs()));
        let mut entries = vec![(m, 0, 1.0)];
        for i in 0..m {
            let (columns, values) = jacobian_transposed.row(i);
            entries.extend(columns.iter().zip(values).map(|(&j, x)| (i, j, *x)));
        }
        *mass = Sparse::from_triplets(m + 1, m + 1, &masses);
        *jacobian_transposed = Sparse::from_triplets(m + 1, n, &entries);
        force.push(0.0);
        let mut impulse = vec![0.0; n];
        let Some(steps) = few.solve(&problem, 1e-10, &mut impulse) else { continue };
        solved += 1;
        assert_eq!(few.problem.dofs, m);
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        let residual = check.residual(&problem, &impulse, &mut velocity).relative;
        assert!(residual <= 1e-10, "{seed}: {residual:e} after {steps}");
    }
    assert!(solved >= 15, "{solved} of 20");
}

#[test]
fn rows_that_contradict_each_other_by_rounding_are_solved_to_the_tolerance() {
    // The same point twice, with targets that differ by 1e-11 of the speed.
    let h = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 3, 1.0), (1, 4, 1.0), (2, 5, 1.0)];
    let form = Form::Global {
        mass: Sparse::from_triplets(3, 3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]),
        jacobian_transposed: Sparse::from_triplets(3, 6, &h),
        force: vec![-1.0, 0.1, 0.0],
        bias: vec![0.0, 0.0, 0.0, 0.0, 2e-11, 0.0],
    };
    let problem = ContactProblem::new(vec![Law::Coulomb { mu: 0.5 }; 2], form).unwrap();
    let mut impulse = vec![0.0; 6];
    assert!(FewDofs::default().solve(&problem, 1e-10, &mut impulse).is_some());
    assert!((impulse[0] + impulse[3] - 1.0).abs() < 1e-9, "{impulse:?}");
}

#[test]
fn a_solve_has_the_bits_of_one_that_is_the_first() {
    let mut used = FewDofs::default();
    for seed in 0..20 {
        let mut problem = problem(seed, 6 + seed % 9, 1 + seed % 5, 0.3);
        let mut start = vec![0.0; problem.rows()];
        used.solve(&problem, 1e-10, &mut start);
        // The same rows under another load, from the impulses of the first.
        let Form::Global { force, .. } = &mut problem.form else { unreachable!() };
        force.iter_mut().enumerate().for_each(|(i, f)| *f *= 1.0 + 0.05 * number(seed + i));
        let (mut kept, mut new) = (start.clone(), start);
        let steps = used.solve(&problem, 1e-10, &mut kept);
        assert_eq!(steps, FewDofs::default().solve(&problem, 1e-10, &mut new), "{seed}");
        assert_eq!(kept, new, "{seed}");
    }
}
