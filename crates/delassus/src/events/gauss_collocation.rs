//! Gauss collocation of order 16: one step of ẏ = f(t, y), with a polynomial for every instant of it.
//!
//! ```text
//! y(t₀ + θh) = y₀ + h ∫₀^θ p(τ) dτ ,     p(θᵢ) = f(t₀ + θᵢh, y(t₀ + θᵢh)) ,     i = 1 … s
//! ```
//!
//! θᵢ ∈ (0, 1) the s = 8 Gauss points, p a polynomial of degree s − 1. At the end of the step the error is of
//! order 2s = 16, inside of it of order s + 1; the method is symmetric and symplectic, so that energy does
//! not drift. p is kept in Legendre polynomials, p(θ) = Σ cₖ Pₖ(2θ − 1), whose last coefficient estimates the
//! error of p.
//!
//! The equations are solved by sweeps over the points, each with the newest values of the others; they
//! contract where h times the Lipschitz constant of f is moderate, and a step on which they do not is
//! refused.

use std::sync::LazyLock;

use delassus_solve::linalg::max_abs;

use crate::formula::Interval;

/// Points of a step.
pub(super) const POINTS: usize = 8;
/// Sweeps after which a step is refused.
const MAX_SWEEPS: usize = 40;
/// A change of y by this part of its scale is rounding.
const CHANGE_ROUNDING: f64 = 4e-16;
/// A change of y by this part of the tolerance is small enough: what it leaves adds up over thousands of
/// steps before it shows beside their errors.
const SETTLED_TOLERANCE: f64 = 1e-4;
/// Sweeps are trusted to shrink changes by this factor at most, when the change of the next one is predicted.
const LEAST_CONTRACTION: f64 = 1e-2;
/// Changes below which the error of the step can be predicted, in units of the scale.
const PREDICTABLE: f64 = 1e-3;
/// Changes below this part of the scale that no longer shrink are rounding too, as formulas are evaluated.
pub(super) const FLOOR: f64 = 1e-13;

/// What rounding adds to bounds, relative to the value in the middle.
const ROUNDING: f64 = 1e-15;

/// The points, weights and integrals of the method.
pub(super) struct Gauss {
    /// θᵢ.
    pub(super) points: [f64; POINTS],
    /// wᵢ, which sum to 1.
    pub(super) weights: [f64; POINTS],
    /// ∫₀^θᵢ ℓⱼ with ℓⱼ the Lagrange polynomials of the points.
    pub(super) integrals: [[f64; POINTS]; POINTS],
    /// Pₖ(2θᵢ − 1), first index i.
    legendre: [[f64; POINTS]; POINTS],
}

/// The method, computed once.
pub(super) static GAUSS: LazyLock<Gauss> = LazyLock::new(Gauss::new);

/// P₀ … Pₘ at x.
fn legendre<const M: usize>(x: f64) -> [f64; M] {
    let mut p = [1.0; M];
    if M > 1 {
        p[1] = x;
    }
    for k in 2..M {
        let n = k as f64;
        p[k] = ((2.0 * n - 1.0) * x * p[k - 1] - (n - 1.0) * p[k - 2]) / n;
    }
    p
}

/// ∫₀^θ Pₖ(2τ − 1) dτ for k = 0 … s − 1.
fn legendre_integrals(theta: f64) -> [f64; POINTS] {
    let p: [f64; POINTS + 1] = legendre(2.0 * theta - 1.0);
    let mut integrals = [theta; POINTS];
    for k in 1..POINTS {
        integrals[k] = (p[k + 1] - p[k - 1]) / (2.0 * (2 * k + 1) as f64);
    }
    integrals
}

