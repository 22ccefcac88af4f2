//! One contact by itself: r and u = W r + q with its law, in closed form or by a root that is always there.
//!
//! Coulomb's law: with q_n < 0 the contact closes, u_n = 0, and the normal force is r_n = −(q_n + W_nt r_t)/W_nn. What is left for the
//! tangents is Ŵ r_t + q̂ = u_t = −α r_t with Ŵ = W_tt − W_tn W_nt/W_nn, q̂ = q_t − W_tn q_n/W_nn and α ≥ 0. At α = 0 it
//! sticks. If ‖r_t‖ > μ r_n there, it slides, and g(α) = μ r_n/‖r_t‖ − 1 goes from negative values at 0 to +∞:
//! it has a root, and is nearly a straight line.

use crate::blocks::Block;

/// Coulomb's law in space. `None` where W has no positive normal entry and the contact closes, or numbers overflow.
pub fn coulomb_space(w: &Block<3>, q: &[f64; 3], mu: f64) -> Option<[f64; 3]> {
    if q[0] >= 0.0 {
        return Some([0.0; 3]);
    }
    if w[0][0] <= 0.0 {
        return None;
    }
    let inv = 1.0 / w[0][0];
    if mu == 0.0 {
        return Some([-q[0] * inv, 0.0, 0.0]);
    }
    let a = w[1][1] - w[1][0] * w[0][1] * inv;
    let b = w[1][2] - w[1][0] * w[0][2] * inv;
    let c = w[2][1] - w[2][0] * w[0][1] * inv;
    let d = w[2][2] - w[2][0] * w[0][2] * inv;
    let (p1, p2) = (q[1] - w[1][0] * q[0] * inv, q[2] - w[2][0] * q[0] * inv);
    let at = |alpha: f64| {
        let (a, d) = (a + alpha, d + alpha);
        let k = 1.0 / (a * d - b * c);
        let (t1, t2) = (-(d * p1 - b * p2) * k, -(a * p2 - c * p1) * k);
        // ∂r_t/∂α = −(Ŵ + α)⁻¹ r_t.
        let (s1, s2) = (-(d * t1 - b * t2) * k, -(a * t2 - c * t1) * k);
        let n = -(q[0] + w[0][1] * t1 + w[0][2] * t2) * inv;
        let dn = -(w[0][1] * s1 + w[0][2] * s2) * inv;
        (n, t1, t2, dn, s1, s2)
    };
    let size = a.abs().max(d.abs()).max(b.abs()).max(c.abs());
    let determinant = a * d - b * c;
    let mut low = 0.0;
    if determinant > 1e-14 * size * size {
        let (n, t1, t2, ..) = at(0.0);
        if t1 * t1 + t2 * t2 <= mu * mu * n * n && n >= 0.0 {
            return Some([n, t1, t2]);
        }
    } else {
        low = 1e-14 * size;
    }
    let first = low;
    let (mut alpha, mut high) = (first, f64::INFINITY);
    let mut best = [0.0; 3];
    for _ in 0..60 {
        let (n, t1, t2, dn, s1, s2) = at(alpha);
        let square = t1 * t1 + t2 * t2;
        let length = square.sqrt();
        if !n.is_finite() || !length.is_finite() {
            return None;
        }
        if length == 0.0 {
            return Some([n.max(0.0), 0.0, 0.0]);
        }
        let g = mu * n / length - 1.0;
        if alpha == first && g >= 0.0 {
            return Some([n, t1, t2]);
        }
        let slope = mu * (dn - n * (t1 * s1 + t2 * s2) / square) / length;
        // On the edge of the cone, exactly.
        let shrink = mu * n.max(0.0) / length;
        best = [n.max(0.0), t1 * shrink, t2 * shrink];
        if g.abs() <= 4e-16 {
            break;
        }
        if g < 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let newton = alpha - g / slope;
        let next = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * alpha + size.max(f64::MIN_POSITIVE)
        };
        if (next - alpha).abs() <= 4e-16 * alpha {
            break;
        }
        alpha = next;
    }
    Some(best)
}

