//! Arches in the plane, all modes in rational arithmetic: where friction holds them, rest is the only motion.

use delassus_solve::analysis::analyze;
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Law};

/// Two equal stones with the corners (3, 0), (4, 0), (0, 4), (0, 3) and their mirror images, on level ground.
/// Coordinates of a stone are the velocity of its point at the origin and its rotation about that: with the
/// density 12 all numbers are integers. The stone has the mass 42, its first moments are 74, and its moment
/// of inertia about the origin is 350.
fn arch(mu: f64) -> Dynamics {
    let (mut mass, mut force) = (Matrix::zeros(6, 6), vec![0.0; 6]);
    for (stone, x) in [(0, 74.0), (1, -74.0)] {
        let own = [[42.0, 0.0, -74.0], [0.0, 42.0, x], [-74.0, x, 350.0]];
        for (i, row) in own.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, entry)| mass[(3 * stone + i, 3 * stone + j)] = *entry);
        }
        force[3 * stone + 1] = 42.0;
        force[3 * stone + 2] = x;
    }
    // From the right abutment over the crown to the left one; the normal of each joint points that way.
    let joints = [
        ([1.0, 0.0], [0.0, 1.0], [None, Some(0)]),
        ([0.0, 1.0], [-1.0, 0.0], [Some(0), Some(1)]),
        ([-1.0, 0.0], [0.0, -1.0], [Some(1), None]),
    ];
    let mut rows = Vec::new();
    for (towards, normal, sides) in joints {
        for radius in [3.0, 4.0] {
            let p = towards.map(|x| radius * x);
            for d in [normal, [normal[1], -normal[0]]] {
                let mut row = [0.0; 6];
                for (sign, stone) in [-1.0, 1.0].into_iter().zip(sides) {
                    let Some(k) = stone else { continue };
                    row[3 * k] += sign * d[0];
                    row[3 * k + 1] += sign * d[1];
                    row[3 * k + 2] += sign * (p[0] * d[1] - p[1] * d[0]);
                }
                rows.push(row);
            }
        }
    }
    let laws = vec![Law::CoulombPlane { mu }; 6];
    Dynamics::new(mass, force, Matrix::from_rows(&rows), vec![0.0; 12], laws).unwrap()
}

#[test]
fn an_arch_of_two_stones_stands_surely_where_it_stands() {
    // The least thrust, H 4 = 42 · 3 − 74 about the outer end of the crown, needs the friction 13/42 = 0.3095
    // at the inner ends of the abutments. All 4096 modes: there is one acceleration, and many forces.
    for mu in [0.3125, 0.5, 2.0] {
        let found = analyze(&arch(mu), &EnumerateOptions::default());
        assert_eq!(found.verdicts(), [Verdict::Proved, Verdict::Proved, Verdict::Refuted], "{mu}");
        assert!(found.is_exact(), "{mu}");
        let moves =
            |c: &delassus_solve::modes::SolutionComponent| c.acceleration.iter().any(|a| a.abs() > 1e-12);
        assert!(!found.solutions.components.iter().any(moves), "{mu}");
    }
    // With less it slides apart: one acceleration, which is none.
    let found = analyze(&arch(157.0 / 512.0), &EnumerateOptions::default());
    assert_eq!(found.existence, Verdict::Proved);
    assert!(found.solutions.components.iter().all(|c| c.acceleration.iter().any(|a| a.abs() > 1e-12)));
}
