//! 001: each proposition where it holds and where it fails, the counterexamples to what is printed, golden
//! values, and random systems against exact arithmetic.

use delassus_solve::analysis::theorems::*;
use delassus_solve::analysis::{Finding, Outcome, one_solution};
use delassus_solve::linalg::{Matrix, max_abs};
use delassus_solve::modes::exact_answer;
use delassus_solve::problem::{
    ContactView, Dynamics, Law, Status, constrained_delassus, constrained_inverse_mass, reduced_coordinates,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::golden::{self, matrix, numbers as vector};
use crate::support::near::{all_near, near};

use Outcome::{Fails, Holds, NotApplicable};

/// A case of the reference values.
pub fn golden(id: &str) -> Value {
    golden::case(id).0
}

/// Joints (gradient, γ) first, then contacts.
pub fn system(mass: Matrix, force: &[f64], joints: &[(&[f64], f64)], contacts: &[(&[f64], f64)]) -> Dynamics {
    let rows: Vec<_> = joints.iter().chain(contacts).collect();
    let laws = [vec![Law::Bilateral; joints.len()], vec![Law::Unilateral; contacts.len()]].concat();
    let jacobian = Matrix::from_fn(rows.len(), force.len(), |i, j| rows[i].0[j]);
    Dynamics::new(mass, force.to_vec(), jacobian, rows.iter().map(|r| r.1).collect(), laws).unwrap()
}

/// A finding is what is claimed of it, its certificate verifies, and exact enumeration does not contradict
/// it.
pub fn truthful(d: &Dynamics, f: &Finding) {
    if let Some(c) = &f.certificate {
        assert!(c.verify(), "{}: {:?}", f.id, c.facts);
        assert_eq!((c.id, c.claims), (f.id, f.claims));
    } else {
        assert_eq!(f.claims, Default::default(), "{} claims without a certificate", f.id);
    }
    if let Some(truth) = exact_answer(d, 4096) {
        let answers = [
            (f.claims.existence, truth.existence),
            (f.claims.acceleration_unique, truth.acceleration_unique),
            (f.claims.forces_unique, truth.forces_unique),
        ];
        for (claim, truth) in answers {
            assert!(claim.is_none_or(|c| c == truth), "{}: {:?}, {d:?}", f.id, f.claims);
        }
    }
}

/// The finding, after its outcome and its truth were checked.
pub fn found(d: &Dynamics, says: fn(&Dynamics) -> Finding, outcome: Outcome) -> Finding {
    let f = says(d);
    assert_eq!(f.outcome, outcome, "{}: {} {:?} {:?}", f.id, f.meaning, f.value, f.bound);
    truthful(d, &f);
    f
}

fn one(n: usize) -> Matrix {
    Matrix::identity(n)
}

const E1: &[f64] = &[1.0, 0.0, 0.0];
const E2: &[f64] = &[0.0, 1.0, 0.0];
const LOAD: &[f64] = &[1.0, -2.0, 9.81];

/// The rod of 001 §4.3: a tip at a wall (contact), the other end guided (joint), at the angle of a golden
/// case.
fn rod(case: &Value) -> Dynamics {
    let [m, l, t] = ["m", "l_half", "theta"].map(|k| case["inputs"][k].as_f64().unwrap());
    system(
        Matrix::diagonal(&[m, m, m * l * l / 3.0]),
        LOAD,
        &[(&[0.0, 1.0, -l * t.cos()], 0.0)],
        &[(&[1.0, 0.0, l * t.sin()], 0.0)],
    )
}

/// The three-point block of 001 Example 1.
fn block(case: &Value) -> Dynamics {
    let [m, g, f1] = ["m", "g", "f1"].map(|k| case["inputs"][k].as_f64().unwrap());
    let foot: (&[f64], f64) = (&[1.0, 0.0], 0.0);
    system(Matrix::diagonal(&[m, m]), &[m * g + f1, 0.0], &[], &[foot, foot, foot])
}

/// Contact and joint on one direction, with these curvature terms.
fn overlap(of_joint: f64, of_contact: f64) -> Dynamics {
    system(one(2), &[1.0, 0.0], &[(&[1.0, 0.0], of_joint)], &[(&[1.0, 0.0], of_contact)])
}

#[test]
fn prop_001_1_holds_for_independent_contacts() {
    let d = system(one(3), LOAD, &[], &[(E1, 0.5), (&[1.0, 1.0, 0.0], -3.0)]);
    let f = found(&d, prop_001_1, Holds);
    assert_eq!(f.claims.forces_unique, Some(true));
    assert!(f.value.unwrap() > 0.0);
    // With joints it is not asked; with friction nothing of the paper is.
    assert_eq!(prop_001_1(&overlap(0.0, 0.0)).outcome, NotApplicable);
    let friction =
        Dynamics::new(one(2), vec![0.0; 2], one(2), vec![0.0; 2], vec![Law::CoulombPlane { mu: 0.1 }]);
    assert!(all_001(&friction.unwrap()).is_empty());
}

#[test]
fn prop_001_1_fails_for_the_three_point_block() {
    let case = golden("001.block3.f1_0");
    let d = block(&case);
    let f = found(&d, prop_001_1, Fails);
    assert_eq!(f.claims, Default::default());
    let r = d.reduce().unwrap();
    assert!(all_near(r.delassus.data(), matrix(&case["expected"]["A"]["value"]).data(), 1e-12));
    assert!(all_near(&r.free_velocity, &vector(&case["expected"]["H0"]["value"]), 1e-12));
    assert_eq!(r.delassus.rank() as f64, case["expected"]["rank_A"]["value"].as_f64().unwrap());
}

#[test]
fn prop_001_2_holds_for_the_three_point_block() {
    for id in ["001.block3.f1_0", "001.block3.f1_-25"] {
        let case = golden(id);
        let d = block(&case);
        let f = found(&d, prop_001_2, Holds);
        assert_eq!((f.claims.acceleration_unique, f.claims.forces_unique), (Some(true), None));
        // ∇h λ (not ∇hᵀλ) is what solutions share: all on one foot is as good as the least norm.
        let sum = case["expected"]["lambda_sum"]["value"].as_f64().unwrap();
        for force in [vec![sum, 0.0, 0.0], vector(&case["expected"]["lambda_minnorm"]["value"])] {
            let a = d.reduce().unwrap().acceleration(&force);
            near(a[0], case["expected"]["xdd"]["value"].as_f64().unwrap(), 1e-9);
        }
    }
}

#[test]
fn prop_001_2_fails_where_there_is_no_solution() {
    // Walls that leave no room: y″ ≥ 0 and −y″ ≥ 2.
    let d = system(one(2), &[0.0, 1.0], &[], &[(&[0.0, 1.0], 0.0), (&[0.0, -1.0], -2.0)]);
    assert_eq!(found(&d, prop_001_2, Fails).claims.acceleration_unique, Some(false));
}

#[test]
fn prop_001_3_holds_for_gradients_that_do_not_turn() {
    // (ii) between two walls there is no room, but γ = 0.
    let walls = |gamma: f64| system(one(2), &[0.0, 1.0], &[], &[(&[0.0, 1.0], 0.0), (&[0.0, -1.0], gamma)]);
    assert_eq!(found(&walls(0.0), prop_001_3, Holds).claims.existence, Some(true));
    // (i) walls that part.
    assert_eq!(found(&walls(2.0), prop_001_3, Holds).claims.existence, Some(true));
}

#[test]
fn prop_001_3_fails_between_closing_walls() {
    // z = (1, 1) has Az = 0 and zᵀH₀ = −2.
    let d = system(one(2), &[0.0, 1.0], &[], &[(&[0.0, 1.0], 0.0), (&[0.0, -1.0], -2.0)]);
    assert_eq!(found(&d, prop_001_3, Fails).claims.existence, Some(false));
}

#[test]
fn prop_001_4_holds_for_gradients_that_do_not_turn() {
    // Redundant: the acceleration is one, forces are not.
    let f = found(&overlap(0.0, 0.0), prop_001_4, Holds);
    assert_eq!((f.claims.acceleration_unique, f.claims.forces_unique), (Some(true), None));
    // (ii) independent: forces too.
    let d = system(one(3), LOAD, &[(E1, 0.0)], &[(E2, 0.0)]);
    assert_eq!(found(&d, prop_001_4, Holds).claims.forces_unique, Some(true));
}

#[test]
fn prop_001_4_fails_where_a_gradient_turns() {
    assert_eq!(found(&overlap(0.0, -2.0), prop_001_4, Fails).claims, Default::default());
}

#[test]
fn prop_001_5_holds_for_orthogonal_joints() {
    // A joint that is orthogonal to the tip of the rod without being g = βy + δ: g = x − (l/3) ln tan(θ/2).
    let (m, l, t) = (1.5, 0.7, 0.3_f64);
    let d = system(
        Matrix::diagonal(&[m, m, m * l * l / 3.0]),
        LOAD,
        &[(&[1.0, 0.0, -l / (3.0 * t.sin())], 0.7)],
        &[(&[1.0, 0.0, l * t.sin()], 0.4)],
    );
    found(&d, prop_001_5, Holds);
    let r = d.reduce().unwrap();
    // A_c = A.
    near(constrained_delassus(&r.delassus, &[1], &[0])[(0, 0)], r.delassus[(1, 1)], 1e-9);
}

#[test]
fn prop_001_5_fails_for_the_guided_rod() {
    let case = golden("001.rod43.theta0.3000");
    let f = found(&rod(&case), prop_001_5, Fails);
    near(f.value.unwrap(), case["expected"]["cos_kinetic_angle"]["value"].as_f64().unwrap(), 1e-9);
}

#[test]
fn lemma_001_1_holds_for_the_guided_rod() {
    for id in ["001.rod43.theta0.3000", "001.rod43.theta0.7854"] {
        let case = golden(id);
        let d = rod(&case);
        assert!(found(&d, lemma_001_1, Holds).value.unwrap() < 1e-14);
        let mc = constrained_inverse_mass(&d.mass, &d.jacobian.select_rows(&[0])).unwrap();
        assert!(all_near(mc.data(), matrix(&case["expected"]["M_c_inv"]["value"]).data(), 1e-10));
    }
}

#[test]
fn lemma_001_1_fails_for_dependent_joints() {
    let d = system(one(3), LOAD, &[(E1, 0.0), (&[3.0, 0.0, 0.0], 0.0)], &[]);
    for says in [lemma_001_1, lemma_001_2, lemma_001_3] {
        found(&d, says, Fails);
    }
}

#[test]
fn lemma_001_1_idempotents_are_not_symmetric() {
    // What its proof, and that of Prop. 13, take for orthogonal projectors: I − GM⁻¹ is idempotent, not
    // symmetric, and not its own pseudoinverse.
    let case = golden("001.qp.instance");
    let mass = matrix(&case["inputs"]["M"]);
    let g = matrix(&case["inputs"]["grad_g"]).transpose();
    let mc = constrained_inverse_mass(&mass, &g).unwrap();
    let projector = mass.mul(&mc);
    let twice = projector.mul(&projector);
    assert!(all_near(twice.data(), projector.data(), 1e-13));
    assert!(projector.asymmetry() > 0.1);
    let inverse = projector.pseudo_solve_matrix(&one(3));
    assert!(!all_near(inverse.data(), projector.data(), 0.1));
}

#[test]
fn lemma_001_2_holds_for_the_guided_rod() {
    let case = golden("001.rod43.theta0.7854");
    let f = found(&rod(&case), lemma_001_2, Holds);
    assert_eq!((f.value, f.bound), (Some(2.0), Some(2.0)));
    assert_eq!(f.value, case["expected"]["rank_Mc_inv"]["value"].as_f64());
}

#[test]
fn lemma_001_2_fails_for_dependent_joints() {
    // Two joints on one direction leave two motions, not one.
    let d = system(one(3), LOAD, &[(E1, 0.0), (E1, 0.0)], &[(E2, 0.0)]);
    let f = found(&d, lemma_001_2, Fails);
    assert_eq!((f.value, f.bound), (Some(2.0), Some(1.0)));
}

#[test]
fn lemma_001_3_holds_for_the_guided_rod() {
    let f = found(&rod(&golden("001.rod43.theta0.3000")), lemma_001_3, Holds);
    assert!(f.value.unwrap() > -1e-14 && f.certificate.is_some());
}

#[test]
fn lemma_001_3_fails_for_dependent_joints() {
    found(&system(one(3), LOAD, &[(E1, 0.0), (E1, 0.0)], &[(E2, 0.0)]), lemma_001_3, Fails);
}

#[test]
fn prop_001_6_holds_where_a_joint_takes_over() {
    // Forces are any λ_b + λ_u = 1, λ_u ≥ 0; the acceleration is one.
    let f = found(&overlap(0.0, 0.0), prop_001_6, Holds);
    assert_eq!((f.claims.acceleration_unique, f.claims.forces_unique), (Some(true), None));
    assert!(!exact_answer(&overlap(0.0, 0.0), 16).unwrap().forces_unique);
}

#[test]
fn prop_001_6_fails_for_dependent_joints_and_for_torn_contacts() {
    found(&system(one(3), LOAD, &[(E1, 0.0), (E1, 1.0)], &[(E2, 0.0)]), prop_001_6, Fails);
    assert_eq!(found(&overlap(0.0, -2.0), prop_001_6, Fails).claims.existence, Some(false));
}

#[test]
fn corollary_001_1_holds_for_separate_directions() {
    let d = system(one(3), LOAD, &[(E1, 0.0)], &[(E2, 0.0), (&[0.0, 2.0, 0.0], 0.0)]);
    let f = found(&d, corollary_001_1, Holds);
    assert_eq!((f.value, f.bound), (Some(2.0), Some(2.0)));
}

#[test]
fn corollary_001_1_fails_on_a_shared_direction() {
    let f = found(&overlap(0.0, 0.0), corollary_001_1, Fails);
    assert_eq!((f.value, f.bound), (Some(1.0), Some(2.0)));
}

#[test]
fn lemma_001_4_holds_where_the_constraints_leave_room() {
    assert_eq!(found(&overlap(0.0, 2.0), lemma_001_4, Holds).claims.existence, Some(true));
    let d = system(one(3), LOAD, &[(E1, 1.0)], &[(E2, -5.0), (&[0.0, 1.0, 1.0], 3.0)]);
    assert_eq!(found(&d, lemma_001_4, Holds).claims.existence, Some(true));
}

#[test]
fn lemma_001_4_fails_for_a_contact_that_the_joint_tears() {
    // ∇h = ∇g, γ_u = −2: 0·λ − 2 ≥ 0.
    assert_eq!(found(&overlap(0.0, -2.0), lemma_001_4, Fails).claims.existence, Some(false));
}

#[test]
fn lemma_001_5_holds_where_the_constraints_leave_room() {
    assert_eq!(found(&overlap(0.0, 2.0), lemma_001_5, Holds).claims.acceleration_unique, Some(true));
}

#[test]
fn lemma_001_5_fails_for_a_contact_that_the_joint_tears() {
    assert_eq!(found(&overlap(1.0, -2.0), lemma_001_5, Fails).claims.acceleration_unique, Some(false));
}

#[test]
fn prop_001_7_holds_for_the_guided_rod() {
    for id in ["001.rod43.theta0.3000", "001.rod43.theta0.7854"] {
        let case = golden(id);
        let d = rod(&case);
        let f = found(&d, prop_001_7, Holds);
        assert_eq!(f.claims.forces_unique, Some(true));
        let theta = f.value.unwrap();
        near(theta, case["expected"]["kinetic_angle_h_g"]["value"].as_f64().unwrap(), 1e-9);
        let r = d.reduce().unwrap();
        let (a, a_c) = (r.delassus[(1, 1)], constrained_delassus(&r.delassus, &[1], &[0])[(0, 0)]);
        near(a, case["expected"]["A"]["value"].as_f64().unwrap(), 1e-9);
        near(a_c, case["expected"]["A_c"]["value"].as_f64().unwrap(), 1e-9);
        near(a_c, a * theta.sin().powi(2), 1e-9);
    }
}

#[test]
fn prop_001_7_fails_at_angle_zero_and_at_pi() {
    // Printed: "except θ = 0". At θ = π A_c vanishes just as well.
    let case = golden("001.prop7");
    let h = vector(&case["inputs"]["grad_h"]);
    let angles = vector(&case["expected"]["angles"]["value"]);
    for (alpha, angle) in vector(&case["inputs"]["alpha"]).iter().zip(angles) {
        let g: Vec<f64> = h.iter().map(|x| alpha * x).collect();
        let d = system(Matrix::diagonal(&[1.0, 2.0]), &[1.0, 1.0], &[(&g, 0.0)], &[(&h, 0.0)]);
        let f = found(&d, prop_001_7, Fails);
        assert!((f.value.unwrap() - angle).abs() < 1e-7);
        let a_c = constrained_delassus(&d.reduce().unwrap().delassus, &[1], &[0]);
        assert!(a_c[(0, 0)].abs() < 1e-15);
    }
}

#[test]
fn prop_001_7_is_not_decided_next_to_colinear() {
    let d = system(one(2), &[1.0, 1.0], &[(&[1.0, 1.0], 0.0)], &[(&[1.0, 1.0 + 1e-7], 0.0)]);
    let f = found(&d, prop_001_7, Outcome::Undecided);
    assert_eq!(f.claims, Default::default());
}

#[test]
fn prop_001_8_holds_without_colinear_pairs() {
    // Necessary, not sufficient: no pair is colinear, but e₁ = (e₁ + e₂) − e₂.
    let d = system(one(3), LOAD, &[(&[1.0, 1.0, 0.0], 0.0), (E2, 0.0)], &[(E1, 0.0)]);
    let f = found(&d, prop_001_8, Holds);
    assert_eq!(f.claims, Default::default());
    found(&d, prop_001_10, Fails);
}

#[test]
fn prop_001_8_fails_for_a_colinear_pair() {
    let d = system(one(3), LOAD, &[(&[-3.0, -3.0, 0.0], 0.0)], &[(E2, 0.0), (&[1.0, 1.0, 0.0], 0.0)]);
    near(found(&d, prop_001_8, Fails).value.unwrap(), 1.0, 1e-9);
}

/// The orthogonal families of the golden values: M = I₄, contacts e₁ and e₂.
fn families(set: &str) -> Dynamics {
    let g = matrix(&golden("001.thm1")["inputs"][set]).transpose();
    let (e1, e2) = ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]);
    system(one(4), &[1.0; 4], &[(g.row(0), 0.3), (g.row(1), 0.0)], &[(&e1, -1.0), (&e2, 2.0)])
}

