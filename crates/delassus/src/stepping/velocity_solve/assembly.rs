//! The problem of a velocity solve: the rows that have unknown impulses, in global form.
//!
//! ```text
//! M v − Hᵀ r = M v* ,   u = H v + b ,   (u_i, r_i) in the law of row or contact i
//! ```
//!
//! M has 6 rows per body that moves and one per compliant row: such a row, u + c r = 0, has a body of its own
//! of mass 1/c, which moves along with it. In reduced coordinates M is the identity and H is that of the
//! motions which the joints leave (`reduced.rs`).

use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, Form, Law};

use super::SolveInput;
use super::bounds::{BoundedRows, servo_bounds};
use super::reduced::ReducedMotion;
use super::rounded_motion::take_out_rounding;
use crate::stepping::warm_start::Impulses;
use crate::world::{FIXED_SLOT, RowKind, TreeBasis, row_velocity};

/// A problem and what it is made of, in memory that is kept.
pub(super) struct Assembly {
    /// Always in global form.
    pub(super) problem: ContactProblem,
    /// Entries of Hᵀ and of the mass matrix.
    pub(super) jacobian_entries: Vec<(usize, usize, f64)>,
    pub(super) mass_entries: Vec<(usize, usize, f64)>,
    /// Rows of joints that are unknowns, in their order: the first columns.
    pub(super) unknown_rows: Vec<usize>,
    /// Masses 1/c of the bodies that stand for compliant rows.
    pub(super) compliant_masses: Vec<f64>,
    pub(super) reduced: ReducedMotion,
}

impl Default for Assembly {
    fn default() -> Self {
        let form = Form::Global {
            mass: Sparse::default(),
            jacobian_transposed: Sparse::default(),
            force: Vec::new(),
            bias: Vec::new(),
        };
        Assembly {
            problem: ContactProblem { laws: Vec::new(), form },
            jacobian_entries: Vec::new(),
            mass_entries: Vec::new(),
            unknown_rows: Vec::new(),
            compliant_masses: Vec::new(),
            reduced: ReducedMotion::default(),
        }
    }
}

/// The parts of a problem in global form.
pub(super) struct GlobalForm<'a> {
    pub(super) mass: &'a mut Sparse,
    pub(super) jacobian_transposed: &'a mut Sparse,
    pub(super) force: &'a mut Vec<f64>,
    pub(super) bias: &'a mut Vec<f64>,
}

impl<'a> GlobalForm<'a> {
    pub(super) fn of(form: &'a mut Form) -> Self {
        let Form::Global { mass, jacobian_transposed, force, bias } = form else {
            unreachable!("a velocity solver makes its problem in global form and never changes that")
        };
        GlobalForm { mass, jacobian_transposed, force, bias }
    }
}

impl Assembly {
    /// Laws, columns of Hᵀ and b of the rows of joints that are unknowns, then of contacts, and the impulses
    /// from which their solve starts.
    pub(super) fn set_rows(
        &mut self,
        input: &SolveInput<'_>,
        bounds: &BoundedRows,
        impulses: &Impulses,
        start: &mut Vec<f64>,
    ) {
        self.reduced.factorize(input, |i| bounds.unknown(input, i));
        self.add_rows(input, bounds, impulses, start);
    }

    /// The same with servos whose force has a bound among the unknowns.
    pub(super) fn set_bounded_rows(
        &mut self,
        input: &SolveInput<'_>,
        bounds: &BoundedRows,
        impulses: &Impulses,
        start: &mut Vec<f64>,
    ) {
        let boundless = |i: usize| servo_bounds(input, i).is_none();
        self.reduced.factorize(input, |i| bounds.unknown(input, i).filter(|_| boundless(i)));
        self.add_rows(input, bounds, impulses, start);
    }

    fn add_rows(
        &mut self,
        input: &SolveInput<'_>,
        bounds: &BoundedRows,
        impulses: &Impulses,
        start: &mut Vec<f64>,
    ) {
        self.problem.laws.clear();
        GlobalForm::of(&mut self.problem.form).bias.clear();
        self.jacobian_entries.clear();
        self.unknown_rows.clear();
        self.compliant_masses.clear();
        self.reduced.clear_rows();
        start.clear();
        self.add_joints(input, bounds, impulses, start);
        self.add_contacts(input, impulses, start);
    }

    /// The target of a row of a joint that is an unknown: b and the compliance c.
    pub(super) fn unknown(
        &self,
        input: &SolveInput<'_>,
        bounds: &BoundedRows,
        i: usize,
    ) -> Option<(f64, f64)> {
        if self.reduced.holds_compliant(i) { None } else { bounds.unknown(input, i) }
    }

    fn add_joints(
        &mut self,
        input: &SolveInput<'_>,
        bounds: &BoundedRows,
        impulses: &Impulses,
        start: &mut Vec<f64>,
    ) {
        let SolveInput { masses, rows, tree, .. } = *input;
        for (i, row) in rows.rows.iter().enumerate() {
            let Some((b, compliance)) = self.unknown(input, bounds, i) else { continue };
            self.unknown_rows.push(i);
            let bias = GlobalForm::of(&mut self.problem.form).bias;
            let column = bias.len();
            let blocks = rows.blocks_of(row).iter().map(|(body, block)| (masses.slot[*body as usize], block));
            match tree {
                Some(_) => self.reduced.add_row(blocks),
                None => add_row(column, blocks, &mut self.jacobian_entries),
            }
            if compliance > 0.0 {
                match tree {
                    Some(_) => self.reduced.add_compliance(),
                    None => {
                        let own = masses.mass.len() + self.compliant_masses.len();
                        self.jacobian_entries.push((own, column, 1.0));
                    }
                }
                self.compliant_masses.push(1.0 / compliance);
            }
            bias.push(b);
            let limit = matches!(row.kind, RowKind::Limit { .. });
            self.problem.laws.push(if limit { Law::Unilateral } else { Law::Bilateral });
            start.push(impulses.rows[i]);
        }
    }

