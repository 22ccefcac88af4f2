//! Formulas of rigid bodies: energies, gaps, slips, and the constraints of joints.
//!
//! ```text
//! T = Σ ½ m ‖ẋ‖² + ½ ω̄ᵀ diag(I) ω̄ + ½ Ī (2 ε·ε̇)² ,     h = n·x_P − d − r ,     h = ‖x_B − x_A‖ − r_A − r_B
//! h = a_A·(x_B − x_A) ,     h = a_A·a_B ,     h = ℓ − ‖x_B − x_A‖ ,     u = t·(ẋ_B − ẋ_A)
//! ```
//!
//! x ∈ ℝ³ and ε ∈ ℝ⁴ of a body are seven coordinates (see [`crate::events::world_system::vectors`]); x_A and
//! x_B are points, a_A and a_B axes that are fixed on bodies or on the ground, n and d a plane, t a tangent.
//! Rows come from [`crate::events::world_system::rows`].

use delassus_solve::linalg::Matrix;

use super::rows;
use super::rows::{Motion, product};
use super::vectors::{
    PER_BODY, Slot, Vector, add, angular_velocity, arm, constant, cross, dot, place, rotated, scale, sub,
    unit, variables, velocity,
};
use crate::formula::{ClosedRow, Formula, Number, Point, Variables};

/// a/‖a‖ with its rate, where a has this one.
fn unit_with_rate(a: Vector<f64>, rate: Vector<f64>) -> [Vector<f64>; 2] {
    let size = dot(a, a).sqrt();
    let n = a.map(|x| x / size);
    [n, sub(rate, scale(n, dot(n, rate))).map(|x| x / size)]
}

/// Rates of the distance between two points on bodies, and its gradient.
fn apart(points: [(Slot, [f64; 3]); 2], at: &Point<'_, f64>, gradient: &mut [f64]) -> [f64; 2] {
    let [first, second] = points.map(|(slot, _)| Motion::new(slot, at));
    let (from, to) = (first.place(points[0].1), second.place(points[1].1));
    let [d, rate, bias]: [Vector<f64>; 3] = std::array::from_fn(|i| sub(to[i], from[i]));
    let size = dot(d, d).sqrt();
    let n = d.map(|x| x / size);
    let along = dot(n, rate);
    let ([arm_a, ..], [arm_b, ..]) = (first.rotated(points[0].1), second.rotated(points[1].1));
    second.push(n, cross(arm_b, n), gradient);
    first.push(scale(n, -1.0), cross(n, arm_a), gradient);
    [along, dot(n, bias) + (dot(rate, rate) - along * along) / size]
}

/// Σ ½ m ‖ẋ‖² + ½ ω̄ᵀ diag(I) ω̄ + ½ Ī (2 ε·ε̇)² over bodies of mass m and principal moments I.
pub(super) struct Kinetic(pub(super) Vec<(f64, [f64; 3])>);

