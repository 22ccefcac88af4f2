//! Impacts of a system: the velocities before and after, with percussions in joints and friction.
//!
//! ```text
//! M (v⁺ − v⁻) = Jᵀ p ,     (p, J v⁻, J v⁺) in the law of impact
//! ```
//!
//! for all joints and all contacts that touch: M (n × n) the mass matrix, J (k × n) their rows, p ∈ ℝᵏ
//! percussions (001 §6; 002 §2). A guide, which is a joint with friction, rubs during an impact, ‖p_t‖ ≤ μ
//! |p_n|, under the laws of Moreau, Newton and Poisson; under the laws along the percussion it has no
//! friction. Where friction presses a sliding contact into its surface and no force can balance it, it jams:
//! an impact without collision, followed along its percussion (003 §5).

use delassus_solve::impact::{
    ImpactContact, ImpactError, ImpactLaw, ImpactProblem, ImpactResult, Restitution, Violation, impact_path,
    resolve_impact,
};
use delassus_solve::linalg::{Matrix, axpy, dot};

use super::Ending;
use super::equations::Equations;
use crate::lagrangian::{ContactKinematics, JointKinematics, Row, System};

/// What is left of a row's velocity at v = 0.
fn drift(row: &Row, v: &[f64]) -> f64 {
    row.velocity - dot(&row.gradient, v)
}

fn impact_contact(contact: &ContactKinematics, v: &[f64]) -> ImpactContact {
    ImpactContact {
        normal: contact.normal.gradient.clone(),
        normal_drift: drift(&contact.normal, v),
        tangents: contact.slip.iter().map(|r| r.gradient.clone()).collect(),
        slip_drift: contact.slip.iter().map(|r| drift(r, v)).collect(),
        friction: contact.mu_kinetic,
        restitution: contact.restitution,
        bilateral: false,
    }
}

fn guide(joint: &JointKinematics, v: &[f64]) -> ImpactContact {
    ImpactContact {
        normal: joint.row.gradient.clone(),
        normal_drift: drift(&joint.row, v),
        tangents: joint.slip.iter().map(|r| r.gradient.clone()).collect(),
        slip_drift: joint.slip.iter().map(|r| drift(r, v)).collect(),
        friction: joint.mu,
        restitution: 0.0,
        bilateral: true,
    }
}

/// The impact problem of all joints and the contacts in `meeting`; guides with friction come after the
/// contacts where `rubbing`, else they are joints like the others.
fn impact_problem(at: &Equations, v: &[f64], meeting: &[usize], rubbing: bool) -> ImpactProblem {
    let n = v.len();
    let rows: Vec<&Row> = at.joints.iter().filter(|j| !(rubbing && rubs(j))).map(|j| &j.row).collect();
    let guides = at.joints.iter().filter(|j| rubbing && rubs(j)).map(|j| guide(j, v));
    ImpactProblem {
        mass: at.mass.as_ref().clone(),
        joints: Matrix::from_fn(rows.len(), n, |i, j| rows[i].gradient[j]),
        joint_drift: rows.iter().map(|r| drift(r, v)).collect(),
        contacts: meeting
            .iter()
            .filter_map(|&i| at.contacts[i].as_ref())
            .map(|c| impact_contact(c, v))
            .chain(guides)
            .collect(),
        velocity: v.to_vec(),
        external: vec![],
    }
}

/// A matrix of restitution over all contacts of the system, as one over those that meet; guides have no
/// rebound.
fn restricted(law: &ImpactLaw, meeting: &[usize], size: usize) -> Option<ImpactLaw> {
    let ImpactLaw::NewtonMatrix(e) = law else { return None };
    let entry = |i: usize, j: usize| Some(e[(*meeting.get(i)?, *meeting.get(j)?)]);
    Some(ImpactLaw::NewtonMatrix(Matrix::from_fn(size, size, |i, j| entry(i, j).unwrap_or(0.0))))
}

fn rubs(joint: &JointKinematics) -> bool {
    joint.mu > 0.0 && !joint.slip.is_empty()
}

/// The outcome of an impact.
pub(super) struct ImpactResponse {
    /// Contacts in the order of the list that was given; violations name contacts and joints of the system.
    pub(super) outcome: ImpactResult,
    /// Percussion of every joint: along its gradient, then friction.
    pub(super) joints: Vec<Vec<f64>>,
}

/// Percussions of joints with their names.
pub(super) fn named_joint_percussions(system: &System, percussions: &[Vec<f64>]) -> Vec<(String, Vec<f64>)> {
    system.joints.iter().zip(percussions).map(|(joint, p)| (joint.name.clone(), p.clone())).collect()
}

