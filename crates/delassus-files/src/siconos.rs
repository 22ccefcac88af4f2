//! Siconos `.dat` files: LCP, mixed LCP, local and global contact problems with friction and rolling
//! friction.
//!
//! A file is a stream of numbers without the kind of problem that it holds. The kind follows from the
//! file's name, or else from the count of numbers: a local problem of nc contacts with d rows each has d nc +
//! nc numbers after its matrix (one more in old files); everything else is global. Whatever follows the last
//! vector of a complementarity problem (known solutions, remarks) is ignored. Old contact problems end with
//! one unused number, possibly followed by text. Further numbers are an error: the sizes at the beginning of
//! the file do not match its data.

use std::fmt::Write as _;
use std::path::Path;

use delassus_solve::lcp::{Lcp, Mlcp, ProblemError};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{ContactProblem, Form};

use crate::error::FileError;
use crate::lexer::Lexer;
use crate::problem::{Problem, Read, friction_laws, uniform_friction};

/// Complementarity problems are held dense; a file that claims more unknowns than this is refused.
const MOST_UNKNOWNS: usize = 8192;

/// Reads the text of a file; the path may determine the kind and names the file in messages.
pub fn parse(path: &Path, text: &str) -> Result<Read, FileError> {
    let mut lexer = Lexer::new(path, text);
    let problem = match kind_by_name(path).or_else(|| kind_by_numbers(text)) {
        Some(Kind::Lcp) => lexer.lcp(),
        Some(Kind::Mlcp) => lexer.mlcp(),
        Some(Kind::Local) => lexer.contacts(Some(false)),
        Some(Kind::Global) => lexer.contacts(Some(true)),
        Some(Kind::Contacts) => lexer.contacts(None),
        Some(Kind::Relay) => Err(FileError::OtherKind { file: path.to_owned(), kind: "a relay problem" }),
        None => Err(FileError::UnknownKind { file: path.to_owned(), found: beginning(text) }),
    }?;
    let left = lexer.tokens_left();
    let ignored = if left > 0 { vec![format!("{left} numbers or words after the problem")] } else { vec![] };
    Ok(Read { problem, ignored })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lcp,
    Mlcp,
    Relay,
    Local,
    Global,
    /// Local or global, determined by counting.
    Contacts,
}

/// The first words of a text.
fn beginning(text: &str) -> String {
    let words: Vec<&str> = text.split_ascii_whitespace().take(4).collect();
    match words.join(" ") {
        none if none.is_empty() => "nothing".into(),
        some => format!("a text that begins with \"{}\"", some.chars().take(60).collect::<String>()),
    }
}

fn kind_by_name(path: &Path) -> Option<Kind> {
    let lower = |s: &std::ffi::OsStr| s.to_string_lossy().to_lowercase();
    let name = path.file_name().map(lower)?;
    let folder = path.parent().and_then(Path::file_name).map(lower).unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|n| name.starts_with(n));
    if begins(&["lcp_"]) {
        Some(Kind::Lcp)
    } else if name.ends_with("_mlcp.dat") {
        Some(Kind::Mlcp)
    } else if begins(&["relay", "step_"]) {
        Some(Kind::Relay)
    } else if begins(&["gfc2d", "gfc3d", "grfc3d", "global_"]) && !name.contains("condensed") {
        Some(Kind::Global)
    } else if begins(&["fc2d", "fc3d", "rfc3d", "rockfall"]) {
        Some(Kind::Local)
    } else if folder == "lcp" {
        Some(Kind::Lcp)
    } else if folder == "mlcp" {
        Some(Kind::Mlcp)
    } else if ["fc2d", "fc3d", "gfc2d", "gfc3d", "rolling"].iter().any(|f| folder.starts_with(f)) {
        Some(Kind::Contacts)
    } else {
        None
    }
}

