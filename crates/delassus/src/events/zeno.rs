//! Infinitely many impacts in finite time: where they end, and in which state.
//!
//! ```text
//! T_k = t_k + d_k r/(1 − r) ,     r = w_k/w_{k−1} or d_k/d_{k−1} ,     d_k = t_k − t_{k−1} ,     t_∞ = lim T_k
//! ```
//!
//! w_k > 0 the speed at which the contact closes for the k-th time. For a ball in uniform gravity both r are its coefficient
//! of restitution and T_k = t_∞ from the second impact on; elsewhere T_k − t_∞ is a smooth function of t_∞ − t_k that begins
//! with its square. Where nothing presses (three bodies on a line that collapse) times shrink faster than speeds; of the two
//! ratios the one whose T_k settle better is taken. T_k, positions and velocities at the impacts are continued to t_∞ by a cubic
//! through impacts that lie about 1, 2, 4 and 8 times the remaining time before it (002 §4), once a parabola through three of
//! them says the same.
//!
//! In a column of several balls impacts follow each other without rule, and no ratio settles. There the end is told when
//! the bounces of a contact, w_k d_k/8 high, are lost in the rounding of positions; what is left of them is less than 1e-6 s.
//! Where a body rattles between two contacts, times shrink by a rule but velocities are no smooth function of time at t_∞:
//! the end is told when the way up to it is lost in the rounding of positions, and the speeds that are left end in one
//! inelastic impact.

use std::collections::VecDeque;

use delassus_solve::linalg::max_abs;

/// Impacts that show that there is a limit.
const FEWEST: usize = 5;
/// Impacts that are kept.
const MOST: usize = 20_000;
/// Ratios closer to 1 than this lead nowhere in finite time.
const SLOW: f64 = 1e-6;
/// How much the ratio may change from one impact to the next.
const STEADY: f64 = 0.05;
/// Continuations of T_k by three and by four strikes that differ by less than this, relative to max(1, t), agree.
const AGREE: f64 = 1e-12;
/// Strikes closer to each other than this, relative to max(1, t), are at the same moment.
const SAME: f64 = 1e-14;
/// Strikes within this of each other, relative to max(1, t), belong to one moment at which bounces are lost.
const MOMENT: f64 = 1e-13;
/// Remaining time that is no longer worth computing, relative to max(1, t).
const OVER: f64 = 1e-6;
/// Remaining time of a series with a rule that is as good as none, relative to max(1, t).
const NOTHING: f64 = 1e-9;

/// How far continuations by three and by four strikes may be apart, relative to the largest entry of the state, or to 1.
const CONTINUED: f64 = 1e-9;
/// Strikes through which T_k and the state are continued.
const NODES: usize = 4;
/// Steps towards the end that a continued series says of itself.
const STEPS: usize = 4;

/// Bounces in a row that are lost in rounding, after which there is nothing left of them.
const LOST: usize = 8;
/// Bounces lower than this part of the largest position, or of 1, are lost in rounding.
const HEIGHT: f64 = 1e-13;

/// A contact's impact: how long after the last, how fast, and the state after it.
#[derive(Clone, Debug)]
struct Strike {
    /// Time since the strike before, more precise than a difference of times.
    flight: f64,
    speed: f64,
    /// T_k − t_k by speeds and by times; not finite where there is none.
    left: [f64; 2],
    /// (q, v) after it.
    y: Vec<f64>,
}

/// The strikes of one contact so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Chatter {
    strikes: VecDeque<Strike>,
    /// Bounces in a row that were lost in rounding.
    lost: usize,
}

/// Where a chatter ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    /// From the last strike to t_∞.
    pub(super) remaining: f64,
    /// Time between the last two strikes.
    pub(super) flight: f64,
    /// Whether the state is not continued, so that this is the one after the last impact.
    pub(super) lost: bool,
    /// (q, v) at t_∞.
    pub(super) y: Vec<f64>,
}

