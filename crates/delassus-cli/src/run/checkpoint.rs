//! Checkpoints: the state of a run in a file, from which it goes on to the same bits.
//!
//! JSON whose numbers give back the bits that were written.

use std::path::Path;

use delassus::stepping::Snapshot;
use delassus::world::{BodyState, Pose, World, WorldState};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::totals::Totals;

/// What the first key says.
const FORMAT: &str = "delassus checkpoint 1";

/// A run that was saved.
pub struct Checkpoint {
    /// The state of the stepper.
    pub snapshot: Snapshot,
    /// The step length that the snapshot counts in, s.
    pub dt: f64,
    /// What the run had found.
    pub totals: Totals,
    /// Of the scene.
    pub fingerprint: u64,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Saved {
    format: String,
    fingerprint: u64,
    bodies: Vec<SavedBody>,
    joints: Vec<String>,
    t: f64,
    dt: f64,
    steps: u64,
    start: f64,
    coordinates: Vec<f64>,
    row_impulse: Vec<f64>,
    /// Bodies, shapes, feature, impulse; fewer rows than a contact may have are followed by zeros.
    contact_impulse: Vec<([u32; 2], [u32; 2], u32, Vec<f64>)>,
    totals: Totals,
}

/// Centre of mass, quaternion x y z w, velocity, and angular velocity in the axes of the body.
#[derive(Serialize, Deserialize)]
struct SavedBody {
    name: String,
    position: [f64; 3],
    rotation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

/// Saves a run. The file is replaced as a whole: a crash leaves the old one.
pub fn write(path: &Path, world: &World, checkpoint: Checkpoint) -> Result<(), String> {
    let Checkpoint { snapshot, dt, totals, fingerprint } = checkpoint;
    let body = |(body, s): (&delassus::world::Body, &BodyState)| SavedBody {
        name: body.name.clone(),
        position: s.pose.position.to_array(),
        rotation: s.pose.rotation.to_array(),
        velocity: s.velocity.to_array(),
        angular_velocity: s.angular_velocity.to_array(),
    };
    let saved = Saved {
        format: FORMAT.into(),
        fingerprint,
        bodies: world.bodies.iter().zip(&snapshot.state.bodies).map(body).collect(),
        joints: world.joints.iter().map(|joint| joint.name.clone()).collect(),
        t: snapshot.state.t,
        dt,
        steps: snapshot.steps,
        start: snapshot.start,
        coordinates: snapshot.state.coordinates,
        row_impulse: snapshot.row_impulse,
        contact_impulse: (snapshot.contact_impulse.into_iter())
            .map(|(bodies, shapes, feature, r)| (bodies, shapes, feature, r.to_vec()))
            .collect(),
        totals,
    };
    let fail = |e: &dyn std::fmt::Display| format!("{}: cannot be written: {e}", path.display());
    let text = serde_json::to_string(&saved).map_err(|e| fail(&e))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).map_err(|e| fail(&e))
}

/// Reads a checkpoint of this world; the error is a message ready for stderr.
pub fn read(path: &Path, world: &World) -> Result<Checkpoint, String> {
    let name = path.display();
    let fail = |e: &dyn std::fmt::Display| format!("error: {name}: {e}\n");
    let text = std::fs::read_to_string(path).map_err(|e| fail(&format!("cannot be read: {e}")))?;
    let saved: Saved = serde_json::from_str(&text).map_err(|e| fail(&format!("not a checkpoint: {e}")))?;
    if saved.format != FORMAT {
        return Err(fail(&format!("expected \"{FORMAT}\", found \"{}\"", saved.format)));
    }
    let same_bodies = saved.bodies.iter().map(|b| &b.name).eq(world.bodies.iter().map(|b| &b.name));
    let same_joints = saved.joints.iter().eq(world.joints.iter().map(|j| &j.name));
    if !same_bodies || !same_joints || saved.coordinates.len() != world.joints.len() {
        return Err(fail(&"was saved from a scene with other bodies or joints"));
    }
    let body = |b: &SavedBody| BodyState {
        pose: Pose { position: DVec3::from_array(b.position), rotation: DQuat::from_array(b.rotation) },
        velocity: DVec3::from_array(b.velocity),
        angular_velocity: DVec3::from_array(b.angular_velocity),
    };
    let unit = |b: &SavedBody| (DQuat::from_array(b.rotation).length() - 1.0).abs() < 1e-9;
    if !(saved.bodies.iter().all(unit) && saved.dt > 0.0 && saved.t.is_finite()) {
        return Err(fail(&"damaged: a rotation is not a unit quaternion, or a time is not a number"));
    }
    let state = WorldState {
        t: saved.t,
        bodies: saved.bodies.iter().map(body).collect(),
        coordinates: saved.coordinates,
    };
    let snapshot = Snapshot {
        state,
        steps: saved.steps,
        start: saved.start,
        row_impulse: saved.row_impulse,
        contact_impulse: (saved.contact_impulse.into_iter())
            .map(|(bodies, shapes, feature, rows)| {
                let mut r = [0.0; 6];
                r.iter_mut().zip(rows).for_each(|(r, row)| *r = row);
                (bodies, shapes, feature, r)
            })
            .collect(),
    };
    Ok(Checkpoint { snapshot, dt: saved.dt, totals: saved.totals, fingerprint: saved.fingerprint })
}
