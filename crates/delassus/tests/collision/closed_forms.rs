//! Gap, normal and points of each pair, where they are known.

use super::{assert_consistent, at, contacts, cuboid, place};
use delassus::collision::Contact;
use delassus::world::{Pose, ShapeKind};
use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

const PLANE: ShapeKind = ShapeKind::Plane;

fn ball(radius: f64) -> ShapeKind {
    ShapeKind::Sphere { radius }
}

fn capsule(radius: f64, half_height: f64) -> ShapeKind {
    ShapeKind::Capsule { radius, half_height }
}

fn cylinder(radius: f64, half_height: f64) -> ShapeKind {
    ShapeKind::Cylinder { radius, half_height }
}

fn cone(radius: f64, half_height: f64) -> ShapeKind {
    ShapeKind::Cone { radius, half_height }
}

/// The only contact.
fn one(found: &[Contact]) -> Contact {
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0]
}

fn assert_close(c: &Contact, gap: f64, normal: DVec3, point: DVec3) {
    // A few roundings of numbers of size one.
    let near = (c.gap - gap).abs() < 4e-15 && (c.normal - normal).length() < 1e-14;
    assert!(near && (c.point - point).length() < 1e-14, "{c:#?} {gap} {normal} {point}");
}

/// Points of contacts, each of which is expected once.
fn assert_points(found: &[Contact], gap: f64, normal: DVec3, points: &[DVec3]) {
    assert_eq!(found.len(), points.len(), "{found:#?}");
    for point in points {
        let near: Vec<_> = found.iter().filter(|c| (c.point - *point).length() < 1e-9).collect();
        assert_eq!(near.len(), 1, "{point} {found:#?}");
        assert_close(near[0], gap, normal, *point);
    }
}

/// The same contacts with the bodies exchanged.
fn assert_symmetric(a: &ShapeKind, b: &ShapeKind, poses: [Pose; 2], reach: f64) {
    let here = contacts(a, b, poses, reach);
    let there = contacts(b, a, [poses[1], poses[0]], reach);
    assert_eq!(here.len(), there.len(), "{here:#?} {there:#?}");
    assert!(!here.is_empty());
    assert_consistent(&here, poses);
    assert_consistent(&there, [poses[1], poses[0]]);
    for c in &here {
        let same =
            |d: &&Contact| (c.point - d.point).length() < 1e-12 && (c.normal + d.normal).length() < 1e-12;
        assert!(there.iter().any(|d| same(&d) && (c.gap - d.gap).abs() < 1e-14), "{here:#?} {there:#?}");
    }
}

#[test]
fn ball_and_ball() {
    let poses = [place(1.0, 1.0, 1.0), place(4.0, 5.0, 1.0)];
    let found = contacts(&ball(0.5), &ball(1.5), poses, 4.0);
    let n = DVec3::new(0.6, 0.8, 0.0);
    assert_close(&one(&found), 3.0, n, DVec3::ONE + n * 2.0);
    assert_symmetric(&ball(0.5), &ball(1.5), poses, 4.0);
}

#[test]
fn balls_with_one_centre_have_a_direction() {
    let found = contacts(&ball(0.5), &ball(1.5), [place(1.0, 1.0, 1.0); 2], 0.0);
    assert_close(&one(&found), -2.0, DVec3::Z, DVec3::new(1.0, 1.0, 0.5));
}

#[test]
fn margins_decide_what_is_seen() {
    let poses = [place(0.0, 0.0, 0.0), place(0.0, 0.0, 2.25)];
    assert!(contacts(&ball(1.0), &ball(1.0), poses, 0.2499).is_empty());
    assert_eq!(contacts(&ball(1.0), &ball(1.0), poses, 0.25).len(), 1);
    assert!(contacts(&PLANE, &ball(1.0), poses, 1.2499).is_empty());
    assert_eq!(contacts(&PLANE, &ball(1.0), poses, 1.25).len(), 1);
}

#[test]
fn plane_and_ball() {
    let turn = DQuat::from_rotation_x(FRAC_PI_2);
    // The plane looks along −y.
    let poses = [at(0.0, 1.0, 0.0, turn), place(3.0, 0.25, 2.0)];
    let found = contacts(&PLANE, &ball(0.5), poses, 1.0);
    assert_close(&one(&found), 0.25, DVec3::NEG_Y, DVec3::new(3.0, 0.875, 2.0));
    assert_symmetric(&PLANE, &ball(0.5), poses, 1.0);
}

