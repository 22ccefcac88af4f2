//! Polyhedra {t : G t ≥ h}: their point nearest to the origin, and linear programs over them.
//!
//! min ½‖t‖²  s.t. G t ≥ h      ⇔   0 ≤ y ⊥ G Gᵀ y − h ≥ 0,  t = Gᵀ y
//! min cᵀ t   s.t. G t ≥ h
//!
//! G is p × k, h in Rᵖ, c and t in Rᵏ, t free. The first is a complementarity problem with a positive
//! semidefinite matrix and goes to Lemke's method; the second to a dense simplex method. Both tell an empty
//! polyhedron by Farkas: y ≥ 0, Gᵀ y = 0, hᵀ y > 0. The set of forces of a hyperstatic system (002 Lemma 5.2)
//! and the pieces of a degenerate complementarity problem are such polyhedra.
//!
//! Rows are divided by their length first. A row shorter than [`rank_tolerance`] times the longest is zero.

use super::Lcp;
use super::lemke::{LemkeOptions, lemke};
use crate::linalg::{Dictionary, Lu, Matrix, dot, max_abs, norm, rank_tolerance};
use crate::problem::Status;

/// The outcome of [`nearest_point`].
#[derive(Clone, Debug, PartialEq)]
pub enum Nearest {
    /// The point of least length, k numbers.
    Point(Vec<f64>),
    /// The polyhedron is empty: y ≥ 0 with Gᵀ y = 0 and hᵀ y > 0, p numbers.
    Infeasible(Vec<f64>),
    /// Rounding left the question open.
    Undecided,
}

/// The outcome of [`linear_program`].
#[derive(Clone, Debug, PartialEq)]
pub enum Lp {
    /// A vertex (a point of a minimal face where there is no vertex) with the least value.
    Optimal {
        /// t, k numbers.
        point: Vec<f64>,
        /// cᵀ t.
        value: f64,
    },
    /// The value has no lower bound.
    Unbounded,
    /// The polyhedron is empty.
    Infeasible,
    /// Rounding left the question open.
    Undecided,
}

/// How far, relative to the largest |hᵢ|/‖gᵢ‖, an inequality may fail in a linear program.
const LP_TOLERANCE: f64 = 1e-10;
/// Coefficients of the scaled dictionary below this are rounding.
const ENTRY_TOLERANCE: f64 = 1e-11;

/// The point t of least ‖t‖₂ with G t ≥ h, where inequalities may fail by `tolerance` times the largest
/// |hᵢ|/‖gᵢ‖ (by rounding: the point satisfies them much better where it can).
///
/// # Panics
/// If `h` has not one entry per row of `g`.
pub fn nearest_point(g: &Matrix, h: &[f64], tolerance: f64) -> Nearest {
    assert_eq!(g.rows(), h.len(), "one bound per row");
    let system = match Inequalities::new(g, h, tolerance) {
        Ok(system) => system,
        Err(row) => return Nearest::Infeasible(unit(h.len(), row)),
    };
    if let Some(t) = system.shortest(&system.h, tolerance) {
        return Nearest::Point(t);
    }
    let mut simplex = Simplex::new(&system, &vec![0.0; g.cols()]);
    match simplex.make_feasible(tolerance * system.scale) {
        Feasibility::Infeasible(y) if system.refutes(&y) => Nearest::Infeasible(system.lift(h.len(), &y)),
        Feasibility::Infeasible(_) => Nearest::Undecided,
        Feasibility::Undecided => Nearest::Undecided,
        Feasibility::Feasible => {
            // Feasible within the tolerance only: the bounds give way by that much.
            let relaxed: Vec<f64> = system.h.iter().map(|x| x - tolerance * system.scale).collect();
            system.shortest(&relaxed, tolerance).map_or(Nearest::Undecided, Nearest::Point)
        }
    }
}

