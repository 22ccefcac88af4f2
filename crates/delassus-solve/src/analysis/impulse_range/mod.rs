//! Which impulses go with the same velocities: unique or not, and the least and the largest at every
//! constraint.
//!
//! ```text
//! min / max r_n,i   subject to   M⁻¹H r = M⁻¹H r⁰ ,   r in the laws at the velocities u of r⁰
//! ```
//!
//! M is n × n, H is n × m, r and u are in Rᵐ. With the velocities known, a contact that opens has no impulse,
//! one that slides has r_t = −μ r_n u_t/‖u_t‖, one that sticks lies in its cone: a convex set in coordinates
//! c, r = B c, with none, one or up to three coordinates per constraint. Impulses are unique where the
//! columns of H B are independent. Otherwise each bound is a second-order cone program in the null space of H
//! B, and no more is concluded than the points that solvers return show. The set is convex: the mean of
//! all points found is in it too, and lies inside every cone in which one of them does. Where the columns
//! that can change both ways there are dependent, other impulses exist, wherever the solver's own point was.
//! A mechanism that stands on more legs than it needs has such a set (004 §6 names it as a weakness).

mod coordinates;
mod interior;
mod parts;
mod program;

use crate::lcp::{Lp, linear_program};
use crate::linalg::{Matrix, RationalMatrix, Sparse, max_abs, norm};
use crate::modes::{self, Mode, SolutionComponent};
use crate::problem::{ContactProblem, Dynamics, Form, InvalidProblem, Law, inverse_blocks, row_offsets};
use coordinates::{Coordinates, Freedom};
use program::{Extreme, Program};

/// Columns beyond which no decomposition is tried.
pub const MAX_COLUMNS: usize = 600;
/// Columns up to which the rows of friction have their ranges too.
const MAX_FRICTION_COLUMNS: usize = 180;
/// Velocities below this part of the largest free velocity count as zero.
const REST_RATIO: f64 = 1e-7;
/// A range narrower than this part of the largest impulse is one impulse.
const RANGE_ROUNDING: f64 = 1e-6;
/// A contact without force has at most this part of the largest impulse.
const NO_FORCE: f64 = 1e-9;
/// A force is inside its cone when it is clear of the surface by this part of the largest force.
const CONE_MARGIN: f64 = 1e-6;
/// Rows depend on each other where a singular value is below this part of the largest.
const DEPENDENT: f64 = 1e-10;

/// Rows up to which ranks are taken in rational arithmetic, whose numbers grow with them.
const MAX_EXACT_ROWS: usize = 48;

/// What is known of the impulses.
#[derive(Clone, Debug, PartialEq)]
pub enum ImpulseRange {
    /// The impulses are the only ones that go with these velocities.
    Unique,
    /// There are others.
    Ranges {
        /// Least and largest normal impulse (or impulse of a row) per constraint, infinite where nothing
        /// bounds it.
        normal: Vec<[f64; 2]>,
        /// The same of every row, in the order of the problem; of friction infinite in problems of more than
        /// 180 columns.
        rows: Vec<[f64; 2]>,
        /// The impulses of least norm among them, in the order of the problem.
        least_norm: Vec<f64>,
        /// The mean of the impulses found among them: inside of every cone in which one of these is.
        mean: Vec<f64>,
        /// Directions that span all differences of such impulses, one per column, where they were found.
        differences: Matrix,
    },
    /// Not decided.
    Unknown,
}

impl ImpulseRange {
    /// All impulses times a factor: forces, for one over the time of a step.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            ImpulseRange::Ranges { mut normal, mut rows, mut least_norm, mut mean, differences } => {
                let ends = normal.iter_mut().chain(&mut rows).flatten();
                ends.chain(&mut least_norm).chain(&mut mean).for_each(|x| *x *= factor);
                ImpulseRange::Ranges { normal, rows, least_norm, mean, differences }
            }
            other => other,
        }
    }
}

