//! Energy through singular positions, rotating dampers, impacts and friction, and where a step reports that
//! it went.

use std::ops::ControlFlow;

use delassus::stepping::{
    ContactEvents, EnergyAccount, RunError, StepLength, StepOptions, StepReport, Stepper, run_until,
};
use delassus::world::{World, energy};
use delassus_solve::problem::Status;
use glam::DVec3;

use crate::support::texts::{on_floor, sphere, surfaces};
use crate::support::worlds::world;

/// What all steps up to a time report together.
#[derive(Default)]
struct Sum {
    energy: EnergyAccount,
    created: f64,
    impacts: usize,
    /// Ends of rebounds.
    ends: Vec<f64>,
    joint_error: f64,
}

impl Sum {
    fn add(&mut self, report: &StepReport) {
        assert_eq!(report.status, Status::Solved, "{:?}", report.failure);
        self.energy.add(&report.energy);
        self.created += report.energy_gains.iter().map(|gain| gain.energy).sum::<f64>();
        self.impacts += report.impacts;
        self.ends.extend(report.accumulations.iter().map(|end| end.t));
        self.joint_error = self.joint_error.max(report.joint_error);
    }
}

/// Moves a world; the stepper at the end, what its steps report, and the change of its energy.
fn run(text: &str, dt: f64, t_end: f64) -> (Stepper, Sum, f64) {
    let (world, state) = world(text);
    let before = energy(&world, &state);
    let mut stepper = Stepper::new(world, state, StepOptions { dt, ..StepOptions::default() }).unwrap();
    let mut sum = Sum::default();
    while stepper.state().t < t_end - 0.5 * dt {
        sum.add(&stepper.step().unwrap());
    }
    let change = energy(stepper.world(), stepper.state()) - before;
    (stepper, sum, change)
}

fn place(world: &World, name: &str) -> usize {
    world.bodies.iter().position(|body| body.name == name).unwrap()
}

/// A cart of a milligram on a track with a bob of 1 kg on a pole of 1 m. The bob falls freely, and the cart
/// takes its 9.81 J below it within a microsecond, at 4.4 km/s: the bob is thrown up again.
#[test]
fn a_cart_without_weight_passes_below_its_bob_and_the_energy_stays() {
    let text = "[world]\nplane = \"xy\"\ngravity = [0, -9.81, 0]\n[[body]]\nname = \"cart\"\nmass = 1e-6\n\
        inertia = [1e-6, 1e-6, 1e-6]\n[[body]]\nname = \"bob\"\nmass = 1\ninertia = [1e-12, 1e-12, 1e-12]\n\
        position = [1, 0, 0]\n[[joint]]\nname = \"track\"\ntype = \"prismatic\"\nbodies = [\"world\", \"cart\"]\n\
        anchor = [0, 0, 0]\naxis = [1, 0, 0]\n[[joint]]\nname = \"pin\"\ntype = \"revolute\"\n\
        bodies = [\"cart\", \"bob\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n";
    for dt in [1e-3, 2e-4] {
        let (stepper, sum, change) = run(text, dt, 0.7);
        // A hundredth of what passes through the joints.
        assert!(change.abs() < 0.1 && sum.joint_error < 1e-8, "dt = {dt}: {change} J, {}", sum.joint_error);
        let bob = &stepper.state().bodies[place(stepper.world(), "bob")];
        // Up again from −1 m since t₁ = √(2/g); the passage itself takes some microseconds.
        let t = 0.7 - (2.0_f64 / 9.81).sqrt();
        let height = -1.0 + (2.0_f64 * 9.81).sqrt() * t - 0.5 * 9.81 * t * t;
        assert!((bob.pose.position.y - height).abs() < 0.02, "{} for {height}", bob.pose.position.y);
    }
}

