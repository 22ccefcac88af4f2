//! Tables of numbers from Parquet files of other programs.
//!
//! ```text
//! page = header , levels (where values may be missing) , values:
//!   plain                  8 or 4 bytes each
//!   by dictionary          width w in one byte, then runs:  n << 1 , value of w bits      n equal ones
//!                                                           m << 1 | 1 , 8 m values of w bits
//! Snappy = length , elements:  a literal , or a copy of what stands some bytes before
//! ```
//!
//! Read are columns of doubles, floats and integers that are not nested and have no missing values, plain or
//! by dictionary, uncompressed or compressed by Snappy: what pandas, polars and Arrow write where nothing
//! else is asked for, and tables of this program. All else is refused in words, never with a panic. Sources:
//! Apache Parquet format, version 2; Snappy compressed format description, 2011.

use std::collections::BTreeMap;

/// Both ends of a file.
const MAGIC: &[u8] = b"PAR1";
/// Structs and lists in each other, more than any file needs.
const MAX_DEPTH: usize = 16;
/// Most values of a table.
const MAX_VALUES: usize = 1 << 24;

// Codes of the format.
const INT32: i64 = 1;
const INT64: i64 = 2;
const FLOAT: i64 = 4;
const DOUBLE: i64 = 5;
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE_DICTIONARY: i64 = 8;
const SNAPPY: i64 = 1;
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;

/// A value in Thrift's compact protocol. What is no number, text, list or struct here is passed over.
pub enum Thrift {
    /// An integer; yes and no are 1 and 0.
    Integer(i64),
    /// A text.
    Text(Vec<u8>),
    /// A list.
    List(Vec<Thrift>),
    /// Fields by their numbers.
    Struct(BTreeMap<i64, Thrift>),
}

impl Thrift {
    /// A field of a struct.
    pub fn field(&self, id: i64) -> Option<&Thrift> {
        let Thrift::Struct(fields) = self else { return None };
        fields.get(&id)
    }

    /// A field that is an integer.
    pub fn integer(&self, id: i64) -> Option<i64> {
        let Some(Thrift::Integer(x)) = self.field(id) else { return None };
        Some(*x)
    }

    /// A field that is a text.
    pub fn text(&self, id: i64) -> Option<&[u8]> {
        let Some(Thrift::Text(text)) = self.field(id) else { return None };
        Some(text)
    }

    /// A field that is a list.
    pub fn list(&self, id: i64) -> Option<&[Thrift]> {
        let Some(Thrift::List(list)) = self.field(id) else { return None };
        Some(list)
    }
}

/// Bytes from the front.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
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

    /// A struct.
    pub fn structure(&mut self) -> Option<Thrift> {
        self.value(12, MAX_DEPTH)
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thrift> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => Some(Thrift::Integer(i64::from(kind == 1))),
            3 => self.byte().map(|byte| Thrift::Integer(i64::from(byte))),
            4..=6 => {
                let n = self.unsigned()?;
                Some(Thrift::Integer((n >> 1) as i64 ^ -((n & 1) as i64)))
            }
            7 => self.take(8).map(|bytes| Thrift::Text(bytes.to_vec())),
            8 => {
                let length = self.length()?;
                Some(Thrift::Text(self.take(length)?.to_vec()))
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.length()? } else { usize::from(head >> 4) };
                let item = |input: &mut Self| match head & 15 {
                    // In a list yes and no take a byte of their own.
                    1 | 2 => input.byte().map(|byte| Thrift::Integer(i64::from(byte == 1))),
                    kind => input.value(kind, depth),
                };
                let list: Option<_> = (0..length).map(|_| item(self)).collect();
                Some(Thrift::List(list?))
            }
            12 => {
                let (mut fields, mut id) = (BTreeMap::new(), 0);
                loop {
                    match self.byte()? {
                        0 => return Some(Thrift::Struct(fields)),
                        head => {
                            id = match head >> 4 {
                                0 => match self.value(4, depth)? {
                                    Thrift::Integer(id) => id,
                                    _ => return None,
                                },
                                step => id + i64::from(step),
                            };
                            fields.insert(id, self.value(head & 15, depth)?);
                        }
                    }
                }
            }
            _ => None,
        }
    }
}

/// The footer of a file that is all there.
pub fn footer(file: &[u8]) -> Option<Thrift> {
    let (rest, magic) = file.split_last_chunk::<4>()?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let start = rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    (magic == MAGIC).then(|| Input(&rest[start..]).structure())?
}

