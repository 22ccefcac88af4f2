//! `run` on worlds.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::texts::{cuboid, hinge, on_floor, sphere, surfaces};
use crate::{Temporary, delassus, json};

/// A block on the floor.
const BLOCK: &str = r#"[world]
name = "block"
[parameters]
mu = 0.5
v = 1.0
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "brick"
mass = 2.0
position = [0, 0, 0.1]
velocity = ["v", 0, 0]
[[body.shape]]
type = "box"
half_extents = [0.3, 0.2, 0.1]
[[friction]]
between = ["*", "*"]
mu = "mu"
[simulation]
t_end = 0.4
"#;

/// A bouncing ball beside a double pendulum and a box.
fn mixed() -> String {
    let ball = sphere("ball", 1.0, 0.1, [2.0, 0.0, 0.15], [0.3, 0.0, 0.0]).replace(
        "[[body.shape]]",
        "angular_velocity = [0, 1, 2]
[[body.shape]]",
    );
    let link = |name: &str, x: f64| cuboid(name, 1.0, [0.5, 0.05, 0.08], [x, 0.0, 3.0], [0.0; 3]);
    let tilted = cuboid("box", 3.0, [0.1, 0.15, 0.12], [-3.0, 0.0, 0.2], [0.0; 3]).replace(
        "[[body.shape]]",
        "euler_deg = [3, 4, 5]
[[body.shape]]",
    );
    on_floor(&[
        &ball,
        &link("upper", 0.5),
        &link("lower", 1.5),
        &tilted,
        &hinge("shoulder", ["world", "upper"], [0.0, 0.0, 3.0]),
        &hinge("elbow", ["upper", "lower"], [1.0, 0.0, 3.0]),
        &surfaces(0.4, 0.6),
        "[simulation]
t_end = 0.2
",
    ])
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("expected a number, found {value}"))
}

fn folder(file: &Temporary) -> PathBuf {
    Path::new(file.path()).parent().unwrap().to_path_buf()
}

fn in_folder(file: &Temporary, name: &str) -> String {
    folder(file).join(name).to_str().unwrap().to_owned()
}

/// The document without times of the clock.
fn timeless(mut doc: Value) -> Value {
    for key in ["wall_seconds", "real_time_factor"] {
        doc.as_object_mut().unwrap().remove(key);
    }
    doc
}

#[test]
fn a_sliding_block_stops_where_the_closed_form_says() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let (code, doc) = json(&["run", file.path(), "--json"]);
    assert_eq!(code, 0, "{doc}");
    assert_eq!((number(&doc["steps"]), number(&doc["t_end"])), (400.0, 0.4));
    // v²/(2 μ g), less than a step's part of it off.
    let x = number(&doc["bodies"]["brick"]["position"][0]);
    let stop = 1.0 / (2.0 * 0.5 * 9.81);
    assert!((x - stop).abs() < 1e-3 * stop, "{x} {stop}");
    let brick = &doc["bodies"]["brick"];
    assert!(number(&brick["velocity"][0]).abs() < 1e-9 && number(&brick["angular_velocity"][1]).abs() < 1e-9);
    assert!((number(&brick["orientation"][0]) - 1.0).abs() < 1e-9);
    assert_eq!(doc["bodies"]["ground"]["position"], serde_json::json!([0.0, 0.0, 0.0]));
    // All that was kinetic is gone: ½ m v² = 1.
    assert!((number(&doc["energy"]["start"]) - number(&doc["energy"]["end"]) - 1.0).abs() < 1e-8);
    assert!(number(&doc["max_penetration"]) < 1e-9 && number(&doc["max_residual"]) <= 1e-8);
    assert_eq!((number(&doc["degrees_of_freedom"]), number(&doc["redundant_rows"])), (6.0, 0.0));
    // It slides from the start and sticks when it stops, v/(μ g).
    let events = doc["events"].as_array().unwrap();
    let kinds: Vec<&str> = events.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["stick"], "{events:?}");
    assert_eq!(events[0]["contact"], "ground|brick");
    assert!((number(&events[0]["t"]) - 1.0 / (0.5 * 9.81)).abs() < 2e-3, "{events:?}");
    // Four corners stand with friction inside of its cone: more forces than equations.
    assert!(number(&doc["steps_with_non_unique_forces"]) > 100.0, "{doc}");
}