/// The kind by the sizes at the beginning: `n storage n n`, `s1 s2 n m [0 …]` or `d nc storage rows`.
fn kind_by_numbers(text: &str) -> Option<Kind> {
    let head: Vec<&str> = text.split_ascii_whitespace().take(8).collect();
    let numbers: Vec<u64> = head.iter().map_while(|t| t.parse().ok()).collect();
    let at = |i: usize| numbers.get(i).copied();
    let dimension = matches!(at(0), Some(2 | 3 | 5));
    let (Some(a), Some(b), Some(c), Some(d)) = (at(0), at(1), at(2), at(3)) else {
        // The parser reports a number that is not a count.
        let numbers = head.iter().take(4).filter(|t| t.parse::<f64>().is_ok()).count();
        return (dimension && numbers == 4).then_some(Kind::Contacts);
    };
    // One contact in the plane with a sparse matrix begins like two unknowns with a block matrix.
    let sparse = head.contains(&"CSparse");
    if a <= 1 && b <= 1 && a + b > 0 && (a == 0 || at(4) == Some(0)) {
        Some(Kind::Mlcp)
    } else if b <= 2 && c == a && d == a && !(sparse && b != 2) {
        Some(Kind::Lcp)
    } else if c <= 2 && (dimension || at(4) == Some(d)) {
        // Also with an invalid dimension, which the parser reports.
        Some(Kind::Contacts)
    } else if c == a && d == a {
        // As are invalid storage codes.
        Some(Kind::Lcp)
    } else {
        dimension.then_some(Kind::Contacts)
    }
}

impl Lexer<'_> {
    fn unknowns(&mut self, what: &str) -> Result<usize, FileError> {
        let n = self.count(what)?;
        if n > MOST_UNKNOWNS {
            return Err(self.wrong(format!("{what}, at most {MOST_UNKNOWNS}"), n.to_string()));
        }
        Ok(n)
    }

    fn lcp(&mut self) -> Result<Problem, FileError> {
        let n = self.unknowns("the number of unknowns")?;
        let matrix = self.matrix("matrix", Some(n), Some(n))?.to_dense();
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
            let matrix = self.matrix("matrix", Some(total), Some(total))?.to_dense();
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

    /// A contact problem: `d nc` and a local or a global form; if it is not known which, counting decides.
    fn contacts(&mut self, global: Option<bool>) -> Result<Problem, FileError> {
        let d = self.count("the dimension of a contact (2, 3 or 5)")?;
        if !matches!(d, 2 | 3 | 5) {
            let dimensions =
                "the dimension 2 (contacts in the plane), 3 (in space) or 5 (with rolling friction)";
            return Err(self.wrong(dimensions, d.to_string()));
        }
        let contacts = self.count("the number of contacts")?;
        let rows = self.room_for(contacts.checked_mul(d), "the velocity of the contacts")?;
        let name = if global == Some(false) { "Delassus matrix" } else { "first matrix" };
        let mut header = self.clone();
        header.count(&format!("the storage of the {name} (0, 1 or 2)"))?;
        let found = header.count(&format!("the rows of the {name}"))?;
        let expected = format!("{rows} rows of the {name}: {contacts} contacts of dimension {d}");
        if global == Some(false) && found != rows {
            return Err(header.wrong(expected, found.to_string()));
        }
        let first = self.matrix(name, None, None)?;
        // Another number of rows is that of a mass, which a matrix H must follow.
        if global.is_none() && found != rows && !self.at_a_matrix() {
            return Err(header.wrong(expected, format!("{found}, and no matrix H after it")));
        }
        let global = global.unwrap_or_else(|| {
            let mut ahead = self.clone();
            first.rows() != rows || {
                let vectors = if d == 5 { 2 } else { 1 };
                let extra = self.tokens_left().checked_sub(rows + vectors * contacts);
                // Where the count does not fit a local problem, a second matrix must be there.
                !matches!(extra, Some(0 | 1)) && ahead.matrix("matrix H", Some(rows), Some(rows)).is_ok()
            }
        });
        let form = if global {
            let jacobian_transposed = self.matrix("matrix H", Some(first.rows()), Some(rows))?;
            let force = self.numbers(first.rows(), "the force f")?;
            let bias = self.numbers(rows, "the velocity b")?;
            Form::Global { mass: first, jacobian_transposed, force, bias }
        } else {
            Form::Local { delassus: first, free_velocity: self.numbers(rows, "the free velocity q")? }
        };
        let mu = self.friction(contacts, "a friction coefficient")?;
        let rolling =
            if d == 5 { self.friction(contacts, "a rolling friction coefficient")? } else { vec![] };
        self.no_more_numbers(contacts)?;
        ContactProblem::new(friction_laws(d, &mu, &rolling), form)
            .map(Problem::Friction)
            .map_err(|source| FileError::Invalid { file: self.file.to_owned(), source })
    }

    /// Whether the sizes of a matrix come next.
    fn at_a_matrix(&self) -> bool {
        let mut ahead = self.clone();
        let mut size = || ahead.count("a size");
        matches!((size(), size(), size()), (Ok(0..=2), Ok(_), Ok(_)))
    }

    /// After the coefficients of all contacts 0 or 1 may follow, and words.
    fn no_more_numbers(&self, contacts: usize) -> Result<(), FileError> {
        let mut ahead = self.clone();
        for may_be_a_flag in [true, false] {
            let Ok(token) = ahead.token("a number") else { break };
            if token.parse::<f64>().is_err() {
                break;
            }
            if !(may_be_a_flag && matches!(token, "0" | "1")) {
                let left = ahead.tokens_left();
                let more = if left > 0 { format!(" and {left} more") } else { String::new() };
                let expected = format!("the end of the file after the coefficients of {contacts} contacts");
                return Err(ahead.wrong(expected, format!("\"{token}\"{more}")));
            }
        }
        Ok(())
    }

    fn friction(&mut self, count: usize, what: &str) -> Result<Vec<f64>, FileError> {
        let count = self.room_for(Some(count), what)?;
        (0..count)
            .map(|_| {
                let mu = self.number(what)?;
                if mu >= 0.0 {
                    Ok(mu)
                } else {
                    Err(self.wrong(format!("{what}, not negative"), mu.to_string()))
                }
            })
            .collect()
    }
}

