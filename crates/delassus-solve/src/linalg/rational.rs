//! Exact linear algebra: every `f64` is a rational number, and nothing is rounded here.
//!
//! ```text
//! A = N/d,   N an integer matrix, d > 0 one common denominator.
//! ```
//!
//! Elimination keeps integers integers (Bareiss): with pivot p in row r, column c, and the pivot p' before
//! it, every other row becomes N_ij ← (N_ij p − N_ic N_rj)/p', a division without remainder, since all
//! entries are minors of the matrix at the start. From it come rank, inverse and minors, and with them the
//! classes of matrices of 000 App. A–D:
//!
//! * definite: xᵀAx > 0 (≥ 0) for x ≠ 0, by symmetric elimination of A + Aᵀ;
//! * P: all principal minors are positive;
//! * copositive: xᵀAx ≥ 0 for x ≥ 0. A symmetric matrix fails if and only if one of its principal submatrices
//!   B is regular with B⁻¹ ≤ 0 (Hadeler 1983): a smallest submatrix that fails is such a B, and with x =
//!   −B⁻¹1 ≥ 0, xᵀBx = 1ᵀB⁻¹1 < 0.

use super::matrix::Matrix;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;

/// Largest size for which all principal minors are examined (1023 of them).
pub const P_MATRIX_MAX: usize = 10;
/// Largest size for which all principal submatrices are inverted (255 of them).
pub const COPOSITIVE_MAX: usize = 8;

/// An integer of any size. Those that fit in 64 bits are kept there; the other form is for those that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    Small(i64),
    Big(BigInt),
}

impl Int {
    pub const ZERO: Int = Int::Small(0);
    pub const ONE: Int = Int::Small(1);

    fn wide(x: i128) -> Int {
        // −2⁶³ is left out, so that products of two small numbers and differences of those fit in 128 bits.
        match i64::try_from(x) {
            Ok(s) if s != i64::MIN => Int::Small(s),
            _ => Int::Big(BigInt::from(x)),
        }
    }

    pub fn of_big(x: BigInt) -> Int {
        match i64::try_from(&x) {
            Ok(s) if s != i64::MIN => Int::Small(s),
            _ => Int::Big(x),
        }
    }

    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(s) => BigInt::from(*s),
            Int::Big(b) => b.clone(),
        }
    }

    /// −1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self {
            Int::Small(s) => s.signum() as i32,
            Int::Big(b) => match b.sign() {
                num_bigint::Sign::Minus => -1,
                num_bigint::Sign::NoSign => 0,
                num_bigint::Sign::Plus => 1,
            },
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Int::Small(0))
    }

    pub fn negated(&self) -> Int {
        match self {
            Int::Small(s) => Int::Small(-s),
            Int::Big(b) => Int::of_big(-b),
        }
    }

    pub fn plus(&self, other: &Int) -> Int {
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => Int::wide(i128::from(*a) + i128::from(*b)),
            _ => Int::of_big(self.to_big() + other.to_big()),
        }
    }

    pub fn times(&self, other: &Int) -> Int {
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => Int::wide(i128::from(*a) * i128::from(*b)),
            (Int::Big(a), Int::Big(b)) => Int::of_big(a * b),
            (Int::Small(s), Int::Big(b)) | (Int::Big(b), Int::Small(s)) => Int::of_big(b * *s),
        }
    }

    /// (a b − c d)/e, where e divides.
    pub fn cross(a: &Int, b: &Int, c: &Int, d: &Int, e: &Int) -> Int {
        if let (Int::Small(a), Int::Small(b), Int::Small(c), Int::Small(d), Int::Small(e)) = (a, b, c, d, e) {
            let x = i128::from(*a) * i128::from(*b) - i128::from(*c) * i128::from(*d);
            return match i64::try_from(x) {
                Ok(x) if x != i64::MIN => Int::Small(x / e),
                _ => Int::wide(x / i128::from(*e)),
            };
        }
        if c.is_zero() || d.is_zero() {
            if a.is_zero() || b == e {
                return a.clone();
            }
            return Int::of_big(a.times(b).to_big() / e.to_big());
        }
        Int::of_big((a.times(b).to_big() - c.times(d).to_big()) / e.to_big())
    }

    /// m · 2^shift.
    fn shifted(m: i64, shift: u32) -> Int {
        if shift < 64 { Int::wide(i128::from(m) << shift) } else { Int::of_big(BigInt::from(m) << shift) }
    }
}

