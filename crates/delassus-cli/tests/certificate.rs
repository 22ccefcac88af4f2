//! Certificates: written by commands, checked by `delassus verify` and by the checker in Python, refused
//! where they were tampered with.

use std::io::Write;
use std::process::{Command, Stdio};

use delassus_solve::analysis::analyze;
use delassus_solve::analysis::equilibrium::{
    Balance, RestSearch, Support, find_collapse, find_rest, is_collapse, is_rest,
};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Law, Slip};
use delassus_verify::{Fault, verify};
use num_bigint::BigInt;
use num_rational::BigRational;
use serde_json::{Value, json as value};

use crate::{Temporary, delassus, root};

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

/// Runs a command with `--certificate`: exit code, and the certificate where there is one.
pub fn certificate(args: &[&str]) -> (i32, Option<Value>) {
    let file = Temporary::new("none", b"");
    let path = format!("{}.json", file.path());
    let out = delassus(&[args, &["--certificate", &path]].concat());
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        assert!(String::from_utf8_lossy(&out.stderr).contains("no certificate for this verdict"), "{out:?}");
    }
    (out.status.code().unwrap(), text.map(|text| serde_json::from_str(&text).unwrap()))
}

/// What the checker in Python says of documents: 0 verified, 1 not proved, 2 no certificate.
pub fn by_python(documents: &[Value]) -> Vec<u8> {
    let program = "import json, sys, verify\n\
        for line in sys.stdin:\n    \
            try: verify.verify(json.loads(line)); print(0)\n    \
            except verify.Unproved: print(1)\n    \
            except verify.NotACertificate: print(2)\n";
    let mut child = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONPATH", root().join("python/delassus"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is needed for this test");
    let mut input = child.stdin.take().unwrap();
    let text: String = documents.iter().map(|d| format!("{d}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

pub fn by_program(document: &Value) -> u8 {
    match verify(document) {
        Ok(_) => 0,
        Err(Fault::Unproved(_)) => 1,
        Err(Fault::Form(_)) => 2,
    }
}

/// The numbers of a document, as paths: fractions and integers below the claim, the problem and the facts.
fn numbers(document: &Value, path: &str, all: &mut Vec<String>) {
    match document {
        Value::Object(map) => map.iter().for_each(|(k, v)| numbers(v, &format!("{path}/{k}"), all)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| numbers(v, &format!("{path}/{i}"), all))
        }
        Value::Number(_) => all.push(path.into()),
        Value::String(text) if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            all.push(path.into())
        }
        _ => {}
    }
}

fn fraction(value: &Value) -> BigRational {
    let text = value.as_str().unwrap();
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    BigRational::new(above.parse().unwrap(), below.parse().unwrap())
}

/// Each number in turn, changed in several ways; of the facts at most so many, evenly spread.
pub fn tampered(document: &Value, most: usize) -> Vec<Value> {
    let (mut paths, mut facts) = (Vec::new(), Vec::new());
    ["claim", "problem"].iter().for_each(|key| numbers(&document[*key], &format!("/{key}"), &mut paths));
    numbers(&document["facts"], "/facts", &mut facts);
    let step = facts.len().div_ceil(most).max(1);
    paths.extend(facts.into_iter().step_by(step));
    let whole = |x: i64| BigRational::from(BigInt::from(x));
    let mut all = Vec::new();
    for path in paths {
        let old = document.pointer(&path).unwrap();
        let new: Vec<Value> = if let Some(x) = old.as_i64() {
            [x + 1, x - 1, -x, 0].iter().map(|x| value!(x)).collect()
        } else {
            let x = fraction(old);
            let changed = [-&x, &x + whole(1), whole(0), &x * whole(1000)];
            changed.iter().map(|x| Value::String(x.to_string())).collect()
        };
        for new in new.into_iter().filter(|new| new != old) {
            let mut other = document.clone();
            *other.pointer_mut(&path).unwrap() = new;
            all.push(other);
        }
    }
    all
}

