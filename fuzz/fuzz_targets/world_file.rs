//! Any text is a world or an error; a world that was read has finite numbers.
#![no_main]

use delassus::world_file::read_world;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read_world(text, None, &[]) {
        Ok(file) => {
            for body in &file.state.bodies {
                assert!(body.pose.position.is_finite() && body.pose.rotation.is_finite());
            }
        }
        Err(error) => {
            let place = error.place.as_ref();
            assert!(place.is_none_or(|place| place.span.end <= text.len()), "place outside of the text");
            assert!(!error.to_string().is_empty());
        }
    }
});
