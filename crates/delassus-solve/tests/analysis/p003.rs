//! The classification of sliding contacts by 003, with the list of all solutions as a second method.

use delassus_solve::analysis::theorems::{Class, all_003, jam_003, one_contact};
use delassus_solve::analysis::{Claims, Outcome, analyze};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{EnumerateOptions, enumerate};
use delassus_solve::problem::{Dynamics, Law, Slip};
use serde_json::Value;

use crate::support::golden::{self, Case};

/// The rod at 45° (003 Fig. 2–4): tip on the floor, slipping along e; load on the centre, positive pushes
/// down.
fn rod(mu: f64, e: f64, load: f64) -> Dynamics {
    let c = 0.5f64.sqrt();
    let jacobian = Matrix::from_rows(&[[0.0, 1.0, -c], [1.0, 0.0, c]]);
    let law = Law::Sliding { mu, slip: Slip::Plane(e) };
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]);
    Dynamics::new(mass, vec![0.0, load, 0.0], jacobian, vec![0.0, 0.0], vec![law]).unwrap()
}

fn answers(d: &Dynamics) -> [Verdict; 2] {
    let a = analyze(d, &EnumerateOptions::default());
    [a.existence, a.acceleration_unique]
}

#[test]
fn jam_003_holds_for_the_rod_above_its_jamming_friction() {
    // Pushed together: nothing keeps the tip out of the floor. Pulled apart: it may open or stay.
    let (pushed, pulled) = (rod(2.0, -1.0, 9.81), rod(2.0, -1.0, -9.81));
    let none =
        Claims { existence: Some(false), acceleration_unique: Some(false), forces_unique: Some(false) };
    for (d, class, claims, truth) in [
        (&pushed, Class::Inconsistent, none, [Verdict::Refuted, Verdict::Refuted]),
        (
            &pulled,
            Class::Indeterminate,
            Claims { existence: Some(true), ..none },
            [Verdict::Proved, Verdict::Refuted],
        ),
    ] {
        let f = jam_003(d, 0);
        assert_eq!((f.outcome, f.claims, answers(d)), (Outcome::Holds, claims, truth));
        assert!(f.certificate.as_ref().is_some_and(|c| c.verify()));
        let one = one_contact(d, 0).unwrap();
        assert_eq!(one.class, Some(class));
        // a − μ h e = 5/2 − 2 · 3/2.
        assert!((one.slope + 0.5).abs() < 1e-14);
        assert!((f.value.unwrap() - 2.0).abs() < 1e-14 && (f.bound.unwrap() - 5.0 / 3.0).abs() < 1e-14);
    }
    assert_eq!(enumerate(&pulled, &EnumerateOptions::default()).components.len(), 2);
}

#[test]
fn jam_003_fails_where_the_contact_slides_regularly() {
    let one = Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: Some(true) };
    // Less friction, or slip in the other direction.
    for d in [rod(1.6, -1.0, 9.81), rod(1.6, -1.0, -9.81), rod(20.0, 1.0, 9.81)] {
        let f = jam_003(&d, 0);
        assert_eq!((f.outcome, f.claims), (Outcome::Fails, one));
        assert!(f.certificate.as_ref().is_some_and(|c| c.verify()));
        assert_eq!(answers(&d), [Verdict::Proved, Verdict::Proved]);
        assert_eq!(one_contact(&d, 0).unwrap().class, Some(Class::Regular));
    }
}

#[test]
fn jam_003_is_undecided_on_the_edge() {
    assert_eq!(jam_003(&rod(5.0 / 3.0, -1.0, 9.81), 0).outcome, Outcome::Undecided);
    assert_eq!(jam_003(&rod(2.0, -1.0, 0.0), 0).outcome, Outcome::Undecided);
}

/// A plate on three points in a line: two normals hold the third, whose effective mass is infinite. What is
/// left of its column is rounding, and so is the direction in which it would jam.
#[test]
fn jam_003_has_no_value_where_others_hold_the_normal() {
    let rows: Vec<[f64; 3]> =
        [-0.7, 0.1, 1.3].iter().flat_map(|x| [[0.0, 1.0, *x], [1.0, 0.0, 0.3]]).collect();
    let mass = Matrix::diagonal(&[1.1, 1.1, 0.37]);
    let laws = vec![Law::Sliding { mu: 0.3, slip: Slip::Plane(1.0) }; 3];
    let d = Dynamics::new(mass, vec![0.0, 9.81, 0.0], Matrix::from_rows(&rows), vec![0.0; 6], laws).unwrap();
    for k in 0..3 {
        let f = jam_003(&d, k);
        assert_eq!((f.outcome, f.value), (Outcome::Undecided, None), "{k}");
    }
}