/// One contact in the plane of two joints at right angles: Σ cos² = 1.
fn spanned() -> Dynamics {
    system(one(3), LOAD, &[(&[1.0, 1.0, 0.0], 0.0), (&[1.0, -1.0, 0.0], 0.0)], &[(E1, 0.0)])
}

#[test]
fn theorem_001_1_holds_for_orthogonal_families() {
    let case = golden("001.thm1");
    for (set, a_c) in [("g_set1", "A_c_1"), ("g_set2", "A_c_2")] {
        let d = families(set);
        let expected = matrix(&case["expected"][a_c]["value"]);
        let f = found(&d, theorem_001_1, Holds);
        assert_eq!(f.claims.forces_unique, Some(true));
        let got = constrained_delassus(&d.reduce().unwrap().delassus, &[2, 3], &[0, 1]);
        assert!(all_near(got.data(), expected.data(), 1e-12));
        // A_c = I − C Cᵀ here.
        near(1.0 - f.value.unwrap(), got.symmetric_eigenvalues()[0], 1e-9);
    }
}

#[test]
fn theorem_001_1_fails_where_joints_span_the_contact() {
    near(found(&spanned(), theorem_001_1, Fails).value.unwrap(), 1.0, 1e-9);
    // It does not speak of families that are not orthogonal.
    let d = system(one(3), LOAD, &[(&[1.0, 1.0, 0.0], 0.0), (E2, 0.0)], &[(E1, 0.0)]);
    assert_eq!(theorem_001_1(&d).outcome, NotApplicable);
}

