//! Coordinates that joints determine, enclosed over boxes of parameters.
//!
//! ```text
//! h(p, x) = 0 ,   p ∈ P :     K(X) = x̃ − Y h(P, x̃) + (I − Y ∂h/∂x(P, X)) (X − x̃) ,   K(X) ⊂ int X
//! ```
//!
//! Where Krawczyk's operator K maps X into its interior, every p ∈ P has exactly one x ∈ X that closes the
//! joints, it lies in K(X), and it depends continuously on p. A mechanism can be assembled in several ways;
//! the one that is meant goes on continuously from the configuration of the file. From one point to another
//! that is proved by boxes of parameters that hold both, in which the two configurations lie in one X.

use delassus_solve::linalg::Matrix;

use super::interval_matrix::IntervalMatrix;
use crate::formula::{Interval, IntervalDual, Point};
use crate::lagrangian::{Family, Measure, Member};

/// How often a way between two points is halved.
const MAX_HALVINGS: usize = 12;
/// Steps of Newton's method towards a configuration.
const NEWTON: usize = 20;
/// How often X is widened until K(X) lies inside.
const WIDENINGS: usize = 8;

/// A point and the one configuration there that is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The point: parameters in the order of the file.
    pub p: Vec<f64>,
    /// It lies in here.
    pub x: Vec<Interval>,
    /// It is the only one in here.
    pub alone: Vec<Interval>,
    /// The one that it goes on from, and a box that holds both: the only configurations in it at all points
    /// of the box that both points span.
    pub from: Option<(usize, Vec<Interval>)>,
}

/// The coordinates that joints determine, over a box.
pub(super) struct Enclosure {
    /// The configuration is the only one in here, at each point.
    pub alone: Vec<Interval>,
    /// It lies in here.
    pub tight: Vec<Interval>,
    /// Its velocities.
    pub velocity: Vec<Interval>,
    /// The configuration of a known point in the box that lies in here too.
    pub from: usize,
}

/// Joints that close, and the coordinates that they determine.
#[derive(Clone, Debug)]
pub(super) struct LoopClosure<'a> {
    family: &'a Family,
    equations: Vec<&'a Measure>,
    unknowns: Vec<usize>,
    /// Configurations that are proved to go on from the first.
    known: Vec<Configuration>,
}

/// Where exactly one configuration lies, for each point of a box.
struct Alone {
    /// It is the only one in here.
    alone: Vec<Interval>,
    /// It lies in here.
    tight: Vec<Interval>,
}

fn inside(inner: &[Interval], outer: &[Interval]) -> bool {
    inner.iter().zip(outer).all(|(a, b)| a.lo >= b.lo && a.hi <= b.hi)
}

fn strictly_inside(inner: &[Interval], outer: &[Interval]) -> bool {
    inner.iter().zip(outer).all(|(a, b)| a.lo > b.lo && a.hi < b.hi)
}

fn middles(x: &[Interval]) -> Vec<f64> {
    x.iter().map(|x| x.middle()).collect()
}

fn points(x: &[f64]) -> Vec<Interval> {
    x.iter().map(|&x| Interval::point(x)).collect()
}

impl<'a> LoopClosure<'a> {
    /// The closure of these joints by these coordinates, from the configuration of the file at `p` on; `None`
    /// where that cannot be closed, or not in one way only.
    pub fn new(
        family: &'a Family,
        equations: Vec<&'a Measure>,
        unknowns: Vec<usize>,
        p: &[f64],
    ) -> Option<Self> {
        let mut closure = LoopClosure { family, equations, unknowns, known: vec![] };
        let member = family.member::<f64>(p);
        let guess: Vec<f64> = closure.unknowns.iter().map(|&i| member.q[i]).collect();
        let Alone { alone, tight } = closure.at_point(p, &guess)?;
        closure.known.push(Configuration { p: p.to_vec(), x: tight, alone, from: None });
        Some(closure)
    }

    /// The coordinates that are determined.
    pub fn unknowns(&self) -> &[usize] {
        &self.unknowns
    }

    /// The joints that hold them, of those of the system.
    pub fn joints(&self) -> Vec<usize> {
        let all = self.family.system.joints.iter().enumerate();
        let holds = |m: &Measure| self.equations.iter().any(|h| std::ptr::eq(*h, m));
        all.filter(|(_, joint)| holds(&joint.value)).map(|(k, _)| k).collect()
    }

    /// Configurations that are proved to go on from the first.
    pub fn known(self) -> Vec<Configuration> {
        self.known
    }

