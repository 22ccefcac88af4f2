//! `check` on worlds.

use crate::{Temporary, delassus, json};

/// A table on the ground, and a pendulum on a mesh.
const WORLD: &str = r#"[world]
name = "pendulum"
[parameters]
m = 2.0
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "bob"
mass = "m"
position = [0, 0, 1]
velocity = [3, 0, 0]
[[body.shape]]
type = "mesh"
file = "tetrahedron.obj"
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["world", "bob"]
anchor = [0, 0, 2]
axis = [0, 1, 0]
[[joint]]
name = "second"
type = "revolute"
bodies = ["world", "bob"]
anchor = [0, 1, 2]
axis = [0, 1, 0]
"#;

/// Centred: its corners sum to zero.
const TETRAHEDRON: &str = "v 1 1 1\nv -1 -1 1\nv -1 1 -1\nv 1 -1 -1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn world() -> Temporary {
    let file = Temporary::new("world.toml", WORLD.as_bytes());
    let folder = std::path::Path::new(file.path()).parent().unwrap().to_path_buf();
    std::fs::write(folder.join("tetrahedron.obj"), TETRAHEDRON).unwrap();
    file
}

#[test]
fn check_describes_a_world() {
    let file = world();
    let (code, doc) = json(&["check", file.path(), "--json", "--set", "m=4"]);
    assert_eq!(code, 0);
    assert_eq!(doc["name"], "pendulum");
    assert_eq!(doc["bodies"]["bob"]["mass"], 4.0);
    assert_eq!(doc["bodies"]["ground"]["fixed"], true);
    assert_eq!(doc["bodies"]["bob"]["shapes"][0], "mesh");
    assert_eq!(doc["joints"]["hinge"]["type"], "revolute");
    assert_eq!(doc["joints"]["hinge"]["bodies"][0], "world");
    assert_eq!(doc["degrees_of_freedom"], 1);
    assert_eq!(doc["redundant_rows"], 5);
    assert_eq!(doc["kinetic_energy"], 18.0);
    assert!((doc["potential_energy"].as_f64().unwrap() - 4.0 * 9.81).abs() < 1e-12);
    let out = delassus(&["check", file.path()]);
    let words = String::from_utf8(out.stdout).unwrap();
    assert!(words.contains("1 degree of freedom, 5 redundant rows"), "{words}");
    assert!(words.contains("reactions not unique: hinge, second"), "{words}");
    assert!(words.contains("joint hinge: revolute between world and bob"), "{words}");
}

#[test]
fn bad_worlds_are_refused_with_their_place() {
    let cases = [
        ("mass = \"m\"", "mass = \"-m\"", ":12:", "`mass` is -2"),
        ("tetrahedron.obj", "missing.obj", ":17:", "missing.obj: cannot be read"),
        ("mass = \"m\"", "mass = 1\ninertia = [1, 1, 3]", ":13:", "3 > 1 + 1"),
        ("bodies = [\"world\", \"bob\"]", "bodies = [\"bob\", \"bob\"]", ":21:", "to itself"),
        ("name = \"second\"", "name = \"hinge\"", ":25:", "already a joint `hinge`"),
    ];
    for (from, to, line, message) in cases {
        let file = world();
        std::fs::write(file.path(), WORLD.replacen(from, to, 1)).unwrap();
        let out = delassus(&["check", file.path(), "--json"]);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(out.stdout.is_empty());
        assert!(text.contains(&format!("world.toml{line}")) && text.contains(message), "{to}: {text}");
    }
}

