//! Zeno detection: infinitely many impacts in finite time, the instant at which they end, and the state
//! there.
//!
//! ```text
//! T_k = t_k + d_k r/(1 − r) ,   r = w_k/w_{k−1} or d_k/d_{k−1} ,   d_k = t_k − t_{k−1} ,   t_∞ = lim T_k
//! ```
//!
//! t_k is the time of the contact's k-th impact, w_k > 0 the speed at which it closes. For a ball in uniform
//! gravity both r are its coefficient of restitution and T_k = t_∞ from the second impact on; elsewhere T_k −
//! t_∞ is a smooth function of t_∞ − t_k that begins with its square. Where nothing presses (three bodies on
//! a line that collapse) times shrink faster than speeds; of the two ratios the one whose T_k settle better
//! is taken. T_k, positions and velocities at the impacts are extrapolated to t_∞ by a cubic through impacts
//! that lie about 1, 2, 4 and 8 times the remaining time before it (002 §4), once a parabola through three of
//! them agrees.
//!
//! In a column of several balls impacts follow each other without rule, and no ratio settles. There the end
//! is reported when the bounces of a contact, w_k d_k/8 high, are lost in the rounding of positions; what is
//! left of them is less than 1e-6 s. Where a body rattles between two contacts, times shrink by a rule but
//! velocities are no smooth function of time at t_∞: the end is reported when the distance left to it is lost
//! in the rounding of positions, and the speeds that are left end in one inelastic impact.

use std::collections::VecDeque;

use delassus_solve::linalg::max_abs;

/// Impacts after which a series may have a limit.
const MIN_IMPACTS: usize = 5;
/// Impacts of a series that are kept.
const MAX_IMPACTS: usize = 20_000;
/// Ratios closer to 1 than this lead nowhere in finite time.
const RATIO_BELOW_ONE: f64 = 1e-6;
/// How much the ratio may change from one impact to the next.
const RATIO_CHANGE: f64 = 0.05;
/// Extrapolations of T_k by three and by four impacts that differ by less than this, relative to max(1, t),
/// agree.
const TIME_AGREEMENT: f64 = 1e-12;
/// Impacts closer to each other than this, relative to max(1, t), are simultaneous.
const SIMULTANEOUS: f64 = 1e-14;
/// Impacts within this of each other, relative to max(1, t), belong to one instant at which bounces are lost.
const ONE_INSTANT: f64 = 1e-13;
/// Remaining time that is no longer worth computing, relative to max(1, t).
const SHORT_REMAINDER: f64 = 1e-6;
/// Remaining time of a series with a rule that is as good as none, relative to max(1, t).
const NO_REMAINDER: f64 = 1e-9;
/// How far extrapolations of the state by three and by four impacts may be apart, relative to its largest
/// entry, or to 1.
const STATE_AGREEMENT: f64 = 1e-9;
/// Impacts through which T_k and the state are extrapolated.
const NODES: usize = 4;
/// Fixed-point steps towards the end of an extrapolated series.
const FIXED_POINT_STEPS: usize = 4;
/// Bounces in a row that are lost in rounding, after which there is nothing left of them.
const MAX_LOST_BOUNCES: usize = 8;
/// Bounces lower than this part of the largest position, or of 1, are lost in rounding.
const LOST_HEIGHT: f64 = 1e-13;
/// Contacts whose flights are no longer than this many of those of another may come to rest together with it.
const COMMON_RHYTHM: f64 = 4.0;
/// A state at the end of a series is extrapolated from impacts up to this many times the remaining time
/// before it.
const EXTRAPOLATION_BASE: f64 = 16.0;

/// An impact of one contact, as it is observed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    /// Time, s.
    pub(super) t: f64,
    /// Time since the impact before, more precise than a difference of times, s.
    pub(super) flight: f64,
    /// Approach speed, m/s.
    pub(super) speed: f64,
    /// (q, v) after it.
    pub(super) y: Vec<f64>,
}

/// An impact of a series.
#[derive(Clone, Debug)]
struct SeriesImpact {
    flight: f64,
    speed: f64,
    /// T_k − t_k by speeds and by times; not finite where there is none.
    remaining: [f64; 2],
    y: Vec<f64>,
}

