//! The enumeration of all solutions, against closed forms and against independent solvers.

use delassus_solve::analysis::analyze;
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Matrix, dot, norm};
use delassus_solve::modes::{EnumerateOptions, Mode, SolutionSet, enumerate, enumerate_contact};
use delassus_solve::problem::{ContactView, Dynamics, Law, Slip, residual};
use proptest::prelude::*;

fn contact(w: &Matrix, q: &[f64], laws: &[Law]) -> SolutionSet {
    let set = enumerate_contact(w, q, laws, &EnumerateOptions::default());
    assert!(set.complete);
    let problem = ContactView::new(w, q, laws).unwrap();
    for piece in &set.components {
        let r = residual(&problem, &piece.force).relative;
        assert!(r < 1e-9, "a listed solution has residual {r:e}");
    }
    set
}

fn normals(set: &SolutionSet) -> Vec<f64> {
    let mut n: Vec<f64> = set.components.iter().map(|p| p.force[0]).collect();
    n.sort_by(f64::total_cmp);
    n
}

#[test]
fn painleve_rod_has_none_one_or_two() {
    // Rod at 45°, m = 1: a = 2.5, h = −1.5 (003 Fig. 2); sliding with e = −1 and μ = 2 the LCP is −0.5 λ + q.
    let w = Matrix::from_rows(&[[2.5, -1.5], [-1.5, 2.5]]);
    let law = |e: f64| [Law::Sliding { mu: 2.0, slip: Slip::Plane(e) }];
    assert!(contact(&w, &[-9.81, 0.0], &law(-1.0)).components.is_empty());
    let two = contact(&w, &[3.0, 0.0], &law(-1.0));
    assert_eq!(two.components.len(), 2);
    assert!((normals(&two)[0]).abs() < 1e-15 && (normals(&two)[1] - 6.0).abs() < 1e-12);
    let one = contact(&w, &[-9.81, 0.0], &law(1.0));
    assert_eq!(one.components.len(), 1);
    assert!((one.components[0].force[0] - 9.81 / 5.5).abs() < 1e-14);
}

#[test]
fn negative_identity_has_every_complementary_solution() {
    // 0 ≤ z ⊥ q − z ≥ 0: each z_i is 0 or q_i.
    let n = 6;
    let w = Matrix::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
    let q: Vec<f64> = (1..=n).map(|k| k as f64).collect();
    let set = contact(&w, &q, &vec![Law::Unilateral; n]);
    assert_eq!(set.components.len(), 1 << n);
    assert!(set.decided);
}

#[test]
fn degenerate_solution_is_listed_once() {
    // z = (1, 0), w = (0, 0): both (closed, open) and (closed, closed) describe it.
    let w = Matrix::from_rows(&[[1.0, 0.5], [0.5, 1.0]]);
    let set = contact(&w, &[-1.0, -0.5], &[Law::Unilateral; 2]);
    assert_eq!(set.components.len(), 1);
    assert!(set.components[0].freedom.is_none() && set.decided);
}

#[test]
fn three_point_block_is_a_triangle() {
    // 001 Example 1: λ ≥ 0, Σλ = mg.
    let dynamics = Dynamics::new(
        Matrix::diagonal(&[2.0, 2.0]),
        vec![2.0 * 9.81, 0.0],
        Matrix::from_rows(&[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]),
        vec![0.0; 3],
        vec![Law::Unilateral; 3],
    )
    .unwrap();
    let set = enumerate(&dynamics, &EnumerateOptions::default());
    assert_eq!(set.components.len(), 1);
    let piece = &set.components[0];
    for f in &piece.force {
        assert!((f - 6.54).abs() < 1e-12, "{f}");
    }
    let freedom = piece.freedom.as_ref().unwrap();
    assert_eq!(freedom.force.cols(), 2);
    assert_eq!(freedom.acceleration.max_abs(), 0.0);
}

