//! The motion of a simulation as it is shown: frames, events, and what its steps add up to.

use std::ops::ControlFlow;

use delassus::simulation::{Frame, RunReport, Simulation};
use delassus::stepping::ContactEventKind;
use delassus_report::failure_text;
use serde_json::json;

use crate::motion::{Motion, MotionRecorder};

/// Events that are listed.
const MAX_EVENTS: usize = 2000;

/// Moves a simulation to a time and keeps at most about so many frames. `look` is asked after every step
/// whether to go on. Where a step cannot be made the motion ends there and says why.
pub fn record<B>(
    sim: &mut Simulation,
    t_end: f64,
    frames: f64,
    mut look: impl FnMut(&Frame<'_>) -> ControlFlow<B>,
) -> ControlFlow<B, Motion> {
    let mut recorder = MotionRecorder::new(sim.world());
    recorder.frame(sim.stepper());
    let steps = ((t_end - sim.time()) / sim.options().dt).ceil();
    let every = if steps > frames { (steps / frames).ceil() as u64 } else { 1 };
    let (mut total, mut events) = (RunReport::default(), vec![]);
    let ended = sim.run_until_break(t_end, |frame| {
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
    });
    if let Ok(ControlFlow::Break(stop)) = ended {
        return ControlFlow::Break(stop);
    }
    if !total.steps.is_multiple_of(every) {
        recorder.frame(sim.stepper());
    }
    let mut motion = recorder.motion();
    motion.events = events;
    motion.failure = ended.err().map(|error| error.to_string());
    if let Some(first) = total.first_failure {
        let why = first.failure.map(|f| failure_text(sim.world(), f, sim.options().tolerance));
        let (count, steps, t) = (total.unsolved_steps, total.steps, first.t);
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        motion.notes.push(format!("{count} of {steps} steps were not solved, the first at {t:.6} s{why}"));
    }
    motion.report = json!({
        "t_end": sim.time(), "steps": total.steps, "unsolved_steps": total.unsolved_steps,
        "max_residual": total.residual, "max_penetration": total.penetration, "max_joint_error": total.joint_error,
    });
    ControlFlow::Continue(motion)
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
