//! Singular positions: where constraints lose rank along the motion, as in a parallelogram that folds flat.
//!
//! ```text
//! L⁻¹Rᵀ D = V Σ Uᵀ ,   M = L Lᵀ ;     σ_r(t) ~ |t − t*| ;     q̈ = L⁻ᵀ(a₀ + V Σ⁻¹ Uᵀ(−Dγ − D R L⁻ᵀ a₀)) ,   a₀ = −L⁻¹F
//! ```
//!
//! R (k × n) are the active rows with bias γ ∈ ℝᵏ, M the mass matrix, F ∈ ℝⁿ the given forces, D (k × k,
//! diagonal) scales the rows to length one in the norm of M⁻¹ at the largest gradients seen so far.
//! At t* several motions branch. The one that comes in goes out smoothly: σ_r and the right-hand side along
//! u_r pass zero together, so that q and q̈ are smooth while the force along u_r grows as 1/|t − t*|. A state
//! that is off its constraints by δ changes q̈ by δ/σ_r, on which sweeps do not contract; points of a step
//! that are first moved onto the constraints have no such error, and the polynomial goes over t* between two
//! of them.
//!
//! The polynomial could also jump between two branches that come close without meeting, uᵀg = ε ≠ 0; such a
//! step is refused.

use delassus_solve::linalg::{Matrix, RowSpace, axpy, dot, max_abs, norm};

use super::equations::{ActiveRows, Equations, Mechanics, ModeError, Modes, Response};
use super::gauss_collocation::{DenseStep, GAUSS};
use super::linear_solve::MassFactor;
use crate::lagrangian::State;

/// Singular values below this part of the largest are zero: rows that depend on each other all the way are
/// off by the error of a point on the constraints, 1e-16/σ_r, and a point this near t* is of no use.
const ZERO_SINGULAR_VALUE: f64 = 1e-8;
/// Equations that cannot all hold leave more than this part of their terms, as in `linear_solve`.
const INCONSISTENT_PART: f64 = 1e-6;
/// A smallest singular value that falls by less than this factor within a step does not pass zero in it: the
/// points next to t* are within 0.1 h of it, the far end of the step at least 0.5 h away.
const MAX_FALL_RATIO: f64 = 0.4;
/// It has passed zero where its least value is below this part of its largest, or below as many tolerances.
const PASSED_RATIO: f64 = 1e-6;
const PASSED_TOLERANCES: f64 = 10.0;
/// What rounding leaves of a constraint that holds, relative to the largest position or 1.
const CONSTRAINT_ROUNDING: f64 = 1e-13;
/// Golden section steps: 0.618⁵⁵ = 3e-12 of the bracket, which is where dense steps end.
const GOLDEN_SECTIONS: usize = 55;
/// Positions this part apart give the rate of a singular value to a part of this size.
const DIFFERENCE: f64 = 1e-6;
/// Quadratic forms below this part of all curvatures are zero.
const ZERO_FORM: f64 = 1e-6;

/// Where t* lies in steps over it, as parts of their length: in the middle between two points of a step, or
/// before the first of them.
pub(super) const PLACES: [f64; 7] = [0.5, 0.3227, 0.1694, 0.6773, 0.0608, 0.8306, 0.01];

/// A singular position that a step passes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Passage {
    /// Where in the step.
    pub(super) theta: f64,
    /// Name of the joint or contact that loses most of its hold.
    pub(super) name: String,
    /// The velocity with which it is passed: the branch that is followed.
    pub(super) velocity: Vec<f64>,
    /// How many motions meet there; 0 where that was not counted.
    pub(super) branches: usize,
}

/// What a step does near a singular position.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Crossing {
    /// It stays away.
    Apart,
    Passes(Passage),
    /// It would jump between motions that do not meet.
    Misses,
}

/// The active rows in the norm of the mass.
struct Spectrum {
    factor: MassFactor,
    /// D.
    scale: Vec<f64>,
    /// L⁻¹Rᵀ D (n × k).
    matrix: Matrix,
    /// `basis` is U, `column_basis` V.
    space: RowSpace,
    /// Singular values up to this part of the largest are zero.
    zero: f64,
}