/// Two parallelograms side by side, all links of 1 kg and 1 m: the three cranks turn as one, and all links
/// lie on a line twice a turn, where each parallelogram could fold. Inertia takes them through: the cranks
/// stay parallel, and of 36 J less than a hundredth is lost in some ten passages, whatever the step.
#[test]
fn parallelograms_go_on_through_positions_in_which_they_could_fold() {
    let link = |name: &str, [x, y]: [f64; 2], v: f64, omega: f64| {
        format!(
            "[[body]]\nname = {name:?}\nmass = 1\ninertia = [0.08333333333333333, 0.08333333333333333, \
             0.08333333333333333]\nposition = [{x}, {y}, 0]\nvelocity = [{v}, 0, 0]\n\
             angular_velocity = [0, 0, {omega}]\n"
        )
    };
    let hinge = |name: &str, [a, b]: [&str; 2], [x, y]: [f64; 2]| {
        format!(
            "[[joint]]\nname = {name:?}\ntype = \"revolute\"\nbodies = [{a:?}, {b:?}]\n\
             anchor = [{x}, {y}, 0]\naxis = [0, 0, 1]\n"
        )
    };
    let mut text = "[world]\nplane = \"xy\"\ngravity = [0, -9.81, 0]\n".to_string();
    for (i, x) in [0.0, 1.0, 2.0].into_iter().enumerate() {
        text += &link(&format!("v{i}"), [x, 0.5], 0.5, -1.0);
        text += &hinge(&format!("A{i}"), ["world", &format!("v{i}")], [x, 0.0]);
    }
    for (i, x) in [0.5, 1.5].into_iter().enumerate() {
        let [left, own, right] = [format!("v{i}"), format!("h{i}"), format!("v{}", i + 1)];
        text += &link(&own, [x, 1.0], 1.0, 0.0);
        text += &hinge(&format!("B{i}"), [&left, &own], [x - 0.5, 1.0]);
        text += &hinge(&format!("C{i}"), [&own, &right], [x + 0.5, 1.0]);
    }
    for dt in [1e-2, 7e-3, 2e-3, 1e-3] {
        let (stepper, sum, change) = run(&text, dt, 10.0);
        // Joints open by less than what counts as touching.
        assert!(change.abs() < 0.36 && sum.joint_error < 1e-7, "dt = {dt}: {change} J, {}", sum.joint_error);
        let spin = |name| stepper.state().bodies[place(stepper.world(), name)].angular_velocity.z;
        let [first, second, third] = ["v0", "v1", "v2"].map(spin);
        let apart = (second - first).abs().max((third - first).abs());
        assert!(apart < 1e-2 * first.abs(), "dt = {dt}: {first} {second} {third}");
    }
}

/// n parallelograms side by side, their cranks of 1 m at an angle to the vertical with an angular velocity;
/// length and mass of the couplers, and the mass of a crank.
fn parallelograms(n: usize, [angle, omega]: [f64; 2], [length, coupler, crank]: [f64; 3]) -> String {
    let (sin, cos) = angle.sin_cos();
    let mut text = "[world]\nplane = \"xy\"\ngravity = [0, -9.81, 0]\n".to_string();
    let mut link = |name: String, mass: f64, length: f64, [x, y]: [f64; 2], turn: f64, part: f64| {
        let (i, w) = (mass * length * length / 12.0, if part < 1.0 { -omega } else { 0.0 });
        text += &format!(
            "[[body]]\nname = {name:?}\nmass = {mass}\ninertia = [{i}, {i}, {i}]\nposition = [{x}, {y}, 0]\n\
             orientation = [{}, 0, 0, {}]\nvelocity = [{}, {}, 0]\nangular_velocity = [0, 0, {w}]\n",
            (0.5 * turn).cos(),
            -(0.5 * turn).sin(),
            part * omega * cos,
            -part * omega * sin,
        );
    };
    for k in 0..=n {
        let x = k as f64 * length;
        link(format!("v{k}"), crank, 1.0, [x + 0.5 * sin, 0.5 * cos], angle, 0.5);
        if k < n {
            link(format!("h{k}"), coupler, length, [x + 0.5 * length + sin, cos], 0.0, 1.0);
        }
    }
    let mut hinge = |name: String, [a, b]: [String; 2], [x, y]: [f64; 2]| {
        text += &format!(
            "[[joint]]\nname = {name:?}\ntype = \"revolute\"\nbodies = [{a:?}, {b:?}]\n\
             anchor = [{x}, {y}, 0]\naxis = [0, 0, 1]\n"
        );
    };
    for k in 0..=n {
        let x = k as f64 * length;
        hinge(format!("A{k}"), ["world".into(), format!("v{k}")], [x, 0.0]);
        if k < n {
            hinge(format!("B{k}"), [format!("v{k}"), format!("h{k}")], [x + sin, cos]);
        }
        if k > 0 {
            hinge(format!("C{k}"), [format!("h{}", k - 1), format!("v{k}")], [x + sin, cos]);
        }
    }
    text
}

