//! The contact problem at an instant whose forces are examined for uniqueness: redundant joints stay in it,
//! and a planar world is reduced to its plane.
//!
//! ```text
//! M v = f + H r   →   (Pᵀ M P) p = Pᵀ f + (Pᵀ H) r ,      v = P p
//! ```
//!
//! v ∈ R⁶ⁿ, p ∈ R³ⁿ for n bodies, P has two displacements in the plane and the rotation about its normal per
//! body. Rows that then move nothing hold the plane and are left out; contacts have friction along the plane
//! only. Points between the same bodies that differ only in their depth are one contact, whose force they
//! share equally: as in the analysis of planar worlds.

use delassus_solve::analysis::{
    ImpulseRange, analyze, impulse_range, least_contact_impulses, theorems::findings,
};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Matrix, Sparse, UnionFind, dot, norm};
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{ContactProblem, Dynamics, Form, InvalidProblem, Law, row_offsets};
use glam::DVec3;

use super::super::Stepper;
use super::super::row_targets::RowTargets;
use crate::world::{Axis, RowKind};

/// Lengths and sines below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Columns are independent where no singular value is below this part of the largest.
const INDEPENDENT: f64 = 1e-10;
/// Coordinates and rows up to which uniqueness at all is asked for; beyond it takes too long.
const MAX_ANALYZED: usize = 24;

/// Rows of the problem that belong together: their law, columns of H, b and impulses.
pub(super) struct Constraint {
    pub(super) law: Law,
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) bias: Vec<f64>,
    pub(super) impulse: Vec<f64>,
}

/// The rotor of a joint: its inertia a and the row n of its coordinate.
struct Rotor {
    inertia: f64,
    row: Vec<f64>,
}

/// The forces at an instant, and which others there are.
pub(super) struct Instant {
    /// Degrees of freedom of a body.
    per_body: usize,
    /// Diagonal of M, and what rotors add to it: Σ a nᵀn.
    mass: Vec<f64>,
    rotors: Vec<Rotor>,
    force: Vec<f64>,
    /// Of joints, then of contacts, then redundant ones.
    joints: Vec<Constraint>,
    contacts: Vec<Constraint>,
    redundant: Vec<Constraint>,
    /// Directions of the friction of each contact.
    tangents: Vec<Vec<DVec3>>,
    /// The first contact that is the same as each one, but for its depth.
    same_as: Vec<usize>,
}

/// What is known of the forces at an instant.
pub(super) struct InstantForces {
    /// Normal impulse and impulse of friction of every closed contact.
    pub(super) contacts: Vec<(f64, DVec3)>,
    /// Which normal impulses go with the same motion: per row of a joint, then per closed contact.
    pub(super) ranges: ImpulseRange,
    /// The place of the first contact there.
    pub(super) first: usize,
}

