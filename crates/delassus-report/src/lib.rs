//! Analyses as people and programs read them: text, and one JSON document.
//!
//! ```text
//! SystemAnalysis ─┬▶ analysis_text(…, style)    the report of `delassus analyze`
//!                 └▶ analysis_document(…)       the document of `delassus analyze --json`
//! ```
//!
//! The program and the Python package print the same words and hand out the same keys, because both come from
//! here.
#![forbid(unsafe_code)]

mod document;
mod failure;
mod impact;
mod problem;
mod solution_list;
mod style;
mod words;

pub use document::{analysis_document, verdict_word};
pub use failure::failure_text;
pub use problem::problem_document;
pub use style::{Style, count, mode_word, number};
pub use words::{analysis_text, outcome_word, solution_kind, title};
