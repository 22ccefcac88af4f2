//! Small models that cover the elements of MJCF, moved from their keyframes: against MuJoCo 4.0.0 and closed
//! forms.
//!
//! Numbers of MuJoCo: `xipos` after 0.2 s of Runge and Kutta with steps of 2.5e-5 s, `solref` of joints and
//! equalities 1e-4 s, which leaves less than 1e-9 m. Only the filtered and integrated activations of
//! actuators are of first order there: 4e-6 m.

use std::path::Path;

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::{JointKind, read_sensors};
use delassus_scene::{ImportOptions, Imported, read_xml_with};
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};

const BOTH: [Coordinates; 2] = [Coordinates::Maximal, Coordinates::Reduced];

/// A model, what of it is not read, and its start from the keyframe.
fn read(name: &str, not_read: &[&str]) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let options = ImportOptions { keyframe: Some("moving".to_string()), ..ImportOptions::default() };
    let imported =
        read_xml_with(&text, path.parent(), &options).unwrap_or_else(|e| panic!("{}", e.render(name, &text)));
    let listed = &imported.not_read;
    assert_eq!(listed.len(), not_read.len(), "{listed:?}");
    assert!(not_read.iter().all(|what| listed.iter().any(|note| note.contains(what))), "{listed:?}");
    imported
}

/// Its state after 0.2 s in steps of 0.5 ms, all of them solved.
fn moved(imported: &Imported, coordinates: Coordinates) -> Stepper {
    let options = StepOptions { dt: 5e-4, coordinates, ..StepOptions::default() };
    let mut stepper = Stepper::new(&imported.file.world, imported.file.state.clone(), options).unwrap();
    for _ in 0..400 {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }
    stepper
}

/// Centres of mass after 0.2 s.
fn agree(imported: &Imported, expected: &[(&str, [f64; 3])], tolerance: f64) {
    for coordinates in BOTH {
        let stepper = moved(imported, coordinates);
        for (name, at) in expected {
            let body = imported.file.world.bodies.iter().position(|b| b.name == *name).unwrap();
            let found = stepper.state().bodies[body].pose.position;
            let error = (found - DVec3::from_array(*at)).length();
            assert!(error < tolerance, "{name}: {found} {at:?}, {error:.1e} apart");
        }
    }
}

/// Slides, hinges, balls and free joints with references, springs, springs by time constants, dampers,
/// rotors, dry friction, a limit that is reached, and weights that are compensated.
#[test]
fn joints_move_as_in_mujoco() {
    let imported = read("joints.xml", &["curved surface of an ellipsoid"]);
    let expected = [
        ("slider", [0.219595881, 0.0, 1.04391918]),
        ("arm", [0.386722709, 0.0, 0.950210552]),
        ("hand", [0.52706817, 0.0370076524, 0.875113489]),
        ("tuned", [0.0698466332, 1.0, 0.928435708]),
        ("tip", [0.19200696, 1.0, 0.79759851]),
        ("gimbal", [0.0921567764, 2.08514573, 0.985600904]),
        ("plate", [0.120805268, 2.94877709, 1.0]),
        ("drifter", [0.183994356, 3.97638269, 1.08247628]),
        ("weightless", [0.02, 5.04, 1.06]),
        ("stopped", [0.0, 6.0, 0.95]),
    ];
    // Steps of a scheme of second order leave (ω h)²/24 of what swings with ω ≈ 30 1/s: 1e-5 of 0.1 m.
    agree(&imported, &expected, 5e-6);
    // Axes that stand across each other are one joint of ours, with the coordinates of all.
    let world = &imported.file.world;
    let kind = |name: &str| &world.joints.iter().find(|j| j.name == name).unwrap().kind;
    assert!(matches!(kind("wrist"), JointKind::Ball) && matches!(kind("px+py+turn"), JointKind::Planar));
}

