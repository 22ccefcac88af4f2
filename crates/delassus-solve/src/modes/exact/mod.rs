//! All modes of a contact problem in rational arithmetic: the reference for what floating point finds.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws
//! ```
//!
//! a ∈ R^n, f, u ∈ R^m; M may be singular. Elimination of a leaves relations G f + H u = g. Each polyhedral
//! law is a union of cones that are written by generators (`generators`). One cone per constraint makes a
//! polyhedron {x : A x = g, x_j ≥ 0 for the rays}: it is empty or not, and has an affine hull.
//! The acceleration is unique where u and Jᵀf are, and Ker M ∩ Ker J = {0}.

mod components;
mod data;
mod generators;
mod least_norm;
mod list;

pub use data::ExactDynamics;
pub use list::ExactList;

use crate::linalg::{Int, Polyhedron, Tableau, integers};
use crate::problem::{Dynamics, Law, PolyhedralLaw};
use data::Equations;
use generators::{Cone, Generator, Pair};
use num_bigint::Sign;
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

/// The problem with the acceleration eliminated.
struct Modes {
    cones: Vec<Vec<Cone>>,
    offsets: Vec<usize>,
    /// [G | H | g].
    relations: Tableau,
    /// [A | G | H | g] of the coordinates that were eliminated, and which these are: with the denominator of
    /// the relations d, d a_c + A a + G f + H u = g.
    accelerations: Vec<(usize, Vec<Int>)>,
    /// The coordinates that nothing determines: a basis of Ker M ∩ Ker J has one member for each.
    kernel: Vec<usize>,
    /// J times a positive number.
    jacobian: Vec<Vec<Int>>,
    /// n.
    coordinates: usize,
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

/// What a search has found, and how many modes it may still examine.
struct Progress {
    found: Vec<Found>,
    left: u64,
}

impl Modes {
    fn new(equations: Equations) -> Self {
        let Equations { rows, jacobian, cones, coordinates: n } = equations;
        let mut offsets = vec![0];
        for cone in cones.iter().filter_map(|cones| cones.first()?.generators.first()) {
            offsets.push(offsets[offsets.len() - 1] + cone.along.force.len());
        }
        let total = rows.len();
        let mut t = Tableau { rows, denominator: Int::ONE };
        let mut eliminated = vec![None; total];
        let mut kernel = vec![];
        for c in 0..n {
            match (0..total).find(|&r| eliminated[r].is_none() && !t.rows[r][c].is_zero()) {
                Some(r) => {
                    eliminated[r] = Some(c);
                    t.pivot(r, c);
                }
                None => kernel.push(c),
            }
        }
        let (mut relations, mut accelerations) = (vec![], vec![]);
        for (mut row, c) in t.rows.into_iter().zip(eliminated) {
            match c {
                Some(c) => accelerations.push((c, row)),
                None => {
                    row.drain(..n);
                    relations.push(row);
                }
            }
        }
        let relations = Tableau { rows: relations, denominator: t.denominator };
        Modes { cones, offsets, relations, accelerations, kernel, jacobian, coordinates: n }
    }

