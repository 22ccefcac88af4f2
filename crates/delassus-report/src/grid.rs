//! A scene over values of its parameters: all combinations, analyzed on all cores.
//!
//! ```text
//! cell(k) = quantity of the scene at (a¹_{k₁}, …, aᵈ_{k_d}) ,   k = (…(k₁ n₂ + k₂)…) n_d + k_d
//! ```
//!
//! Every point is read and analyzed by itself, so that its cells do not depend on who does the work.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use delassus::analysis::{SystemAnalysis, add_findings, analyze_world, examine};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::{State, Tolerances};
use delassus_scene::{FileError, FileErrorKind, SceneFile, read_scene};
use delassus_solve::modes::EnumerateOptions;
use serde_json::{Value, json};

use crate::document::analysis_document;
use crate::exploration::named;
use crate::quantity::{Cell, Quantity};

/// The largest number of points along an axis that is given as a range.
const MAX_POINTS: usize = 10_000;
/// Points that a thread takes at once.
const POINTS_AT_ONCE: usize = 64;

/// Values of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
    /// `deg` or `rpm` where the values were given so, with its factor.
    pub unit: Option<(&'static str, f64)>,
}

impl Axis {
    /// Evenly spaced values, `lo:hi:n`, such as `5deg:85deg:200`.
    pub fn parse(name: &str, range: &str) -> Result<Axis, String> {
        let parts: Vec<&str> = range.split(':').map(str::trim).collect();
        let [lo, hi, points] = parts[..] else {
            return Err("expected name=lo:hi:n, for example mu=0:2:100".into());
        };
        let unit = [("deg", std::f64::consts::PI / 180.0), ("rpm", std::f64::consts::PI / 30.0)]
            .into_iter()
            .find(|(unit, _)| lo.ends_with(unit) || hi.ends_with(unit));
        let value = |text: &str| constant(text, &Symbols::default()).map_err(|e| format!("`{text}`: {e}"));
        let (lo, hi) = (value(lo)?, value(hi)?);
        let points: usize = points.parse().map_err(|_| format!("`{points}`: expected a number of points"))?;
        if !(2..=MAX_POINTS).contains(&points) {
            return Err(format!("{points} points, expected 2 to {MAX_POINTS}"));
        }
        if lo >= hi {
            return Err(format!("the range ends at {hi} and begins at {lo}, expected increasing values"));
        }
        let values = (0..points).map(|k| lo + (hi - lo) * k as f64 / (points - 1) as f64).collect();
        Ok(Axis { name: name.to_owned(), values, unit })
    }

    /// A value as it is shown.
    pub fn shown(&self, x: f64) -> f64 {
        x / self.unit.map_or(1.0, |(_, factor)| factor)
    }

    /// The name with its unit.
    pub fn label(&self) -> String {
        match self.unit {
            Some((unit, _)) => format!("{}, {unit}", self.name),
            None => self.name.clone(),
        }
    }
}

/// A scene over axes, the last of which runs fastest.
pub struct Grid<'a> {
    /// The text of the scene.
    pub text: &'a str,
    /// The folder in which its meshes are.
    pub folder: Option<&'a Path>,
    /// Values of other parameters.
    pub overrides: &'a [(String, String)],
    /// What varies.
    pub axes: &'a [Axis],
}

