//! Rational numbers and intervals between them: nothing is rounded but roots, and these outward.

use num_bigint::BigInt;
use num_rational::BigRational;
use serde_json::Value;
use std::ops::{Add, Mul, Neg, Sub};

use crate::fault::Fault;

/// Digits of a number beyond which it is refused.
const MAX_DIGITS: usize = 4000;
/// Bits that [`Interval::trimmed`] keeps.
const BITS: i64 = 192;

/// A rational number.
pub type Number = BigRational;

/// A whole number.
pub fn whole(x: i64) -> Number {
    Number::from(BigInt::from(x))
}

/// |x|.
pub fn abs(x: &Number) -> Number {
    if *x < whole(0) { -x } else { x.clone() }
}

/// A number not below √x, x ≥ 0, and above it by at most 2⁻⁶⁰ of itself; 0 for 0.
pub fn root_above(x: &Number) -> Number {
    if *x <= whole(0) {
        return whole(0);
    }
    // √(p/q) = √(p q)/q, with enough bits before the integer root is taken.
    let product: BigInt = x.numer() * x.denom();
    let k = (130u64.saturating_sub(product.bits()) + 2).div_ceil(2);
    Number::new((product << (2 * k)).sqrt() + 1, x.denom() << k)
}

/// About a number, for people: six digits behind the point, or behind the first one of a number that is
/// small.
pub fn decimal(x: &Number) -> String {
    let mut power = 0;
    let mut shown = x.clone();
    let ten = whole(10);
    while shown != whole(0) && abs(&shown) < Number::new(1.into(), 1000.into()) && power < 1000 {
        shown *= &ten;
        power += 1;
    }
    while power > 0 && abs(&shown) < whole(1) && power < 1000 {
        shown *= &ten;
        power += 1;
    }
    let digits = (shown * whole(1_000_000)).round().to_integer().to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    let digits = format!("{digits:0>7}");
    let (before, behind) = digits.split_at(digits.len() - 6);
    let exponent = if power > 0 { format!("e-{power}") } else { String::new() };
    format!("{sign}{before}.{behind}{exponent}")
}

/// An integer, or two with a slash between.
pub fn number(value: &Value) -> Result<Number, Fault> {
    let expected = || Fault::Form(format!("expected a fraction such as \"-3/4\", found {value}"));
    let text = value.as_str().filter(|text| text.len() <= MAX_DIGITS).ok_or_else(expected)?;
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(above.strip_prefix('-').unwrap_or(above)) || !digits(below) {
        return Err(expected());
    }
    let (above, below): (BigInt, BigInt) =
        (above.parse().map_err(|_| expected())?, below.parse().map_err(|_| expected())?);
    if below == BigInt::from(0) { Err(expected()) } else { Ok(Number::new(above, below)) }
}

/// All numbers from lo to hi.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The least.
    pub lo: Number,
    /// The largest.
    pub hi: Number,
}

impl Interval {
    /// One number.
    pub fn point(x: Number) -> Self {
        Interval { lo: x.clone(), hi: x }
    }

    /// 0.
    pub fn zero() -> Self {
        Interval::point(whole(0))
    }

    /// From x − r to x + r.
    pub fn around(x: &Number, r: &Number) -> Self {
        Interval { lo: x - r, hi: x + r }
    }

    /// A fraction, or a list of two.
    pub fn read(value: &Value) -> Result<Self, Fault> {
        match value.as_array().map(Vec::as_slice) {
            None => number(value).map(Interval::point),
            Some([lo, hi]) => {
                let (lo, hi) = (number(lo)?, number(hi)?);
                if lo <= hi {
                    Ok(Interval { lo, hi })
                } else {
                    Err(Fault::Form(format!("expected two fractions in order, found {value}")))
                }
            }
            Some(_) => {
                Err(Fault::Form(format!("expected a fraction or a list of two of them, found {value}")))
            }
        }
    }

    /// Whether it is 0 and nothing else.
    pub fn is_zero(&self) -> bool {
        self.lo == whole(0) && self.hi == whole(0)
    }

    /// The largest of |x|.
    pub fn magnitude(&self) -> Number {
        abs(&self.lo).max(abs(&self.hi))
    }

    /// All x².
    pub fn square(&self) -> Self {
        let (a, b) = (&self.lo * &self.lo, &self.hi * &self.hi);
        let least =
            if self.lo <= whole(0) && self.hi >= whole(0) { whole(0) } else { a.clone().min(b.clone()) };
        Interval { lo: least, hi: a.max(b) }
    }

