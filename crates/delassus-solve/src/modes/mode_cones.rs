//! The modes of a constraint: each polyhedral law as a finite union of cones in (f, u).
//!
//! ```text
//! open:  f = 0, u_n ≥ 0        slide:  u_n = 0, f = s (±1, −μ e), s ≥ 0        stick:  u = 0, |f_t| ≤ μ |f_n|
//! ```
//!
//! f and u have one to three rows (normal, tangents); e is the unit direction of slip, −1 the sign of a
//! normal force that a two-sided guide alone can have.

use crate::problem::{Law, PolyhedralLaw};

/// What a contact does in a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bilateral: a joint.
    Bilateral,
    /// No force, free to separate.
    Open,
    /// Touching, free to move along the tangents or moving with friction at its limit.
    Slide,
    /// Touching and not moving along the tangents.
    Stick,
}

/// One linear form α·f + β·u on the rows of a constraint.
pub(super) type Form = ([f64; 3], [f64; 3]);

/// One cone of a law.
pub(super) struct ModeCone {
    pub(super) mode: Mode,
    /// f is a combination of these.
    pub(super) basis: Vec<[f64; 3]>,
    /// These forms of u vanish; as many as there are basis vectors.
    pub(super) still: Vec<[f64; 3]>,
    /// These forms of f vanish (the span of the basis, as equations).
    pub(super) absent: Vec<[f64; 3]>,
    /// These forms are nonnegative.
    pub(super) nonnegative: Vec<Form>,
}

fn force_form(f: [f64; 3]) -> Form {
    (f, [0.0; 3])
}

fn velocity_form(u: [f64; 3]) -> Form {
    ([0.0; 3], u)
}

const N: [f64; 3] = [1.0, 0.0, 0.0];
const T: [f64; 3] = [0.0, 1.0, 0.0];

pub(super) fn negated(x: [f64; 3]) -> [f64; 3] {
    x.map(|v| -v)
}

/// The cone with force parameter s ≥ 0, f = s·(sign, −μ e), and normal velocity zero.
fn sliding_cone(sign: f64, mu: f64, e: &[f64], motion: Option<f64>) -> ModeCone {
    let mut ray = [sign, 0.0, 0.0];
    let mut absent = Vec::new();
    for (k, ek) in e.iter().enumerate() {
        ray[k + 1] = -mu * ek;
        // f_k + μ e_k |f_n| = 0 with |f_n| = sign·f_n.
        let mut form = [mu * ek * sign, 0.0, 0.0];
        form[k + 1] = 1.0;
        absent.push(form);
    }
    let mut nonnegative = vec![force_form([sign, 0.0, 0.0])];
    if let Some(direction) = motion {
        nonnegative.push(velocity_form([0.0, direction, 0.0]));
    }
    ModeCone { mode: Mode::Slide, basis: vec![ray], still: vec![N], absent, nonnegative }
}

/// The cones of a law; `None` for laws that are not polyhedral.
pub(super) fn mode_cones(law: &Law) -> Option<Vec<ModeCone>> {
    let d = law.dim();
    let unit = |k: usize| {
        let mut e = [0.0; 3];
        e[k] = 1.0;
        e
    };
    let open = || ModeCone {
        mode: Mode::Open,
        basis: vec![],
        still: vec![],
        absent: (0..d).map(unit).collect(),
        nonnegative: vec![velocity_form(N)],
    };
    let stick = |sign: f64, mu: f64| ModeCone {
        mode: Mode::Stick,
        basis: vec![N, T],
        still: vec![N, T],
        absent: vec![],
        nonnegative: vec![
            force_form([sign, 0.0, 0.0]),
            force_form([mu * sign, 1.0, 0.0]),
            force_form([mu * sign, -1.0, 0.0]),
        ],
    };
    Some(match law.polyhedral()? {
        PolyhedralLaw::Bilateral => {
            vec![ModeCone {
                mode: Mode::Bilateral,
                basis: vec![N],
                still: vec![N],
                absent: vec![],
                nonnegative: vec![],
            }]
        }
        PolyhedralLaw::Unilateral => vec![open(), sliding_cone(1.0, 0.0, &[], None)],
        PolyhedralLaw::Sliding { mu, slip } => vec![open(), sliding_cone(1.0, mu, slip.components(), None)],
        PolyhedralLaw::BilateralSliding { mu, slip } => [1.0, -1.0]
            .map(|sign| ModeCone { mode: Mode::Bilateral, ..sliding_cone(sign, mu, slip.components(), None) })
            .into(),
        PolyhedralLaw::CoulombPlane { mu } => vec![
            open(),
            stick(1.0, mu),
            sliding_cone(1.0, mu, &[1.0], Some(1.0)),
            sliding_cone(1.0, mu, &[-1.0], Some(-1.0)),
        ],
        PolyhedralLaw::BilateralCoulombPlane { mu } => {
            let mut all = Vec::new();
            for sign in [1.0, -1.0] {
                all.push(stick(sign, mu));
                all.push(sliding_cone(sign, mu, &[1.0], Some(1.0)));
                all.push(sliding_cone(sign, mu, &[-1.0], Some(-1.0)));
            }
            all
        }
    })
}
