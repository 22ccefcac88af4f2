//! The proposition rule: the book states it, a function implements it, a test shows a case where it holds
//! and, for a proposition, one where it fails.
//!
//! Read from the table of `book/src/equations.md`, whose rows are `| id | statement | function | test where
//! it holds | test where it fails |`: names of functions and tests stand in backticks, the id links to the
//! page that derives it, and `—` stands for no test.

use std::collections::BTreeMap;
use std::path::Path;

use crate::source::{files, functions, read, relative};

/// The table, as it is read from the book.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// Line in the page, from 1.
    line: usize,
    /// For example `000 eq. 50` or `000 prop. 12`.
    id: String,
    /// Pages that the row links to.
    pages: Vec<String>,
    /// Functions that implement it.
    functions: Vec<String>,
    /// Tests where it holds.
    holds: Vec<String>,
    /// Tests where it fails.
    fails: Vec<String>,
}

const COLUMNS: [&str; 5] = ["id", "statement", "function", "test where it holds", "test where it fails"];

/// What the sources hold under one name.
#[derive(Default)]
struct Found {
    /// Texts of the library or program files where a function of that name is defined.
    defined_in: Vec<usize>,
    /// Whether a test of that name exists.
    test: bool,
}

/// Prints the table with a mark per row; returns what is missing.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let page = root.join("book/src/equations.md");
    let rows = parse(&read(&page)?)?;
    let mut sources = Vec::new();
    let mut names: BTreeMap<String, Found> = BTreeMap::new();
    for path in files(&root.join("crates"), "rs").map_err(|error| format!("crates: {error}"))? {
        let text = read(&path)?;
        let library = relative(root, &path).contains("/src/");
        for function in functions(&text) {
            let found = names.entry(function.name).or_default();
            found.test |= function.test;
            if library && !function.test {
                found.defined_in.push(sources.len());
            }
        }
        sources.push(text);
    }

    let mut problems = Vec::new();
    for row in &rows {
        let missing = missing_in(row, &names, &sources, &root.join("book/src"));
        println!(
            "{} {:<14} {}",
            if missing.is_empty() { "✓" } else { "✗" },
            row.id,
            row.functions.join(", ")
        );
        for what in missing {
            problems.push(format!("book/src/equations.md:{}: {}: {what}", row.line, row.id));
        }
    }
    for (name, found) in &names {
        let listed = rows.iter().any(|row| row.holds.contains(name) || row.fails.contains(name));
        if found.test && (name.starts_with("prop_") || name.starts_with("eq_")) && !listed {
            problems.push(format!("test {name} has no row in book/src/equations.md"));
        }
    }
    println!("{} rows", rows.len());
    Ok(problems)
}

fn missing_in(row: &Row, names: &BTreeMap<String, Found>, sources: &[String], book: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    let paper = row.id.split(' ').next().unwrap_or_default();
    if row.pages.is_empty() {
        missing.push("links to no page of the book".to_string());
    }
    for page in &row.pages {
        let file = page.split('#').next().unwrap_or_default();
        if !book.join(file).is_file() {
            missing.push(format!("page {file} does not exist"));
        }
    }
    if row.functions.is_empty() {
        missing.push("names no function".to_string());
    }
    for function in &row.functions {
        let name = function.rsplit("::").next().unwrap_or(function);
        match names.get(name) {
            Some(found) if !found.defined_in.is_empty() => {
                if !found.defined_in.iter().any(|&file| sources[file].contains(paper)) {
                    missing.push(format!("the file of function {function} does not name its source {paper}"));
                }
            }
            _ => missing.push(format!("function {function} does not exist")),
        }
    }
    if row.holds.is_empty() {
        missing.push("names no test where it holds".to_string());
    }
    if row.fails.is_empty() && row.id.contains("prop.") {
        missing.push("names no test where it fails".to_string());
    }
    for test in row.holds.iter().chain(&row.fails) {
        if !names.get(test).is_some_and(|found| found.test) {
            missing.push(format!("test {test} does not exist"));
        }
    }
    missing
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let Some(body) = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let cells: Vec<&str> = body.split('|').map(str::trim).collect();
        if cells == COLUMNS {
            inside = true;
            continue;
        }
        if !inside || cells.iter().all(|cell| cell.chars().all(|c| c == '-' || c == ':')) {
            continue;
        }
        let &[id, statement, function, holds, fails] = cells.as_slice() else {
            return Err(format!("book/src/equations.md:{}: {} cells, 5 expected", index + 1, cells.len()));
        };
        let (name, mut pages) = links(id);
        pages.extend(links(statement).1);
        rows.push(Row {
            line: index + 1,
            id: name,
            pages,
            functions: in_backticks(function),
            holds: in_backticks(holds),
            fails: in_backticks(fails),
        });
    }
    if rows.is_empty() {
        return Err(format!("book/src/equations.md: no table with the columns {}", COLUMNS.join(" | ")));
    }
    Ok(rows)
}

/// The text without its links, and the targets of the links.
fn links(cell: &str) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut targets = Vec::new();
    let mut rest = cell;
    while let Some((before, label, target, after)) = crate::docs::next_link(rest) {
        text.push_str(before);
        text.push_str(label);
        targets.push(target.to_string());
        rest = after;
    }
    text.push_str(rest);
    (text, targets)
}

/// What stands in backticks.
fn in_backticks(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
text
| id | statement | function | test where it holds | test where it fails |
|---|---|---|---|---|
| [000 eq. 9](problem.md#lcp) | A λ + w | `lcp::frictionless` | `eq_000_9` | — |
| [000 prop. 12](friction.md) | small friction | `bound` | `prop_a`, `prop_b` | `prop_c` |
after";

    #[test]
    fn rows_are_read() -> Result<(), String> {
        let rows = parse(TABLE)?;
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].id, "000 eq. 9");
        assert_eq!(rows[0].pages, ["problem.md#lcp"]);
        assert_eq!(rows[0].functions, ["lcp::frictionless"]);
        assert!(rows[0].fails.is_empty());
        assert_eq!(rows[1].holds, ["prop_a", "prop_b"]);
        assert_eq!(rows[1].line, 5);
        Ok(())
    }

    #[test]
    fn a_row_of_the_wrong_length_is_an_error() {
        assert!(parse(&TABLE.replace(" | — |", " |")).is_err());
        assert!(parse("no table").is_err());
    }

    #[test]
    fn a_row_whose_names_do_not_exist_is_reported() -> Result<(), String> {
        let rows = parse(TABLE)?;
        let sources = vec!["//! 000 §2.2, eq. 9".to_string()];
        let mut names = BTreeMap::new();
        names.insert("frictionless".to_string(), Found { defined_in: vec![0], test: false });
        names.insert("eq_000_9".to_string(), Found { defined_in: vec![], test: true });
        let nowhere = Path::new("no-such-folder");
        let missing = missing_in(&rows[0], &names, &sources, nowhere);
        assert_eq!(missing, ["page problem.md does not exist"]);
        let missing = missing_in(&rows[1], &names, &sources, nowhere);
        assert_eq!(missing.len(), 5, "page, function and three tests: {missing:?}");
        let silent = missing_in(&rows[0], &names, &["no source".to_string()], nowhere);
        assert_eq!(silent.len(), 2, "{silent:?}");
        Ok(())
    }
}
