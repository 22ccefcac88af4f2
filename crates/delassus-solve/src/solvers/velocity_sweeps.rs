//! Sweeps in the space of velocities, for problems with very many contacts: W is never formed.
//!
//! In the form of [`super::velocity_system`], y = L⁻¹ f + G r and u = Gᵀ y + b, a contact that is solved while the others are
//! held needs only the velocities y of its bodies, and changes only them: time and memory grow with the number of
//! contacts, however many of them share a body. Contacts of one colour share no body and are solved at the same time.
//!
//! Sweeps alone would carry a load through a pile one contact at a time. Two things help: now and then all loads are
//! handed down to the ground at once ([`super::velocity_loads`]), and Anderson's method chooses, among the combinations of the
//! last points, the one whose changes by a sweep nearly cancel. y follows a combination of impulses by the same
//! combination of velocities, and is computed anew before anything is claimed.
//!
//! What no combination cancels is the same in every sweep: bodies wedged between contacts that cannot all stick, whose
//! impulses grow by a little each time until one of them slides. They are taken there in one jump, along the change that is
//! left over, to the edge of the first cone.

use std::mem::take;

use rayon::prelude::*;

use super::cone::{Cone, natural};
use super::first_order::combination;
use super::parallel::{self, PIECE};
use super::sweeps::one;
use super::velocity_loads::Loads;
use super::velocity_system::{Contact, NONE, Shared, System, dot, get, push, set, share};
use crate::blocks::mul;

/// Differences that Anderson's method remembers.
const MEMORY: usize = 12;
/// Products of the newest difference with all, of the change with all, and of the change with itself.
const SUMS: usize = 2 * MEMORY + 1;
/// Sweeps between two passes of the loads.
const CYCLE: usize = 8;
/// Sweeps without much of a gain after which to jump, and what much of a gain is.
const PATIENCE: usize = 20;
const GAIN: f64 = 0.7;
/// Sweeps after which to ask whether, at the pace of these, all that are allowed would be enough.
const ROUND: usize = 400;
/// The part of a change that no combination cancels, from which on it is taken for one that stays; less is asked each time in
/// vain.
const STAYS: f64 = 0.97;
const ASKED: f64 = 0.85;
/// Jumps in a row that may go without a gain.
const JUMPS: usize = 4;
/// A jump looks at contacts that change by at least this part of the most.
const TAKES_PART: f64 = 0.1;
/// Fewer contacts than this are not worth waking other threads for.
const MANY: usize = 1024;

/// What is remembered of a contact. Differences shrink with the error, and single precision is enough for them.
#[derive(Clone, Copy)]
struct Impulses<const D: usize> {
    /// 1/ρ: in this scalar product a step of length ρ is a unit.
    weight: f64,
    swept: [f64; D],
    change: [f64; D],
    /// Differences of swept points and of changes, the oldest overwritten first.
    points: [[f32; MEMORY]; D],
    changes: [[f32; MEMORY]; D],
}

/// What is remembered of a body.
#[derive(Clone, Copy)]
struct Velocities<const B: usize> {
    swept: [f64; B],
    points: [[f64; B]; MEMORY],
}

/// Bytes of memory that a run holds, from the lengths: three impulses and the memory of each contact, two velocities and that of
/// each body.
#[cfg(test)]
pub(super) fn bytes<const D: usize, const B: usize>(system: &System<D, B>) -> usize {
    let contact = size_of::<Shared<D>>() + 2 * size_of::<[f64; D]>() + size_of::<Impulses<D>>();
    let body = size_of::<Shared<B>>() + size_of::<Velocities<B>>() + size_of::<u32>() * 2;
    system.contacts.len() * contact + system.free.len() * body
}

/// Room for a run, kept from one to the next.
#[derive(Default)]
pub(super) struct Room<const D: usize, const B: usize> {
    /// Where a run begins, and its best point in the end, in the order of the contacts.
    pub kept: Vec<[f64; D]>,
    loads: Loads,
    r: Vec<Shared<D>>,
    y: Vec<Shared<B>>,
    change: Vec<[f64; D]>,
    impulses: Vec<Impulses<D>>,
    velocities: Vec<Velocities<B>>,
}

/// The state of a run.
struct Run<'a, const D: usize, const B: usize> {
    system: &'a System<D, B>,
    r: Vec<Shared<D>>,
    y: Vec<Shared<B>>,
    /// What the last sweep changed.
    change: Vec<[f64; D]>,
    impulses: Vec<Impulses<D>>,
    velocities: Vec<Velocities<B>>,
    /// Products of the differences of changes with each other and with the last change.
    products: [[f64; MEMORY]; MEMORY],
    right: [f64; MEMORY],
    /// Differences in use, the place of the next one, and the size of the last change, infinite where there is none.
    used: usize,
    next: usize,
    size: f64,
}

