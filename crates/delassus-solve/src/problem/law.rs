//! Contact laws: which forces go with which velocities at one constraint.
//!
//! A constraint owns consecutive rows (normal, tangent 1 and 2, rolling moment 1 and 2, moment about the
//! normal) of the force f and of the velocity u = W f + q; a law relates the two. "Velocity" stands for
//! acceleration, velocity or end-of-step velocity, depending on the level at which the problem was written;
//! f for force, percussion or impulse.
//!
//! | law | rows | relation |
//! |---|---|---|
//! | [`Law::Bilateral`] | 1 | u = 0 |
//! | [`Law::Unilateral`] | 1 | 0 ≤ u ⊥ f ≥ 0 |
//! | [`Law::CoulombPlane`] | 2 | unilateral normal, ‖f_t‖ ≤ μ f_n, f_t opposes u_t |
//! | [`Law::Coulomb`] | 3 | the same in space |
//! | [`Law::CoulombEllipse`] | 3 | the same with a coefficient per tangent: (f_1/μ_1)² + (f_2/μ_2)² ≤ f_n² |
//! | [`Law::Rolling`] | 5 | Coulomb's law and a rolling moment, ‖m‖ ≤ μ_r f_n, m opposes the rolling velocity |
//! | [`Law::Spinning`] | 6 | the same and a moment about the normal, abs(m_n) ≤ μ_s f_n |
//! | [`Law::Cone`] | 3 | K ∋ f ⊥ u ∈ K*, the associated cone law (004) |
//! | [`Law::ConePlane`] | 2 | the same in the plane |
//! | [`Law::ConeRolling`] | 5 | the same with the cone of [`Law::Rolling`] |
//! | [`Law::ConeSpinning`] | 6 | the same with the cone of [`Law::Spinning`] |
//! | [`Law::Sliding`] | 2, 3 | unilateral normal, f_t = −μ f_n e, e the known slip direction (000 eq. 1b) |
//! | [`Law::BilateralSliding`] | 2, 3 | u_n = 0, f_t = −μ abs(f_n) e (000 eq. 35) |
//! | [`Law::BilateralCoulombPlane`] | 2 | u_n = 0, abs(f_t) ≤ μ abs(f_n), f_t opposes u_t: a guide at rest |
//! | [`Law::BilateralCoulomb`] | 3 | the same in space |
//!
//! With û_n = u_n + s(u), s the support of friction at unit normal force (μ‖u_t‖ for Coulomb's law,
//! √((μ_1 u_1)² + (μ_2 u_2)²) for the ellipse, μ‖u_t‖ + μ_r‖ω‖ with rolling, μ_s abs(ω_n) more with
//! spinning), the laws of Coulomb's kind read K ∋ f ⊥ û ∈ K*: friction does as much work against the slip as
//! its set allows.

use serde::{Deserialize, Deserializer, Serialize};

/// The most rows of a law.
pub const MAX_LAW_ROWS: usize = 6;

/// The unit direction of a slip velocity that is known and not zero.
///
/// In files, a list of its components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<f64>", try_from = "Vec<f64>")]
pub enum Slip {
    /// One tangent: +1 or −1.
    Plane(f64),
    /// Two tangents: a unit vector.
    Space([f64; 2]),
}

impl Slip {
    /// The components along the tangents.
    pub fn components(&self) -> &[f64] {
        match self {
            Slip::Plane(s) => std::slice::from_ref(s),
            Slip::Space(e) => e,
        }
    }
}

impl From<Slip> for Vec<f64> {
    fn from(slip: Slip) -> Vec<f64> {
        slip.components().to_vec()
    }
}

impl TryFrom<Vec<f64>> for Slip {
    type Error = String;

    fn try_from(components: Vec<f64>) -> Result<Slip, String> {
        match components[..] {
            [e] => Ok(Slip::Plane(e)),
            [e, f] => Ok(Slip::Space([e, f])),
            _ => Err(format!("a slip has one or two components, found {}", components.len())),
        }
    }
}

/// Refuses keys beside the name of a law without coefficients, which serde would pass over.
fn no_coefficients<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(from).map(|Nothing {}| ())
}

