//! Systems in generalized coordinates: mass matrices, forces, bias terms and the contacts that take part.

mod active_set;
mod arm;
mod higher_derivatives;
mod mechanics;
mod velocity_bound;