/// Solves a system from the impulses `room.kept`, or from loads handed down where all of them are zero; leaves the best point
/// there, and returns its error over ‖ρ q‖ and the number of sweeps.
pub(super) fn solve<const D: usize, const B: usize>(
    system: &System<D, B>,
    tolerance: f64,
    most: usize,
    room: &mut Room<D, B>,
) -> (f64, usize) {
    parallel::inside(system.contacts.len(), || run(system, tolerance, most, room))
}

fn run<const D: usize, const B: usize>(
    system: &System<D, B>,
    tolerance: f64,
    most: usize,
    room: &mut Room<D, B>,
) -> (f64, usize) {
    let target = 0.7 * tolerance * system.scale;
    let Room { kept, loads, r, y, change, impulses, velocities } = room;
    // Impulses of an earlier step have their loads already.
    let known = kept.iter().flatten().any(|x| *x != 0.0);
    let mut loads = if !known && loads.renew(system) { Some(&*loads) } else { None };
    share(kept, r);
    share(&system.free, y);
    change.resize(kept.len(), [0.0; D]);
    system.contacts.par_iter().with_min_len(PIECE).map(Impulses::new).collect_into_vec(impulses);
    velocities.resize(system.free.len(), Velocities { swept: [0.0; B], points: [[0.0; B]; MEMORY] });
    let mut run = Run {
        system,
        r: take(r),
        y: take(y),
        change: take(change),
        impulses: take(impulses),
        velocities: take(velocities),
        products: [[0.0; MEMORY]; MEMORY],
        right: [0.0; MEMORY],
        used: 0,
        next: 0,
        size: f64::INFINITY,
    };
    run.renew();
    let mut best = run.error();
    if let Some(loads) = loads {
        loads.hand_down(system, &run.r, &run.y, false);
    }
    let (mut count, mut since) = (0, 0);
    let (mut look, mut ratio) = (CYCLE / 2, f64::INFINITY);
    // The error, and when: of the last gain, and of the begin of the round.
    let (mut gained, mut round) = ((best, 0), (best, 0));
    let (mut stays, mut jumps, mut before_jump) = (STAYS, 0, f64::INFINITY);
    while count < most && best > target {
        count += 1;
        since += 1;
        run.sweep();
        let now = run.combine();
        // A look costs half a sweep: when the change, which goes with the error, promises success, or after a while.
        if now * ratio > target && count < look && count < most {
            run.extrapolate();
            continue;
        }
        look = count + if loads.is_some() { CYCLE } else { (4 + count / 4).min(CYCLE) };
        let mut error = run.error();
        ratio = error / now.max(f64::MIN_POSITIVE);
        if error <= target {
            run.renew();
            error = run.error();
        }
        if error.is_nan() {
            break;
        }
        let before = best;
        if error < best {
            best = error;
            parallel::fill(kept, |k| get(&run.r[k]));
        }
        if error < GAIN * gained.0 {
            gained = (error, count);
            stays = STAYS;
        }
        if count >= round.1 + ROUND {
            let pace = (round.0 / best).ln() / ROUND as f64;
            if (best / target).ln() > pace * (most - count) as f64 {
                break;
            }
            round = (best, count);
        }
        match loads {
            _ if count >= gained.1 + PATIENCE => {
                loads = None;
                if best < before_jump {
                    (before_jump, jumps) = (best, 0);
                }
                if jumps < JUMPS {
                    jumps += 1;
                    run.jump(stays);
                    run.renew();
                    stays *= ASKED;
                    gained = (error, count);
                } else {
                    // They led astray: back, and on without them.
                    jumps = 0;
                    run.restart(kept);
                    gained = (best, count);
                }
            }
            // Where a pass and its sweeps did not help, bodies do not come to rest by what is below them.
            Some(_) if since >= CYCLE && error > 0.9 * before => {
                loads = None;
                run.restart(kept);
            }
            Some(loads) if since >= CYCLE && error > target => {
                loads.hand_down(system, &run.r, &run.y, true);
                // The memory stays; only the step across the pass is no difference.
                run.size = f64::INFINITY;
                since = 0;
            }
            _ => run.extrapolate(),
        }
    }
    if best > target {
        // What is told of the best point is not that of velocities which followed it through many sweeps.
        run.restart(kept);
        best = run.error();
    }
    (*r, *y, *change) = (run.r, run.y, run.change);
    (*impulses, *velocities) = (run.impulses, run.velocities);
    (best / system.scale, count)
}