/// Steps that begin within 2e-4 rad of the fold, of 5 ms. What the links had gone beside their branch was
/// closed within nanoseconds: the first left with 232 J of 27, the others lost half, and all steps were
/// solved.
#[test]
fn parallelograms_that_a_step_leaves_at_their_fold_keep_their_energy() {
    for (n, start, links, t_end) in [
        (1, [0.08368175851110658, 3.0], [1.0, 1.0, 1.0], 2.0),
        (3, [0.5723632574436399, 6.0], [0.5, 1.0, 1.0], 3.0),
        (2, [0.12586018259149134, 1.0], [2.0, 1e-3, 1.0], 1.0),
        (2, [0.11654403785616463, 6.0], [2.0, 10.0, 1.0], 5.0),
    ] {
        let text = parallelograms(n, start, links);
        let (stepper, sum, change) = run(&text, 5e-3, t_end);
        let (given, state) = world(&text);
        let start = energy(&given, &state);
        // The scheme's own error is of second order: (ωh)²/12 with 8 rad/s.
        assert!(change.abs() < 1e-3 * start, "{n} of {start} J: {change} J");
        // The rest is what weights do in the two solves beside the way.
        assert!((change - sum.energy.joints).abs() < 5e-4 * start, "{change} {}", sum.energy.joints);
        assert!(sum.joint_error < 1e-6, "{}", sum.joint_error);
        let spin = |name: &str| stepper.state().bodies[place(stepper.world(), name)].angular_velocity.z;
        assert!((spin("v0") - spin("v1")).abs() < 1e-3 * spin("v0").abs());
    }
}

/// Two balls on a damped spring that rotate freely about their middle, the spring stretched by as much as
/// they pull: nothing is ever damped, and length and energy stay.
#[test]
fn a_damper_that_rotates_with_its_bodies_does_nothing() {
    let (k, d, omega) = (1e3, 1e2, 4.0);
    let rest = 1.0 - 0.5 * omega * omega / k;
    let body = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = {name:?}\nmass = 1\ninertia = [0.01, 0.01, 0.01]\nposition = [{x}, 0, 0]\n\
             velocity = [0, {}, 0]\nangular_velocity = [0, 0, {omega}]\n",
            omega * x
        )
    };
    let text = format!(
        "[world]\ngravity = [0, 0, 0]\n{}{}[[joint]]\nname = \"spring\"\ntype = \"rope\"\nbodies = [\"a\", \"b\"]\n\
         anchors = [[-0.5, 0, 0], [0.5, 0, 0]]\nlength = 5\n\
         spring = {{ stiffness = {k}, rest = {rest}, damping = {d} }}\n",
        body("a", -0.5),
        body("b", 0.5)
    );
    let mut lengths = [0.0; 2];
    for (error, dt) in lengths.iter_mut().zip([2e-3, 1e-3]) {
        let (stepper, sum, change) = run(&text, dt, 1.0);
        let [a, b] =
            ["a", "b"].map(|name| stepper.state().bodies[place(stepper.world(), name)].pose.position);
        *error = (b.distance(a) - 1.0).abs();
        // 16 J rotate; an error of the velocity of first order, ½ h ω² d per unit of length, would give or
        // take some of them each second.
        assert!(change.abs() < 1e-3 && sum.energy.dampers.abs() < 1e-3, "dt = {dt}: {change}");
    }
    // Of second order, within what the solves leave.
    assert!(lengths[0] < 1e-4 && lengths[1] < 0.3 * lengths[0] + 1e-9, "{lengths:?}");
}