#[test]
fn a_joint_and_a_contact_on_one_direction_leave_a_ray() {
    // 002 Lemma 5.2, corrected: G₁ = G₂ = 1, b = −1: λ₁ + λ₂ = 1, λ₂ ≥ 0 unbounded; least norm (½, ½).
    let w = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
    let set = contact(&w, &[-1.0, -1.0], &[Law::Bilateral, Law::Unilateral]);
    assert_eq!(set.components.len(), 1);
    assert!(
        (set.components[0].force[0] - 0.5).abs() < 1e-12 && (set.components[0].force[1] - 0.5).abs() < 1e-12
    );
    assert_eq!(set.components[0].freedom.as_ref().unwrap().force.cols(), 1);
}

#[test]
fn zero_operator() {
    // W = 0: 0 ≤ f ⊥ q ≥ 0 is a point, a ray, or nothing.
    let w = Matrix::zeros(1, 1);
    assert_eq!(contact(&w, &[1.0], &[Law::Unilateral]).components.len(), 1);
    assert!(contact(&w, &[1.0], &[Law::Unilateral]).components[0].freedom.is_none());
    let ray = contact(&w, &[0.0], &[Law::Unilateral]);
    assert_eq!(ray.components.len(), 1);
    assert!(ray.components[0].freedom.is_some());
    assert!(contact(&w, &[-1.0], &[Law::Unilateral]).components.is_empty());
    assert!(contact(&w, &[1.0], &[Law::Bilateral]).components.is_empty());
    assert_eq!(contact(&Matrix::zeros(0, 0), &[], &[]).components.len(), 1);
}

#[test]
fn singular_mass() {
    // M = diag(1, 0), F = (0, 0), contact on y: a_y is not determined while the contact is open, only a_y ≥
    // 0.
    let free = Dynamics::new(
        Matrix::diagonal(&[1.0, 0.0]),
        vec![0.0, 0.0],
        Matrix::from_rows(&[[0.0, 1.0]]),
        vec![0.0],
        vec![Law::Unilateral],
    )
    .unwrap();
    let set = enumerate(&free, &EnumerateOptions::default());
    assert_eq!(set.components.len(), 1);
    let freedom = set.components[0].freedom.as_ref().unwrap();
    assert!(freedom.acceleration.max_abs() > 0.0 && freedom.force.max_abs() == 0.0);
    // A push into the contact determines everything: 0 + 3 = λ, a_y = 0.
    let pushed = Dynamics { force: vec![0.0, 3.0], ..free.clone() };
    let set = enumerate(&pushed, &EnumerateOptions::default());
    assert_eq!(set.components.len(), 1);
    assert!(set.components[0].freedom.is_none() && (set.components[0].force[0] - 3.0).abs() < 1e-14);
    // A pull without mass to resist it has no answer.
    let pulled = Dynamics { force: vec![0.0, -3.0], ..free };
    assert!(enumerate(&pulled, &EnumerateOptions::default()).components.is_empty());
}

#[test]
fn planar_stick_slide_and_open() {
    let w = Matrix::diagonal(&[1.0, 1.0]);
    let laws = [Law::CoulombPlane { mu: 0.5 }];
    let mode = |q: [f64; 2]| {
        let set = contact(&w, &q, &laws);
        assert_eq!(set.components.len(), 1, "{q:?}");
        (set.components[0].modes[0], set.components[0].force.clone())
    };
    assert_eq!(mode([-2.0, 0.9]).0, Mode::Stick);
    let (m, f) = mode([-2.0, 1.5]);
    assert_eq!(m, Mode::Slide);
    assert!((f[1] + 1.0).abs() < 1e-14);
    assert_eq!(mode([0.5, 1.5]).0, Mode::Open);
}

#[test]
fn too_many_modes_are_refused_not_guessed() {
    let n = 30;
    let set = enumerate_contact(
        &Matrix::identity(n),
        &vec![-1.0; n],
        &vec![Law::Unilateral; n],
        &EnumerateOptions::default(),
    );
    assert!(!set.complete && set.components.is_empty());
}

#[test]
fn twelve_contacts_within_a_second() {
    let n = 12;
    let w =
        Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.6 / (1.0 + (i as f64 - j as f64).abs()) });
    let q: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let start = std::time::Instant::now();
    let set = contact(&w, &q, &vec![Law::Unilateral; n]);
    assert_eq!(set.components.len(), 1);
    assert!(start.elapsed().as_secs_f64() < 1.0, "{:?}", start.elapsed());
}

