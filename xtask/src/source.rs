//! Reading the repository: files by extension, functions and tests in Rust source, by lines rather than by a
//! parser.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// All files under `folder` with the extension, in order of their paths; none where the folder does not
/// exist. Build outputs and hidden folders are left out.
pub fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A file's text, with its path in the error.
pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A path as it is written in prose: relative to the repository, with slashes.
pub fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// A function of the source text.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, without path and generics.
    pub name: String,
    /// Whether `#[test]` stands among its attributes.
    pub test: bool,
}

/// The functions of a Rust source file. A test inside `proptest!` carries `#[test]` as well, so one rule
/// serves both.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut test = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(name) = function_name(line) {
            found.push(Function { name, test });
            test = false;
        } else if line.starts_with("#[") || line.starts_with("#![") {
            test |= line.starts_with("#[test]");
        } else if !(line.is_empty() || line.starts_with("//")) {
            test = false;
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let mut rest = line;
    loop {
        if let Some(after) = rest.strip_prefix("fn ") {
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
            return (end > 0).then(|| after[..end].to_string());
        }
        rest = ["pub(crate) ", "pub(super) ", "pub ", "const ", "#[test] "]
            .iter()
            .find_map(|prefix| rest.strip_prefix(prefix))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_their_tests_are_found() {
        let text = "
            pub fn plain<'a>(x: &'a f64) -> f64 { *x }
            #[test]
            fn first() {}
            #[test]
            /// documented
            #[allow(dead_code)]
            fn second() {}
            #[test]
            struct NotAFunction;
            pub(crate) const fn third() {}
            // fn commented() {}
            proptest! {
                #[test]
                fn inside(x in 0..1) {}
            }";
        let found = functions(text);
        let names: Vec<(&str, bool)> = found.iter().map(|f| (f.name.as_str(), f.test)).collect();
        assert_eq!(
            names,
            [("plain", false), ("first", true), ("second", true), ("third", false), ("inside", true)]
        );
    }
}