/// The number between both ends of bounds: the lower end for 0, the upper for 1.
pub fn number(x: &Value, share: f64) -> f64 {
    let double = |x: &Value| {
        let x = fraction(x);
        let scaled = (x * BigRational::from(BigInt::from(1u64 << 60))).round().to_integer().to_string();
        scaled.parse::<f64>().unwrap() / (1u64 << 60) as f64
    };
    x.as_array().map_or_else(|| double(x), |ends| (1.0 - share) * double(&ends[0]) + share * double(&ends[1]))
}

/// One of the problems that a certificate speaks of, as the solvers see it.
fn balance(problem: &Value, share: f64) -> Balance {
    let middle = |x: &Value| number(x, share);
    let (mut entries, mut supports, mut row) = (vec![], vec![], 0);
    for c in problem["constraints"].as_array().unwrap() {
        let mu = || middle(&c["mu"]);
        supports.push(match c["law"].as_str().unwrap() {
            "bilateral" => Support::Joint,
            "bounded" => Support::Bounded(middle(&c["most"])),
            "unilateral" => Support::Contact(Law::Unilateral),
            "coulomb" => Support::Contact(Law::Coulomb { mu: mu() }),
            law => panic!("{law}"),
        });
        for own in c["rows"].as_array().unwrap() {
            let columns = own.as_array().unwrap().iter();
            entries.extend(columns.map(|x| (row, x[0].as_u64().unwrap() as usize, middle(&x[1]))));
            row += 1;
        }
    }
    let load: Vec<f64> = problem["load"].as_array().unwrap().iter().map(middle).collect();
    let rows = Sparse::from_triplets(row, load.len(), &entries);
    Balance { rows, load_error: vec![0.0; load.len()], load, supports, rounding: 0.0 }
}

/// Whether the solvers prove that the claim of a certificate is false of some problem within its bounds.
fn is_false(document: &Value) -> bool {
    [0.0, 0.5, 1.0].iter().any(|share| is_false_at(document, *share))
}

fn is_false_at(document: &Value, share: f64) -> bool {
    if document["kind"] == "contact-problem" {
        return contradicts(document, share);
    }
    let balance = balance(&document["problem"], share);
    let falls = || find_collapse(&balance, |v| is_collapse(&balance, v)).is_some();
    match document["claim"]["stands"].as_str() {
        Some("no") => find_rest(&balance, RestSearch::Common).is_some_and(|(f, _)| is_rest(&balance, &f)),
        _ => falls(),
    }
}

/// Whether the analysis of one of the problems that a certificate speaks of contradicts its claim.
fn contradicts(document: &Value, share: f64) -> bool {
    let problem = &document["problem"];
    let n = problem["coordinates"].as_u64().unwrap() as usize;
    let of = |x: &Value| number(x, share);
    let all = |list: &Value| list.as_array().unwrap().iter().map(of).collect::<Vec<f64>>();
    let dense = |row: &Value| {
        let mut out = vec![0.0; n];
        row.as_array().unwrap().iter().for_each(|x| out[x[0].as_u64().unwrap() as usize] = of(&x[1]));
        out
    };
    let (mut rows, mut bias, mut laws) = (vec![], vec![], vec![]);
    for c in problem["constraints"].as_array().unwrap() {
        let mu = || of(&c["mu"]);
        laws.push(match c["law"].as_str().unwrap() {
            "bilateral" => Law::Bilateral,
            "unilateral" => Law::Unilateral,
            "coulomb-plane" => Law::CoulombPlane { mu: mu() },
            "coulomb" => Law::Coulomb { mu: mu() },
            "sliding" => Law::Sliding { mu: mu(), slip: Slip::try_from(all(&c["slip"])).unwrap() },
            "bilateral-sliding" => {
                Law::BilateralSliding { mu: mu(), slip: Slip::try_from(all(&c["slip"])).unwrap() }
            }
            law => panic!("{law}"),
        });
        rows.extend(c["rows"].as_array().unwrap().iter().map(dense));
        bias.extend(all(&c["bias"]));
    }
    let mass: Vec<Vec<f64>> = problem["mass"].as_array().unwrap().iter().map(dense).collect();
    let (mass, rows) = (Matrix::from_rows(&mass), Matrix::from_rows(&rows));
    let Ok(dynamics) = Dynamics::new(mass, all(&problem["force"]), rows, bias, laws) else { return false };
    let found = analyze(&dynamics, &EnumerateOptions::default());
    let opposite = |(verdict, key): (Verdict, &str)| match document["claim"].get(key) {
        Some(Value::Bool(true)) => verdict == Verdict::Refuted,
        Some(Value::Bool(false)) => verdict == Verdict::Proved,
        _ => false,
    };
    let questions = ["existence", "acceleration_unique", "forces_unique"];
    found.verdicts().into_iter().zip(questions).any(opposite)
}