/// The impact of the contacts in `meeting` from velocities v, with an external impulse (or none), under a
/// law.
pub(super) fn impact(
    system: &System,
    at: &Equations,
    v: &[f64],
    external: &[f64],
    meeting: &[usize],
    law: &ImpactLaw,
) -> Result<ImpactResponse, Ending> {
    let names = || meeting.iter().map(|&i| system.contacts[i].name.clone()).collect();
    if *law == ImpactLaw::Energetic && meeting.len() > 1 {
        return Err(Ending::OneContact { contacts: names() });
    }
    // Without a contact all laws agree.
    let law = if meeting.is_empty() { &ImpactLaw::Moreau } else { law };
    let rubbing = !matches!(law, ImpactLaw::Energetic | ImpactLaw::Sequence);
    let mut problem = impact_problem(at, v, meeting, rubbing);
    problem.external = external.to_vec();
    let own = restricted(law, meeting, problem.contacts.len());
    let law = own.as_ref().unwrap_or(law);
    let mut outcome = resolve_impact(&problem, law).map_err(Ending::Impact)?;
    if !outcome.is_acceptable() {
        return Err(Ending::NoOutcome {
            contacts: names(),
            velocities: outcome.contact_velocities_before.iter().take(meeting.len()).map(|u| u[0]).collect(),
            law: law.name(),
            status: outcome.status,
        });
    }
    let guides: Vec<usize> = (0..at.joints.len()).filter(|&j| rubbing && rubs(&at.joints[j])).collect();
    let plain: Vec<usize> = (0..at.joints.len()).filter(|j| !guides.contains(j)).collect();
    let mut joints = vec![vec![]; at.joints.len()];
    for (&j, p) in plain.iter().zip(&outcome.joint_impulses) {
        joints[j] = vec![*p];
    }
    for (&j, p) in guides.iter().zip(&outcome.contact_impulses[meeting.len()..]) {
        joints[j].clone_from(p);
    }
    for violation in &mut outcome.violations {
        rename(violation, meeting, &guides, &plain);
    }
    Ok(ImpactResponse { outcome, joints })
}

/// Numbers of contacts and joints of the problem into those of the system.
fn rename(violation: &mut Violation, meeting: &[usize], guides: &[usize], plain: &[usize]) {
    let guide = |contact: usize| contact.checked_sub(meeting.len()).map(|k| guides[k]);
    match violation {
        Violation::Joint { joint, .. } => *joint = plain[*joint],
        Violation::Approach { contact, velocity } => match guide(*contact) {
            Some(joint) => *violation = Violation::Joint { joint, velocity: *velocity },
            None => *contact = meeting[*contact],
        },
        Violation::Adhesion { contact, .. } | Violation::Friction { contact, .. } => {
            *contact = guide(*contact).unwrap_or_else(|| meeting[*contact]);
        }
        Violation::Energy { .. } => {}
    }
}

/// A contact that jams.
pub(super) struct Jam {
    pub(super) contact: usize,
    /// Normal, tangents.
    pub(super) impulse: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    /// Percussion of every joint.
    pub(super) joints: Vec<Vec<f64>>,
}

