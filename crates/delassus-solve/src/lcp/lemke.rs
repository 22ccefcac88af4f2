//! Lemke's method: complementary pivoting with a lexicographic ratio test.
//!
//! ```text
//! w = M z + d z₀ + q,  0 ≤ z ⊥ w ≥ 0,  z₀ ≥ 0
//! ```
//!
//! M is n × n, q in Rⁿ, d > 0 the covering vector. From a large enough z₀ the method follows a path of almost
//! complementary bases, until z₀ leaves (a solution) or the path is a ray. The ratio test compares
//! the rows of [t, B⁻¹] lexicographically, so that no basis comes twice. On row sufficient matrices, positive
//! semidefinite ones among them, a ray means that no z ≥ 0 has M z + q ≥ 0;
//! [`SecondaryRay::proves_infeasible`] checks this for the ray at hand, whatever the matrix.
//!
//! The matrix is equilibrated by powers of two. At the end the solution is computed anew from the last basis
//! and the original data, and its status comes from [`Lcp::residual`].

use super::Lcp;
use super::residual::Measure;
use super::solution::{LcpSolution, check_residual};
use crate::linalg::{Dictionary, equilibrate, power_of_two_below, solve_on};
use crate::problem::Status;

/// Options of [`lemke`].
#[derive(Clone, Debug, PartialEq)]
pub struct LemkeOptions {
    /// Residual (see [`Lcp::residual`]) up to which a point counts as a solution; default 1e-8.
    pub tolerance: f64,
    /// Largest number of pivots; default 20 000.
    pub max_iterations: usize,
    /// The covering vector d > 0, n numbers; default ones (in the equilibrated problem).
    pub covering: Option<Vec<f64>>,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        LemkeOptions { tolerance: 1e-8, max_iterations: 20_000, covering: None }
    }
}

/// The ray on which Lemke's path ended: w = M z + d z₀ with z, w, z₀ ≥ 0 and z ⊥ w.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondaryRay {
    /// Direction of z, n numbers.
    pub z: Vec<f64>,
    /// Direction of w, n numbers.
    pub w: Vec<f64>,
    /// Direction of z₀.
    pub z0: f64,
}

impl SecondaryRay {
    /// Whether y = z of this ray shows that no z ≥ 0 has M z + q ≥ 0 (Farkas): y ≥ 0, Mᵀ y ≤ 0, qᵀ y < 0.
    ///
    /// Rounding leaves Mᵀ y slightly positive; the answer is yes where a feasible z would then have to be
    /// 1e10 times larger than the problem's own scale ‖q‖/‖M‖.
    pub fn proves_infeasible(&self, lcp: &Lcp) -> bool {
        let (m, q) = (&lcp.matrix, &lcp.vector);
        let size_q = q.iter().fold(0.0_f64, |t, x| t.max(x.abs()));
        let size_y = self.z.iter().fold(0.0_f64, |t, x| t.max(*x));
        if size_y <= 0.0 || self.z.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let y: Vec<f64> = self.z.iter().map(|x| x.max(0.0) / size_y).collect();
        let gain = -y.iter().zip(q).map(|(a, b)| a * b).sum::<f64>();
        let excess = m.tr_mul_vec(&y).into_iter().fold(0.0_f64, f64::max);
        // 0 ≤ yᵀ(M z + q) ≤ excess ‖z‖₁ − gain: ‖z‖₁ ≥ gain/excess.
        gain > 1e-10 * size_q && gain * m.max_abs() >= 1e10 * excess * size_q
    }
}

/// Solves the problem by Lemke's method; `Stalled` where the path ends on a ray, unless the ray proves that
/// there is no solution.
///
/// # Panics
/// If a covering vector is given that has not n positive finite entries.
pub fn lemke(lcp: &Lcp, options: &LemkeOptions) -> LcpSolution {
    lemke_with_ray(lcp, options).0
}

