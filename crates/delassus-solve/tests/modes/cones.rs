//! Contacts at rest in space: solved on the cone, against closed forms and against the planar enumeration.

use delassus_solve::analysis::{analyze, one_solution};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{EnumerateOptions, Mode, enumerate_contact};
use delassus_solve::problem::{ContactView, Dynamics, Law, Status};
use proptest::prelude::*;

#[test]
fn block_in_space_sticks_slides_and_parts() {
    // Unit mass point on the plane z = 0, rows (z, x, y).
    let w = Matrix::identity(3);
    let laws = [Law::Coulomb { mu: 0.5 }];
    let f = |q: [f64; 3]| {
        let s = one_solution(&ContactView::new(&w, &q, &laws).unwrap(), 1e-10);
        assert_eq!(s.status, Status::Solved, "{q:?} {}", s.residual);
        s.impulse
    };
    let stick = f([-10.0, 3.0, -2.0]);
    assert!(
        (stick[0] - 10.0).abs() < 1e-10 && (stick[1] + 3.0).abs() < 1e-10 && (stick[2] - 2.0).abs() < 1e-10
    );
    // Pulled with (6, 8): friction 5 against it.
    let slide = f([-10.0, 6.0, 8.0]);
    assert!(
        (slide[0] - 10.0).abs() < 1e-10 && (slide[1] + 3.0).abs() < 1e-10 && (slide[2] + 4.0).abs() < 1e-10
    );
    assert!(f([1.0, 6.0, 8.0]).iter().all(|x| x.abs() < 1e-12));
}

#[test]
fn sphere_on_incline_rolls_or_slips() {
    // Unit sphere, J = 2/5, incline 30°: rolls iff μ ≥ 2/7 tan 30°; rolling acceleration 5/7 g sin 30°.
    let (g, a) = (9.81, 30f64.to_radians());
    let dynamics = |mu: f64| {
        // Coordinates (x down the slope, y across, z normal, rotations about x, y); contact rows (n, x, y).
        Dynamics::new(
            Matrix::diagonal(&[1.0, 1.0, 1.0, 0.4, 0.4]),
            vec![-g * a.sin(), 0.0, g * a.cos(), 0.0, 0.0],
            Matrix::from_rows(&[
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [1.0, 0.0, 0.0, 0.0, -1.0],
                [0.0, 1.0, 0.0, 1.0, 0.0],
            ]),
            vec![0.0; 3],
            vec![Law::Coulomb { mu }],
        )
        .unwrap()
    };
    let roll = analyze(&dynamics(0.3), &EnumerateOptions::default());
    assert_eq!(roll.existence, Verdict::Proved);
    // Tangents do not act on the normal: one solution, which the search over directions of slip proves.
    assert_eq!(roll.acceleration_unique, Verdict::Proved);
    assert_eq!(roll.solutions.components[0].modes[0], Mode::Stick);
    assert!((roll.solutions.components[0].acceleration[0] - 3.5035714285714286).abs() < 1e-9);
    let slip = analyze(&dynamics(0.1), &EnumerateOptions::default());
    assert_eq!(slip.solutions.components[0].modes[0], Mode::Slide);
    assert!((slip.solutions.components[0].acceleration[0] - 4.055429078887465).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In a problem that is planar in disguise (nothing couples to the second tangent) the cone gives a
    /// solution that the planar enumeration lists.
    #[test]
    fn planar_in_disguise(x in proptest::collection::vec(-1.0..1.0f64, 4), q in proptest::collection::vec(-1.0..1.0f64, 2), mu in 0.1..0.8f64) {
        let g = Matrix::from_vec(2, 2, x);
        let mut w = g.mul(&g.transpose());
        w[(0, 0)] += 1.0;
        w[(1, 1)] += 1.0;
        let full = Matrix::from_fn(3, 3, |i, j| if i < 2 && j < 2 { w[(i, j)] } else if i == j { 1.0 } else { 0.0 });
        let free = [q[0] - 1.0, q[1], 0.0];
        let laws = [Law::Coulomb { mu }];
        let s = one_solution(&ContactView::new(&full, &free, &laws).unwrap(), 1e-10);
        prop_assert_eq!(s.status, Status::Solved);
        let set = enumerate_contact(&w, &free[..2], &[Law::CoulombPlane { mu }], &EnumerateOptions::default());
        let near = set.components.iter().any(|p| (p.force[0] - s.impulse[0]).abs() + (p.force[1] - s.impulse[1]).abs() < 1e-8);
        prop_assert!(near && s.impulse[2].abs() < 1e-9);
    }

    /// Two contacts, a joint and cones of both kinds: solved to 1e-10, and the two laws agree where nothing
    /// slides.
    #[test]
    fn cones_with_joints(x in proptest::collection::vec(-1.0..1.0f64, 49), q in proptest::collection::vec(-1.0..1.0f64, 7), mu in 0.05..0.5f64) {
        let g = Matrix::from_vec(7, 7, x);
        let mut w = g.mul(&g.transpose());
        for i in 0..7 {
            w[(i, i)] += 2.0;
        }
        for associated in [false, true] {
            let law = if associated { Law::Cone { mu } } else { Law::Coulomb { mu } };
            let laws = [Law::Bilateral, law, law];
            let s = one_solution(&ContactView::new(&w, &q, &laws).unwrap(), 1e-10);
            prop_assert_eq!(s.status, Status::Solved, "{} {}", associated, s.residual);
        }
    }
}
