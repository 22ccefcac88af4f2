//! The tables of a run, in whatever file they stand.
//!
//! A table has a row a frame: `time`, then for every body that moves the position and the orientation (w x y
//! z) of the frame in which the file wrote it, the velocity of its centre of mass and its angular velocity,
//! world axes; then the sensors of the world: coordinates of joints and their rates, efforts of actuators,
//! and those that the file names. The forces stand in a table of their own, since contacts come and go: a row
//! for each contact and each joint of a frame.

use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::{World, read_sensors};

/// What is written of a body, in this order.
pub const BODY_COLUMNS: [&str; 13] =
    ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];
/// The numbers of a row of forces: where, force on the second body, moment on it, and the normal force of a
/// contact.
pub const FORCE_COLUMNS: [&str; 10] = ["x", "y", "z", "fx", "fy", "fz", "tx", "ty", "tz", "normal"];

/// `path` with `-forces` before its extension.
pub fn forces_path(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-forces.");
    name.push(path.extension().unwrap_or_default());
    path.with_file_name(name)
}

/// The names of the columns of motion.
pub fn motion_columns(world: &World) -> Vec<String> {
    let moving = world.bodies.iter().filter(|body| !body.fixed);
    let bodies = moving.flat_map(|body| BODY_COLUMNS.map(|column| format!("{}.{column}", body.name)));
    let sensors = world.sensors.iter().flat_map(|sensor| {
        sensor.kind.suffixes().iter().map(move |suffix| format!("{}{suffix}", sensor.name))
    });
    std::iter::once("time".to_string()).chain(bodies).chain(sensors).collect()
}

/// A row of motion.
pub fn motion_row(world: &World, stepper: &Stepper, row: &mut Vec<f64>) {
    let state = stepper.state();
    row.clear();
    row.push(state.t);
    for (body, s) in world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed) {
        let written = s.pose.compose(&body.frame);
        row.extend(written.position.to_array());
        let q = written.rotation;
        row.extend([q.w, q.x, q.y, q.z]);
        row.extend(s.velocity.to_array());
        row.extend(s.world_angular_velocity().to_array());
    }
    read_sensors(world, state, &stepper.measured_forces(), row);
}

/// The mean forces of the last step: kind, name and the numbers of [`FORCE_COLUMNS`].
pub fn force_rows(
    world: &World,
    stepper: &Stepper,
    mut put: impl FnMut(&'static str, String, [f64; 10]) -> Result<(), String>,
) -> Result<(), String> {
    for (contact, normal, friction) in stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0) {
        let (p, f) = (contact.point, contact.normal * normal + friction);
        let numbers = [p.x, p.y, p.z, f.x, f.y, f.z, 0.0, 0.0, 0.0, normal];
        put("contact", stepper.contact_name(contact), numbers)?;
    }
    for (joint, [f, m]) in world.joints.iter().zip(stepper.joint_forces()) {
        let body = joint.bodies[1];
        let p = stepper.state().bodies[body].pose.point(joint.frames[1].position);
        let numbers = [p.x, p.y, p.z, f.x, f.y, f.z, m.x, m.y, m.z, 0.0];
        put("joint", joint.name.clone(), numbers)?;
    }
    Ok(())
}
