//! The front door: feedback control, inputs and states between steps, snapshots, names, contacts.

use delassus::formula::AnyFormula;
use delassus::prelude::*;
use delassus::stepping::StartVelocities;
use delassus::stepping::{ContactEventKind, ControlError, Stepper};
use delassus::world::WorldError;

const G: f64 = 9.81;

fn options(dt: f64) -> StepOptions {
    StepOptions { dt, ..StepOptions::default() }
}

/// A block on the ground.
fn block_on_ground(mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    scene.add(Body::block("block", 2.0, DVec3::splat(0.1)).at(DVec3::new(0.0, 0.0, 0.1)));
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

/// A cart of mass m on a rail along x, with a force along it.
fn cart(m: f64) -> Scene {
    let mut scene = Scene::default();
    let rail = scene.add(Body::fixed("rail", vec![]));
    let cart = scene.add(Body::block("cart", m, DVec3::splat(0.1)));
    scene.join([rail, cart], Pose::along(DVec3::ZERO, DVec3::X), Joint::prismatic("slide").with_force(0.0));
    scene
}

/// All bits of a state.
fn bits(state: &WorldState) -> Vec<u64> {
    let numbers = state.bodies.iter().flat_map(|s| {
        let (x, r) = (s.pose.position.to_array(), s.pose.rotation.to_array());
        let v = s.velocity.to_array().into_iter().chain(s.angular_velocity.to_array());
        x.into_iter().chain(r).chain(v).collect::<Vec<f64>>()
    });
    std::iter::once(state.t).chain(numbers).map(f64::to_bits).collect()
}

#[test]
fn a_simulation_can_be_sent_to_another_thread() {
    fn is_send<T: Send + 'static>() {}
    is_send::<Simulation>();
    is_send::<delassus::simulation::Snapshot>();
    let mut sim = Simulation::new(block_on_ground(0.5), options(1e-3)).unwrap();
    let moved = std::thread::spawn(move || sim.step().map(|_| sim.time())).join().unwrap();
    assert_eq!(moved, Ok(1e-3));
}

/// m ẍ = −k x − d ẋ with d² < 4 m k: x = e^{−ζt} (cos ωt + ζ/ω sin ωt) from x = 1 m at rest.
#[test]
fn a_controlled_cart_follows_its_closed_form() {
    let (m, k, d) = (2.0, 8.0, 2.0);
    let zeta = d / (2.0 * m);
    let omega = (k / m - zeta * zeta).sqrt();
    let exact = |t: f64| (-zeta * t).exp() * ((omega * t).cos() + zeta / omega * (omega * t).sin());
    let mut errors = vec![];
    for dt in [2e-3, 1e-3] {
        let mut sim = Simulation::new(cart(m), options(dt)).unwrap();
        let slide = sim.joint_id("slide").unwrap();
        sim.set_pose("cart", Pose { position: DVec3::X, ..Pose::IDENTITY }).unwrap();
        let mut worst = 0.0_f64;
        while sim.time() < 3.0 - 0.5 * dt {
            let now = sim.joint(slide).unwrap();
            sim.set_control(slide, -k * now.position - d * now.velocity).unwrap();
            assert_eq!(sim.step().unwrap().status, Status::Solved);
            worst = worst.max((sim.joint(slide).unwrap().position - exact(sim.time())).abs());
        }
        errors.push(worst);
    }
    // The force is held over a step: half a step late, k/m · dt/2 · x at first order.
    assert!(errors[1] < 4.0 * 1e-3, "{errors:?}");
    assert!((1.8..2.2).contains(&(errors[0] / errors[1])), "{errors:?}");
}

/// An inverted pendulum, I φ̈ = m g l sin φ − τ with τ = (k + m g l) φ + d φ̇ critically damped: φ decays as
/// φ₀ (1 + λt) e^{−λt}, λ = √(k/I), up to φ³.
#[test]
fn an_inverted_pendulum_is_held_by_its_torque() {
    let (m, l, k, small) = (1.0, 0.5, 12.0_f64, 1e-3_f64);
    let mut scene = Scene::default();
    let ground = scene.add(Body::fixed("ground", vec![]));
    let rod = Body::block("rod", m, DVec3::new(0.01, 0.01, l));
    let tilted = DQuat::from_rotation_y(small);
    let inertia = rod.inertia.y + m * l * l;
    let rod = scene.add(rod.at(tilted * DVec3::new(0.0, 0.0, l)).rotated(tilted));
    scene.join([ground, rod], Pose::along(DVec3::ZERO, DVec3::Y), Joint::revolute("hinge").with_force(0.0));
    let lambda = (k / inertia).sqrt();
    let (stiffness, damping) = (k + m * G * l, 2.0 * (k * inertia).sqrt());
    let dt = 1e-4;
    let mut sim = Simulation::new(scene, options(dt)).unwrap();
    let hinge = sim.joint_id("hinge").unwrap();
    // The joint was made where the rod is tilted: its coordinate is counted from there.
    let run = |sim: &mut Simulation, until: f64| {
        while sim.time() < until - 0.5 * dt {
            let now = sim.joint(hinge).unwrap();
            sim.set_control(hinge, -stiffness * (now.position + small) - damping * now.velocity).unwrap();
            sim.step().unwrap();
        }
        sim.joint(hinge).unwrap().position + small
    };
    for t in [0.1, 0.5, 1.0] {
        let (found, exact) = (run(&mut sim, t), small * (1.0 + lambda * t) * (-lambda * t).exp());
        // Held over a step: late by half of one, at the fastest rate λ φ₀; sin φ − φ is 1e-10 at most.
        assert!((found - exact).abs() < dt * lambda * small, "{t}: {found:e} for {exact:e}");
    }
}

/// A force below μ m g does not move a block, one above it gives (F − μ m g)/m; both last until they are
/// changed.
#[test]
fn forces_last_until_they_are_changed() {
    let (m, mu) = (2.0, 0.5);
    let mut sim = Simulation::new(block_on_ground(mu), options(1e-3)).unwrap();
    let block = sim.body_id("block").unwrap();
    sim.set_force(block, DVec3::X * 0.9 * mu * m * G).unwrap();
    let report = sim.run_until(0.2, |_| {}).unwrap();
    assert_eq!((report.steps, report.unsolved_steps), (200, 0));
    assert!(sim.body(block).unwrap().position().x.abs() < 1e-9);
    assert!(sim.contacts().iter().all(|c| c.mode == Mode::Stick));
    sim.set_force(block, DVec3::X * 1.5 * mu * m * G).unwrap();
    sim.run_until(0.4, |_| {}).unwrap();
    let (speed, exact) = (sim.body(block).unwrap().velocity.x, 0.5 * mu * G * 0.2);
    assert!((speed - exact).abs() < 1e-6, "{speed} for {exact}");
    let contacts = sim.contacts_between("block", "ground").unwrap();
    assert_eq!(contacts.len(), 4);
    assert!(contacts.iter().all(|c| c.mode == Mode::Slide));
    // On the second body, which is the block: its weight up, friction against the motion.
    assert_eq!(contacts[0].body_names, ["ground", "block"]);
    let total: DVec3 = contacts.iter().map(|c| c.force).sum();
    assert!((total - DVec3::new(-mu * m * G, 0.0, m * G)).length() < 1e-4, "{total}");
    let parts: DVec3 = contacts.iter().map(|c| c.normal * c.normal_force + c.friction).sum();
    assert!((total - parts).length() < 1e-12);
}

#[test]
fn a_moment_turns_a_body() {
    let mut scene = Scene::default();
    scene.world.gravity = DVec3::ZERO;
    scene.add(Body::ball("ball", 1.0, 0.1));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.set_torque("ball", DVec3::Y * 0.004).unwrap();
    sim.run_until(0.5, |_| {}).unwrap();
    // I = 0.4 m r² = 0.004.
    assert!((sim.body("ball").unwrap().angular_velocity - 0.5 * DVec3::Y).length() < 1e-12);
    let centre = sim.body("ball").unwrap().position();
    sim.set_force_at("ball", DVec3::X, centre + 0.05 * DVec3::Z).unwrap();
    assert!((sim.body("ball").unwrap().load[1] - 0.05 * DVec3::Y).length() < 1e-15);
}

#[test]
fn a_state_is_set_in_mid_run() {
    let mut scene = Scene::default();
    scene.add(Body::ball("ball", 1.0, 0.1).at(DVec3::Z));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.run_until(0.1, |_| {}).unwrap();
    sim.set_pose("ball", Pose { position: DVec3::new(1.0, 2.0, 3.0), ..Pose::IDENTITY }).unwrap();
    sim.set_velocity("ball", DVec3::new(4.0, 0.0, 0.0)).unwrap();
    sim.set_angular_velocity("ball", DVec3::Z).unwrap();
    assert_eq!(sim.time(), 0.1);
    sim.run_until(0.3, |_| {}).unwrap();
    let ball = sim.body("ball").unwrap();
    let exact = DVec3::new(1.8, 2.0, 3.0 - 0.5 * G * 0.04);
    assert!((ball.position() - exact).length() < 1e-12, "{}", ball.position());
    assert!((ball.angular_velocity - DVec3::Z).length() < 1e-12);
    assert!((sim.time() - 0.3).abs() < 1e-15);
}

#[test]
fn states_that_break_joints_or_overlap_are_prepared_as_at_a_start() {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    let base = scene.add(Body::fixed("base", vec![]));
    let bob = scene.add(Body::ball("bob", 1.0, 0.1).at(DVec3::new(0.0, 0.0, 1.0)));
    scene.join([base, bob], Pose::along(DVec3::new(0.0, 0.0, 2.0), DVec3::Y), Joint::revolute("hinge"));
    scene.add(Body::ball("ball", 1.0, 0.1).at(DVec3::new(3.0, 0.0, 0.1)));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    assert_eq!(sim.start().velocities, StartVelocities::Kept);
    // Too far from the hinge by 0.1 m, and with a velocity along the rod.
    sim.set_pose("bob", Pose { position: DVec3::new(0.0, 0.0, 0.9), ..Pose::IDENTITY }).unwrap();
    sim.set_velocity("bob", DVec3::new(0.5, 0.0, 0.5)).unwrap();
    sim.set_pose("ball", Pose { position: DVec3::new(3.0, 0.0, 0.05), ..Pose::IDENTITY }).unwrap();
    let report = sim.step().unwrap();
    assert_eq!(report.status, Status::Solved);
    assert!(report.joint_error < 1e-9 && report.penetration < 1e-7, "{report:?}");
    let bob = sim.body("bob").unwrap();
    assert!((bob.position().z - 1.0).abs() < 1e-6, "{}", bob.position());
    // No velocity was made by closing the joint or by separating the bodies.
    assert!(bob.velocity.z.abs() < 1e-3 && bob.velocity.x.abs() < 0.51, "{}", bob.velocity);
    assert!(sim.body("ball").unwrap().velocity.length() < 1e-3);
}

#[test]
fn snapshots_give_the_same_bits() {
    let mut sim = Simulation::new(block_on_ground(0.3), options(1e-3)).unwrap();
    sim.set_velocity("block", DVec3::new(1.0, 0.2, 0.0)).unwrap();
    sim.set_angular_velocity("block", DVec3::new(0.0, 0.0, 3.0)).unwrap();
    sim.run_until(0.0503, |_| {}).unwrap();
    sim.set_force("block", DVec3::X).unwrap();
    sim.set_dt(7e-4).unwrap();
    let saved = sim.save();
    let go_on = |sim: &mut Simulation| {
        sim.run_until(0.08, |_| {}).unwrap();
        sim.set_force("block", -DVec3::X).unwrap();
        sim.run_until(0.1, |_| {}).unwrap();
        (bits(sim.state()), sim.contacts())
    };
    let first = go_on(&mut sim);
    let mut other = Simulation::from_snapshot(&saved).unwrap();
    assert_eq!(go_on(&mut other), first);
    sim.restore(&saved).unwrap();
    assert_eq!(sim.time(), saved.time());
    assert_eq!(sim.body("block").unwrap().load[0], DVec3::X);
    assert_eq!(go_on(&mut sim), first);
}

/// The stepper by itself and the simulation, with inputs that change nothing, give the same bits.
#[test]
fn inputs_that_change_nothing_keep_the_bits() {
    let mut scene = block_on_ground(0.3);
    scene.state.bodies[1].velocity = DVec3::new(1.0, 0.2, 0.0);
    scene.state.bodies[1].angular_velocity = DVec3::new(0.0, 0.0, 3.0);
    let rail = scene.add(Body::fixed("rail", vec![]));
    let slider = scene.add(Body::ball("slider", 1.0, 0.1).at(DVec3::new(5.0, 0.0, 2.0)));
    let motor = Joint::prismatic("slide").with_position_motor(0.2, 3.0);
    scene.join([rail, slider], Pose::along(DVec3::new(5.0, 0.0, 2.0), DVec3::X), motor);
    let mut stepper = Stepper::new(&scene.world, scene.state.clone(), options(1e-3)).unwrap();
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    for _ in 0..200 {
        stepper.step().unwrap();
        sim.set_control("slide", 0.2).unwrap();
        sim.set_force("block", DVec3::ZERO).unwrap();
        sim.set_dt(1e-3).unwrap();
        sim.step().unwrap();
        assert_eq!(bits(sim.state()), bits(stepper.state()));
    }
    let named: Vec<String> = stepper.contacts().iter().map(|c| stepper.contact_name(c)).collect();
    let contacts = sim.contacts();
    assert_eq!(contacts.iter().map(|c| c.name.clone()).collect::<Vec<_>>(), named);
    for (c, (_, normal, friction)) in contacts.iter().zip(stepper.contact_forces()) {
        assert_eq!((c.normal_force, c.friction), (normal, friction));
    }
}

#[test]
fn another_step_length_does_not_move_the_clock() {
    let mut scene = Scene::default();
    scene.add(Body::ball("ball", 1.0, 0.1).at(10.0 * DVec3::Z));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.run_until(0.5, |_| {}).unwrap();
    sim.set_dt(2.5e-3).unwrap();
    assert_eq!(sim.time(), 0.5);
    let mut times = vec![];
    sim.run_until(0.5088, |frame| times.push(frame.time)).unwrap();
    let exact = [0.5025, 0.505, 0.5075, 0.5088];
    assert_eq!(times.len(), 4);
    assert!(times.iter().zip(exact).all(|(t, e)| (t - e).abs() < 1e-15), "{times:?}");
    // The last step was shorter, the next is not.
    sim.step().unwrap();
    assert!((sim.time() - 0.5113).abs() < 1e-15);
    assert_eq!(sim.options().dt, 2.5e-3);
    let z = sim.body("ball").unwrap().position().z;
    assert!((z - (10.0 - 0.5 * G * sim.time().powi(2))).abs() < 1e-12, "{z}");
}

#[test]
fn frames_show_state_contacts_and_report() {
    let mut sim = Simulation::new(block_on_ground(0.3), options(1e-3)).unwrap();
    let mut seen = 0;
    let report = sim
        .run_until(0.02, |frame| {
            seen += 1;
            assert_eq!(frame.state.t, frame.time);
            assert_eq!(frame.report.status, Status::Solved);
            assert_eq!(frame.contacts().len(), 4);
            assert_eq!(frame.contacts()[1].name, "ground|block#2");
            assert!((frame.body("block").unwrap().position().z - 0.1).abs() < 1e-7);
            assert!((frame.energy() - 2.0 * G * 0.1).abs() < 1e-6);
        })
        .unwrap();
    assert_eq!((seen, report.steps), (20, 20));
    // A time that has passed makes no step.
    assert_eq!(sim.run_until(0.01, |_| unreachable!()).unwrap().steps, 0);
}

/// A ball falls 1 m without rebound and stays: it hits at √(2h/g), which a linear motion within the step
/// meets to g dt²/8 over the speed, and sticks from then on.
#[test]
fn frames_show_events() {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    scene.add(Body::ball("ball", 1.0, 0.1).at(1.1 * DVec3::Z));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    let mut events = vec![];
    sim.run_until(0.6, |frame| events.extend_from_slice(frame.events)).unwrap();
    let hits = (2.0 / G).sqrt();
    let [hit, stick] = &events[..] else { panic!("{events:?}") };
    assert!(matches!(hit.kind, ContactEventKind::Impact { .. }) && (hit.t - hits).abs() < 1e-6, "{hit:?}");
    assert!(stick.kind == ContactEventKind::Stick && (stick.t - hits).abs() <= 1e-3, "{stick:?}");
    assert_eq!(hit.contact, "ground|ball");
}

/// Least and largest normal force of each contact.
fn intervals(contacts: &[ContactForce]) -> Vec<[f64; 2]> {
    contacts.iter().map(|c| c.interval().unwrap_or_else(|| panic!("{}: {:?}", c.name, c.unique))).collect()
}

/// A cube on four corners (sx, sy) = (±1, ±1) that slides along e with friction μ: the weight stands by μ of
/// its half side before the centre, (X, Y) = μ e, and corners carry m g/4 (1 + sx X + sy Y + sx sy t) with
/// any t that leaves all of them pressed, −1 + |X + Y| ≤ t ≤ 1 − |X − Y|; in the step and now.
#[test]
fn contacts_have_the_intervals_of_the_step_and_of_now() {
    for (mu, speed) in [(0.0, 0.0), (0.4, 0.0), (0.4, 2.0), (0.0, 2.0)] {
        let mut sim = Simulation::new(block_on_ground(mu), options(1e-3)).unwrap();
        sim.set_velocity("block", DVec3::new(0.6 * speed, 0.8 * speed, 0.0)).unwrap();
        sim.run_until(0.003, |_| {}).unwrap();
        let centre = sim.body("block").unwrap().position();
        let [x, y] = if speed > 0.0 { [0.6 * mu, 0.8 * mu] } else { [0.0; 2] };
        for contacts in [sim.contacts(), sim.contacts_now().unwrap()] {
            let total: f64 = contacts.iter().map(|c| c.normal_force).sum();
            assert!((total - 2.0 * G).abs() < 1e-4 && contacts.len() == 4, "{total}");
            for (c, [least, largest]) in contacts.iter().zip(intervals(&contacts)) {
                let [sx, sy] = [c.point.x - centre.x, c.point.y - centre.y].map(f64::signum);
                let shift = sx * x + sy * y;
                let [same, other] = [(x + sx * sy * y).abs(), (x - sx * sy * y).abs()];
                let exact = [0.5 * G * (shift + same), 0.5 * G * (2.0 + shift - other)];
                assert!((least - exact[0]).abs() < 1e-3, "{}: from {least} for {exact:?}", c.name);
                assert!((largest - exact[1]).abs() < 1e-3, "{}: to {largest} for {exact:?}", c.name);
                assert!(least - 1e-3 <= c.normal_force && c.normal_force <= largest + 1e-3);
            }
        }
        assert!(sim.contact_forces().iter().all(|c| c.unique == Uniqueness::Unknown));
        // What is set, saved and restored does not change the answer.
        let contacts = sim.contacts();
        sim.set_velocity("block", DVec3::ZERO).unwrap();
        assert_eq!(sim.contacts(), contacts);
        assert_eq!(Simulation::from_snapshot(&sim.save()).unwrap().contacts(), contacts);
    }
    assert_eq!(Uniqueness::Interval { least: 0.0, largest: 2.0 }.to_string(), "from 0 to 2 N");
}

/// One contact is unique whatever its law, also in the step in which it takes an impact.
#[test]
fn contacts_are_unique_where_rows_are_independent() {
    for surface in [Surface::friction(0.3), Surface { rolling: 0.01, ..Surface::friction(0.3) }] {
        let mut scene = Scene::default();
        scene.add(Body::ground());
        scene.add(Body::ball("ball", 1.0, 0.1).at(0.105 * DVec3::Z));
        scene.add(Body::ball("far", 1.0, 0.1).at(DVec3::new(3.0, 0.0, 2.0)));
        scene.world.surfaces.push(surface);
        let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
        let mut hit = false;
        sim.run_until(0.1, |frame| {
            for c in frame.contacts() {
                assert_eq!(c.unique, Uniqueness::Unique, "{}", frame.time);
                hit |= c.normal_force > 20.0;
            }
        })
        .unwrap();
        assert!(hit && sim.contacts()[0].normal_force > 9.8);
    }
}

#[test]
fn motors_take_targets() {
    let mut scene = cart(2.0);
    scene.world.joints[0].actions.clear();
    let joint = scene.world.joints.remove(0);
    scene.world.joints.push(joint.with_speed_motor(0.0, 10.0));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.set_control("slide", 0.5).unwrap();
    sim.run_until(0.5, |_| {}).unwrap();
    // 5 m/s² up to 0.5 m/s: 0.1 s and 0.025 m, then 0.2 m.
    let now = sim.joint("slide").unwrap();
    assert!((now.velocity - 0.5).abs() < 1e-9, "{}", now.velocity);
    assert!((now.position - 0.225).abs() < 5e-4, "{}", now.position);
    sim.set_control("slide", 0.0).unwrap();
    sim.run_until(1.0, |_| {}).unwrap();
    assert!(sim.joint("slide").unwrap().velocity.abs() < 1e-9);
    // The rail carries the weight.
    let carried = sim.joint_force("slide").unwrap().force;
    assert!((carried.z - 2.0 * G).abs() < 1e-6, "{carried}");
}

#[test]
fn refusals_say_what_is_wrong() {
    let mut scene = cart(2.0);
    scene.add(Body::ball("ball", 1.0, 0.1).at(9.0 * DVec3::Z));
    scene.add(Body::ball("twin", 1.0, 0.1).at(5.0 * DVec3::Z));
    scene.add(Body::ball("twin", 1.0, 0.1).at(6.0 * DVec3::Z));
    let [first, second] = [3, 4].map(BodyId::new);
    scene.join([first, second], Pose::along(5.5 * DVec3::Z, DVec3::X), Joint::fixed("weld"));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    let before = bits(sim.state());
    let said = |error: Result<(), SimulationError>| error.unwrap_err().to_string();
    assert_eq!(
        said(sim.set_force("bal", DVec3::X)),
        "unknown body `bal`: expected the name of a body; did you mean `ball`?"
    );
    assert_eq!(
        said(sim.joint("slid").map(|_| ())),
        "unknown joint `slid`: expected the name of a joint; did you mean `slide`?"
    );
    assert_eq!(said(sim.joint("weld").map(|_| ())), "joint `weld` has no coordinate");
    assert_eq!(
        said(sim.body("twin").map(|_| ())),
        "2 bodies are called `twin`, expected one; ids tell them apart"
    );
    assert!(sim.body(BodyId::new(3)).is_ok());
    let no_body = ControlError::NoBody { body: 9, bodies: 5 };
    assert_eq!(sim.body(BodyId::new(9)).unwrap_err(), SimulationError::Control(no_body));
    assert_eq!(said(sim.set_force("ball", DVec3::NAN)), "a force of `ball` is NaN, but must be finite");
    assert_eq!(said(sim.set_force("rail", DVec3::X)), "body `rail` is fixed: it takes no force");
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let pose = Pose { position: DVec3::ZERO, rotation: zero };
    assert_eq!(
        said(sim.set_pose("ball", pose)),
        "the length of the quaternion of `ball` is 0, but must be 1"
    );
    assert_eq!(
        said(sim.set_control("slide", f64::INFINITY)),
        "the target of `slide` is inf, but must be finite"
    );
    assert_eq!(said(sim.set_dt(0.0)), "the time step is 0, but must be positive and finite");
    assert_eq!(
        said(sim.run_until(f64::NAN, |_| {}).map(|_| ())),
        "the end of the run is NaN, but must be finite"
    );
    assert_eq!(bits(sim.state()), before);
    assert!(sim.step().is_ok());

    let mut scene = cart(-1.0);
    assert!(matches!(
        Simulation::new(scene.clone(), options(1e-3)).map(|_| ()),
        Err(SimulationError::World(WorldError::Body { what: "mass", .. }))
    ));
    scene.world.bodies[1].mass = 1.0;
    scene.world.bodies[1].inertia = DVec3::ONE;
    let none = Simulation::new(scene.clone(), options(-1.0)).map(|_| ());
    assert!(matches!(none, Err(SimulationError::World(WorldError::Number { what: "the time step", .. }))));
    scene.world.joints[0].actions.clear();
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    assert_eq!(
        said(sim.set_control("slide", 1.0)),
        "joint `slide` has 0 forces and motors, number 0 was asked for (from 0)"
    );
}

#[test]
fn several_actuators_are_told_apart() {
    let mut scene = cart(2.0);
    let joint = scene.world.joints.remove(0);
    scene.world.joints.push(joint.with_limits(-1.0, 1.0).with_force(AnyFormula::new(0.0)));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    let many = SimulationError::ManyActuators { joint: "slide".into(), actuators: 2 };
    assert_eq!(sim.set_control("slide", 1.0), Err(many));
    sim.set_actuator("slide", 0, 1.0).unwrap();
    sim.set_actuator("slide", 1, 3.0).unwrap();
    sim.run_until(0.1, |_| {}).unwrap();
    assert!((sim.joint("slide").unwrap().velocity - 0.2).abs() < 1e-12);
}

/// A ball that is set 5 cm into the ground: the contact that the next step finds carries its weight, and the
/// ball is where it was set until that step is made.
#[test]
fn reading_contacts_moves_nothing() {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    scene.add(Body::ball("ball", 2.0, 0.1).at(DVec3::new(0.0, 0.0, 1.0)));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.set_pose("ball", Pose { position: DVec3::new(0.0, 0.0, 0.05), ..Pose::IDENTITY }).unwrap();
    let before = bits(sim.state());
    let now = sim.contacts_now().unwrap();
    assert_eq!(bits(sim.state()), before);
    assert_eq!(now.len(), 1);
    assert!((now[0].normal_force - 2.0 * G).abs() < 1e-6 && now[0].gap.abs() < 1e-7, "{:?}", now[0]);
    sim.step().unwrap();
    assert!((sim.body("ball").unwrap().position().z - 0.1).abs() < 1e-7);
}

/// A pushed block beside a hanging cart: what is set after a step changes neither the forces of that step nor
/// what its contacts did in it.
#[test]
fn forces_of_a_step_stay_those_of_its_end() {
    let mut scene = block_on_ground(0.5);
    let rail = scene.add(Body::fixed("rail", vec![]));
    let cart = scene.add(Body::block("cart", 3.0, DVec3::splat(0.1)).at(DVec3::new(0.0, 0.0, 5.0)));
    let frame = Pose::along(DVec3::new(0.0, 0.0, 5.0), DVec3::X);
    scene.join([rail, cart], frame, Joint::prismatic("slide"));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.run_until(0.01, |_| {}).unwrap();
    let (contacts, held) = (sim.contacts(), sim.joint_force("slide").unwrap());
    assert!(contacts.len() == 4 && contacts.iter().all(|c| c.mode == Mode::Stick));
    assert!((held.force - 3.0 * G * DVec3::Z).length() < 1e-6, "{held:?}");
    sim.set_velocity("block", DVec3::X).unwrap();
    let turned = DQuat::from_rotation_x(1.0);
    sim.set_pose("cart", Pose { position: DVec3::new(1.0, 0.0, 5.0), rotation: turned }).unwrap();
    assert_eq!((sim.contacts(), sim.joint_force("slide").unwrap()), (contacts.clone(), held));
    let other = Simulation::from_snapshot(&sim.save()).unwrap();
    assert_eq!(other.contacts(), contacts);
    sim.step().unwrap();
    assert!(sim.contacts().iter().all(|c| c.mode == Mode::Slide));
}

/// A force beyond all numbers: the step that cannot be made leaves everything as it was, and without the
/// force the motion goes on with the bits of one that never had it.
#[test]
fn a_step_that_fails_leaves_the_state_before_it() {
    for contact in [false, true] {
        let mut scene = if contact { block_on_ground(0.5) } else { Scene::default() };
        scene.add(Body::ball("ball", 0.1, 0.1).at(DVec3::new(0.0, 0.0, 5.0)));
        let mut sim = Simulation::new(scene.clone(), options(1e-3)).unwrap();
        let mut other = Simulation::new(scene, options(1e-3)).unwrap();
        sim.run_until(0.01, |_| {}).unwrap();
        other.run_until(0.01, |_| {}).unwrap();
        let (before, contacts) = (bits(sim.state()), sim.contacts());
        sim.set_force("ball", DVec3::X * f64::MAX).unwrap();
        // With a contact the solve refuses the numbers, without one the state is the first to have them.
        let error = sim.step().unwrap_err();
        let diverged = SimulationError::Diverged { t: sim.time(), body: "ball".into() };
        assert!(
            if contact { matches!(error, SimulationError::Step { .. }) } else { error == diverged },
            "{error}"
        );
        assert!(sim.state().bodies.iter().all(|s| s.is_finite()));
        assert_eq!((bits(sim.state()), sim.contacts()), (before, contacts));
        sim.set_force("ball", DVec3::ZERO).unwrap();
        sim.run_until(0.02, |_| {}).unwrap();
        other.run_until(0.02, |_| {}).unwrap();
        assert_eq!(bits(sim.state()), bits(other.state()));
    }
}

/// A pole hinged to a cart, put at an angle by its joint: state feedback brings both back to where they
/// stood.
#[test]
fn a_cart_pole_is_balanced_from_where_its_joint_was_put() {
    let mut scene = cart(1.0);
    let pole = scene.add(Body::capsule("pole", 0.2, 0.01, 0.5).at(DVec3::new(0.0, 0.0, 0.5)));
    let cart = BodyId::new(1);
    scene.join([cart, pole], Pose::along(DVec3::ZERO, DVec3::Y), Joint::revolute("hinge"));
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.set_joint("hinge", 0.2, 0.0).unwrap();
    let tip = sim.body("pole").unwrap().position();
    assert!((tip - 0.5 * DVec3::new(0.2_f64.sin(), 0.0, 0.2_f64.cos())).length() < 1e-14, "{tip}");
    while sim.time() < 8.0 {
        let (x, angle) = (sim.joint("slide").unwrap(), sim.joint("hinge").unwrap());
        let force = 5.0 * x.position + 7.0 * x.velocity + 50.0 * angle.position + 12.0 * angle.velocity;
        sim.set_control("slide", force).unwrap();
        sim.step().unwrap();
    }
    // The slowest mode of the linear system has died out to 1e-5 by then.
    let [x, angle] = ["slide", "hinge"].map(|name| sim.joint(name).unwrap().position);
    assert!(x.abs() < 1e-3 && angle.abs() < 1e-4, "{x} {angle}");
}

/// A joint that is set moves what hangs on it, between steps of a run too, and keeps the forces of the last
/// step; what it cannot reach is refused and changes nothing.
#[test]
fn joints_are_set_by_name_or_id_and_refuse_what_they_cannot_reach() {
    let mut scene = cart(1.0);
    let cart = BodyId::new(1);
    let arm = scene.add(Body::block("arm", 1.0, DVec3::new(0.05, 0.05, 0.5)).at(DVec3::new(0.0, 0.0, -0.5)));
    let hinge = Joint::revolute("hinge").with_limits(-1.0, 1.0);
    let hinge = scene.join([cart, arm], Pose::along(DVec3::ZERO, DVec3::Y), hinge);
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.run_until(0.01, |_| {}).unwrap();
    let held = sim.joint_force("slide").unwrap();
    assert!((held.force.z - 2.0 * G).abs() < 1e-6);
    sim.set_joint(hinge, 0.5, 2.0).unwrap();
    sim.set_joint("slide", 3.0, 1.0).unwrap();
    assert_eq!(sim.joint_force("slide").unwrap(), held);
    let now = sim.joint("hinge").unwrap();
    assert!((now.position - 0.5).abs() < 1e-14 && (now.velocity - 2.0).abs() < 1e-13, "{now:?}");
    // The middle of the arm is half a metre below the hinge, behind it by its angle.
    let arm = sim.body("arm").unwrap();
    let (s, c) = 0.5_f64.sin_cos();
    assert!((arm.position() - DVec3::new(3.0 - 0.5 * s, 0.0, -0.5 * c)).length() < 1e-13, "{arm:?}");
    assert!((arm.velocity - DVec3::new(1.0 - c, 0.0, s)).length() < 1e-13, "{arm:?}");
    let before = bits(sim.state());
    for (position, velocity) in [(1.5, 0.0), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
        let error = sim.set_joint("hinge", position, velocity).unwrap_err();
        assert!(matches!(error, SimulationError::Control(ControlError::Number { .. })), "{error}");
    }
    assert!(matches!(sim.set_joint("hing", 0.0, 0.0), Err(SimulationError::UnknownJoint { .. })));
    assert_eq!(bits(sim.state()), before);
    // The motion goes on from there: no momentum along the rail comes or goes.
    let momentum = |sim: &Simulation| {
        let speed = |body: &str| sim.body(body).unwrap().velocity.x;
        speed("cart") + speed("arm")
    };
    let p = momentum(&sim);
    sim.run_until(0.2, |_| {}).unwrap();
    assert!((momentum(&sim) - p).abs() < 1e-8, "{} {p}", momentum(&sim));
}

/// A state that was read is set again, in this simulation or in another of the same scene: the same bits from
/// there on, as far as no contact has a history.
#[test]
fn a_whole_state_can_be_set() {
    let scene = || {
        let mut scene = Scene::default();
        scene.add(Body::ball("ball", 1.0, 0.1).with_velocity(DVec3::X));
        scene
    };
    let mut sim = Simulation::new(scene(), options(1e-3)).unwrap();
    sim.run_until(0.25, |_| {}).unwrap();
    let state = sim.state().clone();
    let mut other = Simulation::new(scene(), options(1e-3)).unwrap();
    other.set_state(state.clone()).unwrap();
    assert_eq!(other.time(), state.t);
    for _ in 0..10 {
        sim.step().unwrap();
        other.step().unwrap();
    }
    // The clock of the other counts from another start: positions and velocities have the same bits.
    assert_eq!(bits(sim.state())[1..], bits(other.state())[1..]);
    assert!((sim.time() - other.time()).abs() < 1e-15);
    let mut wrong = state;
    wrong.bodies[0].velocity.x = f64::NAN;
    let before = bits(other.state());
    assert!(matches!(other.set_state(wrong.clone()), Err(SimulationError::World(_))));
    wrong.bodies.clear();
    assert!(other.set_state(wrong).is_err());
    assert_eq!(bits(other.state()), before);
}

/// Options are changed in mid run; the clock and the forces of the last step stay.
#[test]
fn options_can_be_changed_between_steps() {
    let mut sim = Simulation::new(block_on_ground(0.5), options(1e-3)).unwrap();
    sim.run_until(0.01, |_| {}).unwrap();
    let (t, forces) = (sim.time(), sim.contact_forces());
    let other = StepOptions { scheme: Scheme::HalfImplicit, tolerance: 1e-8, ..options(2e-3) };
    sim.set_options(other).unwrap();
    assert_eq!((sim.options(), sim.time(), sim.contact_forces()), (other, t, forces));
    sim.step().unwrap();
    assert_eq!(sim.time(), t + 2e-3);
    let weight: f64 = sim.contact_forces().iter().map(|c| c.normal_force).sum();
    assert!((weight - 2.0 * G).abs() < 1e-6, "{weight}");
    for wrong in [options(0.0), StepOptions { tolerance: -1.0, ..other }] {
        assert!(sim.set_options(wrong).is_err());
    }
    assert_eq!(sim.options(), other);
}

/// A ball falls through a shelf that it shall not touch, onto the ground.
#[test]
fn bodies_pass_through_each_other_where_a_scene_says_so() {
    let mut scene = Scene::default();
    scene.add(Body::ground());
    let half = DVec3::new(0.5, 0.5, 0.02);
    let shelf = scene.add(Body::block("shelf", 1.0, half).at(DVec3::new(0.0, 0.0, 0.02)));
    let ball = scene.add(Body::ball("ball", 1.0, 0.1).at(DVec3::new(0.0, 0.0, 0.1)));
    scene.pass_through([ball, shelf]);
    let mut sim = Simulation::new(scene, options(1e-3)).unwrap();
    sim.run_until(0.05, |_| {}).unwrap();
    assert!(sim.contacts_between("ball", "shelf").unwrap().is_empty());
    assert!((sim.body(ball).unwrap().position().z - 0.1).abs() < 1e-7);
}
