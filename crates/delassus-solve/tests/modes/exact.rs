//! The exact algebra and the checker of certificates: by hand, against a second method, and against forgery.

use delassus_solve::analysis::{Certificate, Claims, Fact, Kind, MatrixOf, exact_matrix, fact};
use delassus_solve::lcp::{couplings, sliding_lcp};
use delassus_solve::linalg::{Matrix, RationalMatrix, rational};
use delassus_solve::modes::{ExactAnswer, exact_answer};
use delassus_solve::problem::{Dynamics, Law, Slip};
use num_rational::BigRational;
use proptest::prelude::*;

fn of(rows: &[&[f64]]) -> RationalMatrix {
    RationalMatrix::exact(&Matrix::from_rows(rows)).unwrap()
}

fn ratio(p: i64, q: i64) -> BigRational {
    BigRational::new(p.into(), q.into())
}

fn float(x: &BigRational) -> f64 {
    // Both parts are far from overflow in these tests.
    let part = |x: &num_bigint::BigInt| x.to_string().parse::<f64>().unwrap();
    part(x.numer()) / part(x.denom())
}

#[test]
fn numbers_are_taken_as_they_are() {
    assert_eq!(rational(0.75), Some(ratio(3, 4)));
    assert_eq!(rational(-6.0), Some(ratio(-6, 1)));
    assert_eq!(rational(0.1), Some(ratio(3602879701896397, 1 << 55)));
    assert_eq!(
        rational(5e-324).unwrap() * rational(2f64.powi(1000)).unwrap(),
        ratio(1, 1) / rational(2f64.powi(74)).unwrap()
    );
    assert_eq!(rational(f64::NAN), None);
    assert_eq!(rational(f64::INFINITY), None);
}

#[test]
fn inverse_rank_and_minors() {
    let a = of(&[&[2.0, 1.0], &[1.0, 3.0]]);
    let inverse = a.inverse().unwrap();
    assert_eq!(inverse.get(0, 0), ratio(3, 5));
    assert_eq!(inverse.get(0, 1), ratio(-1, 5));
    assert!(of(&[&[1.0, 2.0], &[2.0, 4.0]]).inverse().is_none());
    // 0.1 + 0.2 ≠ 0.3 for these numbers: the rank is 2, not 1.
    assert_eq!(of(&[&[0.1 + 0.2, 1.0], &[0.3, 1.0]]).rank(), 2);
    assert_eq!(of(&[&[0.3, 1.0], &[0.6, 2.0], &[0.0, 0.0]]).rank(), 1);
    assert_eq!(of(&[&[0.0, 1.0], &[1.0, 0.0]]).minor_sign(&[0, 1]), -1);
    assert_eq!(of(&[&[0.0, 1.0], &[1.0, 0.0]]).minor_sign(&[0]), 0);
}

#[test]
fn definite_by_hand() {
    let answers =
        |a: RationalMatrix| (a.is_positive_definite().unwrap(), a.is_positive_semidefinite().unwrap());
    assert_eq!(answers(of(&[&[2.0, 1.0], &[1.0, 1.0]])), (true, true));
    assert_eq!(answers(of(&[&[1.0, 1.0], &[1.0, 1.0]])), (false, true));
    assert_eq!(answers(of(&[&[0.0, 1.0], &[1.0, 5.0]])), (false, false));
    assert_eq!(answers(of(&[&[0.0, 0.0], &[0.0, 5.0]])), (false, true));
    assert_eq!(answers(of(&[&[1.0, 0.0], &[0.0, -1e-300]])), (false, false));
    // Only the symmetric part counts.
    assert_eq!(answers(of(&[&[1.0, 7.0], &[-7.0, 1.0]])), (true, true));
    assert_eq!(answers(of(&[&[4.0, 2.0, 0.0], &[2.0, 1.0, 0.0], &[0.0, 0.0, 1.0]])), (false, true));
}

