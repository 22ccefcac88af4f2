//! The impulses that laws allow at known velocities, in coordinates.
//!
//! ```text
//! r = B c ,   c_k ∈ {0} | R₊ | R | {‖c_t‖ ≤ μ c_n} per constraint
//! ```
//!
//! r ∈ Rᵐ; B has one column per coordinate, and each column belongs to one constraint.

use crate::linalg::{Matrix, norm};
use crate::problem::Law;

/// How a constraint may change its impulse.
pub(super) enum Freedom {
    /// Not at all.
    None,
    /// Along one direction, with a coordinate ≥ 0.
    Ray(Vec<f64>),
    /// Freely.
    Line,
    /// Inside its cone.
    Cone(f64),
}

impl Freedom {
    /// The freedom of a law at the velocities of its rows, up to `rest` taken for zero; `None` for other
    /// laws.
    fn of(law: &Law, u: &[f64], rest: f64) -> Option<Self> {
        Some(match *law {
            Law::Bilateral => Freedom::Line,
            Law::Unilateral if u[0] > rest => Freedom::None,
            Law::Unilateral => Freedom::Ray(vec![1.0]),
            Law::CoulombPlane { mu } | Law::Coulomb { mu } => {
                let slip = norm(&u[1..]);
                if u[0] > rest { Freedom::None } else { Freedom::of_friction(mu, &u[1..], slip, rest) }
            }
            // The associated law: a slip goes with a velocity of separation.
            Law::Cone { mu } | Law::ConePlane { mu } => {
                let slip = norm(&u[1..]);
                let apart = u[0] > mu * slip + rest;
                if apart { Freedom::None } else { Freedom::of_friction(mu, &u[1..], slip, rest) }
            }
            Law::Sliding { .. } if u[0] > rest => Freedom::None,
            Law::Sliding { mu, slip } => {
                Freedom::Ray(std::iter::once(1.0).chain(slip.components().iter().map(|e| -mu * e)).collect())
            }
            _ => return None,
        })
    }

    /// A closed contact with friction: along −u_t where it slides, anywhere in its cone where it sticks.
    fn of_friction(mu: f64, u_t: &[f64], slip: f64, rest: f64) -> Self {
        if mu == 0.0 || slip > rest {
            let along = u_t.iter().map(|t| if slip > rest { -mu * t / slip } else { 0.0 });
            Freedom::Ray(std::iter::once(1.0).chain(along).collect())
        } else {
            Freedom::Cone(mu)
        }
    }
}

/// r = B c.
pub(super) struct Coordinates {
    /// One per constraint.
    pub(super) freedoms: Vec<Freedom>,
    /// The constraint of each coordinate and its column of B on the rows of that constraint.
    pub(super) directions: Vec<(usize, Vec<f64>)>,
    /// First row of each constraint, and the number of rows.
    pub(super) first: Vec<usize>,
}