    fn add_contacts(&mut self, input: &SolveInput<'_>, impulses: &Impulses, start: &mut Vec<f64>) {
        let ContactProblem { laws, form } = &mut self.problem;
        let bias = GlobalForm::of(form).bias;
        for (i, contact) in input.contacts.iter().enumerate() {
            if input.targets.normal_bias[i].is_none() {
                continue;
            }
            for k in 0..contact.law.dim() {
                let column = bias.len();
                let moving = (0..2).filter(|&s| contact.slots[s] != FIXED_SLOT);
                let blocks = moving.map(|s| (contact.slots[s], &contact.blocks[s][k]));
                match input.tree {
                    Some(_) => self.reduced.add_row(blocks),
                    None => add_row(column, blocks, &mut self.jacobian_entries),
                }
                bias.push(input.targets.contact_bias(i, k).unwrap_or(0.0));
                start.push(impulses.contacts[i][k]);
            }
            laws.push(contact.law);
        }
    }

    /// M, Hᵀ and M v*, with the bodies of compliant rows at rest.
    pub(super) fn set_dynamics(&mut self, input: &SolveInput<'_>, v: &[f64]) {
        if let Some(tree) = input.tree {
            return self.set_reduced_dynamics(tree, input, v);
        }
        self.reduced.forget_rows();
        let masses = input.masses;
        let GlobalForm { mass, jacobian_transposed, force, bias } = GlobalForm::of(&mut self.problem.form);
        let dofs = masses.mass.len() + self.compliant_masses.len();
        let all = masses.mass.iter().chain(&self.compliant_masses);
        if !mass.values().iter().eq(all.clone()) {
            self.mass_entries.clear();
            self.mass_entries.extend(all.enumerate().map(|(i, &m)| (i, i, m)));
            mass.refill(dofs, dofs, &self.mass_entries);
        }
        jacobian_transposed.refill(dofs, bias.len(), &self.jacobian_entries);
        force.clear();
        force.extend(masses.mass.iter().zip(v).map(|(m, v)| m * v));
        force.resize(dofs, 0.0);
    }

    /// The mass matrix one, Hᵣᵀ, y* and b + H v_p, with the bodies of compliant rows at rest.
    fn set_reduced_dynamics(&mut self, tree: &TreeBasis, input: &SolveInput<'_>, v: &[f64]) {
        self.reduced.begin(tree, input, v);
        self.add_particular_velocities(input);
        let GlobalForm { mass, jacobian_transposed, force, bias } = GlobalForm::of(&mut self.problem.form);
        let dofs = tree.motions() + self.compliant_masses.len();
        let all = || std::iter::repeat_n(&1.0, tree.motions()).chain(&self.compliant_masses);
        if !mass.values().iter().eq(all()) {
            self.mass_entries.clear();
            self.mass_entries.extend(all().enumerate().map(|(i, &m)| (i, i, m)));
            mass.refill(dofs, dofs, &self.mass_entries);
        }
        if self.reduced.reduce_rows(tree, &mut self.jacobian_entries) {
            jacobian_transposed.refill(dofs, bias.len(), &self.jacobian_entries);
        }
        force.clone_from(self.reduced.motion());
        force.resize(dofs, 0.0);
    }

    /// Takes out of y* what rows have of it by rounding; whether nothing else is left of their velocities.
    pub(super) fn take_out_rounding(&mut self) -> bool {
        let GlobalForm { jacobian_transposed, force, bias, .. } = GlobalForm::of(&mut self.problem.form);
        let rounded = take_out_rounding(jacobian_transposed, bias, force);
        if rounded {
            self.reduced.set_motion(force);
        }
        rounded
    }

    /// b ← b + H v_p.
    fn add_particular_velocities(&mut self, input: &SolveInput<'_>) {
        let SolveInput { masses, rows, contacts, targets, .. } = *input;
        let Assembly { problem, reduced, unknown_rows, .. } = self;
        let Some(particular) = reduced.particular() else { return };
        let bias = GlobalForm::of(&mut problem.form).bias;
        for (bias, &i) in bias.iter_mut().zip(&*unknown_rows) {
            *bias += row_velocity(rows, i, masses, particular);
        }
        let mut column = unknown_rows.len();
        let pressed = contacts.iter().zip(&targets.normal_bias).filter(|(_, bias)| bias.is_some());
        for (contact, _) in pressed {
            for k in 0..contact.law.dim() {
                bias[column] += contact.velocity(k, particular);
                column += 1;
            }
        }
    }
}

/// Adds the entries of a row, a column of Hᵀ, with these blocks of slots.
fn add_row<'a>(
    column: usize,
    blocks: impl Iterator<Item = (u32, &'a [f64; 6])>,
    entries: &mut Vec<(usize, usize, f64)>,
) {
    for (slot, block) in blocks {
        let at = 6 * slot as usize;
        entries.extend((0..6).map(|c| (at + c, column, block[c])));
    }
}