impl Spectrum {
    fn new(
        mechanics: &Mechanics<'_>,
        at: &Equations,
        active: &ActiveRows<'_>,
        zero: f64,
    ) -> Result<Spectrum, ModeError> {
        let rows = active.rows();
        let (n, k) = (mechanics.coordinates(), rows.len());
        let factor = mechanics.mass_factor(&at.mass)?;
        let mut matrix = Matrix::from_fn(n, k, |i, j| rows[j].gradient[i]);
        factor.solve_lower(&mut matrix);
        let mean_mass = (0..n).map(|i| at.mass[(i, i)]).sum::<f64>() / n as f64;
        let scale: Vec<f64> = (active.gradient_sizes(at).into_iter().zip(rows).enumerate())
            .map(|(j, (largest, row))| {
                let (size, now) = (norm(&matrix.col(j)), max_abs(&row.gradient));
                if now > 0.0 {
                    now / (largest * size)
                } else {
                    mean_mass.sqrt() / largest.max(f64::MIN_POSITIVE)
                }
            })
            .collect();
        let matrix = Matrix::from_fn(n, k, |i, j| matrix[(i, j)] * scale[j]);
        let space = matrix.row_space_with(zero);
        Ok(Spectrum { factor, scale, matrix, space, zero })
    }

    /// The singular value with this number, as a part of the largest.
    fn value(&self, number: usize) -> f64 {
        let s = &self.space.singular_values;
        s.get(number).copied().unwrap_or(0.0) / s.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE)
    }

    /// Velocities that keep all rows, one per column.
    fn motions(&self) -> Matrix {
        let mut motions = self.matrix.transpose().row_space_with(self.zero).null_basis;
        self.factor.solve_upper(&mut motions);
        motions
    }

    /// Combinations of rows that vanish, one per column.
    fn combinations(&self) -> Matrix {
        let null = &self.space.null_basis;
        Matrix::from_fn(null.rows(), null.cols(), |j, u| self.scale[j] * null[(j, u)])
    }
}

/// Accelerations and forces as [`Mechanics::respond`] gives them, from singular values: with an error that
/// grows as 1/σ_r instead of 1/σ_r². Nothing slides with friction.
pub(super) fn respond(
    mechanics: &Mechanics<'_>,
    at: &Equations,
    modes: &Modes,
) -> Result<Response, ModeError> {
    let active = mechanics.active_rows(at, modes);
    let rows = active.rows();
    let spectrum = Spectrum::new(mechanics, at, &active, ZERO_SINGULAR_VALUE)?;
    let Spectrum { factor, scale, matrix, space, .. } = &spectrum;
    let mut free = Matrix::from_vec(at.force.len(), 1, at.force.iter().map(|f| -f).collect());
    factor.solve_lower(&mut free);
    let free = free.data();
    let target: Vec<f64> = (rows.iter().zip(scale).enumerate())
        .map(|(j, (row, d))| -d * row.bias - dot(&matrix.col(j), free))
        .collect();
    let (u, v) = (&space.basis, &space.column_basis);
    let along: Vec<f64> = (0..space.rank).map(|p| dot(&u.col(p), &target)).collect();
    let left = target.iter().enumerate().map(|(j, b)| (b - dot(u.row(j), &along)).abs()).fold(0.0, f64::max);
    if left > INCONSISTENT_PART * max_abs(&target).max(norm(free)) {
        return Err(ModeError::Inconsistent);
    }
    let s = &space.singular_values;
    let part: Vec<f64> = along.iter().zip(s).map(|(c, s)| c / s).collect();
    let twice: Vec<f64> = part.iter().zip(s).map(|(c, s)| c / s).collect();
    let mut a = Matrix::from_fn(free.len(), 1, |i, _| free[i] + dot(v.row(i), &part));
    factor.solve_upper(&mut a);
    let x: Vec<f64> = scale.iter().enumerate().map(|(j, d)| d * dot(u.row(j), &twice)).collect();
    let mut response = Response {
        acceleration: a.data().to_vec(),
        contacts: vec![[0.0; 3]; at.contacts.len()],
        joints: vec![[0.0; 3]; at.joints.len()],
        determinant: 1.0,
        ..Response::default()
    };
    active.spread(&x, &mut response);
    if space.rank < x.len() {
        response.margin = Some(active.margin(at, modes, &x, &space.null_basis));
    }
    Ok(response)
}