#[test]
fn corollary_001_2_holds_for_orthogonal_families() {
    let case = golden("001.thm1");
    for (set, sums) in [("g_set1", "cor2_sums_1"), ("g_set2", "cor2_sums_2")] {
        let top = max_abs(&vector(&case["expected"][sums]["value"]));
        near(found(&families(set), corollary_001_2, Holds).value.unwrap(), top, 1e-9);
    }
}

#[test]
fn corollary_001_2_fails_where_joints_span_the_contact() {
    found(&spanned(), corollary_001_2, Fails);
}

#[test]
fn corollary_001_3_holds_for_orthogonal_families() {
    assert_eq!(found(&families("g_set2"), corollary_001_3, Holds).claims.forces_unique, Some(true));
}

#[test]
fn corollary_001_3_fails_where_theorem_1_still_holds() {
    // cos = 0.8, 0.3, 0.3: row sum 0.8·1.4 > 1, but the largest eigenvalue is 0.82.
    let g = [0.8, 0.3, 0.3, 0.18_f64.sqrt()];
    let e = |i: usize| -> Vec<f64> { (0..4).map(|j| f64::from(u8::from(i == j))).collect() };
    let d = system(one(4), &[1.0; 4], &[(&g, 0.0)], &[(&e(0), 0.0), (&e(1), 0.0), (&e(2), 0.0)]);
    let f = found(&d, corollary_001_3, Fails);
    near(f.value.unwrap(), 1.12, 1e-9);
    near(found(&d, theorem_001_1, Holds).value.unwrap(), 0.82, 1e-9);
}

