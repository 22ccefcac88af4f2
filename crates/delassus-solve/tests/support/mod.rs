//! What tests of several crates share. The other crates include these files by their path; no binary uses all
//! of it.

#![allow(dead_code, reason = "each test binary uses its share")]

pub mod golden;
pub mod joined;
pub mod near;
pub mod problems;
pub mod random;
