//! The contact problem of a world at its state, analyzed as that of a system is.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   a = (ẍ, ω̄˙) per body that moves ,   γ = d/ds J(q ⊕ s v) v + ∂²g/∂t² at s = 0
//! ```
//!
//! M is diagonal, but for a nᵀn of every rotor of inertia a on a row n; F holds weight, constant forces,
//! gyroscopic moments ω̄ × I ω̄, springs and given forces of joints, all moved to the left (004 eq. 2), and a
//! γ n of rotors. J has the bilateral rows of joints, then those of limits and contacts that are closed: a
//! normal and two tangents each, with two rotations where they resist rolling. γ is the derivative of the
//! velocity of a row along the motion with constant (ẋ, ω̄): central differences of the exact velocity at
//! three steps, extrapolated twice (Richardson), accurate to about 1e-11 of the terms it is made of. Tangents
//! move along with the normal, and the point of contact moves over the bodies as they roll.

use delassus_solve::analysis::{Analysis, glance};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::Law;
use glam::{DQuat, DVec3};

use super::bounded_rows::{add_bounded_rows, bounded_rows};
use super::impact::{ImpactReport, impact_report};
use super::planar::{held_plane, in_plane};
use super::world_forces::{add_joint_forces, add_rotors, free_force};
use super::world_parts::{JointRow, NamedContact, WorldParts};
use super::{
    AnalyzeError, SystemAnalysis, WORLD_ROUNDING, WorldErrors, add_findings, describe, examine_kinematics,
};
use crate::collision::{Collider, Contact, ContactRows, Features, contact_name};
use crate::lagrangian::{
    ContactKinematics, JointKinematics, Kinematics, Names, RollingKinematics, Row, Tolerances,
};
use crate::world;
use crate::world::{BodyState, FIXED_SLOT, Masses, RowKind, Rows, Surface, World, WorldState};

/// Step of the differences, as a fraction of the time in which the motion rotates by a radian, or of a
/// second.
const DIFFERENCE_STEP: f64 = 1e-3;
/// Coordinates, and rows, up to which a world is analyzed: what follows is dense, and takes the cube of them.
const MAX_SIZE: usize = 240;
/// Rows up to which the propositions of the papers are asked.
const MAX_ROWS: usize = 60;
/// What is called by one coordinate of a body: displacements of the centre of mass, and rotations about the
/// principal axes.
const COORDINATES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

