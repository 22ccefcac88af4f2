//! Time stepping under the laws of impact, against their outcomes and against event-driven integration.

use delassus::events::{Ending, EventOptions, run_events, world_system};
use delassus::stepping::{StepImpactLaw, StepOptions, Stepper};
use delassus::world::WorldState;
use delassus_scene::read_world;
use delassus_solve::impact::ImpactLaw;
use delassus_solve::problem::Status;

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
