//! All solutions of a contact problem, mode by mode.
//!
//! Every polyhedral law is a finite union of cones ("pieces") in (f, u): open, slide, stick. Choosing one
//! piece per constraint makes the problem linear: forces f = B x with x as many parameters as there are
//! velocities S u that must vanish, so K x = r with the square matrix K = S W B, and linear inequalities on
//! the result. For frictionless contacts these are the complementary cones of the LCP (000 eq. 9, 31); for
//! sliding friction those of 000 eq. 50, 58; for guides the 2^m sign patterns of 000 eq. 37; for contacts at
//! rest the planar modes of Coulomb's law on the acceleration level.
//!
//! * K regular: one candidate, kept if it satisfies the inequalities.
//! * K singular and the system consistent: an affine set cut by the inequalities, a polyhedron.
//!
//! Where the mass is singular, the accelerations stay in the system as unknowns (000 eq. 16).
//!
//! Decisions are made on scaled numbers (every row has unit inverse mass), each by the size of its own terms: a slack
//! above −10⁻¹¹ of that size is nonnegative, one below −10⁻⁷ is negative; in between, rounding and meaning cannot be
//! told apart: such a point is not listed, and the set is marked as not [`SolutionSet::decided`]. So is one whose
//! forces are so large that their rounding alone violates the laws by more than 10⁻¹⁰.

mod exact_modes;
mod gauss;
mod modes;
mod scaling;

pub use exact_modes::{ExactAnswer, exact_answer, mode_count};

pub(crate) use exact_modes::feasible;
pub(crate) use scaling::scaled_contact;

use crate::lcp::{Lp, Nearest, linear_program, nearest_point};
use crate::linalg::{Matrix, dot, max_abs};
use crate::problem::{Dynamics, Law, row_offsets};
use gauss::{Gauss, gauss_velocity};
pub use modes::Mode;
use modes::{Piece, negated, pieces};
use scaling::Scaled;

/// Slacks above −SURE, relative to their terms, count as nonnegative (rounding stays far below).
const SURE: f64 = 1e-11;
/// Slacks below −CLEAR count as negative.
const CLEAR: f64 = 1e-7;
/// Pivots below this, relative to the largest, count as zero.
const SINGULAR: f64 = 1e-12;
/// Pivots above this, relative to the largest, count as nonzero.
const REGULAR: f64 = 1e-10;
/// Two solutions closer than this, in scaled forces and velocities, are one.
const SAME: f64 = 1e-7;
/// A point is listed only if it violates no equation and no slack by more than this, in scaled numbers.
const LISTED: f64 = 1e-10;
/// Problems without friction and with more constraints than this are not searched but solved by Gauss' principle.
const SEARCHED: usize = 10;
/// What examining a polyhedron costs, in regular modes.
const POLYHEDRON: u64 = 30;
/// Components of unit directions below this are rounding of the null space that they came from.
pub(super) const STILL: f64 = 1e-10;

/// A convex set of solutions: a point, or a polyhedron {f + D s : G s ≥ h}.
#[derive(Clone, Debug)]
pub struct SolutionPiece {
    /// What each constraint does.
    pub modes: Vec<Mode>,
    /// The force of least norm in the piece.
    pub force: Vec<f64>,
    /// u at that force.
    pub velocity: Vec<f64>,
    /// a at that force; empty where the problem was given without dynamics.
    pub acceleration: Vec<f64>,
    /// The directions in which the solution may move; `None` for an isolated solution.
    pub freedom: Option<Freedom>,
}

/// The directions and bounds of a polyhedron of solutions, in parameters s ∈ R^k, k ≥ 1, with full dimension
/// k: the force is f + D s, the acceleration a + A s, for all s with G s ≥ h (s = 0 is one of them).
#[derive(Clone, Debug)]
pub struct Freedom {
    /// D, m × k. Exactly zero where the forces do not move.
    pub force: Matrix,
    /// A, n × k. Exactly zero where the acceleration does not move.
    pub acceleration: Matrix,
    /// G.
    pub bounds: Matrix,
    /// h.
    pub limits: Vec<f64>,
}

