//! Global problems with very many contacts: when they are swept without forming W, and the solution in terms
//! of the problem.
//!
//! M v = f + H r, u = Hᵀ v + b, M with blocks of three or six rows, each constraint with one body or two. W
//! has a block for each pair of contacts that share a body, ten times the numbers of H in a heap of spheres;
//! with [`crate::contact::matrix_free::sweeps`] it is never formed.

mod balls;
mod contact_rows;
mod lanes;
mod load_propagation;
mod socp;
mod sweeps;
mod system;

use crate::contact::budget::Budget;
use crate::contact::cone::Cone;
use crate::contact::{ContactOptions, Method, Solution};
use crate::problem::{ContactProblem, Form, Law, ResidualCheck, Status, settle};
use sweeps::Slips;
use system::System;

/// Contacts in the largest island from which on W is not formed.
const MATRIX_FREE_MIN: usize = 500;
/// The most sweeps; what is not solved then goes on with W. For few digits there are more: W would cost ten
/// thousand of them.
const MAX_SWEEPS: usize = 2000;
const SWEEPS_FEW_DIGITS: usize = 10_000;
const FEW_DIGITS: f64 = 1e-6;
/// Of these so many from the start that is given: it may circle where sweeps from nothing arrive.
const SWEEPS_FROM_START: usize = 1500;
/// The same of balls, where sweeps take turns: from the start, and from nothing. What is not solved then is
/// left as it is: W would take a hundred thousand sweeps' time for some more of them.
const SWEEPS_OF_BALLS: [usize; 2] = [3000, 4000];

/// Scratch for all kinds of problems, kept from one solve to the next; by the rows of the widest law.
#[derive(Default)]
pub(super) struct MatrixFreeWorkspace {
    one: ByBodies<1>,
    two: ByBodies<2>,
    three: ByBodies<3>,
    five: ByBodies<5>,
    six: ByBodies<6>,
}

/// Workspaces for bodies in space, of six rows, and in the plane, of three.
#[derive(Default)]
struct ByBodies<const D: usize> {
    space: Option<Box<Swept<D, 6>>>,
    plane: Option<Box<Swept<D, 3>>>,
}

/// Scratch for one kind of problems.
#[derive(Default)]
struct Swept<const D: usize, const B: usize> {
    /// Where the rows of each constraint begin, and their number as a last entry.
    rows: Vec<usize>,
    system: System<D, B>,
    sweeps: sweeps::Workspace<D, B>,
    /// The best of the tries before.
    best: Vec<[f64; D]>,
}

/// Sweeps without W from the impulses in `solution`, or from zero where there are none; whether the problem
/// is of that kind. What is found is not always solved.
pub(super) fn solve(
    problem: &ContactProblem,
    cones: &[Cone],
    options: &ContactOptions,
    budget: &mut Budget,
    workspace: &mut MatrixFreeWorkspace,
    solution: &mut Solution,
) -> bool {
    // Rows that are scaled or left out have another residual than the law that was asked for.
    let plain =
        |(law, cone): (&Law, &Cone)| law.dim() == cone.rows() && !matches!(law, Law::CoulombEllipse { .. });
    if options.method != Method::Auto
        || options.minimum_norm
        || cones.len() < MATRIX_FREE_MIN
        || !problem.laws.iter().zip(cones).all(plain)
    {
        return false;
    }
    let widest = cones.iter().map(|c| c.rows()).max().unwrap_or(1);
    match widest {
        1 => workspace.one.solve(problem, cones, options, budget, solution),
        2 => workspace.two.solve(problem, cones, options, budget, solution),
        3 => workspace.three.solve(problem, cones, options, budget, solution),
        4 | 5 => workspace.five.solve(problem, cones, options, budget, solution),
        _ => workspace.six.solve(problem, cones, options, budget, solution),
    }
}

/// Whether a problem may be one of those that [`solve_associated`] solves.
pub(super) fn is_associated(problem: &ContactProblem, cones: &[Cone]) -> bool {
    let plain = |(law, cone): (&Law, &Cone)| law.dim() == cone.rows();
    let associated = |cone: &Cone| matches!(cone, Cone::Free | Cone::Ray | Cone::Associated { .. });
    // Equations and contacts without friction do well with W.
    matches!(problem.form, Form::Global { .. })
        && cones.len() <= socp::MAX_CONTACTS
        && cones.iter().any(|cone| matches!(cone, Cone::Associated { .. }))
        && cones.iter().all(associated)
        && problem.laws.iter().zip(cones).all(plain)
}

