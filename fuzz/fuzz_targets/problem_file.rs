//! Any text under any name of a problem file is a problem or an error.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

/// The reader belongs to the program, which is no library; opening files is the part that is not used here.
#[allow(dead_code)]
#[path = "../../crates/delassus-cli/src/numerics_file.rs"]
mod numerics_file;

/// The name of a file tells its kind; the first byte of the input chooses one of these.
const NAMES: [&str; 4] = ["lcp/problem.dat", "mlcp/problem.dat", "problem.dat", "problem.json"];

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if let Err(error) = numerics_file::parse(Path::new(NAMES[usize::from(first) % NAMES.len()]), text) {
        assert!(!error.to_string().is_empty());
    }
});
