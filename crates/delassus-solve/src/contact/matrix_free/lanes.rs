//! Contacts of balls, four side by side.
//!
//! Contacts of one color share no body: four of them are solved by the same operations on four numbers each,
//! for which processors have instructions. A contact by itself is solved by two divisions, the normal impulse
//! that stops the approach and the friction that stops the slip, cut off at μ r_n,
//!
//! r_n ← (z_n − ω u_n/W_nn)⁺ ,   r_t ← P(z_t − ω u_t/W_tt) ,   ‖r_t‖ ≤ μ r_n ,   z = x + β (x − last) ,
//!
//! where x is what the sweep before found. Momentum is taken on the way, so that impulses are read once a
//! sweep; velocities have theirs already. While slips σ = μ ‖u_t‖ are held, the contact solves the convex
//! problem that they leave: r is the point of the cone that is nearest to z − W⁻¹ (u + σ n) by the length of
//! W.
//!
//! Which instructions there are is found out where the program runs. None of them rounds in another way: the
//! bits are the same on all machines.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::contact_rows::{NONE, Shared, get, set};
use crate::linalg;
use crate::linalg::CHUNK;

/// Contacts side by side.
pub(super) const LANES: usize = 4;
/// A number of each of them.
type Four = [f64; LANES];
/// Impulses: normal and tangents.
type Impulses = [Four; 3];
/// Velocities of the bodies on one side.
type Velocities = [Four; 6];

// Written out, and loops in the place of `map` below: what is not inlined is not compiled for the
// instructions that there are.
#[inline(always)]
fn each(f: impl Fn(usize) -> f64) -> Four {
    [f(0), f(1), f(2), f(3)]
}

#[inline(always)]
fn three(f: impl Fn(usize) -> Four) -> [Four; 3] {
    [f(0), f(1), f(2)]
}

#[inline(always)]
fn cross(a: &[Four; 3], b: &[Four; 3]) -> [Four; 3] {
    [
        each(|l| a[1][l] * b[2][l] - a[2][l] * b[1][l]),
        each(|l| a[2][l] * b[0][l] - a[0][l] * b[2][l]),
        each(|l| a[0][l] * b[1][l] - a[1][l] * b[0][l]),
    ]
}

/// A contact of a ball with another or with the ground.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ball {
    pub body: [u32; 2],
    /// Normal and tangents.
    pub axes: [[f64; 3]; 3],
    /// α and β of each side.
    pub lever: [[f64; 2]; 2],
    pub bias: [f64; 3],
    /// 1/W_nn and 1/W_tt.
    pub inverse: [f64; 2],
    pub mu: f64,
    pub rho: f64,
}

/// Four contacts of one color; lanes without a contact touch the ground only.
#[derive(Clone, Debug)]
pub(super) struct Quad {
    body: [[u32; LANES]; 2],
    axes: [[Four; 3]; 3],
    lever: [[Four; 2]; 2],
    bias: [Four; 3],
    inverse: [Four; 2],
    mu: Four,
    rho: Four,
}

/// How a sweep goes on from the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepWeights {
    /// β.
    pub momentum: f64,
    /// ω.
    pub relaxation: f64,
}

impl Quad {
    /// Up to four contacts. `ground` is the place of a body that does not move.
    pub fn of(balls: &[Ball], ground: u32) -> Quad {
        let ball = |l: usize| balls.get(l);
        let number = |of: &dyn Fn(&Ball) -> f64| each(|l| ball(l).map_or(0.0, of));
        let place = |b: u32| if b == NONE { ground } else { b };
        Quad {
            body: std::array::from_fn(|s| {
                std::array::from_fn(|l| ball(l).map_or(ground, |ball| place(ball.body[s])))
            }),
            axes: std::array::from_fn(|i| std::array::from_fn(|c| number(&|ball| ball.axes[i][c]))),
            lever: std::array::from_fn(|s| std::array::from_fn(|i| number(&|ball| ball.lever[s][i]))),
            bias: std::array::from_fn(|i| number(&|ball| ball.bias[i])),
            inverse: std::array::from_fn(|i| number(&|ball| ball.inverse[i])),
            mu: number(&|ball| ball.mu),
            rho: number(&|ball| ball.rho),
        }
    }