/// A double pendulum at 4000 rad/s turns by 400 radians in a step of 0.1 s: more substeps than are made. The
/// run ends with the reason, in a state that has no more energy than the start; steps of 1e-4 s follow it.
#[test]
fn a_run_whose_joints_give_energy_however_short_its_substeps_ends_there() {
    let body = |name: &str, x: f64, v: f64, omega: f64| {
        format!(
            "[[body]]\nname = {name:?}\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [{x}, 0, 0]\n\
             velocity = [0, 0, {v}]\nangular_velocity = [0, {omega}, 0]\n"
        )
    };
    let hinge = |name: &str, [a, b]: [&str; 2], x: f64| {
        format!(
            "[[joint]]\nname = {name:?}\ntype = \"revolute\"\nbodies = [{a:?}, {b:?}]\nanchor = [{x}, 0, 0]\n\
             axis = [0, 1, 0]\n"
        )
    };
    let text = [
        "[world]\ngravity = [0, 0, 0]\n",
        &body("a", 0.5, -2000.0, 4000.0),
        &body("b", 1.5, -4000.0, 0.0),
        &hinge("j", ["world", "a"], 0.0),
        &hinge("k", ["a", "b"], 1.0),
    ]
    .concat();
    for (dt, ends) in [(0.1, true), (1e-4, false)] {
        let (world, state) = world(&text);
        let start = energy(&world, &state);
        let options = StepOptions { dt, ..StepOptions::default() };
        let mut stepper = Stepper::new(&world, state, options).unwrap();
        let mut contacts = ContactEvents::new(&stepper);
        let ended = run_until(&mut stepper, 0.1, &mut StepLength::Fixed(dt), &mut contacts, |_| {
            ControlFlow::<()>::Continue(())
        });
        match ended {
            Err(RunError::JointEnergy { t, gained }) if ends => assert!(t == 0.0 && gained > 1e-2 * start),
            Ok(ControlFlow::Continue(())) if !ends => {}
            other => panic!("dt = {dt}: {other:?}"),
        }
        let (t, left) = (stepper.state().t, energy(&world, stepper.state()) - start);
        // Nothing of the step that ends it is taken.
        assert!(if ends { t == 0.0 && left == 0.0 } else { t >= 0.1 - 1e-9 }, "dt = {dt}, t = {t}: {left}");
        assert!(left.abs() < 1e-2 * start, "{left} of {start}");
    }
}

/// Dropped from the height d, a ball rests after √(2d/g) (1 + e)/(1 − e), whatever the step.
#[test]
fn rebounds_end_where_their_sum_does_for_steps_of_any_length() {
    for (e, d) in [(0.5, 1.0), (0.9, 0.1), (0.7, 0.02)] {
        let text = on_floor(&[&sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1 + d], [0.0; 3]), &surfaces(0.0, e)]);
        let end = (2.0_f64 * d / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
        for dt in [1e-2, 1e-3, 1e-4] {
            let (stepper, sum, change) = run(&text, dt, end + 0.2);
            assert_eq!(sum.ends.len(), 1, "e = {e}, dt = {dt}: {:?}", sum.ends);
            // A rebound is found where its gap is 1e-10 m: at the speed of the last ones, 1e-3 m/s, to 1e-7
            // s.
            assert!((sum.ends[0] - end).abs() < 1e-5, "e = {e}, dt = {dt}: {} for {end}", sum.ends[0]);
            let ball = &stepper.state().bodies[1];
            assert!(ball.velocity.length() < 1e-9 && sum.impacts < 100, "{} {}", ball.velocity, sum.impacts);
            // All of m g d is taken, but for the last rebounds. They arrive with up to u, the larger of a
            // tenth of g dt and the speed of a fall of 1e-7 m, and the weight has a work of up to g dt u
            // beside them.
            let left = change + sum.energy.impacts - sum.created;
            let u = (0.1 * 9.81 * dt).max((2.0_f64 * 9.81 * 1e-7).sqrt());
            let last = u * u + 9.81 * dt * u;
            assert!((change + 9.81 * d).abs() < 1e-9 && left.abs() < last, "{change} {left} {last}");
        }
    }
}

/// The last rebound may end a step with a gap that counts as touching, and the next begins with it: also then
/// the end is reported, once.
#[test]
fn rebounds_end_wherever_in_a_step_the_last_one_is_seen() {
    for (e, d) in [(0.85, 0.26), (0.52, 0.07), (0.7, 0.38)] {
        let text = on_floor(&[&sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1 + d], [0.0; 3]), &surfaces(0.0, e)]);
        let end = (2.0_f64 * d / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
        for k in 0..16 {
            let dt = 2e-3 * 1.09_f64.powi(k);
            let (_, sum, _) = run(&text, dt, end + 0.1);
            assert_eq!(sum.ends.len(), 1, "e = {e}, dt = {dt}: {:?}", sum.ends);
            assert!((sum.ends[0] - end).abs() < 1e-5, "e = {e}, dt = {dt}: {} for {end}", sum.ends[0]);
        }
    }
}

