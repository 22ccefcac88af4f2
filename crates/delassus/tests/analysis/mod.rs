//! Verdicts on systems and worlds, against closed forms and reference values.

mod golden;
mod intervals;
mod paving;
mod stand;
mod ties;
mod world;
