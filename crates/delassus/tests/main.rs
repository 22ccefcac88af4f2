//! The integration tests of the crate, in one binary.

mod active_set;
mod collide;
mod golden;
mod intervals;
mod joints;
mod system;
mod ties;
