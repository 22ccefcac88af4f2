//! Tests of the sweeps in lanes.

use super::super::balls::tests::{system_of, turned_pile};
use super::super::contact_rows::{push, share};
use super::*;
use crate::contact::cone::natural;
use crate::linalg::mul;
use crate::random::Random;

/// Velocities, errors and relaxed impulses agree with those of general rows.
#[test]
fn a_quad_is_its_contacts_in_fewer_numbers() {
    let system = system_of(&turned_pile());
    let quads = &system.balls.quads;
    let mut random = Random(5);
    let mut y = vec![];
    let mut numbers: Vec<[f64; 6]> =
        system.free.iter().map(|_| std::array::from_fn(|_| random.centred())).collect();
    numbers.push([0.0; 6]);
    share(&numbers, &mut y);
    let mut impulses = LaneImpulses::default();
    let mut modes = [0; 3];
    let weights = SweepWeights { momentum: 0.0, relaxation: 1.0 };
    impulses.load(quads, |_| [random.centred() + 0.5, 0.2 * random.centred(), 0.2 * random.centred()]);
    for (k, quad) in quads.list.iter().enumerate() {
        let before = quad.gather(|b| get(&y[b]));
        let u = quad.velocity(&before);
        let (old, mut error) = (impulses.r[k], 0.0);
        let (r, last) = (&mut impulses.r[k], &mut impulses.last[k]);
        let found = quad.error_square(r, &before);
        let (after, square) = quad.relax(r, last, weights, None, &before);
        let mut moved = 0.0;
        for (lane, contact) in quads.contacts(k).map(|i| &system.contacts[i]).enumerate() {
            let of = |r: &[Four; 3]| std::array::from_fn(|i| r[i][lane]);
            let (u, old, new): ([f64; 3], [f64; 3], [f64; 3]) = (of(&u), of(&old), of(&impulses.r[k]));
            let expected = contact.velocity(|b| get(&y[b]));
            assert!((0..3).all(|c| (u[c] - expected[c]).abs() < 1e-13), "{u:?} {expected:?}");
            error += natural(contact.cone, contact.rho, &old, &u).iter().map(|x| x * x).sum::<f64>();
            let change: [f64; 3] = std::array::from_fn(|i| new[i] - old[i]);
            moved += change.iter().map(|x| x * x).sum::<f64>();
            // With its impulse a contact satisfies its law, and its bodies have moved by G times the
            // change.
            let mine = mul(&contact.w, &change);
            let left = natural(contact.cone, contact.rho, &new, &std::array::from_fn(|c| u[c] + mine[c]));
            assert!(left.iter().all(|x| x.abs() < 1e-12), "{left:?}");
            for side in (0..2).filter(|&s| contact.body[s] != NONE) {
                let mut expected: [f64; 6] = std::array::from_fn(|c| before[side][c][lane]);
                push(&mut expected, &contact.g[side], &change);
                assert!((0..6).all(|c| (expected[c] - after[side][c][lane]).abs() < 1e-13));
            }
            let edge = new[1].hypot(new[2]) >= (1.0 - 1e-12) * quad.mu[lane] * new[0];
            modes[if new[0] == 0.0 { 0 } else { 1 + usize::from(edge) }] += 1;
        }
        assert!((found - error).abs() < 1e-12 && (square - moved).abs() < 1e-12);
        quad.scatter(&after, |b, numbers| set(&y[b], &numbers));
    }
    // Open, sticking and sliding ones; the ground has not moved.
    assert!(modes.iter().all(|m| *m > 0), "{modes:?}");
    assert_eq!(get(&y[system.free.len()]), [0.0; 6]);
}

/// While its slip is held, a contact is left with the convex law: r in the cone, u + σ n in its dual, and the
/// two of them orthogonal.
#[test]
fn a_contact_with_a_slip_held_satisfies_the_convex_law() {
    let system = system_of(&turned_pile());
    let quads = &system.balls.quads;
    let mut random = Random(8);
    let numbers = [[0.0; 6]].repeat(system.free.len() + 1);
    let mut y = vec![];
    share(&numbers, &mut y);
    let mut modes = [0; 3];
    let mut impulses = LaneImpulses::default();
    impulses.load(quads, |_| [0.0; 3]);
    for (k, quad) in quads.list.iter().enumerate() {
        let before = quad.gather(|_| std::array::from_fn(|_| random.centred()));
        let slip: Four = std::array::from_fn(|_| random.centred().abs());
        let (r, last) = (&mut impulses.r[k], &mut impulses.last[k]);
        let weights = SweepWeights { momentum: 0.0, relaxation: 1.0 };
        quad.relax(r, last, weights, Some(&slip), &before);
        let u = quad.velocity(&before);
        for lane in 0..quads.contacts(k).len() {
            let [n, t] = quad.inverse.map(|inverse| 1.0 / inverse[lane]);
            let (mu, r) = (quad.mu[lane], r.map(|r| r[lane]));
            // The velocity in the metric in which the contact is solved, which is that of W itself but for
            // the coupling of its rows.
            let pushed = [u[0][lane] + n * r[0] + slip[lane], u[1][lane] + t * r[1], u[2][lane] + t * r[2]];
            let (friction, left) = (r[1].hypot(r[2]), pushed[1].hypot(pushed[2]));
            assert!(friction <= mu * r[0] + 1e-12 && mu * left <= pushed[0] + 1e-12, "{r:?} {pushed:?}");
            let product: f64 = (0..3).map(|i| r[i] * pushed[i]).sum();
            assert!(product.abs() < 1e-12, "{product}");
            modes[if r[0] == 0.0 { 0 } else { 1 + usize::from(left > 1e-9) }] += 1;
        }
    }
    assert!(modes.iter().all(|m| *m > 0), "{modes:?}");
}

/// One thread, several threads, and one contact after the other: the same bits.
#[test]
fn sweeps_have_the_same_bits_for_any_number_of_threads() {
    let system = system_of(&turned_pile());
    let quads = &system.balls.quads;
    let run = |alone: bool| {
        let (mut y, mut impulses) = (vec![], LaneImpulses::default());
        let mut numbers = system.free.clone();
        numbers.push([0.0; 6]);
        share(&numbers, &mut y);
        impulses.load(quads, |_| [0.0; 3]);
        for count in 0..8 {
            impulses.sweep(quads, 1.1, &mut y, |_, _| alone);
            impulses.momentum = 0.5;
            if count == 4 {
                impulses.hold_slips(quads, &y);
            }
        }
        let end: Vec<[f64; 6]> = y.iter().map(get).collect();
        (end, impulses.r, impulses.squares)
    };
    assert!(run(true) == run(false));
}