/// The ranges of impulses around a solution, with its velocities kept.
pub fn impulse_range(problem: &ContactProblem, impulse: &[f64]) -> Result<ImpulseRange, InvalidProblem> {
    let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else {
        return Ok(ImpulseRange::Unknown);
    };
    let first = row_offsets(&problem.laws);
    if first.last().is_some_and(|columns| *columns > MAX_COLUMNS) {
        return Ok(ImpulseRange::Unknown);
    }
    let motion = Motion::of(mass, jacobian_transposed, force, bias, impulse)?;
    let Some(coordinates) = Coordinates::new(&problem.laws, first, &motion.velocity, motion.rest) else {
        return Ok(ImpulseRange::Unknown);
    };
    let a = coordinates.response(&jacobian_transposed.to_dense(), &motion.weight);
    let null = a.row_space_with(1e-10).null_basis;
    if null.cols() == 0 {
        return Ok(ImpulseRange::Unique);
    }
    let start = coordinates.of_impulse(impulse);
    let size = max_abs(impulse).max(f64::MIN_POSITIVE);
    let program = Program::new(&coordinates, &start, &null, size).with_columns(&a);
    let Some(shortest) = program.shortest() else { return Ok(ImpulseRange::Unknown) };
    let Bounds { rows, mean, wide } = Bounds::of(&coordinates, &program, &shortest, size);
    let differences = coordinates.differences_at(&a, &mean, RANGE_ROUNDING * size);
    if !wide && differences.cols() == 0 {
        return Ok(ImpulseRange::Unknown);
    }
    let normal = coordinates.first[..problem.laws.len()].iter().map(|&i| rows[i]).collect();
    let (least_norm, mean) = (coordinates.impulse(&shortest), coordinates.impulse(&mean));
    Ok(ImpulseRange::Ranges { normal, rows, least_norm, mean, differences })
}

/// The impulses whose contacts have the least norm among those that go with the same velocities; where that
/// leaves joints open, theirs of least norm. `None` where no others are known.
pub fn least_contact_impulses(
    problem: &ContactProblem,
    impulse: &[f64],
) -> Result<Option<Vec<f64>>, InvalidProblem> {
    let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return Ok(None) };
    let first = row_offsets(&problem.laws);
    if first.last().is_some_and(|columns| *columns > MAX_COLUMNS) {
        return Ok(None);
    }
    let motion = Motion::of(mass, jacobian_transposed, force, bias, impulse)?;
    let Some(coordinates) = Coordinates::new(&problem.laws, first, &motion.velocity, motion.rest) else {
        return Ok(None);
    };
    let null = coordinates
        .response(&jacobian_transposed.to_dense(), &motion.weight)
        .row_space_with(1e-10)
        .null_basis;
    if null.cols() == 0 {
        return Ok(None);
    }
    let start = coordinates.of_impulse(impulse);
    let size = max_abs(impulse).max(f64::MIN_POSITIVE);
    let program = Program::new(&coordinates, &start, &null, size).with_light_joints(&coordinates);
    Ok(program.shortest().map(|shortest| coordinates.impulse(&shortest)))
}

