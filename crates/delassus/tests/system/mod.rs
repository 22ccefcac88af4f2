//! Formulas, systems, kinematics and their files.

mod arm;
mod ast;
mod bad_input;
mod complex;
mod derivatives;
mod expressions;
mod file;
mod fuzz;
mod mechanics;