/// Solves a problem with the associated law in the space of velocities, where its masses are of that kind;
/// takes the place of what is in `solution` where the residual check finds it better.
pub(super) fn solve_associated(
    problem: &ContactProblem,
    cones: &[Cone],
    check: &mut ResidualCheck,
    options: &ContactOptions,
    budget: &Budget,
    workspace: &mut MatrixFreeWorkspace,
    solution: &mut Solution,
) {
    let mut impulse = vec![];
    for added in socp::DIAGONAL_SHIFTS {
        let seconds = budget.seconds();
        let found = match cones.iter().map(|c| c.rows()).max().unwrap_or(1) {
            1 => workspace.one.solve_associated(problem, cones, (added, seconds), &mut impulse),
            2 => workspace.two.solve_associated(problem, cones, (added, seconds), &mut impulse),
            _ => workspace.three.solve_associated(problem, cones, (added, seconds), &mut impulse),
        };
        if !found {
            return;
        }
        let found = check.residual(problem, &impulse, &mut solution.velocity);
        let (status, residual) = found.settle(solution.status, options.tolerance);
        if residual < solution.residual {
            solution.impulse.copy_from_slice(&impulse);
            (solution.status, solution.residual) = (status, residual);
        }
        if solution.status == Status::Solved {
            return;
        }
    }
}

impl<const D: usize> ByBodies<D> {
    fn solve_associated(
        &mut self,
        problem: &ContactProblem,
        cones: &[Cone],
        how: (f64, f64),
        impulse: &mut Vec<f64>,
    ) -> bool {
        let Form::Global { .. } = problem.form else { return false };
        self.space.get_or_insert_default().solve_associated(problem, cones, how, impulse)
            || self.plane.get_or_insert_default().solve_associated(problem, cones, how, impulse)
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        cones: &[Cone],
        options: &ContactOptions,
        budget: &mut Budget,
        solution: &mut Solution,
    ) -> bool {
        let Form::Global { .. } = problem.form else { return false };
        self.space.get_or_insert_default().solve(problem, cones, options, budget, solution)
            || self.plane.get_or_insert_default().solve(problem, cones, options, budget, solution)
    }
}

impl<const D: usize, const B: usize> Swept<D, B> {
    fn solve(
        &mut self,
        problem: &ContactProblem,
        cones: &[Cone],
        options: &ContactOptions,
        budget: &mut Budget,
        solution: &mut Solution,
    ) -> bool {
        if !self.renew(problem, cones) {
            return false;
        }
        let (islands, largest) = self.system.islands();
        if largest < MATRIX_FREE_MIN || 2 * largest < cones.len() {
            return false;
        }
        let (residual, iterations) = self.try_sweeps(&solution.impulse, options, budget);
        let spent = iterations >= options.max_iterations;
        let otherwise = budget.ended().unwrap_or(if spent { Status::MaxIterations } else { Status::Stalled });
        solution.status = settle(residual, otherwise, options.tolerance);
        (solution.residual, solution.iterations, solution.islands) = (residual, iterations, islands);
        self.write(&mut solution.impulse);
        true
    }

