//! The propositions of 000, each where it holds and where it fails, and where the paper is wrong the
//! counterexample. Every finding is compared with the list of all solutions, which knows nothing of
//! propositions.

use delassus_solve::analysis::theorems::*;
use delassus_solve::analysis::theorems::{all_000, all_003};
use delassus_solve::analysis::{Claims, Fact, Finding, Outcome, analyze, fact};
use delassus_solve::lcp::{Verdict, p_matrix, sliding_lcp};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{EnumerateOptions, enumerate};
use delassus_solve::problem::{Dynamics, Law, Slip};

use crate::support::golden::case as golden;
use crate::support::random::Random;

const JOINT: Law = Law::Bilateral;
const CONTACT: Law = Law::Unilateral;

fn slides(mu: f64, e: f64) -> Law {
    Law::Sliding { mu, slip: Slip::Plane(e) }
}

fn guide(mu: f64, e: f64) -> Law {
    Law::BilateralSliding { mu, slip: Slip::Plane(e) }
}

/// Mass by its diagonal.
fn problem(mass: &[f64], force: &[f64], rows: &[&[f64]], bias: &[f64], laws: &[Law]) -> Dynamics {
    let jacobian = Matrix::from_fn(rows.len(), mass.len(), |i, j| rows[i][j]);
    Dynamics::new(Matrix::diagonal(mass), force.to_vec(), jacobian, bias.to_vec(), laws.to_vec()).unwrap()
}

/// Asserts the outcome, that claims agree with the list of all solutions, and that the certificate is
/// checked.
fn check(f: &Finding, d: &Dynamics, outcome: Outcome, claims: [Option<bool>; 3]) {
    let [existence, acceleration_unique, forces_unique] = claims;
    assert_eq!(f.outcome, outcome, "{}: {}", f.id, f.meaning);
    assert_eq!(f.claims, Claims { existence, acceleration_unique, forces_unique }, "{}", f.id);
    agrees(f, d);
}

fn agrees(f: &Finding, d: &Dynamics) {
    exactly(f, d);
    let all = analyze(d, &EnumerateOptions::default());
    for (claim, truth) in [
        (f.claims.existence, all.existence),
        (f.claims.acceleration_unique, all.acceleration_unique),
        (f.claims.forces_unique, all.forces_unique),
    ] {
        let against = match claim {
            Some(true) => truth == Verdict::Refuted,
            Some(false) => truth == Verdict::Proved,
            None => false,
        };
        assert!(!against, "{} claims {:?}, all solutions say {truth:?}: {d:?}", f.id, f.claims);
    }
}

/// The certificate is checked, and the claims are those of the exact list of all modes.
fn exactly(f: &Finding, d: &Dynamics) {
    assert_eq!(f.certificate.is_some(), f.claims != Claims::default(), "{}", f.id);
    if let Some(c) = &f.certificate {
        assert!(c.verify() && c.claims == f.claims && c.id == f.id, "{}: {:?} of {d:?}", f.id, c.facts);
        assert!(fact(d, &Fact::AllModes(f.claims)), "{} claims {:?} of {d:?}", f.id, f.claims);
    }
}

const ONE: [Option<bool>; 3] = [Some(true); 3];
const NONE: [Option<bool>; 3] = [Some(false); 3];
const SOLVABLE: [Option<bool>; 3] = [Some(true), None, None];
const ONE_ACCELERATION: [Option<bool>; 3] = [Some(true), Some(true), None];
const SILENT: [Option<bool>; 3] = [None; 3];

// Problems without friction.

#[test]
fn prop_000_1i_holds_for_a_singular_mass_that_the_joint_holds() {
    let d = problem(&[2.0, 0.0], &[1.0, -2.0], &[&[0.0, 1.0]], &[0.5], &[JOINT]);
    check(&prop_000_1i(&d), &d, Outcome::Holds, ONE);
}

#[test]
fn prop_000_1i_fails_for_a_massless_motion_that_nothing_holds() {
    let d = problem(&[2.0, 0.0], &[1.0, 0.0], &[&[1.0, 0.0]], &[0.5], &[JOINT]);
    check(&prop_000_1i(&d), &d, Outcome::Fails, SILENT);
    let contact = problem(&[1.0], &[1.0], &[&[1.0]], &[0.0], &[CONTACT]);
    assert_eq!(prop_000_1i(&contact).outcome, Outcome::NotApplicable);
}

#[test]
fn prop_000_1ii_holds_for_redundant_compatible_joints() {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let d = problem(&[2.0, 0.0], &[1.0, -2.0], &rows, &[0.5, 1.0], &[JOINT, JOINT]);
    check(&prop_000_1ii(&d), &d, Outcome::Holds, [Some(true), Some(true), Some(false)]);
    // Independent joints determine the forces, too.
    let d = problem(&[2.0, 0.0], &[1.0, -2.0], &[&[0.0, 1.0]], &[0.5], &[JOINT]);
    check(&prop_000_1ii(&d), &d, Outcome::Holds, ONE);
}

#[test]
fn prop_000_1ii_fails_for_joints_that_contradict_each_other() {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let d = problem(&[1.0, 1.0], &[1.0, -2.0], &rows, &[0.5, 2.0], &[JOINT, JOINT]);
    check(&prop_000_1ii(&d), &d, Outcome::Fails, NONE);
    let loose = problem(&[2.0, 0.0], &[1.0, 0.0], &[&[1.0, 0.0]], &[0.5], &[JOINT]);
    check(&prop_000_1ii(&loose), &loose, Outcome::Fails, SILENT);
}

