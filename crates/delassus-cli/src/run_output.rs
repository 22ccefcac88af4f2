//! The motion of a run in files, by extension.
//!
//! A table has a row a frame: `time`, then for every body that moves the position and the orientation (w x y z) of the
//! frame in which the file wrote it, the velocity of its centre of mass and its angular velocity, world axes. The forces
//! stand in a table of their own, since contacts come and go: a row for each contact and each joint of a frame.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::World;

use crate::run::RunArgs;
use crate::run_events::Totals;
use crate::run_options::Settings;
use crate::run_parquet::ParquetOutput;
use crate::run_start::Start;
use crate::vtk::VtkOutput;

/// What is written of a body, in this order.
pub const BODY_COLUMNS: [&str; 13] =
    ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];
/// The numbers of a row of forces: where, force on the second body, moment on it, and the normal force of a contact.
pub const FORCE_COLUMNS: [&str; 10] = ["x", "y", "z", "fx", "fy", "fz", "tx", "ty", "tz", "normal"];

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
        // The last state of the part before stands between frames, where it is none itself: it is taken off.
        let Totals { steps, adaptive, .. } = &start.totals;
        let t = start.state.t;
        let last = if settings.is_frame(*steps, adaptive.ticks) { t } else { t.next_down() };
        let goes_on = start.snapshot.is_some().then_some(last);
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

    /// Records the state at the start, where no step has told forces yet.
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

/// `path` with `-forces` before its extension.
pub fn forces_path(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-forces.");
    name.push(path.extension().unwrap_or_default());
    path.with_file_name(name)
}

/// The names of the columns of motion.
pub fn motion_columns(world: &World) -> Vec<String> {
    let moving = world.bodies.iter().filter(|body| !body.fixed);
    let columns = moving.flat_map(|body| BODY_COLUMNS.map(|column| format!("{}.{column}", body.name)));
    std::iter::once("time".to_string()).chain(columns).collect()
}

/// A row of motion.
pub fn motion_row(world: &World, stepper: &Stepper, row: &mut Vec<f64>) {
    let state = stepper.state();
    row.clear();
    row.push(state.t);
    for (body, s) in world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed) {
        let written = s.pose.compose(&body.frame);
        row.extend(written.position.to_array());
        let q = written.rotation;
        row.extend([q.w, q.x, q.y, q.z]);
        row.extend(s.velocity.to_array());
        row.extend(s.spin().to_array());
    }
}

/// The mean forces of the last step: kind, name and the numbers of [`FORCE_COLUMNS`].
pub fn force_rows(
    world: &World,
    stepper: &Stepper,
    mut put: impl FnMut(&'static str, String, [f64; 10]) -> Result<(), String>,
) -> Result<(), String> {
    for (contact, normal, friction) in stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0) {
        let (p, f) = (contact.point, contact.normal * normal + friction);
        let numbers = [p.x, p.y, p.z, f.x, f.y, f.z, 0.0, 0.0, 0.0, normal];
        put("contact", stepper.contact_name(contact), numbers)?;
    }
    for (joint, [f, m]) in world.joints.iter().zip(stepper.joint_forces()) {
        let body = joint.bodies[1];
        let p = stepper.state().bodies[body].pose.point(joint.frames[1].position);
        let numbers = [p.x, p.y, p.z, f.x, f.y, f.z, m.x, m.y, m.z, 0.0];
        put("joint", joint.name.clone(), numbers)?;
    }
    Ok(())
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
