//! The motion of a run as one HTML file: written while the run goes on, so that `delassus view` can follow
//! it, and at the end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use delassus::events::{Ending, Trajectory};
use delassus::simulation::WorldAsSystem;
use delassus::stepping::{StepReport, Stepper};
use delassus::world::World;
use delassus_page::{Motion, MotionRecorder, Page, Series};
use delassus_report::{contact_mode_word, event_document};
use serde_json::{Value, json};

use super::parquet::beside;
use super::subject::Subject;

/// A page is written anew after this time, and after this many times what writing it took.
const LEAST_PAUSE: Duration = Duration::from_secs(2);
const PAUSE_RATIO: u32 = 30;

/// What is known of a run when its page is written.
pub struct RunSummary {
    /// Its report, as `--json` prints it.
    pub report: Value,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Why it ended early.
    pub failure: Option<String>,
}

/// A page.
pub struct PageOutput {
    path: PathBuf,
    title: String,
    recorder: MotionRecorder,
    written: Instant,
    pause: Duration,
}

impl PageOutput {
    /// A page of a world, without a frame yet.
    pub fn open(path: &Path, world: &World) -> Result<PageOutput, String> {
        let title = if world.name.is_empty() { "motion".into() } else { world.name.clone() };
        // What cannot be written is an error before the first step, and an older page is none of this run.
        replace_page(path, &Page::new(&title))?;
        Ok(PageOutput {
            path: path.into(),
            title,
            recorder: MotionRecorder::new(world),
            written: Instant::now(),
            pause: LEAST_PAUSE,
        })
    }

    /// Adds a step.
    pub fn step(&mut self, report: &StepReport) {
        self.recorder.step(report);
    }

    /// Adds a frame.
    pub fn frame(&mut self, stepper: &Stepper) -> Result<(), String> {
        self.recorder.frame(stepper);
        if self.written.elapsed() < self.pause {
            return Ok(());
        }
        let begin = Instant::now();
        let mut motion = self.recorder.motion();
        motion.running = true;
        replace_page(&self.path, &self.page(&motion))?;
        self.written = Instant::now();
        self.pause = LEAST_PAUSE.max(PAUSE_RATIO * begin.elapsed());
        Ok(())
    }

    /// Writes the page of a run that has ended; `others` adds motions that are possible beside it.
    pub fn finish(&self, summary: &RunSummary, others: &dyn Fn(&mut Page)) -> Result<(), String> {
        let mut motion = self.recorder.motion();
        motion.events = summary.report["events"].as_array().cloned().unwrap_or_default();
        motion.notes = summary.notes.clone();
        motion.failure = summary.failure.clone();
        motion.report = without_lists(&summary.report);
        let mut page = self.page(&motion);
        others(&mut page);
        replace_page(&self.path, &page)
    }

    fn page(&self, motion: &Motion) -> Page {
        let mut page = Page::new(&self.title);
        page.add_motion(&self.title, motion);
        page
    }
}

/// Instants of an event-driven motion that are recorded where a file is asked for.
pub const FRAMES: usize = 1000;

/// Whether a file is to be a page, by its name.
pub fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"))
}

/// Writes a page; the error is a message ready for stderr.
pub fn write_page(path: &Path, page: &Page) -> Result<(), String> {
    replace_page(path, page).map_err(|e| format!("error: {e}\n"))
}

/// Replaces the file as a whole: who reads it finds a page, this one or the one before.
fn replace_page(path: &Path, page: &Page) -> Result<(), String> {
    let part = beside(path, ".part");
    std::fs::write(&part, page.to_html()).and_then(|()| std::fs::rename(&part, path)).map_err(|e| {
        drop(std::fs::remove_file(&part));
        format!("{}: cannot be written: {e}", path.display())
    })
}

/// A report less what the page shows elsewhere.
fn without_lists(report: &Value) -> Value {
    let mut report = report.clone();
    if let Some(map) = report.as_object_mut() {
        for key in ["events", "bodies", "notes", "forces"] {
            map.remove(key);
        }
    }
    report
}

/// The motion of an event-driven run.
pub fn event_motion(subject: &Subject<'_>, run: &Trajectory, report: &Value, notes: &[String]) -> Motion {
    let system = subject.system;
    let of = |name: String, group: &str, value: &dyn Fn(&delassus::events::Sample) -> f64| Series {
        name,
        group: group.into(),
        values: run.samples.iter().map(value).collect(),
    };
    let mut series = vec![of("energy".into(), "energy, J", &|s| s.energy)];
    for (i, contact) in system.contacts.iter().enumerate() {
        series.push(of(format!("{}.normal", contact.name), "contact forces, N", &|s| s.contact_forces[i][0]));
        for k in 1..=contact.slip.len() {
            let name = format!("{}.tangential{k}", contact.name);
            series.push(of(name, "contact forces, N", &|s| s.contact_forces[i][k]));
        }
    }
    for (i, joint) in system.joints.iter().enumerate() {
        series.push(of(format!("{}.force", joint.name), "joint forces, N", &|s| s.joint_forces[i][0]));
    }
    for (i, name) in system.coordinates.iter().enumerate() {
        series.push(of(name.clone(), "positions", &|s| s.state.q[i]));
    }
    for (i, name) in system.coordinates.iter().enumerate() {
        series.push(of(format!("{name}'"), "velocities", &|s| s.state.v[i]));
    }
    for (i, contact) in system.contacts.iter().enumerate() {
        series.push(of(contact.name.clone(), "modes", &|s| match contact_mode_word(s.modes[i]) {
            "stick" => 1.0,
            "slide" => 2.0,
            _ => 0.0,
        }));
    }
    let times = run.samples.iter().map(|s| s.state.t).collect();
    let mut motion = Motion::of_series(times, series);
    if let Some(WorldAsSystem { world, start, as_system }) = subject.world {
        let states = run.samples.iter().map(|s| as_system.world_state(start, &s.state)).collect();
        motion = motion.with_bodies(world, states);
    }
    motion.events = run.events.iter().map(|event| event_document(system, event)).collect();
    motion.notes = notes.to_vec();
    motion.failure = (run.ending != Ending::Done).then(|| run.ending.to_string());
    motion.report = without_lists(report);
    motion
}

/// The page of an event-driven run.
pub fn event_page(subject: &Subject<'_>, motion: &Motion) -> Page {
    let title = if subject.system.name.is_empty() { "motion" } else { &subject.system.name };
    let mut page = Page::new(title);
    page.put("integrator", json!("event-driven"));
    page.add_motion(title, motion);
    page
}
