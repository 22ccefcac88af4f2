//! A series of VTK files for ParaView: `NAME.pvd` lists `NAME_000000.vtu`, … with their times.
//!
//! Each file is an unstructured grid of triangles, the surfaces of all shapes, with the number, the velocity
//! and the angular velocity of its body at every triangle.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use delassus::world::{World, WorldState};
use glam::DVec3;

use super::triangles::triangles;

/// Corners on a circle, and the number of shapes above which they are fewer.
const AROUND: usize = 24;
const MANY: usize = 200;
const AROUND_MANY: usize = 12;

/// A series of files.
pub struct VtkOutput {
    /// Where the list stands.
    list: PathBuf,
    /// Name of the frames, without number.
    stem: String,
    /// Entries of the list.
    entries: Vec<String>,
    /// Corners of all shapes, in the axes of their body.
    points: Vec<(usize, DVec3)>,
    /// What never changes from frame to frame: triangles, and the number of the body of each.
    cells: String,
    bodies: Vec<usize>,
}

impl VtkOutput {
    /// A new series, or one that goes on from a time.
    pub fn open(
        path: &Path,
        world: &World,
        start: &WorldState,
        goes_on: Option<f64>,
    ) -> Result<VtkOutput, String> {
        let shapes: usize = world.bodies.iter().map(|body| body.shapes.len()).sum();
        let around = if shapes > MANY { AROUND_MANY } else { AROUND };
        let plane = plane_size(world, start);
        let (mut points, mut cells, mut bodies) = (vec![], vec![], vec![]);
        for (b, body) in world.bodies.iter().enumerate() {
            for shape in &body.shapes {
                let surface = triangles(&shape.kind, around, plane);
                let first = points.len() as u32;
                points.extend(surface.points.iter().map(|&x| (b, shape.pose.point(x))));
                cells.extend(surface.triangles.iter().map(|t| t.map(|i| i + first)));
                bodies.resize(cells.len(), b);
            }
        }
        let list = path.with_extension("pvd");
        let mut entries = vec![];
        if let Some(t) = goes_on
            && let Ok(old) = std::fs::read_to_string(&list)
        {
            let time = |line: &str| line.split('"').nth(1).and_then(|t| t.parse::<f64>().ok());
            let frames = old.lines().map(str::trim).filter(|line| line.starts_with("<DataSet timestep="));
            entries.extend(frames.filter(|line| time(line).is_some_and(|at| at <= t)).map(str::to_owned));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let output = VtkOutput { list, stem, entries, points, cells: connectivity(&cells), bodies };
        // What cannot be written is an error before the first step.
        output.write_list()?;
        Ok(output)
    }

    /// Adds a frame.
    pub fn frame(&mut self, world: &World, state: &WorldState) -> Result<(), String> {
        let name = format!("{}_{:06}.vtu", self.stem, self.entries.len());
        let path = self.list.with_file_name(&name);
        let fail = |e: std::io::Error| format!("{}: cannot be written: {e}", path.display());
        std::fs::write(&path, self.grid(world, state)).map_err(fail)?;
        let file = escaped(&name);
        self.entries.push(format!("<DataSet timestep=\"{:?}\" part=\"0\" file=\"{file}\"/>", state.t));
        self.write_list()
    }

    fn write_list(&self) -> Result<(), String> {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <Collection>\n",
        );
        for entry in &self.entries {
            text += &format!("    {entry}\n");
        }
        text += "  </Collection>\n</VTKFile>\n";
        std::fs::write(&self.list, text)
            .map_err(|e| format!("{}: cannot be written: {e}", self.list.display()))
    }

    fn grid(&self, world: &World, state: &WorldState) -> String {
        let poses: Vec<_> = state.bodies.iter().map(|s| s.pose).collect();
        let (points, cells) = (self.points.len(), self.bodies.len());
        let mut out = format!(
            "<?xml version=\"1.0\"?>\n<!-- {} at {} s -->\n\
             <VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n\
             <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>\n{}",
            remark(&world.name),
            state.t,
            array("Float64", "Points", 3)
        );
        for &(body, x) in &self.points {
            let x = poses[body].point(x);
            let _ = writeln!(out, "{:?} {:?} {:?}", x.x, x.y, x.z);
        }
        out += "</DataArray>\n</Points>\n";
        out += &self.cells;
        out += "<CellData Vectors=\"velocity\" Scalars=\"body\">\n";
        out += &array("Int32", "body", 1);
        for body in &self.bodies {
            let _ = writeln!(out, "{body}");
        }
        out += "</DataArray>\n";
        for (name, of) in [("velocity", false), ("angular_velocity", true)] {
            out += &array("Float64", name, 3);
            for &body in &self.bodies {
                let s = &state.bodies[body];
                let v = if of { s.world_angular_velocity() } else { s.velocity };
                let _ = writeln!(out, "{:?} {:?} {:?}", v.x, v.y, v.z);
            }
            out += "</DataArray>\n";
        }
        out += "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
        out
    }
}

fn array(kind: &str, name: &str, components: usize) -> String {
    format!(
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">\n"
    )
}

fn connectivity(cells: &[[u32; 3]]) -> String {
    let mut out = format!("<Cells>\n{}", array("Int32", "connectivity", 1));
    for [a, b, c] in cells {
        let _ = writeln!(out, "{a} {b} {c}");
    }
    out += &format!("</DataArray>\n{}", array("Int32", "offsets", 1));
    for i in 1..=cells.len() {
        let _ = writeln!(out, "{}", 3 * i);
    }
    out += &format!("</DataArray>\n{}", array("UInt8", "types", 1));
    // A triangle is number 5.
    cells.iter().for_each(|_| out += "5\n");
    out += "</DataArray>\n</Cells>\n";
    out
}

/// Text as it may stand in a remark: on one line, without two hyphens next to each other, which would end it.
fn remark(text: &str) -> String {
    let mut out = String::new();
    for c in
        text.chars().map(|c| if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) { ' ' } else { c })
    {
        if c == '-' && out.ends_with('-') {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Half the side of the square that stands for a plane: twice as far as anything is at the start.
fn plane_size(world: &World, state: &WorldState) -> f64 {
    let extent = |(body, s): (&delassus::world::Body, &delassus::world::BodyState)| {
        s.pose.position.length() + body.bounding_radius()
    };
    let farthest = world.bodies.iter().zip(&state.bodies).map(extent).fold(0.0, f64::max);
    if farthest > 0.0 { 2.0 * farthest } else { 1.0 }
}
