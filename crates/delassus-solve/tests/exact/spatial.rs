//! Verdicts on contacts at rest in space against other methods: a scan of all directions for one contact, a
//! projected iteration from many starts for several, and the exact list of modes for planar problems that are
//! given as spatial ones. None may be wrong; what is left unknown is printed.

use std::time::Instant;

use delassus_solve::analysis::{Analysis, analyze};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Matrix, dot};
use delassus_solve::modes::{EnumerateOptions, exact_answer};
use delassus_solve::problem::{Dynamics, Law, Reduced};
use rayon::prelude::*;

use super::{from_environment, numbered};
use crate::support::random::Random;

fn mass(r: &mut Random, n: usize) -> Matrix {
    let root = Matrix::from_fn(n, n, |_, _| r.below(5) as f64 - 2.0);
    let product = root.transpose().mul(&root);
    Matrix::from_fn(n, n, |i, j| product[(i, j)] + f64::from(u8::from(i == j)))
}

/// Contacts at rest with whole numbers, with as many coordinates as rows: some stick, some slide.
fn random_problem(r: &mut Random, contacts: usize) -> Dynamics {
    let n = 3 * contacts;
    loop {
        let rows = Matrix::from_fn(n, n, |_, _| r.below(5) as f64 - 2.0);
        let force: Vec<f64> = (0..n).map(|_| r.below(9) as f64 - 4.0).collect();
        let laws = (0..contacts).map(|_| Law::Coulomb { mu: (1 + r.below(12)) as f64 / 8.0 }).collect();
        let d = Dynamics::new(mass(r, n), force, rows, vec![0.0; n], laws).unwrap();
        if d.jacobian.rank() == n {
            return d;
        }
    }
}

fn answer(d: &Dynamics) -> (Analysis, f64) {
    let start = Instant::now();
    (analyze(d, &EnumerateOptions::default()), start.elapsed().as_secs_f64())
}

/// All solutions of one contact: open, stick, and sign changes of the slip across its direction among `steps`
/// directions; `None` where a number is too close to zero to tell.
fn scan(reduced: &Reduced, mu: f64, steps: usize) -> Option<usize> {
    const CLOSE: f64 = 1e-6;
    let (w, q) = (&reduced.delassus, &reduced.free_velocity);
    let stick = w.solve(&q.iter().map(|q| -q).collect::<Vec<_>>())?;
    let room = mu * stick[0] - stick[1].hypot(stick[2]);
    if q[0].abs() < CLOSE || room.abs() < CLOSE {
        return None;
    }
    let mut count = usize::from(q[0] > 0.0) + usize::from(room > 0.0 && stick[0] > 0.0);
    // The slip along and across e for the normal force that keeps the contact closed; none where it pulls.
    let at = |k: usize| {
        let angle = (k as f64 + 0.123) * std::f64::consts::TAU / steps as f64;
        let e = [angle.cos(), angle.sin()];
        let ray = [1.0, -mu * e[0], -mu * e[1]];
        let normal = -q[0] / dot(w.row(0), &ray);
        let u = [1, 2].map(|i| q[i] + normal * dot(w.row(i), &ray));
        (normal, u[0] * e[0] + u[1] * e[1], u[1] * e[0] - u[0] * e[1])
    };
    let mut last = at(steps - 1);
    for k in 0..steps {
        let now = at(k);
        if last.0 > 0.0 && now.0 > 0.0 && (last.2 > 0.0) != (now.2 > 0.0) {
            if last.1 > 0.0 && now.1 > 0.0 {
                count += 1;
            } else if (last.1 > 0.0) != (now.1 > 0.0) {
                return None;
            }
        } else if (last.0 > 0.0) != (now.0 > 0.0)
            && last.0.abs().min(now.0.abs()) < 1e3
            && last.1.max(now.1) > 0.0
        {
            return None;
        }
        last = now;
    }
    Some(count)
}

