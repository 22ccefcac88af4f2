//! Hulls, meshes, heightfields, and round shapes on faces.

use super::{CUBE, assert_consistent, at, contacts, cuboid, place};
use delassus::collision::Contact;
use delassus::world::{Pose, ShapeKind};
use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

fn prism(sides: u32, radius: f64, half_height: f64) -> ShapeKind {
    let angle = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(sides);
    let corner = |k: u32, z: f64| DVec3::new(radius * angle(k).cos(), radius * angle(k).sin(), z);
    let points = (0..sides).flat_map(|k| [corner(k, half_height), corner(k, -half_height)]);
    ShapeKind::Convex { points: points.collect() }
}

/// A flat floor of many triangles.
fn floor(cells: usize) -> ShapeKind {
    ShapeKind::Heightfield {
        heights: vec![0.0; (cells + 1) * (cells + 1)],
        size: [cells + 1; 2],
        extent: [4.0, 4.0],
    }
}

fn cube_mesh(half: f64) -> ShapeKind {
    let vertices =
        (0..8).map(|k| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 2.0 - 1.0);
    ShapeKind::Mesh { vertices: vertices.map(|v| v * half).collect(), triangles: CUBE.to_vec() }
}

fn assert_flat(found: &[Contact], count: usize, gap: f64, normal: DVec3) {
    assert_eq!(found.len(), count, "{found:#?}");
    for c in found {
        assert!((c.gap - gap).abs() < 1e-14 && (c.normal - normal).length() < 1e-14, "{c:?}");
    }
}

#[test]
fn a_prism_stands_on_all_its_corners() {
    for sides in [3, 5, 6, 8, 12] {
        let shape = prism(sides, 1.0, 0.5);
        for gap in [0.0, 1e-9, 0.125, -0.0625] {
            let poses = [place(0.0, 0.0, 0.0), place(0.0, 0.0, 0.5 + gap)];
            assert_flat(&contacts(&ShapeKind::Plane, &shape, poses, 0.3), sides as usize, gap, DVec3::Z);
            let poses = [place(0.0, 0.0, -1.0), place(0.0, 0.0, 0.5 + gap)];
            let found = contacts(&cuboid(3.0, 3.0, 1.0), &shape, poses, 0.3);
            assert_flat(&found, sides as usize, gap, DVec3::Z);
            assert_consistent(&found, poses);
            let found = contacts(&shape, &cuboid(3.0, 3.0, 1.0), [poses[1], poses[0]], 0.3);
            assert_flat(&found, sides as usize, gap, DVec3::NEG_Z);
            let poses = [place(0.0, 0.0, -0.5), place(0.0, 0.0, 0.5 + gap)];
            assert_flat(&contacts(&shape, &shape, poses, 0.3), sides as usize, gap, DVec3::Z);
        }
    }
}

#[test]
fn points_inside_a_face_or_on_an_edge_carry_nothing() {
    let grid = (0..27).map(|k| DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - 1.0);
    let shape = ShapeKind::Convex { points: grid.collect() };
    assert_flat(
        &contacts(&ShapeKind::Plane, &shape, [Pose::IDENTITY, place(0.0, 0.0, 1.0)], 0.1),
        4,
        0.0,
        DVec3::Z,
    );
    let poses = [place(0.3, 0.2, -1.0), place(0.0, 0.0, 1.0)];
    assert_flat(&contacts(&shape, &shape, poses, 0.1), 4, 0.0, DVec3::Z);
}

