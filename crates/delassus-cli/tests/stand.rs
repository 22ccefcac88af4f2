//! `delassus stand` and `delassus hold` as a user types them.

use serde_json::json as value;

use crate::{Temporary, delassus, json, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_arch_stands_by_friction_and_falls_where_it_is_thin_or_smooth() {
    let arch = scene("arch.toml");
    let (code, doc) = json(&["stand", &arch, "--friction", "--json"]);
    assert_eq!((code, &doc["stands"], &doc["collapse"]), (0, &value!("possibly"), &value!(null)));
    assert_eq!(doc["contacts"].as_array().unwrap().len(), 40);
    let margin = &doc["margins"][0];
    let ends = ["falls", "stands"]
        .map(|end| margin[end].as_f64().unwrap() * margin["coefficient"].as_f64().unwrap());
    // Between the smooth arch that slides, and the friction that it has.
    assert!(0.2 < ends[0] && ends[0] < ends[1] && ends[1] < 0.7 && ends[1] - ends[0] < 1e-5, "{ends:?}");
    for set in [["inner=0.96", "outer=1.04"], ["mu=0.2", "depth=0.3"]] {
        let (code, doc) = json(&["stand", &arch, "--set", set[0], "--set", set[1], "--json"]);
        assert_eq!((code, &doc["stands"]), (1, &value!("no")), "{set:?}");
        assert_eq!(doc["collapse"].as_array().unwrap().len(), 9);
    }
}

/// The post of the book: it leans by 45° on a small foot and is pushed there.
const POST: &str = r#"
[world]
name = "leaning post"
gravity = [0, 0, 0]
[parameters]
mu = 2.0
along = 1.8
foot = 0.02
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "post"
mass = 1.0
inertia = ["1/3", "1/3", "1/3"]
position = [0, 0, "sin(pi/4)"]
force = ["-along", 0, -1]
torque = [0, "sin(pi/4)*along - cos(pi/4)", 0]
[[body.shape]]
type = "box"
half_extents = ["foot", "foot", "foot/4"]
position = ["-cos(pi/4)", 0, "foot/4 - sin(pi/4)"]
[[friction]]
between = ["post", "floor"]
mu = "mu"
"#;

#[test]
fn a_post_that_can_stand_need_not() {
    let file = Temporary::new("post.toml", POST.as_bytes());
    let (code, doc) = json(&["stand", file.path(), "--json"]);
    assert_eq!((code, &doc["stands"]), (0, &value!("possibly")));
    let other = &doc["other_motion"][0];
    assert_eq!(other["body"], value!("post"));
    // It turns with 3 · 0.8/√2 and goes down with its centre; the foot rises with 0.2.
    let turns = other["angular_acceleration"][1].as_f64().unwrap();
    assert!((turns - 2.4 / 2_f64.sqrt()).abs() < 1e-6, "{other}");
    let (code, doc) = json(&["stand", file.path(), "--set", "mu=1.7", "--json"]);
    assert_eq!((code, &doc["stands"]), (1, &value!("no")));
    // Exactly at the limit the last digits decide.
    let (code, doc) = json(&["stand", file.path(), "--set", "mu=1.8", "--json"]);
    assert_eq!((code, &doc["stands"]), (3, &value!("undecided")));
}

#[test]
fn a_stack_on_level_ground_stands_surely_and_is_drawn() {
    let folder = Temporary::new("stand.svg", b"");
    let picture = folder.0.to_str().unwrap();
    let out = delassus(&["stand", &scene("stack.toml"), "--plot", picture, "--tilt", "x"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}");
    assert!(text.contains("SURELY STANDS") && text.contains("tilt towards (1, 0, 0): stands with"), "{text}");
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(svg.contains("surely stands") && svg.contains("<svg"));
}

const BLOCK: &str = r#"
[world]
name = "block"
gravity = [0, 0, -10]
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "block"
mass = 1.0
position = [0, 0, 0.1]
[[body.shape]]
type = "box"
half_extents = [0.5, 0.5, 0.1]
[[friction]]
between = ["*", "*"]
mu = 0.3
"#;

#[test]
fn a_block_on_a_floor_resists_what_its_friction_does() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let path = file.0.to_str().unwrap();
    // Pulled along and a little up, F (cos φ + μ sin φ) = μ m g: F = 3/√(1 + 0.3²) is the least.
    let least = 3.0 / 1.09_f64.sqrt();
    let low = ["hold", path, "--body", "block", "--point", "0,0,0", "--json"];
    let (code, doc) = json(&low);
    assert_eq!(code, 0);
    let [resists, fails] = ["resists", "fails"].map(|end| doc[end].as_f64().unwrap());
    // The polyhedron of 162 corners is within 2 % of a ball.
    assert!(resists <= least && least <= fails * (1.0 + 1e-9), "{resists} {fails}");
    assert!(resists > 0.97 * least && fails < 1.02 * least, "{resists} {fails}");
    for (force, code, word) in [("2.7", 0, "yes"), ("3.1", 1, "no")] {
        let (found, doc) = json(&[&low[..], &["--force", force]].concat());
        assert_eq!((found, &doc["holds"]), (code, &value!(word)));
    }
    let text = String::from_utf8(delassus(&low[..6]).stdout).unwrap();
    assert!(text.contains("is resisted, in any direction: proved"), "{text}");
}

#[test]
fn questions_without_sense_exit_with_2() {
    let moving = BLOCK.replace("mass = 1.0", "mass = 1.0\nvelocity = [1, 0, 0]");
    let file = Temporary::new("moving.toml", moving.as_bytes());
    let block = Temporary::new("block.toml", BLOCK.as_bytes());
    let [file, block] = [&file, &block].map(|f| f.0.to_str().unwrap().to_owned());
    let rod = scene("painleve-rod.toml");
    let refused: [(&[&str], &str); 7] = [
        (&["stand", &file], "the body `block` moves with 1e0, expected a world at rest"),
        (&["stand", &rod], "expected a [world], found a [system]"),
        (&["stand", &block, "--load", "brick"], "no body `brick`; expected one of: block"),
        (&["stand", &block, "--load", "floor"], "the body `floor` is fixed, expected one that can move"),
        (&["stand", &block, "--tilt", "z"], "expected a direction across gravity"),
        (&["stand", &block, "--tilt", "up"], "expected three numbers"),
        (&["hold", &block, "--body", "block", "--force", "-1"], "expected a positive number of newtons"),
    ];
    for (args, message) in refused {
        let out = delassus(args);
        let text = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{args:?}");
        assert!(text.contains(message), "{args:?}: {text}");
    }
}