#[test]
fn hundreds_of_redundant_contacts_are_one_polyhedron() {
    // A beam on 200 feet: two coordinates, so 198 dimensions of freedom; the weight is shared evenly at least
    // norm.
    let n = 200;
    let dynamics = Dynamics::new(
        Matrix::diagonal(&[1.0, 1.0 / 12.0]),
        vec![9.81, 0.0],
        Matrix::from_fn(n, 2, |i, j| if j == 0 { 1.0 } else { i as f64 / (n - 1) as f64 - 0.5 }),
        vec![0.0; n],
        vec![Law::Unilateral; n],
    )
    .unwrap();
    let set = enumerate(&dynamics, &EnumerateOptions::default());
    assert!(set.complete && set.decided && set.components.len() == 1);
    let piece = &set.components[0];
    assert_eq!(piece.freedom.as_ref().unwrap().force.cols(), n - 2);
    assert!(piece.force.iter().all(|f| (f - 9.81 / n as f64).abs() < 1e-10));
}

#[test]
fn walls_without_room_are_impossible_however_many() {
    let n = 30;
    let dynamics = Dynamics::new(
        Matrix::identity(1),
        vec![0.0],
        Matrix::from_fn(n, 1, |i, _| if i % 2 == 0 { 1.0 } else { -1.0 }),
        vec![-1.0; n],
        vec![Law::Unilateral; n],
    )
    .unwrap();
    let set = enumerate(&dynamics, &EnumerateOptions::default());
    assert!(set.complete && set.decided && set.components.is_empty());
}

#[test]
fn a_duplicated_leg_leaves_the_acceleration_unique() {
    let d = Dynamics::new(
        Matrix::identity(3),
        vec![9.81, 0.0, 0.0],
        Matrix::from_rows(&[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, -0.5]]),
        vec![0.0; 3],
        vec![Law::Unilateral; 3],
    )
    .unwrap();
    let a = analyze(&d, &EnumerateOptions::default());
    assert_eq!((a.acceleration_unique, a.forces_unique), (Verdict::Proved, Verdict::Refuted));
}

#[test]
fn a_light_body_beside_a_heavy_one_does_not_fall_through() {
    // A press of 10⁶ N and a block of 10 mg, uncoupled; then masses 10^±e; then much friction beside it.
    let press = Dynamics::new(
        Matrix::diagonal(&[1.0, 1e-5]),
        vec![1e6, 9.81e-5],
        Matrix::identity(2),
        vec![0.0; 2],
        vec![Law::Unilateral; 2],
    )
    .unwrap();
    let a = analyze(&press, &EnumerateOptions::default());
    assert_eq!(a.forces_unique, Verdict::Proved);
    assert!((a.solutions.components[0].force[1] - 9.81e-5).abs() < 1e-15);
    for e in 1..=12 {
        let (light, heavy) = (10f64.powi(-e), 10f64.powi(e));
        let d = Dynamics::new(
            Matrix::diagonal(&[light, heavy, 1.0]),
            vec![0.0, 9.81 * heavy, 9.81],
            Matrix::from_rows(&[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
            vec![0.0; 3],
            vec![Law::Sliding { mu: 0.3, slip: Slip::Plane(1.0) }, Law::Unilateral],
        )
        .unwrap();
        let a = analyze(&d, &EnumerateOptions::default());
        assert_eq!(a.existence, Verdict::Proved, "{e}");
        let p = &a.solutions.components[0];
        assert!((p.force[2] - 9.81).abs() < 1e-9 && p.acceleration[2].abs() < 1e-9, "{e}: {p:?}");
    }
}

#[test]
fn nearly_jammed_beside_a_light_block() {
    // The rod of 003 at 45° just below its jamming value (forces grow without bound), and a block of a gram.
    for close in [1e-3, 1e-5, 1e-6, 1e-9] {
        let s = std::f64::consts::FRAC_1_SQRT_2;
        let d = Dynamics::new(
            Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0, 1e-3]),
            vec![0.0, 9.81, 0.0, 9.81e-3],
            Matrix::from_rows(&[[0.0, 1.0, -s, 0.0], [1.0, 0.0, s, 0.0], [0.0, 0.0, 0.0, 1.0]]),
            vec![0.0; 3],
            vec![Law::Sliding { mu: 5.0 / 3.0 * (1.0 - close), slip: Slip::Plane(-1.0) }, Law::Unilateral],
        )
        .unwrap();
        let a = analyze(&d, &EnumerateOptions::default());
        assert_eq!(a.existence, Verdict::Proved, "{close}");
        assert!((a.solutions.components[0].force[2] - 9.81e-3).abs() < 1e-12, "{close}");
    }
}