    /// Velocities of the bodies.
    #[inline(always)]
    fn gather(&self, mut read: impl FnMut(usize) -> [f64; 6]) -> [Velocities; 2] {
        let mut y = [[[0.0; LANES]; 6]; 2];
        for (bodies, y) in self.body.iter().zip(&mut y) {
            for (l, &b) in bodies.iter().enumerate() {
                let numbers = read(b as usize);
                for k in 0..6 {
                    y[k][l] = numbers[k];
                }
            }
        }
        y
    }

    #[inline(always)]
    fn scatter(&self, y: &[Velocities; 2], mut write: impl FnMut(usize, [f64; 6])) {
        for (bodies, y) in self.body.iter().zip(y) {
            for (l, &b) in bodies.iter().enumerate() {
                write(b as usize, [y[0][l], y[1][l], y[2][l], y[3][l], y[4][l], y[5][l]]);
            }
        }
    }

    /// u = Gᵀ y + b.
    #[inline(always)]
    fn velocity(&self, [a, b]: &[Velocities; 2]) -> [Four; 3] {
        let [[alpha, beta], [other_alpha, other_beta]] = &self.lever;
        let turning = three(|k| each(|l| beta[l] * a[3 + k][l] + other_beta[l] * b[3 + k][l]));
        let arm = cross(&turning, &self.axes[0]);
        let slip = three(|k| each(|l| alpha[l] * a[k][l] + other_alpha[l] * b[k][l] - arm[k][l]));
        three(|i| {
            let d = &self.axes[i];
            each(|l| self.bias[i][l] + (d[0][l] * slip[0][l] + d[1][l] * slip[1][l] + d[2][l] * slip[2][l]))
        })
    }

    /// Solves the contacts while all others are held, from x on along the line from `last`. What becomes of
    /// the velocities, and the square of the distance from x.
    #[inline(always)]
    fn relax(
        &self,
        r: &mut Impulses,
        last: &mut Impulses,
        SweepWeights { momentum, relaxation }: SweepWeights,
        held: Option<&Four>,
        y: &[Velocities; 2],
    ) -> ([Velocities; 2], f64) {
        let x = *r;
        let z = three(|i| each(|l| x[i][l] + momentum * (x[i][l] - last[i][l])));
        *last = x;
        // y has the momentum of all impulses already.
        let u = self.velocity(y);
        let over = |i: usize| {
            let inverse = &self.inverse[i.min(1)];
            each(|l| z[i][l] - relaxation * u[i][l] * inverse[l])
        };
        let free = [over(0), over(1), over(2)];
        let new = match held {
            None => self.cut_off(&free),
            Some(slip) => self.nearest(&free, slip),
        };
        *r = new;
        let moved = three(|i| each(|l| new[i][l] - x[i][l]));
        let squares =
            each(|l| moved[0][l] * moved[0][l] + moved[1][l] * moved[1][l] + moved[2][l] * moved[2][l]);
        let change = three(|i| each(|l| new[i][l] - z[i][l]));
        (self.pushed(y, &change), squares.iter().sum())
    }

    /// Friction cut off at μ times the normal impulse.
    #[inline(always)]
    fn cut_off(&self, [normal, first, second]: &Impulses) -> Impulses {
        let square = each(|l| first[l] * first[l] + second[l] * second[l]);
        let limit = each(|l| self.mu[l] * normal[l]);
        let cut = each(|l| limit[l] / square[l].sqrt());
        let shrink = each(|l| if square[l] > limit[l] * limit[l] { cut[l] } else { 1.0 });
        let closed = |value: Four| each(|l| if normal[l] > 0.0 { value[l] } else { 0.0 });
        [closed(*normal), closed(each(|l| shrink[l] * first[l])), closed(each(|l| shrink[l] * second[l]))]
    }

    /// The nearest point of the cone by the length of W, once the slip held has pushed.
    #[inline(always)]
    fn nearest(&self, [pushed, first, second]: &Impulses, slip: &Four) -> Impulses {
        let ([inverse_n, inverse_t], mu) = (&self.inverse, &self.mu);
        let normal = each(|l| pushed[l] - slip[l] * inverse_n[l]);
        let t = each(|l| (first[l] * first[l] + second[l] * second[l]).sqrt());
        let towards = each(|l| normal[l] * inverse_t[l] + mu[l] * t[l] * inverse_n[l]);
        let edge = each(|l| towards[l] / (inverse_t[l] + mu[l] * mu[l] * inverse_n[l]));
        let cut = each(|l| mu[l] * edge[l] / t[l]);
        let of = |inside: f64, on_edge: f64, l: usize| match () {
            _ if t[l] <= mu[l] * normal[l] => inside,
            _ if towards[l] <= 0.0 => 0.0,
            _ => on_edge,
        };
        [
            each(|l| of(normal[l], edge[l], l)),
            each(|l| of(first[l], cut[l] * first[l], l)),
            each(|l| of(second[l], cut[l] * second[l], l)),
        ]
    }

