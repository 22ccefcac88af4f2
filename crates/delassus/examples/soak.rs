//! Random worlds for a long time: `soak STEPS [SEED [FIRST]] [maximal]`, where FIRST is the world of that
//! seed to begin with; joints are solved in reduced coordinates, or in maximal ones.
//!
//! Each world is a box of six planes with random bodies (spheres, boxes, capsules, cylinders, cones, hulls),
//! random joints between some of them, friction from 0 to 2, restitution now and then, and mass ratios up to
//! a thousand. Every step must leave finite numbers, lose no body and be solved to the tolerance, or say that
//! it was not. Ends with a table and exit code 1 where something was lost, or open or overlapping in silence.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::{
    Body, BodyState, Joint, JointKind, Pose, Shape, ShapeKind, Surface, World, WorldState,
};
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};
use random::Random;

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../delassus-solve/tests/support/random.rs"]
mod random;

/// Steps of one world.
const STEPS: u64 = 500;
/// Half the edge of the box in which a world lives.
const ROOM: f64 = 1.2;
/// A step whose overlaps or openings are larger than this, m or rad, has to say so.
const REPORTED: f64 = 1e-6;
/// Worlds whose cost is printed.
const SHOWN: usize = 5;

/// What worlds are made of, drawn at random.
struct Draw(Random);

impl Draw {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.between(low, high)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    fn rotation(&mut self) -> DQuat {
        DQuat::from_scaled_axis(self.vector(3.0))
    }
}

fn shape(random: &mut Draw) -> ShapeKind {
    let (a, b, c) = (random.between(0.05, 0.12), random.between(0.05, 0.12), random.between(0.05, 0.12));
    match random.below(6) {
        0 => ShapeKind::Sphere { radius: a },
        1 => ShapeKind::Box { half_extents: DVec3::new(a, b, c) },
        2 => ShapeKind::Capsule { radius: 0.5 * a, half_height: b },
        3 => ShapeKind::Cylinder { radius: a, half_height: b },
        4 => ShapeKind::Cone { radius: a, half_height: b },
        _ => ShapeKind::Convex { points: (0..12).map(|_| random.vector(0.1)).collect() },
    }
}

fn make(random: &mut Draw) -> (World, WorldState) {
    let walls = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z].map(|normal| Shape {
        kind: ShapeKind::Plane,
        pose: Pose { position: -ROOM * normal, rotation: DQuat::from_rotation_arc(DVec3::Z, normal) },
    });
    let still = BodyState { pose: Pose::IDENTITY, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
    let mut bodies = vec![Body {
        name: "room".into(),
        fixed: true,
        mass: 0.0,
        inertia: DVec3::ZERO,
        shapes: walls.to_vec(),
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    }];
    let mut states = vec![still];
    let count = 1 + random.below(12);
    // On a grid, so that nothing overlaps at the start.
    for i in 0..count {
        let mass = 10f64.powf(random.between(-1.5, 1.5));
        let (i3, j3, k3) = (i % 3, (i / 3) % 3, i / 9);
        let place = 0.6 * DVec3::new(i3 as f64 - 1.0, j3 as f64 - 1.0, k3 as f64 - 1.0);
        bodies.push(Body {
            name: format!("body{i}"),
            fixed: false,
            mass,
            inertia: mass * 0.01 * DVec3::new(1.0, random.between(0.6, 1.0), random.between(0.5, 0.9)),
            shapes: vec![Shape { kind: shape(random), pose: Pose::IDENTITY }],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        });
        states.push(BodyState {
            pose: Pose { position: place, rotation: random.rotation() },
            velocity: random.vector(2.0),
            angular_velocity: random.vector(8.0),
        });
    }
    let mut joints = vec![];
    let mut no_contact = vec![];
    for i in 1..count {
        if random.below(3) > 0 {
            continue;
        }
        let pair = [i, i + 1];
        let middle = 0.5 * (states[pair[0]].pose.position + states[pair[1]].pose.position);
        let frame = Pose { position: middle, rotation: random.rotation() };
        let kind = match random.below(6) {
            0 => JointKind::Fixed,
            1 => JointKind::Revolute,
            2 => JointKind::Prismatic,
            3 => JointKind::Cylindrical,
            4 => JointKind::Universal,
            _ => JointKind::Ball,
        };
        let frames = pair.map(|b| states[b].pose.inverse().compose(&frame));
        joints.push(Joint::new(&format!("joint{i}"), kind, pair, frames));
        no_contact.push(pair);
    }
    let surface = Surface {
        mu: if random.below(5) == 0 { 0.0 } else { random.between(0.0, 2.0) },
        restitution: if random.below(4) == 0 { random.between(0.0, 0.9) } else { 0.0 },
        ..Surface::default()
    };
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    let world = World {
        name: "soak".into(),
        gravity,
        bodies,
        joints,
        surfaces: vec![surface],
        no_contact,
        plane: None,
        sensors: vec![],
        medium: None,
    };
    (world, WorldState { t: 0.0, bodies: states, coordinates: vec![] })
}

