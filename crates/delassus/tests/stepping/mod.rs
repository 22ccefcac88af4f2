//! Time stepping.

mod control;
mod coordinates;
mod dampers;
mod energy;
mod friction_laws;
mod golden_motion;
mod impacts;
mod laws_in_motion;
mod limits;
mod medium;
mod motion;
mod motors;
mod rotors;
mod scenes;
mod several_motions;
mod soak;
