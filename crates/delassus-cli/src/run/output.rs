//! The motion of a run in files, by extension.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::World;

use super::arguments::RunArgs;
use super::options::Settings;
use super::parquet_output::ParquetOutput;
use super::start::Start;
use super::tables::{FORCE_COLUMNS, force_rows, forces_path, motion_columns, motion_row};
use super::totals::Totals;
use super::vtk::VtkOutput;

/// The files of a run.
pub struct Outputs(Vec<Output>);

enum Output {
    Csv(CsvOutput),
    Vtk(VtkOutput),
    Parquet(ParquetOutput),
}

impl Outputs {
    /// Opens all files; the error is a message ready for stderr.
    pub fn open(
        args: &RunArgs,
        world: &World,
        start: &Start,
        settings: &Settings,
    ) -> Result<Outputs, String> {
        // The run before wrote its last state although it was no frame: that row is removed.
        let Totals { steps, adaptive, .. } = &start.totals;
        let t = start.state.t;
        let last = if settings.is_frame(*steps, adaptive.ticks) { t } else { t.next_down() };
        let goes_on = start.resumed.is_some().then_some(last);
        let open = |path: &PathBuf| {
            let name = path.display();
            let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
            let output = match extension.as_str() {
                "csv" => CsvOutput::open(path, world, goes_on).map(Output::Csv),
                "vtu" | "pvd" => VtkOutput::open(path, world, &start.state, goes_on).map(Output::Vtk),
                "parquet" => ParquetOutput::open(path, world, goes_on).map(Output::Parquet),
                "html" => {
                    Err(format!("{name}: the viewer is not there yet; expected .csv, .parquet, .vtu or .pvd"))
                }
                _ => Err(format!("{name}: expected a file that ends in .csv, .parquet, .vtu or .pvd")),
            };
            output.map_err(|e| format!("error: {e}\n"))
        };
        Ok(Outputs(args.output.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// Records the state at the start, where no step has made forces yet.
    pub fn first_frame(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.motion(world, stepper)?,
                Output::Vtk(vtk) => vtk.frame(world, stepper.state())?,
                Output::Parquet(parquet) => parquet.motion(world, stepper)?,
            }
        }
        Ok(())
    }

    /// Records the present state and the forces of the last step.
    pub fn frame(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.motion(world, stepper).and_then(|()| csv.forces(world, stepper))?,
                Output::Vtk(vtk) => vtk.frame(world, stepper.state())?,
                Output::Parquet(parquet) => {
                    parquet.motion(world, stepper).and_then(|()| parquet.forces(world, stepper))?
                }
            }
        }
        Ok(())
    }

    /// Brings everything to the disk.
    pub fn finish(&mut self) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.finish()?,
                // Every frame leaves a series that is whole.
                Output::Vtk(_) => {}
                Output::Parquet(parquet) => parquet.finish()?,
            }
        }
        Ok(())
    }
}

/// A field of a table, in quotes where it needs them.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

struct CsvOutput {
    motion: Table,
    forces: Table,
    row: Vec<f64>,
}

impl CsvOutput {
    fn open(path: &Path, world: &World, goes_on: Option<f64>) -> Result<CsvOutput, String> {
        let names: Vec<String> = motion_columns(world).iter().map(|name| field(name)).collect();
        let motion = Table::open(path, &names.join(","), goes_on)?;
        let header = format!("time,kind,name,{}", FORCE_COLUMNS.join(","));
        let forces = Table::open(&forces_path(path), &header, goes_on)?;
        Ok(CsvOutput { motion, forces, row: vec![] })
    }

    fn motion(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        motion_row(world, stepper, &mut self.row);
        self.motion.row(None, &self.row)
    }

    fn forces(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        let t = stepper.state().t;
        let forces = &mut self.forces;
        force_rows(world, stepper, |kind, name, numbers| {
            forces.row(Some(&format!("{t:?},{kind},{}", field(&name))), &numbers)
        })
    }

    fn finish(&mut self) -> Result<(), String> {
        self.motion.finish()?;
        self.forces.finish()
    }
}

/// A file of comma-separated values.
struct Table {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Table {
    /// A new file; or, where a run goes on, the rows that the old one has up to that time.
    fn open(path: &Path, header: &str, goes_on: Option<f64>) -> Result<Table, String> {
        let fail = |e: std::io::Error| format!("{}: cannot be written: {e}", path.display());
        let mut text = format!("{header}\n");
        if let Some(t) = goes_on
            && let Ok(old) = std::fs::read_to_string(path)
        {
            if old.lines().next() != Some(header) {
                return Err(format!("{}: has other columns than this run would add to it", path.display()));
            }
            let time = |line: &str| line.split(',').next().and_then(|t| t.parse::<f64>().ok());
            for line in old.lines().skip(1).filter(|line| time(line).is_some_and(|at| at <= t)) {
                text.push_str(line);
                text.push('\n');
            }
        }
        let mut file = BufWriter::new(File::create(path).map_err(fail)?);
        file.write_all(text.as_bytes()).map_err(fail)?;
        Ok(Table { path: path.to_owned(), file })
    }

    fn row(&mut self, first: Option<&str>, numbers: &[f64]) -> Result<(), String> {
        let mut line = first.unwrap_or_default().to_owned();
        for x in numbers {
            if !line.is_empty() {
                line.push(',');
            }
            // The shortest text that gives the same bits.
            line.push_str(&format!("{x:?}"));
        }
        line.push('\n');
        let path = &self.path;
        self.file
            .write_all(line.as_bytes())
            .map_err(|e| format!("{}: cannot be written: {e}", path.display()))
    }

    fn finish(&mut self) -> Result<(), String> {
        let path = &self.path;
        self.file.flush().map_err(|e| format!("{}: cannot be written: {e}", path.display()))
    }
}
