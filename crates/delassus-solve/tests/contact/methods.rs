//! Every method by its name, on problems that it may or may not solve: the status and residual of each are
//! compared with the residual check.

use std::time::Duration;

use delassus_solve::contact::{ContactOptions, Method, Solution, solve};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{
    ContactProblem, ContactView, Form, Law, Status, project_ellipse, residual, row_offsets, sphere_pile,
};

use crate::support::random::Random;

/// W = AᵀA and q = Aᵀv for a random A with as many rows as there are degrees of freedom.
fn drawn(laws: &[Law], freedoms: usize, random: &mut Random) -> (Matrix, Vec<f64>) {
    let m = row_offsets(laws)[laws.len()];
    let a = Matrix::from_fn(freedoms, m, |_, _| random.centred());
    let v: Vec<f64> = (0..freedoms).map(|_| random.centred()).collect();
    (a.transpose().mul(&a), a.tr_mul_vec(&v))
}

fn run(laws: &[Law], w: &Matrix, q: &[f64], options: &ContactOptions) -> Solution {
    let form = Form::Local { delassus: Sparse::from_dense(w), free_velocity: q.to_vec() };
    solve(&ContactProblem::new(laws.to_vec(), form).unwrap(), options, None).unwrap()
}

/// The laws of small problems of all kinds.
fn kinds() -> Vec<Vec<Law>> {
    vec![
        vec![Law::Coulomb { mu: 0.4 }],
        vec![Law::Coulomb { mu: 0.0 }; 2],
        vec![Law::Coulomb { mu: 2.0 }; 3],
        vec![Law::CoulombPlane { mu: 0.5 }; 4],
        vec![Law::Cone { mu: 0.5 }; 3],
        vec![Law::CoulombEllipse { mu: [0.2, 0.8] }; 2],
        vec![Law::Rolling { mu: 0.4, rolling: 0.1 }; 2],
        vec![Law::Spinning { mu: 0.4, rolling: 0.1, spinning: 0.2 }; 2],
        vec![Law::Spinning { mu: 0.0, rolling: 0.0, spinning: 0.2 }, Law::Coulomb { mu: 0.3 }],
        vec![Law::Unilateral; 5],
        vec![Law::Bilateral, Law::Coulomb { mu: 0.3 }, Law::Unilateral, Law::Bilateral],
        vec![Law::Rolling { mu: 0.3, rolling: 0.2 }, Law::Cone { mu: 0.3 }, Law::CoulombPlane { mu: 0.3 }],
    ]
}

/// Each of the seven methods on regular and on singular problems of all kinds: solved, or another status that
/// is true; the impulses are numbers, the residual is that of the residual check, and no worse than that of
/// doing nothing.
#[test]
fn solved_or_an_honest_other_status() {
    let mut random = Random(5);
    let (mut tried, mut solved) = ([0; Method::ALL.len()], [0; Method::ALL.len()]);
    for laws in kinds() {
        let rows = row_offsets(&laws)[laws.len()];
        for freedoms in [rows + 2, rows.div_ceil(2)] {
            for _ in 0..4 {
                let (w, q) = drawn(&laws, freedoms, &mut random);
                let view = ContactView::new(&w, &q, &laws).unwrap();
                let nothing = residual(&view, &vec![0.0; rows]).relative;
                for (k, (name, method)) in Method::ALL.iter().enumerate() {
                    let options =
                        ContactOptions { method: *method, max_iterations: 2000, ..Default::default() };
                    let found = run(&laws, &w, &q, &options);
                    let case = format!("{name} on {laws:?}: {:?} {:.1e}", found.status, found.residual);
                    assert!(found.impulse.iter().all(|x| x.is_finite()), "{case}");
                    assert!(
                        found.iterations <= 2000 + 20 || *method == Method::Auto,
                        "{case}: {}",
                        found.iterations
                    );
                    let e = residual(&view, &found.impulse).relative;
                    // The same number by other code: rounding, and that of the size of impulses,
                    // distinguishes them.
                    let size = found.impulse.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                    let same = (e - found.residual).abs() <= 1e-6 * found.residual + 1e-12 * size;
                    let scaled = laws.iter().any(|l| matches!(l, Law::CoulombEllipse { .. }));
                    assert!(same || scaled, "{case}, residual check {e:.3e}");
                    assert_eq!(found.status == Status::Solved, found.residual <= 1e-8, "{case}");
                    assert!(
                        found.status != Status::Solved || e <= 1.001e-8,
                        "{case}, residual check {e:.3e}"
                    );
                    // The best point seen: a method that begins with r = 0 has seen that.
                    let begins_there = !matches!(method, Method::Newton | Method::InteriorPoint);
                    assert!(!begins_there || e <= nothing * (1.0 + 1e-9), "{case}: {e:.1e} of {nothing:.1e}");
                    tried[k] += 1;
                    solved[k] += usize::from(found.status == Status::Solved);
                }
            }
        }
    }
    for (k, (name, method)) in Method::ALL.iter().enumerate() {
        // Half of the problems are singular, which only some methods are made for.
        let least = if *method == Method::Auto { 98 } else { 60 };
        assert!(solved[k] * 100 >= tried[k] * least, "{name} solves {} of {}", solved[k], tried[k]);
    }
}