#[test]
fn plane_and_box() {
    let found = contacts(&PLANE, &cuboid(1.0, 2.0, 3.0), [Pose::IDENTITY, place(0.5, 0.0, 3.0)], 0.1);
    let corners = [(-0.5, -2.0), (1.5, -2.0), (-0.5, 2.0), (1.5, 2.0)];
    assert_points(&found, 0.0, DVec3::Z, &corners.map(|(x, y)| DVec3::new(x, y, 0.0)));
    // A plate thinner than the margin touches with its lower side.
    let found = contacts(&PLANE, &cuboid(1.0, 2.0, 0.01), [Pose::IDENTITY, place(0.0, 0.0, 0.01)], 0.1);
    assert_eq!(found.len(), 4);
    // On an edge.
    let pose = at(0.0, 0.0, 2.0_f64.sqrt(), DQuat::from_rotation_y(FRAC_PI_4));
    let found = contacts(&PLANE, &cuboid(1.0, 2.0, 1.0), [Pose::IDENTITY, pose], 0.1);
    assert_points(&found, 0.0, DVec3::Z, &[DVec3::new(0.0, -2.0, 0.0), DVec3::new(0.0, 2.0, 0.0)]);
}

#[test]
fn plane_and_capsule() {
    let lying = DQuat::from_rotation_y(FRAC_PI_2);
    let found = contacts(&PLANE, &capsule(0.5, 2.0), [Pose::IDENTITY, at(0.0, 1.0, 0.75, lying)], 1.0);
    assert_points(&found, 0.25, DVec3::Z, &[DVec3::new(-2.0, 1.0, 0.125), DVec3::new(2.0, 1.0, 0.125)]);
    let found = contacts(&PLANE, &capsule(0.5, 2.0), [Pose::IDENTITY, place(0.0, 1.0, 2.75)], 10.0);
    assert_close(&one(&found), 0.25, DVec3::Z, DVec3::new(0.0, 1.0, 0.125));
}

#[test]
fn plane_and_cylinder() {
    let shape = cylinder(0.5, 2.0);
    let lying = at(0.0, 1.0, 0.75, DQuat::from_rotation_y(FRAC_PI_2));
    let found = contacts(&PLANE, &shape, [Pose::IDENTITY, lying], 1.0);
    assert_points(&found, 0.25, DVec3::Z, &[DVec3::new(-2.0, 1.0, 0.125), DVec3::new(2.0, 1.0, 0.125)]);
    let found = contacts(&PLANE, &shape, [Pose::IDENTITY, place(0.0, 0.0, 2.0)], 10.0);
    let rim = [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y];
    assert_points(&found, 0.0, DVec3::Z, &rim.map(|x| x * 0.5));
    // Tilted by φ, its lowest point is at z − h cos φ − r sin φ, and stays so while it rolls.
    for (tilt, roll) in [(0.3, 0.0), (0.3, 2.0), (1.2, -1.0)] {
        let rotation = DQuat::from_rotation_y(tilt) * DQuat::from_rotation_z(roll);
        let pose = at(0.0, 0.0, 3.0, rotation);
        let found = contacts(&PLANE, &shape, [Pose::IDENTITY, pose], 1.0 + 2.0 * 0.5);
        let lowest = found.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        assert!((lowest - (3.0 - 2.0 * f64::cos(tilt) - 0.5 * f64::sin(tilt))).abs() < 1e-14);
        for c in &found {
            let turned = Pose { rotation: rotation * DQuat::from_rotation_z(0.7), ..pose };
            assert!((c.gap_at(&Pose::IDENTITY, &turned).0 - c.gap).abs() < 1e-14);
        }
    }
    assert_symmetric(&PLANE, &shape, [Pose::IDENTITY, lying], 1.0);
}