/// Coulomb's law in the plane.
pub fn coulomb_plane(w: &Block<2>, q: &[f64; 2], mu: f64) -> Option<[f64; 2]> {
    if q[0] >= 0.0 {
        return Some([0.0; 2]);
    }
    if w[0][0] <= 0.0 {
        return None;
    }
    let inv = 1.0 / w[0][0];
    let (a, p) = (w[1][1] - w[1][0] * w[0][1] * inv, q[1] - w[1][0] * q[0] * inv);
    if mu > 0.0 && a > 1e-14 * w[1][1].abs() {
        let t = -p / a;
        let n = -(q[0] + w[0][1] * t) * inv;
        if t.abs() <= mu * n {
            return Some([n, t]);
        }
    }
    let s = if p == 0.0 { 0.0 } else { -mu * p.signum() };
    let pressed = w[0][0] + s * w[0][1];
    let n = -q[0] / pressed;
    (pressed > 0.0 && n.is_finite()).then_some([n, s * n])
}

/// The associated law in space: the least of ½ rᵀW r + qᵀr over K = {‖r_t‖ ≤ μ r_n}. `None` where W is not positive definite.
///
/// Inside of the cone W r = −q, and r = 0 where q ∈ K*. On the edge u = λ J r with J = diag(−μ², 1, 1) turned inwards, λ > 0:
/// (W + λ J) r = −q and rᵀJ r = 0. With W = C Cᵀ and C⁻¹ J C⁻ᵀ = V diag(−γ₀, γ₁, γ₂) Vᵀ the parts y of VᵀCᵀr and p of −VᵀC⁻¹q are
/// y_i = p_i/(1 + γ_i λ), and with the sign of y₀ known the edge asks
///
/// √γ₀ |p₀| = |1 − γ₀ λ| (γ₁ y₁² + γ₂ y₂²)^½.
///
/// p₀ tells on which side of 1/γ₀ the root lies; in θ = γ₀ λ or 1/(γ₀ λ) ∈ (0, 1) the right-hand side falls and is convex on
/// either side, so that Newton's method climbs to the root without a step too far.
///
/// What W lacks in symmetry and in definiteness is made up for by a proximal step from `r`, which leaves solutions where
/// they are.
pub fn associated_space(w: &Block<3>, q: &[f64; 3], mu: f64, r: &[f64; 3]) -> Option<[f64; 3]> {
    if in_dual_cone(q, mu) {
        return Some([0.0; 3]);
    }
    let mut q = *q;
    for i in 0..3 {
        for j in 0..3 {
            q[i] += 0.5 * (w[i][j] - w[j][i]) * r[j];
        }
    }
    let size = w[0][0].max(w[1][1]).max(w[2][2]);
    // Zero to rounding, or with the six digits of a printed file.
    [0.0, 1e-10 * size, 1e-5 * size]
        .into_iter()
        .find_map(|near| associated_definite(w, &std::array::from_fn(|i| q[i] - near * r[i]), mu, near))
}

fn in_dual_cone(q: &[f64; 3], mu: f64) -> bool {
    q[0] >= mu * (q[1] * q[1] + q[2] * q[2]).sqrt()
}