impl Formula for Kinetic {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let mut sum = N::from_f64(0.0);
        for (slot, (mass, inertia)) in self.0.iter().enumerate() {
            let (q, v) = (&at.q[PER_BODY * slot..], &at.v[PER_BODY * slot..]);
            for x in &v[..3] {
                sum = sum + *x * *x * (0.5 * mass);
            }
            for (omega, moment) in angular_velocity(slot, -1.0, at).into_iter().zip(inertia) {
                sum = sum + omega * omega * (0.5 * moment);
            }
            let stretch = q[3] * v[3] + q[4] * v[4] + q[5] * v[5] + q[6] * v[6];
            sum = sum + stretch * stretch * (2.0 * inertia.iter().sum::<f64>() / 3.0);
        }
        sum
    }

    fn kinetic_terms(&self, at: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)> {
        Some(rows::kinetic_terms(&self.0, at))
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// Σ k·x over the coordinates, with constants k.
pub(super) struct Linear(pub(super) Vec<f64>);

impl Formula for Linear {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let terms = self.0.iter().zip(at.q).filter(|(k, _)| **k != 0.0);
        terms.fold(N::from_f64(0.0), |sum, (k, x)| sum + *x * *k)
    }

    fn variables(&self) -> Option<Variables> {
        let positions = (0..self.0.len()).filter(|i| self.0[*i] != 0.0).collect();
        Some(Variables { positions, ..Variables::default() })
    }

    fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        let rate = self.0.iter().zip(at.v).map(|(k, v)| k * v).sum();
        Some(ClosedRow { value: self.eval(at), velocity: rate, bias: 0.0, gradient: self.0.clone() })
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// ‖ε‖² − 1.
pub(super) struct UnitLength(pub(super) usize);

impl Formula for UnitLength {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let q = &at.q[PER_BODY * self.0 + 3..PER_BODY * self.0 + 7];
        q.iter().fold(N::from_f64(-1.0), |sum, x| sum + *x * *x)
    }

    fn variables(&self) -> Option<Variables> {
        let first = PER_BODY * self.0 + 3;
        Some(Variables { positions: (first..first + 4).collect(), ..Variables::default() })
    }

    fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        let (mut velocity, mut bias, mut gradient) = (0.0, 0.0, vec![0.0; at.q.len()]);
        for k in PER_BODY * self.0 + 3..PER_BODY * self.0 + 7 {
            gradient[k] = 2.0 * at.q[k];
            velocity += 2.0 * at.q[k] * at.v[k];
            bias += 2.0 * at.v[k] * at.v[k];
        }
        Some(ClosedRow { value: self.eval(at), velocity, bias, gradient })
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// A ball on a body; of radius 0 it is a point.
#[derive(Clone, Copy)]
pub(super) struct Ball {
    pub(super) slot: Slot,
    pub(super) centre: [f64; 3],
    pub(super) radius: f64,
}

/// Two that may touch: a ball and a fixed plane, or two balls. The normal points to the second.
#[derive(Clone, Copy)]
pub(super) enum Pair {
    Plane { normal: [f64; 3], offset: f64, ball: Ball },
    Balls(Ball, Ball),
}

impl Pair {
    fn slots(&self) -> [Slot; 2] {
        match self {
            Pair::Plane { ball, .. } => [None, ball.slot],
            Pair::Balls(a, b) => [a.slot, b.slot],
        }
    }
}

/// The gap of two.
pub(super) struct Gap(pub(super) Pair);

impl Formula for Gap {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        match self.0 {
            Pair::Plane { normal, offset, ball } => {
                dot(place(ball.slot, ball.centre, at), constant(normal)) - (offset + ball.radius)
            }
            Pair::Balls(a, b) => {
                let d = sub(place(b.slot, b.centre, at), place(a.slot, a.centre, at));
                dot(d, d).sqrt() - (a.radius + b.radius)
            }
        }
    }

    fn variables(&self) -> Option<Variables> {
        Some(variables(&self.0.slots(), false))
    }

    fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        let mut gradient = vec![0.0; at.q.len()];
        let [velocity, bias] = match self.0 {
            Pair::Plane { normal, ball, .. } => {
                let body = Motion::new(ball.slot, at);
                let [_, rate, second] = body.place(ball.centre);
                let [arm, ..] = body.rotated(ball.centre);
                body.push(normal, cross(arm, normal), &mut gradient);
                [dot(normal, rate), dot(normal, second)]
            }
            Pair::Balls(a, b) => apart([(a.slot, a.centre), (b.slot, b.centre)], at, &mut gradient),
        };
        Some(ClosedRow { value: self.eval(at), velocity, bias, gradient })
    }

    fn is_plain(&self) -> bool {
        matches!(self.0, Pair::Plane { .. })
    }
}

/// The velocity of the second at the point of contact, less that of the first, along a tangent: the direction
/// across the normal and `reference`, or across the normal and that.
pub(super) struct Slip {
    pub(super) pair: Pair,
    pub(super) reference: [f64; 3],
    pub(super) second: bool,
}

