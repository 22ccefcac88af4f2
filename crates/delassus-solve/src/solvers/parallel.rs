//! Loops over the constraints of an island, shared out over the cores where there are many.
//!
//! The work is cut into pieces of fixed length, whatever the number of threads, and sums are taken piece by piece in order: the
//! same bits for any number of threads.

use rayon::prelude::*;

/// Constraints in a piece.
pub(super) const PIECE: usize = 128;
/// Fewer constraints than this are not worth waking other threads for.
const MANY: usize = 1024;

/// Runs `work` on n constraints as one of the threads that share it, so that each loop does not have to call them from
/// outside.
pub(crate) fn inside<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    if n < MANY { work() } else { rayon::scope(|_| work()) }
}

/// Whether a loop over n constraints is shared out.
pub(crate) fn shared(n: usize) -> bool {
    n >= MANY && rayon::current_num_threads() > 1
}

/// out[i] ← f(i) for all i.
pub(crate) fn fill<T: Send>(out: &mut [T], f: impl Fn(usize) -> T + Sync) {
    if !shared(out.len()) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = f(i);
        }
        return;
    }
    out.par_chunks_mut(PIECE).enumerate().for_each(|(k, piece)| {
        for (i, o) in piece.iter_mut().enumerate() {
            *o = f(k * PIECE + i);
        }
    });
}

/// f(i, out[start[i]..start[i + 1]]) for all rows i.
pub(crate) fn rows<T: Send>(out: &mut [T], start: &[usize], f: impl Fn(usize, &mut [T]) + Sync) {
    if !shared(start.len() - 1) {
        for i in 0..start.len() - 1 {
            f(i, &mut out[start[i]..start[i + 1]]);
        }
        return;
    }
    let mut left = out;
    let mut all = Vec::with_capacity(start.len() - 1);
    for ends in start.windows(2) {
        let (row, rest) = left.split_at_mut(ends[1] - ends[0]);
        all.push(row);
        left = rest;
    }
    all.par_chunks_mut(PIECE).enumerate().for_each(|(k, piece)| {
        for (i, row) in piece.iter_mut().enumerate() {
            f(k * PIECE + i, row);
        }
    });
}

/// Σ f(i) for i < n.
pub(crate) fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
    if n < MANY {
        return (0..n).map(f).sum();
    }
    let part = |k: usize| (k * PIECE..n.min((k + 1) * PIECE)).map(&f).sum::<f64>();
    let parts: Vec<f64> = (0..n.div_ceil(PIECE)).into_par_iter().map(part).collect();
    parts.iter().sum()
}

/// K sums over all i, to which f adds its part for i; f may change xᵢ.
pub(crate) fn each_with_sums<T: Send, const K: usize>(
    x: &mut [T],
    f: impl Fn(usize, &mut T, &mut [f64; K]) + Sync,
) -> [f64; K] {
    let piece = |(k, piece): (usize, &mut [T])| {
        let mut sums = [0.0; K];
        for (i, x) in piece.iter_mut().enumerate() {
            f(k * PIECE + i, x, &mut sums);
        }
        sums
    };
    let parts: Vec<[f64; K]> = if shared(x.len()) {
        x.par_chunks_mut(PIECE).enumerate().map(piece).collect()
    } else {
        x.chunks_mut(PIECE).enumerate().map(piece).collect()
    };
    std::array::from_fn(|k| parts.iter().map(|p| p[k]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let n = 20_000;
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut x = vec![0.0; n];
                fill(&mut x, |i| 1.0 / (i as f64 + 0.3));
                (sum(n, |i| x[i]).to_bits(), x)
            })
        };
        let one = run(1);
        assert_eq!(one.1[7], 1.0 / 7.3);
        assert_eq!(run(3), one);
        assert_eq!(run(8), one);
    }
}
