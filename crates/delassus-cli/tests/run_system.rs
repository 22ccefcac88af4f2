//! `run` from event to event and `explore`, as a user types them.

use crate::{Temporary, delassus, json, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_motion_as_json_table_and_picture() {
    let ball = scene("bouncing-ball.toml");
    let csv = Temporary::new("ball.csv", b"");
    let svg = Temporary::new("ball.svg", b"");
    let args = ["run", &ball, "--json", "-o", csv.path(), "-o", svg.path(), "--plot", "y,floor.normal,y:y'"];
    let (code, doc) = json(&[&args[..], &["--forces-at", "1.5,0.2"]].concat());
    assert_eq!(code, 0);
    assert_eq!((doc["ending"].as_str(), doc["t_end"].as_f64()), (Some("done"), Some(2.0)));
    let events = doc["events"].as_array().unwrap();
    assert_eq!(events[0]["kind"], "impact");
    assert_eq!(events.last().unwrap()["kind"], "accumulation");
    assert_eq!(events[0]["contact"], "floor");
    assert!(doc["final"]["position"]["y"].as_f64().unwrap().abs() < 1e-15);
    let samples = doc["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 2);
    assert_eq!(samples[0]["contacts"]["floor"]["mode"], "open");
    assert!((samples[1]["contacts"]["floor"]["normal"].as_f64().unwrap() - 9.81).abs() < 1e-9);
    let table = std::fs::read_to_string(csv.path()).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("time,y,y',y'',floor.normal,floor.mode,energy"));
    // The two instants that were asked for are among them.
    assert_eq!(lines.count(), 1001);
    let events_table = std::fs::read_to_string(csv.path().replace("ball.csv", "ball-events.csv")).unwrap();
    assert_eq!(events_table.lines().count(), events.len() + 1);
    let picture = std::fs::read_to_string(svg.path()).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("floor.normal"));
}

