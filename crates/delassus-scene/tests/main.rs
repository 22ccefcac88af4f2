//! Integration tests of the readers, in one binary.

mod actuators;
mod mjcf;
mod models;
mod moving_models;
mod support;
mod system_file;
mod tendons;
mod urdf;
mod world_file;