#[test]
fn options_come_from_the_command_line_then_the_file() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let (_, doc) =
        json(&["run", file.path(), "--json", "--set", "t_end=0.1", "--dt", "0.02", "--set", "v=2"]);
    assert_eq!((number(&doc["steps"]), number(&doc["t_end"])), (5.0, 0.1));
    assert!((number(&doc["energy"]["start"]) - (4.0 + 2.0 * 9.81 * 0.1)).abs() < 1e-12);
    // An end that is no multiple of the step is reached by a shorter last step.
    let (code, doc) = json(&["run", file.path(), "--json", "--t-end", "0.0105"]);
    assert_eq!((code, number(&doc["steps"])), (0, 11.0));
    assert!((number(&doc["t_end"]) - 0.0105).abs() < 1e-15);
    let (code, doc) = json(&["run", file.path(), "--json", "--t-end", "0"]);
    assert_eq!((code, number(&doc["steps"])), (0, 0.0));
    // The associated law lifts off while it slides (004 §6): the block leaves the ground.
    let args = ["run", file.path(), "--json", "--t-end", "0.05", "--law", "ccp", "--scheme", "half-implicit"];
    let (code, doc) = json(&args);
    assert_eq!(code, 0, "{doc}");
    assert!(number(&doc["bodies"]["brick"]["position"][2]) > 0.1 + 1e-5, "{doc}");
}