/// Motors, servos with ranges, ratios of damping and filters, integrated controls, dampers and general ones,
/// each on a hinge of its own.
#[test]
fn actuators_move_as_in_mujoco() {
    let imported = read("actuators.xml", &[]);
    let expected = [
        ("motor", [0.149966057, 0.0, 1.00319086]),
        ("position", [0.142509016, 1.0, 0.953189954]),
        ("filtered", [0.142404993, 2.0, 0.952874445]),
        ("velocity", [0.149998998, 3.0, 0.999451656]),
        ("general", [0.100697924, 4.0, 0.888824787]),
        ("integrated", [0.14999767, 5.0, 1.000836]),
        ("damped", [0.137820294, 6.0, 0.940792174]),
        ("weak", [0.0362352236, 7.0, 0.854442422]),
        ("gained", [0.0991382651, 8.0, 0.887431779]),
    ];
    agree(&imported, &expected, 8e-6);
    // `sensordata` there: gear times an angle and its rate, axes of a site, an angle with its `ref`.
    let names = ["length", "rate", "x axis", "z axis", "angle"];
    let sensors = [
        vec![0.4793739750599903],
        vec![-0.24561550560815],
        vec![0.9192068216811609, 0.3816559020950483, 0.09694117479602635],
        vec![-0.020848391660596058, -0.19866933079506122, 0.979844804837281],
        vec![1.1268147824750905],
    ];
    let stepper = moved(&imported, Coordinates::Auto);
    let world = &imported.file.world;
    let mut values = vec![];
    read_sensors(world, stepper.state(), &stepper.measured_forces(), &mut values);
    for (name, expected) in names.iter().zip(sensors) {
        let before = world.sensors.iter().take_while(|s| s.name != *name);
        let at: usize = before.map(|s| s.kind.suffixes().len()).sum();
        for (found, expected) in values[at..].iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-4, "{name}: {found} {expected}");
        }
    }
}

/// Boxes, ellipsoids and parts of bodies in water with a current.
#[test]
fn a_medium_moves_bodies_as_in_mujoco() {
    let imported = read("medium.xml", &["curved surface of an ellipsoid"]);
    let expected = [
        ("brick", [0.181586889, 0.0953651829, 1.80596461]),
        ("given", [1.01904163, 0.0753335916, 1.9076044]),
        ("ball", [2.12017513, 0.120913944, 2.02043705]),
        ("leaf", [3.09972117, -0.0611381791, 1.82817658]),
        ("arm", [4.12601479, 0.0, 1.87721056]),
    ];
    // Of first order where a shape turns: 2.1e-5 with these steps, 1.0e-5 with half of them.
    agree(&imported, &expected, 3e-5);
}

/// A cam, against an integration of its one coordinate; a free body with rotors, and one of whose two parts
/// the weight is carried.
#[test]
fn curves_and_rotors_of_free_bodies_move_as_they_must() {
    let imported = read("curves.xml", &[]);
    // Steps of Runge and Kutta of 1e-5 s of (I + m p'²) d̈ = M g c cos d − m p' (g + p'' ḋ²): 1e-10 m.
    let expected = [
        ("driver", [0.0887119882, 0.0, 1.1209552940]),
        ("cam", [0.0, 1.0, 0.7755635050]),
        // Of MuJoCo.
        ("top", [1.1, -0.04, 0.926417021]),
        ("lift", [2.02, 0.0, 0.851363636]),
    ];
    // Second order: 2.2e-5 with these steps, 6.7e-6 with half of them.
    agree(&imported, &expected, 3e-5);
    let world = &imported.file.world;
    let top = world.bodies.iter().position(|b| b.name == "top").unwrap();
    let rotation = moved(&imported, Coordinates::Auto).state().bodies[top].pose.rotation;
    let found = rotation * world.bodies[top].frame.rotation;
    let expected = DQuat::from_xyzw(0.36460107, -0.54507289, 0.18146227, 0.73282539);
    assert!(found.angle_between(expected) < 1e-5, "{found} {expected}");
}

/// Loops closed by points and welds, of bodies and of sites, a joint that follows another, one that is held.
#[test]
fn equalities_move_as_in_mujoco() {
    let imported = read("equalities.xml", &[]);
    let expected = [
        ("crank", [0.051292169, 0.0, 1.08584354]),
        ("rod", [0.352531627, 0.0, 1.17682055]),
        ("rocker", [0.551239458, 0.0, 1.04097701]),
        ("left", [0.0, 1.11768639, 0.906995093]),
        ("hung", [0.0630287303, 1.28969534, 0.739314628]),
        ("carried", [0.5, 1.15691519, 0.875993457]),
        ("driver", [0.0962740768, 2.0, 0.972957401]),
        ("follower", [0.236917738, 2.5, 1.0]),
        ("held", [0.139815841, 3.05432799, 1.0]),
    ];
    agree(&imported, &expected, 5e-6);
}

