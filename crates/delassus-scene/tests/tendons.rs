//! Tendons and motors on sites of MJCF files, against closed forms.

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::joint_coordinate;
use delassus_scene::{ImportOptions, Imported, read_xml_with};
use delassus_solve::problem::Status;
use glam::DVec3;

fn read(text: &str, controls: &[(&str, f64)]) -> Imported {
    let controls = controls.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let options = ImportOptions { controls, ..ImportOptions::default() };
    read_xml_with(text, None, &options).unwrap_or_else(|e| panic!("{}", e.render("test.xml", text)))
}

/// Steps of 1 ms over a time, all of them solved.
fn moved(imported: &Imported, coordinates: Coordinates, t: f64) -> Stepper {
    let options = StepOptions { dt: 1e-3, coordinates, ..StepOptions::default() };
    let file = &imported.file;
    let mut stepper = Stepper::new(&file.world, file.state.clone(), options).unwrap();
    for _ in 0..(t / 1e-3).round() as usize {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }
    stepper
}

/// The coordinate of a joint by its name, and its rate.
fn at(imported: &Imported, stepper: &Stepper, name: &str) -> [f64; 2] {
    let world = &imported.file.world;
    let joint = world.joints.iter().position(|j| j.name == name).unwrap();
    joint_coordinate(world, stepper.state(), joint).unwrap()
}

const BOTH: [Coordinates; 2] = [Coordinates::Maximal, Coordinates::Reduced];

/// Sleds of 1 kg and 2 kg on slides along x, without weight, and tendons over them.
fn sleds(tendons: &str) -> String {
    let sled = |name: &str, mass: f64, y: f64| {
        format!(
            "<body name=\"{name}\" pos=\"0 {y} 0\"><joint name=\"{name}\" type=\"slide\" axis=\"1 0 0\"/>\
             <inertial pos=\"0 0 0\" mass=\"{mass}\" diaginertia=\"1 1 1\"/><site name=\"on {name}\"/></body>"
        )
    };
    format!(
        "<mujoco><option gravity=\"0 0 0\"/><worldbody><site name=\"post\" pos=\"-1 0 0\"/>{}{}</worldbody>{tendons}</mujoco>",
        sled("a", 1.0, 0.0),
        sled("b", 2.0, 1.0)
    )
}

const SUM: &str = "<joint joint=\"a\" coef=\"1\"/><joint joint=\"b\" coef=\"3\"/></fixed></tendon>";

#[test]
fn a_motor_on_a_fixed_tendon_pushes_every_joint_by_its_coefficient() {
    let text = sleds(&format!(
        "<tendon><fixed name=\"t\" armature=\"0.5\">{SUM}\
         <actuator><motor name=\"m\" tendon=\"t\" gear=\"2\"/></actuator>"
    ));
    let imported = read(&text, &[("m", 0.7)]);
    assert!(imported.not_read.is_empty(), "{:?}", imported.not_read);
    for coordinates in BOTH {
        // M a = J (f − A Jᵀ a) with f = 1.4 N, J = (1, 3), and so 1/(1 + A JᵀM⁻¹J) of M⁻¹J f.
        let stepper = moved(&imported, coordinates, 0.5);
        let f = 1.4 / (1.0 + 0.5 * (1.0 + 9.0 / 2.0));
        let [a, b] = ["a", "b"].map(|name| at(&imported, &stepper, name));
        assert!((a[1] - 0.5 * f).abs() < 1e-10 && (b[1] - 0.75 * f).abs() < 1e-10, "{a:?} {b:?}");
        assert!((a[0] - 0.125 * f).abs() < 1e-10, "{a:?}");
        let length = at(&imported, &stepper, "t")[0];
        assert!((length - a[0] - 3.0 * b[0]).abs() < 1e-15, "{length}");
    }
}

#[test]
fn the_spring_of_a_tendon_swings_and_its_damper_stops_it() {
    // l = x_a + 3 x_b has the mass 1/(JᵀM⁻¹J) = 1/5.5: it swings about 0.2 with ω² = 5.5 k.
    let text = sleds(&format!("<tendon><fixed name=\"t\" stiffness=\"2\" springlength=\"0.2\">{SUM}"));
    let imported = read(&text, &[]);
    for coordinates in BOTH {
        let [length, _] = at(&imported, &moved(&imported, coordinates, 0.6), "t");
        let exact = 0.2 * (1.0 - (11.0_f64.sqrt() * 0.6).cos());
        // The scheme is of second order: (ω h)²/24 of the phase.
        assert!((length - exact).abs() < 1e-6, "{length} {exact}");
    }
    let damped = text.replace("stiffness=\"2\"", "stiffness=\"2\" damping=\"5\"");
    let [length, speed] = at(&read(&damped, &[]), &moved(&read(&damped, &[]), Coordinates::Auto, 60.0), "t");
    assert!((length - 0.2).abs() < 1e-6 && speed.abs() < 1e-6, "{length} {speed}");
}

