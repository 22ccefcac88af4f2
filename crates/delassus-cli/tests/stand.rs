//! `delassus stand` and `delassus hold` as a user types them.

use delassus_solve::analysis::equilibrium::{Balance, Support, find_collapse, is_collapse};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::Law;
use serde_json::{Value, json as value};

use crate::certificate::{by_program, by_python, certificate, number, tampered};
use crate::{Temporary, delassus, json, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_arch_stands_by_friction_and_falls_where_it_is_thin_or_smooth() {
    let arch = scene("arch.toml");
    let (code, doc) = json(&["stand", &arch, "--friction", "--json"]);
    assert_eq!((code, &doc["stands"], &doc["collapse"]), (0, &value!("possibly"), &value!(null)));
    // Either another motion, or what was tried.
    assert_eq!(
        doc["other_motion"].is_null(),
        doc["notes"].to_string().contains("another motion was looked for")
    );
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

/// A block with a smaller one on it, on a slope of 15°.
const SLOPE: &str = r#"
[world]
name = "slope"
gravity = ["9.81*sin(angle)", 0, "-9.81*cos(angle)"]
[parameters]
angle = "15 deg"
mu = 0.3
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "block"
mass = 2.0
position = [0, 0, 0.2]
[[body.shape]]
type = "box"
half_extents = [0.5, 0.4, 0.2]
[[body]]
name = "brick"
mass = 0.5
position = [0.1, 0.05, 0.45]
euler_deg = [0, 0, 25]
[[body.shape]]
type = "box"
half_extents = [0.2, 0.1, 0.05]
[[friction]]
between = ["*", "*"]
mu = "mu"
"#;

/// Whether the solvers prove that what a certificate of the kind `faces` speaks of falls.
fn falls(document: &Value, share: f64) -> bool {
    let vector = |x: &Value| glam::DVec3::from_array([0_usize, 1, 2].map(|i| number(&x[i], share)));
    let (problem, mut entries, mut supports) = (&document["problem"], vec![], vec![]);
    let bodies = problem["bodies"].as_array().unwrap();
    let gravity = vector(&problem["gravity"]);
    let mut load = vec![0.0; 6 * bodies.len()];
    for (p, body) in bodies.iter().enumerate() {
        let weight = -number(&body["mass"], share) * gravity;
        load[6 * p..6 * p + 3].copy_from_slice(&weight.to_array());
        let n = vector(&body["normal"]).normalize();
        let [e, h] = [n.any_orthonormal_vector(), n.cross(n.any_orthonormal_vector())];
        for contact in body["contacts"].as_array().unwrap() {
            let (point, row) = (vector(&contact["point"]), 3 * supports.len());
            supports.push(Support::Contact(Law::Coulomb { mu: number(&contact["mu"], share) }));
            for (k, axis) in [n, e, h].into_iter().enumerate() {
                let on = body["on"].as_u64().map(|q| (q as usize, -1.0));
                for (q, sign) in [Some((p, 1.0)), on].into_iter().flatten() {
                    let arm = (point - vector(&bodies[q]["centre"])).cross(axis);
                    let all = axis.to_array().into_iter().chain(arm.to_array()).enumerate();
                    entries.extend(all.map(|(c, x)| (row + k, 6 * q + c, sign * x)));
                }
            }
        }
    }
    let rows = Sparse::from_triplets(3 * supports.len(), load.len(), &entries);
    let balance = Balance { rows, load_error: vec![0.0; load.len()], load, supports, rounding: 0.0 };
    find_collapse(&balance, |v| is_collapse(&balance, v)).is_some()
}

#[test]
fn blocks_on_a_slope_surely_stand_and_their_certificate_travels() {
    let file = Temporary::new("slope.toml", SLOPE.as_bytes());
    let (code, doc) = json(&["stand", file.path(), "--json"]);
    assert_eq!((code, &doc["stands"], &doc["reason"]), (0, &value!("surely"), &value!("plane-faces")));
    // tan 15° = 0.26795.
    let (code, doc) = json(&["stand", file.path(), "--set", "mu=0.267", "--json"]);
    assert_eq!((code, &doc["stands"]), (1, &value!("no")));
    let found = certificate(&["stand", file.path()]).1.unwrap();
    assert_eq!(found["kind"], "faces");
    // A side of a polygon less, turned around, other numbers of S, a body that stands on itself.
    let mut all = vec![found.clone(); 6];
    all[1]["facts"]["around"][0].as_array_mut().unwrap().truncate(2);
    all[2]["facts"]["around"][1].as_array_mut().unwrap().reverse();
    all[3]["facts"]["lift"] = value!("0");
    all[4]["facts"]["lift"] = value!("1000");
    all[5]["problem"]["bodies"][1]["on"] = value!(1);
    let outcomes: Vec<u8> = all.iter().map(by_program).collect();
    assert_eq!(outcomes, [0, 1, 1, 1, 1, 2]);
    assert_eq!(by_python(&all), outcomes);
    let all = tampered(&found, 60);
    let outcomes: Vec<u8> = all.iter().map(by_program).collect();
    assert_eq!(by_python(&all), outcomes);
    let (mut wrong, mut accepted) = (0, 0);
    for (document, code) in all.iter().zip(&outcomes).filter(|(_, code)| **code != 2) {
        let is_false = [0.0, 0.5, 1.0].iter().any(|share| falls(document, *share));
        assert!(!(is_false && *code == 0), "accepted, but false:\n{document}");
        wrong += usize::from(is_false);
        accepted += usize::from(*code == 0);
    }
    assert!(wrong > 5 && accepted > 5, "{wrong} false, {accepted} accepted");
}

#[test]
fn margins_have_certificates() {
    let (slope, block) =
        (Temporary::new("slope.toml", SLOPE.as_bytes()), Temporary::new("block.toml", BLOCK.as_bytes()));
    let arch = scene("arch.toml");
    let cases: [(&[&str], &[&str]); 3] = [
        (
            &["stand", slope.path(), "--friction", "--tilt", "x", "--tilt", "-y"],
            &["friction", "tilt", "tilt"],
        ),
        (&["stand", block.path(), "--load", "block", "--tilt", "1,1,0"], &["load", "tilt"]),
        (&["stand", &arch, "--friction", "--load", "stone5"], &["friction", "load"]),
    ];
    let (mut all, mut expected) = (Vec::new(), Vec::new());
    for (args, kinds) in cases {
        let (code, found) = certificate(args);
        let found = found.unwrap();
        assert_eq!((code, &found["kind"]), (0, &value!("list")), "{args:?}");
        let parts = found["certificates"].as_array().unwrap();
        let of: Vec<&str> = parts[1..].iter().map(|own| own["claim"]["of"].as_str().unwrap()).collect();
        assert_eq!(of, kinds, "{args:?}");
        for own in &parts[1..] {
            let (claim, mut changed) = (&own["claim"], own.clone());
            all.push(own.clone());
            expected.push(0);
            // Nothing claimed, and the ends exchanged, where there are two.
            changed["claim"] = value!({ "of": claim["of"] });
            all.push(changed.clone());
            expected.push(2);
            if let (Some(stands), Some(falls)) = (claim.get("stands"), claim.get("falls")) {
                changed["claim"] = value!({ "of": claim["of"], "stands": falls, "falls": stands });
                all.push(changed);
                expected.push(1);
            }
        }
        all.push(found.clone());
        expected.push(0);
    }
    let outcomes: Vec<u8> = all.iter().map(by_program).collect();
    assert_eq!(outcomes, expected);
    assert_eq!(by_python(&all), outcomes);
    // As a user types it.
    let file = Temporary::new("c.json", all[0].to_string().as_bytes());
    let text = String::from_utf8(delassus(&["verify", file.path()]).stdout).unwrap();
    assert!(text.contains("friction: stands with 0.8931") && text.contains("falls with 0.8931"), "{text}");
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

/// A tall block with flat faces at its foot in a notch, its weight along x (`type-c` of compas_cra).
const WEDGE: &str = r#"
[world]
name = "wedge"
gravity = [9.81, 0, 0]
[parameters]
mu = 1.75
[[body]]
name = "right"
fixed = true
[[body.shape]]
type = "convex"
points = [[0,0,0], [2,0,0], [2,0,1.0773502691896253], [1,0,1.0773502691896253], [0,0,0.5],
          [0,1,0], [2,1,0], [2,1,1.0773502691896253], [1,1,1.0773502691896253], [0,1,0.5]]
[[body]]
name = "left"
fixed = true
[[body.shape]]
type = "convex"
points = [[0,0,0], [-2,0,0], [-2,0,1.0773502691896253], [-1,0,1.0773502691896253], [0,0,0.5],
          [0,1,0], [-2,1,0], [-2,1,1.0773502691896253], [-1,1,1.0773502691896253], [0,1,0.5]]
[[body]]
name = "block"
[[body.shape]]
type = "convex"
density = 1
points = [[0,0,0.5], [1,0,1.0773502691896253], [1,0,2.338119784648299], [-1,0,2.338119784648299], [-1,0,1.0773502691896253],
          [0,1,0.5], [1,1,1.0773502691896253], [1,1,2.338119784648299], [-1,1,2.338119784648299], [-1,1,1.0773502691896253]]
[[friction]]
between = ["*", "*"]
mu = "mu"
"#;

#[test]
fn a_wedged_block_rests_from_the_root_of_three_on_by_two_checkers() {
    let file = Temporary::new("wedge.toml", WEDGE.as_bytes());
    let asked = [("1.75", 0, "possibly"), ("3", 0, "possibly"), ("1.73", 1, "no"), ("1", 1, "no")];
    let mut all = Vec::new();
    for (mu, expected, word) in asked {
        let (code, found) = certificate(&["stand", file.path(), "--set", &format!("mu={mu}")]);
        let found = found.unwrap_or_else(|| panic!("{mu}"));
        assert_eq!((code, &found["claim"]["stands"]), (expected, &value!(word)), "{mu}");
        all.push(found);
    }
    assert_eq!(all.iter().map(by_program).collect::<Vec<u8>>(), [0; 4]);
    assert_eq!(by_python(&all), [0; 4]);
}
