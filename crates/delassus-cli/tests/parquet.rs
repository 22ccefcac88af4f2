//! `run -o motion.parquet`, read back by the definition of the format.

use std::collections::BTreeMap;

use crate::texts::{on_floor, sphere};
use crate::{Temporary, delassus};

/// What a Thrift struct in the compact protocol holds.
#[derive(Clone, Debug, PartialEq)]
enum Thrift {
    Integer(i64),
    Text(Vec<u8>),
    List(Vec<Thrift>),
    Struct(BTreeMap<i64, Thrift>),
}

impl Thrift {
    fn integer(&self) -> i64 {
        let Thrift::Integer(value) = self else { panic!("{self:?}") };
        *value
    }

    fn text(&self) -> &str {
        let Thrift::Text(text) = self else { panic!("{self:?}") };
        std::str::from_utf8(text).unwrap()
    }

    fn list(&self) -> &[Thrift] {
        let Thrift::List(list) = self else { panic!("{self:?}") };
        list
    }

    fn field(&self, id: i64) -> &Thrift {
        let Thrift::Struct(fields) = self else { panic!("{self:?}") };
        &fields[&id]
    }
}

/// Reads from the front of the bytes.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap();
        self.0 = rest;
        *first
    }

    fn unsigned(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn value(&mut self, kind: u8) -> Thrift {
        match kind {
            4..=6 => {
                let n = self.unsigned();
                Thrift::Integer((n >> 1) as i64 ^ -((n & 1) as i64))
            }
            8 => {
                let length = self.unsigned() as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Thrift::Text(text.to_vec())
            }
            9 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.unsigned() } else { u64::from(head >> 4) };
                Thrift::List((0..length).map(|_| self.value(head & 15)).collect())
            }
            12 => {
                let (mut fields, mut id) = (BTreeMap::new(), 0);
                loop {
                    let head = self.byte();
                    if head == 0 {
                        return Thrift::Struct(fields);
                    }
                    assert!(head >> 4 > 0, "fields are near each other");
                    id += i64::from(head >> 4);
                    assert!(fields.insert(id, self.value(head & 15)).is_none());
                }
            }
            _ => panic!("type {kind}"),
        }
    }
}

/// Columns by name, as the text of a CSV would hold them.
fn read(bytes: &[u8]) -> (i64, Vec<(String, Vec<String>)>) {
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let mut input = Input(&bytes[end - length..end]);
    let footer = input.value(12);
    assert!(input.0.is_empty(), "the footer is as long as it says");
    let schema = footer.field(2).list();
    assert_eq!(schema[0].field(5).integer() as usize, schema.len() - 1);
    let mut columns: Vec<(String, Vec<String>)> =
        schema[1..].iter().map(|s| (s.field(4).text().to_owned(), vec![])).collect();
    let mut at = 4;
    for group in footer.field(4).list() {
        let rows = group.field(3).integer();
        assert_eq!(group.field(1).list().len(), columns.len());
        for (k, chunk) in group.field(1).list().iter().enumerate() {
            let meta = chunk.field(3);
            assert_eq!(meta.field(3).list()[0].text(), columns[k].0);
            assert_eq!((meta.field(5).integer(), meta.field(4).integer()), (rows, 0));
            // One page after the other, without gaps.
            assert_eq!((meta.field(9).integer(), chunk.field(2).integer()), (at, at));
            let start = at as usize;
            at += meta.field(7).integer();
            let mut page = Input(&bytes[start..at as usize]);
            let header = page.value(12);
            assert_eq!(header.field(2).integer() as usize, page.0.len());
            assert_eq!((header.field(1).integer(), header.field(5).field(1).integer()), (0, rows));
            for _ in 0..rows {
                let length = match meta.field(1).integer() {
                    5 => 8,
                    6 => {
                        let (length, rest) = page.0.split_at(4);
                        page.0 = rest;
                        u32::from_le_bytes(length.try_into().unwrap()) as usize
                    }
                    other => panic!("type {other}"),
                };
                let (value, rest) = page.0.split_at(length);
                page.0 = rest;
                columns[k].1.push(match meta.field(1).integer() {
                    5 => format!("{:?}", f64::from_le_bytes(value.try_into().unwrap())),
                    _ => String::from_utf8(value.to_vec()).unwrap(),
                });
            }
            assert!(page.0.is_empty());
        }
    }
    assert_eq!(at as usize, end - length, "the footer follows the last page");
    (footer.field(3).integer(), columns)
}

/// A ball that falls on a floor, and one on a joint.
fn world() -> String {
    let joint = "[[joint]]
name = \"pin\"
type = \"ball\"
bodies = [\"world\", \"bob\"]
anchor = [1, 0, 1]
";
    let ball = sphere("ball, \"red\"", 1.0, 0.1, [0.0, 0.0, 0.11], [0.0; 3]);
    on_floor(&[&ball, &sphere("bob", 1.0, 0.1, [1.0, 0.0, 0.5], [0.0; 3]), joint])
}

#[test]
fn parquet_has_the_numbers_of_the_csv() {
    let file = Temporary::new("world.toml", world().as_bytes());
    let folder = std::path::Path::new(file.path()).parent().unwrap();
    let [parquet, csv] = ["m.parquet", "m.csv"].map(|name| folder.join(name));
    let run = |t_end: &str| {
        let out = delassus(&[
            "run",
            file.path(),
            "--t-end",
            t_end,
            "--every",
            "1",
            "-o",
            parquet.to_str().unwrap(),
            "-o",
            csv.to_str().unwrap(),
        ]);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    };
    // More rows than one group holds.
    run("4.2");
    for suffix in ["", "-forces"] {
        let bytes = std::fs::read(folder.join(format!("m{suffix}.parquet"))).unwrap();
        let (rows, columns) = read(&bytes);
        let text = std::fs::read_to_string(folder.join(format!("m{suffix}.csv"))).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap().replace("\"\"", "'");
        let lines: Vec<&str> = lines.collect();
        assert_eq!(rows as usize, lines.len());
        assert!(rows > 4096, "{rows}");
        if suffix.is_empty() {
            let names: Vec<String> = columns.iter().map(|(name, _)| name.replace('"', "'")).collect();
            assert_eq!(names.len(), 27);
            assert!(names.iter().all(|name| header.contains(name.as_str())), "{names:?} {header}");
            for (row, line) in lines.iter().enumerate() {
                let of_row: Vec<&str> = columns.iter().map(|(_, values)| values[row].as_str()).collect();
                assert_eq!(of_row.join(","), *line);
            }
        } else {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names[..4], ["kind", "name", "time", "x"]);
            let pin = columns[1].1.iter().filter(|name| *name == "pin").count();
            // A joint has a force in every step, a frame at the start has none.
            assert_eq!(pin, 4200);
            assert!(columns[1].1.iter().any(|name| name.contains("red")), "the contact of the ball");
        }
    }
    // No step, and a table without rows.
    run("1e-12");
    let (rows, _) = read(&std::fs::read(folder.join("m.parquet")).unwrap());
    assert!(rows <= 2, "{rows}");
}
