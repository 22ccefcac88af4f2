//! Small systems of equations: masses that couple few coordinates, and square systems that may be singular.
//!
//! ```text
//! M = L Lᵀ ,   M ∈ ℝⁿˣⁿ positive definite ;   A x = b ,   A ∈ ℝᵏˣᵏ = R M⁻¹ C of the constraints that are active
//! P A Q = L [U₁ U₂] ,     x = Q (U₁⁻¹(c − U₂ z), z) ,     null space of A = Q (−U₁⁻¹ U₂, 1)
//! ```
//!
//! L keeps the zeros that M has before the first entry of each row, so that bodies that have no mass in
//! common cost nothing together. Complete pivoting finds the rank of A (see [`crate::events::equations`]).
//! Where rows depend on each other and agree, the shortest x is taken, and the null space of A is returned
//! beside it; where they do not agree there is no answer.

use delassus_solve::linalg::{Envelope, Matrix, axpy, dot, max_abs, norm, rank_tolerance};

/// Why equations have no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unsolvable {
    /// A mass matrix is not positive definite.
    SingularMass,
    /// Equations contradict each other.
    Inconsistent,
}

/// Pivots of the scaled matrix below this part of the largest are zero.
const SINGULAR_PIVOT: f64 = 1e-11;
/// Given pivots below this part of the largest are replaced.
const WEAK_PIVOT: f64 = 1e-5;
/// Equations that cannot all hold leave more than this part of their terms.
const INCONSISTENT_PART: f64 = 1e-6;

/// L of a mass matrix.
#[derive(Clone, Debug)]
pub(super) struct MassFactor(Envelope);

impl MassFactor {
    /// L Lᵀ = M; an error where M is not positive definite.
    pub(super) fn new(mass: &Matrix) -> Result<MassFactor, Unsolvable> {
        let n = mass.rows();
        let smallest = rank_tolerance(n, n);
        let first = |i: usize| mass.row(i)[..i].iter().position(|x| *x != 0.0).unwrap_or(i);
        let mut l = Envelope::default();
        l.set_profile((0..n).map(|i| first(i) as u32));
        l.clear();
        for i in 0..n {
            let first = l.first(i);
            l.row_mut(i).copy_from_slice(&mass.row(i)[first..=i]);
        }
        let mut definite = true;
        l.factorize(|diagonal, left| {
            // Written so that NaN fails too.
            definite &= diagonal > 0.0 && left >= smallest * diagonal && left.is_finite();
            left.sqrt()
        });
        if definite { Ok(MassFactor(l)) } else { Err(Unsolvable::SingularMass) }
    }

    /// B ← M⁻¹ B.
    pub(super) fn solve(&self, b: &mut Matrix) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// B ← L⁻¹ B.
    pub(super) fn solve_lower(&self, b: &mut Matrix) {
        self.0.solve_lower(b);
    }

    /// B ← L⁻ᵀ B.
    pub(super) fn solve_upper(&self, b: &mut Matrix) {
        self.0.solve_upper(b);
    }
}

/// The shortest solution of A x = b, the determinant of A scaled to unit rows, and its null space where it
/// has one.
pub(super) struct Solved {
    pub(super) x: Vec<f64>,
    pub(super) determinant: f64,
    pub(super) null: Option<Matrix>,
    /// The last pivot as a part of the largest: about σ², σ the smallest singular value of the rows.
    pub(super) weakest: f64,
    /// Where the pivots were, each counted after the exchanges of those before it.
    pub(super) pivots: Vec<[usize; 2]>,
}

/// Solves A x = b, A square; where A is singular and the equations agree, for the shortest x.
pub(super) fn solve_square(a: &Matrix, b: &[f64]) -> Result<Solved, Unsolvable> {
    let solved = eliminate(a, b, None, 0)?;
    if solved.null.is_some() && !agree(a, &solved.x, b) {
        return Err(Unsolvable::Inconsistent);
    }
    Ok(solved)
}

/// As [`solve_square`] near a matrix with these pivots: the equations without one depend on the others, up to
/// an error, and are left out. Where a pivot has become small, as many others are searched.
pub(super) fn solve_dependent(a: &Matrix, b: &[f64], pivots: &[[usize; 2]]) -> Result<Solved, Unsolvable> {
    eliminate(a, b, Some(pivots), 0).or_else(|_| eliminate(a, b, None, b.len() - pivots.len()))
}

/// The largest entry of what is left, and its place.
fn largest(w: &Matrix, p: usize, k: usize) -> (f64, [usize; 2]) {
    let (mut best, mut at) = (0.0, [p, p]);
    for i in p..k {
        for (j, x) in w.row(i)[..k].iter().enumerate().skip(p) {
            if x.abs() > best {
                (best, at) = (x.abs(), [i, j]);
            }
        }
    }
    (best, at)
}

