//! Triangles from Wavefront `.obj`, `.stl` (text and binary), COLLADA `.dae` and MuJoCo's `.msh` files,
//! heights from pictures, and tables of numbers.
//!
//! Of an `.obj` only corners (`v`) and faces (`f`) are read; a face of more than three corners is cut into
//! triangles. The corners that an `.stl` writes once per triangle become one where their numbers are the
//! same.

mod collada;
mod heights;
mod parts;
mod polygon;

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;
use thiserror::Error;

use delassus::formula::clip;

use collada::parse_collada;
pub(super) use heights::{Heights, read_heights};
pub(super) use parts::kept_parts;
use polygon::triangles_of;

/// The largest mesh file that is read, in bytes.
pub const MAX_MESH: u64 = 1 << 28;

/// Corners and triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Corners.
    pub vertices: Vec<DVec3>,
    /// Corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// What is wrong with a mesh file.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// It cannot be opened or read.
    #[error("cannot be read: {message}")]
    Unreadable {
        /// The error of the operating system.
        message: String,
    },
    /// A file of parts that cannot be written.
    #[error("its convex parts cannot be kept: {file}: {message}")]
    Unwritable {
        /// The file.
        file: String,
        /// The error of the operating system.
        message: String,
    },
    /// Files cannot be read from here: the text came without a folder.
    #[error("there is no folder to look for it")]
    NoFolder,
    /// Larger than what is read.
    #[error("it has {bytes} bytes, expected at most {MAX_MESH}")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// A package that is not above the file.
    #[error("no package `{package}` is above the file; --package {package}=FOLDER says where it is")]
    NoPackage {
        /// Its name.
        package: String,
    },
    /// None of the formats that are read.
    #[error("expected a name that ends in .obj, .stl, .dae or .msh")]
    UnknownFormat,
    /// A line that cannot be read.
    #[error("line {line} is `{found}`, expected {expected}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A binary file that ends too early, or too late.
    #[error("it has {found} bytes, expected {expected} for its {triangles} triangles")]
    Length {
        /// Its size.
        found: u64,
        /// The size that its header announces.
        expected: u64,
        /// How many triangles its header announces.
        triangles: u32,
    },
    /// NaN or infinity in a binary file.
    #[error("triangle {triangle} has a corner that is not finite, or not there")]
    NotFinite {
        /// Its number, from 1.
        triangle: usize,
    },
    /// A picture that is none, or larger than what is read.
    #[error("it is no picture that can be read: {message}")]
    Picture {
        /// What is wrong with it.
        message: String,
    },
    /// A file of heights that has not what its header says.
    #[error(
        "expected a .png, or two whole numbers from 2 to 4096 and so many rows and columns of finite numbers"
    )]
    Heights,
    /// No triangles.
    #[error("it has no triangles")]
    Empty,
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, MeshError> {
    let unreadable = |e: std::io::Error| MeshError::Unreadable { message: e.to_string() };
    let size = std::fs::metadata(path).map_err(unreadable)?;
    if !size.is_file() {
        return Err(MeshError::Unreadable { message: "not a file".to_string() });
    }
    if size.len() > MAX_MESH {
        return Err(MeshError::TooLarge { bytes: size.len() });
    }
    std::fs::read(path).map_err(unreadable)
}

/// Reads a mesh, by the extension of its name.
pub fn read_mesh(path: &Path) -> Result<Triangles, MeshError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let mesh = match extension.as_deref() {
        Some("obj") => parse_obj(&String::from_utf8_lossy(&read_bytes(path)?))?,
        Some("stl") => parse_stl(&read_bytes(path)?)?,
        Some("dae") => parse_collada(&String::from_utf8_lossy(&read_bytes(path)?))?,
        Some("msh") => parse_msh(&read_bytes(path)?)?,
        _ => return Err(MeshError::UnknownFormat),
    };
    if mesh.triangles.is_empty() { Err(MeshError::Empty) } else { Ok(mesh) }
}

/// Reads rows of numbers, one row a line, with spaces or commas between the numbers; `#` begins a comment.
pub fn read_numbers(path: &Path) -> Result<Vec<Vec<f64>>, MeshError> {
    let bytes = read_bytes(path)?;
    let mut rows = Vec::new();
    for (i, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let words = content.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        let row: Option<Vec<f64>> = words.map(finite).collect();
        match row {
            None => return bad_line(i, line, "numbers"),
            Some(row) if row.is_empty() => {}
            Some(row) => rows.push(row),
        }
    }
    Ok(rows)
}