/// min cᵀ t subject to G t ≥ h, t free.
///
/// # Panics
/// If `h` has not one entry per row of `g`, or `c` not one per column.
pub fn linear_program(c: &[f64], g: &Matrix, h: &[f64]) -> Lp {
    assert_eq!(g.rows(), h.len(), "one bound per row");
    assert_eq!(g.cols(), c.len(), "one cost per column");
    let Ok(system) = Inequalities::new(g, h, LP_TOLERANCE) else { return Lp::Infeasible };
    let mut simplex = Simplex::new(&system, c);
    match simplex.make_feasible(LP_TOLERANCE * system.scale) {
        Feasibility::Infeasible(y) if system.refutes(&y) => return Lp::Infeasible,
        Feasibility::Infeasible(_) => return Lp::Undecided,
        Feasibility::Undecided => return Lp::Undecided,
        Feasibility::Feasible => {}
    }
    if simplex.endless {
        return Lp::Unbounded;
    }
    match simplex.minimise(simplex.objective) {
        Descent::Bottom => {
            let point = simplex.vertex(&system);
            Lp::Optimal { value: dot(c, &point), point }
        }
        Descent::Unbounded => Lp::Unbounded,
        Descent::LeftBasis | Descent::Undecided => Lp::Undecided,
    }
}

fn unit(n: usize, i: usize) -> Vec<f64> {
    let mut e = vec![0.0; n];
    e[i] = 1.0;
    e
}

/// The shortest (least-squares) solution of G t = h, by LU where G is square and regular.
fn shortest_solution(g: &Matrix, h: &[f64]) -> Vec<f64> {
    let all: Vec<usize> = (0..g.rows()).collect();
    let lu = if g.rows() == g.cols() { Lu::principal(g, &all) } else { None };
    lu.map_or_else(|| g.pseudo_solve(h), |lu| lu.solve(h))
}

/// G t ≥ h with rows of length 1; rows that are zero and hold are left out.
struct Inequalities {
    g: Matrix,
    h: Vec<f64>,
    /// Row of the original system and its length, for each row kept.
    origin: Vec<(usize, f64)>,
    /// The largest |hᵢ|, 1 where all are zero.
    scale: f64,
}

