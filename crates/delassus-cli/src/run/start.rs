//! Where a run starts: the file's state with its loops closed, or a checkpoint; and what is odd about it.

use delassus::collision::{Collider, Contact};
use delassus::stepping::{Snapshot, part_bodies};
use delassus::world::{
    JointKind, Mobility, Opening, World, WorldState, energy, mobility, opening, project_velocities,
};
use glam::DVec3;

use super::arguments::RunArgs;
use super::checkpoint;
use super::checkpoint::Checkpoint;
use super::options::Settings;
use super::totals::Totals;
use crate::scene::{WorldScene, ended};
use crate::style::number;

/// Joints that are open or beyond limits by no more than this are closed, m or rad.
pub const CLOSED: f64 = 1e-9;
/// Joint velocities up to this part of the largest velocity are rounding.
const KEPT: f64 = 1e-9;
/// Overlaps up to this part of the smaller body are a matter of taste.
const SHALLOW: f64 = 0.01;
/// Motions and overlaps up to this are not worth a word, m.
const TOLD: f64 = 1e-6;
/// Overlaps that are told one by one.
const OVERLAPS: usize = 5;

/// The start of a run.
pub struct Start {
    /// Positions and velocities.
    pub state: WorldState,
    /// The state of the stepper, where a run goes on, with the step length of its count.
    pub snapshot: Option<(Snapshot, f64)>,
    /// What earlier parts of the run have found.
    pub totals: Totals,
    /// Degrees of freedom at the start.
    pub mobility: Mobility,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// The name of the scene, for messages.
pub fn file_name(args: &RunArgs) -> String {
    args.file.display().to_string()
}

impl Start {
    /// The world, and where it starts; the error is a message ready for stderr.
    pub fn new(scene: WorldScene, args: &RunArgs, settings: &Settings) -> Result<(World, Start), String> {
        let WorldScene { mut file, name, text } = scene;
        let mut notes = vec![];
        if let Some(path) = &args.resume {
            let Checkpoint { snapshot, dt, totals, fingerprint, .. } = checkpoint::read(path, &file.world)?;
            if fingerprint != settings.fingerprint {
                notes.push(format!("{}: was saved from another text of the scene", path.display()));
            }
            let t = snapshot.state.t;
            if t > settings.t_end {
                let end = settings.t_end;
                return Err(format!("error: {}: is at {t} s, after the end at {end} s\n", path.display()));
            }
            let mobility = mobility(&file.world, &snapshot.state);
            let state = snapshot.state.clone();
            return Ok((
                file.world,
                Start { state, snapshot: Some((snapshot, dt)), totals, mobility, notes },
            ));
        }
        let open = opening(&file.world, &file.state);
        if !is_closed(&open) {
            let moved = file.close_loops(&text).map_err(|e| ended(e.render(&name, &text)))?.moved;
            let what = open_in_words(&file.world, &open, "were", "was");
            notes.push(format!("{what}; bodies were moved by up to {} m to put that right", number(moved)));
        }
        if let Some(note) = velocities_of_joints(&file.world, &mut file.state) {
            notes.push(note);
        }
        notes.extend(part(&file.world, &mut file.state));
        let mobility = mobility(&file.world, &file.state);
        let totals = Totals { energy_start: energy(&file.world, &file.state), ..Totals::default() };
        Ok((file.world, Start { state: file.state, snapshot: None, totals, mobility, notes }))
    }
}

/// Whether joints are closed and within their limits.
pub fn is_closed(open: &Opening) -> bool {
    open.joints <= CLOSED && open.limit.is_none_or(|(_, by)| by <= CLOSED)
}

/// What is open or beyond a limit, with the words for several and for one.
pub fn open_in_words(world: &World, open: &Opening, are: &str, is: &str) -> String {
    let mut parts = vec![];
    if open.joints > CLOSED {
        parts.push(format!("joints {are} open by up to {}", number(open.joints)));
    }
    if let Some((joint, by)) = open.limit.filter(|(_, by)| *by > CLOSED) {
        let joint = &world.joints[joint];
        let what = match joint.kind {
            JointKind::Rope { .. } => "longer than its rope",
            _ => "outside its limits",
        };
        parts.push(format!("joint `{}` {is} {what} by {}", joint.name, number(by)));
    }
    parts.join(", ")
}

/// Makes velocities obey the joints, and tells by how much they did not.
fn velocities_of_joints(world: &World, state: &mut WorldState) -> Option<String> {
    let before = state.clone();
    let left = project_velocities(world, state);
    let mut largest = 0.0_f64;
    let mut worst = (0.0, 0);
    for (i, (old, new)) in before.bodies.iter().zip(&state.bodies).enumerate() {
        let reach = world.bodies[i].reach();
        let speed = |v: DVec3, w: DVec3| v.length() + reach * w.length();
        largest = largest.max(speed(old.velocity, old.angular_velocity));
        let change = speed(new.velocity - old.velocity, new.angular_velocity - old.angular_velocity);
        if change > worst.0 {
            worst = (change, i);
        }
    }
    if left > KEPT * largest.max(1.0) {
        return Some(format!("joints contradict each other: velocities break them by {} m/s", number(left)));
    }
    if worst.0 <= KEPT * largest.max(1e-3) {
        // Rounding: the file's own numbers are kept.
        *state = before;
        return None;
    }
    Some(format!(
        "velocities broke the joints: that of body `{}` was changed by {} m/s, the least that obeys them",
        world.bodies[worst.1].name,
        number(worst.0)
    ))
}

/// Moves bodies that overlap apart, the least in the sense of their masses, and tells which overlap by more than 1 % of
/// the smaller one. A step of the motion itself would leave them with the velocity of the push.
fn part(world: &World, state: &mut WorldState) -> Vec<String> {
    let mut contacts = vec![];
    Collider::new(world).collide(world, state, &vec![0.0; world.bodies.len()], &mut contacts);
    if contacts.iter().all(|contact| contact.gap >= -CLOSED) {
        return vec![];
    }
    let mut notes = overlaps(world, &contacts);
    match part_bodies(world, state) {
        Some(moved) if moved > TOLD => {
            notes.push(format!("bodies were moved by up to {} m so that they do not overlap", number(moved)));
        }
        Some(_) => {}
        None => notes.push("bodies that overlap could not be moved apart; the first step pushes them".into()),
    }
    notes
}

/// Pairs that overlap by more than 1 % of the smaller one.
fn overlaps(world: &World, contacts: &[Contact]) -> Vec<String> {
    let mut deep: Vec<([u32; 2], f64)> = vec![];
    for contact in contacts {
        let size = contact.bodies.map(|b| world.bodies[b as usize].reach()).into_iter().filter(|r| *r > 0.0);
        let size = size.fold(f64::INFINITY, f64::min);
        if size.is_finite() && -contact.gap > SHALLOW * size {
            match deep.iter_mut().find(|(pair, _)| *pair == contact.bodies) {
                Some((_, depth)) => *depth = depth.max(-contact.gap),
                None => deep.push((contact.bodies, -contact.gap)),
            }
        }
    }
    let mut notes: Vec<String> = deep
        .iter()
        .take(OVERLAPS)
        .map(|(pair, depth)| {
            let [a, b] = pair.map(|b| &world.bodies[b as usize].name);
            format!("`{a}` and `{b}` overlap by {} m in the file", number(*depth))
        })
        .collect();
    if deep.len() > OVERLAPS {
        notes.push(format!("{} more pairs overlap in the file", deep.len() - OVERLAPS));
    }
    notes
}
