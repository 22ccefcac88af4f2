//! Integration tests of the program `delassus`, in one binary.

mod bad_input;
mod bits;
mod certificate;
#[allow(dead_code, reason = "each test binary uses its share")]
#[path = "../../delassus-solve/tests/exact/checker.rs"]
mod checker;
mod commands;
mod compare;
mod exact;
mod map;
mod outputs;
mod parquet;
mod paving_certificate;
#[path = "../../delassus-solve/tests/support/problems.rs"]
mod problems;
#[allow(dead_code, reason = "each test binary uses its share")]
#[path = "../../delassus-solve/tests/support/random.rs"]
mod random;
mod run;
mod run_system;
mod safe;
mod scenes;
mod stand;
#[allow(dead_code, reason = "each test binary uses its share")]
#[path = "../../delassus/tests/support/texts.rs"]
mod texts;
mod worlds;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Runs the program in a folder of its own.
fn delassus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_delassus")).args(args).output().expect("the program starts")
}

/// Exit code and JSON document.
fn json(args: &[&str]) -> (i32, Value) {
    let out = delassus(args);
    let text = String::from_utf8(out.stdout).unwrap();
    let value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{args:?}: {e}\n{text}{}", String::from_utf8_lossy(&out.stderr)));
    (out.status.code().unwrap(), value)
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file in a temporary folder that is removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, text: &[u8]) -> Self {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("delassus-test-{}-{id}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        Temporary(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}
