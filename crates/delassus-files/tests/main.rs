//! Integration tests of the crate, in one binary.

mod formats;
mod mutations;
mod operators;
mod real_problems;
