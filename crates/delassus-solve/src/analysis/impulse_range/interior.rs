//! Linear programs over cones of at most three coordinates, by an interior-point method.
//!
//! ```text
//! min gᵀx , A x = b , x ∈ K        max bᵀy , Aᵀy + z = g , z ∈ K        A H Aᵀ dy = r ,   H z = x ,   x ∘ z → 0
//! ```
//!
//! x, z, g ∈ Rᵏ, y, b ∈ Rⁿ, A is n × k, K a product of half lines and second-order cones, H that of the
//! scaling of Nesterov and Todd, one block per cone. A contact touches two bodies: A H Aᵀ has few entries,
//! and a program takes a fourth of the time that a general solver needs. Predictor and corrector are those
//! of Mehrotra, with separate steps for x and z.
//!
//! Nothing here is believed: whoever asks checks x and z.

use crate::linalg::{Envelope, axpy, dot, max_abs, norm};

/// Residuals and gap at which a solution is good enough.
const TOLERANCE: f64 = 1e-9;
/// Rounds after which the best one found is returned.
const ROUNDS: usize = 30;
/// Points so far away, in units of b, show that nothing bounds gᵀx: another method is to say so.
const FAR: f64 = 1e9;
/// The part of the way to the boundary of the cones that is gone.
const STEP: f64 = 0.98;
/// A row depends on those before it where so little is left of its diagonal.
const DEPENDENT: f64 = 1e-14;
/// Multiplications of one factorization up to which it is worth its while.
const MOST_WORK: usize = 400_000;
/// Most coordinates of a cone, and equations that are worked on together.
const MAX_CONE_ROWS: usize = 3;

type Small = [f64; MAX_CONE_ROWS];

/// Coordinates of a cone, and the columns of A there.
struct Block {
    first: usize,
    dim: usize,
    /// The columns, in three equations at a time: their number, and of each its entries.
    tiles: Vec<(usize, [Small; MAX_CONE_ROWS])>,
}

impl Block {
    fn new(first: usize, columns: &[Vec<(usize, f64)>]) -> Self {
        let mut places: Vec<usize> = columns.iter().flatten().map(|e| e.0 / MAX_CONE_ROWS).collect();
        places.sort_unstable();
        places.dedup();
        let mut tiles: Vec<(usize, [Small; MAX_CONE_ROWS])> =
            places.into_iter().map(|place| (place, [[0.0; MAX_CONE_ROWS]; MAX_CONE_ROWS])).collect();
        for (k, column) in columns.iter().enumerate() {
            for (row, x) in column {
                let tile = tiles.binary_search_by_key(&(row / MAX_CONE_ROWS), |tile| tile.0);
                tile.iter().for_each(|&at| tiles[at].1[row % MAX_CONE_ROWS][k] = *x);
            }
        }
        Block { first, dim: columns.len(), tiles }
    }

    fn of<'a>(&self, v: &'a [f64]) -> &'a [f64] {
        &v[self.first..self.first + self.dim]
    }

    fn of_mut<'a>(&self, v: &'a mut [f64]) -> &'a mut [f64] {
        &mut v[self.first..self.first + self.dim]
    }
}

/// A x = b , x ∈ K.
pub(super) struct InteriorPoint {
    blocks: Vec<Block>,
    b: Vec<f64>,
    profile: Envelope,
    /// A point of least norm with A x = b, moved into the cones.
    start: Vec<f64>,
}

/// A solution as this method sees it.
#[derive(Clone)]
pub(super) struct Optimum {
    pub(super) x: Vec<f64>,
    y: Vec<f64>,
    pub(super) z: Vec<f64>,
}

