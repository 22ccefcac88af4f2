//! Sweeps in the space of velocities, for problems with very many contacts: W is never formed.
//!
//! In the form of [`crate::contact::matrix_free::system`], y = L⁻¹ f + G r and u = Gᵀ y + b, a contact that
//! is solved while the others are held needs only the velocities y of its bodies, and changes only them: time
//! and memory grow with the number of contacts, however many of them share a body. Contacts of one color
//! share no body and are solved at the same time.
//!
//! Sweeps alone would carry a load through a pile one contact at a time. Two things help: now and then all
//! loads are handed down to the ground at once ([`crate::contact::matrix_free::load_propagation`]), and
//! sweeps have momentum,
//!
//! x_{k+1} = sweep(z_k),  z_{k+1} = x_{k+1} + β (x_{k+1} − x_k),
//!
//! which takes the slow modes along and, unlike combinations of many points, does not mind contacts that
//! begin to stick or to slide on the way. y follows the same combinations as r, and is computed anew before
//! anything is claimed.
//!
//! Where balls roll and slide, few digits are asked for and friction couples what presses with what slides,
//! sweeps come to circle around the solution: momentum goes on, the error does not. While the slips of De
//! Saxcé are held for some sweeps, the problem is convex and the circles die out; but the slips themselves
//! then follow slowly. Sweeps of both kinds take turns, each from where the other came to.
//!
//! Bodies wedged between contacts that cannot all stick change their impulses by the same little in every
//! sweep until one of them slides. They are taken there in one jump, along that change, to the edge of the
//! first cone.

use std::mem::take;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::contact_rows::{Contact, NONE, Shared, dot, get, push, set, share};
use super::lanes::{LaneImpulses, Quads, get_alone, set_alone};
use super::load_propagation::Loads;
use super::system::System;
use crate::contact::budget::Budget;
use crate::contact::cone::{Cone, natural};
use crate::contact::gauss_seidel::one;
use crate::linalg;
use crate::linalg::{CHUNK, mul};

/// Sweeps between two passes of the loads, and between two error checks.
const SWEEPS_PER_CHECK: usize = 8;
/// The most momentum, while there is hope for an early end and after so many sweeps; the limit of stability
/// is close to 0.95.
const MAX_MOMENTUM: f64 = 0.85;
const LONG_RUN_SWEEPS: usize = 150;
const MAX_LONG_RUN_MOMENTUM: f64 = 0.93;
/// The same where few digits are asked for, and after so many sweeps: friction turns the way to the last
/// digit into a circle, on which much momentum goes round and little arrives.
const MAX_FEW_DIGITS_MOMENTUM: f64 = 0.9;
const CIRCLING_SWEEPS: usize = 700;
const MAX_CIRCLING_MOMENTUM: f64 = 0.8;
const FEW_DIGITS: f64 = 1e-6;
/// The relaxation of contacts of balls there, until they circle or diverge. In settled piles it takes a tenth
/// of the sweeps away; 1.2 is close to where they diverge.
const FEW_DIGITS_RELAXATION: f64 = 1.1;
/// Where sweeps take turns with those of held slips: how many are in a turn, the first one and the others,
/// and the sweeps between two slips.
const SWEEPS_OF_FIRST_TURN: usize = 400;
const SWEEPS_PER_TURN: usize = 300;
const SWEEPS_PER_SLIP: usize = 3;
/// An error that has grown by this means too much momentum; there is less by this from then on.
const DIVERGED_ERROR_RATIO: f64 = 4.0;
const MOMENTUM_CUT: f64 = 0.1;
/// What counts as a gain, and sweeps without one after which to search for a change that stays.
const GAIN_RATIO: f64 = 0.7;
const SWEEPS_WITHOUT_GAIN: usize = 40;
/// The part of all sweeps after which to ask whether, at their rate of convergence, all would be enough.
const FORECAST_SHARE: f64 = 0.3;
/// A change that differs by less than this part from sweep to sweep is taken for one that stays.
const STEADY_CHANGE_RATIO: f64 = 0.02;
/// A jump considers contacts that change by at least this part of the most.
const MIN_JUMP_SHARE: f64 = 0.1;
/// The part of the tolerance that is aimed at: others may round the residual in another way.
const TARGET_RATIO: f64 = 0.95;
/// Fewer contacts than this are not worth waking other threads for.
const PARALLEL_MIN: usize = 1024;