/// The text of a file. Complementarity problems are written dense, matrices of contact problems as triplets,
/// with 17 digits: what is read back has the same bits.
pub fn format(path: &Path, problem: &Problem) -> Result<String, FileError> {
    let mut text = String::new();
    match problem {
        Problem::Lcp(p) => {
            line(&mut text, &[p.vector.len()]);
            dense(&mut text, &p.matrix);
            numbers(&mut text, &p.vector);
        }
        Problem::Mlcp(p) => {
            let free = p.free.iter().filter(|f| **f).count();
            line(&mut text, &[1, 0, free, p.free.len() - free]);
            // Intervals of one kind.
            let ends: Vec<usize> = (0..=p.free.len())
                .filter(|&i| i == 0 || i == p.free.len() || p.free[i] != p.free[i - 1])
                .collect();
            line(&mut text, &ends);
            let flags: Vec<usize> = ends.windows(2).map(|e| usize::from(!p.free[e[0]])).collect();
            line(&mut text, &flags);
            dense(&mut text, &p.matrix);
            numbers(&mut text, &p.vector);
        }
        Problem::Friction(p) => {
            let (d, coefficients) = uniform_friction(path, &p.laws)?;
            line(&mut text, &[d, p.laws.len()]);
            match &p.form {
                Form::Local { delassus, free_velocity } => {
                    triplets(&mut text, delassus);
                    numbers(&mut text, free_velocity);
                }
                Form::Global { mass, jacobian_transposed, force, bias } => {
                    triplets(&mut text, mass);
                    triplets(&mut text, jacobian_transposed);
                    numbers(&mut text, force);
                    numbers(&mut text, bias);
                }
            }
            for k in 0..if d == 5 { 2 } else { 1 } {
                numbers(&mut text, &coefficients.iter().map(|c| c[k]).collect::<Vec<_>>());
            }
        }
    }
    Ok(text)
}

fn line(text: &mut String, counts: &[usize]) {
    let words: Vec<String> = counts.iter().map(usize::to_string).collect();
    text.push_str(&words.join(" "));
    text.push('\n');
}