#[test]
fn classes_by_hand() {
    assert_eq!(of(&[&[1.0, -3.0], &[0.0, 1.0]]).is_p_matrix(), Some(true));
    assert_eq!(of(&[&[1.0, 1.0], &[1.0, 1.0]]).is_p_matrix(), Some(false));
    assert_eq!(RationalMatrix::identity(11).is_p_matrix(), None);
    assert_eq!(of(&[&[1.0, -1.0], &[-1.0, 1.0]]).is_copositive(), Some(true));
    assert_eq!(of(&[&[1.0, -1.0 - 2f64.powi(-50)], &[-1.0, 1.0]]).is_copositive(), Some(false));
    assert_eq!(of(&[&[0.0, 1.0], &[1.0, 0.0]]).is_copositive(), Some(true));
    assert_eq!(of(&[&[0.0, -1.0], &[-1.0, 9.0]]).is_copositive(), Some(false));
    assert_eq!(RationalMatrix::identity(9).is_copositive(), None);
    // Horn's matrix is copositive and not a sum of a semidefinite and a nonnegative one.
    let horn = |i: usize, j: usize| {
        if i == j {
            1.0
        } else if (i + 1) % 5 == j || (j + 1) % 5 == i {
            -1.0
        } else {
            1.0
        }
    };
    let h = RationalMatrix::exact(&Matrix::from_fn(5, 5, horn)).unwrap();
    assert_eq!((h.is_copositive(), h.is_positive_semidefinite()), (Some(true), Some(false)));
    // Less by any amount, it is not: (1, 1, 0, 0, 0) is a zero of its form.
    let less = |i: usize, j: usize| horn(i, j) - if i == j && i < 1 { 1e-12 } else { 0.0 };
    let h = RationalMatrix::exact(&Matrix::from_fn(5, 5, less)).unwrap();
    assert_eq!(h.is_copositive(), Some(false));
}

