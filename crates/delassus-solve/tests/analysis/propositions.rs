//! Propositions and equations of the papers, each where it holds and where it fails.

use delassus_solve::analysis::{Analysis, analyze, friction_bounds};
use delassus_solve::lcp::{Verdict, guide_horizontal_lcp, sliding_lcp};
use delassus_solve::linalg::{Matrix, norm};
use delassus_solve::modes::{EnumerateOptions, enumerate};
use delassus_solve::problem::{
    Dynamics, Law, Slip, constrained_delassus, constrained_inverse_mass, kinetic_angle,
};

fn dynamics(mass: &[f64], force: &[f64], rows: &[&[f64]], bias: &[f64], laws: &[Law]) -> Dynamics {
    let n = mass.len();
    let jacobian = Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
    Dynamics::new(Matrix::diagonal(mass), force.to_vec(), jacobian, bias.to_vec(), laws.to_vec()).unwrap()
}

fn answer(d: &Dynamics) -> Analysis {
    analyze(d, &EnumerateOptions::default())
}

const JOINT: Law = Law::Bilateral;
const CONTACT: Law = Law::Unilateral;

#[test]
fn prop_000_1_singular_mass_held_by_joints() {
    // Ker M = span(e₂), held by the joint y = 0: one solution for any load, although M is singular.
    for load in [[0.0, 0.0], [1.0, -2.0], [-3.0, 5.0]] {
        let a = answer(&dynamics(&[2.0, 0.0], &load, &[&[0.0, 1.0]], &[0.5], &[JOINT]));
        assert_eq!((a.existence, a.acceleration_unique), (Verdict::Proved, Verdict::Proved));
        let p = &a.solutions.components[0];
        assert!((p.acceleration[0] + load[0] / 2.0).abs() < 1e-14 && (p.acceleration[1] + 0.5).abs() < 1e-14);
        assert!((p.force[0] - load[1]).abs() < 1e-14);
    }
}

#[test]
fn prop_000_1_massless_motion_is_not_determined() {
    // The joint holds x; the massless y is free: no solution under a load on y, infinitely many without.
    let with = |load: f64| answer(&dynamics(&[2.0, 0.0], &[0.0, load], &[&[1.0, 0.0]], &[0.0], &[JOINT]));
    assert_eq!(with(1.0).existence, Verdict::Refuted);
    assert_eq!((with(0.0).existence, with(0.0).acceleration_unique), (Verdict::Proved, Verdict::Refuted));
    // Incompatible joints: y″ = 0 and y″ = 1.
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 1.0]];
    let torn = dynamics(&[1.0, 1.0], &[0.0, 0.0], &rows, &[0.0, -1.0], &[JOINT, JOINT]);
    assert_eq!(answer(&torn).existence, Verdict::Refuted);
}

#[test]
fn prop_000_3_independent_contacts_are_unique() {
    let rows: [&[f64]; 2] = [&[1.0, 0.2], &[0.3, 1.0]];
    for load in [[1.0, 1.0], [-1.0, 2.0], [1.0, -3.0], [-1.0, -1.0]] {
        let a = answer(&dynamics(&[1.0, 2.0], &load, &rows, &[0.1, -0.2], &[CONTACT, CONTACT]));
        assert_eq!(
            (a.existence, a.acceleration_unique, a.forces_unique),
            (Verdict::Proved, Verdict::Proved, Verdict::Proved)
        );
    }
}

#[test]
fn prop_000_3_dependent_contacts_are_not() {
    // Two contacts on one line: ∇h λ is unique (ii), λ is not (i fails).
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let a = answer(&dynamics(&[1.0, 1.0], &[0.0, 9.81], &rows, &[0.0, 0.0], &[CONTACT, CONTACT]));
    assert_eq!((a.acceleration_unique, a.forces_unique), (Verdict::Proved, Verdict::Refuted));
    let f = a.minimum_norm.unwrap();
    assert!((f[0] + 2.0 * f[1] - 9.81).abs() < 1e-12);
    // Curved walls that leave no room (iv): y ≥ 0 and −y − x² ≥ 0 at x′ = 1.
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, -1.0]];
    let a = answer(&dynamics(&[1.0, 1.0], &[0.0, 9.81], &rows, &[0.0, -2.0], &[CONTACT, CONTACT]));
    assert_eq!(a.existence, Verdict::Refuted);
}