#[test]
fn plane_and_cone() {
    let shape = cone(0.5, 2.0);
    let found = contacts(&PLANE, &shape, [Pose::IDENTITY, place(0.0, 0.0, 2.0)], 0.5);
    assert_eq!(found.len(), 4);
    let down = DQuat::from_rotation_x(std::f64::consts::PI);
    let found = contacts(&PLANE, &shape, [Pose::IDENTITY, at(0.0, 0.0, 2.0, down)], 0.5);
    let c = one(&found);
    assert!(c.gap.abs() < 1e-15 && c.point.length() < 1e-15);
    // On its side: the line from apex to rim.
    let slope = f64::atan2(0.5, 4.0);
    let lying = DQuat::from_rotation_y(FRAC_PI_2 + slope);
    let height = 2.0 * f64::sin(slope);
    let found = contacts(&PLANE, &shape, [Pose::IDENTITY, at(0.0, 0.0, height, lying)], 0.1);
    assert!(found.len() == 2 && found.iter().all(|c| c.gap.abs() < 1e-15), "{found:#?}");
}

#[test]
fn box_and_ball() {
    let shape = cuboid(1.0, 2.0, 3.0);
    let along =
        |x: f64, y: f64, z: f64| one(&contacts(&shape, &ball(0.5), [Pose::IDENTITY, place(x, y, z)], 9.0));
    assert_close(&along(0.5, 1.0, 4.0), 0.5, DVec3::Z, DVec3::new(0.5, 1.0, 3.25));
    assert_close(
        &along(4.0, 6.0, 1.0),
        4.5,
        DVec3::new(0.6, 0.8, 0.0),
        DVec3::new(1.0, 2.0, 1.0) + DVec3::new(0.6, 0.8, 0.0) * 2.25,
    );
    let n = DVec3::new(2.0, 2.0, 1.0) / 3.0;
    assert_close(&along(3.0, 4.0, 4.0), 2.5, n, DVec3::new(1.0, 2.0, 3.0) + n * 1.25);
    // Inside, out through the nearest face.
    assert_close(&along(-0.75, 0.0, 0.0), -0.75, DVec3::NEG_X, DVec3::new(-0.625, 0.0, 0.0));
    for x in [place(0.5, 1.0, 4.0), place(4.0, 6.0, 1.0), place(3.0, 4.0, 4.0), place(-0.75, 0.0, 0.0)] {
        assert_symmetric(&shape, &ball(0.5), [at(0.0, 0.0, 0.0, DQuat::from_rotation_z(0.1)), x], 9.0);
    }
}

#[test]
fn capsule_and_ball() {
    let shape = capsule(0.5, 2.0);
    let along =
        |x: f64, y: f64, z: f64| one(&contacts(&shape, &ball(0.25), [Pose::IDENTITY, place(x, y, z)], 9.0));
    let n = DVec3::new(0.6, 0.8, 0.0);
    assert_close(&along(1.2, 1.6, 1.0), 1.25, n, DVec3::Z + n * 1.125);
    let n = DVec3::new(0.6, 0.0, 0.8);
    assert_close(&along(1.2, 0.0, 3.6), 1.25, n, DVec3::Z * 2.0 + n * 1.125);
    // On the axis, sideways.
    assert!((along(0.0, 0.0, 1.0).gap + 0.75).abs() < 1e-15);
}

#[test]
fn cylinder_and_ball() {
    let shape = cylinder(0.5, 2.0);
    let along =
        |x: f64, y: f64, z: f64| one(&contacts(&shape, &ball(0.25), [Pose::IDENTITY, place(x, y, z)], 9.0));
    let n = DVec3::new(0.6, 0.8, 0.0);
    assert_close(&along(1.2, 1.6, 1.0), 1.25, n, DVec3::Z + n * 1.125);
    assert_close(&along(0.2, 0.1, -3.0), 0.75, DVec3::NEG_Z, DVec3::new(0.2, 0.1, -2.375));
    let n = DVec3::new(0.6, 0.0, 0.8);
    assert_close(&along(0.5 + 0.6, 0.0, 2.8), 0.75, n, DVec3::new(0.5, 0.0, 2.0) + n * 0.375);
    assert_close(&along(0.0, 0.0, 1.9), -0.35, DVec3::Z, DVec3::new(0.0, 0.0, 1.825));
    assert!((along(0.0, 0.0, 0.0).gap + 0.75).abs() < 1e-15);
}