    /// μ ‖u_t‖.
    #[inline(always)]
    fn slip(&self, y: &[Velocities; 2]) -> Four {
        let u = self.velocity(y);
        each(|l| self.mu[l] * (u[1][l] * u[1][l] + u[2][l] * u[2][l]).sqrt())
    }

    /// y + G r.
    #[inline(always)]
    fn pushed(&self, y: &[Velocities; 2], r: &Impulses) -> [Velocities; 2] {
        let d = &self.axes;
        let p = three(|c| each(|l| d[0][c][l] * r[0][l] + d[1][c][l] * r[1][l] + d[2][c][l] * r[2][l]));
        let moment = cross(&d[0], &p);
        let mut moved = *y;
        for (moved, [alpha, beta]) in moved.iter_mut().zip(&self.lever) {
            for k in 0..3 {
                for l in 0..LANES {
                    moved[k][l] += alpha[l] * p[k][l];
                    moved[3 + k][l] -= beta[l] * moment[k][l];
                }
            }
        }
        moved
    }

    /// The sum of the squares of what the residual measures, r − P_K(r − ρ (u + μ ‖u_t‖ n)).
    #[inline(always)]
    fn error_square(&self, r: &Impulses, y: &[Velocities; 2]) -> f64 {
        let (u, mu, rho) = (self.velocity(y), &self.mu, &self.rho);
        let slip = each(|l| (u[1][l] * u[1][l] + u[2][l] * u[2][l]).sqrt());
        let z: Impulses = [
            each(|l| r[0][l] - rho[l] * (u[0][l] + mu[l] * slip[l])),
            each(|l| r[1][l] - rho[l] * u[1][l]),
            each(|l| r[2][l] - rho[l] * u[2][l]),
        ];
        let t = each(|l| (z[1][l] * z[1][l] + z[2][l] * z[2][l]).sqrt());
        let normal = each(|l| (z[0][l] + mu[l] * t[l]) / (1.0 + mu[l] * mu[l]));
        let cut = each(|l| mu[l] * normal[l] / t[l]);
        let projected = |inside: f64, edge: f64, l: usize| match () {
            _ if t[l] <= mu[l] * z[0][l] => inside,
            _ if mu[l] * t[l] <= -z[0][l] => 0.0,
            _ => edge,
        };
        let error: Impulses = [
            each(|l| r[0][l] - projected(z[0][l], normal[l], l)),
            each(|l| r[1][l] - projected(z[1][l], cut[l] * z[1][l], l)),
            each(|l| r[2][l] - projected(z[2][l], cut[l] * z[2][l], l)),
        ];
        let squares =
            each(|l| error[0][l] * error[0][l] + error[1][l] * error[1][l] + error[2][l] * error[2][l]);
        squares.iter().sum()
    }
}

/// All contacts of a system in quads, color by color.
#[derive(Debug, Default)]
pub(super) struct Quads {
    list: Vec<Quad>,
    /// Where the quads of each color begin, and their number as a last entry.
    colors: Vec<usize>,
    /// The contact in the first lane of each quad, and their number as a last entry.
    first: Vec<usize>,
}

