//! The exact answer to the three questions for small problems, by code that shares no line with the
//! solvers, the modes or the analysis: nothing but the type of rational numbers.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   one branch per constraint: linear equations and inequalities in (a, f)
//! ```
//!
//! Equations are solved one by one for one of the unknowns, which leaves a, f and u as affine functions of
//! fewer and fewer parameters s. What is left at the end of a choice of branches is {s : G s + h ≥ 0};
//! elimination of parameters pair by pair of inequalities (Fourier and Motzkin) says whether it is empty, and
//! between which bounds a component of a or f lies. The answer is unique where all branches give one number.

use std::cmp::Ordering;

use delassus_solve::linalg::Matrix;
use delassus_solve::problem::{Dynamics, Law};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

type Number = BigRational;

/// c₀ + c₁s₁ + c₂s₂ + …
type Affine = Vec<Number>;

fn whole(x: i64) -> Number {
    Number::from(BigInt::from(x))
}

fn number(x: f64) -> Number {
    Number::from_float(x).expect("the data are finite")
}

fn sign(x: &Number) -> i32 {
    match x.numer().sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}

/// x + t y.
fn plus(x: &Affine, t: &Number, y: &Affine) -> Affine {
    if sign(t) == 0 {
        return x.clone();
    }
    x.iter().zip(y).map(|(x, y)| if sign(y) == 0 { x.clone() } else { x + t * y }).collect()
}

fn times(t: &Number, x: &Affine) -> Affine {
    x.iter().map(|x| if sign(x) == 0 { x.clone() } else { t * x }).collect()
}

/// Whether there is a solution, exactly one acceleration, exactly one set of forces.
pub type Answer = [bool; 3];

/// What the branches chosen so far leave of a problem.
#[derive(Clone)]
struct Branch {
    acceleration: Vec<Affine>,
    force: Vec<Affine>,
    velocity: Vec<Affine>,
    /// Each ≥ 0.
    inequalities: Vec<Affine>,
}

impl Branch {
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Affine> {
        let motion = self.acceleration.iter_mut().chain(&mut self.force);
        motion.chain(&mut self.velocity).chain(&mut self.inequalities)
    }

    /// The part where a function is zero; `None` where it is a constant and not zero.
    fn with_zero(mut self, form: &Affine) -> Option<Branch> {
        let Some(k) = (1..form.len()).find(|&k| sign(&form[k]) != 0) else {
            return (sign(&form[0]) == 0).then_some(self);
        };
        // s_k = −(c₀ + Σ c_j s_j)/c_k.
        let inverse = -form[k].recip();
        for x in self.all_mut() {
            let t = &x[k] * &inverse;
            let mut y = plus(x, &t, form);
            y.remove(k);
            *x = y;
        }
        Some(self)
    }

    /// As [`with_zero`](Self::with_zero), for functions that this branch makes of its own ones, one after the
    /// other.
    fn with_zeros(self, forms: &[&dyn Fn(&Branch) -> Affine]) -> Option<Branch> {
        forms.iter().try_fold(self, |b, form| {
            let form = form(&b);
            b.with_zero(&form)
        })
    }

    fn with_positive(mut self, forms: &[&dyn Fn(&Branch) -> Affine]) -> Option<Branch> {
        for form in forms {
            let x = form(&self);
            if x[1..].iter().any(|c| sign(c) != 0) {
                self.inequalities.push(x);
            } else if sign(&x[0]) < 0 {
                return None;
            }
        }
        // Those that became constants on the way.
        let refuted = |x: &Affine| sign(&x[0]) < 0 && x[1..].iter().all(|c| sign(c) == 0);
        (!self.inequalities.iter().any(refuted)).then_some(self)
    }
}