/// As [`lemke`], with the measure of the problem.
pub(super) fn lemke_measured(lcp: &Lcp, measure: &Measure<'_>, options: &LemkeOptions) -> LcpSolution {
    follow_path(lcp, measure, options).0
}

/// As [`lemke`], with the ray where the path ended on one.
///
/// # Panics
/// As [`lemke`].
pub fn lemke_with_ray(lcp: &Lcp, options: &LemkeOptions) -> (LcpSolution, Option<SecondaryRay>) {
    follow_path(lcp, &lcp.measure(), options)
}

fn follow_path(
    lcp: &Lcp,
    measure: &Measure<'_>,
    options: &LemkeOptions,
) -> (LcpSolution, Option<SecondaryRay>) {
    let n = lcp.size();
    if let Some(d) = &options.covering {
        assert_eq!(d.len(), n, "a covering vector has as many entries as the problem has unknowns");
        assert!(d.iter().all(|x| x.is_finite() && *x > 0.0), "a covering vector is positive");
    }
    if lcp.vector.iter().all(|&x| x >= 0.0) {
        return (check_residual(measure, vec![0.0; n], Status::Solved, 0, options.tolerance), None);
    }
    let mut path = Path::start(lcp, options.covering.as_deref());
    let end = path.follow(options.max_iterations);
    let status = match end {
        End::Solution | End::Ray(_) => Status::Stalled,
        End::MaxIterations => Status::MaxIterations,
    };
    let ray = match end {
        End::Ray(c) => Some(path.ray(c)),
        _ => None,
    };
    let z = path.best_point(lcp, measure);
    let mut solution = check_residual(measure, z, status, path.iterations, options.tolerance);
    if solution.status != Status::Solved && ray.as_ref().is_some_and(|r| r.proves_infeasible(lcp)) {
        solution.status = Status::NoSolution;
    }
    (solution, ray)
}

enum End {
    Solution,
    /// The column of the variable that can grow without bound.
    Ray(usize),
    MaxIterations,
}

/// Pivots below this, relative to the largest entry of their column, are taken for rounding.
const PIVOT_TOLERANCE: f64 = 1e-12;
/// Ratios (of data scaled to about 1) within this of each other are ties.
const TIE_TOLERANCE: f64 = 1e-12;

/// The state of the path. Variables are numbered: wⱼ is j, zⱼ is n + j, z₀ is 2n.
struct Path {
    n: usize,
    dictionary: Dictionary,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    /// Row of a basic variable; n + column of a nonbasic one.
    place: Vec<usize>,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
    vector_scale: f64,
    candidates: Vec<usize>,
    iterations: usize,
}

impl Path {
    fn start(lcp: &Lcp, covering: Option<&[f64]>) -> Path {
        let n = lcp.size();
        let (row_scale, col_scale) = equilibrate(&lcp.matrix);
        let top = lcp.vector.iter().zip(&row_scale).fold(0.0_f64, |t, (q, r)| t.max((q * r).abs()));
        let vector_scale = power_of_two_below(top);
        let mut dictionary = Dictionary::zeros(n, n + 2);
        for i in 0..n {
            let r = row_scale[i];
            let row = dictionary.row_mut(i);
            for ((t, m), c) in row.iter_mut().zip(lcp.matrix.row(i)).zip(&col_scale) {
                *t = r * m * c;
            }
            row[n] = covering.map_or(1.0, |d| r * d[i]);
            row[n + 1] = r * lcp.vector[i] / vector_scale;
        }
        if covering.is_some() {
            let top = (0..n).fold(0.0_f64, |t, i| t.max(dictionary.at(i, n)));
            let scale = 1.0 / power_of_two_below(top);
            (0..n).for_each(|i| dictionary.row_mut(i)[n] *= scale);
        }
        Path {
            n,
            dictionary,
            basic: (0..n).collect(),
            nonbasic: (n..=2 * n).collect(),
            place: (n..2 * n).map(|k| k - n).chain((0..=n).map(|c| n + c)).collect(),
            row_scale,
            col_scale,
            vector_scale,
            candidates: Vec::with_capacity(n),
            iterations: 0,
        }
    }

