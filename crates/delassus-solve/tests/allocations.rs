//! What a simulation asks of a solver: from the third step on a solve takes no memory, and gives the bits of
//! `solve`; the second solve of one and the same problem takes none, whatever its size.

#[path = "support/counting.rs"]
mod counting;
#[allow(dead_code, reason = "each test binary uses its share")]
#[path = "support/random.rs"]
mod random;

use counting::COUNT;
use delassus_solve::contact::{ContactOptions, Method, Solution, Workspace, solve, solve_into};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, Form, Law, Status};
use random::Random;

/// A tower of boxes on four contacts each, the law of each contact drawn by `law`, in the global form: full 6
/// × 6 masses. Twelve rows of contacts per box, six degrees of freedom: W is singular.
fn tower(boxes: usize, law: impl Fn(usize) -> Law, joint: bool) -> ContactProblem {
    let mut random = Random(7);
    let (mut mass, mut h, mut laws, mut force) = (vec![], vec![], vec![], vec![]);
    let mut row = 0;
    for b in 0..boxes {
        let m = 1.0 + 0.5 * random.centred();
        for i in 0..6 {
            mass.push((6 * b + i, 6 * b + i, if i < 3 { m } else { 0.3 * m }));
        }
        // The inertia of a box that stands askew.
        for (i, j, x) in [(3, 4, 0.02), (3, 5, -0.01), (4, 5, 0.03)] {
            mass.push((6 * b + i, 6 * b + j, x * m));
            mass.push((6 * b + j, 6 * b + i, x * m));
        }
        force.extend([0.1 * random.centred(), 0.1 * random.centred(), -0.3, 0.0, 0.0, 0.02].map(|x| x * m));
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
    ContactProblem::new(laws, form).unwrap()
}

fn local(problem: &ContactProblem) -> ContactProblem {
    let (delassus, free_velocity) = problem.local().unwrap();
    ContactProblem::new(problem.laws.clone(), Form::Local { delassus, free_velocity }).unwrap()
}

/// Other numbers in the same places: the force moves by about a thousandth.
fn moved(problem: &ContactProblem, random: &mut Random) -> ContactProblem {
    let mut out = problem.clone();
    if let Form::Global { force, .. } = &mut out.form {
        force.iter_mut().for_each(|x| *x *= 1.0 + 1e-3 * random.centred());
    }
    out
}

/// Two steps to warm up and three that are counted; every one gives the bits of `solve`.
fn steady(
    name: &str,
    problem: &ContactProblem,
    form: fn(&ContactProblem) -> ContactProblem,
    options: &ContactOptions,
) -> Solution {
    let mut random = Random(1);
    let (mut workspace, mut solution) = (Workspace::default(), Solution::default());
    for step in 0..5 {
        let now = form(&moved(problem, &mut random));
        let start = (!solution.impulse.is_empty()).then(|| solution.impulse.clone());
        let expected = solve(&now, options, start.as_deref()).unwrap();
        let before = COUNT.get();
        solve_into(&now, options, &mut workspace, &mut solution).unwrap();
        let count = COUNT.get() - before;
        assert!(step < 2 || count == 0, "{name}, step {step}: {count} allocations");
        let bits = |s: &Solution| s.impulse.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
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
    let pile = delassus_solve::problem::sphere_pile(4, 0.5).unwrap();
    assert!((200..400).contains(&pile.laws.len()), "{} contacts", pile.laws.len());
    let options = ContactOptions::default();
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
        for form in [local, ContactProblem::clone] {
            assert_eq!(steady(name, &problem, form, &options).status, Status::Solved, "{name}");
        }
    }
}

#[test]
fn every_method_takes_no_memory() {
    for (name, method) in Method::ALL {
        for minimum_norm in [false, true] {
            let options = ContactOptions { method, minimum_norm, max_iterations: 300, ..Default::default() };
            let found = steady(name, &tower(3, coulomb, true), local, &options);
            assert!(found.impulse.iter().all(|x| x.is_finite()) && found.residual.is_finite(), "{name}");
        }
    }
}

#[test]
fn rescues_take_no_memory() {
    // A tolerance below rounding asks for everything that there is: the path, proximal points, accelerated
    // sweeps.
    let options = ContactOptions { tolerance: 1e-19, max_iterations: 400, ..Default::default() };
    let found = steady("beyond rounding", &tower(3, coulomb, false), local, &options);
    assert_ne!(found.status, Status::Solved);
    assert!(found.residual < 1e-10, "{:.1e}", found.residual);
}

/// Discs in a box in the plane: rows of `wide` and of `wide` − 1 by turns, each disc in the hollow between
/// two of the row below.
fn discs(wide: usize, law: Law) -> ContactProblem {
    let side = |k: usize| if k.is_multiple_of(2) { wide } else { wide - 1 };
    let first: Vec<usize> = (0..=wide).scan(0, |at, k| Some(std::mem::replace(at, *at + side(k)))).collect();
    let (bodies, rows) = (first[wide], law.dim());
    let mut random = Random(3);
    let (mut mass, mut force, mut h) = (vec![], vec![], vec![]);
    for b in 0..bodies {
        let m = 1.5 + random.centred();
        mass.extend((0..3).map(|i| (3 * b + i, 3 * b + i, if i < 2 { m } else { 0.125 * m })));
        force.extend([0.002 * random.centred(), -0.1 + 0.002 * random.centred(), 0.0].map(|x| x * m));
    }
    let mut count = 0;
    for k in 0..wide {
        for i in 0..side(k) {
            let a = first[k] + i;
            let mut touch = |b: Option<usize>, n: [f64; 2]| {
                for (c, d) in [n, [-n[1], n[0]]].into_iter().take(rows).enumerate() {
                    for (body, sign) in [(Some(a), 1.0), (b, -1.0)] {
                        let Some(body) = body else { continue };
                        // The contact point lies at −n/2 from a and at +n/2 from b.
                        let turn = -0.5 * sign * (n[0] * d[1] - n[1] * d[0]);
                        let entries = [d[0], d[1], turn].into_iter().enumerate();
                        h.extend(
                            entries
                                .filter(|e| e.1 != 0.0)
                                .map(|(j, x)| (3 * body + j, rows * count + c, sign * x)),
                        );
                    }
                }
                count += 1;
            };
            if k == 0 {
                touch(None, [0.0, 1.0]);
            } else {
                let shift = usize::from(side(k - 1) < side(k));
                for (di, x) in [(0, 0.5), (1, -0.5)] {
                    if i + di >= shift && i + di - shift < side(k - 1) {
                        touch(Some(first[k - 1] + i + di - shift), [x, 0.75_f64.sqrt()]);
                    }
                }
            }
            if side(k) == wide && i == 0 {
                touch(None, [1.0, 0.0]);
            }
            if side(k) == wide && i + 1 == wide {
                touch(None, [-1.0, 0.0]);
            }
            if i > 0 {
                touch(Some(a - 1), [1.0, 0.0]);
            }
        }
    }
    let form = Form::Global {
        mass: Sparse::from_triplets(3 * bodies, 3 * bodies, &mass),
        jacobian_transposed: Sparse::from_triplets(3 * bodies, rows * count, &h),
        force,
        bias: vec![0.0; rows * count],
    };
    ContactProblem::new(vec![law; count], form).unwrap()
}

/// A heap of spheres in which contacts resist rolling, about two axes that are the same everywhere; a joint
/// between two of the spheres comes last.
fn rolling_heap(wide: usize, law: Law, joint: bool) -> ContactProblem {
    let heap = delassus_solve::problem::sphere_pile(wide, 0.5).unwrap();
    let Form::Global { mass, jacobian_transposed, force, .. } = heap.form else { panic!("a global problem") };
    let (n, d) = (heap.laws.len(), law.dim());
    let mut h = vec![];
    for (i, j, x) in jacobian_transposed.triplets() {
        h.push((i, d * (j / 3) + j % 3, x));
        // The normal row has a place for each body along each axis that it is not normal to.
        if d == 5 && j % 3 == 0 {
            h.extend((0..2).map(|c| (6 * (i / 6) + 3 + c, d * (j / 3) + 3 + c, x.signum() * 0.01)));
        }
    }
    let mut laws = vec![law; n];
    let mut rows = d * n;
    if joint {
        h.extend([(0, rows, 1.0), (6, rows, -1.0)]);
        laws.push(Law::Bilateral);
        rows += 1;
    }
    let form = Form::Global {
        jacobian_transposed: Sparse::from_triplets(mass.rows(), rows, &h),
        mass,
        force,
        bias: vec![0.0; rows],
    };
    ContactProblem::new(laws, form).unwrap()
}

/// Many towers beside each other.
fn towers(many: usize) -> ContactProblem {
    let one = tower(2, coulomb, false);
    let Form::Global { mass, jacobian_transposed: h, force, bias } = &one.form else { panic!("global") };
    let copies = |a: &Sparse| {
        let entries: Vec<_> = (0..many)
            .flat_map(|k| a.triplets().map(move |(i, j, x)| (k * a.rows() + i, k * a.cols() + j, x)))
            .collect();
        Sparse::from_triplets(many * a.rows(), many * a.cols(), &entries)
    };
    let form = Form::Global {
        mass: copies(mass),
        jacobian_transposed: copies(h),
        force: force.repeat(many),
        bias: bias.repeat(many),
    };
    ContactProblem::new(one.laws.repeat(many), form).unwrap()
}

/// Problems of all kinds, with and without W, each with the number of contacts that it has at least.
fn all_sizes() -> Vec<(&'static str, usize, ContactProblem)> {
    let rolling = Law::Rolling { mu: 0.5, rolling: 0.05 };
    vec![
        ("discs", 60, discs(5, Law::CoulombPlane { mu: 0.4 })),
        ("many discs", 500, discs(20, Law::CoulombPlane { mu: 0.4 })),
        ("many discs without friction", 500, discs(20, Law::Unilateral)),
        ("many discs with the associated law", 500, discs(20, Law::ConePlane { mu: 0.4 })),
        ("more discs", 1200, discs(24, Law::CoulombPlane { mu: 0.3 })),
        ("spheres", 200, rolling_heap(4, Law::Coulomb { mu: 0.5 }, false)),
        ("many spheres", 500, rolling_heap(6, Law::Coulomb { mu: 0.5 }, false)),
        ("more spheres", 1200, rolling_heap(8, Law::Coulomb { mu: 0.5 }, false)),
        ("many spheres with the associated law", 500, rolling_heap(6, Law::Cone { mu: 0.5 }, false)),
        ("spheres with a joint", 200, rolling_heap(4, Law::Coulomb { mu: 0.5 }, true)),
        ("many spheres with a joint", 500, rolling_heap(6, Law::Coulomb { mu: 0.5 }, true)),
        ("spheres that resist rolling", 60, rolling_heap(3, rolling, false)),
        ("many spheres that resist rolling", 500, rolling_heap(6, rolling, true)),
        ("many towers", 1200, towers(150)),
    ]
}

/// Solves twice from zero and once from the solution; returns how it ended, and the allocations of the second
/// and the third.
fn repeated(problem: &ContactProblem, options: &ContactOptions) -> (Status, [usize; 2]) {
    let (mut workspace, mut solution) = (Workspace::default(), Solution::default());
    solve_into(problem, options, &mut workspace, &mut solution).unwrap();
    let first = solution.clone();
    let mut counts = [0; 2];
    for (k, count) in counts.iter_mut().enumerate() {
        if k == 0 {
            solution.impulse.clear();
        }
        let before = COUNT.get();
        solve_into(problem, options, &mut workspace, &mut solution).unwrap();
        *count = COUNT.get() - before;
        if k == 0 {
            assert_eq!((first.status, &first.impulse), (solution.status, &solution.impulse));
        }
    }
    (first.status, counts)
}

#[test]
fn the_second_solve_takes_no_memory_whatever_the_size() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for (name, least, problem) in all_sizes() {
            assert!(problem.laws.len() >= least, "{name}: {} contacts", problem.laws.len());
            for (form, problem) in [("without W", problem.clone()), ("with W", local(&problem))] {
                let few = form == "without W" && ["many discs", "many spheres with a joint"].contains(&name);
                // Few sweeps are not enough: what comes after them is counted too.
                for max_iterations in if few { &[20_000, 12][..] } else { &[20_000] } {
                    let options = ContactOptions {
                        tolerance: 1e-6,
                        max_iterations: *max_iterations,
                        ..Default::default()
                    };
                    let begun = std::time::Instant::now();
                    let (status, counts) = repeated(&problem, &options);
                    println!("{name} {form}: {status:?} in {:.3} s", begun.elapsed().as_secs_f64());
                    assert!(status == Status::Solved || few, "{name} {form}: {status:?}");
                    assert_eq!(counts, [0; 2], "{name} {form}, {max_iterations} iterations");
                }
            }
        }
    });
}