impl Grid<'_> {
    /// How many points it has; `None` where that is beyond all counting.
    pub fn points(&self) -> Option<usize> {
        self.axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()))
    }

    /// Refuses texts that are no scene, and names that are no parameters of it.
    pub fn check(&self) -> Result<(), FileError> {
        self.read(&[])?;
        for axis in self.axes {
            let Some(value) = axis.values.first() else { continue };
            match self.read(&[(&axis.name, format!("{value:?}"))]) {
                // A value alone may make no scene; its neighbours may.
                Err(e) if matches!(*e.kind, FileErrorKind::UnknownParameter { .. }) => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }

    /// Why quantities have no cells, as far as the state of the file tells.
    pub fn refusal(&self, quantities: &[Quantity]) -> Option<String> {
        let plain = Grid { axes: &[], ..*self };
        if !quantities.iter().any(|q| matches!(q, Quantity::Pointer(_) | Quantity::Proposition(_))) {
            return None;
        }
        let at = plain.analysis(0, &|_| true)?;
        quantities.iter().find_map(|quantity| quantity.refusal(&at.result))
    }

    fn read(&self, values: &[(&str, String)]) -> Result<SceneFile, FileError> {
        let given = self.overrides.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let all: Vec<(&str, &str)> =
            given.chain(values.iter().map(|(name, value)| (*name, value.as_str()))).collect();
        read_scene(self.text, self.folder, &all)
    }

    /// The values of the axes at a point.
    fn values(&self, mut point: usize) -> Vec<(&str, String)> {
        let mut values: Vec<(&str, String)> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let n = axis.values.len();
            values.push((&axis.name, format!("{:?}", axis.values[point % n])));
            point /= n;
        }
        values.reverse();
        values
    }

    /// The analysis at a point, with the propositions of the papers where they are wanted, and its document;
    /// `None` where there is no such state.
    fn analysis(&self, point: usize, wanted: &dyn Fn(&SystemAnalysis) -> bool) -> Option<Analyzed> {
        let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
        match self.read(&self.values(point)).ok()? {
            SceneFile::System(file) => {
                let mut result =
                    examine(&file.system, &file.state, &file.exact_state, &tolerances, &options).ok()?;
                if wanted(&result) {
                    add_findings(&mut result);
                }
                Some(Analyzed { result, state: Some(file.state) })
            }
            SceneFile::World(file) => {
                let result = analyze_world(&file.world, &file.state, &tolerances, &options).ok()?;
                Some(Analyzed { result, state: None })
            }
        }
    }

    fn cells(&self, quantities: &[Quantity], point: usize, out: &mut Vec<Cell>) {
        let wanted =
            |result: &SystemAnalysis| quantities.iter().any(|quantity| quantity.needs_propositions(result));
        match self.analysis(point, &wanted) {
            Some(at) => out.extend(quantities.iter().map(|quantity| quantity.of(&at.result))),
            None => out.extend(quantities.iter().map(|_| Cell::NoState)),
        }
    }

    /// The cell of a quantity at every point, and the analysis there for a page: JSON, empty where there is
    /// no such state. `done` as in [`Grid::evaluate`].
    pub fn analyses(
        &self,
        quantity: &Quantity,
        threads: usize,
        done: &(dyn Fn(usize) -> bool + Sync),
    ) -> Option<Vec<(Cell, String)>> {
        self.each(0..self.points()?, threads, done, &|point, out| {
            out.push(match self.analysis(point, &|_| true) {
                Some(at) => (quantity.of(&at.result), at.for_page().to_string()),
                None => (Cell::NoState, String::new()),
            });
        })
    }

    /// The cells of the points in a range, point by point. `done` is called with the number of points of a
    /// part that is done, from any thread; where it returns false the work ends and there is no answer.
    pub fn evaluate(
        &self,
        quantities: &[Quantity],
        range: Range<usize>,
        threads: usize,
        done: &(dyn Fn(usize) -> bool + Sync),
    ) -> Option<Vec<Cell>> {
        let cells =
            self.each(range.clone(), threads, done, &|point, out| self.cells(quantities, point, out))?;
        (cells.len() == range.len() * quantities.len()).then_some(cells)
    }

    /// What `at` adds for the points of a range, in their order.
    fn each<T: Send>(
        &self,
        range: Range<usize>,
        threads: usize,
        done: &(dyn Fn(usize) -> bool + Sync),
        at: &(dyn Fn(usize, &mut Vec<T>) + Sync),
    ) -> Option<Vec<T>> {
        let count = range.len();
        let at_once = (count / (8 * threads.max(1))).clamp(1, POINTS_AT_ONCE);
        let parts = count.div_ceil(at_once);
        let (next, goes_on) = (AtomicUsize::new(0), AtomicBool::new(true));
        let worker = || {
            let mut made: Vec<(usize, Vec<T>)> = Vec::new();
            while goes_on.load(Ordering::Relaxed) {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    break;
                }
                let first = range.start + part * at_once;
                let points = first..(first + at_once).min(range.end);
                let size = points.len();
                let mut found = Vec::with_capacity(size);
                points.for_each(|point| at(point, &mut found));
                made.push((part, found));
                if !done(size) {
                    goes_on.store(false, Ordering::Relaxed);
                }
            }
            made
        };
        let mut all: Vec<(usize, Vec<T>)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(parts)).map(|_| scope.spawn(worker)).collect();
            let mut made = worker();
            for other in others {
                made.extend(other.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)));
            }
            made
        });
        all.sort_by_key(|(part, _)| *part);
        (all.len() == parts).then(|| all.into_iter().flat_map(|(_, found)| found).collect())
    }
}

/// A point that was analyzed.
struct Analyzed {
    result: SystemAnalysis,
    /// The state there, of a system.
    state: Option<State>,
}

impl Analyzed {
    /// What a page shows of it: the document less matrices and propositions that say nothing, with the state.
    fn for_page(&self) -> Value {
        let mut document = analysis_document(&self.result);
        if let Some(map) = document.as_object_mut() {
            for key in ["matrices", "kinetic_angles_deg", "friction_bounds"] {
                map.remove(key);
            }
        }
        if let Some(list) = document["certificates"].as_array_mut() {
            list.retain(|entry| entry["outcome"] == "holds");
        }
        if let Some(state) = &self.state {
            let by_name = |values: &[f64]| named(&self.result.names.coordinates, values);
            document["state"] = json!({ "position": by_name(&state.q), "velocity": by_name(&state.v) });
        }
        document
    }
}
