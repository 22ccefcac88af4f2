//! `delassus compare` as a user types it.

use serde_json::json as value;

use crate::{Temporary, delassus, json};

/// A block pressed with 2 and pulled with 3: it slides with friction at its limit.
const BLOCK: &[u8] = b"2 1 0 2 2 2 2 1 0 0 1 -2 3 0.5";

#[test]
fn two_problems() {
    let block = Temporary::new("fc2d_block.dat", BLOCK);
    let lcp = Temporary::new("lcp_small.dat", b"2 0 2 2 2 2 3 0 0 7 -1 -1");
    let folder = block.0.parent().unwrap();
    let (picture, csv) = (folder.join("profile.svg"), folder.join("times.csv"));
    let (picture, csv) = (picture.to_str().unwrap(), csv.to_str().unwrap());
    // The folder of the block and the file of the LCP.
    let all = ["compare", folder.to_str().unwrap(), lcp.path()];
    let (code, doc) = json(&[&all[..], &["--json", "--csv", csv, "-o", picture]].concat());
    assert_eq!(code, 0);
    let problems = doc["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2);
    assert_eq!((&problems[0]["problem"], &problems[0]["contacts"]), (&value!("fc2d_block.dat"), &value!(1)));
    assert_eq!((&problems[1]["kind"], &problems[1]["contacts"]), (&value!("lcp"), &value!(null)));
    for (problem, solvers) in problems.iter().zip([7, 5]) {
        let results = problem["results"].as_array().unwrap();
        assert_eq!(results.len(), solvers);
        for result in results {
            assert_eq!(result["status"], "solved", "{result}");
            assert!(
                result["residual"].as_f64().unwrap() <= 1e-8 && result["seconds"].as_f64().unwrap() > 0.0
            );
        }
    }
    // All that is solved is on the profile: its last step is at 1, and one solver's first step is at τ = 1.
    for (kind, solvers) in [("contact problems", 7), ("complementarity problems", 5)] {
        let curves = doc["profiles"][kind].as_object().unwrap();
        assert_eq!(curves.len(), solvers);
        assert!(curves.values().all(|steps| steps.as_array().unwrap().last().unwrap()[1] == 1.0));
        assert!(curves.values().any(|steps| steps[0][0] == 1.0));
    }
    let table = std::fs::read_to_string(csv).unwrap();
    assert_eq!(table.lines().count(), 1 + 7 + 5);
    assert!(table.starts_with("problem,kind,contacts,solver,tolerance,status,seconds,iterations,residual\n"));
    assert!(table.contains("\nfc2d_block.dat,fc2d,1,newton,1e-8,solved,"), "{table}");
    let svg = std::fs::read_to_string(picture).unwrap();
    for text in ["factor τ of the best time", "share of problems solved", ">interior-point<", ">lemke<"] {
        assert!(svg.contains(text), "{text}");
    }
    let text = String::from_utf8(delassus(&all).stdout).unwrap();
    assert!(text.contains("gauss-seidel") && text.contains("principal-pivoting"), "{text}");
    assert!(!text.contains('\x1b'), "plain when piped");
}

/// What is not solved is marked with its residual, and sets the exit code; the cap ends slow methods.
#[test]
fn failures_are_marked() {
    // Two rows of the same contact that ask for different velocities: no solution, and nothing proves it.
    let torn = Temporary::new(
        "torn.json",
        br#"{"kind": "local", "laws": [{"law": "bilateral"}, {"law": "bilateral"}],
            "delassus": [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], "free_velocity": [1, -1]}"#,
    );
    let out = delassus(&["compare", torn.path(), "--solvers", "gauss-seidel", "--cap", "0.01"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("✗ 1.0e0"), "{text}");
    let (code, doc) =
        json(&["compare", torn.path(), "--cap", "0.01", "--solvers", "auto,gauss-seidel", "--json"]);
    assert_eq!((code, &doc["problems"][0]["results"][1]["status"]), (1, &value!("max-iterations")));
    assert_eq!(doc["profiles"]["contact problems"]["auto"], value!([]));
}

#[test]
fn bad_input() {
    let block = Temporary::new("fc2d_block.dat", BLOCK);
    let short = Temporary::new("fc2d_short.dat", &BLOCK[..12]);
    let empty = Temporary::new("notes.txt", b"nothing");
    let empty = empty.0.parent().unwrap().to_str().unwrap().to_owned();
    let refused = |args: &[&str], words: &[&str]| {
        let out = delassus(&[&["compare"], args].concat());
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {message}");
        assert!(out.stdout.is_empty() && !message.contains("panicked"), "{args:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{args:?}: expected {word} in {message}");
        }
    };
    refused(&[], &["PROBLEM"]);
    refused(&[&empty], &["expected problem files", ".hdf5"]);
    refused(&["no-such-file.dat"], &["no-such-file.dat"]);
    refused(&[block.path(), short.path()], &["fc2d_short.dat"]);
    refused(&[block.path(), "--solvers", "auto,simplex"], &["simplex", "gauss-seidel", "lemke"]);
    refused(&[block.path(), "--solvers", "lemke"], &["fc2d_block.dat", "fc2d", "lemke"]);
    refused(&[block.path(), "-o", "profile.pdf"], &["profile.pdf", ".svg or .png"]);
    refused(&[block.path(), "--csv", "no-such-folder/times.csv"], &["no-such-folder"]);
    for option in ["--cap", "--tolerance"] {
        refused(&[block.path(), option, "nan"], &["nan"]);
        refused(&[block.path(), &format!("{option}=-1")], &["-1"]);
    }
}
