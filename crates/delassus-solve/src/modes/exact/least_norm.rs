//! The least norm on a polyhedron over the rationals, by the active-set method.
//!
//! ```text
//! min ½‖f + D s‖²   subject to   c + C s ≥ 0 ,          Dᵀ(f + D s) = Cᵀλ ,   λ ≥ 0 ,   λᵢ (c + C s)ᵢ = 0
//! ```
//!
//! f ∈ Rᵐ, D is m × k, s ∈ Rᵏ; s = 0 is a point of the polyhedron. The problem is convex, so that the
//! conditions on the right, which are met exactly at the end, prove the minimum.

use crate::linalg::{Int, Tableau, whole};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

fn zero() -> BigRational {
    BigRational::from_integer(BigInt::from(0))
}

fn dot(x: &[BigRational], y: &[BigRational]) -> BigRational {
    let set = |x: &BigRational| x.numer().sign() != Sign::NoSign;
    x.iter().zip(y).filter(|(x, y)| set(x) && set(y)).fold(zero(), |sum, (x, y)| sum + x * y)
}

/// One solution x of equations that have some, each row with its right-hand side last: unknowns that nothing
/// determines are zero.
fn solve(rows: &[Vec<BigRational>], unknowns: usize) -> Vec<BigRational> {
    let mut t = Tableau { rows: rows.iter().map(|row| whole(row)).collect(), denominator: Int::ONE };
    let mut row_of = vec![None; unknowns];
    for c in 0..unknowns {
        let free = |r: &usize| !row_of.contains(&Some(*r)) && !t.rows[*r][c].is_zero();
        if let Some(r) = (0..t.rows.len()).find(free) {
            t.pivot(r, c);
            row_of[c] = Some(r);
        }
    }
    let denominator = t.denominator.to_big();
    let value = |r: Option<usize>| {
        r.map_or_else(zero, |r| BigRational::new(t.rows[r][unknowns].to_big(), denominator.clone()))
    };
    row_of.into_iter().map(value).collect()
}

/// The s of the least norm. `directions` are the columns of D, `bounds` the rows of c and C. `None` where the
/// search takes too many steps, as it may where it goes in circles around a degenerate vertex.
pub(super) fn least_norm(
    f: &[BigRational],
    directions: &[&[BigRational]],
    bounds: &[(BigRational, Vec<BigRational>)],
) -> Option<Vec<BigRational>> {
    let k = directions.len();
    let hessian: Vec<Vec<BigRational>> =
        directions.iter().map(|x| directions.iter().map(|y| dot(x, y)).collect()).collect();
    let slope: Vec<BigRational> = directions.iter().map(|x| dot(x, f)).collect();
    let mut s = vec![zero(); k];
    let mut working: Vec<usize> = Vec::new();
    for _ in 0..20 + 4 * (k + bounds.len()) {
        // The minimum on the faces in the working set, s + p, and the multipliers of these.
        let mut rows: Vec<Vec<BigRational>> = Vec::new();
        for i in 0..k {
            let multipliers = working.iter().map(|&w| -bounds[w].1[i].clone());
            let right = -(dot(&hessian[i], &s) + &slope[i]);
            rows.push(hessian[i].iter().cloned().chain(multipliers).chain([right]).collect());
        }
        for &w in &working {
            let none = working.iter().map(|_| zero());
            rows.push(bounds[w].1.iter().cloned().chain(none).chain([zero()]).collect());
        }
        let x = solve(&rows, k + working.len());
        let (p, multipliers) = x.split_at(k);
        let bent: Vec<BigRational> = hessian.iter().map(|row| dot(row, p)).collect();
        // ‖D p‖² = pᵀ DᵀD p.
        if dot(&bent, p).numer().sign() == Sign::NoSign {
            let negative = |j: &usize| multipliers[*j].numer().sign() == Sign::Minus;
            let Some(j) = (0..working.len()).filter(negative).min_by_key(|&j| working[j]) else {
                return Some(s);
            };
            working.remove(j);
            continue;
        }
        let mut step = BigRational::from_integer(BigInt::from(1));
        let mut blocking = None;
        for (i, (c, along)) in bounds.iter().enumerate().filter(|(i, _)| !working.contains(i)) {
            let change = dot(along, p);
            if change.numer().sign() == Sign::Minus {
                let reach = (c + dot(along, &s)) / -change;
                if reach < step {
                    (step, blocking) = (reach, Some(i));
                }
            }
        }
        s.iter_mut().zip(p).for_each(|(s, p)| *s += &step * p);
        working.extend(blocking);
    }
    None
}