impl Inequalities {
    /// The scaled system, or the row 0 ≥ hᵢ that cannot hold.
    fn new(g: &Matrix, h: &[f64], tolerance: f64) -> Result<Self, usize> {
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
    fn lift(&self, rows: usize, y: &[f64]) -> Vec<f64> {
        let mut lifted = vec![0.0; rows];
        for (&(i, length), yi) in self.origin.iter().zip(y) {
            lifted[i] = yi / length;
        }
        lifted
    }

    /// Whether y ≥ 0 shows that the polyhedron is empty: a point of it would be 1e5 times the scale away.
    fn refutes(&self, y: &[f64]) -> bool {
        // hᵀ y ≤ yᵀ G t ≤ ‖Gᵀ y‖₂ ‖t‖₂ for every point t.
        let (gain, defect) = (dot(&self.h, y), norm(&self.g.tr_mul_vec(y)));
        y.iter().all(|&x| x >= 0.0) && gain > 0.0 && gain >= 1e5 * self.scale * defect
    }

    /// max (hᵢ − gᵢᵀ t), not below 0.
    fn violation(&self, h: &[f64], t: &[f64]) -> f64 {
        (0..h.len()).fold(0.0_f64, |worst, i| worst.max(h[i] - dot(self.g.row(i), t)))
    }

    /// The shortest t with G t ≥ h through its multipliers, or `None` where Lemke's method does not find it.
    fn shortest(&self, h: &[f64], tolerance: f64) -> Option<Vec<f64>> {
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
        // On its active rows the point is the shortest solution of G_A t = h_A; computed so it does not
        // suffer from the squared condition of G Gᵀ.
        let top = max_abs(y);
        let active: Vec<usize> = (0..p).filter(|&i| y[i] > 1e-13 * top).collect();
        let bounds: Vec<f64> = active.iter().map(|&i| h[i]).collect();
        let polished = shortest_solution(&self.g.select_rows(&active), &bounds);
        let (raw, exact) = (self.violation(h, &t), self.violation(h, &polished));
        let t = if exact <= raw.max(1e-14 * self.scale) { polished } else { t };
        (self.violation(h, &t) <= tolerance * self.scale).then_some(t)
    }
}

enum Feasibility {
    Feasible,
    /// y ≥ 0, Gᵀ y = 0, hᵀ y > 0 for the scaled rows.
    Infeasible(Vec<f64>),
    Undecided,
}

enum Descent {
    Bottom,
    Unbounded,
    /// The variable that was minimised left the basis: it is zero.
    LeftBasis,
    Undecided,
}

/// Dictionary of the slacks s = G t − h ≥ 0, the free t, and one artificial variable a ≥ 0.
/// Variables are numbered: sᵢ is i, tⱼ is p + j, a is p + k.
struct Simplex {
    p: usize,
    k: usize,
    dictionary: Dictionary,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    /// The row of the objective, after the rows of the variables.
    objective: usize,
    /// Columns that take no part: null directions of G, and the artificial variable outside phase one.
    closed: Vec<bool>,
    /// Whether a null direction of G has a cost: then nothing bounds the objective.
    endless: bool,
    /// The constants are of size 1 after division by this.
    scale: f64,
}

impl Simplex {
    fn new(system: &Inequalities, c: &[f64]) -> Simplex {
        let (p, k) = (system.h.len(), system.g.cols());
        let mut dictionary = Dictionary::zeros(p + 1, k + 2);
        for i in 0..p {
            let row = dictionary.row_mut(i);
            row[..k].copy_from_slice(system.g.row(i));
            row[k + 1] = -system.h[i] / system.scale;
        }
        let cost = max_abs(c);
        if cost > 0.0 {
            for (t, x) in dictionary.row_mut(p).iter_mut().zip(c) {
                *t = x / cost;
            }
        }
        let mut simplex = Simplex {
            p,
            k,
            dictionary,
            basic: (0..p).collect(),
            nonbasic: (p..=p + k).collect(),
            objective: p,
            closed: vec![false; k + 1],
            endless: false,
            scale: system.scale,
        };
        simplex.closed[k] = true;
        simplex.free_variables_into_the_basis();
        simplex
    }

    /// Every tⱼ that G can tell becomes basic, by complete pivoting.
    fn free_variables_into_the_basis(&mut self) {
        loop {
            let (mut best, mut place) = (ENTRY_TOLERANCE, None);
            for i in 0..self.p {
                if self.basic[i] >= self.p {
                    continue;
                }
                for j in 0..self.k {
                    if self.nonbasic[j] >= self.p && self.dictionary.at(i, j).abs() > best {
                        best = self.dictionary.at(i, j).abs();
                        place = Some((i, j));
                    }
                }
            }
            let Some((i, j)) = place else { break };
            self.exchange(i, j);
        }
        // What is left are directions in the null space of G: rounding in the slacks is removed.
        for j in 0..self.k {
            if self.nonbasic[j] >= self.p {
                self.endless |= self.dictionary.at(self.objective, j).abs() > LP_TOLERANCE;
                self.close(j);
            }
        }
    }

    fn close(&mut self, c: usize) {
        self.closed[c] = true;
        (0..=self.p).for_each(|i| self.dictionary.row_mut(i)[c] = 0.0);
    }

    fn exchange(&mut self, r: usize, c: usize) {
        self.dictionary.pivot(r, c);
        std::mem::swap(&mut self.basic[r], &mut self.nonbasic[c]);
    }

    fn is_free(&self, row: usize) -> bool {
        (self.p..self.p + self.k).contains(&self.basic[row])
    }