impl InteriorPoint {
    /// The columns of A cone by cone, each of an equation and an entry; `None` where too many equations hang
    /// together.
    pub(super) fn new(cones: &[Vec<Vec<(usize, f64)>>], mut b: Vec<f64>) -> Option<Self> {
        let (mut blocks, mut first) = (vec![], 0);
        b.resize(b.len().next_multiple_of(MAX_CONE_ROWS), 0.0);
        let mut lowest: Vec<u32> = (0..b.len() as u32).collect();
        for columns in cones {
            let block = Block::new(first, columns);
            for (place, _) in &block.tiles {
                let least = MAX_CONE_ROWS * block.tiles[0].0;
                lowest[MAX_CONE_ROWS * place..][..MAX_CONE_ROWS]
                    .iter_mut()
                    .for_each(|x| *x = (*x).min(least as u32));
            }
            first += block.dim;
            blocks.push(block);
        }
        let mut profile = Envelope::default();
        if profile.set_profile(lowest.into_iter()) > MOST_WORK {
            return None;
        }
        let mut out = InteriorPoint { blocks, b, profile, start: vec![0.0; first] };
        let mut factor = out.profile.clone();
        out.factorize(&vec![Scaling::IDENTITY; out.blocks.len()], &mut factor);
        let (mut y, mut start) = (out.b.clone(), vec![0.0; first]);
        factor.solve(&mut y);
        out.transpose_product(&y, &mut start);
        out.move_inside(&mut start);
        out.start = start;
        Some(out)
    }

