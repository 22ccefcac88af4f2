//! The commands of the program: each has its arguments and a function that runs it.
//!
//! `run` has a folder of its own.

mod analyze;
mod assemble;
mod certificate;
mod check;
mod check_world;
mod compare;
mod convert;
mod explore;
mod hold;
mod map;
mod map_page;
mod paving_page;
mod safe;
mod solve;
mod stand;
mod try_scene;
mod view;

pub use analyze::{AnalyzeArgs, run as analyze};
pub use assemble::{AssembleArgs, run as assemble};
pub use certificate::{VerifyArgs, run as verify};
pub use check::{CheckArgs, run as check};
pub use compare::{CompareArgs, run as compare};
pub use convert::{ConvertArgs, run as convert};
pub use explore::{ExploreArgs, run as explore};
pub use hold::{HoldArgs, run as hold};
pub use map::{MapArgs, run as map};
pub use safe::{SafeArgs, run as safe};
pub use solve::{SolveArgs, run as solve};
pub use stand::{StandArgs, run as stand};
pub use try_scene::{TryArgs, run as try_scene};
pub use view::{ViewArgs, run as view};