/// The law of one constraint. μ is the friction coefficient, ≥ 0.
///
/// In files, an object with its name in `law` and its coefficients: `{"law": "coulomb-plane", "mu": 0.5}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law {
    /// u = 0, the force is free.
    #[serde(deserialize_with = "no_coefficients")]
    Bilateral,
    /// 0 ≤ u ⊥ f ≥ 0.
    #[serde(deserialize_with = "no_coefficients")]
    Unilateral,
    /// Coulomb's law in the plane, slip velocity zero so far.
    CoulombPlane {
        /// Friction coefficient.
        mu: f64,
    },
    /// Coulomb's law in space, slip velocity zero so far.
    Coulomb {
        /// Friction coefficient.
        mu: f64,
    },
    /// Coulomb's law in space with another coefficient along each tangent.
    CoulombEllipse {
        /// Friction coefficients along tangent 1 and tangent 2.
        mu: [f64; 2],
    },
    /// Coulomb's law in space and resistance to rolling.
    Rolling {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling friction, a length: moment per normal force.
        rolling: f64,
    },
    /// Coulomb's law in space and resistance to rolling and to spinning about the normal.
    Spinning {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling friction, a length: moment per normal force.
        rolling: f64,
        /// Coefficient of spinning friction, a length: moment about the normal per normal force.
        spinning: f64,
    },
    /// The associated (convex) cone law: not Coulomb's, it lifts off while sliding.
    Cone {
        /// Friction coefficient.
        mu: f64,
    },
    /// The associated law in the plane.
    ConePlane {
        /// Friction coefficient.
        mu: f64,
    },
    /// The associated law with rolling friction: u_n = μ‖u_t‖ + μ_r‖ω‖ where both are at their limits.
    ConeRolling {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling friction, a length: moment per normal force.
        rolling: f64,
    },
    /// The associated law with rolling and spinning friction.
    ConeSpinning {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling friction, a length: moment per normal force.
        rolling: f64,
        /// Coefficient of spinning friction, a length: moment about the normal per normal force.
        spinning: f64,
    },
    /// A unilateral contact that slides in a known direction.
    Sliding {
        /// Friction coefficient.
        mu: f64,
        /// Direction of the slip velocity.
        slip: Slip,
    },
    /// A guide that slides in a known direction; friction grows with the size of the normal force.
    BilateralSliding {
        /// Friction coefficient.
        mu: f64,
        /// Direction of the slip velocity.
        slip: Slip,
    },
    /// A planar guide with friction, slip velocity zero so far.
    BilateralCoulombPlane {
        /// Friction coefficient.
        mu: f64,
    },
    /// A spatial guide with friction, slip velocity zero so far.
    BilateralCoulomb {
        /// Friction coefficient.
        mu: f64,
    },
}

impl Law {
    /// Number of rows: the normal and the tangents.
    pub fn dim(&self) -> usize {
        match self {
            Law::Bilateral | Law::Unilateral => 1,
            Law::CoulombPlane { .. } | Law::ConePlane { .. } | Law::BilateralCoulombPlane { .. } => 2,
            Law::Coulomb { .. }
            | Law::CoulombEllipse { .. }
            | Law::Cone { .. }
            | Law::BilateralCoulomb { .. } => 3,
            Law::Rolling { .. } | Law::ConeRolling { .. } => 5,
            Law::Spinning { .. } | Law::ConeSpinning { .. } => 6,
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => 1 + slip.components().len(),
        }
    }

    /// Coefficient of sliding friction, the larger one where it depends on the direction; 0 without friction.
    pub fn mu(&self) -> f64 {
        match *self {
            Law::Bilateral | Law::Unilateral => 0.0,
            Law::CoulombEllipse { mu } => mu[0].max(mu[1]),
            Law::CoulombPlane { mu }
            | Law::Coulomb { mu }
            | Law::Rolling { mu, .. }
            | Law::Cone { mu }
            | Law::ConePlane { mu }
            | Law::ConeRolling { mu, .. }
            | Law::Spinning { mu, .. }
            | Law::ConeSpinning { mu, .. }
            | Law::Sliding { mu, .. }
            | Law::BilateralSliding { mu, .. }
            | Law::BilateralCoulombPlane { mu }
            | Law::BilateralCoulomb { mu } => mu,
        }
    }