    /// Where gᵀx is least; `None` where this method finds no such point.
    pub(super) fn minimise(&self, g: &[f64]) -> Option<Optimum> {
        let degree = self.blocks.len() as f64;
        let mut at = Optimum { x: self.start.clone(), y: vec![0.0; self.b.len()], z: g.to_vec() };
        self.move_inside(&mut at.z);
        let (size_b, size_g) = (1.0 + max_abs(&self.b), 1.0 + max_abs(g));
        let mut best: Option<(f64, Optimum)> = None;
        let (mut factor, mut step) = (self.profile.clone(), Step::new(g.len(), self.b.len()));
        let mut scaling = vec![];
        for _ in 0..ROUNDS {
            step.primal.copy_from_slice(&self.b);
            self.add_product(-1.0, &at.x, &mut step.primal);
            self.transpose_product(&at.y, &mut step.dual);
            step.dual.iter_mut().zip(g).zip(&at.z).for_each(|((d, g), z)| *d = g - *d - z);
            let gap = dot(&at.x, &at.z);
            let error = (max_abs(&step.primal) / size_b)
                .max(max_abs(&step.dual) / size_g)
                .max(gap / (1.0 + dot(g, &at.x).abs()));
            if !error.is_finite() || max_abs(&at.x) > FAR * size_b {
                break;
            }
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, at.clone()));
            }
            if error <= TOLERANCE {
                break;
            }
            scaling.clear();
            scaling.extend(self.blocks.iter().map_while(|b| Scaling::new(b.of(&at.x), b.of(&at.z))));
            if scaling.len() < self.blocks.len() {
                break;
            }
            self.factorize(&scaling, &mut factor);
            // First towards x ∘ z = 0 itself, then to a point in the middle, with what the first step misses.
            step.aim.iter_mut().zip(&at.x).for_each(|(aim, x)| *aim = -x);
            self.direct(&scaling, &factor, &mut step);
            let (to_x, to_z) = (self.way(&at.x, &step.dx).min(1.0), self.way(&at.z, &step.dz).min(1.0));
            let moved = |v: &[f64], d: &[f64], to: f64, i: usize| v[i] + to * d[i];
            let ahead: f64 =
                (0..g.len()).map(|i| moved(&at.x, &step.dx, to_x, i) * moved(&at.z, &step.dz, to_z, i)).sum();
            let centre = (ahead / gap).clamp(0.0, 1.0).powi(3) * gap / degree;
            for (b, s) in self.blocks.iter().zip(&scaling) {
                let aim = s.correct(b.of(&at.z), b.of(&step.dx), b.of(&step.dz), centre);
                b.of_mut(&mut step.aim).copy_from_slice(&aim[..b.dim]);
            }
            self.direct(&scaling, &factor, &mut step);
            let (to_x, to_z) = (self.way(&at.x, &step.dx), self.way(&at.z, &step.dz));
            let go = |v: &mut [f64], d: &[f64], way: f64| axpy((STEP * way).min(1.0), d, v);
            go(&mut at.x, &step.dx, to_x);
            go(&mut at.y, &step.dy, to_z);
            go(&mut at.z, &step.dz, to_z);
            self.keep_inside(&mut at.x);
            self.keep_inside(&mut at.z);
        }
        best.map(|(_, optimum)| optimum)
    }

    /// The direction to an aim: A dx = r_p , Aᵀ dy + dz = r_d , dx + H dz = aim.
    fn direct(&self, scaling: &[Scaling], factor: &Envelope, step: &mut Step) {
        let Step { primal, dual, aim, dx, dy, dz } = step;
        self.scale(scaling, dual, dx);
        dx.iter_mut().zip(&*aim).for_each(|(x, aim)| *x -= aim);
        dy.copy_from_slice(primal);
        self.add_product(1.0, dx, dy);
        factor.solve(dy);
        self.transpose_product(dy, dz);
        dz.iter_mut().zip(dual).for_each(|(z, dual)| *z = *dual - *z);
        self.scale(scaling, dz, dx);
        dx.iter_mut().zip(&*aim).for_each(|(x, aim)| *x = aim - *x);
    }

    /// y += f A x.
    fn add_product(&self, f: f64, x: &[f64], y: &mut [f64]) {
        for block in &self.blocks {
            let own = padded(block.of(x)).map(|x| f * x);
            for (place, entries) in &block.tiles {
                y[MAX_CONE_ROWS * place..][..MAX_CONE_ROWS]
                    .iter_mut()
                    .zip(entries)
                    .for_each(|(y, e)| *y += inner(e, &own));
            }
        }
    }

    /// out ← Aᵀ y.
    fn transpose_product(&self, y: &[f64], out: &mut [f64]) {
        for block in &self.blocks {
            let mut sum = [0.0; MAX_CONE_ROWS];
            for (place, entries) in &block.tiles {
                for (y, e) in y[MAX_CONE_ROWS * place..][..MAX_CONE_ROWS].iter().zip(entries) {
                    (0..MAX_CONE_ROWS).for_each(|k| sum[k] += e[k] * y);
                }
            }
            block.of_mut(out).copy_from_slice(&sum[..block.dim]);
        }
    }

    /// out ← H v.
    fn scale(&self, scaling: &[Scaling], v: &[f64], out: &mut [f64]) {
        for (block, s) in self.blocks.iter().zip(scaling) {
            block.of_mut(out).copy_from_slice(&times(&s.h, &padded(block.of(v)))[..block.dim]);
        }
    }

    /// s ← the factor of A H Aᵀ.
    fn factorize(&self, scaling: &[Scaling], s: &mut Envelope) {
        s.clear();
        for (block, Scaling { h, .. }) in self.blocks.iter().zip(scaling) {
            for (i, (place, entries)) in block.tiles.iter().enumerate() {
                let scaled = entries.map(|e| times(h, &e));
                for (row, he) in (MAX_CONE_ROWS * place..).zip(&scaled) {
                    let from = s.first(row);
                    let own = s.row_mut(row);
                    for (other, entries) in &block.tiles[..i] {
                        if let Some(own) =
                            own[MAX_CONE_ROWS * other - from..].first_chunk_mut::<MAX_CONE_ROWS>()
                        {
                            (0..MAX_CONE_ROWS).for_each(|k| own[k] += inner(&entries[k], he));
                        }
                    }
                    let own = &mut own[MAX_CONE_ROWS * place - from..];
                    own.iter_mut().zip(entries).for_each(|(x, e)| *x += inner(e, he));
                }
            }
        }
        s.factorize(|whole, left| if left > DEPENDENT * whole { left.sqrt() } else { f64::INFINITY });
    }

    /// How far along d the cones go on from v, which lies inside of them.
    fn way(&self, v: &[f64], d: &[f64]) -> f64 {
        self.blocks.iter().map(|b| way_in_cone(b.of(v), b.of(d))).fold(f64::INFINITY, f64::min)
    }

    /// Moves a point into the cones, along their axes: by a part of its largest entry, neither too near to
    /// the boundary nor too far away.
    fn move_inside(&self, v: &mut [f64]) {
        let outside = |b: &Block| norm(&b.of(v)[1..]) - v[b.first];
        let most = self.blocks.iter().map(outside).fold(f64::NEG_INFINITY, f64::max);
        let room = 0.3 * max_abs(v).max(1e-3);
        if most > -0.1 * room {
            self.blocks.iter().for_each(|b| v[b.first] += most.max(0.0) + room);
        }
    }

    /// Takes back what rounding did beyond the boundary.
    fn keep_inside(&self, v: &mut [f64]) {
        for b in &self.blocks {
            let least = (1.0 + 1e-13) * norm(&b.of(v)[1..]) + 1e-15;
            v[b.first] = v[b.first].max(least);
        }
    }
}

