//! Frictional contact problems of any size: the choice of methods, island by island.
//!
//! Contacts that share no body, not even through others, do not know of each other: each connected part of W, an
//! island, is a problem by itself and is solved to its share of the tolerance. The default, [`Method::Auto`], first looks
//! whether all contacts stick where that is likely. Then come sweeps of block Gauss–Seidel, which solve what is loosely
//! coupled and find most modes; Newton's method on the equations of the modes, which gives all digits once the modes
//! are right; where they are not, the central path of the interior point method until Newton's method takes over, and
//! proximal points around it. Islands too large to be factored in a moment get accelerated sweeps before all that. What
//! is still open is given to the first-order methods for a while, swept with patience, pivoted where the laws are
//! polyhedral, and in the end given to all methods by their names: it never returns less than the best point that any of
//! them has seen. A global problem with many contacts in one island is first swept without forming W.

mod block_problem;
mod budget;
mod coloring;
mod cone;
mod dense_fallback;
mod factors;
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

pub use dense_fallback::{ContactOptions, ContactSolution, solve_any_law};
pub use local::{coulomb_plane, coulomb_space};

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::linalg;
use crate::linalg::Sparse;
use crate::problem::{
    ContactProblem, Elimination, Form, FrictionProblem, InvalidProblem, Law, Status, check_finite,
    check_size, residual_at,
};
use block_problem::Room;
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

impl FromStr for Method {
    type Err = crate::lcp::UnknownSolver;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, method)| *method).ok_or_else(|| crate::lcp::UnknownSolver(name.to_owned()))
    }
}

/// Options of [`solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionOptions {
    /// Scale-free residual at which a problem counts as solved (default 1e-8).
    pub tolerance: f64,
    /// The method (default `Auto`).
    pub method: Method,
    /// Largest number of sweeps or steps of the named method on an island (default 20 000); of each method that `Auto` tries in
    /// the end, where it is also limited by their work.
    pub max_iterations: usize,
    /// Largest work on an island, in multiplications of numbers, about (default: 2·10¹⁰, some seconds, or 4000 sweeps where these
    /// are more). What is counted depends on the problem alone, and results stay the same on every run.
    pub max_work: Option<u64>,
    /// Time after which a solve ends with the best point that it has (default: none). The same problem may then end with other
    /// impulses on another run.
    pub time_limit: Option<Duration>,
    /// Among impulses that go with the same velocities, choose those of least norm (default: the ones found first). Costs
    /// another solve.
    pub minimum_norm: bool,
}