proptest! {
    #[test]
    fn copositive_agrees_with_a_grid(entries in prop::collection::vec(-3i32..=3, 10)) {
        // 4 × 4 with small integers; the form on all integer points of [0, 6]⁴.
        let mut at = entries.iter().copied();
        let mut a = [[0i32; 4]; 4];
        for i in 0..4 {
            for j in 0..=i {
                let x = at.next().unwrap();
                a[i][j] = x;
                a[j][i] = x;
            }
        }
        let exact = RationalMatrix::exact(&Matrix::from_fn(4, 4, |i, j| f64::from(a[i][j]))).unwrap();
        let mut lowest = 0;
        for code in 0..7i32.pow(4) {
            let x = [code % 7, code / 7 % 7, code / 49 % 7, code / 343];
            let form: i32 = (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).map(|(i, j)| a[i][j] * x[i] * x[j]).sum();
            lowest = lowest.min(form);
        }
        if lowest < 0 {
            prop_assert_eq!(exact.is_copositive(), Some(false));
        } else if exact.is_copositive() == Some(false) {
            // Negative between grid points only: then it is so near a point −B⁻¹1 of a principal submatrix.
            let found = (1u32..16).any(|set| {
                let rows: Vec<usize> = (0..4).filter(|k| set >> k & 1 == 1).collect();
                exact.select(&rows, &rows).inverse().is_some_and(|b| {
                    let x: Vec<BigRational> = (0..rows.len())
                        .map(|i| -(0..rows.len()).map(|j| b.get(i, j)).fold(ratio(0, 1), |s, v| s + v))
                        .collect();
                    let mut form = ratio(0, 1);
                    for (i, &r) in rows.iter().enumerate() {
                        for (j, &c) in rows.iter().enumerate() {
                            form += &x[i] * &x[j] * ratio(i64::from(a[r][c]), 1);
                        }
                    }
                    x.iter().all(|v| *v >= ratio(0, 1)) && form < ratio(0, 1)
                })
            });
            prop_assert!(found);
        }
    }

    #[test]
    fn definite_agrees_with_eigenvalues(entries in prop::collection::vec(-3i32..=3, 12)) {
        // BᵀB − I/2 of a 4 × 3 matrix B with integer entries: no eigenvalue is near zero by chance.
        let b = Matrix::from_fn(4, 3, |i, j| f64::from(entries[3 * i + j]));
        let gram = b.transpose().mul(&b);
        let a = Matrix::from_fn(3, 3, |i, j| gram[(i, j)] - if i == j { 0.5 } else { 0.0 });
        let lowest = a.symmetric_eigenvalues()[0];
        prop_assume!(lowest.abs() > 1e-9);
        prop_assert_eq!(RationalMatrix::exact(&a).unwrap().is_positive_definite(), Some(lowest > 0.0));
        prop_assert_eq!(RationalMatrix::exact(&gram).unwrap().is_positive_semidefinite(), Some(true));
    }

    #[test]
    fn matrices_agree_with_floating_point(
        entries in prop::collection::vec(-8i32..=8, 64),
        mus in prop::collection::vec(0u8..5, 4),
    ) {
        // A joint, a guide, a contact that slides, one without friction; the same formulas in floating point.
        let x = |k: usize| f64::from(entries[k]) / 4.0;
        let n = 5;
        let mass = Matrix::from_fn(n, n, |i, j| if i == j { 6.0 } else { x(i + j) / 4.0 });
        let jacobian = Matrix::from_fn(6, n, |i, j| x(20 + i * n + j));
        let slip = Slip::Plane(-1.0);
        let laws = vec![
            Law::Unilateral,
            Law::Bilateral,
            Law::BilateralSliding { mu: f64::from(mus[0]) / 8.0, slip },
            Law::Sliding { mu: f64::from(mus[1]) / 8.0, slip: Slip::Plane(1.0) },
        ];
        let d = Dynamics::new(mass, vec![0.0; n], jacobian, vec![0.0; 6], laws).unwrap();
        let Some(r) = d.reduce() else { return Ok(()) };
        let close = |exact: &RationalMatrix, a: &Matrix| {
            // Rounding of a few hundred operations, times the condition of what was inverted.
            let top = a.max_abs().max(1.0);
            (exact.rows(), exact.cols()) == (a.rows(), a.cols())
                && (0..a.rows()).all(|i| (0..a.cols()).all(|j| (float(&exact.get(i, j)) - a[(i, j)]).abs() <= 1e-8 * top))
        };
        let joint = r.delassus[(1, 1)];
        prop_assume!(joint > 1e-2);
        let of = |m: MatrixOf| exact_matrix(&d, m).unwrap();
        let (a_n, a_t) = couplings(&r.delassus, &d.laws, &[0, 3], &[]);
        prop_assert!(close(&of(MatrixOf::Delassus(Kind::Unilateral)), &a_n));
        prop_assert!(close(&of(MatrixOf::SlipCoupling(Kind::Unilateral)), &a_t));
        let (a_n, a_t) = couplings(&r.delassus, &d.laws, &[0, 2, 3], &[1]);
        prop_assert!(close(&of(MatrixOf::ConstrainedDelassus(Kind::All)), &a_n));
        prop_assert!(close(&of(MatrixOf::ConstrainedSlipCoupling(Kind::All)), &a_t));
        let (a_n, _) = couplings(&r.delassus, &d.laws, &[2], &[1]);
        prop_assert!(close(&of(MatrixOf::ConstrainedDelassus(Kind::Bilateral)), &a_n));
        if let Some(lift) = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws)
            && lift.lcp.matrix.max_abs() < 1e3
        {
            prop_assert!(close(&of(MatrixOf::SlidingLcp), &lift.lcp.matrix));
        }
    }
}

fn rod(mu: f64, weight: f64) -> Dynamics {
    // Rod at 45° that slides: N M⁻¹ N = 5/2, N M⁻¹ T = −3/2 (003 Fig. 2), slip −1.
    Dynamics::new(
        Matrix::diagonal(&[1.0, 1.0]),
        vec![weight, 0.0],
        Matrix::from_rows(&[[1.5, 0.5], [-0.5, -1.5]]),
        vec![0.0, 0.0],
        vec![Law::Sliding { mu, slip: Slip::Plane(-1.0) }],
    )
    .unwrap()
}

