//! The motion of a run as Parquet: the columns of the `.csv`, and the forces in a file beside it.

use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::World;

use super::parquet::ParquetFile;
use super::parquet_reader::read_rows;
use super::tables::{FORCE_COLUMNS, force_rows, forces_path, motion_columns, motion_row};

/// Two files of columns.
pub struct ParquetOutput {
    motion: ParquetFile,
    forces: ParquetFile,
    paths: [PathBuf; 2],
    row: Vec<f64>,
}

impl ParquetOutput {
    /// New files; or, where a run goes on, with the rows that the old ones have up to that time.
    pub fn open(path: &Path, world: &World, goes_on: Option<f64>) -> Result<ParquetOutput, String> {
        let paths = [path.to_owned(), forces_path(path)];
        let motion = open_table(&paths[0], &[], &motion_columns(world), goes_on)?;
        let numbers: Vec<String> = ["time"].iter().chain(&FORCE_COLUMNS).map(|s| s.to_string()).collect();
        let forces = open_table(&paths[1], &["kind", "name"], &numbers, goes_on)?;
        Ok(ParquetOutput { motion, forces, paths, row: vec![] })
    }

    /// Adds a row of motion.
    pub fn motion(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        motion_row(world, stepper, &mut self.row);
        self.motion.row(&[], self.row.iter().copied()).map_err(fail(&self.paths[0]))
    }

    /// Adds the forces of the last step.
    pub fn forces(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        let t = stepper.state().t;
        let (forces, path) = (&mut self.forces, &self.paths[1]);
        force_rows(world, stepper, |kind, name, numbers| {
            forces.row(&[kind, &name], std::iter::once(t).chain(numbers)).map_err(fail(path))
        })
    }

    /// Makes what was written up to now readable, whatever happens to the run.
    pub fn save(&mut self) -> Result<(), String> {
        self.motion.save().map_err(fail(&self.paths[0]))?;
        self.forces.save().map_err(fail(&self.paths[1]))
    }

    /// Writes what is left. Where that fails, the files stay as they were saved last.
    pub fn finish(&mut self) -> Result<(), String> {
        let motion = self.motion.finish().map_err(fail(&self.paths[0]));
        let forces = self.forces.finish().map_err(fail(&self.paths[1]));
        motion.and(forces).inspect_err(|_| {
            self.motion.abandon();
            self.forces.abandon();
        })
    }
}

/// A table whose first number is the time.
fn open_table(
    path: &Path,
    texts: &[&str],
    numbers: &[String],
    goes_on: Option<f64>,
) -> Result<ParquetFile, String> {
    let mut file = ParquetFile::create(path, texts, numbers).map_err(fail(path))?;
    match goes_on.filter(|_| path.exists()) {
        // What an earlier run left under this name is not taken for this one.
        None => file.save().map_err(fail(path))?,
        Some(t) => {
            let read = read_rows(path, texts, numbers, |words, row| {
                let is_before = row.first().is_some_and(|at| *at <= t);
                if is_before {
                    file.row(words, row.iter().copied()).map_err(|e| e.to_string())
                } else {
                    Ok(())
                }
            });
            read.map_err(|e| format!("{}: {e}", path.display())).inspect_err(|_| file.abandon())?;
        }
    }
    Ok(file)
}

fn fail(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |e| format!("{}: cannot be written: {e}", path.display())
}
