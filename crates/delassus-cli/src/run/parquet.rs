//! Parquet files: columns of numbers and of text, none of them ever empty, uncompressed.
//!
//! ```text
//! "PAR1" , row groups , footer , length of the footer (u32) , "PAR1"
//! row group = one page per column: header , values          double: 8 bytes; text: length (u32), UTF-8
//! ```
//!
//! Rows go to a file beside it, `NAME.part`, which has no footer yet. The file itself is always whole: it is
//! replaced where [`ParquetFile::save`] is called and at the end, so that a run that is killed leaves what it
//! had saved.
//!
//! Headers and footer are structs in Thrift's compact protocol: a field is its distance to the field before
//! and its type in one byte, integers are zigzag numbers of seven bits a byte. All numbers are little-endian.
//! Source: Apache Parquet format, version 2.

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Both ends of a file.
pub const MAGIC: &[u8] = b"PAR1";
/// Values that are written together.
const GROUP: usize = 4096;

// Codes of the format.
/// Type of numbers.
pub const DOUBLE: i64 = 5;
/// Type of text.
pub const BYTE_ARRAY: i64 = 6;
const UTF8: i64 = 0;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
/// The codec.
pub const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

// Types of Thrift's compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A file being written: columns of text, then columns of numbers.
pub struct ParquetFile {
    /// The file that is whole, and the one that grows.
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    columns: Vec<Column>,
    /// Bytes written.
    at: u64,
    rows: usize,
    groups: Vec<Group>,
}

struct Column {
    name: String,
    text: bool,
    /// Values of the next row group, as they are written.
    bytes: Vec<u8>,
}

/// A row group: its rows, and where the page of each column begins and how long it is.
struct Group {
    rows: usize,
    pages: Vec<(u64, u64)>,
}

impl ParquetFile {
    /// A new file with these columns. What stands under its name stays until it is saved; what a run that was
    /// killed while it saved has left beside it does not.
    pub fn create(path: &Path, texts: &[&str], numbers: &[String]) -> Result<ParquetFile, Error> {
        let part = beside(path, ".part");
        match std::fs::remove_file(beside(path, ".new")) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = BufWriter::new(File::create(&part)?);
        file.write_all(MAGIC)?;
        let column = |name: String, text: bool| Column { name, text, bytes: Vec::new() };
        let texts = texts.iter().map(|name| column(name.to_string(), true));
        let columns = texts.chain(numbers.iter().map(|name| column(name.clone(), false))).collect();
        let (path, at) = (path.to_owned(), MAGIC.len() as u64);
        Ok(ParquetFile { path, part, file, columns, at, rows: 0, groups: Vec::new() })
    }

    /// Adds a row.
    pub fn row(&mut self, texts: &[&str], numbers: impl IntoIterator<Item = f64>) -> Result<(), Error> {
        let (of_text, of_numbers) = self.columns.split_at_mut(texts.len());
        for (column, text) in of_text.iter_mut().zip(texts) {
            column.bytes.extend((text.len() as u32).to_le_bytes());
            column.bytes.extend(text.as_bytes());
        }
        for (column, x) in of_numbers.iter_mut().zip(numbers) {
            column.bytes.extend(x.to_le_bytes());
        }
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the rows that wait as a row group.
    fn flush(&mut self) -> Result<(), Error> {
        let mut pages = Vec::new();
        for column in &mut self.columns {
            let (size, rows) = (column.bytes.len() as i64, self.rows as i64);
            let mut header = Compact::default();
            header.int(1, I32, DATA_PAGE).int(2, I32, size).int(3, I32, size);
            header.open(5).int(1, I32, rows).int(2, I32, PLAIN).int(3, I32, RLE).int(4, I32, RLE).close();
            header.stop();
            self.file.write_all(&header.bytes)?;
            self.file.write_all(&column.bytes)?;
            let length = (header.bytes.len() + column.bytes.len()) as u64;
            pages.push((self.at, length));
            self.at += length;
            column.bytes.clear();
        }
        self.groups.push(Group { rows: self.rows, pages });
        self.rows = 0;
        Ok(())
    }

    /// Makes all rows up to now readable under the name of the file, which is replaced as a whole.
    pub fn save(&mut self) -> Result<(), Error> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.file.flush()?;
        let new = beside(&self.path, ".new");
        let saved = std::fs::copy(&self.part, &new).and_then(|_| {
            let mut file = File::options().append(true).open(&new)?;
            file.write_all(&self.footer())?;
            std::fs::rename(&new, &self.path)
        });
        saved.inspect_err(|_| drop(std::fs::remove_file(&new)))
    }

