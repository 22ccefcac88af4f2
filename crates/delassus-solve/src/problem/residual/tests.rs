//! Tests of `residual`.

use proptest::prelude::*;

use super::*;
use crate::linalg::Matrix;
use crate::problem::law::Slip;

fn relative(w: &Matrix, q: &[f64], law: Law, f: &[f64]) -> f64 {
    let laws = [law];
    residual(&ContactView::new(w, q, &laws).unwrap(), f).relative
}

#[test]
fn zero_at_the_closed_form_of_every_law() {
    let w = Matrix::diagonal(&[2.0, 4.0]);
    // Sliding block pressed with q_n = −6: f_n = 3, friction −μ f_n against the slip.
    let slide = Law::Sliding { mu: 0.5, slip: Slip::Plane(-1.0) };
    assert!(relative(&w, &[-6.0, 1.0], slide, &[3.0, 1.5]) < 1e-15);
    // Stick: f_t = −q_t/4 = −0.25 within 0.5·3; one tenth off shows.
    let stick = Law::CoulombPlane { mu: 0.5 };
    assert!(relative(&w, &[-6.0, 1.0], stick, &[3.0, -0.25]) < 1e-15);
    assert!(relative(&w, &[-6.0, 1.0], stick, &[3.0, -0.2]) > 1e-3);
    // Slides off: q_t = 20 asks −5, the limit is −1.5; u_t = 20 − 6 = 14 > 0 agrees.
    assert!(relative(&w, &[-6.0, 20.0], stick, &[3.0, -1.5]) < 1e-15);
    // A guide pushed to the other side: f_n = −3, friction opposes the slip with |f_n|.
    let guide = Law::BilateralSliding { mu: 0.5, slip: Slip::Plane(1.0) };
    assert!(relative(&w, &[6.0, 1.0], guide, &[-3.0, -1.5]) < 1e-15);
    assert!(relative(&w, &[6.0, 1.0], guide, &[-3.0, 1.5]) > 0.1);
}

#[test]
fn coulomb_and_cone_differ_while_sliding() {
    let w = Matrix::identity(3);
    let q = [-1.0, 2.0, 0.0];
    // Coulomb, mu = 0.5: f = (1, −0.5, 0), u = (0, 1.5, 0).
    assert!(relative(&w, &q, Law::Coulomb { mu: 0.5 }, &[1.0, -0.5, 0.0]) < 1e-15);
    assert!(relative(&w, &q, Law::Cone { mu: 0.5 }, &[1.0, -0.5, 0.0]) > 0.1);
    // Cone: minimise ½|f|² + q·f on the cone: f = P_K(−q) = P_K(1, −2, 0) = (1.6, −0.8, 0).
    assert!(relative(&w, &q, Law::Cone { mu: 0.5 }, &[1.6, -0.8, 0.0]) < 1e-15);
}

#[test]
fn a_constraint_that_nothing_moves_counts_in_any_units() {
    // The joint has the velocity 8 whatever happens; the contact beside it is pressed and solved.
    let laws = [Law::Bilateral, Law::Unilateral];
    for mobility in [1e-12, 1.0, 1e12] {
        let (w, q) = (Matrix::diagonal(&[0.0, mobility]), [8.0, -8.0]);
        let solved = [0.0, 8.0 / mobility];
        let relative = residual(&ContactView::new(&w, &q, &laws).unwrap(), &solved).relative;
        assert!((relative - 0.5f64.sqrt()).abs() < 1e-12, "{mobility}: {relative}");
        let found = crate::solve(&w, &q, &laws).unwrap();
        assert_eq!(found.status, crate::problem::Status::NoSolution, "{mobility}");
    }
}