#[test]
fn several_threads_take_next_to_no_memory() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    // The pool's own queues may grow once more; nothing is taken for contacts or sweeps.
    for (name, _, problem) in all_sizes().into_iter().filter(|(_, least, _)| *least >= 1200) {
        for problem in [problem.clone(), local(&problem)] {
            let options = ContactOptions { tolerance: 1e-6, ..Default::default() };
            let (mut workspace, mut solution) = (Workspace::default(), Solution::default());
            let counts = pool.install(|| {
                solve_into(&problem, &options, &mut workspace, &mut solution).unwrap();
                let mut counts = vec![0; 3];
                for count in &mut counts {
                    solution.impulse.clear();
                    let before: usize = pool.broadcast(|_| COUNT.get()).into_iter().sum();
                    let between: usize = pool.broadcast(|_| COUNT.get()).into_iter().sum();
                    solve_into(&problem, &options, &mut workspace, &mut solution).unwrap();
                    let after: usize = pool.broadcast(|_| COUNT.get()).into_iter().sum();
                    *count = (after - between).saturating_sub(between - before);
                }
                counts
            });
            println!("{name}: {counts:?} allocations on three threads");
            assert!(counts.iter().all(|c| *c <= 4), "{name}: {counts:?}");
        }
    }
}

#[test]
fn a_workspace_follows_the_problem() {
    // Contacts come and go, laws and widths change, and nothing of the last problem is left.
    let (mut workspace, mut options) = (Workspace::default(), ContactOptions::default());
    for round in 0..2 {
        for problem in [
            tower(4, coulomb, false),
            tower(2, coulomb, true),
            tower(3, |_| Law::Unilateral, false),
            tower(2, |_| Law::Rolling { mu: 0.4, rolling: 0.05 }, true),
            local(&tower(4, coulomb, false)),
            tower(4, |k| Law::Coulomb { mu: if k == 2 { 0.0 } else { 0.5 } }, false),
            delassus_solve::problem::sphere_pile(3, 0.5).unwrap(),
        ] {
            let mut found = Solution::default();
            solve_into(&problem, &options, &mut workspace, &mut found).unwrap();
            let expected = solve(&problem, &options, None).unwrap();
            assert_eq!((found.status, &found.impulse), (expected.status, &expected.impulse), "{round}");
        }
        options.minimum_norm = true;
    }
}

