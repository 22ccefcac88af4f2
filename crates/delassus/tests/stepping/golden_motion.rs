//! Reference values of motion that `motion.rs` has not: the box of 004, the jammed rod step by step, discs,
//! ladders and balls.

use std::f64::consts::FRAC_1_SQRT_2;

use delassus::stepping::{FrictionLaw, Scheme, StepOptions, Stepper};
use delassus_solve::problem::Status;
use glam::DVec3;

use crate::support::texts::FLOOR;
use crate::support::worlds::world;

const G: f64 = 9.81;

fn step(stepper: &mut Stepper) {
    let report = stepper.step().expect("the numbers are finite");
    assert_eq!(report.status, Status::Solved, "t = {}: {report:?}", stepper.state().t);
}

fn one_step(dt: f64, law: FrictionLaw) -> StepOptions {
    StepOptions { dt, law, scheme: Scheme::HalfImplicit, ..StepOptions::default() }
}

#[test]
fn golden_004_box_at_rest_and_sliding_one_step_of_equation_9() {
    // 004.box.rest, 004.box.slide: v⁺ of both laws, D ν, gaps; tolerance of the reference 1e-6.
    let cases = [
        (0.0, FrictionLaw::Ncp, [0.0, 0.0], [0.0, 0.2943], 0.0),
        (0.0, FrictionLaw::Ccp, [0.0, 0.0], [0.0, 0.2943], 0.0),
        (1.0, FrictionLaw::Ncp, [0.96076, 0.0], [-0.11772, 0.2943], 0.0),
        (
            1.0,
            FrictionLaw::Ccp,
            [0.8282413793237421, 0.3312965516906462],
            [-0.5152758620287737, 1.288189655071939],
            0.0033129655168317408,
        ),
    ];
    for (v, law, expected, impulse, gap) in cases {
        let text = format!(
            "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"box\"\nmass = 3\ninertia = [0.3125, 0.3125, 0.5]\n\
             position = [0, 0, 0.25]\nvelocity = [{v}, 0, 0]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.5, 0.5, 0.25]\n\
             [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.4\n"
        );
        let (world, state) = world(&text);
        let mut stepper = Stepper::new(&world, state, one_step(0.01, law)).unwrap();
        step(&mut stepper);
        let s = stepper.state().bodies[1];
        assert!(
            (s.velocity - DVec3::new(expected[0], 0.0, expected[1])).length() < 1e-6,
            "{law:?}: {}",
            s.velocity
        );
        assert!(s.angular_velocity.length() < 1e-6, "{law:?}: {}", s.angular_velocity);
        assert!((s.pose.position.z - 0.25 - gap).abs() < 1e-6, "{law:?}: {}", s.pose.position.z);
        // The sum of impulses is unique, though they are not: m (v⁺ − v) + m g dt.
        let sum = (s.velocity - DVec3::X * v) * 3.0 + DVec3::Z * (3.0 * G * 0.01);
        assert!((sum - DVec3::new(impulse[0], 0.0, impulse[1])).length() < 1e-6, "{law:?}: {sum}");
    }
}

#[test]
fn golden_004_box_that_slides_leans_on_its_front_corners() {
    // closed_form.ncp_normal_front_pair and rear_pair: 0.17658 and 0.11772 N s in 0.01 s.
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"box\"\nmass = 3\ninertia = [0.3125, 0.3125, 0.5]\n\
         position = [0, 0, 0.25]\nvelocity = [1, 0, 0]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.5, 0.5, 0.25]\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.4\n"
    );
    let (world, state) = world(&text);
    let mut stepper = Stepper::new(&world, state, one_step(0.01, FrictionLaw::Ncp)).unwrap();
    step(&mut stepper);
    let pair = |front: bool| -> f64 {
        let middle = stepper.state().bodies[1].pose.position.x;
        let of_pair = stepper.contact_forces().filter(|(c, ..)| (c.point.x > middle) == front);
        of_pair.map(|(_, normal, _)| normal * 0.01).sum()
    };
    assert!(
        (pair(true) - 0.17658).abs() < 1e-6 && (pair(false) - 0.11772).abs() < 1e-6,
        "{} {}",
        pair(true),
        pair(false)
    );
}

