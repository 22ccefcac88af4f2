//! Analyses as people and programs read them: text, and one JSON document.
//!
//! ```text
//! SystemAnalysis ─┬▶ analysis_text(…, style)    the report of `delassus analyze`
//!                 ├▶ analysis_document(…)       the document of `delassus analyze --json`
//!                 └▶ Quantity ─▶ Cell           a number or word at each point of a Grid: maps, sweeps
//! Safe, Exploration  in the same way
//! ```
//!
//! The program and the Python package print the same words and hand out the same keys, because both come from
//! here.
#![forbid(unsafe_code)]

mod certificate;
mod contact_certificate;
mod document;
mod exploration;
mod failure;
mod grid;
mod impact;
mod paving;
mod paving_certificate;
mod problem;
mod quantity;
mod safe;
mod solution_list;
mod stand;
mod style;
mod words;

pub use certificate::{hold_certificate, stand_certificate};
pub use contact_certificate::analysis_certificate;
pub use document::{analysis_document, verdict_word};
pub use exploration::{
    branch_end, branch_label, contact_mode_word, ending_word, event_document, exploration_document,
    exploration_text, has_energy, named,
};
pub use failure::failure_text;
pub use grid::{Axis, Grid};
pub use paving::{paving_document, paving_meaning, paving_table, paving_text, paving_word};
pub use paving_certificate::paving_certificate;
pub use problem::problem_document;
pub use quantity::{Cell, Quantity};
pub use safe::{safe_document, safe_text};
pub use stand::{AskedMargin, hold_document, hold_text, holds, stand_document, stand_text, stands_word};
pub use style::{Style, count, mode_word, number};
pub use words::{analysis_text, outcome_word, solution_kind, title};
