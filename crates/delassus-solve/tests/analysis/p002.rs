//! 002 §5: each lemma where it holds and where it fails, the counterexample to what is printed, golden
//! values, and random systems against exact arithmetic.

use delassus_solve::analysis::Outcome::{Fails, Holds, NotApplicable};
use delassus_solve::analysis::theorems::*;
use delassus_solve::analysis::{analyze, one_solution};
use delassus_solve::linalg::{Matrix, max_abs, norm};
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Status};
use proptest::prelude::*;

use super::p001::{degenerate, found, golden, system, truthful};
use crate::support::golden::{matrix, numbers as vector};
use crate::support::near::all_near;

/// Some forces that solve a problem, and their acceleration.
fn some_solution(d: &Dynamics) -> (Vec<f64>, Vec<f64>) {
    let r = d.reduce().unwrap();
    let s = one_solution(&r.problem(&d.laws).unwrap(), 1e-10);
    assert_eq!(s.status, Status::Solved);
    let a = r.acceleration(&s.impulse);
    (s.impulse, a)
}

/// A table of the golden values: (z, rotations about x, y).
fn table(id: &str) -> Dynamics {
    let case = golden(id);
    let g = matrix(&case["expected"]["G"]["value"]).transpose();
    let contacts: Vec<(&[f64], f64)> = (0..g.rows()).map(|i| (g.row(i), 0.0)).collect();
    system(Matrix::diagonal(&[1.0, 0.4, 0.4]), &[9.81, 0.0, 0.0], &[], &contacts)
}

const TABLES: [&str; 5] = [
    "002.table.4legs_centre",
    "002.table.4legs_offset",
    "002.table.4legs_clip",
    "002.table.5legs_centre",
    "002.table.4legs_tipping",
];

#[test]
fn lemma_002_51_holds_for_tables() {
    for id in TABLES {
        let d = table(id);
        let f = found(&d, lemma_002_51, Holds);
        assert!(f.value.unwrap() <= 3.0 && f.bound == Some(3.0), "{id} {:?}", f.value);
    }
    // Four equal legs: three or fewer carry the same.
    let d = table("002.table.4legs_centre");
    let x = independent_forces(&d.jacobian, &[2.4525; 4]).unwrap();
    assert!(x.iter().filter(|&&v| v > 0.0).count() <= 3 && x.iter().all(|&v| v >= 0.0));
    assert!(all_near(&d.jacobian.tr_mul_vec(&x), &[9.81, 0.0, 0.0], 1e-12));
}

#[test]
fn lemma_002_51_fails_for_forces_that_pull_and_where_there_are_none() {
    // x ≥ 0 is needed: e₁ − e₂ is not a nonnegative combination of e₁, e₂.
    assert_eq!(independent_forces(&Matrix::identity(2), &[1.0, -1.0]), None);
    let d = system(Matrix::identity(1), &[0.0], &[], &[(&[1.0], 0.0), (&[-1.0], -2.0)]);
    assert_eq!(found(&d, lemma_002_51, Fails).claims.existence, Some(false));
}

#[test]
fn lemma_002_52_holds_for_tables() {
    for id in TABLES {
        let case = golden(id);
        let d = table(id);
        let f = found(&d, lemma_002_52, Holds);
        assert_eq!((f.claims.acceleration_unique, f.claims.forces_unique), (Some(true), None));
        assert_eq!(f.value, case["expected"]["rank_G"]["value"].as_f64());
        let (force, a) = some_solution(&d);
        let value = |key: &str| vector(&case["expected"][key]["value"]);
        assert!(all_near(&d.jacobian.tr_mul_vec(&force), &value("G_lambda"), 1e-7));
        assert!(all_near(&d.jacobian.mul_vec(&a), &value("delta"), 1e-7));
        assert!(all_near(&a, &value("qdd"), 1e-7));
        assert!(all_near(&least_forces(&d, &force).unwrap(), &value("lambda_minnorm"), 1e-7), "{id}");
    }
    // Full column rank: forces too, whatever the curvature terms.
    let d = system(Matrix::identity(2), &[1.0, 2.0], &[(&[1.0, 0.0], 3.0)], &[(&[1.0, 1.0], -1.0)]);
    assert_eq!(found(&d, lemma_002_52, Holds).claims.forces_unique, Some(true));
}

