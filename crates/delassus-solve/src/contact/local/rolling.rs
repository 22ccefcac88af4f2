//! One contact by itself with rolling friction: u = W r + q in five rows, u_n = 0, ‖r_t‖ ≤ μ r_n opposing
//! u_t, ‖m‖ ≤ ν r_n opposing ω.
//!
//! With the friction eliminated by (W_tt + α) r_t = −(q_t + W_tz z) what is left is Coulomb's law of the
//! normal and the moments, z = (r_n, m). At α = 0 nothing slides, and where ‖r_t‖ > μ r_n there, g(α) = μ
//! r_n/‖r_t‖ − 1 goes from negative values to +∞. It may jump over zero where z is not the only solution
//! (strong friction); then the moments take the place of the friction.

use super::coulomb::coulomb_space;
use crate::linalg::Block;

/// Coulomb's law with rolling friction: u_n = 0, the friction of a disc of radius μ r_n and the moments of
/// one of radius ν r_n. `None` where that does not help either, or as [`coulomb_space`].
pub fn rolling(w: &Block<5>, q: &[f64; 5], mu: f64, nu: f64) -> Option<[f64; 5]> {
    if let Some(r) = outer_friction(w, q, mu, nu) {
        return Some(r);
    }
    const TURNED: [usize; 5] = [0, 3, 4, 1, 2];
    let turned = std::array::from_fn(|i| std::array::from_fn(|j| w[TURNED[i]][TURNED[j]]));
    let r = outer_friction(&turned, &TURNED.map(|i| q[i]), nu, mu)?;
    Some(TURNED.map(|i| r[i]))
}

/// [`rolling`] by the root α.
// Long: one root, whose bracket and numbers all of its steps share.
fn outer_friction(w: &Block<5>, q: &[f64; 5], mu: f64, nu: f64) -> Option<[f64; 5]> {
    if q[0] >= 0.0 {
        return Some([0.0; 5]);
    }
    let part = |rows: [usize; 3]| {
        let block = std::array::from_fn(|i| std::array::from_fn(|j| w[rows[i]][rows[j]]));
        (block, std::array::from_fn(|i| q[rows[i]]))
    };
    if mu == 0.0 || nu == 0.0 {
        let (rows, limit) = if nu == 0.0 { ([0, 1, 2], mu) } else { ([0, 3, 4], nu) };
        let (block, vector) = part(rows);
        let r = coulomb_space(&block, &vector, limit)?;
        let mut out = [0.0; 5];
        rows.iter().zip(r).for_each(|(&i, x)| out[i] = x);
        return Some(out);
    }
    const REST: [usize; 3] = [0, 3, 4];
    let (block, vector) = part(REST);
    // r_t = −S⁻¹ (q_t + W_tz z), S = W_tt + α.
    let at = |alpha: f64| -> Option<[f64; 5]> {
        let (a, b, c, d) = (w[1][1] + alpha, w[1][2], w[2][1], w[2][2] + alpha);
        let k = 1.0 / (a * d - b * c);
        let apply = |x: f64, y: f64| (-(d * x - b * y) * k, -(a * y - c * x) * k);
        let free = apply(q[1], q[2]);
        let columns: [(f64, f64); 3] = std::array::from_fn(|j| apply(w[1][REST[j]], w[2][REST[j]]));
        let left: Block<3> = std::array::from_fn(|i| {
            std::array::from_fn(|j| block[i][j] + w[REST[i]][1] * columns[j].0 + w[REST[i]][2] * columns[j].1)
        });
        let rest: [f64; 3] =
            std::array::from_fn(|i| vector[i] + w[REST[i]][1] * free.0 + w[REST[i]][2] * free.1);
        let z = coulomb_space(&left, &rest, nu)?;
        let t = (0..3).fold(free, |t, j| (t.0 + columns[j].0 * z[j], t.1 + columns[j].1 * z[j]));
        let r = [z[0], t.0, t.1, z[1], z[2]];
        r.iter().all(|x| x.is_finite()).then_some(r)
    };
    let value = |r: &[f64; 5]| mu * r[0] / (r[1] * r[1] + r[2] * r[2]).sqrt() - 1.0;
    let size = w[1][1].abs().max(w[2][2].abs()).max(w[1][2].abs());
    let definite = w[1][1] * w[2][2] - w[1][2] * w[2][1] > 1e-14 * size * size;
    let first = if definite { 0.0 } else { 1e-14 * size };
    let start = at(first)?;
    let mut g = value(&start);
    // NaN where there is no friction to limit.
    if g.is_nan() || g >= 0.0 {
        return Some(start);
    }
    let (mut low, mut high) = ((first, g), (f64::INFINITY, f64::INFINITY));
    // The first guess: Newton's step as if only the friction gave way, ∂r_t/∂α = −(W_tt + α)⁻¹ r_t.
    let mut alpha = {
        let (t1, t2) = (start[1], start[2]);
        let (a, b, c, d) = (w[1][1] + first, w[1][2], w[2][1], w[2][2] + first);
        let k = 1.0 / (a * d - b * c);
        let along = (t1 * (d * t1 - b * t2) + t2 * (a * t2 - c * t1)) * k;
        let square = t1 * t1 + t2 * t2;
        let slope = (1.0 + g) * along / square;
        let guess = first - g / slope;
        if guess > first && guess < first + 1e3 * size { guess } else { first + size }
    };
    let mut best = start;
    for k in 0..80 {
        best = at(alpha)?;
        g = value(&best);
        if g.abs() <= 4e-16 {
            break;
        }
        let last = if g < 0.0 {
            std::mem::replace(&mut low, (alpha, g))
        } else {
            std::mem::replace(&mut high, (alpha, g))
        };
        // The function is nearly a straight line: through the last two points, or halfway where that does not
        // close in.
        let through = if last.1.is_finite() { last } else { low };
        let secant = alpha - g * (alpha - through.0) / (g - through.1);
        let next = if secant > low.0 && secant < high.0 && k % 8 != 7 {
            secant
        } else if high.0.is_finite() {
            0.5 * (low.0 + high.0)
        } else {
            4.0 * alpha
        };
        if (next - alpha).abs() <= 4e-16 * alpha || !next.is_finite() {
            break;
        }
        alpha = next;
    }
    if g.abs() > 1e-6 {
        return None;
    }
    // On the edge of the disc, exactly: rounding must not change what the contact does.
    let shrink = mu * best[0] / (best[1] * best[1] + best[2] * best[2]).sqrt();
    if shrink.is_finite() {
        best[1] *= shrink;
        best[2] *= shrink;
    }
    Some(best)
}