#[test]
fn capsule_and_capsule() {
    let shape = capsule(0.5, 2.0);
    // Crossed.
    let poses = [Pose::IDENTITY, at(1.5, 0.0, 0.5, DQuat::from_rotation_x(FRAC_PI_2))];
    let found = contacts(&shape, &shape, poses, 1.0);
    assert_close(&one(&found), 0.5, DVec3::X, DVec3::new(0.75, 0.0, 0.5));
    assert_symmetric(&shape, &shape, poses, 1.0);
    // Side by side: the ends of the common length.
    let poses = [Pose::IDENTITY, place(1.5, 0.0, 1.0)];
    let found = contacts(&shape, &shape, poses, 1.0);
    assert_points(&found, 0.5, DVec3::X, &[DVec3::new(0.75, 0.0, -1.0), DVec3::new(0.75, 0.0, 2.0)]);
    assert_symmetric(&shape, &shape, poses, 1.0);
    // One behind the other.
    let poses = [Pose::IDENTITY, place(0.0, 0.0, 5.5)];
    assert_close(&one(&contacts(&shape, &shape, poses, 1.0)), 0.5, DVec3::Z, DVec3::new(0.0, 0.0, 2.75));
    // Axes that cross, and axes in each other.
    for pose in [at(0.0, 0.0, 0.0, DQuat::from_rotation_x(0.5)), place(0.0, 0.0, 1.0)] {
        let found = contacts(&shape, &shape, [Pose::IDENTITY, pose], 1.0);
        assert!((one(&found).gap + 1.0).abs() < 1e-14, "{found:#?}");
    }
}

#[test]
fn capsule_and_box() {
    let (rod, block) = (capsule(0.5, 2.0), cuboid(1.0, 1.0, 1.0));
    // Lying across: clipped by the face.
    let poses = [Pose::IDENTITY, at(0.5, 0.0, 2.0, DQuat::from_rotation_y(FRAC_PI_2))];
    let found = contacts(&block, &rod, poses, 1.0);
    assert_points(&found, 0.5, DVec3::Z, &[DVec3::new(-1.0, 0.0, 1.25), DVec3::new(1.0, 0.0, 1.25)]);
    assert_symmetric(&block, &rod, poses, 1.0);
    // Standing on it.
    let poses = [Pose::IDENTITY, place(0.5, 0.5, 3.75)];
    assert_close(&one(&contacts(&block, &rod, poses, 9.0)), 0.25, DVec3::Z, DVec3::new(0.5, 0.5, 1.125));
    // Beside an edge, across it.
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::new(1.0, -1.0, 0.0).normalize());
    let poses = [Pose::IDENTITY, at(1.6, 1.8, 0.25, turn)];
    let found = contacts(&block, &rod, poses, 2.0);
    let n = DVec3::new(1.0, 1.0, 0.0).normalize();
    let c = one(&found);
    assert!((c.gap - (0.7 * 2.0_f64.sqrt() - 0.5)).abs() < 1e-14 && (c.normal - n).length() < 1e-14, "{c:?}");
    assert_symmetric(&block, &rod, poses, 2.0);
    // Along an edge.
    let poses = [Pose::IDENTITY, place(1.6, 1.8, 0.25)];
    let found = contacts(&block, &rod, poses, 2.0);
    let n = DVec3::new(0.6, 0.8, 0.0);
    let ends = [-1.0, 1.0].map(|z| DVec3::new(1.0, 1.0, z) + n * 0.25);
    assert_points(&found, 0.5, n, &ends);
    assert_symmetric(&block, &rod, poses, 2.0);
    // Through it.
    let found =
        contacts(&block, &rod, [Pose::IDENTITY, at(0.0, 0.0, 0.75, DQuat::from_rotation_y(FRAC_PI_2))], 0.0);
    assert_points(&found, -0.75, DVec3::Z, &[DVec3::new(-1.0, 0.0, 0.625), DVec3::new(1.0, 0.0, 0.625)]);
}