/// Where a series of impacts ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ZenoLimit {
    /// From the last impact to t_∞.
    pub(super) remaining: f64,
    /// Time between the last two impacts.
    pub(super) flight: f64,
    /// Whether bounces are lost in rounding and the state is not extrapolated, so that `y` is the one after
    /// the last impact.
    pub(super) lost: bool,
    /// (q, v) at t_∞.
    pub(super) y: Vec<f64>,
}

/// The impacts of all contacts so far, and what they converge to.
#[derive(Clone, Debug)]
pub(super) struct ZenoDetector {
    series: Vec<ImpactSeries>,
    /// Time since the last impact of every contact.
    since: Vec<f64>,
    /// Limits that are farther away than this are left for later, s.
    window: f64,
}

impl ZenoDetector {
    /// No impacts of these contacts yet.
    pub(super) fn new(contacts: usize, window: f64) -> ZenoDetector {
        ZenoDetector {
            series: vec![ImpactSeries::default(); contacts],
            since: vec![f64::INFINITY; contacts],
            window,
        }
    }

    /// Time passes.
    pub(super) fn advance(&mut self, time: f64) {
        self.since.iter_mut().for_each(|s| *s += time);
    }

    /// Contacts that close at these speeds at time t; y = (q, v) after it. The first of them whose series has
    /// a limit within the window, and that limit.
    pub(super) fn observe(
        &mut self,
        t: f64,
        impacts: &[(usize, f64)],
        y: &[f64],
    ) -> Option<(usize, ZenoLimit)> {
        let mut found = None;
        for &(i, speed) in impacts {
            let impact = Observation { t, flight: self.since[i], speed, y: y.to_vec() };
            let limit = self.series[i].observe(impact, self.window);
            found = found.or(limit.map(|limit| (i, limit)));
            self.since[i] = 0.0;
        }
        found
    }

    /// Whether a contact comes to rest with the series of this limit: its impacts have the same rhythm, and
    /// one came since the last but one impact of the series.
    pub(super) fn takes_part(&self, contact: usize, limit: &ZenoLimit) -> bool {
        let round = limit.flight * (1.0 + 1e-6);
        self.since[contact] <= round && self.series[contact].last_flight() <= COMMON_RHYTHM * limit.flight
    }

    /// Whether the contact collided while the states were collected from which the limit is extrapolated.
    pub(super) fn disturbs(&self, contact: usize, limit: &ZenoLimit) -> bool {
        self.since[contact] <= EXTRAPOLATION_BASE * limit.remaining
    }

    /// Forgets the series of a contact.
    pub(super) fn clear(&mut self, contact: usize) {
        self.series[contact] = ImpactSeries::default();
    }

    /// Forgets all series: the motion is another one from here on.
    pub(super) fn clear_all(&mut self) {
        self.series.fill(ImpactSeries::default());
    }
}

/// The impacts of one contact so far, each slower than the one before.
#[derive(Clone, Debug, Default)]
struct ImpactSeries {
    impacts: VecDeque<SeriesImpact>,
    /// Bounces in a row that were lost in rounding.
    lost: usize,
}

impl ImpactSeries {
    /// Adds an impact. The limit, once it is known and less than `window` away.
    fn observe(&mut self, impact: Observation, window: f64) -> Option<ZenoLimit> {
        let Observation { t, flight, speed, y } = impact;
        let size = t.abs().max(1.0);
        // An impact at the same instant, through another contact: no bounce, unless others were lost before
        // it.
        if flight <= SIMULTANEOUS * size && !self.impacts.is_empty() {
            self.lost += usize::from(self.lost > 0);
            let lost = self.lost >= MAX_LOST_BOUNCES && window > 0.0;
            return lost.then_some(ZenoLimit { remaining: 0.0, flight: ONE_INSTANT * size, lost, y });
        }
        let height = LOST_HEIGHT * max_abs(&y[..y.len() / 2]).max(1.0);
        self.push(flight, speed, y);
        let limit = extrapolated_limit(&self.impacts, t, window);
        let last = self.impacts.back()?;
        let has_rule = self.impacts.len() >= MIN_IMPACTS;
        // A series that has a rule is not lost: its low bounces add up to the sum of the rule.
        let over = if has_rule {
            last.remaining[0] <= NO_REMAINDER * size
        } else {
            flight <= SHORT_REMAINDER * size
        };
        self.lost = if over && 0.125 * speed * flight <= height { self.lost + 1 } else { 0 };
        // All that is left of a series by its times; false where they have no rule.
        let [_, by_times] = last.remaining;
        let ends = has_rule && by_times <= NO_REMAINDER * size && speed * by_times <= height;
        if limit.is_some() || window == 0.0 || !(ends || self.lost >= MAX_LOST_BOUNCES) {
            return limit;
        }
        Some(ZenoLimit { remaining: 0.0, flight, lost: true, y: last.y.clone() })
    }

