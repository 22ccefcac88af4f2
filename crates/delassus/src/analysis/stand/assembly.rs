//! The balance of a world at rest: which supports push on which bodies, and what loads them.
//!
//! ```text
//! F = Jᵀ f        rows of joints, of their motors and friction, of limits, of contacts, in this order
//! ```
//!
//! F is that of an analysis at rest: weight, given forces, springs. Rotations are measured in lengths: each
//! body has a power of two near the lever arms of what touches it, by which its rotational rows are divided,
//! so that forces and moments have numbers of one size. Rows are sparse: a row has as many blocks as it has
//! bodies that move.

use delassus_solve::analysis::equilibrium::{Balance, Support};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::Law;
use glam::DVec3;

use super::super::WORLD_ROUNDING;
use super::super::world_forces::{add_joint_forces, free_force};
use super::StandError;
use crate::collision::{Collider, Contact, ContactRows, contact_names};
use crate::lagrangian::{StateError, Tolerances};
use crate::world::{ActionKind, FIXED_SLOT, Masses, RowKind, Rows, Surface, World, WorldState};
use crate::world::{joint_rows, update_joint_coordinates};

/// A row of J: slot of the body and six entries.
type Blocks = Vec<(u32, [f64; 6])>;

/// A world at rest, assembled.
pub(super) struct AtRest {
    pub(super) world: World,
    pub(super) state: WorldState,
    pub(super) masses: Masses,
    pub(super) balance: Balance,
    /// What each support is called.
    pub(super) names: Vec<String>,
    /// Contacts of shapes, with their rows: the last supports.
    pub(super) contacts: Vec<(Contact, ContactRows)>,
    /// What may hold more than the supports, in words.
    pub(super) left_out: Vec<String>,
    /// Why nothing is decided, in words.
    pub(super) vague: Option<String>,
    /// The length of each body that moves, by slot.
    lengths: Vec<f64>,
    rows: Rows,
}

impl AtRest {
    /// A world at a state in which nothing moves.
    pub(super) fn new(
        world: &World,
        state: &WorldState,
        tolerances: &Tolerances,
    ) -> Result<Self, StandError> {
        let mut state = state.clone();
        update_joint_coordinates(world, &mut state);
        is_at_rest(world, &state, tolerances)?;
        let masses = Masses::new(world);
        let mut rows = Rows::default();
        joint_rows(world, &state, 1.0, &mut rows);
        let mut parts = Parts::default();
        add_joints(world, &rows, &masses, tolerances, &mut parts)?;
        let contacts = add_contacts(world, &state, &masses, tolerances, &mut parts)?;
        let Parts { names, supports, blocks, mut left_out } = parts;
        left_out.sort();
        left_out.dedup();
        let vague = far_from_the_origin(&state, &blocks);
        let lengths = lengths(&blocks, masses.mass.len() / 6);
        let mut entries = Vec::new();
        for (i, own) in blocks.iter().enumerate() {
            for (slot, block) in own {
                let length = lengths[*slot as usize];
                for (c, x) in block.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    entries.push((i, 6 * *slot as usize + c, if c < 3 { *x } else { x / length }));
                }
            }
        }
        let jacobian = Sparse::from_triplets(blocks.len(), masses.mass.len(), &entries);
        let balance =
            Balance { rows: jacobian, load: vec![], load_error: vec![], supports, rounding: WORLD_ROUNDING };
        let world = world.clone();
        let mut out =
            AtRest { world, state, masses, balance, names, contacts, left_out, vague, lengths, rows };
        let (load, error) = out.load_of(&out.world);
        (out.balance.load, out.balance.load_error) = (load, error);
        Ok(out)
    }

    /// F, and how far it may be off, of a world that differs from this one in its loads alone.
    pub(super) fn load_of(&self, world: &World) -> (Vec<f64>, Vec<f64>) {
        let mut force = free_force(world, &self.state, &self.masses);
        let v = vec![0.0; self.masses.mass.len()];
        let reach = reach(&self.state);
        add_joint_forces(&self.rows, &self.masses, &v, reach, &mut force);
        let mut error = force.errors();
        let mut load = force.value;
        self.scale(&mut load);
        self.scale(&mut error);
        (load, error)
    }

    /// M in the coordinates of the balance, rotors aside.
    pub(super) fn masses_of_balance(&self) -> Vec<f64> {
        let mut mass = self.masses.mass.clone();
        self.scale(&mut mass);
        self.scale(&mut mass);
        mass
    }

    /// Moments as forces at the length of their body.
    pub(super) fn scale(&self, load: &mut [f64]) {
        for (own, length) in load.chunks_exact_mut(6).zip(&self.lengths) {
            own[3..].iter_mut().for_each(|x| *x /= length);
        }
    }

    /// Velocity and angular velocity of each body, world axes, from the velocities of the balance.
    pub(super) fn motion(&self, velocity: &[f64]) -> Vec<[DVec3; 2]> {
        let of = |(slot, body): (&u32, &crate::world::BodyState)| {
            if *slot == FIXED_SLOT {
                return [DVec3::ZERO; 2];
            }
            let own = &velocity[6 * *slot as usize..][..6];
            let omega = DVec3::from_slice(&own[3..]) / self.lengths[*slot as usize];
            [DVec3::from_slice(own), body.pose.rotation * omega]
        };
        self.masses.slot.iter().zip(&self.state.bodies).map(of).collect()
    }
}

