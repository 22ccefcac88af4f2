//! Why a problem file was not read or not written.

use std::path::{Path, PathBuf};

use delassus_solve::lcp::ProblemError;
use delassus_solve::problem::InvalidProblem;

/// Why a problem file was not read or not written; every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be opened or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text does not follow the format.
    #[error("{}:{line}: expected {expected}, found {found}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A part of a file without lines does not follow the format.
    #[error("{}: {place}: expected {expected}, found {found}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// Path inside of the file.
        place: String,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// Neither the name nor the numbers identify the contents of the file.
    #[error(
        "{}: expected an LCP, a mixed LCP or a contact problem (Siconos .dat, FCLib .hdf5, .json), found {found}",
        file.display()
    )]
    UnknownKind {
        /// The file.
        file: PathBuf,
        /// How it begins.
        found: String,
    },
    /// A kind of problem that is known and not read.
    #[error("{}: expected an LCP, a mixed LCP or a contact problem, found {kind}", file.display())]
    OtherKind {
        /// The file.
        file: PathBuf,
        /// The format that its name stands for.
        kind: &'static str,
    },
    /// Not the JSON of a problem.
    #[error("{}:{}: {source}", file.display(), source.line())]
    Json {
        /// The file.
        file: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// Not an HDF5 file, or a damaged one.
    #[error("{}: {place}: {source}", file.display())]
    Hdf5 {
        /// The file.
        file: PathBuf,
        /// Path inside of the file.
        place: String,
        /// The error of the reader.
        source: hdf5_pure::Error,
    },
    /// The data do not make a complementarity problem.
    #[error("{}: {source}", file.display())]
    Problem {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: ProblemError,
    },
    /// The data do not make a contact problem.
    #[error("{}: {source}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: InvalidProblem,
    },
    /// No format has this extension.
    #[error("{}: expected one of the extensions .dat, .json, .hdf5 and .h5, which name the format", file.display())]
    UnknownExtension {
        /// The file.
        file: PathBuf,
    },
    /// The format has no place for this problem.
    #[error("{}: this format cannot hold {what}", file.display())]
    CannotHold {
        /// The file.
        file: PathBuf,
        /// What it would have to hold.
        what: String,
    },
}

impl FileError {
    pub(crate) fn content(
        file: &Path,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        FileError::Content {
            file: file.to_owned(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(crate) fn cannot_hold(file: &Path, what: impl Into<String>) -> Self {
        FileError::CannotHold { file: file.to_owned(), what: what.into() }
    }
}
