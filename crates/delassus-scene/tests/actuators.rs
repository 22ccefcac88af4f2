//! Actuators of MJCF files: what they do at their controls, against closed forms.

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::{ActionKind, Servo, World, read_sensors};
use delassus_scene::{ControlTable, ImportOptions, Imported, read_xml_with};
use delassus_solve::problem::Status;
use glam::DVec3;

fn read(text: &str, options: &ImportOptions) -> Imported {
    read_xml_with(text, None, options).unwrap_or_else(|e| panic!("{}", e.render("test.xml", text)))
}

/// A mass of 2 kg on a slide along x, without weight, and its actuators.
fn slide(joint: &str, actuators: &str) -> String {
    format!(
        "<mujoco><option gravity=\"0 0 0\"/><worldbody><body name=\"block\"><joint name=\"x\" type=\"slide\" \
         axis=\"1 0 0\" {joint}/><inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"1 1 1\"/></body></worldbody>\
         <actuator>{actuators}</actuator></mujoco>"
    )
}

fn servos(world: &World) -> Vec<&Servo> {
    let actions = world.joints.iter().flat_map(|joint| &joint.actions);
    actions.filter_map(|a| if let ActionKind::Servo(servo) = &a.kind { Some(servo) } else { None }).collect()
}

/// Place and velocity along x after a time.
fn motion(imported: &Imported, coordinates: Coordinates, dt: f64, t: f64) -> [f64; 2] {
    let options = StepOptions { dt, coordinates, ..StepOptions::default() };
    let file = &imported.file;
    let mut stepper = Stepper::new(&file.world, file.state.clone(), options).unwrap();
    for _ in 0..(t / dt).round() as usize {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }
    let body = file.world.bodies.iter().position(|b| b.name == "block").unwrap();
    let s = &stepper.state().bodies[body];
    [s.pose.position.x, s.velocity.x]
}

fn set(name: &str, value: f64) -> ImportOptions {
    ImportOptions { controls: vec![(name.to_string(), value)], ..ImportOptions::default() }
}

#[test]
fn a_servo_pushes_with_its_largest_force_until_it_needs_less() {
    let text = slide("", "<position name=\"p\" joint=\"x\" kp=\"200\" forcerange=\"-4 4\"/>");
    let imported = read(&text, &set("p", 1.0));
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        // 4 N on 2 kg: x = t², until 200 (1 − x) = 4 at x = 0.98; then y = 1 − x swings with ω = 10.
        let [x, v] = motion(&imported, coordinates, 1e-3, 0.5);
        assert!((x - 0.25).abs() < 1e-9 && (v - 1.0).abs() < 1e-9, "{x} {v}");
        let switch = 0.98_f64.sqrt();
        let after = 1.0 - switch;
        let (y, u) = (0.02, -2.0 * switch);
        let exact = 1.0 - (y * (10.0 * after).cos() + 0.1 * u * (10.0 * after).sin());
        // A step in which the force changes its law has an error of h² times the change of the acceleration.
        let [x, _] = motion(&imported, coordinates, 1e-4, 1.0);
        assert!((x - exact).abs() < 1e-6, "{x} {exact}");
    }
}

#[test]
fn gear_control_range_and_the_force_range_of_the_joint_count() {
    let text = slide(
        "actuatorfrcrange=\"-5 30\" ref=\"0.5\" armature=\"1\"",
        "<motor name=\"m\" joint=\"x\" gear=\"-3\" ctrlrange=\"-1 2\" forcerange=\"-9 9\"/>\
         <position name=\"p\" joint=\"x\" gear=\"2\" kp=\"3\" dampratio=\"0.5\"/>",
    );
    let imported = read(&text, &set("p", 0.25));
    let [m, p] = servos(&imported.file.world)[..] else { panic!() };
    assert_eq!((m.gain, m.control_range, m.force_range), (-3.0, [-1.0, 2.0], [-5.0, 27.0]));
    // l = 2 x, so that x feels 2 (3 u − 3 l − kv l̇); ref is where x begins.
    assert_eq!((p.gain, p.offset, p.stiffness), (6.0, -6.0, 12.0));
    // kv = 2 ζ √(kp m) with m = (2 + 1)/2².
    assert!((p.damping - 4.0 * (2.0 * 0.5 * (3.0_f64 * 0.75).sqrt())).abs() < 1e-14, "{}", p.damping);
    assert_eq!((p.push(0.0), m.push(0.0)), (1.5 - 6.0, 0.0));
    assert!(
        imported.not_read.iter().any(|note| note.contains("actuatorfrcrange")),
        "{:?}",
        imported.not_read
    );
}