/// Supports in the making.
#[derive(Default)]
struct Parts {
    names: Vec<String>,
    supports: Vec<Support>,
    blocks: Vec<Blocks>,
    left_out: Vec<String>,
}

/// Refuses bodies that move.
fn is_at_rest(world: &World, state: &WorldState, tolerances: &Tolerances) -> Result<(), StandError> {
    for (body, s) in world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed) {
        let speed = s.velocity.length().max(s.angular_velocity.length());
        if speed > tolerances.velocity {
            return Err(StandError::Moves { what: format!("the body `{}`", body.name), speed });
        }
    }
    Ok(())
}

/// The largest coordinate of a position.
fn reach(state: &WorldState) -> f64 {
    state.bodies.iter().fold(0.0_f64, |top, b| top.max(b.pose.position.abs().max_element()))
}

/// The longest lever arm of a row, at most a metre.
fn lever(blocks: &Blocks) -> f64 {
    blocks.iter().flat_map(|(_, block)| &block[3..]).fold(0.0_f64, |top, x| top.max(x.abs()))
}

/// Notes where differences of positions have lost digits against lever arms.
fn far_from_the_origin(state: &WorldState, blocks: &[Blocks]) -> Option<String> {
    let least = blocks.iter().map(lever).filter(|x| *x > 0.0).fold(1.0, f64::min);
    // A pair of rows may cross an axis: levers far below the others are rounding themselves.
    let largest = blocks.iter().map(lever).fold(0.0, f64::max).min(1.0);
    let least = least.max(1e-3 * largest);
    // As the analysis of worlds: positions are rounded where they are read, moved and subtracted.
    let lost = 8.0 * f64::EPSILON * reach(state) > WORLD_ROUNDING * least;
    lost.then(|| "digits that positions so far from the origin have lost".into())
}

/// A power of two near the longest lever arm of each body.
fn lengths(blocks: &[Blocks], bodies: usize) -> Vec<f64> {
    let mut longest = vec![0.0_f64; bodies];
    for (slot, block) in blocks.iter().flatten() {
        let own = &mut longest[*slot as usize];
        *own = block[3..].iter().fold(*own, |top, x| top.max(x.abs()));
    }
    let power = |x: f64| if x > 0.0 { x.log2().round().clamp(-500.0, 500.0).exp2() } else { 1.0 };
    longest.into_iter().map(power).collect()
}

