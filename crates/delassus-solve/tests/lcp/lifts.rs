//! Reformulations: each against the formula of the paper (corrected where it is wrong) and back on the
//! contact problem.

use delassus_solve::lcp::{
    HorizontalLcp, Solver, guide_horizontal_lcp, sliding_lcp, solve_lcp, solve_mlcp, to_mlcp,
};
use delassus_solve::linalg::{Matrix, max_abs, norm};
use delassus_solve::modes::{EnumerateOptions, enumerate};
use delassus_solve::problem::{ContactView, Dynamics, Law, Slip, residual};
use proptest::prelude::*;

/// A random system: n coordinates, constraints with one tangent each where the law has friction.
#[derive(Clone, Debug)]
struct Random {
    n: usize,
    numbers: Vec<f64>,
}

impl Random {
    fn dynamics(&self, laws: &[Law]) -> Dynamics {
        let mut at = self.numbers.iter().cycle();
        let mut next = || *at.next().unwrap();
        let n = self.n;
        let g = Matrix::from_fn(n, n, |_, _| next());
        let mut mass = g.mul(&g.transpose());
        for i in 0..n {
            mass[(i, i)] += 1.0;
        }
        let rows: usize = laws.iter().map(Law::dim).sum();
        let jacobian = Matrix::from_fn(rows, n, |_, _| next());
        let force = (0..n).map(|_| 5.0 * next()).collect();
        let bias = (0..rows).map(|_| next()).collect();
        Dynamics::new(mass, force, jacobian, bias, laws.to_vec()).unwrap()
    }
}

fn random(n: usize) -> impl Strategy<Value = Random> {
    // A prime number of entries, so that cycling through them does not repeat rows.
    proptest::collection::vec(-1.0..1.0f64, 211).prop_map(move |numbers| Random { n, numbers })
}

fn guide(mu: f64, s: f64) -> Law {
    Law::BilateralSliding { mu, slip: Slip::Plane(s) }
}

fn slider(mu: f64, s: f64) -> Law {
    Law::Sliding { mu, slip: Slip::Plane(s) }
}

/// Blocks of W by kind, with the letters of 000: normals and tangents of guides (b) and of contacts (u).
struct Blocks {
    a: Matrix,
    a_bar: Matrix,
    b: Matrix,
    c: Matrix,
    c_bar: Matrix,
    d: Matrix,
    w1: Vec<f64>,
    w2: Vec<f64>,
}

/// A ± = A_nb ∓ A_tb[μξ], B = A_nbnu − A_nbtu[μξ], C ± = A_nunb ∓ A_nutb[μξ], D = A_nu − A_tu[μξ] (under 000
/// eq. 58).
fn blocks(w: &Matrix, q: &[f64], mu_b: &[f64], xi_b: &[f64], mu_u: &[f64], xi_u: &[f64]) -> Blocks {
    let guides = mu_b.len();
    let (nb, tb): (Vec<_>, Vec<_>) = (0..guides).map(|k| (2 * k, 2 * k + 1)).unzip();
    let (nu, tu): (Vec<_>, Vec<_>) = (guides..guides + mu_u.len()).map(|k| (2 * k, 2 * k + 1)).unzip();
    let combine = |rows: &[usize], normal: &[usize], tangent: &[usize], mu: &[f64], xi: &[f64], sign: f64| {
        Matrix::from_fn(rows.len(), normal.len(), |i, j| {
            w[(rows[i], normal[j])] - sign * w[(rows[i], tangent[j])] * mu[j] * xi[j]
        })
    };
    Blocks {
        a: combine(&nb, &nb, &tb, mu_b, xi_b, 1.0),
        a_bar: combine(&nb, &nb, &tb, mu_b, xi_b, -1.0),
        b: combine(&nb, &nu, &tu, mu_u, xi_u, 1.0),
        c: combine(&nu, &nb, &tb, mu_b, xi_b, 1.0),
        c_bar: combine(&nu, &nb, &tb, mu_b, xi_b, -1.0),
        d: combine(&nu, &nu, &tu, mu_u, xi_u, 1.0),
        w1: nb.iter().map(|&i| q[i]).collect(),
        w2: nu.iter().map(|&i| q[i]).collect(),
    }
}