fn bad_line<T>(i: usize, line: &str, expected: &'static str) -> Result<T, MeshError> {
    Err(MeshError::Line { line: i + 1, found: clip(line.trim()), expected })
}

fn finite(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|x| x.is_finite())
}

/// The next three numbers of a line.
fn corner<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<DVec3> {
    let mut next = || words.next().and_then(finite);
    Some(DVec3::new(next()?, next()?, next()?))
}

fn parse_obj(text: &str) -> Result<Triangles, MeshError> {
    let mut mesh = Triangles::default();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => match corner(words) {
                Some(v) => mesh.vertices.push(v),
                None => return bad_line(i, line, "v and three numbers"),
            },
            Some("f") => {
                let n = mesh.vertices.len() as i64;
                // `7/1/3` is corner 7 with texture and normal; -1 is the last corner so far.
                let index = |word: &str| -> Option<u32> {
                    let k: i64 = word.split('/').next()?.parse().ok()?;
                    let k = if k < 0 { n + k } else { k - 1 };
                    if (0..n).contains(&k) { u32::try_from(k).ok() } else { None }
                };
                let corners: Option<Vec<u32>> = words.map(index).collect();
                match corners {
                    Some(c) if c.len() >= 3 => {
                        mesh.triangles.extend(triangles_of(&mesh.vertices, &c));
                    }
                    _ => return bad_line(i, line, "f and three or more corners that stand above"),
                }
            }
            _ => {}
        }
    }
    Ok(mesh)
}

/// Corners that occur more than once become one.
#[derive(Default)]
struct Merge {
    mesh: Triangles,
    seen: BTreeMap<[u64; 3], u32>,
}

impl Merge {
    fn corner(&mut self, v: DVec3) -> u32 {
        // −0 and 0 are the same place.
        let key = (v + DVec3::ZERO).to_array().map(f64::to_bits);
        *self.seen.entry(key).or_insert_with(|| {
            self.mesh.vertices.push(v);
            self.mesh.vertices.len() as u32 - 1
        })
    }

    fn triangle(&mut self, corners: [DVec3; 3]) {
        let t = corners.map(|v| self.corner(v));
        // A triangle that has shrunk to an edge holds nothing.
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            self.mesh.triangles.push(t);
        }
    }
}