/// Bilateral rows, rows with bounded force and closed limits of joints.
fn add_joints(
    world: &World,
    rows: &Rows,
    masses: &Masses,
    tolerances: &Tolerances,
    parts: &mut Parts,
) -> Result<(), StandError> {
    for (index, row) in rows.rows.iter().enumerate() {
        let joint = &world.joints[row.joint as usize];
        let blocks: Blocks = rows
            .blocks_of(row)
            .iter()
            .map(|(body, block)| (masses.slot[*body as usize], *block))
            .filter(|(_, block)| block.iter().any(|x| *x != 0.0))
            .collect();
        let moves = |what: &str| {
            let what = format!("the {what} `{}`", joint.name);
            if row.rate.abs() > tolerances.velocity {
                Err(StandError::Moves { what, speed: row.rate.abs() })
            } else {
                Ok(())
            }
        };
        let (what, support) = match row.kind {
            RowKind::Bilateral => {
                if row.value.abs() > tolerances.position {
                    let (joint, tolerance) = (joint.name.clone(), tolerances.position);
                    return Err(StateError::JointValue { joint, index, value: row.value, tolerance }.into());
                }
                moves("joint")?;
                ("", Support::Joint)
            }
            RowKind::Limit { .. } if row.value > tolerances.position => continue,
            RowKind::Limit { .. } => ("limit of ", Support::Contact(Law::Unilateral)),
            RowKind::Bounded { force, per_load } => {
                // A motor to a position has the distance to it as its rate: it rests where it has arrived.
                let is_motor = joint
                    .actions
                    .iter()
                    .any(|a| matches!(a.kind, ActionKind::Position { .. } | ActionKind::Speed { .. }));
                moves("motor of the joint")?;
                if per_load > 0.0 {
                    // Less than there is: what rests by it rests.
                    parts.left_out.push(format!("the friction of `{}` that grows with its load", joint.name));
                }
                match force {
                    _ if blocks.is_empty() => continue,
                    f64::INFINITY => ("motor of ", Support::Joint),
                    most => (if is_motor { "motor of " } else { "friction of " }, Support::Bounded(most)),
                }
            }
            RowKind::Spring { .. }
            | RowKind::Servo { .. }
            | RowKind::Applied { .. }
            | RowKind::Armature { .. } => {
                continue;
            }
        };
        parts.names.push(format!("{what}{}", joint.name));
        parts.supports.push(support);
        parts.blocks.push(blocks);
    }
    Ok(())
}

/// Contacts of shapes that touch.
fn add_contacts(
    world: &World,
    state: &WorldState,
    masses: &Masses,
    tolerances: &Tolerances,
    parts: &mut Parts,
) -> Result<Vec<(Contact, ContactRows)>, StandError> {
    let mut touching = Vec::new();
    let margin = vec![tolerances.position; world.bodies.len()];
    Collider::new(world).collide(world, state, &margin, &mut touching);
    touching.retain(|contact| contact.gap <= tolerances.position);
    let names = contact_names(world, &touching);
    let mut contacts = Vec::new();
    for (index, (contact, name)) in touching.iter().zip(names).enumerate() {
        if contact.gap < -tolerances.position {
            let (gap, tolerance) = (contact.gap, tolerances.position);
            return Err(StateError::Penetration { contact: name, index, gap, tolerance }.into());
        }
        let surface = world.surface(contact.bodies[0] as usize, contact.bodies[1] as usize);
        if surface.grain.is_some() {
            parts.left_out.push("friction that differs along and across a direction".into());
        }
        let rows = ContactRows::new(contact, &state.bodies, &masses.slot, law_of(&surface));
        for k in 0..rows.law.dim() {
            let sides = rows.slots.iter().zip(&rows.blocks).filter(|(slot, _)| **slot != FIXED_SLOT);
            parts.blocks.push(sides.map(|(slot, blocks)| (*slot, blocks[k])).collect());
        }
        parts.names.push(name);
        parts.supports.push(Support::Contact(rows.law));
        contacts.push((*contact, rows));
    }
    Ok(contacts)
}

/// The law of what sticks.
fn law_of(surface: &Surface) -> Law {
    let Surface { rolling, spinning, .. } = *surface;
    // Where friction differs along and across a direction, the smaller one holds in all of them.
    let across = surface.grain.map_or(f64::INFINITY, |grain| grain.mu_across);
    let mu = surface.mu_static.unwrap_or(surface.mu).min(across);
    match surface {
        _ if spinning > 0.0 => Law::Spinning { mu, rolling, spinning },
        _ if rolling > 0.0 => Law::Rolling { mu, rolling },
        _ if mu > 0.0 => Law::Coulomb { mu },
        _ => Law::Unilateral,
    }
}
