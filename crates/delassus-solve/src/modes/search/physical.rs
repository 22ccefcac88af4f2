//! A component of the solution set in physical units, represented by its force of least norm.
//!
//! ```text
//! min ‖f + D s‖   subject to   G s ≥ h
//! ```
//!
//! f ∈ Rᵐ, D is m × k, s ∈ Rᵏ (002 Lemma 5.2 item 4, corrected).

use super::{Directions, Found, Search};
use crate::lcp::{Nearest, nearest_point};
use crate::linalg::Matrix;
use crate::modes::{DIRECTION_ROUNDING, Freedom, SLACK_ROUNDING, SolutionComponent};

impl Search<'_> {
    /// Physical numbers, and the force of least norm where there is freedom.
    pub(super) fn physical(&self, found: Found) -> SolutionComponent {
        let (s, point) = (&self.scaled, &found.point);
        let modes = found.choice.iter().enumerate().map(|(k, &p)| self.cones[k][p].mode).collect();
        let mut component = SolutionComponent {
            modes,
            force: s.force(&point.f),
            velocity: s.velocity(&point.u),
            acceleration: s.acceleration(&point.a, &point.f),
            freedom: None,
            intervals: vec![],
        };
        let Some(Directions { unknowns: d, bounds, limits }) = found.directions else { return component };
        let columns: Vec<Vec<f64>> = (0..d.cols()).map(|j| d.col(j)).collect();
        // Columns are unit vectors in scaled unknowns: what is below DIRECTION_ROUNDING there is rounding.
        let clean = |c: &Vec<f64>| -> Vec<f64> {
            c[s.kept..].iter().map(|x| if x.abs() < DIRECTION_ROUNDING { 0.0 } else { *x }).collect()
        };
        let force_columns: Vec<Vec<f64>> = columns.iter().map(|c| s.force(&clean(c))).collect();
        let accel: Vec<Vec<f64>> = columns.iter().map(|c| s.clean_acceleration_change(c)).collect();
        let of = |cols: &[Vec<f64>], rows: usize| Matrix::from_fn(rows, cols.len(), |i, j| cols[j][i]);
        let freedom = Freedom {
            force: of(&force_columns, s.rows()),
            acceleration: of(&accel, accel.first().map_or(0, Vec::len)),
            bounds,
            limits,
        };
        let velocity: Vec<Vec<f64>> = columns
            .iter()
            .map(|c| s.velocity(&s.scaled_velocity_change(&c[..s.kept], &c[s.kept..])))
            .collect();
        move_to_least_norm(&mut component, freedom, &of(&velocity, s.rows()));
        component
    }
}

/// Moves a component to its force of least norm; `velocity` is the change of u along the directions.
fn move_to_least_norm(component: &mut SolutionComponent, mut freedom: Freedom, velocity: &Matrix) {
    if let Some(step) = least_norm(&component.force, &freedom) {
        shift(&mut component.force, &freedom.force, &step);
        shift(&mut component.acceleration, &freedom.acceleration, &step);
        shift(&mut component.velocity, velocity, &step);
        let moved = freedom.bounds.mul_vec(&step);
        freedom.limits.iter_mut().zip(moved).for_each(|(h, m)| *h = (*h - m).min(0.0));
    }
    component.freedom = Some(freedom);
}

fn shift(x: &mut [f64], directions: &Matrix, step: &[f64]) {
    for (a, b) in x.iter_mut().zip(directions.mul_vec(step)) {
        *a += b;
    }
}

/// The parameters s, G s ≥ h, at which ‖f + D s‖ is least (002 Lemma 5.2 item 4, corrected).
fn least_norm(f: &[f64], freedom: &Freedom) -> Option<Vec<f64>> {
    // D = U Σ Vᵀ. With p = Σ Vᵀ s + Uᵀ f the norm is ‖p‖ up to a constant, so p is a nearest point. Where D
    // has a null space (the force does not depend on that parameter: singular mass), those parameters enter
    // with a weight that is negligible against the force.
    let k = freedom.force.cols();
    let space = freedom.force.row_space_with(1e-12);
    const NEGLIGIBLE: f64 = 1e5;
    let stretch = Matrix::from_fn(k, k, |i, j| {
        if j < space.rank {
            space.basis[(i, j)] / space.singular_values[j]
        } else {
            NEGLIGIBLE * space.null_basis[(i, j - space.rank)]
        }
    });
    let mut offset = space.column_basis.tr_mul_vec(f);
    offset.resize(k, 0.0);
    // G s ≥ h with s = stretch (p − offset).
    let g = freedom.bounds.mul(&stretch);
    let shift = g.mul_vec(&offset);
    let h: Vec<f64> = freedom.limits.iter().zip(&shift).map(|(h, s)| h + s).collect();
    match nearest_point(&g, &h, SLACK_ROUNDING) {
        Nearest::Point(p) => {
            let d: Vec<f64> = p.iter().zip(&offset).map(|(a, b)| a - b).collect();
            Some(stretch.mul_vec(&d))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_norm_on_a_segment_is_its_foot_or_an_end() {
        // f = (1, 0) + s (−1, 1) with s in [0, top]: the foot of the perpendicular is at s = 1/2.
        for (top, expected) in [(1.0, 0.5), (0.25, 0.25)] {
            let freedom = Freedom {
                force: Matrix::from_rows(&[[-1.0], [1.0]]),
                acceleration: Matrix::zeros(0, 1),
                bounds: Matrix::from_rows(&[[1.0], [-1.0]]),
                limits: vec![0.0, -top],
            };
            let s = least_norm(&[1.0, 0.0], &freedom).unwrap();
            assert!((s[0] - expected).abs() < 1e-14, "{s:?}");
        }
    }
}
