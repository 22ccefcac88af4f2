//! Integration tests of the crate, in one binary.

mod formats;
mod mutations;
mod operators;
mod real_problems;
#[path = "../../delassus-solve/tests/support/mod.rs"]
mod support;