#[test]
fn answers_by_hand() {
    let answer = |d: &Dynamics| exact_answer(d, 4096).unwrap();
    let isolated = |n: usize| ExactAnswer {
        existence: n > 0,
        acceleration_unique: n == 1,
        forces_unique: n == 1,
        isolated: n,
        continuum: false,
    };
    // −0.5 λ + q ≥ 0 with μ = 2 and q = −1.5 w: none, one (touching) or two.
    assert_eq!(answer(&rod(2.0, 1.0)), isolated(0));
    assert_eq!(answer(&rod(2.0, 0.0)), isolated(1));
    assert_eq!(answer(&rod(2.0, -1.0)), isolated(2));
    assert_eq!(answer(&rod(1.0, 1.0)), isolated(1));
    // Three supports in a row (001 Example 1): one acceleration, a triangle of forces.
    let support = |gamma: f64, laws: Vec<Law>| {
        let m = laws.len();
        Dynamics::new(
            Matrix::diagonal(&[2.0]),
            vec![2.0],
            Matrix::from_fn(m, 1, |_, _| 1.0),
            vec![gamma; m],
            laws,
        )
        .unwrap()
    };
    let three = answer(&support(0.0, vec![Law::Unilateral; 3]));
    assert_eq!(
        (three.acceleration_unique, three.forces_unique, three.continuum, three.isolated),
        (true, false, true, 0)
    );
    // Joints that contradict each other.
    let mut torn = support(0.0, vec![Law::Bilateral; 2]);
    torn.bias[1] = 1.0;
    assert_eq!(answer(&torn), isolated(0));
    // Singular mass: nothing moves coordinate 2, and any acceleration will do.
    let mut loose = rod(0.0, 1.0);
    loose.mass = Matrix::diagonal(&[1.0, 0.0]);
    loose.jacobian = Matrix::from_rows(&[[1.0, 0.0], [0.0, 0.0]]);
    let loose = answer(&loose);
    assert_eq!((loose.existence, loose.acceleration_unique, loose.forces_unique), (true, false, true));
    // Block at rest on one planar contact: sticks.
    let block = |force: f64| {
        Dynamics::new(
            Matrix::identity(2),
            vec![1.0, force],
            Matrix::identity(2),
            vec![0.0; 2],
            vec![Law::CoulombPlane { mu: 0.5 }],
        )
        .unwrap()
    };
    for force in [0.0, 0.25, 0.5, 0.75, -3.0] {
        assert_eq!(answer(&block(force)), isolated(1));
    }
    // A wedged guide at rest: forces ±f_n are both possible without load.
    let guide = Dynamics::new(
        Matrix::identity(1),
        vec![0.0],
        Matrix::from_rows(&[[0.0], [1.0]]),
        vec![0.0; 2],
        vec![Law::BilateralCoulombPlane { mu: 1.0 }],
    )
    .unwrap();
    let guide = answer(&guide);
    assert_eq!((guide.acceleration_unique, guide.forces_unique, guide.continuum), (true, false, true));
    // Too many modes, and a law that is not polyhedral.
    assert_eq!(exact_answer(&block(0.0), 3), None);
    let cone = Dynamics { laws: vec![Law::Cone { mu: 0.5 }], ..rod(1.0, 1.0) };
    assert_eq!(exact_answer(&cone, 4096), None);
}

#[test]
fn a_guide_at_its_critical_friction_has_a_ray_of_solutions() {
    // N M⁻¹ Nᵀ = 19/25, N M⁻¹ Tᵀ = 19/50: with μ = 2 the guide holds itself, exactly.
    let mass =
        [[9.0, -2.0, 4.0, 3.0], [-2.0, 12.0, 2.0, -4.0], [4.0, 2.0, 6.0, -1.0], [3.0, -4.0, -1.0, 7.0]];
    let d = Dynamics::new(
        Matrix::from_rows(&mass),
        vec![0.0; 4],
        Matrix::from_rows(&[[1.0, 0.0, -1.0, 1.0], [0.0, 0.0, -1.0, -2.0]]),
        vec![0.0; 2],
        vec![Law::BilateralSliding { mu: 2.0, slip: Slip::Plane(1.0) }],
    )
    .unwrap();
    assert_eq!(exact_matrix(&d, MatrixOf::Delassus(Kind::All)).unwrap().get(0, 0), ratio(19, 25));
    assert_eq!(exact_matrix(&d, MatrixOf::SlipCoupling(Kind::All)).unwrap().get(0, 0), ratio(19, 50));
    assert!(exact_matrix(&d, MatrixOf::SlidingLcp).is_none());
    let answer = exact_answer(&d, 2).unwrap();
    assert!(answer.existence && answer.continuum && !answer.acceleration_unique && !answer.forces_unique);
}

