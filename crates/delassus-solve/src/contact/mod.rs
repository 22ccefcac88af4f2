//! Frictional contact problems of any size: the choice of methods, island by island.
//!
//! ```text
//! u = W r + q   or   M v = f + H r , u = Hᵀ v + b ;   (r_i, u_i) ∈ law i
//! ```
//!
//! Whatever a method reports, the status and the residual of a solution come from [`ResidualCheck`], which
//! shares no line with any method.
//!
//! Contacts that no chain of bodies connects are independent: each connected component of W, an island, is
//! solved as a problem of its own, to its share of the tolerance. The default, [`Method::Auto`], tries one
//! strategy after another:
//!
//! 1. where it is likely, whether all contacts stick;
//! 2. block Gauss–Seidel sweeps, which solve loosely coupled islands and find most modes;
//! 3. Newton's method on the equations of the modes, which gives all digits once the modes are right;
//! 4. the central path of the interior point method until Newton's method takes over, then proximal points;
//! 5. first-order methods, longer and longer sweeps, exact pivoting where the laws are polyhedral, and
//!    finally every first-order method on its own.
//!
//! Islands that are too large to be factored quickly get accelerated sweeps first. A global problem with many
//! contacts in one island is first swept without forming W. The result is the best point that any of them has
//! found.

mod block_problem;
mod budget;
mod coloring;
mod cone;
mod dense_fallback;
mod factors;
mod few_dofs;
mod first_order;
mod gauss_seidel;
mod interior_point;
mod island;
mod local;
mod matrix_free;
mod newton;
mod pivot_island;
mod proximal;
mod strategy;

pub use few_dofs::FewDofs;
pub use local::{coulomb_plane, coulomb_space};

pub(crate) use dense_fallback::{DENSE_TOLERANCE, solve_any_law};

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::linalg::Sparse;
use crate::problem::{
    ContactProblem, ContactView, Elimination, Form, InvalidProblem, Law, ResidualCheck, Status, check_finite,
    check_size,
};
use block_problem::{BlockWorkspaces, ConeProblem};
use budget::Budget;
use cone::Cone;

/// A method, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Sweeps, then Newton's method, then the interior point method, as far as needed.
    #[default]
    Auto,
    /// Block Gauss–Seidel with exact solves of one contact.
    GaussSeidel,
    /// Projected gradients with Nesterov's acceleration and restarts.
    ProjectedGradient,
    /// Projected gradients with the step lengths of Barzilai and Borwein.
    Spectral,
    /// Alternating directions with an adapted penalty.
    Admm,
    /// Newton's method on the equations of the modes, from a few sweeps.
    Newton,
    /// The interior point method alone.
    InteriorPoint,
}

impl Method {
    /// All methods with their names in files and on the command line.
    pub const ALL: [(&'static str, Method); 7] = [
        ("auto", Method::Auto),
        ("gauss-seidel", Method::GaussSeidel),
        ("projected-gradient", Method::ProjectedGradient),
        ("spectral", Method::Spectral),
        ("admm", Method::Admm),
        ("newton", Method::Newton),
        ("interior-point", Method::InteriorPoint),
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("auto", |(name, _)| name)
    }
}

/// A name that no method has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown method \"{0}\", expected one of {names}", names = Method::ALL.map(|(name, _)| name).join(", "))]
pub struct UnknownMethod(pub String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, method)| *method).ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// Options of [`solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactOptions {
    /// Scale-free residual at which a problem counts as solved (default 1e-8).
    pub tolerance: f64,
    /// The method (default `Auto`).
    pub method: Method,
    /// Largest number of sweeps or steps of the named method on an island (default 20 000); of each method
    /// that `Auto` tries in the end, where it is also limited by their work.
    pub max_iterations: usize,
    /// Largest work on an island, in multiplications of numbers, about (default: 2·10¹⁰, some seconds, or
    /// 4000 sweeps where these are more). What is counted depends on the problem alone, and results stay the
    /// same on every run.
    pub max_work: Option<u64>,
    /// Time after which a solve ends with the best point that it has (default: none). The same problem may
    /// then end with other impulses on another run.
    pub time_limit: Option<Duration>,
    /// Among impulses that go with the same velocities, choose those of least norm (default: the ones found
    /// first). Costs another solve.
    pub minimum_norm: bool,
}

impl Default for ContactOptions {
    fn default() -> Self {
        ContactOptions {
            tolerance: 1e-8,
            method: Method::Auto,
            max_iterations: 20_000,
            max_work: None,
            time_limit: None,
            minimum_norm: false,
        }
    }
}

