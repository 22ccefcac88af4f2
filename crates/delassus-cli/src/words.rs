//! Words and numbers of reports that several commands share.

use delassus_solve::modes::Mode;

/// How many of something.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// `open`, `slide` or `stick`.
pub fn mode_word(m: Mode) -> &'static str {
    match m {
        Mode::Open => "open",
        Mode::Slide | Mode::Bilateral => "slide",
        Mode::Stick => "stick",
    }
}