#[test]
fn a_run_that_goes_on_from_a_checkpoint_has_the_same_bits() {
    let file = Temporary::new("mixed.toml", mixed().as_bytes());
    let [csv, twice] = ["whole.csv", "parts.csv"].map(|name| in_folder(&file, name));
    let saved = in_folder(&file, "saved.json");
    let whole = json(&["run", file.path(), "--json", "-o", &csv, "--every", "10"]);
    let again = json(&["run", file.path(), "--json"]);
    assert_eq!(whole.0, 0, "{}", whole.1);
    let whole = timeless(whole.1);
    assert_eq!(whole, timeless(again.1), "the same run twice");
    assert!(number(&whole["event_counts"]["impact"]) >= 2.0, "{}", whole["events"]);
    // Not at a frame: the row that the first part ends with is none of the whole.
    let first = [
        "run",
        file.path(),
        "--json",
        "--t-end",
        "0.105",
        "--checkpoint",
        &saved,
        "-o",
        &twice,
        "--every",
        "10",
    ];
    assert_eq!(json(&first).0, 0);
    let (code, doc) =
        json(&["run", file.path(), "--json", "--resume", &saved, "-o", &twice, "--every", "10"]);
    assert_eq!((code, timeless(doc)), (0, whole));
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), std::fs::read_to_string(&twice).unwrap());
    let forces = ["whole-forces.csv", "parts-forces.csv"]
        .map(|name| std::fs::read_to_string(in_folder(&file, name)).unwrap());
    assert_eq!(forces[0], forces[1]);
    assert!(forces[0].contains(",contact,floor|box") && forces[0].contains(",joint,elbow,"), "{}", forces[0]);
    // A comment or another end are no other scene.
    let commented = Temporary::new("commented.toml", format!("# again\n{}", mixed()).as_bytes());
    assert_eq!(json(&["run", commented.path(), "--json", "--resume", &saved, "--t-end", "0.11"]).0, 0);
    // Other options of its steps are named; the same ones, and another end, are not.
    let again = |options: &[&str]| {
        let doc =
            json(&[&["run", file.path(), "--json", "--resume", &saved, "--t-end", "0.11"], options].concat())
                .1;
        let notes = doc["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_string());
        notes.filter(|note| note.contains("other options than before")).collect::<Vec<_>>()
    };
    assert_eq!(again(&[]), Vec::<String>::new());
    let notes = again(&["--law", "ccp", "--tolerance", "1e-9", "--dt", "5e-4"]);
    let expected = "the run goes on with other options than before: dt 0.0005 (before: 0.001), law ccp \
                    (before: ncp), tolerance 1e-9 (before: 1e-10)";
    assert_eq!(notes, [expected]);
    assert!(again(&["--adaptive"])[0].contains("adaptive yes (before: no), dt-min"));
    // A checkpoint of another scene, with other bodies or with one number changed; a later time; a file that
    // is none.
    let block = Temporary::new("block.toml", BLOCK.as_bytes());
    let heavy = Temporary::new("heavy.toml", mixed().replace("mass = 3.0", "mass = 3.5").as_bytes());
    assert_ne!(mixed(), mixed().replace("mass = 3.0", "mass = 3.5"));
    for (args, message) in [
        (vec!["run", block.path(), "--resume", &saved], "other bodies or joints; this one is block ("),
        (vec!["run", block.path(), "--resume", &saved], "mixed.toml, with other"),
        (vec!["run", heavy.path(), "--resume", &saved], "other properties, laws or another start"),
        (vec!["run", file.path(), "--resume", &saved, "--t-end", "0.05"], "after the end"),
        (vec!["run", file.path(), "--resume", file.path()], "not a checkpoint"),
    ] {
        let out = delassus(&args);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn tables_have_the_columns_of_every_body() {
    let file = Temporary::new("mixed.toml", mixed().as_bytes());
    let csv = in_folder(&file, "out.csv");
    let (_, doc) = json(&["run", file.path(), "--json", "-o", &csv, "--t-end", "0.05"]);
    let text = std::fs::read_to_string(&csv).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    // The start and every step, four bodies that move, then joints.
    assert_eq!(lines.len(), 1 + 51);
    assert!(
        lines[0][1 + 4 * 13..].iter().all(|name| name.ends_with(".position") || name.ends_with(".velocity"))
    );
    assert_eq!(lines[0][..4], ["time", "ball.x", "ball.y", "ball.z"]);
    let last = lines.last().unwrap();
    let column = |name: &str| lines[0].iter().position(|n| *n == name).unwrap();
    let value = |name: &str| last[column(name)].parse::<f64>().unwrap();
    assert_eq!(value("box.qw"), number(&doc["bodies"]["box"]["orientation"][0]));
    assert_eq!(value("lower.wy"), number(&doc["bodies"]["lower"]["angular_velocity"][1]));
    assert_eq!(value("time"), 0.05);
}

#[test]
fn forces_that_are_not_unique_come_with_intervals() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let (code, doc) = json(&[
        "run",
        file.path(),
        "--json",
        "--set",
        "v=1e-9",
        "--t-end",
        "0.02",
        "--forces-at",
        "0.01,0.02",
    ]);
    assert_eq!(code, 0, "{doc}");
    let [_, at] = doc["forces"].as_array().unwrap().as_slice() else { panic!("{doc}") };
    assert_eq!((number(&at["t"]), &at["unique"]), (0.02, &Value::Bool(false)));
    let contacts = at["contacts"].as_object().unwrap();
    assert_eq!(contacts.len(), 4);
    let weight = 2.0 * 9.81;
    let sum: f64 = contacts.values().map(|c| number(&c["normal"])).sum();
    assert!((sum - weight).abs() < 1e-6 * weight, "{sum}");
    for contact in contacts.values() {
        // Least norm: a quarter each; a corner may carry nothing or half of all.
        assert!((number(&contact["normal"]) - 0.25 * weight).abs() < 1e-4 * weight, "{contact}");
        assert!(number(&contact["interval"][0]) < 1e-3 * weight, "{contact}");
        assert!((number(&contact["interval"][1]) - 0.5 * weight).abs() < 1e-3 * weight, "{contact}");
    }
}

/// A box of 100 kg in a groove of two planes at 45°, each of which it touches at four points. Every side
/// carries N and friction T ≤ μ N upwards with N + T = W/√2; the least norm has T = μ N. A planar world off
/// its middle has no friction across the plane, with `--minimum-norm` in its steps too.
#[test]
fn least_forces_in_a_groove_have_the_closed_form_and_stay_in_the_plane() {
    for (plane, y) in [("", 0.0), ("plane = \"xz\"", 0.0), ("plane = \"xz\"", 0.07)] {
        let text = format!(
            "[world]\n{plane}\n[[body]]\nname = \"left\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = [1, 0, 1]\n\
             [[body]]\nname = \"right\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = [-1, 0, 1]\n\
             [[body]]\nname = \"box\"\nmass = 100\nposition = [0, {y}, \"0.1*sqrt(2)\"]\neuler_deg = [0, 45, 0]\n\
             [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.5\n"
        );
        let file = Temporary::new("groove.toml", text.as_bytes());
        let csv = in_folder(&file, "out.csv");
        let (code, doc) = json(&[
            "run",
            file.path(),
            "--json",
            "--t-end",
            "0.02",
            "--forces-at",
            "0.02",
            "--minimum-norm",
            "-o",
            &csv,
        ]);
        assert_eq!(code, 0, "{doc}");
        let side = 100.0 * 9.81 / 2f64.sqrt() / 1.5;
        let least = (2.0 * side * side * 1.25 / 4.0).sqrt();
        let at = &doc["forces"][0];
        assert_eq!(
            (&at["unique"], &at["unique_for_this_motion"]),
            (&Value::from(false), &Value::from(false))
        );
        let mut asked = 0.0;
        for contact in at["contacts"].as_object().unwrap().values() {
            let friction: Vec<f64> = contact["friction"].as_array().unwrap().iter().map(number).collect();
            asked += number(&contact["normal"]).powi(2) + friction.iter().map(|x| x * x).sum::<f64>();
            // To the precision of a cone program.
            assert!(friction[1].abs() < 1e-6 * least, "{contact}");
        }
        assert!((asked.sqrt() - least).abs() < 1e-6 * least, "{} against {least}", asked.sqrt());
        let forces = std::fs::read_to_string(in_folder(&file, "out-forces.csv")).unwrap();
        let rows = forces.lines().filter(|line| line.starts_with("0.02,contact,"));
        let rows: Vec<Vec<f64>> =
            rows.map(|line| line.split(',').skip(6).map(|x| x.parse().unwrap()).collect()).collect();
        let stepped = rows.iter().flat_map(|row| &row[..3]).map(|x| x * x).sum::<f64>().sqrt();
        assert!((stepped - least).abs() < 1e-5 * least, "{stepped} against {least}");
        assert!(rows.iter().all(|row| row[1].abs() < 1e-5 * least), "{rows:?}");
    }
}

/// Forces in a step balance the weight, whatever features bodies that lie flush have from one half of it to
/// the other.
#[test]
fn forces_of_every_step_carry_the_weight() {
    let boxes: Vec<String> = (0..4)
        .map(|k| cuboid(&format!("b{k}"), 1.0, [0.1; 3], [0.0, 0.0, 0.1 + 0.2 * f64::from(k)], [0.0; 3]))
        .collect();
    let mut parts: Vec<&str> = boxes.iter().map(String::as_str).collect();
    let surfaces = surfaces(0.5, 0.0);
    parts.push(&surfaces);
    let file = Temporary::new("stack.toml", on_floor(&parts).as_bytes());
    let csv = in_folder(&file, "out.csv");
    let (code, doc) = json(&["run", file.path(), "--json", "--t-end", "0.05", "--every", "1", "-o", &csv]);
    assert_eq!(code, 0, "{doc}");
    let forces = std::fs::read_to_string(in_folder(&file, "out-forces.csv")).unwrap();
    let mut sums = std::collections::BTreeMap::<(String, String), f64>::new();
    for line in forces.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let pair = fields[2].split('#').next().unwrap().to_owned();
        *sums.entry((fields[0].to_owned(), pair)).or_default() += fields[8].parse::<f64>().unwrap();
    }
    assert_eq!(sums.len(), 4 * 50);
    for ((t, pair), sum) in sums {
        // Between two boxes lies the weight of all that are above.
        let above = match pair.as_str() {
            "floor|b0" => 4.0,
            "b0|b1" => 3.0,
            "b1|b2" => 2.0,
            _ => 1.0,
        };
        // Steps are solved to 1e-10 in velocities; the first one has the rounding of the start in it.
        assert!((sum - above * 9.81).abs() < 1e-4 * 9.81, "{t} {pair}: {sum}");
    }
}