#[test]
fn friction_exactly_at_the_jamming_value_is_not_proved() {
    // M = [1.1 0.1; 0.1 10], μ = μ_jam = 11: the LCP is 0·λ − 0.98 ≥ 0 in exact arithmetic, 1e-17·λ in
    // floating point.
    for (m11, m12, m22, mu) in [(1.1, 0.1, 10.0, 11.0), (1.7, 0.1, 10.0, 17.0), (0.3, 0.1, 2.0, 3.0)] {
        let d = Dynamics::new(
            Matrix::from_rows(&[[m11, m12], [m12, m22]]),
            vec![0.0, 9.81],
            Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vec![0.0; 2],
            vec![Law::Sliding { mu, slip: Slip::Plane(-1.0) }],
        )
        .unwrap();
        let a = analyze(&d, &EnumerateOptions::default());
        assert_ne!(a.existence, Verdict::Proved, "{m11} {mu}: {:?}", a.minimum_norm);
    }
}

/// A beam at rest on n feet with friction, pushed along the floor.
fn beam_on_feet(n: usize, push: f64) -> Dynamics {
    let rows = Matrix::from_fn(2 * n, 3, |i, j| match (i % 2, j) {
        (0, 1) => 1.0,
        (0, 2) => (i / 2) as f64 / (n - 1) as f64 - 0.5,
        (1, 0) => 1.0,
        _ => 0.0,
    });
    Dynamics::new(
        Matrix::diagonal(&[1.0, 1.0, 1.0 / 12.0]),
        vec![-push, 9.81, 0.0],
        rows,
        vec![0.0; 2 * n],
        vec![Law::CoulombPlane { mu: 0.3 }; n],
    )
    .unwrap()
}

#[test]
fn redundant_friction_is_searched_in_part_and_says_so() {
    // Seven and eight feet at rest with friction on three coordinates: nearly every mode is a polyhedron.
    // The beam rests whatever the feet do: what was seen of the set must not say otherwise. Where the feet
    // need no friction, that is known without the rest of the set.
    for (push, rests) in [(0.5, Verdict::Unknown), (0.0, Verdict::Proved)] {
        for (n, effort) in [(7, 1 << 14), (8, 1 << 16)] {
            let analysis = analyze(&beam_on_feet(n, push), &EnumerateOptions { max_modes: effort });
            assert!(!analysis.solutions.complete);
            assert_eq!(analysis.existence, Verdict::Proved);
            assert_eq!((analysis.acceleration_unique, analysis.forces_unique), (rests, Verdict::Refuted));
        }
    }
    let whole = analyze(&beam_on_feet(5, 0.0), &EnumerateOptions::default());
    assert!(whole.solutions.complete);
    assert_eq!((whole.acceleration_unique, whole.forces_unique), (Verdict::Proved, Verdict::Refuted));
}

/// A random symmetric positive definite W = GᵀG + δI, and q.
fn definite(n: usize) -> impl Strategy<Value = (Matrix, Vec<f64>)> {
    (proptest::collection::vec(-1.0..1.0f64, n * n), proptest::collection::vec(-1.0..1.0f64, n)).prop_map(
        move |(g, q)| {
            let g = Matrix::from_vec(n, n, g);
            let mut w = g.transpose().mul(&g);
            for i in 0..n {
                w[(i, i)] += 0.05;
            }
            (w, q)
        },
    )
}

