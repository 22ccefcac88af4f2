//! Pictures: shapes and text on a canvas, charts made of them, and their files (SVG, PNG).

mod canvas;
mod chart;
mod explore_plot;
mod over_time;
mod paving_plot;
mod plot;
mod profile;
mod raster;
mod stand_plot;
mod system_plot;

pub use canvas::{Colour, Picture};
pub use explore_plot::{MotionTree, draw_tree};
pub use over_time::{Motion, draw_quantities};
pub use paving_plot::draw_paving;
pub use plot::{Axis, GREY, Values, categories, check_picture_name, cones, curve, heat, write_picture};
pub use profile::{profile_picture, profile_steps};
pub use stand_plot::draw_standing;
pub use system_plot::{check_quantities, draw_motion};