/// As [`associated_space`] for the symmetric part of W and `near` on its diagonal.
fn associated_definite(w: &Block<3>, q: &[f64; 3], mu: f64, near: f64) -> Option<[f64; 3]> {
    if in_dual_cone(q, mu) {
        return Some([0.0; 3]);
    }
    if mu == 0.0 {
        return (w[0][0] + near > 0.0).then(|| [-q[0] / (w[0][0] + near), 0.0, 0.0]);
    }
    // In tangents divided by μ the cone is that of Lorentz.
    let t = [1.0, mu, mu];
    let mut c = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let own = 0.5 * (w[i][j] + w[j][i]) + if i == j { near } else { 0.0 };
            let mut sum = t[i] * t[j] * own;
            for k in 0..j {
                sum -= c[i][k] * c[j][k];
            }
            if j < i {
                c[i][j] = sum / c[j][j];
            } else if sum > 1e-15 * t[i] * t[i] * own {
                c[i][i] = sum.sqrt();
            } else {
                return None;
            }
        }
    }
    let forward = |b: &[f64; 3]| {
        let mut x = *b;
        for i in 0..3 {
            for k in 0..i {
                x[i] -= c[i][k] * x[k];
            }
            x[i] /= c[i][i];
        }
        x
    };
    let backward = |b: &[f64; 3]| {
        let mut x = *b;
        for i in (0..3).rev() {
            for k in i + 1..3 {
                x[i] -= c[k][i] * x[k];
            }
            x[i] /= c[i][i];
        }
        x
    };
    let p = forward(&std::array::from_fn(|i| -t[i] * q[i]));
    let inside = backward(&p);
    if inside[0] >= (inside[1] * inside[1] + inside[2] * inside[2]).sqrt() {
        return Some(std::array::from_fn(|i| t[i] * inside[i]));
    }
    // C⁻¹ J C⁻ᵀ = C⁻¹C⁻ᵀ − 2 a aᵀ, a = C⁻¹ e_n.
    let columns: [[f64; 3]; 3] =
        std::array::from_fn(|j| forward(&std::array::from_fn(|i| if i == j { 1.0 } else { 0.0 })));
    let mut s: Block<3> = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            columns[1][i] * columns[1][j] + columns[2][i] * columns[2][j] - columns[0][i] * columns[0][j]
        })
    });
    let v = rotations(&mut s);
    let lowest = (0..3).min_by(|&a, &b| s[a][a].total_cmp(&s[b][b])).unwrap_or(0);
    let (one, two) = ((lowest + 1) % 3, (lowest + 2) % 3);
    let along = |i: usize, x: &[f64; 3]| v[0][i] * x[0] + v[1][i] * x[1] + v[2][i] * x[2];
    let gamma = -s[lowest][lowest];
    let (g, k) = ([s[one][one].max(0.0), s[two][two].max(0.0)], [along(one, &p), along(two, &p)]);
    // r_n has the sign of y₀ times that of this.
    let axis = backward(&std::array::from_fn(|i| v[i][lowest]));
    let first = along(lowest, &p) * axis[0].signum();
    if gamma.is_nan() || gamma <= 0.0 {
        return None;
    }
    let goal = gamma.sqrt() * first.abs();
    // y_i = k_i/(1 + (g_i/γ₀) θ) for θ = γ₀ λ, and k_i θ/(θ + g_i/γ₀) for θ = 1/(γ₀ λ): |1 − θ| or |1 − θ|/θ times y.
    let inner = first > 0.0;
    let line = |i: usize| if inner { (1.0, g[i] / gamma) } else { (g[i] / gamma, 1.0) };
    let mut theta = 0.0_f64;
    for _ in 0..60 {
        let (mut square, mut slope) = (0.0, 0.0);
        for i in 0..2 {
            let (alpha, beta) = line(i);
            let below = alpha + beta * theta;
            if below > 0.0 && g[i] > 0.0 {
                let value = g[i].sqrt() * k[i].abs() / below;
                square += value * value;
                slope += value * value * (alpha + beta) / below;
            }
        }
        let root = square.sqrt();
        let value = (1.0 - theta) * root;
        // −d value/dθ.
        let step = (value - goal) * root / slope;
        if step.is_nan() || step <= 1e-16 * theta {
            break;
        }
        theta = (theta + step).min(1.0);
    }
    let mut y = [0.0; 3];
    let mut square = 0.0;
    for (i, at) in [one, two].into_iter().enumerate() {
        let (alpha, beta) = line(i);
        let below = alpha + beta * theta;
        let top = if inner { 1.0 } else { theta };
        y[at] = if below > 0.0 { top * k[i] / below } else { k[i] };
        square += g[i] * y[at] * y[at];
    }
    y[lowest] = (square / gamma).sqrt() * axis[0].signum();
    let x = backward(&std::array::from_fn(|i| (0..3).map(|j| v[i][j] * y[j]).sum::<f64>()));
    // On the edge, exactly.
    let (n, size) = (x[0], (x[1] * x[1] + x[2] * x[2]).sqrt());
    let shrink = if size > 0.0 { n / size } else { 0.0 };
    let r = [n, mu * shrink * x[1], mu * shrink * x[2]];
    (n >= 0.0 && r.iter().all(|x| x.is_finite())).then_some(r)
}

/// Makes a symmetric matrix diagonal by rotations; the eigenvectors are the columns of what comes back.
fn rotations(s: &mut Block<3>) -> Block<3> {
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..12 {
        let mut turned = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = s[i][j];
            if off * off <= 1e-34 * (s[i][i] * s[j][j]).abs() {
                continue;
            }
            turned = true;
            let half = 0.5 * (s[j][j] - s[i][i]);
            let tangent = off / (half.abs() + half.hypot(off)).copysign(half);
            let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
            let sine = tangent * cosine;
            for k in 0..3 {
                let (x, y) = (s[i][k], s[j][k]);
                (s[i][k], s[j][k]) = (cosine * x - sine * y, sine * x + cosine * y);
            }
            for row in s.iter_mut().chain(v.iter_mut()) {
                let (x, y) = (row[i], row[j]);
                (row[i], row[j]) = (cosine * x - sine * y, sine * x + cosine * y);
            }
            (s[i][j], s[j][i]) = (0.0, 0.0);
        }
        if !turned {
            break;
        }
    }
    v
}