/// One of two that slide on each other: its body and the arm to the point of contact, with the rate of that.
struct Side<'a> {
    sign: f64,
    body: Motion<'a>,
    arm: Vector<f64>,
    arm_rate: Vector<f64>,
}

impl<'a> Side<'a> {
    fn new(sign: f64, body: Motion<'a>, ball: &Ball, normal: [Vector<f64>; 2]) -> Side<'a> {
        let ([centre, rate, _], r) = (body.rotated(ball.centre), sign * ball.radius);
        let (arm, arm_rate) = (sub(centre, scale(normal[0], r)), sub(rate, scale(normal[1], r)));
        Side { sign, body, arm, arm_rate }
    }
}

impl Formula for Slip {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let (normal, relative): (Vector<N>, Vector<N>) = match self.pair {
            Pair::Plane { normal, ball, .. } => {
                let n = constant(normal);
                let arm = sub(arm(ball.slot, ball.centre, at), scale(n, N::from_f64(ball.radius)));
                (n, velocity(ball.slot, arm, at))
            }
            Pair::Balls(a, b) => {
                let n = unit(sub(place(b.slot, b.centre, at), place(a.slot, a.centre, at)));
                let arm =
                    |ball: &Ball, r: f64| sub(arm(ball.slot, ball.centre, at), scale(n, N::from_f64(r)));
                let (va, vb) =
                    (velocity(a.slot, arm(&a, -a.radius), at), velocity(b.slot, arm(&b, b.radius), at));
                (n, sub(vb, va))
            }
        };
        let first = unit(cross(normal, constant(self.reference)));
        let tangent = if self.second { cross(normal, first) } else { first };
        dot(relative, tangent)
    }

    fn variables(&self) -> Option<Variables> {
        Some(variables(&self.pair.slots(), true))
    }

    fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        let (normal, sides) = match self.pair {
            Pair::Plane { normal, ball, .. } => {
                let normal = [normal, [0.0; 3]];
                (normal, vec![Side::new(1.0, Motion::new(ball.slot, at), &ball, normal)])
            }
            Pair::Balls(a, b) => {
                let [first, second] = [a, b].map(|ball| Motion::new(ball.slot, at));
                let (from, to) = (first.place(a.centre), second.place(b.centre));
                let normal = unit_with_rate(sub(to[0], from[0]), sub(to[1], from[1]));
                (normal, vec![Side::new(-1.0, first, &a, normal), Side::new(1.0, second, &b, normal)])
            }
        };
        let [first, first_rate] =
            unit_with_rate(cross(normal[0], self.reference), cross(normal[1], self.reference));
        let [tangent, tangent_rate] = if self.second {
            [cross(normal[0], first), add(cross(normal[1], first), cross(normal[0], first_rate))]
        } else {
            [first, first_rate]
        };
        let mut gradient = vec![0.0; at.q.len()];
        let (mut value, mut bias) = (0.0, 0.0);
        for Side { sign, body, arm, arm_rate } in sides {
            let [velocity, rate] = body.velocity(arm, arm_rate);
            value += sign * dot(velocity, tangent);
            bias += sign * (dot(rate, tangent) + dot(velocity, tangent_rate));
            let along = scale(tangent, sign);
            body.push(along, cross(arm, along), &mut gradient);
        }
        Some(ClosedRow { value, velocity: value, bias, gradient })
    }

    fn is_plain(&self) -> bool {
        matches!(self.pair, Pair::Plane { .. })
    }
}

/// A frame on a body: its origin and an axis, in the axes of the body or, on the ground, of the world.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) slot: Slot,
    pub(super) origin: [f64; 3],
    pub(super) axes: [[f64; 3]; 3],
}

