//! Integration tests of `delassus-solve`, in one binary.

mod all_solutions;
mod cones;
mod gauss;
mod lifts;
mod propositions;
