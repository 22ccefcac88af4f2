//! Small models that cover the elements of MJCF and URDF, compared with MuJoCo 4.0.0, and collections of
//! models that others have published.

use std::path::{Path, PathBuf};

use delassus::world::{ActionKind, JointKind, ShapeKind};
use delassus_scene::{ImportOptions, Imported, read_mesh, read_xml_with};
use glam::DVec3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

fn read_file(path: &Path, options: &ImportOptions) -> Result<Imported, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let name = path.display().to_string();
    read_xml_with(&text, path.parent(), options).map_err(|e| e.render(&name, &text))
}

fn read(name: &str, options: &ImportOptions) -> Imported {
    read_file(&folder().join(name), options).unwrap_or_else(|e| panic!("{e}"))
}

/// A body of MuJoCo: `body_mass`, `body_inertia` sorted, `xipos`.
type Reference = (&'static str, f64, [f64; 3], [f64; 3]);

/// Numbers agree to rounding; those that MuJoCo keeps in single precision have no digits to lose here.
fn agree(imported: &Imported, bodies: &[Reference]) {
    let (world, state) = (&imported.file.world, &imported.file.state);
    for (name, mass, inertia, centre) in bodies {
        let i = world.bodies.iter().position(|b| b.name == *name).unwrap_or_else(|| panic!("no body {name}"));
        let body = &world.bodies[i];
        assert!((body.mass - mass).abs() <= 1e-12 * mass, "{name}: {} {mass}", body.mass);
        let mut moments = body.inertia.to_array();
        moments.sort_by(f64::total_cmp);
        for (found, expected) in moments.into_iter().zip(inertia) {
            assert!((found - expected).abs() <= 1e-11 * inertia[2], "{name}: {moments:?} {inertia:?}");
        }
        let at = state.bodies[i].pose.position;
        assert!((at - DVec3::from_array(*centre)).length() < 1e-12, "{name}: {at} {centre:?}");
    }
}

/// Included defaults, classes in each other, frames, copies, an attached model with its own angles and
/// classes, least masses, and a keyframe with velocities and controls.
///
/// Numbers: `mj_resetDataKeyframe`, `mj_forward`, then `body_mass`, `body_inertia`, `xipos` and
/// `mj_objectVelocity` of each body.
// Long: the numbers of MuJoCo.
#[test]
fn an_assembly_of_files_is_that_of_mujoco() {
    let options = ImportOptions { keyframe: Some("raised".to_string()), ..ImportOptions::default() };
    let imported = read("assembly.xml", &options);
    let bodies: [Reference; 9] = [
        (
            "base",
            26.35914828574276,
            [0.1730890764708366, 0.28782231715923345, 0.35959773705133147],
            [0.10710939188163224, 0.2005139786071432, 1.501762212367348],
        ),
        (
            "right_upper",
            0.6107256118578558,
            [0.00026566564115816725, 0.0030945127460830966, 0.0030945127460830966],
            [0.274065661994777, 0.33574526479714106, 1.4456493046167673],
        ),
        (
            "right_lower",
            0.128,
            [3.4133333333333334e-05, 0.0004437333333333334, 0.0004437333333333334],
            [0.21205883621058302, 0.5054878092887484, 1.3608551423554491],
        ),
        (
            "left_upper",
            0.6107256118578558,
            [0.00026566564115816725, 0.0030945127460830966, 0.0030945127460830966],
            [-0.11986693307950613, 0.3420863914727592, 1.4585581358204451],
        ),
        (
            "left_lower",
            0.128,
            [3.4133333333333334e-05, 0.0004437333333333334, 0.0004437333333333334],
            [-0.21309349124532728, 0.5014129972252952, 1.412087875809289],
        ),
        ("bead", 0.05, [0.0001, 0.0001, 0.0001], [0.1, 0.008000000000000007, 1.556]),
        (
            "post-0",
            0.7,
            [0.0008749999999999999, 0.021437499999999998, 0.021437499999999998],
            [2.0, 0.0, 0.35],
        ),
        (
            "post-1",
            0.7,
            [0.0008749999999999999, 0.021437499999999998, 0.021437499999999998],
            [1.9601331556824835, 0.8973386615901224, 0.4],
        ),
        (
            "post-2",
            0.7,
            [0.0008749999999999999, 0.021437499999999998, 0.021437499999999998],
            [1.7427873226082395, 1.7688699735379219, 0.44999999999999996],
        ),
    ];
    let velocities = [
        ("base", [0.0, 0.14000000000000007, 0.48], [1.0, 0.003412508103183471, -0.000995314863428513]),
        (
            "right_upper",
            [-0.479425538604203, 0.3857231173293045, 1.3224792594147576],
            [0.8433945111842994, 0.042357222014280216, -0.0600638471340913],
        ),
        (
            "right_lower",
            [0.0, 0.13999999999999985, 0.4800000000000001],
            [0.666208242752323, -0.028600350105345715, -0.08707754597912667],
        ),
        (
            "left_upper",
            [0.0, 0.2800000000000001, 0.96],
            [0.8769933422158758, -0.11507225575632585, 0.033562741262261726],
        ),
        (
            "left_lower",
            [1.1102230246251565e-16, 0.8399999999999999, 2.88],
            [0.5751110148074492, -0.3454202317612389, 0.10074756759702808],
        ),
        ("bead", [0.25, 0.14000000000000007, 0.48], [1.1, 0.0, 0.0]),
        ("post-0", [0.0, 0.0, 0.0], [0.0, 0.0, 0.1]),
        ("post-1", [0.0, 0.0, 0.0], [0.0, 0.0, 0.2]),
        ("post-2", [0.0, 0.0, 0.0], [0.0, 0.0, 0.3]),
    ];
    agree(&imported, &bodies);
    let (world, state) = (&imported.file.world, &imported.file.state);
    for (name, angular, linear) in velocities {
        let i = world.bodies.iter().position(|b| b.name == name).unwrap();
        let at = &state.bodies[i];
        assert!((at.world_angular_velocity() - DVec3::from_array(angular)).length() < 1e-12, "{name}");
        assert!((at.velocity - DVec3::from_array(linear)).length() < 1e-12, "{name} {}", at.velocity);
    }
}

/// Controls of the keyframe, copied actuators and excluded pairs of the same model.
#[test]
fn actuators_and_pairs_are_copied_with_their_bodies() {
    let options = ImportOptions { keyframe: Some("raised".to_string()), ..ImportOptions::default() };
    let imported = read("assembly.xml", &options);
    let world = &imported.file.world;
    // Motors of the attached models come first, with gear 2; then a servo of gain 10 for each post.
    let force = |name: &str| {
        let joint = world.joints.iter().find(|j| j.name == name).unwrap_or_else(|| panic!("no joint {name}"));
        joint.actions.iter().find_map(|a| match &a.kind {
            ActionKind::Servo(servo) => Some(servo.push(0.0) - servo.offset),
            _ => None,
        })
    };
    assert_eq!([force("lift-0"), force("lift-1"), force("lift-2")], [Some(7.5), Some(0.0), Some(0.0)]);
    assert_eq!([force("right_hip"), force("left_hip")], [Some(1.0), Some(4.0)]);
    let excluded = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|n| world.bodies.iter().position(|b| b.name == n).unwrap());
        world.no_contact.contains(&[a.min(b), a.max(b)])
    };
    assert!(excluded("base", "post-0") && excluded("base", "post-2") && !excluded("post-0", "post-1"));
    let set = ImportOptions { controls: vec![("servo-2".to_string(), 0.3)], ..ImportOptions::default() };
    assert!(read_file(&folder().join("assembly.xml"), &set).is_ok());
    for (key, name) in [(Some("raise"), None), (None, Some("servo"))] {
        let controls = name.map(|name: &str| (name.to_string(), 1.0)).into_iter().collect();
        let options =
            ImportOptions { keyframe: key.map(str::to_string), controls, ..ImportOptions::default() };
        let error = read_file(&folder().join("assembly.xml"), &options).map(|_| ()).unwrap_err();
        assert!(error.contains("mean `raised`?") || error.contains("mean `servo-0`?"), "{error}");
    }
}