/// m and e with x = m · 2^e and m odd (or zero); `None` where x is not finite.
fn mantissa(x: f64) -> Option<(i64, i32)> {
    if !x.is_finite() {
        return None;
    }
    let bits = x.to_bits();
    let field = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (m, e) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    if m == 0 {
        return Some((0, 0));
    }
    let zeros = m.trailing_zeros();
    let m = m >> zeros;
    Some((if x < 0.0 { -m } else { m }, e + zeros as i32))
}

/// Integers N and a number d = 2^k > 0 with x = N/d; `None` where a number is not finite.
pub fn integers(numbers: impl Iterator<Item = f64>) -> Option<(Vec<Int>, Int)> {
    let parts = numbers.map(mantissa).collect::<Option<Vec<_>>>()?;
    let low = parts.iter().filter(|(m, _)| *m != 0).map(|(_, e)| *e).fold(0, i32::min);
    let of = |&(m, e): &(i64, i32)| if m == 0 { Int::ZERO } else { Int::shifted(m, (e - low) as u32) };
    Some((parts.iter().map(of).collect(), Int::shifted(1, low.unsigned_abs())))
}

/// Rational numbers times their least common denominator.
pub fn whole(row: &[BigRational]) -> Vec<Int> {
    let common = row.iter().fold(BigInt::from(1), |d, x| d.lcm(x.denom()));
    row.iter().map(|x| Int::of_big(x.numer() * (&common / x.denom()))).collect()
}

/// A finite `f64` as the rational number that it is; `None` where it is not finite.
pub fn rational(x: f64) -> Option<BigRational> {
    let (n, d) = integers(std::iter::once(x))?;
    n.first().map(|n| BigRational::new(n.to_big(), d.to_big()))
}

/// Rows of integers over one common denominator, under elimination.
#[derive(Clone, Debug)]
pub struct Tableau {
    pub rows: Vec<Vec<Int>>,
    /// > 0.
    pub denominator: Int,
}

impl Tableau {
    /// Makes column c the unit vector of row r (times the new denominator); the entry there must not be zero.
    pub fn pivot(&mut self, r: usize, c: usize) {
        if self.rows[r][c].sign() < 0 {
            for x in &mut self.rows[r] {
                *x = x.negated();
            }
        }
        let row = std::mem::take(&mut self.rows[r]);
        let p = row[c].clone();
        for (i, other) in self.rows.iter_mut().enumerate() {
            if i == r {
                continue;
            }
            let factor = std::mem::replace(&mut other[c], Int::ZERO);
            if factor.is_zero() && p == self.denominator {
                continue;
            }
            for (j, x) in other.iter_mut().enumerate() {
                if j != c {
                    *x = Int::cross(x, &p, &factor, &row[j], &self.denominator);
                }
            }
        }
        self.rows[r] = row;
        self.denominator = p;
    }
}

/// A matrix of rational numbers.
#[derive(Clone, Debug)]
pub struct RationalMatrix {
    rows: usize,
    cols: usize,
    numerators: Vec<Int>,
    denominator: Int,
}

impl RationalMatrix {
    /// The numbers of a matrix as they are; `None` where one is not finite.
    pub fn exact(a: &Matrix) -> Option<Self> {
        Self::of_rows(a.rows(), a.cols(), a.data())
    }

    /// Numbers row by row; `None` where one is not finite or the count is wrong.
    pub fn of_rows(rows: usize, cols: usize, data: &[f64]) -> Option<Self> {
        if data.len() != rows * cols {
            return None;
        }
        let (numerators, denominator) = integers(data.iter().copied())?;
        Some(RationalMatrix { rows, cols, numerators, denominator })
    }

