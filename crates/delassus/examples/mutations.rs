//! Files of worlds with mistakes, very many: `mutations COUNT [SEED] FILE…`.
//!
//! Each text is one of the files (TOML, MJCF or URDF) after one to four changes: bytes and lines cut out, doubled, exchanged, taken from
//! another place, numbers and words replaced by others. It must be read as a world that [`check_world`] accepts, or give an error
//! with one message and a place inside of the text. Ends with a table of the errors and exit code 1 where a reader panicked, a
//! world made no sense or a message had no place.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use delassus::file::FileError;
use delassus::world_check::check_world;
use delassus::world_file::{WorldFile, read_world};
use delassus::xml::read_xml;

/// What may stand in the place of something else.
const PIECES: [&str; 40] = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e308",
    "1e-308",
    "5e-324",
    "1e999",
    "9223372036854775808",
    "[]",
    "{}",
    "[[1]]",
    "\"\"",
    "\"*\"",
    "\"world\"",
    "\"1/0\"",
    "\"45 deg\"",
    "\"t\"",
    "\"s\"",
    "true",
    "type",
    "=",
    "\n",
    "\"",
    "<",
    "/>",
    "<body>",
    "</body>",
    "<geom/>",
    "[world]",
    "[[body]]",
    "[[joint]]",
    "[[joint.on]]",
    "gear",
    "fixed",
    "\u{0}",
    "\u{fc}",
    "# ",
    "--",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// The bytes of a number or a word around or behind a place.
fn token(text: &[u8], at: usize) -> (usize, usize) {
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"._-+".contains(b);
    let start = (at..text.len()).find(|&k| part(&text[k])).unwrap_or(text.len());
    let end = (start..text.len()).find(|&k| !part(&text[k])).unwrap_or(text.len());
    (start, end)
}

fn change(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len());
    let lines: Vec<usize> = (0..text.len()).filter(|&k| text[k] == b'\n').collect();
    let line = |k: usize| (if k == 0 { 0 } else { lines[k - 1] + 1 }, lines[k] + 1);
    match random.below(8) {
        0 => {
            let end = (at + 1 + random.below(20)).min(text.len());
            text.drain(at..end);
        }
        1 => {
            let (start, end) = token(text, at);
            let piece = PIECES[random.below(PIECES.len())];
            text.splice(start..end, piece.bytes());
        }
        2 => {
            let piece = PIECES[random.below(PIECES.len())];
            text.splice(at..at, piece.bytes());
        }
        3 => {
            let from = random.below(text.len());
            let (a, b) = (token(text, from), token(text, at));
            let word = text[a.0..a.1].to_vec();
            text.splice(b.0..b.1, word);
        }
        4 if !lines.is_empty() => {
            let (start, end) = line(random.below(lines.len()));
            text.drain(start..end);
        }
        5 if !lines.is_empty() => {
            let (start, end) = line(random.below(lines.len()));
            let (to, _) = line(random.below(lines.len()));
            let copy = text[start..end].to_vec();
            text.splice(to..to, copy);
        }
        6 if at < text.len() => text[at] ^= 1 << random.below(7),
        _ => text.truncate(at),
    }
}

fn read(text: &str) -> Result<WorldFile, FileError> {
    match text.trim_start().starts_with('<') {
        true => read_xml(text, None).map(|imported| imported.file),
        false => read_world(text, None, &[]),
    }
}

/// What the error of a text is, without names and numbers; `Err` says what must not be.
fn judge(text: &str) -> Result<String, String> {
    let outcome =
        catch_unwind(AssertUnwindSafe(|| read(text))).map_err(|_| "the reader panicked".to_string())?;
    match outcome {
        Ok(file) => match check_world(&file.world, &file.state) {
            Ok(()) => Ok("read".into()),
            Err(error) => Err(format!("a world that was read makes no sense: {error}")),
        },
        Err(error) => {
            let message = error.render("file", text);
            match &error.place {
                None => return Err(format!("an error without a place: {message}")),
                Some(place) if place.span.end > text.len() => {
                    return Err("a place outside of the text".into());
                }
                Some(_) => {}
            }
            if message.matches("error:").count() != 1 {
                return Err(format!("not one message: {message}"));
            }
            let kind = format!("{:?}", error.kind);
            Ok(kind.split(['(', '{', ' ']).next().unwrap_or("").to_string())
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let count: u64 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(10_000);
    let seed: u64 = arguments.next_if(|a| a.parse::<u64>().is_ok()).and_then(|a| a.parse().ok()).unwrap_or(1);
    let texts: Vec<Vec<u8>> = arguments.filter_map(|path| std::fs::read(path).ok()).collect();
    if texts.is_empty() {
        println!("usage: mutations COUNT [SEED] FILE…");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|info| println!("{info}")));
    let mut random = Random(seed);
    let (mut kinds, mut wrong) = (BTreeMap::<String, u64>::new(), 0);
    for _ in 0..count {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..1 + random.below(4) {
            change(&mut text, &mut random);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        match judge(&text) {
            Ok(kind) => *kinds.entry(kind).or_default() += 1,
            Err(reason) => {
                wrong += 1;
                if wrong <= 20 {
                    println!("{reason}\n----\n{text}\n----");
                }
            }
        }
    }
    kinds.iter().for_each(|(kind, n)| println!("{n:>9}  {kind}"));
    println!("{count} texts, {wrong} wrong");
    if wrong > 0 {
        std::process::exit(1);
    }
}