#[test]
fn prop_001_9_holds_for_weak_couplings() {
    let d = system(
        one(4),
        &[1.0; 4],
        &[(&[0.3, 0.1, 1.0, 0.05], 0.0), (&[0.1, -0.3, 0.0, 1.0], 0.0)],
        &[(&[1.0, 0.05, 0.0, 0.0], 0.0), (&[0.0, 1.0, 0.0, 0.0], 0.0)],
    );
    let f = found(&d, prop_001_9, Holds);
    assert_eq!(f.claims.forces_unique, Some(true));
    assert!(f.value.unwrap() < 0.5);
}

#[test]
fn prop_001_9_fails_for_strong_couplings_among_joints() {
    // (36) alone is not enough: the joints e₁ ± ¼e₂ are nearly parallel, e₂ is half their difference. Σ cos²
    // = 2/17, far below 1, and yet A_c = 0: the couplings between the joints are not small.
    let d = system(one(3), LOAD, &[(&[1.0, 0.25, 0.0], 0.0), (&[1.0, -0.25, 0.0], 0.0)], &[(E2, 0.0)]);
    assert!(found(&d, prop_001_9, Fails).value.unwrap() > 1.0 - 1e-12);
    found(&d, prop_001_10, Fails);
}

/// Contacts e₁ and 2e₂, joints coupled to them by ε = 1 in pairs, with these other parts.
fn paired(a: f64, b: f64) -> Dynamics {
    let (g1, g2) = ([1.0, 0.0, a, 0.0], [0.0, 0.5, 0.0, b]);
    let (h1, h2) = ([1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]);
    system(one(4), &[1.0; 4], &[(&g1, 0.0), (&g2, 0.0)], &[(&h1, 0.0), (&h2, 0.0)])
}

