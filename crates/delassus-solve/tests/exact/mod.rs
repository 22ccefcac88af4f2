//! Verdicts near ties against an exact checker of its own ([`checker`]): none may be wrong.
//!
//! Integer data, degenerate on purpose, are moved by 2⁻ᵏ, k from 20 to 52, so that the answer hangs on
//! digits that margins cannot see. `Unknown` is no error; its share is printed. The full numbers of
//! problems take some minutes on all threads (`RAYON_NUM_THREADS`):
//!
//! ```sh
//! cargo test --release -p delassus-solve --test main exact:: -- --ignored --nocapture --test-threads 1
//! ```
//!
//! `cargo xtask verdicts` runs these, and then `map`, `analyze` and `safe` as a user types them.
//! `DELASSUS_SEED` starts elsewhere, `DELASSUS_RANDOM` gives another number of problems.

mod checker;
mod spatial;

use delassus_solve::analysis::analyze;
use delassus_solve::analysis::theorems::findings;
use delassus_solve::lcp::{Lcp, Mlcp, Solver, Verdict, solve_lcp, solve_mlcp};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Law, Slip, Status};
use rayon::prelude::*;

use crate::support::joined::joined;
use crate::support::random::Random;

const QUESTIONS: [&str; 3] = ["existence", "acceleration_unique", "forces_unique"];

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default)
}

/// The numbers of the k-th problem of a kind, whoever examines it.
fn numbered(kind: u64, k: u64) -> Random {
    let seed = from_environment("DELASSUS_SEED", 14);
    Random(Random(seed ^ kind << 32).next().wrapping_add(k << 20))
}

/// ±2⁻ᵏ, k from 20 to 52.
fn hair(r: &mut Random) -> f64 {
    r.pick(&[-1.0, 1.0]) * 2f64.powi(-20 - r.below(33) as i32)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    /// Small integers.
    Integers,
    /// Some numbers moved by a hair.
    Moved,
    /// Contacts that open or close slowly.
    Slow,
    /// A mass that is singular, or nearly so.
    Singular,
    /// Slip along (3/5, 4/5), whose doubles are no fractions of five.
    Oblique,
    /// Rows that repeat others, moved by a hair or not.
    Redundant,
}

const FAMILIES: [Family; 6] =
    [Family::Integers, Family::Moved, Family::Slow, Family::Singular, Family::Oblique, Family::Redundant];

fn random_law(r: &mut Random, family: Family) -> Law {
    let mu = r.pick(&[0.0, 0.5, 1.0, 1.0, 2.0, 3.0]);
    let slip = if family == Family::Oblique {
        Slip::Space(r.pick(&[[0.6, 0.8], [-0.6, 0.8], [0.8, -0.6]]))
    } else {
        Slip::Plane(r.pick(&[1.0, -1.0]))
    };
    let oblique = family == Family::Oblique && r.one_in(2);
    match r.below(if oblique { 2 } else { 9 }) {
        0 => Law::Sliding { mu, slip },
        1 if r.one_in(2) => Law::BilateralSliding { mu, slip },
        1 | 2 => Law::Sliding { mu, slip },
        3 => Law::Bilateral,
        4 | 5 => Law::Unilateral,
        6 if r.one_in(3) => Law::BilateralCoulombPlane { mu },
        _ => Law::CoulombPlane { mu },
    }
}

fn random_mass(r: &mut Random, n: usize, family: Family) -> Matrix {
    let singular = family == Family::Singular;
    match r.below(3) {
        0 if singular => Matrix::diagonal(&(0..n).map(|_| r.pick(&[0.0, 0.0, 1.0, 2.0])).collect::<Vec<_>>()),
        0 => Matrix::diagonal(&(0..n).map(|_| r.pick(&[1.0, 1.0, 2.0, 3.0])).collect::<Vec<_>>()),
        1 if !singular => Matrix::identity(n),
        // BᵀB with B of less than full rank, or that plus the identity.
        _ => {
            let rank = if singular { n - 1 } else { n };
            let b = Matrix::from_vec(rank, n, r.entries(rank * n));
            let plus = if singular { 0.0 } else { 1.0 };
            Matrix::from_fn(n, n, |i, j| {
                (0..rank).map(|k| b[(k, i)] * b[(k, j)]).sum::<f64>() + if i == j { plus } else { 0.0 }
            })
        }
    }
}