/// Problems without a solution: no method claims one, and none returns anything but numbers.
#[test]
fn no_method_solves_what_has_no_solution() {
    let cases: [(&[Law], Matrix, Vec<f64>); 3] = [
        (&[Law::Bilateral; 2], Matrix::from_fn(2, 2, |_, _| 1.0), vec![1.0, 2.0]),
        (&[Law::Coulomb { mu: 0.5 }], Matrix::zeros(3, 3), vec![-1.0, 0.0, 0.0]),
        (&[Law::Unilateral; 2], Matrix::from_rows(&[[1.0, -1.0], [-1.0, 1.0]]), vec![-1.0, -1.0]),
    ];
    for (laws, w, q) in cases {
        for (name, method) in Method::ALL {
            let options = ContactOptions { method, max_iterations: 500, ..Default::default() };
            let found = run(laws, &w, &q, &options);
            assert_ne!(found.status, Status::Solved, "{name} on {laws:?}");
            assert!(
                found.impulse.iter().all(|x| x.is_finite()) && found.residual > 1e-8,
                "{name} on {laws:?}"
            );
        }
    }
}

/// A limit on iterations is kept, and what was found until then is no worse than the start.
#[test]
fn few_iterations_are_few() {
    let laws = [Law::Coulomb { mu: 0.8 }; 12];
    let (w, q) = drawn(&laws, 14, &mut Random(9));
    let view = ContactView::new(&w, &q, &laws).unwrap();
    let nothing = residual(&view, &[0.0; 36]).relative;
    for (name, method) in Method::ALL.into_iter().filter(|m| m.1 != Method::Auto) {
        for max_iterations in [0, 1, 3] {
            let options = ContactOptions { method, max_iterations, tolerance: 1e-14, ..Default::default() };
            let found = run(&laws, &w, &q, &options);
            assert!(found.iterations <= max_iterations.max(8), "{name}: {}", found.iterations);
            assert_ne!(found.status, Status::Solved, "{name}");
            let e = residual(&view, &found.impulse).relative;
            assert!(
                e.is_finite() && (method == Method::InteriorPoint || e <= nothing * (1.0 + 1e-9)),
                "{name} {e}"
            );
        }
    }
}

/// Gauss–Seidel with exact solves of one contact takes about as many sweeps for each law.
#[test]
fn sweeps_for_every_law() {
    let mut random = Random(12);
    let options = ContactOptions { method: Method::GaussSeidel, max_iterations: 2000, ..Default::default() };
    for round in 0..10 {
        let coulomb = vec![Law::Coulomb { mu: 0.5 }; 10];
        let (w, q) = drawn(&coulomb, 40, &mut random);
        let least = run(&coulomb, &w, &q, &options);
        assert_eq!(least.status, Status::Solved);
        let cone = run(&[Law::Cone { mu: 0.5 }; 10], &w, &q, &options);
        assert_eq!(cone.status, Status::Solved, "round {round}: {:.1e}", cone.residual);
        assert!(cone.iterations <= 3 * least.iterations + 10, "{} and {}", cone.iterations, least.iterations);
        let rolling = vec![Law::Rolling { mu: 0.5, rolling: 0.1 }; 6];
        let (w, q) = drawn(&rolling, 40, &mut random);
        let rolled = run(&rolling, &w, &q, &options);
        assert_eq!(rolled.status, Status::Solved, "round {round}: {:.1e}", rolled.residual);
        assert!(rolled.iterations <= 300, "{}", rolled.iterations);
    }
}

