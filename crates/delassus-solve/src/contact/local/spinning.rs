//! One contact by itself with sliding, rolling and spinning friction: six rows r = (z, s), z those of
//! [`super::rolling`] and s the moment about the normal, abs(s) ≤ σ r_n opposing the spin ω.
//!
//! The spin has three modes, and each leaves a problem of the five rows z:
//!
//! ```text
//! ω = 0 :    s = −(q_s + W_sz z)/W_ss           W_zz − W_zs W_sz/W_ss ,   q_z − W_zs q_s/W_ss
//! s = ±σ r_n                                    W_zz ± σ W_zs e_nᵀ ,      q_z
//! ```
//!
//! with the associated law Tᵀ W T and Tᵀ q in the last line, r = T z. A mode is the one of the contact where
//! abs(s) ≤ σ r_n in the first, and s ω ≤ 0 in the others.

use super::associated_rolling::associated_rolling;
use super::rolling::rolling;
use crate::linalg::{Block, dot};

/// What W_ss is at least, relative to the largest entry of the diagonal, for a spin that can be stopped.
const MIN_MOBILITY: f64 = 1e-14;
/// A spin against the moment that is no more than this part of the terms that it is made of is rounding.
const ROUNDING: f64 = 1e-12;

/// Coulomb's law with rolling and spinning friction, with coefficients [μ, ν, σ]. `None` where no mode has a
/// solution, or as [`rolling`].
pub fn spinning(w: &Block<6>, q: &[f64; 6], [mu, nu, sigma]: [f64; 3]) -> Option<[f64; 6]> {
    if q[0] >= 0.0 {
        return Some([0.0; 6]);
    }
    if let Some((block, rest)) = without_spin(w, q)
        && let Some(r) = rolling(&block, &rest, mu, nu).map(|z| with_moment(w, q, &z))
        && r[5].abs() <= sigma * r[0]
    {
        return Some(r);
    }
    at_limit(w, q, sigma, |side| {
        let block = std::array::from_fn(|i| {
            std::array::from_fn(|j| w[i][j] + if j == 0 { side * w[i][5] } else { 0.0 })
        });
        rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu)
    })
}

/// The same with the associated law; `r` as in [`associated_rolling`].
pub fn associated_spinning(
    w: &Block<6>,
    q: &[f64; 6],
    [mu, nu, sigma]: [f64; 3],
    r: &[f64; 6],
) -> Option<[f64; 6]> {
    if q[0] >= mu * q[1].hypot(q[2]) + nu * q[3].hypot(q[4]) + sigma * q[5].abs() {
        return Some([0.0; 6]);
    }
    let near: [f64; 5] = std::array::from_fn(|c| r[c]);
    if let Some((block, rest)) = without_spin(w, q)
        && let Some(r) = associated_rolling(&block, &rest, mu, nu, &near).map(|z| with_moment(w, q, &z))
        && r[5].abs() <= sigma * r[0]
    {
        return Some(r);
    }
    at_limit(w, q, sigma, |side| {
        // T has a sixth row ±σ e_nᵀ.
        let last = |i: usize| if i == 0 { side } else { 0.0 };
        let block = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                w[i][j] + w[i][5] * last(j) + last(i) * w[5][j] + last(i) * w[5][5] * last(j)
            })
        });
        let rest = std::array::from_fn(|c| q[c] + last(c) * q[5]);
        associated_rolling(&block, &rest, mu, nu, &near)
    })
}

/// The problem of the other rows where the spin is stopped; `None` where no moment can stop it.
fn without_spin(w: &Block<6>, q: &[f64; 6]) -> Option<(Block<5>, [f64; 5])> {
    let largest = (0..6).fold(0.0_f64, |m, c| m.max(w[c][c]));
    let own = w[5][5];
    (own > MIN_MOBILITY * largest).then(|| {
        let block = std::array::from_fn(|i| std::array::from_fn(|j| w[i][j] - w[i][5] * w[5][j] / own));
        (block, std::array::from_fn(|i| q[i] - w[i][5] * q[5] / own))
    })
}

/// The other rows and the moment that stops the spin.
fn with_moment(w: &Block<6>, q: &[f64; 6], z: &[f64; 5]) -> [f64; 6] {
    let moment = -(q[5] + dot(&w[5][..5], z)) / w[5][5];
    [z[0], z[1], z[2], z[3], z[4], moment]
}

