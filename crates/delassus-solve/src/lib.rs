//! Complementarity problems of contact mechanics: laws, solvers, all solutions, well-posedness.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod contact;
pub mod impact;
pub mod lcp;
pub mod linalg;
pub mod modes;
pub mod problem;
