//! The integration tests of the crate, in one binary.

mod active_set;
mod collide;
mod dampers;
mod event_billiard;
mod event_driven;
mod event_features;
mod event_laws;
mod event_numerics;
mod event_start;
mod event_world;
mod golden;
mod golden_motion;
mod higher_derivatives;
mod intervals;
mod joints;
mod laws_in_motion;
mod limits;
mod mechanisms;
mod motion;
mod motors;
mod step_control;
mod step_impacts;
mod system;
mod ties;
mod velocity_bound;
mod world;
