//! Lower bounds of the least eigenvalue of a symmetric matrix.
//!
//! ```text
//! A − s I = L Lᵀ + Δ          λ_min(A) ≥ s − ‖Δ‖ ,   ‖Δ‖ ≤ max_i Σ_j |Δ_ij|
//! ```
//!
//! L Lᵀ is positive semidefinite whatever L is. Entries of L are integers times one unit, so that L Lᵀ is
//! made of integers.

use serde_json::Value;
use std::collections::BTreeMap;

use crate::document::{at, field, items, numbered};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, number, whole};

/// Entries of L are below this in size, so that their products fit in 128 bits with room for sums.
const MAX_ENTRY: i64 = 1 << 53;

/// The lower half of a symmetric matrix; entries that are not stored are zero.
#[derive(Default)]
pub struct Symmetric(BTreeMap<(usize, usize), Interval>);

impl Symmetric {
    /// Adds to the entries (i, j) and (j, i).
    pub fn add(&mut self, i: usize, j: usize, x: &Interval) {
        let entry = self.0.entry((i.max(j), i.min(j))).or_insert_with(Interval::zero);
        *entry = &*entry + x;
    }
}

/// A number below the least eigenvalue of a symmetric n × n matrix, as the fact {shift, unit, factor} proves
/// it; refused where it is not positive.
pub fn least_eigenvalue(n: usize, a: Symmetric, fact: &Value) -> Result<Number, Fault> {
    let (shift, unit) = (number(field(fact, "shift")?)?, number(field(fact, "unit")?)?);
    let square = &unit * &unit;
    let mut rest = a.0;
    for (i, j, x) in products(n, field(fact, "factor")?)? {
        let entry = rest.entry((i, j)).or_insert_with(Interval::zero);
        let taken = Number::from(num_bigint::BigInt::from(x)) * &square;
        *entry = &*entry - &Interval::point(taken);
    }
    let mut sums = vec![whole(0); n];
    for i in 0..n {
        let entry = rest.entry((i, i)).or_insert_with(Interval::zero);
        *entry = &*entry - &Interval::point(shift.clone());
    }
    for ((i, j), x) in &rest {
        let size = x.magnitude();
        if i != j {
            sums[*j] += &size;
        }
        sums[*i] += size;
    }
    let defect = sums.into_iter().max().unwrap_or_else(|| whole(0));
    let least = shift - defect;
    if least > whole(0) {
        Ok(least)
    } else {
        refuse("a factor does not show that a matrix is positive definite")
    }
}

/// The entries of L Lᵀ in the lower half. A row of L is its first column and its entries from there on.
fn products(n: usize, factor: &Value) -> Result<Vec<(usize, usize, i128)>, Fault> {
    let rows = items(factor)?;
    if rows.len() != n {
        return Err(Fault::Form(format!("expected {n} rows of a factor, found {}", rows.len())));
    }
    let mut columns: BTreeMap<usize, Vec<(usize, i128)>> = BTreeMap::new();
    for (i, row) in numbered(rows) {
        let expected = || Fault::Form("expected [first column, [integers below 2^53]]".into());
        let parts = items(row).map_err(|e| at("factor", i, e))?;
        let [first, entries] = parts else { return Err(at("factor", i, expected())) };
        let first = first.as_u64().filter(|f| *f < 1 << 32).ok_or_else(|| at("factor", i, expected()))?;
        for (k, x) in items(entries)?.iter().enumerate() {
            let x = x.as_i64().filter(|x| x.abs() < MAX_ENTRY).ok_or_else(|| at("factor", i, expected()))?;
            if x != 0 {
                columns.entry(first as usize + k).or_default().push((i, i128::from(x)));
            }
        }
    }
    let mut sums: BTreeMap<(usize, usize), i128> = BTreeMap::new();
    for column in columns.values() {
        for (k, (i, x)) in column.iter().enumerate() {
            for (j, y) in &column[..=k] {
                // At most 2²¹ terms of 2¹⁰⁶ each.
                let sum = sums.entry((*i, *j)).or_default();
                *sum = sum.checked_add(x * y).ok_or_else(|| Fault::Form("a factor is too large".into()))?;
            }
        }
    }
    Ok(sums.into_iter().map(|((i, j), x)| (i, j, x)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_factor_proves_what_is_true_and_nothing_else() {
        // [2 1; 1 2] has the eigenvalues 1 and 3: A − I/2 = L Lᵀ with L = [√1.5 0; 1/√1.5 √(1.5 − 2/3)].
        let a = || {
            let mut a = Symmetric::default();
            (0..2).for_each(|i| a.add(i, i, &Interval::point(whole(2))));
            a.add(0, 1, &Interval::point(whole(1)));
            a
        };
        let fact =
            |shift: &str| json!({"shift": shift, "unit": "1/1000", "factor": [[0, [1225]], [0, [816, 913]]]});
        let least = |shift: &str| least_eigenvalue(2, a(), &fact(shift));
        assert!(least("1/2").is_ok_and(|x| x <= whole(1) && x > Number::new(49.into(), 100.into())));
        for shift in ["0", "1/10", "3/4", "1", "5/2", "3", "10"] {
            assert!(least(shift).map_or(true, |x| x <= whole(1)), "{shift}");
        }
        assert!(least("0").is_err());
    }
}