impl Chatter {
    /// Adds a strike with approach speed `speed`, `flight` after the one before. The limit, once it is less than `window`
    /// away and known.
    pub(super) fn strike(
        &mut self,
        t: f64,
        flight: f64,
        speed: f64,
        y: Vec<f64>,
        window: f64,
    ) -> Option<Limit> {
        let size = t.abs().max(1.0);
        // Struck again at the same moment, by way of another contact: no bounce, unless others were lost before it.
        if flight <= SAME * size && !self.strikes.is_empty() {
            self.lost += usize::from(self.lost > 0);
            let lost = self.lost >= LOST && window > 0.0;
            return lost.then_some(Limit { remaining: 0.0, flight: MOMENT * size, lost, y });
        }
        let positions = y.len() / 2;
        let height = HEIGHT * max_abs(&y[..positions]).max(1.0);
        let limit = self.extrapolate(t, flight, speed, y, window);
        let Some(last) = self.strikes.back() else { return limit };
        let ruled = self.strikes.len() >= FEWEST;
        // A series that has a rule is not lost: its low bounces add up to what the rule says.
        let over = if ruled { last.left[0] <= NOTHING * size } else { flight <= OVER * size };
        self.lost = if over && 0.125 * speed * flight <= height { self.lost + 1 } else { 0 };
        // All that is left of a series by its times; false where they have no rule.
        let ends = ruled && last.left[1] <= NOTHING * size && speed * last.left[1] <= height;
        if limit.is_some() || window == 0.0 || !(ends || self.lost >= LOST) {
            return limit;
        }
        Some(Limit { remaining: 0.0, flight, lost: true, y: last.y.clone() })
    }

    /// Where a series that has a rule ends.
    fn extrapolate(&mut self, t: f64, flight: f64, speed: f64, y: Vec<f64>, window: f64) -> Option<Limit> {
        let before = self.strikes.back().map(|s| (s.speed, s.flight));
        let older = self.strikes.len().checked_sub(2).map(|i| self.strikes[i].speed);
        let ratio = before.map_or(1.0, |(w, _)| speed / w);
        let steady = match (before, older) {
            (Some((w, _)), Some(v)) => (ratio - w / v).abs() < STEADY,
            _ => true,
        };
        if before.is_some() && !(ratio > 0.0 && ratio < 1.0 - SLOW && steady) {
            self.strikes.clear();
            self.strikes.push_back(Strike { flight, speed, left: [f64::NAN; 2], y });
            return None;
        }
        let ratios = [ratio, before.map_or(1.0, |(_, d)| flight / d)];
        let ends = |r: f64| if r > 0.0 && r < 1.0 - SLOW { flight * r / (1.0 - r) } else { f64::NAN };
        self.strikes.push_back(Strike { flight, speed, left: ratios.map(ends), y });
        if self.strikes.len() > MOST {
            self.strikes.pop_front();
        }
        if self.strikes.len() < FEWEST {
            return None;
        }
        let ways = [self.end(0), self.end(1)];
        let (remaining, change) = ways.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let size = (t + remaining).abs().max(1.0);
        let known = change <= AGREE * size || remaining <= OVER * size;
        if remaining > window || !known {
            return None;
        }
        let y = self.state(remaining)?;
        Some(Limit { remaining, flight, lost: false, y })
    }

    /// t_∞ after the last strike, by one of the two ratios, and how much the last of the strikes through which it is continued
    /// changed it.
    fn end(&self, way: usize) -> Option<(f64, f64)> {
        let last = self.strikes.back()?.left[way];
        let nodes: Vec<(f64, f64)> = (self.nodes(last).iter())
            .map(|&(back, k)| (back, back + self.strikes[k].left[way]))
            .filter(|node| node.1.is_finite())
            .collect();
        // end = p(end): where times have another ratio than speeds, p is steep and this leads away, which the change tells.
        let mut end = last;
        for _ in 0..STEPS {
            end = continued(&nodes, end).0;
        }
        let (again, fewer) = continued(&nodes, end);
        let change = (again - fewer).abs().max((again - end).abs());
        (end > 0.0 && nodes.len() == NODES).then_some((again, change))
    }

    /// The time between the last two strikes; infinite where there are none.
    pub(super) fn rhythm(&self) -> f64 {
        self.strikes.back().map_or(f64::INFINITY, |strike| strike.flight)
    }

