//! Contact problems that are hard on purpose: solved to the tolerance by the residual check, or reported
//! as unsolved.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use delassus_solve::contact::{ContactOptions, Method, Solution, solve};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{
    ContactProblem, ContactView, Form, InvalidProblem, Law, Status, residual, row_offsets,
};

use crate::support::random::Random;

const TOLERANCE: f64 = 1e-8;

fn options(method: Method) -> ContactOptions {
    ContactOptions { tolerance: TOLERANCE, method, ..Default::default() }
}

/// Solves, and compares the status of the solver with the residual check.
fn judged(laws: &[Law], w: &Matrix, q: &[f64], method: Method) -> Solution {
    let form = Form::Local { delassus: Sparse::from_dense(w), free_velocity: q.to_vec() };
    let problem = ContactProblem::new(laws.to_vec(), form).unwrap();
    let found = solve(&problem, &options(method), None).unwrap();
    assert!(found.impulse.iter().all(|x| x.is_finite()), "{method:?} {laws:?}");
    let e = residual(&ContactView::new(w, q, laws).unwrap(), &found.impulse).relative;
    // Two ways of adding up may differ by rounding, nothing more.
    let solved = found.status == Status::Solved;
    assert!(!solved || e <= TOLERANCE * (1.0 + 1e-6), "{method:?} says {:.1e}, is {e:.1e}", found.residual);
    found
}

fn solved(laws: &[Law], w: &Matrix, q: &[f64]) -> Solution {
    let found = judged(laws, w, q, Method::Auto);
    assert_eq!(found.status, Status::Solved, "residual {:.1e} of {laws:?}", found.residual);
    found
}

fn refused(laws: &[Law], w: &Matrix, q: &[f64]) {
    let found = judged(laws, w, q, Method::Auto);
    assert!(found.status != Status::Solved && found.residual > TOLERANCE);
}

/// W = Jᵀ M⁻¹ J and q = Jᵀ v, the columns of J given, M diagonal.
fn delassus(columns: &[Vec<f64>], inverse_mass: &[f64], v: &[f64]) -> (Matrix, Vec<f64>) {
    let dot = |a: &[f64], b: &[f64], m: &[f64]| -> f64 { (0..a.len()).map(|k| a[k] * b[k] * m[k]).sum() };
    let n = columns.len();
    let w = Matrix::from_fn(n, n, |i, j| dot(&columns[i], &columns[j], inverse_mass));
    (w, columns.iter().map(|c| (0..c.len()).map(|k| c[k] * v[k]).sum()).collect())
}

/// The columns of a contact at the point p of a box, normal up, as a force on a body with six coordinates.
fn at(p: [f64; 3]) -> Vec<Vec<f64>> {
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        .iter()
        .map(|d| {
            let m = [p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0]];
            vec![d[0], d[1], d[2], m[0], m[1], m[2]]
        })
        .collect()
}

/// A box on `count` points of its lower face.
fn box_on(count: usize, v: [f64; 6]) -> (Matrix, Vec<f64>) {
    let mut random = Random(5);
    let columns: Vec<Vec<f64>> =
        (0..count).flat_map(|_| at([2.0 * random.centred(), 2.0 * random.centred(), -0.5])).collect();
    delassus(&columns, &[1.0, 1.0, 1.0, 2.0, 3.0, 2.0], &v)
}

/// Two blocks of masses m₁ below, m₂ above, on four contacts each.
fn stack(m1: f64, m2: f64, slide: f64) -> (Matrix, Vec<f64>) {
    let mut columns = vec![];
    for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        for c in at([x, y, -0.5]) {
            columns.push([c, vec![0.0; 6]].concat());
        }
        for (below, above) in at([0.5 * x, 0.5 * y, 0.5]).iter().zip(at([0.5 * x, 0.5 * y, -0.5])) {
            columns.push(below.iter().map(|x| -x).chain(above).collect());
        }
    }
    let inverse: Vec<f64> =
        [m1, m2].iter().flat_map(|m| [1.0, 1.0, 1.0, 1.5, 1.5, 1.5].map(|k| k / m)).collect();
    let v = [[0.0, 0.0, -0.1, 0.0, 0.0, 0.0], [slide, 0.3 * slide, -0.1, 0.0, 0.0, 0.0]].concat();
    delassus(&columns, &inverse, &v)
}