    /// The same law with another coefficient of sliding friction; itself where it has none, or two.
    pub fn with_mu(self, mu: f64) -> Law {
        match self {
            Law::Bilateral | Law::Unilateral | Law::CoulombEllipse { .. } => self,
            Law::CoulombPlane { .. } => Law::CoulombPlane { mu },
            Law::Coulomb { .. } => Law::Coulomb { mu },
            Law::Rolling { rolling, .. } => Law::Rolling { mu, rolling },
            Law::Spinning { rolling, spinning, .. } => Law::Spinning { mu, rolling, spinning },
            Law::Cone { .. } => Law::Cone { mu },
            Law::ConePlane { .. } => Law::ConePlane { mu },
            Law::ConeRolling { rolling, .. } => Law::ConeRolling { mu, rolling },
            Law::ConeSpinning { rolling, spinning, .. } => Law::ConeSpinning { mu, rolling, spinning },
            Law::Sliding { slip, .. } => Law::Sliding { mu, slip },
            Law::BilateralSliding { slip, .. } => Law::BilateralSliding { mu, slip },
            Law::BilateralCoulombPlane { .. } => Law::BilateralCoulombPlane { mu },
            Law::BilateralCoulomb { .. } => Law::BilateralCoulomb { mu },
        }
    }

    /// All coefficients of friction, for laws with fewer of them the last one again.
    pub fn coefficients(&self) -> [f64; 3] {
        match *self {
            Law::CoulombEllipse { mu } => [mu[0], mu[1], mu[1]],
            Law::Rolling { mu, rolling } | Law::ConeRolling { mu, rolling } => [mu, rolling, rolling],
            Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
                [mu, rolling, spinning]
            }
            _ => [self.mu(); 3],
        }
    }

    /// Whether the normal velocity is held at zero from both sides.
    pub fn is_bilateral(&self) -> bool {
        matches!(
            self,
            Law::Bilateral
                | Law::BilateralSliding { .. }
                | Law::BilateralCoulombPlane { .. }
                | Law::BilateralCoulomb { .. }
        )
    }

    /// Whether the law is an associated one: a contact that slides lifts off.
    pub fn is_associated(&self) -> bool {
        matches!(
            self,
            Law::Cone { .. } | Law::ConePlane { .. } | Law::ConeRolling { .. } | Law::ConeSpinning { .. }
        )
    }

    /// The associated law of a law of Coulomb's kind, and the other way round; `None` where there is no other
    /// law, or none that is known (elliptic friction).
    pub fn associated_or_exact(&self) -> Option<Law> {
        Some(match *self {
            Law::CoulombPlane { mu } => Law::ConePlane { mu },
            Law::ConePlane { mu } => Law::CoulombPlane { mu },
            Law::Coulomb { mu } => Law::Cone { mu },
            Law::Cone { mu } => Law::Coulomb { mu },
            Law::Rolling { mu, rolling } => Law::ConeRolling { mu, rolling },
            Law::ConeRolling { mu, rolling } => Law::Rolling { mu, rolling },
            Law::Spinning { mu, rolling, spinning } => Law::ConeSpinning { mu, rolling, spinning },
            Law::ConeSpinning { mu, rolling, spinning } => Law::Spinning { mu, rolling, spinning },
            _ => return None,
        })
    }

    /// The law as one whose solutions are a finite union of polyhedra, with modes of Coulomb's kind, so that
    /// all of them can be enumerated; `None` where they are not.
    pub fn polyhedral(&self) -> Option<PolyhedralLaw> {
        match *self {
            Law::Bilateral => Some(PolyhedralLaw::Bilateral),
            Law::Unilateral => Some(PolyhedralLaw::Unilateral),
            Law::CoulombPlane { mu } => Some(PolyhedralLaw::CoulombPlane { mu }),
            Law::Sliding { mu, slip } => Some(PolyhedralLaw::Sliding { mu, slip }),
            Law::BilateralSliding { mu, slip } => Some(PolyhedralLaw::BilateralSliding { mu, slip }),
            Law::BilateralCoulombPlane { mu } => Some(PolyhedralLaw::BilateralCoulombPlane { mu }),
            Law::Coulomb { .. }
            | Law::CoulombEllipse { .. }
            | Law::Rolling { .. }
            | Law::Spinning { .. }
            | Law::Cone { .. }
            | Law::ConePlane { .. }
            | Law::ConeRolling { .. }
            | Law::ConeSpinning { .. }
            | Law::BilateralCoulomb { .. } => None,
        }
    }

    /// Whether it is one of these.
    pub fn is_polyhedral(&self) -> bool {
        self.polyhedral().is_some()
    }
}