/// `unique` is about all motions, `unique_for_this_motion` about this one: a box that slides and spins on
/// four corners has one set of forces for its motion, and another motion.
#[test]
fn forces_are_unique_at_all_or_for_a_motion() {
    let spins = cuboid("box", 1.0, [0.5, 0.3, 0.1], [0.0, 0.0, 0.1], [2.0, 0.0, 0.0])
        .replace("[[body.shape]]", "angular_velocity = [0, 0, 3]\n[[body.shape]]");
    let ball = sphere("ball", 1.0, 0.1, [3.0, 0.0, 0.1], [0.0; 3]);
    for (body, unique) in [(&spins, Value::from(false)), (&ball, Value::from(true))] {
        let file = Temporary::new("one.toml", on_floor(&[body, &surfaces(0.3, 0.0)]).as_bytes());
        let (_, doc) = json(&["run", file.path(), "--json", "--t-end", "0.01", "--forces-at", "0.01"]);
        let at = &doc["forces"][0];
        assert_eq!((&at["unique"], &at["unique_for_this_motion"]), (&unique, &Value::from(true)), "{at}");
    }
}

#[test]
fn contact_problems_of_each_step_are_written_and_solve_again() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let problems = in_folder(&file, "problems");
    let (code, _) = json(&["run", file.path(), "--json", "--t-end", "0.003", "--dump-problems", &problems]);
    assert_eq!(code, 0);
    let mut names: Vec<String> = std::fs::read_dir(&problems)
        .unwrap()
        .map(|e| e.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[0].ends_with("step-0000001.hdf5"), "{names:?}");
    let (code, doc) = json(&["solve", &names[0], "--json"]);
    assert_eq!((code, &doc["kind"], number(&doc["contacts"])), (0, &Value::from("gfc3d"), 4.0));
}

