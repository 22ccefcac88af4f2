//! Writes the motion of a run to a file; its extension decides on the format.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use delassus::stepping::{StepReport, Stepper};
use delassus::world::World;
use delassus_page::Page;

use super::arguments::RunArgs;
use super::options::Settings;
use super::page_output::{PageOutput, RunSummary};
use super::parquet_output::ParquetOutput;
use super::plot_output::PlotOutput;
use super::start::Start;
use super::tables::{FORCE_COLUMNS, force_rows, forces_path, motion_columns, motion_row};
use super::totals::{Event, Totals};
use super::vtk::VtkOutput;

/// What files a run can write.
const EXPECTED: &str = ".html, .csv, .parquet, .vtu, .pvd, .svg or .png";

/// The files of a run.
pub struct Outputs(Vec<Output>);

enum Output {
    Csv(CsvOutput),
    Vtk(VtkOutput),
    Parquet(ParquetOutput),
    Plot(PlotOutput),
    Page(Box<PageOutput>),
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
                "svg" | "png" => PlotOutput::open(path, world, &args.plot).map(Output::Plot),
                "html" => PageOutput::open(path, world).map(|page| Output::Page(Box::new(page))),
                _ => Err(format!("{name}: expected a file that ends in {EXPECTED}")),
            };
            output.map_err(|e| format!("error: {e}\n"))
        };
        let is_picture = |path: &PathBuf| {
            path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg") || e.eq_ignore_ascii_case("png"))
        };
        if !args.plot.is_empty() && !args.output.iter().any(is_picture) {
            return Err("error: --plot: expected a picture too, -o FILE.svg or -o FILE.png\n".into());
        }
        if let Some((i, path)) = args.output.iter().enumerate().find(|(i, p)| args.output[..*i].contains(p)) {
            let (path, n) = (path.display(), i + 1);
            return Err(format!("error: {path}: output {n} has the name of one before it\n"));
        }
        Ok(Outputs(args.output.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// Records the state at the start, where no step has made forces yet.
    pub fn first_frame(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.motion(world, stepper)?,
                Output::Vtk(vtk) => vtk.frame(world, stepper)?,
                Output::Parquet(parquet) => parquet.motion(world, stepper)?,
                Output::Plot(plot) => plot.frame(world, stepper),
                Output::Page(page) => page.frame(stepper)?,
            }
        }
        Ok(())
    }

    /// Takes note of a step, whether it is recorded or not.
    pub fn step(&mut self, report: &StepReport) {
        for output in &mut self.0 {
            if let Output::Page(page) = output {
                page.step(report);
            }
        }
    }

    /// Records the present state and the forces of the last step.
    pub fn frame(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.motion(world, stepper).and_then(|()| csv.forces(world, stepper))?,
                Output::Vtk(vtk) => vtk.frame(world, stepper)?,
                Output::Parquet(parquet) => {
                    parquet.motion(world, stepper).and_then(|()| parquet.forces(world, stepper))?
                }
                Output::Plot(plot) => plot.frame(world, stepper),
                Output::Page(page) => page.frame(stepper)?,
            }
        }
        Ok(())
    }

    /// Brings everything up to now to the disk, so that a checkpoint that is written next finds it.
    pub fn save(&mut self) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.finish()?,
                // Every frame leaves a series that is whole.
                Output::Vtk(_) => {}
                Output::Parquet(parquet) => parquet.save()?,
                // Drawn at the end, and pages from time to time.
                Output::Plot(_) | Output::Page(_) => {}
            }
        }
        Ok(())
    }

    /// Whether a page is among them, which shows the report.
    pub fn has_page(&self) -> bool {
        self.0.iter().any(|output| matches!(output, Output::Page(_)))
    }

    /// Writes the pages, once everything is known of the run; `others` adds motions that are possible too.
    pub fn finish_pages(&self, summary: &RunSummary, others: &dyn Fn(&mut Page)) -> Result<(), String> {
        for output in &self.0 {
            if let Output::Page(page) = output {
                page.finish(summary, others)?;
            }
        }
        Ok(())
    }

    /// Brings everything but pages to the disk, at the end; pictures mark these events.
    pub fn finish(&mut self, events: &[Event]) -> Result<(), String> {
        for output in &mut self.0 {
            match output {
                Output::Csv(csv) => csv.finish()?,
                Output::Vtk(_) | Output::Page(_) => {}
                Output::Parquet(parquet) => parquet.finish()?,
                Output::Plot(plot) => plot.finish(events)?,
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
        let file = match goes_on.filter(|_| path.exists()) {
            None => {
                let mut file = File::create(path).map_err(fail)?;
                file.write_all(format!("{header}\n").as_bytes()).map_err(fail)?;
                file
            }
            // The old file is cut, not written again: whatever happens, its rows are there.
            Some(t) => {
                let old = std::fs::read_to_string(path)
                    .map_err(|e| format!("{}: cannot be read: {e}", path.display()))?;
                let whole = |line: &&str| line.ends_with('\n');
                let mut lines = old.split_inclusive('\n').take_while(whole);
                if lines.next().is_none_or(|line| line.trim_end_matches(['\r', '\n']) != header) {
                    return Err(format!(
                        "{}: has other columns than this run would add to it",
                        path.display()
                    ));
                }
                let time = |line: &str| line.split(',').next().and_then(|t| t.parse::<f64>().ok());
                let first = old.split_inclusive('\n').next().map_or(0, str::len);
                let kept = lines.take_while(|line| time(line).is_none_or(|at| at <= t)).map(str::len);
                let length = (first + kept.sum::<usize>()) as u64;
                let mut file = File::options().write(true).open(path).map_err(fail)?;
                file.set_len(length).and_then(|()| file.seek(SeekFrom::End(0))).map_err(fail)?;
                file
            }
        };
        Ok(Table { path: path.to_owned(), file: BufWriter::new(file) })
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
