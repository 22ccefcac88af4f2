//! Joints of worlds: their rows, and mechanisms of many of them.

mod joint_rows;
mod mechanisms;