/// A body that turns, as text.
fn turning_body(name: &str, shape: &str, mass: f64, motion: [[f64; 3]; 3], orientation: [f64; 4]) -> String {
    let [position, velocity, omega] = motion;
    format!(
        "[[body]]\nname = {name:?}\nmass = {mass:?}\nposition = {position:?}\norientation = {orientation:?}\n\
         velocity = {velocity:?}\nangular_velocity = {omega:?}\n[[body.shape]]\n{shape}\n"
    )
}

/// Rods that hit a plate without loss at 70 to 250 m/s: an end rebounds, then the other, and the first once
/// more, in steps in which all three are one and in steps in which they are not.
#[test]
fn rods_that_rebound_with_both_ends_in_one_step_keep_their_energy() {
    let plate = "[[body]]\nname = \"plate\"\nfixed = true\n[[body.shape]]\ntype = \"box\"\n\
        half_extents = [1, 1, 0.002]\n";
    let rods = [
        (
            "type = \"capsule\"\nradius = 0.01\nhalf_height = 0.29184951",
            [[-0.70020337, -0.00177201, 1.34717101], [41.18843372, 0.10423611, -58.65711846]],
            [-37.89694082, -10.43786174, 39.59324081],
            [0.01161387, 0.78404403, -0.56543621, 0.25577719],
            0.05,
        ),
        (
            "type = \"capsule\"\nradius = 0.01\nhalf_height = 0.27972893",
            [[-0.51931011, 0.15238823, 3.31250972], [30.54765354, -8.96401368, -174.26527752]],
            [22.76355207, 15.78441316, 17.40758609],
            [0.42378499, -0.12170141, -0.77527563, -0.45226402],
            0.04,
        ),
        (
            "type = \"cylinder\"\nradius = 0.005\nhalf_height = 0.20542238",
            [[0.01112707, 0.11876201, 0.63764724], [-6.54533570, -69.86000691, -169.20425802]],
            [-51.58905341, 40.63820273, -5.14827940],
            [0.42544076, 0.20883867, -0.86126240, 0.18334028],
            0.01,
        ),
    ];
    for (shape, [position, velocity], omega, [w, x, y, z], t_end) in rods {
        let size = f64::sqrt(w * w + x * x + y * y + z * z);
        let orientation = [w, x, y, z].map(|q| q / size);
        let rod = turning_body("rod", shape, 0.1, [position, velocity, omega], orientation);
        let text = ["[world]\ngravity = [0, 0, 0]\n", plate, &rod, &surfaces(0.0, 1.0)].concat();
        for dt in [1e-2, 3e-3, 1e-3, 3e-4] {
            let (stepper, sum, change) = run(&text, dt, t_end);
            let end = energy(stepper.world(), stepper.state());
            // Each of three rebounds may give a millionth.
            assert!(change.abs() < 4e-6 * end, "dt = {dt}: {change} of {end}");
            assert!(sum.created.abs() < 4e-6 * end, "{}", sum.created);
            // Away from the plate.
            assert!(stepper.state().bodies[1].velocity.z > 0.0);
        }
    }
}

