//! How far a force is from solving a contact problem: the judge of every solver, sharing no line with any.
//!
//! The scale-free residual compares f with the projection that fixes the solutions (natural map): for
//! Coulomb's law F_i = f_i − P_K(f_i − ρ_i (u_i + μ_i ‖u_t,i‖ e_n)), ρ_i = 1/λ_max(sym W_ii), and
//! e = ‖F‖₂ / ‖(ρ_i q_i)‖₂ (De Saxcé's form of the law). u = W f + q is recomputed here. The number does not
//! change with units, with the order of contacts, or with the choice of tangents.

use crate::law::{Law, row_offsets};
use crate::matrix::norm;
use crate::problem::ContactProblem;

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
}

/// P_K(x) on K = {‖x_t‖ ≤ μ x_n}, written over `x`.
pub fn project_cone(x: &mut [f64], mu: f64) {
    let t = norm(&x[1..]);
    if t <= mu * x[0] {
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

/// The residual of a force; infinite where the force is not finite.
pub fn residual(problem: &ContactProblem<'_>, force: &[f64]) -> Residual {
    let worst = Residual {
        relative: f64::INFINITY,
        velocity: f64::INFINITY,
        force: f64::INFINITY,
        power: f64::INFINITY,
    };
    if force.len() != problem.delassus.dim() || force.iter().any(|x| !x.is_finite()) {
        return worst;
    }
    let u = problem.velocity(force);
    if u.iter().any(|x| !x.is_finite()) {
        return worst;
    }
    let offsets = row_offsets(problem.laws);
    let mut out = Residual::default();
    let (mut sum, mut scale) = (0.0, 0.0);
    for (k, law) in problem.laws.iter().enumerate() {
        let rows = offsets[k]..offsets[k + 1];
        let top = problem
            .delassus
            .block(rows.clone(), rows.clone())
            .symmetric_eigenvalues()
            .last()
            .copied()
            .unwrap_or(0.0);
        // A constraint that nothing moves (W_ii = 0) has no time scale of its own: compare as it stands.
        let rho = if top > 0.0 { 1.0 / top } else { 1.0 };
        let (f, v, q) = (&force[rows.clone()], &u[rows.clone()], &problem.free_velocity[rows]);
        sum += natural_map(law, f, v, rho).iter().map(|x| x * x).sum::<f64>();
        scale += q.iter().map(|x| rho * rho * x * x).sum::<f64>();
        physical(law, f, v, &mut out);
    }
    out.relative = sum.sqrt() / if scale > 0.0 { scale.sqrt() } else { 1.0 };
    out
}

/// The largest violation of a law, each constraint judged by itself: velocities relative to the terms they are made
/// of, forces relative to the force that would cause such a velocity. A light body beside a heavy one counts in full,
/// which it does not in [`Residual::relative`].
pub fn worst_constraint(problem: &ContactProblem<'_>, force: &[f64]) -> f64 {
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
        let reach = (limit + norm(&f[1..])).max(f64::MIN_POSITIVE);
        // How far the friction is from opposing the direction e at its limit.
        let opposing =
            |e: &[f64]| norm(&f[1..].iter().zip(e).map(|(f, e)| f + limit * e).collect::<Vec<_>>()) / reach;
        let slip_direction: Vec<f64> = v[1..].iter().map(|x| x / speed.max(f64::MIN_POSITIVE)).collect();
        let normal = if law.is_bilateral() {
            rate.abs()
        } else if let Law::Cone { .. } = law {
            pressure.min(rate - mu * speed / normal_size).abs()
        } else {
            pressure.min(rate).abs()
        };
        let tangential = match law {
            Law::Bilateral | Law::Unilateral => 0.0,
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => opposing(slip.components()),
            _ => ((norm(&f[1..]) - limit) / reach).max((speed / slip_size).min(opposing(&slip_direction))),
        };
        // Friction counts as far as it moves anything.
        let mobility = (rows.start + 1..rows.end).map(|i| problem.delassus.entry(i, i)).fold(0.0, f64::max);
        let weight = (mobility * reach / slip_size).min(1.0);
        worst = worst.max(normal).max(weight * tangential);
    }
    worst
}

/// f − P(f − ρ û) for one constraint; zero exactly at its solutions.
fn natural_map(law: &Law, f: &[f64], u: &[f64], rho: f64) -> Vec<f64> {
    let slip_speed = norm(&u[1..]);
    let along = |normal: f64, size: f64, mu: f64, e: &[f64]| -> Vec<f64> {
        std::iter::once(f[0] - normal).chain(f[1..].iter().zip(e).map(|(ft, e)| ft + mu * size * e)).collect()
    };
    match law {
        Law::Bilateral => vec![rho * u[0]],
        Law::Unilateral => vec![f[0] - (f[0] - rho * u[0]).max(0.0)],
        Law::Sliding { mu, slip } => {
            let normal = (f[0] - rho * u[0]).max(0.0);
            along(normal, normal, *mu, slip.components())
        }
        Law::BilateralSliding { mu, slip } => {
            let normal = f[0] - rho * u[0];
            along(normal, normal.abs(), *mu, slip.components())
        }
        Law::CoulombPlane { mu } | Law::Coulomb { mu } | Law::Cone { mu } => {
            let shift = if matches!(law, Law::Cone { .. }) { 0.0 } else { mu * slip_speed };
            let mut p: Vec<f64> = f.iter().zip(u).map(|(f, u)| f - rho * u).collect();
            p[0] -= rho * shift;
            project_cone(&mut p, *mu);
            f.iter().zip(&p).map(|(f, p)| f - p).collect()
        }
        Law::BilateralCoulombPlane { mu } | Law::BilateralCoulomb { mu } => {
            // The tangential force is the point of the disc of radius μ|f_n| nearest to f_t − ρ u_t.
            let radius = mu * f[0].abs();
            let p: Vec<f64> = f[1..].iter().zip(&u[1..]).map(|(f, u)| f - rho * u).collect();
            let size = norm(&p);
            let shrink = if size > radius { radius / size } else { 1.0 };
            std::iter::once(rho * u[0]).chain(f[1..].iter().zip(&p).map(|(f, p)| f - shrink * p)).collect()
        }
    }
}

fn physical(law: &Law, f: &[f64], u: &[f64], out: &mut Residual) {
    let (mu, slip_speed, friction) = (law.mu(), norm(&u[1..]), norm(&f[1..]));
    if law.is_bilateral() {
        out.velocity = out.velocity.max(u[0].abs());
        out.force = out.force.max(friction - mu * f[0].abs());
        return;
    }
    // The cone law asks u ∈ K*, i.e. u_n ≥ μ‖u_t‖; all others u_n ≥ 0.
    let floor = if matches!(law, Law::Cone { .. }) { mu * slip_speed } else { 0.0 };
    out.velocity = out.velocity.max(floor - u[0]);
    out.force = out.force.max(-f[0]).max(friction - mu * f[0]);
    let power = match law {
        Law::Unilateral | Law::Sliding { .. } => f[0] * u[0],
        Law::Cone { .. } => crate::matrix::dot(f, u),
        _ => crate::matrix::dot(f, u) + mu * slip_speed * f[0],
    };
    out.power = out.power.max(power.abs());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Slip;
    use crate::matrix::Matrix;

    fn relative(w: &Matrix, q: &[f64], law: Law, f: &[f64]) -> f64 {
        let laws = [law];
        residual(&ContactProblem::new(w, q, &laws).unwrap(), f).relative
    }

    #[test]
    fn zero_at_the_closed_form_of_every_law() {
        let w = Matrix::diagonal(&[2.0, 4.0]);
        // Sliding block pressed with q_n = −6: f_n = 3, friction −μ f_n against the slip.
        let slide = Law::Sliding { mu: 0.5, slip: Slip::Plane(-1.0) };
        assert!(relative(&w, &[-6.0, 1.0], slide, &[3.0, 1.5]) < 1e-15);
        // Stick: f_t = −q_t/4 = −0.25 within 0.5·3; one tenth off shows.
        let stick = Law::CoulombPlane { mu: 0.5 };
        assert!(relative(&w, &[-6.0, 1.0], stick, &[3.0, -0.25]) < 1e-15);
        assert!(relative(&w, &[-6.0, 1.0], stick, &[3.0, -0.2]) > 1e-3);
        // Slides off: q_t = 20 asks −5, the limit is −1.5; u_t = 20 − 6 = 14 > 0 agrees.
        assert!(relative(&w, &[-6.0, 20.0], stick, &[3.0, -1.5]) < 1e-15);
        // A guide pushed to the other side: f_n = −3, friction opposes the slip with |f_n|.
        let guide = Law::BilateralSliding { mu: 0.5, slip: Slip::Plane(1.0) };
        assert!(relative(&w, &[6.0, 1.0], guide, &[-3.0, -1.5]) < 1e-15);
        assert!(relative(&w, &[6.0, 1.0], guide, &[-3.0, 1.5]) > 0.1);
    }

    #[test]
    fn coulomb_and_cone_differ_while_sliding() {
        let w = Matrix::identity(3);
        let q = [-1.0, 2.0, 0.0];
        // Coulomb, mu = 0.5: f = (1, −0.5, 0), u = (0, 1.5, 0).
        assert!(relative(&w, &q, Law::Coulomb { mu: 0.5 }, &[1.0, -0.5, 0.0]) < 1e-15);
        assert!(relative(&w, &q, Law::Cone { mu: 0.5 }, &[1.0, -0.5, 0.0]) > 0.1);
        // Cone: minimise ½|f|² + q·f on the cone: f = P_K(−q) = P_K(1, −2, 0) = (1.6, −0.8, 0).
        assert!(relative(&w, &q, Law::Cone { mu: 0.5 }, &[1.6, -0.8, 0.0]) < 1e-15);
    }

    #[test]
    fn free_of_units() {
        let law = Law::CoulombPlane { mu: 0.7 };
        let (w, q, f) = (Matrix::from_rows(&[[2.0, 0.3], [0.3, 1.0]]), [-1.0, 0.4], [0.6, -0.3]);
        let scaled = Matrix::from_fn(2, 2, |i, j| 1e6 * w[(i, j)]);
        let a = relative(&w, &q, law, &f);
        let b = relative(&scaled, &[-1e3, 4e2], law, &[6e-4, -3e-4]);
        assert!((a - b).abs() < 1e-12 * a, "{a} {b}");
    }

    #[test]
    fn nan_is_worst() {
        assert_eq!(relative(&Matrix::identity(1), &[-1.0], Law::Unilateral, &[f64::NAN]), f64::INFINITY);
    }
}
