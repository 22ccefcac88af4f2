//! The gap of a contact between two of its impacts, by its rate alone.
//!
//! ```text
//! g(t) = ∫ ġ dt     from the last impact, where g = 0, on
//! ```
//!
//! A gap that is the difference of large coordinates, or of a position and the place of a floor that moves,
//! has their rounding; its rate has only that of velocities. A bounce that is low follows from its rate. Over
//! a step ġ is the polynomial through its values at the points, whose integral is as good as positions are.
//! Where the two differ by more than rounding, the formula itself decides.

use super::super::gauss_collocation::{GAUSS, POINTS, integral};

/// How far a gap and the integral of its rate may be apart, as a part of the largest position, or of 1.
const MAX_DIFFERENCE: f64 = 2e-14;
/// Gaps up to this part of the largest position, or of 1, follow from their rates.
const LOW_GAP: f64 = 1e-3;

/// A gap since the last impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// At the start of the step.
    start: f64,
    /// Its change over the step: Legendre coefficients of dg/dθ.
    rate: [f64; POINTS],
    /// How far it may be from the formula.
    band: f64,
}

impl Flight {
    /// Just after an impact.
    pub const BEGIN: Flight = Flight { start: 0.0, rate: [0.0; POINTS], band: 0.0 };

    /// The flight over a step of which `eval` gives gap and dg/dθ, among positions of this size; `None` where
    /// it is high, or the points of the step do not resolve it.
    pub fn over(self, mut eval: impl FnMut(f64) -> (f64, f64), size: f64) -> Option<Flight> {
        let points = GAUSS.points.map(&mut eval);
        let band = MAX_DIFFERENCE * size;
        let flight = Flight { rate: GAUSS.coefficients(&points.map(|p| p.1)), band, ..self };
        let low = self.start <= LOW_GAP * size;
        let agrees = |(theta, p): (&f64, &(f64, f64))| (flight.at(*theta) - p.0).abs() <= band;
        (low && GAUSS.points.iter().zip(&points).all(agrees)).then_some(flight)
    }

    /// The gap at θ.
    fn at(&self, theta: f64) -> f64 {
        self.start + integral(&self.rate, theta)
    }

    /// The gap at θ, where the formula gives `gap`.
    pub fn gap(&self, theta: f64, gap: f64) -> f64 {
        let flown = self.at(theta);
        if (flown - gap).abs() <= 2.0 * self.band { flown } else { gap }
    }

    /// What the formula of the gap leaves open, in bounds of it.
    pub fn blur(&self) -> f64 {
        2.0 * self.band
    }

    /// From θ on; `None` where it has come to its end there.
    pub fn from(self, theta: f64) -> Option<Flight> {
        let start = self.at(theta);
        (start >= 0.0).then_some(Flight { start, rate: [0.0; POINTS], ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bounce 1e-10 high at the coordinate 1000: the formula gives its end to 1e-3 of its length, the rate
    /// to rounding.
    #[test]
    fn a_low_bounce_follows_from_its_rate() {
        let (u, g) = (4e-5, 9.81);
        let d = 2.0 * u / g;
        let eval = |theta: f64| {
            let t = 1.5 * d * theta;
            ((1000.0 + (u - 0.5 * g * t) * t) - 1000.0, 1.5 * d * (u - g * t))
        };
        let flight = Flight::BEGIN.over(eval, 1e3).expect("low");
        let end = 2.0 / 3.0;
        assert!(flight.gap(end, 3e-14).abs() < 1e-15 * u * d);
        // What is farther from it than rounding is no part of the flight.
        assert_eq!(flight.gap(end, 1e-9), 1e-9);
        assert_eq!(Flight::BEGIN.over(|theta| (1e-9 * theta, 0.0), 1e3), None);
    }
}