/// Elliptic friction with unequal coefficients against projected steps r ← P_K(r − ρ û), which contract where
/// W is good and friction weak, and against the law itself: no direction of friction takes more power from
/// the slip.
#[test]
fn elliptic_friction_by_a_second_method() {
    let mut random = Random(14);
    let mut slid = 0;
    for mu in [[0.1, 0.4], [0.3, 0.05], [0.0, 0.3], [0.25, 0.2]] {
        for _ in 0..10 {
            let laws = [Law::CoulombEllipse { mu }; 3];
            let (gram, mut q) = drawn(&laws, 12, &mut random);
            let w = Matrix::from_fn(9, 9, |i, j| gram[(i, j)] + if i == j { 1.0 } else { 0.0 });
            (0..3).for_each(|k| q[3 * k] = -q[3 * k].abs());
            let options = ContactOptions { tolerance: 1e-13, ..Default::default() };
            let found = run(&laws, &w, &q, &options);
            assert_eq!(found.status, Status::Solved);
            let step = 0.5 / w.symmetric_eigenvalues()[8];
            let mut r = vec![0.0; 9];
            let velocity =
                |r: &[f64]| -> Vec<f64> { w.mul_vec(r).iter().zip(&q).map(|(a, b)| a + b).collect() };
            for _ in 0..5000 {
                let u = velocity(&r);
                for k in 0..3 {
                    let part = &mut r[3 * k..3 * k + 3];
                    let v = &u[3 * k..3 * k + 3];
                    part.iter_mut().zip(v).for_each(|(r, u)| *r -= step * u);
                    part[0] -= step * (mu[0] * v[1]).hypot(mu[1] * v[2]);
                    project_ellipse(part, mu);
                }
            }
            for (a, b) in found.impulse.iter().zip(&r) {
                // Both to 1e-13 of impulses of size one, times the condition of W.
                assert!((a - b).abs() < 1e-11, "{mu:?}: {:?} {r:?}", found.impulse);
            }
            let u = velocity(&found.impulse);
            for k in 0..3 {
                let (f, v) = (&found.impulse[3 * k..3 * k + 3], &u[3 * k..3 * k + 3]);
                let power = f[1] * v[1] + f[2] * v[2];
                slid += usize::from(f[0] > 1e-6 && v[1].hypot(v[2]) > 1e-6);
                for angle in 0..720 {
                    let (s, c) = (f64::from(angle) * 0.5_f64).to_radians().sin_cos();
                    let other = f[0] * (mu[0] * c * v[1] + mu[1] * s * v[2]);
                    assert!(power <= other + 1e-10, "{mu:?} at {angle}: {power} {other}");
                }
            }
        }
    }
    assert!(slid >= 30, "{slid} contacts slide");
}

/// A square plate on four corners and its middle, rolling friction at each: pressed, pushed and turned, it
/// shares its load equally in the shortest impulses.
#[test]
fn least_impulses_with_rolling_friction() {
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (0.0, 0.0)];
    let mut h = vec![];
    for (k, (x, y)) in corners.into_iter().enumerate() {
        for (row, entries) in [
            vec![(2, 1.0), (3, y), (4, -x)],
            vec![(0, 1.0), (5, -y)],
            vec![(1, 1.0), (5, x)],
            vec![(3, 1.0)],
            vec![(4, 1.0)],
        ]
        .iter()
        .enumerate()
        {
            h.extend(entries.iter().filter(|e| e.1 != 0.0).map(|&(body, e)| (body, 5 * k + row, e)));
        }
    }
    let mass: Vec<_> = (0..6).map(|i| (i, i, 1.0)).collect();
    let form = Form::Global {
        mass: Sparse::from_triplets(6, 6, &mass),
        jacobian_transposed: Sparse::from_triplets(6, 25, &h),
        force: vec![0.1, 0.0, -1.0, 0.0, 0.0, 0.0],
        bias: vec![0.0; 25],
    };
    let laws = vec![Law::Rolling { mu: 0.5, rolling: 0.3 }; 5];
    let problem = ContactProblem::new(laws, form).unwrap();
    let options = ContactOptions { minimum_norm: true, ..Default::default() };
    let found = solve(&problem, &options, None).unwrap();
    assert_eq!(found.status, Status::Solved);
    for k in 0..5 {
        // The weight of the norm is a millionth of W, and leaves about as much.
        let equal = [0.2, -0.02, 0.0, 0.0, 0.0];
        let r = &found.impulse[5 * k..5 * k + 5];
        assert!(r.iter().zip(equal).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}", found.impulse);
    }
    let free = ContactOptions::default();
    let any = solve(&problem, &free, None).unwrap().impulse;
    let norm = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(norm(&found.impulse) <= norm(&any) * (1.0 + 1e-9));
}