#[test]
fn a_ball_and_a_hull() {
    let (shape, ball) = (prism(6, 1.0, 0.5), ShapeKind::Sphere { radius: 0.25 });
    let found = contacts(&shape, &ball, [Pose::IDENTITY, place(0.2, 0.1, 1.0)], 1.0);
    assert_flat(&found, 1, 0.25, DVec3::Z);
    // Side, edge, corner.
    let n = DVec3::new(FRAC_PI_3.cos() * 0.5 + 0.5, FRAC_PI_3.sin() * 0.5, 0.0).normalize();
    let found =
        contacts(&shape, &ball, [Pose::IDENTITY, Pose { position: n * 2.0, rotation: DQuat::IDENTITY }], 2.0);
    assert!((found[0].gap - (1.75 - FRAC_PI_3.sin())).abs() < 1e-14 && found.len() == 1);
    let found = contacts(&shape, &ball, [Pose::IDENTITY, place(1.6, 0.0, 0.5 + 0.8)], 2.0);
    assert!((found[0].gap - 0.75).abs() < 1e-14 && found.len() == 1);
    let found = contacts(&shape, &ball, [Pose::IDENTITY, place(2.0, 0.0, 0.1)], 2.0);
    assert!((found[0].gap - 0.75).abs() < 1e-14 && found.len() == 1);
    // Inside.
    let found = contacts(&shape, &ball, [Pose::IDENTITY, place(0.0, 0.0, 0.3)], 2.0);
    assert_flat(&found, 1, -0.45, DVec3::Z);
}

#[test]
fn round_shapes_on_a_face() {
    let table = cuboid(2.0, 2.0, 1.0);
    let barrel = ShapeKind::Cylinder { radius: 0.5, half_height: 0.75 };
    for gap in [0.0, 1e-10, 0.125, -0.03125] {
        let standing = [place(0.0, 0.0, -1.0), place(0.3, 0.2, 0.75 + gap)];
        assert_flat(&contacts(&table, &barrel, standing, 0.2), 4, gap, DVec3::Z);
        let lying = [place(0.0, 0.0, -1.0), at(0.3, 0.2, 0.5 + gap, DQuat::from_rotation_y(FRAC_PI_2))];
        let found = contacts(&table, &barrel, lying, 0.2);
        assert_flat(&found, 2, gap, DVec3::Z);
        // It rolls without the contact noticing.
        let rolled = Pose { rotation: lying[1].rotation * DQuat::from_rotation_z(0.6), ..lying[1] };
        for c in &found {
            assert!((c.gap_at(&lying[0], &rolled).0 - gap).abs() < 1e-14);
        }
        // Over the edge: the part that is on the table.
        let over = Pose { position: DVec3::new(1.75, 0.0, 0.5 + gap), ..lying[1] };
        let found = contacts(&table, &barrel, [lying[0], over], 0.2);
        assert_flat(&found, 2, gap, DVec3::Z);
        assert!(found.iter().any(|c| (c.point.x - 2.0).abs() < 1e-14));
        assert!(found.iter().any(|c| (c.point.x - 1.0).abs() < 1e-14));
    }
    let cone = ShapeKind::Cone { radius: 0.5, half_height: 0.75 };
    let poses = [place(0.0, 0.0, -1.0), place(0.3, 0.2, 0.75)];
    assert_flat(&contacts(&table, &cone, poses, 0.2), 4, 0.0, DVec3::Z);
    // On its side: the whole line from the apex to the rim, however wide the cone is.
    for half_height in [0.1, 0.2, 0.3, 0.75, 2.0_f64] {
        let cone = ShapeKind::Cone { radius: 0.5, half_height };
        let angle = 0.25_f64.atan2(half_height);
        let lean = DQuat::from_rotation_y(FRAC_PI_2 + angle);
        let height = half_height * angle.sin();
        for gap in [0.0, 1e-3, -1e-6] {
            let found =
                contacts(&table, &cone, [place(0.0, 0.0, -1.0), at(0.3, 0.2, height + gap, lean)], 0.2);
            assert_flat(&found, 2, gap, DVec3::Z);
        }
    }
}