/// Whether forces can be added to those of a solution without any other change: z ≠ 0 with Jᵀ z = 0 on the
/// rows of joints and of contacts whose force is inside its cone. Then f + ε z is a solution too, with the
/// same acceleration.
///
/// Both hypotheses are about zeros, and are decided in rational arithmetic. Rows depend on each other: by
/// their rank. The solution has all constraints closed that it seems to close: where more rows are closed
/// than are independent, a contact that opens slowly looks like one that stays. Some acceleration closes all
/// that do not open clearly where rank (J, γ) = rank J on their rows; then what is left are equations of full
/// rank, and inequalities that hold with a margin.
pub(super) fn has_other_forces(dynamics: &Dynamics, component: &SolutionComponent) -> bool {
    let interior = component.freedom.as_ref().map(|freedom| interior(&component.force, freedom));
    let force = interior.as_ref().unwrap_or(&component.force);
    let offsets = dynamics.offsets();
    let largest = max_abs(force);
    let fastest = max_abs(&component.velocity).max(max_abs(&dynamics.bias));
    let (mut inside, mut closed) = (Vec::new(), Vec::new());
    for (k, law) in dynamics.laws.iter().enumerate() {
        let rows = offsets[k]..offsets[k + 1];
        let f = &force[rows.clone()];
        let sticks = component.modes[k] == Mode::Stick;
        let free = match *law {
            Law::Bilateral => true,
            Law::Unilateral => f[0] > CONE_MARGIN * largest,
            Law::Coulomb { mu } | Law::CoulombPlane { mu } => {
                sticks && mu * f[0] - norm(&f[1..]) > CONE_MARGIN * largest
            }
            _ => false,
        };
        if free {
            inside.extend(rows.clone());
        }
        if law.is_bilateral()
            || f[0] > CONE_MARGIN * largest
            || component.velocity[rows.start] <= CONE_MARGIN * fastest
        {
            closed.extend(if sticks { rows } else { rows.start..rows.start + 1 });
        }
    }
    let j = dynamics.jacobian.select_rows(&inside);
    if j.row_space_with(DEPENDENT).rank == inside.len() {
        return false;
    }
    let n = j.cols();
    let rank = |j: &Matrix| RationalMatrix::exact(j).filter(|j| j.rows() <= MAX_EXACT_ROWS).map(|j| j.rank());
    // More rows than columns need no arithmetic, and neither does a system without bias: a = 0 closes all.
    let dependent = || inside.len() > n || rank(&j).is_some_and(|rank| rank < inside.len());
    let closes_all = || {
        let closed_rows = dynamics.jacobian.select_rows(&closed);
        let with_bias = Matrix::from_fn(closed.len(), n + 1, |i, c| {
            if c < n { closed_rows[(i, c)] } else { dynamics.bias[closed[i]] }
        });
        rank(&closed_rows).is_some_and(|r| rank(&with_bias) == Some(r))
    };
    let no_bias = closed.iter().all(|&i| dynamics.bias[i] == 0.0);
    dependent() && (no_bias || closes_all())
}

/// The mean of forces at which rows are extreme: inside every cone in which one of them is.
fn interior(force: &[f64], freedom: &modes::Freedom) -> Vec<f64> {
    let mut points = vec![vec![0.0; freedom.force.cols()]];
    for i in 0..force.len() {
        for sign in [1.0, -1.0] {
            let cost: Vec<f64> = freedom.force.row(i).iter().map(|x| sign * x).collect();
            if max_abs(&cost) > 0.0
                && let Lp::Optimal { point, .. } = linear_program(&cost, &freedom.bounds, &freedom.limits)
            {
                points.push(point);
            }
        }
    }
    let mean: Vec<f64> = (0..freedom.force.cols())
        .map(|j| points.iter().map(|p| p[j]).sum::<f64>() / points.len() as f64)
        .collect();
    let moved = freedom.force.mul_vec(&mean);
    force.iter().zip(moved).map(|(f, d)| f + d).collect()
}

/// The velocities that go with an impulse: v = M⁻¹(f + H r), u = Hᵀ v + b.
struct Motion {
    /// u.
    velocity: Vec<f64>,
    /// Velocities up to this are zero.
    rest: f64,
    /// The root of the inverse mass of each row of M, so that heavy and light bodies count alike.
    weight: Vec<f64>,
}

