//! The step length of the natural map at one constraint.
//!
//! ```text
//! ρ = 1/λ_max(½ (W_ii + W_iiᵀ))
//! ```
//!
//! W_ii is the block on the diagonal of W that belongs to a constraint of 1 to 6 rows. The residual takes it
//! from here, and no solver does: what solvers know of their blocks they find themselves.

use super::law::MAX_LAW_ROWS;

/// ρ = 1/λ_max of the symmetric part of a block of W; 0 for a constraint that nothing moves, see
/// [`fill_steps`].
pub(super) fn step_length(rows: usize, block: impl Fn(usize, usize) -> f64) -> f64 {
    match rows {
        1 => step_length_of::<1>(block),
        2 => step_length_of::<2>(block),
        3 => step_length_of::<3>(block),
        5 => step_length_of::<5>(block),
        _ => step_length_of::<MAX_LAW_ROWS>(block),
    }
}

/// [`step_length`] of a block of N rows.
pub(super) fn step_length_of<const N: usize>(block: impl Fn(usize, usize) -> f64) -> f64 {
    let top = largest_eigenvalue::<N>(block);
    if top > 0.0 { 1.0 / top } else { 0.0 }
}

/// A constraint that nothing moves has no ρ of its own, and takes the largest of the others, in any units:
/// what it leaves of a velocity counts in full.
pub(super) fn fill_steps(rho: &mut [f64]) {
    let largest = rho.iter().copied().fold(0.0, f64::max);
    let of_unmoved = if largest > 0.0 { largest } else { 1.0 };
    rho.iter_mut().filter(|rho| **rho == 0.0).for_each(|rho| *rho = of_unmoved);
}

