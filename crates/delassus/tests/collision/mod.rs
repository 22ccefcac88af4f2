//! Contacts of pairs of shapes.

mod bodies;
mod closed_forms;
mod crossings;
mod meshes;
mod others;
pub mod random;
mod seams;
mod sweeps;
mod timing;

use delassus::collision::{Collider, Contact};
use delassus::world::{Body, BodyState, Pose, Shape, ShapeKind, World, WorldState};
use glam::{DQuat, DVec3};

/// Triangles of a cube whose corner k has x in bit 0, y in bit 1, z in bit 2.
pub const CUBE: [[u32; 3]; 12] = [
    [0, 2, 1],
    [1, 2, 3],
    [4, 5, 6],
    [5, 7, 6],
    [0, 1, 4],
    [1, 5, 4],
    [2, 6, 3],
    [3, 6, 7],
    [0, 4, 2],
    [2, 4, 6],
    [1, 3, 5],
    [3, 7, 5],
];

/// A pose.
pub fn at(x: f64, y: f64, z: f64, rotation: DQuat) -> Pose {
    Pose { position: DVec3::new(x, y, z), rotation }
}

/// A pose without rotation.
pub fn place(x: f64, y: f64, z: f64) -> Pose {
    at(x, y, z, DQuat::IDENTITY)
}

pub fn cuboid(x: f64, y: f64, z: f64) -> ShapeKind {
    ShapeKind::Box { half_extents: DVec3::new(x, y, z) }
}

/// One body per shape, free to move.
pub fn world_of(kinds: &[ShapeKind]) -> World {
    let bodies = kinds.iter().map(|kind| Body {
        name: String::new(),
        fixed: false,
        mass: 1.0,
        inertia: DVec3::ONE,
        shapes: vec![Shape { kind: kind.clone(), pose: Pose::IDENTITY }],
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    });
    World {
        name: String::new(),
        gravity: DVec3::ZERO,
        bodies: bodies.collect(),
        joints: Vec::new(),
        surfaces: Vec::new(),
        no_contact: Vec::new(),
        plane: None,
        sensors: vec![],
        medium: None,
    }
}

pub fn state_of(poses: &[Pose]) -> WorldState {
    let still = |&pose: &Pose| BodyState { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
    WorldState { t: 0.0, bodies: poses.iter().map(still).collect(), coordinates: Vec::new() }
}

/// Contacts between two shapes up to a gap.
pub fn contacts(a: &ShapeKind, b: &ShapeKind, poses: [Pose; 2], reach: f64) -> Vec<Contact> {
    let world = world_of(&[a.clone(), b.clone()]);
    let mut contacts = Vec::new();
    let margin = [0.5 * reach; 2];
    Collider::new(&world).collide(&world, &state_of(&poses), &margin, &mut contacts);
    contacts
}

/// Asserts that gap, normal and point are consistent with each other and with the gap as a function of the
/// poses.
pub fn assert_consistent(contacts: &[Contact], poses: [Pose; 2]) {
    for c in contacts {
        assert!((c.normal.length() - 1.0).abs() < 1e-12);
        let (gap, normal, point) = c.gap_and_point_at(&poses[0], &poses[1]);
        // Rounding of positions of size one to ten.
        assert!((gap - c.gap).abs() < 1e-13, "{gap} {c:?}");
        assert!((normal - c.normal).length() < 1e-9 && (point - c.point).length() < 1e-9, "{c:?}");
    }
}
