//! How far a force is from solving a contact problem, by code that shares no line with any solver.
//!
//! ```text
//! F_i = f_i − P_K(f_i − ρ_i û_i) ,   û = u + s(u) e_n ,   u = W f + q ,   e = ‖F‖ / ‖(ρ_i q_i)‖
//! ```
//!
//! The scale-free residual compares f with the projection that fixes the solutions (natural map): for
//! Coulomb's law F_i = f_i − P_K(f_i − ρ_i (u_i + μ_i ‖u_t,i‖ e_n)), ρ_i = 1/λ_max(sym W_ii), and e = ‖F‖₂ /
//! ‖(ρ_i q_i)‖₂ (De Saxcé's form of the law). u = W f + q is recomputed here. The number does not change with
//! units, with the order of contacts, or with the choice of tangents.

use super::law::{Law, MAX_LAW_ROWS, row_offsets};
use super::natural_step::{fill_steps, power_of_two, step_length};
use super::status::{Status, settle};
use super::{ContactView, are_finite};
use crate::linalg::norm;

/// The violations of a contact problem at a force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// ‖F‖ / ‖(ρ q)‖, free of units.
    pub relative: f64,
    /// Largest violation of a velocity condition (approach at a contact, motion across a joint), in the
    /// units of u.
    pub velocity: f64,
    /// Largest violation of a force condition (adhesion, force outside the friction cone), in the units of f.
    pub force: f64,
    /// Largest violation of complementarity abs(f · û) over the constraints, in units of f times u.
    pub power: f64,
    /// ε ‖f‖ / ‖(ρ q)‖: what the rounding of the force alone may hide of a velocity. A smaller residual is
    /// not known.
    pub rounding: f64,
}

impl Residual {
    /// The residual of an invalid point.
    pub const INFINITE: Residual = Residual {
        relative: f64::INFINITY,
        velocity: f64::INFINITY,
        force: f64::INFINITY,
        power: f64::INFINITY,
        rounding: f64::INFINITY,
    };

    /// See [`RelativeResidual::settle`].
    pub fn settle(&self, otherwise: Status, tolerance: f64) -> (Status, f64) {
        RelativeResidual { relative: self.relative, rounding: self.rounding }.settle(otherwise, tolerance)
    }
}

/// What decides whether a problem is solved: a [`Residual`] without its violations in units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeResidual {
    /// See [`Residual::relative`].
    pub relative: f64,
    /// See [`Residual::rounding`].
    pub rounding: f64,
}

impl RelativeResidual {
    /// The residual of an invalid point.
    pub const INFINITE: RelativeResidual =
        RelativeResidual { relative: f64::INFINITY, rounding: f64::INFINITY };

    /// How a solve ended, and the residual to report of it: `Solved` exactly where that is within the
    /// tolerance. Where rounding may hide more than that, the residual is not below what it may hide.
    pub fn settle(&self, otherwise: Status, tolerance: f64) -> (Status, f64) {
        let hidden = if self.rounding > tolerance { self.rounding } else { 0.0 };
        let residual = self.relative.max(hidden);
        (settle(residual, otherwise, tolerance), residual)
    }
}

/// P_K(x) on K = {‖x_t‖ ≤ μ x_n}, written over `x`.
pub fn project_cone(x: &mut [f64], mu: f64) {
    let t = norm(&x[1..]);
    // Without friction μ x_n is −0 for every x_n < 0: the sign is asked for itself.
    if x[0] >= 0.0 && t <= mu * x[0] {
        return;
    }
    if mu * t <= -x[0] {
        x.fill(0.0);
        return;
    }
    let n = (x[0] + mu * t) / (1.0 + mu * mu);
    let scale = if t > 0.0 { mu * n / t } else { 0.0 };
    x[0] = n;
    for xi in &mut x[1..] {
        *xi *= scale;
    }
}

/// P_K(x) on K = {‖x_t‖ ≤ μ x_n, ‖x_m‖ ≤ μ_r x_n}, five rows, written over `x`.
pub fn project_rolling(x: &mut [f64], mu: f64, rolling: f64) {
    project_parts(x, [(1, 3, mu), (3, 5, rolling)]);
}

/// P_K(x) on K = {‖x_t‖ ≤ μ x_n, ‖x_m‖ ≤ μ_r x_n, abs(x_s) ≤ μ_s x_n}, six rows, written over `x`.
pub fn project_spinning(x: &mut [f64], mu: f64, rolling: f64, spinning: f64) {
    project_parts(x, [(1, 3, mu), (3, 5, rolling), (5, 6, spinning)]);
}