#[test]
fn jam_003_knows_only_contacts_that_slide() {
    let d = rod(2.0, -1.0, 9.81);
    let at_rest = Dynamics { laws: vec![Law::CoulombPlane { mu: 2.0 }], ..d };
    assert!(all_003(&at_rest).is_empty());
    assert_eq!(jam_003(&at_rest, 0).outcome, Outcome::NotApplicable);
    assert_eq!(jam_003(&at_rest, 7).outcome, Outcome::NotApplicable);
}

#[test]
fn jam_003_of_the_articulated_arm() {
    // The arm in contact space: mass M_c, free acceleration δu₀ (003 eq. 46–49 with the full dynamics).
    let mut seen = 0;
    for Case(case) in golden::cases() {
        if !case["id"].as_str().unwrap().starts_with("003.arm.lcp.") {
            continue;
        }
        let get = |key: &str, i: usize| case["expected"][key]["value"][i].as_f64().unwrap();
        let inverse = |i: usize, j: usize| case["expected"]["Mc_inv"]["value"][i][j].as_f64().unwrap();
        // Order (t₁, t₂, n) in the paper, (n, t₁, t₂) here.
        let order = [2, 0, 1];
        let w = Matrix::from_fn(3, 3, |i, j| inverse(order[i], order[j])).symmetric_part();
        let mass = w.solve_positive_definite(&Matrix::identity(3)).unwrap().symmetric_part();
        let free: Vec<f64> = order.iter().map(|&i| get("du0", i)).collect();
        let force = mass.mul_vec(&free).iter().map(|x| -x).collect();
        let slip = Slip::Space([get("e_t", 0), get("e_t", 1)]);
        let law = Law::Sliding { mu: 0.5, slip };
        let d = Dynamics::new(mass, force, Matrix::identity(3), vec![0.0; 3], vec![law]).unwrap();
        let one = one_contact(&d, 0).unwrap();
        assert!((one.slope - get_one(&case, "lcp_m")).abs() < 1e-8);
        assert!((one.free_acceleration - get_one(&case, "lcp_q")).abs() < 1e-7);
        let want =
            if get_one(&case, "n_solutions") == 0.0 { Class::Inconsistent } else { Class::Indeterminate };
        assert_eq!(one.class, Some(want), "{}", case["id"]);
        let f = jam_003(&d, 0);
        assert_eq!(f.claims.existence, Some(want == Class::Indeterminate));
        assert!(f.certificate.as_ref().is_some_and(|c| c.verify()));
        seen += 1;
    }
    assert_eq!(seen, 5);
}

fn get_one(case: &Value, key: &str) -> f64 {
    case["expected"][key]["value"].as_f64().unwrap()
}

#[test]
fn jam_003_with_a_joint_is_the_whole_problem() {
    // The joint holds the rotation: no coupling is left and nothing jams.
    let c = 0.5f64.sqrt();
    let law = Law::Sliding { mu: 20.0, slip: Slip::Plane(-1.0) };
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]);
    let jacobian = Matrix::from_rows(&[[0.0, 0.0, 1.0], [0.0, 1.0, -c], [1.0, 0.0, c]]);
    let build = |bias: f64| {
        let laws = vec![Law::Bilateral, law];
        Dynamics::new(mass.clone(), vec![0.0, 9.81, 0.0], jacobian.clone(), vec![bias, 0.0, 0.0], laws)
            .unwrap()
    };
    let f = jam_003(&build(3.0), 1);
    assert_eq!((f.outcome, f.claims.forces_unique), (Outcome::Fails, Some(true)));
    assert!(f.certificate.is_some_and(|c| c.verify()));
    // w with the joint's acceleration passed on: −g − c·θ″ with θ″ = −3.
    let one = one_contact(&build(3.0), 1).unwrap();
    assert!((one.free_acceleration - (-9.81 + 3.0 * c)).abs() < 1e-13);
}

#[test]
fn jam_003_with_another_contact_claims_nothing_for_the_problem() {
    // A second contact far away from the tip: the first jams with it held or not, but the problem is not its
    // own.
    let c = 0.5f64.sqrt();
    let slides = |mu| Law::Sliding { mu, slip: Slip::Plane(-1.0) };
    let rows = [[0.0, 1.0, -c, 0.0], [1.0, 0.0, c, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]];
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0, 1.0]);
    let d = Dynamics::new(
        mass,
        vec![0.0, 9.81, 0.0, 1.0],
        Matrix::from_rows(&rows),
        vec![0.0; 4],
        vec![slides(2.0), slides(0.1)],
    )
    .unwrap();
    let found = all_003(&d);
    assert_eq!(found.iter().map(|f| f.outcome).collect::<Vec<_>>(), [Outcome::Holds, Outcome::Fails]);
    assert!(found.iter().all(|f| f.claims == Claims::default() && f.certificate.is_none()));
}