/// Three boxes that hit each other without loss while they turn by up to a tenth of a radian a step: the
/// error of a free rotation, which comes and goes, was kept by each impact.
#[test]
fn boxes_that_turn_and_hit_each_other_gain_no_energy() {
    let boxes = [
        (
            "type = \"box\"\nhalf_extents = [0.02, 0.1, 0.2]",
            1.0,
            [[-0.9, 0.0125, 1.0292], [0.6777, -0.193, 0.1888], [-2.739, 5.221, -7.252]],
            [-0.441_911_5, -0.864_540_4, -0.159_662_2, 0.178_303_4],
        ),
        (
            "type = \"box\"\nhalf_extents = [0.1, 0.2, 0.2]",
            0.1,
            [[0.0, -0.04, 1.0432], [-0.1455, -0.1076, -0.2997], [-0.3425, 4.5358, -2.1428]],
            [0.369_869_5, -0.422_457, 0.719_132_2, -0.409_36],
        ),
        (
            "type = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]",
            1.0,
            [[0.9, 0.0306, 0.9958], [-1.8498, -0.1214, 0.1073], [5.5637, 4.1985, -0.4944]],
            [0.087_095_9, 0.954_411_7, -0.091_000_6, -0.270_613_2],
        ),
    ];
    let bodies: Vec<String> = boxes
        .iter()
        .enumerate()
        .map(|(k, (shape, mass, motion, q))| {
            let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            turning_body(&format!("b{k}"), shape, *mass, *motion, q.map(|x| x / size))
        })
        .collect();
    let text = ["[world]\ngravity = [0, 0, 0]\n", &bodies.concat(), &surfaces(0.0, 1.0)].concat();
    let (stepper, sum, change) = run(&text, 1e-2, 1.0);
    let end = energy(stepper.world(), stepper.state());
    // Each of four rebounds may give a millionth; with three rotations a step they gained 1.7e-5.
    assert!(sum.impacts >= 3 && change.abs() < 4e-6 * end, "{} impacts, {change} of {end}", sum.impacts);
}

/// What lands without rebound inside of a step loses all that it has, ½mv² + mg gap in that step, and nothing
/// is left over: a ball on the floor, a ball on a block at rest, two balls on a rod, one after the other.
#[test]
fn what_lands_inside_of_a_step_leaves_nothing_over() {
    let block = "[[body]]\nname = \"block\"\nmass = 3\nposition = [0, 0, 0.1]\n[[body.shape]]\ntype = \"box\"\n\
        half_extents = [0.2, 0.2, 0.1]\n";
    let ball = |z: f64| sphere("ball", 2.0, 0.1, [0.0, 0.0, z], [0.0; 3]);
    let rod =
        "[[joint]]\nname = \"rod\"\ntype = \"fixed\"\nbodies = [\"ball\", \"other\"]\nanchor = [0, 0, 0]\n";
    let pair = [&ball(0.4), &sphere("other", 1.0, 0.1, [0.5, 0.0, 0.55], [0.0; 3])[..], rod].concat();
    let (fall, g) = (0.3, 9.81);
    for dt in [1e-2, 3e-3, 1e-3] {
        let cases = [ball(0.1 + fall), [block, &ball(0.3 + fall)].concat()];
        for (case, text) in cases.iter().enumerate() {
            let (_, sum, change) = run(&on_floor(&[text, &surfaces(0.5, 0.0)]), dt, 0.5);
            assert!((change + 2.0 * g * fall).abs() < 1e-8, "{case}, dt = {dt}: {change}");
            let left = change - sum.energy.balance() - sum.created;
            // Solves have a residual of 1e-10 in impulses of some N s.
            assert!(left.abs() < 1e-8 && sum.created == 0.0, "{case}, dt = {dt}: {left:e} {:?}", sum.energy);
            assert!(
                (sum.energy.impacts - 2.0 * g * fall).abs() < 1e-8,
                "{case}, dt = {dt}: {:?}",
                sum.energy
            );
        }
        let (_, sum, change) = run(&on_floor(&[&pair, &surfaces(0.5, 0.0)]), dt, 0.5);
        let left = change - sum.energy.balance() - sum.created;
        // The joint turns with the bodies: third order in smooth motion, and of first where one lands.
        assert!(left.abs() < 1e-3 * -change, "dt = {dt}: {left:e} of {change} {:?}", sum.energy);
    }
}