/// All solutions of a contact problem.
#[derive(Clone, Debug)]
pub struct SolutionSet {
    /// The pieces; none lies in another.
    pub pieces: Vec<SolutionPiece>,
    /// Whether every mode was examined.
    pub complete: bool,
    /// Whether every decision was clear of rounding.
    pub decided: bool,
    /// The force that one unit of the problem's scaled numbers stands for: rounding of forces is a small part of it.
    pub force_unit: f64,
    /// Number of modes examined (one where Gauss' principle names it).
    pub modes: u64,
}

/// Options of [`enumerate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnumerateOptions {
    /// Largest effort, in regular mode combinations (default 2¹⁸: nine planar contacts at rest, a few seconds). A
    /// problem with more modes is not searched; one whose modes are mostly polyhedra is searched in part. Either way
    /// the set is then not complete.
    pub max_modes: u64,
}

impl Default for EnumerateOptions {
    fn default() -> Self {
        EnumerateOptions { max_modes: 1 << 18 }
    }
}

/// All solutions of the contact problem with these dynamics.
///
/// Without friction and with a positive definite mass all solutions lie in one mode, which Gauss' principle names:
/// larger problems of that kind are not searched.
pub fn enumerate(dynamics: &Dynamics, options: &EnumerateOptions) -> SolutionSet {
    if dynamics.laws.len() > SEARCHED && dynamics.laws.iter().all(|l| l.dim() == 1) {
        match gauss_velocity(dynamics, SURE, CLEAR) {
            Gauss::Velocity(u) => {
                if let Some(set) = one_mode(dynamics, &u) {
                    return set;
                }
            }
            Gauss::Impossible => {
                return SolutionSet {
                    pieces: vec![],
                    complete: true,
                    decided: true,
                    force_unit: 0.0,
                    modes: 1,
                };
            }
            Gauss::Undecided => {}
        }
    }
    let scaled = Scaled::of(dynamics).unwrap_or_else(|| Scaled::with_mass(dynamics));
    Search::run(scaled, &dynamics.laws, options)
}

/// All solutions of a problem without friction whose velocities are known: those of the mode that closes the contacts
/// at rest. `None` where it is too close to call which those are.
fn one_mode(dynamics: &Dynamics, u: &[f64]) -> Option<SolutionSet> {
    let scaled = Scaled::of(dynamics)?;
    // Judged by the free velocity of its own row, which is at least a part of what u is made of.
    let size = scaled.magnitude(&[], &vec![0.0; u.len()]);
    let relative: Vec<f64> =
        (0..u.len()).map(|i| u[i] / scaled.velocity_unit[i] / size[i].max(f64::MIN_POSITIVE)).collect();
    let contact = |k: usize| dynamics.laws[k] == Law::Unilateral;
    if (0..u.len()).any(|k| contact(k) && (SURE..CLEAR).contains(&relative[k])) {
        return None;
    }
    // Pieces of a contact: open, closed; a joint has one.
    let choice: Vec<usize> = (0..u.len()).map(|k| usize::from(contact(k) && relative[k] < CLEAR)).collect();
    let mut search = Search::new(scaled, &dynamics.laws)?;
    search.examine(&choice);
    // That mode holds a solution by theory; where it does not show one, numbers were too close.
    (!search.found.is_empty()).then(|| search.finished(true, 1))
}

/// All solutions of u = W f + q with these laws; W need not be symmetric, so that with
/// [`Law::Unilateral`] throughout this enumerates the solutions of an LCP.
pub fn enumerate_contact(w: &Matrix, q: &[f64], laws: &[Law], options: &EnumerateOptions) -> SolutionSet {
    let noise = q.iter().map(|x| x.abs()).collect();
    Search::run(Scaled::reduced(w, q, laws, noise), laws, options)
}

/// (a, f, u) along one direction.
type Triple = (Vec<f64>, Vec<f64>, Vec<f64>);

/// A found piece in scaled numbers, with the choice that it came from.
#[derive(Clone)]
struct Found {
    choice: Vec<usize>,
    a: Vec<f64>,
    f: Vec<f64>,
    u: Vec<f64>,
    /// Directions of (a, f) and their bounds.
    directions: Option<(Matrix, Matrix, Vec<f64>)>,
    /// What is added to the size of a form's terms before its value is judged.
    rounding: f64,
}

struct Search<'a> {
    scaled: Scaled,
    offsets: Vec<usize>,
    laws: &'a [Law],
    pieces: Vec<Vec<Piece>>,
    decided: bool,
    found: Vec<Found>,
    /// K, r and the pivoting order of the mode under study.
    system: Matrix,
    rhs: Vec<f64>,
    order: Vec<usize>,
}