impl Gauss {
    fn new() -> Gauss {
        let (mut points, mut weights) = ([0.0; POINTS], [0.0; POINTS]);
        for i in 0..POINTS {
            // Newton's method on P_s from Tricomi's estimate of its zeros.
            let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (POINTS as f64 + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..20 {
                let p: [f64; POINTS + 1] = legendre(x);
                slope = POINTS as f64 * (x * p[POINTS] - p[POINTS - 1]) / (x * x - 1.0);
                x -= p[POINTS] / slope;
            }
            points[i] = 0.5 * (1.0 + x);
            weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
        let mut table = [[0.0; POINTS]; POINTS];
        for i in 0..POINTS {
            table[i] = legendre(2.0 * points[i] - 1.0);
        }
        let mut integrals = [[0.0; POINTS]; POINTS];
        for i in 0..POINTS {
            let at = legendre_integrals(points[i]);
            for j in 0..POINTS {
                // ℓⱼ = Σₖ (2k + 1) wⱼ Pₖ(θⱼ) Pₖ.
                integrals[i][j] =
                    (0..POINTS).map(|k| (2 * k + 1) as f64 * weights[j] * table[j][k] * at[k]).sum();
            }
        }
        Gauss { points, weights, integrals, legendre: table }
    }

    /// Legendre coefficients of the polynomial through values at the points.
    pub(super) fn coefficients(&self, values: &[f64; POINTS]) -> [f64; POINTS] {
        std::array::from_fn(|k| {
            let sum: f64 = (0..POINTS).map(|i| self.weights[i] * self.legendre[i][k] * values[i]).sum();
            (2 * k + 1) as f64 * sum
        })
    }
}

/// The value at θ of the polynomial with these Legendre coefficients.
pub(super) fn polynomial(coefficients: &[f64; POINTS], theta: f64) -> f64 {
    let p: [f64; POINTS] = legendre(2.0 * theta - 1.0);
    coefficients.iter().zip(p).map(|(c, p)| c * p).sum()
}

/// Its integral over [0, θ].
pub(super) fn integral(coefficients: &[f64; POINTS], theta: f64) -> f64 {
    coefficients.iter().zip(legendre_integrals(theta)).map(|(c, p)| c * p).sum()
}

/// One step, for every θ of it.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseStep {
    /// t₀.
    pub(super) start: f64,
    /// h.
    pub(super) length: f64,
    /// y₀.
    origin: Vec<f64>,
    /// Legendre coefficients of p, one set per component of y.
    coefficients: Vec<[f64; POINTS]>,
}

impl DenseStep {
    /// t₀ + θh.
    pub(super) fn time(&self, theta: f64) -> f64 {
        self.start + theta * self.length
    }

    /// y(t₀ + θh).
    pub(super) fn at(&self, theta: f64, y: &mut Vec<f64>) {
        let integrals = legendre_integrals(theta);
        y.clear();
        y.extend(
            self.origin
                .iter()
                .zip(&self.coefficients)
                .map(|(y0, c)| y0 + self.length * (0..POINTS).map(|k| c[k] * integrals[k]).sum::<f64>()),
        );
    }

    /// Bounds of y, ẏ and ÿ over the stretch [a, b] of θ, for every component: p by its value and rate in the
    /// middle and a bound of its second derivative, y by p.
    pub(super) fn bounds(&self, (a, b): (f64, f64), out: &mut Vec<[Interval; 3]>) {
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let integrals = legendre_integrals(middle);
        let x = 2.0 * middle - 1.0;
        let p: [f64; POINTS] = legendre(x);
        let mut derivatives = [0.0; POINTS];
        for k in 1..POINTS {
            // P'ₖ = P'ₖ₋₂ + (2k − 1)Pₖ₋₁
            derivatives[k] = (2 * k - 1) as f64 * p[k - 1] + if k > 1 { derivatives[k - 2] } else { 0.0 };
        }
        // |P''ₖ| ≤ P''ₖ(1) = (k − 1)k(k + 1)(k + 2)/8, and dx = 2 dθ.
        let second: [f64; POINTS] = std::array::from_fn(|k| {
            let k = k as f64;
            0.5 * (k - 1.0) * k * (k + 1.0) * (k + 2.0)
        });
        let h = self.length;
        out.clear();
        out.extend(self.origin.iter().zip(&self.coefficients).map(|(y0, c)| {
            let sum = |weights: &[f64; POINTS]| c.iter().zip(weights).map(|(c, w)| c * w).sum::<f64>();
            let bend: f64 = c.iter().zip(&second).map(|(c, w)| c.abs() * w).sum();
            let around = |value: f64, radius: f64| {
                let radius = radius + ROUNDING * value.abs();
                Interval::new(value - radius, value + radius)
            };
            let slope = around(2.0 * sum(&derivatives), half * bend);
            let rate = around(sum(&p), half * slope.magnitude());
            let value = around(y0 + h * sum(&integrals), half * h * rate.magnitude());
            [value, rate, Interval::new(slope.lo / h, slope.hi / h)]
        }));
    }