/// λ_max of the symmetric part of a block of W, by rotations that make it diagonal (Jacobi).
fn largest_eigenvalue<const N: usize>(entry: impl Fn(usize, usize) -> f64) -> f64 {
    let mut a = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            a[i][j] = 0.5 * (entry(i, j) + entry(j, i));
            a[j][i] = a[i][j];
        }
    }
    let diagonal = (0..N).fold(f64::NEG_INFINITY, |m, i| m.max(a[i][i]));
    let beside = (1..N).fold(0.0, |sum, i| (0..i).fold(sum, |sum, j| sum + a[i][j].abs()));
    // No eigenvalue is farther from the diagonal than that (Gershgorin). Spheres have such blocks.
    if beside <= f64::EPSILON * diagonal {
        return diagonal;
    }
    if N == 3
        && let Some(largest) = largest_of_three(&a)
    {
        return largest;
    }
    let largest = a.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    // A power of two, so that units change no bit and squares neither overflow nor vanish.
    let unit = power_of_two(largest);
    a.iter_mut().flatten().for_each(|x| *x /= unit);
    let size = largest / unit;
    // Each round squares what is left beside the diagonal; ten are more than enough for six rows.
    for _ in 0..10 {
        let mut rotated = false;
        for i in 1..N {
            for j in 0..i {
                let off = a[i][j];
                if off.abs() <= 1e-17 * size {
                    continue;
                }
                rotated = true;
                let half = 0.5 * (a[i][i] - a[j][j]);
                let tangent = off / (half.abs() + (half * half + off * off).sqrt()).copysign(half);
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for k in 0..N {
                    let (x, y) = (a[i][k], a[j][k]);
                    (a[i][k], a[j][k]) = (cosine * x + sine * y, cosine * y - sine * x);
                }
                for k in 0..N {
                    let (x, y) = (a[k][i], a[k][j]);
                    (a[k][i], a[k][j]) = (cosine * x + sine * y, cosine * y - sine * x);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    unit * (0..N).map(|i| a[i][i]).fold(f64::NEG_INFINITY, f64::max)
}

/// λ_max of a symmetric matrix of N = 3 rows, q + 2p cos φ: the closed form for the most frequent block
/// (Smith 1961).
///
/// `None` where the two largest eigenvalues are close: cos 3φ is near −1 there, and φ loses half of its
/// digits.
fn largest_of_three<const N: usize>(a: &[[f64; N]; N]) -> Option<f64> {
    let largest = a.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    // A power of two, so that units change no bit.
    let unit = power_of_two(largest);
    let [xx, yy, zz] = [0, 1, 2].map(|i| a[i][i] / unit);
    let [xy, xz, yz] = [a[1][0] / unit, a[2][0] / unit, a[2][1] / unit];
    let q = (xx + yy + zz) / 3.0;
    let [dx, dy, dz] = [xx - q, yy - q, zz - q];
    let p = ((dx * dx + dy * dy + dz * dz + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0).sqrt();
    if p == 0.0 {
        return Some(unit * q);
    }
    let determinant = dx * (dy * dz - yz * yz) - xy * (xy * dz - yz * xz) + xz * (xy * yz - dy * xz);
    let cosine = 0.5 * determinant / (p * p * p);
    (cosine > -0.99).then(|| unit * (q + p * largest_root(cosine.min(1.0))))
}

/// The largest root x = 2 cos φ of x³ − 3x = 2 cos 3φ for cos 3φ ≥ −0.99, by Newton's method. The start is
/// exact where 3φ is 0 or π, off by less than 0.01 between; three steps leave 10⁻¹⁴.
fn largest_root(cosine: f64) -> f64 {
    let half = (0.5 * (1.0 + cosine)).sqrt();
    let mut x = 1.0 + half * (10.0 - half) / 9.0;
    for _ in 0..3 {
        x -= (x * (x * x - 3.0) - 2.0 * cosine) / (3.0 * (x * x - 1.0));
    }
    x
}

/// The power of two next below a size; 1 where there is none.
pub(super) fn power_of_two(size: f64) -> f64 {
    // The exponent without the digits. Numbers near the ends of the range keep away from these.
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let power = f64::from_bits(size.max(2f64.powi(-1000)).min(2f64.powi(1000)).to_bits() & EXPONENT);
    if size > 0.0 { power } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn step_lengths_of_known_blocks() {
        // Eigenvalues 3 and 1; 1, 2 and 4 in turned axes; a block that nothing moves.
        let step = |rows: usize, block: [[f64; 3]; 3]| step_length(rows, |i, j| block[i][j]);
        assert_eq!(step(1, [[4.0, 9.0, 9.0]; 3]), 0.25);
        assert!((step(2, [[2.0, 1.0, 9.0], [1.0, 2.0, 9.0], [9.0; 3]]) - 1.0 / 3.0).abs() < 1e-15);
        assert!((step(3, [[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]]) - 0.25).abs() < 1e-15);
        // The symmetric part counts alone.
        assert!((step(2, [[2.0, 3.0, 9.0], [-1.0, 2.0, 9.0], [9.0; 3]]) - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(step(3, [[0.0; 3]; 3]), 0.0);
        let mut steps = [0.5, 0.0, 2.0];
        fill_steps(&mut steps);
        assert_eq!(steps, [0.5, 2.0, 2.0]);
    }

    #[test]
    fn five_and_six_rows() {
        // I + x xᵀ has 1 + |x|² as its largest eigenvalue.
        for rows in [5, 6] {
            let x = |i: usize| (1 + i) as f64;
            let square: f64 = (0..rows).map(|i| x(i) * x(i)).sum();
            let found = step_length(rows, |i, j| f64::from(u8::from(i == j)) + x(i) * x(j));
            assert!((found * (1.0 + square) - 1.0).abs() < 1e-14, "{rows} {found}");
        }
    }

    proptest! {
        /// λ_max of Q diag(λ) Qᵀ, also where eigenvalues are close.
        #[test]
        fn the_largest_eigenvalue_of_three(
            l in prop::array::uniform3(prop_oneof![Just(1.0), 0.0f64..1e3]),
            axis in prop::array::uniform4(-1.0f64..1.0),
            power in -900i32..900,
        ) {
            let [w, x, y, z] = axis;
            let n = w * w + x * x + y * y + z * z;
            prop_assume!(n > 1e-2);
            let q = [
                [1.0 - 2.0 * (y * y + z * z) / n, 2.0 * (x * y - w * z) / n, 2.0 * (x * z + w * y) / n],
                [2.0 * (x * y + w * z) / n, 1.0 - 2.0 * (x * x + z * z) / n, 2.0 * (y * z - w * x) / n],
                [2.0 * (x * z - w * y) / n, 2.0 * (y * z + w * x) / n, 1.0 - 2.0 * (x * x + y * y) / n],
            ];
            let of = |unit: f64| {
                let entry = |i: usize, j: usize| unit * (0..3).map(|k| q[i][k] * l[k] * q[j][k]).sum::<f64>();
                largest_eigenvalue::<3>(entry)
            };
            let exact = l[0].max(l[1]).max(l[2]);
            prop_assert!((of(1.0) - exact).abs() <= 1e-13 * exact, "{} for {exact}", of(1.0));
            let unit = 2f64.powi(power);
            prop_assert_eq!(of(unit), unit * of(1.0));
        }
    }
}