#[test]
fn mass_ratio_of_a_million() {
    for (m1, m2) in [(1.0, 1e6), (1e6, 1.0), (1e-3, 1e3)] {
        for slide in [0.0, 0.05, 5.0] {
            let (w, q) = stack(m1, m2, slide);
            solved(&[Law::Coulomb { mu: 0.5 }; 8], &w, &q);
        }
    }
}

#[test]
fn forty_redundant_contacts_and_friction_from_none_to_ten() {
    for v in [
        [0.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        [0.3, 0.1, -1.0, 0.0, 0.0, 0.4],
        [3.0, -2.0, -1.0, 0.5, 0.2, 1.0],
        [0.0, 0.0, -0.1, 1.0, -1.0, 0.0],
    ] {
        let (w, q) = box_on(40, v);
        for mu in [0.0, 1e-6, 0.05, 0.3, 1.0, 3.0, 10.0] {
            solved(&[Law::Coulomb { mu }; 40], &w, &q);
        }
    }
}

#[test]
fn rows_that_nothing_moves() {
    let w = Matrix::diagonal(&[0.0, 0.0, 0.0, 2.0, 1.0, 1.0]);
    let laws = [Law::Coulomb { mu: 0.4 }; 2];
    solved(&laws, &w, &[1.0, 0.5, 0.0, -1.0, 3.0, 0.0]);
    solved(&laws, &w, &[0.0, 0.0, 0.0, -1.0, 3.0, 0.0]);
    refused(&laws, &w, &[-1.0, 0.0, 0.0, -1.0, 3.0, 0.0]);
    refused(&[Law::Unilateral; 2], &Matrix::diagonal(&[0.0, 1.0]), &[-1.0, -1.0]);
    solved(&[Law::Unilateral; 2], &Matrix::diagonal(&[0.0, 1.0]), &[1.0, -1.0]);
}

#[test]
fn joints_that_contradict_each_other() {
    let w = Matrix::from_fn(2, 2, |_, _| 1.0);
    refused(&[Law::Bilateral; 2], &w, &[1.0, 2.0]);
    solved(&[Law::Bilateral; 2], &w, &[1.0, 1.0]);
    // Beside a contact in space, where pivoting has no say.
    let columns =
        [vec![vec![1.0, 0.0, 0.0]; 2], (0..3).map(|i| (0..3).map(|j| f64::from(i == j)).collect()).collect()];
    let (w, mut q) = delassus(&columns.concat(), &[1.0; 3], &[-1.0, -1.0, 0.5]);
    let laws = [Law::Bilateral, Law::Bilateral, Law::Coulomb { mu: 0.3 }];
    solved(&laws, &w, &q);
    q[0] += 1.0;
    refused(&laws, &w, &q);
}

/// A random problem with these laws on as many degrees of freedom as asked; fewer than rows make W singular.
/// q is in the range of W, which leaves joints a solution.
fn drawn(laws: &[Law], freedoms: usize, random: &mut Random) -> (Matrix, Vec<f64>) {
    let m = row_offsets(laws)[laws.len()];
    let columns: Vec<Vec<f64>> = (0..m).map(|_| (0..freedoms).map(|_| random.centred()).collect()).collect();
    let v: Vec<f64> = (0..freedoms).map(|_| random.centred()).collect();
    delassus(&columns, &vec![1.0; freedoms], &v)
}

#[test]
fn all_laws_in_one_problem() {
    let mut random = Random(11);
    for round in 0..40 {
        let laws = [
            Law::Bilateral,
            Law::Coulomb { mu: 0.3 },
            Law::Unilateral,
            Law::CoulombPlane { mu: 0.6 },
            Law::Rolling { mu: 0.4, rolling: 0.1 },
            Law::CoulombEllipse { mu: [0.2, 0.7] },
            Law::Bilateral,
            Law::Cone { mu: 0.3 },
            Law::ConePlane { mu: 0.5 },
            Law::ConeRolling { mu: 0.4, rolling: 0.2 },
            Law::Coulomb { mu: 0.0 },
        ];
        let m = row_offsets(&laws)[laws.len()];
        let (w, q) = drawn(&laws, m + 3, &mut random);
        let found = judged(&laws, &w, &q, Method::Auto);
        assert_eq!(found.status, Status::Solved, "round {round}: {:.1e}", found.residual);
    }
}

#[test]
fn an_ellipse_with_equal_axes_is_a_circle() {
    let mut random = Random(3);
    for mu in [0.1, 0.5, 1.0] {
        let (w, q) = drawn(&[Law::Coulomb { mu }; 4], 14, &mut random);
        let circle = solved(&[Law::Coulomb { mu }; 4], &w, &q).impulse;
        let ellipse = solved(&[Law::CoulombEllipse { mu: [mu, mu] }; 4], &w, &q).impulse;
        let size = circle.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (a, b) in circle.iter().zip(&ellipse) {
            // Both to 1e-8, times the condition of W.
            assert!((a - b).abs() <= 1e-5 * size, "{mu}: {a} {b}");
        }
    }
}

#[test]
fn complementarity_rows_only() {
    let mut random = Random(8);
    for n in [1, 3, 10, 30] {
        for freedoms in [n + 2, n / 2 + 1] {
            let (w, q) = drawn(&vec![Law::Unilateral; n], freedoms, &mut random);
            solved(&vec![Law::Unilateral; n], &w, &q);
        }
    }
}

/// The associated law is a convex problem: projected gradients with a short step cannot miss it.
#[test]
fn the_associated_law_is_the_convex_problem() {
    let mut random = Random(21);
    for mu in [0.2, 0.8] {
        let laws = [Law::Cone { mu }; 3];
        let (w, q) = drawn(&laws, 12, &mut random);
        let found = solved(&laws, &w, &q).impulse;
        let step = 1.0 / w.symmetric_eigenvalues().last().unwrap();
        let mut r = vec![0.0; 9];
        for _ in 0..200_000 {
            let u: Vec<f64> = w.mul_vec(&r).iter().zip(&q).map(|(a, b)| a + b).collect();
            for (x, u) in r.iter_mut().zip(&u) {
                *x -= step * u;
            }
            for k in 0..3 {
                delassus_solve::problem::project_cone(&mut r[3 * k..3 * k + 3], mu);
            }
        }
        let size = r.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (a, b) in found.iter().zip(&r) {
            assert!((a - b).abs() <= 1e-5 * size, "{mu}: {a} {b}");
        }
    }
}

/// The least of ½ fᵀW f + qᵀf over the cones of associated laws, by a cone program.
fn cone_program(laws: &[Law], w: &Matrix, q: &[f64]) -> Vec<f64> {
    let first = row_offsets(laws);
    let n = first[laws.len()];
    let mut upper = (vec![0], vec![], vec![]);
    for j in 0..n {
        for i in 0..=j {
            upper.1.push(i);
            upper.2.push(w[(i, j)]);
        }
        upper.0.push(upper.1.len());
    }
    // (μ f_n, f_t) in the cone of Lorentz; with rolling (ν f_n, m) in another one, with spinning (σ f_n,
    // m_n).
    let (mut rows, mut cones) = (vec![], vec![]);
    for (k, law) in laws.iter().enumerate() {
        let [mu, nu, sigma] = law.coefficients();
        let parts: &[(f64, std::ops::Range<usize>)] = match law.dim() {
            6 => &[(mu, 1..3), (nu, 3..5), (sigma, 5..6)],
            5 => &[(mu, 1..3), (nu, 3..5)],
            dim => &[(mu, 1..dim)],
        };
        for (mu, tangents) in parts {
            rows.push((first[k], *mu));
            rows.extend(tangents.clone().map(|c| (first[k] + c, 1.0)));
            cones.push(SupportedConeT::SecondOrderConeT(1 + tangents.len()));
        }
    }
    let mut a = (vec![0], vec![], vec![]);
    for j in 0..n {
        for (i, (at, x)) in rows.iter().enumerate() {
            if *at == j {
                a.1.push(i);
                a.2.push(-x);
            }
        }
        a.0.push(a.1.len());
    }
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        ..Default::default()
    };
    let mut solver = DefaultSolver::new(
        &CscMatrix::new(n, n, upper.0, upper.1, upper.2),
        q,
        &CscMatrix::new(rows.len(), n, a.0, a.1, a.2),
        &vec![0.0; rows.len()],
        &cones,
        settings,
    )
    .unwrap();
    solver.solve();
    solver.solution.x.clone()
}