#[test]
fn a_run_in_words_tells_its_events() {
    let out = delassus(&["run", &scene("painleve-rod.toml"), "--t-end", "0.1"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(text.contains("jam") && text.contains("tip") && text.contains("0.375"), "{text}");
}

#[test]
fn small_worlds_move_from_event_to_event() {
    let (code, doc) = json(&[
        "run",
        &scene("rolling-sphere.toml"),
        "--integrator",
        "event-driven",
        "--json",
        "--t-end",
        "0.5",
    ]);
    assert_eq!(code, 0);
    assert_eq!(doc["events"][0]["kind"], "stick");
    let v = doc["bodies"]["ball"]["velocity"][0].as_f64().unwrap();
    assert!((v - 10.0 / 7.0).abs() < 1e-9, "{v}");
}

#[test]
fn all_motions_of_a_rod_that_may_do_three_things() {
    let tree = Temporary::new("tree.svg", b"");
    let rod = scene("painleve-rod-pulled.toml");
    let (code, doc) = json(&["explore", &rod, "--json", "--t-end", "0.1", "-o", tree.path()]);
    assert_eq!(code, 1);
    // The tip leaves, slides on, or jams.
    assert_eq!(doc["branches"], 3);
    assert_eq!(doc["tree"]["ending"], "indeterminate");
    let branches = doc["tree"]["branches"].as_array().unwrap();
    assert_ne!(branches[0]["final"], branches[1]["final"]);
    assert_eq!(branches[2]["answer"], "jam");
    assert_eq!(branches[2]["events"][1]["kind"], "jam");
    // Slip 1: percussions 3/8 and 5/8, as without the pull.
    assert!((branches[2]["events"][1]["impulse"][0].as_f64().unwrap() - 0.375).abs() < 1e-9);
    assert!(std::fs::read_to_string(tree.path()).unwrap().starts_with("<svg"));
    let (code, doc) = json(&["explore", &scene("bouncing-ball.toml"), "--json"]);
    assert_eq!((code, doc["branches"].as_u64()), (0, Some(1)));
}

#[test]
fn misuse_is_told() {
    let ball = scene("bouncing-ball.toml");
    for (args, message) in [
        (vec!["--dt", "0.1"], "belongs to time stepping"),
        (vec!["--integrator", "time-stepping"], "time stepping moves worlds"),
        (vec!["--indeterminate", "branch"], "delassus explore"),
        (vec!["--indeterminate", "guess"], "invalid value"),
        (vec!["--plot", "y"], "-o FILE.svg"),
        (vec!["--plot", "z", "-o", "no.svg"], "unknown quantity `z`"),
        (vec!["-o", "ball.vtu"], ".csv, .svg or .png"),
        (vec!["--t-end", "-1"], "not before the start"),
        (vec!["--forces-at", "7"], "from 0 to 2 s"),
    ] {
        let out = delassus(&[&["run", &ball], args.as_slice()].concat());
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(message), "{args:?}: {text}");
    }
    let below = std::fs::read_to_string(&ball).unwrap().replace("y = \"h\"", "y = -1.0");
    let file = Temporary::new("below.toml", below.as_bytes());
    let out = delassus(&["run", file.path()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("`floor` penetrates at the start"));
    // A run that ends early keeps what it has.
    let (code, doc) = json(&["run", &ball, "--json", "--max-events", "3"]);
    assert_eq!((code, doc["ending"].as_str()), (1, Some("too-many-events")));
    assert!(doc["events"].as_array().unwrap().len() > 3);
    let pulled = scene("painleve-rod-pulled.toml");
    let (code, doc) = json(&["run", &pulled, "--json", "--indeterminate", "stop"]);
    assert_eq!((code, doc["ending"].as_str()), (1, Some("indeterminate")));
}

/// Messages of runs that cannot begin or cannot go on name who is to blame.
#[test]
fn who_is_to_blame_is_named() {
    let head = "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n";
    let torn = "[[joint]]\nname = \"rod\"\nvalue = \"x^2 + y^2 - 1\"\n[state.position]\nx = 1\n[state.velocity]\nx = 1\n";
    let pressed =
        "[[contact]]\nname = \"piston\"\ngap = \"x - t\"\n[[contact]]\nname = \"wall\"\ngap = \"-x\"\n";
    let negative =
        "[[contact]]\nname = \"f\"\ngap = \"y\"\nslip = [\"x\"]\nmu = \"-0.1*x\"\n[state.velocity]\nx = 1\n";
    for (rest, code, words) in [
        (torn, 2, vec!["tear joint `rod`", "2e0"]),
        (pressed, 1, vec!["`piston`, `wall`", "moreau", "no solution", "t = 0 s"]),
        (negative, 1, vec!["friction of contact `f`", "e-", "not negative"]),
    ] {
        let file = Temporary::new("blame.toml", format!("{head}{rest}").as_bytes());
        let out = delassus(&["run", file.path(), "--json"]);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{message}");
        for word in words {
            assert!(message.contains(word), "{word} in {message}");
        }
    }
}

/// An impulse in a file, with what it does to a joint and to a contact, in the JSON and in words.
#[test]
fn an_impulse_is_an_event() {
    let text = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[impulse]]
time = 0.5
coordinate = "x"
value = 1.0
[[impulse]]
time = 0.5
coordinate = "y"
value = 2.0
[[joint]]
name = "rod"
value = "x^2 + y^2 - 1"
[state.position]
y = -1.0
"#;
    let file = Temporary::new("impulse.toml", text.as_bytes());
    let (code, doc) = json(&["run", file.path(), "--json"]);
    assert_eq!(code, 0);
    assert_eq!(doc["event_counts"]["impulse"], 1);
    let event = &doc["events"][0];
    assert_eq!((event["kind"].as_str(), event["contact"].as_str()), (Some("impulse"), Some("x, y")));
    assert_eq!(event["impulse"], serde_json::json!([1.0, 2.0]));
    assert!((event["joints"]["rod"]["normal"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let out = delassus(&["run", file.path()]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("impulse        x, y"));
    let bad = Temporary::new("bad.toml", text.replace("coordinate = \"y\"", "coordinate = \"z\"").as_bytes());
    let out = delassus(&["run", bad.path()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&out.stderr).contains(":12:"),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// The motions of the rod of Painlevé that is pulled off the floor, and the one to which time stepping converges: the tip leaves,
/// slides on, or jams, and short steps find the jam.
#[test]
fn time_stepping_converges_to_a_branch_that_is_told() {
    let rod = scene("painleve-rod-pulled-world.toml");
    let svg = Temporary::new("tree.svg", b"");
    let (code, doc) = json(&["explore", &rod, "--json", "-o", svg.path()]);
    assert_eq!(code, 1);
    assert_eq!(doc["branches"], 3, "{doc}");
    let stepped = &doc["time_stepping"];
    assert_eq!(stepped["branch"], serde_json::json!(["jam"]), "{stepped}");
    let levels = stepped["levels"].as_array().unwrap();
    // An error of first order: the step in which it jams.
    let distances: Vec<f64> = levels.iter().map(|level| level["distance"].as_f64().unwrap()).collect();
    assert!(distances[7] < 1e-4 && distances[7] < 0.6 * distances[6], "{stepped}");
    assert!(std::fs::read_to_string(svg.path()).unwrap().contains("answer 2"));
    let out = delassus(&["explore", &rod]);
    let words = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(words.contains("converges to: jam"), "{words}");
}

/// The cradle in time steps: the last ball alone where the impacts go one after the other.
#[test]
fn time_stepping_knows_the_laws_of_impact() {
    let cradle = scene("cradle.toml");
    let speeds = |law: &str| -> Vec<f64> {
        let (code, doc) =
            json(&["run", &cradle, "--json", "--t-end", "1e-4", "--dt", "1e-5", "--impact-law", law]);
        assert_eq!(code, 0);
        (1..=5).map(|k| doc["bodies"][format!("ball{k}")]["velocity"][0].as_f64().unwrap() / 0.3).collect()
    };
    for law in ["sequence", "energetic"] {
        for (found, expected) in speeds(law).iter().zip([0.0, 0.0, 0.0, 0.0, 1.0]) {
            assert!((found - expected).abs() < 1e-4, "{law}: {found} for {expected}");
        }
    }
    assert!((speeds("moreau")[0] + 0.6).abs() < 1e-4);
    let out = delassus(&["run", &cradle, "--impact-law", "poisson", "--scheme", "half-implicit"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--scheme symmetric"));
}