impl Coordinates {
    /// The coordinates at the velocities u; `None` where a law has none.
    pub(super) fn new(laws: &[Law], first: Vec<usize>, u: &[f64], rest: f64) -> Option<Self> {
        let unit = |k: usize, n: usize| (0..n).map(|j| if j == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let mut directions: Vec<(usize, Vec<f64>)> = vec![];
        let mut freedoms = vec![];
        for (i, law) in laws.iter().enumerate() {
            let freedom = Freedom::of(law, &u[first[i]..first[i + 1]], rest)?;
            match &freedom {
                Freedom::None => {}
                Freedom::Ray(d) => directions.push((i, d.clone())),
                Freedom::Line => directions.push((i, vec![1.0])),
                Freedom::Cone(_) => (0..law.dim()).for_each(|k| directions.push((i, unit(k, law.dim())))),
            }
            freedoms.push(freedom);
        }
        Some(Coordinates { freedoms, directions, first })
    }

    /// Number of rows of r.
    pub(super) fn rows(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// diag(weight) H B.
    pub(super) fn response(&self, h: &Matrix, weight: &[f64]) -> Matrix {
        Matrix::from_fn(h.rows(), self.directions.len(), |row, c| {
            let (i, d) = &self.directions[c];
            weight[row] * d.iter().enumerate().map(|(k, x)| h[(row, self.first[*i] + k)] * x).sum::<f64>()
        })
    }

    /// The coordinates of an impulse.
    pub(super) fn of_impulse(&self, impulse: &[f64]) -> Vec<f64> {
        self.directions
            .iter()
            .map(|(i, d)| match d.iter().position(|&x| x == 1.0) {
                Some(k) => impulse[self.first[*i] + k],
                None => 0.0,
            })
            .collect()
    }

    /// r = B c.
    pub(super) fn impulse(&self, c: &[f64]) -> Vec<f64> {
        let mut impulse = vec![0.0; self.rows()];
        for ((i, d), c) in self.directions.iter().zip(c) {
            d.iter().enumerate().for_each(|(k, x)| impulse[self.first[*i] + k] += x * c);
        }
        impulse
    }

    /// The directions, as rows of the problem, in which a point of the set has others beside it: the null
    /// vectors of the columns of `a` = diag(weight) H B that can change both ways there. An impulse on the
    /// surface of its cone can do so along its own ray. What is not above `clear` is zero.
    pub(super) fn differences_at(&self, a: &Matrix, point: &[f64], clear: f64) -> Matrix {
        // Each column as a combination of coordinates.
        let mut columns: Vec<Vec<(usize, f64)>> = vec![];
        let mut at = 0;
        for (i, freedom) in self.freedoms.iter().enumerate() {
            let count = self.directions[at..].iter().take_while(|(j, _)| *j == i).count();
            let own = at..at + count;
            at += count;
            match freedom {
                Freedom::None => {}
                Freedom::Line => columns.push(vec![(own.start, 1.0)]),
                Freedom::Ray(_) if point[own.start] > clear => columns.push(vec![(own.start, 1.0)]),
                Freedom::Cone(mu) if mu * point[own.start] - norm(&point[own.start + 1..own.end]) > clear => {
                    columns.extend(own.map(|c| vec![(c, 1.0)]));
                }
                Freedom::Cone(_) if point[own.start] > clear => {
                    let size = norm(&point[own.clone()]);
                    columns.push(own.map(|c| (c, point[c] / size)).collect());
                }
                Freedom::Ray(_) | Freedom::Cone(_) => {}
            }
        }
        let sum =
            |x: &[(usize, f64)], of: &dyn Fn(usize) -> f64| x.iter().map(|&(c, x)| x * of(c)).sum::<f64>();
        let free = Matrix::from_fn(a.rows(), columns.len(), |row, k| sum(&columns[k], &|c| a[(row, c)]));
        let null = free.row_space_with(1e-10).null_basis;
        let mut found = Matrix::zeros(self.rows(), null.cols());
        for (k, column) in columns.iter().enumerate() {
            for &(c, x) in column {
                let (i, d) = &self.directions[c];
                for (row, along) in d.iter().enumerate() {
                    (0..null.cols())
                        .for_each(|z| found[(self.first[*i] + row, z)] += null[(k, z)] * x * along);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::row_offsets;

    #[test]
    fn each_law_has_the_freedom_of_its_mode() {
        let mu = 0.5;
        let freedom = |law: Law, u: &[f64]| Freedom::of(&law, u, 1e-9).unwrap();
        assert!(matches!(freedom(Law::Bilateral, &[0.0]), Freedom::Line));
        assert!(matches!(freedom(Law::Unilateral, &[1.0]), Freedom::None));
        assert!(matches!(freedom(Law::Coulomb { mu }, &[0.0; 3]), Freedom::Cone(m) if m == mu));
        let Freedom::Ray(slides) = freedom(Law::Coulomb { mu }, &[0.0, 3.0, -4.0]) else {
            panic!("it slides")
        };
        assert!(slides.iter().zip([1.0, -0.3, 0.4]).all(|(a, b)| (a - b).abs() < 1e-15), "{slides:?}");
        // Under the associated law a slip of 5 comes with a separation of 2.5.
        assert!(matches!(freedom(Law::Cone { mu }, &[2.5, 3.0, -4.0]), Freedom::Ray(_)));
        assert!(matches!(freedom(Law::Cone { mu }, &[2.6, 3.0, -4.0]), Freedom::None));
    }

    #[test]
    fn coordinates_and_impulses_are_each_other_s_inverse() {
        let laws = [Law::Unilateral, Law::CoulombPlane { mu: 0.5 }, Law::Bilateral];
        // The first is open, the second slides.
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &[1.0, 0.0, 2.0, 0.0], 1e-9).unwrap();
        assert_eq!(coordinates.impulse(&[4.0, -1.0]), vec![0.0, 4.0, -2.0, -1.0]);
        assert_eq!(coordinates.of_impulse(&[0.0, 4.0, -2.0, -1.0]), vec![4.0, -1.0]);
    }

    #[test]
    fn equal_columns_can_exchange_their_impulses() {
        let laws = [Law::Unilateral; 2];
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &[0.0; 2], 1e-9).unwrap();
        let a = Matrix::from_rows(&[[1.0, 1.0]]);
        let both = coordinates.differences_at(&a, &[1.0, 1.0], 1e-6);
        assert_eq!(both.cols(), 1);
        assert!((both[(0, 0)] + both[(1, 0)]).abs() < 1e-15);
        // An impulse that is zero can change one way only.
        assert_eq!(coordinates.differences_at(&a, &[1.0, 0.0], 1e-6).cols(), 0);
    }
}