fn parse_stl(bytes: &[u8]) -> Result<Triangles, MeshError> {
    // Binary files may begin with `solid` too: the length decides first.
    let announced = bytes.get(80..84).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let expected = announced.map(|n| 84 + 50 * u64::from(n));
    let found = bytes.len() as u64;
    if expected != Some(found) && bytes.starts_with(b"solid") {
        return parse_stl_text(&String::from_utf8_lossy(bytes));
    }
    let triangles = announced.unwrap_or(0);
    match expected {
        Some(expected) if expected == found => {}
        _ => return Err(MeshError::Length { found, expected: expected.unwrap_or(84), triangles }),
    }
    let mut merge = Merge::default();
    for (i, record) in bytes[84..].chunks_exact(50).enumerate() {
        let number = |k: usize| {
            let b = &record[12 + 4 * k..16 + 4 * k];
            f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        let corners = [0, 3, 6].map(|k| DVec3::new(number(k), number(k + 1), number(k + 2)));
        if corners.iter().any(|v| !v.is_finite()) {
            return Err(MeshError::NotFinite { triangle: i + 1 });
        }
        merge.triangle(corners);
    }
    Ok(merge.mesh)
}

/// Numbers of corners, normals, texture coordinates and faces, then their data, all of four bytes.
fn parse_msh(bytes: &[u8]) -> Result<Triangles, MeshError> {
    let word = |k: usize| bytes.get(4 * k..4 * k + 4).map(|b| [b[0], b[1], b[2], b[3]]);
    let count = |k: usize| word(k).map_or(0, |b| i32::from_le_bytes(b).max(0) as u64);
    let [corners, normals, textures, faces] = [0, 1, 2, 3].map(count);
    let expected = 4 * (4 + 3 * corners + 3 * normals + 2 * textures + 3 * faces);
    let found = bytes.len() as u64;
    if found != expected {
        return Err(MeshError::Length {
            found,
            expected,
            triangles: u32::try_from(faces).unwrap_or(u32::MAX),
        });
    }
    let mut mesh = Triangles::default();
    let number = |k: usize| word(k).map_or(f64::NAN, |b| f64::from(f32::from_le_bytes(b)));
    for i in 0..corners as usize {
        let v = DVec3::new(number(4 + 3 * i), number(5 + 3 * i), number(6 + 3 * i));
        if !v.is_finite() {
            return Err(MeshError::NotFinite { triangle: i + 1 });
        }
        mesh.vertices.push(v);
    }
    let first = (4 + 3 * corners + 3 * normals + 2 * textures) as usize;
    for i in 0..faces as usize {
        let corner = |k: usize| word(first + 3 * i + k).map_or(u32::MAX, u32::from_le_bytes);
        let t = [corner(0), corner(1), corner(2)];
        if t.iter().any(|c| u64::from(*c) >= corners) {
            return Err(MeshError::NotFinite { triangle: i + 1 });
        }
        mesh.triangles.push(t);
    }
    Ok(mesh)
}

fn parse_stl_text(text: &str) -> Result<Triangles, MeshError> {
    let mut merge = Merge::default();
    let mut corners = Vec::with_capacity(3);
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("vertex") => match corner(words) {
                Some(v) => corners.push(v),
                None => return bad_line(i, line, "vertex and three numbers"),
            },
            Some("endfacet") => match corners[..] {
                [a, b, c] => {
                    merge.triangle([a, b, c]);
                    corners.clear();
                }
                _ => return bad_line(i, line, "three corners before it"),
            },
            _ => {}
        }
    }
    Ok(merge.mesh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TETRAHEDRON: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.5]];
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    #[test]
    fn obj_with_normals_negative_indices_and_a_quad() {
        let text = "# a square and a triangle\nv 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2//1 3 4\nv 0 0 1\nf -1 -5 -4\n";
        let mesh = parse_obj(text).unwrap();
        assert_eq!(mesh.vertices.len(), 5);
        assert_eq!(mesh.triangles, vec![[0, 1, 3], [1, 2, 3], [4, 0, 1]]);
        for bad in ["v 1 2", "v 1 2 nan", "f 1 2 3", "v 0 0 0\nf 1 1", "v 0 0 0\nf 0 1 1", "v 0 0 0\nf 1 1 9"]
        {
            assert!(matches!(parse_obj(bad), Err(MeshError::Line { .. })), "{bad}");
        }
    }

    #[test]
    fn text_and_binary_stl_are_the_same_tetrahedron() {
        let mut text = String::from("solid t\n");
        let mut binary = b"solid but binary".to_vec();
        binary.resize(80, b' ');
        binary.extend(4_u32.to_le_bytes());
        for face in FACES {
            text += "facet normal 0 0 0\nouter loop\n";
            binary.extend([0; 12]);
            for [x, y, z] in face.map(|i| TETRAHEDRON[i]) {
                text += &format!("vertex {x} {y} {z}\n");
                [x, y, z].iter().for_each(|c| binary.extend((*c as f32).to_le_bytes()));
            }
            text += "endloop\nendfacet\n";
            binary.extend([0; 2]);
        }
        let mesh = parse_stl(text.as_bytes()).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
        assert_eq!(parse_stl(&binary).unwrap(), mesh);
        binary.pop();
        assert!(matches!(
            parse_stl_of_length(&binary),
            MeshError::Length { found: 283, expected: 284, triangles: 4 }
        ));
    }

    /// The error of a binary file whose header does not say `solid`.
    fn parse_stl_of_length(bytes: &[u8]) -> MeshError {
        let mut bytes = bytes.to_vec();
        bytes[0] = b'x';
        parse_stl(&bytes).unwrap_err()
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_mesh_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), words in "(v|f|vertex|endfacet|[ 0-9./-]|\n){0,80}") {
            let _ = parse_stl(&bytes);
            for text in [words.clone(), format!("solid\n{words}")] {
                for mesh in [parse_obj(&text), parse_stl(text.as_bytes())].into_iter().flatten() {
                    prop_assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.vertices.len()));
                }
            }
        }
    }
}
