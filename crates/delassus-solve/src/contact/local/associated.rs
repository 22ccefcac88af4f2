//! A single contact with the associated law: minimize ½ rᵀW r + qᵀr over K = {‖r_t‖ ≤ μ r_n} (004 §4).
//!
//! Inside the cone W r = −q; r = 0 if q ∈ K*. On the boundary u = −λ J r with J = diag(−μ², 1, 1), λ > 0, so
//! that (W + λ J) r = −q and rᵀJ r = 0. With W = C Cᵀ and C⁻¹ J C⁻ᵀ = V diag(−γ₀, γ₁, γ₂) Vᵀ, the components
//! y of VᵀCᵀr and p of −VᵀC⁻¹q satisfy y_i = p_i/(1 + γ_i λ), and since the sign of y₀ is known, the boundary
//! condition is
//!
//! √γ₀ |p₀| = |1 − γ₀ λ| (γ₁ y₁² + γ₂ y₂²)^½.
//!
//! The sign of p₀ decides on which side of 1/γ₀ the root lies. In θ = γ₀ λ or 1/(γ₀ λ) ∈ (0, 1), the
//! right-hand side is decreasing and convex on either side, so Newton's method converges monotonically to the
//! root.

use crate::linalg::{Block, small};

/// The associated law in space: the least of ½ rᵀW r + qᵀr over K = {‖r_t‖ ≤ μ r_n}. `None` where W is not
/// positive definite.
///
/// What W lacks in symmetry and in definiteness is made up for by a proximal step from `r`, which leaves
/// solutions where they are.
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
// Long: one derivation from the factor of W to the root, whose numbers all of its steps share.
fn associated_definite(w: &Block<3>, q: &[f64; 3], mu: f64, near: f64) -> Option<[f64; 3]> {
    if in_dual_cone(q, mu) {
        return Some([0.0; 3]);
    }
    if mu == 0.0 {
        return (w[0][0] + near > 0.0).then(|| [-q[0] / (w[0][0] + near), 0.0, 0.0]);
    }
    // In tangents divided by μ the cone is that of Lorentz.
    let t = [1.0, mu, mu];
    let own = |i: usize, j: usize| 0.5 * (w[i][j] + w[j][i]) + if i == j { near } else { 0.0 };
    let mut c: Block<3> = std::array::from_fn(|i| std::array::from_fn(|j| t[i] * t[j] * own(i, j)));
    if !small::cholesky(&mut c, 3, |i, _| 1e-15 * t[i] * t[i] * own(i, i)) {
        return None;
    }
    let forward = |b: &[f64; 3]| {
        let mut x = *b;
        small::forward(&c, 3, &mut x);
        x
    };
    let backward = |b: &[f64; 3]| {
        let mut x = *b;
        small::backward(&c, 3, &mut x);
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
    let v = small::diagonalize(&mut s);
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
    // y_i = k_i/(1 + (g_i/γ₀) θ) for θ = γ₀ λ, and k_i θ/(θ + g_i/γ₀) for θ = 1/(γ₀ λ): |1 − θ| or |1 − θ|/θ
    // times y.
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

/// The associated law in the plane, as [`associated_space`]: inside of the cone, or along one of the two rays
/// that bound it.
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