    /// Phase one: the artificial variable a shifts the slacks that are basic now, and is made small.
    fn make_feasible(&mut self, tolerance: f64) -> Feasibility {
        let a = self.k;
        let rows: Vec<usize> = (0..self.p).filter(|&i| !self.is_free(i)).collect();
        let lowest = rows
            .iter()
            .copied()
            .min_by(|&i, &j| self.dictionary.constant(i).total_cmp(&self.dictionary.constant(j)));
        let Some(r) = lowest.filter(|&i| self.dictionary.constant(i) < 0.0) else {
            return Feasibility::Feasible;
        };
        for &i in &rows {
            self.dictionary.row_mut(i)[a] = 1.0;
        }
        self.closed[a] = false;
        self.exchange(r, a);
        match self.minimise(r) {
            Descent::LeftBasis => {}
            Descent::Bottom => {
                // a = v + Σ yⱼ sⱼ with y ≥ 0: then Gᵀ y = 0 and hᵀ y = v.
                let v = self.dictionary.constant(r);
                let mut y = vec![0.0; self.p];
                for j in 0..=self.k {
                    if self.nonbasic[j] < self.p {
                        y[self.nonbasic[j]] = self.dictionary.at(r, j).max(0.0);
                    }
                }
                let sum: f64 = y.iter().sum();
                if v * self.scale > tolerance * sum.max(1.0) {
                    return Feasibility::Infeasible(y);
                }
                // Feasible within the tolerance: a leaves at the place where it does least harm.
                let size = |j: usize| if self.closed[j] { 0.0 } else { self.dictionary.at(r, j).abs() };
                let Some(c) = (0..=self.k).max_by(|&i, &j| size(i).total_cmp(&size(j))) else {
                    return Feasibility::Undecided;
                };
                if size(c) <= ENTRY_TOLERANCE {
                    return Feasibility::Undecided;
                }
                self.dictionary.row_mut(r)[self.k + 1] = 0.0;
                self.exchange(r, c);
            }
            Descent::Unbounded | Descent::Undecided => return Feasibility::Undecided,
        }
        if let Some(c) = self.nonbasic.iter().position(|&x| x == self.p + self.k) {
            self.close(c);
        }
        Feasibility::Feasible
    }

    /// Makes the quantity of row `goal` (the objective, or a basic variable bounded by 0) as small as it gets.
    fn minimise(&mut self, goal: usize) -> Descent {
        let unknowns = self.p + self.k + 1;
        let (mut standing, mut lowest) = (0, f64::INFINITY);
        for _ in 0..200 * (unknowns + 10) {
            // The largest decrease; after long standing still, the least index (Bland), which cannot cycle.
            let bland = standing > unknowns;
            let open =
                (0..=self.k).filter(|&j| !self.closed[j] && self.dictionary.at(goal, j) < -ENTRY_TOLERANCE);
            let entering = if bland {
                open.min_by_key(|&j| self.nonbasic[j])
            } else {
                open.min_by(|&i, &j| self.dictionary.at(goal, i).total_cmp(&self.dictionary.at(goal, j)))
            };
            let Some(c) = entering else { return Descent::Bottom };
            let Some(r) = self.leaving_row(c, goal, bland) else { return Descent::Unbounded };
            self.exchange(r, c);
            if r == goal {
                return Descent::LeftBasis;
            }
            let value = self.dictionary.constant(goal);
            if value < lowest - 1e-13 * lowest.abs().min(1e300) {
                (standing, lowest) = (0, value);
            } else {
                standing += 1;
            }
        }
        Descent::Undecided
    }

    /// The sign-constrained row that limits the variable of column c; of equal ones the goal, then the
    /// largest pivot, or the least index.
    fn leaving_row(&self, c: usize, goal: usize, bland: bool) -> Option<usize> {
        let d = &self.dictionary;
        let limited = (0..self.p).filter(|&i| !self.is_free(i) && d.at(i, c) < -ENTRY_TOLERANCE);
        let ratio = |i: usize| d.constant(i).max(0.0) / -d.at(i, c);
        let least = limited.clone().map(ratio).fold(f64::INFINITY, f64::min);
        let tied = limited.filter(|&i| ratio(i) <= least + 1e-12 * least.max(1.0));
        if tied.clone().any(|i| i == goal) {
            return Some(goal);
        }
        if bland {
            tied.min_by_key(|&i| self.basic[i])
        } else {
            tied.min_by(|&i, &j| d.at(i, c).total_cmp(&d.at(j, c)))
        }
    }

