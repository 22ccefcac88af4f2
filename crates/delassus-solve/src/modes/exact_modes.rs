//! All modes of a contact problem in rational arithmetic: the reference for what floating point finds.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws
//! ```
//!
//! a ∈ R^n, f, u ∈ R^m; M may be singular. Elimination of a leaves relations G f + H u = g. Each polyhedral
//! law is a union of cones that are written by generators: open (f = 0, u_n ≥ 0, u_t free), sliding (rays
//! (±1, −μ e) of f), sticking (rays (±1, μ) and (±1, −μ) of f). One cone per constraint makes a polyhedron {x
//! : A x = g, x_j ≥ 0 for the rays}: the simplex method with Bland's rule, in integers, decides whether it is
//! empty, and what its affine hull is. The acceleration is unique where u and Jᵀf are, and Ker M ∩ Ker J =
//! {0}.

use crate::linalg::{Int, Polyhedron, Tableau, integers};
use crate::problem::{Dynamics, Law};
use num_rational::BigRational;

/// What is true of the solutions of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactAnswer {
    /// There is a solution.
    pub existence: bool,
    /// There is exactly one acceleration.
    pub acceleration_unique: bool,
    /// There is exactly one set of forces.
    pub forces_unique: bool,
    /// Number of solutions (a, f) that have no other solution nearby.
    pub isolated: usize,
    /// Whether some solutions (a, f) form a set of dimension one or more.
    pub continuum: bool,
}

impl ExactAnswer {
    /// Existence, unique acceleration, unique forces.
    pub fn answers(&self) -> [bool; 3] {
        [self.existence, self.acceleration_unique, self.forces_unique]
    }
}

/// A direction in (f, u) of one constraint: f and u on its rows.
#[derive(Clone, Debug, PartialEq)]
struct Generator {
    /// May have either sign.
    free: bool,
    force: Vec<Int>,
    velocity: Vec<Int>,
}

impl Generator {
    fn force(free: bool, force: Vec<Int>) -> Self {
        let velocity = vec![Int::ZERO; force.len()];
        Generator { free, force, velocity }
    }

    /// ±1 at one row of u.
    fn velocity(free: bool, dim: usize, row: usize, sign: i64) -> Self {
        let mut velocity = vec![Int::ZERO; dim];
        velocity[row] = Int::Small(sign);
        Generator { free, force: vec![Int::ZERO; dim], velocity }
    }
}

/// A cone of a law.
type Cone = Vec<Generator>;

/// The cones of a law; `None` for laws that are not polyhedral.
fn cones(law: &Law) -> Option<Vec<Cone>> {
    let d = law.dim();
    let tangents_free = || (1..d).map(move |t| Generator::velocity(true, d, t, 1));
    let open =
        || -> Cone { std::iter::once(Generator::velocity(false, d, 0, 1)).chain(tangents_free()).collect() };
    // s(sign, −μ e), over the integers.
    let ray = |sign: f64, mu: f64, e: &[f64]| -> Option<Generator> {
        let mut products = vec![(vec![Int::Small(sign as i64)], Int::ONE)];
        for x in e {
            let ((m, md), (x, xd)) = (integers([-mu].into_iter())?, integers([*x].into_iter())?);
            products.push((vec![m[0].times(&x[0])], md.times(&xd)));
        }
        // Powers of two: the largest denominator is a common one.
        let common = products.iter().map(|p| p.1.to_big()).max()?;
        let whole = |(n, d): &(Vec<Int>, Int)| Int::of_big(n[0].to_big() * &common / d.to_big());
        Some(Generator::force(false, products.iter().map(whole).collect()))
    };
    let slide = |sign: f64, mu: f64, e: &[f64]| -> Option<Cone> {
        Some(std::iter::once(ray(sign, mu, e)?).chain(tangents_free()).collect())
    };
    // At rest: slip in either direction, or none.
    let at_rest = |sign: f64, mu: f64| -> Option<Vec<Cone>> {
        let (forward, backward) = (ray(sign, mu, &[1.0])?, ray(sign, mu, &[-1.0])?);
        let moving = |r: &Generator, s: i64| vec![r.clone(), Generator::velocity(false, d, 1, s)];
        let mut out = vec![moving(&forward, 1), moving(&backward, -1)];
        out.push(if mu == 0.0 { vec![forward] } else { vec![forward, backward] });
        Some(out)
    };
    match *law {
        Law::Bilateral => Some(vec![vec![Generator::force(true, vec![Int::ONE])]]),
        Law::Unilateral => Some(vec![open(), vec![ray(1.0, 0.0, &[])?]]),
        Law::Sliding { mu, slip } => Some(vec![open(), slide(1.0, mu, slip.components())?]),
        Law::BilateralSliding { mu, slip } => {
            Some(vec![slide(1.0, mu, slip.components())?, slide(-1.0, mu, slip.components())?])
        }
        Law::CoulombPlane { mu } => Some(std::iter::once(open()).chain(at_rest(1.0, mu)?).collect()),
        Law::BilateralCoulombPlane { mu } => {
            Some(at_rest(1.0, mu)?.into_iter().chain(at_rest(-1.0, mu)?).collect())
        }
        Law::Coulomb { .. }
        | Law::CoulombEllipse { .. }
        | Law::Cone { .. }
        | Law::ConePlane { .. }
        | Law::ConeRolling { .. }
        | Law::Rolling { .. }
        | Law::BilateralCoulomb { .. } => None,
    }
}

