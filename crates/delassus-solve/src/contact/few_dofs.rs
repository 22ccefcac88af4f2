//! Contact problems with few degrees of freedom: Newton's method in the velocities of these.
//!
//! ```text
//! y = Gᵀ r ,   u = q + G y + c r ,   G = H M^(−½) (n × m) ,   q = H M⁻¹ f + b ,   m few
//! ```
//!
//! y is what the impulses change, so that u is as exact as q is where velocities cancel. A degree of freedom
//! that one bilateral row alone moves is not among them: it is the compliance c of that row (a damper).
//!
//! Each step solves the equations that the present mode of each constraint asks for, as in `newton.rs`. They
//! are linear in the changes of r and of u = G y of the constraint itself,
//!
//! ```text
//! δr = −C (d + G δy)   →   (1 + Gᵀ C G) δy = −Gᵀ C d   (m × m)
//! ```
//!
//! where an active constraint, u = 0, has C = 1/(c + ε/ρ): a proximal step, which leaves the solutions where
//! they are. So redundant rows cost nothing but their products, however many there are: a chain of 25
//! degrees of freedom that lies on 40 points has W of 120 rows and rank 25.

mod convex;
mod loading;
mod newton_step;
mod row_step;
mod wide;

use pulp::{Simd, WithSimd};

use crate::linalg::{Sparse, axpy, norm};
use crate::problem::{ContactProblem, Law};
use wide::{PART, Parts, is_wide};

/// Steps, and steps without half of the error of the best one, after which a solve is given up.
const MAX_STEPS: usize = 40;
const MAX_IDLE_STEPS: usize = 6;
const MAX_FINISHING_IDLE_STEPS: usize = 2;
/// The same once the tolerance is reached: rows that contradict each other by rounding leave no less.
const MAX_SOLVED_IDLE_STEPS: usize = 1;
/// ε close to a solution, and the error from which on it is in proportion to that.
const LEAST_PROXIMAL: f64 = 1e-6;
const FAR_ERROR: f64 = 0.1;
/// Newton's own error target, as a fraction of the tolerance; the residual is computed independently.
const TARGET_RATIO: f64 = 0.2;
/// Beyond it steps go on to rounding, as long as each leaves less than this part of the error before.
const ROUNDING: f64 = 1e-15;
const POLISHED_RATIO: f64 = 0.1;
/// Impulses to start from with such an error are taken as they are: those of what rests keep their bits.
const ROUNDED_START: f64 = 1e-13;
/// A step with factors of an earlier one that leaves more than this part of the error is the last such one.
const CHORD_RATIO: f64 = 0.1;
/// The impulse of a row without bounds.
const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
/// Parts of a step that are tried where the whole of it leads to a larger error.
const SHORTER_STEPS: [f64; 4] = [0.5, 0.25, 0.1, 0.02];

/// x·y, four sums at a time.
#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (head, tail) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest = head.remainder().iter().zip(tail.remainder()).map(|(a, b)| a * b).sum::<f64>();
    let mut sums = [0.0; 4];
    for (a, b) in head.zip(tail) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// ε at an error relative to that of r = 0.
#[inline(always)]
fn proximal(error: f64) -> f64 {
    if error > FAR_ERROR { 1e-3 * error.min(1.0) } else { LEAST_PROXIMAL }
}

/// A constraint: its law, rows, degrees of freedom that it moves, c, bounds on the impulse of a bilateral
/// one, and ρ of the normal, the tangents, rolling and spin.
#[derive(Clone, Copy, Debug)]
struct Constraint {
    law: Law,
    row: usize,
    span: [usize; 2],
    compliance: f64,
    range: [f64; 2],
    rho: [f64; 4],
}

impl Constraint {
    /// ρ of a row.
    fn rho_of(&self, k: usize) -> f64 {
        self.rho[PART[k]]
    }

    /// C of a row that holds.
    fn weight(&self, k: usize, near: f64) -> f64 {
        1.0 / (self.compliance + near / self.rho_of(k))
    }
}

/// How far steps go. Whole ones pass over larger errors to a solution in most problems; where they go round
/// in circles, shortened ones may arrive.
#[derive(Clone, Copy)]
enum Steps {
    Whole,
    Shortened,
    /// Whole ones from near a solution: they arrive at once or not at all.
    Finishing,
}

