//! A series of VTK files for ParaView: `NAME.pvd` lists `NAME_000000.vtu`, … with their times.
//!
//! Each file is an unstructured grid: the surfaces of all shapes as triangles, with the number, the velocity
//! and the angular velocity of their body; then the contacts that carry a force, one vertex each, of the body
//! −1, with `contact_normal` and `contact_force` (on the second body, N) at its point. Both are zero at
//! corners of shapes.
//!
//! ```text
//! array = base64([1, n, 0, m]) base64(z)       z: the n bytes of the array after zlib, m of them
//! ```
//!
//! Source: VTK file formats, XML, inline binary data with a compressor.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use delassus::stepping::Stepper;
use delassus::world::{BodyState, World, WorldState};
use delassus_page::{base64, triangles};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use glam::DVec3;

use super::parquet::beside;

/// Corners on a circle; fewer of them with more shapes than this.
const CORNERS: usize = 16;
const MAX_FINE_SHAPES: usize = 200;
const COARSE_CORNERS: usize = 12;
/// Numbers of cells in VTK.
const VERTEX: u8 = 1;
const TRIANGLE: u8 = 5;

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
    /// Corners of all triangles, and the body of each.
    triangles: Vec<[u32; 3]>,
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
        let around = if shapes > MAX_FINE_SHAPES { COARSE_CORNERS } else { CORNERS };
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
        let output = VtkOutput { list, stem, entries, points, triangles: cells, bodies };
        // What cannot be written is an error before the first step.
        output.write_list()?;
        Ok(output)
    }

    /// Adds a frame.
    pub fn frame(&mut self, world: &World, stepper: &Stepper) -> Result<(), String> {
        let state = stepper.state();
        let name = format!("{}_{:06}.vtu", self.stem, self.entries.len());
        let path = self.list.with_file_name(&name);
        let fail = |e: std::io::Error| format!("{}: cannot be written: {e}", path.display());
        std::fs::write(&path, self.grid(world, stepper)).map_err(fail)?;
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
        // Replaced as a whole, so that a run that is killed leaves a list of whole frames.
        let new = beside(&self.list, ".part");
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &self.list))
            .map_err(|e| format!("{}: cannot be written: {e}", self.list.display()))
    }

    fn grid(&self, world: &World, stepper: &Stepper) -> String {
        let state = stepper.state();
        let contacts: Vec<[DVec3; 3]> = (stepper.contact_forces())
            .filter(|(_, normal, _)| *normal > 0.0)
            .map(|(c, normal, friction)| [c.point, c.normal, c.normal * normal + friction])
            .collect();
        let (corners, triangles, count) = (self.points.len(), self.triangles.len(), contacts.len());
        let of = |k: usize| contacts.iter().map(move |contact| contact[k]);
        let no_contact = || self.points.iter().map(|_| DVec3::ZERO);
        // Of every triangle that of its body; of a contact nothing.
        let of_cells = |of: fn(&BodyState) -> DVec3| {
            let of_shapes = self.bodies.iter().map(|&body| of(&state.bodies[body]));
            vectors(of_shapes.chain(contacts.iter().map(|_| DVec3::ZERO)))
        };
        let points = self.points.iter().map(|&(body, x)| state.bodies[body].pose.point(x)).chain(of(0));
        // Single precision: pictures need no more, and points are most of a file.
        let points = encoded(points.flat_map(|x| x.to_array()).map(|x| (x as f32).to_le_bytes()));
        let vertices = corners as u32..(corners + count) as u32;
        let connectivity = self.triangles.as_flattened().iter().copied().chain(vertices);
        let offsets = (1..=triangles).map(|i| 3 * i).chain((1..=count).map(|i| 3 * triangles + i));
        let types = (0..triangles + count).map(|i| [if i < triangles { TRIANGLE } else { VERTEX }]);
        let bodies = self.bodies.iter().map(|b| *b as i32).chain(contacts.iter().map(|_| -1));
        format!(
            "<?xml version=\"1.0\"?>\n<!-- {} at {} s -->\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\">\n\
             <UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n\
             <Points>\n{}</Points>\n<Cells>\n{}{}{}</Cells>\n\
             <PointData Vectors=\"contact_force\">\n{}{}</PointData>\n\
             <CellData Vectors=\"velocity\" Scalars=\"body\">\n{}{}{}</CellData>\n\
             </Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
            remark(&world.name),
            state.t,
            corners + count,
            triangles + count,
            array("Float32", "Points", 3, &points),
            array("Int32", "connectivity", 1, &encoded(connectivity.map(u32::to_le_bytes))),
            array("Int32", "offsets", 1, &encoded(offsets.map(|i| (i as u32).to_le_bytes()))),
            array("UInt8", "types", 1, &encoded(types)),
            array("Float64", "contact_normal", 3, &vectors(no_contact().chain(of(1)))),
            array("Float64", "contact_force", 3, &vectors(no_contact().chain(of(2)))),
            array("Int32", "body", 1, &encoded(bodies.map(i32::to_le_bytes))),
            array("Float64", "velocity", 3, &of_cells(|s| s.velocity)),
            array("Float64", "angular_velocity", 3, &of_cells(|s| s.world_angular_velocity())),
        )
    }
}

fn array(kind: &str, name: &str, components: usize, data: &str) -> String {
    format!(
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">\n\
         {data}\n</DataArray>\n"
    )
}

fn vectors(list: impl Iterator<Item = DVec3>) -> String {
    encoded(list.flat_map(|x| x.to_array()).map(f64::to_le_bytes))
}

/// An array as it stands in the file.
fn encoded<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> String {
    let bytes: Vec<u8> = values.flatten().collect();
    if bytes.is_empty() {
        return base64(&[0; 12]);
    }
    let mut encoder = ZlibEncoder::new(vec![], Compression::default());
    // Writing to memory cannot fail.
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    let header = [1, bytes.len() as u32, 0, packed.len() as u32].map(u32::to_le_bytes);
    base64(header.as_flattened()) + &base64(&packed)
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
    let extent =
        |(body, s): (&delassus::world::Body, &BodyState)| s.pose.position.length() + body.bounding_radius();
    let farthest = world.bodies.iter().zip(&state.bodies).map(extent).fold(0.0, f64::max);
    if farthest > 0.0 { 2.0 * farthest } else { 1.0 }
}
