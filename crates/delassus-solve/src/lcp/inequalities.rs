//! The inequalities of a polyhedron in rows of unit length, and their shortest point.
//!
//! ```text
//! gᵢᵀ t / ‖gᵢ‖ ≥ hᵢ / ‖gᵢ‖ ,   i = 1 … p         min ½‖t‖²  ⇔  0 ≤ y ⊥ G Gᵀ y − h ≥ 0 ,  t = Gᵀ y
//! ```
//!
//! G is p × k, h and y are in Rᵖ, t is in Rᵏ. A row shorter than [`rank_tolerance`] times the longest is
//! zero: it either holds for all t and is left out, or for none. The shortest point comes from its
//! multipliers y by Lemke's method and is recomputed on its active rows, where it does not suffer from the
//! squared condition of G Gᵀ.

use super::Lcp;
use super::lemke::{LemkeOptions, lemke};
use crate::linalg::{Lu, Matrix, dot, max_abs, norm, rank_tolerance};
use crate::problem::Status;

/// The shortest (least-squares) solution of G t = h, by LU where G is square and regular.
pub(super) fn shortest_solution(g: &Matrix, h: &[f64]) -> Vec<f64> {
    let all: Vec<usize> = (0..g.rows()).collect();
    let lu = if g.rows() == g.cols() { Lu::principal(g, &all) } else { None };
    lu.map_or_else(|| g.pseudo_solve(h), |lu| lu.solve(h))
}

/// G t ≥ h with rows of length 1; rows that are zero and hold are left out.
pub(super) struct Inequalities {
    pub(super) g: Matrix,
    pub(super) h: Vec<f64>,
    /// Row of the original system and its length, for each row kept.
    origin: Vec<(usize, f64)>,
    /// The largest |hᵢ|, 1 where all are zero.
    pub(super) scale: f64,
}

impl Inequalities {
    /// The scaled system, or the row 0 ≥ hᵢ that cannot hold.
    pub(super) fn new(g: &Matrix, h: &[f64], tolerance: f64) -> Result<Self, usize> {
        let lengths: Vec<f64> = (0..g.rows()).map(|i| norm(g.row(i))).collect();
        let longest = lengths.iter().fold(0.0_f64, |t, x| t.max(*x));
        let zero = rank_tolerance(g.rows(), g.cols()) * longest;
        let bound = max_abs(h);
        let (mut rows, mut kept, mut origin) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..g.rows() {
            if lengths[i] > zero {
                rows.extend(g.row(i).iter().map(|x| x / lengths[i]));
                kept.push(h[i] / lengths[i]);
                origin.push((i, lengths[i]));
            } else if h[i] > tolerance * bound {
                return Err(i);
            }
        }
        let scale = max_abs(&kept);
        Ok(Inequalities {
            g: Matrix::from_vec(kept.len(), g.cols(), rows),
            h: kept,
            origin,
            scale: if scale > 0.0 { scale } else { 1.0 },
        })
    }

    /// Multipliers of the scaled rows as multipliers of the original ones.
    pub(super) fn lift(&self, rows: usize, y: &[f64]) -> Vec<f64> {
        let mut lifted = vec![0.0; rows];
        for (&(i, length), yi) in self.origin.iter().zip(y) {
            lifted[i] = yi / length;
        }
        lifted
    }

    /// Whether y ≥ 0 shows that the polyhedron is empty: a point of it would be 1e5 times the scale away.
    pub(super) fn refutes(&self, y: &[f64]) -> bool {
        // hᵀ y ≤ yᵀ G t ≤ ‖Gᵀ y‖₂ ‖t‖₂ for every point t.
        let (gain, defect) = (dot(&self.h, y), norm(&self.g.tr_mul_vec(y)));
        y.iter().all(|&x| x >= 0.0) && gain > 0.0 && gain >= 1e5 * self.scale * defect
    }

    /// max (hᵢ − gᵢᵀ t), not below 0.
    pub(super) fn violation(&self, h: &[f64], t: &[f64]) -> f64 {
        (0..h.len()).fold(0.0_f64, |worst, i| worst.max(h[i] - dot(self.g.row(i), t)))
    }

    /// The shortest t with G t ≥ h through its multipliers, or `None` where Lemke's method does not find it.
    pub(super) fn shortest(&self, h: &[f64], tolerance: f64) -> Option<Vec<f64>> {
        let (p, k) = (h.len(), self.g.cols());
        if h.iter().all(|&x| x <= 0.0) {
            return Some(vec![0.0; k]);
        }
        let gram = Matrix::from_fn(p, p, |i, j| dot(self.g.row(i), self.g.row(j)));
        let lcp = Lcp { matrix: gram, vector: h.iter().map(|x| -x).collect() };
        let solution = lemke(&lcp, &LemkeOptions { tolerance: tolerance.max(1e-12), ..Default::default() });
        if solution.status != Status::Solved {
            return None;
        }
        let y = &solution.z;
        let t = self.g.tr_mul_vec(y);
        // On its active rows the point is the shortest solution of G_A t = h_A.
        let top = max_abs(y);
        let active: Vec<usize> = (0..p).filter(|&i| y[i] > 1e-13 * top).collect();
        let bounds: Vec<f64> = active.iter().map(|&i| h[i]).collect();
        let polished = shortest_solution(&self.g.select_rows(&active), &bounds);
        let (raw, exact) = (self.violation(h, &t), self.violation(h, &polished));
        let t = if exact <= raw.max(1e-14 * self.scale) { polished } else { t };
        (self.violation(h, &t) <= tolerance * self.scale).then_some(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_normalized_and_zero_rows_decided() {
        let g = Matrix::from_rows(&[[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]]);
        let system = Inequalities::new(&g, &[10.0, -1.0, 2.0], 1e-9).unwrap();
        assert_eq!((system.h.clone(), system.scale), (vec![2.0, 1.0], 2.0));
        assert!((norm(system.g.row(0)) - 1.0).abs() < 1e-15);
        // A multiplier of a unit row is one of the original row times its length.
        assert_eq!(system.lift(3, &[5.0, 2.0]), vec![1.0, 0.0, 1.0]);
        assert_eq!(Inequalities::new(&g, &[10.0, 1.0, 2.0], 1e-9).err(), Some(1));
    }

    #[test]
    fn a_farkas_multiplier_must_be_nonnegative_and_cancel_the_rows() {
        // t ≥ 1 and −t ≥ 0.
        let system = Inequalities::new(&Matrix::from_rows(&[[1.0], [-1.0]]), &[1.0, 0.0], 1e-9).unwrap();
        assert!(system.refutes(&[1.0, 1.0]));
        assert!(!system.refutes(&[1.0, 0.5]) && !system.refutes(&[-1.0, -1.0]));
    }

    #[test]
    fn the_shortest_point_of_a_half_plane() {
        let system = Inequalities::new(&Matrix::from_rows(&[[3.0, 4.0]]), &[10.0], 1e-9).unwrap();
        let t = system.shortest(&system.h, 1e-9).unwrap();
        // 10 (3, 4)/25.
        assert!((t[0] - 1.2).abs() < 1e-15 && (t[1] - 1.6).abs() < 1e-15, "{t:?}");
        assert!((system.violation(&[3.0], &t) - 1.0).abs() < 1e-15);
    }
}
