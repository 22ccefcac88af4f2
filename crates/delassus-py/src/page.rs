//! Pages for notebooks: what a simulation does, and what an analysis says.

use std::ops::ControlFlow;

use delassus::simulation::{Frame, Simulation as Inner};
use delassus_page::{Page, record};
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::value_error;

/// Frames of a page.
const FRAMES: f64 = 600.0;

/// Moves a simulation to a time and makes a page of it; `look` is asked after every step whether to go on.
pub fn motion_page<B>(
    sim: &mut Inner,
    t_end: f64,
    look: impl FnMut(&Frame<'_>) -> ControlFlow<B>,
) -> ControlFlow<B, String> {
    let title = if sim.world().name.is_empty() { "motion".to_owned() } else { sim.world().name.clone() };
    let motion = record(sim, t_end, FRAMES, look)?;
    let mut page = Page::new(&title);
    page.add_motion(&title, &motion);
    ControlFlow::Continue(page.to_html())
}

/// The page of an analysis, given as the JSON of its document.
#[pyfunction]
pub fn analysis_page(document: &str) -> PyResult<String> {
    let document: Value = serde_json::from_str(document)
        .map_err(|e| value_error(format!("expected the document of an analysis: {e}")))?;
    let name = document["name"].as_str().filter(|name| !name.is_empty()).unwrap_or("analysis").to_owned();
    let mut page = Page::new(&name);
    page.put("analysis", document);
    Ok(page.to_html())
}
