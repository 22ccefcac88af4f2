//! Frictional contact problems of any size: the choice of methods, island by island.
//!
//! Contacts that share no body, not even through others, do not know of each other: each connected part of W, an
//! island, is a problem by itself and is solved to its share of the tolerance. The default, [`Method::Auto`], first looks
//! whether all contacts stick where that is likely. Then come sweeps of block Gauss–Seidel, which solve what is loosely
//! coupled and find most modes; Newton's method on the equations of the modes, which gives all digits once the modes
//! are right; where they are not, the central path of the interior point method until Newton's method takes over, and
//! proximal points around it. Islands too large to be factored in a moment get accelerated sweeps before all that. What
//! is still open is swept with patience, and pivoted where the laws are polyhedral. It never returns less than the best
//! point that it has seen.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Status;
use super::cone::{Cone, error_square, natural, saxce, steps};
use super::contact::{self, ContactOptions};
use super::first_order;
use super::interior_point::InteriorPoint;
use super::newton_contact::Newton;
use super::parallel;
use super::pivot_island::pivot;
use super::proximal::proximal;
use super::sweeps::{relaxed, sweep};
use crate::blocks::{BlockLu, BlockMatrix, zero_block};
use crate::friction_problem::{Form, FrictionProblem};
use crate::law::{Law, row_offsets};
use crate::problem::{ContactProblem, InvalidProblem};
use crate::residual::residual;
use crate::sparse::Sparse;

/// A method, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Sweeps, then Newton's method, then the interior point method, as far as needed.
    #[default]
    Auto,
    /// Block Gauss–Seidel with exact solves of one contact.
    GaussSeidel,
    /// Projected gradients with Nesterov's acceleration and restarts.
    ProjectedGradient,
    /// Projected gradients with the step lengths of Barzilai and Borwein.
    Spectral,
    /// Alternating directions with an adapted penalty.
    Admm,
    /// Newton's method on the equations of the modes, from a few sweeps.
    Newton,
    /// The interior point method alone.
    InteriorPoint,
}

impl Method {
    /// All methods with their names in files and on the command line.
    pub const ALL: [(&'static str, Method); 7] = [
        ("auto", Method::Auto),
        ("gauss-seidel", Method::GaussSeidel),
        ("projected-gradient", Method::ProjectedGradient),
        ("spectral", Method::Spectral),
        ("admm", Method::Admm),
        ("newton", Method::Newton),
        ("interior-point", Method::InteriorPoint),
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("auto", |(name, _)| name)
    }
}

impl FromStr for Method {
    type Err = super::UnknownSolver;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, method)| *method).ok_or_else(|| super::UnknownSolver(name.to_owned()))
    }
}

/// Options of [`solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionOptions {
    /// Scale-free residual at which a problem counts as solved (default 1e-8).
    pub tolerance: f64,
    /// The method (default `Auto`).
    pub method: Method,
    /// Largest number of sweeps or steps of the named method on an island (default 20 000).
    pub max_iterations: usize,
    /// Among impulses that go with the same velocities, choose those of least norm (default: the ones found first). Costs
    /// another solve. Contacts with rolling friction keep the impulses that were found.
    pub minimum_norm: bool,
}