#[test]
fn activations_delay_a_force_and_integrate_a_speed() {
    let filter = slide("", "<general name=\"g\" joint=\"x\" dyntype=\"filter\" dynprm=\"0.2\"/>");
    // 2 v̇ = u (1 − e^(−t/τ)).
    let [_, v] = motion(&read(&filter, &set("g", 4.0)), Coordinates::Auto, 1e-3, 0.5);
    let exact = 2.0 * (0.5 - 0.2 * (1.0 - (-2.5_f64).exp()));
    assert!((v - exact).abs() < 1e-5, "{v} {exact}");
    // A stiff servo whose place moves with 0.5 m/s.
    let follow = slide("", "<intvelocity name=\"i\" joint=\"x\" kp=\"20000\" kv=\"400\" actrange=\"-1 1\"/>");
    let [x, v] = motion(&read(&follow, &set("i", 0.5)), Coordinates::Auto, 1e-3, 1.0);
    // It lags by v kv/kp, and by ½ σ s of a step: σ = 1/11 and s = 1/21.
    assert!((x - 0.49).abs() < 1.2e-6 && (v - 0.5).abs() < 1e-6, "{x} {v}");
    let [x, v] = motion(&read(&follow, &set("i", 0.5)), Coordinates::Auto, 1e-3, 3.0);
    assert!((x - 1.0).abs() < 1e-6 && v.abs() < 1e-6, "{x} {v}");
}

#[test]
fn a_keyframe_says_how_often_a_hinge_has_turned() {
    let text = "<mujoco><worldbody><body name=\"block\"><joint name=\"h\" axis=\"0 0 1\" ref=\"0.5\"/>\
                <geom size=\"0.1\"/></body></worldbody><compiler angle=\"radian\"/>\
                <keyframe><key name=\"k\" qpos=\"9\"/></keyframe></mujoco>";
    let options = ImportOptions { keyframe: Some("k".to_string()), ..ImportOptions::default() };
    let found = read(text, &options).file.state.coordinates[0];
    assert!((found - 8.5).abs() < 1e-12, "{found}");
}

#[test]
fn what_is_compensated_floats_and_what_is_disabled_does_nothing() {
    let body = |gravcomp: f64| {
        format!(
            "<mujoco><worldbody><body name=\"block\" gravcomp=\"{gravcomp}\"><freejoint/>\
             <geom size=\"0.1\"/></body></worldbody></mujoco>"
        )
    };
    let fall = |gravcomp: f64| {
        let imported = read(&body(gravcomp), &ImportOptions::default());
        let mut stepper =
            Stepper::new(&imported.file.world, imported.file.state.clone(), StepOptions::default()).unwrap();
        (0..100).for_each(|_| drop(stepper.step().unwrap()));
        let block = imported.file.world.bodies.iter().position(|b| b.name == "block").unwrap();
        stepper.state().bodies[block].velocity.z
    };
    assert!(fall(1.0).abs() < 1e-14 && (fall(0.25) + 0.75 * 0.981).abs() < 1e-12);
    let text =
        slide("range=\"-1 1\" stiffness=\"5\" damping=\"2\" frictionloss=\"3\"", "<motor joint=\"x\"/>")
            .replace(
                "<option gravity=\"0 0 0\"/>",
                "<option><flag limit=\"disable\" passive=\"disable\" \
                 frictionloss=\"disable\" actuation=\"disable\" contact=\"disable\"/></option>",
            );
    let imported = read(&text, &ImportOptions::default());
    assert!(
        imported.file.world.joints[0].actions.is_empty() && imported.file.world.joints[0].friction.is_none()
    );
    assert!(imported.not_read.is_empty(), "{:?}", imported.not_read);
}

