//! The cones of the polyhedral laws in rational arithmetic, by generators and by forms.
//!
//! ```text
//! C = {Σ xⱼ gⱼ : xⱼ ≥ 0 where not free} = {(f, u) : z·(f, u) = 0 , p·(f, u) ≥ 0}
//! ```
//!
//! f and u have one to three rows. Open: f = 0, u_n ≥ 0, u_t free. Sliding: rays (±1, −μ e) of f, u_n = 0.
//! Sticking: rays (±1, μ) and (±1, −μ) of f, u = 0.

use crate::linalg::Int;
use crate::modes::Mode;
use crate::problem::{Law, PolyhedralLaw};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;

/// A direction in (f, u) of one constraint, or a linear form on it: f and u on its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) force: Vec<Int>,
    pub(super) velocity: Vec<Int>,
}

impl Pair {
    fn force(force: Vec<Int>) -> Self {
        let velocity = vec![Int::ZERO; force.len()];
        Pair { force, velocity }
    }

    fn velocity(velocity: Vec<Int>) -> Self {
        let force = vec![Int::ZERO; velocity.len()];
        Pair { force, velocity }
    }
}

/// A direction of a cone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Generator {
    /// May have either sign.
    pub(super) free: bool,
    pub(super) along: Pair,
}

/// A cone of a law.
#[derive(Clone, Debug)]
pub(super) struct Cone {
    pub(super) mode: Mode,
    pub(super) generators: Vec<Generator>,
    /// These forms vanish.
    pub(super) zero: Vec<Pair>,
    /// These forms are nonnegative.
    pub(super) nonnegative: Vec<Pair>,
}

/// What friction does at a constraint.
pub(super) struct Friction {
    pub(super) mu: BigRational,
    /// The direction of slip, where it slides.
    pub(super) slip: Vec<BigRational>,
}

/// ±1 at one row.
fn unit(dim: usize, row: usize, sign: i64) -> Vec<Int> {
    let mut x = vec![Int::ZERO; dim];
    x[row] = Int::Small(sign);
    x
}

/// (sign, −μ e), times a positive number that makes it whole.
fn ray(sign: i64, mu: &BigRational, e: &[BigRational]) -> Vec<Int> {
    let friction: Vec<BigRational> = e.iter().map(|e| -(mu * e)).collect();
    let common = friction.iter().fold(BigInt::from(1), |d, x| d.lcm(x.denom()));
    let first = Int::of_big(&common * sign);
    let whole = |x: &BigRational| Int::of_big(x.numer() * (&common / x.denom()));
    std::iter::once(first).chain(friction.iter().map(whole)).collect()
}

fn open(d: usize) -> Cone {
    let free = (1..d).map(|t| Generator { free: true, along: Pair::velocity(unit(d, t, 1)) });
    let normal = Pair::velocity(unit(d, 0, 1));
    Cone {
        mode: Mode::Open,
        generators: std::iter::once(Generator { free: false, along: normal.clone() }).chain(free).collect(),
        zero: (0..d).map(|i| Pair::force(unit(d, i, 1))).collect(),
        nonnegative: vec![normal],
    }
}

/// f along a ray, u_n = 0, u_t free.
fn slide(mode: Mode, ray: Vec<Int>) -> Cone {
    let d = ray.len();
    let free = (1..d).map(|t| Generator { free: true, along: Pair::velocity(unit(d, t, 1)) });
    let mut zero = vec![Pair::velocity(unit(d, 0, 1))];
    for t in 1..d {
        // f_t r_n − f_n r_t.
        let mut form = unit(d, t, 1);
        (form[0], form[t]) = (ray[t].negated(), ray[0].clone());
        zero.push(Pair::force(form));
    }
    let nonnegative = vec![Pair::force(unit(d, 0, i64::from(ray[0].sign())))];
    let along = Generator { free: false, along: Pair::force(ray) };
    Cone { mode, generators: std::iter::once(along).chain(free).collect(), zero, nonnegative }
}