    /// How much of the step's change its last coefficient makes up, in units of `scale` per component.
    fn tail(&self, scale: &[f64]) -> f64 {
        let part = self.length * LAST_INTEGRAL;
        self.coefficients.iter().zip(scale).map(|(c, s)| part * c[POINTS - 1].abs() / s).fold(0.0, f64::max)
    }
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepOutcome {
    /// The equations hold; the error of the step in units of the scale.
    Converged(f64),
    /// The error will be about this, more than allowed; the equations do not hold yet.
    Rough(f64),
    /// The sweeps did not contract.
    Diverged,
}

/// A step to take: ẏ = f(t, y) from (t, y₀) over h.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepProblem<'p> {
    pub(super) t: f64,
    pub(super) h: f64,
    pub(super) y0: &'p [f64],
    /// What errors of each component are measured by.
    pub(super) scale: &'p [f64],
    /// Largest error of the step in units of the scale.
    pub(super) tolerance: f64,
    /// Changes up to this, in units of the scale, that no longer shrink are rounding of f.
    pub(super) rounding: f64,
}

/// How far the sweeps have come.
struct Progress {
    /// The change that the last sweep made, in units of the scale.
    change: f64,
    /// The same before adjustments were counted, one sweep earlier.
    earlier: f64,
}

/// What a sweep leads to.
enum Sweep {
    Settled,
    Again,
    Refused(StepOutcome),
}

/// The solver of the collocation equations, with its scratch memory.
#[derive(Default)]
pub(super) struct Collocation {
    /// f at the points.
    slopes: Vec<Vec<f64>>,
    /// y at one point, and f there.
    y: Vec<f64>,
    fresh: Vec<f64>,
    /// By what factor a sweep of the last step shrank changes, on average.
    pub(super) contraction: f64,
    /// Calls of f so far.
    pub(super) evaluations: u64,
}

impl Collocation {
    /// As [`DenseStep::tail`], of the slopes as they are.
    fn tail(&self, h: f64, scale: &[f64]) -> f64 {
        let g = &*GAUSS;
        // (2s − 1)·LAST_INTEGRAL = 1.
        let weights: [f64; POINTS] = std::array::from_fn(|i| h * g.weights[i] * g.legendre[i][POINTS - 1]);
        let last = |k: usize| self.slopes.iter().zip(weights).map(|(slopes, w)| w * slopes[k]).sum::<f64>();
        scale.iter().enumerate().map(|(k, s)| last(k).abs() / s).fold(0.0, f64::max)
    }