#[test]
fn associated_laws_in_the_plane_with_rolling_and_spinning_are_the_cone_program() {
    let mut random = Random(41);
    for round in 0..20 {
        let laws = [
            Law::ConePlane { mu: 0.3 },
            Law::ConeRolling { mu: 0.5, rolling: 0.2 },
            Law::Cone { mu: 0.7 },
            Law::ConePlane { mu: 1.5 },
            Law::ConeRolling { mu: 0.1, rolling: 0.8 },
            Law::ConeSpinning { mu: 0.4, rolling: 0.2, spinning: 0.3 },
            Law::ConeSpinning { mu: 0.3, rolling: 0.0, spinning: 0.1 },
        ];
        let m = row_offsets(&laws)[laws.len()];
        // Twice as many freedoms as rows: a condition of some tens.
        let (w, mut q) = drawn(&laws, 2 * m, &mut random);
        // Pressed together, so that contacts carry.
        for first in &row_offsets(&laws)[..laws.len()] {
            q[*first] -= 1.0;
        }
        let expected = cone_program(&laws, &w, &q);
        let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for method in [Method::Auto, Method::GaussSeidel, Method::ProjectedGradient, Method::InteriorPoint] {
            let found = judged(&laws, &w, &q, method);
            if method == Method::Auto {
                assert_eq!(found.status, Status::Solved, "round {round}: {:.1e}", found.residual);
            }
            for (a, b) in found.impulse.iter().zip(&expected) {
                // 1e-8 of the residual, times the condition of W, with a margin for a program that ends a
                // little early.
                let close = (a - b).abs() <= 1e-5 * size;
                assert!(close || found.status != Status::Solved, "round {round} {method:?}: {a} {b}");
            }
        }
    }
}