/// Analyzes a world at a state. Where something acts that the contact problem cannot hold (motors to a
/// position, friction of joints that grows with a load of several directions, resistance to rolling of
/// contacts that slide or roll), the notes name it and nothing is decided: the verdicts would be those of
/// another system. Of a world with more than 240 coordinates or rows nothing is reported but that it is too
/// large.
pub fn analyze_world(
    world: &World,
    state: &WorldState,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Result<SystemAnalysis, AnalyzeError> {
    look_at(world, state, tolerances, Some(options))
}

/// A first look at a world whose analysis may take long: masses, contacts and one solution, where one is
/// found at once. It decides nothing.
pub fn glance_world(
    world: &World,
    state: &WorldState,
    tolerances: &Tolerances,
) -> Result<SystemAnalysis, AnalyzeError> {
    look_at(world, state, tolerances, None)
}

/// The analysis of a world, or without options a glance at it.
fn look_at(
    world: &World,
    state: &WorldState,
    tolerances: &Tolerances,
    options: Option<&EnumerateOptions>,
) -> Result<SystemAnalysis, AnalyzeError> {
    let coordinates = coordinate_names(world);
    if coordinates.len() > MAX_SIZE {
        let names = Names { title: world.name.clone(), coordinates, ..Names::default() };
        return too_large(names, "coordinates", tolerances);
    }
    let WorldKinematics { names, kinematics, errors, pads, velocity, mut left_out } =
        world_kinematics(world, state, tolerances);
    if position_error(state, &names, &kinematics) > WORLD_ROUNDING {
        left_out.push("digits that positions so far from the origin have lost".into());
    }
    let rows = kinematics.joints.len() + kinematics.contacts.iter().map(|c| 1 + c.slip.len()).sum::<usize>();
    if rows > MAX_SIZE {
        return too_large(names, "rows of joints and contacts", tolerances);
    }
    if !left_out.is_empty() {
        let mut result = describe(names, kinematics, tolerances, true, Analysis::undecided)?;
        // What speaks of the whole problem would speak of another one.
        (result.lcp, result.friction_bounds) = (None, vec![]);
        let what = left_out.join(", ");
        result.notes = vec![format!("nothing is decided: the contact problem leaves out {what}")];
        result.is_whole = false;
        return Ok(result);
    }
    let Some(options) = options else {
        return describe(names, kinematics, tolerances, true, glance);
    };
    let mut result = examine_kinematics(names, kinematics, &errors, tolerances, options)?;
    result.impact = impact_without_pads(&result, pads, &velocity);
    if rows <= MAX_ROWS {
        add_findings(&mut result);
    } else {
        result.notes = vec![format!("{rows} rows: the propositions are asked up to {MAX_ROWS}")];
    }
    let open = |a: &Analysis| [a.existence, a.acceleration_unique].contains(&Verdict::Unknown);
    if result.analysis.as_ref().is_some_and(open)
        && let Some(planar) = analyze_in_held_plane(world, state, tolerances, options)
    {
        return Ok(planar);
    }
    Ok(result)
}

/// What differences of positions are off by, relative to the lever arms of contacts: these are what a contact
/// finds its normal and its place by.
fn position_error(state: &WorldState, names: &Names, kinematics: &Kinematics) -> f64 {
    let turns: Vec<bool> = names
        .coordinates
        .iter()
        .map(|name| [".rx", ".ry", ".rz"].iter().any(|c| name.ends_with(c)))
        .collect();
    let lever = |row: &Row| {
        row.gradient
            .iter()
            .zip(&turns)
            .filter(|(_, turns)| **turns)
            .fold(0.0_f64, |top, (x, _)| top.max(x.abs()))
    };
    // Tangents see the whole distance to the contact, a normal may point at the centre of mass.
    let levers = kinematics.contacts.iter().map(|c| c.slip.iter().map(lever).fold(0.0, f64::max));
    let least = levers.filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    // Positions are rounded where they are read, moved and subtracted: some units in the last place.
    // Normals have length one, so that no lever counts as more than a metre.
    8.0 * f64::EPSILON * reach(state) / least.min(1.0)
}

/// The largest coordinate of a position.
fn reach(state: &WorldState) -> f64 {
    state.bodies.iter().fold(0.0_f64, |top, b| top.max(b.pose.position.abs().max_element()))
}

/// The analysis of a world whose joints hold all bodies in a plane as one of a planar world, where that
/// decides motions. Friction across the plane moves nothing, but forces that are unique without it need not
/// be.
fn analyze_in_held_plane(
    world: &World,
    state: &WorldState,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Option<SystemAnalysis> {
    if world.plane.is_some() {
        return None;
    }
    let axis = held_plane(state, &Masses::new(world), &world_parts(world, state, tolerances))?;
    let planar = World { plane: Some(axis), ..world.clone() };
    let mut result = analyze_world(&planar, state, tolerances, options).ok()?;
    let analysis = result.analysis.as_mut()?;
    analysis.leave_forces_open();
    let decided = ![analysis.existence, analysis.acceleration_unique].contains(&Verdict::Unknown);
    let note = "joints hold all bodies in a plane, and motions are those in it; \
                friction across the plane is not among the forces";
    result.notes.push(note.into());
    (decided && result.names.coordinates.len() < coordinate_names(world).len()).then_some(result)
}

/// The impact at a state: pads, which are the last contacts, give no percussions.
fn impact_without_pads(result: &SystemAnalysis, pads: usize, velocity: &[f64]) -> Option<ImpactReport> {
    let mut assembly = result.assembly.clone();
    assembly.contacts.truncate(assembly.contacts.len() - pads);
    impact_report(&result.kinematics, &assembly, velocity)
}

/// An analysis that decides nothing.
fn too_large(names: Names, what: &str, tolerances: &Tolerances) -> Result<SystemAnalysis, AnalyzeError> {
    let kinematics = Kinematics {
        mass: Matrix::zeros(0, 0),
        mass_rank: names.coordinates.len(),
        force: vec![],
        kinetic_energy: 0.0,
        potential_energy: 0.0,
        contacts: vec![],
        joints: vec![],
    };
    let mut result = describe(Names::default(), kinematics, tolerances, true, Analysis::undecided)?;
    result.notes = vec![format!("too large to analyze: more than {MAX_SIZE} {what}")];
    result.names = names;
    Ok(result)
}

/// Masses, forces and constraints of a world at a state, with the names of its parts.
struct WorldKinematics {
    /// Names of coordinates, rows and contacts.
    names: Names,
    /// Joints: one entry per bilateral row. Contacts: limits of joints within the tolerance, contacts of
    /// shapes, then the pads of dry friction and motors, each with a coordinate of its own behind the others.
    kinematics: Kinematics,
    /// How far F and γ may be off.
    errors: WorldErrors,
    /// How many of the contacts are pads.
    pads: usize,
    /// Velocities, one per coordinate.
    velocity: Vec<f64>,
    /// What acts on the world and is not in the kinematics, in words.
    left_out: Vec<String>,
}

/// Masses, forces and constraints of a world at a state. Contacts are those within the tolerance of
/// positions.
fn world_kinematics(world: &World, state: &WorldState, tolerances: &Tolerances) -> WorldKinematics {
    let mut state = state.clone();
    world::update_joint_coordinates(world, &mut state);
    let mut parts = world_parts(world, &state, tolerances);
    let pads = add_bounded_rows(&mut parts, tolerances.velocity);
    let mut mass = Matrix::diagonal(&parts.mass);
    for (inertia, n) in &parts.rotors {
        for (i, x) in n.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            n.iter().enumerate().for_each(|(j, y)| mass[(i, j)] += inertia * x * y);
        }
    }
    let WorldParts { coordinates, force, velocity, joints, contacts, bias_error, mut left_out, .. } = parts;
    left_out.dedup();
    let (contact_names, contacts) = contacts.into_iter().map(|c| (c.name, c.kinematics)).unzip();
    let (joint_names, joints) = joints.into_iter().map(|j| (j.name, j.kinematics)).unzip();
    let names =
        Names { title: world.name.clone(), coordinates, joints: joint_names, contacts: contact_names };
    let kinematics = Kinematics {
        mass,
        mass_rank: names.coordinates.len(),
        force: force.value.clone(),
        kinetic_energy: world::kinetic_energy(world, &state),
        potential_energy: world::potential_energy(world, &state),
        contacts,
        joints,
    };
    let errors = WorldErrors { force: force.errors(), bias: bias_error };
    WorldKinematics { names, kinematics, errors, pads, velocity, left_out }
}

/// What a world is made of at a state whose joint coordinates are known.
fn world_parts(world: &World, state: &WorldState, tolerances: &Tolerances) -> WorldParts {
    let masses = Masses::new(world);
    let v = velocities(&masses, state);
    let mut rows = Rows::default();
    world::joint_rows(world, state, 1.0, &mut rows);
    let mut force = free_force(world, state, &masses);
    add_joint_forces(&rows, &masses, &v, reach(state), &mut force);
    let all = dense_rows(world, state, &masses, &rows, &v);
    let mut bias_error = joint_bias_error(state, &rows, &all, &v);
    let rotors = add_rotors(&rows, &all, bias_error, &mut force);
    let names = row_names(world, &rows);
    let joints = names.into_iter().zip(&rows.rows).zip(&all).map(|((name, row), dense)| {
        let kinematics = JointKinematics { value: row.value, row: dense.clone(), slip: vec![], mu: 0.0 };
        JointRow { name, joint: row.joint as usize, load: row.load, kinematics }
    });
    let mut contacts = closed_limits(world, &rows, &all, tolerances.position);
    let touching = touching_contacts(world, state, tolerances.position);
    let mut left_out = Vec::new();
    for (i, contact) in touching.iter().enumerate() {
        let surface = world.surface(contact.bodies[0] as usize, contact.bodies[1] as usize);
        let (axes, kinematics, error) = contact_kinematics(contact, state, &masses, &v, &surface);
        bias_error = bias_error.max(error);
        if kinematics.rolling.as_ref().is_some_and(|rolling| {
            kinematics.slip.iter().chain(&rolling.rows).any(|row| row.velocity.abs() > tolerances.velocity)
        }) {
            left_out.push("rolling friction of contacts that slide or roll".into());
        }
        left_out.extend(laws_left_out(&surface).into_iter().map(Into::into));
        contacts.push(NamedContact { name: contact_name(world, &touching, i), axes: Some(axes), kinematics });
    }
    let parts = WorldParts {
        coordinates: coordinate_names(world),
        joints: joints.collect(),
        contacts,
        bounded: bounded_rows(world, &rows, &all),
        mass: masses.mass.clone(),
        rotors,
        force,
        bias_error,
        velocity: v,
        left_out,
    };
    in_plane(world, state, &masses, parts, tolerances)
}

/// What of a surface this analysis does not have.
fn laws_left_out(surface: &Surface) -> Vec<&'static str> {
    let Surface { mu, rolling, spinning, grain, restitution_tangential, .. } = *surface;
    let smooth = mu == 0.0 && surface.mu_static.is_none_or(|mu| mu == 0.0);
    let laws = [
        (smooth && rolling > 0.0, "rolling friction of contacts without sliding friction"),
        (spinning > 0.0, "spinning friction"),
        (grain.is_some(), "friction that differs along and across a direction"),
        (restitution_tangential > 0.0, "tangential restitution"),
    ];
    laws.into_iter().filter(|(given, _)| *given).map(|(_, law)| law).collect()
}

