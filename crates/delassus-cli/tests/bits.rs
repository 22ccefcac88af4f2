//! The same bits as before: numbers and verdicts of all scenes and problem files against recorded hashes.
//!
//! A change of the numbers is no fault by itself; one that nobody meant is. Where it is meant, record the
//! hashes again with `DELASSUS_BLESS=1 cargo test -p delassus-cli bits`, and say in the changelog what
//! changed.
//!
//! The mathematical functions of the system (sin, exp, …) differ between platforms in their last digit, so
//! the hashes hold on the one on which they were recorded: Linux with glibc on x86-64. Elsewhere the test
//! passes and prints so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{delassus, root};

/// Clocks, and where the program was called.
const NOT_HASHED: [&str; 6] =
    ["real_time_factor", "seconds", "seconds_first", "wall_seconds", "file", "output"];
/// Strings that are verdicts; others are sentences for people.
const VERDICTS: [&str; 12] = [
    "acceleration_unique",
    "contact",
    "ending",
    "existence",
    "forces_unique",
    "id",
    "integrator",
    "kind",
    "mode",
    "outcome",
    "solver",
    "status",
];

#[test]
fn scenes_analyze_to_the_recorded_bits() {
    compare("analyze", |hashes| {
        for scene in scenes() {
            record(hashes, &scene, &["analyze", "--json"]);
        }
    });
}

#[test]
fn scenes_move_to_the_recorded_bits() {
    compare("run", |hashes| {
        for scene in scenes() {
            for integrator in ["time-stepping", "event-driven"] {
                record(hashes, &scene, &["run", "--json", "--t-end", "0.3", "--integrator", integrator]);
            }
            for more in [["--scheme", "half-implicit"], ["--law", "ccp"]] {
                let mut args = vec!["run", "--json", "--t-end", "0.02", "--integrator", "time-stepping"];
                args.extend(more);
                record(hashes, &scene, &args);
            }
        }
    });
}

#[test]
fn problem_files_solve_to_the_recorded_bits() {
    let Some(folder) = crate::problems::folder("problem_files_solve_to_the_recorded_bits") else { return };
    compare("solve", |hashes| {
        for kind in ["fc2d", "fc3d", "gfc3d", "lcp", "mlcp", "rolling"] {
            for file in files(&folder.join(kind), &["dat", "hdf5", "json"]) {
                record(hashes, &file, &["solve", "--json", "--tolerance", "1e-8"]);
            }
        }
    });
}

/// Runs what fills in hashes and compares them with those of the file, or writes it.
fn compare(name: &str, fill: impl FnOnce(&mut BTreeMap<String, String>)) {
    if !cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")) {
        println!("recorded on another platform: nothing was compared");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/bits/{name}.txt"));
    let mut found = BTreeMap::new();
    fill(&mut found);
    if std::env::var_os("DELASSUS_BLESS").is_some() {
        let lines = found.iter().fold(String::new(), |mut text, (what, hash)| {
            writeln!(text, "{hash} {what}").unwrap();
            text
        });
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, lines).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let recorded: BTreeMap<&str, &str> =
        text.lines().map(|line| line.split_once(' ').unwrap()).map(|(hash, what)| (what, hash)).collect();
    let changed: Vec<&str> = (found.iter())
        .filter(|(what, hash)| recorded.get(what.as_str()) != Some(&hash.as_str()))
        .map(|(what, _)| what.as_str())
        .collect();
    assert!(changed.is_empty(), "other bits than recorded in {}: {changed:#?}", path.display());
    let missing: Vec<&&str> = recorded.keys().filter(|what| !found.contains_key(**what)).collect();
    assert!(missing.is_empty(), "recorded in {} and no longer there: {missing:#?}", path.display());
}

/// Runs a command on a file and adds the hash of its document; a file that the command refuses counts as
/// that.
fn record(hashes: &mut BTreeMap<String, String>, file: &Path, args: &[&str]) {
    let mut all = vec![args[0], file.to_str().unwrap()];
    all.extend(&args[1..]);
    let out = delassus(&all);
    let hash = match out.status.code() {
        Some(2) => "refused".to_owned(),
        code => {
            let document: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| {
                panic!("{all:?}: {code:?} {e}\n{}", String::from_utf8_lossy(&out.stderr))
            });
            let mut hash = Fnv::default();
            hash.value("", &document);
            format!("{:016x}", hash.0)
        }
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    let folder = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
    hashes.insert(format!("{folder}/{name} {}", args.join(" ")), hash);
}

fn scenes() -> Vec<PathBuf> {
    files(&root().join("scenes"), &["toml", "xml"])
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "{}", folder.display());
    all
}

/// The hash of Fowler, Noll and Vo: the same in every version of every library.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn value(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter().filter(|(key, _)| !NOT_HASHED.contains(&key.as_str())) {
                    self.bytes(key.as_bytes());
                    self.value(key, value);
                }
            }
            Value::Array(list) => {
                self.bytes(&list.len().to_le_bytes());
                list.iter().for_each(|value| self.value(key, value));
            }
            // -0 and 0 are the same number but not the same bits.
            Value::Number(number) => self.bytes(&number.as_f64().unwrap().to_bits().to_le_bytes()),
            Value::String(text) if VERDICTS.contains(&key) => self.bytes(text.as_bytes()),
            Value::String(_) => {}
            Value::Bool(b) => self.bytes(&[u8::from(*b)]),
            Value::Null => self.bytes(b"null"),
        }
    }
}