/// Finds the singular position that a step passes.
pub(super) fn crossing(
    mechanics: &mut Mechanics<'_>,
    modes: &Modes,
    step: &DenseStep,
    tolerance: f64,
) -> Result<Crossing, ModeError> {
    let thetas: Vec<f64> = [0.0].into_iter().chain(GAUSS.points).chain([1.0]).collect();
    let mut spectra = vec![];
    for &theta in &thetas {
        spectra.push(spectrum_at(mechanics, modes, step, theta, ZERO_SINGULAR_VALUE)?);
    }
    // Rows that depend on others all the way do so at every point.
    let Some(last) = spectra.iter().map(|s| s.space.rank).max().and_then(|rank| rank.checked_sub(1)) else {
        return Ok(Crossing::Apart);
    };
    let values: Vec<f64> = spectra.iter().map(|s| s.value(last)).collect();
    let most = max_abs(&values);
    let lowest = (0..values.len()).min_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0);
    if values[lowest] > MAX_FALL_RATIO * most {
        return Ok(Crossing::Apart);
    }
    let passed = PASSED_RATIO.max(PASSED_TOLERANCES * tolerance) * most;
    let bracket = (thetas[lowest.saturating_sub(1)], thetas[(lowest + 1).min(thetas.len() - 1)]);
    let (theta, least) = golden_section(bracket, |theta| {
        Ok(spectrum_at(mechanics, modes, step, theta, ZERO_SINGULAR_VALUE)?.value(last))
    })?;
    if least > passed {
        return Ok(Crossing::Apart);
    }
    examine(mechanics, modes, (step, theta), last + 1, (passed, tolerance))
}

/// The singular position at θ of the step, whose rows have the rank `rank` elsewhere.
fn examine(
    mechanics: &mut Mechanics<'_>,
    modes: &Modes,
    (step, theta): (&DenseStep, f64),
    rank: usize,
    (passed, tolerance): (f64, f64),
) -> Result<Crossing, ModeError> {
    let state = state_at(step, theta);
    let closed = |i: usize| modes.contacts[i].is_closed();
    let at = mechanics.equations((state.t, &state.q, &state.v), closed)?;
    let active = mechanics.active_rows(&at, modes);
    let spectrum = Spectrum::new(mechanics, &at, &active, 2.0 * passed)?;
    let size = max_abs(&state.q).max(1.0);
    // The error of q enters along the rows that lost their hold in second order.
    let error = PASSED_TOLERANCES * tolerance * size;
    let values = active.values(&at);
    let null = &spectrum.space.null_basis;
    let apart = |u: usize| -> f64 {
        (0..values.len()).map(|j| null[(j, u)] * spectrum.scale[j] * values[j]).sum::<f64>().abs()
    };
    if (0..null.cols()).map(apart).fold(0.0, f64::max) > CONSTRAINT_ROUNDING * size + error * error {
        return Ok(Crossing::Misses);
    }
    let weight = |j: usize| norm(null.row(j));
    let weakest = (0..values.len()).max_by(|a, b| weight(*a).total_cmp(&weight(*b)));
    let name = weakest.map(|j| active.name(j, mechanics.system()).to_owned()).unwrap_or_default();
    let motions = spectrum.motions();
    let null = spectrum.combinations();
    let simple = rank == spectrum.space.rank + 1 && motions.cols() == 2;
    let branches = if simple { count_branches(mechanics, &state, modes, &motions, &null)? } else { 0 };
    Ok(Crossing::Passes(Passage { theta, name, velocity: state.v, branches }))
}

/// Two where the second-order condition on two free motions is an indefinite form, a pair of lines; else
/// not counted.
fn count_branches(
    mechanics: &mut Mechanics<'_>,
    state: &State,
    modes: &Modes,
    motions: &Matrix,
    null: &Matrix,
) -> Result<usize, ModeError> {
    let (forms, size) = curvatures(mechanics, state, modes, motions, null)?;
    let real = |form: &Matrix| {
        let (a, b, c) = (form[(0, 0)], form[(0, 1)], form[(1, 1)]);
        a * c - b * b < -(ZERO_FORM * size).powi(2)
    };
    Ok(if forms.iter().any(real) { 2 } else { 0 })
}

