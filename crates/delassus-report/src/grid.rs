//! A scene over values of its parameters: all combinations, analyzed on all cores.
//!
//! ```text
//! cell(k) = quantity of the scene at (a¹_{k₁}, …, aᵈ_{k_d}) ,   k = (…(k₁ n₂ + k₂)…) n_d + k_d
//! ```
//!
//! Every point is read and analyzed by itself, so that its cells do not depend on who does the work.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use delassus::analysis::{add_findings, analyze_world, examine};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::Tolerances;
use delassus_scene::{FileError, FileErrorKind, SceneFile, read_scene};
use delassus_solve::modes::EnumerateOptions;

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

    fn cells(&self, quantities: &[Quantity], point: usize, out: &mut Vec<Cell>) {
        let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
        let result = match self.read(&self.values(point)) {
            Ok(SceneFile::System(file)) => {
                examine(&file.system, &file.state, &file.exact_state, &tolerances, &options).map(
                    |mut result| {
                        if quantities.iter().any(|quantity| quantity.needs_propositions(&result)) {
                            add_findings(&mut result);
                        }
                        result
                    },
                )
            }
            Ok(SceneFile::World(file)) => analyze_world(&file.world, &file.state, &tolerances, &options),
            Err(_) => return out.extend(quantities.iter().map(|_| Cell::NoState)),
        };
        match result {
            Ok(result) => out.extend(quantities.iter().map(|quantity| quantity.of(&result))),
            Err(_) => out.extend(quantities.iter().map(|_| Cell::NoState)),
        }
    }

    /// The cells of the points in a range, point by point. `done` is called with the number of points of a
    /// part that is done, from any thread; where it returns false the work ends and there is no answer.
    pub fn evaluate(
        &self,
        quantities: &[Quantity],
        range: std::ops::Range<usize>,
        threads: usize,
        done: &(dyn Fn(usize) -> bool + Sync),
    ) -> Option<Vec<Cell>> {
        let count = range.len();
        let at_once = (count / (8 * threads.max(1))).clamp(1, POINTS_AT_ONCE);
        let parts = count.div_ceil(at_once);
        let (next, goes_on) = (AtomicUsize::new(0), AtomicBool::new(true));
        let worker = || {
            let mut made: Vec<(usize, Vec<Cell>)> = Vec::new();
            while goes_on.load(Ordering::Relaxed) {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    break;
                }
                let first = range.start + part * at_once;
                let points = first..(first + at_once).min(range.end);
                let mut cells = Vec::with_capacity(points.len() * quantities.len());
                let size = points.len();
                points.for_each(|point| self.cells(quantities, point, &mut cells));
                made.push((part, cells));
                if !done(size) {
                    goes_on.store(false, Ordering::Relaxed);
                }
            }
            made
        };
        let mut all: Vec<(usize, Vec<Cell>)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(parts)).map(|_| scope.spawn(worker)).collect();
            let mut made = worker();
            for other in others {
                made.extend(other.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)));
            }
            made
        });
        all.sort_by_key(|(part, _)| *part);
        let cells: Vec<Cell> = all.into_iter().flat_map(|(_, cells)| cells).collect();
        (cells.len() == count * quantities.len()).then_some(cells)
    }
}