#[test]
fn one_contact_has_the_solutions_that_a_scan_finds() {
    let count = from_environment("DELASSUS_RANDOM", 300);
    let (mut compared, mut several, mut unknown) = (0_u64, 0, 0_u64);
    for k in 0..count {
        let mut r = numbered(31, k);
        let mut d = random_problem(&mut r, 1);
        let mu = r.pick(&[0.5, 1.0, 2.0, 4.0]);
        d.laws = vec![Law::Coulomb { mu }];
        let (a, _) = answer(&d);
        let Some(found) = scan(&d.reduce().unwrap(), mu, 40_000) else { continue };
        compared += 1;
        several += usize::from(found > 1);
        let verdict = |v: Verdict, truth: bool| match v {
            Verdict::Unknown => true,
            v => (v == Verdict::Proved) == truth,
        };
        unknown += u64::from(a.verdicts().contains(&Verdict::Unknown));
        assert!(
            verdict(a.existence, found > 0) && verdict(a.acceleration_unique, found == 1),
            "{k}: {found} {a:?}"
        );
        assert!(a.is_partial() || a.solutions.components.len() == found, "{k}: {found} {a:?}");
    }
    println!("{compared} single contacts compared, {several} with several solutions, {unknown} unknown");
    // Whole numbers are often ties.
    assert!(compared > count * 4 / 5 && several > 0 && unknown <= compared / 50);
}