#[test]
fn what_is_odd_about_a_start_is_told() {
    let deep = BLOCK.replace("position = [0, 0, 0.1]", "position = [0, 0, 0.08]");
    let file = Temporary::new("deep.toml", deep.as_bytes());
    let (_, doc) = json(&["run", file.path(), "--json", "--t-end", "0.01"]);
    let notes = doc["notes"].to_string();
    assert!(notes.contains("`ground` and `brick` overlap by 0.02 m in the file"), "{notes}");
    assert!(notes.contains("bodies were moved by up to 0.02 m"), "{notes}");
    // Moved, not thrown: it lies on the ground.
    assert!((number(&doc["bodies"]["brick"]["position"][2]) - 0.1).abs() < 1e-8, "{doc}");
    let swinging = mixed().replace(
        "position = [1.5, 0.0, 3.0]\nvelocity = [0.0, 0.0, 0.0]",
        "position = [1.5, 0.0, 3.0]\nvelocity = [0, 1, 0]",
    );
    let file = Temporary::new("swinging.toml", swinging.as_bytes());
    let (_, doc) = json(&["run", file.path(), "--json", "--t-end", "0.01"]);
    let notes = doc["notes"].to_string();
    assert!(notes.contains("velocities broke the joints: that of body `lower` was changed"), "{notes}");
    assert!(number(&doc["max_joint_error"]) < 1e-9);
}

