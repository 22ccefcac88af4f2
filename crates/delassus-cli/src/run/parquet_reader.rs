//! Parquet files as [`super::parquet`] writes them, read back: one page a column, uncompressed.
//!
//! Whatever else a file holds is refused in words, never with a panic: it may be damaged or of another
//! program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::parquet::{BYTE_ARRAY, DOUBLE, MAGIC, UNCOMPRESSED};

/// Structs and lists in each other, more than any file of ours has.
const MAX_DEPTH: usize = 16;

/// A value in Thrift's compact protocol; only what our files hold.
enum Thrift {
    Integer(i64),
    Text(Vec<u8>),
    List(Vec<Thrift>),
    Struct(BTreeMap<i64, Thrift>),
}

impl Thrift {
    fn field(&self, id: i64) -> Option<&Thrift> {
        let Thrift::Struct(fields) = self else { return None };
        fields.get(&id)
    }

    fn integer(&self, id: i64) -> Option<i64> {
        let Some(Thrift::Integer(x)) = self.field(id) else { return None };
        Some(*x)
    }

    fn text(&self, id: i64) -> Option<&[u8]> {
        let Some(Thrift::Text(text)) = self.field(id) else { return None };
        Some(text)
    }

    fn list(&self, id: i64) -> Option<&[Thrift]> {
        let Some(Thrift::List(list)) = self.field(id) else { return None };
        Some(list)
    }
}

/// Bytes from the front.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        // No list or text is longer than the bytes that are left.
        self.unsigned().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= self.0.len())
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thrift> {
        let depth = depth.checked_sub(1)?;
        match kind {
            4..=6 => {
                let n = self.unsigned()?;
                Some(Thrift::Integer((n >> 1) as i64 ^ -((n & 1) as i64)))
            }
            8 => {
                let length = self.length()?;
                Some(Thrift::Text(self.take(length)?.to_vec()))
            }
            9 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.length()? } else { usize::from(head >> 4) };
                let list: Option<_> = (0..length).map(|_| self.value(head & 15, depth)).collect();
                Some(Thrift::List(list?))
            }
            12 => {
                let (mut fields, mut id) = (BTreeMap::new(), 0);
                loop {
                    match self.byte()? {
                        0 => return Some(Thrift::Struct(fields)),
                        head if head >> 4 == 0 => return None,
                        head => {
                            id += i64::from(head >> 4);
                            fields.insert(id, self.value(head & 15, depth)?);
                        }
                    }
                }
            }
            _ => None,
        }
    }
}

/// A column of a row group.
enum Values {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

/// Reads a file with these columns of text and of numbers and shows its rows in their order. The error is in
/// words, without the name of the file.
pub fn read_rows(
    path: &Path,
    texts: &[&str],
    numbers: &[String],
    mut show: impl FnMut(&[&str], &[f64]) -> Result<(), String>,
) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot be read: {e}");
    let damaged = || "is damaged, or not a Parquet file of a run".to_string();
    let mut file = File::open(path).map_err(fail)?;
    let footer = footer(&mut file).map_err(fail)?.ok_or_else(damaged)?;
    let schema = footer.list(2).and_then(|all| all.get(1..)).ok_or_else(damaged)?;
    let names = schema.iter().map(|column| column.text(4));
    let expected = texts.iter().copied().chain(numbers.iter().map(String::as_str));
    if !names.eq(expected.map(|name| Some(name.as_bytes()))) {
        return Err("has other columns than this run would add to it".into());
    }
    for group in footer.list(4).ok_or_else(damaged)? {
        let rows = group.integer(3).and_then(|n| usize::try_from(n).ok()).ok_or_else(damaged)?;
        let chunks = group.list(1).filter(|chunks| chunks.len() == schema.len()).ok_or_else(damaged)?;
        let mut columns = vec![];
        for chunk in chunks {
            columns.push(column(&mut file, chunk, rows).map_err(fail)?.ok_or_else(damaged)?);
        }
        for row in 0..rows {
            let (mut words, mut values) = (vec![], vec![]);
            for column in &columns {
                match column {
                    Values::Text(all) => words.push(all[row].as_str()),
                    Values::Numbers(all) => values.push(all[row]),
                }
            }
            show(&words, &values)?;
        }
    }
    Ok(())
}

/// The footer of a file; `None` where it has none.
fn footer(file: &mut File) -> Result<Option<Thrift>, std::io::Error> {
    let end = file.seek(SeekFrom::End(0))?;
    let Some(tail) = end.checked_sub(8) else { return Ok(None) };
    let last = bytes(file, tail, 8)?;
    let Some((length, MAGIC)) = last.split_first_chunk::<4>() else { return Ok(None) };
    let length = u64::from(u32::from_le_bytes(*length));
    let Some(start) = tail.checked_sub(length) else { return Ok(None) };
    Ok(Input(&bytes(file, start, length as usize)?).value(12, MAX_DEPTH))
}

fn bytes(file: &mut File, start: u64, length: usize) -> Result<Vec<u8>, std::io::Error> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![];
    // A length that a damaged file claims takes no memory that the file does not have.
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The values of a column of a row group; `None` where they are not all there.
fn column(file: &mut File, chunk: &Thrift, rows: usize) -> Result<Option<Values>, std::io::Error> {
    let place = || {
        let meta = chunk.field(3).filter(|meta| meta.integer(4) == Some(UNCOMPRESSED))?;
        let [start, length] = [meta.integer(9)?, meta.integer(7)?].map(u64::try_from);
        Some((meta.integer(1)?, start.ok()?, usize::try_from(length.ok()?).ok()?))
    };
    let Some((kind, start, length)) = place() else { return Ok(None) };
    let page = bytes(file, start, length)?;
    let mut input = Input(&page);
    if input.value(12, MAX_DEPTH).is_none() {
        return Ok(None);
    }
    let mut number = || input.take(8)?.try_into().ok().map(f64::from_le_bytes);
    if kind == DOUBLE {
        return Ok((0..rows).map(|_| number()).collect::<Option<_>>().map(Values::Numbers));
    }
    let mut word = || {
        let length = u32::from_le_bytes(input.take(4)?.try_into().ok()?);
        String::from_utf8(input.take(length as usize)?.to_vec()).ok()
    };
    Ok(if kind == BYTE_ARRAY {
        (0..rows).map(|_| word()).collect::<Option<_>>().map(Values::Text)
    } else {
        None
    })
}