    /// Forgets all strikes.
    pub(super) fn clear(&mut self) {
        *self = Chatter::default();
    }

    /// Strikes that lie about 1, 2, 4 and 8 times the remaining time before t_∞: their times, from the last strike on, and numbers.
    fn nodes(&self, remaining: f64) -> Vec<(f64, usize)> {
        let last = self.strikes.len() - 1;
        let mut picked = vec![(0.0, last)];
        let mut back = 0.0;
        for k in (0..last).rev() {
            back -= self.strikes[k + 1].flight;
            // The next one lies as far before the last picked as that is before t_∞.
            let far = remaining - picked[picked.len() - 1].0;
            if remaining - back >= 2.0 * far || (k == 0 && picked.len() == 1) {
                picked.push((back, k));
            }
            if picked.len() == NODES {
                break;
            }
        }
        picked
    }

    /// The state at `remaining` after the last strike; `None` where three strikes say something else than four: what
    /// moves fast beside the contact, or was struck itself, is not continued.
    fn state(&self, remaining: f64) -> Option<Vec<f64>> {
        let picked = self.nodes(remaining);
        let last = &self.strikes[self.strikes.len() - 1].y;
        let size = max_abs(last).max(1.0);
        let mut result = Vec::with_capacity(last.len());
        for i in 0..last.len() {
            let nodes: Vec<(f64, f64)> = picked.iter().map(|&(t, k)| (t, self.strikes[k].y[i])).collect();
            let (value, fewer) = continued(&nodes, remaining);
            let apart = (value - fewer).abs();
            if apart.is_nan() || apart > CONTINUED * size {
                return None;
            }
            result.push(value);
        }
        Some(result)
    }
}