    /// Adds an impact to the series, or begins another one with it where speeds do not shrink by a steady
    /// ratio.
    fn push(&mut self, flight: f64, speed: f64, y: Vec<f64>) {
        let before = self.impacts.back().map(|s| (s.speed, s.flight));
        let older = self.impacts.len().checked_sub(2).map(|i| self.impacts[i].speed);
        let ratio = before.map_or(1.0, |(w, _)| speed / w);
        let steady = match (before, older) {
            (Some((w, _)), Some(v)) => (ratio - w / v).abs() < RATIO_CHANGE,
            _ => true,
        };
        if before.is_some() && !(ratio > 0.0 && ratio < 1.0 - RATIO_BELOW_ONE && steady) {
            self.impacts.clear();
            self.impacts.push_back(SeriesImpact { flight, speed, remaining: [f64::NAN; 2], y });
            return;
        }
        let ratios = [ratio, before.map_or(1.0, |(_, d)| flight / d)];
        let remaining = ratios.map(|r| geometric_remainder(flight, r));
        self.impacts.push_back(SeriesImpact { flight, speed, remaining, y });
        if self.impacts.len() > MAX_IMPACTS {
            self.impacts.pop_front();
        }
    }

    /// The time between the last two impacts; infinite where there are none.
    fn last_flight(&self) -> f64 {
        self.impacts.back().map_or(f64::INFINITY, |impact| impact.flight)
    }
}

/// Σ_{j ≥ 1} d r^j = d r/(1 − r): what is left of a geometric series after its term d; NaN where it has no
/// sum.
fn geometric_remainder(d: f64, r: f64) -> f64 {
    if r > 0.0 && r < 1.0 - RATIO_BELOW_ONE { d * r / (1.0 - r) } else { f64::NAN }
}

/// The decision: where a series of impacts, the last one at time t, ends; `None` where it has no rule yet,
/// its rule is not known well enough, or the end is farther away than `window`.
fn extrapolated_limit(impacts: &VecDeque<SeriesImpact>, t: f64, window: f64) -> Option<ZenoLimit> {
    if impacts.len() < MIN_IMPACTS {
        return None;
    }
    let ends = [extrapolated_end(impacts, 0), extrapolated_end(impacts, 1)];
    let (remaining, change) = ends.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let size = (t + remaining).abs().max(1.0);
    let known = change <= TIME_AGREEMENT * size || remaining <= SHORT_REMAINDER * size;
    if remaining > window || !known {
        return None;
    }
    let y = extrapolated_state(impacts, remaining)?;
    Some(ZenoLimit { remaining, flight: impacts.back()?.flight, lost: false, y })
}

/// t_∞ after the last impact, by speeds (0) or times (1), and how much the last of the impacts through which
/// it is extrapolated changed it.
fn extrapolated_end(impacts: &VecDeque<SeriesImpact>, by: usize) -> Option<(f64, f64)> {
    let last = impacts.back()?.remaining[by];
    let nodes: Vec<(f64, f64)> = (nodes(impacts, last).iter())
        .map(|&(back, k)| (back, back + impacts[k].remaining[by]))
        .filter(|node| node.1.is_finite())
        .collect();
    // end = p(end): where times have another ratio than speeds, p is steep and this leads away, which the
    // change shows.
    let mut end = last;
    for _ in 0..FIXED_POINT_STEPS {
        end = neville(&nodes, end).0;
    }
    let (again, fewer) = neville(&nodes, end);
    let change = (again - fewer).abs().max((again - end).abs());
    (end > 0.0 && nodes.len() == NODES).then_some((again, change))
}