/// A problem with one to three constraints.
fn random_problem(r: &mut Random, family: Family) -> Dynamics {
    let n = 1 + r.below(3);
    let mut laws: Vec<Law> = (0..r.pick(&[1, 1, 2, 2, 3])).map(|_| random_law(r, family)).collect();
    let mut mass = random_mass(r, n, family);
    let mut force = r.entries(n);
    let m: usize = laws.iter().map(Law::dim).sum();
    let (mut rows, mut bias) = (r.entries(m * n), if r.one_in(2) { vec![0.0; m] } else { r.entries(m) });
    match family {
        Family::Integers | Family::Oblique if r.one_in(2) => {}
        Family::Slow => {
            // The normal rows have a free acceleration of a hair: W f moves it, nothing else does.
            force = vec![0.0; n];
            let mut at = 0;
            for law in &laws {
                bias[at] = if r.one_in(3) { 0.0 } else { hair(r) };
                at += law.dim();
            }
        }
        Family::Redundant => {
            let at = r.below(laws.len());
            let first: usize = laws[..at].iter().map(Law::dim).sum();
            let (d, t) = (laws[at].dim(), r.pick(&[1.0, 1.0, 2.0, 3.0]));
            // The same law again, its rows multiplied.
            for i in first..first + d {
                let row: Vec<f64> = rows[i * n..(i + 1) * n].iter().map(|x| t * x).collect();
                rows.extend(row);
                bias.push(t * bias[i]);
            }
            laws.push(laws[at]);
        }
        _ => {}
    }
    if family != Family::Integers && (family != Family::Redundant || r.one_in(2)) {
        for _ in 0..1 + r.below(3) {
            match r.below(5) {
                0 => force[r.below(n)] += hair(r),
                1 => bias[r.below(m)] += hair(r),
                2 => {
                    let i = r.below(n);
                    mass[(i, i)] += hair(r).abs();
                }
                3 => {
                    let change = hair(r);
                    let k = r.below(laws.len());
                    if let Law::CoulombPlane { mu } | Law::Sliding { mu, .. } = &mut laws[k] {
                        *mu = (*mu + change).max(0.0);
                    }
                }
                _ => rows[r.below(m * n)] += hair(r),
            }
        }
    }
    let m = bias.len();
    Dynamics::new(mass, force, Matrix::from_vec(m, n, rows), bias, laws).unwrap()
}

/// The same mechanism in other units: masses and forces, and each constraint, times a number that is no
/// fraction. The answers stay, and every entry is rounded.
fn in_other_units(r: &mut Random, p: &Dynamics) -> Dynamics {
    let factors = [std::f64::consts::PI, std::f64::consts::E, 2f64.sqrt(), 0.3f64.sin(), 3f64.sqrt() / 7.0];
    let (mass, n) = (r.pick(&factors), p.mass.rows());
    let rows: Vec<f64> = p
        .laws
        .iter()
        .flat_map(|law| {
            let factor = r.pick(&factors);
            std::iter::repeat_n(factor, law.dim())
        })
        .collect();
    Dynamics::new(
        Matrix::from_fn(n, n, |i, j| mass * p.mass[(i, j)]),
        p.force.iter().map(|x| mass * x).collect(),
        Matrix::from_fn(rows.len(), n, |i, j| rows[i] * p.jacobian[(i, j)]),
        p.bias.iter().zip(&rows).map(|(x, c)| x * c).collect(),
        p.laws.clone(),
    )
    .unwrap()
}

/// The problem as it is.
fn as_it_is(_: &mut Random, p: &Dynamics) -> Dynamics {
    p.clone()
}

/// A problem beside points that stick, slide or are pressed, each with exactly one solution: the answers
/// stay, and there are more modes, or more numbers, than are examined one by one. Half of them in other
/// units.
fn beside_others(r: &mut Random, p: &Dynamics) -> Dynamics {
    let plane = |mass: &[f64; 2], weight: f64, law: Law| {
        let rows = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]);
        Dynamics::new(Matrix::diagonal(mass), vec![0.0, weight], rows, vec![0.0; 2], vec![law]).unwrap()
    };
    let pressed = {
        let one = Matrix::identity(1);
        Dynamics::new(one.clone(), vec![2.0], one, vec![0.0], vec![Law::Unilateral]).unwrap()
    };
    let sticks = plane(&[1.0, 2.0], 3.0, Law::CoulombPlane { mu: 0.5 });
    let slides = plane(&[1.0, 1.0], 1.0, Law::Sliding { mu: 0.5, slip: Slip::Plane(1.0) });
    let kinds = [sticks, slides, pressed];
    let count = r.pick(&[5, 8, 11, 20]);
    let whole = (0..count).fold(p.clone(), |whole, _| joined(&whole, &kinds[r.below(3)]));
    if r.one_in(2) { in_other_units(r, &whole) } else { whole }
}