/// The solution of a contact problem.
#[derive(Clone, Debug)]
pub struct Solution {
    /// r, in the order of the problem.
    pub impulse: Vec<f64>,
    /// u = W r + q, the velocity that the impulses leave.
    pub velocity: Vec<f64>,
    /// How the solve ended: `Solved` exactly where the residual is within the tolerance.
    pub status: Status,
    /// The most sweeps and steps that an island took.
    pub iterations: usize,
    /// The scale-free residual of the impulses, from [`crate::problem::ResidualCheck`] and never from a
    /// solver. Where the rounding of large impulses may hide more than the tolerance, what it may hide.
    pub residual: f64,
    /// Number of islands.
    pub islands: usize,
}

impl Default for Solution {
    /// Nothing yet: no impulses, an infinite residual.
    fn default() -> Self {
        Solution {
            impulse: vec![],
            velocity: vec![],
            status: Status::Stalled,
            iterations: 0,
            residual: f64::INFINITY,
            islands: 0,
        }
    }
}

/// Memory that [`solve_into`] keeps from one solve to the next: patterns, orders of elimination, and scratch
/// of all methods.
///
/// A workspace never changes a result. It is made for the laws and the pattern of the problem solved last,
/// and is made anew where these change; scratch of a method is made when the method is first used.
#[derive(Default)]
pub struct Workspace {
    /// Whether no other solve will follow.
    single: bool,
    elimination: Option<Box<Elimination>>,
    cones: Vec<Cone>,
    check: ResidualCheck,
    best: Best,
    matrix_free: matrix_free::MatrixFreeWorkspace,
    blocks: BlockWorkspaces,
}

impl Workspace {
    /// A workspace that is left after one solve: nothing is kept to compare the next problem with.
    fn of_one_solve() -> Self {
        Workspace { single: true, check: ResidualCheck::of_one_problem(), ..Default::default() }
    }

    /// The check with which solves end. What it has found of a problem, for impulses that are tried before a
    /// solve, it need not find again in the solve.
    pub fn residual_check(&mut self) -> &mut ResidualCheck {
        &mut self.check
    }
}

/// The best impulses that the residual check has refused in this solve.
#[derive(Default)]
struct Best {
    impulse: Vec<f64>,
    residual: f64,
}

impl Best {
    fn offer(&mut self, solution: &Solution) {
        if solution.residual < self.residual {
            self.impulse.clone_from(&solution.impulse);
            self.residual = solution.residual;
        }
    }
}

/// The work on an island after which a problem that is also a convex program in velocities is given to that.
const WORK_BEFORE_CONVEX: u64 = 1_000_000_000;
/// Where the residual check refuses what a solver takes for solved, the solver goes on to a tolerance that is
/// smaller by the factor between the two numbers, and by this one.
const REFUSED_TOLERANCE_RATIO: f64 = 0.5;
/// The same where the rows of a solver are scaled or fewer than those of the law, and how often.
const TIGHTER_SCALED: f64 = 0.1;
const SCALED_RETRIES: usize = 2;

/// Solves a contact problem, from the impulses `start` where given, from zero otherwise.
pub fn solve(
    problem: &ContactProblem,
    options: &ContactOptions,
    start: Option<&[f64]>,
) -> Result<Solution, InvalidProblem> {
    let mut solution = Solution::default();
    if let Some(start) = start {
        check_size("entries of the starting impulse", problem.rows(), start.len())?;
        solution.impulse.extend_from_slice(start);
    }
    solve_into(problem, options, &mut Workspace::of_one_solve(), &mut solution)?;
    Ok(solution)
}

