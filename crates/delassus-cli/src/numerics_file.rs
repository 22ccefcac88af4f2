//! Problem files: Siconos `.dat` files of LCP and mixed LCP, and own `.json`.
//!
//! A `.dat` file is a stream of numbers that does not name its problem class; the class is told by the file's
//! name, its folder, or its first numbers. Matrices come dense (column after column), in blocks, or sparse (the
//! one part that is read by lines). What follows the last vector is not looked at. Every count in a file is
//! checked against the text that is left before anything of that size is made.

use std::path::{Path, PathBuf};

use delassus_solve::lcp::{Lcp, ProblemError};
use delassus_solve::matrix::Matrix;
use delassus_solve::mlcp::Mlcp;
use serde::Deserialize;

/// A problem read from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// w = M z + q, 0 ≤ z ⊥ w ≥ 0.
    Lcp(Lcp),
    /// With free unknowns.
    Mlcp(Mlcp),
}

/// Why a problem file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be opened.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is not what the format says.
    #[error("{}:{line}: expected {expected}, found {found}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A frictional contact problem.
    #[error("{}: frictional contact problems are not read yet, expected an LCP or a mixed LCP", file.display())]
    Frictional {
        /// The file.
        file: PathBuf,
    },
    /// Neither the name nor the numbers tell what the file holds.
    #[error(
        "{}: expected an LCP or mixed LCP file (lcp_*.dat, *_mlcp.dat or .json), found something else",
        file.display()
    )]
    UnknownKind {
        /// The file.
        file: PathBuf,
    },
    /// Not the JSON of a problem.
    #[error("{}:{}: {source}", file.display(), source.line())]
    Json {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The data do not make a problem.
    #[error("{}: {source}", file.display())]
    Problem {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: ProblemError,
    },
}

/// Matrices are held dense; a file that claims more unknowns than this is refused.
const MOST_UNKNOWNS: usize = 8192;

/// Reads a problem file.
pub fn read(path: &Path) -> Result<Problem, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::Io { file: path.to_owned(), source })?;
    // Remarks after the data may be in any encoding.
    parse(path, &String::from_utf8_lossy(&bytes))
}

