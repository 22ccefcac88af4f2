//! Small complementarity problems decided by rational arithmetic: the data are taken as they are, and
//! nothing is rounded.
//!
//! ```text
//! {(z, w) : w − M z = q , z ≥ 0 and w ≥ 0 on pairs , w = 0 on free rows} ,   zᵢ wᵢ = 0
//! ```
//!
//! Without zᵢ wᵢ = 0 this is a polyhedron, and where it is empty there is no solution (Farkas). Where a
//! vertex has zᵢ > 0 and wᵢ > 0, the solutions lie in the part with zᵢ = 0 or in the part with wᵢ = 0: a
//! tree of polyhedra, each with fewer columns than the one above. It ends at a vertex that is a solution,
//! or without one.

use super::enclosure::is_surely_near;
use super::mlcp::Mlcp;
use super::residual::Measure;
use crate::linalg::{Int, Polyhedron, Tableau, integers};

/// Problems with more unknowns than this are not decided.
pub(super) const MOST_UNKNOWNS: usize = 16;
/// Problems with more than this do not even have their tree begun.
pub(super) const MOST_TRIED: usize = 24;
/// Inequalities in more unknowns than this are not decided.
const MOST_INEQUALITIES: usize = 40;
/// Most polyhedra of a tree.
const MOST_PARTS: usize = 2000;

/// The answer of [`decide`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    /// A solution, rounded to z.
    Solution(Vec<f64>),
    /// There is none.
    Empty,
    /// The tree is too large.
    Unknown,
}

/// A variable of the problem: zᵢ, or wᵢ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Z(usize),
    W(usize),
}

/// w − M z = q in the variables listed, all others zero; `None` where a number is not finite.
fn polyhedron(mlcp: &Mlcp, variables: &[Variable]) -> Option<Option<Polyhedron>> {
    let row = |i: usize| {
        let entry = |v: &Variable| match *v {
            Variable::Z(j) => -mlcp.matrix[(i, j)],
            Variable::W(j) => f64::from(u8::from(i == j)),
        };
        // A row may be multiplied by any number: each has a denominator of its own.
        Some(integers(variables.iter().map(entry).chain([mlcp.vector[i]]))?.0)
    };
    let rows = (0..mlcp.size()).map(row).collect::<Option<Vec<_>>>()?;
    let free = variables.iter().map(|v| matches!(*v, Variable::Z(i) if mlcp.free[i])).collect();
    Some(Polyhedron::feasible(Tableau { rows, denominator: Int::ONE }, free))
}

/// Whether bounds on rounding show that the problem has a solution with the zero sides of the pairs of z,
/// where w = M z + q: they prove most solutions at a small part of the cost of fractions, and no tie.
pub(super) fn has_sure_solution(on: &Measure<'_>, z: &[f64], w: &[f64]) -> bool {
    let active: Vec<bool> = (0..on.size()).map(|i| is_active(on, i, z, w)).collect();
    is_surely_near(on, &active, z)
}

/// Whether zᵢ is the side of a pair that is not zero, or free.
fn is_active(on: &Measure<'_>, i: usize, z: &[f64], w: &[f64]) -> bool {
    on.is_free(i) || on.scales.is_active(i, z[i], w[i])
}

/// Whether the problem has a solution with the zero sides of the pairs of z, by fractions.
pub(super) fn has_solution_near(mlcp: &Mlcp, z: &[f64]) -> bool {
    let (w, on) = (mlcp.slack(z), mlcp.measure());
    let side = |i: usize| if is_active(&on, i, z, &w) { Variable::Z(i) } else { Variable::W(i) };
    let variables: Vec<Variable> = (0..mlcp.size()).map(side).collect();
    matches!(polyhedron(mlcp, &variables), Some(Some(_)))
}

/// All variables that are not zero by definition.
fn all_variables(mlcp: &Mlcp) -> Vec<Variable> {
    let pairs = (0..mlcp.size()).filter(|&i| !mlcp.free[i]).map(Variable::W);
    (0..mlcp.size()).map(Variable::Z).chain(pairs).collect()
}

/// Whether no point satisfies the inequalities; false also where they are too many.
pub(super) fn is_empty(mlcp: &Mlcp) -> bool {
    mlcp.size() <= MOST_INEQUALITIES && matches!(polyhedron(mlcp, &all_variables(mlcp)), Some(None))
}

/// Whether y shows that no point satisfies the inequalities (Farkas): y ≥ 0 and Mᵀy ≤ 0 on pairs, Mᵀy = 0
/// on free rows, qᵀy < 0.
pub(super) fn refutes(mlcp: &Mlcp, y: &[f64]) -> bool {
    let n = mlcp.size();
    // The sign of xᵀy.
    let sign = |x: &dyn Fn(usize) -> f64| {
        let (x, y) = (integers((0..n).map(x))?.0, integers(y.iter().copied())?.0);
        let sum = x.iter().zip(&y).filter(|(x, _)| !x.is_zero());
        Some(sum.fold(Int::ZERO, |sum, (x, y)| sum.plus(&x.times(y))).sign())
    };
    let column = |j: usize| match sign(&|i| mlcp.matrix[(i, j)]) {
        Some(s) => s == 0 || (s < 0 && !mlcp.free[j]),
        None => false,
    };
    let is_positive = (0..n).all(|i| mlcp.free[i] || y[i] >= 0.0);
    is_positive && sign(&|i| mlcp.vector[i]) == Some(-1) && (0..n).all(column)
}