/// f ← projection of f − ρ (u_n + μ‖u_t‖, u_t) on the friction cones, from a random start.
fn iterate(reduced: &Reduced, laws: &[Law], r: &mut Random) -> Option<Vec<f64>> {
    let (w, q) = (&reduced.delassus, &reduced.free_velocity);
    let step = 0.7 / (0..w.rows()).map(|i| w.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut f: Vec<f64> = (0..w.rows()).map(|_| 4.0 * r.centred()).collect();
    for _ in 0..40_000 {
        let u: Vec<f64> = w.mul_vec(&f).iter().zip(q).map(|(u, q)| u + q).collect();
        let mut change = 0.0_f64;
        for (k, law) in laws.iter().enumerate() {
            let (mu, i) = (law.mu(), 3 * k);
            let n = f[i] - step * (u[i] + mu * u[i + 1].hypot(u[i + 2]));
            let t = [f[i + 1] - step * u[i + 1], f[i + 2] - step * u[i + 2]];
            let size = t[0].hypot(t[1]);
            let normal = if size <= mu * n { n } else { ((n + mu * size) / (1.0 + mu * mu)).max(0.0) };
            let share = if size <= mu * n { 1.0 } else { mu * normal / size.max(f64::MIN_POSITIVE) };
            let new = [normal, share * t[0], share * t[1]];
            for (j, x) in new.iter().enumerate() {
                change = change.max((x - f[i + j]).abs());
                f[i + j] = *x;
            }
        }
        if change < 1e-14 {
            return Some(f);
        }
    }
    None
}

/// Random problems, their solutions compared with those of an iteration: how many are undecided, wrong and
/// decided within a second, and the longest time.
fn compare_with_iteration(contacts: usize, count: u64) -> ([usize; 3], f64) {
    let each = |k: u64| {
        let mut r = numbered(32 + contacts as u64, k);
        let d = random_problem(&mut r, contacts);
        let (a, time) = answer(&d);
        let reduced = d.reduce().unwrap();
        let listed = |f: &Vec<f64>| {
            let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-6 * (1.0 + y.abs());
            a.solutions.components.iter().any(|c| c.force.iter().zip(f).all(near))
        };
        let wrong =
            !a.is_partial() && (0..4).filter_map(|_| iterate(&reduced, &d.laws, &mut r)).any(|f| !listed(&f));
        let unknown = a.acceleration_unique == Verdict::Unknown;
        ([unknown, wrong, !unknown && time < 1.0].map(usize::from), time)
    };
    let all: Vec<([usize; 3], f64)> = (0..count).into_par_iter().map(each).collect();
    let sum = |k: usize| all.iter().map(|x| x.0[k]).sum::<usize>();
    ([0, 1, 2].map(sum), all.iter().map(|x| x.1).fold(0.0, f64::max))
}

fn compare_spatial(count: u64) {
    for contacts in 1..=4 {
        let ([unknown, wrong, soon], worst) = compare_with_iteration(contacts, count);
        println!(
            "{contacts} contacts: {unknown} of {count} undecided, {wrong} wrong, {soon} decided within 1 s, {worst:.3} s at most"
        );
        assert_eq!(wrong, 0);
        // Nine of ten are decided.
        assert!(unknown as u64 <= count.div_ceil(10), "{contacts} contacts: {unknown}");
    }
}

#[test]
fn solutions_in_space_are_all_listed() {
    compare_spatial(15);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn solutions_of_many_problems_in_space_are_all_listed() {
    compare_spatial(from_environment("DELASSUS_RANDOM", 600));
}

/// A planar problem and the same with a second tangent across the plane, whose coordinates have no load.
fn planar_as_spatial(r: &mut Random) -> (Dynamics, Dynamics) {
    let contacts = 1 + r.below(3);
    let (n, across) = (1 + r.below(2 * contacts + 1), contacts);
    let inside = mass(r, n);
    let outside = mass(r, across);
    let rows = Matrix::from_fn(2 * contacts, n, |_, _| r.below(5) as f64 - 2.0);
    let force: Vec<f64> = (0..n).map(|_| r.below(9) as f64 - 4.0).collect();
    let mu: Vec<f64> = (0..contacts).map(|_| (1 + r.below(16)) as f64 / 8.0).collect();
    let laws = mu.iter().map(|mu| Law::CoulombPlane { mu: *mu }).collect();
    let planar = Dynamics::new(inside.clone(), force.clone(), rows.clone(), vec![0.0; 2 * contacts], laws);
    let whole = Matrix::from_fn(n + across, n + across, |i, j| match (i < n, j < n) {
        (true, true) => inside[(i, j)],
        (false, false) => outside[(i - n, j - n)],
        _ => 0.0,
    });
    let second = Matrix::from_fn(contacts, across, |_, _| r.below(5) as f64 - 2.0);
    let all = Matrix::from_fn(3 * contacts, n + across, |i, j| match (i % 3, j < n) {
        (2, false) => second[(i / 3, j - n)],
        (row @ (0 | 1), true) => rows[(2 * (i / 3) + row, j)],
        _ => 0.0,
    });
    let force = force.into_iter().chain(vec![0.0; across]).collect();
    let laws = mu.iter().map(|mu| Law::Coulomb { mu: *mu }).collect();
    let spatial = Dynamics::new(whole, force, all, vec![0.0; 3 * contacts], laws);
    (planar.unwrap(), spatial.unwrap())
}

fn compare_planar(count: u64) {
    let each = |k: u64| {
        let (planar, spatial) = planar_as_spatial(&mut numbered(37, k));
        let Some(truth) = exact_answer(&planar, 4096) else { return [0; 3] };
        let (a, _) = answer(&spatial);
        // Friction across the plane is zero, where its rows are independent; else only motions are compared.
        let truth = [truth.existence, truth.acceleration_unique];
        let judged = [a.existence, a.acceleration_unique];
        let wrong =
            judged.iter().zip(truth).any(|(v, t)| *v != Verdict::Unknown && (*v == Verdict::Proved) != t);
        assert!(!wrong, "{k}: {judged:?} for {truth:?}");
        [1, usize::from(a.acceleration_unique == Verdict::Unknown), usize::from(!truth[1])]
    };
    let all: Vec<[usize; 3]> = (0..count).into_par_iter().map(each).collect();
    let sum = |k: usize| all.iter().map(|x| x[k]).sum::<usize>();
    println!("{} planar problems in space: {} undecided, {} not unique", sum(0), sum(1), sum(2));
    assert!(sum(0) > count as usize / 2 && sum(2) > 0);
}

#[test]
fn planar_problems_in_space_have_their_verdicts() {
    compare_planar(100);
}

#[test]
#[ignore = "minutes: see the head of the file"]
fn many_planar_problems_in_space_have_their_verdicts() {
    compare_planar(from_environment("DELASSUS_RANDOM", 10_000));
}
