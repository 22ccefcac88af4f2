//! FCLib `.hdf5` files.
//!
//! | root group | form |
//! |---|---|
//! | `fclib_local` | u = W r + q: `W`, `vectors/q`, `vectors/mu` |
//! | `fclib_global` | M v = f + H r + G λ, u = Hᵀ v + w, 0 = Gᵀ v + b: `M`, `H`, `G` where there are joints, `vectors/f`, `w`, `b`, `mu` |
//! | `fclib_global_rolling` | the same with five rows a contact and `vectors/mu_r` |
//!
//! A matrix is a group `m`, `n`, `nz`, `nzmax`, `p`, `i`, `x`: nz ≥ 0 triplets (row i, column p), nz = −1
//! compressed columns, nz = −2 compressed rows. Joints become bilateral constraints before the contacts.

use std::path::Path;

use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, Form, Law};
use hdf5_pure::{Error, File, FileBuilder, FormatError};

use crate::error::FileError;
use crate::problem::{Problem, Read, friction_laws, uniform_friction};

/// Reads the bytes of a file; the path names the file in messages.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Read, FileError> {
    // Deflate packs a thousandfold at most: a set that claims more numbers than that is damaged.
    let most = bytes.len().saturating_mul(1100) / 4 + 64;
    // What is cut off may be data that nobody asks for, but nobody knows that.
    if let Some(length) = declared_length(&bytes).filter(|length| *length > bytes.len() as u64) {
        let expected = format!("{length} bytes, as the file says of itself");
        return Err(FileError::content(path, "the end of the file", expected, bytes.len().to_string()));
    }
    let file = File::from_bytes(bytes).map_err(|source| FileError::Hdf5 {
        file: path.to_owned(),
        place: "the file".into(),
        source,
    })?;
    let groups = file.root().groups().map_err(|source| FileError::Hdf5 {
        file: path.to_owned(),
        place: "/".into(),
        source,
    })?;
    let there = |name: &str| groups.iter().any(|g| g == name);
    let Some(&root) = ["fclib_local", "fclib_global", "fclib_global_rolling"].iter().find(|g| there(g))
    else {
        let expected = "a group fclib_local, fclib_global or fclib_global_rolling";
        return Err(FileError::content(path, "/", expected, groups.join(", ")));
    };
    let reader = Reader { path, file, root, most };
    let problem = reader.problem()?;
    let ignored = ["info", "guesses", "solution"]
        .iter()
        .filter(|g| there(g) || reader.has_group(g))
        .map(|g| format!("the group {g}"))
        .collect();
    Ok(Read { problem: Problem::Friction(problem), ignored })
}

/// The length of a file by its superblock; `None` where there is none, or one with numbers of
/// another width.
fn declared_length(bytes: &[u8]) -> Option<u64> {
    let numbers = |from: usize, count: usize| bytes.get(from..from.checked_add(count)?);
    // The superblock comes first, or after a block of the user of 512 bytes, 1024, 2048 and so on.
    let places = std::iter::once(0).chain((9..40).map(|k| 1_usize << k));
    let base =
        places.take_while(|at| *at < bytes.len()).find(|at| numbers(*at, 8) == Some(b"\x89HDF\r\n\x1a\n"))?;
    let (width, at) = match numbers(base + 8, 1)?[0] {
        0 => (13, 40),
        1 => (13, 44),
        2 | 3 => (9, 28),
        _ => return None,
    };
    if numbers(base + width, 1)? != [8] {
        return None;
    }
    Some(u64::from_le_bytes(numbers(base + at, 8)?.try_into().ok()?))
}

struct Reader<'a> {
    path: &'a Path,
    file: File,
    root: &'static str,
    most: usize,
}