impl Quads {
    pub fn clear(&mut self) {
        self.list.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Packs contacts whose colors begin at `colors`; those of the last color may share bodies where `rest`
    /// is set, and stand alone then.
    pub fn pack(&mut self, balls: &[Ball], colors: &[usize], rest: bool, bodies: usize) {
        self.list.clear();
        self.first.clear();
        self.colors.clear();
        for (c, range) in colors.windows(2).enumerate() {
            self.colors.push(self.list.len());
            let wide = if rest && c + 2 == colors.len() { 1 } else { LANES };
            for from in (range[0]..range[1]).step_by(wide) {
                self.list.push(Quad::of(&balls[from..range[1].min(from + wide)], bodies as u32));
                self.first.push(from);
            }
        }
        self.colors.push(self.list.len());
        self.first.push(balls.len());
    }

    /// Bytes of memory that a contact takes here, as good as.
    #[cfg(test)]
    pub fn bytes_per_contact() -> usize {
        (size_of::<Quad>()
            + 2 * size_of::<Impulses>()
            + size_of::<Four>()
            + size_of::<f64>()
            + size_of::<usize>())
            / LANES
    }

    /// The contacts of quad k.
    fn contacts(&self, k: usize) -> std::ops::Range<usize> {
        self.first[k]..self.first[k + 1]
    }
}

/// Impulses of all quads, kept from one sweep to the next.
#[derive(Debug, Default)]
pub(super) struct LaneImpulses {
    r: Vec<Impulses>,
    /// Those before the last sweep.
    last: Vec<Impulses>,
    /// The squares of the distances between both.
    squares: Vec<f64>,
    /// μ ‖u_t‖ as they are held; none where they are those of each sweep.
    slips: Vec<Four>,
    /// What the next sweep takes along.
    pub momentum: f64,
}

impl LaneImpulses {
    /// Takes over impulses in the order of the contacts, as if nothing had been swept.
    pub fn load<const D: usize>(&mut self, quads: &Quads, mut from: impl FnMut(usize) -> [f64; D]) {
        self.r.clear();
        for k in 0..quads.list.len() {
            let mut r = Impulses::default();
            for (lane, contact) in quads.contacts(k).enumerate() {
                let numbers = from(contact);
                (0..3.min(D)).for_each(|i| r[i][lane] = numbers[i]);
            }
            self.r.push(r);
        }
        self.last.clone_from(&self.r);
        self.squares.clear();
        self.squares.resize(self.r.len(), 0.0);
        self.momentum = 0.0;
    }

    /// Holds the slips of these velocities.
    pub fn hold_slips<const B: usize>(&mut self, quads: &Quads, y: &[Shared<B>]) {
        let slip = |k: usize| quads.list[k].slip(&quads.list[k].gather(|b| six(&get(&y[b]))));
        self.slips.resize(quads.list.len(), Four::default());
        linalg::fill(&mut self.slips, slip);
    }

    /// Slips are those of each sweep again.
    pub fn release_slips(&mut self) {
        self.slips.clear();
    }

    /// Hands out impulses: of each contact the one now and the one before the last sweep.
    pub fn store<const D: usize>(&self, quads: &Quads, mut to: impl FnMut(usize, [f64; D], [f64; D])) {
        for (k, (r, last)) in self.r.iter().zip(&self.last).enumerate() {
            for (lane, contact) in quads.contacts(k).enumerate() {
                let of = |r: &Impulses| std::array::from_fn(|i| if i < 3 { r[i][lane] } else { 0.0 });
                to(contact, of(r), of(last));
            }
        }
    }

    /// The distance of the last sweep.
    pub fn distance(&self) -> f64 {
        linalg::sum(self.squares.len(), |k| self.squares[k]).sqrt()
    }

    /// What is left of the laws.
    pub fn error<const B: usize>(&self, quads: &Quads, y: &[Shared<B>]) -> f64 {
        let (arch, size) = (pulp::Arch::new(), CHUNK / LANES);
        let square = |chunk: usize| {
            let range = chunk * size..self.r.len().min((chunk + 1) * size);
            arch.dispatch(ErrorSum { quads: &quads.list[range.clone()], r: &self.r[range], y })
        };
        linalg::sum(self.r.len().div_ceil(size), square).sqrt()
    }

