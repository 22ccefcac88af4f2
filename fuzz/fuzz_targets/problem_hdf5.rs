//! Any bytes are an FCLib file or an error.
#![no_main]

use std::path::Path;

use delassus_files::fclib;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(error) = fclib::parse(Path::new("problem.hdf5"), data.to_vec()) {
        assert!(!error.to_string().is_empty());
    }
});
