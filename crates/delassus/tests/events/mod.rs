//! Event-driven integration.

mod billiard;
mod closed_forms;
mod features;
mod laws;
mod numerics;
mod singular;
mod start;
mod world;