impl Reader<'_> {
    fn has_group(&self, name: &str) -> bool {
        self.file.group(&format!("{}/{name}", self.root)).is_ok()
    }

    fn wrong(&self, place: &str, expected: impl Into<String>, found: impl Into<String>) -> FileError {
        FileError::content(self.path, format!("{}/{place}", self.root), expected, found)
    }

    fn set(&self, name: &str) -> Result<hdf5_pure::Dataset, FileError> {
        let place = format!("{}/{name}", self.root);
        let failed = |source| FileError::Hdf5 { file: self.path.to_owned(), place: place.clone(), source };
        let set = self.file.dataset(&place).map_err(|source| match source {
            Error::Format(FormatError::PathNotFound(_)) => self.wrong(name, "a dataset", "none of this name"),
            other => failed(other),
        })?;
        let shape = set.shape().map_err(failed)?;
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        match count.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= self.most) {
            Some(_) => Ok(set),
            None => Err(self.wrong(name, "a set that fits in the file", format!("the shape {shape:?}"))),
        }
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, FileError> {
        let place = format!("{}/{name}", self.root);
        let x = self.set(name)?.read_f64().map_err(|source| FileError::Hdf5 {
            file: self.path.to_owned(),
            place,
            source,
        })?;
        match x.iter().position(|x| !x.is_finite()) {
            Some(k) => Err(self.wrong(name, "finite numbers", format!("{} as number {k}", x[k]))),
            None => Ok(x),
        }
    }

    /// A vector of friction coefficients.
    fn friction(&self, name: &str) -> Result<Vec<f64>, FileError> {
        let mu = self.numbers(name)?;
        match mu.iter().find(|mu| **mu < 0.0) {
            Some(mu) => Err(self.wrong(name, "coefficients that are not negative", mu.to_string())),
            None => Ok(mu),
        }
    }

    fn integers(&self, name: &str) -> Result<Vec<i64>, FileError> {
        let place = format!("{}/{name}", self.root);
        self.set(name)?.read_i64().map_err(|source| FileError::Hdf5 {
            file: self.path.to_owned(),
            place,
            source,
        })
    }

    fn integer(&self, name: &str) -> Result<i64, FileError> {
        let x = self.integers(name)?;
        x.first().copied().ok_or_else(|| self.wrong(name, "one whole number", "none"))
    }

    fn expect(&self, name: &str, what: &str, expected: usize, found: usize) -> Result<(), FileError> {
        if expected == found {
            return Ok(());
        }
        Err(self.wrong(name, format!("{expected} {what}"), found.to_string()))
    }

    /// A matrix; its size is known from vectors in the file.
    fn matrix(&self, name: &str, rows: usize, cols: usize) -> Result<Sparse, FileError> {
        for (key, what, n) in [("m", "rows", rows), ("n", "columns", cols)] {
            let key = format!("{name}/{key}");
            let found = self.integer(&key)?;
            if usize::try_from(found) != Ok(n) {
                return Err(self.wrong(&key, format!("{n} {what}"), found.to_string()));
            }
        }
        let nz = self.integer(&format!("{name}/nz"))?;
        let (p, i) = (self.integers(&format!("{name}/p"))?, self.integers(&format!("{name}/i"))?);
        let x = self.numbers(&format!("{name}/x"))?;
        let index = |key: &str, k: usize, v: i64, below: usize| {
            usize::try_from(v).ok().filter(|v| *v < below).ok_or_else(|| {
                self.wrong(
                    &format!("{name}/{key}"),
                    format!("indices below {below}"),
                    format!("{v} as number {k}"),
                )
            })
        };
        let mut entries = vec![];
        match nz {
            0.. => {
                let nz = usize::try_from(nz).unwrap_or(usize::MAX);
                for (key, found) in [("p", p.len()), ("i", i.len()), ("x", x.len())] {
                    if found < nz {
                        return Err(self.wrong(
                            &format!("{name}/{key}"),
                            format!("{nz} numbers"),
                            found.to_string(),
                        ));
                    }
                }
                for k in 0..nz {
                    entries.push((index("i", k, i[k], rows)?, index("p", k, p[k], cols)?, x[k]));
                }
            }
            -2 | -1 => {
                let (outer, inner) = if nz == -2 { (rows, cols) } else { (cols, rows) };
                self.expect(&format!("{name}/p"), "numbers", outer + 1, p.len())?;
                let stored = i.len().min(x.len());
                for k in 0..outer {
                    let (from, to) =
                        (index("p", k, p[k], stored + 1)?, index("p", k + 1, p[k + 1], stored + 1)?);
                    for l in from..to {
                        let j = index("i", l, i[l], inner)?;
                        entries.push(if nz == -2 { (k, j, x[l]) } else { (j, k, x[l]) });
                    }
                }
            }
            _ => return Err(self.wrong(&format!("{name}/nz"), "a count, −1 or −2", nz.to_string())),
        }
        Ok(Sparse::from_triplets(rows, cols, &entries))
    }

    fn problem(&self) -> Result<ContactProblem, FileError> {
        let mu = self.friction("vectors/mu")?;
        let rolling =
            if self.root == "fclib_global_rolling" { self.friction("vectors/mu_r")? } else { vec![] };
        let d = match (self.root, self.integer("spacedim")?) {
            ("fclib_global_rolling", 5) => 5,
            ("fclib_local" | "fclib_global", d @ (2 | 3)) => d as usize,
            (_, d) => return Err(self.wrong("spacedim", "2 or 3 (5 with rolling)", d.to_string())),
        };
        if d == 5 {
            self.expect("vectors/mu_r", "coefficients", mu.len(), rolling.len())?;
        }
        let mut laws = friction_laws(d, &mu, &rolling);
        let rows = d * mu.len();
        let form = if self.root == "fclib_local" {
            let free_velocity = self.numbers("vectors/q")?;
            self.expect("vectors/q", "numbers", rows, free_velocity.len())?;
            Form::Local { delassus: self.matrix("W", rows, rows)?, free_velocity }
        } else {
            let force = self.numbers("vectors/f")?;
            let mut bias = self.numbers("vectors/w")?;
            self.expect("vectors/w", "numbers", rows, bias.len())?;
            let n = force.len();
            let (mass, mut h) = (self.matrix("M", n, n)?, self.matrix("H", n, rows)?);
            if self.has_group("G") {
                let b = self.numbers("vectors/b")?;
                let joints = b.len();
                let g = self.matrix("G", n, joints)?;
                let both: Vec<(usize, usize, f64)> =
                    g.triplets().chain(h.triplets().map(|(i, j, x)| (i, joints + j, x))).collect();
                h = Sparse::from_triplets(n, joints + rows, &both);
                laws.splice(0..0, std::iter::repeat_n(Law::Bilateral, joints));
                bias.splice(0..0, b);
            }
            Form::Global { mass, jacobian_transposed: h, force, bias }
        };
        ContactProblem::new(laws, form)
            .map_err(|source| FileError::Invalid { file: self.path.to_owned(), source })
    }
}

