use super::loading::MAX_DOFS;
use super::*;
use crate::contact::{ContactOptions, solve};
use crate::problem::{Form, ResidualCheck, Status};

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
fn a_solve_that_begins_has_the_bits_of_one_that_is_the_first() {
    let mut used = FewDofs::default();
    for seed in 0..20 {
        let mut problem = problem(seed, 6 + seed % 9, 1 + seed % 5, 0.3);
        let mut start = vec![0.0; problem.rows()];
        used.solve(&problem, 1e-10, &mut start);
        // The same rows under another load, from the impulses of the first.
        let Form::Global { force, .. } = &mut problem.form else { unreachable!() };
        force.iter_mut().enumerate().for_each(|(i, f)| *f *= 1.0 + 0.05 * number(seed + i));
        let (mut kept, mut new) = (start.clone(), start);
        used.begin();
        let steps = used.solve(&problem, 1e-10, &mut kept);
        assert_eq!(steps, FewDofs::default().solve(&problem, 1e-10, &mut new), "{seed}");
        assert_eq!(kept, new, "{seed}");
    }
}

/// The passes of a step differ by little: what is kept of the first makes no difference to what is found.
#[test]
fn a_solve_that_goes_on_finds_what_one_finds_that_begins() {
    let mut slid = 0;
    for seed in 0..40 {
        let (mut used, mut problem) = (FewDofs::default(), problem(seed, 6 + seed % 9, 1 + seed % 5, 0.3));
        let mut impulse = vec![0.0; problem.rows()];
        if used.solve(&problem, 1e-10, &mut impulse).is_none() {
            continue;
        }
        let slides = used.factors.slides && used.factors.is_factored;
        let Form::Global { bias, .. } = &mut problem.form else { unreachable!() };
        bias.iter_mut().enumerate().for_each(|(i, b)| *b += 1e-6 * number(seed + i));
        let (mut kept, mut new) = (impulse.clone(), impulse);
        let again = used.solve(&problem, 1e-10, &mut kept);
        let first = FewDofs::default().solve(&problem, 1e-10, &mut new);
        assert_eq!(again.is_some(), first.is_some(), "{seed}");
        let (mut check, mut u) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        for r in [&kept, &new].into_iter().filter(|_| again.is_some()) {
            assert!(check.residual(&problem, r, &mut u).relative <= 1e-10, "{seed}");
        }
        slid += usize::from(slides && again.is_some());
    }
    assert!(slid >= 5, "{slid}");
}

/// The same with other laws of contacts, whose rows behind the slip are moments with coefficients of a tenth.
fn wide_problem(seed: usize, m: usize, contacts: usize, law: Law) -> ContactProblem {
    let three = problem(seed, m, contacts, 0.3);
    let Form::Global { mass, jacobian_transposed, force, bias } = three.form else { panic!("global") };
    let (dim, old) = (law.dim(), jacobian_transposed.to_dense());
    let n = 2 + dim * contacts;
    let mut entries = vec![];
    for i in 0..m {
        for j in 0..n {
            let (contact, row) = ((j.max(2) - 2) / dim, (j.max(2) - 2) % dim);
            let value = match j {
                0 | 1 => old[(i, j)],
                _ if row < 3 => old[(i, 2 + 3 * contact + row)],
                _ => number(seed + 131 * j + 71 * i),
            };
            entries.push((i, j, value));
        }
    }
    let mut laws = vec![Law::Bilateral, Law::Unilateral];
    laws.extend(vec![law; contacts]);
    let bias = (0..n).map(|j| bias[j % bias.len()]).collect();
    let jacobian_transposed = Sparse::from_triplets(m, n, &entries);
    ContactProblem::new(laws, Form::Global { mass, jacobian_transposed, force, bias }).unwrap()
}