/// Neville's scheme: the polynomial through these points at x, and the one through all but the last.
fn continued(nodes: &[(f64, f64)], x: f64) -> (f64, f64) {
    let mut p: Vec<f64> = nodes.iter().map(|node| node.1).collect();
    let mut fewer = f64::NAN;
    for level in 1..p.len() {
        fewer = p[0];
        for j in 0..p.len() - level {
            let (a, b) = (nodes[j].0, nodes[j + level].0);
            p[j] = ((x - b) * p[j] - (x - a) * p[j + 1]) / (a - b);
        }
    }
    (p.first().copied().unwrap_or(f64::NAN), fewer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball that also rolls along x with a velocity that decays.
    #[test]
    fn geometric_flights_end_where_the_series_does() {
        for e in [0.1, 0.5, 0.9, 0.99] {
            let (mut chatter, mut t, mut speed) = (Chatter::default(), 1.0, 1.0);
            let end = 1.0 + 2.0 * e / (9.81 * (1.0 - e));
            let x = |t: f64| (3.0 * t).sin();
            let mut found = None;
            let mut flight = 0.0;
            for _ in 0..10_000 {
                found = chatter.strike(t, flight, speed, vec![x(t)], 1e-3);
                if found.is_some() {
                    break;
                }
                speed *= e;
                flight = 2.0 * speed / 9.81;
                t += flight;
            }
            let limit = found.expect("a limit");
            assert!((t + limit.remaining - end).abs() < 1e-11, "e = {e}");
            assert!((limit.y[0] - x(end)).abs() < 1e-9, "e = {e}: {} for {}", limit.y[0], x(end));
        }
    }

    /// Gravity that grows, so that speeds shrink by another ratio at every bounce: u = a d/2 + b d²/6 and
    /// w = a d/2 + b d²/3 for a flight d that begins with u under a + b τ. Backwards from t_∞ the series is the fixed
    /// point of that map, found here by bouncing to the very end.
    #[test]
    fn ratios_that_change_are_continued() {
        for e in [0.1_f64, 0.5, 0.9, 0.99] {
            let bounce = |t: f64, u: f64| {
                let (a, b) = (10.0 + 3.0 * t, 3.0);
                let mut d = 2.0 * u / a;
                for _ in 0..20 {
                    d = u / (0.5 * a + b * d / 6.0);
                }
                (d, a * d + 0.5 * b * d * d - u)
            };
            let start = (0.0, 0.05 * (1.0 - e));
            let (mut t, mut u, mut sum) = (start.0, start.1, vec![]);
            while u > 1e-17 {
                let (d, w) = bounce(t, u);
                sum.push(d);
                (t, u) = (t + d, e * w);
            }
            let end: f64 = sum.iter().rev().sum();
            let (mut t, mut u, mut chatter) = (start.0, start.1, Chatter::default());
            let limit = loop {
                let (d, w) = bounce(t, u);
                (t, u) = (t + d, e * w);
                let found = chatter.strike(t, d, w, vec![], 1e-3);
                if let Some(limit) = found {
                    break limit;
                }
                assert!(u > 1e-17, "e = {e}: no limit");
            };
            let found = t + limit.remaining;
            assert!((found - end).abs() < 1e-11, "e = {e}: {found} for {end}, at {:e}", limit.remaining);
        }
    }

    /// Times that shrink faster than speeds, as in an inelastic collapse.
    #[test]
    fn times_tell_the_end_where_speeds_do_not() {
        let (mut chatter, mut t, mut speed, mut flight) = (Chatter::default(), 0.0, 1.0, 1.0);
        let end = 0.2 / (1.0 - 0.2);
        let mut found = None;
        for _ in 0..40 {
            found = chatter.strike(t, flight, speed, vec![0.0; 2], 1e-3);
            if found.is_some() {
                break;
            }
            (speed, flight) = (0.5 * speed, 0.2 * flight);
            t += flight;
        }
        let limit = found.expect("a limit");
        // The sum of the series, to the rounding of its first terms.
        assert!((t + limit.remaining - end).abs() < 1e-13, "{} for {end}", t + limit.remaining);
    }

    /// Bounces without rule end where positions no longer show them.
    #[test]
    fn bounces_lost_in_rounding_end() {
        let mut chatter = Chatter::default();
        let mut count = 0;
        for k in 0..100 {
            count += 1;
            let speed = if k % 2 == 0 { 1e-7 } else { 3e-7 };
            if let Some(limit) = chatter.strike(1.0, 2e-8, speed, vec![1.0, 0.0], 1e-3) {
                assert!(limit.lost && limit.remaining == 0.0);
                break;
            }
        }
        assert_eq!(count, LOST);
    }

    /// Between two contacts times shrink faster than speeds: the end is told while moments are told apart, or else at the moment at
    /// which strikes follow each other.
    #[test]
    fn rattling_ends() {
        // Velocities that alternate are not continued.
        let state = |k: usize| vec![1.0, if k.is_multiple_of(2) { 1.0 } else { -1.0 }];
        let (mut chatter, mut t, mut speed, mut flight) = (Chatter::default(), 1.0, 1.0, 1e-3);
        let end = 1.0 + 2e-4 / 0.8;
        let limit = (0..100).find_map(|k| {
            (speed, flight) = (0.8 * speed, 0.2 * flight);
            t += flight;
            chatter.strike(t, flight, speed, state(k), 1e-3)
        });
        // By its times, or when less than 1e-13 is left to go, at speeds above 1e-2.
        assert!(limit.is_some_and(|limit| (t + limit.remaining - end).abs() < 1e-11));
        let mut chatter = Chatter::default();
        let flights = [1e-9, 5e-13, 1e-14, 1e-16, 1e-19, 1e-19, 1e-19, 1e-19, 1e-19];
        let limits = flights.iter().enumerate().map(|(k, d)| chatter.strike(1.0, *d, 0.5, state(k), 1e-3));
        let found: Vec<bool> = limits.map(|limit| limit.is_some_and(|limit| limit.lost)).collect();
        assert_eq!(found.iter().position(|lost| *lost), Some(LOST));
    }

    #[test]
    fn elastic_strikes_have_no_limit() {
        let mut chatter = Chatter::default();
        for k in 0..1000 {
            assert_eq!(chatter.strike(k as f64, 1.0, 1.0, vec![], 1e9), None);
        }
    }
}
