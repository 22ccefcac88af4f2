//! Every scene has the outcome that it expects, and is built in.

use delassus_scene::read_world;
use delassus_scene::{Expect, Expected, ExpectedValue, SceneKind, SolutionCount, read_system, scene_kind};
use serde_json::Value;

use crate::{delassus, json, root};

fn scenes(kind: SceneKind) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(root().join("scenes"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| (p.to_str().unwrap().to_owned(), std::fs::read_to_string(&p).unwrap()))
        .filter(|(_, text)| scene_kind(text).unwrap() == kind)
        .collect();
    all.sort();
    assert!(all.len() >= 12);
    all
}

#[test]
fn scenes_have_their_expected_outcome() {
    for (path, text) in scenes(SceneKind::System) {
        let file = read_system(&text, &[]).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        let expect = file.expect.unwrap_or_else(|| panic!("{path}: a scene says what it expects"));
        assert!(expect.existence.is_some() && expect.solutions.is_some(), "{path}");
        let doc = has_outcome(&path, &expect);
        for finding in doc["certificates"].as_array().unwrap() {
            let claims = finding["claims"].as_object().unwrap().values().any(|c| !c.is_null());
            assert!(!claims || finding["verified"] == true, "{path}: {finding}");
        }
    }
}

#[test]
fn worlds_have_their_expected_outcome_at_their_state() {
    let mut reported = 0;
    for (path, text) in scenes(SceneKind::World) {
        let file = read_world(&text, None, &[]).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        let expect = file.expect.unwrap_or_else(|| panic!("{path}: a scene says what it expects"));
        if expect.analyze != Expect::default() {
            has_outcome(&path, &expect.analyze);
            reported += 1;
        }
        let (code, doc) = json(&["check", &path, "--json"]);
        assert_eq!(code, 0, "{path}");
        has_values(&path, &doc, &expect.check);
    }
    assert!(reported >= 5);
}

/// `analyze` returns for each scene what the scene expects.
fn has_outcome(path: &str, expect: &Expect) -> Value {
    let (code, doc) = json(&["analyze", path, "--json"]);
    let at = |key: &str| doc[key].as_str().unwrap().to_owned();
    let verdicts = [
        ("existence", &expect.existence),
        ("acceleration_unique", &expect.acceleration_unique),
        ("forces_unique", &expect.forces_unique),
    ];
    for (key, want) in verdicts {
        if let Some(want) = want {
            assert_eq!(&at(key), want, "{path}: {key}");
        }
    }
    let (kind, listed) =
        (doc["solutions"]["kind"].as_str().unwrap(), doc["solutions"]["list"].as_array().unwrap().len());
    match expect.solutions {
        Some(SolutionCount::Exactly(0)) => assert_eq!((kind, listed), ("none", 0), "{path}"),
        Some(SolutionCount::Exactly(n)) => assert_eq!((kind, listed), ("finite", n), "{path}"),
        Some(SolutionCount::Several) => assert!(kind == "finite" && listed > 1, "{path}"),
        Some(SolutionCount::Infinite) => assert_eq!(kind, "infinite", "{path}"),
        None => {}
    }
    assert_eq!(code, if at("existence") == "refuted" { 1 } else { 0 }, "{path}");
    has_values(path, &doc, &expect.values);
    doc
}

/// A document has the values that are expected of it.
fn has_values(path: &str, doc: &Value, values: &[ExpectedValue]) {
    for value in values {
        let got = doc.pointer(&value.path).unwrap_or_else(|| panic!("{path}: no {}", value.path));
        match value.equals {
            Expected::Boolean(b) => assert_eq!(got, &Value::Bool(b), "{path}: {}", value.path),
            expected => {
                let number = got.as_f64().unwrap_or_else(|| panic!("{path}: {} is {got}", value.path));
                assert!(value.accepts(number), "{path}: {}: {number} for {expected:?}", value.path);
            }
        }
    }
}

#[test]
fn systems_have_their_expected_motion() {
    let mut reported = 0;
    for (path, text) in scenes(SceneKind::System) {
        let file = read_system(&text, &[]).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        if file.expect_run.is_empty() {
            continue;
        }
        let (code, doc) = json(&["run", &path, "--json"]);
        assert_eq!((code, doc["ending"].as_str()), (0, Some("done")), "{path}: {}", doc["failure"]);
        has_values(&path, &doc, &file.expect_run);
        reported += 1;
    }
    assert!(reported >= 6);
}

#[test]
fn every_scene_is_built_in() {
    for (path, text) in scenes(SceneKind::System) {
        let name = std::path::Path::new(&path).file_stem().unwrap().to_str().unwrap().to_owned();
        // JSON writes no file, so this may run anywhere.
        let (_, built_in) = json(&["try", &name, "--json"]);
        let (_, from_file) = json(&["analyze", &path, "--json"]);
        assert_eq!(built_in, from_file, "{name}");
        assert!(text.starts_with('#'), "{name}: a scene begins with its story");
    }
}

#[test]
fn analysis_of_a_small_system_is_quick() {
    // 50 ms with start-up are asked of the release build; the test build gets ten times that, and the best of
    // five.
    let path = root().join("scenes/articulated-arm.toml");
    let best = (0..5)
        .map(|_| {
            let start = std::time::Instant::now();
            assert_eq!(delassus(&["analyze", path.to_str().unwrap()]).status.code(), Some(0));
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(best.as_secs_f64() < 0.5, "{best:?}");
}
