//! Certificates of pavings: written by `safe`, accepted by both checkers, refused where they were tampered
//! with.

use num_rational::BigRational;
use serde_json::{Value, json as value};

use crate::certificate::{by_program, by_python, certificate};
use crate::{Temporary, delassus, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

/// A block on a slope, at rest.
const BLOCK: &str = r#"
[system]
name = "block at rest"
coordinates = ["x", "y"]
[parameters]
mu = 0.5
slope = 0.3
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*(x*sin(slope) + y*cos(slope))"
[[contact]]
name = "floor"
gap = "y"
slip = ["x"]
mu = "mu"
"#;

fn fraction(value: &Value) -> f64 {
    let text = value.as_str().unwrap();
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let x = BigRational::new(above.parse().unwrap(), below.parse().unwrap());
    let scaled = (x * BigRational::from(num_bigint::BigInt::from(1u64 << 40))).round().to_integer();
    scaled.to_string().parse::<f64>().unwrap() / (1u64 << 40) as f64
}

#[test]
fn pavings_have_certificates_that_both_checkers_accept() {
    let block = Temporary::new("block.toml", BLOCK.as_bytes());
    let arm = ["x0=0.3388166337832805", "c0=101.74712330460235 deg"];
    let (drawer, slider, four_bar) =
        (scene("drawer.toml"), scene("slider-crank-friction.toml"), scene("four-bar-pin.toml"));
    let cases: &[(&[&str], i32)] = &[
        (
            &[&scene("painleve-rod.toml"), "--over", "angle=0.7:0.9", "--over", "mu=0.5:3", "--boxes", "120"],
            1,
        ),
        (
            &[&drawer, "--over", "length=0.2:1", "--over", "mu=0.1:1.2", "--boxes", "200", "--set", "mu=0.4"],
            0,
        ),
        (
            &[
                &scene("painleve-klein.toml"),
                "--over",
                "mu_upper=0:1.5",
                "--over",
                "mu_lower=0:1.5",
                "--boxes",
                "200",
            ],
            1,
        ),
        (&[&slider, "--cycle", "--over", "angle=0:90deg", "--over", "mu=0:1", "--boxes", "150"], 0),
        (
            &[
                &four_bar,
                "--cycle",
                "--any-load",
                "--over",
                "angle=85deg:95deg",
                "--over",
                "mu=0:0.1",
                "--boxes",
                "60",
            ],
            0,
        ),
        (
            &[
                &scene("articulated-arm.toml"),
                "--over",
                "mu=0:1",
                "--any-slip",
                "--boxes",
                "300",
                "--set",
                arm[0],
                "--set",
                arm[1],
                "--set",
                "mu=0.2",
            ],
            0,
        ),
        (&[block.path(), "--over", "mu=0:1", "--for-all", "slope=0.1:0.4", "--boxes", "6000"], 0),
    ];
    let mut all = Vec::new();
    for (args, expected) in cases {
        let (code, found) = certificate(&[&["safe"], *args].concat());
        let found = found.unwrap_or_else(|| panic!("{args:?}"));
        assert_eq!(code, *expected, "{args:?}");
        let decided = fraction(&found["claim"]["proved"]) + fraction(&found["claim"]["refuted"]);
        assert!(decided > 0.3, "{args:?}: {decided}");
        all.push(found);
    }
    assert_eq!(all.iter().map(by_program).collect::<Vec<u8>>(), [0; 7]);
    assert_eq!(by_python(&all), [0; 7]);
    // Sticking and sliding: one answer for every friction coefficient but those of the slopes.
    let block = &all[6]["claim"];
    assert!(fraction(&block["proved"]) > 0.6 && fraction(&block["refuted"]) == 0.0, "{block}");
    let file = Temporary::new("paving.json", all[0].to_string().as_bytes());
    let out = delassus(&["verify", file.path()]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(
        said.starts_with("verified: ") && said.contains("% proved") && said.contains("a counterexample"),
        "{said}"
    );
}

/// A point at rest on a plane that is tilted in two directions, its mass coupled across them.
const TILTED: &str = r#"
[system]
name = "point on a tilted plane"
coordinates = ["x", "y", "z"]
[parameters]
mu = 0.5
along = 0.3
across = 0.2
[energy]
kinetic = "(2*x'^2 + 3*y'^2 + z'^2)/2 + x'*y'/2 + x'*z'/4"
potential = "9.81*(along*x + across*y + z)"
[[contact]]
name = "floor"
gap = "z"
slip = ["x", "y"]
mu = "mu"
"#;

#[test]
fn contacts_with_two_tangents_at_rest_stick_or_slide_in_a_direction() {
    let file = Temporary::new("tilted.toml", TILTED.as_bytes());
    let args = |boxes: &'static str| {
        ["safe", file.path(), "--over", "along=-0.5:0.5", "--over", "mu=0.05:0.9", "--boxes", boxes]
    };
    // All but the border between sticking and sliding, μ² = along² + across².
    let out = String::from_utf8(delassus(&args("1500")).stdout).unwrap();
    let share = |word: &str| {
        let line = out.lines().find(|line| line.starts_with(word)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
    };
    assert!(share("PROVED") > 88.0 && share("REFUTED") == 0.0, "{out}");
    let fine = certificate(&args("400")).1.unwrap();
    assert!(fraction(&fine["claim"]["proved"]) > 0.6 && by_program(&fine) == 0, "{}", fine["claim"]);
    let found = certificate(&args("100")).1.unwrap();
    let mut forged = vec![found.clone()];
    let cells = cells(&found, "this-load");
    assert!(cells.len() > 2);
    let wrong = ["no-solution", "several-solutions", "every-load"];
    for (k, to) in cells.iter().flat_map(|k| wrong.map(|to| (*k, to))) {
        let mut other = found.clone();
        other["facts"]["cells"][k]["is"] = value!(to);
        forged.push(other);
    }
    let mut more = found.clone();
    more["claim"]["proved"] = value!("1");
    forged.push(more);
    let outcomes: Vec<u8> = forged.iter().map(by_program).collect();
    assert!(outcomes[0] == 0 && outcomes[1..].iter().all(|code| *code == 1), "{outcomes:?}");
    assert_eq!(by_python(&forged), outcomes);
}

/// The places of the cells with such a verdict.
fn cells(document: &Value, is: &str) -> Vec<usize> {
    let all = document["facts"]["cells"].as_array().unwrap();
    (0..all.len()).filter(|&k| all[k]["is"] == is).collect()
}

#[test]
fn tampered_pavings_are_refused_by_both_checkers() {
    let rod = scene("painleve-rod.toml");
    let args =
        ["safe", &rod, "--over", "angle=0.76:0.84", "--over", "mu=0.5:3", "--boxes", "120", "--set", "mu=1"];
    let found = certificate(&args).1.unwrap();
    let (good, bad) = (cells(&found, "every-load"), cells(&found, "no-solution"));
    assert!(good.len() > 3 && bad.len() > 3);
    let mut forged = Vec::new();
    let mut with = |expected: u8, change: &dyn Fn(&mut Value)| {
        let mut other = found.clone();
        change(&mut other);
        forged.push((expected, other));
    };
    for (&k, to) in good.iter().zip(["no-solution", "several-solutions", "some-load", "no-state"]) {
        with(1, &|d| d["facts"]["cells"][k]["is"] = value!(to));
    }
    for (&k, to) in bad.iter().zip(["every-load", "this-load", "several-solutions"]) {
        with(1, &|d| d["facts"]["cells"][k]["is"] = value!(to));
    }
    // What is open, called proved; a cell left out; one too many; a cut outside.
    let open = cells(&found, "undecided")[0];
    with(1, &|d| d["facts"]["cells"][open]["is"] = value!("every-load"));
    with(2, &|d| drop(d["facts"]["cells"].as_array_mut().unwrap().pop()));
    with(2, &|d| d["facts"]["cells"].as_array_mut().unwrap().push(value!({"is": "undecided"})));
    with(2, &|d| d["facts"]["cells"][0][1] = value!("7"));
    // The first cut elsewhere makes cells on one side larger.
    let first = found["facts"]["cells"][0][0].as_u64().unwrap();
    for at in [["79/100", "81/100"], ["174/100", "176/100"]][first as usize] {
        // Cuts that follow may lie outside now.
        with(3, &|d| d["facts"]["cells"][0][1] = value!(at));
    }
    // More than is proved; a larger box; a point that is not refuted; other bounds of a parameter.
    with(1, &|d| d["claim"]["proved"] = value!("1"));
    with(1, &|d| d["claim"]["refuted"] = value!("0"));
    with(1, &|d| d["claim"]["box"] = value!([["77/100", "83/100"], ["1/2", "3"]]));
    with(1, &|d| d["claim"]["counterexample"] = value!(["77/100", "1/2"]));
    with(1, &|d| d["problem"]["over"][1][2] = value!("30"));
    // Another system: half the friction, no gravity, a mass that is none.
    with(1, &|d| d["problem"]["contacts"][0]["mu_kinetic"] = value!(["mu", "1/2", "*"]));
    with(1, &|d| d["problem"]["potential"] = value!(["0"]));
    with(1, &|d| d["problem"]["kinetic"] = value!(["x'", "2", "^"]));
    with(2, &|d| d["problem"]["kinetic"] = value!(["x'", "+"]));
    with(2, &|d| d["problem"]["contacts"][0]["row"] = value!({"displacement": ["y'"]}));
    let expected: Vec<u8> = forged.iter().map(|(code, _)| *code).collect();
    let documents: Vec<Value> = forged.into_iter().map(|(_, document)| document).collect();
    let outcomes: Vec<u8> = documents.iter().map(by_program).collect();
    let as_expected = |(found, wanted): (&u8, &u8)| found == wanted || (*wanted == 3 && *found > 0);
    assert!(outcomes.iter().zip(&expected).all(as_expected), "{outcomes:?} {expected:?}");
    assert_eq!(by_python(&documents), outcomes);
}

#[test]
fn tampered_configurations_are_refused_by_both_checkers() {
    let slider = scene("slider-crank-friction.toml");
    let args =
        ["safe", &slider, "--cycle", "--over", "angle=40deg:80deg", "--over", "mu=0:0.5", "--boxes", "30"];
    let found = certificate(&args).1.unwrap();
    let facts = &found["facts"];
    let cell = (0..).find(|&k| facts["cells"][k].get("parts").is_some()).unwrap();
    let part = (0..).find(|&i| facts["cells"][cell]["parts"][i].is_object()).unwrap();
    let last = facts["configurations"].as_array().unwrap().len() - 1;
    assert!(last > 1);
    let mut forged = Vec::new();
    let mut with = |change: &dyn Fn(&mut Value)| {
        let mut other = found.clone();
        change(&mut other);
        forged.push(other);
    };
    // The other way to assemble it: the rod to the left.
    let other_way =
        |d: &mut Value| d["facts"]["configurations"][0]["alone"] = value!([["2", "3"], ["-1", "0"]]);
    with(&other_way);
    // Enclosures that are too narrow, shifted, or too wide to be the only ones.
    let own = move |d: &mut Value, x: Value| d["facts"]["cells"][cell]["parts"][part]["alone"] = x;
    with(&|d| own(d, value!([["76/100", "77/100"], ["56/100", "57/100"]])));
    with(&|d| own(d, value!([["1", "2"], ["56/100", "57/100"]])));
    with(&|d| own(d, value!([["-10", "10"], ["-10", "10"]])));
    let elsewhere = if facts["cells"][cell]["parts"][part]["from"] == last { last - 1 } else { last };
    with(&|d| d["facts"]["cells"][cell]["parts"][part]["from"] = value!(elsewhere));
    // A leap from one configuration to another.
    with(&|d| {
        d["facts"]["configurations"][last]["region"] = d["facts"]["configurations"][last]["alone"].clone();
    });
    with(&|d| d["facts"]["configurations"][last]["at"] = value!(["5"]));
    // A parameter on which the joints depend is not followed.
    with(&|d| d["problem"]["joints"][1]["row"]["displacement"] = value!(["x", "mu", "-"]));
    assert_eq!(by_program(&found), 0);
    let outcomes: Vec<u8> = forged.iter().map(by_program).collect();
    assert_eq!(outcomes, vec![1; outcomes.len()]);
    assert_eq!(by_python(&forged), outcomes);
}

#[test]
fn intervals_have_certificates_of_their_cells() {
    let rod = scene("painleve-rod.toml");
    let cases: &[(&[&str], f64)] = &[
        (&[&rod, "--over", "mu"], 5.0 / 3.0),
        (&[&scene("drawer.toml"), "--over", "mu"], 2.0 / 3.0),
        (&[&scene("slider-crank-friction.toml"), "--over", "mu", "--any-slip"], f64::NAN),
    ];
    for (args, end) in cases {
        let (code, found) = certificate(&[&["safe"], *args].concat());
        let found = found.unwrap_or_else(|| panic!("{args:?}"));
        let [lo, hi] = [0, 1].map(|k| fraction(&found["claim"]["box"][0][k]));
        assert!(code == 0 && lo == 0.0 && (end.is_nan() || (hi <= *end && hi > end - 1e-6)), "{args:?} {hi}");
        // One that claims more is refused.
        let mut forged = found.clone();
        forged["claim"]["box"][0][1] = value!("7");
        assert_eq!([by_program(&found), by_program(&forged)], [0, 1], "{args:?}");
        assert_eq!(by_python(&[found, forged]), [0, 1], "{args:?}");
    }
    // Cells are not divided along what is meant for all values: this one takes too many.
    let (code, none) = certificate(&["safe", &rod, "--over", "mu", "--for-all", "angle=1deg:89deg"]);
    assert!(code == 3 && none.is_none());
    // Nothing is certified, and there is nothing to prove.
    let out = delassus(&["safe", &rod, "--over", "m", "--certificate", "x.json"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.code() == Some(3) && said.lines().count() == 1, "{said}");
}
