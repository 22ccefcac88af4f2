//! Loads of joints that hold more than they need to, and the motions that go with other loads.
//!
//! ```text
//! r = r* + z ,   Hᵀ z = 0 ,   |friction of joint j| ≤ μ_j ‖load rows of r_j‖
//! ```
//!
//! Where rows of joints are redundant, forces z between their bearings move no body and are not determined.
//! Friction that follows the load of a joint is then not determined either: r*, of least norm, is taken, and
//! a door whose hinges are under stress brakes harder.

use delassus_solve::linalg::{Matrix, dot, norm};

use super::super::row_targets::RowTarget;
use super::SolveInput;
use crate::world::{RowKind, row_velocity};

/// Rows of joints up to which loads are shared among redundant rows: a decomposition of a dense matrix.
const MAX_SHARED_ROWS: usize = 100;
/// Singular values below this part of the largest are rounding.
const NULL_SPACE_RATIO: f64 = 1e-10;
/// How much of what a joint carries is put on it as a stress, to see whether bodies move otherwise then.
/// Twice the load moves it from one bearing to another, which may leave the sum of their frictions what it
/// is.
const STRESS_RATIO: f64 = 8.0;
/// Stress below this part of the loads is rounding.
const MIN_STRESS_RATIO: f64 = 1e-6;

/// Whether redundant rows carry loads that bound a force.
fn loads_matter(input: &SolveInput<'_>) -> bool {
    let SolveInput { rows, targets, .. } = *input;
    let follows_load = |kind: &RowKind| matches!(kind, RowKind::Bounded { per_load, .. } if *per_load > 0.0);
    rows.bilateral <= MAX_SHARED_ROWS
        && targets.joints[..rows.bilateral].contains(&RowTarget::LeftOut)
        && rows.rows.iter().any(|row| follows_load(&row.kind))
}

/// A basis of the impulses of bilateral rows that move no body.
fn null_basis(input: &SolveInput<'_>) -> Matrix {
    let SolveInput { masses, rows, .. } = *input;
    let n = rows.bilateral;
    let mut h = Matrix::zeros(masses.mass.len(), n);
    for (i, row) in rows.rows[..n].iter().enumerate() {
        for (body, block) in rows.blocks_of(row) {
            let at = 6 * masses.slot[*body as usize] as usize;
            (0..6).for_each(|c| h[(at + c, i)] = block[c]);
        }
    }
    h.row_space_with(NULL_SPACE_RATIO).null_basis
}

/// The part of impulses that moves no body.
fn null_part(null: &Matrix, r: &[f64]) -> Vec<f64> {
    let mut part = vec![0.0; null.rows()];
    for k in 0..null.cols() {
        let z = null.col(k);
        let along = dot(&z, &r[..null.rows()]);
        part.iter_mut().zip(&z).for_each(|(p, z)| *p += along * z);
    }
    part
}

/// Impulses of joints that hold more than they need to, shared among all of their rows so that their norm is
/// least. Which rows are left out as redundant, and so the order of joints, does not enter. `None` where no
/// row that others make redundant carries a load which bounds a force.
pub(super) fn least_norm_loads(input: &SolveInput<'_>, row_impulse: &[f64]) -> Option<Vec<f64>> {
    if !loads_matter(input) {
        return None;
    }
    let mut loads = row_impulse.to_vec();
    let null = null_part(&null_basis(input), row_impulse);
    loads.iter_mut().zip(null).for_each(|(r, z)| *r -= z);
    Some(loads)
}

