//! Bodies that stand on plane faces, whose only motion is rest.
//!
//! ```text
//! (S a)ᵀJᵀf ≤ 0 for every law-abiding (f, u = J a) ,   (S a)ᵀF ≥ 0 ,   SᵀM + MS > 0   ⇒   a = 0
//! ```
//!
//! (V, Ω) is the acceleration of a body relative to what it stands on, at its first contact; S makes of it
//! V − n (g·V)/(g·n) + d n (n·V)/(n·n) and g (n·Ω)/(g·n) + d (Ω − n (n·Ω)/(n·n)). The book's chapter on
//! certificates has the proof.

use serde_json::Value;

use crate::definite::{Symmetric, least_eigenvalue};
use crate::document::{at, field, index, items, list, list_of, numbered, read, word};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, number, whole};

type Vector = [Interval; 3];
type Block = [[Interval; 6]; 6];

/// A body that stands with one face.
struct Body {
    on: Option<usize>,
    mass: Interval,
    /// xx, xy, xz, yy, yz, zz.
    inertia: Vec<Interval>,
    centre: Vector,
    normal: Vector,
    /// Point and friction.
    contacts: Vec<(Vector, Interval)>,
}

struct Tree {
    gravity: Vector,
    bodies: Vec<Body>,
}

/// The check of a certificate of the kind `faces`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let tree = read(document, "problem", Tree::read)?;
    let claim = read(document, "claim", |claim| read(claim, "stands", word))?;
    if claim != "surely" {
        return Err(Fault::Form(format!("claim.stands: expected \"surely\", found \"{claim}\"")));
    }
    let facts = field(document, "facts")?;
    let count = tree.bodies.len();
    let around = read(facts, "around", |value| {
        let all = items(value)?;
        if all.len() != count {
            return Err(Fault::Form(format!("expected {count} elements, found {}", all.len())));
        }
        let polygon = |(p, own): (usize, &Value)| {
            list(own, |k| index(k, tree.bodies[p].contacts.len())).map_err(|e| at("", p, e))
        };
        numbered(all).map(polygon).collect::<Result<Vec<_>, _>>()
    })?;
    let lift = read(facts, "lift", number)?;
    let scales = read(facts, "scales", |value| list_of(value, 6 * count, number))?;
    if lift <= whole(0) || scales.iter().any(|s| *s == whole(0)) {
        return refuse("the numbers of S or the scales are zero");
    }
    for (p, polygon) in around.iter().enumerate() {
        tree.sticks(p)?;
        tree.is_inside(p, polygon)?;
    }
    read(facts, "bound", |bound| least_eigenvalue(6 * count, tree.form(&lift, &scales)?, bound))?;
    Ok("every body stands on a plane face within its friction: every solution of the laws rests".into())
}

fn vector(value: &Value) -> Result<Vector, Fault> {
    let all = list_of(value, 3, Interval::read)?;
    <Vector>::try_from(all).map_err(|_| Fault::Form("expected 3 numbers".into()))
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| &a[i] - &b[i])
}

fn dot(a: &Vector, b: &Vector) -> Interval {
    (0..3).fold(Interval::zero(), |sum, i| &sum + &(&a[i] * &b[i]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        &(&a[j] * &b[k]) - &(&a[k] * &b[j])
    })
}

fn skew(r: &Vector) -> [[Interval; 3]; 3] {
    let o = Interval::zero;
    [[o(), -&r[2], r[1].clone()], [r[2].clone(), o(), -&r[0]], [-&r[1], r[0].clone(), o()]]
}

fn zeros() -> Block {
    std::array::from_fn(|_| std::array::from_fn(|_| Interval::zero()))
}

/// Σₖ a(i, k) b(k, j) as a block.
fn product<'a>(a: impl Fn(usize, usize) -> &'a Interval, b: &Block) -> Block {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let terms = (0..6).filter(|&k| !a(i, k).is_zero() && !b[k][j].is_zero());
            terms.fold(Interval::zero(), |sum, k| &sum + &(a(i, k) * &b[k][j])).trimmed()
        })
    })
}