#[test]
fn free_of_units() {
    let law = Law::CoulombPlane { mu: 0.7 };
    let (w, q, f) = (Matrix::from_rows(&[[2.0, 0.3], [0.3, 1.0]]), [-1.0, 0.4], [0.6, -0.3]);
    let scaled = Matrix::from_fn(2, 2, |i, j| 1e6 * w[(i, j)]);
    let a = relative(&w, &q, law, &f);
    let b = relative(&scaled, &[-1e3, 4e2], law, &[6e-4, -3e-4]);
    assert!((a - b).abs() < 1e-12 * a, "{a} {b}");
}

/// Moreau: p = P_K(x) exactly where p ∈ K, p − x ∈ K* and p · (p − x) = 0; `inside` and `dual` are by how
/// much the first two fail.
fn is_projection(x: &[f64], p: &[f64], inside: f64, dual: f64) {
    let size = norm(x).max(f64::MIN_POSITIVE);
    let power: f64 = p.iter().zip(x).map(|(p, x)| p * (p - x)).sum();
    // A few dozen roundings of numbers of the size of x.
    let worst = inside.max(dual).max(power.abs() / size) / size;
    assert!(worst < 1e-13, "{x:?} to {p:?}: {inside} {dual} {power}");
}

fn check_rolling(x: &[f64], mu: f64, rolling: f64) {
    let mut p = x.to_vec();
    project_rolling(&mut p, mu, rolling);
    let d: Vec<f64> = p.iter().zip(x).map(|(p, x)| p - x).collect();
    let inside = (-p[0]).max(norm(&p[1..3]) - mu * p[0]).max(norm(&p[3..]) - rolling * p[0]);
    is_projection(x, &p, inside, mu * norm(&d[1..3]) + rolling * norm(&d[3..]) - d[0]);
}

fn check_spinning(x: &[f64], mu: f64, rolling: f64, spinning: f64) {
    let mut p = x.to_vec();
    project_spinning(&mut p, mu, rolling, spinning);
    let d: Vec<f64> = p.iter().zip(x).map(|(p, x)| p - x).collect();
    let sizes = |x: &[f64]| [norm(&x[1..3]), norm(&x[3..5]), x[5].abs()];
    let limits = [mu, rolling, spinning];
    let outside = sizes(&p).iter().zip(limits).map(|(size, mu)| size - mu * p[0]).fold(-p[0], f64::max);
    let push: f64 = sizes(&d).iter().zip(limits).map(|(size, mu)| mu * size).sum();
    is_projection(x, &p, outside, push - d[0]);
}

fn check_ellipse(x: &[f64], mu: [f64; 2]) {
    let mut p = x.to_vec();
    project_ellipse(&mut p, mu);
    let d: Vec<f64> = p.iter().zip(x).map(|(p, x)| p - x).collect();
    // p_i = μ_i s_i with ‖s‖ ≤ p_n; a tangent without friction carries nothing.
    let s = [0, 1].map(|i| if mu[i] > 0.0 { p[1 + i] / mu[i] } else { 0.0 });
    let idle = [0, 1].map(|i| if mu[i] > 0.0 { 0.0 } else { p[1 + i].abs() });
    let inside = (mu[0].max(mu[1])).min(1.0) * (s[0].hypot(s[1]) - p[0]);
    is_projection(
        x,
        &p,
        inside.max(-p[0]).max(idle[0]).max(idle[1]),
        (mu[0] * d[1]).hypot(mu[1] * d[2]) - d[0],
    );
}

#[test]
fn projections_without_friction_and_at_the_origin() {
    for a in [-2.0, 0.0, 3.0] {
        for mu in [[0.0, 0.0], [0.0, 0.5], [0.7, 0.0], [0.5, 0.5], [1e-9, 2.0], [1e-9, 1e-9]] {
            for t in [[0.0, 0.0], [1.0, 0.0], [0.0, -1.0], [1.0, 1.0], [1e-8, -1e4]] {
                check_ellipse(&[a, t[0], t[1]], mu);
                check_rolling(&[a, t[0], 0.0, t[1], 0.0], mu[0], mu[1]);
                let (x, mut p) = ([a, t[0], t[1]], [a, t[0], t[1]]);
                project_cone(&mut p, mu[0]);
                let dual = mu[0] * (p[1] - x[1]).hypot(p[2] - x[2]) - (p[0] - x[0]);
                is_projection(&x, &p, (-p[0]).max(norm(&p[1..]) - mu[0] * p[0]), dual);
            }
        }
    }
}