/// Sum of the sizes of a problem: which of two failures is easier to read.
fn size(p: &Dynamics) -> usize {
    10 * p.laws.len() + p.mass.rows() + p.bias.len()
}

/// What came of some problems: how many verdicts are unknown and wrong, and the simplest problem with a wrong
/// one, for each question.
#[derive(Default)]
struct Tally {
    unknown: [u64; 3],
    wrong: [usize; 3],
    simplest: [Option<(Dynamics, Verdict)>; 3],
}

impl Tally {
    fn add_wrong(&mut self, question: usize, p: Dynamics, verdict: Verdict) {
        if self.simplest[question].as_ref().is_none_or(|(old, _)| size(&p) < size(old)) {
            self.simplest[question] = Some((p, verdict));
        }
    }

    fn plus(mut self, other: Tally) -> Tally {
        for (k, simplest) in other.simplest.into_iter().enumerate() {
            self.unknown[k] += other.unknown[k];
            self.wrong[k] += other.wrong[k];
            if let Some((p, verdict)) = simplest {
                self.add_wrong(k, p, verdict);
            }
        }
        self
    }
}

/// The k-th problem of a family, changed so that the answers stay: its verdicts by `analyze`, alone and
/// completed by the verified findings, against the checker.
fn compare_verdict(mut r: Random, family: Family, change: fn(&mut Random, &Dynamics) -> Dynamics) -> Tally {
    let p = random_problem(&mut r, family);
    let truth = checker::of_dynamics(&p);
    let p = change(&mut r, &p);
    let mut analysis = analyze(&p, &EnumerateOptions { max_modes: 1 << 14 });
    let alone = analysis.verdicts();
    findings(&p, &mut analysis);
    let mut tally = Tally::default();
    for (k, (alone, verdict)) in alone.into_iter().zip(analysis.verdicts()).enumerate() {
        tally.unknown[k] += u64::from(verdict == Verdict::Unknown);
        let is_wrong = |v: &Verdict| *v != Verdict::Unknown && (*v == Verdict::Proved) != truth[k];
        if let Some(v) = [alone, verdict].into_iter().find(is_wrong) {
            tally.wrong[k] += 1;
            tally.add_wrong(k, p.clone(), v);
        }
    }
    tally
}

/// Compares the verdicts on as many problems, on all threads; prints the shares of unknown and the simplest
/// wrong verdicts, and returns how many are wrong.
fn compare_verdicts(problems: u64, change: fn(&mut Random, &Dynamics) -> Dynamics) -> usize {
    let mut wrong_total = 0;
    for family in FAMILIES {
        let count = problems / FAMILIES.len() as u64;
        let one = |k: u64| compare_verdict(numbered(family as u64 + 1, k), family, change);
        let Tally { unknown, wrong, simplest } =
            (0..count).into_par_iter().map(one).reduce(Tally::default, Tally::plus);
        let shares = unknown.map(|u| format!("{:.2} %", 100.0 * u as f64 / count as f64));
        let shares = shares.join(", ");
        println!("{family:?}: {count} problems, unknown {shares}, wrong {wrong:?}");
        for (k, case) in simplest.into_iter().enumerate() {
            if let Some((p, v)) = case {
                println!("  {} is not {v:?}: {p:?}", QUESTIONS[k]);
            }
        }
        wrong_total += wrong.iter().sum::<usize>();
    }
    wrong_total
}

/// An LCP or mixed LCP in units from 2⁻⁴⁰ to 2⁴⁰, a quarter of them moved by a hair.
fn random_complementarity(r: &mut Random) -> Mlcp {
    let n = 1 + r.below(4);
    let mut unit = || (r.below(81) as i32) - 40;
    let (all, vector_unit) = (unit(), if unit() > 0 { 0 } else { unit() });
    let (rows, columns): (Vec<i32>, Vec<i32>) = (0..n).map(|_| (unit(), unit())).unzip();
    let each = r.one_in(3);
    let scale = |i: usize, j: usize| 2f64.powi(if each { rows[i] - columns[j] } else { all });
    let (mut m, mut q) = (r.entries(n * n), r.entries(n));
    if r.one_in(4) {
        m[r.below(n * n)] += hair(r);
        q[r.below(n)] += hair(r);
    }
    let mixed = r.one_in(2);
    let row_unit = |i: usize| 2f64.powi(vector_unit + if each { rows[i] } else { 0 });
    Mlcp {
        vector: q.iter().enumerate().map(|(i, x)| x * row_unit(i)).collect(),
        free: (0..n).map(|_| mixed && r.one_in(2)).collect(),
        matrix: Matrix::from_fn(n, n, |i, j| m[i * n + j] * scale(i, j)),
    }
}

