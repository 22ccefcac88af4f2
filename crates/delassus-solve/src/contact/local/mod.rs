//! One contact by itself, solved exactly.
//!
//! ```text
//! u = W r + q ,   (u, r) in the law of the contact ,     W ∈ R^{d×d}, d = 2, 3, 5, 6
//! ```
//!
//! Coulomb's law in the plane and in space, its associated relaxation, and rolling and spinning friction with
//! either.

mod associated;
mod associated_rolling;
mod coulomb;
mod rolling;
mod spinning;

pub use coulomb::{coulomb_plane, coulomb_space};

pub(crate) use coulomb::{associated_plane, associated_rolling, associated_space, rolling};
pub(crate) use spinning::{associated_spinning, spinning};
