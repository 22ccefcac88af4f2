//! The motion of a run as Parquet: the columns of the `.csv`, and the forces in a file beside it.

use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::World;

use super::parquet::ParquetFile;
use super::tables::{FORCE_COLUMNS, force_rows, forces_path, motion_columns, motion_row};

/// Two files of columns.
pub struct ParquetOutput {
    motion: ParquetFile,
    forces: ParquetFile,
    paths: [PathBuf; 2],
    row: Vec<f64>,
}

impl ParquetOutput {
    /// New files. A file with a footer cannot be gone on with, so that a run that goes on needs another name.
    pub fn open(path: &Path, world: &World, goes_on: Option<f64>) -> Result<ParquetOutput, String> {
        if goes_on.is_some() && path.exists() {
            return Err(format!(
                "{}: is there already, and a Parquet file cannot be gone on with: expected another name",
                path.display()
            ));
        }
        let paths = [path.to_owned(), forces_path(path)];
        let motion = ParquetFile::create(&paths[0], &[], &motion_columns(world)).map_err(fail(&paths[0]))?;
        let numbers: Vec<String> = ["time"].iter().chain(&FORCE_COLUMNS).map(|s| s.to_string()).collect();
        let forces = ParquetFile::create(&paths[1], &["kind", "name"], &numbers).map_err(fail(&paths[1]))?;
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

    /// Writes what is left, and the footers.
    pub fn finish(&mut self) -> Result<(), String> {
        self.motion.finish().map_err(fail(&self.paths[0]))?;
        self.forces.finish().map_err(fail(&self.paths[1]))
    }
}

fn fail(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |e| format!("{}: cannot be written: {e}", path.display())
}