#[test]
fn a_w_that_is_kept_gives_the_bits_of_a_new_one() {
    // The same masses and rows with other loads, other friction, and another mass at last.
    let ellipse = |mu: f64| Law::CoulombEllipse { mu: [mu, 0.3] };
    for laws in [
        coulomb,
        |_| Law::Unilateral,
        |_| Law::Rolling { mu: 0.4, rolling: 0.05 },
        |_| Law::Coulomb { mu: 0.0 },
    ] {
        let mut workspace = Workspace::default();
        let mut problem = tower(3, laws, false);
        for round in 0..6 {
            if let Form::Global { mass, force, bias, .. } = &mut problem.form {
                force.iter_mut().for_each(|f| *f *= 1.25);
                bias.iter_mut().for_each(|b| *b += 0.01 * f64::from(round));
                if round == 5 {
                    let entries: Vec<_> = mass.triplets().map(|(i, j, m)| (i, j, 2.0 * m)).collect();
                    mass.refill(mass.rows(), mass.cols(), &entries);
                }
            }
            if let (Law::Coulomb { .. } | Law::CoulombEllipse { .. }, 2..) = (problem.laws[1], round) {
                problem.laws[1] = ellipse(0.1 * f64::from(round / 2));
            }
            let (options, mut found) = (ContactOptions::default(), Solution::default());
            solve_into(&problem, &options, &mut workspace, &mut found).unwrap();
            let expected = solve(&problem, &options, None).unwrap();
            assert_eq!(
                (found.status, found.residual, &found.impulse, &found.velocity),
                (expected.status, expected.residual, &expected.impulse, &expected.velocity),
                "{round}"
            );
        }
    }
}

#[test]
fn what_is_no_problem_is_refused_and_the_solution_kept() {
    let mut problem = local(&tower(1, coulomb, false));
    let (mut workspace, mut found) = (Workspace::default(), Solution::default());
    let options = ContactOptions::default();
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