#[test]
fn limits_friction_and_equalities_of_tendons_hold() {
    let push = "<actuator><motor name=\"m\" joint=\"a\"/></actuator>";
    // A limit of the sum is reached, and the sleds go on without changing it.
    let text = sleds(&format!("<tendon><fixed name=\"t\" limited=\"true\" range=\"-1 0.1\">{SUM}{push}"));
    let imported = read(&text, &[("m", 1.0)]);
    // More than the motor gives holds all of it.
    let stuck = sleds(&format!("<tendon><fixed name=\"t\" frictionloss=\"2\">{SUM}{push}"));
    let stuck = read(&stuck, &[("m", 1.0)]);
    // Held at the length of the file and 0.05 more, which the start is put right by.
    let held = format!("<equality><tendon tendon1=\"t\" polycoef=\"0.05\"/></equality>{push}");
    let held_text = sleds(&format!("<tendon><fixed name=\"t\">{SUM}{held}"));
    let mut held = read(&held_text, &[("m", 1.0)]);
    held.file.close_loops(&held_text).unwrap();
    for coordinates in BOTH {
        let [length, speed] = at(&imported, &moved(&imported, coordinates, 1.0), "t");
        assert!((length - 0.1).abs() < 1e-9 && speed.abs() < 1e-9, "{length} {speed}");
        let [length, _] = at(&stuck, &moved(&stuck, coordinates, 0.2), "t");
        assert!(length.abs() < 1e-12, "{length}");
        // Along x_a + 3 x_b = const the mass seen by a is 1 + 2/9.
        let stepper = moved(&held, coordinates, 0.5);
        let ([length, _], [_, speed]) = (at(&held, &stepper, "t"), at(&held, &stepper, "a"));
        assert!((length - 0.05).abs() < 1e-9 && (speed - 0.5 * 9.0 / 11.0).abs() < 1e-9, "{length} {speed}");
    }
}

#[test]
fn a_tendon_through_sites_is_a_rope_over_pulleys() {
    // From the post to a, and a second branch at half its length from a to b.
    let path = "<site site=\"post\"/><site site=\"on a\"/><pulley divisor=\"2\"/>\
                <site site=\"on a\"/><site site=\"on b\"/></spatial></tendon>";
    let text = sleds(&format!(
        "<tendon><spatial name=\"t\" limited=\"true\" range=\"0 2\">{path}\
         <actuator><motor name=\"m\" joint=\"a\"/><position name=\"p\" tendon=\"t\" kp=\"0\"/></actuator>"
    ));
    let imported = read(&text, &[("m", 1.0)]);
    let [start, _] = at(&imported, &moved(&imported, Coordinates::Auto, 0.0), "t");
    assert!((start - 1.5).abs() < 1e-15, "{start}");
    for coordinates in BOTH {
        let stepper = moved(&imported, coordinates, 3.0);
        let [[a, _], [b, _], [length, _]] = ["a", "b", "t"].map(|name| at(&imported, &stepper, name));
        let exact = 1.0 + a + 0.5 * (a - b).hypot(1.0);
        assert!((length - exact).abs() < 1e-14 && (length - 2.0).abs() < 1e-6, "{length} {exact}");
    }
    let around =
        text.replace("<site site=\"on b\"/></spatial>", "<geom geom=\"g\"/><site site=\"on b\"/></spatial>");
    let notes = read(&around, &[]).not_read;
    assert!(notes.iter().any(|note| note.contains("around a <geom>")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("acts on no joint, tendon or site")), "{notes:?}");
}