/// P_K(x) on K = {‖x_i‖ ≤ μ_i x_n}, the parts i given by the start and the end of their rows and by μ_i.
///
/// At a given normal n ≥ 0 the parts shrink to μ_i n, which leaves φ(n) = ½(n − x_n)² + Σ ½(‖x_i‖ − μ_i n)₊².
/// Each (·)₊ makes φ' the lesser of two lines, so φ' is the least of 2^N increasing lines and its zero the
/// largest of their zeros.
fn project_parts<const N: usize>(x: &mut [f64], parts: [(usize, usize, f64); N]) {
    let (a, sizes) = (x[0], parts.map(|(from, to, _)| norm(&x[from..to])));
    let part = || sizes.iter().zip(parts.iter().map(|part| part.2));
    if a >= 0.0 && part().all(|(size, mu)| *size <= mu * a) {
        return;
    }
    let n = (1..1_usize << N).fold(a.max(0.0), |n, subset| {
        let some = || part().enumerate().filter(|(i, _)| subset >> i & 1 == 1).map(|(_, part)| part);
        let push = some().fold(0.0, |sum, (size, mu)| sum + mu * size);
        let weight = some().fold(0.0, |sum, (_, mu)| sum + mu * mu);
        n.max((a + push) / (1.0 + weight))
    });
    x[0] = n;
    for (size, (from, to, mu)) in sizes.into_iter().zip(parts) {
        if size > mu * n {
            x[from..to].iter_mut().for_each(|x| *x *= mu * n / size);
        }
    }
}

/// P_K(x) on the elliptic cone K = {x_i = μ_i s_i, ‖s‖ ≤ x_n}, three rows, written over `x`.
///
/// With a multiplier λ ≥ 0 of ½(‖s‖² − n²) ≤ 0: (1 − λ) n = x_n and s_i = μ_i x_i/(μ_i² + λ), so that
/// |1 − λ| ‖s(λ)‖ = |x_n|. In θ = λ for x_n > 0 and θ = 1/λ for x_n < 0 the left-hand side is
/// ‖(1 − θ) c_i/(α_i + β_i θ)‖ on (0, 1), falling and convex, and Newton's method from the left climbs to the
/// root without a step too far. It starts from the root with one of the two terms alone.
pub fn project_ellipse(x: &mut [f64], mu: [f64; 2]) {
    let a = x[0];
    // Nothing is allowed along a tangent without friction.
    for (x, mu) in x[1..].iter_mut().zip(mu) {
        if mu == 0.0 {
            *x = 0.0;
        }
    }
    let (t, c) = ([x[1], x[2]], [mu[0] * x[1].abs(), mu[1] * x[2].abs()]);
    // ‖(x_i/μ_i)‖ ≤ x_n, multiplied by μ_1 μ_2 where both are there.
    let other = |i: usize| if mu[1 - i] > 0.0 { mu[1 - i] } else { 1.0 };
    let product = [mu[0], mu[1]].iter().filter(|mu| **mu > 0.0).product::<f64>();
    if a >= 0.0 && (t[0] * other(0)).hypot(t[1] * other(1)) <= product * a {
        return;
    }
    if -a >= c[0].hypot(c[1]) {
        x.fill(0.0);
        return;
    }
    let line = |i: usize| if a > 0.0 { (mu[i] * mu[i], 1.0) } else { (1.0, mu[i] * mu[i]) };
    let mut theta = 0.0_f64;
    for i in 0..2 {
        let (alpha, beta) = line(i);
        if c[i] > 0.0 {
            theta = theta.max((c[i] - a.abs() * alpha) / (c[i] + a.abs() * beta));
        }
    }
    // Two terms are at most √2 times the larger one, so that the start is near; the bound is never met.
    for _ in 0..100 {
        let (mut square, mut slope) = (0.0, 0.0);
        for i in 0..2 {
            let (alpha, beta) = line(i);
            let below = alpha + beta * theta;
            if c[i] > 0.0 {
                let v = (1.0 - theta) * c[i] / below;
                square += v * v;
                slope += v * c[i] * (alpha + beta) / (below * below);
            }
        }
        let value = square.sqrt();
        let step = (value - a.abs()) * value / slope;
        // 0/0 at θ = 1: there is nothing left to climb.
        if step.is_nan() || step <= f64::EPSILON * theta {
            break;
        }
        theta = (theta + step).min(1.0);
    }
    let s = [0, 1].map(|i| {
        let (alpha, beta) = line(i);
        let top = if a > 0.0 { c[i] } else { theta * c[i] };
        if c[i] > 0.0 { top / (alpha + beta * theta) } else { 0.0 }
    });
    x[0] = s[0].hypot(s[1]);
    for i in 0..2 {
        x[1 + i] = (mu[i] * s[i]).copysign(t[i]);
    }
}