#[test]
fn golden_004_painleve_rod_sticks_in_one_step_by_either_law() {
    // 004.painleve_rod: half length 1, 45°, the tip moves with −1 along the jamming direction; it sticks,
    // with these impulses.
    for (dt, normal, tangential) in [(0.01, 0.4363125, 0.6617875), (0.0001, 0.375613125, 0.625367875)] {
        for law in [FrictionLaw::Ncp, FrictionLaw::Ccp] {
            let text = format!(
                "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"rod\"\nmass = 1\ninertia = [{i}, {i}, {i}]\n\
                 position = [{c}, 0, {z}]\neuler_deg = [0, -45, 0]\nvelocity = [-1, 0, 0]\n\
                 [[body.shape]]\ntype = \"sphere\"\nradius = 1e-9\nposition = [-1, 0, 0]\n\
                 [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 2\n",
                i = 1.0 / 3.0,
                c = FRAC_1_SQRT_2,
                z = FRAC_1_SQRT_2 + 1e-9,
            );
            let (world, state) = world(&text);
            let mut stepper = Stepper::new(&world, state, one_step(dt, law)).unwrap();
            step(&mut stepper);
            let s = stepper.state().bodies[1];
            let sum = (s.velocity + DVec3::X) + DVec3::Z * (G * dt);
            // The reference is linear in the step; the gap at its end adds the turn of the rod, (ω dt)² of
            // its length.
            let allowed = 1e-7 + 2.0 * dt;
            let expected = DVec3::new(tangential, 0.0, normal);
            assert!(
                (sum - expected).length() < allowed * expected.length(),
                "{law:?} {dt}: {sum} {expected}"
            );
            let tip = s.velocity
                + s.world_angular_velocity().cross(DVec3::new(-FRAC_1_SQRT_2, 0.0, -FRAC_1_SQRT_2));
            assert!(tip.length() < 2.0 * dt, "{law:?} {dt}: the tip sticks: {tip}");
        }
    }
}

#[test]
fn golden_004_contacts_that_part_or_have_no_friction_do_nothing() {
    // 004.eq8c: a particle that leaves keeps its tangential velocity. 004.mu0: pulled up, a smooth contact
    // gives no force.
    for (gravity, v, mu) in [(-9.81, [1.0, 0.0, 1.0], 0.5), (1.0, [1.0, 0.0, 0.0], 0.0)] {
        let text = format!(
            "[world]\ngravity = [0, 0, {gravity}]\n{FLOOR}[[body]]\nname = \"ball\"\nmass = 1\nposition = [0, 0, 0.1]\n\
             velocity = {v:?}\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n"
        );
        let (world, state) = world(&text);
        for scheme in [Scheme::HalfImplicit, Scheme::Symmetric] {
            let options = StepOptions { dt: 1e-3, scheme, ..StepOptions::default() };
            let mut stepper = Stepper::new(&world, state.clone(), options).unwrap();
            step(&mut stepper);
            let expected = DVec3::new(1.0, 0.0, v[2] + gravity * 1e-3);
            let s = stepper.state().bodies[1];
            assert!(
                (s.velocity - expected).length() < 1e-12 && s.angular_velocity.length() < 1e-12,
                "{}",
                s.velocity
            );
            assert!(
                stepper
                    .contact_forces()
                    .all(|(_, normal, friction)| normal == 0.0 && friction == DVec3::ZERO)
            );
        }
    }
}