impl Motion {
    fn of(
        mass: &Sparse,
        jacobian_transposed: &Sparse,
        force: &[f64],
        bias: &[f64],
        impulse: &[f64],
    ) -> Result<Self, InvalidProblem> {
        let mut total = jacobian_transposed.mul_vec(impulse);
        total.iter_mut().zip(force).for_each(|(x, f)| *x += f);
        let mut v = vec![0.0; total.len()];
        let mut free = vec![0.0; total.len()];
        let mut weight = vec![1.0; total.len()];
        for (rows, inverse) in inverse_blocks(mass)? {
            for (a, &i) in rows.iter().enumerate() {
                weight[i] = inverse[(a, a)].max(0.0).sqrt();
                for (b, &j) in rows.iter().enumerate() {
                    v[i] += inverse[(a, b)] * total[j];
                    free[i] += inverse[(a, b)] * force[j];
                }
            }
        }
        let velocity = |v: &[f64]| {
            let mut u = jacobian_transposed.tr_mul_vec(v);
            u.iter_mut().zip(bias).for_each(|(u, b)| *u += b);
            u
        };
        let scale = max_abs(&velocity(&free)).max(f64::MIN_POSITIVE);
        Ok(Motion { velocity: velocity(&v), rest: REST_RATIO * scale, weight })
    }
}

/// The least and the largest impulse of every row.
struct Bounds {
    rows: Vec<[f64; 2]>,
    /// The mean of all points at which a coordinate is extreme, and of the shortest: a point of the set.
    mean: Vec<f64>,
    /// Whether some range is wider than rounding.
    wide: bool,
}

impl Bounds {
    fn of(coordinates: &Coordinates, program: &Program<'_>, shortest: &[f64], size: f64) -> Self {
        let Coordinates { freedoms, directions, first } = coordinates;
        let mut rows = vec![[0.0; 2]; coordinates.rows()];
        let mut wide = false;
        let mut mean = Mean::of(shortest);
        for (c, (i, d)) in directions.iter().enumerate() {
            let own = first[*i] + d.iter().position(|&x| x == 1.0).unwrap_or(0);
            let is_friction = own > first[*i];
            if is_friction && directions.len() > MAX_FRICTION_COLUMNS {
                rows[own] = [f64::NEG_INFINITY, f64::INFINITY];
                continue;
            }
            let pushes = !is_friction && !matches!(freedoms[*i], Freedom::Line);
            let mut ends = [0.0; 2];
            let mut known = true;
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                // No contact pulls: one that was seen without force has no less.
                if sign > 0.0 && pushes && mean.least[c] <= NO_FORCE * size {
                    *end = mean.least[c];
                    continue;
                }
                *end = match program.extreme(c, sign) {
                    Some(Extreme::At(point)) => {
                        mean.add(&point, |other| program.are_together(c, other));
                        point[c]
                    }
                    Some(Extreme::Unbounded) => -sign * f64::INFINITY,
                    // An unknown end is reported as open, but proves no width.
                    None => {
                        known = false;
                        -sign * f64::INFINITY
                    }
                };
            }
            if pushes {
                // A contact cannot pull; what is below zero is rounding.
                ends = ends.map(|x| x.max(0.0));
            }
            wide |= known && ends[1] - ends[0] > RANGE_ROUNDING * size;
            match &freedoms[*i] {
                Freedom::Ray(d) => {
                    let own_rows = rows[first[*i]..first[*i + 1]].iter_mut();
                    for (row, x) in own_rows.zip(d).filter(|(_, x)| **x != 0.0) {
                        let scaled = ends.map(|end| x * end);
                        *row = [scaled[0].min(scaled[1]), scaled[0].max(scaled[1])];
                    }
                }
                _ => rows[own] = ends,
            }
        }
        Bounds { rows, mean: mean.point(), wide }
    }
}

/// The mean of points of the set, in each part of it of those that were found there: parts do not know of
/// each other, so that it is in the set, too.
struct Mean {
    sum: Vec<f64>,
    count: Vec<f64>,
    /// The least that each coordinate was seen at.
    least: Vec<f64>,
}

impl Mean {
    fn of(point: &[f64]) -> Self {
        Mean { sum: point.to_vec(), count: vec![1.0; point.len()], least: point.to_vec() }
    }

