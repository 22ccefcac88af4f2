//! The sliding contact problem of a family of systems on a whole box of parameters, and whether it is proved
//! to have exactly one solution for every load at every point of the box.
//!
//! ```text
//! [ M  −Jᵦᵀ ] [a]   [Jᵀ]
//! [ Jᵦ   0  ] [λ] = [0 ] ,   W = J a ,   LCP matrix A(μ, e) from W as in 000 eq. 58 ,   A is a P-matrix
//! ```
//!
//! with M the mass, Jᵦ joints without friction, J the normals and tangents of guides with friction and of
//! contacts, e the directions of sliding. All entries are intervals that hold the true values at every point
//! of the box. For a P-matrix the problem has exactly one solution whatever the load (000 App. A); every
//! principal submatrix is a P-matrix too, so contacts that open do no harm.
//!
//! What must hold of the state is proved too: joints closed, no penetration, no approach, each to the
//! tolerances. Naive bounds of such quantities, which vanish by cancellation, are too wide; the mean value
//! form g(P) ⊂ g(m) + ∂g/∂p(P)·(P − m) is quadratically close.

use std::collections::HashMap;
use std::rc::Rc;

use super::interval_matrix::{IntervalMatrix, P_MATRIX_MAX};
use crate::formula::{AnyFormula, Interval, IntervalDual, Number, Point};
use crate::lagrangian::{Family, Measure, Member, Tolerances};

/// How many entries of W are remembered, over all boxes: 160 MB.
const MAX_REMEMBERED: usize = 10_000_000;

/// What was found out about a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Exactly one solution, everywhere on it.
    Proved,
    /// The state, the mass or the constraints are not bounded well enough; only the parameters that they
    /// depend on matter.
    StateUnclear,
    /// Friction may be too much.
    FrictionUnclear,
}

/// A guide with friction or a contact: its rows of W, one normal and then its tangents.
struct Constraint<'a> {
    normal: &'a Measure,
    slip: &'a [Measure],
    mu_static: &'a AnyFormula,
    mu_kinetic: &'a AnyFormula,
    is_contact: bool,
    /// The dimension of the box that is the angle of its slip direction, if any.
    angle: Option<usize>,
}

/// What depends on the state alone.
struct Kinematic {
    /// W on all rows of all constraints, joints without friction held.
    w: IntervalMatrix,
    /// Slip velocities of all constraints.
    slip: Vec<Vec<Interval>>,
    /// Whether each constraint may be closed somewhere in the box.
    closed: Vec<bool>,
}

/// Proves that the contact problem has exactly one solution, box by box.
pub(super) struct Prover<'a> {
    family: &'a Family,
    tolerances: Tolerances,
    any_slip: bool,
    constraints: Vec<Constraint<'a>>,
    joints: Vec<&'a Measure>,
    parameters: usize,
    dimensions: usize,
    /// Which parameters the state, the mass and the constraints depend on.
    moving: Vec<bool>,
    /// Kinematics by the bounds of the parameters it depends on.
    known: HashMap<Vec<u64>, Option<Rc<Kinematic>>>,
    /// How many boxes were looked at.
    pub(super) boxes: usize,
    /// How often kinematics was computed and not remembered.
    pub(super) evaluations: usize,
}

impl<'a> Prover<'a> {
    /// A prover for the family. Boxes have the free parameters in the order of the file, then, with
    /// `any_slip`, one angle of slip for each spatial constraint with friction.
    pub(super) fn new(family: &'a Family, tolerances: Tolerances, any_slip: bool) -> Self {
        let parameters = family.free().count();
        let mut constraints = Vec::new();
        let mut joints = Vec::new();
        let mut dimensions = parameters;
        let mut angle = |slips: usize| {
            let has = any_slip && slips == 2;
            dimensions += usize::from(has);
            has.then(|| dimensions - 1)
        };
        for joint in &family.system.joints {
            if joint.slip.is_empty() {
                joints.push(&joint.value);
                continue;
            }
            constraints.push(Constraint {
                normal: &joint.value,
                slip: &joint.slip,
                mu_static: &joint.mu,
                mu_kinetic: &joint.mu,
                is_contact: false,
                angle: angle(joint.slip.len()),
            });
        }
        for contact in &family.system.contacts {
            constraints.push(Constraint {
                normal: &contact.normal,
                slip: &contact.slip,
                mu_static: &contact.mu_static,
                mu_kinetic: &contact.mu_kinetic,
                is_contact: true,
                angle: angle(contact.slip.len()),
            });
        }
        Prover {
            family,
            tolerances,
            any_slip,
            constraints,
            joints,
            parameters,
            dimensions,
            moving: vec![true; parameters],
            known: HashMap::new(),
            boxes: 0,
            evaluations: 0,
        }
    }