/// Whether these are the first bytes of a Parquet file.
pub fn is_parquet(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// The columns of a file with their names. The error is in words, without the name of the file.
pub fn columns(file: &[u8]) -> Result<Vec<(String, Vec<f64>)>, String> {
    let damaged = || "is damaged, or no Parquet file".to_string();
    let footer = footer(file).ok_or_else(damaged)?;
    let schema = footer.list(2).and_then(|all| all.get(1..)).ok_or_else(damaged)?;
    let mut found = vec![];
    for column in schema {
        let name = String::from_utf8(column.text(4).unwrap_or_default().to_vec()).map_err(|_| damaged())?;
        let is_number = [INT32, INT64, FLOAT, DOUBLE].map(Some).contains(&column.integer(1));
        if !is_number || ![Some(REQUIRED), Some(OPTIONAL)].contains(&column.integer(3)) {
            return Err(format!("column `{name}` holds no numbers, expected doubles, floats or integers"));
        }
        found.push((name, vec![], column.integer(3) == Some(OPTIONAL)));
    }
    for group in footer.list(4).ok_or_else(damaged)? {
        let chunks = group.list(1).filter(|chunks| chunks.len() == schema.len()).ok_or_else(damaged)?;
        for (chunk, (name, values, optional)) in chunks.iter().zip(&mut found) {
            let meta = chunk.field(3).ok_or_else(damaged)?;
            if ![Some(0), Some(SNAPPY)].contains(&meta.integer(4)) {
                return Err(format!("column `{name}` is compressed by another method than Snappy"));
            }
            let more = chunk_values(file, meta, *optional);
            values.extend(more.ok_or_else(|| {
                format!(
                    "column `{name}` has missing values, is damaged, or is written in a way not known here"
                )
            })?);
        }
    }
    Ok(found.into_iter().map(|(name, values, _)| (name, values)).collect())
}

/// The values of a column in a row group; `None` where they are not all there.
fn chunk_values(file: &[u8], meta: &Thrift, optional: bool) -> Option<Vec<f64>> {
    let kind = meta.integer(1)?;
    let count = usize::try_from(meta.integer(5)?).ok().filter(|n| *n <= MAX_VALUES)?;
    let first = [meta.integer(11), meta.integer(9)].into_iter().flatten().filter(|at| *at > 0).min()?;
    let mut input = Input(file.get(usize::try_from(first).ok()?..)?);
    let (mut dictionary, mut values) = (vec![], vec![]);
    while values.len() < count {
        let header = input.structure()?;
        let [whole, packed] = [header.integer(2)?, header.integer(3)?].map(|n| usize::try_from(n).ok());
        let bytes = input.take(packed?)?;
        let unpacked;
        let page = match meta.integer(4)? {
            SNAPPY => {
                unpacked = unsnapped(bytes, whole?)?;
                &unpacked[..]
            }
            _ => bytes,
        };
        match header.integer(1)? {
            DICTIONARY_PAGE => {
                let entries = usize::try_from(header.field(7)?.integer(1)?).ok()?;
                dictionary = plain(&mut Input(page), kind, entries)?;
            }
            DATA_PAGE => {
                let about = header.field(5)?;
                let rows = usize::try_from(about.integer(1)?).ok().filter(|n| *n <= count - values.len())?;
                let mut page = Input(page);
                if optional {
                    let length = u32::from_le_bytes(page.take(4)?.try_into().ok()?);
                    let levels = runs(&mut Input(page.take(length as usize)?), 1, rows)?;
                    // A level below one is a missing value.
                    levels.iter().all(|level| *level == 1).then_some(())?;
                }
                match about.integer(2)? {
                    PLAIN => values.extend(plain(&mut page, kind, rows)?),
                    PLAIN_DICTIONARY | RLE_DICTIONARY => {
                        let width = page.byte()?;
                        let places = runs(&mut page, width, rows)?;
                        let of = |place: &u32| dictionary.get(*place as usize).copied();
                        values.extend(places.iter().map(of).collect::<Option<Vec<f64>>>()?);
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(values)
}

/// Values one after the other.
fn plain(input: &mut Input<'_>, kind: i64, count: usize) -> Option<Vec<f64>> {
    let mut one = || match kind {
        DOUBLE => Some(f64::from_le_bytes(input.take(8)?.try_into().ok()?)),
        INT64 => Some(i64::from_le_bytes(input.take(8)?.try_into().ok()?) as f64),
        FLOAT => Some(f64::from(f32::from_le_bytes(input.take(4)?.try_into().ok()?))),
        _ => Some(f64::from(i32::from_le_bytes(input.take(4)?.try_into().ok()?))),
    };
    (0..count).map(|_| one()).collect()
}

/// Numbers of some bits in runs.
fn runs(input: &mut Input<'_>, width: u8, count: usize) -> Option<Vec<u32>> {
    let bits = usize::from(width);
    if bits > 32 {
        return None;
    }
    let mut found = vec![];
    while found.len() < count {
        let head = usize::try_from(input.unsigned()?).ok()?;
        let left = count - found.len();
        if head & 1 == 0 {
            let bytes = input.take(bits.div_ceil(8))?;
            let value = bytes.iter().rev().fold(0, |sum: u32, byte| sum << 8 | u32::from(*byte));
            found.extend(std::iter::repeat_n(value, left.min(head >> 1)));
            if head == 0 {
                return None;
            }
            continue;
        }
        let bytes = input.take((head >> 1).checked_mul(bits)?)?;
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        let one = |i: usize| (0..bits).fold(0, |sum, k| sum | bit(i * bits + k) << k);
        found.extend((0..left.min((head >> 1) * 8)).map(one));
    }
    Some(found)
}

/// What Snappy compressed to these bytes, if it has this length.
fn unsnapped(bytes: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut input = Input(bytes);
    if input.unsigned()? != length as u64 || length > 8 * MAX_VALUES {
        return None;
    }
    let mut out: Vec<u8> = vec![];
    while !input.0.is_empty() {
        let tag = usize::from(input.byte()?);
        let mut number = |bytes: usize| -> Option<usize> {
            Some(input.take(bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
        };
        let (size, back) = match (tag & 3, tag >> 2) {
            (0, size @ 0..60) => (size + 1, None),
            (0, more) => (number(more - 59)? + 1, None),
            (1, x) => (4 + (x & 7), Some((x >> 3) << 8 | number(1)?)),
            (2, size) => (size + 1, Some(number(2)?)),
            (_, size) => (size + 1, Some(number(4)?)),
        };
        if size > length - out.len() {
            return None;
        }
        match back {
            None => out.extend_from_slice(input.take(size)?),
            Some(back) => {
                let start = out.len().checked_sub(back).filter(|_| back > 0)?;
                // A copy may go on with what it has just written.
                for k in start..start + size {
                    out.push(out[k]);
                }
            }
        }
    }
    (out.len() == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARROW: &[u8] = include_bytes!("../tests/tables/arrow.parquet");
    const PLAIN: &[u8] = include_bytes!("../tests/tables/plain.parquet");

    /// Tables that Arrow 26 wrote: by dictionary and Snappy, as it does by itself, and without both.
    #[test]
    fn tables_of_arrow_are_read() {
        let column = |name: &str, values: &[f64]| (name.to_string(), values.to_vec());
        let expected = vec![
            column("t", &[0.0, 0.1, 0.2, 0.3]),
            column("shoulder", &[0.5, 0.5, -1.25, 0.5]),
            column("elbow", &[1.0, 2.0, 2.0, 3.0]),
        ];
        for file in [ARROW, PLAIN] {
            assert!(is_parquet(file));
            assert_eq!(columns(file).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_not_known_is_refused_in_words() {
        let cases: [(&[u8], &str); 4] = [
            (include_bytes!("../tests/tables/zstd.parquet"), "compressed by another method than Snappy"),
            (include_bytes!("../tests/tables/missing.parquet"), "`shoulder` has missing values"),
            (include_bytes!("../tests/tables/text.parquet"), "`shoulder` holds no numbers"),
            (b"PAR1", "damaged"),
        ];
        for (file, expected) in cases {
            let error = columns(file).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Every byte changed in turn, and every length: an error or numbers, never a panic.
    #[test]
    fn damaged_tables_never_panic() {
        for file in [ARROW, PLAIN] {
            for at in 0..file.len() {
                for change in [1, 0x80, 0xff] {
                    let mut damaged = file.to_vec();
                    damaged[at] ^= change;
                    let _ = columns(&damaged);
                }
                let _ = columns(&file[..at]);
            }
        }
    }

    /// A copy that overlaps what it writes repeats it; a literal with its length in a byte of its own.
    #[test]
    fn snappy_repeats_what_it_has_written() {
        // 3 letters, then 7 bytes from 3 before.
        assert_eq!(unsnapped(&[10, 2 << 2, b'a', b'b', b'c', 3 << 2 | 1, 3], 10).unwrap(), b"abcabcabca");
        let long = [&[70, 60 << 2, 69][..], &[7; 70]].concat();
        assert_eq!(unsnapped(&long, 70).unwrap(), [7; 70]);
        assert_eq!(unsnapped(&[4, 1, 9], 4), None);
    }
}