    /// Writes what waits, and the footer, and gives the file its name.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.rows > 0 {
            self.flush()?;
        }
        let footer = self.footer();
        self.file.write_all(&footer)?;
        self.file.flush()?;
        std::fs::rename(&self.part, &self.path)
    }

    /// Removes the file that grows; the last one that was saved stays.
    pub fn abandon(&self) {
        drop(std::fs::remove_file(&self.part));
    }

    /// The footer with its length and the end of the file.
    fn footer(&self) -> Vec<u8> {
        let mut footer = Compact::default();
        footer.int(1, I32, 1);
        footer.list(2, STRUCT, self.columns.len() + 1);
        footer.element().text(4, "run").int(5, I32, self.columns.len() as i64).close();
        for Column { name, text, .. } in &self.columns {
            footer.element().int(1, I32, if *text { BYTE_ARRAY } else { DOUBLE }).int(3, I32, REQUIRED);
            footer.text(4, name);
            if *text {
                footer.int(6, I32, UTF8);
            }
            footer.close();
        }
        footer.int(3, I64, self.groups.iter().map(|g| g.rows as i64).sum());
        footer.list(4, STRUCT, self.groups.len());
        for group in &self.groups {
            footer.element().list(1, STRUCT, self.columns.len());
            for (column, &(start, length)) in self.columns.iter().zip(&group.pages) {
                let (start, length) = (start as i64, length as i64);
                footer.element().int(2, I64, start).open(3);
                footer.int(1, I32, if column.text { BYTE_ARRAY } else { DOUBLE });
                footer.list(2, I32, 2).number(PLAIN).number(RLE);
                footer.list(3, BINARY, 1).string(&column.name);
                footer.int(4, I32, UNCOMPRESSED).int(5, I64, group.rows as i64);
                footer.int(6, I64, length).int(7, I64, length).int(9, I64, start).close().close();
            }
            let size: u64 = group.pages.iter().map(|(_, length)| length).sum();
            footer.int(2, I64, size as i64).int(3, I64, group.rows as i64).close();
        }
        footer.text(6, concat!("delassus version ", env!("CARGO_PKG_VERSION")));
        footer.stop();
        let mut bytes = footer.bytes;
        let length = bytes.len() as u32;
        bytes.extend(length.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }
}

/// A path with something added to its name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A struct in the compact protocol.
#[derive(Default)]
struct Compact {
    bytes: Vec<u8>,
    /// The last field of each struct that is open around, and of this one.
    around: Vec<i64>,
    last: i64,
}

impl Compact {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// An integer without a field: an element of a list.
    fn number(&mut self, value: i64) -> &mut Self {
        self.varint((value << 1 ^ value >> 63) as u64);
        self
    }

    fn string(&mut self, text: &str) -> &mut Self {
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
        self
    }

    /// The fields of these structs are never fifteen or more apart.
    fn field(&mut self, id: i64, kind: u8) {
        self.bytes.push(((id - self.last) as u8) << 4 | kind);
        self.last = id;
    }

    fn int(&mut self, id: i64, kind: u8, value: i64) -> &mut Self {
        self.field(id, kind);
        self.number(value)
    }

    fn text(&mut self, id: i64, text: &str) -> &mut Self {
        self.field(id, BINARY);
        self.string(text)
    }

    fn list(&mut self, id: i64, kind: u8, length: usize) -> &mut Self {
        self.field(id, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(length as u64);
        }
        self
    }

    /// A struct in a field.
    fn open(&mut self, id: i64) -> &mut Self {
        self.field(id, STRUCT);
        self.element()
    }

    /// A struct in a list.
    fn element(&mut self) -> &mut Self {
        self.around.push(self.last);
        self.last = 0;
        self
    }

    fn stop(&mut self) {
        self.bytes.push(0);
    }

    fn close(&mut self) -> &mut Self {
        self.stop();
        self.last = self.around.pop().unwrap_or_default();
        self
    }
}
