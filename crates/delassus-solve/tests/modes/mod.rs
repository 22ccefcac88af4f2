//! All solutions, by modes: in floating point, in exact arithmetic and on the cone.

mod all_solutions;
mod cones;
mod exact;
mod robust;