/// One contact at rest in space with three solutions.
const THREE: &str = r#"
[system]
name = "three solutions"
coordinates = ["x", "y", "z"]
[energy]
kinetic = "(3*x'^2 + 4*y'^2 + 6*z'^2)/2 + 2*x'*y' - x'*z' - 3*y'*z'"
potential = "2*x + 4*y"
[[contact]]
name = "tip"
gap = "2*x + 2*y - 2*z"
slip = ["-y - 2*z", "z - 2*x - 2*y"]
mu = 1
"#;

#[test]
fn verdicts_of_contact_problems_have_certificates() {
    let three = Temporary::new("three.toml", THREE.as_bytes());
    let (yes, no) = (Some(true), Some(false));
    // Existence, unique acceleration, unique forces; `None` where that is not claimed.
    let cases = [
        (scene("painleve-rod.toml"), 1, [no, no, no]),
        (scene("painleve-rod-world.toml"), 1, [no, no, no]),
        (scene("painleve-rod-pulled.toml"), 0, [yes, no, no]),
        (scene("rod-in-space.toml"), 1, [no, no, no]),
        (scene("rolling-sphere.toml"), 0, [yes, yes, yes]),
        (scene("articulated-arm.toml"), 0, [yes, no, no]),
        (scene("woodpecker.toml"), 0, [yes, yes, yes]),
        (scene("table-four-legs.toml"), 0, [yes, yes, None]),
        (scene("bouncing-ball.toml"), 0, [yes, yes, yes]),
        (scene("stack.toml"), 0, [yes, yes, None]),
        (three.path().into(), 0, [yes, no, no]),
    ];
    let mut all = Vec::new();
    for (file, expected, answers) in &cases {
        let (code, found) = certificate(&["analyze", file]);
        let found = found.unwrap_or_else(|| panic!("{file}"));
        let keys = ["existence", "acceleration_unique", "forces_unique"];
        let claims = keys.map(|key| found["claim"].get(key).and_then(Value::as_bool));
        assert_eq!((code, claims), (*expected, *answers), "{file}");
        assert_eq!(verify(&found).map_err(|e| e.to_string()).err(), None, "{file}");
        all.push(found);
    }
    assert_eq!(all[10]["facts"]["solutions"].as_array().unwrap().len(), 3);
    assert!(by_python(&all).iter().all(|code| *code == 0));
    // As anyone calls it who has the folder and a file.
    let file = Temporary::new("rod.json", all[10].to_string().as_bytes());
    let checker = root().join("python/delassus/verify");
    let out = Command::new("python3").arg("-B").arg(checker).arg(file.path()).output().unwrap();
    assert!(
        out.status.success() && String::from_utf8_lossy(&out.stdout).starts_with("verified: "),
        "{out:?}"
    );
    // A claim more, or the opposite, and a tree that leaves something out.
    let mut forged = vec![];
    for (k, document) in all.iter().enumerate() {
        let mut other = document.clone();
        other["claim"] = value!({ "forces_unique": !answers_of(document, k) });
        forged.push(other);
    }
    let mut partial = all[4].clone();
    partial["facts"].as_object_mut().unwrap().remove("tree");
    forged.push(partial);
    let mut open = all[10].clone();
    open["facts"]["tree"]["open"] = value!({ "solution": 0, "sides": [] });
    forged.push(open);
    let outcomes: Vec<u8> = forged.iter().map(by_program).collect();
    assert!(outcomes.iter().all(|code| *code == 1), "{outcomes:?}");
    assert_eq!(by_python(&forged), outcomes);
}

/// What is claimed of unique forces, or true where nothing is: then neither answer is proved.
fn answers_of(document: &Value, k: usize) -> bool {
    document["claim"]["forces_unique"].as_bool().unwrap_or(k.is_multiple_of(2))
}

