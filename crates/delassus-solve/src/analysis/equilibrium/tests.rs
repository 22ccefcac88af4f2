//! Blocks on slopes, tables and bars, of which it is known whether they stand.

use proptest::prelude::*;

use super::*;

const COULOMB: fn(f64) -> Support = |mu| Support::Contact(Law::Coulomb { mu });

/// The normal and the tangents at a point (x, y, z) of one body with a floor below it.
fn corner([x, y, z]: [f64; 3]) -> [[f64; 6]; 3] {
    [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]]
}

fn balance(rows: &[[f64; 6]], load: [f64; 6], supports: Vec<Support>) -> Balance {
    let entries: Vec<_> = rows
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, x)| (i, j, *x)))
        .filter(|(_, _, x)| *x != 0.0)
        .collect();
    Balance {
        rows: Sparse::from_triplets(rows.len(), 6, &entries),
        load: load.to_vec(),
        load_error: vec![0.0; 6],
        supports,
        rounding: 1e-10,
    }
}

/// A box on a slope, in the axes of the slope: friction μ at four corners, weight 9.81 at the height 0.3.
fn block(angle: f64, mu: f64) -> Balance {
    let corners = [[0.5, 0.4], [0.5, -0.4], [-0.5, 0.4], [-0.5, -0.4]];
    let rows: Vec<_> = corners.iter().flat_map(|[x, y]| corner([*x, *y, -0.3])).collect();
    balance(&rows, [9.81 * angle.sin(), 0.0, 9.81 * angle.cos(), 0.0, 0.0, 0.0], vec![COULOMB(mu); 4])
}

/// Whether rest is proved, and whether collapse is.
fn verdicts(balance: &Balance) -> [bool; 2] {
    let searches = [RestSearch::Frictionless, RestSearch::Common, RestSearch::Most];
    let rests = searches.iter().any(|s| find_rest(balance, *s).is_some_and(|(f, _)| is_rest(balance, &f)));
    [rests, find_collapse(balance, |v| is_collapse(balance, v)).is_some()]
}

#[test]
fn a_block_on_a_slope_stands_up_to_the_angle_of_friction() {
    let angle = 20_f64.to_radians();
    for (share, answer) in [(1.00001, [true, false]), (0.99999, [false, true]), (3.0, [true, false])] {
        assert_eq!(verdicts(&block(angle, share * angle.tan())), answer, "{share}");
    }
    // Exactly at the limit the last digits decide.
    assert_eq!(verdicts(&block(angle, angle.tan())), [false, false]);
    // Level ground needs no friction, and the slope does.
    let without = |b: &Balance| find_rest(b, RestSearch::Frictionless).is_some_and(|(f, _)| is_rest(b, &f));
    assert!(without(&block(0.0, 0.7)) && !without(&block(angle, 0.7)));
    // Steeper than its corners allow it tips, whatever the friction.
    assert_eq!(verdicts(&block(59_f64.to_radians(), 9.0)), [true, false]);
    assert_eq!(verdicts(&block(60_f64.to_radians(), 9.0)), [false, true]);
}

#[test]
fn forces_and_velocities_that_were_tampered_with_are_refused() {
    let angle = 0.3_f64;
    let stands = block(angle, 0.5);
    let (forces, slack) = find_rest(&stands, RestSearch::Common).unwrap();
    assert!(is_rest(&stands, &forces) && slack > 0.0);
    for i in 0..forces.len() {
        // Less than the slack that forces have, and there is a balance near them.
        for change in [|f: f64| f + 5.0, |_: f64| f64::NAN, |f: f64| -f - 5.0] {
            let mut other = forces.clone();
            other[i] = change(other[i]);
            assert!(!is_rest(&stands, &other), "{i}");
        }
    }
    assert!(!is_rest(&block(angle, 0.3), &forces) && !is_rest(&stands, &forces[..11]));
    let falls = block(angle, 0.25);
    let v = find_collapse(&falls, |v| is_collapse(&falls, v)).unwrap();
    assert!(!is_collapse(&stands, &v));
    let reversed: Vec<f64> = v.iter().map(|v| -v).collect();
    assert!(!is_collapse(&falls, &reversed) && !is_collapse(&falls, &[0.0; 6]));
    for i in [0, 2] {
        let mut other = v.clone();
        other[i] = -other[i];
        assert!(!is_collapse(&falls, &other), "{i}");
        other[i] = f64::NAN;
        assert!(!is_collapse(&falls, &other));
    }
}