#[test]
fn cylinders_side_by_side_and_across() {
    let barrel = ShapeKind::Cylinder { radius: 0.5, half_height: 1.0 };
    assert_flat(&contacts(&barrel, &barrel, [Pose::IDENTITY, place(1.25, 0.0, 0.5)], 0.3), 2, 0.25, DVec3::X);
    let across = [Pose::IDENTITY, at(1.25, 0.1, 0.2, DQuat::from_rotation_x(FRAC_PI_2))];
    assert_flat(&contacts(&barrel, &barrel, across, 0.3), 1, 0.25, DVec3::X);
    // On top of each other.
    assert_flat(&contacts(&barrel, &barrel, [Pose::IDENTITY, place(0.0, 0.0, 2.0)], 0.3), 4, 0.0, DVec3::Z);
}

#[test]
fn a_flat_mesh_is_a_plane() {
    for cells in [1, 2, 7, 40] {
        let ground = floor(cells);
        for (x, y) in [(0.0, 0.0), (0.31, -0.27), (0.5, 0.5)] {
            for gap in [0.0, 1e-9, 0.0625, -0.03125] {
                let ball = contacts(
                    &ground,
                    &ShapeKind::Sphere { radius: 0.5 },
                    [Pose::IDENTITY, place(x, y, 0.5 + gap)],
                    0.1,
                );
                assert_flat(&ball, 1, gap, DVec3::Z);
                let turned = at(x, y, 0.25 + gap, DQuat::from_rotation_z(0.2));
                let block = contacts(&ground, &cuboid(0.5, 0.4, 0.25), [Pose::IDENTITY, turned], 0.1);
                assert_flat(&block, 4, gap, DVec3::Z);
                let lying = at(x, y, 0.5 + gap, DQuat::from_rotation_y(FRAC_PI_2));
                let rod = ShapeKind::Capsule { radius: 0.5, half_height: 0.7 };
                assert_flat(&contacts(&ground, &rod, [Pose::IDENTITY, lying], 0.1), 2, gap, DVec3::Z);
                let barrel = ShapeKind::Cylinder { radius: 0.5, half_height: 0.7 };
                assert_flat(&contacts(&ground, &barrel, [Pose::IDENTITY, lying], 0.1), 2, gap, DVec3::Z);
                let standing = place(x, y, 0.7 + gap);
                let found = contacts(&ground, &barrel, [Pose::IDENTITY, standing], 0.1);
                assert_flat(&found, 4, gap, DVec3::Z);
            }
        }
    }
}

#[test]
fn a_cube_of_triangles_is_a_cube() {
    let (mesh, cube) = (cube_mesh(1.0), cuboid(1.0, 1.0, 1.0));
    for gap in [0.0, 1e-9, 0.125, -0.03125] {
        let poses = [Pose::IDENTITY, place(0.5, 0.25, 2.0 + gap)];
        assert_flat(&contacts(&mesh, &cube, poses, 0.2), 4, gap, DVec3::Z);
        assert_flat(&contacts(&cube, &mesh, poses, 0.2), 4, gap, DVec3::Z);
        assert_flat(&contacts(&mesh, &mesh, poses, 0.2), 4, gap, DVec3::Z);
        let poses = [Pose::IDENTITY, place(0.0, 0.0, 1.0 + gap)];
        assert_flat(&contacts(&ShapeKind::Plane, &mesh, poses, 0.2), 4, gap, DVec3::Z);
    }
    let ball = ShapeKind::Sphere { radius: 0.5 };
    let found = contacts(&mesh, &ball, [Pose::IDENTITY, place(1.6, 1.8, 0.3)], 1.0);
    assert_flat(&found, 1, 0.5, DVec3::new(0.6, 0.8, 0.0));
    let found = contacts(&mesh, &ball, [Pose::IDENTITY, place(3.0, 3.0, 2.0)], 4.0);
    assert_flat(&found, 1, 2.5, DVec3::new(2.0, 2.0, 1.0) / 3.0);
    // Its centre below the surface.
    let found = contacts(&mesh, &ball, [Pose::IDENTITY, place(0.1, 0.2, 0.9)], 1.0);
    assert_flat(&found, 1, -0.6, DVec3::Z);
}