/// The bytes of a file. Joints of a global problem must come before its contacts, as they do when read.
pub fn format(path: &Path, problem: &Problem) -> Result<Vec<u8>, FileError> {
    let Problem::Friction(p) = problem else {
        return Err(FileError::cannot_hold(path, "a complementarity problem without contacts"));
    };
    let joints = p.laws.iter().take_while(|l| **l == Law::Bilateral).count();
    let (d, coefficients) = uniform_friction(path, &p.laws[joints..])?;
    let root = match (&p.form, d) {
        (Form::Local { .. }, 5) => {
            return Err(FileError::cannot_hold(path, "a local problem with rolling friction"));
        }
        (Form::Local { .. }, _) if joints > 0 => {
            return Err(FileError::cannot_hold(path, "a local problem with bilateral constraints"));
        }
        (Form::Local { .. }, _) => "fclib_local",
        (Form::Global { .. }, 5) => "fclib_global_rolling",
        (Form::Global { .. }, _) => "fclib_global",
    };
    let mut builder = FileBuilder::new();
    let mut group = builder.create_group(root);
    group.create_dataset("spacedim").with_i32_data(&[d as i32]).with_shape(&[1]);
    let mut vectors = group.create_group("vectors");
    let mut put = |name: &str, x: &[f64]| {
        vectors.create_dataset(name).with_f64_data(x).with_shape(&[x.len() as u64]);
    };
    put("mu", &coefficients.iter().map(|c| c[0]).collect::<Vec<_>>());
    if d == 5 {
        put("mu_r", &coefficients.iter().map(|c| c[1]).collect::<Vec<_>>());
    }
    let mut matrices = vec![];
    match &p.form {
        Form::Local { delassus, free_velocity } => {
            put("q", free_velocity);
            matrices.push(("W", delassus.clone()));
        }
        Form::Global { mass, jacobian_transposed, force, bias } => {
            put("f", force);
            put("w", &bias[joints..]);
            let (n, m) = (jacobian_transposed.rows(), jacobian_transposed.cols());
            let (g, h): (Vec<_>, Vec<_>) = jacobian_transposed.triplets().partition(|e| e.1 < joints);
            let h: Vec<_> = h.iter().map(|(i, j, x)| (*i, j - joints, *x)).collect();
            matrices.push(("M", mass.clone()));
            matrices.push(("H", Sparse::from_triplets(n, m - joints, &h)));
            if joints > 0 {
                put("b", &bias[..joints]);
                matrices.push(("G", Sparse::from_triplets(n, joints, &g)));
            }
        }
    }
    group.add_group(vectors.finish());
    for (name, a) in matrices {
        let too_large = || FileError::cannot_hold(path, format!("the size of the matrix {name}"));
        let whole = |x: usize| i32::try_from(x).map_err(|_| too_large());
        let start = a.starts().iter().map(|x| whole(*x)).collect::<Result<Vec<i32>, _>>()?;
        let column = a.columns().iter().map(|x| whole(*x)).collect::<Result<Vec<i32>, _>>()?;
        // Local matrices go out in compressed rows and global ones as triplets, as in the files of the
        // collection.
        let local = root == "fclib_local";
        let row: Vec<i32> = a.triplets().map(|(i, _, _)| i as i32).collect();
        let stored = whole(a.stored())?;
        let mut matrix = group.create_group(name);
        for (key, x) in [
            ("m", whole(a.rows())?),
            ("n", whole(a.cols())?),
            ("nz", if local { -2 } else { stored }),
            ("nzmax", stored),
        ] {
            matrix.create_dataset(key).with_i32_data(&[x]).with_shape(&[1]);
        }
        let (p, i) = if local { (start, column) } else { (column, row) };
        matrix.create_dataset("p").with_i32_data(&p).with_shape(&[p.len() as u64]);
        matrix.create_dataset("i").with_i32_data(&i).with_shape(&[i.len() as u64]);
        matrix.create_dataset("x").with_f64_data(a.values()).with_shape(&[a.stored() as u64]);
        group.add_group(matrix.finish());
    }
    builder.add_group(group.finish());
    builder.finish().map_err(|source| FileError::Hdf5 { file: path.to_owned(), place: root.into(), source })
}
