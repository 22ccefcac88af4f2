//! What holds on one box of parameters: whether its state is possible, and how many answers there are.
//!
//! ```text
//! joints closed, no contact penetrates or approaches, within tolerances ;     W = J M⁻¹ Jᵀ ,   q = γ − J M⁻¹ F
//! ```
//!
//! with the joints without friction held.

use super::answers::{Answers, Count, Friction, Own};
use super::bounds::Bounds;
use super::formula::Dual;
use super::matrix::{Matrix, is_positive_definite, matrix, solve};
use super::system::{Closed, Constraint, System};

/// Whether a constraint is closed, everywhere on the box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Open,
    Closed,
    Unclear,
}

/// What is claimed of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    EveryLoad,
    ThisLoad,
    NoSolution,
    SeveralSolutions,
    SomeLoad,
    NoState,
    Undecided,
}

impl Reason {
    /// By its word in a certificate.
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "every-load" => Reason::EveryLoad,
            "this-load" => Reason::ThisLoad,
            "no-solution" => Reason::NoSolution,
            "several-solutions" => Reason::SeveralSolutions,
            "some-load" => Reason::SomeLoad,
            "no-state" => Reason::NoState,
            "undecided" => Reason::Undecided,
            _ => return None,
        })
    }

    pub fn is_proved(self) -> bool {
        matches!(self, Reason::EveryLoad | Reason::ThisLoad)
    }

    pub fn is_refuted(self) -> bool {
        matches!(self, Reason::NoSolution | Reason::SeveralSolutions | Reason::SomeLoad)
    }
}

/// A box: parameters, then angles of sliding.
pub struct Part<'a> {
    pub system: &'a System,
    pub at: &'a [Bounds],
    pub closed: Option<&'a Closed>,
}

/// W, q and what moves.
struct Numbers {
    w: Matrix,
    q: Vec<Bounds>,
    /// Accelerations of all rows, where joints determine them whatever the forces.
    determined: Option<Vec<Bounds>>,
}

