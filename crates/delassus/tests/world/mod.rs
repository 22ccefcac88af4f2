//! World files: what is read, and what is refused.

mod analyze;
mod bad_input;
mod file;
mod fuzz;
mod joints;
mod mjcf;
mod scenes;
mod urdf;