/// What is missing, what is aimed at, and the way there.
struct Step {
    /// b − A x.
    primal: Vec<f64>,
    /// g − Aᵀ y − z.
    dual: Vec<f64>,
    aim: Vec<f64>,
    dx: Vec<f64>,
    dy: Vec<f64>,
    dz: Vec<f64>,
}

impl Step {
    fn new(k: usize, n: usize) -> Self {
        let [wide, narrow] = [vec![0.0; k], vec![0.0; n]];
        Step {
            primal: narrow.clone(),
            dual: wide.clone(),
            aim: wide.clone(),
            dx: wide.clone(),
            dy: narrow,
            dz: wide,
        }
    }
}

/// H = W² of a cone, W = η (w̄₀ , w̄_tᵀ ; w̄_t , I + w̄_t w̄_tᵀ/(1 + w̄₀)), padded to three coordinates.
#[derive(Clone)]
struct Scaling {
    h: [Small; MAX_CONE_ROWS],
    w: [Small; MAX_CONE_ROWS],
    /// η².
    square: f64,
}

impl Scaling {
    const IDENTITY: Scaling = {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Scaling { h: unit, w: unit, square: 1.0 }
    };

    /// The scaling at points inside of the cone; `None` where rounding has brought one to the boundary.
    fn new(x: &[f64], z: &[f64]) -> Option<Scaling> {
        let (x, z) = (padded(x), padded(z));
        let (size_x, size_z) = (determinant(&x).sqrt(), determinant(&z).sqrt());
        if !(size_x > 0.0 && size_z > 0.0) || x[0] <= 0.0 || z[0] <= 0.0 {
            return None;
        }
        // w̄ = (x̄ + J z̄) / √(2 + 2 x̄ᵀz̄) , H = η² (2 w̄ w̄ᵀ − J) .
        let [x, z] = [x.map(|x| x / size_x), z.map(|z| z / size_z)];
        let sum = (2.0 + 2.0 * (x[0] * z[0] + x[1] * z[1] + x[2] * z[2])).sqrt();
        let w = [(x[0] + z[0]) / sum, (x[1] - z[1]) / sum, (x[2] - z[2]) / sum];
        let square = size_x / size_z;
        let (root, one) = (square.sqrt(), |i: usize, j: usize| if i == j { 1.0 } else { 0.0 });
        let h =
            |i: usize, j: usize| square * (2.0 * w[i] * w[j] - if i == 0 { one(i, j) } else { -one(i, j) });
        let half = |i: usize, j: usize| match (i, j) {
            (0, _) => root * w[j],
            (_, 0) => root * w[i],
            _ => root * (w[i] * w[j] / (1.0 + w[0]) + one(i, j)),
        };
        let matrix =
            |of: &dyn Fn(usize, usize) -> f64| std::array::from_fn(|i| std::array::from_fn(|j| of(i, j)));
        Some(Scaling { h: matrix(&h), w: matrix(&half), square })
    }