/// The side s = ±σ r_n on which the moment opposes the spin. With strong friction both may; then the one that
/// opposes the spin without forces.
fn at_limit(
    w: &Block<6>,
    q: &[f64; 6],
    sigma: f64,
    solve: impl Fn(f64) -> Option<[f64; 5]>,
) -> Option<[f64; 6]> {
    let first = if q[5] > 0.0 { -sigma } else { sigma };
    [first, -first].into_iter().find_map(|side| {
        let z = solve(side)?;
        let r = [z[0], z[1], z[2], z[3], z[4], side * z[0]];
        let terms: [f64; 6] = std::array::from_fn(|c| w[5][c] * r[c]);
        let spin = q[5] + terms.iter().sum::<f64>();
        let size = q[5].abs() + terms.iter().map(|x| x.abs()).sum::<f64>();
        (spin * side <= ROUNDING * size * side.abs()).then_some(r)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::problem::{ContactView, Law, residual};
    use crate::random::Random;

    /// W = A Aᵀ of a random A with a shift, and q that closes the contact or not.
    fn random_contact(random: &mut Random) -> (Block<6>, [f64; 6]) {
        let a: Block<6> = std::array::from_fn(|_| std::array::from_fn(|_| random.centred()));
        let w = std::array::from_fn(|i| {
            std::array::from_fn(|j| dot(&a[i], &a[j]) + if i == j { 0.3 } else { 0.0 })
        });
        (w, std::array::from_fn(|c| 4.0 * (random.unit() - if c == 0 { 0.8 } else { 0.5 })))
    }

    fn relative(w: &Block<6>, q: &[f64; 6], law: Law, r: &[f64; 6]) -> f64 {
        let matrix = Matrix::from_fn(6, 6, |i, j| w[i][j]);
        residual(&ContactView::new(&matrix, q, &[law]).unwrap(), r).relative
    }

    #[test]
    fn all_modes_are_solved_with_both_laws() {
        let mut random = Random(11);
        let (mut modes, mut missed) = ([[0; 3]; 2], 0);
        for _ in 0..2000 {
            let (w, q) = random_contact(&mut random);
            let limits @ [mu, rolling, sigma] = std::array::from_fn(|_| 0.6 * random.unit());
            let found = [
                (spinning(&w, &q, limits), Law::Spinning { mu, rolling, spinning: sigma }),
                (
                    associated_spinning(&w, &q, limits, &[0.0; 6]),
                    Law::ConeSpinning { mu, rolling, spinning: sigma },
                ),
            ];
            for (k, (r, law)) in found.into_iter().enumerate() {
                let Some(r) = r else {
                    missed += 1;
                    continue;
                };
                // The roots of the rows below are found to 1e-15 or a flat bottom to its square root.
                assert!(relative(&w, &q, law, &r) < 1e-8, "{law:?} {r:?}");
                let mode = if r[0] == 0.0 { 0 } else { 1 + usize::from(r[5].abs() >= sigma * r[0]) };
                modes[k][mode] += 1;
            }
        }
        assert!(modes.iter().flatten().all(|n| *n > 30), "{modes:?}");
        // Projected steps take over where no mode is found: rare.
        assert!(missed <= 4, "{missed}");
    }

    #[test]
    fn a_top_on_its_axis_is_braked_by_its_limit() {
        // m = 1, I = 0.5 about all axes, the contact under the centre: nothing is coupled.
        let mut w = [[0.0; 6]; 6];
        (0..6).for_each(|c| w[c][c] = if c < 3 { 1.0 } else { 2.0 });
        let q = [-10.0, 0.0, 0.0, 0.0, 0.0, 8.0];
        for sliding in [0.0, 0.3] {
            let r = spinning(&w, &q, [sliding, 0.0, 0.25]).unwrap();
            assert_eq!(r, [10.0, 0.0, 0.0, 0.0, 0.0, -2.5]);
            let r = spinning(&w, &q, [sliding, 0.0, 0.5]).unwrap();
            assert_eq!((r[0], r[5]), (10.0, -4.0));
        }
    }
}