fn minus(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] - b[(i, j)])
}

fn near(a: &Matrix, b: &Matrix) -> bool {
    minus(a, b).max_abs() < 1e-9 * (1.0 + b.max_abs())
}

const MU_B: [f64; 2] = [0.2, 0.3];
const XI_B: [f64; 2] = [1.0, -1.0];
const MU_U: [f64; 2] = [0.25, 0.4];
const XI_U: [f64; 2] = [-1.0, 1.0];

fn mixed_laws() -> Vec<Law> {
    vec![guide(MU_B[0], XI_B[0]), guide(MU_B[1], XI_B[1]), slider(MU_U[0], XI_U[0]), slider(MU_U[1], XI_U[1])]
}

proptest! {
    /// 000 eq. 58 = the blocks A⁻¹Ā, −A⁻¹B, CA⁻¹Ā − C̄, D − CA⁻¹B, and z₁ = −A⁻¹w₁, z₂ = w₂ + C z₁.
    #[test]
    fn eq_000_58_mixed_sliding(system in random(6)) {
        let d = system.dynamics(&mixed_laws());
        let r = d.reduce().unwrap();
        let k = blocks(&r.delassus, &r.free_velocity, &MU_B, &XI_B, &MU_U, &XI_U);
        let Some(lift) = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws) else { return Ok(()) };
        // Far from a singular A, or the comparison means nothing.
        prop_assume!(k.a.singular_values()[1] > 1e-3);
        let ia = k.a.solve_matrix(&k.a_bar).unwrap();
        let ib = k.a.solve_matrix(&k.b).unwrap();
        let top = [0usize, 1];
        let bottom = [2usize, 3];
        let m = &lift.lcp.matrix;
        let zero = Matrix::zeros(2, 2);
        prop_assert!(near(&m.select(&top, &top), &ia));
        prop_assert!(near(&m.select(&top, &bottom), &minus(&zero, &ib)));
        prop_assert!(near(&m.select(&bottom, &top), &minus(&k.c.mul(&ia), &k.c_bar)));
        prop_assert!(near(&m.select(&bottom, &bottom), &minus(&k.d, &k.c.mul(&ib))));
        let z1: Vec<f64> = k.a.solve(&k.w1).unwrap().iter().map(|x| -x).collect();
        let cz = k.c.mul_vec(&z1);
        for i in 0..2 {
            prop_assert!((lift.lcp.vector[i] - z1[i]).abs() < 1e-9 * (1.0 + max_abs(&z1)));
            prop_assert!((lift.lcp.vector[2 + i] - k.w2[i] - cz[i]).abs() < 1e-9 * (1.0 + max_abs(&z1)));
        }
    }

    /// 000 eq. 62 corrected: CA⁻¹Ā − C̄ = −2A_nutb[μξ] + 2CK with K = A_nb⁻¹A_tb[μξ] (I − A_nb⁻¹A_tb[μξ])⁻¹;
    /// with CK alone, as printed, it fails.
    #[test]
    fn eq_000_62_corrected(system in random(6)) {
        let d = system.dynamics(&mixed_laws());
        let r = d.reduce().unwrap();
        let k = blocks(&r.delassus, &r.free_velocity, &MU_B, &XI_B, &MU_U, &XI_U);
        let half = |s: f64, x: &Matrix, y: &Matrix| Matrix::from_fn(2, 2, |i, j| 0.5 * (x[(i, j)] + s * y[(i, j)]));
        let (a_nb, a_tb) = (half(1.0, &k.a, &k.a_bar), half(-1.0, &k.a_bar, &k.a));
        let a_nutb = half(-1.0, &k.c_bar, &k.c);
        let x = a_nb.solve_matrix(&a_tb).unwrap();
        let series = minus(&Matrix::identity(2), &x);
        prop_assume!(k.a.singular_values()[1] > 1e-3 && series.singular_values()[1] > 1e-3);
        let big_k = series.solve_matrix(&x).unwrap();
        let left = minus(&k.c.mul(&k.a.solve_matrix(&k.a_bar).unwrap()), &k.c_bar);
        let ck = k.c.mul(&big_k);
        let with = |f: f64| Matrix::from_fn(2, 2, |i, j| -2.0 * a_nutb[(i, j)] + f * ck[(i, j)]);
        prop_assert!(near(&left, &with(2.0)));
        if ck.max_abs() > 1e-3 {
            prop_assert!(!near(&left, &with(1.0)));
        }
    }

    /// 000 eq. 57 with its second line corrected: the mixed LCP has the same rows, and every solution of the
    /// contact problem satisfies it.
    #[test]
    fn eq_000_57_corrected(system in random(6)) {
        let d = system.dynamics(&mixed_laws());
        let r = d.reduce().unwrap();
        let k = blocks(&r.delassus, &r.free_velocity, &MU_B, &XI_B, &MU_U, &XI_U);
        let lift = to_mlcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
        // Unknowns: λ⁺₁, λ⁻₁, λ⁺₂, λ⁻₂, λ_u.
        let m = &lift.mlcp.matrix;
        let (held, plus, minus_, contact) = ([0usize, 2], [0usize, 2], [1usize, 3], [4usize, 5]);
        prop_assert!(near(&m.select(&held, &plus), &k.a));
        prop_assert!(near(&m.select(&held, &minus_), &minus(&Matrix::zeros(2, 2), &k.a_bar)));
        prop_assert!(near(&m.select(&held, &contact), &k.b));
        prop_assert!(near(&m.select(&contact, &plus), &k.c));
        // The corrected sign: −(A_nunb + A_nutb[μξ]) = −C̄, not −C.
        prop_assert!(near(&m.select(&contact, &minus_), &minus(&Matrix::zeros(2, 2), &k.c_bar)));
        prop_assert!(near(&m.select(&contact, &contact), &k.d));
    }

    /// 000 eq. 33 corrected: w_c = −∇h_uᵀM_c⁻¹F − ∇h_uᵀM⁻¹∇h_b A_nb⁻¹γ_b + γ_u, and A_c = ∇h_uᵀM_c⁻¹∇h_u (eq.
    /// 32).
    #[test]
    fn eq_000_33_corrected(system in random(5)) {
        let d = system.dynamics(&[Law::Bilateral, Law::Bilateral, Law::Unilateral, Law::Unilateral]);
        let r = d.reduce().unwrap();
        let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws);
        prop_assume!(lift.is_some());
        let lift = lift.unwrap();
        let (jb, ju) = (d.jacobian.select_rows(&[0, 1]), d.jacobian.select_rows(&[2, 3]));
        let mc = delassus_solve::problem::constrained_inverse_mass(&d.mass, &jb).unwrap();
        prop_assume!(r.delassus.select(&[0, 1], &[0, 1]).singular_values()[1] > 1e-3);
        prop_assert!(near(&lift.lcp.matrix, &ju.mul(&mc).mul(&ju.transpose())));
        let a_nb_gamma = r.delassus.select(&[0, 1], &[0, 1]).solve(&d.bias[..2]).unwrap();
        let coupling = r.delassus.select(&[2, 3], &[0, 1]).mul_vec(&a_nb_gamma);
        let forced = ju.mul_vec(&mc.mul_vec(&d.force));
        for i in 0..2 {
            let w = -forced[i] - coupling[i] + d.bias[2 + i];
            prop_assert!((w - lift.lcp.vector[i]).abs() < 1e-8 * (1.0 + w.abs()));
        }
    }

    /// 000 eq. 41 and 45: the horizontal LCP of guides with joints eliminated has the solutions of the
    /// contact problem.
    #[test]
    fn eq_000_45_guides_and_joints(system in random(5)) {
        let laws = [Law::Bilateral, guide(0.15, 1.0), guide(0.1, -1.0)];
        let d = system.dynamics(&laws);
        let r = d.reduce().unwrap();
        let lift = guide_horizontal_lcp(&r.delassus, &r.free_velocity, &laws);
        prop_assume!(lift.is_some());
        let lift = lift.unwrap();
        let problem = ContactView::new(&r.delassus, &r.free_velocity, &laws).unwrap();
        let set = enumerate(&d, &EnumerateOptions::default());
        let HorizontalLcp { a, b, vector } = &lift.hlcp;
        for piece in set.components.iter().filter(|p| p.freedom.is_none()) {
            let n = [piece.force[1], piece.force[3]];
            let plus: Vec<f64> = n.iter().map(|x| x.max(0.0)).collect();
            let minus: Vec<f64> = n.iter().map(|x| (-x).max(0.0)).collect();
            let left = a.mul_vec(&plus);
            let right = b.mul_vec(&minus);
            for i in 0..2 {
                prop_assert!((left[i] - right[i] + vector[i]).abs() < 1e-8 * (1.0 + max_abs(&n)));
            }
            // And back.
            let (fp, fm) = (lift.plus.mul_vec(&plus), lift.minus.mul_vec(&minus));
            let f: Vec<f64> = (0..5).map(|i| fp[i] + fm[i] + lift.offset[i]).collect();
            prop_assert!(residual(&problem, &f).relative < 1e-9);
        }
    }

    /// 000 eq. 9 and 50: an LCP solver on the lifted problem solves the contact problem.
    #[test]
    fn eq_000_50_sliding_contacts(system in random(6)) {
        for laws in [vec![Law::Unilateral; 4], vec![slider(0.2, 1.0), slider(0.3, -1.0), Law::Unilateral]] {
            let d = system.dynamics(&laws);
            let r = d.reduce().unwrap();
            let lift = sliding_lcp(&r.delassus, &r.free_velocity, &laws).unwrap();
            let solution = solve_lcp(&lift.lcp, Solver::Auto, 1e-12);
            let problem = ContactView::new(&r.delassus, &r.free_velocity, &laws).unwrap();
            if solution.residual < 1e-11 {
                prop_assert!(residual(&problem, &lift.force_of(&solution.z)).relative < 1e-8);
            }
        }
    }

    /// Contacts and guides at rest: the mixed LCP with three pairs a contact, solved by pivoting, gives a
    /// solution of the contact problem that the enumeration lists too.
    #[test]
    fn planar_stick_by_mixed_lcp(system in random(6), mu in 0.05..0.6f64) {
        let laws = [Law::CoulombPlane { mu }, Law::Bilateral, Law::CoulombPlane { mu }, Law::BilateralCoulombPlane { mu: 0.5 * mu }];
        let d = system.dynamics(&laws);
        let r = d.reduce().unwrap();
        let lift = to_mlcp(&r.delassus, &r.free_velocity, &laws).unwrap();
        let solution = solve_mlcp(&lift.mlcp, Solver::Auto, 1e-10);
        let set = enumerate(&d, &EnumerateOptions::default());
        if solution.residual < 1e-10 {
            let f = lift.force_of(&solution.z);
            let problem = ContactView::new(&r.delassus, &r.free_velocity, &laws).unwrap();
            let e = residual(&problem, &f).relative;
            prop_assert!(e < 1e-7, "{}", e);
            let nearest = set.components.iter().map(|p| norm(&p.force.iter().zip(&f).map(|(a, b)| a - b).collect::<Vec<_>>())).fold(f64::INFINITY, f64::min);
            let free = set.components.iter().any(|p| p.freedom.is_some());
            prop_assert!(free || nearest < 1e-6 * (1.0 + norm(&f)), "{}", nearest);
        } else {
            prop_assert!(set.components.is_empty() || !set.decided, "enumeration has {} solutions, pivoting none", set.components.len());
        }
    }
}
