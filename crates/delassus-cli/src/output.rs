//! What the program prints, and how it ends.

use std::io::Write;

use serde_json::Value;

/// How a command ends: with an exit code, or with a message for stderr where it was misused or its input is
/// bad.
pub type CommandResult = Result<u8, String>;

/// The exit code of misuse and bad input.
pub const MISUSE: u8 = 2;

/// A document as it is printed: the text of `{document:#}`, written without the detour over its parts.
pub fn json_text(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_else(|_| format!("{document:#}"));
    text.push('\n');
    text
}

/// Prints to stdout. A reader that went away (`| head`) is not an error; anything else ends the program with
/// code 2, since an answer that was lost is no answer.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(e) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && e.kind() != std::io::ErrorKind::BrokenPipe
    {
        eprintln!("error: the output cannot be written: {e}");
        std::process::exit(MISUSE.into());
    }
}
