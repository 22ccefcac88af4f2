//! Faces that are nearly parallel: where a side of one crosses an edge of the other, the contact acts across
//! both edges, not across a face.

use super::random::{Random, apart_along, distance, uncertainty};
use super::{CUBE, assert_consistent, contacts, cuboid};
use delassus::collision::{Contact, Features};
use delassus::world::{Pose, ShapeKind};
use glam::{DMat3, DQuat, DVec3};

/// The corners of a hull that has rectangular, slanted and small faces.
fn wedge(random: &mut Random) -> ShapeKind {
    let half = DVec3::splat(0.5) + random.vector(0.3);
    let top = 0.2 + 0.6 * random.next();
    let corner = |k: usize| {
        let sign = DVec3::from_array([0, 1, 2].map(|bit| if k >> bit & 1 == 1 { 1.0 } else { -1.0 }));
        let scale = if sign.z > 0.0 { DVec3::new(top, 1.0, 1.0) } else { DVec3::ONE };
        half * sign * scale
    };
    ShapeKind::Convex { points: (0..8).map(corner).collect() }
}

/// The faces of a box as triangles; other shapes as they are.
fn mesh(shape: &ShapeKind) -> ShapeKind {
    let &ShapeKind::Box { half_extents } = shape else { return shape.clone() };
    let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let vertices = (0..8).map(|k| half_extents * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2))).collect();
    ShapeKind::Mesh { vertices, triangles: CUBE.to_vec() }
}

/// Two polytopes, the second over a face of the first, turned about it and tilted by up to 3°.
fn nearly_flush(random: &mut Random) -> (ShapeKind, ShapeKind, [Pose; 2]) {
    let length = |random: &mut Random| 0.2 + random.next();
    let shape = |random: &mut Random| match random.next() < 0.5 {
        true => cuboid(length(random), length(random), length(random)),
        false => wedge(random),
    };
    let a = shape(random);
    let lying = random.next() < 0.2;
    let b = match lying {
        true => ShapeKind::Capsule { radius: length(random), half_height: length(random) },
        false => shape(random),
    };
    // A face or an edge of the second below.
    let eighth = std::f64::consts::FRAC_PI_4;
    let below = match random.next() < 0.3 {
        _ if lying => DQuat::from_rotation_y(2.0 * eighth),
        true => DQuat::from_rotation_y(eighth),
        false => DQuat::IDENTITY,
    };
    let tilt = DQuat::from_scaled_axis(random.vector(0.05) * DVec3::new(1.0, 1.0, 0.0));
    let rotation = tilt * DQuat::from_rotation_z(6.3 * random.next()) * below;
    let position = random.vector(1.2) * DVec3::new(1.0, 1.0, 0.0) + DVec3::Z * 4.0;
    (a, b, [Pose::IDENTITY, Pose { position, rotation }])
}

/// Moves the second along z until they are about as far apart as asked for; false where they pass each other.
fn approach(a: &ShapeKind, b: &ShapeKind, poses: &mut [Pose; 2], gap: f64) -> bool {
    // The distance shrinks no faster than the height: this never goes too far.
    for _ in 0..200 {
        let d = distance(a, b, *poses);
        if d < 1.01 * gap {
            return true;
        }
        poses[1].position.z -= d - gap;
    }
    false
}

fn nearest(found: &[Contact]) -> Option<&Contact> {
    found.iter().min_by(|c, d| c.gap.total_cmp(&d.gap))
}

#[test]
fn the_nearest_contact_of_nearly_flush_faces_has_the_true_normal() {
    let mut random = Random::new(41);
    let (mut seen, mut passed, mut crossing) = (0, 0, 0);
    while seen < 4_000 {
        let (a, b, mut poses) = nearly_flush(&mut random);
        let gap = 1e-3;
        if !approach(&a, &b, &mut poses, gap) {
            continue;
        }
        seen += 1;
        // The same body as a mesh now and then.
        let [mesh_a, mesh_b] = [random.next() < 0.2, random.next() < 0.2];
        let (first, second) =
            (if mesh_a { mesh(&a) } else { a.clone() }, if mesh_b { mesh(&b) } else { b.clone() });
        let found = contacts(&first, &second, poses, 2.0 * gap);
        let Some(c) = nearest(&found) else {
            // Bare edges and corners that pass along a face.
            passed += 1;
            continue;
        };
        assert_consistent(&found, poses);
        let d = distance(&a, &b, poses);
        // Seen along a direction, shapes are apart by their distance along the true normal alone, by less
        // along all others. The iteration that gives the distance ends at 1e-8 or better.
        let apart = apart_along(&a, &b, poses, c.normal);
        assert!((c.gap - d).abs() < 1e-7, "{} {d}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}", c.gap);
        assert!(apart > d - 1e-7, "{apart} {d}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}");
        crossing += i32::from(matches!(c.features, Features::Edges(..)));
    }
    // The test sees what it is for.
    assert!(passed < seen / 20 && crossing > seen / 10, "{passed} and {crossing} of {seen}");
}

/// The largest separation of two overlapping boxes over the normals of faces and the crossings of edges, and
/// how much the second largest is less.
fn separation([h, k]: [DVec3; 2], pose: &Pose) -> (f64, DVec3, f64) {
    let rotation = DMat3::from_quat(pose.rotation);
    let (mut best, mut second) = ((f64::NEG_INFINITY, DVec3::Z), f64::NEG_INFINITY);
    let faces = (0..3).flat_map(|i| [DVec3::AXES[i], rotation.col(i)]);
    let edges = (0..9).map(|k| DVec3::AXES[k / 3].cross(rotation.col(k % 3)));
    for n in faces.chain(edges).filter(|n| n.length() > 1e-6).map(DVec3::normalize) {
        let n = if n.dot(pose.position) < 0.0 { -n } else { n };
        let s = n.dot(pose.position) - h.dot(n.abs()) - k.dot((rotation.transpose() * n).abs());
        if s > best.0 {
            second = best.0;
            best = (s, n);
        } else {
            second = second.max(s);
        }
    }
    (best.0, best.1, best.0 - second)
}

