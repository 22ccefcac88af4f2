//! The problem in its degrees of freedom: G, q, compliances and the steps ρ of its constraints.
//!
//! ```text
//! G = H M^(−½) ,   q = H M⁻¹ f + b ,   ρ_i = 1/λ_max of the rows of a part of constraint i
//! ```
//!
//! G and ρ are kept as long as the rows are the same: the passes of a step differ by b and by what moves.

use super::wide::{PART, is_wide};
use super::{Constraint, FewDofs, Reduced, UNBOUNDED, dot};
use crate::linalg::Sparse;
use crate::problem::{ContactProblem, Form, Law};

/// Degrees of freedom and rows up to which problems are solved here.
pub(super) const MAX_DOFS: usize = 72;
const MAX_ROWS: usize = 480;
/// The least compliance, in parts of what the other degrees of freedom give a row.
const LEAST_COMPLIANCE_RATIO: f64 = 1e-6;

impl FewDofs {
    /// The problems that follow are those of another time: what their solves start from is not what those
    /// before them ended with.
    pub fn begin(&mut self) {
        // Factors of what slid belong to the directions of its slips: solves would depend on those before.
        self.factors.is_factored &= !self.factors.slides;
    }

    /// G, q and the constraints of a problem.
    pub(super) fn load(&mut self, problem: &ContactProblem, ranges: &[[f64; 2]]) -> Option<()> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return None };
        if bias.len() > MAX_ROWS {
            return None;
        }
        let known = self.before.laws == problem.laws
            && self.before.mass.has_bits_of(mass)
            && self.before.jacobian_transposed.has_bits_of(jacobian_transposed);
        if !known {
            self.before.laws.clear();
            self.load_rows(problem)?;
            self.before.laws.clone_from(&problem.laws);
            self.before.mass.clone_from(mass);
            self.before.jacobian_transposed.clone_from(jacobian_transposed);
        }
        self.problem.free_velocity.clone_from(bias);
        for (i, root) in self.problem.root_mass.iter().enumerate() {
            let (columns, values) = jacobian_transposed.row(i);
            let start = force[i] / (root * root);
            columns.iter().zip(values).for_each(|(&j, x)| self.problem.free_velocity[j] += x * start);
        }
        for (k, c) in self.problem.constraints.iter_mut().enumerate() {
            c.range = ranges.get(k).copied().unwrap_or(UNBOUNDED);
            // Impulses of zero are the start where others lead nowhere.
            let possible =
                c.range == UNBOUNDED || (c.law == Law::Bilateral && c.range[0] <= 0.0 && c.range[1] >= 0.0);
            if !possible {
                return None;
            }
        }
        Some(())
    }

    /// G and the constraints, without bounds.
    fn load_rows(&mut self, problem: &ContactProblem) -> Option<()> {
        let Form::Global { mass, jacobian_transposed, bias, .. } = &problem.form else { return None };
        self.problem.root_mass.clear();
        for i in 0..jacobian_transposed.rows() {
            match mass.row(i) {
                (&[column], &[value]) if column == i && value > 0.0 => {
                    self.problem.root_mass.push(value.sqrt())
                }
                _ => return None,
            }
        }
        let before = self.problem.dofs;
        self.find_compliances(&problem.laws, jacobian_transposed, bias.len());
        let m = self.problem.dofs;
        if m == 0 || m > MAX_DOFS {
            return None;
        }
        self.factors.is_factored &= m == before;
        std::mem::swap(&mut self.problem.g, &mut self.before.g);
        self.problem.g.clear();
        self.problem.g.resize(bias.len() * m, 0.0);
        for (i, root) in self.problem.root_mass.iter().enumerate() {
            let (columns, values) = jacobian_transposed.row(i);
            let place = self.problem.place[i];
            if place < m {
                columns.iter().zip(values).for_each(|(&j, x)| self.problem.g[j * m + place] = x / root);
            }
        }
        self.factors.is_factored &= self.problem.g == self.before.g;
        // A law that changed changes the modes, or μ.
        self.factors.is_factored &= self.problem.constraints.iter().map(|c| &c.law).eq(&problem.laws);
        self.problem.constraints.clear();
        let mut row = 0;
        for law in &problem.laws {
            if !is_known(law) {
                return None;
            }
            let constraint = self.problem.constraint(*law, row);
            self.problem.constraints.push(constraint);
            row += law.dim();
        }
        Some(())
    }

    /// The degrees of freedom that one bilateral row alone moves become its compliance; places of the others.
    fn find_compliances(&mut self, laws: &[Law], jacobian_transposed: &Sparse, rows: usize) {
        // First the square of each bilateral row without what it alone moves; NaN for other rows.
        let square = &mut self.iterate.u;
        square.clear();
        for law in laws {
            let value = if *law == Law::Bilateral { 0.0 } else { f64::NAN };
            square.extend(std::iter::repeat_n(value, law.dim()));
        }
        square.resize(rows, f64::NAN);
        for (i, root) in self.problem.root_mass.iter().enumerate() {
            let (columns, values) = jacobian_transposed.row(i);
            if columns.len() > 1 {
                columns.iter().zip(values).for_each(|(&j, x)| square[j] += (x / root).powi(2));
            }
        }
        let compliance = |i: usize| match jacobian_transposed.row(i) {
            (&[j], &[x]) => {
                let c = (x / self.problem.root_mass[i]).powi(2);
                (c >= LEAST_COMPLIANCE_RATIO * square[j] && square[j] > 0.0).then_some((j, c))
            }
            _ => None,
        };
        let changed = self.problem.compliance.len() != rows;
        std::mem::swap(&mut self.problem.compliance, &mut self.before.compliance);
        self.problem.compliance.clear();
        self.problem.compliance.resize(rows, 0.0);
        self.problem.place.clear();
        self.problem.dofs = 0;
        for i in 0..self.problem.root_mass.len() {
            match compliance(i) {
                Some((j, c)) => {
                    self.problem.compliance[j] += c;
                    self.problem.place.push(usize::MAX);
                }
                None => {
                    self.problem.place.push(self.problem.dofs);
                    self.problem.dofs += 1;
                }
            }
        }
        self.factors.is_factored &= !changed && self.problem.compliance == self.before.compliance;
    }
}

