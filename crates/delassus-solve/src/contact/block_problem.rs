//! A contact problem in blocks and in good units, cut into its islands, with a workspace that is kept from
//! one solve to the next.
//!
//! u = W r + q becomes û = (a D W D) r̂ + b D q with the unit of impulses b/a and D the scales that make a
//! circle of each friction ellipse; rows that a cone does not use are left out.

use super::budget::Budget;
use super::cone::{Cone, natural, steps};
use super::factors::Factors;
use super::island::Island;
use super::strategy::IslandSolver;
use super::{ContactOptions, Solution};
use crate::linalg;
use crate::linalg::{Islands, Sparse};
use crate::problem::{Law, Status};

/// A problem of cones with its W: u = W r + q.
#[derive(Clone, Copy)]
pub(super) struct ConeProblem<'a> {
    pub w: &'a Sparse,
    /// A number that changes whenever W does; `None` where W may be another one.
    pub revision: Option<u64>,
    /// Whether no other W will follow.
    pub single: bool,
    pub q: &'a [f64],
    pub laws: &'a [Law],
    pub cones: &'a [Cone],
}

/// Workspaces by the rows of the widest cone.
#[derive(Default)]
pub(super) struct BlockWorkspaces {
    one: Option<Box<BlockWorkspace<1>>>,
    two: Option<Box<BlockWorkspace<2>>>,
    three: Option<Box<BlockWorkspace<3>>>,
    five: Option<Box<BlockWorkspace<5>>>,
    six: Option<Box<BlockWorkspace<6>>>,
}

impl BlockWorkspaces {
    /// Solves the problem from the impulses in `solution`.
    pub fn solve(
        &mut self,
        problem: ConeProblem<'_>,
        options: &ContactOptions,
        budget: &mut Budget,
        solution: &mut Solution,
    ) {
        linalg::inside(problem.cones.len(), || {
            match problem.cones.iter().map(|c| c.rows()).max().unwrap_or(1) {
                1 => self.one.get_or_insert_default().solve(problem, options, budget, solution),
                2 => self.two.get_or_insert_default().solve(problem, options, budget, solution),
                3 => self.three.get_or_insert_default().solve(problem, options, budget, solution),
                4 | 5 => self.five.get_or_insert_default().solve(problem, options, budget, solution),
                _ => self.six.get_or_insert_default().solve(problem, options, budget, solution),
            }
        });
    }
}

/// Scratch for a problem in blocks of D rows.
#[derive(Default)]
struct BlockWorkspace<const D: usize> {
    /// The rows of each constraint in the problem, how many of them are in use, and a mark of the places of
    /// entries of W.
    first: Vec<usize>,
    used: Vec<usize>,
    mark: u64,
    /// The revision of W whose numbers are in `whole`, and their unit.
    revision: Option<u64>,
    mass_unit: f64,
    /// For each row its block and its row there, D where it is left out, and what it is multiplied with.
    place: Vec<(usize, usize)>,
    factor: Vec<f64>,
    /// The same by constraints.
    scale: Vec<[f64; D]>,
    /// The unit of impulses, a power of two.
    unit: f64,
    whole: Island<D>,
    r: Vec<[f64; D]>,
    islands: Islands,
    /// The island at hand.
    part: Island<D>,
    part_r: Vec<[f64; D]>,
    index: Vec<usize>,
    factors: Vec<Factors<D>>,
    solver: IslandSolver<D>,
}

/// The part of the tolerance that islands aim at.
const ISLAND_TOLERANCE_RATIO: f64 = 0.7;

/// How the solves of all islands ended.
#[derive(Default)]
struct IslandsEnd {
    /// The sum of the squares of their errors.
    square: f64,
    /// The most of one island.
    iterations: usize,
    /// It was proved that one of them has no solution.
    unsolvable: bool,
    /// The limit that ended one before it was solved.
    ended: Option<Status>,
}