/// What falls as one has no velocities along its joints but rounding, and no method looks for digits in it.
#[test]
fn what_falls_as_one_costs_no_search() {
    let imported = read("falling.xml", &[]);
    let options = StepOptions { dt: 2e-3, coordinates: Coordinates::Reduced, ..StepOptions::default() };
    let mut stepper = Stepper::new(&imported.file.world, imported.file.state.clone(), options).unwrap();
    for _ in 0..10 {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
        // 49,000 a step where rounding was taken for a velocity.
        assert!(report.iterations < 100, "{report:?}");
    }
    for body in &stepper.state().bodies[1..] {
        assert!((body.velocity + 9.81 * 0.02 * DVec3::Z).length() < 1e-12, "{}", body.velocity);
    }
}

/// A turntable whose body is sunk into the ground's: its hinge cannot lift it, so they pass through each
/// other. A lever that hangs into the same block can be lifted by its hinge, and is.
#[test]
fn only_what_no_joint_can_separate_passes() {
    let model = |axis: &str| {
        format!(
            "<mujoco><worldbody><geom name=\"block\" type=\"box\" size=\"0.3 0.3 0.1\" pos=\"0 0 -0.1\"/>\
             <body name=\"disc\" pos=\"0 0 0.09\"><joint name=\"turn\" axis=\"{axis}\" pos=\"-0.4 0 0\"/>\
             <geom type=\"box\" size=\"0.1 0.1 0.1\" mass=\"1\"/></body></worldbody></mujoco>"
        )
    };
    let sunk = read_xml_with(&model("0 0 1"), None, &ImportOptions::default()).unwrap();
    assert!(sunk.not_read.iter().any(|note| note.contains("overlap by 1.0e-2 m")), "{:?}", sunk.not_read);
    let file = &sunk.file;
    assert_eq!(file.world.no_contact, [[0, 1]]);
    let mut stepper = Stepper::new(&file.world, file.state.clone(), StepOptions::default()).unwrap();
    let report = stepper.step().unwrap();
    assert_eq!((report.status, report.penetration), (Status::Solved, 0.0));
    let hanging = read_xml_with(&model("0 1 0"), None, &ImportOptions::default()).unwrap();
    assert_eq!(hanging.file.world.no_contact, Vec::<[usize; 2]>::new());
    let stepper =
        Stepper::new(&hanging.file.world, hanging.file.state.clone(), StepOptions::default()).unwrap();
    assert!(stepper.state().bodies[1].pose.position.z > 0.0999);
}

/// Blocks that slide at 2 m/s, a ball that spins and one that rolls, after 0.2 s on a plane with μ = 0.3 and
/// `condim` 1: the larger friction and `condim` count, those of the higher priority before them.
#[test]
fn contacts_have_the_friction_of_their_geoms() {
    let imported = read("contacts.xml", &["`margin`, `gap`: contacts begin where bodies touch"]);
    let (g, t) = (9.81, 0.2);
    let slides = |mu: f64| [2.0 * t - 0.5 * mu * g * t * t, 0.05];
    let falls = [2.0 * t, 0.05 - 0.5 * g * t * t];
    // A moment ρN against rolling at the radius r: 7/5 r a = ρ g.
    let rolls = [2.0 * t - 0.5 * (5.0 / 7.0) * 0.01 * g / 0.1 * t * t, 0.1];
    let expected = [
        ("larger", slides(0.5)),
        ("smaller", slides(0.3)),
        ("prior", slides(0.2)),
        ("smooth", slides(0.0)),
        ("paired", slides(0.4)),
        ("excluded", falls),
        ("masked", falls),
        ("spins", [0.0, 0.1]),
        ("rolls", rolls),
    ];
    for coordinates in BOTH {
        let stepper = moved(&imported, coordinates);
        let of = |name: &str| {
            let body = imported.file.world.bodies.iter().position(|b| b.name == name).unwrap();
            stepper.state().bodies[body]
        };
        for (name, [x, z]) in expected {
            // Constant accelerations leave the residual of the solves alone.
            let at = of(name).pose.position;
            assert!((at.x - x).abs() < 1e-7 && (at.z - z).abs() < 1e-7, "{name}: {at} {x} {z}");
        }
        // A moment of 0.02 m · N against 2/5 m r².
        let spin = 30.0 - 0.02 * g * t / (0.4 * 0.1 * 0.1);
        let found = of("spins").world_angular_velocity();
        assert!((found - spin * DVec3::Z).length() < 1e-6, "{found} {spin}");
    }
}

