//! How long a call takes. Run in release with `--ignored --nocapture`.

use super::random::Random;
use super::{state_of, world_of};
use delassus::collision::Collider;
use delassus::world::{Pose, ShapeKind};
use glam::{DQuat, DVec3};
use std::time::Instant;

#[test]
#[ignore = "a measurement: cargo test --release -p delassus --test main timing -- --ignored --nocapture"]
fn spheres_in_a_box() {
    for per_edge in [10, 22] {
        let mut kinds = vec![ShapeKind::Plane];
        let mut poses = vec![Pose::IDENTITY];
        let mut random = Random::new(5);
        for k in 0..per_edge * per_edge * per_edge {
            let place = [k % per_edge, k / per_edge % per_edge, k / per_edge / per_edge].map(f64::from);
            kinds.push(ShapeKind::Sphere { radius: 0.5 });
            poses.push(Pose { position: DVec3::from(place) + DVec3::Z * 0.5, rotation: DQuat::IDENTITY });
        }
        let mut world = world_of(&kinds);
        world.bodies[0].fixed = true;
        let mut collider = Collider::new(&world);
        let (mut contacts, margin) = (Vec::new(), vec![0.01; kinds.len()]);
        for (name, step) in [("first", 0.0), ("at rest", 0.0), ("moving", 0.01)] {
            let rounds = if name == "first" { 1 } else { 20 };
            let mut spent = f64::INFINITY;
            for _ in 0..rounds {
                poses[1..].iter_mut().for_each(|pose| pose.position += random.vector(step));
                let state = state_of(&poses);
                let start = Instant::now();
                collider.collide(&world, &state, &margin, &mut contacts);
                // The fastest round: the machine may be busy with other things.
                spent = start.elapsed().as_secs_f64().min(spent);
            }
            println!("{} {name}: {:.3} ms, {} contacts", kinds.len(), 1e3 * spent, contacts.len());
        }
    }
}