    /// The point of the basis: from the data on the active rows, or of the dictionary where that is better.
    fn vertex(&self, system: &Inequalities) -> Vec<f64> {
        let mut t = vec![0.0; self.k];
        for i in 0..self.p {
            if self.is_free(i) {
                t[self.basic[i] - self.p] = self.dictionary.constant(i) * self.scale;
            }
        }
        let active: Vec<usize> = self.nonbasic.iter().copied().filter(|&x| x < self.p).collect();
        let bounds: Vec<f64> = active.iter().map(|&i| system.h[i]).collect();
        let polished = shortest_solution(&system.g.select_rows(&active), &bounds);
        let (raw, exact) = (system.violation(&system.h, &t), system.violation(&system.h, &polished));
        if exact <= raw.max(1e-14 * system.scale) { polished } else { t }
    }
}

#[cfg(test)]
mod tests {
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
    use proptest::prelude::*;

    use super::*;

    /// min ½ curvature ‖t‖² + cᵀ t, G t ≥ h by clarabel: its status and t. On polyhedra
    /// without interior it may end with an error or call them empty, so that only "solved" is believed.
    fn reference(curvature: f64, c: &[f64], g: &Matrix, h: &[f64]) -> (SolverStatus, Vec<f64>) {
        let k = c.len();
        let p = CscMatrix::from(&Matrix::diagonal(&vec![curvature; k]).to_rows());
        let a = CscMatrix::from(&Matrix::from_fn(g.rows(), k, |i, j| -g[(i, j)]).to_rows());
        let b: Vec<f64> = h.iter().map(|x| -x).collect();
        let settings = DefaultSettings { verbose: false, ..Default::default() };
        let mut solver = DefaultSolver::new(&p, c, &a, &b, &[NonnegativeConeT(h.len())], settings).unwrap();
        solver.solve();
        (solver.solution.status, solver.solution.x.clone())
    }

    fn check_farkas(g: &Matrix, h: &[f64], y: &[f64]) {
        assert!(y.iter().all(|&x| x >= 0.0));
        let gain = dot(h, y);
        assert!(gain > 0.0, "gain {gain}");
        assert!(max_abs(&g.tr_mul_vec(y)) <= 1e-9 * max_abs(y) * g.max_abs(), "{:?}", g.tr_mul_vec(y));
    }

    #[test]
    fn nearest_points_by_hand() {
        // The half plane t₁ + t₂ ≥ 2, twice, and a redundant row.
        let g = Matrix::from_rows(&[[1.0, 1.0], [2.0, 2.0], [1.0, 0.0]]);
        let Nearest::Point(t) = nearest_point(&g, &[2.0, 4.0, -5.0], 1e-9) else { panic!() };
        assert!((t[0] - 1.0).abs() < 1e-15 && (t[1] - 1.0).abs() < 1e-15);
        // No row, no constraint; zero rows hold or do not.
        assert_eq!(nearest_point(&Matrix::zeros(0, 2), &[], 1e-9), Nearest::Point(vec![0.0; 2]));
        assert_eq!(nearest_point(&Matrix::zeros(1, 2), &[-1.0], 1e-9), Nearest::Point(vec![0.0; 2]));
        assert_eq!(nearest_point(&Matrix::zeros(1, 2), &[1.0], 1e-9), Nearest::Infeasible(vec![1.0]));
        // An equation as two inequalities, and one that rounding has made empty by a hair.
        let g = Matrix::from_rows(&[[3.0, 4.0], [-3.0, -4.0]]);
        for gap in [0.0, 1e-15] {
            let Nearest::Point(t) = nearest_point(&g, &[5.0 + gap, -5.0], 1e-9) else { panic!() };
            assert!((t[0] - 0.6).abs() < 3e-9 && (t[1] - 0.8).abs() < 3e-9);
        }
        let Nearest::Infeasible(y) = nearest_point(&g, &[5.0, -4.9], 1e-9) else { panic!() };
        check_farkas(&g, &[5.0, -4.9], &y);
    }

