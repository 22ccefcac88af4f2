//! The search through all modes of a contact problem, in scaled numbers.
//!
//! ```text
//! ⎡E_a    E_f B ⎤ ⎡a⎤   ⎡−E_0  ⎤
//! ⎢             ⎥ ⎢ ⎥ = ⎢      ⎥      f = B x ,   G (f, u) ≥ 0
//! ⎣S U_a  S U_f B⎦ ⎣x⎦   ⎣−S U_0⎦
//! ```
//!
//! a: the accelerations that stay unknowns (none where the mass is positive definite); x: one parameter per
//! force direction of the cones chosen. S has as many rows as B has columns, so that the system is square.

mod maximal;
mod physical;
mod singular;

use super::mode_cones::{ModeCone, mode_cones};
use super::scaling::Scaled;
use super::{EnumerateOptions, SLACK_NEGATIVE, SLACK_ROUNDING, SolutionComponent, SolutionSet};
use crate::linalg::small::solve_complete_pivoting;
use crate::linalg::{Matrix, dot, max_abs};
use crate::problem::{Law, row_offsets};

/// Pivots below this, relative to the largest, count as zero.
const PIVOT_ZERO: f64 = 1e-12;
/// Pivots above this, relative to the largest, count as nonzero.
const PIVOT_NONZERO: f64 = 1e-10;
/// A point is listed only if it violates no equation and no slack by more than this, in scaled numbers.
const MAX_VIOLATION: f64 = 1e-10;
/// What examining a polyhedron costs, in regular modes.
const POLYHEDRON_COST: u64 = 30;

/// Accelerations, forces and velocities in scaled numbers: a point, or a direction.
#[derive(Clone)]
struct Triple {
    a: Vec<f64>,
    f: Vec<f64>,
    u: Vec<f64>,
}

/// The directions s ↦ D s of (a, f) in which a solution may move, G s ≥ h.
#[derive(Clone)]
struct Directions {
    /// D: the accelerations kept, then the forces.
    unknowns: Matrix,
    /// G.
    bounds: Matrix,
    /// h.
    limits: Vec<f64>,
}

/// A component found, in scaled numbers, with the choice of cones that it came from.
#[derive(Clone)]
struct Found {
    choice: Vec<usize>,
    point: Triple,
    directions: Option<Directions>,
    /// What is added to the size of a form's terms before its value is compared with them.
    rounding: f64,
}

/// The state of a search.
pub(super) struct Search<'a> {
    scaled: Scaled,
    offsets: Vec<usize>,
    laws: &'a [Law],
    /// The cones of each law.
    cones: Vec<Vec<ModeCone>>,
    decided: bool,
    found: Vec<Found>,
    /// K, r and the pivoting order of the mode under study.
    system: Matrix,
    rhs: Vec<f64>,
    order: Vec<usize>,
}

impl<'a> Search<'a> {
    /// Examines all modes, as far as the effort allows.
    pub(super) fn run(scaled: Scaled, laws: &'a [Law], options: &EnumerateOptions) -> SolutionSet {
        let none = SolutionSet { decided: true, ..SolutionSet::default() };
        let Some(mut search) = Search::new(scaled, laws) else { return none };
        let total = search.cones.iter().try_fold(1u64, |n, p| n.checked_mul(p.len() as u64));
        if total.is_none_or(|total| total > options.max_modes) {
            return none;
        }
        let mut choice = vec![0; laws.len()];
        let (mut modes, mut effort, mut complete) = (0, 0, false);
        while effort < options.max_modes {
            modes += 1;
            effort += if search.examine(&choice) { POLYHEDRON_COST } else { 1 };
            // Count up in mixed radix.
            let Some(k) = (0..laws.len()).find(|&k| choice[k] + 1 < search.cones[k].len()) else {
                complete = true;
                break;
            };
            choice[k] += 1;
            choice[..k].fill(0);
        }
        search.finished(complete, modes)
    }

    /// `None` where a law is not polyhedral.
    pub(super) fn new(scaled: Scaled, laws: &'a [Law]) -> Option<Self> {
        let cones = scaled.laws.iter().map(mode_cones).collect::<Option<Vec<_>>>()?;
        Some(Search {
            scaled,
            offsets: row_offsets(laws),
            laws,
            cones,
            decided: true,
            found: vec![],
            system: Matrix::default(),
            rhs: vec![],
            order: vec![],
        })
    }