/// All bits of the impulses of some problems, in one number.
fn bits() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |r: &[f64]| {
        for x in r {
            hash = (hash ^ x.to_bits()).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7);
        }
    };
    // Enough contacts to be shared out among threads.
    let pile = delassus_solve::problem::sphere_pile(7, 0.5).unwrap();
    assert!(pile.laws.len() > 1024);
    let options = ContactOptions { tolerance: 1e-4, ..Default::default() };
    add(&solve(&pile, &options, None).unwrap().impulse);
    let mut random = Random(3);
    for laws in kinds() {
        let (w, q) = drawn(&laws, 12, &mut random);
        for (_, method) in Method::ALL {
            let options = ContactOptions { method, max_iterations: 200, ..Default::default() };
            add(&run(&laws, &w, &q, &options).impulse);
        }
    }
    hash
}

/// Prints the number for the test below, which runs it in other processes.
#[test]
#[ignore = "a child process of the next test; it compares nothing by itself"]
fn bits_of_this_process() {
    println!("bits {:016x}", bits());
}

#[test]
fn the_same_bits_in_every_process_and_for_any_number_of_threads() {
    let child = |threads: &str| {
        let program = std::env::current_exe().unwrap();
        let done = std::process::Command::new(program)
            .args([
                "--ignored",
                "--exact",
                "contact::methods::bits_of_this_process",
                "--nocapture",
                "--test-threads",
                "1",
            ])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let at = text.find("bits ").unwrap_or_else(|| panic!("{text}"));
        text[at..at + 21].to_owned()
    };
    let own = format!("bits {:016x}", bits());
    for threads in ["1", "1", "4"] {
        assert_eq!(child(threads), own, "{threads} threads");
    }
}

#[test]
fn impulses_are_numbers_where_w_is_indefinite() {
    // No mass has such a W; iterations may run away from it, and none may hand out what is no number.
    let laws = [Law::Coulomb { mu: 0.5 }, Law::Coulomb { mu: 0.8 }];
    let mut random = Random(7);
    for _ in 0..20 {
        let (mut w, q) = drawn(&laws, 6, &mut random);
        w[(0, 0)] = -1.0;
        w[(3, 4)] = 40.0 * random.centred();
        for (name, method) in Method::ALL {
            let options = ContactOptions { method, max_iterations: 500, ..ContactOptions::default() };
            let found = run(&laws, &w, &q, &options);
            let finite = found.impulse.iter().all(|x| x.is_finite());
            assert!(finite && !found.residual.is_nan(), "{name}: {:?} {}", found.impulse, found.residual);
            // What is handed out is no worse than no impulses.
            let none = residual(&ContactView::new(&w, &q, &laws).unwrap(), &[0.0; 6]).relative;
            assert!(
                found.residual <= (none * (1.0 + 1e-12)).max(options.tolerance),
                "{name}: {} > {none}",
                found.residual
            );
        }
    }
}

#[test]
fn limits_end_every_method_with_its_best_point() {
    let small = sphere_pile(4, 0.5).unwrap();
    let (delassus, free_velocity) = small.local().unwrap();
    let local = ContactProblem::new(small.laws.clone(), Form::Local { delassus, free_velocity }).unwrap();
    // The second has enough contacts to be swept without W.
    for (form, problem) in [("with W", local), ("without W", sphere_pile(6, 0.5).unwrap())] {
        for (name, method) in Method::ALL {
            let options = ContactOptions { tolerance: 1e-15, method, ..ContactOptions::default() };
            let limited = |max_work: u64| {
                solve(&problem, &ContactOptions { max_work: Some(max_work), ..options }, None).unwrap()
            };
            let mut last = f64::INFINITY;
            for max_work in [0, 2_000_000, 20_000_000] {
                let found = limited(max_work);
                let ends = [Status::MaxIterations, Status::Stalled, Status::Solved];
                assert!(ends.contains(&found.status), "{name} {form}: {:?}", found.status);
                assert!(max_work > 0 || found.status == Status::MaxIterations, "{name} {form}");
                // Methods keep their best point: the error may not grow with the work, up to the last digits
                // of its sum.
                assert!(found.residual <= last * (1.0 + 1e-9) && found.residual.is_finite(), "{name} {form}");
                last = found.residual;
                // What is counted is no time: the same bits again.
                let again = limited(max_work);
                assert_eq!((found.status, &found.impulse), (again.status, &again.impulse), "{name} {form}");
            }
            let options = ContactOptions { time_limit: Some(Duration::ZERO), ..options };
            let found = solve(&problem, &options, None).unwrap();
            assert_eq!(found.status, Status::Interrupted, "{name} {form}");
            assert!(found.residual.is_finite() && found.impulse.iter().all(|x| x.is_finite()));
        }
    }
}