    #[test]
    fn linear_programs_by_hand() {
        let g = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]);
        let h = [0.0, 0.0, -1.0];
        let Lp::Optimal { point, value } = linear_program(&[-1.0, -2.0], &g, &h) else { panic!() };
        // Rows are divided by √2, hence the rounding.
        assert!((value + 2.0).abs() < 1e-15 && point[0].abs() < 1e-15);
        let wedge = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(linear_program(&[1.0, -1.0], &wedge, &[0.0, 0.0]), Lp::Unbounded);
        assert_eq!(linear_program(&[1.0], &Matrix::from_rows(&[[1.0], [-1.0]]), &[1.0, 0.0]), Lp::Infeasible);
        // A strip: the null direction of G is free of cost, or not.
        let strip = Matrix::from_rows(&[[1.0, 1.0], [-1.0, -1.0]]);
        let Lp::Optimal { value, .. } = linear_program(&[1.0, 1.0], &strip, &[-3.0, -4.0]) else { panic!() };
        assert!((value + 3.0).abs() < 1e-14);
        assert_eq!(linear_program(&[1.0, 0.0], &strip, &[-3.0, -4.0]), Lp::Unbounded);
        assert_eq!(
            linear_program(&[0.0; 2], &Matrix::zeros(0, 2), &[]),
            Lp::Optimal { point: vec![0.0; 2], value: 0.0 }
        );
        assert_eq!(linear_program(&[1.0], &Matrix::zeros(0, 1), &[]), Lp::Unbounded);
    }

    /// Beale's example, on which the simplex method with the largest-coefficient rule cycles.
    #[test]
    fn beale_does_not_cycle() {
        let g = Matrix::from_rows(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [-0.25, 60.0, 0.04, -9.0],
            [-0.5, 90.0, 0.02, -3.0],
            [0.0, 0.0, -1.0, 0.0],
        ]);
        let outcome = linear_program(&[-0.75, 150.0, -0.02, 6.0], &g, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        let Lp::Optimal { value, .. } = outcome else { panic!("{outcome:?}") };
        assert!((value + 0.05).abs() < 1e-14, "{value}");
    }

    /// Integer data with repeated, opposite and dependent rows: as degenerate as mechanics makes them.
    fn polyhedron() -> impl Strategy<Value = (Matrix, Vec<f64>, Vec<f64>)> {
        (1usize..7, 1usize..14).prop_flat_map(|(k, p)| {
            let row = prop::collection::vec(-2i32..3, k + 1);
            let cost = prop::collection::vec(-2i32..3, k);
            (prop::collection::vec(row, p), prop::collection::vec((0..p, -1i32..3), 0..4), cost).prop_map(
                move |(mut rows, copies, cost)| {
                    for (i, factor) in copies {
                        rows.push(rows[i].iter().map(|x| x * factor).collect());
                    }
                    let g = Matrix::from_fn(rows.len(), k, |i, j| f64::from(rows[i][j]));
                    let h = rows.iter().map(|r| f64::from(r[k])).collect();
                    (g, h, cost.into_iter().map(f64::from).collect())
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn nearest_point_agrees_with_clarabel((g, h, _) in polyhedron()) {
            let (status, x) = reference(1.0, &vec![0.0; g.cols()], &g, &h);
            match nearest_point(&g, &h, 1e-9) {
                Nearest::Point(t) => {
                    let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &t)));
                    prop_assert!(violation <= 1e-13, "violation {violation}");
                    if status == SolverStatus::Solved {
                        // clarabel stops at a gap of 1e-8, so its ½‖t‖² is right to that, and t to its root.
                        prop_assert!((norm(&t) - norm(&x)).abs() < 1e-4 && norm(&t) <= norm(&x) + 1e-7);
                    }
                }
                Nearest::Infeasible(y) => {
                    // A proof; clarabel now and then calls such a program solved.
                    check_farkas(&g, &h, &y);
                }
                Nearest::Undecided => prop_assert!(false, "undecided"),
            }
        }

        #[test]
        fn linear_program_agrees_with_clarabel((g, h, c) in polyhedron()) {
            let (status, x) = reference(0.0, &c, &g, &h);
            match linear_program(&c, &g, &h) {
                Lp::Optimal { point, value } => {
                    let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &point)));
                    prop_assert!(violation <= 1e-12, "violation {violation}");
                    if status == SolverStatus::Solved {
                        // The gap at which clarabel stops.
                        prop_assert!((value - dot(&c, &x)).abs() < 1e-6 * (1.0 + value.abs()), "{value}");
                    }
                    let lower = g.stack(&Matrix::from_fn(1, c.len(), |_, j| -c[j]));
                    // Well above what the tolerance of the other method lets through.
                    let gap = 1e-3 * (1.0 + value.abs());
                    let bounds: Vec<f64> = h.iter().copied().chain([gap - value]).collect();
                    prop_assert!(matches!(nearest_point(&lower, &bounds, 1e-9), Nearest::Infeasible(_)));
                }
                Lp::Unbounded => {
                    prop_assert!(matches!(nearest_point(&g, &h, 1e-9), Nearest::Point(_)));
                    // A direction G d ≥ 0, cᵀ d ≤ −1.
                    let down = g.stack(&Matrix::from_fn(1, c.len(), |_, j| -c[j]));
                    let bounds: Vec<f64> = vec![0.0; h.len()].into_iter().chain([1.0]).collect();
                    let Nearest::Point(d) = nearest_point(&down, &bounds, 1e-9) else {
                        return Err(TestCaseError::fail("no direction of descent"));
                    };
                    // Checked here, so that it is a proof; clarabel now and then calls such a program solved.
                    prop_assert!((0..h.len()).all(|i| dot(g.row(i), &d) >= -1e-12) && dot(&c, &d) <= -1.0 + 1e-12);
                }
                Lp::Infeasible => {
                    let Nearest::Infeasible(y) = nearest_point(&g, &h, 1e-9) else {
                        return Err(TestCaseError::fail("feasible after all"));
                    };
                    check_farkas(&g, &h, &y);
                }
                Lp::Undecided => prop_assert!(false, "undecided"),
            }
        }

        /// Larger, with a known point inside: 50 unknowns, 200 rows, half of them copies or combinations.
        #[test]
        fn large_degenerate_programs(seed in 0u64..1000) {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let (k, half) = (20 + (seed % 31) as usize, 100);
            let base = Matrix::from_fn(half, k, |_, _| next());
            let g = base.stack(&Matrix::from_fn(half, k, |i, j| {
                if i % 2 == 0 { base[(i, j)] } else { base[(i, j)] + base[(i - 1, j)] }
            }));
            let inside: Vec<f64> = (0..k).map(|_| next()).collect();
            // Every third row is tight at the point: a vertex with far more than k facets.
            let mut h = g.mul_vec(&inside);
            (0..half).filter(|i| i % 3 != 0).for_each(|i| h[i] -= 0.1);
            let c = base.tr_mul_vec(&(0..half).map(|i| if i % 3 == 0 { 1.0 } else { 0.0 }).collect::<Vec<_>>());
            // c is a positive combination of rows tight at the point, so the point is optimal.
            let Lp::Optimal { value, .. } = linear_program(&c, &g, &h) else { panic!() };
            prop_assert!((value - dot(&c, &inside)).abs() < 1e-10, "{} {}", value, dot(&c, &inside));
            let Nearest::Point(t) = nearest_point(&g, &h, 1e-9) else { panic!() };
            prop_assert!(norm(&t) <= norm(&inside) + 1e-12);
            let violation = (0..h.len()).fold(0.0_f64, |m, i| m.max(h[i] - dot(g.row(i), &t)));
            prop_assert!(violation <= 1e-12, "violation {violation}");
        }
    }
}