impl<const D: usize> Impulses<D> {
    /// Nothing to remember.
    fn new<const B: usize>(contact: &Contact<D, B>) -> Self {
        Impulses {
            weight: 1.0 / contact.rho,
            swept: [0.0; D],
            change: [0.0; D],
            points: [[0.0; MEMORY]; D],
            changes: [[0.0; MEMORY]; D],
        }
    }
}

impl<const D: usize, const B: usize> Run<'_, D, B> {
    /// Back to r, without a past.
    fn restart(&mut self, r: &[[f64; D]]) {
        self.r.par_iter().zip(r).with_min_len(PIECE).for_each(|(to, r)| set(to, r));
        self.renew();
        self.forget();
    }

    fn forget(&mut self) {
        (self.used, self.next, self.size) = (0, 0, f64::INFINITY);
    }

    /// y of r, anew.
    fn renew(&self) {
        let one = |(b, y): (usize, &Shared<B>)| set(y, &self.system.moved(b, &self.r));
        self.y.par_iter().enumerate().with_min_len(PIECE).for_each(one);
    }

    fn error(&self) -> f64 {
        let square = |k: usize| {
            let c: &Contact<D, B> = &self.system.contacts[k];
            let u = c.velocity(|b| get(&self.y[b]));
            natural(c.cone, c.rho, &get(&self.r[k]), &u).iter().map(|x| x * x).sum::<f64>()
        };
        parallel::sum(self.r.len(), square).sqrt()
    }

    /// One sweep over all colours.
    fn sweep(&mut self) {
        let many = self.system.colours.len() - 1;
        for k in 0..many {
            let range = self.system.colours[k]..self.system.colours[k + 1];
            let (y, r, change) = (&self.y, &self.r[range.clone()], &mut self.change[range.clone()]);
            let contacts = &self.system.contacts[range];
            let piece = |c: &[Contact<D, B>], r: &[Shared<D>], change: &mut [[f64; D]]| {
                for ((c, r), change) in c.iter().zip(r).zip(change) {
                    *change = relax(c, r, y);
                }
            };
            if contacts.len() < MANY || (self.system.rest && k + 1 == many) {
                piece(contacts, r, change);
            } else {
                let pieces = contacts.par_chunks(PIECE).zip(r.par_chunks(PIECE));
                pieces.zip(change.par_chunks_mut(PIECE)).for_each(|((c, r), change)| piece(c, r, change));
            }
        }
    }

    /// Takes the last sweep into memory; returns the size of its change.
    fn combine(&mut self) -> f64 {
        let (used, s) = (MEMORY.min(self.used.max(self.next + 1)), self.next);
        let difference = self.size.is_finite();
        let (change, r) = (&self.change, &self.r);
        let sums = parallel::each_with_sums(&mut self.impulses, |k, past, sums: &mut [f64; SUMS]| {
            let (r, change, weight) = (get(&r[k]), change[k], past.weight);
            for a in 0..D {
                let mut differences = past.changes[a];
                if difference {
                    differences[s] = (change[a] - past.change[a]) as f32;
                    past.points[a][s] = (r[a] - past.swept[a]) as f32;
                }
                let (newest, now) = (weight * f64::from(differences[s]), weight * change[a]);
                // Places that are not in use are summed up and not looked at.
                for m in 0..MEMORY {
                    let difference = f64::from(differences[m]);
                    sums[m] += newest * difference;
                    sums[MEMORY + m] += now * difference;
                }
                sums[2 * MEMORY] += now * change[a];
                past.changes[a] = differences;
            }
            past.swept = r;
            past.change = change;
        });
        let y = &self.y;
        self.velocities.par_iter_mut().zip(y).with_min_len(PIECE).for_each(|(past, y)| {
            let y = get(y);
            if difference {
                past.points[s] = std::array::from_fn(|k| y[k] - past.swept[k]);
            }
            past.swept = y;
        });
        let now = sums[2 * MEMORY].sqrt();
        if now > 2.0 * self.size {
            self.forget();
            return now;
        }
        if difference {
            for m in 0..used {
                self.products[s][m] = sums[m];
                self.products[m][s] = sums[m];
            }
            (self.used, self.next) = (used, (s + 1) % MEMORY);
        }
        self.right.copy_from_slice(&sums[MEMORY..2 * MEMORY]);
        self.size = now;
        now
    }

    /// The weights of the differences which, taken from the last change, leave the least.
    fn weights(&self) -> Option<[f64; MEMORY]> {
        let mut weights = combination(&self.products, &self.right, self.used)?;
        weights[self.used..].fill(0.0);
        Some(weights)
    }

    /// From the swept point to the combination of the last ones whose changes nearly cancel.
    fn extrapolate(&mut self) {
        let (m, Some(weights)) = (self.used, self.weights()) else { return };
        let pairs = self.r.par_iter().zip(&self.impulses).with_min_len(PIECE);
        pairs.for_each(|(r, past)| {
            let mut x = past.swept;
            for a in 0..D {
                for m in 0..MEMORY {
                    x[a] -= weights[m] * f64::from(past.points[a][m]);
                }
            }
            set(r, &x);
        });
        let pairs = self.y.par_iter().zip(&self.velocities).with_min_len(PIECE);
        pairs.for_each(|(y, past)| {
            let mut x = past.swept;
            for (w, point) in weights.iter().zip(&past.points).take(m) {
                for k in 0..B {
                    x[k] -= w * point[k];
                }
            }
            set(y, &x);
        });
    }

    /// Along the change that no combination cancels, where that is at least the part `stays` of all of it, to where the first
    /// contact that takes part begins to slide.
    fn jump(&mut self, stays: f64) {
        self.extrapolate();
        let weights = self.weights().unwrap_or([0.0; MEMORY]);
        let left = |past: &Impulses<D>| -> [f64; D] {
            std::array::from_fn(|a| {
                let cancelled: f64 = (0..MEMORY).map(|m| weights[m] * f64::from(past.changes[a][m])).sum();
                past.change[a] - cancelled
            })
        };
        let size = |past: &Impulses<D>| past.weight * left(past).iter().map(|x| x * x).sum::<f64>();
        if self.impulses.iter().map(size).sum::<f64>().sqrt() < stays * self.size {
            return;
        }
        let most = self.impulses.iter().map(size).fold(0.0, f64::max);
        let contacts = self.impulses.iter().zip(&self.r).zip(&self.system.contacts);
        let part = contacts.filter(|((past, _), _)| size(past) >= TAKES_PART * TAKES_PART * most);
        let tau = part.map(|((past, r), c)| room(c.cone, &get(r), &left(past))).fold(f64::INFINITY, f64::min);
        if tau.is_finite() {
            for (past, r) in self.impulses.iter().zip(&self.r) {
                let (x, left) = (get(r), left(past));
                set(r, &std::array::from_fn(|a| x[a] + tau * left[a]));
            }
        }
        // The step across is no difference.
        self.size = f64::INFINITY;
    }
}