/// Impacts that lie about 1, 2, 4 and 8 times the remaining time before t_∞: their times, from the last
/// impact on, and numbers.
fn nodes(impacts: &VecDeque<SeriesImpact>, remaining: f64) -> Vec<(f64, usize)> {
    let last = impacts.len() - 1;
    let mut picked = vec![(0.0, last)];
    let mut back = 0.0;
    for k in (0..last).rev() {
        back -= impacts[k + 1].flight;
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

/// The state at `remaining` after the last impact; `None` where three impacts give another than four: what
/// moves fast beside the contact, or collided itself, is not extrapolated.
fn extrapolated_state(impacts: &VecDeque<SeriesImpact>, remaining: f64) -> Option<Vec<f64>> {
    let picked = nodes(impacts, remaining);
    let last = &impacts.back()?.y;
    let size = max_abs(last).max(1.0);
    let mut result = Vec::with_capacity(last.len());
    for i in 0..last.len() {
        let nodes: Vec<(f64, f64)> = picked.iter().map(|&(t, k)| (t, impacts[k].y[i])).collect();
        let (value, fewer) = neville(&nodes, remaining);
        let apart = (value - fewer).abs();
        if apart.is_nan() || apart > STATE_AGREEMENT * size {
            return None;
        }
        result.push(value);
    }
    Some(result)
}

/// Neville's scheme: the polynomial through these points at x, and the one through all but the last.
fn neville(nodes: &[(f64, f64)], x: f64) -> (f64, f64) {
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

    fn observe(
        series: &mut ImpactSeries,
        t: f64,
        flight: f64,
        speed: f64,
        y: Vec<f64>,
        window: f64,
    ) -> Option<ZenoLimit> {
        series.observe(Observation { t, flight, speed, y }, window)
    }

    /// A ball that also rolls along x with a velocity that decays.
    #[test]
    fn geometric_flights_end_where_the_series_does() {
        for e in [0.1, 0.5, 0.9, 0.99] {
            let (mut series, mut t, mut speed) = (ImpactSeries::default(), 1.0, 1.0);
            let end = 1.0 + 2.0 * e / (9.81 * (1.0 - e));
            let x = |t: f64| (3.0 * t).sin();
            let mut found = None;
            let mut flight = 0.0;
            for _ in 0..10_000 {
                found = observe(&mut series, t, flight, speed, vec![x(t)], 1e-3);
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

    /// Gravity that grows, so that speeds shrink by another ratio at every bounce: u = a d/2 + b d²/6 and w =
    /// a d/2 + b d²/3 for a flight d that begins with u under a + b τ. Backwards from t_∞ the series is the
    /// fixed point of that map, found here by bouncing to the very end.
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
            let (mut t, mut u, mut series) = (start.0, start.1, ImpactSeries::default());
            let limit = loop {
                let (d, w) = bounce(t, u);
                (t, u) = (t + d, e * w);
                let found = observe(&mut series, t, d, w, vec![], 1e-3);
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
    fn times_give_the_end_where_speeds_do_not() {
        let (mut series, mut t, mut speed, mut flight) = (ImpactSeries::default(), 0.0, 1.0, 1.0);
        let end = 0.2 / (1.0 - 0.2);
        let mut found = None;
        for _ in 0..40 {
            found = observe(&mut series, t, flight, speed, vec![0.0; 2], 1e-3);
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
        let mut series = ImpactSeries::default();
        let mut count = 0;
        for k in 0..100 {
            count += 1;
            let speed = if k % 2 == 0 { 1e-7 } else { 3e-7 };
            if let Some(limit) = observe(&mut series, 1.0, 2e-8, speed, vec![1.0, 0.0], 1e-3) {
                assert!(limit.lost && limit.remaining == 0.0);
                break;
            }
        }
        assert_eq!(count, MAX_LOST_BOUNCES);
    }

    /// Between two contacts times shrink faster than speeds: the end is found while instants differ, or
    /// else at the instant at which impacts follow each other.
    #[test]
    fn rattling_ends() {
        // Velocities that alternate are not continued.
        let state = |k: usize| vec![1.0, if k.is_multiple_of(2) { 1.0 } else { -1.0 }];
        let (mut series, mut t, mut speed, mut flight) = (ImpactSeries::default(), 1.0, 1.0, 1e-3);
        let end = 1.0 + 2e-4 / 0.8;
        let limit = (0..100).find_map(|k| {
            (speed, flight) = (0.8 * speed, 0.2 * flight);
            t += flight;
            observe(&mut series, t, flight, speed, state(k), 1e-3)
        });
        // By its times, or when less than 1e-13 is left to go, at speeds above 1e-2.
        assert!(limit.is_some_and(|limit| (t + limit.remaining - end).abs() < 1e-11));
        let mut series = ImpactSeries::default();
        let flights = [1e-9, 5e-13, 1e-14, 1e-16, 1e-19, 1e-19, 1e-19, 1e-19, 1e-19];
        let limits =
            flights.iter().enumerate().map(|(k, d)| observe(&mut series, 1.0, *d, 0.5, state(k), 1e-3));
        let found: Vec<bool> = limits.map(|limit| limit.is_some_and(|limit| limit.lost)).collect();
        assert_eq!(found.iter().position(|lost| *lost), Some(MAX_LOST_BOUNCES));
    }

    #[test]
    fn elastic_impacts_have_no_limit() {
        let mut series = ImpactSeries::default();
        for k in 0..1000 {
            assert_eq!(observe(&mut series, k as f64, 1.0, 1.0, vec![], 1e9), None);
        }
    }

    /// Flights and speeds 1/k: they shrink, but their sum has no limit.
    #[test]
    fn a_harmonic_series_has_no_limit() {
        let (mut series, mut t) = (ImpactSeries::default(), 0.0);
        for k in 1..1000 {
            let d = 1.0 / f64::from(k);
            t += d;
            assert_eq!(observe(&mut series, t, d, d, vec![], 1e9), None, "{k}");
        }
    }

    /// 1/2 + 1/4 + … = 1 after a first term of 1; ratios from 1 on have no sum.
    #[test]
    fn geometric_remainders() {
        assert_eq!(geometric_remainder(1.0, 0.5), 1.0);
        assert!(geometric_remainder(1.0, 1.0).is_nan() && geometric_remainder(1.0, -0.5).is_nan());
    }

    /// A parabola is continued exactly by three points, a cubic only by four.
    #[test]
    fn polynomials_are_continued() {
        let nodes = |f: fn(f64) -> f64| [0.0, -1.0, -3.0, -7.0].map(|x| (x, f(x)));
        let (value, fewer) = neville(&nodes(|x| 2.0 * x * x - x + 3.0), 1.5);
        assert!((value - 6.0).abs() < 1e-13 && (fewer - 6.0).abs() < 1e-13);
        let (value, fewer) = neville(&nodes(|x| x * x * x), 2.0);
        assert!((value - 8.0).abs() < 1e-12 && (fewer - 8.0).abs() > 1.0);
    }

    /// Two contacts that collide in turn come to rest together; one that collided long ago does not take
    /// part.
    #[test]
    fn contacts_in_one_rhythm_take_part() {
        let mut zeno = ZenoDetector::new(3, 1e-3);
        zeno.observe(0.0, &[(0, 1.0), (1, 1.0), (2, 1.0)], &[]);
        for _ in 0..2 {
            zeno.advance(0.1);
            zeno.observe(0.0, &[(0, 1.0)], &[]);
            zeno.advance(0.1);
            zeno.observe(0.0, &[(1, 1.0)], &[]);
        }
        let limit = ZenoLimit { remaining: 0.01, flight: 0.2, lost: false, y: vec![] };
        assert!(zeno.takes_part(0, &limit) && zeno.takes_part(1, &limit) && !zeno.takes_part(2, &limit));
        // 0.1 s ago is within 16 times 0.01 s, 0.4 s ago is not.
        assert!(zeno.disturbs(0, &limit) && !zeno.disturbs(2, &limit));
        zeno.clear(0);
        assert!(!zeno.takes_part(0, &limit));
    }
}
