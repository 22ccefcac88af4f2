//! Files beside each other that use each other.
//!
//! In every folder the files and folders beside each other form a graph: who uses whom, tests and comments
//! aside. Names that a front re-exports belong to the file that defines them. What a front itself defines
//! may be used by all files behind it: it owns the structs of its room. A cycle of files can only be read as
//! a whole, so that none is added; those that are there are listed below.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{expand, production};

/// Cycles that are accepted, by crate and folder, with the number of files in them: these may shrink.
const ACCEPTED: [(&str, &str, usize); 6] = [
    // The parts of a world and what changes them.
    ("crates/delassus/src", "analysis", 3),
    // Plan, start and targets of a substep are types of the files that use them.
    ("crates/delassus/src", "stepping", 15),
    // A body has joints, joints have drafts of bodies, and keyframes set both.
    ("crates/delassus-scene/src", "mjcf", 3),
    // The list of propositions of a paper and its two halves.
    ("crates/delassus-solve/src", "analysis/theorems", 3),
    ("crates/delassus-solve/src", "analysis/theorems", 2),
    // A system keeps its contacts as rows and, where all are of balls, in fewer numbers.
    ("crates/delassus-solve/src", "contact/matrix_free", 2),
];

/// A module by the names on the way to it.
type Module = Vec<String>;
/// Who uses whom.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The cycles of a crate that are not accepted, from the paths within its `src` and the texts of its files.
pub fn check(src: &str, sources: &[(String, String)]) -> Vec<String> {
    let mut accepted: Vec<(&str, usize)> =
        ACCEPTED.iter().filter(|(name, ..)| *name == src).map(|(_, folder, size)| (*folder, *size)).collect();
    let mut problems = vec![];
    for (folder, graph) in graphs(sources) {
        for cycle in components(&graph) {
            let known = accepted.iter().position(|(name, size)| *name == folder && cycle.len() <= *size);
            match known {
                Some(at) => _ = accepted.remove(at),
                None => problems.push(format!("{src}/{folder}: files use each other: {}", cycle.join(", "))),
            }
        }
    }
    for (folder, _) in accepted {
        problems.push(format!("{src}/{folder}: a cycle of files is accepted that is none any more"));
    }
    problems
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

    #[test]
    fn what_is_accepted_and_gone_is_reported() {
        let files = [("lib.rs".to_string(), String::new())];
        assert_eq!(check("crates/delassus-scene/src", &files).len(), 1);
    }
}