/// Masses of a mesh by all ways in which MuJoCo counts them, primitives fitted to it, a height field, and a
/// visual mesh whose file is not there on a body that needs none.
#[test]
fn masses_of_meshes_are_those_of_mujoco() {
    let imported = read("meshes.xml", &ImportOptions::default());
    let bodies: [Reference; 7] = [
        (
            "legacy",
            8.655813953488375,
            [0.05605869323036547, 0.16739689922480616, 0.2101331118350167],
            [0.14139534883720933, 0.05, 3.1413953488372095],
        ),
        (
            "exact",
            7.000000000000001,
            [0.04880952380952384, 0.1516666666666667, 0.18880952380952387],
            [1.1357142857142857, 0.05000000000000002, 3.1357142857142857],
        ),
        (
            "convex",
            11.500000000000005,
            [0.08644927536231888, 0.18916666666666673, 0.25644927536231893],
            [2.1608695652173915, 0.05, 3.1608695652173915],
        ),
        (
            "shell",
            300.00000000000017,
            [2.806666666666668, 7.6666666666666705, 9.506666666666671],
            [3.0 + 0.14, 0.049999999999999996, 3.0 + 0.14],
        ),
        (
            "box",
            13.571428571428571,
            [0.09463070942662784, 0.29404761904761906, 0.3660592808551993],
            [4.135714285714286, 0.05000000000000002, 3.1357142857142857],
        ),
        (
            "capsule",
            14.382556163245695,
            [0.05911464873841403, 0.374222541616699, 0.374222541616699],
            [5.135714285714286, 0.05000000000000002, 3.1357142857142857],
        ),
        ("given", 1.0, [1.0, 1.0, 1.0], [6.0, 0.0, 3.0]),
    ];
    agree(&imported, &bodies);
    let ShapeKind::Heightfield { heights, size, extent } = &imported.file.world.bodies[0].shapes[0].kind
    else {
        panic!("no height field");
    };
    // The first row of the file is the farthest along y; heights from 0 to 6 become 0 to 0.5.
    let expected = [3.0, 4.0, 6.0, 0.0, 1.0, 2.0].map(|h| h / 12.0);
    assert!(heights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{heights:?}");
    assert_eq!((*size, *extent), ([3, 2], [2.0, 4.0]));
}

/// A file that includes itself, and one that is not there.
#[test]
fn includes_that_do_not_end_are_refused() {
    for (file, expected) in [("loop.xml", "not included already"), ("absent.xml", "a file that can be read")]
    {
        let text = format!("<mujoco>\n<include file=\"{file}\"/>\n</mujoco>");
        let error = read_xml_with(&text, Some(&folder().join("bad")), &ImportOptions::default()).unwrap_err();
        assert!(error.render("main.xml", &text).contains(expected), "{}", error.render("main.xml", &text));
    }
    // The message names the file in which the error stands.
    let text = "<mujoco>\n<include file=\"wrong.xml\"/>\n</mujoco>";
    let error = read_xml_with(text, Some(&folder().join("bad")), &ImportOptions::default()).unwrap_err();
    let message = error.render("main.xml", text);
    assert!(message.contains("wrong.xml:4:5: `size` of <geom> is -1"), "{message}");
}

/// A package above the file, links on fixed joints, links without mass, moments that no body has.
#[test]
fn a_robot_with_all_that_files_have() {
    let name = "robot_description/urdf/robot.urdf";
    let imported = read(name, &ImportOptions::default());
    let world = &imported.file.world;
    let names: Vec<&str> = world.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["foot", "gimbal", "camera"]);
    assert!(world.bodies[0].fixed);
    assert_eq!(world.bodies[1].mass, 0.5e-3);
    // The moments 1, 1 and 10 of the camera become 4.
    assert!((world.bodies[2].inertia - DVec3::splat(4e-3)).length() < 1e-15);
    assert!(matches!(world.joints[0].kind, JointKind::Revolute) && world.joints[0].actions.is_empty());
    assert!(matches!(world.joints[1].actions[0].kind, ActionKind::Limits { lower: -1.0, upper: 1.0, .. }));
    let reported =
        ["moments of inertia that no body has", "a joint that moves nothing", "links between two joints"];
    for what in reported {
        assert!(imported.not_read.iter().any(|n| n.contains(what)), "{what}: {:?}", imported.not_read);
    }
    // Let go: foot, trunk and battery are one body of 4 kg, its centre a quarter of 0.3 m above the trunk.
    let free = ImportOptions { fixed_base: Some(false), ..ImportOptions::default() };
    let imported = read(name, &free);
    let base = &imported.file.world.bodies[0];
    assert!((base.mass - 4.0).abs() < 1e-15 && !base.fixed);
    assert!((imported.file.state.bodies[0].pose.position.z - 0.075).abs() < 1e-15);
    // By parallel axes: 0.03 + 0.01 + 3/4 · 0.09 across, 0.04 along.
    let mut moments = base.inertia.to_array();
    moments.sort_by(f64::total_cmp);
    assert!((moments[0] - 0.04).abs() < 1e-15 && (moments[2] - 0.1075).abs() < 1e-15, "{moments:?}");
    assert!(matches!(&base.shapes[0].kind, ShapeKind::Convex { points } if points.len() == 6));
    // A package elsewhere.
    let packages = vec![("robot_parts".to_string(), folder().join("nowhere"))];
    let error = read_file(&folder().join(name), &ImportOptions { packages, ..ImportOptions::default() });
    assert!(error.unwrap_err().contains("cannot be read"));
    let text = std::fs::read_to_string(folder().join(name)).unwrap().replace("robot_parts", "other_parts");
    let error = read_xml_with(&text, Some(&folder()), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("--package other_parts=FOLDER"), "{error}");
}