#[test]
fn corollary_001_4_holds_for_weak_pairs() {
    // A = diag(1, 4), A_b = diag(2, 1.25): bound √1.25 > ε = 1.
    let f = found(&paired(1.0, 1.0), corollary_001_4, Holds);
    near(f.value.unwrap(), 1.0, 1e-9);
    near(f.bound.unwrap(), 1.25_f64.sqrt(), 1e-9);
    assert_eq!(f.claims.forces_unique, Some(true));
}

#[test]
fn corollary_001_4_fails_for_strong_pairs() {
    // A_b = diag(1.09, 0.29): bound √0.29 < 1; nothing follows (and A_c > 0 all the same).
    let d = paired(0.3, 0.2);
    let f = found(&d, corollary_001_4, Fails);
    near(f.bound.unwrap(), 0.29_f64.sqrt(), 1e-9);
    found(&d, prop_001_10, Holds);
}

#[test]
fn prop_001_10_holds_for_independent_constraints() {
    let case = golden("001.qp.instance");
    let d = instance(&case);
    let f = found(&d, prop_001_10, Holds);
    assert_eq!(f.claims.forces_unique, Some(true));
    let a_c = constrained_delassus(&d.reduce().unwrap().delassus, &[1, 2], &[0]);
    assert!(all_near(a_c.data(), matrix(&case["expected"]["A_c"]["value"]).data(), 1e-9));
}

