//! The house: rooms without cycles, entered by their fronts, in files that a person can keep in mind.
//!
//! A room is a file or folder directly under the `src` of a crate. Rust itself keeps others out of the files
//! behind a front, as long as the front declares them private; that, and what the compiler does not know, is
//! checked here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::{files, read, relative};

/// The libraries and the program; tests, benches and tasks may reach into any room.
const CRATES: [&str; 5] = ["delassus-solve", "delassus", "delassus-scene", "delassus-files", "delassus-cli"];
/// Lines of a source file, tests aside.
const MAX_FILE_LINES: usize = 600;
/// Lines of a function that has no reason beside it.
const MAX_FUNCTION_LINES: usize = 80;
/// Columns of a line; rustfmt keeps code within it but leaves comments alone.
const MAX_COLUMNS: usize = 110;
/// Source files in one folder.
const MAX_FOLDER_FILES: usize = 20;
/// Doors between rooms other than fronts.
const MAX_CRATE_VISIBLE: usize = 150;
/// How the comment above a longer function begins that says why it is one.
const REASON: &str = "// Long: ";

/// Returns what is out of order.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let mut rooms = 0;
    let architecture = read(&root.join("ARCHITECTURE.md"))?;
    for name in CRATES {
        let src = format!("crates/{name}/src");
        let sources = sources(root, &src)?;
        let graph = imports(&sources);
        problems.extend(
            cycle(&graph).map(|path| format!("{src}: rooms import each other: {}", path.join(" → "))),
        );
        for (path, text) in &sources {
            problems.extend(public_files(root, &src, path, text));
        }
        for room in graph.keys().filter(|room| root.join(&src).join(room).is_dir()) {
            rooms += 1;
            if !architecture.contains(&format!("`{src}/{room}/`")) {
                problems.push(format!("ARCHITECTURE.md does not name the room {src}/{room}/"));
            }
        }
    }
    let mut doors = 0;
    let mut crowd: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["crates", "xtask", "bench", "fuzz"] {
        for path in files(&root.join(folder), "rs").map_err(|error| format!("{folder}: {error}"))? {
            let text = read(&path)?;
            let place = relative(root, &path);
            let (parent, _) = place.rsplit_once('/').unwrap_or(("", &place));
            *crowd.entry(parent.to_string()).or_default() += 1;
            // This file names what it looks for.
            if place != "xtask/src/house.rs" {
                doors += text.matches("pub(crate)").count();
            }
            problems.extend(measures(&place, &text));
        }
    }
    if doors > MAX_CRATE_VISIBLE {
        problems.push(format!("{doors} times pub(crate), at most {MAX_CRATE_VISIBLE}"));
    }
    for (folder, count) in crowd.into_iter().filter(|(_, count)| *count > MAX_FOLDER_FILES) {
        problems.push(format!("{folder} has {count} source files, at most {MAX_FOLDER_FILES}"));
    }
    println!("{rooms} rooms, {doors} doors beside their fronts");
    Ok(problems)
}

/// Path within `src` and text of each source file of a crate.
fn sources(root: &Path, src: &str) -> Result<Vec<(String, String)>, String> {
    let folder = root.join(src);
    let paths = files(&folder, "rs").map_err(|error| format!("{src}: {error}"))?;
    paths.iter().map(|path| Ok((relative(&folder, path), read(path)?))).collect()
}

/// The room of a file: its first folder, or its own name where it lies at the top.
fn room_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// Which rooms each room imports, tests and comments aside.
fn imports(sources: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let all: BTreeSet<&str> = sources.iter().map(|(path, _)| room_of(path)).collect();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources {
        let room = room_of(path);
        if room == "lib" || room == "main" || path.ends_with("/tests.rs") {
            continue;
        }
        let found = graph.entry(room.to_string()).or_default();
        for line in production(text).filter(|line| !line.trim_start().starts_with("//")) {
            for (at, _) in line.match_indices("crate::") {
                let rest = &line[at + "crate::".len()..];
                let other: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if other != room && all.contains(other.as_str()) {
                    found.insert(other);
                }
            }
        }
    }
    graph
}

/// The lines of a file before its unit tests; a module of tests in a file of its own ends nothing.
fn production(text: &str) -> impl Iterator<Item = &str> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests].lines()
}

/// Rooms that lead from one back to itself.
fn cycle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn follow<'a>(
        graph: &'a BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> bool {
        let here = path[path.len() - 1];
        for next in graph.get(here).into_iter().flatten() {
            if let Some(first) = path.iter().position(|room| room == next) {
                path.drain(..first);
                path.push(next);
                return true;
            }
            if !done.contains(next.as_str()) {
                path.push(next);
                if follow(graph, path, done) {
                    return true;
                }
                path.pop();
            }
        }
        done.insert(here);
        false
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| {
        let mut path = vec![start.as_str()];
        follow(graph, &mut path, &mut done).then(|| path.into_iter().map(str::to_string).collect())
    })
}

