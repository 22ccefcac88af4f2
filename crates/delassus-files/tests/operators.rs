//! The Delassus operator of real problems, formed and not formed.
//!
//! Runs where `DELASSUS_PROBLEMS` names the folder of the files.

use delassus_files::{Problem, read};
use delassus_solve::linalg::{Matrix, max_abs};
use delassus_solve::problem::{ContactView, Delassus, residual};

use crate::support::problems;

/// Rows up to which the dense matrix is made, too.
const DENSE: usize = 2000;

#[test]
fn formed_and_not_formed() {
    let Some(folder) = problems::folder("formed_and_not_formed") else { return };
    let mut count = 0;
    for kind in ["fc2d", "gfc3d", "rolling"] {
        for file in std::fs::read_dir(folder.join(kind)).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let Problem::Friction(problem) = read(&file).unwrap() else { panic!("{name}") };
            let Some((free, q)) = problem.matrix_free().unwrap() else { continue };
            count += 1;
            let (sparse, q_formed) = problem.local().unwrap();
            let m = free.dim();
            let root: Vec<f64> = (0..m).map(|i| sparse.get(i, i).sqrt()).collect();
            // 1e-13 of √(W_ii W_jj), which no entry of a positive matrix exceeds.
            for (i, j, x) in sparse.triplets() {
                assert!((free.entry(i, j) - x).abs() <= 1e-13 * root[i] * root[j], "{name}: W at {i}, {j}");
            }
            let mut x = 0.0;
            let f: Vec<f64> = (0..m)
                .map(|_| {
                    // Weyl's sequence: forces of both signs without a pattern.
                    x = (x + 0.618_033_988_749_895) % 1.0;
                    2.0 * x - 1.0
                })
                .collect();
            let u = free.apply(&f);
            let mut scale = vec![0.0; m];
            for (i, j, _) in sparse.triplets() {
                scale[i] += root[i] * root[j] * f[j].abs();
            }
            let dense = if m <= DENSE { sparse.to_dense() } else { Matrix::zeros(0, 0) };
            let mut formed: Vec<&dyn Delassus> = vec![&sparse];
            if m <= DENSE {
                formed.push(&dense);
            }
            let found = residual(&ContactView::new(&free, &q, &problem.laws).unwrap(), &f);
            for w in formed {
                let expected = w.apply(&f);
                for i in 0..m {
                    assert!((u[i] - expected[i]).abs() <= 1e-13 * scale[i], "{name}: W f at {i}");
                }
                let judged = residual(&ContactView::new(w, &q, &problem.laws).unwrap(), &f);
                let e = (found.relative - judged.relative).abs();
                assert!(e <= 1e-12 * (1.0 + judged.relative), "{name}: residuals differ by {e:e}");
            }
            for i in (0..m).step_by(m.div_ceil(50).max(1)) {
                let mut one = [f64::NAN];
                free.apply_rows(i..i + 1, &f, &mut one);
                assert_eq!(one[0], u[i], "{name}: a row by itself");
            }
            let difference: Vec<f64> = q.iter().zip(&q_formed).map(|(x, y)| x - y).collect();
            assert!(max_abs(&difference) <= 1e-12 * (1.0 + max_abs(&q)), "{name}: q");
            println!("{name}: {m} rows, {} entries in W", sparse.stored());
        }
    }
    assert!(count > 0);
}
