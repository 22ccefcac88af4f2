//! Worlds from MJCF.

use std::f64::consts::PI;

use delassus::stepping::{StepOptions, Stepper};
use delassus::world::{
    ActionKind, Coordinate, JointKind, ShapeKind, World, check_world, energy, joint_coordinate, joint_values,
    mobility,
};
use delassus_scene::{Imported, read_xml};
use delassus_solve::problem::Status;
use glam::DVec3;
use proptest::prelude::*;

use crate::support::each_part_is_refused;

fn read(text: &str) -> Imported {
    read_xml(text, None).unwrap_or_else(|e| panic!("{}", e.render("test.xml", text)))
}

fn body(world: &World, name: &str) -> usize {
    world.bodies.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no body {name}"))
}

/// Steps to a time; every step must be solved.
fn run(stepper: &mut Stepper, t_end: f64) {
    while stepper.state().t < t_end - 0.5 * stepper.options().dt {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "t = {}", stepper.state().t);
    }
}

#[test]
fn a_pendulum_swings_with_its_period() {
    let text = r#"<mujoco model="pendulum">
      <option gravity="0 0 -10" timestep="0.001"/>
      <worldbody>
        <body name="arm" euler="0 1 0">
          <joint name="pin" type="hinge" axis="0 1 0"/>
          <geom type="cylinder" fromto="0 0 0 0 0 -1" size="0.01" mass="2"/>
        </body>
      </worldbody>
    </mujoco>"#;
    let Imported { file, not_read } = read(text);
    assert!(not_read.is_empty(), "{not_read:?}");
    assert_eq!((file.world.name.as_str(), file.simulation.dt), ("pendulum", Some(0.001)));
    assert_eq!(file.world.gravity, DVec3::new(0.0, 0.0, -10.0));
    let arm = &file.world.bodies[1];
    // A rod about its end: m l²/3, a hair more for its radius.
    let (m, l, r) = (2.0, 1.0, 0.01);
    let about_pin = m * (l * l / 12.0 + r * r / 4.0) + m * l * l / 4.0;
    assert!((arm.mass - m).abs() < 1e-14 && (arm.inertia.x - (about_pin - m * l * l / 4.0)).abs() < 1e-14);
    let period = 2.0 * PI * (about_pin / (m * 10.0 * l / 2.0)).sqrt();
    // One degree: the period is longer by (1°)²/16 = 2e-5 of it; a second-order step adds 1e-7.
    let mut stepper = Stepper::new(
        &file.world,
        file.state.clone(),
        StepOptions { dt: period / 2000.0, ..StepOptions::default() },
    )
    .unwrap();
    run(&mut stepper, period / 2.0);
    let [angle, _] = joint_coordinate(&file.world, stepper.state(), 0).unwrap();
    // The coordinate counts from the position of the file: −2° at the other side.
    assert!((angle + 2_f64.to_radians()).abs() < 1e-8, "{angle}");
}

#[test]
fn a_box_on_a_plane_slides_as_its_friction_says() {
    let text = r#"<mujoco>
      <default><geom friction="0.3 0 0"/></default>
      <worldbody>
        <geom name="floor" type="plane" size="0 0 1"/>
        <body name="crate" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1"/></body>
      </worldbody>
    </mujoco>"#;
    let Imported { mut file, not_read } = read(text);
    assert!(not_read.is_empty(), "{not_read:?}");
    assert_eq!(file.world.surface(0, 1).mu, 0.3);
    // Density of water: 0.4 · 0.4 · 0.2 m³.
    assert!((file.world.bodies[1].mass - 32.0).abs() < 1e-12);
    file.state.bodies[1].velocity = DVec3::X;
    let mut stepper = Stepper::new(&file.world, file.state.clone(), StepOptions::default()).unwrap();
    run(&mut stepper, 0.5);
    let s = stepper.state().bodies[1];
    // v²/2μg; the last step ends between two moments: half a step of the first order at the stop.
    assert!((s.pose.position.x - 1.0 / (2.0 * 0.3 * 9.81)).abs() < 1e-6, "{}", s.pose.position.x);
    assert!(s.velocity.length() < 1e-9, "{}", s.velocity);
}

