//! The house: rooms without cycles, entered by their fronts, in files that a person can keep in mind.
//!
//! A room is a file or folder directly under the `src` of a crate. The root of the crate (`lib.rs` or
//! `main.rs`) is one more where rooms use what it defines. Rust itself keeps others out of the files behind a
//! front, as long as the front declares them private; that, and what the compiler does not know, is checked
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cycles;
use crate::source::{expand, files, function_name, production, read, relative, tokens};

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
    let mut open = BTreeSet::new();
    let architecture = read(&root.join("ARCHITECTURE.md"))?;
    // The libraries and the program; tests, benches and tasks may reach into any room.
    let crates = std::fs::read_dir(root.join("crates")).map_err(|error| format!("crates: {error}"))?;
    let mut crates: Vec<_> = crates.flatten().map(|entry| relative(root, &entry.path())).collect();
    crates.sort();
    for src in crates.iter().map(|name| format!("{name}/src")) {
        let sources = sources(root, &src)?;
        let graph = imports(&sources);
        problems.extend(
            cycle(&graph).map(|path| format!("{src}: rooms import each other: {}", path.join(" → "))),
        );
        problems.extend(cycles::check(&src, &sources));
        for (path, text) in sources.iter().filter(|(path, _)| !is_root(path)) {
            for module in public_modules(path, text) {
                if root.join(&src).join(&module).is_dir() {
                    open.insert(format!("{src}/{module}/"));
                } else {
                    problems
                        .push(format!("{src}/{path}: the file {module}.rs can be entered past its front"));
                }
            }
        }
        for room in graph.keys().filter(|room| root.join(&src).join(room).is_dir()) {
            rooms += 1;
            if !architecture.contains(&format!("`{src}/{room}/`")) {
                problems.push(format!("ARCHITECTURE.md does not name the room {src}/{room}/"));
            }
        }
    }
    problems.extend(open_folders(&architecture, &open));
    let mut doors = 0;
    let mut crowd: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["crates", "xtask", "bench", "fuzz"] {
        for path in files(&root.join(folder), "rs").map_err(|error| format!("{folder}: {error}"))? {
            let text = read(&path)?;
            let place = relative(root, &path);
            let (parent, _) = place.rsplit_once('/').unwrap_or(("", &place));
            *crowd.entry(parent.to_string()).or_default() += 1;
            let crate_visible = [&["pub", "(", "crate", ")"][..], &["pub", "(", "in", "crate", ")"]];
            let words = tokens(&text);
            doors += crate_visible.iter().map(|door| count(&words, door)).sum::<usize>();
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

/// Whether a file is the root of its crate.
fn is_root(path: &str) -> bool {
    matches!(path, "lib.rs" | "main.rs")
}

/// Which rooms each room imports, tests and comments aside. What the root re-exports belongs to the room that
/// it comes from; what the root defines, to the root.
fn imports(sources: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let rooms: BTreeSet<&str> = sources.iter().map(|(path, _)| room_of(path)).collect();
    let mut exports: BTreeMap<String, String> = BTreeMap::new();
    let roots = || sources.iter().filter(|(path, _)| is_root(path));
    for path in roots().flat_map(|(_, text)| use_paths(&production(text), true)) {
        let path: Vec<&str> = path.split("::").filter(|part| !matches!(*part, "crate" | "self")).collect();
        if let [room, .., name] = path[..] {
            let (_, name) = name.split_once(" as ").unwrap_or(("", name));
            exports.insert(name.to_string(), room.to_string());
        }
    }
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| !path.ends_with("/tests.rs")) {
        let room = room_of(path);
        let words = production(text);
        let mut names: Vec<String> = Vec::new();
        if is_root(path) {
            // In the root, a room is in scope by its name alone. Re-exports are no use of their own.
            names.extend(use_paths(&words, false));
            let calls = words.windows(2).filter(|pair| pair[1] == "::").map(|pair| pair[0].to_string());
            let exported: BTreeSet<&String> = exports.values().collect();
            names.extend(calls.filter(|name| !exported.contains(name)));
            names.retain(|name| rooms.contains(name.split("::").next().unwrap_or(name)));
        } else {
            names.extend(crate_paths(path, &words));
        }
        let found = graph.entry(room.to_string()).or_default();
        for name in names {
            let name = name.split([':', ' ']).next().unwrap_or(&name);
            let root = roots().map(|(path, _)| room_of(path)).next();
            let target = match exports.get(name) {
                _ if rooms.contains(name) => Some(name),
                Some(room) => Some(room.as_str()).filter(|room| rooms.contains(room)),
                None => root,
            };
            found.extend(target.filter(|target| *target != room).map(str::to_string));
        }
    }
    graph
}

/// The paths that a file takes from the root of its crate, written from there: those that begin with `crate`,
/// and those that climb there by `super`. A group yields one path for each of its members.
fn crate_paths(file: &str, words: &[&str]) -> Vec<String> {
    let depth = file.split('/').filter(|part| *part != "mod.rs").count();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 && words[at - 1] == "::" || words.get(at + 1) != Some(&"::") {
            continue;
        }
        let climbs = words[at..].chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
        if *word == "crate" {
            expand(&mut &words[at + 2..], "", &mut found);
        } else if climbs >= depth {
            expand(&mut &words[at + 2 * climbs..], "", &mut found);
        }
    }
    found
}

