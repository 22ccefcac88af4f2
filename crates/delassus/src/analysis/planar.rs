//! A planar world as a planar system: three coordinates per body.
//!
//! ```text
//! v = P w ,   w = (ẋ₁, ẋ₂, θ̇) per body ,   M ← PᵀMP ,  F ← PᵀF ,  J ← J P
//! ```
//!
//! v = (ẋ, ω̄) has six entries per body; P is constant, as the normal keeps its place in the axes of a body
//! that turns about it, so that γ stays as it is. Rows of joints that only keep bodies in the plane vanish. A
//! contact keeps its normal and the tangent in the plane: friction across it does no work, and what it could
//! pass on, the plane takes. Points of two bodies one behind the other are one contact.

use delassus_solve::linalg::{Matrix, max_abs, norm};
use glam::DVec3;

use super::world_forces::Forces;
use super::world_parts::{JointRow, NamedContact, WorldParts};
use crate::lagrangian::{JointKinematics, Row, Tolerances};
use crate::world::{Axis, FIXED_SLOT, Masses, World, WorldState};

/// What is left of unit vectors and of the differences that γ comes from is rounding below this, relative to
/// the terms: these are accurate to 1e-11.
const ROUNDING: f64 = 1e-9;

/// The plane and how bodies lie in it.
struct Plane {
    /// Its two axes, and its normal.
    axes: [DVec3; 3],
    /// The normal in the axes of each body that moves, by slot.
    normals: Vec<DVec3>,
}