/// Reads the text of a problem file; the path tells the kind and names the file in messages.
pub fn parse(path: &Path, text: &str) -> Result<Problem, FileError> {
    if path.extension().is_some_and(|e| e == "json") {
        return parse_json(path, text);
    }
    let mut lexer = Lexer { file: path, text, position: 0, line: 1 };
    match kind_by_name(path).or_else(|| kind_by_numbers(text)) {
        Some(Kind::Lcp) => lexer.lcp(),
        Some(Kind::Mlcp) => lexer.mlcp(),
        Some(Kind::Frictional) => Err(FileError::Frictional { file: path.to_owned() }),
        None => Err(FileError::UnknownKind { file: path.to_owned() }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lcp,
    Mlcp,
    Frictional,
}

fn kind_by_name(path: &Path) -> Option<Kind> {
    let lower = |s: &std::ffi::OsStr| s.to_string_lossy().to_lowercase();
    let name = path.file_name().map(lower)?;
    let folder = path.parent().and_then(Path::file_name).map(lower).unwrap_or_default();
    let frictional = ["fc2d", "fc3d", "gfc2d", "gfc3d", "rfc3d", "grfc3d", "rolling", "rockfall", "global_"];
    if name.starts_with("lcp_") {
        Some(Kind::Lcp)
    } else if name.ends_with("_mlcp.dat") {
        Some(Kind::Mlcp)
    } else if frictional.iter().any(|f| name.starts_with(f)) {
        Some(Kind::Frictional)
    } else if folder == "lcp" {
        Some(Kind::Lcp)
    } else if folder == "mlcp" {
        Some(Kind::Mlcp)
    } else if frictional.iter().any(|f| folder.starts_with(f)) {
        Some(Kind::Frictional)
    } else {
        None
    }
}

/// The kind by the sizes at the beginning: `n storage n n`, `s1 s2 n m [0 …]` or `d nc storage rows`.
fn kind_by_numbers(text: &str) -> Option<Kind> {
    let head: Vec<&str> = text.split_ascii_whitespace().take(8).collect();
    let numbers: Vec<u64> = head.iter().map_while(|t| t.parse().ok()).collect();
    let at = |i: usize| numbers.get(i).copied();
    let (a, b, c, d) = (at(0)?, at(1)?, at(2)?, at(3)?);
    // One contact in the plane with a sparse matrix begins like two unknowns with a block matrix.
    let sparse = head.contains(&"CSparse");
    if a <= 1 && b <= 1 && a + b > 0 && (a == 0 || at(4) == Some(0)) {
        Some(Kind::Mlcp)
    } else if b <= 2 && c == a && d == a && !(sparse && b != 2) {
        Some(Kind::Lcp)
    } else if matches!(a, 2 | 3 | 5) && c <= 2 {
        Some(Kind::Frictional)
    } else {
        None
    }
}

struct Lexer<'a> {
    file: &'a Path,
    text: &'a str,
    position: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> FileError {
        let mut found: String = found.into();
        if found.chars().count() > 40 {
            found = found.chars().take(40).chain(['…']).collect();
        }
        FileError::Syntax { file: self.file.to_owned(), line: self.line, expected: expected.into(), found }
    }

    fn token(&mut self, expected: &str) -> Result<&'a str, FileError> {
        let rest = &self.text[self.position..];
        let start = rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len());
        self.line += rest.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        let token = rest[start..].split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
        self.position += start + token.len();
        if token.is_empty() { Err(self.wrong(expected, "the end of the file")) } else { Ok(token) }
    }

    /// The rest of the current line.
    fn rest_of_line(&mut self, expected: &str) -> Result<&'a str, FileError> {
        if self.position >= self.text.len() {
            return Err(self.wrong(expected, "the end of the file"));
        }
        let rest = &self.text[self.position..];
        let line = rest.split('\n').next().unwrap_or_default();
        self.position = (self.position + line.len() + 1).min(self.text.len());
        self.line += 1;
        Ok(line)
    }

    fn count(&mut self, what: &str) -> Result<usize, FileError> {
        let token = self.token(what)?;
        token.parse().map_err(|_| self.wrong(format!("{what}, a whole number"), format!("\"{token}\"")))
    }

    fn number(&mut self, what: &str) -> Result<f64, FileError> {
        let token = self.token(what)?;
        match token.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(self.wrong(format!("{what}, a finite number"), format!("\"{token}\""))),
        }
    }

    /// Refuses a count of numbers that the rest of the text cannot hold: each takes two characters.
    fn room_for(&self, count: Option<usize>, what: &str) -> Result<usize, FileError> {
        let left = (self.text.len() - self.position) / 2 + 1;
        match count {
            Some(n) if n <= left => Ok(n),
            Some(n) => Err(self.wrong(format!("{n} numbers of {what}"), format!("room for {left}"))),
            None => Err(self.wrong(format!("a possible size of {what}"), "one beyond all bounds")),
        }
    }

    fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<f64>, FileError> {
        let count = self.room_for(Some(count), what)?;
        (0..count).map(|_| self.number(what)).collect()
    }

    fn counts(&mut self, count: usize, what: &str) -> Result<Vec<usize>, FileError> {
        let count = self.room_for(Some(count), what)?;
        (0..count).map(|_| self.count(what)).collect()
    }

    fn unknowns(&mut self, what: &str) -> Result<usize, FileError> {
        let n = self.count(what)?;
        if n > MOST_UNKNOWNS {
            return Err(self.wrong(format!("{what}, at most {MOST_UNKNOWNS}"), n.to_string()));
        }
        Ok(n)
    }

    fn lcp(&mut self) -> Result<Problem, FileError> {
        let n = self.unknowns("the number of unknowns")?;
        let matrix = self.square_matrix(n)?;
        let vector = self.numbers(n, "the vector q")?;
        Lcp::new(matrix, vector).map(Problem::Lcp).map_err(|e| self.not_a_problem(e))
    }

    fn not_a_problem(&self, source: ProblemError) -> FileError {
        FileError::Problem { file: self.file.to_owned(), source }
    }

    fn mlcp(&mut self) -> Result<Problem, FileError> {
        let whole = self.flag("1 or 0 (whole matrix)")?;
        let parts = self.flag("1 or 0 (matrix in four parts)")?;
        let n = self.unknowns("the number of equations")?;
        let m = self.unknowns("the number of complementary pairs")?;
        let total = n + m;
        if total > MOST_UNKNOWNS {
            return Err(self.wrong(format!("at most {MOST_UNKNOWNS} unknowns"), total.to_string()));
        }
        let (matrix, vector, free) = if whole {
            let free = self.row_kinds(n, total)?;
            let matrix = self.square_matrix(total)?;
            (matrix, self.numbers(total, "the vector q")?, free)
        } else if parts {
            let a = self.numbers(n * n, "the part A")?;
            let b = self.numbers(m * m, "the part B")?;
            let c = self.numbers(n * m, "the part C")?;
            let d = self.numbers(m * n, "the part D")?;
            let matrix = Matrix::from_fn(total, total, |i, j| match (i < n, j < n) {
                (true, true) => a[i * n + j],
                (true, false) => c[i * m + j - n],
                (false, true) => d[(i - n) * n + j],
                (false, false) => b[(i - n) * m + j - n],
            });
            (matrix, self.numbers(total, "the vectors a and b")?, (0..total).map(|i| i < n).collect())
        } else {
            return Err(self.wrong("one of the first two numbers to be 1", "0 and 0"));
        };
        Mlcp::new(matrix, vector, free).map(Problem::Mlcp).map_err(|e| self.not_a_problem(e))
    }

    fn flag(&mut self, what: &str) -> Result<bool, FileError> {
        match self.count(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.wrong(what, other.to_string())),
        }
    }

    /// Row ends `0 … total`, then one flag per interval: which rows are equations.
    fn row_kinds(&mut self, n: usize, total: usize) -> Result<Vec<bool>, FileError> {
        let mut ends = vec![self.count("the first row, 0")?];
        if ends != [0] {
            return Err(self.wrong("the first row, 0", ends[0].to_string()));
        }
        let mut last = 0;
        while last < total {
            let end = self.count("the end of a block of rows")?;
            if end <= last || end > total {
                return Err(self.wrong(format!("a row after {last}, at most {total}"), end.to_string()));
            }
            ends.push(end);
            last = end;
        }
        let mut free = Vec::with_capacity(total);
        for pair in ends.windows(2) {
            let complementary = self.flag("0 (equations) or 1 (complementary pairs)")?;
            free.extend(std::iter::repeat_n(!complementary, pair[1] - pair[0]));
        }
        let found = free.iter().filter(|&&f| f).count();
        if found != n {
            return Err(self.wrong(format!("{n} equations in the blocks of rows"), found.to_string()));
        }
        Ok(free)
    }

    fn square_matrix(&mut self, n: usize) -> Result<Matrix, FileError> {
        let storage = self.count("the storage of the matrix (0, 1 or 2)")?;
        for what in ["rows", "columns"] {
            self.exactly(n, &format!("{n} {what}"))?;
        }
        match storage {
            0 => self.dense(n),
            1 => self.blocks(n),
            2 => self.sparse(n),
            other => Err(self.wrong("the storage 0 (dense), 1 (blocks) or 2 (sparse)", other.to_string())),
        }
    }

    fn exactly(&mut self, value: usize, what: &str) -> Result<(), FileError> {
        let found = self.count(what)?;
        if found == value { Ok(()) } else { Err(self.wrong(what, found.to_string())) }
    }

    fn dense(&mut self, n: usize) -> Result<Matrix, FileError> {
        for what in ["rows", "columns"] {
            self.exactly(n, &format!("{n} {what}"))?;
        }
        let columns = self.numbers(n * n, "the matrix")?;
        Ok(Matrix::from_fn(n, n, |i, j| columns[j * n + i]))
    }

    fn blocks(&mut self, n: usize) -> Result<Matrix, FileError> {
        let mut matrix = Matrix::zeros(n, n);
        let stored = self.count("the number of blocks")?;
        if stored == 0 {
            return Ok(matrix);
        }
        let block_rows = self.count("the number of block rows")?;
        let block_cols = self.count("the number of block columns")?;
        let row_ends = self.ends(block_rows, n, "the ends of the block rows")?;
        let col_ends = self.ends(block_cols, n, "the ends of the block columns")?;
        let pointers = self.count("the size of the row pointer")?;
        let columns = self.count("the number of block column indices")?;
        if pointers == 0 || pointers > block_rows + 1 || columns != stored {
            let sizes = format!("at most {} row pointers and {stored} column indices", block_rows + 1);
            return Err(self.wrong(sizes, format!("{pointers} and {columns}")));
        }
        let pointer = self.counts(pointers, "the row pointer")?;
        let column = self.counts(columns, "the block columns")?;
        let span = |ends: &[usize], k: usize| if k == 0 { 0..ends[0] } else { ends[k - 1]..ends[k] };
        for (block_row, range) in pointer.windows(2).enumerate() {
            for k in range[0]..range[1] {
                let Some(&block_col) = column.get(k).filter(|&&c| c < block_cols) else {
                    return Err(
                        self.wrong(format!("blocks up to {stored} in {block_cols} columns"), k.to_string())
                    );
                };
                self.exactly(k, &format!("the block number {k}"))?;
                for j in span(&col_ends, block_col) {
                    for i in span(&row_ends, block_row) {
                        matrix[(i, j)] = self.number("an entry of a block")?;
                    }
                }
            }
        }
        Ok(matrix)
    }

    /// Increasing ends, the last of them n.
    fn ends(&mut self, count: usize, n: usize, what: &str) -> Result<Vec<usize>, FileError> {
        let ends = self.counts(count, what)?;
        let increasing = ends.windows(2).all(|p| p[0] <= p[1]);
        if !increasing || ends.last() != Some(&n) {
            return Err(self.wrong(format!("{what}, increasing up to {n}"), format!("{ends:?}")));
        }
        Ok(ends)
    }

    fn sparse(&mut self, n: usize) -> Result<Matrix, FileError> {
        self.count("the origin of the sparse matrix")?;
        self.rest_of_line("the end of the line")?;
        self.rest_of_line("the line of the writer")?;
        let header = self.rest_of_line("the header of the sparse matrix")?.replace(',', " ");
        let mut words = header.split_whitespace().peekable();
        let prefix = words.next_if(|w| w.ends_with(':'));
        let size = words.next().and_then(|w| w.split_once("-by-"));
        let size = size.and_then(|(r, c)| Some((r.parse::<usize>().ok()?, c.parse::<usize>().ok()?)));
        let entries = words.skip_while(|w| *w != "nnz:").nth(1).and_then(|w| w.parse::<usize>().ok());
        let (Some((rows, cols)), Some(entries)) = (size, entries) else {
            return Err(self.wrong("R-by-C, nzmax: Z nnz: N", format!("\"{header}\"")));
        };
        if rows != n || cols != n {
            return Err(self.wrong(format!("{n}-by-{n}"), format!("{rows}-by-{cols}")));
        }
        let mut matrix = Matrix::zeros(n, n);
        if prefix == Some("triplet:") {
            for _ in 0..self.room_for(Some(entries), "the sparse matrix")? {
                let (i, j, x) = self.entry("row col : value")?;
                *self.place(&mut matrix, i, j)? += x;
            }
            return Ok(matrix);
        }
        let by_rows = prefix == Some("csr:");
        for outer in 0..n {
            let line = self.rest_of_line("col j : locations a to b")?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |k: usize| words.get(k).and_then(|w| w.parse::<i64>().ok());
            let (Some(first), Some(last)) = (number(4), number(6)) else {
                return Err(self.wrong("col j : locations a to b", format!("\"{line}\"")));
            };
            for _ in first..=last {
                let (inner, x) = self.short_entry()?;
                let (i, j) = if by_rows { (outer, inner) } else { (inner, outer) };
                *self.place(&mut matrix, i, j)? += x;
            }
        }
        Ok(matrix)
    }

    fn place<'m>(&self, matrix: &'m mut Matrix, i: usize, j: usize) -> Result<&'m mut f64, FileError> {
        if i < matrix.rows() && j < matrix.cols() {
            Ok(&mut matrix[(i, j)])
        } else {
            Err(self
                .wrong(format!("a place in {} × {}", matrix.rows(), matrix.cols()), format!("({i}, {j})")))
        }
    }

    fn entry(&mut self, expected: &str) -> Result<(usize, usize, f64), FileError> {
        let line = self.rest_of_line(expected)?.replace(':', " ");
        let mut words = line.split_whitespace();
        let i = words.next().and_then(|w| w.parse().ok());
        let j = words.next().and_then(|w| w.parse().ok());
        let x = words.next().and_then(|w| w.parse().ok()).filter(|x: &f64| x.is_finite());
        match (i, j, x) {
            (Some(i), Some(j), Some(x)) => Ok((i, j, x)),
            _ => Err(self.wrong(expected, format!("\"{}\"", line.trim()))),
        }
    }

    fn short_entry(&mut self) -> Result<(usize, f64), FileError> {
        let line = self.rest_of_line("index : value")?;
        let parts = line.split_once(':');
        let i = parts.and_then(|(i, _)| i.trim().parse().ok());
        let x = parts.and_then(|(_, x)| x.trim().parse().ok()).filter(|x: &f64| x.is_finite());
        i.zip(x).ok_or_else(|| self.wrong("index : value", format!("\"{}\"", line.trim())))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum JsonKind {
    Lcp,
    Mlcp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonProblem {
    kind: JsonKind,
    matrix: Vec<Vec<f64>>,
    vector: Vec<f64>,
    free: Option<Vec<bool>>,
}

fn parse_json(path: &Path, text: &str) -> Result<Problem, FileError> {
    let json: JsonProblem =
        serde_json::from_str(text).map_err(|source| FileError::Json { file: path.to_owned(), source })?;
    let wrong = |source| FileError::Problem { file: path.to_owned(), source };
    let n = json.matrix.len();
    if let Some(row) = json.matrix.iter().find(|r| r.len() != n) {
        return Err(wrong(ProblemError::Shape { what: "numbers in a row", expected: n, found: row.len() }));
    }
    let matrix = Matrix::from_vec(n, n, json.matrix.concat());
    let place = |expected: &str, found: &str| FileError::Syntax {
        file: path.to_owned(),
        line: text.lines().position(|l| l.contains("\"kind\"")).map_or(1, |i| i + 1),
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    match (json.kind, json.free) {
        (JsonKind::Lcp, None) => Lcp::new(matrix, json.vector).map(Problem::Lcp).map_err(wrong),
        (JsonKind::Lcp, Some(_)) => Err(place("kind \"mlcp\" with the key \"free\"", "kind \"lcp\"")),
        (JsonKind::Mlcp, None) => Err(place("the key \"free\" in a mixed LCP", "none")),
        (JsonKind::Mlcp, Some(free)) => {
            Mlcp::new(matrix, json.vector, free).map(Problem::Mlcp).map_err(wrong)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lcp(text: &str) -> Result<Lcp, FileError> {
        match parse(Path::new("lcp_test.dat"), text)? {
            Problem::Lcp(p) => Ok(p),
            Problem::Mlcp(_) => panic!("an LCP"),
        }
    }

    fn message(path: &str, text: &str) -> String {
        parse(Path::new(path), text).unwrap_err().to_string()
    }

    /// The same matrix [[1, 2], [3, 4]] in every storage.
    #[test]
    fn storages_agree() {
        let q = vec![5.0, 6.0];
        let expected = Lcp::new(Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]), q).unwrap();
        let dense = "2 0 2 2 2\t2\n 1 3\n 2 4e0\n5 6 remarks, and 7 more";
        let block = "2\n1 2 2 1 1 1\n2\n2\n2 1\n0 1\n0\n0\n1 3 2 4\n5 6";
        let blocks = "2\n1 2 2 4 2 2\n1 2\n1 2\n3 4\n0 2 4\n0 1 0 1\n0\n1 1\n2 2\n3 3\n4\n5 6";
        let triplet = "2\n2\n2\n2\n1\nCSparse Version 3\ntriplet: 2-by-2, nzmax: 9 nnz: 5\n    0 0 : 1\n    1 0 : 3\n\
                       \x20   0 1 : 1.5\n    0 1 : 0.5\n    1 1 : 4\n5 6";
        let csc = "2\n2\n2\n2\n2\nCSparse\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 6\n    col 0 : locations 0 to 1\n      0 : 1\n\
                   \x20     1 : 3\n    col 1 : locations 2 to 3\n      0 : 2\n      1 : 4\n5 6";
        let csr = "2\n2\n2\n2\n3\nCSparse\ncsr: 2-by-2, nzmax: 4 nnz: 4, 1-norm: 6\n    row 0 : locations 0 to 1\n\
                   \x20     0 : 1\n      1 : 2\n    row 1 : locations 2 to 3\n      0 : 3\n      1 : 4\n5 6";
        for text in [dense, block, blocks, triplet, csc, csr] {
            assert_eq!(lcp(text).unwrap(), expected, "{text}");
        }
        let json = r#"{"kind": "lcp", "matrix": [[1, 2], [3, 4]], "vector": [5, 6]}"#;
        assert_eq!(parse(Path::new("a.json"), json).unwrap(), Problem::Lcp(expected));
    }

    #[test]
    fn mixed_problems() {
        let matrix = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
        let expected = Problem::Mlcp(Mlcp::new(matrix, vec![5.0, 6.0], vec![true, false]).unwrap());
        let whole = "1 1 1 1\n0 1 2\n0 1\n0 2 2 2 2 1 3 2 4 5 6 1 4 2 3 5 6";
        let parts = "0 1 1 1\n1 4 2 3 5 6";
        let json = r#"{"kind": "mlcp", "matrix": [[1, 2], [3, 4]], "vector": [5, 6], "free": [true, false]}"#;
        assert_eq!(parse(Path::new("x_mlcp.dat"), whole).unwrap(), expected);
        assert_eq!(parse(Path::new("x.dat"), whole).unwrap(), expected);
        assert_eq!(parse(Path::new("x.dat"), parts).unwrap(), expected);
        assert_eq!(parse(Path::new("x.json"), json).unwrap(), expected);
    }

    #[test]
    fn the_kind_is_told() {
        assert_eq!(kind_by_name(Path::new("a/lcp_x.dat")), Some(Kind::Lcp));
        assert_eq!(kind_by_name(Path::new("a/X_mlcp.dat")), Some(Kind::Mlcp));
        assert_eq!(kind_by_name(Path::new("fc3d/Box.dat")), Some(Kind::Frictional));
        assert_eq!(kind_by_name(Path::new("lcp/other.dat")), Some(Kind::Lcp));
        assert_eq!(kind_by_numbers("4 0 4 4 4 4 1.0"), Some(Kind::Lcp));
        assert_eq!(kind_by_numbers("3 10 1 30 30"), Some(Kind::Frictional));
        assert_eq!(kind_by_numbers("2 1 2 2 2 1 CSparse Version"), Some(Kind::Frictional));
        assert_eq!(kind_by_numbers("hello"), None);
        assert!(message("GFC3D_x.dat", "3 1").contains("not read yet"));
        assert!(message("x.dat", "").contains("expected an LCP"));
    }

    #[test]
    fn bad_files_are_told_with_their_place() {
        let expected = "lcp_a.dat:4: expected the matrix, a finite number, found \"x\"";
        assert_eq!(message("lcp_a.dat", "2\n0 2 2\n2 2\n1 x 3 4\n5 6"), expected);
        for bad in ["nan", "inf", "1e999"] {
            assert!(message("lcp_a.dat", &format!("1 0 1 1 1 1 {bad} 2")).contains("a finite number"));
        }
        assert!(message("lcp_a.dat", "2 0 2 2 2 2 1 2 3 4 5").contains("found the end of the file"));
        assert!(message("lcp_a.dat", "1000000000000 0").contains("at most"));
        assert!(message("lcp_a.dat", "8000 0 8000 8000 8000 8000 1").contains("room for"));
        assert!(message("lcp_a.dat", "-1 0").contains("a whole number"));
        assert!(message("lcp_a.dat", "2 0 3 2").contains("expected 2 rows, found 3"));
        assert!(message("lcp_a.dat", "2 7 2 2").contains("storage"));
        assert!(
            message("lcp_a.dat", "2 1 2 2 1 1 1 3 2 2 1 0 1 0 0 1 3 2 4 5 6").contains("increasing up to 2")
        );
        assert!(message("lcp_a.dat", "2 1 2 2 1 1 1 2 2 2 1 0 9 0 0 1 3 2 4 5 6").contains("blocks up to"));
        assert!(message("x_mlcp.dat", "1 1 1 1 0 3").contains("a row after 0, at most 2"));
        assert!(message("x_mlcp.dat", "0 0 1 1").contains("to be 1"));
        let triplet = "2\n2\n2\n2\n1\nC\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 5 0 : 1\n5 6";
        assert!(message("lcp_a.dat", triplet).contains("a place in 2 × 2"));
        let json = r#"{"kind": "lcp", "matrix": [[1, 2], [3]], "vector": [5, 6]}"#;
        assert!(message("a.json", json).contains("expected 2, found 1"));
        assert!(message("a.json", "{\"kind\": \"lcp\",\n \"matrx\": []}").contains("a.json:2"));
        assert!(
            message("a.json", r#"{"kind": "mlcp", "matrix": [], "vector": []}"#).contains("key \"free\"")
        );
        assert!(message("a.json", &"[".repeat(100_000)).contains("a.json:1"));
    }
}