impl Default for FrictionOptions {
    fn default() -> Self {
        FrictionOptions { tolerance: 1e-8, method: Method::Auto, max_iterations: 20_000, minimum_norm: false }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct FrictionSolution {
    /// r, in the order of the problem.
    pub impulse: Vec<f64>,
    /// How the solve ended, for the laws of the problem.
    pub status: Status,
    /// The most sweeps and steps that an island took.
    pub iterations: usize,
    /// The scale-free residual.
    pub residual: f64,
    /// Number of islands.
    pub islands: usize,
}

/// Solves a contact problem, from the impulses `start` where given, from zero otherwise.
pub fn solve(
    problem: &FrictionProblem,
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> Result<FrictionSolution, InvalidProblem> {
    if let Some(start) = start {
        crate::problem::check_size("entries of the starting impulse", problem.rows(), start.len())?;
        crate::problem::check_finite("the starting impulse", start)?;
    }
    let reduced;
    let (w, q) = match &problem.form {
        Form::Local { delassus, free_velocity } => (delassus, free_velocity.as_slice()),
        Form::Global { .. } => {
            reduced = problem.local()?;
            (&reduced.0, reduced.1.as_slice())
        }
    };
    let Some(cones) = problem.laws.iter().map(cone_of).collect::<Option<Vec<_>>>() else {
        return solve_dense(w, q, &problem.laws, options);
    };
    // Rows that are scaled or left out have another residual than the law that was asked for: the judge is asked.
    let other = problem
        .laws
        .iter()
        .zip(&cones)
        .any(|(law, cone)| matches!(law, Law::CoulombEllipse { .. }) || law.dim() != cone.rows());
    let mut found = solve_cones(w, q, &problem.laws, cones.clone(), options, start);
    if other {
        let judged = ContactProblem::new(w, q, &problem.laws)?;
        let mut asked = *options;
        for attempts_left in (0..3).rev() {
            let claimed = found.status;
            found.residual = residual(&judged, &found.impulse).relative;
            found.status = super::settle(found.residual, claimed, options.tolerance);
            if claimed != Status::Solved || found.status == Status::Solved || attempts_left == 0 {
                break;
            }
            asked.tolerance *= 0.1 * options.tolerance / found.residual;
            found = solve_cones(w, q, &problem.laws, cones.clone(), &asked, Some(&found.impulse));
        }
    }
    Ok(found)
}

/// By blocks as wide as the widest law.
fn solve_cones(
    w: &Sparse,
    q: &[f64],
    laws: &[Law],
    cones: Vec<Cone>,
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> FrictionSolution {
    let widest = cones.iter().map(|c| c.rows()).max().unwrap_or(1);
    parallel::inside(laws.len(), || match widest {
        1 => Parts::<1>::new(w, q, laws, cones).solve(options, start),
        2 => Parts::<2>::new(w, q, laws, cones).solve(options, start),
        3 => Parts::<3>::new(w, q, laws, cones).solve(options, start),
        _ => Parts::<5>::new(w, q, laws, cones).solve(options, start),
    })
}

/// The cone of a law; `None` for laws that are no cone.
fn cone_of(law: &Law) -> Option<Cone> {
    Some(match *law {
        Law::Bilateral => Cone::Free,
        Law::Unilateral => Cone::Ray,
        Law::CoulombPlane { mu } | Law::Coulomb { mu } | Law::Cone { mu } if mu == 0.0 => Cone::Ray,
        Law::CoulombPlane { mu } => Cone::Coulomb { mu, tangents: 1 },
        Law::Coulomb { mu } => Cone::Coulomb { mu, tangents: 2 },
        Law::Cone { mu } => Cone::Associated { mu, tangents: 2 },
        // In tangents scaled by their coefficients the ellipse is a circle.
        Law::CoulombEllipse { .. } => Cone::Coulomb { mu: 1.0, tangents: 2 },
        Law::Rolling { mu, rolling } => Cone::Rolling { mu, rolling },
        Law::Sliding { .. }
        | Law::BilateralSliding { .. }
        | Law::BilateralCoulombPlane { .. }
        | Law::BilateralCoulomb { .. } => return None,
    })
}

/// Laws that are no cones: small problems, by the methods that lift them to a mixed LCP.
fn solve_dense(
    w: &Sparse,
    q: &[f64],
    laws: &[Law],
    options: &FrictionOptions,
) -> Result<FrictionSolution, InvalidProblem> {
    let dense = w.to_dense();
    let problem = ContactProblem::new(&dense, q, laws)?;
    let found =
        contact::solve(&problem, &ContactOptions { tolerance: options.tolerance, ..Default::default() });
    Ok(FrictionSolution {
        impulse: found.force,
        status: found.status,
        iterations: found.iterations,
        residual: found.residual,
        islands: 1,
    })
}

/// A problem in blocks of D rows.
struct Parts<const D: usize> {
    w: BlockMatrix<D>,
    q: Vec<[f64; D]>,
    cones: Vec<Cone>,
    rho: Vec<f64>,
    /// The rows of each constraint in the problem, and what its impulses are multiplied with.
    first: Vec<usize>,
    scale: Vec<[f64; D]>,
    /// The unit of impulses, a power of two.
    unit: f64,
}

impl<const D: usize> Parts<D> {
    fn new(w: &Sparse, q: &[f64], laws: &[Law], cones: Vec<Cone>) -> Self {
        let first = row_offsets(laws);
        let n = laws.len();
        let power =
            |largest: f64| if largest > 0.0 { 2f64.powi(-largest.log2().floor() as i32) } else { 1.0 };
        // Units in which the largest numbers are about one, so that no product of some of them overflows.
        let mass = power(w.values().iter().fold(0.0, |m, x| m.max(x.abs())));
        let speed = power(q.iter().fold(0.0, |m, x| m.max(x.abs())));
        let mut place = vec![(0, D); q.len()];
        let mut factor = vec![1.0; q.len()];
        let mut scale = vec![[1.0; D]; n];
        let mut blocks = vec![[0.0; D]; n];
        for (i, law) in laws.iter().enumerate() {
            if let Law::CoulombEllipse { mu } = law {
                scale[i][1..3.min(D)].copy_from_slice(&mu[..2.min(D - 1)]);
            }
            for row in first[i]..first[i + 1] {
                let c = row - first[i];
                // Rows that a cone does not use are left out.
                if c < cones[i].rows() {
                    place[row] = (i, c);
                    factor[row] = scale[i][c];
                    blocks[i][c] = speed * q[row] * scale[i][c];
                } else {
                    place[row] = (i, D);
                }
            }
        }
        let w = BlockMatrix::from_sparse(n, w, &place, &factor, mass);
        let rho = steps(&w, &cones);
        Parts { w, q: blocks, cones, rho, first, scale, unit: mass / speed }
    }

    fn solve(mut self, options: &FrictionOptions, start: Option<&[f64]>) -> FrictionSolution {
        let n = self.w.len();
        let mut r: Vec<[f64; D]> = vec![[0.0; D]; n];
        if let Some(start) = start {
            for i in 0..n {
                for c in 0..self.cones[i].rows() {
                    let t = self.scale[i][c];
                    r[i][c] = if t == 0.0 { 0.0 } else { start[self.first[i] + c] / self.unit / t };
                }
            }
        }
        let square: f64 = self
            .q
            .iter()
            .zip(&self.rho)
            .map(|(q, rho)| q.iter().map(|x| (x * rho).powi(2)).sum::<f64>())
            .sum();
        let scale = if square > 0.0 { square.sqrt() } else { 1.0 };
        let islands = self.w.islands();
        let mut solver = Solver::<D>::default();
        let mut index = vec![0; n];
        let (mut iterations, mut sum, mut proved) = (0, 0.0, false);
        if islands.len() == 1 {
            let island = Island {
                w: std::mem::take(&mut self.w),
                q: std::mem::take(&mut self.q),
                cones: self.cones.clone(),
                rho: std::mem::take(&mut self.rho),
            };
            let (error, count, none) =
                solver.finish(&island, &mut r, 0.7 * options.tolerance * scale, options);
            (iterations, sum, proved) = (count, error * error, none);
        } else {
            for rows in &islands {
                let island = Island {
                    w: self.w.select(rows, &mut index),
                    q: rows.iter().map(|&i| self.q[i]).collect(),
                    cones: rows.iter().map(|&i| self.cones[i]).collect(),
                    rho: rows.iter().map(|&i| self.rho[i]).collect(),
                };
                let mut part: Vec<[f64; D]> = rows.iter().map(|&i| r[i]).collect();
                // Squares of errors add up, and a margin is left for rounding.
                let target = 0.7 * options.tolerance * scale * (rows.len() as f64 / n as f64).sqrt();
                let (error, count, none) = solver.finish(&island, &mut part, target, options);
                proved |= none;
                iterations = iterations.max(count);
                sum += error * error;
                for (&i, x) in rows.iter().zip(&part) {
                    r[i] = *x;
                }
            }
        }
        let mut impulse = vec![0.0; *self.first.last().unwrap_or(&0)];
        for i in 0..n {
            for c in 0..self.cones[i].rows() {
                impulse[self.first[i] + c] = self.unit * r[i][c] * self.scale[i][c];
            }
        }
        // Impulses without bound swallow every velocity: what is lost in their rounding counts as not known.
        let size = r.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        let residual = (sum.sqrt() / scale).max(f64::EPSILON * size / scale);
        let spent = iterations >= options.max_iterations;
        let otherwise = match (proved, spent) {
            (true, _) => Status::NoSolution,
            (false, true) => Status::MaxIterations,
            (false, false) => Status::Stalled,
        };
        let status = super::settle(residual, otherwise, options.tolerance);
        FrictionSolution { impulse, status, iterations, residual, islands: islands.len() }
    }
}

/// A connected part of a problem.
#[derive(Clone)]
pub(super) struct Island<const D: usize> {
    pub w: BlockMatrix<D>,
    pub q: Vec<[f64; D]>,
    pub cones: Vec<Cone>,
    pub rho: Vec<f64>,
}

impl<const D: usize> Island<D> {
    /// The error of r; u is written.
    pub fn error(&self, r: &[[f64; D]], u: &mut [[f64; D]]) -> f64 {
        error_square(&self.w, &self.q, &self.cones, &self.rho, r, u).sqrt()
    }

    /// The error of r = 0, which sets the scale of an island.
    fn error_of_zero(&self, u: &mut [[f64; D]]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.w.len() {
            u[i] = self.q[i];
            sum +=
                natural(self.cones[i], self.rho[i], &[0.0; D], &self.q[i]).iter().map(|x| x * x).sum::<f64>();
        }
        sum.sqrt()
    }

    /// ‖ρ q‖: the error that r = 0 would have if every contact had to stop.
    fn reach(&self) -> f64 {
        let of = |(q, rho): (&[f64; D], &f64)| q.iter().map(|x| (x * rho).powi(2)).sum::<f64>();
        self.q.iter().zip(&self.rho).map(of).sum::<f64>().sqrt()
    }

    /// Room for factors that cost no more than some sweeps; `None` where they are dear, or seem so from the degrees.
    fn cheap_factors(&self) -> Option<BlockLu<D>> {
        let squares: usize = self.w.start.windows(2).map(|s| (s[1] - s[0]) * (s[1] - s[0])).sum();
        if squares > 2 * CHEAP { None } else { BlockLu::new(&self.w, CHEAP) }
    }

    /// The impulse of contact i that solves it while the others are held.
    pub fn relaxed(&self, i: usize, r: &[[f64; D]]) -> [f64; D] {
        relaxed(&self.w, &self.q, &self.cones, &self.rho, r, i)
    }

    /// One sweep; returns how many contacts changed their mode.
    pub fn sweep(&self, r: &mut [[f64; D]]) -> usize {
        sweep(&self.w, &self.q, &self.cones, &self.rho, r)
    }
}

/// Largest number of products of blocks that a factorization may take: some seconds.
pub(super) const WORK_MAX: usize = 400_000_000;

/// Products of blocks that a factorization takes where it is tried before long runs of sweeps: some milliseconds.
const CHEAP: usize = 2_000_000;

/// Room for all methods.
#[derive(Default)]
struct Solver<const D: usize> {
    u: Vec<[f64; D]>,
    trial: Vec<[f64; D]>,
    newton: Newton<D>,
    interior: InteriorPoint<D>,
}

impl<const D: usize> Solver<D> {
    /// Solves an island from r, by pivoting in the end where all else failed; returns the error, the number of iterations,
    /// and whether there is proof that no solution exists.
    fn finish(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &FrictionOptions,
    ) -> (f64, usize, bool) {
        let (mut error, mut count) = self.run(island, r, target, options);
        if error <= target && options.minimum_norm {
            let (found, k) = self.shorten(island, r, error, target, options.max_iterations);
            return (found, count + k, false);
        }
        if options.method != Method::Auto || error <= target {
            return (error, count, false);
        }
        let Some((found, status, pivots)) = pivot(island, options.tolerance) else {
            return (error, count, false);
        };
        let exact = island.error(&found, &mut self.u[..r.len()]);
        count += pivots;
        if exact < error {
            error = exact;
            r.copy_from_slice(&found);
        }
        (error, count, status == Status::NoSolution && error > target)
    }

    /// Solves an island from r; returns the error and the number of iterations.
    fn run(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &FrictionOptions,
    ) -> (f64, usize) {
        self.u.resize(island.w.len(), [0.0; D]);
        let u = &mut self.u[..island.w.len()];
        let most = options.max_iterations;
        match options.method {
            Method::Auto => self.auto(island, r, target, most),
            Method::GaussSeidel => first_order::gauss_seidel(island, r, u, target, most),
            Method::ProjectedGradient => first_order::projected_gradient(island, r, u, target, most),
            Method::Spectral => first_order::spectral(island, r, u, target, most),
            Method::Admm => first_order::admm(island, r, u, target, most),
            Method::Newton => {
                for _ in 0..8.min(most) {
                    island.sweep(r);
                }
                let Some(mut lu) = BlockLu::new(&island.w, WORK_MAX) else { return (island.error(r, u), 8) };
                let scale = island.error_of_zero(u);
                let (error, count) = self.newton.run(island, r, target, most, scale, &mut lu);
                (error, count + 8)
            }
            Method::InteriorPoint => {
                let Some(mut lu) = BlockLu::new(&island.w, WORK_MAX) else { return (island.error(r, u), 0) };
                self.interior.start(island, false);
                let (error, count, _) = self.interior.run(island, r, target, most.min(200), &mut lu);
                (error, count)
            }
        }
    }

    fn auto(&mut self, island: &Island<D>, r: &mut [[f64; D]], target: f64, most: usize) -> (f64, usize) {
        let n = island.w.len();
        let u = &mut self.u[..n];
        let mut lu = None;
        let mut count = 0;
        let scale = island.error_of_zero(u);
        let mut error = scale;
        if scale <= target {
            r.fill([0.0; D]);
            return (scale, 0);
        }
        // Where nearly all of the free velocity has to be taken away, everything may stick.
        if n > STICK_MIN && scale >= 0.9 * island.reach() {
            lu = island.cheap_factors();
            if let Some(lu) = &mut lu {
                self.trial.resize(n, [0.0; D]);
                let trial = &mut self.trial[..n];
                let (found, k) = stick(island, trial, u, target, lu);
                count += k;
                if found <= target {
                    r.copy_from_slice(trial);
                    return (found, count);
                }
            }
        }
        // Where a factorization costs as much as a hundred sweeps, sweeps come first and with all their might.
        if lu.is_none() && n > STICK_MIN {
            lu = island.cheap_factors();
            if lu.is_none() {
                let (found, k) = first_order::accelerated(island, r, target, most.min(1000));
                count += k;
                error = found;
                if error <= target {
                    return (error, count);
                }
                lu = BlockLu::new(&island.w, WORK_MAX);
            }
        }
        // The modes settle long before the digits do, and then Newton's method is quicker; where they settled on the
        // wrong ones, some more sweeps may help.
        for most_sweeps in [SWEEPS, 2 * SWEEPS] {
            let mut settled = 0;
            for k in 1..=most_sweeps {
                let changes = island.sweep(r);
                count += 1;
                settled = if changes == 0 { settled + 1 } else { 0 };
                if k == 1 || k % 4 == 0 || settled == 2 {
                    error = island.error(r, u);
                    if error <= target {
                        return (error, count);
                    }
                }
                if settled == 2 && most_sweeps == SWEEPS {
                    break;
                }
            }
            if lu.is_none() && n <= STICK_MIN {
                lu = BlockLu::new(&island.w, WORK_MAX);
            }
            let Some(lu) = &mut lu else { break };
            let (found, k) = self.newton.run(island, r, target, 20, scale, lu);
            count += k;
            error = found;
            if error <= target {
                return (error, count);
            }
        }
        if let Some(lu) = &mut lu {
            for caution in [false, true] {
                let (found, k) = self.path(island, r, error, target, caution, lu);
                count += k;
                error = found;
                if error <= target {
                    return (error, count);
                }
            }
            let (found, k) = proximal(island, r, target, ROUNDS, scale, &mut self.newton, lu);
            count += k;
            error = found;
            if error <= target {
                return (error, count);
            }
        }
        // What is left is patience: longer and longer runs of sweeps, with Newton's method at their ends.
        let mut run = 100;
        while count < most {
            let sweeps = run.min(most - count);
            let (found, k) = first_order::accelerated(island, r, target, sweeps);
            count += k.max(1);
            error = found;
            if let Some(lu) = lu.as_mut().filter(|_| error > target) {
                let (found, k) = self.newton.run(island, r, target, 20, scale, lu);
                count += k;
                error = found;
            }
            if error <= target {
                break;
            }
            run *= 2;
        }
        (error, count)
    }

    /// The impulses of least norm among those that go with the velocities of r: with the term of De Saxcé known the law is
    /// convex, and W + ε chooses; Newton's method then takes ε back.
    fn shorten(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        error: f64,
        target: f64,
        most: usize,
    ) -> (f64, usize) {
        let n = r.len();
        if island.cones.iter().any(|c| matches!(c, Cone::Rolling { .. })) {
            return (error, 0);
        }
        island.error(r, &mut self.u[..n]);
        let mut near = island.clone();
        // One weight for all: the norm is that of the impulses as they are.
        let weight = CHOICE * island.rho.iter().map(|rho| 1.0 / rho).sum::<f64>() / n as f64;
        for i in 0..n {
            let mut hat = self.u[i];
            saxce(island.cones[i], &mut hat);
            near.q[i][0] += hat[0] - self.u[i][0];
            if let Cone::Coulomb { mu, tangents } = island.cones[i] {
                near.cones[i] = Cone::Associated { mu, tangents };
            }
            for c in 0..island.cones[i].rows() {
                near.w.value[island.w.diagonal[i]][c][c] += weight;
            }
        }
        let mut short = r.to_vec();
        let (_, mut count) = self.auto(&near, &mut short, 0.01 * target, most.min(500));
        let mut found = island.error(&short, &mut self.u[..n]);
        if let Some(mut lu) = BlockLu::new(&island.w, WORK_MAX) {
            // Errors count a millionfold where only the norm chooses: down to rounding, then the problem itself.
            let scale = island.error_of_zero(&mut self.u[..n]);
            let (_, k) = self.newton.run(&near, &mut short, 0.0, 12, scale, &mut lu);
            let (polished, l) = self.newton.run(island, &mut short, target, 20, scale, &mut lu);
            (found, count) = (polished, count + k + l);
        }
        if found > target {
            return (error, count);
        }
        r.copy_from_slice(&short);
        (found, count)
    }

    /// Follows the central path, with Newton's method at every hundredth part of the error; r is left at the better point, and
    /// its error comes back with the number of steps.
    fn path(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        mut error: f64,
        target: f64,
        caution: bool,
        lu: &mut BlockLu<D>,
    ) -> (f64, usize) {
        let scale = island.error_of_zero(&mut self.u[..island.w.len()]);
        self.interior.start(island, caution);
        self.trial.resize(island.w.len(), [0.0; D]);
        let trial = &mut self.trial[..island.w.len()];
        let (mut level, mut count) = (1e-3 * scale, 0);
        for _ in 0..LEVELS {
            let (mut found, k, more) = self.interior.run(island, trial, level.max(target), 60, lu);
            count += k;
            if found > target {
                let (polished, k) = self.newton.run(island, trial, target, 12, scale, lu);
                count += k;
                found = polished;
            }
            if found < error {
                error = found;
                r.copy_from_slice(trial);
            }
            if error <= target || !more || level <= target {
                return (error, count);
            }
            level *= 1e-2;
        }
        (error, count)
    }
}

/// Most tries of Newton's method along the path: from 1e-3 beyond the digits of a number.
const LEVELS: usize = 10;
/// The weight of the norm where it chooses among impulses.
const CHOICE: f64 = 1e-6;
/// Rounds of the proximal point method.
const ROUNDS: usize = 60;
/// The most sweeps before Newton's method has its first try.
const SWEEPS: usize = 12;
/// Largest number of contacts for which sweeps are quicker than a look at whether all of them stick.
const STICK_MIN: usize = 5;

/// The impulses that stop everything, u = 0, by proximal steps (W + ε) δ = −u; whether they are in their cones shows
/// in the error.
fn stick<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    target: f64,
    lu: &mut BlockLu<D>,
) -> (f64, usize) {
    let mut shift = vec![zero_block::<D>(); r.len()];
    for (i, block) in shift.iter_mut().enumerate() {
        for c in 0..D {
            block[c][c] = if c < island.cones[i].rows() { 1e-5 / island.rho[i] } else { 1.0 };
        }
    }
    r.fill([0.0; D]);
    let mut error = island.error(r, u);
    if !lu.factor(&island.w, &shift) {
        return (error, 0);
    }
    for k in 1..=6 {
        lu.solve(u);
        for (r, d) in r.iter_mut().flatten().zip(u.iter().flatten()) {
            *r -= d;
        }
        let before = error;
        error = island.error(r, u);
        if error <= target || error.is_nan() || error > 0.3 * before {
            return (error, k);
        }
    }
    (error, 6)
}
