//! The forces of a set of solutions: intervals, least norm, and the part that all share.
//!
//! ```text
//! F = ⋃ₚ {fₚ + Dₚ s : Gₚ s ≥ hₚ} ,      [min, max] of each row of F ,      argmin ‖f‖ ,      projection on (F − F)^⊥
//! ```
//!
//! fₚ ∈ Rᵐ, Dₚ is m × kₚ. The set comes from the enumeration of modes, or from a single solution by
//! [`impulse_range`].

use super::Analysis;
use super::impulse_range::{ImpulseRange, has_other_forces, impulse_range};
use super::verdicts::SAME_SOLUTION;
use crate::contact::{self, ContactOptions, Solution, solve_any_law};
use crate::lcp::{Lp, linear_program};
use crate::linalg::{Matrix, max_abs, norm};
use crate::modes::{Mode, SolutionComponent};
use crate::problem::{ContactView, Dynamics, Law, Reduced, Status, row_offsets, worst_constraint};

/// How far forces may be from a solution at any constraint by itself.
const MAX_VIOLATION: f64 = 1e-8;

/// A contact whose force is below this part of the largest among forces of least norm is open: the precision
/// to which these are solved for.
const OPEN_LEAST: f64 = 1e-7;

/// Where a single solution was found: the forces that go with its acceleration, their intervals and the least
/// among them, which takes the place of the forces that the solver happened to find. Where they are not
/// known, intervals are open.
pub(super) fn add_other_forces(dynamics: &Dynamics, analysis: &mut Analysis) {
    let Some(reduced) = &analysis.reduced else { return };
    let [component] = &mut analysis.solutions.components[..] else { return };
    if component.freedom.is_some() {
        return;
    }
    match impulse_range(&dynamics.contact_problem(), &component.force) {
        Ok(ImpulseRange::Unique) => {}
        Ok(ImpulseRange::Ranges { rows, least_norm, mean, differences, .. }) => {
            component.intervals.clone_from(&rows);
            analysis.intervals = rows;
            // The least forces often lie on their cones, where none can be added.
            let between = SolutionComponent { force: mean, ..component.clone() };
            analysis.evidence.other_forces = Some(has_other_forces(dynamics, &between));
            let checked = reduced.problem(&dynamics.laws).map(|p| worst_constraint(&p, &least_norm));
            if checked.is_ok_and(|worst| worst <= MAX_VIOLATION) {
                component.modes =
                    modes_of(&dynamics.laws, reduced, &least_norm, &component.velocity, OPEN_LEAST);
                component.force.clone_from(&least_norm);
            }
            let basis = differences.transpose().row_space_with(1e-9).basis;
            let inside = basis.mul_vec(&basis.tr_mul_vec(&least_norm));
            analysis.shared_part = (basis.cols() > 0)
                .then(|| least_norm.iter().zip(&inside).map(|(f, shared)| f - shared).collect());
            analysis.minimum_norm = Some(least_norm);
        }
        Ok(ImpulseRange::Unknown) | Err(_) => {
            component.intervals.fill([f64::NEG_INFINITY, f64::INFINITY]);
            analysis.intervals.fill([f64::NEG_INFINITY, f64::INFINITY]);
            (analysis.minimum_norm, analysis.shared_part) = (None, None);
        }
    }
}

/// One solution of a small dense contact problem, whatever its laws, to a scale-free residual of `tolerance`.
///
/// For the questions of an instant, which ask for all digits of a few contacts. Large problems, and steps in
/// time, go to [`crate::contact::solve`].
pub fn one_solution(problem: &ContactView<'_>, tolerance: f64) -> Solution {
    solve_any_law(problem, tolerance)
}

/// Rows from which the methods for large problems are tried first: the exact ones take a second for a
/// hundred.
const LARGE: usize = 60;