/// A block on a plane is pushed: with the associated law it lifts off as it slides, u_n = μ‖u_t‖ (+ ν‖ω‖
/// where it rolls).
#[test]
fn what_slides_with_the_associated_law_lifts_off() {
    let (mu, nu) = (0.5, 0.25);
    let cases = [
        (Law::ConePlane { mu }, vec![-6.0, 12.0]),
        (Law::Cone { mu }, vec![-6.0, 12.0, 16.0]),
        (Law::ConeRolling { mu, rolling: nu }, vec![-6.0, 12.0, 16.0, 30.0, 40.0]),
    ];
    for (law, q) in cases {
        let d = law.dim();
        let diagonal = [2.0, 4.0, 4.0, 8.0, 8.0];
        let w = Matrix::diagonal(&diagonal[..d]);
        let r = solved(&[law], &w, &q).impulse;
        // f = n T e against the slip, with (Tᵉ)ᵀ (W f + q) = 0 along the ray: n = −eᵀT q/(eᵀT W T e).
        let [speed, spin] = [q[1..d.min(3)].to_vec(), q[d.min(3)..].to_vec()]
            .map(|x| x.iter().map(|x| x * x).sum::<f64>().sqrt());
        let (push, bend) = match d {
            5 => (6.0 + mu * speed + nu * spin, 2.0 + 4.0 * mu * mu + 8.0 * nu * nu),
            _ => (6.0 + mu * speed, 2.0 + 4.0 * mu * mu),
        };
        let n = push / bend;
        assert!((r[0] - n).abs() <= 1e-7 * n, "{law:?} {r:?} {n}");
        let u: Vec<f64> = (0..d).map(|c| diagonal[c] * r[c] + q[c]).collect();
        let slip = u[1..d.min(3)].iter().map(|x| x * x).sum::<f64>().sqrt();
        let roll = u[d.min(3)..].iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(slip > 1.0 && (u[0] - mu * slip - nu * roll).abs() <= 1e-6, "{law:?} {u:?}");
        // Coulomb's law stays closed.
        let exact = law.associated_or_exact().unwrap();
        let closed = solved(&[exact], &w, &q).impulse;
        assert!((2.0 * closed[0] - 6.0).abs() <= 1e-6, "{closed:?}");
    }
}