/// A ball on a guide falls on a floor, with a spring, a damper or friction in the guide that act in the steps
/// in which it hits: what each takes is its own, whatever the impact does beside it.
#[test]
fn springs_dampers_and_friction_beside_an_impact_take_their_own_part() {
    let (g, m, fall) = (9.81, 2.0, 0.3);
    let ball = sphere("ball", m, 0.1, [0.0, 0.0, 0.1 + fall], [0.0; 3]);
    let guide = "[[joint]]\nname = \"guide\"\ntype = \"prismatic\"\nbodies = [\"world\", \"ball\"]\n\
        anchor = [0, 0, 0]\naxis = [0, 0, 1]\n";
    // The spring ends at its rest length on the floor.
    let spring = "spring = { stiffness = 500, rest = -0.3 }\n";
    let damper = "spring = { stiffness = 0, damping = 5 }\n";
    let damped = "spring = { stiffness = 500, rest = -0.3, damping = 5 }\n";
    let friction = "friction = { force = 3 }\n";
    for (what, taken_by_guide) in [(spring, false), (damper, true), (damped, true), (friction, true)] {
        for (dt, e) in [(1e-2, 0.0), (3e-3, 0.0), (1e-2, 0.5), (3e-3, 0.5), (1e-2, 1.0), (1e-3, 1.0)] {
            let text = on_floor(&[&ball, guide, what, &surfaces(0.0, e)]);
            let (world, state) = world(&text);
            let before = energy(&world, &state);
            let mut stepper =
                Stepper::new(world, state, StepOptions { dt, ..StepOptions::default() }).unwrap();
            let mut sum = Sum::default();
            while stepper.state().t < 0.4 {
                let report = stepper.step().unwrap();
                let EnergyAccount { friction, impacts, dampers, .. } = report.energy;
                // What an elastic impact takes is the error of the speed of arrival.
                let least = friction.min(dampers).min(impacts);
                assert!(least > -1e-6, "{what}{dt} {e} {}: {:?}", stepper.state().t, report.energy);
                sum.add(&report);
            }
            let change = energy(stepper.world(), stepper.state()) - before;
            let left = change - sum.energy.balance() - sum.created;
            let all = m * g * fall + if what.contains("500") { 0.5 * 500.0 * fall * fall } else { 0.0 };
            let guided = sum.energy.dampers + sum.energy.friction;
            assert!(taken_by_guide || guided == 0.0);
            if e == 0.0 {
                assert!(
                    (sum.energy.impacts + guided - all).abs() < 1e-3 * all,
                    "{what}{dt}: {:?}",
                    sum.energy
                );
            }
            assert!(left.abs() < 1e-3 * all && sum.created < 1e-3 * all, "{what}{dt} {e}: {left:e}");
        }
    }
}

/// Friction alone stops a block: all that it has is taken, and nothing is left over.
#[test]
fn friction_takes_what_a_block_has() {
    let block = "[[body]]\nname = \"block\"\nmass = 2\nposition = [0, 0, 0.1]\nvelocity = [1, 0.5, 0]\n\
        [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]\n";
    let (_, sum, change) = run(&on_floor(&[block, &surfaces(0.5, 0.0)]), 1e-3, 0.5);
    // ½ m v² = 1.25 J; the last step is part friction, part rest.
    assert!((change + 1.25).abs() < 1e-9, "{change}");
    assert!((sum.energy.friction - 1.25).abs() < 1e-5 && sum.energy.impacts == 0.0, "{:?}", sum.energy);
    assert!(sum.created == 0.0 && sum.energy.supplied == 0.0 && sum.energy.dampers == 0.0);
}

/// A motor lifts 1 kg by half a metre and takes it to its speed: m g z + ½ m v².
#[test]
fn a_motor_supplies_what_a_load_gains() {
    let text = "[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"load\"\nmass = 1\ninertia = [1, 1, 1]\n\
        [[joint]]\nname = \"lift\"\ntype = \"prismatic\"\nbodies = [\"world\", \"load\"]\nanchor = [0, 0, 0]\n\
        axis = [0, 0, 1]\nmotor = { speed = 0.5, force = 100 }\n";
    let (stepper, sum, change) = run(text, 1e-3, 1.0);
    let load = &stepper.state().bodies[place(stepper.world(), "load")];
    assert!((load.velocity.z - 0.5).abs() < 1e-9, "{}", load.velocity);
    // The first steps, in which it takes its speed, are of first order.
    assert!((sum.energy.supplied - change).abs() < 1e-2 * change, "{:?} {change}", sum.energy);
}