#[test]
fn a_motor_on_a_site_pushes_along_its_axes_wherever_they_point() {
    // A rotor 0.3 m from the centre of a drone of 2 kg that lies on its side: its axis is that of the world's
    // y.
    let text = "<mujoco><option gravity=\"0 0 0\"/><worldbody><body name=\"drone\" euler=\"90 0 0\"><freejoint/>\
                <inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"0.1 0.2 0.3\"/><site name=\"rotor\" pos=\"0.3 0 0\"/>\
                </body></worldbody><actuator><motor name=\"m\" site=\"rotor\" gear=\"0 0 1 0 0 0.02\"/></actuator></mujoco>";
    let imported = read(text, &[("m", 5.0)]);
    assert!(imported.not_read.is_empty(), "{:?}", imported.not_read);
    let options = StepOptions { dt: 1e-4, ..StepOptions::default() };
    let file = &imported.file;
    let mut stepper = Stepper::new(&file.world, file.state.clone(), options).unwrap();
    stepper.step().unwrap();
    let drone = &stepper.state().bodies[1];
    // Along −y with 2.5 m/s²; moments of −1.5 N m about its y and of 0.1 N m about its z.
    let axes = file.world.bodies[1].frame.rotation;
    let spin = axes.conjugate() * drone.angular_velocity;
    let found = [drone.velocity.x, drone.velocity.y, drone.velocity.z, spin.x, spin.y, spin.z];
    let exact = [0.0, -2.5, 0.0, 0.0, -7.5, 1.0 / 3.0].map(|a| 1e-4 * a);
    // What turns changes the rest by h² of it.
    assert!(found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} {exact:?}");
}

#[test]
fn a_tendon_over_many_joints_counts_all_of_them() {
    // Six slides, one on the other, of 1 kg each: l is how high the last one is. M⁻¹Jᵀ moves the last alone.
    let mut text = String::new();
    for k in 0..6 {
        text += &format!(
            "<body name=\"b{k}\" pos=\"0.2 0 0.1\"><joint name=\"j{k}\" type=\"slide\" axis=\"0 0 1\"/>\
             <inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>"
        );
    }
    let joints: String = (0..6).map(|k| format!("<joint joint=\"j{k}\" coef=\"1\"/>")).collect();
    let text = format!(
        "<mujoco><option gravity=\"0 0 0\"/><worldbody>{text}{}</worldbody><tendon><fixed name=\"t\">{joints}</fixed></tendon>\
         <actuator><motor name=\"m\" tendon=\"t\"/><position name=\"p\" tendon=\"t\" kp=\"100\" dampratio=\"0.5\" gear=\"2\"/>\
         </actuator></mujoco>",
        "</body>".repeat(6)
    );
    let imported = read(&text, &[("m", 3.0)]);
    // kv = 2 ζ √(kp m / gear²) along the tendon, with m = 1; the joint feels gear² of it.
    let damping = 4.0 * (100.0_f64 / 4.0).sqrt();
    let omega = 20.0_f64;
    let (decay, swing) = (0.5 * damping, (omega * omega - 0.25 * damping * damping).sqrt());
    let t = 0.3_f64;
    let rest = 3.0 / (omega * omega);
    let exact = rest * (1.0 - (-decay * t).exp() * ((swing * t).cos() + decay / swing * (swing * t).sin()));
    for coordinates in BOTH {
        let stepper = moved(&imported, coordinates, t);
        let [length, _] = at(&imported, &stepper, "t");
        // Second order: (ω h)²/12 of the amplitude.
        assert!((length - exact).abs() < 1e-6, "{length} {exact}");
        let [first, _] = at(&imported, &stepper, "j0");
        assert!(first.abs() < 1e-12, "{first}");
    }
}

/// Tendons of all kinds, an equality of two of them, ratios of damping and a thruster: `models/tendons.xml`
/// from its keyframe after 0.2 s, against `xipos` of MuJoCo 4.0.0 (Runge and Kutta, 2.5e-5 s, `solref` 1e-4
/// of the equality; the digits are the same at 1e-4 s).
#[test]
fn a_model_of_tendons_moves_as_in_mujoco() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/tendons.xml");
    let text = std::fs::read_to_string(path).unwrap();
    let options = ImportOptions { keyframe: Some("moving".to_string()), ..ImportOptions::default() };
    let imported = read_xml_with(&text, None, &options).unwrap();
    assert!(imported.not_read.is_empty(), "{:?}", imported.not_read);
    let expected = [
        ("upper", [0.136991316, 0.0609915777, 1.20366152]),
        ("fore", [0.387598347, 0.172567396, 1.19476502]),
        ("tool", [0.512182933, 0.228035222, 1.1809946]),
        ("cart", [-0.0309748606, 1.0, 0.5]),
        ("pole", [-0.0531271889, 1.0, 0.7487694]),
        ("drone", [0.943814097, -0.0844603898, 1.95151419]),
    ];
    for coordinates in BOTH {
        let stepper = moved(&imported, coordinates, 0.2);
        for (name, at) in expected {
            let body = imported.file.world.bodies.iter().position(|b| b.name == name).unwrap();
            let found = stepper.state().bodies[body].pose.position;
            // Steps of 1 ms of a scheme of second order leave 9e-6 m.
            assert!((found - DVec3::from_array(at)).length() < 2e-5, "{name}: {found} {at:?}");
        }
    }
}