fn body(value: &Value, place: usize) -> Result<Body, Fault> {
    let on = |value: &Value| match value {
        Value::Null => Ok(None),
        other => index(other, place).map(Some),
    };
    let contact = |value: &Value| {
        let mu = read(value, "mu", Interval::read)?;
        if mu.lo < whole(0) {
            return Err(Fault::Form("mu: expected a number that is not negative".into()));
        }
        Ok((read(value, "point", vector)?, mu))
    };
    let contacts = read(value, "contacts", |value| list(value, contact))?;
    if contacts.is_empty() {
        return Err(Fault::Form("contacts: expected at least one".into()));
    }
    let mass = read(value, "mass", Interval::read)?;
    if mass.lo <= whole(0) {
        return Err(Fault::Form("mass: expected a positive number".into()));
    }
    Ok(Body {
        on: read(value, "on", on)?,
        mass,
        inertia: read(value, "inertia", |value| list_of(value, 6, Interval::read))?,
        centre: read(value, "centre", vector)?,
        normal: read(value, "normal", vector)?,
        contacts,
    })
}

impl Tree {
    fn read(problem: &Value) -> Result<Self, Fault> {
        let gravity = read(problem, "gravity", vector)?;
        let bodies = read(problem, "bodies", |value| {
            let all = numbered(items(value)?);
            all.map(|(p, own)| body(own, p).map_err(|e| at("", p, e))).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Tree { gravity, bodies })
    }

    fn stands_on(&self, q: usize, p: usize) -> bool {
        let mut place = Some(q);
        while let Some(k) = place {
            if k == p {
                return true;
            }
            place = self.bodies[k].on;
        }
        false
    }

    fn above(&self, p: usize) -> impl Iterator<Item = &Body> {
        (p..self.bodies.len()).filter(move |&q| self.stands_on(q, p)).map(|q| &self.bodies[q])
    }

    /// 1/(g·n), which is negative.
    fn down(&self, p: usize) -> Result<Interval, Fault> {
        let down = dot(&self.gravity, &self.bodies[p].normal);
        match down.reciprocal() {
            Some(inverse) if down.hi < whole(0) => Ok(inverse),
            _ => refuse("a face does not look up"),
        }
    }

    /// (g·g)(n·n) ≤ (1 + μ²)(g·n)² at all contacts of a face, which may lie in one plane.
    fn sticks(&self, p: usize) -> Result<(), Fault> {
        let (g, own) = (&self.gravity, &self.bodies[p]);
        self.down(p)?;
        let off = |point: &Vector| dot(&own.normal, &minus(point, &own.contacts[0].0));
        let flat = |x: Interval| x.lo <= whole(0) && x.hi >= whole(0);
        if !own.contacts.iter().all(|(point, _)| flat(off(point))) {
            return refuse("the contacts of a face do not lie in one plane");
        }
        let (down, slope) = (dot(g, &own.normal), &dot(g, g) * &dot(&own.normal, &own.normal));
        let least = down.square().lo;
        if own.contacts.iter().all(|(_, mu)| (whole(1) + &mu.lo * &mu.lo) * &least >= slope.hi) {
            Ok(())
        } else {
            refuse("a face is steeper than its friction")
        }
    }

    /// Whether the weight on a face acts to the left of each side of a polygon of contacts.
    fn is_inside(&self, p: usize, polygon: &[usize]) -> Result<(), Fault> {
        let own = &self.bodies[p];
        let (mut mass, mut moment) = (Interval::zero(), [(); 3].map(|()| Interval::zero()));
        for b in self.above(p) {
            mass = &mass + &b.mass;
            moment = std::array::from_fn(|i| &moment[i] + &(&b.mass * &b.centre[i]));
        }
        let Some(inverse) = mass.reciprocal() else { return refuse("a mass may be zero") };
        let centre: Vector = std::array::from_fn(|i| &moment[i] * &inverse);
        let height = dot(&minus(&centre, &own.contacts[0].0), &own.normal);
        let along = &height * &self.down(p)?;
        let weight: Vector = std::array::from_fn(|i| &centre[i] - &(&along * &self.gravity[i]));
        let is_left = |k: usize| {
            let [a, b] = [k, (k + 1) % polygon.len()].map(|k| &own.contacts[polygon[k]].0);
            dot(&own.normal, &cross(&minus(b, a), &minus(&weight, a))).lo > whole(0)
        };
        if !polygon.is_empty() && (0..polygon.len()).all(is_left) {
            Ok(())
        } else {
            refuse("the weight on a face does not act inside of its contacts")
        }
    }

    /// The inertia of all that stands on a face, at its first contact.
    fn inertia(&self, p: usize) -> Block {
        let origin = &self.bodies[p].contacts[0].0;
        let mut out = zeros();
        let mut add = |i: usize, j: usize, x: &Interval| out[i][j] = &out[i][j] + x;
        for b in self.above(p) {
            let r = skew(&minus(&b.centre, origin));
            let place = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
            for i in 0..3 {
                add(i, i, &b.mass);
                for j in 0..3 {
                    let lever = &b.mass * &r[i][j];
                    add(i, 3 + j, &-&lever);
                    add(3 + i, j, &lever);
                    let square = (0..3).fold(Interval::zero(), |sum, k| &sum + &(&r[i][k] * &r[k][j]));
                    add(3 + i, 3 + j, &(&b.inertia[place[i][j]] - &(&b.mass * &square)));
                }
            }
        }
        out
    }

    /// S at a face.
    fn image(&self, p: usize, lift: &Number) -> Result<Block, Fault> {
        let (g, n) = (&self.gravity, &self.bodies[p].normal);
        let down = self.down(p)?;
        let Some(square) = dot(n, n).reciprocal() else { return refuse("a normal may be zero") };
        let mut out = zeros();
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            let one = Interval::point(whole(i64::from(i == j)));
            let along = (&(&n[i] * &n[j]) * &square).times(lift);
            out[i][j] = (&(&one + &along) - &(&(&n[i] * &g[j]) * &down)).trimmed();
            out[3 + i][3 + j] = (&(&(&g[i] * &n[j]) * &down) + &(&one.times(lift) - &along)).trimmed();
        }
        Ok(out)
    }