#[test]
fn eq_000_9_contacts_without_friction() {
    let rows: [&[f64]; 2] = [&[1.0, 0.5], &[0.0, 1.0]];
    let d = dynamics(&[2.0, 4.0], &[3.0, 5.0], &rows, &[0.1, 0.2], &[CONTACT, CONTACT]);
    let r = d.reduce().unwrap();
    let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
    // A = N M⁻¹ Nᵀ, w = γ − N M⁻¹ F by hand.
    let a = [0.5 + 0.25 / 4.0, 0.5 / 4.0, 0.5 / 4.0, 0.25];
    let w = [0.1 - 1.5 - 0.5 * 1.25, 0.2 - 1.25];
    assert!(lift.lcp.matrix.data().iter().zip(&a).all(|(x, y)| (x - y).abs() < 1e-15));
    assert!(lift.lcp.vector.iter().zip(&w).all(|(x, y)| (x - y).abs() < 1e-15));
}

#[test]
fn eq_000_32_constrained_delassus_matrix() {
    let mass = Matrix::from_rows(&[[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]);
    let g = Matrix::from_rows(&[[1.0, 1.0, 1.0]]);
    let h = Matrix::from_rows(&[[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]);
    let all = g.stack(&h);
    let w = all.mul(&mass.solve_positive_definite(&all.transpose()).unwrap());
    let mc = constrained_inverse_mass(&mass, &g).unwrap();
    let direct = h.mul(&mc).mul(&h.transpose());
    let schur = constrained_delassus(&w, &[1, 2], &[0]);
    assert!((0..4).all(|k| (direct.data()[k] - schur.data()[k]).abs() < 1e-14));
    // The held direction is dead: M_c⁻¹ ∇g = 0; and holding it twice changes nothing.
    assert!(norm(&mc.mul_vec(g.row(0))) < 1e-14);
    let twice = g.stack(&g).stack(&h);
    let w2 = twice.mul(&mass.solve_positive_definite(&twice.transpose()).unwrap());
    let again = constrained_delassus(&w2, &[2, 3], &[0, 1]);
    assert!((0..4).all(|k| (again.data()[k] - schur.data()[k]).abs() < 1e-13));
}

#[test]
fn eq_000_41_sliding_guides() {
    // Painlevé–Klein rod at 60°: A_nb − A_tb[μξ] and A_nb + A_tb[μξ].
    let (c2, sc) = (0.25, 3f64.sqrt() / 4.0);
    let (mu, xi) = (0.4, -1.0);
    let guide = Law::BilateralSliding { mu, slip: Slip::Plane(xi) };
    let (s, c) = (0.75f64.sqrt(), 0.5);
    let rows: [&[f64]; 4] = [&[0.0, 1.0, c], &[1.0, 0.0, -s], &[0.0, 1.0, -c], &[1.0, 0.0, s]];
    let d = dynamics(&[1.0, 1.0, 1.0 / 3.0], &[0.0, 9.81, 0.0], &rows, &[0.0; 4], &[guide, guide]);
    let r = d.reduce().unwrap();
    let lift = guide_horizontal_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
    let normal = [[1.0 + 3.0 * c2, 1.0 - 3.0 * c2], [1.0 - 3.0 * c2, 1.0 + 3.0 * c2]];
    let slip = [[-3.0 * sc, 3.0 * sc], [3.0 * sc, -3.0 * sc]];
    for i in 0..2 {
        for j in 0..2 {
            assert!((lift.hlcp.a[(i, j)] - (normal[i][j] - slip[i][j] * mu * xi)).abs() < 1e-14);
            assert!((lift.hlcp.b[(i, j)] - (normal[i][j] + slip[i][j] * mu * xi)).abs() < 1e-14);
        }
    }
}

#[test]
fn eq_000_38_bound_of_the_guided_rod() {
    // One guide: the bound is exact (000 after Prop. 9). a = 2.5, h = 1.5 as for the rod at 45°.
    let w = Matrix::from_rows(&[[2.5, -1.5], [-1.5, 2.5]]);
    let laws = |mu: f64| [Law::BilateralSliding { mu, slip: Slip::Plane(-1.0) }];
    let bound = friction_bounds(&w, &laws(1.0))[0];
    assert_eq!(bound.id, "000.prop9");
    assert!((bound.bound - 5.0 / 3.0).abs() < 1e-14);
    let count = |mu: f64, q: f64| {
        let set =
            delassus_solve::modes::enumerate_contact(&w, &[q, 0.0], &laws(mu), &EnumerateOptions::default());
        set.components.len()
    };
    // Below: one solution whatever pushes. Above: none or two.
    assert_eq!((count(1.6, -1.0), count(1.6, 1.0)), (1, 1));
    assert_eq!((count(1.7, -1.0), count(1.7, 1.0)), (0, 2));
    // A contact that sticks has no such bound.
    assert!(friction_bounds(&w, &[Law::CoulombPlane { mu: 1.0 }]).is_empty());
}

#[test]
fn eq_001_9_kinetic_angle() {
    use std::f64::consts::PI;
    // Orthogonal in the kinetic metric, parallel, opposed; and undefined for a vanishing gradient.
    assert!((kinetic_angle(1.0, 0.0, 4.0).unwrap() - PI / 2.0).abs() < 1e-15);
    assert!((kinetic_angle(1.0, 2.0, 4.0).unwrap() - PI).abs() < 1e-7);
    assert!(kinetic_angle(1.0, -2.0, 4.0).unwrap().abs() < 1e-7);
    assert_eq!(kinetic_angle(0.0, 0.0, 1.0), None);
}

fn table(legs: &[[f64; 2]]) -> Dynamics {
    let rows: Vec<Vec<f64>> = legs.iter().map(|[x, y]| vec![1.0, *y, -*x]).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    dynamics(&[1.0, 0.4, 0.4], &[9.81, 0.0, 0.0], &rows, &vec![0.0; legs.len()], &vec![CONTACT; legs.len()])
}

#[test]
fn prop_002_52_table_minimum_norm() {
    // Four legs around the centre: a quarter each is the least norm; each leg carries between 0 and a half.
    let a = answer(&table(&[[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]));
    for (f, [low, high]) in a.minimum_norm.as_ref().unwrap().iter().zip(&a.intervals) {
        assert!((f - 9.81 / 4.0).abs() < 1e-12);
        assert!(low.abs() < 1e-9 && (high - 9.81 / 2.0).abs() < 1e-9, "{low} {high}");
    }
    // Only (1, −1, 1, −1) moves, so here the shared part is the least-norm force itself.
    let (shared, least) = (a.unique_part().unwrap(), a.minimum_norm.as_ref().unwrap());
    assert!(shared.iter().zip(least).all(|(x, y)| (x - y).abs() < 1e-12));
    // Three legs determine everything.
    let three = answer(&table(&[[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0]]));
    assert_eq!(three.forces_unique, Verdict::Proved);
}

#[test]
fn prop_002_52_overlapping_groups() {
    // A joint and a contact on one direction: G λ is unique, but neither G₁λ₁ nor G₂λ₂ (item 3 as printed
    // fails).
    let rows: [&[f64]; 2] = [&[1.0], &[1.0]];
    let set = enumerate(
        &dynamics(&[1.0], &[1.0], &rows, &[0.0, 0.0], &[JOINT, CONTACT]),
        &EnumerateOptions::default(),
    );
    let p = &set.components[0];
    let d = p.freedom.as_ref().unwrap();
    assert!((p.force[0] - 0.5).abs() < 1e-12 && (p.force[1] - 0.5).abs() < 1e-12);
    assert!((d.force[(0, 0)] + d.force[(1, 0)]).abs() < 1e-12 && d.force[(0, 0)].abs() > 0.1);
    assert_eq!(d.acceleration.max_abs(), 0.0);
}