/// x less its projection on the span of some vectors.
pub(super) fn without_span(x: &[BigRational], span: &[Vec<BigRational>]) -> Vec<BigRational> {
    let mut t = Tableau { rows: span.iter().map(|row| whole(row)).collect(), denominator: Int::ONE };
    let mut used = vec![false; span.len()];
    for c in 0..x.len() {
        if let Some(r) = (0..span.len()).find(|&r| !used[r] && !t.rows[r][c].is_zero()) {
            t.pivot(r, c);
            used[r] = true;
        }
    }
    let big = |row: &Vec<Int>| row.iter().map(|x| BigRational::from_integer(x.to_big())).collect();
    let basis: Vec<Vec<BigRational>> =
        t.rows.iter().zip(&used).filter(|(_, used)| **used).map(|(row, _)| big(row)).collect();
    // x − Bᵀ y with B Bᵀ y = B x.
    let row = |b: &Vec<BigRational>| basis.iter().map(|c| dot(b, c)).chain([dot(b, x)]).collect();
    let rows: Vec<Vec<BigRational>> = basis.iter().map(row).collect();
    let y = solve(&rows, basis.len());
    let mut out = x.to_vec();
    for (b, y) in basis.iter().zip(&y) {
        out.iter_mut().zip(b).for_each(|(x, b)| *x -= b * y);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(x: &[i64]) -> Vec<BigRational> {
        x.iter().map(|x| BigRational::from_integer(BigInt::from(*x))).collect()
    }

    fn half(n: i64) -> BigRational {
        BigRational::new(BigInt::from(n), BigInt::from(2))
    }

    #[test]
    fn the_least_norm_on_a_segment_is_its_foot_or_an_end() {
        // f = (1, 0) + s (−1, 1) with s in [0, top/4]: the foot of the perpendicular is at s = 1/2.
        for (top, expected) in [(4, half(1)), (1, half(1) * half(1))] {
            let top = BigRational::new(BigInt::from(top), BigInt::from(4));
            let bounds = [(zero(), vector(&[1])), (top, vector(&[-1]))];
            let s = least_norm(&vector(&[1, 0]), &[&vector(&[-1, 1])], &bounds).unwrap();
            assert_eq!(s, [expected]);
        }
    }

    #[test]
    fn directions_without_forces_are_left_alone_or_make_way() {
        // f = 2 − s₁ with s₁ ≤ 1 + s₂ ≤ 2: s₂ moves no force and must move to let s₁ reach 2.
        let bounds =
            [(vector(&[1])[0].clone(), vector(&[-1, 1])), (vector(&[1])[0].clone(), vector(&[0, -1]))];
        let s = least_norm(&vector(&[2]), &[&vector(&[-1]), &vector(&[0])], &bounds).unwrap();
        assert_eq!(s[0], vector(&[2])[0]);
    }

    #[test]
    fn what_lies_in_a_span_is_removed() {
        // The span has (−1, 1, 0) twice; (1, 0, 3) keeps (1/2, 1/2, 3).
        let span = [vector(&[-1, 1, 0]), vector(&[2, -2, 0]), vector(&[0, 0, 0])];
        assert_eq!(without_span(&vector(&[1, 0, 3]), &span), [half(1), half(1), half(6)]);
    }
}