/// A pin at rest in a groove that holds it from both sides, with friction in space: three coordinates, mass
/// coupled.
const GROOVE: &str = r#"
[system]
name = "pin in a groove"
coordinates = ["x", "y", "z"]
[parameters]
push = 1.0
[energy]
kinetic = "(2*x'^2 + 3*y'^2 + 2*z'^2)/2 + x'*z'/2"
potential = "push*z + 0.3*x - 0.2*y"
[[joint]]
name = "groove"
value = "z"
slip = ["x", "y"]
mu = 0.6
"#;

#[test]
fn guides_have_certificates_and_forged_ones_are_refused() {
    let groove = Temporary::new("groove.toml", GROOVE.as_bytes());
    let (yes, no) = (Some(true), Some(false));
    let cases: &[(&[&str], [Option<bool>; 3])] = &[
        (&[&scene("painleve-klein.toml")], [yes, no, no]),
        (&[&scene("slider-crank-friction.toml")], [yes; 3]),
        (&[&scene("four-bar-pin.toml")], [yes; 3]),
        // Pushed and pulled, sticking and sliding in space.
        (&[groove.path()], [yes; 3]),
        (&[groove.path(), "--set", "push=-1"], [yes; 3]),
        (&[groove.path(), "--set", "push=0.3"], [yes; 3]),
        (&[groove.path(), "--set", "push=-0.3"], [yes; 3]),
    ];
    let mut all = Vec::new();
    for (args, answers) in cases {
        let (_, found) = certificate(&[&["analyze"], *args].concat());
        let found = found.unwrap_or_else(|| panic!("{args:?}"));
        let keys = ["existence", "acceleration_unique", "forces_unique"];
        let claims = keys.map(|key| found["claim"].get(key).and_then(Value::as_bool));
        assert_eq!(claims, *answers, "{args:?}");
        assert_eq!(verify(&found).map_err(|e| e.to_string()).err(), None, "{args:?}");
        all.push(found);
    }
    assert!(by_python(&all).iter().all(|code| *code == 0));
    // The opposite claim; a side left out, or the other one twice; sides swapped; a guide that is a contact;
    // a mode of the other side; a tree with nothing for the guide.
    let mut forged = Vec::new();
    for document in &all {
        let mut with = |change: &dyn Fn(&mut Value)| {
            let mut other = document.clone();
            change(&mut other);
            forged.push(other);
        };
        for key in ["existence", "acceleration_unique", "forces_unique"] {
            with(&|d| d["claim"][key] = value!(!d["claim"][key].as_bool().unwrap()));
        }
        with(&|d| d["facts"]["tree"]["pull"] = d["facts"]["tree"]["push"].clone());
        with(&|d| d["facts"]["tree"]["push"] = d["facts"]["tree"]["pull"].clone());
        with(&|d| {
            let tree = d["facts"]["tree"].clone();
            d["facts"]["tree"] =
                value!({ "contact": tree["contact"], "push": tree["pull"], "pull": tree["push"] });
        });
        with(&|d| drop(d["facts"]["tree"].as_object_mut().unwrap().remove("pull")));
        with(&|d| d["facts"]["tree"] = d["facts"]["tree"]["push"].clone());
        for (from, to) in [("push-", "pull-"), ("pull-", "push-"), ("push-", ""), ("pull-", "")] {
            with(&|d| {
                let Some(mode) = d.pointer_mut("/facts/solutions/0/modes/0") else { return };
                *mode = value!(mode.as_str().unwrap().replace(from, to));
            });
        }
    }
    forged.retain(|document| !all.contains(document));
    let outcomes: Vec<u8> = forged.iter().map(by_program).collect();
    assert!(forged.len() > 40 && outcomes.iter().all(|code| *code > 0), "{outcomes:?}");
    assert_eq!(by_python(&forged), outcomes);
}

#[test]
fn what_has_no_certificate_says_so() {
    // Undecided verdicts, an impact.
    for name in ["rover.toml", "dominoes.toml"] {
        let (code, found) = certificate(&["analyze", &scene(name)]);
        assert_eq!((code, found.is_none()), (3, true), "{name}");
    }
}