/// One solution by the methods for large problems, to a scale-free residual of `tolerance`, if it violates no
/// law by more than 10⁻⁸ at any constraint by itself.
pub(super) fn solve_quickly(
    dynamics: &Dynamics,
    reduced: &Reduced,
    tolerance: f64,
) -> Option<SolutionComponent> {
    let laws = &dynamics.laws;
    let options = ContactOptions { tolerance, ..ContactOptions::default() };
    let found = contact::solve(&dynamics.contact_problem(), &options, None).ok()?;
    let worst = worst_constraint(&reduced.problem(laws).ok()?, &found.impulse);
    if found.status != Status::Solved || worst.is_nan() || worst > MAX_VIOLATION {
        return None;
    }
    let moved = reduced.delassus.mul_vec(&found.impulse);
    let velocity: Vec<f64> = moved.iter().zip(&reduced.free_velocity).map(|(u, q)| u + q).collect();
    Some(SolutionComponent {
        modes: modes_of(laws, reduced, &found.impulse, &velocity, 1e-9),
        acceleration: reduced.acceleration(&found.impulse),
        velocity,
        force: found.impulse,
        freedom: None,
        intervals: vec![],
    })
}

/// One solution by an iterative solver, if it violates no law by more than 10⁻⁸ at any constraint by itself.
pub(super) fn solve_once(dynamics: &Dynamics, reduced: &Reduced) -> Option<SolutionComponent> {
    let laws = &dynamics.laws;
    if reduced.free_velocity.len() > LARGE
        && let Some(found) = solve_quickly(dynamics, reduced, 1e-12)
    {
        return Some(found);
    }
    let problem = reduced.problem(laws).ok()?;
    let solution = one_solution(&problem, 1e-12);
    if worst_constraint(&problem, &solution.impulse) > MAX_VIOLATION {
        return None;
    }
    let modes = modes_of(laws, reduced, &solution.impulse, &solution.velocity, 1e-9);
    Some(SolutionComponent {
        modes,
        acceleration: reduced.acceleration(&solution.impulse),
        velocity: solution.velocity,
        force: solution.impulse,
        freedom: None,
        intervals: vec![],
    })
}

/// A solution by the forces of its contacts, those of joints added.
pub(super) fn component(
    reduced: &Reduced,
    laws: &[Law],
    modes: Vec<Mode>,
    mut force: Vec<f64>,
) -> Option<SolutionComponent> {
    let (w, q, offsets) = (&reduced.delassus, &reduced.free_velocity, row_offsets(laws));
    let joints: Vec<usize> =
        laws.iter().zip(&offsets).filter(|(law, _)| **law == Law::Bilateral).map(|(_, at)| *at).collect();
    let moved = w.mul_vec(&force);
    let missing: Vec<f64> = joints.iter().map(|&i| -(moved[i] + q[i])).collect();
    let bilateral = if joints.is_empty() { vec![] } else { w.select(&joints, &joints).solve(&missing)? };
    joints.iter().zip(&bilateral).for_each(|(i, x)| force[*i] = *x);
    let velocity: Vec<f64> = w.mul_vec(&force).iter().zip(q).map(|(u, q)| u + q).collect();
    let acceleration = reduced.acceleration(&force);
    Some(SolutionComponent { modes, force, velocity, acceleration, freedom: None, intervals: vec![] })
}

/// What each constraint does: open where its force is below a part of the largest.
fn modes_of(laws: &[Law], reduced: &Reduced, force: &[f64], velocity: &[f64], open: f64) -> Vec<Mode> {
    let offsets = row_offsets(laws);
    let speed = max_abs(&reduced.free_velocity).max(f64::MIN_POSITIVE);
    let top = max_abs(force);
    let mode = |(k, law): (usize, &Law)| {
        let rows = offsets[k]..offsets[k + 1];
        let (f, u) = (&force[rows.clone()], &velocity[rows]);
        if law.is_bilateral() {
            Mode::Bilateral
        } else if f[0] <= open * top {
            Mode::Open
        } else if f.len() > 1 && norm(&u[1..]) <= 1e-9 * speed {
            Mode::Stick
        } else {
            Mode::Slide
        }
    };
    laws.iter().enumerate().map(mode).collect()
}

/// Writes [min, max] of each force over each of some components, by linear programming; returns those over
/// all of them.
pub(super) fn measure_intervals(components: &mut [SolutionComponent]) -> Vec<[f64; 2]> {
    for component in components.iter_mut() {
        component.intervals = (0..component.force.len()).map(|i| component_interval(component, i)).collect();
    }
    let Some((first, others)) = components.split_first() else { return vec![] };
    let mut all = first.intervals.clone();
    for component in others {
        for (range, own) in all.iter_mut().zip(&component.intervals) {
            *range = [range[0].min(own[0]), range[1].max(own[1])];
        }
    }
    all
}