#[test]
fn lemma_002_52_holds_for_redundant_joints_and_contacts() {
    let case = golden("002.mixed52");
    let i = &case["inputs"];
    let (g1, g2) = (matrix(&i["G1"]).transpose(), matrix(&i["G2"]).transpose());
    let joints: Vec<(&[f64], f64)> = (0..2).map(|k| (g1.row(k), 0.0)).collect();
    let contacts: Vec<(&[f64], f64)> = (0..3).map(|k| (g2.row(k), 0.0)).collect();
    // M q̈ = f + Gλ there, M a + F = Jᵀλ here: F = −f.
    let load: Vec<f64> = vector(&i["f"]).iter().map(|x| -x).collect();
    let d = system(matrix(&i["M"]), &load, &joints, &contacts);
    let f = found(&d, lemma_002_52, Holds);
    assert_eq!((f.value, f.bound), (Some(2.0), Some(5.0)));
    let (force, a) = some_solution(&d);
    assert!(all_near(&a, &vector(&case["expected"]["qdd"]["value"]), 1e-7));
    let least = least_forces(&d, &force).unwrap();
    let shared = vector(&case["expected"]["G_lambda"]["value"]);
    for f in [&force, &least] {
        assert!(all_near(&d.jacobian.tr_mul_vec(f), &shared, 1e-7));
    }
}

#[test]
fn lemma_002_52_fails_where_dependent_constraints_turn() {
    // γ = (0, −1) on two equal rows is not in R(Gᵀ): there is a solution, of which the lemma does not speak.
    let d = system(Matrix::identity(1), &[1.0], &[], &[(&[1.0], 0.0), (&[1.0], -1.0)]);
    assert_eq!(found(&d, lemma_002_52, Fails).claims, Default::default());
    // On opposed rows there is none.
    let d = system(Matrix::identity(1), &[1.0], &[], &[(&[1.0], 0.0), (&[-1.0], -1.0)]);
    assert_eq!(found(&d, lemma_002_52, Fails).claims.existence, Some(false));
    // A mass that is not positive definite is not its subject.
    let d = system(Matrix::zeros(1, 1), &[1.0], &[], &[(&[1.0], 0.0)]);
    assert_eq!(lemma_002_52(&d).outcome, NotApplicable);
}

#[test]
fn lemma_002_52_items_3_and_4_as_printed() {
    // G₁ = G₂ = 1, b = −1: G₂λ₂ is any number ≥ 0, and the printed construction, λ₂ shortest first, is not
    // the shortest.
    let case = golden("002.lemma52.overlap");
    let d = system(Matrix::identity(1), &[1.0], &[(&[1.0], 0.0)], &[(&[1.0], 0.0)]);
    assert_eq!(found(&d, lemma_002_52, Holds).claims.forces_unique, None);
    let value = |key: &str| vector(&case["expected"][key]["value"]);
    let (printed, other) = (value("lambda_of_proof_item4"), value("another_solution"));
    for f in [&printed, &other] {
        assert_eq!(f[0] + f[1], case["expected"]["G_lambda"]["value"].as_f64().unwrap());
        assert!(all_near(&least_forces(&d, f).unwrap(), &value("lambda_minnorm"), 1e-12));
    }
    assert!(norm(&printed) > norm(&value("lambda_minnorm")) + 0.2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// No finding claims what exact enumeration contradicts; least forces agree with the list of all
    /// solutions.
    #[test]
    fn findings_are_true_of_degenerate_systems(d in degenerate()) {
        for f in all_002(&d) {
            truthful(&d, &f);
        }
        let a = analyze(&d, &EnumerateOptions::default());
        if let Some(least) = a.minimum_norm {
            let again = least_forces(&d, &a.solutions.components[0].force).unwrap();
            prop_assert!(all_near(&again, &least, 1e-7 * (1.0 + max_abs(&least))), "{:?} {:?}", again, least);
        }
    }

    /// Lemma 5.1: the same sum, from independent rows.
    #[test]
    fn independent_forces_carry_the_same(rows in proptest::collection::vec(-2i8..=2, 15), x in proptest::collection::vec(0u8..4, 5)) {
        let g = Matrix::from_vec(5, 3, rows.into_iter().map(f64::from).collect());
        let x: Vec<f64> = x.into_iter().map(f64::from).collect();
        let y = independent_forces(&g, &x).unwrap();
        prop_assert!(all_near(&g.tr_mul_vec(&x), &g.tr_mul_vec(&y), 1e-9));
        let carrying: Vec<usize> = (0..5).filter(|&i| y[i] > 0.0).collect();
        prop_assert_eq!(g.select_rows(&carrying).rank(), carrying.len());
    }
}