/// What a constraint asks for in a step.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// r = 0.
    Open,
    /// r is at a bound.
    AtBound(f64),
    /// u = 0.
    Hold,
    /// Friction at its bound along e: u_n = 0 and k = μ y_n/‖y_t‖, or, with the associated law, u ⊥ r on the
    /// edge of the cone and k = ‖r_t‖/‖y_t‖.
    Slide { e: [f64; 2], k: f64 },
    /// The same with rolling and spin, some of them at their bounds.
    Wide(Parts),
}

/// Memory of solves that is kept.
#[derive(Debug, Default)]
pub struct FewDofs {
    problem: Reduced,
    iterate: Iterate,
    factors: Factors,
    before: Before,
}

/// The problem in its degrees of freedom.
#[derive(Debug, Default)]
struct Reduced {
    constraints: Vec<Constraint>,
    dofs: usize,
    /// G by rows, q, and the compliance of rows.
    g: Vec<f64>,
    free_velocity: Vec<f64>,
    compliance: Vec<f64>,
    /// Per degree of freedom of the bodies its place among those that are left, and √mass.
    place: Vec<usize>,
    root_mass: Vec<f64>,
}

/// Where the iteration is.
#[derive(Debug, Default)]
struct Iterate {
    r: Vec<f64>,
    /// r before the last step, and after all of it.
    r_before: Vec<f64>,
    r_full: Vec<f64>,
    /// y, u, F and modes of r.
    y: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    modes: Vec<Mode>,
}

/// The equations of a step and their factors.
#[derive(Debug, Default)]
struct Factors {
    /// 1 + Gᵀ C G, and the right-hand side, then δy.
    matrix: Vec<f64>,
    step: Vec<f64>,
    pivots: Vec<usize>,
    /// Whether nothing slides by Coulomb's law: then the matrix is symmetric, its factors are Uᵀ U.
    symmetric: bool,
    /// Whether something slides by any law: then the factors depend on the directions of slips.
    slides: bool,
    /// Rows of G along a slip and across it.
    along: Vec<f64>,
    across: Vec<f64>,
    /// Whether the equations are those of rows; these rows, their W, and Gᵀ δr of the others.
    by_rows: bool,
    active: Vec<usize>,
    products: Vec<f64>,
    known: Vec<f64>,
    /// Whether the matrix has the factors of this G near a solution with the modes `frozen`.
    is_factored: bool,
    frozen: Vec<Mode>,
}

/// The problem before, to see whether the next one has its rows, or can use its factors.
#[derive(Debug, Default)]
struct Before {
    /// Laws, masses and Hᵀ; no laws where its rows were not read to their end.
    laws: Vec<Law>,
    mass: Sparse,
    jacobian_transposed: Sparse,
    g: Vec<f64>,
    compliance: Vec<f64>,
}

/// Newton's method with the widest instructions of the processor. Each number is the same with all of them.
struct Iteration<'a> {
    of: &'a mut FewDofs,
    kind: Steps,
    tolerance: f64,
    scale: f64,
    impulse: &'a mut [f64],
}

impl WithSimd for Iteration<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Option<usize> {
        let Iteration { of, kind, tolerance, scale, impulse } = self;
        of.iterate_in_lanes(kind, tolerance, scale, impulse)
    }
}

impl FewDofs {
    /// Solves a problem in global form with a diagonal mass matrix from the impulses given; the steps that it
    /// took. `None` where the problem is none of these, is too large, or was not solved; the impulses then
    /// stay what they are.
    pub fn solve(&mut self, problem: &ContactProblem, tolerance: f64, impulse: &mut [f64]) -> Option<usize> {
        self.solve_within(problem, &[], tolerance, impulse)
    }

    /// The same where the impulses of the first constraints, bilateral ones, are within `ranges`:
    ///
    /// ```text
    /// u = 0 ,  a ≤ r ≤ b     or     r = a ,  u ≥ 0     or     r = b ,  u ≤ 0
    /// ```
    pub fn solve_within(
        &mut self,
        problem: &ContactProblem,
        ranges: &[[f64; 2]],
        tolerance: f64,
        impulse: &mut [f64],
    ) -> Option<usize> {
        let (found, scale) = self.start(problem, ranges, tolerance, impulse)?;
        if found.is_some() {
            return found;
        }
        // Many bounds lead Newton's method in circles from any start.
        let many_bounds = !ranges.is_empty() || problem.laws.iter().any(is_wide);
        if many_bounds {
            return self.solve_from_convex(tolerance, scale, impulse);
        }
        if impulse.iter().any(|r| *r != 0.0) {
            self.iterate.r.fill(0.0);
            let found = self.iterate(Steps::Whole, tolerance, scale, impulse);
            if found.is_some() {
                return found;
            }
        }
        self.iterate.r.fill(0.0);
        let found = self.iterate(Steps::Shortened, tolerance, scale, impulse);
        found.or_else(|| self.solve_from_convex(tolerance, scale, impulse))
    }