/// Angles, sequences of Euler angles, ranges that are no limits, geoms without mass, and a total mass:
/// `body_mass`, the eigenvalues of inertia and `xipos` of MuJoCo.
#[test]
fn the_compiler_counts_masses_and_angles_as_mujoco_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/compiler.xml");
    let text = std::fs::read_to_string(path).unwrap();
    let imported = read_xml_with(&text, None, &ImportOptions::default()).unwrap();
    let bodies = [
        (
            "base",
            8.97091870590247,
            [0.037378827941260274, 0.12708801500028497, 0.14951531176504113],
            [0.1, 0.2, 0.3],
        ),
        (
            "limb",
            3.02908129409753,
            [0.016922783367572126, 0.052804772659187815, 0.06579344953716275],
            [0.241099654936416, 0.165520836065854, 0.490772183897593],
        ),
    ];
    let world = &imported.file.world;
    for (name, mass, moments, centre) in bodies {
        let i = world.bodies.iter().position(|b| b.name == name).unwrap();
        let mut found = world.bodies[i].inertia.to_array();
        found.sort_by(f64::total_cmp);
        assert!((world.bodies[i].mass - mass).abs() < 1e-12 * mass, "{name}");
        assert!(found.iter().zip(moments).all(|(a, b)| (a - b).abs() < 1e-12 * b), "{name}: {found:?}");
        let at = imported.file.state.bodies[i].pose.position;
        assert!((at - DVec3::from_array(centre)).length() < 1e-12, "{name}: {at}");
    }
    assert_eq!(imported.file.simulation.dt, Some(0.004));
    assert_eq!(world.gravity, DVec3::new(0.0, 0.0, -3.7));
    let limits = world.joints.iter().flat_map(|joint| &joint.actions).count();
    assert_eq!(limits, 1);
}

/// Published models, where `DELASSUS_MODELS` names a folder with checkouts of mujoco_menagerie and
/// dm_control: they move as in MuJoCo, from the start that `motions.csv` tells.
#[test]
fn published_models_move_as_in_mujoco() {
    let Ok(models) = std::env::var("DELASSUS_MODELS") else {
        println!("DELASSUS_MODELS is not set: no published model was moved");
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let list = std::fs::read_to_string(folder.join("motions.csv")).unwrap();
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(',').collect();
        let numbers: Vec<f64> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
        let path = Path::new(&models).join(words[0]);
        let rates: Vec<String> =
            (1..=numbers[0] as u32).map(|k| format!("{:.3}", 0.5 * f64::from(k).sin())).collect();
        let text = format!(
            "<mujoco><include file=\"{}\"/><option><flag contact=\"disable\" limit=\"disable\"/></option>\
             <keyframe><key name=\"set off\" qvel=\"{}\"/></keyframe></mujoco>",
            path.file_name().unwrap().to_string_lossy(),
            rates.join(" ")
        );
        let options = ImportOptions { keyframe: Some("set off".to_string()), ..ImportOptions::default() };
        let imported = match read_xml_with(&text, path.parent(), &options) {
            Ok(imported) => imported,
            Err(error) => {
                wrong.push(format!("{}: {}", words[0], error.render(words[0], &text)));
                continue;
            }
        };
        let stepper = moved(&imported, Coordinates::Auto);
        // Bodies between two joints of another are not in the file.
        let bodies = imported.file.world.bodies.iter().zip(&stepper.state().bodies);
        let moving = bodies.filter(|(body, _)| !body.fixed && !body.name.contains(" link "));
        let centres: Vec<DVec3> = moving.map(|(_, state)| state.pose.position).collect();
        let n = centres.len() as f64;
        let mean = centres.iter().sum::<DVec3>() / n;
        let spread = (centres.iter().map(|c| c.length_squared()).sum::<f64>() / n).sqrt();
        let error = (mean - DVec3::from_slice(&numbers[1..4])).length().max((spread - numbers[4]).abs());
        if error.is_nan() || error > 1e-4 {
            wrong.push(format!("{}: {error:.1e} m apart", words[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