#[test]
fn round_cones_are_special_cases() {
    for x in [[0.3, 1.0, -2.0], [-0.4, 0.6, 0.5], [2.0, 0.1, 0.2], [-3.0, 1.0, 1.0], [0.0, 1.0, 0.0]] {
        let (mut round, mut ellipse) = (x, x);
        let mut rolling = [x[0], x[1], x[2], 0.0, 0.0];
        project_cone(&mut round, 0.8);
        project_ellipse(&mut ellipse, [0.8, 0.8]);
        project_rolling(&mut rolling, 0.8, 0.3);
        for i in 0..3 {
            assert!((round[i] - ellipse[i]).abs() < 1e-15 * norm(&x) * 8.0, "{round:?} {ellipse:?}");
            assert!((round[i] - rolling[i]).abs() < 1e-15 * norm(&x) * 8.0, "{round:?} {rolling:?}");
        }
    }
}

#[test]
fn nearest_by_trying_many_points() {
    // A second method: no point of a fine grid on the cone's boundary and axis is nearer.
    let x = [0.2, 1.5, -0.7];
    let mu = [0.9, 0.2];
    let mut p = x;
    project_ellipse(&mut p, mu);
    let distance = |p: &[f64; 3]| norm(&[p[0] - x[0], p[1] - x[1], p[2] - x[2]]);
    let mut best = f64::INFINITY;
    for i in 0..2000 {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / 2000.0).sin_cos();
        for k in 0..2000 {
            let n = f64::from(k) * 1e-3;
            best = best.min(distance(&[n, mu[0] * n * cos, mu[1] * n * sin]));
        }
    }
    // The grid is 1e-3 in n and 3e-3 in angle: its best point is second-order near.
    assert!(distance(&p) <= best && best - distance(&p) < 1e-5, "{} {best}", distance(&p));
}

proptest! {
    #[test]
    fn projection_on_the_rolling_cone(x in prop::collection::vec(-3.0f64..3.0, 5), mu in 0.0f64..2.0, r in 0.0f64..2.0) {
        check_rolling(&x, mu, r);
    }

    #[test]
    fn projection_on_the_spinning_cone(x in prop::collection::vec(-3.0f64..3.0, 6), mu in 0.0f64..2.0, r in 0.0f64..2.0, s in 0.0f64..2.0) {
        check_spinning(&x, mu, r, s);
    }

    #[test]
    fn projection_on_the_elliptic_cone(x in prop::collection::vec(-3.0f64..3.0, 3), a in -6.0f64..1.0, b in -6.0f64..1.0) {
        check_ellipse(&x, [10.0_f64.powf(a), 10.0_f64.powf(b)]);
    }
}

