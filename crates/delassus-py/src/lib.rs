//! The extension module `delassus._delassus`: what of the Python package is written in Rust.
//!
//! ```text
//! numpy arrays, keywords ─▶ delassus-solve, delassus, delassus-scene ─▶ numpy arrays, documents of delassus-report
//! ```
//!
//! Here stands what crosses the border and nothing else: arrays are copied, keywords become the options of
//! the libraries, errors become exceptions. Names, options and bits are those of the libraries. Long calls
//! release the interpreter, and look for Ctrl-C ten times a second (`wait`).

mod array;
mod error;
mod events;
mod frames;
mod grid;
mod load;
mod options;
mod page;
mod problem;
mod rollout;
mod saved;
mod simulation;
mod source;
mod standing;
mod system;
mod trajectory;
mod value;
mod wait;
mod world;

use pyo3::prelude::*;

#[pymodule]
mod _delassus {
    #[pymodule_export]
    use crate::grid::axis;
    #[pymodule_export]
    use crate::load::{from_parts, load};
    #[pymodule_export]
    use crate::page::analysis_page;
    #[pymodule_export]
    use crate::problem::{
        analyze_dynamics, analyze_local, other_impulses, residual_local, solve_global, solve_local,
    };
    #[pymodule_export]
    use crate::rollout::rollout;
    #[pymodule_export]
    use crate::simulation::{Simulation, Snapshot};
    #[pymodule_export]
    use crate::system::System;
    #[pymodule_export]
    use crate::world::World;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::wait::at_home();
        Ok(())
    }
}