#[test]
fn nonsense_is_refused_before_the_first_step() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    let system = crate::root().join("scenes/painleve-rod.toml");
    let nowhere = in_folder(&file, "no/such/folder.csv");
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["--dt", "0"], "time step above 0 s, found 0"),
        (vec!["--dt", "-1e-3"], "time step above 0 s"),
        (vec!["--dt", "nan"], "time step above 0 s"),
        (vec!["--t-end", "-1"], "end not before 0 s"),
        (vec!["--t-end", "1e9"], "1.000e12 steps"),
        (vec!["--integrator", "event-driven", "--dt", "1e-3"], "belongs to time stepping"),
        (vec!["--solver", "magic"], "invalid value 'magic' for '--solver <SOLVER>'"),
        (vec!["--tolerance", "-1"], "not below 0"),
        (vec!["--every", "0"], "--every"),
        (vec!["--forces-at", "0.1,7"], "times from 0 to 0.4 s, found 7"),
        (vec!["-o", "motion.avi"], "ends in .html, .csv"),
        (vec!["-o", &nowhere], "cannot be written"),
        (vec!["--resume", &nowhere], "cannot be read"),
        (vec!["--checkpoint-every", "1"], "--checkpoint"),
        (vec!["--set", "nu=1"], "nu"),
    ];
    for (options, message) in cases {
        let out = delassus(&[&["run", file.path(), "--json"], options.as_slice()].concat());
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{options:?}: {text}");
        assert!(out.stdout.is_empty() && text.contains(message), "{options:?}: {text}");
    }
    let out = delassus(&["run", system.to_str().unwrap(), "--integrator", "time-stepping"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("moves worlds"));
}

#[test]
fn steps_that_are_not_solved_are_told() {
    let file = Temporary::new("block.toml", BLOCK.as_bytes());
    // No solve reaches so small a residual with friction and rounding.
    let args = ["run", file.path(), "--json", "--t-end", "0.001", "--tolerance", "1e-300"];
    let (code, doc) = json(&args);
    assert_eq!(code, 1, "{doc}");
    assert!(number(&doc["unsolved_steps"]) > 0.0 && doc["first_unsolved"].is_number(), "{doc}");
    let out = delassus(&["run", file.path(), "--t-end", "0.001", "--tolerance", "1e-300"]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("not solved, the first at 0 s: a solve ended with the residual"), "{text}");
    assert!(doc["first_failure"].as_str().unwrap().contains("above the tolerance 1e-300"), "{doc}");
}