#[test]
fn loops_that_are_open_are_closed_or_refused() {
    // A rod of 1 m from the origin to a point at a distance; the other end sits on a ball joint there.
    let world = |x: f64| {
        format!(
            "[world]\n[[body]]\nname = \"rod\"\nmass = 1\nposition = [0.5, 0, 0]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.5, 0.1, 0.1]\n\
             [[joint]]\nname = \"near\"\ntype = \"ball\"\nbodies = [\"world\", \"rod\"]\nanchor = [0, 0, 0]\n\
             [[joint]]\nname = \"far\"\ntype = \"distance\"\nbodies = [\"world\", \"rod\"]\nanchors = [[{x}, 0.2, 0], [1, 0, 0]]\nlength = 0.5\n"
        )
    };
    let file = Temporary::new("open.toml", world(1.4).as_bytes());
    let (code, doc) = json(&["check", file.path(), "--json"]);
    assert_eq!((code, doc["degrees_of_freedom"].as_u64()), (0, Some(2)), "{doc}");
    assert!((doc["joint_error"].as_f64().unwrap() - (0.5 - 0.2_f64.sqrt())).abs() < 1e-12);
    assert!(doc["moved_to_close"].as_f64().unwrap() > 0.01);
    let file = Temporary::new("torn.toml", world(3.0).as_bytes());
    let out = delassus(&["check", file.path()]);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("torn.toml:") && message.contains("cannot close"), "{message}");
}

#[test]
fn an_mjcf_is_checked_and_moved() {
    let path = crate::root().join("scenes/ragdoll.xml");
    let path = path.to_str().unwrap();
    let (code, doc) = json(&["check", path, "--json"]);
    assert_eq!(code, 0);
    assert_eq!(doc["name"], "ragdoll");
    // 6 + 3 (neck) + 1 (waist) + 2 · (2 + 1) (legs) + 2 · (3 + 1) (arms).
    assert_eq!(doc["degrees_of_freedom"], 24);
    assert_eq!(doc["redundant_rows"], 0);
    assert_eq!(doc["joints"]["right_hip_x+right_hip_y"]["type"], "universal");
    let (code, doc) = json(&["run", path, "--json", "--t-end", "0.3"]);
    assert_eq!(code, 0, "{doc}");
    assert!(
        doc["max_penetration"].as_f64().unwrap() < 1e-6 && doc["max_joint_error"].as_f64().unwrap() < 1e-6
    );
    assert!(doc["energy"]["end"].as_f64() < doc["energy"]["start"].as_f64());
    let out = delassus(&["check", path, "--set", "mu=1"]);
    assert_eq!(out.status.code(), Some(2));
    let bad =
        Temporary::new("bad.xml", b"<mujoco>\n<worldbody>\n<geom type=\"torus\"/></worldbody></mujoco>");
    let out = delassus(&["check", bad.path()]);
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        message.contains("bad.xml:3:1") && message.contains("torus") && message.contains("plane, hfield"),
        "{message}"
    );
    let odd = Temporary::new("odd.xml", b"<mujoco>\n<option o_margin=\"0.1\"/></mujoco>");
    let out = delassus(&["check", odd.path()]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("not read: `o_margin` of <option> (line 2)"));
}

/// A rod of 1 m whose ends are hung up 1.2 m apart, the second on a slide.
const OPEN: &str = r#"[world]
gravity = [0, 0, 0]
[parameters]
top = 5
[[body]]
name = "rod"
mass = 1
inertia = [0.1, 0.1, 0.1]
[[body]]
name = "slider"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.7, 0, 0]
[[joint]]
name = "pin"
type = "ball"
bodies = ["world", "rod"]
anchors = [[-0.5, 0, 0], [-0.5, 0, 0]]
[[joint]]
name = "eye"
type = "ball"
bodies = ["rod", "slider"]
anchors = [[0.5, 0, 0], [0.7, 0, 0]]
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["world", "slider"]
axis = [1, 0, 0]
limits = [-2, "top"]
"#;