    /// Normals and tangents of all constraints, in the order of the rows of W.
    fn measures(&self) -> impl Iterator<Item = &'a Measure> {
        self.constraints.iter().flat_map(|c| std::iter::once(c.normal).chain(c.slip))
    }

    /// How many angles of slip the boxes have.
    pub(super) fn angles(&self) -> usize {
        self.dimensions - self.parameters
    }

    /// Finds out, at a point, which parameters matter for the state and which for friction; the first part is
    /// used to remember kinematics, the whole is returned.
    ///
    /// A parameter that is set to "undefined" makes everything undefined that is computed from it.
    pub(super) fn find_dependence(&mut self, at: &[Interval]) -> Vec<bool> {
        let mut matters = vec![true; self.dimensions];
        if self.kinematic_terms(&at[..self.parameters]).is_none() {
            return matters;
        }
        for k in 0..self.parameters {
            let mut poisoned = at[..self.parameters].to_vec();
            poisoned[k] = Interval::UNDEFINED;
            let member = self.member(&poisoned, None);
            let undefined = |x: &IntervalDual| x.value.is_undefined();
            // Gradients may lack what values have: the gap y − d has the gradient of y.
            let mut measures = self.joints.iter().copied().chain(self.measures());
            let moves = undefined(&member.t)
                || member.q[..self.family.q.len()].iter().chain(&member.v).any(undefined)
                || measures.any(|m| self.rates(m, &poisoned, None).iter().any(|x| x.is_undefined()))
                || self.mass(&member).is_none()
                || self.all_rows(&member).is_none();
            drop(measures);
            self.moving[k] = moves;
            let point = Point { q: &member.q, v: &member.v, t: member.t };
            let friction = self.constraints.iter().flat_map(|c| [c.mu_static, c.mu_kinetic]);
            matters[k] = self.moving[k] || friction.into_iter().any(|mu| undefined(&mu.interval(&point)));
        }
        matters
    }

    /// Whether a dimension is a parameter that the state, the mass or the constraints depend on.
    pub(super) fn moves(&self, dimension: usize) -> bool {
        self.moving.get(dimension) == Some(&true)
    }

    /// Whether the problem is proved to have exactly one solution on the box.
    pub(super) fn prove(&mut self, at: &[Interval]) -> Finding {
        self.boxes += 1;
        let Some(kinematic) = self.kinematic(at) else { return Finding::StateUnclear };
        if self.friction_is_safe(&kinematic, at) { Finding::Proved } else { Finding::FrictionUnclear }
    }

    fn friction_is_safe(&self, kinematic: &Kinematic, at: &[Interval]) -> bool {
        let member = self.member(&at[..self.parameters], None);
        let point = Point { q: &member.q, v: &member.v, t: member.t };
        let mut directions = Vec::with_capacity(self.constraints.len());
        let mut friction = Vec::with_capacity(self.constraints.len());
        for (k, constraint) in self.constraints.iter().enumerate() {
            let mu = constraint.mu_kinetic.interval(&point).value;
            let rest = constraint.mu_static.interval(&point).value;
            // Negative friction is no system; negated comparisons catch what is undefined.
            if mu.is_undefined() || rest.is_undefined() || mu.lo < 0.0 || rest.lo < 0.0 {
                return false;
            }
            friction.push(mu);
            let Some(found) = self.directions(constraint, &kinematic.slip[k], rest, at) else { return false };
            directions.push(found);
        }
        // Every combination of the directions that are possible.
        let mut choice = vec![0; directions.len()];
        loop {
            let chosen: Vec<&[Interval]> =
                choice.iter().zip(&directions).map(|(&c, d)| d[c].as_slice()).collect();
            if !self.lcp_is_p(kinematic, &friction, &chosen) {
                return false;
            }
            let Some(k) = (0..choice.len()).find(|&k| choice[k] + 1 < directions[k].len()) else {
                return true;
            };
            choice[..k].fill(0);
            choice[k] += 1;
        }
    }

    /// The slip directions that are possible on the box, each a vector of intervals; `None` where the
    /// constraint may be at rest with friction.
    fn directions(
        &self,
        constraint: &Constraint<'_>,
        velocity: &[Interval],
        mu_static: Interval,
        at: &[Interval],
    ) -> Option<Vec<Vec<Interval>>> {
        let one = Interval::ONE;
        if self.any_slip {
            return Some(match (constraint.slip.len(), constraint.angle) {
                (0, _) => vec![vec![]],
                (1, _) => vec![vec![one], vec![-one]],
                (_, Some(k)) => vec![vec![at[k].cos(), at[k].sin()]],
                _ => return None,
            });
        }
        let rest = self.tolerances.velocity;
        match *velocity {
            [] => Some(vec![vec![]]),
            [v] if v.lo > rest => Some(vec![vec![one]]),
            [v] if v.hi < -rest => Some(vec![vec![-one]]),
            [a, b] if (a.powf(2.0) + b.powf(2.0)).sqrt().lo > rest => {
                let speed = (a.powf(2.0) + b.powf(2.0)).sqrt();
                let unit = Interval::new(-1.0, 1.0);
                Some(vec![vec![(a / speed).intersect(unit), (b / speed).intersect(unit)]])
            }
            _ if mu_static == Interval::ZERO => Some(vec![vec![Interval::ZERO; velocity.len()]]),
            _ => None,
        }
    }

    /// Whether the matrix of the LCP in (λ⁻ of guides, λ of contacts) is a P-matrix (000 eq. 58).
    fn lcp_is_p(&self, kinematic: &Kinematic, mu: &[Interval], e: &[&[Interval]]) -> bool {
        let w = &kinematic.w;
        // Rows of W, and the answer of W to the force s·(1, 0) + (0, −μe) of a constraint.
        let mut first = 0;
        let mut offsets = Vec::with_capacity(self.constraints.len());
        for c in &self.constraints {
            offsets.push(first);
            first += 1 + c.slip.len();
        }
        let answer = |row: usize, k: usize, sign: f64| {
            let friction =
                (0..e[k].len()).fold(Interval::ZERO, |sum, i| sum + e[k][i] * w[(row, offsets[k] + 1 + i)]);
            w[(row, offsets[k])] * sign - mu[k] * friction
        };
        let all = 0..self.constraints.len();
        let guides: Vec<usize> = all.clone().filter(|&k| !self.constraints[k].is_contact).collect();
        let contacts: Vec<usize> =
            all.filter(|&k| self.constraints[k].is_contact && kinematic.closed[k]).collect();
        let column = |row: usize, k: usize, flipped: bool| {
            // A guide pulled in the opposite direction: −λ⁻ along (1, +μe).
            if flipped { -answer(row, k, -1.0) } else { answer(row, k, 1.0) }
        };
        let (g, n) = (guides.len(), guides.len() + contacts.len());
        if g == 0 {
            let lcp = |i: usize, j: usize| answer(offsets[contacts[i]], contacts[j], 1.0);
            return IntervalMatrix::from_fn(n, n, lcp).is_p_matrix();
        }
        // The principal minor of a set of unknowns is det G(set)/det G(∅), where G(set) has the guides and
        // the contacts of the set, and the guides of the set are flipped. Solving for λ⁺ first would divide
        // by det G(∅) and lose all digits where it vanishes.
        if n > P_MATRIX_MAX {
            return false;
        }
        let mut common = None;
        (0..1usize << n).all(|set| {
            let members: Vec<usize> = guides
                .iter()
                .copied()
                .chain(contacts.iter().enumerate().filter(|(i, _)| set >> (g + i) & 1 == 1).map(|(_, &k)| k))
                .collect();
            let matrix = IntervalMatrix::from_fn(members.len(), members.len(), |i, j| {
                column(offsets[members[i]], members[j], j < g && set >> j & 1 == 1)
            });
            let sign = matrix.determinant_sign();
            sign.is_some() && *common.get_or_insert(sign) == sign
        })
    }

    fn kinematic(&mut self, at: &[Interval]) -> Option<Rc<Kinematic>> {
        let moving = at[..self.parameters].iter().zip(&self.moving).filter(|(_, moves)| **moves);
        let key: Vec<u64> = moving.flat_map(|(x, _)| [x.lo.to_bits(), x.hi.to_bits()]).collect();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let new = self.kinematic_terms(&at[..self.parameters]).map(Rc::new);
        self.evaluations += 1;
        let rows: usize = self.constraints.iter().map(|c| 1 + c.slip.len()).sum();
        if self.known.len() * (rows * rows).max(8) >= MAX_REMEMBERED {
            self.known.clear();
        }
        self.known.insert(key, new.clone());
        new
    }

    /// Everything that depends on the state; `None` where something is undefined, singular or inconsistent on
    /// the box.
    fn kinematic_terms(&self, at: &[Interval]) -> Option<Kinematic> {
        let tolerances = self.tolerances;
        for joint in &self.joints {
            let (value, velocity) = self.motion(joint, at)?;
            if value.magnitude() > tolerances.position || velocity.magnitude() > tolerances.velocity {
                return None;
            }
        }
        let (mut slip, mut closed) = (Vec::new(), Vec::new());
        for constraint in &self.constraints {
            let (gap, velocity) = self.motion(constraint.normal, at)?;
            let (position, speed) = (tolerances.position, tolerances.velocity);
            if constraint.is_contact {
                let open = gap.lo > position || (gap.lo >= -position && velocity.lo > speed);
                if !open && (gap.lo < -position || velocity.lo < -speed) {
                    return None;
                }
                closed.push(!open);
            } else {
                if gap.magnitude() > position || velocity.magnitude() > speed {
                    return None;
                }
                closed.push(true);
            }
            let velocities: Option<Vec<Interval>> =
                constraint.slip.iter().map(|s| Some(self.motion(s, at)?.1)).collect();
            slip.push(velocities?);
        }
        let member = self.member(at, None);
        let mass = self.mass(&member)?;
        if !mass.is_positive_definite() {
            return None;
        }
        let (joints, rows) = self.all_rows(&member)?;
        let (n, b) = (mass.rows(), joints.rows());
        let system = IntervalMatrix::from_fn(n + b, n + b, |i, j| match (i < n, j < n) {
            (true, true) => mass[(i, j)],
            (true, false) => -joints[(j - n, i)],
            (false, true) => joints[(i - n, j)],
            (false, false) => Interval::ZERO,
        });
        let right =
            IntervalMatrix::from_fn(
                n + b,
                rows.rows(),
                |i, j| {
                    if i < n { rows[(j, i)] } else { Interval::ZERO }
                },
            );
        let x = system.solve(&right)?;
        let acceleration = IntervalMatrix::from_fn(n, rows.rows(), |i, j| x[(i, j)]);
        let w = rows.mul(&acceleration);
        // W is symmetric: both bounds of an entry are true.
        let w = IntervalMatrix::from_fn(w.rows(), w.rows(), |i, j| w[(i, j)].intersect(w[(j, i)]));
        w.is_defined().then_some(Kinematic { w, slip, closed })
    }

    /// The member of the family on a box; with a parameter to differentiate by, in the second direction.
    fn member(&self, at: &[Interval], by: Option<usize>) -> Member<IntervalDual> {
        let free: Vec<IntervalDual> = at
            .iter()
            .enumerate()
            .map(|(k, &x)| IntervalDual {
                d2: if by == Some(k) { Interval::ONE } else { Interval::ZERO },
                ..IntervalDual::constant(x)
            })
            .collect();
        self.family.member(&free)
    }

    /// Bounds of the value and of the velocity of a constraint.
    fn motion(&self, measure: &Measure, at: &[Interval]) -> Option<(Interval, Interval)> {
        let wide: Vec<usize> = (0..at.len()).filter(|&k| self.moving[k] && at[k].width() > 0.0).collect();
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
    fn rates(&self, measure: &Measure, at: &[Interval], by: Option<usize>) -> [Interval; 2] {
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
    fn mass(&self, member: &Member<IntervalDual>) -> Option<IntervalMatrix> {
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

    /// The gradients of joints without friction, and of normals and tangents of all constraints.
    fn all_rows(&self, member: &Member<IntervalDual>) -> Option<(IntervalMatrix, IntervalMatrix)> {
        let joints: Vec<Vec<Interval>> = self.joints.iter().map(|m| self.gradient(m, member)).collect();
        let rows: Vec<Vec<Interval>> = self.measures().map(|m| self.gradient(m, member)).collect();
        let n = self.family.q.len();
        let joints = IntervalMatrix::from_fn(joints.len(), n, |i, j| joints[i][j]);
        let rows = IntervalMatrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
        (joints.is_defined() && rows.is_defined()).then_some((joints, rows))
    }

    fn gradient(&self, measure: &Measure, member: &Member<IntervalDual>) -> Vec<Interval> {
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