impl Default for FrictionOptions {
    fn default() -> Self {
        FrictionOptions {
            tolerance: 1e-8,
            method: Method::Auto,
            max_iterations: 20_000,
            max_work: None,
            time_limit: None,
            minimum_norm: false,
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct FrictionSolution {
    /// r, in the order of the problem.
    pub impulse: Vec<f64>,
    /// How the solve ended, for the laws of the problem.
    pub status: Status,
    /// The most sweeps and steps that an island took.
    pub iterations: usize,
    /// The scale-free residual.
    pub residual: f64,
    /// Number of islands.
    pub islands: usize,
}

impl Default for FrictionSolution {
    /// Nothing yet: no impulses, an infinite residual.
    fn default() -> Self {
        FrictionSolution {
            impulse: vec![],
            status: Status::Stalled,
            iterations: 0,
            residual: f64::INFINITY,
            islands: 0,
        }
    }
}

/// Memory that [`solve_into`] keeps from one solve to the next: patterns, orders of elimination, and room for all methods.
///
/// A workspace never changes a result. It is made for the laws and the pattern of the problem solved last, and is
/// made anew where these change; room for a method is made when the method is first used.
#[derive(Default)]
pub struct Workspace {
    elimination: Option<Box<Elimination>>,
    cones: Vec<Cone>,
    velocity: Vec<f64>,
    /// What sweeps without W came to.
    best: Vec<f64>,
    many: matrix_free::Room,
    // By the rows of the widest law.
    one: Option<Box<Room<1>>>,
    two: Option<Box<Room<2>>>,
    three: Option<Box<Room<3>>>,
    five: Option<Box<Room<5>>>,
}

/// The work on an island after which a problem that is also a convex program in velocities is given to that.
const BEFORE_CONVEX: u64 = 1_000_000_000;

/// Solves a contact problem, from the impulses `start` where given, from zero otherwise.
pub fn solve(
    problem: &FrictionProblem,
    options: &FrictionOptions,
    start: Option<&[f64]>,
) -> Result<FrictionSolution, InvalidProblem> {
    let mut solution = FrictionSolution::default();
    if let Some(start) = start {
        check_size("entries of the starting impulse", problem.rows(), start.len())?;
        solution.impulse.extend_from_slice(start);
    }
    solve_into(problem, options, &mut Workspace::default(), &mut solution)?;
    Ok(solution)
}

/// Solves a contact problem from the impulses that are in `solution` (from zero where there are none), and leaves there what
/// was found: the same bits as [`solve`] gives from the same start.
///
/// For one problem after the other, as in a simulation: where laws, pattern and the methods that are needed are those of
/// an earlier solve, nothing is allocated, whatever the number of contacts. The exceptions: laws that are no cones, polyhedral
/// islands and global problems with the associated law on which all iterations failed (they go to exact pivoting, or to a convex
/// program), and masses of more than 32 rows in one block or not
/// positive definite. Loops over more than a thousand constraints are shared out over the threads of the pool, whose
/// own queues may take some memory of their own.
pub fn solve_into(
    problem: &FrictionProblem,
    options: &FrictionOptions,
    workspace: &mut Workspace,
    solution: &mut FrictionSolution,
) -> Result<(), InvalidProblem> {
    // The numbers of a problem may have been changed since it was made.
    problem.check()?;
    let rows = problem.rows();
    if !solution.impulse.is_empty() {
        check_size("entries of the starting impulse", rows, solution.impulse.len())?;
        check_finite("the starting impulse", &solution.impulse)?;
    }
    let mut budget = Budget::new(options);
    let Workspace { elimination, cones, velocity, best, many, one, two, three, five } = workspace;
    let laws = problem.laws.as_slice();
    cones.clear();
    cones.reserve(laws.len());
    cones.extend(laws.iter().map_while(cone_of));
    let all_cones = cones.len() == laws.len();
    // Where W would be too large, it is not formed; what that could not solve goes on from where it came to.
    let swept = all_cones && matrix_free::solve(problem, cones, options, &mut budget, many, solution);
    if swept && (solution.status == Status::Solved || budget.ended().is_some()) {
        return Ok(());
    }
    let before = (solution.residual, solution.iterations);
    if swept {
        best.clone_from(&solution.impulse);
    }
    let (w, q) = match &problem.form {
        Form::Local { delassus, free_velocity } => (delassus, free_velocity),
        Form::Global { mass, jacobian_transposed, force, bias } => {
            let eliminated = elimination.get_or_insert_default();
            eliminated.renew(mass, jacobian_transposed, force, bias)?;
            (&eliminated.delassus, &eliminated.free_velocity)
        }
    };
    solution.impulse.resize(rows, 0.0);
    if !all_cones {
        *solution = solve_dense(w, q, laws, options)?;
        return Ok(());
    }
    let widest = cones.iter().map(|c| c.rows()).max().unwrap_or(1);
    let mut solve_cones = |asked: &FrictionOptions, budget: &mut Budget, solution: &mut FrictionSolution| {
        linalg::inside(laws.len(), || match widest {
            1 => one.get_or_insert_default().solve((w, q), laws, cones, asked, budget, solution),
            2 => two.get_or_insert_default().solve((w, q), laws, cones, asked, budget, solution),
            3 => three.get_or_insert_default().solve((w, q), laws, cones, asked, budget, solution),
            _ => five.get_or_insert_default().solve((w, q), laws, cones, asked, budget, solution),
        });
    };
    // Where impulses are far larger than loads, W loses what decides about them, and patience with it is in vain.
    let convex =
        options.method == Method::Auto && !options.minimum_norm && matrix_free::is_associated(problem, cones);
    let some = options.max_work.map_or(BEFORE_CONVEX, |most| most.min(BEFORE_CONVEX));
    let mut first = if convex { budget.with_work(some) } else { budget.clone() };
    solve_cones(options, &mut first, solution);
    if convex && solution.status != Status::Solved {
        let judged = ContactProblem { delassus: w, free_velocity: q, laws };
        matrix_free::solve_associated(problem, cones, &judged, options, &budget, many, solution);
        if solution.status != Status::Solved {
            solve_cones(options, &mut budget, solution);
        }
    }
    // Rows that are scaled or left out have another residual than the law that was asked for: the judge is asked.
    let other =
        |(law, cone): (&Law, &Cone)| matches!(law, Law::CoulombEllipse { .. }) || law.dim() != cone.rows();
    if laws.iter().zip(&*cones).any(other) {
        let judged = ContactProblem { delassus: w, free_velocity: q, laws };
        let mut asked = *options;
        velocity.resize(rows, 0.0);
        for attempts_left in (0..3).rev() {
            let claimed = solution.status;
            solution.residual = residual_at(&judged, &solution.impulse, velocity).relative;
            solution.status = crate::problem::settle(solution.residual, claimed, options.tolerance);
            if claimed != Status::Solved || solution.status == Status::Solved || attempts_left == 0 {
                break;
            }
            asked.tolerance *= 0.1 * options.tolerance / solution.residual;
            solve_cones(&asked, &mut budget, solution);
        }
    }
    if swept {
        solution.iterations += before.1;
        // Sweeps came closer than all that followed.
        if before.0 < solution.residual {
            solution.impulse.copy_from_slice(best);
            solution.residual = before.0;
        }
    }
    // Where W is not semidefinite, iterations may grow beyond all numbers: no impulses are better than such ones.
    if !solution.impulse.iter().all(|x| x.is_finite()) {
        solution.impulse.fill(0.0);
        velocity.resize(rows, 0.0);
        let judged = ContactProblem { delassus: w, free_velocity: q, laws };
        solution.residual = residual_at(&judged, &solution.impulse, velocity).relative;
        solution.status = crate::problem::settle(solution.residual, Status::Stalled, options.tolerance);
    }
    Ok(())
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
    options: &FrictionOptions,
) -> Result<FrictionSolution, InvalidProblem> {
    let dense = w.to_dense();
    let problem = ContactProblem::new(&dense, q, laws)?;
    let found = dense_fallback::solve_any_law(
        &problem,
        &ContactOptions { tolerance: options.tolerance, ..Default::default() },
    );
    Ok(FrictionSolution {
        impulse: found.force,
        status: found.status,
        iterations: found.iterations,
        residual: found.residual,
        islands: 1,
    })
}
