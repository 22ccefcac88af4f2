//! Files that were damaged at random: a problem or an error that names the file, never a panic, and what was
//! read returns from what is written of it. `DELASSUS_MUTATIONS` sets how many files of each format are tried
//! (default 5000).

use std::path::Path;

use delassus_files::{Problem, fclib, json, parse, siconos};
use delassus_solve::lcp::{Lcp, Mlcp};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{ContactProblem, Form, Law};

use crate::support::random::Random;

fn count() -> usize {
    std::env::var("DELASSUS_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(5000)
}

fn contacts(law: Law, global: bool, joint: bool) -> Problem {
    let mut laws = vec![law; 2];
    if joint {
        laws.insert(0, Law::Bilateral);
    }
    let m: usize = laws.iter().map(Law::dim).sum();
    let square = |n: usize| {
        let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 2.5), (i, (i + 1) % n, -0.25)]).collect();
        Sparse::from_triplets(n, n, &entries)
    };
    let form = if global {
        let h: Vec<_> = (0..m).map(|j| (j % 4, j, 1.0 + j as f64)).collect();
        Form::Global {
            mass: square(4),
            jacobian_transposed: Sparse::from_triplets(4, m, &h),
            force: vec![-1.5; 4],
            bias: vec![0.125; m],
        }
    } else {
        Form::Local { delassus: square(m), free_velocity: vec![-0.5; m] }
    };
    Problem::Friction(ContactProblem::new(laws, form).unwrap())
}

fn problems() -> Vec<Problem> {
    let matrix = Matrix::from_rows(&[[2.0, 1.0], [0.5, 3.0]]);
    let mut all = vec![
        Problem::Lcp(Lcp::new(matrix.clone(), vec![-1.0, 2.0]).unwrap()),
        Problem::Mlcp(Mlcp::new(matrix, vec![-1.0, 2.0], vec![true, false]).unwrap()),
        contacts(Law::Coulomb { mu: 0.5 }, true, true),
    ];
    for law in
        [Law::CoulombPlane { mu: 0.5 }, Law::Coulomb { mu: 0.5 }, Law::Rolling { mu: 0.5, rolling: 0.1 }]
    {
        all.extend([false, true].map(|global| contacts(law, global, false)));
    }
    all
}

/// Some bytes changed, cut out, doubled, moved, or replaced by what is likely to hurt.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const WORDS: [&[u8]; 16] = [
        b"-1",
        b"0",
        b"1",
        b"2",
        b"7",
        b"1e999",
        b"nan",
        b"inf",
        b"99999999999999999999",
        b"4294967296",
        b" ",
        b"\n",
        b":",
        b"\xff",
        b"-0.0",
        b"18446744073709551615",
    ];
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (at, to) = (random.below(out.len()), random.below(out.len()));
        let (from, to) = (at.min(to), at.max(to).min(at.min(to) + 40));
        match random.below(7) {
            0 if !out.is_empty() => out[at] = random.below(256) as u8,
            1 if !out.is_empty() => out[at] ^= 1 << random.below(8),
            2 => out.truncate(at),
            3 => drop(out.drain(from..to)),
            4 => {
                let piece = out[from..to].to_vec();
                out.splice(at..at, piece);
            }
            5 => drop(out.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            _ => {
                // A whole word.
                let from = out[..at].iter().rposition(u8::is_ascii_whitespace).map_or(0, |k| k + 1);
                let to = out[at..].iter().position(u8::is_ascii_whitespace).map_or(out.len(), |k| at + k);
                if from <= to {
                    out.splice(from..to, WORDS[random.below(WORDS.len())].iter().copied());
                }
            }
        }
    }
    out
}

/// Reads damaged files of one format; what was read is written and read again.
fn tried(name: &str, good: &[Vec<u8>], again: impl Fn(&Path, &Problem) -> Option<Vec<u8>>) {
    let (path, mut random, mut read) = (Path::new(name), Random(11), 0);
    for k in 0..count() {
        let bytes = damaged(&good[k % good.len()], &mut random);
        match parse(path, bytes) {
            Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
            Ok(found) => {
                read += 1;
                if let Some(bytes) = again(path, &found.problem) {
                    assert_eq!(parse(path, bytes).unwrap().problem, found.problem);
                }
            }
        }
    }
    println!("{name}: {} damaged files, {read} of them still problems", count());
    assert!(read > 0 && read < count());
}

/// A compressed matrix as Siconos prints it, which is read and not written.
const COLUMNS: &str = "3 1\n2\n3\n3\n2\nCSparse Version 4\n3-by-3, nzmax: 3 nnz: 3, 1-norm: 2\n    col 0 : locations 0 to 0\n      0 : 2\n    \
                       col 1 : locations 1 to 1\n      1 : 1\n    col 2 : locations 2 to 2\n      2 : 1\n-1 0.5 0\n0.3\n";
const BLOCKS: &str =
    "2 2\n1 4 4 2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 1\n0\n1 0 0 1\n1\n2 0 0 2\n-1 0.5 -2 0\n0.3 0.4\n";

#[test]
fn siconos_files() {
    let path = Path::new("a.dat");
    let mut good: Vec<Vec<u8>> =
        problems().iter().filter_map(|p| siconos::format(path, p).ok()).map(String::into_bytes).collect();
    good.extend([COLUMNS, BLOCKS].map(|text| text.as_bytes().to_vec()));
    for text in &good {
        parse(path, text.clone()).unwrap();
    }
    for name in ["a.dat", "lcp_a.dat", "a_mlcp.dat", "fc3d_a.dat", "gfc3d_a.dat"] {
        tried(name, &good, |_, problem| {
            // Under a name that implies the kind, another kind would not return.
            siconos::format(path, problem).ok().filter(|_| name == "a.dat").map(String::into_bytes)
        });
    }
}

#[test]
fn json_files() {
    let path = Path::new("a.json");
    let good: Vec<Vec<u8>> = problems().iter().map(|p| json::format(path, p).unwrap().into_bytes()).collect();
    tried("a.json", &good, |path, problem| json::format(path, problem).ok().map(String::into_bytes));
}

#[test]
fn hdf5_files() {
    let path = Path::new("a.hdf5");
    let good: Vec<Vec<u8>> = problems().iter().filter_map(|p| fclib::format(path, p).ok()).collect();
    assert!(good.len() >= 5);
    tried("a.hdf5", &good, |path, problem| fclib::format(path, problem).ok());
}
