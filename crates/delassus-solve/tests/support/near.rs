//! Comparison of numbers up to a tolerance.

/// Asserts that |found − expected| ≤ tolerance.
#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} for {expected}: off by {:e}", found - expected);
}

/// Asserts that |found − expected| ≤ tolerance (1 + |expected|).
#[track_caller]
pub fn near_relative(found: f64, expected: f64, tolerance: f64) {
    near(found, expected, tolerance * (1.0 + expected.abs()));
}

/// Whether two vectors have one length and |aᵢ − bᵢ| ≤ tolerance.
pub fn all_near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
}

/// Asserts that two vectors have one length and |foundᵢ − expectedᵢ| ≤ tolerance (1 + |expectedᵢ|).
#[track_caller]
pub fn near_vectors(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "found {found:?}, expected {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "found {found:?}, expected {expected:?}");
    }
}
