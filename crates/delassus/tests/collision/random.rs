//! Random pairs against an iterative method, and random scenes.

use super::{contacts, cuboid, state_of, world_of};
use crate::support::random::Xorshift;
use delassus::collision::{Collider, Contact};
use delassus::world::{Pose, ShapeKind};
use glam::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::{DefaultQueryDispatcher, QueryDispatcher};
use parry3d_f64::shape::SharedShape;

/// Numbers, rotations and shapes that are the same in every run.
pub struct Random(Xorshift);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(Xorshift(seed))
    }

    /// In [0, 1).
    pub fn next(&mut self) -> f64 {
        self.0.unit()
    }

    pub fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::new(self.next() - 0.5, self.next() - 0.5, self.next() - 0.5) * 2.0 * size
    }

    fn length(&mut self) -> f64 {
        0.1 + self.next()
    }

    /// Any rotation, or one of those in which shapes stand parallel.
    pub fn rotation(&mut self) -> DQuat {
        let free =
            DQuat::from_xyzw(self.next() - 0.5, self.next() - 0.5, self.next() - 0.5, self.next() - 0.5);
        let quarter = |x: f64| (x * 4.0).floor() * std::f64::consts::FRAC_PI_2;
        match (self.next() * 4.0) as u32 {
            0 => DQuat::IDENTITY,
            1 => DQuat::from_rotation_x(quarter(self.next())) * DQuat::from_rotation_z(quarter(self.next())),
            2 => DQuat::from_rotation_z(self.next() * 6.0),
            _ if free.length_squared() > 1e-6 => free.normalize(),
            _ => DQuat::IDENTITY,
        }
    }

    pub fn convex(&mut self) -> ShapeKind {
        match (self.next() * 6.0) as u32 {
            0 => ShapeKind::Sphere { radius: self.length() },
            1 => cuboid(self.length(), self.length(), self.length()),
            2 => ShapeKind::Capsule { radius: self.length(), half_height: self.length() },
            3 => ShapeKind::Cylinder { radius: self.length(), half_height: self.length() },
            4 => ShapeKind::Cone { radius: self.length(), half_height: self.length() },
            _ => ShapeKind::Convex { points: (0..12).map(|_| self.vector(0.8)).collect() },
        }
    }

    pub fn shape(&mut self) -> ShapeKind {
        match (self.next() * 9.0) as u32 {
            0 => ShapeKind::Plane,
            1 => {
                let heights = (0..9).map(|_| 0.3 * self.next()).collect();
                ShapeKind::Heightfield { heights, size: [3, 3], extent: [3.0, 3.0] }
            }
            2 => {
                let s = self.length();
                let vertices =
                    (0..8).map(|k| s * DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64));
                ShapeKind::Mesh { vertices: vertices.collect(), triangles: super::CUBE.to_vec() }
            }
            _ => self.convex(),
        }
    }
}

/// The shape without the radius around it, how its axis is turned, and the radius.
fn parry(kind: &ShapeKind) -> (SharedShape, DQuat, f64) {
    // Its axes are y.
    let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    match kind {
        &ShapeKind::Sphere { radius } => (SharedShape::ball(radius), DQuat::IDENTITY, 0.0),
        ShapeKind::Box { half_extents: h } => (SharedShape::cuboid(h.x, h.y, h.z), DQuat::IDENTITY, 0.0),
        &ShapeKind::Capsule { radius, half_height } => {
            let end = DVec3::Z * half_height;
            (SharedShape::segment(-end, end), DQuat::IDENTITY, radius)
        }
        &ShapeKind::Cylinder { radius, half_height } => {
            (SharedShape::cylinder(half_height, radius), turn, 0.0)
        }
        &ShapeKind::Cone { radius, half_height } => (SharedShape::cone(half_height, radius), turn, 0.0),
        ShapeKind::Convex { points } => (SharedShape::convex_hull(points).unwrap(), DQuat::IDENTITY, 0.0),
        ShapeKind::Plane => (SharedShape::halfspace(DVec3::Z), DQuat::IDENTITY, 0.0),
        ShapeKind::Mesh { vertices, triangles } => {
            (SharedShape::trimesh(vertices.clone(), triangles.clone()).unwrap(), DQuat::IDENTITY, 0.0)
        }
        ShapeKind::Heightfield { heights, size: [nx, ny], extent } => {
            let at = |x: usize, y: usize| {
                let along = |k: usize, n: usize, extent: f64| extent * (k as f64 / (n - 1) as f64 - 0.5);
                DVec3::new(along(x, *nx, extent[0]), along(y, *ny, extent[1]), heights[y * nx + x])
            };
            let vertices = (0..nx * ny).map(|k| at(k % nx, k / nx)).collect();
            let corner = |x: usize, y: usize| (y * nx + x) as u32;
            let cells = (0..(nx - 1) * (ny - 1)).map(|k| (k % (nx - 1), k / (nx - 1)));
            let triangles = cells.flat_map(|(x, y)| {
                let [a, b, c, d] = [corner(x, y), corner(x + 1, y), corner(x, y + 1), corner(x + 1, y + 1)];
                [[a, b, c], [b, d, c]]
            });
            (SharedShape::trimesh(vertices, triangles.collect()).unwrap(), DQuat::IDENTITY, 0.0)
        }
    }
}