#[test]
fn prop_001_10_fails_for_a_contact_in_the_span_of_the_joints() {
    found(&spanned(), prop_001_10, Fails);
}

#[test]
fn corollary_001_5_holds_with_enough_coordinates() {
    let f = found(&system(one(3), LOAD, &[(E1, 0.0)], &[(E2, 0.0)]), corollary_001_5, Holds);
    assert_eq!((f.value, f.bound), (Some(2.0), Some(3.0)));
}

#[test]
fn corollary_001_5_fails_with_more_constraints_than_coordinates() {
    let case = golden("001.cor5");
    let (h, g) =
        (matrix(&case["inputs"]["grad_h"]).transpose(), matrix(&case["inputs"]["grad_g"]).transpose());
    let d = system(one(3), LOAD, &[(g.row(0), 0.0), (g.row(1), 0.0)], &[(h.row(0), 0.0), (h.row(1), 0.0)]);
    let f = found(&d, corollary_001_5, Fails);
    assert_eq!((f.value, f.bound), (Some(4.0), Some(3.0)));
    let a_c = constrained_delassus(&d.reduce().unwrap().delassus, &[2, 3], &[0, 1]);
    assert!(all_near(a_c.data(), matrix(&case["expected"]["A_c"]["value"]).data(), 1e-12));
}

#[test]
fn prop_001_11_holds_for_the_three_point_block() {
    assert_eq!(found(&block(&golden("001.block3.f1_0")), prop_001_11, Holds).claims.existence, Some(true));
    // H₀ ∈ R(A) with turning gradients: γ = (1, 2) over rows (e, 2e).
    let d = system(one(2), &[0.0, 1.0], &[], &[(&[0.0, 1.0], 1.0), (&[0.0, 2.0], 2.0)]);
    found(&d, prop_001_11, Holds);
}

#[test]
fn prop_001_11_fails_where_contacts_cannot_all_be_kept() {
    // Sufficient, not necessary: the contacts cannot both be kept, yet there is a solution (Prop. 3).
    let d = system(one(2), &[0.0, 1.0], &[], &[(&[0.0, 1.0], 0.0), (&[0.0, 1.0], -1.0)]);
    assert_eq!(found(&d, prop_001_11, Fails).claims, Default::default());
    assert_eq!(found(&d, prop_001_3, Holds).claims.existence, Some(true));
}

#[test]
fn prop_001_12_holds_for_gradients_that_do_not_turn() {
    // F = (1, 5) is not in R(∇h), which (iii) asks for as printed and does not need.
    let d = system(one(2), &[1.0, 5.0], &[(&[1.0, 0.0], 0.0)], &[(&[1.0, 0.0], 0.0)]);
    assert_eq!(found(&d, prop_001_12, Holds).claims.existence, Some(true));
}

#[test]
fn prop_001_12_fails_where_constraints_cannot_all_be_kept() {
    assert_eq!(found(&overlap(0.0, 2.0), prop_001_12, Fails).claims, Default::default());
}

/// The fixed instance of the golden values.
fn instance(case: &Value) -> Dynamics {
    let i = &case["inputs"];
    let (g, h) = (matrix(&i["grad_g"]).transpose(), matrix(&i["grad_h"]).transpose());
    let (of_g, of_h) = (vector(&i["gamma_g"]), vector(&i["gamma_h"]));
    system(
        matrix(&i["M"]),
        &vector(&i["F"]),
        &[(g.row(0), of_g[0])],
        &[(h.row(0), of_h[0]), (h.row(1), of_h[1])],
    )
}

#[test]
fn prop_001_13_holds_for_the_fixed_instance() {
    let f = found(&instance(&golden("001.qp.instance")), prop_001_13, Holds);
    assert_eq!(f.claims.acceleration_unique, Some(true));
    assert!(f.value.unwrap() < 1e-7);
    // A_c singular: (56) still gives the acceleration.
    found(&overlap(0.0, 2.0), prop_001_13, Holds);
}

#[test]
fn prop_001_13_fails_where_there_is_no_solution() {
    assert_eq!(found(&overlap(0.0, -2.0), prop_001_13, Fails).claims.existence, Some(false));
}

#[test]
fn prop_001_14_holds_where_no_contact_is_taken_over() {
    let f = found(&instance(&golden("001.qp.instance")), prop_001_14, Holds);
    assert_eq!(f.claims.acceleration_unique, Some(true));
}

#[test]
fn prop_001_14_fails_where_the_joints_span_a_contact() {
    // Empty for γ_u = −2, not for γ_u = 2: "for any γ" is what fails.
    for gamma in [-2.0, 2.0] {
        assert_eq!(found(&overlap(0.0, gamma), prop_001_14, Fails).claims, Default::default());
    }
    found(&spanned(), prop_001_14, Fails);
}