/// The problem with the acceleration eliminated.
struct Modes {
    cones: Vec<Vec<Cone>>,
    offsets: Vec<usize>,
    /// [G | H | g].
    relations: Tableau,
    /// Dimension of Ker M ∩ Ker J.
    kernel: usize,
    /// J times a positive number.
    jacobian: Vec<Vec<Int>>,
}

/// f and u, as they are.
type Point = (Vec<BigRational>, Vec<BigRational>);

/// The solutions of one mode.
struct Found {
    choice: Vec<usize>,
    /// One of them.
    point: Point,
    /// Jᵀf there, times a positive number.
    effect: Vec<BigRational>,
    /// Whether there are others, whether f changes among them, whether u or Jᵀf do.
    several: bool,
    force_moves: bool,
    motion_moves: bool,
}

impl Modes {
    fn new(dynamics: &Dynamics) -> Option<Self> {
        let (n, m) = (dynamics.mass.rows(), dynamics.jacobian.rows());
        let cones = dynamics.laws.iter().map(cones).collect::<Option<Vec<_>>>()?;
        let mut offsets = vec![0];
        for law in &dynamics.laws {
            offsets.push(offsets[offsets.len() - 1] + law.dim());
        }
        let mut rows = Vec::with_capacity(n + m);
        for i in 0..n {
            // M a − Jᵀ f = −F.
            let a = (0..n).map(|j| dynamics.mass[(i, j)]);
            let f = (0..m).map(|k| -dynamics.jacobian[(k, i)]);
            let u = (0..m).map(|_| 0.0);
            rows.push(integers(a.chain(f).chain(u).chain([-dynamics.force[i]]))?.0);
        }
        for k in 0..m {
            // −J a + u = γ.
            let a = (0..n).map(|j| -dynamics.jacobian[(k, j)]);
            let f = (0..m).map(|_| 0.0);
            let u = (0..m).map(|l| if l == k { 1.0 } else { 0.0 });
            rows.push(integers(a.chain(f).chain(u).chain([dynamics.bias[k]]))?.0);
        }
        let mut t = Tableau { rows, denominator: Int::ONE };
        let mut used = vec![false; n + m];
        let mut kernel = 0;
        for c in 0..n {
            match (0..n + m).find(|&r| !used[r] && !t.rows[r][c].is_zero()) {
                Some(r) => {
                    used[r] = true;
                    t.pivot(r, c);
                }
                None => kernel += 1,
            }
        }
        let mut gone = used.iter();
        t.rows.retain(|_| gone.next() == Some(&false));
        for row in &mut t.rows {
            row.drain(..n);
        }
        let all = integers((0..m).flat_map(|k| (0..n).map(move |j| dynamics.jacobian[(k, j)])))?.0;
        let jacobian = (0..m).map(|k| all[k * n..(k + 1) * n].to_vec()).collect();
        Some(Modes { cones, offsets, relations: t, kernel, jacobian })
    }