fn component_interval(component: &SolutionComponent, i: usize) -> [f64; 2] {
    let base = component.force[i];
    let Some(freedom) = &component.freedom else { return [base, base] };
    let c = freedom.force.row(i);
    let top = freedom.force.max_abs();
    if max_abs(c) <= 1e-11 * top {
        return [base, base];
    }
    let end = |sign: f64| {
        let cost: Vec<f64> = c.iter().map(|x| sign * x).collect();
        match linear_program(&cost, &freedom.bounds, &freedom.limits) {
            Lp::Optimal { value, .. } => base + sign * value,
            // Without a bound the interval is left open: it may be too wide, never too narrow.
            Lp::Unbounded | Lp::Infeasible | Lp::Undecided => -sign * f64::INFINITY,
        }
    };
    [end(1.0), end(-1.0)]
}

/// f less its component in the span of all differences of solutions.
pub(super) fn unique_part(f: &[f64], components: &[SolutionComponent]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for component in components {
        let difference: Vec<f64> = component.force.iter().zip(f).map(|(a, b)| a - b).collect();
        if norm(&difference) > SAME_SOLUTION * norm(f) {
            rows.push(difference.iter().map(|x| x / norm(&difference)).collect());
        }
        if let Some(d) = &component.freedom {
            let top = d.force.max_abs();
            rows.extend(
                (0..d.force.cols())
                    .map(|j| d.force.col(j))
                    .filter(|c| norm(c) > 1e-11 * top)
                    .map(|c| c.iter().map(|x| x / norm(&c)).collect()),
            );
        }
    }
    if rows.is_empty() {
        return f.to_vec();
    }
    let basis = Matrix::from_rows(&rows).row_space_with(1e-9).basis;
    let inside = basis.mul_vec(&basis.tr_mul_vec(f));
    f.iter().zip(&inside).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::Freedom;

    /// f = (1, 0, 3) + s (−1, 1, 0), 0 ≤ s ≤ 1.
    fn segment() -> SolutionComponent {
        SolutionComponent {
            modes: vec![Mode::Slide; 3],
            force: vec![1.0, 0.0, 3.0],
            velocity: vec![0.0; 3],
            acceleration: vec![],
            freedom: Some(Freedom {
                force: Matrix::from_rows(&[[-1.0], [1.0], [0.0]]),
                acceleration: Matrix::zeros(0, 1),
                bounds: Matrix::from_rows(&[[1.0], [-1.0]]),
                limits: vec![0.0, -1.0],
            }),
            intervals: vec![],
        }
    }

    #[test]
    fn intervals_span_all_components() {
        let point = SolutionComponent { force: vec![2.0, 0.5, 3.0], freedom: None, ..segment() };
        let mut both = [segment(), point];
        let ranges = measure_intervals(&mut both);
        for (range, exact) in ranges.iter().zip([[0.0, 2.0], [0.0, 1.0], [3.0, 3.0]]) {
            assert!(range.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-15), "{ranges:?}");
        }
        // Each component keeps its own.
        assert_eq!(both[1].intervals, [[2.0, 2.0], [0.5, 0.5], [3.0, 3.0]]);
        assert!((both[0].intervals[0][1] - 1.0).abs() < 1e-15, "{both:?}");
        assert!(measure_intervals(&mut []).is_empty());
    }

    #[test]
    fn the_unique_part_is_orthogonal_to_all_differences() {
        // (1, 0, 3) less its component along (−1, 1, 0)/√2.
        let part = unique_part(&[1.0, 0.0, 3.0], &[segment()]);
        assert!(part.iter().zip([0.5, 0.5, 3.0]).all(|(a, b)| (a - b).abs() < 1e-15), "{part:?}");
        let point = SolutionComponent { freedom: None, ..segment() };
        assert_eq!(unique_part(&point.force, std::slice::from_ref(&point)), point.force);
    }
}