/// How far r may go along `change` before it leaves the cone of friction, in multiples of it; infinite where it never does, or is
/// on the edge.
fn room<const D: usize>(cone: Cone, r: &[f64; D], change: &[f64; D]) -> f64 {
    let Cone::Coulomb { mu, tangents } = cone else { return f64::INFINITY };
    let product = |x: &[f64; D], y: &[f64; D]| {
        let along: f64 = (1..(1 + tangents).min(D)).map(|c| x[c] * y[c]).sum();
        along - mu * mu * x[0] * y[0]
    };
    let (a, b, c) = (product(change, change), product(r, change), product(r, r));
    // ‖r_t + τ c_t‖² = μ² (r_n + τ c_n)²: a τ² + 2 b τ + c = 0 with c < 0.
    let discriminant = b * b - a * c;
    if c >= -1e-6 * (mu * r[0]).powi(2) || discriminant < 0.0 {
        return f64::INFINITY;
    }
    let tau =
        if b >= 0.0 || a <= 0.0 { -c / (b + discriminant.sqrt()) } else { (discriminant.sqrt() - b) / a };
    if tau > 0.0 { tau } else { f64::INFINITY }
}

/// Solves a contact while the others are held; returns the change of its impulse.
#[inline(always)]
fn relax<const D: usize, const B: usize>(c: &Contact<D, B>, r: &Shared<D>, y: &[Shared<B>]) -> [f64; D] {
    let mut v = [[0.0; B]; 2];
    let mut rest = c.bias;
    for s in 0..2 {
        if c.body[s] != NONE {
            v[s] = get(&y[c.body[s] as usize]);
            for a in 0..D {
                rest[a] += dot(&c.g[s][a], &v[s]);
            }
        }
    }
    let old = get(r);
    let mine = mul(&c.w, &old);
    for a in 0..D {
        rest[a] -= mine[a];
    }
    let new = one(&c.w, &rest, c.cone, c.rho, &old, true);
    let change = std::array::from_fn(|a| new[a] - old[a]);
    set(r, &new);
    for s in 0..2 {
        if c.body[s] != NONE {
            push(&mut v[s], &c.g[s], &change);
            set(&y[c.body[s] as usize], &v[s]);
        }
    }
    change
}