    /// One step into `dense`, where its error is at most the tolerance. `rate(i, t, y, ẏ)` evaluates f at
    /// point i. Where `before` is the step that ended at (t, y₀), its polynomial continued is the first
    /// guess. `adjust` is called after each sweep and returns the change of y, in units of the scale, that
    /// what it adjusted will make; `None` where there is nothing to adjust.
    pub(super) fn step<E>(
        &mut self,
        problem: &StepProblem<'_>,
        before: Option<&DenseStep>,
        dense: &mut DenseStep,
        mut adjust: impl FnMut() -> Option<f64>,
        mut rate: impl FnMut(usize, f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<StepOutcome, E> {
        self.guess(problem, before, &mut rate)?;
        let mut progress = Progress { change: f64::INFINITY, earlier: 0.0 };
        let (mut settled, mut first) = (false, 0.0);
        self.contraction = 0.0;
        for count in 0..MAX_SWEEPS {
            let change = self.sweep(problem, &mut rate)?;
            if !change.is_finite() {
                return Ok(StepOutcome::Diverged);
            }
            match count {
                0 => first = change,
                // Below this, changes are rounding and do not shrink.
                _ if change > problem.rounding => {
                    self.contraction = (change / first).powf(1.0 / count as f64)
                }
                _ => {}
            }
            match self.assess(problem, count, change, adjust(), &mut progress) {
                Sweep::Settled => {
                    settled = true;
                    break;
                }
                Sweep::Again => {}
                Sweep::Refused(outcome) => return Ok(outcome),
            }
        }
        if !settled && progress.change > problem.rounding {
            return Ok(StepOutcome::Diverged);
        }
        self.fit(problem, dense);
        Ok(StepOutcome::Converged(dense.tail(problem.scale)))
    }

    /// The first guess of the slopes: the polynomial of the step before, or f at the start.
    fn guess<E>(
        &mut self,
        problem: &StepProblem<'_>,
        before: Option<&DenseStep>,
        rate: &mut impl FnMut(usize, f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let n = problem.y0.len();
        self.fresh.resize(n, 0.0);
        self.slopes.resize(POINTS, vec![]);
        match before.filter(|b| b.coefficients.len() == n && b.length > 0.0) {
            Some(b) => {
                for (i, slopes) in self.slopes.iter_mut().enumerate() {
                    // Beyond twice its length a polynomial of degree 7 is no guess.
                    let theta = (1.0 + GAUSS.points[i] * problem.h / b.length).min(2.0);
                    slopes.clear();
                    slopes.extend(b.coefficients.iter().map(|c| polynomial(c, theta)));
                }
            }
            None => {
                self.fresh.fill(0.0);
                rate(0, problem.t, problem.y0, &mut self.fresh)?;
                self.evaluations += 1;
                for slopes in &mut self.slopes {
                    slopes.clone_from(&self.fresh);
                }
            }
        }
        Ok(())
    }

    /// One sweep over the points, each with the newest slopes of the others; the largest change of h·ẏ in
    /// units of the scale.
    fn sweep<E>(
        &mut self,
        problem: &StepProblem<'_>,
        rate: &mut impl FnMut(usize, f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<f64, E> {
        let g = &*GAUSS;
        let StepProblem { t, h, y0, scale, .. } = *problem;
        let mut change = 0.0_f64;
        for i in 0..POINTS {
            self.y.clear();
            for k in 0..y0.len() {
                let sum: f64 = (0..POINTS).map(|j| g.integrals[i][j] * self.slopes[j][k]).sum();
                self.y.push(y0[k] + h * sum);
            }
            rate(i, t + g.points[i] * h, &self.y, &mut self.fresh)?;
            self.evaluations += 1;
            for k in 0..y0.len() {
                change = change.max(h * (self.fresh[k] - self.slopes[i][k]).abs() / scale[k]);
                self.slopes[i][k] = self.fresh[k];
            }
        }
        Ok(change)
    }

    /// What follows from sweep number `count`, which changed y by `change`; `adjusted` is the change that
    /// adjustments will make.
    fn assess(
        &self,
        problem: &StepProblem<'_>,
        count: usize,
        mut change: f64,
        adjusted: Option<f64>,
        progress: &mut Progress,
    ) -> Sweep {
        let last = progress.change;
        let mut ratio = if count > 0 { (change / last).max(LEAST_CONTRACTION) } else { 1.0 };
        // An adjustment shows in the sweep after it: of two changes in a row the larger counts.
        if let Some(more) = adjusted {
            ratio = 1.0;
            let larger = change.max(progress.earlier);
            progress.earlier = change;
            if !more.is_finite() {
                return Sweep::Again;
            }
            change = larger.max(more);
        }
        if count > 3 && change > 2.0 * last && change > problem.rounding {
            return Sweep::Refused(StepOutcome::Diverged);
        }
        // What is left after a sweep is about what the next one would change.
        // Without a tolerance every digit counts.
        let fine = if problem.tolerance.is_finite() { SETTLED_TOLERANCE * problem.tolerance } else { 0.0 };
        let settled = CHANGE_ROUNDING.max(fine);
        if change * ratio.min(1.0) <= settled || (change <= problem.rounding && change >= 0.5 * last) {
            return Sweep::Settled;
        }
        // An error that is far larger than what the next sweeps change will not go away.
        if count > 0 && change < PREDICTABLE {
            let error = self.tail(problem.h, problem.scale);
            if error > 2.0 * problem.tolerance && change <= error {
                return Sweep::Refused(StepOutcome::Rough(error));
            }
        }
        progress.change = change;
        Sweep::Again
    }

    /// The polynomial through the slopes.
    fn fit(&self, problem: &StepProblem<'_>, dense: &mut DenseStep) {
        dense.start = problem.t;
        dense.length = problem.h;
        dense.origin.clear();
        dense.origin.extend_from_slice(problem.y0);
        dense.coefficients.clear();
        for k in 0..problem.y0.len() {
            let values = std::array::from_fn(|i| self.slopes[i][k]);
            dense.coefficients.push(GAUSS.coefficients(&values));
        }
    }
}

/// The largest value of the integral of P_{s−1}(2τ − 1) over [0, θ] is below this.
const LAST_INTEGRAL: f64 = 1.0 / (2 * POINTS - 1) as f64;

/// The step that would have an error of 1 in units of the tolerance, from one of length h with this error.
pub(super) fn next_length(h: f64, error: f64) -> f64 {
    // h·c_{s−1} grows as h^s.
    let factor = 0.9 * error.max(1e-30).powf(-1.0 / POINTS as f64);
    h * factor.clamp(0.2, 5.0)
}

/// Scales of y = (q, v) at which errors are measured: the largest position and the largest velocity, or 1.
pub(super) fn scales(q: &[f64], v: &[f64], out: &mut Vec<f64>) {
    let (p, w) = (max_abs(q).max(1.0), max_abs(v).max(1.0));
    out.clear();
    out.extend(q.iter().map(|_| p));
    out.extend(v.iter().map(|_| w));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(t: f64, h: f64, y0: &[f64]) -> StepProblem<'_> {
        StepProblem { t, h, y0, scale: &[1.0; 2], tolerance: f64::INFINITY, rounding: FLOOR }
    }

    /// Quadrature of degree 2s − 1 and collocation of degree s: the simplifying assumptions B(2s) and C(s),
    /// which together give order 2s.
    #[test]
    fn order_conditions() {
        let g = Gauss::new();
        for k in 1..=2 * POINTS {
            let sum: f64 = (0..POINTS).map(|i| g.weights[i] * g.points[i].powi(k as i32 - 1)).sum();
            assert!((sum - 1.0 / k as f64).abs() < 2e-15, "B({k}): {sum}");
        }
        for k in 1..=POINTS {
            for i in 0..POINTS {
                let sum: f64 = (0..POINTS).map(|j| g.integrals[i][j] * g.points[j].powi(k as i32 - 1)).sum();
                let exact = g.points[i].powi(k as i32) / k as f64;
                assert!((sum - exact).abs() < 2e-15, "C({k}) at point {i}: {sum} for {exact}");
            }
        }
    }

    /// q̈ = −q: the error at the end of a step falls by about 2¹⁷ when the step is halved, inside of it by
    /// 2⁹.
    #[test]
    fn order_of_convergence() {
        let one = |h: f64| {
            let (mut collocation, mut dense) = (Collocation::default(), DenseStep::default());
            let outcome = collocation.step(
                &problem(0.0, h, &[1.0, 0.0]),
                None,
                &mut dense,
                || None,
                |_, _, y, dy| {
                    dy[0] = y[1];
                    dy[1] = -y[0];
                    Ok::<(), ()>(())
                },
            );
            assert!(matches!(outcome, Ok(StepOutcome::Converged(_))));
            let mut y = vec![];
            dense.at(1.0, &mut y);
            let end = (y[0] - h.cos()).abs().max((y[1] + h.sin()).abs());
            dense.at(0.3, &mut y);
            (end, (y[0] - (0.3 * h).cos()).abs().max((y[1] + (0.3 * h).sin()).abs()))
        };
        let (end, inside) = one(4.0);
        let (half_end, half_inside) = one(2.0);
        assert!(end < 1e-6 && end / half_end > 4e4, "{end:e} then {half_end:e}");
        assert!(inside / half_inside > 300.0, "{inside:e} then {half_inside:e}");
    }

    /// Bounds on stretches hold what the polynomial does there, and become narrow with them.
    #[test]
    fn bounds_hold_the_motion() {
        let (mut collocation, mut dense) = (Collocation::default(), DenseStep::default());
        let outcome = collocation.step(
            &problem(0.0, 1.5, &[1.0, 0.0]),
            None,
            &mut dense,
            || None,
            |_, _, y, dy| {
                dy[0] = y[1];
                dy[1] = -y[0].sin();
                Ok::<(), ()>(())
            },
        );
        assert!(matches!(outcome, Ok(StepOutcome::Converged(_))));
        let (mut bounds, mut y) = (vec![], vec![]);
        for k in 0..64 {
            let (a, b) = (f64::from(k) / 64.0, f64::from(k + 1) / 64.0);
            dense.bounds((a, b), &mut bounds);
            for i in 0..=8 {
                let theta = a + (b - a) * f64::from(i) / 8.0;
                dense.at(theta, &mut y);
                assert!(bounds[0][0].contains(y[0]) && bounds[1][0].contains(y[1]));
                // Rates to the accuracy of the polynomial.
                let near = |bound: Interval, x: f64| bound.lo - 1e-6 <= x && x <= bound.hi + 1e-6;
                assert!(near(bounds[0][1], y[1]) && near(bounds[1][1], -y[0].sin()));
                assert!(near(bounds[1][2], -y[0].cos() * y[1]));
            }
            assert!(bounds[0][0].width() < 0.05 && bounds[1][2].width() < 0.2);
        }
    }

    /// The continued polynomial of a step is a good first guess of the next.
    #[test]
    fn guesses_save_evaluations() {
        let field = |_: usize, _: f64, y: &[f64], dy: &mut [f64]| {
            dy[0] = y[1];
            dy[1] = -y[0].sin();
            Ok::<(), ()>(())
        };
        let count = |guess: bool| {
            let (mut collocation, mut a, mut b) =
                (Collocation::default(), DenseStep::default(), DenseStep::default());
            let (h, mut y) = (0.3, vec![]);
            let _ = collocation.step(&problem(0.0, h, &[1.0, 0.0]), None, &mut a, || None, field);
            a.at(1.0, &mut y);
            let first = collocation.evaluations;
            let _ = collocation.step(&problem(h, h, &y), guess.then_some(&a), &mut b, || None, field);
            collocation.evaluations - first
        };
        assert!(count(true) < count(false));
    }
}
