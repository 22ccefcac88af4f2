//! Another motion of a world that may rest, as solvers find it: it satisfies the laws to rounding, and is not
//! certified.
//!
//! ```text
//! u = W f + q ,   (f, u) in the laws ,   u ≠ 0
//! ```
//!
//! Sweeps that begin without forces find some. Where surfaces touch at several points the forces between two
//! bodies may also gather at some of them, and the bodies then turn about these: contacts are kept only where
//! they are furthest in a direction, and what the sweeps find then counts if the contacts left out, without
//! forces, do not close.

use std::collections::HashSet;

use delassus_solve::analysis::equilibrium::Support;
use delassus_solve::contact::{ContactOptions, Method, solve};
use delassus_solve::linalg::{Sparse, max_abs};
use delassus_solve::problem::{ContactProblem, Form, Law, Status};
use glam::{DVec3, IVec3};

use super::assembly::AtRest;

/// Sweeps of one search with all contacts, and with those that are kept.
const MAX_SWEEPS: [usize; 2] = [20_000, 2_000];
/// Closing slower than this, relative to free fall, is rounding.
const ROUNDING: f64 = 1e-9;
/// Slower than this, relative to free fall, is rest.
const LEAST_MOTION: f64 = 1e-4;

/// Acceleration and angular acceleration of each body, world axes, in a solution that is no rest.
pub(super) fn other_motion(at: &AtRest) -> Option<Vec<[DVec3; 2]>> {
    let mut seen = HashSet::new();
    std::iter::once(None).chain(directions().map(Some)).find_map(|direction| {
        let kept = kept(at, direction);
        if !seen.insert(kept.clone()) {
            return None;
        }
        let sweeps = MAX_SWEEPS[usize::from(direction.is_some())];
        solution(at, &kept, sweeps).map(|a| at.motion(&a))
    })
}

/// To the corners, edges and faces of a cube.
fn directions() -> impl Iterator<Item = DVec3> {
    let end = |k: i32| IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
    let sized = move |size: i32| (0..27).map(end).filter(move |d| d.length_squared() == size);
    [3, 2, 1].into_iter().flat_map(sized).map(|d| d.as_dvec3().normalize())
}

/// Which supports take part: all but contacts that others between the same bodies surpass in a direction.
fn kept(at: &AtRest, direction: Option<DVec3>) -> Vec<bool> {
    let mut out = vec![true; at.names.len()];
    let Some(d) = direction else { return out };
    let others = at.names.len() - at.contacts.len();
    let own = || at.contacts.iter().map(|(contact, _)| contact);
    let size = own().map(|c| c.point.length()).fold(0.0, f64::max);
    for (contact, kept) in own().zip(&mut out[others..]) {
        let same = own().filter(|c| c.bodies == contact.bodies);
        let furthest = same.map(|c| d.dot(c.point)).fold(f64::NEG_INFINITY, f64::max);
        *kept = d.dot(contact.point) >= furthest - ROUNDING * size;
    }
    out
}

/// The accelerations that some supports allow, where they are no rest and the supports left out let them
/// pass.
fn solution(at: &AtRest, kept: &[bool], max_iterations: usize) -> Option<Vec<f64>> {
    let law = |support: &Support| match support {
        // What holds with less than its bound.
        Support::Joint | Support::Bounded(_) => Law::Bilateral,
        Support::Contact(law) => *law,
    };
    let balance = &at.balance;
    let parts = || balance.supports.iter().zip(balance.offsets()).zip(kept);
    let (mut laws, mut rows) = (Vec::new(), Vec::new());
    for ((support, start), _) in parts().filter(|(_, kept)| **kept) {
        laws.push(law(support));
        rows.extend(start..start + support.dim());
    }
    let mass = at.masses_of_balance();
    let n = mass.len();
    let entries = |(column, i): (usize, &usize)| {
        let (columns, values) = balance.rows.row(*i);
        columns.iter().zip(values).map(move |(j, x)| (*j, column, *x)).collect::<Vec<_>>()
    };
    let entries: Vec<_> = rows.iter().enumerate().flat_map(entries).collect();
    let jacobian_transposed = Sparse::from_triplets(n, rows.len(), &entries);
    let diagonal: Vec<_> = mass.iter().enumerate().map(|(i, m)| (i, i, *m)).collect();
    let force: Vec<f64> = balance.load.iter().map(|f| -f).collect();
    let form = Form::Global {
        mass: Sparse::from_triplets(n, n, &diagonal),
        jacobian_transposed: jacobian_transposed.clone(),
        force: force.clone(),
        bias: vec![0.0; rows.len()],
    };
    let problem = ContactProblem::new(laws, form).ok()?;
    let options = ContactOptions {
        method: Method::GaussSeidel,
        tolerance: 1e-10,
        max_iterations,
        ..ContactOptions::default()
    };
    let found = solve(&problem, &options, None).ok()?;
    let pushed = jacobian_transposed.mul_vec(&found.impulse);
    let acceleration: Vec<f64> = (0..n).map(|i| (force[i] + pushed[i]) / mass[i]).collect();
    let free = (0..n).fold(0.0_f64, |top, i| top.max((force[i] / mass[i]).abs()));
    let speed = |i: usize| {
        let (columns, values) = balance.rows.row(i);
        columns
            .iter()
            .zip(values)
            .fold([0.0, 0.0], |[u, size], (j, x)| [u + x * acceleration[*j], size + x.abs() * free])
    };
    let passes = parts().filter(|(_, kept)| !**kept).all(|((_, start), _)| {
        let [u, size] = speed(start);
        u >= -ROUNDING * size
    });
    let bounds = parts().filter(|(_, kept)| **kept).map(|((support, _), _)| support);
    let mut next = 0;
    let holds = bounds.into_iter().all(|support| {
        next += support.dim();
        !matches!(support, Support::Bounded(most) if found.impulse[next - 1].abs() > *most)
    });
    let moves = max_abs(&acceleration) > LEAST_MOTION * free;
    (found.status == Status::Solved && moves && passes && holds).then_some(acceleration)
}