/// Four contacts of a vehicle whose friction is strong: sweeps wander for a thousand rounds, and Auto finds
/// more than they.
#[test]
fn auto_is_as_good_as_every_method_by_its_name() {
    let mut random = Random(77);
    for round in 0..12 {
        let mu = [1.0, 3.0, 10.0, 100.0][round % 4];
        let laws = [Law::Coulomb { mu }; 6];
        let (w, q) = drawn(&laws, 12, &mut random);
        let auto = judged(&laws, &w, &q, Method::Auto);
        for (name, method) in Method::ALL {
            let named = judged(&laws, &w, &q, method);
            let worse = auto.status != Status::Solved && auto.residual > named.residual * (1.0 + 1e-9);
            assert!(!worse, "{round} {name}: {:.1e}, auto {:.1e}", named.residual, auto.residual);
        }
    }
}

#[test]
fn nothing_little_and_not_a_number() {
    let none = solved(&[], &Matrix::zeros(0, 0), &[]);
    assert!(none.impulse.is_empty());
    let law = [Law::Coulomb { mu: 0.5 }];
    let w = Matrix::diagonal(&[1.0, 2.0, 2.0]);
    assert_eq!(solved(&law, &w, &[0.0; 3]).impulse, [0.0; 3]);
    assert_eq!(solved(&law, &w, &[-1.0, 0.5, 0.0]).impulse, [1.0, -0.25, 0.0]);
    let form = Form::Local { delassus: Sparse::from_dense(&w), free_velocity: vec![-1.0, 0.5, 0.0] };
    let problem = ContactProblem::new(law.to_vec(), form).unwrap();
    let start = [0.0, f64::NAN, 0.0];
    let refused = solve(&problem, &ContactOptions::default(), Some(&start));
    assert!(matches!(refused, Err(InvalidProblem::NotFinite { index: 1, .. })));
    let far = solve(&problem, &ContactOptions::default(), Some(&[1e300, -1e300, 1e300])).unwrap();
    assert_eq!(far.status, Status::Solved);
}

#[test]
fn huge_and_tiny_units() {
    let (w, q) = box_on(12, [0.3, 0.1, -1.0, 0.2, 0.0, 0.4]);
    // As far as the residual check can square the impulses.
    for a in [1e-70, 1e-12, 1e12, 1e70] {
        for b in [1e-70, 1e-6, 1e6, 1e70] {
            let scaled = Matrix::from_fn(w.rows(), w.cols(), |i, j| a * w[(i, j)]);
            let q: Vec<f64> = q.iter().map(|x| b * x).collect();
            solved(&[Law::Coulomb { mu: 0.4 }; 12], &scaled, &q);
        }
    }
}

/// On problems with one velocity each method finds that of `Auto`, or reports that it did not.
#[test]
fn every_method_by_its_name() {
    let mut random = Random(31);
    let mut count = [0; Method::ALL.len()];
    let rounds = 20;
    for round in 0..rounds {
        // Friction is weak, so that the solution is unique.
        let laws = [
            Law::Coulomb { mu: 0.1 },
            Law::CoulombPlane { mu: 0.1 },
            Law::Coulomb { mu: 0.1 },
            Law::Unilateral,
        ];
        let (w, q) = drawn(&laws, 14, &mut random);
        let velocity = |r: &[f64]| -> Vec<f64> { w.mul_vec(r).iter().zip(&q).map(|(a, b)| a + b).collect() };
        let expected = velocity(&solved(&laws, &w, &q).impulse);
        for (k, (name, method)) in Method::ALL.iter().enumerate() {
            let found = judged(&laws, &w, &q, *method);
            if found.status == Status::Solved {
                count[k] += 1;
                for (a, b) in velocity(&found.impulse).iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-6, "{name} in round {round}: {a} {b}");
                }
            }
        }
    }
    for (k, (name, _)) in Method::ALL.iter().enumerate() {
        assert!(count[k] * 10 >= rounds * 9, "{name} solves {} of {rounds}", count[k]);
    }
}

#[test]
fn the_same_bits_again() {
    let (w, q) = box_on(30, [0.5, 0.1, -1.0, 0.3, 0.0, 0.4]);
    let laws = [Law::Coulomb { mu: 0.4 }; 30];
    for (name, method) in Method::ALL {
        let [a, b] = [(); 2].map(|()| judged(&laws, &w, &q, method));
        assert!(a.impulse.iter().zip(&b.impulse).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
        assert_eq!((a.status, a.iterations), (b.status, b.iterations));
    }
}

#[test]
fn a_pile_is_solved_alike_by_any_number_of_threads() {
    // 11,213 contacts in one island: too many to factor first, enough to be shared out.
    let pile = delassus_solve::problem::sphere_pile(13, 0.5).unwrap();
    let options = ContactOptions { tolerance: 1e-4, ..Default::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&pile, &options, None).unwrap())
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.status, Status::Solved);
    assert_eq!(one.impulse, four.impulse);
    let (w, q) = pile.local().unwrap();
    assert!(residual(&ContactView::new(&w, &q, &pile.laws).unwrap(), &one.impulse).relative <= 1e-4);
}