    /// Sweeps from the start, in other ways and from nothing as long as they fail; leaves the best that came
    /// of it. Its residual, and the number of all sweeps.
    fn try_sweeps(&mut self, start: &[f64], options: &ContactOptions, budget: &mut Budget) -> (f64, usize) {
        let (few_digits, given) = (options.tolerance >= FEW_DIGITS, !start.is_empty());
        let most = options.max_iterations.min(if few_digits { SWEEPS_FEW_DIGITS } else { MAX_SWEEPS });
        let nothing: &[f64] = &[];
        let turns = |held_first: bool| Slips::InTurns { held_first };
        let of_balls = few_digits && self.system.is_of_balls();
        let tries = match of_balls {
            true => [(start, turns(false), SWEEPS_OF_BALLS[0]), (nothing, turns(true), SWEEPS_OF_BALLS[1])],
            false => [
                (start, Slips::OfEachSweep, if given && few_digits { SWEEPS_FROM_START } else { most }),
                (nothing, Slips::OfEachSweep, if given { most } else { 0 }),
            ],
        };
        let (mut best, mut iterations) = (f64::INFINITY, 0);
        // What is left where no try comes to a number.
        self.begin(start);
        for (start, slips, sweeps) in tries {
            if best <= options.tolerance || sweeps == 0 {
                continue;
            }
            std::mem::swap(&mut self.best, &mut self.sweeps.kept);
            self.begin(start);
            let (residual, more) = self.sweep(options.tolerance, (slips, sweeps.min(most)), budget);
            iterations += more;
            if residual < best {
                best = residual;
            } else {
                std::mem::swap(&mut self.best, &mut self.sweeps.kept);
            }
        }
        if of_balls && best > options.tolerance {
            budget.end();
        }
        (best, iterations)
    }

    fn solve_associated(
        &mut self,
        problem: &ContactProblem,
        cones: &[Cone],
        (added, seconds): (f64, f64),
        impulse: &mut Vec<f64>,
    ) -> bool {
        let found =
            self.renew(problem, cones) && socp::solve(&self.system, added, seconds, &mut self.sweeps.kept);
        if found {
            self.write(impulse);
        }
        found
    }