/// Per combination of rows that vanishes, the form yᵀ B y by which the velocities N y violate it in second
/// order; beside them the largest such rate of any row.
fn curvatures(
    mechanics: &mut Mechanics<'_>,
    state: &State,
    modes: &Modes,
    motions: &Matrix,
    null: &Matrix,
) -> Result<(Vec<Matrix>, f64), ModeError> {
    let closed = |i: usize| modes.contacts[i].is_closed();
    let mut bias = |v: &[f64]| -> Result<Vec<f64>, ModeError> {
        let at = mechanics.equations((state.t, &state.q, v), closed)?;
        Ok(mechanics.active_rows(&at, modes).rows().iter().map(|row| row.bias).collect())
    };
    // The part of the bias that is quadratic in the velocity.
    let mut quadratic = |v: &[f64]| -> Result<Vec<f64>, ModeError> {
        let back: Vec<f64> = v.iter().map(|x| -x).collect();
        let (there, back, rest) = (bias(v)?, bias(&back)?, bias(&vec![0.0; v.len()])?);
        Ok((0..rest.len()).map(|j| 0.5 * (there[j] + back[j]) - rest[j]).collect())
    };
    let d = motions.cols();
    let mut forms = vec![Matrix::zeros(d, d); null.cols()];
    let mut size = 0.0_f64;
    for p in 0..d {
        for q in 0..=p {
            let mut sum = motions.col(p);
            axpy(1.0, &motions.col(q), &mut sum);
            let mut apart = motions.col(p);
            axpy(-1.0, &motions.col(q), &mut apart);
            let (sum, apart) = (quadratic(&sum)?, quadratic(&apart)?);
            let mixed: Vec<f64> = sum.iter().zip(&apart).map(|(s, a)| 0.25 * (s - a)).collect();
            size = size.max(max_abs(&mixed));
            for (u, form) in forms.iter_mut().enumerate() {
                let value = dot(&null.col(u), &mixed);
                (form[(p, q)], form[(q, p)]) = (value, value);
            }
        }
    }
    let rows = null.data().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    Ok((forms, size * rows))
}

/// The name of a joint at which several motions branch from this state at rest, where forces would move it;
/// `None` where it moves one way, or stays.
pub(super) fn branches_at_rest(
    mechanics: &mut Mechanics<'_>,
    state: &State,
    modes: &Modes,
) -> Result<Option<String>, ModeError> {
    let at = mechanics.equations((state.t, &state.q, &state.v), |i| modes.contacts[i].is_closed())?;
    let active = mechanics.active_rows(&at, modes);
    let spectrum = Spectrum::new(mechanics, &at, &active, ZERO_SINGULAR_VALUE)?;
    if spectrum.space.null_basis.cols() == 0 {
        return Ok(None);
    }
    let moves = respond(mechanics, &at, modes).is_ok_and(|r| {
        let size = max_abs(&at.force_size).max(f64::MIN_POSITIVE);
        max_abs(&at.mass.mul_vec(&r.acceleration)) > ZERO_SINGULAR_VALUE * size
    });
    let null = spectrum.combinations();
    let (forms, size) = curvatures(mechanics, state, modes, &spectrum.motions(), &null)?;
    let branching = (0..forms.len()).find(|u| forms[*u].max_abs() > ZERO_FORM * size);
    let Some(u) = branching.filter(|_| moves) else { return Ok(None) };
    let weight = |j: usize| (null[(j, u)] / spectrum.scale[j].max(f64::MIN_POSITIVE)).abs();
    let weakest = (0..null.rows()).max_by(|a, b| weight(*a).total_cmp(&weight(*b)));
    let active = mechanics.active_rows(&at, modes);
    Ok(weakest.map(|j| active.name(j, mechanics.system()).to_owned()))
}