    /// All products with a number.
    pub fn times(&self, x: &Number) -> Self {
        let (a, b) = (&self.lo * x, &self.hi * x);
        if *x >= whole(0) { Interval { lo: a, hi: b } } else { Interval { lo: b, hi: a } }
    }

    /// All 1/x; `None` where x may be zero.
    pub fn reciprocal(&self) -> Option<Self> {
        let apart = self.lo > whole(0) || self.hi < whole(0);
        apart.then(|| Interval { lo: self.hi.recip(), hi: self.lo.recip() })
    }

    /// A little wider, with ends of a few hundred bits.
    pub fn trimmed(&self) -> Self {
        Interval { lo: few_bits(&self.lo), hi: -few_bits(&-&self.hi) }
    }
}

/// A number not above x that needs few bits.
pub fn few_bits(x: &Number) -> Number {
    let shift = BITS + x.denom().bits() as i64 - x.numer().bits() as i64;
    if x.numer().bits() + x.denom().bits() < 2 * BITS as u64 || shift <= 0 {
        return x.clone();
    }
    let scaled = Number::new(x.numer() << shift, x.denom().clone()).floor().to_integer();
    Number::new(scaled, BigInt::from(1) << shift)
}

impl Add<&Interval> for &Interval {
    type Output = Interval;
    fn add(self, other: &Interval) -> Interval {
        Interval { lo: &self.lo + &other.lo, hi: &self.hi + &other.hi }
    }
}

impl Sub<&Interval> for &Interval {
    type Output = Interval;
    fn sub(self, other: &Interval) -> Interval {
        Interval { lo: &self.lo - &other.hi, hi: &self.hi - &other.lo }
    }
}

impl Neg for &Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -&self.hi, hi: -&self.lo }
    }
}

impl Mul<&Interval> for &Interval {
    type Output = Interval;
    fn mul(self, other: &Interval) -> Interval {
        if other.lo == other.hi {
            return self.times(&other.lo);
        }
        if self.lo == self.hi {
            return other.times(&self.lo);
        }
        let all = [&self.lo * &other.lo, &self.lo * &other.hi, &self.hi * &other.lo, &self.hi * &other.hi];
        let [mut lo, mut hi] = [all[0].clone(), all[0].clone()];
        for x in &all[1..] {
            if *x < lo {
                lo = x.clone();
            }
            if *x > hi {
                hi = x.clone();
            }
        }
        Interval { lo, hi }
    }
}

/// Σ aᵢ bᵢ.
pub fn dot<'a>(pairs: impl Iterator<Item = (&'a Interval, &'a Number)>) -> Interval {
    pairs.fold(Interval::zero(), |sum, (a, b)| &sum + &a.times(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fractions_are_read_and_all_else_is_refused() {
        assert_eq!(number(&json!("-3/6")).ok(), Some(Number::new((-1).into(), 2.into())));
        assert_eq!(number(&json!("007")).ok(), Some(whole(7)));
        for bad in [json!(1), json!("1.5"), json!("1/0"), json!("1/-2"), json!(""), json!("/2"), json!("+1")]
        {
            assert!(matches!(number(&bad), Err(Fault::Form(_))), "{bad}");
        }
        assert!(matches!(Interval::read(&json!(["2", "1"])), Err(Fault::Form(_))));
    }

    #[test]
    fn roots_and_trimmed_ends_are_outward() {
        for (p, q) in [(2, 1), (1, 3), (4, 9), (10_i64.pow(17), 7)] {
            let x = Number::new(p.into(), q.into());
            let r = root_above(&x);
            assert!(&r * &r >= x && &r * &r <= &x * (whole(1) + Number::new(1.into(), (1i64 << 58).into())));
        }
        let third = Number::new(BigInt::from(1), BigInt::from(3).pow(400));
        let wide = Interval::point(third.clone()).trimmed();
        assert!(wide.lo < third && third < wide.hi && (&wide.hi / &wide.lo) * whole(9) < whole(10));
    }

    #[test]
    fn products_hold_all_products() {
        let of = |lo: i64, hi: i64| Interval { lo: whole(lo), hi: whole(hi) };
        assert_eq!(&of(-2, 3) * &of(-5, 4), of(-15, 12));
        assert_eq!(of(-2, 3).square(), of(0, 9));
        assert_eq!(of(-2, 3).times(&whole(-1)), of(-3, 2));
        let part = |x: i64| Number::new(1.into(), x.into());
        assert_eq!(of(-4, -2).reciprocal(), Some(Interval { lo: part(-2), hi: part(-4) }));
        assert_eq!((of(0, 3).reciprocal(), of(-2, 3).reciprocal()), (None, None));
        assert_eq!(&of(1, 2) - &of(-1, 5), of(-4, 3));
    }
}