#[test]
fn assemble_closes_loops_and_writes_poses() {
    let file = Temporary::new("open.toml", OPEN.as_bytes());
    let written = std::path::Path::new(file.path()).with_file_name("poses.toml");
    let (code, doc) = json(&["assemble", file.path(), "--json", "-o", written.to_str().unwrap()]);
    assert_eq!(code, 0, "{doc}");
    // The rod lies along x already and is pinned: the slider comes to its end, 0.2 m.
    let x = doc["bodies"]["slider"]["position"][0].as_f64().unwrap();
    assert!((x - 0.5).abs() < 1e-9, "{doc}");
    assert!((doc["joint_error"].as_f64().unwrap() - 0.2).abs() < 1e-12, "{doc}");
    assert!(doc["joint_error_left"].as_f64().unwrap() < 1e-11, "{doc}");
    let poses = std::fs::read_to_string(&written).unwrap();
    assert_eq!(poses.matches("[[body]]").count(), 2, "{poses}");
    assert!(poses.contains(&format!("position = [{x:?}, ")), "{poses}");
    let out = delassus(&["assemble", file.path()]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.starts_with("assembled") && text.contains("slider: position [0.5, 0, 0]"), "{text}");
    // The end of the rod is at most 0.5, the slider with its coordinate at least 1 at 1.7.
    let far = OPEN.replace("limits = [-2", "limits = [1").replace("top = 5", "top = 2");
    let far = Temporary::new("far.toml", far.as_bytes());
    let out = delassus(&["assemble", far.path()]);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{text}");
    assert!(text.contains("far.toml:") && text.contains("cannot close: joint `"), "{text}");
    let system = crate::root().join("scenes/painleve.toml");
    assert_eq!(delassus(&["assemble", system.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn a_start_outside_limits_is_told() {
    let outside = r#"[world]
gravity = [0, 0, 0]
[[body]]
name = "slider"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.7, 0, 0]
velocity = [1, 0, 0]
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["world", "slider"]
axis = [1, 0, 0]
limits = [-2, -0.4]
"#;
    let file = Temporary::new("outside.toml", outside.as_bytes());
    let (code, doc) = json(&["check", file.path(), "--json"]);
    assert_eq!(code, 0);
    assert!((doc["limit_error"].as_f64().unwrap() - 0.4).abs() < 1e-12, "{doc}");
    let out = delassus(&["check", file.path()]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("joint `guide` is outside its limits by 0.4; bodies move"), "{text}");
    for scheme in ["symmetric", "half-implicit"] {
        let (code, doc) = json(&["run", file.path(), "--json", "--t-end", "0.01", "--scheme", scheme]);
        assert_eq!(code, 0, "{doc}");
        assert!(doc["notes"][0].as_str().unwrap().contains("`guide` was outside its limits"), "{doc}");
        let x = doc["bodies"]["slider"]["position"][0].as_f64().unwrap();
        assert!((x - 0.3).abs() < 1e-9, "{doc}");
    }
}

#[test]
fn settings_of_a_world_that_make_no_sense_have_a_place() {
    for (setting, expected) in [
        ("solver = \"foo\"", [":31:10:", "`solver` is `foo`"]),
        ("dt = 1e-300", ["set.toml: 1.0 s in steps of 1e-300 s are", "at most 1e9"]),
    ] {
        let file = Temporary::new("set.toml", format!("{OPEN}[simulation]\n{setting}\n").as_bytes());
        let out = delassus(&["run", file.path()]);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(expected.iter().all(|e| text.contains(e)) && text.len() < 400, "{text}");
    }
}

/// A bar hinged above the floor that leans on it: a tangent of the contact is held by the hinge, and motions
/// are those in the plane.
#[test]
fn a_hinged_bar_that_leans_is_decided_in_its_plane() {
    let text = r#"[world]
gravity = [0, 0, -9.81]
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "bar"
mass = 1.0
position = [0.43301270189221935, 0, 0.27]
euler_deg = [0, 30, 0]
[[body.shape]]
type = "capsule"
radius = 0.02
half_height = 0.5
euler_deg = [0, 90, 0]
[[joint]]
name = "h"
type = "revolute"
bodies = ["world", "bar"]
anchor = [0, 0, 0.52]
axis = [0, 1, 0]
[[friction]]
between = ["*", "*"]
mu = 0.5
"#;
    let file = Temporary::new("bar.toml", text.as_bytes());
    let (_, out) = json(&["analyze", file.path(), "--json"]);
    assert_eq!((&out["existence"], &out["acceleration_unique"]), (&"proved".into(), &"proved".into()));
    assert_ne!(out["forces_unique"], "proved");
}