impl<'a> Search<'a> {
    fn run(scaled: Scaled, laws: &'a [Law], options: &EnumerateOptions) -> SolutionSet {
        let none = SolutionSet { pieces: vec![], complete: false, decided: true, force_unit: 0.0, modes: 0 };
        let Some(mut search) = Search::new(scaled, laws) else { return none };
        let total = search.pieces.iter().try_fold(1u64, |n, p| n.checked_mul(p.len() as u64));
        if total.is_none_or(|total| total > options.max_modes) {
            return none;
        }
        let mut choice = vec![0; laws.len()];
        let (mut modes, mut effort, mut complete) = (0, 0, false);
        while effort < options.max_modes {
            modes += 1;
            effort += if search.examine(&choice) { POLYHEDRON } else { 1 };
            // Count up in mixed radix.
            let Some(k) = (0..laws.len()).find(|&k| choice[k] + 1 < search.pieces[k].len()) else {
                complete = true;
                break;
            };
            choice[k] += 1;
            choice[..k].fill(0);
        }
        search.finished(complete, modes)
    }

    /// `None` where a law is not polyhedral.
    fn new(scaled: Scaled, laws: &'a [Law]) -> Option<Self> {
        let pieces = scaled.laws.iter().map(pieces).collect::<Option<Vec<_>>>()?;
        Some(Search {
            scaled,
            offsets: row_offsets(laws),
            laws,
            pieces,
            decided: true,
            found: vec![],
            system: Matrix::default(),
            rhs: vec![],
            order: vec![],
        })
    }

    fn finished(mut self, complete: bool, modes: u64) -> SolutionSet {
        self.keep_maximal();
        let found = std::mem::take(&mut self.found);
        let count = found.len();
        let pieces: Vec<SolutionPiece> = found
            .into_iter()
            .filter_map(|found| {
                let choice = found.choice.clone();
                let piece = self.finish(found);
                (self.violation(&choice, &piece) <= LISTED).then_some(piece)
            })
            .collect();
        self.decided &= pieces.len() == count;
        let force_unit = max_abs(&self.scaled.force_unit);
        SolutionSet { pieces, complete, decided: self.decided, force_unit, modes }
    }

    /// The largest violation of the equations and slacks of a choice at a piece's point, in scaled numbers: where
    /// forces are so large that rounding shows in the velocities, this is what it leaves.
    fn violation(&self, choice: &[usize], piece: &SolutionPiece) -> f64 {
        let scaled = |x: &[f64], unit: &[f64]| x.iter().zip(unit).map(|(x, u)| x / u).collect::<Vec<f64>>();
        let s = &self.scaled;
        let f = scaled(&piece.force, &s.force_unit);
        let a = scaled(&piece.acceleration, &s.acceleration_unit);
        let u = s.scaled_velocity(&a, &f);
        let equations = max_abs(&self.equations(choice, &a, &f, true));
        // Slacks of forces may miss by rounding of the forces themselves, which no velocity feels.
        let size = max_abs(&f).max(1.0);
        let slacks = self.slacks(choice, &vec![0.0; f.len()], &u).fold(0.0_f64, |top, v| top.max(-v));
        let forces = self.slacks(choice, &f, &vec![0.0; u.len()]).fold(0.0_f64, |top, v| top.max(-v));
        equations.max(slacks).max(forces / size)
    }