    /// The generators of a choice with the first row of their constraint.
    fn generators<'a>(
        &'a self,
        choice: &'a [usize],
    ) -> impl Iterator<Item = (usize, &'a Generator)> + Clone + 'a {
        choice
            .iter()
            .enumerate()
            .flat_map(move |(k, &p)| self.cones[k][p].iter().map(move |g| (self.offsets[k], g)))
    }

    /// (f, u) of coefficients of the generators, times the same number.
    fn expand(&self, choice: &[usize], x: &[Int]) -> (Vec<Int>, Vec<Int>) {
        let m = self.jacobian.len();
        let (mut f, mut u) = (vec![Int::ZERO; m], vec![Int::ZERO; m]);
        for ((at, g), x) in self.generators(choice).zip(x).filter(|(_, x)| !x.is_zero()) {
            for (i, (gf, gu)) in g.force.iter().zip(&g.velocity).enumerate() {
                f[at + i] = f[at + i].plus(&gf.times(x));
                u[at + i] = u[at + i].plus(&gu.times(x));
            }
        }
        (f, u)
    }

    /// Jᵀf, times a positive number.
    fn effect(&self, f: &[Int]) -> Vec<Int> {
        let n = self.jacobian.first().map_or(0, Vec::len);
        let at = |j: usize| {
            self.jacobian.iter().zip(f).fold(Int::ZERO, |sum, (row, f)| sum.plus(&row[j].times(f)))
        };
        (0..n).map(at).collect()
    }

    /// G f + H u = g in the coefficients of generators, each with the first row of its constraint.
    fn equations<'a>(&self, generators: impl Iterator<Item = (usize, &'a Generator)> + Clone) -> Tableau {
        let m = self.jacobian.len();
        let row = |relation: &Vec<Int>| {
            let column = |(at, g): (usize, &Generator)| {
                let parts =
                    g.force.iter().zip(&relation[at..]).chain(g.velocity.iter().zip(&relation[m + at..]));
                parts
                    .filter(|(x, y)| !x.is_zero() && !y.is_zero())
                    .fold(Int::ZERO, |sum, (x, y)| sum.plus(&x.times(y)))
            };
            generators.clone().map(column).chain([relation[2 * m].clone()]).collect()
        };
        Tableau {
            rows: self.relations.rows.iter().map(row).collect(),
            denominator: self.relations.denominator.clone(),
        }
    }

    fn examine(&self, choice: &[usize]) -> Option<Found> {
        let free: Vec<bool> = self.generators(choice).map(|(_, g)| g.free).collect();
        let tableau = self.equations(self.generators(choice));
        let mut p = Polyhedron::feasible(tableau, free)?;
        let (f, u) = self.expand(choice, &p.point());
        let denominator = p.tableau.denominator.to_big();
        let whole = |x: &[Int]| -> Vec<BigRational> {
            x.iter().map(|x| BigRational::new(x.to_big(), denominator.clone())).collect()
        };
        let effect = whole(&self.effect(&f));
        let point = (whole(&f), whole(&u));
        let mut found = Found {
            choice: choice.to_vec(),
            point,
            effect,
            several: false,
            force_moves: false,
            motion_moves: false,
        };
        if p.basis.len() < p.free.len() {
            for x in p.directions() {
                let (f, u) = self.expand(choice, &x);
                found.several = true;
                found.force_moves |= f.iter().any(|x| !x.is_zero());
                found.motion_moves |= u.iter().chain(&self.effect(&f)).any(|x| !x.is_zero());
            }
        }
        Some(found)
    }

    /// The modes that hold solutions. A mode sets the generators that are not of its cones to zero: the
    /// polyhedron of all generators of all cones is cut down constraint by constraint, and where nothing is
    /// left of it, no mode that begins so needs to be examined.
    fn all(&self) -> Vec<Found> {
        let mut columns: Vec<(usize, &Generator)> = Vec::new();
        for (k, cones) in self.cones.iter().enumerate() {
            for g in cones.iter().flatten() {
                if !columns.contains(&(k, g)) {
                    columns.push((k, g));
                }
            }
        }
        let tableau = self.equations(columns.iter().map(|&(k, g)| (self.offsets[k], g)));
        let free = columns.iter().map(|(_, g)| g.free).collect();
        let mut found = Vec::new();
        if let Some(p) = Polyhedron::feasible(tableau, free) {
            self.search(&mut Vec::new(), &p, &columns, &mut found);
        }
        found
    }

    /// All modes that begin with a choice; `p` has the columns of its cones and of all constraints that are
    /// left.
    fn search(
        &self,
        choice: &mut Vec<usize>,
        p: &Polyhedron,
        columns: &[(usize, &Generator)],
        found: &mut Vec<Found>,
    ) {
        let k = choice.len();
        if k == self.cones.len() {
            found.extend(self.examine(choice));
            return;
        }
        for (i, cone) in self.cones[k].iter().enumerate() {
            let keep: Vec<bool> = columns.iter().map(|(j, g)| *j != k || cone.contains(g)).collect();
            if let Some(p) = p.restricted(&keep) {
                let mut kept = keep.iter();
                let left: Vec<_> = columns.iter().copied().filter(|_| kept.next() == Some(&true)).collect();
                choice.push(i);
                self.search(choice, &p, &left, found);
                choice.pop();
            }
        }
    }

    /// Whether (f, u) lies in every cone of a choice.
    fn in_cones(&self, choice: &[usize], (f, u): &Point) -> bool {
        choice.iter().enumerate().all(|(k, &p)| {
            let (at, end) = (self.offsets[k], self.offsets[k + 1]);
            let cone = &self.cones[k][p];
            // A cone contains a point and all its positive multiples: take one with integer entries.
            let values: Vec<&BigRational> = f[at..end].iter().chain(&u[at..end]).collect();
            let common = values.iter().fold(num_bigint::BigInt::from(1), |d, x| d * x.denom());
            let rows = (0..values.len())
                .map(|i| {
                    let d = end - at;
                    let entry =
                        |g: &Generator| if i < d { g.force[i].clone() } else { g.velocity[i - d].clone() };
                    let value = Int::of_big(values[i].numer() * &common / values[i].denom());
                    cone.iter().map(entry).chain([value]).collect()
                })
                .collect();
            let free = cone.iter().map(|g| g.free).collect();
            Polyhedron::feasible(Tableau { rows, denominator: Int::ONE }, free).is_some()
        })
    }
}

