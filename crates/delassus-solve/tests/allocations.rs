//! What a simulation asks of a solver: from the third step on a solve takes no memory, and gives the bits of `solve`.

mod counting;

use counting::COUNT;
use delassus_solve::friction_problem::{Form, FrictionProblem};
use delassus_solve::law::Law;
use delassus_solve::solvers::Status;
use delassus_solve::solvers::friction::{
    FrictionOptions, FrictionSolution, Method, Workspace, solve, solve_into,
};
use delassus_solve::sparse::Sparse;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// A tower of boxes on four contacts each, the law of each contact drawn by `law`, in the global form: full 6 × 6 masses. Twelve
/// rows of contacts per box, six degrees of freedom: W is singular.
fn tower(boxes: usize, law: impl Fn(usize) -> Law, joint: bool) -> FrictionProblem {
    let mut seed = 7;
    let (mut mass, mut h, mut laws, mut force) = (vec![], vec![], vec![], vec![]);
    let mut row = 0;
    for b in 0..boxes {
        let m = 1.0 + 0.5 * random(&mut seed);
        for i in 0..6 {
            mass.push((6 * b + i, 6 * b + i, if i < 3 { m } else { 0.3 * m }));
        }
        // The inertia of a box that stands askew.
        for (i, j, x) in [(3, 4, 0.02), (3, 5, -0.01), (4, 5, 0.03)] {
            mass.push((6 * b + i, 6 * b + j, x * m));
            mass.push((6 * b + j, 6 * b + i, x * m));
        }
        force.extend([0.1 * random(&mut seed), 0.1 * random(&mut seed), -0.3, 0.0, 0.0, 0.02].map(|x| x * m));
        for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)] {
            let law = law(laws.len());
            let directions = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            for c in 0..law.dim() {
                // This box above the contact, the one below under it; moments turn about the tangents.
                for (body, z, sign) in [(Some(b), -0.5, 1.0), (b.checked_sub(1), 0.5, -1.0)] {
                    let Some(body) = body else { continue };
                    let entries: [f64; 6] = if c < 3 {
                        let d: [f64; 3] = directions[c];
                        let turn = [y * d[2] - z * d[1], z * d[0] - x * d[2], x * d[1] - y * d[0]];
                        [d[0], d[1], d[2], turn[0], turn[1], turn[2]]
                    } else {
                        std::array::from_fn(|k| f64::from(u8::from(k == c)))
                    };
                    for (k, e) in entries.iter().enumerate().filter(|e| *e.1 != 0.0) {
                        h.push((6 * body + k, row + c, sign * e));
                    }
                }
            }
            row += law.dim();
            laws.push(law);
        }
    }
    if joint {
        // The highest box does not turn about the vertical.
        h.push((6 * boxes - 1, row, 1.0));
        laws.push(Law::Bilateral);
        row += 1;
    }
    let n = 6 * boxes;
    let form = Form::Global {
        mass: Sparse::from_triplets(n, n, &mass),
        jacobian_transposed: Sparse::from_triplets(n, row, &h),
        force,
        bias: vec![0.0; row],
    };
    FrictionProblem::new(laws, form).unwrap()
}

fn local(problem: &FrictionProblem) -> FrictionProblem {
    let (delassus, free_velocity) = problem.local().unwrap();
    FrictionProblem::new(problem.laws.clone(), Form::Local { delassus, free_velocity }).unwrap()
}

/// Other numbers in the same places: the force moves by about a thousandth.
fn moved(problem: &FrictionProblem, seed: &mut u64) -> FrictionProblem {
    let mut out = problem.clone();
    if let Form::Global { force, .. } = &mut out.form {
        force.iter_mut().for_each(|x| *x *= 1.0 + 1e-3 * random(seed));
    }
    out
}

/// Two steps to warm up and three that are counted; every one gives the bits of `solve`.
fn steady(
    name: &str,
    problem: &FrictionProblem,
    form: fn(&FrictionProblem) -> FrictionProblem,
    options: &FrictionOptions,
) -> FrictionSolution {
    let mut seed = 1;
    let (mut workspace, mut solution) = (Workspace::default(), FrictionSolution::default());
    for step in 0..5 {
        let now = form(&moved(problem, &mut seed));
        let start = (!solution.impulse.is_empty()).then(|| solution.impulse.clone());
        let expected = solve(&now, options, start.as_deref()).unwrap();
        let before = COUNT.get();
        solve_into(&now, options, &mut workspace, &mut solution).unwrap();
        let count = COUNT.get() - before;
        assert!(step < 2 || count == 0, "{name}, step {step}: {count} allocations");
        let bits = |s: &FrictionSolution| s.impulse.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&solution), bits(&expected), "{name}, step {step}");
        assert_eq!(
            (solution.status, solution.iterations, solution.islands, solution.residual.to_bits()),
            (expected.status, expected.iterations, expected.islands, expected.residual.to_bits()),
            "{name}, step {step}"
        );
    }
    solution
}