    /// The columns of B (force directions, m rows) and the forms S of a choice, constraint by constraint.
    fn for_each<'b>(
        &'b self,
        choice: &'b [usize],
        part: impl Fn(&'b Piece) -> &'b [[f64; 3]] + 'b,
    ) -> impl Iterator<Item = (usize, &'b [f64])> + 'b {
        choice.iter().enumerate().flat_map(move |(k, &p)| {
            let d = self.laws[k].dim();
            part(&self.pieces[k][p]).iter().map(move |v| (self.offsets[k], &v[..d]))
        })
    }

    /// Looks for solutions in one mode; true where a polyhedron had to be examined.
    fn examine(&mut self, choice: &[usize]) -> bool {
        let n = self.scaled.kept;
        let params: usize = choice.iter().enumerate().map(|(k, &p)| self.pieces[k][p].basis.len()).sum();
        let size = n + params;
        let mut system = std::mem::take(&mut self.system);
        if system.rows() != size {
            system = Matrix::zeros(size, size);
        }
        let mut rhs = std::mem::take(&mut self.rhs);
        rhs.clear();
        let s = &self.scaled;
        let mut terms = 0.0_f64;
        for i in 0..n {
            system.row_mut(i)[..n].copy_from_slice(s.equilibrium_a.row(i));
            for (j, (at, b)) in self.for_each(choice, |p| &p.basis).enumerate() {
                system[(i, n + j)] = dot(&s.equilibrium_f.row(i)[at..at + b.len()], b);
            }
            rhs.push(-s.equilibrium_0[i]);
        }
        for (i, (row, form)) in self.for_each(choice, |p| &p.still).enumerate() {
            for j in 0..n {
                system[(n + i, j)] = (0..form.len()).map(|r| form[r] * s.velocity_a[(row + r, j)]).sum();
            }
            for (j, (at, b)) in self.for_each(choice, |p| &p.basis).enumerate() {
                let mut sum = 0.0;
                for r in 0..form.len() {
                    for (w, b) in s.velocity_f.row(row + r)[at..at + b.len()].iter().zip(b) {
                        sum += form[r] * w * b;
                        // Rows are of size one, but with much friction terms of any size may cancel here.
                        terms = terms.max((form[r] * w * b).abs());
                    }
                }
                system[(n + i, n + j)] = sum;
            }
            rhs.push(-dot(form, &s.velocity_0[row..row + form.len()]));
        }
        self.order.clear();
        self.order.extend(0..size);
        let smallest = eliminate(&mut system, &mut rhs, &mut self.order, terms);
        if smallest > SINGULAR {
            let mut x = vec![0.0; size];
            for (k, &at) in self.order.iter().enumerate() {
                x[at] = rhs[k];
            }
            self.candidate(choice, &x, smallest);
        } else {
            // Eliminated in place: build the singular system again and look at its null space.
            let (k, r) = self.assemble(choice, size);
            self.singular(choice, &k, &r, terms);
        }
        self.system = system;
        self.rhs = rhs;
        smallest <= SINGULAR
    }

    /// K and r of a choice in fresh storage.
    fn assemble(&self, choice: &[usize], size: usize) -> (Matrix, Vec<f64>) {
        let n = self.scaled.kept;
        let mut rows = Matrix::zeros(size, size);
        let mut rhs = vec![0.0; size];
        let zero = vec![0.0; size];
        for j in 0..size {
            let mut x = zero.clone();
            x[j] = 1.0;
            let (a, f) = self.split(choice, &x);
            for (i, v) in self.equations(choice, &a, &f, false).into_iter().enumerate() {
                rows[(i, j)] = v;
            }
        }
        let (a, f) = (vec![0.0; n], vec![0.0; self.scaled.rows()]);
        for (r, v) in rhs.iter_mut().zip(self.equations(choice, &a, &f, true)) {
            *r = -v;
        }
        (rows, rhs)
    }

    /// Left-hand sides of the equations of a choice at (a, f), with or without their constant terms.
    fn equations(&self, choice: &[usize], a: &[f64], f: &[f64], constant: bool) -> Vec<f64> {
        let s = &self.scaled;
        let mut out = Vec::new();
        for i in 0..s.kept {
            out.push(
                dot(s.equilibrium_a.row(i), a)
                    + dot(s.equilibrium_f.row(i), f)
                    + if constant { s.equilibrium_0[i] } else { 0.0 },
            );
        }
        let u = if constant { s.scaled_velocity(a, f) } else { s.scaled_velocity_change(a, f) };
        out.extend(
            self.for_each(choice, |p| &p.still).map(|(row, form)| dot(form, &u[row..row + form.len()])),
        );
        out
    }

    /// Accelerations and forces of the unknowns x = (a, parameters).
    fn split(&self, choice: &[usize], x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.scaled.kept;
        let mut f = vec![0.0; self.scaled.rows()];
        for ((at, b), xj) in self.for_each(choice, |p| &p.basis).zip(&x[n..]) {
            for (r, br) in b.iter().enumerate() {
                f[at + r] += br * xj;
            }
        }
        (x[..n].to_vec(), f)
    }

    /// The slacks of a choice at (f, u).
    fn slacks<'b>(
        &'b self,
        choice: &'b [usize],
        f: &'b [f64],
        u: &'b [f64],
    ) -> impl Iterator<Item = f64> + 'b {
        choice.iter().enumerate().flat_map(move |(k, &p)| {
            let (at, d) = (self.offsets[k], self.laws[k].dim());
            self.pieces[k][p]
                .nonnegative
                .iter()
                .map(move |(a, b)| dot(&a[..d], &f[at..at + d]) + dot(&b[..d], &u[at..at + d]))
        })
    }

    /// The size of each slack's terms, from the magnitudes of the rows.
    fn slack_sizes(&self, choice: &[usize], magnitude: &[f64]) -> Vec<f64> {
        let size =
            |x: &[f64], at: usize| x.iter().zip(&magnitude[at..]).map(|(x, m)| x.abs() * m).sum::<f64>();
        choice
            .iter()
            .enumerate()
            .flat_map(|(k, &p)| {
                let (at, d) = (self.offsets[k], self.laws[k].dim());
                self.pieces[k][p].nonnegative.iter().map(move |(a, b)| size(&a[..d], at) + size(&b[..d], at))
            })
            .collect()
    }

    /// A solution of the equations of a mode, kept if its slacks are nonnegative. `smallest` is the smallest pivot: an
    /// ill-conditioned system has lost that many digits.
    fn candidate(&mut self, choice: &[usize], x: &[f64], smallest: f64) {
        let (a, f) = self.split(choice, x);
        let u = self.scaled.scaled_velocity(&a, &f);
        let sizes = self.slack_sizes(choice, &self.scaled.magnitude(&a, &f));
        let (sure, clear) = (SURE.max(1e-14 / smallest), CLEAR.max(1e-12 / smallest));
        let mut close = smallest < REGULAR;
        for (slack, size) in self.slacks(choice, &f, &u).zip(&sizes) {
            if slack < -clear * size {
                return;
            }
            close |= slack < -sure * size;
        }
        if close {
            self.decided = false;
        } else {
            self.found.push(Found { choice: choice.to_vec(), a, f, u, directions: None, rounding: 0.0 });
        }
    }

    /// What the right-hand sides of the equations of a choice were made of.
    fn equation_noise(&self, choice: &[usize]) -> Vec<f64> {
        let s = &self.scaled;
        let load = max_abs(&s.equilibrium_0);
        let still = self
            .for_each(choice, |p| &p.still)
            .map(|(row, form)| form.iter().zip(&s.noise[row..]).map(|(x, n)| x.abs() * n).sum());
        std::iter::repeat_n(load, s.kept).chain(still).collect()
    }

    /// The solutions in a mode whose system is singular: none, or a polyhedron.
    fn singular(&mut self, choice: &[usize], k: &Matrix, r: &[f64], terms: f64) {
        let size = k.max_abs();
        let tolerance = SINGULAR * if size > 0.0 { (terms / size).max(1.0) } else { 1.0 };
        let space = k.row_space_with(tolerance);
        let x0 = {
            let ub = space.column_basis.tr_mul_vec(r);
            let scaled: Vec<f64> = ub.iter().zip(&space.singular_values).map(|(x, s)| x / s).collect();
            space.basis.mul_vec(&scaled)
        };
        // Equations that no parameters satisfy: each is judged by the size of its own terms.
        // A singular value decomposition mixes all unknowns, so that each has rounding of the largest.
        let (noise, mixed) = (self.equation_noise(choice), 1e-3 * max_abs(&x0));
        for i in 0..r.len() {
            let (mut sum, mut size) = (-r[i], r[i].abs() + 1e-3 * noise[i] + mixed * max_abs(k.row(i)));
            for (k, x) in k.row(i).iter().zip(&x0) {
                sum += k * x;
                size += (k * x).abs();
            }
            if sum.abs() > CLEAR * size {
                return;
            }
            if sum.abs() > SURE * size {
                self.decided = false;
                return;
            }
        }
        // The affine set x0 + N t, and the slacks on it: G t ≥ h.
        let (a0, f0) = self.split(choice, &x0);
        let u0 = self.scaled.scaled_velocity(&a0, &f0);
        let mut h: Vec<f64> = self.slacks(choice, &f0, &u0).map(|v| -v).collect();
        let count = space.null_basis.cols();
        let columns: Vec<Triple> = (0..count)
            .map(|j| {
                let (a, f) = self.split(choice, &space.null_basis.col(j));
                let u = self.scaled.scaled_velocity_change(&a, &f);
                (a, f, u)
            })
            .collect();
        let mut g = Matrix::zeros(h.len(), count);
        for (j, (_, f, u)) in columns.iter().enumerate() {
            for (i, v) in self.slacks(choice, f, u).enumerate() {
                g[(i, j)] = if v.abs() < SURE { 0.0 } else { v };
            }
        }
        // Bounds give way by what rounding may have moved them, to decide; the set keeps the bounds as they are.
        let exact = h.clone();
        let sizes = self.slack_sizes(choice, &self.scaled.magnitude(&a0, &f0));
        for (x, size) in h.iter_mut().zip(&sizes) {
            *x -= SURE * (size + mixed);
        }
        let size = 1.0 + max_abs(&x0);
        let t = match nearest_point(&g, &h, SURE) {
            Nearest::Point(t) => t,
            Nearest::Infeasible(y) => {
                // Some bound would have to give way by hᵀy/Σy before a point fits.
                let weight: f64 = y.iter().sum();
                if dot(&h, &y) < CLEAR * weight {
                    self.decided = false;
                }
                return;
            }
            Nearest::Undecided => {
                self.decided = false;
                return;
            }
        };
        // Rows that can only be tight lower the dimension.
        let tight: Vec<usize> = (0..h.len())
            .filter(|&i| {
                let c: Vec<f64> = g.row(i).iter().map(|x| -x).collect();
                // A row with room at one point is not tight.
                max_abs(&c) > 0.0
                    && dot(g.row(i), &t) - h[i] <= CLEAR * size
                    && match linear_program(&c, &g, &h) {
                        Lp::Optimal { value, .. } => -value - h[i] <= CLEAR * size,
                        Lp::Unbounded => false,
                        Lp::Infeasible | Lp::Undecided => {
                            self.decided = false;
                            false
                        }
                    }
            })
            .collect();
        let z = g.select_rows(&tight).row_space_with(1e-9).null_basis;
        let z = if tight.is_empty() { Matrix::identity(count) } else { z };
        let at = |base: &[f64], part: fn(&Triple) -> &Vec<f64>, t: &[f64]| {
            let mut out = base.to_vec();
            for (c, tj) in columns.iter().zip(t) {
                crate::linalg::axpy(*tj, part(c), &mut out);
            }
            out
        };
        let (a, f, u) = (at(&a0, |c| &c.0, &t), at(&f0, |c| &c.1, &t), at(&u0, |c| &c.2, &t));
        let directions = (z.cols() > 0).then(|| {
            let loose: Vec<usize> =
                (0..h.len()).filter(|i| !tight.contains(i) && max_abs(g.row(*i)) > 0.0).collect();
            let rows = g.select_rows(&loose);
            let moved = rows.mul_vec(&t);
            let limits = loose.iter().zip(&moved).map(|(&i, m)| (exact[i] - m).min(0.0)).collect();
            let width = self.scaled.kept + self.scaled.rows();
            let unknowns = Matrix::from_fn(width, count, |i, j| {
                let (a, f, _) = &columns[j];
                if i < self.scaled.kept { a[i] } else { f[i - self.scaled.kept] }
            });
            (unknowns.mul(&z), rows.mul(&z), limits)
        });
        // In units of SAME: 10⁻¹⁵ of the largest unknown.
        let rounding = 1e-8 * max_abs(&f).max(max_abs(&x0));
        let found = Found { choice: choice.to_vec(), a, f, u, directions, rounding };
        // The polyhedron was found with one tolerance for all rows; its point must satisfy each by its own size.
        if self.contains(&found, &Found { directions: None, ..found.clone() }) {
            self.found.push(found);
        } else {
            self.decided = false;
        }
    }

    /// Drops every piece that lies in another.
    fn keep_maximal(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        // Larger sets first, so that what they contain is dropped.
        found.sort_by_key(|f| std::cmp::Reverse(f.directions.as_ref().map_or(0, |d| d.0.cols())));
        let mut kept: Vec<Found> = Vec::new();
        for piece in found {
            if !kept.iter().any(|big| self.contains(big, &piece)) {
                kept.push(piece);
            }
        }
        kept.sort_by(|x, y| x.choice.iter().rev().cmp(y.choice.iter().rev()));
        self.found = kept;
    }

    /// Whether every point of `small` satisfies the mode conditions of `big` (and so lies in `big`, since
    /// both satisfy the dynamics).
    fn contains(&self, big: &Found, small: &Found) -> bool {
        let magnitude = self.scaled.magnitude(&small.a, &small.f);
        let kept = self.scaled.kept;
        // A form at the base point of `small`, and its change along the directions of `small`.
        let along: Vec<(Vec<f64>, Vec<f64>)> = small.directions.as_ref().map_or(vec![], |(d, _, _)| {
            (0..d.cols())
                .map(|j| {
                    let c = d.col(j);
                    let (a, f) = c.split_at(kept);
                    (f.to_vec(), self.scaled.scaled_velocity_change(a, f))
                })
                .collect()
        });
        // The least value of a form over `small`, relative to the size of its terms.
        let lowest = |alpha: &[f64], beta: &[f64], at: usize| -> f64 {
            let size: f64 =
                (0..alpha.len()).map(|r| (alpha[r].abs() + beta[r].abs()) * magnitude[at + r]).sum();
            let form = |f: &[f64], u: &[f64]| {
                dot(alpha, &f[at..at + alpha.len()]) + dot(beta, &u[at..at + beta.len()])
            };
            let base = form(&small.f, &small.u);
            let c: Vec<f64> = along.iter().map(|(f, u)| form(f, u)).collect();
            let least = match &small.directions {
                Some((_, g, h)) if max_abs(&c) > SURE => match linear_program(&c, g, h) {
                    Lp::Optimal { value, .. } => base + value,
                    _ => f64::NEG_INFINITY,
                },
                _ => base,
            };
            least / (size + small.rounding).max(f64::MIN_POSITIVE)
        };
        big.choice.iter().enumerate().all(|(k, &p)| {
            let (at, d) = (self.offsets[k], self.laws[k].dim());
            let piece = &self.pieces[k][p];
            let zero = [0.0; 3];
            let vanishes = |alpha: &[f64; 3], beta: &[f64; 3]| {
                let (na, nb) = (negated(*alpha), negated(*beta));
                lowest(&alpha[..d], &beta[..d], at) >= -SAME && lowest(&na[..d], &nb[..d], at) >= -SAME
            };
            piece.still.iter().all(|b| vanishes(&zero, b))
                && piece.absent.iter().all(|a| vanishes(a, &zero))
                && piece.nonnegative.iter().all(|(a, b)| lowest(&a[..d], &b[..d], at) >= -SAME)
        })
    }

    /// Physical numbers, and the force of least norm where there is freedom.
    fn finish(&self, found: Found) -> SolutionPiece {
        let s = &self.scaled;
        let modes = found.choice.iter().enumerate().map(|(k, &p)| self.pieces[k][p].mode).collect();
        let mut piece = SolutionPiece {
            modes,
            force: s.force(&found.f),
            velocity: s.velocity(&found.u),
            acceleration: s.acceleration(&found.a, &found.f),
            freedom: None,
        };
        let Some((d, bounds, limits)) = found.directions else { return piece };
        let columns: Vec<Vec<f64>> = (0..d.cols()).map(|j| d.col(j)).collect();
        // Columns are unit vectors in scaled unknowns: what is below STILL there is rounding.
        let clean = |c: &Vec<f64>| -> Vec<f64> {
            c[s.kept..].iter().map(|x| if x.abs() < STILL { 0.0 } else { *x }).collect()
        };
        let force_columns: Vec<Vec<f64>> = columns.iter().map(|c| s.force(&clean(c))).collect();
        let accel: Vec<Vec<f64>> = columns.iter().map(|c| s.clean_acceleration_change(c)).collect();
        let of = |cols: &[Vec<f64>], rows: usize| Matrix::from_fn(rows, cols.len(), |i, j| cols[j][i]);
        let mut freedom = Freedom {
            force: of(&force_columns, s.rows()),
            acceleration: of(&accel, accel.first().map_or(0, Vec::len)),
            bounds,
            limits,
        };
        if let Some(step) = least_norm(&piece.force, &freedom) {
            shift(&mut piece.force, &freedom.force, &step);
            shift(&mut piece.acceleration, &freedom.acceleration, &step);
            let moved = freedom.bounds.mul_vec(&step);
            freedom.limits.iter_mut().zip(moved).for_each(|(h, m)| *h = (*h - m).min(0.0));
            let scaled_step = d.mul_vec(&step);
            let change = s.scaled_velocity_change(&scaled_step[..s.kept], &scaled_step[s.kept..]);
            shift_by(&mut piece.velocity, &s.velocity(&change));
        }
        piece.freedom = Some(freedom);
        piece
    }
}