/// A load that is set, changed and taken away again is added to what `gravcomp` gives.
#[test]
fn what_is_compensated_floats_under_any_load() {
    let text = "<mujoco><worldbody><body name=\"block\" gravcomp=\"1\"><freejoint/>\
                <geom type=\"box\" size=\"0.1 0.1 0.1\" mass=\"2\"/></body></worldbody></mujoco>";
    let file = read(text, &ImportOptions::default()).file;
    let block = file.world.bodies.iter().position(|b| b.name == "block").unwrap();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let options = StepOptions { coordinates, ..StepOptions::default() };
        let mut stepper = Stepper::new(file.world.clone(), file.state.clone(), options).unwrap();
        // 6 N along x on 2 kg for 0.1 s, 0.5 N up for as long, nothing for as long.
        let loads = [DVec3::new(6.0, 0.0, 0.0), DVec3::new(0.0, 0.0, 0.5), DVec3::ZERO];
        let after = [DVec3::new(0.3, 0.0, 0.0), DVec3::new(0.3, 0.0, 0.025), DVec3::new(0.3, 0.0, 0.025)];
        for (load, expected) in loads.into_iter().zip(after) {
            stepper.set_load(block, load, DVec3::ZERO).unwrap();
            (0..100).for_each(|_| drop(stepper.step().unwrap()));
            let found = stepper.state().bodies[block].velocity;
            assert!((found - expected).length() < 1e-12, "{load}: {found} {expected}");
        }
    }
}

/// How far the cube of `models/grasp.xml` has slipped down in the gripper after it was lifted, with this part
/// of the friction that its weight and acceleration need.
fn slip(part: f64) -> f64 {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let text = std::fs::read_to_string(folder.join("grasp.xml")).unwrap();
    // m (g + a) = 2 μ F.
    let mu = part * (9.81 + 1.0) / (2.0 * 10.0);
    let text = text.replace("friction=\"0.5405\"", &format!("friction=\"{mu}\""));
    assert!(text.contains(&format!("friction=\"{mu}\"")));
    // 1 m/s² up, then the same down: the carriage, its fingers and the cube have 4 kg.
    let control = "t,lift,left,right\n0,43.24,10,10\n0.5,35.24,10,10\n1,39.24,10,10\n";
    let table = ControlTable::parse(control, false).unwrap();
    let options = ImportOptions { control_table: Some(table), ..ImportOptions::default() };
    let file = read(&text, &options).file;
    let mut stepper = Stepper::new(&file.world, file.state.clone(), StepOptions::default()).unwrap();
    let at = |name: &str| file.world.bodies.iter().position(|b| b.name == name).unwrap();
    let height = |stepper: &Stepper, name: &str| stepper.state().bodies[at(name)].pose.position.z;
    let between = |stepper: &Stepper| height(stepper, "carriage") - height(stepper, "cube");
    let start = between(&stepper);
    for _ in 0..1200 {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{part}: {report:?}");
    }
    if part >= 1.0 {
        // ½ a t² twice.
        assert!((height(&stepper, "carriage") - 0.75).abs() < 1e-6, "{}", height(&stepper, "carriage"));
    }
    between(&stepper) - start
}

#[test]
fn a_gripper_lifts_a_cube_with_the_friction_that_it_needs_and_with_no_less() {
    for part in [1.0, 1.02, 1.1] {
        assert!(slip(part).abs() < 1e-8, "{part}: {}", slip(part));
    }
    for part in [0.9, 0.98] {
        // It slides with (1 − part)(g + a) of acceleration while it is lifted, for half a second.
        let least = 0.5 * (1.0 - part) * 10.81 * 0.25;
        assert!(slip(part) > 0.99 * least, "{part}: {} {least}", slip(part));
    }
}