    /// The configuration and its velocities over a box.
    pub fn enclose(&mut self, p: &[Interval]) -> Option<Enclosure> {
        let from = self.reach(&middles(p))?;
        let at_middle = &self.known[from].x;
        let Alone { alone, tight } = self.krawczyk(p, &middles(at_middle))?;
        if !inside(at_middle, &alone) {
            return None;
        }
        let velocity = self.velocity(p, &tight)?;
        Some(Enclosure { alone, tight, velocity, from })
    }

    /// The configuration at a point, reached from the nearest known one.
    fn reach(&mut self, p: &[f64]) -> Option<usize> {
        let distance =
            |k: usize| self.known[k].p.iter().zip(p).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let nearest = (0..self.known.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
        if self.known[nearest].p == p {
            return Some(nearest);
        }
        self.follow(nearest, p, MAX_HALVINGS)
    }

    /// From a known configuration to that at another point, continuously.
    fn follow(&mut self, from: usize, to: &[f64], halvings: usize) -> Option<usize> {
        if let Some((Alone { alone, tight }, region)) = self.one_step(&self.known[from], to) {
            let from = Some((from, region));
            self.known.push(Configuration { p: to.to_vec(), x: tight, alone, from });
            return Some(self.known.len() - 1);
        }
        let start = &self.known[from].p;
        let middle: Vec<f64> = start.iter().zip(to).map(|(a, b)| 0.5 * a + 0.5 * b).collect();
        if halvings == 0 || middle == *start || middle == to {
            return None;
        }
        let half = self.follow(from, &middle, halvings - 1)?;
        self.follow(half, to, halvings - 1)
    }

    fn one_step(&self, from: &Configuration, to: &[f64]) -> Option<(Alone, Vec<Interval>)> {
        let hull: Vec<Interval> =
            from.p.iter().zip(to).map(|(&a, &b)| Interval::new(a.min(b), a.max(b))).collect();
        let half = self.newton(&middles(&hull), &middles(&from.x))?;
        let region = self.krawczyk(&hull, &half)?.alone;
        let x = self.at_point(to, &half)?;
        (inside(&from.x, &region) && inside(&x.tight, &region)).then_some((x, region))
    }

    /// The one configuration near a guess, at a point.
    fn at_point(&self, p: &[f64], guess: &[f64]) -> Option<Alone> {
        self.krawczyk(&points(p), &self.newton(p, guess)?)
    }

    fn newton(&self, p: &[f64], guess: &[f64]) -> Option<Vec<f64>> {
        let (p, mut x) = (points(p), guess.to_vec());
        for _ in 0..NEWTON {
            let h = middles(&self.values(&p, &points(&x)));
            let step = self.inverse(&p, &points(&x))?.mul_vec(&h);
            x.iter_mut().zip(&step).for_each(|(x, s)| *x -= s);
            if !x.iter().all(|x| x.is_finite()) {
                return None;
            }
            if step.iter().zip(&x).all(|(s, x)| s.abs() <= 1e-15 * (1.0 + x.abs())) {
                break;
            }
        }
        Some(x)
    }

    fn krawczyk(&self, p: &[Interval], x: &[f64]) -> Option<Alone> {
        let (middle, n) = (points(&middles(p)), x.len());
        let at = points(x);
        let y = self.inverse(&middle, &at)?;
        let y = IntervalMatrix::from_fn(n, n, |i, j| Interval::point(y[(i, j)]));
        let times = |m: &IntervalMatrix, v: &[Interval]| -> Vec<Interval> {
            (0..n).map(|i| (0..n).fold(Interval::ZERO, |sum, j| sum + m[(i, j)] * v[j])).collect()
        };
        let base = times(&y, &self.central_values(p, &middle, &at));
        let operator = |wide: &[Interval]| -> Option<Vec<Interval>> {
            let gradients = y.mul(&self.gradients(p, wide));
            let rest = IntervalMatrix::from_fn(n, n, |i, j| {
                (if i == j { Interval::ONE } else { Interval::ZERO }) - gradients[(i, j)]
            });
            let away: Vec<Interval> = wide.iter().zip(&at).map(|(w, a)| *w - *a).collect();
            let moved = times(&rest, &away);
            let image: Vec<Interval> = (0..n).map(|i| at[i] - base[i] + moved[i]).collect();
            image.iter().all(|x| !x.is_undefined()).then_some(image)
        };
        let wider = |image: &[Interval], factor: f64| -> Vec<Interval> {
            let wide = |(k, x): (usize, &f64)| {
                let radius = (image[k].hi - x).max(x - image[k].lo);
                let radius = factor * radius + 1e-14 * (1.0 + x.abs());
                Interval::new(x - radius, x + radius)
            };
            x.iter().enumerate().map(wide).collect()
        };
        let first: Vec<Interval> = (0..n).map(|i| at[i] - base[i]).collect();
        let mut wide = wider(&first, 1.2);
        for _ in 0..WIDENINGS {
            let image = operator(&wide)?;
            if strictly_inside(&image, &wide) {
                // Every configuration of the box lies in the image, and in that of the image.
                let again = operator(&image)?;
                let tight: Vec<Interval> = image.iter().zip(&again).map(|(a, b)| a.intersect(*b)).collect();
                let tight = if tight.iter().any(|x| x.is_undefined()) { image } else { tight };
                return Some(Alone { alone: wide, tight });
            }
            wide = wider(&image, 1.3);
        }
        None
    }

    /// h(P, x): its mean value form, where that is defined.
    fn central_values(&self, p: &[Interval], middle: &[Interval], x: &[Interval]) -> Vec<Interval> {
        let naive = self.values(p, x);
        let mut central = self.values(middle, x);
        for k in (0..p.len()).filter(|&k| p[k].width() > 0.0) {
            let member = self.member(p, x, Some(k));
            for (sum, h) in central.iter_mut().zip(&self.equations) {
                *sum = *sum + evaluate(h, &member).d2 * (p[k] - middle[k]);
            }
        }
        let both = |(naive, central): (&Interval, &Interval)| {
            if central.is_undefined() { *naive } else { naive.intersect(*central) }
        };
        naive.iter().zip(&central).map(both).collect()
    }

    fn values(&self, p: &[Interval], x: &[Interval]) -> Vec<Interval> {
        let member = self.member(p, x, None);
        self.equations.iter().map(|h| evaluate(h, &member).value).collect()
    }

    fn gradients(&self, p: &[Interval], x: &[Interval]) -> IntervalMatrix {
        let mut member = self.member(p, x, None);
        let n = self.unknowns.len();
        let mut entries = vec![Interval::ZERO; n * n];
        for (j, &unknown) in self.unknowns.iter().enumerate() {
            member.q[unknown].d1 = Interval::ONE;
            for (i, h) in self.equations.iter().enumerate() {
                entries[i * n + j] = evaluate(h, &member).d1;
            }
            member.q[unknown].d1 = Interval::ZERO;
        }
        IntervalMatrix::from_fn(n, n, |i, j| entries[i * n + j])
    }

    /// An approximate inverse of the gradients.
    fn inverse(&self, p: &[Interval], x: &[Interval]) -> Option<Matrix> {
        let gradients = self.gradients(p, x);
        let n = self.unknowns.len();
        let middle = Matrix::from_fn(n, n, |i, j| gradients[(i, j)].middle());
        if !middle.is_finite() {
            return None;
        }
        middle.solve_matrix(&Matrix::identity(n))
    }

    /// The velocities that keep the joints closed: ∂h/∂x ẋ = −ḣ at ẋ = 0.
    fn velocity(&self, p: &[Interval], x: &[Interval]) -> Option<Vec<Interval>> {
        let mut member = self.member(p, x, None);
        for i in 0..self.family.q.len() {
            member.q[i].d1 = if self.unknowns.contains(&i) { Interval::ZERO } else { member.v[i].value };
        }
        member.t.d1 = Interval::ONE;
        let rates: Vec<Interval> = self.equations.iter().map(|h| -evaluate(h, &member).d1).collect();
        let right = IntervalMatrix::from_fn(rates.len(), 1, |i, _| rates[i]);
        let found = self.gradients(p, x).solve(&right)?;
        Some((0..rates.len()).map(|i| found[(i, 0)]).collect())
    }

    /// The member on a box, with the unknowns at their place; differentiated by a parameter in the second
    /// direction.
    fn member(&self, p: &[Interval], x: &[Interval], by: Option<usize>) -> Member<IntervalDual> {
        let free: Vec<IntervalDual> = p
            .iter()
            .enumerate()
            .map(|(k, &x)| IntervalDual {
                d2: if by == Some(k) { Interval::ONE } else { Interval::ZERO },
                ..IntervalDual::constant(x)
            })
            .collect();
        let mut member = self.family.member(&free);
        for (&i, &x) in self.unknowns.iter().zip(x) {
            member.q[i] = IntervalDual::constant(x);
        }
        member
    }
}

fn evaluate(measure: &Measure, member: &Member<IntervalDual>) -> IntervalDual {
    measure.formula().interval(&Point { q: &member.q, v: &member.v, t: member.t })
}
