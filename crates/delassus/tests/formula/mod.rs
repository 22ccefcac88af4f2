//! Formulas: their grammar, their values and their derivatives.

mod ast;
mod complex;
mod derivatives;
mod expressions;