pub fn distance(a: &ShapeKind, b: &ShapeKind, [p, q]: [Pose; 2]) -> f64 {
    let ((a, turn_a, radius_a), (b, turn_b, radius_b)) = (parry(a), parry(b));
    let p = ParryPose::from_parts(p.position, p.rotation * turn_a);
    let q = ParryPose::from_parts(q.position, q.rotation * turn_b);
    DefaultQueryDispatcher.distance(&p.inv_mul(&q), &*a, &*b).unwrap().distance - radius_a - radius_b
}

/// How deep two shapes are inside of each other, for those that have an inside; none where they are apart.
pub fn depth(a: &ShapeKind, b: &ShapeKind, [p, q]: [Pose; 2]) -> Option<f64> {
    if [a, b].iter().any(|kind| matches!(kind, ShapeKind::Mesh { .. } | ShapeKind::Heightfield { .. })) {
        return None;
    }
    let ((a, turn_a, radius_a), (b, turn_b, radius_b)) = (parry(a), parry(b));
    let p = ParryPose::from_parts(p.position, p.rotation * turn_a);
    let q = ParryPose::from_parts(q.position, q.rotation * turn_b);
    let found = DefaultQueryDispatcher.contact(&p.inv_mul(&q), &*a, &*b, radius_a + radius_b).ok()??;
    let depth = radius_a + radius_b - found.dist;
    (depth > 0.0).then_some(depth)
}

/// How far apart two convex shapes are at least, seen along a direction from the first: what each reaches
/// along it is known without iteration. They overlap by no more than its negative.
pub fn apart_along(a: &ShapeKind, b: &ShapeKind, [p, q]: [Pose; 2], n: DVec3) -> f64 {
    let reach = |kind: &ShapeKind, pose: Pose, n: DVec3| {
        if let ShapeKind::Plane = kind {
            let along = (pose.rotation * DVec3::Z).dot(n) > 1.0 - 1e-12;
            return if along { n.dot(pose.position) } else { f64::INFINITY };
        }
        let (shape, turn, radius) = parry(kind);
        let pose = ParryPose::from_parts(pose.position, pose.rotation * turn);
        shape.as_support_map().map_or(f64::INFINITY, |s| n.dot(s.support_point(&pose, n)) + radius)
    };
    -reach(a, p, n) - reach(b, q, -n)
}

/// Whether a gap is the distance without believing any iteration: the planes across its normal through the
/// farthest points of the shapes are as far apart, and its ends lie on the shapes.
fn is_certain(c: &Contact, a: &ShapeKind, b: &ShapeKind, poses: [Pose; 2]) -> bool {
    uncertainty(c, a, b, poses) < 1e-8
}

/// The largest error of what [`is_certain`] asks for.
pub fn uncertainty(c: &Contact, a: &ShapeKind, b: &ShapeKind, [p, q]: [Pose; 2]) -> f64 {
    let ((a, turn_a, radius_a), (b, turn_b, radius_b)) = (parry(a), parry(b));
    let p = ParryPose::from_parts(p.position, p.rotation * turn_a);
    let q = ParryPose::from_parts(q.position, q.rotation * turn_b);
    let farthest = |shape: &SharedShape, pose: &ParryPose, n: DVec3| {
        n.dot(shape.as_support_map().unwrap().support_point(pose, n))
    };
    let apart = -farthest(&a, &p, c.normal) - farthest(&b, &q, -c.normal) - radius_a - radius_b;
    let ends = [c.point - c.normal * (0.5 * c.gap), c.point + c.normal * (0.5 * c.gap)];
    let on_a = a.distance_to_point(&p, ends[0], true) - radius_a;
    let on_b = b.distance_to_point(&q, ends[1], true) - radius_b;
    (apart - c.gap).abs().max(on_a).max(on_b)
}