/// Solves a contact problem from the impulses that are in `solution` (from zero where there are none), and
/// leaves there what was found: the same bits as [`solve`] gives from the same start.
///
/// For one problem after the other, as in a simulation: where laws, pattern and the methods that are needed
/// are those of an earlier solve, nothing is allocated, whatever the number of contacts. The exceptions: laws
/// that are no cones, polyhedral islands and global problems with the associated law on which all iterations
/// failed (they go to exact pivoting, or to a convex program), and masses of more than 32 rows in one block
/// or not positive definite. Loops over more than a thousand constraints are shared out over the threads of
/// the pool, whose own queues may take some memory of their own.
pub fn solve_into(
    problem: &ContactProblem,
    options: &ContactOptions,
    workspace: &mut Workspace,
    solution: &mut Solution,
) -> Result<(), InvalidProblem> {
    // The numbers of a problem may have been changed since it was made.
    problem.check()?;
    let rows = problem.rows();
    if !solution.impulse.is_empty() {
        check_size("entries of the starting impulse", rows, solution.impulse.len())?;
        check_finite("the starting impulse", &solution.impulse)?;
    }
    let mut budget = Budget::new(options);
    let laws = problem.laws.as_slice();
    workspace.cones.clear();
    workspace.cones.reserve(laws.len());
    workspace.cones.extend(laws.iter().map_while(cone_of));
    workspace.check.load(problem);
    workspace.best.residual = f64::INFINITY;
    let all_cones = workspace.cones.len() == laws.len();
    // Where W would be too large, it is not formed; what that could not solve goes on from where it came to.
    let swept = all_cones && solve_without_w(problem, options, &mut budget, workspace, solution);
    if !swept || (solution.status != Status::Solved && budget.ended().is_none()) {
        let sweeps = if swept { solution.iterations } else { 0 };
        solve_with_w(problem, options, &mut budget, workspace, solution)?;
        solution.iterations += sweeps;
    }
    let Workspace { check, best, .. } = workspace;
    // Sweeps, or a solve to a larger tolerance, may have come closer than all that followed.
    if best.residual < solution.residual {
        solution.impulse.clone_from(&best.impulse);
        check_solution(problem, options.tolerance, check, solution);
    }
    // Where W is not semidefinite, iterations may grow beyond all numbers: no impulses are better than such
    // ones.
    if !solution.impulse.iter().all(|x| x.is_finite()) {
        solution.impulse.fill(0.0);
        solution.status = Status::Stalled;
        check_solution(problem, options.tolerance, check, solution);
    }
    Ok(())
}

/// Solves with W, from the impulses in `solution`.
fn solve_with_w(
    problem: &ContactProblem,
    options: &ContactOptions,
    budget: &mut Budget,
    workspace: &mut Workspace,
    solution: &mut Solution,
) -> Result<(), InvalidProblem> {
    let Workspace { single, elimination, cones, check, best, matrix_free, blocks } = workspace;
    let (w, revision, q) = match &problem.form {
        Form::Local { delassus, free_velocity } => (delassus, None, free_velocity),
        Form::Global { mass, jacobian_transposed, force, bias } => {
            let new =
                || Box::new(if *single { Elimination::of_one_problem() } else { Elimination::default() });
            let eliminated = elimination.get_or_insert_with(new);
            eliminated.renew(mass, jacobian_transposed, force, bias)?;
            (&eliminated.delassus, Some(eliminated.revision), &eliminated.free_velocity)
        }
    };
    let laws = problem.laws.as_slice();
    solution.impulse.resize(problem.rows(), 0.0);
    if cones.len() == laws.len() {
        let on = ConeProblem { w, revision, single: *single, q, laws, cones };
        WithW { problem, on, check, best, matrix_free, blocks }.solve(options, budget, solution);
    } else {
        solve_dense(w, q, laws, options, solution)?;
        check_solution(problem, options.tolerance, check, solution);
    }
    Ok(())
}

/// Replaces what a solver reports of its impulses by the velocity and the residual that they have in the
/// problem.
fn check_solution(
    problem: &ContactProblem,
    tolerance: f64,
    check: &mut ResidualCheck,
    solution: &mut Solution,
) {
    let found = check.residual(problem, &solution.impulse, &mut solution.velocity);
    (solution.status, solution.residual) = found.settle(solution.status, tolerance);
}

/// Sweeps without W, the result checked; whether the problem is of the kind for which they are made.
fn solve_without_w(
    problem: &ContactProblem,
    options: &ContactOptions,
    budget: &mut Budget,
    workspace: &mut Workspace,
    solution: &mut Solution,
) -> bool {
    let Workspace { cones, check, best, matrix_free, .. } = workspace;
    if !matrix_free::solve(problem, cones, options, budget, matrix_free, solution) {
        return false;
    }
    let claimed = solution.status;
    check_solution(problem, options.tolerance, check, solution);
    best.offer(solution);
    if claimed == Status::Solved && solution.status != Status::Solved {
        let tolerance = options.tolerance * REFUSED_TOLERANCE_RATIO * options.tolerance / solution.residual;
        let (tighter, before) = (ContactOptions { tolerance, ..*options }, solution.iterations);
        matrix_free::solve(problem, cones, &tighter, budget, matrix_free, solution);
        solution.iterations += before;
        check_solution(problem, options.tolerance, check, solution);
        best.offer(solution);
    }
    true
}