    fn follow(&mut self, max_iterations: usize) -> End {
        let n = self.n;
        // The first exchange: z₀ grows just enough to make every w lexicographically positive.
        self.candidates.clear();
        self.candidates.extend(0..n);
        let d = &self.dictionary;
        keep_smallest(&mut self.candidates, |i| d.constant(i) / d.at(i, n));
        // Among tied rows of [t, I] the last is the lexicographic minimum.
        let Some(&r) = self.candidates.last() else { return End::Solution };
        let mut leaving = self.exchange(r, n);
        loop {
            let entering = if leaving < n { leaving + n } else { leaving - n };
            let c = self.place[entering] - n;
            let Some(r) = self.leaving_row(c) else { return End::Ray(c) };
            if self.iterations >= max_iterations {
                return End::MaxIterations;
            }
            leaving = self.exchange(r, c);
            if leaving == 2 * n {
                return End::Solution;
            }
        }
    }

    /// Pivots and returns the variable that left the basis.
    fn exchange(&mut self, r: usize, c: usize) -> usize {
        self.dictionary.pivot(r, c);
        std::mem::swap(&mut self.basic[r], &mut self.nonbasic[c]);
        self.place[self.basic[r]] = r;
        self.place[self.nonbasic[c]] = self.n + c;
        self.iterations += 1;
        self.nonbasic[c]
    }

    /// The row that limits the growth of the variable of column c, z₀ first, then by lexicographic order.
    fn leaving_row(&mut self, c: usize) -> Option<usize> {
        let n = self.n;
        let d = &self.dictionary;
        let top = (0..n).fold(0.0_f64, |t, i| t.max(d.at(i, c).abs()));
        self.candidates.clear();
        self.candidates.extend((0..n).filter(|&i| d.at(i, c) < -PIVOT_TOLERANCE * top.max(1.0)));
        keep_smallest(&mut self.candidates, |i| d.constant(i).max(0.0) / -d.at(i, c));
        if self.candidates.len() > 1 {
            // Of equal ratios the pivots that are rounding next to the others are left out.
            let top = self.candidates.iter().fold(0.0_f64, |t, &i| t.max(-d.at(i, c)));
            self.candidates.retain(|&i| -d.at(i, c) >= 1e-9 * top);
            let z0_row = self.place[2 * n];
            if self.candidates.contains(&z0_row) {
                return Some(z0_row);
            }
        }
        for j in 0..n {
            if self.candidates.len() <= 1 {
                break;
            }
            // Column j of B⁻¹: a unit vector where wⱼ is basic, minus its column where it is not.
            let place = self.place[j];
            if place < n {
                keep_smallest(&mut self.candidates, |i| if i == place { -1.0 / d.at(i, c) } else { 0.0 });
            } else {
                keep_smallest(&mut self.candidates, |i| d.at(i, place - n) / d.at(i, c));
            }
        }
        // The rows of B⁻¹ are independent, so what is still tied here is tied by rounding.
        self.candidates.iter().copied().max_by(|&a, &b| d.at(b, c).total_cmp(&d.at(a, c)))
    }

    /// The better of the point of the dictionary and the point of its basis computed from the data.
    fn best_point(&self, lcp: &Lcp, measure: &Measure<'_>) -> Vec<f64> {
        let n = self.n;
        let mut z = vec![0.0; n];
        let mut alpha = Vec::with_capacity(n);
        for j in 0..n {
            if self.place[n + j] < n {
                alpha.push(j);
                let t = self.dictionary.constant(self.place[n + j]);
                z[j] = t.max(0.0) * self.col_scale[j] * self.vector_scale;
            }
        }
        match solve_on(&lcp.matrix, &lcp.vector, &alpha) {
            Some(exact) if measure.residual(&exact) <= measure.residual(&z) => exact,
            _ => z,
        }
    }

