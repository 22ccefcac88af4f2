//! Event-driven integration.

mod billiard;
mod closed_forms;
mod features;
mod laws;
mod numerics;
mod start;
mod world;
