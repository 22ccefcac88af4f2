//! Real problems in other orders, other tangents and other units: what is solved as it is in its file is
//! solved so too.
//!
//! Runs where `DELASSUS_PROBLEMS` names the folder of the files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use delassus_files::{Problem, read};
use delassus_solve::contact::{ContactOptions, solve};
use delassus_solve::lcp::{Solver, solve_lcp, solve_mlcp};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, ContactView, Form, Law, Status, residual};

use crate::support::problems;
use crate::support::random::Random;

fn files(folder: &Path) -> Vec<PathBuf> {
    let kinds = ["fc2d", "fc3d", "gfc3d", "rolling"];
    let mut out: Vec<PathBuf> = kinds
        .iter()
        .flat_map(|kind| std::fs::read_dir(folder.join(kind)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    out.sort();
    out
}

/// Solved to 1e-8 by the residual check; the status must agree.
fn check(what: &str, laws: &[Law], w: Sparse, q: Vec<f64>) {
    let form = Form::Local { delassus: w.clone(), free_velocity: q.clone() };
    let found =
        solve(&ContactProblem::new(laws.to_vec(), form).unwrap(), &ContactOptions::default(), None).unwrap();
    let e = residual(&ContactView::new(&w, &q, laws).unwrap(), &found.impulse).relative;
    assert!(found.status == Status::Solved && e <= 1e-8, "{what}: {e:.1e} {:?}", found.status);
}

/// Q A Qᵀ and Q q for Q of one block per contact, given by its entries (row in the block, entry of the
/// column).
fn turned(w: &Sparse, q: &[f64], d: usize, turn: &[[[f64; 5]; 5]]) -> (Sparse, Vec<f64>) {
    let (mut entries, mut out) = (vec![], vec![0.0; q.len()]);
    for (i, j, x) in w.triplets() {
        for a in 0..d {
            for b in 0..d {
                let v = turn[i / d][a][i % d] * x * turn[j / d][b][j % d];
                if v != 0.0 {
                    entries.push((i / d * d + a, j / d * d + b, v));
                }
            }
        }
    }
    for (i, x) in q.iter().enumerate() {
        for a in 0..d {
            out[i / d * d + a] += turn[i / d][a][i % d] * x;
        }
    }
    (Sparse::from_triplets(q.len(), q.len(), &entries), out)
}

#[test]
fn other_orders_tangents_and_units() {
    let Some(folder) = problems::folder("other_orders_tangents_and_units") else { return };
    let mut random = Random(1);
    for path in files(&folder) {
        let Problem::Friction(problem) = read(&path).unwrap() else { panic!("{}", path.display()) };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (laws, (w, q)) = (&problem.laws, problem.local().unwrap());
        let (n, d) = (laws.len(), laws.first().map_or(1, Law::dim));
        check(&name, laws, w.clone(), q.clone());
        // new[i] is where contact i goes.
        let mut new: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            new.swap(i, (random.unit() * (i + 1) as f64) as usize);
        }
        let place = |row: usize| new[row / d] * d + row % d;
        let entries: Vec<_> = w.triplets().map(|(i, j, x)| (place(i), place(j), x)).collect();
        let (mut order, mut q_new) = (laws.clone(), q.clone());
        for i in 0..n {
            order[new[i]] = laws[i];
        }
        for (i, x) in q.iter().enumerate() {
            q_new[place(i)] = *x;
        }
        check(
            &format!("{name}, in another order"),
            &order,
            Sparse::from_triplets(n * d, n * d, &entries),
            q_new,
        );
        let turns: Vec<[[f64; 5]; 5]> = (0..n)
            .map(|_| {
                let mut t = [[0.0; 5]; 5];
                t[0][0] = 1.0;
                t[1][1] = if random.unit() > 0.5 { 1.0 } else { -1.0 };
                for first in (1..d.saturating_sub(1)).step_by(2) {
                    let (s, c) = (6.3 * random.unit()).sin_cos();
                    (t[first][first], t[first][first + 1]) = (c, -s);
                    (t[first + 1][first], t[first + 1][first + 1]) = (s, c);
                }
                t
            })
            .collect();
        let (w_turned, q_turned) = turned(&w, &q, d, &turns);
        check(&format!("{name}, turned"), laws, w_turned, q_turned);
        for (a, b) in [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e3), (1.0, 1e-3)] {
            let mut scaled = w.clone();
            scaled.values_mut().iter_mut().for_each(|x| *x *= a);
            check(
                &format!("{name}, W times {a:e}, q times {b:e}"),
                laws,
                scaled,
                q.iter().map(|x| b * x).collect(),
            );
        }
    }
}

/// The folder that `DELASSUS_PROBLEMS` names; where it names none, standard error says that the test was
/// skipped.
fn folder_of_problems(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DELASSUS_PROBLEMS").map(PathBuf::from);
    if folder.is_none() {
        // Written past the capture of the test harness.
        let _ = writeln!(std::io::stderr(), "{test}: skipped, DELASSUS_PROBLEMS is not set");
    }
    folder
}

/// Every real contact problem is solved to 1e-8, and nearly all to 1e-12, by the residual check.
#[test]
fn contact_problems_are_solved_as_they_are() {
    let Some(folder) = folder_of_problems("contact_problems_are_solved_as_they_are") else { return };
    let (mut all, mut sharp) = (0, 0);
    for file in files(&folder) {
        let Problem::Friction(p) = read(&file).unwrap() else { panic!("{}", file.display()) };
        let (w, q) = p.local().unwrap();
        let view = ContactView::new(&w, &q, &p.laws).unwrap();
        for tolerance in [1e-4, 1e-8, 1e-12] {
            let options = ContactOptions { tolerance, ..Default::default() };
            let found = solve(&p, &options, None).unwrap();
            let checked = residual(&view, &found.impulse).relative;
            println!("{}: {checked:.1e} for {tolerance:.0e}", file.display());
            if tolerance > 1e-12 {
                assert!(checked <= tolerance, "{}", file.display());
                assert_eq!(found.status, Status::Solved);
            } else {
                all += 1;
                sharp += usize::from(checked <= tolerance);
            }
        }
    }
    assert!(all > 0 && sharp as f64 >= 0.95 * all as f64, "{sharp} of {all} to 1e-12");
}

/// Every real LCP and mixed LCP file is solved to 1e-8; both folders must hold some.
#[test]
fn complementarity_problems_are_solved() {
    let Some(folder) = folder_of_problems("complementarity_problems_are_solved") else { return };
    for kind in ["lcp", "mlcp"] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder.join(kind)).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty());
        for file in files {
            let solution = match read(&file).unwrap() {
                Problem::Lcp(p) => solve_lcp(&p, Solver::Auto, 1e-8),
                Problem::Mlcp(p) => solve_mlcp(&p, Solver::Auto, 1e-8),
                Problem::Friction(_) => panic!("{}: a complementarity problem", file.display()),
            };
            println!("{}: {:?}, residual {:.1e}", file.display(), solution.status, solution.residual);
            assert_eq!(solution.status, Status::Solved, "{}", file.display());
        }
    }
}
