//! `delassus safe` as a user types it.

use serde_json::json as value;

use crate::{Temporary, delassus, json, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn friction_of_the_rod() {
    let (code, doc) = json(&["safe", &scene("painleve-rod.toml"), "--over", "mu", "--json"]);
    assert_eq!(code, 0);
    assert_eq!((&doc["certified"], &doc["method"]), (&value!(true), &value!("interval-arithmetic")));
    let hi = doc["interval"][1].as_f64().unwrap();
    assert!(hi < 5.0 / 3.0 && 5.0 / 3.0 - hi < 1e-6, "{hi}");
    assert_eq!((&doc["contains_present"], &doc["ends"]), (&value!(false), &value!(["range", "boundary"])));
    let out = delassus(&["safe", &scene("painleve-rod.toml"), "--over", "mu"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("CERTIFIED  0 ≤ mu ≤ 1.6666665"), "{text}");
    assert!(text.contains("the present value mu = 2 lies outside"), "{text}");
}

#[test]
fn friction_of_the_rod_at_all_angles() {
    let all =
        ["safe", &scene("painleve-rod.toml"), "--over", "mu", "--for-all", "angle=1deg:89deg", "--json"];
    let (code, doc) = json(&all);
    let hi = doc["interval"][1].as_f64().unwrap();
    assert!(code == 0 && hi < 4.0 / 3.0 && 4.0 / 3.0 - hi < 1e-6, "{doc}");
}

#[test]
fn what_cannot_be_certified_exits_with_1() {
    let (code, doc) = json(&["safe", &scene("block-on-incline.toml"), "--over", "g", "--json"]);
    assert_eq!((code, &doc["certified"], &doc["method"]), (1, &value!(false), &value!("sampled")));
    let nothing = ["safe", &scene("painleve-rod.toml"), "--over", "mu", "--within", "3:4", "--json"];
    let (code, doc) = json(&nothing);
    assert_eq!((code, &doc["interval"]), (1, &value!(null)));
}

#[test]
fn misuse_exits_with_2() {
    let rod = scene("painleve-rod.toml");
    for args in [
        &["safe", rod.as_str(), "--over", "nu"][..],
        &["safe", &rod, "--over", "mu", "--within", "3:2"],
        &["safe", &rod, "--over", "mu", "--within", "3"],
        &["safe", &rod, "--over", "mu", "--for-all", "mu=0:1"],
        &["safe", &rod],
    ] {
        let out = delassus(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_box_of_the_drawer_is_divided_and_drawn() {
    let files = ["csv", "svg", "png"].map(|e| (e, Temporary::new(&format!("drawer.{e}"), b"")));
    let path = |name: &str| {
        let file = files.iter().find(|(extension, _)| name.ends_with(extension));
        file.unwrap().1.path().to_owned()
    };
    let drawer = scene("drawer.toml");
    let over = ["safe", drawer.as_str(), "--over", "length=0.2:1", "--over", "mu=0.1:1.2", "--boxes", "1500"];
    let (code, doc) = json(&[&over[..], &["--set", "mu=0.4", "--json", "-o", &path("drawer.csv")]].concat());
    assert_eq!((code, &doc["parameters"]), (0, &value!(["length", "mu"])));
    let shares = &doc["shares"];
    let share = |name: &str| shares[name].as_f64().unwrap();
    assert!((share("proved") + share("refuted") + share("undecided") - 1.0).abs() < 1e-9, "{shares}");
    assert!(share("undecided") < 0.1 && share("refuted") > 0.2, "{shares}");
    // Length against friction times the width 0.6, from the safe side.
    let [low, high] = ["length", "mu"].map(|name| doc["certified_box"][name].clone());
    assert!(low[0].as_f64().unwrap() >= 0.6 * high[1].as_f64().unwrap(), "{}", doc["certified_box"]);
    let jammed = &doc["counterexample"];
    assert_eq!(jammed["reason"], "no-solution");
    assert!(jammed["point"]["length"].as_f64().unwrap() <= 0.6 * jammed["point"]["mu"].as_f64().unwrap());
    let table = std::fs::read_to_string(path("drawer.csv")).unwrap();
    assert!(table.starts_with("length_lo,length_hi,mu_lo,mu_hi,verdict,reason\n"));
    assert_eq!(table.lines().count(), 1 + doc["cells"].as_array().unwrap().len());
    for name in ["drawer.svg", "drawer.png"] {
        let out = delassus(&[&over[..], &["-o", &path(name)]].concat());
        // The design of the file, friction 0.8, jams.
        assert_eq!(out.status.code(), Some(1), "{name}");
        assert!(std::fs::metadata(path(name)).unwrap().len() > 1000);
    }
    let picture = std::fs::read_to_string(path("drawer.svg")).unwrap();
    assert!(picture.contains("no solution: it jams") && picture.contains("one solution, whatever the load"));
    let out = delassus(&over);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("REFUTED") && text.contains("nothing is certified around the design"), "{text}");
    assert!(text.contains("length = 0.4,  mu = 0.8"), "{text}");
}

#[test]
fn a_turn_of_the_slider_crank_is_followed() {
    let slider = scene("slider-crank-friction.toml");
    let over = ["--over", "angle=0:360deg", "--over", "mu=0:0.6", "--boxes", "3000", "--any-load"];
    let (code, doc) = json(&[&["safe", &slider, "--cycle", "--json"][..], &over].concat());
    assert_eq!((code, &doc["counterexample"], &doc["shares"]["undecided"]), (0, &value!(null), &value!(0.0)));
    let turn = doc["certified_box"]["angle"][1].as_f64().unwrap();
    assert!((turn - std::f64::consts::TAU).abs() < 1e-12, "{turn}");
    let out = delassus(&[&["safe", &slider, "--cycle"][..], &over].concat());
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("0 deg ≤ angle ≤ 360 deg") && text.contains("PROVED") && text.contains("100.0 %"),
        "{text}"
    );
}

#[test]
fn misuse_of_boxes_exits_with_2() {
    let (rod, slider) = (scene("painleve-rod.toml"), scene("slider-crank-friction.toml"));
    for args in [
        &["safe", rod.as_str(), "--over", "mu=0:1", "--over", "angle"][..],
        &["safe", &rod, "--over", "mu=0:1", "--within", "0:1"],
        &["safe", &rod, "--over", "mu=0:1", "--over", "mu=0:2"],
        &["safe", &rod, "--over", "mu=1:0"],
        &["safe", &rod, "--over", "mu=0:1:10"],
        &["safe", &rod, "--over", "nu=0:1"],
        &["safe", &rod, "--over", "mu=0:1", "-o", "map.pdf"],
        &["safe", &rod, "--over", "mu", "-o", "map.svg"],
        &["safe", &rod, "--over", "mu", "--cycle"],
        &["safe", &rod, "--over", "mu=0:1", "--cycle"],
        &["safe", &rod, "--over", "mu=0:1", "--boxes", "0"],
        &["safe", &slider, "--over", "theta=0:1", "--cycle"],
    ] {
        let out = delassus(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}
