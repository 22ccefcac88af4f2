//! The terms of a family of systems on a box of parameters: mass, load, gradients, and the bounds of
//! constraints.
//!
//! ```text
//! M(p) ,   F(p) ,   J(p) ,   γ(p)     for all p ∈ P
//! ```
//!
//! Naive bounds of quantities that vanish by cancellation are too wide; the mean value form
//! g(P) ⊂ g(m) + ∂g/∂p(P)·(P − m) is quadratically close.

use super::interval_matrix::IntervalMatrix;
use crate::formula::{AnyFormula, Interval, IntervalDual, Point};
use crate::lagrangian::{Family, Measure, Member};

/// Whether a contact touches, at all points of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Nowhere.
    Open,
    /// Everywhere.
    Closed,
    /// That is not seen.
    Unclear,
}

/// What a box of parameters says of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Consistency {
    /// Joints are closed and no contact penetrates or approaches, to the tolerances; which constraints touch.
    Consistent(Vec<Touch>),
    /// Nowhere on the box is this so.
    Broken,
    /// That is not seen.
    Unclear,
}

/// Coordinates that are known by bounds of their positions and velocities only.
#[derive(Clone, Debug)]
pub(super) struct Enclosed {
    /// Their numbers.
    pub coordinates: Vec<usize>,
    /// Positions.
    pub q: Vec<Interval>,
    /// Velocities.
    pub v: Vec<Interval>,
    /// The positions are the only ones in here.
    pub alone: Vec<Interval>,
    /// The known configuration that lies in there.
    pub from: usize,
}

/// A family on boxes.
pub(super) struct Terms<'a> {
    pub family: &'a Family,
    /// What replaces the formulas of the state, on the box at hand.
    pub enclosed: Option<Enclosed>,
}