#[test]
fn nearly_flush_boxes_that_overlap_touch_along_the_direction_of_least_overlap() {
    let mut random = Random::new(43);
    let (mut seen, mut crossing) = (0, 0);
    while seen < 2_000 {
        let (a, b, mut poses) = nearly_flush(&mut random);
        let (&ShapeKind::Box { half_extents: h }, &ShapeKind::Box { half_extents: k }) = (&a, &b) else {
            continue;
        };
        if !approach(&a, &b, &mut poses, 1e-3) {
            continue;
        }
        poses[1].position.z -= 1.2e-3;
        let (s, n, ahead) = separation([h, k], &poses[1]);
        // Along two directions nearly alike either may be chosen.
        if !(-1e-3..0.0).contains(&s) || ahead < 1e-6 {
            continue;
        }
        let found = contacts(&a, &b, poses, 0.0);
        seen += 1;
        let c = nearest(&found).unwrap_or_else(|| panic!("nothing at {s}\n{a:?}\n{b:?}\n{poses:?}"));
        assert_consistent(&found, poses);
        let alike = (c.normal - n).length() < 1e-6 && (c.gap - s).abs() < 1e-9;
        assert!(alike, "{s} {n} {ahead}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}");
        crossing += i32::from(matches!(c.features, Features::Edges(..)));
    }
    assert!(crossing > seen / 20, "{crossing} of {seen}");
}

/// The flat end of a cylinder or cone nearly flush with a face that it overhangs, on which it stands or which
/// lies on it.
fn nearly_flush_disc(random: &mut Random) -> (ShapeKind, ShapeKind, [Pose; 2]) {
    let length = |random: &mut Random| 0.2 + random.next();
    let disc = |random: &mut Random, cone: bool| {
        let (radius, half_height) = (length(random), length(random));
        match cone {
            true => ShapeKind::Cone { radius, half_height },
            false => ShapeKind::Cylinder { radius, half_height },
        }
    };
    let other = |random: &mut Random| match (4.0 * random.next()) as u32 {
        0 => disc(random, false),
        1 => wedge(random),
        _ => cuboid(length(random), length(random), length(random)),
    };
    let (a, b) = match random.next() < 0.5 {
        true => (disc(random, false), other(random)),
        false => {
            let cone = random.next() < 0.5;
            (other(random), disc(random, cone))
        }
    };
    let tilt = DQuat::from_scaled_axis(random.vector(0.05) * DVec3::new(1.0, 1.0, 0.0));
    let rotation = tilt * DQuat::from_rotation_z(6.3 * random.next());
    let position = random.vector(1.2) * DVec3::new(1.0, 1.0, 0.0) + DVec3::Z * 4.0;
    (a, b, [Pose::IDENTITY, Pose { position, rotation }])
}

#[test]
fn the_rim_of_a_disc_crosses_edges_and_rims_with_the_true_normal() {
    let mut random = Random::new(47);
    let (mut seen, mut passed, mut crossing, mut worst) = (0, 0, 0, [0.0_f64; 2]);
    while seen < 4_000 {
        let (a, b, mut poses) = nearly_flush_disc(&mut random);
        let gap = 1e-3;
        if !approach(&a, &b, &mut poses, gap) {
            continue;
        }
        seen += 1;
        let found = contacts(&a, &b, poses, 2.0 * gap);
        let Some(c) = nearest(&found) else {
            passed += 1;
            continue;
        };
        assert_consistent(&found, poses);
        // Two points of the shapes are as far apart as the shapes are, seen along their normal: nothing is
        // nearer.
        let error = uncertainty(c, &a, &b, poses);
        let crosses = matches!(c.features, Features::Edges(..));
        let bound = &mut worst[usize::from(crosses)];
        *bound = bound.max(error);
        // What is over no corner of the polygon of a disc is found to 2e-3 of its distance and 1e-6 m.
        assert!(
            error < if crosses { 1e-7 } else { 5e-6 },
            "{error} {c:?}\n{a:?}\n{b:?}\n{poses:?}\n{found:#?}"
        );
        crossing += i32::from(crosses);
    }
    assert!(passed < seen / 20 && crossing > seen / 10, "{passed} and {crossing} of {seen}, {worst:?}");
}

#[test]
fn a_disc_that_overhangs_an_edge_is_carried_where_its_rim_crosses_it() {
    // A disc of radius 1 whose middle is 0.6 inside of the edge of a table: the rim crosses it 0.8 to both
    // sides, whatever the polygon that stands for it.
    let table = cuboid(5.0, 5.0, 0.5);
    for turn in [0.0, 0.01, 0.3, 1.0] {
        for shape in [
            ShapeKind::Cylinder { radius: 1.0, half_height: 0.1 },
            ShapeKind::Cone { radius: 1.0, half_height: 0.1 },
        ] {
            let position = DVec3::new(4.4, 0.0, 0.6);
            let poses = [Pose::IDENTITY, Pose { position, rotation: DQuat::from_rotation_z(turn) }];
            let found = contacts(&table, &shape, poses, 1e-6);
            for y in [-0.8, 0.8] {
                let at = DVec3::new(5.0, y, 0.5);
                assert!(found.iter().any(|c| (c.point - at).length() < 1e-12), "{y} {turn}: {found:#?}");
            }
            assert!(found.iter().all(|c| c.normal == DVec3::Z && c.gap.abs() < 1e-15), "{found:#?}");
        }
    }
}
