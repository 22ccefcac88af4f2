//! Pages for notebooks: what a simulation does, and what an analysis says.

use std::ops::ControlFlow;

use delassus::simulation::{Frame, RunReport, Simulation as Inner, SimulationError};
use delassus::stepping::ContactEventKind;
use delassus_page::{MotionRecorder, Page};
use delassus_report::failure_text;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::value_error;

/// Frames of a page.
const FRAMES: f64 = 600.0;
/// Events that are listed.
const MAX_EVENTS: usize = 2000;

/// Moves a simulation to a time and makes a page of it; `look` is asked after every step whether to go on.
pub fn motion_page<B>(
    sim: &mut Inner,
    t_end: f64,
    mut look: impl FnMut(&Frame<'_>) -> ControlFlow<B>,
) -> Result<ControlFlow<B, String>, SimulationError> {
    let title = if sim.world().name.is_empty() { "motion".to_owned() } else { sim.world().name.clone() };
    let mut recorder = MotionRecorder::new(sim.world());
    recorder.frame(sim.stepper());
    let steps = ((t_end - sim.time()) / sim.options().dt).ceil();
    let every = if steps > FRAMES { (steps / FRAMES).ceil() as u64 } else { 1 };
    let (mut total, mut events) = (RunReport::default(), vec![]);
    let flow = sim.run_until_break(t_end, |frame| {
        total.add(frame.time, frame.report);
        recorder.step(frame.report);
        let left = MAX_EVENTS.saturating_sub(events.len());
        events.extend(frame.events.iter().take(left).map(|event| {
            let (kind, speed) = event_words(event.kind);
            json!({ "t": event.t, "kind": kind, "contact": event.contact, "speed": speed })
        }));
        if total.steps.is_multiple_of(every) {
            recorder.frame(frame.stepper);
        }
        look(frame)
    })?;
    if let ControlFlow::Break(stop) = flow {
        return Ok(ControlFlow::Break(stop));
    }
    if !total.steps.is_multiple_of(every) {
        recorder.frame(sim.stepper());
    }
    let mut motion = recorder.motion();
    motion.events = events;
    motion.failure = (total.first_failure.and_then(|first| first.failure))
        .map(|failure| failure_text(sim.world(), failure, sim.options().tolerance));
    motion.report = json!({
        "t_end": sim.time(), "steps": total.steps, "unsolved_steps": total.unsolved_steps,
        "max_residual": total.residual, "max_penetration": total.penetration, "max_joint_error": total.joint_error,
    });
    let mut page = Page::new(&title);
    page.add_motion(&title, &motion);
    Ok(ControlFlow::Continue(page.to_html()))
}

/// The word for an event, and the speed of an impact.
pub fn event_words(kind: ContactEventKind) -> (&'static str, Option<f64>) {
    match kind {
        ContactEventKind::Impact { speed, .. } => ("impact", Some(speed)),
        ContactEventKind::Open => ("open", None),
        ContactEventKind::Slide => ("slide", None),
        ContactEventKind::Stick => ("stick", None),
        ContactEventKind::ZenoAccumulation => ("accumulation", None),
        ContactEventKind::Jam { .. } => ("jam", None),
    }
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