/// Files that a front opens to others past itself. A folder has a front of its own and may be open.
fn public_files(root: &Path, src: &str, path: &str, text: &str) -> Vec<String> {
    let Some(folder) = path.strip_suffix("/mod.rs") else { return vec![] };
    let open = production(text).filter_map(|line| {
        let (visibility, name) = line.strip_suffix(';')?.split_once("mod ")?;
        (visibility.starts_with("pub") && !root.join(src).join(folder).join(name).is_dir()).then_some(name)
    });
    open.map(|name| format!("{src}/{path}: the file {name} can be entered past this front")).collect()
}

/// Files, functions and lines that are too long.
fn measures(place: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let test = place.contains("/tests/");
    if lines.len() > MAX_FILE_LINES && !test {
        problems.push(format!("{place}: {} lines, at most {MAX_FILE_LINES}", lines.len()));
    }
    let mut fenced = false;
    for (index, line) in lines.iter().enumerate() {
        let columns = line.chars().count();
        let comment = line.trim_start().trim_start_matches(['/', '!']).trim_start();
        let is_comment = line.trim_start().starts_with("//");
        // Equations and tables do not wrap.
        fenced ^= is_comment && comment.starts_with("```");
        if columns > MAX_COLUMNS && is_comment && !fenced && !comment.starts_with('|') {
            problems.push(format!("{place}:{}: a comment of {columns} columns", index + 1));
        }
        if test || !is_function(line) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let length = lines[index..].iter().position(|line| *line == end).map_or(1, |more| more + 1);
        let above = lines[..index].iter().rev().take_while(|line| {
            let line = line.trim_start();
            line.starts_with("//") || line.starts_with("#[")
        });
        let reason = above.into_iter().any(|line| line.trim_start().starts_with(REASON));
        if length > MAX_FUNCTION_LINES && !reason {
            problems.push(format!(
                "{place}:{}: a function of {length} lines without a line `{REASON}…` above it",
                index + 1
            ));
        }
    }
    problems
}

fn is_function(line: &str) -> bool {
    let mut rest = line.trim_start();
    while let Some(after) =
        ["pub(crate) ", "pub(super) ", "pub ", "const "].iter().find_map(|prefix| rest.strip_prefix(prefix))
    {
        rest = after;
    }
    rest.starts_with("fn ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> (String, String) {
        (path.to_string(), text.to_string())
    }

    #[test]
    fn rooms_that_import_each_other_are_found() {
        let mut all = vec![
            source("lib.rs", "pub mod a; pub mod b; use crate::a::X;"),
            source("a/mod.rs", "mod inner;\n// crate::c is only named here\n"),
            source("a/inner.rs", "use crate::b::Y;\nuse crate::a::other;\n"),
            source("b/mod.rs", "use crate::c::Z;\n"),
            source("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n"),
            source("c/tests.rs", "use crate::a::X;\n"),
        ];
        assert_eq!(cycle(&imports(&all)), None);
        all.push(source("c.rs", "fn f() { crate::a::g() }\n"));
        assert_eq!(cycle(&imports(&all)).unwrap(), ["a", "b", "c", "a"]);
    }

    #[test]
    fn long_functions_need_a_reason() {
        let body = "    let x = 1;\n".repeat(MAX_FUNCTION_LINES);
        let long = format!("fn f() {{\n{body}}}\n");
        assert_eq!(measures("crates/a/src/b.rs", &long).len(), 1);
        assert!(measures("crates/a/tests/b.rs", &long).is_empty());
        let reason = format!("/// Does it.\n{REASON}one list of cases reads best in one piece.\n{long}");
        assert!(measures("crates/a/src/b.rs", &reason).is_empty());
    }

    #[test]
    fn wide_comments_and_long_files_are_found() {
        let wide = format!("// {}\n", "x".repeat(MAX_COLUMNS));
        assert_eq!(measures("crates/a/tests/b.rs", &wide).len(), 1);
        let long = "let x = 1;\n".repeat(MAX_FILE_LINES + 1);
        assert_eq!(measures("crates/a/src/b.rs", &long).len(), 1);
    }

    #[test]
    fn only_folders_may_be_open() {
        let root = crate::root();
        let open = |text| public_files(&root, "crates/delassus-solve/src", "analysis/mod.rs", text);
        assert!(open("pub mod theorems;\nmod verify;\n").is_empty());
        assert_eq!(open("pub mod verify;\n").len(), 1);
        assert_eq!(open("pub(crate) mod verify;\n").len(), 1);
    }
}
