//! The convex parts of meshes, each mesh cut once and its parts kept in a folder.
//!
//! A file of parts is an `.obj` with an object for each part, so that any viewer shows it. Its name has that
//! of the mesh and a hash of its corners and triangles: a mesh that changes is cut again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::{MeshError, Triangles, read_bytes};
use delassus::collision::convex_parts;
use delassus::world::convex_hull;

/// First line of a file: one of another version is made anew.
const HEADER: &str = "# convex parts of a mesh, version 1\n";

/// The parts of a mesh, from their file where there is one; else they are made and kept there.
pub fn kept_parts(folder: &Path, name: &str, mesh: &Triangles) -> Result<Vec<Vec<DVec3>>, MeshError> {
    let path = file_of(folder, name, mesh);
    if path.exists() {
        let text = String::from_utf8_lossy(&read_bytes(&path)?).into_owned();
        if let Some(parts) = parse(&text) {
            return Ok(parts);
        }
    }
    let mut parts = convex_parts(&mesh.vertices, &mesh.triangles);
    parts.retain(|part| convex_hull(part).is_some());
    let unwritable = |e: std::io::Error| MeshError::Unwritable {
        file: path.display().to_string(),
        message: e.to_string(),
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    // Another run may write the same file: each has its own until it is whole.
    let draft = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&draft, write(&parts))
        .and_then(|()| std::fs::rename(&draft, &path))
        .map_err(unwritable)?;
    Ok(parts)
}

fn file_of(folder: &Path, name: &str, mesh: &Triangles) -> PathBuf {
    let numbers = mesh.vertices.iter().flat_map(|v| v.to_array()).map(f64::to_bits);
    let corners = mesh.triangles.iter().flatten().map(|i| u64::from(*i));
    let bytes = numbers.chain(corners).flat_map(u64::to_le_bytes);
    // FNV-1a.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = name.chars().take(60).map(plain).collect();
    folder.join(format!("{name}-{hash:016x}.obj"))
}

fn write(parts: &[Vec<DVec3>]) -> String {
    let (mut text, mut first) = (HEADER.to_string(), 1);
    for (k, part) in parts.iter().enumerate() {
        let _ = writeln!(text, "o part{k}");
        for p in part {
            let _ = writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z);
        }
        for [a, b, c] in convex_hull(part).unwrap_or_default() {
            let _ = writeln!(text, "f {} {} {}", first + a, first + b, first + c);
        }
        first += part.len() as u32;
    }
    text
}

/// The parts that a file has; `None` where it is none of ours.
fn parse(text: &str) -> Option<Vec<Vec<DVec3>>> {
    let mut parts: Vec<Vec<DVec3>> = Vec::new();
    for line in text.strip_prefix(HEADER)?.lines() {
        if line.starts_with("o ") {
            parts.push(Vec::new());
        } else if let Some(numbers) = line.strip_prefix("v ") {
            let numbers = numbers.split(' ').map(|word| word.parse().ok().filter(|x: &f64| x.is_finite()));
            let [x, y, z] = numbers.collect::<Option<Vec<f64>>>()?[..] else { return None };
            parts.last_mut()?.push(DVec3::new(x, y, z));
        }
    }
    parts.iter().all(|part| convex_hull(part).is_some()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron(at: f64) -> Triangles {
        let vertices = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|v| v + at * DVec3::X).to_vec();
        Triangles { vertices, triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] }
    }

    #[test]
    fn parts_are_made_once_and_again_where_the_mesh_or_the_file_changes() {
        let folder = std::env::temp_dir().join(format!("delassus-parts-{}", std::process::id()));
        let mesh = tetrahedron(1.0 / 3.0);
        let parts = kept_parts(&folder, "a/mesh", &mesh).unwrap();
        let path = file_of(&folder, "a/mesh", &mesh);
        assert!(path.file_name().unwrap().to_string_lossy().starts_with("a_mesh-"));
        assert_eq!(parse(&std::fs::read_to_string(&path).unwrap()), Some(parts.clone()));
        // What stands in the file counts, to the last bit.
        let moved: Vec<DVec3> = tetrahedron(0.1).vertices;
        std::fs::write(&path, write(std::slice::from_ref(&moved))).unwrap();
        assert_eq!(kept_parts(&folder, "a/mesh", &mesh).unwrap(), [moved]);
        for broken in
            ["", "# another\no part0\n", &format!("{HEADER}o part0\nv 1 2\n"), &format!("{HEADER}v 1 2 3\n")]
        {
            std::fs::write(&path, broken).unwrap();
            assert_eq!(kept_parts(&folder, "a/mesh", &mesh).unwrap(), parts);
        }
        assert_ne!(file_of(&folder, "a/mesh", &tetrahedron(0.0)), path);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
        // A file stands where the folder should.
        std::fs::write(&folder, "").unwrap();
        assert!(matches!(kept_parts(&folder, "mesh", &mesh), Err(MeshError::Unwritable { .. })));
        std::fs::remove_file(&folder).unwrap();
    }
}
