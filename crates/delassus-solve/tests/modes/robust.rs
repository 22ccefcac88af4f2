//! Answers that hold for all data within the rounding.

use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{
    EnumerateOptions, RobustAnswer, answer_of_found, bounds_of, enumerate, exact_answer, robust_answer,
};
use delassus_solve::problem::{Dynamics, Law, Slip};

use crate::support::joined::joined;
use crate::support::random::Random;

const ROUNDING: f64 = 8.0 * f64::EPSILON;

fn answer(d: &Dynamics) -> RobustAnswer {
    robust_answer(&bounds_of(d, ROUNDING), 4096).unwrap()
}

fn dynamics(mass: &[f64], force: &[f64], rows: &[&[f64]], bias: &[f64], laws: &[Law]) -> Dynamics {
    let (mass, rows) = (Matrix::diagonal(mass), Matrix::from_rows(rows));
    Dynamics::new(mass, force.to_vec(), rows, bias.to_vec(), laws.to_vec()).unwrap()
}

/// A joint and a contact along (−1, 3), in units e and π, the contact opening with π 10⁻¹¹: in truth it
/// opens, and the joint alone acts. In doubles the rows are not parallel, and which solutions there are hangs
/// on the last digits.
#[test]
fn rows_that_are_parallel_but_for_rounding_are_not_decided() {
    let (e, pi) = (std::f64::consts::E, std::f64::consts::PI);
    let rows: [&[f64]; 3] = [&[-e, 3.0 * e], &[-pi, 3.0 * pi], &[pi, pi]];
    let laws = [Law::Bilateral, Law::Sliding { mu: 0.5, slip: Slip::Plane(-1.0) }];
    let d = dynamics(&[1.0, 1.0], &[-1.0, -2.0], &rows, &[0.0, 1e-11 * pi, 0.0], &laws);
    let found = answer(&d);
    assert_eq!(found.answers, [Some(true), None, None]);
    assert_eq!(found.components, None);
    // With an acceleration that is clear of the rounding of the rows it is still the parallel rows that are
    // open.
    assert_eq!(answer(&Dynamics { bias: vec![0.0, pi, 0.0], ..d }).answers[0], Some(true));
}

/// A block on a slope of 0.3 rad on two contacts.
fn block(mu: f64) -> Dynamics {
    let (s, c) = (0.3_f64.sin(), 0.3_f64.cos());
    let arm = 0.1 / 3.0_f64.sqrt();
    let rows: [&[f64]; 4] = [&[-s, c, arm], &[c, s, -arm], &[-s, c, -arm], &[c, s, -arm]];
    dynamics(&[0.7, 0.7, 0.013], &[0.0, 0.7 * 9.81, 0.0], &rows, &[0.0; 4], &[Law::CoulombPlane { mu }; 2])
}

/// It has more contacts than it needs, but without bias, so that it rests for all numbers nearby; the forces
/// have one freedom for all of them.
#[test]
fn a_block_at_rest_on_two_contacts_is_decided() {
    assert_eq!(answer(&block(0.6)).answers, [Some(true), Some(true), Some(false)]);
    // It slides where tan 0.3 = 0.309 is more than friction holds, and the forces are those of one mode.
    assert_eq!(answer(&block(0.2)).answers, [Some(true); 3]);
    assert_eq!(answer(&block(0.2)).components.map(|c| c.len()), Some(1));
}

/// A ball beside a wall that it does not press, in units that round: it lies on the wall between two modes,
/// which hold one solution together.
#[test]
fn a_contact_that_touches_without_force_is_decided() {
    let (s, c) = (0.3_f64.sin(), 0.3_f64.cos());
    // Floor along (s, c) against a load along it, wall across.
    let rows: [&[f64]; 2] = [&[s, c], &[c, -s]];
    let d = dynamics(&[1.1, 1.1], &[9.81 * s, 9.81 * c], &rows, &[0.0; 2], &[Law::Unilateral; 2]);
    assert_eq!(answer(&d).answers, [Some(true); 3]);
}

