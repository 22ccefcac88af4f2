//! The rows of one contact between two bodies, and numbers that threads share.
//!
//! u = Gᵀ y + b, y ← y + G r: D rows on each of two bodies with B numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::contact::cone::Cone;
use crate::linalg::{Block, CHUNK};

/// Numbers that threads write at the same time, each in places of its own.
pub(super) type Shared<const N: usize> = [AtomicU64; N];

#[inline(always)]
pub(super) fn get<const N: usize>(from: &Shared<N>) -> [f64; N] {
    std::array::from_fn(|k| f64::from_bits(from[k].load(Ordering::Relaxed)))
}

#[inline(always)]
pub(super) fn set<const N: usize>(to: &Shared<N>, value: &[f64; N]) {
    for k in 0..N {
        to[k].store(value[k].to_bits(), Ordering::Relaxed);
    }
}

/// Makes `to` a copy of `values`, in the memory that it has.
pub(super) fn share<const N: usize>(values: &[[f64; N]], to: &mut Vec<Shared<N>>) {
    to.resize_with(values.len(), || [const { AtomicU64::new(0) }; N]);
    to.par_iter().zip(values).with_min_len(CHUNK).for_each(|(to, x)| set(to, x));
}

/// No body: the ground.
pub(super) const NONE: u32 = u32::MAX;

/// A contact with all that a sweep asks of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact<const D: usize, const B: usize> {
    /// The bodies that it touches, [`NONE`] in the place of the ground.
    pub body: [u32; 2],
    /// Gᵀ, restricted to each of them.
    pub g: [[[f64; B]; D]; 2],
    /// Its diagonal block of W.
    pub w: Block<D>,
    /// b.
    pub bias: [f64; D],
    pub cone: Cone,
    /// 1/λ_max(W_ii).
    pub rho: f64,
}

/// y ← y + G r.
#[inline(always)]
pub(super) fn push<const D: usize, const B: usize>(y: &mut [f64; B], g: &[[f64; B]; D], r: &[f64; D]) {
    for a in 0..D {
        for k in 0..B {
            y[k] += g[a][k] * r[a];
        }
    }
}

impl<const D: usize, const B: usize> Contact<D, B> {
    /// u = Gᵀ y + b, with y of each body given.
    #[inline(always)]
    pub fn velocity(&self, y: impl Fn(usize) -> [f64; B]) -> [f64; D] {
        let mut u = self.bias;
        for (g, &b) in self.g.iter().zip(&self.body) {
            if b != NONE {
                let y = y(b as usize);
                for c in 0..D {
                    u[c] += dot(&g[c], &y);
                }
            }
        }
        u
    }
}

#[inline(always)]
pub(super) fn dot<const B: usize>(a: &[f64; B], b: &[f64; B]) -> f64 {
    let mut sum = 0.0;
    for k in 0..B {
        sum += a[k] * b[k];
    }
    sum
}
