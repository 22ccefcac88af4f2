//! World files: what is read, and what is refused.

mod bad_input;
mod fuzz;
mod joints;
mod read;
