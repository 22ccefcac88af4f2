//! The integration tests of the crate, in one binary.

mod golden;
mod system;
