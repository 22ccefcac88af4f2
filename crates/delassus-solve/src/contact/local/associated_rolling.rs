//! One contact by itself with the associated law and rolling friction: the least of ½ rᵀW r + qᵀr over
//! K = {‖r_t‖ ≤ μ r_n, ‖m‖ ≤ ν r_n}, five rows r = (r_n, r_t, m).
//!
//! With the moments free, m = −W_mm⁻¹ (q_m + W_mz z), what is left for z = (r_n, r_t) is the associated law
//! without rolling ([`crate::contact::local::associated`]); where its moments stay below their limit, nothing
//! in the smaller cone K is lower. The same holds with the friction free. Otherwise both are at their limits:
//! r = T n d with T = diag(1, μ, μ, ν, ν) and d = (1, cos α, sin α, cos β, sin β), and the least value along
//! a ray, −½ (qᵀT d)²/(dᵀT W T d) where qᵀT d < 0, is a function of the two angles. Newton's method goes down
//! on it. The problem is convex: where −g_t and −g_m, g = T (W r + q), point along the friction and the
//! moments, the point is the least one of all.

use super::associated::associated_space;
use crate::linalg::{Block, mul};

/// The associated law with rolling friction. `None` where W is not positive definite or the angles are not
/// found.
///
/// What W lacks in symmetry and in definiteness is made up for by a proximal step from `r`, as in
/// [`associated_space`].
pub fn associated_rolling(w: &Block<5>, q: &[f64; 5], mu: f64, nu: f64, r: &[f64; 5]) -> Option<[f64; 5]> {
    if q[0] >= mu * q[1].hypot(q[2]) + nu * q[3].hypot(q[4]) {
        return Some([0.0; 5]);
    }
    let mut q = *q;
    let mut symmetric = *w;
    for i in 0..5 {
        for j in 0..5 {
            q[i] += 0.5 * (w[i][j] - w[j][i]) * r[j];
            symmetric[i][j] = 0.5 * (w[i][j] + w[j][i]);
        }
    }
    let size = (0..5).fold(0.0_f64, |m, c| m.max(w[c][c]));
    // Zero to rounding, or with the six digits of a printed file.
    [0.0, 1e-10 * size, 1e-5 * size].into_iter().find_map(|near| {
        let mut w = symmetric;
        (0..5).for_each(|c| w[c][c] += near);
        definite(&w, &std::array::from_fn(|c| q[c] - near * r[c]), mu, nu)
    })
}

const FRICTION: [usize; 3] = [0, 1, 2];
const MOMENTS: [usize; 3] = [0, 3, 4];

/// As [`associated_rolling`] for a symmetric W.
fn definite(w: &Block<5>, q: &[f64; 5], mu: f64, nu: f64) -> Option<[f64; 5]> {
    let mut out = [0.0; 5];
    if mu == 0.0 || nu == 0.0 {
        let (rows, limit) = if nu == 0.0 { (FRICTION, mu) } else { (MOMENTS, nu) };
        let block = std::array::from_fn(|i| std::array::from_fn(|j| w[rows[i]][rows[j]]));
        let r = associated_space(&block, &rows.map(|i| q[i]), limit, &[0.0; 3])?;
        rows.iter().zip(r).for_each(|(&i, x)| out[i] = x);
        return Some(out);
    }
    let [friction, moments] = [(FRICTION, [3, 4], mu, nu), (MOMENTS, [1, 2], nu, mu)]
        .map(|(rows, free, limit, other)| (with_two_free(w, q, rows, free, limit), free, other));
    for (r, free, limit) in [&friction, &moments] {
        if let Some(r) = r.filter(|r| r[free[0]].hypot(r[free[1]]) <= limit * r[0]) {
            return Some(r);
        }
    }
    // Where one of the two by itself puts its limit, the angles of both are often nearly right.
    [moments.0, friction.0, Some(q.map(|x| -x))].into_iter().flatten().find_map(|r| {
        let angles = [r[2].atan2(r[1]), r[4].atan2(r[3])];
        both_at_their_limits(w, q, [1.0, mu, mu, nu, nu], angles)
    })
}

/// The least point where the rows `free` have no limit.
fn with_two_free(
    w: &Block<5>,
    q: &[f64; 5],
    rows: [usize; 3],
    [a, b]: [usize; 2],
    limit: f64,
) -> Option<[f64; 5]> {
    let determinant = w[a][a] * w[b][b] - w[a][b] * w[a][b];
    if determinant.is_nan() || determinant <= 1e-14 * w[a][a] * w[b][b] {
        return None;
    }
    // The free rows for a right-hand side (x, y).
    let free = |x: f64, y: f64| {
        ((w[a][b] * y - w[b][b] * x) / determinant, (w[a][b] * x - w[a][a] * y) / determinant)
    };
    let own = free(q[a], q[b]);
    let columns = rows.map(|j| free(w[a][j], w[b][j]));
    let block = std::array::from_fn(|i| {
        let [x, y] = [w[rows[i]][a], w[rows[i]][b]];
        std::array::from_fn(|j| w[rows[i]][rows[j]] + x * columns[j].0 + y * columns[j].1)
    });
    let rest = rows.map(|i| q[i] + w[i][a] * own.0 + w[i][b] * own.1);
    let z = associated_space(&block, &rest, limit, &[0.0; 3])?;
    let mut r = [0.0; 5];
    rows.iter().zip(z).for_each(|(&i, x)| r[i] = x);
    (r[a], r[b]) = (0..3).fold(own, |m, j| (m.0 + columns[j].0 * z[j], m.1 + columns[j].1 * z[j]));
    Some(r)
}