fn shift(x: &mut [f64], directions: &Matrix, step: &[f64]) {
    shift_by(x, &directions.mul_vec(step));
}

fn shift_by(x: &mut [f64], change: &[f64]) {
    for (a, b) in x.iter_mut().zip(change) {
        *a += b;
    }
}

/// The parameters s, G s ≥ h, at which ‖f + D s‖ is least (002 Lemma 5.2 item 4, corrected).
fn least_norm(f: &[f64], freedom: &Freedom) -> Option<Vec<f64>> {
    // D = U Σ Vᵀ. With p = Σ Vᵀ s + Uᵀ f the norm is ‖p‖ up to a constant, so p is a nearest point. Where D
    // has a null space (the force does not feel that parameter: singular mass), those parameters enter with
    // a weight that is negligible against the force.
    let k = freedom.force.cols();
    let space = freedom.force.row_space_with(1e-12);
    const NEGLIGIBLE: f64 = 1e5;
    let stretch = Matrix::from_fn(k, k, |i, j| {
        if j < space.rank {
            space.basis[(i, j)] / space.singular_values[j]
        } else {
            NEGLIGIBLE * space.null_basis[(i, j - space.rank)]
        }
    });
    let mut offset = space.column_basis.tr_mul_vec(f);
    offset.resize(k, 0.0);
    // G s ≥ h with s = stretch (p − offset).
    let g = freedom.bounds.mul(&stretch);
    let shift = g.mul_vec(&offset);
    let h: Vec<f64> = freedom.limits.iter().zip(&shift).map(|(h, s)| h + s).collect();
    match nearest_point(&g, &h, SURE) {
        Nearest::Point(p) => {
            let d: Vec<f64> = p.iter().zip(&offset).map(|(a, b)| a - b).collect();
            Some(stretch.mul_vec(&d))
        }
        _ => None,
    }
}