/// One equation between two frames.
#[derive(Clone, Copy)]
pub(super) enum Lock {
    /// The origin of the second has no displacement along this axis of the first.
    Along(usize),
    /// These axes of the first and of the second are perpendicular.
    Across(usize, usize),
    /// The origins are at this distance; as a rope, at most.
    Distance(f64),
}

/// Such an equation as a formula.
pub(super) struct Held {
    pub(super) frames: [Frame; 2],
    pub(super) lock: Lock,
}

impl Formula for Held {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let [a, b] = &self.frames;
        let apart = || sub(place(b.slot, b.origin, at), place(a.slot, a.origin, at));
        match self.lock {
            Lock::Along(k) => dot(rotated(a.slot, constant(a.axes[k]), at), apart()),
            Lock::Across(k, l) => {
                dot(rotated(a.slot, constant(a.axes[k]), at), rotated(b.slot, constant(b.axes[l]), at))
            }
            Lock::Distance(length) => {
                let d = apart();
                -(dot(d, d).sqrt() - length)
            }
        }
    }

    fn variables(&self) -> Option<Variables> {
        Some(variables(&[self.frames[0].slot, self.frames[1].slot], false))
    }

    fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        let [a, b] = &self.frames;
        let mut gradient = vec![0.0; at.q.len()];
        if let Lock::Distance(_) = self.lock {
            let [velocity, bias] = apart([(a.slot, a.origin), (b.slot, b.origin)], at, &mut gradient);
            gradient.iter_mut().for_each(|g| *g = -*g);
            return Some(ClosedRow { value: self.eval(at), velocity: -velocity, bias: -bias, gradient });
        }
        let (first, second) = (Motion::new(a.slot, at), Motion::new(b.slot, at));
        let [value, velocity, bias] = match self.lock {
            Lock::Across(k, l) => {
                let (p, r) = (first.rotated(a.axes[k]), second.rotated(b.axes[l]));
                let moment = cross(p[0], r[0]);
                first.push([0.0; 3], moment, &mut gradient);
                second.push([0.0; 3], scale(moment, -1.0), &mut gradient);
                product(&p, &r)
            }
            Lock::Along(k) => {
                let axis = first.rotated(a.axes[k]);
                let (from, to) = (first.place(a.origin), second.place(b.origin));
                let d = std::array::from_fn(|i| sub(to[i], from[i]));
                let ([arm_a, ..], [arm_b, ..]) = (first.rotated(a.origin), second.rotated(b.origin));
                second.push(axis[0], cross(arm_b, axis[0]), &mut gradient);
                first.push(scale(axis[0], -1.0), cross(axis[0], add(d[0], arm_a)), &mut gradient);
                product(&axis, &d)
            }
            Lock::Distance(_) => return None,
        };
        Some(ClosedRow { value, velocity, bias, gradient })
    }

    fn is_plain(&self) -> bool {
        !matches!(self.lock, Lock::Distance(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::AnyFormula;
    use crate::lagrangian::{Contact, Joint, Measure, State, System};
    use crate::lagrangian::{Kinematics, Row, kinematics};
    use proptest::prelude::*;

    /// A formula without its closed form.
    struct Plain<F>(F);

    impl<F: Formula> Formula for Plain<F> {
        fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
            self.0.eval(at)
        }
    }

    fn held(formula: impl Formula + 'static, plain: bool) -> AnyFormula {
        if plain { AnyFormula::new(Plain(formula)) } else { AnyFormula::new(formula) }
    }

    /// Two bodies with every formula between them and to the ground.
    fn system(plain: bool) -> System {
        let names: Vec<String> = (0..2 * PER_BODY).map(|i| format!("q{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let masses = Kinetic(vec![(1.5, [0.2, 0.3, 0.4]), (0.7, [0.05, 0.05, 0.02])]);
        let weight = (0..2 * PER_BODY).map(|i| (i as f64).sin()).collect();
        let mut system = System {
            potential: Some(held(Linear(weight), plain)),
            ..System::new("two bodies", &names, held(masses, plain))
        };
        let mut displacements = vec![held(UnitLength(0), plain), held(UnitLength(1), plain)];
        for slots in [[Some(0), Some(1)], [None, Some(1)], [Some(0), None]] {
            let frames = [
                Frame {
                    slot: slots[0],
                    origin: [0.3, -0.2, 0.5],
                    axes: [[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]],
                },
                Frame {
                    slot: slots[1],
                    origin: [-0.1, 0.4, 0.2],
                    axes: [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, -0.8, 0.6]],
                },
            ];
            for lock in [Lock::Along(0), Lock::Along(2), Lock::Across(1, 2), Lock::Distance(0.4)] {
                displacements.push(held(Held { frames, lock }, plain));
            }
        }
        let ball = |slot, centre, radius| Ball { slot, centre, radius };
        let plane =
            Pair::Plane { normal: [0.0, 0.6, 0.8], offset: 0.1, ball: ball(Some(1), [0.2, 0.1, -0.3], 0.2) };
        let balls = Pair::Balls(ball(Some(0), [0.1, 0.0, 0.2], 0.3), ball(Some(1), [0.0, -0.2, 0.1], 0.5));
        let fixed = Pair::Balls(ball(None, [2.0, 1.0, 0.2], 0.3), ball(Some(0), [0.0; 3], 0.5));
        for pair in [plane, balls, fixed] {
            let slip = [false, true].map(|second| {
                Measure::Velocity(held(Slip { pair, reference: [0.36, 0.48, 0.8], second }, plain))
            });
            let gap = Measure::Displacement(held(Gap(pair), plain));
            system.contacts.push(Contact { slip: slip.to_vec(), ..Contact::frictionless("c", gap) });
        }
        for value in displacements {
            system.joints.push(Joint::frictionless("j", Measure::Displacement(value)));
        }
        system
    }

    fn rows(at: &Kinematics) -> Vec<&Row> {
        let contacts = at.contacts.iter().flat_map(|c| std::iter::once(&c.normal).chain(&c.slip));
        contacts.chain(at.joints.iter().map(|j| &j.row)).collect()
    }

    proptest! {
        /// Closed forms and automatic differentiation agree, also where quaternions are not of unit length.
        /// Both round a hundred operations on numbers up to 100.
        #[test]
        fn closed_forms_are_derivatives(
            q in prop::collection::vec(-1.0..1.0_f64, 2 * PER_BODY),
            v in prop::collection::vec(-3.0..3.0_f64, 2 * PER_BODY),
        ) {
            let mut q = q;
            for slot in 0..2 {
                q[PER_BODY * slot + 3] += 2.0;
                // Apart, so that no normal is undefined.
                q[PER_BODY * slot] += 4.0 * slot as f64;
            }
            let state = State { t: 0.0, q, v };
            let (closed, dual) = (kinematics(&system(false), &state).unwrap(), kinematics(&system(true), &state).unwrap());
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (1.0 + x.abs());
            prop_assert!(closed.mass.data().iter().zip(dual.mass.data()).all(|(x, y)| near(*x, *y)));
            prop_assert!(closed.force.iter().zip(&dual.force).all(|(x, y)| near(*x, *y)), "{:?} {:?}", closed.force, dual.force);
            for (i, (a, b)) in rows(&closed).into_iter().zip(rows(&dual)).enumerate() {
                prop_assert!(near(a.velocity, b.velocity) && near(a.bias, b.bias), "{i}: {a:?} {b:?}");
                prop_assert!(a.gradient.iter().zip(&b.gradient).all(|(x, y)| near(*x, *y)), "{i}: {a:?} {b:?}");
            }
            for (a, b) in closed.joints.iter().zip(&dual.joints) {
                prop_assert!(near(a.value, b.value));
            }
            for (a, b) in closed.contacts.iter().zip(&dual.contacts) {
                prop_assert!(near(a.gap, b.gap));
            }
        }
    }
}
