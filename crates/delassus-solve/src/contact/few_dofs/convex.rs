//! A start for Newton's method where it goes round in circles: convex problems with bounds on friction that
//! are known, each with one solution that steps along a falling function reach.
//!
//! ```text
//! min_y  ½‖y‖² + Σ φ_i(q_i + G_i y) ,   r_i = −φ_i' = P_i( w_i (ε/ρ_i r̄_i − q_i − G_i y) ) ,   w_i = 1/(c_i + ε/ρ_i)
//! ```
//!
//! P_i is the nearest point of what the impulse may be: a range, what presses, a disc of the radius μ r̄_n,
//! or the cone of an associated law. r̄ is the solution before, and the radii follow it: with ε → 0 what
//! stays where it is obeys the law. Rows that contradict each other by rounding, as a limit and friction that
//! holds the same joint, need impulses to go all the way to a bound, which takes a small ε.

use super::wide::{FIRST_ROW, PART, PARTS, nearest_normal, parts, rows};
use super::{Constraint, FewDofs, Steps, dot};
use crate::linalg::{axpy, norm};
use crate::problem::{Law, MAX_LAW_ROWS};

/// ε of one problem after the other: the first two find out what holds, the others go to the bounds.
const PROXIMALS: [f64; 8] = [1e-5, 1e-5, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9];
/// Steps of one problem, and the part of the impulses that may be left of its gradient.
const MAX_STEPS: usize = 40;
const GRADIENT_RATIO: f64 = 1e-6;
/// A step goes on until the slope along it is less than this part of the first.
const SLOPE_RATIO: f64 = 0.1;
const MAX_SEARCHES: usize = 12;
/// A search keeps away from the ends of its interval by this part of it.
const MARGIN: f64 = 0.05;

/// A convex problem.
struct Convex {
    near: f64,
    /// r̄, and per constraint the radii of its parts.
    center: Vec<f64>,
    radii: Vec<[f64; PARTS]>,
}

/// The impulse of a constraint, and −∂r/∂u.
struct Response {
    r: [f64; MAX_LAW_ROWS],
    by: [[f64; MAX_LAW_ROWS]; MAX_LAW_ROWS],
}

impl Convex {
    /// The impulse of a constraint of one row, and −∂r/∂u.
    fn respond_in_row(&self, c: &Constraint, u: f64) -> (f64, f64) {
        let weight = c.weight(0, self.near);
        let y = weight * (self.near / c.rho[0] * self.center[c.row] - u);
        let [low, high] = if c.law == Law::Unilateral { [0.0, f64::INFINITY] } else { c.range };
        let r = y.clamp(low, high);
        (r, if y == r { weight } else { 0.0 })
    }

    /// The response of constraint k, of several rows, to these velocities without its compliance.
    fn respond(&self, c: &Constraint, k: usize, u: &[f64]) -> Response {
        let mut out = Response { r: [0.0; MAX_LAW_ROWS], by: [[0.0; MAX_LAW_ROWS]; MAX_LAW_ROWS] };
        let center = &self.center[c.row..c.row + c.law.dim()];
        let weight = |row: usize| c.weight(row, self.near);
        let mut y = [0.0; MAX_LAW_ROWS];
        for (row, (r, u)) in center.iter().zip(u).enumerate() {
            y[row] = weight(row) * (self.near / c.rho[PART[row]] * r - u);
        }
        let mut size = [0.0; PARTS];
        for part in parts(&c.law) {
            size[part] = norm(&y[rows(part)]);
        }
        let weights = [weight(0), weight(1), c.rho[2] / self.near, c.rho[3] / self.near];
        let associated = c.law.is_associated();
        let normal = if associated { nearest_normal(&c.law, &weights, y[0], &size) } else { y[0].max(0.0) };
        if associated && normal <= 0.0 {
            return out;
        }
        // The edge of the cone along which an associated law responds; the normal alone for others.
        let mut edge = [0.0; MAX_LAW_ROWS];
        edge[0] = if normal > 0.0 { 1.0 } else { 0.0 };
        out.r[0] = normal;
        let mu = c.law.coefficients();
        for part in parts(&c.law) {
            let most = if associated { mu[part] * normal } else { self.radii[k][part] };
            let own = weights[part + 1];
            let holds = size[part] <= most && most > 0.0;
            let shrink = if holds { 1.0 } else { most / size[part].max(f64::MIN_POSITIVE) };
            let e = |a: usize| y[a] / size[part].max(f64::MIN_POSITIVE);
            for a in rows(part) {
                out.r[a] = shrink * y[a];
                for b in rows(part) {
                    let across = if holds { 0.0 } else { e(a) * e(b) };
                    out.by[a][b] = own * shrink * (f64::from(u8::from(a == b)) - across);
                }
                if associated && !holds {
                    edge[a] = mu[part] * e(a);
                }
            }
        }
        let all = 0..c.law.dim();
        let stiffness: f64 = all.clone().map(|a| edge[a] * edge[a] / weights[PART[a]]).sum();
        if stiffness > 0.0 {
            for a in all.clone() {
                all.clone().for_each(|b| out.by[a][b] += edge[a] * edge[b] / stiffness);
            }
        }
        out
    }
}