#[test]
fn rolling_and_elliptic_friction() {
    let q = [-2.0, 3.0, 0.0, 0.0, 0.1];
    // W = 1: pressed with 2, slides along tangent 1 (limit 1), the moment 0.1 is within 0.2·2 and holds.
    let rolling = Law::Rolling { mu: 0.5, rolling: 0.2 };
    let f = [2.0, -1.0, 0.0, 0.0, -0.1];
    assert!(relative(&Matrix::identity(5), &q, rolling, &f) < 1e-15);
    assert!(relative(&Matrix::identity(5), &q, rolling, &[2.0, -1.0, 0.0, 0.0, 0.0]) > 1e-3);
    // At rest, the moment 0.5 beyond its limit 0.4 by 0.1/√1.04, measured with ρ = 1/9, the mobility of
    // row 5.
    let w = Matrix::diagonal(&[1.0, 1.0, 1.0, 1.0, 9.0]);
    let q = [-2.0, 0.0, 0.0, 0.0, 4.5];
    let e = relative(&w, &q, rolling, &[2.0, 0.0, 0.0, 0.0, -0.5]);
    assert!((e - 0.9 / 1.04_f64.sqrt() / norm(&q)).abs() < 1e-14, "{e}");
    // Ellipse (0.5, 0.1): u_t = (0, u_2) slides with −0.1·2 and u along both obeys f_i = −μ_i² u_i f_n/‖μ
    // u‖.
    let ellipse = Law::CoulombEllipse { mu: [0.5, 0.1] };
    let w = Matrix::identity(3);
    assert!(relative(&w, &[-2.0, 0.0, 1.0], ellipse, &[2.0, 0.0, -0.2]) < 1e-15);
    let u = [0.0, 1.0, 2.0];
    let size = 0.5_f64.hypot(0.2);
    let f = [2.0, -0.25 * 2.0 / size, -0.01 * 2.0 * 2.0 / size];
    let q = [-2.0, u[1] - f[1], u[2] - f[2]];
    assert!(relative(&w, &q, ellipse, &f) < 1e-15);
    let laws = [ellipse];
    let r = residual(&ContactView::new(&w, &q, &laws).unwrap(), &f);
    assert!(r.force < 1e-15 && r.velocity < 1e-15 && r.power < 1e-15, "{r:?}");
    assert!(worst_constraint(&ContactView::new(&w, &q, &laws).unwrap(), &f) < 1e-14);
    assert!(relative(&w, &q, ellipse, &[2.0, f[1], -f[2]]) > 1e-2);
}

#[test]
fn a_force_without_bound_hides_nothing() {
    // Nothing moves the contact apart (W = 0), and it approaches: there is no solution, however large the
    // force.
    assert_eq!(relative(&Matrix::zeros(1, 1), &[-1.0], Law::Unilateral, &[1e30]), 1.0);
    let w = Matrix::zeros(3, 3);
    assert_eq!(relative(&w, &[-1.0, 0.0, 0.0], Law::Coulomb { mu: 0.5 }, &[1e30, 0.0, 0.0]), 1.0);
    assert_eq!(relative(&w, &[-1.0, 0.0, 0.0], Law::Cone { mu: 0.5 }, &[1e30, 0.0, 0.0]), 1.0);
}

#[test]
fn restitution_of_a_ball_that_rubs() {
    // W = diag(1/2, 1), q = (0, 3): at the end of compression, still sliding. p_n ≥ 4 opens with u_n = 2, and
    // friction at its limit leaves u_t = 3 − ½·4 = 1.
    let w = Matrix::from_rows(&[[0.5, 0.0], [0.0, 1.0]]);
    let laws = [Law::CoulombPlane { mu: 0.5 }];
    let problem = ContactView::new(&w, &[0.0, 3.0], &laws).unwrap();
    let of = |n: f64, t: f64| residual_with_least_normal(&problem, &[n, t], &[4.0]);
    assert_eq!(of(4.0, -2.0), 0.0);
    // ρ = 1: half a unit more than the least, where the contact opens, is half a unit off; scale ‖(3, 4)‖.
    assert!((of(4.5, -2.25) - 0.5 / 5.0).abs() < 1e-15);
    // Half of the friction that there is: off by the other half.
    assert!((of(4.0, -1.0) - 1.0 / 5.0).abs() < 1e-15);
    // Less than the least.
    assert!((of(3.0, -1.5) - 1.0 / 5.0).abs() < 1e-15);
    assert_eq!(of(f64::NAN, 0.0), f64::INFINITY);
}

#[test]
fn nan_is_worst() {
    assert_eq!(relative(&Matrix::identity(1), &[-1.0], Law::Unilateral, &[f64::NAN]), f64::INFINITY);
}
