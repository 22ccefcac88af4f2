//! Bad input: exit code 2, one message that names file, line and what was expected, and no panic.

use crate::{Temporary, delassus, root};

/// Exit code 2, nothing on stdout, and all of `parts` in the one message.
fn refused(name: &str, text: &[u8], parts: &[&str]) {
    let file = Temporary::new(name, text);
    for command in ["analyze", "check"] {
        let out = delassus(&[command, file.path(), "--json"]);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{command} {name}: {message}");
        assert!(out.stdout.is_empty(), "{command} {name}");
        assert!(!message.contains("panicked"), "{message}");
        assert!(message.contains(name), "{command}: {message}");
        assert_eq!(message.matches("error").count(), 1, "one message: {message}");
        assert!(message.len() < 2000, "short: {} bytes", message.len());
        for part in parts {
            assert!(message.contains(part), "{command} {name}: no {part:?} in {message}");
        }
    }
}

fn rod() -> String {
    std::fs::read_to_string(root().join("scenes/painleve-rod.toml")).unwrap()
}

/// The line of the first occurrence, counted from 1.
fn line_of(text: &str, what: &str) -> String {
    let at = text.find(what).unwrap_or_else(|| panic!("{what}"));
    (1 + text[..at].matches('\n').count()).to_string()
}

#[test]
fn formulas_and_keys() {
    let good = rod();
    let cases = [
        ("m*g*y\"", "m*g*yy\"", "yy"),
        ("m*g*y\"", "m*g*(y\"", "m*g*(y"),
        ("m*g*y\"", "m*g*y + 3 4\"", "3 4"),
        ("m*g*y\"", "m*g*y + 2^(1e9)\"", "2^(1e9)"),
        ("gap ", "gapp ", "gapp"),
        ("m = 1.0", "m = nan", "m = nan"),
        ("m = 1.0", "m = \"one\"", "\"one\""),
        ("m = 1.0", "m = [1.0]", "[1.0]"),
    ];
    for (from, to, marked) in cases {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, to, 1);
        let line = line_of(&bad, marked);
        refused("bad.toml", bad.as_bytes(), &[&format!("bad.toml:{line}:")]);
    }
}

#[test]
fn physics() {
    let good = rod();
    refused("mass.toml", good.replacen("m = 1.0", "m = -1.0", 1).as_bytes(), &["mass"]);
    refused("mu.toml", good.replacen("mu = 2.0", "mu = -2.0", 1).as_bytes(), &["friction", "-2"]);
    let sunk = "[system]\ncoordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\n[state.position]\ny = -0.1\n";
    refused(
        "sunk.toml",
        sunk.as_bytes(),
        &["sunk.toml:7:", "`floor` penetrates", "-1e-1", "expected at least 0"],
    );
    let open = sunk.replace("contact", "joint").replace("gap", "value");
    refused("open.toml", open.as_bytes(), &["open.toml:7:", "joint `floor` is open"]);
    let torn = open.replace("position", "velocity");
    refused("torn.toml", torn.as_bytes(), &["torn.toml:7:", "torn by the velocities"]);
    let cubic = sunk.replace("y'^2/2", "y'^3").replace("-0.1", "0.0");
    refused("cubic.toml", cubic.as_bytes(), &["cubic.toml:4:", "quadratic"]);
    let root_of_minus = sunk.replace("gap = \"y\"", "gap = \"sqrt(y)\"");
    refused("root.toml", root_of_minus.as_bytes(), &["root.toml:7:"]);
}

#[test]
fn files() {
    refused("empty.toml", b"", &["expected a [system] or a [world] table"]);
    refused("binary.toml", &[0xff, 0xfe, 0x00], &["expected UTF-8"]);
    refused("brackets.toml", "[".repeat(100_000).as_bytes(), &["brackets.toml:1:"]);
    refused(
        "both.toml",
        b"[system]\ncoordinates = [\"x\"]\n[world]\n",
        &["both.toml:3:", "both a [system] and a [world]"],
    );
    let deep = format!(
        "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"{}x'^2{}\"\n",
        "(".repeat(50_000),
        ")".repeat(50_000)
    );
    refused("deep.toml", deep.as_bytes(), &["deep.toml:4:"]);
    let out = delassus(&["analyze", "no-such-file.toml"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no-such-file.toml"));
    let out = delassus(&["analyze", root().to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn ten_megabytes_of_brackets() {
    refused("huge.toml", "[".repeat(10_000_000).as_bytes(), &["huge.toml"]);
}

#[test]
fn overrides() {
    let file = root().join("scenes/painleve-rod.toml");
    for set in ["mu", "=1", "nu=1", "mu=", "mu=nan", "mu=1+", "mu=-3"] {
        let out = delassus(&["analyze", file.to_str().unwrap(), "--set", set]);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{set}: {message}");
        assert!(!message.contains("panicked") && !message.is_empty(), "{set}");
    }
    for tolerance in ["-1", "nan", "x"] {
        let out = delassus(&["analyze", file.to_str().unwrap(), "--gap-tolerance", tolerance]);
        assert_eq!(out.status.code(), Some(2), "{tolerance}");
    }
}

#[test]
fn the_associated_law_is_not_there_for_elliptic_friction() {
    let text = r#"{"kind": "local", "laws": [{"law": "coulomb-ellipse", "mu": [0.3, 0.6]}],
        "delassus": [[0, 0, 1.0], [1, 1, 1.0], [2, 2, 1.0]], "free_velocity": [-1.0, 0.5, 0.0]}"#;
    let file = Temporary::new("ellipse.json", text.as_bytes());
    let out = delassus(&["solve", file.path(), "--law", "ccp", "--json"]);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(
        out.stdout.is_empty() && message.contains("ellipse.json: constraint 1 has elliptic"),
        "{message}"
    );
}