impl FewDofs {
    /// Solves from r by convex problems, and Newton's method after each; the steps to the impulses found.
    pub(super) fn solve_from_convex(
        &mut self,
        tolerance: f64,
        scale: f64,
        impulse: &mut [f64],
    ) -> Option<usize> {
        let mut center = impulse.to_vec();
        self.iterate.r.clone_from(&center);
        self.velocities();
        let mut y = self.iterate.y.clone();
        let mut steps = 0;
        for (k, near) in PROXIMALS.into_iter().enumerate() {
            let unknown = center.iter().all(|r| *r == 0.0);
            let radii = self.problem.constraints.iter().map(|c| {
                let normal = if unknown { f64::INFINITY } else { center[c.row].max(0.0) };
                c.law.coefficients().map(|mu| if mu > 0.0 { mu * normal } else { 0.0 })
            });
            let convex = Convex { near, radii: radii.collect(), center };
            steps += self.solve_convex(&convex, &mut y)?;
            center = std::mem::take(&mut self.iterate.r_full);
            if k == 0 {
                continue;
            }
            self.iterate.r.clone_from(&center);
            if let Some(more) = self.iterate(Steps::Finishing, tolerance, scale, impulse) {
                return Some(steps + more);
            }
        }
        None
    }

    /// Steps to the solution of a convex problem, which becomes `r_full`; `None` where equations are
    /// singular.
    fn solve_convex(&mut self, convex: &Convex, y: &mut [f64]) -> Option<usize> {
        let m = self.problem.dofs;
        self.factors.is_factored = false;
        let mut size = 0.0;
        for step in 0..MAX_STEPS {
            let u = self.velocities_at(y);
            let pull = self.assemble_convex(convex, &u);
            if step == 0 {
                size = norm(&pull).max(norm(y));
                if !size.is_finite() {
                    return None;
                }
            }
            self.factors.step.clear();
            self.factors.step.extend(pull.iter().zip(&*y).map(|(pull, y)| pull - y));
            let gradient = self.factors.step.clone();
            if norm(&gradient) <= GRADIENT_RATIO * size {
                return Some(step);
            }
            self.factors.factorize_symmetric()?;
            self.factors.substitute_symmetric();
            let direction = self.factors.step.clone();
            let along: Vec<f64> =
                (0..u.len()).map(|i| dot(&self.problem.g[i * m..(i + 1) * m], &direction)).collect();
            let part = self.search(convex, [&u, &along], [y, &direction], -dot(&gradient, &direction));
            axpy(part, &direction, y);
        }
        Some(MAX_STEPS)
    }

    /// q + G y.
    fn velocities_at(&self, y: &[f64]) -> Vec<f64> {
        let m = self.problem.dofs;
        let row = |(i, q): (usize, &f64)| q + dot(&self.problem.g[i * m..(i + 1) * m], y);
        self.problem.free_velocity.iter().enumerate().map(row).collect()
    }