/// Two legs on hips of three hinges, knees, feet that are part of the shins, arms on universal joints.
const HUMANOID: &str = r#"<mujoco model="humanoid">
  <compiler angle="degree" inertiafromgeom="true"/>
  <default>
    <joint damping="0.2" limited="true"/>
    <geom density="1000" friction="0.7 .1 .1"/>
    <default class="limb">
      <geom type="capsule"/>
      <default class="thin"><geom size="0.03"/></default>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="torso" pos="0 0 1.4" childclass="limb">
      <freejoint name="root"/>
      <geom name="torso" type="sphere" size="0.15"/>
      <body name="right_thigh" pos="0 -0.1 -0.2">
        <joint name="right_hip_x" axis="1 0 0" range="-25 5"/>
        <joint name="right_hip_z" axis="0 0 1" range="-60 35"/>
        <joint name="right_hip_y" axis="0 1 0" range="-110 20" stiffness="2" springref="-20"/>
        <geom fromto="0 0 0 0 0.01 -0.34" size="0.06"/>
        <body name="right_shin" pos="0 0.01 -0.403">
          <joint name="right_knee" pos="0 0 0.02" axis="0 -1 0" range="-160 -2" ref="-2" frictionloss="0.1"/>
          <geom fromto="0 0 0 0 0 -0.3" size="0.049"/>
          <body name="right_foot" pos="0 0 -0.39"><geom type="sphere" size="0.075" pos="0 0 0.1"/></body>
        </body>
      </body>
      <body name="right_arm" pos="0 -0.17 0.06">
        <joint name="right_shoulder1" axis="2 1 1" range="-85 60"/>
        <joint name="right_shoulder2" axis="0 -1 1" range="-85 60"/>
        <geom class="thin" fromto="0 0 0 .16 -.16 -.16"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="torso" body2="right_shin"/></contact>
  <actuator>
    <motor name="knee" joint="right_knee" gear="80" ctrlrange="-1 1"/>
    <position joint="right_hip_y" kp="5" kv="0.5" gear="2"/>
  </actuator>
  <sensor><jointpos joint="right_knee"/></sensor>
</mujoco>
"#;

