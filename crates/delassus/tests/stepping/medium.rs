//! Bodies in air and water, against closed forms.

use std::f64::consts::PI;

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::{
    Body, FluidCoefficients, Immersed, ImmersedForm, Joint, Medium, Pose, Scene, check_world, energy,
};
use glam::DVec3;

/// Edge of the box that stands for the body, m.
const EDGE: f64 = 0.1;

/// A body of 1 kg in a medium, without weight, that moves along x at 1 m/s.
fn scene(medium: Medium) -> Scene {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    let body = Body { name: "body".to_string(), ..Body::default() };
    scene.add(body.at(DVec3::ZERO).with_velocity(DVec3::X));
    scene.world.gravity = DVec3::ZERO;
    scene.world.joints.push(Medium::joint(0));
    let form = ImmersedForm::Box { edges: DVec3::splat(EDGE) };
    let parts = vec![Immersed { body: 1, pose: Pose::IDENTITY, form }];
    scene.world.medium = Some(Medium { parts, ..medium });
    scene.state.coordinates = vec![0.0];
    scene
}

/// Position and velocity along x after half a second in n steps.
fn moved(scene: &Scene, n: usize, coordinates: Coordinates) -> [f64; 2] {
    let options = StepOptions { dt: 0.5 / n as f64, coordinates, ..StepOptions::default() };
    let mut stepper = Stepper::new(&scene.world, scene.state.clone(), options).unwrap();
    for _ in 0..n {
        stepper.step().unwrap();
    }
    let body = &stepper.state().bodies[1];
    [body.pose.position.x, body.velocity.x]
}

/// ẋ = 1/(1 + k t) with drag, e^(−ct) with viscosity; both of second order.
#[test]
fn drag_and_viscosity_are_those_of_their_laws() {
    let (c, k) = (4.0, 3.0);
    let t: f64 = 0.5;
    let viscous = Medium { viscosity: c / (3.0 * PI * EDGE), ..Medium::default() };
    let dense = Medium { density: 2.0 * k / (EDGE * EDGE), ..Medium::default() };
    let cases = [
        (viscous, [(1.0 - (-c * t).exp()) / c, (-c * t).exp()]),
        (dense, [(k * t).ln_1p() / k, 1.0 / (1.0 + k * t)]),
    ];
    for (medium, expected) in cases {
        let scene = scene(medium);
        check_world(&scene.world, &scene.state).unwrap();
        for coordinates in [Coordinates::Maximal, Coordinates::Auto] {
            let error = |n: usize| {
                let found = moved(&scene, n, coordinates);
                [0, 1].map(|i| (found[i] - expected[i]).abs())
            };
            let (coarse, fine) = (error(50), error(100));
            for i in 0..2 {
                assert!(fine[i] < 1e-4 && coarse[i] / fine[i] > 3.5, "{coarse:?} {fine:?}");
            }
        }
    }
}

/// A medium that is stiff in a step slows down and turns nothing around; a wind carries along.
#[test]
fn stiff_media_stop_bodies_and_winds_carry_them() {
    let viscosity = 1e6 / (3.0 * PI * EDGE);
    let [x, v] = moved(&scene(Medium { viscosity, ..Medium::default() }), 10, Coordinates::Auto);
    assert!((0.0..0.01).contains(&x) && v.abs() < 1e-3, "{x} {v}");
    let wind = DVec3::new(-2.0, 0.0, 0.0);
    let [_, v] = moved(&scene(Medium { viscosity, wind, ..Medium::default() }), 10, Coordinates::Auto);
    assert!((v + 2.0).abs() < 3e-3, "{v}");
}

/// What the medium takes is in the account, to its error.
#[test]
fn the_energy_that_a_medium_takes_is_accounted() {
    let form = ImmersedForm::ellipsoid(DVec3::new(0.1, 0.05, 0.02), FluidCoefficients::default());
    let mut scene = scene(Medium { density: 300.0, viscosity: 0.1, ..Medium::default() });
    scene.state.bodies[1].angular_velocity = DVec3::new(1.0, -2.0, 3.0);
    scene.world.medium.as_mut().unwrap().parts[0].form = form;
    let before = energy(&scene.world, &scene.state);
    let mut left = Vec::new();
    for n in [100, 200] {
        let options = StepOptions { dt: 0.5 / n as f64, ..StepOptions::default() };
        let mut stepper = Stepper::new(&scene.world, scene.state.clone(), options).unwrap();
        let mut taken = 0.0;
        for _ in 0..n {
            taken += stepper.step().unwrap().energy.dampers;
        }
        let lost = before - energy(&scene.world, stepper.state());
        assert!(lost > 0.1, "{lost}");
        left.push((lost - taken).abs());
    }
    // Of first order in the step at least.
    assert!(left[1] < 1e-2 && left[1] < 0.6 * left[0], "{left:?}");
}

/// A world with a medium has its joint, as the last one.
#[test]
fn a_medium_without_its_joint_is_refused() {
    let mut scene = scene(Medium { density: 1.0, ..Medium::default() });
    let medium: Joint = scene.world.joints.pop().unwrap();
    let error = check_world(&scene.world, &scene.state).unwrap_err().to_string();
    assert!(error.contains("joints of a medium"), "{error}");
    scene.world.joints.push(medium);
    scene.world.medium.as_mut().unwrap().density = -1.0;
    let error = check_world(&scene.world, &scene.state).unwrap_err().to_string();
    assert!(error.contains("the density of the medium is -1"), "{error}");
}