/// The branches of a law at its first row, each made of what is left so far.
fn branches(law: &Law, at: usize, b: &Branch) -> Vec<Branch> {
    let f = |i: usize| move |b: &Branch| b.force[at + i].clone();
    let u = |i: usize| move |b: &Branch| b.velocity[at + i].clone();
    let minus_u = |i: usize| move |b: &Branch| times(&whole(-1), &b.velocity[at + i]);
    // f_i + t f_n.
    let friction = |i: usize, t: Number| move |b: &Branch| plus(&b.force[at + i], &t, &b.force[at]);
    let pressed = |s: i64| move |b: &Branch| times(&whole(s), &b.force[at]);
    let d = law.dim();
    let open = || {
        let zero = |b: Branch| (0..d).try_fold(b, |b, i| b.with_zeros(&[&f(i)]));
        zero(b.clone()).and_then(|b| b.with_positive(&[&u(0)]))
    };
    // s f_n ≥ 0, u_n = 0, f_t = −s μ e f_n.
    let slide = |s: i64, mu: f64, e: &[f64]| {
        let start = b.clone().with_zeros(&[&u(0)]);
        let held = e.iter().enumerate().try_fold(start?, |b, (i, e)| {
            b.with_zeros(&[&friction(1 + i, whole(s) * number(mu) * number(*e))])
        });
        held.and_then(|b| b.with_positive(&[&pressed(s)]))
    };
    let at_rest = |s: i64, mu: f64| {
        let forward = slide(s, mu, &[1.0]).and_then(|b| b.with_positive(&[&u(1)]));
        let backward = slide(s, mu, &[-1.0]).and_then(|b| b.with_positive(&[&minus_u(1)]));
        let limit = number(mu) * whole(s);
        let below = {
            let limit = limit.clone();
            move |b: &Branch| plus(&b.force[at + 1], &limit, &b.force[at])
        };
        let above = move |b: &Branch| plus(&times(&whole(-1), &b.force[at + 1]), &limit, &b.force[at]);
        let stick = b.clone().with_zeros(&[&u(0), &u(1)]);
        [forward, backward, stick.and_then(|b| b.with_positive(&[&pressed(s), &below, &above]))]
    };
    let all: Vec<Option<Branch>> = match law {
        Law::Bilateral => vec![b.clone().with_zeros(&[&u(0)])],
        Law::Unilateral => vec![open(), slide(1, 0.0, &[])],
        Law::Sliding { mu, slip } => vec![open(), slide(1, *mu, slip.components())],
        Law::BilateralSliding { mu, slip } => {
            vec![slide(1, *mu, slip.components()), slide(-1, *mu, slip.components())]
        }
        Law::CoulombPlane { mu } => std::iter::once(open()).chain(at_rest(1, *mu)).collect(),
        Law::BilateralCoulombPlane { mu } => at_rest(1, *mu).into_iter().chain(at_rest(-1, *mu)).collect(),
        _ => panic!("no polyhedral law"),
    };
    all.into_iter().flatten().collect()
}

/// Divided by the size of the first coefficient of a parameter.
fn scaled(x: Affine) -> Affine {
    match x[1..].iter().find(|c| sign(c) != 0) {
        Some(c) => {
            let t = if sign(c) > 0 { c.recip() } else { -c.recip() };
            times(&t, &x)
        }
        None => x,
    }
}

/// Without the parameters at the places listed; `None` where nothing satisfies the inequalities.
fn eliminate(mut rows: Vec<Affine>, mut places: Vec<usize>) -> Option<Vec<Affine>> {
    loop {
        rows = rows.into_iter().map(scaled).collect();
        // The tightest of those with the same coefficients.
        rows.sort_by(|x, y| x[1..].cmp(&y[1..]).then_with(|| x[0].cmp(&y[0])));
        rows.dedup_by(|later, first| later[1..] == first[1..]);
        let is_constant = |x: &Affine| x[1..].iter().all(|c| sign(c) == 0);
        if rows.iter().any(|x| is_constant(x) && sign(&x[0]) < 0) {
            return None;
        }
        rows.retain(|x| !is_constant(x));
        assert!(rows.len() < 5000, "too many inequalities");
        let count = |k: usize, s: i32| rows.iter().filter(|x| sign(&x[k]) == s).count();
        let Some(at) = (0..places.len()).min_by_key(|&i| count(places[i], 1) * count(places[i], -1)) else {
            return Some(rows);
        };
        let k = places.swap_remove(at);
        let mut next: Vec<Affine> = rows.iter().filter(|x| sign(&x[k]) == 0).cloned().collect();
        for low in rows.iter().filter(|x| sign(&x[k]) > 0) {
            for high in rows.iter().filter(|x| sign(&x[k]) < 0) {
                next.push(plus(&times(&-high[k].clone(), low), &low[k], high));
            }
        }
        rows = next;
    }
}

/// The one value of a function where the inequalities hold; `None` where it has several.
fn value(form: &Affine, rows: &[Affine]) -> Option<Number> {
    let Some(k) = (1..form.len()).find(|&k| sign(&form[k]) != 0) else { return Some(form[0].clone()) };
    // t = form in the place of s_k: s_k = (t − c₀ − Σ c_j s_j)/c_k.
    let in_t = |x: &Affine| {
        let mut y = plus(x, &-(&x[k] / &form[k]), form);
        y[k] = &x[k] / &form[k];
        y
    };
    let others = (1..form.len()).filter(|&j| j != k).collect();
    let rows = eliminate(rows.iter().map(in_t).collect(), others).expect("there is a point");
    let bound = |s: i32| {
        let bounds = rows.iter().filter(|x| sign(&x[k]) == s).map(|x| -(&x[0] / &x[k]));
        bounds.reduce(|x, y| if (x.cmp(&y) == Ordering::Less) == (s > 0) { y } else { x })
    };
    // s > 0: t ≥ −c/t, the largest bound; s < 0: t ≤ …, the smallest.
    bound(1).filter(|low| bound(-1).as_ref() == Some(low))
}