/// A problem of cones with its W.
struct WithW<'a> {
    problem: &'a ContactProblem,
    on: ConeProblem<'a>,
    check: &'a mut ResidualCheck,
    best: &'a mut Best,
    matrix_free: &'a mut matrix_free::MatrixFreeWorkspace,
    blocks: &'a mut BlockWorkspaces,
}

impl WithW<'_> {
    /// Solves from the impulses in `solution`. Where the residual check refuses what the solver takes for
    /// solved, the solver goes on with a smaller tolerance.
    fn solve(&mut self, options: &ContactOptions, budget: &mut Budget, solution: &mut Solution) {
        self.solve_islands(options, budget, solution);
        // The residual of scaled rows, or of fewer rows, is another number than that of the law.
        let scaled = |(law, cone): (&Law, &Cone)| {
            matches!(law, Law::CoulombEllipse { .. }) || law.dim() != cone.rows()
        };
        let scaled = self.on.laws.iter().zip(self.on.cones).any(scaled);
        let (retries, factor) =
            if scaled { (SCALED_RETRIES, TIGHTER_SCALED) } else { (1, REFUSED_TOLERANCE_RATIO) };
        let mut tighter = *options;
        for retry in 0..=retries {
            let claimed = solution.status;
            check_solution(self.problem, options.tolerance, self.check, solution);
            if claimed != Status::Solved || solution.status == Status::Solved || retry == retries {
                break;
            }
            self.best.offer(solution);
            tighter.tolerance *= factor * options.tolerance / solution.residual;
            self.blocks.solve(self.on, &tighter, budget, solution);
        }
    }

    fn solve_islands(&mut self, options: &ContactOptions, budget: &mut Budget, solution: &mut Solution) {
        // Where impulses are far larger than loads, W loses what decides about them, and more work on it is
        // in vain.
        let convex = options.method == Method::Auto
            && !options.minimum_norm
            && matrix_free::is_associated(self.problem, self.on.cones);
        if !convex {
            return self.blocks.solve(self.on, options, &mut budget.clone(), solution);
        }
        let some = options.max_work.map_or(WORK_BEFORE_CONVEX, |most| most.min(WORK_BEFORE_CONVEX));
        self.blocks.solve(self.on, options, &mut budget.with_work(some), solution);
        if solution.status != Status::Solved {
            let WithW { problem, on, check, matrix_free, .. } = self;
            matrix_free::solve_associated(problem, on.cones, check, options, budget, matrix_free, solution);
            if solution.status != Status::Solved {
                self.blocks.solve(self.on, options, budget, solution);
            }
        }
    }
}

/// The cone of a law; `None` for laws that are no cone.
fn cone_of(law: &Law) -> Option<Cone> {
    Some(match *law {
        Law::Bilateral => Cone::Free,
        Law::Unilateral => Cone::Ray,
        Law::CoulombPlane { mu } | Law::Coulomb { mu } | Law::Cone { mu } | Law::ConePlane { mu }
            if mu == 0.0 =>
        {
            Cone::Ray
        }
        Law::CoulombPlane { mu } => Cone::Coulomb { mu, tangents: 1 },
        Law::Coulomb { mu } => Cone::Coulomb { mu, tangents: 2 },
        Law::ConePlane { mu } => Cone::Associated { mu, tangents: 1 },
        Law::Cone { mu } => Cone::Associated { mu, tangents: 2 },
        Law::ConeRolling { mu, rolling } => Cone::AssociatedRolling { mu, rolling },
        // In tangents scaled by their coefficients the ellipse is a circle.
        Law::CoulombEllipse { .. } => Cone::Coulomb { mu: 1.0, tangents: 2 },
        Law::Rolling { mu, rolling } => Cone::Rolling { mu, rolling },
        Law::Spinning { mu, rolling, spinning } => Cone::Spinning { mu, rolling, spinning },
        Law::ConeSpinning { mu, rolling, spinning } => Cone::AssociatedSpinning { mu, rolling, spinning },
        Law::Sliding { .. }
        | Law::BilateralSliding { .. }
        | Law::BilateralCoulombPlane { .. }
        | Law::BilateralCoulomb { .. } => return None,
    })
}

/// Laws that are no cones: small problems, by the methods that lift them to a mixed LCP.
fn solve_dense(
    w: &Sparse,
    q: &[f64],
    laws: &[Law],
    options: &ContactOptions,
    solution: &mut Solution,
) -> Result<(), InvalidProblem> {
    let dense = w.to_dense();
    let problem = ContactView::new(&dense, q, laws)?;
    *solution = solve_any_law(&problem, options.tolerance);
    Ok(())
}