/// A stress z of redundant joints under which friction that slides with these velocities is another: eight
/// times what one of them carries, of the one whose rows it loads most. `None` where there is none.
pub(super) fn stress(input: &SolveInput<'_>, row_impulse: &[f64], velocity: &[f64]) -> Option<Vec<f64>> {
    if !loads_matter(input) {
        return None;
    }
    let SolveInput { rows, masses, .. } = *input;
    let null = null_basis(input);
    let n = rows.bilateral;
    let mut loads = row_impulse[..n].to_vec();
    loads.iter_mut().zip(null_part(&null, row_impulse)).for_each(|(r, z)| *r -= z);
    let mut most: Option<(f64, Vec<f64>)> = None;
    for (i, row) in rows.rows.iter().enumerate() {
        let slides = row_velocity(rows, i, masses, velocity) != 0.0;
        if !matches!(row.kind, RowKind::Bounded { per_load, .. } if per_load > 0.0 && slides) {
            continue;
        }
        let own = |k: usize| rows.rows[k].joint == row.joint;
        let carried: Vec<f64> = (0..n).map(|k| if own(k) { loads[k] } else { 0.0 }).collect();
        let z = null_part(&null, &carried);
        let loading =
            (0..n).filter(|&k| own(k)).map(|k| (rows.rows[k].load * z[k]).powi(2)).sum::<f64>().sqrt();
        if loading > MIN_STRESS_RATIO * norm(&loads) && most.as_ref().is_none_or(|(best, _)| loading > *best)
        {
            most = Some((loading, z));
        }
    }
    most.map(|(_, z)| z.into_iter().map(|z| STRESS_RATIO * z).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::input;
    use super::*;
    use crate::stepping::model::fixtures::*;
    use crate::stepping::options::StepOptions;
    use crate::stepping::row_targets::RowTargets;
    use crate::world::ActionKind;

    /// What happens to a ball that the same guide holds twice, the first one with dry friction μ of its load
    /// and with these impulses of its five rows.
    fn held_twice(mu: f64, first: [f64; 5], test: impl FnOnce(&SolveInput<'_>, &[f64])) {
        let friction = ActionKind::Speed { target: formula("0"), force: 0.0 };
        let (mut world, mut state) = slider(friction, 0.5, 0.0);
        let mut second = world.joints[0].clone();
        second.actions.clear();
        world.joints.push(second);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.01);
        let mut rows = on.joint_rows().clone();
        assert_eq!((rows.bilateral, rows.rows.len()), (10, 11));
        assert!(rows.rows[..5].iter().all(|row| row.joint == rows.rows[10].joint));
        rows.rows[10].kind = RowKind::Bounded { force: 0.0, per_load: mu };
        let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; 5];
        joints.extend([RowTarget::LeftOut; 5]);
        joints.push(RowTarget::Velocity { bias: 0.0 });
        let targets = RowTargets { joints, ..RowTargets::default() };
        let mut impulses = first.to_vec();
        impulses.resize(11, 0.0);
        test(&SolveInput { rows: &rows, tree: None, ..input(&model, &on, &targets, 0.01) }, &impulses);
    }

    const CARRIED: [f64; 5] = [4.0, -2.0, 0.5, 0.25, 0.0];

    #[test]
    fn two_equal_joints_share_what_one_of_them_was_found_to_carry() {
        held_twice(0.3, CARRIED, |input, impulses| {
            let loads = least_norm_loads(input, impulses).unwrap();
            for (i, r) in CARRIED.iter().enumerate() {
                assert!((loads[i] - 0.5 * r).abs() < 1e-14 && (loads[5 + i] - 0.5 * r).abs() < 1e-14);
            }
        });
        // Where no bound follows a load, it does not matter who carries it.
        held_twice(0.0, CARRIED, |input, impulses| assert_eq!(least_norm_loads(input, impulses), None));
    }

    #[test]
    fn a_stress_loads_one_joint_against_the_other_and_moves_nothing() {
        let slides = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        held_twice(0.3, CARRIED, |input, impulses| {
            let z = stress(input, impulses, &slides).unwrap();
            // Of the half that it carries, half moves nothing; eight times that.
            for (i, r) in CARRIED.iter().enumerate() {
                assert!((z[i] - 2.0 * r).abs() < 1e-13 && (z[5 + i] + 2.0 * r).abs() < 1e-13, "{z:?}");
            }
            // Friction that does not slide is no other under another load.
            assert_eq!(stress(input, impulses, &[0.0; 6]), None);
        });
        held_twice(0.3, [0.0; 5], |input, impulses| assert_eq!(stress(input, impulses, &slides), None));
    }
}
