//! Interval arithmetic that keeps exact numbers exact where an operation does not round.
//!
//! ```text
//! [x, x] ∘ [y, y] = [z, z]   where z = x ∘ y is a double
//! ```
//!
//! Rows of integers stay rows of integers in elimination, and a tie between them stays a tie.

use crate::linalg::Interval;

/// Results below this may have lost digits that no remainder shows.
const UNDERFLOW: f64 = 1e-250;

/// The one number in both intervals.
fn points(x: Interval, y: Interval) -> Option<(f64, f64)> {
    (x.lo == x.hi && y.lo == y.hi).then_some((x.lo, y.lo))
}

pub(super) fn sum(x: Interval, y: Interval) -> Interval {
    match points(x, y) {
        Some((a, b)) => {
            let rounded = a + b;
            let part = rounded - a;
            // The rounding error of a sum is a double.
            if (a - (rounded - part)) + (b - part) == 0.0 { Interval::point(rounded) } else { x + y }
        }
        None => x + y,
    }
}

pub(super) fn product(x: Interval, y: Interval) -> Interval {
    match points(x, y) {
        Some((a, b)) if (a * b).abs() > UNDERFLOW && a.mul_add(b, -(a * b)) == 0.0 => Interval::point(a * b),
        _ => x * y,
    }
}

pub(super) fn quotient(x: Interval, y: Interval) -> Interval {
    match points(x, y) {
        Some((a, b)) if a.abs() > UNDERFLOW && (a / b).mul_add(b, -a) == 0.0 => Interval::point(a / b),
        _ => x / y,
    }
}