#[test]
fn a_corner_that_cannot_carry_anything_is_left_out() {
    // The weight is above the line between two of three feet: the third carries nothing, and the last digits
    // decide whether the table tips to the other side. With a fourth foot there it stands.
    let feet = [[0.3, 0.2], [-0.3, -0.2], [0.3, -0.2], [-0.31, 0.21]];
    let rows: Vec<_> = feet.iter().flat_map(|[x, y]| corner([*x, *y, -0.7])).collect();
    let weight = [0.0, 0.0, 12.753, 0.0, 0.0, 0.0];
    let mut three = balance(&rows[..9], weight, vec![COULOMB(0.5); 3]);
    assert_eq!(verdicts(&three), [false, false]);
    assert_eq!(verdicts(&balance(&rows, weight, vec![COULOMB(0.5); 4])), [true, false]);
    three.load[4] = 0.1;
    assert_eq!(verdicts(&three).iter().filter(|x| **x).count(), 1);
    // A wall that touches from the side carries nothing, and without friction it cannot: it is no harm.
    let mut with_wall = rows.clone();
    with_wall.push([-1.0, 0.0, 0.0, 0.0, 0.7, 0.2]);
    let mut supports = vec![COULOMB(0.5); 4];
    supports.push(Support::Contact(Law::Unilateral));
    let level = balance(&with_wall, weight, supports);
    let (forces, _) = find_rest(&level, RestSearch::Most).unwrap();
    assert!(is_rest(&level, &forces));
}

#[test]
fn a_bar_on_a_pin_falls_unless_its_friction_or_a_contact_holds_it() {
    // A bar along x, its pin at its end (−0.5, 0, 0) about y: five locked rows, written out.
    let pin = [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, -0.5],
        [0.0, 0.0, 1.0, 0.0, 0.5, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ];
    let weight = [0.0, 0.0, 9.81, 0.0, 0.0, 0.0];
    let with = |row: [f64; 6], support: Support| {
        let rows: Vec<_> = pin.iter().copied().chain([row]).collect();
        let mut supports = vec![Support::Joint; 5];
        supports.push(support);
        balance(&rows, weight, supports)
    };
    let about = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    // The moment of the weight about the pin is 4.905.
    assert_eq!(verdicts(&with(about, Support::Bounded(4.906))), [true, false]);
    assert_eq!(verdicts(&with(about, Support::Bounded(4.904))), [false, true]);
    let below = [0.0, 0.0, 1.0, 0.0, -0.4, 0.0];
    let above = below.map(|x: f64| -x);
    assert_eq!(verdicts(&with(below, Support::Contact(Law::Unilateral))), [true, false]);
    assert_eq!(verdicts(&with(above, Support::Contact(Law::Unilateral))), [false, true]);
    // The largest factor on the weight that a motor of 10 N m holds.
    let motor = with(about, Support::Bounded(10.0));
    let factor = largest_factor(&motor.with_load(vec![0.0; 6], vec![0.0; 6]), &weight).unwrap();
    assert!((factor - 10.0 / 4.905).abs() < 1e-6, "{factor}");
    // What nothing bounds has no largest factor.
    let free = largest_factor(&with(below, Support::Joint), &weight);
    assert!(free.is_some_and(|factor| factor > 1e6));
    assert_eq!(largest_factor(&motor, &[0.0; 6]), Some(f64::INFINITY));
}

#[test]
fn rolling_and_spinning_friction_hold_what_sliding_friction_does_not() {
    // A ball of radius 0.5 on a floor, pushed at its top by 1 N, and turned about the vertical by 0.2 N m.
    let mut rows = corner([0.0, 0.0, -0.5]).to_vec();
    rows.push([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    rows.push([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    rows.push([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let ball = |rolling: f64, spinning: f64| {
        let law = Law::Spinning { mu: 0.3, rolling, spinning };
        balance(&rows, [-1.0, 0.0, 10.0, 0.0, -0.5, -0.2], vec![Support::Contact(law)])
    };
    // The floor pushes back with 1 N; the moment left is 1 N m, of which friction with 10 N carries 10 times
    // its coefficient.
    assert_eq!(verdicts(&ball(0.101, 0.021)), [true, false]);
    assert_eq!(verdicts(&ball(0.099, 0.021)), [false, true]);
    assert_eq!(verdicts(&ball(0.101, 0.019)), [false, true]);
    // Half of all coefficients is too little.
    assert_eq!(verdicts(&ball(0.15, 0.03).with_friction(0.5)), [false, true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rest_and_collapse_exclude_each_other_and_one_of_them_is_found(
        points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 3..7),
        load in prop::array::uniform6(-1.0..1.0_f64),
        mu in 0.05..1.0_f64,
    ) {
        let rows: Vec<_> = points.iter().flat_map(|p| corner(*p)).collect();
        let mut load = load;
        load[2] += 2.0;
        let b = balance(&rows, load, vec![COULOMB(mu); points.len()]);
        let [rests, collapses] = verdicts(&b);
        prop_assert!(!(rests && collapses));
        // How far the load is from the limit: a hundredth more or less friction decides the same.
        let slack = find_rest(&b, RestSearch::Common).map_or(-1.0, |(_, slack)| slack);
        if slack.abs() > 1e-4 {
            prop_assert!(rests == (slack > 0.0) && collapses == (slack < 0.0), "slack {slack}");
        }
    }
}
