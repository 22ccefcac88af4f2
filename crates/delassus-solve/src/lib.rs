//! Complementarity problems of contact mechanics: laws, solvers, all solutions, well-posedness.
#![forbid(unsafe_code)]

pub mod analyze;
pub mod classes;
pub mod dynamics;
pub mod friction_bounds;
pub mod friction_cone;
pub mod hlcp;
pub mod law;
pub mod lcp;
pub mod lift;
pub mod matrix;
pub mod mlcp;
pub mod operator;
pub mod problem;
pub mod residual;
pub mod solvers;