#[test]
fn a_humanoid_is_a_tree() {
    let Imported { file, not_read } = read(HUMANOID);
    let (world, state) = (&file.world, &file.state);
    assert_eq!(not_read.len(), 1, "{not_read:?}");
    assert!(not_read[0].starts_with("<motor>: without a control"), "{not_read:?}");
    let names: Vec<&str> = world.bodies.iter().map(|b| b.name.as_str()).collect();
    let wanted = ["world", "torso", "right_thigh", "right_shin", "right_arm"];
    assert_eq!(names, wanted);
    // 6 of the torso, 3 of the hip, 1 of the knee, 2 of the shoulder.
    assert_eq!(mobility(world, state).degrees_of_freedom, 12);
    assert_eq!(mobility(world, state).redundant, 0);
    // All the mass there is: balls and capsules.
    let ball = |r: f64| 4.0 / 3.0 * PI * r.powi(3) * 1000.0;
    let capsule = |r: f64, l: f64| ball(r) + PI * r * r * l * 1000.0;
    let thigh = capsule(0.06, (0.34_f64 * 0.34 + 1e-4).sqrt());
    let expected =
        ball(0.15) + thigh + capsule(0.049, 0.3) + ball(0.075) + capsule(0.03, 3_f64.sqrt() * 0.16);
    let mass: f64 = world.bodies.iter().map(|b| b.mass).sum();
    assert!((mass - expected).abs() < 1e-12 * mass, "{mass} {expected}");
    // The foot is part of the shin.
    assert_eq!(world.bodies[3].shapes.len(), 2);
    let joint =
        |name: &str| world.joints.iter().find(|j| j.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(matches!(joint("right_shoulder1+right_shoulder2").kind, JointKind::Universal));
    let hip = joint("right_hip_x+right_hip_z+right_hip_y");
    assert!(matches!(hip.kind, JointKind::Ball));
    // The third axis is against x × z: its angles are those of ours with the other sign.
    let [.., limits, spring, servo] = &hip.actions[..] else { panic!("{:?}", hip.actions) };
    let degrees = |x: f64, y: f64| (x - y.to_radians()).abs() < 1e-15;
    assert!(
        matches!(limits.kind, ActionKind::Limits { lower, upper, .. } if degrees(lower, -20.0) && degrees(upper, 110.0))
    );
    assert!(
        matches!(spring.kind, ActionKind::Spring { stiffness: 2.0, damping: 0.2, rest } if degrees(rest, 20.0))
    );
    // kp and kv times the square of the gear.
    assert!(
        matches!(&servo.kind, ActionKind::Servo(s) if [s.stiffness, s.damping, s.offset] == [20.0, 2.0, 0.0]),
        "{servo:?}"
    );
    // Drawn with the knee at −2°: the coordinate of ours is zero there.
    let knee = joint("right_knee");
    assert!(matches!(knee.actions[0].kind, ActionKind::Limits { upper: 0.0, .. }));
    assert_eq!(knee.friction.map(|f| f.moment), Some(0.1));
    let pair = |a: &str, b: &str| {
        let [a, b] = [body(world, a), body(world, b)];
        world.no_contact.contains(&[a.min(b), a.max(b)])
    };
    assert!(pair("torso", "right_shin") && pair("torso", "right_thigh") && pair("right_thigh", "right_shin"));
    assert!(!pair("world", "torso") && !pair("right_shin", "right_arm"));
    let mut g = Vec::new();
    joint_values(world, state, &mut g);
    // 3 rows of the hip, 5 of the knee, 4 of the shoulder.
    assert!(g.iter().take(12).all(|x| x.abs() < 1e-12), "{g:?}");
    let mut stepper = Stepper::new(world, state.clone(), StepOptions::default()).unwrap();
    let before = energy(world, state);
    for _ in 0..300 {
        let report = stepper.step().unwrap();
        assert!(
            report.status == Status::Solved && report.joint_error < 1e-9 && report.penetration < 1e-9,
            "{report:?}"
        );
    }
    // Dampers, friction, limits and the floor take energy.
    assert!(energy(world, stepper.state()) < before);
}

#[test]
fn a_universal_joint_has_the_angles_of_its_hinges() {
    // The second hinge turns with the first: R = R(a₁, θ₁) R(a₂, θ₂).
    let text = r#"<mujoco><worldbody><body name="b" pos="1 2 3" euler="10 20 30">
      <joint name="one" axis="0 1 0" pos="0.1 0 0"/><joint name="two" axis="0 0 -1" pos="0.1 0 0"/>
      <geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"#;
    let Imported { file, .. } = read(text);
    let (world, mut state) = (file.world, file.state);
    let joint = &world.joints[0];
    assert!(matches!(joint.kind, JointKind::Universal));
    let start = state.bodies[1].pose.compose(&world.bodies[1].frame);
    let (one, two) = (0.3, -0.7);
    let turn = glam::DQuat::from_axis_angle(DVec3::Y, one) * glam::DQuat::from_axis_angle(-DVec3::Z, two);
    let pin = DVec3::new(0.1, 0.0, 0.0);
    let moved = delassus::world::Pose {
        position: start.point(pin) - start.rotation * (turn * pin),
        rotation: start.rotation * turn,
    };
    state.bodies[1].pose = moved.compose(&world.bodies[1].frame.inverse());
    let mut g = Vec::new();
    joint_values(&world, &state, &mut g);
    assert!(g.iter().all(|x| x.abs() < 1e-14), "closed: {g:?}");
    let [angle, _] = joint_coordinate(&world, &state, 0).unwrap();
    assert!((angle - one).abs() < 1e-14, "{angle}");
}

#[test]
fn three_hinges_have_their_angles_one_after_the_other() {
    // R = R(a₁, θ₁) R(a₂, θ₂) R(a₃, θ₃), for both hands of the three axes; limits tell the angles.
    for axes in [["0 0 1", "1 0 0", "0 1 0"], ["0 0 1", "1 0 0", "0 -1 0"]] {
        let hinges: String = axes
            .iter()
            .map(|axis| format!("<joint axis=\"{axis}\" range=\"-1 2\" pos=\"0 0.2 0\"/>"))
            .collect();
        let text = format!(
            "<mujoco><compiler angle=\"radian\"/><worldbody><body euler=\"1 2 3\">{hinges}<geom type=\"box\" \
             size=\"0.1 0.2 0.3\"/></body></worldbody></mujoco>"
        );
        let Imported { file, .. } = read(&text);
        let (world, mut state) = (file.world, file.state);
        let start = state.bodies[1].pose.compose(&world.bodies[1].frame);
        let angles = [0.3, -0.7, 0.4];
        let mut turn = glam::DQuat::IDENTITY;
        for (axis, angle) in axes.iter().zip(angles) {
            let numbers: Vec<f64> = axis.split(' ').map(|x| x.parse().unwrap()).collect();
            turn *= glam::DQuat::from_axis_angle(DVec3::from_slice(&numbers), angle);
        }
        let pin = DVec3::new(0.0, 0.2, 0.0);
        let position = start.point(pin) - start.rotation * (turn * pin);
        let moved = delassus::world::Pose { position, rotation: start.rotation * turn };
        state.bodies[1].pose = moved.compose(&world.bodies[1].frame.inverse());
        let mut g = Vec::new();
        joint_values(&world, &state, &mut g);
        assert!(g[..3].iter().all(|x| x.abs() < 1e-14), "closed: {g:?}");
        for k in 0..3 {
            // c − lower and upper − c; a coordinate against its hinge has them the other way round.
            let mut distances = [g[3 + 2 * k], g[4 + 2 * k]];
            if k == 2 && (distances[0] - (angles[k] + 1.0)).abs() > 1e-12 {
                distances.reverse();
            }
            let expected = [angles[k] + 1.0, 2.0 - angles[k]];
            assert!((0..2).all(|i| (distances[i] - expected[i]).abs() < 1e-14), "{axes:?} {k}: {g:?}");
        }
    }
}

#[test]
fn joints_of_one_body_become_one_where_one_does() {
    let world = |joints: &str| {
        let text = format!("<mujoco><worldbody><body>{joints}<geom size=\"1\"/></body></worldbody></mujoco>");
        let Imported { file, .. } = read(&text);
        let freedom = mobility(&file.world, &file.state).degrees_of_freedom;
        (format!("{:?}", file.world.joints[0].kind), freedom, file.world.joints.len())
    };
    let slide = |axis: &str| format!("<joint type=\"slide\" axis=\"{axis}\"/>");
    let hinge = |axis: &str| format!("<joint axis=\"{axis}\"/>");
    assert_eq!(world(&(slide("0 0 1") + &hinge("0 0 -2"))), ("Cylindrical".into(), 2, 1));
    assert_eq!(world(&(slide("1 0 0") + &slide("0 0 1") + &hinge("0 1 0"))), ("Planar".into(), 3, 1));
    assert_eq!(world(&(slide("1 0 0") + &slide("0 1 0") + &slide("0 0 1"))).1, 3);
    assert_eq!(world(&(slide("1 0 0") + &slide("0 1 0"))).1, 2);
    assert_eq!(world("<joint type=\"ball\"/>"), ("Ball".into(), 3, 1));
    assert_eq!(world(&(hinge("0 0 1") + &hinge("1 0 0") + &hinge("0 1 0"))), ("Ball".into(), 3, 1));
    assert_eq!(world(&(hinge("0 0 1") + &hinge("1 0 0") + &hinge("0 1 1"))).1, 3);
    // A hinge that a slide carries along has no joint of its own.
    assert_eq!(world(&(hinge("0 1 0") + &slide("1 0 0"))), ("Revolute".into(), 2, 2));
    assert_eq!(world(&(slide("1 0 0") + "<joint type=\"ball\"/>")).1, 4);
}

#[test]
fn signs_and_references_of_joints_that_became_one() {
    // x = −c + 0.5 of the slide against the hinge's axis.
    let text = r#"<mujoco><compiler angle="radian"/><worldbody><body>
      <joint name="turn" axis="0 0 1" range="-1 2" ref="0.25"/>
      <joint name="push" type="slide" axis="0 0 -1" range="0 2" ref="0.5" stiffness="3" springref="0.75"/>
      <geom size="1"/></body></worldbody></mujoco>"#;
    let Imported { file, .. } = read(text);
    let actions = &file.world.joints[0].actions;
    assert!(matches!(actions[0].kind, ActionKind::Limits { lower: -1.25, upper: 1.75, .. }), "{actions:?}");
    assert!(matches!(actions[1].kind, ActionKind::Limits { lower: -1.5, upper: 0.5, .. }), "{actions:?}");
    assert!(matches!(actions[2].kind, ActionKind::Spring { stiffness: 3.0, rest: -0.25, .. }), "{actions:?}");
    assert!(matches!(actions[2].coordinate, Coordinate::Along(_)));
}

/// A parallelogram of hinges, its last corner an equality.
const FOUR_BAR: &str = r#"<mujoco model="four-bar">
  <compiler angle="radian"/>
  <default><geom type="capsule" size="0.02" contype="0" conaffinity="0" density="800"/><joint axis="0 1 0"/></default>
  <worldbody>
    <body name="crank">
      <joint name="O"/><geom fromto="0 0 0 0 0 0.5"/>
      <body name="coupler" pos="0 0 0.5">
        <joint name="A"/><geom fromto="0 0 0 1 0 0"/>
        <body name="rocker" pos="1 0 0"><joint name="B"/><geom fromto="0 0 0 0 0 -0.5"/></body>
      </body>
    </body>
  </worldbody>
  <equality><connect name="C" body1="rocker" anchor="0 0 -0.5"/></equality>
</mujoco>
"#;

#[test]
fn a_four_bar_closes_by_an_equality_and_keeps_its_energy() {
    let Imported { mut file, not_read } = read(FOUR_BAR);
    assert!(not_read.is_empty(), "{not_read:?}");
    let found = mobility(&file.world, &file.state);
    // Three hinges and a ball: 18 − 15 − 3 = 0, and one moves: one redundant row.
    assert_eq!((found.degrees_of_freedom, found.redundant), (1, 1));
    assert!(file.world.bodies.iter().all(|b| b.shapes.is_empty()), "nothing touches");
    // The crank turns with 1 rad/s, the coupler does not turn.
    for name in ["crank", "rocker"] {
        let i = body(&file.world, name);
        let (s, foot) = (&mut file.state.bodies[i], if name == "crank" { 0.0 } else { 1.0 });
        s.angular_velocity = s.pose.local_vector(DVec3::Y);
        s.velocity = DVec3::Y.cross(s.pose.position - DVec3::X * foot);
    }
    let i = body(&file.world, "coupler");
    file.state.bodies[i].velocity = DVec3::Y.cross(DVec3::Z * 0.5);
    let start = energy(&file.world, &file.state);
    let mut stepper = Stepper::new(&file.world, file.state.clone(), StepOptions::default()).unwrap();
    for _ in 0..1000 {
        let report = stepper.step().unwrap();
        assert!(report.status == Status::Solved && report.joint_error < 1e-9, "{report:?}");
    }
    let end = energy(&file.world, stepper.state());
    assert!((end - start).abs() < 1e-4 * start.abs(), "{start} {end}");
}

#[test]
fn masses_of_geoms_have_their_closed_forms() {
    let of = |geom: &str| {
        let text = format!("<mujoco><worldbody><body><freejoint/>{geom}</body></worldbody></mujoco>");
        let body = read(&text).file.world.bodies[1].clone();
        let mut moments = body.inertia.to_array();
        moments.sort_by(f64::total_cmp);
        (body.mass, moments)
    };
    let near = |(mass, moments): (f64, [f64; 3]), m: f64, expected: [f64; 3]| {
        assert!((mass - m).abs() < 1e-12 * m, "{mass} {m}");
        for (a, b) in moments.into_iter().zip(expected) {
            assert!((a - b).abs() < 1e-12 * b, "{moments:?} {expected:?}");
        }
    };
    near(of("<geom size=\"0.5\" mass=\"3\"/>"), 3.0, [0.3; 3]);
    let m = 8.0 * 1.0 * 2.0 * 3.0 * 500.0;
    near(
        of("<geom type=\"box\" size=\"1 2 3\" density=\"500\"/>"),
        m,
        [5.0, 10.0, 13.0].map(|x| x * m / 3.0),
    );
    near(of("<geom type=\"cylinder\" size=\"0.2 0.6\" mass=\"1\"/>"), 1.0, [0.02, 0.01 + 0.12, 0.01 + 0.12]);
    // An ellipsoid that touches nothing: m/5 (b² + c²).
    let ellipsoid = "<geom type=\"ellipsoid\" size=\"1 2 3\" mass=\"5\" contype=\"0\" conaffinity=\"0\"/>";
    near(of(ellipsoid), 5.0, [5.0, 10.0, 13.0]);
    // A tetrahedron with right angles at one corner, as a mesh of corners only.
    let text = r#"<mujoco><asset><mesh name="t" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="2 2 2"/></asset><worldbody>
      <body><freejoint/><geom type="mesh" mesh="t" density="6"/></body></worldbody></mujoco>"#;
    let Imported { file, not_read } = read(text);
    assert!(not_read.is_empty(), "{not_read:?}");
    let solid = &file.world.bodies[1];
    assert!((solid.mass - 8.0).abs() < 1e-12, "{}", solid.mass);
    assert!(matches!(&solid.shapes[0].kind, ShapeKind::Convex { points } if points.len() == 4));
    assert!((file.state.bodies[1].pose.position - DVec3::splat(0.5)).length() < 1e-14);
    // ∫x² = V l²/10 and ∫xy = V l²/20 from the corner, 3/80 and −1/80 of V l² from the centre: I has 6/80 on
    // the diagonal and 1/80 beside it, in units of m l² = 32.
    let mut moments = solid.inertia.to_array();
    moments.sort_by(f64::total_cmp);
    for (found, expected) in moments.into_iter().zip([2.0, 2.0, 3.2]) {
        assert!((found - expected).abs() < 1e-13, "{moments:?}");
    }
    // An inertial overrules geoms, unless the compiler says otherwise.
    let inertial = |how: &str| {
        let text = format!(
            "<mujoco><compiler inertiafromgeom=\"{how}\"/><worldbody><body><freejoint/><inertial pos=\"0 0 1\" mass=\"7\" \
             fullinertia=\"2 2 2 0.5 0 0\"/><geom size=\"0.5\" mass=\"3\"/></body></worldbody></mujoco>"
        );
        let Imported { file, .. } = read(&text);
        (file.world.bodies[1].mass, file.world.bodies[1].inertia, file.state.bodies[1].pose.position.z)
    };
    for how in ["auto", "false"] {
        let (mass, moments, z) = inertial(how);
        let mut sorted = moments.to_array();
        sorted.sort_by(f64::total_cmp);
        assert!(
            mass == 7.0 && z == 1.0 && (sorted[0] - 1.5).abs() < 1e-14 && (sorted[2] - 2.5).abs() < 1e-14
        );
    }
    assert_eq!(inertial("true").0, 3.0);
}

#[test]
fn orientations_are_those_of_the_compiler() {
    let at = |compiler: &str, turn: &str| {
        let text = format!(
            "<mujoco><compiler {compiler}/><worldbody><body {turn}><freejoint/><geom size=\"1\"/></body></worldbody></mujoco>"
        );
        read(&text).file.state.bodies[1].pose.rotation * DVec3::X
    };
    let near = |a: DVec3, b: DVec3| assert!((a - b).length() < 1e-15, "{a} {b}");
    // About x, then about the y that came along; or about axes that stand still.
    near(at("", "euler=\"90 90 0\""), DVec3::Y);
    near(at("eulerseq=\"XYZ\"", "euler=\"90 90 0\""), -DVec3::Z);
    near(at("angle=\"radian\"", &format!("axisangle=\"0 0 2 {}\"", PI / 2.0)), DVec3::Y);
    near(at("", "quat=\"2 0 0 2\""), DVec3::Y);
    near(at("", "xyaxes=\"0 3 0 1 1 0\""), DVec3::Y);
    near(at("", "zaxis=\"1 0 0\""), -DVec3::Z);
}

/// `friction` is sliding, torsional, rolling; `condim` says which of them count.
#[test]
fn torsional_and_rolling_friction_count_by_condim() {
    for (condim, spinning, rolling) in [(3, 0.0, 0.0), (4, 0.02, 0.0), (6, 0.02, 0.003)] {
        let text = format!(
            "<mujoco><default><geom condim=\"{condim}\" friction=\"0.7 0.02 0.003\"/></default><worldbody>\
             <geom type=\"plane\" size=\"1 1 1\"/><body name=\"a\" pos=\"0 0 1\"><freejoint/><geom size=\"0.1\"/></body>\
             </worldbody></mujoco>"
        );
        let Imported { file, not_read } = read(&text);
        assert!(not_read.is_empty(), "{not_read:?}");
        let surface = file.world.surface(0, 1);
        assert_eq!((surface.mu, surface.spinning, surface.rolling), (0.7, spinning, rolling), "{condim}");
    }
}

#[test]
fn equalities_actuators_and_masks() {
    let text = r#"<mujoco><compiler angle="radian"/>
      <default><geom size="0.1"/><default class="ghost"><geom contype="2" conaffinity="4" friction="0.2"/></default></default>
      <worldbody><geom type="plane" size="1 1 1" friction="0.9" condim="1"/>
        <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="0.5"/><geom/></body>
        <body name="b" pos="1 0 1"><joint name="jb" type="slide" axis="1 0 0"/><geom class="ghost"/></body>
        <body name="c" pos="2 0 1"><joint name="jc" axis="0 1 0"/><geom friction="0.4" condim="1"/></body>
        <body name="d" pos="3 0 1"><freejoint/><geom/></body>
        <body name="table"><geom type="box" size="1 1 .1"/></body>
        <body name="m" mocap="true"><geom/></body>
      </worldbody>
      <equality><joint joint1="ja" joint2="jb" polycoef="0.1 2 0 0 0"/><joint joint1="jc" polycoef="0.3"/>
        <weld body1="d" body2="c" active="false"/><weld name="w" body1="c" body2="d" relpose="1 0 0 0 0 0 0"/></equality>
      <actuator><velocity joint="jb" kv="4" gear="-3"/><motor joint="ja" ctrlrange="1 2" gear="5"/>
        <general joint="jc" biastype="affine" gainprm="3" biasprm="0 -7 -1"/><muscle joint="ja"/></actuator>
      <keyframe><key/></keyframe></mujoco>"#;
    let Imported { file, not_read } = read(text);
    let unread = ["<weld> that is not active", "<muscle> of <actuator>", "<keyframe>"];
    assert_eq!(not_read.len(), unread.len(), "{not_read:?}");
    assert!(unread.iter().zip(&not_read).all(|(a, b)| b.starts_with(a)), "{not_read:?}");
    let world = &file.world;
    let joint =
        |name: &str| world.joints.iter().find(|j| j.name == name).unwrap_or_else(|| panic!("no {name}"));
    let coupler = joint("equality of ja");
    assert!(
        matches!(coupler.kind, JointKind::Coupler { joints: [0, 1], factors: [1.0, -2.0], offset: 0.1 }),
        "{coupler:?}"
    );
    assert!(matches!(joint("w").kind, JointKind::Fixed));
    assert!(matches!(joint("jc").actions[0].kind, ActionKind::Drive { .. }));
    let servo = |name: &str, action: usize| match &joint(name).actions[action].kind {
        ActionKind::Servo(servo) => [servo.stiffness, servo.damping, servo.push(0.0)],
        other => panic!("{other:?}"),
    };
    assert_eq!((servo("jc", 1), servo("jb", 0)), ([7.0, 1.0, 0.0], [0.0, 36.0, 0.0]));
    // The control nearest to zero is 1, times the gear.
    assert_eq!(servo("ja", 0), [0.0, 0.0, 5.0]);
    let [a, b, c, d, table] = ["a", "b", "c", "d", "table"].map(|name| body(world, name));
    // Smooth ones are smooth among themselves; otherwise the larger coefficient counts.
    assert_eq!(world.surface(0, c).mu, 0.0);
    assert_eq!(world.surface(0, a).mu, 1.0);
    assert_eq!(world.surface(c, d).mu, 1.0);
    // 2 & 1, 1 & 4: nothing in common with the others.
    assert!(world.no_contact.contains(&[a, b]) && world.no_contact.contains(&[0, b]));
    assert!(!world.no_contact.contains(&[0, a]), "a hinge to the world does not keep the floor away");
    assert!(world.bodies[table].fixed && world.bodies[body(world, "m")].fixed);
}

#[test]
fn bad_models_are_refused_with_their_line() {
    let cases = [
        ("type=\"sphere\" size=\"0.15\"", "type=\"sdf\"", 15, "plane, hfield, sphere, capsule"),
        ("type=\"sphere\" size=\"0.15\"", "type=\"hfield\"", 15, "the name of an <hfield>"),
        ("type=\"sphere\" size=\"0.15\"", "type=\"sphere\" size=\"-0.15\"", 15, "`size` of <geom> is -0.15"),
        ("type=\"sphere\" size=\"0.15\"", "", 15, "`size` of <geom> is missing"),
        ("type=\"sphere\" size=\"0.15\"", "type=\"mesh\" mesh=\"m\"", 15, "the name of a <mesh>"),
        ("type=\"sphere\" size=\"0.15\"", "type=\"plane\"", 15, "a fixed plane"),
        ("<freejoint name=\"root\"/>", "<freejoint/><joint range=\"0 1\"/>", 14, "no other joint"),
        ("<joint name=\"right_knee\"", "<freejoint/><joint name=\"right_knee\"", 22, "free"),
        ("range=\"-25 5\"", "range=\"5 -25\"", 17, "runs from 5 to -25"),
        ("range=\"-25 5\"", "range=\"5\"", 17, "two finite numbers"),
        ("range=\"-25 5\"", "", 17, "since `limited` is true"),
        ("axis=\"1 0 0\" range", "axis=\"0 0 0\" range", 17, "length zero"),
        ("<joint name=\"right_hip_z\"", "<joint name=\"right_hip_x\"", 18, "`right_hip_x` again"),
        ("body name=\"right_shin\"", "body name=\"torso\"", 21, "`torso` again"),
        ("class=\"thin\" fromto", "class=\"thn\" fromto", 30, "which is no class; perhaps `thin`"),
        ("body2=\"right_shin\"", "body2=\"right_shn\"", 34, "unknown body `right_shn`"),
        ("joint=\"right_hip_y\"", "joint=\"right_hip_w\"", 37, "no joint `right_hip_w`"),
        ("density=\"1000\"", "density=\"-1\"", 5, "`density` of <geom> is -1"),
        ("angle=\"degree\"", "coordinate=\"global\"", 2, "`coordinate` of <compiler> is `global`"),
        ("angle=\"degree\"", "eulerseq=\"xyw\"", 2, "three of x, y, z"),
        ("<sensor>", "<include file=\"other.xml\"/><sensor>", 39, "so that there is a folder"),
        (
            "<body name=\"right_arm\"",
            "<replicate count=\"0\"/><body name=\"right_arm\"",
            27,
            "how many copies",
        ),
        (
            "<body name=\"right_arm\"",
            "<attach prefix=\"a\"/><body name=\"right_arm\"",
            27,
            "a body of this model",
        ),
        ("</mujoco>", "", 41, "XML"),
    ];
    each_part_is_refused(HUMANOID, &cases);
    let far = "<mujoco><worldbody><body pos=\"1e308 0 0\"><body pos=\"1e308 0 0\"><joint/><geom size=\"1\"/></body></body></worldbody></mujoco>";
    let message = read_xml(far, None).unwrap_err().to_string();
    assert!(message.contains("must be finite"), "{message}");
    let other = "<html/>";
    let rendered = read_xml(other, None).unwrap_err().render("a.xml", other);
    assert!(rendered.contains("<robot> (URDF) or <mujoco> (MJCF)"), "{rendered}");
    let massless = "<mujoco><worldbody><body name=\"b\"><freejoint/></body></worldbody></mujoco>";
    assert!(read_xml(massless, None).unwrap_err().to_string().contains("`b` has no mass"));
    let deep =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<body>".repeat(300), "</body>".repeat(300));
    assert!(read_xml(&deep, None).unwrap_err().to_string().contains("<body>"));
    let mesh = "<mujoco><asset><mesh file=\"m.stl\"/></asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>";
    assert!(read_xml(mesh, None).unwrap_err().to_string().contains("no folder"));
}

#[test]
fn what_is_not_read_is_listed_with_its_line() {
    let text = "<mujoco>\n<option solver=\"CG\" cone=\"elliptic\" density=\"1.2\"/>\n<worldbody><body><joint margin=\"1\" armature=\"1\"/>\n\
                <geom size=\"1\" solref=\"0 1\" mas=\"1\"/><geom size=\"1\" solref=\"0 1\"/></body></worldbody>\n\
                <deformable/></mujoco>";
    let found = read(text).not_read;
    let expected = [
        "what <option> says of MuJoCo's solver and integrator: this engine has its own (line 2 and 1 more)",
        "`margin`, `gap`: contacts begin where bodies touch, not before (line 3)",
        "`mas` of <geom>, perhaps `mass` (line 4)",
        "`solref`, `solimp` and the like: contacts, limits, equalities and dry friction are rigid here \
         (line 4 and 1 more)",
        "<deformable> (line 5)",
    ];
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn any_text_is_a_model_or_an_error(which in 0..2_usize, at in 0..4000_usize, length in 0..30_usize, piece in "[-0-9a-z<>/\"=. ]{0,12}") {
        let bytes = [HUMANOID, FOUR_BAR][which].as_bytes();
        let start = at % bytes.len();
        let end = (start + length).min(bytes.len());
        let text = String::from_utf8_lossy(&[&bytes[..start], piece.as_bytes(), &bytes[end..]].concat()).into_owned();
        match read_xml(&text, None) {
            Ok(Imported { file, .. }) => prop_assert_eq!(check_world(&file.world, &file.state), Ok(())),
            Err(error) => prop_assert!(!error.render("test.xml", &text).is_empty()),
        }
    }
}

#[test]
fn numbers_that_leave_their_range_are_refused_with_their_place() {
    let geom = |attributes: &str| {
        format!(
            "<mujoco>\n<worldbody>\n<body name=\"b\">\n<freejoint/>\n<geom {attributes}/>\n</body>\n</worldbody>\n</mujoco>"
        )
    };
    let body = |attributes: &str| {
        format!(
            "<mujoco>\n<worldbody>\n<body name=\"b\" {attributes}>\n<freejoint/>\n<geom size=\"1\"/>\n</body>\n</worldbody>\n</mujoco>"
        )
    };
    // The text, the line, what the message names, and what was expected.
    let bad = [
        (geom("size=\"inf\""), 5, "`size` of <geom> is `inf`", "expected"),
        (geom("size=\"nan\""), 5, "`size` of <geom> is `nan`", "expected"),
        (geom("type=\"box\" size=\"1 -inf 1\""), 5, "`size` of <geom>", "expected"),
        (geom("size=\"1e200\""), 3, "mass of body `b` is inf", "must be positive and finite"),
        (geom("size=\"1e100\""), 3, "moment of inertia of body `b` is", "must be positive and finite"),
        (geom("size=\"1\" density=\"1e308\""), 3, "mass of body `b` is inf", "must be positive and finite"),
        (geom("size=\"1\" pos=\"1e200 0 0\""), 3, "body `b`", "must be"),
        (body("pos=\"nan 0 0\""), 3, "`pos` of <body>", "expected"),
        (body("quat=\"0 0 0 0\""), 3, "`quat`", "expected"),
    ];
    for (text, line, names, expected) in bad {
        let error = read_xml(&text, None).map(|_| ()).unwrap_err();
        let message = error.render("test.xml", &text);
        let place = error.place.as_ref().unwrap_or_else(|| panic!("no place: {message}"));
        assert_eq!(place.line, line, "{message}");
        assert!(message.contains(names) && message.contains(expected), "{message}");
    }
}
