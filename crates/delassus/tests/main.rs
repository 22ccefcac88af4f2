//! The integration tests of the crate, in one binary, by the modules that they test.

mod analysis;
mod closures;
mod collision;
mod events;
mod formula;
mod lagrangian;
mod simulation;
mod stepping;
mod support;
mod world;