/// All rows of joints, in all coordinates.
fn dense_rows(world: &World, state: &WorldState, masses: &Masses, rows: &Rows, v: &[f64]) -> Vec<Row> {
    let bias = joint_biases(world, state, masses, rows);
    let dense = |i: usize| {
        let mut gradient = vec![0.0; v.len()];
        for (body, block) in rows.blocks_of(&rows.rows[i]) {
            let at = 6 * masses.slot[*body as usize] as usize;
            gradient[at..at + 6].copy_from_slice(block);
        }
        Row { gradient, velocity: row_velocity(rows, i, masses, v), bias: bias[i] }
    };
    (0..bias.len()).map(dense).collect()
}

/// Limits of joints within the tolerance, with their names.
fn closed_limits(world: &World, rows: &Rows, joint_rows: &[Row], tolerance: f64) -> Vec<NamedContact> {
    let mut closed = Vec::new();
    for i in rows.bilateral..rows.bilateral + rows.limits {
        let row = &rows.rows[i];
        let RowKind::Limit { restitution } = row.kind else { continue };
        if row.value <= tolerance {
            let name = format!("limit of {}", world.joints[row.joint as usize].name);
            let (gap, normal, slip) = (row.value, joint_rows[i].clone(), vec![]);
            let (mu_static, mu_kinetic, rolling) = (0.0, 0.0, None);
            let kinematics =
                ContactKinematics { gap, normal, slip, mu_static, mu_kinetic, restitution, rolling };
            closed.push(NamedContact { name, axes: None, kinematics });
        }
    }
    closed
}