    /// Whether some mode examined so far has a solution.
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The maximal components found, in physical numbers.
    pub(super) fn finished(mut self, complete: bool, modes: u64) -> SolutionSet {
        self.keep_maximal();
        let found = std::mem::take(&mut self.found);
        let count = found.len();
        let components: Vec<SolutionComponent> = found
            .into_iter()
            .filter_map(|found| {
                let choice = found.choice.clone();
                let component = self.physical(found);
                (self.violation(&choice, &component) <= MAX_VIOLATION).then_some(component)
            })
            .collect();
        self.decided &= components.len() == count;
        let force_unit = max_abs(&self.scaled.force_unit);
        SolutionSet { components, complete, decided: self.decided, force_unit, modes }
    }

    /// The largest violation of the equations and slacks of a choice at a component's point, in scaled
    /// numbers: where forces are so large that rounding shows in the velocities, this is what it leaves.
    fn violation(&self, choice: &[usize], component: &SolutionComponent) -> f64 {
        let scaled = |x: &[f64], unit: &[f64]| x.iter().zip(unit).map(|(x, u)| x / u).collect::<Vec<f64>>();
        let s = &self.scaled;
        let f = scaled(&component.force, &s.force_unit);
        let a = scaled(&component.acceleration, &s.acceleration_unit);
        let u = s.scaled_velocity(&a, &f);
        let equations = max_abs(&self.equations(choice, &a, &f, true));
        // Slacks of forces may miss by rounding of the forces themselves, which no velocity feels.
        let size = max_abs(&f).max(1.0);
        let slacks = self.slacks(choice, &vec![0.0; f.len()], &u).fold(0.0_f64, |top, v| top.max(-v));
        let forces = self.slacks(choice, &f, &vec![0.0; u.len()]).fold(0.0_f64, |top, v| top.max(-v));
        equations.max(slacks).max(forces / size)
    }