#[test]
fn the_report_in_words() {
    let file = Temporary::new("mixed.toml", mixed().as_bytes());
    let out = delassus(&["run", file.path(), "--adaptive"]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("to t = 0.2 s") && text.contains("adaptive: "), "{text}");
    assert!(text.contains("14 degrees of freedom, 0 redundant rows"), "{text}");
    assert!(text.contains("impacts") && text.contains("energy") && text.contains("upper"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_is_saved() {
    use std::process::{Command, Stdio};
    let file = Temporary::new("mixed.toml", mixed().as_bytes());
    let saved = in_folder(&file, "saved.json");
    let csv = in_folder(&file, "out.csv");
    let child = Command::new(env!("CARGO_BIN_EXE_delassus"))
        .args(["run", file.path(), "--json", "--t-end", "1e5", "--checkpoint", &saved, "-o", &csv])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is set after the files are opened.
    while !Path::new(&csv).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let doc: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(doc["ending"], "interrupted");
    let t = number(&doc["t_end"]);
    let until = (t + 0.01).to_string();
    let (code, _) = json(&["run", file.path(), "--json", "--resume", &saved, "--t-end", &until]);
    assert_eq!(code, 0);
    let text = std::fs::read_to_string(&csv).unwrap();
    let last: f64 = text.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
    assert_eq!(last, t);
}

#[test]
fn adaptive_steps_hit_the_times_of_frames_and_go_on_to_the_same_bits() {
    let file = Temporary::new("mixed.toml", mixed().as_bytes());
    let [once, twice, saved] = ["once.csv", "twice.csv", "saved.json"].map(|name| in_folder(&file, name));
    let adaptive =
        ["--adaptive", "--error", "1e-7", "--dt", "0.01", "--dt-min", "1e-4", "--every", "2", "--json"];
    let run = |more: &[&str]| json(&[&["run", file.path()], &adaptive[..], more].concat());
    let (code, doc) = run(&["-o", &once, "--t-end", "0.2"]);
    assert_eq!(code, 0, "{doc}");
    let counts = &doc["adaptive"];
    assert!(number(&counts["accepted"]) >= 20.0 && number(&counts["rejected"]) > 0.0, "{doc}");
    // 0.01 halved seven times is the first that is not longer than 1e-4.
    assert!(number(&counts["shortest"]) >= 0.01 / 128.0 && number(&counts["longest"]) <= 0.01, "{doc}");
    assert!(number(&counts["max_error"]) <= 1e-7, "{doc}");
    let table = std::fs::read_to_string(&once).unwrap();
    let times: Vec<f64> =
        table.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(times.len(), 11, "{times:?}");
    assert!(times.iter().enumerate().all(|(k, t)| (t - 0.02 * k as f64).abs() < 1e-12), "{times:?}");
    let (code, _) = run(&["-o", &twice, "--t-end", "0.1", "--checkpoint", &saved]);
    assert_eq!(code, 0);
    let (code, again) = run(&["-o", &twice, "--t-end", "0.2", "--resume", &saved]);
    assert_eq!(code, 0);
    assert_eq!(std::fs::read_to_string(&twice).unwrap(), table);
    assert_eq!(again["adaptive"], doc["adaptive"]);
    for (bad, message) in [
        (["--error", "0"], "--error"),
        (["--error", "nan"], "--error"),
        (["--dt-min", "0.1"], "--dt-min"),
        (["--dt-min", "1e-30"], "--dt-min"),
    ] {
        let out = delassus(&["run", file.path(), "--adaptive", "--dt", "0.01", bad[0], bad[1]]);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && text.contains(message), "{text}");
    }
}

#[test]
fn motors_of_a_world_follow_the_command_line_and_are_recorded() {
    let text = mixed().replace("name = \"elbow\"", "name = \"elbow\"\nmotor = { torque = 0 }");
    let file = Temporary::new("driven.toml", text.as_bytes());
    let csv = in_folder(&file, "out.csv");
    let run = |more: &[&str]| {
        json(&[&["run", file.path(), "--json", "-o", &csv, "--t-end", "0.01"], more].concat())
    };
    let (code, doc) = run(&["--set-control", "elbow=1.5"]);
    assert_eq!(code, 0, "{doc}");
    let text = std::fs::read_to_string(&csv).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "elbow.effort").unwrap();
    let effort: f64 = lines.last().unwrap()[column].parse().unwrap();
    assert!((effort - 1.5).abs() < 1e-9, "{effort}");
    let table = Temporary::new("controls.csv", b"t,elbow\n0,0\n0.005,2.5\n");
    let (_, _) = run(&["--control", table.path()]);
    let text = std::fs::read_to_string(&csv).unwrap();
    let last: f64 = text.lines().last().unwrap().split(',').nth(column).unwrap().parse().unwrap();
    assert!((last - 2.5).abs() < 1e-9, "{last}");
    let out = delassus(&["run", file.path(), "--set-control", "elbo=1"]);
    let message = String::from_utf8(out.stderr).unwrap();
    assert!(
        out.status.code() == Some(2) && message.contains("no actuator `elbo`; perhaps `elbow`"),
        "{message}"
    );
}

#[test]
fn xml_under_another_name_is_told_so() {
    let cases = [
        (
            "robot.sdf",
            "<?xml version='1.0'?><sdf version='1.7'/>",
            "SDF is not read: convert it to URDF or MJCF",
        ),
        ("robot.txt", "\n<mujoco/>", "it is XML, and its name ends in neither .urdf nor .xml; rename it"),
    ];
    for (name, text, expected) in cases {
        let file = Temporary::new(name, text.as_bytes());
        let out = delassus(&["check", file.path()]);
        let message = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.code() == Some(2) && message.contains(expected), "{message}");
    }
}
