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

/// The name of the function that a line declares.
pub fn function_name(line: &str) -> Option<String> {
    let mut rest = line.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("fn ") {
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
            return (end > 0).then(|| after[..end].to_string());
        }
        rest = match rest.strip_prefix("pub(") {
            Some(scope) => scope.split_once(") ")?.1,
            None => ["pub ", "const ", "async ", "unsafe ", "extern \"C\" ", "#[test] "]
                .iter()
                .find_map(|prefix| rest.strip_prefix(prefix))?,
        };
    }
}

/// The words and signs of a Rust source, `::` being one sign. Comments are left out, and of literals only
/// their quotes remain, so that what a text or a comment names is not taken for code.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        } else if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
            continue;
        } else if let Some(length) = literal(rest) {
            found.push("\"\"");
            rest = &rest[length..];
            continue;
        } else if rest.starts_with("::") {
            2
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        found.push(&rest[..length]);
        rest = &rest[length..];
    }
    found
}

/// The length of the string or character with which a text begins; a lifetime is none.
fn literal(text: &str) -> Option<usize> {
    let prefix = text.strip_prefix('b').unwrap_or(text);
    if let Some(raw) = prefix.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(inside) = raw[hashes..].strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
            return Some(text.len() - inside.len() + length);
        }
    }
    let quote = prefix.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = &prefix[1..];
    let mut escaped = false;
    let end = inside.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })?;
    // 'a is a lifetime where its quote does not close after one character.
    let character = inside.starts_with('\\') || inside[..end].chars().count() == 1;
    (quote == '"' || character).then_some(text.len() - inside.len() + end + 1)
}

/// Reads a path or a tree of paths, and appends each of its paths after `prefix`, with its new name after
/// ` as ` where it has one.
pub fn expand(words: &mut &[&str], prefix: &str, found: &mut Vec<String>) {
    let mut path = prefix.to_string();
    while let Some((&word, rest)) = words.split_first() {
        match word {
            "{" if path.is_empty() || path.ends_with("::") => {
                *words = rest;
                while !matches!(words.first(), None | Some(&"}")) {
                    expand(words, &path, found);
                    if words.first() == Some(&",") {
                        *words = &words[1..];
                    }
                }
                *words = words.get(1..).unwrap_or_default();
                return;
            }
            "as" if !path.ends_with(" as ") => {
                path += " as ";
                *words = rest;
            }
            "::" | "*" => {
                path += word;
                *words = rest;
            }
            _ if word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                // Two words in a row are two paths, or code after the path.
                if !(path.is_empty() || path.ends_with("::") || path.ends_with(' ')) {
                    break;
                }
                path += word;
                *words = rest;
            }
            _ => break,
        }
    }
    if words.first().is_some_and(|word| !matches!(*word, "," | "}")) && path == prefix {
        // Nothing that a path can begin with: pass over it, so that a group ends.
        *words = &words[1..];
    } else {
        found.push(path);
    }
}

/// The words of a file without the items that only its tests see.
pub fn production(text: &str) -> Vec<&str> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let words = tokens(text);
    let mut kept = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !words[at..].starts_with(&TEST) {
            kept.push(words[at]);
            at += 1;
            continue;
        }
        // The item ends with its first block or semicolon outside of brackets, further attributes included.
        let mut depth = 0;
        for (index, word) in words.iter().enumerate().skip(at + TEST.len()) {
            at = index + 1;
            match *word {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(*word, "}" | ";") {
                break;
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "let a: &'static str = \"crate::x \\\" y\"; // crate::b\n\
                    f('\"', 'z', '\\'', br#\"crate::\"c\"#, r\"\\\"); /* crate::d */ crate::e::<'a>()";
        assert_eq!(
            tokens(text).join(" "),
            "let a : & ' static str = \"\" ; f ( \"\" , \"\" , \"\" , \"\" , \"\" ) ; crate :: e :: < ' a > ( )"
        );
    }

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
            pub(in crate::a) const fn third() {}
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