#[test]
fn each_fact_holds_and_fails() {
    let d = rod(1.0, 1.0);
    let lcp = MatrixOf::SlidingLcp;
    let (all, none) = (MatrixOf::Delassus(Kind::All), MatrixOf::Delassus(Kind::Bilateral));
    let yes = |f: Fact| assert!(fact(&d, &f), "{f:?}");
    let no = |f: Fact| assert!(!fact(&d, &f), "{f:?}");
    // A_n = 2.5, A_t = −1.5·(−1) = 1.5, LCP matrix 2.5 − μ·1.5 = 1.
    yes(Fact::PositiveDefinite(lcp));
    yes(Fact::PositiveDefinite(none));
    no(Fact::NotPositiveDefinite(lcp, vec![1.0]));
    no(Fact::NotPositiveDefinite(lcp, vec![0.0]));
    yes(Fact::PMatrix(lcp));
    no(Fact::NotPMatrix(lcp, vec![0]));
    no(Fact::NotPMatrix(lcp, vec![1]));
    no(Fact::NotPMatrix(lcp, vec![]));
    yes(Fact::Copositive(lcp));
    yes(Fact::PositiveSemidefinite(lcp));
    yes(Fact::Rank(MatrixOf::MassAndGradients(Kind::All), 2));
    no(Fact::Rank(MatrixOf::Gradients(Kind::All), 2));
    no(Fact::Nonpositive(MatrixOf::SlipCoupling(Kind::All)));
    yes(Fact::SingularValuesAtLeast(all, 2.5));
    no(Fact::SingularValuesAtLeast(all, 2.5f64.next_up()));
    yes(Fact::SingularValuesAtMost(MatrixOf::SlipCoupling(Kind::All), 1.5));
    no(Fact::SingularValuesAtMost(MatrixOf::SlipCoupling(Kind::All), 1.5f64.next_down()));
    no(Fact::SingularValuesAtMost(all, f64::NAN));
    yes(Fact::FrictionBelow(Kind::All, 1.5, 2.5));
    no(Fact::FrictionBelow(Kind::All, 2.5, 2.5));
    yes(Fact::FrictionBelow(Kind::Bilateral, 2.5, 0.0));
    yes(Fact::Reachable(vec![1.0, 0.0]));
    no(Fact::Reachable(vec![-1.0, 3.0]));
    no(Fact::Reachable(vec![1.0]));
    no(Fact::Unreachable(vec![1.0]));
    // λ = 1.5: 1·λ − 1.5 = 0.
    yes(Fact::Solution(vec![1.5, 1.5], 0.0));
    no(Fact::Solution(vec![1.5, 1.5 + 1e-9], 1e-12));
    no(Fact::Solution(vec![1.6, 1.6], 1e-6));
    no(Fact::Solution(vec![1.6, 1.6], 1.0));
    no(Fact::Solution(vec![0.0, 0.0], 1e-6));
    let claims = |e, a, f| Claims { existence: e, acceleration_unique: a, forces_unique: f };
    yes(Fact::AllModes(claims(Some(true), Some(true), Some(true))));
    yes(Fact::AllModes(Claims::default()));
    no(Fact::AllModes(claims(Some(false), None, None)));
    no(Fact::AllModes(claims(None, None, Some(false))));

    // With μ = 2 the LCP matrix is −1/2.
    let d = rod(2.0, 1.0);
    let (yes, no) = (|f: Fact| assert!(fact(&d, &f), "{f:?}"), |f: Fact| assert!(!fact(&d, &f), "{f:?}"));
    yes(Fact::NotPositiveDefinite(lcp, vec![1.0]));
    yes(Fact::NotPMatrix(lcp, vec![0]));
    yes(Fact::NotCopositive(lcp, vec![1.0]));
    no(Fact::NotCopositive(lcp, vec![-1.0]));
    no(Fact::NotCopositive(lcp, vec![0.0]));
    no(Fact::PMatrix(lcp));
    no(Fact::Copositive(lcp));
    yes(Fact::Nonpositive(lcp));
    yes(Fact::AllModes(claims(Some(false), Some(false), Some(false))));
}