/// Whether the friction cone of a law is round: one coefficient for all rows behind the normal.
fn has_round_cone(law: &Law) -> bool {
    !matches!(
        law,
        Law::CoulombEllipse { .. }
            | Law::Rolling { .. }
            | Law::ConeRolling { .. }
            | Law::Spinning { .. }
            | Law::ConeSpinning { .. }
    )
}

/// How far f is from its friction cone, for the laws whose cone is not round.
fn outside(law: &Law, f: &[f64]) -> f64 {
    let mut p = [0.0; MAX_LAW_ROWS];
    let p = &mut p[..f.len()];
    p.copy_from_slice(f);
    match *law {
        Law::CoulombEllipse { mu } => project_ellipse(p, mu),
        Law::Rolling { mu, rolling } | Law::ConeRolling { mu, rolling } => project_rolling(p, mu, rolling),
        Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
            project_spinning(p, mu, rolling, spinning);
        }
        _ => {}
    }
    p.iter_mut().zip(f).for_each(|(p, f)| *p -= f);
    norm(p)
}

/// The most power that friction can take from a slip at unit normal force.
fn slip_power(law: &Law, u: &[f64]) -> f64 {
    match *law {
        Law::CoulombEllipse { mu } => (mu[0] * u[1]).hypot(mu[1] * u[2]),
        Law::Rolling { mu, rolling } | Law::ConeRolling { mu, rolling } => {
            mu * norm(&u[1..3]) + rolling * norm(&u[3..5])
        }
        Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
            mu * norm(&u[1..3]) + rolling * norm(&u[3..5]) + spinning * u[5].abs()
        }
        _ => law.mu() * norm(&u[1..]),
    }
}

/// û_n − u_n.
fn saxce_term(law: &Law, u: &[f64]) -> f64 {
    if law.is_associated() { 0.0 } else { slip_power(law, u) }
}

/// The residual of a force; infinite where the force is not finite.
pub fn residual(problem: &ContactView<'_>, force: &[f64]) -> Residual {
    let delassus = problem.delassus;
    if force.len() != delassus.dim() {
        return Residual::INFINITE;
    }
    let (rho, velocity) = (step_lengths(problem), problem.velocity(force));
    let at = Point { force, velocity: &velocity, free_velocity: problem.free_velocity };
    measure(problem.laws, &at, &rho, &[])
}

/// The relative residual where each contact presses with at least `least`: 0 ≤ f_n − least ⊥ u_n ≥ 0, and
/// ‖f_t‖ ≤ μ |f_n| opposes u_t. Relative to ‖(ρ q, least)‖; joints have nothing that they press with.
pub fn residual_with_least_normal(problem: &ContactView<'_>, force: &[f64], least: &[f64]) -> f64 {
    if force.len() != problem.delassus.dim() || least.len() != problem.laws.len() {
        return f64::INFINITY;
    }
    let u = problem.velocity(force);
    let (mut first, mut sum, mut scale) = (0, 0.0, 0.0);
    for ((law, least), rho) in problem.laws.iter().zip(least).zip(step_lengths(problem)) {
        let at = first;
        let rows = at..at + law.dim();
        first = rows.end;
        let normal = if law.is_bilateral() { rho * u[at] } else { (force[at] - least).min(rho * u[at]) };
        let pushed: Vec<f64> = rows.clone().skip(1).map(|i| force[i] - rho * u[i]).collect();
        let (length, most) = (norm(&pushed), law.mu() * force[at].abs());
        let shrink = if length > most { most / length } else { 1.0 };
        let slip: f64 = rows.clone().skip(1).zip(&pushed).map(|(i, p)| (force[i] - shrink * p).powi(2)).sum();
        sum += normal * normal + slip;
        scale += least * least + rows.map(|i| (rho * problem.free_velocity[i]).powi(2)).sum::<f64>();
    }
    let relative = (sum / if scale > 0.0 { scale } else { 1.0 }).sqrt();
    if relative.is_nan() { f64::INFINITY } else { relative }
}