impl Part<'_> {
    fn parameters(&self) -> &[Bounds] {
        &self.at[..self.system.parameters.len()]
    }

    /// Whether a claim is proved.
    pub fn proves(&self, reason: Reason) -> bool {
        let state = self.state();
        match (reason, &state) {
            (Reason::Undecided, _) => true,
            (Reason::NoState, Some(Err(()))) => true,
            (Reason::NoState, _) | (_, None | Some(Err(()))) => false,
            (_, Some(Ok(touch))) => self.answers(touch, reason).unwrap_or(false),
        }
    }

    /// Which constraints are closed; `Err` where no point has a possible state, `None` where that is not
    /// seen.
    fn state(&self) -> Option<Result<Vec<Touch>, ()>> {
        let system = self.system;
        let (gaps, speeds) = (system.position_tolerance.lo, system.velocity_tolerance.lo);
        let outside = |x: Bounds, most: f64| x.lo > most || x.hi < -most;
        let mut touch = Vec::new();
        for (k, constraint) in system.constraints.iter().enumerate() {
            let follows = system.follows.as_ref().is_some_and(|[_, joints]| joints.contains(&k));
            if !constraint.is_contact && follows {
                touch.push(Touch::Closed);
                continue;
            }
            let [gap, velocity] = system.motion(&constraint.row, self.parameters(), self.closed);
            if gap.is_undefined() || velocity.is_undefined() {
                return None;
            }
            if !constraint.is_contact {
                if outside(gap, gaps) || outside(velocity, speeds) {
                    return Some(Err(()));
                }
                if gap.magnitude() > gaps || velocity.magnitude() > speeds {
                    return None;
                }
                touch.push(Touch::Closed);
                continue;
            }
            let touches = gap.lo >= -gaps && gap.hi <= gaps;
            if gap.hi < -gaps || (touches && velocity.hi < -speeds) {
                return Some(Err(()));
            }
            let open = gap.lo > gaps || (gap.lo >= -gaps && velocity.lo > speeds);
            if !open && (gap.lo < -gaps || velocity.lo < -speeds) {
                return None;
            }
            touch.push(match (open, touches && velocity.hi <= speeds) {
                (true, _) => Touch::Open,
                (_, true) => Touch::Closed,
                _ => Touch::Unclear,
            });
        }
        Some(Ok(touch))
    }

    /// Whether a claim about answers is proved on a box with a possible state.
    fn answers(&self, touch: &[Touch], reason: Reason) -> Option<bool> {
        let values = self.system.values(self.parameters(), None, self.closed);
        let numbers = self.numbers(&values)?;
        let choices = self.frictions(touch, &values, &numbers)?;
        let ask = |choice: &Vec<Own>| Answers { w: &numbers.w, q: &numbers.q, all: choice.clone() };
        let every = choices.iter().all(|c| ask(c).one_for_every_load());
        if every || reason == Reason::EveryLoad {
            return Some(every && reason.is_proved());
        }
        if touch.contains(&Touch::Unclear) {
            return Some(false);
        }
        // Directions of sliding that are not those of the state change the load too: then every load is
        // meant.
        if self.system.any_load || self.system.any_slip {
            let mut each = choices.iter().map(|c| ask(c).not_one_for_some_load());
            let bad = if self.system.any_slip { each.any(|bad| bad) } else { each.all(|bad| bad) };
            return Some(bad && reason == Reason::SomeLoad);
        }
        let claimed = match reason {
            Reason::ThisLoad => Count::One,
            Reason::NoSolution => Count::None,
            Reason::SeveralSolutions => Count::Several,
            _ => return Some(false),
        };
        Some(choices.iter().all(|c| ask(c).count() == Some(claimed)))
    }

    /// Whether a constraint has rows of its own in W: a contact, or a joint with friction.
    fn has_rows(c: &Constraint) -> bool {
        c.is_contact || !c.slip.is_empty()
    }

    fn numbers(&self, values: &[Dual]) -> Option<Numbers> {
        let system = self.system;
        let mass = system.mass(values);
        if !is_positive_definite(&mass) {
            return None;
        }
        let all = &system.constraints;
        let held: Vec<(Vec<Bounds>, Bounds)> =
            all.iter().filter(|c| !Self::has_rows(c)).map(|c| system.row(&c.row, values)).collect();
        let (mut rows, mut guides) = (Vec::new(), Vec::new());
        for c in all.iter().filter(|c| Self::has_rows(c)) {
            if !c.is_contact {
                guides.push(rows.len());
            }
            rows.push(system.row(&c.row, values));
            rows.extend(c.slip.iter().map(|m| system.row(m, values)));
        }
        let (n, b, m) = (mass.len(), held.len(), rows.len());
        let saddle = matrix(n + b, n + b, |i, j| match (i < n, j < n) {
            (true, true) => mass[i][j],
            (true, false) => -held[j - n].0[i],
            (false, true) => held[i - n].0[j],
            (false, false) => Bounds::ZERO,
        });
        let force = system.force(values);
        let right = matrix(n + b, m + 1, |i, j| match (i < n, j < m) {
            (true, true) => rows[j].0[i],
            (false, true) => Bounds::ZERO,
            (true, false) => -force[i],
            (false, false) => -held[i - n].1,
        });
        let x = solve(&saddle, &right)?;
        let respond = |i: usize, j: usize| {
            rows[i].0.iter().zip(&x).fold(Bounds::ZERO, |sum, (g, own)| sum + *g * own[j])
        };
        let w = matrix(m, m, |i, j| respond(i, j).and(respond(j, i)));
        let q: Vec<Bounds> = (0..m).map(|i| rows[i].1 + respond(i, m)).collect();
        // As many joints as coordinates determine the motion.
        let determined = (b + guides.len() == n).then(|| {
            let row = |i: usize| if i < b { &held[i] } else { &rows[guides[i - b]] };
            let a = solve(&matrix(n, n, |i, j| row(i).0[j]), &matrix(n, 1, |i, _| -row(i).1))?;
            let along =
                |r: &(Vec<Bounds>, Bounds)| r.0.iter().zip(&a).fold(r.1, |sum, (g, own)| sum + *g * own[0]);
            Some(rows.iter().map(along).collect())
        });
        let defined = w.iter().flatten().chain(&q).all(|x| !x.is_undefined());
        defined.then(|| Numbers { w, q, determined: determined.flatten() })
    }

    /// The constraints that may be closed, for each choice of directions of sliding that is possible; `None`
    /// where some constraint may slide or rest.
    fn frictions(&self, touch: &[Touch], values: &[Dual], numbers: &Numbers) -> Option<Vec<Vec<Own>>> {
        let system = self.system;
        let mut choices: Vec<Vec<Own>> = vec![vec![]];
        let (mut row, mut angle) = (0, system.parameters.len());
        for (c, touch) in system.constraints.iter().zip(touch).filter(|(c, _)| Self::has_rows(c)) {
            let here = row;
            row += 1 + c.slip.len();
            let own_angle = system.has_angle(c).then_some(angle);
            angle += usize::from(own_angle.is_some());
            let (kinetic, at_rest) = (c.mu_kinetic.at(values).value, c.mu_static.at(values).value);
            // Undefined friction is no better than negative one.
            if !(kinetic.lo >= 0.0 && at_rest.lo >= 0.0) {
                return None;
            }
            if *touch == Touch::Open {
                continue;
            }
            let own = |friction| Own { row: here, is_contact: c.is_contact, friction };
            let slides = |e: Vec<Bounds>| own(Friction::Slides { mu: kinetic, e });
            let one = Bounds::ONE;
            let possible = if system.any_slip {
                match (c.slip.len(), own_angle) {
                    (0, _) => vec![slides(vec![])],
                    (1, _) => vec![slides(vec![one]), slides(vec![-one])],
                    (_, Some(k)) => vec![slides(vec![self.at[k].cos(), self.at[k].sin()])],
                    _ => return None,
                }
            } else {
                self.directions(c, [at_rest, kinetic], numbers, here)?.into_iter().map(own).collect()
            };
            // Joints first: the places of choices are those of constraints.
            choices = choices
                .iter()
                .flat_map(|chosen| {
                    possible.iter().map(move |own| [&chosen[..], std::slice::from_ref(own)].concat())
                })
                .collect();
        }
        Some(choices)
    }

    /// What the friction of a constraint may do, by the velocity of its slip.
    fn directions(
        &self,
        c: &Constraint,
        [at_rest, kinetic]: [Bounds; 2],
        numbers: &Numbers,
        row: usize,
    ) -> Option<Vec<Friction>> {
        let rest = self.system.velocity_tolerance;
        let velocity: Vec<Bounds> =
            c.slip.iter().map(|s| self.system.motion(s, self.parameters(), self.closed)[1]).collect();
        if velocity.iter().any(|v| v.is_undefined()) {
            return None;
        }
        let slides = |e: Vec<Bounds>| Friction::Slides { mu: kinetic, e };
        let one = Bounds::ONE;
        let smooth = at_rest == Bounds::ZERO && kinetic == Bounds::ZERO;
        // Where a joint rests for a moment and is determined to turn, friction opposes its acceleration.
        let turns = || {
            let rate = numbers.determined.as_ref().map(|all| all[row + 1]);
            !c.is_contact && rate.is_some_and(|x| x.lo > 0.0 || x.hi < 0.0)
        };
        match *velocity.as_slice() {
            [] => Some(vec![slides(vec![])]),
            [v] if v.lo > rest.hi => Some(vec![slides(vec![one])]),
            [v] if v.hi < -rest.hi => Some(vec![slides(vec![-one])]),
            [a, b] if (a.square() + b.square()).sqrt().lo > rest.hi => {
                let speed = (a.square() + b.square()).sqrt();
                let unit = Bounds::new(-1.0, 1.0);
                Some(vec![slides(vec![(a / speed).and(unit), (b / speed).and(unit)])])
            }
            [_] if turns() => Some(vec![slides(vec![one]), slides(vec![-one])]),
            _ if smooth => Some(vec![slides(vec![Bounds::ZERO; velocity.len()])]),
            [v] if v.magnitude() <= rest.lo => Some(vec![Friction::Rests { mu: at_rest, tangents: 1 }]),
            [a, b] if (a.square() + b.square()).sqrt().hi <= rest.lo => {
                Some(vec![Friction::Rests { mu: at_rest, tangents: 2 }])
            }
            _ => None,
        }
    }
}