    /// Takes over the problem; false where it is not of this kind.
    fn renew(&mut self, problem: &ContactProblem, cones: &[Cone]) -> bool {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return false };
        self.rows.clear();
        self.rows.push(0);
        let mut at = 0;
        for law in &problem.laws {
            at += law.dim();
            self.rows.push(at);
        }
        self.system.renew(mass, jacobian_transposed, force, bias, &self.rows, cones)
    }

    /// Takes over impulses of the problem as a start, zero where there are none.
    fn begin(&mut self, start: &[f64]) {
        let Swept { rows, system, sweeps, .. } = self;
        sweeps.kept.clear();
        sweeps.kept.extend(system.order.iter().map(|&i| {
            let mut r = [0.0; D];
            if !start.is_empty() {
                for (r, x) in r.iter_mut().zip(&start[rows[i as usize]..rows[i as usize + 1]]) {
                    *r = x / system.unit;
                }
            }
            r
        }));
    }

    /// Sweeps from where it began; the residual, and how many of them.
    fn sweep(&mut self, tolerance: f64, how: (Slips, usize), budget: &mut Budget) -> (f64, usize) {
        sweeps::solve(&self.system, tolerance, how, budget, &mut self.sweeps)
    }

    /// The impulses in the order and the units of the problem.
    fn write(&self, impulse: &mut Vec<f64>) {
        impulse.clear();
        impulse.resize(self.rows[self.rows.len() - 1], 0.0);
        for (&i, r) in self.system.order.iter().zip(&self.sweeps.kept) {
            for (x, r) in impulse[self.rows[i as usize]..self.rows[i as usize + 1]].iter_mut().zip(r) {
                *x = self.system.unit * r;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact;
    use crate::linalg::Matrix;
    use crate::linalg::Sparse;
    use crate::problem::Form;
    use crate::problem::{ContactView, residual, sphere_pile};
    use crate::random::Random;

    fn cones(problem: &ContactProblem) -> Vec<Cone> {
        problem.laws.iter().filter_map(contact::cone_of).collect()
    }

    /// A workspace that has taken over a problem, where it is of its kind.
    fn taken<const D: usize, const B: usize>(problem: &ContactProblem) -> Option<Swept<D, B>> {
        let mut swept = Swept::default();
        swept.renew(problem, &cones(problem)).then_some(swept)
    }

    fn without_w<const D: usize, const B: usize>(problem: &ContactProblem, tolerance: f64) -> Solution {
        from::<D, B>(problem, tolerance, &[])
    }

    fn from<const D: usize, const B: usize>(
        problem: &ContactProblem,
        tolerance: f64,
        start: &[f64],
    ) -> Solution {
        let mut swept = taken::<D, B>(problem).unwrap();
        swept.begin(start);
        let mut budget = Budget::new(&ContactOptions::default());
        let (residual, iterations) = swept.sweep(tolerance, (Slips::OfEachSweep, MAX_SWEEPS), &mut budget);
        let status = settle(residual, Status::Stalled, tolerance);
        let mut found = Solution { status, residual, iterations, ..Default::default() };
        swept.write(&mut found.impulse);
        found
    }

    /// The residual with W formed, which shares nothing with the sweeps.
    fn residual_with_w(problem: &ContactProblem, impulse: &[f64]) -> f64 {
        let (w, q) = problem.local().unwrap();
        residual(&ContactView::new(&w, &q, &problem.laws).unwrap(), impulse).relative
    }

    #[test]
    fn agrees_with_the_sweeps_of_w() {
        for mu in [0.1, 0.5, 1.0] {
            let pile = sphere_pile(6, mu).unwrap();
            let found = without_w::<3, 6>(&pile, 1e-7);
            assert_eq!(found.status, Status::Solved, "{mu}");
            let e = residual_with_w(&pile, &found.impulse);
            // The same number by two ways: what is lost are some roundings of the impulses.
            assert!(e <= 1e-7 && (e - found.residual).abs() <= 1e-12, "{mu} {e} {}", found.residual);
            let (delassus, free_velocity) = pile.local().unwrap();
            let (u, v) = {
                let form = Form::Local { delassus: delassus.clone(), free_velocity };
                let local = ContactProblem::new(pile.laws.clone(), form).unwrap();
                let options = ContactOptions { tolerance: 1e-7, ..Default::default() };
                let other = contact::solve(&local, &options, None).unwrap();
                assert_eq!(other.status, Status::Solved);
                (delassus.mul_vec(&other.impulse), delassus.mul_vec(&found.impulse))
            };
            // Impulses are not unique, velocities are; a residual of 1e-7 counts up to a thousandfold in the
            // softest mode of 131 spheres.
            let apart = u.iter().zip(&v).map(|(u, v)| (u - v).powi(2)).sum::<f64>().sqrt();
            assert!(apart <= 1e-4 * crate::linalg::norm(&u), "{mu} {apart}");
        }
    }

    #[test]
    fn work_grows_no_faster_than_n_to_the_1_2() {
        let [small, large] = [6, 13].map(|wide| {
            let pile = sphere_pile(wide, 0.5).unwrap();
            let found = without_w::<3, 6>(&pile, 1e-4);
            assert_eq!(found.status, Status::Solved);
            (pile.laws.len() as f64, found.iterations as f64)
        });
        let ratio = large.0 / small.0;
        // A sweep is linear in the number of contacts, so that their number may grow like n^0.2.
        assert!(large.1 / small.1 <= ratio.powf(0.2), "{small:?} {large:?}");
    }

    #[test]
    fn less_than_two_kilobytes_for_a_contact() {
        let pile = sphere_pile(13, 0.5).unwrap();
        let system = taken::<3, 6>(&pile).unwrap().system;
        let Form::Global { mass, jacobian_transposed, force, bias } = &pile.form else { return };
        let bytes = |a: &Sparse| 16 * a.stored() + 8 * a.rows();
        let problem = bytes(mass) + bytes(jacobian_transposed) + 8 * (force.len() + bias.len());
        let laws = pile.laws.len() * (size_of::<Law>() + size_of::<Cone>() + 8);
        let bytes = problem + laws + system.bytes() + sweeps::bytes(&system);
        assert!(bytes < 2000 * pile.laws.len(), "{} bytes", bytes / pile.laws.len());
    }

    /// Bodies of B rows with full blocks of M; each contact of three rows touches the bodies given.
    fn bodies<const B: usize>(many: usize, touched: &[[usize; 2]], law: Law) -> ContactProblem {
        let (mut random, d) = (Random(7), law.dim());
        let (mut mass, mut h) = (vec![], vec![]);
        for b in 0..many {
            let a = Matrix::from_fn(B, B, |_, _| random.centred());
            let m = a.transpose().mul(&a);
            for i in 0..B {
                for j in 0..B {
                    // Aᵀ A to the last bit symmetric, and well conditioned.
                    let x = m[(i.min(j), i.max(j))] + if i == j { 1.0 } else { 0.0 };
                    mass.push((B * b + i, B * b + j, x));
                }
            }
        }
        for (k, pair) in touched.iter().enumerate() {
            for &b in pair.iter().filter(|b| **b < many) {
                for c in 0..d {
                    h.extend((0..B).map(|i| (B * b + i, d * k + c, random.centred())));
                }
            }
        }
        let m = d * touched.len();
        let form = Form::Global {
            mass: Sparse::from_triplets(B * many, B * many, &mass),
            jacobian_transposed: Sparse::from_triplets(B * many, m, &h),
            force: (0..B * many).map(|_| random.centred()).collect(),
            bias: (0..m).map(|_| 0.1 * random.centred()).collect(),
        };
        ContactProblem::new(vec![law; touched.len()], form).unwrap()
    }

    #[test]
    fn full_masses_and_a_body_under_many_contacts() {
        // Body 0 touches all others: more contacts than there are colors. Each of these has a contact with
        // the ground.
        let touched: Vec<[usize; 2]> = (1..100).flat_map(|b| [[0, b], [b, usize::MAX]]).collect();
        let space = bodies::<6>(100, &touched, Law::Coulomb { mu: 0.4 });
        let found = without_w::<3, 6>(&space, 1e-8);
        assert!(taken::<3, 6>(&space).unwrap().system.rest);
        assert!(found.status == Status::Solved && residual_with_w(&space, &found.impulse) <= 1e-8);
        let plane = bodies::<3>(100, &touched, Law::CoulombPlane { mu: 0.4 });
        let found = without_w::<2, 3>(&plane, 1e-8);
        assert!(
            found.status == Status::Solved && residual_with_w(&plane, &found.impulse) <= 1e-8,
            "{} {}",
            found.residual,
            found.iterations
        );
    }

    #[test]
    fn warm_starts_are_taken() {
        let pile = sphere_pile(6, 0.5).unwrap();
        let found = without_w::<3, 6>(&pile, 1e-6);
        let again = from::<3, 6>(&pile, 1e-6, &found.impulse);
        assert!(again.status == Status::Solved && again.iterations == 0, "{}", again.iterations);
    }

    #[test]
    fn balls_that_are_thrown_together_are_solved_by_turns() {
        let mut pile = sphere_pile(6, 0.9).unwrap();
        let Form::Global { force, .. } = &mut pile.form else { return };
        let (mut random, fastest) = (Random(11), force.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
        force.iter_mut().for_each(|x| *x += 3.0 * fastest * random.centred());
        let mut swept = taken::<3, 6>(&pile).unwrap();
        for held_first in [false, true] {
            let tolerance = 1e-4;
            swept.begin(&[]);
            let mut budget = Budget::new(&ContactOptions::default());
            let turns = Slips::InTurns { held_first };
            let (residual, sweeps) = swept.sweep(tolerance, (turns, 4000), &mut budget);
            let mut impulse = vec![];
            swept.write(&mut impulse);
            let e = residual_with_w(&pile, &impulse);
            assert!(residual <= tolerance && (e - residual).abs() <= 1e-12, "{residual} {e} {sweeps}");
        }
    }

    #[test]
    fn what_sweeps_of_balls_leave_is_not_given_to_w() {
        let pile = sphere_pile(6, 0.9).unwrap();
        let options = ContactOptions { tolerance: 1e-6, max_iterations: 4, ..Default::default() };
        let found = contact::solve(&pile, &options, None).unwrap();
        assert!(found.status == Status::MaxIterations && found.iterations == 8, "{found:?}");
        let e = residual_with_w(&pile, &found.impulse);
        assert!(found.residual > 1e-6 && (e - found.residual).abs() <= 1e-12, "{e} {}", found.residual);
    }

    #[test]
    fn a_wedged_body_is_taken_to_where_it_slides() {
        // A unit sphere pressed into the corner of floor and wall, which demand separation speeds that it
        // cannot have while both stick: each sweep adds a millionth of what makes one of them slide.
        let (floor, wall) = ([0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]);
        let mut h = vec![];
        for (k, (arm, axes)) in [
            (floor, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            (wall, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        ]
        .into_iter()
        .enumerate()
        {
            for (c, d) in axes.into_iter().enumerate() {
                let moment = [
                    arm[1] * d[2] - arm[2] * d[1],
                    arm[2] * d[0] - arm[0] * d[2],
                    arm[0] * d[1] - arm[1] * d[0],
                ];
                h.extend((0..3).map(|i| (i, 3 * k + c, d[i])));
                h.extend((0..3).map(|i| (3 + i, 3 * k + c, moment[i])));
            }
        }
        let form = Form::Global {
            mass: Sparse::from_triplets(
                6,
                6,
                &[1.0, 1.0, 1.0, 0.4, 0.4, 0.4]
                    .iter()
                    .enumerate()
                    .map(|(i, m)| (i, i, *m))
                    .collect::<Vec<_>>(),
            ),
            jacobian_transposed: Sparse::from_triplets(6, 6, &h),
            force: vec![-1.0, 0.0, -1.0, 0.0, 0.0, 0.0],
            bias: vec![1e-6, 0.0, 0.0, -1e-6, 0.0, 0.0],
        };
        let problem = ContactProblem::new(vec![Law::Coulomb { mu: 0.9 }; 2], form).unwrap();
        let found = without_w::<3, 6>(&problem, 1e-9);
        assert_eq!(found.status, Status::Solved);
        assert!(
            residual_with_w(&problem, &found.impulse) <= 1e-9 && found.iterations <= 200,
            "{}",
            found.iterations
        );
    }

    #[test]
    fn a_convex_program_agrees_with_the_sweeps() {
        // Two methods that share nothing but the form of the problem; the velocities of the associated law
        // are unique.
        let mut pile = sphere_pile(4, 0.6).unwrap();
        for (k, law) in pile.laws.iter_mut().enumerate() {
            *law = if k % 7 == 0 { Law::Cone { mu: 0.2 } } else { Law::Cone { mu: 0.6 } };
        }
        let (w, _) = pile.local().unwrap();
        let mut check = ResidualCheck::default();
        check.load(&pile);
        let (mut workspace, mut solution) = (MatrixFreeWorkspace::default(), Solution::default());
        solution.impulse.resize(pile.rows(), 0.0);
        let options = ContactOptions { tolerance: 1e-7, ..Default::default() };
        let budget = Budget::new(&options);
        solve_associated(&pile, &cones(&pile), &mut check, &options, &budget, &mut workspace, &mut solution);
        assert_eq!(solution.status, Status::Solved, "{}", solution.residual);
        let other = contact::solve(&pile, &options, None).unwrap();
        assert_eq!(other.status, Status::Solved);
        let (u, v) = (w.mul_vec(&solution.impulse), w.mul_vec(&other.impulse));
        let apart = u.iter().zip(&v).map(|(u, v)| (u - v).powi(2)).sum::<f64>().sqrt();
        // A residual of 1e-7 counts up to a thousandfold in the softest mode.
        assert!(apart <= 1e-4 * crate::linalg::norm(&u), "{apart}");
        // Coulomb's law is not its business.
        let before = solution.impulse.clone();
        let exact = sphere_pile(2, 0.5).unwrap();
        check.load(&exact);
        solution.status = Status::Stalled;
        solve_associated(
            &exact,
            &cones(&exact),
            &mut check,
            &options,
            &budget,
            &mut workspace,
            &mut solution,
        );
        assert!(solution.impulse == before && solution.status == Status::Stalled);
    }

    #[test]
    fn other_masses_are_left_to_others() {
        let touched = [[0, 1], [1, 2]];
        let mut coupled = bodies::<6>(3, &touched, Law::Coulomb { mu: 0.4 });
        assert!(taken::<3, 6>(&coupled).is_some());
        if let Form::Global { mass, .. } = &mut coupled.form {
            let mut entries: Vec<_> = mass.triplets().collect();
            entries.extend([(0, 6, 0.01), (6, 0, 0.01)]);
            *mass = Sparse::from_triplets(18, 18, &entries);
        }
        assert!(taken::<3, 6>(&coupled).is_none());
        let mut triple = bodies::<6>(3, &touched, Law::Coulomb { mu: 0.4 });
        if let Form::Global { jacobian_transposed: h, .. } = &mut triple.form {
            let mut entries: Vec<_> = h.triplets().collect();
            entries.push((12, 0, 1.0));
            *h = Sparse::from_triplets(18, 6, &entries);
        }
        assert!(taken::<3, 6>(&triple).is_none());
    }
}
