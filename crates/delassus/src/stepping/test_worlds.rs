//! Worlds for the unit tests of this module.

use glam::DVec3;

use crate::world::{Body, BodyState, Pose, Shape, ShapeKind, Surface, World, WorldState};

/// A body of 1 kg at a height over a fixed floor, with friction and restitution between them. Gravity 9.81
/// m/s².
pub fn on_a_floor(kind: ShapeKind, height: f64, [mu, restitution]: [f64; 2]) -> (World, WorldState) {
    let body = |name: &str, fixed: bool, kind: ShapeKind| Body {
        name: name.into(),
        fixed,
        mass: 1.0,
        inertia: DVec3::splat(0.01),
        shapes: vec![Shape { kind, pose: Pose::IDENTITY }],
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    };
    let world = World {
        name: String::new(),
        gravity: DVec3::new(0.0, 0.0, -9.81),
        bodies: vec![body("floor", true, ShapeKind::Plane), body("body", false, kind)],
        joints: vec![],
        surfaces: vec![Surface { mu, restitution, ..Surface::default() }],
        no_contact: vec![],
        plane: None,
        sensors: vec![],
        medium: None,
    };
    let at = |z: f64| BodyState {
        pose: Pose { position: DVec3::new(0.0, 0.0, z), ..Pose::IDENTITY },
        velocity: DVec3::ZERO,
        angular_velocity: DVec3::ZERO,
    };
    (world, WorldState { t: 0.0, bodies: vec![at(0.0), at(height)], coordinates: vec![] })
}