    /// Numbers as one column; `None` where one is not finite.
    pub fn column(x: &[f64]) -> Option<Self> {
        Self::of_rows(x.len(), 1, x)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    fn at(&self, i: usize, j: usize) -> &Int {
        &self.numerators[i * self.cols + j]
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> BigRational {
        BigRational::new(self.at(i, j).to_big(), self.denominator.to_big())
    }

    /// The sign of entry (i, j): −1, 0 or 1.
    pub fn sign(&self, i: usize, j: usize) -> i32 {
        self.at(i, j).sign()
    }

    fn from_fn(rows: usize, cols: usize, d: Int, f: impl Fn(usize, usize) -> Int) -> Self {
        let numerators = (0..rows * cols).map(|k| f(k / cols, k % cols)).collect();
        RationalMatrix { rows, cols, numerators, denominator: d }.reduced()
    }

    /// The same matrix with the smallest denominator.
    fn reduced(mut self) -> Self {
        let mut g = self.denominator.to_big();
        for x in &self.numerators {
            if g == BigInt::from(1) {
                return self;
            }
            if !x.is_zero() {
                g = g.gcd(&x.to_big());
            }
        }
        let divide = |x: &Int| if x.is_zero() { Int::ZERO } else { Int::of_big(x.to_big() / &g) };
        self.numerators = self.numerators.iter().map(divide).collect();
        self.denominator = divide(&self.denominator);
        self
    }

    /// Aᵀ.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, self.denominator.clone(), |i, j| self.at(j, i).clone())
    }

    /// A B.
    pub fn mul(&self, other: &Self) -> Self {
        let d = self.denominator.times(&other.denominator);
        Self::from_fn(self.rows, other.cols, d, |i, j| {
            (0..self.cols).fold(Int::ZERO, |sum, k| {
                let (a, b) = (self.at(i, k), other.at(k, j));
                if a.is_zero() || b.is_zero() { sum } else { sum.plus(&a.times(b)) }
            })
        })
    }

    /// A + s B.
    pub fn plus(&self, s: &BigRational, other: &Self) -> Self {
        let (sn, sd) = (Int::of_big(s.numer().clone()), Int::of_big(s.denom().clone()));
        let left = other.denominator.times(&sd);
        let right = self.denominator.times(&sn);
        Self::from_fn(self.rows, self.cols, left.times(&self.denominator), |i, j| {
            self.at(i, j).times(&left).plus(&other.at(i, j).times(&right))
        })
    }

    /// All entries without their signs.
    pub fn abs(&self) -> Self {
        let size = |x: &Int| if x.sign() < 0 { x.negated() } else { x.clone() };
        Self::from_fn(self.rows, self.cols, self.denominator.clone(), |i, j| size(self.at(i, j)))
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, Int::ONE, |i, j| if i == j { Int::ONE } else { Int::ZERO })
    }

    /// The rows and columns listed.
    pub fn select(&self, rows: &[usize], cols: &[usize]) -> Self {
        Self::from_fn(rows.len(), cols.len(), self.denominator.clone(), |i, j| {
            self.at(rows[i], cols[j]).clone()
        })
    }