#[test]
fn golden_phys_disc_spins_on_its_rim_until_friction_stops_it() {
    // phys.spin_disc_rim: t = R ω₀/(2 μ g), angle = ω₀ t/2.
    let (r, w, mu) = (0.3, 10.0, 0.3);
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"disc\"\nmass = 2\ninertia = [{i1}, {i1}, {i3}]\n\
         position = [0, 0, 0.01]\nangular_velocity = [0, 0, {w}]\n[[body.shape]]\ntype = \"cylinder\"\nradius = {r}\n\
         half_height = 0.01\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n",
        i1 = 2.0 * r * r / 4.0,
        i3 = 2.0 * r * r / 2.0,
    );
    let (world, state) = world(&text);
    let dt = 1e-3;
    let mut stepper = Stepper::new(&world, state, StepOptions { dt, ..StepOptions::default() }).unwrap();
    let (mut angle, mut stopped, mut before) = (0.0, None, w);
    while stepper.state().t < 0.6 {
        step(&mut stepper);
        let now = stepper.state().bodies[1].world_angular_velocity().z;
        angle += 0.5 * dt * (now + before);
        if stopped.is_none() && now < 1e-9 {
            // Where the line of the last two speeds reaches zero.
            stopped = Some(stepper.state().t - dt + before / (w / 0.509683995922528));
        }
        before = now;
    }
    let t = stopped.expect("it stops");
    assert!((t - 0.509683995922528).abs() < 1e-8, "{t}");
    // The last step is part braking, part rest: half a step of what is left.
    assert!((angle - 2.54841997961264).abs() < 2e-5, "{angle}");
    let s = stepper.state().bodies[1];
    assert!(
        s.velocity.length() < 1e-9 && s.pose.position.truncate().length() < 1e-7,
        "{:?}",
        s.pose.position
    );
}

#[test]
fn golden_phys_ladder_leaves_the_wall() {
    // phys.ladder_leaves_wall: half length 1, from 70°, nothing rubs. The tips are balls of no size.
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"wall\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n\
         normal = [1, 0, 0]\n[[body]]\nname = \"ladder\"\nmass = 1\ninertia = [{i}, {i}, {i}]\nposition = [{x}, 0, {z}]\n\
         euler_deg = [0, 70, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 1e-9\nposition = [-1, 0, 0]\n\
         [[body.shape]]\ntype = \"sphere\"\nradius = 1e-9\nposition = [1, 0, 0]\n",
        i = 1.0 / 3.0,
        x = 70_f64.to_radians().cos() + 1e-9,
        z = 70_f64.to_radians().sin() + 1e-9,
    );
    let (world, state) = world(&text);
    let dt = 2e-4;
    let mut stepper = Stepper::new(&world, state, StepOptions { dt, ..StepOptions::default() }).unwrap();
    let mut leaves = None;
    while stepper.state().t < 0.65 {
        step(&mut stepper);
        let s = stepper.state().bodies[2];
        let wall: f64 =
            stepper.contact_forces().filter(|(c, ..)| c.bodies == [1, 2]).map(|(_, n, _)| n).sum();
        if leaves.is_none() && wall == 0.0 {
            leaves = Some((
                stepper.state().t,
                s.pose.position.z.asin().to_degrees(),
                -s.world_angular_velocity().y,
                s.velocity.x,
            ));
        }
    }
    let (t, angle, rate, _) = leaves.expect("it leaves the wall");
    // The force goes to zero linearly: found within two steps of it.
    assert!((t - 0.59752780606914).abs() < 3.0 * dt, "{t}");
    assert!((angle - 38.789556416354884).abs() < 3.0 * dt * 2.15_f64.to_degrees(), "{angle}");
    assert!((rate.abs() - 2.1469029565760196).abs() < 3.0 * dt * 10.0, "{rate}");
    // Without a wall nothing pushes sideways: constant from then on.
    let v = stepper.state().bodies[2].velocity.x;
    assert!((v - 1.3449525772252835).abs() < 1e-5, "{v}");
}