    /// The columns of B (force directions, m rows) and the forms S of a choice, constraint by constraint.
    fn for_each<'b>(
        &'b self,
        choice: &'b [usize],
        part: impl Fn(&'b ModeCone) -> &'b [[f64; 3]] + 'b,
    ) -> impl Iterator<Item = (usize, &'b [f64])> + 'b {
        choice.iter().enumerate().flat_map(move |(k, &p)| {
            let d = self.laws[k].dim();
            part(&self.cones[k][p]).iter().map(move |v| (self.offsets[k], &v[..d]))
        })
    }

    /// Finds the solutions in one mode; true where a polyhedron had to be examined.
    pub(super) fn examine(&mut self, choice: &[usize]) -> bool {
        let n = self.scaled.kept;
        let params: usize = choice.iter().enumerate().map(|(k, &p)| self.cones[k][p].basis.len()).sum();
        let size = n + params;
        let mut system = std::mem::take(&mut self.system);
        if system.rows() != size {
            system = Matrix::zeros(size, size);
        }
        let mut rhs = std::mem::take(&mut self.rhs);
        rhs.clear();
        let s = &self.scaled;
        let mut terms = 0.0_f64;
        for i in 0..n {
            system.row_mut(i)[..n].copy_from_slice(s.equilibrium_a.row(i));
            for (j, (at, b)) in self.for_each(choice, |cone| &cone.basis).enumerate() {
                system[(i, n + j)] = dot(&s.equilibrium_f.row(i)[at..at + b.len()], b);
            }
            rhs.push(-s.equilibrium_0[i]);
        }
        for (i, (row, form)) in self.for_each(choice, |cone| &cone.still).enumerate() {
            for j in 0..n {
                system[(n + i, j)] = (0..form.len()).map(|r| form[r] * s.velocity_a[(row + r, j)]).sum();
            }
            for (j, (at, b)) in self.for_each(choice, |cone| &cone.basis).enumerate() {
                let mut sum = 0.0;
                for r in 0..form.len() {
                    for (w, b) in s.velocity_f.row(row + r)[at..at + b.len()].iter().zip(b) {
                        sum += form[r] * w * b;
                        // Rows are of size one, but with much friction terms of any size may cancel here.
                        terms = terms.max((form[r] * w * b).abs());
                    }
                }
                system[(n + i, n + j)] = sum;
            }
            rhs.push(-dot(form, &s.velocity_0[row..row + form.len()]));
        }
        self.order.clear();
        self.order.extend(0..size);
        let smallest = solve_complete_pivoting(&mut system, &mut rhs, &mut self.order, terms, PIVOT_ZERO);
        if smallest > PIVOT_ZERO {
            let mut x = vec![0.0; size];
            for (k, &at) in self.order.iter().enumerate() {
                x[at] = rhs[k];
            }
            self.candidate(choice, &x, smallest);
        } else {
            // Eliminated in place: build the singular system again and use its null space.
            let (k, r) = self.assemble(choice, size);
            self.singular(choice, &k, &r, terms);
        }
        self.system = system;
        self.rhs = rhs;
        smallest <= PIVOT_ZERO
    }

    /// K and r of a choice in fresh storage.
    fn assemble(&self, choice: &[usize], size: usize) -> (Matrix, Vec<f64>) {
        let n = self.scaled.kept;
        let mut rows = Matrix::zeros(size, size);
        let mut rhs = vec![0.0; size];
        let zero = vec![0.0; size];
        for j in 0..size {
            let mut x = zero.clone();
            x[j] = 1.0;
            let (a, f) = self.split(choice, &x);
            for (i, v) in self.equations(choice, &a, &f, false).into_iter().enumerate() {
                rows[(i, j)] = v;
            }
        }
        let (a, f) = (vec![0.0; n], vec![0.0; self.scaled.rows()]);
        for (r, v) in rhs.iter_mut().zip(self.equations(choice, &a, &f, true)) {
            *r = -v;
        }
        (rows, rhs)
    }

    /// Left-hand sides of the equations of a choice at (a, f), with or without their constant terms.
    fn equations(&self, choice: &[usize], a: &[f64], f: &[f64], constant: bool) -> Vec<f64> {
        let s = &self.scaled;
        let mut out = Vec::new();
        for i in 0..s.kept {
            out.push(
                dot(s.equilibrium_a.row(i), a)
                    + dot(s.equilibrium_f.row(i), f)
                    + if constant { s.equilibrium_0[i] } else { 0.0 },
            );
        }
        let u = if constant { s.scaled_velocity(a, f) } else { s.scaled_velocity_change(a, f) };
        out.extend(
            self.for_each(choice, |cone| &cone.still).map(|(row, form)| dot(form, &u[row..row + form.len()])),
        );
        out
    }

    /// Accelerations and forces of the unknowns x = (a, parameters).
    fn split(&self, choice: &[usize], x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.scaled.kept;
        let mut f = vec![0.0; self.scaled.rows()];
        for ((at, b), xj) in self.for_each(choice, |cone| &cone.basis).zip(&x[n..]) {
            for (r, br) in b.iter().enumerate() {
                f[at + r] += br * xj;
            }
        }
        (x[..n].to_vec(), f)
    }

    /// The slacks of a choice at (f, u).
    fn slacks<'b>(
        &'b self,
        choice: &'b [usize],
        f: &'b [f64],
        u: &'b [f64],
    ) -> impl Iterator<Item = f64> + 'b {
        choice.iter().enumerate().flat_map(move |(k, &p)| {
            let (at, d) = (self.offsets[k], self.laws[k].dim());
            self.cones[k][p]
                .nonnegative
                .iter()
                .map(move |(a, b)| dot(&a[..d], &f[at..at + d]) + dot(&b[..d], &u[at..at + d]))
        })
    }

    /// The size of each slack's terms, from the magnitudes of the rows.
    fn slack_sizes(&self, choice: &[usize], magnitude: &[f64]) -> Vec<f64> {
        let size =
            |x: &[f64], at: usize| x.iter().zip(&magnitude[at..]).map(|(x, m)| x.abs() * m).sum::<f64>();
        choice
            .iter()
            .enumerate()
            .flat_map(|(k, &p)| {
                let (at, d) = (self.offsets[k], self.laws[k].dim());
                self.cones[k][p].nonnegative.iter().map(move |(a, b)| size(&a[..d], at) + size(&b[..d], at))
            })
            .collect()
    }

    /// A solution of the equations of a mode, kept if its slacks are nonnegative. `smallest` is the smallest
    /// pivot: an ill-conditioned system has lost that many digits.
    fn candidate(&mut self, choice: &[usize], x: &[f64], smallest: f64) {
        let (a, f) = self.split(choice, x);
        let u = self.scaled.scaled_velocity(&a, &f);
        let sizes = self.slack_sizes(choice, &self.scaled.magnitude(&a, &f));
        let (sure, clear) = (SLACK_ROUNDING.max(1e-14 / smallest), SLACK_NEGATIVE.max(1e-12 / smallest));
        let mut close = smallest < PIVOT_NONZERO;
        for (slack, size) in self.slacks(choice, &f, &u).zip(&sizes) {
            if slack < -clear * size {
                // Clearly negative: the mode is empty whatever its other slacks are.
                return;
            }
            close |= slack < -sure * size;
        }
        if close {
            self.decided = false;
        } else {
            let point = Triple { a, f, u };
            self.found.push(Found { choice: choice.to_vec(), point, directions: None, rounding: 0.0 });
        }
    }

    /// What the right-hand sides of the equations of a choice were made of.
    fn equation_noise(&self, choice: &[usize]) -> Vec<f64> {
        let s = &self.scaled;
        let load = max_abs(&s.equilibrium_0);
        let still = self
            .for_each(choice, |cone| &cone.still)
            .map(|(row, form)| form.iter().zip(&s.noise[row..]).map(|(x, n)| x.abs() * n).sum());
        std::iter::repeat_n(load, s.kept).chain(still).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// w = M z + q with unit diagonal, so that scaling changes nothing but the unit of q.
    fn search(off: f64) -> (Matrix, Vec<Law>) {
        (Matrix::from_rows(&[[1.0, off], [off, 1.0]]), vec![Law::Unilateral; 2])
    }

    #[test]
    fn a_regular_mode_is_kept_only_with_nonnegative_slacks() {
        let (w, laws) = search(0.5);
        let scaled = Scaled::reduced(&w, &[-1.0, -1.0], &laws, vec![1.0; 2]);
        let mut search = Search::new(scaled, &laws).unwrap();
        // Both open leaves u = q < 0; one closed leaves u = −1/2 at the other; both closed has f = 2/3.
        for (choice, count) in [([0, 0], 0), ([1, 0], 0), ([0, 1], 0), ([1, 1], 1)] {
            assert!(!search.examine(&choice), "the system is regular");
            assert_eq!(search.found.len(), count, "{choice:?}");
        }
        let set = search.finished(true, 4);
        assert!(set.decided && (set.components[0].force[0] - 2.0 / 3.0).abs() < 1e-15, "{set:?}");
    }

    #[test]
    fn a_singular_mode_is_a_polyhedron_or_empty() {
        let (w, laws) = search(1.0);
        // f₁ + f₂ = 1 with f ≥ 0: a segment of least norm (1/2, 1/2).
        let scaled = Scaled::reduced(&w, &[-1.0, -1.0], &laws, vec![1.0; 2]);
        let mut all = Search::new(scaled, &laws).unwrap();
        assert!(all.examine(&[1, 1]) && all.has_found());
        let set = all.finished(false, 1);
        let component = &set.components[0];
        assert!(component.force.iter().all(|f| (f - 0.5).abs() < 1e-12), "{component:?}");
        assert_eq!(component.freedom.as_ref().unwrap().force.cols(), 1);
        // f₁ + f₂ = 1 and f₁ + f₂ = 2.
        let scaled = Scaled::reduced(&w, &[-1.0, -2.0], &laws, vec![1.0; 2]);
        let mut none = Search::new(scaled, &laws).unwrap();
        assert!(none.examine(&[1, 1]) && !none.has_found() && none.decided);
    }

    #[test]
    fn a_point_inside_a_polyhedron_is_no_component_of_its_own() {
        let (w, laws) = search(1.0);
        let scaled = Scaled::reduced(&w, &[-1.0, -1.0], &laws, vec![1.0; 2]);
        let mut all = Search::new(scaled, &laws).unwrap();
        // f = (1, 0) with u = 0 is an end of the segment.
        for choice in [[1, 0], [0, 1], [1, 1]] {
            all.examine(&choice);
        }
        assert_eq!(all.found.len(), 3);
        assert_eq!(all.finished(false, 3).components.len(), 1);
    }
}