/// At rest in the plane: none, or slip in either direction.
fn at_rest(sign: i64, mu: &BigRational) -> Vec<Cone> {
    let one = BigRational::from_integer(BigInt::from(1));
    let rays = [ray(sign, mu, std::slice::from_ref(&one)), ray(sign, mu, &[-one])];
    let moving = |r: &Vec<Int>, s: i64| {
        let mut cone = slide(Mode::Slide, r.clone());
        let slip = Pair::velocity(unit(2, 1, s));
        cone.generators[1] = Generator { free: false, along: slip.clone() };
        cone.nonnegative.push(slip);
        cone
    };
    let same = rays[0] == rays[1];
    let still = vec![Pair::velocity(unit(2, 0, 1)), Pair::velocity(unit(2, 1, 1))];
    let stick = if same {
        // Without friction the two rays are one.
        let mut cone = slide(Mode::Stick, rays[0].clone());
        cone.generators.truncate(1);
        cone.zero.push(still[1].clone());
        cone
    } else {
        // μ|f_n| ± f_t ≥ 0: the rays are (±c, ∓μ c), and the forms vanish on one each.
        let form = |r: &Vec<Int>, s: i64| {
            let slope = if r[1].sign() < 0 { r[1].negated() } else { r[1].clone() };
            let normal = if sign < 0 { slope.negated() } else { slope };
            let size = if r[0].sign() < 0 { r[0].negated() } else { r[0].clone() };
            Pair::force(vec![normal, size.times(&Int::Small(s))])
        };
        let ray = |r: &Vec<Int>| Generator { free: false, along: Pair::force(r.clone()) };
        Cone {
            mode: Mode::Stick,
            generators: rays.iter().map(ray).collect(),
            zero: still,
            nonnegative: vec![form(&rays[0], 1), form(&rays[0], -1)],
        }
    };
    vec![stick, moving(&rays[0], 1), moving(&rays[1], -1)]
}

/// The cones of a law with this friction; `None` for laws that are not polyhedral.
pub(super) fn cones(law: &Law, friction: &Friction) -> Option<Vec<Cone>> {
    let d = law.dim();
    let along = |sign: i64| ray(sign, &friction.mu, &friction.slip);
    match law.polyhedral()? {
        PolyhedralLaw::Bilateral => Some(vec![Cone {
            mode: Mode::Bilateral,
            generators: vec![Generator { free: true, along: Pair::force(vec![Int::ONE]) }],
            zero: vec![Pair::velocity(vec![Int::ONE])],
            nonnegative: vec![],
        }]),
        PolyhedralLaw::Unilateral => Some(vec![open(1), slide(Mode::Slide, vec![Int::ONE])]),
        PolyhedralLaw::Sliding { .. } => Some(vec![open(d), slide(Mode::Slide, along(1))]),
        PolyhedralLaw::BilateralSliding { .. } => {
            Some([1, -1].map(|s| slide(Mode::Bilateral, along(s))).into())
        }
        PolyhedralLaw::CoulombPlane { .. } => {
            Some(std::iter::once(open(d)).chain(at_rest(1, &friction.mu)).collect())
        }
        PolyhedralLaw::BilateralCoulombPlane { .. } => {
            Some([1, -1].into_iter().flat_map(|s| at_rest(s, &friction.mu)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Fraction;
    use crate::problem::Slip;

    /// z·g = 0 and p·g ≥ 0 for every generator, z·(−g) = 0 and p·(−g) ≥ 0 for free ones; and every inequality
    /// is met strictly by some generator unless it is one of no freedom.
    #[test]
    fn generators_satisfy_the_forms_of_their_cone() {
        let big = |n: i128, d: i128| Fraction::new(n, d).to_big().unwrap();
        let dot = |a: &Pair, b: &Pair| {
            let parts = a.force.iter().zip(&b.force).chain(a.velocity.iter().zip(&b.velocity));
            parts.fold(Int::ZERO, |sum, (x, y)| sum.plus(&x.times(y))).sign()
        };
        for mu in [big(0, 1), big(1, 3)] {
            let plane = Slip::Plane(-1.0);
            let space = Slip::Space([0.6, 0.8]);
            let laws = [
                (Law::Bilateral, vec![]),
                (Law::Unilateral, vec![]),
                (Law::Sliding { mu: 0.0, slip: plane }, vec![big(-1, 1)]),
                (Law::BilateralSliding { mu: 0.0, slip: space }, vec![big(3, 5), big(4, 5)]),
                (Law::CoulombPlane { mu: 0.0 }, vec![]),
                (Law::BilateralCoulombPlane { mu: 0.0 }, vec![]),
            ];
            for (law, slip) in laws {
                let friction = Friction { mu: mu.clone(), slip };
                for cone in cones(&law, &friction).unwrap() {
                    for g in &cone.generators {
                        assert!(cone.zero.iter().all(|z| dot(z, &g.along) == 0), "{law:?} {cone:?}");
                        let values = cone.nonnegative.iter().map(|p| dot(p, &g.along));
                        assert!(values.clone().all(|v| v == 0 || v > 0 && !g.free), "{law:?} {cone:?}");
                    }
                    let strict = |p: &&Pair| cone.generators.iter().any(|g| dot(p, &g.along) > 0);
                    assert!(cone.nonnegative.iter().all(|p| strict(&p)), "{law:?} {cone:?}");
                    // As many dimensions as there are generators.
                    let d = 2 * law.dim();
                    assert_eq!(cone.generators.len() + cone.zero.len(), d, "{law:?} {cone:?}");
                }
            }
        }
    }
}