    /// One sweep over all colors. `alone` says of a color with so many contacts whether one thread sweeps it.
    pub fn sweep<const B: usize>(
        &mut self,
        quads: &Quads,
        relaxation: f64,
        y: &mut [Shared<B>],
        alone: impl Fn(usize, usize) -> bool,
    ) {
        let weights = SweepWeights { momentum: self.momentum, relaxation };
        let arch = pulp::Arch::new();
        for (color, range) in quads.colors.windows(2).enumerate() {
            let range = range[0]..range[1];
            let (list, r) = (&quads.list[range.clone()], &mut self.r[range.clone()]);
            let (last, squares) = (&mut self.last[range.clone()], &mut self.squares[range.clone()]);
            let slips = self.slips.get(range.clone());
            let contacts = quads.first[range.end] - quads.first[range.start];
            if alone(color, contacts) {
                arch.dispatch(AloneSweep { quads: list, r, last, squares, slips, weights, y });
                continue;
            }
            let (size, y) = (CHUNK / LANES, &*y);
            let impulses = r.par_chunks_mut(size).zip(last.par_chunks_mut(size));
            let chunks = list.par_chunks(size).zip(impulses).zip(squares.par_chunks_mut(size));
            chunks.enumerate().for_each(|(chunk, ((quads, (r, last)), squares))| {
                let slips = slips.map(|slips| &slips[chunk * size..chunk * size + quads.len()]);
                arch.dispatch(SharedSweep { quads, r, last, squares, slips, weights, y });
            });
        }
        self.momentum = 0.0;
    }
}

/// The squares of what is left of the laws of some contacts, added up.
struct ErrorSum<'a, const B: usize> {
    quads: &'a [Quad],
    r: &'a [Impulses],
    y: &'a [Shared<B>],
}

impl<const B: usize> WithSimd for ErrorSum<'_, B> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sum = 0.0;
        for (quad, r) in self.quads.iter().zip(self.r) {
            sum += quad.error_square(r, &quad.gather(|b| six(&get(&self.y[b]))));
        }
        sum
    }
}

/// Contacts of one color, swept by one thread.
struct AloneSweep<'a, const B: usize> {
    quads: &'a [Quad],
    r: &'a mut [Impulses],
    last: &'a mut [Impulses],
    squares: &'a mut [f64],
    slips: Option<&'a [Four]>,
    weights: SweepWeights,
    y: &'a mut [Shared<B>],
}

impl<const B: usize> WithSimd for AloneSweep<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let AloneSweep { quads, r, last, squares, slips, weights, y } = self;
        for (k, (((quad, r), last), moved)) in quads.iter().zip(r).zip(last).zip(squares).enumerate() {
            let before = quad.gather(|b| six(&get_alone(&mut y[b])));
            let (after, square) = quad.relax(r, last, weights, slips.map(|slips| &slips[k]), &before);
            quad.scatter(&after, |b, numbers| set_alone(&mut y[b], &some(&numbers)));
            *moved = square;
        }
    }
}

/// Some contacts of one color, swept while other threads sweep others.
struct SharedSweep<'a, const B: usize> {
    quads: &'a [Quad],
    r: &'a mut [Impulses],
    last: &'a mut [Impulses],
    squares: &'a mut [f64],
    slips: Option<&'a [Four]>,
    weights: SweepWeights,
    y: &'a [Shared<B>],
}

impl<const B: usize> WithSimd for SharedSweep<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let SharedSweep { quads, r, last, squares, slips, weights, y } = self;
        let ground = y.len() - 1;
        for (k, (((quad, r), last), moved)) in quads.iter().zip(r).zip(last).zip(squares).enumerate() {
            let before = quad.gather(|b| six(&get(&y[b])));
            let (after, square) = quad.relax(r, last, weights, slips.map(|slips| &slips[k]), &before);
            quad.scatter(&after, |b, numbers| {
                // It stays at rest, and threads need not wait for each other there.
                if b != ground {
                    set(&y[b], &some(&numbers));
                }
            });
            *moved = square;
        }
    }
}

/// Numbers that no other thread uses now.
#[inline(always)]
pub(super) fn get_alone<const N: usize>(from: &mut Shared<N>) -> [f64; N] {
    let mut numbers = [0.0; N];
    for (number, x) in numbers.iter_mut().zip(from) {
        *number = f64::from_bits(*x.get_mut());
    }
    numbers
}

#[inline(always)]
pub(super) fn set_alone<const N: usize>(to: &mut Shared<N>, value: &[f64; N]) {
    to.iter_mut().zip(value).for_each(|(to, x)| *to.get_mut() = x.to_bits());
}

/// Six of N numbers, as they are where N = 6.
#[inline(always)]
fn six<const N: usize>(all: &[f64; N]) -> [f64; 6] {
    let mut six = [0.0; 6];
    for (to, x) in six.iter_mut().zip(all) {
        *to = *x;
    }
    six
}

#[inline(always)]
fn some<const N: usize>(six: &[f64; 6]) -> [f64; N] {
    let mut some = [0.0; N];
    for (to, x) in some.iter_mut().zip(six) {
        *to = *x;
    }
    some
}

#[cfg(test)]
mod tests;
