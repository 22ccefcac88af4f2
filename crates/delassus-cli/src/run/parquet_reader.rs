//! Parquet files as [`super::parquet`] writes them, read back: one page a column, uncompressed.
//!
//! Whatever else a file holds is refused in words, never with a panic: it may be damaged or of another
//! program.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::parquet::{BYTE_ARRAY, DOUBLE, MAGIC, UNCOMPRESSED};
use crate::parquet_table::{Input, Thrift};

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
    Ok(Input(&bytes(file, start, length as usize)?).structure())
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
    if input.structure().is_none() {
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