/// Contacts of shapes within the tolerance.
fn touching_contacts(world: &World, state: &WorldState, tolerance: f64) -> Vec<Contact> {
    let mut touching = Vec::new();
    let margin = vec![tolerance; world.bodies.len()];
    Collider::new(world).collide(world, state, &margin, &mut touching);
    touching.retain(|contact| contact.gap <= tolerance);
    touching
}

fn coordinate_names(world: &World) -> Vec<String> {
    let moving = world.bodies.iter().filter(|body| !body.fixed);
    moving.flat_map(|body| COORDINATES.map(|c| format!("{}.{c}", body.name))).collect()
}

/// The name of the joint, with a number where it has several rows.
fn row_names(world: &World, rows: &Rows) -> Vec<String> {
    let bilateral = &rows.rows[..rows.bilateral];
    let name = |(i, row): (usize, &crate::world::Row)| {
        let same: Vec<usize> = (0..bilateral.len()).filter(|&k| bilateral[k].joint == row.joint).collect();
        let joint = &world.joints[row.joint as usize].name;
        match same.iter().position(|&k| k == i) {
            Some(k) if same.len() > 1 => format!("{joint}#{}", k + 1),
            _ => joint.clone(),
        }
    };
    bilateral.iter().enumerate().map(name).collect()
}