/// Five blocks have 4¹⁰ modes, and 35 coordinates and rows; each by itself has few. Where one thing cannot
/// be, nothing can.
#[test]
fn parts_that_have_nothing_to_do_with_each_other_are_decided_one_by_one() {
    let blocks = |mu: f64| (0..4).fold(block(0.2), |all, _| joined(&all, &block(mu)));
    assert_eq!(answer(&blocks(0.6)).answers, [Some(true), Some(true), Some(false)]);
    let sliding = answer(&blocks(0.2));
    assert_eq!((sliding.answers, sliding.components.map(|c| c.len())), ([Some(true); 3], Some(1)));
    // A contact that jams: u = −0.245 f − 1.1 < 0 for every force.
    let rows: [&[f64]; 2] = [&[0.7], &[-0.35]];
    let law = Law::Sliding { mu: 3.0, slip: Slip::Plane(-1.0) };
    let jammed = dynamics(&[1.0], &[0.0], &rows, &[-1.1, 0.0], &[law]);
    assert_eq!(answer(&joined(&blocks(0.6), &jammed)).answers, [Some(false); 3]);
    // Coupled to each other they are too many.
    let mut coupled = blocks(0.2);
    for i in 3..15 {
        (coupled.mass[(i, i - 3)], coupled.mass[(i - 3, i)]) = (0.001, 0.001);
    }
    assert_eq!(robust_answer(&bounds_of(&coupled, ROUNDING), 4096), None);
}

/// A chain of fifteen masses that are pressed against as many stops: too much to examine all modes. Without
/// friction the mode that was found decides.
#[test]
fn what_was_found_is_checked_where_modes_are_too_many() {
    let n = 15;
    let mass = Matrix::from_fn(n, n, |i, j| [1.9, 0.3, 0.0][i.abs_diff(j).min(2)]);
    let chain = |rows: usize| {
        // Rows beyond the last repeat the first.
        let stops = Matrix::from_fn(rows, n, |i, j| if i % n == j { 0.7 } else { 0.0 });
        let laws = vec![Law::Unilateral; rows];
        Dynamics::new(mass.clone(), vec![1.1; n], stops, vec![0.0; rows], laws).unwrap()
    };
    let found = |d: &Dynamics| {
        let (bounds, options) = (bounds_of(d, ROUNDING), EnumerateOptions::default());
        assert_eq!(robust_answer(&bounds, 4096), None);
        answer_of_found(&bounds, &enumerate(d, &options).components).unwrap()
    };
    let pressed = found(&chain(n));
    assert_eq!((pressed.answers, pressed.components.map(|c| c.len())), ([Some(true); 3], Some(1)));
    assert_eq!(found(&chain(n + 1)).answers, [Some(true), Some(true), Some(false)]);
    // Nothing was found: nothing is known.
    assert_eq!(answer_of_found(&bounds_of(&chain(n), ROUNDING), &[]).unwrap().answers, [None; 3]);
}

/// What is said of all data within the rounding is true of the data, and of others within the rounding.
#[test]
fn answers_hold_for_data_nearby() {
    let mut r = Random(29);
    let mut decided = [0; 3];
    for _ in 0..400 {
        let n = 1 + r.below(3);
        let laws: Vec<Law> = (0..1 + r.below(3))
            .map(|_| {
                let mu = r.pick(&[0.3, 0.7, 1.1]);
                r.pick(&[Law::Bilateral, Law::Unilateral, Law::CoulombPlane { mu }])
            })
            .collect();
        let m: usize = laws.iter().map(Law::dim).sum();
        let mass: Vec<f64> = (0..n).map(|_| r.pick(&[1.0, 0.1, 3.0])).collect();
        let tenths = |x: Vec<f64>| x.into_iter().map(|x| 0.1 * x).collect::<Vec<f64>>();
        let bias = if r.one_in(2) { vec![0.0; m] } else { tenths(r.entries(m)) };
        let (force, rows) = (tenths(r.entries(n)), tenths(r.entries(m * n)));
        let d =
            Dynamics::new(Matrix::diagonal(&mass), force, Matrix::from_vec(m, n, rows), bias, laws).unwrap();
        let found = answer(&d).answers;
        for trial in 0..4 {
            let mut near = d.clone();
            if trial > 0 {
                let mut moved = |x: f64| x * (1.0 + r.pick(&[-3.0, -1.0, 1.0, 2.0]) * f64::EPSILON);
                near.force.iter_mut().for_each(|x| *x = moved(*x));
                near.bias.iter_mut().for_each(|x| *x = moved(*x));
                near.jacobian = Matrix::from_fn(m, n, |i, j| moved(d.jacobian[(i, j)]));
            }
            let truth = exact_answer(&near, 4096).unwrap().answers();
            for (k, said) in found.into_iter().enumerate() {
                decided[k] += usize::from(said.is_some());
                assert!(said.is_none_or(|said| said == truth[k]), "question {k}: {said:?}, {near:?}");
            }
        }
    }
    // Most of them are decided.
    assert!(decided.iter().all(|count| *count > 4 * 400 / 2), "{decided:?}");
}