    /// The ray along which the variable of column c grows, in the units of the problem.
    fn ray(&self, c: usize) -> SecondaryRay {
        let n = self.n;
        let direction = |variable: usize| {
            let place = self.place[variable];
            if place < n {
                self.dictionary.at(place, c).max(0.0)
            } else if place - n == c {
                1.0
            } else {
                0.0
            }
        };
        SecondaryRay {
            z: (0..n).map(|j| direction(n + j) * self.col_scale[j]).collect(),
            w: (0..n).map(|j| direction(j) / self.row_scale[j]).collect(),
            z0: direction(2 * n),
        }
    }
}

/// Keeps the candidates whose value is the smallest, to within the tie tolerance.
fn keep_smallest(candidates: &mut Vec<usize>, value: impl Fn(usize) -> f64) {
    let smallest = candidates.iter().fold(f64::INFINITY, |t, &i| t.min(value(i)));
    let limit = smallest + TIE_TOLERANCE * smallest.abs().max(1.0);
    candidates.retain(|&i| value(i) <= limit);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;

    fn problem<const N: usize>(rows: [[f64; N]; N], q: [f64; N]) -> Lcp {
        Lcp::new(Matrix::from_rows(&rows), q.to_vec()).unwrap()
    }

    #[test]
    fn by_hand() {
        let s = lemke(&problem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]), &LemkeOptions::default());
        assert_eq!(s.status, Status::Solved);
        assert!((s.z[0] - 4.0 / 3.0).abs() < 1e-15 && (s.z[1] - 7.0 / 3.0).abs() < 1e-15);
        let zero = lemke(&problem([[-1.0]], [1.0]), &LemkeOptions::default());
        assert_eq!((zero.status, zero.iterations, zero.z), (Status::Solved, 0, vec![0.0]));
        let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
        assert_eq!(lemke(&empty, &LemkeOptions::default()).status, Status::Solved);
    }

    /// Kostreva's example: with ties broken by the first index Lemke's method cycles on this P-matrix.
    #[test]
    fn kostreva_does_not_cycle() {
        let lcp = problem([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], [-1.0; 3]);
        let s = lemke(&lcp, &LemkeOptions::default());
        assert_eq!(s.status, Status::Solved);
        assert!(s.iterations <= 8 && s.z.iter().all(|x| (x - 1.0 / 3.0).abs() < 1e-15), "{s:?}");
    }

    #[test]
    fn rays_are_proofs_or_not() {
        // Positive semidefinite, infeasible: z₁ − z₂ ≥ 1 and z₂ − z₁ ≥ 1.
        let lcp = problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]);
        let (s, ray) = lemke_with_ray(&lcp, &LemkeOptions::default());
        assert_eq!(s.status, Status::NoSolution);
        let ray = ray.unwrap();
        assert!(ray.proves_infeasible(&lcp));
        assert!((ray.z[0] - ray.z[1]).abs() < 1e-15 && ray.z[0] > 0.0);
        // The same ray proves nothing about a feasible problem, and a forged one nothing at all.
        assert!(!ray.proves_infeasible(&problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0])));
        assert!(!SecondaryRay { z: vec![1.0, 0.0], ..ray }.proves_infeasible(&lcp));
        // Feasible at z = (0, 1), but z₂ > 0 and w₂ > 0 there and everywhere: a ray without a proof.
        let s = lemke(&problem([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0]), &LemkeOptions::default());
        assert_eq!(s.status, Status::Stalled);
    }

    #[test]
    fn limits_and_coverings() {
        let lcp = problem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]);
        let limit = LemkeOptions { max_iterations: 1, ..Default::default() };
        assert_eq!(lemke(&lcp, &limit).status, Status::MaxIterations);
        let covering = LemkeOptions { covering: Some(vec![1e-3, 1e4]), ..Default::default() };
        assert_eq!(lemke(&lcp, &covering).status, Status::Solved);
    }

    #[test]
    #[should_panic(expected = "a covering vector is positive")]
    fn a_covering_vector_is_positive() {
        let covering = LemkeOptions { covering: Some(vec![0.0]), ..Default::default() };
        let _ = lemke(&problem([[1.0]], [-1.0]), &covering);
    }

    /// One unit of mass per row and column is no help: scales from 1e-9 to 1e9 in one problem.
    #[test]
    fn scales_do_not_matter() {
        let scale = [1e-9, 1.0, 1e9, 1e4];
        let base =
            [[4.0, -1.0, 0.5, 1.0], [1.0, 3.0, -1.0, 0.0], [0.0, 2.0, 5.0, 1.0], [-1.0, 0.0, 1.0, 2.0]];
        let m = Matrix::from_fn(4, 4, |i, j| scale[i] * base[i][j] * scale[3 - j]);
        let q = [-1.0, 2.0, -3.0, -1.0].iter().zip(scale).map(|(q, s)| q * s).collect();
        let lcp = Lcp::new(m, q).unwrap();
        let s = lemke(&lcp, &LemkeOptions::default());
        // The residual mixes units here, so each pair is compared in its own.
        for i in 0..4 {
            let z = s.z[i] * scale[3 - i];
            let w = s.w[i] / scale[i];
            // A few pivots on data of size 1 to 10.
            assert!(z.min(w).abs() < 1e-13, "pair {i}: {z} {w}");
        }
    }

    proptest! {
        /// P-matrices with unit diagonal and integers above it; q in {−1, 0, 1}: ties everywhere.
        #[test]
        fn degenerate_p_matrices((upper, q) in (1usize..12).prop_flat_map(|n| (
            prop::collection::vec(-2i32..3, n * n),
            prop::collection::vec(-1i32..2, n),
        ))) {
            let n = q.len();
            let m = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => f64::from(upper[i * n + j]),
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => 0.0,
            });
            let lcp = Lcp::new(m, q.into_iter().map(f64::from).collect()).unwrap();
            let s = lemke(&lcp, &LemkeOptions::default());
            prop_assert_eq!(s.status, Status::Solved);
            // Integers: the points of the path are exact but for the scaling of the pivots.
            prop_assert!(s.residual < 1e-12, "{}", s.residual);
        }

        /// M = B Bᵀ of low rank plus a skew part, with a known solution; or made infeasible along N(Bᵀ).
        #[test]
        fn semidefinite_matrices((n, r, b, k, pairs) in (2usize..10, 1usize..4).prop_flat_map(|(n, r)| (
            Just(n), Just(r),
            prop::collection::vec(-1.0f64..1.0, n * r),
            prop::collection::vec(-1.0f64..1.0, n * n),
            prop::collection::vec(-1.0f64..1.0, n),
        ))) {
            let b = Matrix::from_vec(n, r, b);
            let gram = b.mul(&b.transpose());
            let m = Matrix::from_fn(n, n, |i, j| gram[(i, j)] + k[i * n + j] - k[j * n + i]);
            let z: Vec<f64> = pairs.iter().map(|x| x.max(0.0)).collect();
            let q: Vec<f64> = m.mul_vec(&z).iter().zip(&pairs).map(|(mz, x)| (-x).max(0.0) - mz).collect();
            let lcp = Lcp::new(m, q).unwrap();
            let s = lemke(&lcp, &LemkeOptions::default());
            prop_assert_eq!(s.status, Status::Solved);
            prop_assert!(s.residual < 1e-9, "{}", s.residual);
            // The last row of B becomes minus the sum of the others: Bᵀ 1 = 0, and q = −1 is infeasible.
            let sums = Matrix::from_fn(n, r, |i, j| match i + 1 == n {
                true => -(0..n - 1).map(|i| b[(i, j)]).sum::<f64>(),
                false => b[(i, j)],
            });
            let none = Lcp::new(sums.mul(&sums.transpose()), vec![-1.0; n]).unwrap();
            prop_assert_eq!(lemke(&none, &LemkeOptions::default()).status, Status::NoSolution);
        }
    }
}