    /// The generators of a choice with the first row of their constraint.
    fn generators<'a>(
        &'a self,
        choice: &'a [usize],
    ) -> impl Iterator<Item = (usize, &'a Generator)> + Clone + 'a {
        choice
            .iter()
            .enumerate()
            .flat_map(move |(k, &p)| self.cones[k][p].generators.iter().map(move |g| (self.offsets[k], g)))
    }

    /// (f, u) of coefficients of the generators, times the same number.
    fn expand(&self, choice: &[usize], x: &[Int]) -> (Vec<Int>, Vec<Int>) {
        let m = self.jacobian.len();
        let (mut f, mut u) = (vec![Int::ZERO; m], vec![Int::ZERO; m]);
        for ((at, g), x) in self.generators(choice).zip(x).filter(|(_, x)| !x.is_zero()) {
            for (i, (gf, gu)) in g.along.force.iter().zip(&g.along.velocity).enumerate() {
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
                let Pair { force, velocity } = &g.along;
                let parts = force.iter().zip(&relation[at..]).chain(velocity.iter().zip(&relation[m + at..]));
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
    /// left of it, no mode that begins so needs to be examined. `None` where more than `max_modes` modes and
    /// beginnings of modes without solutions would have to be.
    fn all(&self, max_modes: u64) -> Option<Vec<Found>> {
        let mut columns: Vec<(usize, &Generator)> = Vec::new();
        for (k, cones) in self.cones.iter().enumerate() {
            for g in cones.iter().flat_map(|cone| &cone.generators) {
                if !columns.contains(&(k, g)) {
                    columns.push((k, g));
                }
            }
        }
        let tableau = self.equations(columns.iter().map(|&(k, g)| (self.offsets[k], g)));
        let free = columns.iter().map(|(_, g)| g.free).collect();
        let mut progress = Progress { found: Vec::new(), left: max_modes };
        if let Some(p) = Polyhedron::feasible(tableau, free) {
            self.search(&mut Vec::new(), &p, &columns, &mut progress)?;
        }
        Some(progress.found)
    }

    /// All modes that begin with a choice; `p` has the columns of its cones and of all constraints that are
    /// left. `None` where none may be examined any more.
    fn search(
        &self,
        choice: &mut Vec<usize>,
        p: &Polyhedron,
        columns: &[(usize, &Generator)],
        progress: &mut Progress,
    ) -> Option<()> {
        let k = choice.len();
        if k == self.cones.len() {
            progress.left = progress.left.checked_sub(1)?;
            progress.found.extend(self.examine(choice));
            return Some(());
        }
        for (i, cone) in self.cones[k].iter().enumerate() {
            let keep: Vec<bool> =
                columns.iter().map(|(j, g)| *j != k || cone.generators.contains(g)).collect();
            let Some(p) = p.restricted(&keep) else {
                progress.left = progress.left.checked_sub(1)?;
                continue;
            };
            let mut kept = keep.iter();
            let left: Vec<_> = columns.iter().copied().filter(|_| kept.next() == Some(&true)).collect();
            choice.push(i);
            self.search(choice, &p, &left, progress)?;
            choice.pop();
        }
        Some(())
    }

    /// Whether (f, u) lies in every cone of a choice.
    fn in_cones(&self, choice: &[usize], (f, u): &Point) -> bool {
        let value = |form: &Pair, at: usize| -> BigRational {
            let of = |x: &[Int], y: &[BigRational]| -> BigRational {
                x.iter().zip(&y[at..]).filter(|(x, _)| !x.is_zero()).map(|(x, y)| y * x.to_big()).sum()
            };
            of(&form.force, f) + of(&form.velocity, u)
        };
        choice.iter().enumerate().all(|(k, &p)| {
            let (at, cone) = (self.offsets[k], &self.cones[k][p]);
            cone.zero.iter().all(|form| value(form, at).numer().sign() == Sign::NoSign)
                && cone.nonnegative.iter().all(|form| value(form, at).numer().sign() != Sign::Minus)
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
        let modes = match law.polyhedral()? {
            PolyhedralLaw::Bilateral => 1,
            PolyhedralLaw::Unilateral
            | PolyhedralLaw::Sliding { .. }
            | PolyhedralLaw::BilateralSliding { .. } => 2,
            PolyhedralLaw::CoulombPlane { .. } => 4,
            PolyhedralLaw::BilateralCoulombPlane { .. } => 6,
        };
        product.checked_mul(modes)
    })
}

/// All solutions of a problem in rational arithmetic.
pub struct ExactSolutions {
    modes: Modes,
    found: Vec<Found>,
}

impl ExactSolutions {
    /// Those of a problem with well-formed data, in doubles; `None` where a law is not polyhedral or more
    /// than `max_modes` modes and beginnings of modes had to be examined.
    pub fn of(dynamics: &Dynamics, max_modes: u64) -> Option<Self> {
        Self::search(Equations::of_doubles(dynamics)?, max_modes)
    }

    /// As [`ExactSolutions::of`], in the numbers that were written.
    pub fn of_written(dynamics: &ExactDynamics, max_modes: u64) -> Option<Self> {
        Self::search(Equations::of_fractions(dynamics)?, max_modes)
    }

    fn search(equations: Equations, max_modes: u64) -> Option<Self> {
        let modes = Modes::new(equations);
        let found = modes.all(max_modes)?;
        Some(ExactSolutions { modes, found })
    }

    /// What is true of them.
    pub fn answer(&self) -> ExactAnswer {
        let ExactSolutions { modes, found } = self;
        let first = found.first();
        let one = |moves: fn(&Found) -> bool, same: fn(&Found, &Found) -> bool| {
            first.is_some_and(|first| found.iter().all(|x| !moves(x) && same(x, first)))
        };
        let determined = modes.kernel.is_empty();
        let acceleration_unique =
            determined && one(|x| x.motion_moves, |x, y| x.point.1 == y.point.1 && x.effect == y.effect);
        let forces_unique = one(|x| x.force_moves, |x, y| x.point.0 == y.point.0);
        let isolated = if determined { modes.isolated(found).len() } else { 0 };
        ExactAnswer {
            existence: first.is_some(),
            acceleration_unique,
            forces_unique,
            isolated,
            continuum: found.iter().any(|x| x.several) || !determined && first.is_some(),
        }
    }
}

/// The exact answer for a problem with well-formed data, by all its modes; `None` where a law is not
/// polyhedral or more than `max_modes` modes and beginnings of modes had to be examined.
pub fn exact_answer(dynamics: &Dynamics, max_modes: u64) -> Option<ExactAnswer> {
    Some(ExactSolutions::of(dynamics, max_modes)?.answer())
}
