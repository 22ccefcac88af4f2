//! Any text is a system or an error; a system that was read can be evaluated, or the error explains why not.
#![no_main]

use delassus_scene::read_system;
use delassus::lagrangian::kinematics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read_system(text, &[]) {
        Ok(file) => {
            // A few coordinates are enough to reach every formula; many only cost time.
            if file.system.coordinates.len() <= 8
                && let Err(error) = kinematics(&file.system, &file.state)
            {
                let _ = file.explain(error, text).to_string();
            }
        }
        Err(error) => {
            let place = error.place.as_ref();
            assert!(place.is_none_or(|place| place.span.end <= text.len()), "place outside of the text");
            assert!(!error.to_string().is_empty());
        }
    }
});