impl Terms<'_> {
    /// The member of the family on a box; with a parameter to differentiate by, in the second direction.
    pub fn member(&self, at: &[Interval], by: Option<usize>) -> Member<IntervalDual> {
        let free: Vec<IntervalDual> = at
            .iter()
            .enumerate()
            .map(|(k, &x)| IntervalDual {
                d2: if by == Some(k) { Interval::ONE } else { Interval::ZERO },
                ..IntervalDual::constant(x)
            })
            .collect();
        let mut member = self.family.member(&free);
        if let Some(known) = &self.enclosed {
            // How they change with a parameter is not known.
            let slope = if by.is_some() { Interval::UNDEFINED } else { Interval::ZERO };
            let enclosed = |x: Interval| IntervalDual { d2: slope, d12: slope, ..IntervalDual::constant(x) };
            for (k, &i) in known.coordinates.iter().enumerate() {
                (member.q[i], member.v[i]) = (enclosed(known.q[k]), enclosed(known.v[k]));
            }
        }
        member
    }

    /// F of M a + F = Jᵀ f, then the bias γ of u̇ = J a + γ of each row; `None` where undefined.
    pub fn load<'m>(
        &self,
        member: &Member<IntervalDual>,
        rows: impl Iterator<Item = &'m Measure>,
    ) -> Option<Vec<Interval>> {
        let (system, n) = (&self.family.system, self.family.q.len());
        // Both directions along the motion.
        let mut motion = member.clone();
        for i in 0..n {
            (motion.q[i].d1, motion.q[i].d2) = (member.v[i].value, member.v[i].value);
        }
        (motion.t.d1, motion.t.d2) = (Interval::ONE, Interval::ONE);
        let mut load = Vec::new();
        for i in 0..n {
            let mut along = motion.clone();
            along.q.iter_mut().for_each(|q| q.d1 = Interval::ZERO);
            along.t.d1 = Interval::ZERO;
            along.v[i].d1 = Interval::ONE;
            let at =
                |m: &Member<IntervalDual>, f: &AnyFormula| f.interval(&Point { q: &m.q, v: &m.v, t: m.t });
            let momentum = at(&along, &system.kinetic).d12;
            along.v[i].d1 = Interval::ZERO;
            along.q[i].d1 = Interval::ONE;
            let potential = system.potential.as_ref().map_or(Interval::ZERO, |v| at(&along, v).d1);
            let mut force = momentum - at(&along, &system.kinetic).d1 + potential;
            for given in system.forces.iter().filter(|f| f.coordinate == i) {
                force = force - at(member, &given.value).value;
            }
            load.push(force);
        }
        for measure in rows {
            let x = measure.formula().interval(&Point { q: &motion.q, v: &motion.v, t: motion.t });
            load.push(match measure {
                Measure::Displacement(_) => x.d12,
                Measure::Velocity(_) => x.d1,
            });
        }
        load.iter().all(|x| !x.is_undefined()).then_some(load)
    }

    /// Bounds of the value and of the velocity of a constraint.
    pub fn motion(
        &self,
        measure: &Measure,
        at: &[Interval],
        moving: &[bool],
    ) -> Option<(Interval, Interval)> {
        let wide: Vec<usize> = (0..at.len()).filter(|&k| moving[k] && at[k].width() > 0.0).collect();
        let [mut value, mut velocity] = self.rates(measure, at, None);
        if !wide.is_empty() {
            let middle: Vec<Interval> = at.iter().map(|x| Interval::point(x.middle())).collect();
            let mut point = at.to_vec();
            for &k in &wide {
                point[k] = middle[k];
            }
            let mut central = self.rates(measure, &point, None);
            for &k in &wide {
                let slopes = self.rates(measure, at, Some(k));
                for (sum, slope) in central.iter_mut().zip(slopes) {
                    *sum = *sum + slope * (at[k] - middle[k]);
                }
            }
            // Where a slope is undefined, the naive bound is all there is.
            let both = |naive: Interval, central: Interval| {
                if central.is_undefined() { naive } else { naive.intersect(central) }
            };
            (value, velocity) = (both(value, central[0]), both(velocity, central[1]));
        }
        (!value.is_undefined() && !velocity.is_undefined()).then_some((value, velocity))
    }

    /// Value and velocity of a constraint, or their derivatives by a parameter.
    pub fn rates(&self, measure: &Measure, at: &[Interval], by: Option<usize>) -> [Interval; 2] {
        let member = self.member(at, by);
        let n = self.family.q.len();
        match measure {
            Measure::Displacement(h) => {
                // The first direction is the motion, the second the parameter.
                let mut q = member.q.clone();
                for i in 0..n {
                    (q[i].d1, q[i].d12) = (member.v[i].value, member.v[i].d2);
                }
                let t = IntervalDual { d1: Interval::ONE, ..member.t };
                let x = h.interval(&Point { q: &q, v: &member.v, t });
                if by.is_none() { [x.value, x.d1] } else { [x.d2, x.d12] }
            }
            Measure::Velocity(u) => {
                let x = u.interval(&Point { q: &member.q, v: &member.v, t: member.t });
                [Interval::ZERO, if by.is_none() { x.value } else { x.d2 }]
            }
        }
    }

    /// M = ∂²T/∂q̇∂q̇; `None` where undefined.
    pub fn mass(&self, member: &Member<IntervalDual>) -> Option<IntervalMatrix> {
        let n = self.family.q.len();
        let mut v = member.v.clone();
        let mut entries = vec![Interval::ZERO; n * n];
        for i in 0..n {
            for j in 0..=i {
                v[i].d1 = Interval::ONE;
                v[j].d2 = Interval::ONE;
                let point = Point { q: &member.q, v: &v, t: member.t };
                let entry = self.family.system.kinetic.interval(&point).d12;
                (entries[i * n + j], entries[j * n + i]) = (entry, entry);
                v[i].d1 = Interval::ZERO;
                v[j].d2 = Interval::ZERO;
            }
        }
        let mass = IntervalMatrix::from_fn(n, n, |i, j| entries[i * n + j]);
        mass.is_defined().then_some(mass)
    }

    /// The gradient of a constraint.
    pub fn gradient(&self, measure: &Measure, member: &Member<IntervalDual>) -> Vec<Interval> {
        let (mut q, mut v) = (member.q.clone(), member.v.clone());
        (0..self.family.q.len())
            .map(|i| match measure {
                Measure::Displacement(h) => {
                    q[i].d1 = Interval::ONE;
                    let d = h.interval(&Point { q: &q, v: &v, t: member.t }).d1;
                    q[i].d1 = Interval::ZERO;
                    d
                }
                Measure::Velocity(u) => {
                    v[i].d1 = Interval::ONE;
                    let d = u.interval(&Point { q: &q, v: &v, t: member.t }).d1;
                    v[i].d1 = Interval::ZERO;
                    d
                }
            })
            .collect()
    }
}

/// The accelerations of all rows, from the bias of joints and rows, where as many joints and guides (rows) as
/// coordinates determine the motion.
pub(super) fn determined(
    joints: &IntervalMatrix,
    rows: &IntervalMatrix,
    guides: &[usize],
    bias: &[Interval],
) -> Option<Vec<Interval>> {
    let (n, b) = (rows.cols(), joints.rows());
    if b + guides.len() != n {
        return None;
    }
    let all =
        IntervalMatrix::from_fn(n, n, |i, j| if i < b { joints[(i, j)] } else { rows[(guides[i - b], j)] });
    let right = IntervalMatrix::from_fn(n, 1, |i, _| -bias[if i < b { i } else { b + guides[i - b] }]);
    let a = all.solve(&right)?;
    let row = |i: usize| (0..n).fold(bias[b + i], |sum, j| sum + rows[(i, j)] * a[(j, 0)]);
    Some((0..rows.rows()).map(row).collect())
}
