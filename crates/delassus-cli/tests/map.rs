//! `delassus map` and `analyze --plot` as a user types them.

use serde_json::json as value;

use crate::{Temporary, delassus, json, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

/// Runs `map` with a file in a folder of its own, and returns what it wrote there.
fn map(name: &str, args: &[&str]) -> Vec<u8> {
    let place = Temporary::new(name, b"");
    let all = [&["map"], args, &["-o", place.path()]].concat();
    let out = delassus(&all);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stdout.is_empty());
    std::fs::read(place.path()).unwrap()
}

#[test]
fn jamming_friction_of_the_rod_as_a_table() {
    let rod = scene("painleve-rod.toml");
    let out = delassus(&["map", &rod, "--x", "angle=5deg:85deg:17", "--show", "mu_jam"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("angle_deg,mu_jam"));
    let mut count = 0;
    for line in lines {
        let (angle, mu) = line.split_once(',').unwrap();
        let (angle, mu): (f64, f64) = (angle.parse().unwrap(), mu.parse().unwrap());
        let t = angle.to_radians().tan();
        assert!((mu - (4.0 + t * t) / (3.0 * t)).abs() < 1e-9 * mu, "{line}");
        count += 1;
    }
    assert_eq!(count, 17);
}

#[test]
fn solutions_over_two_parameters() {
    let rod = scene("painleve-rod.toml");
    let args = ["map", &rod, "--x", "mu=1:2:3", "--y", "slip=-1:1:2", "--show", "solutions", "--json"];
    let (code, doc) = json(&args);
    assert_eq!(code, 0);
    let one = "one solution";
    // Friction 2 jams to the left and not to the right.
    assert_eq!(doc["values"], value!([[one, one, "no solution"], [one, one, one]]));
    assert_eq!(doc["x"]["values"], value!([1.0, 1.5, 2.0]));
}

#[test]
fn pictures_are_whole_and_the_same_every_time() {
    let rod = scene("painleve-rod.toml");
    let args = ["map", &rod, "--x", "angle=5deg:85deg:21", "--y", "mu=0:3:16", "--show", "locking_angle"];
    let args = &args[1..];
    let svg = String::from_utf8(map("a.svg", args)).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    for words in ["angle, deg", ">mu<", "locking angle, deg", ">45<"] {
        assert!(svg.contains(words), "{words}");
    }
    assert_eq!(svg.as_bytes(), map("b.svg", args));
    let png = map("a.png", args);
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(png, map("b.png", args));
}

#[test]
fn verdicts_have_a_legend() {
    let ladder = scene("ladder.toml");
    let args = [&ladder, "--x", "mu_wall=0:2:9", "--y", "mu_floor=0:2:9", "--show", "p_matrix"];
    let svg = String::from_utf8(map("p.svg", &args)).unwrap();
    assert!(svg.contains(">proved<") && svg.contains(">refuted<") && !svg.contains("no such state"));
}

#[test]
fn points_without_a_state_are_counted() {
    // The arm does not reach 1.05 m.
    let arm = scene("articulated-arm.toml");
    let args = ["map", &arm, "--x", "x0=0.35:1.05:3", "--show", "/contacts/0/mu_jam"];
    let out = delassus(&args);
    assert_eq!(out.status.code(), Some(0));
    let (text, note) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(text.ends_with("no state\n"), "{text}");
    assert!(note.contains("1 of 3 points have no such state"), "{note}");
    let nowhere = delassus(&["map", &arm, "--x", "x0=1.2:1.5:3", "--show", "mu_jam"]);
    assert_eq!(nowhere.status.code(), Some(1));
}

#[test]
fn misuse_exits_with_2() {
    let rod = scene("painleve-rod.toml");
    let x = "mu=0:1:3";
    for args in [
        &["map", rod.as_str(), "--x", "nu=0:1:3", "--show", "mu_jam"][..],
        &["map", &rod, "--x", "mu=0:1", "--show", "mu_jam"],
        &["map", &rod, "--x", "mu=1:0:3", "--show", "mu_jam"],
        &["map", &rod, "--x", "mu=0:1:1", "--show", "mu_jam"],
        &["map", &rod, "--x", x, "--y", x, "--show", "mu_jam"],
        &["map", &rod, "--x", x, "--show", "mu_jam:heel"],
        &["map", &rod, "--x", x, "--show", "beauty"],
        &["map", &rod, "--x", x, "--show", "/contacts/7/mu"],
        &["map", &rod, "--x", x, "--show", "mu_jam", "-o", "map.gif"],
        &["map", &rod, "--x", x, "--show", "mu_jam", "-o", "/no/such/folder/map.svg"],
        &["map", &rod, "--x", x, "--show", "mu_jam", "--scale", "2:1"],
    ] {
        let out = delassus(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn cones_are_drawn() {
    for (name, words) in [
        ("painleve-rod.toml", &["e_jam", "jamming friction 1.66667", "no solution"][..]),
        ("rod-in-space.toml", &["from above", "locking angle 67.1146°"]),
        ("ladder.toml", &["contact floor", "solution 1: wall"]),
        ("table-four-legs.toml", &["one of a continuum"]),
    ] {
        let place = Temporary::new("cone.svg", b"");
        delassus(&["analyze", &scene(name), "--plot", place.path()]);
        let svg = std::fs::read_to_string(place.path()).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        for word in words {
            assert!(svg.contains(word), "{name}: {word}");
        }
    }
}
