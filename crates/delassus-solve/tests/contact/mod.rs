//! Contact problems with friction: every method, hard problems, and every storage of the Delassus operator.

mod hard;
mod methods;
mod operators;