    /// 1 + Gᵀ C G at these velocities, and Gᵀ r; r becomes `r_full`.
    fn assemble_convex(&mut self, convex: &Convex, u: &[f64]) -> Vec<f64> {
        let m = self.problem.dofs;
        let matrix = &mut self.factors.matrix;
        matrix.clear();
        matrix.resize(m * m, 0.0);
        (0..m).for_each(|i| matrix[i * m + i] = 1.0);
        let mut pull = vec![0.0; m];
        self.iterate.r_full.clear();
        for (k, c) in self.problem.constraints.iter().enumerate() {
            let dim = c.law.dim();
            if dim == 1 {
                let (r, by) = convex.respond_in_row(c, u[c.row]);
                self.iterate.r_full.push(r);
                let [from, to] = c.span;
                let g = &self.problem.g[c.row * m + from..c.row * m + to];
                axpy(r, g, &mut pull[from..to]);
                for (i, x) in g.iter().enumerate().filter(|(_, x)| by * **x != 0.0) {
                    axpy(by * x, &g[i..], &mut matrix[(from + i) * m + from + i..(from + i) * m + to]);
                }
                continue;
            }
            let response = convex.respond(c, k, &u[c.row..c.row + dim]);
            self.iterate.r_full.extend_from_slice(&response.r[..dim]);
            let [from, to] = c.span;
            let g = |row: usize| &self.problem.g[(c.row + row) * m + from..(c.row + row) * m + to];
            for row in (0..dim).filter(|&row| response.r[row] != 0.0) {
                axpy(response.r[row], g(row), &mut pull[from..to]);
            }
            for i in 0..to - from {
                let target = &mut matrix[(from + i) * m + from + i..(from + i) * m + to];
                for column in 0..dim {
                    let weight = (0..dim).map(|row| g(row)[i] * response.by[row][column]).sum::<f64>();
                    if weight != 0.0 {
                        axpy(weight, &g(column)[i..], target);
                    }
                }
            }
        }
        pull
    }

    /// How far to go along a direction: to where the function no longer falls, or all of it.
    fn search(
        &self,
        convex: &Convex,
        [u, along]: [&[f64]; 2],
        [y, direction]: [&[f64]; 2],
        first: f64,
    ) -> f64 {
        let slope = |part: f64| {
            let mut slope = dot(direction, y) + part * dot(direction, direction);
            let mut at = [0.0; MAX_LAW_ROWS];
            for (k, c) in self.problem.constraints.iter().enumerate() {
                if c.law.dim() == 1 {
                    slope -= along[c.row] * convex.respond_in_row(c, u[c.row] + part * along[c.row]).0;
                    continue;
                }
                let rows = c.row..c.row + c.law.dim();
                let ends = u[rows.clone()].iter().zip(&along[rows.clone()]);
                at.iter_mut().zip(ends).for_each(|(at, (u, change))| *at = u + part * change);
                let response = convex.respond(c, k, &at[..c.law.dim()]);
                slope -= dot(&along[rows], &response.r[..c.law.dim()]);
            }
            slope
        };
        let (mut low, mut high) = ((0.0, first), (1.0, slope(1.0)));
        if high.1 <= SLOPE_RATIO * first.abs() {
            return 1.0;
        }
        let mut part = 1.0;
        for _ in 0..MAX_SEARCHES {
            let width = high.0 - low.0;
            let zero = low.0 - low.1 * width / (high.1 - low.1);
            // Not `clamp`, which panics where slopes are beyond all numbers.
            part = zero.max(low.0 + MARGIN * width).min(high.0 - MARGIN * width);
            let now = slope(part);
            if now.abs() <= SLOPE_RATIO * first.abs() {
                break;
            }
            if now > 0.0 { high = (part, now) } else { low = (part, now) }
        }
        part
    }
}

/// Where the parts of a law begin is that of `wide.rs`.
const _: () = assert!(FIRST_ROW[PARTS] == MAX_LAW_ROWS);