#[test]
fn tampered_contact_problems_whose_claim_is_false_are_refused() {
    let three = Temporary::new("three.toml", THREE.as_bytes());
    let cases = [
        (scene("painleve-rod.toml"), 1000),
        (scene("painleve-rod-pulled.toml"), 1000),
        (scene("painleve-klein.toml"), 100),
        (scene("woodpecker.toml"), 60),
        (three.path().into(), 40),
    ];
    for (file, most) in &cases {
        let found = certificate(&["analyze", file]).1.unwrap();
        let all = tampered(&found, *most);
        let outcomes: Vec<u8> = all.iter().map(by_program).collect();
        assert_eq!(by_python(&all), outcomes, "{file}");
        let mut wrong = 0;
        for (document, code) in all.iter().zip(&outcomes).filter(|(_, code)| **code != 2) {
            let is_false = is_false(document);
            assert!(!(is_false && *code == 0), "{file}: accepted, but false:\n{document}");
            wrong += usize::from(is_false);
        }
        assert!(wrong > 5, "{file}: {wrong} false");
    }
}

/// A plank on a hinge, with a block beside it that leans on it: joints and contacts.
const GATE: &str = r#"
[world]
name = "gate"
[parameters]
push = 3.0
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "plank"
mass = 1.0
position = [0.5, 0, 0.3]
force = [0, "push", 0]
[[body.shape]]
type = "box"
half_extents = [0.5, 0.05, 0.1]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["plank", "floor"]
anchor = [0, 0, 0.3]
axis = [0, 0, 1]
[[body]]
name = "block"
mass = 2.0
position = [0.8, 0.15, 0.25]
[[body.shape]]
type = "box"
half_extents = [0.1, 0.1, 0.25]
[[friction]]
between = ["*", "*"]
mu = 0.5
"#;

#[test]
fn certificates_of_scenes_are_accepted_by_both_checkers() {
    let (arch, gate) = (scene("arch.toml"), Temporary::new("gate.toml", GATE.as_bytes()));
    let cases: &[(&[&str], i32, &str)] = &[
        (&["stand", &scene("table.toml")], 0, "surely"),
        (&["stand", &scene("stack.toml")], 0, "surely"),
        (&["stand", &arch], 0, "possibly"),
        (&["stand", &arch, "--set", "inner=0.96", "--set", "outer=1.04"], 1, "no"),
        (&["stand", &arch, "--set", "mu=0.2"], 1, "no"),
        (&["stand", gate.path()], 0, "possibly"),
        (&["stand", gate.path(), "--set", "push=30"], 1, "no"),
    ];
    let mut all = Vec::new();
    for (args, expected, word) in cases {
        let (code, found) = certificate(args);
        let found = found.unwrap();
        assert_eq!((code, &found["claim"]["stands"]), (*expected, &value!(word)), "{args:?}");
        assert!(verify(&found).is_ok(), "{args:?}: {:?}", verify(&found));
        all.push(found);
    }
    assert!(by_python(&all).iter().all(|code| *code == 0));
    // As a user types it.
    let file = Temporary::new("c.json", all[2].to_string().as_bytes());
    let out = delassus(&["verify", file.path()]);
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        "verified: arch: forces within friction balance the load\n"
    );
    let mut other = all[2].clone();
    other["claim"]["stands"] = value!("surely");
    let file = Temporary::new("c.json", other.to_string().as_bytes());
    let (code, doc) = crate::json(&["verify", file.path(), "--json"]);
    assert_eq!((code, &doc["verified"]), (1, &value!(false)));
}

