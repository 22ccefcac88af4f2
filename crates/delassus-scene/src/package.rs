//! Where the meshes of a URDF are.
//!
//! `package://NAME/path` is looked for as ROS does: in the folder that was given for the package, else in
//! the nearest folder above the file that is called NAME, holds a folder of that name, or has a
//! `package.xml` that says so.

use std::path::{Path, PathBuf};

use crate::mesh_file::MeshError;

/// The file that a `filename` names.
pub(super) fn resolve(
    name: &str,
    folder: Option<&Path>,
    packages: &[(String, PathBuf)],
) -> Result<PathBuf, MeshError> {
    let Some(rest) = name.strip_prefix("package://").or(name.strip_prefix("model://")) else {
        let local = Path::new(name.strip_prefix("file://").unwrap_or(name));
        return match folder {
            _ if local.is_absolute() => Ok(local.to_path_buf()),
            Some(folder) => Ok(folder.join(local)),
            None => Err(MeshError::NoFolder),
        };
    };
    let rest = rest.trim_start_matches('/');
    let (package, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some((_, folder)) = packages.iter().find(|(name, _)| name == package) {
        return Ok(folder.join(path));
    }
    let folder = folder.ok_or(MeshError::NoFolder)?;
    // A relative path has no folders above it.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let candidates = folder.ancestors().flat_map(|above| {
        let called = above.file_name().is_some_and(|n| n == package) || is_package(above, package);
        let inside = above.join(package);
        [called.then(|| above.to_path_buf()), inside.is_dir().then_some(inside)]
    });
    let mut found = candidates.flatten().map(|folder| folder.join(path));
    let first = found.next();
    match first {
        Some(file) if !file.exists() => Ok(found.find(|other| other.exists()).unwrap_or(file)),
        Some(file) => Ok(file),
        None => Err(MeshError::NoPackage { package: delassus::formula::clip(package) }),
    }
}

/// Whether the `package.xml` of a folder has this name.
fn is_package(folder: &Path, name: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(folder.join("package.xml")) else { return false };
    let Ok(document) = roxmltree::Document::parse(&text) else { return false };
    let root = document.root_element();
    root.children().any(|n| n.tag_name().name() == "name" && n.text().map(str::trim) == Some(name))
}