/// Bytes of memory that a run holds, from the lengths: four impulses of each contact, two velocities of each
/// body and its level.
#[cfg(test)]
pub(super) fn bytes<const D: usize, const B: usize>(system: &System<D, B>) -> usize {
    let contact = 4 * size_of::<[f64; D]>();
    let body = 2 * size_of::<[f64; B]>() + size_of::<u32>() * 2;
    system.contacts.len() * contact + system.free.len() * body
}

/// Scratch of a run, kept from one to the next.
#[derive(Default)]
pub(super) struct Workspace<const D: usize, const B: usize> {
    /// Where a run begins, and its best point in the end, in the order of the contacts.
    pub kept: Vec<[f64; D]>,
    loads: Loads,
    r: Vec<Shared<D>>,
    y: Vec<Shared<B>>,
    change: Vec<[f64; D]>,
    last: Vec<[f64; D]>,
    last_y: Vec<[f64; B]>,
    lanes: LaneImpulses,
}

/// What μ ‖u_t‖, which couples the normal impulse with the slip, is in the sweeps of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slips {
    /// That of the contact as it is solved.
    OfEachSweep,
    /// In turns this one and, of balls, that of some sweeps before: between two of them the problem is
    /// convex, and momentum goes no circles.
    InTurns { held_first: bool },
}

/// Whose turn it is, where sweeps take turns.
struct Turn {
    held: bool,
    /// When it began, and when it ends.
    began: usize,
    end: usize,
}

impl Turn {
    fn first(slips: Slips) -> Option<Turn> {
        match slips {
            Slips::OfEachSweep => None,
            Slips::InTurns { held_first: true } => Some(Turn { held: true, began: 0, end: SWEEPS_PER_TURN }),
            Slips::InTurns { .. } => Some(Turn { held: false, began: 0, end: SWEEPS_OF_FIRST_TURN }),
        }
    }

    fn next(&self) -> Turn {
        Turn { held: !self.held, began: self.end, end: self.end + SWEEPS_PER_TURN }
    }
}

/// The state of a run. Impulses of balls are those of `lanes`, and those of `r` after [`Run::read_lanes`].
struct Run<'a, const D: usize, const B: usize> {
    system: &'a System<D, B>,
    r: Vec<Shared<D>>,
    y: Vec<Shared<B>>,
    /// What the last sweep changed.
    change: Vec<[f64; D]>,
    /// r and y after the sweep before.
    last: Vec<[f64; D]>,
    last_y: Vec<[f64; B]>,
    /// Nesterov's sequence, from which momentum grows to what it may be.
    age: f64,
    lanes: LaneImpulses,
    /// By how much more than the impulse that solves it by itself a contact of balls is changed.
    relaxation: f64,
    /// Whether one thread does all.
    alone: bool,
}

/// Solves a system from the impulses `workspace.kept`, or from loads handed down where all of them are zero;
/// leaves the best point there, and returns its error over ‖ρ q‖ and the number of sweeps.
pub(super) fn solve<const D: usize, const B: usize>(
    system: &System<D, B>,
    tolerance: f64,
    (slips, most): (Slips, usize),
    budget: &mut Budget,
    workspace: &mut Workspace<D, B>,
) -> (f64, usize) {
    linalg::inside(system.contacts.len(), || run(system, tolerance, (slips, most), budget, workspace))
}

