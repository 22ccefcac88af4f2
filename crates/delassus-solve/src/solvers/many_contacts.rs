//! Global problems with very many contacts: whether sweeps without W are the way, and their answer in the terms of the problem.
//!
//! M v = f + H r, u = Hᵀ v + b, M with blocks of three or six rows, each constraint with one body or two. W has a block
//! for each pair of contacts that share a body, ten times the numbers of H in a heap of spheres; with
//! [`super::velocity_sweeps`] it is never formed.

use super::cone::Cone;
use super::friction::{FrictionOptions, FrictionSolution, Method};
use super::velocity_sweeps;
use super::velocity_system::System;
use super::{Status, settle};
use crate::friction_problem::{Form, FrictionProblem};
use crate::law::{Law, row_offsets};

/// Contacts in the largest island from which on W is not formed: the methods that factor it are quicker below.
const MANY: usize = 4000;
/// The most sweeps; what is not solved then has other troubles than its size.
const SWEEPS: usize = 1000;

/// Sweeps without W, where the problem is of that kind; what comes back is not always solved.
pub(super) fn solve(
    problem: &FrictionProblem,
    cones: &[Cone],
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> Option<FrictionSolution> {
    // Rows that are scaled or left out have another residual than the law that was asked for.
    let plain =
        |(law, cone): (&Law, &Cone)| law.dim() == cone.rows() && !matches!(law, Law::CoulombEllipse { .. });
    if options.method != Method::Auto
        || options.minimum_norm
        || cones.len() < MANY
        || !problem.laws.iter().zip(cones).all(plain)
    {
        return None;
    }
    let widest = cones.iter().map(|c| c.rows()).max().unwrap_or(1);
    match widest {
        1 => by_bodies::<1>(problem, cones, options, start),
        2 => by_bodies::<2>(problem, cones, options, start),
        3 => by_bodies::<3>(problem, cones, options, start),
        _ => by_bodies::<5>(problem, cones, options, start),
    }
}

/// Bodies in space have six rows, bodies in the plane three.
fn by_bodies<const D: usize>(
    problem: &FrictionProblem,
    cones: &[Cone],
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> Option<FrictionSolution> {
    swept::<D, 6>(problem, cones, options, start).or_else(|| swept::<D, 3>(problem, cones, options, start))
}

fn swept<const D: usize, const B: usize>(
    problem: &FrictionProblem,
    cones: &[Cone],
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> Option<FrictionSolution> {
    let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return None };
    let rows = row_offsets(&problem.laws);
    let system = System::<D, B>::new(mass, jacobian_transposed, force, bias, &rows, cones)?;
    let (islands, largest) = system.islands();
    if largest < MANY || 2 * largest < cones.len() {
        return None;
    }
    let begin = start.map(|start| {
        let of = |&i: &u32| {
            let mut r = [0.0; D];
            for (r, x) in r.iter_mut().zip(&start[rows[i as usize]..rows[i as usize + 1]]) {
                *r = x / system.unit;
            }
            r
        };
        system.order.iter().map(of).collect()
    });
    let most = options.max_iterations.min(SWEEPS);
    let (r, residual, iterations) = velocity_sweeps::solve(&system, begin, options.tolerance, most);
    let mut impulse = vec![0.0; bias.len()];
    for (&i, r) in system.order.iter().zip(&r) {
        for (x, r) in impulse[rows[i as usize]..rows[i as usize + 1]].iter_mut().zip(r) {
            *x = system.unit * r;
        }
    }
    let spent = if iterations >= options.max_iterations { Status::MaxIterations } else { Status::Stalled };
    let status = settle(residual, spent, options.tolerance);
    Some(FrictionSolution { impulse, status, iterations, residual, islands })
}