/// Whether some x has A x = g with x_j ≥ 0 where not free, exactly; each row is one of A with its entry of g.
/// `None` where a number is not finite.
pub fn feasible(rows: &[Vec<f64>], free: Vec<bool>) -> Option<bool> {
    let rows = rows.iter().map(|row| Some(integers(row.iter().copied())?.0)).collect::<Option<_>>()?;
    Some(Polyhedron::feasible(Tableau { rows, denominator: Int::ONE }, free).is_some())
}

/// Number of modes of a problem; `None` where a law is not polyhedral or the number is beyond counting.
pub fn mode_count(laws: &[Law]) -> Option<u64> {
    laws.iter().try_fold(1u64, |product, law| {
        let modes = match law {
            Law::Bilateral => 1,
            Law::Unilateral | Law::Sliding { .. } | Law::BilateralSliding { .. } => 2,
            Law::CoulombPlane { .. } => 4,
            Law::BilateralCoulombPlane { .. } => 6,
            Law::Coulomb { .. }
            | Law::CoulombEllipse { .. }
            | Law::Cone { .. }
            | Law::ConePlane { .. }
            | Law::ConeRolling { .. }
            | Law::Rolling { .. }
            | Law::BilateralCoulomb { .. } => return None,
        };
        product.checked_mul(modes)
    })
}

/// The exact answer for a problem with well-formed data, by all its modes; `None` where a law is not
/// polyhedral or there are more than `max_modes` modes.
pub fn exact_answer(dynamics: &Dynamics, max_modes: u64) -> Option<ExactAnswer> {
    if mode_count(&dynamics.laws)? > max_modes {
        return None;
    }
    let modes = Modes::new(dynamics)?;
    let found = modes.all();
    let first = found.first();
    let one = |moves: fn(&Found) -> bool, same: fn(&Found, &Found) -> bool| {
        first.is_some_and(|first| found.iter().all(|x| !moves(x) && same(x, first)))
    };
    let acceleration_unique =
        modes.kernel == 0 && one(|x| x.motion_moves, |x, y| x.point.1 == y.point.1 && x.effect == y.effect);
    let forces_unique = one(|x| x.force_moves, |x, y| x.point.0 == y.point.0);
    let (sets, points): (Vec<&Found>, Vec<&Found>) = found.iter().partition(|x| x.several);
    let mut isolated: Vec<&Point> = Vec::new();
    if modes.kernel == 0 {
        for p in points {
            if !isolated.contains(&&p.point) && !sets.iter().any(|s| modes.in_cones(&s.choice, &p.point)) {
                isolated.push(&p.point);
            }
        }
    }
    Some(ExactAnswer {
        existence: first.is_some(),
        acceleration_unique,
        forces_unique,
        isolated: isolated.len(),
        continuum: !sets.is_empty() || (modes.kernel > 0 && first.is_some()),
    })
}