/// The paths of the `use` items of a file, public (re-exports) or private.
fn use_paths(words: &[&str], public: bool) -> Vec<String> {
    let mut found = Vec::new();
    for at in (0..words.len()).filter(|&at| words[at] == "use") {
        let exports = at > 0 && matches!(words[at - 1], "pub" | ")");
        if exports == public {
            expand(&mut &words[at + 1..], "", &mut found);
        }
    }
    found
}

/// How often a run of words stands in a text.
fn count(words: &[&str], run: &[&str]) -> usize {
    words.windows(run.len()).filter(|window| *window == run).count()
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

/// The modules in other files that a file opens to others past itself, as paths without their ending.
fn public_modules(path: &str, text: &str) -> Vec<String> {
    let folder = path.strip_suffix("mod.rs").map_or(path.replace(".rs", "/"), str::to_string);
    let words = production(text);
    let declared = (1..words.len()).filter(|&at| words[at] == "mod" && words.get(at + 2) == Some(&";"));
    let open = declared.filter(|&at| matches!(words[at - 1], "pub" | ")"));
    open.map(|at| format!("{folder}{}", words[at + 1])).collect()
}

/// Folders inside a room that are open, or are said to be, against what ARCHITECTURE.md lists.
fn open_folders(architecture: &str, open: &BTreeSet<String>) -> Vec<String> {
    let named: BTreeSet<String> = architecture
        .split('`')
        .filter(|path| {
            path.ends_with('/')
                && path.split_once("/src/").is_some_and(|(_, in_src)| in_src.matches('/').count() > 1)
        })
        .map(str::to_string)
        .collect();
    let hidden =
        open.difference(&named).map(|path| format!("ARCHITECTURE.md does not list the open folder {path}"));
    let closed =
        named.difference(open).map(|path| format!("ARCHITECTURE.md lists {path} as open, but it is not"));
    hidden.chain(closed).collect()
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
        if test || function_name(line).is_none() {
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
        for visibility in ["pub", "pub(super)", "pub(in crate::a)", "pub const", "pub(crate) async"] {
            assert_eq!(
                measures("crates/a/src/b.rs", &format!("{visibility} {long}")).len(),
                1,
                "{visibility}"
            );
        }
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
    fn fronts_open_no_file() {
        let open = |text| public_modules("a/mod.rs", text);
        assert!(
            open("mod b;\nuse x;\n// pub mod c;\n#[cfg(test)]\npub mod fixtures;\npub mod d { }").is_empty()
        );
        assert_eq!(open("pub mod b;"), ["a/b"]);
        assert_eq!(open("pub(crate) mod b;"), ["a/b"]);
        assert_eq!(open("#[allow(dead_code)] pub mod b; // a remark"), ["a/b"]);
        assert_eq!(open("#[cfg(test)]\nmod tests { fn f() {} }\npub(in crate::a)\nmod b;"), ["a/b"]);
        assert_eq!(public_modules("a/c.rs", "pub mod b;"), ["a/c/b"]);
    }

    #[test]
    fn open_folders_are_listed() {
        let open = BTreeSet::from(["crates/a/src/b/c/".to_string()]);
        assert!(
            open_folders("`crates/a/src/b/` and `crates/a/src/b/c/`, `crates/a/src/b/d.rs`", &open)
                .is_empty()
        );
        assert_eq!(open_folders("`crates/a/src/b/`", &open).len(), 1);
        assert_eq!(open_folders("`crates/a/src/b/c/` `crates/a/src/b/e/`", &open).len(), 1);
    }

    /// Whether room `a` imports room `b` by this text in the file.
    fn a_imports_b(file: &str, text: &str) -> bool {
        let root = "mod a;\npub mod b;\n#[cfg(test)] mod c;\npub use b::{deep::Item, Other as Renamed};\n";
        let all = [source("lib.rs", root), source("b.rs", ""), source(file, text)];
        imports(&all)["a"].contains("b")
    }

    #[test]
    fn imports_are_found_however_they_are_written() {
        for text in [
            "use crate::{x::Y, b::Z};",
            "use crate::{\n    x::{self, Y},\n    b,\n};",
            "fn f() -> crate::b::Z { todo() }",
            "macro_rules! m { () => { $crate::b::Z } }",
            "use crate::Item;",
            "use crate::{x, Renamed};",
            "use crate::{x as y, Item as Z};",
            "const K: u8 = crate::Item as u8;",
            "#[cfg(test)]\nmod tests {\n    fn f() {}\n}\nuse crate::b::Z;",
        ] {
            assert!(a_imports_b("a/mod.rs", text), "{text}");
            assert!(a_imports_b("a/inner.rs", text), "{text}");
            assert!(a_imports_b("a.rs", text), "{text}");
        }
        for (file, text) in [
            ("a/mod.rs", "use super::b::Z;"),
            ("a.rs", "fn f() { super::{x, b}; super::b::g() }"),
            ("a/inner.rs", "use super::super::b::Z;"),
            ("a/inner/mod.rs", "use super::super::{x::Y, Item};"),
        ] {
            assert!(a_imports_b(file, text), "{file}: {text}");
        }
        for (file, text) in [
            ("a/mod.rs", "// use crate::b::Z;\nuse crate::a::b::Z;\nuse x::b::Z;\nuse crate::Other;"),
            ("a/mod.rs", "#[cfg(test)]\n#[allow(unused)]\nmod tests { use crate::b::Z; }"),
            ("a/inner.rs", "use super::b::Z;"),
            ("a/inner/deep.rs", "use super::super::b::Z;"),
        ] {
            assert!(!a_imports_b(file, text), "{file}: {text}");
        }
    }

    #[test]
    fn what_the_root_defines_is_a_room() {
        let root = |text| [source("lib.rs", text), source("a.rs", "use crate::Thing;"), source("b.rs", "")];
        assert_eq!(cycle(&imports(&root("mod a; mod b; pub struct Thing; fn f() { b::g() }"))), None);
        let found = cycle(&imports(&root("mod a; mod b; pub struct Thing; fn f() { a::g() }"))).unwrap();
        assert_eq!(found, ["a", "lib", "a"]);
        assert!(cycle(&imports(&root("mod a; mod b; use a::X; pub struct Thing;"))).is_some());
        assert_eq!(cycle(&imports(&root("mod a; mod b; pub use b::Thing; pub use a::X;"))), None);
    }
}
