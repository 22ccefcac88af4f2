//! Rows of joints whose force is bounded: dry friction, and motors that keep a speed.
//!
//! ```text
//! |f| ≤ L ,   f = −L sign(u) where u ≠ 0 ,   f opposes u̇ where u = 0 ,   L = force + per_load √(Σ λ²)
//! ```
//!
//! u is the velocity of the row against its target, λ are the forces of the locked displacements of the
//! joint. A row that moves has a known force, which goes to F. One at rest with a constant L is a pad that L
//! presses on a plate: a mass m of its own, in a coordinate y of its own, m ÿ + L = f_n with 0 ≤ ÿ ⊥ f_n ≥ 0,
//! so that f_n = L in every solution; Coulomb's law with the coefficient one at (y, row) is then the law
//! above, and all that decides and verifies contacts decides and verifies it. With L = per_load |λ| and one λ
//! the row is the tangent of that guide. A motor without a bound at its speed is a joint. What is none of
//! these is left out.

use super::world_forces::Forces;
use super::world_parts::{BoundedRow, JointRow, NamedContact, WorldParts};
use crate::lagrangian::{ContactKinematics, JointKinematics, Row};
use crate::world::{Action, ActionKind, RowKind, Rows, World};

/// The bounded rows among all rows of joints; `dense` holds all of them in the coordinates of the world.
pub(super) fn bounded_rows(world: &World, rows: &Rows, dense: &[Row]) -> Vec<BoundedRow> {
    let others = rows.bilateral + rows.limits;
    let of_joint = |i: usize| (others..i).filter(|&k| rows.rows[k].joint == rows.rows[i].joint).count();
    let bounded = |i: usize| {
        let RowKind::Bounded { force, per_load } = rows.rows[i].kind else { return None };
        let index = rows.rows[i].joint as usize;
        let joint = &world.joints[index];
        // A joint has one row per action, then those of its friction.
        let has_row = |a: &&Action| !matches!(a.kind, ActionKind::Limits { .. } | ActionKind::Drive { .. });
        let action = joint.actions.iter().filter(has_row).nth(of_joint(i));
        let what = if action.is_some() { "motor" } else { "friction" };
        // Motors to a position brake the others of their joint too.
        let needs_step = joint.actions.iter().any(|a| matches!(a.kind, ActionKind::Position { .. }));
        let row = dense[i].clone();
        let name = format!("{what} of {}", joint.name);
        Some(BoundedRow { name, joint: index, needs_step, force, per_load, row })
    };
    let mut found: Vec<BoundedRow> = (others..rows.rows.len()).filter_map(bounded).collect();
    for i in 0..found.len() {
        let same: Vec<usize> = (0..found.len()).filter(|&k| found[k].name == found[i].name).collect();
        if same.len() > 1 {
            same.iter().enumerate().for_each(|(k, &at)| found[at].name += &format!("#{}", k + 1));
        }
    }
    found
}

/// Puts the bounded rows of a world into its other parts; how many pads they became. `tolerance`: velocities
/// below it are zero.
pub(super) fn add_bounded_rows(parts: &mut WorldParts, tolerance: f64) -> usize {
    let mut pads = Vec::new();
    for bounded in std::mem::take(&mut parts.bounded) {
        let at_rest = bounded.row.velocity.abs() <= tolerance;
        let mobility: f64 = bounded.row.gradient.iter().zip(&parts.mass).map(|(g, m)| g * g / m).sum();
        let BoundedRow { name, force, per_load, .. } = &bounded;
        if mobility == 0.0 {
            continue;
        }
        if bounded.needs_step {
            parts.left_out.push(format!("the {name}, as the joint has a motor to a position"));
        } else if *per_load > 0.0 && !(at_rest && *force > 0.0) && add_guide(parts, &bounded) {
            brake(&mut parts.force, &bounded.row, if at_rest { 0.0 } else { *force });
        } else if *per_load > 0.0 {
            parts.left_out.push(format!("the {name}, which grows with its load"));
        } else if at_rest && force.is_infinite() {
            let kinematics = JointKinematics { value: 0.0, row: bounded.row.clone(), slip: vec![], mu: 0.0 };
            let (name, joint) = (name.clone(), bounded.joint);
            parts.joints.push(JointRow { name, joint, load: 0.0, kinematics });
        } else if at_rest && *force > 0.0 {
            pads.push((bounded, mobility));
        } else if force.is_finite() {
            brake(&mut parts.force, &bounded.row, *force);
        } else {
            parts.left_out.push(format!("the {name}, whose unbounded force has not reached its speed yet"));
        }
    }
    add_pads(parts, &pads);
    pads.len()
}

/// F less a force −`force` sign(u) along a row.
fn brake(total: &mut Forces, row: &Row, force: f64) {
    total.add_along(&row.gradient, force * row.velocity.signum());
}

/// Makes a row the tangent of the one locked displacement of its joint; false where there are more, or where
/// it has a tangent already.
fn add_guide(parts: &mut WorldParts, bounded: &BoundedRow) -> bool {
    let mut loads = parts.joints.iter_mut().filter(|j| j.joint == bounded.joint && j.load != 0.0);
    match (loads.next(), loads.next()) {
        (Some(one), None) if one.kinematics.slip.is_empty() => {
            one.kinematics.slip = vec![bounded.row.clone()];
            one.kinematics.mu = bounded.per_load * one.load.abs();
            true
        }
        _ => false,
    }
}

/// Appends pads, each with its coordinate behind all others.
fn add_pads(parts: &mut WorldParts, pads: &[(BoundedRow, f64)]) {
    let n = parts.mass.len();
    let widen = |row: &mut Row| row.gradient.resize(n + pads.len(), 0.0);
    for joint in &mut parts.joints {
        widen(&mut joint.kinematics.row);
        joint.kinematics.slip.iter_mut().for_each(widen);
    }
    for contact in &mut parts.contacts {
        let ContactKinematics { normal, slip, rolling, .. } = &mut contact.kinematics;
        let rolling = rolling.iter_mut().flat_map(|r| &mut r.rows);
        std::iter::once(normal).chain(slip).chain(rolling).for_each(widen);
    }
    for (k, (bounded, mobility)) in pads.iter().enumerate() {
        // About as heavy as what it rubs on, and a power of two, which rounds nothing.
        parts.mass.push((-mobility.log2()).round().clamp(-500.0, 500.0).exp2());
        parts.force.push(bounded.force);
        parts.velocity.push(0.0);
        let mut gradient = vec![0.0; n + pads.len()];
        gradient[n + k] = 1.0;
        let mut slip = bounded.row.clone();
        widen(&mut slip);
        parts.contacts.push(NamedContact {
            name: bounded.name.clone(),
            axes: None,
            kinematics: ContactKinematics {
                gap: 0.0,
                normal: Row { gradient, velocity: 0.0, bias: 0.0 },
                slip: vec![slip],
                mu_static: 1.0,
                mu_kinetic: 1.0,
                restitution: 0.0,
                rolling: None,
            },
        });
    }
}