/// The part of ‖T q‖ below which steps are taken as they are: the value no longer shows what they gain.
const FULL_STEP_RATIO: f64 = 1e-4;
/// The part of ‖T q‖ up to which a slope counts as none.
const SLOPE_ROUNDING: f64 = 1e-9;

/// Newton's method on the two angles, each step shortened until the value falls.
fn both_at_their_limits(w: &Block<5>, q: &[f64; 5], t: [f64; 5], mut angles: [f64; 2]) -> Option<[f64; 5]> {
    let a: Block<5> = std::array::from_fn(|i| std::array::from_fn(|j| t[i] * w[i][j] * t[j]));
    let b: [f64; 5] = std::array::from_fn(|i| t[i] * q[i]);
    let dot = |x: &[f64; 5], y: &[f64; 5]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let along = |[alpha, beta]: [f64; 2]| [1.0, alpha.cos(), alpha.sin(), beta.cos(), beta.sin()];
    let value = |angles: [f64; 2]| {
        let d = along(angles);
        let push = dot(&b, &d).min(0.0);
        -0.5 * push * push / dot(&d, &mul(&a, &d))
    };
    let size = dot(&b, &b).sqrt();
    let mut now = value(angles);
    // The least slope, and the point that has it where friction and moments hold back.
    let (mut least, mut best, mut polished) = (f64::INFINITY, None, 0);
    for _ in 0..40 {
        let d = along(angles);
        let ad = mul(&a, &d);
        let bend = dot(&d, &ad);
        let n = -dot(&b, &d) / bend;
        if n.is_nan() || n <= 0.0 {
            return None;
        }
        let g: [f64; 5] = std::array::from_fn(|c| n * ad[c] + b[c]);
        let turned = [[0.0, -d[2], d[1], 0.0, 0.0], [0.0, 0.0, 0.0, -d[4], d[3]]];
        let slope = [dot(&turned[0], &g), dot(&turned[1], &g)];
        // What friction and moments hold back.
        let held = [-(d[1] * g[1] + d[2] * g[2]), -(d[3] * g[3] + d[4] * g[4])];
        let products = turned.map(|x| mul(&a, &x));
        let cross = [slope[0] + n * dot(&products[0], &d), slope[1] + n * dot(&products[1], &d)];
        let entry = |i: usize, j: usize| {
            let curvature = if i == j { n * held[i].max(0.0) } else { 0.0 };
            n * n * dot(&products[i], &turned[j]) + curvature - cross[i] * cross[j] / bend
        };
        let (h00, h01, h11) = (entry(0, 0), entry(0, 1), entry(1, 1));
        // Positive definite and no more than a radian: from anywhere a way down.
        let (sum, apart) = (h00 + h11, (h00 - h11).hypot(2.0 * h01));
        let lift = (0.5 * (apart - sum) + 1e-3 * (sum.abs() + apart)).max(0.0);
        let (h00, h11) = (h00 + lift, h11 + lift);
        let determinant = h00 * h11 - h01 * h01;
        let step = [
            -n * (h11 * slope[0] - h01 * slope[1]) / determinant,
            -n * (h00 * slope[1] - h01 * slope[0]) / determinant,
        ];
        let shrink = 1.0 / step[0].hypot(step[1]).max(1.0);
        let step = step.map(|x| shrink * x);
        let steep = slope[0].abs().max(slope[1].abs());
        if steep < least {
            least = steep;
            best = held.iter().all(|h| *h >= 0.0).then(|| std::array::from_fn(|c| n * t[c] * d[c]));
        } else if polished > 0 {
            break;
        }
        if steep <= FULL_STEP_RATIO * size {
            polished += 1;
            angles = [angles[0] + step[0], angles[1] + step[1]];
            continue;
        }
        let shorter = (0..30).map(|k| {
            let length = 0.5_f64.powi(k);
            [angles[0] + length * step[0], angles[1] + length * step[1]]
        });
        let (trial, found) = shorter.map(|trial| (trial, value(trial))).find(|(_, found)| *found < now)?;
        (angles, now) = (trial, found);
    }
    best.filter(|_| least <= SLOPE_ROUNDING * size)
}
