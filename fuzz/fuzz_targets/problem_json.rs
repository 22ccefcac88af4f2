//! Any text is a problem in JSON or an error, and a problem returns from the text of it.
#![no_main]

use std::path::Path;

use delassus_files::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let path = Path::new("problem.json");
    match json::parse(path, text) {
        Ok(problem) => {
            let written = json::format(path, &problem).expect("what was read can be written");
            assert_eq!(json::parse(path, &written).expect("what was written can be read"), problem);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