#[test]
fn app_e_000_iii_and_iv_are_the_same_without_their_assumptions() {
    // (iii') also says no where the joints are dependent, where Prop. 1 (i) does not apply.
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let twice = problem(&[2.0, 1.0], &[1.0, -2.0], &rows, &[0.5, 1.0], &[JOINT, JOINT]);
    assert_eq!(prop_000_1i(&twice).outcome, Outcome::NotApplicable);
    check(&app_e_000_iii(&twice), &twice, Outcome::Fails, SILENT);
    check(&app_e_000_iv(&twice), &twice, Outcome::Holds, [Some(true), Some(true), Some(false)]);
    let once = problem(&[2.0, 0.0], &[1.0, -2.0], &rows[..1], &[0.5], &[JOINT]);
    check(&app_e_000_iii(&once), &once, Outcome::Holds, ONE);
    let torn = problem(&[2.0, 1.0], &[1.0, -2.0], &rows, &[0.5, 0.0], &[JOINT, JOINT]);
    check(&app_e_000_iv(&torn), &torn, Outcome::Fails, NONE);
}

#[test]
fn app_e_000_ii_n_equal_to_m_does_not_follow() {
    // M = I, F = (1, 0)ᵀ: no motion is unheld although n = 2 and m = 1.
    let c = golden("000.kkt.ranks");
    let (m, f) = (Matrix::identity(2), Matrix::from_rows(&[[1.0], [0.0]]));
    assert_eq!(unheld_motions(&m, &f) as f64, c.expected("dim_Ker_Atilde_cap_S")[0]);
    assert_eq!(unheld_motions(&Matrix::diagonal(&[1.0, 0.0]), &f), 1);
}

#[test]
fn eq_000_69_rank_of_the_kkt_matrix() {
    let c = golden("000.kkt.ranks");
    for (key, n) in [("A1", 2), ("A2", 2), ("A3", 2), ("A4", 2)] {
        let a = c.matrix(key);
        let m = Matrix::from_fn(n, n, |i, j| a[(i, j)]);
        let f = Matrix::from_fn(n, a.cols() - n, |i, j| -a[(i, n + j)]);
        assert_eq!(kkt_rank(&m, &f) as f64, c.expected(&format!("rank_{key}"))[0], "{key}");
    }
}

#[test]
fn eq_000_70_rank_with_another_column_block() {
    let c = golden("000.kkt.ranks");
    for (key, n) in [("A5", 2), ("A6", 2)] {
        let a = c.matrix(key);
        let m = Matrix::from_fn(n, n, |i, j| a[(i, j)]);
        let f = Matrix::from_fn(n, a.rows() - n, |i, j| a[(n + j, i)]);
        let other = Matrix::from_fn(n, a.cols() - n, |i, j| a[(i, n + j)]);
        assert_eq!(kkt_rank_with(&m, &f, &other) as f64, c.expected(&format!("rank_{key}"))[0], "{key}");
    }
    // Against the rank of the whole matrix, for random low ranks.
    let mut random = Random(3);
    let mut whole = |rows: usize, cols: usize, rank: usize| {
        let mut part = |r: usize, c: usize| Matrix::from_fn(r, c, |_, _| (random.unit() * 5.0).floor() - 2.0);
        part(rows, rank).mul(&part(rank, cols))
    };
    for trial in 0..200 {
        let (n, k) = (2 + trial % 3, 1 + trial % 2);
        let root = whole(n, n, 1 + trial % n);
        let m = root.mul(&root.transpose());
        let (f, other) = (whole(n, k, 1), whole(n, k, k));
        let block = |b: &Matrix, s: f64| {
            Matrix::from_fn(n + k, n + k, |i, j| match (i < n, j < n) {
                (true, true) => m[(i, j)],
                (true, false) => s * b[(i, j - n)],
                (false, true) => f[(j, i - n)],
                (false, false) => 0.0,
            })
        };
        assert_eq!(kkt_rank(&m, &f), block(&f, -1.0).rank());
        assert_eq!(kkt_rank_with(&m, &f, &other), block(&other, 1.0).rank());
    }
}

/// A particle under gravity between y ≥ 0 and −y + s x² ≥ 0 at x = 0, x′ = 1 (golden 000.prop3iv).
fn between_walls(s: f64) -> Dynamics {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, -1.0]];
    problem(&[1.0, 1.0], &[0.0, 9.81], &rows, &[0.0, 2.0 * s], &[CONTACT, CONTACT])
}

/// Two contacts on one line under gravity.
fn doubled() -> Dynamics {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    problem(&[1.0, 1.0], &[0.0, 9.81], &rows, &[0.0, 0.0], &[CONTACT, CONTACT])
}

#[test]
fn prop_000_3i_holds_for_independent_contacts() {
    let rows: [&[f64]; 2] = [&[1.0, 0.25], &[0.5, 1.0]];
    let d = problem(&[1.0, 2.0], &[-1.0, 3.0], &rows, &[0.1, -0.2], &[CONTACT, CONTACT]);
    check(&prop_000_3i(&d), &d, Outcome::Holds, ONE);
}