    /// Half of SᵀM + MS, by the relative accelerations of all faces, rows and columns times the scales.
    fn form(&self, lift: &Number, scales: &[Number]) -> Result<Symmetric, Fault> {
        let count = self.bodies.len();
        let images = (0..count).map(|p| self.image(p, lift)).collect::<Result<Vec<_>, _>>()?;
        let half = Number::new(1.into(), 2.into());
        let mut out = Symmetric::default();
        for q in 0..count {
            let inertia = self.inertia(q);
            for p in (0..=q).filter(|&p| self.stands_on(q, p)) {
                // The relative acceleration at p moves the first contact of q with V + Ω × r.
                let r = skew(&minus(&self.bodies[q].contacts[0].0, &self.bodies[p].contacts[0].0));
                let mut moved = zeros();
                for i in 0..3 {
                    moved[i][i] = Interval::point(whole(1));
                    moved[3 + i][3 + i] = Interval::point(whole(1));
                    for j in (0..3).filter(|_| p != q) {
                        moved[i][3 + j] = -&r[i][j];
                    }
                }
                let both = product(|i, k| &moved[k][i], &inertia);
                let first = product(|i, k| &images[p][k][i], &both);
                let second = product(|i, k| &both[i][k], &images[q]);
                // Of a face with itself the lower half.
                for (i, j) in (0..36).map(|k| (k / 6, k % 6)).filter(|(i, j)| p != q || j <= i) {
                    let scale = &half * &scales[6 * p + i] * &scales[6 * q + j];
                    out.add(6 * p + i, 6 * q + j, &(&first[i][j] + &second[i][j]).times(&scale));
                }
            }
        }
        Ok(out)
    }
}
