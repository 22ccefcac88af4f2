//! Impulses that change together: parts of a problem whose programs know nothing of each other.
//!
//! ```text
//! {c : A c = A c⁰} = c⁰ + N(A) ,      N(A) = ⊕ₚ N(Aₚ)   ⇔   Z Zᵀ is block diagonal
//! ```
//!
//! A = H B is n × k, Z an orthonormal basis of its null space; each part p has coordinates of its own, whole
//! cones of them. The blocks of a stack, each on the next, have a part per joint, since what a joint carries
//! together is known; the stones of an arch have one. What is dropped as zero in Z Zᵀ is rounding, and
//! whoever asks checks the ends that are found against the whole problem.

use clarabel::solver::{NonnegativeConeT, SecondOrderConeT, SupportedConeT};

use super::interior::InteriorPoint;
use crate::linalg::{Matrix, UnionFind};

/// Coordinates do not change together where the projection on the null space has less than this between them.
const APART: f64 = 1e-10;

/// The parts of a program.
#[derive(Default)]
pub(super) struct Parts {
    /// The part of each coordinate.
    pub(super) of: Vec<usize>,
    pub(super) list: Vec<Part>,
}

/// Coordinates that change together.
pub(super) struct Part {
    /// Rows of the cones here, as they are numbered in the program.
    pub(super) rows: Vec<usize>,
    /// `None` where there are joints, or too much hangs together.
    pub(super) interior: Option<InteriorPoint>,
}

impl Parts {
    /// The parts of c = `start` + Z y, in units of `size`; `places` are the coordinates of the rows of the
    /// cones, with their factors, `columns` those of A.
    pub(super) fn new(
        columns: &Matrix,
        null: &Matrix,
        cones: &[SupportedConeT<f64>],
        places: &[(usize, f64)],
        start: &[f64],
        size: f64,
    ) -> Self {
        let k = columns.cols();
        let mut joined = UnionFind::new(k);
        for i in 0..k {
            for j in 0..i {
                let between: f64 = null.row(i).iter().zip(null.row(j)).map(|(a, b)| a * b).sum();
                if between.abs() > APART {
                    joined.join(i, j);
                }
            }
        }
        let ends: Vec<usize> = cones
            .iter()
            .scan(0, |end, cone| {
                *end += if let NonnegativeConeT(n) | SecondOrderConeT(n) = cone { *n } else { 0 };
                Some(*end)
            })
            .collect();
        let mut from = 0;
        for &end in &ends {
            (from + 1..end).for_each(|row| {
                joined.join(places[row].0, places[from].0);
            });
            from = end;
        }
        let mut out = Parts { of: vec![usize::MAX; k], list: vec![] };
        for (p, own) in joined.components().into_iter().enumerate() {
            own.iter().for_each(|&c| out.of[c] = p);
            let rows: Vec<usize> = (0..places.len()).filter(|&row| out.of[places[row].0] == p).collect();
            let interior = (rows.len() == own.len()).then(|| {
                let equations = Equations::new(columns, null, &own, start, size);
                let mut cones = vec![];
                let mut from = 0;
                for &end in &ends {
                    if rows.binary_search(&from).is_ok() {
                        let column = |row: usize| equations.column(&own, places[row]);
                        cones.push((from..end).map(column).collect());
                    }
                    from = end;
                }
                InteriorPoint::new(&cones, equations.b)
            });
            out.list.push(Part { rows, interior: interior.flatten() });
        }
        out
    }
}

/// Aₚ c = Aₚ c⁰ on the coordinates of a part, independent of each other.
struct Equations {
    a: Matrix,
    b: Vec<f64>,
}

impl Equations {
    fn new(columns: &Matrix, null: &Matrix, own: &[usize], start: &[f64], size: f64) -> Self {
        let touched = |i: &usize| own.iter().any(|&c| columns[(*i, c)] != 0.0);
        let equations: Vec<usize> = (0..columns.rows()).filter(touched).collect();
        let mut a = columns.select(&equations, own);
        // The trace of a projection is its rank.
        let free: f64 = own.iter().flat_map(|&c| null.row(c)).map(|z| z * z).sum();
        if equations.len() as f64 > own.len() as f64 - free + 0.5 {
            a = a.row_space_with(1e-10).basis.transpose();
        }
        let at: Vec<f64> = own.iter().map(|&c| start[c] / size).collect();
        let b = a.mul_vec(&at);
        Equations { a, b }
    }

    /// The entries of a row of the cones.
    fn column(&self, own: &[usize], (c, factor): (usize, f64)) -> Vec<(usize, f64)> {
        let at = own.partition_point(|&other| other < c);
        (0..self.a.rows()).map(|i| (i, self.a[(i, at)] / factor)).filter(|e| e.1 != 0.0).collect()
    }
}
