//! Block Gauss–Seidel: one contact after the other solved exactly, the others held.
//!
//! At contact i, r_i is replaced by the solution of u_i = W_ii r_i + (q_i + Σ_{j≠i} W_ij r_j) with its law
//! ([`crate::contact::local`]). No step can fail: where a contact has no solution by itself it takes a
//! projected step.

use super::cone::{Cone, length, project, saxce};
use super::local;
use super::local::{associated_plane, associated_space, coulomb_plane, coulomb_space};
use crate::linalg::{Block, BlockMatrix, mul};

/// One pass over all contacts; returns how many changed their mode. Where Newton's method is to finish what
/// sweeps begin, rolling contacts need not be solved precisely: projected steps cost a third and find the
/// modes as well.
pub(super) fn sweep<const D: usize>(
    w: &BlockMatrix<D>,
    q: &[[f64; D]],
    cones: &[Cone],
    rho: &[f64],
    r: &mut [[f64; D]],
    precise: bool,
) -> usize {
    let mut changes = 0;
    for i in 0..w.len() {
        let new = relaxed(w, q, cones, rho, r, (i, precise));
        changes += usize::from(mode(cones[i], &new) != mode(cones[i], &r[i]));
        r[i] = new;
    }
    changes
}

/// The impulse of contact i that solves it while the others are held.
#[inline]
pub(super) fn relaxed<const D: usize>(
    w: &BlockMatrix<D>,
    q: &[[f64; D]],
    cones: &[Cone],
    rho: &[f64],
    r: &[[f64; D]],
    (i, precise): (usize, bool),
) -> [f64; D] {
    let own = &w.value[w.diagonal[i]];
    let mut rest = w.row_times(i, r);
    let mine = mul(own, &r[i]);
    for c in 0..D {
        rest[c] += q[i][c] - mine[c];
    }
    one(own, &rest, cones[i], rho[i], &r[i], precise)
}

/// 0 open, 1 on the edge of the cone, 2 inside.
#[inline]
fn mode<const D: usize>(cone: Cone, r: &[f64; D]) -> u8 {
    if r[0] <= 0.0 {
        return 0;
    }
    let edge = |from: usize, to: usize, mu: f64| length(r, from, to) < (1.0 - 1e-14) * mu * r[0];
    match cone {
        Cone::Free | Cone::Ray => 2,
        Cone::Coulomb { mu, tangents } | Cone::Associated { mu, tangents } => {
            1 + u8::from(edge(1, 1 + tangents, mu))
        }
        Cone::Rolling { mu, rolling } | Cone::AssociatedRolling { mu, rolling } => {
            1 + u8::from(edge(1, 3, mu)) + 2 * u8::from(edge(3, 5, rolling))
        }
        Cone::Spinning { mu, rolling, spinning } | Cone::AssociatedSpinning { mu, rolling, spinning } => {
            let stick = u8::from(edge(1, 3, mu)) + 2 * u8::from(edge(3, 5, rolling));
            1 + stick + 4 * u8::from(edge(5, 6, spinning))
        }
    }
}

/// The leading rows and columns of a block.
#[inline(always)]
fn leading<const D: usize, const E: usize>(w: &Block<D>) -> Block<E> {
    std::array::from_fn(|i| std::array::from_fn(|j| w[i][j]))
}

/// Writes what was found to the leading rows.
#[inline(always)]
fn write<const D: usize, const E: usize>(found: Option<[f64; E]>, out: &mut [f64; D]) -> bool {
    if let Some(found) = &found {
        out[..E].copy_from_slice(found);
    }
    found.is_some()
}

/// The laws that are met less often, out of the way of the others.
#[inline(never)]
fn other<const D: usize>(
    w: &Block<D>,
    q: &[f64; D],
    cone: Cone,
    r: &[f64; D],
    precise: bool,
    out: &mut [f64; D],
) -> bool {
    match cone {
        Cone::Associated { mu, tangents: 2 } if D >= 3 => {
            write(associated_space(&leading(w), &[q[0], q[1], q[2]], mu, &[r[0], r[1], r[2]]), out)
        }
        Cone::Associated { mu, tangents: 1 } if D >= 2 => {
            write(associated_plane(&leading(w), &[q[0], q[1]], mu, &[r[0], r[1]]), out)
        }
        Cone::Rolling { mu, rolling } if D >= 5 && precise => {
            write(local::rolling(&leading(w), &std::array::from_fn(|c| q[c]), mu, rolling), out)
        }
        Cone::AssociatedRolling { mu, rolling } if D >= 5 && precise => {
            let [q, r] = [q, r].map(|x| std::array::from_fn(|c| x[c]));
            write(local::associated_rolling(&leading(w), &q, mu, rolling, &r), out)
        }
        Cone::Spinning { mu, rolling, spinning } if D >= 6 => {
            write(local::spinning(&leading(w), &std::array::from_fn(|c| q[c]), [mu, rolling, spinning]), out)
        }
        Cone::AssociatedSpinning { mu, rolling, spinning } if D >= 6 => {
            let [q, r] = [q, r].map(|x| std::array::from_fn(|c| x[c]));
            write(local::associated_spinning(&leading(w), &q, [mu, rolling, spinning], &r), out)
        }
        _ => false,
    }
}

/// One constraint by itself.
#[inline]
pub(super) fn one<const D: usize>(
    w: &Block<D>,
    q: &[f64; D],
    cone: Cone,
    rho: f64,
    r: &[f64; D],
    precise: bool,
) -> [f64; D] {
    let mut out = [0.0; D];
    let solved = match cone {
        Cone::Free => {
            if w[0][0] > 0.0 {
                out[0] = -q[0] / w[0][0];
            }
            w[0][0] > 0.0
        }
        Cone::Ray => {
            if w[0][0] > 0.0 {
                out[0] = (-q[0] / w[0][0]).max(0.0);
            }
            w[0][0] > 0.0
        }
        Cone::Coulomb { mu, tangents: 2 } if D >= 3 => {
            write(coulomb_space(&leading(w), &[q[0], q[1], q[2]], mu), &mut out)
        }
        Cone::Coulomb { mu, tangents: 1 } if D >= 2 => {
            write(coulomb_plane(&leading(w), &[q[0], q[1]], mu), &mut out)
        }
        Cone::Coulomb { .. } => false,
        Cone::Associated { .. }
        | Cone::Rolling { .. }
        | Cone::AssociatedRolling { .. }
        | Cone::Spinning { .. }
        | Cone::AssociatedSpinning { .. } => other(w, q, cone, r, precise, &mut out),
    };
    if solved {
        return out;
    }
    // Projected steps: each is a contraction for W of one contact.
    out = *r;
    for _ in 0..if matches!(cone, Cone::Free | Cone::Ray) { 1 } else { 8 } {
        let mut u = mul(w, &out);
        for c in 0..D {
            u[c] += q[c];
        }
        saxce(cone, &mut u);
        for c in 0..D {
            out[c] -= rho * u[c];
        }
        project(cone, &mut out);
    }
    out
}