impl<const D: usize> BlockWorkspace<D> {
    /// Solves the problem from the impulses in `solution`.
    fn solve(
        &mut self,
        problem: ConeProblem<'_>,
        options: &ContactOptions,
        budget: &mut Budget,
        solution: &mut Solution,
    ) {
        self.load(problem);
        self.start_from(&solution.impulse);
        let whole = &self.whole;
        let square: f64 = whole
            .q
            .iter()
            .zip(&whole.rho)
            .map(|(q, rho)| q.iter().map(|x| (x * rho).powi(2)).sum::<f64>())
            .sum();
        let scale = if square > 0.0 { square.sqrt() } else { 1.0 };
        let end = self.solve_islands(scale, options, budget);
        let residual = self.residual_or_zero(end.square, scale, options.tolerance);
        self.write(&mut solution.impulse);
        let spent = end.iterations >= options.max_iterations;
        let otherwise = match (end.unsolvable, end.ended, spent) {
            (true, ..) => Status::NoSolution,
            (false, Some(ended), _) => ended,
            (false, None, true) => Status::MaxIterations,
            (false, None, false) => Status::Stalled,
        };
        solution.status = crate::problem::settle(residual, otherwise, options.tolerance);
        solution.residual = residual;
        solution.iterations = end.iterations;
        solution.islands = self.islands.start.len() - 1;
    }

    /// Takes over the impulses of the problem.
    fn start_from(&mut self, impulse: &[f64]) {
        self.r.clear();
        self.r.resize(self.used.len(), [0.0; D]);
        for i in 0..self.r.len() {
            for c in 0..self.used[i] {
                let (t, start) = (self.scale[i][c], impulse[self.first[i] + c]);
                self.r[i][c] = if t == 0.0 { 0.0 } else { start / self.unit / t };
            }
        }
    }

    /// Solves one island after the other, each to its share of the tolerance.
    fn solve_islands(&mut self, scale: f64, options: &ContactOptions, budget: &mut Budget) -> IslandsEnd {
        let (whole, n) = (&self.whole, self.r.len());
        whole.w.find_islands(&mut self.islands);
        let count = self.islands.start.len() - 1;
        if self.factors.len() < count {
            self.factors.resize_with(count, Factors::default);
        }
        let mut all = IslandsEnd::default();
        if count == 1 {
            let target = ISLAND_TOLERANCE_RATIO * options.tolerance * scale;
            let factors = &mut self.factors[0];
            let end = self.solver.finish(whole, &mut self.r, target, options, budget, factors);
            (all.iterations, all.square) = (end.iterations, end.error * end.error);
            (all.unsolvable, all.ended) = (end.unsolvable, budget.ended());
            return all;
        }
        self.index.resize(n, 0);
        for (ends, factors) in self.islands.start.windows(2).zip(&mut self.factors) {
            let rows = &self.islands.rows[ends[0]..ends[1]];
            self.part.select(whole, rows, &mut self.index);
            self.part_r.clear();
            self.part_r.extend(rows.iter().map(|&i| self.r[i]));
            // Squares of errors add up, and a margin is left for rounding.
            let target =
                ISLAND_TOLERANCE_RATIO * options.tolerance * scale * (rows.len() as f64 / n as f64).sqrt();
            let end = self.solver.finish(&self.part, &mut self.part_r, target, options, budget, factors);
            all.ended = all.ended.or(budget.ended().filter(|_| end.error > target));
            all.unsolvable |= end.unsolvable;
            all.iterations = all.iterations.max(end.iterations);
            all.square += end.error * end.error;
            for (&i, x) in rows.iter().zip(&self.part_r) {
                self.r[i] = *x;
            }
        }
        all
    }

    /// The residual of r from the square of its error; where no impulses at all have a smaller one, r becomes
    /// zero.
    fn residual_or_zero(&mut self, square: f64, scale: f64, tolerance: f64) -> f64 {
        // Impulses without bound swallow every velocity: what is lost in their rounding counts as not known.
        let size = self.r.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        let residual = (square.sqrt() / scale).max(f64::EPSILON * size / scale);
        if residual <= tolerance {
            return residual;
        }
        let whole = &self.whole;
        let of_none =
            (0..self.r.len()).map(|i| natural(whole.cones[i], whole.rho[i], &[0.0; D], &whole.q[i]));
        let of_none = of_none.flatten().map(|x| x * x).sum::<f64>().sqrt() / scale;
        if residual.is_nan() || residual > of_none {
            self.r.fill([0.0; D]);
            return of_none;
        }
        residual
    }