#[test]
fn prop_001_15_holds_with_rank_m() {
    // n = 3, p = m = 1: rank 1 = m is enough; rank n − p = 2, as printed, cannot be had by a 2 × 1 matrix.
    let d = rod(&golden("001.rod43.theta0.3000"));
    let f = found(&d, prop_001_15, Holds);
    assert_eq!((f.value, f.bound), (Some(1.0), Some(1.0)));
    let r = reduced_coordinates(&d).unwrap();
    assert_eq!((r.dynamics.jacobian.rows(), r.dynamics.jacobian.cols()), (1, 2));
}

#[test]
fn prop_001_15_fails_for_a_contact_in_the_span_of_the_joints() {
    let f = found(&spanned(), prop_001_15, Fails);
    assert_eq!((f.value, f.bound), (Some(0.0), Some(1.0)));
}

#[test]
fn hyperstatic_with_fewer_contacts_than_coordinates() {
    // "Hyperstatic implies m ≥ n" (Remark 7) is false: a table in space, n = 6, four legs, rank 3.
    let case = golden("001.remark7");
    let legs: Vec<Vec<f64>> = case["inputs"]["legs"].as_array().unwrap().iter().map(vector).collect();
    let rows: Vec<Vec<f64>> = legs.iter().map(|l| vec![0.0, 0.0, 1.0, l[1], -l[0], 0.0]).collect();
    let contacts: Vec<(&[f64], f64)> = rows.iter().map(|r| (r.as_slice(), 0.0)).collect();
    let d = system(one(6), &[0.0, 0.0, 9.81, 0.0, 0.0, 0.0], &[], &contacts);
    found(&d, prop_001_1, Fails);
    found(&d, prop_001_2, Holds);
    assert_eq!(d.jacobian.rank() as f64, case["expected"]["rank_grad_h"]["value"].as_f64().unwrap());
}

#[test]
fn reduced_coordinates_of_the_elliptic_manipulator() {
    // 001 Example 2: g = 4q₁² + q₂² − 1 at q₂ = 0.6, q̇₂ = 0.4; T₁₂ = −½ q₂/√(1 − q₂²) (corrected).
    let case = golden("001.ex2.elliptic");
    let g = vector(&case["expected"]["grad_g"]["value"]);
    let rate = [-0.375 * 0.4, 0.4];
    let gamma = 8.0 * rate[0] * rate[0] + 2.0 * rate[1] * rate[1];
    let d = system(one(2), &[0.0, 0.0], &[(&g, gamma)], &[(&[1.0, 1.0], 0.0)]);
    let r = reduced_coordinates(&d).unwrap();
    assert_eq!((r.dependent.as_slice(), r.independent.as_slice()), ([0].as_slice(), [1].as_slice()));
    let value = |key: &str| case["expected"][key]["value"].clone();
    near(r.basis[(0, 0)], matrix(&value("T"))[(0, 1)], 1e-9);
    near(r.dynamics.mass[(0, 0)], value("reduced_mass").as_f64().unwrap(), 1e-9);
    near(r.dynamics.force[0], vector(&value("Fbar"))[1], 1e-9);
    let a_r = r.dynamics.reduce().unwrap().delassus[(0, 0)];
    near(a_r, value("A_r").as_f64().unwrap(), 1e-9);
    near(
        constrained_delassus(&d.reduce().unwrap().delassus, &[1], &[0])[(0, 0)],
        value("A_c").as_f64().unwrap(),
        1e-9,
    );
}

#[test]
fn reduced_coordinates_drop_joints_that_repeat() {
    let repeat = |gamma: f64| system(one(3), LOAD, &[(E1, 1.0), (&[2.0, 0.0, 0.0], gamma)], &[(E2, 0.0)]);
    assert_eq!(reduced_coordinates(&repeat(2.0)).unwrap().independent, [1, 2]);
    // The same joint with another bias contradicts.
    assert!(reduced_coordinates(&repeat(3.0)).is_none());
}

fn solved(problem: &ContactView<'_>) -> Option<Vec<f64>> {
    let s = one_solution(problem, 1e-10);
    (s.status == Status::Solved).then_some(s.impulse)
}

#[test]
fn reduced_coordinates_give_the_fixed_instance() {
    let case = golden("001.qp.instance");
    let d = instance(&case);
    let r = reduced_coordinates(&d).unwrap();
    let inner = r.dynamics.reduce().unwrap();
    let force = solved(&inner.problem(&r.dynamics.laws).unwrap()).unwrap();
    let a = r.acceleration(&inner.acceleration(&force));
    assert!(all_near(&a, &vector(&case["expected"]["qdd_mixed"]["value"]), 1e-9));
    let all = r.forces(&d, &a, &force);
    assert!(all_near(&all[..1], &vector(&case["expected"]["lambda_b"]["value"]), 1e-9));
    assert!(all_near(&all[1..], &vector(&case["expected"]["lambda_u"]["value"]), 1e-9));
}

