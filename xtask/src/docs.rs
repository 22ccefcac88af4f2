//! Prose that names files: the map of ARCHITECTURE.md, links between pages, commands of the README; and the
//! house that it describes.

use std::path::{Path, PathBuf};

use crate::house;
use crate::source::{files, read, relative};

/// Paths that exist on one machine only.
const MACHINE: [&str; 5] = ["/home/", "/root/", "/Users/", "/work/", "/tmp/"];

/// Returns the claims that are not true.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = code_map(root)?;
    problems.extend(house::check(root)?);
    let pages = pages(root)?;
    let mut links = 0;
    for page in &pages {
        let text = read(page)?;
        let place = relative(root, page);
        for (line, target) in links_of(&text) {
            links += 1;
            if let Some(problem) = dangling(page, &target)? {
                problems.push(format!("{place}:{line}: {problem}"));
            }
        }
    }
    problems.extend(summary(root)?);
    problems.extend(machine_paths(root, &pages)?);
    problems.extend(test_command(root)?);
    println!("{} pages, {links} links", pages.len());
    Ok(problems)
}

/// The Markdown pages of the repository: those at the root and those of the book.
fn pages(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| format!("{}: {error}", root.display()))?;
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages.extend(files(&root.join("book/src"), "md").map_err(|error| format!("book/src: {error}"))?);
    Ok(pages)
}

/// Each path in backticks exists.
fn code_map(root: &Path) -> Result<Vec<String>, String> {
    let text = read(&root.join("ARCHITECTURE.md"))?;
    let mut problems = Vec::new();
    let mut named = 0;
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for word in line.split('`').skip(1).step_by(2).filter(|word| looks_like_path(word)) {
            named += 1;
            if !exists(root, word) {
                problems.push(format!("ARCHITECTURE.md:{}: {word} does not exist", index + 1));
            }
        }
    }
    println!("{named} paths in ARCHITECTURE.md");
    Ok(problems)
}

/// A word in backticks that means a file or folder: it has a slash or a known extension, and nothing of code
/// or commands.
fn looks_like_path(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "/._-*".contains(c));
    let extension = [".rs", ".md", ".toml", ".lock", ".cff", ".svg"].iter().any(|end| word.ends_with(end));
    plain && word.chars().any(char::is_alphabetic) && (word.contains('/') || extension)
}

/// A star stands for any part of a file's name; then one file at least must match.
fn exists(root: &Path, word: &str) -> bool {
    let Some((before, after)) = word.split_once('*') else {
        return root.join(word).exists();
    };
    let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (end, deeper) = after.split_once('/').unwrap_or((after, ""));
        name.starts_with(start)
            && name.ends_with(end)
            && (deeper.is_empty() || entry.path().join(deeper).exists())
    })
}

/// The first link of a text: what stands before it, its label, its target, what stands after it.
pub fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let open = text[..middle].rfind('[')?;
    let close = middle + text[middle..].find(')')?;
    Some((&text[..open], &text[open + 1..middle], &text[middle + 2..close], &text[close + 1..]))
}

/// Links outside of code, each with its line from 1.
fn links_of(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let mut rest = if fenced { "" } else { line };
        while let Some((_, _, target, after)) = next_link(rest) {
            found.push((index + 1, target.to_string()));
            rest = after;
        }
    }
    found
}

fn dangling(page: &Path, target: &str) -> Result<Option<String>, String> {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return Ok(None);
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        page.to_path_buf()
    } else {
        page.parent().map(|folder| folder.join(file)).unwrap_or_default()
    };
    if !path.exists() {
        return Ok(Some(format!("link to {file}, which does not exist")));
    }
    if !anchor.is_empty() && path.extension().is_some_and(|extension| extension == "md") {
        let text = read(&path)?;
        if !text.lines().filter_map(heading).any(|heading| anchor_of(heading) == anchor) {
            return Ok(Some(format!("link to {target}: no heading with that anchor")));
        }
    }
    Ok(None)
}

fn heading(line: &str) -> Option<&str> {
    line.starts_with('#').then(|| line.trim_start_matches('#').trim())
}

/// The anchor that mdBook and code forges give to a heading.
fn anchor_of(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// SUMMARY.md lists every page of the book.
fn summary(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("book/src");
    let listed: Vec<String> =
        links_of(&read(&folder.join("SUMMARY.md"))?).into_iter().map(|(_, target)| target).collect();
    let mut problems = Vec::new();
    for path in files(&folder, "md").map_err(|error| format!("book/src: {error}"))? {
        let page = relative(&folder, &path);
        if page != "SUMMARY.md" && !listed.contains(&page) {
            problems.push(format!("book/src/SUMMARY.md does not list {page}"));
        }
    }
    Ok(problems)
}

fn machine_paths(root: &Path, pages: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut texts = pages.to_vec();
    for (folder, extension) in [("crates", "rs"), ("crates", "toml"), ("scenes", "toml"), ("fuzz", "rs")] {
        texts.extend(files(&root.join(folder), extension).map_err(|error| format!("{folder}: {error}"))?);
    }
    let mut problems = Vec::new();
    for path in texts {
        let place = relative(root, &path);
        for (index, line) in read(&path)?.lines().enumerate() {
            for word in MACHINE.iter().filter(|word| line.contains(*word)) {
                problems.push(format!("{place}:{}: a path of one machine ({word})", index + 1));
            }
        }
    }
    Ok(problems)
}

/// The README names the command that runs all tests; the checks run the same.
fn test_command(root: &Path) -> Result<Vec<String>, String> {
    let command = "cargo test --workspace";
    let mut problems = Vec::new();
    for file in ["README.md", ".ci/run"] {
        if !read(&root.join(file))?.contains(command) {
            problems.push(format!("{file} does not contain `{command}`"));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "a [b](c.md#d) and ![e](f.svg)\n```\n[g](h.md)\n```\n[i](j)";
        assert_eq!(
            links_of(text),
            [(1, "c.md#d".to_string()), (1, "f.svg".to_string()), (5, "j".to_string())]
        );
    }

    #[test]
    fn paths_are_told_from_code() {
        for path in ["crates/delassus/src/lib.rs", "scenes/", "Cargo.toml", "scenes/*.toml", ".ci/run"] {
            assert!(looks_like_path(path), "{path}");
        }
        for code in ["solve(&problem)", "ContactView", "cargo test --workspace", "a::b", "1/2", "--set"] {
            assert!(!looks_like_path(code), "{code}");
        }
    }

    #[test]
    fn anchors_are_those_of_the_book() {
        assert_eq!(anchor_of("From forces to an LCP"), "from-forces-to-an-lcp");
        assert_eq!(anchor_of("What was wrong: (33), (57)"), "what-was-wrong-33-57");
    }

    #[test]
    fn a_star_must_match_a_file() {
        let root = crate::root();
        assert!(exists(&root, "scenes/*.toml"));
        assert!(exists(&root, "crates/*/Cargo.toml"));
        assert!(!exists(&root, "scenes/*.no-such-extension"));
        assert!(!exists(&root, "no-such-folder/*.toml"));
    }
}