/// The associated law in the plane, as [`associated_space`]: inside of the cone, or along one of the two rays that bound it.
pub fn associated_plane(w: &Block<2>, q: &[f64; 2], mu: f64, r: &[f64; 2]) -> Option<[f64; 2]> {
    let skew = 0.5 * (w[0][1] - w[1][0]);
    let q = [q[0] + skew * r[1], q[1] - skew * r[0]];
    if q[0] >= mu * q[1].abs() {
        return Some([0.0; 2]);
    }
    let off = 0.5 * (w[0][1] + w[1][0]);
    let determinant = w[0][0] * w[1][1] - off * off;
    if mu > 0.0 && determinant > 1e-15 * w[0][0] * w[1][1] {
        let inside =
            [(off * q[1] - w[1][1] * q[0]) / determinant, (off * q[0] - w[0][0] * q[1]) / determinant];
        if inside[1].abs() <= mu * inside[0] {
            return Some(inside);
        }
    }
    // Of the two rays the one on which more is gained.
    let gain = |slope: f64| {
        let (along, pressed) = (q[0] + slope * q[1], w[0][0] + slope * (2.0 * off + slope * w[1][1]));
        let n = if along < 0.0 && pressed > 0.0 { -along / pressed } else { 0.0 };
        (n, slope, -along * n)
    };
    let (up, down) = (gain(mu), gain(-mu));
    let (n, slope, gained) = if up.2 >= down.2 { up } else { down };
    (gained > 0.0 && n.is_finite()).then_some([n, slope * n])
}

