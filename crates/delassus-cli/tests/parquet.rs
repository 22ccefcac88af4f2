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
            // The time, two bodies, and position and velocity of the pin.
            assert_eq!(names.len(), 1 + 2 * 13 + 2);
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

/// The whole tables of a run in one go and of one in two parts are the same, and so are those of a run that
/// was killed without warning and goes on.
#[cfg(unix)]
#[test]
fn a_run_goes_on_with_its_parquet_even_if_it_was_killed() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let file = Temporary::new("world.toml", world().as_bytes());
    let folder = std::path::Path::new(file.path()).parent().unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let table = |name: &str| read(&std::fs::read(folder.join(name)).unwrap());
    let (parts, saved) = (path("parts.parquet"), path("saved.json"));
    let run = |more: &[&str]| {
        let out = delassus(&[&["run", file.path(), "--every", "10"], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    };
    // Ends beside a frame: the last row of the first part is none of the whole.
    run(&["--t-end", "0.105", "--checkpoint", &saved, "-o", &parts]);
    assert_eq!(table("parts.parquet").0, 12);
    run(&["--t-end", "0.3", "--resume", &saved, "-o", &parts]);
    run(&["--t-end", "0.3", "-o", &path("whole.parquet")]);
    for suffix in ["", "-forces"] {
        assert_eq!(table(&format!("parts{suffix}.parquet")), table(&format!("whole{suffix}.parquet")));
    }

    let (killed, csv, saved) = (path("killed.parquet"), path("killed.csv"), path("killed.json"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_delassus"))
        .args(["run", file.path(), "--every", "10", "--t-end", "1e5", "-o", &killed, "-o", &csv])
        .args(["--checkpoint", &saved, "--checkpoint-every", "0.05"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !std::path::Path::new(&saved).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(130));
    child.kill().unwrap();
    child.wait().unwrap();
    let (rows, columns) = table("killed.parquet");
    table("killed-forces.parquet");
    let checkpoint: serde_json::Value = serde_json::from_slice(&std::fs::read(&saved).unwrap()).unwrap();
    let t = checkpoint["t"].as_f64().unwrap();
    // Tables are written just before the checkpoint, with every tenth step.
    let last: f64 = columns[0].1.last().unwrap().parse().unwrap();
    assert!(rows > 1 && last >= t - 0.01, "{last} s in the table, {t} s in the checkpoint");
    // Wherever in a save it was killed: parts of the files of the next moment may lie beside the tables.
    for name in ["killed.parquet.new", "killed-forces.parquet.new", "killed.parquet.part"] {
        std::fs::write(folder.join(name), "PAR1").unwrap();
    }
    let end = (t + 0.0205).to_string();
    run(&["--t-end", &end, "--resume", &saved, "-o", &killed, "-o", &csv]);
    run(&["--t-end", &end, "-o", &path("whole.parquet"), "-o", &path("whole.csv")]);
    for suffix in ["", "-forces"] {
        assert!(table(&format!("killed{suffix}.parquet")) == table(&format!("whole{suffix}.parquet")));
        let csv = ["killed", "whole"]
            .map(|name| std::fs::read(folder.join(format!("{name}{suffix}.csv"))).unwrap());
        assert!(csv[0] == csv[1]);
    }
    // No files are left beside them.
    let left = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("parquet.")).collect();
    assert!(left.is_empty(), "{left:?}");
    // A file of another program is refused, and stays.
    std::fs::write(&killed, "PAR1 is not enough PAR1").unwrap();
    let out = delassus(&["run", file.path(), "--resume", &saved, "--t-end", &end, "-o", &killed]);
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.code() == Some(2) && text.contains("is damaged, or not a Parquet file of a run"),
        "{text}"
    );
    assert_eq!(std::fs::read(&killed).unwrap(), b"PAR1 is not enough PAR1");
}