/// What a world brought.
#[derive(Default)]
struct Tally {
    steps: AtomicU64,
    unsolved: AtomicU64,
    coarse: AtomicU64,
    deep: AtomicU64,
    open: AtomicU64,
    silent: AtomicU64,
    lost: AtomicU64,
    costs: Mutex<Vec<Cost>>,
}

/// What a world took.
struct Cost {
    seconds: f64,
    slowest_step: f64,
    number: u64,
    solves: usize,
    unsolved: u64,
    bodies: usize,
    joints: usize,
    friction: f64,
}

fn soak(seed: u64, number: u64, coordinates: Coordinates, tally: &Tally) {
    let mut random = Draw(Random(seed.wrapping_mul(1_000_003).wrapping_add(number)));
    let (world, state) = make(&mut random);
    let mut stepper =
        Stepper::new(&world, state, StepOptions { coordinates, ..StepOptions::default() }).unwrap();
    let began = Instant::now();
    let mut cost = Cost {
        seconds: 0.0,
        slowest_step: 0.0,
        number,
        solves: 0,
        unsolved: 0,
        bodies: world.bodies.len() - 1,
        joints: world.joints.len(),
        friction: world.surfaces[0].mu,
    };
    for _ in 0..STEPS {
        let before = Instant::now();
        let report = match stepper.step() {
            Ok(report) => report,
            Err(e) => {
                println!("seed {seed}, world {number}, step {}: {e}", stepper.steps());
                tally.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
        };
        tally.steps.fetch_add(1, Ordering::Relaxed);
        let unsolved = report.status != Status::Solved;
        cost.slowest_step = cost.slowest_step.max(before.elapsed().as_secs_f64());
        cost.solves += report.solves;
        cost.unsolved += u64::from(unsolved);
        tally.unsolved.fetch_add(u64::from(unsolved), Ordering::Relaxed);
        let coarse = report.residual > stepper.options().tolerance;
        tally.coarse.fetch_add(u64::from(coarse), Ordering::Relaxed);
        if report.penetration > 1e-5 {
            tally.deep.fetch_add(1, Ordering::Relaxed);
        }
        if report.joint_error > 1e-8 {
            tally.open.fetch_add(1, Ordering::Relaxed);
        }
        if !unsolved && (report.penetration > REPORTED || report.joint_error > REPORTED) {
            println!("seed {seed}, world {number}, step {}: open or overlapping in silence", stepper.steps());
            tally.silent.fetch_add(1, Ordering::Relaxed);
        }
        let away = |s: &BodyState| {
            let numbers = s.pose.position.is_finite()
                && s.pose.rotation.is_finite()
                && s.velocity.is_finite()
                && s.angular_velocity.is_finite();
            !numbers || s.pose.position.abs().max_element() > ROOM + 0.05
        };
        if stepper.state().bodies.iter().any(away) {
            println!("seed {seed}, world {number}, step {}: a body is lost", stepper.steps());
            tally.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
    cost.seconds = began.elapsed().as_secs_f64();
    if let Ok(mut costs) = tally.costs.lock() {
        costs.push(cost);
    }
}

/// The worlds that took most of the time.
fn print_costs(costs: &mut [Cost]) {
    costs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let total: f64 = costs.iter().map(|c| c.seconds).sum();
    let median = costs.get(costs.len() / 2).map_or(0.0, |c| c.seconds);
    println!("{total:.1} s of work, a world {median:.3} s in the median; those that took most:");
    for c in costs.iter().take(SHOWN) {
        println!(
            "  world {}: {:.2} s ({:.1} %), slowest step {:.3} s, {} solves, {} unsolved; {} bodies, {} joints, friction {:.2}",
            c.number,
            c.seconds,
            100.0 * c.seconds / total,
            c.slowest_step,
            c.solves,
            c.unsolved,
            c.bodies,
            c.joints,
            c.friction
        );
    }
}

fn main() {
    let maximal = std::env::args().any(|a| a == "maximal");
    let coordinates = if maximal { Coordinates::Maximal } else { Coordinates::Auto };
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let steps = arguments.first().copied().unwrap_or(20_000);
    let seed = arguments.get(1).copied().unwrap_or(1);
    let worlds = steps.div_ceil(STEPS);
    let first = arguments.get(2).copied().unwrap_or(0);
    let next = AtomicU64::new(0);
    let tally = Tally::default();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= worlds {
                        break;
                    }
                    soak(seed, first + k, coordinates, &tally);
                }
            });
        }
    });
    let get = |x: &AtomicU64| x.load(Ordering::Relaxed);
    println!(
        "{} worlds, {} steps in {:.1} s: {} unsolved (reported; {} of them by the residual), {} with an overlap above 0.01 mm, {} with a joint open by more \
         than 1e-8, {} of all these in silence, {} worlds lost",
        worlds,
        get(&tally.steps),
        began.elapsed().as_secs_f64(),
        get(&tally.unsolved),
        get(&tally.coarse),
        get(&tally.deep),
        get(&tally.open),
        get(&tally.silent),
        get(&tally.lost)
    );
    if let Ok(mut costs) = tally.costs.lock() {
        print_costs(&mut costs);
    }
    if get(&tally.lost) + get(&tally.silent) > 0 {
        std::process::exit(1);
    }
}
