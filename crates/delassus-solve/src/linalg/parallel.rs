//! Loops over the constraints of an island, in parallel where there are many.
//!
//! ```text
//! out_i = f(i) ,      Σ_i f(i) = Σ_k (Σ_{i in chunk k} f(i))
//! ```
//!
//! The work is cut into chunks of fixed length, whatever the number of threads, and sums are taken chunk by
//! chunk in order: the bits are the same for any number of threads.
//!
//! The distribution is compiled once for each type of entries and calls the body of a loop once per chunk
//! through a pointer: inlined, the bodies of all loops were a third of the code of this crate, without a gain
//! in speed.

use rayon::prelude::*;

/// Constraints in a chunk.
pub const CHUNK: usize = 128;
/// Fewer constraints than this are not worth waking other threads for.
const MIN_PARALLEL_CONSTRAINTS: usize = 1024;

/// Runs `work` on n constraints as one of the threads that share it, so that each loop does not have to call
/// them from outside.
pub fn inside<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    if n < MIN_PARALLEL_CONSTRAINTS { work() } else { rayon::scope(|_| work()) }
}

/// Whether a loop over n constraints is shared out.
pub(super) fn shared(n: usize) -> bool {
    n >= MIN_PARALLEL_CONSTRAINTS && rayon::current_num_threads() > 1
}

/// f(k, chunk k of out) for all chunks.
fn chunks<T: Send>(out: &mut [T], f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| f(k, chunk));
}

/// f(k, chunk k of x, its part) for all chunks.
fn chunks_with<T: Send, S: Send>(x: &mut [T], parts: &mut [S], f: &(dyn Fn(usize, &mut [T], &mut S) + Sync)) {
    let both = x.par_chunks_mut(CHUNK).zip(parts.par_iter_mut());
    both.enumerate().for_each(|(k, (chunk, part))| f(k, chunk, part));
}

/// out[i] ← f(i) for all i.
pub fn fill<T: Send>(out: &mut [T], f: impl Fn(usize) -> T + Sync) {
    if !shared(out.len()) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = f(i);
        }
        return;
    }
    chunks(out, &|k, chunk| {
        for (i, o) in chunk.iter_mut().enumerate() {
            *o = f(k * CHUNK + i);
        }
    });
}

/// f(i, out[start[i]..start[i + 1]]) for all rows i.
pub(super) fn rows<T: Send>(out: &mut [T], start: &[usize], f: impl Fn(usize, &mut [T]) + Sync) {
    if !shared(start.len() - 1) {
        for i in 0..start.len() - 1 {
            f(i, &mut out[start[i]..start[i + 1]]);
        }
        return;
    }
    halves(out, start, 0, &f);
}

/// The rows of `start`, the first of which is `from`, whose entries are `out`, half of them at a time.
fn halves<T: Send>(out: &mut [T], start: &[usize], from: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let many = start.len() - 1;
    if many <= CHUNK {
        for i in 0..many {
            f(from + i, &mut out[start[i] - start[0]..start[i + 1] - start[0]]);
        }
        return;
    }
    let half = many / 2;
    let (left, right) = out.split_at_mut(start[half] - start[0]);
    rayon::join(|| halves(left, &start[..=half], from, f), || halves(right, &start[half..], from + half, f));
}

/// out[k] ← f(k) for all k, each of them worth a thread.
fn each(out: &mut [f64], f: &(dyn Fn(usize) -> f64 + Sync)) {
    out.par_iter_mut().enumerate().for_each(|(k, x)| *x = f(k));
}

/// Sums of chunks that are on their way at the same time; together they are kept on the stack.
const ON_THE_WAY: usize = 256;

/// Σ f(i) for i < n.
pub fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
    if n < MIN_PARALLEL_CONSTRAINTS {
        return (0..n).map(f).sum();
    }
    let part = |k: usize| (k * CHUNK..n.min((k + 1) * CHUNK)).map(&f).sum::<f64>();
    let many = n.div_ceil(CHUNK);
    if !shared(n) {
        return (0..many).map(part).fold(0.0, |sum, part| sum + part);
    }
    let mut total = 0.0;
    for from in (0..many).step_by(ON_THE_WAY) {
        let mut parts = [0.0; ON_THE_WAY];
        let parts = &mut parts[..ON_THE_WAY.min(many - from)];
        each(parts, &|k| part(from + k));
        total = parts.iter().fold(total, |sum, part| sum + part);
    }
    total
}

/// K sums over all i, to which f adds its part for i; f may change xᵢ.
pub fn each_with_sums<T: Send, const K: usize>(
    x: &mut [T],
    f: impl Fn(usize, &mut T, &mut [f64; K]) + Sync,
) -> [f64; K] {
    let chunk = |k: usize, chunk: &mut [T], sums: &mut [f64; K]| {
        for (i, x) in chunk.iter_mut().enumerate() {
            f(k * CHUNK + i, x, sums);
        }
    };
    let mut total = [0.0; K];
    let mut add = |part: &[f64; K]| total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    if shared(x.len()) {
        for (round, x) in x.chunks_mut(ON_THE_WAY * CHUNK).enumerate() {
            let mut parts = [[0.0; K]; ON_THE_WAY];
            let parts = &mut parts[..x.len().div_ceil(CHUNK)];
            chunks_with(x, parts, &|k, x, part| chunk(round * ON_THE_WAY + k, x, part));
            parts.iter().for_each(&mut add);
        }
    } else {
        for (k, x) in x.chunks_mut(CHUNK).enumerate() {
            let mut part = [0.0; K];
            chunk(k, x, &mut part);
            add(&part);
        }
    }
    total
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