/// n = 5, two joints, two contacts, conditions below a few hundred.
fn random() -> impl Strategy<Value = Dynamics> {
    let (n, p, m) = (5, 2, 2);
    proptest::collection::vec(-1.0..1.0f64, n * n + n + (m + p) * (n + 1)).prop_map(move |x| {
        let g = Matrix::from_vec(n, n, x[..n * n].to_vec());
        let mut mass = g.mul(&g.transpose()).symmetric_part();
        (0..n).for_each(|i| mass[(i, i)] += 0.5);
        let rest = &x[n * n..];
        Dynamics::new(
            mass,
            rest[..n].iter().map(|f| 5.0 * f).collect(),
            Matrix::from_vec(m + p, n, rest[n..n + (m + p) * n].to_vec()),
            rest[n + (m + p) * n..].to_vec(),
            [vec![Law::Bilateral; p], vec![Law::Unilateral; m]].concat(),
        )
        .unwrap()
    })
}

/// Small whole numbers, so that dependence, contradiction and zero curvature are common and exact.
pub fn degenerate() -> impl Strategy<Value = Dynamics> {
    (1usize..4, 0usize..3, 0usize..4, any::<bool>()).prop_flat_map(|(n, p, m, flat)| {
        let count = n * n + n + (m + p) * (n + 1);
        proptest::collection::vec(-2i8..=2, count).prop_map(move |x| {
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let g = Matrix::from_vec(n, n, x[..n * n].to_vec());
            let mut mass = g.mul(&g.transpose());
            (0..n).for_each(|i| mass[(i, i)] += 1.0);
            let rest = &x[n * n..];
            let bias = rest[n + (m + p) * n..].iter().map(|b| if flat { 0.0 } else { *b }).collect();
            let laws = [vec![Law::Bilateral; p], vec![Law::Unilateral; m]].concat();
            let jacobian = Matrix::from_vec(m + p, n, rest[n..n + (m + p) * n].to_vec());
            Dynamics::new(mass, rest[..n].to_vec(), jacobian, bias, laws).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Lemma 1–3 by measurement: M_c⁻¹∇g = 0, ∇gᵀM_c⁻¹ = 0, rank n − p, no negative eigenvalue. W has entries
    /// of a few units and a condition below 1e4 here, so rounding stays below 1e-10.
    #[test]
    fn kernel_and_rank_of_the_constrained_inverse_mass(d in random()) {
        let g = d.jacobian.select_rows(&[0, 1]);
        let w = g.mul(&d.mass.solve_positive_definite(&g.transpose()).unwrap());
        prop_assume!(*w.singular_values().last().unwrap() > 1e-3);
        let mc = constrained_inverse_mass(&d.mass, &g).unwrap();
        prop_assert!(mc.mul(&g.transpose()).max_abs() < 1e-10);
        prop_assert!(g.mul(&mc).max_abs() < 1e-10 && mc.asymmetry() < 1e-10);
        let values = mc.symmetric_eigenvalues();
        prop_assert!(values[0] > -1e-10 && values[1].abs() < 1e-10 && values[2] > 1e-3, "{:?}", values);
        for says in [lemma_001_1, lemma_001_2, lemma_001_3] {
            prop_assert_eq!(says(&d).outcome, Holds);
        }
    }

    /// A_r = A_c, and both methods find one acceleration and one set of forces, to rounding.
    #[test]
    fn reduced_coordinates_agree_with_multipliers(d in random()) {
        let outer = d.reduce().unwrap();
        prop_assume!(*outer.delassus.singular_values().last().unwrap() > 1e-3);
        let r = reduced_coordinates(&d).unwrap();
        let inner = r.dynamics.reduce().unwrap();
        let a_c = constrained_delassus(&outer.delassus, &[2, 3], &[0, 1]);
        prop_assert!(all_near(inner.delassus.data(), a_c.data(), 1e-10));
        let by_multipliers = solved(&outer.problem(&d.laws).unwrap()).unwrap();
        let force = solved(&inner.problem(&r.dynamics.laws).unwrap()).unwrap();
        let a = r.acceleration(&inner.acceleration(&force));
        let b = outer.acceleration(&by_multipliers);
        prop_assert!(all_near(&a, &b, 1e-9 * (1.0 + max_abs(&b))), "{:?} {:?}", a, b);
        let all = r.forces(&d, &a, &force);
        prop_assert!(all_near(&all, &by_multipliers, 1e-8 * (1.0 + max_abs(&all))));
        // Well away from dependence everything is decided.
        prop_assert_eq!(found(&d, prop_001_10, Holds).claims.forces_unique, Some(true));
    }

    /// No finding claims what exact enumeration contradicts, and every certificate verifies.
    #[test]
    fn findings_are_true_of_degenerate_systems(d in degenerate()) {
        for f in all_001(&d) {
            truthful(&d, &f);
            prop_assert_ne!(f.outcome, NotApplicable);
        }
    }
}