#[test]
fn forces_that_are_held_have_certificates() {
    let table = scene("table.toml");
    let file = Temporary::new("hold.json", b"");
    let (code, doc) =
        crate::json(&["hold", &table, "--body", "table", "--certificate", file.path(), "--json"]);
    let found: Value = serde_json::from_str(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
    assert_eq!(code, 0);
    let claim = |key: &str| number(&found["claim"][key], 0.5);
    assert!((claim("resists") / doc["resists"].as_f64().unwrap() - 1.0).abs() < 1e-5);
    assert!((claim("fails") / doc["fails"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    // More than is resisted, a corner less, a face less, a face turned around, another corner.
    let mut forged = vec![found.clone(); 6];
    forged[0]["claim"]["resists"] = found["claim"]["fails"].clone();
    forged[1]["facts"]["faces"].as_array_mut().unwrap().pop();
    forged[2]["facts"]["faces"][0].as_array_mut().unwrap().swap(0, 1);
    forged[3]["facts"]["corners"].as_array_mut().unwrap().pop();
    forged[4]["facts"]["corners"][7]["force"][1] = value!("1000");
    forged[5]["claim"]["fails"] = found["claim"]["resists"].clone();
    let mut all = vec![found];
    all.extend(forged);
    let by_program: Vec<u8> = all.iter().map(by_program).collect();
    assert_eq!(by_program, [0, 1, 1, 1, 2, 1, 1]);
    assert_eq!(by_python(&all), by_program);
}

#[test]
fn tampered_certificates_whose_claim_is_false_are_refused() {
    let gate = Temporary::new("gate.toml", GATE.as_bytes());
    let (table, push) = (scene("table.toml"), ["--set", "push=30"]);
    let cases: [&[&str]; 3] =
        [&["stand", &table], &["stand", gate.path()], &["stand", gate.path(), push[0], push[1]]];
    for args in cases {
        let found = certificate(args).1.unwrap();
        let all = tampered(&found, 80);
        let outcomes: Vec<u8> = all.iter().map(by_program).collect();
        assert_eq!(by_python(&all), outcomes, "{args:?}");
        let refused = outcomes.iter().filter(|code| **code != 0).count();
        assert!(refused > all.len() / 3, "{refused} of {}", all.len());
        let (mut wrong, mut accepted) = (0, 0);
        for (document, code) in all.iter().zip(&outcomes).filter(|(_, code)| **code != 2) {
            let is_false = is_false(document);
            assert!(!(is_false && *code == 0), "{args:?}: accepted, but false:\n{document}");
            wrong += usize::from(is_false);
            accepted += usize::from(*code == 0);
        }
        // Both happen: numbers that do not matter much, and numbers that do.
        assert!(wrong > 5 && accepted > 5, "{args:?}: {wrong} false, {accepted} accepted");
    }
}

#[test]
fn what_is_no_certificate_is_refused_with_its_place() {
    let found = certificate(&["stand", &scene("table.toml")]).1.unwrap();
    let with = |pointer: &str, new: Value| {
        let mut other = found.clone();
        *other.pointer_mut(pointer).unwrap() = new;
        other.to_string()
    };
    let cases = [
        ("{".into(), "expected a certificate in JSON"),
        ("[1]".into(), "expected \"format\": \"delassus-certificate\""),
        (with("/version", value!(2)), "version: expected 1"),
        (with("/kind", value!("mapping")), "kind: expected one of balance"),
        (with("/claim/stands", value!("maybe")), "claim.stands: expected"),
        (with("/problem/load/2", value!(1.5)), "problem.load[2]: expected a fraction"),
        (with("/problem/load/2", value!(["2", "1"])), "problem.load[2]: expected two fractions in order"),
        (with("/problem/load", value!([])), "problem.load: expected 6 elements, found 0"),
        (with("/problem/constraints/1/law", value!("glue")), "problem.constraints[1].law: expected the name"),
        (with("/problem/constraints/1/mu", value!("-1")), "problem.constraints[1].mu: expected a number"),
        (with("/facts/forces", value!("x")), "forces: expected a list"),
    ];
    for (text, message) in cases {
        let file = Temporary::new("bad.json", text.as_bytes());
        let out = delassus(&["verify", file.path()]);
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{text}");
        assert!(stderr.contains(message) && stderr.lines().count() == 1, "{message}\n{stderr}");
        if let Ok(document) = serde_json::from_str(&text) {
            assert_eq!(by_python(&[document]), [2], "{message}");
        }
    }
    // A claim of each kind that is no object.
    for (args, name) in [("stand", "table.toml"), ("analyze", "table-four-legs.toml")] {
        let mut document = certificate(&[args, &scene(name)]).1.unwrap();
        document["claim"] = value!(7);
        assert_eq!((by_program(&document), by_python(&[document])), (2, vec![2]), "{args}");
    }
}
