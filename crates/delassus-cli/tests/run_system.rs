//! `run` with event-driven integration and `explore`, as a user types them.

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
    let picture = std::fs::read_to_string(tree.path()).unwrap();
    for word in ["answer 1: tip open", "answer 2: tip slide", "jam: tip", "t, s", "jam (1)"] {
        assert!(picture.contains(word), "{word}");
    }
    assert_eq!(branches[1]["events"][0]["chosen"]["tip"], "slide");
    assert_eq!(doc["complete"], true);
    for (args, message) in [
        (vec!["--depth", "0"], "a whole number from 1 to 64, found \"0\""),
        (vec!["--depth", "100000"], "from 1 to 64"),
        (vec!["--depth", "x"], "from 1 to 64"),
        (vec!["--impact-law", "stronge"], "possible values: moreau"),
        (vec!["-o", "tree.pdf"], ".svg or .png"),
        (vec!["--t-end", "-1"], "--t-end"),
        (vec!["--set", "nothing=1"], "unknown parameter"),
    ] {
        let out = delassus(&[&["explore", &rod], args.as_slice()].concat());
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(message), "{args:?}: {text}");
    }
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
        (vec!["--indeterminate", "guess"], "[possible values: detach, stop, branch]"),
        (vec!["--impact-law", "moro"], "[possible values: moreau, newton, poisson, energetic, sequence]"),
        (vec!["--plot", "y:z", "-o", "no.svg"], "unknown quantity `z`"),
        (vec!["--plot", "y,floor.up", "-o", "no.svg"], "contacts: floor"),
        (vec!["--plot", "y:y:y", "-o", "no.svg"], "unknown quantity `y:y`"),
        (vec!["--max-events", "-3"], "unexpected argument"),
        (vec!["--max-events", "many"], "expected a whole number"),
        (vec!["--scheme", "half-implicit"], "belongs to time stepping"),
        (vec!["--t-end", "soon"], "expected a number of seconds, found \"soon\""),
        (vec!["--forces-at", "0.1,x"], "expected a number of seconds, found \"x\""),
        (vec!["--set", "t_end=x"], "cannot set `t_end`"),
        (vec!["--set", "e=2"], "restitution of contact `floor` is 2"),
        (vec!["--set", "e=-1"], "expected a number from 0 to 1"),
        (vec!["--tolerance", "1"], "--tolerance: expected a number from 1e-14 to 1e-3"),
        (vec!["--t-end", "nan"], "--t-end"),
        (vec!["--forces-at", "nan"], "from 0 to 2 s"),
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
    for option in [vec!["--indeterminate", "stop"], vec!["--max-events", "3"]] {
        let out = delassus(&[&["run", &scene("rolling-sphere.toml")], option.as_slice()].concat());
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{option:?}: {text}");
        assert!(text.contains("event-driven"), "{option:?}: {text}");
    }
    assert_eq!(json(&["run", &ball, "--json", "--set", "t_end=0.25"]).1["t_end"], 0.25);
    let below = std::fs::read_to_string(&ball).unwrap().replace("y = \"h\"", "y = -1.0");
    let file = Temporary::new("below.toml", below.as_bytes());
    let out = delassus(&["run", file.path()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("`floor` penetrates at the start"));
    // A run that ends early keeps what it has.
    let (code, doc) = json(&["run", &ball, "--json", "--max-events", "3"]);
    assert_eq!((code, doc["ending"].as_str()), (1, Some("too-many-events")));
    assert_eq!(doc["events"].as_array().unwrap().len(), 3);
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
        (pressed, 2, vec!["toml:8:7", "`piston` touches and approaches at the start", "--impact-at-start"]),
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
    let file = Temporary::new("blame.toml", format!("{head}{pressed}").as_bytes());
    let out = delassus(&["run", file.path(), "--impact-at-start"]);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1));
    for word in ["`piston`, `wall`", "moreau", "no solution", "t = 0 s"] {
        assert!(message.contains(word), "{word} in {message}");
    }
}