#[test]
fn the_nearest_contact_is_at_the_distance_of_the_shapes() {
    let mut random = Random::new(7);
    let (mut seen, mut passed, mut sharp, mut exact) = (0, 0, 0, 0);
    while seen < 6_000 {
        let (a, b) = (random.convex(), random.convex());
        let poses = [0, 1].map(|_| Pose { position: random.vector(1.5), rotation: random.rotation() });
        let d = distance(&a, &b, poses);
        if !(1e-3..1.0).contains(&d) {
            continue;
        }
        seen += 1;
        let reach = 1.0015 * d;
        let found = contacts(&a, &b, poses, reach);
        let nearest = found.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let bare = |kind: &ShapeKind| !matches!(kind, ShapeKind::Sphere { .. } | ShapeKind::Capsule { .. });
        if found.is_empty() && bare(&a) && bare(&b) {
            // Corners and edges that pass along a face.
            passed += 1;
            continue;
        }
        // Along the normal of a face within 3° of the nearest direction, gaps are longer by its cosine at
        // most. Caps that carry others are polygons of 32 sides around the disc: half a percent too wide.
        let round = |kind: &ShapeKind| matches!(kind, ShapeKind::Cylinder { .. } | ShapeKind::Cone { .. });
        let tolerance = if round(&a) || round(&b) { 5e-3 } else { 1e-8 };
        let wrong = nearest < d - tolerance || nearest > d * 1.0015 + tolerance;
        let certain = found.iter().any(|c| c.gap == nearest && is_certain(c, &a, &b, poses));
        assert!(!wrong || certain, "{nearest} {d}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}");
        sharp += i32::from(tolerance < 1e-6);
        exact += i32::from(tolerance < 1e-6 && certain);
        let closer = contacts(&a, &b, poses, nearest * (1.0 - 1e-9));
        assert!(closer.is_empty(), "{d}\n{a:?}\n{b:?}\n{poses:?} {closer:#?}");
    }
    // Those along the normal of a face near by are not.
    assert!(passed < seen / 50 && exact > sharp * 97 / 100, "{passed} of {seen}, {exact} of {sharp}");
}

/// Hulls and boxes inside of each other, by a depth from an iterative method: some contact says so.
#[test]
fn polytopes_that_overlap_touch_at_least_as_deep() {
    let mut random = Random::new(23);
    let hull =
        |random: &mut Random| ShapeKind::Convex { points: (0..12).map(|_| random.vector(0.8)).collect() };
    let (mut seen, mut shallow) = (0, 0);
    while seen < 3_000 {
        let a = if random.next() < 0.5 { hull(&mut random) } else { cuboid(0.9, 0.7, 0.001) };
        let b = hull(&mut random);
        let poses = [0, 1].map(|_| Pose { position: random.vector(1.0), rotation: random.rotation() });
        let Some(d) = depth(&a, &b, poses).filter(|d| (1e-4..0.1).contains(d)) else { continue };
        seen += 1;
        let found = contacts(&a, &b, poses, 0.0);
        let deepest = found.iter().map(|c| -c.gap).fold(f64::NEG_INFINITY, f64::max);
        // The depth along each normal is at least the least one.
        assert!(deepest > 0.0, "{d} {deepest}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}");
        shallow += i32::from(deepest < 0.9 * d);
    }
    // Where a face of one overhangs the other, what lies over the other counts.
    assert!(shallow < seen / 20, "{shallow} of {seen}");
}

#[test]
fn nothing_is_ever_lost_or_infinite() {
    let mut random = Random::new(11);
    let mut found = Vec::new();
    let mut deepest: f64 = 0.0;
    for _ in 0..350 {
        let kinds: Vec<_> = (0..4).map(|_| random.shape()).collect();
        let world = world_of(&kinds);
        let mut collider = Collider::new(&world);
        for k in 0..50 {
            // Everything in one place now and then.
            let spread = if k % 10 == 0 { 0.0 } else { 1.5 };
            let poses: Vec<_> = (0..4)
                .map(|_| Pose { position: random.vector(spread), rotation: random.rotation() })
                .collect();
            collider.collide(&world, &state_of(&poses), &[0.05; 4], &mut found);
            for c in &found {
                let finite = c.gap.is_finite() && c.normal.is_finite() && c.point.is_finite();
                assert!(finite && (c.normal.length() - 1.0).abs() < 1e-9, "{c:?} {kinds:?} {poses:?}");
                assert!(c.core[0].is_finite() && c.core[1].is_finite() && c.gap <= 0.1);
                assert!(c.bodies[0] < c.bodies[1]);
                let plane = c.bodies.iter().any(|&b| matches!(kinds[b as usize], ShapeKind::Plane));
                deepest = if plane { deepest } else { deepest.min(c.gap) };
            }
            let order = |c: &Contact| (c.bodies, c.shapes, c.feature);
            assert!(found.is_sorted_by_key(order));
        }
    }
    // No shape is larger than about three.
    assert!(deepest > -5.0, "{deepest}");
}