#[test]
fn box_on_box_touches_in_the_corners_of_the_overlap() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let square = |x: [f64; 2], y: [f64; 2], z: f64| {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| DVec3::new(x[i], y[j], z))
    };
    for z in [2.0, 2.25, 1.875] {
        let found = contacts(&cube, &cube, [Pose::IDENTITY, place(0.0, 0.0, z)], 0.5);
        assert_points(&found, z - 2.0, DVec3::Z, &square([-1.0, 1.0], [-1.0, 1.0], 0.5 * z));
        let found = contacts(&cube, &cube, [Pose::IDENTITY, place(0.5, -0.25, z)], 0.5);
        assert_points(&found, z - 2.0, DVec3::Z, &square([-0.5, 1.0], [-1.0, 0.75], 0.5 * z));
        assert_symmetric(&cube, &cube, [Pose::IDENTITY, place(0.5, -0.25, z)], 0.5);
        let small = cuboid(0.5, 0.25, 1.0);
        let found = contacts(&cube, &small, [Pose::IDENTITY, place(0.0, 0.5, z)], 0.5);
        assert_points(&found, z - 2.0, DVec3::Z, &square([-0.5, 0.5], [0.25, 0.75], 0.5 * z));
        let found = contacts(&small, &cube, [Pose::IDENTITY, place(0.0, 0.5, z)], 0.5);
        assert_points(&found, z - 2.0, DVec3::Z, &square([-0.5, 0.5], [-0.25, 0.25], 0.5 * z));
        let turned = at(0.0, 0.0, z, DQuat::from_rotation_z(FRAC_PI_4));
        let found = contacts(&cube, &cube, [Pose::IDENTITY, turned], 0.5);
        let t = 2.0_f64.sqrt() - 1.0;
        let octagon: Vec<_> =
            [(1.0, t), (t, 1.0), (-t, 1.0), (-1.0, t), (-1.0, -t), (-t, -1.0), (t, -1.0), (1.0, -t)]
                .map(|(x, y)| DVec3::new(x, y, 0.5 * z))
                .to_vec();
        assert_points(&found, z - 2.0, DVec3::Z, &octagon);
        assert_symmetric(&cube, &cube, [Pose::IDENTITY, turned], 0.5);
    }
}

#[test]
fn box_on_edge_and_on_corner() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let floor = cuboid(5.0, 5.0, 1.0);
    let on_edge = at(0.5, 0.0, 1.0 + 2.0_f64.sqrt(), DQuat::from_rotation_y(FRAC_PI_4));
    let found = contacts(&floor, &cube, [Pose::IDENTITY, on_edge], 0.5);
    assert_points(&found, 0.0, DVec3::Z, &[DVec3::new(0.5, -1.0, 1.0), DVec3::new(0.5, 1.0, 1.0)]);
    let turn = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::NEG_Z);
    let on_corner = at(0.5, 0.0, 1.25 + 3.0_f64.sqrt(), turn);
    let found = contacts(&floor, &cube, [Pose::IDENTITY, on_corner], 0.5);
    assert_close(&one(&found), 0.25, DVec3::Z, DVec3::new(0.5, 0.0, 1.125));
    assert_symmetric(&floor, &cube, [Pose::IDENTITY, on_corner], 0.5);
}

#[test]
fn box_edge_across_box_edge() {
    let cube = cuboid(1.0, 1.0, 1.0);
    // A with an edge up along y, B with an edge down along x.
    for gap in [0.25, 0.0, -0.125] {
        let a = at(0.0, 0.0, 0.0, DQuat::from_rotation_y(FRAC_PI_4));
        let b = at(0.25, -0.5, 2.0 * 2.0_f64.sqrt() + gap, DQuat::from_rotation_x(FRAC_PI_4));
        let found = contacts(&cube, &cube, [a, b], 0.5);
        let c = one(&found);
        assert!((c.gap - gap).abs() < 2e-15 && (c.normal - DVec3::Z).length() < 1e-14, "{c:?}");
        assert!((c.point - DVec3::new(0.0, -0.5, 2.0_f64.sqrt() + 0.5 * gap)).length() < 1e-14, "{c:?}");
        assert_symmetric(&cube, &cube, [a, b], 0.5);
    }
}

