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
//! tolerances.

mod slip;

use std::collections::HashMap;
use std::rc::Rc;

use super::interval_matrix::IntervalMatrix;
use super::interval_sliding::{Count, Sliding};
use super::interval_terms::{Consistency, Enclosed, Terms, Touch, determined};
use super::loop_closure::{Configuration, LoopClosure};
use crate::formula::{AnyFormula, Interval, IntervalDual, Point};
use crate::lagrangian::{Family, Measure, Member, Tolerances};
use slip::Friction;

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

/// What is proved of the answers on a box; the first two are good, the others bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// Exactly one, whatever the load.
    OneForEveryLoad,
    /// Exactly one with the load of the system.
    One,
    /// None with this load.
    None,
    /// At least two with this load.
    Several,
    /// None or several with some load.
    NotOneForSomeLoad,
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
    matrices: Rc<Matrices>,
    /// Whether each constraint may be closed somewhere in the box.
    closed: Vec<bool>,
}

/// W and what moves.
struct Matrices {
    /// W on all rows of all constraints, joints without friction held.
    w: IntervalMatrix,
    /// Slip velocities of all constraints.
    slip: Vec<Vec<Interval>>,
    /// Accelerations of all rows under the load alone; empty where loads are not asked for.
    free: Vec<Interval>,
    /// Accelerations of all rows where joints and guides determine the motion, whatever the forces.
    determined: Option<Vec<Interval>>,
}

