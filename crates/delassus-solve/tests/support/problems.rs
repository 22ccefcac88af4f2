//! The folder of contact problems of other laboratories.

use std::io::Write as _;
use std::path::PathBuf;

/// The folder that `DELASSUS_PROBLEMS` names. Where it names none the test has nothing to compare, and prints
/// so on standard error, past the capture of the test harness.
pub fn folder(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DELASSUS_PROBLEMS").map(PathBuf::from);
    if folder.is_none() {
        let _ = writeln!(std::io::stderr(), "{test}: DELASSUS_PROBLEMS is not set, nothing was compared");
    }
    folder
}
