//! Files of complementarity and contact problems.
//!
//! | extension | format | module |
//! |---|---|---|
//! | `.json` | Delassus | [`json`] |
//! | `.hdf5`, `.h5` | FCLib | [`fclib`] |
//! | `.dat`, for reading also any other | Siconos | [`siconos`] |
//!
//! Every count in a file is checked against the size of the file before anything of that size is allocated,
//! and every error names the file, the place in it and what was expected there.
#![forbid(unsafe_code)]

mod error;
pub mod fclib;
pub mod json;
mod lexer;
mod problem;
pub mod siconos;

use std::path::Path;

pub use error::FileError;
pub use problem::{Problem, Read};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Fclib,
    Siconos,
}

/// The format of a known extension.
fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_string_lossy().to_lowercase().as_str() {
        "json" => Some(Format::Json),
        "hdf5" | "h5" => Some(Format::Fclib),
        "dat" => Some(Format::Siconos),
        _ => None,
    }
}

/// Reads a problem file.
pub fn read(path: &Path) -> Result<Problem, FileError> {
    Ok(read_all(path)?.problem)
}

/// Reads a problem file; returns the problem and what else the file contains.
pub fn read_all(path: &Path) -> Result<Read, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::Io { file: path.to_owned(), source })?;
    parse(path, bytes)
}

/// Reads the contents of a problem file; the path determines the format and names the file in messages.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Read, FileError> {
    match format_of(path).unwrap_or(Format::Siconos) {
        Format::Fclib => fclib::parse(path, bytes),
        Format::Siconos => siconos::parse(path, &text_of(bytes)),
        Format::Json => {
            let problem = json::parse(path, &text_of(bytes))?;
            Ok(Read { problem, ignored: vec![] })
        }
    }
}

/// The text of a file. Remarks after the data may be in any encoding.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Writes a problem file in the format of its extension; another extension is an error, as is a problem that
/// the format cannot hold.
pub fn write(path: &Path, problem: &Problem) -> Result<(), FileError> {
    let format = format_of(path).ok_or_else(|| FileError::UnknownExtension { file: path.to_owned() })?;
    let bytes = match format {
        Format::Fclib => fclib::format(path, problem)?,
        Format::Siconos => siconos::format(path, problem)?.into_bytes(),
        Format::Json => json::format(path, problem)?.into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|source| FileError::Io { file: path.to_owned(), source })
}