// Long: one loop whose momentum, loads and jumps each depend on the state of the others.
fn run<const D: usize, const B: usize>(
    system: &System<D, B>,
    tolerance: f64,
    (slips, most): (Slips, usize),
    budget: &mut Budget,
    workspace: &mut Workspace<D, B>,
) -> (f64, usize) {
    let target = TARGET_RATIO * tolerance * system.scale;
    let in_round = (FORECAST_SHARE * most as f64) as usize;
    let Workspace { kept, loads, r, y, change, last, last_y, lanes } = workspace;
    // Impulses of an earlier step have their loads already.
    let known = kept.iter().flatten().any(|x| *x != 0.0);
    let mut loads = if !known && loads.renew(system) { Some(&*loads) } else { None };
    share(kept, r);
    share(&system.free, y);
    // The ground, where lanes without a body find one.
    y.push([const { AtomicU64::new(0) }; B]);
    change.resize(kept.len(), [0.0; D]);
    last.resize(kept.len(), [0.0; D]);
    last_y.resize(system.free.len(), [0.0; B]);
    let mut run = Run {
        system,
        r: take(r),
        y: take(y),
        change: take(change),
        last: take(last),
        last_y: take(last_y),
        age: 1.0,
        lanes: take(lanes),
        relaxation: if tolerance >= FEW_DIGITS { FEW_DIGITS_RELAXATION } else { 1.0 },
        alone: system.contacts.len() < PARALLEL_MIN || rayon::current_num_threads() == 1,
    };
    run.lanes.release_slips();
    run.renew();
    run.rest();
    let mut best = run.error();
    if let Some(loads) = loads {
        loads.hand_down(system, &run.r, &run.y, false);
        run.rest();
    }
    let (mut count, mut since) = (0, 0);
    let (mut next_check, mut ratio, mut size) = (SWEEPS_PER_CHECK / 2, f64::INFINITY, f64::INFINITY);
    // The error at the last gain, when to search for what stays, and the error at the start of the round and
    // when that was.
    let (mut gained, mut last_search, mut round) = (best, 0, (best, 0));
    let (mut momentum, mut longer) = (MAX_MOMENTUM, true);
    let mut turn = Turn::first(slips);
    if turn.as_ref().is_some_and(|turn| turn.held) {
        run.begin_turn(true);
    }
    // Solves of a contact, its velocity, its two pushes, and the step on.
    let work = (system.contacts.len() * D * (4 * B + 4 * D)) as u64;
    budget.next_island(work);
    while count < most && best > target && budget.spend(work) {
        if let Some(now) = turn.as_mut().filter(|turn| count == turn.end) {
            *now = now.next();
            run.begin_turn(now.held);
            (longer, size) = (true, f64::INFINITY);
        }
        count += 1;
        since += 1;
        run.sweep();
        if turn.as_ref().is_some_and(|turn| turn.held && (count - turn.began).is_multiple_of(SWEEPS_PER_SLIP))
        {
            run.hold_slips();
        }
        if longer {
            momentum = match turn {
                None => most_momentum(count, tolerance),
                Some(_) => MAX_FEW_DIGITS_MOMENTUM,
            };
        }
        if !longer || turn.is_none() && count >= CIRCLING_SWEEPS {
            run.relaxation = 1.0;
        }
        // A check costs half a sweep: when the step, which goes with the error, promises success, or after a
        // while.
        if size * ratio > target && count < next_check && count < most {
            size = run.carry_on(momentum);
            continue;
        }
        next_check =
            count + if loads.is_some() { SWEEPS_PER_CHECK } else { (4 + count / 4).min(SWEEPS_PER_CHECK) };
        let mut error = run.error();
        ratio = if size.is_finite() { error / size.max(f64::MIN_POSITIVE) } else { f64::INFINITY };
        if error <= target {
            run.read_lanes();
            run.renew();
            error = run.error();
        }
        if error.is_nan() {
            break;
        }
        let before = best;
        if error < best {
            best = error;
            run.read_lanes();
            linalg::fill(kept, |k| get(&run.r[k]));
        }
        if error < GAIN_RATIO * gained {
            (gained, last_search) = (error, count);
        }
        // Turns are few enough to have them all.
        if turn.is_none() && count >= round.1 + in_round {
            let rate = (round.0 / best).ln() / in_round as f64;
            if (best / target).ln() > rate * (most - count) as f64 {
                break;
            }
            round = (best, count);
        }
        match loads {
            // Where a pass and its sweeps did not help, bodies do not come to rest by what is below them.
            Some(_) if since >= SWEEPS_PER_CHECK && error > 0.9 * before => {
                loads = None;
                run.restart(kept);
                size = f64::INFINITY;
            }
            Some(loads) if since >= SWEEPS_PER_CHECK && error > target => {
                run.read_lanes();
                loads.hand_down(system, &run.r, &run.y, true);
                run.rest();
                since = 0;
                size = f64::INFINITY;
            }
            None if error > DIVERGED_ERROR_RATIO * best => {
                (momentum, longer) = ((momentum - MOMENTUM_CUT).max(0.0), false);
                run.restart(kept);
                size = f64::INFINITY;
            }
            None if turn.is_none() && count >= last_search + SWEEPS_WITHOUT_GAIN && run.jump() => {
                run.renew();
                run.rest();
                (last_search, size) = (count, f64::INFINITY);
            }
            _ => {
                if count >= last_search + SWEEPS_WITHOUT_GAIN {
                    last_search = count;
                }
                size = run.carry_on(momentum);
            }
        }
    }
    if best > target {
        // What is reported of the best point is not that of velocities which followed it through many sweeps.
        run.restart(kept);
        best = run.error();
    }
    (*r, *y, *change) = (run.r, run.y, run.change);
    (*last, *last_y, *lanes) = (run.last, run.last_y, run.lanes);
    (best / system.scale, count)
}

