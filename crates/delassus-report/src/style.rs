//! Colour on a terminal, plain text elsewhere; numbers and words for people.

use std::io::IsTerminal;

use delassus_solve::modes::Mode;

/// The few styles of the report.
#[derive(Clone, Copy)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Colour where stdout is a terminal and `NO_COLOR` is not set.
    pub fn for_stdout() -> Self {
        Style { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    /// No colour.
    pub fn plain() -> Self {
        Style { colour: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Side remarks.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// All is well.
    pub fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    /// Trouble.
    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Care is needed.
    pub fn caution(self, text: &str) -> String {
        self.paint("1;33", text)
    }
}

/// A number with up to six significant digits, for people.
pub fn number(x: f64) -> String {
    if x == 0.0 || x.abs() < 1e-12 {
        return "0".into();
    }
    if !x.is_finite() {
        return if x > 0.0 { "∞".into() } else { "-∞".into() };
    }
    let magnitude = x.abs().log10().floor() as i32;
    if (-4..6).contains(&magnitude) {
        let text = format!("{:.*}", (5 - magnitude).max(0) as usize, x);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{x:.4e}")
    }
}

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

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_for_people() {
        for (x, text) in [
            (0.0, "0"),
            (5.0 / 3.0, "1.66667"),
            (-9.81, "-9.81"),
            (100000.0, "100000"),
            (1234567.0, "1.2346e6"),
            (1e-5, "1.0000e-5"),
            (1e-17, "0"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