#[test]
fn golden_phys_particle_leaves_a_smooth_sphere() {
    // phys.sphere_top: a particle (a ball of no size and no turning) slides from near the top of a unit
    // sphere: cos = 2/3.
    let start: f64 = 1e-3;
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"dome\"\nfixed = true\n[[body.shape]]\ntype = \"sphere\"\nradius = 1\n\
         [[body]]\nname = \"particle\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [{}, 0, {}]\n[[body.shape]]\ntype = \"sphere\"\nradius = 1e-9\n",
        start.sin() * (1.0 + 1e-9),
        start.cos() * (1.0 + 1e-9)
    );
    let (world, state) = world(&text);
    let mut stepper =
        Stepper::new(&world, state, StepOptions { dt: 2e-4, ..StepOptions::default() }).unwrap();
    let mut last = None;
    while stepper.state().bodies[1].pose.position.z > 0.3 {
        step(&mut stepper);
        let s = stepper.state().bodies[1];
        if stepper.contact_forces().any(|(_, normal, _)| normal > 0.0) {
            last = Some((s.pose.position.z, s.velocity.length()));
        }
    }
    // cos = 2/3 cos of the start; the force goes to zero linearly, so it is found within two steps: 2 · 2e-4
    // s · 1.9 m/s.
    let (cosine, speed) = last.expect("it touched");
    assert!((cosine - 2.0 / 3.0 * start.cos()).abs() < 1e-3, "{cosine}");
    assert!((speed - 2.5573423705088842).abs() < 4e-3, "{speed}");
}

#[test]
fn golden_phys_rod_jams_between_its_angles() {
    // phys.painleve_angles: tan² − 3 μ tan + 4 < 0 for μ = 2, so between 37.38° and 79.19°.
    let jams = |degrees: f64| {
        let angle = degrees.to_radians();
        let text = format!(
            "[world]\ngravity = [0, 0, -9.81]\n{FLOOR}[[body]]\nname = \"rod\"\nmass = 1\ninertia = [{i}, {i}, {i}]\n\
             position = [{x}, 0, {z}]\neuler_deg = [0, -{degrees}, 0]\nvelocity = [-3, 0, 0]\n\
             [[body.shape]]\ntype = \"sphere\"\nradius = 1e-9\nposition = [-1, 0, 0]\n\
             [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 2\n",
            i = 1.0 / 3.0,
            x = angle.cos(),
            z = angle.sin() + 1e-9,
        );
        let (world, state) = world(&text);
        let mut stepper =
            Stepper::new(&world, state, StepOptions { dt: 1e-6, ..StepOptions::default() }).unwrap();
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{degrees}");
        !report.jams.is_empty()
    };
    // A step turns the rod by less than a thousandth of a degree.
    for (angle, inside) in [(37.37736814064969, 1.0), (79.1876830364283, -1.0)] {
        assert!(jams(angle + 0.01 * inside), "inside of {angle}");
        assert!(!jams(angle - 0.01 * inside), "outside of {angle}");
    }
}

#[test]
fn golden_004_bilateral_row_takes_what_it_needs() {
    // 004.eq16_bilateral: N = 1, p = 0.3: λ = −0.3 and nothing else.
    let text = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"bead\"\nmass = 1\ninertia = [1, 1, 1]\nvelocity = [0, 0, 0.3]\n\
        [[joint]]\nname = \"plane\"\ntype = \"point-on-plane\"\nbodies = [\"world\", \"bead\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n";
    let (world, state) = world(text);
    let mut stepper = Stepper::new(&world, state, one_step(0.01, FrictionLaw::Ncp)).unwrap();
    step(&mut stepper);
    assert!(stepper.state().bodies[0].velocity.length() < 1e-12);
    let forces: Vec<_> = stepper.joint_forces().into_iter().collect();
    assert!((forces[0][0] * 0.01 - DVec3::Z * -0.3).length() < 1e-12, "{forces:?}");
}
