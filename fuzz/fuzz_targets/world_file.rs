//! Any text is a world or an error, as TOML, URDF and MJCF; a world that was read makes sense.
#![no_main]

use delassus_scene::FileError;
use delassus::world::check_world;
use delassus_scene::{WorldFile, read_world};
use delassus_scene::read_xml;
use libfuzzer_sys::fuzz_target;

fn check(text: &str, read: Result<WorldFile, FileError>) {
    match read {
        Ok(file) => {
            if let Err(error) = check_world(&file.world, &file.state) {
                panic!("a world that was read does not make sense: {error}");
            }
        }
        Err(error) => {
            let place = error.place.as_ref();
            assert!(place.is_none_or(|place| place.span.end <= text.len()), "place outside of the text");
            assert!(!error.render("file", text).is_empty());
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match text.trim_start().starts_with('<') {
        true => check(text, read_xml(text, None).map(|imported| imported.file)),
        false => check(text, read_world(text, None, &[])),
    }
});
