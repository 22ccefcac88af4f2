//! Meshes on meshes, hollow ones among them.

use super::{CUBE, at, contacts, place, state_of, world_of};
use delassus::stepping::{StepOptions, Stepper};
use delassus::world::{Pose, ShapeKind};
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

/// An L of three unit squares in the plane of x and z, one unit thick, about its centre of mass.
fn l_block() -> ShapeKind {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let at = |y: f64| outline.map(|[x, z]| DVec3::new(x - 5.0 / 6.0, y - 0.5, z - 5.0 / 6.0));
    let vertices = at(0.0).into_iter().chain(at(1.0)).collect();
    let mut triangles = vec![];
    for [i, j, k] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.extend([[i, j, k], [i + 6, k + 6, j + 6]]);
    }
    for i in 0..6 {
        let j = (i + 1) % 6;
        triangles.extend([[i, i + 6, j + 6], [i, j + 6, j]]);
    }
    ShapeKind::Mesh { vertices, triangles }
}

fn bar(half: DVec3) -> ShapeKind {
    let corner = |k: u32| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 2.0 - 1.0;
    ShapeKind::Mesh { vertices: (0..8).map(|k| corner(k) * half).collect(), triangles: CUBE.to_vec() }
}

/// Where the second L hangs over the first: together they are a block of 2 × 1 × 3.
fn interlocked() -> [Pose; 2] {
    let turned = DQuat::from_rotation_y(PI);
    [place(5.0 / 6.0, 0.5, 5.0 / 6.0), at(2.0 - 5.0 / 6.0, 0.5, 3.0 - 5.0 / 6.0, turned)]
}

#[test]
fn interlocking_blocks_touch_flush_and_do_not_overlap() {
    let found = contacts(&l_block(), &l_block(), interlocked(), 1e-4);
    let along = |n: DVec3| found.iter().filter(|c| (c.normal - n).length() < 1e-9).count();
    assert!(found.iter().all(|c| c.gap.abs() < 1e-12), "{found:#?}");
    // Two level patches and one upright one; nothing in other directions.
    assert!(along(DVec3::Z) >= 4 && along(DVec3::X) >= 4, "{found:#?}");
    assert_eq!(along(DVec3::Z) + along(DVec3::X), found.len(), "{found:#?}");
    // They lie within the patches.
    for c in &found {
        let p = c.point;
        let level =
            (p.z - 2.0).abs() < 1e-9 && p.x < 1.0 + 1e-9 || (p.z - 1.0).abs() < 1e-9 && p.x > 1.0 - 1e-9;
        let upright = (p.x - 1.0).abs() < 1e-9 && (0.99..2.01).contains(&p.z);
        assert!(if c.normal.z > 0.5 { level } else { upright }, "{c:?}");
    }
}

#[test]
fn an_interlocked_block_rests_and_one_that_is_apart_falls_on_the_other() {
    for height in [0.0, 1e-3] {
        let mut world = world_of(&[l_block(), l_block()]);
        world.bodies[0].fixed = true;
        world.gravity = DVec3::new(0.0, 0.0, -9.81);
        let mut state = state_of(&interlocked());
        state.bodies[1].pose.position.z += height;
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        for _ in 0..100 {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved, "{height}: {report:?}");
            assert!(report.penetration < 1e-7, "{height}: {}", report.penetration);
        }
        let moved = stepper.state().bodies[1].pose.position - interlocked()[1].position;
        // What counts as touching, 1e-7 m, may stay open.
        assert!(moved.length() < 1e-6, "{height}: {moved}");
    }
}

#[test]
fn crossed_bars_touch_at_the_corners_of_their_common_square() {
    let (long, wide) = (bar(DVec3::new(1.0, 0.1, 0.1)), bar(DVec3::new(0.1, 1.0, 0.1)));
    for gap in [0.0, 1e-5] {
        let found = contacts(&long, &wide, [place(0.0, 0.0, 0.0), place(0.0, 0.0, 0.2 + gap)], 1e-4);
        assert_eq!(found.len(), 4, "{found:#?}");
        for c in &found {
            assert!((c.gap - gap).abs() < 1e-12 && (c.normal - DVec3::Z).length() < 1e-9, "{c:?}");
            assert!((c.point.x.abs() - 0.1).abs() < 1e-9 && (c.point.y.abs() - 0.1).abs() < 1e-9, "{c:?}");
        }
    }
}

#[test]
fn a_cube_of_triangles_lands_on_another_at_an_angle() {
    let cube = bar(DVec3::splat(0.5));
    let mut world = world_of(&[cube.clone(), cube]);
    world.bodies[0].fixed = true;
    world.gravity = DVec3::new(0.0, 0.0, -9.81);
    let tilted = at(0.1, 0.05, 1.02, DQuat::from_rotation_z(0.5));
    let mut stepper =
        Stepper::new(world, state_of(&[place(0.0, 0.0, 0.0), tilted]), StepOptions::default()).unwrap();
    for _ in 0..200 {
        assert_eq!(stepper.step().unwrap().status, Status::Solved);
    }
    let s = &stepper.state().bodies[1];
    assert!((s.pose.position.z - 1.0).abs() < 1e-6 && s.velocity.length() < 1e-6, "{s:?}");
}

#[test]
fn thin_plates_that_cross_at_a_distance_do_not_overlap() {
    let (long, wide) = (bar(DVec3::new(1.0, 0.1, 0.002)), bar(DVec3::new(0.1, 1.0, 0.002)));
    let found = contacts(&long, &wide, [place(0.0, 0.0, 0.0), place(0.0, 0.0, 0.006)], 1e-4);
    assert!(found.is_empty(), "{found:#?}");
}