/// Constraints by the part they take in problems where everything that has friction slides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlidingKinds {
    /// Held from both sides without friction: [`Law::Bilateral`].
    pub joints: Vec<usize>,
    /// Held from both sides, sliding: [`Law::BilateralSliding`].
    pub guides: Vec<usize>,
    /// Contacts that slide or have no friction: [`Law::Sliding`], [`Law::Unilateral`].
    pub contacts: Vec<usize>,
}

impl SlidingKinds {
    /// `None` where a constraint has another law.
    pub fn of(laws: &[Law]) -> Option<SlidingKinds> {
        let mut kinds = SlidingKinds::default();
        for (k, law) in laws.iter().enumerate() {
            match law {
                Law::Bilateral => kinds.joints.push(k),
                Law::BilateralSliding { .. } => kinds.guides.push(k),
                Law::Unilateral | Law::Sliding { .. } => kinds.contacts.push(k),
                _ => return None,
            }
        }
        Some(kinds)
    }
}

/// The laws of [`Law`] whose solutions are a finite union of polyhedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolyhedralLaw {
    /// [`Law::Bilateral`].
    Bilateral,
    /// [`Law::Unilateral`].
    Unilateral,
    /// [`Law::CoulombPlane`].
    CoulombPlane {
        /// Friction coefficient.
        mu: f64,
    },
    /// [`Law::Sliding`].
    Sliding {
        /// Friction coefficient.
        mu: f64,
        /// Direction of the slip velocity.
        slip: Slip,
    },
    /// [`Law::BilateralSliding`].
    BilateralSliding {
        /// Friction coefficient.
        mu: f64,
        /// Direction of the slip velocity.
        slip: Slip,
    },
    /// [`Law::BilateralCoulombPlane`].
    BilateralCoulombPlane {
        /// Friction coefficient.
        mu: f64,
    },
}

/// The first row of each law, and the total number of rows as a last entry.
pub fn row_offsets(laws: &[Law]) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(laws.len() + 1);
    let mut at = 0;
    for law in laws {
        offsets.push(at);
        at += law.dim();
    }
    offsets.push(at);
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_that_slide_are_sorted_by_their_part_and_one_at_rest_is_refused() {
        let slip = Slip::Plane(1.0);
        let laws = [
            Law::Sliding { mu: 0.5, slip },
            Law::Bilateral,
            Law::BilateralSliding { mu: 0.5, slip },
            Law::Unilateral,
        ];
        let sorted = SlidingKinds { joints: vec![1], guides: vec![2], contacts: vec![0, 3] };
        assert_eq!(SlidingKinds::of(&laws), Some(sorted));
        assert_eq!(SlidingKinds::of(&[Law::Bilateral, Law::CoulombPlane { mu: 0.5 }]), None);
    }

    #[test]
    fn laws_in_files_have_their_coefficients_and_no_others() {
        let read = |text: &str| serde_json::from_str::<Law>(text).map_err(|e| e.to_string());
        for (law, text) in [
            (Law::Bilateral, r#"{"law":"bilateral"}"#),
            (Law::CoulombPlane { mu: 0.5 }, r#"{"law":"coulomb-plane","mu":0.5}"#),
            (
                Law::Sliding { mu: 0.5, slip: Slip::Plane(-1.0) },
                r#"{"law":"sliding","mu":0.5,"slip":[-1.0]}"#,
            ),
            (
                Law::BilateralSliding { mu: 0.5, slip: Slip::Space([0.6, 0.8]) },
                r#"{"law":"bilateral-sliding","mu":0.5,"slip":[0.6,0.8]}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&law).unwrap(), text);
            assert_eq!(read(text), Ok(law));
        }
        for text in [
            r#"{"law":"unilateral","mu":0.5}"#,
            r#"{"law":"coulomb"}"#,
            r#"{"law":"coulomb","mu":0.5,"rolling":1}"#,
            r#"{"law":"sliding","mu":0.5,"slip":[]}"#,
            r#"{"law":"sliding","mu":0.5,"slip":[1,0,0]}"#,
            r#"{"mu":0.5}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