fn eliminate(
    a: &Matrix,
    b: &[f64],
    given: Option<&[[usize; 2]]>,
    dependent: usize,
) -> Result<Solved, Unsolvable> {
    let k = b.len();
    let mut w = Matrix::zeros(k, k + 1);
    for i in 0..k {
        let size = max_abs(a.row(i));
        let scale = if size > 0.0 { 1.0 / size } else { 1.0 };
        let row = w.row_mut(i);
        row[..k].copy_from_slice(a.row(i));
        row[k] = b[i];
        row.iter_mut().for_each(|x| *x *= scale);
    }
    let mut order: Vec<usize> = (0..k).collect();
    let mut pivots = Vec::with_capacity(k);
    let mut pivot_row = vec![0.0; k + 1];
    let (mut determinant, mut top, mut weakest) = (1.0, 0.0_f64, 1.0);
    for p in 0..given.map_or(k - dependent, <[_]>::len) {
        // Complete pivoting: what is left is zero exactly where the rank ends.
        let (best, at) = match given {
            Some(given) => (w[(given[p][0], given[p][1])].abs(), given[p]),
            None => largest(&w, p, k),
        };
        top = top.max(best);
        match given {
            Some(_) if best.is_nan() || best <= WEAK_PIVOT * top => return Err(Unsolvable::Inconsistent),
            None if best <= SINGULAR_PIVOT * top || best == 0.0 => break,
            _ => {}
        }
        pivots.push(at);
        weakest = best / top;
        pivot_row.copy_from_slice(w.row(at[0]));
        if at[0] != p {
            determinant = -determinant;
            let (to, from) = w.two_rows_mut(at[0], p);
            to.copy_from_slice(from);
            w.row_mut(p).copy_from_slice(&pivot_row);
        }
        if at[1] != p {
            determinant = -determinant;
            order.swap(at[1], p);
            pivot_row.swap(at[1], p);
            (0..k).for_each(|i| w.row_mut(i).swap(at[1], p));
        }
        let pivot = pivot_row[p];
        determinant *= pivot;
        for i in p + 1..k {
            let row = &mut w.row_mut(i)[p..];
            let factor = row[0] / pivot;
            if factor != 0.0 {
                row.iter_mut().zip(&pivot_row[p..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    let upper = Upper { w: &w, order: &order, rank: pivots.len() };
    if pivots.len() == k {
        return Ok(Solved { x: upper.back(k, 1.0), determinant, null: None, weakest, pivots });
    }
    let (x, null) = redundant(&upper);
    Ok(Solved { x, determinant: 1.0, null: Some(null), weakest, pivots })
}

/// The rows [U₁ U₂ | c] that elimination leaves, and the order of their columns.
struct Upper<'a> {
    w: &'a Matrix,
    order: &'a [usize],
    rank: usize,
}

impl Upper<'_> {
    /// Q (U₁⁻¹ sign·(column j), 0).
    fn back(&self, j: usize, sign: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.order.len()];
        for p in (0..self.rank).rev() {
            let row = self.w.row(p);
            let sum: f64 = (p + 1..self.rank).map(|l| row[l] * x[self.order[l]]).sum();
            x[self.order[p]] = (sign * row[j] - sum) / row[p];
        }
        x
    }
}

/// Whether A x = b up to rounding and to what cannot be distinguished from it.
fn agree(a: &Matrix, x: &[f64], b: &[f64]) -> bool {
    let left = a.mul_vec(x).iter().zip(b).map(|(ax, b)| (ax - b).abs()).fold(0.0, f64::max);
    left <= INCONSISTENT_PART * max_abs(b).max(a.max_abs() * norm(x))
}

/// The shortest solution of the rows with pivots, and the null space.
fn redundant(upper: &Upper<'_>) -> (Vec<f64>, Matrix) {
    let k = upper.order.len();
    // Orthonormal, twice over for what rounding leaves.
    let mut null: Vec<Vec<f64>> = Vec::with_capacity(k - upper.rank);
    for j in upper.rank..k {
        let mut direction = upper.back(j, -1.0);
        direction[upper.order[j]] = 1.0;
        for _ in 0..2 {
            for other in &null {
                axpy(-dot(other, &direction), other, &mut direction);
            }
            let size = norm(&direction);
            direction.iter_mut().for_each(|x| *x /= size);
        }
        null.push(direction);
    }
    let mut x = upper.back(k, 1.0);
    for direction in &null {
        axpy(-dot(direction, &x), direction, &mut x);
    }
    let basis = Matrix::from_fn(k, null.len(), |i, j| null[j][i]);
    (x, basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_redundant_and_contradictory() {
        let a = Matrix::from_rows(&[[0.0, 2.0], [1.0, 1.0]]);
        let solved = solve_square(&a, &[2.0, 3.0]).unwrap();
        assert!((solved.x[0] - 2.0).abs() < 1e-15 && (solved.x[1] - 1.0).abs() < 1e-15);
        // Rows scaled to a largest entry of 1.
        assert!((solved.determinant + 1.0).abs() < 1e-15 && solved.null.is_none());
        let twice = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        let solved = solve_square(&twice, &[2.0, 2.0]).unwrap();
        assert!(solved.x.iter().all(|x| (x - 1.0).abs() < 1e-14));
        assert_eq!(solved.null.map(|n| n.cols()), Some(1));
        assert_eq!(solve_square(&twice, &[1.0, 2.0]).err(), Some(Unsolvable::Inconsistent));
    }

    /// Rows repeated and added to each other: the shortest of all solutions, as the singular values give it,
    /// and the null space.
    #[test]
    fn the_shortest_of_many_solutions() {
        let rows = [[2.0, -1.0, 0.5, 3.0], [0.3, 1.0, -2.0, 0.1]];
        let j = Matrix::from_fn(5, 4, |i, l| match i {
            0 | 1 => rows[i][l],
            2 => rows[0][l] + 2.0 * rows[1][l],
            3 => -rows[0][l],
            _ => rows[0][l] - rows[1][l],
        });
        let a = j.mul(&j.transpose());
        let b = j.mul_vec(&[1.0, -2.0, 0.5, 0.25]);
        let solved = solve_square(&a, &b).unwrap();
        let expected = a.pseudo_solve(&b);
        assert!(solved.x.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-13), "{:?}", solved.x);
        let null = solved.null.unwrap();
        assert_eq!(null.cols(), 3);
        assert!(a.mul(&null).max_abs() < 1e-13);
        let unit = null.transpose().mul(&null);
        assert!((0..9).all(|i| (unit.data()[i] - f64::from(i % 4 == 0)).abs() < 1e-14));
    }

    /// H_ij = 1/(i + j + 1) with the sums of its rows: x = 1. The condition number of H is 1.6e4.
    #[test]
    fn hilbert_matrix() {
        let h = Matrix::from_fn(4, 4, |i, j| 1.0 / (i + j + 1) as f64);
        let solved = solve_square(&h, &h.mul_vec(&[1.0; 4])).unwrap();
        assert!(solved.x.iter().all(|x| (x - 1.0).abs() < 1e-11), "{:?}", solved.x);
        // det H = 1/6048000, with rows divided by 1, 1/2, 1/3 and 1/4.
        assert!((solved.determinant * 6_048_000.0 / 24.0 - 1.0).abs() < 1e-10);
    }

    /// −x_{i−1} + 2 x_i − x_{i+1} = 1 with zero ends: x_i = i (n + 1 − i)/2.
    #[test]
    fn second_differences() {
        let n = 9;
        let mass = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let mut x = Matrix::from_vec(n, 1, vec![1.0; n]);
        MassFactor::new(&mass).unwrap().solve(&mut x);
        for (i, x) in x.data().iter().enumerate() {
            assert!((x - 0.5 * ((i + 1) * (n - i)) as f64).abs() < 1e-13);
        }
    }

    #[test]
    fn masses_in_blocks() {
        let mass = Matrix::from_rows(&[
            [4.0, 0.0, 1.0, 0.0],
            [0.0, 2.0, 0.0, 0.0],
            [1.0, 0.0, 3.0, 0.0],
            [0.0, 0.0, 0.0, 5.0],
        ]);
        let expected = [1.0, -2.0, 3.0, -4.0];
        let mut x = Matrix::from_vec(4, 1, mass.mul_vec(&expected));
        MassFactor::new(&mass).unwrap().solve(&mut x);
        assert!(x.data().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{x:?}");
        let singular = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        assert!(matches!(MassFactor::new(&singular), Err(Unsolvable::SingularMass)));
        assert!(matches!(MassFactor::new(&Matrix::zeros(1, 1)), Err(Unsolvable::SingularMass)));
    }

    /// Off its constraints a system with dependent rows is not singular, and solving it as it is gives
    /// anything; with the pivots that it has on them the solution changes as little as the system.
    #[test]
    fn dependent_rows_that_contradict_each_other_a_little() {
        let rows = [[2.0, -1.0, 0.5], [0.3, 1.0, -2.0], [2.3, 0.0, -1.5]];
        let on = Matrix::from_fn(3, 3, |i, j| dot(&rows[i], &rows[j]));
        let b = [1.0, -2.0, -1.0];
        let exact = solve_square(&on, &b).unwrap();
        assert_eq!(exact.pivots.len(), 2);
        let mut off = on.clone();
        off[(2, 2)] += 1e-7;
        let rest = [b[0], b[1], b[2] + 1e-6];
        let near = solve_dependent(&off, &rest, &exact.pivots).unwrap();
        assert!(near.x.iter().zip(&exact.x).all(|(x, y)| (x - y).abs() < 1e-5), "{:?}", near.x);
        assert!(max_abs(&solve_square(&off, &rest).unwrap().x) > 1.0);
        // A pivot that has vanished is replaced.
        let other = Matrix::from_rows(&[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]);
        let solved = solve_dependent(&other, &[0.0, 3.0, 8.0], &[[0, 0], [1, 1]]).unwrap();
        assert_eq!(solved.x, [0.0, 3.0, 4.0]);
    }
}