/// Coulomb's law with rolling friction: u_n = 0, the friction of a disc of radius μ r_n and the moments of one of radius ν r_n.
///
/// With the friction eliminated by (W_tt + α) r_t = −(q_t + W_tz z) what is left is Coulomb's law of the normal and the moments,
/// z = (r_n, m). At α = 0 nothing slides, and where ‖r_t‖ > μ r_n there, g(α) = μ r_n/‖r_t‖ − 1 goes from negative values to +∞. It
/// may jump over zero where z is not the only solution (strong friction); then the moments take the place of the friction.
/// `None` where that does not help either, or as [`coulomb_space`].
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
    let mut alpha = first + size;
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
        // The function is nearly a straight line: through the last two points, or halfway where that does not close in.
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
    // On the edge of the disc, exactly.
    let shrink = (mu * best[0] / (best[1] * best[1] + best[2] * best[2]).sqrt()).min(1.0);
    if shrink.is_finite() {
        best[1] *= shrink;
        best[2] *= shrink;
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;
    use crate::matrix::Matrix;
    use crate::problem::ContactProblem;
    use crate::residual::{project_cone, project_rolling, residual};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// BᵀB + ε, q, μ: from well to badly conditioned.
    fn problem(seed: &mut u64, d: usize) -> (Matrix, Vec<f64>, f64) {
        let b = Matrix::from_fn(d, d, |_, _| random(seed));
        let epsilon = 10f64.powf(-8.0 * (random(seed) + 0.5));
        let w = b.transpose().mul(&b);
        let w = Matrix::from_fn(d, d, |i, j| w[(i, j)] + if i == j { epsilon } else { 0.0 });
        let mut q: Vec<f64> = (0..d).map(|_| random(seed)).collect();
        q[0] = -q[0].abs();
        (w, q, 10f64.powf(3.0 * random(seed)))
    }

    #[test]
    fn every_contact_is_solved() {
        let mut seed = 1;
        for _ in 0..20_000 {
            let (w, q, mu) = problem(&mut seed, 3);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = coulomb_space(&block, &[q[0], q[1], q[2]], mu).unwrap();
            let e = residual(&ContactProblem::new(&w, &q, &[Law::Coulomb { mu }]).unwrap(), &r).relative;
            // Ŵ loses at most the eight digits of the condition number.
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
            let (w, q, mu) = problem(&mut seed, 2);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = coulomb_plane(&block, &[q[0], q[1]], mu).unwrap();
            let e = residual(&ContactProblem::new(&w, &q, &[Law::CoulombPlane { mu }]).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
        }
    }

    #[test]
    fn the_associated_law_is_solved() {
        let mut seed = 2;
        for _ in 0..10_000 {
            let (w, mut q, mu) = problem(&mut seed, 3);
            // q of all kinds: inside of the dual cone, inside of its mirror image, between them.
            q[0] += random(&mut seed);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = associated_space(&block, &[q[0], q[1], q[2]], mu, &[0.0; 3]).unwrap();
            let e = residual(&ContactProblem::new(&w, &q, &[Law::Cone { mu }]).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
        }
    }

    /// Against the least value along the edge and inside, by brute force: the associated law is a minimum.
    #[test]
    fn no_point_of_the_cone_is_lower() {
        let mut seed = 3;
        for _ in 0..200 {
            let (w, q, mu) = problem(&mut seed, 3);
            let value = |r: &[f64]| {
                let wr = w.mul_vec(r);
                (0..r.len()).map(|i| (0.5 * wr[i] + q[i]) * r[i]).sum::<f64>()
            };
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let least = value(&associated_space(&block, &[q[0], q[1], q[2]], mu, &[0.0; 3]).unwrap());
            for k in 0..2000 {
                let (angle, part) = (f64::from(k) * 0.1, (f64::from(k % 5) / 4.0).sqrt());
                let ray = [1.0, part * mu * angle.cos(), part * mu * angle.sin()];
                // The best point of the ray.
                let along = (0..3).map(|i| q[i] * ray[i]).sum::<f64>();
                let bend = w.mul_vec(&ray).iter().zip(ray).map(|(a, b)| a * b).sum::<f64>();
                let n = (-along / bend).max(0.0);
                let other = value(&ray.map(|x| n * x));
                // Rounding of the value, at most.
                assert!(least <= other + 1e-12 * other.abs(), "{w:?} {q:?} {mu}: {least} {other}");
            }
            let (w, q, mu) = problem(&mut seed, 2);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let q = [q[0] + random(&mut seed), q[1]];
            let r = associated_plane(&block, &q, mu, &[0.0; 2]).unwrap();
            let laws = [Law::Cone { mu }];
            // The plane is space with a tangent along which nothing happens.
            let lifted = Matrix::from_fn(3, 3, |i, j| match (i, j) {
                (2, 2) => 1.0,
                (2, _) | (_, 2) => 0.0,
                _ => w[(i, j)],
            });
            let judged =
                ContactProblem::new(&lifted, &[q[0], q[1], 0.0], &laws).unwrap().velocity(&[r[0], r[1], 0.0]);
            // K ∋ r ⊥ u ∈ K*.
            let size = 1e-7 * (q[0].abs() + q[1].abs());
            assert!(r[0] >= 0.0 && r[1].abs() <= mu * r[0] * (1.0 + 1e-14));
            assert!(judged[0] - mu * judged[1].abs() >= -size * (1.0 + mu), "{judged:?}");
            assert!(
                (judged[0] * r[0] + judged[1] * r[1]).abs() <= size * (r[0] + r[1].abs()),
                "{judged:?} {r:?}"
            );
        }
    }

    #[test]
    fn rolling_is_solved() {
        let mut seed = 4;
        let (mut unsolved, rounds) = (0, 10_000);
        for _ in 0..rounds {
            let (w, q, mu) = problem(&mut seed, 5);
            let nu = 10f64.powf(3.0 * random(&mut seed));
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let Some(r) = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu) else {
                unsolved += 1;
                continue;
            };
            let law = [Law::Rolling { mu, rolling: nu }];
            let e = residual(&ContactProblem::new(&w, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {nu} {e}");
        }
        // Coefficients up to 30 in both, where solutions jump.
        assert!(unsolved * 1000 <= rounds, "{unsolved}");
    }

    #[test]
    fn weak_rolling_friction_never_fails() {
        let mut seed = 5;
        for k in 0..10_000 {
            let (w, q, _) = problem(&mut seed, 5);
            let [mu, nu] = [(); 2].map(|()| 0.6 * (random(&mut seed) + 0.5));
            let (mu, nu) = (if k % 7 == 0 { 0.0 } else { mu }, if k % 5 == 0 { 0.0 } else { nu });
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu).unwrap();
            let law = [Law::Rolling { mu, rolling: nu }];
            let e = residual(&ContactProblem::new(&w, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {nu} {e}");
        }
    }

    /// Against many projected steps r ← P_K(r − ρ û) on weak friction and good W, where they contract.
    #[test]
    fn projected_steps_agree() {
        let mut seed = 6;
        for _ in 0..50 {
            let mut draw = |d: usize| {
                let b = Matrix::from_fn(d, d, |_, _| random(&mut seed));
                let gram = b.transpose().mul(&b);
                let w = Matrix::from_fn(d, d, |i, j| gram[(i, j)] + if i == j { 1.0 } else { 0.0 });
                let q: Vec<f64> =
                    (0..d).map(|c| if c == 0 { -0.5 } else { 4.0 * random(&mut seed) }).collect();
                (w, q, 0.3 * (random(&mut seed) + 0.5), 0.3 * (random(&mut seed) + 0.5))
            };
            let (w, q, mu, nu) = draw(5);
            let mut r = [0.0; 5];
            let step = 0.5 / w.symmetric_eigenvalues()[4];
            for _ in 0..3000 {
                let u: Vec<f64> = w.mul_vec(&r).iter().zip(&q).map(|(a, b)| a + b).collect();
                for c in 0..5 {
                    r[c] -= step * u[c];
                }
                r[0] -= step * (mu * u[1].hypot(u[2]) + nu * u[3].hypot(u[4]));
                project_rolling(&mut r, mu, nu);
            }
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let found = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu).unwrap();
            assert!(r.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-10), "{r:?} {found:?}");
            let (w, q, mu, _) = draw(3);
            let mut r = [0.0; 3];
            let step = 1.0 / w.symmetric_eigenvalues()[2];
            for _ in 0..3000 {
                let u = w.mul_vec(&r);
                for c in 0..3 {
                    r[c] -= step * (u[c] + q[c]);
                }
                project_cone(&mut r, mu);
            }
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let found = associated_space(&block, &std::array::from_fn(|c| q[c]), mu, &[0.0; 3]).unwrap();
            assert!(r.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12), "{r:?} {found:?}");
        }
    }

    #[test]
    fn a_proximal_step_for_a_matrix_that_is_not_definite() {
        // Two equal rows and a skew part, exactly and with errors in the seventh digit: steps from the last point lead
        // to a solution.
        let (q, law) = ([-1.0, 0.9, 0.8], [Law::Cone { mu: 0.3 }]);
        let mut r = [0.0; 3];
        for error in [0.0, 1e-7] {
            let w = [[1.0, 0.501, 0.499], [0.499, 1.0, 1.0], [0.501, 1.0 + error, 1.0 - error]];
            r = [0.0; 3];
            for _ in 0..200 {
                r = associated_space(&w, &q, 0.3, &r).unwrap();
            }
            let dense = Matrix::from_rows(&w);
            let e = residual(&ContactProblem::new(&dense, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-12, "{error}: {r:?} {e}");
        }
        assert_eq!(associated_space(&[[0.0; 3]; 3], &q, 0.3, &r), None);
    }

    #[test]
    fn closed_forms() {
        let w = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]];
        assert_eq!(coulomb_space(&w, &[1.0, 5.0, 0.0], 0.5), Some([0.0; 3]));
        assert_eq!(coulomb_space(&w, &[-6.0, 1.0, 0.0], 0.5), Some([3.0, -0.25, 0.0]));
        let slide = coulomb_space(&w, &[-6.0, 12.0, 16.0], 0.5).unwrap();
        for (a, b) in slide.iter().zip([3.0, -0.9, -1.2]) {
            assert!((a - b).abs() < 1e-15);
        }
        assert_eq!(coulomb_space(&w, &[-6.0, 12.0, 16.0], 0.0), Some([3.0, 0.0, 0.0]));
        assert_eq!(coulomb_plane(&[[2.0, 0.0], [0.0, 4.0]], &[-6.0, 20.0], 0.5), Some([3.0, -1.5]));
        assert_eq!(coulomb_space(&[[0.0; 3]; 3], &[-1.0, 0.0, 0.0], 0.5), None);
        // The associated law lifts off as it slides: along the ray (1, −½, 0) u = (1, 2, 0) s is left of q.
        let slide = associated_space(&w, &[-6.0, 12.0, 0.0], 0.5, &[0.0; 3]).unwrap();
        assert!(slide.iter().zip([4.0, -2.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{slide:?}");
        assert_eq!(
            associated_plane(&[[2.0, 0.0], [0.0, 4.0]], &[-6.0, 12.0], 0.5, &[0.0; 2]),
            Some([4.0, -2.0])
        );
        // Friction slides, moments hold.
        let w: Block<5> = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 2.0 } else { 0.0 }));
        let r = rolling(&w, &[-6.0, 8.0, 0.0, 0.5, 0.0], 0.5, 0.2).unwrap();
        assert!(r.iter().zip([3.0, -1.5, 0.0, -0.25, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{r:?}");
    }
}
