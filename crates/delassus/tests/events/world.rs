//! Event-driven integration of small worlds, against closed forms.

use delassus::events::{
    ContactMode, Ending, EventKind, EventOptions, Trajectory, WorldSystemError, run_events, world_system,
};
use delassus::world::WorldState;
use delassus_scene::read_system;

use crate::support::near::near;
use crate::support::texts::{cuboid, on_floor, sliding_ball, sphere, surfaces};
use crate::support::worlds::{scene, world};

fn run(text: &str, t_end: f64) -> (Trajectory, WorldState) {
    let (world, start) = world(text);
    let system = world_system(&world, &start).unwrap_or_else(|e| panic!("{e}"));
    let options = EventOptions { t_end, ..Default::default() };
    let run = run_events(&system.system, &system.state, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.ending, Ending::Done, "at {}: {:?}", run.state.t, run.events);
    let state = system.world_state(&start, &run.state);
    (run, state)
}

/// phys.roll_sphere, along a skew direction.
#[test]
fn a_ball_slides_and_rolls() {
    let (run, state) = run(&sliding_ball(), 1.0);
    assert_eq!(run.events.len(), 1, "{:?}", run.events);
    assert_eq!(run.events[0].kind, EventKind::Stick);
    near(run.events[0].t, 0.291247997670016, 1e-9);
    let ball = &state.bodies[0];
    near(ball.velocity.length(), 1.4285714285714286, 1e-9);
    near(ball.world_angular_velocity().length(), 1.4285714285714286 / 0.5, 1e-8);
    near(ball.pose.position.z, 0.5, 1e-12);
}

/// A ball on a slope rolls from rest with 5/7 of the pull where static friction holds the 2/7 that it needs,
/// and slides with the rest of the pull where it does not.
#[test]
fn a_ball_rolls_by_static_friction() {
    for (sticks, a) in [(0.2, 5.0 / 7.0 * 3.924), (0.1, 3.924 - 0.05 * 9.81)] {
        let ball = sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1], [0.0; 3]);
        let friction =
            format!("[[friction]]\nbetween = [\"*\", \"*\"]\nmu_static = {sticks}\nmu_kinetic = 0.05\n");
        let text = on_floor(&[&ball, &friction]).replace("[0, 0, -9.81]", "[3.924, 0, -9.81]");
        let (_, state) = run(&text, 0.5);
        near(state.bodies[1].velocity.x, 0.5 * a, 1e-8);
    }
}

/// Two balls: one hits the other at rest, off centre; closed form of two equal smooth balls.
#[test]
fn two_balls_meet() {
    let a = sphere("a", 1.0, 0.1, [-1.0, 0.0, 0.1], [1.0, 0.0, 0.0]);
    let b = sphere("b", 1.0, 0.1, [0.0; 3], [0.0; 3]);
    let (run, state) = run(
        &[
            "[world]
gravity = [0, 0, 0]
",
            &a,
            &b,
            &surfaces(0.0, 1.0),
        ]
        .concat(),
        2.0,
    );
    assert_eq!(run.events.len(), 1);
    // The centres are 0.2 apart along (√3/2, 0, −1/2).
    near(run.events[0].t, 1.0 - 0.1 * 3.0_f64.sqrt(), 1e-12);
    let b = state.bodies[1].velocity;
    near(b.x, 0.75, 1e-12);
    near(b.z, -(3.0_f64.sqrt()) / 4.0, 1e-12);
}

/// A rod on a hinge: a physical pendulum keeps its energy, and the hinge holds.
#[test]
fn a_hinge_holds() {
    let text = r#"
[world]
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "ground"
fixed = true
[[body]]
name = "rod"
mass = 2.0
inertia = [0.1, 0.2, 0.15]
position = [0.5, 0.0, 0.0]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["rod", "ground"]
anchor = [0.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.0]
"#;
    let (run, state) = run(text, 3.0);
    near(run.energy[1], run.energy[0], 1e-9);
    near(state.bodies[1].pose.position.length(), 0.5, 1e-10);
    near(state.bodies[1].pose.position.y, 0.0, 1e-10);
    assert!(run.max_joint_error < 1e-9, "{:e}", run.max_joint_error);
}

/// A box in a plane slides down and comes to rest on its two lower edges; forces are not unique across the
/// plane, the motion is.
#[test]
fn a_box_slides_and_stops() {
    let text = r#"
[world]
plane = "xz"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
normal = [0.0, 0.0, 1.0]
[[body]]
name = "box"
mass = 1.0
position = [0.0, 0.0, 0.1]
velocity = [1.0, 0.0, 0.0]
[[body.shape]]
type = "box"
half_extents = [0.4, 0.2, 0.1]
[[friction]]
between = ["*", "*"]
mu = 0.5
"#;
    // phys.block_stop.
    let (run, state) = run(text, 0.4);
    near(state.bodies[1].pose.position.x, 0.1019367991845056, 1e-9);
    let stick = run.events.iter().find(|e| e.kind == EventKind::Stick).expect("it stops");
    near(stick.t, 0.2038735983690112, 1e-9);
    assert_eq!(run.modes.iter().filter(|m| **m == ContactMode::Stick).count(), 4, "{:?}", run.modes);
}

#[test]
fn what_cannot_move_is_named() {
    let one = cuboid("one", 1.0, [0.1; 3], [0.0, 0.0, 1.0], [0.0; 3]);
    let two = cuboid("two", 1.0, [0.1; 3], [0.0, 0.0, 2.0], [0.0; 3]);
    let (world, state) = world(&on_floor(&[&one, &two]));
    let error = world_system(&world, &state).unwrap_err();
    assert!(matches!(error, WorldSystemError::Contact { .. }), "{error}");
}

