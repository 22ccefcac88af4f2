//! Forces at a point that a world at rest resists in every direction.
//!
//! ```text
//! F(w) = F + Σ wᵢ pᵢ ,  w ∈ R³        ball of radius r ⊂ conv {corners} ,   F(corner) ∈ B K  ⇒  F(w) ∈ B K for |w| ≤ r
//! ```
//!
//! B K is convex. The faces given are a closed surface around the origin: each lies in a plane that has all
//! corners on its inner side, and every edge belongs to two of them, once in each direction, so that together
//! they are the whole boundary of the hull.

use serde_json::Value;
use std::collections::BTreeSet;

use crate::balance::{Balance, collapse, rest};
use crate::document::{at, field, index, items, list_of, numbered, read};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, decimal, number, whole};
use crate::problem::{Row, row};

type Vector = [Number; 3];

/// The check of a certificate of the kind `resistance`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let (problem, claim, facts) =
        (field(document, "problem")?, field(document, "claim")?, field(document, "facts")?);
    let balance = read(document, "problem", Balance::read)?;
    let n = balance.load.len();
    let push = read(problem, "push", |value| list_of(value, 3, |value| row(value, n)))?;
    let mut said = Vec::new();
    if claim.get("resists").is_some() {
        let radius = read(claim, "resists", number)?;
        let corners = corners(&balance, &push, facts)?;
        encloses(&corners, read(facts, "faces", items)?, &radius)?;
        said.push(format!("every force up to {} is resisted", decimal(&radius)));
    }
    if claim.get("fails").is_some() {
        let size = read(claim, "fails", number)?;
        let weakest = field(facts, "weakest")?;
        let force = vector(field(weakest, "force")?)?;
        if dot(&force, &force) > &size * &size || size < whole(0) {
            return refuse("the force that is not resisted is larger than claimed");
        }
        collapse(&balance, &loaded(&balance, &push, &force), weakest)?;
        said.push(format!("a force of {} is not", decimal(&size)));
    }
    if said.is_empty() {
        return Err(Fault::Form("claim: expected the key `resists` or `fails`".into()));
    }
    Ok(said.join("; "))
}

fn vector(value: &Value) -> Result<Vector, Fault> {
    let all = list_of(value, 3, number)?;
    <[Number; 3]>::try_from(all).map_err(|_| Fault::Form("expected three numbers".into()))
}

fn dot(a: &Vector, b: &Vector) -> Number {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    let of = |i: usize, j: usize| &a[i] * &b[j] - &a[j] * &b[i];
    [of(1, 2), of(2, 0), of(0, 1)]
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
}

/// F + Σ wᵢ pᵢ.
fn loaded(balance: &Balance, push: &[Row], w: &Vector) -> Vec<Interval> {
    let mut load = balance.load.clone();
    for (p, w) in push.iter().zip(w) {
        p.iter().for_each(|(j, x)| load[*j] = &load[*j] + &x.times(w));
    }
    load
}

/// The corners, each of which is resisted.
fn corners(balance: &Balance, push: &[Row], facts: &Value) -> Result<Vec<Vector>, Fault> {
    let mut all = Vec::new();
    for (i, corner) in numbered(read(facts, "corners", items)?) {
        let place = |e| at("facts.corners", i, e);
        let force = field(corner, "force").and_then(vector).map_err(place)?;
        rest(balance, &loaded(balance, push, &force), corner).map_err(place)?;
        all.push(force);
    }
    Ok(all)
}

/// Refuses faces that do not close around the ball.
fn encloses(corners: &[Vector], faces: &[Value], radius: &Number) -> Result<(), Fault> {
    let mut edges = BTreeSet::new();
    for (i, face) in numbered(faces) {
        let place = |e| at("facts.faces", i, e);
        let face = list_of(face, 3, |value| index(value, corners.len())).map_err(place)?;
        let [a, b, c] = [&corners[face[0]], &corners[face[1]], &corners[face[2]]];
        let normal = cross(&minus(b, a), &minus(c, a));
        let height = dot(&normal, a);
        if height <= whole(0) || corners.iter().any(|v| dot(&normal, v) > height) {
            return refuse("a face is not a face of the hull of the corners");
        }
        if &height * &height < radius * radius * dot(&normal, &normal) {
            return refuse("a face is nearer than the force that is claimed");
        }
        for k in 0..3 {
            if !edges.insert((face[k], face[(k + 1) % 3])) {
                return refuse("an edge belongs twice to faces in the same direction");
            }
        }
    }
    if faces.is_empty() || edges.iter().any(|(a, b)| !edges.contains(&(*b, *a))) || *radius < whole(0) {
        return refuse("the faces do not close");
    }
    Ok(())
}
