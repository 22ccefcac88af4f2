//! What is wrong with a file, where, and what was expected there.
//!
//! A [`FileError`] is a kind with its data and a place in the text. It knows no reader: readers of TOML, XML
//! and meshes build on it, and none of them is imported here but the errors of mesh files, which a world file
//! passes on.

mod file_kind;
mod world_kind;

pub use file_kind::FileErrorKind;
pub use world_kind::WorldErrorKind;

use std::fmt::Write as _;
use std::ops::Range;

use thiserror::Error;

/// How many characters of a source line a message shows.
const MAX_SHOWN_CHARACTERS: usize = 100;
/// How many of them may precede the error position.
const MAX_CHARACTERS_BEFORE: usize = 60;

/// A value, or what is wrong with the file.
pub(super) type Result<T> = std::result::Result<T, FileError>;

/// An error in a file.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{kind}")]
pub struct FileError {
    /// What is wrong.
    pub kind: Box<FileErrorKind>,
    /// Where; `None` where the file is not to blame (an override on the command line, say).
    pub place: Option<Place>,
    /// The file where it stands and its text, where that is not the one that was read but one it includes.
    pub other: Option<Box<[String; 2]>>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Byte range of the error.
    pub span: Range<usize>,
    /// Line of the first of them, from 1.
    pub line: usize,
    /// Column of the first of them in characters, from 1.
    pub column: usize,
}

impl Place {
    /// Line and column of a byte range.
    pub fn of(text: &str, span: Range<usize>) -> Self {
        let start = floor(text, span.start);
        let span = start..floor(text, span.end).max(start);
        let line = 1 + text[..start].bytes().filter(|&b| b == b'\n').count();
        let column = 1 + text[line_start(text, start)..start].chars().count();
        Place { span, line, column }
    }
}

/// The nearest character boundary at or below a byte.
fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

impl FileError {
    pub(super) fn new(text: &str, span: Option<Range<usize>>, kind: FileErrorKind) -> Self {
        FileError { kind: Box::new(kind), place: span.map(|span| Place::of(text, span)), other: None }
    }

    /// The same in another file than the one that was asked for.
    pub(super) fn in_other(self, name: &str, text: &str) -> Self {
        FileError { other: Some(Box::new([name.to_string(), text.to_string()])), ..self }
    }

    /// What was expected, where the message does not say it already.
    pub fn help(&self) -> Option<String> {
        self.kind.help()
    }

    /// The message with the line it is about, as compilers print it. `text` is the text that was read.
    ///
    /// ```text
    /// error: rod.toml:13:18: unknown symbol `yy`
    ///    |
    /// 13 | potential = "m*g*yy"
    ///    |                  ^^ expected a coordinate (x, y, theta), a parameter or a function; did you mean `y`?
    /// ```
    pub fn render(&self, file_name: &str, text: &str) -> String {
        let help = self.help();
        let (file_name, text) =
            self.other.as_ref().map_or((file_name, text), |other| (other[0].as_str(), other[1].as_str()));
        let Some(Place { span, line, column }) = &self.place else {
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return format!("error: {file_name}: {self}{help}\n");
        };
        let start = floor(text, span.start);
        let first = line_start(text, start);
        let before: Vec<char> = text[first..start].chars().collect();
        let rest: Vec<char> =
            text[start..].chars().take(MAX_SHOWN_CHARACTERS).take_while(|&c| c != '\n').collect();
        let skipped = before.len().saturating_sub(MAX_CHARACTERS_BEFORE);
        let length = text[start..floor(text, span.end).max(start)].chars().take(MAX_SHOWN_CHARACTERS).count();
        let marked = length.min(rest.len()).max(1);
        let lead = if skipped > 0 { "…" } else { "" };
        let more = text[start..].chars().nth(rest.len()).is_some_and(|c| c != '\n');
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let source: String = before[skipped..].iter().chain(&rest).map(|&c| visible(c)).collect();
        let source = source.trim_end();
        let tail = if more { "…" } else { "" };
        let gutter = " ".repeat(line.to_string().len());
        let indent = " ".repeat(lead.chars().count() + before.len() - skipped);
        let carets = "^".repeat(marked);
        let mut out = format!("error: {file_name}:{line}:{column}: {self}\n{gutter} |\n");
        let _ = writeln!(out, "{line} | {lead}{source}{tail}");
        let _ = writeln!(out, "{gutter} | {indent}{carets} {}", help.unwrap_or_default());
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}