fn velocities(masses: &Masses, state: &WorldState) -> Vec<f64> {
    let mut v = vec![0.0; masses.mass.len()];
    for (s, &slot) in state.bodies.iter().zip(&masses.slot).filter(|(_, slot)| **slot != FIXED_SLOT) {
        let at = 6 * slot as usize;
        v[at..at + 3].copy_from_slice(&s.velocity.to_array());
        v[at + 3..at + 6].copy_from_slice(&s.angular_velocity.to_array());
    }
    v
}

fn row_velocity(rows: &Rows, i: usize, masses: &Masses, v: &[f64]) -> f64 {
    world::row_velocity(rows, i, masses, v) + rows.rows[i].rate
}

/// A body after the time s of the motion with constant (ẋ, ω̄).
fn moved(state: &BodyState, s: f64) -> BodyState {
    let mut next = *state;
    next.pose.position += s * state.velocity;
    next.pose.rotation =
        (state.pose.rotation * DQuat::from_scaled_axis(s * state.angular_velocity)).normalize();
    next
}

/// d/ds at 0 of a vector-valued function, by central differences with steps h, h/2, h/4 and two
/// extrapolations.
fn derivative(h: f64, mut of: impl FnMut(f64) -> Vec<f64>) -> Vec<f64> {
    let mut central = |h: f64| -> Vec<f64> {
        of(h).iter().zip(of(-h)).map(|(plus, minus)| (plus - minus) / (2.0 * h)).collect()
    };
    let [d1, d2, d3] = [central(h), central(0.5 * h), central(0.25 * h)];
    let better = |fine: &[f64], coarse: &[f64], weight: f64| -> Vec<f64> {
        fine.iter().zip(coarse).map(|(f, c)| f + (f - c) / (weight - 1.0)).collect()
    };
    better(&better(&d3, &d2, 4.0), &better(&d2, &d1, 4.0), 16.0)
}

/// How far differences over a step that the fastest of some rates allows may be off, for velocities that are
/// sums of terms of this size: their rounding over a quarter of the step, which extrapolation makes some
/// times larger, is 10⁻¹² of the terms a second.
fn difference_error(rate: f64, terms: f64) -> f64 {
    1e-11 * (1.0 + rate) * terms
}

/// How far γ of joints may be off; zero where it is.
fn joint_bias_error(state: &WorldState, rows: &Rows, dense: &[Row], v: &[f64]) -> f64 {
    let terms = rows.rows.iter().zip(dense).filter(|(_, row)| row.bias != 0.0).map(|(row, dense)| {
        dense.gradient.iter().zip(v).map(|(g, v)| (g * v).abs()).sum::<f64>() + row.rate.abs()
    });
    difference_error(fastest(state), terms.fold(0.0, f64::max))
}

/// The largest angular velocity.
fn fastest(state: &WorldState) -> f64 {
    state.bodies.iter().map(|s| s.angular_velocity.length()).fold(0.0, f64::max)
}