impl Plane {
    /// The plane across an axis, and what its coordinates are called.
    fn new(axis: Axis, state: &WorldState, masses: &Masses) -> (Self, [&'static str; 3]) {
        let (axes, names) = match axis {
            Axis::X => ([DVec3::Y, DVec3::Z, DVec3::X], ["y", "z", "rx"]),
            Axis::Y => ([DVec3::X, DVec3::Z, DVec3::Y], ["x", "z", "ry"]),
            Axis::Z => ([DVec3::X, DVec3::Y, DVec3::Z], ["x", "y", "rz"]),
        };
        let moving = state.bodies.iter().zip(&masses.slot).filter(|(_, slot)| **slot != FIXED_SLOT);
        (Plane { axes, normals: moving.map(|(s, _)| s.pose.local_vector(axes[2])).collect() }, names)
    }

    /// What a gradient has for motions out of the plane: along the normal, and rotations about all axes but
    /// that.
    fn across(&self, gradient: &[f64]) -> Vec<f64> {
        let of = |(block, normal): (&[f64], &DVec3)| {
            let (linear, angular) = (DVec3::from_slice(block), DVec3::from_slice(&block[3..]));
            let tilt = angular - *normal * angular.dot(*normal);
            [linear.dot(self.axes[2]), tilt.x, tilt.y, tilt.z]
        };
        gradient.chunks_exact(6).zip(&self.normals).flat_map(of).collect()
    }

    /// gᵀP.
    fn project(&self, gradient: &[f64]) -> Vec<f64> {
        let [first, second, _] = self.axes;
        let of = |(block, normal): (&[f64], &DVec3)| {
            let (linear, angular) = (DVec3::from_slice(block), DVec3::from_slice(&block[3..]));
            [linear.dot(first), linear.dot(second), angular.dot(*normal)]
        };
        gradient.chunks_exact(6).zip(&self.normals).flat_map(of).collect()
    }

    /// PᵀF.
    fn project_forces(&self, forces: &Forces) -> Forces {
        let upright = Plane { axes: self.axes, normals: self.normals.iter().map(|n| n.abs()).collect() };
        let rounded: Vec<f64> = forces.rounded.iter().map(|r| f64::from(u8::from(*r))).collect();
        Forces {
            value: self.project(&forces.value),
            terms: upright.project(&forces.terms),
            rounded: upright.project(&rounded).iter().map(|r| *r > 0.0).collect(),
        }
    }

    fn project_row(&self, row: &Row) -> Row {
        Row { gradient: self.project(&row.gradient), ..*row }
    }
}

/// The parts of a planar world in the coordinates of its plane. Those of a world in space, and of one that is
/// not planar as it stands (bodies that leave the plane, contacts that are not in it, resistance to rolling),
/// come back as they are.
pub(super) fn in_plane(
    world: &World,
    state: &WorldState,
    masses: &Masses,
    parts: WorldParts,
    tolerances: &Tolerances,
) -> WorldParts {
    let Some(axis) = world.plane else { return parts };
    let (plane, names) = Plane::new(axis, state, masses);
    let axes = plane.axes;
    let mut moving = state.bodies.iter().zip(&masses.slot).filter(|(_, slot)| **slot != FIXED_SLOT);
    let leaves = moving.any(|(s, _)| {
        let omega = s.world_angular_velocity();
        s.velocity.dot(axes[2]).abs() > tolerances.velocity
            || (omega - axes[2] * omega.dot(axes[2])).length() > tolerances.velocity
    });
    let joints = joints_in_plane(&plane, &parts, tolerances);
    let contacts: Option<Vec<NamedContact>> =
        parts.contacts.iter().map(|contact| contact_in_plane(&plane, contact)).collect();
    let (false, Some(joints), Some(contacts)) = (leaves, joints, contacts) else { return parts };
    let WorldParts { mass, rotors, force, bias_error, velocity, mut bounded, left_out, .. } = parts;
    let bodies = world.bodies.iter().filter(|body| !body.fixed);
    // PᵀMP is diagonal: I about the normal is Σ Iₖ n̄ₖ².
    let reduced = mass
        .chunks_exact(6)
        .zip(&plane.normals)
        .flat_map(|(m, normal)| [m[0], m[0], (DVec3::from_slice(&m[3..]) * *normal).dot(*normal)]);
    for row in &mut bounded {
        row.row = plane.project_row(&row.row);
    }
    let mut kept = joints.into_iter();
    let joints = parts.joints.into_iter().filter_map(|joint| {
        let row = kept.next()??;
        let kinematics = JointKinematics { row, ..joint.kinematics };
        Some(JointRow { kinematics, ..joint })
    });
    WorldParts {
        coordinates: bodies.flat_map(|b| names.map(|c| format!("{}.{c}", b.name))).collect(),
        mass: reduced.collect(),
        rotors: rotors.into_iter().map(|(inertia, n)| (inertia, plane.project(&n))).collect(),
        force: plane.project_forces(&force),
        bias_error,
        velocity: plane.project(&velocity),
        joints: joints.collect(),
        contacts: one_of_each(contacts),
        bounded,
        left_out,
    }
}

/// The axis across a plane in which joints alone hold all bodies: each of their rows is about motions in the
/// plane or out of it, and those out of it leave none. Contacts then move as in a planar world, whatever
/// friction does across the plane. Friction of joints may grow with loads from there, and is left aside.
pub(super) fn held_plane(state: &WorldState, masses: &Masses, parts: &WorldParts) -> Option<Axis> {
    if parts.joints.is_empty() || !parts.bounded.is_empty() {
        return None;
    }
    let speed = norm(&parts.velocity);
    [Axis::X, Axis::Y, Axis::Z].into_iter().find(|axis| {
        let (plane, _) = Plane::new(*axis, state, masses);
        let mut held = Vec::new();
        for row in parts.joints.iter().map(|joint| &joint.kinematics.row) {
            let (inside, across) = (plane.project(&row.gradient), plane.across(&row.gradient));
            let size = max_abs(&row.gradient);
            if max_abs(&across) <= ROUNDING * size {
                continue;
            }
            let still = row.bias.abs() <= ROUNDING * (speed + 1e-3) * speed * size;
            if max_abs(&inside) > ROUNDING * size || !still {
                return false;
            }
            held.push(across);
        }
        let bodies = plane.normals.len();
        !held.is_empty() && Matrix::from_rows(&held).row_space_with(ROUNDING).rank == 3 * bodies
    })
}

/// The rows of joints in the plane, `None` for each that the plane or the rows of the same joint before it
/// say already. `None` for all where one that is dropped is open, moves, or asks for another acceleration
/// than those before it.
fn joints_in_plane(plane: &Plane, parts: &WorldParts, tolerances: &Tolerances) -> Option<Vec<Option<Row>>> {
    let mut rows: Vec<Option<Row>> = Vec::new();
    for (i, joint) in parts.joints.iter().enumerate() {
        let (full, row) = (&joint.kinematics.row, plane.project_row(&joint.kinematics.row));
        let before: Vec<&Row> = (0..i)
            .filter(|&k| parts.joints[k].joint == joint.joint)
            .filter_map(|k| rows[k].as_ref())
            .collect();
        // The part of the row that those before it leave, and what they ask of the acceleration.
        let span = Matrix::from_fn(row.gradient.len(), before.len(), |i, j| before[j].gradient[i]);
        let shares = if before.is_empty() { vec![] } else { span.pseudo_solve(&row.gradient) };
        let (mut rest, mut bias) = (row.gradient.clone(), row.bias);
        for (other, share) in before.iter().zip(&shares) {
            rest.iter_mut().zip(&other.gradient).for_each(|(r, g)| *r -= share * g);
            bias -= share * other.bias;
        }
        let size = max_abs(&full.gradient);
        if max_abs(&rest) > ROUNDING * size {
            rows.push(Some(row));
            continue;
        }
        // γ is made of products of velocities, and its differences over a millisecond leave 1e-13 of a
        // velocity.
        let speed = norm(&parts.velocity);
        let scale = (speed + 1e-3) * speed * size + row.bias.abs();
        let says_nothing = joint.kinematics.value.abs() <= tolerances.position
            && full.velocity.abs() <= tolerances.velocity
            && bias.abs() <= ROUNDING * scale;
        if !says_nothing {
            return None;
        }
        rows.push(None);
    }
    Some(rows)
}

/// A contact in the plane; `None` where its normal is not, or where it resists rolling.
fn contact_in_plane(plane: &Plane, contact: &NamedContact) -> Option<NamedContact> {
    let k = &contact.kinematics;
    let mut kinematics = k.clone();
    kinematics.normal = plane.project_row(&k.normal);
    if let Some([normal, first, second]) = contact.axes {
        if normal.dot(plane.axes[2]).abs() > ROUNDING || k.rolling.is_some() {
            return None;
        }
        let tangent = plane.axes[2].cross(normal);
        let parts = [tangent.dot(first), tangent.dot(second)];
        if let [a, b] = &k.slip[..] {
            let mix = |x: f64, y: f64| parts[0] * x + parts[1] * y;
            let gradient: Vec<f64> = a.gradient.iter().zip(&b.gradient).map(|(x, y)| mix(*x, *y)).collect();
            kinematics.slip = vec![Row {
                gradient: plane.project(&gradient),
                velocity: mix(a.velocity, b.velocity),
                bias: mix(a.bias, b.bias),
            }];
        }
    }
    Some(NamedContact { name: contact.name.clone(), axes: contact.axes, kinematics })
}

/// Contacts with the same rows and coefficients are one: the sum of their forces obeys the law of each.
fn one_of_each(contacts: Vec<NamedContact>) -> Vec<NamedContact> {
    let near = |x: &Row, y: &Row| {
        let size = max_abs(&x.gradient).max(max_abs(&y.gradient));
        let far = x.gradient.iter().zip(&y.gradient).any(|(a, b)| (a - b).abs() > ROUNDING * size);
        let speed = x.velocity.abs().max(y.velocity.abs());
        let rate = x.bias.abs().max(y.bias.abs());
        !far && (x.velocity - y.velocity).abs() <= ROUNDING * speed
            && (x.bias - y.bias).abs() <= ROUNDING * rate
    };
    let same = |x: &NamedContact, y: &NamedContact| {
        let (k, l) = (&x.kinematics, &y.kinematics);
        near(&k.normal, &l.normal)
            && k.slip.len() == l.slip.len()
            && k.slip.iter().zip(&l.slip).all(|(a, b)| near(a, b))
            && [k.mu_static, k.mu_kinetic, k.restitution] == [l.mu_static, l.mu_kinetic, l.restitution]
    };
    let mut kept: Vec<NamedContact> = Vec::new();
    for contact in contacts {
        if contact.axes.is_none() || !kept.iter().any(|other| other.axes.is_some() && same(other, &contact)) {
            kept.push(contact);
        }
    }
    kept
}