/// The time up to the next singular position; 0 where the state is in one. It comes where the smallest
/// singular value falls, and goes on to fall on the parabola that leaves the state with its velocity and
/// acceleration.
pub(super) fn time_ahead(
    mechanics: &mut Mechanics<'_>,
    state: &State,
    modes: &Modes,
) -> Result<Option<f64>, ModeError> {
    let at = mechanics.equations((state.t, &state.q, &state.v), |i| modes.contacts[i].is_closed())?;
    let acceleration = respond(mechanics, &at, modes)?.acceleration;
    let mut spectrum = |time: f64| -> Result<Spectrum, ModeError> {
        let mut q = state.q.clone();
        axpy(time, &state.v, &mut q);
        axpy(0.5 * time * time, &acceleration, &mut q);
        let at = mechanics.equations((state.t, &q, &state.v), |i| modes.contacts[i].is_closed())?;
        let active = mechanics.active_rows(&at, modes);
        Spectrum::new(mechanics, &at, &active, ZERO_SINGULAR_VALUE)
    };
    let here = spectrum(0.0)?;
    let size = max_abs(&state.v).max(f64::MIN_POSITIVE);
    let short = DIFFERENCE * max_abs(&state.q).max(1.0) / size;
    let next = spectrum(short)?;
    if next.space.rank > here.space.rank {
        return Ok(Some(0.0));
    }
    let Some(last) = here.space.rank.checked_sub(1) else { return Ok(None) };
    let (s, next) = (here.value(last), next.value(last));
    let ahead = short * s / (s - next);
    if next >= s || !ahead.is_finite() || spectrum(ahead)?.value(last) > MAX_FALL_RATIO * s {
        return Ok(None);
    }
    Ok(Some(ahead))
}

fn state_at(step: &DenseStep, theta: f64) -> State {
    let mut q = vec![];
    step.at(theta, &mut q);
    let v = q.split_off(q.len() / 2);
    State { t: step.time(theta), q, v }
}

fn spectrum_at(
    mechanics: &mut Mechanics<'_>,
    modes: &Modes,
    step: &DenseStep,
    theta: f64,
    zero: f64,
) -> Result<Spectrum, ModeError> {
    let state = state_at(step, theta);
    let at = mechanics.equations((state.t, &state.q, &state.v), |i| modes.contacts[i].is_closed())?;
    let active = mechanics.active_rows(&at, modes);
    Spectrum::new(mechanics, &at, &active, zero)
}

/// The place and the value of the least of f, which has one minimum between a and b.
fn golden_section(
    (mut a, mut b): (f64, f64),
    mut f: impl FnMut(f64) -> Result<f64, ModeError>,
) -> Result<(f64, f64), ModeError> {
    let part = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut x, mut y) = (b - part * (b - a), a + part * (b - a));
    let (mut fx, mut fy) = (f(x)?, f(y)?);
    for _ in 0..GOLDEN_SECTIONS {
        if fx < fy {
            (b, y, fy) = (y, x, fx);
            x = b - part * (b - a);
            fx = f(x)?;
        } else {
            (a, x, fx) = (x, y, fy);
            y = a + part * (b - a);
            fy = f(y)?;
        }
    }
    Ok(if fx < fy { (x, fx) } else { (y, fy) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{one_joint, point_on_circle, state};

    /// Where rows are independent both ways give the centripetal acceleration and its force.
    #[test]
    fn singular_values_give_the_response() {
        let (system, at) = (point_on_circle(), state(&[0.6, 0.8], &[-1.6, 1.2]));
        let mut mechanics = Mechanics::new(&system, &at).unwrap();
        let equations = mechanics.equations((0.0, &at.q, &at.v), |_| true).unwrap();
        let (one, two) = (
            respond(&mechanics, &equations, &one_joint()).unwrap(),
            mechanics.respond(&equations, &one_joint()).unwrap(),
        );
        // Speed 2 on the unit circle.
        assert!((one.acceleration[0] + 2.4).abs() < 1e-14 && (one.acceleration[1] + 3.2).abs() < 1e-14);
        assert!((one.joints[0][0] - two.joints[0][0]).abs() < 1e-14);
        assert_eq!(time_ahead(&mut mechanics, &at, &one_joint()), Ok(None));
    }

    #[test]
    fn the_least_of_an_angle_is_found() {
        let found = golden_section((0.0, 1.0), |x| Ok((x - 0.3).abs())).unwrap();
        assert!((found.0 - 0.3).abs() < 1e-11 && found.1 < 1e-11);
    }
}