impl Reduced {
    fn row(&self, i: usize) -> &[f64] {
        &self.g[i * self.dofs..(i + 1) * self.dofs]
    }

    fn constraint(&self, law: Law, row: usize) -> Constraint {
        let rows = || (row..row + law.dim()).map(|i| self.row(i));
        let from = rows().filter_map(|g| g.iter().position(|x| *x != 0.0)).min().unwrap_or(0);
        let to = rows().filter_map(|g| g.iter().rposition(|x| *x != 0.0)).max().map_or(0, |last| last + 1);
        let invert = |x: f64| if x > 0.0 { 1.0 / x } else { 1.0 };
        let compliance = self.compliance[row];
        let square = |i: usize| dot(self.row(row + i), self.row(row + i)) + compliance;
        let pair = |i: usize| {
            let (a, d, b) = (square(i), square(i + 1), dot(self.row(row + i), self.row(row + i + 1)));
            invert(0.5 * (a + d) + (0.25 * (a - d) * (a - d) + b * b).sqrt())
        };
        let mut rho = [invert(square(0)), 1.0, 1.0, 1.0];
        if law.dim() >= 3 {
            rho[1] = pair(1);
        }
        if law.dim() >= 5 {
            rho[2] = pair(3);
        }
        if law.dim() == 6 {
            rho[3] = invert(square(5));
        }
        // The nearest point of a cone is that of one scale.
        if law.is_associated() && !is_wide(&law) {
            rho = [rho[0].min(rho[1]); 4];
        }
        Constraint { law, row, span: [from, to], compliance, range: UNBOUNDED, rho }
    }

    /// ‖(ρ q)‖.
    pub(super) fn scale(&self) -> f64 {
        let of = |c: &Constraint| {
            let size = |k: usize| (c.rho[PART[k]] * self.free_velocity[c.row + k]).powi(2);
            (0..c.law.dim()).map(size).sum::<f64>()
        };
        self.constraints.iter().map(of).sum::<f64>().sqrt()
    }
}

/// Whether Newton's method knows a law.
fn is_known(law: &Law) -> bool {
    matches!(law, Law::Bilateral | Law::Unilateral | Law::Coulomb { .. } | Law::Cone { .. }) || is_wide(law)
}
