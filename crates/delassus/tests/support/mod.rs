//! What the tests of the crate share: reference values, comparison and random numbers, and worlds as text.

#![allow(dead_code, reason = "each test binary uses its share")]

#[path = "../../../delassus-solve/tests/support/mod.rs"]
mod numbers;
pub mod texts;
pub mod worlds;

pub use numbers::{golden, near, random};