fn coulomb(_: usize) -> Law {
    Law::Coulomb { mu: 0.5 }
}

#[test]
fn steady_scenes_take_no_memory() {
    let pile = delassus_solve::sphere_pile::sphere_pile(4, 0.5).unwrap();
    assert!((200..400).contains(&pile.laws.len()), "{} contacts", pile.laws.len());
    let options = FrictionOptions::default();
    for (name, problem) in [
        ("a pile", pile),
        ("a stack", tower(6, coulomb, false)),
        ("a stack with a joint", tower(5, coulomb, true)),
        ("one box", tower(1, coulomb, false)),
        ("the associated law", tower(3, |_| Law::Cone { mu: 0.4 }, false)),
        ("ellipses", tower(3, |_| Law::CoulombEllipse { mu: [0.3, 0.6] }, false)),
        ("rolling", tower(2, |_| Law::Rolling { mu: 0.4, rolling: 0.05 }, false)),
        (
            "some without friction",
            tower(3, |k| Law::Coulomb { mu: if k % 3 == 0 { 0.0 } else { 0.4 } }, true),
        ),
    ] {
        for form in [local, FrictionProblem::clone] {
            assert_eq!(steady(name, &problem, form, &options).status, Status::Solved, "{name}");
        }
    }
}

#[test]
fn every_method_takes_no_memory() {
    for (name, method) in Method::ALL {
        for minimum_norm in [false, true] {
            let options = FrictionOptions { method, minimum_norm, max_iterations: 300, ..Default::default() };
            let found = steady(name, &tower(3, coulomb, true), local, &options);
            assert!(found.impulse.iter().all(|x| x.is_finite()) && found.residual.is_finite(), "{name}");
        }
    }
}

#[test]
fn rescues_take_no_memory() {
    // A tolerance below rounding asks for everything that there is: the path, proximal points, accelerated sweeps.
    let options = FrictionOptions { tolerance: 1e-19, max_iterations: 400, ..Default::default() };
    let found = steady("beyond rounding", &tower(3, coulomb, false), local, &options);
    assert_ne!(found.status, Status::Solved);
    assert!(found.residual < 1e-10, "{:.1e}", found.residual);
}

#[test]
fn a_workspace_follows_the_problem() {
    // Contacts come and go, laws and widths change, and nothing of the last problem is left.
    let (mut workspace, mut options) = (Workspace::default(), FrictionOptions::default());
    for round in 0..2 {
        for problem in [
            tower(4, coulomb, false),
            tower(2, coulomb, true),
            tower(3, |_| Law::Unilateral, false),
            tower(2, |_| Law::Rolling { mu: 0.4, rolling: 0.05 }, true),
            local(&tower(4, coulomb, false)),
            tower(4, |k| Law::Coulomb { mu: if k == 2 { 0.0 } else { 0.5 } }, false),
            delassus_solve::sphere_pile::sphere_pile(3, 0.5).unwrap(),
        ] {
            let mut found = FrictionSolution::default();
            solve_into(&problem, &options, &mut workspace, &mut found).unwrap();
            let expected = solve(&problem, &options, None).unwrap();
            assert_eq!((found.status, &found.impulse), (expected.status, &expected.impulse), "{round}");
        }
        options.minimum_norm = true;
    }
}

#[test]
fn what_is_no_problem_is_refused_and_the_solution_kept() {
    let mut problem = local(&tower(1, coulomb, false));
    let (mut workspace, mut found) = (Workspace::default(), FrictionSolution::default());
    let options = FrictionOptions::default();
    solve_into(&problem, &options, &mut workspace, &mut found).unwrap();
    let good = found.impulse.clone();
    if let Form::Local { free_velocity, .. } = &mut problem.form {
        free_velocity[4] = f64::NAN;
    }
    assert!(solve_into(&problem, &options, &mut workspace, &mut found).is_err());
    assert_eq!(found.impulse, good);
    found.impulse.push(0.0);
    let other = local(&tower(1, coulomb, false));
    assert!(solve_into(&other, &options, &mut workspace, &mut found).is_err());
}