impl Instant {
    /// The problem that was solved with these impulses.
    pub(super) fn new(
        stepper: &Stepper,
        targets: &RowTargets,
        problem: &ContactProblem,
        r: &[f64],
    ) -> Option<Self> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return None };
        let h = jacobian_transposed.to_dense();
        let (on, masses) = (&stepper.linearization, &stepper.model.masses);
        let offsets = row_offsets(&problem.laws);
        let constraints = problem.laws.iter().enumerate().map(|(k, law)| {
            let rows = offsets[k]..offsets[k + 1];
            let columns = rows.clone().map(|c| h.col(c)).collect();
            Constraint { law: *law, columns, bias: bias[rows.clone()].to_vec(), impulse: r[rows].to_vec() }
        });
        let mut joints: Vec<Constraint> = constraints.collect();
        // Where nothing is closed, the problem was not assembled.
        let n = masses.mass.len();
        let mut force = if problem.laws.is_empty() { vec![0.0; n] } else { force[..n].to_vec() };
        let mut rotors = vec![];
        joints.retain_mut(|joint| {
            let own = (n..h.rows()).find(|&i| joint.columns[0][i] != 0.0);
            joint.columns.iter_mut().for_each(|column| column.truncate(n));
            if let Some(i) = own {
                let (inertia, row) = (mass.values()[i], joint.columns[0].clone());
                force.iter_mut().zip(&row).for_each(|(f, x)| *f -= inertia * joint.bias[0] * x);
                rotors.push(Rotor { inertia, row });
            }
            own.is_none()
        });
        let closed = || targets.normal_bias.iter().enumerate().filter(|(_, b)| b.is_some()).map(|(i, _)| i);
        let contacts = joints.split_off(joints.len() - closed().count());
        let rows = on.joint_rows();
        let redundant = rows.rows.iter().zip(on.redundant()).filter(|(_, redundant)| **redundant);
        let redundant = redundant.map(|(row, _)| {
            let mut column = vec![0.0; masses.mass.len()];
            for (body, block) in rows.blocks_of(row) {
                let at = 6 * masses.slot[*body as usize] as usize;
                column[at..at + 6].copy_from_slice(block);
            }
            Constraint {
                law: Law::Bilateral,
                columns: vec![column],
                bias: vec![row.rate],
                impulse: vec![0.0],
            }
        });
        let count = contacts.len();
        let tangents = closed().map(|i| on.contact_rows()[i].tangents.to_vec()).collect();
        let space = Instant {
            per_body: 6,
            mass: masses.mass.clone(),
            rotors,
            force,
            joints,
            contacts,
            redundant: redundant.collect(),
            tangents,
            same_as: (0..count).collect(),
        };
        Some(match stepper.model.world.plane {
            Some(axis) => {
                let slots: Vec<u32> = (0..masses.mass.len() as u32 / 6).collect();
                space.in_plane(stepper, axis, &slots, &closed().collect::<Vec<_>>())
            }
            None => space,
        })
    }

    /// A problem of the bodies in these slots whose impulses leave them at rest: f = −H r. Its velocities are
    /// the bias, which is lengthened so that what the impulses do is small beside it nowhere.
    pub(super) fn at_rest(
        stepper: &Stepper,
        slots: &[u32],
        joints: Vec<Constraint>,
        mut contacts: Vec<Constraint>,
        closed: &[usize],
    ) -> Self {
        let of_body = |slot: &u32| &stepper.model.masses.mass[6 * *slot as usize..6 * *slot as usize + 6];
        let mass: Vec<f64> = slots.iter().flat_map(of_body).copied().collect();
        let mut force = vec![0.0; mass.len()];
        for constraint in joints.iter().chain(&contacts) {
            for (column, r) in constraint.columns.iter().zip(&constraint.impulse) {
                force.iter_mut().zip(column).for_each(|(f, x)| *f -= r * x);
            }
        }
        let free: Vec<f64> = force.iter().zip(&mass).map(|(f, m)| f / m).collect();
        let columns = joints.iter().chain(&contacts).flat_map(|constraint| &constraint.columns);
        let size = columns.map(|column| dot(column, &free).abs()).fold(f64::MIN_POSITIVE, f64::max);
        contacts.iter_mut().flat_map(|contact| &mut contact.bias).for_each(|b| *b *= size);
        let tangents = closed.iter().map(|&i| stepper.linearization.contact_rows()[i].tangents.to_vec());
        let space = Instant {
            per_body: 6,
            mass,
            // Their impulses are given, as those of springs.
            rotors: vec![],
            force,
            joints,
            redundant: vec![],
            tangents: tangents.collect(),
            same_as: (0..contacts.len()).collect(),
            contacts,
        };
        match stepper.model.world.plane {
            Some(axis) => space.in_plane(stepper, axis, slots, closed),
            None => space,
        }
    }

    /// The place of the first contact among the constraints.
    pub(super) fn first_contact(&self) -> usize {
        self.joints.len()
    }

    /// Whether no impulses but zero leave all bodies at rest: then none can be added to those there are,
    /// whatever the laws.
    pub(super) fn is_independent(&self) -> bool {
        let contacts = self.distinct().into_iter().map(|k| &self.contacts[k]);
        let all = self.joints.iter().chain(contacts).chain(&self.redundant);
        let columns: Vec<&Vec<f64>> = all.flat_map(|constraint| &constraint.columns).collect();
        let weighted = |row: usize, c: usize| columns[c][row] / self.mass[row].sqrt();
        let matrix = Matrix::from_fn(self.mass.len(), columns.len(), weighted);
        matrix.row_space_with(INDEPENDENT).rank == columns.len()
    }

    /// The same in the plane across this axis; as it is where contacts are not in the plane.
    fn in_plane(self, stepper: &Stepper, axis: Axis, slots: &[u32], closed: &[usize]) -> Self {
        let across = [DVec3::X, DVec3::Y, DVec3::Z][axis as usize];
        let along = [across.any_orthonormal_vector(), across.cross(across.any_orthonormal_vector())];
        let (world, masses, on) = (&stepper.model.world, &stepper.model.masses, &stepper.linearization);
        let is_planar = |(contact, &i): (&Constraint, &usize)| {
            let law = matches!(contact.law, Law::Unilateral | Law::Coulomb { .. } | Law::Cone { .. });
            law && on.contacts()[i].normal.dot(across).abs() <= ROUNDING
        };
        if !self.contacts.iter().zip(closed).all(is_planar) {
            return self;
        }
        // The axis in the axes of every body that moves.
        let mut axes = vec![DVec3::ZERO; slots.len()];
        for b in (0..world.bodies.len()).filter(|&b| !world.bodies[b].fixed) {
            if let Ok(place) = slots.binary_search(&masses.slot[b]) {
                axes[place] = stepper.state.bodies[b].pose.rotation.conjugate() * across;
            }
        }
        let project = |x: &[f64]| -> Vec<f64> {
            let of = |(six, axis): (&[f64], &DVec3)| {
                let linear = DVec3::from_slice(six);
                [along[0].dot(linear), along[1].dot(linear), axis.dot(DVec3::from_slice(&six[3..]))]
            };
            x.chunks_exact(6).zip(&axes).flat_map(of).collect()
        };
        let planar_row = |row: Constraint| {
            let column = project(&row.columns[0]);
            let moves = norm(&column) > ROUNDING * norm(&row.columns[0]);
            moves.then(|| Constraint { columns: vec![column], ..row })
        };
        let mut tangents = vec![];
        let mut contacts = vec![];
        for (contact, &i) in self.contacts.into_iter().zip(closed) {
            let tangent = across.cross(on.contacts()[i].normal).normalize_or_zero();
            tangents.push(vec![tangent]);
            let shares = on.contact_rows()[i].tangents.map(|t| t.dot(tangent));
            let mix = |x: &[f64]| x[1..3].iter().zip(shares).map(|(x, s)| x * s).sum::<f64>();
            let mut columns = vec![project(&contact.columns[0])];
            let (mut bias, mut impulse) = (vec![contact.bias[0]], vec![contact.impulse[0]]);
            let law = match contact.law {
                Law::Coulomb { mu } => Law::CoulombPlane { mu },
                Law::Cone { mu } => Law::ConePlane { mu },
                other => other,
            };
            if law.dim() == 2 {
                let [a, b] = [1, 2].map(|k| project(&contact.columns[k]));
                columns.push(a.iter().zip(&b).map(|(a, b)| shares[0] * a + shares[1] * b).collect());
                bias.push(mix(&contact.bias));
                impulse.push(mix(&contact.impulse));
            }
            contacts.push(Constraint { law, columns, bias, impulse });
        }
        let size = contacts.iter().flat_map(|c| &c.columns).map(|c| norm(c)).fold(0.0, f64::max);
        let bodies = |k: usize| on.contacts()[closed[k]].bodies;
        let same = |a: usize, b: usize| {
            let close = |(x, y): (&Vec<f64>, &Vec<f64>)| {
                x.iter().zip(y).all(|(x, y)| (x - y).abs() <= ROUNDING * size)
            };
            let [first, second] = [&contacts[a], &contacts[b]];
            bodies(a) == bodies(b)
                && first.law == second.law
                && first.columns.iter().zip(&second.columns).all(close)
        };
        let same_as: Vec<usize> =
            (0..contacts.len()).map(|b| (0..b).find(|&a| same(a, b)).unwrap_or(b)).collect();
        let mass = self.mass.chunks_exact(6).zip(&axes);
        Instant {
            per_body: 3,
            mass: mass.flat_map(|(m, a)| [m[0], m[1], dot(&m[3..], &(a * a).to_array())]).collect(),
            rotors: (self.rotors.into_iter())
                .map(|rotor| Rotor { row: project(&rotor.row), ..rotor })
                .collect(),
            force: project(&self.force),
            joints: self.joints.into_iter().filter_map(planar_row).collect(),
            redundant: self.redundant.into_iter().filter_map(planar_row).collect(),
            contacts,
            tangents,
            same_as,
        }
    }

    /// The contacts that are no others in another depth.
    fn distinct(&self) -> Vec<usize> {
        (0..self.contacts.len()).filter(|&k| self.same_as[k] == k).collect()
    }

    /// The problem of these contacts with all joints, and impulses for it: those of contacts that are the
    /// same go together.
    fn problem_of(&self, contacts: &[usize]) -> Result<(ContactProblem, Vec<f64>), InvalidProblem> {
        let (mut laws, mut bias, mut r, mut entries) = (vec![], vec![], vec![], vec![]);
        let mut add = |constraint: &Constraint, impulse: Vec<f64>| {
            laws.push(constraint.law);
            for (k, column) in constraint.columns.iter().enumerate() {
                let at = bias.len();
                entries
                    .extend(column.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, at, *x)));
                bias.push(constraint.bias[k]);
            }
            r.extend(impulse);
        };
        self.joints.iter().for_each(|joint| add(joint, joint.impulse.clone()));
        for &k in contacts {
            let all = contacts.len() == self.contacts.len();
            let own = (0..self.contacts.len()).filter(|&i| if all { i == k } else { self.same_as[i] == k });
            let mut impulse = vec![0.0; self.contacts[k].impulse.len()];
            own.for_each(|i| impulse.iter_mut().zip(&self.contacts[i].impulse).for_each(|(s, r)| *s += r));
            add(&self.contacts[k], impulse);
        }
        self.redundant.iter().for_each(|joint| add(joint, joint.impulse.clone()));
        let n = self.mass.len();
        let form = Form::Global {
            mass: Sparse::from_triplets(n, n, &self.mass_entries()),
            jacobian_transposed: Sparse::from_triplets(n, bias.len(), &entries),
            force: self.force.clone(),
            bias,
        };
        Ok((ContactProblem::new(laws, form)?, r))
    }

    /// The entries of M + Σ a nᵀn.
    fn mass_entries(&self) -> Vec<(usize, usize, f64)> {
        let mut entries: Vec<_> = self.mass.iter().enumerate().map(|(i, m)| (i, i, *m)).collect();
        for Rotor { inertia, row } in &self.rotors {
            let filled: Vec<(usize, f64)> =
                row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
            for &(i, x) in &filled {
                entries.extend(filled.iter().map(|&(j, y)| (i, j, inertia * x * y)));
            }
        }
        entries
    }

    /// The ranges of all impulses that go with the motion: per joint, then per closed contact.
    pub(super) fn ranges(&self) -> Result<ImpulseRange, InvalidProblem> {
        let distinct = self.distinct();
        let (merged, r) = self.problem_of(&distinct)?;
        let mut ranges = impulse_range(&merged, &r)?;
        let shared = |k: usize| self.same_as.iter().filter(|&&first| first == self.same_as[k]).count() as f64;
        if let ImpulseRange::Ranges { normal, .. } = &mut ranges {
            // Every point has its share of the range of its contact.
            let of = |k: usize| {
                let at = distinct.iter().position(|&d| d == self.same_as[k]);
                at.map_or([0.0; 2], |at| normal[self.joints.len() + at].map(|x| x / shared(k)))
            };
            let of_contacts: Vec<[f64; 2]> = (0..self.contacts.len()).map(of).collect();
            normal.truncate(self.joints.len());
            normal.extend(of_contacts);
        }
        Ok(ranges)
    }

    /// The least contact forces that go with the motion, and the ranges of all.
    pub(super) fn forces(&self) -> Result<InstantForces, InvalidProblem> {
        let ranges = self.ranges()?;
        let all: Vec<usize> = (0..self.contacts.len()).collect();
        let (whole, r) = self.problem_of(&all)?;
        let r = least_contact_impulses(&whole, &r)?.unwrap_or(r);
        let first = row_offsets(&whole.laws);
        let contacts = all.iter().map(|&k| {
            let at = first[self.joints.len() + k];
            let own = &r[at..first[self.joints.len() + k + 1]];
            let friction = own[1..].iter().zip(&self.tangents[k]).map(|(r, t)| *r * *t).sum();
            (own[0], friction)
        });
        Ok(InstantForces { contacts: contacts.collect(), ranges, first: self.joints.len() })
    }

    /// Whether no other forces obey the laws, with this or another motion, where those of this motion are
    /// unique; `None` where it is not known.
    ///
    /// Without friction, and under its associated law, there is one motion: the constraints are convex and
    /// the energy strictly so. Elsewhere every group of bodies that touch is analyzed, where it is small.
    pub(super) fn is_unique_at_all(&self, stepper: &Stepper) -> Option<bool> {
        let rows = &stepper.linearization.joint_rows().rows;
        let bounded = |of_load: bool| {
            rows.iter().any(|row| match row.kind {
                RowKind::Bounded { per_load, .. } => !of_load || per_load > 0.0,
                _ => false,
            })
        };
        if bounded(true) {
            return None;
        }
        let distinct: Vec<&Constraint> = self.distinct().into_iter().map(|k| &self.contacts[k]).collect();
        let all: Vec<&Constraint> = self.joints.iter().chain(distinct).chain(&self.redundant).collect();
        let bodies = |constraint: &Constraint| -> Vec<usize> {
            let moved = |b: &usize| {
                let of_body = b * self.per_body..(b + 1) * self.per_body;
                constraint.columns.iter().any(|column| column[of_body.clone()].iter().any(|x| *x != 0.0))
            };
            (0..self.mass.len() / self.per_body).filter(moved).collect()
        };
        let mut groups = UnionFind::new(self.mass.len() / self.per_body);
        for constraint in &all {
            for pair in bodies(constraint).windows(2) {
                groups.join(pair[0], pair[1]);
            }
        }
        let mut answer = Some(true);
        for group in groups.components() {
            let own = |c: &&&Constraint| bodies(c).first().is_some_and(|b| group.contains(b));
            let own: Vec<&Constraint> = all.iter().filter(own).copied().collect();
            let convex = |law: &Law| {
                let associated = matches!(
                    law,
                    Law::Bilateral | Law::Unilateral | Law::Cone { .. } | Law::ConePlane { .. }
                );
                associated
                    || (law.mu() == 0.0 && matches!(law, Law::Coulomb { .. } | Law::CoulombPlane { .. }))
            };
            if own.iter().all(|c| convex(&c.law)) {
                continue;
            }
            match self.verdict(&group, &own).filter(|_| !bounded(false)) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => answer = None,
            }
        }
        answer
    }

    /// What the analysis of a group of bodies finds of its forces.
    fn verdict(&self, group: &[usize], own: &[&Constraint]) -> Option<bool> {
        let dofs: Vec<usize> =
            group.iter().flat_map(|b| b * self.per_body..(b + 1) * self.per_body).collect();
        let rows: Vec<&Vec<f64>> = own.iter().flat_map(|c| &c.columns).collect();
        if dofs.len() + rows.len() > MAX_ANALYZED {
            return None;
        }
        let n = dofs.len();
        let mut mass = Matrix::zeros(n, n);
        for (i, j, m) in self.mass_entries() {
            let place = |at: usize| dofs.iter().position(|dof| *dof == at);
            if let (Some(i), Some(j)) = (place(i), place(j)) {
                mass[(i, j)] += m;
            }
        }
        let dynamics = Dynamics {
            mass,
            force: dofs.iter().map(|&i| -self.force[i]).collect(),
            jacobian: Matrix::from_fn(rows.len(), n, |i, j| rows[i][dofs[j]]),
            bias: own.iter().flat_map(|c| c.bias.iter().copied()).collect(),
            laws: own.iter().map(|c| c.law).collect(),
        };
        let mut analysis = analyze(&dynamics, &EnumerateOptions::default());
        findings(&dynamics, &mut analysis);
        match analysis.forces_unique {
            Verdict::Proved => Some(true),
            Verdict::Refuted => Some(false),
            Verdict::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::options::StepOptions;
    use super::super::super::test_worlds::on_a_floor;
    use super::super::super::{Forces, Stepper};
    use super::*;
    use crate::world::ShapeKind;

    const WEIGHT: f64 = 9.81;

    /// Forces of a cube at rest on the floor, whose corners differ only in their depth where it is planar.
    fn cube_at_rest(plane: Option<Axis>, mu: f64) -> Forces {
        let cube = ShapeKind::Box { half_extents: DVec3::splat(0.1) };
        let (mut world, state) = on_a_floor(cube, 0.1, [mu, 0.0]);
        world.plane = plane;
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        stepper.step().unwrap();
        stepper.forces().unwrap()
    }

    fn normal_ranges(forces: &Forces) -> Vec<[f64; 2]> {
        let ImpulseRange::Ranges { normal, .. } = &forces.ranges else { panic!("{:?}", forces.ranges) };
        forces.place.iter().flatten().map(|&place| normal[place]).collect()
    }

    /// In the plane two supports carry half of the weight each, and the two points of each share it equally:
    /// nothing is left to choose. In space four corners have a choice.
    #[test]
    fn corners_that_differ_in_depth_are_one_contact_of_a_planar_world() {
        let planar = cube_at_rest(Some(Axis::Y), 0.0);
        assert_eq!((&planar.ranges, planar.contacts.len()), (&ImpulseRange::Unique, 4));
        for (normal, _) in planar.contacts {
            assert!((normal - WEIGHT / 4.0).abs() < 1e-6, "{normal}");
        }
        for [least, largest] in normal_ranges(&cube_at_rest(None, 0.0)) {
            // To the precision of a cone program.
            assert!(least.abs() < 1e-4 && (largest - WEIGHT / 2.0).abs() < 1e-4, "{least} {largest}");
        }
    }

    /// Without friction the motion is unique and forces of four corners are not; those of least norm are
    /// equal.
    #[test]
    fn least_forces_are_shared_equally_and_uniqueness_is_told_apart() {
        let space = cube_at_rest(None, 0.0);
        assert_eq!((space.unique, space.other_motion), (Some(false), false));
        for (normal, friction) in &space.contacts {
            assert!((normal - WEIGHT / 4.0).abs() < 1e-6 && friction.length() < 1e-9, "{normal} {friction}");
        }
        assert_eq!(cube_at_rest(Some(Axis::Y), 0.0).unique, Some(true));
    }

    /// Friction of a planar world is in its plane, whatever its axis.
    #[test]
    fn friction_of_a_planar_world_is_in_its_plane() {
        for (axis, out) in [(Axis::X, DVec3::X), (Axis::Y, DVec3::Y)] {
            for (_, friction) in cube_at_rest(Some(axis), 0.5).contacts {
                assert!(friction.dot(out).abs() < 1e-12, "{friction}");
            }
        }
    }
}