/// The impact without collision of the first contact among `touching` that is pressed in by its own friction,
/// the others bilateral (Poisson's law); `None` where there is none.
pub(super) fn jam(at: &Equations, v: &[f64], touching: &[usize]) -> Result<Option<Jam>, ImpactError> {
    for &contact in touching {
        let mut problem = impact_problem(at, v, &[contact], false);
        for &other in touching.iter().filter(|other| **other != contact) {
            let Some(other) = &at.contacts[other] else { continue };
            problem.joints = problem.joints.stack(&Matrix::from_rows(&[&other.normal.gradient]));
            problem.joint_drift.push(drift(&other.normal, v));
        }
        let path = impact_path(&problem, Restitution::Kinetic)?;
        if !path.without_collision {
            continue;
        }
        let mut external = vec![0.0; v.len()];
        for colliding in &problem.contacts {
            axpy(path.impulse[0], &colliding.normal, &mut external);
            for (p, row) in path.impulse[1..].iter().zip(&colliding.tangents) {
                axpy(*p, row, &mut external);
            }
        }
        problem.contacts.clear();
        problem.external = external;
        let result = resolve_impact(&problem, &ImpactLaw::Moreau)?;
        let joints = result.joint_impulses.iter().take(at.joints.len()).map(|p| vec![*p]).collect();
        return Ok(Some(Jam { contact, impulse: path.impulse, velocity: result.velocity, joints }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventOptions;
    use crate::events::fixtures::{ball, point_on_circle, state};
    use crate::events::motion::Motion;
    use crate::formula::AnyFormula;
    use crate::lagrangian::{Contact, Measure};

    fn equations(system: &System, q: &[f64], v: &[f64]) -> Equations {
        let options = EventOptions::default();
        let mut motion = Motion::new(system, &state(q, v), &options).unwrap();
        motion.all_equations().unwrap()
    }

    /// v⁺ = −e v⁻ of a ball of mass 2 by every law, with the percussion 2 (1 + e) |v⁻|.
    #[test]
    fn a_ball_rebounds_by_its_restitution() {
        let system = ball(0.5);
        let at = equations(&system, &[0.0], &[-3.0]);
        let matrix = ImpactLaw::NewtonMatrix(Matrix::from_rows(&[&[0.5]]));
        let laws = [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Energetic, matrix];
        for law in laws {
            let ImpactResponse { outcome, joints } = impact(&system, &at, &[-3.0], &[], &[0], &law).unwrap();
            assert!((outcome.velocity[0] - 1.5).abs() < 1e-14, "{law:?}");
            assert!((outcome.contact_impulses[0][0] - 9.0).abs() < 1e-13 && joints.is_empty(), "{law:?}");
        }
        // With an external impulse of −2 the ball falls with 4 m/s.
        let pushed = impact(&system, &at, &[-3.0], &[-2.0], &[0], &ImpactLaw::Newton).unwrap();
        assert!((pushed.outcome.contact_impulses[0][0] - (2.0 * (3.0 + 1.5) + 2.0)).abs() < 1e-12);
    }

    /// A blow on a point at (1, 0) on the unit circle: the gradient of its joint is (2, 0).
    #[test]
    fn a_joint_takes_what_is_across_the_motion() {
        let system = point_on_circle();
        let at = equations(&system, &[1.0, 0.0], &[0.0, 0.0]);
        let ImpactResponse { outcome, joints } =
            impact(&system, &at, &[0.0, 0.0], &[3.0, 4.0], &[], &ImpactLaw::Energetic).unwrap();
        assert!(outcome.velocity[0].abs() < 1e-14 && (outcome.velocity[1] - 4.0).abs() < 1e-14);
        assert!((joints[0][0] + 1.5).abs() < 1e-14, "{joints:?}");
        assert_eq!(named_joint_percussions(&system, &joints)[0].0, "circle");
    }

    #[test]
    fn a_matrix_of_restitution_is_cut_to_the_contacts_that_meet_and_numbers_go_back() {
        let all = Matrix::from_fn(3, 3, |i, j| (10 * i + j) as f64);
        let Some(ImpactLaw::NewtonMatrix(cut)) = restricted(&ImpactLaw::NewtonMatrix(all), &[2, 0], 3) else {
            panic!("a matrix stays a matrix")
        };
        let rows: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| cut[(i, j)]).collect()).collect();
        assert_eq!(rows, [[22.0, 20.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
        assert!(restricted(&ImpactLaw::Moreau, &[0], 1).is_none());
        let named = |mut violation: Violation| {
            rename(&mut violation, &[4, 2], &[7], &[5, 6]);
            violation
        };
        assert_eq!(
            named(Violation::Approach { contact: 1, velocity: -1.0 }),
            Violation::Approach { contact: 2, velocity: -1.0 }
        );
        // A guide stands behind the contacts.
        assert_eq!(
            named(Violation::Approach { contact: 2, velocity: 0.5 }),
            Violation::Joint { joint: 7, velocity: 0.5 }
        );
        assert_eq!(
            named(Violation::Joint { joint: 1, velocity: 0.5 }),
            Violation::Joint { joint: 6, velocity: 0.5 }
        );
    }

    /// A contact with M⁻¹ = [1 2; 2 5] for normal and slip, and friction μ.
    fn painleve(mu: f64) -> System {
        let kinetic = AnyFormula::derivatives_only(|at| {
            2.5 * at.v[0] * at.v[0] - 2.0 * at.v[0] * at.v[1] + 0.5 * at.v[1] * at.v[1]
        });
        let gap = Measure::Displacement(AnyFormula::derivatives_only(|at| 1.0 * at.q[0]));
        let slip = vec![Measure::Displacement(AnyFormula::derivatives_only(|at| 1.0 * at.q[1]))];
        System {
            contacts: vec![Contact { slip, ..Contact::frictionless("tip", gap).with_friction(mu) }],
            ..System::new("rod", &["n", "s"], kinetic)
        }
    }

    /// Sliding with 1 m/s and μ = 1 the normal velocity changes by w_nn − μ w_nt = −1 per percussion and the
    /// slip by w_nt − μ w_tt = −3: it stops at p_n = 1/3 with u_n = −1/3. Then it sticks with p_t = −2/5 p_n,
    /// u_n grows by 1/5 and is zero after another 5/3: p = (2, −1), and all is at rest.
    #[test]
    fn friction_that_presses_a_contact_in_stops_it_by_an_impact_without_collision() {
        let (system, v) = (painleve(1.0), [0.0, 1.0]);
        let found = jam(&equations(&system, &[0.0, 0.0], &v), &v, &[0]).unwrap().unwrap();
        assert_eq!(found.contact, 0);
        let near = |x: &[f64], y: [f64; 2]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-10);
        assert!(
            near(&found.impulse, [2.0, -1.0]) && near(&found.velocity, [0.0, 0.0]),
            "{:?}",
            found.impulse
        );
        // The other way, or with little friction, nothing presses it in.
        let away = [0.0, -1.0];
        assert!(jam(&equations(&system, &[0.0, 0.0], &away), &away, &[0]).unwrap().is_none());
        let system = painleve(0.4);
        assert!(jam(&equations(&system, &[0.0, 0.0], &v), &v, &[0]).unwrap().is_none());
    }
}
