//! Bodies as the viewer draws them.

use delassus::world::{Body, Pose, ShapeKind, World};
use glam::DVec3;
use serde_json::{Value, json};

use crate::arrays::Arrays;
use crate::triangles::triangles;

/// A pose: position, then quaternion x y z w.
pub fn pose(pose: &Pose) -> Value {
    let (p, q) = (pose.position, pose.rotation);
    json!([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
}

/// A body with its shapes; meshes go into the arrays.
pub fn body(body: &Body, arrays: &mut Arrays) -> Value {
    let shapes: Vec<Value> = (body.shapes.iter())
        .map(|shape| {
            let mut place = shape.pose;
            let mut entry = match &shape.kind {
                ShapeKind::Plane => json!({ "kind": "plane" }),
                ShapeKind::Sphere { radius } => json!({ "kind": "sphere", "radius": radius }),
                ShapeKind::Box { half_extents } => {
                    json!({ "kind": "box", "half": half_extents.to_array() })
                }
                ShapeKind::Capsule { radius, half_height } => {
                    json!({ "kind": "capsule", "radius": radius, "half_height": half_height })
                }
                ShapeKind::Cylinder { radius, half_height } => {
                    json!({ "kind": "cylinder", "radius": radius, "half_height": half_height })
                }
                ShapeKind::Cone { radius, half_height } => {
                    json!({ "kind": "cone", "radius": radius, "half_height": half_height })
                }
                ShapeKind::Convex { .. } | ShapeKind::Mesh { .. } | ShapeKind::Heightfield { .. } => {
                    let surface = triangles(&shape.kind, 3, 1.0);
                    // Single precision around their middle, wherever the file of the mesh has its origin.
                    let least = surface.points.iter().copied().reduce(DVec3::min).unwrap_or_default();
                    let largest = surface.points.iter().copied().reduce(DVec3::max).unwrap_or_default();
                    let middle = 0.5 * (least + largest);
                    place.position += place.rotation * middle;
                    let points = surface.points.iter().flat_map(|p| (*p - middle).to_array());
                    let corners: Vec<u32> = surface.triangles.iter().flatten().copied().collect();
                    json!({
                        "kind": "mesh", "points": arrays.singles(points), "triangles": arrays.words(&corners),
                    })
                }
            };
            entry["pose"] = pose(&place);
            entry
        })
        .collect();
    json!({
        "name": body.name, "fixed": body.fixed, "mass": body.mass, "frame": pose(&body.frame), "shapes": shapes,
        "radius": body.bounding_radius(),
    })
}

/// The joints of a world: their bodies, and where they stand on them.
pub fn joints(world: &World) -> Vec<Value> {
    let joint = |joint: &delassus::world::Joint| {
        json!({
            "name": joint.name, "bodies": joint.bodies, "frames": [pose(&joint.frames[0]), pose(&joint.frames[1])],
        })
    };
    world.joints.iter().map(joint).collect()
}
