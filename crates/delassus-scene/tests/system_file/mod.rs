//! System files: what is read, and what is refused.

mod bad_input;
mod fuzz;
mod read;