#[test]
fn sensors_are_read_as_the_file_counts() {
    let text = "<mujoco><option gravity=\"0 0 0\"/><worldbody><body name=\"sled\" pos=\"1 0 0\">\
         <joint name=\"rail\" type=\"slide\" axis=\"-1 0 0\" ref=\"0.25\"/><inertial mass=\"2\" pos=\"0 0 0\" diaginertia=\"1 1 1\"/>\
         <site name=\"tip\" pos=\"0 0 0.5\"/></body></worldbody>\
         <actuator><motor name=\"push\" joint=\"rail\" gear=\"3\"/></actuator>\
         <sensor><jointpos name=\"where\" joint=\"rail\"/><framepos name=\"at\" objtype=\"site\" objname=\"tip\"/>\
         <velocimeter name=\"speed\" site=\"tip\"/><actuatorfrc name=\"given\" actuator=\"push\"/>\
         <accelerometer name=\"shaken\" site=\"tip\"/></sensor></mujoco>";
    let imported = read(text, &set("push", 2.0));
    assert!(imported.not_read.iter().any(|note| note.contains("accelerometer")), "{:?}", imported.not_read);
    let world = &imported.file.world;
    let names: Vec<&str> = world.sensors.iter().map(|sensor| sensor.name.as_str()).collect();
    assert_eq!(names, ["rail.position", "rail.velocity", "push.effort", "where", "at", "speed", "given"]);
    let mut stepper =
        Stepper::new(world.clone(), imported.file.state.clone(), StepOptions::default()).unwrap();
    for _ in 0..100 {
        stepper.step().unwrap();
    }
    let mut found = vec![];
    read_sensors(world, stepper.state(), &stepper.measured_forces(), &mut found);
    // 2 times the gear 3 on 2 kg: 3 m/s² along −x, 0.3 m/s and 0.015 m after 0.1 s, and the motor gives 2.
    let sign = found[2].signum();
    let expected = [0.265, 0.3, 6.0 * sign, 0.265, 0.985, 0.0, 0.5, -0.3, 0.0, 0.0, 2.0];
    let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near && found.len() == expected.len(), "{found:?}");
}

/// A box of 2 kg that rests on a plane, pushed down by 4 N: what its feet feel, and zones above and beside
/// them.
#[test]
fn touches_are_felt_where_the_sites_are() {
    let text = "<mujoco><worldbody><geom type=\"plane\" size=\"1 1 1\"/><body name=\"block\" pos=\"0 0 0.1\"><freejoint/>\
         <geom type=\"box\" size=\"0.2 0.1 0.1\" mass=\"2\"/>\
         <site name=\"sole\" type=\"box\" pos=\"0 0 -0.1\" size=\"0.3 0.3 0.01\"/>\
         <site name=\"left\" type=\"cylinder\" pos=\"-0.2 0 -0.1\" size=\"0.15 0.01\"/>\
         <site name=\"corner\" pos=\"0.2 0.1 -0.1\"/><site name=\"below\" pos=\"0.2 -0.1 -0.2\"/>\
         <site name=\"rail\" type=\"capsule\" fromto=\"-0.2 0.1 -0.1 0.2 0.1 -0.1\" size=\"0.01\"/>\
         <site name=\"top\" type=\"ellipsoid\" pos=\"0 0 0.1\" size=\"0.3 0.3 0.1\"/></body></worldbody>\
         <actuator><motor name=\"push\" site=\"top\" gear=\"0 0 -1 0 0 0\"/></actuator>\
         <sensor><touch name=\"sole\" site=\"sole\"/><touch name=\"left\" site=\"left\"/>\
         <touch name=\"corner\" site=\"corner\"/><touch name=\"below\" site=\"below\"/>\
         <touch name=\"rail\" site=\"rail\"/><touch name=\"top\" site=\"top\"/>\
         <framezaxis name=\"axis\" objtype=\"site\" objname=\"rail\"/></sensor></mujoco>";
    let imported = read(text, &set("push", 4.0));
    let world = &imported.file.world;
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let options = StepOptions { coordinates, ..StepOptions::default() };
        let mut stepper = Stepper::new(world.clone(), imported.file.state.clone(), options).unwrap();
        (0..20).for_each(|_| assert_eq!(stepper.step().unwrap().status, Status::Solved));
        let mut found = vec![];
        read_sensors(world, stepper.state(), &stepper.measured_forces(), &mut found);
        let of = |name: &str| {
            let before = world.sensors.iter().take_while(|s| s.name != name);
            found[before.map(|s| s.kind.suffixes().len()).sum::<usize>()]
        };
        let load = 2.0 * 9.81 + 4.0;
        // Four corners may share the load in many ways, but two on a side have half of it by moments.
        for (name, expected) in [("sole", load), ("left", load / 2.0), ("rail", load / 2.0), ("top", 0.0)] {
            assert!((of(name) - expected).abs() < 1e-8, "{name}: {} {expected}", of(name));
        }
        // A zone beyond the contact feels it too, along the line of the force.
        let pair = of("corner") + of("below");
        assert!((pair - load / 2.0).abs() < 1e-8 && of("corner") >= 0.0 && of("below") >= 0.0, "{pair}");
        // From the second point to the first, as in MuJoCo.
        assert!((of("axis") + 1.0).abs() < 1e-12, "{}", of("axis"));
    }
}