/// Proves that the contact problem has exactly one solution, box by box.
pub(super) struct Prover<'a> {
    terms: Terms<'a>,
    tolerances: Tolerances,
    any_slip: bool,
    /// Whether the load of the system is asked for.
    loads: bool,
    constraints: Vec<Constraint<'a>>,
    /// The row of W of the normal of each constraint.
    offsets: Vec<usize>,
    joints: Vec<&'a Measure>,
    /// Coordinates that follow from joints, and these joints.
    closure: Option<(LoopClosure<'a>, Vec<&'a Measure>)>,
    /// Boxes on which these coordinates were enclosed, or could not be.
    enclosed: HashMap<Vec<u64>, Option<Enclosed>>,
    /// Values of the parameters of the file.
    design: Vec<f64>,
    parameters: usize,
    dimensions: usize,
    /// Which parameters the state, the mass and the constraints depend on.
    moving: Vec<bool>,
    /// Kinematics by the bounds of the parameters it depends on.
    known: HashMap<Vec<u64>, Option<Rc<Kinematic>>>,
    /// The matrices alone.
    known_matrices: HashMap<Vec<u64>, Option<Rc<Matrices>>>,
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
        let mut first = 0;
        let offset = |c: &Constraint<'_>| {
            first += 1 + c.slip.len();
            first - 1 - c.slip.len()
        };
        let offsets = constraints.iter().map(offset).collect();
        Prover {
            terms: Terms { family, enclosed: None },
            tolerances,
            any_slip,
            loads: false,
            constraints,
            offsets,
            joints,
            closure: None,
            enclosed: HashMap::new(),
            design: vec![],
            parameters,
            dimensions,
            moving: vec![true; parameters],
            known: HashMap::new(),
            known_matrices: HashMap::new(),
            boxes: 0,
            evaluations: 0,
        }
    }

    /// The prover that asks for the load too, and encloses the coordinates that joints determine.
    pub(super) fn with_load(
        mut self,
        design: &[f64],
        closure: Option<(LoopClosure<'a>, Vec<&'a Measure>)>,
    ) -> Self {
        self.loads = true;
        self.design = design.to_vec();
        self.closure = closure;
        self
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
        if !self.enter(&at[..self.parameters]) || self.kinematic_terms(&at[..self.parameters]).is_none() {
            return matters;
        }
        for k in 0..self.parameters {
            let mut poisoned = at[..self.parameters].to_vec();
            poisoned[k] = Interval::UNDEFINED;
            let member = self.terms.member(&poisoned, None);
            let undefined = |x: &IntervalDual| x.value.is_undefined();
            // Gradients may lack what values have: the gap y − d has the gradient of y.
            let mut measures = self.joints.iter().copied().chain(self.measures());
            let moves = undefined(&member.t)
                || member.q[..self.terms.family.q.len()].iter().chain(&member.v).any(undefined)
                || measures.any(|m| self.terms.rates(m, &poisoned, None).iter().any(|x| x.is_undefined()))
                || self.terms.mass(&member).is_none()
                || self.all_rows(&member).is_none()
                || (self.loads
                    && self
                        .terms
                        .load(&member, self.joints.iter().copied().chain(self.measures()))
                        .is_none());
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
        let safe = self.frictions(&kinematic.matrices, &kinematic.closed, at).is_some_and(|frictions| {
            frictions.iter().all(|f| self.slides(&kinematic.closed, &kinematic.matrices, f, |s| s.is_p()))
        });
        if safe { Finding::Proved } else { Finding::FrictionUnclear }
    }

    /// What is proved of the answers on a box on which the state is consistent.
    pub(super) fn examine(&mut self, at: &[Interval], touch: &[Touch], any_load: bool) -> Option<Answers> {
        self.boxes += 1;
        if !self.enter(&at[..self.parameters]) {
            return None;
        }
        let matrices = self.known_matrices(at)?;
        let closed: Vec<bool> = touch.iter().map(|t| *t != Touch::Open).collect();
        let frictions = self.frictions(&matrices, &closed, at)?;
        if frictions.iter().all(|f| self.slides(&closed, &matrices, f, |s| s.is_p())) {
            return Some(Answers::OneForEveryLoad);
        }
        if touch.contains(&Touch::Unclear) {
            return None;
        }
        // Velocities that are not those of the state change the load too: then every load is meant. One
        // direction that is asked for refutes; those that the state has at some of the points must all do.
        if any_load || self.any_slip {
            let mut each = frictions.iter().map(|f| self.slides(&closed, &matrices, f, |s| s.is_refuted()));
            let refuted = if self.any_slip { each.any(|bad| bad) } else { each.all(|bad| bad) };
            return refuted.then_some(Answers::NotOneForSomeLoad);
        }
        let count = |f: &Friction| self.slides(&closed, &matrices, f, |s| s.count(&matrices.free));
        let first = count(frictions.first()?)?;
        frictions[1..].iter().all(|f| count(f) == Some(first)).then_some(match first {
            Count::None => Answers::None,
            Count::One => Answers::One,
            Count::Several => Answers::Several,
        })
    }

    /// The constraints that may be closed, with their friction, handed on.
    fn slides<T>(
        &self,
        closed: &[bool],
        matrices: &Matrices,
        friction: &Friction,
        ask: impl Fn(&Sliding<'_>) -> T,
    ) -> T {
        let all = 0..self.constraints.len();
        let guides: Vec<usize> = all.clone().filter(|&k| !self.constraints[k].is_contact).collect();
        let contacts: Vec<usize> = all.filter(|&k| self.constraints[k].is_contact && closed[k]).collect();
        let e: Vec<&[Interval]> = friction.e.iter().map(Vec::as_slice).collect();
        ask(&Sliding {
            w: &matrices.w,
            offsets: &self.offsets,
            guides: &guides,
            contacts: &contacts,
            mu: &friction.mu,
            e: &e,
            resting: &friction.resting,
        })
    }

    /// The bounds of the parameters that matter for the state.
    fn key(&self, at: &[Interval]) -> Vec<u64> {
        let moving = at[..self.parameters].iter().zip(&self.moving).filter(|(_, moves)| **moves);
        moving.flat_map(|(x, _)| [x.lo.to_bits(), x.hi.to_bits()]).collect()
    }

    fn kinematic(&mut self, at: &[Interval]) -> Option<Rc<Kinematic>> {
        let key = self.key(at);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let new = self.kinematic_terms(&at[..self.parameters]).map(Rc::new);
        self.evaluations += 1;
        if self.known.len() >= self.memory() {
            self.known.clear();
        }
        self.known.insert(key, new.clone());
        new
    }

    fn known_matrices(&mut self, at: &[Interval]) -> Option<Rc<Matrices>> {
        let key = self.key(at);
        if let Some(known) = self.known_matrices.get(&key) {
            return known.clone();
        }
        let new = self.matrices(&at[..self.parameters]).map(Rc::new);
        if self.known_matrices.len() >= self.memory() {
            self.known_matrices.clear();
        }
        self.known_matrices.insert(key, new.clone());
        new
    }

    /// How many boxes are remembered.
    fn memory(&self) -> usize {
        let rows: usize = self.constraints.iter().map(|c| 1 + c.slip.len()).sum();
        MAX_REMEMBERED / (rows * rows).max(8)
    }

    /// Encloses the coordinates that joints determine, for all that follows; `false` where that fails.
    fn enter(&mut self, at: &[Interval]) -> bool {
        let key = self.key(at);
        let Some((closure, _)) = &mut self.closure else { return true };
        if let Some(known) = self.enclosed.get(&key) {
            self.terms.enclosed = known.clone();
            return known.is_some();
        }
        // What does not move them stays at the values of the file: fewer ways to follow.
        let fixed = |k: usize| if self.moving[k] { at[k] } else { Interval::point(self.design[k]) };
        let at: Vec<Interval> = (0..self.parameters).map(fixed).collect();
        let coordinates = closure.unknowns().to_vec();
        let found = closure.enclose(&at).map(|e| Enclosed {
            coordinates,
            q: e.tight,
            v: e.velocity,
            alone: e.alone,
            from: e.from,
        });
        self.terms.enclosed = found.clone();
        if self.enclosed.len() >= MAX_REMEMBERED / 16 {
            self.enclosed.clear();
        }
        let entered = found.is_some();
        self.enclosed.insert(key, found);
        entered
    }

    /// Everything that depends on the state; `None` where something is undefined, singular or inconsistent on
    /// the box.
    fn kinematic_terms(&self, at: &[Interval]) -> Option<Kinematic> {
        let Consistency::Consistent(touch) = self.consistency(at) else { return None };
        let closed = touch.iter().map(|t| *t != Touch::Open).collect();
        Some(Kinematic { matrices: Rc::new(self.matrices(at)?), closed })
    }

    /// Whether the state is consistent on the box as a whole, and the coordinates that joints determine
    /// there.
    pub(super) fn consistency_of_one(&mut self, at: &[Interval]) -> (Consistency, Option<Enclosed>) {
        if !self.enter(&at[..self.parameters]) {
            return (Consistency::Unclear, None);
        }
        (self.consistency(&at[..self.parameters]), self.terms.enclosed.clone())
    }

    /// The coordinates that joints determine, these joints, and the configurations that were followed.
    pub(super) fn into_configurations(self) -> (Vec<usize>, Vec<usize>, Vec<Configuration>) {
        let Some((closure, _)) = self.closure else { return Default::default() };
        (closure.unknowns().to_vec(), closure.joints(), closure.known())
    }

    /// Whether the state is consistent on the box, divided into `limit` parts at most where needed.
    pub(super) fn consistency_of_parts(&mut self, at: &[Interval], limit: usize) -> Consistency {
        let mut touch: Option<Vec<Touch>> = None;
        let mut waiting = vec![at[..self.parameters].to_vec()];
        let mut parts = 0;
        while let Some(part) = waiting.pop() {
            parts += 1;
            let found = if self.enter(&part) { self.consistency(&part) } else { Consistency::Unclear };
            match found {
                Consistency::Consistent(new) => {
                    let merge = |(a, b): (&Touch, &Touch)| if a == b { *a } else { Touch::Unclear };
                    touch = Some(match &touch {
                        None => new,
                        Some(old) => old.iter().zip(&new).map(merge).collect(),
                    });
                    continue;
                }
                Consistency::Broken if parts == 1 => return Consistency::Broken,
                Consistency::Broken => return Consistency::Unclear,
                Consistency::Unclear => {}
            }
            let share = |k: usize| part[k].width() / at[k].width();
            let widest = (0..part.len())
                .filter(|&k| self.moving[k] && part[k].lo < part[k].middle() && part[k].middle() < part[k].hi)
                .max_by(|&a, &b| share(a).total_cmp(&share(b)));
            let (Some(k), true) = (widest, parts + waiting.len() < limit) else {
                return Consistency::Unclear;
            };
            let (mut low, mut high) = (part.clone(), part);
            (low[k].hi, high[k].lo) = (low[k].middle(), high[k].middle());
            waiting.push(high);
            waiting.push(low);
        }
        touch.map_or(Consistency::Unclear, Consistency::Consistent)
    }

    /// Whether joints are closed, and which contacts touch.
    fn consistency(&self, at: &[Interval]) -> Consistency {
        let Tolerances { position, velocity: speed, .. } = self.tolerances;
        // Some(true): within the tolerance everywhere; Some(false): nowhere.
        let within = |x: Interval, tolerance: f64| {
            let out = x.lo > tolerance || x.hi < -tolerance;
            if out { Some(false) } else { (x.magnitude() <= tolerance).then_some(true) }
        };
        let determined = |m: &Measure| {
            self.closure.as_ref().is_some_and(|(_, joints)| joints.iter().any(|j| std::ptr::eq(*j, m)))
        };
        let guides = self.constraints.iter().filter(|c| !c.is_contact).map(|c| c.normal);
        for joint in self.joints.iter().copied().chain(guides).filter(|m| !determined(m)) {
            let Some((value, velocity)) = self.terms.motion(joint, at, &self.moving) else {
                return Consistency::Unclear;
            };
            match (within(value, position), within(velocity, speed)) {
                (Some(true), Some(true)) => {}
                (Some(false), _) | (_, Some(false)) => return Consistency::Broken,
                _ => return Consistency::Unclear,
            }
        }
        let mut touch = Vec::with_capacity(self.constraints.len());
        for constraint in &self.constraints {
            if !constraint.is_contact {
                touch.push(Touch::Closed);
                continue;
            }
            let Some((gap, velocity)) = self.terms.motion(constraint.normal, at, &self.moving) else {
                return Consistency::Unclear;
            };
            let touches = gap.lo >= -position && gap.hi <= position;
            if gap.hi < -position || (touches && velocity.hi < -speed) {
                return Consistency::Broken;
            }
            let open = gap.lo > position || (gap.lo >= -position && velocity.lo > speed);
            if !open && (gap.lo < -position || velocity.lo < -speed) {
                return Consistency::Unclear;
            }
            touch.push(match (open, touches && velocity.hi <= speed) {
                (true, _) => Touch::Open,
                (_, true) => Touch::Closed,
                _ => Touch::Unclear,
            });
        }
        Consistency::Consistent(touch)
    }

    /// W, slip velocities and, where asked for, accelerations under the load; `None` where something is
    /// undefined or singular on the box.
    fn matrices(&self, at: &[Interval]) -> Option<Matrices> {
        let mut slip = Vec::with_capacity(self.constraints.len());
        for constraint in &self.constraints {
            let velocities: Option<Vec<Interval>> =
                constraint.slip.iter().map(|s| Some(self.terms.motion(s, at, &self.moving)?.1)).collect();
            slip.push(velocities?);
        }
        let member = self.terms.member(at, None);
        let mass = self.terms.mass(&member)?;
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
        let m = rows.rows();
        let load = if self.loads {
            Some(self.terms.load(&member, self.joints.iter().copied().chain(self.measures()))?)
        } else {
            None
        };
        let right = IntervalMatrix::from_fn(n + b, m + usize::from(self.loads), |i, j| match &load {
            _ if j < m => {
                if i < n {
                    rows[(j, i)]
                } else {
                    Interval::ZERO
                }
            }
            Some(load) => -load[i],
            None => Interval::ZERO,
        });
        let x = system.solve(&right)?;
        let acceleration = IntervalMatrix::from_fn(n, m, |i, j| x[(i, j)]);
        let guides: Vec<usize> = (0..self.constraints.len())
            .filter(|&k| !self.constraints[k].is_contact)
            .map(|k| self.offsets[k])
            .collect();
        let determined = load.as_ref().and_then(|load| determined(&joints, &rows, &guides, &load[n..]));
        let free = load.map_or(vec![], |load| {
            let of_row = |i: usize| (0..n).fold(load[n + b + i], |sum, j| sum + rows[(i, j)] * x[(j, m)]);
            (0..m).map(of_row).collect()
        });
        let w = rows.mul(&acceleration);
        // W is symmetric: both bounds of an entry are true.
        let w = IntervalMatrix::from_fn(w.rows(), w.rows(), |i, j| w[(i, j)].intersect(w[(j, i)]));
        let defined = w.is_defined() && free.iter().all(|x: &Interval| !x.is_undefined());
        defined.then_some(Matrices { w, slip, free, determined })
    }

    /// The gradients of joints without friction, and of normals and tangents of all constraints.
    fn all_rows(&self, member: &Member<IntervalDual>) -> Option<(IntervalMatrix, IntervalMatrix)> {
        let joints: Vec<Vec<Interval>> = self.joints.iter().map(|m| self.terms.gradient(m, member)).collect();
        let rows: Vec<Vec<Interval>> = self.measures().map(|m| self.terms.gradient(m, member)).collect();
        let n = self.terms.family.q.len();
        let joints = IntervalMatrix::from_fn(joints.len(), n, |i, j| joints[i][j]);
        let rows = IntervalMatrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
        (joints.is_defined() && rows.is_defined()).then_some((joints, rows))
    }
}
