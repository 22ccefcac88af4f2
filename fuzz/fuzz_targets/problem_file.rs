//! Any text under any name of a Siconos file is a problem or an error, and a problem returns from the text of
//! it.
#![no_main]

use std::path::Path;

use delassus_files::siconos;
use libfuzzer_sys::fuzz_target;

/// The name of a file implies its kind; the first byte of the input chooses one of these.
const NAMES: [&str; 6] = [
    "lcp/problem.dat",
    "mlcp/problem.dat",
    "problem.dat",
    "fc3d_problem.dat",
    "gfc3d_problem.dat",
    "rfc3d_problem.dat",
];

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let path = Path::new(NAMES[usize::from(first) % NAMES.len()]);
    match siconos::parse(path, text) {
        Ok(read) => {
            let written = siconos::format(path, &read.problem).expect("what was read can be written");
            assert_eq!(
                siconos::parse(path, &written).expect("what was written can be read").problem,
                read.problem
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