/// A force f, the velocity u that it causes, and the free velocity q.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    pub force: &'a [f64],
    pub velocity: &'a [f64],
    pub free_velocity: &'a [f64],
}

/// The residual at a point with ρ of each constraint. `noise` bounds what the evaluation of each velocity
/// rounds away; an error up to it counts as none. Empty where velocities are taken as exact.
pub(super) fn measure(laws: &[Law], at: &Point<'_>, rho: &[f64], noise: &[f64]) -> Residual {
    let RelativeResidual { relative, rounding } = measure_relative(laws, at, rho, noise);
    if relative.is_infinite() && rounding.is_infinite() {
        return Residual::INFINITE;
    }
    let (mut out, mut first) = (Residual { relative, rounding, ..Default::default() }, 0);
    for law in laws {
        let rows = first..first + law.dim();
        first = rows.end;
        physical(law, &at.force[rows.clone()], &at.velocity[rows], &mut out);
    }
    out
}

/// [`measure`] without the violations in units, which no status needs.
pub(super) fn measure_relative(laws: &[Law], at: &Point<'_>, rho: &[f64], noise: &[f64]) -> RelativeResidual {
    let Point { force, velocity, free_velocity } = *at;
    if ![force, velocity, free_velocity].into_iter().all(are_finite) {
        return RelativeResidual::INFINITE;
    }
    // Squares of numbers near the ends of the range of f64 are lost. The natural map is homogeneous, so
    // powers of two in the place of the units of force and velocity change no bit of the others.
    let speed_unit = power_of_two(largest(velocity).max(largest(free_velocity)));
    let (mut first, mut impulse) = (0, largest(force));
    for (law, rho) in laws.iter().zip(rho) {
        let rows = &free_velocity[first..first + law.dim()];
        impulse = impulse.max(rho * rows.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
        first += law.dim();
    }
    let force_unit = power_of_two(impulse);
    let units = Units { per_force: 1.0 / force_unit, per_speed: 1.0 / speed_unit, speed_unit };
    let (mut sums, mut first) = (Sums::default(), 0);
    for (law, rho) in laws.iter().zip(rho) {
        let rows = first..first + law.dim();
        first = rows.end;
        let own = Point {
            force: &force[rows.clone()],
            velocity: &velocity[rows.clone()],
            free_velocity: &free_velocity[rows.clone()],
        };
        let noise = noise.get(rows).unwrap_or(&[]);
        // Numbers of rows that the compiler knows: the same sums, without those that most laws have not.
        match law.dim() {
            1 => sums.add::<1>(law, &own, *rho, noise, &units),
            2 => sums.add::<2>(law, &own, *rho, noise, &units),
            3 => sums.add::<3>(law, &own, *rho, noise, &units),
            5 => sums.add::<5>(law, &own, *rho, noise, &units),
            _ => sums.add::<MAX_LAW_ROWS>(law, &own, *rho, noise, &units),
        }
    }
    let scale = if sums.scale > 0.0 { sums.scale.sqrt() } else { units.per_force };
    let out = RelativeResidual {
        relative: sums.error.sqrt() / scale,
        rounding: f64::EPSILON * sums.force.sqrt() / scale,
    };
    if out.relative.is_nan() { RelativeResidual::INFINITE } else { out }
}

/// max |xᵢ|, four numbers at a time.
fn largest(x: &[f64]) -> f64 {
    let (fours, rest) = x.as_chunks::<4>();
    let start = rest.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let by_place = fours.iter().fold([start; 4], |m, x| std::array::from_fn(|k| m[k].max(x[k].abs())));
    by_place.into_iter().fold(0.0, f64::max)
}

/// Powers of two that take the place of units.
struct Units {
    per_force: f64,
    per_speed: f64,
    speed_unit: f64,
}

/// ‖F‖², ‖(ρ q)‖² and ‖f‖², as far as they are summed.
#[derive(Default)]
struct Sums {
    error: f64,
    scale: f64,
    force: f64,
}

impl Sums {
    /// Adds a constraint of N rows.
    fn add<const N: usize>(&mut self, law: &Law, at: &Point<'_>, rho: f64, noise: &[f64], units: &Units) {
        let Units { per_force, per_speed, speed_unit } = *units;
        let rho = rho * per_force * speed_unit;
        let scaled = |x: &[f64], per_unit: f64| -> [f64; N] { std::array::from_fn(|c| x[c] * per_unit) };
        let (f, v) = (scaled(at.force, per_force), scaled(at.velocity, per_speed));
        let q = scaled(at.free_velocity, per_speed);
        let mut square = 0.0;
        for (c, error) in natural_map(law, &f, &v, rho).iter().enumerate() {
            let bound = noise.get(c).map_or(0.0, |noise| rho * (noise * per_speed));
            let is_rounding = error.abs() <= bound;
            if !is_rounding {
                square += error * error;
            }
        }
        self.error += square;
        self.scale += q.iter().map(|x| rho * rho * x * x).sum::<f64>();
        self.force += f.iter().map(|x| x * x).sum::<f64>();
    }
}

/// ρ of each constraint.
fn step_lengths(problem: &ContactView<'_>) -> Vec<f64> {
    let mut first = 0;
    let of_law = |law: &Law| {
        let at = first;
        first += law.dim();
        step_length(law.dim(), |i, j| problem.delassus.entry(at + i, at + j))
    };
    let mut rho = problem.laws.iter().map(of_law).collect::<Vec<f64>>();
    fill_steps(&mut rho);
    rho
}

/// The largest violation of a law, each constraint checked by itself: velocities relative to the terms they
/// are made of, forces relative to the force that would cause such a velocity. A light body beside a heavy
/// one counts in full, which it does not in [`Residual::relative`].
pub fn worst_constraint(problem: &ContactView<'_>, force: &[f64]) -> f64 {
    if force.len() != problem.delassus.dim() || force.iter().any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    let u = problem.velocity(force);
    let offsets = row_offsets(problem.laws);
    let m = force.len();
    let size: Vec<f64> = (0..m)
        .map(|i| {
            let sum: f64 = (0..m).map(|j| (problem.delassus.entry(i, j) * force[j]).abs()).sum();
            (problem.free_velocity[i].abs() + sum).max(f64::MIN_POSITIVE)
        })
        .collect();
    let mut worst = 0.0_f64;
    for (k, law) in problem.laws.iter().enumerate() {
        let rows = offsets[k]..offsets[k + 1];
        let (f, v, mu) = (&force[rows.clone()], &u[rows.clone()], law.mu());
        let normal_size = size[rows.start];
        let (pressure, rate) =
            (f[0] * problem.delassus.entry(rows.start, rows.start) / normal_size, v[0] / normal_size);
        let slip_size = size[rows.start + 1..rows.end].iter().fold(f64::MIN_POSITIVE, |m, x| m.max(*x));
        let speed = norm(&v[1..]);
        let limit = mu * f[0].abs();
        let force_size = (limit + norm(&f[1..])).max(f64::MIN_POSITIVE);
        // How far the friction is from opposing the direction e at its limit.
        let opposing = |e: &[f64]| {
            norm(&f[1..].iter().zip(e).map(|(f, e)| f + limit * e).collect::<Vec<_>>()) / force_size
        };
        let slip_direction: Vec<f64> = v[1..].iter().map(|x| x / speed.max(f64::MIN_POSITIVE)).collect();
        let normal = if law.is_bilateral() {
            rate.abs()
        } else if law.is_associated() {
            pressure.min(rate - slip_power(law, v) / normal_size).abs()
        } else {
            pressure.min(rate).abs()
        };
        let tangential = match law {
            Law::Bilateral | Law::Unilateral => 0.0,
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => opposing(slip.components()),
            _ if !has_round_cone(law) => {
                let lag = f[0] * slip_power(law, v) + crate::linalg::dot(&f[1..], &v[1..]);
                (outside(law, f) / force_size)
                    .max((speed / slip_size).min(lag.abs() / (force_size * speed.max(f64::MIN_POSITIVE))))
            }
            _ => {
                ((norm(&f[1..]) - limit) / force_size).max((speed / slip_size).min(opposing(&slip_direction)))
            }
        };
        // Friction counts as far as it moves anything.
        let mobility = (rows.start + 1..rows.end).map(|i| problem.delassus.entry(i, i)).fold(0.0, f64::max);
        let weight = (mobility * force_size / slip_size).min(1.0);
        worst = worst.max(normal).max(weight * tangential);
    }
    worst
}

/// f − P(f − ρ û) for one constraint of N rows; zero exactly at its solutions.
fn natural_map<const N: usize>(law: &Law, f: &[f64; N], u: &[f64; N], rho: f64) -> [f64; N] {
    let mut out = [0.0; N];
    match law {
        Law::Bilateral => out[0] = rho * u[0],
        // f − (f − ρ u)₊, without what a large f would swallow of u.
        Law::Unilateral => out[0] = f[0].min(rho * u[0]),
        Law::Sliding { mu, slip } => {
            let normal = (f[0] - rho * u[0]).max(0.0);
            out = friction_along(f, normal, normal, *mu, slip.components());
        }
        Law::BilateralSliding { mu, slip } => {
            let normal = f[0] - rho * u[0];
            out = friction_along(f, normal, normal.abs(), *mu, slip.components());
        }
        Law::CoulombPlane { mu } | Law::Coulomb { mu } | Law::Cone { mu } | Law::ConePlane { mu } => {
            out = from_projection(law, f, u, rho, |p| project_cone(p, *mu));
        }
        Law::CoulombEllipse { mu } => out = from_projection(law, f, u, rho, |p| project_ellipse(p, *mu)),
        Law::Rolling { mu, rolling } | Law::ConeRolling { mu, rolling } => {
            out = from_projection(law, f, u, rho, |p| project_rolling(p, *mu, *rolling));
        }
        Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
            out = from_projection(law, f, u, rho, |p| project_spinning(p, *mu, *rolling, *spinning));
        }
        Law::BilateralCoulombPlane { mu } | Law::BilateralCoulomb { mu } => {
            // The tangential force is the point of the disc of radius μ|f_n| nearest to f_t − ρ u_t.
            let radius = mu * f[0].abs();
            for c in 1..N {
                out[c] = f[c] - rho * u[c];
            }
            let size = norm(&out[1..]);
            let shrink = if size > radius { radius / size } else { 1.0 };
            for c in 1..N {
                out[c] = f[c] - shrink * out[c];
            }
            out[0] = rho * u[0];
        }
    }
    out
}