#[test]
fn least_impulses_are_symmetric_and_do_not_depend_on_the_order() {
    // A unit mass on contacts at the corners of a square and in its middle, pressed with 1 and pushed
    // sideways with 0.1: the push and the load are shared in infinitely many ways, and equally by the
    // shortest one.
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (0.0, 0.0)];
    let pushed = |order: &[usize]| {
        // Rows of the unit twist (vx, vy, vz, wx, wy, wz) at each point; M = I.
        let mut h = Vec::new();
        for (k, &c) in order.iter().enumerate() {
            let (x, y) = corners[c];
            for (row, entries) in
                [[(2, 1.0), (3, y), (4, -x)], [(0, 1.0), (5, -y), (5, 0.0)], [(1, 1.0), (5, x), (5, 0.0)]]
                    .iter()
                    .enumerate()
            {
                h.extend(
                    entries.iter().filter(|e| e.1 != 0.0).map(|&(body, value)| (body, 3 * k + row, value)),
                );
            }
        }
        let mass: Vec<_> = (0..6).map(|i| (i, i, 1.0)).collect();
        let form = Form::Global {
            mass: Sparse::from_triplets(6, 6, &mass),
            jacobian_transposed: Sparse::from_triplets(6, 3 * order.len(), &h),
            force: vec![0.1, 0.0, -1.0, 0.0, 0.0, 0.0],
            bias: vec![0.0; 3 * order.len()],
        };
        let problem = ContactProblem::new(vec![Law::Coulomb { mu: 0.5 }; order.len()], form).unwrap();
        let options = ContactOptions { minimum_norm: true, ..Default::default() };
        let found = solve(&problem, &options, None).unwrap();
        assert_eq!(found.status, Status::Solved);
        // Back to the order of the corners.
        let mut r = vec![[0.0; 3]; corners.len()];
        for (k, &c) in order.iter().enumerate() {
            r[c].copy_from_slice(&found.impulse[3 * k..3 * k + 3]);
        }
        r
    };
    let (first, second) = (pushed(&[0, 1, 2, 3, 4]), pushed(&[3, 0, 4, 2, 1]));
    for (a, b) in first.iter().flatten().zip(second.iter().flatten()) {
        // The weight of the norm is a millionth of W, and leaves about as much.
        assert!((a - b).abs() < 1e-6, "{first:?} {second:?}");
    }
    for r in &first {
        let equal = [0.2, -0.02, 0.0];
        assert!(r.iter().zip(equal).all(|(a, b)| (a - b).abs() < 1e-6), "{first:?}");
    }
}

/// Contacts that approach and whose impulses move nothing, or only press other contacts together: no impulse
/// stops them, however large. That is proved, not just not found.
#[test]
fn that_no_impulse_stops_the_approach_is_proved() {
    let one = Matrix::zeros(1, 1);
    let squeezed = Matrix::from_rows(&[[1.0, -1.0], [-1.0, 1.0]]);
    let beside = Matrix::from_rows(&[[1.0, 0.0], [0.0, 0.0]]);
    for (w, q, laws) in [
        (&one, vec![-1.0], vec![Law::Unilateral]),
        (&one, vec![-1e-5], vec![Law::Unilateral]),
        (&squeezed, vec![-1.0, -1.0], vec![Law::Unilateral; 2]),
        (&beside, vec![-1.0, -1.0], vec![Law::Unilateral; 2]),
        (&Matrix::zeros(2, 2), vec![-1.0, 1.0], vec![Law::CoulombPlane { mu: 0.5 }]),
    ] {
        let found = judged(&laws, w, &q, Method::Auto);
        assert_eq!(found.status, Status::NoSolution, "{w:?} {q:?}");
    }
    // The same contact that separates needs no impulse.
    assert_eq!(solved(&[Law::Unilateral], &one, &[1.0]).impulse, [0.0]);
}
