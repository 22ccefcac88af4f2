//! Which motion is taken where several obey the laws: that of least impulses at contacts.
//!
//! ```text
//! u = W r + E (r − r_k) + q ,   (u, r_{k+1}) in the laws ,   r_0 = 0 for the one that is taken
//! ```
//!
//! E is diagonal, a part ε of the mean of the diagonal of W at each contact, and zero for joints. Each of
//! these problems has one solution, also where W is singular; the first lies within O(ε) of the impulses of
//! least norm, the later ones take away what E has changed. Neither the start of a solve nor the method nor
//! the order of contacts enters, and E is the same for any directions of tangents and axes.

use delassus_solve::contact::{ContactOptions, Method, Solution, Workspace, solve_into};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{
    ContactProblem, Form, InvalidProblem, Law, ResidualCheck, Status, row_offsets,
};

use super::SolveOutcome;

/// ε. What is not determined by W is found to the tolerance of a solve over ε.
pub(super) const PROXIMAL_RATIO: f64 = 1e-3;
/// The same where a solution is looked for and not chosen: it leads there where the smaller one does not.
pub(super) const FIRM_PROXIMAL_RATIO: f64 = 0.1;
/// The proximal problems are solved to this part of the tolerance, which leaves 1e-9 of the impulses in what
/// W does not determine.
const TOLERANCE_RATIO: f64 = 1e-2;
/// Each iteration leaves about ε of the error before, over the least eigenvalue of W in its mean diagonal.
const MAX_ITERATIONS: usize = 40;

/// The impulses of a problem in global form that the iteration with ε = `ratio` ends in from those given,
/// r_0; not solved where it does not.
pub(super) fn solve_proximal(
    problem: &ContactProblem,
    options: &ContactOptions,
    ratio: f64,
    solution: &mut Solution,
) -> Result<SolveOutcome, InvalidProblem> {
    let Some(mut proximal) = Proximal::new(problem, ratio) else {
        return Ok(SolveOutcome { status: Status::Stalled, residual: f64::INFINITY, iterations: 0 });
    };
    let tight = ContactOptions {
        method: Method::Auto,
        tolerance: TOLERANCE_RATIO * options.tolerance,
        minimum_norm: false,
        ..*options
    };
    let mut check = ResidualCheck::default();
    check.load(problem);
    let (mut workspace, mut next) = (Workspace::default(), Solution::default());
    let mut outcome = SolveOutcome { status: Status::MaxIterations, residual: f64::INFINITY, iterations: 0 };
    next.impulse.clone_from(&solution.impulse);
    for _ in 0..MAX_ITERATIONS {
        proximal.centre(&next.impulse);
        solve_into(&proximal.problem, &tight, &mut workspace, &mut next)?;
        outcome.iterations += next.iterations;
        // The next problem may start from what is nearly a solution; the end is measured below.
        if next.residual > options.tolerance {
            outcome.status = next.status;
            break;
        }
        solution.impulse.clone_from(&next.impulse);
        let found = check.residual(problem, &solution.impulse, &mut solution.velocity);
        (outcome.status, outcome.residual) = found.settle(Status::MaxIterations, options.tolerance);
        if outcome.status == Status::Solved {
            break;
        }
    }
    Ok(outcome)
}

/// The problem with E: a row with compliance c has a body of its own of mass 1/c, which moves along with it.
struct Proximal {
    problem: ContactProblem,
    /// Rows that have such a body, and the first of these bodies.
    rows: Vec<usize>,
    first_body: usize,
}

impl Proximal {
    fn new(problem: &ContactProblem, ratio: f64) -> Option<Self> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return None };
        let first_body = mass.rows();
        let mut diagonal = vec![0.0; bias.len()];
        let masses: Vec<f64> = mass.triplets().filter(|(i, j, _)| i == j).map(|(_, _, m)| m).collect();
        for (i, j, x) in jacobian_transposed.triplets() {
            diagonal[j] += x * x / masses.get(i)?;
        }
        let mut mass_entries: Vec<_> = mass.triplets().collect();
        let mut entries: Vec<_> = jacobian_transposed.triplets().collect();
        let first = row_offsets(&problem.laws);
        let mut rows = vec![];
        for (law, at) in problem.laws.iter().zip(&first) {
            if *law == Law::Bilateral {
                continue;
            }
            // Lengths and angles, each by themselves.
            for part in [0..law.dim().min(3), 3..law.dim()].into_iter().filter(|part| !part.is_empty()) {
                let mean = diagonal[at + part.start..at + part.end].iter().sum::<f64>() / part.len() as f64;
                if mean.is_nan() || mean <= 0.0 {
                    return None;
                }
                for k in part {
                    let body = first_body + rows.len();
                    mass_entries.push((body, body, 1.0 / (ratio * mean)));
                    entries.push((body, at + k, 1.0));
                    rows.push(at + k);
                }
            }
        }
        let dofs = first_body + rows.len();
        let mut force = force.clone();
        force.resize(dofs, 0.0);
        let form = Form::Global {
            mass: Sparse::from_triplets(dofs, dofs, &mass_entries),
            jacobian_transposed: Sparse::from_triplets(dofs, bias.len(), &entries),
            force,
            bias: bias.clone(),
        };
        Some(Proximal { problem: ContactProblem { laws: problem.laws.clone(), form }, rows, first_body })
    }

    /// r_k: its bodies have the momentum −r_k before the solve.
    fn centre(&mut self, r: &[f64]) {
        if let Form::Global { force, .. } = &mut self.problem.form {
            for (momentum, &row) in force[self.first_body..].iter_mut().zip(&self.rows) {
                *momentum = -r[row];
            }
        }
    }
}