#[test]
fn reachable_and_unreachable_with_joints() {
    // Two joints hold a₁ = 1 (one twice), a contact asks a₁ + a₂ > 0.
    let mut d = Dynamics::new(
        Matrix::identity(2),
        vec![0.0; 2],
        Matrix::from_rows(&[[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]),
        vec![-1.0, -2.0, 0.0],
        vec![Law::Bilateral, Law::Bilateral, Law::Unilateral],
    )
    .unwrap();
    assert!(fact(&d, &Fact::Reachable(vec![1.0, 0.0])));
    assert!(fact(&d, &Fact::Reachable(vec![1.0 + 1e-12, 0.0])));
    assert!(!fact(&d, &Fact::Reachable(vec![1.001, 0.0])));
    // The contact opens only by the error in a₁: not with room.
    assert!(!fact(&d, &Fact::Reachable(vec![1.0 + 1e-12, -1.0])));
    d.bias[1] = -3.0;
    assert!(!fact(&d, &Fact::Reachable(vec![1.0, 0.0])));
    assert!(fact(&d, &Fact::Unreachable(vec![2.0, -1.0, 0.0])) == (2.0 * d.bias[0] - d.bias[1] < 0.0));
    assert!(fact(&d, &Fact::Unreachable(vec![-2.0, 1.0, 0.0])) == (-2.0 * d.bias[0] + d.bias[1] < 0.0));
    assert!(!fact(&d, &Fact::Unreachable(vec![-2.0, 1.0 + 1e-15, 0.0])));
    assert!(!fact(&d, &Fact::Unreachable(vec![-2.0, 1.0, -1.0])));
}

#[test]
fn solutions_of_every_law() {
    // u = f + γ on every row, so each law has its closed form.
    let holds = |law: Law, gamma: &[f64], f: &[f64]| {
        let m = gamma.len();
        let d =
            Dynamics::new(Matrix::identity(m), vec![0.0; m], Matrix::identity(m), gamma.to_vec(), vec![law]);
        fact(&d.unwrap(), &Fact::Solution(f.to_vec(), 1e-10))
    };
    assert!(holds(Law::Bilateral, &[2.0], &[-2.0]));
    assert!(holds(Law::Unilateral, &[2.0], &[0.0]));
    assert!(!holds(Law::Unilateral, &[2.0], &[-2.0]));
    let guide = Law::BilateralSliding { mu: 0.5, slip: Slip::Plane(1.0) };
    assert!(holds(guide, &[2.0, 0.0], &[-2.0, -1.0]) && !holds(guide, &[2.0, 0.0], &[-2.0, 1.0]));
    let plane = Law::CoulombPlane { mu: 0.5 };
    assert!(holds(plane, &[-2.0, 0.5], &[2.0, -0.5]));
    assert!(holds(plane, &[-2.0, 3.0], &[2.0, -1.0]));
    assert!(!holds(plane, &[-2.0, 3.0], &[2.0, -0.9]));
    assert!(!holds(plane, &[-2.0, 3.0], &[2.0, 1.0]));
    let space = Law::Coulomb { mu: 0.5 };
    assert!(holds(space, &[-2.0, 3.0, 4.0], &[2.0, -0.6, -0.8]));
    assert!(!holds(space, &[-2.0, 3.0, 4.0], &[2.0, -0.8, -0.6]));
    assert!(holds(Law::BilateralCoulomb { mu: 0.5 }, &[2.0, 3.0, 4.0], &[-2.0, -0.6, -0.8]));
    // The cone law projects: f = P_K(1, −2, 0) = (1.6, −0.8, 0).
    let cone = Law::Cone { mu: 0.5 };
    assert!(holds(cone, &[-1.0, 2.0, 0.0], &[1.6, -0.8, 0.0]));
    assert!(!holds(cone, &[-1.0, 2.0, 0.0], &[1.0, -0.5, 0.0]));
}

fn sample() -> Certificate {
    let lcp = MatrixOf::SlidingLcp;
    let claims = Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: Some(true) };
    let facts = vec![
        Fact::PMatrix(lcp),
        Fact::SingularValuesAtLeast(MatrixOf::Delassus(Kind::Unilateral), 2.25),
        Fact::SingularValuesAtMost(MatrixOf::SlipCoupling(Kind::Unilateral), 1.75),
        Fact::FrictionBelow(Kind::Unilateral, 1.75, 2.25),
        Fact::Rank(MatrixOf::Gradients(Kind::All), 1),
        Fact::Reachable(vec![1.0, 0.25]),
        Fact::Solution(vec![1.5, 1.5], 1e-12),
        Fact::AllModes(claims),
        Fact::PositiveDefinite(MatrixOf::Mass),
    ];
    Certificate::new("000.prop12", &rod(1.0, 1.0), facts, claims)
}