/// The most momentum after so many sweeps.
fn most_momentum(count: usize, tolerance: f64) -> f64 {
    match tolerance >= FEW_DIGITS {
        false if count < LONG_RUN_SWEEPS => MAX_MOMENTUM,
        false => MAX_LONG_RUN_MOMENTUM,
        true if count < CIRCLING_SWEEPS => MAX_FEW_DIGITS_MOMENTUM,
        true => MAX_CIRCLING_MOMENTUM,
    }
}

impl<'a, const D: usize, const B: usize> Run<'a, D, B> {
    /// Back to r, as if nothing had been swept.
    fn restart(&mut self, r: &[[f64; D]]) {
        self.r.par_iter().zip(r).with_min_len(CHUNK).for_each(|(to, r)| set(to, r));
        self.renew();
        self.rest();
        self.age = 1.0;
    }

    /// Sweeps of the other kind go on from here.
    fn begin_turn(&mut self, held: bool) {
        self.read_lanes();
        self.renew();
        self.rest();
        self.age = 1.0;
        self.relaxation = if held { 1.0 } else { FEW_DIGITS_RELAXATION };
        match held {
            true => self.hold_slips(),
            false => self.lanes.release_slips(),
        }
    }

    /// No way to go on along: the last step was not one of a sweep. Sweeps begin at r.
    fn rest(&mut self) {
        let (r, y) = (&self.r, &self.y);
        linalg::fill(&mut self.last_y, |k| get(&y[k]));
        match self.quads() {
            Some(quads) => self.lanes.load(quads, |k| get(&r[k])),
            None => linalg::fill(&mut self.last, |k| get(&r[k])),
        }
    }