/// γ of all rows of joints.
fn joint_biases(world: &World, state: &WorldState, masses: &Masses, rows: &Rows) -> Vec<f64> {
    let count = rows.rows.len();
    if count == 0 {
        return vec![];
    }
    let v = velocities(masses, state);
    let mut there = Rows::default();
    derivative(DIFFERENCE_STEP / (1.0 + fastest(state)), |s| {
        let bodies = state.bodies.iter().map(|body| moved(body, s)).collect();
        let next = WorldState { t: state.t + s, bodies, coordinates: state.coordinates.clone() };
        world::joint_rows(world, &next, 1.0, &mut there);
        (0..count).map(|i| row_velocity(&there, i, masses, &v)).collect()
    })
}

/// Axes and rows of a contact, and how far its γ may be off.
fn contact_kinematics(
    contact: &Contact,
    state: &WorldState,
    masses: &Masses,
    v: &[f64],
    surface: &Surface,
) -> ([DVec3; 3], ContactKinematics, f64) {
    let Surface { mu, restitution, rolling, .. } = *surface;
    let mu_static = surface.mu_static.unwrap_or(mu);
    let rows = ContactRows::new(contact, &state.bodies, &masses.slot, Law::Rolling { mu, rolling });
    let bodies = contact.bodies.map(|b| state.bodies[b as usize]);
    let angular_speed = bodies[0].angular_velocity.length() + bodies[1].angular_velocity.length();
    let size = contact.radius[0] + contact.radius[1];
    // Between curved surfaces the normal rotates as fast as the bodies pass each other.
    let normal_rate = match contact.features {
        Features::FaceOfA(_) | Features::FaceOfB(_) => 0.0,
        _ if size > 0.0 => velocity_at(&bodies, contact.point).length() / size,
        _ => 0.0,
    };
    let bias = derivative(DIFFERENCE_STEP / (1.0 + angular_speed + normal_rate), |s| {
        let there = [moved(&bodies[0], s), moved(&bodies[1], s)];
        let (_, normal, point) = contact.gap_and_point_at(&there[0].pose, &there[1].pose);
        let first = (rows.tangents[0] - normal * normal.dot(rows.tangents[0])).normalize_or_zero();
        let u = velocity_at(&there, point);
        let omega = there[1].world_angular_velocity() - there[0].world_angular_velocity();
        let second = normal.cross(first);
        vec![u.dot(normal), u.dot(first), u.dot(second), omega.dot(first), omega.dot(second)]
    });
    let row = |k: usize| {
        let mut gradient = vec![0.0; v.len()];
        for (slot, blocks) in rows.slots.iter().zip(&rows.blocks) {
            if *slot != FIXED_SLOT {
                let at = 6 * *slot as usize;
                (0..6).for_each(|c| gradient[at + c] += blocks[k][c]);
            }
        }
        Row { gradient, velocity: rows.velocity(k, v), bias: bias[k] }
    };
    let kinematics = ContactKinematics {
        gap: contact.gap,
        normal: row(0),
        slip: if mu_static > 0.0 { vec![row(1), row(2)] } else { vec![] },
        mu_static,
        mu_kinetic: mu,
        restitution,
        // Without sliding friction there is no law of both: left out by name.
        rolling: (mu_static > 0.0 && rolling > 0.0)
            .then(|| RollingKinematics { rows: [row(3), row(4)], coefficient: rolling }),
    };
    let speed = |s: &BodyState| {
        s.velocity.length() + s.angular_velocity.length() * (contact.point - s.pose.position).length()
    };
    let terms = if bias.iter().all(|x| *x == 0.0) { 0.0 } else { speed(&bodies[0]) + speed(&bodies[1]) };
    let error = difference_error(angular_speed + normal_rate, terms);
    ([contact.normal, rows.tangents[0], rows.tangents[1]], kinematics, error)
}

/// Velocity of the second body against the first at a point.
fn velocity_at(bodies: &[BodyState; 2], point: DVec3) -> DVec3 {
    let [a, b] = bodies.map(|s| s.velocity + s.world_angular_velocity().cross(point - s.pose.position));
    b - a
}