    /// The rows listed.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        self.select(rows, &(0..self.cols).collect::<Vec<_>>())
    }

    /// A with B below.
    pub fn above(&self, below: &Self) -> Self {
        let d = self.denominator.times(&below.denominator);
        Self::from_fn(self.rows + below.rows, self.cols, d, |i, j| {
            if i < self.rows {
                self.at(i, j).times(&below.denominator)
            } else {
                below.at(i - self.rows, j).times(&self.denominator)
            }
        })
    }

    /// A with B to its right.
    pub fn beside(&self, right: &Self) -> Self {
        self.transpose().above(&right.transpose()).transpose()
    }

    fn tableau(&self) -> Tableau {
        let rows = (0..self.rows).map(|i| (0..self.cols).map(|j| self.at(i, j).clone()).collect()).collect();
        Tableau { rows, denominator: Int::ONE }
    }

    /// The rows of a largest independent subset, first come first kept.
    pub fn independent_rows(&self) -> Vec<usize> {
        // Columns of Aᵀ are eliminated from the left: a pivot means that the row is new.
        let mut t = self.transpose().tableau();
        let mut used = vec![false; t.rows.len()];
        (0..self.rows)
            .filter(|&c| match (0..t.rows.len()).find(|&r| !used[r] && !t.rows[r][c].is_zero()) {
                Some(r) => {
                    used[r] = true;
                    t.pivot(r, c);
                    true
                }
                None => false,
            })
            .collect()
    }

    /// The rank.
    pub fn rank(&self) -> usize {
        self.independent_rows().len()
    }

    /// A⁻¹ B; `None` where A is not square or singular, or where the sizes differ.
    pub fn solve(&self, b: &Self) -> Option<Self> {
        let n = self.rows;
        if n != self.cols || b.rows != n {
            return None;
        }
        let mut t = self.tableau();
        for (i, row) in t.rows.iter_mut().enumerate() {
            row.extend((0..b.cols).map(|j| b.at(i, j).clone()));
        }
        let mut row_of = vec![n; n];
        let mut used = vec![false; n];
        for c in 0..n {
            let r = (0..n).find(|&r| !used[r] && !t.rows[r][c].is_zero())?;
            t.pivot(r, c);
            used[r] = true;
            row_of[c] = r;
        }
        // A = N/d and B = P/e: A⁻¹B = (d/e) N⁻¹P.
        let d = t.denominator.times(&b.denominator);
        Some(Self::from_fn(n, b.cols, d, |i, j| t.rows[row_of[i]][n + j].times(&self.denominator)))
    }

    /// A⁻¹; `None` where A is not square or singular.
    pub fn inverse(&self) -> Option<Self> {
        self.solve(&Self::identity(self.rows))
    }

    /// The sign of the determinant of the rows and columns listed: −1, 0 or 1.
    pub fn minor_sign(&self, set: &[usize]) -> i32 {
        let n = set.len();
        let mut a: Vec<Vec<Int>> =
            set.iter().map(|&i| set.iter().map(|&j| self.at(i, j).clone()).collect()).collect();
        let mut sign = 1;
        let mut before = Int::ONE;
        for k in 0..n {
            let Some(r) = (k..n).find(|&r| !a[r][k].is_zero()) else { return 0 };
            if r != k {
                a.swap(r, k);
                sign = -sign;
            }
            let (top, rest) = a.split_at_mut(k + 1);
            let row = &top[k];
            for other in rest {
                for j in k + 1..n {
                    other[j] = Int::cross(&other[j], &row[k], &other[k], &row[j], &before);
                }
            }
            before = row[k].clone();
        }
        sign * before.sign()
    }

    /// Whether xᵀAx > 0 for all x ≠ 0; `None` where A is not square.
    pub fn is_positive_definite(&self) -> Option<bool> {
        self.definite(false)
    }

    /// Whether xᵀAx ≥ 0 for all x; `None` where A is not square.
    pub fn is_positive_semidefinite(&self) -> Option<bool> {
        self.definite(true)
    }

    fn symmetric(&self) -> Option<Self> {
        let double = |i: usize, j: usize| self.at(i, j).plus(self.at(j, i));
        (self.rows == self.cols)
            .then(|| Self::from_fn(self.rows, self.rows, self.denominator.times(&Int::Small(2)), double))
    }

    fn definite(&self, semi: bool) -> Option<bool> {
        let n = self.rows;
        let mut t = self.symmetric()?.tableau();
        let mut left: Vec<usize> = (0..n).collect();
        while let Some(k) = left.pop() {
            match t.rows[k][k].sign() {
                -1 => return Some(false),
                0 if !semi => return Some(false),
                // A zero on the diagonal with something beside it makes a 2 × 2 block with determinant < 0.
                0 if left.iter().any(|&j| !t.rows[k][j].is_zero()) => return Some(false),
                0 => {}
                _ => t.pivot(k, k),
            }
        }
        Some(true)
    }

    /// Whether all principal minors are positive; `None` where A is not square or larger than
    /// [`P_MATRIX_MAX`].
    pub fn is_p_matrix(&self) -> Option<bool> {
        let n = self.rows;
        if n != self.cols || n > P_MATRIX_MAX {
            return None;
        }
        Some(subsets(n).all(|set| self.minor_sign(&set) > 0))
    }

    /// Whether xᵀAx ≥ 0 for all x ≥ 0; `None` where A is not square or larger than `COPOSITIVE_MAX`.
    pub fn is_copositive(&self) -> Option<bool> {
        let n = self.rows;
        if n > COPOSITIVE_MAX {
            return None;
        }
        let s = self.symmetric()?;
        Some(subsets(n).all(|set| {
            s.select(&set, &set)
                .inverse()
                .is_none_or(|inverse| inverse.numerators.iter().any(|x| x.sign() > 0))
        }))
    }

    /// Whether all entries are ≤ 0.
    pub fn is_nonpositive(&self) -> bool {
        self.numerators.iter().all(|x| x.sign() <= 0)
    }

    /// The sign of xᵀAx; `None` where the sizes differ.
    pub fn form_sign(&self, x: &Self) -> Option<i32> {
        if x.cols != 1 || x.rows != self.rows || x.rows != self.cols {
            return None;
        }
        Some(x.transpose().mul(self).mul(x).at(0, 0).sign())
    }

    /// Whether every singular value is at least s ≥ 0.
    pub fn singular_values_at_least(&self, s: &BigRational) -> bool {
        let gram = self.gram();
        gram.plus(&-(s * s), &Self::identity(gram.rows)).is_positive_semidefinite() == Some(true)
    }

    /// Whether every singular value is at most s ≥ 0.
    pub fn singular_values_at_most(&self, s: &BigRational) -> bool {
        let gram = self.gram();
        let minus = BigRational::from(BigInt::from(-1));
        let (zero, one) = (gram.plus(&minus, &gram), Self::identity(gram.rows));
        zero.plus(&(s * s), &one).plus(&minus, &gram).is_positive_semidefinite() == Some(true)
    }

    /// AᵀA or AAᵀ, whichever is smaller: its eigenvalues are the squares of the singular values.
    fn gram(&self) -> Self {
        if self.rows < self.cols { self.mul(&self.transpose()) } else { self.transpose().mul(self) }
    }
}

/// All non-empty subsets of 0..n.
fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (1u32..1 << n).map(move |set| (0..n).filter(|k| set >> k & 1 == 1).collect())
}