    /// The contacts in lanes, where they are those of balls.
    fn quads(&self) -> Option<&'a Quads> {
        Some(&self.system.balls.quads).filter(|quads| !quads.is_empty())
    }

    /// Makes r and the impulses before the last sweep those of the lanes.
    fn read_lanes(&mut self) {
        if let Some(quads) = self.quads() {
            let (r, before) = (&self.r, &mut self.last);
            self.lanes.store(quads, |k, now, last| {
                set(&r[k], &now);
                before[k] = last;
            });
        }
    }

    /// y of r, anew.
    fn renew(&self) {
        let one = |(b, y): (usize, &Shared<B>)| set(y, &self.system.moved(b, &self.r));
        self.y[..self.system.free.len()].par_iter().enumerate().with_min_len(CHUNK).for_each(one);
    }

    fn error(&self) -> f64 {
        if let Some(quads) = self.quads() {
            return self.lanes.error(quads, &self.y);
        }
        let square = |k: usize| {
            let c: &Contact<D, B> = &self.system.contacts[k];
            let u = c.velocity(|b| get(&self.y[b]));
            natural(c.cone, c.rho, &get(&self.r[k]), &u).iter().map(|x| x * x).sum::<f64>()
        };
        linalg::sum(self.r.len(), square).sqrt()
    }

    /// One sweep over all colors.
    fn sweep(&mut self) {
        let many = self.system.colors.len() - 1;
        let (rest, alone) = (self.system.rest, self.alone);
        if let Some(quads) = self.quads() {
            let one_thread =
                |k: usize, contacts: usize| alone || contacts < PARALLEL_MIN || rest && k + 1 == many;
            return self.lanes.sweep(quads, self.relaxation, &mut self.y, one_thread);
        }
        for k in 0..many {
            let range = self.system.colors[k]..self.system.colors[k + 1];
            let (y, r, change) = (&self.y, &self.r[range.clone()], &mut self.change[range.clone()]);
            let alone = alone || range.len() < PARALLEL_MIN || (rest && k + 1 == many);
            relax_all(&self.system.contacts[range], r, change, alone, |c, r| relax(c, r, y));
        }
    }

    /// Holds the slips of the swept velocities.
    fn hold_slips(&mut self) {
        if let Some(quads) = self.quads() {
            self.lanes.hold_slips(quads, &self.y);
        }
    }

    /// From the swept point on along the way from the one before; returns the length of that way.
    fn carry_on(&mut self, most: f64) -> f64 {
        let age = 0.5 * (1.0 + (1.0 + 4.0 * self.age * self.age).sqrt());
        let momentum = ((self.age - 1.0) / age).min(most);
        self.age = age;
        self.carry_velocities_on(momentum);
        if self.quads().is_some() {
            self.lanes.momentum = momentum;
            return self.lanes.distance();
        }
        let r = &self.r;
        let [square] = linalg::each_with_sums(&mut self.last, |k, last, sums: &mut [f64; 1]| {
            let x = get(&r[k]);
            let way: [f64; D] = std::array::from_fn(|a| x[a] - last[a]);
            sums[0] += way.iter().map(|d| d * d).sum::<f64>();
            *last = x;
            set(&r[k], &std::array::from_fn(|a| x[a] + momentum * way[a]));
        });
        square.sqrt()
    }

    /// The same of velocities.
    fn carry_velocities_on(&mut self, momentum: f64) {
        let on = |x: &[f64; B], last: &[f64; B]| std::array::from_fn(|a| x[a] + momentum * (x[a] - last[a]));
        if self.alone {
            for (y, last) in self.y.iter_mut().zip(&mut self.last_y) {
                let x = get_alone(y);
                set_alone(y, &on(&x, last));
                *last = x;
            }
            return;
        }
        let y = &self.y;
        linalg::each_with_sums(&mut self.last_y, |k, last, _: &mut [f64; 0]| {
            let x = get(&y[k]);
            set(&y[k], &on(&x, last));
            *last = x;
        });
    }

    /// What a sweep without momentum changes, into `change`. Only balls have to find it out.
    fn find_change(&mut self) {
        if self.quads().is_none() {
            return;
        }
        self.read_lanes();
        // Velocities go on from where the impulses do, which is before this sweep.
        let y = &self.y;
        linalg::fill(&mut self.last_y, |k| get(&y[k]));
        self.sweep();
        let quads = self.quads();
        let (r, change) = (&self.r, &mut self.change);
        if let Some(quads) = quads {
            self.lanes.store(quads, |k, now: [f64; D], _| {
                let before = get(&r[k]);
                change[k] = std::array::from_fn(|a| now[a] - before[a]);
            });
        }
    }

    /// Along a change that stays, to where the first contact that takes part begins to slide; false where
    /// there is none.
    fn jump(&mut self) -> bool {
        self.find_change();
        // With momentum β a change that stays adds up to a distance of 1/(1 − β) times its length.
        let (mut along, mut squares, mut changes, mut most) = (0.0, 0.0, 0.0, 0.0_f64);
        for ((r, last), change) in self.r.iter().zip(&self.last).zip(&self.change) {
            let (x, mut square) = (get(r), 0.0);
            for a in 0..D {
                let moved = x[a] - last[a];
                along += moved * change[a];
                squares += moved * moved;
                square += change[a] * change[a];
            }
            changes += square;
            most = most.max(square);
        }
        if along < (1.0 - STEADY_CHANGE_RATIO) * (squares * changes).sqrt() {
            return false;
        }
        let size = |change: &[f64; D]| change.iter().map(|x| x * x).sum::<f64>();
        let contacts = self.change.iter().zip(&self.r).zip(&self.system.contacts);
        let part = contacts.filter(|((change, _), _)| size(change) >= MIN_JUMP_SHARE * MIN_JUMP_SHARE * most);
        let tau = part
            .map(|((change, r), c)| distance_to_edge(c.cone, &get(r), change))
            .fold(f64::INFINITY, f64::min);
        if !tau.is_finite() {
            return false;
        }
        for (change, r) in self.change.iter().zip(&self.r) {
            let x = get(r);
            set(r, &std::array::from_fn(|a| x[a] + tau * change[a]));
        }
        true
    }
}

/// How far r may go along `change` before it leaves the cone of friction, in multiples of it; infinite where
/// it never does, or is on the edge.
fn distance_to_edge<const D: usize>(cone: Cone, r: &[f64; D], change: &[f64; D]) -> f64 {
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

/// Solves contacts of one color, one after the other or by several threads.
fn relax_all<T: Sync, const D: usize>(
    contacts: &[T],
    r: &[Shared<D>],
    change: &mut [[f64; D]],
    alone: bool,
    relax: impl Fn(&T, &Shared<D>) -> [f64; D] + Sync,
) {
    let chunk = |contacts: &[T], r: &[Shared<D>], change: &mut [[f64; D]]| {
        for ((contact, r), change) in contacts.iter().zip(r).zip(change) {
            *change = relax(contact, r);
        }
    };
    if alone {
        return chunk(contacts, r, change);
    }
    let chunks = contacts.par_chunks(CHUNK).zip(r.par_chunks(CHUNK));
    chunks.zip(change.par_chunks_mut(CHUNK)).for_each(|((contacts, r), change)| chunk(contacts, r, change));
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
