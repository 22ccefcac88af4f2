//! Motions and analyses as one HTML file that opens without network or install.
//!
//! ```text
//! Page = viewer(html) + document(JSON, as text) + arrays(base64(zlib(planes)))
//! ```
//!
//! The viewer is built from `web/` and stands in this crate as it was built (`cargo xtask web`). What a scene
//! says, names above all, reaches it as JSON text and is shown as text: it is never markup.
#![forbid(unsafe_code)]

mod arrays;
mod contacts;
mod document;
mod motion;
mod quantize;
#[cfg(test)]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../delassus-solve/tests/support/random.rs"]
mod random;
mod record;
mod shapes;
mod triangles;

pub use arrays::{Arrays, base64};
pub use contacts::{ContactMark, ContactRecord};
pub use document::Page;
pub use motion::{FrameNumbers, Motion, MotionRecorder, Series};
pub use record::{event_words, record};
pub use triangles::{Triangles, triangles};