    /// W d with λ ∘ d = c e − λ ∘ λ − (W⁻¹ dx) ∘ (W dz) , λ = W z.
    fn correct(&self, z: &[f64], dx: &[f64], dz: &[f64], centre: f64) -> Small {
        let lambda = times(&self.w, &padded(z));
        let over_z = times(&self.w, &padded(dz));
        // W⁻¹ = J W J / η² .
        let [a, b, c] = padded(dx);
        let [a, b, c] = times(&self.w, &[a, -b, -c]).map(|x| x / self.square);
        let product = |a: &Small, b: &Small| {
            [a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
        };
        let (own, missed) = (product(&lambda, &lambda), product(&[a, -b, -c], &over_z));
        let mut r: Small = std::array::from_fn(|k| -own[k] - missed[k]);
        r[0] += centre;
        let first = (lambda[0] * r[0] - lambda[1] * r[1] - lambda[2] * r[2]) / determinant(&lambda);
        let along = |k: usize| (r[k] - first * lambda[k]) / lambda[0];
        times(&self.w, &[first, along(1), along(2)])
    }
}

fn times(m: &[Small; MAX_CONE_ROWS], v: &Small) -> Small {
    m.map(|row| inner(&row, v))
}

fn inner(a: &Small, b: &Small) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn padded(v: &[f64]) -> Small {
    let mut out = [0.0; MAX_CONE_ROWS];
    out[..v.len()].copy_from_slice(v);
    out
}

/// v₀² − ‖v_t‖², without the cancellation of squares.
fn determinant(v: &Small) -> f64 {
    let tangential = norm(&v[1..]);
    (v[0] - tangential) * (v[0] + tangential)
}

/// How far along d a cone goes on from v inside of it.
fn way_in_cone(v: &[f64], d: &[f64]) -> f64 {
    if v.len() == 1 {
        return if d[0] < 0.0 { -v[0] / d[0] } else { f64::INFINITY };
    }
    let (v, d) = (padded(v), padded(d));
    // The first root of a α² + 2 b α + c = 0.
    let (a, c) = (determinant(&d), determinant(&v));
    let b = v[0] * d[0] - v[1] * d[1] - v[2] * d[2];
    if a >= 0.0 && b >= 0.0 && d[0] >= 0.0 {
        return f64::INFINITY;
    }
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    // Of the two forms of each root that without cancellation.
    let ways = if b > 0.0 { [-(b + root) / a, -c / (b + root)] } else { [c / (root - b), (root - b) / a] };
    ways.into_iter().filter(|w| *w >= 0.0).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(point: &InteriorPoint, g: &[f64]) -> f64 {
        let found = point.minimise(g).unwrap();
        let slack: f64 = found.x.iter().zip(&found.z).map(|(x, z)| x * z).sum();
        assert!(slack < 1e-8 * (1.0 + max_abs(g)), "{slack}");
        dot(g, &found.x)
    }

    /// Ends that are known: of a sum of half lines, and of a cone cut across and along its axis.
    #[test]
    fn ends_of_half_lines_and_cones_are_found() {
        // x₁ + x₂ = 2 on half lines, the equation written twice: rows that depend on others are passed over.
        let column = vec![(0, 1.0), (1, 1.0)];
        let share = InteriorPoint::new(&[vec![column.clone()], vec![column]], vec![2.0, 2.0]).unwrap();
        assert!(least(&share, &[1.0, 0.0]).abs() < 1e-8);
        assert!((least(&share, &[-1.0, 0.0]) + 2.0).abs() < 1e-8);
        // ‖(x₁, x₂)‖ ≤ x₀ = 3: a circle.
        let cone = |column: Vec<(usize, f64)>| vec![column, vec![], vec![]];
        let across = InteriorPoint::new(&[cone(vec![(0, 1.0)])], vec![3.0]).unwrap();
        assert!((least(&across, &[0.0, 3.0, 4.0]) + 15.0).abs() < 1e-7);
        assert!((least(&across, &[0.0, -1.0, 0.0]) + 3.0).abs() < 1e-8);
        // x₁ = 1: a branch of a hyperbola, whose apex is (1, 1, 0); along x₀ nothing bounds it.
        let along = InteriorPoint::new(&[vec![vec![], vec![(0, 1.0)], vec![]]], vec![1.0]).unwrap();
        assert!((least(&along, &[1.0, 0.0, 0.0]) - 1.0).abs() < 1e-8);
        let far = along.minimise(&[-1.0, 0.0, 0.0]).map_or(f64::INFINITY, |found| found.x[0]);
        assert!(far > 1e3, "{far}");
        // A contact in the plane has a cone of two coordinates.
        let plane = InteriorPoint::new(&[vec![vec![(0, 1.0)], vec![]]], vec![2.0]).unwrap();
        assert!((least(&plane, &[0.0, 1.0]) + 2.0).abs() < 1e-8);
    }
}