/// One number for each component of a and f, as long as there is one.
struct Unique {
    found: bool,
    acceleration: Option<Vec<Number>>,
    force: Option<Vec<Number>>,
}

fn search(laws: &[(usize, Law)], b: &Branch, unique: &mut Unique) {
    if unique.found && unique.acceleration.is_none() && unique.force.is_none() {
        return;
    }
    if let Some(((at, law), rest)) = laws.split_first() {
        for next in branches(law, *at, b) {
            search(rest, &next, unique);
        }
        return;
    }
    let parameters = b.force.iter().chain(&b.acceleration).next().map_or(0, |x| x.len() - 1);
    if eliminate(b.inequalities.clone(), (1..=parameters).collect()).is_none() {
        return;
    }
    let found = std::mem::replace(&mut unique.found, true);
    let merge = |old: &mut Option<Vec<Number>>, forms: &[Affine]| {
        if found && old.is_none() {
            return;
        }
        let new: Option<Vec<Number>> = forms.iter().map(|x| value(x, &b.inequalities)).collect();
        *old = match old.take() {
            Some(old) => new.filter(|new| *new == old),
            None => new,
        };
    };
    merge(&mut unique.acceleration, &b.acceleration);
    merge(&mut unique.force, &b.force);
}

fn answer(laws: &[Law], start: Option<Branch>) -> Answer {
    let mut at = 0;
    let mut order: Vec<(usize, Law)> = Vec::new();
    for law in laws {
        order.push((at, *law));
        at += law.dim();
    }
    // Those with one branch first: less is left for the others.
    order.sort_by_key(|(_, law)| *law != Law::Bilateral);
    let mut unique = Unique { found: false, acceleration: None, force: None };
    if let Some(b) = start {
        search(&order, &b, &mut unique);
    }
    [unique.found, unique.acceleration.is_some(), unique.force.is_some()]
}

/// The k-th of d parameters.
fn parameter(k: usize, d: usize) -> Affine {
    (0..=d).map(|j| whole(i64::from(j == k + 1))).collect()
}

/// The answer for a contact problem with polyhedral laws.
pub fn of_dynamics(p: &Dynamics) -> Answer {
    let (n, m) = (p.mass.rows(), p.bias.len());
    let d = n + m;
    let acceleration: Vec<Affine> = (0..n).map(|i| parameter(i, d)).collect();
    let force: Vec<Affine> = (0..m).map(|k| parameter(n + k, d)).collect();
    let row = |constant: f64, coefficients: &dyn Fn(usize) -> f64| -> Affine {
        std::iter::once(number(constant)).chain((0..d).map(|j| number(coefficients(j)))).collect()
    };
    let velocity =
        (0..m).map(|k| row(p.bias[k], &|j| if j < n { p.jacobian[(k, j)] } else { 0.0 })).collect();
    let balance: Vec<Affine> = (0..n)
        .map(|i| row(p.force[i], &|j| if j < n { p.mass[(i, j)] } else { -p.jacobian[(j - n, i)] }))
        .collect();
    // The equations become part of the branch, so that each is written in what the ones before have left.
    let inequalities = balance;
    let mut b = Branch { acceleration, force, velocity, inequalities };
    for _ in 0..n {
        let equation = b.inequalities.remove(0);
        match b.with_zero(&equation) {
            Some(next) => b = next,
            None => return [false; 3],
        }
    }
    answer(&p.laws, Some(b))
}

/// Whether w = M z + q, 0 ≤ z ⊥ w ≥ 0 (w = 0 where free) has a solution.
pub fn solvable(matrix: &Matrix, q: &[f64], free: &[bool]) -> bool {
    let laws: Vec<Law> = free.iter().map(|f| if *f { Law::Bilateral } else { Law::Unilateral }).collect();
    solvable_contacts(matrix, q, &laws)
}

/// Whether u = W f + q with polyhedral laws has a solution.
pub fn solvable_contacts(matrix: &Matrix, q: &[f64], laws: &[Law]) -> bool {
    let n = q.len();
    let velocity = (0..n)
        .map(|i| std::iter::once(q[i]).chain(matrix.row(i).iter().copied()).map(number).collect())
        .collect();
    let force = (0..n).map(|k| parameter(k, n)).collect();
    answer(laws, Some(Branch { acceleration: vec![], force, velocity, inequalities: vec![] }))[0]
}