#[test]
fn rolling_and_spinning_friction_are_solved_beside_the_slip() {
    let (mut few, mut solved, mut bounds) = (FewDofs::default(), 0, 0);
    let laws = [
        Law::Rolling { mu: 0.3, rolling: 0.1 },
        Law::Spinning { mu: 0.3, rolling: 0.1, spinning: 0.05 },
        Law::Spinning { mu: 0.5, rolling: 0.0, spinning: 0.1 },
        Law::ConeRolling { mu: 0.3, rolling: 0.1 },
        Law::ConeSpinning { mu: 0.3, rolling: 0.1, spinning: 0.05 },
    ];
    for seed in 0..60 {
        let problem = wide_problem(seed, 6 + seed % 9, 1 + seed % 5, laws[seed % laws.len()]);
        let mut impulse = vec![0.0; problem.rows()];
        let Some(steps) = few.solve(&problem, 1e-10, &mut impulse) else { continue };
        solved += 1;
        bounds += few.iterate.modes.iter().filter(|mode| matches!(mode, Mode::Wide(_))).count();
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        let residual = check.residual(&problem, &impulse, &mut velocity).relative;
        // Newton measures each part of a contact by its own scale, the check all of them by one.
        assert!(residual <= 1e-9, "{seed}: {residual:e} after {steps}");
    }
    assert!(solved >= 50 && bounds >= 40, "{solved} of 60, {bounds}");
}

#[test]
fn impulses_within_ranges_hold_or_are_at_a_bound_that_opposes_the_motion() {
    let (mut few, mut solved, mut sides) = (FewDofs::default(), 0, [0; 3]);
    for seed in 0..60 {
        let (m, contacts) = (6 + seed % 9, 1 + seed % 4);
        let mut problem = problem(seed, m, contacts, 0.4);
        let joints = 2 + seed % 5;
        // Before these stand joints with a bound on each row.
        let Form::Global { jacobian_transposed, bias, .. } = &mut problem.form else { panic!("global") };
        let old = jacobian_transposed.to_dense();
        let n = old.cols() + joints;
        let entries: Vec<_> = (0..m)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .map(|(i, j)| match j < joints {
                true => (i, j, number(seed + 57 * j + 19 * i)),
                false => (i, j, old[(i, j - joints)]),
            })
            .collect();
        *jacobian_transposed = Sparse::from_triplets(m, n, &entries);
        let mut all = vec![0.0; joints];
        all.extend_from_slice(bias);
        *bias = all;
        let mut laws = vec![Law::Bilateral; joints];
        laws.extend_from_slice(&problem.laws);
        problem.laws = laws;
        let ranges: Vec<[f64; 2]> =
            (0..joints).map(|j| [-0.05 - 0.1 * number(seed + j).abs(), 0.1 * (j % 3) as f64]).collect();
        let mut impulse = vec![0.0; n];
        if few.solve_within(&problem, &ranges, 1e-11, &mut impulse).is_none() {
            continue;
        }
        solved += 1;
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(&problem);
        check.residual(&problem, &impulse, &mut velocity);
        for (j, [low, high]) in ranges.into_iter().enumerate() {
            let (r, u) = (impulse[j], velocity[j]);
            // Velocities of order one, known to the tolerance and the condition of some hundreds.
            let small = 1e-8;
            let side = usize::from(r <= low) + 2 * usize::from(r >= high);
            assert!(r >= low - 1e-12 && r <= high + 1e-12, "{seed}: {r} in {low}, {high}");
            match side {
                0 => assert!(u.abs() < small, "{seed}: {u}"),
                1 => assert!(u > -small, "{seed}: {u}"),
                _ => assert!(u < small, "{seed}: {u}"),
            }
            sides[side.min(2)] += 1;
        }
    }
    assert!(solved >= 50 && sides.iter().all(|n| *n >= 20), "{solved} of 60, {sides:?}");
}

#[test]
fn rows_that_hold_against_each_other_go_to_a_bound() {
    // A joint at its limit, which closes at 1e-9, and friction that holds it: friction has to give way.
    let form = Form::Global {
        mass: Sparse::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]),
        jacobian_transposed: Sparse::from_triplets(2, 3, &[(0, 0, 1.0), (0, 1, 1.0), (1, 2, 1.0)]),
        force: vec![-0.3, -1.0],
        bias: vec![0.0, -1e-9, 0.0],
    };
    let problem = ContactProblem::new(vec![Law::Bilateral, Law::Unilateral, Law::Unilateral], form).unwrap();
    let mut impulse = vec![0.0; 3];
    let ranges = [[-0.1, 0.1]];
    assert!(FewDofs::default().solve_within(&problem, &ranges, 1e-12, &mut impulse).is_some());
    // The limit opens with 1e-9, so friction pulls with all it has: −0.3 − 0.1 + r = 1e-9.
    assert!((impulse[0] + 0.1).abs() < 1e-12 && (impulse[1] - 0.4 - 1e-9).abs() < 1e-11, "{impulse:?}");
}