fn numbers(text: &mut String, x: &[f64]) {
    // Writing to a string does not fail.
    for x in x {
        let _ = writeln!(text, "{x:.16e}");
    }
}

fn dense(text: &mut String, a: &Matrix) {
    let _ = write!(text, "0\n{0}\n{1}\n{0}\t{1}\n", a.rows(), a.cols());
    for j in 0..a.cols() {
        numbers(text, &a.col(j));
    }
}

fn triplets(text: &mut String, a: &Sparse) {
    let (m, n, stored) = (a.rows(), a.cols(), a.stored());
    let _ = write!(
        text,
        "2\n{m}\n{n}\n1\nCSparse Version 4.0.0\ntriplet: {m}-by-{n}, nzmax: {stored} nnz: {stored}\n"
    );
    for (i, j, x) in a.triplets() {
        let _ = writeln!(text, "    {i} {j} : {x:.16e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lcp(text: &str) -> Result<Lcp, FileError> {
        match parse(Path::new("lcp_test.dat"), text)?.problem {
            Problem::Lcp(p) => Ok(p),
            _ => panic!("an LCP"),
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
    }

    #[test]
    fn mixed_problems() {
        let matrix = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
        let expected = Problem::Mlcp(Mlcp::new(matrix, vec![5.0, 6.0], vec![true, false]).unwrap());
        let whole = "1 1 1 1\n0 1 2\n0 1\n0 2 2 2 2 1 3 2 4 5 6 1 4 2 3 5 6";
        let parts = "0 1 1 1\n1 4 2 3 5 6";
        assert_eq!(parse(Path::new("x_mlcp.dat"), whole).unwrap().problem, expected);
        assert_eq!(parse(Path::new("x.dat"), whole).unwrap().problem, expected);
        assert_eq!(parse(Path::new("x.dat"), parts).unwrap().problem, expected);
    }

    #[test]
    fn the_kind_is_read() {
        assert_eq!(kind_by_name(Path::new("a/lcp_x.dat")), Some(Kind::Lcp));
        assert_eq!(kind_by_name(Path::new("a/X_mlcp.dat")), Some(Kind::Mlcp));
        assert_eq!(kind_by_name(Path::new("fc3d/Box.dat")), Some(Kind::Contacts));
        assert_eq!(kind_by_name(Path::new("lcp/other.dat")), Some(Kind::Lcp));
        assert_eq!(kind_by_numbers("4 0 4 4 4 4 1.0"), Some(Kind::Lcp));
        assert_eq!(kind_by_numbers("3 10 1 30 30"), Some(Kind::Contacts));
        assert_eq!(kind_by_numbers("2 1 2 2 2 1 CSparse Version"), Some(Kind::Contacts));
        assert_eq!(kind_by_numbers("hello"), None);
        for (name, kind) in [
            ("GFC3D_x.dat", Kind::Global),
            ("GFC3D_x_condensed.dat", Kind::Contacts),
            ("global_x.dat", Kind::Global),
            ("rolling/GRFC3D_x.dat", Kind::Global),
            ("rolling/RFC3D_x.dat", Kind::Local),
            ("rockfall_1.dat", Kind::Local),
            ("fc2d/gfc2d_x.dat", Kind::Global),
            ("fc2d_x.dat", Kind::Local),
        ] {
            let found = kind_by_name(Path::new(name)).or_else(|| kind_by_numbers("3 1 0 3 3"));
            assert_eq!(found, Some(kind), "{name}");
        }
        assert!(message("relay1.dat", "1").contains("found a relay problem"));
        assert!(
            message("x.dat", "").contains("expected an LCP")
                && message("x.dat", "").contains("found nothing")
        );
        assert!(message("x.dat", "one two").ends_with("found a text that begins with \"one two\""));
    }

    #[test]
    fn bad_files_are_reported_with_their_place() {
        let expected = "lcp_a.dat:4: expected the matrix, a finite number, found \"x\"";
        assert_eq!(message("lcp_a.dat", "2\n0 2 2\n2 2\n1 x 3 4\n5 6"), expected);
        for bad in ["nan", "inf", "1e999"] {
            assert!(message("lcp_a.dat", &format!("1 0 1 1 1 1 {bad} 2")).contains("a finite number"));
        }
        assert!(message("lcp_a.dat", "2 0 2 2 2 2 1 2 3 4 5").contains("found the end of the file"));
        assert!(message("lcp_a.dat", "1000000000000 0").contains("at most"));
        assert!(message("lcp_a.dat", "8000 0 8000 8000 8000 8000 1").contains("room for"));
        assert!(message("lcp_a.dat", "-1 0").contains("a whole number"));
        assert!(message("lcp_a.dat", "2 0 3 2").contains("expected 2 rows of the matrix, found 3"));
        assert!(message("lcp_a.dat", "2 7 2 2").contains("storage"));
        assert!(
            message("lcp_a.dat", "2 1 2 2 1 1 1 3 2 2 1 0 1 0 0 1 3 2 4 5 6").contains("increasing up to 2")
        );
        assert!(message("lcp_a.dat", "2 1 2 2 1 1 1 2 2 2 1 0 9 0 0 1 3 2 4 5 6").contains("blocks up to"));
        assert!(message("x_mlcp.dat", "1 1 1 1 0 3").contains("a row after 0, at most 2"));
        assert!(message("x_mlcp.dat", "0 0 1 1").contains("to be 1"));
        let triplet = "2\n2\n2\n2\n1\nC\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 5 0 : 1\n5 6";
        assert!(message("lcp_a.dat", triplet).contains("lcp_a.dat:8: expected a place in 2 × 2"));
        let columns = "2\n2\n2\n2\n2\nC\n2-by-2, nzmax: 3 nnz: 3\n col 0 : locations 0 to 1\n 0 : 1\n 1 : 2\n\
                       \x20col 1 : locations 2 to 2\n 1 : 3\n5 6";
        assert!(lcp(columns).is_ok());
        for (from, to, line, expected) in [
            (" 1 : 2", " 1 2", 10, "index : value, found \"1 2\""),
            (" 1 : 2", " 2 : 2", 10, "a place in 2 × 2, found (2, 0)"),
            ("col 1 : locations 2", "col 1 : locations 1", 11, "locations from 2 on"),
            ("col 1 :", "col 1", 11, "col j : locations a to b, found"),
            ("nnz: 3", "nnz: 4", 7, "nnz: 3, the entries of the matrix, found 4"),
            ("nnz: 3", "nnz 3", 7, "R-by-C, nzmax: Z nnz: N, found"),
            ("5 6", "5", 12, "2 numbers of the vector q, found room for 1"),
        ] {
            assert!(columns.contains(from));
            let message = message("lcp_a.dat", &columns.replacen(from, to, 1));
            assert!(message.starts_with(&format!("lcp_a.dat:{line}: expected {expected}")), "{message}");
        }
    }

    /// The same problems with an uninformative name, and with trailing numbers.
    #[test]
    fn contacts_are_counted() {
        let local = "2 1 0 2 2 2 2 1 0 0 1 -2 3 0.5";
        let global = "2 1 0 2 2 2 2 4 0 0 1 0 2 2 2 2 1 0 0 1 -2 3 7 8 0.5";
        let kinds = |text: &str| {
            let read = parse(Path::new("unnamed.dat"), text).unwrap();
            let Problem::Friction(p) = &read.problem else { panic!("contacts") };
            assert_eq!(p.laws, [delassus_solve::problem::Law::CoulombPlane { mu: 0.5 }]);
            (read.problem.kind(), read.ignored.len())
        };
        assert_eq!(kinds(local), ("fc2d", 0));
        assert_eq!(kinds(&format!("{local} 1")), ("fc2d", 1));
        assert_eq!(kinds(&format!("{local} 1 and some words")), ("fc2d", 1));
        assert_eq!(kinds(global), ("gfc2d", 0));
        assert_eq!(kinds(&format!("{global} 1")), ("gfc2d", 1));
        let none = parse(Path::new("gfc2d_x.dat"), "2 0 0 1 1 1 1 4 0 1 0 1 0 -2").unwrap().problem;
        assert_eq!((none.kind(), none.contacts()), ("gfc3d", Some(0)));
    }

    #[test]
    fn bad_contacts_are_reported_with_their_place() {
        for (name, text, expected) in [
            (
                "fc3d_a.dat",
                "\n4 1",
                "a.dat:2: expected the dimension 2 (contacts in the plane), 3 (in space) or 5 (with rolling friction), found 4",
            ),
            (
                "a.dat",
                "4 2\n0 6 6 6 6",
                "a.dat:1: expected the dimension 2 (contacts in the plane), 3 (in space) or 5",
            ),
            (
                "fc2d_a.dat",
                "2 2\n0\n2 2 2 2 1 0 0 1\n-2 3\n0.5",
                "a.dat:3: expected 4 rows of the Delassus matrix: 2 contacts of dimension 2, found 2",
            ),
            (
                "a.dat",
                "2 2\n0\n2 2 2 2 1 0 0 1\n-2 3\n0.5",
                "a.dat:3: expected 4 rows of the first matrix: 2 contacts of dimension 2, found 2, and no matrix H",
            ),
            (
                "fc2d_a.dat",
                "2 1\n0 2 2 2 2 1 0 0 1\n-2 3\n0.5 0.6\n0.7 0.8",
                "a.dat:4: expected the end of the file after the coefficients of 1 contacts, found \"0.6\" and 2 more",
            ),
            ("fc2d_a.dat", "2 1\n0 2 2 2 2 1 0 0 1\n-2 3\n0.5\n1 7", "a.dat:5: expected the end of the file"),
            (
                "fc2d_a.dat",
                "2 1\n1 2 2\n0\n-2 3\n0.5",
                "a.dat:3: expected at least one block of the Delassus matrix with 2 rows and 2 columns, found 0",
            ),
            (
                "a.dat",
                "3 -3\n0 9 9",
                "a.dat:1: expected the number of contacts, a whole number, found \"-3\"",
            ),
            (
                "a.dat",
                "3\n3.5 0 9",
                "a.dat:2: expected the number of contacts, a whole number, found \"3.5\"",
            ),
            (
                "a.dat",
                "2 1\n7 2 2 2 2",
                "a.dat:2: expected the storage of the first matrix: 0 (dense), 1 (blocks) or 2 (sparse), found 7",
            ),
            ("a.dat", "4 7 4 4", "a.dat:1: expected the storage of the matrix: 0 (dense)"),
            ("fc3d_a.dat", "3 99999999999999999999", "a whole number"),
            ("fc3d_a.dat", "3 9999999999999999999", "beyond all bounds"),
            ("fc3d_a.dat", "3 999999999 0", "room for"),
            ("fc2d_a.dat", "2 1 0 3 3", "2 rows of the Delassus matrix: 1 contacts of dimension 2, found 3"),
            ("gfc2d_a.dat", "2 1 1 99999999 99999999 0", "room for"),
            ("gfc2d_a.dat", "2 1 1 2 2 0", "at least one block of the first matrix"),
            ("gfc2d_a.dat", "2 1 0 1 1 1 1 5 0 2 2", "1 rows of the matrix H, found 2"),
            (
                "fc2d_a.dat",
                "2 1\n0 2 2 2 2 1 0 0 1\n-2",
                "a.dat:3: expected the free velocity q, found the end",
            ),
            ("fc2d_a.dat", "2 1\n0 2 2 2 2 1 0 0 1\n-2 3\n-0.5", "not negative, found -0.5"),
            ("fc2d_a.dat", "2 1\n0 2 2 2 2 1 0 0 nan\n-2 3\n0.5", "a finite number"),
            (
                "RFC3D_a.dat",
                "5 1 2 5 5 1\nC\ntriplet: 5-by-5, nzmax: 0 nnz: 0\n1 2 3 4 5 0.5",
                "a rolling friction coefficient, found the end",
            ),
        ] {
            let message = message(name, text);
            assert!(message.contains(expected), "{message}");
        }
    }
}
