//! What the residual check of every solve costs: a stack of ten boxes and a pile of some 900 spheres, solved
//! again and again from the impulses of the solve before, as in a simulation, with loads that change a
//! little.
//!
//! `cargo run --release -p delassus-solve --example residual_cost`

use std::time::Instant;

use delassus_solve::contact::{ContactOptions, Solution, Workspace, solve_into};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, Form, InvalidProblem, Law, ResidualCheck, sphere_pile};

/// Unit cubes on top of each other, four contacts at each of the corners below.
fn stack(boxes: usize) -> Result<ContactProblem, InvalidProblem> {
    let (mut mass, mut h, mut force) = (vec![], vec![], vec![]);
    for b in 0..boxes {
        mass.extend((0..6).map(|c| (6 * b + c, 6 * b + c, if c < 3 { 1.0 } else { 1.0 / 6.0 })));
        force.extend([0.0, 0.0, -0.0981, 0.0, 0.0, 0.0]);
        for (k, [x, y]) in [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]].into_iter().enumerate() {
            let first = 12 * b + 3 * k;
            for (body, z, sign) in [(Some(b), -0.5, 1.0), (b.checked_sub(1), 0.5, -1.0)] {
                let Some(body) = body else { continue };
                // Rows of the normal and of both tangents: direction, and arm × direction.
                let rows =
                    [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]];
                for (c, row) in rows.iter().enumerate() {
                    h.extend((0..6).map(|i| (6 * body + i, first + c, sign * row[i])));
                }
            }
        }
    }
    let (n, m) = (6 * boxes, 12 * boxes);
    let form = Form::Global {
        mass: Sparse::from_triplets(n, n, &mass),
        jacobian_transposed: Sparse::from_triplets(n, m, &h),
        force,
        bias: vec![0.0; m],
    };
    ContactProblem::new(vec![Law::Coulomb { mu: 0.5 }; 4 * boxes], form)
}

fn main() -> Result<(), InvalidProblem> {
    let options = ContactOptions { tolerance: 1e-6, ..Default::default() };
    println!("{:>9} {:>14} {:>14} {:>7}", "contacts", "solve, µs", "check, µs", "part");
    for (mut problem, steps) in [(stack(10)?, 2000), (sphere_pile(6, 0.5)?, 100)] {
        let (mut workspace, mut found) = (Workspace::default(), Solution::default());
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        let (mut solves, mut checks) = (0.0, 0.0);
        for step in 0..steps {
            if let Form::Global { force, .. } = &mut problem.form {
                let sign = if step % 2 == 0 { 1.0 } else { -1.0 };
                force.iter_mut().enumerate().for_each(|(i, f)| *f += sign * 1e-4 * (i as f64).sin());
            }
            let start = Instant::now();
            solve_into(&problem, &options, &mut workspace, &mut found)?;
            solves += start.elapsed().as_secs_f64();
            let start = Instant::now();
            check.load(&problem);
            std::hint::black_box(check.residual(&problem, &found.impulse, &mut velocity));
            checks += start.elapsed().as_secs_f64();
        }
        let (solve, check) = (1e6 * solves / f64::from(steps), 1e6 * checks / f64::from(steps));
        println!("{:>9} {solve:>14.1} {check:>14.1} {:>6.1}%", problem.laws.len(), 100.0 * check / solve);
    }
    Ok(())
}