/// f − P(f − ρ û); inside of the cone that is ρ û, of which a large f would swallow a part.
fn from_projection<const N: usize>(
    law: &Law,
    f: &[f64; N],
    u: &[f64; N],
    rho: f64,
    project: impl FnOnce(&mut [f64]),
) -> [f64; N] {
    let mut step: [f64; N] = std::array::from_fn(|c| rho * u[c]);
    step[0] += rho * saxce_term(law, u);
    let pushed: [f64; N] = std::array::from_fn(|c| f[c] - step[c]);
    let mut nearest = pushed;
    project(&mut nearest);
    if nearest == pushed { step } else { std::array::from_fn(|c| f[c] - nearest[c]) }
}

/// f less the force with this normal part and friction μ · size against the direction e.
fn friction_along<const N: usize>(f: &[f64; N], normal: f64, size: f64, mu: f64, e: &[f64]) -> [f64; N] {
    std::array::from_fn(|c| if c == 0 { f[0] - normal } else { f[c] + mu * size * e[c - 1] })
}

fn physical(law: &Law, f: &[f64], u: &[f64], out: &mut Residual) {
    let (mu, friction) = (law.mu(), norm(&f[1..]));
    if law.is_bilateral() {
        out.velocity = out.velocity.max(u[0].abs());
        out.force = out.force.max(friction - mu * f[0].abs());
        return;
    }
    // The cone laws ask u ∈ K*, i.e. u_n ≥ μ‖u_t‖ (+ μ_r‖ω‖ with rolling, + μ_s abs(ω_n) with spinning); all
    // others u_n ≥ 0.
    let floor = if law.is_associated() { slip_power(law, u) } else { 0.0 };
    out.velocity = out.velocity.max(floor - u[0]);
    out.force = match has_round_cone(law) {
        false => out.force.max(outside(law, f)),
        true => out.force.max(-f[0]).max(friction - mu * f[0]),
    };
    let power = match law {
        Law::Unilateral | Law::Sliding { .. } => f[0] * u[0],
        _ => crate::linalg::dot(f, u) + saxce_term(law, u) * f[0],
    };
    out.power = out.power.max(power.abs());
}

#[cfg(test)]
mod tests;