    /// The same, where Newton's method arrives from the impulses given.
    pub fn solve_from_near(
        &mut self,
        problem: &ContactProblem,
        tolerance: f64,
        impulse: &mut [f64],
    ) -> Option<usize> {
        self.start(problem, &[], tolerance, impulse)?.0
    }

    /// Newton's method from the impulses given, and ‖(ρ q)‖.
    fn start(
        &mut self,
        problem: &ContactProblem,
        ranges: &[[f64; 2]],
        tolerance: f64,
        impulse: &mut [f64],
    ) -> Option<(Option<usize>, f64)> {
        self.load(problem, ranges)?;
        let scale = self.problem.scale();
        if scale == 0.0 {
            impulse.fill(0.0);
            return Some((Some(0), scale));
        }
        // A motion beyond all numbers has no solution that others could find either, but they say so.
        if !scale.is_finite() {
            return None;
        }
        self.iterate.r.clear();
        self.iterate.r.extend_from_slice(impulse);
        // Memory for steps that are shortened, before one is.
        self.iterate.r_full.clear();
        self.iterate.r_full.reserve(impulse.len());
        Some((self.iterate(Steps::Whole, tolerance, scale, impulse), scale))
    }

    /// Newton's method from r; the steps to the impulses that are found.
    fn iterate(&mut self, kind: Steps, tolerance: f64, scale: f64, impulse: &mut [f64]) -> Option<usize> {
        pulp::Arch::new().dispatch(Iteration { of: self, kind, tolerance, scale, impulse })
    }

    #[inline(always)]
    fn iterate_in_lanes(
        &mut self,
        kind: Steps,
        tolerance: f64,
        scale: f64,
        impulse: &mut [f64],
    ) -> Option<usize> {
        let target = TARGET_RATIO * tolerance;
        let mut error = self.evaluate() / scale;
        let (mut best, mut idle, mut found) = (error, 0, None);
        if error <= target {
            impulse.copy_from_slice(&self.iterate.r);
            found = Some(0);
        }
        let mut polished = error <= ROUNDED_START;
        let mut chord = self.factors.is_factored;
        for steps in 1..=MAX_STEPS {
            let most = match kind {
                _ if found.is_some() => MAX_SOLVED_IDLE_STEPS,
                Steps::Finishing => MAX_FINISHING_IDLE_STEPS,
                Steps::Whole | Steps::Shortened => MAX_IDLE_STEPS,
            };
            if (best <= target && polished) || idle > most || !error.is_finite() {
                break;
            }
            let (near, before) = (proximal(error), error);
            chord &= near == LEAST_PROXIMAL && self.has_modes_of_factors();
            self.iterate.r_before.clone_from(&self.iterate.r);
            self.take_step(near, chord)?;
            error = match kind {
                Steps::Whole | Steps::Finishing => self.evaluate() / scale,
                Steps::Shortened => self.shorten_step(before, scale),
            };
            chord = if chord { error < CHORD_RATIO * before } else { near == LEAST_PROXIMAL };
            // What holds is changed for what holds much better.
            let wanted = if best <= target { POLISHED_RATIO * best } else { best };
            if error <= tolerance && error < wanted {
                impulse.copy_from_slice(&self.iterate.r);
                found = Some(steps);
            }
            idle = if error < 0.5 * best { 0 } else { idle + 1 };
            best = best.min(error);
            polished = error <= ROUNDING || error > POLISHED_RATIO * before;
        }
        found
    }

    /// Goes back on the way of a step that leads to a larger error, to the least one that is met; the error.
    #[inline(always)]
    fn shorten_step(&mut self, before: f64, scale: f64) -> f64 {
        let mut best = self.evaluate() / scale;
        if best <= before {
            return best;
        }
        self.iterate.r_full.clone_from(&self.iterate.r);
        let mut best_part = 1.0;
        for part in SHORTER_STEPS {
            self.go_to(part);
            let error = self.evaluate() / scale;
            if error < best || !best.is_finite() {
                (best, best_part) = (error, part);
            }
            if error <= before {
                return error;
            }
        }
        self.go_to(best_part);
        self.evaluate() / scale
    }

