//! The stream of numbers in a Siconos file, and its matrices.
//!
//! Matrices come dense (column after column), in blocks, or sparse (the one part that is read by lines).

use std::path::Path;

use delassus_solve::linalg::Sparse;

use crate::FileError;

#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    pub(crate) file: &'a Path,
    text: &'a str,
    position: usize,
    /// The line at `position`, and the one of what was read last.
    line: usize,
    read: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(file: &'a Path, text: &'a str) -> Self {
        Lexer { file, text, position: 0, line: 1, read: 1 }
    }

    /// Number of tokens that are left.
    pub(crate) fn tokens_left(&self) -> usize {
        self.text[self.position..].split_ascii_whitespace().count()
    }

    pub(crate) fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> FileError {
        let mut found: String = found.into();
        if found.chars().count() > 40 {
            found = found.chars().take(40).chain(['…']).collect();
        }
        FileError::Syntax { file: self.file.to_owned(), line: self.read, expected: expected.into(), found }
    }

    pub(crate) fn token(&mut self, expected: &str) -> Result<&'a str, FileError> {
        let bytes = self.text.as_bytes();
        let mut start = self.position;
        while start < bytes.len() && bytes[start].is_ascii_whitespace() {
            self.line += usize::from(bytes[start] == b'\n');
            start += 1;
        }
        self.read = self.line;
        let length = bytes[start..].iter().position(u8::is_ascii_whitespace);
        self.position = length.map_or(bytes.len(), |length| start + length);
        let token = &self.text[start..self.position];
        if token.is_empty() { Err(self.wrong(expected, "the end of the file")) } else { Ok(token) }
    }

    /// The rest of the current line.
    pub(crate) fn rest_of_line(&mut self, expected: &str) -> Result<&'a str, FileError> {
        self.read = self.line;
        if self.position >= self.text.len() {
            return Err(self.wrong(expected, "the end of the file"));
        }
        let rest = &self.text[self.position..];
        let line = rest.split('\n').next().unwrap_or_default();
        self.position = (self.position + line.len() + 1).min(self.text.len());
        self.line += 1;
        Ok(line)
    }

    pub(crate) fn count(&mut self, what: &str) -> Result<usize, FileError> {
        let token = self.token(what)?;
        token.parse().map_err(|_| self.wrong(format!("{what}, a whole number"), format!("\"{token}\"")))
    }

    pub(crate) fn number(&mut self, what: &str) -> Result<f64, FileError> {
        let token = self.token(what)?;
        match token.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(self.wrong(format!("{what}, a finite number"), format!("\"{token}\""))),
        }
    }

    /// Refuses a count of numbers that the rest of the text cannot hold: each takes two characters.
    pub(crate) fn room_for(&self, count: Option<usize>, what: &str) -> Result<usize, FileError> {
        let left = (self.text.len() - self.position) / 2 + 1;
        match count {
            Some(n) if n <= left => Ok(n),
            Some(n) => Err(self.wrong(format!("{n} numbers of {what}"), format!("room for {left}"))),
            None => Err(self.wrong(format!("a possible size of {what}"), "one beyond all bounds")),
        }
    }

    pub(crate) fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<f64>, FileError> {
        let count = self.room_for(Some(count), what)?;
        (0..count).map(|_| self.number(what)).collect()
    }

    pub(crate) fn counts(&mut self, count: usize, what: &str) -> Result<Vec<usize>, FileError> {
        let count = self.room_for(Some(count), what)?;
        (0..count).map(|_| self.count(what)).collect()
    }

    pub(crate) fn flag(&mut self, what: &str) -> Result<bool, FileError> {
        match self.count(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.wrong(what, other.to_string())),
        }
    }

    /// A matrix of `rows` × `cols`, or of any square size where `rows` is not known.
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        rows: Option<usize>,
        cols: Option<usize>,
    ) -> Result<Sparse, FileError> {
        let storage = self.count(&format!("the storage of the {name} (0, 1 or 2)"))?;
        if storage > 2 {
            let known = format!("the storage of the {name}: 0 (dense), 1 (blocks) or 2 (sparse)");
            return Err(self.wrong(known, storage.to_string()));
        }
        let what = |n: usize, what: &str| format!("{n} {what} of the {name}");
        let rows = match rows {
            Some(n) => self.exactly(n, &what(n, "rows"))?,
            // A vector of this length follows.
            None => {
                let n = self.count(&format!("the rows of the {name}"))?;
                self.room_for(Some(n), &format!("the {name}"))?
            }
        };
        let n = cols.unwrap_or(rows);
        let cols = self.exactly(n, &what(n, "columns"))?;
        match storage {
            0 => self.dense(name, rows, cols),
            1 => self.blocks(name, rows, cols),
            _ => self.sparse(name, rows, cols),
        }
    }

    pub(crate) fn exactly(&mut self, value: usize, what: &str) -> Result<usize, FileError> {
        let found = self.count(what)?;
        if found == value { Ok(found) } else { Err(self.wrong(what, found.to_string())) }
    }

    /// The number of a block, which stands before its entries.
    fn block_number(&mut self, k: usize) -> Result<(), FileError> {
        let found = self.count("the number of a block")?;
        if found == k { Ok(()) } else { Err(self.wrong(format!("the block number {k}"), found.to_string())) }
    }

    fn dense(&mut self, name: &str, rows: usize, cols: usize) -> Result<Sparse, FileError> {
        for (n, what) in [(rows, "rows"), (cols, "columns")] {
            self.exactly(n, &format!("{n} {what}"))?;
        }
        let count = self.room_for(rows.checked_mul(cols), &format!("the {name}"))?;
        let numbers = self.numbers(count, &format!("the {name}"))?;
        let entries: Vec<(usize, usize, f64)> = numbers
            .iter()
            .enumerate()
            .filter(|e| *e.1 != 0.0)
            .map(|(k, x)| (k % rows, k / rows, *x))
            .collect();
        Ok(Sparse::from_triplets(rows, cols, &entries))
    }

    fn blocks(&mut self, name: &str, rows: usize, cols: usize) -> Result<Sparse, FileError> {
        let mut entries = vec![];
        let stored = self.count("the number of blocks")?;
        if stored == 0 && (rows == 0 || cols == 0) {
            return Ok(Sparse::zeros(rows, cols));
        }
        if stored == 0 {
            let least = format!("at least one block of the {name} with {rows} rows and {cols} columns");
            return Err(self.wrong(least, "0"));
        }
        let block_rows = self.count("the number of block rows")?;
        let block_cols = self.count("the number of block columns")?;
        let row_ends = self.ends(block_rows, rows, "the ends of the block rows")?;
        let col_ends = self.ends(block_cols, cols, "the ends of the block columns")?;
        let pointers = self.count("the size of the row pointer")?;
        let columns = self.count("the number of block column indices")?;
        if pointers == 0 || pointers > block_rows + 1 || columns != stored {
            let sizes = format!("at most {} row pointers and {stored} column indices", block_rows + 1);
            return Err(self.wrong(sizes, format!("{pointers} and {columns}")));
        }
        let pointer = self.counts(pointers, "the row pointer")?;
        let column = self.counts(columns, "the block columns")?;
        let entry = format!("an entry of a block of the {name}");
        let span = |ends: &[usize], k: usize| if k == 0 { 0..ends[0] } else { ends[k - 1]..ends[k] };
        for (block_row, range) in pointer.windows(2).enumerate() {
            for k in range[0]..range[1] {
                let Some(&block_col) = column.get(k).filter(|&&c| c < block_cols) else {
                    return Err(
                        self.wrong(format!("blocks up to {stored} in {block_cols} columns"), k.to_string())
                    );
                };
                self.block_number(k)?;
                for j in span(&col_ends, block_col) {
                    for i in span(&row_ends, block_row) {
                        entries.push((i, j, self.number(&entry)?));
                    }
                }
            }
        }
        Ok(Sparse::from_triplets(rows, cols, &entries))
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

    fn sparse(&mut self, name: &str, rows: usize, cols: usize) -> Result<Sparse, FileError> {
        self.count("the origin of the sparse matrix")?;
        self.rest_of_line("the end of the line")?;
        self.rest_of_line("the line of the writer")?;
        let header = self.rest_of_line("the header of the sparse matrix")?.replace(',', " ");
        let mut words = header.split_whitespace().peekable();
        let prefix = words.next_if(|w| w.ends_with(':'));
        let size = words.next().and_then(|w| w.split_once("-by-"));
        let size = size.and_then(|(r, c)| Some((r.parse::<usize>().ok()?, c.parse::<usize>().ok()?)));
        let entries = words.skip_while(|w| *w != "nnz:").nth(1).and_then(|w| w.parse::<usize>().ok());
        let (Some(size), Some(stored)) = (size, entries) else {
            return Err(self.wrong("R-by-C, nzmax: Z nnz: N", format!("\"{header}\"")));
        };
        if size != (rows, cols) {
            return Err(self.wrong(format!("{rows}-by-{cols}"), format!("{}-by-{}", size.0, size.1)));
        }
        let header = self.clone();
        let mut triplets = vec![];
        let inside = |lexer: &Self, i: usize, j: usize| {
            if i < rows && j < cols {
                return Ok(());
            }
            Err(lexer.wrong(format!("a place in {rows} × {cols}"), format!("({i}, {j})")))
        };
        if prefix == Some("triplet:") {
            for _ in 0..self.room_for(Some(stored), &format!("the {name}"))? {
                let (i, j, x) = self.entry("row col : value")?;
                inside(self, i, j)?;
                triplets.push((i, j, x));
            }
            return Ok(Sparse::from_triplets(rows, cols, &triplets));
        }
        let by_rows = prefix == Some("csr:");
        for outer in 0..if by_rows { rows } else { cols } {
            let line = self.rest_of_line("col j : locations a to b")?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |k: usize| words.get(k).and_then(|w| w.parse::<i64>().ok());
            let (Some(first), Some(last)) = (number(4), number(6)) else {
                return Err(self.wrong("col j : locations a to b", format!("\"{}\"", line.trim())));
            };
            if usize::try_from(first) != Ok(triplets.len()) {
                let expected = format!("locations from {} on", triplets.len());
                return Err(self.wrong(expected, format!("\"{}\"", line.trim())));
            }
            for _ in first..=last {
                let (inner, x) = self.short_entry()?;
                let (i, j) = if by_rows { (outer, inner) } else { (inner, outer) };
                inside(self, i, j)?;
                triplets.push((i, j, x));
            }
        }
        if triplets.len() != stored {
            return Err(header
                .wrong(format!("nnz: {}, the entries of the {name}", triplets.len()), stored.to_string()));
        }
        Ok(Sparse::from_triplets(rows, cols, &triplets))
    }

    fn entry(&mut self, expected: &str) -> Result<(usize, usize, f64), FileError> {
        let line = self.rest_of_line(expected)?;
        let mut words = line.split(|c: char| c == ':' || c.is_whitespace()).filter(|word| !word.is_empty());
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
