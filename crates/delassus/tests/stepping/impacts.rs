//! Time stepping under the laws of impact, against their outcomes and against event-driven integration.

use delassus::events::{Ending, EventOptions, run_events, world_system};
use delassus::prelude::{Body, Scene, Simulation, Surface};
use delassus::stepping::{StepImpactLaw, StepOptions, Stepper};
use delassus::world::{Shape, ShapeKind, WorldState};
use delassus_scene::read_world;
use delassus_solve::impact::ImpactLaw;
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};

use crate::support::texts::{on_floor, sphere, surfaces};
use crate::support::worlds::{scene, world};

const LAWS: [StepImpactLaw; 4] =
    [StepImpactLaw::Moreau, StepImpactLaw::Newton, StepImpactLaw::Poisson, StepImpactLaw::Sequence];

fn moved(text: &str, impact_law: StepImpactLaw, dt: f64, steps: usize) -> WorldState {
    let (world, state) = world(text);
    let options = StepOptions { dt, impact_law, ..StepOptions::default() };
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    for _ in 0..steps {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "at {}", stepper.state().t);
    }
    stepper.state().clone()
}

/// phys.cradle: the last ball alone under the sequence, −0.6 and 0.4 four times under the laws that see all
/// contacts at once.
#[test]
fn newtons_cradle_in_time_steps() {
    let text = scene("cradle");
    // The balls swing a little in a step, by v₀ (1 − cos ωt) and what sliding past each other costs.
    let speeds = |law| -> Vec<f64> {
        let state = moved(&text, law, 1e-5, 1);
        let (world, _) = world(&text);
        let balls = world.bodies.iter().zip(&state.bodies).filter(|(body, _)| body.name.starts_with("ball"));
        balls.map(|(_, s)| s.velocity.x / 0.3).collect()
    };
    for (found, expected) in speeds(StepImpactLaw::Sequence).iter().zip([0.0, 0.0, 0.0, 0.0, 1.0]) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
    for law in [StepImpactLaw::Moreau, StepImpactLaw::Newton] {
        for (found, expected) in speeds(law).iter().zip([-0.6, 0.4, 0.4, 0.4, 0.4]) {
            assert!((found - expected).abs() < 1e-6, "{law:?}: {found} for {expected}");
        }
    }
}

/// One ball on one floor: a normal percussion does not turn it, so all laws agree.
#[test]
fn one_ball_bounces_alike_under_all_laws() {
    let ball = sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.6], [1.0, 0.0, 0.0]);
    let text = on_floor(&[&ball, &surfaces(0.1, 0.5)]);
    let states = LAWS.map(|law| moved(&text, law, 2e-3, 350));
    for state in &states[1..] {
        let (a, b) = (&states[0].bodies[1], &state.bodies[1]);
        assert!((a.pose.position - b.pose.position).length() < 1e-7, "{a:?} {b:?}");
        assert!((a.velocity - b.velocity).length() < 1e-6 && a.velocity.z != 0.0, "{a:?} {b:?}");
        assert!((a.angular_velocity - b.angular_velocity).length() < 1e-6, "{a:?} {b:?}");
    }
}

const ROD: &str = r#"
[world]
plane = "xz"
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "rod"
mass = 1.0
inertia = [0.02, 0.0833, 0.0833]
position = [0, 0, 1.0]
velocity = [2.0, 0, -3.0]
euler_deg = [0, -40, 0]
[[body.shape]]
type = "sphere"
radius = 0.02
position = [-0.5, 0, 0]
[[friction]]
between = ["*", "*"]
mu = 0.9
restitution = 0.6
"#;

/// A slanted rod hits the floor with its end: slip and approach are coupled, and the laws differ; time
/// stepping has the outcome that the same law has in event-driven integration.
#[test]
fn a_rod_strikes_as_from_event_to_event() {
    let file = read_world(ROD, None, &[]).unwrap();
    let system = world_system(&file.world, &file.state).unwrap();
    let laws = [
        (StepImpactLaw::Moreau, ImpactLaw::Moreau),
        (StepImpactLaw::Newton, ImpactLaw::Newton),
        (StepImpactLaw::Poisson, ImpactLaw::Poisson),
        (StepImpactLaw::Sequence, ImpactLaw::Energetic),
    ];
    let mut turned = vec![];
    for (step_law, law) in laws {
        let options = EventOptions { t_end: 0.25, law, ..Default::default() };
        let run = run_events(&system.system, &system.state, &options).unwrap();
        assert_eq!(run.ending, Ending::Done);
        assert_eq!(run.events.len(), 1, "{:?}", run.events);
        let exact = &system.world_state(&file.state, &run.state).bodies[1];
        let found = &moved(ROD, step_law, 1e-3, 250).bodies[1];
        // The step is cut where a parabola meets the floor, and the end of a rod that turns moves along
        // another curve.
        let apart = (found.velocity - exact.velocity).length();
        assert!(apart < 1e-4, "{step_law:?}: {apart:e}");
        let apart = (found.angular_velocity - exact.angular_velocity).length();
        assert!(apart < 5e-4, "{step_law:?}: {apart:e}");
        turned.push(exact.angular_velocity.y);
    }
    assert!((turned[0] - turned[2]).abs() > 0.01 && (turned[2] - turned[3]).abs() > 0.01, "{turned:?}");
}