/// The four-bar linkage in the plane with an angle per link, closed by two joints.
const FOUR_BAR_ANGLES: &str = r#"
[system]
coordinates = ["a", "b", "c"]
[parameters]
g = 9.81
l = 0.4
m = 0.9
n = 0.7
x = "l*cos(pi/3)"
z = "l*sin(pi/3)"
d = "sqrt((1 - x)^2 + z^2)"
along = "(m^2 - n^2 + d^2)/(2*d)"
up = "sqrt(m^2 - along^2)"
bx = "x + (along*(1 - x) + up*z)/d"
bz = "z + (-along*z + up*(1 - x))/d"
[energy]
kinetic = "l^3*a'^2/6 + m*(l^2*a'^2 + m^2*b'^2/3 + l*m*a'*b'*cos(a - b))/2 + n^3*c'^2/6"
potential = "g*(l*l*sin(a)/2 + m*(l*sin(a) + m*sin(b)/2) + n*n*sin(c)/2)"
[[joint]]
name = "across"
value = "l*cos(a) + m*cos(b) - 1 - n*cos(c)"
[[joint]]
name = "up"
value = "l*sin(a) + m*sin(b) - n*sin(c)"
[state.position]
a = "pi/3"
b = "atan2(bz - z, bx - x)"
c = "atan2(bz, bx - 1)"
"#;

/// A linkage with three redundant rows moves as its reduced model does, and does not take more steps and
/// evaluations than its motion needs: off its constraints, by the error of the motion, redundant rows
/// contradict each other, and following all of them costs steps.
#[test]
fn a_four_bar_linkage_is_cheap() {
    let (run, _) = run(&scene("four-bar"), 2.0);
    let reduced = read_system(FOUR_BAR_ANGLES, &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = EventOptions { t_end: 2.0, ..Default::default() };
    let angles = run_events(&reduced.system, &reduced.state, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(angles.ending, Ending::Done);
    // The middle of the crank.
    let a = angles.state.q[0];
    near(run.state.q[0], 0.2 * a.cos(), 1e-10);
    near(run.state.q[1], 0.0, 1e-12);
    near(run.state.q[2], 0.2 * a.sin(), 1e-10);
    near(run.energy[1], run.energy[0], 1e-11);
    assert!(run.max_joint_error < 1e-12, "{:e}", run.max_joint_error);
    // About a quarter more than what is seen.
    assert!(run.steps <= 180, "{} steps", run.steps);
    assert!(run.evaluations <= 8_000, "{} evaluations", run.evaluations);
}

/// Two balls that touch fall together, spinning or thrown, until the lower one hits the floor.
#[test]
fn balls_that_fall_together_hit_the_floor() {
    let (rest, thrown, spin) = ("[0, 0, 0]", "[1.5, -0.7, 0]", "[3, -7, 11]");
    for (velocity, spin, mu) in
        [(rest, rest, 0.0), (thrown, spin, 0.0), (thrown, rest, 0.3), (rest, spin, 0.3)]
    {
        let text = format!(
            r#"
[[body]]
name = "big"
mass = 100.0
position = [0, 0, 1.1]
velocity = {velocity}
angular_velocity = {spin}
[[body.shape]]
type = "sphere"
radius = 0.1
[[body]]
name = "small"
mass = 1.0
position = [0, 0, 1.25]
velocity = {velocity}
angular_velocity = {spin}
[[body.shape]]
type = "sphere"
radius = 0.05
[[friction]]
between = ["*", "*"]
mu = {mu}
restitution = 0.7
"#
        );
        let (run, state) = run(&on_floor(&[&text]), 0.5);
        assert_eq!(run.events[0].kind, EventKind::Impact, "{:?}", run.events);
        near(run.events[0].t, (2.0_f64 / 9.81).sqrt(), 1e-11);
        assert!(state.bodies[2].pose.position.z > state.bodies[1].pose.position.z);
    }
}

/// The same in any direction, and three at once: nothing happens until the first meets the floor.
#[test]
fn balls_that_touch_in_any_direction_stay_together() {
    let ball = |name: &str, mass: f64, at: [f64; 3]| sphere(name, mass, 0.1, at, [0.3, 0.2, 1.0]);
    for k in 0..6 {
        let (a, b) = (1.1 * f64::from(k), 0.7 * f64::from(k) - 1.0);
        let way = [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()];
        let centre = [0.3, -0.7, 2.0];
        let second: [f64; 3] = std::array::from_fn(|i| centre[i] + 0.2 * way[i]);
        let mut balls = ball("a", 1.7, centre) + &ball("b", 0.3, second);
        if k == 5 {
            let third: [f64; 3] = std::array::from_fn(|i| centre[i] - 0.2 * way[i]);
            balls += &ball("c", 11.0, third);
        }
        let (run, state) = run(&on_floor(&[&balls, &surfaces(0.0, 0.5)]), 0.4);
        assert!(run.events.is_empty(), "{k}: {:?}", run.events);
        let apart = state.bodies[2].pose.position - state.bodies[1].pose.position;
        near(apart.length(), 0.2, 1e-12);
        near(state.bodies[1].pose.position.z, 2.0 + 0.4 - 0.5 * 9.81 * 0.16, 1e-12);
    }
}