    /// The impulses in the order and the units of the problem.
    fn write(&self, impulse: &mut [f64]) {
        impulse.fill(0.0);
        for i in 0..self.r.len() {
            for c in 0..self.used[i] {
                impulse[self.first[i] + c] = self.unit * self.r[i][c] * self.scale[i][c];
            }
        }
    }

    /// Takes over the numbers, and the places of blocks where these are not those of the last problem.
    fn load(&mut self, ConeProblem { w, revision, single, q, laws, cones }: ConeProblem<'_>) {
        let n = laws.len();
        let kept = revision.is_some() && revision == self.revision;
        self.revision = revision;
        let mark = if kept || single { self.mark } else { mark_of(w) };
        let mut at = 0;
        let known = self.first.len() == n + 1
            && self.mark == mark
            && laws.iter().zip(cones).enumerate().all(|(i, (law, cone))| {
                let same = self.first[i] == at && self.used[i] == cone.rows();
                at += law.dim();
                same
            })
            && self.first[n] == at;
        if !known {
            self.index_rows(laws, cones);
        }
        let power =
            |largest: f64| if largest > 0.0 { 2f64.powi(-largest.log2().floor() as i32) } else { 1.0 };
        // Units in which the largest numbers are about one, so that no product of some of them overflows.
        let mass = match kept {
            true => self.mass_unit,
            false => power(w.values().iter().fold(0.0, |m, x| m.max(x.abs()))),
        };
        self.mass_unit = mass;
        let speed = power(q.iter().fold(0.0, |m, x| m.max(x.abs())));
        self.unit = mass / speed;
        let mut scaled_alike = true;
        for (i, law) in laws.iter().enumerate() {
            self.whole.q[i] = [0.0; D];
            let before = std::mem::replace(&mut self.scale[i], [1.0; D]);
            if let Law::CoulombEllipse { mu } = law {
                self.scale[i][1..3.min(D)].copy_from_slice(&mu[..2.min(D - 1)]);
            }
            scaled_alike &= before == self.scale[i];
            for c in 0..self.used[i] {
                let row = self.first[i] + c;
                self.factor[row] = self.scale[i][c];
                self.whole.q[i][c] = speed * q[row] * self.scale[i][c];
            }
        }
        let (blocks, first, place) = (&mut self.whole.w, &self.first, &self.place);
        let kept = kept && known && scaled_alike;
        if !kept && (!known || !blocks.set_values(w, first, place, &self.factor, mass)) {
            blocks.set_places(w, first, place);
            blocks.set_values(w, first, place, &self.factor, mass);
        }
        self.mark = mark;
        if !kept || self.whole.cones != cones {
            self.whole.cones.clear();
            self.whole.cones.extend_from_slice(cones);
            steps(&self.whole.w, cones, &mut self.whole.rho);
        }
    }

    /// The place of each row.
    fn index_rows(&mut self, laws: &[Law], cones: &[Cone]) {
        let n = laws.len();
        self.first.clear();
        self.first.reserve(n + 1);
        self.place.clear();
        self.place.reserve(laws.iter().map(Law::dim).sum());
        for (i, (law, cone)) in laws.iter().zip(cones).enumerate() {
            self.first.push(self.place.len());
            self.place.extend((0..law.dim()).map(|c| (i, if c < cone.rows() { c } else { D })));
        }
        self.first.push(self.place.len());
        self.used.clear();
        self.used.extend(cones.iter().map(|c| c.rows()));
        self.factor.clear();
        self.factor.resize(self.place.len(), 1.0);
        self.scale.resize(n, [1.0; D]);
        self.whole.q.resize(n, [0.0; D]);
    }
}

/// A number that changes with the places of the entries of a matrix. Where it fails to, blocks are kept that
/// are not needed, which costs time and nothing else: that no entry is without its block is checked.
fn mark_of(a: &Sparse) -> u64 {
    let mix = |h: u64, x: usize| (h.rotate_left(5) ^ x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let of = |list: &[usize]| {
        // Four marks side by side: none waits for another.
        let (fours, rest) = list.as_chunks::<4>();
        let start = rest.iter().fold(list.len() as u64, |h, &x| mix(h, x));
        let marks = fours.iter().fold([start; 4], |h, x| std::array::from_fn(|k| mix(h[k], x[k])));
        marks.into_iter().fold(start, |h, x| mix(h, x as usize))
    };
    mix(of(a.starts()), of(a.columns()) as usize)
}
