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

/// Verdicts that `map` shows, and those of `analyze` at the same points.
fn same_verdicts(file: &str, parameter: &str, values: [f64; 2]) {
    let range = format!("{parameter}={:?}:{:?}:2", values[0], values[1]);
    let shown = ["existence", "acceleration_unique", "forces_unique", "solutions"];
    let maps = shown.map(|show| json(&["map", file, "--x", &range, "--show", show, "--json"]).1);
    for (k, x) in values.into_iter().enumerate() {
        let at = json(&["analyze", file, "--set", &format!("{parameter}={x:?}"), "--json"]).1;
        for (show, map) in shown.iter().zip(&maps).take(3) {
            assert_eq!(map["values"][0][k], at[show], "{file} {parameter} = {x:?}: {show}");
        }
        let verdicts = [0, 1, 2].map(|k| at[shown[k]].as_str().unwrap());
        let word = match verdicts {
            ["refuted", ..] => "no solution",
            ["proved", "proved", "proved"] => "one solution",
            ["proved", a, f] if [a, f].contains(&"refuted") => {
                let infinite = at["solutions"]["kind"] == "infinite" && at["solutions"]["complete"] == true;
                if infinite { "infinitely many solutions" } else { "several solutions" }
            }
            _ => "unknown",
        };
        assert_eq!(maps[3]["values"][0][k], word, "{file} {parameter} = {x:?}");
    }
}

#[test]
fn maps_and_analyses_near_ties_give_one_verdict() {
    // Friction of the two guides at which their reaction becomes unbounded, 1/tan θ, at θ = 5/13.
    let klein = scene("painleve-klein.toml");
    let text = std::fs::read_to_string(&klein).unwrap();
    let klein = Temporary::new("klein.toml", text.replace("\"60 deg\"", "0.3846153846153846").as_bytes());
    for offset in [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6] {
        let mu = 2.4705128205128206;
        same_verdicts(klein.path(), "mu", [mu + offset, mu + offset + 1e-5]);
    }
    // Joints that agree, and a contact that stays, up to e; with data in decimals and with a cosine in them.
    for factor in ["1", "cos(1)"] {
        let text = format!(
            "[system]\ncoordinates = [\"x\"]\n[parameters]\ne = 0.0\n[energy]\nkinetic = \"x'^2/2\"\n\
             [[force]]\ncoordinate = \"x\"\nvalue = \"-3\"\n\
             [[joint]]\nname = \"one\"\nvalue = \"{factor}*(0.1*x + (1 + e)*t^2/2)\"\n\
             [[joint]]\nname = \"two\"\nvalue = \"{factor}*(0.3*x + 3*t^2/2)\"\n\
             [[contact]]\nname = \"floor\"\ngap = \"-x/3 - t^2*(10 - e)/6\"\nslip = [\"x + t\"]\nmu = 0.7\n"
        );
        let file = Temporary::new("near.toml", text.as_bytes());
        for e in [-1e-3, -1e-8, -1e-12, 0.0, 1e-16, 1e-11, 1e-7] {
            same_verdicts(file.path(), "e", [e, e + 1e-4]);
        }
    }
}

#[test]
fn verdicts_are_those_of_the_numbers_as_written() {
    // The joints ask for x'' = −10 and the contact leaves with 1/3 · 10 − 10/3 = 0: closed, and the three
    // share the load in any proportion. With a double for 0.1 neither holds.
    let text = "[system]\ncoordinates = [\"x\"]\n[parameters]\ne = 0.0\n[energy]\nkinetic = \"x'^2/2\"\n\
                [[joint]]\nname = \"one\"\nvalue = \"0.1*x + (1 + e)*t^2/2\"\n\
                [[joint]]\nname = \"two\"\nvalue = \"0.3*x + 3*t^2/2\"\n\
                [[contact]]\nname = \"floor\"\ngap = \"-x/3 - 10*t^2/6\"\n";
    let file = Temporary::new("tenths.toml", text.as_bytes());
    let verdicts = |e: &str| {
        let found = json(&["analyze", file.path(), "--set", &format!("e={e}"), "--json"]).1;
        assert_eq!(found["solutions"]["exact"], value!(true));
        assert_eq!(found["solutions"]["partial"], value!(false));
        ["existence", "acceleration_unique", "forces_unique"].map(|key| found[key].clone())
    };
    assert_eq!(verdicts("0"), ["proved", "proved", "refuted"]);
    assert_eq!(verdicts("0.1 + 0.2 - 0.3"), ["proved", "proved", "refuted"]);
    // Joints that disagree in the seventeenth digit do disagree.
    assert_eq!(verdicts("1e-17"), ["refuted", "refuted", "refuted"]);
}

#[test]
fn a_contact_that_opens_slowly_has_unique_forces() {
    // A joint drives x with x'' = c > 0 away from the floor; with a sine in it, no fraction is known.
    for factor in ["1", "sin(1)"] {
        let text = format!(
            "[system]\ncoordinates = [\"x\"]\n[parameters]\nc = 1e-8\n[energy]\nkinetic = \"x'^2/2\"\n\
             [[force]]\ncoordinate = \"x\"\nvalue = \"-1\"\n\
             [[joint]]\nname = \"drive\"\nvalue = \"{factor}*(x - c*t^2/2)\"\n\
             [[contact]]\nname = \"floor\"\ngap = \"x\"\n"
        );
        let file = Temporary::new("drive.toml", text.as_bytes());
        for c in ["1e-14", "1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-3"] {
            let found = json(&["analyze", file.path(), "--set", &format!("c={c}"), "--json"]).1;
            assert_ne!(found["forces_unique"], "refuted", "{factor} {c}");
            assert!(factor != "1" || found["forces_unique"] == "proved", "{c}");
        }
    }
}