/// Whether each solver's status of the k-th problem is wrong, and whether it is open.
fn compare_status(k: u64) -> [[u64; 2]; Solver::ALL.len()] {
    let p = random_complementarity(&mut numbered(0, k));
    let exists = checker::solvable(&p.matrix, &p.vector, &p.free);
    Solver::ALL.map(|(name, solver)| {
        let found = if p.free.contains(&true) {
            solve_mlcp(&p, solver, 1e-8)
        } else {
            solve_lcp(&Lcp::new(p.matrix.clone(), p.vector.clone()).unwrap(), solver, 1e-8)
        };
        match found.status {
            Status::Solved if exists => [0, 0],
            Status::NoSolution if !exists => [0, 0],
            Status::Solved | Status::NoSolution => {
                println!("{name} says {:?}, z = {:?}: {p:?}", found.status, found.z);
                [1, 0]
            }
            _ => [0, 1],
        }
    })
}

/// Compares the status of all solvers with the checker, on all threads.
fn compare_statuses(problems: u64) -> u64 {
    let none = || [[0; 2]; Solver::ALL.len()];
    let plus = |mut x: [[u64; 2]; Solver::ALL.len()], y: [[u64; 2]; Solver::ALL.len()]| {
        x.iter_mut().flatten().zip(y.iter().flatten()).for_each(|(x, y)| *x += y);
        x
    };
    let counts = (0..problems).into_par_iter().map(compare_status).reduce(none, plus);
    for ((name, _), [_, open]) in Solver::ALL.iter().zip(counts) {
        println!("{name}: {problems} problems, {:.2} % open", 100.0 * open as f64 / problems as f64);
    }
    counts.iter().map(|[wrong, _]| wrong).sum()
}

/// W and q of a contact problem, W = J M⁻¹ Jᵀ of small integers, in units from 2⁻⁴⁰ to 2⁴⁰; `moved`: some
/// numbers of q by a hair. Without mass that differs between coordinates nothing is rounded.
fn random_contacts(r: &mut Random, moved: bool) -> (Matrix, Vec<f64>, Vec<Law>) {
    let law = |r: &mut Random| match r.below(4) {
        0 => Law::Unilateral,
        1 => Law::Bilateral,
        _ => Law::CoulombPlane { mu: r.pick(&[0.5, 1.0, 2.0]) },
    };
    let laws: Vec<Law> = (0..1 + r.below(3)).map(|_| law(r)).collect();
    let (m, n) = (laws.iter().map(Law::dim).sum(), 1 + r.below(4));
    let rows = Matrix::from_vec(m, n, r.entries(m * n));
    let [mass, speed] = [0; 2].map(|_| 2f64.powi(r.below(81) as i32 - 40));
    let w = Matrix::from_fn(m, m, |i, j| mass * (0..n).map(|k| rows[(i, k)] * rows[(j, k)]).sum::<f64>());
    let mut q = r.entries(m);
    if moved {
        q[r.below(m)] += hair(r);
    }
    (w, q.iter().map(|x| speed * x).collect(), laws)
}

/// Compares the status of contact problems with the checker, on all threads: `NoSolution` is a verdict,
/// `Solved` one that a residual cannot give where a hair decides.
fn compare_contact_statuses(problems: u64) -> usize {
    let wrong = |k: u64| {
        let r = &mut numbered(7, k);
        let moved = r.one_in(2);
        let (w, q, laws) = random_contacts(r, moved);
        let exists = checker::solvable_contacts(&w, &q, &laws);
        let status = delassus_solve::solve(&w, &q, &laws).unwrap().status;
        let is_wrong =
            status == Status::NoSolution && exists || status == Status::Solved && !exists && !moved;
        if is_wrong {
            println!("contacts are not {status:?}: {w:?} {q:?} {laws:?}");
        }
        [usize::from(is_wrong), usize::from(![Status::Solved, Status::NoSolution].contains(&status))]
    };
    let plus = |x: [usize; 2], y: [usize; 2]| [x[0] + y[0], x[1] + y[1]];
    let [wrong, open] = (0..problems).into_par_iter().map(wrong).reduce(|| [0; 2], plus);
    println!("contacts: {problems} problems, {:.2} % open", 100.0 * open as f64 / problems as f64);
    wrong
}

