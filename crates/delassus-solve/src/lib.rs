//! Complementarity problems of contact mechanics: laws, solvers, all solutions, well-posedness.
#![forbid(unsafe_code)]

pub mod analyze;
pub mod blocks;
pub mod certificate;
pub mod classes;
pub mod dynamics;
mod elimination;
pub mod exact;
pub mod exact_modes;
pub mod friction_bounds;
pub mod friction_cone;
pub mod friction_problem;
mod frictionless;
pub mod hlcp;
mod implication;
pub mod impulse_range;
pub mod law;
pub mod lcp;
pub mod lift;
pub mod matrix;
pub mod mlcp;
pub mod operator;
pub mod problem;
pub mod reduced;
pub mod residual;
pub mod solvers;
pub mod sparse;
pub mod sphere_pile;
pub mod theorems;
pub mod theorems_000;
pub mod theorems_000_friction;
pub mod theorems_000_frictionless;
pub mod theorems_001;
pub mod theorems_001_angles;
pub mod theorems_002;
pub mod theorems_003;
pub mod verify;