#[test]
fn prop_000_3i_fails_for_dependent_contacts() {
    check(&prop_000_3i(&doubled()), &doubled(), Outcome::Fails, SILENT);
    // Nearly dependent: not decided.
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[1e-11, 1.0]];
    let d = problem(&[1.0, 1.0], &[0.0, 1.0], &rows, &[0.0, 0.0], &[CONTACT, CONTACT]);
    assert_eq!(prop_000_3i(&d).outcome, Outcome::Undecided);
}

#[test]
fn prop_000_3ii_holds_wherever_there_is_a_solution() {
    let d = doubled();
    check(&prop_000_3ii(&d), &d, Outcome::Holds, ONE_ACCELERATION);
    // ∇h λ (no transpose: λ has one entry per contact, ∇h one column) is the same for all solutions.
    let set = enumerate(&d, &EnumerateOptions::default());
    let along = &set.components[0].freedom.as_ref().unwrap().force;
    let moved = d.jacobian.transpose().mul(along);
    assert!(along.max_abs() > 0.1 && moved.max_abs() < 1e-14);
}

#[test]
fn prop_000_3ii_fails_where_there_is_none() {
    check(&prop_000_3ii(&between_walls(-1.0)), &between_walls(-1.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_3iii_holds_between_walls_that_part() {
    check(&prop_000_3iii(&between_walls(1.0)), &between_walls(1.0), Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_3iii_fails_between_walls_that_close() {
    check(&prop_000_3iii(&between_walls(-1.0)), &between_walls(-1.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_3iv_holds_between_walls_that_part() {
    let c = golden("000.prop3iv");
    let d = between_walls(1.0);
    check(&prop_000_3iv(&d), &d, Outcome::Holds, SOLVABLE);
    let set = enumerate(&d, &EnumerateOptions::default());
    let want = c.expected("lambda_s+1");
    assert!(set.components[0].force.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-10));
}

#[test]
fn prop_000_3iv_fails_between_walls_that_close() {
    assert_eq!(golden("000.prop3iv").expected("n_solutions_s-1")[0], 0.0);
    check(&prop_000_3iv(&between_walls(-1.0)), &between_walls(-1.0), Outcome::Fails, NONE);
    // Parallel walls leave no room, but one acceleration: decided by exact arithmetic.
    check(&prop_000_3iv(&between_walls(0.0)), &between_walls(0.0), Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_3v_holds_for_curvature_within_the_range() {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let d = problem(&[1.0, 1.0], &[0.0, 9.81], &rows, &[-1.0, -2.0], &[CONTACT, CONTACT]);
    check(&prop_000_3v(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_3v_fails_for_curvature_outside_of_the_range() {
    // Only sufficient: this problem has a solution all the same.
    check(&prop_000_3v(&between_walls(1.0)), &between_walls(1.0), Outcome::Fails, SILENT);
    check(&prop_000_3iv(&between_walls(1.0)), &between_walls(1.0), Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_3vi_holds_where_contacts_hold_the_massless_motion() {
    let rows: [&[f64]; 2] = [&[1.0, 1.0], &[1.0, -1.0]];
    let d = problem(&[1.0, 0.0], &[2.0, 1.0], &rows, &[0.0, 0.0], &[CONTACT, CONTACT]);
    check(&prop_000_3vi(&d), &d, Outcome::Holds, SOLVABLE);
    // With mass everywhere nothing is left to hold.
    let d = problem(&[1.0, 3.0], &[2.0, 1.0], &rows[..1], &[0.0], &[CONTACT]);
    check(&prop_000_3vi(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_3vi_fails_where_a_massless_motion_is_free() {
    // y has no mass and may grow: pulled upward, no acceleration balances.
    let d = problem(&[1.0, 0.0], &[0.0, -1.0], &[&[0.0, 1.0]], &[0.0], &[CONTACT]);
    check(&prop_000_3vi(&d), &d, Outcome::Fails, SILENT);
    assert_eq!(analyze(&d, &EnumerateOptions::default()).existence, Verdict::Refuted);
    // No motion opens both walls.
    check(&prop_000_3vi(&between_walls(0.0)), &between_walls(0.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_4_holds_with_more_contacts_than_coordinates() {
    let rows: [&[f64]; 3] = [&[0.0, 1.0], &[1.0, 1.0], &[-1.0, 1.0]];
    let d = problem(&[1.0, 1.0], &[0.5, 9.81], &rows, &[0.0, 0.3, 0.1], &[CONTACT; 3]);
    check(&prop_000_4(&d), &d, Outcome::Holds, ONE_ACCELERATION);
}

#[test]
fn prop_000_4_fails_without_an_admissible_acceleration() {
    check(&prop_000_4(&between_walls(-1.0)), &between_walls(-1.0), Outcome::Fails, SILENT);
}

/// Golden 000.mixed_lcp: one joint, two contacts, all independent.
fn mixed() -> Dynamics {
    let rows: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[0.0, 1.0, 1.0], &[1.0, 0.0, 1.0]];
    let laws = [JOINT, CONTACT, CONTACT];
    problem(&[2.0, 1.0, 1.0], &[1.0, 2.0, 9.0], &rows, &[0.5, 0.2, -0.3], &laws)
}

/// A particle on y = 0 with the contact y − x² ≥ 0 (golden 000.prop7v_counterexample): γ_u = −2; other values
/// of γ_u for other curvatures.
fn on_the_joint(curvature: f64) -> Dynamics {
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 1.0]];
    problem(&[1.0, 1.0], &[0.0, 0.0], &rows, &[0.0, curvature], &[JOINT, CONTACT])
}

#[test]
fn prop_000_5_holds_for_a_joint_and_contacts() {
    check(&prop_000_5(&mixed()), &mixed(), Outcome::Holds, ONE_ACCELERATION);
}

#[test]
fn prop_000_5_fails_where_joint_and_contact_contradict() {
    check(&prop_000_5(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_6_holds_with_a_singular_mass() {
    let rows: [&[f64]; 2] = [&[1.0, 1.0], &[1.0, -1.0]];
    let d = problem(&[1.0, 0.0], &[2.0, 1.0], &rows, &[0.0, 0.0], &[CONTACT, CONTACT]);
    check(&prop_000_6(&d), &d, Outcome::Holds, SILENT);
}

#[test]
fn prop_000_6_fails_without_an_admissible_acceleration() {
    check(&prop_000_6(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn cor_000_1_holds_with_redundant_joints() {
    let rows: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[2.0, 2.0, 0.0], &[0.0, 1.0, 1.0]];
    let d = problem(&[2.0, 1.0, 1.0], &[1.0, 2.0, 9.0], &rows, &[0.5, 1.0, 0.25], &[JOINT, JOINT, CONTACT]);
    check(&cor_000_1(&d), &d, Outcome::Holds, ONE_ACCELERATION);
}

#[test]
fn cor_000_1_fails_without_an_admissible_acceleration() {
    check(&cor_000_1(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7i_holds_for_independent_constraints() {
    let d = mixed();
    check(&prop_000_7i(&d), &d, Outcome::Holds, ONE);
    let c = golden("000.mixed_lcp");
    let force = &enumerate(&d, &EnumerateOptions::default()).components[0].force;
    let want: Vec<f64> = c.expected("lambda_b").into_iter().chain(c.expected("lambda_u")).collect();
    assert!(force.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
}

#[test]
fn prop_000_7i_fails_for_a_contact_along_the_joint() {
    check(&prop_000_7i(&on_the_joint(1.0)), &on_the_joint(1.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7ii_holds_where_the_contact_repeats_the_joint() {
    // A_c = 0, w_c = 0: any contact force, taken back by the joint; nothing moves.
    check(&prop_000_7ii(&on_the_joint(0.0)), &on_the_joint(0.0), Outcome::Holds, ONE_ACCELERATION);
}

#[test]
fn prop_000_7ii_fails_where_there_is_no_solution() {
    check(&prop_000_7ii(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7iii_holds_for_separate_directions() {
    // Two contacts on one line, off the joint's direction.
    let rows: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 2.0, 0.0]];
    let d = problem(&[1.0; 3], &[0.0, 9.81, 0.0], &rows, &[0.5, 0.0, 0.0], &[JOINT, CONTACT, CONTACT]);
    check(&prop_000_7iii(&d), &d, Outcome::Holds, ONE_ACCELERATION);
}

#[test]
fn prop_000_7iii_fails_for_a_shared_direction() {
    check(&prop_000_7iii(&on_the_joint(1.0)), &on_the_joint(1.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7iv_holds_without_curvature() {
    let rows: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 2.0, 0.0]];
    let d = problem(&[1.0; 3], &[0.0, 9.81, 0.0], &rows, &[0.0; 3], &[JOINT, CONTACT, CONTACT]);
    check(&prop_000_7iv(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_7iv_fails_where_a_homogeneous_solution_points_down() {
    check(&prop_000_7iv(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7v_holds_corrected() {
    check(&prop_000_7v(&mixed()), &mixed(), Outcome::Holds, SOLVABLE);
    check(&prop_000_7v(&on_the_joint(1.0)), &on_the_joint(1.0), Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_7v_fails_where_the_printed_implication_holds() {
    // λ ≥ 0, ∇h_u λ = 0 only for λ = 0: the printed implication holds, and yet there is no solution.
    let c = golden("000.prop7v_counterexample");
    assert_eq!((c.input("gamma_u")[0], c.expected("n_solutions")[0]), (-2.0, 0.0));
    check(&prop_000_7v(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, NONE);
}

#[test]
fn prop_000_7vi_holds_where_the_constrained_matrix_is_regular() {
    check(&prop_000_7vi(&mixed()), &mixed(), Outcome::Holds, SOLVABLE);
    // A contact along the joint whose curvature agrees: zero is in the range of A_c = 0.
    let rows: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 2.0]];
    let d = problem(&[1.0, 3.0], &[0.5, 0.25], &rows, &[1.5, 3.0], &[JOINT, CONTACT]);
    check(&prop_000_7vi(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_7vi_fails_outside_of_the_range() {
    check(&prop_000_7vi(&on_the_joint(1.0)), &on_the_joint(1.0), Outcome::Fails, SILENT);
    check(&prop_000_7vi(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_7vii_holds_where_joint_and_contact_hold_the_massless_motion() {
    // y and z have no mass: the joint holds z, the contacts hold y from both sides.
    let rows: [&[f64]; 3] = [&[0.0, 0.0, 1.0], &[1.0, 1.0, 0.5], &[1.0, -1.0, 0.0]];
    let laws = [JOINT, CONTACT, CONTACT];
    let d = problem(&[1.0, 0.0, 0.0], &[2.0, 1.0, -1.0], &rows, &[0.5, 0.0, 0.0], &laws);
    check(&prop_000_7vii(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_7vii_fails_as_printed() {
    // Ker M = {0}, and the contact alone satisfies its qualification: as printed the problem were solvable.
    check(&prop_000_7vii(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, SILENT);
    assert_eq!(analyze(&on_the_joint(-2.0), &EnumerateOptions::default()).existence, Verdict::Refuted);
    // A massless motion that nothing holds.
    let rows: [&[f64]; 2] = [&[1.0, 0.0], &[0.0, 1.0]];
    let d = problem(&[1.0, 0.0], &[0.0, -1.0], &rows, &[0.0, 0.0], &[JOINT, CONTACT]);
    check(&prop_000_7vii(&d), &d, Outcome::Fails, SILENT);
}

#[test]
fn prop_000_8_holds_with_redundant_joints() {
    let rows: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[2.0, 2.0, 0.0], &[0.0, 1.0, 1.0]];
    let d = problem(&[2.0, 1.0, 1.0], &[1.0, 2.0, 9.0], &rows, &[0.5, 1.0, 0.25], &[JOINT, JOINT, CONTACT]);
    check(&prop_000_8(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn prop_000_8_fails_where_a_free_z_would_do() {
    // z = (0, 2) satisfies the printed inequality, but not the joint; there is no solution.
    check(&prop_000_8(&on_the_joint(-2.0)), &on_the_joint(-2.0), Outcome::Fails, NONE);
}

// Sliding friction.

/// The rod of Painlevé and Klein, as in golden 000.pk.*: angle with the guides, friction, slip ξ, load
/// across.
fn klein(degrees: f64, mu: [f64; 2], xi: f64, load: f64) -> Dynamics {
    let (s, c) = degrees.to_radians().sin_cos();
    let rows: [&[f64]; 4] = [&[0.0, 1.0, c], &[1.0, 0.0, -s], &[0.0, 1.0, -c], &[1.0, 0.0, s]];
    let laws = [guide(mu[0], xi), guide(mu[1], xi)];
    problem(&[1.0, 1.0, 1.0 / 3.0], &[0.0, load, 0.0], &rows, &[0.0; 4], &laws)
}

/// The ladder of golden 000.ladder.*: wall (guide) and floor (contact).
fn ladder(degrees: f64, mu: [f64; 2], xi: [f64; 2]) -> Dynamics {
    let (s, c) = degrees.to_radians().sin_cos();
    let rows: [&[f64]; 4] = [&[1.0, 0.0, s], &[0.0, 1.0, c], &[0.0, 1.0, -c], &[1.0, 0.0, -s]];
    let laws = [guide(mu[0], xi[0]), slides(mu[1], xi[1])];
    problem(&[1.0, 1.0, 1.0 / 3.0], &[0.0, 9.81, 0.0], &rows, &[c, 0.0, s, 0.0], &laws)
}

/// The rod of 003 at 45°, tip on the floor, slipping along e; gravity or another load.
fn rod(mu: f64, e: f64, load: f64) -> Dynamics {
    let c = 0.5f64.sqrt();
    let rows: [&[f64]; 2] = [&[0.0, 1.0, -c], &[1.0, 0.0, c]];
    problem(&[1.0, 1.0, 1.0 / 3.0], &[0.0, load, 0.0], &rows, &[0.0, 0.0], &[slides(mu, e)])
}

#[test]
fn prop_000_9_holds_below_the_bound_of_the_guided_rod() {
    let c = golden("000.pk.bound");
    for (theta, bound) in c.input("theta_deg").iter().zip(c.expected("mu_b_max")) {
        let mu = 0.999 * bound;
        let d = klein(*theta, [mu, mu], -1.0, 9.81);
        let f = prop_000_9(&d);
        check(&f, &d, Outcome::Holds, ONE);
        assert!((f.bound.unwrap() - bound).abs() < 1e-9 * (1.0 + bound) && f.value == Some(mu));
    }
}

#[test]
fn prop_000_9_fails_above_the_bound() {
    let d = klein(60.0, [0.58, 0.1], -1.0, 9.81);
    check(&prop_000_9(&d), &d, Outcome::Fails, SILENT);
    let at = klein(60.0, [3f64.sqrt() / 3.0, 0.1], -1.0, 9.81);
    assert_eq!(prop_000_9(&at).outcome, Outcome::Undecided);
    assert_eq!(prop_000_9(&rod(1.0, -1.0, 9.81)).outcome, Outcome::NotApplicable);
}

#[test]
fn prop_000_10_holds_below_a_third() {
    let d = klein(60.0, [0.19, 0.19], -1.0, 9.81);
    check(&prop_000_10(&d), &d, Outcome::Holds, ONE);
    check(&positive_definite_000(&d), &d, Outcome::Holds, ONE);
}

#[test]
fn prop_000_10_fails_above_a_third() {
    let d = klein(60.0, [0.2, 0.2], -1.0, 9.81);
    check(&prop_000_10(&d), &d, Outcome::Fails, SILENT);
}

/// Two guides and a joint without friction.
fn guided(mu: f64) -> Dynamics {
    let rows: [&[f64]; 5] = [
        &[1.0, 0.5, 0.0, 0.25],
        &[0.0, 1.0, 0.5, 0.0],
        &[0.5, 0.0, 1.0, 0.0],
        &[0.0, 0.25, 1.0, 0.5],
        &[1.0, 0.0, 0.0, 0.5],
    ];
    let laws = [JOINT, guide(mu, 1.0), guide(mu, -1.0)];
    problem(&[1.0, 2.0, 1.0, 0.5], &[1.0, -2.0, 3.0, 4.0], &rows, &[0.1, 0.2, 0.3, -0.4, 0.5], &laws)
}

#[test]
fn prop_000_11_holds_with_the_joint_eliminated() {
    // The bound by hand: Schur complements of W = J M⁻¹ Jᵀ on the joint's row.
    let w = guided(0.0).reduce().unwrap().delassus;
    let rest = |i: usize, j: usize| w[(i, j)] - w[(i, 0)] * w[(0, j)] / w[(0, 0)];
    let a_n = Matrix::from_rows(&[[rest(1, 1), rest(1, 3)], [rest(3, 1), rest(3, 3)]]);
    let a_t = Matrix::from_rows(&[[rest(1, 2), -rest(1, 4)], [rest(3, 2), -rest(3, 4)]]);
    let bound = a_n.singular_values()[1] / a_t.singular_values()[0];
    let d = guided(0.99 * bound);
    let f = prop_000_11(&d);
    check(&f, &d, Outcome::Holds, ONE);
    assert!((f.bound.unwrap() - bound).abs() < 1e-12);
}

#[test]
fn prop_000_11_fails_above_the_bound() {
    let bound = prop_000_11(&guided(0.01)).bound.unwrap();
    check(&prop_000_11(&guided(1.01 * bound)), &guided(1.01 * bound), Outcome::Fails, SILENT);
}

#[test]
fn prop_000_12_holds_below_the_bound_of_the_rod() {
    for load in [9.81, -9.81] {
        let d = rod(1.6, -1.0, load);
        let f = prop_000_12(&d);
        check(&f, &d, Outcome::Holds, ONE);
        assert!((f.bound.unwrap() - 5.0 / 3.0).abs() < 1e-14);
    }
}

#[test]
fn prop_000_12_fails_above_the_bound() {
    check(&prop_000_12(&rod(1.7, -1.0, 9.81)), &rod(1.7, -1.0, 9.81), Outcome::Fails, SILENT);
    assert_eq!(prop_000_12(&rod(5.0 / 3.0, -1.0, 9.81)).outcome, Outcome::Undecided);
    // Above the bound but slipping the other way the answer is unique: the bound is only sufficient.
    check(&prop_000_12(&rod(1.7, 1.0, 9.81)), &rod(1.7, 1.0, 9.81), Outcome::Fails, SILENT);
    check(&p_matrix_000(&rod(1.7, 1.0, 9.81)), &rod(1.7, 1.0, 9.81), Outcome::Holds, ONE);
}

#[test]
fn beta_two_of_the_ladder() {
    let c = golden("000.ladder.M0_beta2");
    let m0 = c.expected("M0");
    let (r, a_c) = (Matrix::from_rows(&[[-m0[1]]]), Matrix::from_rows(&[[m0[3]]]));
    let (low, high) = beta_two(&r, &a_c, 0.0);
    let beta = c.expected("beta2")[0];
    assert!((low - beta).abs() < 1e-6 && high >= beta - 1e-6 && high < low * (1.0 + 1e-6));
}

#[test]
fn beta_two_bounds_what_a_grid_finds() {
    // A second method: the definition itself on a grid of d ∈ [0, 1]³.
    let r = Matrix::from_rows(&[[0.7, -1.2]]);
    let a_c = Matrix::from_rows(&[[1.0, 0.6], [0.6, 0.5]]);
    let m0 = Matrix::from_rows(&[[1.0, -r[(0, 0)], -r[(0, 1)]], [0.0, 1.0, 0.6], [0.0, 0.6, 0.5]]);
    let mut best = 0.0f64;
    for i in 0..=20 {
        for j in 0..=20 {
            for k in 0..=20 {
                let d = [i, j, k].map(|x| f64::from(x) / 20.0);
                let left = Matrix::from_fn(3, 3, |a, b| f64::from(a == b) * (1.0 - d[a]) + d[a] * m0[(a, b)]);
                best = best.max(left.solve_matrix(&Matrix::diagonal(&d)).unwrap().singular_values()[0]);
            }
        }
    }
    let (low, high) = beta_two(&r, &a_c, 1.02 * best);
    assert!(low <= high && best <= high && low >= 0.9 * best && high <= 1.02 * best, "{low} {best} {high}");
}

#[test]
fn prop_000_13_holds_below_the_bound_of_the_ladder() {
    let c = golden("000.ladder.bound_curve");
    for (key, xi) in [("curve_falling_xi(-1,1)", [-1.0, 1.0]), ("curve_rising_xi(1,-1)", [1.0, -1.0])] {
        for ((theta, bound), beta) in
            c.input("theta_deg").iter().zip(c.expected(key)).zip(c.expected("beta2_curve"))
        {
            let mu = bound * (1.0 - 1e-3);
            let d = ladder(*theta, [mu, mu], xi);
            let f = prop_000_13(&d);
            check(&f, &d, Outcome::Holds, ONE);
            assert!((f.bound.unwrap() - 1.0 / beta).abs() < 1e-5, "{theta}: {:?} {beta}", f.bound);
        }
    }
}

#[test]
fn prop_000_13_fails_above_the_bound() {
    let c = golden("000.ladder.bound_curve");
    let by_sign = &c.0["expected"]["bound_45_by_xi"]["value"];
    for (key, xi) in
        [("-1,1", [-1.0, 1.0]), ("1,-1", [1.0, -1.0]), ("1,1", [1.0, 1.0]), ("-1,-1", [-1.0, -1.0])]
    {
        let bound = by_sign[key].as_f64().unwrap();
        let at = |factor: f64| ladder(45.0, [factor * bound, factor * bound], xi);
        check(&prop_000_13(&at(0.999)), &at(0.999), Outcome::Holds, ONE);
        check(&prop_000_13(&at(1.001)), &at(1.001), Outcome::Fails, SILENT);
    }
    // The guide alone above its own bound, 5/3 at 45°.
    let d = ladder(45.0, [1.7, 0.1], [-1.0, 1.0]);
    check(&prop_000_13(&d), &d, Outcome::Fails, SILENT);
}

/// The rod with a joint without friction.
fn jointed(mu: f64) -> Dynamics {
    let c = 0.5f64.sqrt();
    let rows: [&[f64]; 3] = [&[1.0, 0.5, 0.25], &[0.0, 1.0, -c], &[1.0, 0.0, c]];
    problem(&[1.0, 1.0, 1.0 / 3.0], &[0.0, 9.81, 0.0], &rows, &[0.1, 0.0, 0.0], &[JOINT, slides(mu, -1.0)])
}

#[test]
fn prop_000_14_holds_with_the_joint_eliminated() {
    let w = jointed(0.0).reduce().unwrap().delassus;
    let rest = |i: usize, j: usize| w[(i, j)] - w[(i, 0)] * w[(0, j)] / w[(0, 0)];
    let bound = rest(1, 1) / rest(1, 2).abs();
    let d = jointed(0.99 * bound);
    let f = prop_000_14(&d);
    check(&f, &d, Outcome::Holds, ONE);
    assert!((f.bound.unwrap() - bound).abs() < 1e-12);
}

#[test]
fn prop_000_14_fails_above_the_bound() {
    let bound = prop_000_14(&jointed(0.01)).bound.unwrap();
    check(&prop_000_14(&jointed(1.01 * bound)), &jointed(1.01 * bound), Outcome::Fails, SILENT);
}

#[test]
fn cor_000_2_holds_where_slip_opens_the_contact() {
    // Slipping against the jamming direction: a solution exists for every friction.
    let d = rod(10.0, 1.0, 9.81);
    check(&cor_000_2(&d), &d, Outcome::Holds, SOLVABLE);
    // Two contacts on one line, dependent: an admissible acceleration is needed, and there is one.
    let rows: [&[f64]; 4] = [&[0.0, 1.0], &[1.0, -0.25], &[0.0, 2.0], &[1.0, -0.25]];
    let laws = [slides(3.0, 1.0), slides(2.0, 1.0)];
    let d = problem(&[1.0, 1.0], &[0.0, 9.81], &rows, &[0.0; 4], &laws);
    check(&cor_000_2(&d), &d, Outcome::Holds, SOLVABLE);
}

#[test]
fn cor_000_2_fails_where_slip_presses_the_contact() {
    // The same rod slipping the other way: no solution at μ = 10.
    let d = rod(10.0, -1.0, 9.81);
    check(&cor_000_2(&d), &d, Outcome::Fails, SILENT);
    assert_eq!(analyze(&d, &EnumerateOptions::default()).existence, Verdict::Refuted);
}

#[test]
fn hlcp_000_holds_below_the_sum_of_frictions() {
    // 2/tan 60° = 1.1547.
    for mu in [[0.57, 0.57], [1.1, 0.05], [0.0, 1.15]] {
        let d = klein(60.0, mu, -1.0, 9.81);
        check(&hlcp_000(&d), &d, Outcome::Holds, ONE);
    }
}

#[test]
fn hlcp_000_fails_where_the_printed_condition_holds() {
    // |μ₁ − μ₂| = 0 < 2/tan 60°, and yet there are three solutions.
    let c = golden("000.pk.exact_region");
    let d = klein(60.0, [1.0, 1.0], -1.0, 9.81);
    check(&hlcp_000(&d), &d, Outcome::Fails, SILENT);
    let count = enumerate(&d, &EnumerateOptions::default()).components.len();
    assert_eq!(count as f64, c.expected("n_solutions_Fy9.81_xi-1")[0]);
    for mu in [[0.58, 0.58], [0.2, 1.0], [1.2, 0.0]] {
        let d = klein(60.0, mu, -1.0, 9.81);
        check(&hlcp_000(&d), &d, Outcome::Fails, SILENT);
    }
}

#[test]
fn positive_definite_000_holds_for_small_friction_and_fails_for_large() {
    check(&positive_definite_000(&rod(1.6, -1.0, 9.81)), &rod(1.6, -1.0, 9.81), Outcome::Holds, ONE);
    check(&positive_definite_000(&rod(1.7, -1.0, 9.81)), &rod(1.7, -1.0, 9.81), Outcome::Fails, SILENT);
}

#[test]
fn p_matrix_000_holds_inside_of_the_region_of_the_ladder() {
    let c = golden("000.ladder.P_region");
    for (mu_b, mu_u) in c.input("mu_b").iter().zip(c.expected("mu_u_boundary")) {
        let d = ladder(45.0, [*mu_b, mu_u - 1e-3], [-1.0, 1.0]);
        check(&p_matrix_000(&d), &d, Outcome::Holds, ONE);
    }
    for mu in [[1.3, 5.0], [1.4, 1.5]] {
        let d = ladder(45.0, mu, [1.0, -1.0]);
        check(&p_matrix_000(&d), &d, Outcome::Holds, ONE);
    }
}

#[test]
fn p_matrix_000_fails_outside_of_the_region_of_the_ladder() {
    let c = golden("000.ladder.P_region");
    for (mu_b, mu_u) in c.input("mu_b").iter().zip(c.expected("mu_u_boundary")) {
        let d = ladder(45.0, [*mu_b, mu_u + 1e-3], [-1.0, 1.0]);
        check(&p_matrix_000(&d), &d, Outcome::Fails, SILENT);
    }
    let d = ladder(45.0, [1.4, 0.5], [1.0, -1.0]);
    check(&p_matrix_000(&d), &d, Outcome::Fails, SILENT);
}

#[test]
fn p_matrix_000_is_not_fooled_by_rounding() {
    // μ = 5/3 to rounding: the slope a − μ h is a few units in the last place.
    for mu in [5.0 / 3.0, 5.0 / 3.0 - 1e-15, 5.0 / 3.0 + 1e-15] {
        assert_eq!(p_matrix_000(&rod(mu, -1.0, 9.81)).outcome, Outcome::Undecided);
        assert_eq!(positive_definite_000(&rod(mu, -1.0, 9.81)).outcome, Outcome::Undecided);
    }
    // Joint and guide hold everything; what is left of the contact is rounding.
    let rows: [&[f64]; 5] = [&[0.0, 1.0], &[1.0, 1.0], &[1.0, 1.0], &[-1.0, 0.0], &[1.0, -1.0]];
    let laws = [guide(0.5, 1.0), JOINT, slides(1.0, -1.0)];
    let d = problem(&[4.0, 5.0], &[0.0, 1.0], &rows, &[0.0, 0.0, -1.0, 0.0, 1.0], &laws);
    assert_ne!(p_matrix_000(&d).outcome, Outcome::Holds);
}

#[test]
fn bounds_are_inside_of_the_region_that_is_exact() {
    // Wherever Prop. 12, 13 or 14 hold, the LCP matrix is a P-matrix, for many rods and ladders.
    let mut random = Random(11);
    let mut held = 0;
    for _ in 0..200 {
        let mu = [random.unit() * 1.5, random.unit() * 1.5];
        let xi = if random.unit() < 0.5 { [-1.0, 1.0] } else { [1.0, -1.0] };
        let d = ladder(5.0 + 80.0 * random.unit(), mu, xi);
        if prop_000_13(&d).outcome == Outcome::Holds {
            held += 1;
            let r = d.reduce().unwrap();
            let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
            assert_eq!(p_matrix(&lift.lcp.matrix), Verdict::Proved);
        }
    }
    assert!(held > 20, "{held}");
}

#[test]
fn findings_of_random_problems_agree_with_exact_enumeration() {
    // Small whole numbers, with repeated and zero rows and singular masses on purpose.
    let mut random = Random(2026);
    let mut claims = 0;
    for _ in 0..1000 {
        let mut whole = |k: f64| (random.unit() * (2.0 * k + 1.0)).floor() - k;
        let n = 1 + (whole(1.0) + 1.0) as usize;
        let count = 1 + (whole(1.0) + 1.0) as usize;
        let mut laws = Vec::new();
        for _ in 0..count {
            let e = if whole(1.0) > 0.0 { 1.0 } else { -1.0 };
            let mu = (whole(2.0) + 2.0) / 2.0;
            laws.push(match whole(3.0) as i32 {
                -3 | -2 => JOINT,
                -1 | 0 => CONTACT,
                1 => guide(mu, e),
                _ => slides(mu, e),
            });
        }
        laws.sort_by_key(|law| !law.is_bilateral());
        let m: usize = laws.iter().map(Law::dim).sum();
        let root = Matrix::from_fn(n, n, |_, _| whole(2.0));
        let mass = root.mul(&root.transpose());
        let mut jacobian = Matrix::from_fn(m, n, |_, _| whole(1.0));
        if whole(2.0) > 0.0 && m > 1 {
            let first = jacobian.row(0).to_vec();
            jacobian.row_mut(m - 1).copy_from_slice(&first);
        }
        let force: Vec<f64> = (0..n).map(|_| whole(3.0)).collect();
        let bias: Vec<f64> = (0..m).map(|_| whole(1.0)).collect();
        let d = Dynamics::new(mass, force, jacobian, bias, laws).unwrap();
        for f in all_000(&d).iter().chain(&all_003(&d)) {
            exactly(f, &d);
            claims += usize::from(f.certificate.is_some());
        }
    }
    assert!(claims > 2000, "{claims}");
}