#[test]
fn no_wrong_verdict_near_ties() {
    assert_eq!(compare_verdicts(1200, as_it_is), 0);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn no_wrong_verdict_in_many_problems_near_ties() {
    assert_eq!(compare_verdicts(from_environment("DELASSUS_RANDOM", 100_000), as_it_is), 0);
}

#[test]
fn no_wrong_verdict_on_rounded_data() {
    assert_eq!(compare_verdicts(1200, in_other_units), 0);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn no_wrong_verdict_in_many_problems_on_rounded_data() {
    assert_eq!(compare_verdicts(from_environment("DELASSUS_RANDOM", 100_000), in_other_units), 0);
}

#[test]
fn no_wrong_verdict_on_large_problems() {
    assert_eq!(compare_verdicts(60, beside_others), 0);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn no_wrong_verdict_on_many_large_problems() {
    assert_eq!(compare_verdicts(from_environment("DELASSUS_RANDOM", 6_000), beside_others), 0);
}

#[test]
fn no_wrong_status_at_any_scale() {
    assert_eq!(compare_statuses(500), 0);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn no_wrong_status_of_many_problems_at_any_scale() {
    assert_eq!(compare_statuses(from_environment("DELASSUS_RANDOM", 10_000)), 0);
}

#[test]
fn no_wrong_status_of_contacts_at_any_scale() {
    assert_eq!(compare_contact_statuses(1000), 0);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn no_wrong_status_of_many_contacts_at_any_scale() {
    assert_eq!(compare_contact_statuses(from_environment("DELASSUS_RANDOM", 100_000)), 0);
}

/// The checker by hand: Painlevé's −z − 1 and −z + 1, a box on two corners, a contact that opens by a hair.
#[test]
fn the_checker_by_hand() {
    let one = |x: f64| Matrix::from_rows(&[[x]]);
    assert!(!checker::solvable(&one(-1.0), &[-1.0], &[false]));
    assert!(checker::solvable(&one(-1.0), &[1.0], &[false]));
    assert!(checker::solvable(&one(-1.0), &[-1.0], &[true]));
    assert!(!checker::solvable(&one(0.0), &[1e-300], &[true]));
    let dynamics = |mass: Matrix, force: &[f64], rows: &[&[f64]], bias: &[f64], laws: &[Law]| {
        Dynamics::new(mass, force.to_vec(), Matrix::from_rows(rows), bias.to_vec(), laws.to_vec()).unwrap()
    };
    let point = |bias: f64| dynamics(one(1.0), &[0.0], &[&[1.0]], &[bias], &[Law::Unilateral]);
    for bias in [-1.0, 0.0, 2f64.powi(-52)] {
        assert_eq!(checker::of_dynamics(&point(bias)), [true; 3]);
    }
    // Pressed at two corners, and at the same place twice.
    let two = [Law::Unilateral; 2];
    let plank = dynamics(Matrix::identity(2), &[1.0, 0.0], &[&[1.0, 1.0], &[1.0, -1.0]], &[0.0; 2], &two);
    assert_eq!(checker::of_dynamics(&plank), [true; 3]);
    let twice = dynamics(one(1.0), &[1.0], &[&[1.0], &[2.0]], &[0.0; 2], &two);
    assert_eq!(checker::of_dynamics(&twice), [true, true, false]);
    // Without mass and pulled: nothing balances. Without mass and force: any acceleration away.
    let pulled = dynamics(one(0.0), &[-1.0], &[&[1.0]], &[0.0], &[Law::Unilateral]);
    assert_eq!(checker::of_dynamics(&pulled), [false; 3]);
    let free = dynamics(one(0.0), &[0.0], &[&[1.0]], &[0.0], &[Law::Unilateral]);
    assert_eq!(checker::of_dynamics(&free), [true, false, true]);
    // Between two walls with friction: any pressure, and friction holds a weight or not.
    let walls = |mu: f64, weight: f64| {
        let rows: [&[f64]; 4] = [&[1.0, 0.0], &[0.0, 1.0], &[-1.0, 0.0], &[0.0, 1.0]];
        let laws = [Law::CoulombPlane { mu }; 2];
        checker::of_dynamics(&dynamics(Matrix::identity(2), &[0.0, weight], &rows, &[0.0; 4], &laws))
    };
    assert_eq!(walls(0.5, 0.0), [true, true, false]);
    assert_eq!(walls(0.5, 1.0), [true, false, false]);
    assert_eq!(walls(0.0, 1.0), [true, true, false]);
}
