//! `delassus safe` as a user types it.

use serde_json::json as value;

use crate::{delassus, json, root};

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