/// Impulses outside of the run: before the start an error, after the end a note, in the JSON and on stderr.
#[test]
fn impulses_that_do_not_act_are_told() {
    let text = |time: f64| {
        format!(
            "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[[impulse]]\ntime = {time}\n\
             coordinate = \"x\"\nvalue = 2\n[simulation]\nt_end = 3\n"
        )
    };
    let early = Temporary::new("early.toml", text(-1.0).as_bytes());
    let out = delassus(&["run", early.path()]);
    assert_eq!(out.status.code(), Some(2));
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(message.contains("impulse on `x` at t = -1 s comes before the start"), "{message}");
    let late = Temporary::new("late.toml", text(5.0).as_bytes());
    let (code, doc) = json(&["run", late.path(), "--json"]);
    assert_eq!((code, doc["notes"].as_array().unwrap().len()), (0, 1));
    for command in ["run", "explore"] {
        let out = delassus(&[command, late.path()]);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(message.contains("impulse 2 on `x` at t = 5 s comes after the end, 3 s"), "{message}");
    }
}

/// The law of impact of a file, and that of the command line over it.
#[test]
fn a_file_names_its_law_of_impact() {
    let text = "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[[contact]]\nname = \"wall\"\n\
                gap = \"x\"\n[impact]\nrestitution_matrix = [[0.25]]\n[state.velocity]\nx = -1\n[simulation]\n\
                impact_at_start = true\n";
    let file = Temporary::new("matrix.toml", text.as_bytes());
    for (law, name, speed) in [
        (None, "newton with a matrix", 0.25),
        (Some("newton"), "newton with a matrix", 0.25),
        (Some("poisson"), "poisson", 0.0),
    ] {
        let asked = law.map_or(vec![], |law| vec!["--impact-law", law]);
        let (code, doc) = json(&[&["run", file.path(), "--json"], asked.as_slice()].concat());
        assert_eq!((code, doc["impact_law"].as_str()), (0, Some(name)));
        assert_eq!(doc["final"]["velocity"]["x"].as_f64(), Some(speed));
    }
    let named = Temporary::new(
        "law.toml",
        text.replace("restitution_matrix = [[0.25]]", "law = \"poisson\"").as_bytes(),
    );
    assert_eq!(json(&["run", named.path(), "--json"]).1["impact_law"], "poisson");
    let bad = Temporary::new("law.toml", text.replace("[[0.25]]", "[[0.25, 1]]").as_bytes());
    let out = delassus(&["run", bad.path()]);
    assert_eq!(out.status.code(), Some(2));
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        message.contains(":9:") && message.contains("expected as many columns as contacts: 1 (wall)"),
        "{message}"
    );
}

/// The energy that is lost on the way to an accumulation, in all ways of telling; and pictures that explain
/// their marks.
#[test]
fn accumulations_and_pictures_tell_what_they_mean() {
    let ball = scene("bouncing-ball.toml");
    let csv = Temporary::new("loss.csv", b"");
    let svg = Temporary::new("loss.svg", b"");
    let args = ["run", &ball, "--json", "-o", csv.path(), "-o", svg.path(), "--plot", "y,y',energy,y:y'"];
    let (_, doc) = json(&args);
    let events = doc["events"].as_array().unwrap();
    let lost: f64 = events.iter().map(|e| e["energy_change"].as_f64().unwrap()).sum();
    let fall = doc["energy"]["end"].as_f64().unwrap() - doc["energy"]["start"].as_f64().unwrap();
    assert!((lost - fall).abs() < 1e-12, "{lost} for {fall}");
    let table = std::fs::read_to_string(csv.path().replace("loss.csv", "loss-events.csv")).unwrap();
    let last = table.lines().last().unwrap();
    assert!(last.contains("accumulation,floor,,-"), "{last}");
    let picture = std::fs::read_to_string(svg.path()).unwrap();
    for word in ["energy, J", " over y", "accumulation (1)", "impact ("] {
        assert!(picture.contains(word), "{word}");
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

/// The motions of the rod of Painlevé that is pulled off the floor, and the one to which time stepping
/// converges: the tip leaves, slides on, or jams, and short steps find the jam.
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
    assert!(std::fs::read_to_string(svg.path()).unwrap().contains("answer 2: "));
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
