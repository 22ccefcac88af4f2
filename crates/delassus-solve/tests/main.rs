//! Integration tests of `delassus-solve`, in one binary.

mod all_solutions;
mod cones;
mod contacts;
mod exact;
mod forgery;
mod gauss;
mod impacts;
mod lifts;
mod methods;
mod noise;
mod operators;
mod propositions;
mod random;
mod theorems_000;
mod theorems_001;
mod theorems_002;
mod theorems_003;