#[test]
fn boxes_corner_to_corner_and_edge_to_edge() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let poses = [Pose::IDENTITY, place(2.2, 2.2, 2.1)];
    let n = DVec3::new(2.0, 2.0, 1.0) / 3.0;
    let c = one(&contacts(&cube, &cube, poses, 1.0));
    assert!((c.gap - 0.3).abs() < 1e-14 && (c.normal - n).length() < 1e-13, "{c:?}");
    assert_symmetric(&cube, &cube, poses, 1.0);
    let poses = [Pose::IDENTITY, place(2.3, 0.5, 2.4)];
    let found = contacts(&cube, &cube, poses, 1.0);
    let n = DVec3::new(0.6, 0.0, 0.8);
    assert_eq!(found.len(), 2, "{found:#?}");
    for y in [-0.5, 1.0] {
        let c = found.iter().find(|c| (c.point.y - y).abs() < 1e-14).unwrap();
        assert!((c.gap - 0.5).abs() < 1e-14 && (c.normal - n).length() < 1e-14, "{c:?}");
    }
    assert_symmetric(&cube, &cube, poses, 1.0);
}

#[test]
fn a_box_that_slides_over_a_seam_does_not_see_the_edge_behind_it() {
    let cube = cuboid(1.0, 1.0, 1.0);
    for height in [2.0, 2.0 + 1e-12, 2.0 - 1e-12, 2.0 + 1e-8] {
        assert!(contacts(&cube, &cube, [Pose::IDENTITY, place(2.01, 0.0, height)], 0.1).is_empty());
    }
    assert!(contacts(&cube, &cube, [Pose::IDENTITY, place(2.0, 0.0, 2.0)], 0.1).is_empty());
    // A step of a hundredth is one.
    assert_eq!(contacts(&cube, &cube, [Pose::IDENTITY, place(2.01, 0.0, 1.99)], 0.1).len(), 4);
}

/// Rollers side by side with flush ends touch along a line, at its two ends, whatever rounding says of them.
#[test]
fn rollers_with_flush_ends_touch_at_the_ends_of_a_line() {
    let (a, b) = (
        ShapeKind::Cylinder { radius: 0.2, half_height: 0.05 },
        ShapeKind::Cylinder { radius: 0.1, half_height: 0.05 },
    );
    for k in 0..200 {
        // Both rotated about their axes, moved and tilted by rounding only.
        let angle = 0.37 * f64::from(k);
        let noise = 1e-16 * f64::from(k % 7 - 3);
        let turned = |angle: f64| DQuat::from_rotation_x(FRAC_PI_2 + noise) * DQuat::from_rotation_z(angle);
        let poses = [
            Pose { position: DVec3::new(0.0, noise, -noise), rotation: turned(angle) },
            Pose {
                position: DVec3::new(0.3 + 5.0 * noise, -3.0 * noise, 0.0),
                rotation: turned(-2.0 * angle),
            },
        ];
        let found = contacts(&a, &b, poses, 1e-4);
        assert_eq!(found.len(), 2, "{k}: {found:#?}");
        for c in &found {
            assert!(c.gap.abs() < 1e-12 && (c.normal - DVec3::X).length() < 1e-9, "{k}: {c:?}");
        }
        let mut ends = [found[0].point.y, found[1].point.y];
        ends.sort_by(f64::total_cmp);
        assert!((ends[0] + 0.05).abs() < 1e-9 && (ends[1] - 0.05).abs() < 1e-9, "{k}: {ends:?}");
    }
}

/// Coins of one size in a stack touch at four points; one that overhangs at more.
#[test]
fn coins_in_a_stack_touch_at_four_points() {
    let coin = ShapeKind::Cylinder { radius: 0.012, half_height: 0.001 };
    for k in 0..100 {
        let rotation = DQuat::from_rotation_z(0.1 * f64::from(k));
        let beside = 1e-12 * f64::from(k);
        let poses = [place(0.0, 0.0, 0.0), Pose { position: DVec3::new(beside, 0.0, 0.002), rotation }];
        let found = contacts(&coin, &coin, poses, 1e-5);
        assert_eq!(found.len(), 4, "{k}");
        let overhanging = [poses[0], Pose { position: DVec3::new(0.006, 0.0, 0.002), rotation }];
        assert!(contacts(&coin, &coin, overhanging, 1e-5).len() > 8, "{k}");
    }
}