/// Two balls on a floor, pushed together: weight is carried through the impact, and the floor feels no
/// rebound.
#[test]
fn a_strike_beside_contacts_at_rest() {
    let one = sphere("one", 1.0, 0.1, [0.0, 0.0, 0.1], [1.0, 0.0, 0.0]);
    let two = sphere("two", 2.0, 0.1, [0.3, 0.0, 0.1], [0.0; 3]);
    let text = on_floor(&[&one, &two, &surfaces(0.0, 0.8)]);
    for law in LAWS {
        let state = moved(&text, law, 1e-3, 200);
        // Momentum 1, relative velocity −0.8.
        let speeds = [-0.2, 0.6];
        for (body, speed) in state.bodies[1..].iter().zip(speeds) {
            assert!((body.velocity.x - speed).abs() < 1e-9, "{law:?}: {body:?}");
            assert!((body.pose.position.z - 0.1).abs() < 1e-8 && body.velocity.z.abs() < 1e-9, "{law:?}");
        }
    }
}

/// A box falls onto the edge of a fixed one, rolled a little along it: an edge of its bottom, f, crosses the
/// ridge e, and without friction the impulse acts along n = e × f at that point alone:
/// J = −(1 + ε) nᵀv / (1/m + (r×n)ᵀ I⁻¹ (r×n)).
#[test]
fn a_box_on_a_ridge_rebounds_across_both_edges() {
    let (half, mass) = (DVec3::new(0.15, 0.1, 0.05), 2.0);
    let inertia = mass / 3.0 * DVec3::new(0.0125, 0.025, 0.0325);
    let cases = [0.3_f64, 1.0, 2.0, 2.9, 4.0].into_iter().flat_map(|roll| {
        [20.0_f64, 50.0, 80.0].into_iter().flat_map(move |yaw| [0.0, 0.5].map(move |e| (roll, yaw, e)))
    });
    for (roll, yaw, restitution) in cases {
        let rotation = DQuat::from_rotation_y(roll.to_radians()) * DQuat::from_rotation_z(yaw.to_radians());
        let corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
            .map(|[x, y]| rotation * (half * DVec3::new(x, y, -1.0)));
        // Where edges of the bottom pass over the ridge, y = 0; the lowest of these places.
        let crossings = (0..4).filter_map(|k| {
            let (a, b) = (corners[k], corners[(k + 1) % 4]);
            (a.y * b.y < 0.0).then(|| (a + (b - a) * (a.y / (a.y - b.y)), (b - a).normalize()))
        });
        let (arm, f) = crossings.min_by(|(a, _), (b, _)| a.z.total_cmp(&b.z)).unwrap();
        let n = DVec3::X.cross(f).normalize();
        let n = n * n.z.signum();
        let mut scene = Scene::default();
        scene.world.gravity = DVec3::ZERO;
        let mut ridge = Shape::from(ShapeKind::Box { half_extents: DVec3::new(0.5, 0.1, 0.1) });
        ridge.pose.rotation = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let top = 0.1 * 2.0_f64.sqrt();
        scene.add(Body::fixed("ridge", vec![ridge]));
        let height = DVec3::Z * (top - arm.z + 1e-3);
        let mut placed = Body::block("box", mass, half).at(height).with_velocity(DVec3::NEG_Z);
        placed.state.pose.rotation = rotation;
        scene.add(placed);
        scene.world.surfaces.push(Surface { restitution, ..Surface::friction(0.0) });
        // A tenth of a millisecond after the impact; the other end comes down later.
        let mut sim = Simulation::new(scene, StepOptions { dt: 1e-4, ..StepOptions::default() }).unwrap();
        (0..11).for_each(|_| assert_eq!(sim.step().unwrap().status, Status::Solved));
        let about = rotation.conjugate() * arm.cross(n);
        let impulse = (1.0 + restitution) * n.z / (1.0 / mass + about.dot(about / inertia));
        let found = sim.state().bodies[1];
        let (speed, angular) = (DVec3::NEG_Z + n * (impulse / mass), impulse * about / inertia);
        let case = format!("{roll} {yaw} {restitution}: {} for {speed}", found.velocity);
        assert!((found.velocity - speed).length() < 1e-9, "{case}");
        // Free rotation since the impact, and about axes that it rotates: within 0.2 ms, gyroscopic terms
        // count.
        assert!(
            (found.angular_velocity - angular).length() < 2e-4 * angular.length_squared() + 1e-9,
            "{case}"
        );
    }
}