/// On a table that rotates with Ω a ball rolls in a circle: its velocity rotates with 2Ω/7.
#[test]
fn a_ball_on_a_turntable_rolls_in_its_circle_to_second_order() {
    let (omega, radius) = (3.0, 0.5);
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"table\"\nmass = 1\ninertia = [1, 1, 1]\n\
         angular_velocity = [0, 0, {omega}]\n[[body.shape]]\ntype = \"plane\"\n[[joint]]\nname = \"axle\"\n\
         type = \"revolute\"\nbodies = [\"world\", \"table\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\ndrive = \"{omega}*t\"\n{}{}",
        sphere("ball", 1.0, 0.1, [radius, 0.0, 0.1], [0.0, omega * radius, 0.0]),
        surfaces(2.0, 0.0)
    );
    let t = 1.0;
    let rate = 2.0 * omega / 7.0;
    // ∫ v with v = Ω r (−sin(2Ωt/7), cos(2Ωt/7)).
    let (s, c) = f64::sin_cos(rate * t);
    let path = DVec3::new(c - 1.0, s, 0.0) * (omega * radius / rate);
    let error = |dt: f64| {
        let (stepper, _, _) = run(&text, dt, t);
        let ball = &stepper.state().bodies[place(stepper.world(), "ball")];
        (ball.pose.position - DVec3::new(radius, 0.0, 0.1) - path).length()
    };
    let [coarse, fine] = [4e-3, 2e-3].map(error);
    assert!((3.5..4.5).contains(&(coarse / fine)) && fine < 1e-4, "{coarse:e} {fine:e}");
}

/// A tilted coin that rolls in a circle, and a tripod that slides and spins: errors against steps an eighth
/// as long fall by four with steps half as long, and the coin keeps its energy.
#[test]
fn rolling_and_sliding_with_spin_are_of_second_order() {
    let coin = "[[body]]\nname = \"body\"\nmass = 1\ninertia = [0.0025, 0.0025, 0.005]\n\
        position = [0.09655196556944874, 0, 0.08660754037844387]\neuler_deg = [0, 60, 0]\n\
        velocity = [0, 0.5793117934166925, 0]\nangular_velocity = [-7.615063509461099, 0, 1.6034410329165372]\n\
        [[body.shape]]\ntype = \"cylinder\"\nradius = 0.1\nhalf_height = 1e-5\n";
    let foot = |x: f64, y: f64| {
        format!("[[body.shape]]\ntype = \"sphere\"\nradius = 0.02\nposition = [{x}, {y}, -0.03]\n")
    };
    let tripod = [
        "[[body]]\nname = \"body\"\nmass = 1\ninertia = [0.004, 0.005, 0.008]\nposition = [0, 0, 0.05]\n\
         velocity = [1, 0.3, 0]\nangular_velocity = [0, 0, 8]\n",
        &foot(0.1, 0.0),
        &foot(-0.05, 0.08),
        &foot(-0.05, -0.08),
    ]
    .concat();
    for (body, mu, dissipates) in [(coin, 2.0, false), (&tripod, 0.2, true)] {
        let text = on_floor(&[body, &surfaces(mu, 0.0)]);
        let end = |dt: f64| {
            let (stepper, sum, change) = run(&text, dt, 0.3);
            let left = change + sum.energy.friction;
            assert!(left.abs() < 1e-4 && (dissipates || change.abs() < 1e-4), "dt = {dt}: {change} {left}");
            stepper.state().bodies[1].pose.position
        };
        let exact = end(2.5e-4);
        let [coarse, fine] = [4e-3, 2e-3].map(|dt| (end(dt) - exact).length());
        assert!((3.5..4.6).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    }
}

/// Without sliding friction, rolling friction stops the spin of a ball and not its flight: ω̇ = −ρ m g/I.
#[test]
fn rolling_friction_acts_without_sliding_friction() {
    let rolling = 0.005;
    let text = on_floor(&[
        "[[body]]\nname = \"ball\"\nmass = 1\nposition = [0, 0, 0.1]\nvelocity = [1, 0, 0]\n\
         angular_velocity = [0, 10, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n",
        &format!("[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0\nrolling = {rolling}\n"),
    ]);
    let (stepper, sum, change) = run(&text, 1e-3, 0.5);
    let ball = &stepper.state().bodies[1];
    let spin = 10.0 - rolling * 9.81 / (0.4 * 0.01) * 0.5;
    assert!((ball.world_angular_velocity().y - spin).abs() < 1e-9, "{}", ball.world_angular_velocity());
    assert!((ball.velocity.x - 1.0).abs() < 1e-12);
    assert!((change + sum.energy.friction).abs() < 1e-9, "{change} {:?}", sum.energy);
}
