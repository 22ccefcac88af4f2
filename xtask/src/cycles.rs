//! Files beside each other that use each other.
//!
//! In every folder the files and folders beside each other form a graph: who uses whom, tests and comments
//! aside. Names that a front re-exports belong to the file that defines them. What a front itself defines
//! may be used by all files behind it: it owns the structs of its room. A cycle of files can only be read as
//! a whole: there is none.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{expand, production};

/// A module by the names on the way to it.
type Module = Vec<String>;
/// Who uses whom.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The cycles of a crate, from the paths within its `src` and the texts of its files.
pub fn check(src: &str, sources: &[(String, String)]) -> Vec<String> {
    let cycles = |(folder, graph): (String, Graph)| {
        let problem =
            move |cycle: Vec<String>| format!("{src}/{folder}: files use each other: {}", cycle.join(", "));
        components(&graph).into_iter().map(problem).collect::<Vec<_>>()
    };
    graphs(sources).into_iter().flat_map(cycles).collect()
}

/// The graph of every folder.
fn graphs(sources: &[(String, String)]) -> BTreeMap<String, Graph> {
    let files = || sources.iter().filter(|(path, _)| !path.ends_with("tests.rs"));
    let modules: BTreeSet<Module> = files().map(|(path, _)| module_of(path)).collect();
    let uses: Vec<(Module, Vec<(bool, String)>)> = files()
        .map(|(path, text)| {
            let module = module_of(path);
            let paths = paths(&module, &modules, &production(text));
            (module, paths)
        })
        .collect();
    let mut exports: BTreeMap<(Module, String), (Module, Vec<String>)> = BTreeMap::new();
    for (module, paths) in &uses {
        for (_, path) in paths.iter().filter(|(public, _)| *public) {
            if let Some((from, rest)) = locate(module, path, &modules)
                && let Some(name) = rest.first()
            {
                exports.insert((module.clone(), name.clone()), (from, rest));
            }
        }
    }
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for (module, paths) in &uses {
        for (_, path) in paths.iter().filter(|(public, _)| !public) {
            let Some((mut target, mut rest)) = locate(module, path, &modules) else { continue };
            while let Some(name) = rest.first()
                && let Some((from, names)) = exports.get(&(target.clone(), name.clone()))
                && *from != target
            {
                (target, rest) = (from.clone(), names.clone());
            }
            let common = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(own), Some(other)) = (module.get(common), target.get(common)) {
                let graph = graphs.entry(module[..common].join("/")).or_default();
                graph.entry(own.clone()).or_default().insert(other.clone());
            }
        }
    }
    graphs
}

/// The module of a file.
fn module_of(path: &str) -> Module {
    let mut names: Module = path.trim_end_matches(".rs").split('/').map(str::to_string).collect();
    if names.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// The paths that a module names, and whether it re-exports them.
fn paths(module: &Module, modules: &BTreeSet<Module>, words: &[&str]) -> Vec<(bool, String)> {
    let mut found = vec![];
    for at in 0..words.len() {
        if at > 0 && words[at - 1] == "::" || words.get(at + 1) != Some(&"::") {
            continue;
        }
        let child = modules.contains(&[&module[..], &[words[at].to_string()]].concat());
        if !child && !matches!(words[at], "crate" | "super" | "self") {
            continue;
        }
        let public = at > 1 && words[at - 1] == "use" && matches!(words[at - 2], "pub" | ")");
        let mut expanded = vec![];
        expand(&mut &words[at..], "", &mut expanded);
        found.extend(expanded.into_iter().map(|path| (public, path)));
    }
    found
}

/// The module that a path leads to, and the names behind it.
fn locate(module: &Module, path: &str, modules: &BTreeSet<Module>) -> Option<(Module, Vec<String>)> {
    let path = path.split(" as ").next()?;
    let mut names = path.split("::").filter(|name| !name.is_empty()).peekable();
    let mut here = module.clone();
    match *names.peek()? {
        "crate" => {
            here.clear();
            names.next();
        }
        "self" => _ = names.next(),
        _ => {
            while names.next_if_eq(&"super").is_some() {
                here.pop()?;
            }
        }
    }
    while let Some(name) = names.peek()
        && modules.contains(&[&here[..], &[name.to_string()]].concat())
    {
        here.extend(names.next().map(str::to_string));
    }
    Some((here, names.map(str::to_string).collect()))
}

/// The largest sets whose members all reach each other, of two or more.
fn components(graph: &Graph) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(here) = next.pop() {
            for other in graph.get(here).into_iter().flatten() {
                if seen.insert(other.clone()) {
                    next.push(other);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|name| (name, reach(name))).collect();
    let mut done = BTreeSet::new();
    let mut found = vec![];
    for (name, others) in &reached {
        let members: Vec<String> = others
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(*name)))
            .cloned()
            .collect();
        if members.len() > 1 && done.insert(members.clone()) {
            found.push(members);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        check("crates/other/src", &sources)
    }

    #[test]
    fn files_that_use_each_other_are_found_however_they_are_named() {
        for import in
            ["use super::b::B;", "use crate::room::{b::B};", "use super::{B, C};", "fn f() -> super::b::B {}"]
        {
            let files = [
                ("lib.rs", "mod room;"),
                ("room/mod.rs", "mod a;\nmod b;\npub use b::B;\npub struct C;"),
                ("room/a.rs", import),
                ("room/b.rs", "use super::a::A;"),
            ];
            assert_eq!(found(&files), ["crates/other/src/room: files use each other: a, b"], "{import}");
        }
    }

    #[test]
    fn a_front_may_be_used_by_its_files_and_tests_may_use_all() {
        let files = [
            ("lib.rs", "mod room;"),
            ("room/mod.rs", "mod a;\nmod b;\nuse a::A;\npub struct C;"),
            (
                "room/a.rs",
                "use super::C;\n// use super::b::B;\n#[cfg(test)]\nmod tests { use super::super::b::B; }",
            ),
            ("room/b.rs", "use super::a::A;"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn folders_count_as_one() {
        let files = [
            ("lib.rs", "mod room;"),
            ("room/mod.rs", "mod a;\nmod b;"),
            ("room/a.rs", "use super::b::deep::D;"),
            ("room/b/mod.rs", "mod deep;\nmod other;"),
            ("room/b/deep.rs", "pub struct D;"),
            ("room/b/other.rs", "use super::super::a::A;"),
        ];
        assert_eq!(found(&files), ["crates/other/src/room: files use each other: a, b"]);
    }
}