/// Whether the problem has a solution, by all parts of the polyhedron that may hold one.
pub(super) fn decide(mlcp: &Mlcp) -> Decision {
    let n = mlcp.size();
    let variables = all_variables(mlcp);
    let Some(root) = polyhedron(mlcp, &variables) else { return Decision::Unknown };
    let mut open: Vec<(Polyhedron, Vec<Variable>)> = root.map(|p| (p, variables)).into_iter().collect();
    let mut parts = 1;
    while let Some((part, variables)) = open.pop() {
        let point = part.point();
        let value = |v: Variable| variables.iter().position(|x| *x == v).map(|c| &point[c]);
        let positive = |v: Variable| value(v).is_some_and(|x| x.sign() > 0);
        let both = (0..n).find(|&i| !mlcp.free[i] && positive(Variable::Z(i)) && positive(Variable::W(i)));
        let Some(i) = both else {
            let rounded =
                |i: usize| value(Variable::Z(i)).map_or(0.0, |x| quotient(x, &part.tableau.denominator));
            return Decision::Solution((0..n).map(rounded).collect());
        };
        for zero in [Variable::Z(i), Variable::W(i)] {
            parts += 1;
            let keep: Vec<bool> = variables.iter().map(|v| *v != zero).collect();
            if let Some(p) = part.restricted(&keep) {
                open.push((p, variables.iter().copied().filter(|v| *v != zero).collect()));
            }
        }
        if parts > MOST_PARTS {
            return Decision::Unknown;
        }
    }
    Decision::Empty
}

/// a/b for b > 0, rounded to a double.
fn quotient(a: &Int, b: &Int) -> f64 {
    let (a, b) = (a.to_big(), b.to_big());
    // 70 bits before the conversion, which rounds: what is cut off is far below the last digit.
    let shift = 70 + b.bits() as i64 - a.bits() as i64;
    let whole = if shift >= 0 { (a << shift) / b } else { a / (b << -shift) };
    let e = -shift as i32;
    // Two factors: 2ᵉ alone may leave the range where the quotient does not.
    i128::try_from(whole).map_or(f64::NAN, |x| x as f64 * 2f64.powi(e / 2) * 2f64.powi(e - e / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    fn problem<const N: usize>(rows: [[f64; N]; N], q: [f64; N], free: [bool; N]) -> Mlcp {
        Mlcp::new(Matrix::from_rows(&rows), q.to_vec(), free.to_vec()).unwrap()
    }

    #[test]
    fn quotients() {
        for (a, b) in [(1, 3), (-2, 7), (0, 5), (i64::MAX, 3), (6, 3)] {
            assert_eq!(quotient(&Int::Small(a), &Int::Small(b)), a as f64 / b as f64);
        }
    }

    #[test]
    fn a_tie_is_decided_to_the_last_bit() {
        // z₁ − z₂ ≥ 1 and (1 + ε)z₂ − z₁ ≥ 1: z₂ = 2/ε, or nothing for ε ≤ 0.
        let tie = |e: f64| problem([[1.0, -1.0], [-1.0, 1.0 + e]], [-1.0, -1.0], [false; 2]);
        let e = f64::EPSILON;
        assert_eq!(decide(&tie(e)), Decision::Solution(vec![2.0 / e + 1.0, 2.0 / e]));
        assert!(has_solution_near(&tie(e), &[2.0 / e + 1.0, 2.0 / e]));
        assert_eq!(decide(&tie(0.0)), Decision::Empty);
        assert_eq!(decide(&tie(-e)), Decision::Empty);
        assert!(!has_solution_near(&tie(-e), &[2.0 / e, 2.0 / e]));
    }

    #[test]
    fn singular_sides_and_free_rows() {
        // z₁ + z₂ = 1: a segment; feasible without complementarity: nothing; a free row that nothing meets.
        let line = problem([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0], [false; 2]);
        assert!(has_solution_near(&line, &[0.5, 0.5]));
        assert!(matches!(decide(&line), Decision::Solution(_)));
        assert_eq!(decide(&problem([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0], [false; 2])), Decision::Empty);
        let mixed = problem([[0.0, 1.0], [1.0, 0.0]], [-2.0, 3.0], [true, false]);
        assert_eq!(decide(&mixed), Decision::Solution(vec![-3.0, 2.0]));
        assert_eq!(decide(&problem([[0.0, 1.0], [1.0, 0.0]], [1.0, 0.0], [true, false])), Decision::Empty);
    }

    #[test]
    fn multipliers_are_checked() {
        let none = problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], [false; 2]);
        assert!(is_empty(&none) && refutes(&none, &[1.0, 1.0]));
        assert!(!refutes(&none, &[1.0, 1.0 + f64::EPSILON]) && !refutes(&none, &[-1.0, -1.0]));
        assert!(!refutes(&none, &[0.0, 0.0]) && !refutes(&none, &[f64::NAN, 1.0]));
        // The same columns with a free unknown: Mᵀy = 0 is asked for, of either sign.
        let mixed = problem([[0.0, 1.0], [1.0, 0.0]], [1.0, 0.0], [true, false]);
        assert!(refutes(&mixed, &[-1.0, 0.0]) && !refutes(&mixed, &[-1.0, 1.0]));
    }
}