proptest! {
    /// Positive definite, no friction: exactly one solution.
    #[test]
    fn definite_problems_have_exactly_one((w, q) in definite(5)) {
        let laws = [Law::Bilateral, Law::Unilateral, Law::Unilateral, Law::Unilateral, Law::Unilateral];
        let set = contact(&w, &q, &laws);
        prop_assert_eq!(set.components.len(), 1);
    }

    /// A planted solution is found: pick f, u that satisfy the laws, then q = u − W f.
    #[test]
    fn planted_solutions_are_found(
        (w, _) in definite(6),
        f in proptest::collection::vec(0.1..1.0f64, 3),
        u in proptest::collection::vec(0.1..1.0f64, 3),
        share in proptest::collection::vec(-0.9..0.9f64, 3),
        choice in proptest::collection::vec(0usize..4, 3),
        mu in 0.1..2.0f64,
    ) {
        let laws = [Law::CoulombPlane { mu }; 3];
        let (mut force, mut velocity) = (vec![0.0; 6], vec![0.0; 6]);
        for k in 0..3 {
            match choice[k] {
                0 => { velocity[2 * k] = u[k]; velocity[2 * k + 1] = share[k]; }
                1 => { force[2 * k] = f[k]; force[2 * k + 1] = share[k] * mu * f[k]; }
                s => {
                    let e = if s == 2 { 1.0 } else { -1.0 };
                    force[2 * k] = f[k];
                    force[2 * k + 1] = -mu * e * f[k];
                    velocity[2 * k + 1] = e * u[k];
                }
            }
        }
        let wf = w.mul_vec(&force);
        let q: Vec<f64> = velocity.iter().zip(&wf).map(|(u, x)| u - x).collect();
        let set = contact(&w, &q, &laws);
        let near = set.components.iter().map(|p| {
            let d: Vec<f64> = p.force.iter().zip(&force).map(|(a, b)| a - b).collect();
            norm(&d)
        }).fold(f64::INFINITY, f64::min);
        prop_assert!(near < 1e-8, "nearest listed solution is {} away", near);
    }

    /// Gauss' principle and the search over all modes give the same set.
    #[test]
    fn gauss_and_search_agree(columns in proptest::collection::vec(-1.0..1.0f64, 33), load in proptest::collection::vec(-1.0..1.0f64, 3), bias in proptest::collection::vec(-0.2..1.0f64, 11)) {
        let n = 11;
        let j = Matrix::from_vec(n, 3, columns);
        let laws = [vec![Law::Bilateral], vec![Law::Unilateral; n - 1]].concat();
        let dynamics = Dynamics::new(Matrix::diagonal(&[1.0, 2.0, 0.5]), load, j, bias, laws.clone()).unwrap();
        let quick = enumerate(&dynamics, &EnumerateOptions::default());
        let r = dynamics.reduce().unwrap();
        let full = contact(&r.delassus, &r.free_velocity, &laws);
        prop_assert!(quick.complete);
        if quick.decided && full.decided {
            prop_assert_eq!(quick.components.len(), full.components.len());
            for (a, b) in quick.components.iter().zip(&full.components) {
                prop_assert!(a.force.iter().zip(&b.force).all(|(x, y)| (x - y).abs() < 1e-7));
                prop_assert_eq!(a.freedom.is_some(), b.freedom.is_some());
            }
        }
    }

    /// Redundant legs: every listed piece has the same J ᵀf, and the least-norm force is orthogonal to the
    /// freedom where it is inside.
    #[test]
    fn redundant_normals(columns in proptest::collection::vec(-1.0..1.0f64, 8), q in proptest::collection::vec(-1.0..1.0f64, 2)) {
        // Four contacts on two coordinates: W = J Jᵀ has rank 2.
        let j = Matrix::from_vec(4, 2, columns);
        let w = j.mul(&j.transpose());
        let free = j.mul_vec(&q);
        let set = contact(&w, &free, &[Law::Unilateral; 4]);
        // J Jᵀ with q in its range: solvable (000 Prop. 3 (v)).
        prop_assert!(!set.components.is_empty() || !set.decided);
        let pull = |f: &[f64]| j.tr_mul_vec(f);
        for p in &set.components {
            let (a, b) = (pull(&p.force), pull(&set.components[0].force));
            prop_assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-7);
            if let Some(d) = &p.freedom {
                let inside = d.limits.iter().all(|h| *h < -1e-6);
                if inside {
                    for k in 0..d.force.cols() {
                        prop_assert!(dot(&p.force, &d.force.col(k)).abs() < 1e-8);
                    }
                }
            }
        }
    }
}