/// Gaussian elimination with complete pivoting, in place: on return `rhs` holds the solution in the order
/// `order` (entry k is the unknown order[k]). Returns the smallest pivot relative to the largest, and to the largest
/// of the `terms` that the entries were made of; below
/// [`SINGULAR`] elimination stops and the result has no meaning.
fn eliminate(a: &mut Matrix, rhs: &mut [f64], order: &mut [usize], terms: f64) -> f64 {
    let n = rhs.len();
    let (mut largest, mut smallest) = (terms, f64::INFINITY);
    for k in 0..n {
        let (mut pr, mut pc, mut best) = (k, k, -1.0);
        for i in k..n {
            for (j, v) in a.row(i).iter().enumerate().skip(k) {
                if v.abs() > best {
                    (pr, pc, best) = (i, j, v.abs());
                }
            }
        }
        largest = largest.max(best);
        if largest <= 0.0 || best <= SINGULAR * largest {
            return 0.0;
        }
        smallest = smallest.min(best / largest);
        if pr != k {
            for j in 0..n {
                let x = a[(k, j)];
                a[(k, j)] = a[(pr, j)];
                a[(pr, j)] = x;
            }
            rhs.swap(k, pr);
        }
        if pc != k {
            for i in 0..n {
                let x = a[(i, k)];
                a[(i, k)] = a[(i, pc)];
                a[(i, pc)] = x;
            }
            order.swap(k, pc);
        }
        let pivot = a[(k, k)];
        for i in k + 1..n {
            let factor = a[(i, k)] / pivot;
            if factor != 0.0 {
                let (row, from) = a.two_rows_mut(i, k);
                for j in k..n {
                    row[j] -= factor * from[j];
                }
                rhs[i] -= factor * rhs[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum = dot(&a.row(k)[k + 1..], &rhs[k + 1..]);
        rhs[k] = (rhs[k] - sum) / a[(k, k)];
    }
    if n == 0 { 1.0 } else { smallest }
}