proptest! {
    #[test]
    fn any_changed_number_is_refused(position in 0usize..24, by in prop::num::f64::NORMAL) {
        let mut c = sample();
        prop_assert!(c.verify());
        let before = format!("{c:?}");
        let d = &mut c.dynamics;
        match position {
            0..=3 => d.mass = Matrix::from_fn(2, 2, |i, j| d.mass[(i, j)] + if 2 * i + j == position { by } else { 0.0 }),
            4..=5 => d.force[position - 4] += by,
            6..=9 => {
                let k = position - 6;
                d.jacobian = Matrix::from_fn(2, 2, |i, j| d.jacobian[(i, j)] + if 2 * i + j == k { by } else { 0.0 });
            }
            10..=11 => d.bias[position - 10] += by,
            12 => d.laws[0] = Law::Sliding { mu: 1.0 + by.abs(), slip: Slip::Plane(-1.0) },
            13 => d.laws[0] = Law::Sliding { mu: 1.0, slip: Slip::Plane(-1.0 + by) },
            14 => c.seal = c.seal.wrapping_add(by.to_bits().max(1)),
            15 => c.claims.existence = None,
            16 => c.claims.forces_unique = Some(false),
            17 => c.id = "000.prop9",
            18 => drop(c.facts.pop()),
            _ => {
                let k = position - 18;
                c.facts[k] = match c.facts[k].clone() {
                    Fact::SingularValuesAtLeast(m, s) => Fact::SingularValuesAtLeast(m, s + by),
                    Fact::SingularValuesAtMost(m, s) => Fact::SingularValuesAtMost(m, s + by),
                    Fact::FrictionBelow(k, a, b) => Fact::FrictionBelow(k, a, b + by),
                    Fact::Rank(m, r) => Fact::Rank(m, r + 1),
                    Fact::Reachable(a) => Fact::Reachable(vec![a[0] + by, a[1]]),
                    _ => unreachable!(),
                };
            }
        }
        // A change too small to change a number is none.
        prop_assume!(format!("{c:?}") != before);
        prop_assert!(!c.verify());
    }

    #[test]
    fn a_false_fact_is_refused_under_a_new_seal(which in 0usize..8, by in 0.5f64..1e3) {
        let c = sample();
        let lcp = MatrixOf::SlidingLcp;
        let mut facts = c.facts.clone();
        facts[which] = match which {
            0 => Fact::NotPMatrix(lcp, vec![0]),
            1 => Fact::SingularValuesAtLeast(MatrixOf::Delassus(Kind::Unilateral), 2.0 + by + 1e-9),
            2 => Fact::SingularValuesAtMost(MatrixOf::SlipCoupling(Kind::Unilateral), 1.5 / (1.0 + by)),
            3 => Fact::FrictionBelow(Kind::Unilateral, 1.75 + by, 2.25),
            4 => Fact::Rank(MatrixOf::Gradients(Kind::All), 2),
            5 => Fact::Reachable(vec![-by, 0.25]),
            6 => Fact::Solution(vec![1.5 + by, 1.5 + by], 1e-12),
            _ => Fact::AllModes(Claims { existence: Some(false), ..Claims::default() }),
        };
        prop_assert!(!Certificate::new(c.id, &c.dynamics, facts, c.claims).verify());
    }
}

#[test]
fn malformed_problems_are_refused_and_do_not_panic() {
    let facts = sample().facts;
    let spoil: [fn(&mut Dynamics); 6] = [
        |d| d.force.clear(),
        |d| d.bias.push(0.0),
        |d| _ = d.laws.pop(),
        |d| d.mass = Matrix::from_rows(&[[1.0, 1.0], [0.0, 1.0]]),
        |d| d.force[0] = f64::NAN,
        |d| d.laws[0] = Law::Sliding { mu: -1.0, slip: Slip::Plane(-1.0) },
    ];
    for s in spoil {
        let mut d = rod(1.0, 1.0);
        s(&mut d);
        assert!(facts.iter().all(|f| !fact(&d, f)));
    }
}
