//! Reformulations as complementarity problems and as programs.

mod gauss;
mod lifts;