    /// r at a part of the way of the last step.
    #[inline(always)]
    fn go_to(&mut self, part: f64) {
        let ends = self.iterate.r_before.iter().zip(&self.iterate.r_full);
        self.iterate.r.iter_mut().zip(ends).for_each(|(r, (from, to))| *r = from + part * (to - from));
    }

    /// Whether all constraints have the modes that the factors were made for, slips in any direction.
    fn has_modes_of_factors(&self) -> bool {
        let kind = |mode: &Mode| match mode {
            Mode::Wide(parts) => (std::mem::discriminant(mode), parts.bounds_reached()),
            _ => (std::mem::discriminant(mode), [false; 3]),
        };
        self.iterate.modes.iter().map(kind).eq(self.factors.frozen.iter().map(kind))
    }

    /// y and u of r.
    #[inline(always)]
    fn velocities(&mut self) {
        let Reduced { constraints, dofs, g, free_velocity, .. } = &self.problem;
        let Iterate { r, u, y, .. } = &mut self.iterate;
        y.clear();
        y.resize(*dofs, 0.0);
        u.clone_from(free_velocity);
        for c in constraints {
            let [from, to] = c.span;
            for i in (c.row..c.row + c.law.dim()).filter(|&i| r[i] != 0.0) {
                axpy(r[i], &g[i * *dofs + from..i * *dofs + to], &mut y[from..to]);
            }
        }
        for c in constraints {
            let [from, to] = c.span;
            for i in c.row..c.row + c.law.dim() {
                u[i] += dot(&g[i * *dofs + from..i * *dofs + to], &y[from..to]) + c.compliance * r[i];
            }
        }
    }

    /// u, modes and F of r; ‖F‖.
    #[inline(always)]
    fn evaluate(&mut self) -> f64 {
        self.velocities();
        let Iterate { modes, r, u, f, .. } = &mut self.iterate;
        modes.clear();
        f.clear();
        for c in &self.problem.constraints {
            let (r, u) = (&r[c.row..c.row + c.law.dim()], &u[c.row..c.row + c.law.dim()]);
            if is_wide(&c.law) {
                modes.push(wide::mode(c, r, u, f));
                continue;
            }
            if c.law.is_associated() {
                modes.push(associated_mode(c, r, u, f));
                continue;
            }
            let [normal_rho, rho, ..] = c.rho;
            let normal = r[0] - normal_rho * u[0];
            if c.law != Law::Bilateral && normal <= 0.0 {
                modes.push(Mode::Open);
                f.extend_from_slice(r);
                continue;
            }
            if let Some(bound) = passed_bound(c, normal) {
                modes.push(Mode::AtBound(bound));
                f.push(r[0] - bound);
                continue;
            }
            f.push(normal_rho * u[0]);
            if r.len() == 1 {
                modes.push(Mode::Hold);
                continue;
            }
            let y = [r[1] - rho * u[1], r[2] - rho * u[2]];
            let (size, most) = (y[0].hypot(y[1]), c.law.mu() * normal);
            if size <= most {
                modes.push(Mode::Hold);
                f.extend(u[1..].iter().map(|u| rho * u));
                continue;
            }
            let e = y.map(|y| y / size);
            modes.push(Mode::Slide { e, k: most / size });
            f.extend([r[1] - most * e[0], r[2] - most * e[1]]);
        }
        norm(f)
    }
}

/// The bound that an impulse would pass.
#[inline(always)]
fn passed_bound(c: &Constraint, impulse: f64) -> Option<f64> {
    let [low, high] = c.range;
    if impulse > high { Some(high) } else { (impulse < low).then_some(low) }
}

/// The mode of a contact with the associated law, and its F = r − P_K(r − ρ u).
fn associated_mode(c: &Constraint, r: &[f64], u: &[f64], f: &mut Vec<f64>) -> Mode {
    let (rho, mu) = (c.rho[0], c.law.mu());
    let y = [0, 1, 2].map(|k| r[k] - rho * u[k]);
    let size = y[1].hypot(y[2]);
    if size <= mu * y[0] {
        f.extend(u.iter().map(|u| rho * u));
        return Mode::Hold;
    }
    if mu * size <= -y[0] {
        f.extend_from_slice(r);
        return Mode::Open;
    }
    let normal = (y[0] + mu * size) / (1.0 + mu * mu);
    let e = [y[1] / size, y[2] / size];
    f.extend([r[0] - normal, r[1] - mu * normal * e[0], r[2] - mu * normal * e[1]]);
    Mode::Slide { e, k: mu * normal / size }
}

#[cfg(test)]
mod tests;