    fn add(&mut self, point: &[f64], own: impl Fn(usize) -> bool) {
        for (c, x) in point.iter().enumerate().filter(|(c, _)| own(*c)) {
            self.sum[c] += x;
            self.count[c] += 1.0;
            self.least[c] = self.least[c].min(*x);
        }
    }

    fn point(&self) -> Vec<f64> {
        self.sum.iter().zip(&self.count).map(|(sum, count)| sum / count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rigid table of unit mass on legs at the corners (±1, ±1), its centre at (a, b), gravity impulse 1:
    /// rows of H are z, and the rotations about x and y; with friction also x, y and the rotation about z.
    fn table(a: f64, b: f64, mu: Option<f64>) -> ContactProblem {
        let legs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]].map(|[x, y]| [x - a, y - b]);
        let wide = if mu.is_some() { 3 } else { 1 };
        let mut entries = vec![];
        for (i, [x, y]) in legs.into_iter().enumerate() {
            entries.extend([(0, wide * i, 1.0), (1, wide * i, y), (2, wide * i, -x)]);
            if wide == 3 {
                entries.extend([(3, 3 * i + 1, 1.0), (4, 3 * i + 2, 1.0)]);
                entries.extend([(5, 3 * i + 1, -y), (5, 3 * i + 2, x)]);
            }
        }
        let laws = vec![mu.map_or(Law::Unilateral, |mu| Law::Coulomb { mu }); 4];
        let mut force = vec![0.0; 6];
        force[0] = -1.0;
        let form = Form::Global {
            mass: Sparse::from_dense(&Matrix::identity(6)),
            jacobian_transposed: Sparse::from_triplets(6, 4 * wide, &entries),
            force,
            bias: vec![0.0; 4 * wide],
        };
        ContactProblem::new(laws, form).unwrap()
    }