/// A wedge of 0.1 × 0.3 × 0.2 m in millimetres, rotated by a quarter and moved by 1 m.
#[test]
fn a_collada_file_has_its_units_and_transformations() {
    let mesh = read_mesh(&folder().join("robot_description/meshes/wedge.dae")).unwrap();
    assert_eq!(mesh.triangles.len(), 8);
    assert!((mesh.vertices[1] - DVec3::new(1.0, 0.1, 0.0)).length() < 1e-15, "{}", mesh.vertices[1]);
    let volume = delassus::world::shape_mass(&ShapeKind::Mesh {
        vertices: mesh.vertices[..6].to_vec(),
        triangles: mesh.triangles.iter().map(|t| t.map(|i| i % 6)).collect(),
    });
    assert!((volume.unwrap().mass - 0.003).abs() < 1e-15);
}

/// Published models, where `DELASSUS_MODELS` names a folder with checkouts of mujoco_menagerie, mujoco and
/// dm_control: they are read, and the sum of the masses of bodies that move is that of MuJoCo
/// (`body_mass` of bodies with `body_weldid` above 0), to the digits of `models.csv`.
#[test]
fn published_models_are_read_and_have_their_mass() {
    let Ok(models) = std::env::var("DELASSUS_MODELS") else {
        println!("DELASSUS_MODELS is not set: no published model was read");
        return;
    };
    let list = std::fs::read_to_string(folder().join("models.csv")).unwrap();
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let (name, mass) = line.split_once(',').unwrap();
        let (path, mass) = (Path::new(&models).join(name), mass.trim().parse::<f64>().unwrap());
        match read_file(&path, &ImportOptions::default()) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(imported) => {
                let bodies = imported.file.world.bodies.iter().filter(|b| !b.fixed);
                let found: f64 = bodies.map(|b| b.mass).sum();
                // Twelve digits in the list.
                if (found - mass).abs() > 1e-9 * mass {
                    wrong.push(format!("{name}: {found} kg, {mass} in MuJoCo"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
