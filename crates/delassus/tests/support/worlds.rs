//! Worlds read from text, and scenes by their names.

use delassus::world::{World, WorldState};
use delassus_scene::read_world;

/// The world of a text, and its state at the start.
#[track_caller]
pub fn world(text: &str) -> (World, WorldState) {
    let file = read_world(text, None, &[]).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    (file.world, file.state)
}

/// The text of a file of the folder `scenes`.
#[track_caller]
pub fn scene(name: &str) -> String {
    let path = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}