    /// A unit mass that a joint and a contact hold along the same line: the least norm of all shares the
    /// load, that of contacts leaves it to the joint.
    #[test]
    fn joints_take_over_where_contacts_are_to_carry_least() {
        let form = Form::Global {
            mass: Sparse::from_dense(&Matrix::identity(1)),
            jacobian_transposed: Sparse::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, 1.0)]),
            force: vec![-1.0],
            bias: vec![0.0; 2],
        };
        let problem = ContactProblem::new(vec![Law::Bilateral, Law::Unilateral], form).unwrap();
        let ImpulseRange::Ranges { least_norm, .. } = impulse_range(&problem, &[0.3, 0.7]).unwrap() else {
            panic!()
        };
        assert!(least_norm.iter().all(|r| (r - 0.5).abs() < 1e-6), "{least_norm:?}");
        let least = least_contact_impulses(&problem, &[0.3, 0.7]).unwrap().unwrap();
        // The weight of the joint leaves its square to the contact.
        assert!((least[0] - 1.0).abs() < 1e-6 && least[1].abs() < 1e-6, "{least:?}");
    }

    #[test]
    fn the_legs_of_a_table_share_its_weight_within_closed_bounds() {
        // N = N_min + s (1, −1, 1, −1)/2 with N_min from the three balances, s bounded by N ≥ 0.
        for mu in [None, Some(0.5)] {
            let problem = table(0.3, 0.1, mu);
            let options = Default::default();
            let found = crate::contact::solve(&problem, &options, None).unwrap();
            let ImpulseRange::Ranges { normal: ranges, least_norm, .. } =
                impulse_range(&problem, &found.impulse).unwrap()
            else {
                panic!("the legs share the weight in many ways")
            };
            let least: [f64; 4] = [0.35, 0.2, 0.15, 0.3];
            let (low, high) = (-2.0 * 0.15, 2.0 * 0.2);
            for (i, sign) in [1.0, -1.0, 1.0, -1.0].into_iter().enumerate() {
                let ends: [f64; 2] = [least[i] + sign * low / 2.0, least[i] + sign * high / 2.0];
                let expected = [ends[0].min(ends[1]), ends[0].max(ends[1])];
                // The gap at which the cone solver stops.
                let error = (0..2).map(|k| (ranges[i][k] - expected[k]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-6, "{mu:?} leg {i}: {:?} {expected:?}", ranges[i]);
                let wide = problem.laws[i].dim();
                assert!((least_norm[wide * i] - least[i]).abs() < 1e-8, "{mu:?} leg {i}: {least_norm:?}");
            }
        }
    }

    #[test]
    fn friction_of_three_legs_is_not_unique_wherever_the_solver_stops() {
        // Three legs carry fixed shares, pushed along x by 0.99 of the limit: only friction can change. From
        // points on the cones as from points inside, the ranges are the same.
        let mut problem = table(0.0, 0.3, Some(0.5));
        problem.laws.truncate(3);
        let Form::Global { jacobian_transposed, force, bias, .. } = &mut problem.form else { panic!() };
        let kept: Vec<_> = jacobian_transposed.triplets().filter(|e| e.1 < 9).collect();
        *jacobian_transposed = Sparse::from_triplets(6, 9, &kept);
        bias.truncate(9);
        // Through the centre of pressure: every leg can rub in proportion to its load.
        (force[3], force[5]) = (-0.495, 0.0);
        let found = crate::contact::solve(&problem, &Default::default(), None).unwrap();
        let ImpulseRange::Ranges { normal, rows, least_norm, differences, .. } =
            impulse_range(&problem, &found.impulse).unwrap()
        else {
            panic!("friction can change")
        };
        assert_eq!(differences.cols(), 3);
        // The place of the centre in the triangle of the legs.
        for (range, share) in normal.iter().zip([0.5, 0.15, 0.35]) {
            assert!(range.iter().all(|n| (n - share).abs() < 1e-7), "{normal:?}");
        }
        assert!(rows[1][1] - rows[1][0] > 1e-3, "{rows:?}");
        // From the least impulses the same answer comes out.
        let ImpulseRange::Ranges { rows: again, .. } = impulse_range(&problem, &least_norm).unwrap() else {
            panic!("friction can change")
        };
        for (a, b) in rows.iter().zip(&again) {
            assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_table_of_four_legs_has_other_forces_than_those_found_and_one_of_three_has_not() {
        // Rows z and the rotations about x and y, legs at the corners.
        let jacobian = [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.0]];
        for legs in [3, 4] {
            let dynamics = Dynamics {
                mass: Matrix::identity(3),
                force: vec![1.0, 0.0, 0.0],
                jacobian: Matrix::from_rows(&jacobian[..legs]),
                bias: vec![0.0; legs],
                laws: vec![Law::Unilateral; legs],
            };
            let component = |force: Vec<f64>| SolutionComponent {
                modes: vec![Mode::Slide; legs],
                velocity: vec![0.0; legs],
                acceleration: vec![0.0; 3],
                force,
                freedom: None,
                intervals: vec![],
            };
            assert_eq!(has_other_forces(&dynamics, &component(vec![1.0; legs])), legs == 4);
            // A leg without force cannot give: the others are independent.
            let mut lifted = vec![1.0; legs];
            lifted[0] = 0.0;
            assert!(!has_other_forces(&dynamics, &component(lifted)));
        }
    }

    #[test]
    fn three_legs_without_friction_leave_no_choice() {
        let mut problem = table(0.3, 0.1, None);
        problem.laws.truncate(3);
        let Form::Global { jacobian_transposed, bias, .. } = &mut problem.form else { panic!() };
        let kept: Vec<_> = jacobian_transposed.triplets().filter(|e| e.1 < 3).collect();
        *jacobian_transposed = Sparse::from_triplets(6, 3, &kept);
        bias.truncate(3);
        let found = crate::contact::solve(&problem, &Default::default(), None).unwrap();
        assert_eq!(impulse_range(&problem, &found.impulse).unwrap(), ImpulseRange::Unique);
    }
}
